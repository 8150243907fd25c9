"""Legal plays as afterstates: the one call on which everything else is built."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules import _kernels
from nardy_rl.rules.board import Boards, check_boards, check_dice
from nardy_rl.rules.spec import OFFICIAL, Rules

MAX_AFTERSTATES = _kernels.MAX_AFTERSTATES


class Afterstates(NamedTuple):
    """The afterstates of a batch of rolls, one after the other.

    Attributes:
        boards: int8 (K, 2, 26), rows (mover, opponent), each in its own numbering: the turn is NOT yet passed, so
            `flip(boards)` is what the opponent faces.
        offsets: int64 (N + 1,); game i owns boards[offsets[i]:offsets[i + 1]], always at least one.
    """

    boards: Boards
    offsets: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Afterstates per game, int64 (N,)."""
        return np.diff(self.offsets)


def legal_afterstates(boards: Any, dice: Any, rules: Rules = OFFICIAL) -> Afterstates:
    """Every different board a legal play of the roll can lead to, for each game of the batch.

    Args:
        boards: int8 (N, 2, 26), rows (player on roll, opponent).
        dice: Integers (N, 2) in 1..6, in either order.
        rules: Any `Rules`.

    Returns:
        `Afterstates`: boards int8 (K, 2, 26) still seen by the mover, offsets int64 (N + 1,). Within a game the rows
        are distinct and in a fixed order; a forced pass is one row, the unchanged board (R1.3). Never truncated.

    Raises:
        ValueError: An impossible board or die; says which game of the batch and why.
    """
    boards = np.asarray(boards)
    dice = np.asarray(dice)
    if (
        boards.dtype != np.int8
        or boards.shape[1:] != (2, 26)
        or dice.shape != (len(boards), 2)
        or dice.dtype.kind not in "iu"
    ):
        check_dice(dice, len(check_boards(boards, rules)))
    codes = rules.codes
    if dice.dtype != np.int8:
        dice = np.clip(dice, -1, 99).astype(np.int8)
    boards, dice = _kernel_array(boards), _kernel_array(dice)
    if _kernels.first_invalid(boards, dice, codes.short) >= 0:
        check_dice(dice, len(check_boards(boards, rules)))
    return Afterstates(*_kernels.generate(boards, dice, codes))


def _kernel_array(array: NDArray[np.int8]) -> NDArray[np.int8]:
    """C-contiguous and writeable, the one layout the kernels are compiled for."""
    return np.require(array, requirements=["C", "W"])
