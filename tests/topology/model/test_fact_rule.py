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
        (FactRule(("8.10",)), "8.10", True),
        (FactRule(("8.10",)), "8.1", False),
        (FactRule(("0104",)), "104", False),
        (FactRule(("0E10",)), "0E99", False),
        (FactRule((8.1,)), "8.1", True),
        (FactRule((8.1,)), "8.10", False),
        (FactRule(("10000",)), 10000.0, True),
        (FactRule(("off",)), 10000.0, False),
        (FactRule(at_least=16.0), "inf", False),
        (FactRule(at_least=16.0), "24", True),
        (FactRule(at_least=5.1), "5.9", False),
        (FactRule(at_least=16.0), 16.0, True),
        (FactRule(at_least=16.0), 15.9, False),
        (FactRule(at_most=2.5e9), 2.5e9, True),
        (FactRule(at_most=2.5e9), 2.6e9, False),
        (FactRule(at_least=16.0), "sixteen", False),
    ],
)
def test_a_rule_accepts_what_it_asks_for(rule: FactRule, reported: str | float, accepted: bool) -> None:
    assert rule.accepts(reported) is accepted


@pytest.mark.parametrize(
    ("rule", "reported", "is_open"),
    [
        (FactRule((8.1,)), "8.10", True),
        (FactRule((8.1,)), "8.2", False),
        (FactRule(("8.1",)), "8.10", False),
        (FactRule((8.1,)), "eight", False),
        (FactRule((8.1,)), 8.2, False),
        (FactRule(at_least=5.1), "5.9", True),
        (FactRule(at_least=5.9), "5.10", True),
        (FactRule(at_most=5000.0), "4560 RPM", True),
        (FactRule(at_least=4096.0), "1024", False),
        (FactRule(at_least=4096.0), 1024.0, False),
    ],
)
def test_whether_a_text_is_meant_may_be_open(rule: FactRule, reported: str | float, is_open: bool) -> None:
    assert rule.leaves_open(reported) is is_open
    assert not (is_open and rule.accepts(reported))
