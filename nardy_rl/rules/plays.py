"""Legal plays as afterstates: the one call on which everything else is built."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules import _kernels
from nardy_rl.rules.board import Boards, check_boards, check_dice
from nardy_rl.rules.spec import OFFICIAL, SLOTS, Rules

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
        are distinct and in a fixed order; a forced pass is one row, the unchanged board (R1.3), and so is
        what a player gets who has borne off everything. Never truncated.

    Raises:
        ValueError: An impossible board or die; says which game of the batch and why.
    """
    boards, dice = _checked(boards, dice, rules)
    return Afterstates(*_kernels.generate(boards, dice, rules.codes))


def random_afterstates(boards: Any, dice: Any, numbers: NDArray[np.uint64], rules: Rules = OFFICIAL) -> Boards:
    """One afterstate of each roll, all equally likely: what a random player does, without writing out the rest.

    Args:
        boards: int8 (N, 2, 26), rows (player on roll, opponent).
        dice: Integers (N, 2) in 1..6.
        numbers: uint64 (N,) random bits, `dice.bits(seed, SAMPLE, stream, turn)`; game i gets row numbers[i] modulo its
            count of `legal_afterstates`.
        rules: Any `Rules`.

    Returns:
        int8 (N, 2, 26), still seen by the mover.

    Raises:
        ValueError: As `legal_afterstates`, or if there is not one number for each board.
    """
    boards, dice = _checked(boards, dice, rules)
    if numbers.shape != (len(boards),) or numbers.dtype != np.uint64:
        raise ValueError(f"numbers must be uint64 ({len(boards)},), not {numbers.dtype} {numbers.shape}")
    drawn: Boards = _kernels.draw(boards, dice, numbers, rules.codes)
    return drawn


def _checked(boards: Any, dice: Any, rules: Rules) -> tuple[Boards, NDArray[np.int8]]:
    """The arguments as the kernels want them, or the error that says what is wrong."""
    if not _is_batch(boards, 2, SLOTS) or not _is_batch(dice, 2) or len(boards) != len(dice):
        boards = check_boards(boards, rules)
        dice = check_dice(dice, len(boards))
    boards, dice = _kernel_array(boards), _kernel_array(dice)
    if _kernels.first_invalid(boards, dice, rules.codes.short) >= 0:  # fast; the slow checks know how to say it
        check_dice(dice, len(check_boards(boards, rules)))
    return boards, dice


def _is_batch(array: Any, *shape: int) -> bool:
    return (
        isinstance(array, np.ndarray)
        and array.dtype == np.int8
        and array.shape[1:] == shape
        and array.ndim > len(shape)
    )


def _kernel_array(array: NDArray[np.int8]) -> NDArray[np.int8]:
    """C-contiguous and writeable, the one layout the kernels are compiled for."""
    return np.require(array, requirements=["C", "W"])
