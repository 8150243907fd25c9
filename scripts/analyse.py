"""See `nardy_rl.cli.analyse`."""

from nardy_rl.cli import analyse

if __name__ == "__main__":
    analyse()
