"""Text and back: plays, positions, drawings and game records."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_rl.rules.notation import (
    GameRecord,
    Outcome,
    RecordedTurn,
    draw_board,
    find_play,
    format_play,
    format_position,
    format_record,
    judge,
    parse_board,
    parse_play,
    parse_position,
    parse_record,
    replay,
)
from nardy_rl.rules.reference import Board, Step, legal_plays
from nardy_rl.rules.spec import OFFICIAL, PRESETS, Rules, make_rules
from tests.rules.positions import TurnCase, constructed_turn
from tests.rules.regenerate import random_game

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
    ],
)
def test_illegal_plays_are_refused_with_the_rule(
    text: str, position: str, dice: tuple[int, int], rules: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        find_play(text, parse_position(position), dice, PRESETS[rules])
    assert "legal: " in str(error.value)


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


# --- game records ---------------------------------------------------------------------------------------------------

RECORD = """\
# A beginning.
rules: official
options: {"head_second": "stuck_first"}
event: friendly game

1. 63 24/18 18/15
2. 66 24/18(2)

# and so on
3. 11 24/20
"""


def test_a_record_is_read() -> None:
    record = parse_record(RECORD)
    assert record == GameRecord(
        preset="official",
        options={"head_second": "stuck_first"},
        tags={"event": "friendly game"},
        turns=(
            RecordedTurn((6, 3), "24/18 18/15"),
            RecordedTurn((6, 6), "24/18(2)"),
            RecordedTurn((1, 1), "24/20"),
        ),
    )
    assert record.rules == make_rules("official", {"head_second": "stuck_first"})
    assert parse_record(format_record(record)) == record
    replayed = replay(record)
    assert [format_position(turn.board) for turn in replayed] == [
        "24:15 | 24:15",
        "24:15 | 24:14 15:1",
        "24:14 15:1 | 24:13 18:2",
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_random_games_round_trip_and_replay(preset: str) -> None:
    record = random_game(preset, seed=100)
    text = format_record(record)
    assert parse_record(text) == record
    assert len(replay(parse_record(text))) == len(record.turns)


def test_options_round_trip() -> None:
    record = GameRecord(preset="club", options={"head_rolls": (1, 2), "draw": "last_roll"}, points=0.5, winner="none")
    assert parse_record(format_record(record)) == record
    assert record.rules.head_rolls == (1, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: house", "line 1: unknown rules 'house'"),
        ("# x\nrules: club\noptions: {", "line 3: "),
        ("options: [1]", "line 1: options are a JSON object"),
        ('\noptions: {"head": 1}', "line 2: unknown rule option 'head'"),
        ("winner: me", "line 1: winner='me' is not allowed"),
        ("points: many", "line 1: "),
        ("rules: club\nrules: club", "line 2: rules is there twice"),
        ("1. 63 24/15\n3. 63 24/15", "line 2: turn 2 should follow, not 3"),
        ("1. 73 24/15", "line 1: cannot read"),
        ("1. 63 24/15\nrules: club", "line 2: cannot read"),
        ("hello", "line 1: cannot read 'hello'"),
    ],
)
def test_what_is_no_record(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_record(text)


@pytest.mark.parametrize("tags", [{"rules": "x"}, {"two words": "x"}, {"note": "two\nlines"}, {"note": " x"}])
def test_tags_that_could_not_be_read_back(tags: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="cannot write the tag"):
        format_record(GameRecord(tags=tags))


def test_replay_names_the_line_and_the_reason() -> None:
    with pytest.raises(ValueError, match=r"line 7, turn 2: '24/18' is not legal: it plays 1 die, but 2 can be played"):
        replay(parse_record(RECORD.replace("24/18(2)", "24/18")))
    with pytest.raises(ValueError, match=r"^turn 1: cannot read 'x'"):
        replay(GameRecord(turns=(RecordedTurn((6, 3), "x"),)))


def edited(record: GameRecord, **changes: Any) -> GameRecord:
    return GameRecord(**{**vars(record), **changes})


def test_replay_checks_the_outcome() -> None:
    record = random_game("official", seed=1)
    assert record.winner == "first"
    with pytest.raises(ValueError, match=r"says winner: second, but after turn \d+ it is first"):
        replay(edited(record, winner="second"))
    with pytest.raises(ValueError, match="says points: 7"):
        replay(edited(record, points=7.0))
    with pytest.raises(ValueError, match="the game is not over"):
        replay(edited(record, turns=record.turns[:-2]))
    with pytest.raises(ValueError, match="the game is already over"):
        replay(edited(record, turns=(*record.turns, RecordedTurn((1, 2), "pass"))))
    assert replay(edited(record, winner=None, result=None, points=None, turns=record.turns[:5]))


@pytest.mark.parametrize(
    ("position", "number", "preset", "expected"),
    [
        ("off:15 | 1:15", 1, "official", None),  # the second has one more throw (R5.4)
        ("off:15 | 1:15", 1, "club", Outcome("first", "mars", 2.0)),
        ("off:15 | 1:14 off:1", 2, "official", Outcome("second", "oin", 1.0)),
        ("1:14 off:1 | off:15", 2, "official", Outcome("first", "oin", 1.0)),
        ("off:15 | off:15", 2, "official", Outcome("none", "draw", 0.5)),
        ("1:15 | 1:15", 3, "official", None),
    ],
)
def test_judging(position: str, number: int, preset: str, expected: Outcome | None) -> None:
    after: Board = parse_position(position)
    assert judge(after, after, number, PRESETS[preset]) == expected
