"""See `nardy_rl.cli.error_curve`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import error_curve
    error_curve()
