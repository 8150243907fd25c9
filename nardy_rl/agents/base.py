"""What an agent is: something that ranks the afterstates of a batch of rolls."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.game import Games
from nardy_rl.rules.board import Boards
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.spec import Rules


class Decisions(NamedTuple):
    """A batch of rolls to be played.

    Attributes:
        boards: int8 (N, 2, 26), rows (player on roll, opponent).
        dice: int8 (N, 2).
        moved_first: bool (N,), does the player on roll hold the first seat (R5.4).
        afterstates: The results to choose from, rows (mover, opponent).
    """

    boards: Boards
    dice: NDArray[np.int8]
    moved_first: NDArray[np.bool_]
    afterstates: Afterstates


class Agent(Protocol):
    """Ranks afterstates; `choose` picks, so that all agents break ties alike.

    Attributes:
        spec: The text `make_agent` made it from.
        rules: The rules it plays.
        gives_equities: Are its scores equities (expected points of the mover), or only an order?
    """

    spec: str
    rules: Rules
    gives_equities: bool

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """A number for each afterstate, float64 (K,); the mover wants the highest of each roll.

        It depends on the afterstates of its own game only, never on which games share the batch.
        """
        ...


@runtime_checkable
class GivesValues(Protocol):
    """What knows the chances of the outcomes: evaluators, and the agents made of one. Cube decisions need it."""

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Probability of each outcome for the player on roll, the dice not thrown yet, float32 (K, width)."""
        ...


def decide(games: Games, dice: NDArray[np.int8], rules: Rules) -> Decisions:
    """The decisions that the players on roll face."""
    return Decisions(games.boards, dice, games.moved_first, legal_afterstates(games.boards, dice, rules))


def choose(scores: NDArray[np.float64], offsets: NDArray[np.int64], ties: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The best afterstate of each roll.

    Equal scores are broken by `ties`, never by the order of rows: always taking the first row of equals beats a random
    player by itself and would flatter an agent that has learnt nothing.

    Args:
        scores: float64 (K,).
        offsets: int64 (N + 1,) as in `Afterstates`.
        ties: uint64 (N,) random bits, `dice.bits(seed, TIES, stream, turn)`.

    Returns:
        int64 (N,), row numbers into `scores`.

    Raises:
        ValueError: If a score is not a number.
    """
    if np.isnan(scores).any():
        raise ValueError("a score is NaN; an agent must rank every afterstate")
    chosen: NDArray[np.int64] = _choose(scores, offsets, ties)
    return chosen


@numba.njit(cache=True, nogil=True)
def _choose(scores: Any, offsets: Any, ties: Any) -> Any:
    n = len(offsets) - 1
    chosen = np.empty(n, np.int64)
    for game in range(n):
        first, last = offsets[game], offsets[game + 1]
        best = scores[first]
        equal = 1
        for row in range(first + 1, last):
            if scores[row] > best:
                best = scores[row]
                equal = 1
            elif scores[row] == best:
                equal += 1
        skip = np.int64(ties[game] % np.uint64(equal))
        for row in range(first, last):
            if scores[row] == best:
                if skip == 0:
                    chosen[game] = row
                    break
                skip -= 1
    return chosen
