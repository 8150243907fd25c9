"""Players of short nardy from outside the kit, to measure ours by: GNU Backgammon and pubeval.

Both need the extra `yardsticks`; they are imported when such an agent is made. The kit enumerates the legal
plays and lets gnubg say what they are worth, because the package's own choice (`findbestmove`) drops the rest of a play
at the first checker borne off.
"""

from concurrent.futures import CancelledError

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Decisions
from nardy_rl.agents.search import SearchAgent, SearchConfig
from nardy_rl.rules.board import OPP_POINT, Boards
from nardy_rl.rules.spec import BAR, OFF, Rules
from nardy_rl.value.yardsticks import GnubgEvaluator, check_package, check_standard

PUBEVAL = "pubeval"
_PART = 32
"""Positions to look ahead from between two looks at whether the agent was closed: a third of a second at 2 plies."""


class GnubgAgent(SearchAgent):
    """GNU Backgammon, cubeless money play, looking 0, 1 or 2 plies ahead (see `value.yardsticks`).

    The move filter is the kit's own and so are its settings (`SearchConfig`): 0 plies rank every play, up to 12 that
    are within 0.4 points of the best go on to 1 ply, and up to 6 of these within 0.2 points to 2 plies. That is a
    little wider than gnubg's "normal" filter (8 within 0.16). A position deeper down is worth what gnubg itself says of
    it at that many plies; its replies are not filtered by the kit.
    """

    def __init__(self, spec: str, rules: Rules, config: SearchConfig | None = None) -> None:
        """Makes the agent.

        Args:
            spec: A key of `value.yardsticks.GNUBG`.
            rules: Short nardy by the standard rules.
            config: Move filter; the defaults if not given.

        Raises:
            ValueError: An unknown spec, other rules, the package gnubg is missing, or a filter that lets nothing
                through.
        """
        plies = GnubgEvaluator(spec, rules).plies
        self._by_plies = [GnubgEvaluator(f"gnubg:{ply}", rules) for ply in range(plies + 1)]
        self._closings = 0
        super().__init__(spec, self._by_plies[0], rules, plies, config)

    def _value(self, boards: Boards, moved_first: NDArray[np.bool_], plies: int) -> NDArray[np.float64]:
        """Equity of the player on roll by gnubg's own look ahead, float64 (N,)."""
        closings = self._closings
        values = np.empty(len(boards))
        for part in (slice(first, first + _PART) for first in range(0, len(boards), _PART)):
            if self._closings != closings:
                raise CancelledError(f"{self.spec} was closed while it was thinking")
            values[part] = self._by_plies[plies].equities(boards[part], moved_first[part])
        return values

    def close(self) -> None:
        """Makes other threads give up what they are asking: at 2 plies one turn of many games takes minutes."""
        self._closings += 1


class PubevalAgent:
    """Tesauro's public linear evaluator of 1993, the old benchmark, by the package gnubg-nn.

    It has one set of weights for contact and one for races, whose scores cannot be compared. Which set ranks the plays
    of a roll depends on the position before the roll, as its author meant it (`pub_best_move` does so, `pub_eval_score`
    looks at the position after the play): so the agent takes the package's choice, and scores it 1 and all else 0.
    """

    gives_equities = False

    def __init__(self, rules: Rules) -> None:
        """Makes the agent.

        Raises:
            ValueError: Other rules than standard short nardy, or the package gnubg-nn is missing.
        """
        check_standard(PUBEVAL, rules)
        check_package("gnubg_nn", PUBEVAL)
        import gnubg_nn  # noqa: PLC0415  (an extra)

        self.spec = PUBEVAL
        self.rules = rules
        self._best = gnubg_nn.pub_best_move

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """1 for the play it chooses, 0 for all else, float64 (K,)."""
        after, offsets = decisions.afterstates
        scores = np.zeros(len(after))
        opponent_first = decisions.boards[:, ::-1, 1:].tolist()
        for game, (position, dice) in enumerate(zip(opponent_first, decisions.dice.tolist(), strict=True)):
            played = _played(decisions.boards[game], self._best(position, *dice))
            rows = slice(offsets[game], offsets[game + 1])
            scores[rows] = (after[rows] == played).all(axis=(1, 2))
        return scores


def _played(board: Boards, moves: list[int]) -> Boards:
    """The board int8 (2, 26) after moves (from, to, from, to, ...) of row 0, numbered from 0; below 0 is off."""
    after = board.copy()
    for start, end in zip(moves[::2], moves[1::2], strict=True):
        landing = max(end + 1, OFF)
        after[0, start + 1] -= 1
        after[0, landing] += 1
        theirs = OPP_POINT["short"][landing]
        if landing != OFF and after[1, theirs]:
            after[1, theirs] -= 1
            after[1, BAR] += 1
    return after
