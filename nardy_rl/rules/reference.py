"""The rules once more, slowly and plainly: the twin against which the compiled move generator is checked.

Everything here follows RULES.md in the order in which a person would apply it, on tuples of counts, one position and
one step at a time. It shares no code with the compiled generator, so that the same mistake is not made twice, and it
also knows the *steps* of a play, which the compiled generator never needs.

A turn is explored layer by layer: all positions after one step, after two, and so on. A node of this graph is a
position together with the dice still to be played; only at the end is it decided which nodes a player may stop on.

Readings which RULES.md leaves open, decided here and held by the tests:

* R2.1, R2.2: the exception is only ever about the second checker: with `head_limit` of two or more it changes nothing.
* R2.2: the checker that plays "the whole roll alone" walks over the points 24-d, 24-2d, ...; bearing off (the fourth
  step of 6-6) is not a point anybody can hold.
* R2.2 with `head_rolls="any"`: on two different dice the checker is stopped if neither order brings it to the end.
  Twelve pips are then never reached, so `head_blocks` never holds.
* R2.3: the first checker is stuck for a die if the opponent closes the point that die leads to; no other reason counts.
* R3.1 is about the whole position, whoever made the block: if a position already holds a forbidden block, a step that
  leaves it standing is not legal. A pass needs no step, so it is always there when no play is.
* R3.3 `allow`: only plays whose last position is legal are plays, also when R1.3 counts dice.
* R4.3 `leftmost`: the checker that goes off all the same must still leave a position that is legal under R3.
* R1.4: a play that bears off the 15th checker is complete, whatever number of dice other plays use.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from nardy_rl.rules.spec import ANY_ROLL, BAR, CHECKERS, HEAD, HOME, OFF, POINTS, SLOTS, Rules

Board = tuple[tuple[int, ...], tuple[int, ...]]
"""Two rows of 26 counts, (player on roll, opponent), each in its own numbering (R0.2)."""

BLOCK = 6
"""Consecutive points that make a block (R3.1)."""


class Step(NamedTuple):
    """One checker moved by one die (R1.1), in the mover's own numbering.

    Attributes:
        source: 1..24, or 25 from the bar.
        target: 1..24, or 0 for bearing off.
        hit: A lone opposing checker stood on `target` (R8.2); never in long nardy.
    """

    source: int
    target: int
    hit: bool = False


class Play(NamedTuple):
    """A whole turn (R1.3): its steps in an order that is legal, and the board after it.

    Attributes:
        steps: At most four; none is the forced pass.
        board: The afterstate, mover's row first still: the turn has not passed yet.
    """

    steps: tuple[Step, ...]
    board: Board


class Position(NamedTuple):
    """A position within a turn: the board, and how many checkers have left the head so far (R2.1)."""

    mover: tuple[int, ...]
    opponent: tuple[int, ...]
    left_head: int

    @property
    def finished(self) -> bool:
        """The mover has borne off his last checker (R1.4)."""
        return self.mover[OFF] == CHECKERS


class _Node(NamedTuple):
    """A position and the dice still to be played from it, the higher first."""

    position: Position
    dice: tuple[int, ...]


_Steps = tuple[Step, ...]


def legal_plays(board: Any, dice: Iterable[int], rules: Rules) -> list[Play]:
    """All legal plays of a turn, one for each distinct board they lead to.

    Of several orders of steps that lead to one board, the shortest is shown and, among those, the one that moves the
    checker furthest back first, by the higher die. It is always an order which the rules allow.

    Args:
        board: 2 rows of 26 counts, (player on roll, opponent), each in its own numbering; tuples or an array.
        dice: The two dice, in any order.
        rules: The variant.

    Returns:
        The plays, those with the furthest checkers first; exactly one play without steps if nothing can be played.

    Raises:
        ValueError: Not a board of 2 x 26 counts, or not two dice of 1..6.
    """
    start = as_board(board)
    turn = Turn(start, dice, rules)
    layers = list(turn.layers())
    stops = turn.stops(layers)
    best: dict[Board, _Steps] = {start: ()} if not stops else {}
    for node, steps in stops.items():
        after = (node.position.mover, node.position.opponent)
        if after not in best or _reading_order(steps) < _reading_order(best[after]):
            best[after] = steps
    plays = [Play(steps, after) for after, steps in best.items()]
    return sorted(plays, key=lambda play: (_reading_order(play.steps)[1], play.board))


def legal_afterstates_reference(boards: Any, dice: Any, rules: Rules) -> list[list[Board]]:
    """What `plays.legal_afterstates` computes, by `legal_plays`, turn by turn.

    Args:
        boards: (N, 2, 26) counts.
        dice: (N, 2) dice.
        rules: The variant.

    Returns:
        For each of the N turns its distinct afterstates, rows still (mover, opponent).
    """
    if len(boards) != len(dice):
        raise ValueError(f"{len(boards)} boards need as many pairs of dice, not {len(dice)}")
    return [[play.board for play in legal_plays(board, roll, rules)] for board, roll in zip(boards, dice, strict=True)]


def as_board(board: Any) -> Board:
    """Returns any 2 x 26 counts as tuples of int.

    Raises:
        ValueError: Another shape, or a negative count.
    """
    rows = np.asarray(board)
    if rows.shape != (2, SLOTS):
        raise ValueError(f"a board has shape (2, {SLOTS}), not {rows.shape}")
    if (rows < 0).any():
        raise ValueError("a board has no negative counts")
    mover, opponent = (tuple(int(count) for count in row) for row in rows)
    return mover, opponent


def opposing_point(point: int, rules: Rules) -> int:
    """The number which the other player gives to one's point 1..24 (R0.3)."""
    if rules.geometry == "short":
        return POINTS + 1 - point
    return point + 12 if point <= 12 else point - 12


class Turn:
    """One roll of the dice on one board: which steps there are, and which plays they make.

    Attributes:
        start: The position before the first step.
        dice: The dice as they may be used, the higher first: two, or four of a double (R1.2).
        rules: The variant.
        exception: A second checker may leave the head in this turn (R2.2).
    """

    def __init__(self, board: Board, dice: Iterable[int], rules: Rules) -> None:
        pair = sorted((int(die) for die in dice), reverse=True)
        if len(pair) != 2 or not all(1 <= die <= 6 for die in pair):
            raise ValueError(f"a roll is two dice of 1..6, not {pair}")
        self.rules = rules
        self.start = Position(board[0], board[1], left_head=0)
        self.dice = tuple(pair) if pair[0] != pair[1] else (pair[0],) * 4
        self.exception = self._head_exception()

    # --- one step ---------------------------------------------------------------------------------------------------

    def steps(self, position: Position, die: int) -> list[tuple[Step, Position]]:
        """All legal steps with one die, and the positions they lead to.

        Under `block_transit="allow"` the block of six plays no part here (R3.3).
        """
        bearing_off = self.may_bear_off(position)
        legal = list(self._make(position, self._candidates(position, die)))
        if not legal and bearing_off and self.rules.bear_off_blocked == "leftmost":
            # R4.3: nothing can be done with this die, so the highest checker goes off all the same.
            highest = max((point for point in range(1, HOME + 1) if position.mover[point]), default=OFF)
            if highest != OFF:
                legal = list(self._make(position, [Step(highest, OFF)]))
        return legal

    def _candidates(self, position: Position, die: int) -> Iterator[Step]:
        """Steps that the points, the head, the bar and the bear-off allow; R3 is not looked at yet."""
        mover = position.mover
        bearing_off = self.may_bear_off(position)
        if mover[BAR]:
            sources: Sequence[int] = [BAR]  # R8.3
        elif bearing_off and mover[die] and self.rules.bear_off_choice == "exact_first":
            yield Step(die, OFF)  # R4.2
            return
        else:
            sources = range(HEAD, 0, -1)
        for source in sources:
            if not mover[source]:
                continue
            target = source - die
            if target <= OFF:
                if bearing_off and (target == OFF or not any(mover[source + 1 : HOME + 1])):
                    yield Step(source, OFF)  # R4.2
            elif not self.is_closed(position, target) and (source != HEAD or self.may_leave_head(position, die)):
                yield Step(source, target, hit=self._opposing(position, target) > 0)

    def _make(self, position: Position, steps: Iterable[Step]) -> Iterator[tuple[Step, Position]]:
        """Makes the steps and keeps those that R3 allows in passing (R3.3)."""
        for step in steps:
            after = self.after(position, step)
            if self.rules.block_transit == "allow" or self.is_block_legal(after):
                yield step, after

    def after(self, position: Position, step: Step) -> Position:
        """The position after a step; nothing is checked."""
        mover, opponent = list(position.mover), list(position.opponent)
        mover[step.source] -= 1
        mover[step.target] += 1
        if step.hit:
            opponent[opposing_point(step.target, self.rules)] -= 1
            opponent[BAR] += 1
        left_head = position.left_head + (step.source == HEAD)
        return Position(tuple(mover), tuple(opponent), left_head)

    def may_bear_off(self, position: Position) -> bool:
        """All the mover's checkers are home or off (R4.1)."""
        return sum(position.mover[: HOME + 1]) == sum(position.mover)

    def is_closed(self, position: Position, point: int) -> bool:
        """The mover may not land on this point of his (R1.1, R8.2)."""
        return self._opposing(position, point) > self.rules.blot_limit

    def _opposing(self, position: Position, point: int) -> int:
        """Opposing checkers on the mover's point 1..24."""
        return position.opponent[opposing_point(point, self.rules)]

    # --- the head (section 2) ---------------------------------------------------------------------------------------

    def may_leave_head(self, position: Position, die: int) -> bool:
        """One more checker may leave the head now, with this die (R2.1-R2.3)."""
        if position.left_head < self.rules.head_limit:
            return True
        if not self.exception or position.left_head >= 2:
            return False
        if self.rules.head_second == "free":
            return True
        # All 15 stood on the head, so the one checker elsewhere is the first that left.
        first = next(point for point in range(1, HEAD) if position.mover[point])
        return first > die and self.is_closed(position, first - die)

    def _head_exception(self) -> bool:
        """R2.2: on the first turn some rolls let a second checker leave the head."""
        rules, high, low = self.rules, self.dice[0], self.dice[-1]
        if self.start.mover[HEAD] != CHECKERS:
            return False
        if rules.head_rolls != ANY_ROLL and not (high == low and high in rules.head_rolls):
            return False
        if rules.head_condition == "always":
            return True
        if high != low:
            last_is_closed = self.is_closed(self.start, HEAD - high - low)
            both_ways_are_closed = self.is_closed(self.start, HEAD - high) and self.is_closed(self.start, HEAD - low)
            return rules.head_condition == "any_block" and (last_is_closed or both_ways_are_closed)
        for landing in (HEAD - high, HEAD - 2 * high, HEAD - 3 * high, HEAD - 4 * high):
            if landing > OFF and self.is_closed(self.start, landing):
                return rules.head_condition == "any_block" or landing == opposing_point(HEAD, rules)
        return False

    # --- the block of six (section 3) -------------------------------------------------------------------------------

    def is_block_legal(self, position: Position) -> bool:
        """The position holds no block of six that R3.1 (or R3.4) forbids."""
        mover, opponent, rule = position.mover, position.opponent, self.rules.block_rule
        if rule == "none" or opponent[OFF] == CHECKERS:  # R3.1: void with no opposing checker on the board
            return True
        if rule == "home" and any(opponent[: HOME + 1]):
            return True
        # R3.2: in the opponent's numbering his route is 24..1 and the mover's own end|start seam is nothing special.
        held = 0
        for point in range(1, POINTS + 1):
            held = held + 1 if mover[opposing_point(point, self.rules)] else 0
            if held >= BLOCK:
                lowest = point - BLOCK + 1
                if rule != "ahead" or not any(opponent[:lowest]):
                    return False
        return True

    # --- whole plays (R1.3, R1.4, R4.4) -----------------------------------------------------------------------------

    def layers(self) -> Iterator[dict[_Node, _Steps]]:
        """All nodes after 0, 1, 2, ... steps, each with its best way there (see `_reading_order`)."""
        layer: dict[_Node, _Steps] = {_Node(self.start, self.dice): ()}
        while layer:
            yield layer
            following: dict[_Node, _Steps] = {}
            for node, steps in layer.items():
                for step, child in self.children(node):
                    way = (*steps, step)
                    if child not in following or _reading_order(way) < _reading_order(following[child]):
                        following[child] = way
            layer = following

    def children(self, node: _Node) -> Iterator[tuple[Step, _Node]]:
        """One step further, with any of the dice that are left."""
        if node.position.finished:
            return  # R1.4: left-over dice are void
        for i, die in enumerate(node.dice):
            if die in node.dice[:i]:
                continue
            rest = node.dice[:i] + node.dice[i + 1 :]
            for step, position in self.steps(node.position, die):
                yield step, _Node(position, rest)

    def stops(self, layers: list[dict[_Node, _Steps]]) -> dict[_Node, _Steps]:
        """The nodes at which a legal play may end; empty if the turn is a pass."""
        legal = [{node: way for node, way in layer.items() if self._may_end(node)} for layer in layers[1:]]
        while legal and not legal[-1]:
            legal.pop()
        if not legal:
            return {}
        if self.rules.must_play == "greedy":
            return self._unextendable(layers, legal)
        full = legal[-1]
        if len(legal) == 1 and self.dice[0] != self.dice[1]:
            # R1.3: only one die can be used; the larger one if it is among the plays.
            with_larger = {node: way for node, way in full.items() if self.dice[0] not in node.dice}
            full = with_larger or full
        finishing = {node: way for layer in legal for node, way in layer.items() if node.position.finished}
        return full | finishing

    def _may_end(self, node: _Node) -> bool:
        """A play may end here as far as R3 is concerned; with `forbid` every step has already been judged."""
        return self.rules.block_transit == "forbid" or self.is_block_legal(node.position)

    def _unextendable(self, layers: list[dict[_Node, _Steps]], legal: list[dict[_Node, _Steps]]) -> dict[_Node, _Steps]:
        """R4.4 `greedy`: the legal ends from which no longer legal play goes on."""
        stops: dict[_Node, _Steps] = {}
        goes_on: set[_Node] = set()  # nodes of the layer after the present one that are legal ends or lead to one
        for depth in range(len(legal), 0, -1):
            ends = legal[depth - 1]
            leading = {node for node in layers[depth] if any(child in goes_on for _, child in self.children(node))}
            stops.update({node: way for node, way in ends.items() if node not in leading})
            goes_on = leading | ends.keys()
        return stops


def _reading_order(steps: _Steps) -> tuple[int, list[tuple[int, int]]]:
    """Sorts ways to write a play: shorter first, then the furthest checker first, by the higher die."""
    return len(steps), [(-step.source, step.target) for step in steps]
