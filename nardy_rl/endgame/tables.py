"""Bear-off tables on disk, and looking positions up in them.

A table is a folder with `equities.npy` (see `two_sided.Table`), which is mapped into memory, not read, and `meta.json`
(format, the rule options it belongs to, men, scale, checksums, build time). It appears whole or not at all, and is
refused if anything is wrong with it. meta.json has a checksum of itself too: what it says decides what the equities
mean and which positions they belong to, and no other check would see a changed scale.

Agents look for tables in the folder that the environment variable NARDY_RL_TABLES names, `tables` if it is not set; if
it is set to nothing, none are used.
"""

import dataclasses
import fnmatch
import functools
import hashlib
import importlib.metadata
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nardy_rl.endgame import two_sided
from nardy_rl.endgame.positions import HomePositions, check_rules, number_of
from nardy_rl.files import new_folder, write_json
from nardy_rl.rules.board import Boards
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.spec import CHECKERS, HOME, Rules

FORMAT = 1
"""Changes with the numbering of positions or the meaning of an entry."""
EQUITIES, META = "equities.npy", "meta.json"
META_CHECKSUM = "meta_sha256"
"""Entry of meta.json: the checksum of all its other entries."""
NAMES = "bearoff-*men-*"
"""What tables are called (`build_table`), as a pattern."""
VARIABLE, DEFAULT_FOLDER = "NARDY_RL_TABLES", "tables"

CHECKED_WHOLE = 512 << 20
"""Bytes up to which a table's whole checksum is computed whenever it is loaded (0.3 s); of larger ones a sample's."""
_SAMPLES = 1_024
_SAMPLE_BYTES = 1 << 16


class TableError(ValueError):
    """A table that cannot be used; the message says which and why."""


@dataclasses.dataclass(frozen=True, eq=False)
class BearoffTable:
    """A two-sided table: exact equities of the positions it covers.

    Attributes:
        name: Where it was loaded from, or what it was called when built.
        positions: The positions of one side.
        key: The rule options it belongs to, see `rules_key`.
        scale: Steps of the table in one point.
        equities: int16 (seats, n, n), see `two_sided.Table`; read-only.
    """

    name: str
    positions: HomePositions
    key: dict[str, Any]
    scale: int
    equities: NDArray[np.int16]

    def check(self, rules: Rules) -> None:
        """Raises a TableError that names the difference if the table does not belong to these rules."""
        for option, wanted in rules_key(rules, self.positions.men).items():
            if self.key.get(option) != wanted:
                raise TableError(f"{self.name} was built for {option} {self.key.get(option)!r}, not {wanted!r}")

    def covers(self, boards: Boards) -> NDArray[np.bool_]:
        """Which of the boards int8 (K, 2, 26) the table knows, bool (K,). Finished games are not in it."""
        numbers = self.positions.numbers_of(boards.reshape(-1, boards.shape[-1])).reshape(-1, 2)
        covered: NDArray[np.bool_] = np.all(numbers > 0, axis=1)
        return covered

    def lookup(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Equities of the player on roll, float64 (K,); NaN where the table does not cover the board.

        Args:
            boards: int8 (K, 2, 26), rows (player on roll, opponent), the dice not thrown yet.
            moved_first: bool (K,), does the player on roll hold the first seat.
        """
        numbers = self.positions.numbers_of(boards.reshape(-1, boards.shape[-1])).reshape(-1, 2)
        own, opponent = numbers[:, 0], numbers[:, 1]
        covered = (own > 0) & (opponent > 0)
        found = np.full(len(boards), np.nan)
        seat = np.where(moved_first, 0, len(self.equities) - 1)[covered]
        found[covered] = self.equities[seat, opponent[covered], own[covered]] / self.scale
        return found

    def overwrite(
        self, equities: NDArray[np.float64], boards: Boards, moved_first: NDArray[np.bool_], after: Afterstates
    ) -> None:
        """Puts the OPPONENT's equity into `equities` float64 (K,) of every afterstate that is covered.

        Args:
            equities: Of the opponent, who is on roll in the afterstates.
            boards: int8 (N, 2, 26), the boards the plays start from, rows (mover, opponent).
            moved_first: bool (N,), does the mover hold the first seat.
            after: Afterstates of these N rolls, rows (mover, opponent).
        """
        positions = self.positions
        starts, seats, ends, offsets = (
            np.require(array, requirements=["C", "W"]) for array in (boards, moved_first, *after)
        )
        table, scale, number = self.equities, self.scale, positions.number
        _overwrite(equities, starts, seats, ends, offsets, table, scale, number, positions.men, positions.points)


def rules_key(rules: Rules, men: int) -> dict[str, Any]:
    """What equities of a bear-off with up to `men` checkers a side depend on; tables of one key are equal.

    `must_play` and `bear_off_blocked` are no part of it: at home a die can always be played, by the highest checker if
    by no other, until the game is over (R4.2), so neither ever comes into play.

    Raises:
        ValueError: Rules that have no tables.
    """
    check_rules(rules)
    one_point = HomePositions(men, points=1)
    key: dict[str, Any] = {
        "bear_off_choice": rules.bear_off_choice,
        "draw": rules.draw,
        "points_lost": two_sided.points_lost(one_point, rules).tolist(),  # by the number of checkers left
    }
    if rules.draw == "last_roll" and (men == CHECKERS or rules.scoring == "checkers"):
        key["last_roll_mars"] = rules.last_roll_mars  # otherwise a loss is an oin before the last throw and after it
    return key


def table_bytes(men: int, rules: Rules, points: int = HOME) -> int:
    """Size of a table."""
    return 2 * two_sided.seats(rules) * len(HomePositions(men, points)) ** 2


def build_table(
    men: int,
    rules: Rules,
    *,
    points: int = HOME,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> BearoffTable:
    """Builds a table in memory.

    Args:
        men: Most checkers a side still has on the board, 1..15.
        rules: The rules it is to belong to.
        points: Highest point a checker may stand on, 1..6.
        threads: Threads that compute; the result does not depend on it.
        progress: Called with the share done, 0..1.

    Raises:
        ValueError: Impossible numbers, or rules that have no tables.
    """
    positions = HomePositions(men, points)
    key = rules_key(rules, men)
    equities = two_sided.build(positions, rules, threads=threads, progress=progress)
    equities.flags.writeable = False
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:8]
    name = f"bearoff-{men}men{'' if points == HOME else f'-{points}points'}-{digest}"
    return BearoffTable(name, positions, key, two_sided.scale(positions, rules), equities)


def save_table(table: BearoffTable, folder: str | Path, provenance: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """Writes a table to `folder`/`table.name`, all or nothing.

    Args:
        table: One of `build_table`.
        folder: Where tables are kept.
        provenance: Further entries of meta.json.

    Returns:
        Its folder and its meta.json.
    """
    path = Path(folder) / table.name
    meta = {
        "format": FORMAT,
        "men": table.positions.men,
        "points": table.positions.points,
        "rules": table.key,
        "scale": table.scale,
        "shape": list(table.equities.shape),
        "sha256": hashlib.sha256(table.equities.data).hexdigest(),
        "sample_sha256": _sample_checksum(table.equities),
        "version": importlib.metadata.version("nardy_rl"),
        **provenance,
    }
    meta[META_CHECKSUM] = _meta_checksum(meta)
    with new_folder(path) as new:
        np.save(new / EQUITIES, table.equities.astype("<i2", copy=False), allow_pickle=False)
        (new / EQUITIES).chmod(0o644)
        write_json(new / META, meta)
    return path, meta


def load_table(path: str | Path, rules: Rules | None = None, *, whole: bool = False) -> BearoffTable:
    """Maps a table into memory and checks it.

    Args:
        path: Its folder.
        rules: Refuse it if it does not belong to these.
        whole: Compute the checksum of all its bytes however large it is (5 GB: seconds once they are in memory).

    Raises:
        TableError: A file is missing, damaged, of another size or format, a checksum differs, or the rules do.
    """
    folder = Path(path)
    meta = read_meta(folder)
    try:
        positions = HomePositions(int(meta["men"]), int(meta["points"]))
        scale, key, sha256, sample = int(meta["scale"]), dict(meta["rules"]), meta["sha256"], meta["sample_sha256"]
        shape = (2 if key["draw"] == "last_roll" else 1, len(positions), len(positions))
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{folder / META} is damaged: {error!r}") from error
    try:
        mapped = np.load(folder / EQUITIES, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise TableError(f"{folder / EQUITIES} is missing or damaged: {error}") from error
    if not isinstance(mapped, np.memmap) or mapped.dtype != np.dtype("<i2") or mapped.shape != shape:
        raise TableError(f"{folder / EQUITIES} is not the int16 array {shape} that {META} speaks of")
    size = (folder / EQUITIES).stat().st_size
    if size != mapped.offset + mapped.nbytes or not mapped.flags.c_contiguous:
        raise TableError(f"{folder / EQUITIES} has {size} bytes, not {mapped.offset + mapped.nbytes}: it is damaged")
    equities = np.asarray(mapped)
    whole = whole or equities.nbytes <= CHECKED_WHOLE
    found = hashlib.sha256(equities.data).hexdigest() if whole else _sample_checksum(equities)
    if found != (sha256 if whole else sample):
        raise TableError(f"{folder / EQUITIES} is damaged: its checksum is not that of {META}; build it again")
    table = BearoffTable(str(folder), positions, key, scale, equities)
    if rules is not None:
        table.check(rules)
    return table


def tables_folder() -> Path:
    """Where tables are looked for; see the module. The default if NARDY_RL_TABLES is set to nothing."""
    return Path(os.environ.get(VARIABLE) or DEFAULT_FOLDER)


def find_table(rules: Rules, folder: str | Path | None = None) -> BearoffTable | None:
    """The largest table for these rules in `folder`, or in the folder of tables (see the module); None if it has none.

    The meta.json of every table there is checked, for it decides which table is taken; the equities only of that one.

    Raises:
        TableError: The meta.json of a table there is missing or damaged, the table to be taken is damaged, or the
            folder is itself a table.
        ValueError: The folder that NARDY_RL_TABLES names does not exist, or no table is in it.
    """
    if rules.block_rule == "forbid":
        return None
    named = None
    if folder is None:
        named = os.environ.get(VARIABLE)
        if named == "":
            return None
        folder = tables_folder()
        if named and not folder.is_dir():
            raise ValueError(f"{VARIABLE}={named}: there is no such folder")
    found = _tables_in(Path(folder))
    if named and not found:  # most likely the wrong folder, and nothing else would tell
        raise ValueError(
            f"{VARIABLE}={named}: no bear-off table is in that folder; name the one that holds the folders of tables, "
            f"or nothing ({VARIABLE}=) to use none"
        )
    fitting: list[tuple[int, str]] = []
    for path in found:
        meta = read_meta(path)
        try:
            if meta["rules"] == rules_key(rules, int(meta["men"])):
                fitting.append((int(meta["shape"][1]), str(path)))
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise TableError(f"{path / META} is damaged: {error!r}") from error
    if not fitting:
        return None
    largest = max(fitting)[1]
    return _loaded(largest, (Path(largest) / META).stat().st_mtime_ns)


def _tables_in(folder: Path) -> list[Path]:
    """Folders of all tables in `folder`, also of those that miss a file, or are a link that leads nowhere.

    Raises:
        TableError: `folder` is itself a table, or cannot be read.
    """
    if not folder.is_dir():
        return []
    if _is_table(folder):
        raise TableError(
            f"{folder} is itself a bear-off table; name the folder that holds it: {folder.absolute().parent}"
        )
    try:
        inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise TableError(f"{folder} cannot be searched for bear-off tables: {error}") from error
    return [path for path in inside if _is_table(path) or (fnmatch.fnmatch(path.name, NAMES) and not path.is_file())]


def _is_table(folder: Path) -> bool:
    """Does it hold equities. A meta.json alone says nothing: a folder of checkpoints has them too."""
    return os.path.lexists(folder / EQUITIES)


@functools.lru_cache(maxsize=8)
def _loaded(path: str, changed: int) -> BearoffTable:
    """`load_table`, once for each state of the table."""
    return load_table(path)


def read_meta(folder: Path) -> dict[str, Any]:
    """meta.json of a table's folder, all of it checked.

    Raises:
        TableError: It is missing, damaged, of another format, or has no checksum of itself (older tables).
    """
    try:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise TableError(f"{folder} is damaged, or no bear-off table: it has no {META}; build it again") from error
    except (OSError, ValueError, RecursionError) as error:
        raise TableError(f"{folder / META} is damaged: {error}") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise TableError(f"{folder / META} is damaged, or not of format {FORMAT}, which this version reads")
    if META_CHECKSUM not in meta:
        raise TableError(
            f"{folder / META} is damaged, or of an older version: it has no {META_CHECKSUM}; build it again"
        )
    if meta[META_CHECKSUM] != _meta_checksum(meta):
        raise TableError(f"{folder / META} is damaged: its entries do not fit its own checksum; build it again")
    return meta


def _meta_checksum(meta: dict[str, Any]) -> str:
    """SHA-256 of all entries but the checksum itself, however they are ordered and spaced in the file."""
    entries = {name: value for name, value in meta.items() if name != META_CHECKSUM}
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def _sample_checksum(equities: NDArray[np.int16]) -> str:
    """SHA-256 of up to 1,024 pieces of 64 KiB, evenly spread, the first and the last included."""
    data = equities.reshape(-1).view(np.uint8)
    digest = hashlib.sha256()
    for start in np.unique(np.linspace(0, max(0, len(data) - _SAMPLE_BYTES), _SAMPLES).astype(np.int64)):
        digest.update(data[start : start + _SAMPLE_BYTES].data)
    return digest.hexdigest()


@numba.njit(cache=True, nogil=True)
def _overwrite(
    out: Any, boards: Any, moved_first: Any, after: Any, offsets: Any, equities: Any, scale: int, number: Any,
    men: int, points: int,
) -> None:  # fmt: skip
    """See `BearoffTable.overwrite`."""
    for game in range(len(boards)):
        opponent = number_of(boards[game, 1], number, men, points)
        if opponent <= 0:
            continue
        # the opponent is on roll in the afterstate: his are the own checkers there, and he moved second if the mover
        # moved first
        seat = len(equities) - 1 if moved_first[game] else 0
        for k in range(offsets[game], offsets[game + 1]):
            mover = number_of(after[k, 0], number, men, points)
            if mover > 0:
                out[k] = equities[seat, mover, opponent] / scale
