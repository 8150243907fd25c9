"""Self-play: whole games by one set of weights, kept as trajectories of boards."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl import game as flow
from nardy_rl.agents.base import choose, decide
from nardy_rl.agents.lookahead import backed_up_values
from nardy_rl.agents.rollout import RolloutSettings, rollout
from nardy_rl.rules import dice
from nardy_rl.rules.board import Boards
from nardy_rl.rules.spec import Rules
from nardy_rl.value.evaluator import Evaluator, afterstate_equities
from nardy_rl.value.net import value_width

MAX_CHUNK = 128
"""Most games played side by side in one thread."""

PICK, ROLLED = 1_001, 1_002
"""What bits are drawn for: which positions are searched, and the dice of their rollouts (see `rules.dice.bits`)."""


class Trajectories(NamedTuple):
    """Finished games, time first; a game of n turns fills its first n entries.

    Attributes:
        boards: int8 (T, B, 2, 26), the board before each turn, rows (player on roll, opponent).
        explored: bool (T, B), was the play of this turn drawn at random.
        length: int64 (B,), turns of each game.
        outcome: int64 (B,), from the point of view of the player who made the last turn (see `rules.scoring`).
        equity: float64 (B,), the same player's points minus the other's.
        stream: int64 (B,), the dice stream of each game.
    """

    boards: Boards
    explored: NDArray[np.bool_]
    length: NDArray[np.int64]
    outcome: NDArray[np.int64]
    equity: NDArray[np.float64]
    stream: NDArray[np.int64]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Bool (T, B): is there a turn t in this game."""
        return np.arange(len(self.boards))[:, None] < self.length

    @property
    def moved_first(self) -> NDArray[np.bool_]:
        """Bool (T, B): does the player on roll before turn t hold the first seat."""
        turns, games = self.boards.shape[:2]
        return np.broadcast_to(np.arange(turns)[:, None] % 2 == 0, (turns, games))

    @property
    def first_seat_equity(self) -> NDArray[np.float64]:
        """Points of the first seat minus the second's, float64 (B,)."""
        return np.where(self.length % 2 == 1, self.equity, -self.equity)


def play_games(
    evaluator: Evaluator, streams: NDArray[np.int64], seed: int, exploration: float, rules: Rules
) -> Trajectories:
    """Plays one game to its end for each dice stream, both sides taking the afterstate of the highest equity.

    Args:
        evaluator: Values both sides.
        streams: int64 (B,), the dice streams; with `seed` they decide dice, ties and exploration.
        seed: Seed of the run.
        exploration: Probability that a play is drawn at random from the legal ones.
        rules: Any `Rules`.
    """
    games = flow.new_games(streams, rules)
    place = np.arange(len(games))
    outcome = np.empty(len(games), dtype=np.int64)
    equity = np.empty(len(games))
    length = np.empty(len(games), dtype=np.int64)
    boards: list[Boards] = []
    explored: list[NDArray[np.bool_]] = []
    while len(games):
        decisions = decide(games, flow.roll(games, seed, rules), rules)
        scores = afterstate_equities(evaluator, games.boards, games.moved_first, decisions.afterstates, rules)
        chosen = choose(scores, decisions.afterstates.offsets, dice.bits(seed, dice.TIES, games.stream, games.turn))
        random = np.zeros(len(games), dtype=np.bool_)
        if exploration > 0:
            random = dice.uniform(seed, dice.EXPLORE, games.stream, games.turn) < exploration
            drawn = dice.bits(seed, dice.SAMPLE, games.stream, games.turn) % decisions.afterstates.counts.astype(
                np.uint64
            )
            chosen = np.where(random, decisions.afterstates.offsets[:-1] + drawn.astype(np.int64), chosen)

        boards.append(np.zeros((len(outcome), 2, 26), dtype=np.int8))
        boards[-1][place] = games.boards
        explored.append(np.zeros(len(outcome), dtype=np.bool_))
        explored[-1][place] = random

        games, ended, points = flow.apply(games, decisions.afterstates.boards[chosen], rules)
        done = ended >= 0
        if done.any():
            outcome[place[done]] = ended[done]
            equity[place[done]] = points[done]
            length[place[done]] = len(boards)
            games, place = games.take(~done), place[~done]
        if len(boards) >= flow.MAX_TURNS:
            raise RuntimeError(f"the game on dice stream {games.stream[0]} has not ended after {len(boards)} turns")
    return Trajectories(np.stack(boards), np.stack(explored), length, outcome, equity, streams)


def chunks(first: int, n: int) -> list[NDArray[np.int64]]:
    """Dice streams first .. first + n - 1 in an even number of chunks, of a size that no number of threads changes."""
    count = 2 * max(1, -(-n // (2 * MAX_CHUNK)))
    return [chunk for chunk in np.array_split(np.arange(first, first + n), count) if len(chunk)]


def expected_values(
    evaluator: Evaluator, games: Trajectories, seed: int, share: float, rules: Rules
) -> NDArray[np.float32]:
    """Value of positions of finished games by the mean over all rolls of the best play, float32 (T, B, width).

    NaN where there is no turn, and at the positions that are not searched; the lot that is played itself (R6.1) never
    is, as not all rolls can come.

    Args:
        evaluator: That played the games.
        games: The games.
        seed: Seed of the run.
        share: Share of the positions that are searched, drawn at random.
        rules: Any `Rules`.
    """
    picked = _picked(games, seed, share)
    values = np.full((*picked.shape, value_width(rules)), np.nan, dtype=np.float32)
    if rules.opening_roll == "use":
        picked[0] = False
    values[picked] = backed_up_values(evaluator, games.boards[picked], games.moved_first[picked], rules)
    return values


def rolled_out_equities(
    evaluator: Evaluator, games: Trajectories, seed: int, share: float, trials: int, turns: int, rules: Rules
) -> NDArray[np.float32]:
    """Equity of positions of finished games by rollouts, float32 (T, B), NaN where there is none.

    Args:
        evaluator: That played the games; it plays and judges the trials too.
        games: The games.
        seed: Seed of the run.
        share: Share of the positions that are rolled out, drawn at random.
        trials: Trials of each.
        turns: Turns of a trial before the evaluator's lookahead stands for the rest.
        rules: Any `Rules`.
    """
    picked = _picked(games, seed, share)
    equities = np.full(picked.shape, np.nan, dtype=np.float32)
    turn, game = np.nonzero(picked)
    streams = dice.bits(seed, ROLLED, games.stream[game], turn) >> np.uint64(33)
    settings = RolloutSettings(trials=trials, min_trials=trials, truncate=turns, seed=seed)
    equities[picked] = rollout(
        evaluator, games.boards[picked], games.moved_first[picked], rules, settings, streams=streams.astype(np.int64)
    ).equity
    return equities


def _picked(games: Trajectories, seed: int, share: float) -> NDArray[np.bool_]:
    """Bool (T, B): the share of the turns that is searched."""
    turns = np.arange(len(games.boards))[:, None]
    picked: NDArray[np.bool_] = games.alive & (dice.uniform(seed, PICK, games.stream, turns) < share)
    return picked
