"""Evaluators: equities of positions and of afterstates, by torch or by the compiled twin of the net.

One perspective everywhere: a position is seen by the player on roll before he throws. An afterstate is worth to its
mover minus what the flipped position is worth to the opponent; `afterstate_equities` holds that one negation.
"""

from typing import Any, NamedTuple, Protocol

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import CHECKERS, OFF, SLOTS, Rules
from nardy_rl.value.features import COUNTS, SEAT_ROW
from nardy_rl.value.net import EQUITY_SCALE, ValueNet, tensors, value_points, weights_as_arrays


class Evaluator(Protocol):
    """Anything that says what positions are worth. Results never depend on which positions share a batch."""

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Probability of each outcome for the player on roll (or his equity, width 1), float32 (K, width).

        Args:
            boards: int8 (K, 2, 26), rows (player on roll, opponent), the dice not thrown yet.
            moved_first: bool (K,), does the player on roll hold the first seat.
        """
        ...

    def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Expected points of the player on roll, float64 (K,); arguments as in `values`."""
        ...

    def after_play(
        self, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates
    ) -> NDArray[np.float64]:
        """Expected points of the OPPONENT, who is on roll, in every afterstate, float64 (K,).

        Args:
            boards: int8 (N, 2, 26), the boards the plays start from, rows (mover, opponent).
            moved_first: bool (N,), does the mover hold the first seat.
            afterstates: Of these N rolls.
        """
        ...


class TorchEvaluator:
    """Evaluates by the torch module itself; any module with `forward(rows, offsets)` and `value(output)` will do."""

    def __init__(self, net: ValueNet, rules: Rules) -> None:
        self.net = net
        self.rules = rules
        self._points = value_points(rules)

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Evaluator`."""
        with torch.inference_mode():
            value: NDArray[np.float32] = self.net.value(self.net(*tensors(boards, moved_first))).numpy()
        return value

    def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Evaluator`."""
        result: NDArray[np.float64] = self.values(boards, moved_first).astype(np.float64) @ self._points
        return result

    def after_play(
        self, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates
    ) -> NDArray[np.float64]:
        """See `Evaluator`."""
        return self.equities(flip(afterstates.boards), ~np.repeat(moved_first, afterstates.counts))


class CompiledEvaluator:
    """The same net compiled: the first layer once per roll, then only what differs in each afterstate.

    Attributes:
        rules: Whose scoring turns values into equities.
        weights: A snapshot of the net's parameters; later training of the net does not change it.
    """

    def __init__(self, net: ValueNet, rules: Rules) -> None:
        self.rules = rules
        self.weights = compiled_weights(net, rules)

    def weights_into(self, net: ValueNet) -> None:
        """Copies the weights back into a net of the same shape."""
        names = ("rows.weight", "bias", "second.weight", "second.bias", "last.weight", "last.bias")
        state = {name: torch.tensor(array) for name, array in zip(names, self.weights[: len(names)], strict=True)}
        net.load_state_dict(state)

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Evaluator`."""
        value: NDArray[np.float32] = _values(_words(boards), _flags(moved_first), self.weights)
        return value

    def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Evaluator`."""
        result: NDArray[np.float64] = self.values(boards, moved_first).astype(np.float64) @ self.weights.points
        return result

    def after_play(
        self, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates
    ) -> NDArray[np.float64]:
        """See `Evaluator`."""
        result: NDArray[np.float64] = _after_play(
            _words(boards), _flags(moved_first), _words(afterstates.boards), afterstates.offsets, self.weights
        )
        return result


def afterstate_equities(
    evaluator: Evaluator, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates, rules: Rules
) -> NDArray[np.float64]:
    """Expected points of the mover in every afterstate of N rolls, float64 (K,).

    Finished games get their exact points, and so does the opponent's last throw (R5.4), by all 21 rolls of it.
    """
    equity = -evaluator.after_play(boards, moved_first, afterstates)
    after = afterstates.boards
    ended = np.flatnonzero((after[:, :, OFF] == CHECKERS).any(axis=1))
    if ended.size:
        game = np.searchsorted(afterstates.offsets, ended, side="right") - 1
        outcome, points = settle(boards[game], after[ended], moved_first[game], rules)
        equity[ended] = points
        last_throw = ended[outcome < 0]
        if last_throw.size:
            equity[last_throw] = -last_throw_equities(flip(after[last_throw]), rules)
    return equity


def last_throw_equities(boards: Boards, rules: Rules) -> NDArray[np.float64]:
    """Exact equity of the player who has one throw left (R5.4), float64 (N,).

    Args:
        boards: int8 (N, 2, 26), rows (the second player, on roll; the first, all off).
        rules: Rules with `draw` last_roll.
    """
    n, rolls = len(boards), len(ROLLS)
    starts = np.repeat(boards, rolls, axis=0)
    after = legal_afterstates(starts, np.tile(ROLLS, (n, 1)), rules)
    before = np.repeat(starts, after.counts, axis=0)
    _, points = settle(before, after.boards, np.zeros(len(before), dtype=np.bool_), rules)
    best: NDArray[np.float64] = np.maximum.reduceat(points, after.offsets[:-1]).reshape(n, rolls)
    return best @ ROLL_WEIGHTS


# --- the compiled net -------------------------------------------------------------------------------------------------


class CompiledWeights(NamedTuple):
    """The net's parameters as the kernels want them, all C-contiguous."""

    rows: NDArray[np.float32]
    """(ROWS, H)"""
    bias: NDArray[np.float32]
    second: NDArray[np.float32]
    """(H2, H)"""
    second_bias: NDArray[np.float32]
    last: NDArray[np.float32]
    """(width, H2)"""
    last_bias: NDArray[np.float32]
    points: NDArray[np.float64]
    scale: float
    """What a scalar output is multiplied by; 0 where the outputs are logits of outcomes."""


def compiled_weights(net: ValueNet, rules: Rules) -> CompiledWeights:
    """A snapshot of the net's parameters; later training does not change it."""
    arrays = weights_as_arrays(net)
    return CompiledWeights(
        rows=arrays["rows.weight"],
        bias=arrays["bias"],
        second=arrays["second.weight"],
        second_bias=arrays["second.bias"],
        last=arrays["last.weight"],
        last_bias=arrays["last.bias"],
        points=value_points(rules),
        scale=EQUITY_SCALE if net.scalar else 0.0,
    )


_WORDS = 2 * SLOTS // 4


def _words(boards: Boards) -> NDArray[np.int32]:
    """Boards int8 (K, 2, 26) as int32 (K, 13), to compare four slots at once."""
    return np.require(boards, requirements=["C", "W"]).reshape(len(boards), 2 * SLOTS).view(np.int32)


def _flags(moved_first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.require(moved_first, requirements=["C", "W"])


_fast = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})


@_fast
def _full_sum(words: Any, flipped: bool, moved_first: bool, weights: CompiledWeights, out: Any) -> None:
    """First layer of one position before the clip, from scratch. `flipped`: the words hold (opponent, on roll)."""
    out[:] = weights.bias
    for w in range(_WORDS):
        word = words[w]
        for byte in range(4):
            count = (word >> (8 * byte)) & 15
            slot = w * 4 + byte
            if flipped:
                slot = slot + SLOTS if slot < SLOTS else slot - SLOTS
            for row in range(slot * COUNTS + 1, slot * COUNTS + count + 1):
                for i in range(len(out)):
                    out[i] += weights.rows[row, i]
    if moved_first:
        for i in range(len(out)):
            out[i] += weights.rows[SEAT_ROW, i]


@_fast
def _layers(first: Any, weights: CompiledWeights, hidden: Any, out: Any) -> None:
    """From the first layer before the clip, float32 (H,), which is overwritten, to the value (width,)."""
    for i in range(len(first)):
        first[i] = min(max(first[i], np.float32(0.0)), np.float32(1.0))
    for j in range(len(hidden)):
        total = weights.second_bias[j]
        for i in range(len(first)):
            total += first[i] * weights.second[j, i]
        hidden[j] = max(total, np.float32(0.0))
    for k in range(len(out)):
        total = weights.last_bias[k]
        for j in range(len(hidden)):
            total += hidden[j] * weights.last[k, j]
        out[k] = total
    if weights.scale > 0.0:
        out[0] *= np.float32(weights.scale)
        return
    highest = out[0]
    for k in range(1, len(out)):
        highest = max(highest, out[k])
    norm = np.float32(0.0)
    for k in range(len(out)):
        out[k] = np.exp(out[k] - highest)
        norm += out[k]
    for k in range(len(out)):
        out[k] /= norm


@_fast
def _values(words: Any, moved_first: Any, weights: CompiledWeights) -> Any:
    first = np.empty(len(weights.bias), np.float32)
    hidden = np.empty(len(weights.second_bias), np.float32)
    out = np.empty((len(words), len(weights.last_bias)), np.float32)
    for k in range(len(words)):
        _full_sum(words[k], False, moved_first[k], weights, first)
        _layers(first, weights, hidden, out[k])
    return out


@_fast
def _after_play(boards: Any, moved_first: Any, after: Any, offsets: Any, weights: CompiledWeights) -> Any:
    width = len(weights.last_bias)
    base = np.empty(len(weights.bias), np.float32)
    first = np.empty(len(weights.bias), np.float32)
    hidden = np.empty(len(weights.second_bias), np.float32)
    value = np.empty(width, np.float32)
    equity = np.empty(len(after), np.float64)
    for game in range(len(boards)):
        # the opponent is on roll in an afterstate, so the two rows change places, and the seat with them
        _full_sum(boards[game], True, not moved_first[game], weights, base)
        for k in range(offsets[game], offsets[game + 1]):
            first[:] = base
            for w in range(_WORDS):
                if after[k, w] != boards[game, w]:
                    for byte in range(4):
                        old = (boards[game, w] >> (8 * byte)) & 15
                        new = (after[k, w] >> (8 * byte)) & 15
                        slot = w * 4 + byte
                        slot = slot + SLOTS if slot < SLOTS else slot - SLOTS
                        for row in range(slot * COUNTS + old + 1, slot * COUNTS + new + 1):
                            for i in range(len(first)):
                                first[i] += weights.rows[row, i]
                        for row in range(slot * COUNTS + new + 1, slot * COUNTS + old + 1):
                            for i in range(len(first)):
                                first[i] -= weights.rows[row, i]
            _layers(first, weights, hidden, value)
            total = 0.0
            for i in range(width):
                total += value[i] * weights.points[i]
            equity[k] = total
    return equity
