"""Nardy as a Gymnasium environment where one step is one checker's, for methods with a policy over few actions."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numba
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nardy_rl.agents.base import Agent
from nardy_rl.envs.env import Observation, OneTable
from nardy_rl.rules import _kernels
from nardy_rl.rules.board import OPP_POINT, Boards
from nardy_rl.rules.spec import BAR, CHECKERS, CHOICES, HEAD, OFF, SLOTS, Rules

SOURCES = 25
"""Slots a step can start from: the points 1 .. 24 and the bar."""

PASS = 6 * SOURCES
"""The action of a turn in which nothing can be played."""

STEP_ACTIONS = PASS + 1

_GREEDY = CHOICES["must_play"].index("greedy")


def step_action(die: int, source: int) -> int:
    """The action that moves a checker from `source` (1 .. 24, or 25 from the bar) by `die` (1 .. 6)."""
    return SOURCES * (die - 1) + source - 1


def action_step(action: int) -> tuple[int, int]:
    """The inverse of `step_action`: (die, source) of an action below `PASS`."""
    die, source = divmod(action, SOURCES)
    return die + 1, source + 1


class TurnGraph(NamedTuple):
    """All legal ways through one turn. A state is a board with the dice left to be played; 0 is the start.

    Attributes:
        parent: int32 (E,), the state each step starts from; ascending.
        child: int32 (E,), the state it leads to.
        action: int16 (E,), what `step_action` calls it.
        target: int16 (E,), the slot where the checker arrives, 0 if it is borne off.
        stop: bool (S,), does the turn end in this state.
    """

    parent: NDArray[np.int32]
    child: NDArray[np.int32]
    action: NDArray[np.int16]
    target: NDArray[np.int16]
    stop: NDArray[np.bool_]


def turn_graph(board: Boards, dice: NDArray[np.int8], rules: Rules) -> TurnGraph:
    """The steps that begin or continue a legal play, and no others; none at all if the turn is a pass.

    Args:
        board: int8 (2, 26), rows (player on roll, opponent).
        dice: int8 (2,).
        rules: Any `Rules`.
    """
    codes = rules.codes
    # Told that the rules are greedy, the generator never takes a short cut: it walks every order of the dice and keeps
    # every step. Which states end a turn under the rules as they are is decided from that.
    every_order = codes._replace(must_play=_GREEDY)
    return TurnGraph(*_turn_graph(board, int(dice[0]), int(dice[1]), every_order, codes.must_play == _GREEDY))


@numba.njit(cache=True, nogil=True)
def _turn_graph(board: Any, die_1: int, die_2: int, codes: Any, greedy: bool) -> Any:
    ws = _kernels.new_workspace()
    _kernels.generate_turn(ws, board[0], board[1], die_1, die_2, codes)
    states, _, _, edges, flags, _ = ws
    n, n_edges = 1, 0
    while n_edges < edges.shape[1] and edges[1, n_edges] > 0:  # no step leads to state 0, and unused places hold 0
        n = max(n, edges[1, n_edges] + 1)
        n_edges += 1

    # bit 0 of a flag: the board is legal under R3; bit 1: some legal board lies further on. See `_kernels._all_orders`
    # for the ranks: the highest is the most that can be played (R1.3)
    most = 0
    for state in range(1, n):
        if flags[state] & 1:
            most = max(most, states[4, state])
    stop = np.zeros(n, np.bool_)
    for state in range(1, n):
        if flags[state] & 1:
            finished = states[0, state] & 15 == CHECKERS  # R1.4
            stop[state] = flags[state] == 1 if greedy else states[4, state] == most or finished

    leads = stop.copy()
    for edge in range(n_edges - 1, -1, -1):  # steps run from earlier to later, so backwards the child is known first
        if leads[edges[1, edge]]:
            leads[edges[0, edge]] = True

    high, low = max(die_1, die_2), min(die_1, die_2)
    parents, children = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32)
    actions, targets = np.empty(n_edges, np.int16), np.empty(n_edges, np.int16)
    kept = 0
    for edge in range(n_edges):
        parent, child = edges[0, edge], edges[1, edge]
        if not leads[child]:
            continue
        # of two different dice: rank 2 is the higher alone, 1 the lower alone, 3 both
        rank = states[4, child]
        by_high = high == low or rank == 2 or (rank == 3 and states[4, parent] == 1)
        source, target = BAR, OFF  # the one slot that has lost a checker, and the one that has gained it
        while _count(states, parent, source) <= _count(states, child, source):
            source -= 1
        while _count(states, parent, target) >= _count(states, child, target):
            target += 1
        parents[kept], children[kept] = parent, child
        actions[kept] = SOURCES * ((high if by_high else low) - 1) + source - 1
        targets[kept] = target
        kept += 1
    return parents[:kept].copy(), children[:kept].copy(), actions[:kept].copy(), targets[:kept].copy(), stop


@numba.njit(cache=True, nogil=True)
def _count(states: Any, state: int, slot: int) -> Any:
    """The mover's checkers on a slot, four bits each in two words."""
    return (states[0, state] >> 4 * slot if slot < 13 else states[1, state] >> 4 * (slot - 13)) & 15


class NardyStepsEnv(OneTable):
    """A game of nardy against an opponent that is part of the environment; one step is one checker's.

    ## Description
    The game of `NardyEnv`, in smaller portions: a step moves one checker by one die. When the learner's play is
    complete the turn ends by itself, the opponent plays, and the learner's next throw is shown. So the actions have the
    same meaning in every position, as methods with a policy (PPO and its like, with masks) want them.

    The mask offers exactly the prefixes of legal plays. It looks ahead: a step that is possible but would leave a die
    unplayed which another way uses (R1.3), that only the head rule (R2) or a block of six (R3) would punish later, or
    that wastes the larger die, is not offered. Whatever legal action is taken, some legal play can be completed, and
    every afterstate that `NardyEnv` offers can be reached.

    ## Action Space
    `Discrete(151)`:

    - `25 * (die - 1) + (source - 1)`, 0 .. 149: a checker moves by `die` (1 .. 6) from `source`, in the learner's
      own numbering: 1 .. 24 the points, 25 the bar. It goes to `source - die`, or off if that is not above 0 (or if
      `bear_off_blocked="leftmost"` sends it off all the same, R4.3).
    - 150: the pass, legal only (and then alone) in a turn in which nothing can be played.

    There is no action that ends a turn. `step_action(die, source)` and `action_step(action)` of this module translate.

    ## Observation Space
    A `Dict`, always from the learner's side:

    - `board`, `Box(0, 15, (2, 26), int8)`: as in `NardyEnv`, with the steps of this turn already made.
    - `dice`, `Box(0, 6, (4,), int8)`: the dice still to be played, the higher first, four at the start of a double,
      filled up with 0; all 0 once the game is over. In a turn without a legal play the dice are shown too.
    - `seat`, `Discrete(2)`: 0 if the learner made the first move of the game, 1 if the opponent did (R5.4).
    - `left_head`, `Discrete(5)`: checkers that have left the point 24 in this turn; in long nardy the head rule (R2.1)
      makes it matter.

    ## Starting State
    As in `NardyEnv`, before the learner's first step.

    ## Rewards
    As in `NardyEnv`: 0 until the game is over, then the learner's points minus the opponent's.

    ## Episode End
    As in `NardyEnv`. A game takes some 3 steps a turn.

    ## Information
    `reset` and `step` return a dict with

    - `action_mask`: int8 `(151,)`, 1 for the legal actions; all 0 once the game is over.
    - `result`, only at the end, as in `NardyEnv`.

    `action_masks()` returns the same mask as bool; sb3-contrib's `MaskablePPO` finds it by this name.

    ## Arguments

    ```python
    import gymnasium
    import nardy_rl.envs

    env = gymnasium.make("nardy_rl/LongNardySteps-v0", opponent="bearoff")
    observation, info = env.reset(seed=1)
    over = False
    while not over:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    ```

    `opponent`, `rules` (default `"official"`, and `"short"` for `nardy_rl/ShortNardySteps-v0`), `options`, `seat`,
    `on_illegal` and `render_mode` are those of `NardyEnv`.

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
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            opponent, rules=rules, options=options, seat=seat, on_illegal=on_illegal, render_mode=render_mode
        )
        self.action_space = spaces.Discrete(STEP_ACTIONS)
        self.observation_space = spaces.Dict(
            {
                "board": spaces.Box(0, CHECKERS, (2, SLOTS), np.int8),
                "dice": spaces.Box(0, 6, (4,), np.int8),
                "seat": spaces.Discrete(2),
                "left_head": spaces.Discrete(5),
            }
        )
        self._new_turn()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now, bool (151,)."""
        mask = np.zeros(STEP_ACTIONS, dtype=np.bool_)
        if self._on and self._graph is not None:
            mask[self._graph.action[self._graph.parent == self._state]] = True
            mask[PASS] = not len(self._graph.action)
        return mask

    def _new_turn(self) -> None:
        self._present = super()._board()
        self._state = 0
        self._left: list[int] = []
        self._left_head = 0
        self._graph: TurnGraph | None = None
        if self._on:
            dice = self._tables.dice[0]
            self._left = sorted((int(die) for die in dice), reverse=True) * (2 if dice[0] == dice[1] else 1)
            self._graph = turn_graph(self._present, dice, self.rules)

    def _act(self, action: int) -> float:
        graph = self._graph
        assert graph is not None, "an action is legal only while a game is on"
        if action == PASS:
            return self._play(self._present[None])
        edge = np.flatnonzero((graph.parent == self._state) & (graph.action == action))[0]
        die, source = action_step(action)
        target = graph.target[edge]
        self._left.remove(die)
        self._left_head += source == HEAD
        mover, other = self._present
        mover[source] -= 1
        mover[target] += 1
        theirs = OPP_POINT[self.rules.geometry][target]
        if target != OFF and other[theirs]:  # R8.2: the step is legal, so it was a single one
            other[theirs] -= 1
            other[BAR] += 1
        self._state = int(graph.child[edge])
        return self._play(self._present[None]) if graph.stop[self._state] else 0.0

    def _board(self) -> Boards:
        return self._present.copy()

    def _dice_to_show(self) -> list[int] | None:
        return self._left if self._on else None

    def _observation(self) -> Observation:
        dice = np.zeros(4, dtype=np.int8)
        if self._on:
            dice[: len(self._left)] = self._left
        seat, left_head = self._tables.learner[0], np.int64(self._left_head)
        return {"board": self._board(), "dice": dice, "seat": seat, "left_head": left_head}
