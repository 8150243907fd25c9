"""A board as an array of pixels, for `render_mode="rgb_array"`: the SVG picture of the rules, rasterised."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import Rules
from nardy_rl.rules.svg import board_svg

_SMOOTH = 3
"""Drawn so many times larger and then reduced, so that edges are smooth."""


def board_picture(board: Boards, rules: Rules, dice: Sequence[int] | None, caption: str) -> NDArray[np.uint8]:
    """Draws a position, uint8 (height, width, 3); the arguments are those of `nardy_rl.rules.svg.board_svg`.

    Raises:
        NotImplementedError: The SVG picture holds an element that this small rasteriser does not know.
    """
    root = ElementTree.fromstring(board_svg(board, rules, dice, caption))
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    image = Image.new("RGB", (width * _SMOOTH, height * _SMOOTH), "white")
    canvas = ImageDraw.Draw(image)
    for element in root:
        _draw(canvas, element)
    return np.asarray(image.resize((width, height), Image.Resampling.BOX)).copy()


def _draw(canvas: ImageDraw.ImageDraw, element: ElementTree.Element) -> None:
    kind, attributes = element.tag.rpartition("}")[2], element.attrib

    def number(name: str, default: float = 0.0) -> float:
        return float(attributes.get(name, default)) * _SMOOTH

    fill, edge, edge_width = attributes["fill"], attributes.get("stroke"), round(number("stroke-width", 1))
    x, y = number("x"), number("y")
    if kind == "rect":
        box = (x, y, x + number("width"), y + number("height"))
        canvas.rounded_rectangle(box, number("rx"), fill, edge, edge_width)
    elif kind == "circle":
        x, y, radius = number("cx"), number("cy"), number("r")
        canvas.ellipse((x - radius, y - radius, x + radius, y + radius), fill, edge, edge_width)
    elif kind == "path":
        triangle = re.fullmatch(r"M(\S+) (\S+)H(\S+)L(\S+) (\S+)Z", attributes["d"])
        if triangle is None:
            raise NotImplementedError(f"a path other than a triangle: {attributes['d']}")
        left, base, right, tip_x, tip_y = (float(value) * _SMOOTH for value in triangle.groups())
        canvas.polygon(((left, base), (right, base), (tip_x, tip_y)), fill)
    elif kind == "text":
        font = ImageFont.load_default(number("font-size"))
        canvas.text((x, y), element.text or "", fill, font, anchor="ms")  # in the middle, on the base line
    else:
        raise NotImplementedError(f"an SVG element of the kind {kind!r}")
