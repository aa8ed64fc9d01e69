"""The whole simulated cluster: a child process, real SSH, the console's own client and runner."""

import asyncio
import os
import select
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from benchconsole.console.simulator.cluster import SimulatedCluster, SimulatorError
from benchconsole.probes.api import Interval
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import FailedAt, Result, Round, Target, Test
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import SshReach
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.description.resolve import load
from benchconsole.topology.model.fabric import Fabric, Node, NodeId

GB = 1e9 / 8
ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SimulatedCluster]:
    """One cluster for all tests here: nothing that they do to it lasts."""
    async with SimulatedCluster("default", tmp_path_factory.mktemp("demo")) as running:
        yield running
    assert running.log.read_text() == ""


@pytest_asyncio.fixture(loop_scope="module")
async def reach(cluster: SimulatedCluster) -> AsyncIterator[SshReach]:
    reaching = SshReach(load(cluster.topology_path).access, "demo")
    yield reaching
    await reaching.close()


def fabric_of(cluster: SimulatedCluster) -> Fabric:
    return load(cluster.topology_path)


def round_of(fabric: Fabric, probe: str, *targets: tuple[str, str] | str, **options: int) -> Round:
    made = []
    for number, ends in enumerate(targets):
        node, peer = (ends, None) if isinstance(ends, str) else ends
        target = Target(fabric.nodes[NodeId(node)], fabric.nodes[NodeId(peer)] if peer else None, options)
        made.append(Test(f"t{number}", probe, target, 0))
    return Round(0, "stage", probe, tuple(made), 10.0, "a test")


def value(result: Result, metric: str, **wanted: str) -> float:
    """The one value of ``metric`` with these labels."""
    assert result.failure is None, result.failure
    (found,) = (
        measurement.value
        for measurement in result.measurements
        if measurement.metric == metric and wanted.items() <= dict(measurement.labels).items()
    )
    return found


async def test_the_topology_says_where_to_go(cluster: SimulatedCluster) -> None:
    fabric = fabric_of(cluster)
    assert fabric.simulated
    assert fabric.access.port == cluster.port
    for path in (fabric.access.config, fabric.access.known_hosts, fabric.access.identity):
        assert path is not None
        assert Path(path).parent == cluster.directory
    assert (cluster.directory / "id_ed25519").stat().st_mode & 0o777 == 0o600


async def test_a_command_that_is_not_there(cluster: SimulatedCluster, reach: SshReach) -> None:
    remote = await reach.remote(fabric_of(cluster).nodes[NodeId("n001")])
    output = await remote.run(("nuttcp", "-S"), timeout=10)
    assert (output.exit_status, output.text) == (127, "")
    assert "No such file or directory" in output.error_text


async def test_the_node_that_refuses_is_unreachable(cluster: SimulatedCluster, reach: SshReach) -> None:
    with pytest.raises(RemoteError) as failed:
        await reach.remote(fabric_of(cluster).nodes[NodeId("n066")])
    assert failed.value.failure.stage is FailedAt.UNREACHABLE


async def test_a_round_of_a_rack_finds_half_a_lag(cluster: SimulatedCluster, reach: SshReach) -> None:
    fabric = fabric_of(cluster)
    pairs = [(f"n{n:03d}", f"n{n + 16:03d}") for n in range(33, 49)]
    runner = Runner(reach, {"iperf3": Iperf3()})
    closed = await runner.run(round_of(fabric, "iperf3", *pairs, streams=8), RoundObserver())
    together = sum(value(result, "iperf3.throughput") for result in closed.results)
    assert together == pytest.approx(150 * GB * fabric.goodput, rel=0.006)


async def test_rounds_do_not_hear_each_other(cluster: SimulatedCluster, reach: SshReach) -> None:
    fabric = fabric_of(cluster)
    runner = Runner(reach, {"iperf3": Iperf3()})
    pairs = [("n033", "n049"), ("n034", "n050"), ("n001", "n002")]
    for pair in pairs:
        closed = await runner.run(round_of(fabric, "iperf3", pair, seconds=1), RoundObserver())
        assert value(closed.results[0], "iperf3.throughput") == pytest.approx(25 * GB * fabric.goodput, rel=0.006)


async def test_the_slow_disk_shows(cluster: SimulatedCluster, reach: SshReach) -> None:
    runner = Runner(reach, {"fio": Fio()})
    closed = await runner.run(round_of(fabric_of(cluster), "fio", "st3", "st4", seconds=1), RoundObserver())
    slow, well = (value(result, "fio.read", pattern="sequential") for result in closed.results)
    assert (slow, well) == pytest.approx((0.69e9, 1.644e9), rel=0.01)


async def test_all_nodes_can_be_asked_at_once(cluster: SimulatedCluster, reach: SshReach) -> None:
    async def ask(node: Node) -> int | None:
        remote = await reach.remote(node)
        return (await remote.run(("true",), timeout=20)).exit_status

    nodes = [node for node in fabric_of(cluster).nodes.values() if node.id != "n066"]
    assert await asyncio.gather(*(ask(node) for node in nodes)) == [0] * 133


def ended(pidfd: int, seconds: float) -> bool:
    """Whether the process behind ``pidfd`` ends in time."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


async def test_leaving_the_context_ends_the_child(tmp_path: Path) -> None:
    async with SimulatedCluster("healthy", tmp_path) as running:
        assert running.pid is not None
        pidfd = os.pidfd_open(running.pid)
    assert ended(pidfd, 0)
    assert running.log.read_text() == ""
    os.close(pidfd)


_PARENT = """
import asyncio, sys
from pathlib import Path
from benchconsole.console.simulator.cluster import SimulatedCluster

async def main():
    async with SimulatedCluster("healthy", Path(sys.argv[1])) as running:
        print(running.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_the_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PARENT, str(tmp_path), stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert parent.stdout is not None
    pidfd = os.pidfd_open(int(await parent.stdout.readline()))
    parent.kill()
    await parent.wait()
    assert ended(pidfd, 10)
    os.close(pidfd)


async def test_an_unknown_scenario_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match="expected one of default, healthy"):
        SimulatedCluster("sunny", tmp_path)


async def test_a_cluster_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "known_hosts").mkdir()
    with pytest.raises(SimulatorError, match=r"did not start: .*known_hosts"):
        async with SimulatedCluster("healthy", tmp_path):
            pass


async def test_in_real_time_tests_tell_of_their_seconds_over_real_ssh(tmp_path: Path) -> None:
    class Hearing:
        def __init__(self) -> None:
            self.told: list[tuple[str, Interval]] = []

        def hear(self, found: Sequence[tuple[str, Interval]], loads: Sequence[NodeLoad]) -> None:
            self.told.extend(found)

    heard = Hearing()
    async with SimulatedCluster("healthy", tmp_path, real_time=True) as running:
        fabric = load(running.topology_path)
        reaching = SshReach(fabric.access, "demo")
        each = round_of(fabric, "iperf3", ("n001", "n002"), seconds=3, omit=0)
        closed = await Runner(reaching, {"iperf3": Iperf3()}).run(each, RoundObserver(intervals=heard))
        await reaching.close()
    rate = value(closed.results[0], "iperf3.throughput")
    assert heard.told
    assert all(interval.value == pytest.approx(rate, rel=0.06) for _, interval in heard.told)
    assert 3 < closed.results[0].seconds < 20
