"""See `nardy_rl.cli.build_bearoff`."""

from nardy_rl.cli import build_bearoff

if __name__ == "__main__":
    build_bearoff()
