"""The arena: fair, repeatable, and honest about its uncertainty."""

import dataclasses
import json
import math
import os
import signal
import threading
import time

import numpy as np
import pytest
from rich.console import Console

from nardy_rl.agents.base import choose
from nardy_rl.agents.baselines import RandomAgent
from nardy_rl.agents.registry import make_agent
from nardy_rl.evaluation import arena
from nardy_rl.evaluation.arena import (
    MatchResult,
    match_table,
    matches_as_json,
    play_games,
    play_match,
    round_robin,
)
from nardy_rl.files import write_json
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.spec import OFFICIAL, PRESETS, make_rules

FIELDS = ("outcome", "points", "turns")


class Fake:
    """An agent made of a function from decisions to scores."""

    gives_equities = False

    def __init__(self, scores, spec="fake", rules=OFFICIAL):
        self.scores, self.spec, self.rules = scores, spec, rules


def batch_dependent(decisions):
    """What floating point does to a net, overdone: the scores change with the batch."""
    size = len(decisions.afterstates.boards)
    return (np.arange(size) * 31 % (5 + size % 7)).astype(np.float64)


def same(one: MatchResult, two: MatchResult) -> bool:
    return (one.a, one.b) == (two.a, two.b) and all((getattr(one, x) == getattr(two, x)).all() for x in FIELDS)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(arena, "CHUNK_PAIRS", 16)


def agents(*specs):
    return [make_agent(spec, OFFICIAL) for spec in specs]


@pytest.mark.parametrize("spec", ["random", "pips", "bearoff", "heuristic"])
def test_agent_against_itself_is_exactly_zero_in_every_pair(spec):
    one, twin = agents(spec, spec)
    for other in (one, twin):
        result = play_match(one, other, OFFICIAL, 40, seed=1)
        assert (result.pair_points == 0).all()
        assert result.ppg == 0
        assert result.ci95 == (0, 0)
        assert result.mars_for == result.mars_against


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "short"])
def test_every_long_preset_plays(preset):
    rules = PRESETS[preset]
    result = play_match(make_agent("bearoff", rules), make_agent("random", rules), rules, 20, seed=3)
    assert result.ppg > 0
    assert result.win + result.draw <= 1
    if rules.draw == "none":
        assert result.draw == 0


def test_short_nardy_plays():
    rules = PRESETS["short"]
    result = play_match(make_agent("pips", rules), make_agent("random", rules), rules, 10, seed=3)
    assert (np.abs(result.points) >= 1).all()


@pytest.mark.parametrize("make", [lambda: make_agent("bearoff", OFFICIAL), lambda: Fake(batch_dependent)])
@pytest.mark.usefixtures("small_chunks")
def test_any_number_of_threads_gives_the_same_match(make):
    a, b = make(), make_agent("random", OFFICIAL)
    one, two, three = (play_match(a, b, OFFICIAL, 70, seed=11, threads=threads) for threads in (1, 2, 3))
    assert same(one, two)
    assert same(one, three)


@pytest.mark.parametrize("make", [lambda: make_agent("bearoff", OFFICIAL), lambda: Fake(batch_dependent)])
def test_swapping_the_agents_mirrors_the_match(make):
    a, b = make(), make_agent("random", OFFICIAL)
    ab = play_match(a, b, OFFICIAL, 50, seed=2)
    ba = play_match(b, a, OFFICIAL, 50, seed=2)
    assert same(ab.swapped(), ba)
    assert ba.ppg == -ab.ppg
    assert (ba.mars_for, ba.mars_against) == (ab.mars_against, ab.mars_for)
    assert ba.draw == ab.draw
    assert ba.win == pytest.approx(1 - ab.win - ab.draw)
    assert ba.first_edge == pytest.approx(ab.first_edge)
    assert same(ab.swapped().swapped(), ab)


def test_seed_decides_the_match():
    a, b = agents("bearoff", "random")
    first = play_match(a, b, OFFICIAL, 30, seed=5)
    assert same(first, play_match(a, b, OFFICIAL, 30, seed=5))
    assert not (first.turns == play_match(a, b, OFFICIAL, 30, seed=6).turns).all()


def test_pair_k_is_the_same_in_matches_of_any_length():
    a, b = agents("bearoff", "random")
    short, long = (play_match(a, b, OFFICIAL, pairs, seed=5) for pairs in (20, 45))
    assert all((getattr(short, x) == getattr(long, x)[:20]).all() for x in FIELDS)


def test_both_games_of_a_pair_see_the_same_dice_and_pairs_see_different_ones():
    seen: dict[str, list] = {"a": [], "b": []}

    def watch(name):
        def scores(decisions):
            seen[name].append(decisions.dice.copy())
            return np.zeros(len(decisions.afterstates.boards))

        return Fake(scores, name)

    play_match(watch("a"), watch("b"), OFFICIAL, 3, seed=8)
    # Constant scores: both games of a pair are the same game, and A's dice of the first are B's of the second.
    assert len(seen["a"]) == len(seen["b"])
    assert sorted(dice.tobytes() for dice in seen["a"]) == sorted(dice.tobytes() for dice in seen["b"])
    assert len({column.tobytes() for column in np.stack(seen["a"][:20], axis=1)}) == 3


def test_ties_fall_on_every_row_alike():
    rows, rolls = 7, 14_000
    offsets = np.arange(rolls + 1) * rows
    ties = dice_lib.bits(3, dice_lib.TIES, np.arange(rolls), 12)
    chosen = choose(np.zeros(rows * rolls), offsets, ties) - offsets[:-1]
    expected = rolls / rows
    chi_square = ((np.bincount(chosen, minlength=rows) - expected) ** 2 / expected).sum()
    assert chi_square < 22.5  # 6 degrees of freedom: exceeded once in a thousand seeds


def test_constant_scores_are_worth_nothing():
    # Against a player whose randomness owes nothing to the tie-breaking bits.
    generator = np.random.default_rng(0)
    fair = Fake(lambda decisions: generator.random(len(decisions.afterstates.boards)), "fair")
    low, high = play_match(Fake(RandomAgent(OFFICIAL).scores), fair, OFFICIAL, 600, seed=4).ci95
    assert low < 0 < high
    assert high - low < 0.2


def test_heuristic_is_worth_beating():
    heuristic, rand, bearoff = agents("heuristic", "random", "bearoff")
    result = play_match(heuristic, rand, OFFICIAL, 300, seed=7)
    assert result.ci95[0] > 1.5
    assert result.mars_for > 0.6
    assert play_match(heuristic, bearoff, OFFICIAL, 100, seed=7).ci95[0] > 0.5


def hand_made(points, outcome=None, rules=OFFICIAL) -> MatchResult:
    points = np.array(points, dtype=np.float64)
    outcome = (points + 2).astype(np.int64) if outcome is None else np.array(outcome)
    return MatchResult("x", "y", rules, 0, outcome, points, np.full(points.shape, 90))


def test_figures_of_a_match_computed_by_hand():
    # Pairs 2, 0, 1, 1: mean 1, variance (1 + 1) / 3; half = 1.96 * sqrt(2 / 3) / sqrt(4).
    result = hand_made([[2, 2], [1, -1], [2, 0], [1, 1]])
    assert result.pair_points.tolist() == [2, 0, 1, 1]
    assert result.ppg == 1
    assert result.ci95 == pytest.approx((1 - 0.800167, 1 + 0.800167), abs=1e-6)
    assert (result.pairs, result.games) == (4, 8)
    assert (result.win, result.draw) == (6 / 8, 1 / 8)
    assert (result.mars_for, result.mars_against) == (3 / 8, 0)
    # A first: 2 + 1 + 2 + 1; B first, B's points: -2 + 1 + 0 - 1.
    assert result.first_edge == (6 - 2) / 8
    assert result.mean_turns == 90


def test_interval_of_one_pair_is_infinite():
    result = hand_made([[2, -1]])
    assert result.ci95 == (-math.inf, math.inf)
    assert matches_as_json([result], "official")["matches"][0]["ci95"] == [None, None]
    assert "-" in list(match_table([result]).columns[3].cells)


def test_mars_is_every_level_from_the_second():
    rules = make_rules("overview")  # oin, mars, home mars, koks: outcomes 0..8, draw 4
    result = hand_made([[4, -3], [1, -2]], outcome=[[8, 1], [5, 2]], rules=rules)
    assert (result.mars_for, result.mars_against) == (1 / 4, 2 / 4)
    assert (result.win, result.draw) == (2 / 4, 0)


def test_draws_count_for_neither():
    result = hand_made([[0, 0], [0, 0]])
    assert (result.win, result.draw, result.mars_for, result.mars_against) == (0, 1, 0, 0)


def test_first_player_has_an_edge():
    rand = make_agent("random", OFFICIAL)
    games = play_games(rand, rand, np.arange(400), OFFICIAL, seed=1)
    assert set(np.unique(games.outcome)) <= set(range(5))
    assert (games.points == games.outcome - 2).all()  # oin 1, mars 2
    assert (games.turns > 30).all()
    assert (games.outcome == 2).any()  # draws happen under the official rules


def test_round_robin_plays_every_two():
    results = round_robin(["random", make_agent("bearoff", OFFICIAL), "random"], OFFICIAL, 10, seed=0)
    assert [(r.a, r.b) for r in results] == [("random", "bearoff"), ("random", "random"), ("bearoff", "random")]
    assert results[0].ppg == -results[2].ppg  # the same dice in all matches
    assert results[1].ppg == 0


@pytest.mark.usefixtures("small_chunks")
def test_progress_counts_pairs():
    seen: list[int] = []
    round_robin(["random", "pips", "bearoff"], OFFICIAL, 20, seed=0, threads=2, progress=seen.append)
    assert seen[-1] == 60
    assert sorted(seen) == seen
    assert {20, 40} <= set(seen)


def test_json_form(tmp_path):
    results = round_robin(["random", "bearoff"], OFFICIAL, 12, seed=9)
    path = tmp_path / "matches.json"
    write_json(path, {"old": True})
    write_json(path, matches_as_json(results, "official"))
    read = json.loads(path.read_text())
    assert read["rules"] == "official"
    (match,) = read["matches"]
    assert list(match)[:8] == ["a", "b", "pairs", "ppg", "ci95", "win", "mars_for", "mars_against"]
    assert (match["a"], match["b"], match["pairs"], match["seed"]) == ("random", "bearoff", 12, 9)
    assert match["ppg"] == results[0].ppg
    assert match["ci95"] == list(results[0].ci95)
    assert [entry.name for entry in path.parent.iterdir()] == ["matches.json"]


def test_table_fits_eighty_columns(tmp_path):
    long_spec = "checkpoints/a-rather-long-name-of-a-net"
    results = [hand_made([[2, 2], [1, -1]] * 2000), hand_made([[0, 0], [1, 1]])]
    results = [dataclasses.replace(result, a=long_spec, b="heuristic") for result in results]
    with (tmp_path / "table.txt").open("w") as file:
        Console(file=file, width=80).print(match_table(results))
    text = (tmp_path / "table.txt").read_text()
    assert max(map(len, text.splitlines())) <= 80
    for part in ("heuristic", "+1.000", "75.0%", "50.0%", "8,000", "mars"):
        assert part in text


@pytest.mark.parametrize(("change", "message"), [({"pairs": 0}, "pairs=0"), ({"threads": 0}, "threads=0")])
def test_impossible_numbers(change, message):
    a, b = agents("random", "pips")
    with pytest.raises(ValueError, match=message):
        play_match(a, b, OFFICIAL, **{"pairs": 2, "seed": 0, "threads": 1, **change})


def test_agent_of_the_other_game():
    with pytest.raises(ValueError, match="'random' plays short nardy, the match is long"):
        play_match(make_agent("random", PRESETS["short"]), make_agent("pips", OFFICIAL), OFFICIAL, 2, seed=0)


def test_one_agent_is_no_round_robin():
    with pytest.raises(ValueError, match="at least two agents, not 1"):
        round_robin(["random"], OFFICIAL, 2, seed=0)


def test_unknown_spec_in_a_round_robin():
    with pytest.raises(ValueError, match="unknown agent 'randon'"):
        round_robin(["random", "randon"], OFFICIAL, 2, seed=0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("small_chunks")
def test_an_agent_that_fails_stops_the_match(threads):
    broken = Fake(lambda decisions: np.full(len(decisions.afterstates.boards), np.nan))
    with pytest.raises(ValueError, match="NaN"):
        play_match(broken, make_agent("random", OFFICIAL), OFFICIAL, 100, seed=0, threads=threads)


def test_a_game_without_end_is_reported(monkeypatch):
    monkeypatch.setattr(arena, "MAX_TURNS", 20)
    a, b = agents("random", "pips")
    with pytest.raises(RuntimeError, match="has not ended after 20 turns"):
        play_match(a, b, OFFICIAL, 2, seed=0)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_leaves_cleanly(threads):
    calls = 0

    def slow(decisions):
        nonlocal calls
        calls += 1
        time.sleep(0.01)
        return np.zeros(len(decisions.afterstates.boards))

    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        play_match(Fake(slow), Fake(slow), OFFICIAL, 100_000, seed=0, threads=threads)
    timer.join()
    calls_then = calls
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("arena")]
    time.sleep(0.05)
    assert calls == calls_then < 500
