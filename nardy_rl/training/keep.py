"""Keeping the net of a run: weights and provenance, without the state of the training."""

import importlib.metadata
from pathlib import Path

from nardy_rl.agents.luck import load_judge
from nardy_rl.agents.registry import make_agent
from nardy_rl.agents.value import ValueAgent
from nardy_rl.config import BASELINES, KeepConfig
from nardy_rl.evaluation.arena import MatchResult, matches_as_json, round_robin
from nardy_rl.files import check_replaceable
from nardy_rl.value.checkpoint import META, WEIGHTS, load_checkpoint, save_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator
from nardy_rl.value.packing import Packing, rounded

PROVENANCE = ("run", "init", "seed", "games", "seconds", "threads", "config")


def keep(config: KeepConfig) -> list[MatchResult]:
    """Measures the net of `config.run` and writes it, with the results, to `config.out`.

    Raises:
        ValueError: The run is none, or an opponent or number is not allowed.
        FileExistsError: `config.out` is the name of something else than a kept checkpoint.
    """
    out = Path(config.out)
    check_replaceable(out, (META, WEIGHTS))
    checkpoint = load_checkpoint(config.run)
    rules = checkpoint.rules
    packing = Packing(config.half, config.pattern_bits)
    checkpoint.net.load_state_dict(rounded(checkpoint.net.state_dict(), packing))
    judge = load_judge(config.luck, rules) if config.luck else None
    agent = ValueAgent(out.name, CompiledEvaluator(checkpoint.net, rules), rules)
    results: list[MatchResult] = []
    for spec in BASELINES[rules.geometry] if config.opponents is None else config.opponents:
        opponent = make_agent(spec, rules)
        results += round_robin([agent, opponent], rules, config.pairs, config.seed, config.threads, luck=judge)
    preset = checkpoint.meta["config"]["rules"]
    provenance = {name: checkpoint.meta[name] for name in PROVENANCE if name in checkpoint.meta}
    provenance["made_with"] = {
        name: importlib.metadata.version(name) for name in ("nardy_rl", "numpy", "numba", "torch")
    }
    provenance["evaluation"] = {
        "protocol": "pairs of games on the same dice with seats swapped; points per game, 95% interval from pairs",
        "seed": config.seed,
        **matches_as_json(results, preset),
    }
    save_checkpoint(out, checkpoint.net, rules, provenance, packing)
    return results
