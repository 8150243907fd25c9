"""Files and folders appear whole or not at all."""

import json
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.files import new_folder, write_json


def test_new_folder_is_removed_on_interrupt(tmp_path: Path) -> None:
    def interrupted() -> None:
        with new_folder(tmp_path / "x") as folder:
            (folder / "half").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_json_refuses_nan_and_keeps_the_old_file(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"x": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"x": np.nan})
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_json(tmp_path / "folder", {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]
