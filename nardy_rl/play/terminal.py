"""The terminal around a session: reads lines, prints replies, keeps the record in a file."""

import contextlib
import importlib
import io
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from nardy_rl.play.session import Listing, Part, Said, Session, View
from nardy_rl.records.record import MatchRecord, Record
from nardy_rl.records.store import MAT, TEXT, load, save
from nardy_rl.records.text import format_records
from nardy_rl.rules.spec import Rules
from nardy_rl.show.svg import MOVER, OPPONENT
from nardy_rl.show.terminal import TerminalBoard

STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""

_STYLES = {"plain": "", "error": "red", "news": "bold"}


class RecordFile:
    """The file a session is kept in. It is written whole or not at all, and never over a file of somebody else.

    Attributes:
        path: Where the session is saved if the person names no other file.
    """

    def __init__(self, path: Path, *, ours: bool = False, make_folder: bool = False) -> None:
        """Names the file; nothing is written yet.

        Args:
            path: The file.
            ours: It may be there already: the session goes on with it.
            make_folder: Its folder is made when it is first needed.
        """
        self.path = path
        self._ours = {path} if ours else set[Path]()
        self._make_folder = make_folder
        self._written: MatchRecord | None = None
        self._autosave = path.with_suffix(".autosave.txt")
        self._autosaved: MatchRecord | None = None

    def check(self, path: Path) -> None:
        """Raises a ValueError if a session must not or cannot be saved there."""
        if path.is_dir():
            raise ValueError(f"{path} is a folder; give the name of a file")
        if path.suffix.lower() not in (TEXT, MAT):
            raise ValueError(f"{path} should end in {TEXT} (or in {MAT}, for short nardy and other programs)")
        if self._autosave.exists() and self._autosaved is None:
            raise ValueError(
                f"{self._autosave} is there from a session that was killed; go on with resume={self._autosave}, "
                "or delete it"
            )
        if path.exists() and path not in self._ours:
            raise ValueError(f"{path} is there already; give another name")
        if path.exists() and not path.stat().st_mode & 0o222:
            raise ValueError(f"{path} is read-only; give another name")
        if not path.parent.is_dir() and not (self._make_folder and path == self.path):
            raise ValueError(f"there is no folder {path.parent}")

    def save(self, session: Session, name: str = "") -> None:
        """Writes the session's record; from then on it is kept there.

        Args:
            session: What to write.
            name: Another file than `path`.

        Raises:
            ValueError: See `check`.
            OSError: The file cannot be written.
        """
        path = Path(name).expanduser() if name else self.path
        self.check(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = session.record()
        save(path, record)
        self._ours.add(path)
        self.path = path
        self._written = record

    def autosave(self, session: Session) -> None:
        """Keeps what the file does not hold yet beside it, as NAME.autosave.txt, for the case of a kill."""
        record = session.record() if session.started else None
        if record is not None and record not in (self._written, self._autosaved):
            with contextlib.suppress(ValueError, OSError):  # whoever cannot write hears of it when the record is saved
                self._autosave.parent.mkdir(parents=True, exist_ok=True)
                save(self._autosave, record)
                self._autosaved = record

    def drop_autosave(self) -> None:
        """Removes what `autosave` kept."""
        if self._autosaved is not None:
            self._autosave.unlink(missing_ok=True)
            self._autosaved = None

    def holds(self, session: Session) -> bool:
        """The file is written, and nothing has happened since."""
        return self._written == session.record()


def read_record(path: Path) -> Record:
    """The game or match that a file holds.

    Raises:
        ValueError: It is not such a file (names the line, see `records.store.load`), or holds several of them.
        OSError: It cannot be read.
    """
    records = load(path)
    if len(records) > 1:
        raise ValueError(f"{path} holds {len(records)} games and matches; give a file with the one to go on with")
    return records[0]


def run(session: Session, file: RecordFile, console: Console, read: Callable[[str], str]) -> int:
    """Plays until the session is over, the input ends or Ctrl-C; the record is kept unless the person says no.

    Args:
        session: A session that has not started.
        file: Where its record is kept: after every game, and at the end.
        console: Where replies are printed.
        read: Asks for a line with a prompt, see `read_line`.

    Returns:
        The exit code: 0; 130 after Ctrl-C or when the terminal is closed, and 1 if the record could not be written.
    """
    code, discard = 0, False
    games = session.finished_games
    try:
        with _stopped_by_signals():
            reply = session.start()
            while True:
                for part in reply.parts:
                    console.print(_rendered(part, session.rules))
                leaving = reply.done
                ended, games = session.finished_games > games, session.finished_games
                file.autosave(session)
                if reply.save is not None or ended:
                    leaving &= _saved(session, file, reply.save or "", console)
                elif leaving:
                    discard = True  # the answer to `quit` was no, or there is nothing to save
                if leaving or session.over:
                    break
                line = read(reply.prompt)
                with console.status("") if console.is_terminal else contextlib.nullcontext():
                    reply = session.command(line)
    except EOFError:
        console.print()
    except KeyboardInterrupt:
        console.print()
        code = STOPPED
    finally:
        if session.started and not discard and not _kept(session, file, console):
            code = 1
        else:
            file.drop_autosave()
    return code


def read_line(prompt: str) -> str:
    """`input`, with the line shown after the prompt also where nobody typed it on this screen."""
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)
    return line


def prepare_streams() -> None:
    """Makes the terminal forgiving: arrow keys in `input`, and no text that could not be read or printed."""
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _saved(session: Session, file: RecordFile, name: str, console: Console) -> bool:
    try:
        file.save(session, name)
    except (ValueError, OSError) as error:
        console.print(Text(f"Not saved: {error}.", style=_STYLES["error"]))
        return False
    console.print(Text(f"Saved in {file.path}."))
    return True


def _kept(session: Session, file: RecordFile, console: Console) -> bool:
    """Saves what is not saved yet, and says how to go on; if that fails, prints the record so that it is not lost."""
    if not file.holds(session) and not _saved(session, file, "", console):
        console.print(Text(format_records([session.record()])))
        return False
    if not session.over:
        console.print(Text(f"Go on with: python scripts/play.py resume={file.path}"), soft_wrap=True)
    return True


def _rendered(part: Part, rules: Rules) -> RenderableType:
    """What rich prints for a part of a reply."""
    if isinstance(part, Said):
        return Text(part.text, style=_STYLES[part.kind])
    if isinstance(part, View):
        white = MOVER if part.moved_first else OPPONENT
        board = TerminalBoard(part.board, rules, part.dice, last=part.last, white=white)
        return Group(board, Text(part.cube)) if part.cube else board
    if isinstance(part, Listing):
        return Columns(
            [Text(f"{number:>3}  {play}") for number, play in enumerate(part.plays, start=1)], padding=(0, 3)
        )
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in part.header:
        table.add_column(Text(name), justify="left" if name == "play" else "right")
    for row in part.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """A closed terminal and a polite kill are like Ctrl-C."""
    names = [name for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        names = []

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {name: signal.signal(getattr(signal, name), stop) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
