"""A match played by clicking checkers: what a click does and what is to be shown, without a browser."""

import dataclasses
from collections.abc import Callable
from typing import Any

from nardy_rl.agents.base import Agent
from nardy_rl.play.session import Reply, Said, Session, Setup, Table, View
from nardy_rl.play.turn import HalfTurn
from nardy_rl.rules.notation import format_play, parse_play
from nardy_rl.rules.reference import Step
from nardy_rl.rules.spec import SLOTS
from nardy_rl.show.svg import MOVER, OPPONENT, Marks, board_svg

MAX_LINES = 200
"""Lines of the log that are kept."""


class ClickedMatch:
    """A match against an agent on a board to click on.

    Attributes:
        session: The match; the same one that the terminal plays.
        svg: The board with its highlights.
        state: What is shown beside it, as plain values: `log` (lines with `text` and `kind`), `buttons` (each with
            `name`, `label` and `enabled`), `hints` (None, or a table with `header` and `rows`), `shown` (the play of
            the hints whose arrows are drawn, or "") and `thinking` (the agent is at work).
        on_change: Called whenever `svg` or `state` have changed.
    """

    def __init__(self, setup: Setup, agent: Agent, hint_agent: Agent | None = None) -> None:
        """Starts a match.

        Args:
            setup: What is fixed. The next match has the next seed.
            agent: The opponent.
            hint_agent: Who gives the hints, the opponent if None.

        Raises:
            ValueError: A setup that is not allowed.
        """
        if setup.cube:
            raise ValueError("cube=True is not allowed: the cube is played with in the terminal only, scripts/play.py")
        self._setup = setup
        self._agent = agent
        self._hint_agent = hint_agent
        self.on_change: Callable[[], None] = lambda: None
        self._view: View | None = None
        self._half: HalfTurn | None = None
        self._hints: Table | None = None
        self._prompt = ""
        self._selected: int | None = None
        self._shown: tuple[Step, ...] = ()
        self.state: dict[str, Any] = {}
        self._start()

    def act(self, message: Any) -> None:
        """Does what was clicked; a message that means nothing now is ignored.

        Args:
            message: `{"click": slot}` with a slot of the person's numbering (0 off, 25 bar), `{"press": button}` with a
                button of `state`, or `{"show": play}` with a play of the hints.
        """
        kind, value = next(iter(message.items()), (None, None)) if isinstance(message, dict) else (None, None)
        try:
            if kind == "click" and isinstance(value, int) and 0 <= value < SLOTS:
                self._click(value)
            elif kind == "press" and value in [button["name"] for button in self._buttons() if button["enabled"]]:
                self._press(str(value))
            elif kind == "show" and self._half and self._hints and value in [row[1] for row in self._hints.rows]:
                self._restart()
                self._shown = parse_play(value)
        finally:  # an agent that fails must not leave the board waiting for it
            self._refresh()

    # --- what is done -------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Begins the match of the present setup."""
        self.session = Session(self._setup, self._agent, hint_agent=self._hint_agent)
        reply = self.session.start()
        about, *parts = reply.parts
        # what follows the first line tells how to type
        parts = [part for part in parts if not isinstance(part, Said) or part.kind != "plain"]
        self._log: list[dict[str, str]] = []
        self._take(reply._replace(parts=(about, *parts)))
        self._refresh()

    def _click(self, slot: int) -> None:
        half = self._half
        if half is None:
            return
        self._shown = ()
        selected, self._selected = self._selected, None
        targets = half.targets(selected) if selected is not None else {}
        if slot in targets:
            half.make(targets[slot])
        elif slot in half.sources() and slot != selected:
            steps = [steps for steps in half.targets(slot).values() if len(steps) == 1]
            if len(steps) == 1:
                half.make(steps[0])
            else:
                self._selected = slot

    def _press(self, button: str) -> None:
        half = self._half
        if button == "undo" and half and half.steps:
            half.undo()
            self._selected, self._shown = None, ()
        elif button == "match":
            self._setup = dataclasses.replace(self._setup, seed=(self._setup.seed + 1) % 2**63)
            self._start()
        elif button == "play" and half:
            self._send(format_play(half.steps))
        else:
            self._send({"next": ""}.get(button, button))

    def _send(self, line: str) -> None:
        """Tells the session; it is shown meanwhile that the agent thinks."""
        self.state = {**self.state, "thinking": True}
        self.on_change()
        self._take(self.session.command(line))

    def _take(self, reply: Reply) -> None:
        """Takes over what the session answers."""
        self._prompt = reply.prompt
        for part in reply.parts:
            if isinstance(part, Said):
                self._log.append({"text": part.text, "kind": part.kind})
            elif isinstance(part, Table):
                self._hints = part
            elif isinstance(part, View):
                self._view = part
                self._half = HalfTurn(part.board, part.dice, self.session.rules) if part.dice else None
                self._hints = None
                self._restart()

    def _restart(self) -> None:
        """Back to the start of the turn."""
        while self._half and self._half.steps:
            self._half.undo()
        self._selected, self._shown = None, ()

    # --- what is shown ------------------------------------------------------------------------------------------------

    def _buttons(self) -> list[dict[str, Any]]:
        half, prompt = self._half, self._prompt
        if prompt.startswith("yes/no"):
            return [_button("yes", "Yes"), _button("no", "No")]
        if prompt.startswith("lot"):
            return [_button("lot", "Play the lot"), _button("throw", "Throw afresh")]
        if half is None:
            go_on = _button("match", "New match") if self.session.over else _button("next", "Next game")
            return [go_on, _button("undo", "Undo")]
        is_pass = half.complete and not half.steps
        return [
            _button("play", "Pass" if is_pass else "Play", half.complete),
            _button("undo", "Undo"),
            _button("hint", "Hint", not is_pass),
            _button("resign", "Resign"),
        ]

    def _refresh(self) -> None:
        view, half = self._view, self._half
        assert view is not None
        marks, board = Marks(), view.board
        dice: tuple[int, ...] | None = view.dice
        if half and dice:
            dice = dice * 2 if dice[0] == dice[1] else dice
            sources = half.sources() if self._selected is None else ()
            targets = tuple(half.targets(self._selected)) if self._selected is not None else ()
            marks = Marks(sources, self._selected, targets, half.dice_left, clickable=True)
            board = half.board
        begun = half is not None and bool(half.steps)
        self.svg = board_svg(
            board,
            self.session.rules,
            dice,
            play=self._shown,
            last=() if begun else view.last,
            white=MOVER if view.moved_first else OPPONENT,
            marks=marks,
        )
        del self._log[:-MAX_LINES]
        hints = self._hints
        self.state = {
            "log": list(self._log),
            "buttons": self._buttons(),
            "hints": {"header": list(hints.header), "rows": [list(row) for row in hints.rows]} if hints else None,
            "shown": format_play(self._shown) if self._shown else "",
            "thinking": False,
        }
        self.on_change()


def _button(name: str, label: str, enabled: bool = True) -> dict[str, Any]:
    return {"name": name, "label": label, "enabled": enabled}
