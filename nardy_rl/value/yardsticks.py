"""GNU Backgammon's word on positions of short nardy, by the PyPI package gnubg: a judge from outside the kit.

Only cubeless probabilities are taken from it (money play, no Jacoby rule: gammons always count), with no noise and
without its pruning nets, which are four times as fast but move a 1-ply equity by up to 0.05 points. Its plies are
those of `agents.search`: at 0 plies the static net (exact bear-off tables where they reach), at 1 ply the mean over the
21 rolls of the best play by 0 plies, which the kit's own search over the 0-ply evaluator finds too, within 2e-5. At
2 plies gnubg takes the reply that is best at 0 plies, and its worth at 1 ply.

One core evaluates about 200,000 positions a second at 0 plies, 1,700 at 1 ply and 90 at 2 plies. Each thread that asks
has a process of gnubg to itself (see `value.gnubg_process`), so that several are as many times as fast.
"""

import atexit
import contextlib
import dataclasses
import importlib.util
import subprocess
import sys

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.spec import PRESETS, Rules
from nardy_rl.value import gnubg_process

GNUBG_PREFIX = "gnubg:"
GNUBG = {f"{GNUBG_PREFIX}{plies}": plies for plies in range(3)}
"""Spec -> plies that GNU Backgammon looks ahead."""

_ANY_GAME = ("start", "draw_points", "opening_roll", "next_game")
"""Rule options that do not change what a position is worth."""

_PIECE = 256
"""Positions sent to a process at once."""


def check_standard(spec: str, rules: Rules) -> None:
    """Raises a ValueError unless the rules are those of backgammon, the only ones such an agent knows."""
    standard = PRESETS["short"]
    if rules.geometry != standard.geometry:
        raise ValueError(f"agent {spec!r} plays short nardy only; give rules=short")
    for option in (field.name for field in dataclasses.fields(Rules) if field.name not in _ANY_GAME):
        value, wanted = getattr(rules, option), getattr(standard, option)
        if value != wanted:
            raise ValueError(f"agent {spec!r} knows short nardy with {option}={wanted!r} only, not {value!r}")


def check_package(name: str, spec: str) -> None:
    """Raises a ValueError unless there is the package of the extra `yardsticks` that an agent needs."""
    if importlib.util.find_spec(name) is None:
        raise ValueError(f'agent {spec!r} needs the package {name}; install it with: pip install -e ".[yardsticks]"')


class GnubgEvaluator:
    """GNU Backgammon as an `Evaluator`. Any number of threads may use it.

    Attributes:
        rules: The rules it was made for.
        plies: How far it looks ahead. At 2 plies even one position takes 10 ms: too slow to judge luck by, where each
            turn needs some 450.
    """

    def __init__(self, spec: str, rules: Rules) -> None:
        """Makes the evaluator.

        Args:
            spec: A key of `GNUBG`.
            rules: Short nardy by the standard rules.

        Raises:
            ValueError: An unknown spec, other rules, or the package gnubg is missing.
        """
        if spec not in GNUBG:
            raise ValueError(f"agent {spec!r}: gnubg looks 0, 1 or 2 plies ahead; write {', '.join(GNUBG)}")
        check_standard(spec, rules)
        self.rules = rules
        self.plies = GNUBG[spec]
        check_package("gnubg", spec)

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Evaluator`."""
        win, gammon, backgammon, lose_gammon, lose_backgammon = self._probabilities(flip(boards)).T
        lose = 1.0 - win
        outcomes = (
            lose_backgammon, lose_gammon - lose_backgammon, lose - lose_gammon, np.zeros_like(win),
            win - gammon, gammon - backgammon, backgammon,
        )  # fmt: skip
        values: NDArray[np.float32] = np.maximum(np.stack(outcomes, axis=1), 0.0).astype(np.float32)
        return values

    def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Evaluator`."""
        return self._equities(flip(boards))

    def after_play(
        self, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates
    ) -> NDArray[np.float64]:
        """See `Evaluator`."""
        return self._equities(afterstates.boards)

    def _equities(self, boards: Boards) -> NDArray[np.float64]:
        win, gammon, backgammon, lose_gammon, lose_backgammon = self._probabilities(boards).T
        equities: NDArray[np.float64] = 2.0 * win - 1.0 + (gammon - lose_gammon) + (backgammon - lose_backgammon)
        return equities

    def _probabilities(self, boards: Boards) -> NDArray[np.float64]:
        """For the player on roll: win, win a gammon or more, a backgammon, lose a gammon or more, a backgammon.

        Args:
            boards: int8 (K, 2, 26), rows (the other player, the player on roll): gnubg's own order.

        Returns:
            float64 (K, 5).
        """
        positions = np.ascontiguousarray(boards[:, :, 1:])  # who is on no point and not on the bar is off
        found = [_ask(self.plies, positions[k : k + _PIECE]) for k in range(0, len(positions), _PIECE)]
        return np.concatenate(found) if found else np.empty((0, 5))


# --- processes --------------------------------------------------------------------------------------------------------

_idle: list["subprocess.Popen[bytes]"] = []
"""Processes that nobody is talking to. There are as many in all as there have been threads asking at once."""


def _ask(plies: int, positions: NDArray[np.int8]) -> NDArray[np.float64]:
    """The probabilities float64 (K, 5) of positions int8 (K, 2, 25), by a process that is free, or else a new one."""
    try:
        process = _idle.pop()  # one thread gets it: such operations on a list are atomic
    except IndexError:
        process = subprocess.Popen(
            [sys.executable, "-P", gnubg_process.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    assert process.stdin is not None
    assert process.stdout is not None
    size = len(positions) * 5 * 8
    try:
        process.stdin.write(gnubg_process.HEADER.pack(plies, len(positions)) + positions.tobytes())
        process.stdin.flush()
        answer = process.stdout.read(size)
    except BaseException as error:  # an answer that nobody has read would be taken for that to the next question
        _end(process)
        if isinstance(error, BrokenPipeError):
            raise ChildProcessError("GNU Backgammon's process has ended unexpectedly") from error
        raise
    if len(answer) < size:
        _end(process)
        raise ChildProcessError("GNU Backgammon's process has ended unexpectedly")
    _idle.append(process)
    return np.frombuffer(answer).reshape(-1, 5)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    with contextlib.suppress(BrokenPipeError):
        process.communicate()


@atexit.register
def _end_all() -> None:
    while _idle:
        _end(_idle.pop())
