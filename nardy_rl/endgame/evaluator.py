"""An evaluator that knows the exact endgame: any other one, overruled where a bear-off table covers the position."""

import numpy as np
from numpy.typing import NDArray

from nardy_rl.endgame.tables import BearoffTable, find_table
from nardy_rl.rules.board import Boards
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.scoring import levels
from nardy_rl.rules.spec import OFF, Rules
from nardy_rl.value.evaluator import Evaluator


class TableEvaluator:
    """See the module.

    `equities` and `after_play` are exact in covered positions. `values` are overruled only where the equity settles the
    probabilities: no draw, and no mars left to win or lose, so that one player wins an oin with (1 + equity) / 2; or
    where the value is the equity itself (scoring `checkers`). Elsewhere they are the net's, and their product with the
    points is not `equities`.

    Attributes:
        inner: What values the positions that the table does not cover.
        table: The table.
        rules: The rules of both.
    """

    def __init__(self, inner: Evaluator, table: BearoffTable, rules: Rules) -> None:
        """Wraps `inner`.

        Raises:
            TableError: The table does not belong to these rules.
        """
        table.check(rules)
        self.inner = inner
        self.table = table
        self.rules = rules

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Evaluator` and the class."""
        values = self.inner.values(boards, moved_first)
        exact = self.table.lookup(boards, moved_first)
        covered = ~np.isnan(exact)
        if values.shape[1] == 1:
            values[covered, 0] = exact[covered]
        elif self.rules.draw == "none":
            settled = covered & (boards[:, :, OFF] > 0).all(axis=1)
            draw = levels(self.rules)
            values[settled] = 0.0
            values[settled, draw - 1] = (1.0 - exact[settled]) / 2.0
            values[settled, draw + 1] = (1.0 + exact[settled]) / 2.0
        return values

    def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Evaluator`."""
        exact = self.table.lookup(boards, moved_first)
        return np.where(np.isnan(exact), self.inner.equities(boards, moved_first), exact)

    def after_play(
        self, boards: Boards, moved_first: NDArray[np.bool_], afterstates: Afterstates
    ) -> NDArray[np.float64]:
        """See `Evaluator`."""
        equities = self.inner.after_play(boards, moved_first, afterstates)
        self.table.overwrite(equities, boards, moved_first, afterstates)
        return equities


def with_table(evaluator: Evaluator, rules: Rules) -> Evaluator:
    """The evaluator with the largest table there is for these rules (`tables.find_table`), or itself if there is none.

    Raises:
        ValueError: The table is damaged, or the folder named for tables does not exist.
    """
    table = find_table(rules)
    return evaluator if table is None else TableEvaluator(evaluator, table, rules)


def table_of(evaluator: Evaluator) -> BearoffTable | None:
    """The table that an evaluator made by `with_table` uses."""
    return evaluator.table if isinstance(evaluator, TableEvaluator) else None
