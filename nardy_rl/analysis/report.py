"""An analysis for a terminal of 80 columns, and as plain JSON values."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Group as Rows
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nardy_rl.analysis.game import MARKS, ROLLOUT, GameAnalysis, Group, JudgedTurn, Summary, mark, shown_name, worst
from nardy_rl.records.record import DROPPED, FIRST, NOBODY, RESIGNED
from nardy_rl.records.text import number_text
from nardy_rl.rules.notation import format_play, format_position
from nardy_rl.show.svg import MOVER, OPPONENT
from nardy_rl.show.terminal import TerminalBoard

COLOURS = ("white", "black")
"""Of the first player and of the second, as boards show them."""

_SIGNS = {name: sign for name, sign, _ in MARKS}
_NAME_WIDTH = 24

# --- words that the terminal and the page share -----------------------------------------------------------------------


def game_title(game: GameAnalysis) -> str:
    """Who played."""
    return f"{game.names[0]} (white) \N{EN DASH} {game.names[1]} (black), {rules_text(game)}"


def rules_text(game: GameAnalysis) -> str:
    """The rules of a game."""
    options = ", ".join(f"{name} {value}" for name, value in game.record.options.items())
    return f"rules {game.record.preset}" + (f" ({options})" if options else "")


def outcome_text(game: GameAnalysis) -> str:
    """How the game ended."""
    outcome = game.outcome
    if outcome is None:
        return f"Unfinished after {len(game.turns)} turns; no result."
    if outcome.winner == NOBODY:
        return "A draw."
    winner, loser = game.names if outcome.winner == FIRST else game.names[::-1]
    how = {RESIGNED: f"; {loser} resigned", DROPPED: f"; {loser} dropped the double"}.get(str(game.record.ended), "")
    points = number_text(outcome.points)
    kind = "" if outcome.result == DROPPED else f" ({outcome.result.replace('_', ' ')})"
    return f"{winner} wins {points} point{'' if points == '1' else 's'}{kind}{how}."


def account_text(game: GameAnalysis) -> str:
    """What the result is made of, from the first player's side; empty without a result."""
    if game.result is None or game.start is None or game.drift is None:
        return ""
    rest = ["the judge's changes of mind"]
    if game.record.ended == RESIGNED:
        rest.append("the resignation")
    if game.record.ended == DROPPED or any(turn.cube > 1 for turn in game.turns):
        rest.append("the cube")
    return (
        f"Result for {game.names[0]}: {game.result:+.2f} = {game.start:+z.2f} (before the first throw) "
        f"{game.luck:+z.2f} (luck) {-game.lost:+z.2f} (plays) {game.drift:+z.2f} ({' and '.join(rest)})."
    )


def group_title(group: Group) -> str:
    """What a group is; empty for single games."""
    if group.match is None or group.score is None:
        return ""
    first, second = map(shown_name, group.match.players)
    length = "" if group.match.length is None else f" to {number_text(group.match.length)} points"
    won, lost = map(number_text, group.score)
    return f"Match{length}: {first} \N{EN DASH} {second}, {won} : {lost}"


def judge_text(agent: str, depth: str) -> str:
    """Who judges."""
    how = "by rollouts (± is one standard error)" if depth == ROLLOUT else f"at {depth}"
    return (
        f"Judge: {agent}, plays {how}, luck at 0ply. Lost and luck are in points, error rates in thousandths of "
        "a point per unforced decision."
    )


def marks_text() -> str:
    """What the signs mean."""
    return ", ".join(f"{sign} {name} (loses {least:g} or more)" for name, sign, least in MARKS)


def turn_title(game: GameAnalysis, turn: JudgedTurn, number: int) -> str:
    """Which turn it is, and what it lost."""
    return (
        f"Game {number}, turn {turn.number}: {game.names[turn.player]} throws {dice_text(turn)} and loses "
        f"{turn.loss:.3f}" + (f" ({mark(turn.loss)})" if mark(turn.loss) else "")
    )


def dice_text(turn: JudgedTurn) -> str:
    """The roll, as `64`."""
    return "".join(map(str, turn.dice))


def play_text(turn: JudgedTurn) -> str:
    """The play made; `?` if the dice were thrown and not played."""
    return "?" if turn.play is None else format_play(turn.play.steps)


def best_text(turn: JudgedTurn) -> str:
    """The best play if another one was made and lost something that can be seen; otherwise an empty text."""
    return format_play(turn.plays[0].play.steps) if turn.loss >= 0.0005 else ""


def sign_of(turn: JudgedTurn) -> str:
    """The sign of `MARKS` for the play made, or an empty text."""
    return _SIGNS.get(mark(turn.loss), "")


def number_games(groups: Sequence[Group]) -> dict[int, int]:
    """The `id` of each game -> its number in the file, from 1."""
    games = (game for group in groups for game in group.games)
    return {id(game): number for number, game in enumerate(games, start=1)}


# --- terminal ---------------------------------------------------------------------------------------------------------


def terminal_report(groups: Sequence[Group], agent: str, depth: str, count: int) -> Iterator[RenderableType]:
    """What rich is to print, part by part.

    Args:
        groups: What was analysed.
        agent: The judge's spec.
        depth: Its depth.
        count: Worst mistakes to draw.
    """
    numbers = number_games(groups)
    for group in groups:
        if group.match:
            yield Text(group_title(group), style="bold")
        for game in group.games:
            yield Text(f"Game {numbers[id(game)]}: {game_title(game)}", style="bold")
            yield Text(f"{outcome_text(game)} {account_text(game)}".rstrip() + "\n")
            yield turns_table(game)
            yield summary_table(game.summaries)
        if len(group.games) > 1:
            yield Text(f"{'The match' if group.match else 'All single games'}, {len(group.games)} games", style="bold")
            yield summary_table(group.totals)
    every = [game for group in groups for game in group.games]
    for game, turn in worst(every, count):
        yield Rows(*_worst(game, turn, numbers[id(game)]), Text())
    yield Text(judge_text(agent, depth))
    yield Text(f"Signs: {marks_text()}.")


def summary_table(summaries: Sequence[Summary]) -> Table:
    """A row for each player."""
    table = _table()
    table.add_column("player", no_wrap=True, overflow="ellipsis", max_width=_NAME_WIDTH)
    signs = [sign for _, sign, _ in MARKS]
    for heading in ("decisions", "error\nrate", *signs, "lost", "luck", "result", "less\nluck"):
        table.add_column(heading, justify="right", no_wrap=True)
    for summary in summaries:
        rate = "" if summary.error_rate is None else f"{summary.error_rate:.1f}"
        table.add_row(
            Text(summary.name), str(summary.decisions), rate, *map(str, summary.marks), f"{summary.lost:.3f}",
            f"{summary.luck:+z.2f}", points_text(summary.points), points_text(summary.adjusted),
        )  # fmt: skip
    return table


def points_text(points: float | None) -> str:
    """Points with their sign; a dash if there are none."""
    return "\N{EN DASH}" if points is None else f"{points:+z.2f}"


def turns_table(game: GameAnalysis) -> Table:
    """A row for each turn."""
    table = _table()
    table.add_column("turn", justify="right")
    for heading in ("", "dice", "play"):
        table.add_column(heading)
    table.add_column("lost", justify="right", no_wrap=True)
    table.add_column("")
    table.add_column("best play")
    table.add_column("luck", justify="right", no_wrap=True)
    table.add_column("white's\nequity", justify="right", no_wrap=True)
    for turn in game.turns:
        lost = "" if turn.made is None else f"{turn.loss:.3f}"
        table.add_row(
            str(turn.number), COLOURS[turn.player][0], dice_text(turn), Text(play_text(turn)), lost, sign_of(turn),
            Text(best_text(turn)), f"{turn.luck:+z.3f}", f"{turn.sign * turn.before:+z.3f}",
            style="bold" if sign_of(turn) else "",
        )  # fmt: skip
    return table


def _worst(game: GameAnalysis, turn: JudgedTurn, number: int) -> Iterator[RenderableType]:
    assert turn.made is not None
    yield Text(turn_title(game, turn, number), style="bold")
    white = MOVER if turn.player == 0 else OPPONENT
    yield TerminalBoard(turn.board, game.record.rules, turn.dice, play=turn.made.play.steps, white=white)
    if turn.xgid:
        yield Text(turn.xgid)
    table = _table()
    for heading in ("", "play"):
        table.add_column(heading)
    for heading in ("equity", "behind the best"):
        table.add_column(heading, justify="right", no_wrap=True)
    for judged in turn.plays:
        behind = "" if judged is turn.plays[0] else f"{judged.loss:.3f}"
        behind += f" ±{judged.loss_stderr:.3f}" if judged.loss_stderr else ""
        table.add_row(
            "played" if judged is turn.made else "", Text(format_play(judged.play.steps)), f"{judged.equity:+z.3f}",
            behind,
        )  # fmt: skip
    yield table


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)


# --- JSON -------------------------------------------------------------------------------------------------------------


def as_json(groups: Sequence[Group], source: str, agent: str, depth: str) -> dict[str, Any]:
    """All figures as plain JSON values."""
    numbers = number_games(groups)
    return {
        "file": source,
        "agent": agent,
        "depth": depth,
        "luck_depth": "0ply",
        "marks": {name: least for name, _, least in MARKS},
        "groups": [
            {
                "match": group.match is not None,
                "totals": [_summary_as_json(summary) for summary in group.totals],
                "games": [_game_as_json(game, numbers[id(game)]) for game in group.games],
            }
            for group in groups
        ],
    }


def _game_as_json(game: GameAnalysis, number: int) -> dict[str, Any]:
    return {
        "number": number,
        "rules": game.record.preset,
        "options": dict(game.record.options),
        "ended": game.record.ended,
        "outcome": None if game.outcome is None else game.outcome._asdict(),
        "result": game.result,
        "start": game.start,
        "luck": game.luck,
        "lost": game.lost,
        "drift": game.drift,
        "players": [_summary_as_json(summary) for summary in game.summaries],
        "turns": [_turn_as_json(turn) for turn in game.turns],
    }


def _summary_as_json(summary: Summary) -> dict[str, Any]:
    return {
        "name": summary.name,
        "decisions": summary.decisions,
        "lost": summary.lost,
        "error_rate_mp": summary.error_rate,
        **{name: number for (name, _, _), number in zip(MARKS, summary.marks, strict=True)},
        "luck": summary.luck,
        "result": summary.points,
        "adjusted": summary.adjusted,
    }


def _turn_as_json(turn: JudgedTurn) -> dict[str, Any]:
    return {
        "number": turn.number,
        "player": (FIRST, "second")[turn.player],
        "position": format_position(turn.board),
        "xgid": turn.xgid or None,
        "dice": dice_text(turn),
        "cube": turn.cube,
        "play": None if turn.play is None else format_play(turn.play.steps),
        "forced": turn.forced,
        "equity_before": turn.before,
        "luck": turn.luck,
        "lost": None if turn.made is None else turn.loss,
        "mark": mark(turn.loss) or None,
        "plays": [
            {
                "play": format_play(judged.play.steps),
                "equity": judged.equity,
                "loss": judged.loss,
                "loss_stderr": judged.loss_stderr,
            }
            for judged in turn.plays
        ],
    }
