"""Replay: what the rules say of a record."""

import dataclasses
import random
from typing import Any

import pytest

from nardy_rl.game import apply, new_games, roll
from nardy_rl.records.record import (
    DROPPED,
    NOT_PLAYED,
    PLAYED,
    RESIGNED,
    UNFINISHED,
    GameRecord,
    MatchRecord,
    Outcome,
    RecordedTurn,
    RecordError,
    games_of,
    judge,
    replay,
    replay_match,
)
from nardy_rl.records.text import format_records, parse_records
from nardy_rl.rules.dice import SAMPLE, bits
from nardy_rl.rules.notation import format_play, format_position, parse_position
from nardy_rl.rules.plays import random_afterstates
from nardy_rl.rules.reference import Board, as_board, legal_plays
from nardy_rl.rules.spec import PRESETS
from tests.records.games import cut_game, random_endings, random_match, whole_game

TURNS = (RecordedTurn((6, 3), "24/18 18/15"), RecordedTurn((6, 6), "24/18(2)"), RecordedTurn((1, 1), "24/20"))
SHORT_TURNS = (RecordedTurn((3, 1), "8/5 6/5"), RecordedTurn((6, 4), "24/14"), RecordedTurn((3, 3), "8/5(2) 6/3(2)"))


def test_a_game_is_played_through() -> None:
    replayed = replay(GameRecord(turns=TURNS))
    assert [format_position(turn.board) for turn in replayed.turns] == [
        "24:15 | 24:15",
        "24:15 | 24:14 15:1",
        "24:14 15:1 | 24:13 18:2",
    ]
    assert format_position(replayed.board) == "24:13 18:2 | 24:13 20:1 15:1"
    assert replayed.outcome is None
    assert [turn.dice for turn in replayed.turns] == [(6, 3), (6, 6), (1, 1)]


@pytest.mark.parametrize("preset", PRESETS)
def test_whole_games_have_the_outcome_that_was_recorded(preset: str) -> None:
    game = whole_game(preset, 1)
    bare = dataclasses.replace(game, result=None, points=None)
    for record in (game, bare):
        replayed = replay(record)
        assert replayed.outcome == Outcome(str(game.winner), str(game.result), float(game.points or 0))
        assert len(replayed.turns) == len(game.turns)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("preset", PRESETS)
def test_games_played_by_the_kernel_are_replayed_to_the_same_end(preset: str, seed: int) -> None:
    """The compiled generator plays, `game.apply` judges; the record goes through text, the reference and `judge`."""
    rules = PRESETS[preset]
    games = new_games(7, rules)
    boards, turns, outcome, equity = [games.boards[0]], [], -1, 0.0
    while outcome < 0:
        dice = roll(games, seed, rules)
        after = random_afterstates(games.boards, dice, bits(seed, SAMPLE, games.stream, games.turn), rules)
        (play,) = (p for p in legal_plays(games.boards[0], dice[0], rules) if p.board == as_board(after[0]))
        turns.append(RecordedTurn((int(dice[0, 0]), int(dice[0, 1])), format_play(play.steps)))
        games, (outcome,), (equity,) = apply(games, after, rules)
        boards.append(games.boards[0])
    second = bool(len(turns) % 2 == 0)
    points = -equity if second else equity
    winner = "none" if points == 0 else "first" if points > 0 else "second"
    (record,) = parse_records(format_records([GameRecord(preset, turns=tuple(turns), winner=winner)]))
    replayed = replay(record)
    assert [turn.board for turn in replayed.turns] == [as_board(board) for board in boards[:-1]]
    assert replayed.board == as_board(boards[-1])
    assert replayed.outcome.winner == winner
    assert replayed.outcome.points == (rules.draw_points if winner == "none" else abs(points))


def test_an_illegal_play_is_refused_with_the_turn() -> None:
    turns = (TURNS[0], RecordedTurn((6, 6), "24/18", line=7))
    with pytest.raises(RecordError, match=r"line 7: turn 2: '24/18' is not legal: it plays 1 die, but 2") as error:
        replay(GameRecord(turns=turns))
    assert error.value.line == 7
    assert error.value.reason.startswith("turn 2: ")
    with pytest.raises(RecordError, match=r"^turn 1: cannot read 'x'"):
        replay(GameRecord(turns=(RecordedTurn((6, 3), "x"),)))


def test_the_outcome_is_checked() -> None:
    record = whole_game("official", 1)
    assert record.winner == "first"
    replace = dataclasses.replace
    with pytest.raises(RecordError, match=r"says winner: second, but after turn \d+ it is first"):
        replay(replace(record, winner="second"))
    with pytest.raises(RecordError, match="says points: 7"):
        replay(replace(record, points=7.0))
    with pytest.raises(RecordError, match="the game is not over"):
        replay(replace(record, turns=record.turns[:-2]))
    with pytest.raises(RecordError, match="the game is already over"):
        replay(replace(record, turns=(*record.turns, RecordedTurn((1, 2), "pass"))))
    with pytest.raises(RecordError, match="recorded as resigned, but after turn"):
        replay(replace(record, ended=RESIGNED))
    with pytest.raises(RecordError, match="recorded as unfinished, but after turn"):
        replay(GameRecord(turns=record.turns))
    assert replay(GameRecord(turns=record.turns[:5])).outcome is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"winner": "me"}, "winner='me' is not allowed"),
        ({"ended": "lost"}, "ended='lost' is not allowed"),
        ({"ended": PLAYED}, "a game that is played names its winner"),
        ({"ended": UNFINISHED, "winner": "first"}, "an unfinished game has no winner"),
        ({"points": 1.0}, "an unfinished game has no winner"),
        ({"ended": RESIGNED, "winner": "none"}, "a game that is resigned has a winner"),
        ({"ended": DROPPED, "winner": "first"}, "a last double that was not taken"),
        ({"winner": "first", "offered": 2}, "a last double that was not taken"),
        ({"winner": "first", "points": float("inf")}, "points=inf is not allowed"),
        ({"first": ""}, "name is not empty"),
        ({"turns": (RecordedTurn((6, 3), NOT_PLAYED), TURNS[1])}, "only the last turn"),
        ({"turns": (RecordedTurn((6, 3), NOT_PLAYED),), "winner": "first"}, "only the last turn"),
    ],
)
def test_what_cannot_be_a_game(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameRecord(**changes)


# --- resignations and the cube ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"winner": "first"}, Outcome("first", "oin", 1.0)),
        ({"winner": "second", "result": "mars"}, Outcome("second", "mars", 2.0)),
        ({"winner": "second", "points": 2.0}, Outcome("second", "mars", 2.0)),
        ({"winner": "first", "preset": "casual"}, Outcome("first", "oin", 15.0)),
        ({"winner": "first", "preset": "casual", "result": "mars"}, Outcome("first", "mars", 30.0)),
    ],
)
def test_a_resignation_concedes_a_result(changes: dict[str, Any], outcome: Outcome) -> None:
    assert replay(GameRecord(turns=TURNS, ended=RESIGNED, **changes)).outcome == outcome


def test_a_resignation_is_for_the_checkers_of_the_loser() -> None:
    whole = whole_game("casual", 1)  # `checkers`: the winner gets the loser's checkers
    for turns in (len(whole.turns) - 1, len(whole.turns) - 2):
        for winner in ("first", "second"):
            record = GameRecord("casual", turns=whole.turns[:turns], ended=RESIGNED, winner=winner)
            replayed = replay(record)
            loser = replayed.board[0] if (winner == "second") == (turns % 2 == 0) else replayed.board[1]
            assert replayed.outcome == Outcome(winner, "oin", 15.0 - loser[0])


def test_a_resignation_that_the_rules_do_not_know() -> None:
    with pytest.raises(RecordError, match="result koks for None points is none"):
        replay(GameRecord(turns=TURNS, ended=RESIGNED, winner="first", result="koks"))
    with pytest.raises(RecordError, match=r"result None for 3.0 points is none"):
        replay(GameRecord(turns=TURNS, ended=RESIGNED, winner="first", points=3.0))


def test_dice_may_be_thrown_and_not_played() -> None:
    turns = (*TURNS, RecordedTurn((5, 2), NOT_PLAYED))
    for record in (GameRecord(turns=turns), GameRecord(turns=turns, ended=RESIGNED, winner="first")):
        assert len(replay(record).turns) == 3
        assert replay(record).board == replay(GameRecord(turns=TURNS)).board


def doubled(index: int, value: int) -> tuple[RecordedTurn, ...]:
    return tuple(dataclasses.replace(turn, doubled=value) if i == index else turn for i, turn in enumerate(SHORT_TURNS))


def test_the_cube_multiplies() -> None:
    record = GameRecord("short", turns=doubled(1, 2), ended=RESIGNED, winner="first", result="gammon")
    replayed = replay(record)
    assert replayed.outcome == Outcome("first", "gammon", 4.0)
    assert [turn.cube for turn in replayed.turns] == [1, 2, 2]
    whole = whole_game("short", 1)
    turns = (whole.turns[0], dataclasses.replace(whole.turns[1], doubled=2), *whole.turns[2:])
    assert replay(dataclasses.replace(whole, turns=turns, points=None)).outcome.points == 2 * whole.points


def test_a_dropped_double_wins_for_who_doubled() -> None:
    record = GameRecord("short", turns=doubled(2, 2), ended=DROPPED, winner="second", offered=4)
    with pytest.raises(RecordError, match="only the player who took the last double may double"):
        replay(GameRecord("short", turns=doubled(1, 2), ended=DROPPED, winner="second", offered=4))
    assert replay(record).outcome == Outcome("second", DROPPED, 2.0)
    with pytest.raises(RecordError, match="says winner: first, but after turn 3 it is second"):
        replay(dataclasses.replace(record, winner="first"))
    assert replay(GameRecord("short", turns=doubled(2, 2), offered=4)).outcome is None


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (GameRecord("short", turns=doubled(1, 4)), r"turn 2: the cube is doubled to 2, not 4"),
        (GameRecord("short", turns=doubled(0, 2)), r"turn 1: nobody doubles before the first throw"),
        (GameRecord("short", offered=2), r"after turn 0: nobody doubles before the first throw"),
        (GameRecord(turns=TURNS, offered=2), r"after turn 3: the doubling cube belongs to short nardy"),
    ],
)
def test_doubles_that_are_not_allowed(record: GameRecord, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        replay(record)


def test_jacoby_counts_a_gammon_once_while_nobody_has_doubled() -> None:
    record = GameRecord("short", turns=SHORT_TURNS, ended=RESIGNED, winner="first", result="gammon")
    assert replay(record).outcome == Outcome("first", "gammon", 2.0)
    assert replay(dataclasses.replace(record, tags={"jacoby": "on"})).outcome == Outcome("first", "gammon", 1.0)
    turned = dataclasses.replace(record, turns=doubled(1, 2), tags={"jacoby": "on"})
    assert replay(turned).outcome == Outcome("first", "gammon", 4.0)


# --- matches --------------------------------------------------------------------------------------------------------


def game(first: str, winner: str, **changes: Any) -> GameRecord:
    names = ("A", "B") if first == "A" else ("B", "A")
    return GameRecord(turns=TURNS, first=names[0], second=names[1], ended=RESIGNED, winner=winner, **changes)


def test_a_match_keeps_the_score() -> None:
    games = (game("A", "first", result="mars"), game("B", "first"), game("B", "second"))
    match = MatchRecord(("A", "B"), games, length=3, start=(0, 1))
    replayed = replay_match(match)
    assert replayed.scores == ((0, 1), (2, 1), (2, 2), (3, 2))
    assert replayed.over
    assert [match.starter(i) for i in range(3)] == [0, 1, 1]
    assert not replay_match(dataclasses.replace(match, length=None)).over
    with pytest.raises(RecordError, match="game 2: the match is already over"):
        replay_match(dataclasses.replace(match, length=2))


def test_a_draw_gives_points_to_both() -> None:
    drawn = next(whole for seed in range(20) if (whole := whole_game("official", seed)).winner == "none")
    match = MatchRecord(("A", "B"), (dataclasses.replace(drawn, first="B", second="A"), game("A", "first")))
    assert replay_match(match).scores == ((0, 0), (0.5, 0.5), (1.5, 0.5))


def test_an_error_in_a_match_names_the_game() -> None:
    bad = dataclasses.replace(game("A", "first"), turns=(RecordedTurn((6, 3), "24/14", line=3), TURNS[0]))
    with pytest.raises(RecordError, match=r"line 3: game 2: turn 1: .*not legal"):
        replay_match(MatchRecord(("A", "B"), (game("A", "first"), bad)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"players": ("A", "A")}, "two players with different names"),
        ({"players": ("A", "C")}, "game 1 is not between 'A' and 'C'"),
        ({"games": ()}, "at least one game"),
        ({"length": 0}, "length=0 is not allowed"),
        ({"games": (game("A", "first"), dataclasses.replace(game("A", "first"), preset="club"))}, "other rules"),
        (
            {"games": (GameRecord(first="A", second="B"), game("A", "first"))},
            "game 1 is unfinished, but game 2 follows",
        ),
    ],
)
def test_what_cannot_be_a_match(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MatchRecord(**({"players": ("A", "B"), "games": (game("A", "first"),)} | changes))


@pytest.mark.parametrize("preset", ["official", "short"])
def test_random_matches_add_up(preset: str) -> None:
    rng = random.Random(1)
    for _ in range(5):
        match = random_match(rng, preset, random_endings(rng, preset))
        replayed = replay_match(match)
        for index, game in enumerate(match.games):
            won = [after - before for before, after in zip(*replayed.scores[index : index + 2], strict=True)]
            first = match.starter(index)
            winner = {"first": first, "second": 1 - first}.get(str(game.winner))
            assert won == [(game.points or 0) * (player == winner) for player in (0, 1)]
    assert list(games_of([match, cut_game(rng, preset, RESIGNED)]))[:-1] == list(match.games)


@pytest.mark.parametrize(
    ("position", "number", "preset", "expected"),
    [
        ("off:15 | 1:15", 1, "official", None),  # the second has one more throw (R5.4)
        ("off:15 | 1:15", 1, "club", Outcome("first", "mars", 2.0)),
        ("off:15 | 1:14 off:1", 2, "official", Outcome("second", "oin", 1.0)),
        ("1:14 off:1 | off:15", 2, "official", Outcome("first", "oin", 1.0)),
        ("off:15 | off:15", 2, "official", Outcome("none", "draw", 0.5)),
        ("1:15 | 1:15", 3, "official", None),
    ],
)
def test_judging(position: str, number: int, preset: str, expected: Outcome | None) -> None:
    after: Board = parse_position(position)
    assert judge(after, after, number, PRESETS[preset]) == expected
