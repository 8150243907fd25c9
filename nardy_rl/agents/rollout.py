"""Rollouts: what positions are worth by playing them on many times, the luck of the dice taken out.

A *trial* plays a position on, both sides making the evaluator's best play: to the end of the game, or to a position
that the evaluator's bear-off table has solved, or for some turns, after which its lookahead stands for the rest. With
variance reduction the luck of every roll on the way is subtracted (see `agents.luck`): the mean stays the same, and
fewer trials tell it, but each costs some twenty times as much, since all 21 rolls are looked at where one was thrown.
With the nets of this kit that pays for up to about four turns; over longer ways plain trials are cheaper (to the end of
the game three to six times), and variance reduction only saves memory.

Candidates of one decision meet the same dice (duplicate dice), so the error of a difference comes from paired trials.
The first two rolls are balanced: every 36 trials have each ordered pair of dice once as the first roll and once as the
second, every 1,296 trials each combination of the two. Standard errors are those of a stratified mean: only what varies
among trials with the same first roll counts.

The dice of a trial are a pure function of (seed, stream, trial, turn), and what a trial comes to is independent of what
is computed beside it. So any number of threads, and an interrupted and resumed run, give the same numbers to the last
bit.
"""

import dataclasses
import hashlib
import io
import json
import math
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.lookahead import distinct, first_best
from nardy_rl.agents.luck import best_plays, is_lot, mean_equities, roll_number
from nardy_rl.endgame.evaluator import table_of
from nardy_rl.files import write_bytes
from nardy_rl.game import MAX_TURNS, opening_lot
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import Rules, rules_as_dict
from nardy_rl.value.evaluator import Evaluator, afterstate_equities

BLOCK = 36
"""Trials come in blocks of so many, which are balanced in the first and in the second roll."""

_JOB = BLOCK * BLOCK
"""Trials played side by side. Large enough for the kernels and for merging equal positions, small enough to share."""

_MERGED_TURNS = 3
"""Turns in which trials of single rolls are merged where they are equal; later they hardly ever are."""

_PAIRS = roll_number(np.array([(a, b) for a in range(1, 7) for b in range(1, 7)], dtype=np.int8))
"""Number in `ROLLS` of each of the 36 ordered pairs of dice."""

_STATE_FORMAT = 1
_SAME = 1e-4
"""Other processors give equities that differ by far less, other nets by more."""

Progress = Callable[[int, int], None]
"""Called in the caller's thread with (trials finished, trials planned so far)."""


@dataclasses.dataclass
class RolloutSettings:
    """How to roll out.

    Attributes:
        trials: Most trials of a position, a multiple of 36.
        min_trials: Trials after which it is first asked whether to stop, a multiple of 36.
        truncate: Turns played before the evaluator's lookahead (the mean over all rolls of its best play) stands for
            the rest of the game; 0 = that lookahead alone, None = games are played to their end.
        variance_reduction: Subtract the luck of every roll.
        stop_se: A decision is done once the standard error of the difference between its best candidate and each other
            one is at most this (points); a position alone, once that of its equity is. 0 = all trials are played.
        out_of_reach: A candidate so many standard errors of the difference behind the best one gets no more trials;
            0 = never. What is known about it then stays as exact as it is.
        seed: Seed of the dice, 0 to 2**63 - 1.
    """

    trials: int = 36 * 36
    min_trials: int = 4 * 36
    truncate: int | None = 8
    variance_reduction: bool = True
    stop_se: float = 0.0
    out_of_reach: float = 0.0
    seed: int = 1

    def check(self) -> None:
        """Raises a ValueError that names the field, its value and what is allowed."""
        for name in ("trials", "min_trials"):
            count = getattr(self, name)
            if count < BLOCK or count % BLOCK:
                raise ValueError(f"{name}={count} is not allowed; give a multiple of {BLOCK}, at least {BLOCK}")
        if not self.min_trials <= self.trials < 2**31:
            raise ValueError(f"trials={self.trials} is not allowed; give min_trials={self.min_trials} to 2**31")
        if self.truncate is not None and self.truncate < 0:
            raise ValueError(f"truncate={self.truncate} is not allowed; give 0 or more turns, or null for none")
        for name in ("stop_se", "out_of_reach"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed; give 0 or more")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed={self.seed} is not allowed; give 0 to 2**63 - 1")


class RolloutResult(NamedTuple):
    """What rollouts of positions came to.

    Attributes:
        equity: float64 (N,), expected points of the player on roll.
        stderr: float64 (N,), its standard error: chance only, not what truncation or the players' mistakes do.
        trials: int64 (N,), trials played.
    """

    equity: NDArray[np.float64]
    stderr: NDArray[np.float64]
    trials: NDArray[np.int64]


class CandidatesResult(NamedTuple):
    """What rollouts of the candidates of N decisions came to, one candidate after the other as in `Afterstates`.

    Attributes:
        offsets: int64 (N + 1,), decision i owns entries offsets[i]:offsets[i + 1].
        equity: float64 (K,), expected points of the mover.
        stderr: float64 (K,), its standard error; 0 where the game is over.
        loss: float64 (K,), how far behind the best candidate of its decision, over the trials both have had.
        loss_stderr: float64 (K,), standard error of `loss`; 0 for the best one.
        trials: int64 (K,), trials played; 0 where the game is over.
        best: int64 (N,), entry of the best candidate of each decision. One that is out of reach is never the best.
    """

    offsets: NDArray[np.int64]
    equity: NDArray[np.float64]
    stderr: NDArray[np.float64]
    loss: NDArray[np.float64]
    loss_stderr: NDArray[np.float64]
    trials: NDArray[np.int64]
    best: NDArray[np.int64]


def rollout(
    evaluator: Evaluator,
    boards: Boards,
    moved_first: NDArray[np.bool_],
    rules: Rules,
    settings: RolloutSettings,
    *,
    threads: int = 1,
    streams: NDArray[np.int64] | None = None,
    state: Path | None = None,
    progress: Progress | None = None,
) -> RolloutResult:
    """Rolls out positions.

    Args:
        evaluator: Chooses the plays of both sides and judges the luck; 16-bit arithmetic will do.
        boards: int8 (N, 2, 26), rows (player on roll, opponent), the dice not thrown, of games that are not over.
        moved_first: bool (N,), does the player on roll hold the first seat.
        rules: Any `Rules`.
        settings: How many trials, of what kind.
        threads: Threads that play; the result does not depend on it.
        streams: int64 (N,), 0 to 2**31 - 1, the dice stream of each position; 0 .. N - 1 if not given.
        state: A file that keeps the trials, saved every minute and at the end; if it exists, the rollout goes on from
            it. One of another rollout is refused.
        progress: See `Progress`.

    Raises:
        ValueError: A setting or a stream that is not allowed, or the state of another rollout.
        RuntimeError: A trial does not end within `MAX_TURNS` turns.
        KeyboardInterrupt: Passed on once the threads have stopped and the state is saved.
    """
    plan = _Plan(
        positions=boards,
        moved_first=moved_first,
        sign=1.0,
        exact=np.full(len(boards), np.nan),
        offsets=np.arange(len(boards) + 1),
        streams=_checked_streams(streams, len(boards)),
        rules=rules,
        settings=settings,
    )
    _play_all(plan, evaluator, threads, state, progress)
    means = [plan.mean(k) for k in range(len(boards))]
    equity, stderr = np.array(means).reshape(-1, 2).T
    return RolloutResult(equity, stderr, plan.target)


def rollout_candidates(
    evaluator: Evaluator,
    boards: Boards,
    moved_first: NDArray[np.bool_],
    candidates: Afterstates,
    rules: Rules,
    settings: RolloutSettings,
    *,
    threads: int = 1,
    streams: NDArray[np.int64] | None = None,
    state: Path | None = None,
    progress: Progress | None = None,
) -> CandidatesResult:
    """Compares the candidates of N decisions, those of one decision on the same dice.

    Args:
        evaluator: As in `rollout`.
        boards: int8 (N, 2, 26), the boards before the plays, rows (mover, opponent).
        moved_first: bool (N,), does the mover hold the first seat.
        candidates: Some or all of the afterstates of each decision (see `top_candidates`), at least one.
        rules: Any `Rules`.
        settings: How many trials, of what kind, and when to stop.
        threads: As in `rollout`.
        streams: int64 (N,), 0 to 2**31 - 1, the dice stream of each decision; 0 .. N - 1 if not given.
        state: As in `rollout`.
        progress: See `Progress`.

    Raises:
        ValueError, RuntimeError, KeyboardInterrupt: As `rollout`; ValueError also for a decision without candidates.
    """
    counts = candidates.counts
    if len(counts) != len(boards) or not (counts > 0).all():
        raise ValueError(f"each of {len(boards)} decisions needs at least one candidate")
    decision = np.repeat(np.arange(len(boards)), counts)
    outcome, points = settle(boards[decision], candidates.boards, moved_first[decision], rules)
    plan = _Plan(
        positions=np.ascontiguousarray(flip(candidates.boards)),
        moved_first=~moved_first[decision],
        sign=-1.0,
        exact=np.where(outcome >= 0, points, np.nan),
        offsets=candidates.offsets,
        streams=_checked_streams(streams, len(boards)),
        rules=rules,
        settings=settings,
    )
    _play_all(plan, evaluator, threads, state, progress)
    equity, stderr = np.array([plan.mean(k) for k in range(len(decision))]).reshape(-1, 2).T
    best = np.array([plan.best(i) for i in range(len(boards))], dtype=np.int64)
    losses = [plan.difference(best[i], k) for k, i in enumerate(decision)]
    loss, loss_stderr = np.array(losses).reshape(-1, 2).T
    return CandidatesResult(candidates.offsets, equity, stderr, loss, loss_stderr, plan.target, best)


def top_candidates(
    evaluator: Evaluator,
    boards: Boards,
    dice: NDArray[np.int8],
    moved_first: NDArray[np.bool_],
    rules: Rules,
    count: int,
    within: float = math.inf,
) -> Afterstates:
    """The afterstates of each roll that the evaluator likes best, the best first.

    Args:
        evaluator: Ranks them as they stand.
        boards: int8 (N, 2, 26), rows (mover, opponent).
        dice: int8 (N, 2).
        moved_first: bool (N,), does the mover hold the first seat.
        rules: Any `Rules`.
        count: At most so many of each roll, 1 or more.
        within: None further behind the best one, in points.
    """
    after = legal_afterstates(boards, dice, rules)
    equities = afterstate_equities(evaluator, boards, moved_first, after, rules)
    game = np.repeat(np.arange(len(boards)), after.counts)
    order = np.lexsort((-equities, game))
    rank = np.arange(len(order)) - after.offsets[game]
    behind = equities[order[after.offsets[game]]] - equities[order]
    kept = (rank < max(count, 1)) & (behind <= within)
    return Afterstates(after.boards[order[kept]], np.concatenate([[0], np.cumsum(np.bincount(game[kept]))]))


# --- which trials to play ---------------------------------------------------------------------------------------------


class _Plan:
    """The trials played so far, and from them which to play next. Decision i owns the positions of its offsets.

    Attributes:
        target: int64 (K,), trials each position is to have so far. One with fewer than others of its decision is out of
            reach and gets no more.
        played: float32 (K, most of target), result of trial t of position k in the view asked for; NaN = still to do.
    """

    def __init__(
        self,
        positions: Boards,
        moved_first: NDArray[np.bool_],
        sign: float,
        exact: NDArray[np.float64],
        offsets: NDArray[np.int64],
        streams: NDArray[np.int64],
        rules: Rules,
        settings: RolloutSettings,
    ) -> None:
        settings.check()
        self.positions, self.moved_first, self.sign, self.exact = positions, moved_first, sign, exact
        self.offsets, self.streams, self.rules, self.settings = offsets, streams, rules, settings
        self.decision = np.repeat(np.arange(len(streams)), np.diff(offsets))
        self.target = np.zeros(len(positions), dtype=np.int64)
        self.played = np.empty((len(positions), 0), dtype=np.float32)
        self._lot = is_lot(positions, moved_first, rules)
        self._strata: dict[int, NDArray[np.int64]] = {}

    def extend(self) -> bool:
        """Raises `target` where more trials are needed, all planned ones being played; False if nowhere."""
        before = self.target.copy()
        for i in range(len(self.streams)):
            self._extend(i)
        width = int(self.target.max(initial=0))
        more = np.full((len(self.target), width - self.played.shape[1]), np.nan, dtype=np.float32)
        self.played = np.concatenate([self.played, more], axis=1)
        return bool((self.target > before).any())

    def _extend(self, i: int) -> None:
        settings = self.settings
        rolled, n = self._in_reach(i)
        if not rolled.size or n >= settings.trials:
            return
        if n == 0:
            self.target[rolled] = settings.min_trials
            return
        best = self.best(i)
        errors: dict[int, float] = {}
        for k in self._contenders(i):
            if k != best:
                behind, error = self.difference(best, k)
                if not settings.out_of_reach or behind <= settings.out_of_reach * error:
                    errors[k] = error
        if self.offsets[i + 1] - self.offsets[i] == 1:
            errors = {best: self.mean(best)[1]}
        largest = max(errors.values(), default=0.0)
        if largest > settings.stop_se:
            wanted = min(2 * n, settings.trials)
            if settings.stop_se:  # a tenth more than the error so far asks for, so as not to miss it by a little
                wanted = min(wanted, math.ceil(1.1 * n * (largest / settings.stop_se) ** 2))
            going_on = [k for k in rolled if k == best or k in errors]
            self.target[going_on] = min(max(-(-wanted // BLOCK) * BLOCK, n + BLOCK), settings.trials)

    def _in_reach(self, i: int) -> tuple[NDArray[np.int64], int]:
        """The positions of decision i still being rolled out, and the trials each of them is to have."""
        k = np.arange(self.offsets[i], self.offsets[i + 1])
        rolled = k[np.isnan(self.exact[k])]
        n = int(self.target[rolled].max(initial=0))
        return rolled[self.target[rolled] == n], n

    def _contenders(self, i: int) -> list[int]:
        """The positions of decision i that are in reach or exactly known."""
        rolled, _ = self._in_reach(i)
        return [k for k in range(self.offsets[i], self.offsets[i + 1]) if k in rolled or not np.isnan(self.exact[k])]

    def best(self, i: int) -> int:
        """The contender of decision i with the highest mean, the first of equals."""
        return max(self._contenders(i), key=lambda k: self.mean(k)[0])

    def mean(self, k: int) -> tuple[float, float]:
        """Equity of position k and its standard error."""
        return self._mean(k, self._values(k, int(self.target[k])))

    def difference(self, best: int, k: int) -> tuple[float, float]:
        """How far position k is behind `best` over the trials both have had, and the standard error of that."""
        counts = [int(self.target[j]) for j in (best, k) if np.isnan(self.exact[j])]
        n = min(counts, default=1)
        return self._mean(k, self._values(best, n) - self._values(k, n))

    def _values(self, k: int, n: int) -> NDArray[np.float64]:
        if not np.isnan(self.exact[k]):
            return np.full(max(n, 1), self.exact[k])
        return self.played[k, :n].astype(np.float64)

    def _mean(self, k: int, values: NDArray[np.float64]) -> tuple[float, float]:
        """Mean and standard error of values of the first trials of position k; the strata are their first rolls."""
        n = len(values)
        if (values == values[0]).all():
            return float(values[0]), 0.0
        strata = self._first_rolls(k, n)
        counts = np.maximum(np.bincount(strata), 1)
        apart = values - values[0]  # so that rounding is that of what varies
        means = np.bincount(strata, apart) / counts
        within = float(((apart - means[strata]) ** 2).sum())
        return float(values[0] + apart.mean()), math.sqrt(within / (n - len(np.unique(strata))) / n)

    def _first_rolls(self, k: int, n: int) -> NDArray[np.int64]:
        """Numbers of the first rolls of the first n trials of position k, if they are balanced; otherwise all 0."""
        stream = int(self.streams[self.decision[k]])
        if self._lot[k]:
            return np.zeros(n, dtype=np.int64)
        if len(self._strata.get(stream, ())) < n:
            trial = np.arange(self.played.shape[1])
            self._strata[stream] = _Dice(self.settings.seed, np.full(len(trial), stream), trial).rolls(0)
        return self._strata[stream][:n]

    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All (position, trial) planned and not yet played, by position, then trial."""
        position, trial = np.nonzero(self.planned & np.isnan(self.played))
        return position, trial

    @property
    def planned(self) -> NDArray[np.bool_]:
        """Bool, like `played`: is this trial planned."""
        planned: NDArray[np.bool_] = np.arange(self.played.shape[1]) < self.target[:, None]
        return planned

    def identity(self) -> str:
        """All that decides what trials come to, but for the evaluator, as text."""
        digest = hashlib.sha256()
        for array in (self.positions, self.moved_first, self.exact, self.offsets, self.streams):
            digest.update(np.ascontiguousarray(array).tobytes())
        return json.dumps({
            "format": _STATE_FORMAT,
            "settings": dataclasses.asdict(self.settings),
            "rules": rules_as_dict(self.rules),
            "view": self.sign,
            "positions": digest.hexdigest(),
        })  # fmt: skip


def _checked_streams(streams: NDArray[np.int64] | None, n: int) -> NDArray[np.int64]:
    if streams is None:
        return np.arange(n)
    if streams.shape != (n,) or not ((streams >= 0) & (streams < 2**31)).all():
        raise ValueError(f"streams must be {n} integers from 0 to 2**31 - 1")
    return streams.astype(np.int64)


# --- playing them -----------------------------------------------------------------------------------------------------


class _StoppedError(Exception):
    """Leaves a job whose rollout was interrupted."""


def _play_all(plan: _Plan, evaluator: Evaluator, threads: int, path: Path | None, progress: Progress | None) -> None:
    """Plays whatever the plan asks for, until it asks for nothing more."""
    if threads < 1:
        raise ValueError(f"threads={threads} is not allowed; give at least 1")
    state = None if path is None else _State(path, plan, evaluator)
    stop = threading.Event()
    if not plan.target.any():
        plan.extend()
    with ThreadPoolExecutor(threads, thread_name_prefix="rollout") as pool:
        try:
            while True:
                position, trial = plan.cells()
                finished = int(plan.target.sum()) - len(position)
                jobs = [slice(k, k + _JOB) for k in range(0, len(position), _JOB)]
                futures = {
                    pool.submit(_play, evaluator, plan, position[job], trial[job], stop): (position[job], trial[job])
                    for job in jobs
                }
                for future in as_completed(futures):
                    plan.played[futures[future]] = plan.sign * future.result()
                    finished += len(futures[future][0])
                    if progress is not None:
                        progress(finished, int(plan.target.sum()))
                    if state is not None:
                        state.save_sometimes()
                if not plan.extend():
                    break
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            if state is not None:
                state.save()
            raise
    if state is not None:
        state.save()


def _play(
    evaluator: Evaluator, plan: _Plan, position: NDArray[np.int64], trial: NDArray[np.int64], stop: threading.Event
) -> NDArray[np.float64]:
    """Plays trials side by side; what each came to for the player on roll in its position, float64 (M,)."""
    rules, truncate, table = plan.rules, plan.settings.truncate, table_of(evaluator)
    boards, moved_first = plan.positions[position], plan.moved_first[position]
    dice = _Dice(plan.settings.seed, plan.streams[plan.decision[position]], trial)
    lot = is_lot(boards, moved_first, rules)
    result = np.zeros(len(boards))
    playing = np.arange(len(boards))
    sign = 1.0
    for turn in range(MAX_TURNS):
        if stop.is_set():
            raise _StoppedError
        if table is not None:  # the game is solved from here on
            exact = table.lookup(boards, moved_first)
            solved = ~np.isnan(exact)
            result[playing[solved]] += sign * exact[solved]
            boards, moved_first, playing = boards[~solved], moved_first[~solved], playing[~solved]
            if not len(playing):
                return result
        roll = dice.rolls(turn)[playing]
        if turn == 0 and lot.any():
            roll[lot[playing]] = dice.lots()[playing][lot[playing]]
        if plan.settings.variance_reduction:
            first, place = distinct(boards, moved_first)
            plays = best_plays(evaluator, boards[first], moved_first[first], rules)
            mean = mean_equities(plays.equities, boards[first], moved_first[first], rules)[place]
            if turn == truncate:
                result[playing] += sign * mean
                return result
            result[playing] -= sign * (plays.equities[place, roll] - mean)
            after = plays.boards[place, roll]
        else:
            first = place = np.arange(len(boards))
            if turn < _MERGED_TURNS:
                first, place = distinct(boards, moved_first, roll)
            equity, after = _best_play(evaluator, boards[first], moved_first[first], ROLLS[roll[first]], rules)
            if turn == truncate:  # the mean of this over the rolls is what the other branch adds
                result[playing] += sign * equity[place]
                return result
            after = after[place]
        outcome, points = settle(boards, after, moved_first, rules)
        over = outcome >= 0
        result[playing[over]] += sign * points[over]
        boards, moved_first, playing = flip(after)[~over], ~moved_first[~over], playing[~over]
        sign = -sign
        if not len(playing):
            return result
    raise RuntimeError(f"trial {trial[playing[0]]} of a rollout has not ended after {MAX_TURNS} turns")


def _best_play(
    evaluator: Evaluator, boards: Boards, moved_first: NDArray[np.bool_], dice: NDArray[np.int8], rules: Rules
) -> tuple[NDArray[np.float64], Boards]:
    """The best play of one roll of each position: equity (N,) and afterstate (N, 2, 26)."""
    after = legal_afterstates(boards, dice, rules)
    equities = afterstate_equities(evaluator, boards, moved_first, after, rules)
    rows = first_best(equities, after.offsets)
    return equities[rows], after.boards[rows]


class _Dice:
    """The dice of trials, int64 arrays (M,) of stream and trial."""

    def __init__(self, seed: int, stream: NDArray[np.int64], trial: NDArray[np.int64]) -> None:
        self._seed = seed
        self._key = stream * 2**32 + trial
        streams, self._place = np.unique(stream, return_inverse=True)
        # two random orders of the 36 pairs of dice for each stream; the trials walk through all their combinations
        bits = dice_lib.bits(seed, dice_lib.SAMPLE, streams[:, None] * 2**32, np.arange(2 * BLOCK))
        self._orders = np.argsort(bits.reshape(-1, 2, BLOCK), axis=2, kind="stable")
        self._steps = np.stack([trial % BLOCK, (trial + trial // BLOCK) % BLOCK])

    def rolls(self, turn: int) -> NDArray[np.int64]:
        """Number in `ROLLS` of each trial's roll in turn `turn`."""
        if turn < len(self._steps):
            pair = self._orders[self._place, turn, self._steps[turn]]
        else:
            pair = (dice_lib.bits(self._seed, dice_lib.DICE, self._key, turn) % np.uint64(BLOCK)).astype(np.int64)
        number: NDArray[np.int64] = _PAIRS[pair]
        return number

    def lots(self) -> NDArray[np.int64]:
        """Number in `ROLLS` of each trial's opening lot."""
        return roll_number(opening_lot(self._seed, self._key))


# --- the file that keeps them -----------------------------------------------------------------------------------------


class _State:
    """A file with all trials of a plan; making one loads the file into the plan if it exists."""

    def __init__(self, path: Path, plan: _Plan, evaluator: Evaluator, every: float = 60.0) -> None:
        if not path.parent.is_dir():
            raise ValueError(f"state={path}: there is no folder {path.parent}")
        self._path, self._plan, self._every = path, plan, every
        open_ones = np.flatnonzero(np.isnan(plan.exact))
        sample = open_ones[:: max(1, len(open_ones) // 16)]
        plays = best_plays(evaluator, plan.positions[sample], plan.moved_first[sample], plan.rules)
        self._probe = plays.equities
        if path.exists():
            self._load()
        self._saved = time.monotonic()

    def _load(self) -> None:
        try:
            with np.load(self._path, allow_pickle=False) as file:
                identity, probe, target, played = (file[name] for name in ("identity", "probe", "target", "played"))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"state={self._path} is not the state of a rollout, or is damaged: {error}") from error
        plan = self._plan
        if str(identity) != plan.identity():
            raise ValueError(f"state={self._path} belongs to a rollout of other positions, rules or settings")
        if probe.shape != self._probe.shape or not np.allclose(probe, self._probe, rtol=0.0, atol=_SAME):
            raise ValueError(f"state={self._path} belongs to a rollout by another evaluator")
        plan.target = target
        plan.played = np.full((len(target), int(target.max(initial=0))), np.nan, dtype=np.float32)
        plan.played[plan.planned] = played

    def save_sometimes(self) -> None:
        """Saves if the last time is long ago."""
        if time.monotonic() - self._saved >= self._every:
            self.save()

    def save(self) -> None:
        """Replaces the file by one with all that has been played."""
        plan = self._plan
        arrays: dict[str, Any] = {
            "identity": np.array(plan.identity()),
            "probe": self._probe,
            "target": plan.target,
            "played": plan.played[plan.planned],
        }
        content = io.BytesIO()
        np.savez(content, **arrays)
        write_bytes(self._path, content.getvalue())
        self._saved = time.monotonic()
