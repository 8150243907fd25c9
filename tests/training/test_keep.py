"""Keeping the net of a run."""

from pathlib import Path

import pytest
import torch

from nardy_rl.config import KeepConfig, MatchConfig, TrainConfig
from nardy_rl.training.keep import keep
from nardy_rl.training.train import train
from nardy_rl.value.checkpoint import load_checkpoint
from nardy_rl.value.net import NetConfig


@pytest.mark.parametrize("half", [False, True])
def test_a_kept_net_is_the_measured_one(tmp_path: Path, half: bool) -> None:
    match = MatchConfig(every_games=0, final_pairs=0)
    net = NetConfig(8, 4, stages="short")
    done = train(TrainConfig("t", str(tmp_path), rules="short", games=40, net=net, batches=4, match=match))
    out = tmp_path / "kept"
    config = KeepConfig(str(tmp_path / "t"), str(out), ["pips"], pairs=4, luck=str(done.checkpoint), half=half)
    (result,) = keep(config)
    kept = load_checkpoint(out)
    trained = load_checkpoint(done.checkpoint).net.state_dict()
    for name, value in kept.net.state_dict().items():
        assert torch.equal(value, trained[name].half().float() if half else trained[name])
    assert kept.meta["games"] == 40
    assert kept.meta["config"]["net"]["stages"] == "short"
    (match_kept,) = kept.meta["evaluation"]["matches"]
    assert match_kept["ppg"] == result.ppg
    assert match_kept["adjusted_ppg"] == result.adjusted_ppg
    again = (keep(KeepConfig(str(out), str(tmp_path / "again"), ["pips"], pairs=4, half=half)))[0]
    assert again.ppg == result.ppg, "the kept net plays as the one that was measured"
