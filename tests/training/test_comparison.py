"""The comparison of trainers: its figures from logs made by hand, and a whole small one."""

from pathlib import Path

import pytest

from nardy_rl.config import CompareConfig, check_train_config
from nardy_rl.training import comparison
from nardy_rl.training.comparison import PANELS, TD, compare, comparison_runs, strength


def test_every_run_is_allowed_and_drawn() -> None:
    runs = comparison_runs(CompareConfig())
    for run in runs.values():
        check_train_config(run)
    assert len({run.name for run in runs.values()}) == len(runs)
    assert {label for labels in PANELS.values() for label in labels} == set(runs)


def test_strength_adds_up_processor_time() -> None:
    """60 ms a game for 100 games, then 30 ms for 200: 0.1 and 0.2 minutes."""

    def match(games: int, ppg: float) -> dict[str, float]:
        half = {"match_heuristic/ci95_half_width": 0.2, "match_long-quick-v1/ci95_half_width": 0.1}
        return {
            "games": games,
            "match_heuristic/points_per_game": ppg,
            "match_long-quick-v1/points_per_game": -ppg,
        } | half

    records = [
        {"games": 100, "speed/processor_ms_per_game": 60.0},
        match(100, 0.5),
        {"games": 200, "speed/processor_ms_per_game": 30.0},
        {"games": 300, "speed/processor_ms_per_game": 30.0},
        match(300, 1.5),
    ]
    first, last = strength(records)
    assert (first.games, last.games) == (100, 300)
    assert first.minutes == pytest.approx(0.1)
    assert last.minutes == pytest.approx(0.2)
    assert last.ppg == {"checkpoints/long-quick-v1": -1.5, "heuristic": 1.5}
    assert last.half == {"checkpoints/long-quick-v1": 0.1, "heuristic": 0.2}


def test_a_small_comparison_is_repeated_from_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = (TD, "backup, lambda 0, from TD")
    every = comparison_runs
    monkeypatch.setattr(comparison, "comparison_runs", lambda config: {label: every(config)[label] for label in few})
    monkeypatch.setattr(comparison, "PANELS", {"some": few})
    config = CompareConfig(runs_dir=str(tmp_path / "runs"), out=str(tmp_path), games=64, pairs=2, final_pairs=2)
    said: list[str] = []
    table = compare(config, said.append)
    assert [line.split(":")[0] for line in said[:2]] == list(few)
    assert table.count("\n") == 3
    picture = (tmp_path / "training_comparison.svg").read_bytes()
    said.clear()
    assert compare(config, said.append) == table
    assert len(said) == 1, "nothing is played again"
    assert (tmp_path / "training_comparison.svg").read_bytes() == picture


def test_pairs_that_give_no_interval_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pairs=1 is not allowed"):
        compare(CompareConfig(runs_dir=str(tmp_path / "runs"), pairs=1), print)
    assert not (tmp_path / "runs").exists()
