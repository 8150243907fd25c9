"""Steps of a turn: what can be clicked together is exactly what is legal."""

import pytest

from nardy_rl.play.turn import HalfTurn
from nardy_rl.rules.notation import parse_play, parse_position
from nardy_rl.rules.reference import Board, legal_plays
from nardy_rl.rules.spec import OFF, make_rules

LONG = "24:9 18:2 14:1 11:1 7:1 2:1 | 24:10 20:2 16:1 11:1 4:1"
CASES = [
    ("24:15 | 24:15", "official", [(3, 3), (6, 6), (4, 4), (6, 5)]),
    (LONG, "official", [(6, 4), (2, 2), (1, 1)]),
    (LONG, "moscow", [(6, 5), (1, 1)]),
    (LONG, "online", [(6, 5), (3, 3)]),
    ("6:3 5:2 4:2 2:1 off:7 | 1:3 off:12", "official", [(6, 5), (5, 1), (6, 6), (4, 2)]),
    ("2:1 1:1 off:13 | 12:3 off:12", "official", [(6, 6), (2, 1), (6, 5)]),
    ("6:3 5:2 4:2 2:1 off:7 | 1:3 off:12", "online", [(6, 5), (5, 1), (2, 1)]),
    ("bar:2 24:1 13:5 8:2 6:5 | bar:1 24:1 13:6 8:3 6:4", "short", [(4, 1), (3, 3), (6, 6)]),
    ("24:2 13:5 8:3 6:5 | 24:1 22:1 18:1 13:4 8:3 6:5", "short", [(3, 1), (4, 2), (6, 6)]),
    ("24:15 | 23:1 22:1 21:1 20:1 19:1 18:10", "official", [(1, 2)]),
]


def everything(board: Board, dice: tuple[int, int], preset: str) -> set[Board]:
    """All boards that clicks can end a turn with."""
    half = HalfTurn(board, dice, make_rules(preset))
    found: set[Board] = set()
    seen = set()

    def walk() -> None:
        state = (half.board, half.dice_left)
        if state in seen:
            return
        seen.add(state)
        assert half.complete == (not half.sources())
        if half.complete:
            found.add(half.board)
        for source in half.sources():
            assert half.targets(source), "a source leads somewhere"
            for steps in half.targets(source).values():
                half.make(steps)
                walk()
                for _ in steps:
                    half.undo()
        assert (half.board, half.dice_left) == state, "undo takes back what was made"

    walk()
    return found


@pytest.mark.parametrize(("text", "preset", "rolls"), CASES)
def test_clicks_make_exactly_the_legal_plays(text: str, preset: str, rolls: list[tuple[int, int]]) -> None:
    board = parse_position(text)
    for dice in rolls:
        assert everything(board, dice, preset) == {play.board for play in legal_plays(board, dice, make_rules(preset))}


def test_a_step_that_would_waste_the_larger_die_is_not_offered() -> None:
    """R1.3: either die could be played, but not both; then the larger one must be."""
    half = HalfTurn(parse_position("20:1 1:14 | 7:1 8:1 9:1 10:1 24:11"), (2, 6), make_rules("official"))
    assert half.targets(20) == {14: parse_play("20/14")}
    with pytest.raises(ValueError, match="20/18"):
        half.make(parse_play("20/18"))


def test_a_pass_is_complete_at_once() -> None:
    half = HalfTurn(parse_position("24:15 | 7:1 8:1 9:1 10:1 11:1 6:10"), (6, 6), make_rules("official"))
    assert half.complete
    assert half.sources() == []
    half.undo()
    assert half.steps == []


def test_several_dice_at_once_unless_the_ways_differ() -> None:
    half = HalfTurn(parse_position(LONG), (6, 4), make_rules("official"))
    assert half.targets(24) == {18: parse_play("24/18"), 20: parse_play("24/20"), 14: parse_play("24/20 20/14")}
    both = HalfTurn(parse_position("24:2 13:5 8:3 6:5 | 18:1 24:14"), (6, 1), make_rules("short"))
    assert 1 not in both.targets(8), "8/7*/1 hits, 8/2/1 does not"
    assert {2, 7} <= set(both.targets(8))


def test_of_two_dice_that_bear_off_the_smaller_is_used() -> None:
    half = HalfTurn(parse_position("3:2 off:13 | 12:3 off:12"), (5, 4), make_rules("official"))
    half.make(half.targets(3)[OFF])
    assert half.dice_left == (5,)
