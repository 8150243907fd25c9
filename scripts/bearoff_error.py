"""See `nardy_rl.cli.bearoff_error`."""

from nardy_rl.cli import bearoff_error

if __name__ == "__main__":
    bearoff_error()
