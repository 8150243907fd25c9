"""Pictures of matches."""

import pytest

from nardy_rl.agents.registry import make_agent
from nardy_rl.evaluation.arena import play_match
from nardy_rl.evaluation.figures import interval_figure
from nardy_rl.rules.spec import make_rules
from nardy_rl.value.evaluator import CompiledEvaluator
from nardy_rl.value.net import NetConfig, make_net

RULES = make_rules("short")
PIPS, RANDOM = make_agent("pips", RULES), make_agent("random", RULES)


def test_bars_are_the_intervals() -> None:
    judge = CompiledEvaluator(make_net(NetConfig(4, 2), RULES, 1), RULES)
    results = [
        play_match(PIPS, RANDOM, RULES, 5, seed=1, luck=judge),
        play_match(RANDOM, PIPS, RULES, 5, seed=1),
    ]
    axes = interval_figure(results).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["pips – random", "random – pips"]
    ends = [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert ends[1:] == [results[0].ci95, results[0].adjusted_ci95, results[1].ci95]
    assert ends[0] == (0, 0)
    means = [line.get_xdata()[0] for line in axes.lines if line.get_marker() != "None"]
    assert means == [results[0].ppg, results[0].adjusted_ppg, results[1].ppg]


def test_no_match() -> None:
    with pytest.raises(ValueError, match="no match"):
        interval_figure([])
