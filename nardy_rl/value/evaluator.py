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
from nardy_rl.value import _kernels
from nardy_rl.value.features import COUNTS, ROWS, SEAT_ROW, add_rows
from nardy_rl.value.net import EQUITY_SCALE, NetConfig, ValueNet, tensors, value_points, weights_as_arrays
from nardy_rl.value.patterns import MOST_ACTIVE, active_patterns, changed_patterns, held, pattern_numbers, silent_rows
from nardy_rl.value.stages import scheme_numbers, stage


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
    """Evaluates by the torch module itself; any module with `forward(rows, offsets)` and `value(output)` will do.

    A net with stages of the game gets the stage of each position as well, and one with patterns their rows.
    """

    def __init__(self, net: ValueNet, rules: Rules) -> None:
        self.net = net
        self.rules = rules
        self._points = value_points(rules)
        self._config = net.config if isinstance(net, ValueNet) else NetConfig()

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Evaluator`."""
        with torch.inference_mode():
            output = self.net(*tensors(boards, moved_first, self._config))
            value: NDArray[np.float32] = self.net.value(output).numpy()
        return value

    def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Evaluator`."""
        result: NDArray[np.float64] = (self.values(boards, moved_first) * self._points).sum(axis=1)
        return result

    def after_play(
        self, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates
    ) -> NDArray[np.float64]:
        """See `Evaluator`."""
        return self.equities(flip(afterstates.boards), ~np.repeat(moved_first, afterstates.counts))


class CompiledEvaluator:
    """The same net compiled: the first layer once per roll, then only what differs in each afterstate.

    Positions are always evaluated in float32. Afterstates may be evaluated in 16-bit integers, several times as fast
    and within a few thousandths of a point: enough to choose a play by (see `_kernels`).

    Attributes:
        rules: Whose scoring turns values into equities.
        scheme: Of the net's stages of the game (see `value.stages`).
        patterns: Scheme of its patterns (see `value.patterns`).
        weights: A snapshot of the net's parameters; later training of the net does not change it.
        precision: The arithmetic of `after_play`: "float32", or "int16" if asked for and the weights allow it.
    """

    def __init__(self, net: ValueNet, rules: Rules, precision: str = "float32") -> None:
        """Takes a snapshot of `net`.

        Args:
            net: The net.
            rules: Whose scoring turns values into equities.
            precision: "float32", or "int16" for speed. Whoever changes `weights` in place needs "float32": the
                16-bit copy would not follow.
        """
        if precision not in ("float32", "int16"):
            raise ValueError(f"precision must be float32 or int16, not {precision!r}")
        self.rules = rules
        self.scheme = net.config.stages
        self.patterns = net.config.patterns
        self.weights = compiled_weights(net, rules)
        self._narrow = _kernels.narrow_weights(self.weights, self.patterns) if precision == "int16" else None
        self.precision = "float32" if self._narrow is None else "int16"

    def weights_into(self, net: ValueNet) -> None:
        """Copies the weights back into a net of the same shape."""
        names = ("rows", "bias", "second.weight", "second.bias", "last.weight", "last.bias")
        shapes = net.state_dict()
        arrays = zip(names, self.weights[: len(names)], strict=True)
        net.load_state_dict({name: torch.tensor(array).view_as(shapes[name]) for name, array in arrays})

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Evaluator`."""
        value: NDArray[np.float32] = _values(_bytes(boards), _words(boards), _flags(moved_first), self.weights)
        return value

    def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Evaluator`."""
        result: NDArray[np.float64] = (self.values(boards, moved_first) * self.weights.points).sum(axis=1)
        return result

    def after_play(
        self, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates
    ) -> NDArray[np.float64]:
        """See `Evaluator`."""
        result: NDArray[np.float64]
        before, after = _bytes(boards), _bytes(afterstates.boards)
        if self._narrow is not None:
            result = _kernels.after_play(before, _flags(moved_first), after, afterstates.offsets, self._narrow)
            return result
        words = _OWN_WORDS if self.rules.geometry == "long" else _WORDS  # nobody is hit in long nardy
        result = _after_play(
            _words(boards), _flags(moved_first), after, _words(after), afterstates.offsets, words, self.weights
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
    equity: NDArray[np.float64] = (best * ROLL_WEIGHTS).sum(axis=1)  # not `@`: its last bit depends on the batch's size
    return equity


# --- the compiled net -------------------------------------------------------------------------------------------------


class CompiledWeights(NamedTuple):
    """The net's parameters as the kernels want them, all C-contiguous; S stages of the game."""

    rows: NDArray[np.float32]
    """(R, H): ROWS, and perhaps those of the patterns; rows of what is never active among these are 0"""
    bias: NDArray[np.float32]
    second: NDArray[np.float32]
    """(S, H2, H)"""
    second_bias: NDArray[np.float32]
    """(S, H2)"""
    last: NDArray[np.float32]
    """(S, width, H2)"""
    last_bias: NDArray[np.float32]
    """(S, width)"""
    points: NDArray[np.float64]
    scale: float
    """What a scalar output is multiplied by; 0 where the outputs are logits of outcomes."""
    scheme: NDArray[np.int64]
    """Of the stages, see `stages.scheme_numbers`"""
    patterns: NDArray[np.int64]
    """See `patterns.pattern_numbers`"""


def compiled_weights(net: ValueNet, rules: Rules) -> CompiledWeights:
    """A snapshot of the net's parameters; later training does not change it."""
    arrays = weights_as_arrays(net)
    config = net.config
    arrays["rows"][ROWS + silent_rows(config.patterns)] = 0.0
    return CompiledWeights(
        rows=arrays["rows"],
        bias=arrays["bias"],
        second=arrays["second.weight"].reshape(net.stages, config.hidden2, config.hidden),
        second_bias=arrays["second.bias"].reshape(net.stages, config.hidden2),
        last=arrays["last.weight"].reshape(net.stages, net.outcomes, config.hidden2),
        last_bias=arrays["last.bias"].reshape(net.stages, net.outcomes),
        points=value_points(rules),
        scale=EQUITY_SCALE if net.scalar else 0.0,
        scheme=scheme_numbers(config.stages),
        patterns=pattern_numbers(config.patterns),
    )


_WORDS = 2 * SLOTS // 4
_OWN_WORDS = -(-SLOTS // 4)
_MAX_ROWS = 2 * CHECKERS + 1 + MOST_ACTIVE


def _words(boards: Boards) -> NDArray[np.int32]:
    """Boards int8 (K, 2, 26) as int32 (K, 13), to compare four slots at once."""
    return np.require(boards, requirements=["C", "W"]).reshape(len(boards), 2 * SLOTS).view(np.int32)


def _bytes(boards: Boards) -> NDArray[np.int8]:
    """Boards int8 (K, 2, 26) as int8 (K, 52)."""
    return np.require(boards, requirements=["C", "W"]).reshape(len(boards), 2 * SLOTS)


def _flags(moved_first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.require(moved_first, requirements=["C", "W"])


_fast = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"}, boundscheck=False)


@_fast
def _row_of(place: int, flipped: bool) -> int:
    """Row before the first checker's of byte `place` of a board; `flipped`: the board holds (opponent, on roll)."""
    if flipped:
        place = place + SLOTS if place < SLOTS else place - SLOTS
    return place * COUNTS


@_fast
def _first_sum(words: Any, flipped: bool, moved_first: bool, weights: CompiledWeights, active: Any, out: Any) -> int:
    """First layer of one position before the clip, float32 (H,), from scratch; returns the places not empty.

    `active` is scratch int64; bit n of the places is byte n of the board.
    """
    n = 0
    places = 0
    for w in range(_WORDS):
        word = np.int64(words[w])
        for byte in range(4):
            row = _row_of(4 * w + byte, flipped)
            count = word >> (8 * byte) & 15
            places |= int(count > 0) << (4 * w + byte)
            for k in range(1, count + 1):
                active[n] = row + k
                n += 1
    if moved_first:
        active[n] = SEAT_ROW
        n += 1
    if len(weights.patterns):
        mine, theirs = held(places, int(flipped))
        n = active_patterns(mine, theirs, weights.patterns, ROWS, active, n)
    bias = weights.bias
    for i in range(len(out)):
        out[i] = bias[i]
    add_rows(weights.rows, active, 0, n, out)
    return places


@_fast
def _places(board: Any) -> int:
    """The bytes of a board int8 (52,) that are not 0, as bits."""
    places = 0
    for n in range(2 * SLOTS):
        places |= int(board[n] != 0) << n
    return places


@_fast
def _changes(before: Any, after: Any, words: int, come: Any, gone: Any) -> int:
    """Rows that a play of the side in row 0 makes active (`come`) and inactive (`gone`); as many of either.

    Both boards are seen by the mover; the rows are those of the flipped position, in which the opponent is on roll.
    """
    n_come = 0
    n_gone = 0
    for w in range(words):
        if before[w] != after[w]:
            old_word, new_word = np.int64(before[w]), np.int64(after[w])
            for byte in range(4):
                old, new = old_word >> (8 * byte) & 15, new_word >> (8 * byte) & 15
                if old != new:
                    row = _row_of(4 * w + byte, True)
                    for k in range(old + 1, new + 1):
                        come[n_come] = row + k
                        n_come += 1
                    for k in range(new + 1, old + 1):
                        gone[n_gone] = row + k
                        n_gone += 1
    return n_come


@_fast
def _first_layer(base: Any, rows: Any, come: Any, gone: Any, n: int, out: Any) -> None:
    """Writes clip(base + rows that came - rows that went), float32 (H,); plays mostly change two pairs of rows."""
    zero, one = np.float32(0.0), np.float32(1.0)
    if n == 2:
        a, b, c, d = rows[come[0]], rows[gone[0]], rows[come[1]], rows[gone[1]]
        for i in range(len(out)):
            out[i] = min(max(base[i] + ((a[i] - b[i]) + (c[i] - d[i])), zero), one)
        return
    if n == 1:
        a, b = rows[come[0]], rows[gone[0]]
        for i in range(len(out)):
            out[i] = min(max(base[i] + (a[i] - b[i]), zero), one)
        return
    for i in range(len(out)):
        out[i] = base[i]
    for k in range(n):
        a, b = rows[come[k]], rows[gone[k]]
        for i in range(len(out)):
            out[i] += a[i] - b[i]
    for i in range(len(out)):
        out[i] = min(max(out[i], zero), one)


@_fast
def _second_layer(first: Any, w: Any, bias: Any, out: Any) -> None:
    """ReLU layer, float32 (H2,), four units at a time, so that `first` is read once for four dot products."""
    zero = np.float32(0.0)
    n = len(out)
    j = 0
    while j + 4 <= n:
        w0, w1, w2, w3 = w[j], w[j + 1], w[j + 2], w[j + 3]
        s0, s1, s2, s3 = bias[j], bias[j + 1], bias[j + 2], bias[j + 3]
        for i in range(len(first)):
            x = first[i]
            s0 += x * w0[i]
            s1 += x * w1[i]
            s2 += x * w2[i]
            s3 += x * w3[i]
        out[j], out[j + 1], out[j + 2], out[j + 3] = max(s0, zero), max(s1, zero), max(s2, zero), max(s3, zero)
        j += 4
    while j < n:
        w0, s0 = w[j], bias[j]
        for i in range(len(first)):
            s0 += first[i] * w0[i]
        out[j] = max(s0, zero)
        j += 1


@_fast
def _outputs(hidden: Any, w: Any, bias: Any, scale: float, out: Any) -> None:
    """The value, float32 (width,): probabilities of the outcomes, or the equity of a scalar net."""
    width = len(out)
    for k in range(width):
        total = bias[k]
        for j in range(len(hidden)):
            total += hidden[j] * w[k, j]
        out[k] = total
    if scale > 0.0:
        out[0] *= np.float32(scale)
        return
    highest = out[0]
    for k in range(1, width):
        highest = max(highest, out[k])
    norm = np.float32(0.0)
    for k in range(width):
        out[k] = np.exp(out[k] - highest)
        norm += out[k]
    share = np.float32(1.0) / norm
    for k in range(width):
        out[k] *= share


@_fast
def _values(boards: Any, words: Any, moved_first: Any, weights: CompiledWeights) -> Any:
    """Values of positions, float32 (K, width); boards int8 (K, 52) and the same as words int32 (K, 13)."""
    base = np.empty(len(weights.bias), np.float32)
    first = np.empty(len(weights.bias), np.float32)
    hidden = np.empty(weights.second_bias.shape[1], np.float32)
    active = np.empty(_MAX_ROWS, np.int64)
    out = np.empty((len(words), weights.last_bias.shape[1]), np.float32)
    for k in range(len(words)):
        s = stage(boards, k, 0, weights.scheme)
        _first_sum(words[k], False, moved_first[k], weights, active, base)
        _first_layer(base, weights.rows, active, active, 0, first)
        _second_layer(first, weights.second[s], weights.second_bias[s], hidden)
        _outputs(hidden, weights.last[s], weights.last_bias[s], weights.scale, out[k])
    return out


@_fast
def _after_play(
    boards: Any, moved_first: Any, after: Any, after_words: Any, offsets: Any, words: int, weights: CompiledWeights
) -> Any:
    """Equity of the opponent, who is on roll, in every afterstate; only the first `words` words of a board change.

    Boards int32 (., 13); afterstates as int8 (., 52) and as int32.
    """
    base = np.empty(len(weights.bias), np.float32)
    first = np.empty(len(weights.bias), np.float32)
    hidden = np.empty(weights.second_bias.shape[1], np.float32)
    value = np.empty(weights.last_bias.shape[1], np.float32)
    come = np.empty(_MAX_ROWS, np.int64)
    gone = np.empty(_MAX_ROWS, np.int64)
    equity = np.empty(len(after), np.float64)
    for game in range(len(boards)):
        # the opponent is on roll in an afterstate, so the two rows change places, and the seat with them
        places = _first_sum(boards[game], True, not moved_first[game], weights, come, base)
        mine, theirs = held(places, 1)
        for k in range(offsets[game], offsets[game + 1]):
            s = stage(after, k, 1, weights.scheme)
            n = _changes(boards[game], after_words[k], words, come, gone)
            if len(weights.patterns):
                mine_after, theirs_after = held(_places(after[k]), 1)
                n = changed_patterns(mine, theirs, mine_after, theirs_after, weights.patterns, ROWS, come, gone, n)
            _first_layer(base, weights.rows, come, gone, n, first)
            _second_layer(first, weights.second[s], weights.second_bias[s], hidden)
            _outputs(hidden, weights.last[s], weights.last_bias[s], weights.scale, value)
            total = 0.0
            for i in range(len(value)):
                total += value[i] * weights.points[i]
            equity[k] = total
    return equity
