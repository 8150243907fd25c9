"""Positions of short nardy as the IDs that players exchange: GNU Backgammon's position ID and match ID, and XGID.

    GNU position ID   4HPwATDgc/ABMA                   the checkers
    GNU match ID      cAkAAAAAAAAA                     dice, cube, score
    GNUBG ID          4HPwATDgc/ABMA:cAkAAAAAAAAA      both
    XGID              XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:1:0:10

All four are read into a `MatchPosition` and written from one. Long nardy has no such ID.

Sources: the technical notes of the GNU Backgammon manual ("A technical description of the Position ID", "... of the
Match ID"), eXtreme Gammon's manual on XGID, and what the programs write. GNU's two players are numbered 0 and 1; XG's
bottom player, whose checkers are capital letters, is GNU's player 1, as GNU Backgammon itself reads an XGID.

A GNU ID says nothing of whether beavers are played and of the largest cube, an XGID nothing of resignations and of
games that are over. Beavers that wait for an answer are read and written as match IDs only.
"""

import base64
import dataclasses
import re
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nardy_rl.records.record import JACOBY, GameRecord, MatchRecord
from nardy_rl.rules.board import check_boards
from nardy_rl.rules.notation import parse_position, quoted
from nardy_rl.rules.reference import Board, as_board
from nardy_rl.rules.spec import BAR, CHECKERS, OFF, PRESETS, SHORT_START, SLOTS, Rules

NOT_STARTED, PLAYING, OVER, RESIGNED, DROPPED = STATES = ("not started", "playing", "over", "resigned", "dropped")
"""States of a game, in the order of their numbers in a match ID."""

PREFIX = "XGID="

_MAX_CUBE = 2**15
_MAX_POINTS = 2**15 - 1
_MAX_LENGTH = 200
"""Characters of the longest text that can be an ID; what is longer is not looked at."""

_LETTERS = frozenset(string.ascii_letters + string.digits + "+/")
_POSITION_LETTERS, _MATCH_LETTERS = 14, 12
_POSITION_BITS = 80


@dataclasses.dataclass(frozen=True)
class MatchPosition:
    """What an ID says of a position: the board, and how the game and the match stand.

    Everything is seen by the player on roll, who is player 0 of the fields below; his opponent is player 1. `seat` says
    which of the two he is in the ID. "On roll" is the player whose turn it is, also while his double is not answered.

    Attributes:
        board: 2 x 26 counts, (player on roll, opponent), each in its own numbering.
        dice: As thrown; None before the throw.
        seat: 1 = the player on roll is GNU's player 1, XG's bottom player; 0 = he is GNU's player 0, XG's top player.
        score: Points of the player on roll and of the opponent.
        length: Points that win the match; None in money play.
        crawford: This is the Crawford game: nobody may double.
        jacoby: Money play with Jacoby's rule: gammons count only once the cube is turned (R8.6).
        beavers: Money play with beavers.
        cube: Value of the cube; while a double is not answered the value before it.
        cube_owner: 0 = the player on roll, 1 = the opponent, None = nobody, it is in the middle.
        doubled: A double waits for its answer: by the opponent, or, if `opponent_to_act` is not set, a beaver of the
            opponent's for that of the player on roll.
        resigned: A resignation waits for its answer: 1 single game, 2 gammon, 3 backgammon; 0 = none.
        opponent_to_act: The opponent is to answer a double or resignation; otherwise the player on roll is to act.
        state: Of `STATES`.
        max_cube: The largest cube allowed (XGID only).
    """

    board: Board = (SHORT_START, SHORT_START)
    dice: tuple[int, int] | None = None
    seat: int = 1
    score: tuple[int, int] = (0, 0)
    length: int | None = None
    crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    cube: int = 1
    cube_owner: int | None = None
    doubled: bool = False
    resigned: int = 0
    opponent_to_act: bool = False
    state: str = PLAYING
    max_cube: int = 1024

    def __post_init__(self) -> None:
        board = as_board(self.board)
        _check_board(board)
        object.__setattr__(self, "board", board)
        if self.dice is not None:
            dice = tuple(int(die) for die in self.dice)
            if len(dice) != 2 or not all(1 <= die <= 6 for die in dice):
                raise ValueError(f"dice={self.dice} is not allowed; give two dice of 1..6, or None before the throw")
            object.__setattr__(self, "dice", dice)
        _one_of("seat", self.seat, (0, 1))
        _one_of("cube_owner", self.cube_owner, (None, 0, 1))
        _one_of("resigned", self.resigned, (0, 1, 2, 3))
        _one_of("state", self.state, STATES)
        for name, value in (("cube", self.cube), ("max_cube", self.max_cube)):
            if value not in _CUBES:
                raise ValueError(f"{name}={value} is not allowed; give a power of two from 1 to {_MAX_CUBE}")
        if len(self.score) != 2 or not all(0 <= points <= _MAX_POINTS and points % 1 == 0 for points in self.score):
            raise ValueError(f"score={self.score} is not allowed; give 0..{_MAX_POINTS} whole points each")
        self._check_length()
        if self.doubled and self.dice is not None:
            raise ValueError("a double is offered before the throw, but there are dice")
        if self.opponent_to_act and not (self.doubled or self.resigned) and self.state == PLAYING:
            raise ValueError("the opponent is to act, but no double and no resignation waits for him")

    def _check_length(self) -> None:
        """The length of the match, and what depends on it."""
        if self.length is None:
            if self.crawford:
                raise ValueError("Crawford's rule belongs to matches; this is money play")
            return
        if not 1 <= self.length <= _MAX_POINTS or self.length % 1:
            raise ValueError(f"length={self.length} is not allowed; give 1..{_MAX_POINTS} points, or None for money")
        if self.jacoby or self.beavers:
            raise ValueError("Jacoby's rule and beavers belong to money play; this is a match")
        if self.state == PLAYING and max(self.score) >= self.length:
            raise ValueError(f"the score is {self.score[0]}-{self.score[1]}, so the match to {self.length} is over")
        if self.crawford and sorted(self.score)[1] != self.length - 1:
            raise ValueError(f"in the Crawford game one player needs one point; to {self.length} it is {self.score}")


_CUBES = tuple(2**k for k in range(_MAX_CUBE.bit_length()))


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is not allowed; choose one of {', '.join(map(str, allowed))}")


def _check_board(board: Board) -> None:
    if max(map(max, board)) > CHECKERS:
        raise ValueError(f"a side has more than {CHECKERS} checkers")
    try:
        check_boards(np.array([board], dtype=np.int8), PRESETS["short"])
    except ValueError as error:
        raise ValueError(str(error).removeprefix("game 0 of the batch: ")) from None


# --- of a record ----------------------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """How a match stands before one of its games.

    Attributes:
        score: Points of the player who sits at the bottom, and of the other.
        length: Points that win the match; None in money play.
        crawford: It is the Crawford game.
    """

    score: tuple[float, float] = (0.0, 0.0)
    length: float | None = None
    crawford: bool = False


def standing(match: MatchRecord, scores: Sequence[tuple[float, float]]) -> Standing:
    """How a match stands before a game; who moves first in it sits at the bottom.

    The first game in which a player needs one point is the Crawford game, unless the match is tagged `Crawford: Off`.

    Args:
        match: The match.
        scores: Points of its players before each of its games up to this one.
    """
    needs_one = [match.length is not None and max(score) == match.length - 1 > 0 for score in scores]
    rule = match.tags.get("Crawford", "On").casefold() != "off"
    score = scores[-1] if match.starter(len(scores) - 1) == 0 else (scores[-1][1], scores[-1][0])
    return Standing(score, match.length, crawford=rule and needs_one[-1] and not any(needs_one[:-1]))


def turn_position(record: GameRecord, number: int, board: Board, before: Standing | None = None) -> MatchPosition:
    """The position of a turn, its dice thrown. The player who moved first sits at the bottom.

    Args:
        record: The game, of short nardy.
        number: Of the turn, from 1.
        board: Before the play, see `record.replay`.
        before: How the match stands; money play if not given.

    Raises:
        ValueError: No ID can tell it: long nardy, or points that are not whole.
    """
    if record.rules.geometry != "short":
        raise ValueError("long nardy has no IDs")
    player = (number - 1) % 2
    doubles = [(i % 2, turn.doubled) for i, turn in enumerate(record.turns[:number]) if turn.doubled is not None]
    doubler, cube = doubles[-1] if doubles else (None, 1)
    position = board_position(board, record.turns[number - 1].dice, player, before or Standing())
    return dataclasses.replace(
        position,
        jacoby=position.length is None and record.tags.get(JACOBY) == "on",
        cube=cube,
        cube_owner=None if doubler is None else int(doubler == player),
    )


def board_position(board: Board, dice: tuple[int, int] | None, player: int, before: Standing) -> MatchPosition:
    """A position of a game with the cube untouched.

    Args:
        board: The player on roll in row 0.
        dice: As thrown; None before the throw.
        player: Who is on roll: 0 = the one whose points are first in `before`, who sits at the bottom, 1 = the other.
        before: How the match stands.

    Raises:
        ValueError: No ID can tell it: long nardy, or points that are not whole.
    """
    score, length, crawford = before
    if any(points % 1 for points in (*score, length or 0)):
        raise ValueError("an ID knows whole points only")
    return MatchPosition(
        board,
        dice=dice,
        seat=1 - player,
        score=_by_roll(int(score[0]), int(score[1]), player),
        length=None if length is None else int(length),
        crawford=crawford,
    )


# --- any ID ---------------------------------------------------------------------------------------------------------


def parse_position_id(text: str) -> MatchPosition:
    """Reads an ID of any kind: an XGID (`XGID=` may be left out), a GNUBG ID, or a GNU position ID by itself.

    The labels that GNU Backgammon prints before its IDs may stay: `Position ID: ... Match ID: ...`, `GNUBG ID: ...`.

    Raises:
        ValueError: No such ID; says what is wrong with it.
    """
    text = _trimmed(text)
    labelled = _LABELLED.fullmatch(text)
    if labelled:
        text = ":".join(part for part in labelled.groups() if part)
    if text.upper().startswith(PREFIX) or text.count(":") > 1:
        return parse_xgid(text)
    return parse_gnubg_id(text)


def read_position(text: str, rules: Rules) -> tuple[Board, MatchPosition | None]:
    """Reads a position however it is written: in our notation, which has a `|`, or as an ID of any kind.

    Returns:
        The board, the player on roll in row 0, and all that the text says if it is an ID.

    Raises:
        ValueError: It cannot be read, or is an ID and the game is long nardy; says why.
    """
    if "|" in text:
        return parse_position(text), None
    if rules.geometry != "short" or _ONE_SIDE.fullmatch(text):
        ids = "or an ID is given" if rules.geometry == "short" else "IDs of GNU Backgammon and XG are for rules=short"
        raise ValueError(
            f"a position is written 'mover | opponent', like '24:13 18:2 | 24:15', not {quoted(text)}; {ids}"
        )
    position = parse_position_id(text)
    return position.board, position


_LABELLED = re.compile(
    r"(?:GNUBG|GNU Backgammon +Position|Position) +ID *: *(\S+)(?: +Match +ID *: *(\S+))?", re.ASCII | re.IGNORECASE
)
_ONE_SIDE = re.compile(r"\s*(?:bar|off|\d{1,2}):\d{1,2}(?:\s+(?:bar|off|\d{1,2}):\d{1,2})*\s*", re.ASCII)
"""Our notation without its `|`: what no ID looks like."""


def _trimmed(text: str) -> str:
    text = text.strip()
    if not text:
        raise ValueError("an empty text is no position ID")
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"{quoted(text)} is no position ID: it has {len(text)} characters")
    return text


# --- GNU Backgammon -------------------------------------------------------------------------------------------------


def parse_gnubg_id(text: str) -> MatchPosition:
    """Reads `PositionID:MatchID`, or a position ID by itself (money play, nothing thrown, player 1 on roll).

    Raises:
        ValueError: Not such a text, or a position that cannot be; says why.
    """
    position, colon, match = _trimmed(text).partition(":")
    if not colon and len(position) == _MATCH_LETTERS:
        raise ValueError(f"{quoted(position)} looks like a match ID, which says nothing of the checkers; {_GNUBG_WAYS}")
    board = parse_gnubg_position_id(position)
    return parse_gnubg_match_id(match, board) if colon else MatchPosition(board)


_GNUBG_WAYS = "GNU Backgammon's IDs are written like 4HPwATDgc/ABMA:cAkAAAAAAAAA, or 4HPwATDgc/ABMA alone"


def format_gnubg_id(position: MatchPosition) -> str:
    """Writes `PositionID:MatchID`. `parse_gnubg_id` gives all of it back but `beavers` and `max_cube`."""
    return f"{format_gnubg_position_id(position.board)}:{format_gnubg_match_id(position)}"


def parse_gnubg_position_id(text: str) -> Board:
    """Reads the 14 letters of a position ID: the board, the player on roll in row 0.

    Raises:
        ValueError: Not such a text, or a position that cannot be; says why.
    """
    bits = _decoded(text, _POSITION_LETTERS, "a GNU position ID")
    rows = []
    for side in ("the opponent", "the player on roll"):  # the order in which the sides are written
        row = [0] * SLOTS
        for slot in range(1, SLOTS):
            while bits & 1:
                row[slot] += 1
                bits >>= 1
            bits >>= 1
        if sum(row) > CHECKERS:
            raise ValueError(f"{quoted(text)} is no GNU position ID: {side} has {sum(row)} checkers, not {CHECKERS}")
        row[OFF] = CHECKERS - sum(row)
        rows.append(tuple(row))
    if bits:
        raise ValueError(f"{quoted(text)} is no GNU position ID: there are more than two sides in it")
    board = (rows[1], rows[0])
    try:
        _check_board(board)
    except ValueError as error:
        raise ValueError(f"{quoted(text)} is no position: {error}") from None
    return board


def format_gnubg_position_id(board: Any) -> str:
    """Writes a board of short nardy, 2 x 26 counts (player on roll, opponent), as a position ID of 14 letters.

    For each slot of a side, 1 to 24 and the bar, as many ones as it holds checkers and a zero; the opponent's first.

    Raises:
        ValueError: Not a board of short nardy.
    """
    mover, opponent = as_board(board)
    _check_board((mover, opponent))
    text = "".join("1" * row[slot] + "0" for row in (opponent, mover) for slot in range(1, SLOTS))
    return _encoded(int(text[::-1], 2), _POSITION_LETTERS)


_MATCH_FIELDS = {
    "cube": 4,
    "owner": 2,
    "on_roll": 1,
    "crawford": 1,
    "state": 3,
    "turn": 1,
    "doubled": 1,
    "resigned": 2,
    "die_1": 3,
    "die_2": 3,
    "length": 15,
    "score_0": 15,
    "score_1": 15,
    "no_jacoby": 1,
}
"""Fields of a match key and how many bits they have, from the lowest bit on."""

_CENTRED = 3


def parse_gnubg_match_id(text: str, board: Any = (SHORT_START, SHORT_START)) -> MatchPosition:
    """Reads the 12 letters of a match ID; the board, which it does not say, is given.

    Raises:
        ValueError: Not such a text, or a match that cannot be; says why.
    """
    bits = _decoded(text, _MATCH_LETTERS, "a GNU match ID")
    key: dict[str, int] = {}
    for name, width in _MATCH_FIELDS.items():
        key[name] = bits & (2**width - 1)
        bits >>= width

    def refuse(why: str) -> ValueError:
        return ValueError(f"{quoted(text)} is no GNU match ID: {why}")

    dice = (key["die_1"], key["die_2"])
    if bits:
        raise refuse("bits that mean nothing are set")
    if key["owner"] == 2:
        raise refuse("the cube's owner is 2, not 0, 1, or 3 for the middle")
    if key["state"] >= len(STATES):
        raise refuse(f"the state of the game is {key['state']}, not 0..{len(STATES) - 1}")
    if dice != (0, 0) and not all(1 <= die <= 6 for die in dice):
        raise refuse(f"the dice are {dice[0]} and {dice[1]}, not two of 1..6, or both 0")
    seat, money = key["on_roll"], key["length"] == 0
    try:
        return MatchPosition(
            board,
            dice=None if dice == (0, 0) else dice,
            seat=seat,
            score=_by_roll(key["score_0"], key["score_1"], seat),
            length=None if money else key["length"],
            crawford=bool(key["crawford"]),
            jacoby=money and not key["no_jacoby"],
            cube=2 ** key["cube"],
            cube_owner=None if key["owner"] == _CENTRED else int(key["owner"] != seat),
            doubled=bool(key["doubled"]),
            resigned=key["resigned"],
            opponent_to_act=key["turn"] != seat,
            state=STATES[key["state"]],
        )
    except ValueError as error:
        raise ValueError(f"{quoted(text)}: {error}") from None


def format_gnubg_match_id(position: MatchPosition) -> str:
    """Writes all but the board, `beavers` and `max_cube` as a match ID of 12 letters."""
    seat = position.seat
    scores = _by_roll(*position.score, seat)
    key = {
        "cube": _CUBES.index(position.cube),
        "owner": _CENTRED if position.cube_owner is None else position.cube_owner ^ seat,
        "on_roll": seat,
        "crawford": int(position.crawford),
        "state": STATES.index(position.state),
        "turn": seat ^ position.opponent_to_act,
        "doubled": int(position.doubled),
        "resigned": position.resigned,
        "die_1": position.dice[0] if position.dice else 0,
        "die_2": position.dice[1] if position.dice else 0,
        "length": position.length or 0,
        "score_0": scores[0],
        "score_1": scores[1],
        "no_jacoby": int(not position.jacoby),
    }
    bits = 0
    for name, width in reversed(_MATCH_FIELDS.items()):
        bits = bits << width | key[name]
    return _encoded(bits, _MATCH_LETTERS)


def _by_roll(first: int, second: int, seat: int) -> tuple[int, int]:
    """Points of (player 0, player 1) as (player on roll, opponent), and back."""
    return (second, first) if seat else (first, second)


def _decoded(text: str, letters: int, what: str) -> int:
    """The bits of a key, the lowest bit of its first byte being bit 0."""
    if len(text) != letters:
        raise ValueError(f"{quoted(text)} is not {what}: it has {len(text)} letters, not {letters}; {_GNUBG_WAYS}")
    for letter in text:
        if letter not in _LETTERS:
            raise ValueError(f"{quoted(text)} is not {what}: {letter!r} is none of A-Z, a-z, 0-9, + and /")
    bits = int.from_bytes(base64.b64decode(text + "=" * (-letters % 4)), "little")
    if _encoded(bits, letters) != text:
        raise ValueError(f"{quoted(text)} is not {what}: the last letter cannot be {text[-1]!r}")
    return bits


def _encoded(bits: int, letters: int) -> str:
    return base64.b64encode(bits.to_bytes(letters * 6 // 8, "little")).decode("ascii").rstrip("=")


# --- XGID -----------------------------------------------------------------------------------------------------------

_XG_FIELDS = (
    "checkers", "cube", "owner", "turn", "dice", "bottom's score", "top's score", "Crawford or Jacoby", "length",
    "max cube",
)  # fmt: skip
_XG_WAY = "an XGID is written like XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:0:7:10"
_EMPTY = "-"
_DOUBLED = "D"
_NUMBER = re.compile(r"\d{1,5}", re.ASCII)


def parse_xgid(text: str) -> MatchPosition:
    """Reads an XGID; `XGID=` in front and the last field, the largest cube, may be left out.

    Raises:
        ValueError: Not such a text, a position that cannot be, or a beaver that waits for its answer; says why.
    """
    text = _trimmed(text)
    fields = text[len(PREFIX) if text.upper().startswith(PREFIX) else 0 :].split(":")
    if len(fields) not in (len(_XG_FIELDS) - 1, len(_XG_FIELDS)):
        raise ValueError(
            f"{quoted(text)} is no XGID: it has {len(fields)} fields with ':' between them, not {len(_XG_FIELDS)}; "
            f"{_XG_WAY}"
        )
    try:
        return _read_xgid(dict(zip(_XG_FIELDS, fields, strict=False)))
    except ValueError as error:
        raise ValueError(f"{quoted(text)} is no XGID: {error}") from None


def _read_xgid(fields: dict[str, str]) -> MatchPosition:
    def number(name: str, most: int) -> int:
        if not _NUMBER.fullmatch(fields[name]) or int(fields[name]) > most:
            raise ValueError(f"{name} is {quoted(fields[name])}, not a number of 0..{most}")
        return int(fields[name])

    def sign(name: str, allowed: dict[str, int | None]) -> int | None:
        if fields[name] not in allowed:
            raise ValueError(f"{name} is {quoted(fields[name])}, not {' or '.join(allowed)}")
        return allowed[fields[name]]

    rows = _read_checkers(fields["checkers"])
    seat = sign("turn", {"1": 1, "-1": 0})
    assert seat is not None
    owner = sign("owner", {"0": None, "1": 1, "-1": 0})
    length = number("length", _MAX_POINTS)
    flags = number("Crawford or Jacoby", 1 if length else 3)
    dice = fields["dice"]
    if dice in ("B", "R"):
        raise ValueError(f"dice are {dice!r}, a beaver that waits for its answer, which is not read; D is a double")
    if dice not in ("00", _DOUBLED) and not re.fullmatch("[1-6]{2}", dice):
        raise ValueError(f"dice are {quoted(dice)}, not two of 1..6 like 52, 00 before the throw, or D for a double")
    top_cube = _CUBES.index(MatchPosition.max_cube)
    return MatchPosition(
        rows if seat else rows[::-1],
        dice=(int(dice[0]), int(dice[1])) if dice not in ("00", _DOUBLED) else None,
        seat=seat,
        score=_by_roll(number("top's score", _MAX_POINTS), number("bottom's score", _MAX_POINTS), seat),
        length=length or None,
        crawford=bool(length and flags),
        jacoby=not length and bool(flags & 1),
        beavers=not length and bool(flags & 2),
        cube=_CUBES[number("cube", len(_CUBES) - 1)],
        cube_owner=None if owner is None else int(owner != seat),
        doubled=dice == _DOUBLED,
        opponent_to_act=dice == _DOUBLED,
        max_cube=_CUBES[number("max cube", len(_CUBES) - 1) if "max cube" in fields else top_cube],
    )


def _read_checkers(text: str) -> Board:
    """Rows of the bottom player and of the top player."""
    if len(text) != SLOTS:
        raise ValueError(f"the checkers have {len(text)} letters, not {SLOTS}")
    bottom, top = [0] * SLOTS, [0] * SLOTS
    for place, letter in enumerate(text):
        if letter == _EMPTY:
            continue
        if not letter.isascii() or not "a" <= letter.lower() <= "p":
            raise ValueError(f"{letter!r} among the checkers is none of {_EMPTY}, A-P and a-p")
        row, slot = (bottom, place) if letter.isupper() else (top, BAR - place)
        if slot == OFF:
            where = "first" if place == 0 else "last"
            raise ValueError(f"the {where} letter of the checkers is the other player's bar, not {letter!r}'s")
        row[slot] = ord(letter.lower()) - ord("a") + 1
    for name, row in (("the bottom player (A-P)", bottom), ("the top player (a-p)", top)):
        if sum(row) > CHECKERS:
            raise ValueError(f"{name} has {sum(row)} checkers, not {CHECKERS}")
        row[OFF] = CHECKERS - sum(row)
    return tuple(bottom), tuple(top)


def format_xgid(position: MatchPosition) -> str:
    """Writes an XGID; `parse_xgid` gives the position back.

    Raises:
        ValueError: What an XGID cannot say: a resignation or a beaver that waits for an answer, a game that is not
            being played.
    """
    if position.state not in (PLAYING, NOT_STARTED):  # programs that write match IDs often leave the state out
        raise ValueError(f"an XGID cannot say that the game is {position.state}")
    if position.resigned:
        raise ValueError("an XGID cannot say that a player has offered to resign")
    if position.doubled and not position.opponent_to_act:
        raise ValueError("a beaver that waits for its answer is not written as an XGID")
    seat = position.seat
    bottom, top = position.board if seat else position.board[::-1]
    checkers = [_EMPTY] * SLOTS
    for slot in range(1, SLOTS):
        if bottom[slot]:
            checkers[slot] = chr(ord("A") - 1 + bottom[slot])
        if top[slot]:
            checkers[BAR - slot] = chr(ord("a") - 1 + top[slot])
    dice = _DOUBLED if position.doubled else "00" if position.dice is None else "{}{}".format(*position.dice)
    top_score, bottom_score = _by_roll(*position.score, seat)
    owner = 0 if position.cube_owner is None else 1 if position.cube_owner ^ seat else -1
    fields = (
        "".join(checkers), _CUBES.index(position.cube), owner, 1 if seat else -1, dice, bottom_score, top_score,
        int(position.crawford or position.jacoby) + 2 * position.beavers, position.length or 0,
        _CUBES.index(position.max_cube),
    )  # fmt: skip
    return PREFIX + ":".join(map(str, fields))
