"""What afterstates buy: three ways to learn long nardy, measured on the same games against `random`.

    python examples/compare.py                                     # all three, some six minutes on two cores
    python examples/compare.py "approaches=[td,own]"               # without the extra `sb3`

- `ppo`: a policy over single steps, `ppo_steps.py`; it plays against `random`.
- `td`: a value of afterstates in plain NumPy, `td_afterstates.py`; it plays against `random`.
- `own`: this package's trainer, the same idea with a larger net and self-play.
"""

import dataclasses
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from omegaconf import OmegaConf

from nardy_rl.agents.base import Decisions, choose
from nardy_rl.agents.registry import make_agent
from nardy_rl.config import MatchConfig, TrainConfig
from nardy_rl.rules.spec import make_rules
from nardy_rl.training.train import train

EVALUATION_SEED = 1_000_003


@dataclasses.dataclass
class Options:
    """What the command line can set.

    Attributes:
        approaches: Which ones, of `ppo`, `td` and `own`.
        ppo_steps: Environment steps that `ppo` learns from.
        td_games: Games that `td` learns from.
        own_games: Games that `own` learns from; for each number a run of its own.
        evaluation_games: Games against `random` that measure each of them.
        seed: Of everything random in learning.
        picture: File for the learning curve of `ppo`.
    """

    approaches: list[str] = dataclasses.field(default_factory=lambda: ["ppo", "td", "own"])
    ppo_steps: int = 500_000
    td_games: int = 20_000
    own_games: list[int] = dataclasses.field(default_factory=lambda: [1_000, 3_000, 20_000])
    evaluation_games: int = 1_000
    seed: int = 1
    picture: str | None = None


class Row(NamedTuple):
    """What an approach came to.

    Attributes:
        approach: Its name.
        games: Games it learnt from.
        seconds: Seconds of learning.
        mean: Points per game against random.
        half: Half of its 95% interval.
    """

    approach: str
    games: int
    seconds: float
    mean: float
    half: float


def run_ppo(options: Options) -> Row:
    """See `ppo_steps.py`; the last point of its curve."""
    import ppo_steps  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415  (needs the extra `sb3`)

    settings = ppo_steps.Options(options.ppo_steps, final_games=options.evaluation_games, seed=options.seed)
    curve = ppo_steps.learn(settings)
    if options.picture is not None:
        ppo_steps.draw(curve, Path(options.picture))
    return Row("MaskablePPO, steps", *curve[-1][1:])


def run_td(options: Options) -> Row:
    """See `td_afterstates.py`."""
    import td_afterstates  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415

    td_afterstates.learn(1, options.seed)  # what Numba compiles in a first run is kept, and not part of learning
    started = time.perf_counter()
    weights = td_afterstates.learn(options.td_games, options.seed)
    seconds = time.perf_counter() - started
    mean, half = td_afterstates.points_per_game(
        lambda envs, _: td_afterstates.look_ahead(envs, weights)[0], options.evaluation_games, EVALUATION_SEED
    )
    return Row("TD(λ) in NumPy, afterstates", options.td_games, seconds, mean, half)


def run_own(options: Options, games: int) -> Row:
    """`nardy_rl.training` with its defaults, without matches on the way."""
    import td_afterstates  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        train(TrainConfig(runs_dir=folder, games=1, match=MatchConfig(every_games=0)))  # to have it compiled
        outcome = train(TrainConfig(runs_dir=folder, games=games, seed=options.seed, match=MatchConfig(every_games=0)))
        agent = make_agent(str(outcome.checkpoint), make_rules("official"))

    def best(envs: Any, observations: Any) -> NDArray[np.int64]:
        after = envs.unwrapped.legal_afterstates()
        decisions = Decisions(observations["board"], observations["dice"], observations["seat"] == 0, after)
        ties = np.zeros(envs.num_envs, dtype=np.uint64)  # two equal values of a net are rare
        chosen: NDArray[np.int64] = choose(agent.scores(decisions), after.offsets, ties) - after.offsets[:-1]
        return chosen

    mean, half = td_afterstates.points_per_game(best, options.evaluation_games, EVALUATION_SEED)
    return Row("our trainer, self-play, afterstates", games, outcome.seconds, mean, half)


def compare(options: Options) -> list[Row]:
    """Runs the approaches."""
    rows: list[Row] = []
    for approach in options.approaches:
        if approach == "ppo":
            rows.append(run_ppo(options))
        elif approach == "td":
            rows.append(run_td(options))
        elif approach == "own":
            rows += [run_own(options, games) for games in options.own_games]
        else:
            raise ValueError(f"approaches: {approach!r} is not allowed; choose of ppo, td, own")
    return rows


def table(rows: list[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = ["| approach | games | seconds | points per game against `random` |", "|---|---:|---:|---:|"]
    lines += [
        f"| {approach} | {games:,} | {seconds:.0f} | {mean:+.3f} ± {half:.3f} |"
        for approach, games, seconds, mean, half in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    given = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Options), OmegaConf.from_cli()))
    assert isinstance(given, Options)
    print(table(compare(given)))
