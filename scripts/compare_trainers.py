"""Runs the comparison of docs/training_comparison.md: `python scripts/compare_trainers.py [games=60_000]`."""

from nardy_rl.cli import run
from nardy_rl.config import CompareConfig


def command(config: CompareConfig) -> int:
    from nardy_rl.training.comparison import compare  # noqa: PLC0415  (torch loads after a mistyped option is found)

    print(compare(config, say=lambda line: print(line, flush=True)))
    return 0


if __name__ == "__main__":
    run("compare", CompareConfig, command)
