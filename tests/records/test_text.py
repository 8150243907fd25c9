"""The text format: written, read back, documented, and broken."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_rl.records.record import (
    RESIGNED,
    GameRecord,
    MatchRecord,
    RecordedTurn,
    RecordError,
    games_of,
    replay,
    replay_match,
)
from nardy_rl.records.text import GAME_HEADERS, MATCH_GAME_HEADERS, MATCH_HEADERS, format_records, parse_records
from nardy_rl.rules.spec import PRESETS, make_rules
from tests.records.broken import attempt, broken
from tests.records.games import cut_game, random_endings, random_match, whole_game

DOCS = Path(__file__).parents[2] / "docs" / "records.md"
EXAMPLES = re.findall(r"<!-- the tests parse this example -->\n```\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)

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

examples = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_a_game_is_read() -> None:
    (record,) = parse_records(RECORD)
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
    assert [turn.line for turn in record.turns] == [6, 7, 10]
    assert record.ended == "unfinished"
    assert "ended: unfinished" in format_records([record])
    assert parse_records(format_records([record])) == (record,)


def test_the_examples_of_the_documentation() -> None:
    match, game = (parse_records(text)[0] for text in EXAMPLES)
    assert isinstance(match, MatchRecord)
    assert match.players == ("Анна", "Boris")
    assert match.tags == {"date": "2026-01-02", "seed": "17"}
    assert replay_match(match).scores == ((0, 0), (2, 0), (2, 0))
    assert match.games[1].ended == "unfinished"
    assert isinstance(game, GameRecord)
    assert replay(game).outcome == ("second", "dropped", 2.0)
    for text, record in zip(EXAMPLES, (match, game), strict=True):
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        written = format_records([record]).splitlines()
        assert sorted(lines) == sorted(written), "the examples are what is written, up to the order of headers"


def test_the_headers_of_the_documentation_are_the_ones_that_are_known() -> None:
    documented = set(
        re.findall(r"`([a-z0-9-]+)`", " ".join(re.findall(r"^\| (`.*?) \|", DOCS.read_text(encoding="utf-8"), re.M)))
    )
    assert documented == {*GAME_HEADERS, *MATCH_GAME_HEADERS, *MATCH_HEADERS}


@pytest.mark.parametrize("preset", PRESETS)
def test_whole_games_round_trip(preset: str) -> None:
    record = whole_game(preset, 0)
    assert parse_records(format_records([record])) == (record,)


@examples
@given(st.randoms(use_true_random=False), st.sampled_from(sorted(PRESETS)))
def test_games_and_matches_round_trip(rng: random.Random, preset: str) -> None:
    records = [random_match(rng, preset, random_endings(rng, preset)) for _ in range(rng.randrange(3))]
    records += [cut_game(rng, preset, RESIGNED) for _ in range(rng.randrange(3) if records else 1)]
    rng.shuffle(records)
    read = parse_records(format_records(records))
    assert read == tuple(records)
    assert format_records(read) == format_records(records)


def test_options_names_and_points_round_trip() -> None:
    record = GameRecord(
        preset="club",
        options={"head_rolls": (1, 2), "draw": "last_roll", "draw_points": 1 / 3},
        first="Анна  О'Нил: 1-я",
        second="# B [x]",
        winner="none",
        points=1 / 3,
        tags={"empty": "", "site": "a: b"},
    )
    assert parse_records(format_records([record])) == (record,)
    assert record.rules.head_rolls == (1, 2)


def test_line_ends_tabs_and_byte_order_mark_mean_nothing() -> None:
    plain = parse_records(RECORD)
    for text in (
        "\ufeff" + RECORD,
        RECORD.replace("\n", "\r\n"),
        RECORD.replace("\n", "\r"),
        RECORD.replace("\n", " \t\n"),
        RECORD.replace(". ", ".\t ").replace("rules: ", "  rules:\t"),
    ):
        assert parse_records(text) == plain


MATCH = format_records([random_match(random.Random(3), "official", [RESIGNED, RESIGNED])])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no game in the file"),
        ("# nothing\n", "there is no game in the file"),
        ("rules: house", "line 1: unknown rules 'house'"),
        ("# x\nrules: club\noptions: {", "line 3: "),
        ("options: [1]", "line 1: options are a JSON object"),
        ('\noptions: {"head": 1}', "line 2: unknown rule option 'head'"),
        ("event: x\nwinner: me", "line 2: winner='me' is not allowed"),
        ("winner: first\npoints: many", "line 2: 'many' is not a number of points"),
        ("winner: first\npoints: 1e3", "line 2: '1e3' is not a number of points"),
        ("points: 1", "line 1: an unfinished game has no winner"),
        ("ended: late", "line 1: ended='late' is not allowed"),
        ("rules: club\nrules: club", "line 2: rules is there twice"),
        ("1. 63 24/15\n3. 63 24/15", "line 2: turn 2 should follow, not 3"),
        ("1. 73 24/15", "line 1: cannot read '1. 73 24/15'"),
        ("1. 63 24/15\nrules: club", "line 2: 'rules': header lines stand before the turns"),
        ("hello", "line 1: cannot read 'hello'"),
        ("[game 1]", r"line 1: \[game 1\] is of a match, but no match begins"),
        ("[match 2]", r"line 1: a match has no number"),
        ("[match]\nplayer-1: A\nplayer-2: B", "line 1: a match needs at least one game"),
        ("[match]\n1. 63 24/15", "line 2: cannot read '1. 63 24/15'; a match has header lines"),
        ("[match]\nplayer-1: A\nplayer-2: B\n[game 2]", r"line 4: \[game 1\] should follow, not \[game 2\]"),
        ("[match]\nplayer-1: A\nplayer-2: B\n[game 1]\nfirst: C", "line 4: 'first' names who made the first move"),
        ("[match]\nplayer-1: A\nplayer-2: B\n[game 1]\nfirst: A\nsecond: C", "line 6: the second player of this game"),
        (
            "[match]\nplayer-1: A\nplayer-2: B\n[game 1]\nfirst: A\nended: resigned\nwinner: first",
            "line 4: game 1 of a match says how many points",
        ),
        ("[match]\nplayer-1: A\nplayer-2: B\nlength: 0\n[game 1]\nfirst: A", "line 1: length=0 is not allowed"),
        ("[match]\nplayer-1: A\nplayer-2: B\nlength: x\n[game 1]\nfirst: A", "line 4: 'x' is not a number of points"),
        ("[match]\nplayer-1: A\nplayer-2: B\nfinal: 1\n[game 1]\nfirst: A", "line 4: '1' is not a score"),
        (re.sub("final: .*", "final: 9 9", MATCH), r"line \d+: the score is .* by the games recorded, not 9 9"),
        (MATCH[: MATCH.index("[game 2]")], r"line \d+: the score is .* by the games recorded"),
        ("doubled to 2: taken", "line 1: a turn should follow the last double"),
        ("doubled to 2: taken\ndoubled to 4: taken", "line 2: two doubles before one turn"),
        ("doubled to 2\n1. 63 24/15", "line 2: '1. 63 24/15' follows a double that was not taken"),
        ("winner: first\nended: resigned\n1. 31 8/4\ndoubled to 2: dropped", "line 1: the last double does not fit"),
        ("1. 31 8/4\ndoubled to " + "9" * 5000 + ": taken", "line 2: 999999999... is too large"),
        ("9" * 5000 + ". 31 8/4", "line 1: 999999999... is too large"),
    ],
)
def test_what_is_no_record(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse_records(text)


@pytest.mark.parametrize(
    "record",
    [
        GameRecord(tags={"rules": "x"}),
        GameRecord(tags={"two words": "x"}),
        GameRecord(tags={"note": "two\nlines"}),
        GameRecord(tags={"note": " x"}),
        GameRecord(tags={"note": "x\r"}),
        GameRecord(tags={"заметка": "x"}),
        GameRecord(first="A\nB"),
        GameRecord(turns=(RecordedTurn((6, 3), "24/18\n2. 11 24/20"),)),
        GameRecord(turns=(RecordedTurn((6, 7), "24/18 18/15"),)),
        GameRecord(turns=(RecordedTurn((6, 3), ""),)),
    ],
)
def test_what_could_not_be_read_back_is_not_written(record: GameRecord) -> None:
    with pytest.raises(ValueError, match="cannot write"):
        format_records([record])


def test_nothing_is_no_file() -> None:
    with pytest.raises(ValueError, match="there is no game to write"):
        format_records([])


def test_a_lost_end_is_noticed() -> None:
    """A record written whole and cut off later does not pass for a whole one."""
    text = format_records([whole_game("official", 1)])
    cut = text[: text.rindex("\n", 0, -1) + 1]
    (record,) = parse_records(cut)
    with pytest.raises(RecordError, match="the game is not over"):
        replay(record)


@examples
@given(st.data())
def test_broken_files_give_an_error_with_a_line_or_a_record(data: st.DataObject) -> None:
    rng = data.draw(st.randoms(use_true_random=False))
    preset = rng.choice(["official", "short"])
    records = [random_match(rng, preset, random_endings(rng, preset)), cut_game(rng, preset, RESIGNED)]
    text = data.draw(broken(format_records(rng.sample(records, rng.choice((1, 2))))))
    read = attempt(parse_records, text)
    if read is not None:
        assert parse_records(format_records(read)) == read
        for game in games_of(read):
            if len(game.turns) < 20:  # whole games take long
                attempt(lambda _, game=game: replay(game), text)
