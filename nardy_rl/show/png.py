"""A board's SVG picture as PNG or pixels, by resvg (the Rust library of that name)."""

import functools
import io
from pathlib import Path
from typing import Any

import numpy as np
import resvg_py
from numpy.typing import NDArray
from PIL import Image

from nardy_rl.rules.spec import Rules
from nardy_rl.show.svg import board_svg


def svg_png(svg: str, scale: float = 2.0) -> bytes:
    """Rasterises an SVG picture.

    Args:
        svg: The document.
        scale: Pixels for one unit of the picture; a board is about 620 units wide.

    Returns:
        A PNG file. Letters are those of DejaVu Sans, which matplotlib brings along, so it is the same on any machine.

    Raises:
        ValueError: Not an SVG document, or a scale that is not from 0.1 to 20.
    """
    if not 0.1 <= scale <= 20:
        raise ValueError(f"scale={scale} is not allowed; give a number from 0.1 to 20")
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=scale,
            skip_system_fonts=True,
            font_files=_fonts(),
            font_family="DejaVu Sans",
            sans_serif_family="DejaVu Sans",
        )
    )


def board_pixels(board: Any, rules: Rules, *args: Any, **options: Any) -> NDArray[np.uint8]:
    """A position as pixels, uint8 (height, width, 3); the arguments are those of `board_svg`."""
    png = svg_png(board_svg(board, rules, *args, **options), scale=1.0)
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))


@functools.cache
def _fonts() -> list[str]:
    import matplotlib as mpl  # noqa: PLC0415  (loads only for those who draw)

    folder = Path(mpl.get_data_path()) / "fonts" / "ttf"
    return [str(folder / "DejaVuSans.ttf"), str(folder / "DejaVuSans-Bold.ttf")]
