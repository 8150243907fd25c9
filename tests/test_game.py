"""The flow of games and matches: who starts, with which dice, and how it ends (R5.4, R6)."""

import numpy as np
import pytest

from nardy_rl.game import apply, lot, new_games, new_match, opening_lot, roll
from nardy_rl.rules import dice
from nardy_rl.rules.board import flip
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import PRESETS, Rules, make_rules

OFFICIAL = PRESETS["official"]


def random_games(rules: Rules, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcome and equity from the first seat's view, and turns, of games by random play."""
    games = new_games(np.arange(n), rules)
    outcome, equity, turns = np.full(n, -1), np.zeros(n), np.zeros(n, int)
    while len(games):
        after = legal_afterstates(games.boards, roll(games, seed, rules), rules)
        drawn = dice.bits(seed, dice.SAMPLE, games.stream, games.turn) % after.counts.astype(np.uint64)
        first_seat = games.moved_first
        moved, ended, points = apply(games, after.boards[after.offsets[:-1] + drawn.astype(np.int64)], rules)
        assert (moved.moved_first == ~first_seat).all()
        done = ended >= 0
        outcome[games.stream[done]] = ended[done]
        equity[games.stream[done]] = np.where(first_seat, points, -points)[done]
        turns[games.stream[done]] = moved.turn[done]
        games = moved.take(~done)
    return outcome, equity, turns


def test_apply_passes_the_turn() -> None:
    games = new_games([4, 7], OFFICIAL)
    after = legal_afterstates(games.boards, [[6, 4], [1, 2]], OFFICIAL)
    moved, outcome, equity = apply(games, after.boards, OFFICIAL)
    np.testing.assert_array_equal(moved.boards, flip(after.boards))
    assert moved.turn.tolist() == [1, 1]
    assert moved.stream.tolist() == [4, 7]
    assert moved.moved_first.tolist() == [False, False]
    assert (outcome.tolist(), equity.tolist()) == ([-1, -1], [0.0, 0.0])


def test_games_by_random_play_end_as_they_may() -> None:
    outcome, equity, turns = random_games(OFFICIAL, 2_000, 3)
    assert set(outcome) == {0, 1, 2, 3, 4}, "losses too: the second player may fail in his last throw"
    assert set(np.abs(equity)) == {0.0, 1.0, 2.0}
    # R5.4: the first seat wins only after the second's last throw, so such games have an even number of turns
    assert (turns[equity > 0] % 2 == 0).all()
    assert ((equity == 0) == (outcome == 2)).all()
    assert (turns[outcome == 2] % 2 == 0).all()

    outcome, equity, turns = random_games(PRESETS["club"], 500, 3)
    assert set(outcome) <= {3, 4}, "without the last throw the last mover has won"
    assert ((turns % 2 == 1) == (equity > 0)).all()


def test_games_do_not_depend_on_their_batch() -> None:
    together = random_games(OFFICIAL, 12, 8)
    games = new_games([9], OFFICIAL)
    turn = 0
    while True:
        after = legal_afterstates(games.boards, roll(games, 8, OFFICIAL), OFFICIAL)
        drawn = int(dice.bits(8, dice.SAMPLE, [9], [turn])[0] % np.uint64(len(after.boards)))
        games, outcome, _ = apply(games, after.boards[[drawn]], OFFICIAL)
        turn += 1
        if outcome[0] >= 0:
            break
    assert (outcome[0], turn) == (together[0][9], together[2][9])


def test_opening_rolls() -> None:
    games = new_games(np.arange(5_000), OFFICIAL)
    lots = opening_lot(1, games.stream)
    assert (lots[:, 0] > lots[:, 1]).all(), "the higher die starts and ties roll again: never a double"
    assert len({tuple(pair) for pair in lots.tolist()}) == 15
    fresh = roll(games, 1, OFFICIAL)
    assert (fresh[:, 0] == fresh[:, 1]).mean() == pytest.approx(1 / 6, abs=0.02)
    assert (roll(games, 1, PRESETS["fnr"]) == lots).all()
    assert (roll(games, 1, PRESETS["club"]) == fresh).all()
    assert (roll(games, 1, PRESETS["club"], play_lot=True) == lots).all()
    assert (roll(games, 1, OFFICIAL, play_lot=True) == fresh).all(), "only `choice` leaves it to the starter"
    later = apply(games, games.boards, OFFICIAL)[0]
    assert (roll(later, 1, PRESETS["fnr"]) == roll(later, 1, OFFICIAL)).all()


def test_match_alternates() -> None:
    match = new_match(OFFICIAL, seed=0, games=3)
    first = match.starter
    match = match.after_game(winner=first, points=2)
    assert (match.starter, match.played, match.over) == (1 - first, 1, False)
    match = match.after_game(winner=None, points=0)
    assert match.starter == first
    assert match.points[first] == 2.5, "a draw is half a point to both"
    match = match.after_game(winner=1 - first, points=1)
    assert match.over
    assert match.points[1 - first] == 1.5
    with pytest.raises(ValueError, match="the match is over"):
        match.after_game(0, 1)


def test_match_winner_starts() -> None:
    match = new_match(PRESETS["moscow"], seed=0, games=9)
    for winner in (1, 1, 0, 1, 0, 0):
        match = match.after_game(winner, 1)
        assert match.starter == winner


def test_match_by_lot() -> None:
    rules = make_rules("official", {"next_game": "lot"})
    match = new_match(rules, seed=5, games=400)
    starters = []
    for _ in range(400):
        starters.append(match.starter)
        match = match.after_game(0, 1)
    assert starters == [lot(5, game) for game in range(400)]
    assert 150 < sum(starters) < 250


def test_match_to_a_number_of_points() -> None:
    match = new_match(PRESETS["casual"], seed=0, length=31)
    match = match.after_game(1, 30)
    assert not match.over
    match = match.after_game(1, 6)
    assert match.over
    assert match.points == (0.0, 36.0)


@pytest.mark.parametrize("arguments", [{}, {"length": 5, "games": 3}, {"length": 0}, {"games": 0}, {"games": -1}])
def test_match_wants_one_length(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="give either length > 0 or games > 0"):
        new_match(OFFICIAL, 0, **arguments)


def test_no_such_player() -> None:
    with pytest.raises(ValueError, match="winner=2 is not allowed"):
        new_match(OFFICIAL, 0, games=1).after_game(2, 1)
