"""Small positions, one for each option and corner of the rules, worked out by hand; both generators must agree.

Positions are written `mover | opponent` (see nardy_rl/rules/notation.py), results as the mover's side.
"""

import random
from typing import Any

import numpy as np
import pytest

from nardy_rl.rules.notation import format_play, format_position, parse_board, parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.reference import Turn, as_board, legal_afterstates_reference, legal_plays
from nardy_rl.rules.spec import CHECKERS, HEAD, OFFICIAL, PRESETS, make_rules
from tests.rules.positions import as_tuples, constructed_turn, random_rules


def boards_after(position: str, dice: str, preset: str = "short", **options: Any) -> set[str]:
    """The boards after all legal plays, which both generators must agree on."""
    rules = make_rules(preset, options)
    board = parse_position(position)
    roll = (int(dice[0]), int(dice[1]))
    boards = {play.board for play in legal_plays(board, roll, rules)}
    compiled = legal_afterstates(np.array([board], dtype=np.int8), np.array([roll]), rules).boards
    assert {as_tuples(row) for row in compiled} == boards
    return {format_position(row) for row in boards}


def after(position: str, dice: str, preset: str = "official", **options: Any) -> set[str]:
    """The mover's sides only: in long nardy the other never changes."""
    return {text.split(" | ")[0] for text in boards_after(position, dice, preset, **options)}


# --- the head (section 2) -------------------------------------------------------------------------------------------

START = "24:15 | 24:15"


def test_any_roll_lets_a_second_leave_when_the_first_is_stopped() -> None:
    # 15 = 24 - 9 is closed: no order of 6-3 can be played by one checker.
    assert after("24:15 | 24:14 3:1", "63", "intro") == {"24:13 21:1 18:1"}
    assert after("24:15 | 24:14 3:1", "63", "official") == {"24:14 18:1"}


def test_any_roll_needs_both_orders_closed() -> None:
    # 18 is closed, but 24/21/15 is open.
    assert after("24:15 | 24:14 6:1", "63", "intro") == {"24:14 15:1"}
    # 18 and 21 are both closed: nothing can be played at all.
    assert after("24:15 | 24:13 6:1 9:1", "63", "intro") == {"24:15"}


def test_head_blocks_never_holds_on_two_different_dice() -> None:
    assert after("24:15 | 24:14 3:1", "63", head_rolls="any") == {"24:14 18:1"}


def test_always_on_any_roll() -> None:
    assert after(START, "63", head_rolls="any", head_condition="always") == {"24:14 15:1", "24:13 21:1 18:1"}


def test_head_blocks_wants_the_opposing_head_to_be_the_first_stop() -> None:
    # 4-4: stopped on 16 already, which is not the head (R2.2, S0's note is the same on 20).
    assert after("24:15 | 24:14 4:1", "44") == {"24:14 20:1"}
    assert after("24:15 | 24:14 4:1", "44", head_condition="any_block") == {"24:13 20:2"}


def test_an_empty_opposing_head_stops_nobody() -> None:
    assert after("24:15 | 23:15", "66") == {"24:14 6:1"}
    assert after("24:15 | 23:15", "66", head_condition="any_block") == {"24:14 6:1"}


def test_never_three_from_the_head() -> None:
    for play in legal_plays(parse_position(START), (1, 1), PRESETS["overview"]):
        assert play.board[0][HEAD] >= CHECKERS - 2


def test_head_limit_of_two() -> None:
    assert after(START, "63", head_limit=2) == {"24:14 15:1", "24:13 21:1 18:1"}


def test_one_leaves_the_head_in_a_turn() -> None:
    assert after("24:14 20:1 | 24:15", "21") == {
        "24:14 17:1",
        "24:13 22:1 19:1",
        "24:13 23:1 18:1",
        "24:13 21:1 20:1",
    }


def test_stuck_first_holds_the_second_back() -> None:
    # 2-2 with nothing in the way: the first is never stuck.
    options = {"head_rolls": (2,), "head_condition": "always"}
    assert after(START, "22", head_second="stuck_first", **options) == {"24:14 16:1"}
    assert after(START, "22", head_second="free", **options) == {
        "24:14 16:1",
        "24:13 22:1 18:1",
        "24:13 20:2",
    }


def test_stuck_first_on_two_different_dice() -> None:
    # After 24/18 the three is closed, after 24/21 the six is: the other die may bring the second.
    assert after("24:15 | 24:14 3:1", "63", "intro", head_second="stuck_first") == {"24:13 21:1 18:1"}


def test_the_exception_is_for_the_first_turn_only() -> None:
    assert after("off:1 24:14 | 24:15", "66", "club") == {"24:13 18:1 off:1"}


# --- the block of six (section 3) ---------------------------------------------------------------------------------

FILLING_A_GAP = "22:1 14:1 11:1 10:1 9:1 7:1 6:1 1:8 | {opponent}"


@pytest.mark.parametrize(
    ("opponent", "rule", "allowed"),
    [
        ("24:15", "none", True),
        ("24:15", "ahead", False),
        ("24:15", "forbid", False),
        ("24:14 1:1", "ahead", True),  # about to bear off: ahead, and in his home
        ("24:14 1:1", "home", True),
        ("24:14 9:1", "ahead", True),  # ahead of the block, but not in his home
        ("24:14 9:1", "home", False),
        ("24:14 9:1", "forbid", False),
        ("24:14 off:1", "ahead", True),
        ("24:14 off:1", "home", True),
        ("off:15", "forbid", True),  # nobody left to be blocked
    ],
)
def test_who_must_be_ahead(opponent: str, rule: str, allowed: bool) -> None:
    # 14/8 fills the gap of 11..6; the two is played at the back.
    position = FILLING_A_GAP.format(opponent=opponent)
    assert ("20:1 11:1 10:1 9:1 8:1 7:1 6:1 1:8" in after(position, "62", block_rule=rule)) == allowed


def test_a_run_across_the_opponents_seam_never_joins() -> None:
    # 15..10 are the opponent's 3, 2, 1 | 24, 23, 22.
    position = "18:1 14:1 13:1 12:1 11:1 10:1 1:9 | 16:15"
    assert "15:1 14:1 13:1 12:1 11:1 10:1 1:9" in after(position, "21", block_rule="forbid")


def test_a_run_across_the_movers_own_seam_is_one_block() -> None:
    # The mover's 22, 23, 24, 1, 2, 3 are the opponent's 10, 11, 12, 13, 14, 15.
    position = parse_board("""
        long nardy, x to play
        o off 0
        +-13-14-15-16-17-18-+-19-20-21-22-23-24-+
        |  .  .  .  .  .  . |  .  .  .  x  .  x |
        |  .  .  .  .  .  . |  .  .  .  .  .  x |
        |  .  .  .  .  .  . |  .  .  .  .  .  x |
        |  .  .  .  .  .  . |  .  .  .  .  .  x |
        |  .  .  .  .  .  . |  .  .  .  .  . x6 |
        |                   |                   |
        |o15  .  .  .  .  . |  .  .  .  .  .  . |
        |  o  .  .  .  .  . |  .  .  .  .  .  . |
        |  o  .  .  .  .  . |  .  .  .  .  .  x |
        |  o  .  .  .  .  . |  .  .  .  x  x  x |
        |  o  .  .  .  .  . |  .  .  x  x  x  x |
        +-12-11-10--9--8--7-+--6--5--4--3--2--1-+
        x off 0
        """)
    run = (22, 23, 24, 1, 2, 3)
    for rule, completed in (("ahead", False), ("none", True)):
        rows = [play.board[0] for play in legal_plays(position, (1, 1), make_rules("official", {"block_rule": rule}))]
        assert any(all(row[point] for point in run) for row in rows) == completed


def test_a_block_that_stands_already_must_be_broken() -> None:
    # No play ever makes this position; if it is set up, R3 is judged as it stands.
    assert after("6:3 5:3 4:3 3:2 2:2 1:2 | 24:15", "66") == {"6:3 5:3 4:3 3:2 2:2 1:2"}
    assert after("6:1 5:5 4:3 3:2 2:2 1:2 | 24:15", "65") == {
        "5:4 4:3 3:2 2:2 1:2 off:2",
        "5:4 4:3 3:2 2:2 1:3 off:1",
    }


def test_in_passing() -> None:
    # 14/8 fills the gap of 11..6, 8/6 opens it again; 14/12/6 avoids it but 12 is closed.
    position = "14:1 11:1 10:1 9:1 7:1 6:1 1:9 | {opponent}"
    result = "11:1 10:1 9:1 7:1 6:2 1:9"
    closed = position.format(opponent="24:15")
    assert result not in after(closed, "62")
    assert result in after(closed, "62", block_transit="allow")
    # With the opponent off his head the other order is open, and the same result legal.
    assert result in after(position.format(opponent="20:15"), "62")


def test_allow_runs_through_what_forbid_may_not_touch() -> None:
    # 9/3 completes the home block; the next six opens it again.
    position = "9:1 6:2 5:3 4:3 2:3 1:3 | 24:15"
    assert after(position, "66", block_transit="allow") == {"5:2 4:3 3:1 2:3 1:3 off:3"}
    assert after(position, "66") == {"9:1 6:2 5:3 4:3 2:3 1:3"}


# --- whole turns (R1.3, R4.4) ---------------------------------------------------------------------------------------


def test_the_larger_die_or_either() -> None:
    position = "22:1 1:14 | 24:14 23:1"  # 22/16 or 22/17, then 11 is closed
    assert after(position, "65") == {"16:1 1:14"}
    assert after(position, "65", must_play="greedy") == {"16:1 1:14", "17:1 1:14"}


def test_the_smaller_die_if_the_larger_cannot_be_played() -> None:
    position = "22:1 1:14 | 24:13 4:1 23:1"  # 16 and 11 closed
    assert after(position, "65") == {"17:1 1:14"}
    assert after(position, "65", must_play="greedy") == {"17:1 1:14"}


def test_greedy_may_lose_a_die_by_the_order() -> None:
    # Closed: 15, 12, 11, 6. After 23/18 no three is left; 14/9 and 23/20 play both dice.
    position = "23:1 14:1 1:13 | 24:12 23:1 18:1 3:1"
    assert after(position, "53") == {"20:1 9:1 1:13"}
    assert after(position, "53", must_play="greedy") == {"20:1 9:1 1:13", "18:1 14:1 1:13"}


def test_greedy_does_not_stop_while_a_step_is_possible() -> None:
    for play in legal_plays(parse_position("24:13 18:2 | 24:15"), (1, 1), PRESETS["online"]):
        assert len(play.steps) == 4


def test_the_last_checker_ends_the_game_by_either_die() -> None:
    assert after("2:1 off:14 | 1:15", "61") == {"off:15"}
    (play,) = legal_plays(parse_position("2:1 off:14 | 1:15"), (1, 6), OFFICIAL)
    assert format_play(play.steps) == "2/off"


def test_a_player_who_has_borne_off_all_passes() -> None:
    assert after("off:15 | 1:15", "61") == {"off:15"}


# --- bearing off (section 4) --------------------------------------------------------------------------------------


def test_exact_first_only_when_bearing_off_is_open() -> None:
    position = "7:1 3:1 1:13 | 24:15"
    taken_off = {"6:1 1:13 off:1", "4:1 3:1 1:12 off:1"}
    assert after(position, "31") == taken_off | {"4:1 2:1 1:13", "3:2 1:13"}
    # 3/2 comes while the seven is still outside, so the one is free; after 7/4 or 7/6 the other die must bear off.
    assert after(position, "31", bear_off_choice="exact_first") == taken_off | {"4:1 2:1 1:13"}


def test_leftmost_only_when_nothing_else_has_that_die() -> None:
    # 6/4 is closed, but another checker always has the two.
    position = "6:1 3:1 off:13 | 16:1 1:14"
    expected = {"5:1 1:1 off:13", "3:2 off:13", "6:1 off:14"}
    assert after(position, "21") == expected
    assert after(position, "21", bear_off_blocked="leftmost") == expected


def test_leftmost_takes_the_highest_even_above_the_die() -> None:
    # 6/5 and 4/3 are closed for the one and 1 is empty: the six goes off by a one, then the four.
    position = "6:1 4:1 off:13 | 1:13 17:1 15:1"
    assert after(position, "11") == {"6:1 4:1 off:13"}
    assert after(position, "11", bear_off_blocked="leftmost") == {"off:15"}


def test_a_larger_die_only_from_the_highest_point() -> None:
    # The three may not take the two while the four stands: 4/off 2/off, or 4/1 2/off.
    assert after("4:1 2:1 off:13 | 1:15", "53") == {"off:15", "1:1 off:14"}
    assert after("5:1 2:2 off:12 | 1:15", "42") == {"2:1 1:1 off:13", "2:2 off:13"}


# --- short nardy (section 8) --------------------------------------------------------------------------------------

SHORT_START = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"


def test_the_bar_enters_first() -> None:
    # Two on the bar, 5-3: 20 (opponent's 5) is closed, so one enters by the three and the five is lost.
    assert boards_after("bar:2 6:13 | 24:13 5:2", "53") == {"bar:1 22:1 6:13 | 24:13 5:2"}


def test_a_closed_home_keeps_everyone_on_the_bar() -> None:
    position = "bar:1 6:14 | 24:3 6:2 5:2 4:2 3:2 2:2 1:2"
    assert boards_after(position, "64") == {position}


def test_a_blot_is_hit_and_two_are_not() -> None:
    # 13/8 hits the blot on 8 (the opponent's 17); 13/9 is closed by two on 9 (his 16).
    assert boards_after("13:1 1:14 | 17:1 16:2 7:12", "54") == {"4:1 1:14 | bar:1 16:2 7:12"}


def test_two_hits_in_one_turn() -> None:
    position = "13:1 1:14 | 17:1 21:1 7:13"  # blots on 8 and 4
    assert boards_after(position, "54") == {
        "4:1 1:14 | bar:2 7:13",
        "4:1 1:14 | bar:1 17:1 7:13",  # 13/9/4 leaves the blot on 8 alone
    }


def test_an_opponent_on_the_bar_does_not_hold_up_bearing_off() -> None:
    assert boards_after("6:1 1:1 off:13 | bar:2 7:13", "61") == {"off:15 | bar:2 7:13", "1:1 off:14 | bar:2 7:13"}


def test_no_head_and_no_block_in_short_nardy() -> None:
    assert any(board.startswith("23:2 ") for board in boards_after(SHORT_START, "11"))
    six = "9:3 8:3 7:2 6:2 5:2 4:2 3:1 | 24:15"
    assert six in boards_after("9:5 8:2 7:2 6:2 5:2 4:2 | 24:15", "61")


# --- how plays are shown --------------------------------------------------------------------------------------------


def test_the_furthest_checker_comes_first_by_the_higher_die() -> None:
    (play,) = legal_plays(parse_position(START), (3, 6), OFFICIAL)
    assert format_play(play.steps) == "24/18 18/15"
    plays = [format_play(play.steps) for play in legal_plays(parse_position(SHORT_START), (3, 1), PRESETS["short"])]
    assert "8/5 6/5" in plays
    assert plays[0] == "24/21 24/23"
    assert len(plays) == len(set(plays))


@pytest.mark.parametrize("seed", range(300))
def test_the_steps_of_a_play_are_legal_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    rules = random_rules(rng, "short" if seed % 5 == 0 else "long")
    turn = constructed_turn(rng, rules)
    plays = legal_plays(turn.board, turn.dice, rules)
    keys = [play.board for play in plays]
    assert len(set(keys)) == len(keys)
    for play in plays:
        assert _reaches(Turn(turn.board, turn.dice, rules), play.steps, play.board)


def _reaches(turn: Turn, steps: Any, board: Any) -> bool:
    """Some use of the dice makes exactly these steps and ends on this board."""
    nodes = list(next(iter(turn.layers())))
    for step in steps:
        nodes = [child for node in nodes for made, child in turn.children(node) if made == step]
    return any((node.position.mover, node.position.opponent) == board for node in nodes)


# --- the edge ---------------------------------------------------------------------------------------------------------


def test_arrays_and_tuples_are_both_boards() -> None:
    board = parse_position(START)
    assert legal_plays(np.array(board, dtype=np.int8), np.array([6, 3]), OFFICIAL) == legal_plays(
        board, (3, 6), OFFICIAL
    )
    assert all(isinstance(count, int) for row in as_board(np.array(board)) for count in row)


@pytest.mark.parametrize("dice", [(0, 1), (7, 1), (1,), (1, 2, 3)])
def test_bad_dice(dice: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two dice"):
        legal_plays(parse_position(START), dice, OFFICIAL)


def test_bad_boards() -> None:
    with pytest.raises(ValueError, match="shape"):
        legal_plays([[0] * 26], (1, 2), OFFICIAL)
    negative = np.array(parse_position(START))
    negative[0, 5] = -1
    with pytest.raises(ValueError, match="negative"):
        legal_plays(negative, (1, 2), OFFICIAL)
    with pytest.raises(ValueError, match="as many"):
        legal_afterstates_reference([parse_position(START)], [], OFFICIAL)
