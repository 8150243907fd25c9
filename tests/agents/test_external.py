"""External programs: the good ones play as they say, the bad ones are told apart, named, and gone."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy_rl import engine
from nardy_rl.agents import external
from nardy_rl.agents.base import Decisions
from nardy_rl.agents.external import ExternalAgent, ExternalConfig, ExternalError
from nardy_rl.agents.registry import make_agent
from nardy_rl.evaluation.arena import forfeit_lines, match_table, matches_as_json, play_match, round_robin
from nardy_rl.rules.notation import format_play, parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.reference import legal_plays
from nardy_rl.rules.spec import OFFICIAL, PRESETS, make_rules

ROOT = Path(__file__).parents[2]
ENGINE = f"external:{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'scripts' / 'engine.py'))}"

PROGRAM = """
import json, os, signal, subprocess, sys, time
open({pid!r}, "a").write(str(os.getpid()) + "\\n")
def say(request, **reply):
    print(json.dumps({{"id": request["id"], **reply}}), flush=True)
def version(request):
    say(request, protocol=1)
def choose(request, asked):
    say(request, choices=[0] * len(request["decisions"]))
def start():
    pass
{changes}
start()
asked = 0
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "version":
        version(request)
    elif not request["decisions"]:
        say(request, choices=[])
    else:
        asked += 1
        choose(request, asked)
"""
"""A program that plays the first play of each roll; `changes` replaces some of its functions."""

Make = Callable[..., ExternalAgent]


def alive(pid: int) -> bool:
    """Is there such a process that still runs (and is not only waiting to be counted out by its parent)?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pids_of(tmp_path: Path) -> list[int]:
    file = tmp_path / "pids"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def all_gone(tmp_path: Path) -> bool:
    deadline = time.monotonic() + 5
    while any(map(alive, pids_of(tmp_path))) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(alive, pids_of(tmp_path)))


def wait_for_start(tmp_path: Path) -> None:
    """Until the program has been started and, very likely, asked."""
    deadline = time.monotonic() + 60
    while not pids_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)


def spec_of(tmp_path: Path, changes: str = "") -> str:
    file = tmp_path / "bot.py"
    file.write_text(PROGRAM.format(pid=str(tmp_path / "pids"), changes=changes))
    return f"external:{shlex.quote(sys.executable)} {shlex.quote(str(file))}"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes the agent of a program; at the end there must be nothing left of it."""
    agents: list[ExternalAgent] = []

    def make_it(changes: str = "", timeout_s: float = 20.0, rules: Any = OFFICIAL) -> ExternalAgent:
        agents.append(ExternalAgent(spec_of(tmp_path, changes), rules, ExternalConfig(timeout_s, 0.0)))
        return agents[-1]

    yield make_it
    for agent in agents:
        agent.close()
    assert all_gone(tmp_path)


def decisions_of(positions: list[str], dice: list[tuple[int, int]]) -> Decisions:
    boards = np.array([parse_position(text) for text in positions], dtype=np.int8)
    rolled = np.array(dice, dtype=np.int8)
    return Decisions(boards, rolled, np.ones(len(boards), dtype=np.bool_), legal_afterstates(boards, rolled))


START = "24:15 | 24:15"
RACE = "5:2 3:1 off:12 | 6:2 1:1 off:12"


@pytest.fixture
def two() -> Decisions:
    return decisions_of([START, RACE], [(3, 3), (2, 1)])


# --- programs that play -----------------------------------------------------------------------------------------------


def test_it_plays_the_first_play_of_each_roll(make: Make, two: Decisions, tmp_path: Path) -> None:
    agent = make()
    assert not pids_of(tmp_path), "started before it was asked"
    scores = agent.scores(two)
    assert np.flatnonzero(scores).tolist() == two.afterstates.offsets[:-1].tolist()
    agent.scores(two)
    assert len(pids_of(tmp_path)) == 1, "one process for all requests"
    agent.close()
    assert all_gone(tmp_path)
    agent.scores(two)
    assert len(pids_of(tmp_path)) == 2, "and another after it was closed"


@pytest.mark.parametrize("form", ["number", "text", "board"])
def test_a_choice_is_a_number_a_text_or_a_board(form: str, make: Make, two: Decisions, tmp_path: Path) -> None:
    last = two.afterstates.offsets[1:] - 1
    boards = [two.afterstates.boards[k].tolist() for k in last]
    texts = []
    for board, dice, wanted in zip(two.boards, two.dice.tolist(), boards, strict=True):
        plays = legal_plays(board, dice, OFFICIAL)
        texts += [format_play(play.steps) for play in plays if [list(row) for row in play.board] == wanted]
    choices = {"number": (two.afterstates.counts - 1).tolist(), "text": texts, "board": boards}[form]
    agent = make(
        f"def choose(request, asked):\n    say(request, choices=json.loads({json.dumps(json.dumps(choices))}))"
    )
    assert np.flatnonzero(agent.scores(two)).tolist() == last.tolist()


def test_what_a_request_says(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    changes = (
        "def choose(request, asked):\n"
        f"    open({str(log)!r}, 'w').write(json.dumps(request))\n"
        "    say(request, choices=[1] * len(request['decisions']))"
    )
    rules = make_rules("moscow", {"scoring": "checkers"})
    decisions = decisions_of([START, START, RACE], [(6, 4), (5, 5), (2, 1)])
    decisions.moved_first[2] = False
    agent = make(changes, rules=rules)
    agent.scores(decisions)
    request = json.loads(log.read_text())
    assert (request["cmd"], request["rules"], request["options"]) == ("choose", "moscow", {"scoring": "checkers"})
    counts = decisions.afterstates.counts
    assert (counts == 1).tolist() == [True, True, False], "what cannot be chosen is not asked"
    [decision] = request["decisions"]
    assert decision["board"] == decisions.boards[2].tolist()
    assert decision["dice"] == [2, 1]
    assert decision["moved_first"] is False
    assert decision["plays"] == decisions.afterstates.boards[2:].tolist()
    engine_understands = engine.answer(json.dumps(request | {"agent": "pips"}).encode())
    assert engine_understands is not None
    assert b"choices" in engine_understands


def test_nothing_to_choose_starts_nothing(make: Make, tmp_path: Path) -> None:
    decisions = decisions_of([START], [(6, 4)])
    assert make().scores(decisions).tolist() == [0.0]
    assert not pids_of(tmp_path)


def test_large_batches_are_asked_in_parts(make: Make, two: Decisions, monkeypatch: pytest.MonkeyPatch) -> None:
    many = decisions_of([START, RACE, RACE] * 5, [(3, 3), (2, 1), (6, 6)] * 5)
    whole = make().scores(many)
    for most in (1, 7):
        monkeypatch.setattr(external, "MAX_PLAYS", most)
        assert (make().scores(many) == whole).all()
    agent = make(
        "def choose(request, asked):\n    say(request, choices=[min(asked - 1, 1)] * len(request['decisions']))"
    )
    monkeypatch.setattr(external, "MAX_PLAYS", int(two.afterstates.counts[0]))
    second = int(two.afterstates.offsets[1]) + 1
    assert np.flatnonzero(agent.scores(two)).tolist() == [0, second], "one request each"


@pytest.mark.parametrize("threads", [1, 2])
def test_our_own_engine_plays_as_the_agent_it_serves(threads: int) -> None:
    served = ExternalAgent(f"{ENGINE} heuristic", OFFICIAL)
    rand = make_agent("random", OFFICIAL)
    try:
        outside = play_match(served, rand, OFFICIAL, 6, seed=3, threads=threads)
    finally:
        served.close()
    assert outside.ppg > 1
    again = round_robin([f"{ENGINE} heuristic", rand], OFFICIAL, 6, seed=3)[0]
    assert (again.outcome == outside.outcome).all()
    assert (again.turns == outside.turns).all()


def test_the_program_of_the_documentation_plays(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    [program] = [part.split("```")[0] for part in text.split("```python\n")[1:] if "sys.stdin" in part.split("```")[0]]
    (tmp_path / "bot.py").write_text(program, encoding="utf-8")
    [result] = round_robin([f"external:{sys.executable} {tmp_path / 'bot.py'}", "pips"], OFFICIAL, 5, seed=0)
    assert result.forfeit is None
    assert result.turns.min() > 30


def test_our_own_engine_chooses_what_is_best(two: Decisions) -> None:
    agent = ExternalAgent(f"{ENGINE} bearoff", OFFICIAL)
    try:
        chosen = np.flatnonzero(agent.scores(two))
    finally:
        agent.close()
    scores = make_agent("bearoff", OFFICIAL).scores(two)
    assert len(chosen) == 2
    for k, row in enumerate(chosen):
        first, last = two.afterstates.offsets[k : k + 2]
        assert first <= row < last
        assert scores[row] == scores[first:last].max()


def test_our_own_engine_without_an_agent_says_so(two: Decisions) -> None:
    with pytest.raises(ExternalError, match="refused the request 'choose': key 'agent' is missing"):
        ExternalAgent(ENGINE, OFFICIAL).scores(two)


def test_our_own_engine_serves_no_programs(tmp_path: Path) -> None:
    request = {"cmd": "choose", "agent": spec_of(tmp_path), "decisions": []}
    reply = json.loads(engine.answer(json.dumps(request).encode()) or b"")
    assert "is not served" in reply["error"]
    assert not pids_of(tmp_path)


def test_the_engine_wants_one_agent_at_most() -> None:
    done = subprocess.run([sys.executable, "scripts/engine.py", "a", "b"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"usage" in done.stderr


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        (PRESETS["short"], ("short", {})),
        (OFFICIAL, ("official", {})),
        (make_rules("club", {"head_second": "stuck_first"}), ("club", {"head_second": "stuck_first"})),
    ],
)
def test_rules_are_named_by_the_nearest_preset(rules: Any, named: tuple[str, Any]) -> None:
    variant = external._variant(rules)
    assert (variant["rules"], variant["options"]) == named
    assert make_rules(variant["rules"], variant["options"]) == rules


# --- programs that fail -----------------------------------------------------------------------------------------------

FAILURES = {
    "dies at start": ("sys.exit(3)", "ended with exit code 3"),
    "dies at start with a word": ("sys.exit('no licence')", "exit code 1 .*standard error ended with: no licence"),
    "dies of a signal": ("os.kill(os.getpid(), signal.SIGSEGV)", "died of SIGSEGV"),
    "dies in the middle": (
        "def choose(request, asked):\n    print('half', end='', flush=True)\n    raise RuntimeError('boom')",
        "exit code 1 .*RuntimeError: boom",
    ),
    "closes its output": (
        "def choose(request, asked):\n    os.close(1)\n    time.sleep(60)", "closed its standard output",
    ),
    "is no JSON": ("def version(request):\n    print('Welcome to SuperBot 3.0', flush=True)", "not JSON: 'Welcome to"),
    "is no UTF-8": ("def version(request):\n    os.write(1, b'\\xff\\xfe\\n')", "not JSON"),
    "is no object": ("def version(request):\n    print('[1]', flush=True)", r"a JSON object, not \[1\]"),
    "steers the terminal": (
        "def version(request):\n    print('\\x1b[2J[red]\\x07', flush=True)", r"not JSON: '\\x1b\[2J\[red\]\\x07'",
    ),
    "another id": (
        "def choose(request, asked):\n    request['id'] += 1\n    say(request, choices=[0])",
        "the id of the reply is 4, not 3",
    ),
    "two lines": (
        "def choose(request, asked):\n    os.write(1, b'{\"id\": 3}\\n{\"id\": 4}\\n')", "more than one line",
    ),
    "another protocol": ("def version(request):\n    say(request, protocol=2)", "speaks protocol 2, not 1"),
    "no protocol": ("def version(request):\n    say(request)", "speaks protocol None, not 1"),
    "refuses": ("def choose(request, asked):\n    say(request, error='too hard')", "refused the request 'choose': too"),
    "no choices": ("def choose(request, asked):\n    say(request)", "choices must be a list of 2, not None"),
    "too few choices": ("def choose(request, asked):\n    say(request, choices=[0])", r"a list of 2, not \[0\]"),
    "no such play": (
        "def choose(request, asked):\n    say(request, choices=[0, 99])", r"choice 1: 99 is none of the plays 0\.\.",
    ),
    "before the first": ("def choose(request, asked):\n    say(request, choices=[-1, 0])", "choice 0: -1 is none"),
    "true": ("def choose(request, asked):\n    say(request, choices=[0, True])", "choice 1: True is no number"),
    "an illegal text": (
        "def choose(request, asked):\n    say(request, choices=['24/18', 0])", "choice 0: '24/18' is not legal",
    ),
    "an illegal board": (
        "def choose(request, asked):\n    say(request, choices=[0, [[15] + [0] * 25] * 2])",
        "choice 1: .* is not the board",
    ),
    "no board": ("def choose(request, asked):\n    say(request, choices=[0, [1, {}]])", "choice 1: .* is not the"),
    "deep nesting": ("def version(request):\n    print('[' * 100_000, flush=True)", "not JSON"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), FAILURES.values(), ids=FAILURES)
def test_failures_are_named(changes: str, message: str, make: Make, two: Decisions, tmp_path: Path) -> None:
    agent = make(changes)
    with pytest.raises(ExternalError, match=message) as caught:
        agent.scores(two)
    assert caught.value.agent is agent
    assert str(caught.value) == f"{agent.spec}: {caught.value.reason}"
    assert caught.value.reason.isprintable()
    assert len(caught.value.reason) < 1000
    assert pids_of(tmp_path)
    assert all_gone(tmp_path)


HANGS = {
    "hangs": "def choose(request, asked):\n    time.sleep(60)",
    "hangs at start": "time.sleep(60)",
    "ignores SIGTERM": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ndef choose(request, asked):\n    time.sleep(60)",
    "blank lines for ever": "def choose(request, asked):\n    while True: print(flush=True)",
    "floods standard error": "def choose(request, asked):\n    while True: sys.stderr.write('x' * 10_000)",
    "half a line": "def choose(request, asked):\n    print('{\"id\": 3', end='', flush=True)\n    time.sleep(60)",
    "reads nothing": "version = lambda request: (say(request, protocol=1), time.sleep(60))",
}


@pytest.mark.parametrize("changes", HANGS.values(), ids=HANGS)
def test_silence_has_an_end(changes: str, make: Make, two: Decisions, tmp_path: Path) -> None:
    agent = make(changes, timeout_s=0.6)
    begin = time.monotonic()
    with pytest.raises(ExternalError, match=r"did not answer within 0\.6 s"):
        agent.scores(two)
    assert time.monotonic() - begin < 5
    assert all_gone(tmp_path)


def test_more_decisions_may_take_longer(tmp_path: Path, two: Decisions) -> None:
    spec = spec_of(tmp_path, "def choose(request, asked):\n    time.sleep(60)")
    with pytest.raises(ExternalError, match=r"within 1\.1 s"):
        ExternalAgent(spec, OFFICIAL, ExternalConfig(0.5, 0.3)).scores(two)


def test_a_line_without_end_is_cut(make: Make, two: Decisions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(external, "MAX_REPLY", 300_000)
    with pytest.raises(ExternalError, match="a line longer than 300000 bytes"):
        make("def choose(request, asked):\n    while True: sys.stdout.write('x' * 10_000)").scores(two)
    assert all_gone(tmp_path)


def test_many_lines_for_one_request(make: Make, two: Decisions, tmp_path: Path) -> None:
    with pytest.raises(ExternalError, match=r"more than one line|several lines"):
        # in one write, so that the second line is there as soon as the first
        make('def choose(request, asked):\n    sys.stdout.write(20 * \'{"id": 3, "choices": [0, 0]}\\n\')').scores(two)
    assert all_gone(tmp_path)


def test_standard_error_is_drained(make: Make, two: Decisions) -> None:
    agent = make(
        "def choose(request, asked):\n"
        "    sys.stderr.write('x' * 1_000_000 + '\\n')\n"
        "    say(request, choices=[0, 0])\n"
        "    if asked == 2: sys.exit('the end')"
    )
    assert agent.scores(two).sum() == 2
    assert agent.scores(two).sum() == 2
    with pytest.raises(ExternalError, match=r"ended with: \.\.\. x+ \| the end$"):
        agent.scores(two)


def test_an_answer_before_death_counts(make: Make, two: Decisions) -> None:
    agent = make("def choose(request, asked):\n    say(request, choices=[0, 0])\n    sys.exit(4)")
    assert agent.scores(two).sum() == 2
    with pytest.raises(ExternalError, match="ended with exit code 4"):
        agent.scores(two)
    assert agent.scores(two).sum() == 2, "started anew"


CHILD = f"child = subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(60)'])\n"
NOTED = "open({pid!r}, 'a').write(str(child.pid) + '\\n')\n"


@pytest.mark.parametrize(
    "then",
    [
        "def choose(request, asked):\n    sys.exit(5)",
        "def choose(request, asked):\n    time.sleep(60)",
        "",
    ],
    ids=["and dies", "and hangs", "and plays"],
)
def test_children_of_the_program_go_with_it(then: str, make: Make, two: Decisions, tmp_path: Path) -> None:
    agent = make(CHILD + NOTED.format(pid=str(tmp_path / "pids")) + then, timeout_s=2.0)
    if then:
        with pytest.raises(ExternalError, match=r"exit code 5|did not answer"):
            agent.scores(two)
    else:
        agent.scores(two)
        assert all(map(alive, pids_of(tmp_path)))
        agent.close()
    assert len(pids_of(tmp_path)) == 2
    assert all_gone(tmp_path)


def test_a_program_that_stays_is_killed_when_closed(
    make: Make, two: Decisions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "ENDING_S", 0.2)
    agent = make(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport atexit; atexit.register(lambda: time.sleep(60))"
    )
    agent.scores(two)
    agent.close()
    assert all_gone(tmp_path)
    agent.close()


def test_a_program_may_tidy_up(make: Make, two: Decisions, tmp_path: Path) -> None:
    mark = tmp_path / "tidy"
    agent = make(f"import atexit; atexit.register(lambda: (time.sleep(0.1), open({str(mark)!r}, 'w')))")
    agent.scores(two)
    agent.close()
    assert mark.exists()


def test_closing_wakes_who_waits(make: Make, two: Decisions, tmp_path: Path) -> None:
    agent = make("def choose(request, asked):\n    time.sleep(60)", timeout_s=50)
    errors: list[ExternalError] = []

    def ask() -> None:
        try:
            agent.scores(two)
        except ExternalError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_for_start(tmp_path)
    agent.close()
    thread.join(5)
    assert not thread.is_alive()
    assert "SIGKILL" in errors[0].reason
    assert all_gone(tmp_path)


def test_the_end_of_python_ends_it(tmp_path: Path) -> None:
    code = (
        "import numpy as np; from nardy_rl.agents.registry import make_agent\n"
        "from nardy_rl.agents.base import decide; from nardy_rl.game import new_games\n"
        "from nardy_rl.rules.spec import OFFICIAL\n"
        f"agent = make_agent({spec_of(tmp_path)!r}, OFFICIAL)\n"
        "print(agent.scores(decide(new_games([0], OFFICIAL), np.array([[3, 3]], np.int8), OFFICIAL)).sum())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1.0\n", b"")
    assert pids_of(tmp_path)
    assert all_gone(tmp_path)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("external:", "names no program"),
        ("external:   ", "names no program"),
        ("external:'", "cannot be read: No closing quotation"),
        ("external:no-such-program-here --fast", "there is no program 'no-such-program-here'"),
    ],
)
def test_specs_that_name_no_program(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, OFFICIAL)


def test_a_file_that_cannot_be_run(tmp_path: Path, two: Decisions) -> None:
    file = tmp_path / "bot"
    file.write_bytes(b"\x7fELF nonsense")
    file.chmod(0o755)
    with pytest.raises(ExternalError, match="cannot be started"):
        ExternalAgent(f"external:{file}", OFFICIAL).scores(two)


@pytest.mark.parametrize("config", [ExternalConfig(0.0), ExternalConfig(decision_s=-1), ExternalConfig(float("nan"))])
def test_impossible_patience(config: ExternalConfig, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not allowed"):
        ExternalAgent(spec_of(tmp_path), OFFICIAL, config)


# --- in matches -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("preset", "points"), [("official", 2), ("casual", 45), ("overview", 4)])
def test_a_failing_program_loses_its_match(first: bool, preset: str, points: int, tmp_path: Path) -> None:
    bad = spec_of(
        tmp_path,
        "def choose(request, asked):\n"
        "    if asked > 3: sys.exit('out of ideas')\n"
        "    say(request, choices=[0] * len(request['decisions']))",
    )
    specs = [bad, "random"] if first else ["random", bad]
    results = round_robin([*specs, "pips"], PRESETS[preset], 4, seed=1, threads=2)
    lost, other, fair = results if first else (results[0], results[2], results[1])
    for result in (lost, other):
        assert result.forfeit is not None
        assert result.forfeit.by == bad
        assert "out of ideas" in result.forfeit.reason
        view = result if result.a == bad else result.swapped()
        assert (view.ppg, view.win, view.mars_against, view.games) == (-points, 0, 1, 8)
    assert fair.forfeit is None
    assert fair.turns.min() > 0
    assert [match["forfeit"] is None for match in matches_as_json(results, preset)["matches"]].count(True) == 1
    lines = forfeit_lines(results)
    assert len(lines) == 2
    assert all("out of ideas" in line and bad in line for line in lines)
    assert list(match_table(results).columns[3].cells).count("forfeit") == 2
    assert all_gone(tmp_path)


def test_play_match_itself_makes_no_result_of_a_failure(make: Make) -> None:
    with pytest.raises(ExternalError, match="exit code 1"):
        play_match(make("sys.exit(1)"), make_agent("random", OFFICIAL), OFFICIAL, 2, seed=0)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_in_a_match_leaves_nothing(threads: int, tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "def choose(request, asked):\n    time.sleep(60)")

    def press() -> None:
        wait_for_start(tmp_path)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        round_robin([spec, "random"], OFFICIAL, 300, seed=0, threads=threads)
    thread.join()
    assert time.monotonic() - begin < 10
    assert all_gone(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "def choose(request, asked):\n    time.sleep(60)")
    command = [sys.executable, "scripts/evaluate.py", f'agents=["{spec}",random]', "pairs=10"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as popen:
        try:
            wait_for_start(tmp_path)
            popen.send_signal(number)
            _, errors = popen.communicate(timeout=30)
        finally:
            with contextlib.suppress(ProcessLookupError):
                popen.kill()
    assert (popen.returncode, errors) == (130, b"")
    assert pids_of(tmp_path)
    assert all_gone(tmp_path)
