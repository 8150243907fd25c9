"""Playing an agent in a notebook by clicking checkers (install the extra `notebooks`).

    from nardy_rl.play.widget import PlayWidget
    PlayWidget("checkpoints/long-quick-v1")

The browser shows what it is sent and reports what is clicked; all else is `clicks`.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from nardy_rl.agents.base import Agent
from nardy_rl.agents.registry import make_agent
from nardy_rl.play.clicks import ClickedMatch
from nardy_rl.play.session import Setup
from nardy_rl.records.record import MatchRecord


class PlayWidget(anywidget.AnyWidget):
    """A match against an agent on a board to click on.

    Click a checker with a dashed ring. If it has one way to go it goes there; else click one of the orange dots, which
    may also be several dice away. Undo takes back a step or, if none is made, the last turn, with the same dice. Only
    beginnings of legal plays can be made. Play ends the turn, and the agent answers; grey arrows are what it played.
    A click on a hint shows its arrows.

    Attributes:
        match: What a click does, and the match itself (`match.session`).
        svg: The board, as the browser shows it.
        state: What the browser shows beside it, see `ClickedMatch`.
    """

    _esm = Path(__file__).parent / "widget.js"
    _css = Path(__file__).parent / "widget.css"
    svg = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        agent: Agent | str = "heuristic",
        rules: str = "official",
        options: Mapping[str, Any] | None = None,
        *,
        seed: int | None = None,
        games: int = 1,
        points: float | None = None,
        first: str = "lot",
        hint_agent: Agent | str | None = None,
    ) -> None:
        """Starts a match.

        Args:
            agent: The opponent, or its spec (see `nardy_rl.agents.registry`).
            rules: Name of the rules.
            options: What differs from them.
            seed: Of the dice; None draws one, which the log names.
            games: Games of the match, where `points` is None.
            points: Points that win the match.
            first: Who starts: "you", "bot" or "lot" (R6.1).
            hint_agent: Who gives the hints, an agent or its spec; the opponent if None.

        Raises:
            ValueError: An argument that is not allowed; says what is.
        """
        seed = secrets.randbits(32) if seed is None else seed
        setup = Setup(rules, options or {}, seed, games=games, points=points, first=first, auto=False)
        agent = make_agent(agent, setup.rules) if isinstance(agent, str) else agent
        hint_agent = make_agent(hint_agent, setup.rules) if isinstance(hint_agent, str) else hint_agent
        self.match = ClickedMatch(setup, agent, hint_agent)
        super().__init__(svg=self.match.svg, state=self.match.state)
        self.match.on_change = self._show
        self.on_msg(lambda _, message, buffers: self.match.act(message))

    @property
    def record(self) -> MatchRecord:
        """The match so far; `nardy_rl.records.text.format_records([widget.record])` writes it.

        Raises:
            ValueError: No turn has been played yet.
        """
        return self.match.session.record()

    def _show(self) -> None:
        self.svg = self.match.svg
        self.state = self.match.state
