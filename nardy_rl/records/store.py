"""Files of records: reading either format, writing the one that the name asks for."""

import warnings
from collections.abc import Sequence
from pathlib import Path

from nardy_rl.files import write_text
from nardy_rl.records.mat import format_match, is_mat, parse_match
from nardy_rl.records.record import GameRecord, MatchRecord, Record, RecordError, replay, replay_match
from nardy_rl.records.text import format_records, parse_records

TEXT, MAT = ".txt", ".mat"
"""Endings of the names of files that are written."""

MAX_BYTES = 64 * 2**20
"""A larger file is refused: a game has a few kilobytes."""


def load(path: str | Path) -> tuple[Record, ...]:
    """Reads a file of records, whole and checked: every game has been played through the rules.

    A file whose name ends in .mat, or that holds a line like `5 point match`, is read as .mat, any other as text. It is
    UTF-8, or else taken for Latin-1, with a warning that says why.

    Returns:
        The games and matches of the file, at least one; a .mat file gives one match.

    Raises:
        RecordError: The file's name, the line and what is wrong with it. Nothing is read then.
        OSError: The file cannot be opened.
    """
    path = Path(path)
    try:
        text = _decode(path)
        if path.suffix.lower() == MAT or is_mat(text):
            return (parse_match(text),)
        records = parse_records(text)
        for record in records:
            _check(record)
    except RecordError as error:
        raise RecordError(error.reason, error.line, path=str(path)) from error
    return records


def save(path: str | Path, records: Record | Sequence[Record]) -> None:
    """Writes records to a file, under a temporary name first, so that the file is there whole or not at all.

    Args:
        path: A name that ends in `.txt` (the text format) or in `.mat` (one match of short nardy; a lone game is
            written as a session of one game). The folder is there already.
        records: What to write; it is played through the rules first.

    Raises:
        ValueError: A record that the rules contradict, another ending, or what the format cannot hold.
        OSError: The file cannot be written.
    """
    path = Path(path)
    several = (records,) if isinstance(records, GameRecord | MatchRecord) else tuple(records)
    if path.suffix.lower() not in (TEXT, MAT):
        raise ValueError(f"cannot tell the format of {path.name!r}; a name ends in {TEXT} or, for short nardy, {MAT}")
    if path.suffix.lower() == MAT:
        if len(several) != 1:
            raise ValueError(f"a {MAT} file holds one match, not {len(several)} records; write {TEXT} instead")
        text = format_match(_as_match(several[0]))
    else:
        for record in several:
            _check(record)
        text = format_records(several)
    write_text(path, text)


def _check(record: Record) -> None:
    """Raises a RecordError if the rules contradict the record."""
    if isinstance(record, MatchRecord):
        replay_match(record)
    else:
        replay(record)


def _as_match(record: Record) -> MatchRecord:
    if isinstance(record, MatchRecord):
        return record
    players = record.first or "first", record.second or "second"
    game = GameRecord(**{**vars(record), "first": players[0], "second": players[1], "tags": {}})
    return MatchRecord(players, (game,), tags=record.tags)


def _decode(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RecordError(f"the file is larger than {MAX_BYTES >> 20} MiB; this is no file of records")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise RecordError("a zero byte; this is no text file, or one in UTF-16: save it as UTF-8", line)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        byte = data[error.start]
        warnings.warn(
            f"{path}: line {line} is not UTF-8 (byte {byte:#x}); the file is read as Latin-1", UserWarning, stacklevel=3
        )
        return data.decode("latin-1")
