"""Installed as a wheel in another environment, the kernels compile once and come from their cache afterwards."""

import os
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = """
import numpy as np, nardy_rl
from nardy_rl.rules.board import new_boards
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import make_rules
rules = make_rules("official")
print(nardy_rl.__file__, len(legal_afterstates(new_boards(1, rules), np.array([[3, 3]]), rules).boards))
"""


@pytest.mark.slow
def test_kernels_are_cached_beside_the_installed_package(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], check=True)

    # everything else comes from this environment
    environment = os.environ | {"PYTHONPATH": sysconfig.get_paths()["purelib"]}
    environment.pop("NUMBA_CACHE_DIR", None)
    seconds = []
    for _ in range(2):
        before = time.monotonic()
        done = subprocess.run(
            [python, "-c", CODE], check=True, env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        seconds.append(time.monotonic() - before)
        where, count = done.stdout.split()
        assert Path(where).is_relative_to(tmp_path / "venv")
        assert count == "2"
    assert list((tmp_path / "venv").rglob("nardy_rl/rules/__pycache__/*.nbc"))
    assert seconds[0] < 60
    assert seconds[1] < 0.5 * seconds[0]
    assert list((tmp_path / "venv").rglob("nardy_rl/rules/RULES.md"))
