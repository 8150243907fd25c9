"""See `nardy_rl.cli.play`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import play
    play()
