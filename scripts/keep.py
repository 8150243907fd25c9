"""See `nardy_rl.cli.keep`."""

from nardy_rl.cli import keep

if __name__ == "__main__":
    keep()
