"""What a trainer says of one iteration, and how the reports of several are summed up for the log."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nardy_rl.value.net import ValueNet

BINS = 10


@dataclass
class Report:
    """One iteration of training.

    Attributes:
        games: Games played.
        positions: Positions learnt from.
        loss: Mean loss.
        grad_norm: Mean norm of the gradient of a step.
        lr: Learning rate.
        lam: Lambda.
        exploration: Probability of a random play.
        play_s: Processor seconds spent playing, over all threads.
        learn_s: Processor seconds spent learning.
        wall_s: Seconds by the clock.
        length: Mean turns of a game.
        first_edge: Mean points of the first seat minus the second's.
        mars_rate: Share of games won by mars or more.
        draw_rate: Share of drawn games.
        predicted: float (M,), for each position, the probability of a win that the net gave the player on roll (for a
            net of scalar equity: the equity, as a share of the largest result).
        actual: float (M,), what became of it: 1 a win, 0 not (or the result as such a share).
    """

    games: int
    positions: int
    loss: float
    grad_norm: float
    lr: float
    lam: float
    exploration: float
    play_s: float
    learn_s: float
    wall_s: float
    length: float
    first_edge: float
    mars_rate: float
    draw_rate: float
    predicted: NDArray[Any]
    actual: NDArray[Any]


class Trainer(Protocol):
    """Plays games and learns from them."""

    net: ValueNet

    def iterate(self, iteration: int, games_done: int, n: int, next_n: int) -> Report:
        """Plays `n` games on dice streams `games_done` ... and learns; `next_n` more will follow (0: none)."""
        ...

    def state(self) -> dict[str, Tensor]:
        """What decides the further course, apart from the net's weights and the counters."""
        ...

    def load_state(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`; the net's weights are loaded already."""
        ...

    def close(self) -> None:
        """Stops its threads."""
        ...


@dataclass
class Calibration:
    """Predicted against actual results, in bins of the prediction.

    Attributes:
        predicted: float64 (BINS,), mean prediction in each bin, NaN where it is empty.
        actual: float64 (BINS,), mean result in each bin, NaN where it is empty.
        count: int64 (BINS,), positions in each bin.
    """

    predicted: NDArray[np.float64]
    actual: NDArray[np.float64]
    count: NDArray[np.int64]

    @property
    def error(self) -> float:
        """Mean distance of prediction and result over the bins, weighted by their positions."""
        full = self.count > 0
        distance = np.abs(self.predicted[full] - self.actual[full])
        return float(np.average(distance, weights=self.count[full])) if full.any() else 0.0


def calibration(reports: list[Report]) -> Calibration:
    """How what some iterations predicted came out."""
    return calibrate(
        *(np.concatenate([getattr(report, name) for report in reports]) for name in ("predicted", "actual"))
    )


def calibrate(predicted: NDArray[Any], actual: NDArray[Any]) -> Calibration:
    """Sorts predictions into bins of equal width from 0 to 1.

    Args:
        predicted: (M,) probabilities; predictions outside, possible for a scalar net, fall into the outer bins.
        actual: (M,) what became of them.
    """
    predicted, actual = predicted.astype(np.float64), actual.astype(np.float64)
    bins = np.clip((predicted * BINS).astype(np.int64), 0, BINS - 1)
    count = np.bincount(bins, minlength=BINS)
    with np.errstate(invalid="ignore"):
        return Calibration(
            np.bincount(bins, weights=predicted, minlength=BINS) / count,
            np.bincount(bins, weights=actual, minlength=BINS) / count,
            count,
        )


def summary(reports: list[Report]) -> dict[str, float]:
    """The means of some iterations, by the names they have in the log."""

    def mean(name: str) -> float:
        return float(np.average([getattr(report, name) for report in reports], weights=[r.games for r in reports]))

    games, wall = sum(report.games for report in reports), sum(report.wall_s for report in reports)
    play, learn = sum(report.play_s for report in reports), sum(report.learn_s for report in reports)
    return {
        "loss/train": mean("loss"),
        "loss/gradient_norm": mean("grad_norm"),
        "loss/calibration_error": calibration(reports).error,
        "schedule/lr": reports[-1].lr,
        "schedule/lambda": reports[-1].lam,
        "schedule/exploration": reports[-1].exploration,
        "games/length": mean("length"),
        "games/first_player_edge": mean("first_edge"),
        "games/mars_rate": mean("mars_rate"),
        "games/draw_rate": mean("draw_rate"),
        "speed/games_per_s": games / wall,
        "speed/positions_per_s": sum(report.positions for report in reports) / wall,
        "speed/processor_ms_per_game": 1000 * (play + learn) / games,
        "speed/learning_share": learn / (play + learn),
        "speed/play_share": play / (play + learn),
    }
