"""Long nardy as a Gymnasium environment with the opponent inside."""

import operator
from collections.abc import Mapping
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from numpy.typing import NDArray

from nardy_rl.agents.base import Agent, Decisions, choose, decide
from nardy_rl.agents.registry import make_agent
from nardy_rl.game import FIRST, SECOND, apply, new_games
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.notation import draw_board
from nardy_rl.rules.plays import MAX_AFTERSTATES
from nardy_rl.rules.scoring import LEVELS, outcome_names
from nardy_rl.rules.spec import CHECKERS, OFF, SLOTS, Rules, make_rules

Observation = dict[str, Any]

SEATS = ("alternate", "random", "first", "second")
ON_ILLEGAL = ("raise", "lose")


class NardyEnv(gymnasium.Env[Observation, np.int64]):
    """A game of long nardy (длинные нарды) against an opponent that is part of the environment.

    ## Description
    Two players carry 15 checkers each round a board of 24 points, in the same direction, and then off it. The dice are
    thrown, the player on roll chooses among the legal plays, the turn passes. Checkers are never hit: a single one
    closes its point to the other side. The rules are in `nardy_rl/rules/RULES.md`; the text's numbers (R1.3 ...) are
    used below.

    The learner acts only when he is on roll: a step plays his turn and then the opponent's, so that what the learner
    meets is a Markov decision process. The opponent is any agent of this package, from `"random"` to a trained net.

    What there is to choose differs from roll to roll: it is the list of *afterstates*, the different boards that a
    legal play of the roll leads to. `legal_afterstates` returns them as boards, so that a learner with a value function
    can look at every result before it picks one; a policy that never looks at them needs `action_mask`.

    ## Action Space
    `Discrete(3060)`: the number of an afterstate in the list of the present roll. With n afterstates, 0 .. n-1 are
    legal. A forced pass is a list of one afterstate, the unchanged board: it is a step like any other, with action 0.

    No roll has more than 3060 afterstates. Different dice d and e lead to at most 2 * 15 * 15 boards by both and 2 * 15
    by one. On a double every step is equally long, so a result is told by how many steps each of the 15 checkers has
    made. All plays of a roll use the same number k <= 4 of dice (R1.3), and k steps can be shared among 15 checkers in
    C(14 + k, k) <= C(18, 4) = 3060 ways. One kind of play may use fewer dice, the one that bears off the last checker;
    but then at most three were left, and four steps or fewer among three checkers make at most C(7, 4) = 35 boards.
    Under `must_play="greedy"` (R4.4) plays of different length may be legal together and the same count gives only
    C(19, 4) = 3876; should such a roll ever come up, `RuntimeError` is raised rather than a choice hidden. In play the
    lists are far shorter, some 20 on average.

    ## Observation Space
    A `Dict`, always from the learner's side:

    - `board`, `Box(0, 15, (2, 26), int8)`: checkers of (learner, opponent) per slot, each in his own numbering: 0 borne
      off, 1 .. 24 the points (24 = head, where all start; 6 .. 1 = home), 25 the bar, unused in long nardy.
    - `dice`, `Box(0, 6, (2,), int8)`: the learner's throw as it fell; 0, 0 once the game is over.
    - `seat`, `Discrete(2)`: 0 if the learner made the first move of the game, 1 if the opponent did (R5.4).

    The opponent's point p is the learner's point p + 12 (p <= 12) or p - 12 (R0.3).

    ## Starting State
    All checkers on the heads. Who begins is up to `seat`. In seat 1 the opponent has already played his first turn. The
    first throw is a fresh one, or one without a double where the rules play the lot itself (`opening_roll="use"`,
    R6.1).

    ## Rewards
    0 until the game is over, then the learner's points minus the opponent's (section 5 of the rules): with the
    official scoring +1 or -1 (oin), +2 or -2 (mars), 0 for a draw.

    An illegal action under `on_illegal="lose"` costs as much as the worst loss of the scoring (2 in official rules).

    ## Episode End
    The episode terminates when the game is over: a player has borne off all checkers and, where the rules grant it,
    the player who moved second has had his last throw (R5.4). Under `on_illegal="lose"` an illegal action ends it too.
    It is never truncated. What `board` shows in the end is the last board, the learner's row still first.

    ## Information
    `reset` and `step` return a dict with

    - `action_mask`: int8 `(3060,)`, 1 for the legal actions; all 0 once the game is over. It fits
      `action_space.sample(mask)`.
    - `result`, only at the end: the result as the learner sees it, such as `"win mars"`, `"lose oin"`, `"draw"`; or
      `"illegal"`.

    `action_masks()` returns the same mask as bool, the form that masked policy gradient methods ask for. It and
    `legal_afterstates()` are methods of the environment itself: `env.unwrapped.legal_afterstates()`.

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

    - `opponent`: what `nardy_rl.agents.registry.make_agent` understands (`"random"`, `"heuristic"`, the directory of a
      checkpoint, ...), or an agent made for the same rules. Default `"random"`.
    - `rules`: name of a preset. Default `"official"`. Short nardy is not offered here.
    - `options`: rules that differ from the preset, such as `{"scoring": "home_mars3", "draw": "none"}`.
    - `seat`: who begins. `"first"` and `"second"` fix the learner's seat; `"random"` draws it for each game;
      `"alternate"` (default) lets him begin the first game after a reset with a seed, and then every other one.
    - `on_illegal`: what an action that is not in the list does. `"raise"` (default) raises
      `gymnasium.error.InvalidAction` and changes nothing; `"lose"` loses the game at once, for methods that are to
      learn what is legal, and for checkers such as `gymnasium.utils.env_checker.check_env`, which draw actions without
      looking at the mask. A number outside the action space always raises.
    - `render_mode`: `"ansi"`: `render()` returns the board as text; or `None`.

    All that happens by chance (dice, the opponent's choice among equals, the seat) is drawn from `np_random`: a seed
    and the actions fix the game.

    ## Version History
    - v0: Initial version
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012  (an instance variable in gymnasium.Env)

    def __init__(
        self,
        opponent: str | Agent = "random",
        *,
        rules: str = "official",
        options: Mapping[str, Any] | None = None,
        seat: str = "alternate",
        on_illegal: str = "raise",
        render_mode: str | None = None,
    ) -> None:
        self.rules: Rules = make_rules(rules, options)
        if self.rules.geometry != "long":
            raise ValueError("this environment plays long nardy; geometry='short' is not offered here")
        if seat not in SEATS:
            raise ValueError(f"seat={seat!r} is not allowed; choose one of {', '.join(SEATS)}")
        if on_illegal not in ON_ILLEGAL:
            raise ValueError(f"on_illegal={on_illegal!r} is not allowed; choose one of {', '.join(ON_ILLEGAL)}")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode={render_mode!r} is not allowed; choose 'ansi' or None")
        if seat != "first" and self.rules.draw == "none" and CHECKERS - self.rules.start[OFF] <= 4:
            raise ValueError("from this start the opponent could win before the learner's first turn; use seat='first'")
        self.opponent: Agent = make_agent(opponent, self.rules) if isinstance(opponent, str) else opponent
        if self.opponent.rules != self.rules:
            raise ValueError(f"the opponent {self.opponent.spec!r} was made for other rules than the environment's")
        self.seat = seat
        self.on_illegal = on_illegal
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(MAX_AFTERSTATES)
        self.observation_space = spaces.Dict(
            {
                "board": spaces.Box(0, CHECKERS, (2, SLOTS), np.int8),
                "dice": spaces.Box(0, 6, (2,), np.int8),
                "seat": spaces.Discrete(2),
            }
        )
        self._games = new_games(0, self.rules)  # one game; the player on roll first, as everywhere in the package
        self._decision: Decisions | None = None  # what the learner has to decide; None while no game is on
        self._learner = FIRST
        self._result: str | None = None
        self._next_seat = FIRST

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
            self._next_seat = FIRST
        if self.seat == "alternate":
            self._learner = self._next_seat
            self._next_seat = SECOND if self._learner == FIRST else FIRST
        elif self.seat == "random":
            self._learner = int(self.np_random.integers(2))
        else:
            self._learner = FIRST if self.seat == "first" else SECOND
        self._games = new_games(0, self.rules)
        self._result = None
        self._decision = self._throw()
        if self._learner == SECOND:
            self._opponent_turn(self._decision)
            self._decision = self._throw()
        return self._observe()

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Plays the learner's turn, and the opponent's if the game goes on.

        Args:
            action: Number of an afterstate, see `legal_afterstates`.

        Raises:
            InvalidAction: Not a number of the action space; or not a legal one, under `on_illegal="raise"`.
            ResetNeeded: The game is over, or has not begun.
        """
        if self._decision is None:
            raise ResetNeeded("no game is on; call reset first")
        try:
            index = operator.index(action)
        except TypeError:
            raise InvalidAction(f"an action is an integer, not {action!r}") from None
        if not 0 <= index < MAX_AFTERSTATES:
            raise InvalidAction(f"action {index} is outside the action space, 0 .. {MAX_AFTERSTATES - 1}")
        choices = self._decision.afterstates.boards
        if index >= len(choices):
            if self.on_illegal == "raise":
                raise InvalidAction(f"action {index} is not legal; this roll has the actions 0 .. {len(choices) - 1}")
            self._decision, self._result = None, "illegal"
            observation, info = self._observe()
            return observation, -worst_loss(self.rules), True, False, info
        reward = self._play(choices[index : index + 1])
        if self._result is None:
            reward = self._opponent_turn(self._throw())
        self._decision = None if self._result is not None else self._throw()
        observation, info = self._observe()
        return observation, reward, self._result is not None, False, info

    def legal_afterstates(self) -> Boards:
        """The boards to choose from, int8 (n, 2, 26), rows (learner, opponent), the turn not yet passed.

        Row i is what action i leads to, before the opponent's turn. Empty once the game is over. The array is the
        caller's own.
        """
        if self._decision is None:
            return np.empty((0, 2, SLOTS), dtype=np.int8)
        return self._decision.afterstates.boards.copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now, bool (3060,)."""
        mask = np.zeros(MAX_AFTERSTATES, dtype=np.bool_)
        if self._decision is not None:
            mask[: len(self._decision.afterstates.boards)] = True
        return mask

    def render(self) -> str | None:
        """The present board as text in mode "ansi", the learner's checkers as `x`; None without a mode."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() was called without a render mode; make the environment with "ansi"')
            return None
        dice = None if self._decision is None else self._decision.dice[0]
        seat = "first" if self._learner == FIRST else "second"
        lines = [draw_board(self._board(), self.rules, dice), f"x is the learner, who moved {seat}"]
        if self._result is not None:
            lines.append(f"game over: {self._result}")
        return "\n".join(lines)

    def _throw(self) -> Decisions:
        """Throws for the player on roll."""
        dice = self.np_random.integers(1, 7, size=(1, 2), dtype=np.int8)
        if self.rules.opening_roll == "use" and self._games.turn[0] == 0:
            while dice[0, 0] == dice[0, 1]:  # R6.1: the lot is played, and in it ties roll again
                dice = self.np_random.integers(1, 7, size=(1, 2), dtype=np.int8)
        decision = decide(self._games, dice, self.rules)
        if len(decision.afterstates.boards) > MAX_AFTERSTATES:
            raise RuntimeError(f"a roll has more than {MAX_AFTERSTATES} afterstates, so they cannot all be offered")
        return decision

    def _play(self, after: Boards) -> float:
        """Makes the play of the player on roll; returns his equity and notes how the game ended, if it did."""
        mover = int(self._games.turn[0]) % 2
        self._games, outcome, equity = apply(self._games, after, self.rules)
        if outcome[0] >= 0:
            names = outcome_names(self.rules)
            number = int(outcome[0])
            self._result = names[number] if mover == self._learner else names[len(names) - 1 - number]
        return float(equity[0])

    def _opponent_turn(self, decision: Decisions) -> float:
        """Lets the opponent play; returns the learner's equity, 0 while the game goes on."""
        scores = self.opponent.scores(decision)
        ties = self.np_random.integers(0, 2**64, size=1, dtype=np.uint64)
        row = int(choose(scores, decision.afterstates.offsets, ties)[0])
        return 0.0 - self._play(decision.afterstates.boards[row : row + 1])  # 0.0 - x: no -0.0

    def _board(self) -> Boards:
        """The board as the learner sees it, int8 (2, 26), a fresh array."""
        on_roll = int(self._games.turn[0]) % 2
        board: Boards = (self._games.boards if on_roll == self._learner else flip(self._games.boards))[0]
        return board.copy()

    def _observe(self) -> tuple[Observation, dict[str, Any]]:
        dice = np.zeros(2, dtype=np.int8) if self._decision is None else self._decision.dice[0].copy()
        observation = {"board": self._board(), "dice": dice, "seat": np.int64(self._learner)}
        info: dict[str, Any] = {"action_mask": self.action_masks().astype(np.int8)}
        if self._result is not None:
            info["result"] = self._result
        return observation, info


def worst_loss(rules: Rules) -> float:
    """Points of the highest win of the scoring; under `checkers` (R5.3), with all 15 checkers left."""
    points = max(points for _, points in LEVELS[rules.scoring])
    return float(points * (CHECKERS if rules.scoring == "checkers" else 1))
