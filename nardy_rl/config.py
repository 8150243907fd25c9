"""The schema of every command and its default values: the only home of defaults (configs/ holds overlays).

Plain dataclasses, so that a notebook calls `train(TrainConfig(games=5_000))` and hydra reads the same fields.
"""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

from nardy_rl.agents.external import ExternalConfig
from nardy_rl.agents.rollout import RolloutSettings
from nardy_rl.agents.search import SearchConfig
from nardy_rl.cube.chances import CONTACT_EFFICIENCY
from nardy_rl.cube.player import CubeConfig
from nardy_rl.rules.spec import Rules
from nardy_rl.value.net import NetConfig

SHAPES = ("linear", "exponential", "step")
ALGORITHMS = ("batched", "backup", "rollouts", "online")
KEPT_NETS = {"long": "checkpoints/long-official-v1", "short": "checkpoints/short-v1"}
"""The strongest net kept with the project, by geometry."""
BASELINES = {"long": ("random", "pips", "bearoff", "heuristic"), "short": ("random", "pips", "bearoff")}
"""The agents without a net, by geometry, the weakest first."""


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
        opponents: Agent specs; None = the weakest and the strongest of `BASELINES` for the rules. The previous
            checkpoint of the run is always added to the periodic ones.
        every_games: Training games between periodic matches; 0 = none. On the way to the first, when a net learns most,
            there are others after a half, a quarter, an 8th and a 16th of that.
        pairs: Pairs of games per periodic match.
        final_pairs: Pairs per match when the run ends; 0 = none.
        seed: Seed of the dice, apart from the run's own.
    """

    opponents: list[str] | None = None
    every_games: int = 20_000
    pairs: int = 200
    final_pairs: int = 2_000
    seed: int = 1_000_003

    def specs(self, rules: Rules) -> list[str]:
        """Specs of the opponents under these rules."""
        baselines = BASELINES[rules.geometry]
        return [baselines[0], baselines[-1]] if self.opponents is None else self.opponents


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
        algorithm: `batched` (lambda-returns over whole games, Adam) | `backup` (the same, with the mean over all rolls
            of the best play in place of the roll that was thrown) | `rollouts` (positions of the games are rolled out,
            and the net fitted to their equities) | `online` (TD(lambda) with eligibility traces).
        games_per_iteration: Games played with one set of weights, then learnt from, at most: see `iteration_games`.
        batches: Gradient steps per pass over an iteration's positions, each on a random batch of them.
        passes: Passes over an iteration's positions: more than one pays where a target costs more than a step.
        search_share: Share of the positions that are searched one ply ahead (`backup`; the rest keeps the roll that was
            thrown) or rolled out (`rollouts`; the rest is not learnt from).
        rollout_trials: Trials of a rollout, a multiple of 36, each with the luck taken out.
        rollout_turns: Turns of a trial before the net's own lookahead stands for the rest.
        average: The net that is kept and measured is a moving average of the weights, over about this share of the
            games so far; 0 = the weights themselves. Games are played by the weights themselves.
        init: A checkpoint or run whose newest net the run starts from, with a fresh optimizer; it brings its shape,
            which may be made larger.
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
            `threads`, `average`, `save_minutes`, `keep`, `log_every` and `match` may be given anew.
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
    passes: int = 1
    search_share: float = 1.0
    rollout_trials: int = 36
    rollout_turns: int = 8
    average: float = 0.0
    init: str | None = None
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
        agents: Two or more agent specs; none given = the strongest kept net for the rules (`KEPT_NETS`), the strongest
            of `BASELINES`, and `random`.
        rules: Preset, see `rules.spec.PRESETS`.
        options: Rule options that differ from the preset.
        pairs: Pairs of games per match, same dice with seats swapped.
        seed: Seed of the dice and of ties.
        threads: Threads that play; the result does not depend on it.
        json: File to write the results to.
        search: Move filters of the agents that search (PATH@1ply, ...).
        external: Patience with external programs.
        luck: A checkpoint, or a run, whose net judges the luck of every roll; results are then also given less luck.
        cube: The doubling cube of short nardy (docs/cube.md): `none` | `money` | `match` (pairs are then of matches).
        length: Points that win a match (`cube=match`).
        doubling: How the cube is played.
    """

    agents: list[str] = field(default_factory=list)
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    pairs: int = 1_000
    seed: int = 1
    threads: int = 2
    json: str | None = None
    search: SearchConfig = field(default_factory=SearchConfig)
    external: ExternalConfig = field(default_factory=ExternalConfig)
    luck: str | None = None
    cube: str = "none"
    length: int = 7
    doubling: CubeConfig = field(default_factory=CubeConfig)


@dataclass
class RolloutCommandConfig:
    """Rolls out the best plays of a roll, or a position before the roll.

    Attributes:
        position: Mover and opponent, each in its own numbering, as `24:13 18:2 | 24:15`; borne off is `off:3`. In short
            nardy also an XGID, or an ID of GNU Backgammon. None = the start of a game.
        dice: The roll to play, as `64`; none = that of the ID, or, if it has none, the position itself is rolled out.
        moved_first: Did the player on roll make the first move of the game (who draws depends on it, R5.4).
        agent: The net that plays both sides and judges the luck: a checkpoint, or a training run (its newest one);
            None = the strongest kept net for the rules, see `KEPT_NETS`.
        candidates: Plays compared, at most, by the net's own order.
        within: Plays further behind the net's best one than this are left out, points.
        rules: Preset, see `rules.spec.PRESETS`.
        options: Rule options that differ from the preset.
        rollout: How many trials, of what kind, and when to stop.
        threads: Threads that play; the result does not depend on it.
        state: File that keeps the trials, so that a stopped rollout goes on where it was.
        json: File to write the result to.
    """

    position: str | None = None
    dice: str | None = None
    moved_first: bool = True
    agent: str | None = None
    candidates: int = 6
    within: float = 0.2
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    rollout: RolloutSettings = field(
        default_factory=lambda: RolloutSettings(
            trials=36 * 36 * 48,
            min_trials=36 * 36,
            truncate=20,
            variance_reduction=False,
            stop_se=0.004,
            out_of_reach=4.0,
        )
    )
    threads: int = 2
    state: str | None = None
    json: str | None = None


@dataclass
class PositionConfig:
    """Shows a position, and writes it in the other notations (docs/records.md).

    Attributes:
        position: Mover and opponent as in `24:13 18:2 | 24:15`; in short nardy also an XGID or an ID of GNU Backgammon.
        rules: Preset, see `rules.spec.PRESETS`.
    """

    position: str = "4HPwATDgc/ABMA"
    rules: str = "short"


@dataclass
class CubeDecisionConfig:
    """The cube decision of a position of short nardy, before the throw (docs/cube.md).

    Attributes:
        position: An XGID, or an ID of GNU Backgammon. Score, cube, Crawford, Jacoby and beavers are the ID's own. Or a
            position as `4:1 off:14 | 6:1 off:14`: money play, the cube in the middle, without Jacoby or beavers.
        agent: Spec of the net that judges; None = the strongest kept net, see `KEPT_NETS`.
        efficiency: Cube efficiency while there is contact, from 0 (dead cube) to 1 (live cube).
        json: File to write the result to.
    """

    position: str = "XGID=-a-B--E-B-a-dDB--b-bcb----:0:0:1:00:0:0:0:0:10"
    agent: str | None = None
    efficiency: float = CONTACT_EFFICIENCY
    json: str | None = None


@dataclass
class LeagueConfig:
    """A round robin that is kept in a folder, `leagues_dir`/`name`, and goes on where it stopped.

    Attributes:
        name: Name of the folder.
        leagues_dir: Where leagues are kept.
        agents: Specs of agents that join; those of the league need not be named again. A path with `*`, `?` or `[...]`
            stands for all checkpoints it fits, a run's folder for its newest one.
        rules: Preset, see `rules.spec.PRESETS`. This and the next four belong to the league: they cannot be changed
            once it has begun, and need not be repeated.
        options: Rule options that differ from the preset.
        pairs: Pairs of games per match, same dice with seats swapped.
        seed: Seed of the dice and of ties.
        search: Move filters of the agents that search.
        threads: Threads that play; the result does not depend on it.
        bootstrap: Resamplings of the pairs behind the intervals of the ratings.
        retry_forfeits: Play forfeited matches again.
        external: Patience with external programs.
    """

    name: str = "league"
    leagues_dir: str = "leagues"
    agents: list[str] = field(default_factory=list)
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    pairs: int = 500
    seed: int = 1
    search: SearchConfig = field(default_factory=SearchConfig)
    threads: int = 2
    bootstrap: int = 1_000
    retry_forfeits: bool = False
    external: ExternalConfig = field(default_factory=ExternalConfig)


@dataclass
class PlayConfig:
    """A person against an agent in the terminal.

    Attributes:
        agent: Spec of the opponent; None = the strongest kept net for the rules, see `KEPT_NETS`.
        hints: Spec of the agent that gives the hints; None = the opponent.
        rules: Preset, see `rules.spec.PRESETS`.
        options: Rule options that differ from the preset.
        seed: Seed of the dice and lots; None = a new one, which is shown.
        first: Who starts the first game: `lot` | `you` | `bot`.
        games: Games of the match, where `points` is None.
        points: Points that win the match.
        dice: `seed` = thrown by the seed | `ask` = the person types both sides' dice, from a real board.
        auto: Turns with only one play are played for the person.
        name: The person's name, in records.
        save: File of the record; None = a new one under games/, named by the time, or the one that is resumed.
        resume: File of a saved match: go on with it. The rules, the score and the dice are then its own.
        cube: Short nardy with the doubling cube (R8.6): a match with the Crawford rule if `points` is given, else money
            play.
        doubling: How the cube is played; beavers are not.
    """

    agent: str | None = None
    hints: str | None = None
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    first: str = "lot"
    games: int = 1
    points: float | None = None
    dice: str = "seed"
    auto: bool = True
    name: str = "human"
    save: str | None = None
    resume: str | None = None
    cube: bool = False
    doubling: CubeConfig = field(default_factory=CubeConfig)


@dataclass
class BearoffConfig:
    """Builds a bear-off table, or checks one.

    Attributes:
        men: Most checkers a side still has on the board, 1..15.
        points: Highest point a checker may stand on, 1..6 (below 6 the table is small, and so is what it covers).
        rules: Preset, see `rules.spec.PRESETS`.
        options: Rule options that differ from the preset.
        threads: Threads that compute; the result does not depend on it.
        folder: Where tables are kept; None = where agents look for them (NARDY_RL_TABLES, or `tables`).
        max_gb: Tables larger than this are refused: a table is built in memory.
        one_sided: File (.npz) to write the one-sided table of `men` to: turns until all is off.
        check: Folder of a table; nothing is built, the checksum of all its bytes is computed.
    """

    men: int = 10
    points: int = 6
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    threads: int = 2
    folder: str | None = None
    max_gb: float = 6.0
    one_sided: str | None = None
    check: str | None = None


@dataclass
class BearoffErrorConfig:
    """A net against the exact endgame.

    Attributes:
        agent: A checkpoint folder, or that of a training run (its newest one); None = the strongest kept net for the
            rules, see `KEPT_NETS`.
        table: Folder of the table; None = the largest one for these rules where agents look for them.
        rules: Preset, see `rules.spec.PRESETS`.
        options: Rule options that differ from the preset.
        games: Games the net plays against itself.
        seed: Seed of the dice and of ties.
    """

    agent: str | None = None
    table: str | None = None
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    games: int = 1_000
    seed: int = 1


@dataclass
class ReferenceSetConfig:
    """Builds a reference set: decisions of self-play with the loss of each of their plays, by rollouts or by gnubg.

    Attributes:
        judge: The net that plays the games, picks the candidates and rolls them out: a checkpoint, or a training run
            (its newest one). Or `gnubg:PLIES`, which judges every play by looking so far ahead, without rollouts.
        players: Nets, or `gnubg:0`, that play the games instead, every one against every one and itself; none for the
            judge (of `gnubg:PLIES`, for `gnubg:0`).
        others: Agent specs whose plays are rolled out too.
        rules: Preset, see `rules.spec.PRESETS`.
        options: Rule options that differ from the preset.
        games: Games of self-play that the decisions are drawn from.
        decisions: Decisions of the set.
        candidates: Plays rolled out, at most, by the judge one ply ahead (those of `others` come on top).
        within: Plays further behind the judge's best one than this are left out, points.
        rollout: How many trials, of what kind, and when to stop.
        seed: Seed of games and draw.
        threads: Threads that play; the result does not depend on it.
        work: Folder of what is finished, so that a stopped build goes on where it was.
        out: File of the set (.npz).
    """

    judge: str = "checkpoints/long-official-v1"
    players: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=lambda: ["checkpoints/long-quick-v1", "checkpoints/long-quick-v1@1ply"])
    rules: str = "official"
    options: dict[str, Any] = field(default_factory=dict)
    games: int = 2_000
    decisions: int = 2_100
    candidates: int = 5
    within: float = 0.1
    rollout: RolloutSettings = field(
        default_factory=lambda: RolloutSettings(
            trials=36 * 36 * 96, min_trials=36 * 18, truncate=6, variance_reduction=False, stop_se=0.0039
        )
    )
    seed: int = 1
    threads: int = 2
    work: str = "runs/reference_set"
    out: str = "nardy_rl/data/reference_official.npz"


@dataclass
class ErrorRateConfig:
    """What an agent loses per decision, by a reference set.

    Attributes:
        agent: Spec of the agent; None = the strongest kept net for the rules, see `KEPT_NETS`.
        reference: File of the set; None = the package's own for `rules`.
        rules: Preset whose set is taken.
        worst: Worst decisions to show.
        json: File to write the results to.
        search: Move filters of agents that search (PATH@1ply, ...).
        external: Patience with external programs.
    """

    agent: str | None = None
    reference: str | None = None
    rules: str = "official"
    worst: int = 5
    json: str | None = None
    search: SearchConfig = field(default_factory=SearchConfig)
    external: ExternalConfig = field(default_factory=ExternalConfig)


@dataclass
class OpeningBookConfig:
    """Shows an opening book, or builds one.

    Attributes:
        rules: Preset, see `rules.spec.PRESETS`.
        reply_to: A first roll, as `31`: the answers to its best play are shown instead of the first rolls.
        book: File of the book to show; None = the package's own for `rules`.
        page: File to write the package's books to, as a page in Markdown.
        build: Roll a book out, show it and write it to `out`. All that follows is for this alone.
        options: Rule options that differ from the preset.
        judge: The net that plays both sides: a checkpoint, or a training run (its newest one); None = the strongest
            kept net for the rules, see `KEPT_NETS`.
        replies: Roll out the replies too, not only the first rolls.
        candidates: Plays of a roll rolled out, at most, by the judge's own order.
        within: Plays further behind the judge's best one than this are left out, points.
        rollout: How many trials, of what kind, and when to stop.
        edge_trials: Games played to their end for the first player's edge, a multiple of 36.
        threads: Threads that play; the result does not depend on it.
        state: Folder that keeps the trials, so that a stopped build goes on where it was.
        out: File of the book (.json).
    """

    rules: str = "official"
    reply_to: str | None = None
    book: str | None = None
    page: str | None = None
    build: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    judge: str | None = None
    replies: bool = True
    candidates: int = 5
    within: float = 0.5
    rollout: RolloutSettings = field(
        default_factory=lambda: RolloutSettings(
            trials=36 * 36 * 48, min_trials=36 * 36 * 8, truncate=20, variance_reduction=False, stop_se=0.003
        )
    )
    edge_trials: int = 36 * 36 * 160
    threads: int = 2
    state: str | None = None
    out: str = "opening_book.json"


@dataclass
class AnalyseConfig:
    """Judges the games of a file, turn by turn.

    Attributes:
        file: The games: text format or .mat (docs/records.md).
        agent: The net that judges: a checkpoint, or a training run (its newest one); None = the strongest kept net for
            the rules, see `KEPT_NETS`.
        depth: How deep plays are judged: `0ply`, `1ply`, `2ply`, ... or `rollout`. Luck is always judged at 0ply.
        worst: Worst mistakes to draw.
        html: File to write the report to, as one page.
        json: File to write all figures to.
        search: Move filters of the search.
        rollout: How many trials, of what kind, and when to stop (depth `rollout`).
        candidates: Plays of a turn that are rolled out, at most: the best ones one ply ahead, and the one made.
        within: Plays further behind the best one than this are not rolled out, points.
        threads: Threads that play rollouts; the result does not depend on it.
    """

    file: str | None = None
    agent: str | None = None
    depth: str = "2ply"
    worst: int = 5
    html: str | None = None
    json: str | None = None
    search: SearchConfig = field(default_factory=SearchConfig)
    rollout: RolloutSettings = field(
        default_factory=lambda: RolloutSettings(trials=36 * 16, min_trials=36 * 4, stop_se=0.01, out_of_reach=3.0)
    )
    candidates: int = 4
    within: float = 0.1
    threads: int = 2


@dataclass
class KeepConfig:
    """Keeps the net of a run, with the record of how strong it is.

    Attributes:
        run: Folder of a training run, or one of its checkpoints.
        out: Folder of the kept checkpoint.
        opponents: Agent specs it is measured against; None = all `BASELINES` for its rules.
        pairs: Pairs of games per match, same dice with seats swapped.
        luck: Net, or `gnubg:0`, that judges the luck of every roll, to take it out of the results; none = not done.
        half: Keep the weights in 16 bits, which halves the file. It is the rounded net that is measured.
        pattern_bits: Keep the rows of patterns in 2 to 8 bits; 0 = as the other weights.
        seed: Seed of the dice and of ties.
        threads: Threads that play; the result does not depend on it.
    """

    run: str = "runs/quick"
    out: str = "checkpoints/long-quick-v1"
    opponents: list[str] | None = None
    pairs: int = 2_000
    luck: str | None = None
    half: bool = False
    pattern_bits: int = 0
    seed: int = 1
    threads: int = 2


@dataclass
class ErrorCurveConfig:
    """The error rate of every net that runs saved on their way.

    Attributes:
        runs: Run folders, each begun from the last net of the one before; a checkpoint may stand for a run.
        rules: Preset whose reference set is taken.
        reference: File of the set; None = the package's own for `rules`.
        out: File for the picture (.svg).
    """

    runs: list[str] = field(default_factory=list)
    rules: str = "official"
    reference: str | None = None
    out: str = "error_curve.svg"


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


@dataclass
class CompareConfig:
    """The comparison of trainers of docs/training_comparison.md.

    Attributes:
        runs_dir: Where its runs are kept; finished ones are not played again.
        out: Folder for the picture.
        games: Games of the batched runs; those whose games cost more processor time get fewer.
        seed: Seed of every run.
        pairs: Pairs of games per match on the way of a run.
        final_pairs: Pairs per match at its end.
        threads: Threads that play; the result does not depend on it.
    """

    runs_dir: str = "runs/comparison"
    out: str = "docs"
    games: int = 30_000
    seed: int = 1
    pairs: int = 300
    final_pairs: int = 2_000
    threads: int = 1


MIN_ITERATION_GAMES = 32
ITERATION_SHARE = 128


def iteration_games(config: TrainConfig, games_done: int) -> int:
    """Games of the iteration that begins when `games_done` games are played.

    A 128th of the games so far, from 32 up to `games_per_iteration`: at first the net knows nothing, and each game it
    learns from makes the next ones better worth playing. After 10,000 games that is worth 1.6 points per game against
    the heuristic over 256 games an iteration from the start. A net that starts from another one (`init`) knows enough
    for full iterations.
    """
    if config.init is not None:
        return min(config.games_per_iteration, config.games - games_done)
    wanted = max(MIN_ITERATION_GAMES, games_done // ITERATION_SHARE)
    return min(wanted, config.games_per_iteration, config.games - games_done)


def check_train_config(config: TrainConfig) -> None:
    """Raises a ValueError that names the field, its value and what is allowed."""
    if config.algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm={config.algorithm!r} is not allowed; choose one of {', '.join(ALGORITHMS)}")
    if not config.name or "/" in config.name or config.name.startswith("."):
        raise ValueError(f"name={config.name!r} is not allowed; give the name of a folder")
    at_least: dict[str, int] = {
        "games": 1, "games_per_iteration": 1, "batches": 1, "passes": 1, "threads": 1, "keep": 1, "log_every": 1,
        "rollout_turns": 0,
    }  # fmt: skip
    for name, low in at_least.items():
        if getattr(config, name) < low:
            raise ValueError(f"{name}={getattr(config, name)} is not allowed; give {low} or more")
    if not 0 < config.save_minutes < math.inf:
        raise ValueError(f"save_minutes={config.save_minutes} is not allowed; give more than 0")
    for name, seed in (("seed", config.seed), ("match.seed", config.match.seed)):
        if not 0 <= seed < 2**63:
            raise ValueError(f"{name}={seed} is not allowed; give 0 to 2**63 - 1")
    if config.rollout_trials < 36 or config.rollout_trials % 36:
        raise ValueError(f"rollout_trials={config.rollout_trials} is not allowed; give a multiple of 36")
    if not 0 < config.search_share <= 1:
        raise ValueError(f"search_share={config.search_share} is not allowed; give more than 0, up to 1")
    if not 0 <= config.average <= 1:
        raise ValueError(f"average={config.average} is not allowed; give 0 to 1")
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
