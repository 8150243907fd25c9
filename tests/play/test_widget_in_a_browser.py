"""The board to click on, in a real notebook: JupyterLab, a kernel and a headless Chromium (`make test-browser`)."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]

SECONDS = 90
"""Longest wait for anything; a kernel that compiles for the first time is slow."""
TOKEN = secrets.token_hex(16)


def wait(condition: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} did not appear in {SECONDS} seconds")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    """A JupyterLab on a free port of this machine, with settings and data of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {
        name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    own["JUPYTERLAB_SETTINGS_DIR"] = own["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / "lab")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    url = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | own, stdout=log, stderr=log)
        try:
            wait(lambda: process.poll() is not None or answers(url), "JupyterLab")
            assert process.poll() is None, (folder / "server.log").read_text()
            yield url
        finally:
            process.terminate()
            process.wait(20)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium import webdriver  # noqa: PLC0415  (only these tests need it)

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium, "no chromium on the path: apt-get install chromium chromium-driver"
    assert driver, "no chromedriver on the path: apt-get install chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1500,1000"):
        options.add_argument(argument)
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield made
    finally:
        made.quit()


class Page:
    """A notebook whose one cell shows a widget."""

    def __init__(self, browser: Any, server: str, folder: Path, name: str, code: str) -> None:
        self.browser = browser
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, folder / f"{name}.ipynb")
        browser.get(f"{server}/lab/tree/{name}.ipynb?token={TOKEN}&reset")
        ready = "return window.jupyterapp && document.querySelector('.jp-Notebook .jp-Cell') ? true : false"
        wait(lambda: browser.execute_script(ready), "the notebook")
        browser.execute_script("window.jupyterapp.commands.execute('application:toggle-left-area')")
        kernel = "return document.body.innerText.includes('| Idle')"
        wait(lambda: browser.execute_script(kernel), "the kernel")
        browser.execute_script("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        wait(lambda: self.all(".nardy-board svg"), "the board")

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.browser.find_elements("css selector", selector)
        return found

    def click(self, selector: str) -> None:
        self.all(selector)[0].click()

    def slots(self) -> list[int]:
        """The slots on which a click does something."""
        script = "return [...document.querySelectorAll('.nardy-board .live')].map(area => Number(area.dataset.slot))"
        found: list[int] = self.browser.execute_script(script)
        return found

    def click_slot(self, slot: int) -> None:
        """Clicks a slot and waits for the new board."""
        before = self.board()
        self.click(f".nardy-board [data-slot='{slot}']")
        wait(lambda: self.board() != before, "another board")

    def board(self) -> str:
        text: str = self.browser.execute_script("return document.querySelector('.nardy-board').innerHTML")
        return text

    def log(self) -> str:
        text: str = self.browser.execute_script("return document.querySelector('.nardy-log').innerText")
        return text

    def enabled(self, name: str) -> bool:
        return bool(self.all(f".nardy-{name}:enabled"))

    def play_a_turn(self) -> None:
        """Clicks the first thing that does something until the turn can be ended, and ends it."""
        while not self.enabled("play"):
            self.click_slot(self.slots()[0])
        turns = self.log().count("You play")
        self.click(".nardy-play")
        wait(lambda: self.log().count("You play") > turns and self.all(".nardy-button"), "the answer")


@pytest.mark.parametrize("rules", ["official", "short"])
def test_a_game_by_clicks(browser: Any, server: str, folder: Path, tmp_path: Path, rules: str) -> None:
    agent = str(ROOT / "checkpoints" / "long-quick-v1") if rules == "official" else "bearoff"
    code = f"""
from nardy_rl.play.widget import PlayWidget
PlayWidget({agent!r}, {rules!r}, seed=7, first="you")
"""
    page = Page(browser, server, folder, rules, code)
    start = page.board()
    assert page.all(".nardy-board circle.source")
    assert not page.enabled("play"), "nothing is played yet"

    first = page.slots()[0]
    page.click_slot(first)
    assert page.all(".nardy-board circle.selected")
    assert page.all(".nardy-board circle.target")
    browser.save_screenshot(str(tmp_path / f"{rules}_selected.png"))
    target = max(slot for slot in page.slots() if slot != first)  # the nearest: one step
    page.click_slot(target)
    assert not page.all(".nardy-board circle.selected")
    page.click(".nardy-undo")
    wait(lambda: page.board() == start, "the board before the step")

    for _ in range(6):
        page.play_a_turn()
    assert f"{Path(agent).name} throws" in page.log()
    wait(lambda: page.all(".nardy-board g.arrow[data-side=opponent]"), "the arrows of the agent's play")
    page.click(".nardy-hint")
    wait(lambda: page.all(".nardy-hints tbody tr"), "the hints")
    page.click(".nardy-hints tbody tr")
    wait(lambda: page.all(".nardy-board g.arrow[data-side=mover]"), "the arrows of a hint")
    browser.save_screenshot(str(tmp_path / f"{rules}_hint.png"))

    page.play_a_turn()
    wait(lambda: page.all(".nardy-board g.arrow[data-side=opponent]"), "the arrows of the agent's play")
    browser.save_screenshot(str(tmp_path / f"{rules}_middle.png"))

    page.click(".nardy-resign")
    wait(lambda: page.enabled("yes"), "the question")
    page.click(".nardy-yes")
    wait(lambda: page.enabled("match"), "the end of the match")
    assert "You resign." in page.log()
    browser.save_screenshot(str(tmp_path / f"{rules}_end.png"))
    page.click(".nardy-match")
    wait(lambda: "seed=8" in page.log(), "the next match")
    assert page.all(".nardy-board svg")
