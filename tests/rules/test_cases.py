"""The hand-checked turns of tests/data/cases.json, through every generator of plays.

A case says what one line of a rule text means on one position. `score` and `last_roll` cases are in test_scoring.py.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.reference import Board, legal_plays
from nardy_rl.rules.spec import CHECKERS, HEAD, OFF, SLOTS, Rules, make_rules
from tests.rules.positions import as_tuples

CASES = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text(encoding="utf-8"))["cases"]
TURNS = [case for case in CASES if case["kind"] == "turn"]

Generator = Callable[[Board, list[int], Rules], list[Board]]


def by_reference(board: Board, dice: list[int], rules: Rules) -> list[Board]:
    return [play.board for play in legal_plays(board, dice, rules)]


def by_kernel(board: Board, dice: list[int], rules: Rules) -> list[Board]:
    after = legal_afterstates(np.array([board], dtype=np.int8), np.array([dice]), rules)
    assert after.offsets.tolist() == [0, len(after.boards)]
    return [as_tuples(row) for row in after.boards]


def side(checkers: dict[str, int]) -> tuple[int, ...]:
    row = tuple(checkers.get(str(slot), 0) for slot in range(SLOTS))
    assert sum(row) == CHECKERS
    return row


def test_there_are_cases() -> None:
    assert len(TURNS) >= 100
    known = {"afterstates", "include", "exclude", "head_leaving", "dice_used", "pass", "finished"}
    for case in TURNS:
        assert case["expect"].keys() <= known, case["id"]


@pytest.mark.parametrize("generator", [by_reference, by_kernel])
@pytest.mark.parametrize("case", TURNS, ids=lambda case: case["id"])
def test_turn(case: dict[str, Any], generator: Generator) -> None:
    rules = make_rules(case["preset"], case.get("options"))
    mover, opponent = side(case["mover"]), side(case["opponent"])
    boards = generator((mover, opponent), case["dice"], rules)
    after = {board[0] for board in boards}
    expect = case["expect"]

    assert len(after) == len(boards), "afterstates are distinct"
    assert all(board[1] == opponent for board in boards), "long nardy never moves an opposing checker"
    if "afterstates" in expect:
        assert after == {side(checkers) for checkers in expect["afterstates"]}
    assert after >= {side(checkers) for checkers in expect.get("include", [])}
    assert after.isdisjoint({side(checkers) for checkers in expect.get("exclude", [])})
    if "head_leaving" in expect:
        assert {mover[HEAD] - row[HEAD] for row in after} == set(expect["head_leaving"])
    if "dice_used" in expect:
        # A board does not tell how many dice were played (a bear-off may take any); the steps of the reference do.
        steps = {play.board: play.steps for play in legal_plays((mover, opponent), case["dice"], rules)}
        assert {len(steps[board]) for board in boards} == set(expect["dice_used"])
    if "pass" in expect:
        assert (after == {mover}) == expect["pass"]
    if "finished" in expect:
        assert all(row[OFF] == CHECKERS for row in after) == expect["finished"]
