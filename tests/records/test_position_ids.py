"""Position IDs of GNU Backgammon and eXtreme Gammon: hand-checked ones, round trips, and what is refused."""

import dataclasses
import random
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_rl.records.position_ids import (
    DROPPED,
    NOT_STARTED,
    OVER,
    PLAYING,
    STATES,
    MatchPosition,
    Standing,
    format_gnubg_id,
    format_gnubg_match_id,
    format_gnubg_position_id,
    format_xgid,
    parse_gnubg_id,
    parse_gnubg_match_id,
    parse_gnubg_position_id,
    parse_position_id,
    parse_xgid,
    read_position,
    standing,
    turn_position,
)
from nardy_rl.records.record import GameRecord, MatchRecord, RecordedTurn, replay, replay_match
from nardy_rl.records.text import parse_records
from nardy_rl.rules.board import pip_count
from nardy_rl.rules.notation import find_play, format_position, parse_position
from nardy_rl.rules.reference import Board
from nardy_rl.rules.spec import OFFICIAL, PRESETS
from tests.rules.positions import constructed_turn

SHORT = PRESETS["short"]
START = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"
START_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"

examples = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])

boards = st.randoms(use_true_random=False).map(lambda rng: constructed_turn(rng, SHORT).board)
die = st.integers(1, 6)
cubes = st.integers(0, 15).map(lambda k: 2**k)


@st.composite
def positions(draw: st.DrawFn) -> MatchPosition:
    """Everything that a position may be, whatever the format."""
    length = draw(st.none() | st.integers(1, 30) | st.just(2**15 - 1))
    points = st.integers(0, 2**15 - 1 if length is None else length - 1)
    score = (draw(points), draw(points))
    crawford = False
    if length is not None and draw(st.booleans()):
        crawford, score = True, draw(st.permutations((length - 1, score[0])))
    dice = draw(st.none() | st.tuples(die, die))
    doubled = dice is None and draw(st.booleans())
    resigned = draw(st.integers(0, 3))
    return MatchPosition(
        draw(boards),
        dice=dice,
        seat=draw(st.integers(0, 1)),
        score=(score[0], score[1]),
        length=length,
        crawford=crawford,
        jacoby=length is None and draw(st.booleans()),
        beavers=length is None and draw(st.booleans()),
        cube=draw(cubes),
        cube_owner=draw(st.sampled_from((None, 0, 1))),
        doubled=doubled,
        resigned=resigned,
        opponent_to_act=bool(doubled or resigned) and draw(st.booleans()),
        state=draw(st.sampled_from(STATES)),
        max_cube=draw(cubes),
    )


# --- hand-checked ---------------------------------------------------------------------------------------------------


def test_the_start_of_a_game() -> None:
    start = MatchPosition()
    assert format_position(start.board) == START
    # both texts are on the first screen of the programs: a session with Jacoby's rule, a money game without
    assert parse_gnubg_id("4HPwATDgc/ABMA:cAkAAAAAAAAA") == dataclasses.replace(start, jacoby=True)
    assert format_gnubg_id(dataclasses.replace(start, jacoby=True)) == "4HPwATDgc/ABMA:cAkAAAAAAAAA"
    assert format_xgid(start) == START_XGID
    for text in (START_XGID, START_XGID.removeprefix("XGID="), START_XGID.removesuffix(":10"), f"  {START_XGID}\n"):
        assert parse_position_id(text) == start
    assert parse_position_id("4HPwATDgc/ABMA") == start


def test_the_example_of_the_manual() -> None:
    """Manual of GNU Backgammon, "A technical description of the Match ID"; today's program also sets a bit for "no
    Jacoby", which is why it is written with another last letter."""
    position = parse_gnubg_match_id("QYkqASAAIAAA")
    assert position == MatchPosition(dice=(5, 2), seat=1, score=(4, 2), length=9, cube=2, cube_owner=1)
    assert format_gnubg_match_id(position) == "QYkqASAAIAAE"


@pytest.mark.parametrize(
    ("text", "pips", "score", "length", "cube", "owner", "dice"),
    [
        # posted by T. Chow in rec.games.backgammon, 14 December 2021 and 7 October 2022, with the drawing of XG
        ("XGID=-AbcCBBBB-B--A--ababbb----:1:-1:1:66:0:0:0:0:10", (98, 174), (0, 0), None, 2, 1, (6, 6)),
        ("XGID=-bbBBAEb--------------g-b-:1:-1:1:31:0:0:0:0:10", (49, 153), (0, 0), None, 2, 1, (3, 1)),
        # XG 2.10: "Score is X:3 O:6 7 pt.(s) match", "Pip count X: 111 O: 52", "Cube: 2, O own cube"
        ("XGID=-B-CBBB---a---A---ABcbbbd-:1:-1:1:21:3:6:0:7:10", (111, 52), (3, 6), 7, 2, 1, (2, 1)),
        # XG 2.10: "Score is X:2 O:4 9 pt.(s) match", "Pip count X: 139 O: 156", "X on roll, cube action"
        ("XGID=-aAaBaDaB---bD-b-A-cA-b-b-:0:0:1:00:2:4:0:9:10", (139, 156), (2, 4), 9, 1, None, None),
    ],
)
def test_what_xg_prints_with_an_xgid(
    text: str,
    pips: tuple[int, int],
    score: tuple[int, int],
    length: int | None,
    cube: int,
    owner: int | None,
    dice: tuple[int, int] | None,
) -> None:
    position = parse_xgid(text)
    assert tuple(pip_count(np.array(position.board))) == pips
    assert (position.score, position.length, position.cube) == (score, length, cube)
    assert (position.cube_owner, position.dice, position.seat) == (owner, dice, 1)
    assert format_xgid(position) == text


def test_the_top_player_on_roll() -> None:
    """XG: "Score is X:3 O:4 5 pt.(s) match", "Cube: 2, O own cube", "X to play 63", where X is player 2; 11/8 11/5."""
    text = "XGID=---BBBBAAA---Ac-bbccbAA-A-:1:1:-1:63:4:3:0:5:8"
    position = parse_xgid(text)
    assert format_position(position.board) == (
        "11:3 9:2 8:2 7:3 6:3 5:2 | 24:1 22:1 21:1 13:1 9:1 8:1 7:1 6:2 5:2 4:2 3:2"
    )
    find_play("11/8 11/5", position.board, (6, 3), SHORT)
    assert position == MatchPosition(
        position.board, dice=(6, 3), seat=0, score=(3, 4), length=5, cube=2, cube_owner=1, max_cube=256
    )
    assert format_xgid(position) == text


def test_the_bars() -> None:
    """By hand: the first place is the bar of the top player, the last that of the bottom player."""
    position = MatchPosition(parse_position("bar:2 24:2 13:4 8:3 6:4 | bar:1 24:1 20:1 13:5 8:3 6:4"))
    assert format_xgid(position).startswith("XGID=aa---aD-C---eD---c-d----BB:0:0:1:")
    other = dataclasses.replace(position, seat=0)
    assert format_xgid(other).startswith("XGID=bb----D-C---dE---c-dA---AA:0:0:-1:")
    for text in (format_xgid(position), format_xgid(other)):
        assert parse_xgid(text).board == position.board


def test_cube_actions_as_gnu_backgammon_writes_them() -> None:
    """Match IDs that GNU Backgammon 1.08 shows after `double`, `beaver`, `resign gammon`; player 1 is on roll."""
    start = MatchPosition(jacoby=True)
    doubled = dataclasses.replace(start, doubled=True, opponent_to_act=True)
    assert format_gnubg_match_id(doubled) == "cBEAAAAAAAAA"
    beaver = dataclasses.replace(start, doubled=True, cube=2, cube_owner=1)
    assert format_gnubg_match_id(beaver) == "QRkAAAAAAAAA"
    resigned = dataclasses.replace(start, resigned=2, opponent_to_act=True)
    assert format_gnubg_match_id(resigned) == "cEEAAAAAAAAA"
    for position in (doubled, beaver, resigned):
        assert parse_gnubg_match_id(format_gnubg_match_id(position)) == position
    assert ":0:0:1:D:" in format_xgid(doubled)


def test_the_example_of_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "records.md").read_text(encoding="utf-8")
    code = text.partition("<!-- the tests run this example -->\n```python\n")[2].partition("```")[0]
    found: dict[str, Any] = {}
    exec(code, found)
    xgid, gnubg = format_xgid(found["position"]), format_gnubg_id(found["position"])
    assert all(text.count(written) >= 2 for written in (xgid, gnubg))


# --- of a record ----------------------------------------------------------------------------------------------------

MATCH = """
[match]
rules: short
player-1: Anna
player-2: Boris
length: 3

[game 1]
first: Boris
ended: dropped
winner: first
result: dropped
points: 2

1. 31 8/5 6/5
doubled to 2: taken
2. 64 24/14
doubled to 4: dropped

[game 2]
first: Anna

1. 31 8/5 6/5
2. 64 24/14
"""


def _xgids(record: MatchRecord) -> list[list[str]]:
    scores = replay_match(record).scores
    return [
        [
            format_xgid(turn_position(game, number, turn.board, standing(record, scores[: k + 1])))
            for number, turn in enumerate(replay(game).turns, start=1)
        ]
        for k, game in enumerate(record.games)
    ]


def test_the_turns_of_a_match() -> None:
    """By hand: who moves first sits at the bottom; in game 1 Anna doubles, so that Boris owns the cube."""
    (record,) = parse_records(MATCH)
    assert isinstance(record, MatchRecord)
    assert _xgids(record) == [
        [
            "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10",
            "XGID=-b---BD-B---eE---c-e----B-:1:1:-1:64:0:0:0:3:10",
        ],
        [
            "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:2:1:3:10",
            "XGID=-b---BD-B---eE---c-e----B-:0:0:-1:64:0:2:1:3:10",
        ],
    ]
    plain = dataclasses.replace(record, tags={"Crawford": "Off"})
    assert [text.split(":")[7] for text in _xgids(plain)[1]] == ["0", "0"]
    after = dataclasses.replace(record, start=(0.0, 0.0), length=4.0)
    assert [text.split(":")[7] for texts in _xgids(after) for text in texts] == ["0"] * 4


def test_only_the_first_game_at_one_point_is_the_crawford_game() -> None:
    (record,) = parse_records(MATCH)
    assert isinstance(record, MatchRecord)
    for scores, crawford in (
        ([(0.0, 0.0)], False),
        ([(0.0, 2.0)], True),
        ([(0.0, 2.0), (1.0, 2.0)], False),
        ([(0.0, 1.0), (2.0, 1.0)], True),
    ):
        assert standing(record, scores).crawford == crawford


def test_jacoby_and_half_points() -> None:
    game = GameRecord("short", turns=(RecordedTurn((3, 1), "8/5 6/5"),), tags={"jacoby": "on"})
    board = SHORT.start, SHORT.start
    assert turn_position(game, 1, board) == MatchPosition(dice=(3, 1), jacoby=True)
    with pytest.raises(ValueError, match="whole points only"):
        turn_position(game, 1, board, Standing((0.5, 0.5)))
    with pytest.raises(ValueError, match="long nardy has no IDs"):
        turn_position(GameRecord(turns=game.turns), 1, board)


# --- round trips ----------------------------------------------------------------------------------------------------


@examples
@given(positions())
def test_gnu_ids_come_back(position: MatchPosition) -> None:
    text = format_gnubg_id(position)
    assert (len(text), text[14]) == (27, ":")
    unsaid = {"beavers": False, "max_cube": MatchPosition.max_cube}
    assert parse_gnubg_id(text) == dataclasses.replace(position, **unsaid)
    assert format_gnubg_id(parse_position_id(text)) == text


@examples
@given(positions())
def test_xgids_come_back(position: MatchPosition) -> None:
    waiting = position.doubled
    position = dataclasses.replace(position, state=PLAYING, resigned=0, opponent_to_act=waiting)
    text = format_xgid(position)
    assert parse_xgid(text) == position
    assert format_xgid(parse_position_id(text)) == text


@examples
@given(boards)
def test_position_ids_come_back(board: Board) -> None:
    assert parse_gnubg_position_id(format_gnubg_position_id(board)) == board
    assert parse_gnubg_position_id(format_gnubg_position_id(np.array(board, dtype=np.int8))) == board


@examples
@given(positions())
def test_the_seat_changes_nothing_but_the_side_of_the_board(position: MatchPosition) -> None:
    position = dataclasses.replace(position, state=PLAYING, resigned=0, opponent_to_act=position.doubled)
    here, there = format_xgid(position), format_xgid(dataclasses.replace(position, seat=1 - position.seat))
    checkers, *_ = here.removeprefix("XGID=").split(":")
    assert there.removeprefix("XGID=").split(":")[0] == checkers[::-1].swapcase()


# --- refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an empty text is no position ID"),
        ("  \n", "an empty text is no position ID"),
        ("4HPwATDgc/ABM", "has 13 letters, not 14"),
        ("4HPwATDgc/ABMAA", "has 15 letters, not 14"),
        ("4HPwATDgc-ABMA", "'-' is none of A-Z"),
        ("4HPwATDgc/АBMA", "'А' is none of A-Z"),  # a Cyrillic letter
        ("4HPwATDgc/ABMB", "the last letter cannot be 'B'"),
        ("//8AAAAAAAAAAA", "the opponent has 16 checkers, not 15"),  # 16 ones
        ("AAAAAAAAAAAAgA", "more than two sides"),  # 79 zeros and a one
        ("AAAAAAAAAAAAAA", "both sides have borne off all checkers"),
        ("AQAAAAAAAgAAAA", "both sides hold"),
        ("cAkAAAAAAAAA", "says nothing of the checkers"),
        ("4HPwATDgc/ABMA:", "is not a GNU match ID: it has 0 letters, not 12"),
        (":cAkAAAAAAAAA", "is not a GNU position ID: it has 0 letters, not 14"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAA", "11 letters, not 12"),
        ("4HPwATDgc/ABMA:cAkA*AAAAAAA", "[*]' is none of"),
        ("4HPwATDgc/ABMA:YAkAAAAAAAAA", "the cube's owner is 2"),
        ("4HPwATDgc/ABMA:cA8AAAAAAAAA", "the state of the game is 7, not 0..4"),
        ("4HPwATDgc/ABMA:cIk/AAAAAAAA", "the dice are 7 and 7"),
        ("4HPwATDgc/ABMA:cIkAAAAAAAAA", "the dice are 1 and 0"),
        ("4HPwATDgc/ABMA:8AkAAAAAAAAA", "Crawford's rule belongs to matches"),
        ("4HPwATDgc/ABMA:cAEAAAAAAAAA", "no double and no resignation waits"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAD/", "bits that mean nothing"),
        ("4HPwATDgc/ABMA:cAkgACAACAAE:", "is no XGID: it has 3 fields"),
        ("XGID=", "is no XGID: it has 1 fields with ':' between them, not 10"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0", "it has 8 fields"),
        (f"{START_XGID}:0", "it has 11 fields"),
        ("-b----E-C---eE---c-e----B:0:0:1:00:0:0:0:0:10", "the checkers have 25 letters, not 26"),
        ("-b----Q-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "'Q' among the checkers is none of -, A-P and a-p"),
        ("-b----Е-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "among the checkers is none of"),  # a Cyrillic letter
        ("-b----P-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "the bottom player .A-P. has 26 checkers, not 15"),
        ("-p----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "the top player .a-p. has 29 checkers"),
        ("A-----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "the first letter .* is the other player's bar, not 'A'"),
        ("-b----E-C---eE---c-e----Aa:0:0:1:00:0:0:0:0:10", "the last letter"),
        ("--------------------------:0:0:1:00:0:0:0:0:10", "both sides have borne off"),
        ("-b----E-C---eE---c-e----B-:16:0:1:00:0:0:0:0:10", "cube is '16', not a number of 0..15"),
        ("-b----E-C---eE---c-e----B-:-1:0:1:00:0:0:0:0:10", "cube is '-1'"),
        ("-b----E-C---eE---c-e----B-:٣:0:1:00:0:0:0:0:10", "cube is '٣'"),
        ("-b----E-C---eE---c-e----B-:0:2:1:00:0:0:0:0:10", "owner is '2', not 0 or 1 or -1"),
        ("-b----E-C---eE---c-e----B-:0:0:0:00:0:0:0:0:10", "turn is '0', not 1 or -1"),
        ("-b----E-C---eE---c-e----B-:0:0:1:70:0:0:0:0:10", "dice are '70', not two of 1..6"),
        ("-b----E-C---eE---c-e----B-:0:0:1:6:0:0:0:0:10", "dice are '6'"),
        ("-b----E-C---eE---c-e----B-:0:0:1:B:0:0:0:0:10", "a beaver that waits for its answer"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:7:0:0:7:10", "the score is 7-0, so the match to 7 is over"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:1:7:10", "in the Crawford game one player needs one point"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:2:7:10", "Crawford or Jacoby is '2', not a number of 0..1"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:4:0:10", "Crawford or Jacoby is '4', not a number of 0..3"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:99999:10", "length is '99999'"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:", "max cube is ''"),
    ],
)
def test_broken_texts(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_position_id(text)


@pytest.mark.parametrize("size", [10**3, 10**6])
@pytest.mark.parametrize("text", ["a", "XGID=", "4HPwATDgc/ABMA:", "я", ":"])
def test_errors_stay_short(text: str, size: int) -> None:
    with pytest.raises(ValueError, match="is no position ID: it has") as error:
        parse_position_id(text * (size // len(text)))
    assert len(str(error.value)) < 200
    with pytest.raises(ValueError, match="IDs of GNU Backgammon and XG are for rules=short") as error:
        read_position(text * (size // len(text)), OFFICIAL)
    assert len(str(error.value)) < 300


@settings(max_examples=200, deadline=None)
@given(positions(), st.data())
def test_anything_is_read_or_refused_in_words(position: MatchPosition, data: st.DataObject) -> None:
    position = dataclasses.replace(position, state=PLAYING, resigned=0, opponent_to_act=position.doubled)
    text = data.draw(st.sampled_from((format_xgid(position), format_gnubg_id(position))))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        letter = data.draw(st.sampled_from([*string.ascii_letters, *string.digits, *"+/:=- |", "Ж", "\x00", "١"]))
        text = text[:at] + letter + text[at + data.draw(st.integers(0, 1)) :]
    why = ""
    try:
        found = parse_position_id(text)
    except ValueError as error:
        why = str(error)
    if why:
        assert 10 < len(why) < 400
    else:
        assert parse_gnubg_id(format_gnubg_id(found)).board == found.board


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"board": parse_position("24:14 1:1 | 24:15")}, "both sides hold"),
        ({"board": parse_position("24:15 | 24:15")[:1]}, "shape"),
        ({"board": np.full((2, 26), 200)}, "more than 15"),
        ({"dice": (0, 3)}, "two dice of 1..6"),
        ({"dice": (1, 2, 3)}, "two dice of 1..6"),
        ({"seat": 2}, "seat=2 is not allowed; choose one of 0, 1"),
        ({"cube": 3}, "cube=3 is not allowed; give a power of two"),
        ({"cube": 2**16}, "cube=65536"),
        ({"max_cube": 0}, "max_cube=0"),
        ({"cube_owner": -1}, "cube_owner=-1"),
        ({"score": (0, -1)}, "whole points"),
        ({"score": (0, 0.5)}, "whole points"),
        ({"length": 0}, "None for money"),
        ({"length": 2.5}, "length=2.5"),
        ({"length": 2**15}, "length=32768"),
        ({"length": 5, "jacoby": True}, "belong to money play"),
        ({"length": 5, "beavers": True}, "belong to money play"),
        ({"length": 5, "score": (3, 3), "crawford": True}, "one player needs one point"),
        ({"crawford": True}, "belongs to matches"),
        ({"resigned": 4}, "resigned=4"),
        ({"state": "won"}, "choose one of not started, playing, over, resigned, dropped"),
        ({"doubled": True, "dice": (1, 1)}, "before the throw"),
        ({"opponent_to_act": True}, "waits for him"),
    ],
)
def test_positions_that_cannot_be(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        dataclasses.replace(MatchPosition(), **change)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": OVER}, "the game is over"),
        ({"state": DROPPED}, "the game is dropped"),
        ({"resigned": 1, "opponent_to_act": True}, "offered to resign"),
        ({"doubled": True}, "a beaver"),
    ],
)
def test_what_an_xgid_cannot_say(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        format_xgid(dataclasses.replace(MatchPosition(), **change))


def test_an_id_without_a_state_becomes_an_xgid() -> None:
    """From the help of the R package backgammon: a match ID that leaves the state out."""
    position = parse_gnubg_id("4HPwATDgc/ABMA:8IhuACAACAAE")
    assert position.state == NOT_STARTED
    assert format_xgid(position) == "XGID=-b----E-C---eE---c-e----B-:0:0:1:53:1:2:1:3:10"


@pytest.mark.parametrize(
    "text",
    [
        "GNUBG ID: 4HPwATDgc/ABMA:cAkAAAAAAAAA",
        "Position ID: 4HPwATDgc/ABMA Match ID: cAkAAAAAAAAA",
        "GNU Backgammon  Position ID: 4HPwATDgc/ABMA  Match ID   : cAkAAAAAAAAA",
    ],
)
def test_the_labels_that_gnu_backgammon_prints(text: str) -> None:
    assert parse_position_id(text) == parse_gnubg_id("4HPwATDgc/ABMA:cAkAAAAAAAAA")


def test_long_nardy_has_no_id() -> None:
    with pytest.raises(ValueError, match="both sides hold"):
        format_gnubg_position_id(parse_position("24:14 1:1 | 24:15"))
    board = parse_position("24:15 | 24:15")
    assert read_position("24:15 | 24:15", OFFICIAL) == (board, None)
    for text in (START_XGID, "4HPwATDgc/ABMA"):
        with pytest.raises(ValueError, match="for rules=short"):
            read_position(text, OFFICIAL)


def test_any_way_to_write_a_position() -> None:
    board = parse_position(START)
    assert read_position(START, SHORT) == (board, None)
    assert read_position("4HPwATDgc/ABMA", SHORT) == (board, MatchPosition())
    assert read_position(START_XGID.replace(":00:", ":31:"), SHORT) == (board, MatchPosition(dice=(3, 1)))


@pytest.mark.parametrize("text", ["24:2 13:5 8:3 6:5", " 24:15 ", "bar:1 off:14", "6:1 5:1 off:13  24:15"])
def test_a_position_without_its_bar_is_not_taken_for_an_id(text: str) -> None:
    with pytest.raises(ValueError, match=r"a position is written 'mover \| opponent', like .*; or an ID is given"):
        read_position(text, SHORT)


# --- against the programs -------------------------------------------------------------------------------------------


def _random_boards(count: int) -> list[Board]:
    return [constructed_turn(random.Random(seed), SHORT).board for seed in range(count)]


@pytest.mark.yardsticks
def test_gnubg_nn_reads_and_writes_the_same_position_ids() -> None:
    import gnubg_nn  # noqa: PLC0415  (an optional package)

    for board in _random_boards(5_000):
        ours = format_gnubg_position_id(board)
        mover, opponent = ([*row[1:25], row[25]] for row in board)
        assert gnubg_nn.position_id([opponent, mover]) == ours
        theirs = gnubg_nn.board_from_position_id(ours)
        assert [list(row) for row in theirs] == [opponent, mover]
        assert parse_gnubg_position_id(ours) == board


_GNUBG = """
import sys
import gnubg
for command in ("set player 0 human", "set player 1 human", "set automatic roll off", "set confirm new off"):
    gnubg.command(command)
for line in sys.stdin:
    gnubg.set_gnubg_id(line.strip())
    print("\\nnow:", gnubg.gnubg_id(), flush=True)
"""
"""Reads IDs and prints how the program writes what it has read; a process of its own, since it keeps the last one."""


@pytest.mark.yardsticks
def test_gnubg_reads_our_ids_and_writes_the_same() -> None:
    rng = random.Random(1)
    asked = []
    for board in _random_boards(2_000):
        length = rng.choice((None, 1, 3, 5, 25))  # no Crawford game in a match to 1
        score = (rng.randrange(length), rng.randrange(length)) if length else (0, 0)
        crawford = length not in (None, 1) and max(score) == length - 1 and rng.random() < 0.5
        cube = 1 if crawford else 2 ** rng.randrange(5)
        position = MatchPosition(
            board,
            # GNU Backgammon puts the higher die first
            dice=rng.choice((None, tuple(sorted((rng.randint(1, 6), rng.randint(1, 6)), reverse=True)))),
            seat=rng.randrange(2),
            score=score,
            length=length,
            crawford=crawford,
            jacoby=length is None and rng.random() < 0.5,
            cube=cube,
            cube_owner=rng.randrange(2) if cube > 1 else None,
        )
        asked.append((format_xgid(position), format_gnubg_id(position)))
    texts = [text for pair in asked for text in pair]
    done = subprocess.run(
        [sys.executable, "-c", _GNUBG], input="\n".join(texts), capture_output=True, text=True, timeout=300, check=True
    )
    answers = [line.removeprefix("now: ") for line in done.stdout.splitlines() if line.startswith("now: ")]
    assert answers == [ours for _, ours in asked for _ in range(2)]
