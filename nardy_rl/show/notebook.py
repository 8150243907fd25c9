"""What a notebook's cell shows around pictures: a roll with its legal plays, and pictures side by side."""

import dataclasses
import html
from collections.abc import Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from nardy_rl.records.position_ids import read_position
from nardy_rl.rules.notation import find_play, format_play
from nardy_rl.rules.reference import Play, legal_plays
from nardy_rl.rules.spec import OFFICIAL, Rules
from nardy_rl.show.picture import Picture

_STYLE = (
    "<style>.nardy-row{display:flex;flex-wrap:wrap;gap:14px;align-items:flex-start;margin:4px 0}"
    ".nardy-row svg{display:block;width:100%;height:auto}.nardy-row p{margin:0 0 6px}"
    ".nardy-row code{white-space:nowrap}</style>"
)


@dataclasses.dataclass(frozen=True)
class LegalPlays:
    """A roll on a position: what may be played, and what may not and why.

    The last line of a notebook's cell shows it, and `rich.print` shows it in a terminal.

    Attributes:
        board: Counts (2, 26), rows (player on roll, opponent), each in its own numbering; or such a position as text,
            or the ID of one (`records.position_ids`).
        dice: The roll.
        rules: The variant.
        ask: Plays to be judged. The arrows are those of the first legal one.
        caption: What the position is there for.
        most: Legal plays written out, at most.
    """

    board: Any
    dice: tuple[int, int]
    rules: Rules = OFFICIAL
    ask: Sequence[str] = ()
    caption: str = ""
    most: int = 8

    def __post_init__(self) -> None:
        if isinstance(self.board, str):
            object.__setattr__(self, "board", read_position(self.board, self.rules)[0])
        _ = self.plays  # what is wrong is said where it is made, not where it is shown

    @property
    def plays(self) -> list[Play]:
        """All legal plays; one without steps if there is none but the pass (R1.3)."""
        return legal_plays(self.board, self.dice, self.rules)

    def verdicts(self) -> list[tuple[str, str]]:
        """Each play of `ask` with why it is not legal, or "" if it is."""
        return [(text, self._objection(text)) for text in self.ask]

    def summary(self) -> str:
        """How many legal plays there are, and the first ones."""
        texts = [format_play(play.steps) for play in self.plays]
        more = f" and {len(texts) - self.most} more" if len(texts) > self.most else ""
        return f"{len(texts)} legal play{'s' if len(texts) > 1 else ''}: {', '.join(texts[: self.most])}{more}"

    def picture(self) -> Picture:
        """The position with the dice, and the arrows of the first legal play of `ask`."""
        legal = [text for text, objection in self.verdicts() if not objection]
        return Picture(self.board, self.rules, self.dice, play=legal[0] if legal else ())

    def _objection(self, text: str) -> str:
        try:
            find_play(text, self.board, self.dice, self.rules)
        except ValueError as error:
            return str(error).partition("; legal: ")[0].partition(" is not legal: ")[2] or str(error)
        return ""

    def _repr_html_(self) -> str:
        lines = [f"<p><b>{html.escape(self.caption)}</b></p>"] if self.caption else []
        lines.append(f"<p>{html.escape(self.summary())}</p>")
        for text, objection in self.verdicts():
            mark, why = ("✗", f"not legal: {objection}") if objection else ("✓", "legal")
            lines.append(f"<p>{mark} <code>{html.escape(text)}</code> {html.escape(why)}</p>")
        return (
            f'{_STYLE}<div class="nardy-row"><div style="flex:0 1 430px">{self.picture().svg()}</div>'
            f'<div style="flex:1 1 260px">{"".join(lines)}</div></div>'
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield dataclasses.replace(self.picture(), caption=self.caption)
        yield Text(self.summary())
        for text, objection in self.verdicts():
            yield Text(f"{text}: {f'not legal, {objection}' if objection else 'legal'}")


@dataclasses.dataclass(frozen=True)
class Row:
    """Pictures side by side in a notebook, as many to a line as there is room for, captions below.

    Attributes:
        pictures: What to show.
        width: Of each, in pixels.
    """

    pictures: Sequence[Picture]
    width: int = 400

    def _repr_html_(self) -> str:
        cells = [
            f'<div style="flex:0 1 {self.width}px">{dataclasses.replace(picture, caption="").svg()}'
            f'<p style="text-align:center">{html.escape(picture.caption)}</p></div>'
            for picture in self.pictures
        ]
        return f'{_STYLE}<div class="nardy-row">{"".join(cells)}</div>'

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.pictures
