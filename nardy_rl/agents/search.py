"""n-ply search with move filters, over whole batches of decisions.

Plies count the rolls looked ahead of an afterstate: 0-ply is the evaluator's word on the afterstate itself, and n-ply
is the mean over the opponent's 21 rolls of his best play, judged at n - 1 plies. Depths are reached one after the
other: the best afterstates at 0 plies go on to be searched at 1 ply, the best of these at 2 plies, and so on. How many
go on is the move filter (the scheme, and the word, are GNU Backgammon's).

Nothing here is random, and nothing depends on which decisions share a batch.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Decisions, GivesValues
from nardy_rl.agents.lookahead import all_rolls, backed_up_equities, backed_up_values, chunks, distinct, mean_over_rolls
from nardy_rl.agents.value import load_evaluators
from nardy_rl.endgame.evaluator import table_of
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.spec import CHECKERS, OFF, Rules
from nardy_rl.value.evaluator import Evaluator, afterstate_equities


@dataclass
class SearchConfig:
    """Move filters. The first entry of a list is for going on to 1 ply, the second to 2, the last for all beyond.

    Attributes:
        candidates: Afterstates of a roll that go on, at most (those equal to the last one go on too).
        within: How far behind the best one they may be, in points.
        replies: What `candidates` is for the replies inside the search, at every depth.
        replies_within: What `within` is for them.
    """

    candidates: list[int] = field(default_factory=lambda: [12, 6])
    within: list[float] = field(default_factory=lambda: [0.4, 0.2])
    replies: int = 2
    replies_within: float = 0.05

    def check(self) -> None:
        """Raises a ValueError that names the field, its value and what is allowed."""
        for name, numbers in (("candidates", self.candidates), ("replies", [self.replies])):
            if not numbers or min(numbers) < 1:
                raise ValueError(f"search.{name}={getattr(self, name)} is not allowed; give 1 or more")
        for name, points in (("within", self.within), ("replies_within", [self.replies_within])):
            if not points or not min(points) >= 0.0:
                raise ValueError(f"search.{name}={getattr(self, name)} is not allowed; give 0 or more points")


class SearchAgent:
    """Ranks afterstates by n-ply search.

    A score is an equity: that of the deepest search the afterstate has had. An afterstate which the filter dropped
    while others of its roll went deeper keeps its shallower equity, but never more than just below the lowest of
    those, so that it ranks behind them. What needs no search gets none: forced plays, rolls of which one candidate is
    left, and what is exact: finished games, the last throw (R5.4), and what a bear-off table covers.

    Attributes:
        spec: Name in tables and JSON.
        rules: The rules it plays.
        gives_equities: Always True.
        plies: Depth of the search.
        config: Its move filters.
        table: Folder of the bear-off table it plays endgames by, None without one.
    """

    gives_equities = True

    def __init__(
        self,
        spec: str,
        evaluator: Evaluator,
        rules: Rules,
        plies: int,
        config: SearchConfig | None = None,
        inner: Evaluator | None = None,
    ) -> None:
        """Makes the agent.

        Args:
            spec: Name in tables and JSON.
            evaluator: Ranks the afterstates of the roll to be played at 0 plies.
            rules: The rules it plays.
            plies: Depth of the search, 0 or more.
            config: Move filters; the defaults if not given.
            inner: Values everything deeper, `evaluator` if not given: 16-bit arithmetic is several times as fast, and
                the mean over 21 rolls evens out its rounding.

        Raises:
            ValueError: For a negative depth or a filter that lets nothing through.
        """
        if plies < 0:
            raise ValueError(f"plies={plies} is not allowed; give 0 or more")
        self.spec = spec
        self.rules = rules
        self.plies = plies
        self.config = config or SearchConfig()
        self.config.check()
        self._table = table_of(evaluator)
        self.table = None if self._table is None else self._table.name
        self._evaluator = evaluator
        self._inner = inner or evaluator

    @classmethod
    def load(cls, spec: str, path: str, rules: Rules, plies: int, config: SearchConfig | None = None) -> "SearchAgent":
        """The agent of a checkpoint folder, with the bear-off table for these rules if there is one.

        Raises:
            CheckpointError: The checkpoint cannot be used, or not for these rules.
            ValueError: As the class, or the bear-off table is damaged.
        """
        outer, inner = load_evaluators(path, rules, "float32", "int16")
        return cls(spec, outer, rules, plies, config, inner)

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """Expected points of the mover in each afterstate, float64 (K,)."""
        boards, _, moved_first, after = decisions
        static = afterstate_equities(self._evaluator, boards, moved_first, after, self.rules)
        return self._deepened(static, moved_first, after, self.plies, at_root=True)

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Evaluator.values`: the mean over all rolls of what follows, as many plies ahead.

        The plays on the way are those that look best at 0 plies.
        """
        deeper: GivesValues = self._evaluator
        for _ in range(self.plies):
            deeper = _OnePlyDeeper(self._inner, deeper, self.rules)
        return deeper.values(boards, moved_first)

    def _deepened(
        self, equity: NDArray[np.float64], moved_first: NDArray[np.bool_], after: Afterstates, plies: int, at_root: bool
    ) -> NDArray[np.float64]:
        """Equities of afterstates by their 0-ply equities and search, float64 (K,).

        At the root it is enough to know which is best; inside the search, what it is worth.
        """
        alive = np.ones(len(equity), dtype=np.bool_)
        exact = (after.boards[:, :, OFF] == CHECKERS).any(axis=1)
        if self._table is not None:
            exact |= self._table.covers(after.boards)
        seats = np.repeat(moved_first, after.counts)
        for ply in range(1, plies + 1):
            candidates, within = self._filter(ply, at_root)
            kept = _kept(equity, after.offsets, alive, candidates, within)
            searched = kept & ~exact
            if at_root:
                searched &= np.repeat(np.add.reduceat(kept, after.offsets[:-1], dtype=np.int64) > 1, after.counts)
            rows = np.flatnonzero(searched)
            equity = equity.copy()
            equity[rows] = -self._value(flip(after.boards[rows]), ~seats[rows], ply)
            _rank_behind(equity, after.offsets, kept)
            alive = kept
        return equity

    def _filter(self, ply: int, at_root: bool) -> tuple[int, float]:
        config = self.config
        if not at_root:
            return config.replies, config.replies_within
        return (
            config.candidates[min(ply, len(config.candidates)) - 1],
            config.within[min(ply, len(config.within)) - 1],
        )

    def _value(self, boards: Boards, moved_first: NDArray[np.bool_], plies: int) -> NDArray[np.float64]:
        """Equity of the player on roll by the mean over his rolls of his best play, judged at `plies` - 1 plies."""
        first, place = distinct(boards, moved_first)
        boards, moved_first = boards[first], moved_first[first]
        if plies == 1:
            return backed_up_equities(self._inner, boards, moved_first, self.rules)[place]
        values = np.empty(len(boards))
        for part in chunks(len(boards)):
            after, equity = all_rolls(self._inner, boards[part], moved_first[part], self.rules)
            equity = self._deepened(equity, np.repeat(moved_first[part], len(ROLLS)), after, plies - 1, at_root=False)
            best = np.maximum.reduceat(equity, after.offsets[:-1])
            values[part] = mean_over_rolls(best.reshape(-1, len(ROLLS)))
        return values[place]


class _OnePlyDeeper(NamedTuple):
    """Values by the mean over all rolls of the play that `chooser` likes best, as `judge` values it."""

    chooser: Evaluator
    judge: GivesValues
    rules: Rules

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        return backed_up_values(self.chooser, boards, moved_first, self.rules, self.judge)


@numba.njit(cache=True, nogil=True)
def _kept(equity: Any, offsets: Any, alive: Any, candidates: int, within: float) -> Any:
    """Bool (K,): which of the `alive` afterstates of each roll the filter lets through."""
    kept = np.zeros(len(equity), np.bool_)
    for game in range(len(offsets) - 1):
        first, last = offsets[game], offsets[game + 1]
        ranked = np.sort(equity[first:last][alive[first:last]])
        n = len(ranked)
        bar = max(ranked[n - min(candidates, n)], ranked[n - 1] - within)
        for row in range(first, last):
            kept[row] = alive[row] and equity[row] >= bar
    return kept


@numba.njit(cache=True, nogil=True)
def _rank_behind(equity: Any, offsets: Any, kept: Any) -> None:
    """Lowers what was not kept, now or earlier, to just below the lowest of its roll that was."""
    for game in range(len(offsets) - 1):
        first, last = offsets[game], offsets[game + 1]
        lowest = np.inf
        for row in range(first, last):
            if kept[row]:
                lowest = min(lowest, equity[row])
        below = np.nextafter(lowest, -np.inf)
        for row in range(first, last):
            if not kept[row]:
                equity[row] = min(equity[row], below)
