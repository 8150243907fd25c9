"""Luck: what the roll thrown was worth beyond the mean of all rolls, in the judgement of one evaluator.

The luck of a turn is the equity of the best play of its roll, less the mean of that over all rolls. Its expectation is
zero in every position, whatever the evaluator believes and whatever the players make of the roll. So the luck of both
sides may be subtracted from the result of a game without bias, and the better the evaluator, the less chance is left:
a control variate, known in backgammon programs as variance reduction.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.lookahead import all_rolls, chunks, first_best, mean_over_rolls, roll_equities
from nardy_rl.agents.value import load_evaluators
from nardy_rl.rules.board import Boards, new_boards
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.spec import SLOTS, Rules
from nardy_rl.value.evaluator import Evaluator

_DOUBLES = ROLLS[:, 0] == ROLLS[:, 1]
_NUMBER = np.zeros((7, 7), dtype=np.int64)
_NUMBER[ROLLS[:, 0], ROLLS[:, 1]] = _NUMBER[ROLLS[:, 1], ROLLS[:, 0]] = np.arange(len(ROLLS))


class BestPlays(NamedTuple):
    """The best play of every roll; the first of equals, which are worth the same.

    Attributes:
        equities: float64 (N, 21), expected points of the player on roll, in the order of `ROLLS`.
        boards: int8 (N, 21, 2, 26), the afterstates, rows (mover, opponent).
    """

    equities: NDArray[np.float64]
    boards: Boards


def load_judge(path: str | Path, rules: Rules) -> Evaluator:
    """The net of a checkpoint folder (or of a run, its newest) in 16-bit arithmetic, with the bear-off table if any.

    Or GNU Backgammon, `gnubg:0` (see `load_evaluators`).

    Raises:
        CheckpointError: It cannot be used, or not for these rules.
        ValueError: As `load_evaluators`.
    """
    (judge,) = load_evaluators(path, rules, "int16")
    return judge


def best_plays(evaluator: Evaluator, boards: Boards, moved_first: NDArray[np.bool_], rules: Rules) -> BestPlays:
    """The best play of all 21 rolls of each position, and what it is worth.

    Args:
        evaluator: Values the afterstates.
        boards: int8 (N, 2, 26), rows (player on roll, opponent), of games that are not over.
        moved_first: bool (N,), does the player on roll hold the first seat.
        rules: Any `Rules`.
    """
    n, rolls = len(boards), len(ROLLS)
    best = BestPlays(np.empty((n, rolls)), np.empty((n, rolls, 2, SLOTS), dtype=np.int8))
    for part in chunks(n):
        after, equities = all_rolls(evaluator, boards[part], moved_first[part], rules)
        rows = first_best(equities, after.offsets)
        best.equities[part] = equities[rows].reshape(-1, rolls)
        best.boards[part] = after.boards[rows].reshape(-1, rolls, 2, SLOTS)
    return best


def is_lot(boards: Boards, moved_first: NDArray[np.bool_], rules: Rules) -> NDArray[np.bool_]:
    """Bool (N,): is this turn's roll the lot itself, which is never a double: turn 1 under `opening_roll` use (R6.1).

    No checker ever returns to the start in long nardy, nor all thirty of them in short nardy, so the board tells.
    """
    if rules.opening_roll != "use":
        return np.zeros(len(boards), dtype=np.bool_)
    at_start: NDArray[np.bool_] = (boards == new_boards(1, rules)).all(axis=(1, 2))
    return at_start & moved_first


def mean_equities(
    equities: NDArray[np.float64], boards: Boards, moved_first: NDArray[np.bool_], rules: Rules
) -> NDArray[np.float64]:
    """Mean of equities (N, 21) by roll over the rolls that can be thrown in these positions, float64 (N,)."""
    mean = mean_over_rolls(equities)
    lots = np.flatnonzero(is_lot(boards, moved_first, rules))
    if lots.size:
        mean[lots] = equities[np.ix_(lots, ~_DOUBLES)].mean(axis=1)
    return mean


def roll_number(dice: NDArray[np.int8]) -> NDArray[np.int64]:
    """Number in `ROLLS` of each roll, int64 (N,), of dice (N, 2) in either order."""
    number: NDArray[np.int64] = _NUMBER[dice[:, 0], dice[:, 1]]
    return number


def roll_luck(
    evaluator: Evaluator, boards: Boards, dice: NDArray[np.int8], moved_first: NDArray[np.bool_], rules: Rules
) -> NDArray[np.float64]:
    """Luck of the player on roll, in points, float64 (N,).

    Args:
        evaluator: The judge; the same one for both sides.
        boards: int8 (N, 2, 26), rows (player on roll, opponent), of games that are not over.
        dice: int8 (N, 2), the rolls thrown.
        moved_first: bool (N,), does the player on roll hold the first seat.
        rules: Any `Rules`.
    """
    equities = roll_equities(evaluator, boards, moved_first, rules)
    thrown: NDArray[np.float64] = equities[np.arange(len(boards)), roll_number(dice)]
    return thrown - mean_equities(equities, boards, moved_first, rules)
