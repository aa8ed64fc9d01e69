"""Open MPI between real nodes: numbers over the right network, and nothing left behind however it ends."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchconsole.probes.launch import Job, Options, launch
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import SshLimits, SshReach
from benchconsole.probes.testing import FakeContact
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.lab import Lab, Process, wait_for
from tests.scenarios.commands import benchconsole, report

pytestmark = pytest.mark.lab

SUITES = """\
criteria:
  - {metric: mpi-pingpong.bandwidth, at_least: 50 Mb/s}
suites:
  default:
    - {probe: mpi-pingpong, design: sample, pairs: 1, nodes: "n[1-2]", seconds: 1, bind: none}
  whole:
    - {probe: hpcc, nodes: "n[1-2]", problem: 200, block: 32, rate: 5 Gb/s, bind: none}
"""
LINK = 12.5e6
"""byte/s of the data link of a node, 100 Mb/s."""
RATE = 5000
"""Mbit/s for hpcc: at 100 its messages of 2 MB take two minutes, whatever the problem is."""
SECONDS = 60
"""Until what must happen has happened: a dead node is known to mpirun after 11."""
LIMITS = SshLimits(keepalive=2.0, comeback=2.0)
"""A connection into a dead node is given up after 8 seconds, not 20."""


@pytest.fixture
def topology(mpi_lab: Lab) -> Iterator[Path]:
    """The laboratory as an ordinary user sees it: no rank runs as root."""
    text = mpi_lab.topology.read_text().replace("user: root", "user: bench")
    path = mpi_lab.topology.with_name("mpi.yaml")
    path.write_text(text[: text.index("criteria:")] + SUITES)
    yield path
    path.unlink()


def _traffic(lab: Lab, node: str, port: str) -> int:
    return int(lab.inside(node, "cat", f"/sys/class/net/{port}/statistics/tx_bytes"))


def test_a_pingpong_fills_the_data_link_and_leaves_management_alone(
    mpi_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    before = [_traffic(mpi_lab, "n1", port) for port in ("eth0", "mgmt0")]
    ran = benchconsole("run", topology, "--db", tmp_path / "s.db")
    data, management = (
        _traffic(mpi_lab, "n1", port) - was for port, was in zip(("eth0", "mgmt0"), before, strict=True)
    )

    assert ran.code == 0, ran.out + ran.err
    found = report(tmp_path / "s.db")
    rates = [each["value"] for each in found["verdicts"] if each["metric"] == "mpi-pingpong.bandwidth"]
    assert rates
    assert all(LINK / 2 <= rate <= 1.05 * LINK for rate in rates), rates
    assert {each["metric"] for each in found["measurements"]} == {"mpi-pingpong.latency", "mpi-pingpong.bandwidth"}
    assert data > 10_000_000 > management
    assert _left(mpi_lab) == []


def test_hpcc_runs_over_two_nodes_and_its_summary_is_read(mpi_lab: Lab, topology: Path, tmp_path: Path) -> None:
    with mpi_lab.nic_rate("n1", RATE), mpi_lab.nic_rate("n2", RATE):
        ran = benchconsole("run", topology, "--suite", "whole", "--db", tmp_path / "s.db")
    found = report(tmp_path / "s.db")

    assert found["failures"] == [], ran.out + ran.err
    values: dict[str, Any] = {each["metric"]: each["value"] for each in found["measurements"]}
    assert len(values) == 19
    assert values["hpcc.hpl"] > 1e6
    assert _left(mpi_lab) == []


# -- ends


class Launched:
    """A job of two minutes on four nodes, and what is seen of it from outside."""

    def __init__(self, lab: Lab, reach: SshReach, fabric: Fabric) -> None:
        self.lab = lab
        self.reach = reach
        self.nodes = tuple(fabric.nodes[name] for name in ("n1", "n2", "n5", "n6"))  # type: ignore[index]
        self.task: asyncio.Task[object] | None = None

    async def start(self) -> None:
        """Return when a rank runs on every node."""
        job = Job(self.nodes, ("sleep", "120"), 4, 110, Options(bind="none", as_root=1))
        remotes = await asyncio.gather(*(self.reach.remote(node) for node in self.nodes))
        self.task = asyncio.create_task(launch(FakeContact(*remotes), job))
        await self.until(lambda: all(self.seen(node.id, "sleep") for node in self.nodes), "a rank on every node")

    async def until(self, predicate: Callable[[], bool], what: str) -> None:
        await asyncio.to_thread(wait_for, predicate, SECONDS, what)

    def seen(self, node: str, program: str) -> list[Process]:
        return [each for each in self.lab.processes(node) if each.argv[:1] and each.argv[0].endswith(program)]

    async def failed(self) -> RemoteError:
        """How it ended, and that nothing is left."""
        assert self.task is not None
        with pytest.raises(RemoteError) as raised:
            await asyncio.wait_for(self.task, SECONDS)
        await self.until(lambda: _left(self.lab) == [], "every node to be clean")
        return raised.value


@pytest.fixture
async def launched(mpi_lab: Lab) -> AsyncIterator[Launched]:
    fabric = load_text(mpi_lab.topology.read_text(), str(mpi_lab.topology))
    reach = SshReach(fabric.access, "launched", limits=LIMITS)
    made = Launched(mpi_lab, reach, fabric)
    try:
        await made.start()
        yield made
    finally:
        await reach.close()
        if made.task is not None and not made.task.done():
            made.task.cancel()


def _left(lab: Lab) -> list[str]:
    """Everything of a launch on any node: what carries our marker, ranks, daemons, directories."""
    running = [
        f"{node}: {' '.join(each.argv)}"
        for node in lab.plan.nodes
        for each in lab.processes(node)
        if each.session or _is_of_launch(each.argv)
    ]
    places = ("tmp/benchconsole.*", "tmp/ompi.*/pid.*")
    made = [f"{node}: {path.name}" for node in _alive(lab) for place in places for path in lab.root(node).glob(place)]
    return running + made


def _is_of_launch(argv: Sequence[str]) -> bool:
    return bool(argv) and argv[0].rpartition("/")[2] in ("mpirun", "orted", "sleep", "hpcc")


def _alive(lab: Lab) -> list[str]:
    return [node for node in lab.plan.nodes if lab.running(node)]


@pytest.mark.fault("X05")
async def test_a_launcher_that_is_killed_leaves_nothing(launched: Launched) -> None:
    (mpirun,) = launched.seen("n1", "mpirun")
    mpirun.identity.signal(signal.SIGKILL)

    failure = (await launched.failed()).failure
    assert (failure.stage, failure.node) == (FailedAt.KILLED, "n1")
    assert "mpirun was killed" in failure.detail


@pytest.mark.fault("X05")
async def test_daemons_and_ranks_that_do_not_notice_are_found_by_the_marker(launched: Launched) -> None:
    (mpirun,) = launched.seen("n1", "mpirun")
    for deaf in (*launched.seen("n5", "orted"), *launched.seen("n5", "sleep")):
        deaf.identity.signal(signal.SIGSTOP)
    mpirun.identity.signal(signal.SIGKILL)

    failure = (await launched.failed()).failure
    assert failure.stage is FailedAt.KILLED
    assert "2 of its processes were still on n5 and were ended" in failure.detail


@pytest.mark.fault("X06")
async def test_a_launcher_whose_ssh_session_dies_leaves_nothing(launched: Launched) -> None:
    sessions = [each for each in launched.lab.processes("n1") if " ".join(each.argv).startswith("sshd: root@")]
    assert sessions
    for each in sessions:
        each.identity.signal(signal.SIGKILL)

    assert (await launched.failed()).failure.stage is FailedAt.LOST


@pytest.mark.fault("X07")
async def test_a_node_that_dies_is_named_and_the_others_are_clean(launched: Launched) -> None:
    launched.lab.kill_node("n6")

    failure = (await launched.failed()).failure
    assert (failure.stage, failure.node) == (FailedAt.LOST, "n6")
    assert "n6 could not be searched" in failure.detail


@pytest.mark.fault("X06")
async def test_cancelling_ends_a_launch_everywhere(launched: Launched) -> None:
    assert launched.task is not None
    launched.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await launched.task
    await launched.until(lambda: _left(launched.lab) == [], "every node to be clean")
