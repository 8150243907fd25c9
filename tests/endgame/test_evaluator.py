"""The evaluator with a table equals the table where it covers, and the evaluator elsewhere."""

from pathlib import Path

import numpy as np
import pytest

from nardy_rl.agents.lookahead import backed_up_equities
from nardy_rl.endgame.evaluator import TableEvaluator, table_of, with_table
from nardy_rl.endgame.positions import HomePositions
from nardy_rl.endgame.tables import BearoffTable, TableError, build_table, save_table
from nardy_rl.rules.board import Boards, flip, new_boards
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import Rules, make_rules
from nardy_rl.value.evaluator import CompiledEvaluator, afterstate_equities
from nardy_rl.value.net import NetConfig, make_net, value_points

OFFICIAL, MOSCOW, CASUAL = make_rules("official"), make_rules("moscow"), make_rules("casual")
TABLES = {rules: build_table(5, rules) for rules in (OFFICIAL, MOSCOW, CASUAL)}


def net(rules: Rules) -> CompiledEvaluator:
    return CompiledEvaluator(make_net(NetConfig(8, 4), rules, 0), rules)


def races(n: int, men: int = 7) -> tuple[Boards, np.ndarray]:
    """Bear-offs, of which some have more men than the table, after some boards that are none; and both seats."""
    generator = np.random.default_rng(5)
    rows = HomePositions(men).rows[1:]
    boards = np.stack([generator.choice(rows, n), generator.choice(rows, n)], axis=1)
    boards = np.concatenate([new_boards(3, OFFICIAL), boards])
    return boards, generator.random(len(boards)) < 0.5


@pytest.mark.parametrize("rules", TABLES)
def test_equities_are_the_table_or_the_net(rules: Rules) -> None:
    inner, table = net(rules), TABLES[rules]
    evaluator = TableEvaluator(inner, table, rules)
    boards, seats = races(200)
    covered = table.covers(boards)
    assert 20 < covered.sum() < 180
    found = evaluator.equities(boards, seats)
    np.testing.assert_array_equal(found[~covered], inner.equities(boards, seats)[~covered])
    np.testing.assert_array_equal(found[covered], table.lookup(boards, seats)[covered])


@pytest.mark.parametrize("rules", TABLES)
def test_after_play_sees_what_equities_see(rules: Rules) -> None:
    evaluator = TableEvaluator(net(rules), TABLES[rules], rules)
    boards, seats = races(200)
    after = legal_afterstates(boards, np.resize(ROLLS, (len(boards), 2)), rules)
    going_on = (after.boards[:, :, 0] < 15).all(axis=1)
    found = evaluator.after_play(boards, seats, after)
    expected = evaluator.equities(flip(after.boards), ~np.repeat(seats, after.counts))
    covered = TABLES[rules].covers(after.boards) & going_on
    assert 0 < covered.sum() < going_on.sum()
    np.testing.assert_array_equal(found[covered], expected[covered])
    np.testing.assert_allclose(found[going_on], expected[going_on], atol=1e-5)  # the net's two ways to compute


@pytest.mark.parametrize("rules", TABLES)
def test_one_ply_ahead_of_the_table_is_the_table(rules: Rules) -> None:
    """Through `afterstate_equities`, so that finished games and the last throw are in it."""
    table = TABLES[rules]
    boards, seats = races(300)
    covered = table.covers(boards)
    evaluator = TableEvaluator(net(rules), table, rules)
    ahead = backed_up_equities(evaluator, boards[covered], seats[covered], rules)
    error = np.abs(ahead - evaluator.equities(boards[covered], seats[covered]))
    assert error.max() < 2.5 / table.scale


def test_values_are_settled_where_the_equity_settles_them() -> None:
    boards, seats = races(200)
    for rules, settled in ((MOSCOW, True), (CASUAL, True), (OFFICIAL, False)):
        evaluator = TableEvaluator(net(rules), TABLES[rules], rules)
        values = evaluator.values(boards, seats)
        covered = TABLES[rules].covers(boards)
        np.testing.assert_array_equal(values[~covered], net(rules).values(boards, seats)[~covered])
        if settled:
            equities = values @ (value_points(rules) if values.shape[1] > 1 else [1.0])
            np.testing.assert_allclose(equities[covered], evaluator.equities(boards, seats)[covered], atol=1e-6)
            assert values.shape[1] == 1 or ((values >= 0).all() and np.allclose(values.sum(axis=1), 1.0))
        else:  # a draw is possible, and the equity does not say how likely
            np.testing.assert_array_equal(values, net(rules).values(boards, seats))


def test_mars_leaves_values_to_the_net() -> None:
    table = build_table(15, MOSCOW, points=2)
    rows = table.positions.rows
    full, less = rows[rows[:, 0] == 0], rows[(rows[:, 0] > 0) & (rows[:, 0] < 15)]
    boards = np.stack([np.stack([less[40], full[9]]), np.stack([less[40], less[50]])])
    seats = np.array([True, False])
    values = TableEvaluator(net(MOSCOW), table, MOSCOW).values(boards, seats)
    inner = net(MOSCOW).values(boards, seats)
    np.testing.assert_array_equal(values[0], inner[0])
    assert not np.array_equal(values[1], inner[1])


def test_non_contiguous_boards_will_do() -> None:
    rules = MOSCOW
    evaluator = TableEvaluator(net(rules), TABLES[rules], rules)
    boards, seats = races(20)
    after = legal_afterstates(boards, np.resize(ROLLS, (len(boards), 2)), rules)
    twice = flip(np.ascontiguousarray(flip(boards)))
    assert not twice.flags.c_contiguous
    expected = afterstate_equities(evaluator, boards, seats, after, rules)
    np.testing.assert_array_equal(afterstate_equities(evaluator, twice, seats, after, rules), expected)


def test_a_table_of_other_rules_is_refused() -> None:
    with pytest.raises(TableError, match="was built for draw 'none', not 'last_roll'"):
        TableEvaluator(net(OFFICIAL), TABLES[MOSCOW], OFFICIAL)


def test_with_table_wraps_only_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = net(MOSCOW)
    assert with_table(inner, MOSCOW) is inner
    assert table_of(inner) is None
    path, _ = save_table(TABLES[MOSCOW], tmp_path, {})
    monkeypatch.setenv("NARDY_RL_TABLES", str(tmp_path))
    wrapped = with_table(inner, MOSCOW)
    found = table_of(wrapped)
    assert isinstance(found, BearoffTable)
    assert found.name == str(path)
    assert with_table(inner, OFFICIAL) is inner
