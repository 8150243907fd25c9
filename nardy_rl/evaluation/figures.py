"""Pictures of matches, and how any figure becomes a file."""

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from nardy_rl.evaluation.arena import MatchResult, short_names
from nardy_rl.files import write_text

_BLUE, _ORANGE = "#0072b2", "#e69f00"


def save_svg(figure: Figure, path: Path) -> None:
    """Writes a figure as SVG; the same figure gives the same file."""
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "nardy_rl"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    write_text(path, text.getvalue())


def interval_figure(results: Sequence[MatchResult]) -> Figure:
    """Points per game of each match with its 95% interval, A's view; a second bar for what is left without luck.

    Args:
        results: One or more matches that were played.

    Raises:
        ValueError: There is none.
    """
    if not results:
        raise ValueError("there is no match to draw")
    names = short_names({spec for result in results for spec in (result.a, result.b)})
    figure = Figure(figsize=(8, 0.8 + 0.45 * len(results)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color="0.5", linewidth=1)
    adjusted = any(result.adjusted is not None for result in results)
    for row, result in enumerate(results):
        bars = [("points per game", result.ppg, result.ci95, _BLUE, "o", 0.12 if adjusted else 0.0)]
        if result.adjusted_ppg is not None and result.adjusted_ci95 is not None:
            bars.append(("less luck", result.adjusted_ppg, result.adjusted_ci95, _ORANGE, "s", -0.16))
        for label, mean, (low, high), color, marker, up in bars:
            axes.plot([low, high], [-row + up] * 2, color=color, linewidth=2.5, solid_capstyle="butt")
            axes.plot(mean, -row + up, marker, color=color, markersize=6, label=label if row == 0 else None)
    axes.set_yticks([-row for row in range(len(results))], [f"{names[r.a]} – {names[r.b]}" for r in results])
    axes.set(xlabel="points per game, 95% interval", ylim=(-len(results) + 0.5, 0.5))
    axes.grid(axis="x", alpha=0.3)
    if adjusted:
        axes.legend(frameon=False, fontsize=8)
    return figure
