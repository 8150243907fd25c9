"""Whole games and counts of positions, written down once: any change of the rules or of the text formats shows here."""

import json
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.records.record import GameRecord, replay
from nardy_rl.records.text import format_records, parse_records
from nardy_rl.rules.board import flip, new_boards
from nardy_rl.rules.dice import ROLLS, roll_dice
from nardy_rl.rules.notation import format_play
from nardy_rl.rules.perft import next_boards, perft, unique_boards
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.reference import legal_afterstates_reference, legal_plays
from nardy_rl.rules.spec import CHECKERS, OFF, PRESETS, Rules
from tests.rules.positions import as_tuples
from tests.rules.regenerate import DEPTHS, GAMES, GOLDEN, PERFT, random_game

RECORDS = sorted(GOLDEN.glob("*.txt"))
COUNTS: dict[str, list[int]] = json.loads(PERFT.read_text(encoding="utf-8"))["counts"]


def only_game(text: str) -> GameRecord:
    (record,) = parse_records(text)
    assert isinstance(record, GameRecord)
    return record


def test_every_preset_has_a_game_and_counts() -> None:
    assert {path.stem for path in RECORDS} == set(GAMES)
    assert {preset for preset, _ in GAMES.values()} == set(PRESETS)
    assert {preset: len(counts) for preset, counts in COUNTS.items()} == DEPTHS


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_game_replays_through_the_reference(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    record = only_game(text)
    assert format_records([record]) == text
    seed = int(record.tags["seed"])
    for number, (turn, played) in enumerate(zip(record.turns, replay(record).turns, strict=True)):
        assert turn.dice == tuple(roll_dice(seed, 0, number))
        assert format_play(played.play.steps) == turn.play


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_game_replays_through_the_kernel(path: Path) -> None:
    record = only_game(path.read_text(encoding="utf-8"))
    replayed = replay(record).turns
    boards = np.array([turn.board for turn in replayed], dtype=np.int8)
    dice = np.array([turn.dice for turn in replayed], dtype=np.int8)
    after = legal_afterstates(boards, dice, record.rules)
    for i, turn in enumerate(replayed):
        found = {as_tuples(board) for board in after.boards[after.offsets[i] : after.offsets[i + 1]]}
        assert turn.play.board in found
        assert found == {play.board for play in legal_plays(turn.board, turn.dice, record.rules)}


@pytest.mark.parametrize("name", GAMES)
def test_game_is_what_its_seed_makes(name: str) -> None:
    text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert format_records([random_game(*GAMES[name])]) == text


def test_the_games_have_their_endings() -> None:
    records = {path.stem: only_game(path.read_text(encoding="utf-8")) for path in RECORDS}
    assert records["official-draw"].winner == "none"
    last_throw = records["official-last-throw"]
    assert last_throw.winner == "first"
    assert len(last_throw.turns) % 2 == 0, "the second player had one more throw (R5.4)"


@pytest.mark.parametrize("preset", PRESETS)
def test_perft_of_the_kernel(preset: str) -> None:
    assert perft(PRESETS[preset], DEPTHS[preset]) == COUNTS[preset]


def reference_next_boards(boards: np.ndarray, rules: Rules) -> np.ndarray:
    """`perft.next_boards` by the reference."""
    going_on = boards[(boards[:, :, OFF] < CHECKERS).all(axis=1)]
    found = {
        after[::-1]
        for board in going_on.tolist()
        for afterstates in legal_afterstates_reference([board] * len(ROLLS), ROLLS.tolist(), rules)
        for after in afterstates
    }
    return np.array(sorted(found), dtype=np.int8)


@pytest.mark.parametrize("preset", PRESETS)
def test_perft_of_the_reference(preset: str) -> None:
    rules = PRESETS[preset]
    boards = new_boards(1, rules)
    for count in COUNTS[preset][: 2 if preset == "short" else 3]:
        boards = reference_next_boards(boards, rules)
        assert len(boards) == count


def test_next_boards_are_seen_by_the_next_player() -> None:
    rules = PRESETS["official"]
    start = new_boards(1, rules)
    boards = next_boards(start, rules)
    assert boards.dtype == np.int8
    assert (boards[:, 0] == start[0, 1]).all()
    assert (flip(boards)[:, 0] != start[0, 0]).any(axis=1).all()


def test_unique_boards_tells_rows_apart() -> None:
    boards = new_boards(3, PRESETS["short"])
    boards[1, 0, 6] -= 1
    boards[1, 0, 5] += 1
    assert len(unique_boards(boards)) == 2
    assert len(unique_boards(boards[:0])) == 0


def test_games_that_are_over_go_no_further() -> None:
    rules = PRESETS["official"]
    over = np.zeros((1, 2, 26), dtype=np.int8)
    over[0, 1, OFF] = CHECKERS
    over[0, 0, 1] = CHECKERS
    assert len(next_boards(over, rules)) == 0
