"""Exact equities by recursion over whole boards in fractions: the slow, obvious twin of the tables."""

import functools
from fractions import Fraction

import numpy as np

from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.reference import Board, legal_plays
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import Rules

WEIGHTS = [Fraction(1 if high == low else 2, 36) for high, low in ROLLS.tolist()]


@functools.cache
def exact_equity(board: Board, moved_first: bool, rules: Rules) -> Fraction:
    """Equity of the player on roll, who may have to make the last throw (R5.4)."""
    equity = Fraction(0)
    for weight, dice in zip(WEIGHTS, ROLLS.tolist(), strict=True):
        equity += weight * max(
            _after(board, play.board, moved_first, rules) for play in legal_plays(board, dice, rules)
        )
    return equity


@functools.cache
def _after(before: Board, after: Board, moved_first: bool, rules: Rules) -> Fraction:
    boards = np.array([before, after], dtype=np.int8)
    outcome, points = settle(boards[:1], boards[1:], np.array([moved_first]), rules)
    if outcome[0] >= 0:
        return Fraction(float(points[0]))
    return -exact_equity((after[1], after[0]), not moved_first, rules)
