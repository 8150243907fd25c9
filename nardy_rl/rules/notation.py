r"""Plays, positions and whole games as text, and back.

Everything written here can be read back to the same object.

Plays
    `24/18 13/9`: steps in order, `source/target` in the mover's own numbering. `off` and `bar` are slots 0 and 25, `*`
    marks a hit, `(n)` repeats a step: `24/18(2)`, `bar/20* 6/off`. No step at all is `pass`.

Positions
    `24:13 18:2 | 24:15`: `slot:checkers` of the mover, then of the opponent, each in its own numbering. Borne-off
    checkers are written as well (`off:3`), so that each side adds up to 15 and a slip of the pen is noticed.

Drawings
    `draw_board` draws the 24 points in the mover's numbering with `x` for the mover and `o` for the opponent;
    `parse_board` reads the drawing.

Game records
    Header lines `name: value`, then one numbered line for each turn with its dice and play. `#` begins a comment, empty
    lines mean nothing:

        rules: official
        options: {"head_second": "stuck_first"}
        winner: first
        result: oin
        points: 1

        1. 63 24/18 18/15
        2. 66 24/18(2)

    `rules` names a preset and `options` (may be left out) is JSON for what differs from it. `winner` is `first` (the
    player of turn 1), `second` or `none` (a draw); the three lines of the outcome are missing while a game is
    unfinished. Any other header is kept as a tag.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nardy_rl.rules.reference import (
    Board,
    Play,
    Position,
    Step,
    Turn,
    as_board,
    legal_plays,
    opposing_point,
)
from nardy_rl.rules.scoring import LEVELS, levels, settle
from nardy_rl.rules.spec import BAR, CHECKERS, HEAD, OFF, POINTS, SLOTS, Rules, make_rules

PASS = "pass"
SLOT_NAMES = {OFF: "off", BAR: "bar"}
"""Slots that are written as a word."""

MOVER_MARK, OPPONENT_MARK = "x", "o"

# --- plays ----------------------------------------------------------------------------------------------------------

_CHAIN = re.compile(r"(?P<source>bar|\d+)(?P<targets>(?:/(?:off|\d+)\*?)+)(?:\((?P<times>\d+)\))?")


def format_play(steps: Iterable[Step]) -> str:
    """Writes steps as text, `24/18(2) 6/off`; no steps are `pass`. `parse_play` gives the same steps back."""
    groups: list[tuple[Step, int]] = []
    for step in steps:
        if groups and groups[-1][0] == step:
            groups[-1] = (step, groups[-1][1] + 1)
        else:
            groups.append((step, 1))
    texts = (_format_step(step) + (f"({times})" if times > 1 else "") for step, times in groups)
    return " ".join(texts) or PASS


def parse_play(text: str) -> tuple[Step, ...]:
    """Reads the steps of a play. Also reads chains: `24/18/14` is `24/18 18/14`.

    Only the writing is checked; whether the steps are legal is for `find_play` to say.

    Raises:
        ValueError: Not a play; names the part that cannot be read.
    """
    words = text.split()
    if words == [PASS]:
        return ()
    if not words:
        raise ValueError(f"an empty text is no play; write {PASS!r} for a pass")
    steps: list[Step] = []
    for word in words:
        match = _CHAIN.fullmatch(word)
        if not match:
            raise ValueError(f"cannot read {word!r}; steps are written like 24/18, 24/18(2), 6/off or bar/20*")
        chain: list[Step] = []
        source = _parse_slot(match["source"])
        for name in match["targets"].removeprefix("/").split("/"):
            step = Step(source, _parse_slot(name.removesuffix("*")), hit=name.endswith("*"))
            if step.target >= step.source:
                raise ValueError(f"{word!r} does not move forward; checkers go from 24 down to 1 and off (R0.2)")
            chain.append(step)
            source = step.target
        steps += chain * int(match["times"] or 1)
    return tuple(steps)


def find_play(text: str, board: Any, dice: Iterable[int], rules: Rules) -> Play:
    """The legal play that a text means.

    The steps may be written in any order, the steps of one checker may be joined (`24/14` for `24/18 18/14`) and the
    marks of hits may be left out.

    Args:
        text: A play, see `parse_play`.
        board: 2 x 26 counts, (player on roll, opponent).
        dice: The two dice.
        rules: The variant.

    Returns:
        The play as `legal_plays` shows it: the steps may be in another order than in the text.

    Raises:
        ValueError: The text cannot be read, is not legal (says why, and what is legal), or, with hits on the way of a
            joined move, could mean more than one play.
    """
    moves = parse_play(text)
    start, roll = as_board(board), tuple(dice)
    turn = Turn(start, roll, rules)
    plays = legal_plays(start, roll, rules)
    ways = list(_ways(turn, moves))
    meant = [play for play in plays if any(not left and play.board == way.board for way, left in ways)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        choices = " or ".join(repr(format_play(play.steps)) for play in meant)
        raise ValueError(f"{text!r} can mean {choices}; write every step")
    raise ValueError(f"{text!r} is not legal: {_objection(turn, moves, ways, plays)}; {_list_plays(plays)}")


def _format_step(step: Step) -> str:
    return f"{_slot_name(step.source)}/{_slot_name(step.target)}{'*' if step.hit else ''}"


def _slot_name(slot: int) -> str:
    return SLOT_NAMES.get(slot, str(slot))


def _parse_slot(name: str) -> int:
    for slot, word in SLOT_NAMES.items():
        if name == word:
            return slot
    if not name.isascii() or not name.isdigit() or not 1 <= int(name) <= POINTS:
        raise ValueError(f"{name!r} is not a point; points are 1..{POINTS}, off and bar")
    return int(name)


class _Way(NamedTuple):
    """Some steps of a text, made on the board."""

    position: Position
    dice: tuple[int, ...]

    @property
    def board(self) -> Board:
        return self.position.mover, self.position.opponent


_Moves = tuple[Step, ...]


def _ways(turn: Turn, moves: _Moves) -> Iterator[tuple[_Way, _Moves]]:
    """Everything that can be made of the moves by legal steps, in any order, with the moves then still to be made.

    A move may be longer than a die: it is cut into steps.
    """
    seen = set()
    todo = [(_Way(turn.start, turn.dice), tuple(sorted(moves)))]
    while todo:
        way, left = todo.pop()
        if (way, left) in seen:
            continue
        seen.add((way, left))
        yield way, left
        if way.position.finished:
            continue
        for die in set(way.dice):
            rest = list(way.dice)
            rest.remove(die)
            for step, position in turn.steps(way.position, die):
                for move in set(left):
                    if move.source != step.source or step.target < move.target:
                        continue
                    if step.target == move.target and move.hit and not step.hit:
                        continue
                    others = list(left)
                    others.remove(move)
                    if step.target > move.target:
                        others.append(move._replace(source=step.target))
                    todo.append((_Way(position, tuple(rest)), tuple(sorted(others))))


def _objection(turn: Turn, moves: _Moves, ways: Sequence[tuple[_Way, _Moves]], plays: Sequence[Play]) -> str:
    """Says in words of the rules why the moves are no legal play."""
    most = max(len(play.steps) for play in plays)
    if not moves:
        return "a player passes only if no die can be played (R1.3)"
    if not plays[0].steps:
        return "no die can be played, so the turn is a pass (R1.3)"
    ends = [way for way, left in ways if not left]
    if ends:
        used = len(turn.dice) - len(ends[0].dice)
        if turn.rules.block_transit == "allow" and not any(turn.is_block_legal(way.position) for way in ends):
            return "it ends with a forbidden block of six (R3.1)"
        if turn.rules.must_play == "greedy":
            return "a player may not stop while a step is possible (R4.4)"
        if used < most:
            return f"it plays {_count(used, 'die', 'dice')}, but {most} can be played (R1.3)"
        return f"only one die can be played, and then the larger, {turn.dice[0]} (R1.3)"
    way, left = min(ways, key=lambda pair: len(pair[1]))
    reasons = [_step_objection(turn, way, move) for move in left]
    return min(reasons, key=lambda reason: reason.startswith("there is no checker"))


def _step_objection(turn: Turn, way: _Way, move: Step) -> str:
    """Why one move of a text cannot be made on this position with these dice."""
    position, rules = way.position, turn.rules
    source, target = move.source, move.target
    if not way.dice:
        return f"no die is left for {_format_step(move)} (R1.1, R1.2)"
    if not position.mover[source]:
        return f"there is no checker on {_slot_name(source)} for {_format_step(move)}"
    if position.mover[BAR] and source != BAR:
        return "checkers on the bar enter first (R8.3)"
    if target == OFF and not turn.may_bear_off(position):
        return "bearing off begins when all checkers are home (R4.1)"
    if target != OFF and turn.is_closed(position, target):
        return f"the opponent closes {target} ({'R8.2' if rules.geometry == 'short' else 'R1.1'})"
    pips = source - target
    fitting = [die for die in way.dice if die == pips or (target == OFF and die > pips)]
    if not fitting:
        left = "-".join(map(str, way.dice))
        return f"{_format_step(move)} cannot be made with {left} by way of open points (R1.1)"
    if source == HEAD and not any(turn.may_leave_head(position, die) for die in fitting):
        return "no more checkers may leave the head in this turn (R2.1)"
    if target == OFF and max(way.dice) > pips and any(position.mover[source + 1 : SLOTS]):
        return "a larger die bears off only from the highest occupied point (R4.2)"
    if move.hit:
        return f"{_format_step(move)} hits nothing (R8.2)"
    if rules.bear_off_choice == "exact_first" and turn.may_bear_off(position):
        return "the rolled point must be borne off (R4.2)"
    return f"{_format_step(move)} makes or leaves a forbidden block of six (R3.1, R3.3)"


def _list_plays(plays: Sequence[Play], most: int = 5) -> str:
    texts = [format_play(play.steps) for play in plays[:most]]
    more = f" and {len(plays) - most} more" if len(plays) > most else ""
    return f"legal: {', '.join(texts)}{more}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


# --- positions ------------------------------------------------------------------------------------------------------


def format_position(board: Any) -> str:
    """Writes a board as one line, `24:13 18:2 | 24:15`: mover, opponent, each in its own numbering."""
    return " | ".join(_format_side(row) for row in as_board(board))


def parse_position(text: str) -> Board:
    """Reads what `format_position` writes; the slots of a side may be in any order.

    Raises:
        ValueError: Not two sides, an entry that cannot be read, a slot named twice, or a side without exactly 15
            checkers.
    """
    sides = text.split("|")
    if len(sides) != 2:
        raise ValueError(f"a position is 'mover | opponent', not {text!r}")
    return _parse_side(sides[0], "the mover"), _parse_side(sides[1], "the opponent")


def _format_side(row: tuple[int, ...]) -> str:
    return " ".join(f"{_slot_name(slot)}:{row[slot]}" for slot in range(BAR, OFF - 1, -1) if row[slot])


def _parse_side(text: str, who: str) -> tuple[int, ...]:
    row = [0] * SLOTS
    for entry in text.split():
        match = re.fullmatch(r"(off|bar|\d+):(\d+)", entry)
        if not match:
            raise ValueError(f"cannot read {entry!r} of {who}; entries are slot:checkers, like 24:15 or off:3")
        slot = _parse_slot(match[1])
        if row[slot]:
            raise ValueError(f"{who} has slot {match[1]} twice")
        row[slot] = int(match[2])
    if sum(row) != CHECKERS:
        raise ValueError(f"{who} has {sum(row)} checkers, not {CHECKERS}; checkers borne off are written off:n")
    return tuple(row)


# --- drawings -------------------------------------------------------------------------------------------------------

_TOP, _BOTTOM = tuple(range(13, 25)), tuple(range(12, 0, -1))
_DEPTH = 5  # rows of a half; a higher stack shows its count in the last row
_SIDE_LINE = re.compile(rf"(?P<mark>[{MOVER_MARK}{OPPONENT_MARK}]) off (?P<off>\d+)(?:, bar (?P<bar>\d+))?\b.*")
_CELL = re.compile(r"\.|[^\s|.\d]\d*")
_GEOMETRY_LINE = re.compile(r"(?P<geometry>long|short) nardy\b.*")


def draw_board(board: Any, rules: Rules, dice: Iterable[int] | None = None) -> str:
    """Draws a position in the mover's numbering, his home at the bottom right; `parse_board` reads it.

    `x` is the mover, `o` the opponent. Up to five checkers are drawn one by one; of more, the row in the middle of the
    board shows how many there are.

    Args:
        board: 2 x 26 counts, (player on roll, opponent).
        rules: For the geometry and for whether there is a bar.
        dice: Named in the drawing if given.
    """
    mover, opponent = as_board(board)

    def cell(point: int, depth: int) -> str:
        own, other = mover[point], opponent[opposing_point(point, rules)]
        count, mark = (own, MOVER_MARK) if own else (other, OPPONENT_MARK)
        if count > _DEPTH and depth == _DEPTH - 1:
            return f"{mark}{count}"
        return mark if depth < count else "."

    def line(points: Sequence[int], depth: int) -> str:
        cells = [f"{cell(point, depth):>3}" for point in points]
        return f"|{''.join(cells[:6])} |{''.join(cells[6:])} |"

    def numbers(points: Sequence[int]) -> str:
        cells = [f"{point:->3}" for point in points]
        return f"+{''.join(cells[:6])}-+{''.join(cells[6:])}-+"

    def side(mark: str, row: tuple[int, ...]) -> str:
        return f"{mark} off {row[OFF]}" + (f", bar {row[BAR]}" if rules.geometry == "short" else "")

    to_play = "" if dice is None else f", dice {'-'.join(str(int(die)) for die in dice)}"
    return "\n".join(
        [
            f"{rules.geometry} nardy, {MOVER_MARK} to play{to_play}",
            side(OPPONENT_MARK, opponent),
            numbers(_TOP),
            *(line(_TOP, depth) for depth in range(_DEPTH)),
            f"|{'':19}|{'':19}|",
            *(line(_BOTTOM, depth) for depth in reversed(range(_DEPTH))),
            numbers(_BOTTOM),
            side(MOVER_MARK, mover),
        ]
    )


def parse_board(drawing: str) -> Board:
    """Reads a drawing of `draw_board`; indentation and empty lines around it do not matter.

    Raises:
        ValueError: Not such a drawing, or a side without exactly 15 checkers.
    """
    lines = [line.strip() for line in drawing.strip().splitlines()]
    expected = 2 * _DEPTH + 6
    if len(lines) != expected:
        raise ValueError(f"a drawn board has {expected} lines, not {len(lines)}")
    geometry = _GEOMETRY_LINE.fullmatch(lines[0])
    sides = [_SIDE_LINE.fullmatch(lines[1]), _SIDE_LINE.fullmatch(lines[-1])]
    if not geometry:
        raise ValueError(f"a drawn board begins with 'long nardy' or 'short nardy', not {lines[0]!r}")
    rules = make_rules("short" if geometry["geometry"] == "short" else "official")
    rows = {MOVER_MARK: [0] * SLOTS, OPPONENT_MARK: [0] * SLOTS}
    for match in sides:
        if not match:
            raise ValueError(f"the lines above and below the board are like '{MOVER_MARK} off 0'")
        rows[match["mark"]][OFF] = int(match["off"])
        rows[match["mark"]][BAR] = int(match["bar"] or 0)
    halves = [(_TOP, lines[3 : 3 + _DEPTH]), (_BOTTOM, lines[-3 : -3 - _DEPTH : -1])]
    for points, rim_first in halves:
        stacks = [_split_cells(line) for line in rim_first]
        for column, point in enumerate(points):
            mark, count = _read_stack(point, [cells[column] for cells in stacks])
            if count:
                slot = point if mark == MOVER_MARK else opposing_point(point, rules)
                rows[mark][slot] = count
    for mark, row in rows.items():
        if sum(row) != CHECKERS:
            raise ValueError(f"{mark} has {sum(row)} checkers, not {CHECKERS}")
    return tuple(rows[MOVER_MARK]), tuple(rows[OPPONENT_MARK])


def _split_cells(line: str) -> list[str]:
    cells = _CELL.findall(line)
    if len(cells) != POINTS // 2:
        raise ValueError(f"a row of the board has {POINTS // 2} points, not {len(cells)}: {line!r}")
    return cells


def _read_stack(point: int, cells: Sequence[str]) -> tuple[str, int]:
    """Owner and height of a drawn stack, read from the rim to the middle."""
    mark, height = "", 0
    for depth, cell in enumerate(cells):
        if cell == ".":
            continue
        owner, number = cell[0], cell[1:]
        is_count = number.isdigit() and depth == _DEPTH - 1
        if owner not in (MOVER_MARK, OPPONENT_MARK) or (number and not is_count):
            raise ValueError(f"cannot read {cell!r} on point {point}")
        if height != depth or (mark and owner != mark):
            raise ValueError(f"the stack on point {point} has a gap or two owners")
        mark, height = owner, int(number) if is_count else depth + 1
    return mark, height


# --- game records ---------------------------------------------------------------------------------------------------

FIRST, SECOND, NOBODY = "first", "second", "none"
_WINNERS = (FIRST, SECOND, NOBODY)
_TURN_LINE = re.compile(r"(?P<number>\d+)\.\s+(?P<dice>[1-6]{2})\s+(?P<play>\S.*)")
_HEADER_LINE = re.compile(r"(?P<name>[A-Za-z][\w-]*):\s*(?P<value>.*)")


@dataclasses.dataclass(frozen=True)
class RecordedTurn:
    """One turn of a record.

    Attributes:
        dice: As thrown.
        play: Text of the play.
        line: Line of the text it was read from, for messages; no part of what is recorded.
    """

    dice: tuple[int, int]
    play: str
    line: int | None = dataclasses.field(default=None, compare=False)


@dataclasses.dataclass(frozen=True)
class GameRecord:
    """A game as it is written down; see the module's text for the format.

    Attributes:
        preset: Name of the rules.
        options: What differs from the preset, as plain JSON values.
        turns: From the start of the game, the players taking turns.
        winner: `first`, `second`, `none` (a draw), or None while unfinished.
        result: Name of the result, such as `mars`.
        points: What it counts.
        tags: Anything else worth keeping, names to one-line texts.
    """

    preset: str = "official"
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    turns: tuple[RecordedTurn, ...] = ()
    winner: str | None = None
    result: str | None = None
    points: float | None = None
    tags: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.winner not in (*_WINNERS, None):
            raise ValueError(f"winner={self.winner!r} is not allowed; choose one of {', '.join(_WINNERS)}")
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in self.options.items()}
        object.__setattr__(self, "options", plain)
        object.__setattr__(self, "tags", dict(self.tags))
        object.__setattr__(self, "turns", tuple(self.turns))

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return make_rules(self.preset, self.options)


class ReplayedTurn(NamedTuple):
    """One turn of a replayed game.

    Attributes:
        board: Before the play, the player of this turn in row 0.
        dice: As thrown.
        play: What was played, with the board after it (row 0 still the same player).
    """

    board: Board
    dice: tuple[int, int]
    play: Play


def format_record(record: GameRecord) -> str:
    """Writes a record in the format described at the top of this module.

    Raises:
        ValueError: A tag that would not be read back: a name that is no word or already taken, or a value that is not
            one line, or has space at its ends.
    """
    header: dict[str, str] = {"rules": record.preset}
    if record.options:
        header["options"] = json.dumps(record.options)
    for name, value in record.tags.items():
        if not _HEADER_LINE.fullmatch(f"{name}: {value}") or name in _OWN_HEADERS or value != value.strip():
            raise ValueError(f"cannot write the tag {name!r}: {value!r}")
        header[name] = value
    outcome = {"winner": record.winner, "result": record.result, "points": record.points}
    header |= {name: _number_text(value) for name, value in outcome.items() if value is not None}
    lines = [f"{name}: {value}" for name, value in header.items()]
    lines.append("")
    lines += [
        f"{number}. {turn.dice[0]}{turn.dice[1]} {turn.play}" for number, turn in enumerate(record.turns, start=1)
    ]
    return "\n".join(lines) + "\n"


def parse_record(text: str) -> GameRecord:
    """Reads a game record. The writing is checked, the plays are not: that is `replay`.

    Raises:
        ValueError: Names the line and what is wrong with it.
    """
    header: dict[str, str] = {}
    turns: list[RecordedTurn] = []
    at: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if match := _TURN_LINE.fullmatch(line):
            if int(match["number"]) != len(turns) + 1:
                raise ValueError(f"line {number}: turn {len(turns) + 1} should follow, not {match['number']}")
            high, low = (int(die) for die in match["dice"])
            turns.append(RecordedTurn((high, low), match["play"], line=number))
        elif (match := _HEADER_LINE.fullmatch(line)) and not turns:
            if match["name"] in header:
                raise ValueError(f"line {number}: {match['name']} is there twice")
            header[match["name"]] = match["value"]
            at[match["name"]] = number
        else:
            raise ValueError(f"line {number}: cannot read {line!r}; a turn is written like '1. 63 24/18 18/15'")
    try:
        name = "rules"
        preset = header.get("rules", "official")
        make_rules(preset)
        name = "options"
        options = json.loads(header.get("options", "{}"))
        if not isinstance(options, dict):
            raise ValueError("options are a JSON object")
        make_rules(preset, options)
        name = "points"
        points = float(header["points"]) if "points" in header else None
        name = "winner"
        return GameRecord(
            preset=preset,
            options=options,
            turns=tuple(turns),
            winner=header.get("winner"),
            result=header.get("result"),
            points=points,
            tags={key: value for key, value in header.items() if key not in _OWN_HEADERS},
        )
    except ValueError as error:
        raise ValueError(f"line {at.get(name, 1)}: {error}") from error


def replay(record: GameRecord) -> list[ReplayedTurn]:
    """Plays a record through the rules, turn by turn.

    Returns:
        Every turn with the board before it and the play made.

    Raises:
        ValueError: A play that is not legal, a turn after the end of the game, or an outcome that does not fit the
            last board; names the line (if the record was read from text), the turn and the reason.
    """
    rules = record.rules
    board: Board = (rules.start, rules.start)
    replayed: list[ReplayedTurn] = []
    outcome: Outcome | None = None
    for number, turn in enumerate(record.turns, start=1):
        where = f"turn {number}" if turn.line is None else f"line {turn.line}, turn {number}"
        if outcome:
            raise ValueError(f"{where}: the game is already over")
        try:
            play = find_play(turn.play, board, turn.dice, rules)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        replayed.append(ReplayedTurn(board, turn.dice, play))
        outcome = judge(board, play.board, number, rules)
        board = (play.board[1], play.board[0])
    last = f"after turn {len(replayed)}"
    if not outcome and record.winner is not None:
        raise ValueError(f"the record names a winner, but {last} the game is not over")
    if outcome:
        for name, value in outcome._asdict().items():
            recorded = getattr(record, name)
            if recorded is not None and recorded != value:
                raise ValueError(f"the record says {name}: {recorded}, but {last} it is {value}")
    return replayed


class Outcome(NamedTuple):
    """How a game ended.

    Attributes:
        winner: `first`, `second`, or `none` for a draw.
        result: Name of the result, such as `mars`.
        points: Of the winner; of each player for a draw.
    """

    winner: str
    result: str
    points: float


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


_OWN_HEADERS = ("rules", "options", "winner", "result", "points")


def _number_text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
