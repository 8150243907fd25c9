"""Games side by side with the opponent inside: what every environment with one learner is made of.

A single environment is one table, the native vector environment is N of them, and the same code plays both, so that
they are equal game for game.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Agent, choose, decide
from nardy_rl.agents.registry import make_agent
from nardy_rl.game import FIRST, SECOND, Games, apply, roll
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.board import Boards, flip, new_boards
from nardy_rl.rules.plays import MAX_AFTERSTATES
from nardy_rl.rules.scoring import LEVELS, outcome_names
from nardy_rl.rules.spec import CHECKERS, OFF, SLOTS, Rules

SEATS = ("alternate", "random", "first", "second")
ON_ILLEGAL = ("raise", "lose")

GAME_ON, NO_GAME = -1, -2
"""What `Tables.result` holds instead of a result."""

_DICE_SEED = 0
"""Dice and ties are a function of the stream of the game alone (and of the turn), and that is drawn at its start."""


class Tables:
    """`n` games, the learner against the opponent. Between calls the learner is on roll, or no game is on.

    All that happens by chance in a game follows from its `stream`, a number of 63 bits that is drawn when it starts:
    the throws are `nardy_rl.game.roll` of (stream, turn), the opponent's choice among equals is `dice.TIES` of them.

    Attributes:
        rules: Of every game.
        opponent: The agent in the other chair.
        seat: Who begins, one of `SEATS`.
        result_names: What each result is called, as the learner sees it; the last is "illegal".
        boards: int8 (n, 2, 26), rows (learner, opponent), each in his own numbering.
        stream: int64 (n,), see above.
        turn: int64 (n,), turns played by both sides.
        learner: int64 (n,), the learner's seat: 0 if he made the first move.
        result: int64 (n,), a number into `result_names`, or `GAME_ON`, or `NO_GAME` before the first game.
        dice: int8 (n, 2), the learner's throw; 0, 0 where no game is on.
        choices: int8 (K, 2, 26), the afterstates of all throws, rows (learner, opponent), the turn not yet passed.
        offsets: int64 (n + 1,), table i owns choices[offsets[i]:offsets[i + 1]]; none where no game is on.
    """

    def __init__(self, n: int, opponent: str | Agent, rules: Rules, seat: str) -> None:
        if seat not in SEATS:
            raise ValueError(f"seat={seat!r} is not allowed; choose one of {', '.join(SEATS)}")
        if seat != "first" and rules.draw == "none" and CHECKERS - rules.start[OFF] <= 4:
            raise ValueError("from this start the opponent could win before the learner's first turn; use seat='first'")
        self.rules = rules
        self.opponent: Agent = make_agent(opponent, rules) if isinstance(opponent, str) else opponent
        if self.opponent.rules != rules:
            raise ValueError(f"the opponent {self.opponent.spec!r} was made for other rules than the environment's")
        self.seat = seat
        self.result_names = (*outcome_names(rules), "illegal")
        self.boards = new_boards(n, rules)
        self.stream = np.zeros(n, dtype=np.int64)
        self.turn = np.zeros(n, dtype=np.int64)
        self.learner = np.full(n, FIRST)
        self.result = np.full(n, NO_GAME)
        self.dice = np.zeros((n, 2), dtype=np.int8)
        self.choices = np.empty((0, 2, SLOTS), dtype=np.int8)
        self.offsets = np.zeros(n + 1, dtype=np.int64)
        self._next_seat = np.full(n, FIRST)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Afterstates to choose from at each table, int64 (n,)."""
        return np.diff(self.offsets)

    def alternate_anew(self, which: NDArray[np.int64]) -> None:
        """A learner who alternates begins the next game at these tables."""
        self._next_seat[which] = FIRST

    def start(self, which: NDArray[np.int64], generators: Sequence[np.random.Generator]) -> None:
        """Starts a game at the tables `which`, up to the learner's first throw; `throw` is the caller's to call.

        Args:
            which: int64 (k,), numbers of tables.
            generators: k generators, from which each game draws its stream, and before that its seat if it is drawn.
        """
        if self.seat == "alternate":
            self.learner[which] = self._next_seat[which]
            self._next_seat[which] = FIRST + SECOND - self.learner[which]
        elif self.seat == "random":
            self.learner[which] = [generator.integers(2) for generator in generators]
        else:
            self.learner[which] = FIRST if self.seat == "first" else SECOND
        self.stream[which] = [generator.integers(2**63) for generator in generators]
        self.boards[which] = new_boards(len(which), self.rules)
        self.turn[which] = 0
        self.result[which] = GAME_ON
        self._opponent_turn(which[self.learner[which] == SECOND])

    def throw(self) -> None:
        """Throws for the learner wherever a game is on and lists his choices; to repeat it changes nothing.

        Raises:
            RuntimeError: More choices than actions (possible only under R4.4 greedy, if at all).
        """
        on = np.flatnonzero(self.result == GAME_ON)
        games = self._games(on)
        decisions = decide(games, roll(games, _DICE_SEED, self.rules), self.rules)
        counts = np.zeros(len(self.boards), dtype=np.int64)
        counts[on] = decisions.afterstates.counts
        if counts.max(initial=0) > MAX_AFTERSTATES:
            raise RuntimeError(f"a roll has more than {MAX_AFTERSTATES} afterstates, so they cannot all be offered")
        self.dice = np.zeros((len(self.boards), 2), dtype=np.int8)
        self.dice[on] = decisions.dice
        self.choices = decisions.afterstates.boards
        self.offsets = np.concatenate([[0], np.cumsum(counts)])

    def play(self, which: NDArray[np.int64], after: Boards) -> NDArray[np.float64]:
        """Plays the learner's turn and then the opponent's at the tables `which`; `throw` is the caller's to call.

        Args:
            which: int64 (k,), numbers of tables where a game is on.
            after: int8 (k, 2, 26), the afterstates the learner chose there.

        Returns:
            float64 (k,), the learner's points minus the opponent's; 0 while the game goes on.
        """
        games, outcome, points = apply(self._games(which), after, self.rules)
        self.boards[which] = flip(games.boards)
        self.turn[which] = games.turn
        self.result[which] = np.where(outcome < 0, GAME_ON, outcome)
        goes_on = outcome < 0
        points[goes_on] = self._opponent_turn(which[goes_on])
        return points

    def lose(self, which: NDArray[np.int64]) -> float:
        """Ends the games at the tables `which` for an illegal action; returns the learner's points for each."""
        self.result[which] = len(self.result_names) - 1
        return -worst_loss(self.rules)

    def _games(self, which: NDArray[np.int64]) -> Games:
        """The games at these tables with the learner's row first, copies."""
        return Games(self.boards[which], self.stream[which], self.turn[which])

    def _opponent_turn(self, which: NDArray[np.int64]) -> NDArray[np.float64]:
        """Lets the opponent play at these tables; returns the learner's points, 0 while the game goes on."""
        if not len(which):
            return np.zeros(0)
        games = Games(flip(self.boards[which]), self.stream[which], self.turn[which])
        decisions = decide(games, roll(games, _DICE_SEED, self.rules), self.rules)
        ties = dice_lib.bits(_DICE_SEED, dice_lib.TIES, games.stream, games.turn)
        chosen = choose(self.opponent.scores(decisions), decisions.afterstates.offsets, ties)
        games, outcome, points = apply(games, decisions.afterstates.boards[chosen], self.rules)
        self.boards[which] = games.boards
        self.turn[which] = games.turn
        # the outcome counts from the best of one side to the best of the other; "illegal" comes after them
        self.result[which] = np.where(outcome < 0, GAME_ON, len(self.result_names) - 2 - outcome)
        return 0.0 - points  # not -points: no -0.0


def worst_loss(rules: Rules) -> float:
    """Points of the highest win of the scoring; under `checkers` (R5.3), with all 15 checkers left."""
    points = max(points for _, points in LEVELS[rules.scoring])
    return float(points * (CHECKERS if rules.scoring == "checkers" else 1))
