"""Records for the tests, made of random games: whole, cut off, resigned, with a cube.

`python -m tests.records.games` writes the files of `data/` anew; `gnubg.mat` needs GNU Backgammon (see `gnubg`).
"""

import dataclasses
import functools
import random
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nardy_rl.files import write_text
from nardy_rl.records.mat import format_match
from nardy_rl.records.record import (
    DROPPED,
    FIRST,
    NOT_PLAYED,
    PLAYED,
    RESIGNED,
    SECOND,
    UNFINISHED,
    GameRecord,
    MatchRecord,
    replay,
)
from tests.rules.regenerate import random_game

DATA = Path(__file__).parent / "data"
PLAYERS = ("Anna", "Борис")
ASCII_PLAYERS = ("Anna", "Boris K.")


@functools.cache
def whole_game(preset: str, seed: int) -> GameRecord:
    return random_game(preset, seed)


def cut_game(rng: random.Random, preset: str, ended: str, turns: int | None = None) -> GameRecord:
    """A random game that ended so, or was only so many turns long; in short nardy with some doubles."""
    game = whole_game(preset, rng.randrange(4))
    tags = {"note": f"game {rng.randrange(100)}"} if rng.random() < 0.3 else {}
    short = preset == "short"
    played = list(game.turns if ended == PLAYED else game.turns[: rng.randrange(1, 12) if turns is None else turns])
    cube, may_double = 1, {0, 1}
    for number in sorted(rng.sample(range(1, len(played)), min(3, len(played) - 1))) if short else []:
        if number % 2 in may_double:
            cube, may_double = 2 * cube, {1 - number % 2}
            played[number] = dataclasses.replace(played[number], doubled=cube)
    record = dataclasses.replace(
        game, turns=tuple(played), ended=UNFINISHED, winner=None, result=None, points=None, tags=tags
    )
    if ended == PLAYED:
        points = (game.points or 0) * cube
        return dataclasses.replace(record, ended=PLAYED, winner=game.winner, result=game.result, points=points)
    to_move = len(played) % 2
    if ended == RESIGNED:
        record = dataclasses.replace(record, ended=RESIGNED, winner=rng.choice((FIRST, SECOND)))
        outcome = replay(record).outcome
        record = dataclasses.replace(record, result=outcome.result, points=outcome.points)
        if rng.random() < 0.5 and played:
            thrown = dataclasses.replace(game.turns[len(played)], play=NOT_PLAYED)
            record = dataclasses.replace(record, turns=(*record.turns, thrown))
    if short and ended == UNFINISHED and rng.random() < 0.5 and to_move in may_double:
        record = dataclasses.replace(record, offered=2 * cube)
    if ended == DROPPED:
        if to_move not in may_double or not played:
            return cut_game(rng, preset, ended, turns)
        outcome = {"winner": (FIRST, SECOND)[to_move], "result": DROPPED, "points": float(cube)}
        record = dataclasses.replace(record, ended=DROPPED, offered=2 * cube, **outcome)
    return record


def random_match(
    rng: random.Random, preset: str, endings: Sequence[str], players: tuple[str, str] = PLAYERS
) -> MatchRecord:
    """Games with these endings between two players, each starting some of them."""
    games = []
    for ended in endings:
        first, second = rng.sample(players, 2)
        games.append(dataclasses.replace(cut_game(rng, preset, ended), first=first, second=second))
    return MatchRecord(
        players, tuple(games), length=rng.choice((None, 1000.0)), tags={"event": "a test", "EventDate": "2026.01.02"}
    )


def random_endings(rng: random.Random, preset: str) -> list[str]:
    """Endings that a match may have: at most the last game is unfinished; whole games are rare, being long."""
    short = [RESIGNED, RESIGNED, DROPPED, DROPPED] if preset == "short" else [RESIGNED] * 3
    endings = rng.choices([PLAYED, *short], k=rng.randrange(1, 4))
    return endings + [UNFINISHED] * rng.randrange(2)


# --- GNU Backgammon -------------------------------------------------------------------------------------------------


def find_gnubg() -> str | None:
    """The program, also where Debian puts games."""
    return shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games:/usr/local/games")


def gnubg(commands: Sequence[str], folder: Path) -> str:
    """What GNU Backgammon says to some commands, run in a folder in which it also keeps its settings."""
    program = find_gnubg()
    if program is None:
        raise FileNotFoundError("gnubg is not installed; it is GNU Backgammon, Debian's package gnubg")
    done = subprocess.run(
        [program, "--tty", "--quiet", "--no-rc"],
        input="\n".join(["set confirm new off", *commands, ""]).encode(),
        cwd=folder,
        env={"HOME": str(folder), "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")


def golden_match() -> MatchRecord:
    """The match of `data/match.mat` and `data/gnubg.mat`, with a game of every ending."""
    rng = random.Random(5)
    return random_match(rng, "short", [DROPPED, PLAYED, RESIGNED, RESIGNED, UNFINISHED], ASCII_PLAYERS)


def main() -> None:
    text = format_match(golden_match())
    write_text(DATA / "match.mat", text)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_text(folder / "a.mat", text)
        gnubg(["import mat a.mat", "export match mat b.mat"], folder)
        write_text(DATA / "gnubg.mat", (folder / "b.mat").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
