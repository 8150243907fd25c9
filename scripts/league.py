"""See `nardy_rl.cli.league`."""

from nardy_rl.cli import league

if __name__ == "__main__":
    league()
