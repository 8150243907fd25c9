"""The error rate: what an agent's plays lose per unforced decision, by the reference set (see `reference_set`).

Means are over unforced decisions of the judge's self-play: phase means, weighted by the phases' shares. An agent that
likes several plays equally well is charged the mean of their losses, so no dice are needed and none add noise.
"""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table

from nardy_rl.agents.base import Agent, Decisions, choose
from nardy_rl.evaluation.arena import Z95
from nardy_rl.evaluation.reference_set import Progress, ReferenceSet
from nardy_rl.rules.notation import draw_board, format_play, format_position
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.reference import as_board, legal_plays

_BATCH = 100
"""Decisions put to an agent at once."""


class Figure(NamedTuple):
    """A mean and how sure it is.

    Attributes:
        mean: The mean.
        ci95: 95% interval, mean ± 1.96 standard errors over decisions; what the rollouts leave to chance is part of the
            spread of the decisions, and so of the interval. Of a single decision: (-inf, inf).
    """

    mean: float
    ci95: tuple[float, float]


@dataclasses.dataclass(frozen=True, eq=False)
class ErrorRate:
    """What an agent's plays lose.

    Attributes:
        agent: Its spec.
        reference: The decisions.
        loss: float64 (N,), points lost in each.
        agrees: float64 (N,), 1 where it chose the best play (in between if it likes several equally well).
        estimated: float64 (N,), 1 where it chose a play that was not rolled out.
        chosen: int64 (N,), row of its choice in the afterstates, of several the costliest.
    """

    agent: str
    reference: ReferenceSet
    loss: NDArray[np.float64]
    agrees: NDArray[np.float64]
    estimated: NDArray[np.float64]
    chosen: NDArray[np.int64]

    @property
    def overall(self) -> Figure:
        """Loss per unforced decision, in thousandths of a point."""
        return weighted_mean(1000 * self.loss, self.reference)

    def in_phase(self, number: int) -> Figure:
        """Loss per decision of a phase (an index into `reference.phases`), in thousandths of a point."""
        losses = 1000 * self.loss[self.reference.phase == number]
        mean = float(losses.mean())
        half = Z95 * float(losses.std(ddof=1)) / math.sqrt(len(losses)) if len(losses) > 1 else math.inf
        return Figure(mean, (mean - half, mean + half))

    def worst(self, count: int) -> list[int]:
        """The decisions in which most is lost, the worst first; none in which nothing is."""
        lost = self.reference.loss[self.chosen]
        return [int(i) for i in np.argsort(-lost, kind="stable")[:count] if lost[i] > 0]


def error_rate(agent: Agent, reference: ReferenceSet, progress: Progress | None = None) -> ErrorRate:
    """Puts every decision of a reference set to an agent.

    Args:
        agent: Made for the rules of the set.
        reference: The set.
        progress: Called with (decisions finished, decisions in all).

    Raises:
        ValueError: The agent was made for other rules, or gave a score that is not a number.
        ExternalError: An external program failed.
    """
    if agent.rules != reference.rules:
        raise ValueError(f"agent {agent.spec!r} was made for other rules than those of the reference set")
    after, n = reference.after, len(reference)
    loss, agrees, estimated = np.empty(n), np.empty(n), np.empty(n)
    chosen = np.empty(n, dtype=np.int64)
    for first in range(0, n, _BATCH):
        last = min(first + _BATCH, n)
        part, rows = slice(first, last), slice(after.offsets[first], after.offsets[last])
        offsets = after.offsets[first : last + 1] - after.offsets[first]
        asked = Decisions(
            reference.boards[part],
            reference.dice[part],
            reference.moved_first[part],
            Afterstates(after.boards[rows], offsets),
        )
        scores = agent.scores(asked)
        favourite = choose(scores, offsets, np.zeros(last - first, dtype=np.uint64))
        liked = scores == np.repeat(scores[favourite], np.diff(offsets))
        losses, starts = reference.loss[rows], offsets[:-1]
        likes = np.add.reduceat(liked, starts, dtype=np.float64)
        for mean, of_play in (
            (loss, losses),
            (agrees, losses == 0),
            (estimated, np.isnan(reference.stderr[rows])),
        ):
            mean[part] = np.add.reduceat(liked * of_play, starts, dtype=np.float64) / likes
        costliest = choose(np.where(liked, losses, -1.0), offsets, np.zeros(last - first, dtype=np.uint64))
        chosen[part] = costliest + after.offsets[first]
        if progress is not None:
            progress(last, n)
    return ErrorRate(agent.spec, reference, loss, agrees, estimated, chosen)


def weighted_mean(values: NDArray[np.float64], reference: ReferenceSet) -> Figure:
    """Mean over unforced decisions of self-play, from values of the decisions of the set, float64 (N,)."""
    mean = variance = 0.0
    for number, share in enumerate(reference.shares):
        part = values[reference.phase == number]
        mean += float(share * part.mean())
        variance += float(share**2 * part.var(ddof=1) / len(part)) if len(part) > 1 else math.inf
    half = Z95 * math.sqrt(variance)
    return Figure(mean, (mean - half, mean + half))


def selection_bias(reference: ReferenceSet) -> float:
    """How much too high the losses are at most, on average, in points.

    The best play of a decision is the best of several figures with chance in them, so it looks better than it is, and
    whoever chose another play is charged too much. For two plays a distance d apart, with standard error s of the
    difference, that is s * φ(d / s) - d * Φ(-d / s); with more plays it is at most the sum.
    """
    rolled = np.flatnonzero(reference.stderr > 0)
    loss, stderr = reference.loss[rolled], reference.stderr[rolled]
    z = loss / stderr
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    tail = np.array([0.5 * math.erfc(x / math.sqrt(2)) for x in z])
    too_high = np.zeros(len(reference.loss))
    too_high[rolled] = stderr * density - loss * tail
    return weighted_mean(np.add.reduceat(too_high, reference.after.offsets[:-1]), reference).mean


# --- shown ------------------------------------------------------------------------------------------------------------


def as_table(found: ErrorRate) -> Table:
    """The figures for the screen, a row a phase."""
    table = Table(
        title=f"{found.agent}: loss per unforced decision, in thousandths of a point",
        box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False, title_justify="left",
    )  # fmt: skip
    reference, shares = found.reference, {"best play\nchosen": found.agrees}
    if reference.meta.get("rollout") is not None:  # else every play is judged alike
        shares["not\nrolled out"] = found.estimated
    table.add_column("phase")
    for heading in ("loss", "95%\ninterval", *shares, "decisions", "share"):
        table.add_column(heading, justify="right", no_wrap=True)
    for k, name in enumerate(reference.phases):
        of_phase = reference.phase == k
        table.add_row(
            name, *_cells(found.in_phase(k)), *(_percent(values[of_phase].mean()) for values in shares.values()),
            f"{of_phase.sum():,}", _percent(reference.shares[k]), end_section=k == len(reference.phases) - 1,
        )  # fmt: skip
    means = (_percent(weighted_mean(values, reference).mean) for values in shares.values())
    table.add_row("all", *_cells(found.overall), *means, f"{len(reference):,}", "")
    return table


def notes(found: ErrorRate) -> list[str]:
    """What the figures rest on, a line each."""
    meta = found.reference.meta
    judge, rollout = meta["judge"], meta.get("rollout")
    if rollout is None:
        return [
            f"Judge: GNU Backgammon looking {judge['plies']} plies ahead, cubeless, at every play "
            f"(package gnubg {judge['gnubg']}): who errs as it does is flattered."
        ]
    turns = (
        "to the end" if rollout["truncate"] is None else f"for {rollout['truncate']} turns, then its own word stands"
    )
    return [
        f"Judge: the net of run {judge['run']} after {judge['games']:,} games. It plays both sides of every rollout "
        f"{turns}: who errs as it does is flattered.",
        f"Chance in the rollouts adds at most {1000 * selection_bias(found.reference):.2f} to every agent's loss "
        "(the best play is the best of noisy figures).",
        f"Plays that were not rolled out are judged one ply ahead, times {meta['estimate_scale']:.2f} (fitted to those "
        "that were).",
    ]


def worst_text(found: ErrorRate, count: int) -> list[str]:
    """The worst decisions as boards, with the plays."""
    texts = []
    for number, i in enumerate(found.worst(count), 1):
        played, best, loss, estimated = _plays(found, i)
        how = ", by an estimate" if estimated else ""
        name = found.reference.phases[found.reference.phase[i]]
        texts.append(
            f"\n{number}. {name}: plays {played}, best is {best}; loses {loss:.3f} points{how}\n"
            + draw_board(found.reference.boards[i], found.reference.rules, found.reference.dice[i])
        )
    return texts


def as_json(found: ErrorRate, worst: int = 0) -> dict[str, Any]:
    """The figures as plain JSON values; `loss_mp` are thousandths of a point per unforced decision."""
    reference = found.reference
    by_phase = {
        name: {
            **_figure(found.in_phase(k)),
            "decisions": int((reference.phase == k).sum()),
            "share": float(reference.shares[k]),
        }
        for k, name in enumerate(reference.phases)
    }
    return {
        "agent": found.agent,
        **_figure(found.overall),
        "decisions": len(reference),
        "by_phase": by_phase,
        "best_chosen": weighted_mean(found.agrees, reference).mean,
        "not_rolled_out": weighted_mean(found.estimated, reference).mean,
        "selection_bias_mp": 1000 * selection_bias(reference),
        "reference": {name: reference.meta.get(name) for name in ("judge", "rollout", "rules", "afterstates_sha256")},
        "worst": [
            {
                "position": format_position(reference.boards[i]),
                "dice": "".join(map(str, reference.dice[i])),
                "moved_first": bool(reference.moved_first[i]),
                "phase": reference.phases[reference.phase[i]],
                **dict(zip(("play", "best", "loss", "estimated"), _plays(found, i), strict=True)),
            }
            for i in found.worst(worst)
        ],
    }


def _plays(found: ErrorRate, i: int) -> tuple[str, str, float, bool]:
    """What was played in decision i, what is best, the points lost, and whether they are an estimate."""
    reference, row = found.reference, found.chosen[i]
    steps = {
        play.board: play.steps
        for play in legal_plays(reference.boards[i], tuple(map(int, reference.dice[i])), reference.rules)
    }
    rows = slice(reference.after.offsets[i], reference.after.offsets[i + 1])
    best = reference.after.offsets[i] + int(np.argmin(reference.loss[rows]))
    played, wanted = (format_play(steps[as_board(reference.after.boards[k])]) for k in (row, best))
    return played, wanted, float(reference.loss[row]), bool(np.isnan(reference.stderr[row]))


def _figure(figure: Figure) -> dict[str, Any]:
    return {"loss_mp": figure.mean, "ci95": [end if math.isfinite(end) else None for end in figure.ci95]}


def _cells(figure: Figure) -> tuple[str, str]:
    low, high = figure.ci95
    return f"{figure.mean:.2f}", f"{low:.2f} {high:.2f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
