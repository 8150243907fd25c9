"""See `nardy_rl.cli.opening_book`."""

from nardy_rl.cli import opening_book

if __name__ == "__main__":
    opening_book()
