"""Online TD(lambda) with eligibility traces, one game at a time: TD-Gammon's way.

After every turn t the weights move by lr * sum over outcomes k of delta[k] * e[k], where delta = V(s[t+1]) - V(s[t])
(the result instead of V at the end) and e = lambda * e + grad V(s[t]) (Sutton, "Learning to predict by the methods of
temporal differences", Machine Learning 3, 1988; Tesauro, "Temporal difference learning and TD-Gammon", CACM 38(3),
1995).

The change of side: traces and deltas are kept from the first seat's view throughout a game, so the value of a
position in which the second seat is on roll enters reversed (an equity: negated). The gradient is written out by hand
and compiled; a test holds it equal to torch's.
"""

import time
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nardy_rl import game as flow
from nardy_rl.agents.base import choose, decide
from nardy_rl.config import TrainConfig
from nardy_rl.rules import dice
from nardy_rl.rules.scoring import levels
from nardy_rl.rules.spec import Rules
from nardy_rl.training.report import Report
from nardy_rl.value.evaluator import CompiledEvaluator, CompiledWeights, afterstate_equities
from nardy_rl.value.features import active_rows
from nardy_rl.value.net import ValueNet, make_net, value_points, value_width
from nardy_rl.value.stages import stages


class Traces(NamedTuple):
    """Eligibility traces: for each output the gradient-shaped arrays, float32; `touched` lists rows in use."""

    rows: NDArray[np.float32]
    bias: NDArray[np.float32]
    second: NDArray[np.float32]
    second_bias: NDArray[np.float32]
    last: NDArray[np.float32]
    last_bias: NDArray[np.float32]
    touched: NDArray[np.bool_]


def new_traces(weights: CompiledWeights) -> Traces:
    """Traces of zero for a net with these weights."""
    width = weights.last_bias.shape[1]
    shapes = [(width, *np.shape(array)) for array in weights[: len(Traces._fields) - 1]]
    arrays: Any = [np.zeros(shape, np.float32) for shape in shapes]
    return Traces._make([*arrays, np.zeros(len(weights.rows), np.bool_)])


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def value_and_trace(rows: Any, stage: int, weights: Any, traces: Any, decay: Any, reverse: Any) -> Any:
    """Decays the traces, adds the gradient of each output at one position, and returns the outputs, float32 (width,).

    Args:
        rows: int64, active rows of the position.
        stage: Its stage of the game.
        weights: `CompiledWeights`.
        traces: `Traces`, changed in place.
        decay: float32, lambda.
        reverse: The second seat is on roll: outputs and gradients enter mirrored (an equity: negated).
    """
    hidden, hidden2, width = len(weights.bias), weights.second_bias.shape[1], weights.last_bias.shape[1]
    upper, upper_bias, last, last_bias = (
        weights.second[stage],
        weights.second_bias[stage],
        weights.last[stage],
        weights.last_bias[stage],
    )
    first = weights.bias.copy()
    for row in rows:
        first += weights.rows[row]
    inside = np.empty(hidden, np.bool_)
    for i in range(hidden):
        inside[i] = 0.0 < first[i] < 1.0
        first[i] = min(max(first[i], np.float32(0.0)), np.float32(1.0))
    second = np.empty(hidden2, np.float32)
    for j in range(hidden2):
        total = upper_bias[j]
        for i in range(hidden):
            total += first[i] * upper[j, i]
        second[j] = max(total, np.float32(0.0))
    value = np.empty(width, np.float32)
    for k in range(width):
        total = last_bias[k]
        for j in range(hidden2):
            total += second[j] * last[k, j]
        value[k] = total
    if weights.scale > 0.0:
        value[0] *= np.float32(weights.scale)
    else:
        value = np.exp(value - value.max())
        value /= value.sum()

    for row in range(len(traces.touched)):
        if traces.touched[row]:
            for k in range(width):
                for i in range(hidden):
                    traces.rows[k, row, i] *= decay
    traces.bias[:] *= decay
    traces.second[:] *= decay
    traces.second_bias[:] *= decay
    traces.last[:] *= decay
    traces.last_bias[:] *= decay
    for row in rows:
        traces.touched[row] = True

    to_second = np.empty(hidden2, np.float32)
    to_first = np.empty(hidden, np.float32)
    for k in range(width):
        # trace t receives the gradient of output k (with its sign, for an equity)
        t = width - 1 - k if reverse else k
        sign = np.float32(-1.0) if reverse and width == 1 else np.float32(1.0)
        to_second[:] = 0.0
        for m in range(width):
            if weights.scale > 0.0:
                slope = np.float32(weights.scale)
            else:
                slope = value[k] * ((1.0 if k == m else 0.0) - value[m])
            slope *= sign
            traces.last_bias[t, stage, m] += slope
            for j in range(hidden2):
                traces.last[t, stage, m, j] += slope * second[j]
                to_second[j] += slope * last[m, j]
        to_first[:] = 0.0
        for j in range(hidden2):
            if second[j] > 0.0:
                traces.second_bias[t, stage, j] += to_second[j]
                for i in range(hidden):
                    traces.second[t, stage, j, i] += to_second[j] * first[i]
                    to_first[i] += to_second[j] * upper[j, i]
        for i in range(hidden):
            if not inside[i]:
                to_first[i] = 0.0
            traces.bias[t, i] += to_first[i]
        for row in rows:
            for i in range(hidden):
                traces.rows[t, row, i] += to_first[i]
    if reverse:
        value = -value if width == 1 else value[::-1].copy()
    return value


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def move_weights(weights: Any, traces: Any, step: Any) -> None:
    """Adds sum over k of step[k] * trace[k] to the weights in place; `step` is lr * delta, float32 (width,)."""
    for k in range(len(step)):
        for row in range(len(traces.touched)):
            if traces.touched[row]:
                for i in range(len(weights.bias)):
                    weights.rows[row, i] += step[k] * traces.rows[k, row, i]
        weights.bias[:] += step[k] * traces.bias[k]
        weights.second_bias[:] += step[k] * traces.second_bias[k]
        weights.last_bias[:] += step[k] * traces.last_bias[k]
        weights.second[:] += step[k] * traces.second[k]
        weights.last[:] += step[k] * traces.last[k]


@numba.njit(cache=True, nogil=True)
def clear_traces(traces: Any) -> None:
    """Sets all traces to zero."""
    for row in range(len(traces.touched)):
        if traces.touched[row]:
            traces.rows[:, row] = 0.0
            traces.touched[row] = False
    traces.bias[:] = 0.0
    traces.second[:] = 0.0
    traces.second_bias[:] = 0.0
    traces.last[:] = 0.0
    traces.last_bias[:] = 0.0


class OnlineTrainer:
    """Learns after every turn of one game at a time; plain steps of size lr, no batches, no optimizer state."""

    def __init__(self, config: TrainConfig, rules: Rules, net: ValueNet | None = None) -> None:
        """A trainer of `net`, or of a fresh one."""
        self.config = config
        self.rules = rules
        self.net = net or make_net(config.net, rules, config.seed)
        self._evaluator = CompiledEvaluator(self.net, rules)
        self._traces = new_traces(self._evaluator.weights)

    def iterate(self, iteration: int, games_done: int, n: int, next_n: int) -> Report:
        """See `Trainer`."""
        started, before = time.perf_counter(), time.thread_time()
        progress = games_done / self.config.games
        lr, lam = self.config.lr.at(progress), self.config.lam.at(progress)
        exploration = self.config.exploration.at(progress)
        games = [self._play_and_learn(games_done + k, lr, lam, exploration) for k in range(n)]
        self._evaluator.weights_into(self.net)

        width = value_width(self.rules)
        wins = slice(levels(self.rules) + 1, None)
        points = value_points(self.rules)
        predicted: list[NDArray[np.float64]] = []
        actual: list[NDArray[np.float64]] = []
        for game in games:  # all from the first seat's view
            final = np.broadcast_to(game.final, game.values.shape)
            for values, into in ((game.values, predicted), (final, actual)):
                into.append(values[:, 0] / np.abs(points).max() if width == 1 else values[:, wins].sum(axis=1))
        deltas = np.concatenate([game.deltas for game in games])
        learn_s = sum(game.learn_s for game in games)
        outcome = np.array([game.outcome for game in games])
        return Report(
            games=n,
            positions=len(deltas),
            loss=float((deltas**2).sum(axis=1).mean()),
            grad_norm=float(np.mean([game.delta_norm for game in games])),
            lr=lr,
            lam=lam,
            exploration=exploration,
            play_s=time.thread_time() - before - learn_s,
            learn_s=learn_s,
            wall_s=time.perf_counter() - started,
            length=float(np.mean([len(game.deltas) for game in games])),
            first_edge=float(np.mean([game.first_equity for game in games])),
            mars_rate=float((np.abs(outcome - levels(self.rules)) >= 2).mean()),
            draw_rate=float((outcome == levels(self.rules)).mean()),
            predicted=np.concatenate(predicted),
            actual=np.concatenate(actual),
        )

    def state(self) -> dict[str, Tensor]:
        """See `Trainer`: traces start at zero in every game, so the weights are all there is."""
        return {"none": torch.zeros(1)}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """See `Trainer`."""
        self._evaluator = CompiledEvaluator(self.net, self.rules)

    def close(self) -> None:
        """See `Trainer`: there are no threads."""

    def _play_and_learn(self, stream: int, lr: float, lam: float, exploration: float) -> "_Game":
        config, rules, weights, traces = self.config, self.rules, self._evaluator.weights, self._traces
        width = value_width(rules)
        clear_traces(traces)
        games = flow.new_games([stream], rules)
        values: list[NDArray[np.float32]] = []
        deltas: list[NDArray[np.float32]] = []
        learn_s = 0.0
        decay = np.float32(lam)
        while True:
            before = time.thread_time()
            first_seat = bool(games.moved_first[0])
            rows, _ = active_rows(games.boards, games.moved_first, self.net.config.patterns)
            stage = int(stages(games.boards, self.net.config.stages)[0])
            value = value_and_trace(rows, stage, weights, traces, decay, not first_seat)
            decay = np.float32(lam)
            learn_s += time.thread_time() - before

            decisions = decide(games, flow.roll(games, config.seed, rules), rules)
            scores = afterstate_equities(self._evaluator, games.boards, games.moved_first, decisions.afterstates, rules)
            ties = dice.bits(config.seed, dice.TIES, games.stream, games.turn)
            chosen = choose(scores, decisions.afterstates.offsets, ties)
            explored = exploration > 0 and (
                dice.uniform(config.seed, dice.EXPLORE, games.stream, games.turn)[0] < exploration
            )
            if explored:
                drawn = dice.bits(config.seed, dice.SAMPLE, games.stream, games.turn) % np.uint64(len(scores))
                chosen = drawn.astype(np.int64)
            games, outcome, equity = flow.apply(games, decisions.afterstates.boards[chosen], rules)

            before = time.thread_time()
            if outcome[0] >= 0:
                following = np.zeros(width, dtype=np.float32)
                following[0 if width == 1 else outcome[0]] = equity[0] if width == 1 else 1.0
                turned = not first_seat
            else:
                following = self._evaluator.values(games.boards, games.moved_first)[0]
                turned = first_seat
            if turned:
                following = -following if width == 1 else following[::-1].copy()
            values.append(value)
            if explored:
                clear_traces(traces)  # what follows says nothing about the positions before a random play
            else:
                deltas.append(following - value)
                step = (lr * deltas[-1]).astype(np.float32)
                move_weights(weights, traces, step)
            learn_s += time.thread_time() - before
            if outcome[0] >= 0:
                first_equity = float(equity[0] if first_seat else -equity[0])
                delta_array = np.stack(deltas) if deltas else np.zeros((1, width), dtype=np.float32)
                return _Game(
                    int(outcome[0]),
                    first_equity,
                    following,
                    np.stack(values),
                    delta_array,
                    learn_s,
                    float(np.linalg.norm(delta_array, axis=1).mean()),
                )


class _Game(NamedTuple):
    """One finished game, all from the first seat's view but `outcome`, which is the last mover's."""

    outcome: int
    first_equity: float
    final: NDArray[np.float32]
    values: NDArray[np.float32]
    deltas: NDArray[np.float32]
    learn_s: float
    delta_norm: float
