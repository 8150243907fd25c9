"""The league: kept, resumed, grown, rated; and never blown up by who wins everything or plays nobody."""

import csv
import dataclasses
import io
import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from nardy_rl.agents.search import SearchConfig
from nardy_rl.config import LeagueConfig
from nardy_rl.evaluation import league as league_lib
from nardy_rl.evaluation.arena import Forfeit, MatchResult, play_match
from nardy_rl.evaluation.league import (
    League,
    Player,
    Standing,
    bounded,
    bradley_terry,
    cross_tables,
    expand,
    notes,
    open_league,
    play_league,
    player_of,
    standings,
    standings_table,
    strength_figure,
    write_report,
)
from nardy_rl.rules.spec import OFFICIAL, PRESETS, make_rules
from nardy_rl.value.checkpoint import save_checkpoint
from nardy_rl.value.net import NetConfig, make_net

ROOT = Path(__file__).parents[2]
FIELDS = ("outcome", "points", "turns")
BASELINES = ["random", "pips", "bearoff"]


def config_of(tmp_path: Path, agents: list[str] | None = None, **changes: Any) -> LeagueConfig:
    values = {"name": "test", "leagues_dir": str(tmp_path / "leagues"), "pairs": 3, "bootstrap": 50, "threads": 1}
    return LeagueConfig(agents=BASELINES if agents is None else agents, **(values | changes))


def played(config: LeagueConfig, given: set[str] | None = None) -> League:
    league = open_league(config, given)
    play_league(league, config)
    return league


def net(folder: Path, seed: int = 1, games: int = 0) -> Path:
    save_checkpoint(folder, make_net(NetConfig(hidden=8, hidden2=4), OFFICIAL, seed=seed), OFFICIAL, {"games": games})
    return folder


def same(one: League, two: League) -> bool:
    return one.results.keys() == two.results.keys() and all(
        (one.results[match].a, one.results[match].b) == (two.results[match].a, two.results[match].b)
        and all((getattr(one.results[match], name) == getattr(two.results[match], name)).all() for name in FIELDS)
        for match in one.results
    )


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def made_up(outcomes: dict[tuple[int, int], Any], players: int | None = None, pairs: int = 50) -> League:
    """A league with these results: A's outcome numbers (pairs, 2) of official games, or a forfeit by a player."""
    n = players or 1 + max(itertools.chain(*outcomes))
    league = League(
        Path("nowhere"), OFFICIAL, "official", pairs, 1, SearchConfig(), [Player(f"p{k}") for k in range(n)]
    )
    for (a, b), outcome in outcomes.items():
        array = np.broadcast_to(np.asarray(0 if isinstance(outcome, Forfeit) else outcome), (pairs, 2)).astype(np.int64)
        forfeit = outcome if isinstance(outcome, Forfeit) else None
        turns = np.full(array.shape, 90)
        league.results[a, b] = MatchResult(f"p{a}", f"p{b}", OFFICIAL, 1, array, array - 2.0, turns, forfeit)
    return league


def drawn_from(strengths: list[float], pairs: int, seed: int) -> League:
    """A league whose games are won as Bradley and Terry say, some of them by mars."""
    generator = np.random.default_rng(seed)
    outcomes = {}
    for a, b in itertools.combinations(range(len(strengths)), 2):
        chance = 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
        won = generator.random((pairs, 2)) < chance
        mars = generator.random((pairs, 2)) < 0.3
        outcomes[a, b] = np.where(won, 3 + mars, 1 - mars)
    return made_up(outcomes, pairs=pairs)


# --- playing ----------------------------------------------------------------------------------------------------------


def test_every_two_play_and_it_is_all_kept(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    seen: list[int] = []
    league = open_league(config)
    assert league.unplayed() == [(0, 1), (0, 2), (1, 2)]
    play_league(league, config, seen.append)
    assert seen[-1] == 9
    assert sorted(seen) == seen
    assert league.unplayed() == []
    agents = [league_lib.make_agent(spec, OFFICIAL) for spec in BASELINES]
    for (a, b), result in league.results.items():
        alone = play_match(agents[a], agents[b], OFFICIAL, 3, seed=1)
        assert all((getattr(result, name) == getattr(alone, name)).all() for name in FIELDS)
    again = open_league(config)
    assert again.players == league.players
    assert same(again, league)


def test_a_league_that_was_killed_goes_on_to_the_same_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = played(config_of(tmp_path, name="whole"))
    config = config_of(tmp_path, name="stopped")
    real, matches = league_lib.play_or_forfeit, 0

    def stops(*arguments: Any) -> MatchResult:
        nonlocal matches
        matches += 1
        if matches == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(league_lib, "play_or_forfeit", stops)
    with pytest.raises(KeyboardInterrupt):
        played(config)
    after_stop = open_league(config)
    assert list(after_stop.results) == [(0, 1)]
    assert not list(after_stop.folder.rglob(".*")), "nothing half-written"
    play_league(after_stop, config)
    assert matches == 4, "what was played is not played again"
    assert same(open_league(config), whole)
    assert files(after_stop.folder) == files(whole.folder)
    assert matches == 4


def test_new_agents_play_the_others_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(config_of(tmp_path))
    new: list[tuple[str, str]] = []
    real = league_lib.play_or_forfeit

    def watch(a: Any, b: Any, *arguments: Any) -> MatchResult:
        new.append((a.spec, b.spec))
        return real(a, b, *arguments)

    monkeypatch.setattr(league_lib, "play_or_forfeit", watch)
    grown = played(config_of(tmp_path, ["heuristic", "random"]))
    assert new == [("random", "heuristic"), ("pips", "heuristic"), ("bearoff", "heuristic")]
    at_once = played(config_of(tmp_path, [*BASELINES, "heuristic"], name="at_once"))
    assert same(grown, at_once)
    assert standings(grown, 20) == standings(at_once, 20)


def test_settings_of_a_league_stay(tmp_path: Path) -> None:
    played(config_of(tmp_path, rules="club"))
    for changes, message in (
        ({"pairs": 4}, r"other pairs \(3, not 4\)"),
        ({"seed": 2}, r"other seed \(1, not 2\)"),
        ({"rules": "official"}, r"other rules \(head_rolls=\(3, 4, 5, 6\), not \(3, 4, 6\), head_condition="),
        ({"options": {"draw": "last_roll"}}, r"other rules \(draw='none', not 'last_roll'\)"),
        ({"search": SearchConfig(replies=9)}, r"other search \(replies=2, not 9\)"),
    ):
        config = config_of(tmp_path, **({"rules": "club"} | changes))
        with pytest.raises(ValueError, match=message):
            open_league(config)
        with pytest.raises(ValueError, match=message):
            open_league(config, set(changes))
    league = open_league(config_of(tmp_path, [], pairs=99, seed=99), given={"agents", "name"})
    assert (league.pairs, league.seed, league.rules, len(league.players)) == (3, 1, make_rules("club"), 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": ["random"]}, "at least two agents, not 1"),
        ({"agents": []}, "at least two agents, not 0"),
        ({"agents": ["random", "nobody"]}, "unknown agent 'nobody'"),
        ({"agents": ["random", "no/such/*"]}, r"no checkpoint that 'no/such/\*' fits"),
        ({"name": "a/b"}, "name='a/b'"),
        ({"name": ".."}, r"name='\.\.'"),
        ({"pairs": 0}, "pairs=0"),
        ({"threads": 0}, "threads=0"),
        ({"bootstrap": 1}, "bootstrap=1"),
        ({"seed": -1}, "seed=-1"),
        ({"rules": "odd"}, "unknown rules 'odd'"),
    ],
)
def test_mistakes_leave_no_folder(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        open_league(config_of(tmp_path, **changes))
    assert list(tmp_path.iterdir()) == []


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "leagues" / "test").mkdir(parents=True)
    (tmp_path / "leagues" / "test" / "thesis.txt").write_text("precious")
    with pytest.raises(ValueError, match="is not empty and no league"):
        open_league(config_of(tmp_path))


def damaged(what: str) -> Callable[[dict[str, Any]], None]:
    return {
        "a": lambda content: content.update(a="pips"),
        "seed": lambda content: content.update(seed=7),
        "pairs": lambda content: content["outcome"].pop(),
        "outcome": lambda content: content["outcome"][0].__setitem__(0, 5),
        "missing": lambda content: content.pop("turns"),
        "forfeit": lambda content: content.update(forfeit={"who": 1}),
    }[what]


@pytest.mark.parametrize("what", ["a", "seed", "pairs", "outcome", "missing", "forfeit", "cut"])
def test_damaged_records_are_named(what: str, tmp_path: Path) -> None:
    config = config_of(tmp_path, ["random", "pips"])
    played(config)
    [path] = (tmp_path / "leagues" / "test" / "matches").iterdir()
    if what == "cut":
        path.write_text(path.read_text()[:100])
    else:
        content = json.loads(path.read_text())
        damaged(what)(content)
        path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"{path.name} is damaged, delete it"):
        open_league(config)
    path.unlink()
    assert open_league(config).unplayed() == [(0, 1)]


def test_a_damaged_league_is_named(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    open_league(config)
    path = tmp_path / "leagues" / "test" / "league.json"
    for text in ("", "[]", "{}", path.read_text().replace('"format": 1', '"format": 2')):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"league\.json is damaged"):
            open_league(config)


# --- nets -------------------------------------------------------------------------------------------------------------


def test_patterns_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = Path("runs") / "big" / "checkpoints"
    for name, games in (("0000000300", 300), ("0000000000", 0), ("0000000020", 20)):
        net(run / name, seed=games, games=games)
    net(Path("kept") / "x@1ply", games=5)
    (run / ".half").mkdir()
    (run / "notes").mkdir()
    all_of_it = [f"runs/big/checkpoints/{name}" for name in ("0000000000", "0000000020", "0000000300")]
    assert expand(["runs/big/checkpoints/*"]) == all_of_it
    assert expand(["runs/big/checkpoints/*@1ply"]) == [f"{path}@1ply" for path in all_of_it]
    assert expand(["runs/big/checkpoints/*[23]00"]) == all_of_it[2:]
    assert expand(["runs/big"]) == expand(["runs/*"]) == expand(["runs/big/"]) == all_of_it[2:]
    assert expand(["runs/big@2ply"]) == [f"{all_of_it[2]}@2ply"]
    assert expand(["kept/x@1ply", "kept/x@1ply@1ply"]) == ["kept/x@1ply", "kept/x@1ply@1ply"]
    assert expand(["random", all_of_it[0], "random", "runs/big/checkpoints/*"]) == ["random", *all_of_it]
    assert expand(["external:bot *@1ply", "nothing@1ply"]) == ["external:bot *@1ply", "nothing@1ply"]
    with pytest.raises(ValueError, match="no checkpoint"):
        expand(["runs/big/checkpoints/n*"])
    assert player_of(all_of_it[2]).games == player_of(f"{all_of_it[2]}@1ply").games == 300
    assert player_of(all_of_it[2]).weights == player_of(f"{all_of_it[2]}@1ply").weights
    assert player_of(all_of_it[2]).weights != player_of(all_of_it[1]).weights
    assert player_of("random") == Player("random")


def test_a_net_that_changes_is_refused(tmp_path: Path) -> None:
    one, two = net(tmp_path / "one", 1), net(tmp_path / "two", 2)
    config = config_of(tmp_path, [str(one), "random"], pairs=1)
    played(config)
    assert open_league(config).unplayed() == []
    net(one, 3)
    with pytest.raises(ValueError, match="one is no longer the net that has joined"):
        open_league(config)
    league = open_league(config_of(tmp_path, [str(two)], pairs=1))
    with pytest.raises(ValueError, match="one is no longer the net that has joined"):
        play_league(league, config)


def test_a_net_that_is_gone_keeps_its_results(tmp_path: Path) -> None:
    one = net(tmp_path / "one")
    played(config_of(tmp_path, [str(one), "random"], pairs=2))
    one.rename(tmp_path / "elsewhere")
    league = played(config_of(tmp_path, ["pips"], pairs=2))
    assert set(league.results) == {(0, 1), (1, 2)}
    table = standings(league, 10)
    assert {standing.player.spec: standing.matches for standing in table} == {str(one): 1, "random": 2, "pips": 1}
    assert any(f"{one} is gone" in line for line in notes(league, table))


# --- forfeits ---------------------------------------------------------------------------------------------------------


def test_a_forfeit_is_marked_and_weighs_nothing(tmp_path: Path) -> None:
    bad = f"external:{sys.executable} -c 'raise SystemExit(\"no licence\")'"
    league = played(config_of(tmp_path, ["random", bad, "pips"]))
    assert open_league(config_of(tmp_path, [])).unplayed() == []
    first = league.results[0, 1]
    assert (first.ppg, first.forfeit and first.forfeit.by) == (2.0, bad)
    table = standings(league, 20)
    without = standings(played(config_of(tmp_path, ["random", "pips"], name="without")), 20)
    assert [s for s in table if s.player.spec != bad] == without, "as if the program had never been there"
    assert table[-1] == Standing(Player(bad), matches=0, forfeits=2)
    text = "\n".join(notes(league, table))
    assert "Forfeited matches, in neither ratings nor points per game: 2" in text
    assert text.count("ended with: no licence") == 2
    report = json.loads((write_report(league, table) / "results.json").read_text())
    assert [match["forfeit"] is None for match in report["matches"]] == [False, True, False]
    cells = [cell for shown in cross_tables(league, table, 80) for column in shown.columns for cell in column.cells]
    assert sum("forfeit" in str(cell) for cell in cells) == 4


def test_forfeits_are_played_again_only_if_asked(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text("raise SystemExit(1)")
    spec = f"external:{sys.executable} {program}"
    config = config_of(tmp_path, ["pips", spec])
    assert played(config).results[0, 1].forfeit is not None
    text = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    program.write_text(next(part for part in text.split("```python\n") if "sys.stdin" in part).split("```")[0])
    assert played(config).results[0, 1].forfeit is not None
    assert played(dataclasses.replace(config, retry_forfeits=True)).results[0, 1].forfeit is None
    assert open_league(config).results[0, 1].forfeit is None


# --- ratings ----------------------------------------------------------------------------------------------------------


def test_ratings_are_the_most_likely_ones() -> None:
    """At the maximum of the likelihood everybody has won as often as his ratings make expected."""
    generator = np.random.default_rng(5)
    for n in (2, 3, 7):
        wins = generator.integers(0, 60, (n, n)).astype(float)
        np.fill_diagonal(wins, 0)
        elo = bradley_terry(wins)
        assert elo.mean() == pytest.approx(0, abs=1e-6)
        counted = wins + league_lib.PRIOR_GAMES / 2 * (1 - np.eye(n))
        expected = 1 / (1 + 10 ** ((elo[None] - elo[:, None]) / 400))
        assert ((counted + counted.T) * expected).sum(axis=1) == pytest.approx(counted.sum(axis=1), abs=1e-3)


def test_two_players_by_hand() -> None:
    # 75.5 : 25.5 games, the drawn one counted.
    elo = bradley_terry(np.array([[0.0, 75.0], [25.0, 0.0]]))
    assert elo[0] - elo[1] == pytest.approx(400 * math.log10(75.5 / 25.5), abs=1e-3)


def test_known_strengths_are_found() -> None:
    strengths = [-300.0, 0.0, 120.0, 180.0]
    table = standings(drawn_from(strengths, 1_500, seed=3), 200)
    assert [standing.player.spec for standing in table] == ["p3", "p2", "p1", "p0"]
    for standing, strength in zip(table, reversed(strengths), strict=True):
        assert standing.rating == pytest.approx(strength, abs=20)
        assert standing.interval is not None
        low, high = standing.interval
        assert low < standing.rating < high
        assert high - low < 40
        assert standing.bounded


def test_intervals_hold_what_they_promise() -> None:
    inside = total = 0
    for seed in range(40):
        for standing in standings(drawn_from([-100.0, 20.0, 80.0], 60, seed), 100):
            assert standing.interval is not None
            truth = {"p0": -100.0, "p1": 20.0, "p2": 80.0}[standing.player.spec]
            inside += standing.interval[0] <= truth <= standing.interval[1]
            total += 1
    assert 0.86 <= inside / total <= 0.99


def test_draws_are_half_a_win_and_mars_is_one() -> None:
    pattern = np.array([[3, 1], [2, 2], [4, 0], [2, 2]])
    level = standings(made_up({(0, 1): np.tile(pattern, (10, 1))}, pairs=40), 20)
    assert [standing.rating for standing in level] == pytest.approx([0, 0], abs=1e-6)
    oin, mars = (standings(made_up({(0, 1): np.tile([[win, win], [1, win]], (20, 1))}, pairs=40), 20) for win in (3, 4))
    assert oin[0].rating == mars[0].rating
    assert oin[0].ppg is not None
    assert mars[0].ppg is not None
    assert oin[0].ppg < mars[0].ppg


def test_figures_of_a_standing_by_hand() -> None:
    league = made_up({(0, 1): [[4, 3], [3, 1]], (0, 2): [[1, 1], [2, 3]]}, pairs=2)
    standing = next(each for each in standings(league, 10) if each.player.spec == "p0")
    # Mean points on dice stream 0: (1.5 - 1) / 2, on stream 1: (0 + 0.5) / 2.
    assert (standing.ppg, standing.half_width, standing.matches) == (0.25, 0.0, 2)
    assert (standing.win, standing.draw, standing.mars_for, standing.mars_against) == (4 / 8, 1 / 8, 1 / 8, 0)


def test_who_wins_everything_is_finite_and_marked() -> None:
    league = made_up({(0, 1): 4, (0, 2): 3, (1, 2): np.tile([3, 1], (50, 1))})
    table = standings(league, 30)
    assert [standing.bounded for standing in table] == [False, True, True]
    assert table[0].player.spec == "p0"
    assert all(standing.rating is not None and math.isfinite(standing.rating) for standing in table)
    assert any("held finite" in line for line in notes(league, table))
    assert "*" in next(iter(standings_table(table, league.rules).columns[2].cells))


def test_the_short_game_has_gammons() -> None:
    league = made_up({(0, 1): 4})
    table = standings(league, 10)
    headings = [str(column.header) for column in standings_table(table, PRESETS["short"]).columns]
    assert headings[7:9] == ["gammon\nfor", "gammon\nagainst"]
    assert "mars\nfor" in [str(column.header) for column in standings_table(table, league.rules).columns]


def test_incomplete_leagues_are_rated() -> None:
    """Two groups that never met, and one who has not played at all."""
    even = np.tile([3, 1], (50, 1))
    league = made_up({(0, 1): even, (2, 3): 4}, players=5)
    table = standings(league, 30)
    assert {standing.player.spec: standing.bounded for standing in table} == {
        "p0": True, "p1": True, "p2": False, "p3": False, "p4": False,
    }  # fmt: skip
    assert table[-1] == Standing(Player("p4"), 0, 0)
    assert list(cross_tables(league, table, 80))
    assert [standing.rating for standing in standings(made_up({}, players=2), 10)] == [None, None]


@pytest.mark.parametrize(
    ("won", "expected"),
    [
        ([(0, 1), (1, 0)], [True, True, False]),
        ([(0, 1), (1, 2), (2, 0)], [True, True, True]),
        ([(0, 1), (1, 2)], [False, False, False]),
        ([(2, 0), (1, 2), (2, 1)], [False, True, True]),
    ],
)
def test_bounded(won: list[tuple[int, int]], expected: list[bool]) -> None:
    wins = np.zeros((3, 3))
    for a, b in won:
        wins[a, b] = 1
    assert bounded(wins).tolist() == expected


def test_a_single_pair_has_no_interval() -> None:
    league = made_up({(0, 1): [[3, 1]]}, pairs=1)
    for standing in standings(league, 10):
        assert (standing.interval, standing.half_width) == (None, None)
    assert standings_table(standings(league, 10), league.rules).row_count == 2


# --- what is shown and written ----------------------------------------------------------------------------------------


def shown(table: Any, width: int) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(table)
    return file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_screen_and_hold_every_match(width: int) -> None:
    n = 14
    league = drawn_from([50.0 * k for k in range(n)], 4, seed=1)
    for k, player in enumerate(league.players):
        name = f"runs/some-rather-long-name/checkpoints/{k:010}@1ply"
        league.players[k] = dataclasses.replace(player, spec=name)
    league.results = {
        (a, b): dataclasses.replace(result, a=league.players[a].spec, b=league.players[b].spec)
        for (a, b), result in league.results.items()
    }
    table = standings(league, 10)
    texts = [
        shown(standings_table(table, league.rules), width),
        *(shown(each, width) for each in cross_tables(league, table, width)),
    ]
    assert all(len(line) <= width for text in texts for line in text.splitlines())
    assert all("…" not in text for text in texts)
    assert len(texts) > 2
    assert sum(text.count("±") for text in texts[1:]) == n * (n - 1)
    for a, b in ((0, 13), (5, 2)):
        row, column = table[a].player.spec, table[b].player.spec
        numbers = [next(k for k, p in enumerate(league.players) if p.spec == spec) for spec in (row, column)]
        ppg = league_lib._cell(league, *numbers)
        result = league.results[min(numbers), max(numbers)]
        assert ppg.startswith(f"{result.ppg if numbers[0] < numbers[1] else -result.ppg:+.3f}\n±")


def test_the_report(tmp_path: Path) -> None:
    nets = [net(tmp_path / "runs" / "big" / "checkpoints" / f"{games:010}", games + 1, games) for games in (0, 50_000)]
    config = config_of(tmp_path, [*map(str, nets), "random"])
    league = played(config)
    table = standings(league, 20)
    folder = write_report(league, table)
    first = files(folder)
    assert set(first) == {"results.json", "standings.csv", "matches.csv", "strength.svg", "strength.png"}
    assert first["strength.png"].startswith(b"\x89PNG")
    report = json.loads(first["results.json"])
    assert [row["spec"] for row in report["standings"]] == [standing.player.spec for standing in table]
    rows = list(csv.DictReader(io.StringIO(first["standings.csv"].decode())))
    assert [float(row["rating"]) for row in rows] == [standing.rating for standing in table]
    assert {row["games"] for row in rows} == {"0", "50000", ""}
    matches = list(csv.DictReader(io.StringIO(first["matches.csv"].decode())))
    assert [float(match["ppg"]) for match in matches] == [result.ppg for _, result in sorted(league.results.items())]
    assert matches[0]["forfeit_by"] == ""
    assert files(write_report(open_league(config), table)) == first, "the same league, the same files"


def test_no_net_no_picture(tmp_path: Path) -> None:
    league = played(config_of(tmp_path))
    table = standings(league, 10)
    assert strength_figure(table) is None
    assert set(files(write_report(league, table))) == {"results.json", "standings.csv", "matches.csv"}


def test_the_picture_has_a_line_for_each_run() -> None:
    def standing(spec: str, games: int | None, rating: float) -> Standing:
        return Standing(Player(spec, games), 3, 0, rating, (rating - 9, rating + 9), True, rating / 500, 0.01)

    table = [standing(f"runs/big/checkpoints/{games}{way}", games, games / 1e4 + bonus)
             for games in (3_000_000, 0, 1_000_000) for way, bonus in (("", 0), ("@1ply", 30))]  # fmt: skip
    table += [standing(f"checkpoints/{name}", 9, 0.0) for name in ("kept", "kept-too")]
    table += [standing("runs/small/checkpoints/5", 5, -3.0), standing("random", None, -400.0)]
    figure = strength_figure(table)
    assert isinstance(figure, Figure)
    for axes in figure.axes:
        lines = {each.get_label(): each.lines[0] for each in axes.containers}
        assert set(lines) == {"big", "big@1ply", "small", "kept", "kept-too"}
        assert lines["big"].get_xdata().tolist() == [0, 1, 3]
        assert axes.get_xlabel() == "million training games"
    assert figure.axes[0].containers[0].lines[0].get_ydata().tolist() == [0, 100, 300]


# --- the command ------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "scripts/league.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_the_command(tmp_path: Path) -> None:
    where = (f"leagues_dir={tmp_path}", "name=small")
    done = run(*where, "agents=[random,bearoff]", "pairs=4", "bootstrap=20")
    assert done.returncode == 0, done.stderr
    assert "rating" in done.stdout
    assert "Bradley-Terry" in done.stdout
    assert (tmp_path / "small" / "report" / "results.json").exists()
    again = run(*where, "agents=[pips]", "bootstrap=20")
    assert again.returncode == 0, again.stderr
    assert len(list((tmp_path / "small" / "matches").iterdir())) == 3
