"""How far a net is from the exact endgame: error of its equities, and what its plays give away."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import choose, decide
from nardy_rl.endgame.evaluator import TableEvaluator
from nardy_rl.endgame.tables import BearoffTable
from nardy_rl.game import MAX_TURNS, apply, new_games, roll
from nardy_rl.rules import dice
from nardy_rl.rules.spec import Rules
from nardy_rl.value.evaluator import Evaluator, afterstate_equities


class BearoffErrors(NamedTuple):
    """An evaluator against a table, on the covered positions of its own games.

    Attributes:
        errors: float64 (P,), its equity minus the exact one in every position, the player on roll about to throw.
        losses: float64 (D,), exact equity of the best play minus that of its own, for every roll with a choice.
    """

    errors: NDArray[np.float64]
    losses: NDArray[np.float64]


def bearoff_errors(evaluator: Evaluator, table: BearoffTable, rules: Rules, games: int, seed: int) -> BearoffErrors:
    """Plays games of an evaluator against itself and compares what it says and does with the table.

    Args:
        evaluator: Without a table of its own; it plays both sides at 0 plies.
        table: The exact values.
        rules: Rules of the games.
        games: How many, on the dice streams 0 to `games` - 1.
        seed: Seed of dice and ties.

    Raises:
        TableError: The table does not belong to these rules.
        ValueError: No game, or the games never came to a covered position.
    """
    if games < 1:
        raise ValueError(f"games={games} is not allowed; give 1 or more")
    exact = TableEvaluator(evaluator, table, rules)
    playing = new_games(np.arange(games), rules)
    errors: list[NDArray[np.float64]] = []
    losses: list[NDArray[np.float64]] = []
    for _ in range(MAX_TURNS):
        covered = table.covers(playing.boards)
        if covered.any():
            position = playing.boards[covered], playing.moved_first[covered]
            errors.append(evaluator.equities(*position) - exact.equities(*position))
        decisions = decide(playing, roll(playing, seed, rules), rules)
        after = decisions.afterstates
        scores = afterstate_equities(evaluator, decisions.boards, decisions.moved_first, after, rules)
        chosen = choose(scores, after.offsets, dice.bits(seed, dice.TIES, playing.stream, playing.turn))
        judged = afterstate_equities(exact, decisions.boards, decisions.moved_first, after, rules)
        lost = np.maximum.reduceat(judged, after.offsets[:-1]) - judged[chosen]
        losses.append(lost[covered & (after.counts > 1)])
        playing, outcome, _ = apply(playing, after.boards[chosen], rules)
        playing = playing.take(outcome < 0)
        if not len(playing):
            break
    if not errors:
        raise ValueError(f"none of {games} games came to a position that {table.name} covers; play more")
    return BearoffErrors(np.concatenate(errors), np.concatenate(losses))


def errors_text(name: str, table: BearoffTable, found: BearoffErrors) -> str:
    """The figures for the screen; ± is a standard error, as if decisions were independent of each other."""
    errors, losses = found
    rms, deviation = np.sqrt((errors**2).mean()), losses.std() / np.sqrt(len(losses))
    wrong = 100 * (losses > 1.5 / table.scale).mean()
    return "\n".join(
        [
            f"{name} against {table.name}, on the positions of its own games",
            f"positions     {len(errors):,}",
            f"mean error    {np.abs(errors).mean():.5f} points (root mean square {rms:.5f}, bias {errors.mean():+.5f})",
            f"decisions     {len(losses):,} with a choice",
            f"mean loss     {losses.mean():.6f} ± {deviation:.6f} points per decision",
            f"not the best  {wrong:.1f}% of decisions; worst {losses.max():.4f} points",
        ]
    )
