"""Results and points: the hand-checked cases, and who has won, drawn or may still throw (R5)."""

import json
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.scoring import LEVELS, levels, outcome_names, outcome_points, score, settle
from nardy_rl.rules.spec import PRESETS, make_rules

CASES = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text(encoding="utf-8"))["cases"]


def row(counts: dict[str, int]) -> np.ndarray:
    slots = np.zeros(26, np.int8)
    for slot, count in counts.items():
        slots[int(slot)] = count
    return slots


def of_kind(kind: str) -> list:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


@pytest.mark.parametrize("case", of_kind("score"))
def test_score_cases(case: dict) -> None:
    rules = make_rules(case["preset"], case.get("options"))
    board = np.stack([row(case["mover"]), row(case["opponent"])])[None]
    assert score(board, rules) == [tuple(case["expect"]["result"])]


@pytest.mark.parametrize("case", of_kind("last_roll"))
def test_last_roll_cases(case: dict) -> None:
    """The mover is the second player; the first has borne off all. Every play of the roll gives an expected result."""
    rules = make_rules(case["preset"], case.get("options"))
    board = np.stack([row(case["mover"]), row(case["opponent"])])[None]
    after = legal_afterstates(board, np.array([case["dice"]]), rules)
    before = np.repeat(board, len(after.boards), axis=0)
    outcome, equity = settle(before, after.boards, np.zeros(len(before), bool), rules)
    half = levels(rules)
    results = {
        ("draw", rules.draw_points) if o == half else (LEVELS[rules.scoring][half - o - 1][0], -e)
        for o, e in zip(outcome.tolist(), equity.tolist(), strict=True)
    }
    assert results == {tuple(result) for result in case["expect"]["results"]}


@pytest.mark.parametrize(
    ("position", "moved_first", "preset", "outcome", "equity"),
    [
        ("off:14 1:1 | off:3 1:12", True, "official", -1, 0.0),  # nobody is done
        ("off:15 | off:3 1:12", True, "official", -1, 0.0),  # R5.4: the second player has one more throw
        ("off:15 | off:3 1:12", False, "official", 3, 1.0),  # the second player is done first: over
        ("off:15 | off:0 1:15", False, "official", 4, 2.0),
        ("off:15 | off:3 1:12", True, "club", 3, 1.0),  # no last throw
        ("off:15 | off:15", False, "official", 2, 0.0),  # the last throw bore off all: draw
        ("off:4 1:11 | off:15", False, "official", 1, -1.0),
        ("off:0 1:15 | off:15", False, "official", 0, -2.0),
        ("off:15 | off:0 1:14 24:1", False, "overview", 8, 4.0),
        ("off:15 | off:0 1:14 18:1", False, "overview", 6, 2.0),
        ("off:15 | off:6 1:9", False, "casual", 4, 9.0),
    ],
)
def test_settle(position: str, moved_first: bool, preset: str, outcome: int, equity: float) -> None:
    after = np.array([parse_position(position)], dtype=np.int8)
    found = settle(after, after, np.array([moved_first]), make_rules(preset))
    assert (found[0].tolist(), found[1].tolist()) == ([outcome], [equity])


def test_last_roll_mars_before_looks_at_the_board_before_the_throw() -> None:
    before = np.array([parse_position("off:0 5:1 6:14 | off:15")], dtype=np.int8)
    after = np.array([parse_position("off:1 5:1 6:13 | off:15")], dtype=np.int8)
    for option, equity in (("after", -1.0), ("before", -2.0)):
        rules = make_rules("official", {"last_roll_mars": option})
        assert settle(before, after, np.array([False]), rules)[1].tolist() == [equity]


def test_points_of_outcomes_are_antisymmetric() -> None:
    for rules in PRESETS.values():
        if rules.scoring == "checkers":
            with pytest.raises(ValueError, match="no fixed points"):
                outcome_points(rules)
            continue
        points = outcome_points(rules)
        assert points.tolist() == (-points[::-1]).tolist()
        assert len(outcome_names(rules)) == len(points) == 2 * levels(rules) + 1


def test_score_wants_a_winner() -> None:
    board = np.array([parse_position("off:14 1:1 | off:3 1:12")], dtype=np.int8)
    with pytest.raises(ValueError, match="game 0 of the batch: the first row has not borne off"):
        score(board, make_rules())
