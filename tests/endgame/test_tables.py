"""Tables on disk: what is written is what is read, and nothing damaged or foreign is."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.endgame import tables
from nardy_rl.endgame.tables import (
    EQUITIES,
    META,
    META_CHECKSUM,
    TableError,
    build_table,
    find_table,
    load_table,
    save_table,
)
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.spec import make_rules

OFFICIAL, MOSCOW = make_rules("official"), make_rules("moscow")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, _ = save_table(build_table(4, OFFICIAL), tmp_path_factory.mktemp("tables"), {"seconds": 1.5})
    return path


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / saved.name))


def write_meta(folder: Path, **changes: object) -> None:
    """Changes entries of meta.json, and its own checksum with them."""
    meta = {**json.loads((folder / META).read_text()), **changes}
    (folder / META).write_text(json.dumps({**meta, META_CHECKSUM: tables._meta_checksum(meta)}))


def test_what_is_written_is_read(saved: Path) -> None:
    built, read = build_table(4, OFFICIAL), load_table(saved, OFFICIAL)
    assert read.equities.tobytes() == built.equities.tobytes()
    assert (read.key, read.scale, read.positions.men) == (built.key, built.scale, 4)
    assert not read.equities.flags.writeable
    meta = json.loads((saved / META).read_text())
    assert meta["seconds"] == 1.5
    assert {path.name for path in saved.iterdir()} == {EQUITIES, META}


@pytest.mark.parametrize("where", [200, -1, 60_000])
def test_a_changed_byte_is_refused(copy: Path, where: int) -> None:
    data = bytearray((copy / EQUITIES).read_bytes())
    data[where] ^= 4
    (copy / EQUITIES).write_bytes(data)
    with pytest.raises(TableError, match="is damaged: its checksum"):
        load_table(copy)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-2], "damaged"),
        (lambda data: data + b"\0\0", "has 176530 bytes, not 176528"),
        (lambda data: b"", "damaged"),
        (lambda data: data.replace(b"<i2", b"<u2"), "not the int16 array"),
        (lambda data: data.replace(b"(2, 210, 210)", b"(1, 420, 210)"), "not the int16 array"),
    ],
)
def test_a_file_of_another_kind_is_refused(copy: Path, change: object, message: str) -> None:
    data = (copy / EQUITIES).read_bytes()
    changed = change(data)  # type: ignore[operator]
    assert changed != data
    (copy / EQUITIES).write_bytes(changed)
    with pytest.raises(TableError, match=message):
        load_table(copy)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format", 0, "not of format 1"),
        ("men", 5, "not the int16 array"),
        ("men", "many", "is damaged"),
        ("scale", None, "is damaged"),
        ("rules", [], "is damaged"),
        ("sha256", "0", "checksum"),
    ],
)
def test_a_meta_that_does_not_fit_is_refused(copy: Path, field: str, value: object, message: str) -> None:
    write_meta(copy, **{field: value})
    with pytest.raises(TableError, match=message):
        load_table(copy)


EDITS = {
    "scale 0": ('"scale": 32767', '"scale": 0'),
    "scale 1": ('"scale": 32767', '"scale": 1'),
    "negative scale": ('"scale": 32767', '"scale": -32767'),
    "men": ('"men": 4', '"men": 5'),
    "points": ('"points": 6', '"points": 5'),
    "points_lost": ("1.0", "2.0"),
    "draw": ("last_roll", "none"),
    "bear_off_choice": ('"free"', '"exact_first"'),
    "shape": ("210", "211"),
    "version": ('"version": "', '"version": "9'),
    "provenance": ("1.5", "1.6"),
    "no checksum": (META_CHECKSUM, "meta_sha1"),
    "format": ('"format": 1', '"format": 2'),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_meta_is_refused_and_not_passed_over(copy: Path, edit: str) -> None:
    text = (copy / META).read_text()
    changed = text.replace(*EDITS[edit])
    assert changed != text
    (copy / META).write_text(changed)
    refused = r"meta\.json is damaged"
    with pytest.raises(TableError, match=refused):
        load_table(copy, whole=True)
    for rules in (OFFICIAL, MOSCOW):
        with pytest.raises(TableError, match=refused):
            find_table(rules, copy.parent)


def test_meta_may_be_spaced_and_ordered_anyhow(copy: Path) -> None:
    meta = json.loads((copy / META).read_text())
    (copy / META).write_text(json.dumps(dict(reversed(meta.items()))))
    load_table(copy, OFFICIAL)


def test_missing_files_are_refused(copy: Path) -> None:
    (copy / EQUITIES).unlink()
    with pytest.raises(TableError, match="missing or damaged"):
        load_table(copy)
    (copy / META).write_text("{")
    with pytest.raises(TableError, match="is damaged"):
        load_table(copy)
    (copy / META).unlink()
    with pytest.raises(TableError, match=r"has no meta\.json"):
        load_table(copy)


def test_a_large_table_is_checked_by_samples(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "CHECKED_WHOLE", 0)
    monkeypatch.setattr(tables, "_SAMPLES", 2)
    monkeypatch.setattr(tables, "_SAMPLE_BYTES", 64)
    data = bytearray((copy / EQUITIES).read_bytes())
    sample = tables._sample_checksum(load_table(copy, whole=True).equities)
    write_meta(copy, sample_sha256=sample)
    data[10_000] ^= 1  # in no sample: only the whole checksum can tell
    (copy / EQUITIES).write_bytes(data)
    load_table(copy)
    with pytest.raises(TableError, match="checksum"):
        load_table(copy, whole=True)
    data[-1] ^= 1  # the last sample
    (copy / EQUITIES).write_bytes(data)
    with pytest.raises(TableError, match="checksum"):
        load_table(copy)


@pytest.mark.parametrize(
    ("preset", "options", "option"),
    [
        ("moscow", {}, "draw"),
        ("official", {"bear_off_choice": "exact_first"}, "bear_off_choice"),
        ("official", {"scoring": "checkers"}, "points_lost"),
    ],
)
def test_other_rules_are_refused(saved: Path, preset: str, options: dict[str, str], option: str) -> None:
    with pytest.raises(TableError, match=f"was built for {option}"):
        load_table(saved, make_rules(preset, options))


def test_rules_that_bear_off_alike_share_a_table(saved: Path) -> None:
    load_table(saved, make_rules("official", {"head_rolls": (), "must_play": "greedy", "last_roll_mars": "before"}))
    assert tables.rules_key(MOSCOW, 15) == tables.rules_key(make_rules("club"), 15)
    before = make_rules("official", {"last_roll_mars": "before"})
    assert tables.rules_key(OFFICIAL, 15) != tables.rules_key(before, 15), "with all 15 left, mars is possible"


def test_the_largest_fitting_table_is_found(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = saved.parent
    save_table(build_table(2, OFFICIAL), folder, {})
    save_table(build_table(3, MOSCOW), folder, {})
    found = find_table(OFFICIAL, folder)
    assert found is not None
    assert found.name == str(saved)
    smaller = find_table(MOSCOW, folder)
    assert smaller is not None
    assert smaller.positions.men == 3
    assert find_table(make_rules("casual"), folder) is None
    assert find_table(make_rules("official", {"block_rule": "forbid"}), folder) is None

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(tables.VARIABLE, raising=False)
    assert find_table(OFFICIAL) is None, "no folder tables/ here"
    monkeypatch.setenv(tables.VARIABLE, str(folder))
    assert find_table(OFFICIAL) is found, "loaded once"
    monkeypatch.setenv(tables.VARIABLE, "")
    assert find_table(OFFICIAL) is None
    monkeypatch.setenv(tables.VARIABLE, "nowhere")
    with pytest.raises(ValueError, match="NARDY_RL_TABLES=nowhere: there is no such folder"):
        find_table(OFFICIAL)


def test_a_damaged_table_is_not_passed_over(copy: Path) -> None:
    (copy / META).write_text("{}")
    with pytest.raises(TableError, match="is damaged"):
        find_table(OFFICIAL, copy.parent)


@pytest.mark.parametrize("lost", [(META,), (META, EQUITIES)])
@pytest.mark.parametrize("name", [None, "renamed"])
def test_a_table_that_misses_files_is_not_passed_over(copy: Path, name: str | None, lost: tuple[str, ...]) -> None:
    for file in lost:
        (copy / file).unlink()
    if name is not None:
        copy = copy.rename(copy.parent / name)
    if name is not None and len(lost) == 2:
        assert find_table(OFFICIAL, copy.parent) is None, "an empty folder that has not the name of a table is none"
    else:
        with pytest.raises(TableError, match=r"is damaged, .* no meta\.json"):
            find_table(OFFICIAL, copy.parent)


def test_a_table_without_equities_is_not_passed_over(copy: Path) -> None:
    (copy / EQUITIES).unlink()
    with pytest.raises(TableError, match="missing or damaged"):
        find_table(OFFICIAL, copy.parent)


def test_a_link_that_leads_nowhere_is_not_passed_over(copy: Path) -> None:
    elsewhere = copy.rename(copy.parent / ".elsewhere")
    copy.symlink_to(elsewhere)
    assert find_table(OFFICIAL, copy.parent) is not None
    shutil.rmtree(elsewhere)
    with pytest.raises(TableError, match="is damaged"):
        find_table(OFFICIAL, copy.parent)


def test_what_is_no_table_is_passed_over(copy: Path) -> None:
    (copy.parent / "notes").mkdir()
    (copy.parent / "notes" / "any.json").write_text("{}")
    (copy.parent / "a_net").mkdir()
    (copy.parent / "a_net" / META).write_text("{}")
    (copy.parent / f"{copy.name}.tar").write_text("packed")
    (copy.parent / f".{copy.name}.unfinished").mkdir()
    assert find_table(OFFICIAL, copy.parent) is not None


def test_the_folder_of_a_table_is_no_folder_of_tables(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tables.VARIABLE, str(copy))
    for rules in (OFFICIAL, MOSCOW):
        with pytest.raises(TableError, match=f"itself a bear-off table; name the folder that holds it: {copy.parent}"):
            find_table(rules)
    (copy / META).unlink()
    with pytest.raises(TableError, match="itself a bear-off table"):
        find_table(OFFICIAL)
    (copy.parent / "empty").mkdir()
    monkeypatch.setenv(tables.VARIABLE, str(copy.parent / "empty"))
    with pytest.raises(ValueError, match="no bear-off table is in that folder"):
        find_table(OFFICIAL)
    monkeypatch.delenv(tables.VARIABLE)
    copy.rename(copy.parent / tables.DEFAULT_FOLDER)
    monkeypatch.chdir(copy.parent)
    with pytest.raises(TableError, match="itself a bear-off table"):
        find_table(OFFICIAL)


def test_lookup_by_hand() -> None:
    table = build_table(2, MOSCOW)
    boards = np.array(
        [
            parse_position(text)
            for text in (
                "off:14 1:1 | off:14 1:1",  # bears off with every roll
                "off:13 6:2 | off:14 1:1",  # 66 55 44 33 bear off both, then the opponent is too late
                "off:14 7:1 | off:14 1:1",  # not home
                "off:12 1:3 | off:14 1:1",  # more men than the table has
                "off:15 | off:14 1:1",  # over
            )
        ],
        dtype=np.int8,
    )
    found = table.lookup(boards, np.zeros(5, dtype=np.bool_))
    np.testing.assert_allclose(found[:2], [1.0, 2 * 4 / 36 - 1.0], atol=1 / table.scale)
    assert np.isnan(found[2:]).all()
    assert table.covers(boards).tolist() == [True, True, False, False, False]
