"""Games and matches as they were played, and their replay through the rules.

A `GameRecord` holds only what cannot be worked out: dice, plays, and how the game ended. `replay` works out the rest
(boards, result, points) and refuses a record that the rules contradict. A `MatchRecord` is a row of games between two
named players, whose scores are those of R6.

The records also carry the doubling cube (R8.6), so that nothing of a file of the short game is lost: a turn knows the
double that was taken before its throw, and a game the double it ended on.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from nardy_rl.game import Match
from nardy_rl.rules.notation import find_play
from nardy_rl.rules.reference import Board, Play
from nardy_rl.rules.scoring import LEVELS, levels, result_points, settle
from nardy_rl.rules.spec import Rules, make_rules

FIRST, SECOND, NOBODY = "first", "second", "none"
WINNERS = (FIRST, SECOND, NOBODY)

PLAYED, RESIGNED, DROPPED, UNFINISHED = "played", "resigned", "dropped", "unfinished"
ENDINGS = (PLAYED, RESIGNED, DROPPED, UNFINISHED)

MAX_POINTS = 1e8

NOT_PLAYED = "?"
"""The play of a last turn whose dice were thrown and not played: the game was resigned or cut off there."""

JACOBY = "jacoby"
"""Tag of a game, `on`: while nobody has doubled, a gammon counts one point (R8.6)."""


class RecordError(ValueError):
    """A record, or a file of records, that cannot be: where, and why.

    Attributes:
        line: Line of the file, counted from 1; None if the record does not come from a file.
        reason: What is wrong.
        path: The file, if the record comes from one.
    """

    def __init__(self, reason: str, line: int | None = None, path: str | None = None) -> None:
        where = ([] if path is None else [path]) + ([] if line is None else [f"line {line}"])
        super().__init__(": ".join([*where, reason]))
        self.path = path
        self.reason = reason
        self.line = line


@dataclasses.dataclass(frozen=True)
class RecordedTurn:
    """One turn of a record.

    Attributes:
        dice: As thrown.
        play: Text of the play (see `rules.notation`), or `NOT_PLAYED`.
        doubled: What the player of this turn doubled the cube to before his throw; the opponent took. None: no double.
        line: Line of the file it was read from, for messages; no part of what is recorded.
    """

    dice: tuple[int, int]
    play: str
    doubled: int | None = None
    line: int | None = dataclasses.field(default=None, compare=False)


@dataclasses.dataclass(frozen=True)
class GameRecord:
    """A game as it was played.

    Attributes:
        preset: Name of the rules.
        options: What differs from the preset, as plain JSON values.
        turns: From the start of the game, the players taking turns.
        first: Name of the player of turn 1, if known.
        second: Name of the other.
        ended: `played` (to the end by the rules), `resigned`, `dropped` (the last double was not taken) or
            `unfinished`. If not given: `played` if there is a winner, else `unfinished`.
        winner: `first`, `second`, `none` (a draw), or None while unfinished.
        result: Name of the result, such as `mars`; None leaves it to `replay`.
        points: What it counts, cube included; None leaves it to `replay`.
        offered: What the player to move doubled the cube to after the last turn: the opponent dropped, or had not
            answered when the game was cut off.
        tags: Anything else worth keeping, names to one-line texts.
        line: Line of the file where it begins, for messages; no part of what is recorded.
    """

    preset: str = "official"
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    turns: tuple[RecordedTurn, ...] = ()
    first: str | None = None
    second: str | None = None
    ended: str | None = None
    winner: str | None = None
    result: str | None = None
    points: float | None = None
    offered: int | None = None
    tags: Mapping[str, str] = dataclasses.field(default_factory=dict)
    line: int | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.winner not in (*WINNERS, None):
            raise ValueError(f"winner={self.winner!r} is not allowed; choose one of {', '.join(WINNERS)}")
        ended = self.ended or (UNFINISHED if self.winner is None else PLAYED)
        if ended not in ENDINGS:
            raise ValueError(f"ended={ended!r} is not allowed; choose one of {', '.join(ENDINGS)}")
        if ended == UNFINISHED:
            if (self.winner, self.result, self.points) != (None, None, None):
                raise ValueError("an unfinished game has no winner, result or points")
        elif self.winner is None:
            raise ValueError(f"a game that is {ended} names its winner")
        if ended in (RESIGNED, DROPPED) and self.winner == NOBODY:
            raise ValueError(f"a game that is {ended} has a winner")
        if (ended == DROPPED and self.offered is None) or (ended not in (DROPPED, UNFINISHED) and self.offered):
            raise ValueError("a last double that was not taken belongs to a dropped or an unfinished game")
        thrown = [turn.play == NOT_PLAYED for turn in self.turns]
        if any(thrown[:-1]) or (any(thrown) and (self.offered or ended not in (RESIGNED, UNFINISHED))):
            raise ValueError("only the last turn of a resigned or unfinished game may be thrown and not played")
        if "" in (self.first, self.second):
            raise ValueError("a player's name is not empty; leave it out if it is not known")
        if self.points is not None and not 0 <= self.points <= MAX_POINTS:
            raise ValueError(f"points={self.points} is not allowed; give 0..{MAX_POINTS:g}")
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in self.options.items()}
        object.__setattr__(self, "ended", ended)
        object.__setattr__(self, "options", plain)
        object.__setattr__(self, "tags", dict(self.tags))
        object.__setattr__(self, "turns", tuple(self.turns))

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return make_rules(self.preset, self.options)


@dataclasses.dataclass(frozen=True)
class MatchRecord:
    """A row of games between two players, under the same rules (R6).

    Attributes:
        players: Their names: two different ones.
        games: At least one; each names its `first` and `second`.
        length: Points that win the match; None for a session without an end.
        start: Points of each player before the first of these games.
        tags: Anything else worth keeping, names to one-line texts.
    """

    players: tuple[str, str]
    games: tuple[GameRecord, ...]
    length: float | None = None
    start: tuple[float, float] = (0.0, 0.0)
    tags: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        first, second = self.players
        if first == second or not first or not second:
            raise ValueError(f"a match needs two players with different names, not {first!r} and {second!r}")
        if not self.games:
            raise ValueError("a match needs at least one game")
        if self.length is not None and not 0 < self.length <= MAX_POINTS:
            raise ValueError(f"length={self.length:g} is not allowed; give the points that win the match, > 0")
        for number, game in enumerate(self.games, start=1):
            if {game.first, game.second} != {first, second}:
                raise ValueError(f"game {number} is not between {first!r} and {second!r}")
            if (game.preset, game.options) != (self.games[0].preset, self.games[0].options):
                raise ValueError(f"game {number} has other rules than game 1")
            if game.ended == UNFINISHED and number < len(self.games):
                raise ValueError(f"game {number} is unfinished, but game {number + 1} follows")
        object.__setattr__(self, "players", tuple(self.players))
        object.__setattr__(self, "games", tuple(self.games))
        object.__setattr__(self, "start", (float(self.start[0]), float(self.start[1])))
        object.__setattr__(self, "tags", dict(self.tags))

    def starter(self, game: int) -> int:
        """Which player, 0 or 1, made the first move of a game (counted from 0)."""
        return self.players.index(str(self.games[game].first))


Record = GameRecord | MatchRecord
"""What a file holds one or more of."""


def games_of(records: Sequence[Record]) -> Iterator[GameRecord]:
    """All games of some records, in order."""
    for record in records:
        yield from record.games if isinstance(record, MatchRecord) else (record,)


# --- replay ---------------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """How a game ended.

    Attributes:
        winner: `first`, `second`, or `none` for a draw.
        result: Name of the result, such as `mars`; `dropped` if a double was not taken.
        points: Of the winner, cube included; of each player for a draw.
    """

    winner: str
    result: str
    points: float


class ReplayedTurn(NamedTuple):
    """One turn of a replayed game.

    Attributes:
        board: Before the play, the player of this turn in row 0.
        dice: As thrown.
        play: What was played, with the board after it (row 0 still the same player).
        cube: Value of the cube at this throw.
    """

    board: Board
    dice: tuple[int, int]
    play: Play
    cube: int


class Replay(NamedTuple):
    """A game played through.

    Attributes:
        turns: Turn i is of the first player if i is even. A last turn that was only thrown is not among them.
        board: At the end, the player whose turn it would be in row 0.
        outcome: None if the game is unfinished.
    """

    turns: tuple[ReplayedTurn, ...]
    board: Board
    outcome: Outcome | None


class MatchReplay(NamedTuple):
    """A match played through.

    Attributes:
        games: In order.
        scores: Points of (player 0, player 1) before each game, and at the end: one more than there are games.
        over: A player has reached the length of the match.
    """

    games: tuple[Replay, ...]
    scores: tuple[tuple[float, float], ...]
    over: bool


def replay(record: GameRecord) -> Replay:
    """Plays a game through the rules, turn by turn.

    Raises:
        RecordError: A play that is not legal, a double by a player who may not, a turn after the end of the game, or an
            outcome that does not fit what was played; names the line (if the record was read from a file) and why.
    """
    turns, board, outcome, cube = _play(record)
    return Replay(turns, board, _end(record, len(turns), board, outcome, cube))


def replay_match(record: MatchRecord) -> MatchReplay:
    """Plays all games of a match and keeps the score (R6). Who starts a game is recorded, not judged.

    Raises:
        RecordError: What `replay` finds in a game, with its number, or a game after the end of the match.
    """
    rules = record.games[0].rules
    games = None if record.length else len(record.games)
    match = Match(rules, 0, record.length, games, record.starter(0), points=record.start)
    replays: list[Replay] = []
    scores = [match.points]
    for index, game in enumerate(record.games):
        starter = record.starter(index)
        try:
            if match.over:
                raise RecordError("the match is already over", game.line)
            played = replay(game)
        except RecordError as error:
            raise RecordError(f"game {index + 1}: {error.reason}", error.line) from error
        replays.append(played)
        if played.outcome:
            seat = {FIRST: starter, SECOND: 1 - starter, NOBODY: None}[played.outcome.winner]
            match = match.after_game(seat, played.outcome.points)
        scores.append(match.points)
    return MatchReplay(tuple(replays), tuple(scores), record.length is not None and match.over)


def judge(before: Board, after: Board, number: int, rules: Rules) -> Outcome | None:
    """Whether turn `number` (1 is the first of the game) ended the game, and how (section 5).

    Args:
        before: The board before the play, the player of this turn in row 0.
        after: The board after it, rows as before.
        number: Odd numbers are turns of the player who moved first.
        rules: The variant.

    Returns:
        None while the game goes on.
    """
    moved_first = number % 2 == 1
    boards = np.array([[before], [after]], dtype=np.int8)
    outcomes, equities = settle(boards[0], boards[1], np.array([moved_first]), rules)
    level = int(outcomes[0]) - levels(rules)
    if outcomes[0] < 0:
        return None
    if level == 0:
        return Outcome(NOBODY, "draw", float(rules.draw_points))
    name, _ = LEVELS[rules.scoring][abs(level) - 1]
    return Outcome(FIRST if (level > 0) == moved_first else SECOND, name, abs(float(equities[0])))


class _Cube:
    """The doubling cube of a game (R8.6); a player is 1 (first) or 0 (second), as a turn's number modulo 2."""

    def __init__(self, record: GameRecord) -> None:
        self.value = 1
        self._owner: int | None = None
        self._allowed = record.rules.geometry == "short"
        self._jacoby = self._allowed and record.tags.get(JACOBY) == "on"

    def check(self, value: int, player: int, played: int) -> None:
        """Raises a ValueError unless the player may double to `value` after so many turns."""
        if not self._allowed:
            raise ValueError("the doubling cube belongs to short nardy (R8.6)")
        if not played:
            raise ValueError("nobody doubles before the first throw, which is the lot's (R8.4)")
        if self._owner not in (None, player):
            raise ValueError("only the player who took the last double may double")
        if value != 2 * self.value:
            raise ValueError(f"the cube is doubled to {2 * self.value}, not {value}")

    def double(self, value: int, player: int, played: int) -> None:
        """The player doubles and the other one takes."""
        self.check(value, player, played)
        self.value = value
        self._owner = 1 - player

    def points(self, points: float) -> float:
        """What a result of so many points counts."""
        return 1.0 if self._jacoby and self._owner is None else points * self.value


def _play(record: GameRecord) -> tuple[tuple[ReplayedTurn, ...], Board, Outcome | None, _Cube]:
    """The turns, the last board, what the rules say of it, and the cube."""
    rules = record.rules
    board: Board = (rules.start, rules.start)
    turns: list[ReplayedTurn] = []
    outcome: Outcome | None = None
    cube = _Cube(record)
    for number, turn in enumerate(record.turns, start=1):
        try:
            if outcome:
                raise ValueError("the game is already over")
            if turn.doubled is not None:
                cube.double(turn.doubled, number % 2, number - 1)
            if turn.play == NOT_PLAYED:
                break
            play = find_play(turn.play, board, turn.dice, rules)
        except ValueError as error:
            raise RecordError(f"turn {number}: {error}", turn.line) from error
        turns.append(ReplayedTurn(board, turn.dice, play, cube.value))
        outcome = judge(board, play.board, number, rules)
        board = (play.board[1], play.board[0])
    if outcome and outcome.winner != NOBODY:
        outcome = outcome._replace(points=cube.points(outcome.points))
    return tuple(turns), board, outcome, cube


def _end(record: GameRecord, played: int, board: Board, outcome: Outcome | None, cube: _Cube) -> Outcome | None:
    """The outcome of a game, given what the rules say of its last board; checks what is recorded."""
    last = f"after turn {played}"

    def refuse(reason: str) -> NoReturn:
        raise RecordError(reason, record.line)

    if outcome and record.ended != PLAYED:
        refuse(f"the game is recorded as {record.ended}, but {last} it is over")
    if not outcome and record.ended == PLAYED:
        refuse(f"the record names a winner, but {last} the game is not over")
    first_to_move = played % 2 == 0
    if record.offered is not None:
        try:
            cube.check(record.offered, int(first_to_move), played)
        except ValueError as error:
            refuse(f"{last}: {error}")
    if record.ended == DROPPED:
        outcome = Outcome(FIRST if first_to_move else SECOND, DROPPED, float(cube.value))
    elif record.ended == RESIGNED:
        outcome = _resignation(record, board[0] if (record.winner == SECOND) == first_to_move else board[1], cube)
        if outcome is None:
            refuse(f"result {record.result} for {record.points} points is none that a player can resign with here")
    if outcome:
        for name, value in outcome._asdict().items():
            recorded = getattr(record, name)
            if recorded is not None and recorded != value:
                refuse(f"the record says {name}: {recorded}, but {last} it is {value}")
    return outcome


def _resignation(record: GameRecord, loser: tuple[int, ...], cube: _Cube) -> Outcome | None:
    """What the loser conceded: the result that is named, or has the points; the lowest that fits."""
    row = np.array([loser], dtype=np.int8)
    for level, (name, _) in enumerate(LEVELS[record.rules.scoring], start=1):
        points = cube.points(float(result_points(row, np.array([level]), record.rules)[0]))
        if record.result in (None, name) and record.points in (None, points):
            return Outcome(str(record.winner), name, points)
    return None
