"""The cube between dead and live, and the decision that follows: what money play and matches share.

Of one cube value and its owner, winning chance p -> worth is modelled twice (Rick Janowski, "Take-Points in Money
Games", 1993):

- *dead cube*: nobody turns it any more; a straight line from what losing is worth at p = 0 to what winning is at p = 1.
- *live cube*: p moves continuously, so that each side doubles exactly where the other is indifferent between taking and
  passing. The line then has a corner at the owner's *cash point*, where he turns a take into a pass, and at the other
  side's *take point*; between and beyond the corners it is straight.

The truth is put a share x, the *cube efficiency*, of the way from dead to live.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CENTRED, ON_ROLL, OPPONENT = 0, 1, -1
"""Who owns the cube, seen by the player on roll: changing sides is a change of sign."""


class Line(NamedTuple):
    """The corners of the live-cube line of N positions, float64 (N,) each, in the player on roll's view.

    Attributes:
        lost: Worth of losing the game out, mean over its levels.
        take_point: Chance at which the player is indifferent between taking and passing the opponent's double.
        dropped: Worth of passing that double.
        cash_point: Chance at which the opponent is indifferent between taking and passing the player's double.
        cashed: Worth of his passing.
        won: Worth of winning the game out.
    """

    lost: NDArray[np.float64]
    take_point: NDArray[np.float64]
    dropped: NDArray[np.float64]
    cash_point: NDArray[np.float64]
    cashed: NDArray[np.float64]
    won: NDArray[np.float64]


def worth(
    win: NDArray[np.float64],
    line: Line,
    player_doubles: NDArray[np.bool_],
    opponent_doubles: NDArray[np.bool_],
    efficiency: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Worth of positions, the player on roll not doubling now, float64 (N,).

    Args:
        win: float64 (N,), his winning chance.
        line: The corners.
        player_doubles: bool (N,), may he double later, and would it be of use to him.
        opponent_doubles: bool (N,), the same of the opponent.
        efficiency: float64 (N,), 0..1.
    """
    low = np.where(opponent_doubles, line.take_point, 0.0)
    low_worth = np.where(opponent_doubles, line.dropped, line.lost)
    high = np.maximum(np.where(player_doubles, line.cash_point, 1.0), low)
    high_worth = np.where(player_doubles, line.cashed, line.won)
    below = _between(win, 0.0, low, line.lost, low_worth)
    within = _between(win, low, high, low_worth, high_worth)
    above = _between(win, high, 1.0, high_worth, line.won)
    live = np.where(win < low, below, np.where(win <= high, within, above))
    dead = win * line.won + (1.0 - win) * line.lost
    result: NDArray[np.float64] = efficiency * live + (1.0 - efficiency) * dead
    return result


def _between(
    win: NDArray[np.float64],
    low: NDArray[np.float64] | float,
    high: NDArray[np.float64] | float,
    low_worth: NDArray[np.float64],
    high_worth: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The straight line through two corners; where they coincide, the upper one."""
    width = np.asarray(high - low)
    share = np.where(width > 0, (win - low) / np.where(width > 0, width, 1.0), 1.0)
    result: NDArray[np.float64] = low_worth + share * (high_worth - low_worth)
    return result


class CubeDecisions(NamedTuple):
    """The cube decisions of N positions, seen by the player on roll before he throws.

    In money play the numbers are points per unit of the cube as it stands; in a match, chances to win the match.

    Attributes:
        no_double: float64 (N,), worth if he does not double now.
        double_take: float64 (N,), worth if he doubles and the opponent takes (or beavers, see `beaver`).
        double_pass: float64 (N,), worth if he doubles and the opponent passes.
        may_double: bool (N,), is the cube his to turn, and of use to him.
        beaver: bool (N,), would the opponent redouble a double at once and keep the cube.
    """

    no_double: NDArray[np.float64]
    double_take: NDArray[np.float64]
    double_pass: NDArray[np.float64]
    may_double: NDArray[np.bool_]
    beaver: NDArray[np.bool_]

    @property
    def take(self) -> NDArray[np.bool_]:
        """Bool (N,): the opponent does better to take than to pass (or as well)."""
        taken: NDArray[np.bool_] = self.double_take <= self.double_pass
        return taken

    @property
    def double(self) -> NDArray[np.bool_]:
        """Bool (N,): the player does better to double than not to (or as well)."""
        doubled: NDArray[np.bool_] = self.may_double & (
            np.minimum(self.double_take, self.double_pass) >= self.no_double
        )
        return doubled

    @property
    def equity(self) -> NDArray[np.float64]:
        """Worth with the right decisions of both, float64 (N,)."""
        return np.where(self.double, np.minimum(self.double_take, self.double_pass), self.no_double)

    @property
    def actions(self) -> list[str]:
        """The right decisions in words.

        "no double, take", "no double, beaver" | "double, take" | "double, beaver" | "double, pass" | "too good, pass"
        (he plays on for more than the pass would give) | "no cube" (not his to turn, or of no use to him).
        """
        names = []
        rows = zip(self.may_double, self.double, self.take, self.beaver, strict=True)
        for may_double, double, take, beaver in rows:
            answer = "beaver" if beaver else "take" if take else "pass"
            first = "double" if double else "no double" if take else "too good"
            names.append(f"{first}, {answer}" if may_double else "no cube")
        return names
