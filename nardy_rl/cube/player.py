"""An agent at the cube: when it doubles, and what it answers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Agent, Decisions, GivesValues
from nardy_rl.cube import match, money
from nardy_rl.cube.chances import CONTACT_EFFICIENCY, chances, check_rules, efficiency
from nardy_rl.cube.decision import CENTRED, CubeDecisions
from nardy_rl.cube.match import Scores
from nardy_rl.cube.table import MatchTable
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.scoring import settle

PASS, TAKE, BEAVER = 0, 1, 2
"""Answers to a double."""

PLAYS = ("cubeless", "cubeful")


@dataclass
class CubeConfig:
    """How the doubling cube is played (R8.6).

    Attributes:
        jacoby: Money play: gammons count only once the cube has been turned.
        beavers: Money play: whoever takes may redouble at once and keep the cube.
        max_cube: Money play: the largest cube, a power of two.
        efficiency: Cube efficiency while there is contact, from 0 (dead cube) to 1 (live cube).
        plays: Checkers are played `cubeless`, for points of the game, or `cubeful`, for what the position is worth with
            the cube, in a match at its score. An agent that looks n plies ahead does so for every legal play then.
    """

    jacoby: bool = False
    beavers: bool = False
    max_cube: int = 64
    efficiency: float = CONTACT_EFFICIENCY
    plays: str = "cubeless"

    def check(self) -> None:
        """Raises a ValueError that names the field, its value and what is allowed."""
        if not 0 <= self.efficiency <= 1:
            raise ValueError(f"efficiency={self.efficiency} is not allowed; give 0 (dead) to 1 (live cube)")
        if self.max_cube < 1 or self.max_cube & (self.max_cube - 1):
            raise ValueError(f"max_cube={self.max_cube} is not allowed; give a power of two")
        if self.plays not in PLAYS:
            raise ValueError(f"plays={self.plays!r} is not allowed; choose one of {', '.join(PLAYS)}")


class CubePlayer:
    """Cube decisions of an agent, from its own chances of the outcomes.

    An agent that gives none (`random`, `pubeval`, programs, ...) never doubles, and takes every double.

    Attributes:
        agent: The agent.
        config: How the cube is played.
        table: Match equity table in a match, None in money play.
        doubles: False: it never doubles, but answers as ever.
    """

    def __init__(
        self, agent: Agent, config: CubeConfig, table: MatchTable | None = None, *, doubles: bool = True
    ) -> None:
        """Raises a ValueError if the agent's rules know no cube."""
        check_rules(agent.rules)
        self.agent = agent
        self.config = config
        self.table = table
        self.doubles = doubles and isinstance(agent, GivesValues)

    def decide(self, boards: Boards, moved_first: NDArray[np.bool_], scores: Scores) -> CubeDecisions:
        """The cube decisions of positions before the throw, in the agent's own judgement.

        Args:
            boards: int8 (N, 2, 26), rows (player on roll, opponent).
            moved_first: bool (N,), does the player on roll hold the first seat.
            scores: Of the matches; in money play only the cube and its owner count.

        Raises:
            ValueError: The agent gives no chances.
        """
        return self.judge(self.values(boards, moved_first), boards, scores)

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The agent's probabilities of the outcomes, float32 (N, 2 * L + 1); arguments and errors as in `decide`."""
        if not isinstance(self.agent, GivesValues):
            raise ValueError(f"agent {self.agent.spec!r} gives no chances of the outcomes; name a net")
        return self.agent.values(boards, moved_first)

    def judge(self, values: NDArray[np.float32], boards: Boards, scores: Scores) -> CubeDecisions:
        """The cube decisions that follow from the probabilities `values` of the outcomes; the rest as in `decide`."""
        known = chances(values, self.agent.rules)
        x = efficiency(boards, self.config.efficiency)
        if self.table is not None:
            return match.decide(known, scores, x, self.table)
        decisions = money.decide(known, scores.owner, x, jacoby=self.config.jacoby, beavers=self.config.beavers)
        return decisions._replace(may_double=self._may_double(scores))

    def _may_double(self, scores: Scores) -> NDArray[np.bool_]:
        """Bool (N,): the cube is the player on roll's to turn, and of use to him."""
        if self.table is not None:
            return match.useful(scores)[0]
        return money.has_access(scores.owner) & (2 * scores.cube <= self.config.max_cube)

    def wants_to_double(self, boards: Boards, moved_first: NDArray[np.bool_], scores: Scores) -> NDArray[np.bool_]:
        """Bool (N,): the agent, on roll, doubles; arguments as in `decide`."""
        wants = np.zeros(len(boards), dtype=np.bool_)
        rows = np.flatnonzero(self._may_double(scores))
        if self.doubles and rows.size:
            wants[rows] = self.decide(boards[rows], moved_first[rows], scores.take(rows)).double
        return wants

    def answers(self, boards: Boards, moved_first: NDArray[np.bool_], scores: Scores) -> NDArray[np.int64]:
        """`PASS`, `TAKE` or `BEAVER`, int64 (N,), to doubles of the player on roll; arguments as in `decide`."""
        if not isinstance(self.agent, GivesValues):
            return np.full(len(boards), TAKE)
        decisions = self.decide(boards, moved_first, scores)
        beaver = decisions.beaver & (4 * scores.cube <= self.config.max_cube)
        return np.where(beaver, BEAVER, np.where(decisions.take, TAKE, PASS))

    def rank(self, decisions: Decisions, scores: Scores) -> NDArray[np.float64]:
        """A number for each afterstate, float64 (K,); the agent, on roll, wants the highest of each roll.

        Args:
            decisions: N rolls.
            scores: Of the N games.
        """
        if self.config.plays == "cubeless" or not isinstance(self.agent, GivesValues):
            return self.agent.scores(decisions)
        before, _, moved_first, (after, _) = decisions
        game = np.repeat(np.arange(len(before)), decisions.afterstates.counts)
        outcome, points = settle(before[game], after, moved_first[game], self.agent.rules)
        ranks = np.empty(len(after))
        over = outcome >= 0
        ranks[over] = self._final(points[over], scores.take(game[over]))
        rows = np.flatnonzero(~over)
        if rows.size:
            theirs = self.decide(flip(after[rows]), ~moved_first[game[rows]], scores.take(game[rows]).swapped)
            ranks[rows] = -theirs.equity if self.table is None else 1.0 - theirs.equity
        return ranks

    def _final(self, points: NDArray[np.float64], scores: Scores) -> NDArray[np.float64]:
        """What finished games are worth to the player on roll, in the units of the decisions."""
        if self.table is None:
            single = (scores.owner == CENTRED) & self.config.jacoby
            return np.where(single, np.sign(points), points)
        return match.after_game(points.astype(np.int64) * scores.cube, scores, self.table)
