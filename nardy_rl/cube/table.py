"""The match equity table as data: chances to win a match by the score."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class MatchTable(NamedTuple):
    """Chances to win the match at the start of a game, who moves first not yet known.

    Attributes:
        before: float64 (n + 1, n + 1), [i, j] = the chance of a player who needs i points against one who needs j, in
            and before the Crawford game; where one of them needs 1, it is the Crawford game. Row and column 0 are the
            end of the match.
        after: float64 (n + 1,), [i] = the chance of a player who needs i against one who needs 1, after the Crawford
            game.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]

    @property
    def length(self) -> int:
        """The longest match it covers, points."""
        return len(self.after) - 1

    def chance(self, own: ArrayLike, theirs: ArrayLike, crawford_played: ArrayLike) -> NDArray[np.float64]:
        """Chance of the player who needs `own` points, against `theirs`; 0 or fewer points needed end the match.

        Args:
            own: Integers, up to `length`, broadcast against the others.
            theirs: Integers, as `own`; at most one of the two is 0 or less.
            crawford_played: Has the Crawford game begun before, so that a score with 1 is after it.
        """
        own, theirs = np.maximum(own, 0), np.maximum(theirs, 0)
        after = np.where(theirs == 1, self.after[own], 1.0 - self.after[theirs])
        played_out = (own == 0) | (theirs == 0)
        one_point = ((own == 1) | (theirs == 1)) & ~played_out
        result: NDArray[np.float64] = np.where(one_point & crawford_played, after, self.before[own, theirs])
        return result
