"""Writes the golden files of the rules anew: `python -m tests.rules.regenerate` in the root of the repository.

The files are there to notice change. Write them anew only after a deliberate change of a rule or of a text format, and
read the difference. `tests/data/golden/*.txt` are whole random games, made by the reference generator alone;
`tests/data/perft.json` is counted by the compiled one.
"""

import json
from pathlib import Path
from typing import Any

from nardy_rl.records.record import GameRecord, RecordedTurn, judge
from nardy_rl.records.text import format_records
from nardy_rl.rules.dice import SAMPLE, bits, roll_dice
from nardy_rl.rules.notation import format_play
from nardy_rl.rules.perft import perft
from nardy_rl.rules.reference import Board, legal_plays
from nardy_rl.rules.spec import PRESETS, make_rules

DATA = Path(__file__).parents[1] / "data"
GOLDEN = DATA / "golden"
PERFT = DATA / "perft.json"

GAMES: dict[str, tuple[str, int]] = {
    "official": ("official", 1),
    "official-draw": ("official", 8),
    "official-last-throw": ("official", 2),
    "club": ("club", 1),
    "moscow": ("moscow", 2),
    "casual": ("casual", 3),
    "overview": ("overview", 4),
    "online": ("online", 5),
    "intro": ("intro", 6),
    "fnr": ("fnr", 7),
    "short": ("short", 8),
}
"""File name -> (preset, seed). Where the opening lot is the first roll (R6.1 `use`), the first roll is no double."""

DEPTHS = {preset: 2 if preset == "short" else 4 for preset in PRESETS}
"""Turns counted. The third turn of short nardy has tens of millions of boards."""


def random_game(preset: str, seed: int, options: dict[str, Any] | None = None) -> GameRecord:
    """A game of random plays, a function of its arguments alone.

    Turn t = 0, 1, ... has the dice `roll_dice(seed, 0, t)`, and of the n plays of `legal_plays`, in their order, the
    one with index `bits(seed, SAMPLE, 0, t) % n` is played.
    """
    rules = make_rules(preset, options)
    board: Board = (rules.start, rules.start)
    turns: list[RecordedTurn] = []
    outcome = None
    while outcome is None:
        first, second = (int(die) for die in roll_dice(seed, 0, len(turns)))
        plays = legal_plays(board, (first, second), rules)
        play = plays[int(bits(seed, SAMPLE, 0, len(turns))) % len(plays)]
        turns.append(RecordedTurn((first, second), format_play(play.steps)))
        outcome = judge(board, play.board, len(turns), rules)
        board = (play.board[1], play.board[0])
    return GameRecord(
        preset=preset, options=options or {}, turns=tuple(turns), tags={"seed": str(seed)}, **outcome._asdict()
    )


def perft_table() -> dict[str, list[int]]:
    return {preset: perft(PRESETS[preset], depth) for preset, depth in DEPTHS.items()}


def main() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, (preset, seed) in GAMES.items():
        text = format_records([random_game(preset, seed)])
        (GOLDEN / f"{name}.txt").write_text(text, encoding="utf-8")
    table = {
        "about": "Distinct boards after 1, 2, ... turns from the start over all 21 rolls: nardy_rl/rules/perft.py, by "
        "the compiled generator. Written by `python -m tests.rules.regenerate`.",
        "counts": perft_table(),
    }
    text = json.dumps(table, indent=2)
    for counts in table["counts"].values():  # one line each
        text = text.replace(json.dumps(counts, indent=2).replace("\n", "\n    "), json.dumps(counts))
    PERFT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
