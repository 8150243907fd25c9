"""From the text a user types to the agent that plays."""

from collections.abc import Callable
from pathlib import Path

from nardy_rl.agents.base import Agent
from nardy_rl.agents.baselines import BearoffAgent, HeuristicAgent, PipsAgent, RandomAgent
from nardy_rl.rules.spec import Rules

_NAMED: dict[str, tuple[Callable[[Rules], Agent], str]] = {
    "random": (RandomAgent, "any legal play, all equally likely"),
    "pips": (PipsAgent, "most checkers off, then fewest pips left; otherwise random"),
    "bearoff": (BearoffAgent, "runs home and bears off as fast as it can, blind to the opponent"),
    "heuristic": (HeuristicAgent, "the strategy books' advice as a weighted sum (long nardy only)"),
}

AGENT_KINDS: dict[str, str] = {
    **{name: description for name, (_, description) in _NAMED.items()},
    "PATH": "a trained value net: the directory of its checkpoint, or of a training run (its newest one)",
}
"""What a spec can be, and in one line what that plays like."""


def make_agent(spec: str, rules: Rules) -> Agent:
    """Makes the agent a spec names.

    Args:
        spec: `random`, `pips`, `bearoff`, `heuristic`, or the path of a checkpoint directory. A name goes before a
            directory of the same name; write `./random` for the latter.
        rules: The rules it is to play.

    Raises:
        ValueError: For an unknown spec, a directory that is no checkpoint, or rules the agent cannot play.
    """
    if spec in _NAMED:
        return _NAMED[spec][0](rules)
    path = Path(spec)
    if spec and path.is_dir():
        from nardy_rl.agents.value import ValueAgent  # noqa: PLC0415  (torch loads only for those who need it)

        try:
            return ValueAgent.load(spec, rules)
        except ValueError as error:
            raise ValueError(f"agent {spec!r}: {error}") from error
    allowed = f"choose one of {', '.join(_NAMED)}, or a checkpoint directory"
    if path.is_file() and path.name == "meta.json":
        raise ValueError(f"agent {spec!r} is a file; give its directory, {str(path.parent)!r}")
    if len(path.parts) > 1:
        raise ValueError(f"agent {spec!r}: there is no such directory; {allowed}")
    raise ValueError(f"unknown agent {spec!r}; {allowed}")
