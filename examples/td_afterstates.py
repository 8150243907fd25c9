"""TD(lambda) over afterstates in plain NumPy, with nothing of this package but its vector environment.

A small net learns what a position is worth, in points, to the player who has just moved. There is no policy: of the
results that a roll allows (`afterstate_features`), the one with the highest value is played.

    python examples/td_afterstates.py [games=20_000] [seed=1]
"""

import itertools
import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import nardy_rl.envs  # noqa: F401  (registers the ids)

Array = NDArray[np.float32]
Weights = list[Array]
ID = "nardy_rl/LongNardy-v0"
NUM_ENVS, HIDDEN, LAMBDA, RATE = 64, 64, 0.95, 3e-4


def new_weights(inputs: int, generator: np.random.Generator) -> Weights:
    """Of one tanh layer and a linear output; small, so that few games are needed to forget what chance put there."""
    first = generator.normal(0, 0.02, (inputs, HIDDEN))
    return [np.asarray(part, dtype=np.float32) for part in (first, np.zeros(HIDDEN), generator.normal(0, 0.1, HIDDEN))]


def look_ahead(envs: Any, weights: Weights) -> tuple[NDArray[np.int64], Array, Array, Array]:
    """Values every legal result; returns for each game the best one: action, features, hidden units and value."""
    features, offsets = envs.unwrapped.afterstate_features()
    hidden = np.tanh(features @ weights[0] + weights[1])
    values = hidden @ weights[2]
    best = np.array([first + values[first:last].argmax() for first, last in itertools.pairwise(offsets)])
    return best - offsets[:-1], features[best], hidden[best], values[best]


def learn(games: int, seed: int) -> Weights:
    """Plays `games` games against the environment's random opponent and learns after every turn."""
    envs: Any = gymnasium.make_vec(ID, num_envs=NUM_ENVS, opponent="random", action_mask=False)
    envs.reset(seed=seed)
    weights = new_weights(envs.unwrapped.afterstate_features()[0].shape[1], np.random.default_rng(seed))
    traces = [np.zeros((NUM_ENVS, *part.shape), dtype=np.float32) for part in weights]
    squares = [np.ones_like(part) for part in weights]
    values, rewards = np.zeros(NUM_ENVS, dtype=np.float32), np.zeros(NUM_ENVS)
    over, played = np.ones(NUM_ENVS, dtype=bool), -NUM_ENVS
    while played < games:
        actions, features, hidden, new_values = look_ahead(envs, weights)
        # what the last turn was worth after all: the result, or the value of what could be done next (discount 1)
        errors = (np.where(over, rewards, new_values) - values).astype(np.float32)
        back = (1 - hidden**2) * weights[2]  # before the weights move
        for part, trace, square in zip(weights, traces, squares, strict=True):
            change = np.tensordot(errors, trace, axes=1)
            square[...] += 0.01 * (change**2 - square)  # RMSProp: some inputs are a hundred times as busy as others
            part[...] += RATE * (1 - max(played, 0) / games) * change / np.sqrt(square + 1e-8)
        for trace, gradient in zip(traces, (features[:, :, None] * back[:, None, :], back, hidden), strict=True):
            trace[over] = 0
            trace[...] *= LAMBDA
            trace[...] += gradient
        played += int(over.sum())
        values = new_values
        _, rewards, over, _, _ = envs.step(actions)
    return weights


def points_per_game(choose: Callable[[Any, Any], NDArray[np.int64]], games: int, seed: int) -> tuple[float, float]:
    """Mean points against random and half of the 95% interval; half of the games in each seat.

    `choose` makes actions of the vector environment and its observations. At each table the first two games count, one
    in each seat, however long they take: so short games are not preferred.
    """
    envs = gymnasium.make_vec(ID, num_envs=games // 2, opponent="random", action_mask=False)
    observations, _ = envs.reset(seed=seed)
    points: list[list[float]] = [[] for _ in range(games // 2)]
    while min(map(len, points)) < 2:
        observations, rewards, over, _, _ = envs.step(choose(envs, observations))
        for table in np.flatnonzero(over):
            points[table].append(float(rewards[table]))
    counted = np.array([game for table in points for game in table[:2]])
    return float(counted.mean()), float(1.96 * counted.std(ddof=1) / np.sqrt(len(counted)))


if __name__ == "__main__":
    options = {"games": 20_000, "seed": 1}
    options |= {name: int(value) for name, value in (a.split("=") for a in sys.argv[1:])}
    started = time.perf_counter()
    learnt = learn(options["games"], options["seed"])
    seconds = time.perf_counter() - started
    mean, half = points_per_game(lambda envs, _: look_ahead(envs, learnt)[0], 1000, seed=1_000_003)
    print(f"{options['games']:,} games in {seconds:.0f} s: {mean:+.3f} ± {half:.3f} points per game against random")
