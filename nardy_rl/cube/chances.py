"""What a cube decision needs to know of a position: who wins how often, and at what level."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards, pip_count
from nardy_rl.rules.scoring import LEVELS, levels
from nardy_rl.rules.spec import BAR, SLOTS, Rules

CONTACT_EFFICIENCY = 2 / 3


class Chances(NamedTuple):
    """Chances of N positions, seen by the player on roll before he throws.

    Attributes:
        win: float64 (N,), probability that he wins.
        wins: float64 (N, L), share of each level (single, gammon, backgammon) among his wins; rows add up to 1.
        losses: float64 (N, L), the same of his losses.
        points: int64 (L,), points of the levels.
    """

    win: NDArray[np.float64]
    wins: NDArray[np.float64]
    losses: NDArray[np.float64]
    points: NDArray[np.int64]

    def take(self, rows: Any) -> "Chances":
        """The chances of some of the positions (mask, indices or slice)."""
        return Chances(self.win[rows], self.wins[rows], self.losses[rows], self.points)

    @property
    def mean_win(self) -> NDArray[np.float64]:
        """Points of a won game, on average, float64 (N,): Janowski's W."""
        mean: NDArray[np.float64] = (self.wins * self.points).sum(axis=1)
        return mean

    @property
    def mean_loss(self) -> NDArray[np.float64]:
        """Points of a lost game, on average, as a positive number, float64 (N,): Janowski's L."""
        mean: NDArray[np.float64] = (self.losses * self.points).sum(axis=1)
        return mean


def chances(values: NDArray[Any], rules: Rules) -> Chances:
    """Reads the probabilities of the outcomes, as a value net gives them.

    What a net leaves for the draw, which these games have not, is shared out in proportion. Levels of a side that never
    wins are all put down as the lowest.

    Args:
        values: (N, 2 * L + 1), probabilities in the order of `rules.scoring`, the player on roll's view.
        rules: Rules that know the cube, see `check_rules`.

    Raises:
        ValueError: The rules know no cube, or `values` is not of this shape.
    """
    check_rules(rules)
    n_levels = levels(rules)
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 2 * n_levels + 1:
        raise ValueError(f"values must have shape (N, {2 * n_levels + 1}), not {values.shape}")
    losses, wins = values[:, :n_levels][:, ::-1], values[:, n_levels + 1 :]
    won, lost = wins.sum(axis=1), losses.sum(axis=1)
    points = np.array([points for _, points in LEVELS[rules.scoring]])
    return Chances(won / (won + lost), _shares(wins, won), _shares(losses, lost), points)


def _shares(of_levels: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    lowest = np.eye(1, of_levels.shape[1])
    some = total[:, None] > 0
    return np.where(some, of_levels / np.where(some, total[:, None], 1.0), lowest)


def check_rules(rules: Rules) -> None:
    """Raises a ValueError unless the rules know the cube: short nardy (R8.6), in which nobody draws."""
    if rules.geometry != "short" or rules.draw != "none":
        raise ValueError("the doubling cube belongs to short nardy without draws (R8.6); give rules=short")


def efficiency(boards: Boards, contact: float = CONTACT_EFFICIENCY) -> NDArray[np.float64]:
    """Cube efficiency x of positions, float64 (N,): 0 = dead cube, 1 = live cube (Janowski, 1993).

    With contact it is one number. In a race it grows with the length, the mean of both sides' pips: 0.55 + 0.00125 pips
    within 0.6..0.7 (the figures of GNU Backgammon's manual), but no more than 0.05 (pips - 5): at the last throw the
    cube is dead (fitted to bear-offs of two to five checkers a side that were solved with their cube, docs/cube.md).

    Args:
        boards: int8 (N, 2, 26) of the short game.
        contact: Efficiency while there is contact.

    Raises:
        ValueError: `contact` is not within 0..1.
    """
    if not 0 <= contact <= 1:
        raise ValueError(f"efficiency={contact} is not allowed; give 0 (dead cube) to 1 (live cube)")
    pips = pip_count(boards).mean(axis=1)
    race = np.clip(np.minimum(0.05 * (pips - 5.0), np.clip(0.55 + 0.00125 * pips, 0.6, 0.7)), 0.0, 1.0)
    return np.where(is_race(boards), race, contact)


def is_race(boards: Boards) -> NDArray[np.bool_]:
    """Bool (N,): can neither side hit the other any more."""
    on_board = boards[:, :, 1:] > 0
    rearmost = np.where(on_board, np.arange(1, SLOTS), 0).max(axis=2)
    # his rearmost checker is on my point BAR minus its own (on my 0, behind all of mine, while it is on the bar)
    race: NDArray[np.bool_] = rearmost[:, 0] < BAR - rearmost[:, 1]
    return race
