"""How fast the environments are, beside OpenSpiel's and pgx's backgammon, on one machine in one run.

    python benchmarks/env_speed.py [seconds=2] [runs=5] [json=speed.json]

Every row plays random legal actions and starts a new game where one is over. What is counted:

- *turns*: throws of the dice that were played, by either side, forced passes included. This is the figure to compare,
  for environments differ in what a step is and in whether the opponent is inside.
- *steps*: calls of `step` or `apply_action` with a player's action; in a batch, one for each game. A step of `NardyEnv`
  and of its vector forms is the learner's turn and the opponent's; of the PettingZoo environment one turn; of
  `NardyStepsEnv` and of pgx one checker's step; of OpenSpiel a turn, or half of a turn with a double.

Inside the measured time: legal actions or masks as the environment gives them, the draw among them, steps, resets.
Outside it: imports, compilation, the first steps. Everything runs in one thread, except that XLA uses as many as it
likes. Rows whose package (extras `pettingzoo` and `benchmark`) is not installed are left out and named.
"""

import dataclasses
import itertools
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray
from omegaconf import OmegaConf

import nardy_rl.envs  # noqa: F401  (registers the ids)
from nardy_rl.agents.base import Decisions
from nardy_rl.agents.baselines import RandomAgent
from nardy_rl.rules.spec import make_rules

PACKAGES = ("nardy_rl", "gymnasium", "numpy", "numba", "pettingzoo", "open_spiel", "pgx", "jax")
CHUNK = 64
"""Calls of `step` between two looks at the clock; one look costs less than a tenth of a percent."""


@dataclasses.dataclass
class Options:
    """What the command line can set.

    Attributes:
        seconds: Length of one run of one row.
        runs: Runs of each row; the median is reported. The rows take turns, so that a slow minute strikes all alike.
        json: File to write the results to.
        only: Leave out the rows whose names do not contain this.
    """

    seconds: float = 2.0
    runs: int = 5
    json: str | None = None
    only: str = ""


class Count(NamedTuple):
    """What was played since the last one."""

    turns: int
    steps: int


Player = Iterator[Count]
"""Plays on without end, a little for each item."""


class CountingRandom(RandomAgent):
    """The opponent `random`, who counts his turns: nobody else knows them all."""

    def __init__(self, rules: str) -> None:
        super().__init__(make_rules(rules))
        self.turns = 0

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """As `RandomAgent`."""
        self.turns += len(decisions.boards)
        return super().scores(decisions)


def play_single(id_: str, rules: str) -> Player:
    """`gymnasium.make` with its usual wrappers; the action is drawn from the mask of the info."""
    opponent = CountingRandom(rules)
    env = gymnasium.make(id_, opponent=opponent)
    draw = random.Random(1).random
    _, info = env.reset(seed=1)
    while True:
        before, learner_turns = opponent.turns, 0
        for _ in range(CHUNK):
            answered = opponent.turns
            actions = info["action_mask"].nonzero()[0]
            _, _, over, _, info = env.step(actions[int(draw() * len(actions))])
            learner_turns += over or opponent.turns > answered  # else he has dice left (the steps environment)
            if over:
                _, info = env.reset()
        yield Count(learner_turns + opponent.turns - before, CHUNK)


def play_vector(id_: str, rules: str, num_envs: int, sync: bool) -> Player:
    """Native or `SyncVectorEnv`, new games in the same step; the action is drawn below `n_afterstates`, no masks."""
    opponent = CountingRandom(rules)
    arguments: dict[str, Any] = {"opponent": opponent, "action_mask": False}
    envs: Any
    if sync:
        make = [lambda: gymnasium.make(id_, **arguments)] * num_envs
        envs = SyncVectorEnv(make, autoreset_mode=AutoresetMode.SAME_STEP)
    else:
        envs = gymnasium.make_vec(id_, num_envs, **arguments)
    generator = np.random.default_rng(1)
    _, info = envs.reset(seed=1)
    calls = max(1, CHUNK // num_envs)
    while True:
        before = opponent.turns
        for _ in range(calls):
            _, _, _, _, info = envs.step(generator.integers(info["n_afterstates"]))
        yield Count(calls * num_envs + opponent.turns - before, calls * num_envs)


def play_pettingzoo(rules: str) -> Player:
    """The usual wrappers and the usual loop; the action is drawn from the mask of the observation."""
    from nardy_rl.envs import aec  # noqa: PLC0415  (needs an extra)

    game = aec.env(rules)
    draw = random.Random(1).random
    turns = 0
    for number in itertools.count(1):
        game.reset(seed=number)
        for _ in game.agent_iter():
            observation, _, terminated, truncated, _ = game.last()
            if terminated or truncated:
                game.step(None)
                continue
            actions = observation["action_mask"].nonzero()[0]
            game.step(int(actions[int(draw() * len(actions))]))
            turns += 1
            if turns == CHUNK:
                yield Count(turns, turns)
                turns = 0


def play_openspiel() -> Player:
    """States of pyspiel in a Python loop."""
    import pyspiel  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: PLC0415  (an extra)

    game = pyspiel.load_game("backgammon")
    generator = random.Random(1)
    state = game.new_initial_state()
    while True:
        turns = steps = 0
        while steps < CHUNK:
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(generator.choices(outcomes, chances)[0])
                turns += 1  # a throw; the second half of a double has none of its own
            else:
                actions = state.legal_actions()
                state.apply_action(actions[int(generator.random() * len(actions))])
                steps += 1
            if state.is_terminal():
                state = game.new_initial_state()
        yield Count(turns, steps)


def play_pgx(batch: int) -> Player:
    """Steps, draws and resets of `batch` games compiled into one call of XLA, `CHUNK` steps each."""
    import jax  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: PLC0415  (an extra)
    import jax.numpy as jnp  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: PLC0415
    import pgx  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: PLC0415
    from pgx.experimental.wrappers import (  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: PLC0415
        auto_reset,
    )

    env = pgx.make("backgammon")
    init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))

    def one(state: Any, key: Any) -> Any:
        draw_key, step_key = jax.random.split(key)
        actions = jax.random.categorical(draw_key, jnp.where(state.legal_action_mask, 0.0, -jnp.inf))
        after = step(state, actions, jax.random.split(step_key, batch))
        return after, jnp.sum(after.terminated | (after._turn != state._turn))

    chunk = jax.jit(lambda state, key: jax.lax.scan(one, state, jax.random.split(key, CHUNK)))
    key, first = jax.random.split(jax.random.PRNGKey(1))
    state = jax.jit(init)(jax.random.split(first, batch))
    while True:
        key, following = jax.random.split(key)
        state, turns = chunk(state, following)
        yield Count(int(turns.sum()), CHUNK * batch)


LONG, SHORT = ("nardy_rl/LongNardy", "official"), ("nardy_rl/ShortNardy", "short")

ROWS: dict[str, Callable[[], Player]] = {
    "long, NardyEnv": lambda: play_single(f"{LONG[0]}-v0", LONG[1]),
    "long, NardyStepsEnv": lambda: play_single(f"{LONG[0]}Steps-v0", LONG[1]),
    "long, PettingZoo AEC": lambda: play_pettingzoo(LONG[1]),
    "long, SyncVectorEnv, 64 games": lambda: play_vector(f"{LONG[0]}-v0", LONG[1], 64, sync=True),
    "long, NardyVectorEnv, 64 games": lambda: play_vector(f"{LONG[0]}-v0", LONG[1], 64, sync=False),
    "long, NardyVectorEnv, 1024 games": lambda: play_vector(f"{LONG[0]}-v0", LONG[1], 1024, sync=False),
    "short, NardyEnv": lambda: play_single(f"{SHORT[0]}-v0", SHORT[1]),
    "short, NardyStepsEnv": lambda: play_single(f"{SHORT[0]}Steps-v0", SHORT[1]),
    "short, NardyVectorEnv, 64 games": lambda: play_vector(f"{SHORT[0]}-v0", SHORT[1], 64, sync=False),
    "short, NardyVectorEnv, 1024 games": lambda: play_vector(f"{SHORT[0]}-v0", SHORT[1], 1024, sync=False),
    "backgammon, OpenSpiel": play_openspiel,
    "backgammon, pgx, 1 game": lambda: play_pgx(1),
    "backgammon, pgx, 64 games": lambda: play_pgx(64),
    "backgammon, pgx, 1024 games": lambda: play_pgx(1024),
    "backgammon, pgx, 4096 games": lambda: play_pgx(4096),
}


def measure(options: Options) -> dict[str, Any]:
    """Runs the rows; returns what the JSON file holds."""
    players: dict[str, Player] = {}
    missing = []
    for name, make in ROWS.items():
        if options.only in name:
            player = make()
            try:
                next(player)  # imports, compilation
            except ImportError as error:
                missing.append(f"{name}: {error}")
            else:
                players[name] = player
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in players}
    for _ in range(options.runs):
        for name, player in players.items():
            turns = steps = 0
            started = time.perf_counter()
            while (passed := time.perf_counter() - started) < options.seconds:
                count = next(player)
                turns += count.turns
                steps += count.steps
            runs[name].append({"turns_per_s": turns / passed, "steps_per_s": steps / passed})
    rows = [
        {
            "name": name,
            **{figure: statistics.median(run[figure] for run in of_row) for figure in ("turns_per_s", "steps_per_s")},
            "slowest_turns_per_s": min(run["turns_per_s"] for run in of_row),
            "fastest_turns_per_s": max(run["turns_per_s"] for run in of_row),
        }
        for name, of_row in runs.items()
    ]
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "packages": versions()}
    return {"options": dataclasses.asdict(options), "machine": machine, "rows": rows, "left_out": missing}


def versions() -> dict[str, str]:
    """Versions of the packages that take part, as far as they are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def table(results: dict[str, Any]) -> str:
    """The results as a table in Markdown."""
    lines = ["| | turns/s | slowest .. fastest run | steps/s |", "|---|---:|---:|---:|"]
    for row in results["rows"]:
        between = f"{row['slowest_turns_per_s']:,.0f} .. {row['fastest_turns_per_s']:,.0f}"
        lines.append(f"| {row['name']} | {row['turns_per_s']:,.0f} | {between} | {row['steps_per_s']:,.0f} |")
    return "\n".join([*lines, *(f"left out: {text}" for text in results["left_out"])])


def main() -> None:
    """The command."""
    options = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Options), OmegaConf.from_cli()))
    assert isinstance(options, Options)
    results = measure(options)
    print(table(results))
    if options.json is not None:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
