"""The AEC environment against PettingZoo's own tests, and 1,000 games of it (needs the extra `pettingzoo`)."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from pettingzoo.test import api_test, render_test, seed_test

from nardy_rl.envs import aec
from nardy_rl.envs.env import NardyEnv
from nardy_rl.envs.features import FEATURES
from nardy_rl.rules.board import check_boards
from nardy_rl.rules.plays import MAX_AFTERSTATES, legal_afterstates
from nardy_rl.rules.scoring import score
from nardy_rl.rules.spec import CHECKERS, OFF, SLOTS, make_rules

pytestmark = pytest.mark.extras

PRESETS = ["official", "short"]


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("make", [aec.env, aec.NardyAEC])
def test_pettingzoos_api_test(make: Callable[..., Any], rules: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # what it says of every observation with a mask that is not on its own list of names
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably should be")
        api_test(make(rules), num_cycles=1000)


@pytest.mark.parametrize("rules", PRESETS)
def test_pettingzoos_seed_test(rules: str) -> None:
    seed_test(lambda: aec.env(rules), num_cycles=500)


def test_pettingzoos_render_test() -> None:
    # it makes a first one in the mode "human", which there is none of, only to ask for the modes
    render_test(lambda render_mode: aec.env(render_mode=None if render_mode == "human" else render_mode))
    with pytest.raises(ValueError, match="human"):
        aec.env(render_mode="human")


@pytest.mark.parametrize("rules_name", PRESETS)
def test_a_thousand_random_games(rules_name: str) -> None:
    rules = make_rules(rules_name)
    game = aec.NardyAEC(rules_name)
    generator = np.random.default_rng(0)
    for number in range(1000):
        game.reset(seed=0 if number == 0 else None)
        turn = 0
        while not game.terminations["player_0"]:
            agent = game.agent_selection
            assert agent == aec.AGENTS[turn % 2]
            observation, reward, over, truncated, info = game.last()
            assert (reward, over, truncated, info) == (0.0, False, False, {})
            mask, seen = observation["action_mask"], observation["observation"]
            board, dice, seat = seen[:52].reshape(1, 2, SLOTS), seen[52:54], seen[54]
            assert seat == turn % 2
            choices = game.legal_afterstates()
            if number < 100:  # the slower half of the checks
                assert observation in game.observation_space(agent)
                check_boards(board, rules)
                assert np.array_equal(choices, legal_afterstates(board, dice[None], rules).boards)
                assert np.array_equal(np.flatnonzero(mask), np.arange(len(choices)))
                other = game.observe(aec.AGENTS[1 - turn % 2])
                assert np.array_equal(other["observation"][:52].reshape(2, SLOTS), board[0, ::-1])
                assert not other["observation"][52:54].any()
                assert not other["action_mask"].any()
            action = int(generator.integers(len(choices)))
            game.step(action)
            turn += 1
        winner = agent if choices[action][0, OFF] == CHECKERS else aec.AGENTS[turn % 2]
        mine, theirs = (game.rewards[name] for name in (agent, aec.AGENTS[turn % 2]))
        assert mine == -theirs
        if mine == 0:
            assert rules.draw == "last_roll"
            assert {info["result"] for info in game.infos.values()} == {"draw"}
        else:
            last = choices[action] if winner == agent else choices[action][::-1]
            [(name, points)] = score(last[None], rules)
            assert game.rewards[winner] == points
            assert game.infos[winner]["result"] == f"win {name}"
        for _ in aec.AGENTS:
            assert game.last()[2]
            game.step(None)
        assert game.agents == []


def test_equal_to_the_gymnasium_environment() -> None:
    """Seed for seed the same dice: the learner's side of it, while the opponent is copied move by move."""
    env, game = NardyEnv(seat="first", opponent="pips"), aec.NardyAEC()
    observation, _ = env.reset(seed=3)
    game.reset(seed=3)
    for _ in range(20):
        ours = game.observe("player_0")["observation"]
        assert np.array_equal(ours[:52], observation["board"].ravel())
        assert np.array_equal(ours[52:54], observation["dice"])
        observation, *_ = env.step(0)
        game.step(0)
        wanted = observation["board"][::-1]
        [reply] = np.flatnonzero((game.legal_afterstates() == wanted).all(axis=(1, 2)))
        game.step(int(reply))


def test_illegal_actions() -> None:
    game = aec.NardyAEC()
    with pytest.raises(ResetNeeded):
        game.step(0)
    game.reset(seed=1)
    before = game.observe("player_0")
    n = len(game.legal_afterstates())
    for action in (n, -1, MAX_AFTERSTATES, 0.0, None):
        with pytest.raises(InvalidAction):
            game.step(action)
    assert all(np.array_equal(before[name], game.observe("player_0")[name]) for name in before)
    wrapped = aec.env("short")
    wrapped.reset(seed=1)
    wrapped.step(MAX_AFTERSTATES - 1)
    assert wrapped.rewards == {"player_0": -3.0, "player_1": 0}
    assert all(wrapped.terminations.values())


def test_features_of_the_choices() -> None:
    game = aec.NardyAEC()
    assert game.afterstate_features().shape == (0, FEATURES)
    game.reset(seed=1)
    features = game.afterstate_features()
    assert features.shape == (len(game.legal_afterstates()), FEATURES)
    assert (features[:, -1] == 1).all()
    game.step(0)
    assert (game.afterstate_features()[:, -1] == 0).all()
