"""GNU Backgammon and pubeval: do the bridges to them say what these programs mean?"""

import subprocess
import sys
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import numpy as np
import pytest

from nardy_rl.agents import yardsticks as agents_yardsticks
from nardy_rl.agents.base import Decisions, choose
from nardy_rl.agents.lookahead import backed_up_equities, mean_over_rolls
from nardy_rl.agents.luck import best_plays, load_judge
from nardy_rl.agents.registry import make_agent
from nardy_rl.agents.search import SearchConfig
from nardy_rl.evaluation import arena
from nardy_rl.evaluation.arena import close, play_match
from nardy_rl.rules.board import flip
from nardy_rl.rules.notation import find_play, parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.reference import as_board
from nardy_rl.rules.scoring import outcome_names, outcome_points
from nardy_rl.rules.spec import OFFICIAL, PRESETS, make_rules
from nardy_rl.value import yardsticks
from nardy_rl.value.yardsticks import GNUBG, GnubgEvaluator

SHORT = PRESETS["short"]
START = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"
MIDDLE = (
    START,
    "bar:1 24:1 13:4 8:3 6:5 4:1 | 24:1 22:1 13:4 8:3 6:5 5:1",
    "off:2 18:1 6:4 5:3 4:3 3:2 | bar:1 23:2 9:2 8:2 6:3 5:3 4:2",
    "24:2 22:2 8:1 6:3 5:2 4:3 3:2 | 15:1 13:2 8:3 6:3 5:3 4:2 2:1",
    "10:2 8:1 6:4 5:3 4:3 3:2 | off:1 9:1 6:4 5:4 4:3 2:2",
    "off:9 6:2 5:1 3:2 1:1 | off:8 6:1 4:3 2:3",
)
needs_packages = pytest.mark.yardsticks


def boards_of(*texts):
    return np.array([parse_position(text) for text in texts], dtype=np.int8)


def seats(boards):
    return np.ones(len(boards), dtype=np.bool_)


def decision(text, roll):
    boards, dice = boards_of(text), np.array([roll], dtype=np.int8)
    return Decisions(boards, dice, seats(boards), legal_afterstates(boards, dice, SHORT))


def chosen(spec, text, roll):
    """The afterstate an agent chooses; the first of those it likes equally well."""
    asked = decision(text, roll)
    scores = make_agent(spec, SHORT).scores(asked)
    row = choose(scores, asked.afterstates.offsets, np.zeros(1, dtype=np.uint64))[0]
    return as_board(asked.afterstates.boards[row])


def after(play, text, roll):
    return find_play(play, parse_position(text), roll, SHORT).board


# --- what they are asked for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [*GNUBG, "pubeval"])
def test_they_refuse_other_games(spec):
    with pytest.raises(ValueError, match=f"{spec}.* short nardy only; give rules=short"):
        make_agent(spec, OFFICIAL)
    with pytest.raises(ValueError, match=f"{spec}.*scoring='backgammon' only, not 'four_level'"):
        make_agent(spec, make_rules("short", {"scoring": "four_level"}))


@pytest.mark.parametrize(("spec", "package"), [("gnubg:0", "gnubg"), ("gnubg:2", "gnubg"), ("pubeval", "gnubg_nn")])
def test_a_missing_package_is_named_with_its_cure(spec, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=rf'{spec}.*needs the package {package}; .* pip install -e "\.\[yardsticks\]"'):
        make_agent(spec, SHORT)


@pytest.mark.parametrize("spec", ["gnubg:3", "gnubg:", "gnubg:0@1ply"])
def test_other_plies_are_refused(spec):
    with pytest.raises(ValueError, match="0, 1 or 2 plies ahead; write gnubg:0, gnubg:1, gnubg:2"):
        make_agent(spec, SHORT)
    with pytest.raises(ValueError, match="0, 1 or 2 plies ahead"):
        load_judge(spec, SHORT)


@needs_packages
def test_options_that_leave_positions_worth_the_same_are_fine():
    rules = make_rules("short", {"opening_roll": "reroll", "next_game": "winner"})
    assert make_agent("gnubg:0", rules).rules is rules
    assert make_agent("pubeval", rules).rules is rules


# --- gnubg ------------------------------------------------------------------------------------------------------------


@needs_packages
@pytest.mark.parametrize("spec", GNUBG)
@pytest.mark.parametrize(("roll", "play"), [((3, 1), "8/5 6/5"), ((4, 2), "8/4 6/4"), ((6, 1), "13/7 8/7")])
def test_openings_that_everybody_plays(spec, roll, play):
    assert chosen(spec, START, roll) == after(play, START, roll)


@needs_packages
@pytest.mark.parametrize("spec", GNUBG)
def test_it_bears_off_two_checkers_with_one_roll(spec):
    """The package's own choice of a play forgets the second checker."""
    text = "off:13 3:1 1:1 | off:10 6:5"
    assert chosen(spec, text, (3, 1))[0][0] == 15
    text = "off:12 2:3 | off:10 6:5"
    assert chosen(spec, text, (4, 4))[0][0] == 15


@needs_packages
@pytest.mark.parametrize("plies", [0, 1, 2])
def test_equities_worked_out_by_hand(plies):
    """The last roll of a game, and last rolls but one.

    5 and 2 go off with 19 of the 36 rolls: 14 of two dice, one of them 5 or more and the other 2 or more, or 6-5; and
    2-2 to 6-6. A checker on 23 leaves the home of the opponent (24..19) unless it runs fewer than 5 pips: by 2-1, 3-1
    and 1-1, which is 5 of 36; 6-6 brings it home and one checker off. The opponent takes his last checker off next.
    """
    boards = boards_of(
        "off:13 5:1 2:1 | off:14 1:1",
        "off:14 1:1 | off:2 6:13",
        "off:14 1:1 | 6:15",
        "off:14 1:1 | 24:1 6:14",
        "23:1 6:14 | off:14 1:1",
    )
    values = GnubgEvaluator(f"gnubg:{plies}", SHORT).values(boards, seats(boards))
    names = outcome_names(SHORT)
    expected = np.zeros((5, len(names)))
    for row, results in enumerate([
        {"win single": 19 / 36, "lose single": 17 / 36},
        {"win single": 1},
        {"win gammon": 1},
        {"win backgammon": 1},
        {"lose backgammon": 5 / 36, "lose gammon": 30 / 36, "lose single": 1 / 36},
    ]):  # fmt: skip
        for name, probability in results.items():
            expected[row, names.index(name)] = probability
    np.testing.assert_allclose(values, expected, atol=1e-4 if plies else 0.02)


@needs_packages
@pytest.mark.parametrize("plies", [0, 1, 2])
def test_the_three_ways_to_ask_agree(plies):
    judge = load_judge(f"gnubg:{plies}", SHORT)
    boards = boards_of(*MIDDLE)
    dice = np.tile(np.array([[6, 1]], dtype=np.int8), (len(boards), 1))
    everything = legal_afterstates(boards, dice, SHORT)
    first = everything.boards[everything.offsets[:-1]]
    values, equities = judge.values(flip(first), ~seats(first)), judge.equities(flip(first), ~seats(first))
    assert values.dtype == np.float32
    np.testing.assert_allclose(values.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(values @ outcome_points(SHORT), equities, atol=1e-5)
    if plies < 2:  # hundreds of positions
        after_play = judge.after_play(boards, seats(boards), everything)
        assert np.array_equal(after_play[everything.offsets[:-1]], equities)


@needs_packages
def test_its_first_ply_is_ours():
    """The mean over the rolls of the best play by 0 plies: so perspective, gammons and dice are understood alike."""
    boards = boards_of(*MIDDLE)
    ours = backed_up_equities(GnubgEvaluator("gnubg:0", SHORT), boards, seats(boards), SHORT)
    gnubgs = GnubgEvaluator("gnubg:1", SHORT).equities(boards, seats(boards))
    np.testing.assert_allclose(gnubgs, ours, atol=1e-4)


@needs_packages
def test_its_second_ply_is_the_first_of_the_best_replies():
    boards = boards_of(*MIDDLE)
    replies = best_plays(GnubgEvaluator("gnubg:0", SHORT), boards, seats(boards), SHORT).boards.reshape(-1, 2, 26)
    assert (replies[:, :, 0] < 15).all()
    worth = -GnubgEvaluator("gnubg:1", SHORT).equities(flip(replies), ~seats(replies))
    gnubgs = GnubgEvaluator("gnubg:2", SHORT).equities(boards, seats(boards))
    np.testing.assert_allclose(gnubgs, mean_over_rolls(worth.reshape(-1, 21)), atol=1e-5)


@needs_packages
def test_results_do_not_depend_on_what_was_asked_before_nor_on_threads():
    boards = boards_of(*MIDDLE)
    judges = [GnubgEvaluator(spec, SHORT) for spec in ("gnubg:0", "gnubg:1")]
    alone = [np.concatenate([judge.equities(board[None], seats(boards[:1])) for board in boards]) for judge in judges]
    with ThreadPoolExecutor(4) as pool:
        jobs = [[pool.submit(judge.equities, boards[::-1], seats(boards)) for judge in judges] for _ in range(4)]
        for pair in jobs:
            for job, expected in zip(pair, alone, strict=True):
                assert np.array_equal(job.result()[::-1], expected)


@needs_packages
def test_it_says_nothing_on_the_standard_output():
    code = (
        "from nardy_rl.agents.registry import make_agent; from nardy_rl.rules.spec import PRESETS;"
        "make_agent('gnubg:1', PRESETS['short'])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b""


@needs_packages
def test_the_move_filter_decides_what_is_looked_at_deeper(monkeypatch):
    asked = decision(START, (4, 3))
    agent = make_agent("gnubg:2", SHORT, search=SearchConfig(candidates=[4, 2], within=[9.0]))
    seen = {}

    def counted(plies, equities):
        def count(boards, moved_first):
            seen[plies] = len(boards)
            return equities(boards, moved_first)

        return count

    for plies, judge in enumerate(agent._by_plies):
        monkeypatch.setattr(judge, "equities", counted(plies, judge.equities))
    scores = agent.scores(asked)
    assert seen == {1: 4, 2: 2}
    best = scores.argmax()
    two_plies = -GnubgEvaluator("gnubg:2", SHORT).equities(flip(asked.afterstates.boards[[best]]), np.array([False]))
    assert scores[best] == two_plies[0]


@needs_packages
def test_a_process_that_dies_is_no_answer():
    judge = GnubgEvaluator("gnubg:0", SHORT)
    boards = boards_of(START)
    judge.equities(boards, seats(boards))
    yardsticks._idle[-1].kill()
    yardsticks._idle[-1].wait()
    with pytest.raises(ChildProcessError, match="GNU Backgammon's process has ended unexpectedly"):
        judge.equities(boards, seats(boards))
    assert judge.equities(boards, seats(boards)) == pytest.approx(0.0676, abs=0.001)  # by the next one


@needs_packages
def test_a_closed_agent_gives_up_at_once_and_thinks_again_when_it_is_asked_again(monkeypatch):
    # A turn of a whole chunk of games takes gnubg:2 minutes, and Ctrl-C is not to wait for them.
    agent = make_agent("gnubg:1", SHORT)
    asked = decision(START, (3, 1))
    scores = agent.scores(asked)
    monkeypatch.setattr(agents_yardsticks, "_PART", 2)
    assert (agent.scores(asked) == scores).all(), "parts are of no account"
    judge = agent._by_plies[1]
    equities, parts = judge.equities, []

    def closed_meanwhile(*question):
        parts.append(question)
        agent.close()
        return equities(*question)

    monkeypatch.setattr(judge, "equities", closed_meanwhile)
    with pytest.raises(CancelledError, match="gnubg:1 was closed"):
        agent.scores(asked)
    assert len(parts) == 1
    monkeypatch.undo()
    close(agent)
    assert (agent.scores(asked) == scores).all()


@needs_packages
def test_an_interrupted_match_closes_gnubg(monkeypatch):
    agent = make_agent("gnubg:2", SHORT)
    equities, begun = agent._by_plies[2].equities, threading.Event()

    def slow(*question):
        begun.set()
        return equities(*question)

    def interrupted(done):
        assert begun.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(agent._by_plies[2], "equities", slow)
    # One chunk of pairs. The stand-in for as_completed interrupts while it is being played.
    monkeypatch.setattr(arena, "as_completed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        play_match(agent, make_agent("pips", SHORT), SHORT, arena.CHUNK_PAIRS, seed=1)
    assert agent._closings


# --- pubeval ----------------------------------------------------------------------------------------------------------


@needs_packages
@pytest.mark.parametrize(
    ("text", "roll", "play"),
    [
        (START, (3, 1), "8/5 6/5"),
        ("off:14 24:1 | off:13 2:2", (6, 5), "24/13"),
        ("off:13 3:1 1:1 | off:10 6:5", (3, 1), "3/off 1/off"),
    ],
)  # fmt: skip
def test_plays_of_pubeval(text, roll, play):
    assert chosen("pubeval", text, roll) == after(play, text, roll)


@needs_packages
def test_pubeval_ranks_by_the_position_before_the_roll():
    """Breaking contact is judged by the weights for contact; those for races give the result -0.7, staying +10.7."""
    text = "22:1 6:2 5:3 4:3 3:2 2:2 1:2 | off:2 5:1 4:5 1:7"
    assert chosen("pubeval", text, (4, 3)) == after("22/15", text, (4, 3))


@needs_packages
def test_pubeval_in_many_threads():
    agent = make_agent("pubeval", SHORT)
    asked = [decision(text, roll) for text in MIDDLE for roll in ((4, 3), (5, 5), (6, 2))]
    alone = [agent.scores(one) for one in asked]
    with ThreadPoolExecutor(4) as pool:
        for found, expected in zip(pool.map(agent.scores, asked * 50), alone * 50, strict=True):
            assert np.array_equal(found, expected)


@needs_packages
@pytest.mark.slow
def test_gnubg_beats_pubeval_by_063_points_a_game():
    """The figure of the literature, within what 1,000 games with the luck taken out leave to chance."""
    gnubg, pubeval = make_agent("gnubg:0", SHORT), make_agent("pubeval", SHORT)
    result = play_match(gnubg, pubeval, SHORT, pairs=500, seed=1, luck=load_judge("gnubg:0", SHORT))
    low, high = result.adjusted_ci95
    assert high - low < 0.08
    assert low - 0.02 < 0.63 < high + 0.02
