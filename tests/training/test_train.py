"""Whole runs: repeatable, resumable bit for bit, stoppable, and nothing half-written."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from nardy_rl.config import MatchConfig, Schedule, TrainConfig
from nardy_rl.rules.spec import make_rules
from nardy_rl.training.runlog import read_metrics
from nardy_rl.training.train import Outcome, Silent, train
from nardy_rl.value.checkpoint import CheckpointError, load_checkpoint, sentinel_positions
from nardy_rl.value.evaluator import TorchEvaluator
from nardy_rl.value.net import NetConfig

ROOT = Path(__file__).parents[2]


def config(folder: Path, **changes: object) -> TrainConfig:
    small = TrainConfig(
        name="t",
        runs_dir=str(folder),
        games=160,
        games_per_iteration=32,
        batches=12,
        net=NetConfig(16, 4),
        log_every=1,
        match=MatchConfig(every_games=0, final_pairs=0),
    )
    return dataclasses.replace(small, **changes)


def weights(outcome: Outcome) -> dict[str, torch.Tensor]:
    return load_checkpoint(outcome.checkpoint).net.state_dict()


def assert_same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> None:
    assert a.keys() == b.keys()
    for name, value in a.items():
        assert torch.equal(value, b[name]), name


class StopAt(Silent):
    """Presses Ctrl-C once so many games are played."""

    def __init__(self, games: int) -> None:
        self.games = games

    def progress(self, games: int, seconds: float, values: dict[str, float]) -> None:
        if games >= self.games:
            os.kill(os.getpid(), signal.SIGINT)


def test_opponents_fit_the_rules() -> None:
    assert MatchConfig().specs(make_rules("official")) == ["random", "heuristic"]
    assert MatchConfig().specs(make_rules("short")) == ["random", "bearoff"]
    assert MatchConfig(opponents=[]).specs(make_rules("short")) == []


def test_threads_do_not_matter_and_seeds_do(tmp_path: Path) -> None:
    one = weights(train(config(tmp_path, threads=1, games_per_iteration=160, games=320)))
    three = weights(train(config(tmp_path, threads=3, games_per_iteration=160, games=320)))
    assert_same(one, three)
    other = weights(train(config(tmp_path, seed=2, games_per_iteration=160, games=320)))
    assert not torch.equal(one["rows"], other["rows"])


@pytest.mark.parametrize("average", [0.0, 0.3])
@pytest.mark.parametrize(("algorithm", "overlap"), [("batched", True), ("batched", False), ("online", False)])
def test_stopped_and_resumed_is_bit_identical(tmp_path: Path, algorithm: str, overlap: bool, average: float) -> None:
    changes = {
        "algorithm": algorithm,
        "overlap": overlap,
        "average": average,
        "exploration": Schedule(0.2, 0.0),
        "games": 144,  # the last iteration is a short one
    }
    whole = train(config(tmp_path, **changes))
    stopped = train(config(tmp_path, **changes), StopAt(64))
    assert not stopped.finished
    assert stopped.games == 64
    again = train(config(tmp_path, **changes, resume=str(stopped.checkpoint)))
    assert again.finished
    assert_same(weights(whole), weights(again))
    records = read_metrics(again.checkpoint.parent.parent)
    assert [record["games"] for record in records] == [32, 64, 96, 128, 144]


@pytest.mark.parametrize(("algorithm", "share"), [("backup", 0.1), ("rollouts", 0.002)])
def test_searches_are_bit_identical_for_any_threads_and_resumed(tmp_path: Path, algorithm: str, share: float) -> None:
    changes = {"algorithm": algorithm, "search_share": share, "rollout_turns": 1, "games": 96, "net": NetConfig(8, 4)}
    whole = train(config(tmp_path, threads=1, **changes))
    stopped = train(config(tmp_path, threads=2, **changes), StopAt(64))
    again = train(config(tmp_path, resume=str(stopped.checkpoint)), given={"resume"})
    assert_same(weights(whole), weights(again))


def test_average_is_that_of_the_weights_along_the_run(tmp_path: Path) -> None:
    """Against the weights of the same run without an average, kept after every iteration."""
    plain = train(config(tmp_path, save_minutes=1e-9, keep=10))
    averaged = train(config(tmp_path, average=0.4))
    expected: dict[str, torch.Tensor] = {}
    for games in (32, 64, 96, 128, 160):
        now = load_checkpoint(plain.checkpoint.parent / f"{games:010d}").net.state_dict()
        step = min(1.0, 32 / (0.4 * games))
        expected = {name: expected.get(name, value) * (1 - step) + value * step for name, value in now.items()}
    for name, value in weights(averaged).items():
        torch.testing.assert_close(value, expected[name], rtol=1e-5, atol=1e-7)
        assert not torch.equal(value, weights(plain)[name])


def test_average_may_begin_when_a_run_goes_on(tmp_path: Path) -> None:
    plain = train(config(tmp_path, save_minutes=1e-9, keep=10))
    stopped = train(config(tmp_path), StopAt(64))
    again = train(TrainConfig(resume=str(stopped.checkpoint), average=0.5), StopAt(128))
    same_games = load_checkpoint(plain.checkpoint.parent / again.checkpoint.name).net.state_dict()
    assert not torch.equal(weights(again)["rows"], same_games["rows"])
    ended = train(TrainConfig(resume=str(again.checkpoint), average=0.0), given={"resume", "average"})
    assert_same(weights(ended), weights(plain))


@pytest.mark.parametrize("algorithm", ["batched", "online"])
def test_starts_from_the_net_of_another_run(tmp_path: Path, algorithm: str) -> None:
    first = train(config(tmp_path, games=64))
    frozen = Schedule(0.0, 0.0)
    second = train(config(tmp_path, algorithm=algorithm, init=str(first.checkpoint), net=NetConfig(), lr=frozen))
    assert second.games == 160
    assert second.config.net == NetConfig(16, 4), "the shape comes with the net"
    assert_same(weights(first), weights(second))
    meta = load_checkpoint(second.checkpoint).meta
    assert meta["init"] == {"run": "t", "games": 64, "init": None}
    learnt = train(config(tmp_path, algorithm=algorithm, init=str(first.checkpoint)))
    assert not torch.equal(weights(first)["rows"], weights(learnt)["rows"])


@pytest.mark.parametrize(
    "larger",
    [NetConfig(stages="long"), NetConfig(24, 4), NetConfig(20, 7, stages="long"), NetConfig(20, patterns="long")],
)
def test_a_run_may_grow_the_net_it_starts_from(tmp_path: Path, larger: NetConfig) -> None:
    first = train(config(tmp_path, games=64))
    second = train(config(tmp_path, init=str(first.checkpoint), net=larger, lr=Schedule(0.0, 0.0)))
    given = {name: value for name, value in vars(larger).items() if value != getattr(NetConfig(), name)}
    assert second.config.net == dataclasses.replace(NetConfig(16, 4), **given)
    rules = make_rules("official")
    boards, seats = sentinel_positions(rules)
    said = [TorchEvaluator(load_checkpoint(run.checkpoint).net, rules).values(boards, seats) for run in (first, second)]
    np.testing.assert_allclose(said[1], said[0], atol=1e-6)
    before, after = (
        weights(train(config(tmp_path, init=str(second.checkpoint), net=larger, games=n))) for n in (1, 160)
    )
    for name, value in after.items():
        moved = (value != before[name]).flatten(1).any(dim=0) if value.dim() > 1 else value != before[name]
        assert moved.float().mean() > 0.5, f"{name}: what is new learns too"


def test_passes_are_gradient_steps_over_the_same_games(tmp_path: Path) -> None:
    once, twice = (train(config(tmp_path, games=32, passes=passes)) for passes in (1, 2))
    seen = [read_metrics(run.checkpoint.parent.parent)[-1] for run in (once, twice)]
    assert seen[0]["games/length"] == seen[1]["games/length"], "the same games"
    assert seen[1]["loss/train"] < seen[0]["loss/train"], "learnt from twice"
    assert_same(weights(train(config(tmp_path, games=32, passes=2))), weights(twice))
    with pytest.raises(ValueError, match="passes=0 is not allowed; give 1 or more"):
        train(config(tmp_path, passes=0))


def test_what_a_run_cannot_start_from(tmp_path: Path) -> None:
    first = train(config(tmp_path, games=32))
    with pytest.raises(ValueError, match=r"a net of .*hidden=16, hidden2=4.* cannot grow into .*hidden=9, hidden2=4"):
        train(config(tmp_path, init=str(first.checkpoint), net=NetConfig(9, 4)))
    with pytest.raises(ValueError, match="patterns='long' are for long nardy"):
        train(config(tmp_path, rules="short", net=NetConfig(patterns="long")))
    with pytest.raises(CheckpointError, match="plays long nardy, not short"):
        train(config(tmp_path, init=str(first.checkpoint), rules="short"))
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        train(config(tmp_path, init=str(tmp_path / "none")))
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_resume_alone_keeps_the_runs_own_config(tmp_path: Path) -> None:
    stopped = train(config(tmp_path, rules="moscow"), StopAt(64))
    again = train(TrainConfig(resume=str(tmp_path / "t")))
    assert again.finished
    assert again.games == 160, "not the default of a new run"
    assert again.config.rules == "moscow"
    assert again.config.net == NetConfig(16, 4)
    assert again.checkpoint.parent == stopped.checkpoint.parent
    longer = train(TrainConfig(resume=str(tmp_path / "t"), games=192))
    assert longer.games == 192


def test_resume_from_an_older_checkpoint_is_a_run_of_its_own(tmp_path: Path) -> None:
    done = train(config(tmp_path, save_minutes=1e-9, keep=10))
    run = done.checkpoint.parent.parent
    older = run / "checkpoints" / f"{64:010d}"
    again = train(config(tmp_path, resume=str(older), keep=10))
    assert again.checkpoint.parent.parent.name == "t-2", "what came after stays where it is"
    assert_same(weights(done), weights(again))
    for folder in (run, tmp_path / "t-2"):
        assert [record["games"] for record in read_metrics(folder)] == [32, 64, 96, 128, 160]


def test_what_a_resumed_run_may_not_change(tmp_path: Path) -> None:
    done = train(config(tmp_path))
    with pytest.raises(ValueError, match="net cannot be given anew for a resumed run; only games, threads"):
        train(TrainConfig(resume=str(tmp_path / "t"), net=NetConfig(99, 4)), given={"resume", "net"})
    with pytest.raises(ValueError, match="games=32 is not allowed: this run has played 160 already"):
        train(TrainConfig(resume=str(tmp_path / "t"), games=32))
    (done.checkpoint / "training.safetensors").write_bytes(b"short")
    with pytest.raises(CheckpointError, match="cannot be resumed"):
        train(TrainConfig(resume=str(tmp_path / "t")))
    with pytest.raises(CheckpointError, match="it is a kept net"):
        train(TrainConfig(resume=str(ROOT / "checkpoints" / "long-quick-v1")))
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        train(TrainConfig(resume=str(ROOT / "README.md")))


def test_keeps_the_newest_checkpoints(tmp_path: Path) -> None:
    done = train(config(tmp_path, save_minutes=1e-9, keep=2))
    assert [path.name for path in sorted(done.checkpoint.parent.iterdir())] == [f"{128:010d}", f"{160:010d}"]


def test_a_second_run_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    first = train(config(tmp_path, games=32))
    second = train(config(tmp_path, games=32))
    assert first.checkpoint.parent.parent.name == "t"
    assert second.checkpoint.parent.parent.name == "t-2"


def test_meta_says_how_to_repeat_it(tmp_path: Path) -> None:
    done = train(config(tmp_path))
    meta = load_checkpoint(done.checkpoint).meta
    assert meta["games"] == 160
    assert meta["seed"] == 1
    assert meta["config"]["net"] == {
        "hidden": 16,
        "hidden2": 4,
        "init_scale": 0.03,
        "stages": "one",
        "patterns": "none",
    }
    assert meta["parent"] == f"{0:010d}"


def test_the_run_folder_itself_is_a_checkpoint(tmp_path: Path) -> None:
    done = train(config(tmp_path))
    assert load_checkpoint(tmp_path / "t").path == done.checkpoint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": "magic"}, "algorithm='magic'"),
        ({"games": 0}, "games=0"),
        ({"threads": 0}, "threads=0"),
        ({"lam": Schedule(1.5, 0.5)}, "lam=1.5"),
        ({"lr": Schedule(0.1, 0.0, "exponential")}, "exponential"),
        ({"lr": Schedule(0.1, 0.0, "wavy")}, "lr.shape='wavy'"),
        ({"exploration": Schedule(-0.1, 0.0)}, "exploration=-0.1"),
        ({"name": "a/b"}, "name='a/b'"),
        ({"seed": 2**63}, "seed=9223372036854775808"),
        ({"save_minutes": float("nan")}, "save_minutes=nan"),
        ({"lam": Schedule(0.7, 0.5, "step", 7)}, "lam.step_at=7"),
        ({"search_share": 0.0}, "search_share=0.0"),
        ({"rollout_trials": 40}, "rollout_trials=40"),
        ({"rollout_turns": -1}, "rollout_turns=-1"),
        ({"average": -0.1}, "average=-0.1"),
        ({"rules": "none"}, "unknown rules 'none'"),
        ({"options": {"x": 1}}, "unknown rule option 'x'"),
        ({"net": NetConfig(0, 4)}, "net.hidden=0 is not allowed; give 1 to 16384"),
        ({"net": NetConfig(10**8, 4)}, "net.hidden=100000000 is not allowed"),
        ({"net": NetConfig(stages="short")}, "stages='short' are for short nardy; give one or long"),
        ({"match": MatchConfig(opponents=["nobody"])}, "nobody"),
    ],
)
def test_mistakes_are_named_and_leave_nothing(tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        train(config(tmp_path, **changes))
    assert list(tmp_path.iterdir()) == []


def test_resume_of_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        train(config(tmp_path, resume=str(tmp_path / "nothing")))
    done = train(config(tmp_path))
    (done.checkpoint / "training.json").write_text("{")
    with pytest.raises(CheckpointError, match="cannot be resumed"):
        train(config(tmp_path, resume=str(done.checkpoint)))


def test_all_scorings_train(tmp_path: Path) -> None:
    for preset in ("casual", "overview", "online"):
        assert train(config(tmp_path, rules=preset, games=32)).finished
        assert load_checkpoint(tmp_path / "t").rules == make_rules(preset) or preset != "casual"


def test_tensorboard_has_what_it_should(tmp_path: Path) -> None:
    match = MatchConfig(opponents=["random"], every_games=64, pairs=2, final_pairs=0)
    done = train(config(tmp_path, match=match))
    run = done.checkpoint.parent.parent
    events = EventAccumulator(str(run), size_guidance={"images": 0})
    events.Reload()
    tags = set(events.Tags()["scalars"])
    wanted = {
        "loss/train", "loss/gradient_norm", "loss/calibration_error", "games/length", "games/first_player_edge",
        "games/mars_rate", "speed/games_per_s", "speed/learning_share", "speed/play_share",
        "match_random/points_per_game", "match_previous/points_per_game",
    }  # fmt: skip
    assert wanted <= tags
    assert events.Tags()["images"] == ["calibration"]
    assert [event.step for event in events.Scalars("loss/train")] == [32, 64, 96, 128, 160]
    assert [event.step for event in events.Scalars("match_random/points_per_game")] == [32, 64, 128]
    assert [r["games"] for r in read_metrics(run) if "match_random/points_per_game" in r] == [32, 64, 128]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_command_stopped_from_outside(tmp_path: Path, how: signal.Signals) -> None:
    """Ctrl-C saves and leaves with 130; after kill -9 the newest checkpoint is whole and can be resumed."""
    command = [sys.executable, "scripts/train.py", f"runs_dir={tmp_path}", "name=t", "games=1000000", "net.hidden=8"]
    command += ["games_per_iteration=16", "save_minutes=0.0001", "match.every_games=0", "log_every=1"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    metrics = tmp_path / "t" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (metrics.exists() and metrics.read_text().count("\n") > 5):
        time.sleep(0.05)
    process.send_signal(how)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    if how == signal.SIGINT:
        assert "Stopped early. Go on with" in output
    games = load_checkpoint(tmp_path / "t").meta["games"]
    assert games > 0
    resumed = train(config(tmp_path, resume=str(tmp_path / "t"), games=games + 32))
    assert resumed.games == games + 32
    assert [p.name for p in resumed.checkpoint.parent.iterdir() if p.name.startswith(".")] == []
    lines = metrics.read_text().splitlines()
    assert all(json.loads(line)["games"] for line in lines)


def test_a_damaged_newest_checkpoint_names_the_one_before(tmp_path: Path) -> None:
    done = train(config(tmp_path, games=32))
    (done.checkpoint / "weights.safetensors").write_bytes(b"x" * 50)
    before = sorted((tmp_path / "t" / "checkpoints").iterdir())[-2]
    with pytest.raises(CheckpointError, match=f"damaged .*The checkpoint before it may be whole: resume={before}"):
        train(config(tmp_path, resume=str(tmp_path / "t")))
    assert train(config(tmp_path, resume=str(before), games=40)).games == 40
