"""Checkpoints: whole or not at all, and refused when anything about them is wrong."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from nardy_rl.agents.value import ValueAgent
from nardy_rl.files import write_json
from nardy_rl.rules.spec import make_rules
from nardy_rl.value.checkpoint import (
    META,
    WEIGHTS,
    CheckpointError,
    load_checkpoint,
    save_checkpoint,
    sentinel_positions,
)
from nardy_rl.value.net import NetConfig, make_net
from nardy_rl.value.packing import Packing

RULES = make_rules("official")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "some" / "checkpoint"
    save_checkpoint(path, make_net(NetConfig(16, 4), RULES, seed=3), RULES, {"seed": 3, "games": 0})
    return path


def without_checksum(folder: Path) -> None:
    """Makes a checkpoint one of those that were written before there were checksums."""
    meta = json.loads((folder / META).read_text())
    assert len(meta.pop("weights_sha256")) == 64
    (folder / META).write_text(json.dumps(meta))


def test_round_trip(saved: Path) -> None:
    checkpoint = load_checkpoint(saved)
    assert checkpoint.rules == RULES
    assert checkpoint.meta["seed"] == 3
    original = make_net(NetConfig(16, 4), RULES, seed=3)
    for name, value in original.state_dict().items():
        assert torch.equal(value, checkpoint.net.state_dict()[name])
    assert sorted(file.name for file in saved.iterdir()) == [META, WEIGHTS]
    assert [file.name for file in saved.parent.iterdir()] == [saved.name], "no temporary folder is left"


def test_half_of_the_bits(saved: Path, tmp_path: Path) -> None:
    net = load_checkpoint(saved).net
    with pytest.raises(
        ValueError, match=r"the weights rows do not fit into Packing\(half=True, .*; round the net first"
    ):
        save_checkpoint(tmp_path / "half", net, RULES, {}, Packing(half=True))
    assert not (tmp_path / "half").exists()
    net.load_state_dict({name: value.half() for name, value in net.state_dict().items()})
    save_checkpoint(tmp_path / "half", net, RULES, {}, Packing(half=True))
    again = load_checkpoint(tmp_path / "half").net
    for name, value in again.state_dict().items():
        assert value.dtype == torch.float32
        assert torch.equal(value, net.state_dict()[name])
    sizes = [(folder / "weights.safetensors").stat().st_size for folder in (saved, tmp_path / "half")]
    assert sizes[1] < 0.52 * sizes[0]


def test_options_of_the_rules_are_kept(tmp_path: Path) -> None:
    rules = make_rules("club", {"head_second": "stuck_first", "draw_points": 1})
    save_checkpoint(tmp_path / "c", make_net(NetConfig(4, 2), rules, 0), rules, {})
    assert load_checkpoint(tmp_path / "c").rules == rules


def test_sentinels_differ() -> None:
    boards, moved_first = sentinel_positions(RULES)
    assert boards.shape == (8, 2, 26)
    assert len({board.tobytes() for board in boards}) == 8
    assert 0 < moved_first.sum() < 8


def test_a_save_that_fails_leaves_the_old_one(saved: Path) -> None:
    class Broken:
        def __repr__(self) -> str:
            return "something JSON cannot hold"

    before = (saved / META).read_bytes()
    with pytest.raises(TypeError):
        save_checkpoint(saved, make_net(NetConfig(16, 4), RULES, seed=4), RULES, {"bad": Broken()})
    assert (saved / META).read_bytes() == before
    assert load_checkpoint(saved).meta["seed"] == 3
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]


def test_saving_again_replaces(saved: Path) -> None:
    save_checkpoint(saved, make_net(NetConfig(16, 4), RULES, seed=4), RULES, {"seed": 4})
    assert load_checkpoint(saved).meta["seed"] == 4
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]


def test_missing_files(tmp_path: Path, saved: Path) -> None:
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        load_checkpoint(tmp_path)
    (saved / WEIGHTS).unlink()
    with pytest.raises(CheckpointError, match=f"has no {WEIGHTS}"):
        load_checkpoint(saved)


@pytest.mark.parametrize("size", [0, 7, 8, 100, -1])
def test_truncated_weights(saved: Path, size: int) -> None:
    data = (saved / WEIGHTS).read_bytes()
    (saved / WEIGHTS).write_bytes(data[:size])
    with pytest.raises(CheckpointError, match="damaged"):
        load_checkpoint(saved)


def test_a_flipped_bit_in_the_weights(saved: Path) -> None:
    data = bytearray((saved / WEIGHTS).read_bytes())
    data[-2] ^= 0x40  # the exponent of the last number
    (saved / WEIGHTS).write_bytes(data)
    without_checksum(saved)
    with pytest.raises(CheckpointError, match="does not give the outputs"):
        load_checkpoint(saved)


def test_weights_of_another_net(saved: Path, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "other", make_net(NetConfig(16, 4), RULES, seed=9), RULES, {})
    shutil.copy(tmp_path / "other" / WEIGHTS, saved / WEIGHTS)
    with pytest.raises(CheckpointError, match="its checksum is not that of"):
        load_checkpoint(saved)
    without_checksum(saved)
    with pytest.raises(CheckpointError, match="do not belong together"):
        load_checkpoint(saved)
    save_checkpoint(tmp_path / "larger", make_net(NetConfig(17, 4), RULES, seed=9), RULES, {})
    shutil.copy(tmp_path / "larger" / WEIGHTS, saved / WEIGHTS)
    with pytest.raises(CheckpointError, match="another net"):
        load_checkpoint(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format 2 is not 1"),
        ({"features": "other"}, "features 'other'"),
        ({"rules": {"scoring": "nonsense"}}, "scoring='nonsense'"),
        ({"rules": {"no_such": 1}}, "unknown rule option"),
        ({"net": {"hidden": 0, "hidden2": 1}}, "net.hidden=0 is not allowed"),
        ({"net": {"hidden": 10**13, "hidden2": 1}}, "damaged"),
        ({"rules": None}, "damaged"),
        ({"outcomes": 9}, "do not fit"),
        ({"sentinels": {}}, "damaged"),
        ({"sentinels": {"boards": [[[300] * 26] * 2], "moved_first": [1], "values": [[1]]}}, "damaged"),
    ],
)
def test_damaged_meta(saved: Path, change: dict, message: str) -> None:
    meta = json.loads((saved / META).read_text())
    write_json(saved / META, {**meta, **change})
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(saved)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1}', "\x00\xff"])
def test_meta_that_is_not_an_object(saved: Path, text: str) -> None:
    (saved / META).write_text(text)
    with pytest.raises(CheckpointError):
        load_checkpoint(saved)


def test_an_agent_refuses_rules_its_net_was_not_made_for(saved: Path) -> None:
    ValueAgent.load(saved, make_rules("moscow"))  # other block rule, same outcomes
    with pytest.raises(CheckpointError, match="scoring"):
        ValueAgent.load(saved, make_rules("overview"))
    with pytest.raises(CheckpointError, match="short"):
        ValueAgent.load(saved, make_rules("short"))


def test_a_few_bytes_of_the_weights(saved: Path) -> None:
    weights = saved / WEIGHTS
    content = bytearray(weights.read_bytes())
    content[-400:-396] = b"xyzw"  # too few for the sentinels to notice
    weights.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"is damaged or belongs to another net: its checksum is not that of"):
        load_checkpoint(saved)


def test_a_net_without_a_checksum_is_loaded(saved: Path) -> None:
    without_checksum(saved)
    load_checkpoint(saved)


@pytest.mark.parametrize("kept", sorted(Path("checkpoints").iterdir()))
def test_kept_nets_have_checksums(kept: Path) -> None:
    assert load_checkpoint(kept).meta["weights_sha256"]
