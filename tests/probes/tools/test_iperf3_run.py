import asyncio
import json
import os
import random
import shutil
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Output, PlanError, RemoteError, Shape, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.testing import FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.probes.tools.captures import output

FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
LISTENS = Output((), b"Server listening on 20000\n", exit_status=None)
TAKEN = Output((), b"", b"iperf3: error - unable to start listener: Address already in use\n", 1)

_ALGORITHM = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip()


async def test_the_server_is_bound_and_the_client_waits_for_the_round() -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2")
    there.when("iperf3", "-s", answers=LISTENS)
    here.when("iperf3", "-c", answers=output("iperf3/tcp-3.12.json"))
    contact = FakeContact(here, there)
    outputs = await Iperf3(random.Random(1)).run(contact, FLOW)
    assert [len(outputs), contact.gathered, there.running] == [1, 1, []]
    server, client = there.calls[0].argv, here.calls[0].argv
    port = server[server.index("-p") + 1]
    assert server == ("iperf3", "-s", "-1", "-B", "10.0.0.2", "-p", port, "--forceflush", "--idle-timeout", "60")
    assert client[:7] == ("iperf3", "-c", "10.0.0.2", "-B", "10.0.0.1", "-p", port)
    assert client[7:] == ("-P", "4", "-t", "5", "-O", "1", "-J")
    assert 20_000 <= int(port) < 32_000


@pytest.mark.parametrize(
    ("options", "estimate", "patience"), [({}, 7, 15), ({"seconds": 3, "omit": 0}, 4, 12), ({"seconds": 60}, 62, 70)]
)
async def test_a_client_that_hangs_is_given_up_soon_after_it_should_have_ended(
    options: dict[str, int], estimate: float, patience: float
) -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2").when("iperf3", "-s", answers=LISTENS)
    here.when("iperf3", "-c", answers=output("iperf3/tcp-3.12.json"))
    await Iperf3().run(FakeContact(here, there), replace(FLOW, options=MappingProxyType(options)))
    assert Iperf3().estimate(options) == estimate
    assert here.calls[0].timeout == patience


async def test_a_server_that_hangs_does_not_hold_up_the_round_for_long() -> None:
    contact = FakeContact(FakeRemote("n1"), FakeRemote("n2").when("iperf3", answers=Output((), exit_status=None)))
    with pytest.raises(RemoteError, match="within 5 s") as raised:
        await Iperf3().run(contact, FLOW)
    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert contact.gathered == 0


async def test_a_port_that_is_taken_is_left_for_another() -> None:
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2")
    there.when("iperf3", "-s", answers=[TAKEN, TAKEN, LISTENS])
    await Iperf3(random.Random(1)).run(FakeContact(here, there), FLOW)
    ports = [call.argv[call.argv.index("-p") + 1] for call in there.calls]
    assert len(set(ports)) == 3
    assert ports[-1] in here.calls[0].argv


async def test_ports_are_not_tried_for_ever() -> None:
    there = FakeRemote("n2").when("iperf3", answers=TAKEN)
    contact = FakeContact(FakeRemote("n1"), there)
    with pytest.raises(RemoteError, match="in use"):
        await Iperf3().run(contact, FLOW)
    assert [len(there.calls), there.running, contact.gathered] == [4, [], 0]


async def test_an_old_server_is_started_without_its_idle_limit() -> None:
    old = Output((), b"", b"iperf3: unrecognized option '--idle-timeout'\n", 1)
    there = FakeRemote("n2").when("--idle-timeout", answers=old).when("iperf3", answers=LISTENS)
    await Iperf3().run(FakeContact(FakeRemote("n1", lenient=True), there), FLOW)
    assert "--idle-timeout" not in there.calls[-1].argv


async def test_a_missing_tool_is_not_tried_again() -> None:
    there = FakeRemote("n2")
    with pytest.raises(RemoteError) as caught:
        await Iperf3().run(FakeContact(FakeRemote("n1"), there), FLOW)
    assert caught.value.failure.stage is FailedAt.MISSING_TOOL
    assert len(there.calls) == 1


@pytest.mark.parametrize(
    ("address", "bound"),
    [("10.0.0.1", True), ("fd00::1", True), ("fe80::1%eth0", True), ("n1.example", False), ("-B", False)],
)
def test_only_a_literal_address_is_bound(address: str, bound: bool) -> None:
    target = Target(a_node("n1", data_address=address), a_node("n2", data_address="n2.example"))
    client = Iperf3().client(target, 20_000)
    assert (client[3:5] == ["-B", address]) is bound
    assert "-B" not in Iperf3().server(target, 20_000)


@pytest.mark.parametrize(
    "options", [{"streams": 0}, {"streams": "many"}, {"seconds": 1.5}, {"omit": -1}, {"streams": 129}]
)
def test_options_out_of_range_are_refused(options: dict[str, str | int | float]) -> None:
    with pytest.raises(PlanError, match=next(iter(options))):
        Iperf3().client(replace(FLOW, options=MappingProxyType(options)), 20_000)


class Loopback:
    """This machine as a node, reached without SSH."""

    node = NodeId("here")

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        async with self.start(argv, timeout=timeout) as going:
            return await going.output()

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, timeout: float) -> AsyncIterator["LoopbackRunning"]:
        process = await asyncio.create_subprocess_exec(*argv, stdout=PIPE, stderr=PIPE)
        try:
            async with asyncio.timeout(timeout):
                yield LoopbackRunning(process)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.communicate()


class LoopbackRunning:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def says(self, text: str, *, timeout: float) -> None:
        assert self.process.stdout
        async with asyncio.timeout(timeout):
            await self.process.stdout.readuntil(text.encode())

    async def output(self) -> Output:
        stdout, stderr = await self.process.communicate()
        return Output((), stdout, stderr, self.process.returncode)

    def make_output(self) -> Output:
        raise AssertionError("probes wait for a word of their server, and read no more of it")


installed = pytest.mark.skipif(
    shutil.which("iperf3") is None and not os.environ.get("CI"),
    reason="iperf3 is not installed here (in CI this fails)",
)


@installed
async def test_real_streams_take_the_next_ports_and_share_the_rate() -> None:
    """The basis of ``steered`` and of caps, asked of the iperf3 that is here."""
    port = random.SystemRandom().randrange(10_000, 19_990)
    written: dict[str, str | int] = {"seconds": 1, "omit": 0, "streams": 3, "source_port": port, "bitrate": "60 Mb/s"}
    nodes = (a_node("a", data_address="127.0.0.1"), a_node("b", data_address="127.0.0.1"))
    probe, here = Iperf3(), Loopback()
    (said_by_client,) = await probe.run(FakeContact(here, here), Target(*nodes, MappingProxyType(written)))
    connected = json.loads(said_by_client.text)["start"]["connected"]
    assert [each["local_port"] for each in connected] == [port, port + 1, port + 2]
    rate = next(one.value for one in probe.parse(said_by_client) if one.metric == "iperf3.throughput")
    assert rate < 1.3 * 60e6 / 8


@installed
async def test_a_real_run_over_loopback_is_read() -> None:
    options = MappingProxyType({"seconds": 1, "omit": 0, "streams": 2})
    target = Target(a_node("a", data_address="127.0.0.1"), a_node("b", data_address="127.0.0.1"), options)
    probe, here = Iperf3(), Loopback()
    (said_by_client,) = await probe.run(FakeContact(here, here), target)
    found = probe.parse(said_by_client)
    assert [one.metric for one in found].count("iperf3.stream") == 2
    sent = {"direction": "out", "protocol": "tcp", "streams": "2", "seconds": "1", "omit": "0"}
    assert dict(found[0].labels) == {**sent, "size": "131072", "window": "default", "congestion": _ALGORITHM}
    assert found[0].value > 1e6


@installed
async def test_the_window_that_was_asked_for_is_the_one_that_a_real_run_tells() -> None:
    options: dict[str, str | int] = {"seconds": 1, "omit": 0, "streams": 1, "window": "16 KiB"}
    target = Target(
        a_node("a", data_address="127.0.0.1"), a_node("b", data_address="127.0.0.1"), MappingProxyType(options)
    )
    probe, here = Iperf3(), Loopback()
    (said_by_client,) = await probe.run(FakeContact(here, here), target)
    told = {one.metric: one.value for one in probe.parse(said_by_client)}
    assert 8 * 1024 <= told["iperf3.window"] <= 32 * 1024
    assert 0 < told["iperf3.rtt"] < 1


def test_it_needs_a_pair() -> None:
    assert Iperf3.shape is Shape.PAIR
    with pytest.raises(PlanError):
        Iperf3().client(Target(a_node()), 20_000)


def client(**options: str | int) -> list[str]:
    return Iperf3().client(replace(FLOW, options=MappingProxyType(options)), 20_000)


def test_a_test_is_held_to_its_rate_whatever_its_streams() -> None:
    argv = client(streams=3, bitrate="480 Mb/s")
    assert argv[argv.index("-b") + 1] == "160000000"
    assert "-b" not in client(streams=3)


def test_a_source_port_is_that_of_the_first_stream() -> None:
    argv = client(streams=4, source_port=65_532)
    assert argv[argv.index("--cport") + 1] == "65532"
    assert "--cport" not in client(source_port=0)


@pytest.mark.parametrize(
    "options",
    [
        {"source_port": 1023},
        {"source_port": 65_533, "streams": 4},
        {"source_port": -1},
        {"bitrate": "480"},
        {"bitrate": "480 mb/s"},
        {"bitrate": "1 b/s", "streams": 4},
    ],
)
def test_a_rate_or_a_port_that_cannot_be_is_refused(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError, match=r"iperf3 option (source_port|bitrate): found"):
        client(**options)


def test_protocol_and_directions_become_arguments() -> None:
    assert client(protocol="udp", bitrate="40 Mb/s", length="1400 B", streams=1)[11:] == [
        *("-O", "1", "-b", "40000000", "-u", "-l", "1400", "-J")
    ]
    assert client(reverse=1)[11:] == ["-O", "1", "-R", "-J"]
    assert client(bidir=1, window="4 MiB", congestion="cubic")[11:] == [
        *("-O", "1", "--bidir", "-w", "4194304", "-C", "cubic", "-J")
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"protocol": "sctp"},
        {"bitrate": "", "protocol": "udp"},
        {"reverse": 1, "bidir": 1},
        {"reverse": 2},
        {"bidir": "both"},
        {"length": "2 MiB"},
        {"length": "1400"},
        {"length": "70 kB", "protocol": "udp", "bitrate": "1 Gb/s"},
        {"window": "1 GiB"},
        {"congestion": "--version"},
        {"congestion": "cubic", "protocol": "udp", "bitrate": "1 Gb/s"},
        {"source_port": 65_530, "bidir": 1},
        {"json_stream": 2},
        {"tail": -1},
        {"tail": 1, "bidir": 1},
        {"tail": 1, "json_stream": 1},
        {"tail": 1, "protocol": "udp", "bitrate": "1 Gb/s"},
    ],
)
async def test_what_iperf3_would_take_for_something_else_is_refused_at_once(options: dict[str, str | int]) -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2")
    with pytest.raises(PlanError, match=rf"iperf3 option {next(iter(options))}: "):
        await Iperf3().run(FakeContact(here, there), replace(FLOW, options=MappingProxyType(options)))
    assert here.calls == there.calls == []


async def test_a_tail_is_sent_beyond_the_seconds_and_stands_in_the_title() -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2").when("iperf3", "-s", answers=LISTENS)
    here.when("iperf3", "-c", answers=output("iperf3/tcp-3.12.json"))
    options = MappingProxyType({"seconds": 10, "omit": 5, "tail": 4})
    await Iperf3().run(FakeContact(here, there), replace(FLOW, options=options))
    assert here.calls[0].argv[7:] == ("-P", "4", "-t", "14", "-O", "5", "-T", "tail=4", "-J")
    assert Iperf3().estimate(options) == 20


@pytest.mark.parametrize(
    ("help_text", "flag"),
    [(b"  -J, --json   output in JSON format\n", "-J"), (b"  --json-stream   line-delimited\n", "--json-stream")],
)
async def test_json_by_lines_is_asked_for_where_the_tool_of_the_node_has_it(help_text: bytes, flag: str) -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2")
    here.when("--help", answers=Output((), help_text))
    here.when("iperf3", "-c", answers=output("iperf3/stream-3.17.jsonl"))
    there.when("iperf3", "-s", answers=LISTENS)
    streamed = replace(FLOW, options=MappingProxyType({"json_stream": 1}))
    await Iperf3().run(FakeContact(here, there), streamed)
    assert here.calls[-1].argv[-1] == flag
