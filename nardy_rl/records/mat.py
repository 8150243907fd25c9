"""Matches of short nardy as .mat files, the text that backgammon programs exchange (Jellyfish, GNU Backgammon, XG).

The format has no written standard; this is what GNU Backgammon 1.07 reads and writes and what eXtreme Gammon writes:

    ; [Player 1 "Anna"]

     3 point match

     Game 1
     Anna : 0                       Boris : 0
      1)                             31: 8/5 6/5
      2) 65: 24/18 18/13              Doubles => 2
      3)  Takes                      11: 8/7(2) 6/5(2)
          Wins 2 points

Tolerated: comments, any spacing and tabs, points 25 and 0 for bar and off, joined moves, marks of hits left out or
repeated, "Cannot Move" or nothing for a pass, nothing for a forced play, `???` for dice thrown and not played before a
resignation, a missing "Wins" line where the next game's score tells it. Refused: plays that the rules do not allow
("Illegal play"), games from a set position, other variants, beavers.

Reading plays every game through the rules, so what is read is legal. Cube actions are kept (`RecordedTurn.doubled`,
`GameRecord.offered`). Headers become tags, spaces in their names hyphens.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence

from nardy_rl.records.record import (
    DROPPED,
    FIRST,
    JACOBY,
    NOT_PLAYED,
    PLAYED,
    RESIGNED,
    SECOND,
    GameRecord,
    MatchRecord,
    Outcome,
    RecordedTurn,
    RecordError,
    judge,
    replay_match,
)
from nardy_rl.records.text import number_text, numbered_lines, recorded_scores
from nardy_rl.rules.notation import PASS, find_play, format_play
from nardy_rl.rules.reference import Board, Play, legal_plays
from nardy_rl.rules.scoring import LEVELS
from nardy_rl.rules.spec import PRESETS

PRESET = "short"
_RULES = PRESETS[PRESET]

_LEFT, _RIGHT = 0, 1
_RIGHT_COLUMN = 20
"""A lone cell or a "Wins" that begins here or later is the right player's; programs write it in column 33 or so."""
_CELL_WIDTH = 26
_MAX_LINE = 1_000

_LENGTH = re.compile(r"(\d{1,9})\s+points?\s+match\b.*", re.IGNORECASE)
_GAME = re.compile(r"game\s+(\d{1,9})", re.IGNORECASE)
_SCORE = re.compile(r"(?P<left>\S.*?)\s*:\s*(?P<m>\d{1,9})\s+(?P<right>\S.*?)\s*:\s*(?P<n>\d{1,9})")
_ROW = re.compile(r"\s*(\d{1,9})\)")
_TAG = re.compile(r"[;#]\s*\[(?P<name>[A-Za-z][\w -]*?)\s+\"(?P<value>.*)\"\]\s*", re.ASCII)
_GAME_TAG = re.compile(r"Game-(\d{1,9})-(.+)")
_CELL = re.compile(
    r"(?<![^\s)])(?:(?P<dice>[1-6]{2}):|(?P<word>doubles?|takes?|drops?|wins?|beavers?|raccoons?|resigns?)\b)", re.I
)
_UNKNOWN_PLAY = re.compile(r"\?{3,}")


def is_mat(text: str) -> bool:
    """Whether a text looks like a .mat file: one of its lines is like `5 point match`."""
    return any(_LENGTH.fullmatch(line.strip()) for _, line in numbered_lines(text))


# --- writing --------------------------------------------------------------------------------------------------------


def format_match(match: MatchRecord) -> str:
    """Writes a match; GNU Backgammon reads it, and `parse_match` gives the same match back.

    What comes back has its plays and outcomes written out in full; a game without a turn forgets who was to begin.
    Lines without a right cell end in spaces: GNU Backgammon 1.07 would read the right cell of the line before again.

    Raises:
        ValueError: Not the rules of short nardy, a match that `replay_match` refuses, or what the format cannot hold:
            points that are no whole numbers, names with a colon, tags with other than letters and digits in the name.
    """
    if match.games[0].rules != _RULES:
        raise ValueError(f"a .mat file holds games of rules {PRESET!r}, as they are; write the text format instead")
    replays = replay_match(match)
    tags = {"Player-1": match.players[0], "Player-2": match.players[1]} | dict(match.tags)
    for number, game in enumerate(match.games, start=1):
        tags |= {f"Game-{number}-{name}": value for name, value in game.tags.items()}
    lines = [f'; [{name.replace("-", " ")} "{value}"]' for name, value in tags.items()]
    for line, tag in zip(lines, tags.items(), strict=True):
        if _read_tag(line) != tag:
            raise ValueError(f"cannot write the tag {line!r} in a .mat file")
    lines += ["", f" {_whole(match.length or 0)} point match"]
    for index, (game, replayed) in enumerate(zip(match.games, replays.games, strict=True)):
        left, right = (
            f"{name} : {_whole(points)}" for name, points in zip(match.players, replays.scores[index], strict=True)
        )
        names = f"{left:<30} {right}"
        read = _SCORE.fullmatch(names)
        if not read or (read["left"], read["right"]) != match.players:
            raise ValueError(f"cannot write the names {match.players} in a .mat file: no colons, no space at the ends")
        lines += ["", f" Game {index + 1}", f" {names}"]
        starter = match.starter(index)
        plays = [format_play(turn.play.steps) for turn in replayed.turns]
        cells = ([""] if starter == _RIGHT else []) + _cells(game, plays)
        for row in range(0, len(cells), 2):
            right = cells[row + 1] if row + 1 < len(cells) else ""
            lines.append(f"{row // 2 + 1:3}) {cells[row]:<{_CELL_WIDTH}}  {right}")
        if replayed.outcome:
            won = starter if replayed.outcome.winner == FIRST else 1 - starter
            points = _whole(replayed.outcome.points)
            words = f"Wins {points} point{'' if points == '1' else 's'}"
            lines.append(f"{'':34}{words}" if won == _RIGHT else f"{'':6}{words:28}")
    return "\n".join(lines) + "\n"


def _cells(game: GameRecord, plays: Sequence[str]) -> list[str]:
    cells: list[str] = []
    for index, turn in enumerate(game.turns):
        if turn.doubled is not None:
            cells += [f" Doubles => {turn.doubled}", " Takes"]
        play = plays[index] if index < len(plays) else "????"
        cells.append(f"{turn.dice[0]}{turn.dice[1]}: {'Cannot Move' if play == PASS else play}")
    if game.offered is not None:
        cells.append(f" Doubles => {game.offered}")
    return cells + ([" Drops"] if game.ended == DROPPED else [])


def _whole(points: float) -> str:
    if points != int(points):
        raise ValueError(f"a .mat file counts whole points, not {number_text(points)}")
    return str(int(points))


# --- reading --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Cell:
    """What one player did: a throw, a word like `doubles`, or `wins`."""

    side: int
    line: int
    dice: tuple[int, int] | None
    word: str
    text: str


@dataclasses.dataclass
class _Game:
    """A game as it stands in the file."""

    line: int
    names: tuple[str, str] = ("", "")
    score: tuple[int, int] = (0, 0)
    cells: list[_Cell] = dataclasses.field(default_factory=list)
    score_line: int = 0
    rows: int = 0


def parse_match(text: str) -> MatchRecord:
    """Reads a .mat file and plays its games through the rules.

    Raises:
        RecordError: Names the line and what is wrong with it: what cannot be read, a play that is not legal, a result
            or a score that does not fit. Nothing is read then.
    """
    length, tags, games = _scan(text)
    names = _names(games)
    records: list[GameRecord] = []
    for index, game in enumerate(games):
        following = games[index + 1] if index + 1 < len(games) else None
        own = {name: value for number, name, value in _game_tags(tags) if number == index + 1}
        try:
            records.append(_read_game(game, names, following, own, money=length == 0))
        except RecordError:
            raise
        except ValueError as error:
            raise RecordError(str(error), game.line) from error
    for number, name, _ in _game_tags(tags):
        if number <= len(games):
            del tags[f"Game-{number}-{name}"]
    for number, name in enumerate(games[0].names, start=1):
        if tags.get(f"Player-{number}") in (name, names[number - 1]):
            del tags[f"Player-{number}"]
    try:
        match = MatchRecord(names, tuple(records), length or None, games[0].score, tags)
    except ValueError as error:
        raise RecordError(str(error), games[0].line) from error
    for game, score in zip(games, recorded_scores(match), strict=False):
        if game.score != score:
            left, right = (number_text(points) for points in score)
            raise RecordError(f"the score is {left} : {right} by the games before", game.score_line)
    replay_match(match)
    return match


def _scan(text: str) -> tuple[int, dict[str, str], list[_Game]]:
    """Length, tags and games of a file, each line read by itself."""
    length: int | None = None
    tags: dict[str, str] = {}
    games: list[_Game] = []
    for line, raw in numbered_lines(text):
        if len(raw) > _MAX_LINE:
            raise RecordError(f"a line of more than {_MAX_LINE} characters; this is no .mat file", line)
        row = raw.expandtabs().rstrip()
        words = row.strip()
        if not words:
            continue
        if words[0] in ";#":
            if words.lower().startswith("; set pos"):
                raise RecordError("the game begins from a set position; only whole games are read", line)
            if tag := _read_tag(words):
                tags[tag[0]] = tag[1]
                if tag[0] == "Variation" and tag[1].lower() != "backgammon":
                    raise RecordError(f"the game is {tag[1]}, not backgammon", line)
        elif match := _LENGTH.fullmatch(words):
            if length is not None:
                raise RecordError("another match begins; a .mat file holds one", line)
            length = int(match[1])
        elif length is None:
            raise RecordError(f"cannot read {words[:60]!r}; a .mat file begins with a line like '5 point match'", line)
        elif match := _GAME.fullmatch(words):
            if games and not games[-1].names[0]:
                raise RecordError("the line with players and score is missing", line)
            games.append(_Game(line))
        elif not games:
            raise RecordError(f"cannot read {words[:60]!r}; a line like 'Game 1' should follow", line)
        elif not games[-1].names[0]:
            score = _SCORE.fullmatch(words)
            if not score:
                raise RecordError(
                    f"cannot read {words[:60]!r}; players and score are written like 'A : 0  B : 0'", line
                )
            games[-1].names = " ".join(score["left"].split()), " ".join(score["right"].split())
            games[-1].score, games[-1].score_line = (int(score["m"]), int(score["n"])), line
        else:
            games[-1].cells += _read_row(row, games[-1], line)
    if length is None:
        raise RecordError("there is no line like '5 point match'; this is no .mat file")
    if not games or not games[-1].names[0]:
        raise RecordError("the file ends before its first game, or before the players of its last")
    return length, tags, games


def _read_tag(words: str) -> tuple[str, str] | None:
    tag = _TAG.fullmatch(words)
    return ("-".join(tag["name"].split()), tag["value"].strip()) if tag else None


def _read_row(row: str, game: _Game, line: int) -> Iterator[_Cell]:
    number = _ROW.match(row)
    start = number.end() if number else 0
    if number:
        game.rows += 1
        if int(number[1]) != game.rows:
            raise RecordError(f"row {game.rows} should follow, not {number[1]}", line)
    found = list(_CELL.finditer(row, start))
    before = row[start : found[0].start() if found else None].strip()
    ends = [cell for cell in found if (cell["word"] or "").lower().startswith("win")]
    if before or len(found) - len(ends) > 2:
        example = "1) 31: 8/5 6/5    42: 8/4 6/4"
        raise RecordError(f"cannot read {before or row.strip()[:60]!r}; a row is written like {example!r}", line)
    if not number and not ends:
        raise RecordError(f"cannot read {row.strip()[:60]!r}; a row begins with its number, like '1)'", line)
    both = len(found) - len(ends) == 2
    for index, cell in enumerate(found):
        stop = found[index + 1].start() if index + 1 < len(found) else len(row)
        dice = (int(cell["dice"][0]), int(cell["dice"][1])) if cell["dice"] else None
        side = index if both and cell not in ends else int(cell.start() >= _RIGHT_COLUMN)
        yield _Cell(side, line, dice, (cell["word"] or "").lower().rstrip("s"), row[cell.end() : stop].strip())


def _names(games: Sequence[_Game]) -> tuple[str, str]:
    names = games[0].names
    for game in games:
        if game.names != names:
            raise RecordError(f"the players are {names[0]!r} and {names[1]!r} in the first game", game.score_line)
    return names if names[0] != names[1] else (names[0], f"{names[1]} (2)")


def _game_tags(tags: dict[str, str]) -> list[tuple[int, str, str]]:
    found = [(_GAME_TAG.fullmatch(name), value) for name, value in tags.items()]
    return [(int(match[1]), match[2], value) for match, value in found if match]


class _Reader:
    """Plays the cells of one game. A player is 0 (left) or 1 (right)."""

    def __init__(self, starter: int) -> None:
        self.board: Board = (_RULES.start, _RULES.start)
        self.turns: list[RecordedTurn] = []
        self.player = starter  # on roll
        self.cube = 1
        self.offered: int | None = None  # the player on roll has doubled
        self.taken: int | None = None  # the same, and it was taken
        self.dropped = False
        self.outcome: Outcome | None = None

    def read(self, cell: _Cell, last: bool) -> None:
        """Takes in a throw or a cube action."""
        expected = self.player if self.offered is None else 1 - self.player
        if self.dropped or self.outcome:
            raise RecordError("the game is already over", cell.line)
        if cell.side != expected:
            raise RecordError(f"the {('left', 'right')[expected]} player is to play here", cell.line)
        if cell.word in ("beaver", "raccoon"):
            raise RecordError(f"{cell.word}s are not supported", cell.line)
        if (cell.word in ("take", "drop")) != (self.offered is not None):
            raise RecordError("'Takes' or 'Drops' follows 'Doubles', and nothing else does", cell.line)
        if cell.dice:
            self._throw(cell.dice, cell, last)
        elif cell.word == "double":
            value = cell.text.removeprefix("=>").strip() or str(2 * self.cube)
            if value != str(2 * self.cube) or self.taken is not None:
                raise RecordError(f"cannot read the double {cell.text!r}; the cube stands at {self.cube}", cell.line)
            self.offered = 2 * self.cube
        elif cell.word == "take":
            self.cube, self.taken, self.offered = 2 * self.cube, self.offered, None
        else:
            self.dropped = True

    def _throw(self, dice: tuple[int, int], cell: _Cell, last: bool) -> None:
        play = self._play(dice, cell, last)
        text = format_play(play.steps) if play else NOT_PLAYED
        self.turns.append(RecordedTurn(dice, text, doubled=self.taken, line=cell.line))
        self.taken = None
        if play:
            self.outcome = judge(self.board, play.board, len(self.turns), _RULES)
            self.board, self.player = (play.board[1], play.board[0]), 1 - self.player

    def _play(self, dice: tuple[int, int], cell: _Cell, last: bool) -> Play | None:
        """The play of a throw; None if it was only thrown."""
        words = cell.text.lower()
        if words.startswith("illegal"):
            raise RecordError("an illegal play was made; what follows cannot be played through the rules", cell.line)
        if not words or _UNKNOWN_PLAY.fullmatch(words):
            plays = legal_plays(self.board, dice, _RULES)
            if last and (words or plays[0].steps):
                return None
            if len(plays) > 1:
                raise RecordError(f"the play of {dice[0]}{dice[1]} is missing, and there is a choice", cell.line)
            return plays[0]
        words = PASS if words == "cannot move" else re.sub(r"(?<!\S)25/", "bar/", re.sub(r"/0(?!\d)", "/off", words))
        try:
            return find_play(words, self.board, dice, _RULES)
        except ValueError as error:
            raise RecordError(str(error), cell.line) from error


def _read_game(
    game: _Game, names: tuple[str, str], following: _Game | None, tags: dict[str, str], money: bool
) -> GameRecord:
    cells = [cell for cell in game.cells if cell.word not in ("win", "resign")]
    won, points, line = _win(game, following)
    starter = cells[0].side if cells else _LEFT
    reader = _Reader(starter)
    for index, cell in enumerate(cells):
        reader.read(cell, last=index == len(cells) - 1)
    if reader.taken is not None:
        raise RecordError("a throw should follow 'Takes'", cells[-1].line)
    ended: str | None = None
    winner = None if won is None else (FIRST if won == starter else SECOND)
    result: str | None = None
    counted: int | None = None
    if reader.outcome:
        ended, winner, result = PLAYED, reader.outcome.winner, reader.outcome.result
        counted = int(reader.outcome.points) * reader.cube
        if money and reader.cube == points == 1:
            tags = tags | ({JACOBY: "on"} if counted > 1 else {})
            counted = 1
    elif reader.dropped or (reader.offered and (won, points) == (reader.player, reader.cube)):
        ended, winner, result = DROPPED, (FIRST if reader.player == starter else SECOND), DROPPED
        counted = reader.cube
    elif winner:
        names_of_levels = [name for name, _ in LEVELS[_RULES.scoring]]
        level = (points or 0) // reader.cube
        if reader.offered or (points or 0) % reader.cube or not 1 <= level <= len(names_of_levels):
            raise RecordError(f"{points} points cannot be won by a resignation with the cube at {reader.cube}", line)
        ended, result, counted = RESIGNED, names_of_levels[level - 1], points
    if None not in (points, counted) and points != counted:
        raise RecordError(f"the winner has {counted} points by the rules, not {points}", line)
    return GameRecord(
        preset=PRESET,
        turns=tuple(reader.turns),
        first=names[starter],
        second=names[1 - starter],
        ended=ended,
        winner=winner,
        result=result,
        points=None if counted is None else float(counted),
        offered=reader.offered,
        tags=tags,
        line=game.line,
    )


def _win(game: _Game, following: _Game | None) -> tuple[int | None, int | None, int]:
    """Who won, how many points, and the line that says so: the game's own, or else the score of the next game."""
    wins = [cell for cell in game.cells if cell.word == "win"]
    if len(wins) > 1 or (wins and game.cells[-1] is not wins[0]):
        raise RecordError("something follows 'Wins'", game.cells[-1].line)
    if wins:
        match = re.match(r"(\d{1,9})\s+points?\b", wins[0].text, re.IGNORECASE)
        if not match:
            raise RecordError(f"cannot read 'Wins {wins[0].text}'; it is written like 'Wins 2 points'", wins[0].line)
        return wins[0].side, int(match[1]), wins[0].line
    if following:
        gains = [after - before for before, after in zip(game.score, following.score, strict=True)]
        if min(gains) != 0 or max(gains) <= 0:
            raise RecordError(
                "this score does not tell who won the game before, and no 'Wins' does", following.score_line
            )
        return gains.index(max(gains)), max(gains), following.score_line
    return None, None, game.line
