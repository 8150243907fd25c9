"""What the value net sees of a position: one row per (side, slot, count), one for the seat, and perhaps patterns.

A position is a set of active rows; the first layer of the net is the sum of their weights. A slot with n checkers
activates its rows 1..n (row k says "a k-th checker stands here"), so that what is learnt of two checkers on a point
also holds for three. After 40,000 games that was worth a point per game against the heuristic over one row for each
exact count. A position has 30 active rows and perhaps that of the seat. The rows of patterns of held points, if a net
has any, follow these (see `value.patterns`).
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import CHECKERS, SLOTS
from nardy_rl.value.patterns import MOST_ACTIVE, NONE, active_patterns, held, pattern_numbers

COUNTS = 16
SEAT_ROW = 2 * SLOTS * COUNTS
"""Active where the player on roll holds the first seat (R5.4)."""
ROWS = SEAT_ROW + 1
"""Rows of a net without patterns."""


def active_rows(
    boards: Boards, moved_first: NDArray[np.bool_], patterns: str = NONE
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The active rows of each position.

    Row number of the k-th checker on `slot` of `side` (0 = player on roll): (side * 26 + slot) * 16 + k, k = 1..15.

    Args:
        boards: int8 (K, 2, 26), rows (player on roll, opponent).
        moved_first: bool (K,), does the player on roll hold the first seat.
        patterns: Scheme of the net's patterns.

    Returns:
        rows: int64 (M,), all active rows one position after the other.
        offsets: int64 (K + 1,), where each position's rows begin.
    """
    rows, offsets = _active_rows(
        np.require(boards, requirements=["C", "W"]),
        np.require(moved_first, requirements="W"),
        pattern_numbers(patterns),
    )
    return rows, offsets


@numba.njit(cache=True, nogil=True)
def _active_rows(boards: Any, moved_first: Any, patterns: Any) -> tuple[Any, Any]:
    n = len(boards)
    offsets = np.zeros(n + 1, np.int64)
    rows = np.empty(n * (2 * CHECKERS + 1 + (MOST_ACTIVE if len(patterns) else 0)), np.int64)
    filled = 0
    for i in range(n):
        places = 0
        for side in range(2):
            for slot in range(SLOTS):
                if boards[i, side, slot]:
                    places |= 1 << (side * SLOTS + slot)
                for k in range(1, boards[i, side, slot] + 1):
                    rows[filled] = (side * SLOTS + slot) * COUNTS + k
                    filled += 1
        if moved_first[i]:
            rows[filled] = SEAT_ROW
            filled += 1
        if len(patterns):
            mine, theirs = held(places, 0)
            filled = active_patterns(mine, theirs, patterns, ROWS, rows, filled)
        offsets[i + 1] = filled
    return rows[:filled].copy(), offsets


def sum_rows(weight: NDArray[np.float32], rows: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
    """Sum of each position's active rows of `weight` (R, H), float32 (K, H)."""
    result: NDArray[np.float32] = _sum_rows(weight, rows, offsets)
    return result


def spread_rows(
    grad: NDArray[np.float32], rows: NDArray[np.int64], offsets: NDArray[np.int64], count: int
) -> NDArray[np.float32]:
    """Gradient of `sum_rows` by its weight, float32 (count, H), from the gradient by its result (K, H)."""
    result: NDArray[np.float32] = _spread_rows(grad, rows, offsets, count)
    return result


@numba.njit(cache=True, nogil=True, boundscheck=False, fastmath={"reassoc", "contract", "nsz"})
def add_rows(weight: Any, rows: Any, first: int, last: int, out: Any) -> None:
    """Adds the rows rows[first:last] of `weight` (R, H) to `out` (H,), five in a pass: fewer trips to memory."""
    m = first
    while m + 5 <= last:
        a, b, c = weight[rows[m]], weight[rows[m + 1]], weight[rows[m + 2]]
        d, e = weight[rows[m + 3]], weight[rows[m + 4]]
        for i in range(len(out)):
            out[i] += (a[i] + b[i]) + (c[i] + d[i]) + e[i]
        m += 5
    while m < last:
        a = weight[rows[m]]
        for i in range(len(out)):
            out[i] += a[i]
        m += 1


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _sum_rows(weight: Any, rows: Any, offsets: Any) -> Any:
    out = np.zeros((len(offsets) - 1, weight.shape[1]), np.float32)
    for k in range(len(out)):
        add_rows(weight, rows, offsets[k], offsets[k + 1], out[k])
    return out


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _spread_rows(grad: Any, rows: Any, offsets: Any, count: int) -> Any:
    out = np.zeros((count, grad.shape[1]), np.float32)
    for k in range(len(grad)):
        share = grad[k]
        for m in range(offsets[k], offsets[k + 1]):
            row = out[rows[m]]
            for i in range(len(row)):
                row[i] += share[i]
    return out
