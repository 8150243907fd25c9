"""The pictures of a run that the README shows."""

from pathlib import Path

from nardy_rl.agents.base import choose, decide
from nardy_rl.agents.value import ValueAgent
from nardy_rl.evaluation.figures import save_svg
from nardy_rl.files import write_text
from nardy_rl.game import apply, new_games, roll
from nardy_rl.rules.dice import TIES, bits
from nardy_rl.show.svg import board_svg
from nardy_rl.training.figures import learning_curve
from nardy_rl.training.runlog import read_metrics
from nardy_rl.value.checkpoint import load_checkpoint


def save_pictures(run: Path, out: Path, seed: int, turn: int) -> list[Path]:
    """Writes learning_curve.svg and board.svg, a position from a game of the run's net against itself.

    Args:
        run: Folder of a training run.
        out: Folder for the pictures, made if missing.
        seed: Dice of the game.
        turn: Turn of the game whose position, roll included, is drawn.

    Raises:
        ValueError: The game is over before `turn`, or the run is none.
    """
    checkpoint = load_checkpoint(run)
    records = read_metrics(run)
    rules = checkpoint.rules
    agent = ValueAgent.load(run, rules)
    games = new_games([0], rules)
    for _ in range(turn):
        decisions = decide(games, roll(games, seed, rules), rules)
        ties = bits(seed, TIES, games.stream, games.turn)
        chosen = choose(agent.scores(decisions), decisions.afterstates.offsets, ties)
        games, outcome, _ = apply(games, decisions.afterstates.boards[chosen], rules)
        if outcome[0] >= 0:
            raise ValueError(f"turn={turn}: the game of seed {seed} ends after {int(games.turn[0])} turns")
    dice = roll(games, seed, rules)[0].tolist()

    out.mkdir(parents=True, exist_ok=True)
    paths = [out / "learning_curve.svg", out / "board.svg"]
    save_svg(learning_curve(records), paths[0])
    write_text(paths[1], board_svg(games.boards[0], rules, dice, f"{dice[0]}-{dice[1]} to play"))
    return paths
