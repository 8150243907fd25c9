"""What notebooks show around pictures."""

import io

import pytest
from rich.console import Console

from nardy_rl.rules.notation import find_play, parse_position
from nardy_rl.rules.spec import make_rules
from nardy_rl.show.notebook import LegalPlays, Row
from nardy_rl.show.picture import Picture
from nardy_rl.show.svg import board_svg

RULES = make_rules("official")
TEXT = "22:1 1:14 | 24:14 23:1"
"""Either die of 6-5 can be played, not both: R1.3."""


def test_plays_are_judged_with_the_reason() -> None:
    shown = LegalPlays(TEXT, (6, 5), RULES, ask=["22/17", "22/16", "22-16", "9/3"])
    objections = dict(shown.verdicts())
    assert objections["22/16"] == ""
    assert objections["22/17"].startswith("only one die can be played, and then the larger, 6 (R1.3)")
    assert objections["22-16"].startswith("cannot read '22-16'")
    assert objections["9/3"] == "there is no checker on 9 for 9/3"
    for text in ("22/17", "9/3"):  # the words are the kit's own
        with pytest.raises(ValueError, match="is not legal") as error:
            find_play(text, parse_position(TEXT), (6, 5), RULES)
        assert objections[text] in str(error.value)


def test_the_picture_has_the_arrows_of_the_first_legal_play() -> None:
    board = parse_position(TEXT)
    play = find_play("22/16", board, (6, 5), RULES).steps
    shown = LegalPlays(board, (6, 5), RULES, ask=["22/17", "22/16"], caption="a < b")
    assert shown.picture().svg() == board_svg(board, RULES, (6, 5), play=play)
    assert LegalPlays(TEXT, (6, 5), RULES, ask=["22/17"]).picture().svg() == board_svg(board, RULES, (6, 5))


def test_as_html_and_in_a_terminal() -> None:
    shown = LegalPlays(TEXT, (6, 5), RULES, ask=["22/17", "22/16", "<b>"], caption="a < b")
    page = shown._repr_html_()
    assert shown.picture().svg() in page
    assert "<b>a &lt; b</b>" in page
    assert "1 legal play: 22/16" in page
    assert "✗ <code>22/17</code> not legal: only one die" in page
    assert "✓ <code>22/16</code> legal" in page
    assert "<code>&lt;b&gt;</code>" in page
    out = io.StringIO()
    Console(file=out, width=100).print(shown)
    assert "white plays 22/16" in out.getvalue()
    assert "22/17: not legal, only one die" in out.getvalue()


def test_the_list_of_plays_is_cut() -> None:
    many = LegalPlays("24:10 13:5 | 24:15", (6, 5), RULES, most=2)
    assert many.summary().startswith(f"{len(many.plays)} legal plays: ")
    assert many.summary().endswith(f" and {len(many.plays) - 2} more")
    assert LegalPlays("22:1 1:14 | 24:13 5:1 4:1", (6, 5), RULES).summary() == "1 legal play: pass"


def test_errors_come_where_it_is_made() -> None:
    for board, dice, reason in (("24:15", (6, 5), "mover | opponent"), (TEXT, (6, 7), "two dice")):
        with pytest.raises(ValueError, match=reason):
            LegalPlays(board, dice, RULES)


def test_a_row_has_every_picture_and_its_caption_below() -> None:
    board = parse_position(TEXT)
    pictures = [Picture(board, RULES, (6, 5), caption="one & two"), Picture(board, RULES, numbering="opponent")]
    page = Row(pictures, width=123)._repr_html_()
    assert page.count("<svg") == page.count("0 1 123px") == 2
    assert page.index(board_svg(board, RULES, (6, 5))) < page.index("one &amp; two") < page.rindex("<svg")
    out = io.StringIO()
    Console(file=out, width=100).print(Row(pictures))
    assert out.getvalue().count("white: off 0") == 2
