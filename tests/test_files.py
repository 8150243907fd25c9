"""Files and folders appear whole or not at all."""

import json
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.files import check_replaceable, new_folder, write_json


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


def test_a_new_folder_takes_nothing_of_another_kind_away(tmp_path: Path) -> None:
    def write(path: Path, *names: str) -> None:
        with new_folder(path) as folder:
            for name in names:
                (folder / name).write_text("new")

    write(tmp_path / "x", "a", "b")
    write(tmp_path / "x", "a", "b", "c")
    (tmp_path / "x" / "notes.txt").write_text("precious")
    with pytest.raises(FileExistsError, match=r"x is in the way: it holds 'notes.txt', which would be lost"):
        write(tmp_path / "x", "a", "b", "c")
    assert (tmp_path / "x" / "notes.txt").read_text() == "precious"
    (tmp_path / "file").write_text("precious")
    with pytest.raises(FileExistsError, match="file is in the way: it is not a folder"):
        write(tmp_path / "file", "a")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "x"], "no temporary folder is left"
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("name", ["", ".", "..", "x/.."])
def test_names_that_are_no_new_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileExistsError, match="is not the name of a new folder"), new_folder(Path(name)):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(FileExistsError, match="link is in the way"):
        check_replaceable(tmp_path / "link", ())
