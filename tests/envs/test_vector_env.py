"""`NardyVectorEnv`: equal to single environments, number for number, and its arguments one by one."""

import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode

from nardy_rl.envs import NardyEnv, NardyVectorEnv
from nardy_rl.rules.board import check_boards, pip_count
from nardy_rl.rules.plays import MAX_AFTERSTATES, legal_afterstates
from nardy_rl.rules.scoring import score
from nardy_rl.rules.spec import CHECKERS, OFF, make_rules
from tests.envs.compare import same

LONG, SHORT = "nardy_rl/LongNardy-v0", "nardy_rl/ShortNardy-v0"
N = 5


def actions(info: dict[str, Any], generator: np.random.Generator) -> Any:
    return generator.integers(np.maximum(info["n_afterstates"], 1))


def the_same_with_sync(mode: str, id_: str, **arguments: Any) -> tuple[Any, Any]:
    native = gymnasium.make_vec(id_, num_envs=N, autoreset_mode=mode, **arguments)
    options = {"autoreset_mode": AutoresetMode(mode)}
    sync = gymnasium.make_vec(id_, num_envs=N, vectorization_mode="sync", vector_kwargs=options, **arguments)
    assert isinstance(native, NardyVectorEnv)
    assert native.metadata["autoreset_mode"] == sync.metadata["autoreset_mode"]
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space", "num_envs"):
        assert getattr(native, name) == getattr(sync, name)
    return native, sync


@pytest.mark.parametrize(
    ("id_", "arguments"),
    [
        (LONG, {}),
        (LONG, {"seat": "second", "opponent": "heuristic", "action_mask": False}),
        (LONG, {"seat": "random", "rules": "fnr", "opponent": "pips"}),
        (SHORT, {}),
        (SHORT, {"seat": "random", "opponent": "bearoff", "options": {"scoring": "four_level"}}),
    ],
)
def test_equal_to_single_environments(id_: str, arguments: dict[str, Any]) -> None:
    """Observations, rewards, ends and every entry of the info, over several games of each."""
    native, sync = the_same_with_sync("SameStep", id_, **arguments)
    generator = np.random.default_rng(0)
    ours = native.reset(seed=3)
    assert same(ours, sync.reset(seed=3))
    ended = 0
    for _ in range(160):
        chosen = actions(ours[-1], generator)
        ours = native.step(chosen)
        assert same(ours, sync.step(chosen))
        assert ours[0] in native.observation_space
        ended += int(ours[2].sum())
    assert ended >= 2 * N
    assert native.np_random_seed == sync.np_random_seed == (3, 4, 5, 6, 7)
    states = [[g.bit_generator.state for g in env.np_random] for env in (native, sync)]
    assert states[0] == states[1], "each game has drawn alike from its generator"
    assert same(native.reset(), sync.reset())


def test_equal_where_actions_are_illegal() -> None:
    native, sync = the_same_with_sync("SameStep", LONG, on_illegal="lose")
    assert same(native.reset(seed=0), sync.reset(seed=0))
    generator = np.random.default_rng(1)
    for _ in range(30):
        chosen = generator.integers(0, 40, N)
        ours = native.step(chosen)
        assert same(ours, sync.step(chosen))
    assert "illegal" in {*ours[-1]["final_info"]["result"]}


@pytest.mark.parametrize("id_", [LONG, SHORT])
def test_equal_without_autoreset(id_: str) -> None:
    native, sync = the_same_with_sync("Disabled", id_, seat="random")
    generator = np.random.default_rng(2)
    ours, theirs = native.reset(seed=[9, None, 7, 7, 0]), sync.reset(seed=[9, 8, 7, 7, 0])
    ours, theirs = native.reset(seed=[9, 8, 7, 7, 0]), sync.reset(seed=[9, 8, 7, 7, 0])
    assert same(ours, theirs)
    resets = 0
    for _ in range(150):
        chosen = actions(ours[-1], generator)
        ours = native.step(chosen)
        assert same(ours, sync.step(chosen))
        over = ours[2]
        if over.any():
            resets += 1
            with pytest.raises(ResetNeeded):
                native.step(chosen)
            before = ours[-1]
            seeds = None if resets % 2 else 100 * resets
            ours = native.reset(seed=seeds, options={"reset_mask": over})
            theirs = sync.reset(seed=seeds, options={"reset_mask": over})
            assert same(ours[0], theirs[0])
            for name in ("n_afterstates", "action_mask"):
                assert same(ours[1][name][over], theirs[1][name][over])
                assert same(ours[1][name][~over], before[name][~over]), "the others stay as they were"
    assert resets >= 3


@pytest.mark.parametrize("preset", ["official", "overview", "online", "short"])
def test_a_thousand_random_games(preset: str) -> None:
    """With every invariant that holds for a batch of boards."""
    rules = make_rules(preset)
    envs = NardyVectorEnv(250, rules=preset, seat="random")
    generator = np.random.default_rng(0)
    observations, info = envs.reset(seed=10_000)
    games = 0
    while games < 1000:
        boards, dice = observations["board"], observations["dice"]
        assert boards.dtype == dice.dtype == np.int8
        check_boards(boards, rules)
        choices, offsets = envs.legal_afterstates()
        expected = legal_afterstates(boards, dice, rules)
        assert np.array_equal(choices, expected.boards)
        assert np.array_equal(offsets, expected.offsets)
        assert np.array_equal(info["n_afterstates"], expected.counts)
        assert np.array_equal(info["action_mask"].sum(axis=1), expected.counts)
        assert np.array_equal(info["action_mask"].argmin(axis=1), expected.counts), "the first ones are legal"
        chosen = actions(info, generator)
        picked = choices[offsets[:-1] + chosen]
        observations, rewards, over, truncated, info = envs.step(chosen)
        assert not truncated.any()
        assert (rewards[~over] == 0).all()
        goes_on = observations["board"][~over]
        assert (goes_on[:, 0].sum(axis=1) == CHECKERS).all()
        if rules.geometry == "long":
            assert np.array_equal(goes_on[:, 0], picked[~over, 0]), "nobody else moves his checkers"
            assert (pip_count(goes_on)[:, 1] <= pip_count(boards[~over])[:, 1]).all(), "nobody moves backwards"
        for i in np.flatnonzero(over):
            last, result = info["final_obs"][i]["board"], info["final_info"]["result"][i]
            won, lost = last[:, OFF] == CHECKERS
            if won and lost:
                assert (rules.draw, rewards[i], result) == ("last_roll", 0.0, "draw")
                continue
            [(name, points)] = score((last if won else last[::-1])[None], rules)
            assert rewards[i] == (points if won else -points)
            assert result == f"{'win' if won else 'lose'} {name}"
        games += int(over.sum())


def test_what_was_returned_stays_as_it_was() -> None:
    envs = NardyVectorEnv(8)
    held = []
    returned: Any = envs.reset(seed=1)
    for _ in range(60):
        held.append((returned, pickle.loads(pickle.dumps(returned))))
        envs.legal_afterstates().boards[:] = 0
        envs.legal_afterstates().offsets[:] = 0
        envs.action_masks()[:] = False
        returned = envs.step(np.zeros(8, dtype=np.int64))
    assert all(same(now, then) for now, then in held)
    again = pickle.loads(pickle.dumps(envs))
    for array in (*returned[0].values(), *returned[1:4], *(v for v in returned[4].values() if type(v) is np.ndarray)):
        array[...] = 0
    assert same(envs.step([0] * 8), again.step([0] * 8)), "pickled in the middle of games, they go on alike"


def test_features_of_the_choices() -> None:
    envs, single = NardyVectorEnv(3, seat="second"), NardyEnv(seat="second")
    envs.reset(seed=5)
    features, offsets = envs.afterstate_features()
    assert features.dtype == np.float32
    for i in range(3):
        single.reset(seed=5 + i)
        assert same(features[offsets[i] : offsets[i + 1]], single.afterstate_features())


def test_illegal_actions_change_nothing() -> None:
    envs, twin = NardyVectorEnv(2, on_illegal="raise"), NardyVectorEnv(2)
    _, info = envs.reset(seed=0)
    twin.reset(seed=0)
    too_many = int(info["n_afterstates"][1])
    for wrong in ([0, too_many], [0, MAX_AFTERSTATES], [-1, 0], [0], [[0, 0]], [0.0, 0.0], 0):
        with pytest.raises(InvalidAction):
            envs.step(wrong)  # type: ignore[arg-type]
    assert same(envs.step([0, 0]), twin.step(np.zeros(2, dtype=np.int8)))


def test_seeds() -> None:
    first, second = NardyVectorEnv(3), NardyVectorEnv(3)
    assert same(first.reset(seed=1), second.reset(seed=[1, 2, 3]))
    assert not same(first.reset(), first.reset())
    assert len(set(NardyVectorEnv(3).np_random_seed)) == 3
    for _ in range(2):
        first.reset(seed=4)
        assert first.np_random_seed == (4, 5, 6)
    with pytest.raises(ValueError, match="as many seeds"):
        first.reset(seed=[1, 2])


def test_reset_masks() -> None:
    envs = NardyVectorEnv(3, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded):
        envs.step([0, 0, 0])
    with pytest.raises(ResetNeeded, match="all"):
        envs.reset(options={"reset_mask": np.array([True, False, True])})
    envs.reset(seed=0)
    for wrong in ([True] * 3, np.ones(3)):
        with pytest.raises(TypeError):
            envs.reset(options={"reset_mask": wrong})
    for wrong_shape in (np.ones(2, dtype=bool), np.zeros(3, dtype=bool)):
        with pytest.raises(ValueError, match="reset_mask"):
            envs.reset(options={"reset_mask": wrong_shape})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs"),
        ({"autoreset_mode": "NextStep"}, "SameStep or Disabled"),
        ({"autoreset_mode": "never"}, "never"),
        ({"on_illegal": "ignore"}, "raise, lose"),
        ({"render_mode": "ansi"}, "sync"),
        ({"seat": "third"}, "alternate"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NardyVectorEnv(**arguments)


@pytest.mark.parametrize("id_", [LONG, SHORT])
def test_made_without_a_warning(id_: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gymnasium.make_vec(id_, num_envs=2)
        assert isinstance(envs, NardyVectorEnv)
        assert envs.rules == make_rules("short" if id_ == SHORT else "official")
        assert envs.opponent.spec == "random"
        envs.reset(seed=0)
        envs.step(np.zeros(2, dtype=np.int64))
        envs.close()
