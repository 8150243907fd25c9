"""Pictures of a run: calibration and the learning curve."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from nardy_rl.training.report import Calibration


def calibration_figure(bins: Calibration) -> Figure:
    """Predicted against actual win rates, the area of a dot standing for its share of the positions."""
    figure = Figure(figsize=(4, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    axes.scatter(bins.predicted, bins.actual, s=20 + 400 * bins.count / max(bins.count.sum(), 1), color="C0")
    axes.set(xlabel="predicted to win", ylabel="won", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_title(f"calibration, mean error {bins.error:.3f}")
    return figure


def learning_curve(records: list[dict[str, Any]], title: str = "") -> Figure:
    """Points per game against each opponent of the periodic matches, over games and over minutes of training.

    Args:
        records: The run's log (see `runlog.read_metrics`); bands are 95% intervals.
        title: Above the picture.
    """
    suffix = "/points_per_game"
    names = sorted({name for record in records for name in record if name.startswith("match_") and suffix in name})
    names = [name for name in names if name != f"match_previous{suffix}"]
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    by_games, by_minutes = figure.subplots(1, 2, sharey=True)
    for color, name in zip(("C0", "C1", "C2", "C3", "C4", "C5"), names, strict=False):
        points = [record for record in records if name in record]
        ppg = [record[name] for record in points]
        half = [record[name.replace(suffix, "/ci95_half_width")] for record in points]
        low, high = [p - h for p, h in zip(ppg, half, strict=True)], [p + h for p, h in zip(ppg, half, strict=True)]
        label = "against " + name.removeprefix("match_").removesuffix(suffix)
        for axes, xs in (
            (by_games, [record["games"] / 1000 for record in points]),
            (by_minutes, [record["seconds"] / 60 for record in points]),
        ):
            axes.plot(xs, ppg, color=color, marker="o", markersize=3, label=label)
            axes.fill_between(xs, low, high, color=color, alpha=0.2, linewidth=0)
    for axes, label in ((by_games, "thousand games"), (by_minutes, "minutes of training")):
        axes.axhline(0, color="0.6", linewidth=1)
        axes.set(xlabel=label, xlim=(0, None))
        axes.grid(alpha=0.3)
    by_games.set_ylabel("points per game")
    by_games.legend(loc="lower right", frameon=False)
    if title:
        figure.suptitle(title)
    return figure


def log_curves(records: list[dict[str, Any]], names: Sequence[str]) -> Figure:
    """Numbers of the log over games, one small picture each.

    Args:
        records: The run's log (see `runlog.read_metrics`).
        names: Names in it, such as "loss/train"; see `report.summary`.
    """
    figure = Figure(figsize=(2.7 * len(names), 2.4), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        points = [(record["games"] / 1000, record[name]) for record in records if record.get(name) is not None]
        axes.plot(*np.array(points).reshape(-1, 2).T, color="C0")
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("thousand games", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.3)
    return figure
