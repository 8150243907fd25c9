"""See `nardy_rl.cli.error_rate`."""

from nardy_rl.cli import error_rate

if __name__ == "__main__":
    error_rate()
