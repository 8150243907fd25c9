"""See `nardy_rl.cli.league`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import league
    league()
