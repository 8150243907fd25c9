"""lambda_returns against tables worked out by hand, and the change of side as a discount."""

import numpy as np
import pytest

from nardy_rl.training.targets import from_parity, lambda_returns, side_change, to_parity

F = np.float32


def test_hand_computed_scalar_game() -> None:
    """Three turns; values after turns 1 and 2 are 0.2 and -0.4 for whoever is on roll then; the last mover wins 2.

    G3 = 2.
    G2 = -(0.5 * -0.4 + 0.5 * 2) = -0.8, from the view of the player who made turn 2.
    G1 = -(0.5 * 0.2 + 0.5 * -0.8) = 0.3.
    """
    rewards = np.array([0.0, 0.0, 2.0], F)
    discounts = np.array([-1.0, -1.0, 0.0], F)
    values = np.array([0.2, -0.4, 9.9], F)
    np.testing.assert_allclose(lambda_returns(rewards, discounts, values, 0.5), [0.3, -0.8, 2.0], rtol=1e-6)


@pytest.mark.parametrize(
    ("lam", "expected"),
    [
        (0.0, [-0.2, 0.4, -0.1, -1.0]),  # one-step TD: minus the value after the turn, the result at the end
        (1.0, [1.0, -1.0, 1.0, -1.0]),  # Monte Carlo: the result, its sign turning with the side
        # G4 = -1; G3 = -(0.75 * 0.1 + 0.25 * -1) = 0.175; G2 = -(0.75 * -0.4 + 0.25 * 0.175) = 0.25625;
        # G1 = -(0.75 * 0.2 + 0.25 * 0.25625) = -0.2140625
        (0.25, [-0.2140625, 0.25625, 0.175, -1.0]),
    ],
)
def test_hand_computed_lambdas(lam: float, expected: list[float]) -> None:
    rewards = np.array([0.0, 0.0, 0.0, -1.0], F)
    discounts = np.array([-1.0, -1.0, -1.0, 0.0], F)
    values = np.array([0.2, -0.4, 0.1, 5.0], F)
    np.testing.assert_allclose(lambda_returns(rewards, discounts, values, lam), expected, rtol=1e-6)


def test_unfinished_game_ends_with_its_last_value() -> None:
    rewards, values = np.zeros(2, F), np.array([0.5, 0.3], F)
    np.testing.assert_allclose(lambda_returns(rewards, np.full(2, -1, F), values, 1.0), [0.3, -0.3], rtol=1e-6)


def test_a_lambda_of_its_own_for_every_turn() -> None:
    rewards, discounts = np.array([0.0, 0.0, 1.0], F), np.array([1.0, 1.0, 0.0], F)
    values = np.array([0.6, 0.2, 0.0], F)
    lambdas = np.array([0.0, 1.0, 1.0], F)
    np.testing.assert_allclose(lambda_returns(rewards, discounts, values, lambdas), [0.6, 1.0, 1.0], rtol=1e-6)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="must share a shape"):
        lambda_returns(np.zeros((3, 2), F), np.zeros(3, F), np.zeros((3, 1), F), 0.5)


def test_parity_by_hand() -> None:
    """[lose mars, lose oin, draw, win oin, win mars] -> [draw, oin sum, mars sum, oin difference, mars difference]."""
    values = np.array([0.1, 0.2, 0.05, 0.35, 0.3], F)
    np.testing.assert_allclose(to_parity(values), [0.05, 0.55, 0.4, 0.15, 0.2], rtol=1e-6)
    np.testing.assert_allclose(from_parity(to_parity(values)), values, rtol=1e-6)


@pytest.mark.parametrize("width", [1, 5, 7, 9])
def test_change_of_side_reverses_outcomes(width: int) -> None:
    values = np.random.default_rng(0).random((4, width)).astype(F)
    turned = from_parity(to_parity(values) * side_change(width))
    np.testing.assert_allclose(turned, -values if width == 1 else values[:, ::-1], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("lam", [0.0, 0.3, 0.7, 1.0])
def test_distributions_equal_the_obvious_recursion(lam: float) -> None:
    """The discount form against a plain loop that reverses the outcomes at each change of side."""
    random = np.random.default_rng(1)
    turns, width = 7, 5
    values = random.dirichlet(np.ones(width), size=turns).astype(F)
    result = np.eye(width, dtype=F)[4]

    expected = [result]
    for t in range(turns - 2, -1, -1):
        expected.append(((1 - lam) * values[t] + lam * expected[-1])[::-1])
    expected.reverse()

    rewards = np.zeros((turns, width), F)
    rewards[-1] = to_parity(result)
    discounts = np.tile(side_change(width), (turns, 1))
    discounts[-1] = 0.0
    returns = from_parity(lambda_returns(rewards, discounts, to_parity(values), lam))
    np.testing.assert_allclose(returns, np.array(expected), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(returns.sum(axis=1), 1.0, rtol=1e-5)
