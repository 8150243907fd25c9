"""Nardy for two learners: an AEC environment of PettingZoo (install the extra `pettingzoo`).

Nothing else in the package imports this module, since it alone needs PettingZoo.
"""

import operator
from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv  # type: ignore[import-not-found, import-untyped, unused-ignore]
from pettingzoo.utils import wrappers  # type: ignore[import-not-found, import-untyped, unused-ignore]

from nardy_rl.agents.base import Decisions, decide
from nardy_rl.envs.env import Frame
from nardy_rl.envs.features import afterstate_features
from nardy_rl.envs.tables import worst_loss
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.notation import draw_board
from nardy_rl.rules.plays import MAX_AFTERSTATES
from nardy_rl.rules.scoring import outcome_names
from nardy_rl.rules.spec import CHECKERS, SLOTS, Rules, make_rules
from nardy_rl.show.png import board_pixels

AGENTS = ("player_0", "player_1")
WIDTH = 2 * SLOTS + 3
"""Length of an observation, 55."""


def env(rules: str = "official", options: Mapping[str, Any] | None = None, render_mode: str | None = None) -> Any:
    """The environment in PettingZoo's usual wrappers.

    An illegal action ends the game, and costs as much as the worst loss of the scoring; the other player gets nothing.
    Arguments as in `NardyAEC`.
    """
    inner = NardyAEC(rules, options, render_mode)
    wrapped = wrappers.TerminateIllegalWrapper(inner, illegal_reward=-worst_loss(inner.rules))
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class NardyAEC(AECEnv[str, dict[str, NDArray[np.int8]], int]):  # type: ignore[misc, unused-ignore]
    """A game of nardy between `player_0`, who makes the first move, and `player_1`; one step is one turn.

    ## Description
    The game is that of `nardy_rl.envs.NardyEnv`, where it is described; here both players are the caller's. `env()` of
    this module makes it with PettingZoo's usual wrappers.

    ## Action Space
    `Discrete(3060)`: the number of an afterstate in the list of the present roll, see `legal_afterstates`.

    ## Observation Space
    A `Dict` for each agent:

    - `observation`, `Box(0, 15, (55,), int8)`: from the agent's side, his 26 slots (0 borne off, 1 .. 24 the points in
      his own numbering, 25 the bar), the other's 26 slots in the other's numbering, the two dice (0, 0 while the agent
      is not on roll) and his seat, 0 or 1 as in his name.
    - `action_mask`, `Box(0, 1, (3060,), int8)`: 1 for the legal actions; all 0 while the agent is not on roll.

    ## Rewards
    0 until the game is over, then each agent's points minus the other's.

    ## Episode End
    Both agents terminate when the game is over; it is never truncated.

    ## Information
    `infos[agent]` has `result`, only at the end, as that agent sees it, such as `"win mars"`.

    ## Arguments

    ```python
    from nardy_rl.envs import aec

    game = aec.env(rules="official")
    game.reset(seed=1)
    for agent in game.agent_iter():
        observation, reward, terminated, truncated, info = game.last()
        over = terminated or truncated
        game.step(None if over else game.action_space(agent).sample(observation["action_mask"]))
    ```

    - `rules`: name of a preset, `"short"` for short nardy. Default `"official"`.
    - `options`: rules that differ from the preset.
    - `render_mode`: `"ansi"`, `"rgb_array"` or None; drawn from the side of the player on roll.

    The dice follow from the seed of `reset` as in `NardyEnv`. Without a seed the next game of the sequence is played.

    ## Version History
    - v0: Initial version
    """

    metadata = {  # noqa: RUF012  (as in AECEnv)
        "name": "nardy_v0",
        "render_modes": ["ansi", "rgb_array"],
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(
        self, rules: str = "official", options: Mapping[str, Any] | None = None, render_mode: str | None = None
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in ("ansi", "rgb_array"):
            raise ValueError(f"render_mode={render_mode!r} is not allowed; choose 'ansi', 'rgb_array' or None")
        self.rules: Rules = make_rules(rules, options)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, CHECKERS, (WIDTH,), np.int8),
                    "action_mask": spaces.Box(0, 1, (MAX_AFTERSTATES,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(MAX_AFTERSTATES) for agent in AGENTS}
        self._np_random, _ = seeding.np_random()
        self._games = new_games(0, self.rules)
        self._decision: Decisions | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        """The observation space of an agent, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The action space of an agent, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game; `player_0` is on roll.

        Args:
            seed: Seeds the dice of this game and of those after it.
            options: Not used.
        """
        if seed is not None:
            self._np_random, _ = seeding.np_random(seed)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[0]
        self._games = new_games(self._np_random.integers(2**63), self.rules)
        self._throw()

    def step(self, action: SupportsIndex | None) -> None:
        """Plays the turn of `agent_selection`; None for an agent whose game is over.

        Raises:
            InvalidAction: The action is not legal; nothing changes.
            ResetNeeded: No game has begun.
        """
        if not self.agents:
            raise ResetNeeded("no game is on; call reset first")
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        choices = self.legal_afterstates()
        try:
            index = operator.index(action)  # type: ignore[arg-type]  # None is answered here too
        except TypeError:
            raise InvalidAction(f"an action is an integer, not {action!r}") from None
        if not 0 <= index < len(choices):
            raise InvalidAction(f"action {index} is not legal; this roll has the actions 0 .. {len(choices) - 1}")
        other = AGENTS[1 - AGENTS.index(mover)]
        self._cumulative_rewards[mover] = 0.0
        self._games, outcome, points = apply(self._games, choices[index : index + 1], self.rules)
        self._clear_rewards()
        self.agent_selection = other
        if outcome[0] >= 0:
            self._decision = None
            names = outcome_names(self.rules)
            self.rewards = {mover: float(points[0]), other: 0.0 - float(points[0])}  # 0.0 - x: no -0.0
            self.terminations = dict.fromkeys(AGENTS, True)
            self.infos[mover]["result"] = names[outcome[0]]
            self.infos[other]["result"] = names[len(names) - 1 - outcome[0]]
        else:
            self._throw()
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """What an agent sees, see the class; new arrays."""
        on_roll = agent == self._on_roll
        board = (self._games.boards if on_roll else flip(self._games.boards))[0]
        dice = np.zeros(2, dtype=np.int8)
        mask = np.zeros(MAX_AFTERSTATES, dtype=np.int8)
        if on_roll and self._decision is not None:
            dice = self._decision.dice[0]
            mask[: len(self._decision.afterstates.boards)] = 1
        seat = np.array([AGENTS.index(agent)], dtype=np.int8)
        return {"observation": np.concatenate([board.ravel(), dice, seat]), "action_mask": mask}

    def legal_afterstates(self) -> Boards:
        """The boards to choose from, int8 (n, 2, 26), rows (player on roll, other), the turn not yet passed.

        Row i is what action i leads to. Empty once the game is over. The array is the caller's own.
        """
        if self._decision is None:
            return np.empty((0, 2, SLOTS), dtype=np.int8)
        return self._decision.afterstates.boards.copy()

    def afterstate_features(self) -> NDArray[np.float32]:
        """The rows of `legal_afterstates` as features, float32 (n, 197), see `nardy_rl.envs.features`."""
        choices = self.legal_afterstates()
        return afterstate_features(choices, np.full(len(choices), AGENTS.index(self._on_roll)))

    def render(self) -> Frame | None:
        """The present board: text in mode "ansi", uint8 (H, W, 3) in mode "rgb_array", None without a mode."""
        board = self._games.boards[0]
        dice = None if self._decision is None else [int(die) for die in self._decision.dice[0]]
        if self.render_mode == "ansi":
            return f"{draw_board(board, self.rules, dice)}\nx is {self._on_roll}"
        if self.render_mode == "rgb_array":
            return board_pixels(board, self.rules, dice, f"white is {self._on_roll}")
        return None

    def close(self) -> None:
        """Nothing is held open."""

    @property
    def _on_roll(self) -> str:
        """Whose row comes first in `_games`: who is on roll, or would be if the game were not over."""
        return AGENTS[int(self._games.turn[0]) % 2]

    def _throw(self) -> None:
        self._decision = decide(self._games, roll(self._games, 0, self.rules), self.rules)
        if len(self._decision.afterstates.boards) > MAX_AFTERSTATES:
            raise RuntimeError(f"a roll has more than {MAX_AFTERSTATES} afterstates, so they cannot all be offered")
