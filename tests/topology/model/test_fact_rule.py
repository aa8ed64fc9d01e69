"""The values that a rule on a fact accepts, at its borders."""

import pytest

from benchconsole.topology.model.fact_rule import NEAR, FactRule


@pytest.mark.parametrize(
    ("rule", "reported", "accepted"),
    [
        (FactRule((10000.0,)), 10000.0, True),
        (FactRule((10000.0,)), "10000", True),
        (FactRule((10000.0,)), 10000 * (1 + NEAR), True),
        (FactRule((10000.0,)), 10000 * (1 + 2 * NEAR), False),
        (FactRule((10000.0,)), "many", False),
        (FactRule(("off",)), " OFF ", True),
        (FactRule(("off",)), "on", False),
        (FactRule((500.0, 1000.0)), 1000.0, True),
        (FactRule((500.0, 1000.0)), 2000.0, False),
        (FactRule(("1.3.47",)), "1.3.4", False),
        (FactRule(at_least=16.0), 16.0, True),
        (FactRule(at_least=16.0), 15.9, False),
        (FactRule(at_most=2.5e9), 2.5e9, True),
        (FactRule(at_most=2.5e9), 2.6e9, False),
        (FactRule(at_least=16.0), "sixteen", False),
    ],
)
def test_a_rule_accepts_what_it_asks_for(rule: FactRule, reported: str | float, accepted: bool) -> None:
    assert rule.accepts(reported) is accepted
