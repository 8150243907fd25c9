"""Games and matches as plain text, and back; the grammar is in docs/records.md.

Everything that can be recorded can be written, and is read back equal. A file with one game needs no section line:

    rules: official
    winner: first
    result: oin
    points: 1

    1. 63 24/18 18/15
    2. 66 24/18(2)
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nardy_rl.game import Match
from nardy_rl.records.record import (
    FIRST,
    NOBODY,
    PLAYED,
    UNFINISHED,
    GameRecord,
    MatchRecord,
    Record,
    RecordedTurn,
    RecordError,
)
from nardy_rl.rules.spec import make_rules

COMMENT = "#"

_SECTION = re.compile(r"\[(?P<kind>match|game)(?: (?P<number>\d+))?\]")
_HEADER = re.compile(r"(?P<name>[A-Za-z][\w-]*):(?:\s+(?P<value>.*))?", re.ASCII)
_DOUBLE = re.compile(r"doubled to (?P<value>\d+)(?P<answer>: taken|: dropped|)", re.ASCII)
_TURN = re.compile(r"(?P<number>\d+)\. (?P<dice>[1-6]{2}) (?P<play>\S.*)", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,20})?", re.ASCII)

_OUTCOME = ("ended", "winner", "result", "points")
GAME_HEADERS = ("rules", "options", "first", "second", *_OUTCOME)
MATCH_GAME_HEADERS = ("first", "second", "score", *_OUTCOME)
MATCH_HEADERS = ("rules", "options", "player-1", "player-2", "length", "final")
"""Headers that are not tags: of a game by itself, of a game of a match, of a match."""


# --- writing --------------------------------------------------------------------------------------------------------


def format_records(records: Sequence[Record]) -> str:
    """Writes games and matches, in order. `parse_records` gives equal ones back.

    Raises:
        ValueError: No record at all, or a name or tag that would not be read back: a tag whose name is no word or
            already taken, or a value that is not one line, or has space at its ends.
    """
    if not records:
        raise ValueError("there is no game to write")
    sections: list[str] = []
    for record in records:
        if isinstance(record, MatchRecord):
            sections += _format_match(record)
        else:
            mark = [] if len(records) == 1 else ["[game]"]
            headers = _rules_headers(record) | _players(record) | _tags(record.tags, GAME_HEADERS) | _outcome(record)
            sections.append(_section(mark, headers, record))
    return "\n".join(sections)


def _format_match(match: MatchRecord) -> Iterator[str]:
    scores = recorded_scores(match)
    headers = _rules_headers(match.games[0])
    headers |= {"player-1": match.players[0], "player-2": match.players[1]}
    headers |= {} if match.length is None else {"length": number_text(match.length)}
    headers |= _tags(match.tags, MATCH_HEADERS) | {"final": _score_text(scores[-1])}
    yield _section(["[match]"], headers, None)
    for number, (game, score) in enumerate(zip(match.games, scores, strict=False), start=1):
        headers = {"first": str(game.first), "score": _score_text(score)}
        headers |= _tags(game.tags, MATCH_GAME_HEADERS) | _outcome(game)
        yield _section([f"[game {number}]"], headers, game)


def _section(mark: Sequence[str], headers: Mapping[str, str], game: GameRecord | None) -> str:
    lines = [*mark, *(_header(name, value) for name, value in headers.items())]
    if game:
        lines.append("")
        for number, turn in enumerate(game.turns, start=1):
            if turn.doubled is not None:
                lines.append(f"doubled to {turn.doubled}: taken")
            lines.append(f"{number}. {turn.dice[0]}{turn.dice[1]} {turn.play}")
            if not _TURN.fullmatch(lines[-1]) or " ".join(turn.play.split()) != turn.play:
                raise ValueError(f"cannot write turn {number}: {turn.dice} {turn.play!r}")
        if game.offered is not None:
            lines.append(f"doubled to {game.offered}" + ("" if game.ended == UNFINISHED else ": dropped"))
    return "\n".join(lines) + "\n"


def _header(name: str, value: str) -> str:
    line = f"{name}: {value}".rstrip()
    match = _HEADER.fullmatch(line)
    if not match or (match["value"] or "") != value or value != value.strip() or "\r" in value:
        raise ValueError(f"cannot write {name!r}: {value!r}; a value is one line without space at its ends")
    return line


def _tags(tags: Mapping[str, str], taken: Iterable[str]) -> dict[str, str]:
    for name in tags:
        if name in taken:
            raise ValueError(f"cannot write the tag {name!r}: the name is taken")
    return dict(tags)


def _rules_headers(game: GameRecord) -> dict[str, str]:
    return {"rules": game.preset} | ({"options": json.dumps(game.options)} if game.options else {})


def _players(game: GameRecord) -> dict[str, str]:
    return {name: value for name, value in (("first", game.first), ("second", game.second)) if value is not None}


def _outcome(game: GameRecord) -> dict[str, str]:
    headers = {} if game.ended == PLAYED else {"ended": str(game.ended)}
    headers |= {"winner": game.winner} if game.winner else {}
    headers |= {"result": game.result} if game.result else {}
    return headers | ({} if game.points is None else {"points": number_text(game.points)})


def _score_text(score: tuple[float, float]) -> str:
    return f"{number_text(score[0])} {number_text(score[1])}"


def number_text(number: float) -> str:
    """Points as they are written: whole numbers without a fraction."""
    return str(float(number)).removesuffix(".0")


def recorded_scores(match: MatchRecord) -> list[tuple[float, float]]:
    """Points before each game and at the end, from what is recorded of the games (R6).

    Raises:
        RecordError: A finished game does not say how many points it counts.
    """
    rules = match.games[0].rules
    state = Match(rules, 0, None, len(match.games), match.starter(0), points=match.start)
    scores = [state.points]
    for index, game in enumerate(match.games):
        if game.winner is not None:
            if game.points is None:
                raise RecordError(f"game {index + 1} of a match says how many points it counts", game.line)
            starter = match.starter(index)
            winner = None if game.winner == NOBODY else starter if game.winner == FIRST else 1 - starter
            state = state.after_game(winner, game.points)
        scores.append(state.points)
    return scores


# --- reading --------------------------------------------------------------------------------------------------------


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, counted from 1, whatever ends them; without a mark of the byte order before the first."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return enumerate(lines, start=1)


class _Value(NamedTuple):
    text: str
    line: int


@dataclasses.dataclass
class _Part:
    """A section as it is read: its headers and turns, nothing worked out yet."""

    kind: str
    number: int | None
    line: int
    headers: dict[str, _Value] = dataclasses.field(default_factory=dict)
    turns: list[RecordedTurn] = dataclasses.field(default_factory=list)
    double: int | None = None
    answer: str = ": taken"

    def take(self, name: str) -> _Value:
        """A header, out of the tags; at the section's own line and empty if it is not there."""
        return self.headers.pop(name, _Value("", self.line))


def parse_records(text: str) -> tuple[Record, ...]:
    """Reads games and matches. The writing is checked, the plays are not: that is `replay`.

    Raises:
        RecordError: Names the line and what is wrong with it. Nothing is read then.
    """
    records: list[Record] = []
    parts = list(_parts(text))
    if not parts:
        raise RecordError("there is no game in the file")
    while parts:
        part = parts.pop(0)
        if part.kind == "game":
            if part.number is not None:
                raise RecordError(f"[game {part.number}] is of a match, but no match begins before it", part.line)
            records.append(_read_game(part, *_read_rules(part), names=None))
            continue
        games = []
        while parts and parts[0].kind == "game" and parts[0].number is not None:
            games.append(parts.pop(0))
        records.append(_read_match(part, games))
    return tuple(records)


def _parts(text: str) -> Iterator[_Part]:
    """The sections of a file, each checked line by line."""
    part: _Part | None = None
    for line, raw in numbered_lines(text):
        header = _HEADER.fullmatch(raw.strip())
        words = " ".join(raw.split())
        if not words or words.startswith(COMMENT):
            continue
        if section := _SECTION.fullmatch(words):
            if section["kind"] == "match" and section["number"]:
                raise RecordError("a match has no number; write [match]", line)
            if part:
                yield part
            number = None if section["number"] is None else _integer(section["number"], line)
            part = _Part(section["kind"], number, line)
            continue
        part = part or _Part("game", None, line)
        if header:
            _read_header(part, header["name"], header["value"] or "", line)
        elif part.kind == "match":
            raise RecordError(f"cannot read {words!r}; a match has header lines like 'length: 5', then [game 1]", line)
        elif part.double is not None and part.answer != ": taken":
            raise RecordError(f"{words!r} follows a double that was not taken", line)
        elif turn := _TURN.fullmatch(words):
            _read_turn(part, turn, line)
        elif double := _DOUBLE.fullmatch(words):
            if part.double is not None:
                raise RecordError("two doubles before one turn", line)
            part.double, part.answer = _integer(double["value"], line), double["answer"]
        else:
            raise RecordError(f"cannot read {words!r}; a turn is written like '1. 63 24/18 18/15'", line)
    if part:
        yield part


def _read_header(part: _Part, name: str, value: str, line: int) -> None:
    if part.turns or part.double is not None:
        raise RecordError(f"{name!r}: header lines stand before the turns; another game begins with [game]", line)
    if name in part.headers:
        raise RecordError(f"{name} is there twice", line)
    part.headers[name] = _Value(value, line)


def _read_turn(part: _Part, turn: re.Match[str], line: int) -> None:
    if _integer(turn["number"], line) != len(part.turns) + 1:
        raise RecordError(f"turn {len(part.turns) + 1} should follow, not {turn['number']}", line)
    dice = int(turn["dice"][0]), int(turn["dice"][1])
    part.turns.append(RecordedTurn(dice, turn["play"], doubled=part.double, line=line))
    part.double = None


def _read_rules(part: _Part) -> tuple[str, dict[str, Any]]:
    rules, options = part.take("rules"), part.take("options")
    preset = rules.text or "official"
    changes: Any = {}
    line = rules.line
    try:
        make_rules(preset)
        line = options.line
        if options.text:
            changes = json.loads(options.text)
            if not isinstance(changes, dict):
                raise ValueError("options are a JSON object")
        make_rules(preset, changes)
    except (ValueError, TypeError, RecursionError) as error:
        raise RecordError(str(error), line) from error
    return preset, changes


def _read_game(part: _Part, preset: str, options: Mapping[str, Any], names: tuple[str, str] | None) -> GameRecord:
    first, second = part.take("first").text or None, part.take("second")
    if names:
        if first not in names:
            raise RecordError(f"'first' names who made the first move, {names[0]!r} or {names[1]!r}", part.line)
        other = names[1 - names.index(first)]
        if second.text not in ("", other):
            raise RecordError(f"the second player of this game is {other!r}, not {second.text!r}", second.line)
        second = _Value(other, second.line)
    ended, winner, result, points = (part.take(name) for name in _OUTCOME)
    count = _number(points) if points.text else None
    if part.double is not None and part.answer == ": taken":
        raise RecordError("a turn should follow the last double, which was taken", part.line)
    if part.double is not None and (ended.text or UNFINISHED) != ("dropped" if part.answer else UNFINISHED):
        raise RecordError(f"the last double does not fit 'ended: {ended.text or UNFINISHED}'", part.line)
    try:
        return GameRecord(
            preset=preset,
            options=options,
            turns=tuple(part.turns),
            first=first,
            second=second.text or None,
            ended=ended.text or None,
            winner=winner.text or None,
            result=result.text or None,
            points=count,
            offered=part.double,
            tags={name: value.text for name, value in part.headers.items()},
            line=part.line,
        )
    except ValueError as error:
        at = winner if winner.text else ended
        raise RecordError(str(error), at.line) from error


def _read_match(part: _Part, games: Sequence[_Part]) -> MatchRecord:
    preset, options = _read_rules(part)
    names = part.take("player-1").text, part.take("player-2").text
    length, final = part.take("length"), part.take("final")
    read: list[GameRecord] = []
    said: list[_Value] = []
    for number, game in enumerate(games, start=1):
        if game.number != number:
            raise RecordError(f"[game {number}] should follow, not [game {game.number}]", game.line)
        said.append(game.take("score"))
        read.append(_read_game(game, preset, options, names))
    try:
        match = MatchRecord(
            players=names,
            games=tuple(read),
            length=_number(length) if length.text else None,
            start=_score(said[0]) if said and said[0].text else (0.0, 0.0),
            tags={name: value.text for name, value in part.headers.items()},
        )
    except RecordError:
        raise
    except ValueError as error:
        raise RecordError(str(error), part.line) from error
    for value, score in zip([*said, final], recorded_scores(match), strict=True):
        if value.text and _score(value) != score:
            raise RecordError(f"the score is {_score_text(score)} by the games recorded, not {value.text}", value.line)
    return match


def _integer(text: str, line: int) -> int:
    if len(text) > 9:
        raise RecordError(f"{text[:9]}... is too large a number", line)
    return int(text)


def _number(value: _Value) -> float:
    if not _NUMBER.fullmatch(value.text):
        raise RecordError(f"{value.text!r} is not a number of points", value.line)
    return float(value.text)


def _score(value: _Value) -> tuple[float, float]:
    parts = value.text.split()
    if len(parts) != 2:
        raise RecordError(
            f"{value.text!r} is not a score; the points of both players are written like '2 0'", value.line
        )
    first, second = (_number(_Value(part, value.line)) for part in parts)
    return first, second
