"""The JSON lines engine: its protocol in a child process, its answers in this one."""

import io
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_rl import engine
from nardy_rl.agents.base import Decisions
from nardy_rl.agents.registry import AGENT_KINDS, make_agent
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.notation import PASS, parse_play
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.spec import CHECKERS, HEAD, OFF, OFFICIAL, OPTIONS, PRESETS, SLOTS, make_rules, rules_from_dict
from nardy_rl.value.checkpoint import save_checkpoint
from nardy_rl.value.net import NetConfig, make_net

ROOT = Path(__file__).parents[1]
CASES = json.loads((ROOT / "tests" / "data" / "cases.json").read_text(encoding="utf-8"))["cases"]
COMMAND = [sys.executable, str(ROOT / "scripts" / "engine.py")]
TIMEOUT = 60

Reply = dict[str, Any]


def side(checkers: dict[Any, int]) -> list[int]:
    row = [checkers.get(str(slot), checkers.get(slot, 0)) for slot in range(SLOTS)]
    assert sum(row) == CHECKERS
    return row


HEADS = [side({24: 15}), side({24: 15})]
DONE = side({0: 15})


def ask_line(line: bytes) -> Reply:
    """The reply to a line; a line of JSON it must be, with an id."""
    reply = engine.answer(line)
    assert reply is not None
    assert reply.isascii()
    assert b"\n" not in reply
    read: Reply = json.loads(reply)
    assert "id" in read
    if "error" in read:
        assert read.keys() == {"id", "error"}
        assert 0 < len(read["error"]) <= engine.MAX_ERROR
        assert "internal error" not in read["error"]
    return read


def ask(**request: Any) -> Reply:
    reply = ask_line(json.dumps(request).encode())
    assert "error" not in reply, reply
    return reply


def error(**request: Any) -> str:
    reply = ask_line(json.dumps({"id": 3, **request}).encode())
    assert reply["id"] == 3
    assert "error" in reply, reply
    return str(reply["error"])


# --- the process ------------------------------------------------------------------------------------------------------


class Process:
    """A running engine."""

    def __init__(self) -> None:
        self.popen = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, cwd=ROOT
        )
        assert self.popen.stdin
        assert self.popen.stdout
        self.stdin, self.stdout = self.popen.stdin, self.popen.stdout
        self.waiting = b""

    def send(self, line: bytes) -> None:
        data = line + b"\n"
        while data:
            data = data[self.stdin.write(data) :]

    def receive(self) -> Reply:
        while b"\n" not in self.waiting:
            ready, _, _ = select.select([self.stdout], [], [], TIMEOUT)
            assert ready, "no reply in time"
            chunk = self.stdout.read(2**16)
            assert chunk, "the engine has ended"
            self.waiting += chunk
        line, _, self.waiting = self.waiting.partition(b"\n")
        reply: Reply = json.loads(line)
        return reply

    def end(self) -> tuple[int, bytes, bytes]:
        """Exit code, what was still unread, and standard error."""
        self.stdin.close()
        self.popen.stdin = None  # communicate() would flush it
        out, err = self.popen.communicate(timeout=TIMEOUT)
        return self.popen.returncode, self.waiting + (out or b""), err


@pytest.fixture
def process() -> Iterator[Process]:
    running = Process()
    yield running
    if running.popen.poll() is None:
        running.popen.kill()
        running.popen.communicate()


@pytest.fixture(scope="module")
def shared() -> Iterator[Process]:
    """One engine for all lines of a fuzz; at the end it must still leave in peace."""
    running = Process()
    yield running
    assert running.end() == (0, b"", b"")


def run(data: bytes) -> tuple[list[Reply], int, bytes]:
    done = subprocess.run(COMMAND, input=data, capture_output=True, timeout=TIMEOUT, cwd=ROOT, check=False)
    assert not done.stdout or done.stdout.endswith(b"\n")
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode, done.stderr


def test_replies_come_at_once_and_in_order(process: Process) -> None:
    for number in range(3):
        process.send(json.dumps({"id": number, "cmd": "legal_plays", "board": HEADS, "dice": [6, 4]}).encode())
        reply = process.receive()
        assert reply["id"] == number
        assert reply["plays"] == [{"text": "24/18 18/14", "board": [side({24: 14, 14: 1}), side({24: 15})]}]
    assert process.end() == (0, b"", b"")


def test_bad_lines_do_not_end_it() -> None:
    lines = [
        b"{",
        b"nonsense",
        b"[]",
        b"7",
        b"null",
        b'"cmd"',
        b"\xff\xfe{}",
        b"\x00",
        b"NaN",
        b'{"id": 5, "cmd": NaN}',
        b'{"cmd": "legal_plays", "cmd": "version"}',
        b'{"id": {"a": 1}, "cmd": "version"}',
        b'{"id": true, "cmd": "version"}',
        b'{"id": 1.5, "cmd": "version"}',
        b"9" * 5000,
        b"[" * 200_000,
        b'{"a":' * 50_000,
        b'{"id":1,"cmd":"' + b"x" * 2_000_000 + b'"}',
        b'{"id": 2}',
        b'{"id": 2, "cmd": ["version"]}',
    ]
    replies, code, err = run(b"\n".join(lines) + b"\n")
    assert (len(replies), code, err) == (len(lines), 0, b"")
    assert all(reply.keys() == {"id", "error"} for reply in replies)
    assert [reply["id"] for reply in replies] == [None] * (len(lines) - 3) + [1, 2, 2]


def test_line_ends_and_empty_lines() -> None:
    version = b'{"id": "v", "cmd": "version"}'
    replies, code, err = run(b"\n  \n\r\n\t\n\xef\xbb\xbf" + version + b"\r\n\n " + version + b"  \n" + version)
    assert ([reply["id"] for reply in replies], code, err) == (["v"] * 3, 0, b"")
    assert run(b"") == ([], 0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_is_silent(process: Process) -> None:
    process.send(b'{"cmd": "version"}')
    process.receive()
    process.popen.send_signal(signal.SIGINT)
    assert process.end() == (130, b"", b"")


def test_a_reader_who_leaves_ends_it_in_silence(process: Process) -> None:
    process.send(b'{"cmd": "version"}')
    process.receive()
    process.stdout.close()
    process.send(b'{"cmd": "version"}')
    process.popen.wait(timeout=TIMEOUT)
    assert process.popen.returncode == 0
    assert process.popen.stderr
    assert process.popen.stderr.read() == b""


def test_only_replies_reach_standard_output() -> None:
    code = (
        "import os, warnings; from nardy_rl import engine; real = engine.make_agent\n"
        "def noisy(spec, rules):\n"
        "    print('noise 1'); os.write(1, b'noise 2'); warnings.warn('noise 3', stacklevel=1)\n"
        "    return real(spec, rules)\n"
        "engine.make_agent = noisy\n"
        "engine.main()\n"
    )
    request = json.dumps({"cmd": "choose", "agent": "random", "decisions": []})
    done = subprocess.run(
        [sys.executable, "-c", code], input=request.encode(), capture_output=True, timeout=TIMEOUT, cwd=ROOT, check=True
    )
    assert json.loads(done.stdout) == {"id": None, "choices": [], "equities": []}
    assert all(b"noise %d" % number in done.stderr for number in (1, 2, 3))


def test_it_starts_without_torch() -> None:
    code = (
        "import io, json, sys; from nardy_rl import engine\n"
        f"heads = {HEADS}\n"
        "decision = {'board': heads, 'dice': [6, 4], 'plays': [heads]}\n"
        "request = {'cmd': 'choose', 'agent': 'heuristic', 'decisions': [decision]}\n"
        "replies = []\n"
        "engine.serve(io.BytesIO(json.dumps(request).encode()), replies.append)\n"
        "assert b'choices' in replies[0], replies\n"
        "print([name for name in ('torch', 'gymnasium', 'hydra', 'matplotlib') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=TIMEOUT, cwd=ROOT, check=True)
    assert done.stdout.strip() == b"[]"


def test_a_line_that_is_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_LINE", 100)
    fits = b'{"id": 1, "cmd": "version"}'.ljust(100)
    for end in (b"\n", b""):
        replies: list[bytes] = []
        data = [fits, fits + b" ", fits, b"x" * 200_000, fits, b"y" * 101]
        engine.serve(io.BytesIO(b"\n".join(data) + end), replies.append)
        read = [json.loads(reply) for reply in replies]
        assert ["error" in reply for reply in read] == [False, True, False, True, False, True]
        assert read[1]["error"] == "the line is longer than 100 bytes; split the request"


def test_without_streams() -> None:
    assert engine.serve(None, print) is None  # type: ignore[func-returns-value]
    if os.name == "posix":
        script = f"{sys.executable} {COMMAND[1]}"
        for closed in ("<&-", ">&-", "2>&-"):
            done = subprocess.run(
                ["sh", "-c", f"{script} {closed}"], input=b"", capture_output=True, cwd=ROOT, check=False
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# --- whatever is sent -------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.integers(0, 26)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["official", "short", "heuristic", "version", "choose", "\ud800", "\0", "a" * 5000]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "cmd", "board", "dice", "plays", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)

NEAR_END = [side({0: 13, 1: 2}), DONE]

REQUESTS: list[Reply] = [
    {"id": 1, "cmd": "legal_plays", "rules": "official", "options": {"draw": "none"}, "board": HEADS, "dice": [6, 4]},
    {
        "id": 2,
        "cmd": "choose",
        "agent": "heuristic",
        "rules": "club",
        "options": {"head_rolls": [3]},
        "seed": 5,
        "decisions": [{"board": NEAR_END, "dice": [1, 1], "moved_first": False, "plays": [[DONE, DONE], NEAR_END]}],
    },
    {"id": 3, "cmd": "new_game", "seed": 1, "game": 2, "options": {"start": HEADS[0], "draw_points": 0.5}},
    {"id": 4, "cmd": "settle", "before": NEAR_END, "after": [DONE, DONE], "moved_first": False},
    {"id": 5, "cmd": "score", "board": [DONE, HEADS[0]], "rules": "casual"},
    {"id": 6, "cmd": "agents"},
    {"id": 7, "cmd": "rules"},
    {"id": 8, "cmd": "version"},
    {"id": 9, "cmd": "position", "position": "4HPwATDgc/ABMA:cAkAAAAAAAAA", "dice": [3, 1], "rules": "short"},
]


@st.composite
def almost_requests(draw: st.DrawFn) -> bytes:
    """A valid request with something in it replaced, added or left out."""
    request = json.loads(json.dumps(draw(st.sampled_from(REQUESTS))))
    for _ in range(draw(st.integers(1, 2))):
        at: Any = request
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(at[key], dict | list) and draw(st.integers(0, 3)):
                at = at[key]
                continue
            action = draw(st.sampled_from(["replace", "remove", "add"]))
            if action == "replace":
                at[key] = draw(JSON)
            elif action == "remove":
                del at[key]
            elif isinstance(at, dict):
                at[draw(st.text(max_size=3) | st.sampled_from(["seed", *OPTIONS]))] = draw(JSON)
            else:
                at.insert(key, draw(JSON))
            break
    return json.dumps(request).encode()


GARBAGE = (
    st.binary(max_size=60)
    | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | JSON.map(lambda value: json.dumps(value).encode())
    | almost_requests()
    | st.builds(lambda line, end: line[:end], almost_requests(), st.integers(0, 300))
).map(lambda line: line.replace(b"\n", b" "))

FUZZ = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@given(line=GARBAGE)
@settings(FUZZ, max_examples=300)
def test_every_line_has_one_reply(line: bytes) -> None:
    replies: list[bytes] = []
    engine.serve(io.BytesIO(line + b"\n" + b'{"cmd":"version"}'), replies.append)
    assert len(replies) == (2 if line.strip() else 1)
    assert "protocol" in json.loads(replies[-1])
    if line.strip():
        ask_line(line)


@given(line=GARBAGE)
@settings(FUZZ, max_examples=100)
def test_no_line_ends_the_process(shared: Process, line: bytes) -> None:
    shared.send(line)
    if line.strip():
        assert "id" in shared.receive()
    shared.send(b'{"id": "alive", "cmd": "version"}')
    assert shared.receive()["id"] == "alive"


def test_the_requests_above_are_valid() -> None:
    for request in REQUESTS:
        assert ask(**request)["id"] == request["id"]


def test_a_mistake_of_ours_is_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "legal_plays", lambda *_: [])
    reply = json.loads(engine.answer(json.dumps(REQUESTS[0]).encode()) or b"")
    assert reply == {
        "id": 1,
        "error": "internal error, please report it: RuntimeError: the two move generators disagree on this position",
    }


# --- what is wrong with a request -------------------------------------------------------------------------------------


def changed(row: list[int], **slots: int) -> list[int]:
    row = list(row)
    for slot, count in slots.items():
        row[int(slot[1:])] = count
    return row


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ([HEADS[0][:25], HEADS[1]], "26 counts"),
        ([HEADS[0]], "two rows"),
        ([*HEADS, HEADS[0]], "two rows"),
        ("x", "two rows"),
        ([[26], [26]], "26 counts"),
        ([HEADS[0], None], "opponent's row"),
        ([changed(HEADS[0], s24=14), HEADS[1]], "the mover has 14 checkers, not 15"),
        ([HEADS[0], changed(HEADS[1], s1=1)], "the opponent has 16 checkers, not 15"),
        ([side({24: 14, 12: 1}), HEADS[1]], "both sides hold the mover's point 12"),
        ([side({24: 14, 25: 1}), HEADS[1]], "bar"),
        ([changed(HEADS[0], s24=16, s1=-1), HEADS[1]], "slot 1 must be an integer from 0 to 15, not -1"),
        ([changed(HEADS[0], s24=15 + 256), HEADS[1]], "not 271"),
        ([changed(HEADS[0], s24=10**400), HEADS[1]], "slot 24"),
        ([changed(HEADS[0], s24=15.0), HEADS[1]], "not 15.0"),  # type: ignore[arg-type]
        ([changed(HEADS[0], s24=14, s23=True), HEADS[1]], "not true"),
        ([changed(HEADS[0], s24=None), HEADS[1]], "not null"),  # type: ignore[arg-type]
        ([DONE, DONE], "both sides have borne off"),
    ],
)
def test_impossible_boards(board: Any, message: str) -> None:
    text = error(cmd="legal_plays", board=board, dice=[6, 4])
    assert text.startswith("board")
    assert message in text
    assert "of the batch" not in text


@pytest.mark.parametrize("dice", [[0, 1], [6, 7], [6], [6, 5, 4], [True, 2], [6.0, 4], ["6", 4], 64, None, [10**30, 1]])
def test_impossible_dice(dice: Any) -> None:
    assert "two integers of 1..6" in error(cmd="legal_plays", board=HEADS, dice=dice)


@pytest.mark.parametrize(
    ("request_keys", "message"),
    [
        ({"rules": "chess"}, "choose one of official, club"),
        ({"rules": ["official"]}, "name of a preset"),
        ({"rules": None}, "name of a preset"),
        ({"options": []}, "object"),
        ({"options": {"heads": 1}}, "unknown rule option 'heads'"),
        ({"options": {"codes": 1}}, "unknown rule option 'codes'"),
        ({"options": {"draw": "never"}}, "last_roll, none"),
        ({"options": {"draw": True}}, "a string"),
        ({"options": {"head_rolls": 5}}, "list of integers"),
        ({"options": {"head_rolls": [7]}}, "doubles 1..6"),
        ({"options": {"head_rolls": [True]}}, "list of integers"),
        ({"options": {"head_rolls": "none"}}, "any"),
        ({"options": {"head_limit": 1.0}}, "an integer"),
        ({"options": {"blot_limit": False}}, "an integer"),
        ({"options": {"blot_limit": 1}}, "does not fit"),
        ({"options": {"draw_points": 2}}, "from 0 to 1"),
        ({"options": {"draw_points": "0.5"}}, "a number"),
        ({"options": {"start": [15]}}, "26 counts"),
        ({"options": {"start": "x"}}, "26 counts"),
        ({"options": {"geometry": "short"}}, "blot_limit"),
    ],
)
def test_wrong_rules(request_keys: Reply, message: str) -> None:
    assert message in error(cmd="new_game", **request_keys)


def test_keys() -> None:
    assert "unknown cmd 'play'; choose one of legal_plays, choose" in error(cmd="play")
    assert error() == "key 'cmd' is missing"
    assert error(cmd="legal_plays", dice=[1, 2]) == "key 'board' is missing"
    assert "unknown key 'bord'; choose from cmd, board, dice" in error(
        cmd="legal_plays", board=HEADS, dice=[1, 2], bord=1
    )
    assert "unknown key" in error(cmd="version", rules="official")


def test_two_sides_of_a_start_that_meet() -> None:
    row = side({24: 14, 12: 1})
    assert error(cmd="new_game", options={"start": row}).endswith("both sides would hold the point 12 | 24")


# --- the rules through the engine -------------------------------------------------------------------------------------


def variant(case: Reply) -> Reply:
    return {"rules": case["preset"], "options": case.get("options", {})}


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "turn"], ids=lambda case: case["id"])
def test_turns(case: Reply) -> None:
    board, expect = [side(case["mover"]), side(case["opponent"])], case["expect"]
    plays = ask(cmd="legal_plays", board=board, dice=case["dice"], **variant(case))["plays"]
    movers = [play["board"][0] for play in plays]
    steps = [parse_play(play["text"]) for play in plays]
    assert all(play["board"][1] == board[1] for play in plays)
    if "afterstates" in expect:
        assert sorted(movers) == sorted(side(each) for each in expect["afterstates"])
    assert all(side(each) in movers for each in expect.get("include", []))
    assert all(side(each) not in movers for each in expect.get("exclude", []))
    if "head_leaving" in expect:
        assert sorted({sum(step.source == HEAD for step in each) for each in steps}) == expect["head_leaving"]
    if "dice_used" in expect:
        assert sorted({len(each) for each in steps}) == sorted(expect["dice_used"])
    if "pass" in expect:
        assert ([play["text"] for play in plays] == [PASS]) == expect["pass"]
    if "finished" in expect:
        assert any(mover[OFF] == CHECKERS for mover in movers) == expect["finished"]


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "score"], ids=lambda case: case["id"])
def test_scores(case: Reply) -> None:
    reply = ask(cmd="score", board=[side(case["mover"]), side(case["opponent"])], **variant(case))
    assert [reply["result"], reply["points"]] == case["expect"]["result"]


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "last_roll"], ids=lambda case: case["id"])
def test_last_rolls(case: Reply) -> None:
    board = [side(case["mover"]), side(case["opponent"])]
    results = []
    for play in ask(cmd="legal_plays", board=board, dice=case["dice"], **variant(case))["plays"]:
        reply = ask(cmd="settle", before=board, after=play["board"], moved_first=False, **variant(case))
        assert reply["over"]
        draw = reply["result"] == "draw"
        assert reply["winner"] == (None if draw else "opponent")
        assert reply["equity"] == (0.0 if draw else -reply["points"])
        if [reply["result"], reply["points"]] not in results:
            results.append([reply["result"], reply["points"]])
    assert results == case["expect"]["results"]


def test_all_kinds_of_cases_were_asked() -> None:
    assert {case["kind"] for case in CASES} == {"turn", "score", "last_roll"}


def test_settle_on_the_way_and_at_the_end() -> None:
    after = [side({24: 14, 14: 1}), HEADS[1]]
    going_on = {"id": None, "over": False, "winner": None, "result": None, "points": None, "equity": 0.0}
    assert ask(cmd="settle", before=HEADS, after=after, moved_first=True) == going_on
    last = [side({0: 14, 1: 1}), HEADS[1]]
    won = {"id": None, "over": True, "winner": "mover", "result": "mars", "points": 2.0, "equity": 2.0}
    assert ask(cmd="settle", before=last, after=[DONE, HEADS[1]], moved_first=False) == won
    assert ask(cmd="settle", before=last, after=[DONE, HEADS[1]], moved_first=True) == going_on, "one more throw, R5.4"
    assert ask(cmd="settle", before=last, after=[DONE, HEADS[1]], moved_first=True, options={"draw": "none"}) == won
    checkers = ask(cmd="settle", before=last, after=[DONE, side({24: 1, 1: 14})], moved_first=True, rules="casual")
    assert (checkers["result"], checkers["points"], checkers["equity"]) == ("mars", 30.0, 30.0)
    assert "no turn" in error(cmd="settle", before=[DONE, HEADS[1]], after=[DONE, HEADS[1]], moved_first=True)
    assert "true or false" in error(cmd="settle", before=HEADS, after=after, moved_first=1)
    assert "moved_first" in error(cmd="settle", before=HEADS, after=after)


def test_score_asks_for_the_winner_first() -> None:
    assert "winner's row first" in error(cmd="score", board=[HEADS[0], DONE])
    assert ask(cmd="score", board=[DONE, DONE]) == {"id": None, "result": "draw", "points": 0.5}


def test_new_game() -> None:
    assert ask(cmd="new_game") == {"id": None, "board": HEADS, "moved_first": True}
    games = [ask(cmd="new_game", seed=9, game=game) for game in range(40)]
    assert games == [ask(cmd="new_game", seed=9, game=game) for game in range(40)]
    assert {game["starter"] for game in games} == {0, 1}
    assert all(high > low for high, low in (game["lot"] for game in games))
    assert any(a == b for a, b in (game["dice"] for game in games))
    used = ask(cmd="new_game", seed=9, rules="fnr")
    assert used["dice"] == used["lot"]
    assert "give the seed" in error(cmd="new_game", game=1)
    for seed in (-1, 2**64, 1.0, True, "1", None):
        assert "seed must be an integer" in error(cmd="new_game", seed=seed)
    assert ask(cmd="new_game", seed=2**64 - 1, game=2**63 - 1)["board"] == HEADS


def test_rules_describes_all() -> None:
    reply = ask(cmd="rules")
    assert {name: rules_from_dict(options) for name, options in reply["presets"].items()} == PRESETS
    assert tuple(reply["options"]) == OPTIONS
    assert reply["scorings"]["oin_mars"]["points"] == {"oin": 1, "mars": 2}
    assert reply["scorings"]["oin_mars"]["outcomes"] == ["lose mars", "lose oin", "draw", "win oin", "win mars"]
    assert [name for name, each in reply["scorings"].items() if each["times_checkers_left"]] == ["checkers"]


def test_agents_and_version() -> None:
    assert {each["spec"]: each["about"] for each in ask(cmd="agents")["agents"]} == AGENT_KINDS
    version = ask(cmd="version")
    assert version["protocol"] == engine.PROTOCOL
    assert version["commands"]["legal_plays"] == {"required": ["board", "dice"], "optional": ["rules", "options"]}


def test_the_documentation_names_every_command() -> None:
    text = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    commands = ask(cmd="version")["commands"]
    assert all(f"### {name}\n" in text for name in commands)
    assert text.count("\n### ") == len(commands)


def test_a_position_in_every_way_of_writing() -> None:
    xgid = "XGID=-b----E-C---eE---c-e----B-:1:-1:1:52:2:4:0:7:10"
    found = ask(cmd="position", position=xgid, rules="short")
    assert found["text"] == "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"
    assert (found["dice"], found["xgid"]) == ([5, 2], xgid)
    match = found["match"]
    assert (match["score"], match["length"], match["cube"], match["cube_owner"]) == ([2, 4], 7, 2, 1)
    assert ask(cmd="position", position=found["gnubg"], rules="short") == found
    for other in (found["board"], found["text"]):
        again = ask(cmd="position", position=other, dice=[5, 2], rules="short")
        assert again["xgid"] == "XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:0:0:10"
        assert again["board"] == found["board"]
    long = ask(cmd="position", position="24:15 | 24:15")
    assert (long["board"], long["dice"], long["xgid"], long["gnubg"], long["match"]) == (HEADS, None, None, None, None)
    over = ask(cmd="position", position="4HPwATDgc/ABMA:cAoAAAAAAAAA", rules="short")
    assert over["match"]["state"] == "over"
    assert over["xgid"] is None
    assert "for rules=short" in error(cmd="position", position=xgid)
    assert len(error(cmd="position", position="x" * 10**6, rules="short")) < 200
    assert "has 14 letters" in error(cmd="position", position="4HPwATDgc/ABMA:4HPwATDgc/ABMA", rules="short")


# --- agents through the engine ----------------------------------------------------------------------------------------


class Tell:
    """An agent that says what it was told to say, and counts how often it was asked."""

    spec, rules = "tell", OFFICIAL

    def __init__(self, scores: Any, gives_equities: bool = True) -> None:
        self.told = scores
        self.gives_equities = gives_equities
        self.asked: list[Decisions] = []

    def scores(self, decisions: Decisions) -> Any:
        self.asked.append(decisions)
        return self.told


def decision(*movers: dict[int, int], **more: Any) -> Reply:
    return {"board": HEADS, "dice": [6, 4], "plays": [[side(each), HEADS[1]] for each in movers], **more}


A, B, C = {24: 14, 14: 1}, {24: 14, 20: 1}, {24: 13, 18: 1, 20: 1}


def test_many_decisions_are_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    tell = Tell(np.array([0.25, 0.5, -1.0, 2.0, 1.0, 0.0]))
    monkeypatch.setattr(engine, "_make_agent", lambda *_: tell)
    given = [decision(A, B, moved_first=False), decision(C), decision(A, B, C, moved_first=True)]
    reply = ask(cmd="choose", agent="tell", decisions=given)
    assert reply == {"id": None, "choices": [1, 0, 0], "equities": [[0.25, 0.5], [-1.0], [2.0, 1.0, 0.0]]}
    [batch] = tell.asked
    assert batch.boards.dtype == batch.dice.dtype == batch.afterstates.boards.dtype == np.int8
    assert batch.boards.tolist() == [HEADS] * 3
    assert batch.dice.tolist() == [[6, 4]] * 3
    assert batch.moved_first.tolist() == [False, True, True]
    assert batch.afterstates.offsets.tolist() == [0, 2, 3, 6]
    assert batch.afterstates.boards.tolist() == [play for each in given for play in each["plays"]]


@pytest.mark.parametrize("scores", [[1.0], [1.0, float("nan"), 0.0], [float("inf"), 1.0, 0.0]])
def test_an_agent_that_talks_nonsense(scores: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_make_agent", lambda *_: Tell(scores))
    request = {"id": 1, "cmd": "choose", "agent": "tell", "decisions": [decision(A, B, C)]}
    reply = json.loads(engine.answer(json.dumps(request).encode()) or b"")
    assert reply.keys() == {"id", "error"}


def test_ties_are_broken_by_seed_and_place() -> None:
    given = [decision(A, B, C)] * 30
    choices = {seed: ask(cmd="choose", agent="random", seed=seed, decisions=given)["choices"] for seed in (0, 1, 2)}
    assert set(choices[0]) == {0, 1, 2}
    assert choices[0] != choices[1] != choices[2]
    reply = ask(cmd="choose", agent="random", decisions=given)
    assert reply["choices"] == choices[0]
    assert reply["equities"] == [None] * 30
    bits = dice_lib.bits(2, dice_lib.TIES, np.arange(30), 0)
    assert choices[2] == (bits % np.uint64(3)).tolist()


@pytest.mark.parametrize("spec", ["pips", "bearoff", "heuristic"])
def test_agents_choose_as_they_score(spec: str) -> None:
    board = [side({24: 10, 18: 2, 14: 2, 9: 1}), side({24: 12, 17: 2, 5: 1})]
    plays = ask(cmd="legal_plays", board=board, dice=[5, 2])["plays"]
    after = np.array([play["board"] for play in plays], dtype=np.int8)
    decisions = Decisions(
        np.array([board], dtype=np.int8),
        np.array([[5, 2]], dtype=np.int8),
        np.array([True]),
        Afterstates(after, np.array([0, len(after)])),
    )
    scores = make_agent(spec, OFFICIAL).scores(decisions)
    given = [{"board": board, "dice": [5, 2], "plays": [play["board"] for play in plays]}]
    [choice] = ask(cmd="choose", agent=spec, decisions=given)["choices"]
    assert scores[choice] == scores.max()
    assert len(plays) > 3


def test_a_trained_net_gives_equities(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "net", make_net(NetConfig(), OFFICIAL, seed=1), OFFICIAL, {})
    given = [decision(A, B, C), {**decision(A), "board": NEAR_END, "plays": [[DONE, DONE]], "moved_first": False}]
    reply = ask(cmd="choose", agent=str(tmp_path / "net"), decisions=given)
    assert [len(each) for each in reply["equities"]] == [3, 1]
    assert reply["choices"] == [int(np.argmax(reply["equities"][0])), 0]
    assert reply["equities"][1] == [0.0], "a draw is worth exactly nothing"
    text = error(cmd="choose", agent=str(tmp_path / "net"), rules="overview", decisions=given)
    assert "scoring" in text
    assert "not a checkpoint" in error(cmd="choose", agent=str(tmp_path), decisions=[])


def test_the_draw_is_a_result_to_choose() -> None:
    given = [{"board": NEAR_END, "dice": [2, 1], "moved_first": False, "plays": [NEAR_END, [DONE, DONE]]}]
    assert ask(cmd="choose", agent="pips", decisions=given)["choices"] == [1]


def test_no_decisions() -> None:
    assert ask(cmd="choose", agent="pips", decisions=[]) == {"id": None, "choices": [], "equities": []}


def test_agents_are_kept() -> None:
    engine._make_agent.cache_clear()
    for rules in ("official", "official", "club"):
        ask(cmd="choose", agent="pips", rules=rules, decisions=[decision(A, B)])
    info = engine._make_agent.cache_info()
    assert (info.misses, info.hits) == (2, 1)
    assert engine._make_agent("pips", make_rules("club")).rules == make_rules("club")


@pytest.mark.parametrize(
    ("decisions", "message"),
    [
        ({}, "decisions must be a list"),
        ([7], "decision 0 must be an object"),
        ([decision(A), decision()], "decision 1: plays is empty"),
        ([decision(A), {**decision(A), "plays": 7}], "decision 1: plays must be a list"),
        ([decision(A), {**decision(A), "plays": [7]}], "decision 1: plays[0] must be two rows"),
        ([decision(A), {**decision(A), "dice": [7, 1]}], "decision 1: dice"),
        ([decision(A), {**decision(A), "board": [HEADS[0]]}], "decision 1: board must be two rows"),
        ([decision(A), {**decision(A), "board": [DONE, DONE]}], "decision 1: board: both sides have borne off"),
        ([{**decision(A), "moved_first": 1}], "decision 0: moved_first must be true or false"),
        ([{**decision(A), "move": 1}], "decision 0: unknown key 'move'"),
        ([decision(A), {"board": HEADS, "dice": [6, 4]}], "decision 1: key 'plays' is missing"),
        (
            [decision(A, B), {**decision(A), "plays": [HEADS, [DONE, DONE], [side({24: 14, 12: 1}), HEADS[1]]]}],
            "decision 1: plays[2]: both sides hold the mover's point 12",
        ),
        (
            [decision(A, B), decision(C), {**decision(A), "plays": [HEADS, [changed(DONE, s0=14), DONE]]}],
            "decision 2: plays[1]: the mover has 14 checkers",
        ),
    ],
)
def test_wrong_decisions(decisions: Any, message: str) -> None:
    assert message in error(cmd="choose", agent="pips", decisions=decisions)


@pytest.mark.parametrize("spec", [None, 7, ["random"], "", "nobody", "no/such/path", "a\0b", "\ud800", "x" * 9000, "/"])
def test_wrong_agents(spec: Any) -> None:
    assert "agent" in error(cmd="choose", agent=spec, decisions=[])
