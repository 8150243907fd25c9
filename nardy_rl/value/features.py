"""What the value net sees of a position: one row per (side, slot, count), and one for the seat.

A position is a set of active rows; the first layer of the net is the sum of their weights. A slot with no checkers
has no active row (its weight would be absorbed by the bias), so a position has about 17 of them instead of 52.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import SLOTS

COUNTS = 16
SEAT_ROW = 2 * SLOTS * COUNTS
"""Active where the player on roll holds the first seat (R5.4)."""
ROWS = SEAT_ROW + 1


def active_rows(boards: Boards, moved_first: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The active rows of each position, in the form `torch.nn.EmbeddingBag` takes.

    Row number of `count` checkers on `slot` of `side` (0 = player on roll): (side * 26 + slot) * 16 + count.

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
    rows = np.empty(n * 33, np.int64)  # at most 15 occupied slots a side, the off slots among them, and the seat
    filled = 0
    for i in range(n):
        for side in range(2):
            for slot in range(SLOTS):
                count = boards[i, side, slot]
                if count:
                    rows[filled] = (side * SLOTS + slot) * COUNTS + count
                    filled += 1
        if moved_first[i]:
            rows[filled] = SEAT_ROW
            filled += 1
        offsets[i + 1] = filled
    return rows[:filled].copy(), offsets
