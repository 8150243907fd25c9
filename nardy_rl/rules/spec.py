"""The rules of a game as data: the frozen `Rules` record and its presets (RULES.md, section 7).

A variant is `dataclasses.replace` of a preset; there is no subclass per variant. `make_rules` is the door for text
coming from outside (command line, JSON): it says what is wrong and what is allowed.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

POINTS = 24
CHECKERS = 15
OFF = 0
HEAD = 24
BAR = 25
SLOTS = 26
HOME = 6
"""Highest point of the home (R0.2): 6..1."""

LONG_START = (0,) * HEAD + (CHECKERS, 0)
SHORT_START = tuple({24: 2, 13: 5, 8: 3, 6: 5}.get(point, 0) for point in range(SLOTS))

CHOICES: dict[str, tuple[str, ...]] = {
    "geometry": ("long", "short"),
    "head_condition": ("head_blocks", "any_block", "always"),
    "head_second": ("free", "stuck_first"),
    "block_rule": ("ahead", "home", "forbid", "none"),
    "block_transit": ("forbid", "allow"),
    "bear_off_choice": ("free", "exact_first"),
    "bear_off_blocked": ("lost", "leftmost"),
    "must_play": ("max", "greedy"),
    "scoring": ("oin_mars", "four_level", "home_mars3", "checkers", "backgammon"),
    "draw": ("last_roll", "none"),
    "last_roll_mars": ("after", "before"),
    "opening_roll": ("reroll", "use", "choice"),
    "next_game": ("alternate", "winner", "lot"),
}
"""Allowed values of every option that is a word. The order is the code the compiled kernels see."""

ANY_ROLL = "any"


class RuleCodes(NamedTuple):
    """What the move generator needs of a `Rules`, as plain integers: one compiled kernel serves every variant."""

    short: int
    blot_limit: int
    head_limit: int
    head_rolls: int
    """Bit d set: the double d-d allows a second head checker on the first turn; bit 0: every roll does (R2.2)."""
    head_condition: int
    head_second: int
    block_rule: int
    block_transit: int
    bear_off_choice: int
    bear_off_blocked: int
    must_play: int


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclasses.dataclass(frozen=True)
class Rules:
    """One variant of the game. Field by field: RULES.md; the default values are the preset `official`.

    Attributes:
        geometry: How the opponent's points map to one's own (R0.3): `long` p±12, `short` 25-p.
        start: Checkers per slot at the start, own numbering: 0 off, 1..24 points (24 = head), 25 bar.
        blot_limit: Opposing checkers on a point that do not close it yet: 0 in long nardy (R1.1), 1 in short (R8.2).
        head_limit: Checkers that may leave the head in a turn (R2.1); 15 = no head rule.
        head_rolls: Doubles that allow a second head checker on the first turn, or "any" for every roll (R2.2).
        head_condition: When that exception holds: `head_blocks` | `any_block` | `always` (R2.2).
        head_second: `free` | `stuck_first` (R2.3).
        block_rule: Block of six: `ahead` | `home` | `forbid` | `none` (R3.1, R3.4).
        block_transit: May an intermediate position hold a forbidden block: `forbid` | `allow` (R3.3).
        bear_off_choice: `free` | `exact_first` (R4.2).
        bear_off_blocked: `lost` | `leftmost` (R4.3).
        must_play: `max` | `greedy` (R4.4).
        scoring: `oin_mars` | `four_level` | `home_mars3` | `checkers` | `backgammon` (R5.1-R5.3, R8.5).
        draw: `last_roll` | `none` (R5.4).
        draw_points: What a draw is worth to each player in a match (R5.4). In equities, which are differences, it is 0.
        last_roll_mars: Is oin or mars judged `after` the last throw (R5.4) or `before` it.
        opening_roll: `reroll` | `use` | `choice` (R6.1).
        next_game: Who starts the next game of a match: `alternate` | `winner` | `lot` (R6.2).
    """

    geometry: str = "long"
    start: tuple[int, ...] = LONG_START
    blot_limit: int = 0
    head_limit: int = 1
    head_rolls: tuple[int, ...] | str = (3, 4, 6)
    head_condition: str = "head_blocks"
    head_second: str = "free"
    block_rule: str = "ahead"
    block_transit: str = "forbid"
    bear_off_choice: str = "free"
    bear_off_blocked: str = "lost"
    must_play: str = "max"
    scoring: str = "oin_mars"
    draw: str = "last_roll"
    draw_points: float = 0.5
    last_roll_mars: str = "after"
    opening_roll: str = "reroll"
    next_game: str = "alternate"

    def __post_init__(self) -> None:
        for option, allowed in CHOICES.items():
            value = getattr(self, option)
            if value not in allowed:
                raise ValueError(f"{option}={value!r} is not allowed; choose one of {', '.join(allowed)}")
        rolls = self.head_rolls
        if rolls != ANY_ROLL:
            if not isinstance(rolls, tuple) or not all(_is_int(die) and 1 <= die <= 6 for die in rolls):
                raise ValueError(f"head_rolls={rolls!r} is not allowed; give a tuple of doubles 1..6, or {ANY_ROLL!r}")
            object.__setattr__(self, "head_rolls", tuple(sorted(set(rolls))))
        self._check_start()
        if not _is_int(self.blot_limit) or self.blot_limit != (1 if self.geometry == "short" else 0):
            raise ValueError(
                f"blot_limit={self.blot_limit!r} does not fit geometry={self.geometry!r}: 0 in long nardy, 1 in short"
            )
        if not _is_int(self.head_limit) or not 1 <= self.head_limit <= CHECKERS:
            raise ValueError(f"head_limit={self.head_limit!r} is not allowed; give 1..{CHECKERS}")
        if isinstance(self.draw_points, bool) or not isinstance(self.draw_points, int | float):
            raise ValueError(f"draw_points={self.draw_points!r} is not allowed; give a number from 0 to 1")
        if not 0 <= self.draw_points <= 1:
            raise ValueError(f"draw_points={self.draw_points!r} is not allowed; give a number from 0 to 1")
        if self.geometry == "short" and self.block_rule != "none":
            raise ValueError("block_rule must be 'none' in short nardy (R8.4)")

    def _check_start(self) -> None:
        start = self.start
        if (
            not isinstance(start, tuple)
            or len(start) != SLOTS
            or not all(_is_int(count) and count >= 0 for count in start)
            or sum(start) != CHECKERS
        ):
            raise ValueError(f"start={start!r} is not allowed; give {SLOTS} counts >= 0 that add up to {CHECKERS}")
        if start[OFF] == CHECKERS or (self.geometry == "long" and start[BAR]):
            raise ValueError(f"start={start!r} is not allowed: all borne off, or on a bar that long nardy has not")
        for point in range(1, POINTS + 1):
            theirs = BAR - point if self.geometry == "short" else (point + 11) % POINTS + 1
            if start[point] and start[theirs]:
                raise ValueError(f"start={start!r} is not allowed: both sides would hold the point {point} | {theirs}")

    @property
    def codes(self) -> RuleCodes:
        """The generator's view of these rules, all integers."""

        def code(option: str) -> int:
            return CHOICES[option].index(getattr(self, option))

        head_rolls = 1 if self.head_rolls == ANY_ROLL else sum(1 << int(die) for die in self.head_rolls)
        return RuleCodes(
            short=code("geometry"),
            blot_limit=self.blot_limit,
            head_limit=self.head_limit,
            head_rolls=head_rolls,
            head_condition=code("head_condition"),
            head_second=code("head_second"),
            block_rule=code("block_rule"),
            block_transit=code("block_transit"),
            bear_off_choice=code("bear_off_choice"),
            bear_off_blocked=code("bear_off_blocked"),
            must_play=code("must_play"),
        )


OFFICIAL = Rules()

PRESETS: dict[str, Rules] = {
    "official": OFFICIAL,
    "club": dataclasses.replace(
        OFFICIAL, head_rolls=(3, 4, 5, 6), head_condition="always", opening_roll="choice", draw="none"
    ),
    "moscow": dataclasses.replace(
        OFFICIAL, head_condition="any_block", block_transit="allow", next_game="winner", draw="none"
    ),
    "casual": dataclasses.replace(OFFICIAL, head_rolls=(6,), head_condition="always", scoring="checkers", draw="none"),
    "overview": dataclasses.replace(
        OFFICIAL, head_rolls=(1, 2, 3, 4, 5, 6), head_condition="always", scoring="four_level", draw="none"
    ),
    "online": dataclasses.replace(
        OFFICIAL,
        head_rolls=(),
        must_play="greedy",
        bear_off_choice="exact_first",
        bear_off_blocked="leftmost",
        draw="none",
    ),
    "intro": dataclasses.replace(OFFICIAL, head_rolls=ANY_ROLL, head_condition="any_block", draw="none"),
    "fnr": dataclasses.replace(OFFICIAL, opening_roll="use", head_condition="always", draw="none"),
    "short": Rules(
        geometry="short",
        start=SHORT_START,
        blot_limit=1,
        head_limit=CHECKERS,
        head_rolls=(),
        block_rule="none",
        scoring="backgammon",
        draw="none",
        opening_roll="use",
    ),
}
"""RULES.md section 7. What a text leaves unsaid comes from `official`."""

OPTIONS = tuple(field.name for field in dataclasses.fields(Rules))


def make_rules(preset: str = "official", options: Mapping[str, Any] | None = None) -> Rules:
    """Returns the preset with some options replaced.

    Args:
        preset: A key of `PRESETS`.
        options: Field name of `Rules` -> value; lists stand for tuples (as JSON and YAML have them).

    Raises:
        ValueError: Unknown preset, unknown option or a value that is not allowed; says what is.
    """
    if preset not in PRESETS:
        raise ValueError(f"unknown rules {preset!r}; choose one of {', '.join(PRESETS)}")
    changes = dict(options or {})
    unknown = [name for name in changes if name not in OPTIONS]
    if unknown:
        raise ValueError(f"unknown rule option {unknown[0]!r}; choose from {', '.join(OPTIONS)}")
    changes = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
    return dataclasses.replace(PRESETS[preset], **changes)


def rules_as_dict(rules: Rules) -> dict[str, Any]:
    """All options as plain JSON values; `rules_from_dict` reads them back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(rules).items()}


def rules_from_dict(options: Mapping[str, Any]) -> Rules:
    """The inverse of `rules_as_dict`; options left out come from `official`."""
    return make_rules("official", options)
