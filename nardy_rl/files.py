"""Files that appear whole or not at all."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` that takes its name if the block succeeds, and is removed otherwise.

    An existing folder of that name is replaced if all its files have successors of the same names, and only removed
    once the new one is whole.

    Raises:
        FileExistsError: See `check_replaceable`.
    """
    check_replaceable(path, None)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield temporary
        temporary.chmod(0o755)
        if path.exists():
            check_replaceable(path, [entry.name for entry in temporary.iterdir()])
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
            os.replace(path, old / path.name)
            os.replace(temporary, path)
            shutil.rmtree(old)
        else:
            os.replace(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def check_replaceable(path: Path, names: Collection[str] | None) -> None:
    """Makes sure that a new folder may take the name `path` without taking anything of another kind away.

    Args:
        path: The folder to be.
        names: The files it will hold; None if that is not known yet.

    Raises:
        FileExistsError: `path` is no name of its own, or stands for something else than such a folder.
    """
    if path.name in ("", ".."):
        raise FileExistsError(f"{str(path)!r} is not the name of a new folder")
    if not path.exists():
        return
    if path.is_symlink() or not path.is_dir():
        raise FileExistsError(f"{path} is in the way: it is not a folder")
    foreign = sorted(entry.name for entry in path.iterdir() if names is not None and entry.name not in names)
    if foreign:
        raise FileExistsError(f"{path} is in the way: it holds {foreign[0]!r}, which would be lost; give another name")


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file under a temporary name and renames it, so that a reader never sees half of it.

    Raises:
        OSError: The folder does not exist or cannot be written to.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """`write_bytes` of `text` as UTF-8, its line ends as they are."""
    write_bytes(path, text.encode())


def write_json(path: Path, content: Any) -> None:
    """`write_text` of `content` as JSON."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
