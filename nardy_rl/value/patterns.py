"""Patterns of occupied points: rows of the first layer for what a sum over single points cannot see.

Long nardy is a game of blocks: whether a checker can move depends on which points beside it the other side holds, and
a net that only adds up what each point is worth has to find out about every combination by itself. So a net with
patterns has two more kinds of rows:

- *windows*: four neighbouring points of the board, each empty, held by the player on roll or by the opponent: a row for
  each of the 81 patterns at every second of the 24 places of the circle;
- *outlooks*: what a held point has ahead of it: which of the six points a die can reach the other side holds, a row for
  each of the 64 cases and each side, whatever the point. Together they say which numbers play. Points beyond the last
  one, where a checker bears off, count as free.

An empty window and a free outlook have no row: most are, and the sums are shorter for it.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules._kernels import lowest_bit
from nardy_rl.rules.spec import CHECKERS, POINTS, SLOTS, Rules

NONE = "none"
SCHEMES = (NONE, "long")
"""`none`: no patterns. `long`: windows and outlooks, for long nardy."""
WIDTH = 4
STRIDE = 2
WINDOWS = POINTS // STRIDE
CODES: int = 3**WIDTH
REACH = 6
OUTLOOKS = 1 << REACH
WINDOW_ROWS = WINDOWS * CODES
PATTERN_ROWS = WINDOW_ROWS + 2 * OUTLOOKS
"""Rows of the scheme `long`: window w = 0 .. 11 (points 2 w + 1 .. 2 w + 4 of the player on roll, over the end of the
circle) with code c has row 81 w + c, where the i-th point adds 3 ** i to the code if the player on roll holds it and
2 * 3 ** i if the opponent does; the outlook of side s with mask m (bit 0: six points ahead) has row 972 + 64 s + m."""
MOST_ACTIVE = WINDOWS + 2 * POINTS
"""No position has more patterns, and no play changes more (two rows each)."""

_ALL = (1 << POINTS) - 1
_STARTS = sum(1 << p for p in range(0, POINTS, STRIDE))
_HALF = POINTS // 2
_TERNARY = np.array([sum(3**j * (bits >> j & 1) for j in range(WIDTH)) for bits in range(1 << WIDTH)])


def pattern_rows(scheme: str) -> int:
    """How many rows a scheme has.

    Raises:
        ValueError: There is no such scheme.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"patterns={scheme!r} is not allowed; choose one of {', '.join(SCHEMES)}")
    return 0 if scheme == NONE else PATTERN_ROWS


def check_patterns(scheme: str, rules: Rules) -> None:
    """Raises a ValueError if the scheme is for another game than that of `rules`."""
    pattern_rows(scheme)
    if scheme not in (NONE, rules.geometry):
        raise ValueError(f"patterns={scheme!r} are for {scheme} nardy; give patterns={NONE} for {rules.geometry} nardy")


def silent_rows() -> NDArray[np.int64]:
    """The rows that are never active: of empty windows and free outlooks, int64."""
    return np.concatenate([CODES * np.arange(WINDOWS), WINDOW_ROWS + OUTLOOKS * np.arange(2)])


def largest_sums(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """A bound on the size of each unit's sum over the patterns of any position, float64 (H,), for rows (., H)."""
    windows = rows[:WINDOW_ROWS].reshape(WINDOWS, CODES, -1).astype(np.float64)
    outlooks = CHECKERS * rows[WINDOW_ROWS:].reshape(2, OUTLOOKS, -1).astype(np.float64)
    bounds = [
        sum(np.maximum(sign * kind, 0.0).max(axis=1).sum(axis=0) for kind in (windows, outlooks)) for sign in (1, -1)
    ]
    bound: NDArray[np.float64] = np.maximum(*bounds)
    return bound


_inline = numba.njit(cache=True, nogil=True, boundscheck=False)


@_inline
def _turned(points: int) -> int:
    """A set of points (bit p - 1: point p) as the other side numbers them: long nardy's are half a circle apart."""
    return (points << _HALF | points >> _HALF) & _ALL


@_inline
def held(places: int, on_roll: int) -> tuple[int, int]:
    """The points each side holds, as sets (bit p - 1: point p), both in the numbering of the player on roll.

    Args:
        places: Bit n: byte n of the board int8 (52,) is not 0.
        on_roll: The row, 0 or 1, of the player on roll.
    """
    first, second = places >> 1 & _ALL, places >> (1 + SLOTS) & _ALL
    if on_roll == 0:
        return first, _turned(second)
    return second, _turned(first)


@_inline
def _window(mine: int, theirs: int, p: int) -> int:
    """Row of the window that starts at bit `p`; the sets are given twice over, end to end."""
    mask = (1 << WIDTH) - 1
    return int(CODES * (p // STRIDE) + _TERNARY[mine >> p & mask] + 2 * _TERNARY[theirs >> p & mask])


@_inline
def _outlook(points: int, p: int, side: int) -> int:
    """Row of the outlook of `side` from bit `p`, where the other side holds `points` in the numbering of `side`."""
    return WINDOW_ROWS + OUTLOOKS * side + ((points << REACH) >> p & (OUTLOOKS - 1))


@_inline
def active_patterns(mine: int, theirs: int, first_row: int, out: Any, n: int) -> int:
    """Writes the active patterns of a position to out[n:], int64, counted from `first_row`; returns the new `n`.

    Args:
        mine: The points that the player on roll holds (see `held`).
        theirs: The opponent's, in the same numbering.
        first_row: Number of the first of the patterns' rows.
        out: Where to.
        n: Entries of `out` that are taken.
    """
    mine_twice, theirs_twice = mine | mine << POINTS, theirs | theirs << POINTS
    for w in range(WINDOWS):
        row = _window(mine_twice, theirs_twice, STRIDE * w)
        if row != CODES * w:
            out[n] = first_row + row
            n += 1
    for side in range(2):
        own, other = (mine, theirs) if side == 0 else (_turned(theirs), _turned(mine))
        for p in range(POINTS):
            if own >> p & 1:
                row = _outlook(other, p, side)
                if row != WINDOW_ROWS + OUTLOOKS * side:
                    out[n] = first_row + row
                    n += 1
    return n


@_inline
def changed_patterns(
    mine: int, theirs: int, mine_after: int, theirs_after: int, first_row: int, come: Any, gone: Any, n: int
) -> int:
    """Writes the patterns that a play makes active (come[n:]) and inactive (gone[n:]); returns the new `n`.

    They are written in pairs; what is never active stands for nothing, and is to have weights of 0.
    """
    mine_changed, theirs_changed = mine ^ mine_after, theirs ^ theirs_after
    changed = mine_changed | theirs_changed
    changed |= changed << POINTS
    touched = (changed | changed >> 1 | changed >> 2 | changed >> 3) & _STARTS
    mine_twice, theirs_twice = mine | mine << POINTS, theirs | theirs << POINTS
    mine_after_twice, theirs_after_twice = mine_after | mine_after << POINTS, theirs_after | theirs_after << POINTS
    while touched:
        p = lowest_bit(touched)
        touched &= touched - 1
        come[n] = first_row + _window(mine_after_twice, theirs_after_twice, p)
        gone[n] = first_row + _window(mine_twice, theirs_twice, p)
        n += 1
    for side in range(2):
        if side == 0:
            own, other, own_after, other_after = mine, theirs, mine_after, theirs_after
        else:
            own, other = _turned(theirs), _turned(mine)
            own_after, other_after = _turned(theirs_after), _turned(mine_after)
        moved, blocked = own ^ own_after, other ^ other_after
        seen = blocked << 1 | blocked << 2
        seen = (seen | seen << 2 | blocked << 5 | blocked << 6) & _ALL
        touched = (moved | seen) & (own | own_after)
        nothing = WINDOW_ROWS + OUTLOOKS * side
        while touched:
            p = lowest_bit(touched)
            touched &= touched - 1
            before, after = _outlook(other, p, side), _outlook(other_after, p, side)
            come[n] = first_row + (after if own_after >> p & 1 else nothing)
            gone[n] = first_row + (before if own >> p & 1 else nothing)
            n += 1
    return n
