"""The log of a run: TensorBoard events and metrics.jsonl, one line a record."""

import json
import math
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from torch.utils.tensorboard import SummaryWriter

from nardy_rl.files import write_text
from nardy_rl.training.figures import calibration_figure
from nardy_rl.training.report import Calibration

METRICS = "metrics.jsonl"


class RunLog:
    """Writes records; the step of a record is the number of games played.

    A resumed run drops the records after the checkpoint it continues from, so that no game is logged twice.
    """

    def __init__(self, folder: Path, games_done: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / METRICS
        _keep_until(self._path, games_done)
        self._file = self._path.open("a", encoding="utf-8")
        self._writer = SummaryWriter(str(folder), purge_step=games_done + 1 if games_done else None)

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._writer.close()

    def record(self, games: int, seconds: float, values: dict[str, float]) -> None:
        """Logs numbers by name.

        Args:
            games: Games played so far.
            seconds: Seconds of training so far, over all parts of the run.
            values: Name, such as "loss/train", to value.
        """
        line = {"games": games, "seconds": round(seconds, 3), **{name: _plain(value) for name, value in values.items()}}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        for name, value in values.items():
            self._writer.add_scalar(name, value, games)
        self._writer.flush()

    def calibration(self, games: int, bins: Calibration) -> None:
        """Logs a picture of predicted against actual results, and both by bin."""
        self._writer.add_figure("calibration", calibration_figure(bins), games, close=False)
        for k, (predicted, actual) in enumerate(zip(bins.predicted, bins.actual, strict=True)):
            if not np.isnan(predicted):
                self._writer.add_scalar(f"calibration_bins/{k}_actual_minus_predicted", actual - predicted, games)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """All records of a run, oldest first."""
    with (folder / METRICS).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _keep_until(path: Path, games: int) -> None:
    """Drops the records after `games`, and a last line that a killed run left unfinished."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["games"] <= games:
                kept.append(line)
        except (ValueError, KeyError, TypeError):
            continue
    write_text(path, "".join(f"{line}\n" for line in kept))


def _plain(value: float) -> float | None:
    """JSON has no NaN."""
    return float(value) if math.isfinite(value) else None
