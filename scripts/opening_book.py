"""See `nardy_rl.cli.opening_book`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import opening_book
    opening_book()
