"""See `nardy_rl.cli.evaluate`."""

from nardy_rl.cli import evaluate

if __name__ == "__main__":
    evaluate()
