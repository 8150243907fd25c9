"""The notebook's widget, as far as it goes without a browser."""

from pathlib import Path

import pytest

from nardy_rl.agents.registry import make_agent
from nardy_rl.play.widget import PlayWidget
from nardy_rl.rules.spec import make_rules


def test_it_shows_what_the_match_shows() -> None:
    widget = PlayWidget("pips", "short", seed=3, first="you")
    assert (widget.svg, widget.state) == (widget.match.svg, widget.match.state)
    before = widget.svg
    slot = next(slot for slot in (24, 13, 8, 6) if f'class="live" data-slot="{slot}"' in before)
    widget._handle_custom_msg({"click": slot}, [])  # what arrives from a browser comes in here
    assert widget.svg != before
    assert (widget.svg, widget.state) == (widget.match.svg, widget.match.state)
    widget.close()


def test_arguments() -> None:
    rules = make_rules("short")
    widget = PlayWidget(make_agent("pips", rules), "short", hint_agent="random", seed=0, points=3)
    assert "a match to 3 points" in widget.state["log"][0]["text"]
    widget.close()
    drawn = {PlayWidget("random").state["log"][0]["text"] for _ in range(3)}
    assert len(drawn) == 3, "without a seed every match has its own dice"
    wrong = {"nobody": {"agent": "nobody"}, "no rules": {"rules": "no rules"}, "first": {"first": "white"}}
    for reason, arguments in ({**wrong, "long nardy only": {"rules": "short"}}).items():
        with pytest.raises(ValueError, match=reason):
            PlayWidget(**arguments)
    with pytest.raises(ValueError, match="at least one game"):
        PlayWidget("random", seed=1, first="you").record  # noqa: B018


def test_the_browsers_part_is_packaged() -> None:
    folder = Path(PlayWidget.__init__.__globals__["__file__"]).parent
    assert {file.suffix for file in folder.glob("widget.*")} == {".py", ".js", ".css"}
    data = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"play/widget{suffix}"' in data for suffix in (".js", ".css"))
