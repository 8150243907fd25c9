"""The error rate of every net that runs saved on their way: strength over games and over minutes, without matches."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from rich import box
from rich.table import Table

from nardy_rl.agents.value import ValueAgent
from nardy_rl.evaluation.errors import Figure as Mean
from nardy_rl.evaluation.errors import error_rate
from nardy_rl.evaluation.reference_set import ReferenceSet
from nardy_rl.value.checkpoint import META, RUN_CHECKPOINTS, newest_checkpoint, read_meta


class Saved(NamedTuple):
    """A net on the way.

    Attributes:
        path: Its checkpoint folder.
        run: Number of its run in the chain.
        name: Of its run, or of the kept checkpoint.
        games: Games learnt from, with those of the runs before it.
        minutes: Minutes of training, in the same way.
    """

    path: Path
    run: int
    name: str
    games: int
    minutes: float


class Point(NamedTuple):
    """What a net on the way loses.

    Attributes:
        saved: The net.
        loss: Loss per unforced decision, in thousandths of a point.
    """

    saved: Saved
    loss: Mean


def saved_nets(runs: Sequence[Path]) -> list[Saved]:
    """The nets of a chain of runs in order; each run is taken to start from the last net of the one before it.

    Args:
        runs: Folders of runs, or checkpoints, which are chains of one net.

    Raises:
        CheckpointError: A folder is neither, or damaged.
        ValueError: A run has saved nothing but what it started from.
    """
    found: list[Saved] = []
    games, minutes = 0, 0.0
    for number, run in enumerate(runs):
        if (run / META).exists() or newest_checkpoint(run) is None:
            folders = [run]
        else:
            folders = sorted(folder.parent for folder in (run / RUN_CHECKPOINTS).glob(f"[0-9]*/{META}"))
        metas = [read_meta(folder) for folder in folders]
        nets = [
            Saved(folder, number, run.name, games + int(meta["games"]), minutes + float(meta["seconds"]) / 60)
            for folder, meta in zip(folders, metas, strict=True)
            if meta["games"]
        ]
        if not nets:
            raise ValueError(f"{run} has saved no net after its first game yet")
        found += nets
        games, minutes = nets[-1].games, nets[-1].minutes
    return found


def error_curve(
    nets: Sequence[Saved], reference: ReferenceSet, progress: Callable[[int, int], None] | None = None
) -> list[Point]:
    """Measures nets by a reference set.

    Args:
        nets: See `saved_nets`.
        reference: The set.
        progress: Called with (nets measured, nets in all).
    """
    points = []
    for done, saved in enumerate(nets, start=1):
        agent = ValueAgent.load(saved.path, reference.rules)
        points.append(Point(saved, error_rate(agent, reference).overall))
        if progress is not None:
            progress(done, len(nets))
    return points


def error_curve_figure(points: Sequence[Point]) -> Figure:
    """Loss per decision over games and over minutes, a colour for each run; bands are 95% intervals over decisions."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    by_games, by_minutes = figure.subplots(1, 2, sharey=True)
    for run in sorted({point.saved.run for point in points}):
        before = [point for point in points if point.saved.run < run]
        part = before[-1:] + [point for point in points if point.saved.run == run]
        low, high = [point.loss.ci95[0] for point in part], [point.loss.ci95[1] for point in part]
        for axes, xs in (
            (by_games, [point.saved.games / 1000 for point in part]),
            (by_minutes, [point.saved.minutes for point in part]),
        ):
            axes.plot(
                xs,
                [point.loss.mean for point in part],
                color=f"C{run}",
                marker="o",
                markersize=3,
                label=part[-1].saved.name,
            )
            axes.fill_between(xs, low, high, color=f"C{run}", alpha=0.2, linewidth=0)
    for axes, label in ((by_games, "thousand games"), (by_minutes, "minutes of training")):
        axes.set(xlabel=label, ylim=(0, None))
        axes.grid(alpha=0.3)
    by_games.set_ylabel("lost per decision, points / 1000")
    by_games.legend(loc="lower left", frameon=False)
    return figure


def as_table(points: Sequence[Point]) -> Table:
    """The figures for the screen, a row a net."""
    table = Table(
        title="loss per unforced decision, in thousandths of a point",
        box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False, title_justify="left",
    )  # fmt: skip
    table.add_column("net")
    for heading in ("games", "minutes", "loss", "95%\ninterval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for k, (saved, loss) in enumerate(points):
        table.add_row(
            str(saved.path), f"{saved.games:,}", f"{saved.minutes:.0f}", f"{loss.mean:.2f}",
            f"{loss.ci95[0]:.2f} {loss.ci95[1]:.2f}",
            end_section=k + 1 == len(points) or points[k + 1].saved.run != saved.run,
        )  # fmt: skip
    return table
