"""Stages of the game: the coarse kinds of position that a net may keep different upper layers for.

What a unit of the first layer means for the result depends on what kind of game it is: a blot is nothing in a race. So
a net with stages has one first layer for all positions and a second and a last layer for each stage, of which a
position uses its own: several times the weights at no cost in time. Stockfish's nets choose upper layers by the number
of pieces in the same way; GNU Backgammon has whole nets for its classes of positions.

A scheme looks at how many checkers each side still has far back, and whether the sides have passed each other.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import OFF, SLOTS, Rules


class Scheme(NamedTuple):
    """How positions are told apart.

    Attributes:
        far: A checker on this slot of its owner, or behind it (the bar included), is far back.
        few: From this many checkers far back a side counts as 1 instead of 0 ...
        many: ... and from this many as 2.
        passed: Stage 9 where the rearmost slots of both sides add up to less than this; otherwise the stage is
            3 * (count of the player on roll) + (count of the opponent).
    """

    far: int
    few: int
    many: int
    passed: int


ONE = "one"
SCHEMES: dict[str, Scheme | None] = {
    ONE: None,
    "short": Scheme(far=19, few=1, many=2, passed=25),
    "long": Scheme(far=13, few=1, many=8, passed=13),
}
"""`one`: a single stage. `short`: checkers in the opponent's home or on the bar, and the race as stage 9. `long`:
checkers in the first half of their way, and the bear-off, or nearly, as stage 9."""
STAGES = 10
"""Stages of every scheme but `one`."""


def stage_count(scheme: str) -> int:
    """How many stages a scheme has.

    Raises:
        ValueError: There is no such scheme.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"stages={scheme!r} is not allowed; choose one of {', '.join(SCHEMES)}")
    return 1 if SCHEMES[scheme] is None else STAGES


def check_stages(scheme: str, rules: Rules) -> None:
    """Raises a ValueError if the scheme is for another game than that of `rules`."""
    if stage_count(scheme) > 1 and scheme != rules.geometry:
        raise ValueError(f"stages={scheme!r} are for {scheme} nardy; give {ONE} or {rules.geometry}")


def scheme_numbers(scheme: str) -> NDArray[np.int64]:
    """A scheme for the kernels: its numbers, int64 (4,), or int64 (0,) where there is one stage only."""
    return np.array(SCHEMES[scheme] or (), dtype=np.int64)


def stages(boards: Boards, scheme: str) -> NDArray[np.int64]:
    """The stage of each position, int64 (K,), of boards int8 (K, 2, 26), rows (player on roll, opponent)."""
    numbers = scheme_numbers(scheme)
    flat = np.require(boards, requirements=["C", "W"]).reshape(len(boards), 2 * SLOTS)
    result: NDArray[np.int64] = _stages(flat, numbers)
    return result


@numba.njit(cache=True, nogil=True, boundscheck=False)
def _stages(boards: Any, numbers: Any) -> Any:
    result = np.empty(len(boards), np.int64)
    for k in range(len(boards)):
        result[k] = stage(boards, k, 0, numbers)
    return result


@numba.njit(cache=True, nogil=True, boundscheck=False)
def stage(boards: Any, k: int, on_roll: int, numbers: Any) -> int:
    """Stage of board `k` of int8 (., 52) if its row `on_roll` (0 or 1) is on roll, by `scheme_numbers`."""
    if len(numbers) == 0:
        return 0
    far, few, many, passed = numbers[0], numbers[1], numbers[2], numbers[3]
    rear = 0
    result = 0
    for side in (on_roll, 1 - on_roll):
        start = side * SLOTS
        back = 0
        for slot in range(far, SLOTS):
            back += boards[k, start + slot]
        last = SLOTS - 1
        while last > OFF and boards[k, start + last] == 0:
            last -= 1
        rear += last
        result = 3 * result + (0 if back < few else 1 if back < many else 2)
    return STAGES - 1 if rear < passed else result
