"""A board for a terminal, by rich: in colour where there is colour, in plain characters where there is none.

The board brings its own background, so it looks the same in a light and in a dark terminal; it is 56 columns wide.

- In colour: light and dark discs on wood. The numbers of points that a play leaves are orange, those of points where
  it arrives blue.
- Without colour (`NO_COLOR`, a pipe, a dumb terminal): white's checkers are `○` and black's `●`; a point that is left
  is marked `-`, one where a checker arrives `+`.
- Without Unicode: white is `o` and black `x`.

Up to five checkers are shown one by one; of more, their number stands in place of the last.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from nardy_rl.rules.board import pip_count
from nardy_rl.rules.notation import format_play
from nardy_rl.rules.reference import Step, as_board, opposing_point
from nardy_rl.rules.spec import BAR, OFF, POINTS, Rules
from nardy_rl.show.svg import FULL_STACK, MOVER, PLAYERS, whose

_TOP, _BOTTOM = tuple(range(13, 25)), tuple(range(12, 0, -1))
_FRAME, _FRAME_INK, _ORANGE, _BLUE = "#5a3d26", "#f4efe6", "#e69f00", "#0072b2"
_WOOD = ("#b08350", "#97693a")
"""Grounds of even and of odd points."""
_LIGHT, _DARK = "#ffffff", "#14100c"


class _Look(NamedTuple):
    """What a terminal can show."""

    colour: bool
    unicode: bool

    def mark(self, is_white: bool) -> str:
        if not self.unicode:
            return "o" if is_white else "x"
        return "○" if is_white and not self.colour else "●"


@dataclasses.dataclass(frozen=True)
class TerminalBoard:
    """A position that rich can print. The attributes are those of `nardy_rl.show.picture.Picture`, plays as steps.

    The viewer's home is at the bottom right. The lines above and below the board say of each side how many checkers
    are off (and on the bar in short nardy) and how many pips it still has to run; the plays stand under them.
    """

    board: Any
    rules: Rules
    dice: Sequence[int] | None = None
    caption: str = ""
    play: Sequence[Step] = ()
    last: Sequence[Step] = ()
    view: str = MOVER
    numbering: str = MOVER
    white: str = MOVER

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text(
            colour=console.color_system is not None and not console.no_color, unicode=not options.ascii_only
        )

    def text(self, *, colour: bool = True, unicode: bool = True) -> Text:
        """The drawing for a terminal with or without colour and Unicode.

        Raises:
            ValueError: Not a board, or a word that is not allowed.
        """
        look = _Look(colour, unicode)
        viewer = whose(self.view, self._white, "view")
        lines = [Text(self.caption)] if self.caption else []
        lines += [self._side(1 - viewer, look), self._numbers(_TOP, look)]
        lines += [self._row(_TOP, depth, look) for depth in range(FULL_STACK)]
        lines += [self._edged(look, [(" " * 52, f"on {_FRAME}")])]
        lines += [self._row(_BOTTOM, depth, look) for depth in reversed(range(FULL_STACK))]
        lines += [self._numbers(_BOTTOM, look), self._side(viewer, look)]
        for side, word, steps in ((1, "played", self.last), (0, "plays", self.play)):
            if steps:
                lines.append(Text(f"{self._name(side)} {word} {format_play(steps)}"))
        drawing = Text("\n", no_wrap=True).join(lines)
        if not colour:
            drawing.spans.clear()
        return drawing

    @property
    def _white(self) -> int:
        if self.white not in PLAYERS:
            raise ValueError(f"white={self.white!r} is not allowed; choose one of {', '.join(PLAYERS)}")
        return PLAYERS.index(self.white)

    def _own(self, side: int, seen: int) -> int:
        """A side's own number of the viewer's slot."""
        viewer = whose(self.view, self._white, "view")
        return seen if side == viewer or seen == BAR else opposing_point(seen, self.rules)

    def _name(self, side: int) -> str:
        return "white" if side == self._white else "black"

    # --- lines --------------------------------------------------------------------------------------------------------

    def _side(self, side: int, look: _Look) -> Text:
        """Who it is, and what the board does not show of it."""
        rows = as_board(self.board)
        bar = f", bar {rows[side][BAR]}" if self.rules.geometry == "short" else ""
        to_play = f", to play {'-'.join(map(str, self.dice))}" if self.dice and side == 0 else ""
        who = "" if look.colour else f"{look.mark(side == self._white)} "
        pips = int(pip_count(np.array(rows))[side])
        return Text(f"{who}{self._name(side)}: off {rows[side][OFF]}{bar}, {pips} pips{to_play}")

    def _numbers(self, points: Sequence[int], look: _Look) -> Text:
        """The numbers of a half, those of the points that a play changes marked."""
        left, reached = self._changed()
        numbers = whose(self.numbering, self._white, "numbering")
        cells = []
        for seen in points:
            own = self._own(numbers, seen)
            mark, style = " ", f"{_FRAME_INK} on {_FRAME}"
            if seen in left:
                mark, style = "-", f"bold {_DARK} on {_ORANGE}"
            elif seen in reached:
                mark, style = "+", f"bold {_LIGHT} on {_BLUE}"
            number = f"{own}{'' if look.colour else mark}"
            cells.append((f" {number:3}", style))
        return self._edged(look, [*cells[:6], ("    ", f"on {_FRAME}"), *cells[6:]])

    def _row(self, points: Sequence[int], depth: int, look: _Look) -> Text:
        """One row of checkers, `depth` from the rim, and of those on the bar."""
        viewer = whose(self.view, self._white, "view")
        cells = []
        for seen in points:
            ground = _WOOD[seen % 2]
            cells.append(self._cell([(side, self._own(side, seen)) for side in (0, 1)], depth, ground, look))
        bar_side = viewer if points is _TOP else 1 - viewer  # on the side where its checkers enter
        on_bar = as_board(self.board)[bar_side][BAR]
        bar_ground = _WOOD[0] if depth < on_bar else _FRAME  # a dark checker would not be seen on the frame
        return self._edged(look, [*cells[:6], self._cell([(bar_side, BAR)], depth, bar_ground, look), *cells[6:]])

    def _cell(self, slots: Sequence[tuple[int, int]], depth: int, ground: str, look: _Look) -> tuple[str, str]:
        """What a slot shows `depth` rows from its rim: four characters and their style."""
        rows = as_board(self.board)
        for side, slot in slots:
            count = rows[side][slot]
            if depth < count:
                is_white = side == self._white
                counted = str(count) if depth == FULL_STACK - 1 and count > FULL_STACK else ""
                mark = "" if counted and look.colour else look.mark(is_white)
                text = f" {mark}{counted}"
                return f"{text:4}", f"bold {_LIGHT if is_white else _DARK} on {ground}"
        empty = " .  " if not look.colour and slots[0][1] != BAR else "    "
        return empty, f"on {ground}"

    def _edged(self, look: _Look, cells: Sequence[tuple[str, str]]) -> Text:
        edge = "  " if look.colour else "│ " if look.unicode else "| "
        frame = f"on {_FRAME}"
        return Text.assemble((edge, frame), *cells, (edge[::-1], frame))

    def _changed(self) -> tuple[set[int], set[int]]:
        """The viewer's points from which the plays take checkers, and those to which they bring some."""
        left: set[int] = set()
        reached: set[int] = set()
        for side, steps in ((1, self.last), (0, self.play)):
            for point in range(1, POINTS + 1):
                change = sum((step.target == point) - (step.source == point) for step in steps)
                if change:
                    (left if change < 0 else reached).add(self._own(side, point))
        return left, reached
