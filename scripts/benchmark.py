"""Measures the speeds of benchmarks/speed.md: `python scripts/benchmark.py [json=PATH] [parts=[...]]`."""

import sys
from pathlib import Path

from interrupts import importing

sys.path.insert(0, str(Path(__file__).parents[1]))

if __name__ == "__main__":
    with importing():
        from benchmarks.speed import BenchmarkConfig, measure
        from nardy_rl.cli import run
    run("benchmark", BenchmarkConfig, measure)
