"""A training run on the screen."""

from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from nardy_rl.config import TrainConfig
from nardy_rl.evaluation.arena import MatchResult

PLAIN_EVERY_S = 15.0
"""Seconds between lines where the output is not a terminal."""


class RichDisplay:
    """Progress bar and a table of matches on a terminal; a line now and then elsewhere. Use as a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} games"),
            TextColumn("[cyan]{task.fields[speed]}[/] games/s"),
            TextColumn("loss [cyan]{task.fields[loss]}[/]"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._progress.add_task("training", total=1, speed="-", loss="-")
        self._opponents: list[str] = []
        self._rows: list[tuple[int, dict[str, str]]] = []
        self._live = Live(self._view(), console=console, refresh_per_second=4) if console.is_terminal else None
        self._printed_s = 0.0
        self._total = 0

    def __enter__(self) -> "RichDisplay":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.update(self._view())
            self._live.stop()

    def start(self, folder: Path, config: TrainConfig, games: int) -> None:
        """See `train.Display`."""
        self._total = config.games
        self._progress.update(self._task, total=config.games, completed=games, description=folder.name)
        again = f", going on from {games:,}" if games else ""
        self._print(f"Run {folder}: {config.games:,} games of {config.rules}, {config.algorithm}{again}")
        self._print(f"Curves: tensorboard --logdir {folder.parent}. Ctrl-C saves and stops.")

    def progress(self, games: int, seconds: float, values: dict[str, float]) -> None:
        """See `train.Display`."""
        speed, loss = values["speed/games_per_s"], values["loss/train"]
        self._progress.update(self._task, completed=games, speed=f"{speed:,.0f}", loss=f"{loss:.4f}")
        if self._live:
            self._live.update(self._view())
        elif seconds - self._printed_s >= PLAIN_EVERY_S or games >= self._total:
            self._printed_s = seconds
            left = (self._total - games) / speed
            self._print(
                f"{games:>9,} games  {speed:,.0f} games/s  loss {loss:.4f}  {seconds:.0f} s trained, {left:.0f} s left"
            )

    def match(self, games: int, result: MatchResult) -> None:
        """See `train.Display`."""
        name = Path(result.b).name
        text = f"{result.ppg:+.2f} ±{(result.ci95[1] - result.ci95[0]) / 2:.2f}"
        if name not in self._opponents:
            self._opponents.append(name)
        if not self._rows or self._rows[-1][0] != games:
            self._rows.append((games, {}))
        self._rows[-1][1][name] = text
        if self._live:
            self._live.update(self._view())
        else:
            self._print(f"{games:>9,} games  against {name}: {text} points per game")

    def saved(self, path: Path) -> None:
        """See `train.Display`."""
        self._print(f"Saved {path}")

    def stopping(self) -> None:
        """See `train.Display`."""
        self._print("Stopping: finishing this iteration, then saving. Ctrl-C again stops at once.")

    def _print(self, text: str) -> None:
        """A line of its own, never broken within a path."""
        self._console.print(text, soft_wrap=True, highlight=False)

    def _view(self) -> Group:
        if not self._rows:
            return Group(self._progress)
        table = Table(title="Matches so far: points per game, ± 95%", title_justify="left")
        table.add_column("games", justify="right")
        for name in self._opponents:
            table.add_column(f"against {name}", justify="right")
        for games, row in self._rows:
            table.add_row(f"{games:,}", *(row.get(name, "") for name in self._opponents))
        return Group(table, self._progress)
