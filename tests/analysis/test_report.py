"""The terminal, the page and the JSON; and the command as a user types it."""

import dataclasses
import html.parser
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from nardy_rl import cli
from nardy_rl.analysis.game import Judge, analyse
from nardy_rl.analysis.page import page
from nardy_rl.analysis.report import account_text, as_json, group_title, outcome_text, terminal_report
from nardy_rl.config import AnalyseConfig
from nardy_rl.records.record import RESIGNED, SECOND, GameRecord, MatchRecord, RecordedTurn
from nardy_rl.records.store import load, save
from nardy_rl.rules.notation import format_play
from nardy_rl.rules.spec import OFFICIAL
from nardy_rl.value.checkpoint import load_checkpoint, save_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator
from nardy_rl.value.net import NetConfig, make_net

ROOT = Path(__file__).parents[2]
QUICK = ROOT / "checkpoints" / "long-quick-v1"
SLY, LONG = "<script>x</script> & [bold]y", "Ы" * 60

RACE = load(Path(__file__).with_name("close_race.txt"))[0]


def cut(turns, **others):
    return dataclasses.replace(
        RACE, turns=RACE.turns[:turns], **{"ended": None, "winner": None, "result": None, "points": None, **others}
    )


@pytest.fixture(scope="module")
def groups():
    net = CompiledEvaluator(load_checkpoint(QUICK).net, OFFICIAL)
    resigned = cut(30, ended=RESIGNED, winner=SECOND, result="mars", first=SLY, second=LONG)
    match = MatchRecord((LONG, SLY), (resigned, cut(7, first=LONG, second=SLY)), length=5)
    return analyse([RACE, GameRecord(), match], lambda rules: Judge(net, rules, "1ply"))


def shown(groups, count=3, width=80):
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    for part in terminal_report(groups, "PATH/net", "0ply", count):
        console.print(part)
    return out.getvalue()


# --- words ------------------------------------------------------------------------------------------------------------


def test_outcomes_in_words(groups):
    draw, empty, resigned, unfinished = (game for group in groups for game in group.games)
    assert outcome_text(draw) == "A draw."
    assert outcome_text(empty) == "Unfinished after 0 turns; no result."
    assert outcome_text(resigned) == f"{LONG} wins 2 points (mars); {SLY} resigned."
    assert outcome_text(unfinished) == "Unfinished after 7 turns; no result."
    assert group_title(groups[0]) == ""
    assert group_title(groups[1]) == f"Match to 5 points: {LONG} – {SLY}, 2 : 0"
    assert account_text(unfinished) == ""
    assert account_text(draw).endswith("(the judge's changes of mind).")
    assert account_text(resigned).endswith("(the judge's changes of mind and the resignation).")
    numbers = [float(number) for number in re.findall(r"[-+]\d+\.\d\d", account_text(resigned))]
    assert numbers[0] == -2.0
    assert sum(numbers[1:]) == pytest.approx(numbers[0], abs=0.025)


# --- terminal ---------------------------------------------------------------------------------------------------------


def test_the_terminal_has_every_turn_in_80_columns(groups):
    text = shown(groups)
    assert max(map(len, text.splitlines())) <= 80
    rows = re.findall(r"^ *(\d+) +[wb] +[1-6]{2} ", text, re.MULTILINE)
    assert [int(row) for row in rows] == [*range(1, len(RACE.turns) + 1), *range(1, 31), *range(1, 8)]
    assert SLY in text, "markup in a name is a name"
    assert text.count("│  12 ") == 3, "a board for each of the worst mistakes"
    assert "The match, 2 games" in text
    assert "All single games, 2 games" in text
    assert "│  12 " not in shown(groups, count=0)


def test_the_worst_mistake_is_shown_with_the_best_play(groups):
    turn = max((turn for group in groups for game in group.games for turn in game.turns), key=lambda turn: turn.loss)
    text = shown(groups, count=1)
    assert f"plays {format_play(turn.play.steps)}" in text
    assert re.search(rf"^ played +{re.escape(format_play(turn.play.steps))} .*{turn.loss:.3f}", text, re.MULTILINE)
    assert f"{format_play(turn.plays[0].play.steps)} " in text


# --- page -------------------------------------------------------------------------------------------------------------

_VOID = {"meta", "br"}


class _Balance(html.parser.HTMLParser):
    """Checks that elements are closed in order, and gathers what they are."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def parsed(text):
    balance = _Balance()
    balance.feed(text)
    balance.close()
    assert balance.open == []
    return balance


def test_the_page_is_whole_and_by_itself(groups):
    text = page(groups, "a & b.txt", "PATH/net", "0ply", 3)
    found = parsed(text)
    assert "script" not in found.tags
    assert not {name for name, _ in found.attributes} & {"src", "onload", "onclick"}
    assert [value for name, value in found.attributes if name == "href"] == ["#mistakes"]
    assert set(re.findall(r"https?://[^\"']*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(", text)
    assert SLY in found.text
    assert "<title>Analysis of a &amp; b.txt</title>" in text
    assert found.tags.count("details") == 4
    assert text.count('<div class="board">') == 6
    assert text.count("<tr") == len(RACE.turns) + 30 + 7 + 4 + 3 * 4 + 3 * 2, "turns, their headings, summaries, totals"
    assert parsed(page(groups, "x", "y", "0ply", 0)).tags.count("h3") == 0


def test_the_graph_shows_the_game(groups):
    text = page(groups, "x", "y", "0ply", 0)
    graphs = [ElementTree.fromstring(graph) for graph in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]
    games = [game for group in groups for game in group.games if game.turns]
    assert len(graphs) == len(games) == 3
    for graph, game in zip(graphs, games, strict=True):
        points = [tuple(map(float, pair.split(","))) for pair in graph.find("polyline").get("points").split()]
        assert len(points) == len(game.turns) + (game.result is not None)
        equities = [turn.sign * turn.before for turn in game.turns]
        zero = next(float(label.get("y")) - 4 for label in graph.iter("text") if label.text == "0")
        for (_, y), equity in zip(points, equities, strict=False):
            assert (y < zero) == (equity > 0) or abs(equity) < 0.02
        assert len(list(graph.iter("title"))) == sum(sum(summary.marks) for summary in game.summaries)
        assert "is ahead" in "".join(label.text for label in graph.iter("text"))


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_json_holds_the_figures(groups):
    found = json.loads(json.dumps(as_json(groups, "x.txt", "PATH/net", "0ply"), allow_nan=False))
    assert (found["file"], found["depth"], found["luck_depth"]) == ("x.txt", "0ply", "0ply")
    game, analysed = found["groups"][0]["games"][0], groups[0].games[0]
    assert game["number"] == 1
    assert game["result"] == pytest.approx(game["start"] + game["luck"] - game["lost"] + game["drift"])
    own = [turn for turn in game["turns"] if turn["player"] == "first"]
    assert sum(turn["luck"] for turn in own) == pytest.approx(game["players"][0]["luck"])
    assert sum(turn["lost"] or 0 for turn in own) == pytest.approx(game["players"][0]["lost"])
    assert sum(turn["lost"] is not None for turn in own) == game["players"][0]["decisions"]
    assert [turn["play"] for turn in game["turns"]] == [format_play(turn.play.steps) for turn in analysed.turns]
    assert found["groups"][1]["games"][1]["players"][0]["result"] is None


# --- the command ------------------------------------------------------------------------------------------------------


def run(*arguments, cwd):
    script = [sys.executable, str(ROOT / "scripts" / "analyse.py"), *arguments]
    return subprocess.run(script, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def test_the_command(tmp_path):
    save_checkpoint(tmp_path / "net", make_net(NetConfig(8, 4), OFFICIAL, 1), OFFICIAL, {})
    save(tmp_path / "a (1), б=.txt", cut(8))
    done = run("a (1), б=.txt", "agent=net", "depth=1ply", "html=a.html", "json=a.json", "worst=1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "plays at 1ply" in done.stdout
    assert "Wrote a.html" in done.stdout
    assert "a (1), б=.txt" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert len(json.loads((tmp_path / "a.json").read_text())["groups"][0]["games"][0]["turns"]) == 8
    assert {path.name for path in tmp_path.iterdir()} == {"net", "a (1), б=.txt", "a.html", "a.json"}


def test_a_broken_record_ends_in_a_clear_line(tmp_path):
    (tmp_path / "a.txt").write_text("[game 1]\nfirst: A\n1. 31 24/19\n")
    done = run("file=a.txt", "html=x.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "error: a.txt: line 1: [game 1] is of a match" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"file": "none.txt"}, "there is no file none.txt"),
        ({"file": "."}, ". is a folder; give a file"),
        ({"file": None}, "give one file of games"),
        ({"file": "empty.txt"}, "empty.txt: there is no game"),
        ({"file": "broken.txt"}, "broken.txt: line 3: turn 3: '24/12' is not legal"),
        ({"html": "none/x.html"}, "html=none/x.html: there is no folder none"),
        ({"html": "."}, "html=. is a folder"),
        ({"json": "none/x.json"}, "json=none/x.json: there is no folder none"),
        ({"html": "./game.txt"}, "other than the games"),
        ({"html": "x", "json": "./x"}, "files of their own"),
        ({"depth": "3"}, "depth='3' is not allowed"),
        ({"worst": -1}, "worst=-1"),
        ({"candidates": 0}, "candidates=0"),
        ({"threads": 0}, "threads=0"),
        ({"agent": "heuristic"}, "heuristic is not a checkpoint"),
        ({"agent": str(QUICK), "file": "short.txt"}, "rules short cannot be judged: .* plays long nardy, not short"),
    ],
)
def test_mistakes_are_said_before_the_work_and_nothing_is_written(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "game.txt", cut(3))
    save(tmp_path / "short.txt", GameRecord("short", turns=(RecordedTurn((3, 1), "8/5 6/5"),)))
    (tmp_path / "empty.txt").write_text("\n# nothing\n")
    (tmp_path / "broken.txt").write_text("1. 31 24/21 21/20\n2. 11 24/20\n3. 64 24/12\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    config = AnalyseConfig(**{"file": "game.txt", "agent": str(QUICK), "depth": "0ply", "html": "out.html", **change})
    with pytest.raises(ValueError, match=message):
        cli._analyse(config, None)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "found", "left"),
    [
        (["game.txt", "depth=0ply"], "game.txt", ["depth=0ply"]),
        (["depth=0ply", "game.txt"], "game.txt", ["depth=0ply"]),
        (["file=game.txt"], None, ["file=game.txt"]),
        (["a=b.txt"], "a=b.txt", []),
        (["--help"], None, ["--help"]),
        (["--cfg", "job"], None, ["--cfg", "job"]),
        (["game.txt", "--cfg", "job"], "game.txt", ["--cfg", "job"]),
        (["+search.x=1", "~json"], None, ["+search.x=1", "~json"]),
        ([], None, []),
    ],
)
def test_the_file_among_the_arguments(arguments, found, left, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a=b.txt").touch()
    monkeypatch.setattr(sys, "argv", ["analyse.py", *arguments])
    assert cli._positional() == found
    assert sys.argv[1:] == left
