"""The opening book: the first rolls and the replies to the best play of each, rolled out; kept as data of the package.

All positions of a book are rolled out on the same dice, and rolls that lead to the same choice (3-1 and 1-1, say, both
24/20) are rolled out once. Equities are those of the player who makes the play.
"""

import dataclasses
import importlib.resources
import json
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table

from nardy_rl.agents.luck import is_lot, load_judge
from nardy_rl.agents.rollout import Progress, RolloutSettings, rollout, rollout_candidates, top_candidates
from nardy_rl.config import KEPT_NETS, OpeningBookConfig
from nardy_rl.evaluation.arena import Z95
from nardy_rl.evaluation.reference_set import check_horizon
from nardy_rl.files import write_json
from nardy_rl.rules.board import Boards, flip, new_boards
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS
from nardy_rl.rules.notation import find_play, format_play
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.reference import as_board, legal_plays
from nardy_rl.rules.spec import Rules, make_rules, rules_as_dict, rules_from_dict
from nardy_rl.value.checkpoint import load_checkpoint
from nardy_rl.value.evaluator import Evaluator

FORMAT = 1


class BookError(ValueError):
    """A book that cannot be used; the message says which and why."""


@dataclasses.dataclass(frozen=True)
class BookPlay:
    """A play of a roll.

    Attributes:
        play: The play as text.
        equity: Expected points of the player who makes it.
        stderr: Standard error of `equity`: chance only.
        loss: How far behind the best play of the roll.
        loss_stderr: Standard error of `loss`, by paired trials; 0 for the best play.
        trials: Trials played.
    """

    play: str
    equity: float
    stderr: float
    loss: float
    loss_stderr: float
    trials: int


@dataclasses.dataclass(frozen=True)
class BookRoll:
    """A roll and its plays, the best first.

    Attributes:
        roll: The higher die, then the lower one, as `64`.
        plays: One or more.
    """

    roll: str
    plays: tuple[BookPlay, ...]


@dataclasses.dataclass(frozen=True)
class OpeningBook:
    """See the module.

    Attributes:
        rules: Its rules.
        edge: Points per game of the player who moves first, by games played to their end.
        edge_stderr: Standard error of `edge`: chance only.
        first: The first rolls: all 21, or 15 where the lot itself is played (R6.1).
        replies: First roll -> the 21 rolls of the answer to its best play; may be empty.
        meta: Where all this comes from.
    """

    rules: Rules
    edge: float
    edge_stderr: float
    first: tuple[BookRoll, ...]
    replies: dict[str, tuple[BookRoll, ...]]
    meta: dict[str, Any]

    @property
    def mean_of_first(self) -> tuple[float, float]:
        """The edge once more, as the mean over the first rolls, and how large its standard error is at most."""
        chances = {_name(dice): weight for dice, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True)}
        weights = np.array([chances[entry.roll] for entry in self.first])
        weights /= weights.sum()
        best = [entry.plays[0] for entry in self.first]
        return float(weights @ [play.equity for play in best]), float(weights @ [play.stderr for play in best])


# --- building it ------------------------------------------------------------------------------------------------------


def build_book(config: OpeningBookConfig, progress: Progress | None = None) -> OpeningBook:
    """Rolls out a book. With `config.state`, a folder, a stopped build goes on where it was.

    Raises:
        ValueError: A setting that is not allowed, a net that cannot be used, or the state of another book.
        KeyboardInterrupt: Passed on once the state, if there is one, is saved.
    """
    rules = make_rules(config.rules, config.options)
    edge_settings = dataclasses.replace(
        config.rollout, trials=config.edge_trials, min_trials=config.edge_trials, truncate=None, stop_se=0.0
    )
    edge_settings.check()
    config.rollout.check()
    checkpoint = load_checkpoint(config.judge or KEPT_NETS[rules.geometry])
    check_horizon(checkpoint, rules, config.rollout)
    judge = load_judge(checkpoint.path, rules)
    folder = None if config.state is None else Path(config.state)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)

    def rolled(name: str, boards: Boards, dice: NDArray[np.int8], moved_first: bool) -> tuple[list[BookRoll], Boards]:
        state = None if folder is None else folder / f"{name}.npz"
        return _rolled_out(judge, boards, dice, moved_first, rules, config, state, progress)

    start = new_boards(1, rules)
    lot = bool(is_lot(start, np.array([True]), rules)[0])
    rolls = ROLLS[ROLLS[:, 0] != ROLLS[:, 1]] if lot else ROLLS
    first, best = rolled("first", np.repeat(start, len(rolls), axis=0), rolls, True)
    replies: dict[str, tuple[BookRoll, ...]] = {}
    if config.replies:
        faced = np.ascontiguousarray(np.repeat(flip(best), len(ROLLS), axis=0))
        answers, _ = rolled("replies", faced, np.tile(ROLLS, (len(rolls), 1)), False)
        for k, dice in enumerate(rolls):
            replies[_name(dice)] = tuple(answers[len(ROLLS) * k : len(ROLLS) * (k + 1)])
    games = rollout(
        judge, start, np.array([True]), rules, edge_settings, threads=config.threads,
        state=None if folder is None else folder / "edge.npz", progress=progress,
    )  # fmt: skip
    meta = {
        "format": FORMAT,
        "rules": rules_as_dict(rules),
        "judge": {
            "run": checkpoint.meta.get("run"),
            "games": checkpoint.meta.get("games"),
            "rules": checkpoint.meta.get("config", {}).get("rules"),
        },
        "rollout": dataclasses.asdict(config.rollout),
        "edge_trials": config.edge_trials,
        "candidates": config.candidates,
        "within": config.within,
    }
    return OpeningBook(rules, float(games.equity[0]), float(games.stderr[0]), tuple(first), replies, meta)


def _rolled_out(
    judge: Evaluator,
    boards: Boards,
    dice: NDArray[np.int8],
    moved_first: bool,
    rules: Rules,
    config: OpeningBookConfig,
    state: Path | None,
    progress: Progress | None,
) -> tuple[list[BookRoll], Boards]:
    """The rolls dice (N, 2) on boards (N, 2, 26) with their plays, and the afterstates (N, 2, 26) of the best ones."""
    seats = np.full(len(boards), moved_first)
    found = top_candidates(judge, boards, dice, seats, rules, config.candidates, config.within)
    choices: dict[bytes, int] = {}  # what there is to choose from -> the first decision that has it
    asked = []
    for i in range(len(boards)):
        plays = sorted(board.tobytes() for board in _of(found, i))
        asked.append(choices.setdefault(b"".join(plays), i))
    different = np.array(sorted(choices.values()))
    place = {int(i): k for k, i in enumerate(different)}
    candidates = Afterstates(
        np.concatenate([_of(found, i) for i in different]), np.concatenate([[0], np.cumsum(found.counts[different])])
    )
    result = rollout_candidates(
        judge, boards[different], seats[different], candidates, rules, config.rollout,
        threads=config.threads, streams=np.zeros(len(different), dtype=np.int64), state=state, progress=progress,
    )  # fmt: skip
    entries, best = [], []
    for i, dice_of in enumerate(dice):
        k = place[asked[i]]
        rows = np.arange(candidates.offsets[k], candidates.offsets[k + 1])
        rows = rows[np.lexsort((result.loss[rows], rows != result.best[k]))]
        roll = (int(dice_of[0]), int(dice_of[1]))
        steps = {play.board: play.steps for play in legal_plays(boards[i], roll, rules)}
        plays_of = tuple(
            BookPlay(
                play=format_play(steps[as_board(candidates.boards[row])]),
                equity=round(float(result.equity[row]), 6),
                stderr=round(float(result.stderr[row]), 6),
                loss=round(float(result.loss[row]), 6),
                loss_stderr=round(float(result.loss_stderr[row]), 6),
                trials=int(result.trials[row]),
            )
            for row in rows
        )
        entries.append(BookRoll(_name(dice_of), plays_of))
        best.append(candidates.boards[result.best[k]])
    return entries, np.stack(best)


def _of(after: Afterstates, i: int | np.integer[Any]) -> Boards:
    return after.boards[after.offsets[i] : after.offsets[i + 1]]


def _name(dice: NDArray[np.int8]) -> str:
    return f"{dice[0]}{dice[1]}"


# --- the file ---------------------------------------------------------------------------------------------------------


def save_book(book: OpeningBook, path: Path) -> None:
    """Writes a book as JSON."""
    write_json(path, {
        **book.meta,
        "edge": book.edge,
        "edge_stderr": book.edge_stderr,
        "first": [_entry_as_json(entry) for entry in book.first],
        "replies": {roll: [_entry_as_json(entry) for entry in entries] for roll, entries in book.replies.items()},
    })  # fmt: skip


_FIELDS = tuple(field.name for field in dataclasses.fields(BookPlay))


def _entry_as_json(entry: BookRoll) -> dict[str, Any]:
    return {"roll": entry.roll, "plays": [dataclasses.asdict(play) for play in entry.plays]}


def load_book(path: str | Path | None = None, rules: str = "official") -> OpeningBook:
    """Loads a book.

    Args:
        path: A file of `save_book`; None = the package's own for the preset `rules`.
        rules: Preset whose book is wanted where no file is named.

    Raises:
        BookError: There is no such file, or it is damaged: not all rolls, plays that are not legal, no numbers.
    """
    if path is None:
        own = importlib.resources.files("nardy_rl") / "data" / f"opening_book_{rules}.json"
        if not own.is_file():
            raise BookError(f"there is no opening book for rules={rules}; build one with build=true rules={rules}")
        name, text = own.name, own.read_text(encoding="utf-8")
    else:
        try:
            name, text = str(path), Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise BookError(f"book={path} cannot be read: {error.strerror}") from error
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise BookError(f"{name} has format {content['format']!r}; this version reads {FORMAT}")
        of_rules = rules_from_dict(content["rules"])
        meta = {key: content[key] for key in content.keys() - {"edge", "edge_stderr", "first", "replies"}}
        replies = {roll: _entries(entries) for roll, entries in content["replies"].items()}
        book = OpeningBook(
            of_rules, float(content["edge"]), float(content["edge_stderr"]), _entries(content["first"]), replies, meta
        )
        _check(book)
    except BookError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BookError(f"{name} is no opening book, or is damaged: {error}") from error
    return book


def _entries(content: Sequence[dict[str, Any]]) -> tuple[BookRoll, ...]:
    return tuple(
        BookRoll(str(entry["roll"]), tuple(BookPlay(**{f: play[f] for f in _FIELDS}) for play in entry["plays"]))
        for entry in content
    )


def _check(book: OpeningBook) -> None:
    """Raises a ValueError if a play is not legal, or a number none."""
    start = as_board(new_boards(1, book.rules)[0])
    all_rolls = [_name(dice) for dice in ROLLS]
    if not {entry.roll for entry in book.first} <= set(all_rolls):
        raise ValueError("first rolls that are none")
    for entry in book.first:
        after = _check_plays(entry, start, book.rules)
        answers = book.replies.get(entry.roll)
        if answers is not None:
            if [answer.roll for answer in answers] != all_rolls:
                raise ValueError(f"the answers to {entry.roll} are not the 21 rolls")
            for answer in answers:
                _check_plays(answer, (after[1], after[0]), book.rules)
    if not book.first or not math.isfinite(book.edge + book.edge_stderr):
        raise ValueError("no first rolls, or no edge")


def _check_plays(entry: BookRoll, board: Any, rules: Rules) -> Any:
    """The board after the best play."""
    boards = [find_play(play.play, board, map(int, entry.roll), rules).board for play in entry.plays]
    numbers = [(play.equity, play.stderr, play.loss, play.loss_stderr) for play in entry.plays]
    if not boards or not np.isfinite(np.array(numbers, dtype=np.float64)).all() or entry.plays[0].loss != 0:
        raise ValueError(f"the plays of {entry.roll} are not ranked")
    return boards[0]


# --- shown ------------------------------------------------------------------------------------------------------------

_HEADINGS = ("roll", "best play", "equity", "second best", "behind by")


def as_table(book: OpeningBook, reply_to: str | None = None) -> Table:
    """The first rolls for the screen, or the answers to one of them.

    Raises:
        ValueError: There is no such first roll, or the book has no answers to it.
    """
    entries = book.first
    if reply_to is not None:
        name = "".join(sorted(reply_to, reverse=True))
        if name not in book.replies:
            known = ", ".join(book.replies) or "none"
            raise ValueError(f"reply_to={reply_to!r}: the book has answers to {known}")
        entries = book.replies[name]
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if "best" in heading else "right")
    for entry in entries:
        table.add_row(*_cells(entry))
    return table


def edge_text(book: OpeningBook) -> str:
    """The first player's edge, one line."""
    mean, stderr = book.mean_of_first
    return (
        f"First player's edge {_with_interval(book.edge, book.edge_stderr)} points per game, by "
        f"{book.meta['edge_trials']:,} games played to their end (mean of the first rolls: {mean:+.4f}, standard error "
        f"{stderr:.4f} at most)"
    )


def judge_text(book: OpeningBook) -> str:
    """What the figures rest on, one line."""
    judge, settings = book.meta["judge"], RolloutSettings(**book.meta["rollout"])
    turns = "to the end" if settings.truncate is None else f"for {settings.truncate} turns, then its own word stands"
    learnt = f", trained under `{judge['rules']}`" if judge["rules"] else ""
    return (
        f"Judge: the net of run {judge['run']} after {judge['games']:,} games{learnt}; it plays both sides of every "
        f"trial {turns}. ± is 1.96 standard errors."
    )


def choices_text(book: OpeningBook) -> str:
    """How many of the rolls leave a choice at all, one line."""
    answers = [answer for entries in book.replies.values() for answer in entries]
    counts = [
        f"{sum(len(entry.plays) > 1 for entry in entries)} of {len(entries)} {name}"
        for name, entries in (("first rolls", book.first), ("replies", answers))
        if entries
    ]
    return f"More than one play comes into question for {' and '.join(counts)}."


def page_text(books: dict[str, OpeningBook]) -> str:
    """The books, by the name of their rules, as a page in Markdown."""
    lines = ["# Opening book", "", _INTRODUCTION, ""]
    for name, book in books.items():
        facts = textwrap.fill(f"{edge_text(book)}. {choices_text(book)} {judge_text(book)}", 120)
        lines += [f"## First rolls, rules `{name}`", "", facts, ""]
        lines += [*_markdown(book.first), ""]
    for name, book in books.items():
        shown: dict[str, list[str]] = {}
        for entry in book.first:
            if entry.roll in book.replies:
                text = "\n".join(_markdown(book.replies[entry.roll]))
                shown.setdefault(text, []).append(entry.roll)
        if shown:
            lines += [f"## Replies, rules `{name}`", ""]
        best = {entry.roll: entry.plays[0].play for entry in book.first}
        for text, rolls in shown.items():
            after = ", ".join(f"{roll[0]}-{roll[1]} {best[roll]}" for roll in rolls)
            lines += [f"### After {after}", "", text, ""]
    return "\n".join(lines).rstrip() + "\n"


_INTRODUCTION = """\
Written by `python scripts/opening_book.py page=docs/opening_book.md` from the data of the package
(`nardy_rl/data/opening_book_*.json`); `python scripts/opening_book.py build=true` makes the data. Points are in the
numbering of the player who makes the play (24 = head); equities are his expected points per game. A player's first turn
seldom leaves a choice, as one checker a turn may leave the head (R2.1): choices begin with the second turn."""


def _markdown(entries: Sequence[BookRoll]) -> list[str]:
    rows = [f"| {' | '.join(_cells(entry))} |" for entry in entries]
    return [f"| {' | '.join(_HEADINGS)} |", "|" + " --- |" * len(_HEADINGS), *rows]


def _cells(entry: BookRoll) -> tuple[str, ...]:
    best = entry.plays[0]
    cells = (f"{entry.roll[0]}-{entry.roll[1]}", best.play, _with_interval(best.equity, best.stderr))
    if len(entry.plays) == 1:
        return (*cells, "-", "")
    second = entry.plays[1]
    return (*cells, second.play, _with_interval(second.loss, second.loss_stderr, sign=""))


def _with_interval(mean: float, stderr: float, sign: str = "+") -> str:
    return f"{mean:{sign}.4f} ± {Z95 * stderr:.4f}"
