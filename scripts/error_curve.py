"""See `nardy_rl.cli.error_curve`."""

from nardy_rl.cli import error_curve

if __name__ == "__main__":
    error_curve()
