"""What is said of a game: against slow twins, and against each other (the figures add up to the result)."""

import dataclasses
import functools
import random
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.agents.base import Decisions, choose
from nardy_rl.agents.lookahead import backed_up_equities
from nardy_rl.agents.luck import roll_luck
from nardy_rl.agents.rollout import RolloutSettings, rollout_candidates
from nardy_rl.agents.search import SearchAgent, SearchConfig
from nardy_rl.analysis.game import MARKS, Judge, analyse, analyse_game, mark, worst
from nardy_rl.endgame.evaluator import TableEvaluator
from nardy_rl.endgame.tables import build_table
from nardy_rl.records.position_ids import Standing, parse_xgid
from nardy_rl.records.record import (
    DROPPED,
    FIRST,
    NOT_PLAYED,
    RESIGNED,
    SECOND,
    GameRecord,
    MatchRecord,
    RecordedTurn,
    RecordError,
    replay,
)
from nardy_rl.records.store import load
from nardy_rl.rules.board import flip
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.reference import legal_plays
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import OFF, OFFICIAL, PRESETS
from nardy_rl.value.checkpoint import CheckpointError, load_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator, last_throw_equities
from nardy_rl.value.net import NetConfig, make_net
from tests.records.games import cut_game

QUICK = Path(__file__).parents[2] / "checkpoints" / "long-quick-v1"
GOLDEN = Path(__file__).parents[1] / "data" / "golden"
FILES = ("official", "official-draw", "official-last-throw", "fnr", "casual", "overview", "short")


@functools.cache
def game(name):
    (record,) = load(GOLDEN / f"{name}.txt")
    return record


@functools.cache
def net(preset):
    trained = preset in ("official", "fnr")
    return CompiledEvaluator(
        load_checkpoint(QUICK).net if trained else make_net(NetConfig(16, 8), PRESETS[preset], 3), PRESETS[preset]
    )


def judge(preset="official", depth="0ply", **settings):
    return Judge(net(preset), PRESETS[preset], depth, **settings)


@functools.cache
def analysed(name, depth="0ply"):
    record = game(name)
    return analyse_game(record, judge(record.preset, depth))


def array(board):
    return np.array([board], dtype=np.int8)


def worth(evaluator, board, after, seat, rules):
    """What a play is worth to its mover, one board at a time: exact at the end of the game, else the net's word."""
    outcome, points = settle(array(board), array(after), np.array([seat]), rules)
    if outcome[0] >= 0:
        return points[0]
    if after[0][OFF] == 15:
        return -last_throw_equities(flip(array(after)), rules)[0]
    return -evaluator.equities(flip(array(after)), np.array([not seat]))[0]


# --- 0 plies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["official-draw", "fnr", "short"])
def test_losses_and_luck_by_hand(name):
    record, found = game(name), analysed(name)
    rules, evaluator = record.rules, net(record.preset)
    seen = 0
    for turn, played in list(zip(found.turns, replay(record).turns, strict=True))[-30:]:
        seat = turn.player == 0
        equities = {
            play.board: worth(evaluator, played.board, play.board, seat, rules)
            for play in legal_plays(played.board, played.dice, rules)
        }
        best = max(equities.values())
        assert turn.forced == (best == min(equities.values()))
        assert turn.loss == pytest.approx(best - equities[played.play.board], abs=1e-5)
        for judged in turn.plays:
            assert judged.equity == pytest.approx(equities[judged.play.board], abs=1e-5)
            assert judged.loss == pytest.approx(best - judged.equity, abs=1e-5)
        luck = roll_luck(evaluator, array(played.board), array(played.dice), np.array([seat]), rules)
        assert turn.luck == pytest.approx(luck[0], abs=1e-12)
        seen += not turn.forced
    assert seen > 5


@pytest.mark.parametrize("name", FILES)
def test_the_figures_add_up_to_the_result(name):
    """Result = start + luck - losses + what the net changes its mind by between a play and the next throw."""
    record, found = game(name), analysed(name)
    changes = 0.0
    for turn in found.turns[1:]:
        if turn.board[1][OFF] == 15:
            static = last_throw_equities(array(turn.board), record.rules)[0]
        else:
            static = net(record.preset).equities(array(turn.board), np.array([turn.player == 0]))[0]
        changes += turn.sign * (turn.before - static)
    assert found.result == pytest.approx(found.start + found.luck - found.lost + changes, abs=1e-3)
    assert found.drift == pytest.approx(changes, abs=1e-3)
    assert abs(changes) > 0.01


def test_an_exact_judge_never_changes_its_mind():
    table = build_table(5, OFFICIAL)
    exact = Judge(TableEvaluator(net("official"), table, OFFICIAL), OFFICIAL, "0ply")
    found = analyse_game(load(Path(__file__).with_name("close_race.txt"))[0], exact)
    start = next(k for k, turn in enumerate(found.turns) if table.covers(array(turn.board))[0])
    tail = found.turns[start:]
    assert len(tail) > 3
    assert max(turn.luck for turn in tail) > 0.5
    added = sum(turn.sign * (turn.luck - turn.loss) for turn in tail)
    # a table keeps its equities in steps of some 1e-5
    assert found.result == pytest.approx(tail[0].sign * tail[0].before + added, abs=1e-4)


def test_results_and_the_view_of_each_player():
    draw = analysed("official-draw")
    assert (draw.outcome.result, draw.result) == ("draw", 0.0)
    assert not draw.turns[-1].board[1][OFF] < 15, "the last turn is the second player's last throw"
    for name in FILES:
        found = analysed(name)
        first, second = found.summaries
        assert first.points == found.result == -second.points
        assert first.adjusted == pytest.approx(found.result - (first.luck - second.luck))
        assert second.adjusted == -first.adjusted
        assert first.lost - second.lost == pytest.approx(found.lost)
        assert first.decisions == sum(bool(turn.plays) for turn in found.turns[::2])
        assert first.error_rate == pytest.approx(1000 * first.lost / first.decisions)


def test_plays_come_best_first_and_the_one_made_is_among_them():
    turns = [turn for turn in analysed("official").turns if turn.plays]
    assert any(len(turn.plays) == 6 for turn in turns), "five, and the one made"
    for turn in turns:
        losses = [judged.loss for judged in turn.plays]
        assert losses == sorted(losses)
        assert losses[0] == 0
        assert turn.made.play == turn.play
        if turn.loss == 0:
            assert turn.made is turn.plays[0]


def test_forced_turns_are_no_decisions():
    turns = analysed("short").turns
    passes = [turn for turn in turns if not turn.play.steps]
    assert passes
    assert all(turn.forced and not turn.plays and turn.made is None and turn.loss == 0 for turn in passes)
    assert any(turn.luck < -0.001 for turn in passes), "a pass is bad luck"


# --- deeper -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plies", [1, 2])
def test_the_best_play_is_the_search_s(plies):
    record = dataclasses.replace(
        game("official"), turns=game("official").turns[:40], ended=None, winner=None, result=None, points=None
    )
    found = analyse_game(record, judge(depth=f"{plies}ply"))
    agent = SearchAgent("", net("official"), OFFICIAL, plies)
    agreed = 0
    for turn in found.turns:
        if not turn.plays:
            continue
        boards, dice, seat = array(turn.board), array(turn.dice), np.array([turn.player == 0])
        after = legal_afterstates(boards, dice, OFFICIAL)
        chosen = after.boards[
            choose(agent.scores(Decisions(boards, dice, seat, after)), after.offsets, np.array([0], dtype=np.uint64))
        ]
        best = turn.plays[0]
        agreed += bool((chosen == array(best.play.board)).all())
        if plies == 1:
            for judged in turn.plays if len(turn.plays) > 1 else ():
                behind = -backed_up_equities(net("official"), flip(array(judged.play.board)), ~seat, OFFICIAL)[0]
                assert judged.equity == pytest.approx(behind, abs=1e-6)
    decisions = sum(bool(turn.plays) for turn in found.turns)
    assert decisions > 20
    # at 2 plies a play that the filter dropped may turn out the best one, if it is the one that was made
    assert agreed == decisions if plies == 1 else agreed >= decisions - 3


def test_the_play_made_is_searched_as_deep_as_the_best():
    narrow = SearchConfig(candidates=[2], within=[0.005])
    found = analyse_game(game("official"), judge(depth="1ply", search=narrow))
    outside = [turn for turn in found.turns if turn.plays and turn.made is turn.plays[-1] and turn.loss > 0.02]
    assert len(outside) > 5
    for turn in outside:
        after = np.array([turn.play.board, turn.plays[0].play.board], dtype=np.int8)
        seat = np.array([turn.player == 1] * 2)
        made, best = -backed_up_equities(net("official"), flip(after), seat, OFFICIAL)
        assert turn.loss == pytest.approx(best - made, abs=1e-6)


def test_luck_does_not_depend_on_the_depth():
    shallow, deep = analysed("official"), analysed("official", "1ply")
    assert [turn.luck for turn in shallow.turns] == [turn.luck for turn in deep.turns]
    assert shallow.summaries[0].lost != deep.summaries[0].lost


def test_rollouts():
    settings = RolloutSettings(trials=72, min_trials=36, truncate=2)
    record = dataclasses.replace(game("official"), turns=game("official").turns[:12], ended=None, winner=None,
                                 result=None, points=None)  # fmt: skip
    shares = []
    roller = judge(depth="rollout", rollout=settings, candidates=2, threads=2)
    found = analyse_game(record, roller, shares.append)
    alone = analyse_game(record, judge(depth="rollout", rollout=settings, candidates=2))
    assert found.turns == alone.turns, "threads change nothing"
    assert shares[-1] == 1
    decided = [turn for turn in found.turns if turn.plays]
    assert {len(turn.plays) for turn in decided} <= {1, 2, 3}
    stream = next(k for k, turn in enumerate(decided) if turn.loss > 0)
    turn = decided[stream]
    plays = np.array([judged.play.board for judged in turn.plays], dtype=np.int8)
    again = rollout_candidates(
        net("official"), array(turn.board), np.array([turn.player == 0]), Afterstates(plays, np.array([0, len(plays)])),
        OFFICIAL, settings, streams=np.array([stream]),
    )  # fmt: skip
    assert [judged.equity for judged in turn.plays] == pytest.approx(again.equity.tolist(), abs=1e-12)
    assert [judged.loss_stderr for judged in turn.plays] == pytest.approx(again.loss_stderr.tolist(), abs=1e-12)
    assert turn.made.loss_stderr > 0


@pytest.mark.parametrize("depth", ["", "ply", "1", "-1ply", "5ply", "rollouts", "1PLY"])
def test_other_depths_are_refused(depth):
    with pytest.raises(ValueError, match="choose 0ply to 4ply, or rollout"):
        judge(depth=depth)


# --- records of every kind --------------------------------------------------------------------------------------------


def test_a_resigned_game_counts_up_to_the_last_throw():
    whole = game("official")
    turns = (*whole.turns[:20], RecordedTurn(whole.turns[20].dice, NOT_PLAYED))
    record = GameRecord(turns=turns, ended=RESIGNED, winner=SECOND, result="mars")
    found = analyse_game(record, judge())
    same = analysed("official").turns
    assert found.turns[:20] == same[:20]
    thrown = found.turns[20]
    assert (thrown.play, thrown.plays, thrown.loss) == (None, (), 0.0)
    assert (thrown.before, thrown.luck) == (same[20].before, same[20].luck)
    assert found.result == -2
    assert found.summaries[1].adjusted == pytest.approx(2 + found.luck)
    assert found.drift == pytest.approx(-2 - found.start - found.luck + found.lost)


def test_an_unfinished_game_and_one_without_a_turn():
    cut = analyse_game(GameRecord(turns=game("official").turns[:9]), judge())
    assert len(cut.turns) == 9
    assert (cut.result, cut.drift) == (None, None)
    assert (cut.summaries[0].points, cut.summaries[0].adjusted) == (None, None)
    assert cut.summaries[0].luck != 0
    shares = []
    empty = analyse_game(GameRecord(), judge(), shares.append)
    assert (empty.turns, empty.start, empty.luck, empty.lost) == ((), None, 0, 0)
    assert empty.summaries[0].error_rate is None
    given_up = analyse_game(GameRecord(ended=RESIGNED, winner=FIRST), judge())
    assert given_up.result == 1
    assert given_up.summaries[1].adjusted == -1


def test_luck_counts_with_the_cube():
    record = cut_game(random.Random(4), "short", DROPPED, 12)
    assert any(turn.doubled for turn in record.turns)
    found = analyse_game(record, judge("short"))
    cubes = [turn.cube for turn in replay(record).turns]
    assert [turn.cube for turn in found.turns] == cubes
    assert max(cubes) > 1
    own = sum(turn.cube * turn.luck for turn in found.turns[::2])
    other = sum(turn.cube * turn.luck for turn in found.turns[1::2])
    assert found.summaries[0].luck == pytest.approx(own)
    assert found.summaries[0].adjusted == pytest.approx(found.result - own + other)
    assert found.summaries[0].lost == pytest.approx(sum(turn.loss for turn in found.turns[::2])), "at cube 1"


def test_short_positions_have_an_xgid():
    record = GameRecord("short", turns=game("short").turns[:4])
    found = analyse_game(record, judge("short"), before=Standing((1.0, 4.0), 5.0, crawford=True))
    for turn in found.turns:
        position = parse_xgid(turn.xgid)
        assert (position.board, position.dice) == (turn.board, turn.dice)
        assert (position.seat, position.score) == ((1, (1, 4)) if turn.player == 0 else (0, (4, 1)))
        assert (position.length, position.crawford) == (5, True)
    whole = MatchRecord(("B", "A"), (dataclasses.replace(record, first="A", second="B"),), 7.0, start=(2.0, 3.0))
    (group,) = analyse([whole], lambda rules: judge("short"))
    assert parse_xgid(group.games[0].turns[0].xgid).score == (3, 2)
    assert {turn.xgid for turn in analysed("official").turns} == {""}


def match():
    first = dataclasses.replace(game("official"), first="Anna", second="Boris")
    second = dataclasses.replace(game("official-draw"), first="Boris", second="Anna")
    third = GameRecord(turns=first.turns[:5], first="Anna", second="Boris")
    return MatchRecord(("Boris", "Anna"), (first, second, third), start=(1.0, 0.0))


def test_totals_of_a_match_are_by_player():
    (group,) = analyse([match()], lambda rules: judge())
    totals = {summary.name: summary for summary in group.totals}
    one, two, three = group.games
    anna = [one.summaries[0], two.summaries[1], three.summaries[0]]
    assert totals["Anna"].decisions == sum(part.decisions for part in anna)
    assert totals["Anna"].lost == pytest.approx(sum(part.lost for part in anna))
    assert totals["Anna"].points == one.result
    assert totals["Anna"].adjusted == pytest.approx(anna[0].adjusted + anna[1].adjusted) == -totals["Boris"].adjusted
    assert totals["Anna"].marks == tuple(map(sum, zip(*(part.marks for part in anna), strict=True)))
    won = [max(0.0, -one.result), max(0.0, one.result)]
    assert group.score == (1.0 + won[0] + 0.5, won[1] + 0.5), "a draw gives both half a point (R5.4)"


def test_groups_rules_and_progress():
    asked, shares = [], []

    def judge_of(rules):
        asked.append(rules)
        return judge("short" if rules.geometry == "short" else "official")

    cut = GameRecord(turns=game("official").turns[:6])
    short = GameRecord("short", turns=game("short").turns[:6])
    groups = analyse([cut, short, match(), cut], judge_of, shares.append)
    assert [(group.match is not None, len(group.games)) for group in groups] == [(False, 2), (True, 3), (False, 1)]
    assert groups[0].score is None
    assert asked == [OFFICIAL, PRESETS["short"]]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)

    def unable(rules):
        raise CheckpointError("it plays long nardy, not short")

    with pytest.raises(
        CheckpointError, match=r'rules short \{"draw_points": 1\} cannot be judged: it plays long nardy'
    ):
        analyse([dataclasses.replace(short, options={"draw_points": 1})], unable)
    with pytest.raises(ValueError, match="made for other rules"):
        analyse_game(short, judge())
    with pytest.raises(RecordError, match="turn 2"):
        analyse_game(GameRecord(turns=(cut.turns[0], RecordedTurn((1, 2), "24/12"))), judge())


def test_names_are_safe_to_show_and_different():
    sly = GameRecord(first="A\x1b[31mb\u202ec", second="D")
    assert analyse_game(sly, judge()).names == ("A�[31mb�c", "D")
    assert analyse_game(GameRecord(first="A", second="A"), judge()).names == ("A", "A (2)")
    assert analyse_game(GameRecord(), judge()).names == ("first player", "second player")


def test_marks():
    assert [mark(loss) for loss in (0, 0.0199, 0.02, 0.05, 0.0999, 0.1, 2)] == [
        "", "", "inaccuracy", "mistake", "mistake", "blunder", "blunder",
    ]  # fmt: skip
    first, _ = analysed("official").summaries
    losses = [turn.loss for turn in analysed("official").turns[::2]]
    assert sum(first.marks) == sum(loss >= 0.02 for loss in losses) > 0
    assert first.marks[-1] == sum(loss >= MARKS[-1][2] for loss in losses)


def test_the_worst_come_first():
    games = [analysed("official"), analysed("official-draw")]
    found = worst(games, 7)
    losses = sorted((turn.loss for one in games for turn in one.turns), reverse=True)
    assert [turn.loss for _, turn in found] == losses[:7]
    assert all(any(turn is own for own in one.turns) for one, turn in found)
    assert worst(games, 0) == []
    everything = worst(games, 10**6)
    assert len(everything) == sum(loss > 0 for loss in losses)
