"""The reference set: phases, which decisions and plays are in it, and that it is built and kept as it should be."""

import dataclasses
import json
import sys

import numpy as np
import pytest

from nardy_rl.agents.base import choose, decide
from nardy_rl.agents.luck import load_judge
from nardy_rl.agents.registry import make_agent
from nardy_rl.agents.rollout import RolloutSettings, rollout_candidates
from nardy_rl.agents.search import SearchConfig
from nardy_rl.config import ReferenceSetConfig
from nardy_rl.evaluation import reference_set
from nardy_rl.evaluation.errors import error_rate
from nardy_rl.evaluation.reference_set import (
    PHASES,
    SHORT_PHASES,
    ReferenceSetError,
    build_reference_set,
    candidates,
    draw_decisions,
    load_reference_set,
    one_ply_equities,
    phase,
    save_reference_set,
    sorted_afterstates,
    with_estimates,
)
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.board import flip
from nardy_rl.rules.notation import parse_board, parse_position
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.spec import OFFICIAL, PRESETS
from nardy_rl.value.checkpoint import save_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator, afterstate_equities
from nardy_rl.value.net import NetConfig, make_net
from nardy_rl.value.yardsticks import GnubgEvaluator

SHORT = PRESETS["short"]


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets") / "small"
    save_checkpoint(folder, make_net(NetConfig(8, 4), OFFICIAL, 1), OFFICIAL, {"run": "tiny", "games": 0})
    return str(folder)


def config(net, folder, **others):
    few = RolloutSettings(trials=36, min_trials=36, truncate=1, variance_reduction=False)
    return ReferenceSetConfig(**{
        "judge": net, "others": ["pips"], "games": 60, "decisions": 60, "candidates": 3, "rollout": few, "threads": 2,
        "work": str(folder / "work"), "out": str(folder / "set.npz"), **others,
    })  # fmt: skip


@pytest.fixture(scope="module")
def built(net, tmp_path_factory):
    return build_reference_set(config(net, tmp_path_factory.mktemp("set")))


# --- phases -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "name"),
    [
        ("24:15 | 24:15", "opening"),
        ("24:10 13:5 | 24:10 14:5", "opening"),
        ("24:9 13:6 | 24:10 14:5", "middle"),
        ("24:10 13:5 | 24:9 14:6", "middle"),
        ("12:5 7:5 3:5 | 12:5 7:5 3:5", "bear-in"),
        ("13:1 7:9 3:5 | 12:5 8:5 3:5", "middle"),
        ("12:5 7:5 3:5 | 13:1 8:9 2:5", "middle"),
        ("6:5 3:5 off:5 | 12:5 7:5 3:5", "bear-off"),
        ("6:5 3:10 | 14:15", "bear-off"),
        ("12:5 7:5 3:5 | 6:5 3:10", "bear-in"),
    ],
)
def test_phases(position, name):
    assert PHASES[phase(np.array([parse_position(position)], dtype=np.int8), OFFICIAL)[0]] == name


FIVE_AHEAD_OF_X = """
    long nardy, x to play
    o off 0
    +-13-14-15-16-17-18-+-19-20-21-22-23-24-+
    |  .  .  .  .  .  . |  .  .  .  .  .  x |
    |  .  .  .  .  .  . |  .  .  .  .  .  x |
    |  .  .  .  .  .  . |  .  .  .  .  .  x |
    |  .  .  .  .  .  . |  .  .  .  .  .  x |
    |  .  .  .  .  .  . |  .  .  .  .  .x13 |
    |                   |                   |
    | o9  .  .  .  .  . |  .  .  .  .  .  . |
    |  o  .  .  .  .  . |  .  .  .  .  .  . |
    |  o  .  .  .  .  . |  .  .  .  .  .  . |
    |  o  .  .  .  o  . |  .  .  .  .  .  . |
    |  o  .  o  o  o  o |  o  .  x  .  x  . |
    +-12-11-10--9--8--7-+--6--5--4--3--2--1-+
    x off 0
"""


def test_a_block_of_five_ahead_is_what_makes_blocked():
    board = np.array([parse_board(FIVE_AHEAD_OF_X)], dtype=np.int8)
    assert board[0, 0, 24] == 13
    assert PHASES[phase(board, OFFICIAL)[0]] == "blocked"
    assert PHASES[phase(flip(board), OFFICIAL)[0]] == "blocked", "the opponent is the one who is blocked"
    four = board.copy()  # o's 22 (x's 10) goes to o's 20 (x's 8)
    four[0, 1, 22] -= 1
    four[0, 1, 20] += 1
    assert PHASES[phase(four, OFFICIAL)[0]] == "middle"
    passed = board.copy()  # all of x is in front of the block
    passed[0, 0, 24], passed[0, 0, 4] = 0, 14
    assert PHASES[phase(passed, OFFICIAL)[0]] == "bear-off"
    last_one = passed.copy()
    last_one[0, 0, 4], last_one[0, 0, 11] = 13, 1
    assert PHASES[phase(last_one, OFFICIAL)[0]] == "blocked"


def faces_five(own, other):
    """The slow twin: any five points of the other in a row that one's rearmost checker still has to pass."""
    rearmost = max(point for point in range(1, 25) if own[point])
    held = [bool(other[point + 12 if point <= 12 else point - 12]) for point in range(1, 25)]
    return any(all(held[low - 1 : low + 4]) and low + 4 < rearmost for low in range(1, 21))


def test_blocked_is_as_its_slow_twin_says(built):
    checked = built.boards[(built.phase == PHASES.index("middle")) | (built.phase == PHASES.index("blocked"))]
    assert len(checked) > 20
    for board in checked:
        slow = faces_five(board[0], board[1]) or faces_five(board[1], board[0])
        assert (PHASES[phase(board[None], OFFICIAL)[0]] == "blocked") == slow


# --- decisions and candidates -----------------------------------------------------------------------------------------


def test_decisions_are_unforced_ones_of_the_games_with_their_shares(net):
    judge = load_judge(net, OFFICIAL)
    drawn = draw_decisions([judge], OFFICIAL, games=60, decisions=60, seed=1)
    again = draw_decisions([judge], OFFICIAL, games=60, decisions=60, seed=1)
    np.testing.assert_array_equal(drawn.boards, again.boards)
    met, counts = set(), np.zeros(len(PHASES), dtype=int)
    games = new_games(np.arange(60), OFFICIAL)
    while len(games):
        dice = roll(games, 1, OFFICIAL)
        decisions = decide(games, dice, OFFICIAL)
        scores = afterstate_equities(judge, games.boards, games.moved_first, decisions.afterstates, OFFICIAL)
        for i in range(len(games)):
            own = scores[decisions.afterstates.offsets[i] : decisions.afterstates.offsets[i + 1]]
            if len(set(own)) > 1:
                met.add((games.boards[i].tobytes(), dice[i].tobytes(), bool(games.moved_first[i])))
                counts[phase(games.boards[[i]], OFFICIAL)[0]] += 1
        ties = dice_lib.bits(1, dice_lib.TIES, games.stream, games.turn)
        chosen = choose(scores, decisions.afterstates.offsets, ties)
        games, outcome, _ = apply(games, decisions.afterstates.boards[chosen], OFFICIAL)
        games = games.take(outcome < 0)
    assert drawn.unforced == counts.sum()
    np.testing.assert_allclose(drawn.shares, counts / counts.sum(), rtol=1e-12)
    keys = [
        (b.tobytes(), d.tobytes(), bool(f)) for b, d, f in zip(drawn.boards, drawn.dice, drawn.moved_first, strict=True)
    ]
    assert set(keys) <= met
    np.testing.assert_allclose(np.bincount(drawn.phase), 6 + 30 * drawn.shares, atol=1)
    assert len(keys) == 60


def test_sorted_afterstates_are_the_legal_ones_in_an_order_of_their_own(built):
    after = sorted_afterstates(built.boards, built.dice, OFFICIAL)
    legal = legal_afterstates(built.boards, built.dice, OFFICIAL)
    np.testing.assert_array_equal(after.offsets, legal.offsets)
    for i in range(len(built)):
        rows = slice(legal.offsets[i], legal.offsets[i + 1])
        own = [board.tobytes() for board in after.boards[rows]]
        assert own == sorted(board.tobytes() for board in legal.boards[rows])


def test_one_ply_is_exact_where_the_game_ends(net):
    boards = np.array([parse_position("2:1 off:14 | 24:15")], dtype=np.int8)
    dice, seats = np.array([[2, 1]], dtype=np.int8), np.array([False])
    after = sorted_afterstates(boards, dice, OFFICIAL)
    equities = one_ply_equities(load_judge(net, OFFICIAL), boards, seats, after, OFFICIAL)
    assert equities.max() == 2.0


def test_candidates_by_rank_by_distance_and_by_choice():
    after = Afterstates(np.zeros((8, 2, 26), dtype=np.int8), np.array([0, 5, 8]))
    equities = np.array([0.0, 0.3, 0.25, 0.1, 0.29, 0.5, 0.5, -1.0])
    assert candidates(equities, after, [], 2, 0.1).tolist() == [False, True, False, False, True, True, True, False]
    assert candidates(equities, after, [], 5, 0.03).tolist() == [False, True, False, False, True, True, True, False]
    chosen = candidates(equities, after, [np.array([0, 7])], 1, 0.1)
    assert chosen.tolist() == [True, True, False, False, False, True, False, True]


def test_estimates_go_on_from_the_favourite():
    after = Afterstates(np.zeros((5, 2, 26), dtype=np.int8), np.array([0, 3, 5]))
    equities = np.array([0.5, 0.4, 0.1, 0.0, -0.25])
    loss = np.array([0.02, 0.1, np.nan, 0.0, np.nan])
    filled, scale = with_estimates(equities, loss, after)
    assert scale == pytest.approx(0.8)
    np.testing.assert_allclose(filled, [0.02, 0.1, 0.02 + 0.8 * 0.4, 0.0, 0.8 * 0.25])
    loss[1] = np.nan
    filled, scale = with_estimates(equities, loss, after)
    assert scale == 1.0, "nothing to fit it to"
    np.testing.assert_allclose(filled, [0.02, 0.12, 0.42, 0.0, 0.25])


# --- building, saving, loading ----------------------------------------------------------------------------------------


def test_the_losses_are_those_of_the_rollouts(net, built, tmp_path):
    i = next(
        k
        for k in range(len(built))
        if 1
        < (~np.isnan(built.stderr[built.after.offsets[k] : built.after.offsets[k + 1]])).sum()
        < built.after.counts[k]
    )
    rows = np.arange(built.after.offsets[i], built.after.offsets[i + 1])
    judged = rows[~np.isnan(built.stderr[rows])]
    after = Afterstates(built.after.boards[judged], np.array([0, len(judged)]))
    settings = config(net, tmp_path).rollout
    result = rollout_candidates(
        load_judge(net, OFFICIAL), built.boards[[i]], built.moved_first[[i]], after, OFFICIAL, settings,
        streams=np.array([i]),
    )  # fmt: skip
    np.testing.assert_allclose(built.loss[judged], result.loss, atol=1e-6)
    np.testing.assert_allclose(built.stderr[judged], result.loss_stderr, atol=1e-6)


def test_a_stopped_build_goes_on_and_threads_change_nothing(net, built, tmp_path, monkeypatch):
    def stop(done, total):
        if done < total:
            raise KeyboardInterrupt

    monkeypatch.setattr(reference_set, "_BATCH", 25)  # a batch is no part of the result
    with pytest.raises(KeyboardInterrupt):
        build_reference_set(config(net, tmp_path, threads=1), stop)
    assert [path.name for path in sorted((tmp_path / "work").glob("*.npz"))] == ["00000.npz"]
    done = []
    again = build_reference_set(config(net, tmp_path, threads=1), lambda *counts: done.append(counts))
    assert done == [(25, 60), (50, 60), (60, 60)]
    np.testing.assert_array_equal(again.loss, built.loss)
    np.testing.assert_array_equal(again.stderr, built.stderr)
    assert again.meta == built.meta
    with pytest.raises(ValueError, match="work for other settings"):
        build_reference_set(config(net, tmp_path, within=0.05))


def test_saved_and_loaded_it_is_the_same(built, tmp_path):
    path = tmp_path / "set.npz"
    save_reference_set(built, path)
    loaded = load_reference_set(path)
    for name in ("boards", "dice", "moved_first", "phase", "shares"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(built, name))
    np.testing.assert_array_equal(loaded.after.boards, built.after.boards)
    np.testing.assert_allclose(loaded.loss, built.loss, atol=1e-6)
    np.testing.assert_array_equal(np.isnan(loaded.stderr), np.isnan(built.stderr))
    assert loaded.meta == built.meta
    assert loaded.rules == OFFICIAL
    assert loaded.meta["judge"]["run"] == "tiny"


def changed(built, tmp_path, **others):
    path = tmp_path / "set.npz"
    save_reference_set(dataclasses.replace(built, **others), path)
    return path


def test_damaged_sets_are_refused(built, tmp_path):
    whole = changed(built, tmp_path).read_bytes()
    broken = tmp_path / "broken.npz"
    for content in (whole[:-200], whole[: len(whole) // 2], b"", b"not a set"):
        broken.write_bytes(content)
        with pytest.raises(ReferenceSetError, match="damaged"):
            load_reference_set(broken)
    with pytest.raises(ReferenceSetError, match="cannot be read"):
        load_reference_set(tmp_path / "none.npz")
    with pytest.raises(ReferenceSetError, match="no reference set for rules=fnr"):
        load_reference_set(rules="fnr")
    with pytest.raises(ReferenceSetError, match="not as many figures"):
        load_reference_set(changed(built, tmp_path, loss=built.loss[1:]))
    with pytest.raises(ReferenceSetError, match="never less"):
        load_reference_set(changed(built, tmp_path, loss=built.loss + 0.1))
    with pytest.raises(ReferenceSetError, match="other legal plays"):
        load_reference_set(changed(built, tmp_path, dice=built.dice[::-1]))
    meta = json.loads(json.dumps(built.meta))
    meta["shares"]["middle"] += 0.5
    with pytest.raises(ReferenceSetError, match="add up to 1"):
        load_reference_set(changed(built, tmp_path, meta=meta))
    del meta["shares"]
    with pytest.raises(ReferenceSetError, match="damaged"):
        load_reference_set(changed(built, tmp_path, meta=meta))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"games": 0}, "games=0"),
        ({"decisions": 5}, "decisions=5"),
        ({"games": 1, "decisions": 2000}, "play more"),
        ({"candidates": 0}, "candidates=0"),
        ({"within": -1.0}, "within=-1"),
        ({"others": ["nobody"]}, "unknown agent 'nobody'"),
        ({"rollout": RolloutSettings(trials=10)}, "trials=10"),
        ({"rules": "nardy"}, "unknown rules"),
        ({"rules": "fnr"}, "give rollout.truncate=null"),
    ],
)
def test_mistakes(net, tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        build_reference_set(config(net, tmp_path, **change))


# --- short nardy ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "name"),
    [
        ("24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5", "opening"),
        ("24:2 13:3 11:2 8:2 6:4 5:2 | 24:2 13:5 8:3 6:5", "opening"),
        ("24:2 13:2 11:3 8:2 6:4 5:2 | 24:2 13:5 8:3 6:5", "middle"),
        ("24:2 13:5 8:3 6:5 | 24:2 13:2 11:3 8:2 6:4 5:2", "middle"),
        ("bar:2 13:5 8:3 6:5 | 24:2 13:4 8:3 6:5 1:1", "opening"),
        ("12:2 6:13 | 12:2 6:13", "race"),
        ("14:2 6:13 | 12:2 6:13", "middle"),
        ("12:2 6:13 | bar:1 6:14", "middle"),
        ("7:1 6:5 off:9 | 3:2 off:13", "race"),
        ("6:5 3:5 off:5 | 12:5 7:5 3:5", "bear-off"),
        ("6:5 3:10 | 24:2 6:13", "bear-off"),
        ("bar:1 6:4 off:10 | 24:2 6:13", "middle"),
    ],
)
def test_phases_of_short_nardy(position, name):
    assert SHORT_PHASES[phase(np.array([parse_position(position)], dtype=np.int8), SHORT)[0]] == name


@pytest.fixture(scope="module")
def short_nets():
    return [CompiledEvaluator(make_net(NetConfig(8, 4), SHORT, seed), SHORT) for seed in (1, 2)]


def test_players_meet_each_other_and_themselves(short_nets):
    """Every evaluator is asked about its own decisions; which these are, the first four games show."""
    asked = []

    class Asked:
        def __init__(self, name, net):
            self.name, self.net = name, net

        def after_play(self, boards, moved_first, afterstates):
            asked.append((self.name, boards.copy(), moved_first.copy()))
            return self.net.after_play(boards, moved_first, afterstates)

    players = [Asked(name, net) for name, net in zip("ab", short_nets, strict=True)]
    drawn = draw_decisions(players, SHORT, games=16, decisions=40, seed=1)
    assert (drawn.phase == phase(drawn.boards, SHORT)).all()
    everyone, first_seat, second_seat = asked[0], asked[1], asked[3]
    assert [name for name, *_ in asked[:4]] == ["a", "b", "a", "b"]
    assert len(everyone[1]) == 16
    assert len(first_seat[1]) == 8
    assert first_seat[2].all()
    dice = roll(new_games(np.arange(16), SHORT), 1, SHORT)
    assert len(second_seat[1]) == 8
    assert not second_seat[2].any()
    games = new_games(np.arange(16), SHORT)
    decisions = decide(games, dice, SHORT)
    of_player = [
        afterstate_equities(net, games.boards, games.moved_first, decisions.afterstates, SHORT) for net in short_nets
    ]
    for game, board in zip((2, 3, 6, 7, 10, 11, 14, 15), second_seat[1], strict=True):
        rows = slice(decisions.afterstates.offsets[game], decisions.afterstates.offsets[game + 1])
        best = of_player[game % 2][rows].argmax()
        np.testing.assert_array_equal(flip(board), decisions.afterstates.boards[rows][best])


def test_one_player_twice_is_one_player(short_nets):
    net = short_nets[0]
    alone, twice = (draw_decisions(players, SHORT, games=30, decisions=60, seed=1) for players in ([net], [net, net]))
    for name in ("boards", "dice", "moved_first", "phase", "shares"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(twice, name))


@pytest.mark.yardsticks
def test_gnubg_judges_every_play(tmp_path, monkeypatch):
    def stop(done, total):
        if done < total:
            raise KeyboardInterrupt

    monkeypatch.setattr(reference_set, "_BATCH", 25)
    settings = ReferenceSetConfig(
        judge="gnubg:1", rules="short", games=40, decisions=40, threads=2, work=str(tmp_path / "work")
    )
    with pytest.raises(KeyboardInterrupt):
        build_reference_set(settings, stop)
    built = build_reference_set(dataclasses.replace(settings, threads=1))
    assert built.phases == SHORT_PHASES
    assert (np.bincount(built.phase) >= 5).all()
    assert built.meta["judge"]["plies"] == 1
    assert "rollout" not in built.meta
    assert not built.stderr.any()
    judge = GnubgEvaluator("gnubg:1", SHORT)
    decision = np.repeat(np.arange(40), built.after.counts)
    equities = afterstate_equities(judge, built.boards, built.moved_first, built.after, SHORT)
    best = np.maximum.reduceat(equities, built.after.offsets[:-1])
    np.testing.assert_allclose(built.loss, best[decision] - equities, atol=6e-6)
    path = tmp_path / "set.npz"
    save_reference_set(built, path)
    np.testing.assert_allclose(load_reference_set(path).loss, built.loss, atol=1e-6)
    assert error_rate(make_agent("gnubg:1", SHORT, search=SearchConfig([99], [9.0])), built).overall.mean < 0.01


def test_the_packages_own_set_of_short_nardy(monkeypatch):
    """It is loaded and used without gnubg; what is known of it is in docs/error_rate.md."""
    monkeypatch.setitem(sys.modules, "gnubg", None)
    reference = load_reference_set(rules="short")
    assert len(reference) >= 2_000
    assert reference.rules == SHORT
    assert reference.meta["judge"]["plies"] == 2
    assert (np.bincount(reference.phase) >= 300).all()
    assert not np.isnan(reference.stderr).any()
    found = error_rate(make_agent("checkpoints/short-quick-v1", SHORT), reference)
    assert 5 < found.overall.mean < 25
