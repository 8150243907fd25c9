"""A board as an SVG picture: checkers, dice, off trays, and the arrows of a play.

The only drawing of a board with lines and colours; PNG, the notebook's board and the environments' pictures are made
from it. Colours are told apart by lightness too (light and dark checkers), highlights by shape too (ring, dot), and
blue and orange are those of Okabe and Ito's palette for every kind of colour vision.
"""

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from nardy_rl.rules.notation import SLOT_NAMES, format_position
from nardy_rl.rules.reference import Step, as_board, opposing_point
from nardy_rl.rules.spec import BAR, CHECKERS, OFF, POINTS, Rules

MOVER, OPPONENT = "mover", "opponent"
PLAYERS = (MOVER, OPPONENT)
WHO = (*PLAYERS, "white")
"""Whose: of the player in row 0, of the one in row 1, or of whichever of them is white."""

FULL_STACK = 5
"""Checkers drawn before a stack is only counted."""

_CELL, _EDGE, _MIDDLE, _TRAY = 40, 26, 34, 46
_RADIUS = 17
_BOARD = 420
"""Height of the board without a caption."""
_LEFT = _EDGE
_BAR_X = _LEFT + 6 * _CELL + _MIDDLE / 2
_RIGHT = _LEFT + 12 * _CELL + _MIDDLE
_TRAY_X = _RIGHT + _EDGE - 8
_TRAY_ROOM = _BOARD / 2 - _EDGE - 16
WIDTH = _RIGHT + _EDGE + _TRAY + 8

_PAPER, _FRAME, _FELT = "#f4efe6", "#6b4a2f", "#e9dcc3"
_TRIANGLES = ("#cdae80", "#a9825a")
_LIGHT, _DARK = ("#fbf8f1", "#3a2d22", "#cfc3ad", "#3a2d22"), ("#33281f", "#17110c", "#6d5b4b", "#f4efe6")
"""Fill, edge, inner ring and text of a checker."""
_BLUE, _ORANGE, _GREY = "#0072b2", "#e69f00", "#4d5660"


class Marks(NamedTuple):
    """What a board to play on shows besides the position. Slots are the mover's: 0 off, 1..24, 25 bar.

    Attributes:
        sources: Slots from which a step may start: a ring on the upper checker.
        selected: The slot whose checker has been taken up, or None.
        targets: Slots to which it may go: a dot on the place.
        dice_left: The dice still to be played; the others are drawn faded. None: all are.
        clickable: Adds a transparent area with the attribute `data-slot` over each slot of the mover.
    """

    sources: Sequence[int] = ()
    selected: int | None = None
    targets: Sequence[int] = ()
    dice_left: Sequence[int] | None = None
    clickable: bool = False


def board_svg(
    board: Any,
    rules: Rules,
    dice: Sequence[int] | None = None,
    caption: str = "",
    *,
    play: Iterable[Step] = (),
    last: Iterable[Step] = (),
    view: str = MOVER,
    numbering: str = MOVER,
    white: str = MOVER,
    marks: Marks | None = None,
) -> str:
    """Draws a position.

    The viewer has his head top right and his home bottom right; his off tray is the lower one. White's checkers are
    light. A stack of more than five, a bar and a tray say how many there are.

    Args:
        board: Counts (2, 26), rows (player on roll, opponent), each in its own numbering.
        rules: Decide how the opponent's points lie (R0.3) and whether there is a bar.
        dice: The roll, drawn in the middle of the right half.
        caption: A line under the board.
        play: Steps the player on roll is to make from this position: blue arrows, one for each step. A second step of
            the same checker starts where the first one ends.
        last: Steps the opponent has just made, which led to this position: thin grey arrows.
        view: From whose seat the board is seen: "mover", "opponent" or "white".
        numbering: Whose numbers the points carry: the "mover"'s, the "opponent"'s, or "white"'s for both players, as
            the official text (S0) has them: black's head is then 12 in long nardy, and black bears off from 13..18.
        white: Which of the two has the light checkers, "mover" or "opponent". In a game white is who moved first.
        marks: Highlights and areas to click on.

    Returns:
        A complete SVG document without ids, scripts or links, so that many can stand on one page.

    Raises:
        ValueError: Not a board, a die that is none, a word that is not allowed, or a play that this board has not the
            checkers for.
    """
    rows = as_board(board)
    for die in dice or ():
        if not 1 <= die <= 6:
            raise ValueError(f"die {die} is not in 1..6")
    if white not in PLAYERS:
        raise ValueError(f"white={white!r} is not allowed; choose one of {', '.join(PLAYERS)}")
    white_row = PLAYERS.index(white)
    place = _Places(rules, whose(view, white_row, "view"))
    height = _BOARD + (24 if caption else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" text-anchor="middle" role="img" '
        f'aria-label="{rules.geometry} nardy: {format_position(rows)}">',
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{_PAPER}"/>',
        f'<rect x="6" y="6" width="{WIDTH - 12}" height="{_BOARD - 12}" rx="8" fill="{_FRAME}"/>',
    ]
    for half in (_LEFT, _LEFT + 6 * _CELL + _MIDDLE):
        parts.append(f'<rect x="{half}" y="{_EDGE}" width="{6 * _CELL}" height="{_BOARD - 2 * _EDGE}" fill="{_FELT}"/>')
    numbers = whose(numbering, white_row, "numbering")
    for point in range(1, POINTS + 1):
        parts += _triangle(point, point if numbers == place.viewer else opposing_point(point, rules))
    for side, row in enumerate(rows):
        colours = _LIGHT if side == white_row else _DARK
        for slot in range(1, BAR + 1):
            if row[slot]:
                parts += _stack(place, side, slot, row[slot], colours)
        parts += _tray(place, side, row[OFF], colours)
    parts += _dice(dice or (), marks.dice_left if marks else None)
    if marks:
        parts += _highlights(place, rows[0], marks)
    for way in _past(place, rows, last):
        parts += _arrow(way, OPPONENT)
    for way in _future(place, rows, play):
        parts += _arrow(way, MOVER)
    if caption:
        text = html.escape(caption, quote=False)
        parts.append(f'<text x="{WIDTH / 2}" y="{_BOARD + 14}" font-size="14" fill="{_FRAME}">{text}</text>')
    if marks and marks.clickable:
        parts += _areas(place, {*marks.sources, *marks.targets, marks.selected})
    return "\n".join([*parts, "</svg>", ""])


def whose(who: str, white_row: int, name: str) -> int:
    """The row, 0 or 1, that a word of `WHO` means.

    Raises:
        ValueError: Another word; names the argument.
    """
    if who not in WHO:
        raise ValueError(f"{name}={who!r} is not allowed; choose one of {', '.join(WHO)}")
    return white_row if who == "white" else PLAYERS.index(who)


# --- where things are -------------------------------------------------------------------------------------------------


class _Places(NamedTuple):
    """Where the slots of both sides are for the viewer."""

    rules: Rules
    viewer: int

    def seen(self, side: int, point: int) -> int:
        """The viewer's number of a side's point 1..24."""
        return point if side == self.viewer else opposing_point(point, self.rules)

    def below(self, side: int, slot: int) -> bool:
        """Is the slot's rim the lower one; the bar is on the side where its checkers enter."""
        if slot in SLOT_NAMES:
            return (side == self.viewer) == (slot == OFF)
        return self.seen(side, slot) <= POINTS // 2

    def x(self, side: int, slot: int) -> float:
        """Middle of the slot's column."""
        if slot == BAR:
            return _BAR_X
        return _TRAY_X + _TRAY / 2 if slot == OFF else _column(self.seen(side, slot))

    def centre(self, side: int, slot: int, number: int) -> tuple[float, float]:
        """Where the checker `number` of a stack is, 1 the one at the rim; those that are only counted are the last."""
        if slot == OFF:
            away = _slice(number) + 4.5
        else:
            away = _RADIUS + 1 + (min(number, FULL_STACK) - 1) * (2 * _RADIUS - 2)
        return self.x(side, slot), (_BOARD - _EDGE - away if self.below(side, slot) else _EDGE + away)


def _column(point: int) -> float:
    """Middle of the column of the viewer's point: 24 and 1 at the right."""
    column = point - 13 if point > 12 else 12 - point
    return _LEFT + (column + 0.5) * _CELL + (_MIDDLE if column >= 6 else 0)


def _slice(number: int) -> float:
    """How far from the rim a checker in the tray lies."""
    return 3 + (number - 1) * 10


# --- what is drawn ----------------------------------------------------------------------------------------------------


def _triangle(point: int, number: int) -> Iterator[str]:
    x, top = _column(point), point > POINTS // 2
    base, tip = (_EDGE, _EDGE + 160) if top else (_BOARD - _EDGE, _BOARD - _EDGE - 160)
    half = _CELL / 2 - 1
    yield f'<path d="M{x - half} {base}H{x + half}L{x} {tip}Z" fill="{_TRIANGLES[point % 2]}"/>'
    y = _EDGE - 7 if top else _BOARD - _EDGE + 15
    yield f'<text class="number" x="{x}" y="{y}" font-size="12" fill="{_PAPER}">{number}</text>'


def _stack(place: _Places, side: int, slot: int, count: int, colours: tuple[str, ...]) -> Iterator[str]:
    fill, edge, ring, ink = colours
    yield f'<g class="checkers" data-side="{PLAYERS[side]}" data-slot-of-side="{slot}">'
    for number in range(1, min(count, FULL_STACK) + 1):
        x, y = place.centre(side, slot, number)
        yield f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{fill}" stroke="{edge}" stroke-width="1.5"/>'
        if number < count or count <= FULL_STACK:
            yield f'<circle class="ring" cx="{x}" cy="{y}" r="{_RADIUS - 6}" fill="none" stroke="{ring}"/>'
        if count > FULL_STACK and number == FULL_STACK:
            yield f'<text x="{x}" y="{y + 6}" font-size="16" font-weight="bold" fill="{ink}">{count}</text>'
    yield "</g>"


def _tray(place: _Places, side: int, count: int, colours: tuple[str, ...]) -> Iterator[str]:
    """Checkers borne off, as slices, and how many they are."""
    fill, edge, _, _ = colours
    below = place.below(side, OFF)
    y = _BOARD - _EDGE - _TRAY_ROOM if below else _EDGE
    yield f'<rect x="{_TRAY_X}" y="{y}" width="{_TRAY}" height="{_TRAY_ROOM}" rx="4" fill="{_FELT}"/>'
    yield f'<g class="tray" data-side="{PLAYERS[side]}">'
    for number in range(1, count + 1):
        away = _slice(number)
        at = _BOARD - _EDGE - away - 9 if below else _EDGE + away
        yield (
            f'<rect x="{_TRAY_X + 4}" y="{at}" width="{_TRAY - 8}" height="9" rx="2" fill="{fill}" stroke="{edge}"/>'
        )
    if count:
        at = y - 4 if below else y + _TRAY_ROOM + 12
        yield (
            f'<text x="{_TRAY_X + _TRAY / 2}" y="{at}" font-size="12" font-weight="bold" fill="{_PAPER}">{count}</text>'
        )
    yield "</g>"


_SPOTS = {1: "c", 2: "ai", 3: "aci", 4: "agdi", 5: "agdic", 6: "agdibh"}
_SPOT_AT = {"a": (-1, -1), "b": (-1, 0), "g": (-1, 1), "d": (1, -1), "h": (1, 0), "i": (1, 1), "c": (0, 0)}


def _dice(dice: Sequence[int], left: Sequence[int] | None) -> Iterator[str]:
    unused = list(dice if left is None else left)
    y = _BOARD / 2
    for k, die in enumerate(dice):
        x = _LEFT + 9 * _CELL + _MIDDLE + (k - (len(dice) - 1) / 2) * 44
        faded = die not in unused
        if not faded:
            unused.remove(die)
        opacity = ' opacity="0.35"' if faded else ""
        yield f'<g class="die" data-die="{die}"{opacity}>'
        yield f'<rect x="{x - 17}" y="{y - 17}" width="34" height="34" rx="6" fill="#fffdf8" stroke="{_FRAME}"/>'
        for spot in _SPOTS[die]:
            dx, dy = _SPOT_AT[spot]
            yield f'<circle cx="{x + 9 * dx}" cy="{y + 9 * dy}" r="3.2" fill="{_FRAME}"/>'
        yield "</g>"


# --- arrows -----------------------------------------------------------------------------------------------------------


class _Way(NamedTuple):
    """A step on the picture: the places where the checker is before and after it, and whether numbers stand there."""

    step: Step
    start: tuple[float, float]
    end: tuple[float, float]
    start_counted: bool
    end_counted: bool


def _future(place: _Places, rows: Sequence[Sequence[int]], play: Iterable[Step]) -> Iterator[_Way]:
    """The steps of the mover, made one after the other."""
    row = list(rows[0])
    for step in play:
        _check_step(step, row, step.source)
        there = row[step.source]
        row[step.source] -= 1
        row[step.target] += 1
        yield _way(place, 0, step, there, row[step.target])


def _past(place: _Places, rows: Sequence[Sequence[int]], last: Iterable[Step]) -> list[_Way]:
    """The steps of the opponent, taken back one after the other."""
    row = list(rows[1])
    ways: list[_Way] = []
    for step in reversed(tuple(last)):
        _check_step(step, row, step.target)
        here = row[step.target]
        row[step.target] -= 1
        row[step.source] += 1
        ways.append(_way(place, 1, step, row[step.source], here))
    return ways[::-1]


def _way(place: _Places, side: int, step: Step, there: int, here: int) -> _Way:
    """A step from the checker number `there` of its source to number `here` of its target."""
    start, end = place.centre(side, step.source, there), place.centre(side, step.target, here)
    return _Way(step, start, end, there > FULL_STACK, here > FULL_STACK and step.target != OFF)


def _check_step(step: Step, row: Sequence[int], needed: int) -> None:
    if not OFF <= step.target < step.source <= BAR:
        raise ValueError(f"{step.source}/{step.target} is no step; checkers go from 25 (bar) or 24 down to 1 and off")
    if not row[needed]:
        raise ValueError(f"there is no checker on {SLOT_NAMES.get(needed, needed)} for {step.source}/{step.target}")


def _arrow(way: _Way, who: str) -> Iterator[str]:
    """A curve that bends towards the middle line of the board, so that it does not hide the stacks between."""
    colour, width, head = (_BLUE, 4.5, 13.0) if who == MOVER else (_GREY, 3.0, 10.0)
    (x1, y1), (x2, y2) = way.start, way.end
    same_half = (y1 - _BOARD / 2) * (y2 - _BOARD / 2) > 0
    middle_x, middle_y = (x1 + x2) / 2, (y1 + y2) / 2
    bend = min(90.0, 30 + 0.3 * abs(x2 - x1)) if same_half else 0.0
    middle_y += bend if middle_y < _BOARD / 2 else -bend
    # where a stack shows a number, the arrow keeps to the rim of its checker
    if way.start_counted:
        x1, y1 = _towards(x1, y1, middle_x, middle_y, _RADIUS)
    if way.end_counted:
        x2, y2 = _towards(x2, y2, middle_x, middle_y, _RADIUS - 4)
    base_x, base_y = _towards(x2, y2, middle_x, middle_y, head)
    side_x, side_y = 0.6 * (y2 - base_y), 0.6 * (base_x - x2)
    line = f"M{x1:.1f} {y1:.1f}Q{middle_x:.1f} {middle_y:.1f} {base_x:.1f} {base_y:.1f}"
    tip = f"M{x2:.1f} {y2:.1f}L{base_x + side_x:.1f} {base_y + side_y:.1f}L{base_x - side_x:.1f} {base_y - side_y:.1f}Z"
    step = way.step
    source, target = (SLOT_NAMES.get(slot, slot) for slot in (step.source, step.target))
    yield f'<g class="arrow" data-side="{who}" data-step="{source}/{target}" stroke-linejoin="round">'
    for stroke, extra in (("#fffdf8", 3.5), (colour, 0.0)):  # a pale edge, to be seen on any ground
        yield f'<path d="{line}" fill="none" stroke="{stroke}" stroke-width="{width + extra}" stroke-linecap="round"/>'
        yield f'<path d="{tip}" fill="{stroke}" stroke="{stroke}" stroke-width="{1 + extra}"/>'
    yield f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="{width + 0.5}" fill="{colour}" stroke="#fffdf8" stroke-width="1.5"/>'
    yield "</g>"


def _towards(x: float, y: float, to_x: float, to_y: float, distance: float) -> tuple[float, float]:
    """The point so far from (x, y) on the way to another one."""
    angle = math.atan2(to_y - y, to_x - x)
    return x + distance * math.cos(angle), y + distance * math.sin(angle)


# --- a board to play on -----------------------------------------------------------------------------------------------


def _highlights(place: _Places, row: Sequence[int], marks: Marks) -> Iterator[str]:
    for slot in marks.sources:
        x, y = place.centre(0, slot, row[slot])
        yield (
            f'<circle class="source" cx="{x}" cy="{y}" r="{_RADIUS - 1}" fill="none" stroke="{_BLUE}" '
            'stroke-width="3.5" stroke-dasharray="7 4"/>'
        )
    if marks.selected is not None:
        x, y = place.centre(0, marks.selected, row[marks.selected])
        yield (
            f'<circle class="selected" cx="{x}" cy="{y}" r="{_RADIUS}" fill="none" stroke="{_ORANGE}" '
            'stroke-width="5"/>'
        )
    for slot in marks.targets:
        x, y = place.centre(0, slot, min(row[slot] + 1, CHECKERS))
        yield f'<circle class="target" cx="{x}" cy="{y}" r="9" fill="{_ORANGE}" stroke="#fffdf8" stroke-width="2.5"/>'


def _areas(place: _Places, live: set[int | None]) -> Iterator[str]:
    """Half a column for each slot to take the clicks; the class says on which of them a click does something."""
    half = _BOARD / 2 - _EDGE
    for slot in range(OFF, BAR + 1):
        width = {OFF: _TRAY, BAR: _MIDDLE}.get(slot, _CELL)
        x, y = place.x(0, slot) - width / 2, _BOARD / 2 if place.below(0, slot) else _EDGE
        state = "live" if slot in live else "idle"
        yield (
            f'<rect class="{state}" data-slot="{slot}" x="{x}" y="{y}" width="{width}" height="{half}" '
            'fill="#000" fill-opacity="0"/>'
        )
