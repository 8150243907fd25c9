"""Afterstates as plain float vectors, for learners that want numbers and none of this package's training code."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import BAR, CHECKERS, OFF, POINTS

PER_POINT = 4
FEATURES = 2 * (POINTS * PER_POINT + 2) + 1
"""Width of a row, 197."""


def afterstate_features(boards: Boards, seats: NDArray[np.int64]) -> NDArray[np.float32]:
    """What a position is made of, float32 (K, 197), in the manner of TD-Gammon.

    Columns of the learner, then the same of the opponent, each by his own numbering:

    - 4 for each point 1 .. 24, so that the columns of point p begin at 4 * (p - 1): 1 if at least one checker stands
      there, 1 if at least two, 1 if at least three, and half the number of those beyond three;
    - half the number of checkers on the bar (always 0 in long nardy);
    - the part of the checkers that is borne off, 0 .. 1.

    The last column is 1 if the learner made the first move of the game (R5.4).

    Args:
        boards: int8 (K, 2, 26), rows (learner, opponent).
        seats: int64 (K,), the learner's seats.
    """
    features: NDArray[np.float32] = _features(np.require(boards, requirements=["C", "W"]), seats)
    return features


@numba.njit(cache=True, nogil=True)
def _features(boards: Any, seats: Any) -> Any:
    out = np.zeros((len(boards), FEATURES), np.float32)
    width = POINTS * PER_POINT + 2
    for i in range(len(boards)):
        for side in range(2):
            row = out[i, side * width : (side + 1) * width]
            for point in range(1, POINTS + 1):
                count = boards[i, side, point]
                first = PER_POINT * (point - 1)
                for k in range(min(count, 3)):
                    row[first + k] = 1
                if count > 3:
                    row[first + 3] = (count - 3) / 2
            row[width - 2] = boards[i, side, BAR] / 2
            row[width - 1] = boards[i, side, OFF] / CHECKERS
        out[i, FEATURES - 1] = seats[i] == 0
    return out
