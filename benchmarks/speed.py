"""How fast the kit is: generation, evaluation, training, environments, start-up, memory. See speed.md.

Every figure is the median of several runs, and what is compared is run in turn, so that a noisy machine disturbs both
alike. Single thread unless said. Work is fixed by a seed: `signature` counts positions, and is the same on any machine.
"""

import bisect
import functools
import itertools
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from torch.nn import functional

from nardy_rl.config import MatchConfig, TrainConfig, iteration_games
from nardy_rl.files import write_json
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules import dice
from nardy_rl.rules.plays import Afterstates, legal_afterstates, random_afterstates
from nardy_rl.rules.spec import Rules, make_rules
from nardy_rl.training.batched import BatchedTrainer
from nardy_rl.training.selfplay import play_games
from nardy_rl.training.train import train
from nardy_rl.value.checkpoint import load_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator
from nardy_rl.value.features import active_rows
from nardy_rl.value.net import NetConfig, ValueNet, make_net

PARTS = ("random", "evaluator", "training", "vector_env", "scaling", "start")
NETS = (NetConfig(128, 16), NetConfig(256, 32))
SEED = 1
_BATCHES = (512, 1024, 2048, 4096, 8192)


@dataclass
class BenchmarkConfig:
    """What to measure.

    Attributes:
        parts: Any of `PARTS`; `soak` too, a long training run that watches its memory.
        games: Games of random play per run, side by side.
        runs: Runs per figure; the median counts.
        checkpoint: The net whose self-play gives the boards to evaluate.
        soak_minutes: Length of the `soak`.
        json: File to write the results to.
    """

    parts: list[str] = field(default_factory=lambda: list(PARTS))
    games: int = 4096
    runs: int = 7
    checkpoint: str = "checkpoints/long-quick-v1"
    soak_minutes: float = 10.0
    json: str | None = None


Results = dict[str, Any]


def measure(config: BenchmarkConfig) -> int:
    """Runs the parts, prints a table and writes `config.json`."""
    unknown = set(config.parts) - {*PARTS, "soak"}
    if unknown:
        raise ValueError(f"unknown part {min(unknown)!r}; choose from {', '.join(PARTS)}, soak")
    if config.runs < 1 or config.games < 1:
        raise ValueError(f"runs={config.runs}, games={config.games} are not allowed; give 1 or more")
    torch.set_num_threads(1)
    parts: dict[str, Callable[[BenchmarkConfig], Results]] = {
        "random": random_play,
        "evaluator": evaluator,
        "training": training,
        "vector_env": vector_env,
        "scaling": scaling,
        "start": start,
        "soak": soak,
    }
    results: Results = {}
    for name in config.parts:
        results |= parts[name](config)
        results["rss_mb"] = round(_rss_mb())
    console = Console()
    table = Table("figure", "value", title="speed", title_justify="left")
    for name, value in results.items():
        table.add_row(name, _shown(value))
    console.print(table)
    if config.json is not None:
        write_json(Path(config.json), results)
    return 0


def random_turns(n: int, seed: int, rules: Rules, first: int = 0) -> int:
    """Plays `n` games by random choices side by side to their ends; returns the number of turns."""
    games = new_games(np.arange(first, first + n), rules)
    turns = 0
    while len(games):
        thrown = roll(games, seed, rules)
        numbers = dice.bits(seed, dice.SAMPLE, games.stream, games.turn)
        turns += len(games)
        games, outcome, _ = apply(games, random_afterstates(games.boards, thrown, numbers, rules), rules)
        ended = outcome >= 0
        if ended.any():
            games = games.take(~ended)
    return turns


def random_play(config: BenchmarkConfig) -> Results:
    """Random turns per second of long and short nardy, and OpenSpiel's random rolls per second in turn with them."""
    rules, short = make_rules("official"), make_rules("short")
    signature = random_turns(config.games, SEED, rules)
    short_turns = random_turns(config.games // 4, SEED, short)
    openspiel_backgammon_rolls(5)
    long_s, short_s, yardstick = [], [], []
    for run in range(config.runs):
        long_s.append(_seconds(random_turns, config.games, SEED, rules))
        short_s.append(_seconds(random_turns, config.games // 4, SEED, short))
        before = time.perf_counter()
        rolls = openspiel_backgammon_rolls(100, seed=run)
        yardstick.append(rolls / (time.perf_counter() - before))
    ratios = [signature / s / y for s, y in zip(long_s, yardstick, strict=True)]
    return {
        "random_turns_per_s": round(signature / statistics.median(long_s)),
        "yardstick_turns_per_s": round(statistics.median(yardstick)),
        "random_ratio": round(statistics.median(ratios), 1),
        "short_random_turns_per_s": round(short_turns / statistics.median(short_s)),
        "signature": signature,
        "short_signature": short_turns,
    }


def openspiel_backgammon_rolls(n: int, seed: int = 0) -> int:
    """Plays `n` random games of OpenSpiel's backgammon through its Python API; returns the number of rolls.

    A roll is a chance node; the play of a roll takes one or two actions there, each half of a move or a double's pair.
    """
    import pyspiel  # noqa: PLC0415  (only this yardstick needs it)

    game = pyspiel.load_game("backgammon")
    draw = random.Random(seed).random
    chances: dict[int, list[float]] = {}  # cumulative, by number of outcomes: the opening roll and the others
    rolls = 0
    for _ in range(n):
        state = game.new_initial_state()
        while not state.is_terminal():
            actions = state.legal_actions()
            if state.is_chance_node():
                rolls += 1
                if len(actions) not in chances:
                    chances[len(actions)] = list(itertools.accumulate(chance for _, chance in state.chance_outcomes()))
                choice = min(bisect.bisect(chances[len(actions)], draw()), len(actions) - 1)
            else:
                choice = int(draw() * len(actions))
            state.apply_action(actions[choice])
    return rolls


def self_play_boards(checkpoint: str, n: int) -> tuple[NDArray[np.int8], NDArray[np.bool_], Afterstates]:
    """Boards, seats and afterstates of `n` games of a trained net against itself, all turns in one batch."""
    loaded = load_checkpoint(checkpoint)
    rules = loaded.rules
    games = play_games(CompiledEvaluator(loaded.net, rules), np.arange(n), SEED, 0.0, rules)
    alive = games.alive
    turn, game = np.nonzero(alive)
    boards = games.boards[alive]
    thrown = dice.roll_dice(SEED, game, turn)
    return boards, games.moved_first[alive], legal_afterstates(boards, thrown, rules)


def torch_equities(net: ValueNet, boards: NDArray[np.int8], moved_first: NDArray[np.bool_], batch: int) -> None:
    """The same net as plain torch would do it: encode, embedding bag, layers, softmax, in batches."""
    points = torch.arange(-2.0, 3.0)
    with torch.inference_mode():
        for first in range(0, len(boards), batch):
            rows, offsets = active_rows(boards[first : first + batch], moved_first[first : first + batch])
            total = functional.embedding_bag(
                torch.from_numpy(rows), net.rows, torch.from_numpy(offsets), mode="sum", include_last_offset=True
            )
            hidden = functional.relu(net.second((total + net.bias).clamp(0.0, 1.0)))
            net.last(hidden).softmax(dim=1) @ points


def evaluator(config: BenchmarkConfig) -> Results:
    """Microseconds per afterstate, compiled and by torch, on boards of real self-play."""
    boards, seats, after = self_play_boards(config.checkpoint, 24)
    flipped = np.ascontiguousarray(after.boards[:, ::-1])
    flipped_seats = ~np.repeat(seats, after.counts)
    rules = make_rules("official")
    n = len(after.boards)
    changed = (np.repeat(boards, after.counts, axis=0) != after.boards).sum() / n
    peak = multiply_add_peak()
    results: Results = {
        "afterstates_per_turn": round(n / len(boards), 1),
        "multiply_adds_peak_per_s": peak,
        "afterstate_us": {},
        "torch_afterstate_us": {},
        "evaluator_ratio": {},
        "peak_share": {},
    }
    for shape in NETS:
        net = make_net(shape, rules, SEED)
        compiled = CompiledEvaluator(net, rules, precision="int16")
        by_torch = functools.partial(torch_equities, net, flipped, flipped_seats)
        batch = min(_BATCHES, key=lambda size: _seconds(by_torch, size))
        compiled.after_play(boards, seats, after)
        ours, theirs = [], []
        for _ in range(config.runs):
            ours.append(_seconds(compiled.after_play, boards, seats, after) / n)
            theirs.append(_seconds(by_torch, batch) / n)
        name = f"{shape.hidden}/{shape.hidden2}"
        arithmetic = changed * shape.hidden + shape.hidden * shape.hidden2 + shape.hidden2 * net.outcomes
        results["afterstate_us"][name] = round(1e6 * statistics.median(ours), 4)
        results["torch_afterstate_us"][name] = round(1e6 * statistics.median(theirs), 4)
        ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
        results["evaluator_ratio"][name] = round(statistics.median(ratios), 2)
        results["peak_share"][name] = round(arithmetic / statistics.median(ours) / peak, 3)
    return results


def multiply_add_peak() -> float:
    """Multiply-adds per second of float32 that one core reaches in a large matrix product."""
    a = torch.rand(1024, 1024)
    best = min(_seconds(torch.matmul, a, a) for _ in range(10))
    return float(f"{1024**3 / best:.3g}")


def training(config: BenchmarkConfig) -> Results:
    """The whole training loop of the default config, from a net that has had some training."""
    with tempfile.TemporaryDirectory() as folder:
        match = MatchConfig(every_games=0, final_pairs=0)
        warm = train(TrainConfig(runs_dir=folder, games=4_000, match=match))
        net = load_checkpoint(warm.checkpoint).net
    trainer = BatchedTrainer(TrainConfig(games=1_000_000), make_rules("official"))
    trainer.net.load_state_dict(net.state_dict())
    games = 256 * 400  # far enough into a run for iterations of full size
    reports = []
    for iteration in range(4 * config.runs + 2):
        size = iteration_games(trainer.config, games)
        reports.append(trainer.iterate(iteration, games, size, size))
        games += size
    trainer.close()
    reports = reports[2:]
    speeds = [report.games / report.wall_s for report in reports]
    shares = [report.learn_s / (report.learn_s + report.play_s) for report in reports]
    return {
        "training_games_per_s": round(statistics.median(speeds)),
        "training_threads": trainer.config.threads,
        "learning_share": round(statistics.median(shares), 3),
    }


def vector_env(config: BenchmarkConfig) -> Results:
    """Turns per second, both sides', of the vector environment with 1,024 games and random choices."""
    import gymnasium  # noqa: PLC0415

    import nardy_rl.envs  # noqa: F401, PLC0415  (registers the ids)

    env = gymnasium.make_vec("nardy_rl/LongNardy-v0", num_envs=1024)
    _, info = env.reset(seed=SEED)
    numbers = np.random.default_rng(SEED)
    steps = 200

    def play() -> None:
        nonlocal info
        for _ in range(steps):
            _, _, _, _, info = env.step((numbers.random(1024) * info["n_afterstates"]).astype(np.int64))

    play()
    seconds = statistics.median(_seconds(play) for _ in range(config.runs))
    return {"vector_env_turns_per_s": round(2 * steps * 1024 / seconds)}  # the opponent answers every turn


def scaling(config: BenchmarkConfig) -> Results:
    """Random turns per second by games side by side and threads, and the memory of the process after each."""
    rules = make_rules("official")
    table: dict[str, dict[str, int]] = {}
    for n in (64, 256, 1024, 4096, 16_384):
        table[str(n)] = {}
        for threads in (1, 2):
            chunks = np.array_split(np.arange(n), threads)
            repeats = max(1, 8192 // n)

            def play(threads: int = threads, chunks: list[NDArray[np.int64]] = chunks, repeats: int = repeats) -> int:
                with ThreadPoolExecutor(threads) as pool:
                    return sum(
                        sum(pool.map(lambda chunk: random_turns(len(chunk), SEED, rules, int(chunk[0])), chunks))
                        for _ in range(repeats)
                    )

            turns = play()
            seconds = statistics.median(_seconds(play) for _ in range(max(3, config.runs // 2)))
            table[str(n)][f"{threads} threads"] = round(turns / seconds)
        table[str(n)]["rss_mb"] = round(_rss_mb())
    return {"scaling_turns_per_s": table}


def start(config: BenchmarkConfig) -> Results:
    """Seconds to import the rules, warm, and to compile every kernel from nothing and again from the cache."""
    imported = [_child("import nardy_rl.rules.plays") for _ in range(max(3, config.runs // 2))]
    bare = [_child("pass") for _ in range(max(3, config.runs // 2))]
    with tempfile.TemporaryDirectory() as cache:
        cold = _child(_ALL_KERNELS, NUMBA_CACHE_DIR=cache)
        cached = _child(_ALL_KERNELS, NUMBA_CACHE_DIR=cache)
    return {
        "import_s": round(statistics.median(imported) - statistics.median(bare), 3),
        "cold_compile_s": round(cold, 1),
        "cached_start_s": round(cached, 1),
    }


_ALL_KERNELS = """
import numpy as np
from nardy_rl.agents.registry import make_agent
from nardy_rl.config import TrainConfig
from nardy_rl.evaluation.arena import play_match
from nardy_rl.rules.plays import random_afterstates
from nardy_rl.rules.board import new_boards
from nardy_rl.rules.spec import make_rules
from nardy_rl.training.batched import BatchedTrainer
from nardy_rl.training.online import OnlineTrainer
rules = make_rules("official")
random_afterstates(new_boards(1, rules), np.array([[1, 2]]), np.zeros(1, np.uint64), rules)
play_match(make_agent("heuristic", rules), make_agent("bearoff", rules), rules, pairs=1, seed=0)
for kind in (BatchedTrainer, OnlineTrainer):
    trainer = kind(TrainConfig(games=1), rules)
    trainer.iterate(0, 0, 1, 0)
    trainer.close()
"""
"""Calls every compiled function of the rules, the agents, the evaluator and the trainers."""


def soak(config: BenchmarkConfig) -> Results:
    """Trains for `soak_minutes` and samples the memory of the process every ten seconds."""
    samples: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(10.0):
            samples.append(_rss_mb())

    trainer = BatchedTrainer(TrainConfig(games=10**9), make_rules("official"))
    watcher = threading.Thread(target=watch)
    watcher.start()
    games = iteration = 0
    until = time.monotonic() + 60 * config.soak_minutes
    while time.monotonic() < until:
        size = iteration_games(trainer.config, games)
        trainer.iterate(iteration, games, size, size)
        games += size
        iteration += 1
    done.set()
    watcher.join()
    trainer.close()
    third = max(1, len(samples) // 3)
    return {
        "soak_games": games,
        "soak_rss_mb": {
            "after a minute": round(samples[min(5, len(samples) - 1)]),
            "mean of the second third": round(statistics.mean(samples[third : 2 * third] or samples)),
            "mean of the last third": round(statistics.mean(samples[-third:])),
            "most": round(max(samples)),
        },
    }


def _seconds(work: Callable[..., Any], *arguments: Any) -> float:
    before = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - before


def _child(code: str, **environment: str) -> float:
    """Seconds that a fresh interpreter takes for `code`."""
    before = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | environment)
    return time.perf_counter() - before


def _rss_mb() -> float:
    """Memory of this process now, in MB (its peak where the system does not tell)."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_shown(part)}" for name, part in value.items())
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
