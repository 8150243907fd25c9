"""Cube decisions in money play, by Janowski's formulas.

With W and L the mean points of won and lost games, per unit of the cube, and x the cube efficiency:

- dead cube: p (W + L) - L; a double is a take from (L - 1/2) / (W + L) on.
- live cube: take point (L - 1/2) / (W + L + 1/2), cash point (L + 1) / (W + L + 1/2).
- between: take point (L - 1/2) / (W + L + x/2), cash point (L + 1/2 + x/2) / (W + L + x/2), redoubling point
  (L + x) / (W + L + x/2).

*Jacoby*: gammons count only once the cube has been turned, so that nobody is too good to double a centred cube.
*Beaver*: whoever takes may turn the cube once more at once and keep it; right if the doubled position is his favourite.
The doubler then plays on (a second redouble, the raccoon, is not offered).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_rl.cube.chances import Chances
from nardy_rl.cube.decision import CENTRED, ON_ROLL, OPPONENT, CubeDecisions, Line, worth


def equities(
    chances: Chances, owner: NDArray[np.int8], efficiency: NDArray[np.float64], jacoby: bool = False
) -> NDArray[np.float64]:
    """Points of the player on roll per unit of the cube, if he does not double now, float64 (N,).

    Args:
        chances: Of N positions.
        owner: int8 (N,), `CENTRED`, `ON_ROLL` or `OPPONENT`.
        efficiency: float64 (N,), see `chances.efficiency`.
        jacoby: Do gammons count one point while the cube is centred.
    """
    win, loss = chances.mean_win, chances.mean_loss
    single = (owner == CENTRED) & jacoby
    line = Line(
        lost=np.where(single, -1.0, -loss),
        take_point=take_point(win, loss, 1.0),
        dropped=np.full_like(win, -1.0),
        cash_point=cash_point(win, loss, 1.0),
        cashed=np.ones_like(win),
        won=np.where(single, 1.0, win),
    )
    return worth(chances.win, line, owner != OPPONENT, owner != ON_ROLL, efficiency)


def decide(
    chances: Chances,
    owner: NDArray[np.int8],
    efficiency: NDArray[np.float64],
    *,
    jacoby: bool = False,
    beavers: bool = False,
) -> CubeDecisions:
    """Double or not, take or pass; arguments as in `equities`, and whether beavers are played."""
    turned = 2.0 * equities(chances, np.full_like(owner, OPPONENT), efficiency)
    beaver = (turned < 0) & beavers
    return CubeDecisions(
        no_double=equities(chances, owner, efficiency, jacoby),
        double_take=np.where(beaver, 2.0 * turned, turned),
        double_pass=np.ones_like(turned),
        may_double=has_access(owner),
        beaver=beaver,
    )


def has_access(owner: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Bool (N,): the player on roll may turn the cube."""
    access: NDArray[np.bool_] = owner != OPPONENT
    return access


def take_point(win: ArrayLike, loss: ArrayLike, efficiency: ArrayLike) -> NDArray[np.float64]:
    """Least winning chance for a take, given W, L and x."""
    win, loss, x = map(np.asarray, (win, loss, efficiency))
    result: NDArray[np.float64] = (loss - 0.5) / (win + loss + 0.5 * x)
    return result


def cash_point(win: ArrayLike, loss: ArrayLike, efficiency: ArrayLike) -> NDArray[np.float64]:
    """Winning chance from which a double is passed: one less the opponent's take point."""
    return 1.0 - take_point(loss, win, efficiency)


def redoubling_point(win: ArrayLike, loss: ArrayLike, efficiency: ArrayLike) -> NDArray[np.float64]:
    """Winning chance from which the owner does as well to redouble as to wait (below the cash point)."""
    win, loss, x = map(np.asarray, (win, loss, efficiency))
    result: NDArray[np.float64] = (loss + x) / (win + loss + 0.5 * x)
    return result
