"""The learners: targets of real games, one batch overfitted, the hand-written gradient against torch."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nardy_rl.agents.lookahead import backed_up_values
from nardy_rl.agents.rollout import RolloutSettings, rollout
from nardy_rl.config import Schedule, TrainConfig
from nardy_rl.rules.dice import roll_dice
from nardy_rl.rules.reference import legal_plays
from nardy_rl.rules.spec import make_rules
from nardy_rl.training.batched import BatchedTrainer, make_samples, rollout_samples
from nardy_rl.training.online import OnlineTrainer, clear_traces, move_weights, new_traces, value_and_trace
from nardy_rl.training.selfplay import expected_values, play_games, rolled_out_equities
from nardy_rl.value.checkpoint import load_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator
from nardy_rl.value.features import active_rows
from nardy_rl.value.net import EQUITY_SCALE, NetConfig, make_net, tensors, value_points, value_width
from nardy_rl.value.stages import stages
from tests.value.test_evaluator import lively_net

ROOT = Path(__file__).parents[2]
OFFICIAL = make_rules("official")


@pytest.mark.parametrize("preset", ["official", "overview", "casual"])
@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_samples_equal_the_obvious_loop(preset: str, lam: float) -> None:
    """Targets of whole games, against a loop over one game that turns values around at each change of side."""
    rules = make_rules(preset)
    evaluator = CompiledEvaluator(lively_net(rules, NetConfig(8, 4)), rules)
    games = play_games(evaluator, np.arange(6), 3, 0.0, rules)
    samples = make_samples(games, evaluator, lam, rules)
    width = value_width(rules)

    def turned(value: np.ndarray) -> np.ndarray:
        return -value if width == 1 else value[::-1]

    targets, finals = np.zeros((*games.alive.shape, width)), np.zeros((*games.alive.shape, width))
    for game, length in enumerate(games.length):
        boards, seats = games.boards[:length, game], games.moved_first[:length, game]
        values = evaluator.values(boards, seats)
        result = games.equity[[game]] if width == 1 else np.eye(width)[games.outcome[game]]
        target = final = result
        targets[length - 1, game] = finals[length - 1, game] = result
        for t in range(length - 2, -1, -1):
            target = turned((1 - lam) * values[t + 1] + lam * target)
            final = turned(final)
            targets[t, game], finals[t, game] = target, final
    np.testing.assert_allclose(samples.target, targets[games.alive], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(samples.final, finals[games.alive], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("preset", ["official", "casual"])
@pytest.mark.parametrize("lam", [0.0, 0.8, 1.0])
def test_expected_backups_take_the_place_of_the_roll(preset: str, lam: float) -> None:
    """Half of the positions searched: each return is its backup plus lambda times what came out differently later."""
    rules = make_rules(preset)
    evaluator = CompiledEvaluator(lively_net(rules, NetConfig(8, 4)), rules)
    games = play_games(evaluator, np.arange(2), 3, 0.0, rules)
    expected = expected_values(evaluator, games, 3, 0.5, rules)
    samples = make_samples(games, evaluator, lam, rules, expected)
    width = value_width(rules)
    searched = ~np.isnan(expected[..., 0])
    assert not searched[~games.alive].any()
    assert 0.35 < searched[games.alive].mean() < 0.65

    def turned(value: np.ndarray) -> np.ndarray:
        return -value if width == 1 else value[::-1]

    targets = np.zeros((*games.alive.shape, width))
    for game, length in enumerate(games.length):
        boards, seats = games.boards[:length, game], games.moved_first[:length, game]
        values = evaluator.values(boards, seats)
        backups = backed_up_values(evaluator, boards, seats, rules)
        surprise = np.zeros(width)  # of the next position: its return less its value
        for t in range(length - 1, -1, -1):
            if t < length - 1:
                sampled = turned(values[t + 1])
            else:
                sampled = games.equity[[game]] if width == 1 else np.eye(width)[games.outcome[game]]
            targets[t, game] = (backups[t] if searched[t, game] else sampled) + lam * turned(surprise)
            surprise = targets[t, game] - values[t]
    np.testing.assert_allclose(samples.target, targets[games.alive], rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("preset", ["official", "casual"])
def test_rolled_out_positions_are_learnt_by_their_equity(preset: str) -> None:
    rules = make_rules(preset)
    net = lively_net(rules, NetConfig(8, 4))
    evaluator = CompiledEvaluator(net, rules)
    games = play_games(evaluator, np.arange(3), 3, 0.2, rules)
    equities = rolled_out_equities(evaluator, games, 3, 0.03, 36, 2, rules)
    samples = rollout_samples(games, evaluator, equities, rules)
    rolled = ~np.isnan(equities)
    assert not rolled[~games.alive].any()
    learnt = rolled & ~games.explored
    assert 3 <= learnt.sum() == len(samples.boards) < rolled.sum()
    np.testing.assert_array_equal(samples.boards, games.boards[learnt])
    np.testing.assert_array_equal(samples.target[:, 0], equities[learnt])
    settings = RolloutSettings(trials=36 * 12, min_trials=36 * 12, truncate=2, seed=8)
    again = rollout(evaluator, samples.boards, samples.moved_first, rules, settings)
    close = 4 * np.hypot(again.stderr, again.stderr * np.sqrt(12)) + 1e-4
    assert (np.abs(samples.target[:, 0] - again.equity) < close).all()

    config = TrainConfig(algorithm="rollouts", net=NetConfig(8, 4))
    trainer = BatchedTrainer(config, rules, net)
    output = net(*tensors(samples.boards, samples.moved_first, net.config))
    loss = trainer._loss(output, torch.from_numpy(samples.target)).item()
    trainer.close()
    off = evaluator.equities(samples.boards, samples.moved_first) - samples.target[:, 0]
    scale = EQUITY_SCALE if value_width(rules) == 1 else 1.0
    assert loss == pytest.approx(((off / scale) ** 2).mean(), rel=1e-3)


def test_results_less_luck_vary_less_around_the_same_mean() -> None:
    """Of the opening position: lambda 1 without and with backups at every position."""
    net = load_checkpoint(ROOT / "checkpoints" / "long-quick-v1").net
    evaluator = CompiledEvaluator(net, OFFICIAL, precision="int16")
    games = play_games(evaluator, np.arange(60), 11, 0.0, OFFICIAL)
    points = value_points(OFFICIAL)
    results = make_samples(games, evaluator, 1.0, OFFICIAL).target[:60] @ points
    expected = expected_values(evaluator, games, 11, 1.0, OFFICIAL)
    less_luck = make_samples(games, evaluator, 1.0, OFFICIAL, expected).target[:60] @ points
    assert less_luck.std() < 0.4 * results.std()
    assert abs(less_luck.mean() - results.mean()) < 3 * results.std() / np.sqrt(60)


def test_games_are_chained_by_legal_plays() -> None:
    """Every board of a trajectory is a legal afterstate, flipped, of the one before; a game ends once."""
    evaluator = CompiledEvaluator(make_net(NetConfig(8, 4), OFFICIAL, 0), OFFICIAL)
    games = play_games(evaluator, np.arange(4), 5, 0.3, OFFICIAL)
    for game, length in enumerate(games.length):
        thrown = roll_dice(5, np.full(length, game), np.arange(length))
        for t in range(length - 1):
            board, following = games.boards[t, game], games.boards[t + 1, game]
            plays = legal_plays(board, thrown[t], OFFICIAL)
            assert following[::-1].tolist() in [[list(row) for row in play.board] for play in plays]
    assert 0.2 < games.explored[games.alive].mean() < 0.4


def test_explored_turns_are_not_learnt_and_not_carried_back() -> None:
    evaluator = CompiledEvaluator(lively_net(OFFICIAL, NetConfig(8, 4)), OFFICIAL)
    games = play_games(evaluator, np.arange(8), 5, 0.2, OFFICIAL)
    samples = make_samples(games, evaluator, 1.0, OFFICIAL)
    learnt = games.alive & ~games.explored
    assert len(samples.target) == learnt.sum()
    target = np.zeros((*games.alive.shape, 5), np.float32)
    target[learnt] = samples.target
    before_explored = np.argwhere(learnt[:-1] & games.explored[1:])
    assert len(before_explored) > 20
    for t, game in before_explored:
        value = evaluator.values(games.boards[t + 1, [game]], games.moved_first[t + 1, [game]])[0]
        np.testing.assert_allclose(target[t, game], value[::-1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("preset", ["official", "casual"])
def test_overfits_one_batch(preset: str) -> None:
    rules = make_rules(preset)
    net = make_net(NetConfig(64, 16), rules, 0)
    games = play_games(CompiledEvaluator(net, rules), np.arange(4), 1, 0.0, rules)
    samples = make_samples(games, CompiledEvaluator(net, rules), 1.0, rules)
    inputs, target = tensors(samples.boards, samples.moved_first, net.config), torch.from_numpy(samples.target)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for _ in range(300):
        loss = net.loss(net(*inputs), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.05 * losses[0]


@pytest.mark.parametrize(
    ("stage_scheme", "patterns"), [("one", "none"), ("long", "none"), ("long", "long"), ("one", "long-six")]
)
@pytest.mark.parametrize("preset", ["official", "casual"])
@pytest.mark.parametrize("reverse", [False, True])
def test_hand_written_gradient_equals_torch(preset: str, reverse: bool, stage_scheme: str, patterns: str) -> None:
    """Two positions in a row: the second trace is lambda times the first plus its own gradient."""
    rules = make_rules(preset)
    net = lively_net(rules, NetConfig(12, 5, stages=stage_scheme, patterns=patterns), seed=2)
    games = play_games(CompiledEvaluator(net, rules), np.arange(1), 4, 0.0, rules)
    boards, seats = games.boards[20:22, 0], np.array([True, False])
    weights = CompiledEvaluator(net, rules).weights
    traces = new_traces(weights)
    width = value_width(rules)
    stage = stages(boards, net.config.stages)

    expected = {name: np.zeros((width, *parameter.shape)) for name, parameter in net.named_parameters()}
    for k, turned in enumerate((False, reverse)):
        value = value_and_trace(
            active_rows(boards[[k]], seats[[k]], patterns)[0], stage[k], weights, traces, np.float32(0.6), turned
        )
        outputs = net.value(net(*tensors(boards[[k]], seats[[k]], net.config)))[0]
        mirrored = (-outputs if width == 1 else outputs.flip(0)) if turned else outputs
        np.testing.assert_allclose(value, mirrored.detach().numpy(), rtol=1e-4, atol=1e-6)
        for output in range(width):
            gradients = torch.autograd.grad(mirrored[output], list(net.parameters()), retain_graph=True)
            for name, gradient in zip(expected, gradients, strict=True):
                expected[name][output] = 0.6 * expected[name][output] + gradient.numpy()
    names = {
        "rows": traces.rows,
        "bias": traces.bias,
        "second.weight": traces.second,
        "second.bias": traces.second_bias,
        "last.weight": traces.last,
        "last.bias": traces.last_bias,
    }
    assert set(names) == set(expected)
    for name, trace in names.items():
        scale = np.abs(expected[name]).max()
        assert scale > 0, name
        of_parameter = trace.reshape(expected[name].shape)  # stages apart there, one after the other here
        np.testing.assert_allclose(of_parameter, expected[name], rtol=1e-3, atol=1e-5 * scale, err_msg=name)

    step = np.linspace(-0.1, 0.2, width).astype(np.float32)
    before = weights.rows.copy()
    move_weights(weights, traces, step)
    np.testing.assert_allclose(weights.rows - before, np.tensordot(step, traces.rows, 1), atol=1e-5)
    clear_traces(traces)
    assert not any(np.any(trace) for trace in traces)


def test_online_td_learns_from_the_same_dice() -> None:
    """On one dice stream again and again, what the net says of the start approaches what comes of it."""
    config = TrainConfig(
        algorithm="online", games=1, net=NetConfig(24, 8), lr=Schedule(0.05, 0.05), lam=Schedule(0.7, 0.7)
    )
    trainer = OnlineTrainer(config, OFFICIAL)
    losses = [trainer.iterate(repeat, 0, 1, 0).loss for repeat in range(200)]
    assert np.median(losses[-50:]) < 0.3 * np.median(losses[:5])
