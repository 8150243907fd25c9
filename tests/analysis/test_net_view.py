"""What is read out of a net, against torch, against small changes of the weights, and against plain loops."""

from collections import defaultdict

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nardy_rl.analysis.net_view import (
    checker_effects,
    point_values,
    point_values_figure,
    unit_effects,
    units,
    units_figure,
)
from nardy_rl.rules.board import Boards
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.spec import Rules, make_rules
from nardy_rl.training.selfplay import play_games
from nardy_rl.value.evaluator import CompiledEvaluator, TorchEvaluator
from nardy_rl.value.features import COUNTS, ROWS
from nardy_rl.value.net import NetConfig, ValueNet, make_net, value_points

OFFICIAL, CASUAL = make_rules("official"), make_rules("casual")


def lively_net(rules: Rules, patterns: str = "none") -> ValueNet:
    """A fresh net with weights large enough for the clip to hold some units."""
    net = make_net(NetConfig(hidden=12, hidden2=5, init_scale=0.25, patterns=patterns), rules, seed=3)
    with torch.no_grad():
        net.rows[ROWS:] = 0.1 * torch.randn(net.rows[ROWS:].shape, generator=torch.Generator().manual_seed(3))
    return net


def positions(evaluator: CompiledEvaluator, games: int) -> tuple[Boards, NDArray[np.bool_], NDArray[np.int64]]:
    played = play_games(evaluator, np.arange(games), 1, 0.3, evaluator.rules)
    _, game = np.nonzero(played.alive)
    return played.boards[played.alive], played.moved_first[played.alive], game


@pytest.mark.parametrize("patterns", ["none", "long"])
@pytest.mark.parametrize("rules", [OFFICIAL, CASUAL], ids=["outcomes", "scalar"])
def test_units_are_those_of_the_net(rules: Rules, patterns: str) -> None:
    net = lively_net(rules, patterns)
    evaluator = CompiledEvaluator(net, rules)
    boards, moved_first, _ = positions(evaluator, 2)
    seen = units(evaluator, boards, moved_first)
    np.testing.assert_allclose(seen.equity, evaluator.equities(boards, moved_first), atol=1e-4)
    sums = torch.tensor(seen.sums, dtype=torch.float64, requires_grad=True)
    hidden = torch.relu(net.second.double()(sums.clamp(0.0, 1.0)))
    equity = net.value(net.last.double()(hidden)) @ torch.from_numpy(value_points(rules))
    np.testing.assert_allclose(seen.equity, equity.detach().numpy(), atol=1e-4)
    (gradient,) = torch.autograd.grad(equity.sum(), sums)
    clipped = (seen.sums <= 0) | (seen.sums >= 1)
    assert 0.1 < clipped.mean() < 0.9
    np.testing.assert_allclose(seen.gradient, gradient.numpy(), atol=1e-4 * float(gradient.abs().max()))


def test_what_hangs_on_a_unit() -> None:
    evaluator = CompiledEvaluator(lively_net(OFFICIAL), OFFICIAL)
    boards, moved_first, _ = positions(evaluator, 2)
    seen = units(evaluator, boards, moved_first)
    effects = unit_effects(evaluator, seen)
    mean = np.clip(seen.sums, 0, 1).mean(axis=0)
    for unit in range(len(effects)):
        # the same net with a unit that always says its mean: no rows, and the mean as its bias
        rows, bias = evaluator.weights.rows.copy(), evaluator.weights.bias.copy()
        rows[:, unit], bias[unit] = 0.0, mean[unit]
        other = CompiledEvaluator(lively_net(OFFICIAL), OFFICIAL)
        other.weights = other.weights._replace(rows=rows, bias=bias)
        change = np.abs(other.equities(boards, moved_first) - evaluator.equities(boards, moved_first)).mean()
        assert effects[unit] == pytest.approx(change, abs=1e-5)


def test_what_a_checker_adds() -> None:
    evaluator = CompiledEvaluator(lively_net(OFFICIAL), OFFICIAL)
    boards, moved_first, _ = positions(evaluator, 1)
    effects = checker_effects(evaluator, units(evaluator, boards, moved_first)).sum(axis=3)
    small = 1e-2
    for side, slot, k in ((0, 24, 1), (0, 24, 9), (1, 3, 1), (1, 0, 2)):
        row = evaluator.weights.rows[(side * 26 + slot) * COUNTS + k]
        means = []
        for sign in (1, -1):  # a small piece of such a checker, added to every position
            other = CompiledEvaluator(lively_net(OFFICIAL), OFFICIAL)
            other.weights = other.weights._replace(bias=evaluator.weights.bias + np.float32(sign * small) * row)
            means.append(other.equities(boards, moved_first).mean())
        assert effects[side, slot, k] == pytest.approx((means[0] - means[1]) / (2 * small), abs=2e-3)
        assert abs(effects[side, slot, k]) > 0


def test_the_value_of_a_point_by_hand() -> None:
    net = lively_net(OFFICIAL)
    evaluator, torch_evaluator = CompiledEvaluator(net, OFFICIAL), TorchEvaluator(net, OFFICIAL)
    mover = "24:5 13:9 6:1"
    own = "24:10 {}:1 15:4"

    def holder(at: str) -> float:
        board = np.array([parse_position(f"{mover} | {at}")], dtype=np.int8)
        return -float(torch_evaluator.equities(board, np.array([True]))[0])

    values = point_values(
        evaluator,
        np.array([parse_position(f"{mover} | {own.format(20)}")], dtype=np.int8),
        np.array([True]),
        np.array([0]),
    )
    expected = holder(own.format(20)) - (5 * holder("24:11 15:4") + 4 * holder("24:10 15:5")) / 9
    assert values.value[20] == pytest.approx(expected, abs=1e-5)
    assert values.cases.tolist() == [int(point == 20) for point in range(25)]
    assert np.isnan(np.delete(values.value, 20)).all()


def test_the_values_of_points_by_loops() -> None:
    evaluator = CompiledEvaluator(lively_net(OFFICIAL), OFFICIAL)
    boards, moved_first, game = positions(evaluator, 3)
    values = point_values(evaluator, boards, moved_first, game)
    gains: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for board, first, of in zip(boards.tolist(), moved_first, game, strict=True):
        held = [point for point in range(1, 25) if board[1][point]]
        for point in held:
            behind = [other for other in held if other > point]
            ahead = [other for other in held if other < point]
            if board[1][point] != 1 or not behind or not ahead:
                continue
            baseline = 0.0
            far, near = behind[0], ahead[-1]
            for to, weight in ((far, (point - near) / (far - near)), (near, (far - point) / (far - near))):
                other = np.array([board], dtype=np.int8)
                other[0, 1, point] -= 1
                other[0, 1, to] += 1
                baseline -= weight * evaluator.equities(other, np.array([first]))[0]
            here = -evaluator.equities(np.array([board], dtype=np.int8), np.array([first]))[0]
            gains[point].append((of, here - baseline))
    assert len(gains) > 10
    for point, cases in gains.items():
        assert values.cases[point] == len(cases)
        mean = np.mean([gain for _, gain in cases])
        assert values.value[point] == pytest.approx(mean, abs=1e-5)
        sums = [sum(gain - mean for of, gain in cases if of == number) for number in range(3)]
        assert values.stderr[point] == pytest.approx(np.sqrt(np.square(sums).sum()) / len(cases), abs=1e-5)
    assert values.cases.sum() == sum(map(len, gains.values()))


@pytest.mark.parametrize("patterns", ["none", "long"])
def test_small_changes_are_linear(patterns: str) -> None:
    config = NetConfig(hidden=8, hidden2=4, init_scale=1e-3, patterns=patterns)
    tame = make_net(config, OFFICIAL, seed=1)  # no unit is near the clip
    with torch.no_grad():
        tame.rows[ROWS:] = 1e-3 * torch.randn(tame.rows[ROWS:].shape, generator=torch.Generator().manual_seed(1))
    evaluator = CompiledEvaluator(tame, OFFICIAL)
    values = point_values(evaluator, *positions(evaluator, 2))
    found = values.cases > 0
    assert np.abs(values.value[found]).max() > 1e-5
    np.testing.assert_allclose(values.linear[found], values.value[found], atol=2e-6)


def test_short_nardy_is_refused() -> None:
    short = make_rules("short")
    evaluator = CompiledEvaluator(make_net(NetConfig(4, 2), short, 1), short)
    with pytest.raises(ValueError, match="long nardy"):
        point_values(evaluator, np.zeros((0, 2, 26), np.int8), np.zeros(0, np.bool_), np.zeros(0, np.int64))


def test_the_figure_of_a_unit_lies_as_boards_do() -> None:
    evaluator = CompiledEvaluator(lively_net(OFFICIAL), OFFICIAL)
    boards, moved_first, _ = positions(evaluator, 1)
    seen = units(evaluator, boards, moved_first)
    effects = checker_effects(evaluator, seen)
    figure = units_figure(evaluator, seen, [7, 2])
    own, opponents = (figure.axes[k].images[0].get_array() for k in (0, 1))
    assert figure.axes[0].get_title().startswith("unit 7")
    # (row, column), rows from the top: the rims are rows 0 and 10, the bar is column 6
    assert own[0, 12] == pytest.approx(effects[0, 24, 1, 7])  # head: top right
    assert own[1, 12] == pytest.approx(effects[0, 24, 2, 7])
    assert own[10, 12] == pytest.approx(effects[0, 1, 1, 7])  # home: bottom right
    assert own[10, 5] == pytest.approx(effects[0, 7, 1, 7])
    assert opponents[10, 0] == pytest.approx(effects[1, 24, 1, 7])  # the opponent's head: bottom left, R0.3
    assert opponents[9, 0] == pytest.approx(effects[1, 24, 2, 7])
    assert opponents[0, 5] == pytest.approx(effects[1, 6, 1, 7])  # his home: top left
    assert np.ma.getmaskarray(own)[5].all() or np.isnan(own[5]).all()


def test_the_figure_of_points() -> None:
    evaluator = CompiledEvaluator(lively_net(OFFICIAL), OFFICIAL)
    values = point_values(evaluator, *positions(evaluator, 3))
    axes = point_values_figure(values, least=20).axes[0]
    drawn = {25 - round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in axes.containers[0].patches}
    assert drawn == {point: pytest.approx(values.value[point]) for point in range(1, 25) if values.cases[point] >= 20}
    assert 0 < len(drawn) < np.count_nonzero(values.cases)
