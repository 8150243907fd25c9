"""The rules and the agents for any other program: one JSON object per line in, one JSON line out (docs/engine.md).

A board in this protocol is two rows of 26 counts, the mover's first, each in its own numbering (0 off, 1..24 points,
24 = head, 25 bar; R0.2), or one text: our notation, an XGID or an ID of GNU Backgammon (`records.position_ids`).
Results of a play are written as rows, the turn not yet passed. Whatever arrives is
answered by exactly one line, an error being one kind of answer; only lines without text are ignored.
"""

import contextlib
import dataclasses
import functools
import importlib.metadata
import json
import os
import reprlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np

from nardy_rl.agents.base import Agent, Decisions, choose
from nardy_rl.agents.external import PREFIX, PROTOCOL
from nardy_rl.agents.registry import AGENT_KINDS, make_agent
from nardy_rl.game import lot, new_games, opening_lot, roll
from nardy_rl.records.position_ids import MatchPosition, format_gnubg_id, format_xgid, read_position
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.board import Boards, check_boards
from nardy_rl.rules.notation import format_play, format_position
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.reference import as_board, legal_plays
from nardy_rl.rules.scoring import LEVELS, levels, outcome_names, score, settle
from nardy_rl.rules.spec import CHECKERS, CHOICES, OFF, OFFICIAL, PRESETS, SLOTS, Rules, make_rules, rules_as_dict

MAX_LINE = 32 * 2**20
"""Longest request in bytes; some hundred thousand results to choose from fit in it."""

MAX_ERROR = 500
"""Longest error text: a wrong value quoted in it may be as long as the request."""

SEEDS = 2**64
STREAMS = 2**63

Reply = dict[str, Any]


class RequestError(ValueError):
    """The request cannot be answered; the text says why, in words for whoever wrote the client."""


# --- the loop -------------------------------------------------------------------------------------------------------


def main() -> None:
    """Answers requests from standard input until it ends.

    The one argument there may be is the agent that chooses where a request names none.

    Exit code 0 at the end of input and when nobody reads the answers any more, 130 after Ctrl-C; neither says a word.
    """
    arguments = sys.argv[1:]
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print(f"usage: {sys.argv[0]} [AGENT] <requests >replies (docs/engine.md)", file=sys.stderr)
        sys.exit(2)
    try:
        with contextlib.suppress(BrokenPipeError):
            serve(sys.stdin.buffer if sys.stdin else None, _private_stdout(), *arguments)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:  # standard output cannot be written to, or standard input not be read
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


def serve(source: BinaryIO | None, write: Callable[[bytes], None], agent: str | None = None) -> None:
    """Answers every line of `source` by one call of `write`, until the end of `source`.

    Args:
        source: Bytes, or None if there is nothing to read from.
        write: Takes one whole line, its newline included, and passes it on at once.
        agent: Spec of the agent that chooses where a request names none.
    """
    if source is None:
        return
    for line in _lines(source):
        reply = answer(line, agent)
        if reply is not None:
            write(reply + b"\n")


def answer(line: bytes | None, agent: str | None = None) -> bytes | None:
    """The reply to one line, as ASCII JSON without a newline.

    Args:
        line: A request as it was read, or None for one that was longer than `MAX_LINE`.
        agent: As in `serve`.

    Returns:
        The reply; None for a line without text, which is no request.
    """
    if line is not None and not line.strip():
        return None
    request_id: str | int | None = None
    try:
        if line is None:
            _fail(f"the line is longer than {MAX_LINE} bytes; split the request")
        request = _parse(line)
        request_id = _id_of(request)
        if agent is not None and request.get("cmd") == "choose":
            request.setdefault("agent", agent)
        reply = {"id": request_id, **_dispatch(request)}
        return json.dumps(reply, allow_nan=False).encode("ascii")
    except ValueError as error:
        message = str(error)
    except RecursionError:
        message = "the request is nested too deeply"
    except Exception as error:  # a mistake of ours must not end a service that others depend on
        message = f"internal error, please report it: {type(error).__name__}: {error}"
    if len(message) > MAX_ERROR:
        message = message[: MAX_ERROR - 4] + " ..."
    return json.dumps({"id": request_id, "error": message}).encode("ascii")


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """Lines of `source`; None in place of each that is longer than `MAX_LINE`, which is never held in memory whole."""
    while line := source.readline(MAX_LINE + 1):
        if len(line) <= MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = source.readline(2**16)
        yield None


def _private_stdout() -> Callable[[bytes], None]:
    """Takes standard output for the replies alone: what anything else prints goes to standard error from here on.

    Unbuffered, so that no reply waits and nothing is left to be flushed into a closed pipe at exit.
    """
    try:
        own = os.dup(1)
    except OSError as error:
        raise BrokenPipeError("there is no standard output") from error
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    sys.stdout = sys.stderr

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(own, data) :]

    return write


# --- requests -------------------------------------------------------------------------------------------------------


class _Command(NamedTuple):
    """A command: who answers it, and the keys it takes besides `id` and `cmd`."""

    handler: Callable[[Reply], Reply]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


def _dispatch(request: Reply) -> Reply:
    """The body of the reply to a request that is a JSON object."""
    name = _get(request, "cmd")
    if not isinstance(name, str) or name not in _COMMANDS:
        _fail(f"unknown cmd {_show(name)}; choose one of {', '.join(_COMMANDS)}")
    command = _COMMANDS[name]
    _check_keys(request, ("cmd", *command.required), ("id", *command.optional))
    return command.handler(request)


def _parse(line: bytes) -> Reply:
    """Reads a request; stricter than `json` where that would guess (NaN, a key given twice)."""
    try:
        text = line.decode("utf-8-sig")  # some shells put a byte order mark in front of what they pipe
    except UnicodeDecodeError as error:
        _fail(f"the line is not UTF-8: {error.reason} at byte {error.start}")
    try:
        request = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        _fail(f"the line is not JSON: {error.msg} at character {error.pos}")
    if not isinstance(request, dict):
        _fail(f"a request is a JSON object, not {_show(request)}")
    return request


def _refuse_constant(name: str) -> NoReturn:
    _fail(f"the line is not JSON: {name} is not a JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> Reply:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        _fail(f"key {_show(next(key for key in keys if keys.count(key) > 1))} is given twice")
    return result


def _id_of(request: Reply) -> str | int | None:
    request_id: str | int | None = request.get("id")
    if request_id is not None and not isinstance(request_id, str) and not _is_int(request_id):
        _fail(f"id must be a string or an integer, not {_show(request_id)}")
    return request_id


# --- commands -------------------------------------------------------------------------------------------------------


def _legal_plays(request: Reply) -> Reply:
    """Boards from the compiled generator, texts from the reference; they must agree on what is legal."""
    rules = _rules(request)
    board = _board(_get(request, "board"), "board", rules)
    dice = _dice(_get(request, "dice"), "dice")
    after = legal_afterstates(board[None], np.array([dice], dtype=np.int8), rules).boards.tolist()
    texts = {_key(play.board): format_play(play.steps) for play in legal_plays(board, dice, rules)}
    if {_key(rows) for rows in after} != texts.keys():
        raise RuntimeError("the two move generators disagree on this position")
    return {"plays": [{"text": texts[_key(rows)], "board": rows} for rows in after]}


def _choose(request: Reply) -> Reply:
    """One call of the agent for all decisions."""
    rules = _rules(request)
    seed = _integer(request.get("seed", 0), "seed", SEEDS)
    agent = _agent(_get(request, "agent"), rules)
    given = _list(_get(request, "decisions"), "decisions")
    if not given:
        return {"choices": [], "equities": []}
    decisions = _decisions(given, rules)
    offsets = decisions.afterstates.offsets
    scores = np.ascontiguousarray(agent.scores(decisions), dtype=np.float64)
    if scores.shape != (offsets[-1],):
        raise RuntimeError(f"the agent gave scores of shape {scores.shape} for {offsets[-1]} plays")
    ties = dice_lib.bits(seed, dice_lib.TIES, np.arange(len(given)), 0)
    choices = choose(scores, offsets, ties) - offsets[:-1]
    equities: list[list[float] | None] = [None] * len(given)
    if agent.gives_equities:
        equities = [part.tolist() for part in np.split(scores, offsets[1:-1])]
    return {"choices": choices.tolist(), "equities": equities}


def _decisions(given: Sequence[Any], rules: Rules) -> Decisions:
    """The decisions of a request as one batch; errors name the decision."""
    boards, dice, moved_first, results, counts = [], [], [], [], []
    for number, decision in enumerate(given):
        where = f"decision {number}"
        if not isinstance(decision, dict):
            _fail(f"{where} must be an object, not {_show(decision)}")
        _check_keys(decision, ("board", "dice", "plays"), ("moved_first",), where)
        boards.append(_board(decision["board"], f"{where}: board", rules))
        dice.append(_dice(decision["dice"], f"{where}: dice"))
        moved_first.append(_flag(decision.get("moved_first", True), f"{where}: moved_first"))
        plays = _list(decision["plays"], f"{where}: plays")
        if not plays:
            _fail(f"{where}: plays is empty; a forced pass is one play, the unchanged board")
        results += [_counts(play, f"{where}: plays[{i}]") for i, play in enumerate(plays)]
        counts.append(len(plays))
    after = np.array(results, dtype=np.int8)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def name(row: int) -> str:
        number = int(np.searchsorted(offsets, row, side="right")) - 1
        return f"decision {number}: plays[{row - offsets[number]}]"

    _check_results(after, rules, name)
    return Decisions(
        np.stack(boards),
        np.array(dice, dtype=np.int8),
        np.array(moved_first, dtype=np.bool_),
        Afterstates(after, offsets),
    )


def _new_game(request: Reply) -> Reply:
    """The start of a game; with a seed also who starts, the lot and the first throw (R6.1)."""
    rules = _rules(request)
    stream = _integer(request.get("game", 0), "game", STREAMS)
    games = new_games(stream, rules)
    reply: Reply = {"board": games.boards[0].tolist(), "moved_first": True}
    if "seed" in request:
        seed = _integer(request["seed"], "seed", SEEDS)
        reply["starter"] = lot(seed, stream)
        reply["lot"] = opening_lot(seed, stream)[0].tolist()
        reply["dice"] = roll(games, seed, rules)[0].tolist()
    elif "game" in request:
        _fail("game chooses among the dice of a seed; give the seed as well")
    return reply


def _settle(request: Reply) -> Reply:
    """Did this play end the game, and how (R5)."""
    rules = _rules(request)
    before = _board(_get(request, "before"), "before", rules)[None]
    after = np.array([_counts(_get(request, "after"), "after")], dtype=np.int8)
    _check_results(after, rules, lambda _: "after")
    moved_first = _flag(_get(request, "moved_first"), "moved_first")
    if before[0, 0, OFF] == CHECKERS:
        _fail("before: the mover has already borne off all his checkers; he has no turn")
    outcome, equity = settle(before, after, [moved_first], rules)
    if outcome[0] < 0:
        return {"over": False, "winner": None, "result": None, "points": None, "equity": 0.0}
    level = int(outcome[0]) - levels(rules)
    if level == 0:
        return {"over": True, "winner": None, "result": "draw", "points": float(rules.draw_points), "equity": 0.0}
    return {
        "over": True,
        "winner": "mover" if level > 0 else "opponent",
        "result": LEVELS[rules.scoring][abs(level) - 1][0],
        "points": abs(float(equity[0])),
        "equity": float(equity[0]),
    }


def _score(request: Reply) -> Reply:
    """What a finished board counts; the winner's row first."""
    rules = _rules(request)
    board = np.array([_counts(_get(request, "board"), "board")], dtype=np.int8)
    _check_results(board, rules, lambda _: "board")
    if board[0, 0, OFF] != CHECKERS:
        _fail("board: the first row has not borne off all its checkers; give the winner's row first")
    [(result, points)] = score(board, rules)
    return {"result": result, "points": float(points)}


def _position(request: Reply) -> Reply:
    """One position in all the ways to write it."""
    rules = _rules(request)
    given = _get(request, "position")
    told: MatchPosition | None = None
    if isinstance(given, str):
        rows, told = read_position(given, rules)
        board = _board([list(row) for row in rows], "position", rules)
    else:
        board = _board(given, "position", rules)
    dice = _dice(request["dice"], "dice") if "dice" in request else told.dice if told else None
    reply: Reply = {"board": board.tolist(), "dice": dice, "text": format_position(board), "gnubg": None, "xgid": None}
    if rules.geometry != "short":
        return {**reply, "match": None}
    position = dataclasses.replace(told or MatchPosition(as_board(board)), dice=dice)
    with contextlib.suppress(ValueError):  # of a game that is over, say
        reply["xgid"] = format_xgid(position)
    match = {name: value for name, value in vars(position).items() if name not in ("board", "dice")}
    return {**reply, "gnubg": format_gnubg_id(position), "match": match}


def _agents(_: Reply) -> Reply:
    return {"agents": [{"spec": spec, "about": about} for spec, about in AGENT_KINDS.items()]}


def _describe_rules(_: Reply) -> Reply:
    """Every preset in full, what each option may be (in words of JSON Schema), what each scoring counts."""
    doubles = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 6}}
    options: dict[str, Reply] = {
        "head_rolls": {"anyOf": [{"enum": ["any"]}, doubles]},
        "start": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": CHECKERS},
            "minItems": SLOTS,
            "maxItems": SLOTS,
        },
        "blot_limit": {"enum": [0, 1]},
        "head_limit": {"type": "integer", "minimum": 1, "maximum": CHECKERS},
        "draw_points": {"type": "number", "minimum": 0, "maximum": 1},
        **{name: {"enum": list(values)} for name, values in CHOICES.items()},
    }
    return {
        "presets": {name: rules_as_dict(rules) for name, rules in PRESETS.items()},
        "options": {name: options[name] for name in rules_as_dict(OFFICIAL)},
        "scorings": {
            name: {
                "points": dict(values),
                "outcomes": list(outcome_names(make_rules(options={"scoring": name}))),
                "times_checkers_left": name == "checkers",
            }
            for name, values in LEVELS.items()
        },
    }


def _version(_: Reply) -> Reply:
    return {
        "name": "nardy_rl",
        "version": importlib.metadata.version("nardy_rl"),
        "protocol": PROTOCOL,
        "commands": {
            name: {"required": list(command.required), "optional": list(command.optional)}
            for name, command in _COMMANDS.items()
        },
    }


_VARIANT = ("rules", "options")

_COMMANDS: dict[str, _Command] = {
    "legal_plays": _Command(_legal_plays, ("board", "dice"), _VARIANT),
    "choose": _Command(_choose, ("agent", "decisions"), ("seed", *_VARIANT)),
    "new_game": _Command(_new_game, (), ("seed", "game", *_VARIANT)),
    "settle": _Command(_settle, ("before", "after", "moved_first"), _VARIANT),
    "score": _Command(_score, ("board",), _VARIANT),
    "position": _Command(_position, ("position",), ("dice", *_VARIANT)),
    "agents": _Command(_agents),
    "rules": _Command(_describe_rules),
    "version": _Command(_version),
}


# --- the parts of a request -----------------------------------------------------------------------------------------


def _fail(why: str) -> NoReturn:
    raise RequestError(why)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _show(value: Any) -> str:
    """A value for an error text: cut short, and as JSON names it where Python's word differs."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return reprlib.repr(value)


def _get(request: Reply, key: str) -> Any:
    if key not in request:
        _fail(f"key {key!r} is missing")
    return request[key]


def _check_keys(given: Reply, required: tuple[str, ...], optional: tuple[str, ...], where: str = "") -> None:
    prefix = f"{where}: " if where else ""
    for key in given:
        if key not in required and key not in optional:
            _fail(f"{prefix}unknown key {_show(key)}; choose from {', '.join((*required, *optional))}")
    for key in required:
        if key not in given:
            _fail(f"{prefix}key {key!r} is missing")


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        _fail(f"{what} must be a list, not {_show(value)}")
    return value


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        _fail(f"{what} must be true or false, not {_show(value)}")
    return value


def _integer(value: Any, what: str, end: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < end:
        _fail(f"{what} must be an integer from 0 to {end - 1}, not {_show(value)}")
    return value


def _dice(value: Any, what: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(_is_int(die) and 1 <= die <= 6 for die in value):
        _fail(f"{what} must be two integers of 1..6, not {_show(value)}")
    return value[0], value[1]


def _counts(value: Any, what: str) -> list[list[int]]:
    """Two rows of 26 counts of 0..15. Whether they make a board is checked later, for all boards at once."""
    if not isinstance(value, list) or len(value) != 2:
        _fail(f"{what} must be two rows, [mover, opponent], not {_show(value)}")
    for side, row in zip(("mover", "opponent"), value, strict=True):
        if not isinstance(row, list) or len(row) != SLOTS:
            length = f"{len(row)} long" if isinstance(row, list) else _show(row)
            _fail(f"{what}: the {side}'s row must be {SLOTS} counts (0 off, 1..24 points, 25 bar), not {length}")
        for slot, count in enumerate(row):
            # type() and not isinstance: this loop sees every number of a batch, and bool is no count
            if type(count) is not int or not 0 <= count <= CHECKERS:
                _fail(f"{what}: the {side}'s slot {slot} must be an integer from 0 to {CHECKERS}, not {_show(count)}")
    return value


def _board(value: Any, what: str, rules: Rules) -> Boards:
    """A board on which somebody is on roll, int8 (2, 26)."""
    board = np.array(_counts(value, what), dtype=np.int8)
    _check(board[None], rules, what)
    return board


def _check(boards: Boards, rules: Rules, what: str) -> None:
    try:
        check_boards(boards, rules)
    except ValueError as error:
        _fail(f"{what}: {str(error).removeprefix('game 0 of the batch: ')}")


def _check_results(boards: Boards, rules: Rules, name: Callable[[int], str]) -> None:
    """Are these boards (N, 2, 26) possible results of a play; `name` tells how the request calls row i.

    Both sides borne off, which no player on roll can face, is a result: the draw of R5.4.
    """
    drawn = (boards[:, :, OFF] == CHECKERS).all(axis=1) & (boards.sum(axis=(1, 2), dtype=np.int64) == 2 * CHECKERS)
    try:
        check_boards(boards[~drawn], rules)
    except ValueError:
        for row in np.flatnonzero(~drawn):
            _check(boards[row : row + 1], rules, name(int(row)))
        raise


def _key(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in rows)


_TYPES: dict[type, tuple[tuple[type, ...], str]] = {
    int: ((int,), "an integer"),
    float: ((int, float), "a number"),
    str: ((str,), "a string"),
}


def _rules(request: Reply) -> Rules:
    """The rules of a request: a preset and what differs from it."""
    preset = request.get("rules", "official")
    if not isinstance(preset, str):
        _fail(f"rules must be the name of a preset, not {_show(preset)}; choose one of {', '.join(PRESETS)}")
    options = request.get("options", {})
    if not isinstance(options, dict):
        _fail(f"options must be an object, not {_show(options)}")
    for name, value in options.items():
        default = vars(OFFICIAL).get(name)
        if isinstance(default, tuple):
            if not (isinstance(value, list) and all(map(_is_int, value))) and not isinstance(value, str):
                _fail(f"options: {name} must be a list of integers, not {_show(value)}")
        elif type(default) in _TYPES:
            allowed, words = _TYPES[type(default)]
            if isinstance(value, bool) or not isinstance(value, allowed):
                _fail(f"options: {name} must be {words}, not {_show(value)}")
    return make_rules(preset, options)


def _agent(spec: Any, rules: Rules) -> Agent:
    if not isinstance(spec, str):
        _fail(f"agent must be a string, not {_show(spec)}; the command 'agents' lists what there is")
    if spec.startswith(PREFIX):  # whoever may send requests may not therefore start programs
        _fail(f"agent {_show(spec)} is not served; external programs play in matches only")
    try:
        return _make_agent(spec, rules)
    except OSError as error:
        _fail(f"agent {_show(spec)} cannot be loaded: {error}")


@functools.lru_cache(maxsize=16)
def _make_agent(spec: str, rules: Rules) -> Agent:
    """Agents stay loaded between requests; a net that is overwritten on disk is not read again."""
    return make_agent(spec, rules)
