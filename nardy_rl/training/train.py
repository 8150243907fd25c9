"""A training run: the one readable loop.

A run's folder holds config.json, metrics.jsonl, TensorBoard events and checkpoints/GAMES/. A checkpoint of a run has,
beside the net, all that decides the further course (optimizer, counters), so that a run stopped at any point and
resumed ends with the same weights, bit for bit, as one never stopped.
"""

import copy
import dataclasses
import json
import shutil
import signal
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from nardy_rl.agents.base import Agent
from nardy_rl.agents.registry import make_agent
from nardy_rl.agents.value import ValueAgent, check_playable
from nardy_rl.config import TrainConfig, as_dict, check_train_config, iteration_games, train_config_from_dict
from nardy_rl.evaluation.arena import MatchResult, play_match
from nardy_rl.files import new_folder, write_json
from nardy_rl.rules.spec import Rules, make_rules
from nardy_rl.training.batched import BatchedTrainer
from nardy_rl.training.online import OnlineTrainer
from nardy_rl.training.report import Report, Trainer, calibration, summary
from nardy_rl.training.runlog import METRICS, RunLog
from nardy_rl.value.checkpoint import (
    RUN_CHECKPOINTS,
    CheckpointError,
    load_checkpoint,
    newest_checkpoint,
    save_tensors,
    write_checkpoint,
)
from nardy_rl.value.evaluator import CompiledEvaluator
from nardy_rl.value.net import NetConfig, ValueNet, grown
from nardy_rl.value.patterns import check_patterns
from nardy_rl.value.stages import check_stages

CONFIG = "config.json"
STATE_TENSORS, STATE = "training.safetensors", "training.json"
_LEARNING = "learning."
"""Before the names of the weights that learn, where the checkpoint's own are their average."""
MAY_CHANGE = ("games", "threads", "average", "save_minutes", "keep", "log_every", "match")
"""Fields of the config that may be given anew for a resumed run; the rest is the run's own."""


class Display(Protocol):
    """Shows a run to a person."""

    def start(self, folder: Path, config: TrainConfig, games: int) -> None:
        """The run begins, or goes on from `games`."""

    def progress(self, games: int, seconds: float, values: dict[str, float]) -> None:
        """New numbers: games played, seconds trained, the log's newest values."""

    def match(self, games: int, result: MatchResult) -> None:
        """A periodic match was played."""

    def saved(self, path: Path) -> None:
        """A checkpoint was written."""

    def stopping(self) -> None:
        """The user asked to stop; the iteration is being finished."""


class Silent:
    """Shows nothing."""

    def start(self, folder: Path, config: TrainConfig, games: int) -> None:
        """See `Display`."""

    def progress(self, games: int, seconds: float, values: dict[str, float]) -> None:
        """See `Display`."""

    def match(self, games: int, result: MatchResult) -> None:
        """See `Display`."""

    def saved(self, path: Path) -> None:
        """See `Display`."""

    def stopping(self) -> None:
        """See `Display`."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What `train` returns.

    Attributes:
        checkpoint: The newest checkpoint.
        finished: False if the run was stopped before its last game.
        games: Games trained on.
        seconds: Seconds of training, over all parts of the run, matches not counted.
        config: The config of the run; of a resumed one its own, with what was given anew.
    """

    checkpoint: Path
    finished: bool
    games: int
    seconds: float
    config: TrainConfig


@dataclasses.dataclass
class _Run:
    """A run in progress: its counters and what it works with."""

    config: TrainConfig
    rules: Rules
    folder: Path
    trainer: Trainer
    opponents: list[Agent]
    init: dict[str, Any] | None = None
    """Whose net it started from."""
    averaged: ValueNet | None = None
    """The moving average of the weights."""
    iteration: int = 0
    games: int = 0
    seconds: float = 0.0

    @property
    def net(self) -> ValueNet:
        """The net to keep and to measure."""
        return self.averaged or self.trainer.net


def train(config: TrainConfig, display: Display | None = None, given: Collection[str] | None = None) -> Outcome:
    """Trains a net by self-play, or goes on with `config.resume`.

    The first Ctrl-C (or SIGTERM) finishes the iteration, saves and returns; a second one raises KeyboardInterrupt, and
    only the work since the last checkpoint is lost.

    Args:
        config: The run.
        display: Shows it to a person.
        given: With `resume`, the fields of `config` that are meant anew (of `MAY_CHANGE`); the run's own values hold
            for the rest. By default the fields that differ from `TrainConfig()`.

    Raises:
        ValueError: A config value that is not allowed (the message names it).
        CheckpointError: `resume` is not a run or checkpoint that can be continued.
    """
    display = display or Silent()
    check_train_config(config)
    run = _resume(config, given) if config.resume else _start(config)
    config = run.config
    display.start(run.folder, config, run.games)
    previous = _agent(run, "previous")
    threads_before = torch.get_num_threads()
    torch.set_num_threads(1)  # one learner beside the threads that play; torch's own would fight them for the cores
    try:
        with RunLog(run.folder, run.games) as log, _stop_signals(display) as stop:
            checkpoint = _save(run) if run.games == 0 else newest_checkpoint(run.folder)
            saved_at, saved_games = time.monotonic(), run.games
            reports: list[Report] = []
            while run.games < config.games and not stop.is_set():
                n = iteration_games(config, run.games)
                next_n = iteration_games(config, run.games + n)
                report = run.trainer.iterate(run.iteration, run.games, n, next_n)
                match_due = _match_due(run.games, n, config.match.every_games) and run.games + n < config.games
                run.iteration += 1
                run.games += n
                run.seconds += report.wall_s
                _average(run, n)

                reports.append(report)
                if len(reports) >= config.log_every or match_due:
                    _record(run, reports, log, display, with_calibration=match_due)
                    reports = []
                if match_due:
                    _play_matches(run, [*run.opponents, previous], log, display)
                    previous = _agent(run, "previous")
                if time.monotonic() - saved_at >= 60 * config.save_minutes:
                    checkpoint = _save(run)
                    saved_at, saved_games = time.monotonic(), run.games
            if reports:  # the run is over, or was stopped between two records
                _record(run, reports, log, display, with_calibration=True)
            if saved_games < run.games:
                checkpoint = _save(run)
                display.saved(checkpoint)
    finally:
        run.trainer.close()
        torch.set_num_threads(threads_before)
    assert checkpoint is not None, "a run saves before its first game"
    return Outcome(checkpoint, run.games >= config.games, run.games, run.seconds, config)


def final_matches(outcome: Outcome) -> list[MatchResult]:
    """Plays the run's newest net against its baselines, `match.final_pairs` pairs each."""
    config, rules = outcome.config, make_rules(outcome.config.rules, outcome.config.options)
    match = config.match
    if match.final_pairs == 0:
        return []
    agent = make_agent(str(outcome.checkpoint.parent.parent), rules)  # the run: a shorter name in the table
    opponents = [make_agent(spec, rules) for spec in match.specs(rules)]
    results = [play_match(agent, b, rules, match.final_pairs, match.seed, config.threads) for b in opponents]
    with RunLog(outcome.checkpoint.parent.parent, outcome.games) as log:
        for result in results:
            log.record(outcome.games, outcome.seconds, _match_values(result))
    return results


def _start(config: TrainConfig) -> _Run:
    """A new run in a folder of its own."""
    rules = make_rules(config.rules, config.options)
    check_stages(config.net.stages, rules)
    net, init = None, None
    if config.init is not None:
        start = load_checkpoint(config.init)
        check_playable(start, rules)
        asked = {name: value for name, value in vars(config.net).items() if value != getattr(NetConfig(), name)}
        config = dataclasses.replace(config, net=dataclasses.replace(start.net.config, **asked))
        check_patterns(config.net.patterns, rules)
        net = grown(start.net, config.net, config.seed)
        init = {name: start.meta.get(name) for name in ("run", "games", "init")}
    trainer = _make_trainer(config, rules, net)
    opponents = [make_agent(spec, rules) for spec in config.match.specs(rules)]
    folder = _free_folder(Path(config.runs_dir), config.name)
    write_json(folder / CONFIG, as_dict(config))
    averaged = copy.deepcopy(trainer.net) if config.average else None
    return _Run(config, rules, folder, trainer, opponents, init, averaged)


def _resume(config: TrainConfig, given: Collection[str] | None) -> _Run:
    """The run of `config.resume`, as it was when that checkpoint was saved."""
    if given is None:
        given = [name for name in MAY_CHANGE if getattr(config, name) != getattr(TrainConfig(), name)]
    fixed = sorted(set(given) - {*MAY_CHANGE, "resume", "name", "runs_dir", "experiment"})
    if fixed:
        raise ValueError(f"{fixed[0]} cannot be given anew for a resumed run; only {', '.join(MAY_CHANGE)} can")
    path = Path(str(config.resume))
    try:
        checkpoint = load_checkpoint(path)
    except CheckpointError as error:
        older = sorted((path / RUN_CHECKPOINTS).glob("[0-9]*"))[:-1]
        if not older:
            raise
        raise CheckpointError(f"{error}. The checkpoint before it may be whole: resume={older[-1]}") from error
    folder = checkpoint.path.parent.parent
    try:
        if not (checkpoint.path / STATE).exists():
            raise CheckpointError(
                f"{checkpoint.path} cannot be resumed: it is a kept net, without the training's state"
            )
        state = json.loads((checkpoint.path / STATE).read_text(encoding="utf-8"))
        saved = train_config_from_dict(state["config"])
        tensors = load_file(str(checkpoint.path / STATE_TENSORS))
        counters = int(state["iteration"]), int(state["games"]), float(state["seconds"])
    except CheckpointError:
        raise
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise CheckpointError(f"{checkpoint.path} cannot be resumed: {error}") from error
    changes = {name: getattr(config, name) for name in MAY_CHANGE if name in given}
    config = dataclasses.replace(saved, resume=str(path), **changes)
    check_train_config(config)
    if config.games < counters[1]:
        raise ValueError(f"games={config.games} is not allowed: this run has played {counters[1]} already")
    trainer = _make_trainer(config, checkpoint.rules)
    opponents = [make_agent(spec, checkpoint.rules) for spec in config.match.specs(checkpoint.rules)]
    learning = {name.removeprefix(_LEARNING): value for name, value in tensors.items() if name.startswith(_LEARNING)}
    try:
        trainer.net.load_state_dict(learning or checkpoint.net.state_dict())
        trainer.load_state({name: value for name, value in tensors.items() if not name.startswith(_LEARNING)})
    except (KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{checkpoint.path / STATE_TENSORS} is damaged: {error}") from error
    for leftover in (folder / RUN_CHECKPOINTS).glob(".*"):  # of a run that was killed while saving
        shutil.rmtree(leftover, ignore_errors=True)
    if any(other.name > checkpoint.path.name for other in (folder / RUN_CHECKPOINTS).glob("[0-9]*")):
        folder = _branch(folder, checkpoint.path)
    averaged = checkpoint.net if config.average else None
    init = checkpoint.meta.get("init")
    return _Run(config, checkpoint.rules, folder, trainer, opponents, init, averaged, *counters)


def _branch(run: Path, checkpoint: Path) -> Path:
    """A new run that begins with an older checkpoint of `run`; what that run did afterwards stays in its folder."""
    folder = _free_folder(run.parent, run.name)
    shutil.copytree(checkpoint, folder / RUN_CHECKPOINTS / checkpoint.name)
    for name in (CONFIG, METRICS):
        if (run / name).exists():
            shutil.copy(run / name, folder / name)
    return folder


def _make_trainer(config: TrainConfig, rules: Rules, net: ValueNet | None = None) -> Trainer:
    return OnlineTrainer(config, rules, net) if config.algorithm == "online" else BatchedTrainer(config, rules, net)


def _average(run: _Run, n: int) -> None:
    """Moves the average of the weights towards those that `n` more games have led to.

    The step is n / (average * games so far): the longer the run, the longer the memory (polynomial-decay averaging;
    Shamir and Zhang, "Stochastic gradient descent for non-smooth optimization", ICML 2013).
    """
    if run.averaged is None:
        return
    step = min(1.0, n / (run.config.average * run.games))
    with torch.no_grad():
        for mean, value in zip(run.averaged.parameters(), run.trainer.net.parameters(), strict=True):
            mean.lerp_(value, step)


def _free_folder(parent: Path, name: str) -> Path:
    """Creates parent/name, or parent/name-2, -3 ... if there is a run of that name already."""
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _save(run: _Run) -> Path:
    """Writes a checkpoint from which the run can go on, and drops the oldest ones."""
    parent = newest_checkpoint(run.folder)
    path = run.folder / RUN_CHECKPOINTS / f"{run.games:010d}"
    config = as_dict(run.config)
    provenance: dict[str, Any] = {
        "run": run.folder.name,
        "parent": parent.name if parent else None,
        "init": run.init,
        "seed": run.config.seed,
        "games": run.games,
        "seconds": round(run.seconds, 1),
        "threads": run.config.threads,
        "config": config,
        "evaluation": None,
    }
    with new_folder(path) as folder:
        write_checkpoint(folder, run.net, run.rules, provenance)
        state = run.trainer.state()
        if run.averaged is not None:
            state |= {f"{_LEARNING}{name}": value for name, value in run.trainer.net.state_dict().items()}
        save_tensors(folder / STATE_TENSORS, state)
        counters = {"iteration": run.iteration, "games": run.games, "seconds": run.seconds}
        write_json(folder / STATE, {**counters, "config": config})
    saved = sorted((run.folder / RUN_CHECKPOINTS).glob("[0-9]*"))
    for old in saved[: -run.config.keep]:
        shutil.rmtree(old)
    return path


def _record(run: _Run, reports: list[Report], log: RunLog, display: Display, with_calibration: bool) -> None:
    """Logs and shows what some iterations came to."""
    values = summary(reports)
    log.record(run.games, run.seconds, values)
    if with_calibration:
        log.calibration(run.games, calibration(reports))
    display.progress(run.games, run.seconds, values)


def _agent(run: _Run, name: str) -> ValueAgent:
    """The net as it is now, as an agent."""
    return ValueAgent(name, CompiledEvaluator(run.net, run.rules), run.rules)


def _play_matches(run: _Run, opponents: list[Agent], log: RunLog, display: Display) -> None:
    """Periodic matches of the net as it is now."""
    match = run.config.match
    if match.pairs == 0:
        return
    agent = _agent(run, run.folder.name)
    for opponent in opponents:
        result = play_match(agent, opponent, run.rules, match.pairs, match.seed, threads=run.config.threads)
        log.record(run.games, run.seconds, _match_values(result))
        display.match(run.games, result)


def _match_values(result: MatchResult) -> dict[str, float]:
    """A match as it stands in the log."""
    name = f"match_{Path(result.b).name}"
    return {
        f"{name}/points_per_game": result.ppg,
        f"{name}/ci95_half_width": (result.ci95[1] - result.ci95[0]) / 2,
        f"{name}/win_rate": result.win,
        f"{name}/mars_for": result.mars_for,
    }


def _match_due(games: int, n: int, every: int) -> bool:
    """Do `n` more games pass a multiple of `every`, or a half, quarter, 8th or 16th of it on the way to the first?"""
    marks = [every * (games // every + 1) if every else 0, *(every // part for part in (2, 4, 8, 16))]
    return any(games < mark <= games + n for mark in marks)


@contextmanager
def _stop_signals(display: Display) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C or SIGTERM sets. A second Ctrl-C interrupts at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # signals belong to the main thread; a caller in another one stops the run in his own way
        return

    def ask(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        display.stopping()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
