"""Baselines: what each of them wants, and every term of the heuristic on a position made for it."""

from collections.abc import Mapping

import numpy as np
import pytest

from nardy_rl.agents.base import Decisions, choose, decide
from nardy_rl.agents.baselines import WEIGHTS, BearoffAgent, HeuristicAgent, PipsAgent, RandomAgent, Weights, evaluate
from nardy_rl.game import Games, apply, new_games, roll
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.board import check_boards, flip
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.spec import CHECKERS, HEAD, OFF, OFFICIAL, PRESETS, SLOTS

START = {HEAD: CHECKERS}


def position(mover: Mapping[int, int], opponent: Mapping[int, int] = START):
    """One board, int8 (1, 2, 26), from {point: checkers} of each side in its own numbering; the rest is off."""
    board = np.zeros((1, 2, SLOTS), dtype=np.int8)
    for side, points in enumerate((mover, opponent)):
        for point, checkers in points.items():
            board[0, side, point] = checkers
        board[0, side, OFF] += CHECKERS - board[0, side].sum()
    return check_boards(board, OFFICIAL)


def decisions_of(*afterstates) -> Decisions:
    """One roll that leads to the given boards; only the afterstates mean anything."""
    boards = np.concatenate(afterstates)
    return Decisions(
        new_games([0], OFFICIAL).boards,
        np.array([[2, 1]], dtype=np.int8),
        np.array([True]),
        Afterstates(boards, np.array([0, len(boards)])),
    )


def some_decisions(rules, n=40, turns=60, seed=5) -> Decisions:
    """The decisions of `n` games, a random number of random turns old."""
    games = new_games(np.arange(n), rules)
    stop = dice_lib.bits(seed, dice_lib.SAMPLE, games.stream, 0) % np.uint64(turns)
    kept: list[Games] = []
    for turn in range(turns):
        stopping = stop == turn
        kept.append(games.take(stopping))
        games, stop = games.take(~stopping), stop[~stopping]
        decisions = decide(games, roll(games, seed, rules), rules)
        ties = dice_lib.bits(seed, dice_lib.TIES, games.stream, games.turn)
        boards, offsets = decisions.afterstates
        games, outcome, _ = apply(games, boards[choose(np.zeros(len(boards)), offsets, ties)], rules)
        games, stop = games.take(outcome < 0), stop[outcome < 0]
    batch = Games(*(np.concatenate([getattr(part, field) for part in kept]) for field in ("boards", "stream", "turn")))
    assert len(batch) > n // 2
    return decide(batch, roll(batch, seed + 1, rules), rules)


@pytest.mark.parametrize("make", [RandomAgent, PipsAgent, BearoffAgent, HeuristicAgent])
@pytest.mark.parametrize("preset", PRESETS)
def test_scores_are_finite_and_of_the_afterstates_alone(make, preset):
    rules = PRESETS[preset]
    if make is HeuristicAgent and rules.geometry == "short":
        return
    agent = make(rules)
    decisions = some_decisions(rules)
    before = decisions.afterstates.boards.copy()
    scores = agent.scores(decisions)
    assert scores.dtype == np.float64
    assert scores.shape == (len(decisions.afterstates.boards),)
    assert np.isfinite(scores).all()
    assert (decisions.afterstates.boards == before).all()
    assert not agent.gives_equities
    boards, offsets = decisions.afterstates
    for game in range(len(decisions.boards)):
        rows = slice(offsets[game], offsets[game + 1])
        one = slice(game, game + 1)
        alone = Decisions(
            decisions.boards[one],
            decisions.dice[one],
            decisions.moved_first[one],
            Afterstates(boards[rows], offsets[game : game + 2] - offsets[game]),
        )
        assert (agent.scores(alone) == scores[rows]).all()


def test_heuristic_refuses_short_nardy():
    with pytest.raises(ValueError, match="long nardy only"):
        HeuristicAgent(PRESETS["short"])


def test_random_has_no_preference():
    scores = RandomAgent(OFFICIAL).scores(decisions_of(position({24: 15}), position({1: 1})))
    assert (scores == scores[0]).all()


@pytest.mark.parametrize(
    "worst_to_best",
    [
        [position({6: 1, 1: 14}), position({5: 1, 1: 14})],
        [position({1: 15}), position({24: 14})],
    ],
)
def test_pips_wants_checkers_off_then_few_pips(worst_to_best):
    scores = PipsAgent(OFFICIAL).scores(decisions_of(*worst_to_best))
    assert (np.diff(scores) > 0).all()


@pytest.mark.parametrize(
    "worst_to_best",
    [
        [position({8: 1, 1: 14}), position({7: 1, 6: 14}), position({6: 15}), position({24: 14})],
        [position({7: 2, 1: 13}), position({23: 1, 6: 14})],
    ],
)
def test_bearoff_wants_off_then_home_then_near_home(worst_to_best):
    scores = BearoffAgent(OFFICIAL).scores(decisions_of(*worst_to_best))
    assert (np.diff(scores) > 0).all()


def test_bearoff_does_not_care_how_deep_in_the_home():
    scores = BearoffAgent(OFFICIAL).scores(decisions_of(position({6: 15}), position({1: 15})))
    assert scores[0] == scores[1]


# The opponent's points 11..6 are the mover's 23..18, in front of the mover's head; his 24 is the mover's 12.
FAR = {18: 15}
"""An opponent in nobody's way: all on the mover's 6."""

TERMS = [
    ("head", {24: 9, 20: 6}, FAR, 9),
    ("squeeze", {24: 15}, {24: 13, 11: 1, 10: 1}, 0),
    ("squeeze", {24: 15}, {24: 12, 11: 1, 10: 1, 9: 1}, 1),
    ("squeeze", {24: 15}, {24: 11, 9: 1, 8: 1, 7: 1, 6: 1}, 2),
    ("squeeze", {24: 14, 21: 1}, {24: 11, 11: 1, 10: 1, 8: 1, 7: 1}, 0),
    ("squeeze", {24: 15}, {24: 12, 6: 1, 5: 1, 4: 1}, 0),
    ("squeeze", {13: 15}, {24: 12, 11: 1, 10: 1, 9: 1}, 0),
    ("start_points", {24: 8, 23: 2, 19: 4, 18: 1}, FAR, 2),
    ("his_home_points", {24: 8, 19: 2, 18: 2, 13: 2, 12: 1}, FAR, 2),
    ("his_start_points", {13: 8, 12: 2, 11: 1, 7: 3, 5: 1}, FAR, 3),
    ("home_points", {7: 8, 6: 3, 1: 1}, {24: 15}, 2),
    ("stack", {24: 4, 20: 4, 13: 3, 8: 2, 3: 2}, FAR, 3),
    ("straggler", {24: 5, 23: 4, 13: 2, 12: 4}, FAR, 6),
    ("block3", {24: 12, 9: 1, 8: 1, 7: 1}, {24: 10, 18: 5}, 10),
    ("block3", {24: 12, 9: 1, 8: 1, 6: 1}, {24: 10, 17: 5}, 0),
    ("block4", {24: 11, 10: 1, 9: 1, 8: 1, 7: 1}, {24: 10, 18: 5}, 10),
    ("block5", {24: 10, 11: 1, 10: 1, 9: 1, 8: 1, 7: 1}, {24: 10, 18: 5}, 10),
    ("block6", {24: 9, 11: 1, 10: 1, 9: 1, 8: 1, 7: 1, 6: 1}, {24: 10, 17: 5}, 10),
    ("block6", {24: 8, 11: 1, 10: 1, 9: 1, 8: 1, 7: 1, 6: 1, 5: 1}, {24: 10, 16: 5}, 10),
    ("faced3", {24: 10, 12: 5}, {9: 1, 8: 1, 7: 1, 23: 12}, 10),
    ("faced4", {24: 10, 12: 5}, {9: 1, 8: 1, 7: 1, 6: 1, 23: 11}, 10),
    ("faced5", {24: 10, 12: 5}, {9: 1, 8: 1, 7: 1, 6: 1, 5: 1, 23: 10}, 10),
    ("faced6", {24: 10, 12: 5}, {9: 1, 8: 1, 7: 1, 6: 1, 5: 1, 4: 1, 23: 9}, 10),
    ("stuck", {24: 12, 12: 3}, {11: 5, 8: 5, 6: 5}, 12 * (3 / 6) ** 2),
    ("stuck", {6: 15}, {17: 8, 16: 7}, 0),
    ("holds", {11: 5, 8: 5, 6: 5}, {24: 12, 12: 3}, 12 * (3 / 6) ** 2),
    ("idle", {24: 15}, {24: 5, 11: 5, 8: 5}, 2),
    ("idle", {24: 14, 21: 1}, {24: 5, 11: 5, 8: 5}, 1),
    ("idle", {6: 15}, {17: 8, 16: 7}, 0),
    ("pins", {24: 5, 11: 5, 8: 5}, {24: 15}, 2),
    ("outside", {24: 3, 7: 2, 6: 10}, {24: 15}, 5),
    ("bear_in", {24: 1, 7: 2, 6: 12}, {24: 15}, 18 + 2),
    ("off", {6: 11}, {24: 15}, 4),
]


@pytest.mark.parametrize(("term", "mover", "opponent", "count"), TERMS)
def test_term_of_the_heuristic(term, mover, opponent, count):
    alone = Weights(**{name: float(name == term) for name in Weights._fields})
    assert evaluate(position(mover, opponent), alone) == pytest.approx([count])


def test_every_term_has_a_position():
    assert {term for term, *_ in TERMS} == set(Weights._fields)


def test_block_across_the_movers_own_seam_is_one_block():
    # R3.2: the mover's 1 and 24 are neighbours on the opponent's way (his 13 and 12).
    board = position({24: 13, 1: 1, 2: 1}, {24: 10, 15: 5})
    assert evaluate(board, Weights(*[0.0] * len(Weights._fields))._replace(block3=1.0)) == [15]


def test_opponents_seam_joins_nothing():
    # R3.2: the mover's 12 and 13 are the opponent's 24 and 1, the end and the start of his way.
    board = position({14: 1, 13: 1, 12: 13}, {23: 15})
    assert evaluate(board, Weights(*[0.0] * len(Weights._fields))._replace(block3=1.0)) == [0]


@pytest.mark.parametrize(
    ("his", "mine"),
    [("block3", "faced3"), ("block4", "faced4"), ("block5", "faced5"), ("block6", "faced6"), ("holds", "stuck"),
     ("pins", "idle")],
)  # fmt: skip
def test_terms_of_both_sides_mirror_each_other(his, mine):
    boards = some_decisions(OFFICIAL, n=200, turns=90).afterstates.boards
    nothing = Weights(*[0.0] * len(Weights._fields))
    seen = evaluate(boards, nothing._replace(**{his: 1.0}))
    assert (seen == evaluate(flip(boards), nothing._replace(**{mine: 1.0}))).all()


def test_signs_are_the_advice():
    good = {"start_points", "his_home_points", "his_start_points", "home_points", "holds", "pins", "off"}
    good |= {"block3", "block4", "block5", "block6"}
    for term, weight in WEIGHTS._asdict().items():
        assert weight * (1 if term in good else -1) > 0, term


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(
            position({24: 13, 18: 2}, {24: 14, 17: 1}), position({24: 14, 12 - 1: 1}, {24: 14, 17: 1}), id="head"
        ),
        pytest.param(
            position({24: 10, 19: 1, 11: 1, 10: 1, 8: 1, 7: 1}, {24: 12, 11: 1, 10: 1, 8: 1}),
            position({24: 10, 16: 1, 11: 1, 10: 1, 8: 1, 7: 1}, {24: 12, 11: 1, 10: 1, 9: 1}),
            id="third point before the head",
        ),
    ],
)
def test_heuristic_prefers(better, worse):
    high, low = HeuristicAgent(OFFICIAL).scores(decisions_of(better, worse))
    assert high > low
