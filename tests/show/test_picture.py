"""One object to look at everywhere, and its files."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from nardy_rl.rules.notation import parse_play, parse_position
from nardy_rl.rules.spec import make_rules
from nardy_rl.show.picture import Picture
from nardy_rl.show.png import board_pixels, svg_png
from nardy_rl.show.svg import board_svg

RULES = make_rules("official")
BOARD = parse_position("24:7 18:2 14:1 11:1 7:1 2:1 off:2 | 24:6 20:2 21:2 16:1 11:1 3:1 off:2")


def test_a_notebook_shows_the_svg() -> None:
    picture = Picture(BOARD, RULES, (6, 4), play="18/14 24/18", caption="6-4")
    assert picture._repr_svg_() == board_svg(BOARD, RULES, (6, 4), "6-4", play=parse_play("24/18 18/14"))


def test_a_terminal_shows_its_board() -> None:
    out = io.StringIO()
    Console(file=out, width=80).print(Picture(BOARD, RULES, (6, 4), play="24/18 18/14"))
    assert "white plays 24/18 18/14" in out.getvalue()


def test_a_play_that_is_not_legal_is_refused_if_there_are_dice() -> None:
    with pytest.raises(ValueError, match="not legal"):
        Picture(BOARD, RULES, (6, 4), play="24/21 21/20")
    assert "24/21" in Picture(BOARD, RULES, play="24/21 21/20").svg()
    with pytest.raises(ValueError, match="view"):
        Picture(BOARD, RULES, view="black")


def test_files(tmp_path: Path) -> None:
    picture = Picture(BOARD, RULES, caption="голова")
    assert picture.save(tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg()
    image = Image.open(picture.save(tmp_path / "a.png", scale=2))
    small = Image.open(io.BytesIO(picture.png(scale=1)))
    assert image.format == "PNG"
    assert image.size == (2 * small.size[0], 2 * small.size[1])
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        picture.save(tmp_path / "a.gif")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.png", "a.svg"]
    with pytest.raises(ValueError, match="scale"):
        picture.png(scale=100)
    with pytest.raises(ValueError, match="unknown token"):
        svg_png("no picture")


def test_pixels_show_the_checkers_where_the_svg_has_them() -> None:
    pixels = board_pixels(BOARD, RULES)
    assert pixels.dtype == np.uint8
    light, dark, felt = pixels[44, 520], pixels[376, 46], pixels[210, 200]  # points 24 and 12, the middle
    assert light.min() > 240
    assert dark.max() < 70
    assert tuple(felt) == (0xE9, 0xDC, 0xC3)


def test_letters_are_drawn() -> None:
    without, with_letters = board_pixels(BOARD, RULES, None, " "), board_pixels(BOARD, RULES, None, "голова, head")
    changed = np.argwhere((without != with_letters).any(axis=2))
    assert len(changed) > 200
    assert changed[:, 0].min() > 420, "all of it under the board"
