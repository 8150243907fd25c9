"""Agents that learn nothing: sanity floors, and a heuristic worth beating."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Decisions
from nardy_rl.rules.board import PIPS, Boards
from nardy_rl.rules.spec import HEAD, HOME, OFF, POINTS, SLOTS, Rules


class RandomAgent:
    """Plays any legal play, all equally likely: every score is equal, and `choose` breaks the tie."""

    spec = "random"
    gives_equities = False

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """Zero for each afterstate, float64 (K,)."""
        return np.zeros(len(decisions.afterstates.boards))


class PipsAgent:
    """Most checkers off, then fewest pips left, and at random among equals.

    Full plays of a roll all run the same pips, except that a checker can be borne off with a larger die: until the
    bear-off this is a random player, after it one who is never late. It shows what racing well alone is worth.
    """

    spec = "pips"
    gives_equities = False

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """Checkers off, pips left as the tie-break, float64 (K,)."""
        mover = decisions.afterstates.boards[:, 0].astype(np.float64)
        return mover @ _PIPS_SCORE


class BearoffAgent:
    """Runs home and bears off as fast as it can, blind to the opponent.

    In order: most checkers off, fewest still outside the home, fewest pips between those and the home.
    """

    spec = "bearoff"
    gives_equities = False

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """The three counts in one number, float64 (K,)."""
        mover = decisions.afterstates.boards[:, 0].astype(np.float64)
        return mover @ _BEAROFF_SCORE


# Small integers in float64, so the products are exact and no batch can change them. 15 checkers have at most 375 pips.
_RANK = 1_000.0
_IS_OFF = np.arange(SLOTS) == OFF
_IS_OUTSIDE = np.arange(SLOTS) > HOME
_PIPS_SCORE: NDArray[np.float64] = _RANK * _IS_OFF - PIPS
_BEAROFF_SCORE: NDArray[np.float64] = _RANK**2 * _IS_OFF - _RANK * _IS_OUTSIDE - np.maximum(PIPS - HOME, 0)


class Weights(NamedTuple):
    """What the heuristic looks at on an afterstate, and what one unit of each is worth to the mover.

    The scale is arbitrary; only the order of afterstates counts. The signs are the advice of the strategy texts; the
    sizes come from a seeded random search in the arena, against earlier weights, `bearoff` and `random`, and are
    rounded. `squeeze` and `block6` are beyond the size from which more makes no difference: they mean never and always.

    Points are in the mover's numbering: 24 is his head, 12 the opponent's. Below, "you" are the mover, "he" the
    opponent.
    """

    head: float = -1.4
    """Leave the head steadily: a checker of yours still on 24."""
    squeeze: float = -6.0
    """Never let him take three points running before your head: each point beyond two in his longest run on 23..18."""
    start_points: float = 0.3
    """Take those points yourself, as landing places: a point held on 23..19."""
    his_home_points: float = 0.85
    """Spread: a point held on 18..13."""
    his_start_points: float = 0.85
    """Spread, before his head: a point held on 11..7, or on 12 once he has left it."""
    home_points: float = 0.6
    """Spread at home, which is also in his way: a point held on 6..1."""
    stack: float = -0.12
    """A checker beyond two on one point of 23..7."""
    straggler: float = -0.27
    """A checker off the head but not half-way round yet, on 23..13."""
    block3: float = 0.08
    """Hold blocks on his way: one of his checkers whose longest block of yours still ahead has 3 points,"""
    block4: float = 0.1
    """... 4 points,"""
    block5: float = 0.12
    """... 5 points,"""
    block6: float = 8.0
    """... 6 or more: it cannot pass."""
    faced3: float = -0.15
    """Stay ahead of his blocks: one of your checkers whose longest block of his still ahead has 3 points,"""
    faced4: float = -0.2
    """... 4 points,"""
    faced5: float = -0.25
    """... 5 points,"""
    faced6: float = -0.3
    """... 6 or more."""
    stuck: float = -0.4
    """Room to move: for each of your checkers on 24..7, the chance that two dice both find the point closed."""
    holds: float = 0.8
    """The same for his checkers."""
    idle: float = -0.1
    """Mobility: a die, of the six, that none of your checkers can play."""
    pins: float = 0.2
    """The same for him."""
    outside: float = -0.4
    """Come home: a checker not home yet."""
    bear_in: float = -0.27
    """Come home without wasting pips: a pip that a checker is short of the home."""
    off: float = 2.2
    """Bear off: a checker off."""


WEIGHTS = Weights()


class HeuristicAgent:
    """Long nardy by the books: a weighted sum of what the strategy texts tell a player to look at (see `Weights`).

    Under the official rules it wins 99.7% of games against `random`, 89% by mars: +1.885 ± 0.010 points per game (2,000
    pairs), and +1.68 ± 0.03 against `bearoff` (1,000 pairs).

    Raises:
        ValueError: For short nardy, where none of the advice holds.
    """

    spec = "heuristic"
    gives_equities = False

    def __init__(self, rules: Rules, weights: Weights = WEIGHTS) -> None:
        if rules.geometry != "long":
            raise ValueError("agent 'heuristic' plays long nardy only: its advice is about heads and blocks")
        self.rules = rules
        self.weights = weights

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """The weighted sum of each afterstate, float64 (K,)."""
        return evaluate(decisions.afterstates.boards, self.weights)


def evaluate(boards: Boards, weights: Weights = WEIGHTS) -> NDArray[np.float64]:
    """The heuristic's opinion of afterstates of long nardy.

    Args:
        boards: int8 (K, 2, 26), rows (mover, opponent); the opponent is on roll.
        weights: Worth of each term.

    Returns:
        float64 (K,), higher is better for the mover.
    """
    values: NDArray[np.float64] = _evaluate(np.ascontiguousarray(boards), weights)
    return values


_POINTS = ((1 << POINTS) - 1) << 1
_SIX = (1 << HOME) - 1
_NO_WAY: NDArray[np.float64] = np.array([(closed.bit_count() / 6) ** 2 for closed in range(_SIX + 1)])
"""Chance that two dice both lead to closed points, by the set of the six points ahead that are closed."""


@numba.njit(cache=True, nogil=True)
def _held(side: Any) -> Any:
    """Bit p is set where the side, int8 (26,), holds its point p."""
    held = 0
    for p in range(1, HEAD + 1):
        if side[p] > 0:
            held |= 1 << p
    return held


@numba.njit(cache=True, nogil=True)
def _across(held: Any) -> Any:
    """The same set of points in the other player's numbering (R0.3)."""
    return (held >> 12 | held << 12) & _POINTS


@numba.njit(cache=True, nogil=True)
def _way(side: Any, held: Any, closed: Any) -> Any:
    """What one side meets on its way home, given the points it holds and those closed to it.

    Returns:
        Checkers by the longest block ahead of them: 3, 4, 5, 6 or more; sum of `_NO_WAY` over checkers not home; dice
        that no checker can play (bearing off counts as playing).
    """
    facing3 = facing4 = facing5 = facing6 = 0
    stuck = 0.0
    run = longest = 0
    for p in range(1, HEAD + 1):
        if closed >> p & 1:
            run += 1
            longest = max(longest, run)
            continue
        run = 0
        if held >> p & 1:
            if longest >= 6:
                facing6 += side[p]
            elif longest == 5:
                facing5 += side[p]
            elif longest == 4:
                facing4 += side[p]
            elif longest == 3:
                facing3 += side[p]
            if p > HOME:
                stuck += side[p] * _NO_WAY[closed >> (p - 6) & _SIX]
    idle = 0
    if held >> (HOME + 1):
        for die in range(1, 7):
            idle += (held >> die) & _POINTS & ~closed == 0
    return facing3, facing4, facing5, facing6, stuck, idle


@numba.njit(cache=True, nogil=True)
def _evaluate(boards: Any, w: Any) -> Any:
    scores = np.empty(len(boards))
    for row in range(len(boards)):
        own = boards[row, 0]
        held, his = _held(own), _held(boards[row, 1])
        closed = _across(his)
        faced3, faced4, faced5, faced6, stuck, idle = _way(own, held, closed)
        block3, block4, block5, block6, holds, pins = _way(boards[row, 1], his, _across(held))

        squeeze: Any = 0
        run: Any = 0
        if own[HEAD] > 0:
            for p in range(HEAD - 6, HEAD):
                run = run + 1 if closed >> p & 1 else 0
                squeeze = max(squeeze, run - 2)
        start_points = his_home_points = his_start_points = home_points = 0
        stack: Any = 0
        straggler: Any = 0
        outside: Any = np.int64(own[HEAD])
        bear_in: Any = outside * (HEAD - HOME)
        for p in range(1, HEAD):
            n: Any = np.int64(own[p])
            if n == 0:
                continue
            if p <= HOME:
                home_points += 1
                continue
            outside += n
            bear_in += n * (p - HOME)
            stack += max(n - 2, 0)
            if p <= 12:
                his_start_points += 1
                continue
            straggler += n
            if p <= 18:
                his_home_points += 1
            else:
                start_points += 1

        score = w.head * own[HEAD] + w.squeeze * squeeze
        score += w.start_points * start_points + w.his_home_points * his_home_points
        score += w.his_start_points * his_start_points + w.home_points * home_points
        score += w.stack * stack + w.straggler * straggler
        score += w.block3 * block3 + w.block4 * block4 + w.block5 * block5 + w.block6 * block6
        score += w.faced3 * faced3 + w.faced4 * faced4 + w.faced5 * faced5 + w.faced6 * faced6
        score += w.stuck * stuck + w.holds * holds + w.idle * idle + w.pins * pins
        score += w.outside * outside + w.bear_in * bear_in + w.off * own[OFF]
        scores[row] = score
    return scores
