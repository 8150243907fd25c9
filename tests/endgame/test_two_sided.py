"""The two-sided table against fractions, and against itself without rounding."""

import itertools

import numpy as np
import pytest

from nardy_rl.endgame import two_sided
from nardy_rl.endgame.positions import HomePositions
from nardy_rl.endgame.tables import rules_key
from nardy_rl.rules.spec import Rules, make_rules
from tests.endgame.brute import exact_equity

CASES = {
    "official": (make_rules("official"), 2, 6),
    "no draw": (make_rules("moscow"), 2, 6),
    "exact_first, leftmost, greedy": (make_rules("online"), 2, 6),
    "greedy with the last throw": (make_rules("official", {"must_play": "greedy"}), 2, 4),
    "exact_first": (make_rules("club", {"bear_off_choice": "exact_first"}), 2, 5),
    "mars": (make_rules("club"), 15, 1),
    "mars judged after the last throw": (make_rules("official"), 15, 1),
    "mars judged before it": (make_rules("official", {"last_roll_mars": "before"}), 15, 1),
    "home mars counts three": (make_rules("overview"), 15, 1),
    "by checkers left": (make_rules("casual"), 3, 3),
    "short": (make_rules("short"), 15, 1),
}


def everything(rules: Rules, positions: HomePositions) -> dict[tuple[int, int, int], float]:
    """Exact equity of every (seat, opponent, own)."""
    rows = [tuple(row) for row in positions.rows.tolist()]
    pairs = itertools.product(range(two_sided.seats(rules)), range(1, len(rows)), range(1, len(rows)))
    return {(seat, b, a): float(exact_equity((rows[a], rows[b]), seat == 0, rules)) for seat, b, a in pairs}


@pytest.mark.parametrize("case", CASES)
def test_table_equals_the_fractions(case: str) -> None:
    rules, men, points = CASES[case]
    positions = HomePositions(men, points)
    exact = everything(rules, positions)
    index = tuple(np.array(list(exact)).T)
    expected = np.array(list(exact.values()))
    unrounded = two_sided.build(positions, rules, dtype=np.float64)
    np.testing.assert_allclose(unrounded[index], expected, rtol=0, atol=1e-12)
    scale = two_sided.scale(positions, rules)
    rounded = two_sided.build(positions, rules)
    assert rounded.dtype == np.int16
    assert np.abs(rounded[index] / scale - expected).max() <= 1.5 / scale


@pytest.mark.parametrize(
    ("option", "value", "differs"),
    [
        ("bear_off_choice", "exact_first", True),
        ("draw", "last_roll", True),
        ("must_play", "greedy", False),  # at home a die can always be played
        ("bear_off_blocked", "leftmost", False),
    ],
)
def test_which_options_matter(option: str, value: str, differs: bool) -> None:
    """The key of a table holds those options that change an equity, and no others."""
    changed = make_rules("club", {option: value})
    tables = [two_sided.build(HomePositions(4), rules, dtype=np.float64)[-1] for rules in (make_rules("club"), changed)]
    assert np.allclose(*tables, rtol=0, atol=1e-12) != differs
    assert (rules_key(changed, 4) != rules_key(make_rules("club"), 4)) == differs


@pytest.mark.parametrize("preset", ["official", "moscow"])
def test_any_number_of_threads_gives_the_same_bytes(preset: str) -> None:
    positions = HomePositions(6)
    one, three = (two_sided.build(positions, make_rules(preset), threads=threads) for threads in (1, 3))
    assert one.tobytes() == three.tobytes()


@pytest.mark.parametrize(("preset", "men", "points"), [("moscow", 7, 6), ("official", 6, 6), ("moscow", 15, 3)])
def test_rounding_stays_small(preset: str, men: int, points: int) -> None:
    positions, rules = HomePositions(men, points), make_rules(preset)
    scale = two_sided.scale(positions, rules)
    exact = two_sided.build(positions, rules, dtype=np.float64)
    error = two_sided.build(positions, rules) / scale - exact
    assert np.abs(error).max() < 3 / scale
    assert abs(error.mean()) < 0.2 / scale


@pytest.mark.parametrize("preset", ["official", "moscow"])
def test_equities_are_those_of_a_race(preset: str) -> None:
    """Being on roll is no drawback, fewer pips on one checker are no worse, and nobody gets more than there is."""
    positions, rules = HomePositions(15, 2), make_rules(preset)
    table = two_sided.build(positions, rules, dtype=np.float64)[:, 1:, 1:]
    other = table[::-1].transpose(0, 2, 1)
    assert (table + other >= -1e-12).all()
    assert np.abs(table).max() <= 2.0
    most = positions.counts[1:].sum(axis=1) < 15
    assert np.abs(table[:, most][:, :, most]).max() <= 1.0
    number = positions.numbers_of
    rows = positions.rows[1:]
    nearer = rows.copy()
    movable = rows[:, 2] > 0
    nearer[movable, 2] -= 1
    nearer[movable, 1] += 1
    assert (table[:, :, number(nearer[movable]) - 1] >= table[:, :, movable] - 1e-12).all()


def test_work_is_reported_to_the_end() -> None:
    shares: list[float] = []
    two_sided.build(HomePositions(4), make_rules("moscow"), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
