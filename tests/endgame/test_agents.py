"""Agents find the table by themselves and play by it; the commands build it, check it and name it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.agents.base import Decisions
from nardy_rl.agents.registry import make_agent
from nardy_rl.config import RolloutCommandConfig
from nardy_rl.endgame.tables import EQUITIES, META, build_table, load_table, save_table
from nardy_rl.evaluation.decision import table_used
from nardy_rl.rules.board import flip
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import make_rules
from nardy_rl.value.checkpoint import save_checkpoint
from nardy_rl.value.net import NetConfig, make_net

ROOT = Path(__file__).parents[2]
RULES = make_rules("official")


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "net"
    save_checkpoint(path, make_net(NetConfig(8, 4), RULES, 1), RULES, {})
    return path


@pytest.mark.parametrize("way", ["", "@1ply"])
def test_an_agent_plays_by_the_table(net: Path, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = make_agent(f"{net}{way}", RULES)
    assert without.table is None  # type: ignore[attr-defined]
    table = build_table(5, RULES)
    path, _ = save_table(table, tmp_path, {})
    monkeypatch.setenv("NARDY_RL_TABLES", str(tmp_path))
    agent = make_agent(f"{net}{way}", RULES)
    assert agent.table == str(path)  # type: ignore[attr-defined]

    boards = np.array([parse_position("off:10 6:2 4:2 1:1 | off:11 5:2 3:2")] * len(ROLLS), dtype=np.int8)
    seats = np.arange(len(ROLLS)) % 2 == 0
    after = legal_afterstates(boards, ROLLS, RULES)
    decisions = Decisions(boards, ROLLS, seats, after)
    exact = -table.lookup(flip(after.boards), ~np.repeat(seats, after.counts))
    np.testing.assert_array_equal(agent.scores(decisions), exact)
    assert not np.allclose(without.scores(decisions), exact, atol=0.01)


def test_a_damaged_table_stops_the_agent(net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = save_table(build_table(2, RULES), tmp_path, {})
    (path / EQUITIES).write_bytes((path / EQUITIES).read_bytes()[:-8])
    monkeypatch.setenv("NARDY_RL_TABLES", str(tmp_path))
    with pytest.raises(ValueError, match="damaged"):
        make_agent(str(net), RULES)


def test_an_edited_or_lost_meta_stops_the_agent(net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = save_table(build_table(2, RULES), tmp_path, {})
    monkeypatch.setenv("NARDY_RL_TABLES", str(tmp_path))
    text = (path / META).read_text()
    for old, new in (("32767", "1"), ('"men": 2', '"men": 3'), ("last_roll", "none")):
        assert old in text
        (path / META).write_text(text.replace(old, new))
        with pytest.raises(ValueError, match="damaged"):
            make_agent(str(net), RULES)
    (path / META).unlink()
    with pytest.raises(ValueError, match=r"no meta\.json"):
        make_agent(str(net), RULES)


def test_a_rollout_by_gnubg_names_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = save_table(build_table(2, make_rules("short")), tmp_path, {})
    monkeypatch.setenv("NARDY_RL_TABLES", str(tmp_path))
    assert table_used(RolloutCommandConfig(rules="short")) == str(path)
    assert table_used(RolloutCommandConfig(rules="short", agent="gnubg:0")) is None


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    script = [sys.executable, str(ROOT / "scripts" / arguments[0]), *arguments[1:]]
    environment = {name: value for name, value in os.environ.items() if name != "NARDY_RL_TABLES"}
    return subprocess.run(script, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_commands(net: Path, tmp_path: Path) -> None:
    built = run("build_bearoff.py", "men=5", "one_sided=turns.npz", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    (path,) = (tmp_path / "tables").iterdir()
    assert f"Wrote tables/{path.name}: 462 positions a side, 426,888 equities" in built.stdout
    assert load_table(path, RULES).equities.tobytes() == build_table(5, RULES).equities.tobytes()
    assert json.loads((path / "meta.json").read_text())["sha256"] in built.stdout
    with np.load(tmp_path / "turns.npz") as turns:
        assert turns["counts"].shape == (462, 6)
        assert turns["turns"].shape[0] == 462

    checked = run("build_bearoff.py", f"check=tables/{path.name}", cwd=tmp_path)
    assert (checked.returncode, "is whole" in checked.stdout) == (0, True)

    kept = ROOT / "checkpoints" / "long-quick-v1"
    measured = run("bearoff_error.py", f"agent={kept}", "games=40", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
    assert f"against tables/{path.name}" in measured.stdout
    assert "mean loss" in measured.stdout

    played = run("evaluate.py", f"agents=[{net},random]", "pairs=1", "threads=1", "json=results.json", cwd=tmp_path)
    assert f"Nets play endgames by tables/{path.name}" in played.stdout, played.stderr
    assert json.loads((tmp_path / "results.json").read_text())["bearoff_table"] == f"tables/{path.name}"

    position = "position=off:12 2:3 | off:12 3:3"
    few = ("rollout.trials=36", "rollout.min_trials=36", "json=rollout.json")
    for known in (True, False):
        if not known:
            path.rename(tmp_path / "away")
        rolled = run("rollout.py", position, "dice=21", f"agent={net}", *few, cwd=tmp_path)
        assert rolled.returncode == 0, rolled.stderr
        assert (f"Nets play endgames by tables/{path.name}" in rolled.stdout) == known
        written = json.loads((tmp_path / "rollout.json").read_text())
        assert written["bearoff_table"] == (f"tables/{path.name}" if known else None)
    (tmp_path / "away").rename(path)

    text = (path / META).read_text()
    (path / META).write_text(text.replace("32767", "0"))
    checked = run("build_bearoff.py", f"check=tables/{path.name}", cwd=tmp_path)
    assert (checked.returncode, "is whole" in checked.stdout) == (2, False)
    assert "meta.json is damaged" in checked.stderr
    (path / META).write_text(text)

    too_large = run("build_bearoff.py", "men=15", cwd=tmp_path)
    assert too_large.returncode == 2
    assert "men=15 needs 11.8 GB of memory and disk, more than max_gb=6" in too_large.stderr
    assert run("bearoff_error.py", "rules=moscow", f"agent={net}", cwd=tmp_path).returncode == 2
