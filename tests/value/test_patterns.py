"""Patterns of held points: a drawn position, a plain twin, and what a play changes."""

from collections import Counter
from pathlib import Path

import numba
import numpy as np
import pytest
import torch

from nardy_rl.agents.base import choose, decide
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules import dice
from nardy_rl.rules.board import Boards, flip
from nardy_rl.rules.notation import parse_board
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.spec import PRESETS
from nardy_rl.value import patterns
from nardy_rl.value.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from nardy_rl.value.evaluator import CompiledEvaluator, TorchEvaluator
from nardy_rl.value.features import ROWS, active_rows
from nardy_rl.value.net import NetConfig, grown, make_net

OFFICIAL = PRESETS["official"]
WITH = NetConfig(16, 4, patterns="long")
SCHEMES = ("long", "long-six")

A_BLOCK_AHEAD = """
long nardy, x to play
o off 0
+-13-14-15-16-17-18-+-19-20-21-22-23-24-+
|  .  .  .  .  .  . |  o  o  o  .  o  x |
|  .  .  .  .  .  . |  o  .  .  .  .  x |
|  .  .  .  .  .  . |  .  .  .  .  .  . |
|  .  .  .  .  .  . |  .  .  .  .  .  . |
|  .  .  .  .  .  . |  .  .  .  .  .  . |
|                   |                   |
|  o  .  .  .  .  o |  .  .  .  .  . x8 |
|  o  .  .  .  .  o |  .  .  .  .  .  x |
|  o  .  .  .  .  o |  .  .  .  .  .  x |
|  o  .  .  .  .  o |  .  .  .  .  .  x |
|  o  .  .  .  .  o |  x  x  x  x  x  x |
+-12-11-10--9--8--7-+--6--5--4--3--2--1-+
x off 0
"""


def plain_patterns(board: list[list[int]], scheme: str) -> list[int]:
    """The active patterns of one position, read off the definitions: what a reader would write first."""
    mine, theirs = board
    # the player on roll numbers the points 1..24; the opponent's 1 is his 13
    holder = {p: 1 if mine[p] else 2 if theirs[(p + 11) % 24 + 1] else 0 for p in range(1, 25)}
    rows = []
    count, width, stride = {"long": (12, 4, 2), "long-six": (8, 6, 3)}[scheme]
    for w in range(count):
        code = sum(3**i * holder[(stride * w + i) % 24 + 1] for i in range(width))
        if code:
            rows.append(3**width * w + code)
    for side, (own, other) in enumerate(((mine, theirs), (theirs, mine))):
        for p in range(1, 25):
            if own[p]:
                held = [p - ahead >= 1 and other[(p - ahead + 11) % 24 + 1] > 0 for ahead in (6, 5, 4, 3, 2, 1)]
                mask = sum(2**i for i, blocked in enumerate(held) if blocked)
                if mask:
                    rows.append(count * 3**width + 64 * side + mask)
    return rows


def boards_of_play(n: int, turns: int) -> tuple[Boards, Afterstates]:
    """Boards and afterstates of games in which every play is drawn at random."""
    games = new_games(np.arange(n), OFFICIAL)
    boards, after = [], []
    for _ in range(turns):
        decisions = decide(games, roll(games, 3, OFFICIAL), OFFICIAL)
        boards.append(games.boards)
        after.append(decisions.afterstates)
        ties = dice.bits(3, dice.TIES, games.stream, games.turn)
        chosen = choose(np.zeros(len(after[-1].boards)), after[-1].offsets, ties)
        games, outcome, _ = apply(games, after[-1].boards[chosen], OFFICIAL)
        games = games.take(outcome < 0)
    counts = np.concatenate([part.counts for part in after])
    return np.concatenate(boards), Afterstates(
        np.concatenate([part.boards for part in after]), np.concatenate([[0], np.cumsum(counts)])
    )


def patterns_of(boards: Boards, scheme: str = "long") -> list[list[int]]:
    rows, offsets = active_rows(boards, np.zeros(len(boards), dtype=np.bool_), scheme)
    parts = np.split(rows, offsets[1:-1])
    return [(part[part >= ROWS] - ROWS).tolist() for part in parts]


def test_patterns_of_a_drawn_position() -> None:
    (found,) = patterns_of(np.array([parse_board(A_BLOCK_AHEAD)], dtype=np.int8))
    # x holds 24 and 1..6, o holds 23, 21, 20, 19, 12 and 7
    windows = [
        (0, 1 + 3 + 9 + 27),  # 1 2 3 4
        (1, 1 + 3 + 9 + 27),  # 3 4 5 6
        (2, 1 + 3 + 2 * 9),  # 5 6 7 .
        (3, 2 * 1),  # 7 . . .
        (4, 2 * 27),  # . . . 12
        (5, 2 * 3),  # . 12 . .
        (8, 2 * 9 + 2 * 27),  # . . 19 20
        (9, 2 * 1 + 2 * 3 + 2 * 9),  # 19 20 21 .
        (10, 2 * 1 + 2 * 9 + 27),  # 21 . 23 24
        (11, 2 * 1 + 3 + 9 + 27),  # 23 24 1 2
    ]
    # from 24 x finds 23, 21, 20 and 19 closed: 1, 3, 4 and 5 do not play (bit 0 is six ahead)
    expected = [81 * w + code for w, code in windows]
    outlook = sum(1 << (6 - ahead) for ahead in (1, 3, 4, 5))
    expected.append(972 + outlook)
    # o moves the same way round: on x's 7 it is shut in by x's 6 .. 1, from x's 12 only a six is closed (x's 6), and
    # those on x's 19 .. 23 look at empty points, or at their own end
    expected += [972 + 64 + 0b111111, 972 + 64 + 0b000001]
    assert sorted(found) == sorted(expected)


def test_windows_of_six_points_of_a_drawn_position() -> None:
    (found,) = patterns_of(np.array([parse_board(A_BLOCK_AHEAD)], dtype=np.int8), "long-six")
    windows = [
        (0, 1 + 3 + 9 + 27 + 81 + 243),  # 1 .. 6
        (1, 1 + 3 + 9 + 2 * 27),  # 4 5 6 7 . .
        (2, 2 * 1 + 2 * 243),  # 7 . . . . 12
        (3, 2 * 9),  # . . 12 . . .
        (5, 2 * 27 + 2 * 81 + 2 * 243),  # . . . 19 20 21
        (6, 2 * (1 + 3 + 9) + 2 * 81 + 243),  # 19 20 21 . 23 24
        (7, 2 * 3 + 9 + 27 + 81 + 243),  # . 23 24 1 2 3
    ]
    outlooks = [5832 + 0b101110, 5832 + 64 + 0b111111, 5832 + 64 + 0b000001]  # those of the test above
    assert sorted(found) == sorted([729 * w + code for w, code in windows] + outlooks)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_patterns_against_the_plain_twin(scheme: str) -> None:
    boards, after = boards_of_play(40, 90)
    boards = np.concatenate([boards, flip(after.boards[::7])])
    assert len(boards) > 5_000
    found = patterns_of(boards, scheme)
    assert [sorted(part) for part in found] == [sorted(plain_patterns(board, scheme)) for board in boards.tolist()]
    assert len(set().union(*found)) > 600, "most patterns must have been met"
    assert not set().union(*found) & set(patterns.silent_rows(scheme).tolist())
    assert max(map(len, found)) <= patterns.MOST_ACTIVE


@numba.njit
def _places(board: np.ndarray) -> int:
    places = 0
    for n in range(52):
        places |= np.int64(board[n] > 0) << n
    return places


@numba.njit
def _call_changed(
    before: np.ndarray, after: np.ndarray, numbers: np.ndarray, come: np.ndarray, gone: np.ndarray
) -> int:
    mine, theirs = patterns.held(_places(before), 1)
    mine_after, theirs_after = patterns.held(_places(after), 1)
    return patterns.changed_patterns(mine, theirs, mine_after, theirs_after, numbers, 0, come, gone, 0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_a_play_changes_is_the_difference_of_what_is_active(scheme: str) -> None:
    boards, after = boards_of_play(6, 90)
    before = np.repeat(boards, after.counts, axis=0)
    keep = np.random.default_rng(1).permutation(len(before))[:4_000]
    before, later = before[keep], after.boards[keep]
    # constructed pairs too, in which everything changes at once
    before, later = np.concatenate([before, before[:500]]), np.concatenate([later, later[500:1000]])
    silent, numbers = set(patterns.silent_rows(scheme).tolist()), patterns.pattern_numbers(scheme)
    come, gone = np.empty((2, patterns.MOST_ACTIVE), np.int64)
    sizes = []
    for old, new, board, board_after in zip(
        patterns_of(flip(before), scheme), patterns_of(flip(later), scheme), before, later, strict=True
    ):
        n = _call_changed(board.reshape(52), board_after.reshape(52), numbers, come, gone)
        expected = Counter(old)
        expected.subtract(new)
        found = Counter(gone[:n].tolist())
        found.subtract(come[:n].tolist())
        for row in silent:
            found.pop(row, None)
        assert {k: v for k, v in found.items() if v} == {k: v for k, v in expected.items() if v}
        sizes.append(n)
    assert max(sizes) > 12


def test_a_net_that_gets_patterns_says_the_same_at_first() -> None:
    boards, _ = boards_of_play(3, 60)
    seats = np.arange(len(boards)) % 2 == 0
    net = make_net(NetConfig(16, 4), OFFICIAL, 1)
    larger = grown(net, NetConfig(24, 4, stages="long", patterns="long"), 2)
    assert larger.rows.shape == (ROWS + 1_100, 24)
    expected = TorchEvaluator(net, OFFICIAL).values(boards, seats)
    np.testing.assert_allclose(TorchEvaluator(larger, OFFICIAL).values(boards, seats), expected, atol=1e-6)
    with torch.no_grad():
        larger.rows[ROWS:] = 0.1
    changed = TorchEvaluator(larger, OFFICIAL).values(boards, seats)
    assert np.abs(changed - expected).max() > 1e-3, "the rows count once they are not zero"
    assert np.array_equal(grown(larger, larger.config, 3).rows.detach(), larger.rows.detach())
    with pytest.raises(ValueError, match="cannot grow into"):
        grown(larger, NetConfig(24, 4, stages="long"), 2)


def test_windows_of_four_grow_into_windows_of_six() -> None:
    boards, _ = boards_of_play(3, 60)
    seats = np.arange(len(boards)) % 2 == 0
    net = make_net(WITH, OFFICIAL, 1)
    with torch.no_grad():
        net.rows[ROWS:].normal_(std=0.1)
        net.rows[ROWS + patterns.silent_rows("long")] = 0.0
    larger = grown(net, NetConfig(16, 4, patterns="long-six"), 2)
    assert larger.rows.shape == (ROWS + 5_960, 16)
    expected = TorchEvaluator(net, OFFICIAL).values(boards, seats)
    np.testing.assert_allclose(TorchEvaluator(larger, OFFICIAL).values(boards, seats), expected, atol=1e-6)
    assert not larger.rows[ROWS + patterns.silent_rows("long-six")].any()
    with pytest.raises(ValueError, match="patterns='long-six' cannot become patterns='long'"):
        grown(larger, WITH, 2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weights_of_what_is_never_active_do_not_count(scheme: str) -> None:
    boards, after = boards_of_play(2, 60)
    seats = np.zeros(len(boards), dtype=np.bool_)
    net = make_net(NetConfig(16, 4, patterns=scheme), OFFICIAL, 1)
    expected = CompiledEvaluator(net, OFFICIAL).after_play(boards, seats, after)
    with torch.no_grad():
        net.rows[ROWS + patterns.silent_rows(scheme)] = 3.0
    for precision in ("float32", "int16"):
        found = CompiledEvaluator(net, OFFICIAL, precision).after_play(boards, seats, after)
        np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_largest_sums_hold_for_every_position(scheme: str) -> None:
    numbers = np.random.default_rng(0)
    rows = numbers.normal(size=(patterns.pattern_rows(scheme), 5)).astype(np.float32)
    rows[patterns.silent_rows(scheme)] = 0.0
    boards, _ = boards_of_play(10, 90)
    sums = np.array([rows[active].sum(axis=0) for active in patterns_of(boards, scheme)])
    bound = patterns.largest_sums(scheme, rows)
    assert (np.abs(sums) <= bound).all()
    one = np.zeros_like(rows)
    one[3 * patterns.pattern_numbers(scheme)[2] + 5], one[-64 + 9] = 2.0, -0.5
    np.testing.assert_allclose(patterns.largest_sums(scheme, one), 7.5)  # fifteen outlooks against one window


def test_patterns_are_for_long_nardy(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="patterns='long' are for long nardy; give patterns=none for short nardy"):
        make_net(WITH, PRESETS["short"], 1)
    with pytest.raises(ValueError, match="patterns='short' is not allowed; choose one of none, long, long-six"):
        make_net(NetConfig(8, 4, patterns="short"), OFFICIAL, 1)
    save_checkpoint(tmp_path / "net", make_net(WITH, OFFICIAL, 1), OFFICIAL, {})
    assert load_checkpoint(tmp_path / "net").net.config == WITH
    meta = tmp_path / "net" / "meta.json"
    meta.write_text(meta.read_text().replace('"patterns": "long"', '"patterns": "none"'))
    with pytest.raises(CheckpointError, match="belongs to another net"):
        load_checkpoint(tmp_path / "net")


def test_patterns_of_the_start() -> None:
    start = np.array([OFFICIAL.start] * 2, dtype=np.int8)[None]
    # 24 is the fourth point of window 10 and the second of window 11, the opponent's 12 that of windows 4 and 5
    assert sorted(patterns_of(start)[0]) == [81 * 4 + 54, 81 * 5 + 6, 81 * 10 + 27, 81 * 11 + 3]
