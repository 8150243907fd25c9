"""The commands behind scripts/: the only place that knows hydra. Below it there are plain dataclasses."""

import contextlib
import copy
import dataclasses
import difflib
import inspect
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hydra
import numpy as np
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import BooleanNode, DictConfig, FloatNode, IntegerNode, ListConfig, OmegaConf, StringNode
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nardy_rl.config import (
    BASELINES,
    KEPT_NETS,
    AnalyseConfig,
    BearoffConfig,
    BearoffErrorConfig,
    CompareConfig,
    CubeDecisionConfig,
    ErrorCurveConfig,
    ErrorRateConfig,
    EvaluateConfig,
    KeepConfig,
    LeagueConfig,
    OpeningBookConfig,
    PicturesConfig,
    PlayConfig,
    PositionConfig,
    ReferenceSetConfig,
    RolloutCommandConfig,
    TrainConfig,
)

if TYPE_CHECKING:
    from nardy_rl.agents.rollout import RolloutSettings
    from nardy_rl.rules.spec import Rules
    from nardy_rl.value.evaluator import Evaluator

_CONFIGS = [folder for folder in (Path.cwd() / "configs", Path(__file__).parents[1] / "configs") if folder.is_dir()]
"""Where overlays are looked for: the user's own folder before the project's."""

_LONGEST_ERROR = 2_000
"""Characters of a message that are shown: a broken file may have a line of millions."""


def train() -> None:
    """Trains a bot: `python scripts/train.py [experiment=quick] [field=value ...]`."""
    run("train", TrainConfig, _train)


def evaluate() -> None:
    """Plays agents against each other: `python scripts/evaluate.py agents=[A,B,...] [field=value ...]`."""
    run("evaluate", EvaluateConfig, _evaluate)


def rollout() -> None:
    """Rolls out a decision: `python scripts/rollout.py position="24:13 18:2 | 24:15" dice=64 [field=value ...]`."""
    run("rollout", RolloutCommandConfig, _rollout)


def position() -> None:
    """Shows a position and its IDs: `python scripts/position.py position=XGID... [rules=official]`."""
    run("position", PositionConfig, _position)


def cube() -> None:
    """The cube decision of a position: `python scripts/cube.py position=XGID... [agent=SPEC] [json=PATH]`."""
    run("cube", CubeDecisionConfig, _cube)


def league() -> None:
    """Plays a round robin that is kept and may grow: `python scripts/league.py agents=[A,B,...] [field=value ...]`."""
    run("league", LeagueConfig, _league)


def keep() -> None:
    """Measures the net of a run and keeps it: `python scripts/keep.py run=runs/quick out=checkpoints/NAME`."""
    run("keep", KeepConfig, _keep)


def build_bearoff() -> None:
    """Builds an exact bear-off table: `python scripts/build_bearoff.py men=10 [rules=moscow] [field=value ...]`."""
    run("build_bearoff", BearoffConfig, _build_bearoff)


def bearoff_error() -> None:
    """A net's error against a bear-off table: `python scripts/bearoff_error.py agent=PATH [field=value ...]`."""
    run("bearoff_error", BearoffErrorConfig, _bearoff_error)


def reference_set() -> None:
    """Builds the set that error rates are measured on: `python scripts/reference_set.py judge=PATH`."""
    run("reference_set", ReferenceSetConfig, _reference_set)


def error_rate() -> None:
    """What an agent loses per decision: `python scripts/error_rate.py agent=SPEC [json=PATH] [field=value ...]`."""
    run("error_rate", ErrorRateConfig, _error_rate)


def error_curve() -> None:
    """The error rate of every net of some runs: `python scripts/error_curve.py "runs=[A,B]" [out=PATH]`."""
    run("error_curve", ErrorCurveConfig, _error_curve)


def opening_book() -> None:
    """First rolls and replies, by rollouts: `python scripts/opening_book.py [rules=fnr] [reply_to=31]`."""
    run("opening_book", OpeningBookConfig, _opening_book)


def pictures() -> None:
    """Draws a run's learning curve and a position: `python scripts/pictures.py run=runs/quick`."""
    run("pictures", PicturesConfig, _pictures)


def play() -> None:
    """A person against an agent: `python scripts/play.py [agent=SPEC] [field=value ...]`."""
    run("play", PlayConfig, _play)


def analyse() -> None:
    """Judges the games of a file: `python scripts/analyse.py FILE [depth=2ply] [html=PATH] [field=value ...]`."""
    file = _positional()
    run("analyse", AnalyseConfig, lambda config: _analyse(config, file))


def compare_trainers() -> None:
    """Runs the comparison of docs/training_comparison.md: `python scripts/compare_trainers.py [games=60_000]`."""
    run("compare", CompareConfig, _compare)


def _train(config: TrainConfig) -> int:
    from nardy_rl.evaluation.arena import match_table  # noqa: PLC0415  (torch loads after a mistyped option is found)
    from nardy_rl.training.display import RichDisplay  # noqa: PLC0415
    from nardy_rl.training.train import final_matches, train  # noqa: PLC0415

    if config.resume is None:
        _check_folder(config.runs_dir, "runs_dir")
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
    from nardy_rl.agents.luck import load_judge  # noqa: PLC0415
    from nardy_rl.agents.registry import check_net  # noqa: PLC0415
    from nardy_rl.endgame.tables import find_table  # noqa: PLC0415
    from nardy_rl.evaluation.arena import MatchResult, forfeit_lines  # noqa: PLC0415
    from nardy_rl.evaluation.cube_arena import check_cube, evaluate, results_as_json, results_table  # noqa: PLC0415
    from nardy_rl.files import write_json  # noqa: PLC0415
    from nardy_rl.rules.spec import make_rules  # noqa: PLC0415

    rules = make_rules(config.rules, config.options)
    config.agents = config.agents or [KEPT_NETS[rules.geometry], BASELINES[rules.geometry][-1], "random"]
    check_cube(config, rules)
    check_net(config.luck)
    luck = None if config.luck is None else load_judge(config.luck, rules)
    bearoff = find_table(rules)
    matches = len(config.agents) * (len(config.agents) - 1) // 2
    _terminate_like_ctrl_c()
    with _progress() as progress:
        task = progress.add_task("pairs", total=matches * config.pairs)
        results = evaluate(config, rules, lambda finished: progress.update(task, completed=finished), luck)
    Console().print(results_table(results))
    if bearoff is not None:
        Console().print(f"Nets play endgames by {bearoff.name}", soft_wrap=True, markup=False, highlight=False)
    for line in forfeit_lines(result for result in results if isinstance(result, MatchResult)):
        Console().print(line, markup=False, highlight=False)
    if config.json is not None:
        settings = {"luck": config.luck, "bearoff_table": None if bearoff is None else bearoff.name}
        write_json(Path(config.json), {**results_as_json(results, config), **settings})
    return 0


def _check_file(path: str | None, name: str = "json") -> None:
    """Raises a ValueError that begins with `name` unless a file of that name can be written."""
    if path is None:
        return
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(
            f"{name}={path}: {folder} is a file" if folder.exists() else f"{name}={path}: there is no folder {folder}"
        )
    if Path(path).is_dir():
        raise ValueError(f"{name}={path} is a folder; give the name of a file")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{name}={path}: you may not write to the folder {folder}")


def _check_folder(path: str | None, name: str) -> None:
    """Raises a ValueError that begins with `name` unless there is a folder of that name, or one can be made."""
    if path is None:
        return
    whole = Path(path).absolute()
    there = next(part for part in (whole, *whole.parents) if part.exists())
    if not there.is_dir():
        raise ValueError(f"{name}={path}: {there} is a file; give a folder")
    if not os.access(there, os.W_OK):
        raise ValueError(f"{name}={path}: you may not write to the folder {there}")


def _check_trials(rollout: "RolloutSettings") -> None:
    """Raises a ValueError if there are fewer trials than `min_trials`: who lowers one must lower the other."""
    if 0 < rollout.trials < rollout.min_trials and rollout.trials % 36 == 0:
        raise ValueError(
            f"rollout.trials={rollout.trials} is less than rollout.min_trials={rollout.min_trials}; "
            f"give rollout.min_trials={rollout.trials} too, or more trials"
        )


def _rollout(config: RolloutCommandConfig) -> int:
    from nardy_rl.agents.registry import check_net  # noqa: PLC0415
    from nardy_rl.evaluation.decision import as_json, as_table, roll_out, table_used  # noqa: PLC0415
    from nardy_rl.files import write_json  # noqa: PLC0415

    _check_file(config.state, "state")
    check_net(config.agent)
    _check_trials(config.rollout)
    bearoff = table_used(config)
    _terminate_like_ctrl_c()
    try:
        with _progress() as progress:
            task = progress.add_task("trials", total=None)
            found = roll_out(config, lambda done, planned: progress.update(task, completed=done, total=planned))
    except KeyboardInterrupt:
        if config.state is not None:
            Console().print(f"Stopped. The same command goes on from {config.state}", soft_wrap=True)
        return 130
    Console().print(as_table(found))
    if bearoff is not None:
        Console().print(f"Nets play endgames by {bearoff}", soft_wrap=True, markup=False, highlight=False)
    if config.json is not None:
        write_json(Path(config.json), as_json(config, found, bearoff))
    return 0


def _position(config: PositionConfig) -> int:
    from nardy_rl.records.position_ids import MatchPosition, format_gnubg_id, format_xgid, read_position  # noqa: PLC0415
    from nardy_rl.rules.board import check_boards  # noqa: PLC0415
    from nardy_rl.rules.notation import draw_board, format_position  # noqa: PLC0415
    from nardy_rl.rules.spec import make_rules  # noqa: PLC0415

    rules = make_rules(config.rules)
    board, told = read_position(config.position, rules)
    check_boards(np.array([board], dtype=np.int8), rules)
    lines = [draw_board(board, rules, told.dice if told else None), format_position(board)]
    if rules.geometry == "short":
        told = told or MatchPosition(board)
        lines.append(format_gnubg_id(told))
        try:
            lines.append(format_xgid(told))
        except ValueError as error:
            lines.append(f"no XGID: {error}")
    console = Console(markup=False, highlight=False, emoji=False)  # `:-1:` of an XGID is no emoji
    for line in lines:
        console.print(line, soft_wrap=True)
    return 0


def _cube(config: CubeDecisionConfig) -> int:
    from nardy_rl.evaluation.cube_position import (  # noqa: PLC0415
        as_json,
        as_table,
        judge_cube,
        probabilities_text,
        situation,
    )
    from nardy_rl.files import write_json  # noqa: PLC0415
    from nardy_rl.rules.notation import draw_board  # noqa: PLC0415
    from nardy_rl.rules.spec import make_rules  # noqa: PLC0415

    judged = judge_cube(config)
    console = Console(highlight=False)
    for text in (draw_board(judged.position.board, make_rules("short")), situation(judged), probabilities_text(judged)):
        console.print(text, soft_wrap=True, markup=False)
    console.print(as_table(judged))
    console.print(f"Right: {judged.action}")
    if config.json is not None:
        write_json(Path(config.json), as_json(judged))
    return 0


def _league(config: LeagueConfig) -> int:
    from nardy_rl.evaluation.league import (  # noqa: PLC0415
        cross_tables,
        notes,
        open_league,
        play_league,
        standings,
        standings_table,
        write_report,
    )

    _check_folder(config.leagues_dir, "leagues_dir")
    league = open_league(config, _given())
    console = Console()
    _terminate_like_ctrl_c()
    try:
        with _progress() as progress:
            task = progress.add_task("pairs", total=len(league.unplayed()) * league.pairs)
            play_league(league, config, lambda finished: progress.update(task, completed=finished))
    except KeyboardInterrupt:
        console.print(
            f"Stopped with {len(league.results)} matches played and {len(league.unplayed())} to play. "
            f"Go on with: python scripts/league.py name={config.name}",
            soft_wrap=True,
        )
        return 130
    table = standings(league, config.bootstrap)
    console.print(standings_table(table, league.rules))
    for cross_table in cross_tables(league, table, console.width):
        console.print(cross_table)
    for line in notes(league, table):
        console.print(line, markup=False, highlight=False)
    console.print(f"Wrote {write_report(league, table)}", soft_wrap=True)
    return 0


def _play(config: PlayConfig) -> int:
    from nardy_rl.agents.registry import make_agent  # noqa: PLC0415
    from nardy_rl.play import terminal  # noqa: PLC0415
    from nardy_rl.play.session import Session, Setup, resumed  # noqa: PLC0415

    if config.dice not in ("seed", "ask"):
        raise ValueError(f"dice={config.dice!r} is not allowed; choose seed or ask")
    setup = Setup(
        preset=config.rules,
        options=config.options,
        seed=secrets.randbelow(10**9) if config.seed is None else config.seed,
        name=config.name,
        games=config.games,
        points=config.points,
        first=config.first,
        ask_dice=config.dice == "ask",
        auto=config.auto,
        cube=config.cube,
        doubling=config.doubling,
    )
    record, spec = None, config.agent or KEPT_NETS[setup.rules.geometry]
    path = Path("games") / f"{datetime.now():%Y-%m-%d_%H%M%S}.txt" if config.save is None else Path(config.save)
    if config.resume is not None:
        record, setup = resumed(terminal.read_record(Path(config.resume)), setup, spec)
        if "agent" not in _given():
            spec = record.tags.get("agent", KEPT_NETS[setup.rules.geometry])
        if config.save is None and "agent" in record.tags:
            path = Path(config.resume)
    if path.suffix.lower() == ".mat" and setup.rules.geometry != "short":
        raise ValueError(f"save={path} is not allowed: a .mat file holds short nardy; give a name that ends in .txt")
    file = terminal.RecordFile(path, ours=path == Path(config.resume or ""), make_folder=config.save is None)
    file.check(path)
    agent = make_agent(spec, setup.rules)
    hint_agent = agent if config.hints is None else make_agent(config.hints, setup.rules)
    chances = _net_of(hint_agent.spec, setup.rules)
    session = Session(setup, agent, hint_agent=hint_agent, chances=chances, record=record)
    terminal.prepare_streams()
    return terminal.run(session, file, Console(highlight=False), terminal.read_line)


def _net_of(spec: str, rules: "Rules") -> "Evaluator | None":
    """The net behind an agent that has one."""
    from nardy_rl.value.checkpoint import load_checkpoint  # noqa: PLC0415
    from nardy_rl.value.evaluator import CompiledEvaluator  # noqa: PLC0415

    path = spec if Path(spec).is_dir() else spec.rpartition("@")[0]
    return CompiledEvaluator(load_checkpoint(path).net, rules) if path and Path(path).is_dir() else None


def _analyse(config: AnalyseConfig, file: str | None) -> int:
    from nardy_rl.agents.registry import check_net  # noqa: PLC0415
    from nardy_rl.analysis.game import Judge, analyse, check_depth  # noqa: PLC0415
    from nardy_rl.analysis.page import page  # noqa: PLC0415
    from nardy_rl.analysis.report import as_json, terminal_report  # noqa: PLC0415
    from nardy_rl.files import write_json, write_text  # noqa: PLC0415
    from nardy_rl.play.terminal import prepare_streams  # noqa: PLC0415
    from nardy_rl.records.record import games_of  # noqa: PLC0415
    from nardy_rl.records.store import load  # noqa: PLC0415

    if (file is None) == (config.file is None):
        raise ValueError("give one file of games: python scripts/analyse.py FILE [field=value ...]")
    source = Path(file or str(config.file))
    if not source.is_file():
        raise ValueError(f"{source} is a folder; give a file" if source.is_dir() else f"there is no file {source}")
    if config.worst < 0:
        raise ValueError(f"worst={config.worst} is not allowed; give 0 or more")
    check_depth(config.depth)
    _check_file(config.json)
    _check_file(config.html, "html")
    check_net(config.agent)
    if config.depth == "rollout":
        _check_trials(config.rollout)
    files = [path.resolve() for path in (source, *map(Path, filter(None, (config.html, config.json))))]
    if len(set(files)) < len(files):
        raise ValueError("html and json are files of their own, other than the games")
    records = load(source)
    agent = config.agent or " and ".join(sorted({KEPT_NETS[game.rules.geometry] for game in games_of(records)}))

    def judge_of(rules: "Rules") -> Judge:
        net = config.agent or KEPT_NETS[rules.geometry]
        return Judge.load(
            net, rules, config.depth, search=config.search, rollout=config.rollout,
            candidates=config.candidates, within=config.within, threads=config.threads,
        )  # fmt: skip

    _terminate_like_ctrl_c()
    with _progress() as progress:
        task = progress.add_task("% judged", total=100)
        groups = analyse(records, judge_of, lambda share: progress.update(task, completed=round(100 * share)))
    if config.html is not None:
        write_text(Path(config.html), page(groups, source.name, agent, config.depth, config.worst))
    if config.json is not None:
        write_json(Path(config.json), as_json(groups, source.name, agent, config.depth))
    prepare_streams()
    console = Console(highlight=False)
    for part in terminal_report(groups, agent, config.depth, config.worst):
        console.print(part)
    for path in filter(None, (config.html, config.json)):
        console.print(f"Wrote {path}", soft_wrap=True, markup=False)
    return 0


def _build_bearoff(config: BearoffConfig) -> int:
    from nardy_rl.endgame.one_sided import one_sided, save_one_sided  # noqa: PLC0415
    from nardy_rl.endgame.tables import build_table, load_table, save_table, table_bytes, tables_folder  # noqa: PLC0415
    from nardy_rl.rules.spec import make_rules  # noqa: PLC0415

    console = Console()
    if config.check is not None:
        table = load_table(config.check, whole=True)
        console.print(f"{table.name} is whole: {table.equities.size:,} equities", soft_wrap=True, highlight=False)
        return 0
    if not config.max_gb > 0:
        raise ValueError(f"max_gb={config.max_gb:g} is not allowed; give more than 0")
    _check_folder(config.folder or str(tables_folder()), "folder")
    _check_file(config.one_sided, "one_sided")
    rules = make_rules(config.rules, config.options)
    size = table_bytes(config.men, rules, config.points) / 1e9
    if size > config.max_gb:
        raise ValueError(f"men={config.men} needs {size:.1f} GB of memory and disk, more than max_gb={config.max_gb:g}")
    if config.threads < 1:
        raise ValueError(f"threads={config.threads} is not allowed; give at least 1")
    began = time.perf_counter()
    with _progress() as progress:
        task = progress.add_task("% of the table", total=100)
        table = build_table(
            config.men,
            rules,
            points=config.points,
            threads=config.threads,
            progress=lambda share: progress.update(task, completed=round(100 * share)),
        )
    seconds = time.perf_counter() - began
    path, meta = save_table(table, config.folder or tables_folder(), {"build_seconds": round(seconds, 2)})
    console.print(
        f"Wrote {path}: {len(table.positions):,} positions a side, {table.equities.size:,} equities, {size:.3g} GB, "
        f"built in {seconds:.1f} s\nsha256 {meta['sha256']}",
        soft_wrap=True,
        highlight=False,
    )
    if config.one_sided is not None:
        save_one_sided(one_sided(rules, config.men), Path(config.one_sided))
        console.print(f"Wrote {config.one_sided}", soft_wrap=True, highlight=False)
    return 0


def _bearoff_error(config: BearoffErrorConfig) -> int:
    from nardy_rl.agents.registry import check_net  # noqa: PLC0415
    from nardy_rl.agents.value import check_playable  # noqa: PLC0415
    from nardy_rl.endgame.tables import find_table, load_table  # noqa: PLC0415
    from nardy_rl.evaluation.bearoff_errors import bearoff_errors, errors_text  # noqa: PLC0415
    from nardy_rl.rules.spec import make_rules  # noqa: PLC0415
    from nardy_rl.value.checkpoint import load_checkpoint  # noqa: PLC0415
    from nardy_rl.value.evaluator import CompiledEvaluator  # noqa: PLC0415

    check_net(config.agent)
    rules = make_rules(config.rules, config.options)
    table = find_table(rules) if config.table is None else load_table(config.table, rules)
    if table is None:
        raise ValueError("there is no bear-off table for these rules; build one with scripts/build_bearoff.py")
    agent = config.agent or KEPT_NETS[rules.geometry]
    checkpoint = load_checkpoint(agent)
    check_playable(checkpoint, rules)
    errors = bearoff_errors(CompiledEvaluator(checkpoint.net, rules), table, rules, config.games, config.seed)
    Console().print(errors_text(agent, table, errors), soft_wrap=True, highlight=False)
    return 0


def _keep(config: KeepConfig) -> int:
    from nardy_rl.evaluation.arena import match_table  # noqa: PLC0415
    from nardy_rl.training.keep import keep  # noqa: PLC0415

    results = keep(config)
    Console().print(match_table(results))
    Console().print(f"Wrote {config.out}", soft_wrap=True)
    return 0


def _reference_set(config: ReferenceSetConfig) -> int:
    from nardy_rl.agents.registry import check_net  # noqa: PLC0415
    from nardy_rl.evaluation.reference_set import build_reference_set, save_reference_set  # noqa: PLC0415

    out = Path(config.out)
    _check_file(config.out, "out")
    _check_folder(config.work, "work")
    for net in (config.judge, *config.players):
        check_net(net)
    _check_trials(config.rollout)
    _terminate_like_ctrl_c()
    try:
        with _progress() as progress:
            task = progress.add_task("decisions", total=config.decisions)
            reference = build_reference_set(config, lambda done, _: progress.update(task, completed=done))
    except KeyboardInterrupt:
        Console().print(f"Stopped. The same command goes on from {config.work}", soft_wrap=True)
        return 130
    save_reference_set(reference, out)
    Console().print(f"Wrote {out}: {len(reference):,} decisions", soft_wrap=True)
    return 0


def _error_rate(config: ErrorRateConfig) -> int:
    from nardy_rl.agents.registry import make_agent  # noqa: PLC0415
    from nardy_rl.evaluation.arena import close  # noqa: PLC0415
    from nardy_rl.evaluation.errors import as_json, as_table, error_rate, notes, worst_text  # noqa: PLC0415
    from nardy_rl.evaluation.reference_set import load_reference_set  # noqa: PLC0415
    from nardy_rl.files import write_json  # noqa: PLC0415

    if config.worst < 0:
        raise ValueError(f"worst={config.worst} is not allowed; give 0 or more")
    reference = load_reference_set(config.reference, config.rules)
    spec = config.agent or KEPT_NETS[reference.rules.geometry]
    agent = make_agent(spec, reference.rules, search=config.search, external=config.external)
    _terminate_like_ctrl_c()
    try:
        with _progress() as progress:
            task = progress.add_task("decisions", total=len(reference))
            found = error_rate(agent, reference, lambda done, _: progress.update(task, completed=done))
    finally:
        close(agent)
    console = Console()
    console.print(as_table(found))
    for text in (*notes(found), *worst_text(found, config.worst)):
        console.print(text, soft_wrap=True, markup=False, highlight=False)
    if config.json is not None:
        write_json(Path(config.json), as_json(found, config.worst))
    return 0


def _error_curve(config: ErrorCurveConfig) -> int:
    from nardy_rl.evaluation.figures import save_svg  # noqa: PLC0415
    from nardy_rl.evaluation.reference_set import load_reference_set  # noqa: PLC0415
    from nardy_rl.training.error_curve import as_table, error_curve, error_curve_figure, saved_nets  # noqa: PLC0415

    if not config.runs:
        raise ValueError('give runs, as in "runs=[runs/first,runs/second]"')
    if Path(config.out).suffix.lower() != ".svg":
        raise ValueError(f"out={config.out} is not allowed: the picture is an SVG; give a name that ends in .svg")
    _check_file(config.out, "out")
    reference = load_reference_set(config.reference, config.rules)
    nets = saved_nets([Path(run) for run in config.runs])
    with _progress() as progress:
        task = progress.add_task("nets", total=len(nets))
        points = error_curve(nets, reference, lambda done, _: progress.update(task, completed=done))
    console = Console()
    console.print(as_table(points))
    save_svg(error_curve_figure(points), Path(config.out))
    console.print(f"Wrote {config.out}", soft_wrap=True)
    return 0


def _opening_book(config: OpeningBookConfig) -> int:
    from nardy_rl.agents.registry import check_net  # noqa: PLC0415
    from nardy_rl.evaluation.opening_book import (  # noqa: PLC0415
        as_table,
        build_book,
        edge_text,
        judge_text,
        load_book,
        page_text,
        save_book,
    )
    from nardy_rl.files import write_text  # noqa: PLC0415

    console = Console()
    _check_file(config.page, "page")
    if config.build:
        _check_file(config.out, "out")
        _check_folder(config.state, "state")
        check_net(config.judge)
        _check_trials(config.rollout)
        _terminate_like_ctrl_c()
        try:
            with _progress() as progress:
                task = progress.add_task("trials", total=None)
                book = build_book(config, lambda done, planned: progress.update(task, completed=done, total=planned))
        except KeyboardInterrupt:
            if config.state is not None:
                console.print(f"Stopped. The same command goes on from {config.state}", soft_wrap=True)
            return 130
        save_book(book, Path(config.out))
    else:
        book = load_book(config.book, config.rules)
    console.print(as_table(book, config.reply_to))
    for line in (edge_text(book), judge_text(book)):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if config.build:
        console.print(f"Wrote {config.out}", soft_wrap=True)
    if config.page is not None:
        write_text(Path(config.page), page_text({rules: load_book(rules=rules) for rules in ("official", "fnr")}))
        console.print(f"Wrote {config.page}", soft_wrap=True)
    return 0


def _pictures(config: PicturesConfig) -> int:
    from nardy_rl.training.pictures import save_pictures  # noqa: PLC0415

    _check_folder(config.out, "out")
    for path in save_pictures(Path(config.run), Path(config.out), config.seed, config.turn):
        Console().print(f"Wrote {path}", soft_wrap=True)
    return 0


def _compare(config: CompareConfig) -> int:
    from nardy_rl.training.comparison import compare  # noqa: PLC0415  (torch loads after a mistyped option is found)

    _check_folder(config.out, "out")
    _check_folder(config.runs_dir, "runs_dir")
    print(compare(config, say=lambda line: print(line, flush=True)))
    return 0


def _terminate_like_ctrl_c() -> None:
    """From here on SIGTERM ends the command as Ctrl-C does, external programs included."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGINT itself may be ignored: `nohup ... &`


def _positional() -> str | None:
    """Takes the first argument off the command line that is neither `field=value` nor an option.

    It never passes hydra, whose grammar would ask for quotes around most names of files.
    """
    arguments = sys.argv[1:]
    if any(argument.startswith("-") for argument in arguments):  # an option of hydra's may have a value
        arguments = arguments[:1]
    words = (word for word in arguments if not word.startswith(("-", "+", "~")))
    found = next((word for word in words if "=" not in word or Path(word).is_file()), None)
    if found is not None:
        sys.argv.remove(found)
    return found


def _given() -> set[str]:
    """Names of the top-level fields that the command line sets."""
    overrides = HydraConfig.get().overrides.task
    return {override.lstrip("+~").split("=")[0].split(".")[0] for override in overrides}


def _progress() -> Progress:
    """A progress bar on standard error, so that standard output can be kept."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _quoted(argument: str) -> str:
    """An argument name=value as Hydra wants it: its grammar takes no letters but A to Z, and no =, outside quotes."""
    name, equals, value = argument.partition("=")
    plain = (value.isascii() and "=" not in value) or value[:1] in ("'", '"', "[", "{")
    return argument if plain else f"{name}{equals}'{value}'"


def _option_names(node: DictConfig, prefix: str = "") -> list[str]:
    """The dotted names of all options, those of options within options too."""
    names = []
    for key in map(str, node):
        names.append(f"{prefix}{key}")
        child = node._get_node(key)
        if isinstance(child, DictConfig) and not child._is_none():
            names += _option_names(child, f"{prefix}{key}.")
    return names


def _added(values: DictConfig, prefix: str = "") -> list[str]:
    """The dotted names of options that no dataclass has: `+name=value` makes hydra add them."""
    schema = OmegaConf.get_type(values)
    known = {field.name for field in dataclasses.fields(schema)} if dataclasses.is_dataclass(schema) else None
    names = []
    for key in map(str, values):
        child = values._get_node(key)
        if known is not None and key not in known:
            names.append(f"{prefix}{key}")
        elif isinstance(child, DictConfig) and not child._is_none():
            names += _added(child, f"{prefix}{key}.")
    return names


def _no_option(name: str, schema: DictConfig) -> str:
    """What to say of an option that does not exist."""
    names = [*_option_names(schema), "experiment"]
    within = [known for known in names if known.endswith(f".{name}")]
    alike = within[:1] or difflib.get_close_matches(name, names, n=1)
    return f"no option {name!r}; " + (f"did you mean {alike[0]}?" if alike else "--help lists them all")


_KINDS: dict[type[Any], str] = {
    BooleanNode: "true or false",
    FloatNode: "a number",
    IntegerNode: "a whole number",
    ListConfig: "a list, as [A,B]",
    StringNode: "a text",
}
"""What a value of the wrong type should have been, by the kind of its node."""


def _mistake(error: HydraException, schema: DictConfig) -> str:
    """What is wrong with the command line, in one line: hydra takes several, and advises a +, which is wrong here."""
    cause, text = error.__cause__, str(error)
    if isinstance(error, OverrideParseException):
        return (
            f"{error.override!r} cannot be read; options are given as name=value, texts with signs as name=\"'a, b'\""
        )
    if isinstance(error, MissingConfigException) and error.options:
        wanted = (error.missing_cfg_file or "").rpartition("/")
        return f"{wanted[0]}={wanted[2]!r} is not allowed; choose one of {', '.join(error.options)}"
    if isinstance(cause, ConfigKeyError | ConfigAttributeError) and cause.full_key and "override" in text:
        return _no_option(cause.full_key, schema)
    _, merging, override = text.partition("Error merging override ")
    if merging and isinstance(cause, OmegaConfBaseException):
        name, _, value = override.lstrip("+").partition("=")
        item = cause.full_key or name  # `name` itself, or something within its value
        parent, _, last = name.rpartition(".")
        owner = OmegaConf.select(schema, parent) if parent else schema
        node = owner._get_node(last) if item == name and isinstance(owner, DictConfig) else None
        said = f"{name}={value.strip(chr(39))!r} is not allowed"
        kind = _KINDS.get(type(node))
        if kind is not None:
            return f"{said}; give {kind}"
        if isinstance(node, DictConfig):
            return f"{said}; give its parts, as {name}.{next(map(str, node), 'part')}=..."
        return f"{said}: {item}: {str(cause).splitlines()[0]}"
    if text.startswith("Could not append to config."):
        return f"{text.split(chr(39))[1]} is an option already; write it without the +"
    if text.startswith("Ambiguous value for argument"):
        return f"{text.splitlines()[0]}; write a list as name=[a,b], a text as name=\"'a,b'\""
    parts = [part.strip().splitlines()[0] for part in (text, str(cause or "")) if part.strip()]
    return ": ".join(parts)


def _say_error(text: str) -> None:
    """One line on standard error."""
    text = text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]} ..."
    Console(stderr=True).print(f"[red]error:[/] {escape(text)}", highlight=False, emoji=False, soft_wrap=True)


@contextlib.contextmanager
def _hydra_raises() -> Iterator[None]:
    """Within the block hydra raises what it finds wrong; else it prints it and exits."""
    name = "HYDRA_FULL_ERROR"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


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
                "help": {"header": f"{inspect.getdoc(schema)}\n", "footer": "Options are given as name=value.\n"},
            },
        },
    )
    code, options = 0, copy.deepcopy(node)

    def main(values: DictConfig) -> None:
        nonlocal code
        try:
            added = _added(values)
            if added:
                raise ValueError(_no_option(added[0], options))
            config = OmegaConf.to_object(values)
            assert dataclasses.is_dataclass(config)
            _check_file(getattr(config, "json", None))  # every command's, before its work
            code = command(config)
        except (ValueError, OSError) as error:
            _say_error(str(error))
            code = 2
        except KeyboardInterrupt:
            code = 130

    # Hydra searches the package of the function it runs for groups of configs, and would take nardy_rl/agents and
    # nardy_rl/rules for such groups; from a script it searches nothing but the search path.
    main.__module__ = "__main__"
    sys.argv[1:] = [_quoted(argument) for argument in sys.argv[1:]]
    try:
        with _hydra_raises():
            hydra.main(version_base=None, config_path=None, config_name=name)(main)()
    except HydraException as error:
        _say_error(_mistake(error, options))
        code = 2
    except KeyboardInterrupt:
        code = 130
    sys.stdout.flush()
    if code:
        sys.exit(code)
