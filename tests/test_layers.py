"""The layers of the package: what may import what, read from the sources without running them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "nardy_rl"

CORE = {"rules", "game"}
PLAYERS = CORE | {"value", "endgame", "agents", "files"}
LAYERS: dict[str, set[str]] = {
    "files": set(),
    "rules": set(),
    "game": {"rules"},
    "records": CORE | {"files"},
    "value": CORE | {"files"},
    "endgame": CORE | {"value", "files"},
    "agents": CORE | {"value", "endgame", "files"},
    "cube": CORE | {"agents"},
    "config": CORE | {"value", "agents", "cube"},
    "evaluation": PLAYERS | {"config", "records", "cube"},
    "show": CORE | {"files", "records"},
    "training": PLAYERS | {"config", "evaluation", "show"},
    "play": CORE | {"agents", "cube", "files", "records", "show"},
    "analysis": PLAYERS | {"records", "show"},
    "cli": PLAYERS | {"config", "cube", "evaluation", "training", "play", "records", "analysis"},
    "engine": CORE | {"agents", "records"},
    "envs": CORE | {"agents", "show"},
}
"""Part of the package -> the other parts it may import. `cli`, `engine` and `envs` are doors: nothing imports them."""

ONLY_IN: dict[str, set[str]] = {
    "gymnasium": {"envs"},
    "pettingzoo": {"envs"},
    "hydra": {"cli"},
    "omegaconf": {"cli"},
    "torch": {"value", "endgame", "agents", "training", "evaluation", "cli"},
    "safetensors": {"value", "training"},
    "tensorboard": {"training"},
    "matplotlib": {"rules", "evaluation", "training", "cli", "show", "analysis"},
    "rich": {"evaluation", "training", "cli", "play", "show", "analysis"},
    "resvg_py": {"show"},
    "anywidget": {"play"},
    "traitlets": {"play"},
    "gnubg": {"value"},
    "gnubg_nn": {"agents"},
}
"""Libraries that only some parts may know."""

RULES_KNOW = {"numpy", "numba", "llvmlite"}
"""All that the rules may know besides Python itself (drawings may use matplotlib, see `ONLY_IN`)."""

MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The part of the package a file belongs to: its folder, or its own name at the top."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path) -> Iterator[str]:
    """Full names of all that a file imports, wherever in the file it does."""
    here = ("nardy_rl", *path.relative_to(PACKAGE).with_suffix("").parts)[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level + 1] if node.level else ()
            module = ".".join((*above, *([node.module] if node.module else [])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_the_walk_sees_every_way_to_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules").mkdir()
    file = tmp_path / "rules" / "x.py"
    file.write_text(
        "import a.b\nfrom nardy_rl import game\nfrom . import y\nfrom ..envs import z\ndef f():\n import c\n"
    )
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    names = set(imported(file))
    assert names == {"a.b", "nardy_rl.game", "nardy_rl.rules.y", "nardy_rl.envs.z", "c"}
    assert part_of(file) == "rules"


def test_every_part_has_its_place() -> None:
    parts = {part_of(path) for path in MODULES} - {"__init__"}
    assert parts <= LAYERS.keys(), "give the new part its place in LAYERS, and in the design"


def test_the_arrows_have_no_circle() -> None:
    seen: set[str] = set()
    while seen != LAYERS.keys():
        ready = {part for part, others in LAYERS.items() if others <= seen} - seen
        assert ready, f"a circle among {LAYERS.keys() - seen}"
        seen |= ready


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_follow_the_arrows(path: Path) -> None:
    part = part_of(path)
    for name in imported(path):
        top, *rest = name.split(".")
        if top == "nardy_rl":
            assert part != "__init__", f"{path}: importing the package must stay free of cost"
            other = rest[0] if rest else ""
            assert other == part or other in LAYERS[part], f"{path}: {part} must not import {name}"
        else:
            allowed = ONLY_IN.get(top, LAYERS.keys())
            assert part in allowed, f"{path}: {top} belongs to {sorted(allowed)}, not to {part}"


@pytest.mark.parametrize("path", [p for p in MODULES if part_of(p) in CORE], ids=lambda path: path.name)
def test_rules_and_game_know_little(path: Path) -> None:
    standard = {"collections", "contextlib", "dataclasses", "enum", "functools", "io", "itertools", "json", "math"}
    standard |= {"os", "operator", "pathlib", "re", "string", "sys", "typing"}
    for name in imported(path):
        top = name.split(".")[0]
        drawing = top == "matplotlib" and part_of(path) == "rules"
        assert top in standard | RULES_KNOW | {"nardy_rl"} or drawing, f"{path}: imports {name}"


@pytest.mark.parametrize("path", sorted((ROOT / "scripts").glob("*.py")), ids=lambda path: path.name)
def test_scripts_are_thin(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 15
    assert "nardy_rl" in text
