"""Counting positions: the quickest check that two move generators agree, or that one still does what it did.

`perft` (a word of the chess programmers, "performance test") counts what can be reached from the start in a few turns.
A wrong rule changes the numbers; a faster generator must not.
"""

import numpy as np

from nardy_rl.rules.board import Boards, flip, new_boards
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import CHECKERS, OFF, SLOTS, Rules

CHUNK = 4096
"""Boards expanded at once, to bound the memory."""


def perft(rules: Rules, depth: int) -> list[int]:
    """Number of distinct boards reachable from the start of the game after 1, 2, ..., `depth` turns.

    A board is int8 (2, 26) with the player who is next on roll in row 0; all 21 rolls are thrown in every turn, the
    first included. Games that are over go no further.

    Args:
        rules: The variant.
        depth: Turns, >= 1.

    Returns:
        `depth` numbers.
    """
    counts = []
    boards = new_boards(1, rules)
    for _ in range(depth):
        boards = next_boards(boards, rules)
        counts.append(len(boards))
    return counts


def next_boards(boards: Boards, rules: Rules) -> Boards:
    """All distinct boards one turn on, by any roll.

    Args:
        boards: int8 (N, 2, 26), rows (player on roll, opponent).
        rules: The variant.

    Returns:
        int8 (K, 2, 26), rows (player next on roll, opponent), in a fixed order.
    """
    going_on = boards[(boards[:, :, OFF] < CHECKERS).all(axis=1)]
    found = np.zeros((0, 2, SLOTS), dtype=np.int8)
    for begin in range(0, len(going_on), CHUNK):
        chunk = going_on[begin : begin + CHUNK]
        every_roll = np.tile(ROLLS, (len(chunk), 1))
        after = legal_afterstates(np.repeat(chunk, len(ROLLS), axis=0), every_roll, rules)
        found = unique_boards(np.concatenate([found, unique_boards(flip(after.boards))]))
    return found


def unique_boards(boards: Boards) -> Boards:
    """The distinct boards, int8 (K, 2, 26), in the order of their bytes."""
    size = 2 * SLOTS
    rows = np.ascontiguousarray(boards).reshape(len(boards), size)
    keys = np.unique(rows.view(f"V{size}").reshape(len(boards)))  # compared as bytes, far faster than axis=0
    return keys.view(np.int8).reshape(len(keys), 2, SLOTS)
