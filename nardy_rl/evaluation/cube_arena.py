"""Matches between agents with the doubling cube: money play, and match play with the Crawford rule (R8.6).

As in the `arena`, a pair is played twice on the same dice with the seats swapped, chunks have a fixed size, and any
number of threads gives the same numbers. Nobody doubles before the first throw of a game.
"""

import dataclasses
import math
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.table import Table

from nardy_rl.agents.base import Agent, choose, decide
from nardy_rl.agents.luck import roll_luck
from nardy_rl.config import EvaluateConfig
from nardy_rl.cube.chances import check_rules
from nardy_rl.cube.decision import CENTRED, OPPONENT
from nardy_rl.cube.match import Scores
from nardy_rl.cube.met import LONGEST, match_table
from nardy_rl.cube.player import BEAVER, PASS, CubePlayer
from nardy_rl.evaluation.arena import (
    GameResults,
    MatchResult,
    StoppedError,
    check_match,
    each_two,
    in_chunks,
    interval,
    interval_as_json,
    match_result,
    pairs_table,
    round_robin,
    short_names,
)
from nardy_rl.evaluation.arena import match_table as match_table_of_points
from nardy_rl.evaluation.arena import matches_as_json as points_as_json
from nardy_rl.game import FIRST, MAX_TURNS, SECOND, apply, new_games, roll
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.scoring import levels
from nardy_rl.rules.spec import Rules
from nardy_rl.value.evaluator import Evaluator


def play_games_with_cube(
    first: CubePlayer,
    second: CubePlayer,
    stream: ArrayLike,
    rules: Rules,
    seed: int,
    *,
    away: NDArray[np.int64] | None = None,
    crawford: NDArray[np.bool_] | None = None,
    luck: Evaluator | None = None,
    stop: threading.Event | None = None,
) -> GameResults:
    """Plays one game on each dice stream, all in step: double, answer, roll, choose, apply.

    A passed double ends its game as a single win, at the cube as it stood.

    Args:
        first: Moves first in every game.
        second: Answers.
        stream: Integers (N,), the dice stream of each game.
        rules: Rules of every game.
        seed: Seed of dice and ties.
        away: int64 (N, 2), points that `first` and `second` need in their matches; None in money play.
        crawford: bool (N,), Crawford games; none if not given.
        luck: Judges the luck of every roll, times the cube.
        stop: Once set, by another thread, the games are abandoned.

    Raises:
        RuntimeError: If a game does not end within `MAX_TURNS` turns.
    """
    games = new_games(stream, rules)
    n = len(games)
    jacoby = away is None and first.config.jacoby
    results = GameResults.blank(n)
    playing = np.arange(n)
    scores = Scores(
        np.zeros((n, 2), dtype=np.int64) if away is None else away,
        np.zeros(n, dtype=np.bool_) if crawford is None else crawford,
        results.cube,
        np.full(n, CENTRED, dtype=np.int8),
    )
    for turn in range(MAX_TURNS):
        if stop is not None and stop.is_set():
            raise StoppedError
        side = turn % 2
        sign = -1.0 if side else 1.0
        player, opponent = (second, first) if side else (first, second)
        if turn:
            passed, scores = _double(player, opponent, games.boards, games.moved_first, scores)
            if passed.any():
                ended = playing[passed]
                results.outcome[ended] = levels(rules) + int(sign)
                results.points[ended] = sign * scores.cube[passed]
                results.turns[ended] = turn
                results.cube[ended] = scores.cube[passed]
                games, playing, scores = games.take(~passed), playing[~passed], scores.take(~passed)
                if not len(playing):
                    return results
        dice = roll(games, seed, rules)
        if luck is not None:
            gained = roll_luck(luck, games.boards, dice, games.moved_first, rules)
            results.luck[playing] += sign * scores.cube * gained
        decisions = decide(games, dice, rules)
        ties = dice_lib.bits(seed, dice_lib.TIES, games.stream, games.turn)
        boards, offsets = decisions.afterstates
        chosen = boards[choose(player.rank(decisions, scores), offsets, ties)]
        games, outcome, points = apply(games, chosen, rules)
        over = outcome >= 0
        if over.any():
            ended = playing[over]
            results.outcome[ended] = 2 * levels(rules) - outcome[over] if side else outcome[over]
            single = (scores.owner[over] == CENTRED) & jacoby
            results.points[ended] = sign * scores.cube[over] * np.where(single, np.sign(points[over]), points[over])
            results.turns[ended] = turn + 1
            results.cube[ended] = scores.cube[over]
            games, playing, scores = games.take(~over), playing[~over], scores.take(~over)
            if not len(playing):
                return results
        scores = scores.swapped
    raise RuntimeError(f"the game on dice stream {games.stream[0]}, seed {seed}, has not ended after {MAX_TURNS} turns")


def _double(
    player: CubePlayer, opponent: CubePlayer, boards: NDArray[np.int8], moved_first: NDArray[np.bool_], scores: Scores
) -> tuple[NDArray[np.bool_], Scores]:
    """Which games end by a passed double, bool (N,), and the scores after the doubles that were taken."""
    passed = np.zeros(len(boards), dtype=np.bool_)
    doubled = np.flatnonzero(player.wants_to_double(boards, moved_first, scores))
    if not doubled.size:
        return passed, scores
    answers = opponent.answers(boards[doubled], moved_first[doubled], scores.take(doubled))
    passed[doubled] = answers == PASS
    taken = answers != PASS
    cube, owner = scores.cube.copy(), scores.owner.copy()
    cube[doubled[taken]] *= np.where(answers[taken] == BEAVER, 4, 2)
    owner[doubled[taken]] = OPPONENT
    return passed, scores._replace(cube=cube, owner=owner)


def play_money(
    a: CubePlayer,
    b: CubePlayer,
    rules: Rules,
    pairs: int,
    seed: int,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    luck: Evaluator | None = None,
) -> MatchResult:
    """Plays `pairs` pairs of single games for points times the cube; arguments as in `arena.play_match`.

    Luck times the cube is subtracted where it is judged: unbiased, as a roll's luck is 0 on average at any cube.

    Raises:
        ValueError: As `arena.play_match`, or the rules know no cube.
    """
    check_match(a.agent, b.agent, rules, pairs, threads)
    check_rules(rules)

    def play(streams: NDArray[np.int64], stop: threading.Event) -> tuple[GameResults, GameResults]:
        return (
            play_games_with_cube(a, b, streams, rules, seed, luck=luck, stop=stop),
            play_games_with_cube(b, a, streams, rules, seed, luck=luck, stop=stop),
        )

    played = in_chunks(play, pairs, threads, progress, (a.agent, b.agent))
    return match_result(a.agent.spec, b.agent.spec, rules, seed, played, judged=luck is not None, cube=True)


@dataclasses.dataclass(frozen=True, eq=False)
class MatchesResult:
    """What matches to `length` points between A and B came to.

    Axis 1 of the arrays is who moved first in the first game of that match of the pair: A, B.

    Attributes:
        a: Spec of A.
        b: Spec of B.
        rules: Rules of every game.
        seed: Seed of dice and ties.
        length: Points that win a match.
        score: int64 (pairs, 2, 2), points of A and of B at the end, axis 2.
        games: int64 (pairs, 2), games played.
    """

    a: str
    b: str
    rules: Rules
    seed: int
    length: int
    score: NDArray[np.int64]
    games: NDArray[np.int64]

    @property
    def won(self) -> NDArray[np.bool_]:
        """Bool (pairs, 2): A won the match."""
        won: NDArray[np.bool_] = self.score[..., 0] >= self.length
        return won

    @property
    def win(self) -> float:
        """Share of matches that A won."""
        return float(self.won.mean())

    @property
    def ci95(self) -> tuple[float, float]:
        """95% interval of `win`, over pairs."""
        return interval(self.won.mean(axis=1))


def play_matches(
    a: CubePlayer,
    b: CubePlayer,
    rules: Rules,
    pairs: int,
    length: int,
    seed: int,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> MatchesResult:
    """Plays `pairs` pairs of matches to `length` points, with the Crawford rule.

    Game g of both matches of pair k has dice stream 2 * length * k + g. Who starts a game follows `rules.next_game`.

    Args:
        a: An agent at the cube, with a match equity table.
        b: Its opponent, as `a`.
        rules: Rules of every game.
        pairs: Pairs of matches, at least 1.
        length: Points that win a match, at least 1.
        seed: Seed of dice and ties.
        threads: Chunks of pairs played at once. The result is the same for any number.
        progress: Called with the number of pairs finished so far, after every chunk.

    Raises:
        ValueError: As `arena.play_match`; or the rules know no cube, the length is not allowed, or no table is given.
    """
    check_match(a.agent, b.agent, rules, pairs, threads)
    check_rules(rules)
    for player in (a, b):
        if player.table is None or not 1 <= length <= player.table.length:
            raise ValueError(f"length={length} is not allowed; give 1 to the length of the match equity table")

    def play(numbers: NDArray[np.int64], stop: threading.Event) -> tuple[_Matches, _Matches]:
        return (
            _play_matches((a, b), numbers, rules, length, seed, stop),
            _play_matches((b, a), numbers, rules, length, seed, stop),
        )

    played = in_chunks(play, pairs, threads, progress, (a.agent, b.agent))
    a_first, b_first = (
        tuple(np.concatenate(field) for field in zip(*matches, strict=True)) for matches in zip(*played, strict=True)
    )
    return MatchesResult(
        a=a.agent.spec,
        b=b.agent.spec,
        rules=rules,
        seed=seed,
        length=length,
        score=np.stack([a_first[0], b_first[0][:, ::-1]], axis=1),
        games=np.stack([a_first[1], b_first[1]], axis=1),
    )


_Matches = tuple[NDArray[np.int64], NDArray[np.int64]]


def _play_matches(
    players: tuple[CubePlayer, CubePlayer],
    numbers: NDArray[np.int64],
    rules: Rules,
    length: int,
    seed: int,
    stop: threading.Event,
) -> _Matches:
    """One match for each number: points at the end, int64 (N, 2), and games played, int64 (N,).

    Player 0 starts the first game.
    """
    n = len(numbers)
    score = np.zeros((n, 2), dtype=np.int64)
    played = np.zeros(n, dtype=np.int64)
    starter = np.zeros(n, dtype=np.int64)
    crawford_over = np.zeros(n, dtype=np.bool_)
    for game in range(2 * length - 1):
        going_on = (score < length).all(axis=1)
        crawford = going_on & ~crawford_over & (score == length - 1).any(axis=1)
        streams = 2 * length * numbers + game
        for side in (FIRST, SECOND):
            rows = np.flatnonzero(going_on & (starter == side))
            if not rows.size:
                continue
            order = [side, 1 - side]
            results = play_games_with_cube(
                players[side],
                players[1 - side],
                streams[rows],
                rules,
                seed,
                away=(length - score[rows])[:, order],
                crawford=crawford[rows],
                stop=stop,
            )
            winner = np.where(results.points > 0, side, 1 - side)
            score[rows, winner] += np.abs(results.points).astype(np.int64)
            played[rows] += 1
            if rules.next_game == "winner":
                starter[rows] = winner
        crawford_over |= crawford
        if rules.next_game == "alternate":
            starter = 1 - starter
        elif rules.next_game == "lot":
            starter = (dice_lib.bits(seed, dice_lib.LOT, streams + 1, 1) % np.uint64(2)).astype(np.int64)
    return score, played


CUBES = ("none", "money", "match")
"""What is played by `EvaluateConfig.cube`."""


def check_cube(config: EvaluateConfig, rules: Rules) -> None:
    """Raises a ValueError that names the field, its value and what is allowed."""
    if config.cube not in CUBES:
        raise ValueError(f"cube={config.cube!r} is not allowed; choose one of {', '.join(CUBES)}")
    if config.cube == "none":
        return
    check_rules(rules)
    config.doubling.check()
    if config.cube == "match":
        if config.length < 1:
            raise ValueError(f"length={config.length} is not allowed; give 1 point or more")
        if config.luck is not None:
            raise ValueError("luck is judged in points, not by the score of a match; leave it out, or give cube=money")


def evaluate(
    config: EvaluateConfig,
    rules: Rules,
    progress: Callable[[int], None] | None = None,
    luck: Evaluator | None = None,
) -> list[MatchResult] | list[MatchesResult]:
    """The round robin of a config, with a cube or without (`arena.round_robin`).

    With a cube, an external program that fails ends it all.

    Args:
        config: Who plays what.
        rules: Rules of every game, those of the config.
        progress: Called with the number of pairs finished so far, all matches together.
        luck: Judges the luck of every roll.

    Raises:
        ValueError: As `check_cube` and `arena.round_robin`.
        ExternalError: See above.
    """
    check_cube(config, rules)
    pairs, seed, threads = config.pairs, config.seed, config.threads
    if config.cube == "none":
        return round_robin(
            config.agents, rules, pairs, seed, threads, progress,
            search=config.search, external=config.external, luck=luck,
        )  # fmt: skip
    table = match_table(max(config.length, LONGEST)) if config.cube == "match" else None

    def at_the_cube(agent: Agent) -> CubePlayer:
        return CubePlayer(agent, config.doubling, table)

    def money(a: Agent, b: Agent, done: Callable[[int], None]) -> MatchResult:
        return play_money(at_the_cube(a), at_the_cube(b), rules, pairs, seed, threads, done, luck)

    def matches(a: Agent, b: Agent, done: Callable[[int], None]) -> MatchesResult:
        return play_matches(at_the_cube(a), at_the_cube(b), rules, pairs, config.length, seed, threads, done)

    if table is None:
        return each_two(config.agents, rules, money, pairs, progress, search=config.search, external=config.external)
    return each_two(config.agents, rules, matches, pairs, progress, search=config.search, external=config.external)


def results_table(results: list[MatchResult] | list[MatchesResult]) -> Table:
    """The results of `evaluate` as a table for the screen."""
    points, matches = _kinds(results)
    if matches:
        return matches_table(matches)
    table = match_table_of_points(points)
    if any(result.cube is not None for result in points):
        table.caption = f"{table.caption}; points count the cube"
    return table


def results_as_json(results: list[MatchResult] | list[MatchesResult], config: EvaluateConfig) -> dict[str, Any]:
    """The results of `evaluate` as plain JSON values, with the settings of the cube if there was one."""
    points, matches = _kinds(results)
    found = matches_as_json(matches, config.rules) if matches else points_as_json(points, config.rules)
    doubling = {} if config.cube == "none" else {"cube": config.cube, "doubling": dataclasses.asdict(config.doubling)}
    return {**found, **doubling}


def _kinds(results: list[MatchResult] | list[MatchesResult]) -> tuple[list[MatchResult], list[MatchesResult]]:
    return (
        [result for result in results if isinstance(result, MatchResult)],
        [result for result in results if isinstance(result, MatchesResult)],
    )


def matches_table(results: Iterable[MatchesResult]) -> Table:
    """The results as a table for the screen, one row for each two agents, A's view."""
    headings = ("points of\na match", "matches\nwon", "95%\ninterval", "games\na match", "matches")
    table = pairs_table("matches", headings)
    results = list(results)
    shown = short_names({spec for result in results for spec in (result.a, result.b)})
    for result in results:
        low, high = (100 * end for end in result.ci95)
        table.add_row(
            shown[result.a],
            shown[result.b],
            str(result.length),
            f"{100 * result.win:.1f}%",
            f"{low:.1f}% {high:.1f}%" if math.isfinite(low) else "-",
            f"{result.games.mean():.1f}",
            f"{result.games.size:,}",
        )
    return table


def matches_as_json(results: Iterable[MatchesResult], rules_name: str) -> dict[str, Any]:
    """The results as plain JSON values, A's view; an interval that does not exist (one pair) is [null, null]."""
    return {
        "rules": rules_name,
        "matches": [
            {
                "a": result.a,
                "b": result.b,
                "pairs": len(result.games),
                "length": result.length,
                "win": result.win,
                "ci95": interval_as_json(result.ci95),
                "mean_games": float(result.games.mean()),
                "seed": result.seed,
            }
            for result in results
        ],
    }
