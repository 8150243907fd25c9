"""Games written down are the games of the arena."""

import numpy as np
import pytest

from nardy_rl.agents.registry import make_agent
from nardy_rl.analysis.recorded import record_game
from nardy_rl.evaluation.arena import play_games
from nardy_rl.records.record import FIRST, NOBODY, replay
from nardy_rl.rules.spec import make_rules


@pytest.mark.parametrize(("preset", "names"), [("fnr", ("pips", "heuristic")), ("short", ("random", "pips"))])
def test_it_is_the_game_of_the_arena(preset: str, names: tuple[str, str]) -> None:
    rules = make_rules(preset)
    first, second = (make_agent(name, rules) for name in names)
    played = play_games(first, second, np.arange(3), rules, seed=9)
    for stream in range(3):
        record = record_game(first, second, preset, seed=9, stream=stream)
        outcome = replay(record).outcome
        assert outcome is not None
        assert (record.first, record.second) == names
        assert len(record.turns) == played.turns[stream]
        sign = 0 if outcome.winner == NOBODY else 1 if outcome.winner == FIRST else -1
        assert sign * outcome.points == played.points[stream]


def test_options_and_an_agent_against_itself() -> None:
    options = {"scoring": "four_level", "draw": "none"}
    agent = make_agent("bearoff", make_rules("official", options))
    record = record_game(agent, agent, options=options, seed=2)
    assert (record.first, record.second) == ("bearoff", "bearoff (2)")
    assert record.rules == make_rules("official", options)
    assert replay(record).outcome is not None
