"""The board in a terminal: everything is there with and without colour, and it fits."""

import io
import re

import pytest
from rich.console import Console

from nardy_rl.rules.notation import parse_play, parse_position
from nardy_rl.rules.reference import Board, opposing_point
from nardy_rl.rules.spec import BAR, OFF, Rules, make_rules
from nardy_rl.show.terminal import TerminalBoard

LONG, SHORT = make_rules("official"), make_rules("short")
LONG_BOARD = parse_position("24:7 18:2 14:1 11:1 7:1 2:1 off:2 | 24:6 20:2 21:2 16:1 11:1 3:1 off:2")
SHORT_BOARD = parse_position("bar:2 24:1 13:5 8:2 6:5 | bar:1 24:1 13:6 8:3 6:4")
BOARDS = [(LONG_BOARD, LONG), (SHORT_BOARD, SHORT), (parse_position("bar:7 24:8 | 2:7 off:8"), SHORT)]
PLAYERS = ("mover", "opponent")


def read(text: str, rules: Rules, white: str, viewer: int) -> Board:
    """Reads a board without colour, numbered as the viewer counts, back into counts."""
    lines = [line for line in text.splitlines() if line[0] in "│|"]
    assert len(lines) == 13
    rows = [[0] * (BAR + 1) for _ in PLAYERS]
    for numbers, stacks in ((lines[0], lines[1:6]), (lines[12], lines[11:6:-1])):
        points = [int(numbers[2 + 4 * k : 6 + 4 * k].strip() or BAR) for k in range(13)]
        for k, point in enumerate(points):
            cells = [line[2 + 4 * k : 6 + 4 * k].strip(" .") for line in stacks]
            marks = {cell[0] for cell in cells if cell}
            if marks:
                (mark,) = marks
                side = PLAYERS.index(white) if mark in "○o" else 1 - PLAYERS.index(white)
                counted = re.search(r"\d+", "".join(cells))
                count = int(counted[0]) if counted else sum(map(bool, cells))
                slot = point if side == viewer or point == BAR else opposing_point(point, rules)
                rows[side][slot] += count
    for mark, off in re.findall(r"^(\S) \w+: off (\d+)", text, re.MULTILINE):
        rows[PLAYERS.index(white) if mark in "○o" else 1 - PLAYERS.index(white)][OFF] = int(off)
    return tuple(rows[0]), tuple(rows[1])


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("white", PLAYERS)
@pytest.mark.parametrize("view", PLAYERS)
@pytest.mark.parametrize(("board", "rules"), BOARDS)
def test_without_colour_it_can_be_read_back(board: Board, rules: Rules, view: str, white: str, unicode: bool) -> None:
    text = TerminalBoard(board, rules, view=view, numbering=view, white=white).text(colour=False, unicode=unicode)
    assert not text.spans
    assert read(text.plain, rules, white, PLAYERS.index(view)) == board
    assert text.plain.isascii() == (not unicode)


def printed(board: TerminalBoard, **options: object) -> str:
    out = io.StringIO()
    Console(file=out, width=80, **options).print(board)  # type: ignore[arg-type]
    return out.getvalue()


def test_in_colour_the_checkers_are_the_same() -> None:
    for board, rules in BOARDS:
        shown = TerminalBoard(board, rules)
        colour, plain = (shown.text(colour=c).plain.splitlines() for c in (True, False))
        for with_colour, without in zip(colour[1:-1], plain[1:-1], strict=True):
            assert len(with_colour) == len(without)
            assert with_colour.count("●") == len(re.findall(r"[●○](?!\d)", without))
        text = shown.text(colour=True)
        for side, shade in ((0, "#ffffff"), (1, "#14100c")):
            styles = [(text.plain[span.start : span.end], str(span.style)) for span in text.spans]
            discs = sum("●" in part and f"bold {shade}" in style for part, style in styles)
            counted = sum(
                int(part) for part, style in styles if part.strip().isdigit() and f"bold {shade} on #" in style
            )
            high = [count for count in board[side][1:] if count > 5]
            assert discs == sum(min(count, 5) for count in board[side][1:]) - len(high)
            assert counted == sum(high)


def test_it_fits_and_says_who_is_to_play() -> None:
    shown = TerminalBoard(LONG_BOARD, LONG, (6, 4), "a caption", play=parse_play("24/18 18/14"))
    for options in ({"color_system": None}, {"force_terminal": True, "color_system": "truecolor"}):
        out = re.sub(r"\x1b\[[\d;]*m", "", printed(shown, **options))
        assert max(map(len, out.splitlines())) <= 80
        assert "white: off 2, 238 pips, to play 6-4" in out
        assert "black: off 2, 256 pips\n" in out
        assert out.startswith("a caption\n")
        assert out.endswith("white plays 24/18 18/14\n")


def test_what_a_terminal_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLORTERM", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = TerminalBoard(LONG_BOARD, LONG)
    assert "\x1b[" in printed(shown, force_terminal=True)
    assert "\x1b[" not in printed(shown), "a file is no terminal"
    monkeypatch.setenv("NO_COLOR", "1")
    assert printed(shown, force_terminal=True) == printed(shown)
    assert "○" in printed(shown)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert printed(shown, force_terminal=True) == printed(shown)
    latin = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Console(file=latin, width=80).print(shown)
    latin.seek(0)
    assert read(latin.read(), LONG, "mover", 0) == LONG_BOARD


def test_points_that_a_play_changes_are_marked() -> None:
    shown = TerminalBoard(
        LONG_BOARD, LONG, play=parse_play("24/18 18/14"), last=parse_play("24/21 21/20"), numbering="mover"
    )
    text = shown.text(colour=False).plain
    assert set(re.findall(r"\d+-", text)) == {"24-", "12-"}, "what was passed through is not marked"
    assert set(re.findall(r"\d+\+", text)) == {"14+", "8+"}
    assert "black played 24/21 21/20" in text


def test_numberings() -> None:
    for numbering, first in (("mover", 13), ("opponent", 1), ("white", 1)):
        shown = TerminalBoard(LONG_BOARD, LONG, numbering=numbering, white="opponent")
        line = shown.text(colour=False).plain.splitlines()[1]
        assert int(re.findall(r"\d+", line)[0]) == first
    with pytest.raises(ValueError, match="numbering"):
        TerminalBoard(LONG_BOARD, LONG, numbering="black").text()
    with pytest.raises(ValueError, match="white"):
        TerminalBoard(LONG_BOARD, LONG, white="black").text()
