"""What n-ply search costs and what it changes, on the decisions of a net's games against itself.

Times are processor time of one thread, so that other work on the machine matters little.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from nardy_rl.agents.base import Decisions, choose
from nardy_rl.agents.registry import MOST_PLIES, check_net
from nardy_rl.agents.search import SearchAgent, SearchConfig
from nardy_rl.files import write_json
from nardy_rl.rules.dice import TIES, bits, roll_dice
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.training.selfplay import play_games
from nardy_rl.value.checkpoint import Checkpoint, load_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator


@dataclass
class SearchSpeedConfig:
    """What to measure.

    Attributes:
        checkpoint: The net.
        plies: Deepest search.
        games: Games whose decisions are looked at, about 92 each.
        seed: Dice of these games.
        search: Move filters.
        json: File to write the results to.
    """

    checkpoint: str = "checkpoints/long-quick-v1"
    plies: int = 2
    games: int = 12
    seed: int = 1
    search: SearchConfig = field(default_factory=SearchConfig)
    json: str | None = None


def measure(config: SearchSpeedConfig) -> int:
    """Searches all decisions at every depth, prints a table and writes `config.json`."""
    if not 0 <= config.plies <= MOST_PLIES:
        raise ValueError(f"plies={config.plies} is not allowed; give 0 to {MOST_PLIES}")
    if config.games < 1:
        raise ValueError(f"games={config.games} is not allowed; give 1 or more")
    check_net(config.checkpoint)
    checkpoint = load_checkpoint(config.checkpoint)
    decisions, ties = self_play_decisions(checkpoint, config.games, config.seed)
    offsets = decisions.afterstates.offsets
    results: list[dict[str, Any]] = []
    before: NDArray[np.int64] | None = None
    for plies in range(config.plies + 1):
        spec = f"{config.checkpoint}@{plies}ply"
        agent = SearchAgent.load(spec, config.checkpoint, checkpoint.rules, plies, config.search)
        agent.scores(next(singly(decisions)))  # compiles
        alone = 1e3 * np.array([_seconds(agent, decision)[0] for decision in singly(decisions)])
        together, scores = _seconds(agent, decisions)
        chosen = choose(scores, offsets, ties)
        results.append(
            {
                "plies": plies,
                "decisions": len(chosen),
                "ms_in_batch": 1e3 * together / len(chosen),
                "ms_alone": float(alone.mean()),
                "ms_alone_95_percent": float(np.quantile(alone, 0.95)),
                "ms_alone_most": float(alone.max()),
                "changed": None if before is None else float((chosen != before).mean()),
                "points_gained": None if before is None else float((scores[chosen] - scores[before]).mean()),
            }
        )
        before = chosen
    Console().print(_table(results))
    if config.json is not None:
        write_json(Path(config.json), {"search": results})
    return 0


def self_play_decisions(checkpoint: Checkpoint, n: int, seed: int) -> tuple[Decisions, NDArray[np.uint64]]:
    """All decisions of `n` games of a net against itself, with the bits that break ties."""
    rules = checkpoint.rules
    games = play_games(CompiledEvaluator(checkpoint.net, rules), np.arange(n), seed, 0.0, rules)
    turn, game = np.nonzero(games.alive)
    boards, dice = games.boards[games.alive], roll_dice(seed, game, turn)
    after = legal_afterstates(boards, dice, rules)
    return Decisions(boards, dice, games.moved_first[games.alive], after), bits(seed, TIES, game, turn)


def singly(decisions: Decisions) -> Iterator[Decisions]:
    """The decisions of a batch one by one."""
    boards, dice, seats, (rows, offsets) = decisions
    for k in range(len(boards)):
        own = Afterstates(rows[offsets[k] : offsets[k + 1]], offsets[k : k + 2] - offsets[k])
        yield Decisions(boards[k : k + 1], dice[k : k + 1], seats[k : k + 1], own)


def _seconds(agent: SearchAgent, decisions: Decisions) -> tuple[float, NDArray[np.float64]]:
    before = time.thread_time()
    scores = agent.scores(decisions)
    return time.thread_time() - before, scores


def _table(results: list[dict[str, Any]]) -> Table:
    n = results[0]["decisions"]
    table = Table(title=f"{n:,} decisions", title_justify="left", caption="one thread; points by the deeper search")
    for heading in ("plies", "ms in\na batch", "ms\nalone", "95%\nunder", "most", "choice\nchanged", "points\ngained"):
        table.add_column(heading, justify="right")
    for result in results:
        times = (f"{result[name]:.2f}" for name in ("ms_in_batch", "ms_alone", "ms_alone_95_percent", "ms_alone_most"))
        if result["changed"] is None:
            change = ("", "")
        else:
            change = (f"{100 * result['changed']:.1f}%", f"{result['points_gained']:.4f}")
        table.add_row(str(result["plies"]), *times, *change)
    return table
