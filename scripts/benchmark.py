"""Measures the speeds of benchmarks/speed.md: `python scripts/benchmark.py [json=PATH] [parts=[...]]`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.speed import BenchmarkConfig, measure
from nardy_rl.cli import run

if __name__ == "__main__":
    run("benchmark", BenchmarkConfig, measure)
