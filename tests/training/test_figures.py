"""Calibration by hand, and curves of the log."""

import numpy as np
import pytest

from nardy_rl.training.figures import calibration_figure, log_curves
from nardy_rl.training.report import BINS, calibrate


def test_calibration_by_hand() -> None:
    predicted = np.array([0.05, 0.07, 0.55, 0.99, 1.0, -0.2], dtype=np.float32)
    actual = np.array([0, 1, 1, 1, 0, 0], dtype=np.float32)
    bins = calibrate(predicted, actual)
    assert bins.count.tolist() == [3, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert bins.predicted[[0, 5, 9]] == pytest.approx([-0.08 / 3, 0.55, 0.995], abs=1e-6)
    assert bins.actual[[0, 5, 9]] == pytest.approx([1 / 3, 1.0, 0.5])
    assert np.isnan(bins.actual).sum() == BINS - 3
    assert bins.error == pytest.approx((3 * (0.08 / 3 + 1 / 3) + 0.45 + 2 * 0.495) / 6)
    dots = calibration_figure(bins).axes[0].collections[0].get_offsets()
    assert np.ma.getdata(dots)[5] == pytest.approx([0.55, 1.0])


def test_log_curves() -> None:
    records = [
        {"games": 1_000, "loss/train": 1.0, "speed/games_per_s": 5.0},
        {"games": 1_500, "match_random/points_per_game": 0.3},
        {"games": 2_000, "loss/train": None, "speed/games_per_s": 6.0},
        {"games": 3_000, "loss/train": 0.5},
    ]
    figure = log_curves(records, ["loss/train", "speed/games_per_s", "not there"])
    drawn = {axes.get_title(): np.array(axes.lines[0].get_xydata()).tolist() for axes in figure.axes}
    assert drawn == {
        "loss/train": [[1.0, 1.0], [3.0, 0.5]],
        "speed/games_per_s": [[1.0, 5.0], [2.0, 6.0]],
        "not there": [],
    }
