"""The schema of every command and its default values: the only home of defaults (configs/ holds overlays).

Plain dataclasses, so that a notebook calls `train(TrainConfig(games=5_000))` and hydra reads the same fields.
"""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

from nardy_rl.value.net import NetConfig

SHAPES = ("linear", "exponential", "step")
ALGORITHMS = ("batched", "online")


@dataclass
class Schedule:
    """A number that changes over a run, as a function of the share of its games already played.

    Attributes:
        start: Value at the start of the run.
        end: Value at its end.
        shape: `linear` | `exponential` (constant ratio; start and end > 0) | `step` (start, then end from `step_at`).
        step_at: Share of the games after which a `step` is taken, 0..1.
    """

    start: float
    end: float
    shape: str = "linear"
    step_at: float = 0.5

    def at(self, progress: float) -> float:
        """The value when `progress` (0..1) of the games are played."""
        if self.shape == "step":
            return self.start if progress < self.step_at else self.end
        progress = min(max(progress, 0.0), 1.0)
        if self.shape == "exponential":
            return self.start * math.exp(progress * math.log(self.end / self.start))
        return self.start + progress * (self.end - self.start)

    def check(self, name: str, low: float, high: float) -> None:
        """Raises a ValueError unless the schedule is well formed and stays within low..high."""
        if self.shape not in SHAPES:
            raise ValueError(f"{name}.shape={self.shape!r} is not allowed; choose one of {', '.join(SHAPES)}")
        for value in (self.start, self.end):
            if not low <= value <= high:
                raise ValueError(f"{name}={value} is not allowed; give {low:g}..{high:g}")
        if self.shape == "exponential" and min(self.start, self.end) <= 0:
            raise ValueError(f"{name} is exponential and must stay above 0, not {self.start}..{self.end}")
        if not 0 <= self.step_at <= 1:
            raise ValueError(f"{name}.step_at={self.step_at} is not allowed; give 0..1")


@dataclass
class MatchConfig:
    """Matches played during and after a training run.

    Attributes:
        opponents: Agent specs; the previous checkpoint of the run is always added to the periodic ones.
        every_games: Training games between periodic matches; 0 = none. On the way to the first, when a net learns most,
            there are others after a half, a quarter, an 8th and a 16th of that.
        pairs: Pairs of games per periodic match.
        final_pairs: Pairs per match when the run ends; 0 = none.
        seed: Seed of the dice, apart from the run's own.
    """

    opponents: list[str] = field(default_factory=lambda: ["random", "heuristic"])
    every_games: int = 20_000
    pairs: int = 200
    final_pairs: int = 2_000
    seed: int = 1_000_003


@dataclass
class TrainConfig:
    """One training run.

    Attributes:
        name: The run's folder is `runs_dir`/`name`.
        runs_dir: Where runs are kept.
        rules: Preset, see `rules.spec.PRESETS`.
        options: Rule options that differ from the preset.
        seed: Seed of everything random in the run.
        games: Self-play games to train on.
        algorithm: `batched` (lambda-returns over whole games, Adam) | `online` (TD(lambda) with eligibility traces).
        games_per_iteration: Games played with one set of weights, then learnt from, at most: see `iteration_games`.
        batches: Gradient steps per iteration (`batched`): one pass over its positions in so many random batches.
        net: Shape of the net.
        lr: Learning rate.
        lam: Lambda of the returns or of the traces, 0..1.
        exploration: Probability that a play is drawn at random instead of the best one.
        threads: Threads that play; learning uses one more. The result does not depend on it.
        overlap: Play the next games while learning from the last ones (so with weights one iteration older).
        save_minutes: Minutes between checkpoints.
        keep: Checkpoints kept, the newest ones.
        log_every: Iterations between log records.
        match: Matches during and after the run.
        resume: A run folder or a checkpoint of one: continue it. The run's saved config then holds; only `games`,
            `threads`, `save_minutes`, `keep`, `log_every` and `match` may be given anew.
    """

    name: str = "long"
    runs_dir: str = "runs"
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    games: int = 100_000
    algorithm: str = "batched"
    games_per_iteration: int = 256
    batches: int = 48
    net: NetConfig = field(default_factory=NetConfig)
    lr: Schedule = field(default_factory=lambda: Schedule(1e-3, 5e-5, "exponential"))
    lam: Schedule = field(default_factory=lambda: Schedule(0.7, 0.5, "step"))
    exploration: Schedule = field(default_factory=lambda: Schedule(0.0, 0.0))
    threads: int = 2
    overlap: bool = True
    save_minutes: float = 5.0
    keep: int = 3
    log_every: int = 4
    match: MatchConfig = field(default_factory=MatchConfig)
    resume: str | None = None


@dataclass
class EvaluateConfig:
    """A round robin between agents.

    Attributes:
        agents: Two or more agent specs.
        rules: Preset, see `rules.spec.PRESETS`.
        options: Rule options that differ from the preset.
        pairs: Pairs of games per match, same dice with seats swapped.
        seed: Seed of the dice and of ties.
        threads: Threads that play; the result does not depend on it.
        json: File to write the results to.
    """

    agents: list[str] = field(default_factory=lambda: ["checkpoints/long-quick-v1", "heuristic", "random"])
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    pairs: int = 1_000
    seed: int = 1
    threads: int = 2
    json: str | None = None


@dataclass
class KeepConfig:
    """Keeps the net of a run, with the record of how strong it is.

    Attributes:
        run: Folder of a training run, or one of its checkpoints.
        out: Folder of the kept checkpoint.
        opponents: Agent specs it is measured against.
        pairs: Pairs of games per match, same dice with seats swapped.
        seed: Seed of the dice and of ties.
        threads: Threads that play; the result does not depend on it.
    """

    run: str = "runs/quick"
    out: str = "checkpoints/long-quick-v1"
    opponents: list[str] = field(default_factory=lambda: ["random", "pips", "bearoff", "heuristic"])
    pairs: int = 2_000
    seed: int = 1
    threads: int = 2


@dataclass
class PicturesConfig:
    """Pictures of a run.

    Attributes:
        run: Folder of a training run.
        out: Folder for the pictures, learning_curve.svg and board.svg.
        seed: Dice of the game whose position is drawn.
        turn: Turn of that game, both sides played by the run's net.
    """

    run: str = "runs/quick"
    out: str = "docs"
    seed: int = 5
    turn: int = 30


MIN_ITERATION_GAMES = 32
ITERATION_SHARE = 128


def iteration_games(config: TrainConfig, games_done: int) -> int:
    """Games of the iteration that begins when `games_done` games are played.

    A 128th of the games so far, from 32 up to `games_per_iteration`: at first the net knows nothing, and each game it
    learns from makes the next ones better worth playing. After 10,000 games that is worth 1.6 points per game against
    the heuristic over 256 games an iteration from the start.
    """
    wanted = max(MIN_ITERATION_GAMES, games_done // ITERATION_SHARE)
    return min(wanted, config.games_per_iteration, config.games - games_done)


def check_train_config(config: TrainConfig) -> None:
    """Raises a ValueError that names the field, its value and what is allowed."""
    if config.algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm={config.algorithm!r} is not allowed; choose one of {', '.join(ALGORITHMS)}")
    if not config.name or "/" in config.name or config.name.startswith("."):
        raise ValueError(f"name={config.name!r} is not allowed; give the name of a folder")
    at_least: dict[str, int] = {
        "games": 1, "games_per_iteration": 1, "batches": 1, "threads": 1, "keep": 1, "log_every": 1,
    }  # fmt: skip
    for name, low in at_least.items():
        if getattr(config, name) < low:
            raise ValueError(f"{name}={getattr(config, name)} is not allowed; give {low} or more")
    if not 0 < config.save_minutes < math.inf:
        raise ValueError(f"save_minutes={config.save_minutes} is not allowed; give more than 0")
    for name, seed in (("seed", config.seed), ("match.seed", config.match.seed)):
        if not 0 <= seed < 2**63:
            raise ValueError(f"{name}={seed} is not allowed; give 0 to 2**63 - 1")
    config.lr.check("lr", 0.0, 10.0)
    config.lam.check("lam", 0.0, 1.0)
    config.exploration.check("exploration", 0.0, 1.0)
    for name in ("every_games", "pairs", "final_pairs"):
        if getattr(config.match, name) < 0:
            raise ValueError(f"match.{name}={getattr(config.match, name)} is not allowed; give 0 or more")


def as_dict(config: Any) -> dict[str, Any]:
    """A config as plain JSON values."""
    return dataclasses.asdict(config)


def train_config_from_dict(values: dict[str, Any]) -> TrainConfig:
    """The inverse of `as_dict` for a `TrainConfig`."""
    parts: dict[str, Any] = dict(values)
    for name, kind in (
        ("net", NetConfig), ("lr", Schedule), ("lam", Schedule), ("exploration", Schedule), ("match", MatchConfig),
    ):  # fmt: skip
        parts[name] = kind(**parts[name])
    return TrainConfig(**parts)
