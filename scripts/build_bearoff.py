"""See `nardy_rl.cli.build_bearoff`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import build_bearoff
    build_bearoff()
