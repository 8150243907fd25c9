"""The notebooks run from top to bottom, show what they must, hold no logic, and are kept without outputs."""

import ast
import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = {path.stem: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
RULES, TRAIN, COMPARE, INSIDE, BOOK = NOTEBOOKS

SIZES = {"NARDY_NOTEBOOK_GAMES": "128", "NARDY_NOTEBOOK_PAIRS": "8"}
"""What a notebook reads from the environment: as small as shows that it works."""

MAX_FUNCTION = 5
"""Lines of a function in a notebook; whatever is longer belongs into the package."""

Notebook = Any


@pytest.fixture(scope="module")
def executed() -> Iterator[dict[str, Notebook | BaseException]]:
    """All notebooks with their outputs, or the error that stopped one; run side by side, as most of it is starting."""

    async def run(path: Path) -> Notebook:
        notebook = nbformat.read(path, as_version=4)
        where = {"metadata": {"path": str(path.parent)}}
        await NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).async_execute()
        return notebook

    async def run_all() -> list[Notebook | BaseException]:
        return await asyncio.gather(*map(run, NOTEBOOKS.values()), return_exceptions=True)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in SIZES.items():
            patch.setenv(name, value)
        yield dict(zip(NOTEBOOKS, asyncio.run(run_all()), strict=True))


def of(executed: dict[str, Notebook | BaseException], name: str) -> Notebook:
    result = executed[name]
    if isinstance(result, BaseException):
        raise result
    return result


def outputs(cell: Any) -> list[Any]:
    return cell.outputs if cell.cell_type == "code" else []


def pictures(cell: Any) -> int:
    """Pictures that a cell shows."""
    data = [output.get("data", {}) for output in outputs(cell)]
    pages = [str(part.get("text/html", "")) for part in data]
    inside = sum(len(re.findall(r"<svg|<img|<iframe", page)) for page in pages)
    return inside + sum("image/svg+xml" in part or "image/png" in part for part in data)


def text(cell: Any) -> str:
    """All words that a cell shows."""
    shown = [output.get("text", "") for output in outputs(cell)]
    shown += [str(output.get("data", {}).get(kind, "")) for output in outputs(cell) for kind in _KINDS]
    return re.sub(r"<[^>]*>", "", "\n".join(shown))


_KINDS = ("text/html", "text/plain")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_runs_without_a_warning(name: str, executed: dict[str, Notebook | BaseException]) -> None:
    notebook = of(executed, name)
    for cell in notebook.cells:
        said = [output.text for output in outputs(cell) if output.output_type == "stream" and output.name == "stderr"]
        assert not said, f"{cell.source}: {said}"
    least = {RULES: 40, TRAIN: 4, COMPARE: 4, INSIDE: 12, BOOK: 7}[name]
    assert sum(map(pictures, notebook.cells)) >= least


def test_every_rule_is_shown(executed: dict[str, Notebook | BaseException]) -> None:
    cells = of(executed, RULES).cells
    wanted = re.findall(r"^- (R\d\.\d) ", (ROOT / "nardy_rl/rules/RULES.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(wanted) > 30
    shown: dict[str, list[Any]] = {}
    rule = ""
    for cell in cells:
        if cell.cell_type == "markdown":
            named = re.findall(r"\*\*(R\d\.\d)\*\*", cell.source)
            assert len(named) <= 1, "a rule a cell"
            rule = named[0] if named else "" if cell.source.startswith("## ") else rule
        elif rule:
            shown.setdefault(rule, []).append(cell)
    assert list(shown) == wanted
    for rule, below in shown.items():
        assert any(map(outputs, below)), rule
        assert sum(map(pictures, below)) or rule == "R6.2", f"{rule} has no picture"  # R6.2 is not about a position
    legal = {rule: "\n".join(map(text, below)) for rule, below in shown.items()}
    for rule in ["R1.1", "R1.3", "R2.1", "R2.2", "R2.3", "R3.1", "R3.2", "R3.3", "R3.5", "R4.1", "R4.2", "R4.3"]:
        assert "✓" in legal[rule], rule
        assert "✗" in legal[rule], rule
    for rule in ("R1.3", "R2.1", "R4.2", "R8.2", "R8.3"):
        assert f"({rule}" in legal[rule], f"{rule} is not the reason for anything"
    assert len(re.findall(r"^24:\S.* (ahead|home|none) +legal$", legal["R3.4"], re.MULTILINE)) == 6
    assert "mars: 2" in legal["R5.1"]
    assert "draw: 0.5" in legal["R5.4"]
    widget = cells[-1].outputs[0].data
    assert "application/vnd.jupyter.widget-view+json" in widget


def test_a_bot_is_trained(executed: dict[str, Notebook | BaseException]) -> None:
    shown = "\n".join(map(text, of(executed, TRAIN).cells))
    assert "128 games in" in shown
    assert re.search(r"notebook +heuristic +[-+]\d\.\d{3}", shown)
    assert "done" in shown
    assert "learning curve" in str(of(executed, TRAIN))


def test_checkpoints_are_compared(executed: dict[str, Notebook | BaseException]) -> None:
    notebook = of(executed, COMPARE)
    shown = "\n".join(map(text, notebook.cells))
    for name in ("long-official-v1", "long-quick-v1", "heuristic", "random"):
        assert re.search(rf"\d {name} +[-+]\d+\*? ", shown), f"no standing of {name}"
    assert notebook.cells[-1].cell_type == "code"
    drawn = [cell for cell in notebook.cells if "calibration_figure(" in cell.source]
    assert len(drawn) == 2
    assert all(map(pictures, drawn))


def test_a_game_and_a_net_are_looked_into(executed: dict[str, Notebook | BaseException]) -> None:
    shown = "\n".join(map(text, of(executed, INSIDE).cells))
    assert re.search(r"Result for heuristic: [-+]\d\.\d\d = ", shown)
    assert re.search(r"turn \d+, heuristic loses \d\.\d{3} by", shown)
    gains = re.findall(r"^ +(\d+)  ([-+]\d\.\d{3}) ±\d\.\d{3} ", shown, re.MULTILINE)
    assert [int(point) for point, _ in gains] == list(range(23, 1, -1))
    by_point = {int(point): float(gain) for point, gain in gains}
    assert by_point[23] > by_point[17] > by_point[12] > 0, "what the text says of it"


def test_the_book_is_shown(executed: dict[str, Notebook | BaseException]) -> None:
    shown = "\n".join(map(text, of(executed, BOOK).cells))
    assert re.search(r"First player's edge \+0\.\d+ ± 0\.\d+", shown)
    assert re.search(r"6-4 +24/18 18/14 +\+0\.\d+", shown)
    assert re.search(r"441 replies, \d+ with a choice", shown)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_is_kept_without_outputs(name: str) -> None:
    for cell in nbformat.read(NOTEBOOKS[name], as_version=4).cells:
        if cell.cell_type == "code":
            assert not cell.outputs
            assert cell.execution_count is None


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_has_no_logic(name: str) -> None:
    for cell in nbformat.read(NOTEBOOKS[name], as_version=4).cells:
        if cell.cell_type != "code":
            continue
        assert len(cell.source.splitlines()) <= 30, f"a long cell: {cell.source}"
        code = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))
        for node in ast.walk(ast.parse(code)):
            assert not isinstance(node, ast.ClassDef)
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno is not None
                assert node.end_lineno - node.lineno < MAX_FUNCTION, f"{node.name} belongs into the package"
