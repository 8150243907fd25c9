"""Short nardy by the rules of other programs: the same afterstates, roll for roll.

bgsage and gnubg-nn are asked about constructed positions and random play. OpenSpiel's positions cannot be set from
Python, so its games are steered towards what is rare at random: players who hit and leave blots, who pile up checkers,
or who stay behind while the other bears off.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nardy_rl.rules.board import OPP_POINT
from nardy_rl.rules.notation import draw_board, parse_position
from nardy_rl.rules.plays import legal_afterstates
from nardy_rl.rules.spec import BAR, CHECKERS, HEAD, HOME, OFF, POINTS, PRESETS, SLOTS
from tests.rules.positions import TurnCase, as_arrays, as_tuples, constructed_turns, describe, random_play_turns

pytestmark = pytest.mark.yardsticks

SHORT = PRESETS["short"]
TURNS = 30_000
Afterstates = set[bytes]


def check(
    turns: Sequence[TurnCase], theirs: Sequence[Afterstates], may_lack: Callable[[bytes], bool] | None = None
) -> int:
    """Fails unless the kit finds exactly these afterstates, int8 (2, 26) as bytes, for each of the turns.

    Returns:
        In how many turns they have fewer, because of afterstates that they may lack.
    """
    lacking = 0
    after = legal_afterstates(*as_arrays(turns), SHORT)
    rows = after.boards.reshape(-1, 2 * SLOTS).tobytes()
    size = 2 * SLOTS
    differences = []
    for i, (turn, expected) in enumerate(zip(turns, theirs, strict=True)):
        first, last = after.offsets[i : i + 2].tolist()
        found = {rows[k * size : (k + 1) * size] for k in range(first, last)}
        if may_lack is not None and found > expected and all(map(may_lack, found - expected)):
            lacking += 1
        elif found != expected:
            differences.append((turn, found - expected, expected - found))
    if differences:
        turn, ours_only, theirs_only = min(differences, key=lambda one: len(one[1]) + len(one[2]))
        drawings = [draw_board(turn.board, SHORT, turn.dice)]
        for name, only in (("ours only", ours_only), ("theirs only", theirs_only)):
            drawings += [f"{name}:\n{draw_board(as_tuples(as_board(one)), SHORT)}" for one in sorted(only)[:1]]
        pytest.fail(
            f"{len(differences)} of {len(turns)} turns differ, for example\n{describe(turn, SHORT)}\n"
            f"{len(ours_only)} are ours only, {len(theirs_only)} theirs only\n" + "\n".join(drawings)
        )
    return lacking


def as_board(afterstate: bytes) -> NDArray[np.int8]:
    return np.frombuffer(afterstate, dtype=np.int8).reshape(2, SLOTS)


# --- what the positions are like --------------------------------------------------------------------------------------


def corners(turns: Sequence[TurnCase]) -> dict[str, int]:
    """How many of the turns are of each kind that random play meets too seldom."""
    boards, dice = as_arrays(turns)
    mover, opponent = boards[:, 0], boards[:, 1]
    home = mover[:, HOME + 1 :].sum(axis=1) == 0
    theirs = opponent[:, OPP_POINT["short"]]  # by the mover's points
    rearmost = HEAD - np.argmax(mover[:, HEAD:0:-1] > 0, axis=1)
    contact = (opponent[:, BAR] > 0) | ((theirs > 0) & (np.arange(SLOTS) < rearmost[:, None]))[:, 1:BAR].any(axis=1)
    return {
        "several on the bar": int((mover[:, BAR] > 1).sum()),
        "both on the bar": int(((mover[:, BAR] > 0) & (opponent[:, BAR] > 0)).sum()),
        "a bear-off with contact": int((home & contact).sum()),
        "a stack of eight": int((mover[:, 1:BAR] >= 8).any(axis=1).sum()),
        "three checkers left at most": int((mover[:, OFF] >= CHECKERS - 3).sum()),
        "a double": int((dice[:, 0] == dice[:, 1]).sum()),
    }


# --- bgsage and gnubg-nn ----------------------------------------------------------------------------------------------


def of_bgsage(turns: Sequence[TurnCase]) -> list[Afterstates]:
    """By bgsage, whose boards hold the mover's checkers as positive numbers, 25 being his bar and 0 the opponent's."""
    from bgsage import possible_moves  # noqa: PLC0415  (an extra)

    found = []
    for (mover, opponent), dice in turns:
        board = [mine - theirs for mine, theirs in zip(mover, opponent[::-1], strict=True)]
        board[BAR], board[0] = mover[BAR], opponent[BAR]
        results = np.array(possible_moves(board, *dice) or [board])  # it lists no pass
        after = np.zeros((len(results), 2, SLOTS), dtype=np.int8)
        after[:, 0, 1:BAR] = np.maximum(results, 0)[:, 1:BAR]
        after[:, 1, 1:BAR] = np.maximum(-results, 0)[:, HEAD:0:-1]
        after[:, 0, BAR], after[:, 1, BAR] = results[:, BAR], results[:, 0]
        found.append(as_bytes(after))
    return found


def of_gnubg(turns: Sequence[TurnCase]) -> list[Afterstates]:
    import gnubg_nn  # noqa: PLC0415  (an extra)

    found = []
    for (mover, opponent), dice in turns:
        keys = gnubg_nn.moves([opponent[1:], mover[1:]], *dice)
        after = np.zeros((max(len(keys), 1), 2, SLOTS), dtype=np.int8)
        results = [gnubg_nn.board_from_position_key(key) for key in keys]
        after[:, ::-1, 1:] = results or [[opponent[1:], mover[1:]]]  # it lists no pass
        found.append(as_bytes(after))
    return found


def as_bytes(after: NDArray[np.int8]) -> Afterstates:
    """Afterstates without the checkers that are off, put there."""
    after[:, :, OFF] = CHECKERS - after[:, :, 1:].sum(axis=2)
    return {one.tobytes() for one in after}


def ends_the_game(afterstate: bytes) -> bool:
    """What gnubg may lack: a play that bears off the last checker with fewer dice than another one (R1.4)."""
    return bool(as_board(afterstate)[0, OFF] == CHECKERS)


@pytest.fixture(scope="module")
def random_turns() -> list[TurnCase]:
    return random_play_turns(TURNS // 2, seed=1, rules=SHORT, games=200)


@pytest.fixture(scope="module")
def hard_turns() -> list[TurnCase]:
    turns = [turn for turn in constructed_turns(TURNS, 2, SHORT) if turn.board[1][OFF] < CHECKERS]
    assert len(turns) > TURNS * 0.9
    assert min(corners(turns).values()) > 1_000, corners(turns)
    return turns


def test_agreement_with_bgsage(random_turns: list[TurnCase], hard_turns: list[TurnCase]) -> None:
    for turns in (random_turns, hard_turns):
        check(turns, of_bgsage(turns))


def test_agreement_with_gnubg(random_turns: list[TurnCase], hard_turns: list[TurnCase]) -> None:
    lacking = [check(turns, of_gnubg(turns), ends_the_game) for turns in (random_turns, hard_turns)]
    assert 0 < sum(lacking) < 50


def test_gnubg_lists_no_play_that_ends_the_game_before_its_dice_are_used() -> None:
    """With 6-1 the last checker goes off by the 6 at once (R1.4), or hits on 5 first. bgsage has both, gnubg one.

    It costs gnubg nothing: going off at once is never the better of the two.
    """
    turn = TurnCase(as_tuples(np.array(parse_position("off:14 6:1 | 24:1 20:1 13:5 8:3 6:5"))), (6, 1))
    (found,) = of_gnubg([turn])
    (after,) = (as_board(one) for one in found)
    assert after[0, OFF] == CHECKERS
    assert after[1, BAR] == 1
    assert check([turn], [found], ends_the_game) == 1
    assert check([turn], of_bgsage([turn])) == 0


# --- OpenSpiel --------------------------------------------------------------------------------------------------------

Style = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""Scores afterstates int64 (K, 2, 26), rows (mover, opponent); the highest is played."""


def hits_and_blots(after: NDArray[np.int64]) -> NDArray[np.int64]:
    scores: NDArray[np.int64] = 3 * after[:, 1, BAR] + (after[:, 0, 1:BAR] == 1).sum(axis=1)
    return scores


def piles(after: NDArray[np.int64]) -> NDArray[np.int64]:
    scores: NDArray[np.int64] = (after[:, 0, 1:BAR] ** 2).sum(axis=1)
    return scores


def stays_behind(after: NDArray[np.int64]) -> NDArray[np.int64]:
    scores: NDArray[np.int64] = np.minimum(after[:, 0, 19:BAR].sum(axis=1), 4) - after[:, 0, OFF]
    return scores


def runs(after: NDArray[np.int64]) -> NDArray[np.int64]:
    scores: NDArray[np.int64] = after[:, 0, OFF] - after[:, 0, HOME + 1 :].sum(axis=1)
    return scores


STYLES: list[Style | None] = [None, hits_and_blots, piles, stays_behind, runs]
"""None plays at random."""


def openspiel_boards(observations: Sequence[Sequence[float]], player: int) -> NDArray[np.int8]:
    """Boards int8 (K, 2, 26), rows (player, the other one), of his observations. Player 0 runs from point 0 upwards.

    For either side, first the player: at each point flags for one, two, three checkers and how many more than three
    there are; then for either side the checkers on the bar, those off and whose turn it is; then the dice.
    """
    flat = np.array(observations)
    one, two, three, more = flat[:, : 8 * POINTS].reshape(-1, 2, POINTS, 4).transpose(3, 0, 1, 2)
    points = one + 2 * two + 3 * three + np.where(more > 0, more + 3, 0)
    boards = np.zeros((len(flat), 2, SLOTS), dtype=np.int8)
    for row, side in enumerate((player, 1 - player)):
        boards[:, row, 1:BAR] = points[:, row] if side else points[:, row, ::-1]
    rest = flat[:, 8 * POINTS : -2].reshape(-1, 2, 3)
    boards[:, :, BAR], boards[:, :, OFF] = rest[:, :, 0], rest[:, :, 1]
    return boards


def openspiel_afterstates(state: Any, player: int) -> tuple[NDArray[np.int8], list[list[int]]]:
    """Its different afterstates, and actions that lead to each: one, or two for a double, played in two halves."""
    ways: dict[str, list[int]] = {}
    observations: list[list[float]] = []

    def end(drawing: str, actions: list[int]) -> None:
        if drawing not in ways:
            ways[drawing] = actions
            observations.append(state.observation_tensor(player))

    halfway: set[str] = set()
    for action in state.legal_actions():
        state.apply_action(action)
        drawing = str(state)
        if state.current_player() != player:
            end(drawing, [action])
        elif drawing not in halfway:
            halfway.add(drawing)
            for second in state.legal_actions():
                state.apply_action(second)
                end(str(state), [action, second])
                state.undo_action(player, second)
        state.undo_action(player, action)
    return openspiel_boards(observations, player), list(ways.values())


def openspiel_turns(n: int, seed: int) -> Iterator[tuple[TurnCase, Afterstates]]:
    import pyspiel  # noqa: PLC0415  (an extra)

    rng = random.Random(seed)
    game = pyspiel.load_game("backgammon(scoring_type=full_scoring)")
    turns = 0
    while turns < n:
        state, patience = game.new_initial_state(), rng.randint(10, 60)
        styles = rng.choices(STYLES, k=2)
        for turn in itertools.count():
            if turns == n or state.is_terminal():
                break
            if turn == patience:
                styles = rng.sample([runs, rng.choice(STYLES)], 2)
            state.apply_action(rng.choice(state.legal_actions()))  # the dice
            player = state.current_player()
            before = state.observation_tensor(player)
            after, ways = openspiel_afterstates(state, player)
            dice = int(before[-2]), int(before[-1])
            yield TurnCase(as_tuples(openspiel_boards([before], player)[0]), dice), {one.tobytes() for one in after}
            turns += 1
            chosen, style = rng.randrange(len(after)), styles[player]
            if style is not None and rng.random() < 0.95:
                scores = style(after.astype(np.int64))
                chosen = rng.choice(np.flatnonzero(scores == scores.max()).tolist())
            for action in ways[chosen]:
                state.apply_action(action)


def test_agreement_with_openspiel() -> None:
    turns, theirs = zip(*openspiel_turns(TURNS, seed=1), strict=True)
    assert min(corners(turns).values()) > 250, corners(turns)
    check(turns, theirs)
