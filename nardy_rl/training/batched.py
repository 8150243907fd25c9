"""Batched TD(lambda): play whole games with fixed weights, then fit the net to their lambda-returns.

With `algorithm=backup` the returns are made of expected backups: where a position is searched, the value after the roll
that was thrown gives way to its expectation, the mean over all 21 rolls of the best play. Lambda 0 trains the net
towards its own 1-ply search; lambda 1 gives the game's result less all luck of the dice, an unbiased return that varies
far less than the result. This is the tree backup of Precup, Sutton and Singh ("Eligibility traces for off-policy policy
evaluation", ICML 2000) with dice in the place of actions; where only some positions are searched, it is Q(sigma) (De
Asis et al., "Multi-step reinforcement learning", AAAI 2018).

With `algorithm=rollouts` some positions of the games are rolled out, and the net is fitted to the equities of these.
"""

import copy
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nardy_rl.config import TrainConfig
from nardy_rl.rules.board import Boards
from nardy_rl.rules.scoring import levels
from nardy_rl.rules.spec import Rules
from nardy_rl.training import selfplay
from nardy_rl.training.report import Report
from nardy_rl.training.selfplay import Trajectories
from nardy_rl.training.targets import from_parity, lambda_returns, side_change, to_parity
from nardy_rl.value.evaluator import CompiledEvaluator, Evaluator
from nardy_rl.value.net import ValueNet, make_net, tensors, value_points, value_width

_NORM_EVERY = 8
"""Gradient steps from one whose gradient is measured to the next."""


@dataclass
class Samples:
    """Positions to learn from.

    Attributes:
        boards: int8 (M, 2, 26), rows (player on roll, opponent).
        moved_first: bool (M,).
        target: float32 (M, width), the lambda-return from the view of the player on roll.
        value: float32 (M, width), what the net that played said.
        final: float32 (M, width), how the game really ended, same view.
    """

    boards: Boards
    moved_first: NDArray[np.bool_]
    target: NDArray[np.float32]
    value: NDArray[np.float32]
    final: NDArray[np.float32]

    @staticmethod
    def join(parts: list["Samples"]) -> "Samples":
        """All samples, in order."""
        return Samples(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))


def make_samples(
    games: Trajectories, evaluator: Evaluator, lam: float, rules: Rules, expected: NDArray[np.float32] | None = None
) -> Samples:
    """The lambda-returns of finished games, for every turn that was not explored.

    An explored play says nothing about how good its position was, so its turn is not learnt from, and no return is
    carried back over it (the cut of Watkins' Q(lambda), 1989).

    Args:
        games: The games.
        evaluator: That played them.
        lam: Lambda.
        rules: Any `Rules`.
        expected: float32 (T, B, width), expected backups of the positions that were searched, NaN for the others (see
            `selfplay.expected_values`).
    """
    alive = games.alive
    turns, n = alive.shape
    width = value_width(rules)
    values = np.zeros((turns, n, width), dtype=np.float32)
    values[alive] = evaluator.values(games.boards[alive], games.moved_first[alive])

    last = games.length - 1
    everyone = np.arange(n)
    result = np.zeros((n, width), dtype=np.float32)
    if width == 1:
        result[:, 0] = games.equity
    else:
        result[everyone, games.outcome] = 1.0

    after = np.zeros_like(values)
    after[:-1] = to_parity(values[1:])
    rewards = np.zeros_like(values)
    rewards[last, everyone] = to_parity(result)
    discounts = np.zeros_like(values)
    discounts[alive] = side_change(width)
    discounts[last, everyone] = 0.0
    if expected is not None:  # G[t] = expected[t] + discount * lambda * (G[t + 1] - value[t + 1])
        rewards = np.where(np.isnan(expected), rewards, to_parity(expected) - discounts * after)
    lambdas = np.full((turns, n, 1), lam, dtype=np.float32)
    lambdas[:-1][games.explored[1:]] = 0.0
    returns = lambda_returns(rewards, discounts, after, lambdas)
    # the last mover's result, seen by whoever was on roll: his, or the other's, turn about
    mirrored = np.stack([result, -result if width == 1 else result[:, ::-1]])

    learnt = alive & ~games.explored
    turn, game = np.nonzero(learnt)
    return Samples(
        games.boards[learnt],
        games.moved_first[learnt],
        from_parity(returns[learnt]),
        values[learnt],
        mirrored[(last[game] - turn) % 2, game],
    )


def predictions(samples: Samples, rules: Rules) -> tuple[NDArray[Any], NDArray[Any]]:
    """What the net said of winning, and what became of it, (M,) each: `Report.predicted` and `Report.actual`."""
    if value_width(rules) == 1:
        points = value_points(rules)
        share = np.abs(points).max()
        return samples.value @ points / share, samples.final @ points / share
    wins = slice(levels(rules) + 1, None)
    return samples.value[:, wins].sum(axis=1), samples.final[:, wins].sum(axis=1)


def rollout_samples(games: Trajectories, evaluator: Evaluator, equities: NDArray[np.float32], rules: Rules) -> Samples:
    """The positions that were rolled out; their `target` is an equity, float32 (M, 1).

    Args:
        games: The games.
        evaluator: That played them.
        equities: float32 (T, B), NaN where there was no rollout (see `selfplay.rolled_out_equities`).
        rules: Any `Rules`.
    """
    samples = make_samples(games, evaluator, 1.0, rules)
    samples.target = equities[games.alive & ~games.explored][:, None]
    kept = ~np.isnan(samples.target[:, 0])
    return Samples(*(getattr(samples, name)[kept] for name in vars(samples)))


class _Chunk(NamedTuple):
    """Games played by one thread, their expected backups or rollouts (if any), and the processor seconds they took."""

    games: Trajectories
    searched: NDArray[np.float32] | None
    seconds: float


class BatchedTrainer:
    """Plays an iteration's games, then goes over their positions in random batches, with Adam."""

    def __init__(self, config: TrainConfig, rules: Rules, net: ValueNet | None = None) -> None:
        """A trainer of `net`, or of a fresh one."""
        self.config = config
        self.rules = rules
        self.net: ValueNet = net or make_net(config.net, rules, config.seed)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=config.lr.start, fused=True)
        self._actor = copy.deepcopy(self.net)
        """The weights that play the next iteration: with `overlap` one iteration older than `net`."""
        self._pool = ThreadPoolExecutor(config.threads)
        self._pending: tuple[int, CompiledEvaluator, list[Future[_Chunk]]] | None = None

    def iterate(self, iteration: int, games_done: int, n: int, next_n: int) -> Report:
        """Plays and learns from `n` games on dice streams `games_done` ...; `next_n` more will follow (0: none)."""
        started, before_all = time.perf_counter(), time.process_time()
        evaluator, chunks = self._play(iteration, games_done, n)
        progress = games_done / self.config.games
        lam, lr = self.config.lam.at(progress), self.config.lr.at(progress)

        parts: list[Samples] = []
        played: list[Trajectories] = []
        play_s = prepare_s = 0.0
        for chunk in chunks:
            games, searched, seconds = chunk.result()
            play_s += seconds
            before = time.thread_time()
            if self.config.algorithm == "rollouts" and searched is not None:
                parts.append(rollout_samples(games, evaluator, searched, self.rules))
            else:
                parts.append(make_samples(games, evaluator, lam, self.rules, searched))
            played.append(games)
            prepare_s += time.thread_time() - before

        self._actor.load_state_dict(self.net.state_dict())
        if self.config.overlap and next_n:
            self._play(iteration + 1, games_done + n, next_n)
        before = time.thread_time()
        samples = Samples.join(parts)
        loss, grad_norm = self._learn(samples, iteration, lr)
        learn_s = prepare_s + time.thread_time() - before
        if not self.config.overlap:
            self._actor.load_state_dict(self.net.state_dict())

        if self.config.algorithm == "rollouts":  # they have threads of their own
            play_s = max(0.0, time.process_time() - before_all - learn_s)

        first_edge = np.concatenate([games.first_seat_equity for games in played])
        outcome = np.concatenate([games.outcome for games in played])
        n_levels = levels(self.rules)
        predicted, actual = predictions(samples, self.rules)
        return Report(
            games=n,
            positions=len(samples.boards),
            loss=loss,
            grad_norm=grad_norm,
            lr=lr,
            lam=lam,
            exploration=self.config.exploration.at(progress),
            play_s=play_s,
            learn_s=learn_s,
            wall_s=time.perf_counter() - started,
            length=float(np.mean([games.length.mean() for games in played])),
            first_edge=float(first_edge.mean()),
            mars_rate=float((np.abs(outcome - n_levels) >= 2).mean()),
            draw_rate=float((outcome == n_levels).mean()),
            predicted=predicted,
            actual=actual,
        )

    def state(self) -> dict[str, Tensor]:
        """Everything that decides what comes next, apart from the net's own weights and the counters."""
        state = {f"actor.{name}": value for name, value in self._actor.state_dict().items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            state |= {f"adam.{index}.{name}": value for name, value in moments.items()}
        return state

    def load_state(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`; load the net's weights first."""
        actor = {name.removeprefix("actor."): value for name, value in state.items() if name.startswith("actor.")}
        self._actor.load_state_dict(actor)
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in state.items():
            if name.startswith("adam."):
                _, index, part = name.split(".")
                moments.setdefault(int(index), {})[part] = value
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})

    def close(self) -> None:
        """Stops the threads; games not yet started are dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _play(self, iteration: int, first: int, n: int) -> tuple[CompiledEvaluator, list[Future["_Chunk"]]]:
        """Starts an iteration's games, or finds them started already."""
        if self._pending is None or self._pending[0] != iteration:
            evaluator = CompiledEvaluator(self._actor, self.rules, precision="int16")
            exploration = self.config.exploration.at(first / self.config.games)
            jobs = [
                self._pool.submit(self._play_chunk, evaluator, streams, exploration)
                for streams in selfplay.chunks(first, n)
            ]
            self._pending = iteration, evaluator, jobs
        return self._pending[1:]

    def _play_chunk(self, evaluator: CompiledEvaluator, streams: NDArray[np.int64], exploration: float) -> "_Chunk":
        before = time.thread_time()
        config, rules = self.config, self.rules
        games = selfplay.play_games(evaluator, streams, config.seed, exploration, rules)
        searched = None
        if config.algorithm == "backup":
            searched = selfplay.expected_values(evaluator, games, config.seed, config.search_share, rules)
        elif config.algorithm == "rollouts":
            searched = selfplay.rolled_out_equities(
                evaluator, games, config.seed, config.search_share, config.rollout_trials, config.rollout_turns, rules
            )
        return _Chunk(games, searched, time.thread_time() - before)

    def _learn(self, samples: Samples, iteration: int, lr: float) -> tuple[float, float]:
        """Passes over the samples in batches; returns the mean loss and the mean norm of the gradient."""
        n = len(samples.boards)
        random = np.random.default_rng([self.config.seed, iteration])
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        if not n:  # few positions are rolled out, and perhaps none of a small iteration
            return 0.0, 0.0
        batches = [
            batch
            for _ in range(self.config.passes)
            for batch in np.array_split(random.permutation(n), min(self.config.batches, n))
        ]
        losses, weights, norms = [], [], []
        for step, batch in enumerate(batches):
            inputs = tensors(samples.boards[batch], samples.moved_first[batch], self.net.config)
            output = self.net(*inputs)
            loss = self._loss(output, torch.from_numpy(samples.target[batch]))
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            if step % _NORM_EVERY == 0:
                grads = [parameter.grad for parameter in self.net.parameters() if parameter.grad is not None]
                norms.append(float(torch.nn.utils.get_total_norm(grads)))
            self.optimizer.step()
            losses.append(loss.item())
            weights.append(len(batch))
        return float(np.average(losses, weights=weights)), float(np.mean(norms))

    def _loss(self, output: Tensor, target: Tensor) -> Tensor:
        """The net's own loss; of equities, which say nothing of single outcomes, the mean squared error."""
        if self.config.algorithm != "rollouts" or self.net.scalar:
            return self.net.loss(output, target)
        points = torch.from_numpy(value_points(self.rules)).to(output.dtype)
        return torch.nn.functional.mse_loss(self.net.value(output) @ points[:, None], target)
