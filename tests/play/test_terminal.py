"""The terminal: files, ends of input, and the real script through a pipe and on a terminal."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from nardy_rl.agents.base import Decisions
from nardy_rl.agents.baselines import PipsAgent
from nardy_rl.agents.registry import make_agent
from nardy_rl.play.session import Session, Setup
from nardy_rl.play.terminal import STOPPED, RecordFile, read_record, run
from nardy_rl.records.record import UNFINISHED, MatchRecord
from nardy_rl.rules.spec import PRESETS

ROOT = Path(__file__).parents[2]
SCRIPT = [sys.executable, str(ROOT / "scripts" / "play.py")]


def session(**setup: object) -> Session:
    values = {"preset": "official", "options": {}, "seed": 3, "first": "you", "auto": False} | setup
    return Session(Setup(**values), make_agent("pips", PRESETS[str(values["preset"])]))  # type: ignore[arg-type]


def typing(*lines: str, then: type[BaseException] = EOFError) -> Iterator[str]:
    yield from lines
    raise then


def played(file: RecordFile, *lines: str, then: type[BaseException] = EOFError, **setup: object) -> tuple[int, str]:
    """Exit code and screen of a session in which these lines are typed."""
    screen = io.StringIO()
    source = typing(*lines, then=then)
    code = run(session(**setup), file, Console(file=screen, width=100), lambda prompt: next(source))
    return code, screen.getvalue()


@pytest.mark.parametrize(("then", "code"), [(EOFError, 0), (KeyboardInterrupt, STOPPED)])
def test_the_end_of_input_saves(tmp_path: Path, then: type[BaseException], code: int) -> None:
    path = tmp_path / "game.txt"
    ended, screen = played(RecordFile(path), "plays", "1", then=then)
    assert ended == code
    assert f"python scripts/play.py resume={path}" in screen.replace("\n", "")
    record = read_record(path)
    assert isinstance(record, MatchRecord)
    assert record.games[0].ended == UNFINISHED
    assert len(record.games[0].turns) >= 2
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_session_is_kept(tmp_path: Path) -> None:
    path, kept = tmp_path / "game.txt", tmp_path / "game.autosave.txt"
    there: list[bool] = []

    def read(prompt: str) -> str:
        there.append(kept.exists())
        if len(there) == 3:
            kept.rename(tmp_path / "copy.txt")  # what a kill would leave at this moment
        return "1" if len(there) == 2 else "plays" if len(there) < 3 else "quit" if len(there) == 3 else "no"

    run(session(), RecordFile(path), Console(file=io.StringIO()), read)
    assert there == [False, False, True, False]
    record = read_record(tmp_path / "copy.txt")
    assert isinstance(record, MatchRecord)
    assert len(record.games[0].turns) >= 2

    (tmp_path / "copy.txt").rename(kept)
    with pytest.raises(ValueError, match="from a session that was killed; go on with resume="):
        RecordFile(path).check(path)
    played(RecordFile(kept, ours=True), "plays", "1")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["game.autosave.txt"]


def test_nothing_played_leaves_nothing(tmp_path: Path) -> None:
    for lines in ((), ("quit",), ("save", "quit")):
        code, screen = played(RecordFile(tmp_path / "games" / "x.txt", make_folder=True), *lines)
        assert code == 0
        assert "Go on with" not in screen
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("answer", "there"), [("yes", True), ("no", False)])
def test_quit_saves_if_told_so(tmp_path: Path, answer: str, there: bool) -> None:
    path = tmp_path / "games" / "x.txt"
    code, screen = played(RecordFile(path, make_folder=True), "plays", "1", "quit", "what", answer)
    assert code == 0
    assert path.exists() is there
    assert ("Go on with" in screen) is there


def test_a_finished_game_is_saved_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    code, screen = played(RecordFile(path), "plays", "1", "resign", "yes", "quit", "no", games=2)
    assert code == 0
    assert "Saved in" in screen
    record = read_record(path)
    assert isinstance(record, MatchRecord)
    assert [game.ended for game in record.games] == ["resigned"]
    code, screen = played(RecordFile(tmp_path / "y.txt"), "plays", "1", "resign", "yes")
    assert "Go on with" not in screen, "the match is over"


def test_where_a_session_cannot_be_saved(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("mine")
    (tmp_path / "folder").mkdir()
    names = ["no/folder/x.txt", "other.txt", "folder", "x" * 300 + ".txt", "\0.txt", "x", "a b.txt", "a b.txt"]
    lines = [f"save {tmp_path}/{name}" for name in names]
    code, screen = played(RecordFile(tmp_path / "x.txt"), "plays", "1", *lines)
    assert code == 0
    assert screen.count("Not saved:") == 6
    for words in ("there is no folder", "is there already", "is a folder", "null", "should end in .txt"):
        assert words in screen.replace("\n", " ")
    assert (tmp_path / "other.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"a b.txt", "other.txt", "folder"}, "kept under the new name"


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    played(RecordFile(path), "plays", "1")
    before = path.read_text()
    path.chmod(0o444)
    code, screen = played(RecordFile(path, ours=True), "plays", "1")
    assert code == 1
    assert "is read-only" in screen.replace("\n", " ")
    assert "[game 1]" in screen, "what cannot be saved is shown"
    assert path.read_text() == before


def test_an_error_of_the_agent_still_saves(tmp_path: Path) -> None:
    class Breaks(PipsAgent):
        def scores(self, decisions: Decisions) -> NDArray[np.float64]:
            raise ZeroDivisionError

    setup = Setup("official", {}, 3, first="you", auto=False)
    source = typing("plays", "1")
    with pytest.raises(ZeroDivisionError):
        run(
            Session(setup, Breaks(setup.rules)),
            RecordFile(tmp_path / "x.txt"),
            Console(file=io.StringIO()),
            lambda prompt: next(source),
        )
    record = read_record(tmp_path / "x.txt")
    assert isinstance(record, MatchRecord)
    assert len(record.games[0].turns) == 2, "what was played, and the dice the agent had"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is no game"),
        (b"hello\n", "line 1: cannot read 'hello'"),
        (b"\xff\xfe\x00", "zero byte"),
        (b"rules: official\n\n1. 63 24/15\n2. 99 24/15\n", "line 4"),
        (b"[game]\n\n1. 63 24/15\n[game]\n\n1. 63 24/15\n", "holds 2 games"),
    ],
)
def test_broken_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_record(tmp_path / "x.txt")


# --- the script -------------------------------------------------------------------------------------------------------


def script(text: str | bytes, *arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*SCRIPT, *arguments],
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        cwd=cwd,
        timeout=300,
        check=False,
        env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"} | environment,
    )


def test_a_game_through_a_pipe_and_on_another_day(tmp_path: Path) -> None:
    done = script(b"plays\n1\n\xff\xfe garbage\nplays\n1\n", "agent=pips", "seed=4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    [path] = (tmp_path / "games").iterdir()
    assert max(len(line) for line in done.stdout.decode().splitlines() if "resume=" not in line) <= 80
    before = read_record(path)
    again = script("board\nresign\nyes\n", f"resume={path}", cwd=tmp_path)
    assert again.returncode == 0, again.stderr.decode()
    assert "You play pips: official rules" in again.stdout.decode()
    after = read_record(path)
    assert isinstance(before, MatchRecord)
    assert isinstance(after, MatchRecord)
    assert after.games[0].turns == before.games[0].turns
    assert after.games[0].ended == "resigned"
    over = script("", f"resume={path}", cwd=tmp_path)
    assert over.returncode == 2
    assert "the match is over" in over.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("agent=nobody",), "unknown agent 'nobody'"),
        (("agent=pips", "dice=loaded"), "dice='loaded'"),
        (("agent=pips", "resume=/no/such/file"), "/no/such/file"),
    ],
)
def test_mistakes_end_in_a_clear_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = script("", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX's")
@pytest.mark.parametrize("stop", ["ctrl-c", "hang up"])
def test_on_a_terminal(tmp_path: Path, stop: str) -> None:
    import pexpect  # noqa: PLC0415  (there is none on Windows)

    path = tmp_path / "x.txt"
    arguments = [*SCRIPT[1:], "agent=pips", "first=you", "auto=false", "seed=4", f"save={path}"]
    terminal = pexpect.spawn(
        SCRIPT[0],
        arguments,
        cwd=tmp_path,
        dimensions=(50, 80),
        timeout=120,
        env=os.environ | {"TERM": "xterm-256color"},
    )
    terminal.expect("[1-6]-[1-6]> ")
    assert b"\x1b[" in terminal.before, "in colour"
    terminal.sendline("plays")
    terminal.expect("  1  24/")
    terminal.expect("> ")
    terminal.sendline("1")
    terminal.expect("You play")
    terminal.expect("> ")
    if stop == "hang up":
        terminal.close(force=False)
    else:
        terminal.sendintr()
        terminal.expect("resume=")
        terminal.expect(pexpect.EOF)
        terminal.close()
        assert terminal.exitstatus == STOPPED
    assert read_record(path), "saved all the same"
