"""Trainers compared under one budget of games and one of processor time: docs/training_comparison.md.

Every run is an ordinary run (`train.train`) that plays matches on its way, so strength can be drawn against games and
against processor time. Time is what the trainer's threads spent on a processor, matches not counted: on a machine that
is shared with others the clock would measure those. Stopped, the comparison goes on where it was.
"""

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from nardy_rl.config import ALGORITHMS, CompareConfig, MatchConfig, Schedule, TrainConfig
from nardy_rl.evaluation.figures import save_svg
from nardy_rl.training.runlog import read_metrics
from nardy_rl.training.train import final_matches, train
from nardy_rl.value.checkpoint import load_checkpoint, newest_checkpoint
from nardy_rl.value.net import NetConfig

REFERENCE = "checkpoints/long-quick-v1"
OPPONENTS = (REFERENCE, "heuristic")
TD = "batched, lambda 0.7"
"""The run that others start from, or differ from in one thing."""
MATCHES = 6
"""Matches of a run at even steps; there are four more on the way to the first."""


def comparison_runs(config: CompareConfig) -> dict[str, TrainConfig]:
    """What is compared: the label of each run and its config."""
    batched = TrainConfig(
        games=config.games,
        lr=Schedule(1e-3, 3e-4, "exponential"),
        lam=Schedule(0.7, 0.7),
        average=0.1,
    )

    def but(**changes: Any) -> TrainConfig:
        return dataclasses.replace(batched, **changes)

    def few(games_by: int, **changes: Any) -> TrainConfig:
        """A run whose games cost `games_by` times as much processor time or so."""
        return but(games=max(1, config.games // games_by), **changes)

    defaults = TrainConfig()
    start = str(Path(config.runs_dir) / _folder(TD))
    low = Schedule(3e-4, 3e-4)
    none = Schedule(0.0, 0.0)
    runs = {
        TD: batched,
        "batched, lambda 0": but(lam=none),
        "batched, lambda 0.5": but(lam=Schedule(0.5, 0.5)),
        "batched, lambda 0.9": but(lam=Schedule(0.9, 0.9)),
        "batched, lambda 1": but(lam=Schedule(1.0, 1.0)),
        "batched, lambda 0.7 then 0.5": but(lam=defaults.lam),
        "default lr, no average": but(lr=defaults.lr, lam=defaults.lam, average=0.0),
        "no average": but(average=0.0),
        "constant lr, average 0.25": but(lr=Schedule(1e-3, 1e-3), average=0.25),
        "256/32": but(net=NetConfig(256, 32)),
        "512/32": but(net=NetConfig(512, 32)),
        "online, lambda 0.7": few(6, algorithm="online", lr=Schedule(0.1, 0.02), average=0.0),
        "backup, lambda 0": few(10, algorithm="backup", lam=none),
        "backup, lambda 0.7": few(10, algorithm="backup"),
        "backup, lambda 0, from TD": few(10, algorithm="backup", lam=none, init=start, lr=low),
        "backup, lambda 0.7, from TD": few(10, algorithm="backup", init=start, lr=low),
        "batched, lambda 0.7, from TD": but(init=start, lr=low),
        "rollouts, from TD": few(
            48, algorithm="rollouts", search_share=0.02, batches=8, overlap=False, init=start, lr=low
        ),
    }
    return {
        label: dataclasses.replace(
            run,
            name=_folder(label),
            runs_dir=config.runs_dir,
            seed=config.seed,
            threads=config.threads,
            save_minutes=1.0,
            keep=1,
            match=MatchConfig(
                opponents=list(OPPONENTS),
                every_games=max(1, run.games // MATCHES),
                pairs=config.pairs,
                final_pairs=config.final_pairs,
            ),
        )
        for label, run in runs.items()
    }


PANELS: dict[str, tuple[str, ...]] = {
    "trainers": (TD, "online, lambda 0.7", "backup, lambda 0", "backup, lambda 0.7"),
    "lambda of batched returns": (
        "batched, lambda 0", "batched, lambda 0.5", TD, "batched, lambda 0.9", "batched, lambda 1",
        "batched, lambda 0.7 then 0.5",
    ),
    "size of the net (128/16 is the first)": (TD, "256/32", "512/32"),
    "learning rate and average": (TD, "no average", "constant lr, average 0.25", "default lr, no average"),
    "going on from a trained net": (
        "batched, lambda 0.7, from TD", "backup, lambda 0, from TD", "backup, lambda 0.7, from TD",
        "rollouts, from TD",
    ),
}  # fmt: skip
"""Title of each row of the picture, and the runs in it."""


def compare(config: CompareConfig, say: Callable[[str], None]) -> str:
    """Plays all runs that are not finished, then draws them and returns a Markdown table.

    Args:
        config: What to run and where to put the picture.
        say: Told what is going on, a line at a time.

    Raises:
        ValueError: A value that is not allowed.
    """
    for name in ("pairs", "final_pairs"):
        if getattr(config, name) < 2:
            raise ValueError(f"{name}={getattr(config, name)} is not allowed; an interval needs 2 or more")
    runs = comparison_runs(config)
    open_runs = {label: run for label, run in runs.items() if not _finished(Path(config.runs_dir) / run.name)}
    if open_runs:
        _load_compiled_code()
    for label, run in open_runs.items():
        folder = Path(config.runs_dir) / run.name
        say(f"{label}: {run.games:,} games")
        resume = str(folder) if newest_checkpoint(folder) else None
        outcome = train(dataclasses.replace(run, resume=resume), given={"resume"} if resume else None)
        if not outcome.finished:
            raise KeyboardInterrupt
        final_matches(outcome)
    points = {label: strength(read_metrics(Path(config.runs_dir) / run.name)) for label, run in runs.items()}
    path = Path(config.out) / "training_comparison.svg"
    save_svg(comparison_figure(points), path)
    say(f"Wrote {path}")
    return comparison_table(points)


@dataclasses.dataclass(frozen=True)
class Strength:
    """A match on the way of a run.

    Attributes:
        games: Games trained on.
        minutes: Processor minutes of training.
        ppg: Points per game by opponent.
        half: Half of the 95% interval by opponent.
    """

    games: int
    minutes: float
    ppg: dict[str, float]
    half: dict[str, float]


def strength(records: list[dict[str, Any]]) -> list[Strength]:
    """The matches against `OPPONENTS` in a run's log, the last one after its last game."""
    ppg: dict[int, dict[str, float]] = {}
    half: dict[int, dict[str, float]] = {}
    minutes = {0: 0.0}
    last = 0
    for record in records:
        games = record["games"]
        if "speed/processor_ms_per_game" in record:
            minutes[games] = minutes[last] + (games - last) * record["speed/processor_ms_per_game"] / 60_000
            last = games
        for opponent in OPPONENTS:
            name = f"match_{Path(opponent).name}"
            if f"{name}/points_per_game" in record:
                ppg.setdefault(games, {})[opponent] = record[f"{name}/points_per_game"]
                half.setdefault(games, {})[opponent] = record[f"{name}/ci95_half_width"]
    return [Strength(games, minutes[games], ppg[games], half[games]) for games in sorted(ppg)]


def comparison_figure(points: dict[str, list[Strength]]) -> Figure:
    """Points per game against `REFERENCE`, over games and over processor minutes, a row for each of `PANELS`."""
    figure = Figure(figsize=(10, 2.6 * len(PANELS)), layout="constrained")
    grid = figure.subplots(len(PANELS), 2, sharey="row", squeeze=False)
    for (title, labels), (by_games, by_minutes) in zip(PANELS.items(), grid, strict=True):
        for number, label in enumerate(labels):
            run = points[label]
            ppg = [point.ppg[REFERENCE] for point in run]
            half = [point.half[REFERENCE] for point in run]
            for axes, xs in (
                (by_games, [point.games / 1000 for point in run]),
                (by_minutes, [point.minutes for point in run]),
            ):
                axes.errorbar(
                    xs,
                    ppg,
                    half,
                    color=f"C{number}",
                    marker="o",
                    markersize=3,
                    linewidth=1.2,
                    elinewidth=0.6,
                    label=label,
                )
        every = [point for label in labels for point in points[label]]
        best = max(point.ppg[REFERENCE] for point in every)
        worst = min(points[label][-1].ppg[REFERENCE] for label in labels)
        lowest = max(-2.05, min(worst, best - 0.3) - 0.3)
        shown = [point for point in every if point.ppg[REFERENCE] > lowest]
        for axes, name, xs in (
            (by_games, "thousand games", [point.games / 1000 for point in shown]),
            (by_minutes, "processor minutes", [point.minutes for point in shown]),
        ):
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
            axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set(xlabel=name, xlim=(min(xs) / 1.3, max(xs) * 1.3), ylim=(lowest, best + 0.1))
            axes.axhline(0, color="0.6", linewidth=1)
            axes.grid(alpha=0.3)
        by_games.set_ylabel(f"points per game\nagainst {Path(REFERENCE).name}")
        by_games.set_title(title, loc="left", fontsize=10)
        by_minutes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    return figure


def comparison_table(points: dict[str, list[Strength]]) -> str:
    """The end of every run, as a Markdown table."""
    names = [Path(opponent).name for opponent in OPPONENTS]
    lines = [
        f"| run | games | processor minutes | against `{names[0]}` | against `{names[1]}` |",
        "|---|---:|---:|---:|---:|",
    ]
    for label, run in points.items():
        end = run[-1]
        cells = [f"{end.ppg[opponent]:+.3f} ± {end.half[opponent]:.3f}" for opponent in OPPONENTS]
        lines.append(f"| {label} | {end.games:,} | {end.minutes:.1f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _folder(label: str) -> str:
    """The name of a run's folder."""
    return label.replace(",", "").replace("/", "-").replace(" ", "-")


def _load_compiled_code() -> None:
    """Lets every trainer work a little, so that the first run is not charged for seconds of loading."""
    with tempfile.TemporaryDirectory() as folder:
        for algorithm in ALGORITHMS:
            train(
                TrainConfig(
                    runs_dir=folder,
                    algorithm=algorithm,
                    games=2,
                    search_share=0.02,
                    rollout_turns=0,
                    match=MatchConfig(every_games=0),
                )
            )


def _finished(folder: Path) -> bool:
    """Is this run over, its final matches played?"""
    newest = newest_checkpoint(folder)
    if newest is None:
        return False
    meta = load_checkpoint(newest).meta
    points = strength(read_metrics(folder))
    return meta["games"] >= meta["config"]["games"] and bool(points) and points[-1].games == meta["games"]
