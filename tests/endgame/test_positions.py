"""The numbering of home positions and what rolls make of them."""

import math

import numpy as np
import pytest

from nardy_rl.endgame.positions import HomePositions, home_successors
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.reference import legal_plays
from nardy_rl.rules.spec import make_rules


@pytest.mark.parametrize(("men", "points"), [(1, 6), (4, 6), (15, 2), (6, 5)])
def test_every_position_has_one_number(men: int, points: int) -> None:
    positions = HomePositions(men, points)
    assert len(positions) == math.comb(men + points, points)
    assert len(np.unique(positions.rows, axis=0)) == len(positions)
    assert (positions.rows.sum(axis=1) == 15).all()
    np.testing.assert_array_equal(positions.numbers_of(positions.rows), np.arange(len(positions)))
    assert (np.diff(positions.pips) >= 0).all()


def test_all_homes_of_fifteen() -> None:
    positions = HomePositions(15)
    assert len(positions) == 54_264
    np.testing.assert_array_equal(positions.numbers_of(positions.rows), np.arange(54_264))


@pytest.mark.parametrize(
    ("position", "own"),
    [
        ("off:12 6:1 2:2 | 24:15", True),
        ("off:11 6:2 2:2 | 24:15", False),  # four men
        ("off:13 7:1 2:1 | 24:15", False),  # not home yet
        ("off:15 | 24:15", True),
    ],
)
def test_only_its_own_positions_have_a_number(position: str, own: bool) -> None:
    row = np.array(parse_position(position)[:1], dtype=np.int8)
    assert (HomePositions(3).numbers_of(row)[0] >= 0) == own


@pytest.mark.parametrize("preset", ["official", "online", "short"])
def test_successors_are_the_plays_of_the_rules(preset: str) -> None:
    rules, positions = make_rules(preset), HomePositions(3, 6)
    offsets, numbers = home_successors(positions, rules)
    opponent = tuple(parse_position("24:15 | off:9 3:4 1:2")[1])
    for i in range(1, len(positions), 5):
        for r, dice in enumerate(ROLLS.tolist()):
            plays = legal_plays((tuple(positions.rows[i].tolist()), opponent), dice, rules)
            expected = positions.numbers_of(np.array([play.board[0] for play in plays], dtype=np.int8))
            found = numbers[offsets[21 * i + r] : offsets[21 * i + r + 1]]
            assert sorted(found) == sorted(expected)
            assert (found < i).all()


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"men=16 is not allowed; give 1\.\.15"):
        HomePositions(16)
    with pytest.raises(ValueError, match=r"points=7 is not allowed; give 1\.\.6"):
        HomePositions(3, 7)
    with pytest.raises(ValueError, match="block_rule 'forbid'"):
        home_successors(HomePositions(2), make_rules("official", {"block_rule": "forbid"}))
