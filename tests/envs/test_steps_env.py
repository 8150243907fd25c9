"""`NardyStepsEnv`: its steps are the prefixes of legal plays, no more and no fewer."""

import pickle
import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium
import numba
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

from nardy_rl.envs import NardyEnv, NardyStepsEnv
from nardy_rl.envs.steps_env import PASS, SOURCES, STEP_ACTIONS, action_step, step_action, turn_graph
from nardy_rl.rules.board import check_boards
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.reference import Turn, as_board
from nardy_rl.rules.spec import BAR, CHECKERS, HEAD, OFF, OFFICIAL, PRESETS, SLOTS, Rules, make_rules
from tests.envs.compare import same
from tests.rules.positions import (
    TurnCase,
    as_arrays,
    combinations,
    constructed_turns,
    describe,
    name_of,
    random_play_turns,
    single_changes,
)

LONG, SHORT = "nardy_rl/LongNardySteps-v0", "nardy_rl/ShortNardySteps-v0"


@numba.njit
def replay(board: Any, parent: Any, child: Any, action: Any, off: Any, n: int, short: bool) -> Any:
    """The board of each state, and whether all ways to it agree; the steps are made by what the actions say.

    `off` tells which steps bear off although the die is too small (R4.3 leftmost).
    """
    boards = np.zeros((n, 2, 26), np.int8)
    known = np.zeros(n, np.bool_)
    boards[0], known[0] = board, True
    agree = True
    for edge in range(len(parent)):
        die, source = action[edge] // 25 + 1, action[edge] % 25 + 1
        target = 0 if off[edge] else max(source - die, 0)
        after = boards[parent[edge]].copy()
        after[0, source] -= 1
        after[0, target] += 1
        if short and target > 0 and after[1, 25 - target] > 0:
            after[1, 25] += after[1, 25 - target]
            after[1, 25 - target] = 0
        agree = agree and known[parent[edge]] and after[0, source] >= 0
        if known[child[edge]]:
            agree = agree and (boards[child[edge]] == after).all()
        boards[child[edge]], known[child[edge]] = after, True
    return boards, known, agree


def check_turns(turns: Sequence[TurnCase], rules: Rules) -> None:
    """Masked steps reach the legal afterstates, all of them and nothing else, and never a dead end."""
    boards, dice = as_arrays(turns)
    after = legal_afterstates(boards, dice, rules)
    for i, turn in enumerate(turns):
        expected = {board.tobytes() for board in after.boards[after.offsets[i] : after.offsets[i + 1]]}
        graph = turn_graph(boards[i], dice[i], rules)
        if not len(graph.action):
            assert expected == {boards[i].tobytes()}, describe(turn, rules)
            continue
        n = len(graph.stop)
        die, source = graph.action // SOURCES + 1, graph.action % SOURCES + 1
        off = (source > die) & (graph.target == OFF)
        assert not off.any() or rules.bear_off_blocked == "leftmost"
        assert (graph.target[~off] == np.maximum(source - die, OFF)[~off]).all()
        short = rules.geometry == "short"
        states, known, agree = replay(boards[i], graph.parent, graph.child, graph.action, off, n, short)
        assert agree, describe(turn, rules)
        goes_on = np.zeros(n, dtype=np.bool_)
        goes_on[graph.parent] = True
        assert np.array_equal(goes_on[known], ~graph.stop[known]), "a turn ends where no step goes on, only there"
        pairs = graph.parent.astype(np.int64) * STEP_ACTIONS + graph.action
        assert len(np.unique(pairs)) == len(pairs), "an action means one step"
        assert {board.tobytes() for board in states[graph.stop & known]} == expected, describe(turn, rules)


@pytest.mark.parametrize("rules", [OFFICIAL, PRESETS["short"]], ids=name_of)
def test_twenty_thousand_turns(rules: Rules) -> None:
    check_turns(random_play_turns(12_000, seed=21, rules=rules, games=50), rules)
    check_turns(constructed_turns(8_000, seed=22, rules=rules), rules)


@pytest.mark.parametrize("preset", [name for name in PRESETS if name not in ("official", "short")])
def test_presets(preset: str) -> None:
    check_turns(random_play_turns(500, seed=23, rules=PRESETS[preset]), PRESETS[preset])
    check_turns(constructed_turns(700, seed=24, rules=PRESETS[preset]), PRESETS[preset])


@pytest.mark.parametrize("rules", list(single_changes()), ids=name_of)
def test_one_option_changed(rules: Rules) -> None:
    check_turns(constructed_turns(100, seed=25, rules=rules), rules)


def test_mixed_options() -> None:
    for number, rules in enumerate(combinations(40, seed=26)):
        check_turns(constructed_turns(80, seed=number, rules=rules), rules)


def prefixes(turn: TurnCase, rules: Rules) -> set[tuple[int, ...]]:
    """All prefixes of legal plays, as actions, by the slow twin of the generator."""
    twin = Turn(as_board(turn.board), turn.dice, rules)
    layers = list(twin.layers())
    stops = twin.stops(layers)
    useful = set(stops)
    for layer in reversed(layers):
        useful |= {node for node in layer if any(child in useful for _, child in twin.children(node))}
    found: set[tuple[int, ...]] = set()
    front = {((), layers[0].__iter__().__next__())}
    while front:
        further = set()
        for way, node in front:
            if node in stops:
                continue
            for step, child in twin.children(node):
                if child in useful:
                    [die] = {die for die in node.dice if node.dice.count(die) > child.dice.count(die)}
                    further.add(((*way, step_action(die, step.source)), child))
        found |= {way for way, _ in further}
        front = further
    return found


@pytest.mark.parametrize("rules", [OFFICIAL, *(PRESETS[name] for name in ("moscow", "online", "short"))], ids=name_of)
def test_the_mask_is_the_prefixes_of_the_reference(rules: Rules) -> None:
    """Every sequence of steps, not only the boards: head (R2), blocks in passing (R3.3), larger die (R1.3), R1.4."""
    turns = [*constructed_turns(250, seed=27, rules=rules), *random_play_turns(100, seed=28, rules=rules)]
    for turn in turns:
        graph = turn_graph(np.array(turn.board, dtype=np.int8), np.array(turn.dice, dtype=np.int8), rules)
        found, front = set(), {((), 0)}
        while front:
            front = {
                ((*way, int(graph.action[edge])), int(graph.child[edge]))
                for way, state in front
                for edge in np.flatnonzero(graph.parent == state)
            }
            found |= {way for way, _ in front}
        assert found == prefixes(turn, rules), describe(turn, rules)


def test_actions_and_steps() -> None:
    seen = [step_action(die, source) for die in range(1, 7) for source in range(1, SOURCES + 1)]
    assert seen == list(range(PASS))
    assert all(step_action(*action_step(action)) == action for action in seen)
    assert action_step(step_action(6, BAR)) == (6, BAR)


def moved(board: np.ndarray, source: int, target: int, rules: Rules) -> np.ndarray:
    after = board.copy()
    after[0, source] -= 1
    after[0, target] += 1
    if rules.geometry == "short" and target != OFF and after[1, 25 - target]:
        after[1, 25 - target] -= 1
        after[1, BAR] += 1
    return after


@pytest.mark.parametrize("preset", ["official", "online", "short"])
@pytest.mark.parametrize("games", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_games(preset: str, games: int) -> None:
    rules = make_rules(preset)
    env = NardyStepsEnv(rules=preset)
    turns = NardyEnv(rules=preset)  # the same game in whole turns
    generator = np.random.default_rng(0)
    for game in range(games):
        seed = 5 if game == 0 else None
        observation, info = env.reset(seed=seed)
        whole, _ = turns.reset(seed=seed)
        over, reward = False, 0.0
        while not over:
            dice = observation["dice"].tolist()
            thrown = [int(die) for die in whole["dice"]]
            assert sorted(dice) == sorted(thrown * (2 if thrown[0] == thrown[1] else 1) + [0] * 4)[-4:]
            assert np.array_equal(observation["board"], whole["board"])
            assert observation["left_head"] == 0
            left_head = 0
            choices = turns.legal_afterstates()
            while True:
                assert observation in env.observation_space
                assert reward == 0.0
                check_boards(observation["board"][None], rules)
                legal = np.flatnonzero(info["action_mask"])
                assert np.array_equal(legal, np.flatnonzero(env.action_masks()))
                assert len(legal)
                assert (PASS in legal) == (len(choices) == 1 and np.array_equal(choices[0], whole["board"]))
                action = int(generator.choice(legal))
                before, turn = observation, env._tables.turn[0]
                if action != PASS:
                    die, source = action_step(action)
                    assert die in before["dice"]
                    assert before["board"][0, source] > 0
                    left_head += source == HEAD
                observation, reward, over, truncated, info = env.step(action)
                assert type(reward) is float
                assert (type(over), truncated) == (bool, False)
                if env._tables.turn[0] != turn:
                    break
                assert observation["left_head"] == left_head
                assert np.count_nonzero(observation["dice"]) == np.count_nonzero(before["dice"]) - 1
            index = 0
            if action != PASS:
                landings = [max(source - die, OFF)] + [OFF] * (rules.bear_off_blocked == "leftmost")
                ends = [moved(before["board"], source, target, rules) for target in landings]
                [index] = {i for i, choice in enumerate(choices) if any(np.array_equal(choice, end) for end in ends)}
            whole, *same_end, last = turns.step(index)
            assert same_end == [reward, over, False]
            assert last.get("result") == info.get("result")
            if over:
                assert np.array_equal(observation["board"], whole["board"])
                assert (observation["board"][:, OFF] == CHECKERS).any()
                assert not observation["dice"].any()
                assert not info["action_mask"].any()
                with pytest.raises(ResetNeeded):
                    env.step(PASS)


@pytest.mark.parametrize("id_", [LONG, SHORT])
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_gymnasiums_checker_has_nothing_to_say(id_: str, render_mode: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(id_, render_mode=render_mode)
        check_env(env.unwrapped)
        env.close()


def test_illegal_actions() -> None:
    env, twin, loser = NardyStepsEnv(on_illegal="raise"), NardyStepsEnv(), NardyStepsEnv(seat="second")
    _, info = env.reset(seed=4)
    twin.reset(seed=4)
    legal = np.flatnonzero(info["action_mask"])
    assert 0 < len(legal) < PASS
    for action in range(STEP_ACTIONS + 1):
        if action not in legal:
            with pytest.raises(InvalidAction):
                env.step(action)
    assert same(env.step(legal[0]), twin.step(int(legal[0])))
    _, info = loser.reset(seed=4)
    observation, *_ = loser.step(np.flatnonzero(info["action_mask"])[0])
    last, reward, over, _, info = loser.step(PASS)
    assert (reward, over, info["result"]) == (-2.0, True, "illegal")
    assert np.array_equal(last["board"], observation["board"])
    assert not last["dice"].any()
    assert not info["action_mask"].any()


def test_pickled_in_the_middle_of_a_turn() -> None:
    env = NardyStepsEnv(seat="random")
    _, info = env.reset(seed=2)
    _, _, _, _, info = env.step(np.flatnonzero(info["action_mask"])[0])
    again = pickle.loads(pickle.dumps(env))
    over = False
    while not over:
        action = np.flatnonzero(info["action_mask"])[-1]
        ours = env.step(action)
        assert same(ours, again.step(action))
        _, _, over, _, info = ours
    assert same(env.reset(), again.reset())


def test_a_pass_is_an_action_of_its_own() -> None:
    """From a start where a 6 is closed: 6-6 is thrown now and then, and can never be played."""
    start = [0] * SLOTS
    start[24], start[6] = 14, 1
    env = NardyStepsEnv(options={"start": start, "head_rolls": []}, seat="first")
    env.reset(seed=0)
    for _ in range(200):
        observation, info = env.reset()
        if observation["dice"].tolist() == [6] * 4:
            break
    assert observation["dice"].tolist() == [6] * 4
    assert np.flatnonzero(info["action_mask"]).tolist() == [PASS]
    assert len(turn_graph(observation["board"], np.array([6, 6], dtype=np.int8), env.rules).action) == 0
    after, reward, over, _, _ = env.step(PASS)
    assert (reward, over) == (0.0, False)
    assert np.array_equal(after["board"][0], observation["board"][0])
    assert not np.array_equal(after["board"][1], observation["board"][1]), "the opponent has played"


def test_rendering() -> None:
    env = NardyStepsEnv(render_mode="ansi")
    observation, info = env.reset(seed=0)
    env.step(np.flatnonzero(info["action_mask"])[0])
    left = [int(die) for die in env._left]
    assert f"dice {left[0]}" in str(env.render())
    picture = NardyStepsEnv(render_mode="rgb_array", rules="short")
    picture.reset(seed=0)
    frame = picture.render()
    assert isinstance(frame, np.ndarray)
    assert frame.dtype == np.uint8
    assert frame.ndim == 3
    assert observation["board"].shape == (2, SLOTS)
