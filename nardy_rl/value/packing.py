"""Weights in fewer bits, for small files: all in 16, and the rows of patterns in as few as two.

The rows of patterns (`value.patterns`) are most of a net that has them, and coarse steps do them little harm: each is
a small part of a sum. Row r in b bits is scale[r] times whole numbers from -(2 ** (b - 1) - 1) to 2 ** (b - 1) - 1. In
the file they stand as

    rows            the other rows, (ROWS, H)
    patterns.bits   b, uint8 (1,)
    patterns.scale  float32 (R,); its numbers have 12 binary digits, so that products with it are exact
    patterns.packed uint8 (R, ceil(H * b / 8)): the whole numbers plus 2 ** (b - 1), b bits each, the highest bit first
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nardy_rl.value.features import ROWS

BITS = range(2, 9)
"""Bits that a number of a pattern's row may have."""
_DIGITS = 12
_PREFIX = "patterns."


class Packing(NamedTuple):
    """How weights are written.

    Attributes:
        half: In 16 bits (IEEE half precision) instead of 32.
        pattern_bits: Bits of a number of a pattern's row, one of `BITS`; 0: as all the others.
    """

    half: bool = False
    pattern_bits: int = 0


def rounded(weights: dict[str, Tensor], packing: Packing) -> dict[str, Tensor]:
    """The weights nearest to these that `packed` takes; rounding twice is rounding once.

    Raises:
        ValueError: The bits are not allowed, or the net has no patterns.
    """
    result = {name: value.half().float() if packing.half else value.clone() for name, value in weights.items()}
    if packing.pattern_bits:
        numbers, scale = _numbers(weights["rows"], packing.pattern_bits)
        result["rows"][ROWS:] = torch.from_numpy(numbers * scale[:, None])
    return result


def packed(weights: dict[str, Tensor], packing: Packing) -> dict[str, Tensor]:
    """What is written to a file for weights that come from `rounded`.

    Raises:
        ValueError: They do not, the bits are not allowed, or the net has no patterns.
    """
    nearest = rounded(weights, packing)
    for name, value in weights.items():
        if not torch.equal(value, nearest[name]):
            raise ValueError(f"the weights {name} do not fit into {packing}; round the net first")
    result = dict(weights)
    bits = packing.pattern_bits
    if bits:
        numbers, scale = _numbers(weights["rows"], bits)
        binary = np.unpackbits((numbers + 2 ** (bits - 1)).astype(np.uint8)[:, :, None], axis=2)[:, :, -bits:]
        result["rows"] = weights["rows"][:ROWS]
        result[_PREFIX + "packed"] = torch.from_numpy(np.packbits(binary.reshape(len(numbers), -1), axis=1))
        result[_PREFIX + "bits"] = torch.tensor([bits], dtype=torch.uint8)
    if packing.half:
        result = {name: value.half() if value.is_floating_point() else value for name, value in result.items()}
    if bits:
        result[_PREFIX + "scale"] = torch.from_numpy(scale)
    return result


def unpacked(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights, float32, that `packed` was given.

    Raises:
        ValueError: The tensors do not fit together.
    """
    weights = {name: value.float() for name, value in tensors.items() if not name.startswith(_PREFIX)}
    if len(weights) == len(tensors):
        return weights
    parts = {name: tensors.get(_PREFIX + name) for name in ("bits", "scale", "packed")}
    bits, scale, data = (None if part is None else part.numpy() for part in parts.values())
    whole = len(weights) + len(parts) == len(tensors) and "rows" in weights and weights["rows"].ndim == 2
    if bits is None or scale is None or data is None or not whole:
        raise ValueError("the packed patterns are not whole")
    hidden = weights["rows"].shape[1]
    b = int(bits[0]) if bits.shape == (1,) else 0
    shape = (len(scale), -(-hidden * b // 8))
    if b not in BITS or scale.ndim != 1 or data.dtype != np.uint8 or data.shape != shape:
        raise ValueError(f"the packed patterns do not fit rows of {hidden} units")
    binary = np.unpackbits(data, axis=1, count=hidden * b).reshape(len(scale), hidden, b)
    places = 1 << np.arange(b - 1, -1, -1)
    numbers = (binary * places.astype(np.uint8)).sum(axis=2, dtype=np.int16) - np.int16(2 ** (b - 1))
    patterns = numbers.astype(np.float32) * scale.astype(np.float32)[:, None]
    weights["rows"] = torch.cat([weights["rows"], torch.from_numpy(patterns)])
    return weights


def _numbers(rows: Tensor, bits: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Whole numbers (R, H) and scale (R,), float32 both, of the rows of patterns among `rows`.

    A scale is the largest number of its row over 2 ** (bits - 1) - 1, rounded up to `_DIGITS` binary digits.
    """
    if bits not in BITS:
        raise ValueError(
            f"pattern_bits={bits} is not allowed; give {BITS[0]} to {BITS[-1]}, or 0 for those of the rest"
        )
    patterns = rows.detach()[ROWS:].numpy()
    if not len(patterns):
        raise ValueError(f"pattern_bits={bits}: the net has no patterns; give 0")
    top = 2 ** (bits - 1) - 1
    mantissa, exponent = np.frexp(np.abs(patterns).max(axis=1).astype(np.float64) / top)
    scale = np.ldexp(np.ceil(mantissa * 2**_DIGITS) / 2**_DIGITS, exponent)
    numbers = np.rint(patterns / np.where(scale > 0, scale, 1.0)[:, None])
    return numbers.astype(np.float32), scale.astype(np.float32)
