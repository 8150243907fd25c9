"""The cube decision of one position, judged and shown: what scripts/cube.py does."""

import dataclasses
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from nardy_rl.agents.registry import make_agent
from nardy_rl.config import KEPT_NETS, CubeDecisionConfig
from nardy_rl.cube import match
from nardy_rl.cube.decision import CENTRED, ON_ROLL, OPPONENT
from nardy_rl.cube.match import Scores
from nardy_rl.cube.met import LONGEST, match_table
from nardy_rl.cube.player import CubeConfig, CubePlayer
from nardy_rl.records.position_ids import NOT_STARTED, PLAYING, MatchPosition, read_position
from nardy_rl.rules.board import check_boards
from nardy_rl.rules.notation import format_position
from nardy_rl.rules.scoring import outcome_names, outcome_points
from nardy_rl.rules.spec import CHECKERS, OFF, make_rules


@dataclasses.dataclass(frozen=True)
class JudgedCube:
    """The cube decision of a position, seen by the player on roll.

    Equities are points per unit of the cube as it stands; in a match they are its winning chances on that scale, -1 and
    +1 being a single game lost and won (*normalised*).

    Attributes:
        position: What the ID says; of a position in our notation, money play with the cube in the middle.
        agent: Spec of the judge.
        probabilities: Outcome -> its probability.
        cubeless: Equity without a cube, money play.
        action: The right decisions, see `CubeDecisions.actions`.
        may_double: Is the cube his to turn, and of use to him.
        no_double: Equity if he does not double.
        double_take: Equity if he doubles and the opponent takes (or beavers, if `action` says so).
        double_pass: Equity if he doubles and the opponent passes.
        match_chances: The last three as chances to win the match; None in money play.
    """

    position: MatchPosition
    agent: str
    probabilities: dict[str, float]
    cubeless: float
    action: str
    may_double: bool
    no_double: float
    double_take: float
    double_pass: float
    match_chances: tuple[float, float, float] | None


def judge_cube(config: CubeDecisionConfig) -> JudgedCube:
    """Judges the position of the config.

    Raises:
        ValueError: A position, agent or number that cannot be used.
    """
    rules = make_rules("short")
    board, told = read_position(config.position, rules)
    position = told or MatchPosition(board)
    if position.dice is not None:
        raise ValueError("the dice are thrown; a cube decision comes before the throw (dice 00 in an XGID)")
    if position.state not in (NOT_STARTED, PLAYING) or any(row[OFF] == CHECKERS for row in position.board):
        raise ValueError("the game is over; there is no cube decision left")
    doubling = CubeConfig(
        jacoby=position.jacoby,
        beavers=position.beavers,
        max_cube=position.max_cube,
        efficiency=config.efficiency,
    )
    doubling.check()
    spec = config.agent or KEPT_NETS["short"]
    boards = check_boards(np.array([position.board], dtype=np.int8), rules)
    scores = _scores(position)
    table = None
    if position.length is not None:
        table = match_table(max(LONGEST, int(scores.away.max())))
        scores.check(table)
    player = CubePlayer(make_agent(spec, rules), doubling, table)
    moved_first = np.array([True])  # who moved first is of no account in short nardy
    values = player.values(boards, moved_first)
    decisions = player.judge(values, boards, scores)
    worths = np.concatenate([decisions.no_double, decisions.double_take, decisions.double_pass])
    equities = worths if table is None else match.normalised(worths, scores, table)
    return JudgedCube(
        position=position,
        agent=spec,
        probabilities={
            name: float(value) for name, value in zip(outcome_names(rules), values[0], strict=True) if name != "draw"
        },
        cubeless=float((values[0] * outcome_points(rules)).sum()),
        action=decisions.actions[0],
        may_double=bool(decisions.may_double[0]),
        no_double=float(equities[0]),
        double_take=float(equities[1]),
        double_pass=float(equities[2]),
        match_chances=None if table is None else (float(worths[0]), float(worths[1]), float(worths[2])),
    )


_OWNERS = {None: CENTRED, 0: ON_ROLL, 1: OPPONENT}


def _scores(position: MatchPosition) -> Scores:
    length = position.length or 0
    return Scores(
        np.array([[length - points for points in position.score]]),
        np.array([position.crawford]),
        np.array([position.cube]),
        np.array([_OWNERS[position.cube_owner]], dtype=np.int8),
    )


def as_json(judged: JudgedCube) -> dict[str, Any]:
    """The result as plain JSON values."""
    position = {**dataclasses.asdict(judged.position), "board": format_position(judged.position.board)}
    return {**position, **{name: value for name, value in vars(judged).items() if name != "position"}}


def situation(judged: JudgedCube) -> str:
    """Cube, score and rules in one line."""
    position = judged.position
    owner = {None: "centred", 0: "owned by the player on roll", 1: "owned by the opponent"}[position.cube_owner]
    if position.length is None:
        named = [name for name in ("jacoby", "beavers") if getattr(position, name)]
        play = ", ".join(["money play", *named])
    else:
        own, theirs = position.score
        play = f"match to {position.length}, player on roll {own}, opponent {theirs}"
        play += ", Crawford game" if position.crawford else ""
    return f"cube {position.cube}, {owner}; {play}"


def as_table(judged: JudgedCube) -> Table:
    """The result for the screen: a row for each decision, the right one marked."""
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    table.add_column("")
    table.add_column("equity", justify="right")
    if judged.match_chances is not None:
        table.add_column("match won", justify="right")
    names = ("no double", "double, beaver" if judged.action.endswith("beaver") else "double, take", "double, pass")
    equities = (judged.no_double, judged.double_take, judged.double_pass)
    for k, (name, equity) in enumerate(zip(names, equities, strict=True)):
        if k and not judged.may_double:
            break
        chance = () if judged.match_chances is None else (f"{100 * judged.match_chances[k]:.2f}%",)
        table.add_row(name, f"{equity:+.4f}", *chance)
    return table


def probabilities_text(judged: JudgedCube) -> str:
    """Who wins how often, in one line; gammons include backgammons."""
    chance = judged.probabilities
    parts = []
    for word, name in (("wins", "win"), ("loses", "lose")):
        levels = [chance[f"{name} {level}"] for level in ("single", "gammon", "backgammon")]
        game, gammon, backgammon = sum(levels), sum(levels[1:]), levels[2]
        parts.append(f"{word} {100 * game:.1f}% (gammons {100 * gammon:.1f}%, backgammons {100 * backgammon:.1f}%)")
    return f"{', '.join(parts)}; cubeless {judged.cubeless:+.4f}"
