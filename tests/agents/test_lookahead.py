"""One ply ahead, against plain loops over the reference rules."""

import functools
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from nardy_rl.agents.lookahead import (
    CHUNK,
    all_rolls,
    backed_up_equities,
    backed_up_values,
    mean_over_rolls,
    roll_equities,
)
from nardy_rl.rules.board import Boards, flip, new_boards
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.reference import Board, legal_plays
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import CHECKERS, OFF, PRESETS, SLOTS, Rules, make_rules
from nardy_rl.value.evaluator import CompiledEvaluator, Evaluator
from nardy_rl.value.net import NetConfig, make_net, value_points, value_width

OFFICIAL = PRESETS["official"]

LONG = {
    "opening": "24:15 | 24:15",
    "middle": "24:6 20:2 16:2 13:1 9:2 4:2 | 24:7 22:1 18:2 15:2 10:1 5:2",
    "blocked": "24:5 22:1 20:1 15:1 14:1 7:2 6:1 5:1 4:1 3:1 | 24:4 21:2 20:2 6:3 5:2 4:2",
    "bear-off": "off:9 6:2 5:1 3:2 1:1 | off:8 6:1 4:3 2:3",
    "may win": "off:13 6:1 2:1 | off:14 3:1",
    "may win mars": "off:13 2:1 1:1 | 8:3 4:6 3:6",
    "last throw": "off:12 5:2 1:1 | off:15",
    "last throw, mars": "7:1 6:7 5:7 | off:15",
}
NOBODY_CAN_FINISH = ("opening", "middle", "blocked", "bear-off")
SHORT = {
    "opening": "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5",
    "on the bar": "bar:1 24:1 13:4 8:3 6:5 4:1 | 24:1 22:1 13:4 8:3 6:5 5:1",
    "race": "off:11 6:1 5:2 1:1 | off:12 4:2 2:1",
}


class HashEvaluator:
    """An equity for every position that means nothing and is the same number however it is computed.

    Equities are multiples of 2**-20 between -1 and 1: hardly two of them are equal, and sums of a few are exact.
    """

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        self.rules = rules
        self.calls = 0
        self._weights = np.random.default_rng(seed).integers(1, 2**40, 2 * SLOTS + 1)

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The equity itself for scoring `checkers`; otherwise chances of the worst and the best outcome."""
        equity = self.equities(boards, moved_first)
        if value_width(self.rules) == 1:
            return equity[:, None].astype(np.float32)
        values = np.zeros((len(boards), value_width(self.rules)), dtype=np.float32)
        most = value_points(self.rules)[-1]
        values[:, 0], values[:, -1] = (1 - equity / most) / 2, (1 + equity / most) / 2
        return values

    def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        self.calls += 1
        numbers = np.column_stack([boards.reshape(len(boards), 2 * SLOTS), moved_first]).astype(np.int64)
        return (numbers @ self._weights % (2**21 + 1) - 2**20) / 2**20

    def after_play(
        self, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates
    ) -> NDArray[np.float64]:
        return self.equities(flip(afterstates.boards), ~np.repeat(moved_first, afterstates.counts))


def batch(texts: dict[str, str]) -> Boards:
    return np.array([parse_position(text) for text in texts.values()], dtype=np.int8)


def both_seats(boards: Boards, rules: Rules) -> tuple[Boards, NDArray[np.bool_]]:
    """Every board with either seat on roll, where that can be: who has one throw left moved second (R5.4)."""
    boards, seats = np.repeat(boards, 2, axis=0), np.tile([True, False], len(boards))
    possible = (boards[:, 1, OFF] < CHECKERS) | ~seats if rules.draw == "last_roll" else boards[:, 1, OFF] < CHECKERS
    return boards[possible], seats[possible]


# --- the slow twin ----------------------------------------------------------------------------------------------------


@functools.cache
def reference_plays(board: Board, roll: tuple[int, int], rules: Rules) -> list[Board]:
    return [play.board for play in legal_plays(board, roll, rules)]


def passed(board: Board) -> Board:
    return board[1], board[0]


def twin_equity(evaluator: Evaluator, before: Board, after: Board, seat: bool, rules: Rules) -> float:
    """Equity of one afterstate for its mover, judged without looking further."""
    outcome, points = settle(np.array([before], np.int8), np.array([after], np.int8), np.array([seat]), rules)
    if outcome[0] >= 0:
        return float(points[0])
    if after[0][OFF] == CHECKERS:
        return -sum(
            w * e for w, e in zip(ROLL_WEIGHTS, twin_rolls(evaluator, passed(after), not seat, rules), strict=True)
        )
    return -float(evaluator.equities(np.array([passed(after)], np.int8), np.array([not seat]))[0])


def twin_rolls(evaluator: Evaluator, board: Board, seat: bool, rules: Rules) -> Iterator[float]:
    """What `roll_equities` gives for one position."""
    for roll in ROLLS:
        plays = reference_plays(board, tuple(roll.tolist()), rules)
        yield max(twin_equity(evaluator, board, after, seat, rules) for after in plays)


def as_tuples(board: NDArray[np.int8]) -> Board:
    mover, opponent = board.tolist()
    return tuple(mover), tuple(opponent)


VARIANTS = [
    (make_rules(preset), positions)
    for preset, positions in (("official", LONG), ("casual", LONG), ("overview", LONG), ("short", SHORT))
]


@pytest.mark.parametrize(("rules", "positions"), VARIANTS)
def test_roll_equities_equal_plain_loops(rules: Rules, positions: dict[str, str]) -> None:
    boards, seats = both_seats(batch(positions), rules)
    evaluator = HashEvaluator(rules)
    actual = roll_equities(evaluator, boards, seats, rules)
    expected = [list(twin_rolls(evaluator, as_tuples(b), bool(s), rules)) for b, s in zip(boards, seats, strict=True)]
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    means = backed_up_equities(evaluator, boards, seats, rules)
    np.testing.assert_allclose(means, np.array(expected) @ ROLL_WEIGHTS, atol=1e-12)


@pytest.mark.parametrize(("rules", "positions"), VARIANTS)
def test_backed_up_values_say_what_backed_up_equities_say(rules: Rules, positions: dict[str, str]) -> None:
    boards, seats = both_seats(batch(positions), rules)
    for evaluator in (HashEvaluator(rules), CompiledEvaluator(make_net(NetConfig(16, 4), rules, 1), rules)):
        values = backed_up_values(evaluator, boards, seats, rules)
        assert values.dtype == np.float32
        if values.shape[1] > 1:
            np.testing.assert_allclose(values.sum(axis=1), 1.0, atol=1e-5)
        expected = backed_up_equities(evaluator, boards, seats, rules)
        np.testing.assert_allclose(values @ value_points(rules), expected, atol=1e-4)


def test_the_judge_values_what_the_evaluator_chooses() -> None:
    boards, seats = both_seats(batch(LONG), OFFICIAL)
    chooser, judge = HashEvaluator(OFFICIAL, 1), HashEvaluator(OFFICIAL, 2)
    actual = backed_up_values(chooser, boards, seats, OFFICIAL, judge) @ value_points(OFFICIAL)
    for k, (board, seat) in enumerate(zip(boards, seats, strict=True)):
        before, expected = as_tuples(board), 0.0
        for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
            plays = reference_plays(before, tuple(roll.tolist()), OFFICIAL)
            chosen = max(plays, key=lambda after: twin_equity(chooser, before, after, seat, OFFICIAL))
            expected += weight * twin_equity(judge, before, chosen, seat, OFFICIAL)
        assert actual[k] == pytest.approx(expected, abs=1e-5)


def test_all_rolls_are_in_order() -> None:
    boards, seats = both_seats(batch(LONG), OFFICIAL)
    evaluator = HashEvaluator(OFFICIAL)
    after, equities = all_rolls(evaluator, boards, seats, OFFICIAL)
    assert len(after.offsets) == len(boards) * len(ROLLS) + 1
    for k in (0, 7, len(boards) - 1):
        for r, roll in enumerate(ROLLS):
            own = slice(*after.offsets[k * len(ROLLS) + r :][:2])
            board, seat = as_tuples(boards[k]), bool(seats[k])
            plays = reference_plays(board, tuple(roll.tolist()), OFFICIAL)
            assert sorted(map(as_tuples, after.boards[own])) == sorted(plays)
            expected = [twin_equity(evaluator, board, as_tuples(row), seat, OFFICIAL) for row in after.boards[own]]
            np.testing.assert_allclose(equities[own], expected, atol=1e-12)


@pytest.mark.parametrize("look", [roll_equities, backed_up_equities, backed_up_values])
@pytest.mark.parametrize("precision", ["float32", "int16"])
def test_a_position_is_worth_the_same_in_any_batch(look: Callable[..., NDArray[np.floating]], precision: str) -> None:
    boards, seats = both_seats(batch({name: LONG[name] for name in NOBODY_CAN_FINISH}), OFFICIAL)
    many = np.arange(2 * CHUNK + 5) % len(boards)
    evaluator = CompiledEvaluator(make_net(NetConfig(16, 4), OFFICIAL, 1), OFFICIAL, precision)
    together = look(evaluator, boards[many], seats[many], OFFICIAL)
    for k in range(len(boards)):
        alone = look(evaluator, boards[k : k + 1], seats[k : k + 1], OFFICIAL)
        assert (together[many == k] == alone).all()


def test_nothing_comes_of_nothing() -> None:
    boards, seats = new_boards(0, OFFICIAL), np.zeros(0, dtype=np.bool_)
    evaluator = HashEvaluator(OFFICIAL)
    assert roll_equities(evaluator, boards, seats, OFFICIAL).shape == (0, 21)
    assert backed_up_equities(evaluator, boards, seats, OFFICIAL).shape == (0,)
    assert backed_up_values(evaluator, boards, seats, OFFICIAL).shape == (0, 5)


def test_mean_over_rolls() -> None:
    is_double = (ROLLS[:, 0] == ROLLS[:, 1]).astype(np.float64)
    has_six = (ROLLS == 6).any(axis=1).astype(np.float64)
    means = mean_over_rolls(np.stack([np.full(21, 2.0), is_double, has_six]))
    np.testing.assert_allclose(means, [2.0, 1 / 6, 11 / 36], rtol=1e-12)
