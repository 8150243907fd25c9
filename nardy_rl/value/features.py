"""What the value net sees of a position: one row per (side, slot, count), and one for the seat.

A position is a set of active rows; the first layer of the net is the sum of their weights. A slot with n checkers
activates its rows 1..n (row k says "a k-th checker stands here"), so that what is learnt of two checkers on a point
also holds for three. After 40,000 games that was worth a point per game against the heuristic over one row for each
exact count. A position has 30 active rows and perhaps that of the seat.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import CHECKERS, SLOTS

COUNTS = 16
SEAT_ROW = 2 * SLOTS * COUNTS
"""Active where the player on roll holds the first seat (R5.4)."""
ROWS = SEAT_ROW + 1


def active_rows(boards: Boards, moved_first: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The active rows of each position, in the form `torch.nn.EmbeddingBag` takes.

    Row number of the k-th checker on `slot` of `side` (0 = player on roll): (side * 26 + slot) * 16 + k, k = 1..15.

    Args:
        boards: int8 (K, 2, 26), rows (player on roll, opponent).
        moved_first: bool (K,), does the player on roll hold the first seat.

    Returns:
        rows: int64 (M,), all active rows one position after the other.
        offsets: int64 (K + 1,), where each position's rows begin.
    """
    rows, offsets = _active_rows(np.require(boards, requirements=["C", "W"]), np.require(moved_first, requirements="W"))
    return rows, offsets


@numba.njit(cache=True, nogil=True)
def _active_rows(boards: Any, moved_first: Any) -> tuple[Any, Any]:
    n = len(boards)
    offsets = np.zeros(n + 1, np.int64)
    rows = np.empty(n * (2 * CHECKERS + 1), np.int64)
    filled = 0
    for i in range(n):
        for side in range(2):
            for slot in range(SLOTS):
                for k in range(1, boards[i, side, slot] + 1):
                    rows[filled] = (side * SLOTS + slot) * COUNTS + k
                    filled += 1
        if moved_first[i]:
            rows[filled] = SEAT_ROW
            filled += 1
        offsets[i + 1] = filled
    return rows[:filled].copy(), offsets
