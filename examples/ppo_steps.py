"""MaskablePPO of sb3-contrib on the environment of single steps (install the extra `sb3`).

A policy over 151 actions with a fixed meaning, masked to the legal ones; it never sees where an action leads.

    python examples/ppo_steps.py [steps=500_000] [seed=1] [picture=docs/ppo_curve.svg]

prints points per game against random as it learns, and draws them.
"""

import dataclasses
import time
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import matplotlib as mpl
import numpy as np
import torch
from gymnasium.wrappers import TransformObservation
from matplotlib.figure import Figure
from numpy.typing import NDArray
from omegaconf import OmegaConf
from sb3_contrib import MaskablePPO  # type: ignore[import-not-found, import-untyped, unused-ignore]
from sb3_contrib.common.maskable.utils import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    get_action_masks,
)
from stable_baselines3.common.vec_env import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    DummyVecEnv,
)

import nardy_rl.envs  # noqa: F401  (registers the ids)
from nardy_rl.envs.features import FEATURES, afterstate_features

WIDTH = FEATURES + 6 + 5
EVALUATION_SEED = 1_000_003


@dataclasses.dataclass
class Options:
    """What the command line can set.

    Attributes:
        steps: Environment steps to learn from.
        evaluations: Evaluations during learning, evenly spaced, the one after the last step included.
        evaluation_games: Games against `random` in each evaluation but the last, half of them in each seat.
        final_games: Games in the last one.
        seed: Of everything random in learning.
        picture: File for the learning curve (svg or png).
    """

    steps: int = 500_000
    evaluations: int = 8
    evaluation_games: int = 200
    final_games: int = 1_000
    seed: int = 1
    picture: str | None = None


class Point(NamedTuple):
    """A point of the learning curve.

    Attributes:
        steps: Environment steps learnt from.
        games: Games finished meanwhile.
        seconds: Seconds of learning, evaluations not counted.
        mean: Points per game against random.
        half: Half of its 95% interval.
    """

    steps: int
    games: int
    seconds: float
    mean: float
    half: float


def as_vector(observation: dict[str, Any]) -> NDArray[np.float32]:
    """The observation as 208 numbers: the board as `afterstate_features`, how often each die is left, the head's."""
    board, seat = observation["board"], observation["seat"]
    dice = np.bincount(observation["dice"], minlength=7)[1:] / 2
    left_head = np.arange(5) == observation["left_head"]
    return np.concatenate([afterstate_features(board[None], np.array([seat]))[0], dice, left_head], dtype=np.float32)


def make_env() -> gymnasium.Env[Any, Any]:
    """The steps environment with vectors as observations, against `random`, in alternating seats."""
    env = gymnasium.make("nardy_rl/LongNardySteps-v0", opponent="random", seat="alternate")
    space = gymnasium.spaces.Box(0.0, 6.0, (WIDTH,), np.float32)
    return TransformObservation(env, as_vector, space)


def points_per_game(learner: Any, games: int, seed: int) -> tuple[float, float]:
    """Mean points of the policy (its likeliest action) against random, and half of the 95% interval.

    At each table the first two games count, one in each seat, however long they take: so short games are not preferred.
    """
    envs = DummyVecEnv([make_env] * (games // 2))
    envs.seed(seed)
    observations = envs.reset()
    points: list[list[float]] = [[] for _ in range(games // 2)]
    while min(map(len, points)) < 2:
        actions, _ = learner.predict(observations, action_masks=get_action_masks(envs), deterministic=True)
        observations, rewards, over, _ = envs.step(actions)
        for table in np.flatnonzero(over):
            points[table].append(float(rewards[table]))
    counted = np.array([game for table in points for game in table[:2]])
    return float(counted.mean()), float(1.96 * counted.std(ddof=1) / np.sqrt(len(counted)))


def learn(options: Options) -> list[Point]:
    """Learns, and evaluates meanwhile; returns the learning curve."""
    torch.set_num_threads(1)
    envs = DummyVecEnv([make_env] * 16)
    learner = MaskablePPO(
        "MlpPolicy",
        envs,
        seed=options.seed,
        device="cpu",
        gamma=1.0,  # points are paid at the end only, and a game is no better for being short
        gae_lambda=0.99,
        n_steps=512,
        batch_size=1024,
        n_epochs=4,
        ent_coef=0.01,
        learning_rate=lambda left: 5e-4 * left,
        policy_kwargs={"net_arch": [128, 64]},
    )
    curve: list[Point] = []
    games, paused = 0, 0.0
    points_per_game(learner, 2, EVALUATION_SEED)  # what Numba compiles in a first run is not part of learning
    started = time.perf_counter()

    def after_step(here: dict[str, Any], _: dict[str, Any]) -> bool:
        nonlocal games, paused
        games += int(np.sum(here["dones"]))
        if learner.num_timesteps >= options.steps * (len(curve) + 1) / options.evaluations:
            at = time.perf_counter()
            last = len(curve) + 1 == options.evaluations
            counted = options.final_games if last else options.evaluation_games
            mean, half = points_per_game(learner, counted, EVALUATION_SEED)
            curve.append(Point(learner.num_timesteps, games, at - started - paused, mean, half))
            print(line(curve[-1]), flush=True)
            paused += time.perf_counter() - at
        return True

    learner.learn(options.steps, callback=after_step)
    return curve


def line(point: Point) -> str:
    """A point of the curve as a line of the table."""
    steps, games, seconds, mean, half = point
    return f"{steps:>10,} {games:>8,} {seconds:>8.0f}   {mean:+.3f} ± {half:.3f}"


def draw(curve: list[Point], path: Path) -> None:
    """Writes the learning curve, with 95% intervals."""
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    minutes, mean, half = (np.array([getattr(point, name) for point in curve]) for name in ("seconds", "mean", "half"))
    axes.errorbar(minutes / 60, mean, half, marker="o", markersize=3, capsize=2)
    axes.axhline(0, color="0.6", linewidth=1)
    axes.set(xlabel="minutes of learning", ylabel="points per game against random", xlim=(0, None), ylim=(-2, 2))
    axes.set_title("MaskablePPO on nardy_rl/LongNardySteps-v0", fontsize=10)
    axes.grid(alpha=0.3)
    with mpl.rc_context({"svg.hashsalt": "nardy_rl"}):  # the same picture gives the same file
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    """The command."""
    options = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Options), OmegaConf.from_cli()))
    assert isinstance(options, Options)
    print(f"{'steps':>10} {'games':>8} {'seconds':>8}   points per game against random")
    curve = learn(options)
    if options.picture is not None:
        draw(curve, Path(options.picture))


if __name__ == "__main__":
    main()
