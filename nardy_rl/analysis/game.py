"""A played game, turn by turn, in the judgement of a net: equity lost, luck, error rate, result less luck.

Whose view: equities of a turn are the mover's, expected points at cube 1. What is said of players or seats is in points
of that player; `result` and `start` are the first player's. docs/analysis.md says how each figure comes about.
"""

import dataclasses
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Decisions
from nardy_rl.agents.lookahead import roll_equities
from nardy_rl.agents.luck import mean_equities, roll_number
from nardy_rl.agents.rollout import RolloutSettings, rollout_candidates
from nardy_rl.agents.search import SearchAgent, SearchConfig
from nardy_rl.agents.value import load_evaluators
from nardy_rl.records.position_ids import Standing, format_xgid, standing, turn_position
from nardy_rl.records.record import (
    FIRST,
    NOBODY,
    NOT_PLAYED,
    SECOND,
    GameRecord,
    MatchRecord,
    Outcome,
    Record,
    games_of,
    replay,
)
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.reference import Board, Play, as_board, legal_plays
from nardy_rl.rules.spec import Rules
from nardy_rl.value.checkpoint import CheckpointError
from nardy_rl.value.evaluator import Evaluator, afterstate_equities

ROLLOUT = "rollout"

MARKS = (("inaccuracy", "?!", 0.02), ("mistake", "?", 0.05), ("blunder", "??", 0.1))
"""Names of what a play is that loses so many points or more, the least first, and the signs of chess for them."""

KEPT_PLAYS = 5
"""Best plays of a turn that are kept; the play made is kept besides."""

_PART = 8
"""Decisions searched at once, so that progress is seen."""

Progress = Callable[[float], None]
"""Called with the share of the work that is done, 0..1."""


class JudgedPlay(NamedTuple):
    """A play and what the judge thinks of it.

    Attributes:
        play: Its steps, and the board after it.
        equity: Expected points of the mover.
        loss: How far behind the best play of the turn, 0 or more.
        loss_stderr: Standard error of `loss`, of rollouts; otherwise 0.
    """

    play: Play
    equity: float
    loss: float
    loss_stderr: float


@dataclasses.dataclass(frozen=True)
class JudgedTurn:
    """One turn of a game.

    Attributes:
        number: From 1.
        player: Seat of the mover, 0 = who moved first.
        board: Before the play, the mover in row 0.
        dice: As thrown.
        cube: Value of the cube at this throw.
        play: What was played; None if the dice were thrown and the game ended there.
        forced: There was nothing to decide: one play, or all plays surely worth the same.
        before: Equity before the throw: the mean over the rolls of the best play, as the plays stand (0-ply).
        luck: Equity of the best play of the roll less `before`, both 0-ply.
        plays: Best plays first, and the one made; empty if there was nothing to decide or nothing was played.
        xgid: The position with the throw for other programs (`records.position_ids`); empty if they cannot read it.
    """

    number: int
    player: int
    board: Board
    dice: tuple[int, int]
    cube: int
    play: Play | None
    forced: bool
    before: float
    luck: float
    plays: tuple[JudgedPlay, ...]
    xgid: str = ""

    @property
    def made(self) -> JudgedPlay | None:
        """What the judge thinks of the play made; None if there is nothing to think."""
        return next((judged for judged in self.plays if self.play and judged.play.board == self.play.board), None)

    @property
    def loss(self) -> float:
        """Equity lost by the play made."""
        return 0.0 if self.made is None else self.made.loss

    @property
    def sign(self) -> int:
        """What turns the mover's points into the first player's."""
        return 1 - 2 * self.player


@dataclasses.dataclass(frozen=True)
class Summary:
    """One player in one game, or in several.

    Attributes:
        name: The player.
        decisions: His unforced decisions.
        lost: Equity that they lost, at cube 1.
        marks: How many of them were inaccuracies, mistakes, blunders (`MARKS`).
        luck: Luck of his rolls, points.
        points: His points less the opponent's, over the finished games; None if there is none.
        adjusted: The same without the luck of both sides.
    """

    name: str
    decisions: int
    lost: float
    marks: tuple[int, ...]
    luck: float
    points: float | None
    adjusted: float | None

    @property
    def error_rate(self) -> float | None:
        """Thousandths of a point lost per unforced decision; None without any."""
        return 1000 * self.lost / self.decisions if self.decisions else None


@dataclasses.dataclass(frozen=True)
class GameAnalysis:
    """One game.

    Attributes:
        record: The game.
        names: Of the first player and of the second: not empty, different, on one line, without control characters.
        turns: All of them, forced ones too.
        outcome: None if the game is unfinished.
    """

    record: GameRecord
    names: tuple[str, str]
    turns: tuple[JudgedTurn, ...]
    outcome: Outcome | None

    @property
    def result(self) -> float | None:
        """Points of the first player less the second's."""
        if self.outcome is None:
            return None
        sign = {FIRST: 1, NOBODY: 0}.get(self.outcome.winner, -1)
        return sign * self.outcome.points

    @property
    def start(self) -> float | None:
        """The first player's equity before his first throw; None if nobody threw."""
        return self.turns[0].before if self.turns else None

    @property
    def luck(self) -> float:
        """Luck of the first player less the second's, points (so each roll counts with its cube)."""
        return sum(turn.sign * turn.cube * turn.luck for turn in self.turns)

    @property
    def lost(self) -> float:
        """Points the first player lost by his plays less what the second did."""
        return sum(turn.sign * turn.cube * turn.loss for turn in self.turns)

    @property
    def drift(self) -> float | None:
        """What is left of the result after `start`, `luck` and `lost`: how the judge changed its mind on the way.

        And, where the cube was turned or the game resigned, what that did. None if the game is unfinished.
        """
        if self.result is None or self.start is None:
            return None
        return self.result - (self.start + self.luck - self.lost)

    @property
    def summaries(self) -> tuple[Summary, Summary]:
        """Of the first player and of the second."""
        return self._summary(0), self._summary(1)

    def _summary(self, player: int) -> Summary:
        own = [turn for turn in self.turns if turn.player == player]
        losses = [turn.loss for turn in own]
        sign = 1 - 2 * player
        return Summary(
            name=self.names[player],
            decisions=sum(turn.made is not None for turn in own),
            lost=sum(losses),
            marks=tuple(sum(mark(loss) == name for loss in losses) for name, _, _ in MARKS),
            luck=sum(turn.cube * turn.luck for turn in own),
            points=None if self.result is None else sign * self.result,
            adjusted=None if self.result is None else sign * (self.result - self.luck),
        )


@dataclasses.dataclass(frozen=True)
class Group:
    """A match, or single games.

    Attributes:
        match: The match; None for single games.
        games: In order.
    """

    match: MatchRecord | None
    games: tuple[GameAnalysis, ...]

    @property
    def score(self) -> tuple[float, float] | None:
        """Points of the match's players after the last game (R6); None for single games."""
        if self.match is None:
            return None
        points = dict(zip(self.match.players, self.match.start, strict=True))
        for game in self.games:
            won = game.outcome
            for name, winner in ((game.record.first, FIRST), (game.record.second, SECOND)):
                if won and won.winner in (winner, NOBODY):
                    points[str(name)] += won.points
        return points[self.match.players[0]], points[self.match.players[1]]

    @property
    def totals(self) -> tuple[Summary, ...]:
        """Sums by name of the player."""
        names = dict.fromkeys(name for game in self.games for name in game.names)
        return tuple(_sum([own for game in self.games for own in game.summaries if own.name == name]) for name in names)


def mark(loss: float) -> str:
    """Name in `MARKS` of what a play is that loses so much; empty if nothing worth a name."""
    return next((name for name, _, least in reversed(MARKS) if loss >= least), "")


def worst(games: Iterable[GameAnalysis], count: int) -> list[tuple[GameAnalysis, JudgedTurn]]:
    """The turns in which most was lost, the worst first; none in which nothing was."""
    turns = [(game, turn) for game in games for turn in game.turns if turn.loss > 0]
    return sorted(turns, key=lambda found: -found[1].loss)[:count]


def _sum(parts: Sequence[Summary]) -> Summary:
    points = [part.points for part in parts if part.points is not None]
    adjusted = [part.adjusted for part in parts if part.adjusted is not None]
    return Summary(
        name=parts[0].name,
        decisions=sum(part.decisions for part in parts),
        lost=sum(part.lost for part in parts),
        marks=tuple(map(sum, zip(*(part.marks for part in parts), strict=True))),
        luck=sum(part.luck for part in parts),
        points=sum(points) if points else None,
        adjusted=sum(adjusted) if adjusted else None,
    )


# --- the judge --------------------------------------------------------------------------------------------------------


class Judge:
    """A net and how deep it looks.

    Luck, and which decisions are forced, are always judged by the net's word on the plays as they stand (0-ply), which
    costs little. Only what plays lose is judged at the depth.

    Attributes:
        rules: The rules it judges.
        depth: `0ply`, `1ply`, `2ply`, ... or `rollout`.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        rules: Rules,
        depth: str,
        *,
        search: SearchConfig | None = None,
        rollout: RolloutSettings | None = None,
        candidates: int = 4,
        within: float = 0.1,
        threads: int = 1,
        fast: Evaluator | None = None,
    ) -> None:
        """Makes a judge.

        Args:
            evaluator: The net.
            rules: The rules to judge.
            depth: See the class.
            search: Move filters of the search; the defaults if not given.
            rollout: How to roll out; the defaults if not given.
            candidates: Plays of a turn that are rolled out, at most: the best ones one ply ahead, and the one made.
            within: None of them further behind the best one, in points, but the one made.
            threads: Threads that play rollouts; nothing depends on it.
            fast: The same net in 16-bit arithmetic, for searches and rollouts; `evaluator` if not given.

        Raises:
            ValueError: A depth or a setting that is not allowed.
        """
        plies = check_depth(depth)
        search, rollout = search or SearchConfig(), rollout or RolloutSettings()
        search.check()
        rollout.check()
        for name, value, least in (("candidates", candidates, 1), ("within", within, 0), ("threads", threads, 1)):
            if not value >= least:
                raise ValueError(f"{name}={value} is not allowed; give {least} or more")
        self.rules = rules
        self.depth = depth
        self._evaluator = evaluator
        self._fast = fast or evaluator
        self._rollout, self._threads = rollout, threads
        self._plies = plies
        self._count, self._within = candidates, within
        if plies:
            self._count = search.candidates[min(plies, len(search.candidates)) - 1]
            self._within = search.within[min(plies, len(search.within)) - 1]
        ranking_plies = 1 if plies is None else max(plies - 1, 0)
        everything = dataclasses.replace(search, candidates=[2**31 - 1], within=[np.inf])
        self._ranking = SearchAgent("", evaluator, rules, ranking_plies, search, self._fast)
        self._search = SearchAgent("", evaluator, rules, plies or 0, everything, self._fast)

    @classmethod
    def load(
        cls,
        path: str,
        rules: Rules,
        depth: str,
        *,
        search: SearchConfig | None = None,
        rollout: RolloutSettings | None = None,
        candidates: int = 4,
        within: float = 0.1,
        threads: int = 1,
    ) -> "Judge":
        """The judge by the net of a checkpoint (or of a run, its newest), with the bear-off table if there is one.

        Raises:
            CheckpointError: It cannot be used, or not for these rules.
            ValueError: As the class, or the bear-off table is damaged.
        """
        exact, fast = load_evaluators(path, rules, "float32", "int16")
        return cls(
            exact, rules, depth,
            search=search, rollout=rollout, candidates=candidates, within=within, threads=threads, fast=fast,
        )  # fmt: skip

    def static(self, decisions: Decisions) -> NDArray[np.float64]:
        """Equity of every afterstate as it stands, float64 (K,)."""
        boards, _, moved_first, after = decisions
        return afterstate_equities(self._evaluator, boards, moved_first, after, self.rules)

    def by_roll(self, decisions: Decisions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Before the throw: the equity, and the luck of the roll thrown; float64 (N,) each."""
        boards, dice, moved_first, _ = decisions
        equities = roll_equities(self._evaluator, boards, moved_first, self.rules)
        mean = mean_equities(equities, boards, moved_first, self.rules)
        return mean, equities[np.arange(len(boards)), roll_number(dice)] - mean

    def judge(
        self, decisions: Decisions, made: NDArray[np.int64], progress: Progress | None = None
    ) -> list[list["Verdict"]]:
        """Judges plays at the depth.

        Args:
            decisions: N decisions.
            made: int64 (N,), number of the play made in each, counted from 0 among the afterstates of the decision.
            progress: See `Progress`.

        Returns:
            For each decision its best plays and the one made, the best first; of equals the one made.
        """
        if not len(made):
            return []
        if self._plies is None:
            return self._rolled_out(decisions, made, progress)
        found: list[list[Verdict]] = []
        for first in range(0, len(made), _PART):
            part = np.arange(first, min(first + _PART, len(made)))
            found += self._searched(_take(decisions, part), made[part])
            if progress is not None:
                progress(len(found) / len(made))
        return found

    def _searched(self, decisions: Decisions, made: NDArray[np.int64]) -> list[list["Verdict"]]:
        numbers, shortlist = self._shortlist(decisions, made)
        equity = self._search.scores(decisions._replace(afterstates=shortlist))
        best = np.repeat(np.maximum.reduceat(equity, shortlist.offsets[:-1]), shortlist.counts)
        return _ranked(numbers, shortlist, made, equity, best - equity, np.zeros(len(equity)))

    def _rolled_out(
        self, decisions: Decisions, made: NDArray[np.int64], progress: Progress | None
    ) -> list[list["Verdict"]]:
        numbers, shortlist = self._shortlist(decisions, made)
        result = rollout_candidates(
            self._fast, decisions.boards, decisions.moved_first, shortlist, self.rules, self._rollout,
            threads=self._threads,
            progress=None if progress is None else lambda done, planned: progress(done / max(planned, 1)),
        )  # fmt: skip
        # a play out of reach may still seem a little better over the few trials that it had
        loss = np.maximum(result.loss, 0.0)
        return _ranked(numbers, shortlist, made, result.equity, loss, result.loss_stderr)

    def _shortlist(self, decisions: Decisions, made: NDArray[np.int64]) -> tuple[NDArray[np.int64], Afterstates]:
        """The plays worth a look at the depth, and the ones made: their numbers in their decisions, and themselves."""
        after = decisions.afterstates
        kept = np.ones(len(after.boards), dtype=np.bool_)
        if self._plies != 0:
            ranks = self._ranking.scores(decisions)
            for first, last in itertools.pairwise(after.offsets):
                ranked = np.sort(ranks[first:last])
                bar = max(ranked[-min(self._count, len(ranked))], ranked[-1] - self._within)
                kept[first:last] = ranks[first:last] >= bar
            kept[after.offsets[:-1] + made] = True
        rows = np.flatnonzero(kept)
        counts = np.add.reduceat(kept, after.offsets[:-1], dtype=np.int64)
        numbers = rows - np.repeat(after.offsets[:-1], counts)
        return numbers, Afterstates(after.boards[rows], np.concatenate([[0], np.cumsum(counts)]))


class Verdict(NamedTuple):
    """What a judge says of a play: its number among the afterstates of its decision, and as in `JudgedPlay`."""

    number: int
    equity: float
    loss: float
    loss_stderr: float


def _ranked(
    numbers: NDArray[np.int64],
    shortlist: Afterstates,
    made: NDArray[np.int64],
    equity: NDArray[np.float64],
    loss: NDArray[np.float64],
    stderr: NDArray[np.float64],
) -> list[list[Verdict]]:
    verdicts = [
        Verdict(*figures)
        for figures in zip(numbers.tolist(), equity.tolist(), loss.tolist(), stderr.tolist(), strict=True)
    ]
    return [
        sorted(verdicts[first:last], key=lambda verdict: (verdict.loss, verdict.number != number))
        for (first, last), number in zip(itertools.pairwise(shortlist.offsets), made.tolist(), strict=True)
    ]


def check_depth(depth: str) -> int | None:
    """Plies of a depth; None for rollouts.

    Raises:
        ValueError: It is none.
    """
    if depth == ROLLOUT:
        return None
    if not re.fullmatch("[0-4]ply", depth):
        raise ValueError(f"depth={depth!r} is not allowed; choose 0ply to 4ply, or {ROLLOUT}")
    return int(depth[0])


def _take(decisions: Decisions, which: NDArray[np.int64]) -> Decisions:
    """Some of the decisions."""
    boards, dice, moved_first, after = decisions
    counts = after.counts[which]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    rows = np.arange(offsets[-1]) + np.repeat(after.offsets[which] - offsets[:-1], counts)
    return Decisions(boards[which], dice[which], moved_first[which], Afterstates(after.boards[rows], offsets))


# --- the analysis -----------------------------------------------------------------------------------------------------


def analyse_game(
    record: GameRecord, judge: Judge, progress: Progress | None = None, before: Standing | None = None
) -> GameAnalysis:
    """Judges every turn of a game.

    Args:
        record: The game.
        judge: Made for its rules.
        progress: See `Progress`.
        before: How its match stood before it, which only the XGIDs tell; if not given, money play.

    Raises:
        RecordError: A record that the rules contradict.
        ValueError: The judge was made for other rules.
    """
    rules = record.rules
    if judge.rules != rules:
        raise ValueError("the judge was made for other rules than those of the game")
    replayed = replay(record)
    turns = [_Turn(turn.board, turn.dice, turn.cube, turn.play) for turn in replayed.turns]
    last = record.turns[-1] if record.turns else None
    if last and last.play == NOT_PLAYED:  # the roll has its luck, whatever came of it
        turns.append(_Turn(replayed.board, last.dice, last.doubled or (turns[-1].cube if turns else 1), None))
    judged = tuple(_judged(turns, judge, progress)) if turns else ()
    judged = tuple(dataclasses.replace(turn, xgid=_xgid(record, turn, before)) for turn in judged)
    return GameAnalysis(record, _names(record), judged, replayed.outcome)


def _xgid(record: GameRecord, turn: JudgedTurn, before: Standing | None) -> str:
    """Empty where there is none: long nardy, half points."""
    try:
        return format_xgid(turn_position(record, turn.number, turn.board, before))
    except ValueError:
        return ""


class _Turn(NamedTuple):
    """A turn as it was played; without a play if the dice were thrown and the game ended there."""

    board: Board
    dice: tuple[int, int]
    cube: int
    play: Play | None


def _judged(turns: Sequence[_Turn], judge: Judge, progress: Progress | None) -> Iterator[JudgedTurn]:
    boards = np.array([turn.board for turn in turns], dtype=np.int8)
    dice = np.array([turn.dice for turn in turns], dtype=np.int8)
    after = legal_afterstates(boards, dice, judge.rules)
    decisions = Decisions(boards, dice, np.arange(len(turns)) % 2 == 0, after)
    before, luck = judge.by_roll(decisions)
    static, starts = judge.static(decisions), after.offsets[:-1]
    forced = np.maximum.reduceat(static, starts) == np.minimum.reduceat(static, starts)
    asked = np.array([i for i, turn in enumerate(turns) if turn.play and not forced[i]], dtype=np.int64)
    made = np.array([_number(after, i, turns[i].play) for i in asked], dtype=np.int64)
    verdicts = dict(zip(asked.tolist(), judge.judge(_take(decisions, asked), made, progress), strict=True))
    for i, turn in enumerate(turns):
        plays: list[JudgedPlay] = []
        if i in verdicts:
            steps = {play.board: play for play in legal_plays(turn.board, turn.dice, judge.rules)}
            for rank, (number, *figures) in enumerate(verdicts[i]):
                play = steps[as_board(after.boards[starts[i] + number])]
                if rank < KEPT_PLAYS or (turn.play and play.board == turn.play.board):
                    plays.append(JudgedPlay(play, *figures))
        yield JudgedTurn(
            i + 1, i % 2, turn.board, turn.dice, turn.cube, turn.play,
            bool(forced[i]), float(before[i]), float(luck[i]), tuple(plays),
        )  # fmt: skip


def _number(after: Afterstates, i: int, play: Play | None) -> int:
    """Number of a play among the afterstates of roll i, counted from 0."""
    assert play is not None
    ours = after.boards[after.offsets[i] : after.offsets[i + 1]]
    return int(np.flatnonzero((ours == np.array(play.board, dtype=np.int8)).all(axis=(1, 2)))[0])


def shown_name(name: str) -> str:
    """A name without what could steer a terminal or turn a line of text round."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name)


def _names(record: GameRecord) -> tuple[str, str]:
    """The players as they can be shown anywhere."""
    first, second = map(shown_name, (record.first or "first player", record.second or "second player"))
    return first, second if second != first else f"{second} (2)"


def analyse(
    records: Sequence[Record], judge_of: Callable[[Rules], Judge], progress: Progress | None = None
) -> tuple[Group, ...]:
    """Judges all games of some records.

    Args:
        records: Games and matches, as `nardy_rl.records.store.load` reads them.
        judge_of: Makes the judge for the rules of a game; called once for each rules.
        progress: See `Progress`.

    Returns:
        One group for each match, and one for all single games that stand together.

    Raises:
        RecordError: A record that the rules contradict.
        CheckpointError: That of `judge_of`, with the rules that it was asked for.
    """
    judges: dict[Rules, Judge] = {}
    for game in games_of(records):  # all of them before the work begins, which may take long
        if game.rules not in judges:
            try:
                judges[game.rules] = judge_of(game.rules)
            except CheckpointError as error:
                raise CheckpointError(f"a game of the rules {_rules_text(game)} cannot be judged: {error}") from error
    turns = sum(len(game.turns) for game in games_of(records))
    done = 0

    def analysed(game: GameRecord, before: Standing | None = None) -> GameAnalysis:
        nonlocal done

        def tell(share: float) -> None:
            if progress is not None:
                progress((done + share * len(game.turns)) / turns)

        found = analyse_game(game, judges[game.rules], tell, before)
        done += len(game.turns)
        return found

    groups = []
    for of_match, together in itertools.groupby(records, key=lambda record: isinstance(record, MatchRecord)):
        if of_match:
            groups += [_match(match, analysed) for match in together if isinstance(match, MatchRecord)]
        else:
            groups.append(Group(None, tuple(analysed(game) for game in games_of(tuple(together)))))
    return tuple(groups)


def _match(match: MatchRecord, analysed: Callable[[GameRecord, Standing], GameAnalysis]) -> Group:
    """The games of a match, each analysed with the score before it."""
    group, scores = Group(match, ()), [match.start]
    for game in match.games:
        group = Group(match, (*group.games, analysed(game, standing(match, scores))))
        scores.append(group.score or match.start)
    return group


def _rules_text(record: GameRecord) -> str:
    return f"{record.preset} {json.dumps(record.options)}" if record.options else record.preset
