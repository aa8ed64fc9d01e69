"""Owns the simulated nodes: which commands each of them has, and what they answer.

Answers only what the console's own probes and checks send; any other command is not installed.
Refuses to know SSH (``probes.testing.server``) and to decide what is wrong (``scenarios``).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from console.demo import iperf3, survey
from console.demo.disk import Disks, Work, report
from console.demo.faults import FaultKind, Scenario
from console.demo.hardware import Box
from console.demo.hostile import spoiler
from console.demo.network import Load, noise
from console.demo.traffic import Traffic
from probes.testing.server import Reply
from topology.model import Fabric, Node, NodeRole

_Tool = Callable[["Machine", Sequence[str]], Awaitable[Reply]]


class Machine:
    """One simulated node."""

    def __init__(self, node: Node, scenario: Scenario, machines: "Machines") -> None:
        missing = scenario.of(FaultKind.DIMM_MISSING).get(node.id)
        slow = scenario.of(FaultKind.DISK_SLOW).get(node.id)
        self.node = node
        self.box = Box(node)
        if missing is not None:
            self.box = Box(node, round(self.box.slots * (1 - missing.share)))
        self.disks = Disks(node.id, node.role is NodeRole.STORAGE, slow.share if slow else 1.0)
        self.drops = node.id in scenario.of(FaultKind.NIC_SLOW_OUT)
        self.spoil: Callable[[bytes], bytes] = spoiler() if node.id in scenario.of(FaultKind.HOSTILE) else bytes
        self.machines = machines

    async def run(self, argv: Sequence[str]) -> Reply:
        """Answer one command."""
        tool = _TOOLS.get(argv[0].rpartition("/")[2]) if argv else None
        if tool is None:
            said = f"timeout: failed to run command '{argv[0] if argv else ''}': No such file or directory\n"
            return Reply(stderr=said.encode(), exit_status=127)
        return await tool(self, argv)


class Machines:
    """Every node of the fabric, by address."""

    def __init__(
        self, fabric: Fabric, scenario: Scenario, traffic: Traffic, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.traffic = traffic
        self.clock = clock
        self.mtu = fabric.mtu
        self._nodes = {node.address: Machine(node, scenario, self) for node in fabric.nodes.values()}
        self._data = {node.data_address: node for node in fabric.nodes.values()}

    async def answer(self, address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        """What the node at ``address`` answers to ``argv``."""
        return await self._nodes[address].run(argv)

    def at(self, data_address: str) -> Node | None:
        """The node whose data network address this is."""
        return self._data.get(data_address)


async def _iperf3(machine: Machine, argv: Sequence[str]) -> Reply:
    try:
        call = iperf3.read(argv)
    except iperf3.UsageError as error:
        said = f"iperf3: unrecognized option '{error}'\nUsage: iperf3 [-s|-c host] [options]\n"
        return Reply(stderr=said.encode(), exit_status=1)
    return await (_receive if call.server else _send)(machine, call)


async def _receive(machine: Machine, call: iperf3.Call) -> Reply:
    """``iperf3 -s``: says that it listens, and stays until it has served or the client hangs up."""
    traffic = machine.machines.traffic
    if traffic.port(machine.node.id, call.port) is not None:
        said = "iperf3: error - unable to start listener for connections: Address already in use\n"
        return Reply(stderr=said.encode(), exit_status=1)
    port = traffic.listen(machine.node.id, call.port)
    line = "-" * 59

    async def stay() -> Reply:
        try:
            await port.served.wait()
            while not call.once:
                await asyncio.Event().wait()
        finally:
            traffic.leave(port)
        return Reply()

    return Reply(f"{line}\nServer listening on {call.port} (test #1)\n{line}\n".encode(), then=stay())


async def _send(machine: Machine, call: iperf3.Call) -> Reply:
    """``iperf3 -c``: sends when everybody of the round is in, and reports what it got."""
    machines, here = machine.machines, machine.node
    there = machines.at(call.client)
    port = machines.traffic.port(there.id, call.port) if there else None
    if there is None or port is None:
        why = "No route to host" if there is None else "Connection refused"
        return Reply(iperf3.failed(here.id, f"unable to connect to server: {why}").encode())
    if port.busy:
        return Reply(iperf3.failed(here.id, "the server is busy running a test. try again later").encode())
    source, sink = (there, here) if call.reverse else (here, there)
    load = Load(source.id, sink.id, call.streams)
    rate = await machines.traffic.send(load, port, call.seconds + call.omit)
    # Retransmits come from a sender's queue that overflows; a healthy pair shows a handful at most.
    resent = int(8400 * call.seconds * noise(here.id, there.id, "resent", spread=0.1)) if machine.drops else 0
    ends = iperf3.Ends(here.id, here.data_address, there.data_address, machines.mtu)
    rate *= noise(source.id, sink.id, "rate")
    said = iperf3.measured(call, ends, rate, retransmits=resent, at=machines.clock())
    return Reply(machine.spoil(said.encode()))


async def _shell(machine: Machine, argv: Sequence[str]) -> Reply:
    """``sh -c TEXT NAME ARGUMENTS``: the probes' scripts, known by the name they give themselves."""
    script = _SCRIPTS.get(argv[3]) if len(argv) > 3 and argv[1] == "-c" else None
    if script is None:
        said = b"sh: this simulated node knows only the scripts of the console's own probes\n"
        return Reply(stderr=said, exit_status=127)
    return await script(machine, argv[4:])


async def _fio(machine: Machine, words: Sequence[str]) -> Reply:
    """The script of the fio probe: four runs, one document each; several jobs and mixed runs are not played."""
    _, _, seconds, _, large, small, jobs, depth, mix = words
    if (jobs, mix) != ("1", "0"):
        return Reply(b"", b"fio: the simulated node plays one job that reads or writes\n", 1)
    machines = machine.machines
    found: list[str] = []
    for rw in ("write", "read", "randwrite", "randread"):
        pattern, block = ("random", small) if rw.startswith("rand") else ("sequential", large)
        name = f"{pattern}-{rw.removeprefix('rand')}"
        options = {"name": name, "rw": rw, "bs": block, "runtime": seconds, "ioengine": "psync", "direct": "1"}
        work = Work(name, rw, int(block), float(seconds), int(depth), options)
        found.append(report(work, machine.disks, at=machines.clock()))
    await asyncio.sleep(machines.traffic.pace.seconds(4 * float(seconds)))
    return Reply(b"".join(machine.spoil(document.encode()) for document in found))


async def _survey(machine: Machine, words: Sequence[str]) -> Reply:
    return Reply(survey.answers(machine.box, words[0], machine.spoil))


async def _leftovers(machine: Machine, words: Sequence[str]) -> Reply:
    """The search of ``probes.sweep``: nothing outlives its command here, so the list is empty."""
    return Reply(b"\x1e")


async def _ended(machine: Machine, words: Sequence[str]) -> Reply:
    """The end that ``probes.sweep`` brings: nothing lives on."""
    return Reply(b"\n")


async def _true(machine: Machine, argv: Sequence[str]) -> Reply:
    return Reply()


_TOOLS: dict[str, _Tool] = {"iperf3": _iperf3, "sh": _shell, "true": _true}
_SCRIPTS: dict[str, _Tool] = {
    "benchconsole-fio": _fio,
    "benchconsole-inventory": _survey,
    "list": _leftovers,
    "end": _ended,
}
