"""The worked examples in a short form: they run, and what they count adds up. How well they learn is in the docs."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a file of examples/ or benchmarks/ as it is when run: its own folder comes first on the path."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(ROOT / "examples")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    yield import_module
    for name in ("compare", "env_speed", "ppo_steps", "td_afterstates"):
        if name not in before:
            sys.modules.pop(name, None)


def test_td_moves_its_weights_and_is_measured(example: Any) -> None:
    td = example("td_afterstates")
    once, again, longer = td.learn(64, seed=3), td.learn(64, seed=3), td.learn(192, seed=3)
    assert all(np.array_equal(*parts) for parts in zip(once, again, strict=True)), "a seed fixes what is learnt"
    assert all(np.isfinite(part).all() for part in longer)
    assert any((old != new).any() for old, new in zip(once, longer, strict=True))
    mean, half = td.points_per_game(lambda envs, _: td.look_ahead(envs, longer)[0], games=20, seed=1)
    assert -2 <= mean <= 2
    assert 0 < half < 2


def test_look_ahead_takes_the_best_of_each_game(example: Any) -> None:
    td = example("td_afterstates")
    envs = td.gymnasium.make_vec(td.ID, num_envs=5, action_mask=False)
    envs.reset(seed=1)
    weights = td.new_weights(197, np.random.default_rng(1))
    actions, features, hidden, values = td.look_ahead(envs, weights)
    rows, offsets = envs.unwrapped.afterstate_features()
    for game in range(5):
        of_game = np.tanh(rows[offsets[game] : offsets[game + 1]] @ weights[0]) @ weights[2]
        np.testing.assert_allclose(of_game.max(), values[game], rtol=1e-5)
        assert np.array_equal(rows[offsets[game] + actions[game]], features[game])
    np.testing.assert_allclose(hidden @ weights[2], values, rtol=1e-5)


def test_comparison_measures_both_values(example: Any) -> None:
    compare = example("compare")
    rows = compare.compare(
        compare.Options(approaches=["td", "own"], td_games=64, own_games=[32, 64], evaluation_games=20)
    )
    assert [row.games for row in rows] == [64, 32, 64]
    assert all(-2 <= row.mean <= 2 and row.seconds > 0 for row in rows)
    assert compare.table(rows).count("\n") == 4


def test_comparison_names_an_approach_it_does_not_know(example: Any) -> None:
    compare = example("compare")
    with pytest.raises(ValueError, match="approaches: 'dqn' is not allowed"):
        compare.compare(compare.Options(approaches=["dqn"]))


def test_speeds_without_the_yardsticks(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every row of ours gives a speed; a turn is a throw of either side, so a step of the learner's is nearly two."""
    for name in ("pyspiel", "jax", "pettingzoo", "nardy_rl.envs.aec"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails
    path = tmp_path / "speed.json"
    monkeypatch.setattr(sys, "argv", ["env_speed.py", "seconds=0.05", "runs=1", f"json={path}"])
    example("env_speed").main()
    results = json.loads(path.read_text(encoding="utf-8"))
    rows = {row["name"]: row["turns_per_s"] / row["steps_per_s"] for row in results["rows"]}
    for name, turns_per_step in rows.items():
        low, high = (0.5, 1.5) if "Steps" in name else (1.9, 2.1)
        assert low < turns_per_step < high, name
    assert len(rows) == 9
    assert len(results["left_out"]) == 6
    assert "left out: backgammon, OpenSpiel" in capsys.readouterr().out


@pytest.mark.extras
def test_ppo_learns_and_draws_its_curve(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ppo = example("ppo_steps")
    curve = ppo.learn(ppo.Options(steps=8192, evaluations=2, evaluation_games=6, final_games=8, seed=3))
    assert [point.steps for point in curve] == sorted(point.steps for point in curve)
    assert len(curve) == len(capsys.readouterr().out.splitlines()) == 2
    assert all(-2 <= point.mean <= 2 and point.seconds > 0 for point in curve)
    ppo.draw(curve, tmp_path / "curve.svg")
    assert "</svg>" in (tmp_path / "curve.svg").read_text(encoding="utf-8")


@pytest.mark.extras
def test_ppo_sees_what_the_steps_environment_shows(example: Any) -> None:
    ppo = example("ppo_steps")
    env = ppo.make_env()
    vector, info = env.reset(seed=1)
    for _ in range(300):
        assert env.observation_space.contains(vector)
        assert vector[197:203].sum() * 2 == len(env.unwrapped._left)
        assert vector[203:].sum() == 1
        vector, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        if over:
            vector, info = env.reset()


@pytest.mark.extras
def test_pettingzoo_is_counted_too(example: Any) -> None:
    speed = example("env_speed")
    count = next(speed.play_pettingzoo("official"))
    assert count.turns == count.steps == speed.CHUNK
