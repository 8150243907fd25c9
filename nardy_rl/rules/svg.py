"""A board as an SVG picture, from the view of the player in row 0: his head top right, his home bottom right."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nardy_rl.rules.spec import BAR, OFF, POINTS, Rules

_CELL, _EDGE, _MIDDLE, _TRAY = 40, 26, 30, 46
_HEIGHT = 420
_FULL_STACK = 5
"""Checkers drawn before a stack is only counted."""
_LEFT = _EDGE
_RIGHT = _LEFT + 12 * _CELL + _MIDDLE
_WIDTH = _RIGHT + _EDGE + _TRAY + 8

_PAPER, _FRAME, _FELT = "#f4efe6", "#6b4a2f", "#e9dcc3"
_TRIANGLES = ("#c9a877", "#a9825a")
_SIDES = (("#fbf8f1", "#3a2d22", "#3a2d22"), ("#33281f", "#17110c", "#f4efe6"))
"""Fill, edge and text of the checkers of (row 0, row 1)."""


def board_svg(board: Any, rules: Rules, dice: Sequence[int] | None = None, caption: str = "") -> str:
    """Draws a position.

    Args:
        board: Counts (2, 26), rows (player on roll, opponent), each in its own numbering.
        rules: Decide how the opponent's points lie (R0.3) and whether there is a bar.
        dice: The roll, drawn in the middle.
        caption: A line under the board.

    Returns:
        A complete SVG document. Points are numbered as row 0 counts them.
    """
    counts = np.asarray(board)
    if counts.shape != (2, BAR + 1):
        raise ValueError(f"a board has shape (2, {BAR + 1}), not {counts.shape}")
    height = _HEIGHT + (24 if caption else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" text-anchor="middle">',
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="{_PAPER}"/>',
        f'<rect x="6" y="6" width="{_WIDTH - 12}" height="{_HEIGHT - 12}" rx="8" fill="{_FRAME}"/>',
    ]
    for half in (_LEFT, _LEFT + 6 * _CELL + _MIDDLE):
        parts.append(
            f'<rect x="{half}" y="{_EDGE}" width="{6 * _CELL}" height="{_HEIGHT - 2 * _EDGE}" fill="{_FELT}"/>'
        )
    for point in range(1, POINTS + 1):
        parts += _triangle(point)
    for side in (0, 1):
        for point in range(1, POINTS + 1):
            seen = point if side == 0 else _opp_point(point, rules)
            parts += _stack(_x(seen), seen > 12, int(counts[side, point]), side)
        parts += _stack(_LEFT + 6 * _CELL + _MIDDLE / 2, side == 1, int(counts[side, BAR]), side)
        parts += _tray(int(counts[side, OFF]), side)
    if dice is not None:
        for k, die in enumerate(dice):
            parts += _die(_LEFT + 9 * _CELL + _MIDDLE + (k - 0.5) * 44, _HEIGHT / 2, int(die))
    if caption:
        parts.append(
            f'<text x="{_WIDTH / 2}" y="{_HEIGHT + 14}" font-size="14" fill="{_FRAME}">{_escape(caption)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _opp_point(point: int, rules: Rules) -> int:
    return POINTS + 1 - point if rules.geometry == "short" else (point + 12 if point <= 12 else point - 12)


def _x(point: int) -> float:
    """Middle of a point's column: 24 and 1 at the right."""
    column = point - 13 if point > 12 else 12 - point
    return _LEFT + (column + 0.5) * _CELL + (_MIDDLE if column >= 6 else 0)


def _triangle(point: int) -> Iterator[str]:
    x, top = _x(point), point > 12
    base, tip = (_EDGE, _EDGE + 160) if top else (_HEIGHT - _EDGE, _HEIGHT - _EDGE - 160)
    half = _CELL / 2 - 1
    yield f'<path d="M{x - half} {base}H{x + half}L{x} {tip}Z" fill="{_TRIANGLES[point % 2]}"/>'
    y = _EDGE - 7 if top else _HEIGHT - _EDGE + 15
    yield f'<text x="{x}" y="{y}" font-size="11" fill="{_PAPER}">{point}</text>'


def _stack(x: float, top: bool, count: int, side: int) -> Iterator[str]:
    fill, edge, ink = _SIDES[side]
    radius = _CELL / 2 - 3
    for k in range(min(count, _FULL_STACK)):
        away = radius + 1 + k * (2 * radius - 2)
        y = _EDGE + away if top else _HEIGHT - _EDGE - away
        yield f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}" stroke="{edge}" stroke-width="1.5"/>'
        if count > _FULL_STACK and k == _FULL_STACK - 1:
            yield f'<text x="{x}" y="{y + 5}" font-size="14" font-weight="bold" fill="{ink}">{count}</text>'


def _tray(count: int, side: int) -> Iterator[str]:
    """Checkers borne off, as slices in the tray on the right: row 0 below, row 1 above."""
    fill, edge, _ = _SIDES[side]
    x, room = _RIGHT + _EDGE - 8, _HEIGHT / 2 - _EDGE - 12
    y = _HEIGHT - _EDGE - room if side == 0 else _EDGE
    yield f'<rect x="{x}" y="{y}" width="{_TRAY}" height="{room}" rx="4" fill="{_FELT}"/>'
    for k in range(count):
        away = 3 + k * 10
        slice_y = _HEIGHT - _EDGE - away - 9 if side == 0 else _EDGE + away
        yield (f'<rect x="{x + 4}" y="{slice_y}" width="{_TRAY - 8}" height="9" rx="2" fill="{fill}" stroke="{edge}"/>')


def _die(x: float, y: float, die: int) -> Iterator[str]:
    yield f'<rect x="{x - 17}" y="{y - 17}" width="34" height="34" rx="6" fill="#fffdf8" stroke="{_FRAME}"/>'
    spots = {1: "c", 2: "ai", 3: "aci", 4: "agdi", 5: "agdic", 6: "agdibh"}[die]
    places = {"a": (-1, -1), "b": (-1, 0), "g": (-1, 1), "d": (1, -1), "h": (1, 0), "i": (1, 1), "c": (0, 0)}
    for spot in spots:
        dx, dy = places[spot]
        yield f'<circle cx="{x + 9 * dx}" cy="{y + 9 * dy}" r="3.2" fill="{_FRAME}"/>'


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
