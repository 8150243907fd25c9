"""A training run watched in a notebook: a bar, the figures, and the learning curve as it grows."""

import base64
import html
import io
import time
from pathlib import Path
from typing import Any

from nardy_rl.config import TrainConfig
from nardy_rl.evaluation.arena import MatchResult
from nardy_rl.training.figures import learning_curve
from nardy_rl.training.runlog import read_metrics

REDRAW_S = 0.5
"""Seconds between two updates of the figures, at least; the curve is drawn anew after a match."""


class LiveCurve:
    """Shows a run below the cell that runs it: `train(config, LiveCurve())`. Needs IPython, which Jupyter brings."""

    def __init__(self) -> None:
        self._folder = Path()
        self._total = 0
        self._games = 0
        self._text = ""
        self._curve = ""
        self._drawn_s = 0.0
        self._handle: Any = None

    def start(self, folder: Path, config: TrainConfig, games: int) -> None:
        """See `train.Display`."""
        self._folder, self._total, self._games = folder, config.games, games
        self._text = f"{config.games:,} games of {config.rules}"
        self._draw()

    def progress(self, games: int, seconds: float, values: dict[str, float]) -> None:
        """See `train.Display`."""
        speed, loss = values["speed/games_per_s"], values["loss/train"]
        left = f"{(self._total - games) / speed:.0f} s left" if games < self._total else "done"
        self._games = games
        self._text = f"{games:,} games, {speed:,.0f} a second, loss {loss:.4f}, {seconds:.0f} s trained, {left}"
        if time.monotonic() - self._drawn_s >= REDRAW_S or games >= self._total:
            self._draw()

    def match(self, games: int, result: MatchResult) -> None:
        """See `train.Display`."""
        drawing = io.BytesIO()
        learning_curve(read_metrics(self._folder)).savefig(drawing, format="svg")
        self._curve = base64.b64encode(drawing.getvalue()).decode()  # an image: its ids meet no others on the page
        self._draw()

    def saved(self, path: Path) -> None:
        """See `train.Display`."""

    def stopping(self) -> None:
        """See `train.Display`."""
        self._text = f"Stopping after {self._games:,} games: finishing this iteration, then saving."
        self._draw()

    def as_html(self) -> str:
        """What the cell shows now."""
        curve = f'<img src="data:image/svg+xml;base64,{self._curve}" alt="learning curve">' if self._curve else ""
        bar = f'<progress value="{self._games}" max="{self._total}" style="width:100%;max-width:40em"></progress>'
        return f"<div>{bar}<br>{html.escape(self._text)}</div>{curve}"

    def _draw(self) -> None:
        import IPython.display as ipython  # noqa: PLC0415  (only a notebook has it)

        shown: Any = ipython.HTML(self.as_html())  # type: ignore[no-untyped-call]
        if self._handle is None:
            self._handle = ipython.display(shown, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(shown)
        self._drawn_s = time.monotonic()
