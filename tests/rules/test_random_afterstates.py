"""`random_afterstates` draws from exactly what `legal_afterstates` lists, each row as likely as the others."""

import numpy as np
import pytest

from nardy_rl.rules import dice
from nardy_rl.rules.board import new_boards
from nardy_rl.rules.plays import legal_afterstates, random_afterstates
from nardy_rl.rules.spec import PRESETS
from tests.rules.positions import as_arrays, constructed_turns, random_play_turns

OFFICIAL = PRESETS["official"]


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_row_number_modulo_count(preset: str) -> None:
    rules = PRESETS[preset]
    boards, thrown = as_arrays([*random_play_turns(300, 1, rules), *constructed_turns(300, 2, rules)])
    after = legal_afterstates(boards, thrown, rules)
    numbers = dice.bits(3, dice.SAMPLE, np.arange(len(boards)), 0)
    rows = after.offsets[:-1] + (numbers % after.counts.astype(np.uint64)).astype(np.int64)
    np.testing.assert_array_equal(random_afterstates(boards, thrown, numbers, rules), after.boards[rows])


def test_uniform() -> None:
    n = 30_000
    boards = new_boards(n, OFFICIAL)
    thrown = np.tile([[3, 3]], (n, 1))
    drawn = random_afterstates(boards, thrown, dice.bits(1, dice.SAMPLE, np.arange(n), 0), OFFICIAL)
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 2
    assert abs(counts[0] / n - 0.5) < 0.015


def test_mistakes() -> None:
    boards = new_boards(2, OFFICIAL)
    with pytest.raises(ValueError, match=r"numbers must be uint64 \(2,\), not int64 \(2,\)"):
        random_afterstates(boards, [[1, 2], [3, 4]], np.zeros(2, np.int64), OFFICIAL)
    with pytest.raises(ValueError, match="game 1 of the batch: die 9"):
        random_afterstates(boards, [[1, 2], [3, 9]], np.zeros(2, np.uint64), OFFICIAL)
