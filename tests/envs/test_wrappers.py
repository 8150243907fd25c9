"""The wrappers of Gymnasium that people put around an environment, and its own vector environments."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import AutoresetMode

from nardy_rl.envs import NardyEnv, NardyStepsEnv, NardyVectorEnv
from nardy_rl.rules.spec import SLOTS
from tests.envs.compare import same

IDS = [f"nardy_rl/{game}Nardy{kind}-v0" for game in ("Long", "Short") for kind in ("", "Steps")]


def play(env: gymnasium.Env[Any, Any], seed: int) -> list[Any]:
    env.action_space.seed(seed)
    seen: list[Any] = [env.reset(seed=seed)]
    over = False
    while not over:
        seen.append(env.step(env.action_space.sample(seen[-1][-1]["action_mask"])))
        over = seen[-1][2] or seen[-1][3]
    return seen


@pytest.mark.parametrize("id_", IDS)
def test_record_episode_statistics(id_: str) -> None:
    env = wrappers.RecordEpisodeStatistics(gymnasium.make(id_))
    seen = play(env, 1)
    episode = seen[-1][-1]["episode"]
    assert episode["r"] == seen[-1][1]
    assert episode["l"] == len(seen) - 1


@pytest.mark.parametrize("id_", IDS)
def test_time_limit(id_: str) -> None:
    seen = play(wrappers.TimeLimit(gymnasium.make(id_), max_episode_steps=10), 1)
    assert len(seen) == 11
    assert seen[-1][2:4] == (False, True)
    assert len(play(gymnasium.make(id_, max_episode_steps=5), 1)) == 6


@pytest.mark.parametrize("id_", IDS)
def test_flatten_observation(id_: str) -> None:
    plain, board = gymnasium.make(id_), wrappers.FilterObservation(gymnasium.make(id_), ["board"])
    flat, everything = wrappers.FlattenObservation(board), wrappers.FlattenObservation(gymnasium.make(id_))
    assert flat.observation_space.shape == (2 * SLOTS,)
    for one, ours, all_of_it in zip(play(plain, 3), play(flat, 3), play(everything, 3), strict=True):
        assert ours[0].dtype == np.int8
        assert np.array_equal(ours[0], one[0]["board"].ravel())
        assert all_of_it[0] in everything.observation_space


def test_transform_reward_and_order() -> None:
    env = wrappers.TransformReward(gymnasium.make(IDS[0]), lambda reward: reward / 2)
    assert abs(play(env, 0)[-1][1]) in (0, 0.5, 1)
    unordered = gymnasium.make(IDS[0])
    with pytest.raises(gymnasium.error.ResetNeeded):
        unordered.step(0)


@pytest.mark.parametrize("id_", IDS)
def test_render_collection(id_: str) -> None:
    env = gymnasium.make(id_, render_mode="rgb_array_list")
    env.reset(seed=0)
    frames = env.render()
    assert isinstance(frames, list)
    assert len(frames) == 1


@pytest.mark.parametrize("id_", IDS)
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_gymnasiums_vector_environments(id_: str, mode: str) -> None:
    envs = gymnasium.make_vec(id_, num_envs=2, vectorization_mode=mode)
    single = gymnasium.make(id_).unwrapped
    assert isinstance(single, NardyEnv | NardyStepsEnv)
    observations, info = envs.reset(seed=1)
    alone = single.reset(seed=2)
    for _ in range(15):
        assert same({name: value[1] for name, value in observations.items()}, alone[0])
        actions = info["action_mask"].argmax(axis=1)
        observations, _, _, _, info = envs.step(actions)
        alone = single.step(actions[1])[::4]
    envs.close()


def test_statistics_of_the_native_vector_environment() -> None:
    """Gymnasium before 1.4 miscounts under SAME_STEP: it takes the step after an end for a reset."""
    lost_by_gymnasium = int(tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4))
    envs = wrappers.vector.RecordEpisodeStatistics(gymnasium.make_vec(IDS[0], num_envs=4))
    _, info = envs.reset(seed=1)
    generator = np.random.default_rng(0)
    returns = 0
    length = np.zeros(4, dtype=np.int64)
    lost = np.zeros(4, dtype=np.int64)
    for _ in range(120):
        _, rewards, over, _, info = envs.step(generator.integers(info["n_afterstates"]))
        length += 1
        for i in np.flatnonzero(over):
            assert info["episode"]["r"][i] == rewards[i]
            assert info["episode"]["l"][i] == length[i] - lost[i]
            length[i], lost[i] = 0, lost_by_gymnasium
            returns += 1
    assert returns > 4


def test_observation_wrappers_of_the_native_vector_environment() -> None:
    """Gymnasium forbids these with SAME_STEP, where a second observation hides in the info."""
    inner = NardyVectorEnv(3, autoreset_mode=AutoresetMode.DISABLED)
    envs = wrappers.vector.FlattenObservation(wrappers.vector.FilterObservation(inner, ["board"]))
    observations, _ = envs.reset(seed=0)
    assert observations.shape == (3, 2 * SLOTS)
    assert np.array_equal(observations, inner.reset(seed=0)[0]["board"].reshape(3, -1))
    infos = wrappers.vector.DictInfoToList(NardyVectorEnv(3))
    _, info = infos.reset(seed=0)
    assert len(info) == 3
