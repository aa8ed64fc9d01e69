"""The simulated nodes: which commands each of them has, and what they answer.

They answer only what the console's own probes and checks send; any other command is not installed.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle

from benchconsole.console.simulator import iperf3
from benchconsole.console.simulator.fio import NodeDisks, format_report, list_intervals
from benchconsole.console.simulator.inventory import NodeHardware
from benchconsole.console.simulator.network import StreamLoad, noise
from benchconsole.console.simulator.scenarios import FaultKind, Scenario
from benchconsole.console.simulator.traffic import Traffic
from benchconsole.probes.testing.server import Reply
from benchconsole.topology.model.fabric import Fabric, Node, NodeRole

_POISONS: tuple[bytes, ...] = (
    b"\x1b[2J\x1b[31mowned\x1b[0m",
    b"\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07",
    b"[bold red]owned[/] [link=file:///etc/passwd]x[/link]",
    b"<script>alert(1)</script>&amp;",
    b"=HYPERLINK('http://192.0.2.1','owned')",
    b"\xff\xfe\xc3\x28 broken",
    b"\xe2\x80\xae3v8-0862E\xe2\x80\xac",
    b"a\rb\x08\x08\x7f\xc2\x9b31mc",
)
"""Values for text; bytes, for some of them are not text. None holds a quote, a backslash or a line end."""

_TYPE_KEYS = frozenset((b"field", b"name", b"type", b"link_type", b"protocol"))
"""Keys whose value says what another value means; poisoned, it would only make the rest unread."""

_JSON_TEXT = re.compile(rb'"([^"]*)"(\s*:\s*)"[^"]*"')
_JSON_NUMBER = re.compile(rb"(?<=:)(\s*)-?\d[\d.eE+-]*(?=\s*[,}\]])")
_FIELD = re.compile(rb"^(\s*[^\s{}\[\]\"=:][^{}\[\]\"=:\n]*?(?: = |[:=]))([ \t]*)(\S.*)$", re.MULTILINE)

_Tool = Callable[["SimulatedNode", Sequence[str]], Awaitable[Reply]]


class SimulatedNode:
    """One simulated node."""

    def __init__(self, node: Node, scenario: Scenario, others: "SimulatedNodes") -> None:
        self.node = node
        self.hardware = NodeHardware(node, scenario.find_share(FaultKind.DIMM_MISSING, node.id))
        slow = scenario.find_share(FaultKind.DISK_SLOW, node.id)
        self.disks = NodeDisks(node.id, node.role is NodeRole.STORAGE, slow)
        self.drops = node.id in scenario.select(FaultKind.NIC_SLOW_OUT)
        self.spoil = _make_spoiler() if node.id in scenario.select(FaultKind.HOSTILE) else bytes
        self.others = others

    async def run(self, argv: Sequence[str]) -> Reply:
        tool = _TOOLS.get(argv[0].rpartition("/")[2]) if argv else None
        if tool is None:
            name = argv[0] if argv else ""
            return _refuse(f"timeout: failed to run command '{name}': No such file or directory\n", 127)
        return await tool(self, argv)


class SimulatedNodes:
    """Every node of the fabric, by address."""

    def __init__(
        self, fabric: Fabric, scenario: Scenario, traffic: Traffic, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.traffic = traffic
        self.clock = clock
        self.mtu = fabric.mtu
        self._nodes = {node.address: SimulatedNode(node, scenario, self) for node in fabric.nodes.values()}
        self.by_data_address = {node.data_address: node for node in fabric.nodes.values()}
        self.networks: dict[str, str] = {}
        self.legs: dict[str, str] = {}
        for node in fabric.nodes.values():
            for place, address in node.addresses:
                (self.networks if place in fabric.networks else self.legs)[address] = place
                self.by_data_address[address] = node

    async def answer(self, address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        return await self._nodes[address].run(argv)


def _refuse(message: str, exit_status: int = 1) -> Reply:
    return Reply(stderr=message.encode(), exit_status=exit_status)


def _make_spoiler() -> Callable[[bytes], bytes]:
    """A function that poisons what it is given; every value gets the next poison, over all calls.

    Text values become words that no screen, report or shell should obey, numbers in JSON become NaN. Keys, line ends
    and braces stay, because only an answer that is read at all can do harm further on.
    """
    poisons = cycle(_POISONS)

    def poison_text(found: re.Match[bytes]) -> bytes:
        if found[1] in _TYPE_KEYS:
            return found[0]
        # JSON does not allow raw control characters, so the tool that wrote it would have escaped them.
        poison = re.sub(rb"[\x00-\x1f]", lambda raw: b"\\u%04x" % raw[0][0], next(poisons))
        return b'"%b"%b"%b"' % (found[1], found[2], poison)

    def poison_field(found: re.Match[bytes]) -> bytes:
        return found[1] + found[2] + next(poisons)

    def spoil(answer: bytes) -> bytes:
        if answer.lstrip()[:1] in (b"{", b"["):
            return _JSON_NUMBER.sub(rb"\1NaN", _JSON_TEXT.sub(poison_text, answer))
        return _FIELD.sub(poison_field, answer)

    return spoil


async def _run_iperf3(node: SimulatedNode, argv: Sequence[str]) -> Reply:
    try:
        options = iperf3.parse_options(argv)
    except iperf3.UsageError as error:
        return _refuse(f"iperf3: unrecognized option '{error}'\nUsage: iperf3 [-s|-c host] [options]\n")
    return await (_receive if options.server else _send)(node, options)


async def _receive(node: SimulatedNode, options: iperf3.Iperf3Options) -> Reply:
    """``iperf3 -s``: says that it listens, and stays until it has served or the client hangs up."""
    traffic = node.others.traffic
    if (node.node.id, options.port) in traffic.ports:
        return _refuse("iperf3: error - unable to start listener for connections: Address already in use\n")
    port = traffic.listen(node.node.id, options.port)
    line = "-" * 59

    async def stay(second: int) -> Reply:
        """The next reply: the line of a second in which something arrived, or the end."""
        goes_on = False
        try:
            goes_on = await traffic.await_second(port)
            while not goes_on and not options.once:
                await asyncio.Event().wait()
        finally:
            if not goes_on:
                traffic.close(port)
        if not goes_on:
            return Reply()
        return Reply(iperf3.format_interval(port.load, second, port.omit, port.rate).encode(), then=stay(second + 1))

    return Reply(f"{line}\nServer listening on {options.port} (test #1)\n{line}\n".encode(), then=stay(1))


async def _send(node: SimulatedNode, options: iperf3.Iperf3Options) -> Reply:
    """``iperf3 -c``: sends when everybody of the round is in, and reports what it got."""
    others, client = node.others, node.node
    server = others.by_data_address.get(options.client)
    port = others.traffic.ports.get((server.id, options.port)) if server else None
    if server is None or port is None:
        why = "No route to host" if server is None else "Connection refused"
        return Reply(iperf3.format_error(client.id, f"unable to connect to server: {why}").encode())
    if port.busy:
        return Reply(iperf3.format_error(client.id, "the server is busy running a test. try again later").encode())
    source, sink = (server, client) if options.reverse else (client, server)
    legs = (others.legs.get(options.bind, ""), others.legs.get(options.client, ""))
    legs = (legs[1], legs[0]) if options.reverse else legs
    network = others.networks.get(options.client, "")
    load = StreamLoad(source.id, sink.id, options.streams, network, *legs, most=options.bitrate / 8)
    port.omit = options.omit
    rate = await others.traffic.send(load, port, options.seconds + options.omit)
    # Retransmits come from a sender's queue that overflows; a healthy pair shows a handful at most.
    resent = int(8400 * options.seconds * noise(client.id, server.id, "resent", spread=0.1)) if node.drops else 0
    rate *= noise(source.id, sink.id, "rate")
    at = others.clock()
    report = iperf3.format_result(options, client, server, rate, mtu=others.mtu, retransmits=resent, at=at)
    return Reply(node.spoil(report.encode()))


async def _run_shell(node: SimulatedNode, argv: Sequence[str]) -> Reply:
    """``sh -c TEXT NAME ARGUMENTS``: the probes' scripts, known by the name they give themselves."""
    script = _SCRIPTS.get(argv[3]) if len(argv) > 3 and argv[1] == "-c" else None
    if script is None:
        return _refuse("sh: this simulated node knows only the scripts of the console's own probes\n", 127)
    return await script(node, argv[4:])


async def _run_fio(node: SimulatedNode, words: Sequence[str]) -> Reply:
    """The script of the fio probe: four runs, one document each; several jobs and mixed runs are not played."""
    _, _, seconds, _, large, small, jobs, depth, mix = words
    if (jobs, mix) != ("1", "0"):
        return _refuse("fio: the simulated node plays one job that reads or writes\n")
    traffic, at = node.others.traffic, node.others.clock()
    reports = [
        format_report(node.disks, rw, block=int(block), seconds=seconds, depth=int(depth), at=at)
        for rw, block in (("write", large), ("read", large), ("randwrite", small), ("randread", small))
    ]
    whole = Reply(b"".join(node.spoil(report.encode()) for report in reports))
    if traffic.time_scale.tells_intervals:
        blocks = {"write": int(large), "read": int(large), "randwrite": int(small), "randread": int(small)}
        lines = list_intervals(node.disks, blocks, int(seconds))
        return await _tell_seconds(lines, traffic.time_scale.compress(1.0), whole)
    await asyncio.sleep(traffic.time_scale.compress(4 * float(seconds)))
    return whole


async def _tell_seconds(lines: Sequence[str], second: float, whole: Reply) -> Reply:
    """A line each ``second``, on standard error, and then the ``whole`` answer."""
    if not lines:
        return whole
    await asyncio.sleep(second)
    return Reply(stderr=lines[0].encode(), then=_tell_seconds(lines[1:], second, whole))


async def _run_inventory(node: SimulatedNode, words: Sequence[str]) -> Reply:
    return Reply(node.hardware.answer(words[0], node.spoil))


def _say(output: bytes) -> _Tool:
    async def run(node: SimulatedNode, argv: Sequence[str]) -> Reply:
        return Reply(output)

    return run


_TOOLS: dict[str, _Tool] = {"iperf3": _run_iperf3, "sh": _run_shell, "true": _say(b"")}
# "list" and "end" are the search for leftovers and their end: here nothing outlives its command.
_SCRIPTS: dict[str, _Tool] = {
    "benchconsole-fio": _run_fio,
    "benchconsole-inventory": _run_inventory,
    "list": _say(b"\x1e"),
    "end": _say(b"\n"),
}
