"""One ply ahead: the best play of each of the 21 rolls. Search, rollouts, luck and training targets are made of this.

All positions are seen by the player on roll, the dice not thrown yet, as everywhere in the kit.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import GivesValues, choose
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import CHECKERS, OFF, SLOTS, Rules
from nardy_rl.value.evaluator import Evaluator, afterstate_equities
from nardy_rl.value.net import value_width

CHUNK = 64
"""Positions looked at side by side: about 30,000 afterstates, which a processor's cache still holds."""


def roll_equities(
    evaluator: Evaluator, boards: Boards, moved_first: NDArray[np.bool_], rules: Rules
) -> NDArray[np.float64]:
    """Expected points of the player on roll after the best play of each roll, float64 (N, 21) in the order of `ROLLS`.

    Args:
        evaluator: Values the afterstates.
        boards: int8 (N, 2, 26), rows (player on roll, opponent), of games that are not over.
        moved_first: bool (N,), does the player on roll hold the first seat.
        rules: Any `Rules`.
    """
    equities = np.empty((len(boards), len(ROLLS)))
    for part in chunks(len(boards)):
        after, scores = all_rolls(evaluator, boards[part], moved_first[part], rules)
        equities[part] = np.maximum.reduceat(scores, after.offsets[:-1]).reshape(-1, len(ROLLS))
    return equities


def mean_over_rolls(equities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean by the chances of the rolls, float64 (N,), of numbers (N, 21) in the order of `ROLLS`.

    Added up roll by roll: a matrix product may add in another order when the batch is larger.
    """
    total = np.zeros(len(equities))
    for k, weight in enumerate(ROLL_WEIGHTS):
        total += weight * equities[:, k]
    return total


def backed_up_equities(
    evaluator: Evaluator, boards: Boards, moved_first: NDArray[np.bool_], rules: Rules
) -> NDArray[np.float64]:
    """Equity of positions by the mean over all rolls of the best play, float64 (N,): what 1-ply search believes."""
    return mean_over_rolls(roll_equities(evaluator, boards, moved_first, rules))


def backed_up_values(
    evaluator: Evaluator,
    boards: Boards,
    moved_first: NDArray[np.bool_],
    rules: Rules,
    judge: GivesValues | None = None,
) -> NDArray[np.float32]:
    """`Evaluator.values` of positions by the mean over all rolls of the best play, float32 (N, width).

    Args:
        evaluator: Chooses the plays (16-bit arithmetic will do).
        boards: As in `roll_equities`.
        moved_first: As in `roll_equities`.
        rules: Any `Rules`.
        judge: Values what was chosen; `evaluator` itself if not given.
    """
    judge = judge or evaluator
    n_rolls = len(ROLLS)
    values = np.empty((len(boards), value_width(rules)), dtype=np.float32)
    weights = ROLL_WEIGHTS.astype(np.float32)[:, None]
    for part in chunks(len(boards)):
        after, scores = all_rolls(evaluator, boards[part], moved_first[part], rules)
        chosen = after.boards[first_best(scores, after.offsets)]
        starts, seats = np.repeat(boards[part], n_rolls, axis=0), np.repeat(moved_first[part], n_rolls)
        by_roll = _values_after(evaluator, judge, starts, chosen, seats, rules).reshape(-1, n_rolls, values.shape[1])
        values[part] = (by_roll * weights).sum(axis=1)
    return values


def all_rolls(
    evaluator: Evaluator, boards: Boards, moved_first: NDArray[np.bool_], rules: Rules
) -> tuple[Afterstates, NDArray[np.float64]]:
    """All that can follow positions: the afterstates of every roll, and what they are worth to their movers.

    Memory grows with N: about 450 afterstates a position. Go through more than some hundreds by `chunks`.

    Args:
        evaluator: Values the afterstates.
        boards: int8 (N, 2, 26), of games that are not over.
        moved_first: bool (N,).
        rules: Any `Rules`.

    Returns:
        after: `Afterstates` of 21 * N rolls, those of position i being 21 * i to 21 * i + 20, in the order of `ROLLS`.
        equities: float64 (K,), exact where the game is over or has one throw left.
    """
    after = legal_afterstates(np.repeat(boards, len(ROLLS), axis=0), np.tile(ROLLS, (len(boards), 1)), rules)
    # the evaluator need not know that they come from 21 rolls: it prepares each position once
    of_position = Afterstates(after.boards, np.ascontiguousarray(after.offsets[:: len(ROLLS)]))
    return after, afterstate_equities(evaluator, boards, moved_first, of_position, rules)


def first_best(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row of the highest score of each roll, int64 (N,): `choose`, the first of equals (worth the same)."""
    return choose(scores, offsets, np.zeros(len(offsets) - 1, dtype=np.uint64))


def distinct(
    boards: Boards, moved_first: NDArray[np.bool_], *more: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the different positions, and for each given one its number among them.

    Args:
        boards: int8 (N, 2, 26).
        moved_first: bool (N,).
        more: Further arrays (N,) of small integers, as the number of a roll, in which equal positions must agree.
    """
    columns = (moved_first, *more)
    keys = np.empty((len(boards), 2 * SLOTS + len(columns)), dtype=np.int8)
    keys[:, : 2 * SLOTS] = boards.reshape(len(boards), 2 * SLOTS)
    for k, column in enumerate(columns, start=2 * SLOTS):
        keys[:, k] = column
    _, first, place = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True, return_inverse=True)
    return first, place


def chunks(n: int) -> Iterator[slice]:
    """Slices of `CHUNK` positions, the last one shorter."""
    return (slice(k, min(k + CHUNK, n)) for k in range(0, n, CHUNK))


def _values_after(
    chooser: Evaluator, judge: GivesValues, before: Boards, after: Boards, moved_first: NDArray[np.bool_], rules: Rules
) -> NDArray[np.float32]:
    """Value of afterstates for their movers, float32 (N, width); exact where the game is over or has one throw left."""
    outcome, points = settle(before, after, moved_first, rules)
    last_throw = (outcome < 0) & (after[:, 0, OFF] == CHECKERS)
    values = np.zeros((len(after), value_width(rules)), dtype=np.float32)
    going_on = np.flatnonzero((outcome < 0) & ~last_throw)
    if going_on.size:
        values[going_on] = judge.values(flip(after[going_on]), ~moved_first[going_on])
    if last_throw.any():  # the recursion ends here: every play of the last throw ends its game
        values[last_throw] = backed_up_values(chooser, flip(after[last_throw]), ~moved_first[last_throw], rules, judge)
    width = values.shape[1]
    values = -values if width == 1 else values[:, ::-1].copy()
    ended = np.flatnonzero(outcome >= 0)
    if width == 1:
        values[ended, 0] = points[ended]
    else:
        values[ended, outcome[ended]] = 1.0
    return values
