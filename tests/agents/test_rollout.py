"""Rollouts: unbiased, exact where exactness is to be had, and the same numbers however they are computed."""

import dataclasses

import numpy as np
import pytest

from nardy_rl import game as flow
from nardy_rl.agents import rollout as module
from nardy_rl.agents.lookahead import backed_up_equities
from nardy_rl.agents.rollout import BLOCK, RolloutSettings, rollout, rollout_candidates, top_candidates
from nardy_rl.endgame.evaluator import TableEvaluator
from nardy_rl.endgame.tables import build_table
from nardy_rl.rules.board import flip, new_boards
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import OFFICIAL, PRESETS
from nardy_rl.value.evaluator import CompiledEvaluator, afterstate_equities
from nardy_rl.value.net import NetConfig, make_net

SMALL = CompiledEvaluator(make_net(NetConfig(16, 8), OFFICIAL, 1), OFFICIAL, precision="int16")
TABLE = build_table(3, OFFICIAL)


def settings(trials=BLOCK, **others):
    return RolloutSettings(trials=trials, **{"min_trials": trials, "truncate": None, **others})


def boards_of(*texts):
    return np.array([parse_position(text) for text in texts], dtype=np.int8)


def decisions(n=4, turns=24, rules=OFFICIAL, seed=5):
    """Boards, dice and seats from play at random."""
    games = flow.new_games(np.arange(n), rules)
    for turn in range(turns):
        after = legal_afterstates(games.boards, flow.roll(games, seed, rules), rules)
        games, _, _ = flow.apply(games, after.boards[after.offsets[:-1] + (games.stream + turn) % after.counts], rules)
    return np.ascontiguousarray(games.boards), flow.roll(games, seed, rules), games.moved_first


def policy_value(evaluator, board, seat, rules, known=None):
    """What a position is worth if both sides make the evaluator's best play, by going through every game."""
    known = {} if known is None else known
    key = board.tobytes(), seat
    if key not in known:
        total = 0.0
        for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
            after = legal_afterstates(board[None], roll[None], rules)
            equities = afterstate_equities(evaluator, board[None], np.array([seat]), after, rules)
            chosen = after.boards[[equities.argmax()]]
            outcome, points = settle(board[None], chosen, np.array([seat]), rules)
            value = points[0]
            if outcome[0] < 0:
                value = -policy_value(evaluator, np.ascontiguousarray(flip(chosen)[0]), not seat, rules, known)
            total += weight * value
        known[key] = total
    return known[key]


def within(result, expected, sigmas=4.0):
    return np.abs(result.equity - expected) <= sigmas * result.stderr + 1e-6


# --- what is known exactly --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", [True, False])
def test_one_roll_endgames_are_exact(reduction):
    boards = boards_of("1:1 off:14 | 24:15", "1:2 off:13 | 5:3 off:12", "2:1 off:14 | 1:15", "1:1 off:14 | 1:1 off:14")
    seats = np.array([False, False, False, True])  # the last one draws: his opponent has one throw left, and uses it
    result = rollout(SMALL, boards, seats, OFFICIAL, settings(variance_reduction=reduction))
    assert result.equity.tolist() == [2.0, 1.0, 2.0, 0.0]
    assert result.stderr.tolist() == [0.0] * 4
    assert result.trials.tolist() == [BLOCK] * 4


@pytest.mark.parametrize("reduction", [True, False])
@pytest.mark.parametrize("preset", ["official", "online", "casual"])
def test_small_bear_offs_agree_with_every_game_gone_through(reduction, preset):
    rules = PRESETS[preset]
    evaluator = CompiledEvaluator(make_net(NetConfig(16, 8), rules, 2), rules, precision="int16")
    boards = boards_of("3:1 5:1 off:13 | 4:1 2:1 off:13", "6:2 off:13 | 5:1 1:2 off:12", "4:2 off:13 | off:15")
    seats = np.array([True, False, False])
    if rules.draw == "none":
        boards, seats = boards[:2], seats[:2]
    expected = [policy_value(evaluator, board, bool(seat), rules) for board, seat in zip(boards, seats, strict=True)]
    result = rollout(evaluator, boards, seats, rules, settings(1296, variance_reduction=reduction))
    assert within(result, expected).all()
    assert (result.stderr > 0).any()


def test_a_perfect_evaluator_leaves_no_chance():
    perfect = TableEvaluator(SMALL, TABLE, OFFICIAL)
    boards = boards_of("3:1 5:1 off:13 | 4:1 2:2 off:12", "6:2 4:1 off:12 | 5:2 off:13")
    seats = np.array([True, False])
    exact = [policy_value(perfect, board, bool(seat), OFFICIAL) for board, seat in zip(boards, seats, strict=True)]
    np.testing.assert_allclose(TABLE.lookup(boards, seats), exact, atol=2e-4)
    result = rollout(perfect, boards, seats, OFFICIAL, settings())
    assert (result.equity == TABLE.lookup(boards, seats).astype(np.float32)).all()
    assert (result.stderr == 0).all()

    class Unknown:  # the same evaluator, whose table the rollout does not see
        after_play = staticmethod(perfect.after_play)

    played = rollout(Unknown(), boards, seats, OFFICIAL, settings())
    np.testing.assert_allclose(played.equity, exact, atol=2e-3)
    assert (played.stderr < 1e-4).all()


def test_a_table_ends_trials_where_the_game_is_solved():
    perfect = TableEvaluator(SMALL, TABLE, OFFICIAL)
    boards, seats = boards_of("6:2 5:2 off:11 | 4:1 3:1 off:13"), np.array([True])
    expected = policy_value(perfect, boards[0], True, OFFICIAL)
    for reduction in (True, False):
        result = rollout(perfect, boards, seats, OFFICIAL, settings(1296, variance_reduction=reduction))
        assert within(result, expected).all()


@pytest.mark.parametrize("reduction", [True, False])
def test_truncated_at_once_is_the_lookahead(reduction):
    boards, _, seats = decisions(6)
    result = rollout(SMALL, boards, seats, OFFICIAL, settings(truncate=0, variance_reduction=reduction))
    np.testing.assert_allclose(result.equity, backed_up_equities(SMALL, boards, seats, OFFICIAL), atol=1e-6)
    assert result.stderr == pytest.approx(0, abs=1e-7)


def test_truncated_after_one_turn_by_hand():
    boards, _, seats = decisions(2)
    expected = np.zeros(2)
    for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
        after = legal_afterstates(boards, np.tile(roll, (2, 1)), OFFICIAL)
        equities = afterstate_equities(SMALL, boards, seats, after, OFFICIAL)
        best = [
            first + equities[first:last].argmax() for first, last in zip(after.offsets, after.offsets[1:], strict=False)
        ]
        expected -= weight * backed_up_equities(SMALL, flip(after.boards[best]), ~seats, OFFICIAL)
    reduced = rollout(SMALL, boards, seats, OFFICIAL, settings(truncate=1))
    np.testing.assert_allclose(reduced.equity, expected, atol=1e-6)
    assert reduced.stderr == pytest.approx(0, abs=1e-7)
    every_pair_of_rolls = rollout(SMALL, boards, seats, OFFICIAL, settings(1296, truncate=1, variance_reduction=False))
    np.testing.assert_allclose(every_pair_of_rolls.equity, expected, atol=1e-6)


# --- no bias, honest errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("truncate", [6, None])
@pytest.mark.parametrize("preset", ["official", "fnr", "short"])
def test_reduced_and_plain_means_agree(preset, truncate):
    rules = PRESETS[preset]
    evaluator = CompiledEvaluator(make_net(NetConfig(16, 8), rules, 3), rules, precision="int16")
    boards, _, seats = decisions(1, turns=40, rules=rules)
    boards, seats = np.concatenate([boards, new_boards(1, rules)]), np.append(seats, True)
    trials = 1296 if truncate else 4 * BLOCK
    one, two = (
        rollout(evaluator, boards, seats, rules, settings(trials, truncate=truncate, variance_reduction=reduction))
        for reduction in (True, False)
    )
    assert (np.abs(one.equity - two.equity) <= 4 * np.hypot(one.stderr, two.stderr)).all()
    assert (one.stderr > 0).all()


def test_the_opening_lot_is_no_double():
    rules = PRESETS["fnr"]
    evaluator = CompiledEvaluator(make_net(NetConfig(16, 8), rules, 3), rules, precision="int16")
    lots = [roll for roll in ROLLS if roll[0] != roll[1]]
    best = []
    for roll in lots:
        after = legal_afterstates(new_boards(1, rules), roll[None], rules)
        best.append(afterstate_equities(evaluator, new_boards(1, rules), np.array([True]), after, rules).max())
    result = rollout(evaluator, new_boards(1, rules), np.array([True]), rules, settings(truncate=0))
    assert result.equity[0] == pytest.approx(np.mean(best), abs=1e-6)


@pytest.mark.parametrize("reduction", [True, False])
def test_standard_errors_are_those_of_repeated_rollouts(reduction):
    boards, _, seats = decisions(1)
    n = 60
    many = rollout(
        SMALL, np.repeat(boards, n, axis=0), np.repeat(seats, n), OFFICIAL,
        settings(3 * BLOCK, truncate=3, variance_reduction=reduction),
    )  # fmt: skip
    ratio = many.equity.std(ddof=1) / many.stderr.mean()
    assert 0.7 < ratio < 1.25  # four standard deviations of a standard deviation from 60; second rolls are balanced too


@pytest.mark.parametrize("trials", [BLOCK, 1296])
def test_the_first_two_rolls_are_balanced(trials):
    stream = np.repeat([4, 9], trials)
    dice = module._Dice(1, stream, np.tile(np.arange(trials), 2))
    one, two, three = (dice.rolls(turn) for turn in (0, 1, 2))
    pairs = np.rint(36 * ROLL_WEIGHTS)
    for mine in (stream == 4, stream == 9):
        for start in range(0, trials, BLOCK):
            for rolls in (one, two):
                assert (np.bincount(rolls[mine][start : start + BLOCK], minlength=21) == pairs).all()
        both = np.bincount(one[mine] * 21 + two[mine], minlength=441)
        if trials == 1296:
            assert (both == np.outer(pairs, pairs).ravel()).all()
    assert (one[stream == 4] != one[stream == 9]).any()
    assert len(set(three.tolist())) > 10


# --- decisions --------------------------------------------------------------------------------------------------------


def test_top_candidates():
    boards, dice, seats = decisions(5)
    after = legal_afterstates(boards, dice, OFFICIAL)
    equities = afterstate_equities(SMALL, boards, seats, after, OFFICIAL)
    top = top_candidates(SMALL, boards, dice, seats, OFFICIAL, count=3, within=0.01)
    for k in range(5):
        mine = slice(after.offsets[k], after.offsets[k + 1])
        order = np.argsort(-equities[mine], kind="stable")[:3]
        order = order[equities[mine][order] >= equities[mine].max() - 0.01]
        assert (top.boards[top.offsets[k] : top.offsets[k + 1]] == after.boards[mine][order]).all()


def test_a_candidate_against_itself_differs_by_exactly_nothing():
    boards, dice, seats = decisions(3)
    top = top_candidates(SMALL, boards, dice, seats, OFFICIAL, count=1)
    twice = Afterstates(np.repeat(top.boards, 2, axis=0), np.arange(4) * 2)
    for reduction in (True, False):
        result = rollout_candidates(
            SMALL, boards, seats, twice, OFFICIAL, settings(truncate=5, variance_reduction=reduction)
        )
        assert (result.loss == 0).all()
        assert (result.loss_stderr == 0).all()
        assert (result.stderr > 0).all()


def test_candidates_are_rolled_out_like_positions_on_the_same_dice():
    boards, dice, seats = decisions(3)
    top = top_candidates(SMALL, boards, dice, seats, OFFICIAL, count=3)
    result = rollout_candidates(SMALL, boards, seats, top, OFFICIAL, settings(72, truncate=4))
    decision = np.repeat(np.arange(3), top.counts)
    alone = rollout(SMALL, flip(top.boards), ~seats[decision], OFFICIAL, settings(72, truncate=4), streams=decision)
    assert (result.equity == -alone.equity).all()
    assert (result.stderr == alone.stderr).all()
    for k in range(3):
        mine = slice(top.offsets[k], top.offsets[k + 1])
        assert result.best[k] == top.offsets[k] + result.equity[mine].argmax()
        np.testing.assert_allclose(result.loss[mine], result.equity[mine].max() - result.equity[mine], atol=1e-12)


def test_finished_games_need_no_trials():
    boards, seats = boards_of("1:1 6:1 off:13 | 1:1 off:14"), np.array([False])
    after = legal_afterstates(boards, np.array([[6, 1]]), OFFICIAL)
    result = rollout_candidates(SMALL, boards, seats, after, OFFICIAL, settings())
    won = np.flatnonzero(after.boards[:, 0, 0] == 15)
    assert won.size
    assert (result.equity[won] == 1.0).all()
    assert (result.trials == np.where(after.boards[:, 0, 0] == 15, 0, BLOCK)).all()
    assert result.best[0] == won[0]
    assert (result.loss >= 0).all()


def test_trials_stop_when_differences_are_known_well_enough():
    boards, dice, seats = decisions(6)
    top = top_candidates(SMALL, boards, dice, seats, OFFICIAL, count=4)
    full = settings(720, min_trials=72, truncate=2)
    stopping = dataclasses.replace(full, stop_se=0.0003, out_of_reach=3.0)
    everything = rollout_candidates(SMALL, boards, seats, top, OFFICIAL, full)
    result = rollout_candidates(SMALL, boards, seats, top, OFFICIAL, stopping)
    assert (everything.trials == 720).all()
    assert len(set(result.trials.tolist())) > 2
    assert result.trials.sum() < everything.trials.sum() / 2
    assert (result.trials % BLOCK == 0).all()
    for k in range(6):
        for j in range(top.offsets[k], top.offsets[k + 1]):
            most = result.trials[result.best[k]]
            if j == result.best[k]:
                continue
            if result.trials[j] == most < 720:
                known = result.loss_stderr[j] <= 0.0003
                assert known or result.loss[j] > 3.0 * result.loss_stderr[j]
            elif result.trials[j] < most:
                assert result.loss[j] > 0
    close = np.abs(result.loss - everything.loss) <= 4 * np.hypot(result.loss_stderr, everything.loss_stderr) + 1e-6
    assert close.all()


def test_a_position_alone_stops_when_its_equity_is_known():
    boards, _, seats = decisions(3)
    result = rollout(SMALL, boards, seats, OFFICIAL, settings(1296, min_trials=36, truncate=3, stop_se=0.002))
    assert (result.stderr <= 0.002).all()
    assert (result.trials < 1296).any()


# --- the same numbers however they are computed -----------------------------------------------------------------------


@pytest.mark.parametrize("reduction", [True, False])
def test_threads_and_batches_change_nothing(reduction, monkeypatch):
    boards, dice, seats = decisions(4)
    top = top_candidates(SMALL, boards, dice, seats, OFFICIAL, count=3)
    asked = settings(144, min_trials=72, truncate=4, variance_reduction=reduction, stop_se=0.001, out_of_reach=3.0)
    whole = rollout_candidates(SMALL, boards, seats, top, OFFICIAL, asked)
    monkeypatch.setattr(module, "_JOB", 50)
    threaded = rollout_candidates(SMALL, boards, seats, top, OFFICIAL, asked, threads=2)
    for one, other in zip(whole, threaded, strict=True):
        assert (one == other).all()
    for k in range(4):
        mine = slice(top.offsets[k], top.offsets[k + 1])
        single = Afterstates(top.boards[mine], np.array([0, top.counts[k]]))
        alone = rollout_candidates(SMALL, boards[[k]], seats[[k]], single, OFFICIAL, asked, streams=np.array([k]))
        assert (alone.equity == whole.equity[mine]).all()
        assert (alone.loss_stderr == whole.loss_stderr[mine]).all()


@pytest.mark.parametrize("after", [1, 5, 9])
def test_a_stopped_rollout_goes_on_as_if_it_had_not(after, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_JOB", 100)
    boards, dice, seats = decisions(4)
    top = top_candidates(SMALL, boards, dice, seats, OFFICIAL, count=3)
    asked = settings(288, min_trials=72, truncate=3, stop_se=0.001, out_of_reach=3.0)
    whole = rollout_candidates(SMALL, boards, seats, top, OFFICIAL, asked)
    state = tmp_path / "state.npz"
    reports = []

    def interrupt(done, planned):
        reports.append((done, planned))
        if len(reports) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rollout_candidates(SMALL, boards, seats, top, OFFICIAL, asked, state=state, progress=interrupt)
    done = []
    again = rollout_candidates(
        SMALL, boards, seats, top, OFFICIAL, asked, state=state, progress=lambda *counts: done.append(counts)
    )
    for one, other in zip(whole, again, strict=True):
        assert (one == other).all()
    assert done[0][0] > reports[-1][0] - 100, "what was saved is not played again"
    assert done[-1] == (whole.trials.sum(),) * 2
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]
    finished = rollout_candidates(
        SMALL, boards, seats, top, OFFICIAL, asked, state=state, progress=lambda *_: pytest.fail("nothing is left")
    )
    assert (finished.equity == whole.equity).all()


def test_a_state_of_another_rollout_is_refused(tmp_path):
    boards, _, seats = decisions(2)
    state = tmp_path / "state.npz"
    asked = settings(truncate=1)
    rollout(SMALL, boards, seats, OFFICIAL, asked, state=state)
    other_net = CompiledEvaluator(make_net(NetConfig(16, 8), OFFICIAL, 9), OFFICIAL, precision="int16")
    with pytest.raises(ValueError, match="other positions, rules or settings"):
        rollout(SMALL, boards, seats, OFFICIAL, dataclasses.replace(asked, seed=2), state=state)
    with pytest.raises(ValueError, match="other positions, rules or settings"):
        rollout(SMALL, boards, ~seats, OFFICIAL, asked, state=state)
    with pytest.raises(ValueError, match="other positions, rules or settings"):
        rollout(SMALL, boards, seats, PRESETS["moscow"], asked, state=state)
    with pytest.raises(ValueError, match="another evaluator"):
        rollout(other_net, boards, seats, OFFICIAL, asked, state=state)
    state.write_bytes(state.read_bytes()[:-40])
    with pytest.raises(ValueError, match="damaged"):
        rollout(SMALL, boards, seats, OFFICIAL, asked, state=state)
    with pytest.raises(ValueError, match="there is no folder"):
        rollout(SMALL, boards, seats, OFFICIAL, asked, state=tmp_path / "none" / "state.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials": 100}, "trials=100"),
        ({"min_trials": 0}, "min_trials=0"),
        ({"min_trials": 720}, "trials=360"),
        ({"truncate": -1}, "truncate=-1"),
        ({"stop_se": float("nan")}, "stop_se=nan"),
        ({"out_of_reach": -1.0}, "out_of_reach=-1"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_settings_that_are_not_allowed(change, message):
    boards, _, seats = decisions(1)
    with pytest.raises(ValueError, match=message):
        rollout(SMALL, boards, seats, OFFICIAL, RolloutSettings(**{"trials": 360, "min_trials": 36, **change}))


def test_arguments_that_do_not_fit():
    boards, _, seats = decisions(2)
    with pytest.raises(ValueError, match="streams must be 2"):
        rollout(SMALL, boards, seats, OFFICIAL, settings(), streams=np.array([0, -1]))
    with pytest.raises(ValueError, match="threads=0"):
        rollout(SMALL, boards, seats, OFFICIAL, settings(), threads=0)
    none = Afterstates(boards[:1], np.array([0, 1, 1]))
    with pytest.raises(ValueError, match="at least one candidate"):
        rollout_candidates(SMALL, boards, seats, none, OFFICIAL, settings())
