"""See `nardy_rl.cli.pictures`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import pictures
    pictures()
