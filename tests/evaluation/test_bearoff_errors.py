"""A net's errors against the exact table."""

from pathlib import Path

import numpy as np
import pytest

from nardy_rl.endgame.evaluator import TableEvaluator
from nardy_rl.endgame.tables import BearoffTable, TableError, build_table
from nardy_rl.evaluation.bearoff_errors import bearoff_errors, errors_text
from nardy_rl.rules.board import Boards
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.spec import make_rules
from nardy_rl.value.checkpoint import load_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator

ROOT = Path(__file__).parents[2]
RULES = make_rules("official")


@pytest.fixture(scope="module")
def table() -> BearoffTable:
    return build_table(8, RULES)


@pytest.fixture(scope="module")
def net() -> CompiledEvaluator:
    return CompiledEvaluator(load_checkpoint(ROOT / "checkpoints" / "long-quick-v1").net, RULES)


class Backwards(TableEvaluator):
    """Plays for the worst it can get wherever the table covers."""

    def after_play(self, boards: Boards, moved_first: np.ndarray, afterstates: Afterstates) -> np.ndarray:
        sign = np.where(self.table.covers(afterstates.boards), -1.0, 1.0)
        return sign * super().after_play(boards, moved_first, afterstates)


class OffByATenth(TableEvaluator):
    """Right about what is better, wrong about how good it is."""

    def equities(self, boards: Boards, moved_first: np.ndarray) -> np.ndarray:
        return super().equities(boards, moved_first) + 0.1

    def after_play(self, boards: Boards, moved_first: np.ndarray, afterstates: Afterstates) -> np.ndarray:
        return super().after_play(boards, moved_first, afterstates) + 0.1


def test_the_table_itself_loses_nothing(table: BearoffTable, net: CompiledEvaluator) -> None:
    found = bearoff_errors(TableEvaluator(net, table, RULES), table, RULES, games=20, seed=1)
    assert len(found.losses) > 20
    assert not found.losses.any()
    assert not found.errors.any()


def test_errors_and_losses_are_told_apart(table: BearoffTable, net: CompiledEvaluator) -> None:
    found = bearoff_errors(OffByATenth(net, table, RULES), table, RULES, games=20, seed=1)
    np.testing.assert_allclose(found.errors, 0.1, atol=1e-12)
    assert found.losses.mean() < 0.02, "only a finished game, whose points are exact, may be preferred to a better play"


def test_the_kept_net_lies_between_the_best_and_the_worst(table: BearoffTable, net: CompiledEvaluator) -> None:
    found = bearoff_errors(net, table, RULES, games=20, seed=1)
    again = bearoff_errors(net, table, RULES, games=20, seed=1)
    np.testing.assert_array_equal(found.losses, again.losses)
    assert 0.001 < np.abs(found.errors).mean() < 0.3
    assert found.losses.min() >= 0.0
    worst = bearoff_errors(Backwards(net, table, RULES), table, RULES, games=20, seed=1)
    assert 0.0 < found.losses.mean() < worst.losses.mean() / 3
    assert f"{len(found.losses):,} with a choice" in errors_text("net", table, found)


def test_what_cannot_be_measured_is_refused(table: BearoffTable, net: CompiledEvaluator) -> None:
    with pytest.raises(ValueError, match="games=0"):
        bearoff_errors(net, table, RULES, games=0, seed=1)
    with pytest.raises(TableError, match="was built for draw"):
        bearoff_errors(net, table, make_rules("moscow"), games=1, seed=1)
    with pytest.raises(ValueError, match="none of 1 games came to a position"):
        bearoff_errors(net, build_table(1, RULES, points=1), RULES, games=1, seed=2)
