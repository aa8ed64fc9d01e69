import asyncio
import json
import os
import random
import shutil
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.api import Output, PlanError, ProbeOutputError, RemoteError, Shape, Target
from probes.builtin.iperf3 import Iperf3
from probes.model import FailedAt
from probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from tests.probes.builtin.captures import ROOT, noise, output, read, said, text, values
from topology.model import NodeId

BROKEN = (
    "error-3.18.json",
    "refused-3.12.json",
    "rev-omit-3.1.json",
    "server-reverse-3.12.txt",
    "stream-error-3.17.jsonl",
)
NAMES = sorted(path.name for path in (ROOT / "iperf3").iterdir() if path.name not in BROKEN)
FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
LISTENS = Output((), b"Server listening on 20000\n", exit_status=None)
TAKEN = Output((), b"", b"iperf3: error - unable to start listener: Address already in use\n", 1)


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Iperf3(random.Random(7)), [output(f"iperf3/{name}") for name in NAMES])


def labelled(name: str) -> dict[tuple[str, str], float]:
    """Metric and direction to value, streams left out."""
    found = Iperf3().parse(output(f"iperf3/{name}"))
    return {(one.metric, dict(one.labels)["direction"]): one.value for one in found if one.metric != "iperf3.stream"}


@pytest.mark.parametrize(
    ("name", "direction", "bits"),
    [
        ("tcp-3.12.json", "out", 22335932851.84228),
        ("stream-3.17.jsonl", "out", 22335932851.84228),
        ("tcp-3.1.json", "out", 9.399903e8),
        ("rev-3.12.json", "in", 12050054014.49052),
        ("bidir-3.12.json", "out", 9478702813.062166),
        ("bidir-3.12.json", "in", 2758773835.315552),
        ("udp-3.12.json", "out", 100117983.22352305),
        ("udploss-3.12.json", "out", 24907906924.69182),
        ("udp-3.1.json", "out", 8.75e7),
        ("udprev-3.12.json", "in", 50063196.0372993),
        ("udpbidir-3.12.json", "in", 50060292.90610528),
        ("server-3.12.json", "in", 20962757.567336854),
        ("tcp-3.12.txt", "out", 23.5e9),
        ("tcp1-3.12.txt", "out", 18.7e9),
        ("tcpM-3.12.txt", "out", 1961 * 2**20 * 8),
        ("rev-3.12.txt", "in", 19.6e9),
        ("bidir-3.12.txt", "out", 1.52e9),
        ("bidir-3.12.txt", "in", 13.4e9),
        ("udp-3.12.txt", "out", 100e6),
        ("udp-3.1.txt", "out", 97.8e6 * 0.8),
        ("udpbidir-3.12.txt", "in", 50.0e6),
        ("server-3.12.txt", "in", 23.5e9),
        ("timestamps-rev-3.12.txt", "in", 19.6e9),
        ("udp-loss-3.17.jsonl", "in", 1581216000),
        ("sctp-3.9.json", "out", 1.59e9),
    ],
)
def test_throughput_is_what_the_receiver_got(name: str, direction: str, bits: float) -> None:
    assert labelled(name)["iperf3.throughput", direction] == pytest.approx(bits / 8, rel=1e-9)


def test_what_was_lost_and_sent_again_is_told() -> None:
    assert labelled("tcp-3.12.json")["iperf3.retransmits", "out"] == 12
    assert labelled("udploss-3.12.json")["iperf3.loss", "out"] == pytest.approx(3248 / 55180)
    assert labelled("udp-3.1.json")["iperf3.jitter", "out"] == pytest.approx(0.25e-3)
    assert labelled("udp-3.1.txt")["iperf3.loss", "out"] == pytest.approx(0.2)


def test_streams_are_numbered_and_add_up() -> None:
    found = Iperf3().parse(output("iperf3/udploss-3.12.json"))
    streams = {dict(one.labels)["stream"]: one.value for one in found if one.metric == "iperf3.stream"}
    assert list(streams) == ["1", "2"]
    assert sum(streams.values()) == pytest.approx(24907906924.69182 / 8, rel=1e-3)
    assert {dict(one.labels)["streams"] for one in found} == {"2"}


@pytest.mark.parametrize("name", BROKEN)
def test_a_run_that_failed_gives_no_number(name: str) -> None:
    with pytest.raises(ProbeOutputError):
        Iperf3().parse(output(f"iperf3/{name}"))


@pytest.mark.parametrize(("name", "protocol"), [("sctp-3.9.json", "sctp"), ("udp-loss-3.17.jsonl", "udp")])
def test_the_protocol_is_the_one_that_was_run(name: str, protocol: str) -> None:
    assert {dict(one.labels)["protocol"] for one in Iperf3().parse(output(f"iperf3/{name}"))} == {protocol}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("error-3.18.json", "unable to connect to server"),
        ("refused-3.12.json", "unable to connect to server"),
        ("stream-error-3.17.jsonl", "error in the JSON"),
    ],
)
@pytest.mark.parametrize("status", [0, 1])
def test_a_failure_is_told_in_the_words_of_the_tool(name: str, words: str, status: int) -> None:
    with pytest.raises(ProbeOutputError, match=words):
        Iperf3().parse(replace(output(f"iperf3/{name}"), exit_status=status))


def test_a_client_that_was_interrupted_gives_no_number_also_behind_a_timestamp() -> None:
    said_last = "Tue Nov 10 12:00:01 2026 iperf3: interrupt - the client has terminated by signal Interrupt(2)\n"
    with pytest.raises(ProbeOutputError, match="interrupt"):
        Iperf3().parse(Output((), (text("iperf3/timestamps-rev-3.12.txt") + said_last).encode()))


def test_a_summary_whose_streams_are_missing_is_not_taken_for_one_of_one_stream() -> None:
    """Of two streams the head is lost but for one line: each stream by itself is no throughput."""
    lines = text("iperf3/tcp-3.12.txt").splitlines(keepends=True)
    second = next(number for number, line in enumerate(lines) if "connected to" in line) + 1
    found = read(Iperf3(), "".join(lines[second:]))
    assert [value for metric, value, _ in found if metric == "iperf3.throughput"] == [23.5e9 / 8]


def test_what_was_sent_is_not_taken_for_what_arrived() -> None:
    """A line of the sender that lost its end and part of the next, and a sum without its count of the lost."""
    whole = text("iperf3/tcpM-3.12.txt")
    spliced = whole.replace(whole[whole.index(" sender") : whole.rindex("receiver")], "  ", 1)
    assert spliced.count("sender") == whole.count("sender") - 1
    assert read(Iperf3(), spliced) == []
    uncounted = text("iperf3/udp-3.1.json").replace('"lost_packets"', '"packets_lost"')
    assert read(Iperf3(), uncounted) == []


def test_a_stream_that_got_nothing_has_no_rate() -> None:
    starved = text("iperf3/sctp-3.9.json").replace(
        '"bytes": 1987500000, "bits_per_second": 1590000000.0, "sender": true}\n\t\t\t}],',
        '"bytes": 0, "bits_per_second": 0, "sender": true}\n\t\t\t}],',
    )
    assert starved != text("iperf3/sctp-3.9.json")
    assert [metric for metric, _, _ in read(Iperf3(), starved)] == ["iperf3.throughput"]


def test_a_jitter_of_days_is_left_out() -> None:
    changed = text("iperf3/udp-3.1.json").replace('"jitter_ms":\t0.25', '"jitter_ms":\t6.11273e+08')
    assert changed != text("iperf3/udp-3.1.json")
    assert "iperf3.jitter" not in {metric for metric, _, _ in read(Iperf3(), changed)}


@pytest.mark.parametrize("rate", ["Infinity", "-Infinity", "NaN", "-1", "1e300", "null", '"9"', "true", "0"])
def test_an_absurd_rate_is_refused(rate: str) -> None:
    changed = text("iperf3/tcp-3.1.json").replace("9.399903e+08", rate)
    with pytest.raises(ProbeOutputError):
        Iperf3().parse(Output((), changed.encode()))


@pytest.mark.parametrize("rate", ["inf", "-nan", "-1", "1e999", "0.00"])
def test_an_absurd_rate_in_the_text_is_refused(rate: str) -> None:
    changed = text("iperf3/tcp1-3.12.txt").replace(
        "18.7 Gbits/sec                  receiver", f"{rate} Gbits/sec   receiver"
    )
    with pytest.raises(ProbeOutputError):
        Iperf3().parse(Output((), changed.encode()))


def test_zero_bytes_are_no_rate() -> None:
    changed = text("iperf3/tcp-3.1.json").replace('"bytes":	1175000000', '"bytes":	0')
    assert read(Iperf3(), changed) == []


def test_intervals_are_not_summed_when_the_receiver_is_missing() -> None:
    whole = text("iperf3/tcp-3.12.txt")
    assert read(Iperf3(), "".join(line for line in whole.splitlines(True) if "receiver" not in line)) == []


def test_a_complaint_beside_numbers_is_a_failure() -> None:
    good = output("iperf3/tcp-3.12.json")
    for spoiled in (replace(good, stderr=b"iperf3: error - control socket has closed\n"), replace(good, exit_status=1)):
        with pytest.raises(ProbeOutputError):
            Iperf3().parse(spoiled)
    assert Iperf3().parse(replace(good, stderr=b"warning: UDP block size exceeds TCP MSS\n"))


@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=80, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    whole = text(f"iperf3/{name}")
    found = read(Iperf3(), before + whole + after)
    assert found == said(Iperf3().parse(output(f"iperf3/{name}")))


@pytest.mark.parametrize("name", NAMES)
def test_carriage_returns_change_nothing(name: str) -> None:
    assert read(Iperf3(), text(f"iperf3/{name}").replace("\n", "\r\n")) == read(Iperf3(), text(f"iperf3/{name}"))


def test_two_runs_in_one_capture_are_two_results() -> None:
    both = values(Iperf3().parse(Output((), (text("iperf3/tcp1-3.12.txt") + text("iperf3/rev-3.12.txt")).encode())))
    assert both["iperf3.throughput"] == [18.7e9 / 8, 19.6e9 / 8]


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


installed = pytest.mark.skipif(
    shutil.which("iperf3") is None and not os.environ.get("CI"),
    reason="iperf3 is not installed here (in CI this fails)",
)


@installed
async def test_real_streams_take_the_next_ports_and_share_the_rate() -> None:
    """What ``steered`` and caps rest on, asked of the iperf3 that is here."""
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
    assert dict(found[0].labels) == {"direction": "out", "protocol": "tcp", "streams": "2"}
    assert found[0].value > 1e6


def test_it_needs_a_pair() -> None:
    assert Iperf3.shape is Shape.PAIR
    with pytest.raises(PlanError):
        Iperf3().client(Target(a_node()), 20_000)


def test_the_estimate_follows_the_options() -> None:
    assert Iperf3().estimate({}) == 9.0
    assert Iperf3().estimate({"seconds": 60, "omit": 0}) == 63.0


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
    ],
)
async def test_what_iperf3_would_take_for_something_else_is_refused_at_once(options: dict[str, str | int]) -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2")
    with pytest.raises(PlanError, match=rf"iperf3 option {next(iter(options))}: "):
        await Iperf3().run(FakeContact(here, there), replace(FLOW, options=MappingProxyType(options)))
    assert here.calls == there.calls == []


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


def marked(name: str, metric: str) -> list[tuple[float, dict[str, str]]]:
    return [(one.value, dict(one.labels)) for one in Iperf3().parse(output(f"iperf3/{name}")) if one.metric == metric]


def test_the_sums_of_old_datagrams_are_read_though_nothing_counts_below_them() -> None:
    """What the head does not tell, which way they went, has no label; four streams stand in the whole summary."""
    marks, share = {"protocol": "udp", "streams": "4"}, 1463349 / 4796257
    ((rate, of_rate),) = marked("udp-streams-3.1.txt", "iperf3.throughput")
    ((loss, of_loss),) = marked("udp-streams-3.1.txt", "iperf3.loss")
    assert (rate, loss) == pytest.approx((5.56e9 / 8 * (1 - share), share), rel=1e-12)
    assert of_rate == of_loss == marks
    streams = [value for value, _ in marked("udp-streams-3.1.txt", "iperf3.stream")]
    lost = (366275 / 1199208, 365999 / 1198655, 365525 / 1199197, 365550 / 1199197)
    assert streams == pytest.approx([1.39e9 / 8 * (1 - each) for each in lost], rel=1e-12)


def test_counts_that_are_not_those_of_the_share_beside_them_are_no_loss() -> None:
    marks = {"direction": "in", "protocol": "udp"}
    assert marked("udp-contradictory-3.4.txt", "iperf3.throughput") == [(380e6 / 8, marks)]
    assert marked("udp-contradictory-3.4.txt", "iperf3.loss") == []
    assert marked("udp-day-3.12.txt", "iperf3.throughput")[0][0] == 1000e6 / 8
    assert marked("udp-day-3.12.txt", "iperf3.loss") == []


def test_a_jitter_longer_than_the_run_is_left_out() -> None:
    assert marked("udp-few-3.1.txt", "iperf3.throughput")[0][0] == 1.16e6 / 8
    assert marked("udp-few-3.1.txt", "iperf3.jitter") == []


def test_a_server_that_is_stopped_after_its_runs_takes_nothing_from_them() -> None:
    whole = text("iperf3/server-stopped-3.16.txt")
    expected = [(11.0e9 / 8, {"direction": "in", "protocol": "tcp", "streams": "1"})]
    assert marked("server-stopped-3.16.txt", "iperf3.throughput") == expected
    stopped = whole[: whole.rindex("receiver\n")] + "receiver\n^Ciperf3: interrupt - the server has terminated\n"
    assert read(Iperf3(), stopped) == []


@pytest.mark.parametrize("closed", ["", "\niperf Done.\n"])
def test_a_summary_alone_is_read_where_it_is_known_to_be_whole(closed: str) -> None:
    whole = text("iperf3/tcp1-3.12.txt")
    tail = whole[whole.rindex("[ ID]") : whole.index("iperf Done.")].rstrip() + "\n"
    found = {metric: value for metric, value, _ in read(Iperf3(), tail + closed)}
    assert found.get("iperf3.throughput") == (18.7e9 / 8 if closed else None)


def test_two_summaries_below_each_other_are_two_runs() -> None:
    whole = text("iperf3/tcp1-3.12.txt")
    tail = whole[whole.rindex("[ ID]") :]
    runs = [dict(marks).get("run") for metric, _, marks in read(Iperf3(), tail + tail) if metric == "iperf3.throughput"]
    assert runs == [None, "2"]


def test_without_its_start_the_streams_tell_the_direction() -> None:
    events = text("iperf3/udp-loss-3.17.jsonl").splitlines(keepends=True)
    found = read(Iperf3(), "".join(event for event in events if '"event":"start"' not in event.replace(" ", "")))
    assert {dict(marks)["direction"] for _, _, marks in found} == {"in"}


def test_colours_of_the_terminal_change_nothing() -> None:
    whole = text("iperf3/rev-3.12.json")
    coloured = "".join(f"\x1b[?2004l\x1b[0m{line}\x1b[K\n" for line in whole.splitlines())
    assert read(Iperf3(), coloured) == read(Iperf3(), whole) != []
