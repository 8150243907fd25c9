"""The SVG picture: everything is there, once, and in its place."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from nardy_rl.rules.notation import find_play, parse_play, parse_position
from nardy_rl.rules.reference import Board, Step, opposing_point
from nardy_rl.rules.spec import BAR, CHECKERS, OFF, Rules, make_rules
from nardy_rl.show.svg import FULL_STACK, Marks, board_svg

LONG, SHORT = make_rules("official"), make_rules("short")
LONG_BOARD = parse_position("24:7 18:2 14:1 11:1 7:1 2:1 off:2 | 24:6 20:2 21:2 16:1 11:1 3:1 off:2")
SHORT_BOARD = parse_position("bar:2 24:1 13:5 8:2 6:5 | bar:1 24:1 13:6 8:3 6:4")
BOARDS = [
    (LONG_BOARD, LONG),
    (SHORT_BOARD, SHORT),
    ((LONG.start, LONG.start), LONG),
    (parse_position("off:15 | 24:9 1:6"), LONG),
    (parse_position("bar:7 24:8 | 2:7 off:8"), SHORT),
]
PLAYERS = ("mover", "opponent")


def drawn(board: Board, rules: Rules, **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(board_svg(board, rules, **options))  # type: ignore[arg-type]


def groups(root: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if element.attrib.get("class") == kind]


def texts(element: ElementTree.Element) -> list[str]:
    return [child.text or "" for child in element.iter() if child.tag.endswith("text")]


def checkers(group: ElementTree.Element) -> list[tuple[float, float]]:
    """Centres of a stack's checkers, without their inner rings."""
    circles = [child for child in group if child.tag.endswith("circle") and "class" not in child.attrib]
    return [(float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in circles]


def numbers(root: ElementTree.Element) -> dict[tuple[float, bool], int]:
    """The numbers of the points: (middle of the column, is it in the upper half) -> number."""
    return {(float(t.attrib["x"]), float(t.attrib["y"]) < 200): int(t.text or "") for t in groups(root, "number")}


def shown(root: ElementTree.Element, who: int, rules: Rules) -> Board:
    """Reads the checkers off a picture whose points are numbered as player `who` counts."""
    at = numbers(root)
    rows = [[0] * (BAR + 1) for _ in PLAYERS]
    for group in groups(root, "checkers"):
        side = PLAYERS.index(group.attrib["data-side"])
        (x, y), *others = places = checkers(group)
        assert all(place[0] == x for place in others)
        assert len({place[1] for place in places}) == len(places)
        count = int(texts(group)[0]) if texts(group) else len(places)
        assert len(places) == min(count, FULL_STACK)
        number = at.get((x, y < 210))
        slot = BAR if number is None else number if side == who else opposing_point(number, rules)
        assert slot == int(group.attrib["data-slot-of-side"])
        rows[side][slot] += count
    for tray in groups(root, "tray"):
        count = sum(child.tag.endswith("rect") for child in tray)
        assert texts(tray) == ([str(count)] if count else [])
        rows[PLAYERS.index(tray.attrib["data-side"])][OFF] = count
    return tuple(rows[0]), tuple(rows[1])


@pytest.mark.parametrize("view", PLAYERS)
@pytest.mark.parametrize("numbering", PLAYERS)
@pytest.mark.parametrize(("board", "rules"), BOARDS)
def test_all_checkers_are_there_and_on_their_points(board: Board, rules: Rules, view: str, numbering: str) -> None:
    root = drawn(board, rules, view=view, numbering=numbering)
    assert shown(root, PLAYERS.index(numbering), rules) == board
    assert all(sum(row) == CHECKERS for row in board)


def test_the_viewer_has_his_head_top_right_and_his_home_below() -> None:
    for who, view in enumerate(PLAYERS):
        at = numbers(drawn(LONG_BOARD, LONG, view=view, numbering=view))
        right, left = max(x for x, _ in at), min(x for x, _ in at)
        assert [at[right, True], at[left, True], at[left, False], at[right, False]] == [24, 13, 12, 1]
        tray = groups(drawn(LONG_BOARD, LONG, view=view), "tray")[who]
        assert all(float(child.attrib["y"]) > 210 for child in tray if child.tag.endswith("rect"))


def test_whites_numbering_is_the_official_texts() -> None:
    """R0.3: black starts on white's 12 and bears off from 13..18."""
    root = drawn(LONG_BOARD, LONG, view="white", numbering="white", white="opponent")
    at = numbers(root)
    head, home = ((x, y) for slot in (24, 2) for x, y in [stack_of(root, "mover", slot)])
    assert at[head[0], head[1] < 210] == 12
    assert 13 <= at[home[0], home[1] < 210] <= 18
    for white in PLAYERS:  # the same as that player's own, whoever is on roll
        assert numbers(drawn(LONG_BOARD, LONG, numbering="white", white=white)) == numbers(
            drawn(LONG_BOARD, LONG, numbering=white)
        )


def test_whites_checkers_are_the_light_ones() -> None:
    for white in PLAYERS:
        root = drawn(LONG_BOARD, LONG, white=white)
        for group in groups(root, "checkers"):
            fill = next(child.attrib["fill"] for child in group if child.tag.endswith("circle"))
            lightness = sum(int(fill[k : k + 2], 16) for k in (1, 3, 5)) / 3
            assert (lightness > 200) == (group.attrib["data-side"] == white)
            assert lightness > 200 or lightness < 60, "told apart without colour"


def stack_of(root: ElementTree.Element, side: str, slot: int, number: int = 1) -> tuple[float, float]:
    """Centre of a checker of a stack, 1 the one at the rim."""
    for group in groups(root, "checkers"):
        if group.attrib["data-side"] == side and group.attrib["data-slot-of-side"] == str(slot):
            return checkers(group)[number - 1]
    raise AssertionError(f"no stack on {slot}")


def ends(arrow: ElementTree.Element) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where an arrow starts, and its tip."""
    line, tip = (child.attrib["d"] for child in list(arrow)[:2])
    (x1, y1), (x2, y2) = (re.match(r"M(\S+) ([-\d.]+)", path).groups() for path in (line, tip))  # type: ignore[union-attr]
    return (float(x1), float(y1)), (float(x2), float(y2))


def near(a: tuple[float, float], b: tuple[float, float], most: float = 0.1) -> bool:
    return abs(a[0] - b[0]) <= most and abs(a[1] - b[1]) <= most


@pytest.mark.parametrize("view", PLAYERS)
@pytest.mark.parametrize(
    ("board", "rules", "dice", "text"),
    [
        (LONG_BOARD, LONG, (6, 4), "24/18 18/14"),
        (LONG_BOARD, LONG, (2, 2), "24/22 22/20 18/16(2)"),
        (SHORT_BOARD, SHORT, (4, 1), "bar/21 bar/24"),
        (SHORT_BOARD, SHORT, (3, 3), "bar/22(2) 8/5(2)"),
        (parse_position("6:3 5:2 4:2 2:1 off:7 | 1:3 off:12"), LONG, (6, 6), "6/off(3) 5/off"),
        (parse_position("6:3 5:2 4:2 2:1 off:7 | 1:3 off:12"), SHORT, (5, 1), "6/5 5/off"),
    ],
)
def test_arrows_lead_from_checkers_to_where_they_land(
    board: Board, rules: Rules, dice: tuple[int, int], text: str, view: str
) -> None:
    """Of the mover's play on the board before it, and of the same play on the board after it, seen by the other."""
    play = find_play(text, board, dice, rules)
    before = drawn(board, rules, play=play.steps, view=view)
    turned = (play.board[1], play.board[0])
    after = drawn(turned, rules, last=play.steps, view=PLAYERS[1 - PLAYERS.index(view)])
    assert len(groups(before, "arrow")) == len(groups(after, "arrow")) == len(play.steps)
    columns_before, columns_after = columns(before), columns(after)
    assert columns_before == columns_after, "the same board from the same seat"
    row = list(board[0])
    for step, arrow, same in zip(play.steps, groups(before, "arrow"), groups(after, "arrow"), strict=True):
        source, target = (("bar" if s == BAR else "off" if s == OFF else str(s)) for s in step[:2])
        assert arrow.attrib["data-step"] == same.attrib["data-step"] == f"{source}/{target}"
        assert (arrow.attrib["data-side"], same.attrib["data-side"]) == ("mover", "opponent")
        start, tip = ends(arrow)
        assert near(start, place(before, view, rules, step.source, row[step.source]), 18)
        row[step.source] -= 1
        row[step.target] += 1
        assert near(tip, place(before, view, rules, step.target, row[step.target]), 18)
        assert near(start, ends(same)[0])
        assert near(tip, ends(same)[1])
    assert tuple(row) == play.board[0]


def columns(root: ElementTree.Element) -> list[tuple[float, bool]]:
    return sorted(numbers(root))


def place(root: ElementTree.Element, view: str, rules: Rules, slot: int, number: int) -> tuple[float, float]:
    """Where the mover's checker should be, by the numbers on the picture and the size of a checker."""
    if slot in (OFF, BAR):
        below = (view == "mover") == (slot == OFF)
        tray = next(child for child in groups(root, "tray")[0] if child.tag.endswith("rect")) if slot == OFF else None
        x = float(tray.attrib["x"]) + 19 if tray is not None else stack_of(root, "mover", BAR)[0]
        away = 7.5 + 10 * (number - 1) if slot == OFF else 18 + 32 * (min(number, 5) - 1)
        return x, 394 - away if below else 26 + away
    (x, above), _ = next((key, n) for key, n in numbers(root).items() if n == slot)  # numbered as the mover counts
    away = 18 + 32 * (min(number, 5) - 1)
    return x, 26 + away if above else 394 - away


def test_a_number_on_a_stack_is_not_covered_by_an_arrow() -> None:
    root = drawn(LONG_BOARD, LONG, play=parse_play("24/18"))
    x, y = stack_of(root, "mover", 24, 5)
    (start_x, start_y), _ = ends(groups(root, "arrow")[0])
    assert 16 < ((start_x - x) ** 2 + (start_y - y) ** 2) ** 0.5 < 18


def test_captions_are_escaped() -> None:
    caption = '<script>alert("x")</script> & so on'
    root = drawn(LONG_BOARD, LONG, caption=caption)
    assert texts(root)[-1] == caption
    assert not [element for element in root.iter() if element.tag.endswith("script")]


def test_many_pictures_can_stand_on_one_page() -> None:
    root = drawn(LONG_BOARD, LONG, dice=(6, 4), play=parse_play("24/18 18/14"), marks=Marks(clickable=True))
    assert not [element for element in root.iter() if "id" in element.attrib or "href" in str(element.attrib)]


def test_dice_and_those_already_played() -> None:
    root = drawn(LONG_BOARD, LONG, dice=(2, 2, 2, 2), marks=Marks(dice_left=(2, 2, 2)))
    dice = groups(root, "die")
    assert [die.attrib["data-die"] for die in dice] == ["2"] * 4
    assert sum("opacity" in die.attrib for die in dice) == 1
    for die in range(1, 7):
        spots = [c for c in groups(drawn(LONG_BOARD, LONG, dice=(die,)), "die")[0] if c.tag.endswith("circle")]
        assert len({(spot.attrib["cx"], spot.attrib["cy"]) for spot in spots}) == die


def test_marks_and_areas() -> None:
    marks = Marks(sources=(24, 18), selected=24, targets=(20, OFF), clickable=True)
    root = drawn(LONG_BOARD, LONG, marks=marks)
    assert Counter(element.attrib.get("class") for element in root) >= Counter(source=2, selected=1, target=2)
    areas = [element for element in root if "data-slot" in element.attrib]
    assert [int(area.attrib["data-slot"]) for area in areas] == list(range(BAR + 1))
    assert {int(area.attrib["data-slot"]) for area in areas if area.attrib["class"] == "live"} == {24, 18, 20, OFF}
    boxes = [[float(area.attrib[name]) for name in ("x", "y", "width", "height")] for area in areas]
    for k, (x, y, width, height) in enumerate(boxes):
        for x2, y2, width2, height2 in boxes[:k]:
            assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y, "areas overlap"
    for group in groups(root, "checkers"):
        if group.attrib["data-side"] == "mover":
            cx, cy = checkers(group)[0]
            x, y, width, height = boxes[int(group.attrib["data-slot-of-side"])]
            assert x < cx < x + width
            assert y < cy < y + height


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"view": "black"}, "view"),
        ({"numbering": "black"}, "numbering"),
        ({"white": "white"}, "white"),
        ({"dice": (6, 7)}, "die 7"),
        ({"play": parse_play("23/20")}, "no checker on 23"),
        ({"last": parse_play("24/23")}, "no checker on 23"),
        ({"play": (Step(20, 24),)}, "no step"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        drawn(LONG_BOARD, LONG, **options)


def test_a_board_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        board_svg([[0] * 25] * 2, LONG)
