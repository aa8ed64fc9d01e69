"""The load that running tests put on links: sums by direction, what is not told, and what is over."""

from collections.abc import Mapping

import pytest

from benchconsole.console.view.interval_rates import IntervalRate, find_moved
from benchconsole.console.view.link_loads import LinkLoads, compute_link_loads
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.api import Interval, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.running_round import RunningRound
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, Link
from tests.fabrics import METRICS
from tests.probes.judging.rounds import RATE
from tests.probes.judging.test_round_ways import make_test as between
from tests.probes.judging.test_round_ways import tree

OUT, IN = (("direction", "out"),), (("direction", "in"),)


def rate(value: float, *, inward: bool = False, metric: str = "iperf3.throughput") -> IntervalRate:
    interval = Interval(metric, value, Unit.BYTE_RATE, 1.0, 1.0, IN if inward else OUT)
    return IntervalRate(interval, value, None, 1.0)


def running(told: Mapping[str, tuple[IntervalRate, ...]], *, both: bool = False) -> RunView:
    """Four tests from leaf1 to leaf2, called 1 to 4, which tell the numbers ``told``."""
    described = tree()
    sending = Sending(4, directions=Directions.BOTH if both else Directions.FORWARD)
    tests = tuple(between(described, str(each), (f"a{each}", f"b{each}"), sending) for each in range(1, 5))
    each = Round(1, "one", "iperf3", tests, 5.0, "to see")
    prepared = RunningRound(JudgingContext(described, METRICS), each)
    prepared.prepare()
    names = frozenset(test.id for test in tests)
    return RunView(fabric=described, current=each, running=names, intervals=told, ways=prepared.ways)


def loads(view: RunView) -> LinkLoads:
    found = compute_link_loads(view)
    assert found is not None
    return found


def link(fabric: Fabric, a: str, b: str) -> Link:
    return next(each for each in fabric.links.values() if {each.a, each.b} == {a, b})


def test_a_link_carries_the_shares_of_all_flows_that_cross_it() -> None:
    view = running({"1": (rate(4e8),), "2": (rate(2e8),), "3": (rate(1e8),), "4": (rate(1e8),)})
    uplink = link(view.fabric, "leaf1", "spine1")
    load = loads(view).find((uplink, "leaf1"), names_limits=True)
    assert load.carried == pytest.approx(4e8)
    assert load.share == pytest.approx(0.4)
    assert load.expected == pytest.approx(RATE)
    assert (load.capacity, load.telling, load.tests, load.is_partial, load.is_split) == (RATE, 4, 4, False, True)
    assert len(load.limits) == 4
    assert {flows for _, flows in load.limits} == {4}
    nic = loads(view).find((link(view.fabric, "a1", "leaf1"), "a1"))
    assert (nic.carried, nic.is_split, nic.tests) == (4e8, False, 1)


def test_a_direction_that_no_test_crosses_carries_nothing() -> None:
    view = running({"1": (rate(4e8),)})
    load = loads(view).find((link(view.fabric, "leaf1", "spine1"), "spine1"))
    assert (load.carried, load.tests, load.telling, load.is_partial) == (0.0, 0, 0, False)


def test_the_directions_of_a_test_are_not_mixed() -> None:
    view = running({"1": (rate(3e8, inward=True), rate(4e8))}, both=True)
    nic = link(view.fabric, "a1", "leaf1")
    inward, outward = loads(view).find_both((nic,), ("a1",))
    assert (inward.carried, outward.carried) == (3e8, 4e8)
    inward, outward = loads(view).find_both((nic,), ("leaf1",))
    assert (inward.carried, outward.carried) == (4e8, 3e8)


def test_where_nobody_tells_nothing_is_known_and_where_some_tell_it_is_the_least() -> None:
    view = running({"1": (rate(4e8),)})
    found, uplink = loads(view), link(view.fabric, "leaf1", "spine1")
    some = found.find((uplink, "leaf1"))
    assert (some.carried, some.telling, some.tests, some.is_partial) == (2e8, 1, 4, True)
    none = found.find((link(view.fabric, "a2", "leaf1"), "a2"))
    assert (none.carried, none.share, none.telling, none.tests, none.is_partial) == (None, None, 0, 1, False)


def test_flows_over_several_links_are_counted_once() -> None:
    view = running({"1": (rate(4e8),), "2": (rate(4e8),)})
    links = [link(view.fabric, "leaf1", f"spine{number}") for number in (1, 2)]
    _, up = loads(view).find_both(links, ("leaf1",))
    assert (up.carried, up.capacity, up.telling, up.tests) == (8e8, 2 * RATE, 2, 4)


def test_a_test_that_has_ended_carries_nothing_any_more() -> None:
    view = running({"1": (rate(4e8),), "2": (rate(4e8),)})
    over = replace(view, running=view.running - {"1"})
    load = loads(over).find((link(view.fabric, "leaf1", "spine1"), "leaf1"))
    assert (load.carried, load.telling, load.tests) == (2e8, 1, 3)


def test_numbers_of_other_metrics_put_no_load_on_links() -> None:
    view = running({"1": (rate(4e8, metric="fio.read"),)})
    assert loads(view).telling == 0


def test_without_a_round_or_a_number_there_are_no_loads() -> None:
    view = running({"1": (rate(4e8),)})
    assert compute_link_loads(replace(view, current=None)) is None
    assert compute_link_loads(replace(view, ways=None)) is None
    silent = loads(replace(view, intervals={}))
    assert (silent.telling, silent.tests, silent.find_fullest()) == (0, 4, None)


def test_the_fullest_link_is_that_with_the_highest_share() -> None:
    view = running({"1": (rate(4e8),), "2": (rate(2e8),)})
    assert loads(view).find_fullest() == (link(view.fabric, "a1", "leaf1"), "a1")
    nic, silent = link(view.fabric, "a1", "leaf1"), link(view.fabric, "a4", "leaf1")
    assert loads(view).find_fuller([nic]) == pytest.approx(0.4)
    assert loads(view).find_fuller([nic, silent]) == pytest.approx(0.4)
    assert loads(view).find_fuller([silent]) is None
    assert loads(view).find_fuller([]) is None
    idle = running({"1": (rate(4e8),)})
    over = replace(idle, running=frozenset("1"))
    assert loads(over).find_fuller([silent]) == 0.0


def test_the_newest_number_of_each_direction_counts() -> None:
    newest, old, back = rate(3.0), rate(2.0), rate(5.0, inward=True)
    assert find_moved([newest, back, old]) == {False: newest, True: back}
    latency = replace(newest, interval=replace(newest.interval, unit=Unit.SECOND))
    assert find_moved([latency]) == {}
