"""The compiled evaluator against torch, and the exact parts of an equity."""

import numpy as np
import pytest
import torch

from nardy_rl.agents.base import choose, decide
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules import dice
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.spec import PRESETS, Rules, make_rules
from nardy_rl.value.evaluator import (
    CompiledEvaluator,
    TorchEvaluator,
    afterstate_equities,
    last_throw_equities,
)
from nardy_rl.value.features import COUNTS, ROWS, SEAT_ROW, active_rows
from nardy_rl.value.net import NetConfig, ValueNet, make_net, value_points

OFFICIAL = PRESETS["official"]


def lively_net(rules: Rules, config: NetConfig, seed: int = 0) -> ValueNet:
    """A net with weights far from the start, so that units are clipped and outputs differ."""
    net = make_net(config, rules, seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(4.0)
    return net


def boards_of_play(rules: Rules, n: int, turns: int) -> tuple[Boards, np.ndarray, Afterstates]:
    """Boards, seats and afterstates from random play."""
    games = new_games(np.arange(n), rules)
    boards, seats, rolls = [], [], []
    for _ in range(turns):
        thrown = roll(games, 7, rules)
        decisions = decide(games, thrown, rules)
        boards.append(games.boards)
        seats.append(games.moved_first)
        rolls.append(thrown)
        ties = dice.bits(7, dice.TIES, games.stream, games.turn)
        zeros = np.zeros(len(decisions.afterstates.boards))
        chosen = choose(zeros, decisions.afterstates.offsets, ties)
        games, outcome, _ = apply(games, decisions.afterstates.boards[chosen], rules)
        games = games.take(outcome < 0)
    all_boards, all_seats = np.concatenate(boards), np.concatenate(seats)
    return all_boards, all_seats, legal_afterstates(all_boards, np.concatenate(rolls), rules)


@pytest.mark.parametrize("config", [NetConfig(), NetConfig(256, 32), NetConfig(7, 3)])
@pytest.mark.parametrize("preset", ["official", "overview", "casual"])
def test_compiled_equals_torch_on_10000_boards(preset: str, config: NetConfig) -> None:
    rules = make_rules(preset)
    net = lively_net(rules, config)
    by_torch, compiled = TorchEvaluator(net, rules), CompiledEvaluator(net, rules)
    boards, seats, after = boards_of_play(rules, 120, 100)
    assert len(boards) > 10_000
    # the scalar net of `casual` speaks in points of up to 45, the others in probabilities
    scale = np.abs(by_torch.values(boards, seats)).max()
    difference = np.abs(by_torch.values(boards, seats) - compiled.values(boards, seats)).max()
    assert difference <= 1e-5 * max(scale, 1.0)
    by_torch_equity = by_torch.after_play(boards, seats, after)
    assert np.ptp(by_torch_equity) > 0.1, "the net must tell positions apart for this test to mean anything"
    difference = np.abs(by_torch_equity - compiled.after_play(boards, seats, after)).max()
    assert difference <= 1e-5 * max(np.abs(by_torch_equity).max(), 1.0)


def test_results_do_not_depend_on_the_batch() -> None:
    evaluator = CompiledEvaluator(lively_net(OFFICIAL, NetConfig()), OFFICIAL)
    boards, seats, after = boards_of_play(OFFICIAL, 20, 30)
    together = evaluator.after_play(boards, seats, after)
    for game in (0, 17, 200, len(boards) - 1):
        first, last = after.offsets[game : game + 2]
        alone = Afterstates(after.boards[first:last], np.array([0, last - first]))
        np.testing.assert_array_equal(together[first:last], evaluator.after_play(boards[[game]], seats[[game]], alone))


def test_active_rows_by_hand() -> None:
    board = np.array([parse_position("off:3 24:2 1:10 | 24:15")], dtype=np.int8)
    rows, offsets = active_rows(board, np.array([True]))
    own = [1, 2, 3, *range(COUNTS + 1, COUNTS + 11), 24 * COUNTS + 1, 24 * COUNTS + 2]
    opponent = list(range((26 + 24) * COUNTS + 1, (26 + 24) * COUNTS + 16))
    assert rows.tolist() == [*own, *opponent, SEAT_ROW]
    assert offsets.tolist() == [0, 31]
    assert rows.max() < ROWS


def test_afterstate_equity_is_minus_the_opponents_equity() -> None:
    evaluator = TorchEvaluator(lively_net(OFFICIAL, NetConfig()), OFFICIAL)
    boards, seats, after = boards_of_play(OFFICIAL, 10, 10)
    equities = afterstate_equities(evaluator, boards, seats, after, OFFICIAL)
    opponents = evaluator.equities(flip(after.boards), ~np.repeat(seats, after.counts))
    np.testing.assert_allclose(equities, -opponents, atol=1e-6)


@pytest.mark.parametrize(
    ("position", "dice", "moved_first", "expected"),
    [
        ("off:14 1:1 | off:1 1:14", (2, 1), False, 1.0),  # the second player's win is final: oin
        ("off:14 1:1 | 1:14 24:1", (2, 1), False, 2.0),  # mars
        # R5.4: the first player is done, the second has one throw: with two on his first point any roll is a draw
        ("off:14 1:1 | off:13 1:2", (2, 1), True, 0.0),
        # with five left only mars or oin is open; he has one off already: oin
        ("off:14 1:1 | off:10 1:5", (2, 1), True, 1.0),
        # one checker on 6: off with a six in the roll (11/36), or 5-1, 4-2, 3-3, 2-2, or 5-5, 4-4 (step by step)
        ("off:14 1:1 | off:14 6:1", (2, 1), True, None),
    ],
)
def test_finished_games_and_the_last_throw_are_exact(
    position: str, dice: tuple[int, int], moved_first: bool, expected: float | None
) -> None:
    board = np.array([parse_position(position)], dtype=np.int8)
    after = legal_afterstates(board, np.array([dice]), OFFICIAL)
    evaluator = CompiledEvaluator(lively_net(OFFICIAL, NetConfig()), OFFICIAL)
    equity = afterstate_equities(evaluator, board, np.array([moved_first]), after, OFFICIAL)
    assert len(equity) == 1
    if expected is None:
        off = sum(
            (2 if a != b else 1) / 36
            for a in range(1, 7)
            for b in range(1, a + 1)
            if a == 6 or (a != b and a + b >= 6) or (a == b and 4 * a >= 6)
        )
        expected = 1.0 - off
    np.testing.assert_allclose(equity, [expected], atol=1e-12)


def test_last_throw_against_a_sum_over_the_36_throws() -> None:
    """The same expectation by ordered throws and plain Python, for draw, oin and mars together."""
    position = np.array([parse_position("2:1 5:14 | off:15")], dtype=np.int8)
    total = 0.0
    for a in range(1, 7):
        for b in range(1, 7):
            after = legal_afterstates(position, np.array([[a, b]]), OFFICIAL)
            saved = max(int(row[0, 0]) > 0 for row in after.boards)
            total += (-1.0 if saved else -2.0) / 36
    np.testing.assert_allclose(last_throw_equities(position, OFFICIAL), [total], atol=1e-12)


def test_outcome_points() -> None:
    assert value_points(OFFICIAL).tolist() == [-2, -1, 0, 1, 2]
    assert value_points(make_rules("overview")).tolist() == [-4, -3, -2, -1, 0, 1, 2, 3, 4]
    assert value_points(make_rules("casual")).tolist() == [1]
