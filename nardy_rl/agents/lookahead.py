"""One ply ahead: the best play of each of the 21 rolls. Search, rollouts, luck and training targets are made of this.

All positions are seen by the player on roll, the dice not thrown yet, as everywhere in the kit.
"""

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import CHECKERS, OFF, Rules
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
    for part in _chunks(len(boards)):
        starts, seats, after = _all_rolls(boards[part], moved_first[part], rules)
        scores = afterstate_equities(evaluator, starts, seats, after, rules)
        equities[part] = np.maximum.reduceat(scores, after.offsets[:-1]).reshape(-1, len(ROLLS))
    return equities


def backed_up_equities(
    evaluator: Evaluator, boards: Boards, moved_first: NDArray[np.bool_], rules: Rules
) -> NDArray[np.float64]:
    """Equity of positions by the mean over all rolls of the best play, float64 (N,): what 1-ply search believes."""
    result: NDArray[np.float64] = roll_equities(evaluator, boards, moved_first, rules) @ ROLL_WEIGHTS
    return result


def backed_up_values(
    evaluator: Evaluator,
    boards: Boards,
    moved_first: NDArray[np.bool_],
    rules: Rules,
    judge: Evaluator | None = None,
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
    width = value_width(rules)
    values: list[NDArray[np.float32]] = []
    for part in _chunks(len(boards)):
        starts, seats, after = _all_rolls(boards[part], moved_first[part], rules)
        scores = afterstate_equities(evaluator, starts, seats, after, rules)
        best = _first_best(scores, after.offsets)
        chosen = after.boards[best]
        values.append(_values_after(judge, starts, chosen, seats, rules).reshape(-1, len(ROLLS), width))
    if not values:
        return np.empty((0, width), dtype=np.float32)
    weights = ROLL_WEIGHTS.astype(np.float32)[:, None]
    return np.concatenate([(part * weights).sum(axis=1) for part in values])


def _values_after(
    judge: Evaluator, before: Boards, after: Boards, moved_first: NDArray[np.bool_], rules: Rules
) -> NDArray[np.float32]:
    """Value of afterstates for their movers, float32 (N, width); exact where the game is over or has one throw left."""
    values = judge.values(flip(after), ~moved_first)
    outcome, points = settle(before, after, moved_first, rules)
    last_throw = np.flatnonzero((outcome < 0) & (after[:, 0, OFF] == CHECKERS))
    if last_throw.size:  # the recursion ends here: every play of the last throw ends its game
        values[last_throw] = backed_up_values(judge, flip(after[last_throw]), ~moved_first[last_throw], rules)
    width = values.shape[1]
    values = -values if width == 1 else values[:, ::-1].copy()
    ended = np.flatnonzero(outcome >= 0)
    if width == 1:
        values[ended, 0] = points[ended]
    else:
        values[ended] = 0.0
        values[ended, outcome[ended]] = 1.0
    return values


def _chunks(n: int) -> Iterator[slice]:
    return (slice(k, min(k + CHUNK, n)) for k in range(0, n, CHUNK))


def _all_rolls(
    boards: Boards, moved_first: NDArray[np.bool_], rules: Rules
) -> tuple[Boards, NDArray[np.bool_], Afterstates]:
    """Every board 21 times over, once a roll, and the afterstates of these N * 21 turns."""
    starts = np.repeat(boards, len(ROLLS), axis=0)
    seats = np.repeat(moved_first, len(ROLLS))
    return starts, seats, legal_afterstates(starts, np.tile(ROLLS, (len(boards), 1)), rules)


@numba.njit(cache=True, nogil=True)
def _first_best(scores: Any, offsets: Any) -> Any:
    """Row of the highest score of each roll, int64 (N,); the first of equals, which are worth the same."""
    best = np.empty(len(offsets) - 1, np.int64)
    for game in range(len(best)):
        k = offsets[game]
        for row in range(k + 1, offsets[game + 1]):
            if scores[row] > scores[k]:
                k = row
        best[game] = k
    return best
