"""What a finished game is worth (RULES.md section 5).

A scoring has L levels of win. A result is an *outcome* number from one player's point of view, in order of worth:
0 .. L-1 losses (the worst first), L the draw, L+1 .. 2L wins (the best last). Seen by the other player it is 2L minus
the number, so an array of probabilities over outcomes changes side by being reversed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import OPP_POINT, Boards
from nardy_rl.rules.spec import BAR, CHECKERS, HEAD, HOME, OFF, Rules

LEVELS: dict[str, tuple[tuple[str, int], ...]] = {
    "oin_mars": (("oin", 1), ("mars", 2)),
    "home_mars3": (("oin", 1), ("mars", 2), ("home_mars", 3)),
    "four_level": (("oin", 1), ("mars", 2), ("home_mars", 3), ("koks", 4)),
    "checkers": (("oin", 1), ("mars", 2), ("koks", 3)),
    "backgammon": (("single", 1), ("gammon", 2), ("backgammon", 3)),
}
"""Name and points of every level, in order of worth. In `checkers` the number multiplies the checkers left (R5.3)."""

FIRST_QUARTER = 18
"""Points above it, 24..19, are a player's first quarter (R5.2)."""


def levels(rules: Rules) -> int:
    """Number of levels of win, L."""
    return len(LEVELS[rules.scoring])


def outcome_points(rules: Rules) -> NDArray[np.float64]:
    """Equity of each outcome, float64 (2 * L + 1,): minus the loss, 0 for the draw, the win.

    Raises:
        ValueError: For `checkers`, where points are not a function of the outcome alone.
    """
    if rules.scoring == "checkers":
        raise ValueError("scoring 'checkers' has no fixed points per outcome; use result_points")
    points = np.array([points for _, points in LEVELS[rules.scoring]], dtype=np.float64)
    return np.concatenate([-points[::-1], [0.0], points])


def outcome_names(rules: Rules) -> tuple[str, ...]:
    """A name for each outcome, from one player's point of view: "lose mars", ..., "draw", ..., "win mars"."""
    names = [name for name, _ in LEVELS[rules.scoring]]
    return (*(f"lose {name}" for name in reversed(names)), "draw", *(f"win {name}" for name in names))


def win_level(losers: NDArray[np.int8], rules: Rules) -> NDArray[np.int64]:
    """Level of the win over each loser, 1..L (R5.1-R5.3, R8.5).

    Args:
        losers: int8 (N, 26), the losers' rows in their own numbering.
        rules: Whose `scoring` and `geometry` count.
    """
    counts = losers.astype(np.int64)
    none_off = counts[:, OFF] == 0
    all_home = counts[:, HOME + 1 :].sum(axis=1) == 0
    level = 1 + none_off.astype(np.int64)
    if rules.scoring in ("home_mars3", "checkers"):
        level += none_off & all_home
    elif rules.scoring == "four_level":
        far = counts[:, BAR] if rules.geometry == "short" else counts[:, FIRST_QUARTER + 1 : HEAD + 1].sum(axis=1)
        level = np.where(none_off, np.where(all_home, 3, np.where(far > 0, 4, 2)), 1)
    elif rules.scoring == "backgammon":
        far = counts[:, BAR] + counts[:, OPP_POINT[rules.geometry][1 : HOME + 1]].sum(axis=1)
        level += none_off & (far > 0)
    result: NDArray[np.int64] = level
    return result


def result_points(losers: NDArray[np.int8], win_levels: NDArray[np.int64], rules: Rules) -> NDArray[np.float64]:
    """Points of the winner, float64 (N,), given the loser's row and the level of the win."""
    points = np.array([points for _, points in LEVELS[rules.scoring]], dtype=np.float64)[win_levels - 1]
    if rules.scoring == "checkers":
        points = points * (CHECKERS - losers[:, OFF].astype(np.float64))
    return points


def score(boards: Boards, rules: Rules) -> list[tuple[str, float]]:
    """Name and points of finished games.

    Args:
        boards: int8 (N, 2, 26); row 0 is the player who has borne off all (the winner, or the one who drew first).
        rules: Any `Rules`.

    Returns:
        For each game ("oin", 1.0), ("mars", 2.0), ...; ("draw", draw_points), which each player gets, if both sides
        have borne off all.

    Raises:
        ValueError: If row 0 of a board has not borne off all its checkers.
    """
    unfinished = np.flatnonzero(boards[:, 0, OFF] != CHECKERS)
    if unfinished.size:
        raise ValueError(f"game {unfinished[0]} of the batch: the first row has not borne off all its checkers")
    losers = boards[:, 1]
    level = win_level(losers, rules)
    points = result_points(losers, level, rules)
    names = [LEVELS[rules.scoring][k - 1][0] for k in level]
    return [
        ("draw", rules.draw_points) if loser[OFF] == CHECKERS else (name, float(value))
        for loser, name, value in zip(losers, names, points, strict=True)
    ]


def settle(
    before: Boards, after: Boards, moved_first: Any, rules: Rules
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Judges whether a play ended its game.

    Args:
        before: int8 (N, 2, 26), the boards the plays were made on, rows (mover, opponent).
        after: int8 (N, 2, 26), the afterstates, the turn not yet passed.
        moved_first: bool (N,), did the mover make the first move of this game (R5.4).
        rules: Any `Rules`.

    Returns:
        outcome: int64 (N,), the outcome from the mover's point of view (see the module), -1 where the game goes on.
        equity: float64 (N,), the mover's points minus the opponent's; 0 where the game goes on and for a draw.
    """
    n_levels = levels(rules)
    outcome = np.full(len(after), -1, dtype=np.int64)
    equity = np.zeros(len(after))
    moved_first = np.asarray(moved_first, dtype=np.bool_)
    mover_off = after[:, 0, OFF] == CHECKERS
    last_throw = after[:, 1, OFF] == CHECKERS  # the first player was done before: this was the second's last throw
    if rules.draw == "last_roll":
        won = mover_off & ~moved_first & ~last_throw
    else:
        won = mover_off
    if won.any():
        level = win_level(after[won, 1], rules)
        outcome[won] = n_levels + level
        equity[won] = result_points(after[won, 1], level, rules)
    drawn = mover_off & last_throw
    outcome[drawn] = n_levels
    lost = last_throw & ~mover_off
    if lost.any():
        losers = (before if rules.last_roll_mars == "before" else after)[lost, 0]
        level = win_level(losers, rules)
        outcome[lost] = n_levels - level
        equity[lost] = -result_points(losers, level, rules)
    return outcome, equity
