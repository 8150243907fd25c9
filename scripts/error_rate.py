"""See `nardy_rl.cli.error_rate`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import error_rate
    error_rate()
