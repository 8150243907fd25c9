"""The board to click on, without a browser: messages in, a picture and a state out."""

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from nardy_rl.agents.base import Decisions
from nardy_rl.agents.registry import make_agent
from nardy_rl.play.clicks import ClickedMatch
from nardy_rl.play.session import Session, Setup
from nardy_rl.records.record import RESIGNED, replay_match


def match(preset: str = "official", agent: str = "pips", **options: Any) -> ClickedMatch:
    setup = Setup(preset, {}, **{"seed": 5, "first": "you", "auto": False, **options})
    return ClickedMatch(setup, make_agent(agent, setup.rules))


def seen(made: ClickedMatch, kind: str) -> list[ElementTree.Element]:
    return [element for element in ElementTree.fromstring(made.svg).iter() if element.attrib.get("class") == kind]


def live(made: ClickedMatch) -> list[int]:
    return [int(area.attrib["data-slot"]) for area in seen(made, "live")]


def buttons(made: ClickedMatch) -> dict[str, bool]:
    return {button["name"]: button["enabled"] for button in made.state["buttons"]}


def said(made: ClickedMatch) -> str:
    return "\n".join(line["text"] for line in made.state["log"])


def click_a_turn(made: ClickedMatch, rng: np.random.Generator) -> None:
    """Clicks whatever does something, at random, until the turn can be ended; ends it."""
    while not buttons(made)["play"]:
        made.act({"click": int(rng.choice(live(made)))})
    made.act({"press": "play"})


@pytest.mark.parametrize("preset", ["official", "short", "club"])
def test_a_match_of_random_clicks(preset: str) -> None:
    made = match(preset, games=2)
    rng = np.random.default_rng(1)
    for _ in range(2000):
        names = buttons(made)
        if "match" in names:
            break
        if "lot" in names:
            made.act({"press": "lot"})
        elif "next" in names:
            made.act({"press": "next"})
        else:
            click_a_turn(made, rng)
    assert made.session.over
    record = made.session.record()
    assert len(record.games) == 2
    assert len(replay_match(record).games) == 2, "all of it is legal"
    assert "Final score" in said(made)
    assert not live(made)
    made.act({"press": "match"})
    assert "seed=6" in said(made)
    assert not made.session.over


def test_the_same_clicks_give_the_same_game_as_typing() -> None:
    made = match()
    typed = Session(
        Setup("official", {}, 5, first="you", auto=False), make_agent("pips", Setup("official", {}, 5).rules)
    )
    typed.start()
    rng = np.random.default_rng(2)
    for _ in range(10):
        click_a_turn(made, rng)
    for turn in made.session.record().games[0].turns[:20:2]:
        typed.command(turn.play)
    assert typed.record().games[0].turns == made.session.record().games[0].turns


def test_a_checker_with_one_way_goes_there_at_once_and_undo_takes_it_back() -> None:
    made = match(seed=7)  # 4-3
    start = made.svg
    assert live(made) == [24]
    assert len(seen(made, "source")) == 1
    made.act({"click": 24})
    selected = made.svg
    assert len(seen(made, "selected")) == 1
    assert 24 in live(made)
    made.act({"click": 24})
    assert made.svg == start, "clicked again, it is put down"
    made.act({"click": 24})
    assert made.svg == selected
    made.act({"click": 3})
    assert made.svg == start, "so it is by a click anywhere else"
    made.act({"click": 24})
    single = max(slot for slot in live(made) if slot != 24)
    made.act({"click": single})
    assert not seen(made, "selected")
    assert sum("opacity" in die.attrib for die in seen(made, "die")) == 1, "one die is played"
    made.act({"click": live(made)[0]})
    assert buttons(made)["play"], "the second had one way"
    assert live(made) == []
    made.act({"press": "undo"})
    made.act({"press": "undo"})
    assert made.svg == start


def test_undo_of_a_turn_leads_back_to_its_dice() -> None:
    made = match()
    start = made.svg
    click_a_turn(made, np.random.default_rng(3))
    assert made.svg != start
    assert seen(made, "arrow")
    made.act({"press": "undo"})
    assert made.svg == start
    made.act({"press": "undo"})
    assert made.state["log"][-1]["kind"] == "error", "there is nothing left to take back"


def test_hints_and_their_arrows() -> None:
    made = match(agent="heuristic")
    click_a_turn(made, np.random.default_rng(4))
    made.act({"click": live(made)[0]})
    made.act({"press": "hint"})
    hints = made.state["hints"]
    play = hints["rows"][0][hints["header"].index("play")]
    made.act({"show": play})
    arrows = [arrow for arrow in seen(made, "arrow") if arrow.attrib["data-side"] == "mover"]
    assert " ".join(arrow.attrib["data-step"] for arrow in arrows) == play.replace("*", "")
    assert made.state["shown"] == play
    made.act({"show": "24/1"})
    assert made.state["shown"] == play, "only what the hints name is shown"
    click_a_turn(made, np.random.default_rng(4))
    assert made.state["hints"] is None
    assert made.state["shown"] == ""


def test_a_game_can_be_given_up() -> None:
    made = match(games=2)
    made.act({"press": "resign"})
    assert set(buttons(made)) == {"yes", "no"}
    made.act({"press": "no"})
    assert "play" in buttons(made)
    made.act({"press": "resign"})
    made.act({"press": "yes"})
    assert set(buttons(made)) == {"next", "undo"}
    assert made.session.record().games[0].ended == RESIGNED


def test_what_means_nothing_now_changes_nothing() -> None:
    made = match()
    before = (made.svg, made.state)
    messages: list[Any] = [
        {"press": "play"},
        {"press": "yes"},
        {"press": "quit"},
        {"press": ["undo"]},
        {"show": "24/18"},
    ]
    messages += [{"click": 99}, {"click": "24"}, {"click": None}, {"click": 3}, {}, None, "x", {"what": 1}]
    for message in messages:
        made.act(message)
        assert (made.svg, made.state) == before


class Failing:
    """An agent that cannot play."""

    spec = "failing"
    gives_equities = False

    def __init__(self) -> None:
        self.rules = Setup("official", {}, 5).rules

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        raise RuntimeError("no idea")


def test_an_agent_that_fails_does_not_leave_the_board_waiting() -> None:
    made = ClickedMatch(Setup("official", {}, 5, first="you", auto=False), Failing())
    thinking: list[bool] = []
    made.on_change = lambda: thinking.append(made.state["thinking"])
    with pytest.raises(RuntimeError, match="no idea"):
        click_a_turn(made, np.random.default_rng(0))
    assert thinking[-2:] == [True, False]


def test_colours_are_those_of_who_moved_first() -> None:
    for first, light in (("you", "mover"), ("bot", "opponent")):
        stacks = seen(match(first=first), "checkers")
        (side,) = {
            group.attrib["data-side"] for group in stacks for child in group if child.attrib.get("fill") == "#fbf8f1"
        }
        assert side == light
