"""One decision rolled out from its config, and as a user types it."""

import dataclasses
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from nardy_rl.agents.rollout import RolloutSettings
from nardy_rl.config import RolloutCommandConfig
from nardy_rl.evaluation.decision import as_json, as_table, roll_out
from nardy_rl.rules.notation import find_play, parse_position
from nardy_rl.rules.spec import OFFICIAL, PRESETS
from nardy_rl.value.checkpoint import save_checkpoint
from nardy_rl.value.net import NetConfig, make_net

ROOT = Path(__file__).parents[2]
POSITION = "24:13 18:2 | 24:15"


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets") / "small"
    save_checkpoint(folder, make_net(NetConfig(8, 4), OFFICIAL, 1), OFFICIAL, {})
    return str(folder)


@pytest.fixture(scope="module")
def short_net(tmp_path_factory):
    folder, rules = tmp_path_factory.mktemp("nets") / "short", PRESETS["short"]
    save_checkpoint(folder, make_net(NetConfig(8, 4), rules, 1), rules, {})
    return str(folder)


def config(net, **others):
    few = RolloutSettings(trials=72, min_trials=36, truncate=2, out_of_reach=2.0)
    return RolloutCommandConfig(**{"position": POSITION, "dice": "64", "agent": net, "rollout": few, **others})


def test_plays_come_best_first_with_intervals(net):
    counts = []
    found = roll_out(config(net), lambda *count: counts.append(count))
    board = parse_position(POSITION)
    assert len({find_play(candidate.play, board, (6, 4), OFFICIAL).board for candidate in found}) == len(found) > 1
    assert found[0].loss == 0
    assert found[0].loss_ci95 == (0, 0)
    assert [candidate.loss for candidate in found[1:]] == sorted(candidate.loss for candidate in found[1:])
    for candidate in found[1:]:
        low, high = candidate.loss_ci95
        assert low < candidate.loss < high
    assert counts[-1][0] == counts[-1][1] == sum(candidate.trials for candidate in found)
    written = json.loads(json.dumps(as_json(config(net), found)))
    assert written["rollout"]["trials"] == 72
    assert written["plays"][0]["equity"] == found[0].equity
    shown = io.StringIO()
    Console(file=shown, width=80).print(as_table(found))
    assert found[1].play in shown.getvalue()


def test_a_position_without_dice(net):
    (alone,) = roll_out(config(net, dice=None))
    assert alone.play == ""
    assert alone.trials == 72
    assert abs(alone.equity) < 2
    seconds = roll_out(config(net, dice=None, moved_first=False))
    assert seconds[0].equity != alone.equity


def test_a_forced_play_and_a_won_game(net):
    (forced,) = roll_out(config(net, position="1:1 off:14 | 24:15", dice="21", moved_first=False))
    assert (forced.equity, forced.stderr, forced.trials) == (2.0, 0.0, 0)


def test_ids_of_other_programs(short_net):
    def found(position, dice):
        asked = config(short_net, position=position, dice=dice, rules="short")
        return [dataclasses.astuple(candidate) for candidate in roll_out(asked)]

    ours = found("24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5", "31")
    assert len(ours) > 1
    assert found("4HPwATDgc/ABMA", "31") == ours
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    assert found(xgid, None) == ours, "the dice of the ID"
    assert len(found(xgid.replace(":31:", ":00:"), None)) == 1, "no dice: the position itself"
    assert found(xgid.replace(":31:", ":64:"), "31") == ours
    assert found(None, "31") == ours, "the start of a game"
    written = as_json(config(short_net, position=None, rules="short"), [])
    assert written["position"] == "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"
    with pytest.raises(ValueError, match="for rules=short"):
        roll_out(config(short_net, position=xgid))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dice": "7"}, "dice='7'"),
        ({"dice": "60"}, "dice='60'"),
        ({"position": "24:14 | 24:15"}, "14 checkers"),
        ({"position": "off:15 | 24:15"}, "has borne off everything"),
        ({"position": "24"}, "24"),
        ({"candidates": 0}, "candidates=0"),
        ({"within": -1.0}, "within=-1"),
        ({"agent": "/no/such/net"}, "is not a checkpoint: there is no such folder; give that of a checkpoint or run$"),
        ({"agent": "pubeval", "rules": "short"}, "pubeval is not a checkpoint: .* checkpoint or run, or gnubg:0$"),
        ({"rollout": RolloutSettings(trials=10)}, "trials=10"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_mistakes(net, change, message):
    with pytest.raises(ValueError, match=message):
        roll_out(dataclasses.replace(config(net), **change))


def test_as_a_user_types_it(net, tmp_path):
    def run(*arguments):
        command = [sys.executable, str(ROOT / "scripts" / "rollout.py"), f"agent={net}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)

    asked = (f"position={POSITION}", "dice=64", "rollout.trials=72", "rollout.min_trials=72", "rollout.truncate=2")
    done = run(*asked, "state=state.npz", "json=result.json")
    assert done.returncode == 0, done.stderr
    plays = json.loads((tmp_path / "result.json").read_text())["plays"]
    assert plays[0]["play"] in done.stdout
    with np.load(tmp_path / "state.npz", allow_pickle=False) as state:
        assert np.isfinite(state["played"]).sum() == sum(play["trials"] for play in plays)
    again = run(*asked, "state=state.npz", "rollout.seed=2")
    assert again.returncode == 2
    assert "belongs to a rollout of other positions" in again.stderr
    assert "Traceback" not in again.stderr
