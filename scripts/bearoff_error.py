"""See `nardy_rl.cli.bearoff_error`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import bearoff_error
    bearoff_error()
