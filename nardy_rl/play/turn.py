"""A turn put together step by step, for whoever plays by moving single checkers."""

from collections.abc import Iterable

from nardy_rl.rules.reference import Board, Position, Step, Turn
from nardy_rl.rules.spec import Rules

_Node = tuple[Position, tuple[int, ...]]


class HalfTurn:
    """The steps of a turn made so far. Only beginnings of legal plays can be made, so a play can always be completed.

    Attributes:
        steps: In the order they were made.
    """

    def __init__(self, board: Board, dice: Iterable[int], rules: Rules) -> None:
        """Starts a turn.

        Args:
            board: Rows (player on roll, opponent).
            dice: The two dice.
            rules: The variant.
        """
        turn = Turn(board, dice, rules)
        layers = list(turn.layers())
        leading: set[_Node] = set(turn.stops(layers))
        self._next: dict[_Node, list[tuple[Step, _Node]]] = {}
        for layer in reversed(layers):
            for node in layer:
                onward: list[tuple[Step, _Node]] = [(s, n) for s, n in turn.children(node) if n in leading]
                # a checker that either die bears off: the larger die is kept, as it can do all that the other can
                onward.sort(key=lambda way: way[1][1], reverse=True)
                if onward:
                    leading.add(node)
                    self._next[node] = onward
        self._path: list[_Node] = [(turn.start, turn.dice)]
        self.steps: list[Step] = []

    @property
    def board(self) -> Board:
        """The board with the steps made."""
        position = self._path[-1][0]
        return position.mover, position.opponent

    @property
    def dice_left(self) -> tuple[int, ...]:
        """The dice still to be played, the higher first."""
        return self._path[-1][1]

    @property
    def complete(self) -> bool:
        """The steps are a legal play; with no step made, the turn is a pass."""
        return self._path[-1] not in self._next

    def sources(self) -> list[int]:
        """The slots from which the next step may start, from the furthest on."""
        return sorted({step.source for step, _ in self._onward()}, reverse=True)

    def targets(self, source: int) -> dict[int, tuple[Step, ...]]:
        """Where the upper checker of a slot may go now, and by which steps.

        Several dice may be played at once, unless the ways there differ in their result (which checkers they hit).
        """
        found = {step.target: (step,) for step, _ in reversed(self._onward()) if step.source == source}
        ends: dict[int, dict[_Node, tuple[Step, ...]]] = {}
        ways: list[tuple[tuple[Step, ...], _Node]] = [
            ((step,), node) for step, node in self._onward() if step.source == source
        ]
        while ways:
            steps, node = ways.pop()
            for step, child in self._next.get(node, ()):
                if step.source == steps[-1].target:
                    ends.setdefault(step.target, {})[child] = (*steps, step)
                    ways.append(((*steps, step), child))
        joined = {target: next(iter(nodes.values())) for target, nodes in ends.items() if len(nodes) == 1}
        return joined | found

    def make(self, steps: Iterable[Step]) -> None:
        """Makes some steps, such as one of `targets`.

        Raises:
            ValueError: A step that begins or continues no legal play; those before it are made.
        """
        for step in steps:
            node = next((node for made, node in self._onward() if made == step), None)
            if node is None:
                raise ValueError(f"{step.source}/{step.target} is no part of a legal play here")
            self._path.append(node)
            self.steps.append(step)

    def undo(self) -> None:
        """Takes the last step back, if there is one."""
        if self.steps:
            self.steps.pop()
            self._path.pop()

    def _onward(self) -> list[tuple[Step, _Node]]:
        return self._next.get(self._path[-1], [])
