"""Programs of others as agents: `external:COMMAND` plays what COMMAND answers (docs/engine.md, "Programs as agents").

A program is asked in lines of JSON on its standard input, in the words that our own engine understands, and is trusted
with nothing: either it answers in time, or its processes are ended and an `ExternalError` says what went wrong. What
that costs it in a match is not decided here (`evaluation.arena.play_or_forfeit`).
"""

import contextlib
import hashlib
import json
import os
import reprlib
import selectors
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Decisions
from nardy_rl.rules.notation import find_play
from nardy_rl.rules.spec import PRESETS, Rules, rules_as_dict

PREFIX = "external:"
"""What a spec of an external program begins with."""

PROTOCOL = 1
"""The protocol of docs/engine.md. Goes up when a reply changes so that an old client would misread it."""

MAX_REPLY = 32 * 2**20
"""Longest line a program may answer, in bytes."""

MAX_PLAYS = 10_000
"""Plays in one request, about a megabyte of text; a batch with more of them is asked in parts."""

ENDING_S = 1.0
"""Seconds a program has to leave by itself once its standard input has ended."""

TAIL = 2_000
"""Bytes of standard error that are kept for the report, the last ones."""

TICK_S = 0.1
"""Seconds between two looks at whether a silent program is still alive."""


@dataclass
class ExternalConfig:
    """Patience with external programs.

    Attributes:
        timeout_s: Seconds a program has for any answer, its start included.
        decision_s: Seconds it has on top of that for each decision of the request.
    """

    timeout_s: float = 30.0
    decision_s: float = 0.2

    def check(self) -> None:
        """Raises a ValueError unless the times make sense."""
        if not 0 < self.timeout_s < float("inf"):
            raise ValueError(f"external.timeout_s={self.timeout_s} is not allowed; give more than 0")
        if not 0 <= self.decision_s < float("inf"):
            raise ValueError(f"external.decision_s={self.decision_s} is not allowed; give 0 or more")


class ExternalError(ChildProcessError):
    """An external program that failed: it died, was silent too long, refused, or answered nonsense.

    Attributes:
        agent: The agent whose program it was.
        reason: What happened, one line.
    """

    def __init__(self, agent: "ExternalAgent", reason: str) -> None:
        super().__init__(f"{agent.spec}: {reason}")
        self.agent = agent
        self.reason = reason


class ExternalAgent:
    """Plays what a program answers.

    The program is started when it is first asked, and again when it is asked after an error or after `close`. Threads
    may share the agent; their requests wait for each other. A turn with a single play is not asked about.

    Attributes:
        spec: `external:COMMAND`.
        rules: The rules it plays.
        gives_equities: Always False: only the choice counts.
    """

    gives_equities = False

    def __init__(self, spec: str, rules: Rules, config: ExternalConfig | None = None) -> None:
        self.spec = spec
        self.rules = rules
        self._config = config or ExternalConfig()
        self._config.check()
        try:
            self._command = shlex.split(spec.removeprefix(PREFIX))
        except ValueError as error:
            raise ValueError(f"agent {spec!r}: the command cannot be read: {error}") from error
        if not self._command:
            raise ValueError(f"agent {spec!r} names no program; write external:COMMAND, as in 'external:python bot.py'")
        if shutil.which(self._command[0]) is None:
            raise ValueError(f"agent {spec!r}: there is no program {self._command[0]!r}")
        self._variant = _variant(rules)
        self._process: _Process | None = None
        self._requests = 0
        self._lock = threading.Lock()

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """1 for the afterstate that the program chose and 0 for the others of its roll, float64 (K,).

        The requests, their seeds included, are a function of the decisions alone, so that a program whose answers are
        a function of the request plays the same match again, whatever the number of threads.

        Raises:
            ExternalError: The program failed; its processes have ended.
        """
        offsets = decisions.afterstates.offsets
        scores = np.zeros(offsets[-1])
        asked = np.flatnonzero(decisions.afterstates.counts > 1)
        with self._lock:
            for part in _parts(asked, decisions.afterstates.counts):
                scores[offsets[part] + self._choices(decisions, part)] = 1.0
        return scores

    def close(self) -> None:
        """Ends the program; a thread that waits for its answer gets an `ExternalError`. May be called at any time."""
        if self._lock.acquire(blocking=False):
            try:
                if self._process is not None:
                    self._process.end(ENDING_S)
                    self._process = None
            finally:
                self._lock.release()
        elif (process := self._process) is not None:
            process.kill()

    def _choices(self, decisions: Decisions, part: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the program chooses in the decisions `part`, int64 (len(part),), counted within each decision."""
        if self._process is None:
            self._start()
        boards, dice, moved_first, (after, offsets) = decisions
        chosen_from = [after[offsets[k] : offsets[k + 1]] for k in part]
        digest = hashlib.blake2b(boards[part].tobytes() + dice[part].tobytes(), digest_size=6).digest()
        reply = self._ask(
            "choose",
            **self._variant,
            seed=int.from_bytes(digest),
            decisions=[
                {
                    "board": boards[k].tolist(),
                    "dice": dice[k].tolist(),
                    "plays": plays.tolist(),
                    "moved_first": bool(moved_first[k]),
                }
                for k, plays in zip(part, chosen_from, strict=True)
            ],
        )
        choices = reply.get("choices")
        if not isinstance(choices, list) or len(choices) != len(part):
            self._fail(f"answered nonsense: choices must be a list of {len(part)}, not {_show(choices)}")
        chosen = np.empty(len(part), dtype=np.int64)
        for number, (k, choice, plays) in enumerate(zip(part, choices, chosen_from, strict=True)):
            try:
                chosen[number] = _index(choice, plays, boards[k], dice[k], self.rules)
            except ValueError as error:
                self._fail(f"answered nonsense: choice {number}: {error}")
        return chosen

    def _start(self) -> None:
        """Starts the program and lets it say that it speaks our protocol and plays these rules."""
        try:
            self._process = _Process(self._command)
        except OSError as error:
            raise ExternalError(self, f"cannot be started: {error}") from error
        protocol = self._ask("version").get("protocol")
        if protocol != PROTOCOL or isinstance(protocol, bool):
            self._fail(f"speaks protocol {_show(protocol)}, not {PROTOCOL} (docs/engine.md)")
        self._ask("choose", **self._variant, decisions=[])

    def _ask(self, cmd: str, **request: Any) -> dict[str, Any]:
        """The reply to one request; the program is gone if there is none that can be used."""
        assert self._process is not None
        self._requests += 1
        content = {"id": self._requests, "cmd": cmd, **request}
        line = json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
        seconds = self._config.timeout_s + self._config.decision_s * len(request.get("decisions", ()))
        try:
            answer = self._process.ask(line, seconds)
        except _SilentError as error:
            self._fail(str(error))
        except BaseException:  # Ctrl-C while waiting: the answer would be read as that to the next request
            self._process.end(0.0)
            self._process = None
            raise
        try:
            reply = json.loads(answer)
        except (ValueError, RecursionError):
            self._fail(f"answered nonsense: the line is not JSON: {_show(answer.decode(errors='replace'))}")
        if not isinstance(reply, dict):
            self._fail(f"answered nonsense: a reply is a JSON object, not {_show(reply)}")
        if reply.get("id") != self._requests:
            self._fail(f"answered nonsense: the id of the reply is {_show(reply.get('id'))}, not {self._requests}")
        if "error" in reply:
            self._fail(f"refused the request {cmd!r}: {_plain(str(reply['error']))}")
        return reply

    def _fail(self, what: str) -> NoReturn:
        """Ends the program and raises the error that says why."""
        assert self._process is not None
        process, self._process = self._process, None
        process.end(0.0)
        said = _plain(process.tail.decode(errors="replace"))
        raise ExternalError(self, what + (f"; its standard error ended with: {said}" if said else ""))


class _SilentError(Exception):
    """No answer; the text says why."""


class _Process:
    """A child in a process group of its own, asked line by line. One thread asks at a time; any may `kill`.

    Attributes:
        tail: The end of what it wrote to standard error.
    """

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._popen = subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        self._finalizer = weakref.finalize(self, _kill_group, self._popen)  # also when Python ends
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self._stdin, self._stdout, self._stderr = self._popen.stdin, self._popen.stdout, self._popen.stderr
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        self._read = bytearray()
        self.tail = b""

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Writes a line and reads one, without the newline.

        Standard input is filled and both outputs are emptied side by side, so that no pipe can block either of us.

        Raises:
            _SilentError: No answer, or more than one.
        """
        deadline = time.monotonic() + seconds
        unsent = memoryview(line)
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            for stream in (self._stdout, self._stderr):
                selector.register(stream, selectors.EVENT_READ)
            while True:
                dead = self._popen.poll() is not None  # asked before reading: what it wrote before it died counts
                ready = {key.fileobj for key, _ in selector.select(0.0 if dead else TICK_S)}
                if self._stderr in ready and not self._drain_stderr():
                    selector.unregister(self._stderr)
                if self._stdin in ready:
                    try:
                        unsent = unsent[os.write(self._stdin.fileno(), unsent) :]
                    except BlockingIOError:
                        pass
                    except OSError:  # it reads no more; perhaps it answers all the same
                        unsent = unsent[:0]
                    if not unsent:
                        selector.unregister(self._stdin)
                ended = False
                if self._stdout in ready:
                    piece = _read_some(self._stdout.fileno())
                    ended = piece == b""
                    self._read += piece or b""
                    self._drop_blank_lines()
                newline = self._read.find(b"\n")
                if newline >= 0 and not unsent:
                    answer = bytes(self._read[:newline])
                    del self._read[: newline + 1]
                    self._drop_blank_lines()
                    if self._read:
                        raise _SilentError(f"answered nonsense: more than one line: {_show(answer.decode('latin-1'))}")
                    return answer
                if newline >= 0 and newline < len(self._read) - 1:
                    raise _SilentError("answered nonsense: it wrote several lines before it had read the request")
                if len(self._read) > MAX_REPLY:
                    raise _SilentError(f"answered nonsense: a line longer than {MAX_REPLY} bytes")
                if ended or (dead and self._stdout not in ready):
                    raise _SilentError(self._how_it_ended())
                if time.monotonic() > deadline:
                    raise _SilentError(f"did not answer within {seconds:g} s")

    def kill(self) -> None:
        """Kills the whole group at once."""
        _kill_group(self._popen)

    def end(self, grace: float) -> None:
        """Ends standard input, which asks the program to leave, gives it `grace` seconds, then kills what is left.

        What it says meanwhile is read and forgotten, but for the end of standard error.
        """
        with contextlib.suppress(OSError):
            self._stdin.close()
        deadline = time.monotonic() + grace
        while self._popen.poll() is None and time.monotonic() < deadline:
            _read_some(self._stdout.fileno())
            self._drain_stderr()
            time.sleep(0.005)
        self.kill()
        self._drain_stderr()
        self._finalizer.detach()
        for stream in (self._stdout, self._stderr):
            stream.close()

    def _drop_blank_lines(self) -> None:
        if self._read[:1].isspace():
            del self._read[: len(self._read) - len(self._read.lstrip())]

    def _drain_stderr(self) -> bool:
        """Reads some of standard error; False at its end."""
        piece = _read_some(self._stderr.fileno())
        self.tail = (self.tail + (piece or b""))[-TAIL:]
        return piece != b""

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(ENDING_S)
        code = self._popen.returncode
        if code is None:
            return "closed its standard output"
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            return f"died of {name}"
        return f"ended with exit code {code} instead of an answer"


def _kill_group(popen: "subprocess.Popen[bytes]") -> None:
    """Kills a child and all that still belongs to its group, and waits for the child."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        popen.wait(5.0)


def _read_some(descriptor: int) -> bytes | None:
    """What there is to read: b"" at the end, None if there is nothing now."""
    try:
        return os.read(descriptor, 2**18)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _index(choice: Any, plays: NDArray[np.int8], board: NDArray[np.int8], dice: NDArray[np.int8], rules: Rules) -> int:
    """Which of the plays a program means: by number, as text, or by the board it leads to.

    Raises:
        ValueError: None of them.
    """
    if isinstance(choice, int) and not isinstance(choice, bool):
        if not 0 <= choice < len(plays):
            raise ValueError(f"{_show(choice)} is none of the plays 0..{len(plays) - 1}")
        return choice
    if isinstance(choice, str):
        choice = find_play(choice, board, dice.tolist(), rules).board
    elif not isinstance(choice, list):
        raise ValueError(f"{_show(choice)} is no number of a play, no play as text and no board")
    rows = [list(row) if isinstance(row, list | tuple) else row for row in choice]
    for index, play in enumerate(plays.tolist()):
        if play == rows:
            return index
    raise ValueError(f"{_show(rows)} is not the board after a legal play")


def _parts(asked: NDArray[np.int64], counts: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The decisions to ask about, cut into requests of at most `MAX_PLAYS` plays (or a single decision)."""
    part: list[int] = []
    plays = 0
    for k in asked.tolist():
        if part and plays + int(counts[k]) > MAX_PLAYS:
            yield np.array(part, dtype=np.int64)
            part, plays = [], 0
        part.append(k)
        plays += int(counts[k])
    if part:
        yield np.array(part, dtype=np.int64)


def _variant(rules: Rules) -> dict[str, Any]:
    """Rules as requests name them: the preset that differs least, and what differs."""
    wanted = rules_as_dict(rules)
    differing = {
        name: {option: value for option, value in wanted.items() if rules_as_dict(preset)[option] != value}
        for name, preset in PRESETS.items()
    }
    nearest = min(differing, key=lambda name: len(differing[name]))
    return {"rules": nearest, "options": differing[nearest]}


def _show(value: Any) -> str:
    """A value for an error text, cut short and without control characters."""
    return _plain(reprlib.repr(value))


def _plain(text: str, most: int = 300) -> str:
    """One line of printable text, the end of it if it is long: what a program says must not steer the terminal."""
    text = " | ".join(line.strip() for line in text.splitlines() if line.strip())
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= most else "... " + text[len(text) - most :]
