"""See `nardy_rl.cli.reference_set`."""

from nardy_rl.cli import reference_set

if __name__ == "__main__":
    reference_set()
