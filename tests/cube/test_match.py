"""Match play: what the score does to the cube, against published figures and by hand."""

import numpy as np
import pytest

from nardy_rl.cube import match, money
from nardy_rl.cube.met import match_table
from tests.cube.positions import known, owner, score, x

TABLE = match_table()
WINS = np.linspace(0, 1, 2001)


def decide(win, scores, *, gammons=0.0, lost_gammons=None, cube_efficiency=2 / 3):
    chances = known(win, gammons, lost_gammons)
    n = len(chances.win)
    return match.decide(chances, scores.take(np.zeros(n, dtype=int)), x(cube_efficiency, n), TABLE)


def from_to(decisions, action):
    """First and last winning chance for which an action is right."""
    right = WINS[[name == action for name in decisions.actions]]
    return right[0], right[-1]


def test_last_game_of_a_match_is_the_winning_chance():
    decisions = decide(WINS, score(1, 1), gammons=0.3, lost_gammons=0.2)
    assert decisions.no_double == pytest.approx(WINS)
    assert set(decisions.actions) == {"no cube"}


def test_two_away_each():
    # Whoever doubles ends the match with this game, and his opponent has no further use for the cube: right from 50% on
    # as soon as the market may be lost (Robertie, "501 Essential Backgammon Problems", ch. on match play).
    # The take point is the chance at 2-away, 1-away Crawford, about 32%.
    decisions = decide(WINS, score(2, 2))
    assert decisions.double_take == pytest.approx(WINS)
    first, last = from_to(decisions, "double, take")
    assert first == pytest.approx(0.5, abs=1e-3)
    assert 1 - last == pytest.approx(TABLE.before[2, 1], abs=1e-3)
    assert 1 - last == pytest.approx(0.32, abs=0.01)
    # gammons are of no use to the doubler, and lost ones cost him nothing, once the cube is on 2
    assert decide(0.6, score(2, 2), gammons=0.5).double_take == pytest.approx(0.6)


def test_crawford_game_has_no_cube():
    for own, theirs in ((1, 4), (4, 1)):
        decisions = decide(WINS, score(own, theirs, crawford=True), gammons=0.2)
        assert set(decisions.actions) == {"no cube"}
    # 4-away, single 3-away, gammon 2-away after the Crawford game
    won = 0.8 * TABLE.after[3] + 0.2 * TABLE.after[2]
    assert decisions.no_double == pytest.approx(WINS * won)


def test_after_the_crawford_game_the_trailer_doubles_whatever_his_chance():
    for trailer in range(2, 12):
        assert decide(np.linspace(0.05, 0.4, 50), score(trailer, 1)).double.all()
        assert set(decide(WINS, score(1, trailer)).actions) == {"no cube"}, "the leader has no use for it"


def test_free_drop():
    # 2-away after the Crawford game: passing costs the leader nothing, so he takes only as the favourite.
    first, last = from_to(decide(WINS, score(2, 1)), "double, take")
    assert first == 0.0
    assert last == pytest.approx(0.5, abs=1e-3)
    # 3-away: passing gives the trailer 48.8% instead of about 32%, so nearly everything is a take (1 - p / 2 >= 51.2%).
    assert from_to(decide(WINS, score(3, 1)), "double, take")[1] == pytest.approx(2 * TABLE.after[2], abs=1e-3)
    assert 2 * TABLE.after[2] == pytest.approx(0.976, abs=0.005)


def test_automatic_redouble():
    # The leader at 2-away doubles the trailer at 4-away, who redoubles to 4 at once: a loss costs the match anyway. So
    # the trailer compares 18% to 19%, his chance after a pass (4-away, 1-away Crawford), with his chance in this game.
    decisions = decide(WINS, score(2, 4))
    taken = WINS[decisions.take]
    assert 1 - taken[-1] == pytest.approx(TABLE.before[4, 1], abs=1e-3)
    assert TABLE.before[4, 1] == pytest.approx(0.185, abs=0.006)
    # at 4 the match hangs on this game, but for the leader's pass, into 2-away each
    assert decisions.double_take == pytest.approx(np.maximum(WINS, 0.5))
    # once the cube is his, he redoubles with any chance that is left
    assert decide(np.linspace(0.01, 0.8, 50), score(4, 2, cube=2, whose="ours")).double.all()


def test_last_cube_of_a_short_match():
    # 3-away each, cube 2: it wins the match for either side, so it is dead, and gammons count for nothing.
    decisions = decide(WINS, score(3, 3, cube=4, whose="ours"), gammons=0.3)
    assert set(decisions.actions) == {"no cube"}
    assert decisions.no_double == pytest.approx(WINS)
    # cube 2, ours, 2-away each: dead too
    assert set(decide(WINS, score(2, 2, cube=2, whose="ours")).actions) == {"no cube"}


def test_live_points_by_hand():
    # 3-away each, no gammons, cube centred. At 2 the cube wins 2 of 3 points; owned, it may go to 4, which is dead:
    # whoever owns 2 cashes at q with (1 - q) = chance after passing 2 (3-away, 1-away Crawford) =: a.
    # So he who takes at 2 has (live) the line from (0, a) to (1 - a, 1 - a), and takes from t on with
    # a + (t / (1 - a)) (1 - 2a) = b, the chance after passing 1 (3-away, 2-away).
    a, b = TABLE.before[3, 1], TABLE.before[3, 2]
    take = (b - a) * (1 - a) / (1 - 2 * a)
    line = match.line(known(0.5), score(3, 3), TABLE)
    assert line.take_point[0] == pytest.approx(take)
    assert line.cash_point[0] == pytest.approx(1 - take)
    assert WINS[decide(WINS, score(3, 3), cube_efficiency=1.0).take][-1] == pytest.approx(1 - take, abs=1e-3)
    # dead at 2: from a to 1 - a
    last = WINS[decide(WINS, score(3, 3), cube_efficiency=0.0).take][-1]
    assert 1 - last == pytest.approx((b - a) / (1 - 2 * a), abs=1e-3)


def test_gammons_count_by_the_score():
    # Needing 2, a gammon wins the match; needing 1, it is worth no more than a single game.
    assert decide(0.5, score(2, 5), gammons=0.4, lost_gammons=0).no_double > decide(0.5, score(2, 5)).no_double
    assert decide(0.5, score(1, 5), gammons=0.4, lost_gammons=0).no_double == decide(0.5, score(1, 5)).no_double


def test_too_good_for_a_gammon():
    # 2-away each: a pass is worth 68%; a gammon, three wins in four here, wins the match.
    decisions = decide(0.95, score(2, 2), gammons=0.75)
    assert decisions.actions == ["too good, pass"]


def test_the_other_side_sees_the_complement():
    generator = np.random.default_rng(2)
    n = 300
    win, gammons, lost = generator.random((3, n))
    mine, theirs = known(win, gammons, lost), known(1 - win, lost, gammons)
    for own, opponent, cube, whose, other in (
        (5, 7, 1, "centred", "centred"), (6, 9, 2, "ours", "theirs"), (4, 4, 2, "theirs", "ours"),
        (3, 1, 1, "theirs", "ours"),
    ):  # fmt: skip
        ours = match.equities(mine, score(own, opponent, cube, whose, n=n), x(0.7, n), TABLE)
        opposite = match.equities(theirs, score(opponent, own, cube, other, n=n), x(0.7, n), TABLE)
        assert ours == pytest.approx(1 - opposite)


def test_long_matches_come_close_to_money():
    table = match_table(64)
    for whose in ("centred", "ours", "theirs"):
        scores = score(64, 64, whose=whose, n=len(WINS))
        chances = known(WINS, 0.25, 0.2)
        in_match = match.decide(chances, scores, x(2 / 3, len(WINS)), table)
        in_money = money.decide(chances, owner(whose, len(WINS)), x(2 / 3, len(WINS)))
        normal = match.normalised(in_match.no_double, scores, table)
        assert np.abs(normal - in_money.no_double).max() < 0.1
        agreed = np.mean([one == two for one, two in zip(in_match.actions, in_money.actions, strict=True)])
        assert agreed > 0.97


def test_batches_of_different_scores_are_judged_one_by_one():
    generator = np.random.default_rng(3)
    n = 200
    away = generator.integers(1, 26, (n, 2))
    cube = 2 ** generator.integers(0, 4, n)
    owners = np.where(cube == 1, 0, generator.choice([-1, 1], n)).astype(np.int8)
    scores = match.Scores(away, (away == 1).any(axis=1) & (cube == 1) & (generator.random(n) < 0.5), cube, owners)
    chances = known(*generator.random((3, n)))
    together = match.decide(chances, scores, x(0.6, n), TABLE)
    for k in range(n):
        alone = match.decide(chances.take([k]), scores.take([k]), x(0.6), TABLE)
        assert all(one[0] == many[k] for one, many in zip(alone, together, strict=True))
    assert ((together.no_double >= 0) & (together.no_double <= 1)).all()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (score(0, 3), r"away=\[0, 3\] is not allowed; give 1..25"),
        (score(26, 3), r"away=\[26, 3\] is not allowed; give 1..25"),
        (score(2, 3, crawford=True), "is no Crawford game"),
    ],
)
def test_impossible_scores(scores, message):
    with pytest.raises(ValueError, match=message):
        scores.check(TABLE)
