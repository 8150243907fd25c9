"""Cube decisions in a match, from a match equity table.

Everything is a chance to win the match. At a score, the game won or lost at each level leads to another score and so to
a number of the table; winning it out is worth the mean over the levels, passed doubles what the cube counts.

Live-cube corners go from the highest useful cube down: a player has no use for a cube with which he already wins the
match by a single game, and where neither has any, the cube is dead. With the corners of cube 2C known, the cash point
of cube C is where taking 2C is worth as much to the opponent as passing, on his live-cube line (for the take point
alike). This is the scheme of GNU Backgammon's manual.

A *redouble that costs nothing* (a loss would end the match anyway) is made at once: where it is the opponent's, the
cube is fully live. In the Crawford game there is no cube; after it, it is the trailer's alone.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.cube.chances import Chances
from nardy_rl.cube.decision import ON_ROLL, OPPONENT, CubeDecisions, Line, worth
from nardy_rl.cube.table import MatchTable


class Scores(NamedTuple):
    """Where N games of matches stand, seen by the player on roll.

    Attributes:
        away: int64 (N, 2), points that the player on roll and the opponent need, 1 or more.
        crawford: bool (N,), is this the Crawford game.
        cube: int64 (N,), its value.
        owner: int8 (N,), `CENTRED`, `ON_ROLL` or `OPPONENT`.
    """

    away: NDArray[np.int64]
    crawford: NDArray[np.bool_]
    cube: NDArray[np.int64]
    owner: NDArray[np.int8]

    def take(self, rows: Any) -> "Scores":
        """The scores at some of the games (mask, indices or slice)."""
        return Scores(self.away[rows], self.crawford[rows], self.cube[rows], self.owner[rows])

    @property
    def swapped(self) -> "Scores":
        """The same, seen by the other player."""
        return Scores(self.away[:, ::-1], self.crawford, self.cube, -self.owner)

    def check(self, table: MatchTable) -> None:
        """Raises a ValueError that names what is wrong with the first impossible score."""
        wrong = (self.away < 1).any(axis=1) | (self.away > table.length).any(axis=1)
        if wrong.any():
            raise ValueError(f"away={self.away[wrong][0].tolist()} is not allowed; give 1..{table.length} points each")
        wrong = self.crawford & (self.away != 1).all(axis=1)
        if wrong.any():
            raise ValueError(f"away={self.away[wrong][0].tolist()} is no Crawford game: nobody needs just 1 point")


def equities(
    chances: Chances, scores: Scores, efficiency: NDArray[np.float64], table: MatchTable
) -> NDArray[np.float64]:
    """Chance that the player on roll wins the match, if he does not double now, float64 (N,).

    Args:
        chances: Of N positions.
        scores: Of the matches they belong to.
        efficiency: float64 (N,), see `chances.efficiency`.
        table: The match equity table.
    """
    player_doubles, opponent_doubles = useful(scores)
    free = opponent_doubles & (scores.away[:, 0] <= scores.cube)
    x = np.where(free, 1.0, efficiency)
    return worth(chances.win, line(chances, scores, table), player_doubles, opponent_doubles, x)


def decide(chances: Chances, scores: Scores, efficiency: NDArray[np.float64], table: MatchTable) -> CubeDecisions:
    """Double or not, take or pass; arguments as in `equities`."""
    doubled = scores._replace(cube=2 * scores.cube, owner=np.full_like(scores.owner, OPPONENT))
    return CubeDecisions(
        no_double=equities(chances, scores, efficiency, table),
        double_take=equities(chances, doubled, efficiency, table),
        double_pass=_chance(scores, scores.cube, 0, table),
        may_double=useful(scores)[0],
        beaver=np.zeros(len(scores.cube), dtype=np.bool_),
    )


def useful(scores: Scores) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For the player on roll and for the opponent, bool (N,): may he double sometime, and does it serve him."""
    more = (scores.away > scores.cube[:, None]) & ~scores.crawford[:, None]
    return (scores.owner != OPPONENT) & more[:, 0], (scores.owner != ON_ROLL) & more[:, 1]


def normalised(worths: NDArray[np.float64], scores: Scores, table: MatchTable) -> NDArray[np.float64]:
    """Match winning chances as points: -1 and +1 are a single game lost and won at the cube as it stands."""
    won, lost = _chance(scores, scores.cube, 0, table), _chance(scores, 0, scores.cube, table)
    result: NDArray[np.float64] = (2.0 * worths - won - lost) / (won - lost)
    return result


def after_game(points: NDArray[np.int64], scores: Scores, table: MatchTable) -> NDArray[np.float64]:
    """Chance that the player on roll wins the match after games that brought him `points`, negative if he lost."""
    return _chance(scores, np.maximum(points, 0), np.maximum(-points, 0), table)


def line(chances: Chances, scores: Scores, table: MatchTable) -> Line:
    """The live-cube corners at the cube as it stands; those of a side that has no use for it mean nothing."""
    highest = 0
    while (scores.cube.min(initial=table.length) << highest) < scores.away.max(initial=0):
        highest += 1
    corners = _line_of_outcomes(chances, scores, scores.cube << highest, table)
    for level in range(highest - 1, -1, -1):
        corners = _line_below(chances, scores, scores.cube << level, corners, table)
    return corners


def _line_of_outcomes(chances: Chances, scores: Scores, cube: NDArray[np.int64], table: MatchTable) -> Line:
    """The line at a cube value, its corners left where a dead cube has them: at the ends."""
    gains = cube[:, None] * chances.points
    own, theirs, played = scores.away[:, :1], scores.away[:, 1:], _crawford_played(scores)[:, None]
    return Line(
        lost=(chances.losses * table.chance(own, theirs - gains, played)).sum(axis=1),
        take_point=np.zeros(len(cube)),
        dropped=_chance(scores, 0, cube, table),
        cash_point=np.ones(len(cube)),
        cashed=_chance(scores, cube, 0, table),
        won=(chances.wins * table.chance(own - gains, theirs, played)).sum(axis=1),
    )


def _line_below(chances: Chances, scores: Scores, cube: NDArray[np.int64], above: Line, table: MatchTable) -> Line:
    """The line at a cube value, given that at the double of it."""
    here = _line_of_outcomes(chances, scores, cube, table)
    player_redoubles, opponent_redoubles = (scores.away > 2 * cube[:, None]).T
    # the opponent owns the doubled cube: his live line runs through (take point, dropped) and (1, won)
    low = np.where(opponent_redoubles, above.take_point, 0.0)
    low_worth = np.where(opponent_redoubles, above.dropped, above.lost)
    cash_point = low + (1.0 - low) * _share(here.cashed, low_worth, above.won)
    # the player owns it: through (0, lost) and (cash point, cashed)
    high = np.where(player_redoubles, above.cash_point, 1.0)
    high_worth = np.where(player_redoubles, above.cashed, above.won)
    take_point = high * _share(here.dropped, above.lost, high_worth)
    return here._replace(take_point=take_point, cash_point=cash_point)


def _share(worth: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far a number is on the way from `low` to `high`, within 0..1."""
    width = high - low
    return np.clip(np.where(width > 0, (worth - low) / np.where(width > 0, width, 1.0), 1.0), 0.0, 1.0)


def _chance(
    scores: Scores, gained: NDArray[np.int64] | int, conceded: NDArray[np.int64] | int, table: MatchTable
) -> NDArray[np.float64]:
    """Chance to win the match after a game that brought the player `gained`, the opponent `conceded` points."""
    return table.chance(scores.away[:, 0] - gained, scores.away[:, 1] - conceded, _crawford_played(scores))


def _crawford_played(scores: Scores) -> NDArray[np.bool_]:
    """Bool (N,): the Crawford game is this one or an earlier one."""
    played: NDArray[np.bool_] = (scores.away == 1).any(axis=1)
    return played
