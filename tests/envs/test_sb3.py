"""Stable-Baselines3's own checker, and sb3-contrib's masks (needs the extra `sb3`)."""

import warnings

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import DummyVecEnv

import nardy_rl.envs  # noqa: F401  (registers the ids)

pytestmark = pytest.mark.extras

IDS = [f"nardy_rl/{game}Nardy{kind}-v0" for game in ("Long", "Short") for kind in ("", "Steps")]


@pytest.mark.parametrize("id_", IDS)
@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
def test_the_checker_has_nothing_to_say(id_: str, render_mode: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # a recommendation about the board's two rows; the policies for dict observations flatten them themselves
        warnings.filterwarnings("ignore", message="Your observation board has an unconventional shape")
        check_env(gymnasium.make(id_, on_illegal="lose", render_mode=render_mode))


@pytest.mark.parametrize("id_", IDS)
def test_masks_are_found(id_: str) -> None:
    envs = DummyVecEnv([lambda: gymnasium.make(id_)] * 2)
    envs.seed(1)
    envs.reset()
    assert is_masking_supported(envs)
    for _ in range(100):
        masks = get_action_masks(envs)
        assert masks.shape == (2, envs.action_space.n)  # type: ignore[attr-defined]
        envs.step(masks.argmax(axis=1))


def test_maskable_ppo_learns_without_a_wrong_step() -> None:
    """A few hundred steps; `on_illegal="raise"` would end it at the first step outside the mask."""
    envs = DummyVecEnv([lambda: gymnasium.make("nardy_rl/LongNardySteps-v0")] * 2)
    learner = MaskablePPO("MultiInputPolicy", envs, n_steps=128, batch_size=64, seed=0, device="cpu")
    before = [parameter.detach().clone() for parameter in learner.policy.parameters()]
    learner.learn(512)
    after = list(learner.policy.parameters())
    assert any((old != new).any() for old, new in zip(before, after, strict=True))
    observation = envs.reset()
    action, _ = learner.predict(observation, action_masks=get_action_masks(envs))
    assert np.take_along_axis(get_action_masks(envs), np.array(action)[:, None], axis=1).all()
