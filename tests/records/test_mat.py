"""The .mat format: the dialects that are read, what is written, and what is refused."""

import dataclasses
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_rl.records.mat import format_match, is_mat, parse_match
from nardy_rl.records.record import (
    DROPPED,
    NOT_PLAYED,
    PLAYED,
    RESIGNED,
    UNFINISHED,
    GameRecord,
    MatchRecord,
    RecordedTurn,
    RecordError,
    replay_match,
)
from nardy_rl.rules.notation import format_position
from tests.records.broken import attempt, broken
from tests.records.games import DATA, golden_match, random_endings, random_match, whole_game

examples = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

SMALL = """\
; [Player 1 "Anna"]
; [Player 2 "Boris"]
; [Event "a test"]

 5 point match

 Game 1
 Anna : 0                       Boris : 0
  1)                             31: 8/5 6/5
  2) 64: 24/14                   62: 24/18 8/6
  3) 61: 14/8/7*                 66: Cannot Move
  4)  Doubles => 2                Takes
  5) 31: 8/5 6/5                  Doubles => 4
  6)  Drops
                                  Wins 2 points

 Game 2
 Anna : 0                       Boris : 2
  1) 31: 8/5 6/5                 42: 8/4 6/4
"""


def read(rows: str, length: int = 5) -> MatchRecord:
    """A match of one game, `A : 0  B : 0`."""
    return parse_match(f"{length} point match\nGame 1\nA : 0   B : 0\n{rows}")


def plays(match: MatchRecord) -> list[str]:
    return [turn.play for turn in match.games[-1].turns]


def test_a_match_is_read() -> None:
    match = parse_match(SMALL)
    assert match.players == ("Anna", "Boris")
    assert match.length == 5
    assert match.tags == {"Event": "a test"}
    first, second = match.games
    assert (first.first, first.second, match.starter(0)) == ("Boris", "Anna", 1)
    assert [turn.dice for turn in first.turns] == [(3, 1), (6, 4), (6, 2), (6, 1), (6, 6), (3, 1)]
    assert [turn.doubled for turn in first.turns] == [None] * 5 + [2]
    assert (first.ended, first.winner, first.points, first.offered) == (DROPPED, "first", 2, 4)
    assert second.ended == UNFINISHED
    replayed = replay_match(match)
    assert replayed.scores == ((0, 0), (0, 2), (0, 2))
    assert format_position(replayed.games[1].board) == "24:2 13:5 8:2 6:4 5:2 | 24:2 13:5 8:2 6:4 4:2"


# --- files ------------------------------------------------------------------------------------------------------------


def test_what_gnubg_wrote_of_our_match() -> None:
    """`gnubg.mat` is what GNU Backgammon 1.07 exported after it had imported `match.mat`."""
    match = golden_match()
    text = (DATA / "match.mat").read_text(encoding="utf-8")
    assert format_match(match) == text
    assert parse_match(text) == match
    theirs = parse_match((DATA / "gnubg.mat").read_text(encoding="utf-8"))
    bare = tuple(dataclasses.replace(game, tags={}) for game in match.games)
    assert tuple(dataclasses.replace(game, tags={}) for game in theirs.games) == bare
    assert (theirs.players, theirs.length) == (match.players, match.length)
    assert replay_match(theirs).games[-1].board == replay_match(match).games[-1].board
    text = (DATA / "gnubg.mat").read_text(encoding="utf-8")
    for what in ("25/", "/0 ", "* ", "Doubles => 4", "Takes", "Drops", "Wins 4 points"):
        assert what in text


def test_an_xg_file() -> None:
    """`xg.mat` is made by hand from a random game, written as eXtreme Gammon does."""
    text = (DATA / "xg.mat").read_text(encoding="utf-8")
    match = parse_match(text)
    assert match.players == ("Anna", "Boris K.")
    assert match.tags["Player-1-Elo"] == "1600.00/0"
    assert "Player-1" not in match.tags
    assert [(game.ended, game.winner, game.points) for game in match.games] == [
        (RESIGNED, "second", 8),
        (DROPPED, "first", 2),
        (PLAYED, "first", 16),
    ]
    assert replay_match(match).scores[-1] == (10, 16)
    for dialect in (
        "\ufeff" + text.replace("\n", "\r\n"),
        text.replace("bar/", "Bar/").replace("/off", "/Off"),
        text.replace("                 ", "\t\t"),
        text.replace("\n", "  \t\n"),
        text.replace("Cannot Move", ""),
    ):
        assert parse_match(dialect) == match


# --- round trip -------------------------------------------------------------------------------------------------------


@examples
@given(st.randoms(use_true_random=False))
def test_matches_round_trip(rng: random.Random) -> None:
    match = random_match(rng, "short", random_endings(rng, "short"))
    text = format_match(match)
    assert is_mat(text)
    assert parse_match(text) == match


def test_tags_round_trip() -> None:
    match = dataclasses.replace(
        golden_match(), tags={"Player-1": "Anna the great", "two-words": 'a "b" c', "EventDate": "2026.01.02"}
    )
    assert parse_match(format_match(match)) == match


@pytest.mark.parametrize(
    ("match", "message"),
    [
        (MatchRecord(("A", "B"), (GameRecord("official", first="A", second="B"),)), "holds games of rules 'short'"),
        (
            MatchRecord(("A", "B"), (GameRecord("short", {"scoring": "four_level"}, first="A", second="B"),)),
            "as they are",
        ),
        (MatchRecord(("A: 1 x", "B"), (GameRecord("short", first="B", second="A: 1 x"),)), "cannot write the names"),
        (MatchRecord((" A", "B"), (GameRecord("short", first="B", second=" A"),)), "cannot write the tag"),
        (MatchRecord(("A", "B"), (GameRecord("short", first="A", second="B"),), length=2.5), "whole points, not 2.5"),
        (MatchRecord(("A", "B"), (GameRecord("short", first="A", second="B"),), tags={"a": "x\ny"}), "the tag"),
        (MatchRecord(("A", "B"), (GameRecord("short", first="A", second="B"),), tags={"ж": "x"}), "the tag"),
        (MatchRecord(("A", "B"), (GameRecord("short", first="A", second="B"),), tags={"a--b": "x"}), "the tag"),
        (
            MatchRecord(
                ("A", "B"), (GameRecord("short", turns=(RecordedTurn((3, 1), "8/4"),) * 40, first="A", second="B"),)
            ),
            "turn 7: .*there is no checker",
        ),
    ],
)
def test_what_the_format_cannot_hold(match: MatchRecord, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        format_match(match)


# --- dialects ---------------------------------------------------------------------------------------------------------


def test_ways_to_write_a_play() -> None:
    start = " 1) 31: 8/5 6/5   61: 24/18 8/7\n 2) 66: "
    for text in (
        "24/18(2) 13/7*(2)",
        "13/7* 13/7 24/18(2)",
        "13/7*(2) 24/18 24/18",
        "13/7(2) 24/18(2)",
        "13/7 24/18 13/7* 24/18",
    ):
        assert plays(read(start + text))[-1] == "24/18* 24/18 13/7* 13/7"
    assert plays(read(" 1) 65: 24/13"))[0] == "24/18 18/13"
    assert plays(read(" 1) 31: 24/20")) == ["24/21 21/20"]


def test_the_bar_and_off_by_number_or_word() -> None:
    start = " 1) 63: 24/15   31: 13/10* 24/23\n 2) 54: "
    for text in ("25/21 13/8", "bar/21 13/8", "Bar/21 13/8", "13/8 BAR/21"):
        assert plays(read(start + text))[-1] == "bar/21 13/8"
    whole = format_match(golden_match())
    assert parse_match(whole.replace("/off", "/0").replace("bar/", "25/")) == golden_match()


def test_dice_thrown_and_not_played() -> None:
    for unknown in ("????", "???", ""):
        match = read(f" 1) 31: 8/5 6/5   64: {unknown}\n      Wins 1 point")
        (game,) = match.games
        assert plays(match) == ["8/5 6/5", NOT_PLAYED]
        assert (game.ended, game.winner, game.result) == (RESIGNED, "first", "single")
    assert plays(read(" 1) 31: 8/5 6/5   64: ????")) == ["8/5 6/5", NOT_PLAYED]
    with pytest.raises(RecordError, match="line 4: the play of 64 is missing, and there is a choice"):
        read(" 1) 31: 8/5 6/5   64: ????\n 2) 31: 8/5 6/5")


@pytest.mark.parametrize("winner", ["left", "right"])
@pytest.mark.parametrize("thrower", ["left", "right"])
def test_a_resignation_after_a_throw_as_gnubg_writes_it(thrower: str, winner: str) -> None:
    """GNU Backgammon begins no new row or line after a throw that was not played."""
    if thrower == "right":
        row, columns = "  1) 31: 8/5 6/5                 64: ", {"left": "\n      ", "right": " "}
    else:
        row, columns = (
            "  1) 31: 8/5 6/5                 42: 8/4 6/4 \n  2) 64: ",
            {"left": "      ", "right": " " * 24},
        )
    (game,) = read(f"{row}{columns[winner]}Wins 2 points").games
    assert game.turns[-1].play == NOT_PLAYED
    assert (game.ended, game.winner) == (RESIGNED, "first" if winner == "left" else "second")


def test_nothing_is_a_pass_or_a_forced_play() -> None:
    rows = "\n".join(line for line in format_match(golden_match()).split("\n"))
    assert "Cannot Move" in rows
    assert parse_match(rows.replace("Cannot Move", "")) == golden_match()
    with pytest.raises(RecordError, match="line 4: 'pass' is not legal"):
        read(" 1) 31: Cannot Move")


def test_a_resignation_is_read_from_who_wins() -> None:
    for column, winner in ((6, "first"), (34, "second")):
        (game,) = read(f" 1) 31: 8/5 6/5   64: 24/14\n{'':{column}}Wins 2 points").games
        assert (game.ended, game.winner, game.result, game.points) == (RESIGNED, winner, "gammon", 2)
    with pytest.raises(RecordError, match="line 5: 4 points cannot be won by a resignation with the cube at 1"):
        read(" 1) 31: 8/5 6/5\n      Wins 4 points")
    with pytest.raises(RecordError, match="cannot be won"):
        read(" 1) 31: 8/5 6/5   64: 24/14\n 2)  Doubles => 2   Takes\n 3) 31: 8/5 6/5\n      Wins 3 points")


def test_a_missing_wins_is_read_from_the_next_score() -> None:
    rows = " 1) 31: 8/5 6/5   64: 24/14\n"
    text = f"5 point match\nGame 1\nA : 1  B : 0\n{rows}Game 2\nA : 1  B : 2\n{rows}"
    match = parse_match(text)
    assert match.start == (1, 0)
    assert (match.games[0].ended, match.games[0].winner, match.games[0].points) == (RESIGNED, "second", 2)
    for score in ("A : 1  B : 0", "A : 2  B : 1", "A : 0  B : 1"):
        with pytest.raises(RecordError, match="line 6: this score does not tell who won"):
            parse_match(text.replace("A : 1  B : 2", score))
    dropped = parse_match(f"5 point match\nGame 1\nA : 0  B : 0\n{rows} 2)  Doubles => 2\nGame 2\nA : 1  B : 0\n{rows}")
    assert (dropped.games[0].ended, dropped.games[0].offered) == (DROPPED, 2)


def finished_gammon() -> GameRecord:
    whole = next(game for seed in range(50) if (game := whole_game("short", seed)).result == "gammon")
    return dataclasses.replace(whole, first="A", second="B", tags={})


def test_jacoby_in_a_session() -> None:
    text = format_match(MatchRecord(("A", "B"), (finished_gammon(),)))
    (game,) = parse_match(text.replace("Wins 2 points", "Wins 1 point")).games
    assert (game.result, game.points, game.tags) == ("gammon", 1, {"jacoby": "on"})
    assert format_match(parse_match(text.replace("Wins 2 points", "Wins 1 point"))).count("Wins 1 point\n") <= 1
    with pytest.raises(RecordError, match="the winner has 2 points by the rules, not 1"):
        parse_match(text.replace("0 point match", "3 point match").replace("Wins 2 points", "Wins 1 point"))


def test_two_players_of_one_name_are_told_apart() -> None:
    match = parse_match("0 point match\nGame 1\ngnubg : 0  gnubg : 0\n 1) 31: 8/5 6/5\n")
    assert match.players == ("gnubg", "gnubg (2)")


def test_crossed_out_comments_and_foreign_tags() -> None:
    text = SMALL[: SMALL.index(" Game 1")] + "; a comment\n# another\n; [Game 1, Move 1: Dice set to Manual]\n"
    text += " Game 1\n A : 0  B : 0\n  1) 31: 8/5 6/5\n; in between\n"
    match = parse_match(text)
    assert match.tags == {"Player-1": "Anna", "Player-2": "Boris", "Event": "a test"}


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no line like '5 point match'"),
        ("hello", "line 1: cannot read 'hello'; a .mat file begins"),
        ("; x\n3 point match\n", "the file ends before its first game"),
        ("3 point match\nA : 0  B : 0", "line 2: cannot read 'A : 0  B : 0'; a line like 'Game 1'"),
        ("3 point match\nGame 1\n", "the file ends before"),
        ("3 point match\nGame 1\n 1) 31: 8/5 6/5", "line 3: cannot read '1\\) 31: 8/5 6/5'; players and score"),
        ("3 point match\nGame 1\nGame 2", "line 3: the line with players and score is missing"),
        ("3 point match\n5 point match", "line 2: another match begins"),
        ('; [Variation "NackGammon"]\n3 point match', "line 1: the game is NackGammon, not backgammon"),
        ("3 point match\nGame 1\nA : 0  B : 0\n; Set Pos=-b----E-C---eE---c-e----B-/0", "line 4: .* set position"),
        (SMALL.replace("24/14 ", "24/15 "), "line 10: '24/15' is not legal"),
        ("3 point match\nGame 1\nA : 0  B : 0\n\nGame 2\nC : 0  B : 1", "line 6: the players are 'A' and 'B'"),
        ("9999999999 point match", "line 1: cannot read"),
        ("3 point match\nGame 1\n" + "A : 0 " * 200, "line 3: a line of more than 1000 characters"),
    ],
)
def test_what_is_no_mat_file(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse_match(text)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (" 2) 31: 8/5 6/5", "line 4: row 1 should follow, not 2"),
        (" 1) 31: 8/5 6/5\n31: 8/5 6/5", "line 5: cannot read '31: 8/5 6/5'; a row begins with its number"),
        (" 1) nonsense", "line 4: cannot read 'nonsense'"),
        (" 1) 31: 8/5 6/5  42: 8/4 6/4  31: 8/5 6/5", "line 4: cannot read"),
        (" 1) 31: 8/5 6/5   42: 8/4 6/4\n 2)                                  31: 8/5 6/5", "line 5: the left player"),
        (" 1) 31: 8/4 6/5", "line 4: '8/4 6/5' is not legal"),
        (" 1) 31: 8/5 6/5   42: 8/4 6/3", "line 4: '8/4 6/3' is not legal"),
        (" 1) 31: Illegal play (x)", "line 4: an illegal play was made"),
        (" 1) 31: 8/5 6/5    Takes", "line 4: 'Takes' or 'Drops' follows 'Doubles'"),
        (" 1) 31: 8/5 6/5    Doubles => 3", "line 4: cannot read the double '=> 3'; the cube stands at 1"),
        (" 1) 31: 8/5 6/5    Doubles => 2\n 2)  Beavers => 4", "line 5: beavers are not supported"),
        (" 1) 31: 8/5 6/5    Doubles => 2\n 2) 31: 8/5 6/5", "line 5: 'Takes' or 'Drops' follows"),
        (" 1) 31: 8/5 6/5    Doubles => 2\n 2)  Takes", "line 5: a throw should follow 'Takes'"),
        (" 1)  Doubles => 2   Takes\n 2) 31: 8/5 6/5", "line 5: .*nobody doubles before the first throw"),
        (
            " 1) 31: 8/5 6/5    Doubles => 2\n 2)  Takes   31: 8/5 6/5\n 3) 42: 8/4 6/4    Doubles => 4",
            "after turn 3: only the player who took",
        ),
        (" 1) 31: 8/5 6/5    Doubles => 2\n 2)  Drops   31: 8/5 6/5", "line 5: the game is already over"),
        (" 1) 31: 8/5 6/5    Doubles => 2\n 2)  Drops\n      Wins 1 point", None),
        (" 1) 31: 8/5 6/5    Doubles => 2\n 2)  Drops\n      Wins 2 points", "line 6: the winner has 1 points"),
        (" 1) 31: 8/5 6/5\n      Wins much", "line 5: cannot read 'Wins much'"),
        (" 1) 31: 8/5 6/5\n      Wins 1 point\n 2) 31: 8/5 6/5", "line 6: something follows 'Wins'"),
        (" 1) 31: 8/5 6/5\n      Wins 1 point\n      Wins 1 point", "line 6: something follows 'Wins'"),
    ],
)
def test_what_is_wrong_with_a_game(rows: str, message: str | None) -> None:
    if message is None:
        assert read(rows).games[0].ended == DROPPED
        return
    with pytest.raises(RecordError, match=message):
        read(rows)


def test_scores_are_checked() -> None:
    text = (DATA / "xg.mat").read_text(encoding="utf-8")
    with pytest.raises(RecordError, match=r"line \d+: the score is 8 : 0 by the games before"):
        parse_match(text.replace("Anna : 8 ", "Anna : 9 "))
    with pytest.raises(RecordError, match=r"game 3: the match is already over"):
        parse_match(text.replace("25 point match", "9 point match"))


@examples
@given(st.data())
def test_broken_files_give_an_error_with_a_line_or_a_match(data: st.DataObject) -> None:
    rng = data.draw(st.randoms(use_true_random=False))
    endings = rng.choices([RESIGNED, DROPPED], k=2) + [UNFINISHED] * rng.randrange(2)
    text = data.draw(broken(format_match(random_match(rng, "short", endings))))
    match = attempt(parse_match, text)
    if match is not None:
        assert parse_match(format_match(match)) == match


def test_the_data_is_small() -> None:
    assert sum(path.stat().st_size for path in Path(DATA).iterdir()) < 20_000
