"""A game between two agents as a record, to be looked at and analysed."""

from collections.abc import Mapping
from typing import Any

from nardy_rl.agents.base import Agent, choose, decide
from nardy_rl.game import MAX_TURNS, apply, new_games, roll
from nardy_rl.records.record import GameRecord, RecordedTurn, judge
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.notation import format_play
from nardy_rl.rules.reference import as_board, legal_plays
from nardy_rl.rules.spec import make_rules


def record_game(
    first: Agent, second: Agent, preset: str = "official", options: Mapping[str, Any] | None = None, *,
    seed: int, stream: int = 0,
) -> GameRecord:  # fmt: skip
    """Plays one game and writes it down; the one that the arena plays on this dice stream.

    Args:
        first: Moves first.
        second: Answers; named "NAME (2)" if it has the same spec.
        preset: Name of the rules.
        options: What differs from them.
        seed: Seed of dice and ties.
        stream: The dice stream.

    Raises:
        RuntimeError: If the game does not end within `MAX_TURNS` turns.
    """
    rules = make_rules(preset, options)
    games = new_games([stream], rules)
    turns: list[RecordedTurn] = []
    for number in range(1, MAX_TURNS + 1):
        decisions = decide(games, roll(games, seed, rules), rules)
        ties = dice_lib.bits(seed, dice_lib.TIES, games.stream, games.turn)
        scores = (second, first)[number % 2].scores(decisions)
        chosen = choose(scores, decisions.afterstates.offsets, ties)
        board, dice = as_board(games.boards[0]), (int(decisions.dice[0, 0]), int(decisions.dice[0, 1]))
        after = as_board(decisions.afterstates.boards[chosen[0]])
        steps = next(play.steps for play in legal_plays(board, dice, rules) if play.board == after)
        turns.append(RecordedTurn(dice, format_play(steps)))
        outcome = judge(board, after, number, rules)
        if outcome:
            answers = second.spec if second.spec != first.spec else f"{second.spec} (2)"
            return GameRecord(
                preset, options or {}, tuple(turns), first=first.spec, second=answers, **outcome._asdict()
            )
        games, _, _ = apply(games, decisions.afterstates.boards[chosen], rules)
    raise RuntimeError(f"the game on dice stream {stream}, seed {seed}, has not ended after {MAX_TURNS} turns")
