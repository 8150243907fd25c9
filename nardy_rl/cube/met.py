"""The match equity table, computed: backwards over the scores, by the cube formulas of `cube.match` themselves.

A game between equal players is summed up by three numbers (gammons and backgammons as shares of games, and how far the
first throws spread the chances before anybody may double) and the cube efficiency. Then:

- before the Crawford game, a score is worth the centred cube at a winning chance of 1/2;
- the Crawford game is played out without a cube;
- after it the trailer doubles as soon as he may. By then the first throws have moved the chances, a gain for the leader
  where he may pass at little cost (the *free drop*): the score is worth the mean of the right decisions over chances of
  1/2 plus and minus the spread.

Norman Zadeh ("On doubling in tournament backgammon", Management Science 23, 1977) computed tables this way first, with
a cube model of his own. What the model leaves out: that gammons are played for, or played safe against, by the score.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from nardy_rl.cube import match
from nardy_rl.cube.chances import Chances
from nardy_rl.cube.decision import CENTRED
from nardy_rl.cube.match import Scores
from nardy_rl.cube.table import MatchTable

LONGEST = 25
GAMMONS = 0.275
BACKGAMMONS = 0.009
SPREAD = 0.026
"""Measured over 10,000 games of `short-quick-v1` against itself: gammons, backgammons, spread."""

GAME_EFFICIENCY = 0.72
"""The one number that is fitted: the mean difference to the table Kazaross-XG2 is smallest with it (docs/cube.md)."""


@functools.cache
def match_table(
    length: int = LONGEST,
    gammons: float = GAMMONS,
    backgammons: float = BACKGAMMONS,
    spread: float = SPREAD,
    efficiency: float = GAME_EFFICIENCY,
) -> MatchTable:
    """Computes a table; deterministic, in a few hundredths of a second, and kept for the next call.

    Args:
        length: Longest match, points.
        gammons: Share of games that are won by a gammon or a backgammon, by either player, with no cube.
        backgammons: Share of games that are won by a backgammon.
        spread: Mean distance of the winning chance from 1/2 when somebody may double for the first time.
        efficiency: Cube efficiency of a whole game.

    Raises:
        ValueError: A number that is not allowed.
    """
    if not 1 <= length <= 64:
        raise ValueError(f"length={length} is not allowed; give 1..64 points")
    for name, share, most in (("gammons", gammons, 1), ("spread", spread, 0.5), ("efficiency", efficiency, 1)):
        if not 0 <= share <= most:
            raise ValueError(f"{name}={share} is not allowed; give 0 to {most}")
    if not 0 <= backgammons <= gammons:
        raise ValueError(f"backgammons={backgammons} is not allowed; give 0 to gammons={gammons}")
    table = MatchTable(np.full((length + 1, length + 1), 0.5), np.full(length + 1, 0.5))
    table.before[0, :], table.before[:, 0], table.after[0] = 1.0, 0.0, 1.0
    level_shares = np.array([1.0 - gammons, gammons - backgammons, backgammons])

    def game(win: float, n: int) -> Chances:
        shares = np.tile(level_shares, (n, 1))
        return Chances(np.full(n, win), shares, shares, np.array([1, 2, 3]))

    for trailer in range(2, length + 1):
        x = np.array([efficiency])
        score = _start(np.array([[trailer, 1]]))
        either = [match.decide(game(0.5 + sign * spread, 1), score, x, table).equity[0] for sign in (-1, 1)]
        table.after[trailer] = sum(either) / 2
        crawford = score._replace(crawford=np.array([True]))
        table.before[trailer, 1] = match.equities(game(0.5, 1), crawford, x, table)[0]
        table.before[1, trailer] = 1.0 - table.before[trailer, 1]
    for total in range(4, 2 * length + 1):  # a game leads to scores with a smaller total of points needed
        own = np.arange(max(2, total - length), min(length, total - 2) + 1)
        n = len(own)
        scores = _start(np.stack([own, total - own], axis=1))
        table.before[own, total - own] = match.equities(game(0.5, n), scores, np.full(n, efficiency), table)
    for array in table:
        array.flags.writeable = False  # every caller gets the same arrays
    return table


def _start(away: NDArray[np.int64]) -> Scores:
    """The scores at the start of games that are not the Crawford game."""
    n = len(away)
    return Scores(away, np.zeros(n, np.bool_), np.ones(n, np.int64), np.full(n, CENTRED, np.int8))
