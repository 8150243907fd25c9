"""A league: every two agents play a match, in a folder that agents may join later; standings with ratings.

    league.json     rules, pairs, seed, move filters; the agents, each net with the digest of its weights
    matches/*.json  a file for each finished match, written once
    report/         standings.csv, matches.csv, results.json, strength.svg, strength.png: made anew each time

All matches are played on the same dice, so a match is the same whenever it is played, and a league that was stopped
or that grew comes to the same as one played at once.

**Ratings** are those of Bradley and Terry (Biometrika 39, 1952) on Elo's scale, found by `choix` (Maystre and
Grossglauser, "Fast and accurate inference of Plackett-Luce models", NIPS 2015): the chance that A wins a game against B
is 1 / (1 + 10**((B - A) / 400)). A won game is one win, however it is won: mars counts in the points per game only. A
draw is half a win for each. The mean rating is 0. Agents that won or lost everything, or never met, have no finite
rating by their games alone; so `PRIOR_GAMES` drawn games between every two agents are added, against which a match of
some hundred games weighs little. Intervals come from playing the league again in thought with its pairs drawn with
replacement (bootstrap): pair k of all matches, which has the same dice in each, is drawn or not as one.
"""

import csv
import dataclasses
import glob
import hashlib
import io
import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import choix
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich import box
from rich.table import Table

from nardy_rl.agents.base import Agent
from nardy_rl.agents.external import PREFIX
from nardy_rl.agents.registry import AGENT_KINDS, make_agent
from nardy_rl.agents.search import SearchConfig
from nardy_rl.config import LeagueConfig
from nardy_rl.evaluation.arena import (
    Z95,
    Forfeit,
    MatchResult,
    close,
    double_win,
    forfeit_lines,
    matches_as_json,
    play_or_forfeit,
    short_names,
)
from nardy_rl.evaluation.figures import save_svg
from nardy_rl.files import new_folder, write_json, write_text
from nardy_rl.rules.scoring import levels
from nardy_rl.rules.spec import Rules, make_rules, rules_as_dict, rules_from_dict
from nardy_rl.value.checkpoint import META, RUN_CHECKPOINTS, WEIGHTS, newest_checkpoint, read_meta, weights_checksum

FORMAT = 1
LEAGUE, MATCHES, REPORT = "league.json", "matches", "report"

PRIOR_GAMES = 1.0
"""Drawn games added between every two agents before ratings are fitted."""

ELO = 400.0 / math.log(10.0)
"""Elo points in a unit of log-odds."""


@dataclasses.dataclass(frozen=True)
class Player:
    """An agent of a league.

    Attributes:
        spec: Its spec; of a net, with the folder of one checkpoint.
        games: Training games of the net; None for other agents.
        weights: SHA-256 of the net's weights, in hexadecimal; None for other agents.
    """

    spec: str
    games: int | None = None
    weights: str | None = None


@dataclasses.dataclass(frozen=True)
class Standing:
    """How an agent has done. Forfeited matches count in `forfeits` only; None where there is nothing to go by.

    Attributes:
        player: Who.
        matches: Matches played.
        forfeits: Matches lost by failing (see `arena.play_or_forfeit`).
        rating: Elo points above the mean of the league.
        interval: 95% interval of `rating`.
        bounded: Is the rating one that games alone would give, without `PRIOR_GAMES`?
        ppg: Mean points per game over its matches.
        half_width: Half of the 95% interval of `ppg`; None for a single pair.
        win: Share of games won.
        draw: Share of games drawn.
        mars_for: Share of games won by mars or more.
        mars_against: Share of games lost by mars or more.
    """

    player: Player
    matches: int
    forfeits: int
    rating: float | None = None
    interval: tuple[float, float] | None = None
    bounded: bool = False
    ppg: float | None = None
    half_width: float | None = None
    win: float | None = None
    draw: float | None = None
    mars_for: float | None = None
    mars_against: float | None = None


class League:
    """A league and its folder. Make one with `open_league`.

    Attributes:
        folder: Where it is kept.
        rules: Rules of every game.
        rules_name: The preset they came from.
        pairs: Pairs of games in each match.
        seed: Seed of dice and ties, the same for every match.
        search: Move filters of the agents that search.
        players: In the order they joined.
        results: Finished matches by the numbers (i, j), i < j, of their players; A is player i.
    """

    def __init__(
        self,
        folder: Path,
        rules: Rules,
        rules_name: str,
        pairs: int,
        seed: int,
        search: SearchConfig,
        players: Sequence[Player] = (),
    ) -> None:
        self.folder = folder
        self.rules = rules
        self.rules_name = rules_name
        self.pairs = pairs
        self.seed = seed
        self.search = search
        self.players = list(players)
        self.results: dict[tuple[int, int], MatchResult] = {}

    @property
    def gone(self) -> list[Player]:
        """Nets whose checkpoint is no longer there: they keep their results and play no more."""
        return [player for player in self.players if player.weights and not (_net_of(player.spec) / META).exists()]

    def unplayed(self) -> list[tuple[int, int]]:
        """Matches that are still to be played, by the numbers of their players."""
        gone = self.gone
        able = [number for number, player in enumerate(self.players) if player not in gone]
        return [match for match in itertools.combinations(able, 2) if match not in self.results]

    def save(self) -> None:
        """Writes league.json."""
        content = {
            "format": FORMAT,
            "preset": self.rules_name,
            "rules": rules_as_dict(self.rules),
            "pairs": self.pairs,
            "seed": self.seed,
            "search": dataclasses.asdict(self.search),
            "agents": [dataclasses.asdict(player) for player in self.players],
        }
        (self.folder / MATCHES).mkdir(parents=True, exist_ok=True)
        write_json(self.folder / LEAGUE, content)

    def record(self, match: tuple[int, int], result: MatchResult) -> None:
        """Keeps a finished match, in memory and on disk."""
        content = {
            "format": FORMAT,
            "a": result.a,
            "b": result.b,
            "seed": result.seed,
            "forfeit": None if result.forfeit is None else result.forfeit._asdict(),
            **{name: getattr(result, name).tolist() for name in ("outcome", "points", "turns")},
        }
        write_text(self._file(match), json.dumps(content, separators=(",", ":")) + "\n")
        self.results[match] = result

    def read_results(self) -> None:
        """Reads the finished matches from disk.

        Raises:
            ValueError: A file is damaged or belongs to another league.
        """
        for match in itertools.combinations(range(len(self.players)), 2):
            path = self._file(match)
            if path.exists():
                self.results[match] = self._read(path, match)

    def forget_forfeits(self) -> None:
        """Makes forfeited matches unplayed ones; their records stay until they are played again."""
        self.results = {match: result for match, result in self.results.items() if result.forfeit is None}

    def _file(self, match: tuple[int, int]) -> Path:
        specs = json.dumps([self.players[number].spec for number in match])
        return self.folder / MATCHES / f"{hashlib.sha256(specs.encode()).hexdigest()[:16]}.json"

    def _read(self, path: Path, match: tuple[int, int]) -> MatchResult:
        a, b = (self.players[number].spec for number in match)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if (content["format"], content["a"], content["b"], content["seed"]) != (FORMAT, a, b, self.seed):
                raise ValueError("it is of another match")
            outcome, turns = (np.array(content[name], dtype=np.int64) for name in ("outcome", "turns"))
            points = np.array(content["points"], dtype=np.float64)
            if any(array.shape != (self.pairs, 2) for array in (outcome, points, turns)):
                raise ValueError(f"there are not {self.pairs} pairs of games in it")
            if outcome.min() < 0 or outcome.max() > 2 * levels(self.rules):
                raise ValueError("there are outcomes in it that the scoring does not know")
            forfeit = None if content["forfeit"] is None else Forfeit(**content["forfeit"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged, delete it to have the match played again: {error}") from error
        return MatchResult(a, b, self.rules, self.seed, outcome, points, turns, forfeit)


# --- opening --------------------------------------------------------------------------------------------------------


def open_league(config: LeagueConfig, given: set[str] | None = None) -> League:
    """The league of a config, made if there is none yet, with the agents of the config joined.

    Args:
        config: Which league, who joins.
        given: Fields that hold even for a league that has begun, where they must be equal to its own; all of them if
            None. The others come from the league.

    Raises:
        ValueError: A setting differs from the league's, an agent cannot play, a net has changed, or a file is damaged.
    """
    if not config.name or "/" in config.name or config.name.startswith("."):
        raise ValueError(f"name={config.name!r} is not allowed; give the name of a folder")
    for field, low in (("pairs", 1), ("threads", 1), ("bootstrap", 2)):
        if getattr(config, field) < low:
            raise ValueError(f"{field}={getattr(config, field)} is not allowed; give {low} or more")
    if not 0 <= config.seed < 2**63:
        raise ValueError(f"seed={config.seed} is not allowed; give 0 to 2**63 - 1")
    config.external.check()
    config.search.check()
    folder = Path(config.leagues_dir) / config.name
    wanted = League(
        folder, make_rules(config.rules, config.options), config.rules, config.pairs, config.seed, config.search
    )
    if (folder / LEAGUE).exists():
        league = _read_league(folder)
        for fields, attribute in (
            (("rules", "options"), "rules"), (("pairs",), "pairs"), (("seed",), "seed"), (("search",), "search"),
        ):  # fmt: skip
            ours, theirs = getattr(league, attribute), getattr(wanted, attribute)
            if (given is None or given & set(fields)) and ours != theirs:
                raise ValueError(
                    f"{folder} has begun with other {attribute}{_difference(ours, theirs)}; "
                    "leave them out to go on with it, or give another name"
                )
    else:
        if folder.exists() and any(folder.iterdir()):
            raise ValueError(f"{folder} is not empty and no league (it has no {LEAGUE}); give another name")
        league = wanted
    known = {player.spec: player for player in league.players}
    for spec in expand(config.agents):
        player = player_of(spec)
        if spec not in known:
            close(make_agent(spec, league.rules, search=league.search, external=config.external))  # or says why not
            league.players.append(player)
        elif player != known[spec]:
            raise ValueError(f"{spec} is no longer the net that has joined {folder}; give the new one another name")
    if len(league.players) < 2:
        raise ValueError(f"a league needs at least two agents, not {len(league.players)}; agents=[SPEC,SPEC,...]")
    league.read_results()
    league.save()
    return league


def expand(specs: Sequence[str]) -> list[str]:
    """Specs with wildcards and run folders replaced by the checkpoints they stand for, none twice.

    A way to play is kept: `runs/big/checkpoints/*@1ply` are all checkpoints of the run, with one ply of search each.
    The checkpoints that one pattern fits are ordered by their training games.

    Raises:
        ValueError: A pattern fits no checkpoint.
    """
    found: list[str] = []
    for spec in specs:
        if spec.startswith(PREFIX) or spec in AGENT_KINDS:
            found.append(spec)
            continue
        path, way = _split(spec)
        if Path(path).is_dir() or not glob.has_magic(path):
            found.append(f"{_checkpoint(Path(path)) or path}{way}")
            continue
        folders = [_checkpoint(Path(match)) for match in glob.glob(path)]
        nets = sorted({folder for folder in folders if folder is not None}, key=lambda net: (_games(net) or 0, net))
        if not nets:
            raise ValueError(f"agents: there is no checkpoint that {spec!r} fits")
        found += [f"{net}{way}" for net in nets]
    return list(dict.fromkeys(found))


def player_of(spec: str) -> Player:
    """The player that a spec without wildcards names."""
    if spec.startswith(PREFIX) or spec in AGENT_KINDS or not (_net_of(spec) / META).exists():
        return Player(spec)
    net = _net_of(spec)
    try:
        weights = weights_checksum(net)
    except FileNotFoundError as error:
        raise ValueError(f"{net} has no {WEIGHTS}") from error
    return Player(spec, _games(net), weights)


def _split(spec: str) -> tuple[str, str]:
    """The path of a spec and its way to play, @ included; a folder whose name has an @ is a path."""
    path, at, way = spec.rpartition("@")
    return (spec, "") if not at or Path(spec).is_dir() else (path, at + way)


def _net_of(spec: str) -> Path:
    return Path(_split(spec)[0])


def _checkpoint(folder: Path) -> Path | None:
    """The checkpoint that a folder is, or its newest one if it is a run's."""
    return folder if (folder / META).exists() else newest_checkpoint(folder)


def _games(checkpoint: Path) -> int | None:
    games = read_meta(checkpoint).get("games")
    return games if isinstance(games, int) else None


def _read_league(folder: Path) -> League:
    path = folder / LEAGUE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']!r} is not {FORMAT}, which this version reads")
        return League(
            folder,
            rules_from_dict(content["rules"]),
            str(content["preset"]),
            int(content["pairs"]),
            int(content["seed"]),
            SearchConfig(**content["search"]),
            [Player(**player) for player in content["agents"]],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _difference(ours: Any, theirs: Any) -> str:
    """What differs between two settings: " (pairs 50, not 100)"."""
    if not dataclasses.is_dataclass(ours):
        return f" ({ours}, not {theirs})"
    names = [name for name in vars(ours) if getattr(ours, name) != getattr(theirs, name)]
    return " (" + ", ".join(f"{name}={getattr(ours, name)!r}, not {getattr(theirs, name)!r}" for name in names) + ")"


# --- playing --------------------------------------------------------------------------------------------------------


def play_league(league: League, config: LeagueConfig, progress: Callable[[int], None] | None = None) -> None:
    """Plays all matches that are still to be played; each is kept as soon as it is over.

    Args:
        league: From `open_league`.
        config: Its `threads`, `external` and `retry_forfeits` count.
        progress: Called with the number of pairs finished so far, all matches of this call together.

    Raises:
        ValueError: A net has changed since it joined.
        KeyboardInterrupt: Passed on; the match in progress is lost, the finished ones are kept.
    """
    if config.retry_forfeits:
        league.forget_forfeits()
    agents: dict[int, Agent] = {}
    matches = league.unplayed()
    try:
        for done, match in enumerate(matches):
            for number in match:
                if number not in agents:
                    player = league.players[number]
                    if player_of(player.spec) != player:
                        raise ValueError(f"{player.spec} is no longer the net that has joined {league.folder}")
                    agents[number] = make_agent(
                        player.spec, league.rules, search=league.search, external=config.external
                    )

            def in_all(finished: int, before: int = done * league.pairs) -> None:
                if progress is not None:
                    progress(before + finished)

            a, b = (agents[number] for number in match)
            result = play_or_forfeit(a, b, league.rules, league.pairs, league.seed, config.threads, in_all)
            close(a, b)
            league.record(match, result)
            in_all(league.pairs)
    finally:
        close(*agents.values())


# --- ratings --------------------------------------------------------------------------------------------------------


def bradley_terry(wins: NDArray[np.float64], start: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Elo ratings of mean 0, float64 (n,).

    Args:
        wins: float64 (n, n), games the agent of the row has won against that of the column; a draw is half a win for
            each.
        start: Ratings to begin the search at; those of a similar table save time.
    """
    n = len(wins)
    if n < 2:
        return np.zeros(n)
    prior = PRIOR_GAMES / 2 * (1 - np.eye(n))
    begin = None if start is None else start / ELO
    ratings = choix.ilsr_pairwise_dense(wins + prior, initial_params=begin, max_iter=10_000, tol=1e-7)
    result: NDArray[np.float64] = (ratings - ratings.mean()) * ELO
    return result


def bounded(wins: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whose rating is finite by the games alone, bool (n,).

    Ratings are comparable, without `PRIOR_GAMES`, among agents of which each has won against each, be it by way of
    others (Ford, American Mathematical Monthly 64, 1957). True for the largest such group; for nobody, if all groups
    are single agents.
    """
    n = len(wins)
    reaches = (wins > 0) | np.eye(n, dtype=np.bool_)
    for _ in range(n.bit_length()):
        reaches = reaches @ reaches
    group = reaches & reaches.T
    size = group.sum(axis=1)
    result: NDArray[np.bool_] = group[size.argmax()] & (size.max() > 1) if n else np.zeros(0, dtype=np.bool_)
    return result


def standings(league: League, bootstrap: int) -> list[Standing]:
    """How everybody has done, the highest rating first.

    Args:
        league: With its results.
        bootstrap: Resamplings behind the intervals; drawn by the league's seed.
    """
    n = len(league.players)
    played = {match: result for match, result in league.results.items() if result.forfeit is None}
    seen = sorted({number for match in played for number in match})
    place = {number: k for k, number in enumerate(seen)}
    first = np.array([place[a] for a, _ in played], dtype=np.int64)
    second = np.array([place[b] for _, b in played], dtype=np.int64)
    draw = levels(league.rules)
    scores = np.array([_scores(result.outcome, draw).sum(axis=1) for result in played.values()])

    def table(won: NDArray[np.float64]) -> NDArray[np.float64]:
        wins = np.zeros((len(seen), len(seen)))
        wins[first, second] = won
        wins[second, first] = 2 * league.pairs - won
        return wins

    elo = low = high = np.zeros(0)
    is_bounded = np.zeros(0, dtype=np.bool_)
    if played:
        wins = table(scores.sum(axis=1))
        elo, is_bounded = bradley_terry(wins), bounded(wins)
        weights = np.random.default_rng(league.seed).multinomial(
            league.pairs, np.full(league.pairs, 1 / league.pairs), size=bootstrap
        )
        samples = np.array([bradley_terry(table(won), elo) for won in weights @ scores.T])
        low, high = np.percentile(samples, [2.5, 97.5], axis=0)
        low, high = np.minimum(low, elo), np.maximum(high, elo)  # few pairs may leave the rating outside

    result = []
    for number in range(n):
        player = league.players[number]
        matches = [r if a == number else r.swapped() for (a, b), r in played.items() if number in (a, b)]
        forfeits = sum(r.forfeit is not None and r.forfeit.by == player.spec for r in league.results.values())
        if not matches:
            result.append(Standing(player, 0, forfeits))
            continue
        points = np.mean([match.pair_points for match in matches], axis=0)  # one number for each dice stream
        k = place[number]
        result.append(
            Standing(
                player,
                len(matches),
                forfeits,
                rating=float(elo[k]),
                interval=(float(low[k]), float(high[k])) if league.pairs > 1 else None,
                bounded=bool(is_bounded[k]),
                ppg=float(points.mean()),
                half_width=Z95 * float(points.std(ddof=1)) / math.sqrt(league.pairs) if league.pairs > 1 else None,
                win=float(np.mean([match.win for match in matches])),
                draw=float(np.mean([match.draw for match in matches])),
                mars_for=float(np.mean([match.mars_for for match in matches])),
                mars_against=float(np.mean([match.mars_against for match in matches])),
            )
        )
    return sorted(result, key=lambda standing: -math.inf if standing.rating is None else standing.rating, reverse=True)


def _scores(outcome: NDArray[np.int64], draw: int) -> NDArray[np.float64]:
    """1 for a win, 0.5 for a draw, 0 for a loss."""
    result: NDArray[np.float64] = (np.sign(outcome - draw) + 1) / 2
    return result


# --- what is shown and written --------------------------------------------------------------------------------------


def standings_table(table: Sequence[Standing], rules: Rules) -> Table:
    """The standings for the screen; fits 80 columns."""
    mars = double_win(rules)
    shown = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    shown.add_column("", justify="right", no_wrap=True)
    shown.add_column("agent", overflow="fold", min_width=len("heuristic"))
    for heading in (
        "rating",
        "95%\ninterval",
        "points\nper game",
        "95%",
        "win",
        f"{mars}\nfor",
        f"{mars}\nagainst",
        "matches",
    ):
        shown.add_column(heading, justify="right", no_wrap=True)
    names = short_names({standing.player.spec for standing in table})
    for place, standing in enumerate(table, start=1):
        cells = ["-"] * 8
        if standing.rating is not None and standing.ppg is not None:
            shares = (standing.win, standing.mars_for, standing.mars_against)
            cells = [
                f"{standing.rating:+.0f}{'' if standing.bounded else '*'}",
                "-" if standing.interval is None else "{:+.0f} {:+.0f}".format(*standing.interval),
                f"{standing.ppg:+.3f}",
                "-" if standing.half_width is None else f"±{standing.half_width:.3f}",
                *(f"{100 * (share or 0):.1f}%" for share in shares),
                str(standing.matches),
            ]
        shown.add_row(str(place), names[standing.player.spec], *cells)
    return shown


def cross_tables(league: League, table: Sequence[Standing], width: int) -> Iterator[Table]:
    """Who did what against whom: points per game of the row against the column, with half of their 95% interval.

    Args:
        league: With its results.
        table: From `standings`; gives the order.
        width: Columns of the screen; a league too large for it comes in several tables.
    """
    names = short_names({standing.player.spec for standing in table})
    name_width = min(max(map(len, names.values())), max(width // 3, 9))
    fitting = max((width - name_width - 5) // 8, 1)  # columns of 7 and a space; the places take up to 3 and a space
    number = {player.spec: k for k, player in enumerate(league.players)}
    for first in range(0, len(table), fitting):
        columns = range(first, min(first + fitting, len(table)))
        shown = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
        shown.add_column("", justify="right", no_wrap=True)
        shown.add_column("", overflow="fold", width=name_width)
        for k in columns:
            shown.add_column(str(k + 1), justify="right", no_wrap=True, min_width=7)
        for k, standing in enumerate(table):
            spec = standing.player.spec
            cells = [_cell(league, number[spec], number[table[other].player.spec]) for other in columns]
            shown.add_row(str(k + 1), names[spec], *cells)
        yield shown


def _cell(league: League, row: int, column: int) -> str:
    result = league.results.get((row, column)) or league.results.get((column, row))
    if row == column or result is None:
        return "" if row == column else "-"
    ppg = result.ppg if row < column else -result.ppg
    half = result.ci95[1] - result.ppg
    below = "forfeit" if result.forfeit is not None else f"±{half:.3f}" if math.isfinite(half) else ""
    return f"{ppg:+.3f}\n{below}"


def notes(league: League, table: Sequence[Standing]) -> list[str]:
    """What a reader of the tables must know besides."""
    lines = [
        f"Ratings: Bradley-Terry on Elo's scale, mean 0; a draw is half a win, {double_win(league.rules)} is one win."
    ]
    if any(standing.rating is not None and not standing.bounded for standing in table):
        lines.append(
            "* won or lost everything, or too few meetings: this rating is held finite only by "
            f"{PRIOR_GAMES:g} drawn game between every two agents."
        )
    missing = math.comb(len(league.players), 2) - len(league.results)
    if missing:
        lines.append(f"{missing} matches are not played; points per game depend on whom an agent has met.")
    forfeited = forfeit_lines(league.results.values())
    if forfeited:
        lines.append(f"Forfeited matches, in neither ratings nor points per game: {len(forfeited)}")
        lines += forfeited
    lines += [f"{player.spec} is gone; its unplayed matches are left out." for player in league.gone]
    return lines


def strength_figure(table: Sequence[Standing]) -> Figure | None:
    """Rating and points per game over training games, a line for each run; other agents are level lines.

    Returns:
        None if there is no net among the agents.
    """
    runs: dict[str, list[Standing]] = {}
    level: list[Standing] = []
    for standing in table:
        if standing.rating is None:
            continue
        if standing.player.games is None:
            level.append(standing)
        else:
            path, way = _split(standing.player.spec)
            net = Path(path)
            of_run = net.parent.name == RUN_CHECKPOINTS and net.name.isdigit()
            runs.setdefault(f"{net.parent.parent.name if of_run else net.name}{way}", []).append(standing)
    if not runs:
        return None
    all_met = len({standing.matches for standing in table}) == 1
    most = max(standing.player.games or 0 for run in runs.values() for standing in run)
    unit, scale = ("million", 1e6) if most >= 2e6 else ("thousand", 1e3)
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    by_rating, by_points = figure.subplots(1, 2)
    for k, (name, run) in enumerate(sorted(runs.items())):
        run.sort(key=lambda standing: standing.player.games or 0)
        xs = [(standing.player.games or 0) / scale for standing in run]
        for axes, values in ((by_rating, [_rating(s) for s in run]), (by_points, [_points(s) for s in run])):
            middle, low, high = np.array(values).T
            axes.errorbar(
                xs, middle, yerr=[middle - low, high - middle], color=f"C{k}", marker="o", markersize=4, capsize=2,
                linewidth=1.2, label=name,
            )  # fmt: skip
    for standing in level:
        for axes, value in ((by_rating, _rating(standing)[0]), (by_points, _points(standing)[0])):
            axes.axhline(value, color="0.5", linewidth=1, linestyle="--")
            name = short_names({standing.player.spec})[standing.player.spec]
            axes.annotate(
                name[:30], (1, value), (-2, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
                ha="right", va="bottom", fontsize=8, color="0.35",
            )  # fmt: skip
    for axes, label in (
        (by_rating, "rating (Elo, mean of the league 0)"),
        (by_points, "points per game " + ("in the league" if all_met else "(not all have met)")),
    ):
        axes.set(xlabel=f"{unit} training games", ylabel=label)
        axes.grid(alpha=0.3)
    figure.legend(*by_rating.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def _rating(standing: Standing) -> tuple[float, float, float]:
    assert standing.rating is not None
    return (standing.rating, *(standing.interval or (standing.rating, standing.rating)))


def _points(standing: Standing) -> tuple[float, float, float]:
    assert standing.ppg is not None
    half = standing.half_width or 0.0
    return standing.ppg, standing.ppg - half, standing.ppg + half


def write_report(league: League, table: Sequence[Standing]) -> Path:
    """Writes the folder report/ anew and returns it."""
    results = [league.results[match] for match in sorted(league.results)]
    matches = matches_as_json(results, league.rules_name)["matches"]
    rows = [
        {
            **dataclasses.asdict(standing.player),
            **{name: value for name, value in vars(standing).items() if name not in ("player", "interval")},
            "low": standing.interval and standing.interval[0],
            "high": standing.interval and standing.interval[1],
        }
        for standing in table
    ]
    figure = strength_figure(table)
    with new_folder(league.folder / REPORT) as folder:
        write_json(
            folder / "results.json",
            {
                "rules": league.rules_name,
                "options": rules_as_dict(league.rules),
                "pairs": league.pairs,
                "seed": league.seed,
                "notes": notes(league, table),
                "standings": rows,
                "matches": matches,
            },
        )
        write_text(folder / "standings.csv", _csv(rows))
        for match in matches:
            match["low"], match["high"] = match.pop("ci95")
            match["forfeit_by"], match["forfeit_reason"] = (match.pop("forfeit") or {"by": "", "reason": ""}).values()
        write_text(folder / "matches.csv", _csv(matches))
        if figure is not None:
            save_svg(figure, folder / "strength.svg")
            figure.savefig(folder / "strength.png", dpi=150)
    return league.folder / REPORT


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()
