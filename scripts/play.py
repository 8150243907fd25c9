"""See `nardy_rl.cli.play`."""

from nardy_rl.cli import play

if __name__ == "__main__":
    play()
