"""Home positions of one side: their numbering, and what a roll makes of them.

Once both sides have all their checkers home (or off) nothing of the one is in the other's way: the homes are different
quarters of the board in both games. What a side can do with a roll then depends on its own home alone, and a position
of one side is six counts.
"""

import functools
import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import CHECKERS, HOME, OFF, SLOTS, Rules

_BATCH = 4_096
"""Positions whose plays are generated side by side: some tens of MB."""

_RANKS = np.array([[math.comb(total + k, k + 1) for total in range(CHECKERS + 1)] for k in range(HOME)], dtype=np.int64)
"""What a total of 0..15 checkers on points 1..k+1 adds to the rank of a position, int64 (6, 16)."""


class Successors(NamedTuple):
    """Where each roll can take each position, one after the other.

    Attributes:
        offsets: int64 (n * 21 + 1,); k = 21 * i + r owns numbers[offsets[k]:offsets[k + 1]], what roll r of
            `dice.ROLLS` makes of position i: always at least one.
        numbers: int32 (K,), numbers of positions, all smaller than i (position 0 itself has none: it leads to 0).
    """

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int32]


class HomePositions:
    """All positions of up to `men` checkers on points 1 to `points`, numbered so that a play leads to smaller numbers.

    They are sorted by pips, and among equal pips by rank in the combinatorial number system; 0 is "all off".

    Attributes:
        men: Most checkers on the board, 1..15; the rest are off.
        points: Highest point that may be held, 1..6.
        counts: int8 (n, 6), checkers on points 1..6.
        pips: int64 (n,), in ascending order.
        number: int32 (n,), the number of the position of each rank.
    """

    def __init__(self, men: int, points: int = HOME) -> None:
        """Lists them.

        Raises:
            ValueError: `men` is not in 1..15 or `points` not in 1..6.
        """
        if not 1 <= men <= CHECKERS:
            raise ValueError(f"men={men} is not allowed; give 1..{CHECKERS}")
        if not 1 <= points <= HOME:
            raise ValueError(f"points={points} is not allowed; give 1..{HOME}")
        self.men = men
        self.points = points
        counts = _all_counts(men, points)
        pips = counts.astype(np.int64) @ np.arange(1, HOME + 1)
        ranks = _ranks(counts, points)
        order = np.lexsort((ranks, pips))
        self.counts = counts[order]
        self.pips = pips[order]
        self.number = np.empty(len(order), dtype=np.int32)
        self.number[ranks[order]] = np.arange(len(order), dtype=np.int32)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def rows(self) -> NDArray[np.int8]:
        """The positions as rows of a board, int8 (n, 26)."""
        rows = np.zeros((len(self), SLOTS), dtype=np.int8)
        rows[:, 1 : HOME + 1] = self.counts
        rows[:, OFF] = CHECKERS - self.counts.sum(axis=1)
        return rows

    def numbers_of(self, rows: NDArray[np.int8]) -> NDArray[np.int32]:
        """Numbers of one side's rows int8 (K, 26), int32 (K,); -1 where a row is not one of these positions."""
        numbers: NDArray[np.int32] = _numbers_of(np.ascontiguousarray(rows), self.number, self.men, self.points)
        return numbers


def check_rules(rules: Rules) -> None:
    """Raises a ValueError if a bear-off under these rules is not a race of two independent homes."""
    if rules.block_rule == "forbid":
        raise ValueError("block_rule 'forbid' has no bear-off tables: a full home of six points would be illegal")


def home_successors(positions: HomePositions, rules: Rules) -> Successors:
    """What the plays of each roll lead to, by the rules' own generator.

    Args:
        positions: n positions.
        rules: Their bear-off options (R4.2-R4.4) count.

    Raises:
        ValueError: See `check_rules`.
    """
    check_rules(rules)
    rolls = len(ROLLS)
    boards = np.zeros((len(positions), 2, SLOTS), dtype=np.int8)
    boards[:, 0] = positions.rows
    boards[:, 1, :2] = CHECKERS - 1, 1  # the opponent is home and in nobody's way
    counts: list[NDArray[np.int64]] = []
    numbers: list[NDArray[np.int32]] = []
    for k in range(0, len(positions), _BATCH):
        part = np.repeat(boards[k : k + _BATCH], rolls, axis=0)
        after = legal_afterstates(part, np.tile(ROLLS, (len(part) // rolls, 1)), rules)
        counts.append(after.counts)
        numbers.append(positions.numbers_of(after.boards[:, 0]))
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return Successors(offsets, np.concatenate(numbers))


@functools.cache
def _all_counts(men: int, points: int) -> NDArray[np.int8]:
    """Every way to have at most `men` checkers on points 1..`points`, int8 (n, 6), in no particular order."""
    ways = np.zeros((1, HOME), dtype=np.int8)
    for point in range(points):
        room = men - ways.sum(axis=1)
        repeats = room + 1
        first = np.repeat(np.cumsum(repeats) - repeats, repeats)
        ways = np.repeat(ways, repeats, axis=0)
        ways[:, point] = np.arange(len(ways)) - first
    return ways


def _ranks(counts: NDArray[np.int8], points: int) -> NDArray[np.int64]:
    """Ranks of positions, int64 (n,): 0 .. n - 1 in some order, as `_numbers_of` computes them."""
    totals = np.cumsum(counts[:, :points], axis=1)
    ranks: NDArray[np.int64] = _RANKS[np.arange(points), totals].sum(axis=1)
    return ranks


@numba.njit(cache=True, nogil=True, inline="always")
def number_of(row: Any, number: Any, men: int, points: int) -> int:
    """Number of one side's row (26 counts), -1 if it is not among the positions; see `HomePositions.number`."""
    total = np.int64(0)
    rank = np.int64(0)
    for k in range(points):
        total += row[k + 1]
        if total > men:
            return -1
        rank += _RANKS[k, total]
    if total + row[0] != CHECKERS:  # somebody is still on his way
        return -1
    return int(number[rank])


@numba.njit(cache=True, nogil=True)
def _numbers_of(rows: Any, number: Any, men: int, points: int) -> Any:
    out = np.empty(len(rows), np.int32)
    for k in range(len(rows)):
        out[k] = number_of(rows[k], number, men, points)
    return out
