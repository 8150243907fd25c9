"""Patterns of occupied points: rows of the first layer for what a sum over single points cannot see.

Long nardy is a game of blocks: whether a checker can move depends on which points beside it the other side holds, and
a net that only adds up what each point is worth has to find out about every combination by itself. So a net with
patterns has two more kinds of rows:

- *windows*: some neighbouring points of the board, each empty, held by the player on roll or by the opponent: a row for
  each of the patterns, at every second or third of the 24 places of the circle;
- *outlooks*: what a held point has ahead of it: which of the six points a die can reach the other side holds, a row for
  each of the 64 cases and each side, whatever the point. Together they say which numbers play. Points beyond the last
  one, where a checker bears off, count as free.

An empty window and a free outlook have no row: most are, and the sums are shorter for it.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules._kernels import lowest_bit
from nardy_rl.rules.spec import CHECKERS, POINTS, SLOTS, Rules


class Scheme(NamedTuple):
    """Which windows a net has.

    Attributes:
        width: Points of a window.
        stride: From the first point of a window to that of the next.
    """

    width: int
    stride: int

    @property
    def codes(self) -> int:
        """Patterns of a window."""
        result: int = 3**self.width
        return result

    @property
    def windows(self) -> int:
        """How many windows there are; their rows come first, then those of the outlooks."""
        return POINTS // self.stride


NONE = "none"
SCHEMES: dict[str, Scheme | None] = {NONE: None, "long": Scheme(4, 2), "long-six": Scheme(6, 3)}
"""`none`: no patterns. `long` and `long-six`: outlooks, and windows of four or six points, for long nardy.

Window w (points stride * w + 1 .. stride * w + width of the player on roll, over the end of the circle) with code c has
row codes * w + c, where the i-th point adds 3 ** i to the code if the player on roll holds it and 2 * 3 ** i if the
opponent does; after the windows' rows comes that of the outlook of side s with mask m (bit 0: six points ahead) as
number 64 s + m."""
REACH = 6
OUTLOOKS = 1 << REACH
MOST_ACTIVE = POINTS // 2 + 2 * POINTS
"""No position has more patterns, and no play changes more (two rows each)."""

_ALL = (1 << POINTS) - 1
_HALF = POINTS // 2
_TERNARY = np.array([sum(3**j * (bits >> j & 1) for j in range(8)) for bits in range(1 << 8)])


def pattern_rows(name: str) -> int:
    """How many rows a scheme has.

    Raises:
        ValueError: There is no such scheme.
    """
    if name not in SCHEMES:
        raise ValueError(f"patterns={name!r} is not allowed; choose one of {', '.join(SCHEMES)}")
    scheme = SCHEMES[name]
    return 0 if scheme is None else scheme.windows * scheme.codes + 2 * OUTLOOKS


def check_patterns(name: str, rules: Rules) -> None:
    """Raises a ValueError if the scheme is for another game than that of `rules`."""
    if pattern_rows(name) and rules.geometry != "long":
        raise ValueError(f"patterns={name!r} are for long nardy; give patterns={NONE} for {rules.geometry} nardy")


def pattern_numbers(name: str) -> NDArray[np.int64]:
    """A scheme for the kernels, int64 (4,): width, stride, codes, rows of windows; int64 (0,) without patterns."""
    scheme = SCHEMES[name]
    numbers = () if scheme is None else (*scheme, scheme.codes, scheme.windows * scheme.codes)
    return np.array(numbers, dtype=np.int64)


def silent_rows(name: str) -> NDArray[np.int64]:
    """The rows that are never active: of empty windows and free outlooks, int64."""
    scheme = SCHEMES[name]
    if scheme is None:
        return np.empty(0, dtype=np.int64)
    free = scheme.windows * scheme.codes + OUTLOOKS * np.arange(2)
    return np.concatenate([scheme.codes * np.arange(scheme.windows), free])


def rows_in(name: str, rows: NDArray[np.float32], larger: str) -> NDArray[np.float32]:
    """The rows of the scheme `larger` that say what rows (., H) of the scheme `name` say.

    Every window of the one must lie inside windows of the other, among which its rows are shared out.

    Raises:
        ValueError: One does not.
    """
    old, new = SCHEMES[name], SCHEMES[larger]
    result = np.zeros((pattern_rows(larger), rows.shape[1]), dtype=np.float32)
    if old is None or old == new:
        result[: len(rows)] = rows
        return result
    if new is None or new.width < old.width:
        raise ValueError(f"patterns={name!r} cannot become patterns={larger!r}")
    codes = np.arange(new.codes)
    for w in range(old.windows):
        shifts = (old.stride * w - new.stride * np.arange(new.windows)) % POINTS
        holders = np.flatnonzero(shifts <= new.width - old.width)
        if not holders.size:
            raise ValueError(f"patterns={name!r} cannot become patterns={larger!r}")
        for holder in holders:
            inside = codes // 3 ** shifts[holder] % old.codes
            result[new.codes * holder + codes] += rows[old.codes * w + inside] / np.float32(len(holders))
    result[-2 * OUTLOOKS :] = rows[-2 * OUTLOOKS :]
    return result


def largest_sums(name: str, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """A bound on the size of each unit's sum over the patterns of any position, float64 (H,), for rows (., H)."""
    scheme = SCHEMES[name]
    if scheme is None:
        return np.zeros(rows.shape[1])
    windows = rows[: -2 * OUTLOOKS].reshape(scheme.windows, scheme.codes, -1).astype(np.float64)
    outlooks = CHECKERS * rows[-2 * OUTLOOKS :].reshape(2, OUTLOOKS, -1).astype(np.float64)
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
def _window(mine: int, theirs: int, p: int, numbers: Any) -> int:
    """Row of the window that starts at bit `p`; the sets are given twice over, end to end."""
    width, stride, codes = numbers[0], numbers[1], numbers[2]
    mask = (1 << width) - 1
    return int(codes * (p // stride) + _TERNARY[mine >> p & mask] + 2 * _TERNARY[theirs >> p & mask])


@_inline
def _outlook(points: int, p: int, free: int) -> int:
    """Row of the outlook of a side from bit `p`, where the other holds `points` in the numbering of that side.

    `free` is the side's row without anything ahead.
    """
    return free + ((points << REACH) >> p & (OUTLOOKS - 1))


@_inline
def active_patterns(mine: int, theirs: int, numbers: Any, first_row: int, out: Any, n: int) -> int:
    """Writes the active patterns of a position to out[n:], int64, counted from `first_row`; returns the new `n`.

    Args:
        mine: The points that the player on roll holds (see `held`).
        theirs: The opponent's, in the same numbering.
        numbers: Of the scheme, see `pattern_numbers`; not those of `none`.
        first_row: Number of the first of the patterns' rows.
        out: Where to.
        n: Entries of `out` that are taken.
    """
    stride, codes, windows_end = numbers[1], numbers[2], numbers[3]
    mine_twice, theirs_twice = mine | mine << POINTS, theirs | theirs << POINTS
    empty = 0
    for p in range(0, POINTS, stride):
        row = _window(mine_twice, theirs_twice, p, numbers)
        if row != empty:
            out[n] = first_row + row
            n += 1
        empty += codes
    for side in range(2):
        own, other = (mine, theirs) if side == 0 else (_turned(theirs), _turned(mine))
        free = windows_end + OUTLOOKS * side
        for p in range(POINTS):
            if own >> p & 1:
                row = _outlook(other, p, free)
                if row != free:
                    out[n] = first_row + row
                    n += 1
    return n


@_inline
def changed_patterns(
    mine: int,
    theirs: int,
    mine_after: int,
    theirs_after: int,
    numbers: Any,
    first_row: int,
    come: Any,
    gone: Any,
    n: int,
) -> int:
    """Writes the patterns that a play makes active (come[n:]) and inactive (gone[n:]); returns the new `n`.

    They are written in pairs; what is never active stands for nothing, and is to have weights of 0.
    """
    width, stride, windows_end = numbers[0], numbers[1], numbers[3]
    mine_changed, theirs_changed = mine ^ mine_after, theirs ^ theirs_after
    changed = mine_changed | theirs_changed
    changed |= changed << POINTS
    mine_twice, theirs_twice = mine | mine << POINTS, theirs | theirs << POINTS
    mine_after_twice, theirs_after_twice = mine_after | mine_after << POINTS, theirs_after | theirs_after << POINTS
    mask = (1 << width) - 1
    for p in range(0, POINTS, stride):
        if changed >> p & mask:
            come[n] = first_row + _window(mine_after_twice, theirs_after_twice, p, numbers)
            gone[n] = first_row + _window(mine_twice, theirs_twice, p, numbers)
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
        free = windows_end + OUTLOOKS * side
        while touched:
            p = lowest_bit(touched)
            touched &= touched - 1
            before, after = _outlook(other, p, free), _outlook(other_after, p, free)
            come[n] = first_row + (after if own_after >> p & 1 else free)
            gone[n] = first_row + (before if own >> p & 1 else free)
            n += 1
    return n
