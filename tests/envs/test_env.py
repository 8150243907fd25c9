"""`NardyEnv`: Gymnasium's own checker, whole games with invariants, and the arguments one by one."""

import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

import nardy_rl.envs
import nardy_rl.envs.tables as tables_module
from nardy_rl.agents.baselines import PipsAgent
from nardy_rl.agents.registry import make_agent
from nardy_rl.envs import NardyEnv
from nardy_rl.envs.features import FEATURES, afterstate_features
from nardy_rl.envs.tables import worst_loss
from nardy_rl.rules.board import check_boards, pip_count
from nardy_rl.rules.notation import format_position, parse_board
from nardy_rl.rules.plays import MAX_AFTERSTATES, legal_afterstates
from nardy_rl.rules.scoring import score
from nardy_rl.rules.spec import BAR, CHECKERS, HEAD, OFF, PRESETS, SLOTS, make_rules
from tests.envs.compare import same

ID, SHORT = "nardy_rl/LongNardy-v0", "nardy_rl/ShortNardy-v0"


def start(**checkers: int) -> list[int]:
    """A start as the option has it: start(p0=13, p1=2)."""
    row = [0] * SLOTS
    for slot, count in checkers.items():
        row[int(slot[1:])] = count
    return row


def play(env: gymnasium.Env, seed: int | None = None) -> list[tuple[Any, ...]]:
    """Plays a game with random legal actions; all that `reset` and `step` returned, filled up to five values."""
    if seed is not None:
        env.action_space.seed(seed)
    observation, info = env.reset(seed=seed)
    seen: list[tuple[Any, ...]] = [(observation, 0.0, False, False, info)]
    while not seen[-1][2]:
        seen.append(env.step(env.action_space.sample(seen[-1][4]["action_mask"])))
    return seen


@pytest.mark.parametrize("id_", [ID, SHORT])
@pytest.mark.parametrize("seat", ["alternate", "random", "first", "second"])
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_gymnasiums_checker_has_nothing_to_say(id_: str, seat: str, render_mode: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(id_, seat=seat, render_mode=render_mode)
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize(
    ("preset", "games"),
    [*((name, 7) for name in PRESETS), *(pytest.param(p, 1000, marks=pytest.mark.slow) for p in ("official", "short"))],
)
def test_random_games(preset: str, games: int) -> None:
    """Through the wrappers of `gymnasium.make`, its passive checker included; `test_vector_env` has 1,000 of each."""
    rules = make_rules(preset)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(ID, rules=preset, opponent="random")
        inner = env.unwrapped
        assert isinstance(inner, NardyEnv)
        for game in range(games):
            observation, info = env.reset(seed=100 if game == 0 else None)
            env.action_space.seed(game)
            assert observation["seat"] == game % 2
            reward, over, pips = 0.0, False, None
            while not over:
                assert reward == 0.0
                board, dice = observation["board"], observation["dice"]
                assert observation in env.observation_space
                check_boards(board[None], rules)
                expected = legal_afterstates(board[None], dice[None], rules).boards
                choices = inner.legal_afterstates()
                assert np.array_equal(choices, expected)
                assert info["action_mask"].dtype == np.int8
                assert np.array_equal(np.flatnonzero(info["action_mask"]), np.arange(len(choices)))
                assert np.array_equal(info["action_mask"].astype(bool), inner.action_masks())
                assert info["n_afterstates"] == len(choices)
                assert "result" not in info
                now = pip_count(board)
                if rules.geometry == "long":
                    assert pips is None or (now <= pips).all(), "nobody moves backwards"
                action = env.action_space.sample(info["action_mask"])
                observation, reward, over, truncated, info = env.step(action)
                assert type(reward) is float
                assert type(over) is bool
                assert truncated is False
                if not over and rules.geometry == "long":
                    assert np.array_equal(observation["board"][0], choices[action][0]), "nobody else moves his checkers"
                pips = now
            self_off, other_off = observation["board"][:, OFF] == CHECKERS
            assert self_off or other_off
            assert observation["dice"].tolist() == [0, 0]
            assert not info["action_mask"].any()
            assert info["n_afterstates"] == 0
            assert inner.legal_afterstates().shape == (0, 2, SLOTS)
            if self_off and other_off:
                assert (rules.draw, reward, info["result"]) == ("last_roll", 0.0, "draw")
            else:
                board = observation["board"] if self_off else observation["board"][::-1]
                [(name, points)] = score(board[None], rules)
                assert reward == (points if self_off else -points)
                assert info["result"] == f"{'win' if self_off else 'lose'} {name}"
            with pytest.raises(ResetNeeded):
                env.step(0)


def test_a_seed_and_the_actions_fix_the_game() -> None:
    first, second = (gymnasium.make(ID, seat="random", opponent="heuristic") for _ in range(2))
    games = [play(first, seed=5), play(first)]
    assert same(games, [play(second, seed=5), play(second)])
    assert not same(games[0], games[1])
    assert not same(games[0], play(second, seed=6))


@pytest.mark.parametrize(
    ("preset", "dice", "board"),
    [
        ("official", [[2, 6], [3, 5], [5, 1], [2, 5]], "24:12 23:1 14:1 13:1 | 24:12 18:1 4:1 3:1"),
        ("short", [[2, 6], [3, 5], [5, 1], [2, 5]], "20:1 13:6 8:1 7:1 6:5 5:1 | bar:1 23:1 13:5 8:1 6:5 2:1 1:1"),
    ],
)
def test_a_seed_means_the_same_game_everywhere(preset: str, dice: list[list[int]], board: str) -> None:
    """Recorded. The dice may never change; the board may, with the version of the ids, if the generator lists the
    afterstates in another order on purpose."""
    env = NardyEnv(rules=preset, seat="second")
    observation, _ = env.reset(seed=42)
    seen = [observation["dice"].tolist()]
    for _ in range(3):
        observation, *_ = env.step(0)
        seen.append(observation["dice"].tolist())
    assert seen == dice
    assert format_position(observation["board"]) == board


def test_what_was_returned_stays_as_it_was() -> None:
    env = NardyEnv(seat="second")
    seen = []
    observation, info = env.reset(seed=3)
    over = False
    while not over:
        seen.append(((observation, info), pickle.loads(pickle.dumps((observation, info)))))
        env.legal_afterstates()[:] = 0
        env.action_masks()[:] = False
        observation, _, over, _, info = env.step(0)
    assert all(same(held, copied) for held, copied in seen)
    observation, info = env.reset(seed=3)
    observation["board"][:] = 0
    observation["dice"][:] = 0
    info["action_mask"][:] = 0
    again = pickle.loads(pickle.dumps(env))
    assert same(env.step(0), again.step(0)), "pickled in the middle of a game, it goes on alike"
    assert (env._board().sum(axis=1) == CHECKERS).all()


@pytest.mark.parametrize(("seat", "expected"), [("first", [0] * 4), ("second", [1] * 4), ("alternate", [0, 1, 0, 1])])
def test_seats(seat: str, expected: list[int]) -> None:
    env = NardyEnv(seat=seat)
    assert [int(env.reset()[0]["seat"]) for _ in range(4)] == expected
    for observation in (env.reset()[0] for _ in range(4)):
        moved = observation["board"][1, 24] < CHECKERS
        assert moved == (observation["seat"] == 1), "in seat 1 the opponent has played already"
    assert int(env.reset(seed=1)[0]["seat"]) == expected[0], "a seed starts the alternation anew"


def test_a_random_seat_is_drawn() -> None:
    env = NardyEnv(seat="random")
    env.reset(seed=0)
    assert {int(env.reset()[0]["seat"]) for _ in range(30)} == {0, 1}


def test_the_lot_is_never_a_double() -> None:
    lot, throw = NardyEnv(rules="fnr", seat="first"), NardyEnv(seat="first")
    for env in (lot, throw):
        env.reset(seed=0)
    doubles = [sum(dice[0] == dice[1] for dice in (env.reset()[0]["dice"] for _ in range(120))) for env in (lot, throw)]
    assert doubles[0] == 0
    assert doubles[1] > 0


def test_the_dice_are_fair() -> None:
    env = NardyEnv(seat="first")
    env.reset(seed=0)
    dice = np.array([env.reset()[0]["dice"] for _ in range(1800)], dtype=np.int64)
    counts = np.bincount((dice[:, 0] - 1) * 6 + dice[:, 1] - 1, minlength=36)
    chi2 = ((counts - 50) ** 2 / 50).sum()
    assert chi2 < 66.6, "36 equally likely throws (35 degrees of freedom, one in a thousand)"


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", ["first", "second"])
def test_the_last_throw_makes_a_draw(seat: str) -> None:
    """R5.4: whoever moves first is off at once, and so is the other, in either seat."""
    env = NardyEnv(options={"start": start(p0=13, p1=2)}, seat=seat)
    observation, _ = env.reset(seed=1)
    assert observation["board"][1, OFF] == (CHECKERS if seat == "second" else 13)
    observation, reward, over, _, info = env.step(0)
    assert (reward, over, info["result"]) == (0.0, True, "draw")
    assert np.copysign(1.0, reward) == 1.0, "not -0.0"
    assert (observation["board"][:, OFF] == CHECKERS).all()


def test_without_last_throw_the_first_wins() -> None:
    options = {"start": start(p0=13, p1=2), "draw": "none"}
    env = NardyEnv(options=options, seat="first")
    env.reset(seed=1)
    _, reward, over, _, info = env.step(0)
    assert (reward, over, info["result"]) == (1.0, True, "win oin")
    for seat in ("second", "random", "alternate"):
        with pytest.raises(ValueError, match="before the learner's first turn"):
            NardyEnv(options=options, seat=seat)


@pytest.mark.parametrize("seat", ["first", "second"])
def test_a_last_throw_that_is_not_enough(seat: str) -> None:
    """Three checkers each: only a double takes the last off; the first seat wins or draws, never loses by it."""
    env = NardyEnv(options={"start": start(p0=12, p1=3)}, seat=seat)
    env.reset(seed=0)
    results = set()
    for _ in range(60):
        env.reset()
        reward, over, info = 0.0, False, {}
        while not over:
            _, reward, over, _, info = env.step(0)
        results.add((reward, info["result"]))
    assert results == {(1.0, "win oin"), (-1.0, "lose oin"), (0.0, "draw")}


def test_scorings_reach_the_reward() -> None:
    assert worst_loss(make_rules("official")) == 2
    assert worst_loss(make_rules("overview")) == 4
    assert worst_loss(make_rules("casual")) == 45


# --- illegal actions --------------------------------------------------------------------------------------------------


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    env, twin = NardyEnv(on_illegal="raise"), NardyEnv()
    for each in (env, twin):
        each.reset(seed=4)
    n = len(env.legal_afterstates())
    for action in (n, MAX_AFTERSTATES - 1, MAX_AFTERSTATES, -1, 10**30, 0.0, "0", None):
        with pytest.raises(InvalidAction):
            env.step(action)  # type: ignore[arg-type]
    assert same(env.step(np.int64(n - 1)), twin.step(n - 1))


@pytest.mark.parametrize(("preset", "loss"), [("official", -2.0), ("overview", -4.0), ("casual", -45.0)])
def test_an_illegal_action_loses(preset: str, loss: float) -> None:
    env = NardyEnv(rules=preset, render_mode="ansi")
    before, _ = env.reset(seed=4)
    observation, reward, over, truncated, info = env.step(MAX_AFTERSTATES - 1)
    assert (reward, over, truncated, info["result"]) == (loss, True, False, "illegal")
    assert np.array_equal(observation["board"], before["board"])
    assert observation in env.observation_space
    assert not info["action_mask"].any()
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    with pytest.raises(InvalidAction):
        env.step(MAX_AFTERSTATES)


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id_", "spec"),
    [*((ID, spec) for spec in ("random", "pips", "bearoff", "heuristic")), *((SHORT, s) for s in ("pips", "bearoff"))],
)
def test_opponents_by_name(id_: str, spec: str) -> None:
    env = gymnasium.make(id_, opponent=spec)
    assert env.unwrapped.opponent.spec == spec  # type: ignore[attr-defined]
    assert play(env, seed=1)[-1][2]


def test_an_opponent_may_be_an_agent() -> None:
    rules = make_rules("moscow")
    assert same(
        play(NardyEnv(PipsAgent(rules), rules="moscow"), seed=2), play(NardyEnv("pips", rules="moscow"), seed=2)
    )
    with pytest.raises(ValueError, match="other rules"):
        NardyEnv(make_agent("pips", rules))


def test_a_better_opponent_wins_more() -> None:
    def mean(opponent: str) -> float:
        env = NardyEnv(opponent)
        env.reset(seed=0)
        return float(np.mean([play(env, seed=None)[-1][1] for _ in range(30)]))

    assert mean("heuristic") < mean("random") - 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponent": "nobody"}, "nobody"),
        ({"rules": "chess"}, "chess"),
        ({"options": {"nonsense": 1}}, "nonsense"),
        ({"rules": "short", "opponent": "heuristic"}, "long nardy only"),
        ({"seat": "third"}, "alternate, random, first, second"),
        ({"on_illegal": "ignore"}, "raise, lose"),
        ({"render_mode": "human"}, "ansi"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NardyEnv(**arguments)


def test_before_the_first_reset() -> None:
    env = NardyEnv()
    with pytest.raises(ResetNeeded):
        env.step(0)
    assert not env.action_masks().any()


def test_a_roll_with_too_many_choices_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    env = NardyEnv()
    monkeypatch.setattr(tables_module, "MAX_AFTERSTATES", 0)
    with pytest.raises(RuntimeError, match="afterstates"):
        env.reset()


def test_rendering() -> None:
    env = NardyEnv(render_mode="ansi", seat="second")
    observation, _ = env.reset(seed=1)
    text = env.render()
    assert text is not None
    drawing, _, last = text.rpartition("\n")
    assert last == "x is the learner, who moved second"
    assert np.array_equal(np.array(parse_board(drawing)), observation["board"])
    assert f"dice {observation['dice'][0]}-{observation['dice'][1]}" in text
    result = play(env)[-1][4]["result"]
    assert str(env.render()).endswith(f"game over: {result}")

    with pytest.warns(UserWarning, match="render mode"):
        assert NardyEnv().render() is None


@pytest.mark.parametrize("rules", ["official", "short"])
def test_a_picture(rules: str) -> None:
    env = NardyEnv(rules=rules, render_mode="rgb_array")
    env.reset(seed=1)
    first = env.render()
    assert isinstance(first, np.ndarray)
    assert first.dtype == np.uint8
    assert first.shape[2] == 3
    assert min(first.shape[:2]) > 200
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 10
    assert np.array_equal(first, env.render())
    env.step(0)
    second = env.render()
    assert isinstance(second, np.ndarray)
    assert first.shape == second.shape
    assert (first != second).any()
    play(env)
    last = env.render()
    assert isinstance(last, np.ndarray)
    assert last.shape == first.shape, "a video has frames of one size"


def test_features_say_what_is_on_the_board() -> None:
    board = np.zeros((1, 2, SLOTS), dtype=np.int8)
    board[0, 0, [OFF, 1, 2, 3, 4, HEAD]] = [2, 1, 2, 3, 4, 3]
    board[0, 1, [BAR, 6]] = [3, 12]
    [row] = afterstate_features(board, np.array([0]))
    assert row.dtype == np.float32
    assert row.shape == (FEATURES,) == (197,)
    learner, opponent, seat = row[:98], row[98:196], row[196]
    assert learner[:16].reshape(4, 4).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0.5]]
    assert learner[4 * 23 :].tolist() == pytest.approx([1, 1, 1, 0, 0, 2 / 15])
    assert not learner[16 : 4 * 23].any()
    assert opponent[20:24].tolist() == [1, 1, 1, 4.5]
    assert opponent[96:].tolist() == [1.5, 0]
    assert np.count_nonzero(opponent) == 5
    assert seat == 1
    assert afterstate_features(board, np.array([1]))[0, -1] == 0


def test_features_of_the_choices() -> None:
    env = NardyEnv(rules="short")
    for seat in (0, 1):
        env.reset()
        features = env.afterstate_features()
        assert same(features, afterstate_features(env.legal_afterstates(), np.full(len(features), seat)))
        while env.legal_afterstates().size:
            env.step(0)
        assert env.afterstate_features().shape == (0, FEATURES)


def test_without_the_mask() -> None:
    env, twin = NardyEnv(action_mask=False), NardyEnv()
    for ours, theirs in ((env.reset(seed=1), twin.reset(seed=1)), (env.step(0), twin.step(0))):
        assert set(ours[-1]) == {"n_afterstates"}
        assert theirs[-1]["action_mask"].sum() == ours[-1]["n_afterstates"]
        assert same(ours[:-1], theirs[:-1])


@pytest.mark.parametrize("game", ["Long", "Short"])
def test_the_package_registers_them(game: str) -> None:
    assert nardy_rl.envs.NardyEnv is NardyEnv
    rules = make_rules("official" if game == "Long" else "short")
    turns, steps = gymnasium.spec(f"nardy_rl/{game}Nardy-v0"), gymnasium.spec(f"nardy_rl/{game}NardySteps-v0")
    assert turns.entry_point == "nardy_rl.envs.env:NardyEnv"
    assert turns.vector_entry_point == "nardy_rl.envs.vector_env:NardyVectorEnv"
    assert steps.entry_point == "nardy_rl.envs.steps_env:NardyStepsEnv"
    for spec in (turns, steps):
        assert gymnasium.make(spec).unwrapped.rules == rules  # type: ignore[attr-defined]
