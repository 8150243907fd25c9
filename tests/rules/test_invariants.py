"""What holds for every legal play, whatever the position: properties of the compiled generator and of its twin."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_rl.rules.board import check_boards, flip, pip_count
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.reference import legal_plays
from nardy_rl.rules.spec import BAR, CHECKERS, OFF, PRESETS, Rules
from tests.rules.positions import (
    TurnCase,
    as_arrays,
    as_tuples,
    constructed_turn,
    constructed_turns,
    name_of,
    random_rules,
)

examples = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def draw_rules(rng: random.Random) -> Rules:
    if rng.random() < 0.5:
        return PRESETS[rng.choice(list(PRESETS))]
    return random_rules(rng, rng.choice(("long", "long", "long", "short")))


@st.composite
def turns_with_rules(draw: st.DrawFn) -> tuple[TurnCase, Rules]:
    rng = draw(st.randoms(use_true_random=False))
    rules = draw_rules(rng)
    return constructed_turn(rng, rules), rules


def generate(turn: TurnCase, rules: Rules) -> Afterstates:
    return legal_afterstates(*as_arrays([turn]), rules)


def board_set(boards: np.ndarray) -> set[bytes]:
    return {board.tobytes() for board in boards}


@examples
@given(turns_with_rules())
def test_afterstates_are_boards_and_checkers_are_kept(case: tuple[TurnCase, Rules]) -> None:
    turn, rules = case
    after = generate(turn, rules).boards
    assert after.dtype == np.int8
    assert (after >= 0).all()
    assert (after.sum(axis=2, dtype=int) == CHECKERS).all()
    both_off = (after[:, :, OFF] == CHECKERS).all(axis=1)
    check_boards(after[~both_off], rules)


@examples
@given(turns_with_rules())
def test_the_opponent_is_only_ever_hit(case: tuple[TurnCase, Rules]) -> None:
    turn, rules = case
    after = generate(turn, rules).boards
    before = np.array(turn.board[1])
    if rules.geometry == "long":
        assert (after[:, 1] == before).all()
    change = after[:, 1].astype(int) - before
    assert (change[:, :BAR] <= 0).all()
    assert (change[:, OFF] == 0).all()
    assert (change[:, BAR] >= 0).all()


@examples
@given(turns_with_rules())
def test_pips_are_those_of_the_dice(case: tuple[TurnCase, Rules]) -> None:
    turn, rules = case
    board = np.array(turn.board, dtype=np.int8)
    high, low = max(turn.dice), min(turn.dice)
    total = 4 * high if high == low else high + low
    for play in legal_plays(turn.board, turn.dice, rules):
        after = np.array(play.board, dtype=np.int8)
        moved = int(pip_count(board)[0] - pip_count(after)[0])
        borne_off = after[0, OFF] > board[0, OFF]
        complete = len(play.steps) == (4 if high == low else 2)
        # Only R4.3 `leftmost` lets a checker run further than its die.
        assert moved <= total or rules.bear_off_blocked == "leftmost"
        if not borne_off:
            assert (moved == total) == complete
        assert moved == sum(step.source - step.target for step in play.steps)


@examples
@given(turns_with_rules())
def test_the_order_of_the_dice_does_not_matter(case: tuple[TurnCase, Rules]) -> None:
    turn, rules = case
    swapped = TurnCase(turn.board, turn.dice[::-1])
    assert board_set(generate(turn, rules).boards) == board_set(generate(swapped, rules).boards)
    assert legal_plays(turn.board, turn.dice, rules) == legal_plays(turn.board, turn.dice[::-1], rules)


@examples
@given(turns_with_rules())
def test_flipping_twice_changes_nothing(case: tuple[TurnCase, Rules]) -> None:
    turn, rules = case
    boards, dice = as_arrays([turn])
    assert (flip(flip(boards)) == boards).all()
    again = legal_afterstates(flip(flip(boards)), dice, rules)
    assert (again.boards == generate(turn, rules).boards).all()


@examples
@given(turns_with_rules())
def test_no_afterstate_comes_twice(case: tuple[TurnCase, Rules]) -> None:
    turn, rules = case
    after = generate(turn, rules).boards
    assert len(after) >= 1
    assert len(board_set(after)) == len(after)


@examples
@given(turns_with_rules())
def test_nothing_moves_only_in_a_pass(case: tuple[TurnCase, Rules]) -> None:
    turn, rules = case
    after = generate(turn, rules).boards
    if np.array(turn.board, dtype=np.int8).tobytes() in board_set(after):
        assert len(after) == 1
    plays = legal_plays(turn.board, turn.dice, rules)
    assert all(play.steps for play in plays) or len(plays) == 1


@examples
@given(turns_with_rules())
def test_fewer_dice_are_used_only_when_the_game_ends_or_greedily(case: tuple[TurnCase, Rules]) -> None:
    turn, rules = case
    plays = legal_plays(turn.board, turn.dice, rules)
    most = max(len(play.steps) for play in plays)
    for play in plays:
        finished = play.board[0][OFF] == CHECKERS
        assert len(play.steps) == most or finished or rules.must_play == "greedy"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_batch_is_its_turns_one_by_one(preset: str) -> None:
    rules = PRESETS[preset]
    turns = constructed_turns(200, seed=7, rules=rules)
    batch = legal_afterstates(*as_arrays(turns), rules)
    assert batch.offsets.dtype == np.int64
    assert batch.offsets[0] == 0
    assert batch.offsets[-1] == len(batch.boards)
    for i, turn in enumerate(turns):
        single = generate(turn, rules)
        assert (batch.boards[batch.offsets[i] : batch.offsets[i + 1]] == single.boards).all(), name_of(rules)


def test_an_empty_batch() -> None:
    after = legal_afterstates(np.zeros((0, 2, 26), dtype=np.int8), np.zeros((0, 2), dtype=np.int8))
    assert after.boards.shape == (0, 2, 26)
    assert after.offsets.tolist() == [0]


def test_the_given_boards_are_not_touched() -> None:
    rules = PRESETS["short"]
    boards, dice = as_arrays(constructed_turns(100, seed=8, rules=rules))
    kept = boards.copy()
    legal_afterstates(boards, dice, rules)
    assert (boards == kept).all()
    assert as_tuples(boards[0]) == as_tuples(kept[0])
