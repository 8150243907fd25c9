"""See `nardy_rl.cli.compare_trainers`."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.cli import compare_trainers
    compare_trainers()
