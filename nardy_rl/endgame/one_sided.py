"""How many turns a home needs to bear off, and how often: one side alone, as fast as it can.

Much smaller than the two-sided table, but no player knows the other's position: each minimises his own expected number
of turns. Two of these distributions give a quick estimate of who wins a race (GNU Backgammon's one-sided databases are
the same idea).
"""

import functools
import io
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.endgame.positions import HomePositions, home_successors
from nardy_rl.files import write_bytes
from nardy_rl.rules.dice import ROLL_WEIGHTS
from nardy_rl.rules.spec import CHECKERS, Rules


class OneSided(NamedTuple):
    """One-sided table.

    Attributes:
        positions: n positions.
        mean: float64 (n,), expected turns to bear off, at best.
        turns: float64 (n, T), [i, t] = probability that position i is off after exactly t turns, so played; T - 1 is
            the most turns any position can need.
    """

    positions: HomePositions
    mean: NDArray[np.float64]
    turns: NDArray[np.float64]

    def win_probability(self, own: NDArray[np.int32], opponent: NDArray[np.int32]) -> NDArray[np.float64]:
        """Probability that the player on roll is done first, float64 (K,), both only counting their own turns.

        Args:
            own: Numbers of his positions (K,).
            opponent: Numbers of the opponent's positions (K,).
        """
        not_before = 1.0 - np.cumsum(self.turns[opponent], axis=1) + self.turns[opponent]
        result: NDArray[np.float64] = (self.turns[own] * not_before).sum(axis=1)
        return result


def save_one_sided(table: OneSided, path: Path) -> None:
    """Writes a table as .npz with the arrays `counts` int8 (n, 6), `mean` float64 (n,) and `turns` float32 (n, T)."""
    file = io.BytesIO()
    np.savez_compressed(file, counts=table.positions.counts, mean=table.mean, turns=table.turns.astype(np.float32))
    write_bytes(path, file.getvalue())


@functools.lru_cache(maxsize=4)
def one_sided(rules: Rules, men: int = CHECKERS) -> OneSided:
    """The table of up to `men` checkers, computed when it is first asked for: all 54,264 positions in seconds.

    Raises:
        ValueError: Impossible `men`, or rules that have no tables.
    """
    positions = HomePositions(men)
    offsets, numbers = home_successors(positions, rules)
    mean, turns, longest = _solve(offsets, numbers, ROLL_WEIGHTS, int(positions.pips[-1]) + 1)
    return OneSided(positions, mean, np.ascontiguousarray(turns[:, : longest + 1]))


@numba.njit(cache=True, nogil=True)
def _solve(offsets: Any, numbers: Any, weights: Any, room: int) -> Any:
    """Means, distributions (n, room) and the most turns. Of equally fast plays the one first generated counts."""
    rolls = len(weights)
    n = (len(offsets) - 1) // rolls
    mean = np.zeros(n)
    turns = np.zeros((n, room))
    most = np.zeros(n, np.int64)
    turns[0, 0] = 1.0
    for i in range(1, n):
        mean[i] = 1.0
        for r in range(rolls):
            k = offsets[i * rolls + r]
            best = numbers[k]
            for k in range(k + 1, offsets[i * rolls + r + 1]):  # noqa: B020
                if mean[numbers[k]] < mean[best]:
                    best = numbers[k]
            mean[i] += weights[r] * mean[best]
            most[i] = max(most[i], most[best] + 1)
            for t in range(most[best] + 1):
                turns[i, t + 1] += weights[r] * turns[best, t]
    return mean, turns, most.max()
