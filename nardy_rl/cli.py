"""The commands behind scripts/: the only place that knows hydra. Below it there are plain dataclasses."""

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nardy_rl.config import EvaluateConfig, KeepConfig, PicturesConfig, TrainConfig

_CONFIGS = [folder for folder in (Path.cwd() / "configs", Path(__file__).parents[1] / "configs") if folder.is_dir()]
"""Where overlays are looked for: the user's own folder before the project's."""


def train() -> None:
    """Trains a bot: `python scripts/train.py [experiment=quick] [field=value ...]`."""
    run("train", TrainConfig, _train)


def evaluate() -> None:
    """Plays agents against each other: `python scripts/evaluate.py agents=[A,B,...] [field=value ...]`."""
    run("evaluate", EvaluateConfig, _evaluate)


def keep() -> None:
    """Measures the net of a run and keeps it: `python scripts/keep.py run=runs/quick out=checkpoints/NAME`."""
    run("keep", KeepConfig, _keep)


def pictures() -> None:
    """Draws a run's learning curve and a position: `python scripts/pictures.py run=runs/quick`."""
    run("pictures", PicturesConfig, _pictures)


def _train(config: TrainConfig) -> int:
    from nardy_rl.evaluation.arena import match_table  # noqa: PLC0415  (torch loads after a mistyped option is found)
    from nardy_rl.training.display import RichDisplay  # noqa: PLC0415
    from nardy_rl.training.train import final_matches, train  # noqa: PLC0415

    console = Console()
    with RichDisplay(console) as display:
        outcome = train(config, display, given=_given())
    console.print(
        f"{outcome.games:,} games in {outcome.seconds:.0f} s of training; checkpoint: {outcome.checkpoint}",
        soft_wrap=True,
    )
    if not outcome.finished:
        console.print(
            f"Stopped early. Go on with: python scripts/train.py resume={outcome.checkpoint.parent.parent}",
            soft_wrap=True,
        )
        return 130
    results = final_matches(outcome)
    if results:
        console.print(match_table(results))
    return 0


def _evaluate(config: EvaluateConfig) -> int:
    from nardy_rl.evaluation.arena import match_table, matches_as_json, round_robin  # noqa: PLC0415
    from nardy_rl.files import write_json  # noqa: PLC0415
    from nardy_rl.rules.spec import make_rules  # noqa: PLC0415

    rules = make_rules(config.rules, config.options)
    if config.json is not None and not Path(config.json).parent.is_dir():
        raise ValueError(f"json={config.json}: there is no folder {Path(config.json).parent}")
    if config.json is not None and Path(config.json).is_dir():
        raise ValueError(f"json={config.json} is a folder; give the name of a file")
    matches = len(config.agents) * (len(config.agents) - 1) // 2
    with _progress() as progress:
        task = progress.add_task("pairs", total=matches * config.pairs)
        results = round_robin(
            config.agents,
            rules,
            config.pairs,
            config.seed,
            config.threads,
            progress=lambda finished: progress.update(task, completed=finished),
        )
    Console().print(match_table(results))
    if config.json is not None:
        write_json(Path(config.json), matches_as_json(results, config.rules))
    return 0


def _keep(config: KeepConfig) -> int:
    from nardy_rl.evaluation.arena import match_table  # noqa: PLC0415
    from nardy_rl.training.keep import keep  # noqa: PLC0415

    results = keep(config)
    Console().print(match_table(results))
    Console().print(f"Wrote {config.out}", soft_wrap=True)
    return 0


def _pictures(config: PicturesConfig) -> int:
    from nardy_rl.training.pictures import save_pictures  # noqa: PLC0415

    for path in save_pictures(Path(config.run), Path(config.out), config.seed, config.turn):
        Console().print(f"Wrote {path}", soft_wrap=True)
    return 0


def _given() -> set[str]:
    """Names of the top-level fields that the command line sets."""
    overrides = HydraConfig.get().overrides.task
    return {override.lstrip("+~").split("=")[0].split(".")[0] for override in overrides}


def _progress() -> Progress:
    """A progress bar on standard error, so that standard output can be kept."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def run(name: str, schema: type[Any], command: Callable[[Any], int]) -> None:
    """Reads the command line into an instance of `schema` and runs `command`; a mistake ends with one clear line."""
    store = ConfigStore.instance()
    node = OmegaConf.structured(schema)
    if "options" in node:
        OmegaConf.set_struct(node.options, False)  # so that "options={draw: none}" may name any rule option
    store.store(name=f"{name}_schema", node=node)
    store.store(
        name=name,
        node={
            "defaults": [f"{name}_schema", "_self_", {"experiment": None}, {"override hydra/job_logging": "none"}],
            "hydra": {
                "searchpath": [f"file://{folder}" for folder in _CONFIGS],
                "output_subdir": None,
                "run": {"dir": "."},
                "hydra_logging": {"disable_existing_loggers": False, "version": 1},
            },
        },
    )
    code = 0

    def main(values: DictConfig) -> None:
        nonlocal code
        try:
            config = OmegaConf.to_object(values)
            assert dataclasses.is_dataclass(config)
            code = command(config)
        except (ValueError, OSError) as error:
            Console(stderr=True).print(f"[red]error:[/] {error}", highlight=False)
            code = 2
        except KeyboardInterrupt:
            code = 130

    # Hydra searches the package of the function it runs for groups of configs, and would take nardy_rl/agents and
    # nardy_rl/rules for such groups; from a script it searches nothing but the search path.
    main.__module__ = "__main__"
    hydra.main(version_base=None, config_path=None, config_name=name)(main)()
    sys.stdout.flush()
    if code:
        sys.exit(code)
