"""What the net learns: lambda-returns, pure functions of arrays.

The change of side is a discount. A scalar equity changes its sign when the turn passes, so its discount is -1. A
distribution over outcomes is reversed instead; in the coordinates of `to_parity` (sums and differences of mirrored
outcomes) that too is a discount for each coordinate, +1 for the sums and -1 for the differences.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def lambda_returns(rewards: Array, discounts: Array, values: Array, lambdas: Array | float) -> Array:
    """Lambda-returns by backward recursion (Sutton and Barto, "Reinforcement Learning", 2nd ed. 2018, eq. 12.18).

    G[t] = rewards[t] + discounts[t] * ((1 - lambdas[t]) * values[t] + lambdas[t] * G[t + 1]), where index t of the
    arguments belongs to what is seen AFTER turn t, and G[T] is values[T - 1]: lambda 0 is the one-step TD target,
    lambda 1 the discounted sum of rewards up to the last value (Monte Carlo once a terminal turn has discount 0).

    Args:
        rewards: float32 (T, ...), received for turn t, from the view of the player who moved at t.
        discounts: float32, broadcast against (T, ...): how a value after turn t counts before it; 0 ends a game.
        values: float32 (T, ...), value of the position after turn t, from the view of the player on roll there.
        lambdas: float32, broadcast against (T, ...), in 0..1.

    Returns:
        float32 (T, ...), from the view of the player on roll before turn t.
    """
    rewards = np.asarray(rewards)
    if rewards.shape != np.shape(values) or rewards.ndim == 0:
        raise ValueError(f"rewards {rewards.shape} and values {np.shape(values)} must share a shape (T, ...)")
    discounts = np.broadcast_to(discounts, rewards.shape)
    lambdas = np.broadcast_to(np.asarray(lambdas, dtype=rewards.dtype), rewards.shape)
    returns = np.empty_like(rewards)
    following = values[-1] if len(values) else values
    for t in range(len(rewards) - 1, -1, -1):
        mixed = (1 - lambdas[t]) * values[t] + lambdas[t] * following
        following = rewards[t] + discounts[t] * mixed
        returns[t] = following
    return returns


def to_parity(values: Array) -> Array:
    """Sums and differences of mirrored outcomes, along the last axis.

    Args:
        values: float32 (..., 2 L + 1), probabilities of outcomes from the worst loss to the best win; or (..., 1), an
            equity.

    Returns:
        The same shape: [draw, win 1 + lose 1, ..., win L + lose L, win 1 - lose 1, ..., win L - lose L]; an equity is
        its own (only) difference.
    """
    width = values.shape[-1]
    if width == 1:
        return values
    half = width // 2
    wins, losses = values[..., half + 1 :], values[..., :half][..., ::-1]
    return np.concatenate([values[..., half : half + 1], wins + losses, wins - losses], axis=-1)


def from_parity(parity: Array) -> Array:
    """The inverse of `to_parity`."""
    width = parity.shape[-1]
    if width == 1:
        return parity
    half = width // 2
    sums, differences = parity[..., 1 : half + 1], parity[..., half + 1 :]
    wins, losses = (sums + differences) / 2, (sums - differences) / 2
    return np.concatenate([losses[..., ::-1], parity[..., :1], wins], axis=-1)


def side_change(width: int) -> Array:
    """The discount that the change of side is, in the coordinates of `to_parity`, float32 (width,)."""
    half = width // 2
    return np.array([1.0] * (half + 1) + [-1.0] * half if width > 1 else [-1.0], dtype=np.float32)
