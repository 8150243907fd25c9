"""GNU Backgammon itself reads what is written here, and the other way round: `make test-gnubg`."""

import base64
import dataclasses
import random
import re
from pathlib import Path

import pytest

from nardy_rl.records.mat import format_match, parse_match
from nardy_rl.records.record import (
    DROPPED,
    NOT_PLAYED,
    PLAYED,
    RESIGNED,
    UNFINISHED,
    GameRecord,
    MatchRecord,
    replay_match,
)
from nardy_rl.rules.reference import Board
from nardy_rl.rules.spec import BAR
from tests.records.games import ASCII_PLAYERS, DATA, cut_game, find_gnubg, gnubg, random_match

pytestmark = [pytest.mark.gnubg, pytest.mark.skipif(find_gnubg() is None, reason="gnubg is not installed")]


def position_id(board: Board) -> str:
    """GNU Backgammon's name of a position: a one for each checker, a zero after each point, the opponent first."""
    bits = "".join("1" * row[point] + "0" for row in (board[1], board[0]) for point in range(1, BAR + 1))
    data = int(bits.ljust(80, "0")[::-1], 2).to_bytes(10, "little")
    return base64.b64encode(data).decode().rstrip("=")


def test_position_ids(tmp_path: Path) -> None:
    assert "4HPwATDgc/ABMA" in gnubg(["new game", "show board"], tmp_path)  # what the manual says of the start
    start = MatchRecord(("A", "B"), (GameRecord("short", first="A", second="B"),))
    assert position_id(replay_match(start).games[0].board) == "4HPwATDgc/ABMA"


def imported(text: str, folder: Path) -> tuple[MatchRecord, str, str]:
    """What GNU Backgammon exports after importing a text, the ID of its last position, and all it said."""
    (folder / "ours.mat").write_text(text, encoding="utf-8")
    (folder / "theirs.mat").unlink(missing_ok=True)
    said = gnubg(["import mat ours.mat", "export match mat theirs.mat", "show board"], folder)
    shown = re.findall(r"Position ID: (\S+)", said)
    return parse_match((folder / "theirs.mat").read_text(encoding="utf-8")), shown[-1], said


def bare(match: MatchRecord) -> MatchRecord:
    """Without tags."""
    return dataclasses.replace(match, games=tuple(dataclasses.replace(game, tags={}) for game in match.games), tags={})


ENDINGS = (
    [PLAYED, PLAYED, UNFINISHED],
    [DROPPED, RESIGNED, DROPPED, UNFINISHED],
    [RESIGNED, DROPPED, PLAYED, RESIGNED],
)


@pytest.mark.parametrize("seed", range(12))
def test_gnubg_reads_what_we_write_and_we_what_it_writes(seed: int, tmp_path: Path) -> None:
    match = random_match(random.Random(seed), "short", ENDINGS[seed % len(ENDINGS)], ASCII_PLAYERS)
    match = dataclasses.replace(match, length=None if seed % 2 else 64.0)
    text = format_match(match)
    theirs, last, said = imported(text, tmp_path)
    assert "WARNING" not in said
    assert "nrecognised" not in said
    assert (theirs.players, theirs.length, theirs.start) == (match.players, match.length, match.start)
    for our_game, their_game in zip(bare(match).games, bare(theirs).games, strict=True):
        if our_game.turns[-1].play == NOT_PLAYED:  # GNU Backgammon plays what is thrown if there is no choice
            assert their_game.turns[-1].dice == our_game.turns[-1].dice
            assert their_game.turns[:-1] == our_game.turns[:-1]
            assert their_game == dataclasses.replace(our_game, turns=their_game.turns)
        else:
            assert their_game == our_game
    assert replay_match(theirs).scores == replay_match(match).scores
    if match.games[-1].turns[-1].play != NOT_PLAYED:
        assert last == position_id(replay_match(match).games[-1].board)


@pytest.mark.parametrize("turns", [1, 2, 7, 20, 40, 60])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_position_is_the_same(seed: int, turns: int, tmp_path: Path) -> None:
    game = dataclasses.replace(cut_game(random.Random(seed), "short", UNFINISHED, turns), first="A", second="B")
    match = MatchRecord(("A", "B"), (game,))
    _, last, _ = imported(format_match(match), tmp_path)
    assert last == position_id(replay_match(match).games[0].board)


def test_gnubg_reads_the_xg_file_as_we_do(tmp_path: Path) -> None:
    text = (DATA / "xg.mat").read_text(encoding="utf-8")
    theirs, last, _ = imported(text, tmp_path)
    match = parse_match(text)
    assert bare(theirs) == bare(match)
    assert last == position_id(replay_match(match).games[-1].board)


def test_a_match_that_gnubg_plays_against_itself_is_read(tmp_path: Path) -> None:
    players = [f"set player {player} {what}" for player in (0, 1) for what in ("gnubg", "chequer evaluation plies 0")]
    commands = ["set automatic game on", "set seed 5", "set rng mersenne", *players, "new match 5"]
    gnubg([*commands, "export match mat a.mat"], tmp_path)
    match = parse_match((tmp_path / "a.mat").read_text(encoding="utf-8"))
    replayed = replay_match(match)
    assert replayed.over
    assert len(match.games) >= 2
    theirs, _, _ = imported(format_match(match), tmp_path)
    assert bare(theirs) == bare(match)
