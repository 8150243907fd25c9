"""The error rates of a chain of runs."""

from pathlib import Path

import pytest

from nardy_rl.agents.registry import make_agent
from nardy_rl.config import MatchConfig, TrainConfig
from nardy_rl.evaluation.errors import error_rate
from nardy_rl.evaluation.reference_set import load_reference_set
from nardy_rl.rules.spec import PRESETS
from nardy_rl.training.error_curve import as_table, error_curve, error_curve_figure, saved_nets
from nardy_rl.training.train import train
from nardy_rl.value.checkpoint import CheckpointError, save_checkpoint
from nardy_rl.value.net import NetConfig, make_net

QUIET = MatchConfig(opponents=[], every_games=0, final_pairs=0)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A kept net of 1,000 games, a run that starts from it, and one that starts from that."""
    folder = tmp_path_factory.mktemp("chain")
    kept = folder / "kept"
    provenance = {"run": "old", "games": 1_000, "seconds": 120.0}
    save_checkpoint(kept, make_net(NetConfig(8, 4), PRESETS["official"], 1), PRESETS["official"], provenance)
    runs = [kept]
    for name in ("first", "second"):
        config = TrainConfig(
            name=name, runs_dir=str(folder), games=96, games_per_iteration=32, net=NetConfig(8, 4),
            init=str(runs[-1]), match=QUIET, save_minutes=0.0001, keep=9,
        )  # fmt: skip
        train(config)
        runs.append(folder / name)
    return runs


def test_games_and_minutes_add_up_along_a_chain(chain: list[Path]) -> None:
    nets = saved_nets(chain)
    assert [net.run for net in nets] == sorted(net.run for net in nets)
    assert (nets[0].path, nets[0].games, nets[0].minutes) == (chain[0], 1_000, 2.0)
    assert [net.games for net in nets] == sorted({net.games for net in nets}), "each net has learnt from more games"
    assert nets[-1].games == 1_000 + 96 + 96
    assert len([net for net in nets if net.run == 1]) > 1, "all that a run saved"
    minutes = [net.minutes for net in nets]
    assert minutes == sorted(minutes)
    assert minutes[-1] > 2.0


def test_the_curve_is_the_error_rate_of_every_net(chain: list[Path]) -> None:
    reference = load_reference_set()
    nets = saved_nets(chain)
    points = error_curve(nets[:2], reference)
    for net, point in zip(nets[:2], points, strict=True):
        assert point.loss == error_rate(make_agent(str(net.path), PRESETS["official"]), reference).overall
    figure = error_curve_figure(points)
    by_games, by_minutes = figure.axes
    assert by_games.lines[1].get_xdata().tolist() == [net.games / 1000 for net in nets[:2]]
    assert by_minutes.lines[1].get_xdata().tolist() == [net.minutes for net in nets[:2]]
    assert as_table(points).row_count == 2


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        saved_nets([tmp_path])
    save_checkpoint(
        tmp_path / "checkpoints" / "0000000000", make_net(NetConfig(8, 4), PRESETS["official"], 1),
        PRESETS["official"], {"games": 0, "seconds": 0.0},
    )  # fmt: skip
    with pytest.raises(ValueError, match="has saved no net after its first game yet"):
        saved_nets([tmp_path])
