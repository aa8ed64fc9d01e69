"""The answers of simulated nodes, read by the real parsers of the built-in probes."""

import asyncio
import json
from collections.abc import Mapping, Sequence

import pytest

from benchconsole.console.simulator.nodes import SimulatedNodes
from benchconsole.probes import leftovers
from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output, Reading, Target
from benchconsole.probes.plugins.probe_output import read_output
from benchconsole.probes.testing import FakeRemote
from benchconsole.probes.testing.server import Reply
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.console.simulator.conftest import Simulate

GB = 1e9 / 8


def target(fabric: Fabric, node: str, peer: str | None = None, **options: int) -> Target:
    found = fabric.nodes[NodeId(node)]
    return Target(found, fabric.nodes[NodeId(peer)] if peer else None, options)


async def ask(machines: SimulatedNodes, where: Target, argv: Sequence[str]) -> Output:
    """Everything that one command says, to its end."""
    reply = await machines.answer(where.node.address, tuple(argv), b"")
    said = [reply]
    while reply.then is not None:
        reply = await reply.then
        said.append(reply)
    stdout = b"".join(each.stdout for each in said)
    stderr = b"".join(each.stderr for each in said)
    return Output(tuple(argv), stdout, stderr, reply.exit_status, node=where.node.id)


async def send(machines: SimulatedNodes, where: Target, port: int = 20_001) -> Output:
    """The two ends of the iperf3 probe, without a watchdog."""
    probe = Iperf3()
    assert where.peer is not None
    server = await machines.answer(where.peer.address, tuple(probe.server(where, port)), b"")
    assert f"Server listening on {port}".encode() in server.stdout
    assert server.then is not None
    client, ended = await asyncio.gather(ask(machines, where, probe.client(where, port)), server.then)
    assert ended.exit_status == 0
    return client


def values(probe: Probe, output: Output) -> Mapping[str, Reading]:
    """Metric to its first reading."""
    readings, _ = read_output(probe, output)
    return {reading.metric: reading for reading in reversed(readings)}


async def test_iperf3_reports_the_share_of_the_network(fabric: Fabric, simulate: Simulate) -> None:
    output = await send(simulate("healthy"), target(fabric, "n001", "n002"))
    found = values(Iperf3(), output)
    assert found["iperf3.throughput"].value == pytest.approx(25 * GB * fabric.goodput, rel=0.006)
    assert found["iperf3.retransmits"].value == 0
    sent = {"direction": "out", "protocol": "tcp", "streams": "4", "seconds": "5", "omit": "1"}
    settings = {"size": "131072", "window": "default", "congestion": "cubic"}
    assert dict(found["iperf3.throughput"].labels) == {**sent, **settings}


async def test_the_sum_of_the_streams_is_the_whole(fabric: Fabric, simulate: Simulate) -> None:
    output = await send(simulate("healthy"), target(fabric, "n001", "n002", streams=8))
    readings, _ = read_output(Iperf3(), output)
    streams = [reading.value for reading in readings if reading.metric == "iperf3.stream"]
    whole = next(reading.value for reading in readings if reading.metric == "iperf3.throughput")
    assert len(streams) == 8
    assert sum(streams) == pytest.approx(whole, rel=1e-3)


async def test_intervals_tell_what_was_omitted(fabric: Fabric, simulate: Simulate) -> None:
    output = await send(simulate("healthy"), target(fabric, "n001", "n002", seconds=3, omit=2))
    document = json.loads(output.stdout)
    assert [period["sum"]["omitted"] for period in document["intervals"]] == [True, True, False, False, False]
    assert document["start"]["version"] == "iperf 3.12"


async def test_flows_of_a_round_share_what_they_cross(fabric: Fabric, simulate: Simulate) -> None:
    machines = simulate("lag")
    targets = [target(fabric, f"n{n:03d}", f"n{n + 16:03d}", streams=8) for n in range(33, 49)]
    outputs = await asyncio.gather(*(send(machines, each) for each in targets))
    together = sum(values(Iperf3(), output)["iperf3.throughput"].value for output in outputs)
    assert together == pytest.approx(150 * GB * fabric.goodput, rel=0.006)


async def test_a_slow_nic_resends(fabric: Fabric, simulate: Simulate) -> None:
    found = values(Iperf3(), await send(simulate("default"), target(fabric, "n090", "n091")))
    assert found["iperf3.throughput"].value == pytest.approx(7.5 * GB * fabric.goodput, rel=0.006)
    assert found["iperf3.retransmits"].value > 10_000


async def test_a_client_without_a_server_is_an_error_in_the_json(fabric: Fabric, simulate: Simulate) -> None:
    where = target(fabric, "n001", "n002")
    output = await ask(simulate("healthy"), where, Iperf3().client(where, 20_001))
    assert output.exit_status == 0  # as iperf3 3.12 does
    with pytest.raises(ProbeOutputError, match="Connection refused"):
        read_output(Iperf3(), output)


async def test_a_port_is_taken_once_and_free_again_afterwards(fabric: Fabric, simulate: Simulate) -> None:
    machines, where = simulate("healthy"), target(fabric, "n001", "n002")
    argv = tuple(Iperf3().server(where, 20_001))
    address = fabric.nodes[NodeId("n002")].address
    first = await machines.answer(address, argv, b"")
    assert b"Address already in use" in (await machines.answer(address, argv, b"")).stderr
    assert first.then is not None
    waiting = asyncio.ensure_future(first.then)
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await send(machines, where)


async def test_a_round_does_not_wait_for_a_client_that_never_comes(fabric: Fabric, simulate: Simulate) -> None:
    machines, lonely = simulate("healthy"), target(fabric, "n003", "n004")
    server = await machines.answer(fabric.nodes[NodeId("n004")].address, tuple(Iperf3().server(lonely, 20_001)), b"")
    assert server.then is not None
    waiting = asyncio.ensure_future(server.then)
    output = await asyncio.wait_for(send(machines, target(fabric, "n001", "n002")), 5)
    assert values(Iperf3(), output)["iperf3.throughput"].value > 24 * GB
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_options_that_are_not_simulated_are_refused(fabric: Fabric, simulate: Simulate) -> None:
    where = target(fabric, "n001")
    for words in (["-u"], ["-c"], ["-t", "x"]):
        output = await ask(simulate("healthy"), where, ["iperf3", *words])
        assert (output.exit_status, b"unrecognized option" in output.stderr) == (1, True)


async def fio(simulate: Simulate, fabric: Fabric, scenario: str, node: str) -> dict[tuple[str, str], float]:
    where = target(fabric, node)
    readings, _ = read_output(Fio(), await ask(simulate(scenario), where, Fio().command(where)))
    return {(reading.metric, dict(reading.labels)["pattern"]): reading.value for reading in readings}


async def test_fio_gives_all_metrics_of_both_patterns(fabric: Fabric, simulate: Simulate) -> None:
    found = await fio(simulate, fabric, "healthy", "st3")
    asked = {metric.name for metric in Fio.metrics if not metric.name.startswith("fio.sync_")}
    assert {metric for metric, _ in found} == asked
    assert found["fio.read", "sequential"] == pytest.approx(1.644e9, rel=0.006)
    assert found["fio.write", "sequential"] == pytest.approx(1.447e9, rel=0.006)
    assert found["fio.read", "random"] < 0.1 * found["fio.read", "sequential"]


async def test_one_slow_disk_holds_back_the_stripe(fabric: Fabric, simulate: Simulate) -> None:
    slow = await fio(simulate, fabric, "default", "st3")
    well = await fio(simulate, fabric, "default", "st4")
    assert slow["fio.read", "sequential"] == pytest.approx(0.69e9, rel=0.01)
    assert well["fio.read", "sequential"] == pytest.approx(1.644e9, rel=0.006)


async def test_nothing_of_ours_is_left_on_a_simulated_node(fabric: Fabric, simulate: Simulate) -> None:
    machines, node = simulate("healthy"), fabric.nodes[NodeId("n001")]

    class Played(FakeRemote):
        async def run(
            self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False
        ) -> Output:
            return await ask(machines, Target(node), argv)

    assert await leftovers.find_processes(Played()) == ()
    assert await leftovers.end_processes(Played(), [leftovers.LeftoverProcess(7, 8, "s", ("iperf3",))]) == ()


@pytest.mark.parametrize("argv", [("nuttcp", "-S"), ("sh", "-c", "rm -rf /"), ("/usr/bin/qperf",), ()])
async def test_anything_else_is_not_installed(fabric: Fabric, simulate: Simulate, argv: tuple[str, ...]) -> None:
    reply = await simulate("healthy").answer(fabric.nodes[NodeId("n001")].address, argv, b"")
    assert isinstance(reply, Reply)
    assert reply.exit_status == 127
