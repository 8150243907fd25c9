"""Keeping the net of a run."""

from pathlib import Path

import pytest
import torch

from nardy_rl.config import KeepConfig, MatchConfig, TrainConfig
from nardy_rl.training.keep import keep
from nardy_rl.training.train import train
from nardy_rl.value.checkpoint import load_checkpoint
from nardy_rl.value.net import NetConfig
from nardy_rl.value.packing import Packing, rounded


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


def test_patterns_in_fewer_bits(tmp_path: Path) -> None:
    match = MatchConfig(every_games=0, final_pairs=0)
    net = NetConfig(8, 4, patterns="long-six")
    done = train(TrainConfig("t", str(tmp_path), games=40, net=net, batches=4, match=match))
    packing = {"half": True, "pattern_bits": 7}
    keep(KeepConfig(str(tmp_path / "t"), str(tmp_path / "kept"), ["pips"], pairs=4, **packing))
    kept = load_checkpoint(tmp_path / "kept").net.state_dict()
    expected = rounded(load_checkpoint(done.checkpoint).net.state_dict(), Packing(**packing))
    assert all(torch.equal(value, expected[name]) for name, value in kept.items())
    with pytest.raises(ValueError, match="pattern_bits=9 is not allowed"):
        keep(KeepConfig(str(tmp_path / "t"), str(tmp_path / "again"), ["pips"], pairs=4, pattern_bits=9))
    assert not (tmp_path / "again").exists()


def test_keeping_takes_nothing_else_away(tmp_path: Path) -> None:
    match = MatchConfig(every_games=0, final_pairs=0)
    done = train(TrainConfig("t", str(tmp_path), games=32, net=NetConfig(8, 4), batches=4, match=match))
    nets = tmp_path / "nets"
    keep(KeepConfig(str(tmp_path / "t"), str(nets / "one"), ["pips"], pairs=1))
    keep(KeepConfig(str(tmp_path / "t"), str(nets / "one"), ["pips"], pairs=1))  # a kept net may be made anew
    for out in (nets, done.checkpoint, tmp_path / "t"):
        # an opponent that does not exist: nothing is played before the name is looked at
        with pytest.raises(FileExistsError, match="is in the way: it holds"):
            keep(KeepConfig(str(tmp_path / "t"), str(out), ["nobody"], pairs=1))
    load_checkpoint(nets / "one")
    load_checkpoint(tmp_path / "t")
    with pytest.raises(FileExistsError, match="is not the name of a new folder"):
        keep(KeepConfig(str(tmp_path / "t"), "", ["nobody"], pairs=1))
