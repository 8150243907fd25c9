"""Boards as arrays, and the checks at the public edge.

A batch of boards is int8 (N, 2, 26). Axis 1 is (player on roll, opponent), each side in its OWN numbering: 0 off,
1..24 points (24 = head), 25 bar (R0.2). Passing the turn is `flip`. See DESIGN "State".
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.spec import BAR, CHECKERS, POINTS, SLOTS, Rules

Boards = NDArray[np.int8]

OPP_POINT: dict[str, NDArray[np.int64]] = {
    "long": np.array([0, *((p + 12) if p <= 12 else (p - 12) for p in range(1, POINTS + 1)), BAR]),
    "short": np.array([0, *(POINTS + 1 - p for p in range(1, POINTS + 1)), BAR]),
}
"""The same physical point in the other player's numbering (R0.3), by geometry; off and bar map to themselves."""

PIPS = np.arange(SLOTS, dtype=np.int64)
"""Pips a checker on each slot still has to run."""


def new_boards(n: int, rules: Rules) -> Boards:
    """`n` boards at the start of a game, int8 (n, 2, 26)."""
    return np.tile(np.array(rules.start, dtype=np.int8), (n, 2, 1))


def flip(boards: Boards) -> Boards:
    """Passes the turn: the same positions seen by the other player. `flip(flip(x))` is x."""
    return boards[..., ::-1, :]


def pip_count(boards: Boards) -> NDArray[np.int64]:
    """Pips left to run, int64 (..., 2) as (player on roll, opponent)."""
    return boards.astype(np.int64) @ PIPS


def check_boards(boards: Any, rules: Rules) -> Boards:
    """Returns `boards` as int8 (N, 2, 26) or says which game of the batch is wrong, and why.

    Raises:
        ValueError: Wrong shape or dtype, negative counts, a side without exactly 15 checkers, a checker on the bar in
            long nardy, a point held by both sides, or both sides borne off.
    """
    array = _as_array(boards, "boards")
    if array.ndim != 3 or array.shape[1:] != (2, SLOTS):
        raise ValueError(f"boards must have shape (N, 2, {SLOTS}), not {array.shape}")
    if array.dtype != np.int8:
        raise ValueError(f"boards must be int8, not {array.dtype}")
    _refuse(array < 0, lambda g, s, p: f"{_SIDE[s]} has {array[g, s, p]} checkers on slot {p}; counts are >= 0")
    totals = array.sum(axis=2, dtype=np.int64)
    _refuse(totals != CHECKERS, lambda g, s: f"{_SIDE[s]} has {totals[g, s]} checkers, not {CHECKERS}")
    if rules.geometry == "long":
        bar = array[:, :, BAR] > 0
        _refuse(bar, lambda g, s: f"{_SIDE[s]} has a checker on the bar; long nardy has no bar")
    opponent = array[:, 1, OPP_POINT[rules.geometry]]
    shared = (array[:, 0] > 0) & (opponent > 0)
    shared[:, [0, BAR]] = False
    _refuse(
        shared, lambda g, p: f"both sides hold the mover's point {p} (the opponent's {OPP_POINT[rules.geometry][p]})"
    )
    both_off = (array[:, :, 0] == CHECKERS).all(axis=1)
    _refuse(both_off, lambda g: "both sides have borne off all checkers; the game is over")
    return array


def check_dice(dice: Any, n: int) -> NDArray[np.int8]:
    """Returns `dice` as int8 (n, 2) or says which game of the batch is wrong, and why.

    Raises:
        ValueError: Wrong shape, not integers, or a die outside 1..6.
    """
    array = _as_array(dice, "dice")
    if array.shape != (n, 2):
        raise ValueError(f"dice must have shape ({n}, 2), one pair per board, not {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"dice must be integers, not {array.dtype}")
    _refuse((array < 1) | (array > 6), lambda g, i: f"die {array[g, i]} is not in 1..6")
    return array.astype(np.int8)


def _as_array(value: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} must be an array: {error}") from error


_SIDE = ("the mover", "the opponent")


def _refuse(bad: NDArray[np.bool_], why: Any) -> None:
    """Raises a ValueError for the first game with a True in `bad` (axis 0 = game)."""
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"game {where[0]} of the batch: {why(*where)}")
