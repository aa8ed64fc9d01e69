"""The time limit of a round, by the probes of its tests."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Contact, Node, NodeRole, Output, Probe, Reading, Target
from benchconsole.probes.model.measuring import Round, SetValue, Swept, Test
from benchconsole.probes.planning.round_limits import compute_overrun, compute_time_limit
from benchconsole.probes.tools.dd.probe import Dd
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.probes.tools.stream.probe import Stream
from benchconsole.topology.model.fabric import Hardware, NodeId

Value = str | int | float
NODE = Node(NodeId("n1"), NodeRole.COMPUTE, Hardware("any"), "n1", "n1")
EVERY = 3 * 10.0 + 120.0 + 15.0
"""The limit of any test of a round of ten seconds: it is given up, and has time to end."""


class Answers(Probe):
    """A probe with a ``run`` of its own, of whose length nothing is known."""

    name = "answers"
    summary = "nothing"

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        return ()

    def parse(self, output: Output) -> Sequence[Reading]:
        return ()


class Says(Answers):
    """The same, with a time limit."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def time_limit(self, options: Mapping[str, Value]) -> float:
        return self.seconds


class Raises(Answers):
    def time_limit(self, options: Mapping[str, Value]) -> float:
        raise KeyError("seconds")


def make_round(probe: str, *options: Mapping[str, Value], swept: Swept | None = None) -> Round:
    tests = tuple(
        Test(f"t{at}", probe, Target(NODE, NODE, MappingProxyType(dict(each))), 1) for at, each in enumerate(options)
    )
    return Round(1, probe, probe, tests, 10.0, "", swept=swept)


@pytest.mark.parametrize(
    ("probe", "options", "limit"),
    [
        pytest.param(Iperf3(), {"seconds": 8, "omit": 1}, 5 + 8 + (10 + 8) + 8, id="a server and a client that hang"),
        pytest.param(Inventory(), {}, 60 + 8, id="one command"),
        pytest.param(Stream(), {"seconds": 10}, 4 * 10 + 30 + 8, id="four times its time"),
        pytest.param(Dd(), {"size": "1 GiB"}, 3 * (2 + 2 * 2**30 / 100e6) + 60 + 8, id="three times its estimate"),
        pytest.param(Answers(), {}, 3 * 2 + 120 + 8, id="nothing of its own: from its estimate"),
        pytest.param(Says(1.0), {}, 1 + 8, id="what it says"),
        pytest.param(Says(1e9), {}, EVERY, id="it says more than any test may take"),
        pytest.param(Says(float("nan")), {}, EVERY, id="it says no number"),
        pytest.param(Says(0.0), {}, EVERY, id="it says no time"),
        pytest.param(Says(-1.0), {}, EVERY, id="it says less than none"),
        pytest.param(Raises(), {}, EVERY, id="it fails to say"),
    ],
)
def test_a_round_is_over_at_the_limit_of_its_probe_or_of_any_test(
    probe: Probe, options: Mapping[str, Value], limit: float
) -> None:
    planned = make_round(probe.name, options)
    assert compute_time_limit(planned, {probe.name: probe}) == pytest.approx(limit)
    assert compute_overrun([planned], {probe.name: probe}) == pytest.approx(limit - 10)


def test_the_longest_of_its_tests_counts() -> None:
    planned = make_round("iperf3", {"seconds": 2, "omit": 0}, {"seconds": 20, "omit": 0})
    assert compute_time_limit(planned, {"iperf3": Iperf3()}) == 5 + 8 + (21 + 8) + 8


@pytest.mark.parametrize("probe", ["gone", "iperf3+inventory"])
def test_of_a_probe_that_is_not_installed_and_of_several_the_limit_is_that_of_any_test(probe: str) -> None:
    planned = make_round(probe, {"seconds": 2})
    assert compute_time_limit(planned, {"iperf3": Iperf3(), "inventory": Inventory()}) == EVERY
    assert compute_overrun([], {}) == 0


def test_commands_that_set_a_value_before_the_tests_may_hang_too() -> None:
    step = SetValue("mtu", "9000", ("ip",), ("ip",), "n1", timeout=30.0)
    planned = make_round("inventory", {}, swept=Swept(1, steps=(step, step)))
    assert compute_time_limit(planned, {"inventory": Inventory()}) == 2 * (30 + 8) + 60 + 8
