"""The session: what is typed, and what it answers."""

import dataclasses
import itertools
import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from nardy_rl.agents.base import Decisions
from nardy_rl.agents.registry import make_agent
from nardy_rl.play import session as module
from nardy_rl.play.session import BOT, YOU, Listing, Reply, Said, Session, Setup, Table, View, resumed
from nardy_rl.records.record import GameRecord, MatchRecord, RecordedTurn, replay, replay_match
from nardy_rl.records.text import format_records, parse_records
from nardy_rl.rules.notation import format_play, format_position, parse_position
from nardy_rl.rules.reference import legal_plays
from nardy_rl.rules.spec import PRESETS, Rules, make_rules


def make(agent: str = "pips", rules: str = "official", options: dict[str, Any] | None = None, **setup: Any) -> Session:
    setup = {"seed": 1, "first": "you"} | setup
    return Session(Setup(rules, options or {}, **setup), make_agent(agent, make_rules(rules, options)))


def typed(session: Session, *lines: str) -> Reply:
    """The answer to the last of the lines."""
    for line in lines:
        reply = session.command(line)
    return reply


def said(reply: Reply, kind: str | None = None) -> str:
    return "\n".join(part.text for part in reply.parts if isinstance(part, Said) and kind in (None, part.kind))


def part(reply: Reply, kind: type) -> Any:
    [found] = [part for part in reply.parts if isinstance(part, kind)]
    return found


def at(position: str, dice: tuple[int, int], agent: str = "pips", turns: int = 2, **setup: Any) -> Session:
    """A session in the middle of a game: the person is on roll, and moved first if `turns` is even."""
    session = make(agent, **setup)
    made = (RecordedTurn((2, 1), "24/22 22/21"),) * turns  # only their number counts
    session._state = module._State(session._state.match, turns % 2, parse_position(position), made, dice)
    return session


def go_on(record: Any, setup: Setup, agent: str = "pips") -> Session:
    match, setup = resumed(record, setup, agent)
    return Session(setup, make_agent(agent, setup.rules), record=match)


def play_out(session: Session, rng: random.Random, lines: Iterable[str] = ()) -> Reply:
    """Plays random plays by number until the session is over."""
    reply = session.start()
    for _ in range(3_000):
        if reply.done:
            return reply
        question = reply.prompt
        if "dice" in question:
            line = f"{rng.randint(1, 6)}{rng.randint(1, 6)}"
        elif "throw" in question:
            line = rng.choice(["lot", "throw"])
        elif "Enter" in question:
            line = ""
        else:
            plays = part(session.command("plays"), Listing).plays
            line = str(rng.randint(1, len(plays)))
        reply = session.command(line)
    raise AssertionError("the match does not end")


# --- plays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "24/18 13/11", "13/11 24/18", " 24/18   13/11 ", "24-18 13-11", "24>18, 13>11", "24 → 18; 13 → 11",
        "24/18,13/11", "２４/１８ 13/11",
    ],
)  # fmt: skip
def test_a_play_may_be_written_in_many_ways(line: str) -> None:
    session = at("24:12 13:1 1:2 | 24:15", (6, 2))
    assert "You play 24/18 13/11." in said(session.command(line))
    assert session._state.turns[2] == RecordedTurn((6, 2), "24/18 13/11")


@pytest.mark.parametrize(
    ("line", "position", "dice", "rules", "expected"),
    [
        ("24/14", "24:12 1:3 | 24:15", (6, 4), "official", "24/18 18/14"),
        ("13/9 x2 12/8(2)", "13:2 12:2 1:11 | 24:15", (4, 4), "official", "13/9(2) 12/8(2)"),
        ("B/20 6/O", "bar:1 6:14 | 24:2 1:13", (5, 5), "short", None),
        ("b/20 24/23", "bar:1 24:14 | 24:2 3:13", (5, 1), "short", "bar/20 24/23"),
        ("BAR/20* 24/23", "bar:1 24:14 | 24:2 5:1 3:12", (5, 1), "short", "bar/20* 24/23"),
        ("25/20 24/23", "bar:1 24:14 | 24:2 5:1 3:12", (5, 1), "short", "bar/20* 24/23"),
        ("6/O 5/0", "6:5 5:5 off:5 | 24:15", (6, 5), "official", "6/off 5/off"),
    ],
)
def test_abbreviations(line: str, position: str, dice: tuple[int, int], rules: str, expected: str | None) -> None:
    session = at(position, dice, rules=rules)
    reply = session.command(line)
    if expected is None:
        assert "R8.3" in said(reply, "error") or "R4.1" in said(reply, "error")
    else:
        assert f"You play {expected}." in said(reply)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_play_can_be_made_by_its_text_and_by_its_number(preset: str) -> None:
    session = make("random", preset, seed=3)
    rng = random.Random(3)
    session.start()
    if session._wants_choice:
        session.command("lot")
    for _ in range(25):
        before = session._state
        plays = part(session.command("plays"), Listing).plays
        assert before.dice
        legal = legal_plays(before.board, before.dice, session.rules)
        assert plays == tuple(format_play(play.steps) for play in legal)
        number = rng.randrange(len(plays))
        session.command(plays[number])
        by_text = session._state
        session.command("undo")
        assert session._state == before
        session.command("plays")
        session.command(str(number + 1))
        assert session._state == by_text
        if session._state.outcome:
            break


@pytest.mark.parametrize(
    ("line", "position", "dice", "words"),
    [
        ("24/21", "24:14 15:1 | 24:15", (6, 3), "2 can be played (R1.3); the six must be played too: 21/15 or 15/9"),
        ("22/17", "22:1 1:14 | 24:14 23:1", (6, 5), "the larger, 6 (R1.3); the six must be played: 22/16"),
        ("24/18 24/21", "24:14 23:1 | 24:15", (6, 3), "no more checkers may leave the head in this turn"),
        ("24/12", "24:14 23:1 | 24:15", (6, 6), "the opponent closes 12 (R1.1)"),
        ("6/off 8/7", "8:1 6:14 | 24:15", (6, 1), "bearing off begins when all checkers are home (R4.1); 1 outside"),
        ("14/8 22/20", "22:1 14:1 11:1 10:1 9:1 7:1 6:1 1:8 | 24:15", (6, 2), "a forbidden block of six (R3.1"),
        ("24/23/22", "24:14 23:1 | 24:15", (6, 3), "24/23 cannot be made with 6-3: it is 1 pip"),
        ("24/18 23/20 15/14", "24:14 23:1 | 24:15", (6, 3), "no die is left for 15/14"),
        ("15/9 24/21", "24:14 23:1 | 24:15", (6, 3), "there is no checker on 15"),
        ("12/6 6/3", "24:14 23:1 | 24:15", (6, 3), "in the mover's own numbering it would be 24/18 18/15 (R0.2)"),
        ("pass", "24:14 23:1 | 24:15", (6, 3), "a player passes only if no die can be played (R1.3)"),
        ("24/30", "24:14 23:1 | 24:15", (6, 3), "'30' is not a point"),
        ("24/18 wat", "24:14 23:1 | 24:15", (6, 3), "Cannot read 'wat'"),
        ("24/18(9)", "24:14 23:1 | 24:15", (6, 3), "ore than 4 steps"),
        ("24/18(" + "9" * 99 + ")", "24:14 23:1 | 24:15", (6, 3), "Cannot read"),
        ("18/24", "24:14 18:1 | 24:15", (6, 3), "does not move forward"),
    ],
)  # fmt: skip
def test_wrong_plays_are_answered_in_words_of_the_rules(
    line: str, position: str, dice: tuple[int, int], words: str
) -> None:
    session = at(position, dice)
    before = session._state
    reply = session.command(line)
    assert words in said(reply, "error")
    assert session._state == before
    assert reply.prompt == f"{dice[0]}-{dice[1]}> "


def test_a_number_needs_the_list() -> None:
    session = make()
    session.start()
    session.command("auto off")
    assert "type plays or hint" in said(session.command("1"), "error")
    session.command("plays")
    for number in ("0", "999", "9" * 150):
        assert f"no play number {number}" in said(session.command(number), "error")
    assert "You play" in said(session.command("#1."))
    assert "type plays or hint" in said(session.command("1"), "error"), "a new turn has a new list"


@pytest.mark.parametrize(
    "line",
    ["", "  ", "\t", "what", "½", "٣", "²", "24", "/", "//", "24/", "/18", "-1", "0", "(2)", "24/18)", "p", "h", "s",
     "d 7", "hint 0", "hint many", "auto maybe", "\x00", "\ud800", "[red]24/18", "x" * 5_000, "24/18 " * 1_000,
     "1" * 10_000, "bar", "off", "save", "lot", "throw", "dice 66", "undo", "голова", "-", "24/18/", "b/b", "{}", "%s"],
)  # fmt: skip
def test_nothing_typed_raises_or_changes_the_game(line: str) -> None:
    session = make()
    session.start()
    session.command("auto off")
    session = make(auto=False)
    session.start()
    before = session._state
    reply = session.command(line)
    assert said(reply, "error")
    assert session._state == before
    assert not reply.done


# --- the flow ---------------------------------------------------------------------------------------------------------


def test_the_first_screen() -> None:
    session = make("pips", seed=5, first="lot")
    reply = session.start()
    text = said(reply)
    assert "You play pips: official rules, 1 game, seed=5 throws the dice." in text
    assert "The lot: you 2, pips 3. pips starts, and you have black." in text
    view = [part for part in reply.parts if isinstance(part, View)][-1]
    assert view.dice
    assert reply.prompt == f"{view.dice[0]}-{view.dice[1]}> "
    assert not view.moved_first
    assert view.last, "the last play of the agent is marked"


def test_plays_of_the_agent_are_told_in_both_numberings() -> None:
    session = at("24:15 | 24:15", (6, 5), turns=2)
    text = said(session.command("24/13"))
    turn = session._state.turns[3]
    if session._state.on_roll == YOU and "pips throws" in text:
        numbers = "".join(str((int(word) + 11) % 24 + 1) if word.isdigit() else word for word in _pieces(turn.play))
        assert f"plays {turn.play} (for you {numbers})" in text
    assert "pips throws" in text


def _pieces(text: str) -> list[str]:
    pieces = [""]
    for character in text:
        if character.isdigit() == pieces[-1].isdigit():
            pieces[-1] += character
        else:
            pieces.append(character)
    return [piece for piece in pieces if piece]


def test_forced_turns_are_played_unless_the_person_wants_to() -> None:
    forced = "22:1 1:14 | 24:13 4:1 5:1"
    session = at(forced, (6, 5))
    assert "no die can be played, you pass" in said(Reply(tuple(session._advance()), ""))
    session = at(forced, (6, 5), auto=False)
    reply = Reply(tuple(session._advance()), "")
    assert "No die can be played: pass." in said(reply)
    assert session._state.dice == (6, 5)
    assert "You play pass." in said(session.command("pass"))


def test_undo_goes_back_to_the_last_decision_and_keeps_the_dice() -> None:
    session = make("heuristic", seed=8, auto=False)
    session.start()
    assert "nothing to take back" in said(session.command("undo"), "error")
    states = []
    for _ in range(4):
        states.append(session._state)
        typed(session, "plays", "1")
    ahead = session._state
    for state in reversed(states):
        reply = session.command("undo")
        assert session._state == state
        assert part(reply, View).dice == state.dice
    assert "nothing to take back" in said(session.command("u"), "error")
    for _ in range(4):
        typed(session, "plays", "1")
    assert session._state == ahead, "the same plays meet the same dice and the same answers"
    assert session.record().tags["undos"] == "4"


def test_undo_takes_back_the_end_of_a_game() -> None:
    session = at("1:1 off:14 | 1:15", (6, 5), turns=3, games=2)
    before = session._state
    assert "You win by mars: 2 points." in said(typed(session, "1/off"))
    assert session.finished_games == 1
    session.command("undo")
    assert session._state == before
    typed(session, "1/off", "")
    assert "nothing to take back" in said(session.command("undo"), "error"), "the game before is over for good"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("ask", [False, True])
def test_whole_matches_are_recorded(preset: str, ask: bool) -> None:
    session = make("random", preset, seed=7, games=2, first="lot", ask_dice=ask)
    reply = play_out(session, random.Random(7))
    record = session.record()
    replayed = replay_match(record)
    assert len(record.games) == 2
    assert replayed.scores[-1] == session._state.match.points
    assert {record.games[0].first, record.games[1].first} <= {"you", "random"}
    assert "Final score" in said(reply)
    assert parse_records(format_records([record])) == (record,)


def test_a_match_to_points_and_who_starts() -> None:
    session = make("random", "moscow", seed=2, points=5)
    play_out(session, random.Random(2))
    games = session.record().games
    assert max(session._state.match.points) >= 5
    for game, following in itertools.pairwise(games):
        winner = game.first if game.winner == "first" else game.second
        assert following.first == winner, "moscow: the winner starts (R6.2)"


@pytest.mark.parametrize(("word", "same"), [("lot", True), ("throw", False)])
def test_who_starts_may_choose_the_lot(word: str, same: bool) -> None:
    session = make("pips", "club", seed=4)
    reply = session.start()
    assert reply.prompt.startswith("lot ")
    assert "type lot" in said(session.command("24/18"), "error")
    session.command(word)
    thrown = session._state.turns[0].dice if session._state.turns else session._state.dice
    assert (thrown == session._lot()) is same
    assert "no choice" in said(session.command("lot"), "error")


def test_dice_may_be_typed() -> None:
    session = make("pips", ask_dice=True)
    reply = session.start()
    assert reply.prompt == "your dice> "
    for wrong in ("7", "07", "6", "666", "6-7", "six", "24/18"):
        assert said(session.command(wrong), "error")
    assert session.command("3 5").prompt == "dice of pips> ", "53 has only one play, made for the person"
    assert session._state.turns == (RecordedTurn((5, 3), "24/19 19/16"),)
    reply = session.command("6-6")
    assert "pips throws 6-6" in said(reply)
    session.command("21")
    assert session._state.dice == (2, 1)
    session.command("dice 4-1")
    assert session._state.dice == (4, 1)


# --- other commands ---------------------------------------------------------------------------------------------------


class Opinion:
    """An agent that likes rows late in the list."""

    spec = "some/where/opinion"
    gives_equities = True

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def scores(self, decisions: Decisions) -> Any:
        return np.arange(len(decisions.afterstates.boards)) / 10

    def values(self, boards: Any, moved_first: Any) -> Any:
        return np.tile(np.array([0.1, 0.2, 0.05, 0.4, 0.25], dtype=np.float32), (len(boards), 1))


def test_hints_are_ranked_and_numbered_as_the_list() -> None:
    rules = PRESETS["official"]
    session = Session(Setup("official", {}, 1, first="you", auto=False), Opinion(rules), chances=Opinion(rules))
    session._state = at("24:10 18:2 14:2 9:1 | 24:12 17:2 5:1", (5, 2))._state
    plays = part(session.command("plays"), Listing).plays
    table = part(session.command("hint 3"), Table)
    assert table.header == ("no.", "play", "equity", "loss", "win", "win mars", "lose mars")
    assert [plays[int(row[0]) - 1] for row in table.rows] == [row[1] for row in table.rows]
    best = (len(plays) - 1) / 10
    assert [row[2] for row in table.rows] == [f"{best - k / 10:+.3f}" for k in range(3)]
    assert [row[3] for row in table.rows] == ["", "-0.100", "-0.200"]
    assert table.rows[0][4:] == ("30.0%", "10.0%", "25.0%"), "the opponent's chances are turned round"
    assert len(part(session.command("hint 9999"), Table).rows) == len(plays)
    assert session.record().tags["hints"] == "2"
    assert "You play" in said(session.command(table.rows[0][0]))


def test_hints_of_agents_without_equities() -> None:
    session = at("24:10 18:2 14:2 9:1 | 24:12 17:2 5:1", (5, 2), "heuristic")
    reply = session.command("hint")
    assert part(reply, Table).header == ("no.", "play")
    assert "it gives no equities" in said(reply)
    session = at("24:10 18:2 14:2 9:1 | 24:12 17:2 5:1", (5, 2), "random")
    assert "has no opinion" in said(session.command("hint"))


def test_chances_are_left_out_where_the_game_is_over() -> None:
    rules = PRESETS["club"]
    session = Session(Setup("club", {}, 1, first="you", auto=False), Opinion(rules), chances=Opinion(rules))
    session._state = at("2:1 off:14 | 1:15", (2, 1), rules="club")._state
    rows = part(session.command("hint"), Table).rows
    assert {row[1]: row[4] for row in rows} == {"2/off": ""}


@pytest.mark.parametrize(
    ("position", "rules", "words", "points"),
    [
        ("24:15 | 24:15", "official", "lose by mars, 2 points", 2),
        ("1:14 off:1 | 24:15", "official", "lose by oin, 1 point,", 1),
        ("1:15 | 24:15", "overview", "lose by home mars, 3 points", 3),
        ("24:5 1:10 | 24:15", "overview", "lose by koks, 4 points", 4),
        ("10:5 1:10 | 24:15", "casual", "lose by mars, 30 points", 30),
        ("24:2 13:13 | 24:2 13:5 8:3 6:5", "short", "lose by backgammon, 3 points", 3),
    ],
)
def test_resigning_costs_what_the_board_says(position: str, rules: str, words: str, points: float) -> None:
    session = at(position, (2, 1), rules=rules)
    before = session._state
    assert words in said(session.command("resign"))
    assert "The game goes on." in said(session.command("no"))
    assert session._state == before
    session.command("resign")
    assert "yes or no" in said(session.command("24/18"), "error")
    reply = session.command("Yes")
    assert reply.done
    assert session._state.match.points == (0, points)


def test_a_resigned_game_is_recorded() -> None:
    session = make(auto=False)
    session.start()
    typed(session, "plays", "1", "resign", "да")
    game = session.record().games[0]
    assert (game.ended, game.winner, game.result, game.points) == ("resigned", "second", "mars", 2.0)
    assert replay(game).outcome == (game.winner, game.result, game.points)


def test_quit_asks_what_to_do_with_the_game() -> None:
    session = make(auto=False)
    session.start()
    assert session.command("quit").done, "nothing is played yet"
    typed(session, "plays", "1")
    assert "Save the match" in said(session.command("q"))
    assert "The game goes on." in said(session.command("cancel"))
    assert typed(session, "exit", "n") == Reply((), typed(session, "").prompt, None, True)
    reply = typed(session, "quit", "y")
    assert (reply.save, reply.done) == ("", True)


def test_save_is_left_to_the_caller() -> None:
    session = make(auto=False)
    session.start()
    assert "nothing to save" in said(session.command("save"), "error")
    typed(session, "plays", "1")
    assert session.command("save").save == ""
    assert session.command("SAVE  My Games/One.txt").save == "My Games/One.txt"


def test_the_rest_of_the_commands() -> None:
    session = at("24:10 18:2 14:2 9:1 | 24:12 17:2 5:1", (5, 5), points=3)
    assert "Pips left: you 313, pips 327; you lead by 14." in said(session.command("pips"))
    assert said(session.command("dice")) == "You have 5-5, four steps."
    assert said(session.command("score")) == "Score: you 0, pips 0, after 0 games of a match to 3 points."
    assert format_position(part(session.command("BOARD"), View).board).startswith("24:10")
    text = said(session.command("?"))
    for word in ("голова", "марс", "оин", "undo", "resign"):
        assert word in text
    assert "bar/20" in said(make(rules="short").command("help"))
    assert said(session.command("id")).endswith(f": {format_position(session._state.board)}")
    assert "can mean plays or pips" in said(session.command("p"), "error")
    assert "left to you" in said(session.command("auto off"))
    assert "made for you" in said(session.command("auto"))


def test_ids_of_a_position_of_the_short_game() -> None:
    session = make(rules="short", points=5)
    session.start()
    session._state = dataclasses.replace(
        session._state, dice=(3, 1), match=dataclasses.replace(session._state.match, points=(2.0, 4.0))
    )
    assert said(session.command("id")).splitlines() == [
        "Position, player on roll first: 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:4:0:5:10",
        "GNU Backgammon: 4HPwATDgc/ABMA:cImlAEAAEAAE",
    ]
    session = make(rules="short", options={"draw_points": 0.5}, points=4.5)
    session.start()
    assert "whole points only" in said(session.command("id"))


def test_plays_wait_for_the_next_game() -> None:
    session = at("1:1 off:14 | 1:15", (6, 5), turns=3, games=2)
    session.command("1/off")
    for line in ("24/18", "plays", "hint", "dice", "resign", "1", "63"):
        assert said(session.command(line), "error")
    assert "Game 2." in said(session.command(""))


# --- going on ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["official", "club", "moscow", "short"])
def test_a_saved_match_goes_on_as_if_never_left(preset: str) -> None:
    session = make("random", preset, seed=11, points=6, first="lot")
    rng = random.Random(1)
    session.start()
    for turn in range(120):
        if session._wants_choice:
            session.command("throw")
        elif session._state.outcome:
            session.command("")
        else:
            plays = part(session.command("plays"), Listing).plays
            session.command(str(rng.randint(1, len(plays))))
        if session.over:
            break
        if turn % 10 or not session.started or session._state.outcome or not session._state.turns:
            continue
        [record] = parse_records(format_records([session.record()]))
        match, setup = resumed(record, Setup("official", {}, 99), "pips")
        again = Session(setup, session.agent, record=match)
        assert again.setup == Setup(**{**vars(session.setup), "first": "lot"})
        assert again._state == session._state
        assert again._past == [state for state in session._past if state.dice], "all but the choice of the lot"
        assert again.record() == session.record()
        session = again


@pytest.mark.parametrize(("rules", "refused"), [("short", True), ("fnr", True), ("official", False)])
def test_where_the_lot_is_the_first_throw_it_is_no_double(rules: str, refused: bool) -> None:
    session = make(rules=rules, ask_dice=True, auto=False)
    assert ("no double (R6.1)" in said(typed(session, "6-6"), "error")) is refused
    assert ("no double (R6.1)" in said(typed(session, "dice 4-4"), "error")) is refused
    assert (session._state.dice is None) is refused
    session = make(rules=rules, ask_dice=True, auto=False)
    typed(session, "63", "24/18 24/21" if rules == "short" else "24/15", "44")
    assert session._state.turns[1].dice == (4, 4), "of the second throw nothing is asked"


def test_a_typed_roll_is_kept() -> None:
    session = make(ask_dice=True, auto=False)
    typed(session, "63", "24/15", "21", "21")
    assert session._state.on_roll == YOU
    assert go_on(session.record(), Setup("official", {}, 1))._state == session._state


def test_going_on_with_the_record_of_another_program() -> None:
    game = GameRecord("moscow", {"draw": "last_roll"}, (RecordedTurn((6, 3), "24/15"), RecordedTurn((5, 2), "24/17")))
    for first, on_roll in (("you", YOU), ("bot", BOT)):
        session = go_on(game, Setup("official", {}, 3, first=first))
        assert session.rules == game.rules
        assert (session._state.on_roll, len(session._state.turns)) == (on_roll, 2)
        assert "goes on, turn 3" in said(session.start())
    players = MatchRecord(("Ann", "Bob"), (GameRecord(first="Bob", second="Ann"),), 5.0, (1.0, 2.0))
    with pytest.raises(ValueError, match="the players are Ann and Bob; say who you are"):
        resumed(players, Setup("official", {}, 3), "pips")
    session = go_on(players, Setup("official", {}, 3, name="Bob"))
    assert (session._state.match.points, session._state.starter) == ((2.0, 1.0), YOU)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (GameRecord(turns=(RecordedTurn((6, 3), "24/18"),)), "24/18"),
        (GameRecord("short", turns=(RecordedTurn((6, 3), "24/18 13/10"),), offered=2), "doubling cube"),
        (GameRecord(ended="resigned", winner="first"), "the match is over"),
        (MatchRecord(("you", "x"), (GameRecord(first="you", second="x"),), tags={"seed": "-1"}), "the tag seed: -1"),
    ],
)  # fmt: skip
def test_records_that_cannot_be_gone_on_with(record: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        go_on(record, Setup("official", {}, 1))


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({"first": "me"}, "first='me' is not allowed; choose one of lot, you, bot"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**64}, "give 0 to"),
        ({"games": 0}, "games > 0"),
        ({"points": float("nan")}, "points=nan"),
        ({"name": ""}, "name=''"),
        ({"name": "a\nb"}, "give one line"),
        ({"name": "pips"}, "the opponent's name"),
    ],
)
def test_wrong_setups(setup: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**setup)
