"""The agent that plays what its value net likes best (0-ply: no look ahead beyond the afterstate)."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Decisions
from nardy_rl.endgame.evaluator import table_of, with_table
from nardy_rl.rules import scoring
from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import Rules
from nardy_rl.value.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator, Evaluator, afterstate_equities
from nardy_rl.value.yardsticks import GNUBG_PREFIX, GnubgEvaluator


class ValueAgent:
    """Ranks afterstates by equity.

    Attributes:
        spec: Name in tables and JSON.
        rules: The rules it plays; they may differ from those it was trained under, but not in geometry or in how many
            outcomes there are.
        gives_equities: Always True.
        table: Folder of the bear-off table it plays endgames by, None without one.
    """

    gives_equities = True

    def __init__(self, spec: str, evaluator: Evaluator, rules: Rules) -> None:
        self.spec = spec
        self.rules = rules
        table = table_of(evaluator)
        self.table = None if table is None else table.name
        self._evaluator = evaluator

    @classmethod
    def load(cls, path: str | Path, rules: Rules) -> "ValueAgent":
        """The agent of a checkpoint folder, with the bear-off table for these rules if there is one.

        Raises:
            CheckpointError: The checkpoint cannot be used, or not for these rules.
            ValueError: The bear-off table is damaged.
        """
        (evaluator,) = load_evaluators(path, rules, "float32")
        return cls(str(path), evaluator, rules)

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """Expected points of the mover in each afterstate, float64 (K,)."""
        boards, _, moved_first, afterstates = decisions
        return afterstate_equities(self._evaluator, boards, moved_first, afterstates, self.rules)

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Evaluator.values`."""
        return self._evaluator.values(boards, moved_first)


def load_evaluators(path: str | Path, rules: Rules, *precisions: str) -> tuple[Evaluator, ...]:
    """The net of a checkpoint folder (or of a run, its newest), one evaluator for each precision.

    Each has the bear-off table for these rules if there is one. `gnubg:PLIES` names GNU Backgammon instead, which has
    one precision and tables of its own (see `value.yardsticks`).

    Raises:
        CheckpointError: The checkpoint cannot be used, or not for these rules.
        ValueError: The bear-off table is damaged; or gnubg cannot be had, or not for these rules.
    """
    if str(path).startswith(GNUBG_PREFIX):
        return (GnubgEvaluator(str(path), rules),) * len(precisions)
    if not Path(path).exists():
        raise CheckpointError(
            f"{path} is not a checkpoint: there is no such folder; give that of a checkpoint or run"
            + (f", or {GNUBG_PREFIX}0" if rules.geometry == "short" else "")
        )
    checkpoint = load_checkpoint(path)
    check_playable(checkpoint, rules)
    return tuple(with_table(CompiledEvaluator(checkpoint.net, rules, precision), rules) for precision in precisions)


def check_playable(checkpoint: Checkpoint, rules: Rules) -> None:
    """Raises a CheckpointError if the net's outputs mean nothing under these rules."""
    trained = checkpoint.rules
    if trained.geometry != rules.geometry:
        raise CheckpointError(
            f"{checkpoint.path} plays {trained.geometry} nardy, not {rules.geometry}; "
            "give a net that was trained for these rules (train.py rules=... makes one)"
        )
    if scoring.LEVELS[trained.scoring] != scoring.LEVELS[rules.scoring]:
        raise CheckpointError(f"{checkpoint.path} was trained for scoring {trained.scoring!r}, not {rules.scoring!r}")
