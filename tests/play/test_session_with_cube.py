"""The session with the doubling cube: who may double when, what it costs, and what the records keep."""

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from nardy_rl.agents.base import Decisions
from nardy_rl.agents.registry import make_agent
from nardy_rl.cube.player import CubeConfig
from nardy_rl.play.clicks import ClickedMatch
from nardy_rl.play.session import BOT, YOU, Listing, Session, Setup, Table, View, resumed
from nardy_rl.play.terminal import RecordFile, read_record, run
from nardy_rl.records.mat import format_match, parse_match
from nardy_rl.records.position_ids import parse_xgid
from nardy_rl.records.record import DROPPED, GameRecord, MatchRecord, RecordedTurn, replay_match
from nardy_rl.records.text import format_records, parse_records
from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import PRESETS
from tests.play.test_session import part, said

SHORT = PRESETS["short"]


class Sure:
    """Plays like `pips`, and gives whoever is on roll the same chance of a single game."""

    gives_equities = False

    def __init__(self, win: float) -> None:
        self.spec = "sure"
        self.rules = SHORT
        self.win = win

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        return make_agent("pips", SHORT).scores(decisions)

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        return np.tile(np.array([0, 0, 1 - self.win, 0, self.win, 0, 0], dtype=np.float32), (len(boards), 1))


class Moody(Sure):
    """Sure of something else at every position."""

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        self.win = random.Random(boards.tobytes()).choice([0.5, 0.72, 0.74, 0.9])
        return super().values(boards, moved_first)


EVEN, DOUBLE_TAKE, DOUBLE_PASS = 0.5, 0.72, 0.9  # money, no gammons: doubled from 68.75% (71.4%) on, taken up to 78.6%


def make(win: float | None = EVEN, **setup: Any) -> Session:
    setup = {"seed": 1, "first": "you", "cube": True} | setup
    return Session(Setup("short", {}, **setup), make_agent("pips", SHORT) if win is None else Sure(win))


def begun(win: float | None = EVEN, start: bool = True, **setup: Any) -> Session:
    """The person has made the first play, and is on roll again if the agent has not doubled."""
    session = make(win, **setup)
    if start:
        session.start()
    session.command("plays")
    session.command("1")
    return session


def again(session: Session) -> Session:
    """The session as it goes on from its record, which both formats give back."""
    [record] = parse_records(format_records([session.record()]))
    assert record == parse_match(format_match(session.record())) == session.record()
    match, setup = resumed(record, Setup("official", {}, 99), "sure")
    return Session(setup, session.agent, record=match)


# --- doubling and answering -------------------------------------------------------------------------------------------


def test_the_person_doubles_and_the_agent_takes() -> None:
    session = begun()
    assert session._state.dice is None
    assert session._prompt() == "Enter to throw, or double> "
    reply = session.command("double")
    assert "You double to 2.\nsure takes: the cube is on 2, and sure's." in said(reply)
    assert part(reply, View).cube == "Cube: 2, sure's."
    assert part(reply, View).dice == session._state.dice is not None
    assert "a double comes before the throw" in said(session.command("double"), "error").lower()
    session.command("plays")
    reply = session.command("1")
    assert [turn.doubled for turn in session._state.turns][:3] == [None, None, 2]
    assert session._state.dice, "the cube is not the person's, so the dice are thrown for him"
    assert session.record().games[0].turns[2].doubled == 2
    assert replay_match(session.record()).games[0].turns[3].cube == 2
    assert again(session)._state == session._state


def test_the_agent_drops() -> None:
    session = begun(games=2)
    session.agent.win = DOUBLE_PASS  # type: ignore[attr-defined]
    reply = session.command("double")
    assert "You double to 2.\nsure drops.\nYou win by a dropped double: 1 point.\nScore: you 1, sure 0" in said(reply)
    [game] = session.record().games
    assert (game.ended, game.offered, game.winner, game.points) == (DROPPED, 2, "first", 1.0)
    assert list(parse_records(format_records([session.record()]))) == [session.record()]
    assert parse_match(format_match(session.record())).games == session.record().games
    assert "since the last double" in said(session.command("undo"), "error")
    session.command("")
    assert session._state.cube == (1, None)


def test_the_agent_doubles_and_the_person_answers() -> None:
    session = begun(DOUBLE_TAKE, games=2)
    assert session._prompt() == "take or drop> "
    assert session._cube_text() == "Cube: 1, in the middle."
    for line in ("", "24/18", "1", "63", "dice", "dice 6-3", "plays", "throw", "double", "resign", "undo", "maybe"):
        assert said(session.command(line), "error"), line
    assert session.record().games[0].offered == 2
    assert again(session)._state == session._state
    dropped = again(session)
    reply = session.command("take")
    assert "You take: the cube is on 2, and yours." in said(reply)
    assert session._state.cube == (2, YOU)
    assert session._prompt() == "Enter to throw, or double> "
    assert "nothing to take back" in said(session.command("undo"), "error")
    session.command("double")
    assert session._state.cube == (4, BOT)
    session.command("plays")
    reply = session.command("1")
    assert "sure doubles to 8. Take it, or drop and lose 4 points?" in said(reply, "news")
    assert "sure wins by a dropped double: 4 points." in said(session.command("dr"))
    assert session.record().games[0].points == 4
    assert [turn.doubled for turn in session.record().games[0].turns] == [None, 2, 4]

    reply = dropped.command("drop")
    assert "You drop.\nsure wins by a dropped double: 1 point." in said(reply)
    assert dropped.record().games[0].winner == "second"


def test_enter_and_throw_throw_the_dice_of_the_seed() -> None:
    for line in ("", "throw", "thr"):
        session = begun()
        reply = session.command(line)
        assert part(reply, View).dice == begun(cube=False)._state.dice is not None


@pytest.mark.parametrize("agent", ["pips", "sure"])
def test_a_cubeless_game_has_the_same_dice_and_plays(agent: str) -> None:
    sessions = [make(None if agent == "pips" else EVEN, cube=cube, auto=False) for cube in (True, False)]
    for session in sessions:
        session.start()
        for _ in range(8):
            if session._wants_throw:
                session.command("")
            session.command("plays")
            session.command("1")
    assert sessions[0]._state.turns == sessions[1]._state.turns
    without = sessions[1].record()
    assert "cube" not in without.tags
    assert "'double' is neither a play nor a command" in said(sessions[1].command("double"), "error")
    assert "You have" in said(sessions[1].command("d")), "of dice, double and drop only dice is there"
    assert "can mean dice, double or drop" in said(sessions[0].command("d"), "error").replace(" or double", ", double")


def test_when_nobody_may_double() -> None:
    session = make(DOUBLE_TAKE)
    session.start()
    assert "comes before the throw" in said(session.command("double"), "error")
    assert "no double to answer" in said(session.command("take"), "error")
    assert "no double to answer" in said(session.command("drop"), "error")
    session = make(ask_dice=True)
    session.start()
    assert "before the first throw" in said(session.command("double"), "error")
    for word in ("double", "take", "drop", "throw"):
        assert f"\n  {word} " in said(session.command("help"))
    session = begun(doubling=CubeConfig(max_cube=1))
    assert "A double comes before" in said(session.command("double"), "error"), "nobody was asked"
    session = begun(doubling=CubeConfig(max_cube=1), ask_dice=True)
    session.command("63")
    session.command("plays")
    session.command("1")
    session.command("21")
    assert "goes no higher" in said(session.command("double"), "error")


# --- matches ----------------------------------------------------------------------------------------------------------


def test_a_match_has_a_crawford_game() -> None:
    session = begun(DOUBLE_PASS, points=2)
    assert session._cube_text() == "Cube: 1, in the middle. Score: you 0, sure 0, to 2."
    session.command("drop")
    assert session._state.match.points == (0.0, 1.0)
    reply = session.command("")
    assert "This is the Crawford game: nobody doubles." in said(reply, "news")
    assert part(reply, View).cube == "Cube: 1, in the middle. Score: you 0, sure 1, to 2. Crawford game."
    session.command("plays")
    session.command("1")
    assert session._state.dice, "neither the agent nor the person could double"
    assert session.command("id") == again(session).command("id")
    assert parse_xgid(said(session.command("id")).splitlines()[1]).crawford
    assert again(session)._state == session._state
    session.command("resign")
    session.command("yes")
    assert session.over
    assert replay_match(session.record()).over


def test_after_the_crawford_game_the_trailer_doubles() -> None:
    first = {"first": "sure", "second": "you"}
    turns = (RecordedTurn((3, 1), "8/5 6/5"),)
    games = (
        GameRecord("short", {}, turns, ended="resigned", winner="first", result="single", points=1, **first),
        GameRecord("short", {}, turns, **first),
    )
    record = MatchRecord(("you", "sure"), games, 3.0, (2.0, 0.0), {"cube": "on", "dice": "ask"})
    match, setup = resumed(record, Setup("short", {}, 1), "sure")
    session = Session(setup, Sure(EVEN), record=match)
    assert session._state.match.points == (2.0, 1.0)
    assert (session._state.crawford, session._state.crawford_over) == (False, True)
    session.start()
    assert "The cube is dead for you: at 1 a single game wins you the match" in said(session.command("double"), "error")
    session.command("63")
    session.command("plays")
    reply = session.command("1")
    assert "sure doubles to 2" in said(reply, "news"), "a trailer has nothing to lose"
    position = parse_xgid(said(session.command("id")).splitlines()[1])
    assert again(session)._state == session._state
    assert (position.doubled, position.crawford, position.score, position.cube) == (True, False, (1, 2), 1)
    assert "sure doubles to 2: type take" in said(session.command("double"), "error")


# --- hints ------------------------------------------------------------------------------------------------------------


def test_hints_on_the_cube() -> None:
    # p = 0.72, x = 2/3. Dead: 0.44. Live, centred: (0.72 - 0.2) / 0.6 * 2 - 1 = 0.733; live, theirs: 0.3
    session = begun()
    session.agent.win = DOUBLE_TAKE  # type: ignore[attr-defined]
    reply = session.command("hint")
    assert "sure thinks: double, take" in said(reply)
    table = part(reply, Table)
    assert table.rows == (("no double", "+0.636"), ("double, take", "+0.693"), ("double, pass", "+1.000"))
    session = begun(DOUBLE_TAKE)
    reply = session.command("hint")
    assert "sure thinks: take" in said(reply)
    assert part(reply, Table).rows == (("take", "-0.693"), ("drop", "-1.000"))
    assert session.hints == 1
    session = begun(points=1)
    assert "plays are alike" in said(session.command("hint")), "the cube is dead, and the dice are thrown"
    session = begun(points=3)
    table = part(session.command("hint"), Table)
    assert table.header == ("play", "equity", "match")
    assert table.rows[2] == ("double, pass", "+1.000", "60.5%"), "2-away, 3-away: docs/cube.md"


# --- other ways -------------------------------------------------------------------------------------------------------


def test_an_agent_without_chances_says_so() -> None:
    session = make(None)
    assert "pips knows no chances: it never doubles, and takes every double." in said(session.start())
    session = begun(None)
    assert "no opinion of the cube" in said(session.command("hint"))
    assert "pips takes" in said(session.command("double"))


def test_dice_of_a_real_board() -> None:
    session = begun(start=True, ask_dice=True)
    session.command("31")
    session.command("plays")
    assert session.command("1").prompt == "dice of sure> "
    assert "It is sure's throw" in said(session.command("double"), "error")
    session.agent.win = DOUBLE_TAKE  # type: ignore[attr-defined]
    assert session.command("21").prompt == "your dice, or double> "
    assert "or double, hint, or help" in said(session.command(""), "error")
    reply = session.command("double")
    assert reply.prompt == "your dice> "
    assert "Type your dice" in said(session.command("resign"), "error"), "no record could hold it"
    assert session.record().games[0].offered == 2, "a double without its throw is asked again"
    same = again(session)
    assert "sure takes" in said(same.start())
    assert same._state == session._state
    session.command("65")
    session.command("plays")
    reply = session.command("1")
    assert reply.prompt == "take or drop> ", "before its dice are typed"
    session.command("take")
    assert session._prompt() == "dice of sure> "
    session.command("11")
    assert [turn.doubled for turn in session._state.turns] == [None, None, 2, 4]


def test_jacoby() -> None:
    session = begun(doubling=CubeConfig(jacoby=True))
    same = again(session)
    assert same.setup.doubling.jacoby
    assert "by backgammon, 1 point, as" in said(same.command("resign")), "its back checkers stand in the winner's home"
    same.command("yes")
    assert replay_match(same.record()).scores[-1] == (0.0, 1.0)
    session.command("double")
    assert "by backgammon, 6 points" in said(session.command("resign"))
    session.command("yes")
    assert replay_match(session.record()).scores[-1] == (0.0, 6.0)


@pytest.mark.parametrize(("seed", "points"), [(1, 7), (2, None), (3, 5)])
def test_a_match_goes_on_from_its_record_at_any_time(seed: int, points: int | None) -> None:
    session = Session(Setup("short", {}, seed, points=points, games=4, cube=True), Moody(EVEN))
    rng = random.Random(seed)
    session.start()
    for step in range(400):
        if session._state.outcome:
            session.command("")
        elif session._wants_answer:
            session.command(rng.choice(["take", "take", "drop"]))
        elif session._wants_throw:
            session.command(rng.choice(["", "", "", "double"]))
        elif rng.random() < 0.1:
            session.command("undo")
        else:
            plays = part(session.command("plays"), Listing).plays
            session.command(str(rng.randint(1, len(plays))))
        if session.over:
            break
        if step % 9 == 0 and session._state.turns and not session._state.outcome:
            same = again(session)
            assert same._state == session._state
            assert same._past == session._past
            assert same.record() == session.record()
            session = same
    assert session.over
    games = session.record().games
    assert any(turn.doubled for game in games for turn in game.turns), "or nothing is tested here"
    assert replay_match(session.record()).scores[-1] == session._state.match.points
    assert parse_match(format_match(session.record())).games == session.record().games


def test_records_with_a_cube_need_it() -> None:
    game = GameRecord("short", {}, (RecordedTurn((3, 1), "8/5 6/5"),), first="you", second="sure", offered=2)
    match, setup = resumed(game, Setup("short", {}, 1), "sure")
    with pytest.raises(ValueError, match="go on with it with cube=true"):
        Session(setup, Sure(EVEN), record=match)
    match, setup = resumed(game, Setup("short", {}, 1, cube=True), "sure")
    assert Session(setup, Sure(EVEN), record=match).start().prompt == "take or drop> "
    record = MatchRecord(("you", "sure"), (game,), 5.0, tags={"Crawford": "Off"})
    with pytest.raises(ValueError, match="without the Crawford rule"):
        Session(Setup("short", {}, 1, points=5, cube=True), Sure(EVEN), record=record)


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({"preset": "official"}, "give rules=short"),
        ({"points": 2.5}, "points=2.5 is not allowed"),
        ({"points": 65}, "points=65 is not allowed; a match with the cube is to 1..64 whole points"),
        ({"points": 64, "name": "sure"}, "the opponent's name"),
        ({"points": 5, "doubling": CubeConfig(jacoby=True)}, "Jacoby's rule belongs to money play"),
        ({"doubling": CubeConfig(beavers=True)}, "doubling.beavers=True is not allowed"),
        ({"doubling": CubeConfig(max_cube=3)}, "max_cube=3"),
    ],
)
def test_wrong_setups(setup: dict[str, Any], message: str) -> None:
    values = {"preset": "short", "options": {}, "seed": 1, "cube": True} | setup
    with pytest.raises(ValueError, match=message):
        Session(Setup(**values), Sure(EVEN))


def test_the_terminal_shows_the_cube_and_keeps_an_open_double(tmp_path: Path) -> None:
    screen, file = io.StringIO(), RecordFile(tmp_path / "x.txt")
    lines = iter(["plays", "1", "what", "help"])

    def read(prompt: str) -> str:
        screen.write(prompt)
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    assert run(make(DOUBLE_TAKE), file, Console(file=screen, width=120), read) == 0
    for text in (
        "Cube: 1, in the middle.",
        "take or drop> ",
        "'what' is neither a play nor a command. sure doubles to 2",
    ):
        assert text in screen.getvalue()
    record = read_record(tmp_path / "x.txt")
    match, setup = resumed(record, Setup("short", {}, 1), "sure")
    assert Session(setup, Sure(EVEN), record=match).start().prompt == "take or drop> "


def test_there_is_no_cube_to_click_on() -> None:
    with pytest.raises(ValueError, match="in the terminal only"):
        ClickedMatch(Setup("short", {}, 1, cube=True), Sure(EVEN))
