"""The reference set: decisions of strong play with the loss of each of their plays; data of the package.

Long nardy's comes from the flagship's self-play and is judged by rollouts, short nardy's is judged by GNU Backgammon.

Which decisions: all unforced ones of many games, sorted by phase, and from each phase some at random: half of all are
shared out equally, so that rare phases are measured too, half as the phases come in the games. A mean over unforced
decisions of self-play is the mean over phases, weighted by their shares in those games.

Which plays: the judge looks one ply ahead at every afterstate. Those close behind its favourite are rolled out on
shared dice, and so is whatever other agents would choose. A play that is not rolled out has an estimated loss: that of
the favourite, and what the favourite is ahead by one ply, scaled as the plays that were rolled out say. A judge
`gnubg:PLIES` says of every single play what it is worth that many plies ahead: nothing is rolled out or estimated.
"""

import dataclasses
import hashlib
import importlib.metadata
import importlib.resources
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Agent, Decisions, choose, decide
from nardy_rl.agents.lookahead import backed_up_equities
from nardy_rl.agents.luck import load_judge
from nardy_rl.agents.registry import make_agent
from nardy_rl.agents.rollout import RolloutSettings, rollout_candidates
from nardy_rl.config import ReferenceSetConfig, as_dict
from nardy_rl.endgame.evaluator import table_of
from nardy_rl.files import write_bytes, write_json
from nardy_rl.game import MAX_TURNS, Games, apply, new_games, roll
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.board import Boards, check_boards, check_dice, flip
from nardy_rl.rules.plays import Afterstates, legal_afterstates
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import BAR, HEAD, HOME, POINTS, SLOTS, Rules, make_rules, rules_as_dict, rules_from_dict
from nardy_rl.value.checkpoint import Checkpoint, load_checkpoint, weights_checksum
from nardy_rl.value.evaluator import Evaluator, afterstate_equities
from nardy_rl.value.yardsticks import GNUBG, GNUBG_PREFIX

FORMAT = 1
PHASES = ("opening", "middle", "blocked", "bear-in", "bear-off")
OPENING_HEAD = 10
"""Checkers on each head, at least, while a game is in its opening."""
BLOCK = 5
"""Points of a block that make a phase `blocked`: of the rolls of one die only a 6 passes it."""
SHORT_PHASES = ("opening", "middle", "race", "bear-off")
AT_THE_START = 11
"""Checkers of each side, at least, that are where they were at the start, while a game of short nardy is opening."""
PASSED = 12
"""Once all checkers of both sides are here or below, the sides use different halves of the board and never meet."""

_BATCH = 55
"""Decisions rolled out and saved together."""
_PICK = 1_003
"""What bits are drawn for: which decisions of a phase are taken (see `rules.dice.bits`)."""
_ROUND = 6
_ROUND_OF_GNUBG = 5
"""Digits kept of losses in points."""

Progress = Callable[[int, int], None]
"""Called in the caller's thread with (decisions finished, decisions in all)."""


class ReferenceSetError(ValueError):
    """A reference set that cannot be used; the message says which and why."""


@dataclasses.dataclass(frozen=True, eq=False)
class ReferenceSet:
    """Decisions with the loss of each of their plays.

    Attributes:
        boards: int8 (N, 2, 26), rows (player on roll, opponent).
        dice: int8 (N, 2).
        moved_first: bool (N,), does the player on roll hold the first seat.
        phase: int64 (N,), index into `phases`.
        after: All legal afterstates; those of a decision are sorted by their bytes.
        loss: float64 (K,), points that each play loses to the best one of its decision, 0 or more.
        stderr: float64 (K,), standard error of `loss` by the trials of the rollouts; NaN where the loss is estimated. 0
            for the best play, and for the only one that came into question.
        shares: float64 (phases,), share of each of `phases` in the unforced decisions of the games.
        rules: The rules.
        meta: Where all this comes from.
    """

    boards: Boards
    dice: NDArray[np.int8]
    moved_first: NDArray[np.bool_]
    phase: NDArray[np.int64]
    after: Afterstates
    loss: NDArray[np.float64]
    stderr: NDArray[np.float64]
    shares: NDArray[np.float64]
    rules: Rules
    meta: dict[str, Any]

    def __len__(self) -> int:
        return len(self.boards)

    @property
    def decisions(self) -> Decisions:
        """What an agent is asked."""
        return Decisions(self.boards, self.dice, self.moved_first, self.after)

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of the phases."""
        return phases_of(self.rules)


# --- phases -----------------------------------------------------------------------------------------------------------


def phases_of(rules: Rules) -> tuple[str, ...]:
    """Names of the phases of a game by these rules."""
    return PHASES if rules.geometry == "long" else SHORT_PHASES


def phase(boards: Boards, rules: Rules) -> NDArray[np.int64]:
    """Phase of positions, int64 (N,), an index into `phases_of`: the first of these that holds.

    In long nardy

    - bear-off: the player on roll has all his checkers home (or off).
    - bear-in: both sides have all their checkers on 12 or below, so that they never meet again.
    - opening: each side has ten checkers or more on its head.
    - blocked: a side has a checker somewhere behind five opposing points in a row.
    - middle: all else.

    In short nardy

    - bear-off: the player on roll has all his checkers home (or off).
    - race: each side has passed the other.
    - opening: each side has eleven checkers or more where they were at the start.
    - middle: all else.

    Args:
        boards: int8 (N, 2, 26), rows (player on roll, opponent).
        rules: Of either game.
    """
    mover, opponent = boards[:, 0], boards[:, 1]
    bear_off = ~_beyond(mover, HOME)
    if rules.geometry == "long":
        bear_in = ~(_beyond(mover, PASSED) | _beyond(opponent, PASSED))
        opening = (mover[:, HEAD] >= OPENING_HEAD) & (opponent[:, HEAD] >= OPENING_HEAD)
        blocked = _faces_block(mover, opponent) | _faces_block(opponent, mover)
        conditions = {"bear-off": bear_off, "bear-in": bear_in, "opening": opening, "blocked": blocked}
    else:
        race = _rearmost(mover) + _rearmost(opponent) <= POINTS
        unmoved = np.minimum(boards, np.array(rules.start, dtype=np.int8)).sum(axis=2)
        conditions = {"bear-off": bear_off, "race": race, "opening": (unmoved >= AT_THE_START).all(axis=1)}
    names = phases_of(rules)
    numbers: NDArray[np.int64] = np.select(
        list(conditions.values()), [names.index(name) for name in conditions], names.index("middle")
    )
    return numbers


def _beyond(sides: NDArray[np.int8], point: int) -> NDArray[np.bool_]:
    """Bool (N,): has the side a checker beyond this point of its own."""
    beyond: NDArray[np.bool_] = np.any(sides[:, point + 1 :] > 0, axis=1)
    return beyond


def _rearmost(sides: NDArray[np.int8]) -> NDArray[np.int64]:
    """Highest slot that a side has a checker on, int64 (N,); 0 if all are off."""
    slots: NDArray[np.int64] = BAR - np.argmax(sides[:, ::-1] > 0, axis=1)
    return slots


def _faces_block(sides: NDArray[np.int8], others: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Bool (N,): has the side a checker behind a block of the other's, on its own way 24 to 1 (R3.1, R3.2)."""
    theirs = np.roll(others[:, 1 : HEAD + 1] > 0, 12, axis=1)  # by the side's own points 1..24 (R0.3)
    held = np.stack([theirs[:, k : HEAD - BLOCK + 1 + k] for k in range(BLOCK)]).all(axis=0)  # a block from point p up
    rearmost = HEAD - np.argmax(sides[:, HEAD:0:-1] > 0, axis=1)
    ahead = np.arange(1, held.shape[1] + 1) + BLOCK - 1 < rearmost[:, None]
    faces: NDArray[np.bool_] = (held & ahead).any(axis=1)
    return faces


# --- which decisions, and which of their plays ------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class _Drawn:
    """Decisions without a judgement; the attributes are those of `ReferenceSet`."""

    boards: Boards
    dice: NDArray[np.int8]
    moved_first: NDArray[np.bool_]
    phase: NDArray[np.int64]
    shares: NDArray[np.float64]
    unforced: int


def draw_decisions(players: Sequence[Evaluator], rules: Rules, games: int, decisions: int, seed: int) -> _Drawn:
    """Draws unforced decisions of games, those of a phase all equally likely.

    A decision is unforced if it has two different afterstates that are not sure to be worth the same.

    Args:
        players: Play both sides at 0 plies; of several every one meets every one, itself too, in turn. The first says
            what is unforced.
        rules: Of either game.
        games: How many, on the dice streams 0 to `games` - 1.
        decisions: How many to draw in all.
        seed: Seed of dice, ties and draw.

    Raises:
        ValueError: A number that is not allowed, or too few games for so many decisions.
    """
    names = phases_of(rules)
    if games < 1:
        raise ValueError(f"games={games} is not allowed; give 1 or more")
    if decisions < 10 * len(names):
        raise ValueError(f"decisions={decisions} is not allowed; give {10 * len(names)} or more")
    playing = new_games(np.arange(games), rules)
    met: list[tuple[Games, NDArray[np.int8]]] = []
    for _ in range(MAX_TURNS):
        dice = roll(playing, seed, rules)
        choices = decide(playing, dice, rules)
        after = choices.afterstates
        scores = afterstate_equities(players[0], playing.boards, choices.moved_first, after, rules)
        starts = after.offsets[:-1]
        unforced = np.maximum.reduceat(scores, starts) > np.minimum.reduceat(scores, starts)
        met.append((playing.take(unforced), dice[unforced]))
        on_roll = np.where(choices.moved_first, playing.stream, playing.stream // len(players)) % len(players)
        for number in range(1, len(players)):
            own = np.flatnonzero(on_roll == number)
            if not own.size:
                continue
            rows = np.flatnonzero(np.repeat(on_roll == number, after.counts))
            of_own = Afterstates(after.boards[rows], np.concatenate([[0], np.cumsum(after.counts[own])]))
            scores[rows] = afterstate_equities(
                players[number], playing.boards[own], choices.moved_first[own], of_own, rules
            )
        best = choose(scores, after.offsets, dice_lib.bits(seed, dice_lib.TIES, playing.stream, playing.turn))
        playing, outcome, _ = apply(playing, after.boards[best], rules)
        playing = playing.take(outcome < 0)
        if not len(playing):
            break
    boards, stream, turn, seats = (
        np.concatenate([getattr(part, name) for part, _ in met]) for name in ("boards", "stream", "turn", "moved_first")
    )
    dice = np.concatenate([part for _, part in met])
    phases = phase(boards, rules)
    found = np.bincount(phases, minlength=len(names))
    ends = np.round(decisions * np.cumsum(0.5 / len(names) + 0.5 * found / len(phases))).astype(np.int64)
    wanted = np.diff(ends, prepend=0)
    for name, there, number in zip(names, found, wanted, strict=True):
        if there < number:
            raise ValueError(f"games={games} have {there} decisions of the phase {name}, not {number}; play more")
    lots = dice_lib.bits(seed, _PICK, stream, turn)
    picked = np.concatenate(
        [sorted(np.flatnonzero(phases == k), key=lambda i: lots[i])[: wanted[k]] for k in range(len(names))]
    )
    return _Drawn(boards[picked], dice[picked], seats[picked], phases[picked], found / len(phases), len(phases))


def sorted_afterstates(boards: Boards, dice: NDArray[np.int8], rules: Rules) -> Afterstates:
    """`legal_afterstates`, those of a decision sorted by their bytes: an order that belongs to the rules alone."""
    after = legal_afterstates(boards, dice, rules)
    decision = np.repeat(np.arange(len(boards)), after.counts)
    keys = np.ascontiguousarray(after.boards.reshape(len(after.boards), 2 * SLOTS)).view(f"V{2 * SLOTS}").ravel()
    _, ranks = np.unique(keys, return_inverse=True)
    return Afterstates(after.boards[np.lexsort((ranks, decision))], after.offsets)


def one_ply_equities(
    evaluator: Evaluator, boards: Boards, moved_first: NDArray[np.bool_], after: Afterstates, rules: Rules
) -> NDArray[np.float64]:
    """Expected points of the mover in every afterstate by the mean over the opponent's rolls, float64 (K,)."""
    decision = np.repeat(np.arange(len(boards)), after.counts)
    outcome, equities = settle(boards[decision], after.boards, moved_first[decision], rules)
    on = np.flatnonzero(outcome < 0)
    equities[on] = -backed_up_equities(evaluator, flip(after.boards[on]), ~moved_first[decision[on]], rules)
    return equities


def candidates(
    equities: NDArray[np.float64], after: Afterstates, choices: list[NDArray[np.int64]], most: int, within: float
) -> NDArray[np.bool_]:
    """Which afterstates come into question, bool (K,).

    Args:
        equities: float64 (K,), by one ply.
        after: Of N decisions.
        choices: int64 (N,) each, rows that come into question whatever they are worth.
        most: At most so many by `equities`.
        within: Those by `equities` no further behind the best than this.
    """
    decision = np.repeat(np.arange(len(after.counts)), after.counts)
    order = np.lexsort((-equities, decision))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - after.offsets[decision]
    behind = np.maximum.reduceat(equities, after.offsets[:-1])[decision] - equities
    chosen = (rank < most) & (behind <= within)
    for rows in choices:
        chosen[rows] = True
    return chosen


# --- building it ------------------------------------------------------------------------------------------------------


def build_reference_set(config: ReferenceSetConfig, progress: Progress | None = None) -> ReferenceSet:
    """Draws the decisions and judges them, batch by batch; finished batches of `config.work` are not done again.

    Raises:
        ValueError: A setting that is not allowed, or a folder of work for other settings or another judge.
        KeyboardInterrupt: Passed on; what is finished stays in the folder.
    """
    rules = make_rules(config.rules, config.options)
    config.rollout.check()
    if config.candidates < 1 or not config.within >= 0:
        raise ValueError(f"candidates={config.candidates}, within={config.within}: give 1 or more and 0 or more points")
    if config.judge.startswith(GNUBG_PREFIX):
        return _built_by_gnubg(config, rules, progress)
    checkpoint = load_checkpoint(config.judge)
    check_horizon(checkpoint, rules, config.rollout)
    judge = load_judge(checkpoint.path, rules)
    players = [load_judge(path, rules) for path in config.players] or [judge]
    drawn = draw_decisions(players, rules, config.games, config.decisions, config.seed)
    after = sorted_afterstates(drawn.boards, drawn.dice, rules)
    asked = Decisions(drawn.boards, drawn.dice, drawn.moved_first, after)
    equities = one_ply_equities(judge, drawn.boards, drawn.moved_first, after, rules)
    agents = [make_agent(spec, rules) for spec in (str(checkpoint.path), f"{checkpoint.path}@1ply", *config.others)]
    chosen = candidates(
        equities, after, [choices_of(agent, asked) for agent in agents], config.candidates, config.within
    )

    table = table_of(judge)
    of_judge = {
        "run": checkpoint.meta.get("run"),
        "games": checkpoint.meta.get("games"),
        "weights_sha256": weights_checksum(checkpoint.path),
        "bearoff_table": None if table is None else table.name,
    }
    identity = _identity(config, rules, of_judge, after)

    def judged(part: slice) -> _Judged:
        rows = np.flatnonzero(chosen[after.offsets[part.start] : after.offsets[part.stop]]) + after.offsets[part.start]
        return _by_rollouts(judge, drawn, after, rows, part, rules, config)

    found = _in_batches(judged, chosen, after, _work_folder(Path(config.work), identity), progress)
    estimated, scale = with_estimates(equities, found["loss"], after)
    meta = {
        **identity,
        **_drawn_from(drawn, rules),
        "rolled_out": int((found["trials"] > 0).sum()),
        "trials": int(np.nansum(found["trials"])),
        "largest_stderr": float(np.nanmax(found["stderr"])),
        "estimate_scale": scale,
    }
    return ReferenceSet(
        drawn.boards, drawn.dice, drawn.moved_first, drawn.phase, after,
        np.round(estimated, _ROUND), np.round(found["stderr"], _ROUND), drawn.shares, rules, meta,
    )  # fmt: skip


def _built_by_gnubg(config: ReferenceSetConfig, rules: Rules, progress: Progress | None) -> ReferenceSet:
    """The set in which GNU Backgammon says what every play is worth."""
    judge = load_judge(config.judge, rules)
    players = [load_judge(path, rules) for path in config.players or [f"{GNUBG_PREFIX}0"]]
    drawn = draw_decisions(players, rules, config.games, config.decisions, config.seed)
    after = sorted_afterstates(drawn.boards, drawn.dice, rules)
    of_judge = {"gnubg": importlib.metadata.version("gnubg"), "plies": GNUBG[config.judge]}
    identity = {
        name: value
        for name, value in _identity(config, rules, of_judge, after).items()
        if name not in ("candidates", "within", "others", "rollout")  # nothing is rolled out
    }

    def loss(decision: int) -> NDArray[np.float64]:
        first, last = after.offsets[decision : decision + 2]
        one, offsets = slice(decision, decision + 1), np.array([0, last - first])
        equities = afterstate_equities(
            judge, drawn.boards[one], drawn.moved_first[one], Afterstates(after.boards[first:last], offsets), rules
        )
        lost: NDArray[np.float64] = equities.max() - equities
        return lost

    def judged(part: slice) -> _Judged:
        losses = np.concatenate(list(pool.map(loss, range(part.start, part.stop))))
        return {"loss": losses, "stderr": np.zeros(len(losses)), "trials": np.zeros(len(losses))}

    every = np.ones(len(after.boards), dtype=np.bool_)
    work = _work_folder(Path(config.work), identity)
    with ThreadPoolExecutor(config.threads) as pool:
        found = _in_batches(judged, every, after, work, progress)
    return ReferenceSet(
        drawn.boards, drawn.dice, drawn.moved_first, drawn.phase, after, np.round(found["loss"], _ROUND_OF_GNUBG),
        found["stderr"], drawn.shares, rules, {**identity, **_drawn_from(drawn, rules)},
    )  # fmt: skip


_Judged = dict[str, NDArray[np.float64]]
"""Loss, standard error and trials of some afterstates, float64 each."""


def _identity(config: ReferenceSetConfig, rules: Rules, of_judge: dict[str, Any], after: Afterstates) -> dict[str, Any]:
    """All that the set depends on, as plain JSON values."""
    left_out = ("judge", "threads", "work", "out", *(() if config.players else ("players",)))
    return {
        "format": FORMAT,
        **{name: value for name, value in as_dict(config).items() if name not in left_out},
        "rules": rules_as_dict(rules),
        "judge": of_judge,
        "afterstates_sha256": _checksum(after),
    }


def _drawn_from(drawn: _Drawn, rules: Rules) -> dict[str, Any]:
    """What the decisions were drawn from, as plain JSON values."""
    shares = {name: float(share) for name, share in zip(phases_of(rules), drawn.shares, strict=True)}
    return {"unforced": drawn.unforced, "shares": shares}


def _in_batches(
    judged: Callable[[slice], _Judged],
    chosen: NDArray[np.bool_],
    after: Afterstates,
    work: Path,
    progress: Progress | None,
) -> _Judged:
    """What `judged` says of the chosen afterstates, NaN elsewhere; what is in the folder is not done again."""
    found = {name: np.full(len(chosen), np.nan) for name in ("loss", "stderr", "trials")}
    n = len(after.counts)
    for first in range(0, n, _BATCH):
        part = slice(first, min(first + _BATCH, n))
        path = work / f"{first:05d}.npz"
        if not path.exists():
            content = io.BytesIO()
            arrays: dict[str, Any] = {**judged(part)}
            np.savez(content, **arrays)
            write_bytes(path, content.getvalue())
        start, stop = after.offsets[part.start], after.offsets[part.stop]
        rows = np.flatnonzero(chosen[start:stop]) + start
        with np.load(path, allow_pickle=False) as file:
            for name, values in found.items():
                values[rows] = file[name]
        if progress is not None:
            progress(part.stop, n)
    return found


def check_horizon(judge: Checkpoint, rules: Rules, settings: RolloutSettings) -> None:
    """Raises a ValueError if trials stop before their end at a net that learnt other results of games than these.

    Such a net may play the trials, but what it says of a position is the worth of another game: that of `official`
    counts on the second player's last throw (R5.4), which is worth him nearly a tenth of a point.
    """
    for option in ("scoring", "draw", "last_roll_mars"):
        learnt, wanted = getattr(judge.rules, option), getattr(rules, option)
        if settings.truncate is not None and learnt != wanted:
            raise ValueError(
                f"{judge.path} was trained for {option} {learnt!r}, not {wanted!r}: it cannot judge unfinished games; "
                "give rollout.truncate=null"
            )


def choices_of(agent: Agent, decisions: Decisions) -> NDArray[np.int64]:
    """The row an agent chooses in each decision, int64 (N,); of rows it likes equally well the first."""
    offsets = decisions.afterstates.offsets
    return choose(agent.scores(decisions), offsets, np.zeros(len(offsets) - 1, dtype=np.uint64))


def with_estimates(
    equities: NDArray[np.float64], loss: NDArray[np.float64], after: Afterstates
) -> tuple[NDArray[np.float64], float]:
    """Fills in the losses that are NaN, float64 (K,), and says by what scale.

    A play loses what the favourite by `equities` loses, and what that is ahead by `equities` times a scale. One ply
    overrates most differences, so the scale is the slope of the known losses over the equities (least squares).
    """
    decision = np.repeat(np.arange(len(after.counts)), after.counts)
    favourite = choose(equities, after.offsets, np.zeros(len(after.counts), dtype=np.uint64))[decision]
    ahead, lost = equities[favourite] - equities, loss - loss[favourite]
    known = ~np.isnan(loss)
    square = float((ahead[known] ** 2).sum())
    scale = float((ahead * lost)[known].sum()) / square if square else 1.0
    return np.where(known, loss, loss[favourite] + max(scale, 0.0) * ahead), scale


def _by_rollouts(
    judge: Evaluator,
    drawn: _Drawn,
    after: Afterstates,
    rows: NDArray[np.int64],
    part: slice,
    rules: Rules,
    config: ReferenceSetConfig,
) -> _Judged:
    """Loss, standard error and trials of the rows, which are the candidates of the decisions `part`."""
    decision = np.searchsorted(after.offsets, rows, side="right") - 1
    counts = np.bincount(decision - part.start, minlength=part.stop - part.start)
    several = np.flatnonzero(counts > 1) + part.start  # a single candidate loses nothing, whatever it is worth
    found = {name: np.zeros(len(rows)) for name in ("loss", "stderr", "trials")}
    if several.size:
        of_several = np.isin(decision, several)
        offsets = np.concatenate([[0], np.cumsum(counts[several - part.start])])
        result = rollout_candidates(
            judge, drawn.boards[several], drawn.moved_first[several],
            Afterstates(after.boards[rows[of_several]], offsets), rules, config.rollout,
            threads=config.threads, streams=several,
        )  # fmt: skip
        found["loss"][of_several] = result.loss
        found["stderr"][of_several] = result.loss_stderr
        found["trials"][of_several] = result.trials
    return found


def _work_folder(folder: Path, identity: dict[str, Any]) -> Path:
    """The folder of finished batches, checked to be of this work."""
    path = folder / "work.json"
    if path.exists():
        if json.loads(path.read_text(encoding="utf-8")) != json.loads(json.dumps(identity)):
            raise ValueError(f"work={folder} holds work for other settings or another judge; give another folder")
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    write_json(path, identity)
    return folder


def _checksum(after: Afterstates) -> str:
    return hashlib.sha256(after.boards.tobytes() + after.offsets.tobytes()).hexdigest()


# --- the file ---------------------------------------------------------------------------------------------------------


def save_reference_set(reference: ReferenceSet, path: Path) -> None:
    """Writes a reference set as a compressed .npz file."""
    arrays: dict[str, Any] = {
        "meta": np.array(json.dumps(reference.meta, ensure_ascii=False)),
        "boards": reference.boards,
        "dice": reference.dice,
        "moved_first": reference.moved_first,
        "loss": reference.loss.astype(np.float32),
        "stderr": reference.stderr.astype(np.float32),
    }
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write_bytes(path, content.getvalue())


def load_reference_set(path: str | Path | None = None, rules: str = "official") -> ReferenceSet:
    """Loads a reference set.

    Args:
        path: A file of `save_reference_set`; None = the package's own for the preset `rules`.
        rules: Preset whose set is wanted where no file is named.

    Raises:
        ReferenceSetError: There is no such file, it is damaged, or the legal plays are not those it was made for.
    """
    if path is None:
        own = importlib.resources.files("nardy_rl") / "data" / f"reference_{rules}.npz"
        if not own.is_file():
            raise ReferenceSetError(
                f"there is no reference set for rules={rules}; build one with scripts/reference_set.py"
            )
        name, content = own.name, own.read_bytes()
    else:
        try:
            name, content = str(path), Path(path).read_bytes()
        except OSError as error:
            raise ReferenceSetError(f"reference={path} cannot be read: {error.strerror}") from error
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            meta = json.loads(str(file["meta"]))
            of_rules = rules_from_dict(meta["rules"])
            boards = check_boards(file["boards"], of_rules)
            dice = check_dice(file["dice"], len(boards))
            moved_first, loss, stderr = file["moved_first"], *(file[name].astype(np.float64) for name in _LOSSES)
        shares = np.array([meta["shares"][name] for name in phases_of(of_rules)])
        expected = meta["afterstates_sha256"]
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ReferenceSetError(f"{name} is no reference set, or is damaged: {error}") from error
    after = sorted_afterstates(boards, dice, of_rules)
    if _checksum(after) != expected:
        raise ReferenceSetError(f"{name}: its decisions have other legal plays now than when it was made")
    reference = ReferenceSet(
        boards, dice, moved_first, phase(boards, of_rules), after, loss, stderr, shares, of_rules, meta
    )  # fmt: skip
    _check(reference, name)
    return reference


_LOSSES = ("loss", "stderr")


def _check(reference: ReferenceSet, name: str) -> None:
    """Raises a ReferenceSetError if the figures cannot be right."""
    k, after = len(reference.after.boards), reference.after
    shapes = reference.moved_first.shape == (len(reference),) and reference.moved_first.dtype == np.bool_
    if not shapes or reference.loss.shape != (k,) or reference.stderr.shape != (k,):
        raise ReferenceSetError(
            f"{name} is damaged: there are {len(reference)} decisions with {k} plays, but not as many figures"
        )
    best = np.minimum.reduceat(reference.loss, after.offsets[:-1])
    if not np.isfinite(reference.loss).all() or best.any() or (reference.stderr < 0).any():
        raise ReferenceSetError(f"{name} is damaged: losses are 0 for the best play of a decision and never less")
    if abs(reference.shares.sum() - 1) > 1e-9 or (reference.shares < 0).any():
        raise ReferenceSetError(f"{name} is damaged: the shares of the phases do not add up to 1")
