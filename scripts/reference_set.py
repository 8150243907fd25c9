"""See `nardy_rl.cli.reference_set`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import reference_set
    reference_set()
