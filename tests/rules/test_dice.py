"""Dice as a function of (seed, stream, turn): fixed for ever, fair, and independent of how they are asked for."""

import numpy as np
import pytest

from nardy_rl.rules.dice import DICE, EXPLORE, ROLL_WEIGHTS, ROLLS, TIES, bits, roll_dice, uniform


def test_the_same_numbers_for_ever() -> None:
    """Games are named by their seed; a change here would rename them all. First outputs by Python integers below."""

    def mix(state: int, counter: int) -> int:
        z = (state + 0x9E3779B97F4A7C15 * (counter + 1)) % 2**64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    for seed, stream, turn in ((0, 0, 0), (1, 2, 3), (2**64 - 1, 10**12, 500)):
        expected = mix(mix(mix(seed, DICE), stream), turn)
        assert int(bits(seed, DICE, stream, turn)) == expected
        pair = expected % 36
        assert roll_dice(seed, [stream], [turn]).tolist() == [[pair // 6 + 1, pair % 6 + 1]]
    assert roll_dice(1, np.zeros(6, int), np.arange(6)).tolist() == FIRST_ROLLS


FIRST_ROLLS = [[6, 4], [5, 3], [3, 2], [1, 4], [5, 5], [1, 6]]


def test_rolls_are_fair() -> None:
    n = 360_000
    rolled = roll_dice(5, np.arange(n), np.zeros(n, int)).astype(int)
    counts = np.bincount((rolled[:, 0] - 1) * 6 + rolled[:, 1] - 1, minlength=36)
    chi_square = ((counts - n / 36) ** 2 / (n / 36)).sum()
    assert chi_square < 66.6, "35 degrees of freedom: one in a thousand is above"


def test_turns_streams_and_purposes_do_not_repeat_each_other() -> None:
    n = 200_000
    zeros, numbers = np.zeros(n, int), np.arange(n)
    sequences = [bits(0, DICE, numbers, zeros), bits(0, DICE, zeros, numbers), bits(1, DICE, numbers, zeros)]
    sequences += [bits(0, TIES, numbers, zeros), bits(0, EXPLORE, numbers, zeros)]
    pooled = np.concatenate(sequences)
    assert len(np.unique(pooled)) >= len(pooled) - 1, "(stream 0, turn 0) is in two of them"
    first, second = roll_dice(0, zeros, numbers)[:-1].sum(axis=1), roll_dice(0, zeros, numbers)[1:].sum(axis=1)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.01


def test_one_at_a_time_is_the_same() -> None:
    together = roll_dice(9, np.arange(50), np.arange(50) * 3)
    assert all((roll_dice(9, [k], [3 * k])[0] == together[k]).all() for k in range(50))


def test_uniform() -> None:
    numbers = uniform(3, EXPLORE, np.arange(100_000), 0)
    assert 0 <= numbers.min() < numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.005


def test_the_21_rolls() -> None:
    assert len({tuple(roll) for roll in ROLLS.tolist()}) == 21
    assert ROLL_WEIGHTS.sum() == pytest.approx(1.0)
    assert (ROLLS[:, 0] >= ROLLS[:, 1]).all()


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_out_of_range(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        bits(seed, DICE, 0, 0)
