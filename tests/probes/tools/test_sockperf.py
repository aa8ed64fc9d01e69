import re
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, RemoteError, Shape, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.sockperf.probe import Sockperf
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, Said, noise, output, read, said, text
from tests.probes.tools.spoiled import noise_inside_and_a_cut_give_no_other_number
from tests.probes.tools.torn import line_ends_and_colours_change_nothing, one_line_lost_or_twice

BROKEN = ("giga-unproven-3.7.txt", "no-server-tcp-3.7.txt", "no-server-udp-3.7.txt", "with-headers-1.9.txt")
NAMES = sorted(path.name for path in (ROOT / "sockperf").iterdir() if path.name not in BROKEN)
FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
MEBI = 2**20


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Sockperf(), [output(f"sockperf/{name}") for name in NAMES])


def parsed(name: str) -> list[Said]:
    return said(Sockperf().parse(output(f"sockperf/{name}")))


def statistics(name: str, metric: str) -> dict[str, float]:
    found = [(dict(marks)["statistic"], value) for each, value, marks in parsed(name) if each == metric]
    return {statistic: round(1e6 * float(value), 6) for statistic, value in found}


@pytest.mark.parametrize(
    ("name", "metric", "microseconds"),
    [
        (
            "under-load-udp-2.5.txt",
            "sockperf.latency",
            {"mean": 9.137, "max": 31.402, "p99.9": 14.017, "p99": 11.203, "p50": 9.021, "min": 8.013},
        ),
        (
            "ping-pong-tcp-3.10.txt",
            "sockperf.latency",
            {"mean": 9.765, "max": 402.118, "p99.9": 21.009, "p99": 13.402, "p50": 9.611, "min": 8.215},
        ),
        (
            "ping-pong-udp-3.7.txt",
            "sockperf.latency",
            {"mean": 6.986, "max": 1994.775, "p99.9": 37.360, "p99": 8.963, "p50": 6.619, "min": 5.583},
        ),
        (
            "full-rtt-tcp-3.7.txt",
            "sockperf.rtt",
            {"mean": 24.253, "max": 1279.551, "p99.9": 111.294, "p99": 51.265, "p50": 20.390, "min": 13.529},
        ),
        (
            "under-load-udp-3.7.txt",
            "sockperf.latency",
            {"mean": 635.602, "max": 9389.614, "p99.9": 8821.045, "p99": 6721.458, "p50": 71.401, "min": 5.758},
        ),
    ],
)
def test_latency_and_its_tail(name: str, metric: str, microseconds: dict[str, float]) -> None:
    assert statistics(name, metric) == microseconds
    assert statistics(name, "sockperf.rtt" if metric == "sockperf.latency" else "sockperf.latency") == {}


def test_messages_that_went_astray_are_counted() -> None:
    counted = {metric: value for metric, value, _ in parsed("under-load-udp-2.5.txt") if "latency" not in metric}
    assert counted == {"sockperf.dropped": 2, "sockperf.duplicated": 0, "sockperf.out_of_order": 1}


@pytest.mark.parametrize(
    ("name", "metric", "rate", "value"),
    [
        ("throughput-tcp-3.7.txt", "sockperf.throughput", 168083, 224.415 * MEBI),
        ("throughput-udp-3.7.txt", "sockperf.sent", 136328, 191.378 * MEBI),
        ("giga-udp-3.7.txt", "sockperf.sent", 78043, 104 * MEBI),
        ("precise-udp-3.7.txt", "sockperf.sent", 73452, 210.147857666 * MEBI),
        ("throughput-frags-3.5.txt", "sockperf.sent", 9000, 557.899 * MEBI),
    ],
)
def test_bandwidth_is_in_powers_of_two_and_udp_tells_only_what_was_sent(
    name: str, metric: str, rate: float, value: float
) -> None:
    found = {metric: value for metric, value, _ in parsed(name)}
    assert found == {"sockperf.messages": rate, metric: pytest.approx(value, rel=1e-12)}


@pytest.mark.parametrize("name", ["giga-udp-3.7.txt", "precise-udp-3.7.txt"])
def test_what_is_called_gigabytes_is_what_messages_and_size_come_to(name: str) -> None:
    found = {metric: float(value) for metric, value, _ in parsed(name)}
    size = 1400 if name.startswith("giga") else 3000
    assert found["sockperf.sent"] == pytest.approx(found["sockperf.messages"] * size, rel=6e-3)


def test_a_bandwidth_whose_head_is_lost_is_read_where_its_size_goes_without_saying() -> None:
    """Version 1 counted headers too: of 1472 bytes alone, which sockperf does not note, the messages prove the rest."""
    summary = "sockperf: Summary: Message Rate is {} [msg/sec]\nsockperf: Summary: BandWidth is {} MBps ({} Mbps)\n"
    found = {metric: value for metric, value, _ in read(Sockperf(), summary.format("75439", "105.902", "847.216"))}
    assert found == {"sockperf.messages": 75439, "sockperf.sent": pytest.approx(105.902 * MEBI)}
    assert read(Sockperf(), summary.format("100000", "12.207", "97.656")) == []


def test_a_bandwidth_with_headers_in_it_is_refused_whatever_was_cut_off() -> None:
    lines = text("sockperf/with-headers-1.9.txt").splitlines(keepends=True)
    torn = ["".join(lines[start:]) for start in range(len(lines))]
    for capture in [*torn, *one_line_lost_or_twice("".join(lines))]:
        assert "sockperf.sent" not in {metric for metric, _, _ in read(Sockperf(), capture)}


@pytest.mark.parametrize("name", BROKEN)
def test_a_run_that_failed_or_whose_unit_cannot_be_known_gives_no_number(name: str) -> None:
    with pytest.raises(ProbeOutputError):
        Sockperf().parse(output(f"sockperf/{name}"))


def test_an_error_on_the_other_stream_is_a_failure_although_it_ends_with_0() -> None:
    said_on_error = b"sockperf: ERROR: Can`t connect socket (errno=111 Connection refused)\n"
    with pytest.raises(ProbeOutputError, match="Connection refused"):
        Sockperf().parse(replace(output("sockperf/ping-pong-tcp-3.10.txt"), stderr=said_on_error))


@pytest.mark.parametrize(
    ("was", "spoiled"),
    [
        ("avg-latency=9.765", "avg-latency=-9.765"),
        ("avg-latency=9.765", "avg-latency=nan"),
        ("avg-latency=9.765", "avg-latency=0.000"),
        ("Latency is 9.765", "Latency is 8.765"),
        ("Latency is", "Round trip is"),
        ("99.000 =   13.402", "99.000 =   23.402"),
        ("99.000 =   13.402", "99.000 =   0.000"),
        ("99.000 =   13.402", "99.000 =   inf"),
        ("dropped messages = 0", "dropped messages = -1"),
        ("interrupted by timer", "interrupted by user"),
        ("interrupted by timer", "interrupted by signal 15"),
    ],
)
def test_what_contradicts_itself_is_refused(was: str, spoiled: str) -> None:
    whole = text("sockperf/ping-pong-tcp-3.10.txt")
    assert was in whole
    with pytest.raises(ProbeOutputError):
        Sockperf().parse(Output((), whole.replace(was, spoiled).encode()))


@pytest.mark.parametrize(
    ("was", "spoiled"),
    [
        ("557.899 MBps", "0.000 MBps"),
        ("557.899 MBps", "55.789 MBps"),
        ("557.899 MBps (4463.196 Mbps)", "585.000 MBps (4680.000 Mbps)"),
        ("Rate is 9000", "Rate is -9000"),
        ("Rate is 9000", "Rate is 900"),
    ],
)
def test_a_bandwidth_that_its_messages_do_not_come_to_is_refused(was: str, spoiled: str) -> None:
    whole = text("sockperf/throughput-frags-3.5.txt")
    assert was in whole
    with pytest.raises(ProbeOutputError):
        Sockperf().parse(Output((), whole.replace(was, spoiled).encode()))


def test_a_percentile_of_fewer_observations_than_it_needs_is_left_out() -> None:
    few = text("sockperf/ping-pong-tcp-3.10.txt").replace("Total 489000 obs", "Total 99 obs")
    found = [dict(marks)["statistic"] for metric, _, marks in read(Sockperf(), few) if metric == "sockperf.latency"]
    assert found == ["mean", "max", "p50", "min"]


def test_mode_and_size_are_labels_where_the_command_is_known() -> None:
    argv = Sockperf().client(replace(FLOW, options=MappingProxyType({"mode": "under-load"})), 20_000)
    (first, *_) = Sockperf().parse(replace(output("sockperf/under-load-udp-2.5.txt"), argv=tuple(argv)))
    told = {"mode": "under-load", "mps": "10000", "seconds": "2", "size": "64"}
    assert dict(first.labels) == {**told, "protocol": "udp", "statistic": "mean"}


def test_several_runs_in_one_capture_are_told_apart() -> None:
    both = text("sockperf/under-load-udp-2.5.txt") + text("sockperf/throughput-frags-3.5.txt")
    numbers = {metric: dict(marks).get("number") for metric, _, marks in read(Sockperf(), both)}
    assert (numbers["sockperf.latency"], numbers["sockperf.sent"]) == (None, "2")


@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=60, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    assert read(Sockperf(), before + text(f"sockperf/{name}") + after) == parsed(name)


def test_noise_inside_and_a_cut_give_nothing_else() -> None:
    noise_inside_and_a_cut_give_no_other_number(Sockperf(), [f"sockperf/{name}" for name in NAMES])


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    line_ends_and_colours_change_nothing(Sockperf(), f"sockperf/{name}")


# -- what is run


async def test_the_server_is_bound_and_the_client_waits_for_the_round() -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2")
    there.when("sockperf", "server", answers=Output((), b"benchconsole: listening\n", exit_status=None))
    here.when("sockperf", answers=output("sockperf/ping-pong-tcp-3.10.txt"))
    contact = FakeContact(here, there)
    tcp = replace(FLOW, options=MappingProxyType({"protocol": "tcp", "seconds": 1}))
    (said_by_client,) = await Sockperf().run(contact, tcp)
    assert (len(said_by_client.stdout) > 0, contact.gathered, there.running) == (True, 1, [])
    server, client = list(there.calls[0].argv), list(here.calls[0].argv)
    port = server[server.index("-p") + 1]
    wire = ["--tcp", "-i", "10.0.0.2", "-p", port]
    assert server[server.index("env") :] == ["env", "LC_ALL=C", "sockperf", "server", *wire]
    assert server[server.index("env") - 1] == "tcp"
    own = ["-t", "1", "--msg-size", "64", "--client_ip", "10.0.0.1"]
    assert client == ["env", "LC_ALL=C", "sockperf", "ping-pong", *wire, *own]


def client(**options: str | float) -> list[str]:
    return Sockperf().client(replace(FLOW, options=MappingProxyType(options)), 20_000)


def test_modes_and_rates_become_arguments() -> None:
    assert client(mode="throughput", size="1400 B", messages=5000)[3:] == [
        *("throughput", "-i", "10.0.0.2", "-p", "20000", "-t", "2", "--msg-size", "1400"),
        *("--mps", "5000", "--client_ip", "10.0.0.1"),
    ]
    named = Target(a_node("n1", data_address="n1.example"), a_node("n2", data_address="n2.example"))
    assert "--client_ip" not in Sockperf().client(named, 20_000)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "playback"},
        {"protocol": "sctp"},
        {"size": "13 B"},
        {"size": "64"},
        {"size": "64 KiB"},
        {"seconds": 0},
        {"messages": -1},
    ],
)
async def test_options_out_of_range_are_refused_before_anything_is_started(options: dict[str, str | float]) -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2")
    with pytest.raises(PlanError, match=r"sockperf option \w+: "):
        await Sockperf().run(FakeContact(here, there), replace(FLOW, options=MappingProxyType(options)))
    assert here.calls == there.calls == []


async def test_a_missing_tool_is_said_as_such() -> None:
    with pytest.raises(RemoteError) as caught:
        await Sockperf().run(FakeContact(FakeRemote("n1"), FakeRemote("n2")), FLOW)
    assert caught.value.failure.stage is FailedAt.MISSING_TOOL


def test_it_needs_a_pair_and_knows_how_long_it_takes() -> None:
    assert Sockperf.shape is Shape.PAIR
    with pytest.raises(PlanError):
        Sockperf().client(Target(a_node()), 20_000)
    assert Sockperf().estimate({"seconds": 10}) == 14.0


def test_a_time_with_fewer_decimals_than_sockperf_prints_was_cut() -> None:
    whole = text("sockperf/ping-pong-tcp-3.10.txt")
    cut = re.sub(r"(percentile 50\.000 = +[0-9]+\.[0-9])[0-9]+", r"\1", whole)
    assert cut != whole
    lost = set(read(Sockperf(), whole)) - set(read(Sockperf(), cut))
    assert {dict(marks)["statistic"] for *_, marks in lost} == {"p50"}
    assert set(read(Sockperf(), cut)) < set(read(Sockperf(), whole))
