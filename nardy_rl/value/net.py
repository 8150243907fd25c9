"""The value net in torch: positions in, what the result will be for the player on roll out."""

import dataclasses
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from nardy_rl.rules import scoring
from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import CHECKERS, Rules
from nardy_rl.value.features import ROWS, active_rows, spread_rows, sum_rows
from nardy_rl.value.patterns import NONE, check_patterns, pattern_rows, rows_in
from nardy_rl.value.stages import ONE, stage_count, stages

EQUITY_SCALE = 3.0 * CHECKERS
"""Largest result of the scoring `checkers`; its net learns equity divided by this (R5.3)."""

LARGEST = 16_384
"""Most units of a layer: beyond, a mistyped size would take all of a machine's memory."""


@dataclasses.dataclass
class NetConfig:
    """Shape of the net.

    Attributes:
        hidden: Units of the first layer, a sum of feature rows clipped to [0, 1].
        hidden2: Units of the second layer (ReLU).
        init_scale: Standard deviation of the initial feature rows: small enough for a fresh sum of 30 rows to stay
            inside the clip.
        stages: Scheme of the stages of the game that have a second and a last layer each: `one` | `short` | `long`
            (see `value.stages`).
        patterns: Scheme of the rows for patterns of held points: `none` | `long` (see `value.patterns`).
    """

    hidden: int = 128
    hidden2: int = 16
    init_scale: float = 0.03
    stages: str = ONE
    patterns: str = NONE


class ValueNet(nn.Module):
    """Sum of feature rows -> clip to [0, 1] -> ReLU layer -> outcomes, or equity for the scoring `checkers`.

    The clip keeps the first layer bounded and the second a small matrix product, the shape NNUE engines use for the
    same reason (Nasu, "Efficiently updatable neural-network-based evaluation functions", 2018). With stages of the game
    (`NetConfig.stages`) the layers after the clip are those of the position's stage; one stage's rows of `second` and
    `last` follow the other's, and all begin alike. Rows of patterns (`NetConfig.patterns`) begin at zero.

    Attributes:
        outcomes: Number of outcomes (2 L + 1, see `rules.scoring`), or 1 for a net of scalar equity.
    """

    def __init__(self, config: NetConfig, outcomes: int) -> None:
        super().__init__()
        for name, size in (("hidden", config.hidden), ("hidden2", config.hidden2)):
            if not 1 <= size <= LARGEST:
                raise ValueError(f"net.{name}={size} is not allowed; give 1 to {LARGEST}")
        self.config = config
        self.outcomes = outcomes
        self.stages = stage_count(config.stages)
        self.rows = nn.Parameter(torch.zeros(ROWS + pattern_rows(config.patterns), config.hidden))
        self.bias = nn.Parameter(torch.full((config.hidden,), 0.5))
        self.second = nn.Linear(config.hidden, config.hidden2 * self.stages)
        self.last = nn.Linear(config.hidden2, outcomes * self.stages)
        with torch.no_grad():
            nn.init.normal_(self.rows[:ROWS], std=config.init_scale)
            for layer in (self.second, self.last) if self.stages > 1 else ():
                for parameter in (layer.weight, layer.bias):
                    by_stage = parameter.view(self.stages, -1)
                    by_stage.copy_(by_stage[0].clone().expand_as(by_stage))

    def forward(self, rows: Tensor, offsets: Tensor, stage: Tensor | None = None) -> Tensor:
        """Raw outputs, float32 (K, outcomes), for the input that `tensors` makes of K positions.

        Args:
            rows: int64 (M,), active rows (see `features.active_rows`).
            offsets: int64 (K + 1,), where each position's begin.
            stage: int64 (K,), stage of each position; not needed by a net of one stage.
        """
        total: Tensor = _row_sum(self.rows, rows, offsets)
        first = (total + self.bias).clamp(0.0, 1.0)
        if self.stages == 1:
            result: Tensor = self.last(functional.relu(self.second(first)))
            return result
        if stage is None:
            raise ValueError(f"a net with stages={self.config.stages!r} needs the stage of each position")
        order = torch.argsort(stage, stable=True)
        counts = torch.bincount(stage, minlength=self.stages).tolist()
        second, second_bias = self.second.weight.chunk(self.stages), self.second.bias.chunk(self.stages)
        last, last_bias = self.last.weight.chunk(self.stages), self.last.bias.chunk(self.stages)
        outputs = [
            functional.linear(
                functional.relu(functional.linear(part, second[k], second_bias[k])), last[k], last_bias[k]
            )
            for k, part in enumerate(torch.split(first[order], counts))
            if len(part)
        ]
        return torch.cat(outputs)[torch.argsort(order)] if outputs else first.new_empty(0, self.outcomes)

    @property
    def scalar(self) -> bool:
        """True if the net gives an equity and no outcomes."""
        return self.outcomes == 1

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Mean loss of raw outputs (K, outcomes) against targets of the same shape.

        Cross-entropy against a distribution over outcomes; for a scalar net the squared error of equity / EQUITY_SCALE.
        """
        if self.scalar:
            return functional.mse_loss(output, target / EQUITY_SCALE)
        return functional.cross_entropy(output, target)

    def value(self, output: Tensor) -> Tensor:
        """What raw outputs say: probabilities of the outcomes (K, outcomes), or equity (K, 1) in points."""
        return output * EQUITY_SCALE if self.scalar else output.softmax(dim=1)


class _RowSum(torch.autograd.Function):
    """An embedding bag (mode sum) with a dense gradient: rows are few, and a batch touches most of them.

    On a CPU several times as fast as `torch.nn.EmbeddingBag`, forward and backward together.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor, rows: Tensor, offsets: Tensor) -> Tensor:
        """Sums rows of `weight` (R, H) by position, float32 (K, H)."""
        ctx.save_for_backward(rows, offsets)
        ctx.count = len(weight)
        return torch.from_numpy(sum_rows(weight.detach().numpy(), rows.numpy(), offsets.numpy()))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """Gradient by `weight`."""
        rows, offsets = ctx.saved_tensors
        spread = spread_rows(grad.contiguous().numpy(), rows.numpy(), offsets.numpy(), ctx.count)
        return torch.from_numpy(spread), None, None


_row_sum: Any = _RowSum.apply


def make_net(config: NetConfig, rules: Rules, seed: int) -> ValueNet:
    """A fresh net for the scoring of `rules`; the same seed gives the same weights.

    Raises:
        ValueError: There is no such shape, or it is for another game.
    """
    check_patterns(config.patterns, rules)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ValueNet(config, value_width(rules))


def value_width(rules: Rules) -> int:
    """Numbers that describe the value of a position: one per outcome, or 1 where only equity is learnt."""
    return 1 if rules.scoring == "checkers" else 2 * scoring.levels(rules) + 1


def value_points(rules: Rules) -> NDArray[np.float64]:
    """Equity is the dot product of a value with this, float64 (value_width,)."""
    return np.ones(1) if rules.scoring == "checkers" else scoring.outcome_points(rules)


def tensors(boards: Boards, moved_first: NDArray[np.bool_], config: NetConfig) -> tuple[Tensor, ...]:
    """The input of `ValueNet.forward` for boards int8 (K, 2, 26) and moved_first bool (K,), by the net's config."""
    rows, offsets = active_rows(boards, moved_first, config.patterns)
    stage = [] if config.stages == ONE else [torch.from_numpy(stages(boards, config.stages))]
    return torch.from_numpy(rows), torch.from_numpy(offsets), *stage


def grown(net: ValueNet, config: NetConfig, seed: int) -> ValueNet:
    """A larger net that says what `net` says, and has more units, stages or patterns to learn with.

    New units start at random in what they see and at zero in what they say (the function-preserving growth of Chen,
    Goodfellow and Shlens, "Net2Net", ICLR 2016, without the copies); new stages start as the one there was, and new
    patterns at zero.

    Args:
        net: The net.
        config: The shape to give it; nothing in it may be smaller than in `net`.
        seed: Of the new units.

    Raises:
        ValueError: A layer would become smaller, or the net has other stages or patterns already.
    """
    old = net.config
    smaller = config.hidden < old.hidden or config.hidden2 < old.hidden2
    if smaller or old.stages not in (ONE, config.stages):
        raise ValueError(f"a net of {old} cannot grow into {config}")
    try:
        patterns = rows_in(old.patterns, net.rows.detach()[ROWS:].numpy(), config.patterns)
    except ValueError as error:
        raise ValueError(f"a net of {old} cannot grow into {config}: {error}") from error
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        larger = ValueNet(config, net.outcomes)
        larger.rows[:ROWS, : old.hidden] = net.rows[:ROWS]
        larger.rows[ROWS:, : old.hidden] = torch.from_numpy(patterns)
        larger.bias[: old.hidden] = net.bias
        shape = (larger.stages, config.hidden2)
        weight, bias = larger.second.weight.view(*shape, -1), larger.second.bias.view(shape)
        weight[:, : old.hidden2, : old.hidden] = net.second.weight.view(net.stages, old.hidden2, -1)
        weight[:, : old.hidden2, old.hidden :] = 0.0
        bias[:, : old.hidden2] = net.second.bias.view(net.stages, -1)
        last = larger.last.weight.view(larger.stages, net.outcomes, -1)
        last[:, :, : old.hidden2] = net.last.weight.view(net.stages, net.outcomes, -1)
        last[:, :, old.hidden2 :] = 0.0
        larger.last.bias.view(larger.stages, -1)[:] = net.last.bias.view(net.stages, -1)
    return larger


def weights_as_arrays(net: ValueNet) -> dict[str, NDArray[Any]]:
    """Copies of the parameters by name, float32."""
    return {name: value.detach().numpy().copy() for name, value in net.state_dict().items()}
