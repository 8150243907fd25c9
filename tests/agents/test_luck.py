"""Luck: its mean is zero in every position, and subtracting it changes no mean."""

import math
from pathlib import Path

import numpy as np
import pytest

from nardy_rl import game as flow
from nardy_rl.agents.luck import best_plays, is_lot, load_judge, mean_equities, roll_luck, roll_number
from nardy_rl.agents.registry import make_agent
from nardy_rl.evaluation import arena
from nardy_rl.evaluation.arena import match_table, matches_as_json, play_match, round_robin
from nardy_rl.rules.board import new_boards
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import OFFICIAL, PRESETS
from nardy_rl.value.evaluator import CompiledEvaluator, afterstate_equities
from nardy_rl.value.net import NetConfig, make_net

KEPT = Path(__file__).parents[2] / "checkpoints"


def small_net(rules, seed=1):
    return CompiledEvaluator(make_net(NetConfig(16, 8), rules, seed), rules, precision="int16")


def positions(rules, n=12, turns=30, seed=3):
    """Boards and seats from play at random, one of each of `n` games; half of them an odd number of turns on."""
    games = flow.new_games(np.arange(n), rules)
    for turn in range(turns + 1):
        after = legal_afterstates(games.boards, flow.roll(games, seed, rules), rules)
        played, _, _ = flow.apply(games, after.boards[after.offsets[:-1] + (games.stream + turn) % after.counts], rules)
        stay = (turn == turns) & (games.stream % 2 == 0)
        games = flow.Games(
            np.where(stay[:, None, None], games.boards, played.boards),
            games.stream,
            np.where(stay, games.turn, played.turn),
        )
    return games.boards, games.moved_first


@pytest.mark.parametrize("preset", ["official", "casual", "fnr", "short"])
def test_the_mean_of_luck_over_the_rolls_is_zero(preset):
    rules = PRESETS[preset]
    boards, seats = positions(rules)
    luck = np.stack([
        roll_luck(small_net(rules), boards, np.tile(roll, (len(boards), 1)), seats, rules) for roll in ROLLS
    ])  # fmt: skip
    assert np.abs(luck).max() > 1e-3
    np.testing.assert_allclose(ROLL_WEIGHTS @ luck, 0.0, atol=1e-12)


@pytest.mark.parametrize("preset", ["fnr", "short"])
def test_the_lot_is_never_a_double(preset):
    rules = PRESETS[preset]
    start = new_boards(1, rules)
    judge = small_net(rules)
    unequal = ROLLS[ROLLS[:, 0] != ROLLS[:, 1]]
    first, answer = np.array([True]), np.array([False])
    assert is_lot(start, first, rules)
    assert not is_lot(start, answer, rules)
    assert not is_lot(start, first, OFFICIAL)
    lucks = [roll_luck(judge, start, roll[None], first, rules)[0] for roll in unequal]
    assert sum(lucks) == pytest.approx(0.0, abs=1e-12)
    assert ROLL_WEIGHTS @ [roll_luck(judge, start, roll[None], answer, rules)[0] for roll in ROLLS] == pytest.approx(0)


def test_luck_by_hand():
    boards, seats = positions(OFFICIAL)
    judge = small_net(OFFICIAL)
    dice = ROLLS[np.arange(len(boards)) % 21][:, ::-1]
    found = roll_luck(judge, boards, dice, seats, OFFICIAL)
    for k in range(len(boards)):
        best = {}
        for a in range(1, 7):
            for b in range(1, 7):
                after = legal_afterstates(boards[[k]], np.array([[a, b]]), OFFICIAL)
                best[a, b] = afterstate_equities(judge, boards[[k]], seats[[k]], after, OFFICIAL).max()
        expected = best[tuple(dice[k].tolist())] - sum(best.values()) / 36
        assert found[k] == pytest.approx(expected, abs=1e-12)


def test_luck_of_a_roll_that_settles_the_game():
    # the second player bears off his last two checkers with any double, or with neither die a 1; the first is done
    board = np.array([parse_position("2:2 off:13 | off:15")], dtype=np.int8)
    judge = small_net(OFFICIAL)
    seat = np.array([False])
    lucky = roll_luck(judge, board, np.array([[6, 2]], dtype=np.int8), seat, OFFICIAL)[0]
    unlucky = roll_luck(judge, board, np.array([[6, 1]], dtype=np.int8), seat, OFFICIAL)[0]
    draws = 26 / 36  # 25 pairs without a 1, and 1-1
    assert lucky == pytest.approx(1 - draws)  # a draw is worth 0, an oin lost -1: the mean is draws - 1
    assert unlucky == pytest.approx(-draws)


def test_best_plays():
    boards, seats = positions(OFFICIAL)
    judge = small_net(OFFICIAL)
    found = best_plays(judge, boards, seats, OFFICIAL)
    for k, roll in ((0, 0), (3, 20), (7, 11)):
        after = legal_afterstates(boards[[k]], ROLLS[[roll]], OFFICIAL)
        equities = afterstate_equities(judge, boards[[k]], seats[[k]], after, OFFICIAL)
        assert found.equities[k, roll] == equities.max()
        assert (found.boards[k, roll] == after.boards[equities.argmax()]).all()
    mean = mean_equities(found.equities, boards, seats, OFFICIAL)
    np.testing.assert_allclose(mean, found.equities @ ROLL_WEIGHTS, atol=1e-12)
    alone = best_plays(judge, boards[[5]], seats[[5]], OFFICIAL)
    assert (alone.equities[0] == found.equities[5]).all()


def test_numbers_of_rolls():
    assert (roll_number(ROLLS) == np.arange(21)).all()
    assert (roll_number(ROLLS[:, ::-1]) == np.arange(21)).all()


# --- matches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["official", "fnr", "casual", "short"])
def test_an_agent_against_itself_is_zero_without_luck_too(preset):
    rules = PRESETS[preset]
    agent = make_agent("pips", rules)
    result = play_match(agent, agent, rules, 8, seed=1, luck=small_net(rules))
    assert result.adjusted is not None
    assert np.abs(result.adjusted).max() > 0
    assert (result.adjusted.mean(axis=1) == 0).all()
    assert result.adjusted_ci95 == (0, 0)


def test_adjusted_results_do_not_depend_on_threads_and_change_side(monkeypatch):
    a, b = make_agent("pips", OFFICIAL), make_agent("random", OFFICIAL)
    judge = small_net(OFFICIAL)
    raw = play_match(a, b, OFFICIAL, 20, seed=5)
    assert raw.adjusted is None
    assert raw.adjusted_ppg is None
    one = play_match(a, b, OFFICIAL, 20, seed=5, luck=judge)
    assert (one.points == raw.points).all()
    monkeypatch.setattr(arena, "CHUNK_PAIRS", 8)
    two = play_match(a, b, OFFICIAL, 20, seed=5, threads=2, luck=judge)
    assert (one.adjusted == two.adjusted).all()
    assert one.swapped().adjusted_ppg == -one.adjusted_ppg
    assert one.swapped().adjusted[0, 1] == -one.adjusted[0, 0]


def test_shown_in_table_and_json():
    results = round_robin(["pips", "random"], OFFICIAL, 6, seed=1, luck=small_net(OFFICIAL))
    written = matches_as_json(results, "official")["matches"][0]
    assert written["adjusted_ppg"] == results[0].adjusted_ppg
    assert tuple(written["adjusted_ci95"]) == results[0].adjusted_ci95
    cells = list(match_table(results).columns[2].cells)
    assert cells == [f"{results[0].ppg:+.3f}", f"{results[0].adjusted_ppg:+.3f}"]
    without = round_robin(["pips", "random"], OFFICIAL, 6, seed=1)
    assert "adjusted_ppg" not in matches_as_json(without, "official")["matches"][0]
    assert len(match_table(without).rows) == 1


def agrees(result):
    """Raw and adjusted points per game differ by no more than chance: the luck subtracted has mean zero."""
    luck = (result.points - result.adjusted).mean(axis=1)
    return abs(luck.mean()) <= 3 * luck.std(ddof=1) / math.sqrt(len(luck))


def test_adjusted_and_raw_means_agree_with_a_judge_who_knows_nothing():
    a, b = make_agent("pips", OFFICIAL), make_agent("random", OFFICIAL)
    result = play_match(a, b, OFFICIAL, 60, seed=2, luck=small_net(OFFICIAL))
    assert agrees(result)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "a", "b", "judge", "narrower"),
    [
        ("official", "long-quick-v1", "heuristic", "long-quick-v1", 0.75),  # the heuristic errs as much as the dice do
        ("short", "short-v1", "short-quick-v1", "short-quick-v1", 0.25),
    ],
)
def test_adjusted_and_raw_means_agree_on_20_000_games(preset, a, b, judge, narrower):
    rules = PRESETS[preset]
    a, b, judge = (str(KEPT / name) if (KEPT / name).is_dir() else name for name in (a, b, judge))
    agents = make_agent(a, rules), make_agent(b, rules)
    result = play_match(*agents, rules, 10_000, seed=11, threads=2, luck=load_judge(judge, rules))
    assert agrees(result)
    (low, high), (adjusted_low, adjusted_high) = result.ci95, result.adjusted_ci95
    assert adjusted_low < high
    assert low < adjusted_high
    assert adjusted_high - adjusted_low < narrower * (high - low)
