"""A look into a value net: what its hidden units see, and what it thinks that holding a point is worth.

Two ways to ask, which should agree where they can be compared:

- *Reading the weights.* The first layer adds up a row of weights for every checker. A weight times what a unit's sum is
  worth (the gradient of the equity, its mean over some positions) is the effect of that checker through that unit.
- *Intervening.* A lone checker that holds a point is put on the nearest own checkers behind it and ahead of it instead,
  and the net is asked again. The two are weighted such that their mean pip count is that of the position, so what
  remains is what the point itself is worth (`point_values`).

All of this is the net's opinion, in positions that are given; nothing here knows whether it is right.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nardy_rl.rules.board import OPP_POINT, Boards
from nardy_rl.rules.spec import HEAD, HOME, POINTS, SLOTS
from nardy_rl.value.evaluator import CompiledEvaluator, CompiledWeights
from nardy_rl.value.features import COUNTS, SEAT_ROW, active_rows, sum_rows
from nardy_rl.value.stages import stages

STACK = 5
"""Checkers of a stack that the figure of a unit shows, as boards draw them."""

_CHUNK = 4096
_Z95 = 1.96
_BLUE, _ORANGE = "#0072b2", "#e69f00"


class Units(NamedTuple):
    """What the first layer makes of some positions; K positions, H units.

    Attributes:
        sums: float32 (K, H), before they are clipped to 0..1.
        equity: float64 (K,), of the player on roll.
        gradient: float64 (K, H), what one more of a sum would be worth, in points; 0 where the clip holds it.
        stage: int64 (K,), the stage of the game, whose upper layers a position goes through (see `value.stages`).
    """

    sums: NDArray[np.float32]
    equity: NDArray[np.float64]
    gradient: NDArray[np.float64]
    stage: NDArray[np.int64]


def units(evaluator: CompiledEvaluator, boards: Boards, moved_first: NDArray[np.bool_]) -> Units:
    """Runs the net and keeps what happens inside it.

    Args:
        evaluator: The net.
        boards: int8 (K, 2, 26), rows (player on roll, opponent).
        moved_first: bool (K,).
    """
    weights = evaluator.weights
    sums = _sums(evaluator, boards, moved_first)
    stage = stages(boards, evaluator.scheme)
    second = _second(weights, sums, stage)
    equity, by_output = _equity(weights, second, stage)
    by_second = np.einsum("kw,kwj->kj", by_output, weights.last[stage]) * (second > 0)
    gradient = np.empty(sums.shape)
    for s in np.unique(stage):
        gradient[stage == s] = by_second[stage == s] @ weights.second[s]
    return Units(sums, equity, gradient * ((sums > 0) & (sums < 1)), stage)


def _sums(evaluator: CompiledEvaluator, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
    """What the units of the first layer add up, float32 (K, H), before the clip."""
    rows, offsets = active_rows(boards, moved_first, evaluator.patterns)
    sums: NDArray[np.float32] = sum_rows(evaluator.weights.rows, rows, offsets) + evaluator.weights.bias
    return sums


def unit_effects(evaluator: CompiledEvaluator, seen: Units) -> NDArray[np.float64]:
    """How much the equity hangs on each unit, float64 (H,), in points.

    Mean absolute change of the equity over the positions if the unit always said what it says on average.
    """
    weights = evaluator.weights
    first = np.clip(seen.sums, 0.0, 1.0)
    away = first.mean(axis=0) - first
    second = _second(weights, seen.sums, seen.stage)
    effects = np.empty(first.shape[1])
    for unit in range(len(effects)):
        change = away[:, unit, None] * weights.second[:, :, unit][seen.stage]
        without, _ = _equity(weights, second + change, seen.stage)
        effects[unit] = np.abs(without - seen.equity).mean()
    return effects


def checker_effects(evaluator: CompiledEvaluator, seen: Units) -> NDArray[np.float64]:
    """What each checker adds to the equity through each unit, to first order, float64 (2, 26, 16, H), in points.

    Entry (side, slot, k, unit) is of the k-th checker on a slot; side 0 is the player on roll, whose equity it is, each
    side in its own numbering. Entries of k = 0 mean nothing. The sum over units is the whole first layer's word, except
    for what a checker does as part of a pattern (`value.patterns`), if the net has any.
    """
    rows = evaluator.weights.rows[:SEAT_ROW].reshape(2, SLOTS, COUNTS, -1)
    effects: NDArray[np.float64] = rows * seen.gradient.mean(axis=0)
    return effects


class PointValues(NamedTuple):
    """What it is worth to hold a point when one's turn ends; arrays of 25, by the holder's own point (0: unused).

    Attributes:
        value: float64, mean gain of the holder, in points; NaN where there was no case.
        stderr: float64, its standard error, games being independent of each other.
        linear: float64, the same gain to first order, as the sums of the first layer have it.
        cases: int64, lone checkers found on the point.
    """

    value: NDArray[np.float64]
    stderr: NDArray[np.float64]
    linear: NDArray[np.float64]
    cases: NDArray[np.int64]


def point_values(
    evaluator: CompiledEvaluator, boards: Boards, moved_first: NDArray[np.bool_], game: NDArray[np.int64]
) -> PointValues:
    """Asks the net what each lone checker of the player who has just moved is worth as the holder of its point.

    The checker is put on the nearest own point behind, or ahead, where one more makes no difference to what the
    opponent may play. With weights by distance the two have the pip count of the position between them.

    Args:
        evaluator: The net.
        boards: int8 (K, 2, 26), rows (player on roll, opponent): before a roll, so row 1 has just moved.
        moved_first: bool (K,).
        game: int64 (K,), which game each position is from, 0 or more; errors are those of independent games.

    Raises:
        ValueError: Short nardy, where a lone checker holds nothing.
    """
    if evaluator.rules.geometry != "long":
        raise ValueError("point_values is for long nardy, where a single checker holds a point (R1.1)")
    position, point = np.nonzero(boards[:, 1] == 1)
    inside = (point > 0) & (point <= POINTS)
    behind, ahead = _neighbours(boards[:, 1])
    position, point = position[inside], point[inside]
    behind, ahead = behind[position, point], ahead[position, point]
    between = (behind > 0) & (ahead > 0)
    position, point, behind, ahead = position[between], point[between], behind[between], ahead[between]

    seen = units(evaluator, boards, moved_first)
    gain, linear = np.zeros(len(position)), np.zeros(len(position))
    for place, other in ((behind, ahead), (ahead, behind)):
        weight = np.abs(point - other) / (behind - ahead)
        for first in range(0, len(position), _CHUNK):
            part = slice(first, first + _CHUNK)
            at, from_, to = position[part], point[part], place[part]
            k = np.arange(len(at))
            moved = boards[at].copy()
            moved[k, 1, from_] -= 1
            moved[k, 1, to] += 1
            # the equity is that of the player on roll, so what he gains the holder loses
            gain[part] += weight[part] * (evaluator.equities(moved, moved_first[at]) - seen.equity[at])
            change = _sums(evaluator, moved, moved_first[at]) - seen.sums[at]
            linear[part] += weight[part] * (change * seen.gradient[at]).sum(axis=1)
    return _by_point(point, gain, linear, game[position])


def _neighbours(side: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nearest held points behind and ahead of each slot, int64 (K, 26) both; 0 where there is none on the board."""
    held = np.where(side > 0, np.arange(SLOTS), 0)
    held[:, [0, SLOTS - 1]] = 0
    ahead = np.zeros_like(held)
    behind = np.zeros_like(held)
    ahead[:, 1:] = np.maximum.accumulate(held, axis=1)[:, :-1]
    far = np.where(held > 0, held, SLOTS)
    behind[:, :-1] = np.minimum.accumulate(far[:, ::-1], axis=1)[:, ::-1][:, 1:]
    behind[behind == SLOTS] = 0
    return behind, ahead


def _by_point(
    point: NDArray[np.int64], gain: NDArray[np.float64], linear: NDArray[np.float64], game: NDArray[np.int64]
) -> PointValues:
    """Means of the cases by point, with the standard error of means over clusters (games)."""
    n = POINTS + 1
    cases = np.bincount(point, minlength=n)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.bincount(point, weights=gain, minlength=n) / cases
        mean_linear = np.bincount(point, weights=linear, minlength=n) / cases
        cell = point * (int(game.max(initial=0)) + 1) + game
        residuals = np.bincount(cell, weights=gain - value[point], minlength=n * (int(game.max(initial=0)) + 1))
        stderr = np.sqrt((residuals.reshape(n, -1) ** 2).sum(axis=1)) / cases
    return PointValues(value, stderr, mean_linear, cases)


def _second(weights: CompiledWeights, sums: NDArray[np.float32], stage: NDArray[np.int64]) -> NDArray[np.float32]:
    """Second layer before its ReLU, float32 (K, H2)."""
    result = np.empty((len(sums), weights.second.shape[1]), dtype=np.float32)
    for s in np.unique(stage):
        result[stage == s] = np.clip(sums[stage == s], 0.0, 1.0) @ weights.second[s].T + weights.second_bias[s]
    return result


def _equity(
    weights: CompiledWeights, second: NDArray[np.float32], stage: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equity (K,) and its gradient by the outputs (K, width), given the second layer's sums."""
    output = np.einsum("kj,kwj->kw", np.maximum(second, 0.0), weights.last[stage]) + weights.last_bias[stage]
    output = output.astype(np.float64)
    if weights.scale:
        return weights.scale * output[:, 0], np.full_like(output, weights.scale)
    output = np.exp(output - output.max(axis=1, keepdims=True))
    chances = output / output.sum(axis=1, keepdims=True)
    equity = chances @ weights.points
    return equity, chances * (weights.points - equity[:, None])


# --- figures ----------------------------------------------------------------------------------------------------------


def units_figure(evaluator: CompiledEvaluator, seen: Units, shown: Sequence[int]) -> Figure:
    """Boards of what hidden units see: for each, the effects of the checkers of the player on roll and of the opponent.

    A board lies as pictures do, the player on roll's home at the bottom right, for both sides' checkers. The cell at
    the rim is the first checker on a point, the next one the second, up to five.

    Args:
        evaluator: The net.
        seen: From `units`.
        shown: Numbers of units.
    """
    effects, overall = checker_effects(evaluator, seen), unit_effects(evaluator, seen)
    geometry = evaluator.rules.geometry
    figure = Figure(figsize=(8.4, 2.0 * len(shown) + 0.6), layout="constrained")
    grid = np.atleast_2d(figure.subplots(len(shown), 2))
    names = ("the player on roll", "the opponent")
    for row, unit in zip(grid, shown, strict=True):
        boards = [_on_board(effects[side, :, 1 : STACK + 1, unit], side, geometry) for side in (0, 1)]
        limit = max(float(np.nanmax(np.abs(boards))), 1e-9)
        for side, axes in enumerate(row):
            image = axes.imshow(boards[side], cmap="RdBu", norm=TwoSlopeNorm(0.0, -limit, limit), aspect="auto")
            axes.set_title(f"unit {unit} (±{overall[unit]:.3f}): checkers of {names[side]}", fontsize=9)
            _name_points(axes)
        bar = figure.colorbar(image, ax=list(row), pad=0.01)
        bar.ax.tick_params(labelsize=7)
        bar.set_label("points", fontsize=8)
    return figure


def _on_board(effects: NDArray[np.float64], side: int, geometry: str) -> NDArray[np.float64]:
    """Effects (26, STACK) of a side by its own slot, as cells of a board seen by the player on roll."""
    cells = np.full((2 * STACK + 1, POINTS // 2 + 1), np.nan)
    for point in range(1, POINTS + 1):
        own = point if side == 0 else int(OPP_POINT[geometry][point])
        column = point - 13 if point > 12 else 12 - point
        column += column >= 6  # the bar
        rows = slice(0, STACK) if point > 12 else slice(2 * STACK, STACK, -1)
        cells[rows, column] = effects[own]
    return cells


def _name_points(axes: Axes) -> None:
    columns = [column + (column >= 6) for column in range(12)]
    axes.set_xticks(columns, [str(12 - k) for k in range(12)], fontsize=7)
    axes.secondary_xaxis("top").set_xticks(columns, [str(13 + k) for k in range(12)], fontsize=7)
    axes.set_yticks([])
    axes.set_facecolor("0.93")


def point_values_figure(values: PointValues, least: int = 100) -> Figure:
    """What holding each point is worth, in the order in which a checker comes by.

    Args:
        values: From `point_values`.
        least: Points with fewer cases are left out.
    """
    points = np.array([point for point in range(HEAD, 0, -1) if values.cases[point] >= least], dtype=np.int64)
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for first, last, name in ((18, 13, "opponent's home"), (HOME, 1, "own home")):
        axes.axvspan(24.5 - first, 25.5 - last, color="0.93", zorder=0)
        axes.annotate(name, (25 - (first + last) / 2, 1), (0, -12), xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha="center", fontsize=8, color="0.4")  # fmt: skip
    axes.axvline(13, color="0.6", linewidth=1, linestyle=":")
    axes.annotate("opponent's head", (13, 1), (4, -24), xycoords=("data", "axes fraction"),
                  textcoords="offset points", fontsize=8, color="0.4")  # fmt: skip
    x = 25 - points
    axes.bar(x, values.value[points], color=_BLUE, width=0.7, label="by moving the checker away")
    axes.errorbar(x, values.value[points], yerr=_Z95 * values.stderr[points], fmt="none", color="0.2", capsize=2)
    axes.plot(x, values.linear[points], "D", color=_ORANGE, markersize=5, label="by the first layer's weights")
    axes.axhline(0, color="0.4", linewidth=1)
    axes.set_xticks(range(1, 25), [str(25 - k) for k in range(1, 25)], fontsize=8)
    axes.set(xlabel="the holder's own point (checkers run to the right)", ylabel="points gained", xlim=(0.4, 24.6))
    figure.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=2)
    axes.grid(axis="y", alpha=0.3)
    return figure
