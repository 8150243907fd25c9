"""The compiled move generator: arrays in, arrays out. `plays.py` is its public face, `reference.py` its slow twin.

How a turn is held while it is being generated:

* The mover's row is packed into two int64: four bits a slot, slots 0..12 in `lo`, 13..25 in `hi` (15 checkers fit in
  four bits, 13 slots in 52). Moving a checker is one subtraction and one addition.
* `mask` has bit p set where the mover holds slot p; `closed` and `blots` are the points, in the mover's numbering, that
  opposing checkers close or leave hittable. The points a die can be played from are then one shift and two ands.
* `hits` collects the points hit in this turn (short nardy).

Three ways to enumerate, each a superset of the next in what it can handle:

* `_all_orders`: level by level, every order of the dice, equal boards merged by a hash set. Handles everything.
* `_double_rear_first`: a double while no forbidden block arises. Sources never increase, so each set of steps comes
  once; it is always playable in that order, since arrivals from behind come first, and so does what must enter, be
  home, or be out of the way, before a lower checker may be moved or borne off.
* `_two_dice`, `_entering`, `_two_dice_bearing`: two different dice under the same conditions. While nobody can bear
  off, two plays of (p by a, q by b) give the same board only if both are one checker's p -> p-a-b with the same hits,
  so those are generated once and nothing needs comparing. When bearing off there are few plays, and equal ones are
  found by comparing.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from nardy_rl.rules.spec import BAR, CHECKERS, CHOICES, HEAD, HOME, SLOTS, RuleCodes

_jit = numba.njit(cache=True, nogil=True, boundscheck=False)
_inline = numba.njit(cache=True, nogil=True, boundscheck=False, inline="always")

_machine_instruction: Any = intrinsic

MAX_STATES = 4096
"""Room for every position of one turn. Fifteen checkers share at most four steps, so level k of a double has at most
C(14 + k, k) boards: 1 + 15 + 120 + 680 + 3060 = 3876 in all. Two dice: at most 1 + 2 * 15 + 2 * 15 * 15."""

MAX_EDGES = MAX_STATES * CHECKERS
MAX_AFTERSTATES = 3060
"""C(18, 4): the most afterstates one roll can have under `must_play` max, where all have the same number of steps but
for finished games. Under `greedy` only MAX_STATES is proved."""

_TABLE = 4 * MAX_STATES
_POINTS = ((1 << 24) - 1) << 1
_OUTSIDE = _POINTS & ~((1 << (HOME + 1)) - 1) | 1 << BAR
_ALL_WINDOWS = (1 << 24) - 1

_ANY_BLOCK = CHOICES["head_condition"].index("any_block")
_ALWAYS = CHOICES["head_condition"].index("always")
_AHEAD = CHOICES["block_rule"].index("ahead")
_IN_HOME = CHOICES["block_rule"].index("home")
_NO_BLOCK_RULE = CHOICES["block_rule"].index("none")


@_machine_instruction  # type: ignore[untyped-decorator]
def _ctlz(typing_context: Any, value: Any) -> Any:
    """Leading zero bits of an int64 > 0 (one machine instruction)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@_machine_instruction  # type: ignore[untyped-decorator]
def _popcount(typing_context: Any, value: Any) -> Any:
    """Bits set in an int64 (one machine instruction)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@_machine_instruction  # type: ignore[untyped-decorator]
def _cttz(typing_context: Any, value: Any) -> Any:
    """Trailing zero bits of an int64, 64 for 0 (one machine instruction)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@_inline
def _highest(mask: int) -> int:
    return int(63 - _ctlz(mask))


@_inline
def lowest_bit(mask: int) -> int:
    """Number of the lowest bit set, 64 if there is none."""
    return int(_cttz(mask))


class Turn(NamedTuple):
    """What stays the same during a turn."""

    closed: int
    blots: int
    forbidden: int
    """Bit i set: the mover may not hold all of the opponent's points i+1..i+6 (R3)."""
    head_limit: int
    head_start: int


# --- one step -------------------------------------------------------------------------------------------------------


@_inline
def _count(lo: int, hi: int, slot: int) -> int:
    return (lo >> (4 * slot)) & 15 if slot < 13 else (hi >> (4 * (slot - 13))) & 15


@_inline
def _one(slot: int) -> tuple[int, int]:
    """One checker on `slot`, packed."""
    return (1 << (4 * slot), 0) if slot < 13 else (0, 1 << (4 * (slot - 13)))


@_inline
def _mask_after(lo: int, hi: int, mask: int, source: int, target: int) -> int:
    """Occupied slots after one checker went source -> target; (lo, hi) is the position before."""
    if _count(lo, hi, source) == 1:
        mask ^= 1 << source
    return mask | 1 << target


@_inline
def _movable(mask: int, closed: int, die: int) -> int:
    """Points from which `die` moves a checker on the board, neither bearing off nor entering (R1.1)."""
    return mask & ~(closed << die) & _POINTS & -(1 << (die + 1))


@_inline
def _runs_of_six(mask: int) -> int:
    """Bit i set: the mover holds the opponent's points i+1..i+6 (R3.1, R3.2: long geometry, no wrap)."""
    held = ((mask >> 1) & 0xFFF) << 12 | (mask >> 13) & 0xFFF
    pairs = held & (held >> 1)
    fours = pairs & (pairs >> 2)
    return fours & (pairs >> 4)


@_inline
def _seen_by_mover(slots: int, short: int) -> int:
    """The opponent's points as a mask in the mover's numbering (R0.3); off and bar are dropped."""
    if short:
        seen = 0
        left = slots & _POINTS
        while left:
            point = _highest(left)
            left ^= 1 << point
            seen |= 1 << (BAR - point)
        return seen
    return ((slots >> 1) & 0xFFF) << 13 | ((slots >> 13) & 0xFFF) << 1


@_inline
def _block_in_reach(mask: int, forbidden: int, steps: int) -> bool:
    """Could `steps` steps (at most four) fill a window of six that R3 forbids? Errs towards yes."""
    held = ((mask >> 1) & 0xFFF) << 12 | (mask >> 13) & 0xFFF
    windows = forbidden & 0x7FFFF
    while windows:
        start = _highest(windows)
        windows ^= 1 << start
        if _popcount((held >> start) & 63) + steps >= 6:
            return True
    return False


@_jit
def _forbidden_windows(opp_off: int, opp_lowest: int, codes: RuleCodes) -> int:
    """Bit i set: holding the opponent's points i+1..i+6 is forbidden (R3.1, R3.4).

    `opp_lowest` is his lowest occupied slot, 0 if he has borne off a checker: the one farthest ahead.
    """
    if codes.block_rule == _NO_BLOCK_RULE or opp_off == CHECKERS:
        return 0
    if codes.block_rule == _AHEAD:
        return (1 << opp_lowest) - 1
    if codes.block_rule == _IN_HOME:
        return 0 if opp_lowest <= HOME else _ALL_WINDOWS
    return _ALL_WINDOWS


@_jit
def _head_limit(head: int, closed: int, opp_on_head: bool, high: int, low: int, codes: RuleCodes) -> int:
    """Checkers that may leave the head this turn (R2.1, R2.2); `head` of them stand on it."""
    limit = codes.head_limit
    if limit >= CHECKERS or head != CHECKERS:
        return limit
    double = high == low
    if not (codes.head_rolls & 1 or (double and codes.head_rolls >> high & 1)):
        return limit
    second = max(limit, 2)
    if codes.head_condition == _ALWAYS:
        return second
    if double:
        for step in range(1, 5):
            point = HEAD - step * high
            if point < 1:
                return limit
            if closed >> point & 1:
                stopped = codes.head_condition == _ANY_BLOCK or (point == 12 and opp_on_head)
                return second if stopped else limit
        return limit
    if codes.head_condition != _ANY_BLOCK:
        return limit  # two different dice fall short of the opponent's head, 12 pips on
    if closed >> (HEAD - high - low) & 1 or (closed >> (HEAD - high) & 1 and closed >> (HEAD - low) & 1):
        return second
    return limit


# --- every order of the dice ------------------------------------------------------------------------------------------


@_jit
def new_workspace() -> Any:
    """Scratch arrays for one thread; nothing is allocated per turn.

    Returns:
        states: int64 (5, MAX_STATES), rows lo, hi, mask, hits, rank (see `_all_orders`).
        results: int64 (3, MAX_STATES), rows lo, hi, hits.
        table: int64, a hash set of state numbers; an entry is valid while its high bits hold the current stamp.
        edges: int32 (2, MAX_EDGES), (parent, child) of every step.
        flags: int8, per state: bit 0 = may end the turn, bit 1 = some end lies further on.
        stamp: int64 (1,).
    """
    states = np.zeros((5, MAX_STATES), np.int64)
    results = np.zeros((3, MAX_STATES), np.int64)
    table = np.zeros(_TABLE, np.int64)
    edges = np.zeros((2, MAX_EDGES), np.int32)
    flags = np.zeros(MAX_STATES, np.int8)
    stamp = np.zeros(1, np.int64)
    return states, results, table, edges, flags, stamp


@_inline
def _slot_of(lo: int, hi: int, hits: int) -> int:
    mixed = lo * 0x1F85EBCA6B2AE35 ^ hi * 0x27D4EB2F165667C5 ^ hits * 0x165667B19E3779F9
    return (mixed ^ mixed >> 29 ^ mixed >> 47) & (_TABLE - 1)


@_jit
def _find(ws: Any, lo: int, hi: int, hits: int) -> tuple[int, int]:
    """Looks a board up in the current set: (its state number or -1, the place in the table where it is or belongs)."""
    states, _, table, _, _, stamp = ws
    slot = _slot_of(lo, hi, hits)
    while table[slot] >> 13 == stamp[0]:
        seen = table[slot] & 8191
        if states[0, seen] == lo and states[1, seen] == hi and states[3, seen] == hits:
            return seen, slot
        slot = (slot + 1) & (_TABLE - 1)
    return -1, slot


@_jit
def _add_step(ws: Any, parent: int, n: int, n_edges: int, source: int, target: int, turn: Any, rank: int) -> int:
    """Plays one step from state `parent`; returns the new number of states. R3.3 is the caller's to check."""
    states, _, table, edges, _, stamp = ws
    out, into = _one(source), _one(target)
    lo = states[0, parent] - out[0] + into[0]
    hi = states[1, parent] - out[1] + into[1]
    hits = states[3, parent] | (turn.blots & 1 << target)
    child, slot = _find(ws, lo, hi, hits)
    if child < 0:
        child = n
        n += 1
        table[slot] = stamp[0] << 13 | child
        states[0, child] = lo
        states[1, child] = hi
        states[2, child] = _mask_after(states[0, parent], states[1, parent], states[2, parent], source, target)
        states[3, child] = hits
        states[4, child] = rank
    edges[0, n_edges] = parent
    edges[1, n_edges] = child
    return n


@_jit
def _expand(
    ws: Any, parent: int, n: int, n_edges: int, die: int, rank: int, turn: Turn, codes: RuleCodes
) -> tuple[int, int]:
    """Adds every position one step with `die` leads to from state `parent`; returns (states, edges) in use."""
    states = ws[0]
    lo, hi, mask = states[0, parent], states[1, parent], states[2, parent]
    if lo & 15 == CHECKERS:
        return n, n_edges  # R1.4: the game is over, left-over dice are void
    bearing_off = mask & _OUTSIDE == 0  # R4.1
    if mask >> BAR & 1:  # R8.3
        sources = 0 if turn.closed >> (BAR - die) & 1 else 1 << BAR
    else:
        sources = _movable(mask, turn.closed, die)
        if sources >> HEAD & 1 and not _head_may_leave(lo, hi, mask, die, turn, codes):
            sources ^= 1 << HEAD
        if bearing_off and mask >> die & 1:
            sources = 1 << die if codes.bear_off_choice == 1 else sources | 1 << die  # R4.2
        elif bearing_off and mask >> die == 0:
            sources = 1 << _highest(mask & _POINTS)  # R4.2: every checker is nearer than the die
    before = n_edges
    while sources:
        source = _highest(sources)
        sources ^= 1 << source
        target = max(source - die, 0)
        if codes.block_transit == 0 and turn.forbidden:  # R3.3
            if _runs_of_six(_mask_after(lo, hi, mask, source, target)) & turn.forbidden:
                continue
        n = _add_step(ws, parent, n, n_edges, source, target, turn, rank)
        n_edges += 1
    if n_edges == before and bearing_off and codes.bear_off_blocked == 1:
        # R4.3 leftmost: the die has no step at all, so the highest checker goes off, wherever it stands. That makes no
        # block, but a forbidden one may be there already and stay (R3.3)
        source = _highest(mask & _POINTS)
        if codes.block_transit == 1 or _runs_of_six(_mask_after(lo, hi, mask, source, 0)) & turn.forbidden == 0:
            n = _add_step(ws, parent, n, n_edges, source, 0, turn, rank)
            n_edges += 1
    return n, n_edges


@_jit
def _head_may_leave(lo: int, hi: int, mask: int, die: int, turn: Turn, codes: RuleCodes) -> bool:
    """R2: may one more checker leave the head, with this die?"""
    departed = turn.head_start - _count(lo, hi, HEAD)
    if departed >= turn.head_limit:
        return False
    if codes.head_second == 0 or departed < codes.head_limit:
        return True
    # R2.3 stuck_first: on the first turn the departed checker is the only one off the head
    first = _highest(mask ^ 1 << HEAD)
    return first > die and turn.closed >> (first - die) & 1 == 1


@_jit
def _all_orders(ws: Any, high: int, low: int, turn: Turn, codes: RuleCodes) -> int:
    """Every legal play of the position in state 0, all orders of the dice; returns the number of results.

    A state's rank says how its steps compare under R1.3: the number of steps of a double; of two different dice, 1 for
    the lower alone, 2 for the higher alone, 3 for both.
    """
    stamp = ws[5]
    n, n_edges = 1, 0
    if high == low:
        first = 0
        for rank in range(1, 5):
            last = n
            stamp[0] += 1
            for parent in range(first, last):
                n, n_edges = _expand(ws, parent, n, n_edges, high, rank, turn, codes)
            first = last
    else:
        stamp[0] += 1
        n, n_edges = _expand(ws, 0, n, n_edges, high, 2, turn, codes)
        after_high = n
        stamp[0] += 1
        n, n_edges = _expand(ws, 0, n, n_edges, low, 1, turn, codes)
        after_low = n
        stamp[0] += 1
        for parent in range(1, after_low):
            n, n_edges = _expand(ws, parent, n, n_edges, low if parent < after_high else high, 3, turn, codes)
    return _select(ws, n, n_edges, turn, codes)


@_jit
def _select(ws: Any, n: int, n_edges: int, turn: Turn, codes: RuleCodes) -> int:
    """Copies the states in which the turn may end to the results (R1.3, R1.4, R3.5, R4.4); returns how many."""
    states, results, table, edges, flags, stamp = ws
    best = 0
    flags[0] = 0
    for state in range(1, n):
        # under `forbid` every state has passed R3 when it was added
        legal = codes.block_transit == 0 or _runs_of_six(states[2, state]) & turn.forbidden == 0
        flags[state] = legal
        if legal and states[4, state] > best:
            best = states[4, state]
    if codes.must_play == 1:
        # edges run from earlier to later steps: walked backwards, the child is known before the parent
        for edge in range(n_edges - 1, -1, -1):
            if flags[edges[1, edge]]:
                flags[edges[0, edge]] |= 2
    stamp[0] += 1
    count = 0
    for state in range(1, n):
        lo, hi, hits = states[0, state], states[1, state], states[3, state]
        if codes.must_play == 1:
            chosen = flags[state] == 1
        else:
            chosen = flags[state] == 1 and (states[4, state] == best or lo & 15 == CHECKERS)
        if not chosen:
            continue
        seen, slot = _find(ws, lo, hi, hits)
        if seen >= 0:
            continue  # the same board by another number of steps, as when one die or the other ends the game
        table[slot] = stamp[0] << 13 | state
        results[0, count] = lo
        results[1, count] = hi
        results[2, count] = hits
        count += 1
    return count


# --- the common case: no forbidden block arises, most steps count -----------------------------------------------------
#
# Each result comes by one order of its steps. Where a forbidden block is in reach (`watch`), each position on the way
# is tested; if one breaks R3, another order may still do, so the enumeration gives up and returns `_RETRY`.

_RETRY = -1


@_inline
def _breaks(lo: int, hi: int, mask: int, source: int, target: int, forbidden: int) -> bool:
    """Does the step source -> target from the position (lo, hi, mask) complete a forbidden block (R3)?"""
    return _runs_of_six(_mask_after(lo, hi, mask, source, target)) & forbidden != 0


@_inline
def _sources(mask: int, closed: int, die: int) -> int:
    """Slots that `die` can be played from, bar and bearing off included (R1.1, R4.1, R4.2 free, R4.3 lost, R8.3)."""
    if mask >> BAR & 1:
        return (~closed >> (BAR - die) & 1) << BAR
    sources = _movable(mask, closed, die)
    if mask & _OUTSIDE == 0:
        if mask >> die & 1:
            sources |= 1 << die
        elif mask >> die == 0 and mask & _POINTS:
            sources = 1 << _highest(mask & _POINTS)
    return sources


@_jit
def _double_rear_first(ws: Any, die: int, steps: int, turn: Turn, watch: bool) -> tuple[int, int]:
    """Plays `steps` steps of `die`, sources never increasing; returns (results or _RETRY, most steps possible)."""
    states, results, _, _, _, _ = ws
    # rows of `states` serve as a stack: position, mask, in row 3 the sources still to be tried at that depth, hits
    states[3, 0] = _sources(states[2, 0], turn.closed, die)
    depth = 0
    deepest = 0
    count = 0
    while depth >= 0:
        left = states[3, depth]
        if left == 0:
            depth -= 1
            continue
        source = _highest(left)
        states[3, depth] = left ^ 1 << source
        target = max(source - die, 0)
        out, into = _one(source), _one(target)
        lo = states[0, depth] - out[0] + into[0]
        hi = states[1, depth] - out[1] + into[1]
        if watch and _breaks(states[0, depth], states[1, depth], states[2, depth], source, target, turn.forbidden):
            return _RETRY, 0
        hits = states[4, depth] | turn.blots & 1 << target
        deepest = max(deepest, depth + 1)
        if depth + 1 == steps:
            results[0, count] = lo
            results[1, count] = hi
            results[2, count] = hits
            count += 1
            continue
        mask = _mask_after(states[0, depth], states[1, depth], states[2, depth], source, target)
        depth += 1
        states[0, depth] = lo
        states[1, depth] = hi
        states[2, depth] = mask
        states[4, depth] = hits
        below = (1 << source) - 1 if source == HEAD and turn.head_limit == 1 else (2 << source) - 1
        states[3, depth] = _sources(mask, turn.closed, die) & below
    return count, deepest


@_jit
def _two_dice(ws: Any, high: int, low: int, turn: Turn, watch: bool) -> int:
    """Both dice by every pair of sources while nobody can bear off; returns the number of results, or _RETRY."""
    states, results, _, _, _, _ = ws
    lo, hi, mask = states[0, 0], states[1, 0], states[2, 0]
    by_high = _movable(mask, turn.closed, high)
    by_low = _movable(mask, turn.closed, low)
    count = 0
    left = by_high
    while left:
        p = _highest(left)
        left ^= 1 << p
        out, into = _one(p), _one(p - high)
        lo1 = lo - out[0] + into[0]
        hi1 = hi - out[1] + into[1]
        mask1 = _mask_after(lo, hi, mask, p, p - high)
        if watch and _runs_of_six(mask1) & turn.forbidden:
            return _RETRY
        # q = p - high and q = p + low are one checker's p -> q -> ... and come below; so does q = p if p is single
        partners = by_low & ~(1 << (p - high)) & ~(1 << (p + low))
        if _count(lo, hi, p) == 1 or (p == HEAD and turn.head_limit == 1):
            partners &= ~(1 << p)
        while partners:
            q = _highest(partners)
            partners ^= 1 << q
            if watch and _breaks(lo1, hi1, mask1, q, q - low, turn.forbidden):
                return _RETRY
            out, into = _one(q), _one(q - low)
            results[0, count] = lo1 - out[0] + into[0]
            results[1, count] = hi1 - out[1] + into[1]
            results[2, count] = turn.blots & (1 << (p - high) | 1 << (q - low))
            count += 1
    # one checker plays both: its last point must be open, and one of the two points between
    left = (by_high | by_low) & _movable(mask, turn.closed, high + low)
    while left:
        p = _highest(left)
        left ^= 1 << p
        if watch:
            between = p - high if by_high >> p & 1 else p - low
            if _breaks(lo, hi, mask, p, between, turn.forbidden) or _breaks(
                lo, hi, mask, p, p - high - low, turn.forbidden
            ):
                return _RETRY
        out, into = _one(p), _one(p - high - low)
        between_high, between_low = turn.blots & 1 << (p - high), turn.blots & 1 << (p - low)
        hits = turn.blots & 1 << (p - high - low)
        for way in range(2):
            if (by_low if way else by_high) >> p & 1 == 0:
                continue
            if way == 1 and by_high >> p & 1 and between_high | between_low == 0:
                continue  # the same board either way
            results[0, count] = lo - out[0] + into[0]
            results[1, count] = hi - out[1] + into[1]
            results[2, count] = hits | (between_low if way else between_high)
            count += 1
    return count


@_jit
def _entering(ws: Any, high: int, low: int, turn: Turn) -> int:
    """Both dice of short nardy with checkers on the bar (R8.3), while nobody can bear off; returns how many results."""
    states, results, _, _, _, _ = ws
    lo, hi, mask = states[0, 0], states[1, 0], states[2, 0]
    out = _one(BAR)
    enter = _sources(mask, turn.closed, high), _sources(mask, turn.closed, low)
    count = 0
    if _count(lo, hi, BAR) > 1:  # both dice have to enter
        if enter[0] and enter[1]:
            first, second = _one(BAR - high), _one(BAR - low)
            results[0, 0] = lo - 2 * out[0] + first[0] + second[0]
            results[1, 0] = hi - 2 * out[1] + first[1] + second[1]
            results[2, 0] = turn.blots & (1 << (BAR - high) | 1 << (BAR - low))
            count = 1
        return count
    hit_between = turn.blots & (1 << (BAR - high) | 1 << (BAR - low)) != 0
    for order in range(2):
        if enter[order] == 0:
            continue
        die, other = (high, low) if order == 0 else (low, high)
        point = BAR - die
        into = _one(point)
        lo1 = lo - out[0] + into[0]
        hi1 = hi - out[1] + into[1]
        left = _movable(_mask_after(lo, hi, mask, BAR, point), turn.closed, other)
        if order == 1 and enter[0] and not hit_between:
            left &= ~(1 << point)  # the entered checker going on: the same board as with the higher die first
        while left:
            q = _highest(left)
            left ^= 1 << q
            off, onto = _one(q), _one(q - other)
            results[0, count] = lo1 - off[0] + onto[0]
            results[1, count] = hi1 - off[1] + onto[1]
            results[2, count] = turn.blots & (1 << point | 1 << (q - other))
            count += 1
    return count


@_jit
def _two_dice_bearing(ws: Any, high: int, low: int, turn: Turn, watch: bool) -> int:
    """Both dice in either order, with at most one checker outside; returns the number of results, or _RETRY.

    A checker that ends the game with one die is a result too (R1.4).
    """
    states, results, _, _, _, _ = ws
    count = 0
    for first, second in ((high, low), (low, high)):
        left = _sources(states[2, 0], turn.closed, first)
        while left:
            p = _highest(left)
            left ^= 1 << p
            target = max(p - first, 0)
            out, into = _one(p), _one(target)
            lo = states[0, 0] - out[0] + into[0]
            hi = states[1, 0] - out[1] + into[1]
            mask = _mask_after(states[0, 0], states[1, 0], states[2, 0], p, target)
            if watch and _runs_of_six(mask) & turn.forbidden:
                return _RETRY
            hits = turn.blots & 1 << target
            if mask & (_OUTSIDE | _POINTS) == 0:
                count = _add_new(results, count, lo, hi, hits)
            then = _sources(mask, turn.closed, second)
            while then:
                q = _highest(then)
                then ^= 1 << q
                if watch and _breaks(lo, hi, mask, q, max(q - second, 0), turn.forbidden):
                    return _RETRY
                target = max(q - second, 0)
                out, into = _one(q), _one(target)
                both = hits | turn.blots & 1 << target
                count = _add_new(results, count, lo - out[0] + into[0], hi - out[1] + into[1], both)
    return count


@_jit
def _add_new(results: Any, count: int, lo: int, hi: int, hits: int) -> int:
    """Appends a result unless it is there; returns the number of results."""
    for seen in range(count):
        if results[0, seen] == lo and results[1, seen] == hi and results[2, seen] == hits:
            return count
    results[0, count] = lo
    results[1, count] = hi
    results[2, count] = hits
    return count + 1


@_jit
def _one_die(ws: Any, die: int, turn: Turn, watch: bool) -> int:
    """One step with `die`; returns the number of results, or _RETRY."""
    states, results, _, _, _, _ = ws
    left = _sources(states[2, 0], turn.closed, die)
    count = 0
    while left:
        p = _highest(left)
        left ^= 1 << p
        target = max(p - die, 0)
        if watch and _breaks(states[0, 0], states[1, 0], states[2, 0], p, target, turn.forbidden):
            return _RETRY
        out, into = _one(p), _one(target)
        results[0, count] = states[0, 0] - out[0] + into[0]
        results[1, count] = states[1, 0] - out[1] + into[1]
        results[2, count] = turn.blots & 1 << target
        count += 1
    return count


@_jit
def _common(ws: Any, high: int, low: int, outside: int, turn: Turn, watch: bool) -> int:
    """R1.3 over the enumerations above; returns the number of results, or _RETRY."""
    if high == low:
        count, deepest = _double_rear_first(ws, high, 4, turn, watch)
        if count == 0 and deepest > 0:
            count, _ = _double_rear_first(ws, high, deepest, turn, watch)
        return count
    if outside >= 2:  # then the second step still finds a checker outside, so nobody can bear off
        on_bar = ws[0][2, 0] >> BAR & 1
        count = _entering(ws, high, low, turn) if on_bar else _two_dice(ws, high, low, turn, watch)
    else:
        count = _two_dice_bearing(ws, high, low, turn, watch)
    if count == 0:
        count = _one_die(ws, high, turn, watch)
    if count == 0:
        count = _one_die(ws, low, turn, watch)
    return count


# --- a turn, a batch --------------------------------------------------------------------------------------------------


@_jit
def generate_turn(ws: Any, own: Any, opponent: Any, die_1: int, die_2: int, codes: RuleCodes) -> int:
    """Fills the workspace's results with the afterstates of one roll; returns how many (at least 1: the pass)."""
    states, results, _, _, _, _ = ws
    # no branches in these loops, so that they become vector instructions
    lo, hi, mask, outside = 0, 0, 0, 0
    for slot in range(13):
        low_count, high_count = int(own[slot]), int(own[slot + 13])
        lo |= low_count << (4 * slot)
        hi |= high_count << (4 * slot)
        mask |= int(low_count > 0) << slot | int(high_count > 0) << (slot + 13)
    for slot in range(HOME + 1, SLOTS):
        outside += int(own[slot])
    held, single = 0, 0
    for slot in range(BAR):
        count = int(opponent[slot])
        held |= int(count > 0) << slot
        single |= int(count > 0 and count <= codes.blot_limit) << slot
    lowest = lowest_bit(held)
    closed, blots = _seen_by_mover(held & ~single, codes.short), _seen_by_mover(single, codes.short)
    states[0, 0], states[1, 0], states[2, 0], states[3, 0], states[4, 0] = lo, hi, mask, 0, 0

    high, low = max(die_1, die_2), min(die_1, die_2)
    steps = 4 if high == low else 2
    head = _count(lo, hi, HEAD)
    limit = _head_limit(head, closed, held >> HEAD & 1 == 1, high, low, codes)
    forbidden = _forbidden_windows(int(opponent[0]), lowest, codes)
    turn = Turn(closed, blots, forbidden, limit, head)
    count = _RETRY
    usual_bear_off = codes.bear_off_choice == 0 and codes.bear_off_blocked == 0
    if (codes.short == 1 or limit == 1) and codes.must_play == 0 and (usual_bear_off or outside >= steps):
        watch = forbidden != 0 and _block_in_reach(mask, forbidden, steps)
        count = _common(ws, high, low, outside, turn, watch)
        states[3, 0] = 0  # served as a stack
    if count == _RETRY:
        count = _all_orders(ws, high, low, turn, codes)
    if count == 0:
        results[0, 0], results[1, 0], results[2, 0] = lo, hi, 0
        return 1
    return count


@_jit
def _write_rows(ws: Any, count: int, opponent: Any, out: Any, first: int) -> None:
    """Unpacks `count` results to out[first:], int8 (K, 2, 26), rows (mover, opponent)."""
    results = ws[1]
    for i in range(count):
        write_row(results[0, i], results[1, i], results[2, i], opponent, out[first + i])


@_jit
def write_row(lo: int, hi: int, hits: int, opponent: Any, row: Any) -> None:
    """Unpacks one result to int8 (2, 26), rows (mover, opponent); `opponent` is his row before the play."""
    own, theirs = row[0], row[1]
    for slot in range(13):
        own[slot] = lo >> (4 * slot) & 15
        own[slot + 13] = hi >> (4 * slot) & 15
    for slot in range(SLOTS):
        theirs[slot] = opponent[slot]
    while hits:
        point = _highest(hits)
        hits ^= 1 << point
        theirs[BAR - point] -= 1
        theirs[BAR] += 1


@_jit
def generate(boards: Any, dice: Any, codes: RuleCodes) -> tuple[Any, Any]:
    """The afterstates of every game: boards int8 (K, 2, 26) and offsets int64 (N + 1,). Inputs are trusted.

    Args:
        boards: int8 (N, 2, 26), C-contiguous.
        dice: int8 (N, 2).
        codes: `Rules.codes`.
    """
    n = boards.shape[0]
    ws = new_workspace()
    offsets = np.zeros(n + 1, np.int64)
    out = np.empty((32 * n + MAX_AFTERSTATES, 2, SLOTS), np.int8)
    filled = 0
    for game in range(n):
        count = generate_turn(ws, boards[game, 0], boards[game, 1], int(dice[game, 0]), int(dice[game, 1]), codes)
        if filled + count > out.shape[0]:
            larger = np.empty((2 * out.shape[0] + count, 2, SLOTS), np.int8)
            larger[:filled] = out[:filled]
            out = larger
        _write_rows(ws, count, boards[game, 1], out, filled)
        filled += count
        offsets[game + 1] = filled
    return out[:filled], offsets


@_jit
def draw(boards: Any, dice: Any, numbers: Any, codes: RuleCodes) -> Any:
    """One afterstate of every game, number `numbers[game]` modulo their count in the order of `generate`.

    Args:
        boards: int8 (N, 2, 26), C-contiguous.
        dice: int8 (N, 2).
        numbers: uint64 (N,).
        codes: `Rules.codes`.

    Returns:
        int8 (N, 2, 26), still seen by the mover.
    """
    ws = new_workspace()
    results = ws[1]
    out = np.empty(boards.shape, np.int8)
    for game in range(boards.shape[0]):
        own, opponent = boards[game, 0], boards[game, 1]
        count = generate_turn(ws, own, opponent, int(dice[game, 0]), int(dice[game, 1]), codes)
        k = int(numbers[game] % np.uint64(count))
        write_row(results[0, k], results[1, k], results[2, k], opponent, out[game])
    return out


@_jit
def first_invalid(boards: Any, dice: Any, short: int) -> int:
    """The first game that `board.check_boards` or `board.check_dice` would refuse, or -1."""
    for game in range(boards.shape[0]):
        for die in range(2):
            if not 1 <= dice[game, die] <= 6:
                return game
        for side in range(2):
            total = 0
            for slot in range(SLOTS):
                count = int(boards[game, side, slot])
                if count < 0:
                    return game
                total += count
            if total != CHECKERS or (short == 0 and boards[game, side, BAR] > 0):
                return game
        if boards[game, 0, 0] == CHECKERS and boards[game, 1, 0] == CHECKERS:
            return game
        for point in range(1, BAR):
            theirs = BAR - point if short else (point + 12 if point <= 12 else point - 12)
            if boards[game, 0, point] > 0 and boards[game, 1, theirs] > 0:
                return game
    return -1
