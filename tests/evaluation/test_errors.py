"""The error rate, on a small made-up reference set whose losses are known."""

import dataclasses
import io
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from nardy_rl.agents.base import Decisions
from nardy_rl.agents.registry import make_agent
from nardy_rl.evaluation import errors
from nardy_rl.evaluation.errors import as_json, as_table, error_rate, notes, selection_bias, weighted_mean, worst_text
from nardy_rl.evaluation.reference_set import (
    PHASES,
    ReferenceSet,
    load_reference_set,
    phase,
    save_reference_set,
    sorted_afterstates,
)
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.notation import find_play, parse_board, parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import OFFICIAL, make_rules

ROOT = Path(__file__).parents[2]
SEED = 3


def positions() -> ReferenceSet:
    """Unforced decisions of random games, some of every phase, without losses."""
    games = new_games(np.arange(40), OFFICIAL)
    found = []
    while len(games):
        dice = roll(games, SEED, OFFICIAL)
        after = legal_afterstates(games.boards, dice, OFFICIAL)
        phases = phase(games.boards, OFFICIAL)
        for i in np.flatnonzero((after.counts > 1) & (games.turn % 7 == 3)):
            found.append((phases[i], games.boards[i], dice[i], games.moved_first[i]))
        bits = dice_lib.bits(SEED, dice_lib.SAMPLE, games.stream, games.turn)
        row = after.offsets[:-1] + (bits % after.counts.astype(np.uint64)).astype(np.int64)
        games, outcome, _ = apply(games, after.boards[row], OFFICIAL)
        games = games.take(outcome < 0)
    picked = [
        item for k in range(len(PHASES)) for item in [found_item for found_item in found if found_item[0] == k][:30]
    ]
    phases, boards, dice, seats = (np.array(column) for column in zip(*picked, strict=True))
    after = sorted_afterstates(boards, dice, OFFICIAL)
    empty = np.zeros(len(after.boards))
    shares = np.array([0.1, 0.4, 0.3, 0.05, 0.15])
    return ReferenceSet(boards, dice, seats, phases, after, empty, empty, shares, OFFICIAL, {})


@pytest.fixture(scope="module")
def reference() -> ReferenceSet:
    empty = positions()
    assert (np.bincount(empty.phase, minlength=len(PHASES)) > 5).all()
    random = np.random.default_rng(SEED)
    k = len(empty.loss)
    loss, stderr = random.exponential(0.1, k), np.where(random.random(k) < 0.6, 0.004, np.nan)
    best = empty.after.offsets[:-1] + random.integers(empty.after.counts)
    loss[best] = stderr[best] = 0.0
    meta = {
        "judge": {"run": "tiny", "games": 1_000},
        "rollout": {"truncate": 6},
        "rules": {},
        "shares": dict(zip(PHASES, empty.shares.tolist(), strict=True)),
        "afterstates_sha256": "0",
        "estimate_scale": 0.9,
    }
    return dataclasses.replace(empty, loss=loss, stderr=stderr, meta=meta)


class Knowing:
    """Knows the losses of a set, and ranks plays by some function of them."""

    spec = "knowing"
    rules = OFFICIAL
    gives_equities = False

    def __init__(self, reference, liking):
        self._liking = liking
        self._loss = {}
        for i in range(len(reference)):
            for row in range(reference.after.offsets[i], reference.after.offsets[i + 1]):
                self._loss[self._key(reference.decisions, i, row)] = reference.loss[row]
        self.batches = []

    def scores(self, decisions: Decisions):
        offsets = decisions.afterstates.offsets
        self.batches.append(len(decisions.boards))
        return np.array([
            self._liking(self._loss[self._key(decisions, i, row)])
            for i in range(len(decisions.boards))
            for row in range(offsets[i], offsets[i + 1])
        ])  # fmt: skip

    @staticmethod
    def _key(decisions, i, row):
        return decisions.boards[i].tobytes() + decisions.dice[i].tobytes() + decisions.afterstates.boards[row].tobytes()


def by_phase(values, reference):
    """The slow twin: phase means, weighted by hand."""
    total = 0.0
    for k, share in enumerate(reference.shares):
        own = [value for value, number in zip(values, reference.phase, strict=True) if number == k]
        total += share * sum(own) / len(own)
    return total


def test_who_always_picks_the_best_loses_nothing(reference):
    agent = Knowing(reference, lambda loss: -loss)
    found = error_rate(agent, reference)
    assert found.overall == (0.0, (0.0, 0.0))
    assert not found.loss.any()
    assert found.agrees.all()
    assert not found.estimated.any()
    assert found.worst(5) == []
    assert max(agent.batches) <= 100 < len(reference)


def test_who_always_picks_the_worst_loses_the_largest_losses(reference):
    found = error_rate(Knowing(reference, lambda loss: loss), reference)
    largest = [
        reference.loss[a:b].max() for a, b in zip(reference.after.offsets, reference.after.offsets[1:], strict=False)
    ]
    np.testing.assert_array_equal(found.loss, largest)
    assert found.overall.mean == pytest.approx(1000 * by_phase(largest, reference))
    assert not found.agrees.any()
    worst = found.worst(3)
    assert [found.loss[i] for i in worst] == sorted(largest, reverse=True)[:3]
    np.testing.assert_array_equal(found.estimated, np.isnan(reference.stderr[found.chosen]))


def test_a_random_player_loses_the_mean_of_the_losses(reference):
    found = error_rate(make_agent("random", OFFICIAL), reference)
    means, best = [], []
    for a, b in zip(reference.after.offsets, reference.after.offsets[1:], strict=False):
        means.append(reference.loss[a:b].mean())
        best.append(1 / (b - a))
    np.testing.assert_allclose(found.loss, means)
    np.testing.assert_allclose(found.agrees, best)
    assert found.overall.mean == pytest.approx(1000 * by_phase(means, reference))
    for k in range(len(PHASES)):
        own = 1000 * np.array(means)[reference.phase == k]
        assert found.in_phase(k).mean == pytest.approx(own.mean())


def test_intervals_cover_the_mean_they_should(reference):
    """Losses drawn anew many times: the interval of the weighted mean holds the true one in 95% of cases."""
    random = np.random.default_rng(1)
    scale = np.array([0.1, 0.5, 1.0, 2.0, 0.3])[reference.phase]
    truth = by_phase(scale, reference)
    hits = 0
    for _ in range(1000):
        low, high = weighted_mean(random.normal(scale, scale), reference).ci95
        hits += low <= truth <= high
    assert 915 < hits < 975


def test_selection_bias_is_what_noise_adds_to_the_best_of_two():
    """Two plays a decision, one truly 0.003 better: how far the noisy best one is above the truth, by simulation."""
    boards = np.array([parse_position("6:5 3:5 off:5 | 12:5 7:5 3:5")] * 2, dtype=np.int8)
    empty = positions()
    after = empty.after._replace(boards=empty.after.boards[:4], offsets=np.array([0, 2, 4]))
    two = dataclasses.replace(
        empty, boards=boards, dice=empty.dice[:2], moved_first=empty.moved_first[:2], phase=np.array([0, 0]),
        after=after, loss=np.array([0.0, 0.003, 0.003, 0.0]), stderr=np.array([0.0, 0.004, 0.004, 0.0]),
        shares=np.array([1.0]),
    )  # fmt: skip
    noise = np.random.default_rng(2).normal(0.003, 0.004, 400_000)
    assert selection_bias(two) == pytest.approx(np.maximum(-noise, 0).mean(), rel=0.02)
    exact = dataclasses.replace(two, stderr=np.zeros(4))
    assert selection_bias(exact) == 0.0


def test_a_phase_of_one_decision_has_no_interval(reference):
    few = np.flatnonzero(reference.phase == 0)[:1]
    one = error_rate(Knowing(reference, lambda loss: loss), reference)
    alone = dataclasses.replace(one, loss=one.loss[few], reference=dataclasses.replace(reference, phase=np.array([0])))
    assert alone.in_phase(0).ci95 == (-math.inf, math.inf)


def test_what_cannot_be_measured_is_refused(reference):
    with pytest.raises(ValueError, match="other rules"):
        error_rate(make_agent("random", make_rules("fnr")), reference)
    with pytest.raises(ValueError, match="NaN"):
        error_rate(Knowing(reference, lambda loss: math.nan), reference)


def test_shown_and_as_json(reference):
    found = error_rate(Knowing(reference, lambda loss: loss), reference)
    written = json.loads(json.dumps(as_json(found, worst=2)))
    assert written["loss_mp"] == pytest.approx(found.overall.mean)
    assert written["ci95"][0] < written["loss_mp"] < written["ci95"][1]
    assert written["decisions"] == len(reference)
    assert list(written["by_phase"]) == list(PHASES)
    assert sum(of_phase["decisions"] for of_phase in written["by_phase"].values()) == len(reference)
    assert written["best_chosen"] == 0.0
    first = written["worst"][0]
    i = found.worst(1)[0]
    board = parse_position(first["position"])
    np.testing.assert_array_equal(board, reference.boards[i])
    played = find_play(first["play"], board, map(int, first["dice"]), OFFICIAL)
    np.testing.assert_array_equal(played.board, reference.after.boards[found.chosen[i]])
    assert first["loss"] == found.loss[i]
    assert first["best"] != first["play"]

    shown = io.StringIO()
    Console(file=shown, width=80).print(as_table(found))
    for name in (*PHASES, "all"):
        assert name in shown.getvalue()
    assert f"{found.overall.mean:.2f}" in shown.getvalue()
    texts = worst_text(found, 2)
    assert len(texts) == 2
    assert first["play"] in texts[0]
    np.testing.assert_array_equal(parse_board(texts[0].split("\n", 2)[2]), reference.boards[i])
    assert "tiny after 1,000 games" in "\n".join(notes(found))


def test_a_set_without_rollouts_says_nothing_of_them(reference):
    meta = {"judge": {"gnubg": "1.1", "plies": 2}, "rules": {}, "afterstates_sha256": "0"}
    judged = dataclasses.replace(reference, stderr=np.zeros(len(reference.stderr)), meta=meta)
    found = error_rate(make_agent("pips", OFFICIAL), judged)
    shown = io.StringIO()
    Console(file=shown, width=80).print(as_table(found))
    assert "rolled out" not in shown.getvalue()
    assert [cell for cell in shown.getvalue().split("\n")[-3].split() if "%" in cell] == [
        f"{100 * weighted_mean(found.agrees, judged).mean:.1f}%"
    ]
    assert selection_bias(judged) == 0.0
    (note,) = notes(found)
    assert "GNU Backgammon looking 2 plies ahead" in note
    assert as_json(found)["reference"]["rollout"] is None


def test_batches_change_nothing(reference, monkeypatch):
    agent = make_agent("heuristic", OFFICIAL)
    whole = error_rate(agent, reference)
    monkeypatch.setattr(errors, "_BATCH", 7)
    np.testing.assert_array_equal(error_rate(agent, reference).loss, whole.loss)


def run(script, *arguments, cwd):
    command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=cwd)


def test_as_a_user_types_it(tmp_path):
    own = load_reference_set()
    assert len(own) >= 2_000
    assert np.nanmax(own.stderr) < 0.004
    assert (np.bincount(own.phase, minlength=len(PHASES)) >= 200).all()
    done = run("error_rate.py", "agent=random", "worst=1", "json=found.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert f"{found['loss_mp']:.2f}" in done.stdout
    assert found["loss_mp"] > 50
    assert "x to play" in done.stdout
    broken = tmp_path / "broken.npz"
    save_reference_set(dataclasses.replace(own, loss=own.loss + 1), broken)
    refused = run("error_rate.py", f"reference={broken}", cwd=tmp_path)
    assert refused.returncode == 2
    assert "never less" in refused.stderr
    assert "Traceback" not in refused.stderr
