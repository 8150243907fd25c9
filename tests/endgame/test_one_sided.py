"""The one-sided table against fractions."""

import functools
from fractions import Fraction

import numpy as np
import pytest

from nardy_rl.endgame.one_sided import one_sided
from nardy_rl.endgame.positions import HomePositions
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.reference import legal_plays
from nardy_rl.rules.spec import Rules, make_rules
from tests.endgame.brute import WEIGHTS

_OPPONENT = parse_position("off:15 | off:14 1:1")[1]


@functools.cache
def _distributions(row: tuple[int, ...], rules: Rules) -> tuple[Fraction, tuple[tuple[Fraction, ...], ...]]:
    """Least expected turns of a row, and every distribution of turns that some such policy has."""
    if row[0] == 15:
        return Fraction(0), ((Fraction(1),),)
    mean = Fraction(1)
    mixed: set[tuple[Fraction, ...]] = {(Fraction(0),)}
    for weight, dice in zip(WEIGHTS, ROLLS.tolist(), strict=True):
        after = [_distributions(play.board[0], rules) for play in legal_plays((row, _OPPONENT), dice, rules)]
        least = min(turns for turns, _ in after)
        mean += weight * least
        best = {distribution for turns, several in after if turns == least for distribution in several}
        mixed = {_added(sofar, weight, distribution) for sofar in mixed for distribution in best}
    return mean, tuple(mixed)


def _added(sofar: tuple[Fraction, ...], weight: Fraction, after: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    later = (Fraction(0), *after)
    size = max(len(sofar), len(later))
    padded = [(*values, *[Fraction(0)] * (size - len(values))) for values in (sofar, later)]
    return tuple(a + weight * b for a, b in zip(*padded, strict=True))


@pytest.mark.parametrize("preset", ["official", "online"])
def test_means_and_distributions_equal_the_fractions(preset: str) -> None:
    rules = make_rules(preset)
    table = one_sided(rules, 2)
    for i, row in enumerate(table.positions.rows.tolist()):
        mean, distributions = _distributions(tuple(row), rules)
        assert table.mean[i] == pytest.approx(float(mean), abs=1e-12)
        found = np.trim_zeros(table.turns[i], "b")
        assert any(np.allclose(found, [float(p) for p in one], atol=1e-12) for one in distributions)


def test_all_homes() -> None:
    table = one_sided(make_rules("official"))
    assert table.turns.shape[0] == 54_264
    np.testing.assert_allclose(table.turns.sum(axis=1), 1.0, atol=1e-12)
    turns = np.arange(table.turns.shape[1])
    np.testing.assert_allclose(table.turns @ turns, table.mean, atol=1e-9)
    number = table.positions.numbers_of
    one, two = (
        number(np.array(parse_position(text)[:1], dtype=np.int8))[0]
        for text in ("off:14 6:1 | 24:15", "off:11 1:4 | 24:15")
    )
    assert table.turns[one, 1] == pytest.approx(27 / 36), "all but 11, 21, 31, 41, 32"
    assert table.turns[two, 1] == pytest.approx(6 / 36), "a double"


def test_win_probability_of_races_that_can_be_counted() -> None:
    table = one_sided(make_rules("moscow"), 4)
    number = table.positions.numbers_of(
        np.array([parse_position(t)[0] for t in ("off:14 1:1 | 24:15", "off:11 1:4 | 24:15")], dtype=np.int8)
    )
    won = table.win_probability(number[[0, 1, 1]], number[[1, 0, 1]])
    np.testing.assert_allclose(won, [1.0, 6 / 36, 6 / 36 + 30 / 36 * 30 / 36], atol=1e-12)


def test_men_and_rules_are_checked() -> None:
    with pytest.raises(ValueError, match="men=0"):
        one_sided(make_rules("official"), 0)
    assert len(one_sided(make_rules("official"), 3).positions) == len(HomePositions(3))
