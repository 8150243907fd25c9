"""See `nardy_rl.cli.pictures`."""

from nardy_rl.cli import pictures

if __name__ == "__main__":
    pictures()
