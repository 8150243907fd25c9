"""Files of records, broken in the ways that files break: bytes lost, doubled, swapped, written over."""

from collections.abc import Callable
from typing import TypeVar

from hypothesis import strategies as st

from nardy_rl.records.record import RecordError

T = TypeVar("T")

BITS = (
    *"0123456789./:;#[]()*?-|\" \t\n\r",
    "bar", "off", "pass", "?", "first", "second", "none", "66", "25/", "/0", "\ufeff", "\x00", "\u2028", "é", "٣", "{}",
    "[match]\n", "[game]\n", "[game 1]\n", "ended: ", "winner: ", "points: ", "score: ", "doubled to 2: taken\n",
    " Game 1\n", " 3 point match\n", "A : 0  B : 0\n", "  1) ", "Doubles => 2", " Takes", " Drops", "Wins 1 point\n",
    "Cannot Move", "????", "Illegal play", '; [x "y"]\n', "9" * 30, "1e9", "-1", "nan",
)  # fmt: skip
"""What is written over or in between: characters and words that mean something."""


@st.composite
def broken(draw: st.DrawFn, text: str) -> str:
    """The text after up to four accidents."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(0, len(text) - 1)))
        stop = min(len(text), start + draw(st.integers(0, 12)))
        kind = draw(st.sampled_from(("insert", "replace", "delete", "cut off", "line away", "line twice")))
        if kind == "insert":
            text = text[:start] + draw(st.sampled_from(BITS)) + text[start:]
        elif kind == "replace":
            text = text[:start] + draw(st.sampled_from(BITS)) + text[stop:]
        elif kind == "delete":
            text = text[:start] + text[stop:]
        elif kind == "cut off":
            text = text[: max(start, len(text) // 2)]
        else:
            lines = text.split("\n")
            index = draw(st.integers(0, len(lines) - 1))
            lines[index : index + 1] = [] if kind == "line away" else [lines[index]] * 2
            text = "\n".join(lines)
    return text


def attempt(read: Callable[[str], T], text: str) -> T | None:
    """What comes of reading a text: None if it is refused, which must be with a reason and a line of the text."""
    try:
        return read(text)
    except RecordError as error:
        refused = error
    assert refused.reason
    assert refused.line is None or 1 <= refused.line <= text.count("\n") + text.count("\r") + 1
    return None
