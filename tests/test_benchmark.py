"""The benchmark does the same work on every machine; its times are for people, its counts for tests."""

from benchmarks.speed import random_turns, self_play_boards
from nardy_rl.rules.spec import make_rules


def test_signature_of_random_play() -> None:
    assert random_turns(64, 1, make_rules("official")) == LONG_TURNS
    assert random_turns(32, 1, make_rules("short")) == SHORT_TURNS


def test_splitting_the_games_changes_nothing() -> None:
    rules = make_rules("official")
    assert random_turns(40, 1, rules) + random_turns(24, 1, rules, first=40) == LONG_TURNS


def test_boards_to_evaluate_come_from_real_play() -> None:
    boards, seats, after = self_play_boards("checkpoints/long-quick-v1", 2)
    assert boards.shape[1:] == (2, 26)
    assert len(seats) == len(boards)
    assert 10 < len(after.boards) / len(boards) < 40


LONG_TURNS = 6206
SHORT_TURNS = 3100
