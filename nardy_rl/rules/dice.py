"""Dice that are a pure function of (seed, stream, turn): no generator, no state, the same on any number of threads.

Every random choice of the kit (dice, ties, exploration, opening lots) is `bits(...)` of a few counters, so a game
can be replayed from its seed alone. The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014), applied once per counter.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

DICE, TIES, EXPLORE, LOT, SAMPLE = 1, 2, 3, 4, 5
"""What a number is drawn for: draws for different purposes never share bits."""

ROLLS: NDArray[np.int8] = np.array([(a, b) for a in range(1, 7) for b in range(1, a + 1)], dtype=np.int8)
"""The 21 rolls as (higher, lower), int8 (21, 2)."""

ROLL_WEIGHTS: NDArray[np.float64] = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1.0, 2.0) / 36.0
"""Probability of each of `ROLLS`, float64 (21,)."""


@numba.njit(cache=True, nogil=True, inline="always")
def mix(state: Any, counter: Any) -> Any:
    """One SplitMix64 step of uint64 `state` with `counter` folded in."""
    z = state + np.uint64(0x9E3779B97F4A7C15) * (np.uint64(counter) + np.uint64(1))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@numba.vectorize(["uint64(uint64, uint64, uint64, uint64)"], cache=True)  # type: ignore[untyped-decorator]
def _bits(seed: Any, purpose: Any, stream: Any, turn: Any) -> Any:
    return mix(mix(mix(seed, purpose), stream), turn)


def bits(seed: int, purpose: int, stream: ArrayLike, turn: ArrayLike) -> NDArray[np.uint64]:
    """64 random bits for each (stream, turn).

    Args:
        seed: Any integer from 0 to 2**64 - 1.
        purpose: One of `DICE`, `TIES`, `EXPLORE`, `LOT`, `SAMPLE`.
        stream: Integers >= 0, usually the number of the game.
        turn: Integers >= 0, broadcast against `stream`.
    """
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed} is not allowed; give an integer from 0 to 2**64 - 1")
    stream_bits = np.asarray(stream).astype(np.uint64)
    turn_bits = np.asarray(turn).astype(np.uint64)
    result: NDArray[np.uint64] = _bits(np.uint64(seed), np.uint64(purpose), stream_bits, turn_bits)
    return result


def uniform(seed: int, purpose: int, stream: ArrayLike, turn: ArrayLike) -> NDArray[np.float64]:
    """Numbers in [0, 1) from the top 53 of `bits`."""
    return (bits(seed, purpose, stream, turn) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def roll_dice(seed: int, stream: ArrayLike, turn: ArrayLike) -> NDArray[np.int8]:
    """The dice of turn `turn` of the stream, int8 (N, 2), each of the 36 ordered pairs equally likely.

    `bits` modulo 36 favours some pairs by less than 2**-58, far below what any experiment can see.
    """
    pair = bits(seed, DICE, stream, turn) % np.uint64(36)
    return np.stack([pair // np.uint64(6) + np.uint64(1), pair % np.uint64(6) + np.uint64(1)], axis=-1).astype(np.int8)
