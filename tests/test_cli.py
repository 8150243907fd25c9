"""The commands as a user types them."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from nardy_rl import cli
from nardy_rl.config import PositionConfig

ROOT = Path(__file__).parents[1]


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    script = [sys.executable, str(ROOT / "scripts" / arguments[0]), *arguments[1:]]
    return subprocess.run(script, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def test_train_then_evaluate_then_pictures(tmp_path: Path) -> None:
    trained = run(
        "train.py", "experiment=quick", f"runs_dir={tmp_path}", "name=tiny", "games=192", "net.hidden=8",
        "match.every_games=64", "match.pairs=4", "match.final_pairs=6", "match.opponents=[random,pips]",
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    assert "192 games of official" in trained.stdout
    assert "against previous" in trained.stdout
    assert "95%" in trained.stdout

    results = tmp_path / "results.json"
    played = run("evaluate.py", f"agents=[{tmp_path}/tiny,random,heuristic]", "pairs=8", f"json={results}", "threads=1")
    assert played.returncode == 0, played.stderr
    assert "points" in played.stdout
    found = json.loads(results.read_text())
    assert found["rules"] == "official"
    assert [(match["a"], match["b"], match["pairs"]) for match in found["matches"]] == [
        (f"{tmp_path}/tiny", "random", 8), (f"{tmp_path}/tiny", "heuristic", 8), ("random", "heuristic", 8),
    ]  # fmt: skip

    drawn = run("pictures.py", f"run={tmp_path}/tiny", f"out={tmp_path}/pictures")
    assert drawn.returncode == 0, drawn.stderr
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {"board.svg", "learning_curve.svg"}

    again = run("train.py", f"resume={tmp_path}/tiny", "games=256")
    assert again.returncode == 0, again.stderr
    assert "going on from 192" in again.stdout
    assert "heuristic" not in again.stdout, "its own opponents"


def test_an_agent_against_itself_is_exactly_zero(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    assert run("evaluate.py", "agents=[heuristic,heuristic]", "pairs=20", f"json={results}").returncode == 0
    match = json.loads(results.read_text())["matches"][0]
    assert (match["ppg"], match["ci95"]) == (0.0, [0.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate.py", "agents=[random,nobody]"), "unknown agent 'nobody'"),
        (("evaluate.py", "agents=[random]"), "at least two agents"),
        (("evaluate.py", "pairs=0", "agents=[random,pips]"), "pairs=0"),
        (("evaluate.py", "pairs=many"), "pairs"),
        (("evaluate.py", "pear=3"), "pear"),
        (("evaluate.py", "rules=nonsense", "agents=[random,pips]"), "unknown rules 'nonsense'"),
        (("evaluate.py", "options={draw: maybe}", "agents=[random,pips]"), "draw='maybe'"),
        (("evaluate.py", "json=/no/such/folder/x.json", "agents=[random,pips]"), "no folder /no/such/folder"),
        (("train.py", "experiment=nonsense"), "nonsense"),
        (("train.py", "algorithm=magic"), "algorithm='magic'"),
        (("train.py", "lam.start=2"), "lam=2"),
        (("train.py", "resume=/no/such/run"), "is not a checkpoint"),
    ],
)
def test_mistakes_end_in_a_clear_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    extra = () if arguments[0] != "train.py" else (f"runs_dir={tmp_path}/runs",)
    done = run(*arguments, *extra)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate.py pair=3", "no option 'pair'; did you mean pairs?"),
        ("train.py net.hiden=3", "no option 'net.hiden'; did you mean net.hidden?"),
        ("train.py hidden=3", "no option 'hidden'; did you mean net.hidden?"),
        ("position.py +threads=1", "no option 'threads'; --help lists them all"),
        ("train.py +net={foo:3}", "no option 'net.foo'; did you mean net?"),
        ("evaluate.py +pairs=3", "pairs is an option already; write it without the +"),
        ("evaluate.py pairs=abc", "pairs='abc' is not allowed; give a whole number"),
        ("build_bearoff.py men=abc", "men='abc' is not allowed; give a whole number"),
        ("build_bearoff.py max_gb=abc", "max_gb='abc' is not allowed; give a number"),
        ("train.py overlap=abc", "overlap='abc' is not allowed; give true or false"),
        ("evaluate.py agents=3", "agents='3' is not allowed; give a list, as [A,B]"),
        ("evaluate.py search.candidates=[a]", "search.candidates='[a]' is not allowed: search.candidates[0]: "),
        ("train.py net=3", "net='3' is not allowed; give its parts, as net.hidden=..."),
        ("train.py experiment=nonsense", "experiment='nonsense' is not allowed; choose one of flagship,"),
        ("evaluate.py pairs=1,2", "Ambiguous value for argument 'pairs=1,2'; write a list as name=[a,b]"),
        ("train.py words", "'words' cannot be read; options are given as name=value"),
        ("search_speed.py plies=9", "plies=9 is not allowed; give 0 to 4"),
        ("search_speed.py games=0", "games=0 is not allowed; give 1 or more"),
        (
            "rollout.py rollout.trials=72",
            "rollout.trials=72 is less than rollout.min_trials=1296; give rollout.min_trials",
        ),
    ],
)
def test_a_mistyped_option_ends_in_one_line(
    arguments: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert said(arguments, tmp_path, monkeypatch, capfd).startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("search_speed.py json=/nope/x", "json=/nope/x: there is no folder /nope"),
        ("benchmark.py json=/nope/x", "json=/nope/x: there is no folder /nope"),
        ("build_bearoff.py men=1 one_sided=/nope/x.npz", "one_sided=/nope/x.npz: there is no folder /nope"),
        ("build_bearoff.py men=1 folder=FILE", "folder=FILE: FILE is a file; give a folder"),
        ("build_bearoff.py men=1 folder=FILE/tables", "folder=FILE/tables: FILE is a file; give a folder"),
        ("build_bearoff.py men=1 max_gb=nan", "max_gb=nan is not allowed; give more than 0"),
        ("build_bearoff.py men=1 max_gb=-1", "max_gb=-1 is not allowed; give more than 0"),
        ("opening_book.py page=/nope/x.md", "page=/nope/x.md: there is no folder /nope"),
        ("opening_book.py build=true state=FILE", "state=FILE: FILE is a file; give a folder"),
        ("rollout.py state=/nope/x", "state=/nope/x: there is no folder /nope"),
        ("rollout.py json=FILE/x", "json=FILE/x: FILE is a file"),
        ("reference_set.py out=x.npz work=FILE", "work=FILE: FILE is a file; give a folder"),
        ("pictures.py out=FILE", "out=FILE: FILE is a file; give a folder"),
        ("compare_trainers.py out=FILE", "out=FILE: FILE is a file; give a folder"),
        ("compare_trainers.py runs_dir=FILE", "runs_dir=FILE: FILE is a file; give a folder"),
        ("train.py runs_dir=FILE", "runs_dir=FILE: FILE is a file; give a folder"),
        ("league.py leagues_dir=FILE", "leagues_dir=FILE: FILE is a file; give a folder"),
        ("error_curve.py runs=[a] out=c.png", "out=c.png is not allowed: the picture is an SVG"),
        ("error_curve.py runs=[a] out=/nope/c.svg", "out=/nope/c.svg: there is no folder /nope"),
    ],
)
def test_outputs_are_checked_before_the_work(
    arguments: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.touch()
    arguments, message = (text.replace("FILE", str(file)) for text in (arguments, message))
    assert said(arguments, tmp_path, monkeypatch, capfd).startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    "script", ["rollout.py agent", "bearoff_error.py agent", "reference_set.py out=x.npz judge", "evaluate.py luck"]
)
@pytest.mark.parametrize("spec", ["heuristic", f"{ROOT}/checkpoints/long-quick-v1@1ply"])
def test_what_takes_a_net_says_so(
    script: str, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    error = said(f"{script}={spec}", tmp_path, monkeypatch, capfd)
    assert error == (
        f"error: {spec} is not a checkpoint: this takes a net, the folder of a checkpoint or of a run, without @1ply\n"
    )


def said(arguments: str, cwd: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    """The one line on standard error of a script that ends with code 2; in this process, which has all loaded."""
    script, *rest = arguments.split()
    monkeypatch.chdir(cwd)
    monkeypatch.setattr(sys, "argv", [script, *rest])
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "scripts" / script), run_name="__main__")
    out, error = capfd.readouterr()
    assert (ended.value.code, out, error.count("\n")) == (2, "", 1), error
    return error


def test_ctrl_c_is_quiet_while_a_script_loads(tmp_path: Path) -> None:
    for name in ("hydra", "numpy", "torch"):  # whichever a script loads first; it swallows the signal, as numba may
        (tmp_path / f"{name}.py").write_text(
            "import os, signal, sys, time\n"
            "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(1)\n"
            "except KeyboardInterrupt:\n    sys.exit('swallowed')\n"
        )
    scripts = [path for path in sorted((ROOT / "scripts").glob("*.py")) if path.stem != "interrupts"]
    assert len(scripts) > 10
    for script in scripts:
        done = subprocess.run(
            [sys.executable, script], env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (130, "", ""), script.name


def test_a_position_in_every_notation(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(text: str, rules: str = "short") -> list[str]:
        assert cli._position(PositionConfig(text, rules)) == 0
        return capsys.readouterr().out.splitlines()

    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    expected = ["24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5", "4HPwATDgc/ABMA:cIkFAAAAAAAE", xgid]
    for text in (xgid, expected[1]):
        assert shown(text)[0] == "short nardy, x to play, dice 3-1"
        assert shown(text)[-3:] == expected
    assert shown(expected[0])[-1] == xgid.replace(":31:", ":00:")
    assert shown("4HPwATDgc/ABMA:cEEAAAAAAAAA")[-1] == "no XGID: an XGID cannot say that a player has offered to resign"
    assert shown("24:15 | 24:15", "official")[-1] == "24:15 | 24:15"
    with pytest.raises(ValueError, match="both sides hold"):
        shown("24:14 1:1 | 24:15")


def test_an_id_as_it_is_typed() -> None:
    top = "XGID=---BBBBAAA---Ac-bbccbAA-A-:1:1:-1:63:4:3:0:5:8"
    done = run("position.py", f"position={top}")
    assert done.stdout.splitlines()[-1] == top, "`:-1:` is no emoji"
    wrong = run("position.py", f"position={top}:1")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "it has 11 fields" in " ".join(wrong.stderr.split())


def test_works_from_another_folder(tmp_path: Path) -> None:
    done = run("evaluate.py", "agents=[random,pips]", "pairs=2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [], "hydra leaves no folders behind"
    helped = run("train.py", "--help", cwd=tmp_path)
    assert "games_per_iteration" in helped.stdout
