"""Specs: what a user may type, and what he is told when he mistypes."""

import subprocess
import sys
import types

import pytest

from nardy_rl.agents.baselines import BearoffAgent, HeuristicAgent, PipsAgent, RandomAgent
from nardy_rl.agents.registry import AGENT_KINDS, make_agent
from nardy_rl.rules.spec import OFFICIAL, PRESETS

NAMES = {"random": RandomAgent, "pips": PipsAgent, "bearoff": BearoffAgent, "heuristic": HeuristicAgent}


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    agent = make_agent(name, OFFICIAL)
    assert type(agent) is NAMES[name]
    assert agent.spec == name
    assert agent.rules is OFFICIAL


def test_every_kind_is_described_in_a_line():
    assert set(NAMES) < set(AGENT_KINDS)
    assert all(text and "\n" not in text for text in AGENT_KINDS.values())


@pytest.mark.parametrize("spec", ["heuristics", "", "Random", "no\0path"])
def test_unknown_name_lists_what_is_allowed(spec):
    with pytest.raises(
        ValueError, match=r"random, pips, bearoff, heuristic, pubeval, gnubg:0, .*, or a checkpoint directory"
    ):
        make_agent(spec, OFFICIAL)


def test_missing_directory(tmp_path):
    with pytest.raises(ValueError, match=r"no such directory.*random.*or a checkpoint directory"):
        make_agent(str(tmp_path / "nowhere"), OFFICIAL)


def test_directory_that_is_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match=r"no meta\.json"):
        make_agent(str(tmp_path), OFFICIAL)


def test_file_inside_a_checkpoint(tmp_path):
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(ValueError, match="give its directory"):
        make_agent(str(tmp_path / "meta.json"), OFFICIAL)


def test_heuristic_refuses_short_nardy():
    with pytest.raises(ValueError, match="long nardy only"):
        make_agent("heuristic", PRESETS["short"])


def test_checkpoint_goes_to_the_value_agent_as_typed(tmp_path, monkeypatch):
    (tmp_path / "random").mkdir()
    (tmp_path / "random" / "meta.json").write_text("{}")
    seen = []
    module = types.ModuleType("nardy_rl.agents.value")
    module.ValueAgent = types.SimpleNamespace(load=lambda path, rules: seen.append((path, rules)) or "the agent")
    monkeypatch.setitem(sys.modules, "nardy_rl.agents.value", module)
    monkeypatch.chdir(tmp_path)
    assert make_agent("./random", OFFICIAL) == "the agent"
    assert seen == [("./random", OFFICIAL)]
    assert make_agent("random", OFFICIAL).spec == "random"


def test_torch_is_loaded_only_for_nets():
    code = (
        "import sys; from nardy_rl.agents.registry import make_agent; from nardy_rl.rules.spec import OFFICIAL;"
        "make_agent('heuristic', OFFICIAL); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
