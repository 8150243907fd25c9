"""Weights in fewer bits: by hand, against a plain twin, whole files, and broken ones."""

import itertools
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from nardy_rl.rules.spec import PRESETS
from nardy_rl.value.checkpoint import META, WEIGHTS, CheckpointError, load_checkpoint, save_checkpoint
from nardy_rl.value.features import ROWS
from nardy_rl.value.net import NetConfig, ValueNet, make_net
from nardy_rl.value.packing import BITS, Packing, packed, rounded, unpacked

OFFICIAL = PRESETS["official"]


def patterned_net(hidden: int = 16, scheme: str = "long", seed: int = 1) -> ValueNet:
    net = make_net(NetConfig(hidden, 4, patterns=scheme), OFFICIAL, seed)
    with torch.no_grad():
        patterns = net.rows[ROWS:]
        patterns.copy_(torch.randn(patterns.shape, generator=torch.Generator().manual_seed(seed)))
        patterns *= torch.logspace(-6, 1, len(patterns))[:, None]  # rows of all sizes
        patterns[::10] = 0.0
    return net


def plain_numbers(row: list[float], bits: int) -> list[int]:
    """What a row becomes, by the definition: its largest number becomes the largest whole number there is."""
    top = 2 ** (bits - 1) - 1
    largest = max(abs(x) for x in row)
    return [round(x / largest * top) if largest else 0 for x in row]


@pytest.mark.parametrize("bits", BITS)
def test_rows_become_whole_numbers(bits: int) -> None:
    weights = patterned_net(hidden=5).state_dict()
    tensors = packed(rounded(weights, Packing(pattern_bits=bits)), Packing(pattern_bits=bits))
    scale, data = tensors["patterns.scale"].numpy(), tensors["patterns.packed"].numpy()
    assert int(tensors["patterns.bits"]) == bits
    assert data.shape == (1_100, -(-5 * bits // 8))
    for row, expected, step in zip(data, weights["rows"][ROWS:].tolist(), scale, strict=True):
        digits = "".join(f"{byte:08b}" for byte in row)
        found = [int(digits[bits * i : bits * (i + 1)], 2) - 2 ** (bits - 1) for i in range(5)]
        # the scale is rounded up by less than one part in 2,000, so a number in between may go either way
        assert all(abs(a - b) <= 1 for a, b in zip(found, plain_numbers(expected, bits), strict=True))
        assert all(abs(number * step - x) <= 0.5001 * step + 1e-12 for number, x in zip(found, expected, strict=True))


@pytest.mark.parametrize(("half", "bits"), [*itertools.product((False, True), (0, 2, 5, 7, 8))])
@pytest.mark.parametrize("hidden", [3, 16])
def test_packing_gives_back_what_was_rounded(half: bool, bits: int, hidden: int) -> None:
    packing = Packing(half, bits)
    once = rounded(patterned_net(hidden, "long-six").state_dict(), packing)
    again = rounded(once, packing)
    back = unpacked(packed(once, packing))
    for name, value in once.items():
        assert torch.equal(again[name], value), "rounding twice is rounding once"
        assert torch.equal(back[name], value)
        assert back[name].dtype == torch.float32


def test_what_was_not_rounded_is_refused() -> None:
    weights = patterned_net().state_dict()
    with pytest.raises(ValueError, match="the weights rows do not fit into Packing"):
        packed(weights, Packing(pattern_bits=7))


@pytest.mark.parametrize("bits", [1, 9, -3])
def test_bits_that_are_not_allowed(bits: int) -> None:
    with pytest.raises(ValueError, match=f"pattern_bits={bits} is not allowed; give 2 to 8, or 0"):
        rounded(patterned_net().state_dict(), Packing(pattern_bits=bits))


def test_a_net_without_patterns() -> None:
    with pytest.raises(ValueError, match="pattern_bits=7: the net has no patterns; give 0"):
        rounded(make_net(NetConfig(8, 4), OFFICIAL, 1).state_dict(), Packing(pattern_bits=7))


def test_a_packed_file(tmp_path: Path) -> None:
    net, packing = patterned_net(64, "long-six"), Packing(True, 7)
    net.load_state_dict(rounded(net.state_dict(), packing))
    save_checkpoint(tmp_path / "net", net, OFFICIAL, {}, packing)
    again = load_checkpoint(tmp_path / "net").net
    assert all(torch.equal(value, net.state_dict()[name]) for name, value in again.state_dict().items())
    size = (tmp_path / "net" / WEIGHTS).stat().st_size
    assert size < 5_960 * (64 * 7 / 8 + 4) + ROWS * 64 * 2 + 5_000


def _without(name: str, tensors: dict[str, Tensor]) -> None:
    del tensors[name]


def _with(name: str, value: Tensor, tensors: dict[str, Tensor]) -> None:
    tensors[name] = value


@pytest.mark.parametrize(
    "damage",
    [
        lambda t: _without("patterns.bits", t),
        lambda t: _without("patterns.scale", t),
        lambda t: _without("patterns.packed", t),
        lambda t: _without("rows", t),
        lambda t: _with("patterns.bits", torch.tensor([200], dtype=torch.uint8), t),
        lambda t: _with("patterns.bits", torch.tensor([7, 7], dtype=torch.uint8), t),
        lambda t: _with("patterns.scale", torch.ones(7), t),
        lambda t: _with("patterns.scale", torch.ones(1_100, 2), t),
        lambda t: _with("patterns.packed", t["patterns.packed"][:, :3].contiguous(), t),
        lambda t: _with("patterns.packed", t["patterns.packed"].float(), t),
        lambda t: _with("patterns.more", torch.ones(1), t),
        lambda t: _with("rows", torch.ones(()), t),
        lambda t: _with("rows", t["rows"][:5].contiguous(), t),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, damage: object) -> None:
    net, packing = patterned_net(), Packing(False, 7)
    net.load_state_dict(rounded(net.state_dict(), packing))
    save_checkpoint(tmp_path / "net", net, OFFICIAL, {}, packing)
    path = str(tmp_path / "net" / WEIGHTS)
    tensors = load_file(path)
    assert callable(damage)
    damage(tensors)
    save_file(tensors, path)
    meta = tmp_path / "net" / META
    written = json.loads(meta.read_text())
    del written["weights_sha256"]  # which would speak first
    meta.write_text(json.dumps(written))
    with pytest.raises(CheckpointError, match="is damaged or belongs to another net"):
        load_checkpoint(tmp_path / "net")


def test_rounding_keeps_what_a_net_says() -> None:
    net = patterned_net(seed=4)
    fine = rounded(net.state_dict(), Packing(pattern_bits=8))["rows"][ROWS:]
    coarse = rounded(net.state_dict(), Packing(pattern_bits=4))["rows"][ROWS:]
    rows = net.rows.detach()[ROWS:]
    errors = [float(((kind - rows) ** 2).mean()) ** 0.5 for kind in (fine, coarse)]
    assert 0 < errors[0] < errors[1] / 8
