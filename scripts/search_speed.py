"""Time per decision of n-ply search, and what it changes: `python scripts/search_speed.py [plies=2] [games=12]`."""

import sys
from pathlib import Path

from interrupts import importing

sys.path.insert(0, str(Path(__file__).parents[1]))

if __name__ == "__main__":
    with importing():
        from benchmarks.search_speed import SearchSpeedConfig, measure
        from nardy_rl.cli import run
    run("search_speed", SearchSpeedConfig, measure)
