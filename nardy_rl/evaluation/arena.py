"""Matches between agents: duplicate dice, seats swapped, intervals from pairs.

A *pair* is two games on the same dice stream and the same tie-breaking bits: A moves first in one, B in the other. Luck
of the dice and the first player's edge mostly cancel in the mean of a pair, pairs are independent of each other, and an
agent against itself scores exactly 0 in every one of them.

Pairs are played in chunks of fixed size, whatever the number of threads, so every agent sees the same batches and any
thread count gives the same numbers to the last bit.
"""

import dataclasses
import itertools
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich import box
from rich.table import Table

from nardy_rl.agents.base import Agent, choose, decide
from nardy_rl.agents.external import ExternalAgent, ExternalConfig, ExternalError
from nardy_rl.agents.luck import roll_luck
from nardy_rl.agents.registry import make_agent
from nardy_rl.agents.search import SearchConfig
from nardy_rl.agents.yardsticks import GnubgAgent
from nardy_rl.game import MAX_TURNS, apply, new_games, roll
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.scoring import LEVELS, levels
from nardy_rl.rules.spec import CHECKERS, Rules
from nardy_rl.value.evaluator import Evaluator

CHUNK_PAIRS = 250
"""Pairs played as one batch. Large enough to keep the compiled kernels busy, small enough to share among threads."""

Z95 = 1.96
"""Standard errors in half of a 95% normal interval."""


_Played = TypeVar("_Played")


class GameResults(NamedTuple):
    """Finished games, seen by the player who moved first.

    Attributes:
        outcome: int64 (N,), outcome numbers as in `rules.scoring`.
        points: float64 (N,), points of the first seat minus those of the second; 0 for a draw.
        turns: int64 (N,), turns played, passes included.
        luck: float64 (N,), luck of the first seat minus that of the second, in points (see `agents.luck`); 0 if it was
            not asked for.
        cube: int64 (N,), value of the cube at the end; `points` and `luck` count it. 1 without a cube.
    """

    outcome: NDArray[np.int64]
    points: NDArray[np.float64]
    turns: NDArray[np.int64]
    luck: NDArray[np.float64]
    cube: NDArray[np.int64]

    @classmethod
    def blank(cls, n: int) -> "GameResults":
        """Of `n` games, to be written into."""
        zeros = np.zeros((2, n), dtype=np.int64)
        return cls(zeros[0], np.zeros(n), zeros[1], np.zeros(n), np.ones(n, dtype=np.int64))


class Forfeit(NamedTuple):
    """Why a match was not played to its end.

    Attributes:
        by: Spec of the agent whose program failed, and who loses the match.
        reason: What the program did, one line.
    """

    by: str
    reason: str


@dataclasses.dataclass(frozen=True, eq=False)
class MatchResult:
    """What a match between A and B came to. All figures are A's view; `swapped` gives B's.

    Axis 1 of the arrays is who moved first in that game of the pair: A, B.

    Attributes:
        a: Spec of A.
        b: Spec of B.
        rules: Rules of every game.
        seed: Seed of dice and ties; with the same agents and rules it gives the same match again.
        outcome: int64 (pairs, 2), A's outcome numbers (see `rules.scoring`).
        points: float64 (pairs, 2), A's points minus B's; 0 for a draw.
        turns: int64 (pairs, 2), turns played.
        forfeit: None for a match that was played. Otherwise nothing above was played either: every game is put down as
            lost by `forfeit.by` in the worst way the scoring knows, after 0 turns.
        adjusted: float64 (pairs, 2), `points` less A's luck plus B's: the same mean with less chance in it. None if no
            judge of luck was given.
        cube: int64 (pairs, 2), value of the doubling cube at the end of each game, which `points` count. None without a
            cube (see `cube_arena`).
    """

    a: str
    b: str
    rules: Rules
    seed: int
    outcome: NDArray[np.int64]
    points: NDArray[np.float64]
    turns: NDArray[np.int64]
    forfeit: Forfeit | None = None
    adjusted: NDArray[np.float64] | None = None
    cube: NDArray[np.int64] | None = None

    @property
    def pairs(self) -> int:
        """Pairs played."""
        return len(self.points)

    @property
    def games(self) -> int:
        """Games played, two a pair."""
        return self.points.size

    @property
    def pair_points(self) -> NDArray[np.float64]:
        """A's mean points in each pair, float64 (pairs,)."""
        means: NDArray[np.float64] = self.points.mean(axis=1)
        return means

    @property
    def ppg(self) -> float:
        """A's points per game."""
        return float(self.pair_points.mean())

    @property
    def ci95(self) -> tuple[float, float]:
        """95% interval of `ppg`: mean ± 1.96 * sd / sqrt(pairs) over pairs. Of a single pair: (-inf, inf)."""
        return interval(self.pair_points)

    @property
    def adjusted_ppg(self) -> float | None:
        """A's points per game less the luck, if that was judged."""
        return None if self.adjusted is None else float(self.adjusted.mean(axis=1).mean())

    @property
    def adjusted_ci95(self) -> tuple[float, float] | None:
        """95% interval of `adjusted_ppg`, as `ci95`."""
        return None if self.adjusted is None else interval(self.adjusted.mean(axis=1))

    @property
    def win(self) -> float:
        """Share of games A won."""
        return float((self.outcome > levels(self.rules)).mean())

    @property
    def draw(self) -> float:
        """Share of games drawn."""
        return float((self.outcome == levels(self.rules)).mean())

    @property
    def mars_for(self) -> float:
        """Share of games A won by mars or more (second level of the scoring and above)."""
        return float((self.outcome >= levels(self.rules) + 2).mean())

    @property
    def mars_against(self) -> float:
        """Share of games A lost by mars or more."""
        return float((self.outcome <= levels(self.rules) - 2).mean())

    @property
    def mean_turns(self) -> float:
        """Turns per game, those of both sides counted."""
        return float(self.turns.mean())

    @property
    def first_edge(self) -> float:
        """Points per game of whoever moved first."""
        return float((self.points[:, 0] - self.points[:, 1]).mean() / 2)

    def swapped(self) -> "MatchResult":
        """The same match seen by B."""
        return dataclasses.replace(
            self,
            a=self.b,
            b=self.a,
            outcome=2 * levels(self.rules) - self.outcome[:, ::-1],
            points=-self.points[:, ::-1],
            turns=self.turns[:, ::-1],
            adjusted=None if self.adjusted is None else -self.adjusted[:, ::-1],
            cube=None if self.cube is None else self.cube[:, ::-1],
        )


def interval(pair_points: NDArray[np.float64]) -> tuple[float, float]:
    """95% interval of the mean of `pair_points` (pairs,): mean ± 1.96 * sd / sqrt(pairs); of one pair (-inf, inf)."""
    mean, half = float(pair_points.mean()), math.inf
    if len(pair_points) > 1:
        half = Z95 * float(pair_points.std(ddof=1)) / math.sqrt(len(pair_points))
    return mean - half, mean + half


class StoppedError(Exception):
    """Leaves a chunk whose match was interrupted."""


def play_games(
    first: Agent,
    second: Agent,
    stream: ArrayLike,
    rules: Rules,
    seed: int,
    *,
    luck: Evaluator | None = None,
    stop: threading.Event | None = None,
) -> GameResults:
    """Plays one game on each dice stream, all in step: roll, decide, score, choose, apply.

    Args:
        first: Moves first in every game.
        second: Answers.
        stream: Integers (N,), the dice stream of each game.
        rules: Rules of every game.
        seed: Seed of dice and ties.
        luck: Judges the luck of every roll, whoever plays it.
        stop: Once set, by another thread, the games are abandoned.

    Raises:
        RuntimeError: If a game does not end within `MAX_TURNS` turns.
    """
    games = new_games(stream, rules)
    n = len(games)
    results = GameResults.blank(n)
    playing = np.arange(n)
    for turn in range(MAX_TURNS):
        if stop is not None and stop.is_set():
            raise StoppedError
        on_roll = (first, second)[turn % 2]
        dice = roll(games, seed, rules)
        if luck is not None:
            sign = -1.0 if turn % 2 else 1.0
            results.luck[playing] += sign * roll_luck(luck, games.boards, dice, games.moved_first, rules)
        decisions = decide(games, dice, rules)
        ties = dice_lib.bits(seed, dice_lib.TIES, games.stream, games.turn)
        boards, offsets = decisions.afterstates
        chosen = boards[choose(on_roll.scores(decisions), offsets, ties)]
        games, outcome, points = apply(games, chosen, rules)
        over = outcome >= 0
        if over.any():
            ended = playing[over]
            second_moved = turn % 2 == 1
            results.outcome[ended] = 2 * levels(rules) - outcome[over] if second_moved else outcome[over]
            results.points[ended] = -points[over] if second_moved else points[over]
            results.turns[ended] = turn + 1
            games, playing = games.take(~over), playing[~over]
            if not len(playing):
                return results
    raise RuntimeError(f"the game on dice stream {games.stream[0]}, seed {seed}, has not ended after {MAX_TURNS} turns")


def play_match(
    a: Agent,
    b: Agent,
    rules: Rules,
    pairs: int,
    seed: int,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    luck: Evaluator | None = None,
) -> MatchResult:
    """Plays `pairs` pairs of games between two agents.

    Args:
        a: An agent; several threads call its `scores` at once if `threads` > 1.
        b: Its opponent, which may be the same object.
        rules: Rules of every game.
        pairs: Pairs to play, at least 1; pair k uses dice stream k.
        seed: Seed of dice and ties, 0 to 2**64 - 1.
        threads: Chunks played at once. The result is the same for any number.
        progress: Called in the caller's thread with the number of pairs finished so far, after every chunk.
        luck: Judges the luck of every roll, for `MatchResult.adjusted`; one common judge for both, made for `rules`. It
            looks at 21 rolls for each one thrown: about 80 µs a turn with 256/32 units.

    Returns:
        The result in A's view.

    Raises:
        ValueError: If `pairs` or `threads` is below 1, or an agent was made for the other geometry.
        ExternalError: An external program failed; `play_or_forfeit` makes a result of that.
        KeyboardInterrupt: Passed on after the threads have stopped (within one turn of their batches).
    """
    check_match(a, b, rules, pairs, threads)

    def play(streams: NDArray[np.int64], stop: threading.Event) -> tuple[GameResults, GameResults]:
        return (
            play_games(a, b, streams, rules, seed, luck=luck, stop=stop),
            play_games(b, a, streams, rules, seed, luck=luck, stop=stop),
        )

    played = in_chunks(play, pairs, threads, progress, (a, b))
    return match_result(a.spec, b.spec, rules, seed, played, judged=luck is not None)


def check_match(a: Agent, b: Agent, rules: Rules, pairs: int, threads: int) -> None:
    """Raises a ValueError if `pairs` or `threads` is below 1, or an agent was made for the other geometry."""
    if pairs < 1:
        raise ValueError(f"pairs={pairs} is not allowed; give at least 1")
    if threads < 1:
        raise ValueError(f"threads={threads} is not allowed; give at least 1")
    for agent in (a, b):
        if agent.rules.geometry != rules.geometry:
            raise ValueError(f"agent {agent.spec!r} plays {agent.rules.geometry} nardy, the match is {rules.geometry}")


def in_chunks(
    play: Callable[[NDArray[np.int64], threading.Event], _Played],
    pairs: int,
    threads: int,
    progress: Callable[[int], None] | None,
    agents: Sequence[Agent],
) -> list[_Played]:
    """Plays `pairs` pairs in chunks of `CHUNK_PAIRS`, several at once.

    Args:
        play: Plays the pairs of the numbers int64 (n,) it is given. Once the event is set, it raises `StoppedError`.
        pairs: Pairs to play.
        threads: Chunks played at once.
        progress: Called in the caller's thread with the number of pairs finished so far, after every chunk.
        agents: Closed if something fails, as a thread may be waiting for a program.

    Returns:
        What `play` returned, in the order of the numbers.
    """
    chunks = [np.arange(k, min(k + CHUNK_PAIRS, pairs)) for k in range(0, pairs, CHUNK_PAIRS)]
    stop = threading.Event()
    played: dict[int, _Played] = {}
    finished = 0
    futures: dict[Future[_Played], int] = {}
    with ThreadPoolExecutor(threads, thread_name_prefix="arena") as pool:
        try:
            futures = {pool.submit(play, numbers, stop): k for k, numbers in enumerate(chunks)}
            for future in as_completed(futures):
                k = futures[future]
                played[k] = future.result()
                finished += len(chunks[k])
                if progress is not None:
                    progress(finished)
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            begun = [future for future in futures if not future.cancelled()]
            while wait(begun, timeout=0.1).not_done:  # a thread may be waiting for a program, or just starting one
                close(*agents)
            close(*agents)
            raise
    return [played[k] for k in range(len(chunks))]


def match_result(
    a: str,
    b: str,
    rules: Rules,
    seed: int,
    played: Sequence[tuple[GameResults, GameResults]],
    *,
    judged: bool = False,
    cube: bool = False,
) -> MatchResult:
    """A's result, from the games of each chunk that A moved first in, and those that B did.

    Args:
        a: Spec of A.
        b: Spec of B.
        rules: Rules of every game.
        seed: Seed of dice and ties.
        played: Per chunk.
        judged: Luck was judged.
        cube: There was a cube.
    """
    a_first, b_first = (
        GameResults(*(np.concatenate(field) for field in zip(*games, strict=True)))
        for games in zip(*played, strict=True)
    )
    points = np.stack([a_first.points, -b_first.points], axis=1)
    return MatchResult(
        a=a,
        b=b,
        rules=rules,
        seed=seed,
        outcome=np.stack([a_first.outcome, 2 * levels(rules) - b_first.outcome], axis=1),
        points=points,
        turns=np.stack([a_first.turns, b_first.turns], axis=1),
        adjusted=points - np.stack([a_first.luck, -b_first.luck], axis=1) if judged else None,
        cube=np.stack([a_first.cube, b_first.cube], axis=1) if cube else None,
    )


def play_or_forfeit(
    a: Agent,
    b: Agent,
    rules: Rules,
    pairs: int,
    seed: int,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    luck: Evaluator | None = None,
) -> MatchResult:
    """`play_match`, where an external program that fails loses the whole match (see `MatchResult.forfeit`).

    What was played until then counts for nothing: how far it got depends on the threads, and on the clock. An agent
    that fails against itself loses as A.
    """
    try:
        return play_match(a, b, rules, pairs, seed, threads, progress, luck)
    except ExternalError as error:
        sign = -1 if error.agent is a else 1
        worst = LEVELS[rules.scoring][-1][1] * (CHECKERS if rules.scoring == "checkers" else 1)
        return MatchResult(
            a=a.spec,
            b=b.spec,
            rules=rules,
            seed=seed,
            outcome=np.full((pairs, 2), levels(rules) * (1 + sign)),
            points=np.full((pairs, 2), float(sign * worst)),
            turns=np.zeros((pairs, 2), dtype=np.int64),
            forfeit=Forfeit(error.agent.spec, error.reason),
        )


def close(*agents: Agent) -> None:
    """Ends the programs of those agents that have one, and what a thread is asking gnubg."""
    for agent in agents:
        if isinstance(agent, ExternalAgent | GnubgAgent):
            agent.close()


def round_robin(
    agents: Sequence[str | Agent],
    rules: Rules,
    pairs: int,
    seed: int,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    *,
    search: SearchConfig | None = None,
    external: ExternalConfig | None = None,
    luck: Evaluator | None = None,
) -> list[MatchResult]:
    """Plays a match between every two of the agents, all on the same dice.

    An external program that fails loses its match (`play_or_forfeit`); none is left running at the end.

    Args:
        agents: Two or more agents, or specs for `make_agent`; the same one twice is allowed.
        rules: Rules of every game.
        pairs: Pairs in each match.
        seed: Seed of dice and ties.
        threads: As in `play_match`.
        progress: Called with the number of pairs finished so far, all matches together.
        search: Move filters of agents that search, named by a spec.
        external: Patience with external programs named by a spec.
        luck: As in `play_match`.

    Returns:
        One result for each unordered pair, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Raises:
        ValueError: With fewer than two agents, for an unknown spec, and as `play_match`.
    """
    return each_two(
        agents,
        rules,
        lambda a, b, done: play_or_forfeit(a, b, rules, pairs, seed, threads, done, luck),
        pairs,
        progress,
        search=search,
        external=external,
    )


def each_two(
    agents: Sequence[str | Agent],
    rules: Rules,
    play: Callable[[Agent, Agent, Callable[[int], None]], _Played],
    pairs: int,
    progress: Callable[[int], None] | None = None,
    *,
    search: SearchConfig | None = None,
    external: ExternalConfig | None = None,
) -> list[_Played]:
    """Plays a match between every two of the agents; no external program is left running at the end.

    Args:
        agents: As in `round_robin`.
        rules: Rules of every game.
        play: Plays one match, of `pairs` pairs, calling its third argument with the number finished so far.
        pairs: Pairs in each match.
        progress: As in `round_robin`.
        search: As in `round_robin`.
        external: As in `round_robin`.

    Raises:
        ValueError: With fewer than two agents, or for an unknown spec.
    """
    if len(agents) < 2:
        raise ValueError(f"a round robin needs at least two agents, not {len(agents)}")
    players = [
        make_agent(agent, rules, search=search, external=external) if isinstance(agent, str) else agent
        for agent in agents
    ]
    results: list[_Played] = []
    try:
        for a, b in itertools.combinations(players, 2):
            before = len(results) * pairs

            def in_all(finished: int, before: int = before) -> None:
                if progress is not None:
                    progress(before + finished)

            results.append(play(a, b, in_all))
            in_all(pairs)
    finally:
        close(*players)
    return results


def matches_as_json(results: Iterable[MatchResult], rules_name: str) -> dict[str, Any]:
    """The results as plain JSON values, A's view; an interval that does not exist (one pair) is [null, null]."""
    return {
        "rules": rules_name,
        "matches": [
            {
                "a": result.a,
                "b": result.b,
                "pairs": result.pairs,
                "ppg": result.ppg,
                "ci95": interval_as_json(result.ci95),
                "win": result.win,
                "mars_for": result.mars_for,
                "mars_against": result.mars_against,
                "draw": result.draw,
                "mean_turns": result.mean_turns,
                "first_edge": result.first_edge,
                "seed": result.seed,
                "forfeit": None if result.forfeit is None else result.forfeit._asdict(),
                **_adjusted_as_json(result),
                **({} if result.cube is None else {"mean_cube": float(result.cube.mean())}),
            }
            for result in results
        ],
    }


def _adjusted_as_json(result: MatchResult) -> dict[str, Any]:
    if result.adjusted_ci95 is None:
        return {}
    return {"adjusted_ppg": result.adjusted_ppg, "adjusted_ci95": interval_as_json(result.adjusted_ci95)}


def interval_as_json(ends: tuple[float, float]) -> list[float | None]:
    """Both ends of an interval; [None, None] if there is none, as JSON knows no infinity."""
    return [end if math.isfinite(end) else None for end in ends]


def match_table(results: Iterable[MatchResult]) -> Table:
    """The results as a table for the screen, one row a match, A's view; another one for what is left without luck."""
    results = list(results)
    mars = double_win(results[0].rules) if results else "mars"
    headings = ("points\nper game", "95%\ninterval", "win", f"{mars}\nfor", f"{mars}\nagainst", "games")
    table = pairs_table("games", headings)
    shown = short_names({spec for result in results for spec in (result.a, result.b)})
    for result in results:
        names = (shown[result.a], shown[result.b])
        if result.forfeit is not None:
            table.add_row(*names, f"{result.ppg:+.3f}", "forfeit", "-", "-", "-", "0")
            continue
        shares = (f"{100 * share:.1f}%" for share in (result.win, result.mars_for, result.mars_against))
        table.add_row(*names, f"{result.ppg:+.3f}", interval_text(result.ci95), *shares, f"{result.games:,}")
        if result.adjusted_ci95 is not None:
            table.add_row("", "less luck", f"{result.adjusted_ppg:+.3f}", interval_text(result.adjusted_ci95))
    return table


def pairs_table(played: str, headings: Iterable[str]) -> Table:
    """An empty table of results between two agents: A, B, and a column of numbers for each heading.

    Args:
        played: What a pair has two of: games, or matches.
        headings: Of the numbers.
    """
    caption = f"A's view; interval from pairs of {played} on the same dice with seats swapped"
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False, caption=caption)
    for heading in ("A", "B"):
        table.add_column(heading, overflow="fold", min_width=len("heuristic"))
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def double_win(rules: Rules) -> str:
    """What a win of the second level is called: mars, or gammon in short nardy."""
    return LEVELS[rules.scoring][1][0]


def interval_text(ends: tuple[float, float]) -> str:
    """Both ends of an interval, or a dash if there is none."""
    low, high = ends
    return f"{low:+.3f} {high:+.3f}" if math.isfinite(low) else "-"


def forfeit_lines(results: Iterable[MatchResult]) -> list[str]:
    """What failed in the forfeited matches, a line each."""
    return [
        f"{result.forfeit.by} forfeits against {result.b if result.forfeit.by == result.a else result.a}: "
        f"it {result.forfeit.reason}"
        for result in results
        if result.forfeit is not None
    ]


def short_names(specs: set[str]) -> dict[str, str]:
    """What stands for each spec in a narrow table: the last part of a path, where that tells them apart."""
    names = {spec: Path(spec).name or spec for spec in specs}
    return names if len(set(names.values())) == len(specs) else {spec: spec for spec in specs}
