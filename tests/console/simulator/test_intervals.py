"""Simulated tools that take their time: they tell of each second, as the real ones do, and end as ever."""

import asyncio
from math import inf

import pytest

from benchconsole.console.simulator import iperf3
from benchconsole.console.simulator.network import SimulatedNetwork, StreamLoad
from benchconsole.console.simulator.nodes import SimulatedNodes
from benchconsole.console.simulator.scenarios import SCENARIOS
from benchconsole.console.simulator.traffic import REAL, TimeScale, Traffic
from benchconsole.console.view.interval_rates import ToldInterval, advance_rates
from benchconsole.console.view.link_loads import compute_link_loads
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.api import Interval, Probe, Target
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.running_round import RunningRound
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.tools.fio.interval_lines import drop_lines
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.console.simulator.test_nodes import GB, ask, target, values
from tests.fabrics import METRICS

TELLING = TimeScale(factor=0.02, quiet=1.0, longest=inf, tells_intervals=True)


@pytest.fixture
def machines(fabric: Fabric) -> SimulatedNodes:
    scenario = SCENARIOS["healthy"]
    return SimulatedNodes(fabric, scenario, Traffic(SimulatedNetwork(fabric, scenario), TELLING), clock=lambda: 1.7e9)


def told(probe: Probe, said: str, where: Target) -> list[Interval]:
    return [each for line in said.splitlines() for each in probe.read_intervals(line, where)]


async def test_the_server_tells_of_the_seconds_that_count_and_ends_when_the_client_has(
    fabric: Fabric, machines: SimulatedNodes
) -> None:
    where, probe = target(fabric, "n001", "n002", seconds=3, omit=1), Iperf3()
    back = Target(fabric.nodes[NodeId("n002")])
    serving = asyncio.create_task(ask(machines, back, probe.server(where, 20_001)))
    await asyncio.sleep(0)
    client = await ask(machines, where, probe.client(where, 20_001))
    server = await asyncio.wait_for(serving, 10)
    found = told(probe, server.text, where)
    assert "(omitted)" in server.text
    assert [each.until for each in found] == [1.0, 2.0, 3.0][: len(found)]
    assert len(found) >= 2
    result = values(probe, client)["iperf3.throughput"].value
    assert all(each.value == pytest.approx(result, rel=0.06) for each in found)
    assert result == pytest.approx(25 * GB * fabric.goodput, rel=0.006)
    assert machines.traffic.ports == {}


async def test_what_simulated_servers_tell_is_the_load_of_the_links_on_the_way(
    fabric: Fabric, machines: SimulatedNodes
) -> None:
    """Two flows leave leaf1 at once: its uplinks carry what both servers told, and nothing comes back."""
    probe, started = Iperf3(), []
    ends = [("n001", "n017"), ("n002", "n018")]
    targets = [target(fabric, *pair, seconds=2, omit=0) for pair in ends]
    for where in targets:
        assert where.peer is not None
        started.append(asyncio.create_task(ask(machines, Target(where.peer), probe.server(where, 20_001))))
    await asyncio.sleep(0)
    await asyncio.gather(*(ask(machines, where, probe.client(where, 20_001)) for where in targets))
    said = [await asyncio.wait_for(server, 10) for server in started]
    tests = [Test(where.node.id, "iperf3", where, 1, sending=probe.sending(where.options)) for where in targets]
    planned = Round(1, "pairs", "iperf3", tuple(tests), 2.0, "to see")
    running = RunningRound(JudgingContext(fabric, METRICS), planned)
    running.prepare()
    found = [told(probe, output.text, where)[-1] for output, where in zip(said, targets, strict=True)]
    events = [ToldInterval(test.id, each) for test, each in zip(tests, found, strict=True)]
    view = RunView(fabric=fabric, current=planned, running=frozenset(test.id for test in tests), ways=running.ways)
    loads = compute_link_loads(replace(view, intervals=advance_rates({}, events, 1.0, view.running)))
    assert loads is not None
    uplinks = [link for link in fabric.links_at["leaf1"] if fabric.tier(link.other("leaf1")) > fabric.tier("leaf1")]
    inward, outward = loads.find_both(uplinks, ("leaf1",))
    assert outward.carried == pytest.approx(sum(each.value for each in found))
    assert outward.carried == pytest.approx(outward.expected, rel=0.06)
    assert (outward.telling, outward.tests, inward.carried, inward.tests) == (2, 2, 0.0, 0)


async def test_a_server_that_is_ended_lets_go_of_its_port(fabric: Fabric, machines: SimulatedNodes) -> None:
    where, probe = target(fabric, "n001", "n002", seconds=60), Iperf3()
    back = Target(fabric.nodes[NodeId("n002")])
    serving = asyncio.create_task(ask(machines, back, probe.server(where, 20_001)))
    await asyncio.sleep(0)
    sending = asyncio.create_task(ask(machines, where, probe.client(where, 20_001)))
    port = machines.traffic.ports[NodeId("n002"), 20_001]
    await asyncio.wait_for(port.sending.wait(), 10)
    for task in (sending, serving):
        task.cancel()
    await asyncio.wait((sending, serving), timeout=10)
    assert machines.traffic.ports == {}


async def test_fio_tells_of_each_run_before_its_answer(fabric: Fabric, machines: SimulatedNodes) -> None:
    where, probe = target(fabric, "st1", seconds=2), Fio()
    output = await ask(machines, where, probe.command(where))
    found = told(probe, output.error_text, where)
    assert [each.metric for each in found] == ["fio.write"] * 2 + ["fio.read"] * 2 + ["fio.write"] * 2 + [
        "fio.read"
    ] * 2
    assert drop_lines(output).stderr == b""
    reads = [each.value for each in found if each.metric == "fio.read" and dict(each.labels)["block"] == "1MiB"]
    assert reads == pytest.approx([values(probe, output)["fio.read"].value] * 2, rel=0.06)


@pytest.mark.parametrize("rate", [0.0, 999.0, 1.5e5, 9.994e8, 3.1e9, 1.2e12])
@pytest.mark.parametrize("streams", [1, 4])
def test_a_line_is_read_as_it_was_meant(fabric: Fabric, rate: float, streams: int) -> None:
    line = iperf3.format_interval(StreamLoad(NodeId("n001"), NodeId("n002"), streams), 2, 1, rate).rstrip("\n")
    found = told(Iperf3(), line, target(fabric, "n001", "n002", streams=streams))
    assert [(each.until, each.seconds) for each in found] == [(1.0, 1.0)]
    assert found[0].value == pytest.approx(rate, rel=0.06, abs=1)


def test_in_real_time_a_second_is_a_second() -> None:
    assert (REAL.compress(1.0), REAL.compress(3600.0), REAL.tells_intervals) == (1.0, 3600.0, True)
    assert not TimeScale().tells_intervals
