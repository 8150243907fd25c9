"""Money play: Janowski's formulas by hand, Jacoby, beavers, and endings solved without them."""

import functools
import itertools

import numpy as np
import pytest

from nardy_rl.cube import money
from nardy_rl.cube.chances import efficiency
from nardy_rl.rules.board import flip
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import CHECKERS, OFF, PRESETS, SLOTS
from tests.cube.positions import known, owner, x

SHORT = PRESETS["short"]
WINS = np.linspace(0, 1, 2001)


def decide(win, whose, cube_efficiency, *, gammons=0.0, lost_gammons=None, **options):
    chances = known(win, gammons, lost_gammons)
    n = len(chances.win)
    return money.decide(chances, owner(whose, n), x(cube_efficiency, n), **options)


def from_to(decisions, action):
    """First and last winning chance for which an action is right."""
    right = WINS[[name == action for name in decisions.actions]]
    return right[0], right[-1]


@pytest.mark.parametrize(
    ("cube_efficiency", "take", "redouble"),
    [(0, 0.25, 0.5), (1, 0.2, 0.8), (2 / 3, 0.5 / (7 / 3), (5 / 3) / (7 / 3))],
)
def test_points_without_gammons(cube_efficiency, take, redouble):
    # Dead and live: 25% and 20% to take, 50% and 80% to redouble, as in every book on the cube (Janowski, 1993).
    assert money.take_point(1, 1, cube_efficiency) == pytest.approx(take)
    assert money.cash_point(1, 1, cube_efficiency) == pytest.approx(1 - take)
    assert money.redoubling_point(1, 1, cube_efficiency) == pytest.approx(redouble)


def test_points_with_gammons_by_hand():
    # W = 1.25, L = 1.1: dead 0.6 / 2.35, live 0.6 / 2.85; cash points 1 - 0.75 / 2.35, 2.1 / 2.85.
    assert money.take_point(1.25, 1.1, 0) == pytest.approx(0.255319, abs=1e-6)
    assert money.take_point(1.25, 1.1, 1) == pytest.approx(0.210526, abs=1e-6)
    assert money.cash_point(1.25, 1.1, 0) == pytest.approx(0.680851, abs=1e-6)
    assert money.cash_point(1.25, 1.1, 1) == pytest.approx(0.736842, abs=1e-6)


@pytest.mark.parametrize("cube_efficiency", [0.0, 0.4, 2 / 3, 0.9])
def test_decisions_turn_at_the_points(cube_efficiency):
    first, last = from_to(decide(WINS, "ours", cube_efficiency), "double, take")
    assert first == pytest.approx(float(money.redoubling_point(1, 1, cube_efficiency)), abs=1e-3)
    assert last == pytest.approx(float(money.cash_point(1, 1, cube_efficiency)), abs=1e-3)


def test_first_double_by_hand():
    # Centred: (2p - 1)(1 + 2x/3); after a double and a take: 2(p(2 + x/2) - 1 - x/2). At x = 2/3 equal at p = 11/16.
    first, last = from_to(decide(WINS, "centred", 2 / 3), "double, take")
    assert first == pytest.approx(11 / 16, abs=1e-3)
    assert last == pytest.approx(11 / 14, abs=1e-3)


def test_equities_by_hand():
    # W = 1.25, L = 1.1, p = 0.6. Dead: 0.6 * 2.35 - 1.1 = 0.31. Live, centred: from -1 at 0.210526 to +1 at 0.736842:
    # 0.48; ours: from -1.1 at 0 to +1 at 0.736842: 0.61; theirs: from -1 at 0.210526 to +1.25 at 1: 0.11.
    chances = known(0.6, 0.25, 0.1)
    for whose, live in (("centred", 0.48), ("ours", 0.61), ("theirs", 0.11)):
        for cube_efficiency in (0, 2 / 3, 1):
            equity = money.equities(chances, owner(whose), x(cube_efficiency))
            assert equity == pytest.approx(cube_efficiency * live + (1 - cube_efficiency) * 0.31)


def test_the_other_side_sees_the_negative():
    generator = np.random.default_rng(1)
    n = 500
    win, gammons, lost = generator.random((3, n))
    mine, theirs = known(win, gammons, lost), known(1 - win, lost, gammons)
    for whose, other in (("centred", "centred"), ("ours", "theirs")):
        for jacoby in (False, True):
            equity = money.equities(mine, owner(whose, n), x(0.7, n), jacoby)
            assert equity == pytest.approx(-money.equities(theirs, owner(other, n), x(0.7, n), jacoby))


def test_owning_the_cube_is_worth_something():
    middle = WINS[(WINS > 0.21) & (WINS < 0.79)]  # within the live take and cash points
    centred, ours, theirs = (decide(middle, whose, 2 / 3).no_double for whose in ("centred", "ours", "theirs"))
    assert (ours > centred).all()
    assert (centred > theirs).all()


def test_jacoby_leaves_nobody_too_good_to_double():
    plain = decide(WINS, "centred", 2 / 3, gammons=0.6, lost_gammons=0.1)
    jacoby = decide(WINS, "centred", 2 / 3, gammons=0.6, lost_gammons=0.1, jacoby=True)
    assert from_to(plain, "too good, pass")[1] == 1.0
    assert "too good, pass" not in jacoby.actions
    assert from_to(jacoby, "double, pass")[1] == 1.0
    # a gammon that does not count yet is a reason to double sooner
    assert from_to(jacoby, "double, take")[0] < from_to(plain, "double, take")[0]
    # once the cube is turned there is no Jacoby
    turned = (decide(WINS, "ours", 2 / 3, gammons=0.6, jacoby=jacoby) for jacoby in (False, True))
    assert len({decisions.no_double.tobytes() for decisions in turned}) == 1


def test_beaver_when_the_doubled_position_favours_the_taker():
    plain = decide(WINS, "centred", 2 / 3)
    beavers = decide(WINS, "centred", 2 / 3, beavers=True)
    worse = plain.double_take < 0
    assert (beavers.beaver == worse).all()
    assert beavers.double_take == pytest.approx(np.where(worse, 2.0, 1.0) * plain.double_take)
    # equal at 2(p(2 + x/2) - 1 - x/2) = 0: p = (4/3) / (7/3)
    assert from_to(beavers, "no double, beaver") == pytest.approx((0, 4 / 7), abs=1e-3)
    assert not plain.beaver.any()


def test_jacoby_can_make_a_double_right_that_is_beavered():
    # Nine gammons in ten wins, which do not count before the cube is turned: an underdog at single games doubles.
    decisions = decide(WINS, "centred", 0.0, gammons=0.9, lost_gammons=0.1, jacoby=True, beavers=True)
    # E(double) = 2(p * 3 - 1.1), single: 2p - 1; beavered 4(3p - 1.1): right from 12p - 4.4 = 2p - 1, p = 0.34
    assert from_to(decisions, "double, beaver") == pytest.approx((0.34, 1.1 / 3), abs=1e-3)


def test_an_opponents_cube_cannot_be_turned():
    decisions = decide(WINS, "theirs", 2 / 3)
    assert set(decisions.actions) == {"no cube"}
    assert (decisions.equity == decisions.no_double).all()


# --- endings solved without the formulas ------------------------------------------------------------------------------


def ending(mine, theirs):
    """A bear-off, checkers given by their points; nobody can lose a gammon."""
    board = np.zeros((2, SLOTS), dtype=np.int8)
    for row, points in zip(board, (mine, theirs), strict=True):
        np.add.at(row, list(points), 1)
        row[OFF] = CHECKERS - len(points)
    return board


@functools.cache
def plays(board):
    """Afterstates of each roll, seen by the opponent, as bytes; None where the mover is done."""
    start = np.frombuffer(board, dtype=np.int8).reshape(1, 2, SLOTS)
    after, offsets = legal_afterstates(np.repeat(start, len(ROLLS), axis=0), ROLLS, SHORT)
    return [
        [None if after[k, 0, OFF] == CHECKERS else flip(after[k : k + 1]).tobytes() for k in range(*ends)]
        for ends in itertools.pairwise(offsets)
    ]


@functools.cache
def exact(board, whose):
    """Equity per unit of the cube of the player on roll, both playing perfectly; `whose`: None = there is no cube."""
    undoubled = rolled(board, whose)
    if whose in (None, "theirs"):
        return undoubled
    return max(undoubled, min(2 * rolled(board, "theirs"), 1.0))


@functools.cache
def rolled(board, whose):
    """The same, if he rolls without doubling."""
    other = {None: None, "centred": "centred", "ours": "theirs", "theirs": "ours"}[whose]
    best = [max(1.0 if b is None else -exact(b, other) for b in after) for after in plays(board)]
    return float(np.dot(ROLL_WEIGHTS, best))


@pytest.mark.parametrize(
    ("mine", "chances", "action"),
    [
        ((4, 1), 29, "double, pass"),
        ((3, 2), 25, "double, take"),
        ((5, 2), 19, "double, take"),
        ((6, 1), 15, "no double, take"),
        ((4, 4), 11, "no double, take"),
    ],
)
def test_last_roll(mine, chances, action):
    # Both off in one roll in so many of 36 (a table in every book); the opponent is off next turn, so the cube is dead.
    board = ending(mine, (1,)).tobytes()
    win = (1 + exact(board, None)) / 2
    assert win == pytest.approx(chances / 36)
    assert rolled(board, "ours") == pytest.approx(rolled(board, None))
    decisions = decide(win, "ours", 0.0)
    assert decisions.no_double == pytest.approx(rolled(board, "ours"))
    assert decisions.double_take == pytest.approx(2 * rolled(board, "theirs"))
    assert decisions.actions == [action]


ENDINGS = [
    ((4, 3), (3, 3)), ((5, 4), (5, 2)), ((6, 5), (6, 1)), ((6, 6), (4, 4)), ((2, 2, 1), (6, 3)), ((5, 3, 1), (5, 5)),
    ((6, 6, 5), (6, 5, 5)), ((6, 5, 3), (6, 4, 4)), ((6, 6, 4), (6, 6, 1)), ((6, 6, 6), (6, 6, 2)),
]  # fmt: skip


def test_endings_solved_with_their_cube():
    errors, with_dead_cube, with_one_efficiency = [], [], []
    for mine, theirs in ENDINGS:
        board = ending(mine, theirs)
        chances = known((1 + exact(board.tobytes(), None)) / 2)
        dead = 2 * chances.win[0] - 1
        by_owner = {whose: rolled(board.tobytes(), whose) for whose in ("centred", "ours", "theirs")}
        assert by_owner["theirs"] <= dead + 1e-12, "a cube never costs its owner"
        assert dead <= by_owner["ours"] + 1e-12
        for whose, truth in by_owner.items():
            model, constant = (
                money.equities(chances, owner(whose), x)[0] for x in (efficiency(board[None]), np.array([0.6]))
            )
            errors.append(abs(model - truth))
            with_dead_cube.append(abs(dead - truth))
            with_one_efficiency.append(abs(constant - truth))
    assert np.mean(errors) < 0.03
    assert np.mean(errors) < np.mean(with_dead_cube) / 2
    assert np.mean(errors) < np.mean(with_one_efficiency) / 2
