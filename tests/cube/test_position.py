"""The cube decision of one position, as scripts/cube.py shows it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nardy_rl.config import KEPT_NETS, CubeDecisionConfig
from nardy_rl.cube.met import match_table
from nardy_rl.evaluation.cube_position import as_json, judge_cube, probabilities_text, situation
from nardy_rl.records.position_ids import MatchPosition, format_gnubg_id, format_xgid
from nardy_rl.rules.notation import parse_position

ROOT = Path(__file__).parents[2]
NET = str(ROOT / KEPT_NETS["short"])
LAST_ROLL = parse_position("5:1 2:1 off:13 | 1:1 off:14")
"""19 of 36 rolls take both checkers off, and the opponent is off next turn: double, take."""


def judged(board=LAST_ROLL, agent=NET, **situation):
    position = MatchPosition(board, **situation)
    return judge_cube(CubeDecisionConfig(format_xgid(position), agent))


def test_last_roll_in_money_play():
    # One ply sees the roll to its end; after a miss there is the net's word on the opponent's certain win.
    found = judged(agent=f"{NET}@1ply")
    assert found.probabilities["win single"] == pytest.approx(19 / 36, abs=1e-3)
    assert found.cubeless == pytest.approx(2 * 19 / 36 - 1, abs=2e-3)
    assert (found.no_double, found.double_take, found.double_pass) == pytest.approx((1 / 18, 1 / 9, 1), abs=4e-3)
    assert found.action == "double, take"
    assert found.match_chances is None


def test_two_plies_see_two_rolls():
    # The player misses with 2-1 alone (1-1 is four pips), 2 of 36; the opponent then takes his checker off the 6 with
    # 27 of 36, and if he does not, the player cannot miss again.
    found = judged(parse_position("4:1 off:14 | 6:1 off:14"), agent=f"{NET}@2ply", cube_owner=0, cube=2)
    assert found.probabilities["win single"] == pytest.approx(1 - 2 / 36 * 27 / 36, abs=1e-4)


def test_the_score_of_the_id_counts():
    money = judged(jacoby=True, beavers=True)
    assert situation(money) == "cube 1, centred; money play, jacoby, beavers"
    crawford = judged(length=5, score=(4, 2), crawford=True)
    assert crawford.action == "no cube"
    assert situation(crawford) == "cube 1, centred; match to 5, player on roll 4, opponent 2, Crawford game"
    trailing = judged(length=5, score=(2, 4))
    assert trailing.action == "double, take"
    table = match_table()
    p = sum(value for name, value in trailing.probabilities.items() if name.startswith("win"))
    assert trailing.match_chances[0] == pytest.approx(p * table.after[2], abs=1e-6), "3-away becomes 2-away"
    assert trailing.match_chances[1] == pytest.approx(p * 0.5, abs=1e-6)
    assert trailing.double_pass == pytest.approx(1.0)
    theirs = judged(cube=4, cube_owner=1)
    assert theirs.action == "no cube"
    assert not theirs.may_double
    assert "loses" in probabilities_text(theirs)


def test_a_position_in_our_notation_is_money_play_with_the_cube_in_the_middle():
    found = judge_cube(CubeDecisionConfig("5:1 2:1 off:13 | 1:1 off:14", NET))
    assert found == judged()
    assert situation(found) == "cube 1, centred; money play"


def test_both_kinds_of_ids():
    position = MatchPosition(LAST_ROLL, length=7, score=(3, 5), cube=2, cube_owner=0)
    one, two = (
        judge_cube(CubeDecisionConfig(text, NET)) for text in (format_xgid(position), format_gnubg_id(position))
    )
    assert (one.no_double, one.action) == (two.no_double, two.action)
    found = as_json(one)
    assert (found["board"], found["cube"], found["score"]) == ("5:1 2:1 off:13 | 1:1 off:14", 2, (3, 5))
    assert found["no_double"] == one.no_double


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (CubeDecisionConfig("XGID=-a-B--E-B-a-dDB--b-bcb----:0:0:1:63:0:0:0:0:10", NET), "the dice are thrown"),
        (CubeDecisionConfig("XGID=nonsense", NET), "is no XGID"),
        (CubeDecisionConfig("5:1 2:1 off:13", NET), "a position is written 'mover | opponent'"),
        (CubeDecisionConfig(agent="random"), "agent 'random' gives no chances of the outcomes; name a net"),
        (CubeDecisionConfig(agent=NET, efficiency=1.5), "^efficiency=1.5 is not allowed"),
        (
            CubeDecisionConfig(format_xgid(MatchPosition(LAST_ROLL, length=99)), NET),
            "length=99 is not allowed; give 1..64 points",
        ),
    ],
)
def test_mistakes(config, message):
    with pytest.raises(ValueError, match=message):
        judge_cube(config)


def test_the_commands(tmp_path):
    def run(*arguments):
        script = [sys.executable, str(ROOT / "scripts" / arguments[0]), *arguments[1:]]
        return subprocess.run(script, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)

    path = tmp_path / "cube.json"
    done = run("cube.py", f"position={format_xgid(MatchPosition(LAST_ROLL))}", f"agent={NET}@1ply", f"json={path}")
    assert done.returncode == 0, done.stderr
    assert "Right: double, take" in done.stdout
    assert json.loads(path.read_text())["action"] == "double, take"
    path = tmp_path / "match.json"
    done = run(
        "evaluate.py", f"agents=[{NET},random]", "rules=short", "cube=match", "length=3", "pairs=2",
        "doubling.efficiency=0.7", f"json={path}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(path.read_text())
    assert (found["doubling"]["efficiency"], found["matches"][0]["length"]) == (0.7, 3)
