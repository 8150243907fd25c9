"""Exact equities of every pair of home positions: what a race to bear off is worth to the player on roll.

Let V(a, b) be the equity of the player on roll with home a against b. His play takes him from a to some a', then the
opponent is on roll with b against a':

    V(a, b) = sum over rolls of P(roll) * max over a' of -V(b, a')

Plays lower the pips, and positions are numbered by pips. The table holds T[b, a] = V(a, b), so that one row, T[a', :],
has what every opponent b thinks of a'. For one a and *all* b at once the formula is then a minimum of few contiguous
rows of 16-bit integers: vector instructions do it.

Levels of equal pips are done in ascending order, so that all a' come before a:

1. own a in the level, opponents b below it:        reads T[a', b], which earlier levels wrote;
2. own a below or in the level, opponents b in it:   reads T[a', b] = V(b, a'), which step 1 has just written.

Both steps write V(a, b) to T[b, a], where nothing of the same step reads: the tiles of a step may run in any order on
any number of threads, and all arithmetic is in integers, so the table is the same to the last bit.

With the last throw (R5.4) a value depends on who moved first. There are two tables: the one of the player who moved
first reads the one of the player who moved second, and the other way round.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.endgame.positions import HomePositions, Successors, home_successors
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.scoring import result_points, win_level
from nardy_rl.rules.spec import Rules

Table = NDArray[Any]
"""(seats, n, n): [seat, b, a] is V(a, b); seat 0 = the player on roll moved first, 1 = second. One seat = either."""

LIMIT = 32_767
"""Largest value an int16 holds."""

_SHARES = np.rint(ROLL_WEIGHTS * 36).astype(np.int32)
_TILE = 128
"""Opponents that are done at once: 256 bytes of a row."""
_TURNED = 64
"""Own positions whose results are collected before they are written, turned by 90 degrees."""
_TASK = 4_096
"""Own positions in one task of a thread."""


def seats(rules: Rules) -> int:
    """Tables that rules need: 2 where the seat matters (R5.4), otherwise 1."""
    return 2 if rules.draw == "last_roll" else 1


def points_lost(positions: HomePositions, rules: Rules) -> NDArray[np.float64]:
    """What each position loses if the opponent is done, float64 (n,): oin, mars or what else the scoring has."""
    rows = positions.rows
    points = result_points(rows, win_level(rows, rules), rules)
    points[0] = 0.0  # both are done: a draw, where there are draws
    return points


def scale(positions: HomePositions, rules: Rules) -> int:
    """Steps of the 16-bit table in one point: as many as the largest result leaves room for."""
    return int(LIMIT // points_lost(positions, rules).max())


def build(
    positions: HomePositions,
    rules: Rules,
    *,
    threads: int = 1,
    dtype: type[np.int16] | type[np.float64] = np.int16,
    progress: Callable[[float], None] | None = None,
) -> Table:
    """Computes the table.

    Args:
        positions: n positions of a side.
        rules: Any long or short rules whose bear-off is a race (`positions.check_rules`).
        threads: Tiles done at once; the result does not depend on it.
        dtype: int16: equity times `scale`, each value rounded once; float64: equities without rounding, for measuring
            what the rounding does.
        progress: Called in the caller's thread with the share of the work done, 0..1.

    Returns:
        (seats, n, n), see `Table`. The column of own position 0, all off, is 0 and means nothing: the game is over.

    Raises:
        ValueError: Rules that have no tables.
    """
    n = len(positions)
    successors = home_successors(positions, rules)
    rounded = dtype is np.int16
    table: Table = np.empty((seats(rules), n, n), dtype=dtype)
    finished = _finished(positions, successors, rules)
    table[:, 0] = np.rint(finished * scale(positions, rules)) if rounded else finished
    table[:, :, 0] = 0
    sources = table[::-1]

    def fill(known: Table, into: Table, own: tuple[int, int], opponents: tuple[int, int]) -> None:
        total = np.empty(opponents[1] - opponents[0], dtype=np.int32 if rounded else np.float64)
        _fill(known, into, *successors, *own, *opponents, total, rounded)

    done = 0
    with ThreadPoolExecutor(threads, thread_name_prefix="bearoff") as pool:
        for low, high in _levels(positions):
            for own, opponents in (((low, high), (1, low)), ((1, high), (low, high))):
                tasks = [
                    pool.submit(fill, sources[seat], table[seat], x, y)
                    for seat in range(len(table))
                    for y in _cut(*opponents, _TILE)
                    for x in _cut(*own, _TASK)
                ]
                try:
                    for task in tasks:
                        task.result()
                except BaseException:
                    pool.shutdown(wait=True, cancel_futures=True)
                    raise
                done += (own[1] - own[0]) * (opponents[1] - opponents[0])
            if progress is not None:
                progress(done / (n - 1) ** 2)
    return table


def _finished(positions: HomePositions, successors: Successors, rules: Rules) -> NDArray[np.float64]:
    """Equity of the player on roll with each position against one who is done, float64 (seats, n)."""
    lost = points_lost(positions, rules)
    if seats(rules) == 1:
        return -lost[None]
    # R5.4: the second player has one throw more; for the first to be on roll, his opponent has had it
    judged = lost[successors.numbers]
    if rules.last_roll_mars == "before":
        of = np.repeat(np.arange(len(positions)), np.diff(successors.offsets[:: len(ROLLS)]))
        judged = np.where(successors.numbers == 0, 0.0, lost[of])
    throw = np.minimum.reduceat(judged, successors.offsets[:-1]).reshape(-1, len(ROLLS)) @ ROLL_WEIGHTS
    return np.stack([-lost, -throw])


def _levels(positions: HomePositions) -> Iterator[tuple[int, int]]:
    """First and last + 1 number of the positions of equal pips, from 1 pip on."""
    bounds = np.flatnonzero(np.diff(positions.pips)) + 1
    return zip(bounds.tolist(), [*bounds[1:].tolist(), len(positions)], strict=True)


def _cut(first: int, last: int, size: int) -> Iterator[tuple[int, int]]:
    return ((k, min(k + size, last)) for k in range(first, last, size))


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _fill(
    known: Any,
    table: Any,
    offsets: Any,
    numbers: Any,
    own_first: int,
    own_last: int,
    first: int,
    last: int,
    total: Any,
    rounded: bool,
) -> None:
    """Writes V(a, b) to table[b, a] for own positions a of own_first..own_last and opponents b of first..last.

    `known` is read at [a', b]; `total` is scratch for `last - first` sums, int32 or float64.
    """
    width = last - first
    rolls = len(_SHARES)
    best = np.empty(width, known.dtype)
    turned = np.empty((_TURNED, width), known.dtype)
    for block in range(own_first, own_last, _TURNED):
        end = min(block + _TURNED, own_last)
        for own in range(block, end):
            for j in range(width):
                total[j] = 0
            for r in range(rolls):
                k, stop = offsets[own * rolls + r], offsets[own * rolls + r + 1]
                row = known[numbers[k], first:last]
                for j in range(width):
                    best[j] = row[j]
                k += 1
                while k < stop:
                    row = known[numbers[k], first:last]
                    for j in range(width):
                        best[j] = row[j] if row[j] < best[j] else best[j]
                    k += 1
                share = _SHARES[r]
                for j in range(width):
                    total[j] += share * best[j]
            out = turned[own - block]
            if rounded:  # half up; ties cannot be told apart by luck of the arithmetic, for t / 36 is then exact
                for j in range(width):
                    out[j] = np.int32(32768.5 - total[j] / 36.0) - 32768
            else:
                for j in range(width):
                    out[j] = -total[j] / 36.0
        for j in range(width):
            for i in range(end - block):
                table[first + j, block + i] = turned[i, j]
