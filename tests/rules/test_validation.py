"""The public edge says which game of the batch is wrong, and why; nothing else gets in."""

import dataclasses

import numpy as np
import pytest

from nardy_rl.rules.board import check_boards, check_dice, flip, new_boards, pip_count
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import CHOICES, OFFICIAL, PRESETS, Rules, make_rules, rules_as_dict, rules_from_dict

DICE = np.array([[6, 4]] * 3)


def batch(**changes: object) -> np.ndarray:
    """Three start boards; `changes` maps "side_slot" to a count in game 1."""
    boards = new_boards(3, OFFICIAL)
    for place, count in changes.items():
        side, slot = place.removeprefix("at_").split("_")
        boards[1, int(side), int(slot)] = count
    return boards


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"at_0_24": 14}, "game 1 of the batch: the mover has 14 checkers, not 15"),
        ({"at_0_24": 16}, "game 1 of the batch: the mover has 16 checkers, not 15"),
        ({"at_1_3": 1}, "game 1 of the batch: the opponent has 16 checkers, not 15"),
        ({"at_0_3": -1, "at_0_4": 1}, "game 1 of the batch: the mover has -1 checkers on slot 3"),
        ({"at_1_24": 14, "at_1_25": 1}, "game 1 of the batch: the opponent has a checker on the bar"),
        ({"at_0_24": 14, "at_0_12": 1}, r"game 1 of the batch: both sides hold the mover's point 12 .*opponent's 24"),
        ({"at_0_24": 0, "at_0_0": 15, "at_1_24": 0, "at_1_0": 15}, "game 1 of the batch: both sides have borne off"),
    ],
)
def test_impossible_boards(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        legal_afterstates(batch(**changes), DICE)
    with pytest.raises(ValueError, match=message):
        check_boards(batch(**changes), OFFICIAL)


def test_who_has_borne_off_everything_can_only_pass() -> None:
    boards = np.array([parse_position("off:15 | off:0 1:15")], dtype=np.int8)
    np.testing.assert_array_equal(legal_afterstates(boards, [[6, 4]]).boards, boards)


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        (np.zeros((3, 26), np.int8), r"shape \(N, 2, 26\), not \(3, 26\)"),
        (np.zeros((3, 2, 25), np.int8), r"not \(3, 2, 25\)"),
        (np.zeros((3, 2, 26)), "int8, not float64"),
        (np.zeros((3, 2, 26), np.int64), "int8, not int64"),
        ([[1, 2], [3]], "boards"),
        ("nonsense", "boards"),
        (None, "boards"),
    ],
)
def test_arrays_of_the_wrong_kind(boards: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        legal_afterstates(boards, DICE)


@pytest.mark.parametrize(
    ("dice", "message"),
    [
        ([[6, 4], [0, 1], [1, 1]], "game 1 of the batch: die 0 is not in 1..6"),
        ([[6, 4], [1, 1], [1, 7]], "game 2 of the batch: die 7 is not in 1..6"),
        ([[6, 4], [1, 1], [1, 257]], "game 2 of the batch: die 257 is not in 1..6"),
        ([[6, 4], [1, 1], [1, -255]], "game 2 of the batch: die -255 is not in 1..6"),
        ([[6, 4]], r"dice must have shape \(3, 2\)"),
        ([6, 4, 1], r"dice must have shape \(3, 2\)"),
        ([[6.0, 4.0]] * 3, "dice must be integers, not float64"),
        ([[True, True]] * 3, "dice must be integers, not bool"),
    ],
)
def test_impossible_dice(dice: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        legal_afterstates(batch(), dice)
    with pytest.raises(ValueError, match=message):
        check_dice(dice, 3)


def test_an_empty_batch() -> None:
    after = legal_afterstates(new_boards(0, OFFICIAL), np.zeros((0, 2), np.int64))
    assert after.boards.shape == (0, 2, 26)
    assert after.offsets.tolist() == [0]


def test_views_and_read_only_arrays() -> None:
    boards = new_boards(4, OFFICIAL)[::2]
    frozen = np.broadcast_to(boards[0], (2, 2, 26))
    dice = np.array([[4, 6], [3, 3]], dtype=np.int32)[:, ::-1]
    for given in (boards, frozen, flip(boards), np.asfortranarray(boards)):
        after = legal_afterstates(given, dice)
        assert after.counts.tolist() == [1, 2]


@pytest.mark.parametrize("option", sorted(CHOICES))
def test_words_that_are_no_option(option: str) -> None:
    with pytest.raises(ValueError, match=rf"{option}='nonsense' is not allowed; choose one of {CHOICES[option][0]}"):
        make_rules("official", {option: "nonsense"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hed_rolls": [3]}, "unknown rule option 'hed_rolls'; choose from geometry"),
        ({"head_rolls": [7]}, "head_rolls"),
        ({"head_rolls": [True]}, "head_rolls"),
        ({"head_rolls": "all"}, "give a tuple of doubles 1..6, or 'any'"),
        ({"head_rolls": 5}, "head_rolls"),
        ({"start": 5}, "start=5 is not allowed"),
        ({"start": [0] * 24 + [14, 0]}, "add up to 15"),
        ({"start": [0] * 24 + [14, 1]}, "bar"),
        ({"start": [15] + [0] * 25}, "borne off"),
        ({"start": [0] * 12 + [1] + [0] * 11 + [14, 0]}, "both sides would hold the point 12 | 24"),
        ({"head_limit": 0}, "head_limit=0 is not allowed; give 1..15"),
        ({"head_limit": True}, "head_limit=True"),
        ({"blot_limit": 1}, "blot_limit=1 does not fit"),
        ({"blot_limit": 0.0}, "blot_limit=0.0"),
        ({"draw_points": 2}, "draw_points=2 is not allowed; give a number from 0 to 1"),
        ({"draw_points": "half"}, "draw_points='half'"),
        ({"draw_points": float("nan")}, "draw_points=nan"),
        ({"geometry": "short"}, "blot_limit=0 does not fit"),
    ],
)
def test_options_that_are_not_allowed(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_rules("official", options)


def test_unknown_preset() -> None:
    with pytest.raises(ValueError, match="unknown rules 'fide'; choose one of official, club"):
        make_rules("fide")


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_rules_round_trip_through_plain_values(preset: str) -> None:
    rules = PRESETS[preset]
    assert rules_from_dict(rules_as_dict(rules)) == rules
    assert dataclasses.replace(rules) == rules
    assert hash(rules) == hash(dataclasses.replace(rules))


def test_presets_differ_as_the_table_says() -> None:
    """RULES.md section 7, once more by hand."""
    base = rules_as_dict(OFFICIAL)
    differences = {
        name: {key: value for key, value in rules_as_dict(rules).items() if value != base[key]}
        for name, rules in PRESETS.items()
    }
    always = {"head_condition": "always"}
    assert differences["official"] == {}
    assert differences["club"] == always | {"head_rolls": [3, 4, 5, 6], "opening_roll": "choice", "draw": "none"}
    assert differences["moscow"] == {
        "head_condition": "any_block", "block_transit": "allow", "next_game": "winner", "draw": "none",
    }  # fmt: skip
    assert differences["casual"] == always | {"head_rolls": [6], "scoring": "checkers", "draw": "none"}
    assert differences["overview"] == always | {
        "head_rolls": [1, 2, 3, 4, 5, 6], "scoring": "four_level", "draw": "none",
    }  # fmt: skip
    assert differences["online"] == {
        "head_rolls": [], "must_play": "greedy", "bear_off_choice": "exact_first", "bear_off_blocked": "leftmost",
        "draw": "none",
    }  # fmt: skip
    assert differences["intro"] == {"head_rolls": "any", "head_condition": "any_block", "draw": "none"}
    assert differences["fnr"] == always | {"opening_roll": "use", "draw": "none"}
    assert Rules() == OFFICIAL


def test_pips_and_flip() -> None:
    boards = np.array([parse_position("off:2 24:3 1:10 | off:0 24:14 20:1")], dtype=np.int8)
    assert pip_count(boards).tolist() == [[82, 356]]
    assert pip_count(flip(boards)).tolist() == [[356, 82]]
