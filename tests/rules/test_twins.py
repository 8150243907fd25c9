"""The compiled generator and its slow twin give the same plays, turn for turn."""

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import pytest

from nardy_rl.rules.notation import draw_board
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.reference import legal_afterstates_reference
from nardy_rl.rules.spec import OFFICIAL, PRESETS, Rules
from tests.rules.positions import (
    TurnCase,
    as_arrays,
    as_tuples,
    combinations,
    constructed_turn,
    constructed_turns,
    describe,
    kinds_of,
    name_of,
    random_play_turns,
    single_changes,
)


def check_twins(turns: Sequence[TurnCase], rules: Rules) -> None:
    boards, dice = as_arrays(turns)
    after = legal_afterstates(boards, dice, rules)
    assert len(after.offsets) == len(turns) + 1
    failures = []
    for i, expected in enumerate(legal_afterstates_reference(boards, dice, rules)):
        found = [as_tuples(board) for board in after.boards[after.offsets[i] : after.offsets[i + 1]]]
        if len(found) != len(expected) or set(found) != set(expected):
            failures.append((turns[i], set(found) - set(expected), set(expected) - set(found)))
    if failures:
        # The turn with the fewest differences is the easiest to think through.
        turn, extra, missing = min(failures, key=lambda failure: len(failure[1]) + len(failure[2]))
        drawings = [draw_board(turn.board, rules, turn.dice)]
        drawings += [f"compiled only:\n{draw_board(board, rules)}" for board in list(extra)[:1]]
        drawings += [f"reference only:\n{draw_board(board, rules)}" for board in list(missing)[:1]]
        pytest.fail(
            f"{len(failures)} of {len(turns)} turns differ, for example\n{describe(turn, rules)}\n"
            f"compiled has {len(extra)} more, reference has {len(missing)} more\n" + "\n".join(drawings)
        )


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_in_random_play(preset: str) -> None:
    check_twins(random_play_turns(500, seed=1, rules=PRESETS[preset]), PRESETS[preset])


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_on_constructed_positions(preset: str) -> None:
    check_twins(constructed_turns(500, seed=2, rules=PRESETS[preset]), PRESETS[preset])


@pytest.mark.parametrize("rules", list(single_changes()), ids=name_of)
def test_one_option_changed(rules: Rules) -> None:
    check_twins(constructed_turns(100, seed=3, rules=rules), rules)


def test_mixed_options() -> None:
    for number, rules in enumerate(combinations(60, seed=4)):
        check_twins(constructed_turns(80, seed=number, rules=rules), rules)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_presets_at_length(preset: str) -> None:
    rules = PRESETS[preset]
    check_twins(random_play_turns(3_000, seed=11, rules=rules), rules)
    check_twins(constructed_turns(4_000, seed=12, rules=rules), rules)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_mixed_options_at_length(part: int) -> None:
    for number, rules in enumerate(combinations(100, seed=100 + part)):
        check_twins(constructed_turns(100, seed=1_000 * part + number, rules=rules), rules)


@pytest.mark.parametrize("rules", [OFFICIAL, PRESETS["short"]], ids=name_of)
def test_every_kind_of_position_can_be_made(rules: Rules) -> None:
    rng = random.Random(5)
    for kind in kinds_of(rules):
        check_twins([constructed_turn(rng, rules, kind) for _ in range(50)], rules)


# The constructed positions are worth something only if the options make a difference on them.
DIFFERENCES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("head_limit", {}, {"head_limit": 2}),
    ("head_rolls", {"head_rolls": ()}, {"head_rolls": (3, 4, 6)}),
    ("any roll", {"head_rolls": (3, 4, 6), "head_condition": "any_block"}, {"head_rolls": "any"}),
    ("head_condition any_block", {}, {"head_condition": "any_block"}),
    ("head_condition always", {"head_condition": "any_block"}, {"head_condition": "always"}),
    ("head_second", {}, {"head_second": "stuck_first"}),
    ("block none", {}, {"block_rule": "none"}),
    ("block home", {}, {"block_rule": "home"}),
    ("block forbid", {}, {"block_rule": "forbid"}),
    ("block_transit", {}, {"block_transit": "allow"}),
    ("bear_off_choice", {}, {"bear_off_choice": "exact_first"}),
    ("bear_off_blocked", {}, {"bear_off_blocked": "leftmost"}),
    ("must_play", {}, {"must_play": "greedy"}),
]


@pytest.mark.parametrize(("left", "right"), [pair[1:] for pair in DIFFERENCES], ids=[pair[0] for pair in DIFFERENCES])
def test_constructed_positions_tell_the_options_apart(left: dict[str, Any], right: dict[str, Any]) -> None:
    turns = constructed_turns(5_000, seed=6, rules=OFFICIAL)
    boards, dice = as_arrays(turns)
    base = dataclasses.replace(OFFICIAL, **left)
    one = legal_afterstates(boards, dice, base)
    two = legal_afterstates(boards, dice, dataclasses.replace(base, **right))
    different = sum(
        {board.tobytes() for board in one.boards[one.offsets[i] : one.offsets[i + 1]]}
        != {board.tobytes() for board in two.boards[two.offsets[i] : two.offsets[i + 1]]}
        for i in range(len(turns))
    )
    assert different >= 10
