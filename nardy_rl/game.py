"""The flow of a batch of games: new, roll, choose (someone else), apply; and matches of several games (R6).

A `Games` holds no dice and no generator: the dice of a turn are `roll_dice(seed, stream, turn)`, so the same seed gives
the same games however they are split over threads.
"""

import dataclasses

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.board import Boards, flip, new_boards
from nardy_rl.rules.scoring import settle
from nardy_rl.rules.spec import Rules

FIRST, SECOND = 0, 1
"""Seats: who made the first move of the game, and who answered."""

MAX_TURNS = 10_000
"""A game of long nardy has about 92 turns; one that gets here is a deadlock of two blocks (`block_rule` none)."""


@dataclasses.dataclass(frozen=True)
class Games:
    """A batch of games in progress.

    Attributes:
        boards: int8 (N, 2, 26), rows (player on roll, opponent).
        stream: int64 (N,), which dice stream each game follows.
        turn: int64 (N,), turns already played; even = the first seat is on roll, and so it is `moved_first`.
    """

    boards: Boards
    stream: NDArray[np.int64]
    turn: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.boards)

    @property
    def moved_first(self) -> NDArray[np.bool_]:
        """Bool (N,): does the player on roll hold the first seat (R5.4)."""
        first: NDArray[np.bool_] = self.turn % 2 == 0
        return first

    def take(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> "Games":
        """The games at `which` (mask or indices)."""
        return Games(self.boards[which], self.stream[which], self.turn[which])


def new_games(stream: ArrayLike, rules: Rules) -> Games:
    """Games at the start position, one for each dice stream number in `stream` (N,)."""
    streams = np.atleast_1d(np.asarray(stream, dtype=np.int64))
    return Games(new_boards(len(streams), rules), streams, np.zeros(len(streams), dtype=np.int64))


def roll(games: Games, seed: int, rules: Rules, play_lot: bool = False) -> NDArray[np.int8]:
    """The dice each game's player on roll has, int8 (N, 2).

    Args:
        games: N games.
        seed: Seed of the dice.
        rules: Their `opening_roll` decides the first throw (R6.1): `reroll` throws afresh; `use` plays the lot itself,
            which is never a double; `choice` leaves it to the starter.
        play_lot: Under `choice`, play the lot instead of throwing afresh.
    """
    rolled = dice_lib.roll_dice(seed, games.stream, games.turn)
    if rules.opening_roll == "use" or (rules.opening_roll == "choice" and play_lot):
        opening = games.turn == 0
        rolled[opening] = opening_lot(seed, games.stream[opening])
    return rolled


def apply(games: Games, after: Boards, rules: Rules) -> tuple[Games, NDArray[np.int64], NDArray[np.float64]]:
    """Makes the chosen plays and passes the turn.

    Args:
        games: N games.
        after: int8 (N, 2, 26), the afterstate chosen in each, still seen by the mover.
        rules: Any `Rules`.

    Returns:
        games: With the turn passed, finished ones included (drop them by `outcome >= 0`).
        outcome: int64 (N,), from the mover's point of view, -1 while the game goes on (see `rules.scoring`).
        equity: float64 (N,), the mover's points minus the opponent's, 0 while the game goes on.
    """
    outcome, equity = settle(games.boards, after, games.moved_first, rules)
    return Games(flip(after), games.stream, games.turn + 1), outcome, equity


def opening_lot(seed: int, stream: ArrayLike) -> NDArray[np.int8]:
    """The dice of the lot, the starter's higher one first, int8 (N, 2); ties have rolled again (R6.1)."""
    streams = np.atleast_1d(np.asarray(stream, dtype=np.int64))
    number = dice_lib.bits(seed, dice_lib.LOT, streams, np.zeros_like(streams)) % np.uint64(15)
    lots: NDArray[np.int8] = _UNEQUAL_ROLLS[number.astype(np.int64)]
    return lots


_UNEQUAL_ROLLS = dice_lib.ROLLS[dice_lib.ROLLS[:, 0] != dice_lib.ROLLS[:, 1]]


@dataclasses.dataclass(frozen=True)
class Match:
    """The state of a match of several games between players 0 and 1 (R6). Make one with `new_match`.

    Attributes:
        rules: Rules of every game.
        seed: Decides the lots.
        length: Points that win the match, or None for a set number of games.
        games: Games to play where `length` is None.
        starter: Who makes the first move of the current game.
        played: Games finished.
        points: Points of each player so far; a draw gives `rules.draw_points` to both (R5.4).
    """

    rules: Rules
    seed: int
    length: float | None
    games: int | None
    starter: int
    played: int = 0
    points: tuple[float, float] = (0.0, 0.0)

    @property
    def over(self) -> bool:
        """True once a player has `length` points, or all `games` are played."""
        if self.length is not None:
            return max(self.points) >= self.length
        return self.games is not None and self.played >= self.games

    def after_game(self, winner: int | None, points: float) -> "Match":
        """The match after the current game.

        Args:
            winner: 0 or 1, or None for a draw.
            points: The winner's points (ignored for a draw).

        Raises:
            ValueError: If the match is over, or there is no such player.
        """
        if self.over:
            raise ValueError("the match is over; no further game counts")
        if winner not in (None, 0, 1):
            raise ValueError(f"winner={winner!r} is not allowed; give 0, 1 or None for a draw")
        gained = [self.rules.draw_points] * 2 if winner is None else [points * (winner == 0), points * (winner == 1)]
        played = self.played + 1
        if self.rules.next_game == "lot":
            starter = lot(self.seed, played)
        elif self.rules.next_game == "winner" and winner is not None:
            starter = winner
        else:  # alternate; and after a draw nobody has won the right to start
            starter = 1 - self.starter
        total = (self.points[0] + gained[0], self.points[1] + gained[1])
        return dataclasses.replace(self, starter=starter, played=played, points=total)


def new_match(rules: Rules, seed: int, *, length: float | None = None, games: int | None = None) -> Match:
    """A match to `length` points or of `games` games; the lot decides who starts (R6.1).

    Raises:
        ValueError: Unless exactly one of `length` and `games` is given, and is positive.
    """
    if (length is None) == (games is None) or (length or games or 0) <= 0:
        raise ValueError(f"give either length > 0 or games > 0, not length={length}, games={games}")
    return Match(rules, seed, length, games, lot(seed, 0))


def lot(seed: int, game: int) -> int:
    """Who wins the lot before game number `game` and starts (R6.1): 0 or 1."""
    return int(dice_lib.bits(seed, dice_lib.LOT, game, 1) % np.uint64(2))
