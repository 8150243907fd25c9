"""See `nardy_rl.cli.train`."""

from nardy_rl.cli import train

if __name__ == "__main__":
    train()
