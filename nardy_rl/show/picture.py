"""A position to look at, wherever it is shown: a notebook, a terminal, a file."""

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from nardy_rl.files import write_bytes, write_text
from nardy_rl.rules.notation import find_play, parse_play
from nardy_rl.rules.reference import Step
from nardy_rl.rules.spec import OFFICIAL, Rules
from nardy_rl.show.png import svg_png
from nardy_rl.show.svg import MOVER, board_svg
from nardy_rl.show.terminal import TerminalBoard


@dataclasses.dataclass(frozen=True)
class Picture:
    """A position, with the arrows of a play if there is one.

    The last line of a notebook's cell shows it; `rich.print(picture)` shows it in a terminal; `save` writes a file.

    `numbering` says how the points are numbered:

    - `"mover"`: as the player on roll counts, his head 24 and his home 6..1 (R0.2), as plays are written in this kit.
    - `"opponent"`: as the other player counts.
    - `"white"`: as white counts, whoever is on roll. The official text (S0) numbers the board so: in long nardy black's
      head is then 12 and black bears off from 13..18 (R0.3). Say by `white` which of the two players that is.

    Attributes:
        board: Counts (2, 26), rows (player on roll, opponent), each in its own numbering.
        rules: The variant.
        dice: The roll.
        play: What the player on roll is to play: text such as "24/18 13/9", or its steps. If dice are given, a text
            must be a legal play, written in any order; if not, its steps are drawn as they are written.
        last: What the opponent has just played, and which led to this position: text or steps.
        caption: A line under the board.
        view: From whose seat: "mover", "opponent" or "white".
        numbering: See above.
        white: Who has the light checkers: "mover" or "opponent". In a game white is who moved first.
    """

    board: Any
    rules: Rules = OFFICIAL
    dice: tuple[int, ...] | None = None
    play: str | Iterable[Step] = ()
    last: str | Iterable[Step] = ()
    caption: str = ""
    view: str = MOVER
    numbering: str = MOVER
    white: str = MOVER

    def __post_init__(self) -> None:
        if isinstance(self.play, str) and self.dice is not None:
            play: Iterable[Step] = find_play(self.play, self.board, self.dice[:2], self.rules).steps
        else:
            play = _steps(self.play)
        object.__setattr__(self, "play", play)
        object.__setattr__(self, "last", _steps(self.last))
        self.svg()  # what is wrong is said where the picture is made, not where it is shown

    def svg(self) -> str:
        """The picture as an SVG document."""
        return board_svg(self.board, self.rules, self.dice, self.caption, **self._options())

    def png(self, scale: float = 2.0) -> bytes:
        """The picture as a PNG file, `scale` pixels for one unit of the SVG picture (620 wide)."""
        return svg_png(self.svg(), scale)

    def save(self, path: str | Path, scale: float = 2.0) -> Path:
        """Writes the picture to a file whose name ends in .svg or .png.

        Raises:
            ValueError: Another ending.
            OSError: The file cannot be written.
        """
        path = Path(path)
        if path.suffix == ".svg":
            write_text(path, self.svg())
        elif path.suffix == ".png":
            write_bytes(path, self.png(scale))
        else:
            raise ValueError(f"{path.name!r} is not allowed; give a name that ends in .svg or .png")
        return path

    def _repr_svg_(self) -> str:
        return self.svg()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield TerminalBoard(self.board, self.rules, self.dice, self.caption, **self._options())

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("play", "last", "view", "numbering", "white")}


def _steps(play: str | Iterable[Step]) -> tuple[Step, ...]:
    return parse_play(play) if isinstance(play, str) and play else tuple(Step(*step) for step in play)
