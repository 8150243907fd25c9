"""Files: which format, which encoding, whole or not at all."""

import dataclasses
import warnings
from pathlib import Path

import pytest

from nardy_rl.records import store
from nardy_rl.records.record import GameRecord, MatchRecord, RecordedTurn, RecordError
from nardy_rl.records.store import load, save
from nardy_rl.records.text import format_records
from tests.records.games import DATA, golden_match, whole_game

LONG = whole_game("official", 1)
TURNS = (RecordedTurn((3, 1), "8/5 6/5"),)
SHORT = GameRecord("short", turns=TURNS, first="Zoë", second="B", tags={"seed": "1"})


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    for records in ((LONG,), (LONG, golden_match(), SHORT), (golden_match(),)):
        save(tmp_path / "a.txt", records)
        assert load(tmp_path / "a.txt") == records
    save(tmp_path / "a.txt", LONG)
    assert load(str(tmp_path / "a.txt")) == (LONG,)
    for name in ("a.mat", "B.MAT"):
        save(tmp_path / name, golden_match())
        assert load(tmp_path / name) == (golden_match(),)
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "a.mat", "B.MAT"}


def test_a_game_becomes_a_session_of_one_game(tmp_path: Path) -> None:
    save(tmp_path / "a.mat", SHORT)
    game = dataclasses.replace(SHORT, tags={})
    assert load(tmp_path / "a.mat") == (MatchRecord(("Zoë", "B"), (game,), tags={"seed": "1"}),)
    save(tmp_path / "a.mat", GameRecord("short", turns=TURNS))
    (match,) = load(tmp_path / "a.mat")
    assert isinstance(match, MatchRecord)
    assert match.players == ("first", "second")


def test_the_format_is_known_by_the_content(tmp_path: Path) -> None:
    text = (DATA / "xg.mat").read_bytes()
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "nothing").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    assert load(tmp_path / "a.txt") == load(DATA / "xg.mat") == load(tmp_path / "nothing")
    (tmp_path / "a.nardy").write_text(format_records([LONG]), encoding="utf-8")
    assert load(tmp_path / "a.nardy") == (LONG,)
    (tmp_path / "b.mat").write_text(format_records([LONG]), encoding="utf-8")
    with pytest.raises(RecordError, match=r"b\.mat: line 1: cannot read .*a \.mat file begins"):
        load(tmp_path / "b.mat")


def test_latin_1_is_read_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "old.mat"
    save(path, SHORT)
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    with pytest.warns(UserWarning, match=r"old\.mat: line 1 is not UTF-8 \(byte 0xeb\); the file is read as Latin-1"):
        (match,) = load(path)
    assert isinstance(match, MatchRecord)
    assert match.players == ("Zoë", "B")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(path, SHORT)
        load(path)


def test_a_broken_file_is_refused_whole(tmp_path: Path) -> None:
    """The first game of the file is good; it is not given back either."""
    path = tmp_path / "a.txt"
    good = format_records([LONG, LONG])
    path.write_text(good.replace("\n1. ", "\n1. 11 24/22/20\n1. ", 2), encoding="utf-8")
    with pytest.raises(RecordError) as error:
        load(path)
    assert error.value.path == str(path)
    assert (error.value.line, error.value.reason) == (9, "turn 2 should follow, not 1")
    lines = good.split("\n")
    last = max(number for number, line in enumerate(lines) if line.startswith("3. "))
    lines[last] = "3. 66 24/12"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(RecordError, match=r"turn 3: .* not legal") as error:
        load(path)
    assert error.value.line == last + 1
    assert str(error.value).startswith(f"{path}: line {last + 1}: turn 3: ")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "there is no game in the file"),
        (b"rules: short\n\x00\x00", "line 2: a zero byte"),
        (format_records([LONG]).encode("utf-16"), "line 1: a zero byte; this is no text file, or one in UTF-16"),
        (b"\x89PNG\r\n\x1a\n", "line 1: cannot read"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*read as Latin-1")
def test_what_is_no_file_of_records(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(RecordError, match=message):
        load(tmp_path / "a")


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 1 << 20)
    (tmp_path / "a").write_bytes(b"\n" * ((1 << 20) + 1))
    with pytest.raises(RecordError, match="larger than 1 MiB"):
        load(tmp_path / "a")


@pytest.mark.parametrize(
    ("name", "records", "message"),
    [
        ("a.sgf", LONG, r"cannot tell the format of 'a\.sgf'; a name ends in \.txt or, for short nardy, \.mat"),
        ("a", LONG, "cannot tell the format"),
        ("a.mat", LONG, "holds games of rules 'short'"),
        ("a.mat", (SHORT, SHORT), r"holds one match, not 2 records"),
        ("a.txt", (), "no game to write"),
        ("a.txt", dataclasses.replace(LONG, winner="second"), "says winner: second"),
        ("a.txt", dataclasses.replace(SHORT, first="a\nb"), "cannot write 'first'"),
        ("a.txt", dataclasses.replace(SHORT, first="\ud800"), "surrogates"),
    ],
)
def test_what_is_not_saved_leaves_no_file(tmp_path: Path, name: str, records: GameRecord, message: str) -> None:
    (tmp_path / name).write_text("before", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        save(tmp_path / name, records)
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["before"]


def test_a_missing_file() -> None:
    with pytest.raises(FileNotFoundError):
        load("no such file")
