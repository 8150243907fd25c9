"""Positions and rules for the tests, made to be difficult.

Random games visit the corners of the rules too rarely: a first turn with the points in front of the head closed, a
block of six that one step completes and the next opens, a bear-off with an opponent standing in the home. The kinds of
positions here are built around those corners. Every kind is a function of a `random.Random`, so that a seed (or
Hypothesis, through `st.randoms()`) fixes what comes out.

All boards are rows (mover, opponent) in own numbering and pass `check_boards`.
"""

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from nardy_rl.rules.board import flip, new_boards
from nardy_rl.rules.dice import roll_dice
from nardy_rl.rules.notation import format_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.reference import Board, opposing_point
from nardy_rl.rules.spec import BAR, CHECKERS, HEAD, HOME, OFF, OFFICIAL, OPTIONS, POINTS, PRESETS, SLOTS, Rules

Dice = tuple[int, int]
Kind = Callable[[random.Random, Rules], Board]


class TurnCase(NamedTuple):
    board: Board
    dice: Dice


# --- building ---------------------------------------------------------------------------------------------------------


class Builder:
    """Puts checkers of two sides on one board without letting them share a point."""

    def __init__(self, rng: random.Random, rules: Rules) -> None:
        self.rng = rng
        self.rules = rules
        self.rows = [[0] * SLOTS, [0] * SLOTS]

    def left(self, side: int) -> int:
        return CHECKERS - sum(self.rows[side])

    def is_free(self, side: int, slot: int) -> bool:
        if slot in (OFF, BAR):
            return slot == OFF or self.rules.geometry == "short"
        return not self.rows[1 - side][opposing_point(slot, self.rules)]

    def put(self, side: int, slot: int, checkers: int = 1) -> int:
        """Puts up to so many checkers there, as far as there are any left and the point is free; returns how many."""
        if not self.is_free(side, slot):
            return 0
        count = max(0, min(checkers, self.left(side)))
        self.rows[side][slot] += count
        return count

    def scatter(self, side: int, slots: Iterable[int], checkers: int | None = None, points: int | None = None) -> None:
        """Puts checkers (all that are left) on the free ones of the slots, on at most so many different points."""
        free = [slot for slot in slots if self.is_free(side, slot)]
        if points is not None and len(free) > points:
            free = self.rng.sample(free, max(1, points))
        for _ in range(self.left(side) if checkers is None else min(checkers, self.left(side))):
            if free:
                self.put(side, self.rng.choice(free))

    def finish(self) -> Board:
        """The board; checkers still in hand go to free points anywhere."""
        for side in (0, 1):
            self.scatter(side, range(1, POINTS + 1), points=self.rng.randint(1, 8))
        if any(self.left(side) for side in (0, 1)):  # no free point was left for a side: it has borne them off
            for side in (0, 1):
                self.put(side, OFF, self.left(side))
        mover, opponent = self.rows
        if mover[OFF] == opponent[OFF] == CHECKERS:
            raise AssertionError("both sides are off")
        return tuple(mover), tuple(opponent)


def opposing(points: Iterable[int], rules: Rules) -> list[int]:
    return [opposing_point(point, rules) for point in points]


# --- kinds: both games ------------------------------------------------------------------------------------------------


def scattered(rng: random.Random, rules: Rules) -> Board:
    """Anything anywhere."""
    builder = Builder(rng, rules)
    for side in rng.sample((0, 1), 2):
        if rng.random() < 0.2:
            builder.put(side, OFF, rng.randint(1, 13))
        builder.scatter(side, range(1, POINTS + 1), points=rng.randint(1, 12))
    return builder.finish()


def bear_in(rng: random.Random, rules: Rules) -> Board:
    """All home but one or two, which may come home within the turn; some opponents stand in the way."""
    builder = Builder(rng, rules)
    builder.scatter(1, opposing(range(1, 13), rules), rng.choice((0, 0, 1, 2, 4)))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        builder.scatter(0, range(HOME + 1, rng.choice((8, 9, 13, 19))), 1)
    if rng.random() < 0.5:
        builder.put(0, OFF, rng.randint(1, 12))
    builder.scatter(0, range(1, HOME + 1), points=rng.randint(1, 6))
    _rest_of_the_opponent(builder)
    return builder.finish()


def bear_off(rng: random.Random, rules: Rules) -> Board:
    """All home; opponents stand in the home, on few or many of its points."""
    builder = Builder(rng, rules)
    builder.scatter(1, opposing(range(1, HOME + 1), rules), rng.choice((0, 1, 1, 2, 3, 5)))
    builder.put(0, OFF, rng.choice((0, 0, 1, 5, 9, 12)))
    builder.scatter(0, range(1, HOME + 1), points=rng.randint(1, 6))
    _rest_of_the_opponent(builder)
    return builder.finish()


def few_left(rng: random.Random, rules: Rules) -> Board:
    """One to four checkers left, home or nearly: the last may go off within the turn."""
    builder = Builder(rng, rules)
    builder.scatter(1, opposing(range(1, HOME + 1), rules), rng.choice((0, 0, 1, 2, 3)))
    left = rng.randint(1, 4)
    builder.put(0, OFF, CHECKERS - left)
    builder.scatter(0, range(1, rng.choice((2, 4, 7, 7, 7, 8, 10, 14))))
    _rest_of_the_opponent(builder)
    return builder.finish()


def stuck(rng: random.Random, rules: Rules) -> Board:
    """A few checkers that can move, among many closed points: one die, the larger die, or none can be played."""
    builder = Builder(rng, rules)
    for _ in range(rng.randint(1, 3)):
        builder.scatter(0, range(2, HEAD + 1), 1)
    movable = [point for point in range(1, HEAD + 1) if builder.rows[0][point]]
    landings = {point - pips for point in movable for pips in range(1, 13) if point > pips}
    wall = [point for point in landings if not builder.rows[0][point]]
    for point in rng.sample(wall, min(len(wall), rng.randint(2, 7))):
        builder.put(1, opposing_point(point, rules), 1 + rules.blot_limit)
    builder.scatter(0, range(1, rng.choice((2, 2, 3, 5))))
    _rest_of_the_opponent(builder)
    return builder.finish()


def last_throw(rng: random.Random, rules: Rules) -> Board:
    """The opponent has borne off all (R5.4); the mover may have anything."""
    builder = Builder(rng, rules)
    builder.put(1, OFF, CHECKERS)
    builder.put(0, OFF, rng.choice((0, 0, 5, 11, 14)))
    builder.scatter(0, range(1, rng.choice((HOME, HOME, 8, HEAD)) + 1), points=rng.randint(1, 9))
    return builder.finish()


def _rest_of_the_opponent(builder: Builder) -> None:
    rng, rules = builder.rng, builder.rules
    if rng.random() < 0.3:
        builder.put(1, OFF, rng.choice((1, 2, 8)))
    if rules.geometry == "short" and rng.random() < 0.2:
        builder.put(1, BAR, rng.randint(1, 2))
    where = rng.choice((range(1, HEAD + 1), range(1, HOME + 1), range(19, HEAD + 1), range(HEAD, HEAD + 1)))
    builder.scatter(1, where, points=rng.randint(1, 8))


# --- kinds: long nardy -----------------------------------------------------------------------------------------------


def near_block(rng: random.Random, rules: Rules) -> Board:
    """The mover holds most of a window of the opponent's route, with spare checkers a die away from its gaps.

    Windows lie anywhere on the route (so also across the mover's own end|start seam), sometimes across the opponent's
    own seam, where a run never joins (R3.2). Some of the blocks are complete, and not always legally.
    """
    builder = Builder(rng, rules)
    across_the_seam = rng.random() < 0.1
    first = rng.randint(20, 24) if across_the_seam else rng.randint(1, 19)
    size = rng.choice((6, 6, 6, 7, 8))
    window = [(first + i - 1) % POINTS + 1 for i in range(size)]
    gaps = rng.sample(window, rng.choice((0, 1, 1, 1, 2, 2, 3)))
    filled = [opposing_point(point, rules) for point in window if point not in gaps]
    for point in filled:
        builder.put(0, point)
    # Spare checkers one or two dice behind a gap, or on top of the block.
    for gap in gaps:
        own = opposing_point(gap, rules)
        for _ in range(rng.randint(0, 2)):
            source = own + rng.choice((1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 12))
            if source <= HEAD and source != own:
                builder.put(0, source)
    # The opponent: nobody, or one or two, ahead of the block; the others behind or among.
    ahead = range(1, first)
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        near = rng.choice((ahead, range(1, HOME + 1), range(first, POINTS + 1)))
        builder.scatter(1, [point for point in near if point not in gaps], 1)
    if rng.random() < 0.1:
        builder.put(1, OFF, 1)
    behind = range(min(first + size, POINTS), POINTS + 1)
    builder.scatter(1, [point for point in behind if point not in window], points=rng.randint(1, 5))
    # The rest of the mover: on the block, at home, on the head, or anywhere.
    rest = rng.choice((filled, filled, range(1, HOME + 1), [HEAD], range(1, HEAD + 1)))
    builder.scatter(0, rest, points=rng.randint(1, 6))
    return builder.finish()


def home_block(rng: random.Random, rules: Rules) -> Board:
    """Five or six home points held, the last checkers on their way in: block, bear-in and bear-off in one turn."""
    builder = Builder(rng, rules)
    gap = rng.randint(1, HOME)
    for point in range(1, HOME + 1):
        if point != gap or rng.random() < 0.2:
            builder.put(0, point, rng.randint(1, 2))
    for _ in range(rng.choice((0, 1, 1, 2))):
        builder.scatter(0, range(HOME + 1, rng.choice((10, 13, 19))), 1)
    if rng.random() < 0.3:
        builder.put(0, OFF, builder.left(0))
    builder.scatter(0, range(1, HOME + 1), points=rng.randint(1, 6))
    builder.scatter(1, range(1, 13), rng.choice((0, 0, 0, 1, 2)))  # ahead of a block on 13..18
    builder.scatter(1, range(19, HEAD + 1))
    return builder.finish()


def first_turn(rng: random.Random, rules: Rules) -> Board:
    """All 15 on the head (R2.2); the opponent stands at the start, after a move or two, or in the way."""
    builder = Builder(rng, rules)
    builder.put(0, HEAD, CHECKERS)
    how = rng.random()
    if how < 0.2:
        builder.put(1, HEAD, CHECKERS)
    elif how < 0.7:  # as in real play: one to three checkers out
        for _ in range(rng.randint(1, 3)):
            builder.scatter(1, [p for p in range(1, HEAD) if p != 12], 1)
        builder.put(1, HEAD, builder.left(1))
    else:  # never in real play: the opposing head may be empty, any landing point closed
        landings = [point for point in range(1, HEAD) if rng.random() < 0.3]
        builder.scatter(1, opposing(landings, rules))
    return builder.finish()


def early(rng: random.Random, rules: Rules) -> Board:
    """One to fourteen checkers on the head, the others not far: the head rule binds."""
    builder = Builder(rng, rules)
    builder.put(0, HEAD, rng.choice((1, 1, 2, 3, 7, 11, 13, 14)))
    builder.scatter(0, range(rng.choice((5, 13, 17)), HEAD), points=rng.randint(1, 6))
    builder.put(1, HEAD, rng.choice((0, 1, 7, 11, 13)))
    builder.scatter(1, range(rng.choice((1, 5, 13)), HEAD), points=rng.randint(1, 8))
    return builder.finish()


# --- kinds: short nardy ----------------------------------------------------------------------------------------------


def on_the_bar(rng: random.Random, rules: Rules) -> Board:
    """One to five checkers on the bar, some of the points where they enter closed or held by a blot."""
    builder = Builder(rng, rules)
    builder.put(0, BAR, rng.choice((1, 1, 2, 2, 3, 5)))
    for point in rng.sample(range(1, HOME + 1), rng.randint(0, 6)):
        builder.put(1, point, rng.choice((1, 2, 2, 3)))
    builder.scatter(0, rng.choice((range(1, HEAD + 1), range(1, HOME + 1), range(19, HEAD + 1))), points=6)
    _rest_of_the_opponent(builder)
    return builder.finish()


def many_blots(rng: random.Random, rules: Rules) -> Board:
    """Single checkers of both sides everywhere: several hits in one turn."""
    builder = Builder(rng, rules)
    for side in (0, 1):
        for point in rng.sample(range(1, HEAD + 1), rng.randint(4, 9)):
            builder.put(side, point)
        builder.put(side, BAR, rng.choice((0, 0, 0, 1)))
        builder.scatter(side, range(1, HEAD + 1), points=3)
    return builder.finish()


LONG_KINDS: dict[Kind, int] = {
    near_block: 6,
    home_block: 3,
    first_turn: 3,
    early: 2,
    bear_in: 2,
    bear_off: 2,
    few_left: 2,
    stuck: 2,
    scattered: 2,
    last_throw: 1,
}
SHORT_KINDS: dict[Kind, int] = {
    on_the_bar: 3,
    many_blots: 3,
    bear_in: 2,
    bear_off: 2,
    few_left: 2,
    stuck: 2,
    scattered: 2,
    last_throw: 1,
}
"""Kinds of constructed positions with their weights."""


def kinds_of(rules: Rules) -> dict[Kind, int]:
    return SHORT_KINDS if rules.geometry == "short" else LONG_KINDS


def constructed_turn(rng: random.Random, rules: Rules, kind: Kind | None = None) -> TurnCase:
    """A constructed position with a roll; doubles, where most of the work is, come two times in five."""
    if kind is None:
        kinds = kinds_of(rules)
        kind = rng.choices(list(kinds), weights=list(kinds.values()))[0]
    board = kind(rng, rules)
    first = rng.randint(1, 6)
    return TurnCase(board, (first, first if rng.random() < 0.4 else rng.randint(1, 6)))


def constructed_turns(n: int, seed: int, rules: Rules) -> list[TurnCase]:
    rng = random.Random(seed)
    return [constructed_turn(rng, rules) for _ in range(n)]


def random_play_turns(n: int, seed: int, rules: Rules, games: int = 20) -> list[TurnCase]:
    """Turns met in games of random plays, made with the compiled generator; the last ones of a game included."""
    turns: list[TurnCase] = []
    rng = np.random.default_rng(seed)
    boards = new_boards(games, rules)
    streams = np.arange(games)
    for turn in itertools.count():
        dice = roll_dice(seed, streams, turn)
        turns += [TurnCase(as_tuples(board), (int(a), int(b))) for board, (a, b) in zip(boards, dice, strict=True)]
        after = legal_afterstates(boards, dice, rules)
        choice = after.offsets[:-1] + rng.integers(0, np.diff(after.offsets))
        boards = flip(after.boards[choice]).copy()
        over = boards[:, 1, OFF] == CHECKERS
        boards[over] = new_boards(int(over.sum()), rules)
        if len(turns) >= n:
            break
    return turns[:n]


def as_tuples(board: Any) -> Board:
    mover, opponent = board.tolist()
    return tuple(mover), tuple(opponent)


def as_arrays(turns: Iterable[TurnCase]) -> tuple[np.ndarray, np.ndarray]:
    """boards int8 (N, 2, 26) and dice int8 (N, 2)."""
    boards, dice = zip(*turns, strict=True)
    return np.array(boards, dtype=np.int8), np.array(dice, dtype=np.int8)


def describe(turn: TurnCase, rules: Rules) -> str:
    """One line from which a failing turn can be repeated."""
    return f"{format_position(turn.board)}   dice {turn.dice}   rules {name_of(rules)}"


# --- rules ------------------------------------------------------------------------------------------------------------

_LONG_OPTIONS: dict[str, tuple[Any, ...]] = {
    "head_limit": (1, 1, 1, 2, CHECKERS),
    "head_rolls": ((), (3, 4, 6), (1, 2, 3, 4, 5, 6), "any"),
    "head_condition": ("head_blocks", "any_block", "always"),
    "head_second": ("free", "stuck_first"),
    "block_rule": ("ahead", "home", "forbid", "none"),
    "block_transit": ("forbid", "allow"),
    "bear_off_choice": ("free", "exact_first"),
    "bear_off_blocked": ("lost", "leftmost"),
    "must_play": ("max", "greedy"),
}
_SHORT_OPTIONS: dict[str, tuple[Any, ...]] = {
    name: _LONG_OPTIONS[name] for name in ("bear_off_choice", "bear_off_blocked", "must_play")
}


def single_changes() -> Iterator[Rules]:
    """`official` and `short` with one option changed."""
    for base, options in ((OFFICIAL, _LONG_OPTIONS), (PRESETS["short"], _SHORT_OPTIONS)):
        for name, values in options.items():
            for value in dict.fromkeys(values):
                if value != getattr(base, name):
                    yield dataclasses.replace(base, **{name: value})


def random_rules(rng: random.Random, geometry: str = "long") -> Rules:
    """Every option of the generator drawn at random."""
    base, options = (OFFICIAL, _LONG_OPTIONS) if geometry == "long" else (PRESETS["short"], _SHORT_OPTIONS)
    return dataclasses.replace(base, **{name: rng.choice(values) for name, values in options.items()})


def combinations(n: int, seed: int) -> list[Rules]:
    """`n` different rules of mixed options, one in ten of short nardy."""
    rng = random.Random(seed)
    return [random_rules(rng, "short" if i % 10 == 9 else "long") for i in range(n)]


def name_of(rules: Rules) -> str:
    """The preset, or what differs from the nearest one."""
    base = "short" if rules.geometry == "short" else "official"
    for name, preset in PRESETS.items():
        if rules == preset:
            return name
    changes = {name: getattr(rules, name) for name in OPTIONS if getattr(rules, name) != getattr(PRESETS[base], name)}
    return f"{base} {changes}"
