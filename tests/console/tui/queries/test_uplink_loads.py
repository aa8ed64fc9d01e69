"""The uplinks of the round: out and in beside what is expected there, and how many flows go through."""

from collections.abc import Container, Iterable

import pytest

from benchconsole.console.tui.queries.uplink_loads import count_through, find_uplinks, list_uplink_loads
from benchconsole.console.view.link_loads import LinkLoads, WayLoad, compute_link_loads
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Link, SwitchId
from tests.console.view.test_link_loads import rate, running
from tests.probes.judging.rounds import RATE


def test_out_of_one_switch_is_into_the_other() -> None:
    view = running({"1": (rate(4e8),), "2": (rate(2e8),), "3": (rate(1e8),), "4": (rate(1e8),)})
    first, second = list_uplink_loads(view, compute_link_loads(view))
    assert {first.name, second.name} == {"leaf1", "leaf2"}
    one, two = (first, second) if first.name == "leaf1" else (second, first)
    links = len(find_uplinks(view.fabric)[SwitchId("leaf1")])
    assert one.outward.carried == two.inward.carried == pytest.approx(8e8)
    assert one.outward.expected == pytest.approx(RATE * links)
    assert one.outward.capacity == pytest.approx(RATE * links)
    assert (one.inward.carried, one.inward.tests, two.outward.tests) == (0.0, 0, 0)
    assert count_through(one) == "4 flows out, 0 in"


def test_silent_flows_are_counted() -> None:
    view = running({"1": (rate(4e8),)})
    first, *_ = list_uplink_loads(view, compute_link_loads(view))
    assert first.outward.is_partial or first.inward.is_partial
    assert count_through(first).endswith(", 1 tell")


def test_nothing_is_said_where_no_flow_crosses_or_no_test_tells() -> None:
    view = running({"1": (rate(4e8),)})
    assert list_uplink_loads(view, None) == ()
    over = replace(view, running=frozenset[str]())
    assert list_uplink_loads(over, compute_link_loads(over)) == ()


class Played(LinkLoads):
    """Each switch carries as much as its place among those asked for says."""

    def __init__(self) -> None:
        self.asked: list[Container[str]] = []

    def find_both(
        self, links: Iterable[Link], inside: Container[str], *, names_limits: bool = False
    ) -> tuple[WayLoad, WayLoad]:
        self.asked.append(inside)
        carried = 1e8 * len(self.asked)
        return WayLoad(carried, 1e9, 1e9, 1, 1), WayLoad(None, 1e9, 1e9, 0, 1)


def test_the_fullest_comes_first() -> None:
    found = list_uplink_loads(running({"1": (rate(4e8),)}), Played())
    assert [each.inward.carried for each in found] == [2e8, 1e8]
