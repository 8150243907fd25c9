"""Plays and positions as text, and back.

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

Games and matches as text: `nardy_rl.records`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

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
from nardy_rl.rules.spec import BAR, CHECKERS, HEAD, HOME, OFF, POINTS, SLOTS, Rules, make_rules

PASS = "pass"
SLOT_NAMES = {OFF: "off", BAR: "bar"}
"""Slots that are written as a word."""

MOVER_MARK, OPPONENT_MARK = "x", "o"

# --- plays ----------------------------------------------------------------------------------------------------------

_CHAIN = re.compile(r"(?P<source>bar|\d+)(?P<targets>(?:/(?:off|\d+)\*?)+)(?:\((?P<times>[1-9]\d?)\))?")
_NUMBER = re.compile(r"(?<!\()\d+")

MAX_STEPS = 4
"""Of a turn: a double (R1.2)."""


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
    """Reads the steps of a play. Also reads chains: `24/18/14` is `24/18 18/14`; and `Bar/20`, `6/Off`.

    Only the writing is checked; whether the steps are legal is for `find_play` to say.

    Raises:
        ValueError: Not a play; names the part that cannot be read.
    """
    words = text.split()
    if text.strip().lower() == PASS:
        return ()
    if not words:
        raise ValueError(f"an empty text is no play; write {PASS!r} for a pass")
    steps: list[Step] = []
    for word in words:
        match = _CHAIN.fullmatch(word.lower())
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
        if len(steps) > MAX_STEPS:
            raise ValueError(f"more than {MAX_STEPS} steps; a double is four, any other roll two (R1.1, R1.2)")
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
    start, roll = as_board(board), tuple(dice)
    turn = Turn(start, roll, rules)
    plays = legal_plays(start, roll, rules)
    try:
        moves = _marked_once(parse_play(text))
    except ValueError as error:
        raise ValueError(f"{error}{_in_other_numbering(text, turn, plays)}") from error
    ways = list(_ways(turn, moves))
    meant = _meant(ways, plays)
    if len(meant) > 1:  # by custom a joined move hits where it is marked, and nowhere else
        hits = {move.target for move in moves if move.hit}
        meant = [play for play in meant if {step.target for step in play.steps if step.hit} == hits] or meant
    if len(meant) == 1:
        return meant[0]
    if meant:
        choices = " or ".join(repr(format_play(play.steps)) for play in meant)
        raise ValueError(f"{text!r} can mean {choices}; write every step")
    why = _objection(turn, moves, ways, plays) + _in_other_numbering(text, turn, plays)
    raise ValueError(f"{text!r} is not legal: {why}; {_list_plays(plays)}")


def _marked_once(moves: tuple[Step, ...]) -> tuple[Step, ...]:
    """Keeps one mark for each point that is hit: a point is hit once, but `13/7*(2)` marks both checkers."""
    marked: set[int] = set()
    once = []
    for move in moves:
        once.append(move._replace(hit=move.hit and move.target not in marked))
        marked |= {move.target} if move.hit else set()
    return tuple(once)


def _format_step(step: Step) -> str:
    return f"{_slot_name(step.source)}/{_slot_name(step.target)}{'*' if step.hit else ''}"


def _slot_name(slot: int) -> str:
    return SLOT_NAMES.get(slot, str(slot))


def _parse_slot(name: str) -> int:
    for slot, word in SLOT_NAMES.items():
        if name == word:
            return slot
    if not name.isascii() or not name.isdigit() or len(name) > 2 or not 1 <= int(name) <= POINTS:
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


def _meant(ways: Iterable[tuple[_Way, _Moves]], plays: Iterable[Play]) -> list[Play]:
    """The plays which all of the moves make."""
    ends = {way.board for way, left in ways if not left}
    return [play for play in plays if play.board in ends]


def _in_other_numbering(text: str, turn: Turn, plays: Sequence[Play]) -> str:
    """A hint for a player who counted in the opponent's numbering (R0.2); empty if that gives no legal play either."""

    def other(match: re.Match[str]) -> str:
        number = match[0]
        on_board = number.isascii() and len(number) <= 2 and 1 <= int(number) <= POINTS
        return str(opposing_point(int(number), turn.rules)) if on_board else number

    try:
        moves = parse_play(_NUMBER.sub(other, text))
    except ValueError:
        return ""
    meant = _meant(_ways(turn, moves), plays) if moves else []
    if not meant:
        return ""
    return f"; in the mover's own numbering it would be {format_play(meant[0].steps)} (R0.2)"


def _objection(turn: Turn, moves: _Moves, ways: Sequence[tuple[_Way, _Moves]], plays: Sequence[Play]) -> str:
    """Says in words of the rules why the moves are no legal play."""
    most = max(len(play.steps) for play in plays)
    if not most:
        return "no die can be played, so the turn is a pass (R1.3)"
    if not moves:
        return "a player passes only if no die can be played (R1.3)"
    ends = [way for way, left in ways if not left]
    if ends:
        used = max(len(turn.dice) - len(way.dice) for way in ends)
        if turn.rules.block_transit == "allow" and not any(turn.is_block_legal(way.position) for way in ends):
            return "it ends with a forbidden block of six (R3.1)"
        missing = _missing(turn, ends, plays)
        if turn.rules.must_play == "greedy":
            return f"a player may not stop while a step is possible (R4.4){missing}"
        if used < most:
            return f"it plays {_count(used, 'die', 'dice')}, but {most} can be played (R1.3){missing}"
        larger = " or ".join(format_play(play.steps) for play in plays[:_EXAMPLES])
        die = f"only one die can be played, and then the larger, {turn.dice[0]} (R1.3)"
        return f"{die}; the {_NAMES[turn.dice[0]]} must be played: {larger}"
    way, left = min(ways, key=lambda pair: len(pair[1]))
    reasons = [_step_objection(turn, way, move) for move in reversed(left)]
    return min(reasons, key=lambda reason: reason.startswith(_NO_CHECKER))


_EXAMPLES = 3
_NAMES = ("", "one", "two", "three", "four", "five", "six")
_NO_CHECKER = "there is no checker"


def _missing(turn: Turn, ends: Iterable[_Way], plays: Iterable[Play]) -> str:
    """The steps which one die more could make of an unfinished play, as words to follow its objection."""
    boards = {play.board for play in plays}
    found: dict[int, set[Step]] = {}
    for way in ends:
        for die in set(way.dice):
            steps = {step for step, after in turn.steps(way.position, die) if (after.mover, after.opponent) in boards}
            found.setdefault(die, set()).update(steps)
    texts = [
        f"the {_NAMES[die]} must be played too: {' or '.join(map(_format_step, sorted(steps)[: -_EXAMPLES - 1 : -1]))}"
        for die, steps in found.items()
        if steps
    ]
    return f"; {' or '.join(texts)}" if texts else ""


def _step_objection(turn: Turn, way: _Way, move: Step) -> str:
    """Why one move of a text cannot be made on this position with these dice."""
    position, rules = way.position, turn.rules
    source, target = move.source, move.target
    written, left = _format_step(move), "-".join(map(str, way.dice))
    if not way.dice:
        return f"no die is left for {written} (R1.1, R1.2)"
    if not position.mover[source]:
        theirs = source != BAR and position.opponent[opposing_point(source, rules)]
        return f"{_NO_CHECKER} on {_slot_name(source)} for {written}" + (", but the opponent's" if theirs else "")
    if position.mover[BAR] and source != BAR:
        return "checkers on the bar enter first (R8.3)"
    if target == OFF and not turn.may_bear_off(position):
        outside = sum(position.mover[HOME + 1 :])
        return f"bearing off begins when all checkers are home (R4.1); {outside} outside still"
    if target != OFF and turn.is_closed(position, target):
        return f"the opponent closes {target} ({'R8.2' if rules.geometry == 'short' else 'R1.1'})"
    pips = source - target
    fitting = [die for die in way.dice if die == pips or (target == OFF and die > pips)]
    if not fitting:
        reach = {sum(way.dice[:n]) for n in range(1, len(way.dice) + 1)} | {way.dice[-1]}
        if pips not in reach and (target != OFF or pips > max(reach)):
            return f"{written} cannot be made with {left}: it is {_count(pips, 'pip', 'pips')} (R1.1)"
        stops = sorted({source - die for die in way.dice if die < source}, reverse=True)
        closed = " and ".join(str(stop) for stop in stops if turn.is_closed(position, stop))
        why = f": the opponent closes {closed}" if closed else ""
        return f"{written} cannot be made with {left} by way of open points (R1.1){why}"
    if source == HEAD and not any(turn.may_leave_head(position, die) for die in fitting):
        if turn.exception and position.left_head == 1:
            return "no more checkers may leave the head before the first one is stuck (R2.3)"
        return f"no more checkers may leave the head in this turn, {position.left_head} left (R2.1, R2.2)"
    higher = [point for point in range(source + 1, SLOTS) if position.mover[point]]
    if target == OFF and pips not in fitting and higher:
        return f"a larger die bears off only from the highest occupied point (R4.2), {higher[-1]} here"
    if move.hit:
        return f"{written} hits nothing (R8.2)"
    if rules.bear_off_choice == "exact_first" and turn.may_bear_off(position):
        return "the rolled point must be borne off (R4.2)"
    return f"{written} makes or leaves a forbidden block of six (R3.1, R3.3)"


def _list_plays(plays: Sequence[Play], most: int = 5) -> str:
    texts = [format_play(play.steps) for play in plays[:most]]
    more = f" and {len(plays) - most} more" if len(plays) > most else ""
    return f"legal: {', '.join(texts)}{more}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


# --- positions ------------------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """A text for a message: in quotes, and cut short."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


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
        raise ValueError(f"a position is 'mover | opponent', not {quoted(text)}")
    return _parse_side(sides[0], "the mover"), _parse_side(sides[1], "the opponent")


def _format_side(row: tuple[int, ...]) -> str:
    return " ".join(f"{_slot_name(slot)}:{row[slot]}" for slot in range(BAR, OFF - 1, -1) if row[slot])


def _parse_side(text: str, who: str) -> tuple[int, ...]:
    row = [0] * SLOTS
    for entry in text.split():
        match = re.fullmatch(r"(off|bar|\d+):(\d{1,4})", entry)
        if not match:
            raise ValueError(f"cannot read {quoted(entry)} of {who}; entries are slot:checkers, like 24:15 or off:3")
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
