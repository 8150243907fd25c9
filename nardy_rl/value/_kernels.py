"""The value net in 16-bit integers: what makes choosing plays fast.

The first layer is a sum of rows and the second a small matrix product, so both run at twice the speed with numbers
half as wide, and x86 processors have one instruction for a pair of 16-bit products. Rounding moves an equity by a few
thousandths of a point at most (tests hold it), which hardly ever changes a choice; learning stays in float32.

- First layer: unit i counts in steps of 1 / scale[i]. The scale is chosen from the weights so that no sum of any
  position can leave int16, so sums in between may wrap. The board's own sum comes from float32 and is rounded once.
- Second layer: products of int16 added up exactly in int32, then back to float32.
- Afterstates go through the layers `BLOCK` at a time, over the borders of rolls, so that weights are loaded once for
  several of them; each stage of the game fills blocks of its own. Every one is computed by the same instructions
  wherever it stands, so results do not depend on the batch.

Numba widens all integers to 64 bits, which hides 16-bit products from the compiler; so the innermost loops are written
as LLVM vectors. These have the same meaning on every processor: LLVM splits them into what the machine has.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from nardy_rl.rules._kernels import lowest_bit
from nardy_rl.rules.spec import CHECKERS, SLOTS
from nardy_rl.value.features import COUNTS, ROWS, SEAT_ROW
from nardy_rl.value.patterns import MOST_ACTIVE, NONE, active_patterns, changed_patterns, held, largest_sums
from nardy_rl.value.stages import stage

UNITS = 64
"""The first layer is padded to a multiple of this."""
LANES = 16
"""The second layer and the outputs are padded to multiples of this."""
GROUP = 8
"""Afterstates that share one load of the second layer's weights; their sums fill eight vector registers."""
BLOCK = 2 * GROUP
BOARD = 2 * SLOTS

_ROOM = 32_700
"""Largest sum of the first layer: int16 but for some room, since up to 61 rows are each rounded by at most 1/2 ..."""
_ROOM_WITH_PATTERNS = 32_600
"""... and a play changes at most 12 windows and 48 outlooks, two rows each."""
_FINEST, _COARSEST = 16_384, 400
"""Steps per unit of the first layer. Weights that would need fewer are not evaluated in integers."""


class NarrowWeights(NamedTuple):
    """A net rounded to 16 bits; H, H2 and the width padded with zeros to multiples of UNITS, LANES and LANES.

    S stages of the game; R rows: ROWS, and perhaps those of the patterns.
    """

    totals: NDArray[np.float32]
    """(R, H): for a slot with n checkers the sum of its rows 1..n, so that a board takes one row per slot; the rows of
    patterns are as they are."""
    bias: NDArray[np.float32]
    rows: NDArray[np.int16]
    """(R, H) in steps"""
    scale: NDArray[np.float32]
    """(H,) steps per 1.0"""
    top: NDArray[np.int16]
    """(H,) what 1.0 is in steps: the clip"""
    second: NDArray[np.int16]
    """(S, H2 / LANES, H / 2, LANES, 2): a pair of inputs for each of LANES units side by side"""
    second_factor: NDArray[np.float32]
    """(S, H2) from the integer sum to the unit's input"""
    second_bias: NDArray[np.float32]
    """(S, H2)"""
    last: NDArray[np.float32]
    """(S, H2, LANES)"""
    last_factor: NDArray[np.float32]
    """(LANES,)"""
    last_bias: NDArray[np.float32]
    """(S, LANES)"""
    points: NDArray[np.float32]
    output_scale: np.float32
    """What a scalar output is multiplied by; 0 where the outputs are logits of outcomes."""
    scheme: NDArray[np.int64]
    """Of the stages, see `stages.scheme_numbers`"""
    patterns: NDArray[np.int64]
    """See `patterns.pattern_numbers`"""


def narrow_weights(weights: Any, patterns: str) -> NarrowWeights | None:
    """Rounds a net (`CompiledWeights`) to 16 bits; None if its weights are too large for that.

    Args:
        weights: The net.
        patterns: Scheme of its patterns.
    """
    units, (stages, units2), width = len(weights.bias), weights.second_bias.shape, weights.last_bias.shape[1]
    if width > LANES:
        return None
    h, h2 = -(-units // UNITS) * UNITS, -(-units2 // LANES) * LANES
    rows = _padded(weights.rows, (len(weights.rows), h))
    rows[:SEAT_ROW:COUNTS] = 0.0  # row 0 of a slot is never active
    bias = _padded(weights.bias, (h,))
    of_patterns, room = largest_sums(patterns, rows[ROWS:]), _ROOM if patterns == NONE else _ROOM_WITH_PATTERNS
    scale = _scale(_largest_sums(rows, bias) + of_patterns, room)
    if scale.min() < _COARSEST:
        scale = _scale(_largest_position_sums(rows, bias) + of_patterns, room)
    if scale.min() < _COARSEST:
        return None
    totals = rows.copy()
    by_slot = totals[:SEAT_ROW].reshape(BOARD, COUNTS, h)
    np.cumsum(by_slot, axis=1, out=by_slot)

    second = _padded(weights.second, (stages, h2, h)).astype(np.float64)
    per_step = second / scale
    # neither a weight may leave int16 nor a sum int32; a hundredth of room for rounding
    room16 = 32_767 / np.maximum(np.abs(per_step).max(axis=2), 1e-30)
    room32 = 0.99 * 2.0**31 / np.maximum(np.abs(second).sum(axis=2), 1e-30)
    steps2 = np.minimum(room16, room32)
    rounded = np.rint(per_step * steps2[:, :, None]).astype(np.int16)
    in_lanes = rounded.reshape(stages, h2 // LANES, LANES, h // 2, 2)
    return NarrowWeights(
        totals=totals,
        bias=bias,
        rows=np.rint(rows * scale.astype(np.float32)).astype(np.int16),
        scale=scale.astype(np.float32),
        top=scale.astype(np.int16),
        second=np.ascontiguousarray(in_lanes.transpose(0, 1, 3, 2, 4)),
        second_factor=(1.0 / steps2).astype(np.float32),
        second_bias=_padded(weights.second_bias, (stages, h2)),
        last=_padded(weights.last.transpose(0, 2, 1), (stages, h2, LANES)),
        last_factor=np.ones(LANES, np.float32),
        last_bias=_padded(weights.last_bias, (stages, LANES)),
        points=weights.points.astype(np.float32),
        output_scale=np.float32(weights.scale),
        scheme=weights.scheme,
        patterns=weights.patterns,
    )


def _padded(array: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    result = np.zeros(shape, np.float32)
    result[tuple(slice(n) for n in array.shape)] = array
    return result


def _scale(largest: NDArray[np.float64], room: int) -> NDArray[np.float64]:
    """Steps per unit that keep sums of this size within int16, float64 (H,)."""
    scale: NDArray[np.float64] = np.floor(np.clip(room / np.maximum(largest, 1.0), 0, _FINEST))
    return scale


def _largest_position_sums(rows: NDArray[np.float32], bias: NDArray[np.float32]) -> NDArray[np.float64]:
    """The size each unit's sum can really reach, float64 (H,), by spreading 15 checkers over the slots one by one.

    A side's third checker on a slot comes with the first and the second, which `_largest_sums` does not know: in a net
    trained for millions of games its bound is several times as large.
    """
    stacks = np.cumsum(rows[:SEAT_ROW].reshape(2, SLOTS, COUNTS, len(bias)).astype(np.float64), axis=2)
    extremes = []
    for sign in (1.0, -1.0):
        total = np.maximum(sign * rows[SEAT_ROW], 0) + sign * bias
        for side in range(2):
            best = np.full((CHECKERS + 1, len(bias)), -np.inf)  # by checkers placed so far
            best[0] = 0.0
            for slot in range(SLOTS):
                stack = sign * stacks[side, slot]
                best = np.stack([(best[: n + 1] + stack[n::-1]).max(axis=0) for n in range(CHECKERS + 1)])
            total = total + best[CHECKERS]
        extremes.append(total)
    bound: NDArray[np.float64] = np.maximum(np.abs(extremes[0]), np.abs(extremes[1]))
    return bound


def _largest_sums(rows: NDArray[np.float32], bias: NDArray[np.float32]) -> NDArray[np.float64]:
    """A bound on the size of each unit's sum over all positions: a side has 15 active rows, all different."""
    sides = np.ascontiguousarray(rows[:SEAT_ROW].reshape(2, -1, len(bias)).transpose(0, 2, 1))
    sides.partition((CHECKERS, sides.shape[2] - CHECKERS), axis=2)
    most = np.maximum(sides[:, :, -CHECKERS:], 0).sum(axis=(0, 2)) + np.maximum(rows[SEAT_ROW], 0) + bias
    least = np.minimum(sides[:, :, :CHECKERS], 0).sum(axis=(0, 2)) + np.minimum(rows[SEAT_ROW], 0) + bias
    bound: NDArray[np.float64] = np.maximum(np.abs(most), np.abs(least)).astype(np.float64)
    return bound


# --- innermost loops, as LLVM vectors ---------------------------------------------------------------------------------

_machine_code: Any = intrinsic
_I8, _I16, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
_CONTRACT = ("contract",)  # a product and a sum may become one instruction


def _number(value: int) -> Any:
    return ir.Constant(_I64, value)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    """Address of the first element of a contiguous array."""
    return context.make_array(array_type)(context, builder, array).data


def _at(builder: Any, pointer: Any, index: Any, vector: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [index]), vector.as_pointer())


def _load(builder: Any, pointer: Any, index: Any, vector: Any) -> Any:
    """A vector, or one number, from pointer[index] on; arrays are aligned to their elements only."""
    value = builder.load(_at(builder, pointer, index, vector))
    value.align = _element_bytes(vector)
    return value


def _store(builder: Any, value: Any, pointer: Any, index: Any) -> None:
    builder.store(value, _at(builder, pointer, index, value.type)).align = _element_bytes(value.type)


def _element_bytes(vector: Any) -> int:
    element = getattr(vector, "element", vector)
    return 4 if element == _F32 else int(element.width) // 8


def _spread(builder: Any, value: Any, n: int) -> Any:
    """A vector of `n` times `value`."""
    nothing = ir.Constant(ir.VectorType(value.type, n), ir.Undefined)
    single = builder.insert_element(nothing, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(single, nothing, ir.Constant(ir.VectorType(_I32, n), [0] * n))


@contextmanager
def _steps(builder: Any, stop: Any, step: int, start: int = 0) -> Iterator[Any]:
    """A loop over range(start, stop, step)."""
    with cgutils.for_range_slice(builder, _number(start), stop, _number(step), intp=_I64) as (index, _):
        yield index


@_machine_code  # type: ignore[untyped-decorator]
def changed_places(typing_context: Any, before: Any, i: Any, after: Any, k: Any) -> Any:
    """Bit p set: byte p of board before[i] is not that of after[k]; arrays int8 (., 52).

    Two comparisons of 32 bytes: 0..31 and 20..51.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        boards = [_pointer(context, builder, signature.args[n], args[n]) for n in (0, 2)]
        starts = [builder.mul(args[n], _number(BOARD)) for n in (1, 3)]
        mask = _number(0)
        for shift in (0, BOARD - 32):
            old, new = (
                _load(builder, board, builder.add(start, _number(shift)), ir.VectorType(_I8, 32))
                for board, start in zip(boards, starts, strict=True)
            )
            bits = builder.zext(builder.bitcast(builder.icmp_unsigned("!=", old, new), _I32), _I64)
            mask = builder.or_(mask, builder.shl(bits, _number(shift)))
        return mask

    return types.int64(before, types.int64, after, types.int64), codegen


@_machine_code  # type: ignore[untyped-decorator]
def first_layer(typing_context: Any, base: Any, rows: Any, changed: Any, n: Any, top: Any, out: Any, k: Any) -> Any:
    """out[k] = clip(base + rows[changed[0]] - rows[changed[1]] + rows[changed[2]] - .. - rows[changed[2n-1]], 0, top).

    All int16, H a multiple of UNITS. `n` is at least 2: that many pairs are added without asking, as most plays have
    them, and a branch that is always taken costs nothing.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(_I16, UNITS)
        h = builder.extract_value(context.make_array(signature.args[0])(context, builder, args[0]).shape, 0)
        base_, rows_, changed_, _, top_, out_ = (
            None if n == 3 else _pointer(context, builder, signature.args[n], args[n]) for n in range(6)
        )
        end = builder.shl(args[3], _number(1))
        start = builder.mul(args[6], h)
        total = cgutils.alloca_once(builder, vector)
        with _steps(builder, h, UNITS) as unit:

            def pair(j: Any) -> Any:
                come, gone = (
                    _load(builder, rows_, builder.add(builder.mul(row, h), unit), vector)
                    for row in (builder.load(builder.gep(changed_, [builder.add(j, _number(q))])) for q in (0, 1))
                )
                return builder.sub(come, gone)

            two_pairs = builder.add(pair(_number(0)), pair(_number(2)))
            builder.store(builder.add(_load(builder, base_, unit, vector), two_pairs), total)
            with _steps(builder, end, 2, start=4) as j:
                builder.store(builder.add(builder.load(total), pair(j)), total)
            value = builder.load(total)
            zero, one = ir.Constant(vector, [0] * UNITS), _load(builder, top_, unit, vector)
            value = builder.select(builder.icmp_signed(">", value, zero), value, zero)
            value = builder.select(builder.icmp_signed("<", value, one), value, one)
            _store(builder, value, out_, builder.add(start, unit))
        return context.get_dummy_value()

    return types.none(base, rows, changed, types.int64, top, out, types.int64), codegen


@_machine_code  # type: ignore[untyped-decorator]
def layer(typing_context: Any, x: Any, w: Any, factor: Any, bias: Any, lowest: Any, out: Any, first: Any) -> Any:
    """out[first + g] = max((x[first + g] @ w) * factor + bias, lowest) for the GROUP rows from `first` on.

    x (., inputs) and w are float32, w (outputs / LANES, inputs, LANES), or int16, w (outputs / LANES, inputs / 2,
    LANES, 2): then two products are added in int32, which is one machine instruction. The rest is float32.
    """
    narrow = x.dtype == types.int16

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x_, w_, factor_, bias_, _, out_ = (
            None if n == 4 else _pointer(context, builder, signature.args[n], args[n]) for n in range(6)
        )
        inputs, outputs = (
            builder.extract_value(context.make_array(signature.args[n])(context, builder, args[n]).shape, axis)
            for n, axis in ((0, 1), (3, 0))
        )
        floats = ir.VectorType(_F32, LANES)
        sums = ir.VectorType(_I32, LANES) if narrow else floats
        weights = ir.VectorType(_I16, 2 * LANES) if narrow else floats
        products = ir.VectorType(_I32, 2 * LANES)
        indices = ir.VectorType(_I32, LANES)
        even, odd = (ir.Constant(indices, list(range(n, 2 * LANES, 2))) for n in (0, 1))
        rows = [builder.add(args[6], _number(g)) for g in range(GROUP)]
        totals = [cgutils.alloca_once(builder, sums) for _ in range(GROUP)]
        with _steps(builder, outputs, LANES) as output:
            for total in totals:
                builder.store(ir.Constant(sums, None), total)
            with _steps(builder, inputs, 2 if narrow else 1) as i:
                w_at = builder.add(builder.mul(output, inputs), builder.mul(i, _number(LANES)))
                weight = _load(builder, w_, w_at, weights)
                for row, total in zip(rows, totals, strict=True):
                    at = builder.add(builder.mul(row, inputs), i)
                    if narrow:
                        both = builder.load(_at(builder, x_, at, _I32))
                        both.align = 2
                        pairs = builder.bitcast(_spread(builder, both, LANES), weights)
                        product = builder.mul(builder.sext(pairs, products), builder.sext(weight, products))
                        nothing = ir.Constant(products, ir.Undefined)
                        by_pair = (builder.shuffle_vector(product, nothing, which) for which in (even, odd))
                        builder.store(builder.add(builder.load(total), builder.add(*by_pair)), total)
                    else:
                        product = builder.fmul(
                            _spread(builder, _load(builder, x_, at, _F32), LANES), weight, flags=_CONTRACT
                        )
                        builder.store(builder.fadd(builder.load(total), product, flags=_CONTRACT), total)
            for row, total in zip(rows, totals, strict=True):
                value = builder.load(total)
                if narrow:
                    value = builder.sitofp(value, floats)
                value = builder.fmul(value, _load(builder, factor_, output, floats), flags=_CONTRACT)
                value = builder.fadd(value, _load(builder, bias_, output, floats), flags=_CONTRACT)
                least = _spread(builder, args[4], LANES)
                value = builder.select(builder.fcmp_ordered(">", value, least), value, least)
                _store(builder, value, out_, builder.add(builder.mul(row, outputs), output))
        return context.get_dummy_value()

    return types.none(x, w, factor, bias, types.float32, out, types.int64), codegen


@_machine_code  # type: ignore[untyped-decorator]
def _times_power_of_two(typing_context: Any, value: Any, exponent: Any) -> Any:
    """float32 value * 2 ** exponent, by adding to the bits of the exponent."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        shift = builder.shl(builder.fptosi(args[1], _I32), ir.Constant(_I32, 23))
        return builder.bitcast(builder.add(builder.bitcast(args[0], _I32), shift), _F32)

    return types.float32(types.float32, types.float32), codegen


# --- the net ----------------------------------------------------------------------------------------------------------

_jit = numba.njit(cache=True, nogil=True, boundscheck=False, fastmath={"contract", "nsz"})

_ZERO, _HALF, _MINUS_INFINITY = np.float32(0.0), np.float32(0.5), np.float32(-np.inf)
_LOG2_E, _LEAST_EXPONENT = np.float32(np.log2(np.e)), np.float32(-125.0)
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = (
    np.polynomial.Chebyshev.interpolate(np.exp2, 6, domain=[-0.5, 0.5])
    .convert(kind=np.polynomial.Polynomial)
    .coef.astype(np.float32)
)


@_jit
def exp(x: Any) -> Any:
    """Power e ** x for x <= 0, float32, within 3e-7: plain arithmetic, so that a loop over it becomes vectors."""
    t = max(x * _LOG2_E, _LEAST_EXPONENT)
    whole = np.floor(t + _HALF)
    f = t - whole
    power = _C0 + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * (_C5 + f * _C6)))))
    return _times_power_of_two(power, whole)


@_jit
def _row(place: int) -> int:
    """Row before the first checker's of byte `place` of a board (mover, opponent), seen by the opponent."""
    return (place + SLOTS if place < SLOTS else place - SLOTS) * COUNTS


@_jit
def _base(boards: Any, game: int, seat: bool, empty: Any, w: NarrowWeights, active: Any, total: Any, base: Any) -> Any:
    """First layer of the board before the play, seen by the opponent, in steps and before the clip, int16 (H,).

    Returns the points that the opponent and the mover hold, see `patterns.held`.
    """
    n = 0
    mask = changed_places(boards, game, empty, 0)
    mine, theirs = held(mask, 1)
    while mask:
        place = lowest_bit(mask)
        mask &= mask - 1
        active[n] = _row(place) + boards[game, place]
        n += 1
    if seat:
        active[n] = SEAT_ROW
        n += 1
    bias, rows, scale = w.bias, w.totals, w.scale
    if len(w.patterns):
        n = active_patterns(mine, theirs, w.patterns, ROWS, active, n)
    for i in range(len(total)):
        total[i] = bias[i]
    m = 0
    while m + 4 <= n:
        r0, r1, r2, r3 = rows[active[m]], rows[active[m + 1]], rows[active[m + 2]], rows[active[m + 3]]
        for i in range(len(total)):
            total[i] += (r0[i] + r1[i]) + (r2[i] + r3[i])
        m += 4
    while m < n:
        r0 = rows[active[m]]
        for i in range(len(total)):
            total[i] += r0[i]
        m += 1
    for i in range(len(total)):
        base[i] = np.int16(np.rint(total[i] * scale[i]))
    return mine, theirs


@_jit
def _changes(boards: Any, game: int, after: Any, k: int, changed: Any) -> int:
    """Writes pairs (row that comes, row that goes) of afterstate `k`; returns their number, at least 2.

    As many checkers come as go, so the rows pair up; (0, 0) fills up, since a row less itself is nothing.
    """
    come: Any = 0
    gone: Any = 0
    mask = changed_places(boards, game, after, k)
    while mask:
        place = lowest_bit(mask)
        mask &= mask - 1
        row, old, new = _row(place), np.int64(boards[game, place]), np.int64(after[k, place])
        # always written, counted only where it holds: no branch to guess wrong
        changed[2 * come] = row + new
        come += new > old
        changed[2 * gone + 1] = row + old
        gone += old > new
        for count in range(old + 1, new):
            changed[2 * come] = row + count
            come += 1
        for count in range(new + 1, old):
            changed[2 * gone + 1] = row + count
            gone += 1
    for n in range(come, 2):
        changed[2 * n] = changed[2 * n + 1] = 0
    return come if come > 2 else 2


@_jit
def _equities(outputs: Any, scale: Any, points: Any, columns: Any, result: Any) -> None:
    """Equity of each row of outputs (BLOCK, LANES); loops run over afterstates, side by side in vectors."""
    if scale > _ZERO:
        for a in range(BLOCK):
            result[a] = outputs[a, 0] * scale
        return
    width = len(points)
    top, norm, total = columns[width], columns[width + 1], columns[width + 2]
    for a in range(BLOCK):
        for k in range(width):
            columns[k, a] = outputs[a, k]
    for a in range(BLOCK):
        top[a], norm[a], total[a] = columns[0, a], _ZERO, _ZERO
    for k in range(1, width):
        column = columns[k]
        for a in range(BLOCK):
            top[a] = max(top[a], column[a])
    for k in range(width):
        column, value = columns[k], points[k]
        for a in range(BLOCK):
            odds = exp(column[a] - top[a])
            norm[a] += odds
            total[a] += odds * value
    for a in range(BLOCK):
        result[a] = total[a] / norm[a]


@_jit
def after_play(boards: Any, moved_first: Any, after: Any, offsets: Any, w: NarrowWeights) -> Any:
    """Equity of the opponent, who is on roll, in every afterstate, float64 (K,); boards int8 (., 52)."""
    h, (stages, h2), width = len(w.bias), w.second_bias.shape, len(w.points)
    empty = np.zeros((1, BOARD), np.int8)
    active = np.empty(2 * CHECKERS + 1 + MOST_ACTIVE, np.int64)
    changed = np.empty(4 * CHECKERS + 4 + 2 * MOST_ACTIVE, np.int64)
    come, gone = changed[::2], changed[1::2]
    total = np.empty(h, np.float32)
    base = np.empty(h, np.int16)
    first = np.zeros((stages, BLOCK, h), np.int16)
    place = np.empty((stages, BLOCK), np.int64)
    filled = np.zeros(stages, np.int64)
    second = np.empty((BLOCK, h2), np.float32)
    outputs = np.empty((BLOCK, LANES), np.float32)
    columns = np.empty((width + 3, BLOCK), np.float32)
    block = np.empty(BLOCK, np.float32)
    equity = np.empty(len(after), np.float64)
    for game in range(len(boards)):
        # the opponent is on roll in an afterstate, so the two rows change places, and the seat with them
        mine, theirs = _base(boards, game, not moved_first[game], empty, w, active, total, base)
        for k in range(offsets[game], offsets[game + 1]):
            s = stage(after, k, 1, w.scheme)
            n = _changes(boards, game, after, k, changed)
            if len(w.patterns):
                mine_after, theirs_after = held(changed_places(after, k, empty, 0), 1)
                n = changed_patterns(mine, theirs, mine_after, theirs_after, w.patterns, ROWS, come, gone, n)
            first_layer(base, w.rows, changed, n, w.top, first[s], filled[s])
            place[s, filled[s]] = k
            filled[s] += 1
            if filled[s] == BLOCK:
                _upper_layers(first[s], s, w, second, outputs, columns, block)
                for a in range(BLOCK):
                    equity[place[s, a]] = block[a]
                filled[s] = 0
    for s in range(stages):
        if filled[s]:
            _upper_layers(first[s], s, w, second, outputs, columns, block)
            for a in range(filled[s]):
                equity[place[s, a]] = block[a]
    return equity


@_jit
def _upper_layers(first: Any, s: int, w: NarrowWeights, second: Any, outputs: Any, columns: Any, block: Any) -> None:
    """From a block of first layers of stage `s`, int16 (BLOCK, H), to equities, float32 (BLOCK,)."""
    for group in range(0, BLOCK, GROUP):
        layer(first, w.second[s], w.second_factor[s], w.second_bias[s], _ZERO, second, group)
        layer(second, w.last[s], w.last_factor, w.last_bias[s], _MINUS_INFINITY, outputs, group)
    _equities(outputs, w.output_scale, w.points, columns, block)
