"""From the text a user types to the agent that plays."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nardy_rl.agents.base import Agent
from nardy_rl.agents.baselines import BearoffAgent, HeuristicAgent, PipsAgent, RandomAgent
from nardy_rl.agents.external import PREFIX, ExternalAgent, ExternalConfig
from nardy_rl.rules.spec import Rules
from nardy_rl.value.yardsticks import GNUBG, GNUBG_PREFIX

if TYPE_CHECKING:
    from nardy_rl.agents.search import SearchConfig


def _pubeval(rules: Rules) -> Agent:
    from nardy_rl.agents.yardsticks import PubevalAgent  # noqa: PLC0415  (an extra, and torch)

    return PubevalAgent(rules)


_NAMED: dict[str, tuple[Callable[[Rules], Agent], str]] = {
    "random": (RandomAgent, "any legal play, all equally likely"),
    "pips": (PipsAgent, "most checkers off, then fewest pips left; otherwise random"),
    "bearoff": (BearoffAgent, "runs home and bears off as fast as it can, blind to the opponent"),
    "heuristic": (HeuristicAgent, "the strategy books' advice as a weighted sum (long nardy only)"),
    "pubeval": (_pubeval, "Tesauro's public linear evaluator of 1993 (short nardy only; needs the extra yardsticks)"),
}

AGENT_KINDS: dict[str, str] = {
    **{name: description for name, (_, description) in _NAMED.items()},
    **{
        spec: f"GNU Backgammon looking {plies} plies ahead (short nardy only; needs the extra yardsticks)"
        for spec, plies in GNUBG.items()
    },
    "PATH": "a trained value net: the directory of its checkpoint, or of a training run (its newest one)",
    "PATH@1ply": "the same net looking one roll further ahead; @2ply two rolls, up to @4ply (@0ply is PATH itself)",
}
"""What a spec can be, and in one line what that plays like."""


MOST_PLIES = 4
"""How far ahead search may look."""


def check_net(spec: str | None) -> None:
    """Raises a ValueError for the spec of an agent that is more or less than a net; folders are for others to check."""
    if spec is None or Path(spec).is_dir() or spec.startswith(GNUBG_PREFIX):
        return
    if spec in AGENT_KINDS or "@" in spec or spec.startswith(PREFIX):
        raise ValueError(
            f"{spec} is not a checkpoint: this takes a net, the folder of a checkpoint or of a run, without @1ply"
        )


def make_agent(
    spec: str, rules: Rules, *, search: "SearchConfig | None" = None, external: ExternalConfig | None = None
) -> Agent:
    """Makes the agent a spec names.

    A spec is a name, or PATH[@WAY]: the directory of a net and the way it plays, which is `0ply` (the default: it ranks
    afterstates as they stand), `1ply`, `2ply`, ... (see `agents.search`). A name goes before a directory of the same
    name (write `./random` for the latter), a directory before a way (`./a@1ply@0ply` if there is one named a@1ply).

    Args:
        spec: `random`, `pips`, `bearoff`, `heuristic`, `pubeval`, `gnubg:PLIES` (see `agents.yardsticks`), PATH[@WAY],
            or `external:COMMAND`, a program that chooses (see `agents.external`; whoever may name such a spec may run
            any program).
        rules: The rules it is to play.
        search: Move filters of the agents that search; the defaults of `SearchConfig` if not given.
        external: Patience with external programs; the defaults of `ExternalConfig` if not given.

    Raises:
        ValueError: For an unknown spec, a directory that is no checkpoint, or rules the agent cannot play.
    """
    if spec in _NAMED:
        return _NAMED[spec][0](rules)
    if spec.startswith(PREFIX):
        return ExternalAgent(spec, rules, external)
    if spec.startswith(GNUBG_PREFIX):
        from nardy_rl.agents.yardsticks import GnubgAgent  # noqa: PLC0415

        return GnubgAgent(spec, rules, search)
    path, at, way = (spec, "", "") if Path(spec).is_dir() else spec.rpartition("@")
    if not at:
        path, way = spec, "0ply"
    if path and Path(path).is_dir():
        try:
            return _net_agent(spec, path, way, rules, search)
        except ValueError as error:
            raise ValueError(f"agent {spec!r}: {error}") from error
    allowed = (
        f"choose one of {', '.join([*_NAMED, *GNUBG])}, or a checkpoint directory (or a program, external:COMMAND)"
    )
    if path in _NAMED:
        raise ValueError(f"agent {spec!r}: {path} has no way to play but its own; {allowed}")
    if Path(path).is_file() and Path(path).name == "meta.json":
        raise ValueError(f"agent {spec!r} is a file; give its directory, {str(Path(path).parent)!r}")
    if len(Path(path).parts) > 1:
        raise ValueError(f"agent {spec!r}: there is no such directory; {allowed}")
    raise ValueError(f"unknown agent {spec!r}; {allowed}")


def _net_agent(spec: str, path: str, way: str, rules: Rules, search: "SearchConfig | None") -> Agent:
    """The net of the directory `path`, playing in the way that follows the @ of the spec."""
    from nardy_rl.agents.value import ValueAgent  # noqa: PLC0415  (torch loads only for those who need it)

    if spec == path:
        return ValueAgent.load(path, rules)
    plies = re.fullmatch(rf"([0-{MOST_PLIES}])ply", way)
    if plies:
        from nardy_rl.agents.search import SearchAgent  # noqa: PLC0415

        return SearchAgent.load(spec, path, rules, int(plies[1]), search)
    raise ValueError(f"there is no way to play called {way!r}; write @0ply to @{MOST_PLIES}ply")
