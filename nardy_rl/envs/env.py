"""Nardy as a Gymnasium environment with the opponent inside: one step is one turn."""

import operator
from collections.abc import Mapping
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from numpy.typing import NDArray

from nardy_rl.agents.base import Agent
from nardy_rl.envs.features import afterstate_features
from nardy_rl.envs.tables import GAME_ON, ON_ILLEGAL, Tables
from nardy_rl.game import FIRST
from nardy_rl.rules.board import Boards
from nardy_rl.rules.notation import draw_board
from nardy_rl.rules.plays import MAX_AFTERSTATES
from nardy_rl.rules.spec import CHECKERS, SLOTS, Rules, make_rules
from nardy_rl.show.png import board_pixels

Observation = dict[str, Any]
Frame = str | NDArray[np.uint8]

_TABLE = np.array([0])


def check_on_illegal(on_illegal: str) -> None:
    """Raises a ValueError unless it is one of `ON_ILLEGAL`."""
    if on_illegal not in ON_ILLEGAL:
        raise ValueError(f"on_illegal={on_illegal!r} is not allowed; choose one of {', '.join(ON_ILLEGAL)}")


def turn_observation_space() -> spaces.Dict:
    """What `NardyEnv` shows of one game."""
    return spaces.Dict(
        {
            "board": spaces.Box(0, CHECKERS, (2, SLOTS), np.int8),
            "dice": spaces.Box(0, 6, (2,), np.int8),
            "seat": spaces.Discrete(2),
        }
    )


class OneTable(gymnasium.Env[Observation, np.int64]):
    """What the environments of one game share; what an action is, and what is seen of it, is left to them.

    Attributes:
        rules: The rules of the game.
        on_illegal: What an illegal action does, "raise" or "lose".
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012  (as in gymnasium.Env)
    action_space: spaces.Discrete

    def __init__(
        self,
        opponent: str | Agent = "random",
        *,
        rules: str = "official",
        options: Mapping[str, Any] | None = None,
        seat: str = "alternate",
        on_illegal: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        check_on_illegal(on_illegal)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode={render_mode!r} is not allowed; choose 'ansi', 'rgb_array' or None")
        self.rules: Rules = make_rules(rules, options)
        self.on_illegal = on_illegal
        self.render_mode = render_mode
        self._tables = Tables(1, opponent, self.rules, seat)

    @property
    def opponent(self) -> Agent:
        """The agent that plays the other side."""
        return self._tables.opponent

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts a game and plays until the learner is on roll.

        Args:
            seed: Seeds `np_random`, and puts a learner who alternates back on the first seat.
            options: Not used.
        """
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._tables.alternate_anew(_TABLE)
        self._tables.start(_TABLE, [self.np_random])
        self._tables.throw()
        self._new_turn()
        return self._observation(), self._info()

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Does what the action says, and lets the opponent play where that ends the learner's turn.

        Args:
            action: A legal action, see `action_masks`.

        Raises:
            InvalidAction: Not a number of the action space; or not a legal one, under `on_illegal="raise"`.
            ResetNeeded: The game is over, or has not begun.
        """
        if not self._on:
            raise ResetNeeded("no game is on; call reset first")
        try:
            index = operator.index(action)
        except TypeError:
            raise InvalidAction(f"an action is an integer, not {action!r}") from None
        if not 0 <= index < self.action_space.n:
            raise InvalidAction(f"action {index} is outside the action space, 0 .. {self.action_space.n - 1}")
        if self.action_masks()[index]:
            reward = self._act(index)
        elif self.on_illegal == "raise":
            raise InvalidAction(f"action {index} is not legal now; see info['action_mask']")
        else:
            reward = self._tables.lose(_TABLE)
            self._tables.throw()
        return self._observation(), reward, not self._on, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now, bool (n of the action space,)."""
        raise NotImplementedError

    def render(self) -> Frame | None:
        """The present board, the learner's view: text in mode "ansi", uint8 (H, W, 3) in mode "rgb_array"."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() was called without a render mode; make the environment with "ansi"')
            return None
        board, dice = self._board(), self._dice_to_show()
        seat = "first" if self._tables.learner[0] == FIRST else "second"
        ending = "" if self._result is None else f"game over: {self._result}"
        if self.render_mode == "rgb_array":
            who = f"white is the learner, who moved {seat}"
            return board_pixels(board, self.rules, dice, f"{who}; {ending}" if ending else who)
        lines = [draw_board(board, self.rules, dice), f"x is the learner, who moved {seat}"]
        return "\n".join([*lines, ending] if ending else lines)

    @property
    def _on(self) -> bool:
        return bool(self._tables.result[0] == GAME_ON)

    @property
    def _result(self) -> str | None:
        number = int(self._tables.result[0])
        return self._tables.result_names[number] if number >= 0 else None

    def _play(self, after: Boards) -> float:
        """Ends the learner's turn with the afterstate (1, 2, 26); returns the reward."""
        reward = float(self._tables.play(_TABLE, after)[0])
        self._tables.throw()
        self._new_turn()
        return reward

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self.action_masks().astype(np.int8)}
        if self._result is not None:
            info["result"] = self._result
        return info

    def _board(self) -> Boards:
        """The board as the learner sees it, int8 (2, 26), a fresh array."""
        board: Boards = self._tables.boards[0].copy()
        return board

    def _dice_to_show(self) -> list[int] | None:
        return [int(die) for die in self._tables.dice[0]] if self._on else None

    def _new_turn(self) -> None:
        """Called when the learner has thrown, or the game is over."""

    def _act(self, action: int) -> float:
        """Does what a legal action says; returns the reward."""
        raise NotImplementedError

    def _observation(self) -> Observation:
        raise NotImplementedError


class NardyEnv(OneTable):
    """A game of nardy against an opponent that is part of the environment; one step is one turn.

    ## Description
    Long nardy (длинные нарды): two players carry 15 checkers each round a board of 24 points, in the same direction,
    and then off it. The dice are thrown, the player on roll chooses among the legal plays, the turn passes. Checkers
    are never hit: a single one closes its point to the other side. Short nardy (короткие нарды) is backgammon without
    the cube: the players travel towards each other, and a single checker is hit and must enter again from the bar. The
    rules are in `nardy_rl/rules/RULES.md`; the text's numbers (R1.3 ...) are used below.

    The learner acts only when he is on roll: a step plays his turn and then the opponent's, so that what the learner
    meets is a Markov decision process. The opponent is any agent of this package, from `"random"` to a trained net.

    What there is to choose differs from roll to roll: it is the list of *afterstates*, the different boards that a
    legal play of the roll leads to. `legal_afterstates` returns them as boards and `afterstate_features` as vectors, so
    that a learner with a value function can look at every result before it picks one; a policy that never looks at them
    needs `action_mask`. For policies, `NardyStepsEnv` has the friendlier actions.

    ## Action Space
    `Discrete(3060)`: the number of an afterstate in the list of the present roll. With n afterstates, 0 .. n-1 are
    legal. A forced pass is a list of one afterstate, the unchanged board: it is a step like any other, with action 0.

    No roll of either game has more than 3060 afterstates. Call the 15 checkers by names. Different dice d and e: a
    checker by d and another by e make at most 15 * 14 boards; one checker by both, at most 15 * 2, as a hit may depend
    on which die goes first; one die alone, at most 2 * 15. On a double every step is equally long, so that the number
    of steps each checker has made tells where it landed, what it hit and so the whole board. All plays of a roll use
    the same number k <= 4 of dice (R1.3), and k steps can be shared among 15 checkers in C(14 + k, k) ways, at most
    C(18, 4) = 3060. One kind of play may use fewer dice, the one that bears off the last checker; but then at most
    three were left, and four steps or fewer among three checkers make at most C(7, 4) = 35 boards. Under
    `must_play="greedy"` (R4.4) plays of different length may be legal together and the same count gives only
    C(19, 4) = 3876; should such a roll ever come up, `RuntimeError` is raised rather than a choice hidden. In play the
    lists are far shorter, some 20 on average.

    ## Observation Space
    A `Dict`, always from the learner's side:

    - `board`, `Box(0, 15, (2, 26), int8)`: checkers of (learner, opponent) per slot, each in his own numbering: 0 borne
      off, 1 .. 24 the points (24 is where the checkers furthest back start, in long nardy all, on the head; 6 .. 1 are
      the home), 25 the bar, unused in long nardy.
    - `dice`, `Box(0, 6, (2,), int8)`: the learner's throw as it fell; 0, 0 once the game is over.
    - `seat`, `Discrete(2)`: 0 if the learner made the first move of the game, 1 if the opponent did (R5.4).

    The opponent's point p is the learner's point p + 12 (p <= 12) or p - 12 in long nardy, 25 - p in short (R0.3).

    ## Starting State
    The start of the rules: in long nardy all checkers on the heads. Who begins is up to `seat`. In seat 1 the opponent
    has already played his first turn. The first throw is a fresh one, or one without a double where the rules play the
    lot itself (`opening_roll="use"`, R6.1; so it is in short nardy).

    ## Rewards
    0 until the game is over, then the learner's points minus the opponent's (section 5 of the rules): with the
    official scoring +1 or -1 (oin), +2 or -2 (mars), 0 for a draw; in short nardy up to 3 (R8.5).

    An illegal action under `on_illegal="lose"` costs as much as the worst loss of the scoring (2 in official rules).

    ## Episode End
    The episode terminates when the game is over: a player has borne off all checkers and, where the rules grant it,
    the player who moved second has had his last throw (R5.4). Under `on_illegal="lose"` an illegal action ends it too.
    It is never truncated. What `board` shows in the end is the last board, the learner's row still first.

    ## Information
    `reset` and `step` return a dict with

    - `n_afterstates`: int, the number of legal actions; 0 once the game is over.
    - `action_mask`: int8 `(3060,)`, 1 for the legal actions; all 0 once the game is over. It fits
      `action_space.sample(mask)`. Left out with `action_mask=False`.
    - `result`, only at the end: the result as the learner sees it, such as `"win mars"`, `"lose oin"`, `"draw"`; or
      `"illegal"`.

    `action_masks()` returns the same mask as bool, the form that masked policy gradient methods ask for. It,
    `legal_afterstates()` and `afterstate_features()` are methods of the environment itself:
    `env.unwrapped.legal_afterstates()`.

    ## Arguments

    ```python
    import gymnasium
    import nardy_rl.envs

    env = gymnasium.make("nardy_rl/LongNardy-v0", opponent="heuristic", rules="official", seat="alternate")
    observation, info = env.reset(seed=1)
    over = False
    while not over:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    ```

    - `opponent`: what `nardy_rl.agents.registry.make_agent` understands (`"random"`, `"bearoff"`, the directory of a
      checkpoint, ...; `"heuristic"` in long nardy only), or an agent made for the same rules. Default `"random"`.
    - `rules`: name of a preset. Default `"official"`, and `"short"` for `nardy_rl/ShortNardy-v0`.
    - `options`: rules that differ from the preset, such as `{"scoring": "home_mars3", "draw": "none"}`.
    - `seat`: who begins. `"first"` and `"second"` fix the learner's seat; `"random"` draws it for each game;
      `"alternate"` (default) lets him begin the first game after a reset with a seed, and then every other one.
    - `on_illegal`: what an action that is not in the list does. `"lose"` (default) loses the game at
      once, for methods that are to learn what is legal, and for checkers such as
      `gymnasium.utils.env_checker.check_env`, which draw actions without looking at the mask; `"raise"` raises
      `gymnasium.error.InvalidAction` and changes nothing. A number outside the action space always raises.
    - `action_mask`: put the mask into the info. Default True.
    - `render_mode`: `"ansi"`: `render()` returns the board as text; `"rgb_array"`: as a picture, uint8
      `(height, width, 3)`; or `None`.

    All that happens by chance comes from `np_random`, which draws two things when a game starts: the seat, if it is to
    be drawn, and a number of 63 bits. The dice and the opponent's choice among equals are a fixed function of this
    number and of the turn (`nardy_rl.rules.dice`), so a seed and the actions fix the game on every platform.

    ## Version History
    - v0: Initial version
    """

    def __init__(
        self,
        opponent: str | Agent = "random",
        *,
        rules: str = "official",
        options: Mapping[str, Any] | None = None,
        seat: str = "alternate",
        on_illegal: str = "lose",
        action_mask: bool = True,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            opponent, rules=rules, options=options, seat=seat, on_illegal=on_illegal, render_mode=render_mode
        )
        self._with_mask = action_mask
        self.action_space = spaces.Discrete(MAX_AFTERSTATES)
        self.observation_space = turn_observation_space()

    def legal_afterstates(self) -> Boards:
        """The boards to choose from, int8 (n, 2, 26), rows (learner, opponent), the turn not yet passed.

        Row i is what action i leads to, before the opponent's turn. Empty once the game is over. The array is the
        caller's own.
        """
        return self._tables.choices.copy()

    def afterstate_features(self) -> NDArray[np.float32]:
        """The rows of `legal_afterstates` as features, float32 (n, 197), from the learner's view.

        The columns are those of `nardy_rl.envs.features.afterstate_features`: for each side four a point, then the bar
        and the checkers borne off; and in the end the seat.
        """
        return afterstate_features(self._tables.choices, np.repeat(self._tables.learner, self._tables.counts))

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now, bool (3060,)."""
        mask = np.zeros(MAX_AFTERSTATES, dtype=np.bool_)
        mask[: len(self._tables.choices)] = True
        return mask

    def _act(self, action: int) -> float:
        return self._play(self._tables.choices[action : action + 1])

    def _observation(self) -> Observation:
        return {"board": self._board(), "dice": self._tables.dice[0].copy(), "seat": self._tables.learner[0]}

    def _info(self) -> dict[str, Any]:
        info = super()._info() if self._with_mask else {} if self._result is None else {"result": self._result}
        return {"n_afterstates": len(self._tables.choices), **info}
