"""The cube against other programs, given the same probabilities: run with `make test-yardsticks`.

bgsage turns cubeless probabilities into cubeful equities by the formulas of GNU Backgammon; its match equity table is
Kazaross-XG2, as is that of the package gnubg.
"""

from pathlib import Path

import numpy as np
import pytest

from nardy_rl.agents.registry import make_agent
from nardy_rl.config import KEPT_NETS
from nardy_rl.cube import match, money
from nardy_rl.cube.chances import chances
from nardy_rl.cube.match import Scores
from nardy_rl.cube.met import LONGEST, match_table
from nardy_rl.cube.table import MatchTable
from nardy_rl.evaluation.arena import play_games
from nardy_rl.rules.spec import PRESETS
from tests.cube.positions import OWNERS, owner, x

pytestmark = pytest.mark.yardsticks

SHORT = PRESETS["short"]
NET = make_agent(str(Path(__file__).parents[2] / KEPT_NETS["short"]), SHORT)
EFFICIENCY = 0.68
POSITIONS = 400


@pytest.fixture(scope="module")
def bgsage():
    import bgsage  # noqa: PLC0415

    return bgsage._cpp


@pytest.fixture(scope="module")
def values():
    """Probabilities of the outcomes in positions of self-play, float32 (POSITIONS, 7)."""
    boards = []

    class Watched:
        spec, rules, gives_equities = "watched", SHORT, True

        def scores(self, decisions):
            boards.append(decisions.boards)
            return NET.scores(decisions)

    play_games(Watched(), Watched(), np.arange(40), SHORT, seed=1)
    chosen = np.random.default_rng(1).choice(np.concatenate(boards), POSITIONS, replace=False)
    return NET.values(chosen, np.ones(POSITIONS, dtype=np.bool_))


def five(values):
    """Win, win a gammon or more, a backgammon, lose a gammon or more, a backgammon: rows (N, 5) as Python floats."""
    values = values.astype(float) / (1.0 - values[:, 3:4])
    columns = (
        values[:, 4:].sum(axis=1),
        values[:, 5:].sum(axis=1),
        values[:, 6],
        values[:, :2].sum(axis=1),
        values[:, 0],
    )
    return np.stack(columns, axis=1).tolist()


def their_owner(bgsage, number):
    return {0: bgsage.CubeOwner.CENTERED, 1: bgsage.CubeOwner.PLAYER, -1: bgsage.CubeOwner.OPPONENT}[number]


def decision(answer):
    """What bgsage's equities make right, by our own rule for "too good"."""
    best = min(answer.equity_dt, answer.equity_dp)
    return best >= answer.equity_nd, answer.equity_dt <= answer.equity_dp


def test_money_decisions(bgsage, values):
    known = chances(values, SHORT)
    differences, agreed = [], []
    for name in ("centred", "ours"):
        for jacoby in (False, True):
            ours = money.decide(known, owner(name, POSITIONS), x(EFFICIENCY, POSITIONS), jacoby=jacoby)
            for k, probabilities in enumerate(five(values)):
                theirs = bgsage.cube_decision_1ply(
                    probabilities, owner=their_owner(bgsage, OWNERS[name]), cube_x=EFFICIENCY, jacoby=jacoby
                )
                equities = (theirs.equity_nd, theirs.equity_dt, theirs.equity_dp)
                differences.append([abs(a[k] - b) for a, b in zip(ours[:3], equities, strict=True)])
                agreed.append((bool(ours.double[k]), bool(ours.take[k])) == decision(theirs))
    print(f"\nmoney: mean difference {np.mean(differences):.2e}, agreed {np.mean(agreed):.2%} of {len(agreed)}")
    assert np.max(differences) < 1e-4
    assert np.mean(agreed) > 0.995


def test_match_decisions(bgsage, values):
    before = np.full((LONGEST + 1, LONGEST + 1), 0.5)
    before[0], before[:, 0] = 1.0, 0.0
    away = range(1, LONGEST + 1)
    before[1:, 1:] = [[bgsage.get_met(i, j) for j in away] for i in away]
    table = MatchTable(before, np.array([1.0, *(bgsage.get_met(i, 1, True) for i in away)]))
    generator = np.random.default_rng(2)
    scores = Scores(
        generator.integers(1, 14, (POSITIONS, 2)),
        np.zeros(POSITIONS, dtype=np.bool_),
        2 ** generator.integers(0, 3, POSITIONS),
        np.zeros(POSITIONS, dtype=np.int8),
    )
    owners = np.where(scores.cube == 1, 0, generator.choice([-1, 1], POSITIONS)).astype(np.int8)
    crawford = (scores.cube == 1) & ((scores.away == 1).sum(axis=1) == 1) & (generator.random(POSITIONS) < 0.5)
    scores = scores._replace(owner=owners, crawford=crawford)
    ours = match.decide(chances(values, SHORT), scores, x(EFFICIENCY, POSITIONS), table)
    normal = [match.normalised(worth, scores, table) for worth in ours[:3]]
    # bgsage lets the cube be half dead where the opponent's redouble costs nothing and will be made at once
    may_redouble, doubled = scores.away[:, 1] > scores.cube, scores.away[:, 1] > 2 * scores.cube
    free = (owners != 1) & ~crawford & may_redouble & (scores.away[:, 0] <= scores.cube)
    free_if_doubled = doubled & (scores.away[:, 0] <= 2 * scores.cube)
    differences, agreed, may = [], [], []
    for k, probabilities in enumerate(five(values)):
        state = (int(scores.cube[k]), their_owner(bgsage, int(owners[k])))
        needed = (*scores.away[k].tolist(), bool(crawford[k]))
        theirs = bgsage.cube_decision_1ply(probabilities, *state, EFFICIENCY, *needed, False)
        may.append(bool(ours.may_double[k]) == bgsage.can_double_match(*needed[:2], *state, needed[2]))
        if not free[k]:
            differences.append(abs(normal[0][k] - theirs.equity_nd))
        if ours.may_double[k] and not free_if_doubled[k]:
            differences += [abs(normal[1][k] - theirs.equity_dt), abs(normal[2][k] - theirs.equity_dp)]
            agreed.append((bool(ours.double[k]), bool(ours.take[k])) == decision(theirs))
    print(f"\nmatch: mean difference {np.mean(differences):.2e}, agreed {np.mean(agreed):.2%} of {len(agreed)}")
    assert all(may)
    assert np.max(differences) < 1e-3
    assert len(agreed) > 100
    assert np.mean(agreed) > 0.99


def test_match_equity_table():
    import gnubg  # noqa: PLC0415

    before, after, _ = gnubg.met(LONGEST)
    table = match_table()
    differences = np.abs(table.before[1:, 1:] - before)[np.triu_indices(LONGEST, 1)]
    later = np.abs(table.after[1:] - after)
    print(
        f"\ntable: mean {differences.mean():.2%}, most {differences.max():.2%}; after Crawford most {later.max():.2%}"
    )
    assert differences.max() < 0.015
    assert differences.mean() < 0.002
    assert later.max() < 0.005
