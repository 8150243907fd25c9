"""n-ply search against a plain recursion over single positions."""

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nardy_rl.agents.base import Decisions, choose
from nardy_rl.agents.registry import make_agent
from nardy_rl.agents.search import SearchAgent, SearchConfig
from nardy_rl.agents.value import ValueAgent
from nardy_rl.evaluation.arena import round_robin
from nardy_rl.rules.board import Boards
from nardy_rl.rules.dice import ROLL_WEIGHTS, ROLLS, roll_dice
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.reference import Board
from nardy_rl.rules.spec import CHECKERS, OFF, PRESETS, Rules, make_rules
from nardy_rl.training.selfplay import play_games
from nardy_rl.value.checkpoint import load_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator, Evaluator
from tests.agents.test_lookahead import HashEvaluator, as_tuples, passed, reference_plays, twin_equity

OFFICIAL = PRESETS["official"]
NET = "checkpoints/long-quick-v1"

OPEN = SearchConfig(candidates=[999], within=[math.inf], replies=999, replies_within=math.inf)
NARROW = SearchConfig(candidates=[5, 2], within=[0.5, 0.25], replies=2, replies_within=0.25)
ONE = SearchConfig(candidates=[2], within=[0.25], replies=1, replies_within=0.0)

LONG = {
    "opening": ("24:15 | 24:15", (6, 1)),
    "middle": ("24:6 20:2 16:2 13:1 9:2 4:2 | 24:7 22:1 18:2 15:2 10:1 5:2", (4, 3)),
    "double": ("24:5 22:1 20:1 15:1 14:1 7:2 6:1 5:1 4:1 3:1 | 24:4 21:2 20:2 6:3 5:2 4:2", (2, 2)),
    "bear-off": ("off:9 6:2 5:1 3:2 1:1 | off:8 6:1 4:3 2:3", (2, 1)),
    "may win": ("off:13 2:1 1:1 | 8:3 4:6 3:6", (2, 1)),
    "may win or draw": ("off:13 6:1 3:1 | off:13 4:1 2:1", (4, 2)),
    "last throw": ("off:12 5:2 1:1 | off:15", (6, 5)),
}
SHORT = {
    "opening": ("24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5", (3, 1)),
    "on the bar": ("bar:1 24:1 13:4 8:3 6:5 4:1 | 24:1 22:1 13:4 8:3 6:5 5:1", (4, 2)),
    "race": ("off:11 6:1 5:2 1:1 | off:12 4:2 2:1", (2, 1)),
}
FEW_PLAYS = {
    "two left": ("off:13 5:1 2:1 | off:13 4:1 3:1", (2, 1)),
    "three left": ("off:12 6:1 4:1 2:1 | off:13 6:1 5:1", (2, 1)),
    "a race for mars": ("off:13 6:1 4:1 | 7:1 2:14", (3, 2)),
    "last throw": ("off:12 5:2 1:1 | off:15", (6, 5)),
}


def decision(text: str, roll: tuple[int, int], seat: bool, rules: Rules) -> Decisions:
    boards = np.array([parse_position(text)], dtype=np.int8)
    dice = np.array([roll], dtype=np.int8)
    return Decisions(boards, dice, np.array([seat]), legal_afterstates(boards, dice, rules))


def joined(decisions: Iterable[Decisions]) -> Decisions:
    parts = list(decisions)
    boards, dice, seats = (np.concatenate([part[k] for part in parts]) for k in range(3))
    rows = np.concatenate([part.afterstates.boards for part in parts])
    counts = np.concatenate([part.afterstates.counts for part in parts])
    return Decisions(boards, dice, seats, Afterstates(rows, np.concatenate([[0], np.cumsum(counts)])))


def self_play(rules: Rules, evaluator: Evaluator, n: int) -> Decisions:
    """`n` decisions from a trained net's games."""
    games = play_games(evaluator, np.arange(12), 1, 0.0, rules)
    turn, game = np.nonzero(games.alive)
    some = np.linspace(0, len(turn) - 1, n).astype(np.int64)
    boards, dice = games.boards[games.alive][some], roll_dice(1, game, turn)[some]
    seats = games.moved_first[games.alive][some]
    return Decisions(boards, dice, seats, legal_afterstates(boards, dice, rules))


# --- the slow twin ----------------------------------------------------------------------------------------------------


class Twin:
    """Search as one would write it for a single position, over the reference rules."""

    def __init__(self, evaluator: Evaluator, rules: Rules, config: SearchConfig) -> None:
        self.evaluator, self.rules, self.config = evaluator, rules, config

    def value(self, board: Board, seat: bool, plies: int) -> float:
        """Equity of the player on roll."""
        total = 0.0
        for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
            plays = reference_plays(board, tuple(roll.tolist()), self.rules)
            total += weight * max(self.scores(board, plays, seat, plies - 1, root=False))
        return total

    def scores(self, board: Board, plays: list[Board], seat: bool, plies: int, root: bool = True) -> list[float]:
        """Equity of each play for its mover."""
        equity = [twin_equity(self.evaluator, board, after, seat, self.rules) for after in plays]
        alive = set(range(len(plays)))
        for ply in range(1, plies + 1):
            candidates, within = self.config.replies, self.config.replies_within
            if root:
                candidates = (self.config.candidates + 9 * self.config.candidates[-1:])[ply - 1]
                within = (self.config.within + 9 * self.config.within[-1:])[ply - 1]
            ranked = sorted((equity[k] for k in alive), reverse=True)
            bar = max(ranked[:candidates][-1], ranked[0] - within)
            alive = {k for k in alive if equity[k] >= bar}
            if root and len(alive) == 1:
                break
            for k in alive:
                if CHECKERS not in (plays[k][0][OFF], plays[k][1][OFF]):
                    equity[k] = -self.value(passed(plays[k]), not seat, ply)
            behind = math.nextafter(min(equity[k] for k in alive), -math.inf)
            equity = [e if k in alive else min(e, behind) for k, e in enumerate(equity)]
        return equity


def assert_twins_agree(text: str, roll: tuple[int, int], seat: bool, rules: Rules, plies: int, c: SearchConfig) -> None:
    evaluator = HashEvaluator(rules)
    decisions = decision(text, roll, seat, rules)
    plays = [as_tuples(row) for row in decisions.afterstates.boards]
    expected = Twin(evaluator, rules, c).scores(as_tuples(decisions.boards[0]), plays, seat, plies)
    actual = SearchAgent("it", evaluator, rules, plies, c).scores(decisions)
    np.testing.assert_allclose(actual, expected, atol=1e-12)


@pytest.mark.parametrize("config", [OPEN, NARROW, ONE], ids=["open", "narrow", "one"])
@pytest.mark.parametrize(("text", "roll"), LONG.values(), ids=LONG)
def test_1_ply_equals_plain_recursion(text: str, roll: tuple[int, int], config: SearchConfig) -> None:
    for seat in (True, False):
        if seat and text.endswith("off:15"):
            continue  # who has one throw left moved second
        assert_twins_agree(text, roll, seat, OFFICIAL, 1, config)


@pytest.mark.parametrize("config", [OPEN, NARROW], ids=["open", "narrow"])
@pytest.mark.parametrize(("text", "roll"), FEW_PLAYS.values(), ids=FEW_PLAYS)
def test_2_ply_equals_plain_recursion(text: str, roll: tuple[int, int], config: SearchConfig) -> None:
    assert_twins_agree(text, roll, False, OFFICIAL, 2, config)


@pytest.mark.parametrize("name", ["middle", "double", "bear-off"])
def test_2_ply_with_few_candidates_equals_plain_recursion(name: str) -> None:
    assert_twins_agree(*LONG[name], True, OFFICIAL, 2, ONE)


def test_3_ply_equals_plain_recursion() -> None:
    assert_twins_agree(*FEW_PLAYS["three left"], True, OFFICIAL, 3, NARROW)


@pytest.mark.parametrize(("text", "roll"), SHORT.values(), ids=SHORT)
def test_short_nardy(text: str, roll: tuple[int, int]) -> None:
    rules = make_rules("short")
    assert_twins_agree(text, roll, True, rules, 1, OPEN)
    assert_twins_agree(text, roll, False, rules, 1, NARROW)


def test_short_nardy_2_ply() -> None:
    assert_twins_agree(*SHORT["race"], True, make_rules("short"), 2, NARROW)


@pytest.mark.parametrize("preset", ["casual", "overview", "moscow"])
def test_other_scorings(preset: str) -> None:
    assert_twins_agree(*LONG["may win"], True, make_rules(preset), 1, OPEN)
    assert_twins_agree(*LONG["bear-off"], False, make_rules(preset), 1, NARROW)


# --- what it promises -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def net() -> tuple[Rules, CompiledEvaluator, CompiledEvaluator]:
    checkpoint = load_checkpoint(NET)
    rules = checkpoint.rules
    return rules, CompiledEvaluator(checkpoint.net, rules), CompiledEvaluator(checkpoint.net, rules, "int16")


def test_0_ply_is_the_value_agent(net: tuple[Rules, CompiledEvaluator, CompiledEvaluator]) -> None:
    rules, evaluator, _ = net
    decisions = self_play(rules, evaluator, 100)
    expected = ValueAgent("it", evaluator, rules).scores(decisions)
    np.testing.assert_array_equal(make_agent(f"{NET}@0ply", rules).scores(decisions), expected)


@pytest.mark.parametrize(("plies", "n"), [(1, 120), (2, 12)])
def test_batches_do_not_matter(net: tuple[Rules, CompiledEvaluator, CompiledEvaluator], plies: int, n: int) -> None:
    rules, evaluator, _ = net
    decisions = self_play(rules, evaluator, n)
    decisions = joined([decisions, *(decision(*LONG["middle"], seat, rules) for seat in (True, False, True))])
    agent = make_agent(f"{NET}@{plies}ply", rules)
    together = agent.scores(decisions)
    offsets = decisions.afterstates.offsets
    for k in range(len(decisions.boards)):
        boards, dice, seats = (part[k : k + 1] for part in decisions[:3])
        alone = agent.scores(Decisions(boards, dice, seats, legal_afterstates(boards, dice, rules)))
        np.testing.assert_array_equal(together[offsets[k] : offsets[k + 1]], alone)


def test_int16_inside_is_as_good_as_float32(net: tuple[Rules, CompiledEvaluator, CompiledEvaluator]) -> None:
    rules, float32, int16 = net
    decisions = self_play(rules, float32, 300)
    exact = SearchAgent("exact", float32, rules, 1).scores(decisions)
    fast = SearchAgent("fast", float32, rules, 1, inner=int16).scores(decisions)
    offsets = decisions.afterstates.offsets
    ties = np.zeros(len(decisions.boards), dtype=np.uint64)
    loss = exact[choose(exact, offsets, ties)] - exact[choose(fast, offsets, ties)]
    assert (loss > 0).mean() < 0.01
    assert loss.mean() < 1e-5


def test_the_default_filter_loses_little(net: tuple[Rules, CompiledEvaluator, CompiledEvaluator]) -> None:
    rules, evaluator, inner = net
    decisions = self_play(rules, evaluator, 300)
    offsets = decisions.afterstates.offsets
    ties = np.zeros(len(decisions.boards), dtype=np.uint64)
    everything = SearchAgent("open", evaluator, rules, 1, OPEN, inner).scores(decisions)
    filtered = SearchAgent("default", evaluator, rules, 1, None, inner).scores(decisions)
    static = SearchAgent("static", evaluator, rules, 0).scores(decisions)
    best, with_filter, without = (choose(scores, offsets, ties) for scores in (everything, filtered, static))
    assert (everything[best] - everything[with_filter]).mean() < 0.001
    assert (everything[best] - everything[without]).mean() > 0.003
    assert (filtered <= np.repeat(filtered[with_filter], np.diff(offsets))).all()


def test_dropped_afterstates_rank_behind_searched_ones() -> None:
    decisions = decision(*LONG["middle"], True, OFFICIAL)
    evaluator = HashEvaluator(OFFICIAL)
    static = SearchAgent("static", evaluator, OFFICIAL, 0).scores(decisions)
    searched = SearchAgent("it", evaluator, OFFICIAL, 1, NARROW).scores(decisions)
    everything = SearchAgent("it", evaluator, OFFICIAL, 1, OPEN).scores(decisions)
    kept = searched == everything
    assert 2 <= kept.sum() <= 5
    assert searched[~kept].max() < searched[kept].min()
    assert (searched[~kept] <= static[~kept]).all()


def test_equal_afterstates_all_go_on() -> None:
    """A filter that cut by the order of rows would make a player of an evaluator that knows nothing."""

    class Nothing(HashEvaluator):
        def equities(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float64]:
            return np.zeros(len(boards))

    decisions = decision(*LONG["middle"], True, OFFICIAL)
    assert len(decisions.afterstates.boards) > 10
    assert not SearchAgent("it", Nothing(OFFICIAL), OFFICIAL, 2, ONE).scores(decisions).any()


@pytest.mark.parametrize(
    ("text", "roll"),
    [
        ("24:15 | 24:15", (2, 1)),  # only one checker may leave the head, and it is the only one
        ("off:14 1:1 | 24:15", (2, 1)),  # wins
        ("off:12 5:2 1:1 | off:15", (6, 5)),  # the last throw
        ("24:14 12:1 | 23:1 22:1 21:1 20:1 19:1 18:1 11:9", (6, 6)),
    ],
)
def test_what_needs_no_search_gets_none(text: str, roll: tuple[int, int]) -> None:
    evaluator, inner = HashEvaluator(OFFICIAL), HashEvaluator(OFFICIAL)
    decisions = decision(text, roll, False, OFFICIAL)
    scores = SearchAgent("it", evaluator, OFFICIAL, 2, OPEN, inner).scores(decisions)
    assert inner.calls == 0
    np.testing.assert_array_equal(scores, SearchAgent("it", evaluator, OFFICIAL, 0).scores(decisions))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("candidates", [], r"search\.candidates=\[\] is not allowed; give 1 or more"),
        ("candidates", [8, 0], r"search\.candidates=\[8, 0\]"),
        ("within", [-0.1], r"search\.within=\[-0\.1\] is not allowed; give 0 or more points"),
        ("within", [math.nan], r"search\.within=\[nan\]"),
        ("replies", 0, r"search\.replies=0"),
        ("replies_within", -1.0, r"search\.replies_within=-1\.0"),
    ],
)
def test_filters_that_let_nothing_through(field: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SearchAgent("it", HashEvaluator(OFFICIAL), OFFICIAL, 1, SearchConfig(**{field: value}))


def test_depth_is_not_negative() -> None:
    with pytest.raises(ValueError, match="plies=-1 is not allowed; give 0 or more"):
        SearchAgent("it", HashEvaluator(OFFICIAL), OFFICIAL, -1)


# --- specs ------------------------------------------------------------------------------------------------------------


def test_spec_with_a_depth() -> None:
    config = SearchConfig(candidates=[3])
    agent = make_agent(f"{NET}@2ply", OFFICIAL, search=config)
    assert isinstance(agent, SearchAgent)
    assert (agent.spec, agent.plies, agent.config) == (f"{NET}@2ply", 2, config)


def test_a_folder_goes_before_a_way(tmp_path: Path) -> None:
    folder = tmp_path / "net@1ply"
    folder.symlink_to(Path(NET).resolve())
    assert isinstance(make_agent(str(folder), OFFICIAL), ValueAgent)
    agent = make_agent(f"{folder}@1ply", OFFICIAL)
    assert isinstance(agent, SearchAgent)
    assert agent.plies == 1


@pytest.mark.parametrize("way", ["", "ply", "-1ply", "1 ply", "10ply", "١ply", "deep"])
def test_unknown_way(way: str) -> None:
    with pytest.raises(ValueError, match=rf"no way to play called '{way}'; write @0ply to @4ply"):
        make_agent(f"{NET}@{way}", OFFICIAL)


def test_only_nets_have_depths() -> None:
    with pytest.raises(ValueError, match="random has no way to play but its own"):
        make_agent("random@1ply", OFFICIAL)
    with pytest.raises(ValueError, match="there is no such directory"):
        make_agent("no/where@1ply", OFFICIAL)


def test_a_round_robin_takes_the_filter() -> None:
    """With one candidate there is nothing to search, and the same games come out as at 0 plies."""
    specs = [f"{NET}@1ply", NET]
    (same,) = round_robin(specs, OFFICIAL, 3, seed=1, search=SearchConfig(candidates=[1]))
    assert not same.pair_points.any()
    (other,) = round_robin(specs, OFFICIAL, 3, seed=1)
    assert (other.turns != same.turns).any()
