"""Checkpoints: a folder with the weights, who they are, and how to tell that they still say the same.

    weights.safetensors   the parameters, in 32 bits or fewer (see `value.packing`; loading runs no code)
    meta.json             format, checksum of the weights, rules, features, net shape, seed, games, parent, evaluation,
                          sentinel positions

A folder appears whole or not at all: it is written under a temporary name and renamed. The sentinels are positions with
the outputs the net had when it was saved; they are computed again on loading, and a mismatch is refused.
"""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from nardy_rl.files import new_folder, write_json
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules import dice
from nardy_rl.rules.board import Boards, check_boards
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import Rules, rules_as_dict, rules_from_dict
from nardy_rl.value.evaluator import TorchEvaluator
from nardy_rl.value.net import NetConfig, ValueNet, value_width
from nardy_rl.value.packing import Packing, packed, unpacked
from nardy_rl.value.patterns import check_patterns

FORMAT = 1
FEATURES = "side-slot-stack-1"
"""Name of what `features.active_rows` computes; another input gets another name."""
WEIGHTS, META = "weights.safetensors", "meta.json"
RUN_CHECKPOINTS = "checkpoints"
"""Folder of a run that holds its checkpoints, each named by the number of games played, with leading zeros."""
SENTINEL_TURNS = (0, 7, 19, 31, 43, 55, 67, 79)
UNPACKED = Packing()
"""All weights in 32 bits."""
TOLERANCE = 1e-4
"""Outputs are probabilities (or points); other processors and libraries differ by far less."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message says which file and why."""


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint.

    Attributes:
        path: Where it was loaded from.
        net: The value net.
        rules: The rules it was trained under.
        meta: All of meta.json.
    """

    path: Path
    net: ValueNet
    rules: Rules
    meta: dict[str, Any]


def write_checkpoint(
    folder: Path, net: ValueNet, rules: Rules, provenance: dict[str, Any], packing: Packing = UNPACKED
) -> None:
    """Writes weights and meta.json into an existing folder (usually one of `new_folder`).

    Args:
        folder: Where to.
        net: The net.
        rules: The rules it was trained under.
        provenance: Further entries of meta.json: seed, games, parent, config, evaluation ...
        packing: How to write the weights; they must be numbers that it holds exactly (see `packing.rounded`).
    """
    save_tensors(folder / WEIGHTS, packed(net.state_dict(), packing))
    checksum = weights_checksum(folder)
    boards, moved_first = sentinel_positions(rules)
    outputs = TorchEvaluator(net, rules).values(boards, moved_first)
    meta = {
        "format": FORMAT,
        "features": FEATURES,
        "rules": rules_as_dict(rules),
        "net": dataclasses.asdict(net.config),
        "outcomes": net.outcomes,
        "weights_sha256": checksum,
        **provenance,
        "sentinels": {
            "boards": boards.tolist(),
            "moved_first": moved_first.tolist(),
            "values": [[round(float(x), 7) for x in row] for row in outputs],
        },
    }
    write_json(folder / META, meta)


def save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Writes tensors to a safetensors file that others may read."""
    try:
        save_file({name: value.contiguous() for name, value in tensors.items()}, str(path))
    except safetensors.SafetensorError as error:  # a full disk, say
        raise OSError(f"{path} cannot be written: {_short(error)}") from error
    path.chmod(0o644)


def save_checkpoint(
    path: str | Path, net: ValueNet, rules: Rules, provenance: dict[str, Any], packing: Packing = UNPACKED
) -> None:
    """Writes a checkpoint folder at `path`, all or nothing; see `write_checkpoint`."""
    with new_folder(Path(path)) as folder:
        write_checkpoint(folder, net, rules, provenance, packing)


def newest_checkpoint(run: Path) -> Path | None:
    """The newest checkpoint in a run's folder, or None if it has none."""
    saved = [folder for folder in (run / RUN_CHECKPOINTS).glob("[0-9]*") if (folder / META).exists()]
    return max(saved, key=lambda folder: folder.name, default=None)


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Loads a checkpoint folder and checks that its net still gives the outputs it was saved with.

    Args:
        path: A checkpoint folder, or the folder of a run, which stands for its newest checkpoint.

    Raises:
        CheckpointError: A file is missing or damaged, the format or features are not this version's, or the outputs on
            the sentinel positions differ.
    """
    folder = Path(path)
    if not (folder / META).exists():
        folder = newest_checkpoint(folder) or folder
    meta = read_meta(folder)
    try:
        rules = rules_from_dict(dict(meta["rules"]))
        net = ValueNet(NetConfig(**meta["net"]), int(meta["outcomes"]))
        check_patterns(net.config.patterns, rules)
        boards = check_boards(np.array(meta["sentinels"]["boards"], dtype=np.int8), rules)
        moved_first = np.array(meta["sentinels"]["moved_first"], dtype=np.bool_)
        expected = np.array(meta["sentinels"]["values"], dtype=np.float32)
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError, MemoryError) as error:
        raise CheckpointError(f"{folder / META} is damaged: {_short(error)}") from error
    if net.outcomes != value_width(rules):
        raise CheckpointError(f"{folder / META}: {net.outcomes} outcomes do not fit scoring {rules.scoring!r}")
    try:
        if meta.get("weights_sha256", "") not in ("", weights_checksum(folder)):
            raise ValueError("its checksum is not that of meta.json")
        net.load_state_dict(unpacked(load_file(str(folder / WEIGHTS))))
    except FileNotFoundError as error:
        raise CheckpointError(f"{folder} has no {WEIGHTS}") from error
    except (safetensors.SafetensorError, RuntimeError, ValueError, OSError) as error:
        raise CheckpointError(f"{folder / WEIGHTS} is damaged or belongs to another net: {_short(error)}") from error
    net.eval()
    found = TorchEvaluator(net, rules).values(boards, moved_first)
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=0.0, atol=TOLERANCE):
        raise CheckpointError(
            f"{folder}: the net does not give the outputs it was saved with; "
            "weights and meta.json do not belong together"
        )
    return Checkpoint(folder, net, rules, meta)


def read_meta(folder: Path) -> dict[str, Any]:
    """meta.json of a checkpoint folder.

    Raises:
        CheckpointError: It is missing, damaged, or of another format.
    """
    try:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CheckpointError(f"{folder} is not a checkpoint: it has no {META}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{folder / META} is damaged: {_short(error)}") from error
    if not isinstance(meta, dict):
        raise CheckpointError(f"{folder / META} is damaged: not an object")
    for name, expected in (("format", FORMAT), ("features", FEATURES)):
        if meta.get(name) != expected:
            raise CheckpointError(
                f"{folder / META}: {name} {meta.get(name)!r} is not {expected!r}, which this version reads"
            )
    return meta


def weights_checksum(folder: Path) -> str:
    """SHA-256 of the weights' file of a checkpoint folder: who the net is, whatever its folder is called."""
    return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def sentinel_positions(rules: Rules) -> tuple[Boards, NDArray[np.bool_]]:
    """Eight positions spread over one game of random play: boards int8 (8, 2, 26) and moved_first bool (8,)."""
    games = new_games([0], rules)
    boards: list[NDArray[np.int8]] = []
    moved_first: list[bool] = []
    while len(boards) < len(SENTINEL_TURNS):
        if int(games.turn[0]) >= SENTINEL_TURNS[len(boards)]:
            boards.append(games.boards[0])
            moved_first.append(bool(games.moved_first[0]))
        after = legal_afterstates(games.boards, roll(games, 0, rules), rules)
        choice = int(dice.bits(0, dice.SAMPLE, games.stream, games.turn)[0] % np.uint64(len(after.boards)))
        games, outcome, _ = apply(games, after.boards[[choice]], rules)
        if outcome[0] >= 0:
            games = new_games(games.stream + 1, rules)
    return np.stack(boards), np.array(moved_first)


def _short(error: BaseException) -> str:
    return str(error).strip().split("\n")[0][:200] or type(error).__name__
