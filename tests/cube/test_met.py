"""The match equity table against what is known of it."""

import time

import numpy as np
import pytest

from nardy_rl.cube.met import match_table

TABLE = match_table()


def test_symmetry_and_order():
    inner = TABLE.before[1:, 1:]
    assert inner + inner.T == pytest.approx(np.ones_like(inner))
    assert (np.diff(TABLE.before[:, 1:], axis=0) < 0).all(), "needing more is worse"
    assert (np.diff(TABLE.before[1:], axis=1) > 0).all(), "the opponent's needing more is better"
    assert (np.diff(TABLE.after) < 0).all()
    assert TABLE.after[1] == 0.5
    assert (TABLE.before[0, 1:] == 1).all()
    assert (TABLE.before[1:, 0] == 0).all()


@pytest.mark.parametrize(
    ("own", "theirs", "chance"),
    # Kazaross-XG2 (Neil Kazaross, from rollouts with eXtreme Gammon), as everybody quotes it
    [(2, 1, 0.323), (3, 1, 0.249), (4, 1, 0.186), (3, 2, 0.401), (4, 2, 0.331), (4, 3, 0.4285), (5, 3, 0.352),
     (7, 5, 0.374)],
)  # fmt: skip
def test_well_known_scores(own, theirs, chance):
    assert TABLE.before[own, theirs] == pytest.approx(chance, abs=0.011)


def test_after_the_crawford_game():
    # The same table: 2-away 48.8%, 3-away 32.3%, 4-away 31.0%, 5-away 19.0%.
    assert TABLE.after[2:6] == pytest.approx([0.488, 0.323, 0.310, 0.190], abs=0.006)
    # an odd score after the Crawford game is worth the even one before it in the Crawford game: the cube makes up for
    # one point (exactly so if nobody passes)
    assert TABLE.after[3] == pytest.approx(TABLE.before[2, 1], abs=1e-3)


def test_crawford_scores_by_hand():
    # No cube; g gammons, b backgammons among them, at even chances.
    table = match_table(6, gammons=0.2, backgammons=0.05, spread=0.0)
    after = table.after
    assert table.before[2, 1] == pytest.approx(0.5 * (0.8 * after[1] + 0.2))
    assert table.before[3, 1] == pytest.approx(0.5 * (0.8 * after[2] + 0.15 * after[1] + 0.05))
    assert table.before[4, 1] == pytest.approx(0.5 * (0.8 * after[3] + 0.15 * after[2] + 0.05 * after[1]))
    # with no spread nobody gains by the first throws: doubled at once, the game at 2-away decides the match
    assert after[2] == pytest.approx(0.5)
    assert after[3] == pytest.approx(0.5 * (0.8 * 0.5 + 0.2))


def test_two_and_three_away_by_hand():
    # No gammons, live cube: from the centre each side ends the game at the other's take point, so a score is worth the
    # two ends, weighted by their distance: t and 1 - t' from 1/2 with p a fair game.
    table = match_table(3, gammons=0.0, backgammons=0.0, spread=0.0, efficiency=1.0)
    half = table.before[2, 1]
    assert half == pytest.approx(0.25)
    a = table.before[3, 1]
    assert a == pytest.approx(0.25), "0.5 * (2-away after the Crawford game, 0.5)"
    # 3-away against 2-away. The leader's double to 2 is redoubled at once: he cashes where the trailer has a left.
    # The trailer's double to 2 leaves a dead cube: losing is 0, winning gives 1-away, 2-away, 1 - half = 0.75; the
    # leader passes into 2-away each, 0.5, so from 0.5 / 0.75 on.
    low, low_worth = 0.25, 0.25
    high, high_worth = 2 / 3, 0.5
    assert table.before[3, 2] == pytest.approx(low_worth + (0.5 - low) / (high - low) * (high_worth - low_worth))


def test_computed_once_and_fast():
    assert match_table() is TABLE
    began = time.perf_counter()
    other = match_table(25, 0.2)
    assert time.perf_counter() - began < 1.0
    assert other.before[2, 1] < TABLE.before[2, 1], "fewer gammons are the trailer's loss"
    with pytest.raises(ValueError, match="read-only"):
        TABLE.before[3, 3] = 0.0


def test_longer_tables_hold_the_shorter_ones():
    longer = match_table(30)
    assert longer.length == 30
    assert (longer.before[:26, :26] == TABLE.before).all()
    assert (longer.after[:26] == TABLE.after).all()


def test_looking_scores_up():
    own, theirs = np.array([2, 2, 1, 0, 3, -4, 1]), np.array([1, 1, 2, 5, -1, 3, 1])
    played = np.array([False, True, True, False, True, True, True])
    expected = [TABLE.before[2, 1], TABLE.after[2], 1 - TABLE.after[2], 1, 0, 1, 0.5]
    assert TABLE.chance(own, theirs, played) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"length": 0}, "length=0 is not allowed; give 1..64"),
        ({"length": 65}, "length=65"),
        ({"gammons": 1.5}, "gammons=1.5 is not allowed"),
        ({"gammons": 0.1, "backgammons": 0.2}, "backgammons=0.2 is not allowed; give 0 to gammons=0.1"),
        ({"spread": 0.6}, "spread=0.6 is not allowed"),
        ({"efficiency": -0.1}, "efficiency=-0.1"),
    ],
)
def test_impossible_numbers(numbers, message):
    with pytest.raises(ValueError, match=message):
        match_table(**numbers)
