"""See `nardy_rl.cli.position`."""

from nardy_rl.cli import position

if __name__ == "__main__":
    position()
