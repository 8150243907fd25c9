"""GNU Backgammon in a process of its own: `value.yardsticks` runs this file and talks to it through pipes.

The package gnubg keeps one state to a process, crashes when a thread other than its first one looks a ply ahead, holds
Python's global lock while it works, and prints on the standard output. Here none of that reaches the program that
asks. The file knows nothing of the rest of the kit.

A question is `HEADER` (plies, number of positions) and the positions, int8 (K, 2, 25), rows (the other player, the
player on roll), each side's checkers on its own points 1..24 and the bar; the answer float64 (K, 5), for the player on
roll the probabilities to win, to win a gammon or more, a backgammon, to lose a gammon or more, a backgammon.
"""

import os
import signal
import struct
import sys

import numpy as np

HEADER = struct.Struct("<qq")
POSITION = (2, 25)

_CACHE = 16_384
"""Positions gnubg remembers while it looks ahead from one. It has to forget them before the next (ten microseconds at
this size): the last bits of a result would depend on what was asked before."""


def main() -> None:
    """Answers until the other side closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that asks; when it ends, the pipe closes
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import gnubg  # noqa: PLC0415

    gnubg.command(f"set cache {_CACHE}")
    owned = gnubg.cubeinfo(1, 0, 0, 0, (0, 0), 0, 0)  # money play; with a cube that is owned Jacoby's rule is void
    cube = {**owned, "jacoby": 0}
    while header := sys.stdin.buffer.read(HEADER.size):
        plies, count = HEADER.unpack(header)
        asked = np.frombuffer(sys.stdin.buffer.read(count * POSITION[0] * POSITION[1]), dtype=np.int8)
        context = gnubg.evalcontext(0, plies, 1, 0, 0.0)  # cubeless, deterministic, no pruning nets, no noise
        found = np.empty((count, 6))
        for k, position in enumerate(asked.reshape(count, *POSITION).tolist()):
            if plies:
                gnubg.command("clear cache")
            found[k] = gnubg.evaluate(position, cube, context)
        if plies:
            gnubg.command("clear cache")
        answers.write(found[:, :5].tobytes())
        answers.flush()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(1)
