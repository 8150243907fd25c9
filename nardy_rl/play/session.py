"""A person plays an agent: a state machine without input or output, so that a test is a list of lines typed.

`Session.start` and `Session.command` return a `Reply`: what to show, what to ask, and what the caller has to do about
files. Whatever is typed is answered in words; nothing typed raises.

The person is player 0 of the match and the agent player 1. Boards are shown with the person's row first, so that his
head is always his own point 24.
"""

import dataclasses
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.base import Agent, Decisions, GivesValues, choose, decide
from nardy_rl.cube import match as match_cube
from nardy_rl.cube.chances import check_rules
from nardy_rl.cube.decision import CENTRED, ON_ROLL, OPPONENT
from nardy_rl.cube.match import Scores
from nardy_rl.cube.met import LONGEST, match_table
from nardy_rl.cube.player import PASS, CubeConfig, CubePlayer
from nardy_rl.game import Games, Match, new_match, opening_lot, roll
from nardy_rl.records.position_ids import Standing, board_position, format_gnubg_id, format_xgid
from nardy_rl.records.record import (
    DROPPED,
    FIRST,
    JACOBY,
    NOBODY,
    NOT_PLAYED,
    RESIGNED,
    SECOND,
    GameRecord,
    MatchRecord,
    Outcome,
    Record,
    RecordedTurn,
    judge,
    replay_match,
)
from nardy_rl.rules import dice as dice_lib
from nardy_rl.rules.board import Boards, flip, pip_count
from nardy_rl.rules.notation import find_play, format_play, format_position, parse_play
from nardy_rl.rules.reference import Board, Play, Step, as_board, legal_plays, opposing_point
from nardy_rl.rules.scoring import LEVELS, levels, result_points, win_level
from nardy_rl.rules.spec import CHECKERS, HEAD, OFF, Rules, make_rules

YOU, BOT = 0, 1
"""Players of the match."""

MAX_LINE = 1_000
"""Longest line that is looked at."""

MAX_CUBE_MATCH = 64
"""Longest match with the cube, points: the longest of a match equity table."""

Dice = tuple[int, int]


# --- what a reply is made of ------------------------------------------------------------------------------------------


class Said(NamedTuple):
    """A paragraph. `kind` is `plain`, `error` (what was typed cannot be done) or `news` (a play, a result)."""

    text: str
    kind: str = "plain"


class View(NamedTuple):
    """The board, the person's row first.

    Attributes:
        board: As the person sees it.
        dice: His dice if he is on roll and they are thrown.
        last: What the agent has just played, in its own numbering.
        moved_first: The person made the first move of the game.
        cube: The cube, and the score where it counts, in words; empty if there is no cube.
    """

    board: Board
    dice: Dice | None
    last: tuple[Step, ...]
    moved_first: bool
    cube: str = ""


class Listing(NamedTuple):
    """Numbered plays, in the order of their numbers from 1."""

    plays: tuple[str, ...]


class Table(NamedTuple):
    """Plays with what an agent thinks of them, best first; every row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Part = Said | View | Listing | Table


class Reply(NamedTuple):
    """An answer.

    Attributes:
        parts: What to show, in this order.
        prompt: What to ask for the next line with.
        save: None, or save the session: to the file of this name, or where it always goes if that is empty.
        done: The session is over: read no more.
    """

    parts: tuple[Part, ...]
    prompt: str
    save: str | None = None
    done: bool = False


class Values(Protocol):
    """What tells the chances of a position; `value.evaluator.Evaluator` is one."""

    def values(self, boards: Boards, moved_first: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Probability of each outcome for the player on roll, float32 (K, outcomes)."""
        ...


# --- the session ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Setup:
    """What is fixed for a session.

    Attributes:
        preset: Name of the rules.
        options: What differs from the preset.
        seed: Of the dice, the lots and the agent's ties, 0 to 2**63 - 1.
        name: Of the person, in records.
        games: Games to play where `points` is None.
        points: Points that win the match.
        first: Who starts the first game: `you`, `bot` or `lot` (R6.1).
        ask_dice: The person types all dice, from a real board.
        auto: Turns with one legal play are played for the person.
        cube: The doubling cube is played with (R8.6), in a match to `points` with the Crawford rule.
        doubling: How it is played.
    """

    preset: str
    options: Mapping[str, Any]
    seed: int
    name: str = "you"
    games: int = 1
    points: float | None = None
    first: str = "lot"
    ask_dice: bool = False
    auto: bool = True
    cube: bool = False
    doubling: CubeConfig = dataclasses.field(default_factory=CubeConfig)

    @property
    def rules(self) -> Rules:
        """The rules of every game."""
        return make_rules(self.preset, self.options)

    def match(self) -> Match:
        """The match before its first game.

        Raises:
            ValueError: A value that is not allowed.
        """
        if self.first not in ("lot", "you", "bot"):
            raise ValueError(f"first={self.first!r} is not allowed; choose one of lot, you, bot")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed={self.seed} is not allowed; give 0 to 2**63 - 1")
        if not self.name.strip() or len(self.name.splitlines()) > 1:
            raise ValueError(f"name={self.name!r} is not allowed; give one line")
        if self.points is not None and not 0 < self.points < math.inf:
            raise ValueError(f"points={self.points} is not allowed; give a number above 0")
        if self.cube:
            self._check_cube()
        length = {"games": self.games} if self.points is None else {"length": self.points}
        match = new_match(self.rules, self.seed, **length)
        return match if self.first == "lot" else dataclasses.replace(match, starter=YOU if self.first == "you" else BOT)

    def _check_cube(self) -> None:
        check_rules(self.rules)
        self.doubling.check()
        if self.doubling.beavers:
            raise ValueError("doubling.beavers=True is not allowed; beavers are not played against a person")
        if self.points is not None and (self.points % 1 or self.points > MAX_CUBE_MATCH):
            raise ValueError(
                f"points={self.points:g} is not allowed; a match with the cube is to 1..{MAX_CUBE_MATCH} whole points"
            )
        if self.points is not None and self.doubling.jacoby:
            raise ValueError("doubling.jacoby=True is not allowed with points; Jacoby's rule belongs to money play")


@dataclasses.dataclass(frozen=True)
class _State:
    """The match between two lines typed; a session's past is a list of these.

    Attributes:
        match: Score, and who started the current game. After the end of a game it is already that of the next one.
        starter: Who made the first move of the game on the board.
        board: Rows (player on roll, the other).
        turns: Of the current game.
        dice: Of the turn to be played, None if they are not known yet.
        outcome: Of the current game, None while it goes on.
        finished: Records of the finished games, the current one among them if it is over.
        doubled: What the player on roll doubled the cube to before this throw; the other took.
        offered: What he doubles it to, not answered yet.
        crawford: This is the Crawford game of a match with the cube.
        crawford_over: The Crawford game was before this one.
    """

    match: Match
    starter: int
    board: Board
    turns: tuple[RecordedTurn, ...] = ()
    dice: Dice | None = None
    outcome: Outcome | None = None
    finished: tuple[GameRecord, ...] = ()
    doubled: int | None = None
    offered: int | None = None
    crawford: bool = False
    crawford_over: bool = False

    @property
    def on_roll(self) -> int:
        return self.starter if len(self.turns) % 2 == 0 else 1 - self.starter

    @property
    def cube(self) -> tuple[int, int | None]:
        """Value of the cube, and the player who owns it; None = it is in the middle."""
        value, owner = 1, None
        for number, doubled in enumerate((*(turn.doubled for turn in self.turns), self.doubled)):
            if doubled is not None:
                value, owner = doubled, 1 - self.starter if number % 2 == 0 else self.starter
        return value, owner

    @property
    def last(self) -> tuple[Step, ...]:
        """What the agent has just played."""
        return parse_play(self.turns[-1].play) if self.turns and self.on_roll == YOU else ()

    @property
    def yours(self) -> Board:
        """The board with the person's row first."""
        return self.board if self.on_roll == YOU else (self.board[1], self.board[0])


class Session:
    """A person against an agent, from the first lot to the end of the match.

    Attributes:
        setup: What is fixed.
        rules: The rules of every game.
        name: The agent's name on the screen.
        hints: How often the person asked for hints.
        undos: How often he took a play back.
    """

    def __init__(
        self,
        setup: Setup,
        agent: Agent,
        *,
        hint_agent: Agent | None = None,
        chances: Values | None = None,
        record: MatchRecord | None = None,
    ) -> None:
        """Sets up a match, or goes on with one.

        Args:
            setup: What is fixed; the one that `resumed` gives for a record.
            agent: The opponent; it plays the rules of `setup`.
            hint_agent: Who gives the hints, the opponent if None.
            chances: Adds winning chances to the hints.
            record: An unfinished match to go on with, see `resumed`.

        Raises:
            ValueError: A setup that is not allowed, or a record that cannot be gone on with.
        """
        self.setup = setup
        self.rules = setup.rules
        self.agent = agent
        self.hint_agent = hint_agent or agent
        self.chances = chances
        self.name = _short(agent.spec)
        self.hints = self.undos = 0
        self.auto = setup.auto
        self._bot = agent.spec
        if self._bot == setup.name:
            raise ValueError(f"name={setup.name!r} is the opponent's name; choose another")
        self._points_before = (0.0, 0.0)  # of a match whose first games nobody recorded
        self._past: list[_State] = []
        self._listed = False  # may a play be typed as a number?
        self._question: Callable[[str], Reply] | None = None  # who takes the next line, if a question is open
        self._state = _new_game(setup.match(), cube=setup.cube)
        self._bot_cube, self._hint_cube = (self._at_the_cube(each) for each in (agent, self.hint_agent))
        if record is not None:
            self._go_on(record)

    # --- what a caller asks -------------------------------------------------------------------------------------------

    def start(self) -> Reply:
        """What to show and ask first."""
        state = self._state
        cube = ", with the doubling cube" if self.setup.cube else ""
        dice = "you type the dice" if self.setup.ask_dice else f"seed={self.setup.seed} throws the dice"
        parts: list[Part] = [
            Said(f"You play {self.agent.spec}: {self.setup.preset} rules, {_length(state.match)}{cube}, {dice}."),
            Said(
                f"The points are numbered from your side, {HEAD} at the top right, and you run down to 1 and off. A "
                f"play of {self.name} is written in its own numbers, as in game records, and then in yours. Type a "
                f"play, like {_EXAMPLE[self.rules.geometry]}, or help."
            ),
        ]
        if self.setup.cube and not isinstance(self.agent, GivesValues):
            parts.append(Said(f"{self.name} knows no chances: it never doubles, and takes every double."))
        if state.turns:
            colour = "white" if state.starter == YOU else "black"
            parts.append(Said(f"Game {self._number} goes on, turn {len(state.turns) + 1}; you have {colour}.", "news"))
        else:
            parts += self._opening()
        return self._reply(*parts, *self._advance())

    def command(self, line: str) -> Reply:
        """Answers one line typed by the person."""
        text = " ".join(unicodedata.normalize("NFKC", line).casefold().split())
        if len(text) > MAX_LINE:
            return self._error(f"{len(text)} characters are too many for a play or a command.")
        if self._question is not None:
            return self._question(text)
        if not text:
            if self._state.outcome:
                return self._next_game()
            return self._throw() if self._wants_throw else self._error(self._what_now())
        if self._state.outcome is None:
            if re.fullmatch(r"#?\d+\.?", text) and not self._wants_dice:
                return self._play_number(text.strip("#."))
            if self._wants_dice and text[0].isdigit():
                return self._set_dice(text)
            if re.match(r"pass$|(\d+|b|bar)\s*[/\\:>→–—-]", text):
                return self._play(text)
        word, _, rest = text.partition(" ")
        commands = self._commands
        names = [word] if word in commands else [name for name in commands if name.startswith(word)]
        if len(names) > 1:
            return self._error(f"{word!r} can mean {' or '.join(names)}.")
        if not names:
            return self._error(f"{text!r} is neither a play nor a command. {self._what_now()}")
        return commands[names[0]].answer(self, rest if names[0] != "save" else line.strip()[len(word) :].strip())

    @property
    def started(self) -> bool:
        """There is something to save."""
        return bool(self._state.turns or self._state.finished)

    @property
    def finished_games(self) -> int:
        """Games played to their end."""
        return len(self._state.finished)

    @property
    def over(self) -> bool:
        """The match is over."""
        return self._state.match.over

    def record(self) -> MatchRecord:
        """The match as it stands; a turn whose dice are thrown and not played yet is its last.

        Raises:
            ValueError: No turn has been played yet.
        """
        state = self._state
        games = state.finished
        if state.turns and state.outcome is None:
            games = (*games, self._game_record(state))
        tags = {"person": self.setup.name, "agent": self.agent.spec, "seed": str(self.setup.seed)}
        if state.match.length is None:
            tags["games"] = str(state.match.games)
        if self.setup.cube:
            tags["cube"] = "on"
        tags |= {"dice": "ask" if self.setup.ask_dice else "seed", "hints": str(self.hints), "undos": str(self.undos)}
        return MatchRecord((self.setup.name, self._bot), games, state.match.length, self._points_before, tags)

    # --- the flow of the game -----------------------------------------------------------------------------------------

    @property
    def _number(self) -> int:
        """Of the game on the board, from 1."""
        return len(self._state.finished) + (self._state.outcome is None)

    def _opening(self) -> list[Part]:
        """Says who starts."""
        state = self._state
        who = "You start, with white." if state.starter == YOU else f"{self.name} starts, and you have black."
        if state.crawford:
            who += " This is the Crawford game: nobody doubles."
        if state.match.played:
            return [Said(f"Game {self._number}. {who}", "news")]
        if self.setup.first != "lot" or self.setup.ask_dice:
            return [Said(who, "news")]
        high, low = self._lot()
        yours, other = (high, low) if state.starter == YOU else (low, high)
        return [Said(f"The lot: you {yours}, {self.name} {other}. {who}", "news")]

    def _lot(self) -> Dice:
        return _pair(opening_lot(self.setup.seed, self._state.match.played)[0])

    def _thrown(self, state: _State, play_lot: bool = False) -> Dice:
        """The dice that the seed gives this turn."""
        return _pair(roll(_games(state), self.setup.seed, self.rules, play_lot)[0])

    @property
    def _wants_dice(self) -> bool:
        """The person has to type the dice."""
        state = self._state
        return self.setup.ask_dice and state.dice is None and state.offered is None and state.outcome is None

    @property
    def _wants_choice(self) -> bool:
        """R6.1 `choice`: the person starts, and says whether he plays the lot or throws afresh."""
        state = self._state
        choice = self.rules.opening_roll == "choice" and not self.setup.ask_dice
        return choice and not state.turns and state.on_roll == YOU and state.dice is None and state.outcome is None

    def _advance(self) -> list[Part]:
        """Plays on until the person has something to type, and shows what happened."""
        parts: list[Part] = []
        while self._state.outcome is None:
            state = self._state
            if state.offered is not None and state.on_roll == YOU:
                parts.append(self._bot_answer(state, state.offered))
                continue
            if state.on_roll == BOT and state.offered is None and self._bot_doubles(state):
                parts.append(self._offer(state))
            if self._wants_answer or self._wants_throw or self._wants_dice or self._wants_choice:
                return [*parts, self._view()]
            if state.dice is None:
                self._state = dataclasses.replace(state, dice=self._thrown(state))
            elif state.on_roll == BOT:
                parts.append(self._bot_turn(state, state.dice))
            else:
                plays = legal_plays(state.board, state.dice, self.rules)
                if len(plays) > 1 or not self.auto:
                    stuck = [] if plays[0].steps else [Said("No die can be played: pass.", "news")]
                    return [*parts, self._view(), *stuck]
                parts.append(self._forced_turn(state, state.dice, plays[0]))
        return [*parts, *self._result()]

    def _bot_turn(self, state: _State, dice: Dice) -> Said:
        decisions = _decisions(state, dice, self.rules)
        ties = dice_lib.bits(self.setup.seed, dice_lib.TIES, np.array([len(state.finished)]), len(state.turns))
        ranks = self._bot_cube.rank(decisions, self._scores(state)) if self._bot_cube else self.agent.scores(decisions)
        row = int(choose(ranks, decisions.afterstates.offsets, ties)[0])
        board = as_board(decisions.afterstates.boards[row])
        play = next(play for play in legal_plays(state.board, dice, self.rules) if play.board == board)
        self._make(state, dice, play)
        return Said(self._told(dice, play.steps), "news")

    def _told(self, dice: Dice, steps: tuple[Step, ...]) -> str:
        """A turn of the agent in words, in both numberings."""
        if not steps:
            return f"{self.name} throws {_dice_text(dice)} and cannot move."
        yours = re.sub(r"(?<!\()\d+", lambda match: str(opposing_point(int(match[0]), self.rules)), format_play(steps))
        return f"{self.name} throws {_dice_text(dice)} and plays {format_play(steps)} (for you {yours})."

    def _forced_turn(self, state: _State, dice: Dice, play: Play) -> Said:
        self._make(state, dice, play)
        if not play.steps:
            return Said(f"You throw {_dice_text(dice)}: no die can be played, you pass.", "news")
        return Said(f"You throw {_dice_text(dice)}: the only play, {format_play(play.steps)}, is made for you.", "news")

    def _make(self, state: _State, dice: Dice, play: Play) -> None:
        """Makes a play, and passes the turn or ends the game."""
        turns = (*state.turns, RecordedTurn(dice, format_play(play.steps), state.doubled))
        outcome = judge(state.board, play.board, len(turns), self.rules)
        after = dataclasses.replace(state, board=(play.board[1], play.board[0]), turns=turns, dice=None, doubled=None)
        if outcome is not None and outcome.winner != NOBODY:
            outcome = outcome._replace(points=self._counted(after, outcome.points))
        self._enter(after if outcome is None else self._ended(after, outcome))

    def _ended(self, state: _State, outcome: Outcome, ended: str | None = None) -> _State:
        """The state after the end of the game on the board."""
        winner = {FIRST: state.starter, SECOND: 1 - state.starter, NOBODY: None}[outcome.winner]
        record = self._game_record(state, outcome, ended)
        match = state.match.after_game(winner, outcome.points)
        return dataclasses.replace(state, match=match, outcome=outcome, finished=(*state.finished, record))

    def _enter(self, state: _State) -> None:
        self._state = state
        self._listed = False

    def _game_record(self, state: _State, outcome: Outcome | None = None, ended: str | None = None) -> GameRecord:
        names = (self.setup.name, self._bot)
        turns = state.turns
        if state.dice is not None and (outcome is None or ended == RESIGNED):
            turns = (*turns, RecordedTurn(state.dice, NOT_PLAYED, state.doubled))
        # a double that was taken, its dice not typed yet, is kept as one that waits for the answer: it is given again
        offered = state.offered or (state.doubled if state.dice is None else None)
        return GameRecord(
            self.setup.preset,
            self.setup.options,
            turns,
            first=names[state.starter],
            second=names[1 - state.starter],
            offered=offered if outcome is None or ended == DROPPED else None,
            ended=ended,
            tags={JACOBY: "on"} if self.setup.cube and self.setup.doubling.jacoby else {},
            **({} if outcome is None else outcome._asdict()),
        )

    def _result(self) -> list[Part]:
        """Shows the end of a game."""
        state = self._state
        match, outcome = state.match, state.outcome
        assert outcome is not None
        points = _count(outcome.points, "point")
        if outcome.winner == NOBODY:
            text = f"A draw: {points} for each."
        else:
            who = "You win" if (outcome.winner == FIRST) == (state.starter == YOU) else f"{self.name} wins"
            how = "a dropped double" if outcome.result == DROPPED else _result_name(outcome.result)
            text = f"{who} by {how}: {points}."
        parts: list[Part] = [self._view(), Said(text, "news")]
        return parts if match.over and match.played == 1 else [*parts, self._score()]

    def _score(self) -> Said:
        match = self._state.match
        played = f"{_count(match.played, 'game')} of {_length(match)}"
        you, bot = match.points
        return Said(f"{'Final score' if match.over else 'Score'}: you {you:g}, {self.name} {bot:g}, after {played}.")

    # --- the cube -----------------------------------------------------------------------------------------------------

    def _at_the_cube(self, agent: Agent) -> CubePlayer | None:
        """An agent with the cube, None where there is none."""
        if not self.setup.cube:
            return None
        points = self.setup.points
        return CubePlayer(
            agent, self.setup.doubling, None if points is None else match_table(max(int(points), LONGEST))
        )

    def _scores(self, state: _State) -> Scores:
        """Cube and score, seen by the player on roll."""
        value, owner = state.cube
        side = CENTRED if owner is None else ON_ROLL if owner == state.on_roll else OPPONENT
        away = (
            [0, 0]
            if state.match.length is None
            else [int(state.match.length - state.match.points[player]) for player in (state.on_roll, 1 - state.on_roll)]
        )
        return Scores(np.array([away]), np.array([state.crawford]), np.array([value]), np.array([side], dtype=np.int8))

    def _position(self, state: _State) -> tuple[Boards, NDArray[np.bool_], Scores]:
        """The position before the throw, as a `CubePlayer` wants it."""
        moved_first = np.array([state.on_roll == state.starter])
        return np.array([state.board], dtype=np.int8), moved_first, self._scores(state)

    def _no_double(self, state: _State) -> str:
        """Why the player on roll may not double now, said to the person; empty if he may."""
        if state.outcome is not None:
            return "The game is over."
        if state.offered is not None:
            return self._what_now()
        if state.dice is not None or state.doubled is not None:
            return "A double comes before the throw, once a turn."
        if not state.turns:
            return "Nobody doubles before the first throw, which is the lot's (R8.4)."
        if state.crawford:
            return "This is the Crawford game: nobody doubles."
        value, owner = state.cube
        if owner not in (None, state.on_roll):
            return f"The cube belongs to {self.name}: only the player who took the last double may double."
        scores = self._scores(state)
        if state.match.length is None:
            highest = 2 * value > self.setup.doubling.max_cube
            return f"The cube stands at {value}, and goes no higher here." if highest else ""
        if not match_cube.useful(scores)[0][0]:
            return f"The cube is dead for you: at {value} a single game wins you the match already."
        return ""

    def _counted(self, state: _State, points: float) -> float:
        """What a result of so many points counts with the cube."""
        value, owner = state.cube
        jacoby = self.setup.cube and self.setup.doubling.jacoby and owner is None
        return 1.0 if jacoby else points * value

    @property
    def _wants_throw(self) -> bool:
        """The person may double, and the dice wait for him."""
        state = self._state
        mine = self.setup.cube and not self.setup.ask_dice and state.on_roll == YOU
        return mine and not self._no_double(state)

    @property
    def _wants_answer(self) -> bool:
        """The person has to take or drop."""
        return self._state.offered is not None and self._state.on_roll == BOT and self._state.outcome is None

    def _bot_doubles(self, state: _State) -> bool:
        player = self._bot_cube
        if player is None or self._no_double(state):
            return False
        return bool(player.wants_to_double(*self._position(state))[0])

    def _offer(self, state: _State) -> Said:
        value = state.cube[0]
        self._past.clear()  # no way back over a double
        self._enter(dataclasses.replace(state, offered=2 * value))
        return Said(f"{self.name} doubles to {2 * value}. Take it, or drop and lose {_count(value, 'point')}?", "news")

    def _bot_answer(self, state: _State, offered: int) -> Said:
        assert self._bot_cube is not None
        if self._bot_cube.answers(*self._position(state))[0] == PASS:
            self._enter(self._dropped(state))
            return Said(f"{self.name} drops.", "news")
        self._enter(dataclasses.replace(state, offered=None, doubled=offered))
        return Said(f"{self.name} takes: the cube is on {offered}, and {self.name}'s.", "news")

    def _dropped(self, state: _State) -> _State:
        winner = FIRST if state.on_roll == state.starter else SECOND
        return self._ended(state, Outcome(winner, DROPPED, float(state.cube[0])), DROPPED)

    def _cube_text(self) -> str:
        """Cube and score, shown with the board."""
        state = self._state
        value, owner = state.cube
        where = {None: "in the middle", YOU: "yours", BOT: f"{self.name}'s"}[owner]
        text = f"Cube: {value}, {where}."
        if state.match.length is not None and state.outcome is None:
            you, bot = state.match.points
            text += f" Score: you {you:g}, {self.name} {bot:g}, to {state.match.length:g}."
            text += " Crawford game." if state.crawford else ""
        return text

    # --- going on with a record ---------------------------------------------------------------------------------------

    def _go_on(self, record: MatchRecord) -> None:
        """Takes over the games of a record, and the person's decisions in the last of them, to be taken back."""
        self._bot = next(name for name in record.players if name != self.setup.name)
        self.hints, self.undos = (_whole_number(record.tags, tag, 0) for tag in ("hints", "undos"))
        points = record.start if record.players[YOU] == self.setup.name else (record.start[1], record.start[0])
        self._points_before = points
        cube = self.setup.cube
        if cube and any(point % 1 for point in points):
            raise ValueError("a match with the cube has whole points only")
        if cube and record.tags.get("Crawford", "On").casefold() == "off":
            raise ValueError("a match without the Crawford rule cannot be played on here")
        state = _new_game(dataclasses.replace(self._state.match, points=points), cube=cube)
        for index, (game, played) in enumerate(zip(record.games, replay_match(record).games, strict=True)):
            starter = 1 - record.starter(index) if record.players[0] == self._bot else record.starter(index)
            match = dataclasses.replace(state.match, starter=starter)
            if played.outcome:
                winner = {FIRST: starter, SECOND: 1 - starter, NOBODY: None}[played.outcome.winner]
                state = _new_game(match.after_game(winner, played.outcome.points), (*state.finished, game), state, cube)
                continue
            if not cube and (game.offered or any(turn.doubled for turn in game.turns)):
                raise ValueError("the game has the doubling cube (R8.6); go on with it with cube=true")
            state = dataclasses.replace(state, match=match, starter=starter)
            for number, turn in enumerate(played.turns):
                double = game.turns[number].doubled
                if double is not None:
                    self._past.clear()
                before = dataclasses.replace(
                    state, board=turn.board, turns=game.turns[:number], dice=turn.dice, doubled=double
                )
                if before.on_roll == YOU and len(legal_plays(turn.board, turn.dice, self.rules)) > 1:
                    self._past.append(before)
            number = len(played.turns)
            thrown = game.turns[number] if len(game.turns) > number else None
            state = dataclasses.replace(
                state,
                board=played.board,
                turns=game.turns[:number],
                dice=thrown.dice if thrown else None,
                doubled=thrown.doubled if thrown else None,
                offered=game.offered,
            )
            if state.doubled is not None or state.offered is not None:
                self._past.clear()
        if state.match.over:
            raise ValueError("the match is over; there is nothing to go on with")
        self._state = state

    # --- what is typed ------------------------------------------------------------------------------------------------

    def _play(self, text: str) -> Reply:
        state = self._state
        if state.dice is None:
            return self._error(self._what_now())
        try:
            play = find_play(_as_notation(text), state.board, state.dice, self.rules)
        except ValueError as error:
            return self._error(f"{str(error)[0].upper()}{str(error)[1:]}.")
        return self._decide(state, state.dice, play)

    def _play_number(self, text: str) -> Reply:
        state = self._state
        if state.dice is None:
            return self._error(self._what_now())
        if not self._listed:
            return self._error("A number is that of a play in the list: type plays or hint to see it first.")
        plays = legal_plays(state.board, state.dice, self.rules)
        number = int(text) if len(text) < 6 else 0
        if not 1 <= number <= len(plays):
            return self._error(f"There is no play number {text}; there are 1 to {len(plays)}.")
        return self._decide(state, state.dice, plays[number - 1])

    def _decide(self, state: _State, dice: Dice, play: Play) -> Reply:
        self._make(state, dice, play)
        self._past.append(state)
        return self._reply(Said(f"You play {format_play(play.steps)}."), *self._advance())

    def _set_dice(self, text: str) -> Reply:
        """Takes dice that the person has thrown."""
        match = re.fullmatch(r"([1-6])[ ,:/-]*([1-6])", text)
        if not self.setup.ask_dice:
            return self._error("The dice are thrown by the seed here; dice=ask on the command line lets you throw.")
        if not match:
            return self._error(f"{text!r} are no two dice; type them like 6-3 or 63.")
        dice = _pair(map(int, match.groups()))
        if self.rules.opening_roll == "use" and not self._state.turns and dice[0] == dice[1]:
            return self._error("The first throw is the lot itself, so no double (R6.1): throw again.")
        self._enter(dataclasses.replace(self._state, dice=dice))
        return self._reply(*self._advance())

    def _dice(self, rest: str) -> Reply:
        state = self._state
        if rest:
            if state.outcome is not None or (state.turns and state.dice is None and not self._wants_dice):
                return self._error(self._what_now())
            return self._set_dice(rest)
        if state.dice is None:
            return self._error(self._what_now())
        double = state.dice[0] == state.dice[1]
        return self._reply(Said(f"You have {_dice_text(state.dice)}{', four steps' if double else ''}."))

    def _plays(self, rest: str) -> Reply:
        state = self._state
        if state.dice is None:
            return self._error(self._what_now())
        self._listed = True
        return self._reply(Listing(tuple(format_play(play.steps) for play in self._legal(state))))

    def _hint(self, rest: str) -> Reply:
        state = self._state
        if self._hint_cube and (self._wants_answer or (state.on_roll == YOU and not self._no_double(state))):
            return self._hint_on_the_cube(state, self._hint_cube)
        if state.dice is None:
            return self._error(self._what_now())
        if rest and not re.fullmatch(r"[1-9]\d{0,3}", rest):
            return self._error(f"hint {rest!r} is not understood; hint 8 shows the 8 best plays.")
        agent = self.hint_agent
        decisions = _decisions(state, state.dice, self.rules)
        scores = agent.scores(decisions)
        order = np.argsort(-scores, kind="stable")[: int(rest or 5)]
        self.hints += 1
        if not agent.gives_equities and scores.min() == scores.max():
            return self._reply(Said(f"{_short(agent.spec)} has no opinion: all {len(scores)} plays are alike to it."))
        boards = decisions.afterstates.boards
        plays = {play.board: (number, play) for number, play in enumerate(self._legal(state), start=1)}
        chances = _chances(self.chances, decisions, self.rules)
        rows = []
        for row in order:
            number, play = plays[as_board(boards[row])]
            cells = [str(number), format_play(play.steps)]
            if agent.gives_equities:
                cells += [f"{scores[row]:+.3f}", f"{scores[row] - scores[order[0]]:.3f}" if row != order[0] else ""]
            rows.append((*cells, *(column[row] for column in chances.values())))
        self._listed = True
        equities = ("equity", "loss") if agent.gives_equities else ()
        table = Table(("no.", "play", *equities, *chances), tuple(rows))
        unit = "equity in points" if agent.gives_equities else "it gives no equities, only an order"
        unit += ", chances as its net sees them without looking ahead" if chances else ""
        return self._reply(Said(f"{_short(agent.spec)} likes best, of {_count(len(scores), 'play')} ({unit}):"), table)

    def _hint_on_the_cube(self, state: _State, player: CubePlayer) -> Reply:
        """What the hint agent thinks of doubling or, if the person has to answer, of taking."""
        name = _short(player.agent.spec)
        self.hints += 1
        if not isinstance(player.agent, GivesValues):
            return self._reply(Said(f"{name} has no opinion of the cube: it knows no chances."))
        boards, moved_first, scores = self._position(state)
        found = player.decide(boards, moved_first, scores)
        worths = {"no double": found.no_double, "double, take": found.double_take, "double, pass": found.double_pass}
        action = found.actions[0]
        if self._wants_answer:  # it is the other's decision: take or drop, seen by the person
            worths = {"take": found.double_take, "drop": found.double_pass}
            action = "take" if found.take[0] else "drop"
        sign = -1.0 if self._wants_answer else 1.0
        rows = []
        for decision, worth in worths.items():
            equity = worth if player.table is None else match_cube.normalised(worth, scores, player.table)
            cells = [decision, f"{sign * float(equity[0]):+.3f}"]
            if player.table is not None:
                cells.append(f"{100 * (float(worth[0]) if sign > 0 else 1 - float(worth[0])):.1f}%")
            rows.append(tuple(cells))
        chance = () if player.table is None else ("match",)
        unit = "equity in points per unit of the cube" + ("" if player.table is None else ", chance to win the match")
        return self._reply(Said(f"{name} thinks: {action} ({unit}):"), Table(("play", "equity", *chance), tuple(rows)))

    def _throw(self) -> Reply:
        """No double: throws the dice."""
        self._enter(dataclasses.replace(self._state, dice=self._thrown(self._state)))
        return self._reply(*self._advance())

    def _double(self, rest: str) -> Reply:
        state = self._state
        if state.outcome is None and state.on_roll == BOT and state.offered is None:
            return self._error(f"It is {self.name}'s throw. {self._what_now()}")
        reason = self._no_double(state)
        if reason:
            return self._error(reason)
        offered = 2 * state.cube[0]
        self._past.clear()
        self._enter(dataclasses.replace(state, offered=offered))
        return self._reply(Said(f"You double to {offered}."), *self._advance())

    def _take(self, rest: str) -> Reply:
        if not self._wants_answer:
            return self._error(f"There is no double to answer. {self._what_now()}")
        state = self._state
        self._enter(dataclasses.replace(state, offered=None, doubled=state.offered))
        return self._reply(Said(f"You take: the cube is on {state.offered}, and yours."), *self._advance())

    def _drop(self, rest: str) -> Reply:
        if not self._wants_answer:
            return self._error(f"There is no double to answer. {self._what_now()}")
        self._enter(self._dropped(self._state))
        return self._reply(Said("You drop."), *self._result())

    def _legal(self, state: _State) -> list[Play]:
        assert state.dice is not None
        return legal_plays(state.board, state.dice, self.rules)

    def _undo(self, rest: str) -> Reply:
        if not self._past and self.setup.cube:
            return self._error("There is nothing to take back: you have decided nothing since the last double.")
        if not self._past:
            return self._error("There is nothing to take back: you have decided nothing in this game yet.")
        self._enter(self._past.pop())
        self.undos += 1
        state = self._state
        return self._reply(
            Said(f"Back to turn {len(state.turns) + 1}; the dice stay as they were.", "news"),
            self._view(),
        )

    def _board(self, rest: str) -> Reply:
        state = self._state
        if state.last:
            return self._reply(Said(self._told(state.turns[-1].dice, state.last)), self._view())
        return self._reply(self._view())

    def _id(self, rest: str) -> Reply:
        state = self._state
        lines = [f"Position, player on roll first: {format_position(state.board)}"]
        if self.rules.geometry == "short" and state.outcome is None:
            here = Standing(state.match.points, state.match.length, state.crawford)
            try:
                position = board_position(state.board, state.dice, state.on_roll, here)
                if self.setup.cube:
                    value, owner = state.cube
                    position = dataclasses.replace(
                        position,
                        jacoby=self.setup.doubling.jacoby,
                        cube=value,
                        cube_owner=None if owner is None else int(owner != state.on_roll),
                        doubled=state.offered is not None,
                        opponent_to_act=state.offered is not None,
                    )
            except ValueError as error:
                return self._reply(Said(lines[0]), Said(f"{str(error)[0].upper()}{str(error)[1:]}."))
            lines += [format_xgid(position), f"GNU Backgammon: {format_gnubg_id(position)}"]
        return self._reply(Said("\n".join(lines)))

    def _pips(self, rest: str) -> Reply:
        yours, other = pip_count(np.array([self._state.yours], dtype=np.int8))[0]
        lead = "level" if yours == other else f"you {'lead' if yours < other else 'trail'} by {abs(yours - other)}"
        return self._reply(Said(f"Pips left: you {yours}, {self.name} {other}; {lead}."))

    def _say_score(self, rest: str) -> Reply:
        return self._reply(self._score())

    def _set_auto(self, rest: str) -> Reply:
        if rest not in ("", "on", "off"):
            return self._error(f"auto {rest!r} is not understood; type auto on or auto off.")
        self.auto = not self.auto if not rest else rest == "on"
        state = "are made for you" if self.auto else "are left to you"
        return self._reply(Said(f"Turns with only one play {state} from now on."))

    def _resign(self, rest: str) -> Reply:
        state = self._state
        if state.outcome is not None:
            return self._error("The game is over.")
        if state.offered is not None or (state.doubled is not None and state.dice is None):
            return self._error(self._what_now())  # no record could tell what the game had counted
        row = np.array([state.yours[0]], dtype=np.int8)
        level = win_level(row, self.rules)
        points = self._counted(state, float(result_points(row, level, self.rules)[0]))
        result = LEVELS[self.rules.scoring][int(level[0]) - 1][0]
        outcome = Outcome(SECOND if state.starter == YOU else FIRST, result, points)

        def confirmed() -> Reply:
            self._past.append(state)
            self._enter(self._ended(state, outcome, RESIGNED))
            return self._reply(Said("You resign."), *self._result())

        why = f"You would lose by {_result_name(result)}, {_count(points, 'point')}, as the board stands. Resign?"
        return self._ask(why, confirmed)

    def _save(self, rest: str) -> Reply:
        if not self.started:
            return self._error("There is nothing to save before the first turn is played.")
        return self._reply(save=rest)

    def _quit(self, rest: str) -> Reply:
        if not self.started or self.over:
            return self._reply(done=True)
        return self._ask(
            "Save the match, to go on another time?",
            lambda: self._reply(save="", done=True),
            lambda: self._reply(done=True),
            cancel=True,
        )

    def _ask(
        self, question: str, yes: Callable[[], Reply], no: Callable[[], Reply] | None = None, cancel: bool = False
    ) -> Reply:
        """Asks before something that cannot be taken back."""
        allowed = "yes/no/cancel" if cancel else "yes/no"

        def answer(text: str) -> Reply:
            self._question = None
            if text and text[0] in "yд":
                return yes()
            if text and text[0] in "nн":
                return no() if no else self._reply(Said("The game goes on."))
            if text[:1] == "c" and cancel:
                return self._reply(Said("The game goes on."))
            self._question = answer
            return Reply((Said(f"Please type {allowed.replace('/', ' or ')}.", "error"),), f"{allowed}> ")

        self._question = answer
        return Reply((Said(question, "news"),), f"{allowed}> ")

    def _choose_lot(self, play_lot: bool) -> Reply:
        state = self._state
        if not play_lot and self._wants_throw:
            return self._throw()
        if not self._wants_choice:
            return self._error("Under these rules, or at this time, there is no choice between the lot and a throw.")
        self._enter(dataclasses.replace(state, dice=self._thrown(state, play_lot)))
        self._past.append(state)
        return self._reply(*self._advance())

    def _next_game(self) -> Reply:
        state = self._state
        if state.match.over:
            return self._reply(done=True)
        self._past.clear()
        self._enter(_new_game(state.match, state.finished, state, self.setup.cube))
        return self._reply(*self._opening(), *self._advance())

    def _help(self, rest: str) -> Reply:
        lines = ["Commands, in full or by their beginning:"]
        lines += [f"  {command.usage:<13} {command.about}" for command in self._commands.values() if command.about]
        return self._reply(Said(_HOW_TO_PLAY[self.rules.geometry]), Said("\n".join(lines)))

    @property
    def _commands(self) -> "dict[str, _Command]":
        return _COMMANDS | _CUBE_COMMANDS if self.setup.cube else _COMMANDS

    # --- answers ------------------------------------------------------------------------------------------------------

    def _view(self) -> View:
        state = self._state
        dice = state.dice if state.on_roll == YOU and state.outcome is None else None
        return View(state.yours, dice, state.last, state.starter == YOU, self._cube_text() if self.setup.cube else "")

    def _reply(self, *parts: Part, save: str | None = None, done: bool = False) -> Reply:
        return Reply(parts, self._prompt(), save, done or (self.over and self._state.outcome is not None))

    def _error(self, text: str) -> Reply:
        return self._reply(Said(text, "error"))

    def _prompt(self) -> str:
        state = self._state
        if state.outcome is not None:
            return "Enter for the next game> "
        if self._wants_choice:
            return f"lot {_dice_text(self._lot())} or throw> "
        if self._wants_answer:
            return "take or drop> "
        if self._wants_throw:
            return "Enter to throw, or double> "
        if state.dice is None and state.on_roll == YOU and self.setup.cube and not self._no_double(state):
            return "your dice, or double> "
        if state.dice is None:
            return "your dice> " if state.on_roll == YOU else f"dice of {self.name}> "
        return f"{_dice_text(state.dice)}> "

    def _what_now(self) -> str:
        """What the session waits for."""
        state = self._state
        if state.outcome is not None:
            return "The game is over: Enter begins the next one, quit ends the match."
        if self._wants_choice:
            return "You start: type lot to play the dice of the lot, or throw to throw afresh."
        if self._wants_answer:
            return f"{self.name} doubles to {state.offered}: type take, drop, or hint."
        if self._wants_throw:
            return "Press Enter to throw, or type double, hint, or help."
        if state.dice is None:
            whose = "your dice" if state.on_roll == YOU else f"the dice of {self.name}"
            mine = self.setup.cube and state.on_roll == YOU and not self._no_double(state)
            return f"Type {whose}, like 6-3 or 63, or {'double, hint, or help' if mine else 'help'}."
        return f"Type a play, like {_EXAMPLE[self.rules.geometry]}, plays for a list, or help."


# --- commands ---------------------------------------------------------------------------------------------------------


class _Command(NamedTuple):
    """A word that may be typed. Those without `about` are not in the help."""

    answer: Callable[[Session, str], Reply]
    usage: str
    about: str


_COMMANDS: dict[str, _Command] = {
    "plays": _Command(Session._plays, "plays", "list the legal plays; a number then plays one"),
    "hint": _Command(Session._hint, "hint [N]", "the N best plays, with equities if the agent has any"),
    "board": _Command(Session._board, "board", "draw the board again, after the last play"),
    "dice": _Command(Session._dice, "dice [6-3]", "the dice; with dice=ask, correct those just typed"),
    "id": _Command(Session._id, "id", "the position as text; in short nardy also as XGID and GNUBG ID"),
    "pips": _Command(Session._pips, "pips", "pips that both players still have to run"),
    "score": _Command(Session._say_score, "score", "the score of the match"),
    "undo": _Command(Session._undo, "undo", "back to your last decision; the dice stay the same"),
    "auto": _Command(Session._set_auto, "auto [on|off]", "make a turn's only play for you, or not"),
    "save": _Command(Session._save, "save [FILE]", "write the record; resume=FILE goes on with it another day"),
    "resign": _Command(Session._resign, "resign", "give the game up, for what it would cost as the board stands"),
    "quit": _Command(Session._quit, "quit", "leave; asks whether to save"),
    "help": _Command(Session._help, "help", "this"),
    "?": _Command(Session._help, "?", ""),
    "exit": _Command(Session._quit, "exit", ""),
    "lot": _Command(lambda session, _: session._choose_lot(True), "lot", ""),
    "throw": _Command(lambda session, _: session._choose_lot(False), "throw", ""),
}

_CUBE_COMMANDS: dict[str, _Command] = {
    "throw": _Command(
        lambda session, _: session._choose_lot(False), "throw", "throw the dice, without a double; so does Enter"
    ),
    "double": _Command(Session._double, "double", "turn the cube before your throw; hint says what is right"),
    "take": _Command(Session._take, "take", "take a double: the game counts twice, and the cube is yours"),
    "drop": _Command(Session._drop, "drop", "refuse a double, and lose what the cube counted before it"),
}
"""Only where the doubling cube is played with."""

_EXAMPLE = {"long": "24/18 13/11", "short": "13/8 6/5"}
"""A play of each game, for messages."""

_HOW_TO_PLAY = {
    "long": (
        "A step is source/target in your own numbers, like 24/18; a turn is its steps, in any order: 24/18 13/11. The "
        "steps of one checker may be joined, 24/18/16 or 24/16, and 24/18(2) is the step twice. 6/off bears off. No "
        "step at all is pass. Your head (голова) is 24, your home 6 to 1: one checker a turn may leave the head, and "
        "nobody is hit: a single checker closes a point. Six points in a row (блок) are forbidden unless an opposing "
        "checker is ahead of them. Who bears off all 15 first wins: oin (оин) if the other has borne off any, "
        "and mars (марс), which counts more, if he has not."
    ),
    "short": (
        "A step is source/target in your own numbers, like 13/8; a turn is its steps, in any order: 13/8 6/5. The "
        "steps of one checker may be joined, 13/8/7 or 13/7, and 6/5(2) is the step twice. bar/20 enters a checker, "
        "6/off bears off, * marks a hit and may be left out. No step at all is pass. Two checkers close a point, a "
        "single one may be hit. Who bears off all 15 first wins: single, gammon (марс) if the other has borne off "
        "none, backgammon (кокс) if one of those is also on the bar or in the winner's home."
    ),
}


# --- text -------------------------------------------------------------------------------------------------------------


def _as_notation(text: str) -> str:
    """What people write for plays, in the notation: other signs for the slash, commas, b, o, `x2`."""
    text = re.sub(r"(?<=[\dbr*])\s*[/\\>:→–—-]+\s*(?=[\do])", "/", text)
    text = re.sub(r"\s*[x×]\s*([1-9])\b", r"(\1)", re.sub(r"\s+(?=\()", "", text))
    text = re.sub(r"\b(?:b|25)/", "bar/", text)
    text = re.sub(r"/[o0]\b", "/off", text)
    return re.sub(r"[,;.\s]+", " ", text).strip()


def _count(number: float, thing: str) -> str:
    return f"{number:g} {thing}{'' if number == 1 else 's'}"


def _dice_text(dice: Dice) -> str:
    return f"{dice[0]}-{dice[1]}"


def _result_name(result: str) -> str:
    return result.replace("_", " ")


def _short(spec: str) -> str:
    """An agent's name on the screen: the last part of its path."""
    return spec.rstrip("/").rpartition("/")[2] or spec


def _length(match: Match) -> str:
    return f"a match to {match.length:g} points" if match.length is not None else _count(match.games or 1, "game")


# --- boards -----------------------------------------------------------------------------------------------------------


def _new_game(
    match: Match, finished: tuple[GameRecord, ...] = (), before: _State | None = None, cube: bool = False
) -> _State:
    """The start of a game; `before` is the game before it, and `cube` says whether the cube is played with."""
    start = match.rules.start
    needs_one = cube and match.length is not None and max(match.points) == match.length - 1 > 0
    over = before is not None and (before.crawford or before.crawford_over)
    return _State(
        match, match.starter, (start, start), finished=finished, crawford=needs_one and not over, crawford_over=over
    )


def _pair(dice: Iterable[int]) -> Dice:
    """Two dice, the higher first."""
    high, low = sorted((int(die) for die in dice), reverse=True)
    return high, low


def _games(state: _State) -> Games:
    """The game on the board as a batch of one."""
    boards = np.array([state.board], dtype=np.int8)
    return Games(boards, np.array([len(state.finished)]), np.array([len(state.turns)]))


def _decisions(state: _State, dice: Dice, rules: Rules) -> Decisions:
    return decide(_games(state), np.array([dice], dtype=np.int8), rules)


def _chances(values: Values | None, decisions: Decisions, rules: Rules) -> dict[str, list[str]]:
    """Columns for the hints: what every afterstate promises its mover; empty cells where the game is over."""
    if values is None:
        return {}
    boards = decisions.afterstates.boards
    found = values.values(flip(boards), np.repeat(~decisions.moved_first, len(boards)))[:, ::-1]
    count = levels(rules)
    if found.shape[1] != 2 * count + 1:  # scoring `checkers`: an equity only
        return {}
    over = (boards[:, :, OFF] == CHECKERS).any(axis=1)
    higher = _result_name(LEVELS[rules.scoring][1][0])
    columns = {
        "win": found[:, count + 1 :].sum(axis=1),
        f"win {higher}": found[:, count + 2 :].sum(axis=1),
        f"lose {higher}": found[:, : count - 1].sum(axis=1),
    }
    return {
        name: ["" if done else f"{100 * share:.1f}%" for share, done in zip(column, over, strict=True)]
        for name, column in columns.items()
    }


# --- records ----------------------------------------------------------------------------------------------------------


def resumed(record: Record, setup: Setup, agent: str) -> tuple[MatchRecord, Setup]:
    """What a session needs to go on with a record, this kit's or another program's.

    Args:
        record: A match with a player of the name `setup.name` or a tag `person`, or a game. In a game without such a
            player the person takes the seat of the one who moved first, or the other if `setup.first` is `bot`.
        setup: What the record leaves open.
        agent: The opponent's spec, for a game that does not name its players.

    Returns:
        The record as a match of the person, and the setup that goes on with it.

    Raises:
        ValueError: The person is not among the players, or a tag cannot be read.
    """
    if isinstance(record, GameRecord):
        names = [record.first or "", record.second or ""]
        if setup.name not in names:
            seat = 1 if setup.first == "bot" else 0
            names[seat] = setup.name
            names[1 - seat] = names[1 - seat] or agent
        else:
            names = [name or agent for name in names]
        game = dataclasses.replace(record, first=names[0], second=names[1])
        record = MatchRecord((names[0], names[1]), (game,))
    tags = record.tags
    name = tags.get("person", setup.name)
    if name not in record.players:
        raise ValueError(f"the players are {' and '.join(record.players)}; say who you are with name=...")
    rules = record.games[0]
    cube = tags["cube"] == "on" if "cube" in tags else setup.cube
    jacoby = record.games[-1].tags.get(JACOBY) == "on" or (setup.doubling.jacoby and "cube" not in tags)
    return record, dataclasses.replace(
        setup,
        preset=rules.preset,
        options=rules.options,
        name=name,
        seed=_whole_number(tags, "seed", setup.seed),
        games=setup.games if record.length else _whole_number(tags, "games", len(record.games)),
        points=record.length,
        ask_dice=tags["dice"] == "ask" if "dice" in tags else setup.ask_dice,
        cube=cube,
        doubling=dataclasses.replace(setup.doubling, jacoby=jacoby) if cube else setup.doubling,
    )


def _whole_number(tags: Mapping[str, str], name: str, default: int) -> int:
    text = tags.get(name, str(default))
    if not re.fullmatch(r"[0-9]{1,19}", text):
        raise ValueError(f"the tag {name}: {text} of the record is not a whole number")
    return int(text)
