"""The stages of the game: drawn positions, and the kernel against a plain count."""

import numpy as np
import pytest

from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.notation import parse_board, parse_position
from nardy_rl.rules.spec import PRESETS
from nardy_rl.training.selfplay import play_games
from nardy_rl.value.evaluator import CompiledEvaluator
from nardy_rl.value.net import NetConfig, grown, make_net, tensors
from nardy_rl.value.stages import SCHEMES, STAGES, stages

ONE_BACK_AGAINST_AN_ANCHOR = """
short nardy, x to play
o off 0, bar 0
+-13-14-15-16-17-18-+-19-20-21-22-23-24-+
|  x  .  .  .  o  . |  o  .  .  .  .  x |
|  x  .  .  .  o  . |  o  .  .  .  .  . |
|  x  .  .  .  o  . |  o  .  .  .  .  . |
|  x  .  .  .  .  . |  o  .  .  .  .  . |
|  x  .  .  .  .  . |  o  .  .  .  .  . |
|                   |                   |
|  o  .  .  .  .  . |  x  .  .  .  .  . |
|  o  .  .  .  .  . |  x  .  .  .  .  . |
|  o  .  .  .  .  . |  x  .  .  .  .  . |
|  o  .  .  .  x  . |  x  .  .  .  .  o |
|  o  .  .  .  x  x |  x  x  .  .  .  o |
+-12-11-10--9--8--7-+--6--5--4--3--2--1-+
x off 0, bar 0
"""
A_RACE = """
short nardy, x to play
o off 0, bar 0
+-13-14-15-16-17-18-+-19-20-21-22-23-24-+
|  .  .  .  .  .  o |  o  o  .  .  .  . |
|  .  .  .  .  .  o |  o  o  .  .  .  . |
|  .  .  .  .  .  o |  o  o  .  .  .  . |
|  .  .  .  .  .  . |  o  o  .  .  .  . |
|  .  .  .  .  .  . |  o  o  .  .  .  . |
|                   |                   |
|  .  .  .  .  .  . |  x  .  .  .  .  . |
|  .  .  .  .  .  . |  x  .  .  .  .  . |
|  .  .  .  .  .  . |  x  .  .  .  .  . |
|  .  .  .  o  x  x |  x  x  .  x  .  . |
|  .  .  .  o  x  x |  x  x  x  x  x  . |
+-12-11-10--9--8--7-+--6--5--4--3--2--1-+
x off 0, bar 0
"""


def one(drawing: str) -> Boards:
    return np.array([parse_board(drawing)], dtype=np.int8)


def test_stages_of_drawn_positions() -> None:
    back = one(ONE_BACK_AGAINST_AN_ANCHOR)
    assert stages(back, "short") == 3 * 1 + 2, "one far back, the opponent two"
    assert stages(flip(back), "short") == 3 * 2 + 1
    race = one(A_RACE)
    assert stages(race, "short") == 9
    assert stages(flip(race), "short") == 9
    start = np.array([PRESETS["official"].start] * 2, dtype=np.int8)[None]
    assert stages(start, "long") == 8
    assert stages(start, "one") == 0


@pytest.mark.parametrize(
    ("position", "stage"),
    [
        ("24:15 | 12:15", 6),
        ("13:7 6:8 | 12:15", 3),  # seven in the first half are few, eight are many
        ("13:8 6:7 | 12:15", 6),
        ("12:1 6:14 | 13:1 6:14", 1),
        ("6:15 | 6:15", 9),
        ("6:15 | 7:15", 0),  # 6 + 7 is not less than 13
        ("off:14 1:1 | 24:15", 2),
    ],
)
def test_stages_of_long_nardy(position: str, stage: int) -> None:
    assert stages(np.array([parse_position(position)], dtype=np.int8), "long") == stage


@pytest.mark.parametrize(("preset", "scheme"), [("short", "short"), ("official", "long")])
def test_stages_against_a_plain_count(preset: str, scheme: str) -> None:
    rules = PRESETS[preset]
    games = play_games(CompiledEvaluator(make_net(NetConfig(8, 4), rules, 1), rules), np.arange(40), 1, 0.3, rules)
    boards = games.boards[games.alive]
    far, few, many, passed = SCHEMES[scheme] or (0, 0, 0, 0)
    expected = []
    for mover, opponent in boards.tolist():
        back = [sum(row[far:]) for row in (mover, opponent)]
        rear = [max(slot for slot in range(26) if slot == 0 or row[slot]) for row in (mover, opponent)]
        mine, theirs = [(count >= few) + (count >= many) for count in back]
        expected.append(9 if sum(rear) < passed else 3 * mine + theirs)
    found = stages(boards, scheme)
    np.testing.assert_array_equal(found, expected)
    assert len(np.unique(found)) >= STAGES - 2, "nearly every stage must have been met"


def test_an_unknown_scheme() -> None:
    with pytest.raises(ValueError, match="stages='race' is not allowed; choose one of one, short, long"):
        make_net(NetConfig(8, 4, stages="race"), PRESETS["short"], 1)


def test_a_net_with_stages_asks_for_them() -> None:
    net = make_net(NetConfig(8, 4, stages="short"), PRESETS["short"], 1)
    with pytest.raises(ValueError, match="needs the stage of each position"):
        net(*tensors(one(A_RACE), np.array([True]), NetConfig()))
    with pytest.raises(ValueError, match=r"cannot grow into .*stages='long'"):
        grown(net, NetConfig(8, 4, stages="long"), 1)
