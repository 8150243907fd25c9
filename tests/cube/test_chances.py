"""From a net's probabilities to what the cube asks."""

import numpy as np
import pytest

from nardy_rl.cube.chances import chances, efficiency, is_race
from nardy_rl.rules.board import flip, new_boards
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.spec import OFFICIAL, PRESETS, make_rules

SHORT = PRESETS["short"]


def board(text):
    return np.array([parse_position(text)], dtype=np.int8)


def test_chances_by_hand():
    #         lose bg   g    single draw  win single  g    bg
    values = [[0.01, 0.09, 0.30, 0.0, 0.40, 0.15, 0.05], [0, 0, 0.5, 0.2, 0.3, 0, 0], [0, 0, 0, 0, 1.0, 0, 0]]
    known = chances(np.array(values, dtype=np.float32), SHORT)
    assert known.win == pytest.approx([0.6, 0.375, 1.0])  # what is left for the draw is shared out: 0.3 / 0.8
    assert known.wins[0] == pytest.approx([0.4 / 0.6, 0.15 / 0.6, 0.05 / 0.6])
    assert known.losses[0] == pytest.approx([0.30 / 0.4, 0.09 / 0.4, 0.01 / 0.4])
    assert known.losses[2].tolist() == [1, 0, 0], "no loss ever: put down as single"
    assert known.mean_win == pytest.approx([(0.4 + 0.3 + 0.15) / 0.6, 1, 1])
    assert known.mean_loss == pytest.approx([(0.3 + 0.18 + 0.03) / 0.4, 1, 1])


@pytest.mark.parametrize("rules", [OFFICIAL, make_rules("moscow"), make_rules("short", {"draw": "last_roll"})])
def test_games_without_a_cube(rules):
    with pytest.raises(ValueError, match="belongs to short nardy without draws"):
        chances(np.zeros((1, 7)), rules)


def test_wrong_shape():
    with pytest.raises(ValueError, match=r"shape \(N, 7\), not \(1, 5\)"):
        chances(np.zeros((1, 5)), SHORT)


@pytest.mark.parametrize(
    ("text", "race"),
    [
        ("12:15 | 12:15", True),  # their 12 is my 13
        ("13:15 | 12:15", False),
        ("13:1 6:14 | 11:15", True),  # their 11 is my 14: just past it
        ("15:1 6:14 | 10:14 11:1", False),
        ("6:15 | bar:1 6:14", False),  # he has still to come in
        ("bar:1 6:14 | 1:15", False),
        ("3:2 off:13 | 2:1 off:14", True),
    ],
)
def test_races(text, race):
    position = board(text)
    assert is_race(position).tolist() == [race]
    assert is_race(flip(position)).tolist() == [race]


def test_efficiency():
    assert efficiency(new_boards(2, SHORT)).tolist() == [2 / 3, 2 / 3]
    assert efficiency(new_boards(1, SHORT), 0.5).tolist() == [0.5]
    # 180 pips each: the cap; 60: 0.55 + 0.075; 20: 0.6; 15: 0.05 * 10; 5: dead
    for text, expected in (
        ("12:15 | 12:15", 0.7), ("4:15 | 4:15", 0.625), ("5:4 off:11 | 5:4 off:11", 0.6),
        ("5:3 off:12 | 5:3 off:12", 0.5), ("5:1 off:14 | 5:1 off:14", 0.0), ("1:1 off:14 | 1:1 off:14", 0.0),
    ):  # fmt: skip
        assert efficiency(board(text)) == pytest.approx([expected])
    with pytest.raises(ValueError, match=r"efficiency=1\.2 is not allowed; give 0 \(dead cube\) to 1"):
        efficiency(new_boards(1, SHORT), 1.2)
