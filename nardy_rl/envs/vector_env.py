"""Many games of nardy as one Gymnasium vector environment: the batch is played by a few compiled calls."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from nardy_rl.agents.base import Agent
from nardy_rl.envs.env import Observation, check_on_illegal, turn_observation_space
from nardy_rl.envs.features import afterstate_features
from nardy_rl.envs.tables import GAME_ON, NO_GAME, Tables
from nardy_rl.rules.plays import MAX_AFTERSTATES, Afterstates
from nardy_rl.rules.spec import Rules, make_rules

_NUMBERS = np.arange(MAX_AFTERSTATES, dtype=np.int16)


class NardyVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """`num_envs` games of nardy, played in one batch.

    ## Description
    What `gymnasium.make_vec("nardy_rl/LongNardy-v0", num_envs=...)` makes, and `"nardy_rl/ShortNardy-v0"` too. It
    behaves, number for number, as `gymnasium.vector.SyncVectorEnv` of as many `nardy_rl.envs.NardyEnv` does (that is
    what `vectorization_mode="sync"` makes), only many times faster. Read there about the game, the actions, the rewards
    and the results.

    ## Action Space
    `MultiDiscrete([3060] * num_envs)`: for each game the number of an afterstate, 0 .. `n_afterstates` - 1.

    ## Observation Space
    The `Dict` of `NardyEnv` with one more axis in front: `board` int8 `(num_envs, 2, 26)`, `dice` int8
    `(num_envs, 2)`, `seat` int64 `(num_envs,)`. Every call returns new arrays.

    ## Starting State
    As in `NardyEnv`. `reset(seed=s)` seeds the games with s, s + 1, ...; a list gives each its own seed.

    ## Episode End
    `autoreset_mode` is one of Gymnasium's:

    - `"SameStep"` (default): a game that is over is replaced at once. `step` returns the observation of the new game,
      and the last one of the old game in `info["final_obs"]`, an object array with None for games that go on. What
      `NardyEnv` tells at the end is in `info["final_info"]`.
    - `"Disabled"`: the caller calls `reset(options={"reset_mask": mask})`, mask bool `(num_envs,)`, before the next
      step. The games outside the mask stay as they are, and the info that `reset` returns covers them too.

    ## Information
    A dict of arrays, each with its `_name`, bool `(num_envs,)`: where the entry means something.

    - `n_afterstates`: int64 `(num_envs,)`, the number of legal actions: 0 .. n - 1 are legal. 0 where the game is over.
    - `action_mask`: int8 `(num_envs, 3060)`, 1 for the legal actions. Left out with `action_mask=False`.
    - `result`: only where a game is over, in `final_info` or, without autoreset, beside the others.

    `legal_afterstates()`, `afterstate_features()` and `action_masks()` are methods as in `NardyEnv`.

    ## Arguments

    ```python
    import gymnasium
    import numpy as np
    import nardy_rl.envs

    envs = gymnasium.make_vec("nardy_rl/LongNardy-v0", num_envs=1024, action_mask=False)
    observations, info = envs.reset(seed=1)
    generator = np.random.default_rng(1)
    for _ in range(100):
        actions = generator.integers(info["n_afterstates"])
        observations, rewards, terminations, truncations, info = envs.step(actions)
    ```

    - `num_envs`: how many games. Default 1.
    - `autoreset_mode`: see above; the text or the member of `gymnasium.vector.AutoresetMode`.
    - `opponent`, `rules`, `options`, `seat`, `on_illegal`, `action_mask`: as in `NardyEnv`. The mask of 1024 games is
      3 MB in each step. An illegal action under `on_illegal="raise"` changes nothing in any game.

    ## Version History
    - v0: Initial version
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012  (as in VectorEnv)

    def __init__(
        self,
        num_envs: int = 1,
        opponent: str | Agent = "random",
        *,
        rules: str = "official",
        options: Mapping[str, Any] | None = None,
        seat: str = "alternate",
        on_illegal: str = "lose",
        action_mask: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs={num_envs} is not allowed; give at least 1")
        if render_mode is not None:
            raise ValueError("the native vector environment draws nothing; use vectorization_mode='sync' to render")
        autoreset_mode = AutoresetMode(autoreset_mode)
        if autoreset_mode == AutoresetMode.NEXT_STEP:
            raise ValueError("autoreset_mode NextStep is not offered; choose SameStep or Disabled")
        check_on_illegal(on_illegal)
        self.rules: Rules = make_rules(rules, options)
        self.num_envs = num_envs
        self.on_illegal = on_illegal
        self.metadata = {**self.metadata, "autoreset_mode": autoreset_mode}
        self.single_observation_space = turn_observation_space()
        self.single_action_space = spaces.Discrete(MAX_AFTERSTATES)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._with_mask = action_mask
        self._autoreset = autoreset_mode == AutoresetMode.SAME_STEP
        self._tables = Tables(num_envs, opponent, self.rules, seat)
        self._generators: list[np.random.Generator] = []
        self._seeds: list[int] = []

    @property
    def opponent(self) -> Agent:
        """The agent that plays the other side."""
        return self._tables.opponent

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]  # as SyncVectorEnv has it
        """The generator of each game."""
        self._seed_all()
        return tuple(self._generators)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of each game."""
        self._seed_all()
        return tuple(self._seeds)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts games and plays until the learner is on roll in each.

        Args:
            seed: Game i is seeded with `seed + i`, or with entry i of a sequence; None leaves its generator as it is. A
                seed puts a learner who alternates back on the first seat.
            options: `{"reset_mask": mask}`, bool (num_envs,), starts only the games where it is True.

        Raises:
            ValueError: Seeds that are not one per game, or a mask of another shape or without a True.
            TypeError: A mask that is not a bool array.
            ResetNeeded: A mask leaves out a game that has never begun.
        """
        which = np.flatnonzero(self._reset_mask(options))
        left_out = np.delete(self._tables.result, which)
        if (left_out == NO_GAME).any():
            raise ResetNeeded("the first reset must start all games")
        self._seed_all()
        if seed is not None:
            seeds = [int(seed) + i for i in range(self.num_envs)] if isinstance(seed, int | np.integer) else list(seed)
            if len(seeds) != self.num_envs:
                raise ValueError(f"{self.num_envs} games need as many seeds, not {len(seeds)}")
            for i in which:
                number = seeds[i]
                if number is not None:
                    self._generators[i], self._seeds[i] = seeding.np_random(number)
                    self._tables.alternate_anew(np.array([i]))
        self._tables.start(which, [self._generators[i] for i in which])
        self._tables.throw()
        return self._observations(), self._info()

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Plays the learner's turn in each game, and the opponent's where it goes on.

        Args:
            actions: Integers (num_envs,), numbers of afterstates.

        Returns:
            Observations; rewards float64 (num_envs,); terminations and truncations bool (num_envs,), the latter all
            False; info.

        Raises:
            InvalidAction: Not one number of the action space for each game; or not a legal one, under
                `on_illegal="raise"`.
            ResetNeeded: A game is over, or has not begun.
        """
        tables = self._tables
        if (tables.result != GAME_ON).any():
            raise ResetNeeded(f"no game is on at table {np.argmax(tables.result != GAME_ON)}; call reset first")
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise InvalidAction(f"actions are integers ({self.num_envs},), not {chosen.dtype} {chosen.shape}")
        if ((chosen < 0) | (chosen >= MAX_AFTERSTATES)).any():
            raise InvalidAction(f"an action is outside the action space, 0 .. {MAX_AFTERSTATES - 1}")
        illegal = chosen >= tables.counts
        if illegal.any() and self.on_illegal == "raise":
            game = int(np.argmax(illegal))
            raise InvalidAction(f"game {game}: {chosen[game]} is not legal; use 0 .. {tables.counts[game] - 1}")

        rewards = np.zeros(self.num_envs)
        which = np.flatnonzero(~illegal)
        rewards[which] = tables.play(which, tables.choices[tables.offsets[which] + chosen[which]])
        if illegal.any():
            rewards[illegal] = tables.lose(np.flatnonzero(illegal))
        over = tables.result != GAME_ON
        final: dict[str, Any] = {}
        if self._autoreset and over.any():
            final = self._final(over)
            ended = np.flatnonzero(over)
            tables.start(ended, [self._generators[i] for i in ended])
        tables.throw()
        return self._observations(), rewards, over, np.zeros(self.num_envs, dtype=np.bool_), final | self._info()

    def legal_afterstates(self) -> Afterstates:
        """The boards to choose from: int8 (K, 2, 26), rows (learner, opponent), and offsets int64 (num_envs + 1,).

        Row offsets[i] + a is what action a leads to in game i, before the opponent's turn. The arrays are the caller's.
        """
        return Afterstates(self._tables.choices.copy(), self._tables.offsets.copy())

    def afterstate_features(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The rows of `legal_afterstates` as features, float32 (K, 197), and the offsets, int64 (num_envs + 1,).

        The columns are those of `nardy_rl.envs.features.afterstate_features`.
        """
        seats = np.repeat(self._tables.learner, self._tables.counts)
        return afterstate_features(self._tables.choices, seats), self._tables.offsets.copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now, bool (num_envs, 3060)."""
        mask: NDArray[np.bool_] = self._tables.counts.astype(np.int16)[:, None] > _NUMBERS
        return mask

    def _seed_all(self) -> None:
        """Gives every game a generator of its own, if none has been asked for yet."""
        if not self._generators:
            pairs = [seeding.np_random() for _ in range(self.num_envs)]
            self._generators, self._seeds = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def _reset_mask(self, options: dict[str, Any] | None) -> NDArray[np.bool_]:
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, dtype=np.bool_)
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError("options['reset_mask'] must be a NumPy array of bool")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"options['reset_mask'] must have shape ({self.num_envs},) and a True, not {mask}")
        return mask

    def _observations(self) -> Observation:
        tables = self._tables
        return {"board": tables.boards.copy(), "dice": tables.dice.copy(), "seat": tables.learner.copy()}

    def _info(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        info: dict[str, Any] = {"n_afterstates": self._tables.counts, "_n_afterstates": everywhere}
        if self._with_mask:
            info |= {"action_mask": self.action_masks().view(np.int8), "_action_mask": everywhere.copy()}
        over = self._tables.result != GAME_ON
        if over.any():
            info |= self._results(over)
        return info

    def _results(self, over: NDArray[np.bool_]) -> dict[str, Any]:
        results = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(over):
            results[i] = self._tables.result_names[self._tables.result[i]]
        return {"result": results, "_result": over.copy()}

    def _final(self, over: NDArray[np.bool_]) -> dict[str, Any]:
        """The last observation and info of the games that are over, before new ones take their places."""
        tables = self._tables
        observations = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(over):
            board, seat = tables.boards[i].copy(), tables.learner[i]
            observations[i] = {"board": board, "dice": np.zeros(2, dtype=np.int8), "seat": seat}
        info = {"n_afterstates": np.zeros(self.num_envs, dtype=np.int64), "_n_afterstates": over.copy()}
        if self._with_mask:
            none = np.zeros((self.num_envs, MAX_AFTERSTATES), dtype=np.int8)
            info |= {"action_mask": none, "_action_mask": over.copy()}
        info |= self._results(over)
        return {"final_obs": observations, "_final_obs": over.copy(), "final_info": info, "_final_info": over.copy()}
