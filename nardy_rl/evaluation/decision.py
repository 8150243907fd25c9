"""One decision, or one position, rolled out and shown: what scripts/rollout.py does."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table

from nardy_rl.agents.luck import load_judge
from nardy_rl.agents.rollout import Progress, rollout, rollout_candidates, top_candidates
from nardy_rl.config import KEPT_NETS, RolloutCommandConfig
from nardy_rl.endgame.tables import find_table
from nardy_rl.evaluation.arena import Z95
from nardy_rl.records.position_ids import read_position
from nardy_rl.rules.board import Boards, check_boards
from nardy_rl.rules.notation import format_play, format_position
from nardy_rl.rules.reference import as_board, legal_plays
from nardy_rl.rules.spec import OFF, Rules, make_rules
from nardy_rl.value.yardsticks import GNUBG_PREFIX


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A play rolled out, or the position itself (then `play` is empty).

    Attributes:
        play: The play as text.
        equity: Expected points of the player on roll.
        stderr: Standard error of `equity`.
        loss: How far behind the best play.
        loss_ci95: 95% interval of `loss`, by paired trials.
        trials: Trials played; 0 where the game is over.
    """

    play: str
    equity: float
    stderr: float
    loss: float
    loss_ci95: tuple[float, float]
    trials: int


def roll_out(config: RolloutCommandConfig, progress: Progress | None = None) -> list[Candidate]:
    """Rolls out what the config asks for; the best play first.

    Raises:
        ValueError: A position, dice, net or setting that cannot be used.
        KeyboardInterrupt: Passed on once the state, if there is one, is saved.
    """
    rules = make_rules(config.rules, config.options)
    config.rollout.check()
    boards, thrown = _position(config.position, rules)
    dice = thrown if config.dice is None else _dice(config.dice)
    if config.candidates < 1:
        raise ValueError(f"candidates={config.candidates} is not allowed; give 1 or more")
    if not config.within >= 0:
        raise ValueError(f"within={config.within} is not allowed; give 0 or more points")
    evaluator = load_judge(config.agent or KEPT_NETS[rules.geometry], rules)
    moved_first = np.array([config.moved_first])
    state = None if config.state is None else Path(config.state)
    if dice is None:
        alone = rollout(
            evaluator, boards, moved_first, rules, config.rollout,
            threads=config.threads, state=state, progress=progress,
        )  # fmt: skip
        return [Candidate("", float(alone.equity[0]), float(alone.stderr[0]), 0.0, (0.0, 0.0), int(alone.trials[0]))]
    candidates = top_candidates(
        evaluator, boards, np.array([dice], dtype=np.int8), moved_first, rules, config.candidates, config.within
    )
    result = rollout_candidates(
        evaluator, boards, moved_first, candidates, rules, config.rollout,
        threads=config.threads, state=state, progress=progress,
    )  # fmt: skip
    plays = {play.board: format_play(play.steps) for play in legal_plays(boards[0], dice, rules)}
    found = [
        Candidate(
            play=plays[as_board(candidates.boards[k])],
            equity=float(result.equity[k]),
            stderr=float(result.stderr[k]),
            loss=float(result.loss[k]),
            loss_ci95=_interval(result.loss[k], result.loss_stderr[k]),
            trials=int(result.trials[k]),
        )
        for k in range(len(candidates.boards))
    ]
    best = found[result.best[0]]
    return sorted(found, key=lambda candidate: (candidate is not best, candidate.loss))


def table_used(config: RolloutCommandConfig) -> str | None:
    """Folder of the bear-off table that the rollout plays endgames by; None without one (gnubg has tables of its own).

    Raises:
        ValueError: As `endgame.tables.find_table`, or rules that do not exist.
    """
    rules = make_rules(config.rules, config.options)
    if (config.agent or KEPT_NETS[rules.geometry]).startswith(GNUBG_PREFIX):
        return None
    table = find_table(rules)
    return None if table is None else table.name


def as_json(config: RolloutCommandConfig, found: list[Candidate], bearoff_table: str | None = None) -> dict[str, Any]:
    """The result and all that it depends on, as plain JSON values; `bearoff_table` is that of `table_used`."""
    left_out = {"threads", "state", "json"}
    settings = {name: value for name, value in dataclasses.asdict(config).items() if name not in left_out}
    rules = make_rules(config.rules, config.options)
    settings["agent"] = config.agent or KEPT_NETS[rules.geometry]
    settings["position"] = config.position or format_position((rules.start, rules.start))
    settings["bearoff_table"] = bearoff_table
    return {**settings, "plays": [dataclasses.asdict(candidate) for candidate in found]}


def as_table(found: list[Candidate]) -> Table:
    """The result for the screen, a row a play."""
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    table.add_column("play", overflow="fold")
    for heading in ("equity", "standard\nerror", "behind\nthe best", "95%\ninterval", "trials"):
        table.add_column(heading, justify="right", no_wrap=True)
    for n, candidate in enumerate(found):
        low, high = candidate.loss_ci95
        behind = (f"{candidate.loss:.4f}", f"{low:+.4f} {high:+.4f}") if n else ("", "")
        table.add_row(
            candidate.play, f"{candidate.equity:+.4f}", f"{candidate.stderr:.4f}", *behind, f"{candidate.trials:,}"
        )
    return table


def _interval(mean: float, stderr: float) -> tuple[float, float]:
    return float(mean - Z95 * stderr), float(mean + Z95 * stderr)


def _position(text: str | None, rules: Rules) -> tuple[Boards, tuple[int, int] | None]:
    """The board as a batch of one, and the dice if the text tells them."""
    rows, told = ((rules.start, rules.start), None) if text is None else read_position(text, rules)
    board: NDArray[np.int8] = check_boards(np.array([rows], dtype=np.int8), rules)
    if board[0, 0, OFF] == board[0, 0].sum():
        raise ValueError(f"position={format_position(board[0])!r}: the player on roll has borne off everything")
    return board, told.dice if told else None


def _dice(text: str) -> tuple[int, int]:
    if len(text) != 2 or not set(text) <= set("123456"):
        raise ValueError(f"dice={text!r} is not allowed; give two dice, as 64")
    return int(text[0]), int(text[1])
