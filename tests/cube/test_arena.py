"""Games and matches with the cube."""

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from nardy_rl.agents.registry import make_agent
from nardy_rl.config import KEPT_NETS, EvaluateConfig
from nardy_rl.cube.decision import OPPONENT
from nardy_rl.cube.met import match_table
from nardy_rl.cube.player import PASS, TAKE, CubeConfig, CubePlayer
from nardy_rl.evaluation import arena, cube_arena
from nardy_rl.evaluation.arena import play_games, play_match
from nardy_rl.evaluation.cube_arena import (
    check_cube,
    evaluate,
    matches_table,
    play_matches,
    play_money,
    results_as_json,
)
from nardy_rl.rules.spec import PRESETS

ROOT = Path(__file__).parents[2]
SHORT = PRESETS["short"]
NET = make_agent(str(ROOT / KEPT_NETS["short"]), SHORT)
RANDOM = make_agent("random", SHORT)
TABLE = match_table()
FIELDS = ("outcome", "points", "turns", "cube")


def money(agent=NET, doubles=True, **config):
    return CubePlayer(agent, CubeConfig(**config), doubles=doubles)


def at_match(agent=NET, doubles=True, **config):
    return CubePlayer(agent, CubeConfig(**config), TABLE, doubles=doubles)


class Eager(CubePlayer):
    """Doubles up to 8 whenever it may, and answers as it is told."""

    answer = TAKE

    def __init__(self):
        super().__init__(RANDOM, CubeConfig())

    def wants_to_double(self, boards, moved_first, scores):
        return (scores.owner != OPPONENT) & (scores.cube < 8)

    def answers(self, boards, moved_first, scores):
        return np.full(len(boards), self.answer)


class Passer(Eager):
    answer = PASS


def same(one, two, fields=FIELDS):
    return all((getattr(one, name) == getattr(two, name)).all() for name in fields)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(arena, "CHUNK_PAIRS", 16)


@pytest.mark.parametrize("plays", ["cubeless", "cubeful"])
def test_a_bot_against_itself_is_exactly_zero(plays):
    result = play_money(money(plays=plays), money(plays=plays), SHORT, 30, seed=1)
    assert (result.pair_points == 0).all()
    assert result.cube.max() >= 4, "cubes were turned, and turned back"
    matches = play_matches(at_match(plays=plays), at_match(plays=plays), SHORT, 10, 3, seed=1)
    assert (matches.won.mean(axis=1) == 0.5).all()


@pytest.mark.usefixtures("small_chunks")
def test_any_number_of_threads_gives_the_same_results():
    one, three = (play_money(money(), money(RANDOM), SHORT, 40, 7, threads) for threads in (1, 3))
    assert same(one, three)
    one, three = (play_matches(at_match(), at_match(RANDOM), SHORT, 40, 3, 7, threads) for threads in (1, 3))
    assert same(one, three, ("score", "games"))


def test_swapping_the_agents_mirrors_the_match():
    ab, ba = (play_money(*players, SHORT, 20, 3) for players in ((money(), money(RANDOM)), (money(RANDOM), money())))
    assert same(ab.swapped(), ba)
    ab, ba = (
        play_matches(*players, SHORT, 20, 3, 3)
        for players in ((at_match(), at_match(RANDOM)), (at_match(RANDOM), at_match()))
    )
    assert (ab.score[:, ::-1, ::-1] == ba.score).all()
    assert ab.win == 1 - ba.win


def test_without_doubles_it_is_the_cubeless_match():
    a, b = NET, make_agent("pips", SHORT)
    cubeless = play_match(a, b, SHORT, 25, seed=4, luck=None)
    played = play_money(money(a, doubles=False), money(b), SHORT, 25, seed=4)
    assert same(cubeless, played, FIELDS[:3])
    assert (played.cube == 1).all()
    assert cubeless.cube is None


def test_the_cube_pays():
    result = play_money(money(), money(doubles=False), SHORT, 250, seed=1)
    assert result.ci95[0] > 0.05
    assert set(np.unique(result.cube)) == {1, 2}
    matches = play_matches(at_match(), at_match(doubles=False), SHORT, 120, 5, seed=1)
    assert matches.ci95[0] > 0.52


def test_an_agent_that_gives_no_chances_never_doubles_and_takes_everything():
    result = play_money(money(RANDOM), money(RANDOM), SHORT, 5, seed=2)
    assert (result.cube == 1).all()
    result = play_money(money(), money(RANDOM), SHORT, 25, seed=2)
    assert (result.cube == 2).mean() > 0.9, "the net doubles, and is never redoubled"
    assert (np.abs(result.points) >= result.cube).all()


def test_passed_doubles_end_the_game_at_the_cube_as_it_stood():
    result = play_money(Eager(), Passer(), SHORT, 3, seed=1)
    # Both double as soon as they may, which is not before the first throw. Where A moved first, B doubles, A takes and
    # redoubles, and B passes at 2; where B did, he passes A's first double.
    assert result.turns.tolist() == [[2, 1]] * 3
    assert result.cube.tolist() == [[2, 1]] * 3
    assert result.points.tolist() == [[2, 1]] * 3
    assert result.outcome.tolist() == [[4, 4]] * 3, "single wins"


def test_points_count_the_cube():
    result = play_money(Eager(), Eager(), SHORT, 10, seed=5)
    assert (result.cube == 8).all()
    assert (result.points == 8 * (result.outcome - 3)).all()


def test_jacoby_counts_gammons_only_with_a_turned_cube():
    plain = play_money(money(doubles=False), money(RANDOM), SHORT, 20, seed=6)
    jacoby = play_money(money(doubles=False, jacoby=True), money(RANDOM, jacoby=True), SHORT, 20, seed=6)
    assert np.abs(plain.points).max() > 1
    assert (jacoby.points == np.sign(plain.points)).all()
    assert (jacoby.outcome == plain.outcome).all()


def test_luck_counts_the_cube():
    from nardy_rl.agents.luck import load_judge  # noqa: PLC0415

    judge = load_judge(ROOT / KEPT_NETS["short"], SHORT)
    result = play_money(money(), money(doubles=False), SHORT, 60, seed=1, luck=judge)
    assert result.adjusted.std() < result.points.std() / 1.5
    cubeless = play_match(NET, RANDOM, SHORT, 5, seed=4, luck=judge)
    played = play_money(money(doubles=False), money(RANDOM), SHORT, 5, seed=4, luck=judge)
    assert played.adjusted == pytest.approx(cubeless.adjusted)


def test_matches_end_at_their_length_and_have_one_crawford_game(monkeypatch):
    games = []
    play = cube_arena.play_games_with_cube

    def watched(first, second, stream, *arguments, away, crawford, **options):
        results = play(first, second, stream, *arguments, away=away, crawford=crawford, **options)
        games.extend(zip(stream.tolist(), away.tolist(), crawford.tolist(), results.cube.tolist(), strict=True))
        return results

    monkeypatch.setattr(cube_arena, "play_games_with_cube", watched)
    length, pairs = 5, 12
    result = play_matches(at_match(), at_match(doubles=False), SHORT, pairs, length, seed=9)
    winner, loser = result.score.max(axis=2), result.score.min(axis=2)
    assert (winner >= length).all()
    assert (loser < length).all()
    assert (result.won == (result.score[..., 0] >= length)).all()
    assert result.games.sum() == len(games)
    assert result.games.max() <= 2 * length - 1
    for one_order in (games[: result.games[:, 0].sum()], games[result.games[:, 0].sum() :]):
        by_match = {}
        for stream, away, crawford, cube in sorted(one_order):
            by_match.setdefault(stream // (2 * length), []).append((min(away), max(away), crawford, cube))
        assert len(by_match) == pairs
        for row in by_match.values():
            at_one = [k for k, (least, most, _, _) in enumerate(row) if least == 1 and most > 1]
            crawford = [k for k, (*_, crawford, _) in enumerate(row) if crawford]
            assert crawford == at_one[:1], "the first game with one player alone at match point, and no other"
            assert all(row[k][3] == 1 for k in crawford)


def test_a_match_to_one_point_is_a_game_without_a_cube():
    result = play_matches(at_match(), at_match(RANDOM), SHORT, 10, 1, seed=3)
    games = play_games(NET, RANDOM, 2 * np.arange(10), SHORT, 3)
    assert (result.games == 1).all()
    assert (result.won[:, 0] == (games.points > 0)).all()


def test_the_way_through_the_config():
    config = EvaluateConfig(
        agents=[str(ROOT / KEPT_NETS["short"]), "random", "pips"], rules="short", pairs=3, cube="match", length=2
    )
    results = evaluate(config, SHORT)
    assert [(result.b, result.length) for result in results] == [("random", 2), ("pips", 2), ("pips", 2)]
    found = results_as_json(results, config)
    assert found["cube"] == "match"
    assert found["doubling"]["jacoby"] is False
    assert found["matches"][0]["win"] == results[0].win
    console = Console(width=80)
    with console.capture() as text:
        console.print(matches_table(results))
    assert f"{100 * results[0].win:.1f}%" in text.get()
    config.cube = "none"
    (first, *_) = evaluate(config, SHORT)
    assert same(first, play_match(NET, RANDOM, SHORT, 3, seed=1), FIELDS[:3])
    assert "cube" not in results_as_json([first], config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cube": "maybe"}, "cube='maybe' is not allowed; choose one of none, money, match"),
        ({"cube": "match", "length": 0}, "length=0 is not allowed"),
        ({"cube": "match", "luck": "x"}, "luck is judged in points"),
        ({"cube": "money", "doubling": CubeConfig(max_cube=3)}, "^max_cube=3 is not allowed; give a power"),
        ({"cube": "money", "doubling": CubeConfig(efficiency=2)}, "^efficiency=2 is not allowed"),
        ({"cube": "money", "doubling": CubeConfig(plays="well")}, "^plays='well' is not allowed"),
    ],
)
def test_mistakes(change, message):
    with pytest.raises(ValueError, match=message):
        check_cube(EvaluateConfig(**change), SHORT)


def test_long_nardy_has_no_cube():
    with pytest.raises(ValueError, match="belongs to short nardy"):
        check_cube(EvaluateConfig(cube="money"), PRESETS["official"])
