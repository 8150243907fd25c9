"""Text and back: plays, positions and drawings."""

import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_rl.rules.notation import (
    draw_board,
    find_play,
    format_play,
    format_position,
    parse_board,
    parse_play,
    parse_position,
)
from nardy_rl.rules.reference import Step, legal_plays
from nardy_rl.rules.spec import OFFICIAL, PRESETS, Rules
from tests.rules.positions import TurnCase, constructed_turn

SHORT = PRESETS["short"]
START = parse_position("24:15 | 24:15")
SHORT_START = parse_position("24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5")

examples = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def turns(draw: st.DrawFn) -> tuple[TurnCase, Rules]:
    rng = draw(st.randoms(use_true_random=False))
    rules = PRESETS[rng.choice(list(PRESETS))]
    return constructed_turn(rng, rules), rules


steps = st.builds(
    lambda source, pips, hit: Step(source, max(0, source - pips), hit),
    st.integers(1, 25),
    st.integers(1, 25),
    st.booleans(),
)


# --- plays ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pass", ()),
        ("24/18 13/9", (Step(24, 18), Step(13, 9))),
        ("24/18(2)", (Step(24, 18), Step(24, 18))),
        ("bar/20* 6/off", (Step(25, 20, hit=True), Step(6, 0))),
        ("13/7* 13/7", (Step(13, 7, hit=True), Step(13, 7))),
        ("6/off(4)", (Step(6, 0),) * 4),
    ],
)
def test_plays_are_written_and_read(text: str, expected: tuple[Step, ...]) -> None:
    assert parse_play(text) == expected
    assert format_play(expected) == text


def test_chains_are_read() -> None:
    assert parse_play("24/18/15") == (Step(24, 18), Step(18, 15))
    assert parse_play("bar/20*/14") == (Step(25, 20, hit=True), Step(20, 14))
    assert parse_play("Bar/20* 6/OFF") == (Step(25, 20, hit=True), Step(6, 0)), "as XG writes it"
    assert parse_play(" Pass ") == ()
    assert parse_play("24/20/16(2)") == (Step(24, 20), Step(20, 16)) * 2


@examples
@given(st.lists(steps, max_size=4))
def test_any_steps_round_trip(made: list[Step]) -> None:
    assert parse_play(format_play(made)) == tuple(made)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("24-18", "cannot read '24-18'"),
        ("24/18 what", "cannot read 'what'"),
        ("24/26", "'26' is not a point"),
        ("0/4", "'0' is not a point"),
        ("9/13", "does not move forward"),
        ("13/13", "does not move forward"),
        ("off/3", "cannot read 'off/3'"),
        ("pass 24/18", "cannot read 'pass'"),
        ("24/18(0)", r"cannot read '24/18\(0\)'"),
        ("6/off(5)", r"more than 4 steps; a double is four, any other roll two \(R1\.1, R1\.2\)"),
        ("24/23 23/22 22/21 21/20 20/19", "more than 4 steps"),
        ("24/18(" + "9" * 5_000 + ")", "cannot read"),
        ("9" * 5_000 + "/18", "is not a point"),
        ("٣/2", "'٣' is not a point"),
    ],
)
def test_what_is_no_play(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_play(text)


@examples
@given(turns())
def test_every_legal_play_is_found_by_its_text(case: tuple[TurnCase, Rules]) -> None:
    (board, dice), rules = case
    for play in legal_plays(board, dice, rules)[:30]:
        assert find_play(format_play(play.steps), board, dice, rules) == play


@examples
@given(turns(), st.randoms(use_true_random=False))
def test_steps_are_found_in_any_order_and_without_marks(case: tuple[TurnCase, Rules], rng: random.Random) -> None:
    (board, dice), rules = case
    for play in legal_plays(board, dice, rules)[:10]:
        shuffled = [step._replace(hit=False) for step in play.steps]
        rng.shuffle(shuffled)
        assert find_play(format_play(shuffled), board, dice, rules) == play


def test_a_point_is_hit_once_however_often_it_is_marked() -> None:
    board = parse_position("13:2 2:13 | 24:2 18:1 1:12")
    for text in ("13/7*(2)", "13/7(2)", "13/7* 13/7*", "13/7 13/7*"):
        assert format_play(find_play(text, board, (6, 6), SHORT).steps) == "13/7* 13/7"


def test_joined_moves_are_found() -> None:
    (play,) = legal_plays(START, (6, 3), OFFICIAL)
    for text in ("24/15", "24/18/15", "24/21/15", "18/15 24/18"):
        assert find_play(text, START, (6, 3), OFFICIAL) == play
    assert find_play("24/16(2)", START, (4, 4), OFFICIAL).board[0][16] == 2
    # One checker bears off by the two and the four together.
    board = parse_position("6:1 off:14 | 1:15")
    assert find_play("6/off", board, (2, 4), OFFICIAL).board[0] == (15, *[0] * 25)


def test_a_joined_move_with_a_choice_of_hits_must_be_written_out() -> None:
    board = parse_position("13:1 1:14 | 17:1 21:1 7:13")
    with pytest.raises(ValueError, match=r"can mean '13/8\* 8/4\*' or '13/9 9/4\*'; write every step"):
        find_play("13/4", board, (5, 4), SHORT)
    # By custom, marked at the end alone it hits there alone.
    assert format_play(find_play("13/4*", board, (5, 4), SHORT).steps) == "13/9 9/4*"
    way = parse_position("13:1 1:14 | 17:1 7:14")
    assert format_play(find_play("13/4", way, (5, 4), SHORT).steps) == "13/9 9/4"
    assert format_play(find_play("13/8*/4", way, (5, 4), SHORT).steps) == "13/8* 8/4"
    assert format_play(find_play("13/8*/4*", board, (5, 4), SHORT).steps) == "13/8* 8/4*"
    assert format_play(find_play("13/9/4*", board, (5, 4), SHORT).steps) == "13/9 9/4*"


@pytest.mark.parametrize(
    ("text", "position", "dice", "rules", "message"),
    [
        (
            "24/18 24/21",
            "24:15 | 24:15",
            (6, 3),
            "official",
            r"no more checkers may leave the head .*R2\.1.*legal: 24/18 18/15",
        ),
        ("24/18", "24:15 | 24:15", (6, 3), "official", r"plays 1 die, but 2 can be played \(R1\.3\)"),
        ("pass", "24:15 | 24:15", (6, 3), "official", r"passes only if no die can be played \(R1\.3\)"),
        ("13/7", "24:15 | 24:15", (6, 1), "official", "there is no checker on 13"),
        ("24/12", "24:15 | 24:15", (6, 6), "official", r"the opponent closes 12 \(R1\.1\)"),
        ("24/20 20/19", "24:15 | 24:15", (6, 1), "official", r"24/20 cannot be made with 6"),
        ("22/17", "22:1 1:14 | 24:14 23:1", (6, 5), "official", r"only one die .* the larger, 6 \(R1\.3\)"),
        ("22/16", "22:1 1:14 | 24:13 4:1 5:1", (6, 5), "official", r"the turn is a pass \(R1\.3\)"),
        ("24/23(2) 18/17(2)", "24:13 18:2 | 24:15", (1, 1), "online", r"no more checkers may leave the head"),
        ("18/17", "24:13 18:2 | 24:15", (1, 1), "online", r"may not stop while a step is possible \(R4\.4\)"),
        ("6/off 8/7", "8:1 6:14 | 24:15", (6, 1), "official", r"when all checkers are home \(R4\.1\)"),
        (
            "3/off 6/5",
            "6:1 5:1 3:1 off:12 | 1:15",
            (4, 1),
            "official",
            r"only from the highest occupied point \(R4\.2\)",
        ),
        ("6/3 4/off", "6:1 5:1 4:1 3:1 off:11 | 1:15", (4, 3), "online", r"rolled point must be borne off \(R4\.2\)"),
        ("14/8 22/20", "22:1 14:1 11:1 10:1 9:1 7:1 6:1 1:8 | 24:15", (6, 2), "official", r"block of six \(R3\.1"),
        (
            "14/8 22/20",
            "22:1 14:1 11:1 10:1 9:1 7:1 6:1 1:8 | 24:15",
            (6, 2),
            "moscow",
            r"ends with a .*block of six \(R3\.1\)",
        ),
        ("13/8 13/10", "bar:1 13:5 6:9 | 24:2 13:5 8:3 7:5", (5, 3), "short", r"on the bar enter first \(R8\.3\)"),
        ("13/12* 13/8", "24:2 13:5 8:3 6:5 | 24:2 14:5 8:3 6:5", (5, 1), "short", r"13/12\* hits nothing \(R8\.2\)"),
        ("24/22 24/23 24/22", "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5", (2, 1), "short", "no die is left for 24/22"),
        ("12/6", "24:14 20:1 | 24:15", (6, 3), "official", "there is no checker on 12 for 12/6, but the opponent's"),
        ("12/6 6/3", "24:14 20:1 | 24:15", (6, 3), "official", r"own numbering it would be 24/18 18/15 \(R0\.2\)"),
        ("24/23", "24:14 20:1 | 24:15", (6, 3), "official", r"24/23 cannot be made with 6-3: it is 1 pip \(R1\.1\)"),
        (
            "20/9",
            "24:14 20:1 | 24:13 3:1 2:1",
            (6, 5),
            "official",
            r"open points \(R1\.1\): the opponent closes 15 and 14",
        ),
        ("24/20(3)", "24:15 | 24:14 20:1", (4, 4), "club", "no more checkers may leave the head in this turn, 2 left"),
        ("22/16", "22:1 1:14 | 24:15", (6, 3), "official", "the three must be played too: 16/13"),
        ("24/18", "24:14 20:1 | 24:15", (6, 3), "online", "the three must be played too: 20/17 or 18/15"),
    ],
)
def test_illegal_plays_are_refused_with_the_rule(
    text: str, position: str, dice: tuple[int, int], rules: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        find_play(text, parse_position(position), dice, PRESETS[rules])
    assert "legal: " in str(error.value)


def test_a_play_in_the_opponents_numbering_of_the_short_game() -> None:
    with pytest.raises(ValueError, match=r"12/17 .* it would be 13/8 6/5 \(R0\.2\)|does not move forward.*13/8 6/5"):
        find_play("12/17 19/20", SHORT_START, (5, 1), SHORT)


@examples
@given(turns(), st.randoms(use_true_random=False))
def test_what_is_missing_from_a_play_completes_it(case: tuple[TurnCase, Rules], rng: random.Random) -> None:
    (board, dice), rules = case
    play = rng.choice(legal_plays(board, dice, rules))
    text = format_play(play.steps[:-1])
    try:
        find_play(text, board, dice, rules)
    except ValueError as error:
        for steps in re.findall("must be played too: ((?:[^ ;]+(?: or )?)+)", str(error)):
            for step in steps.removesuffix(" or the").split(" or "):
                assert find_play(f"{text} {step}", board, dice, rules)


# --- positions and drawings -----------------------------------------------------------------------------------------


def test_positions_are_written_and_read() -> None:
    text = "bar:1 24:2 6:9 off:3 | 24:15"
    assert format_position(parse_position(text)) == text
    assert parse_position("6:9   24:2 off:3 bar:1|24:15") == parse_position(text)
    assert format_position(np.array(START)) == "24:15 | 24:15"


@examples
@given(turns())
def test_positions_and_drawings_round_trip(case: tuple[TurnCase, Rules]) -> None:
    (board, dice), rules = case
    assert parse_position(format_position(board)) == board
    assert parse_board(draw_board(board, rules)) == board
    assert parse_board(draw_board(board, rules, dice)) == board


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("24:15", "'mover | opponent'"),
        ("24:14 | 24:15", "the mover has 14 checkers, not 15; checkers borne off are written"),
        ("24:15 | 24:15 off:1", "the opponent has 16 checkers"),
        ("24:15 | 24=15", "cannot read '24=15' of the opponent"),
        ("24:8 24:7 | 24:15", "slot 24 twice"),
        ("30:15 | 24:15", "'30' is not a point"),
    ],
)
def test_what_is_no_position(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_position(text)


DRAWING = """
short nardy, x to play, dice 6-5
o off 0, bar 1
+-13-14-15-16-17-18-+-19-20-21-22-23-24-+
|  x  .  .  .  o  . |  o  .  .  .  .  x |
|  x  .  .  .  o  . |  o  .  .  .  .  x |
|  x  .  .  .  o  . |  o  .  .  .  .  . |
|  x  .  .  .  .  . |  o  .  .  .  .  . |
|  x  .  .  .  .  . |  o  .  .  .  .  . |
|                   |                   |
|  o  .  .  .  .  . |  .  .  .  .  .  . |
|  o  .  .  .  .  . |  x  .  .  .  .  . |
|  o  .  .  .  x  . |  x  .  .  .  .  . |
|  o  .  .  .  x  . |  x  .  .  .  .  . |
|  o  .  .  .  x  . |  x  .  .  .  .  o |
+-12-11-10--9--8--7-+--6--5--4--3--2--1-+
x off 1, bar 0
"""


def test_a_drawing() -> None:
    board = parse_position("24:2 13:5 8:3 6:4 off:1 | bar:1 24:1 13:5 8:3 6:5")
    assert draw_board(board, SHORT, (6, 5)) == DRAWING.strip()
    assert parse_board(DRAWING) == board
    assert parse_board(DRAWING.replace("\n", "\n    ")) == board


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("short nardy", "nardy", "begins with 'long nardy' or 'short nardy'"),
        ("x off 1", "x out 1", "the lines above and below"),
        ("x off 1", "x off 2", "x has 16 checkers"),
        ("|  x  .  .  .  .  . |  o  .  .  .  .  . |\n", "", "16 lines, not 15"),
        (
            "|  x  .  .  .  .  . |  o  .  .  .  .  . |\n",
            "|  x  .  .  .  .  . |  o  .  .  .  . |\n",
            "has 12 points, not 11",
        ),
        ("|  x  .  .  .  o  . |  o  .  .  .  .  . |", "|  x  .  .  .  .  . |  o  .  .  .  .  . |", "o has 14 checkers"),
        ("|  x  .  .  .  o  . |  o  .  .  .  .  x |\n|  x", "|  x  .  .  .  o  . |  o  .  .  .  .  x |\n|  .", "a gap"),
        (
            "|  o  .  .  .  .  . |  x  .  .  .  .  . |",
            "|  q  .  .  .  .  . |  x  .  .  .  .  . |",
            "cannot read 'q' on point 12",
        ),
    ],
)
def test_what_is_no_drawing(old: str, new: str, message: str) -> None:
    assert old in DRAWING
    with pytest.raises(ValueError, match=message):
        parse_board(DRAWING.replace(old, new, 1))
