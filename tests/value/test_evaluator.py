"""The compiled evaluator against torch, and the exact parts of an equity."""

import itertools

import numba
import numpy as np
import pytest
import torch

from nardy_rl.agents.base import choose, decide
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules import dice
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.spec import PRESETS, SLOTS, Rules, make_rules
from nardy_rl.training.selfplay import play_games
from nardy_rl.value import _kernels
from nardy_rl.value.checkpoint import load_checkpoint
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
    """A net with weights far from the start, so that units are clipped, and outputs and stages differ."""
    net = make_net(config, rules, seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(4.0)
        generator = torch.Generator().manual_seed(seed)
        net.rows[ROWS:] += 0.1 * torch.randn(net.rows[ROWS:].shape, generator=generator)  # patterns start at zero
        if net.stages > 1:
            for parameter in (*net.second.parameters(), *net.last.parameters()):
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
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


STAGED = NetConfig(70, 20, stages="short"), NetConfig(64, 16, stages="long")
PATTERNED = (
    NetConfig(70, 20, stages="long", patterns="long"),
    NetConfig(64, 16, patterns="long-six"),
)


@pytest.mark.parametrize("config", [NetConfig(), NetConfig(256, 32), NetConfig(7, 3), *STAGED, *PATTERNED])
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


@pytest.mark.parametrize(
    ("preset", "config"),
    [
        *itertools.product(
            ("official", "overview", "casual", "short"), (NetConfig(), NetConfig(256, 32), NetConfig(7, 3), *STAGED)
        ),
        *itertools.product(("official", "overview", "casual"), PATTERNED),
    ],
)
def test_int16_is_close_to_float32_in_random_play(preset: str, config: NetConfig) -> None:
    rules = make_rules(preset)
    boards, seats, after = boards_of_play(rules, 40, 60)
    # a lively net multiplies rounding by up to 4 in each of two more layers
    for net, tolerance in ((make_net(config, rules, 0), 1e-3), (lively_net(rules, config), 5e-3)):
        narrow = CompiledEvaluator(net, rules, "int16")
        assert narrow.precision == "int16"
        expected = CompiledEvaluator(net, rules).after_play(boards, seats, after)
        # points of up to 45 for `casual`, up to 4 for `overview`
        difference = np.abs(expected - narrow.after_play(boards, seats, after)).max()
        assert difference <= tolerance * max(np.abs(expected).max(), 1.0)


@pytest.mark.parametrize(
    ("kept", "largest", "root_mean_square"),
    [("long-quick-v1", 1e-3, 1.5e-4), ("long-official-v1", 6e-3, 6e-4), ("short-v1", 5e-3, 5e-4)],
)
def test_int16_is_close_where_a_trained_net_plays_itself(kept: str, largest: float, root_mean_square: float) -> None:
    """The longer a net has learnt, the larger its weights, and the coarser the steps that hold their sums."""
    checkpoint = load_checkpoint(f"checkpoints/{kept}")
    rules = checkpoint.rules
    float32, narrow = CompiledEvaluator(checkpoint.net, rules), CompiledEvaluator(checkpoint.net, rules, "int16")
    assert narrow.precision == "int16"
    games = play_games(float32, np.arange(48), 1, 0.0, rules)
    turn, game = np.nonzero(games.alive)
    boards, seats = games.boards[games.alive], games.moved_first[games.alive]
    after = legal_afterstates(boards, dice.roll_dice(1, game, turn), rules)
    assert len(after.boards) > 30_000
    expected, actual = float32.after_play(boards, seats, after), narrow.after_play(boards, seats, after)
    assert np.abs(expected - actual).max() <= largest
    assert np.sqrt(np.square(expected - actual).mean()) <= root_mean_square


def test_largest_sum_of_a_position_against_all_of_them() -> None:
    """Three slots a side matter to this net: every way to spread the checkers over them and the rest is tried."""
    rng = np.random.default_rng(4)
    rows = np.zeros((ROWS, 6), np.float32)
    slots = ((0, 3), (0, 24), (0, 0), (1, 7), (1, 8), (1, 20))
    for side, slot in slots:
        first = (side * SLOTS + slot) * COUNTS
        rows[first + 1 : first + COUNTS] = rng.normal(size=(COUNTS - 1, 6))
    rows[SEAT_ROW] = rng.normal(size=6)
    bias = rng.normal(size=6).astype(np.float32)
    spread = [(a, b, c) for a in range(16) for b in range(16 - a) for c in range(16 - a - b)]
    sums = []
    for side in (0, 1):
        mine = [slot for s, slot in slots if s == side]
        stacks = [np.cumsum(rows[(side * SLOTS + slot) * COUNTS :][:COUNTS].astype(float), axis=0) for slot in mine]
        sums.append(np.array([sum(stack[n] for stack, n in zip(stacks, counts, strict=True)) for counts in spread]))
    seat = np.stack([np.zeros(6), rows[SEAT_ROW].astype(float)])
    most = sums[0].max(axis=0) + sums[1].max(axis=0) + seat.max(axis=0) + bias
    least = sums[0].min(axis=0) + sums[1].min(axis=0) + seat.min(axis=0) + bias
    found = _kernels._largest_position_sums(rows, bias)
    np.testing.assert_allclose(found, np.maximum(np.abs(most), np.abs(least)), rtol=1e-6)
    assert (found <= _kernels._largest_sums(rows, bias) + 1e-5).all()


def test_int16_does_not_overflow_at_the_largest_sums() -> None:
    """Every checker of a side on one point, and weights of one sign: the first layer's sum is the bound itself."""
    net = make_net(NetConfig(64, 16), OFFICIAL, 0)
    board = np.array([parse_position("off:14 1:1 | off:13 1:2"), parse_position("24:15 | 24:15")], dtype=np.int8)
    after = legal_afterstates(board, np.array([[2, 1], [2, 1]]), OFFICIAL)
    for sign in (1.0, -1.0):
        with torch.no_grad():
            net.rows.fill_(sign)
            net.bias.fill_(0.5 - 30.0 * sign)  # so that what overflows would be seen, not clipped
            net.rows[SEAT_ROW] = 0.1
        seats = np.array([True, False])
        expected = CompiledEvaluator(net, OFFICIAL).after_play(board, seats, after)
        narrow = CompiledEvaluator(net, OFFICIAL, "int16")
        assert narrow.precision == "int16"
        np.testing.assert_allclose(narrow.after_play(board, seats, after), expected, atol=1e-3)


def test_weights_too_large_for_int16_are_evaluated_in_float32() -> None:
    net = make_net(NetConfig(8, 4), OFFICIAL, 0)
    with torch.no_grad():
        net.rows.fill_(4.0)
    assert CompiledEvaluator(net, OFFICIAL, "int16").precision == "float32"
    with pytest.raises(ValueError, match="precision must be float32 or int16, not 'int8'"):
        CompiledEvaluator(net, OFFICIAL, "int8")


@numba.njit
def _call_changed_places(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    masks = np.empty(len(after), np.int64)
    for k in range(len(after)):
        masks[k] = _kernels.changed_places(before, k, after, k)
    return masks


def test_changed_places_against_numpy() -> None:
    numbers = np.random.default_rng(0)
    before = numbers.integers(0, 3, (500, 2 * SLOTS), dtype=np.int8)
    after = numbers.integers(0, 3, (500, 2 * SLOTS), dtype=np.int8)
    expected = ((before != after) << np.arange(2 * SLOTS)).sum(axis=1)
    np.testing.assert_array_equal(_call_changed_places(before, after), expected)


@numba.njit
def _call_first_layer(
    base: np.ndarray, rows: np.ndarray, changed: np.ndarray, top: np.ndarray, out: np.ndarray
) -> None:
    for k in range(len(changed)):
        _kernels.first_layer(base, rows, changed[k], changed.shape[1] // 2, top, out, k)


@pytest.mark.parametrize("pairs", [2, 3, 5])
def test_first_layer_in_steps_against_numpy(pairs: int) -> None:
    numbers = np.random.default_rng(0)
    base = numbers.integers(-500, 500, 128).astype(np.int16)
    rows = numbers.integers(-300, 300, (20, 128)).astype(np.int16)
    top = numbers.integers(100, 900, 128).astype(np.int16)
    changed = numbers.integers(0, 20, (50, 2 * pairs))
    out = np.zeros((50, 128), np.int16)
    _call_first_layer(base, rows, changed, top, out)
    total = base + rows[changed[:, ::2]].astype(np.int64).sum(axis=1) - rows[changed[:, 1::2]].sum(axis=1)
    np.testing.assert_array_equal(out, np.clip(total, 0, top))


@numba.njit
def _call_layer(x: np.ndarray, w: np.ndarray, factor: np.ndarray, bias: np.ndarray, out: np.ndarray) -> None:
    for group in range(0, len(x), _kernels.GROUP):
        _kernels.layer(x, w, factor, bias, np.float32(0.0), out, group)


def test_layer_against_numpy() -> None:
    """Integers and small floats, both exact, so that the order of a sum does not matter."""
    numbers = np.random.default_rng(0)
    x = numbers.integers(0, 16_384, (16, 128)).astype(np.int16)
    w = numbers.integers(-500, 501, (32, 128)).astype(np.int16)
    factor, bias = np.full(32, 2.0**-20, np.float32), numbers.normal(size=32).astype(np.float32)
    out = np.empty((16, 32), np.float32)
    packed = np.ascontiguousarray(w.reshape(2, 16, 64, 2).transpose(0, 2, 1, 3))
    _call_layer(x, packed, factor, bias, out)
    sums = x.astype(np.int64) @ w.T.astype(np.int64)
    np.testing.assert_allclose(out, np.maximum(sums * 2.0**-20 + bias, 0.0), rtol=1e-6, atol=1e-6)

    x32 = numbers.integers(-50, 50, (16, 32)).astype(np.float32)
    w32 = numbers.integers(-50, 50, (16, 32)).astype(np.float32)
    out = np.empty((16, 16), np.float32)
    packed32 = np.ascontiguousarray(w32.reshape(1, 16, 32).transpose(0, 2, 1))
    _call_layer(x32, packed32, np.ones(16, np.float32), np.zeros(16, np.float32), out)
    np.testing.assert_array_equal(out, np.maximum(x32 @ w32.T, 0.0))


def test_exp_against_numpy() -> None:
    for x in np.linspace(-80.0, 0.0, 2001, dtype=np.float32):
        assert abs(_kernels.exp(x) - np.exp(np.float64(x))) <= 3e-7
    assert 0.0 <= _kernels.exp(np.float32(-1e30)) < 1e-35


@pytest.mark.parametrize("config", [NetConfig(), *PATTERNED])
@pytest.mark.parametrize("precision", ["float32", "int16"])
def test_results_do_not_depend_on_the_batch(precision: str, config: NetConfig) -> None:
    evaluator = CompiledEvaluator(lively_net(OFFICIAL, config), OFFICIAL, precision)
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
