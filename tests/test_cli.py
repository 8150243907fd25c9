"""The commands as a user types them."""

import json
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
    assert done.returncode not in (0, -11)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


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
