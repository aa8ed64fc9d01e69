import random
import re
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.qperf.probe import Qperf
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, noise, output, read, said, text
from tests.probes.tools.spoiled import (
    a_line_that_is_lost_gives_no_other_number,
    noise_inside_and_a_cut_give_no_other_number,
)
from tests.probes.tools.torn import line_ends_and_colours_change_nothing

ALL = sorted(path.name for path in (ROOT / "qperf").iterdir())
NAMES = [name for name in ALL if not name.startswith("broken")]
FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
LISTENS = Output((), b"benchconsole: listening\n", exit_status=None)


def flow(**options: str | int | float) -> Target:
    return replace(FLOW, options=MappingProxyType(options))


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Qperf(random.Random(7)), [output(f"qperf/{name}") for name in NAMES])


def table(name: str) -> dict[tuple[str, str, str], float]:
    """Metric, test and size to value."""
    found = Qperf().parse(output(f"qperf/{name}"))
    return {
        (each.metric[6:], dict(each.labels)["test"], dict(each.labels).get("size", "")): each.value for each in found
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "default-0.4.11.txt",
            {
                ("throughput", "tcp_bw", ""): 58.9e6,
                ("latency", "tcp_lat", ""): 13.2e-6,
                ("sent", "udp_bw", ""): 61.2e6,
                ("throughput", "udp_bw", ""): 60.7e6,
                ("latency", "udp_lat", ""): 7.02e-6,
            },
        ),
        (
            "verbose-uu-0.4.11.txt",
            {
                ("throughput", "tcp_bw", ""): 59768832,
                ("messages", "tcp_bw", ""): 912,
                ("latency", "tcp_lat", ""): 11201e-9,
                ("messages", "tcp_lat", ""): 89280,
                ("sent", "udp_bw", ""): 60719104,
                ("throughput", "udp_bw", ""): 60358656,
                ("messages", "udp_bw", ""): 1842,
                ("latency", "udp_lat", ""): 6925e-9,
                ("messages", "udp_lat", ""): 144413,
            },
        ),
        (
            "bits-0.4.11.txt",
            {
                ("throughput", "tcp_bw", ""): 476e6 / 8,
                ("sent", "udp_bw", ""): 466e6 / 8,
                ("throughput", "udp_bw", ""): 418e6 / 8,
            },
        ),
        (
            "very-verbose-0.4.11.txt",
            {
                ("throughput", "tcp_bw", "65536"): 59.1135e6,
                ("messages", "tcp_bw", "65536"): 893.069,
                ("latency", "udp_lat", "1"): 7.27394e-6,
                ("messages", "udp_lat", "1"): 137.477e3,
            },
        ),
        (
            "loop-0.4.11.txt",
            {
                ("throughput", "tcp_bw", "1"): 459e3,
                ("throughput", "tcp_bw", "16"): 8.04e6,
                ("throughput", "tcp_bw", "256"): 54.5e6,
                ("throughput", "tcp_bw", "4096"): 59.2e6,
                ("throughput", "tcp_bw", "65536"): 59.6e6,
            },
        ),
        (
            "stat-0.4.11.txt",
            {
                ("latency", "tcp_lat", ""): 7.48e-6,
                ("messages", "tcp_lat", ""): 134e3,
                ("throughput", "tcp_bw", ""): 59e6,
                ("messages", "tcp_bw", ""): 900,
            },
        ),
        (
            "statused-0.4.11.txt",
            {
                ("throughput", "tcp_bw", ""): 58.5e6,
                ("messages", "tcp_bw", ""): 58.5e3,
                ("sent", "udp_bw", ""): 59.8e6,
                ("throughput", "udp_bw", ""): 55.7e6,
                ("messages", "udp_bw", ""): 55.7e3,
            },
        ),
        (
            "rdma-0.4.9.txt",
            {
                ("throughput", "rc_bw", ""): 5.94e9,
                ("latency", "rc_lat", ""): 1.83e-6,
                ("throughput", "rc_rdma_write_bw", ""): 6.04e9,
                ("throughput", "rc_rdma_read_bw", ""): 5.12e9,
                ("throughput", "rc_bi_bw", ""): 11.6e9,
                ("sent", "ud_bw", ""): 3.27e9,
                ("throughput", "ud_bw", ""): 3.21e9,
                ("messages", "rc_fetch_add_mr", ""): 2.41e6,
                ("latency", "rc_rdma_write_poll_lat", ""): 940e-9,
            },
        ),
        (
            "rdma-verbose-0.4.0.txt",
            {
                ("throughput", "rc_bw", "65536"): 1.48e9,
                ("messages", "rc_bw", "65536"): 22.6e3,
                ("latency", "tcp_lat", "1"): 21.4e-6,
                ("messages", "tcp_lat", "1"): 46.8e3,
            },
        ),
        (
            "commas-0.4.6.txt",
            {
                ("throughput", "tcp_bw", ""): 1134251008,
                ("messages", "tcp_bw", ""): 17307,
                ("latency", "tcp_lat", ""): 1250.5e-6,
                ("messages", "tcp_lat", ""): 799,
            },
        ),
    ],
)
def test_every_value_has_its_own_unit(name: str, expected: dict[tuple[str, str, str], float]) -> None:
    assert table(name) == pytest.approx(expected, rel=1e-12)


def test_directions_are_of_the_data() -> None:
    found = {
        dict(each.labels)["test"]: dict(each.labels).get("direction")
        for each in Qperf().parse(output("qperf/rdma-0.4.9.txt"))
    }
    assert found["rc_bw"] == found["rc_rdma_write_bw"] == found["ud_bw"] == "out"
    assert (found["rc_rdma_read_bw"], found["rc_bi_bw"], found["rc_lat"]) == ("in", "both", None)


def test_a_result_that_was_copied_without_its_blanks_is_read() -> None:
    ((name, value, marks),) = read(Qperf(), "tcp_bw:\nbw = 9.41 GB/sec\n")
    assert (name, marks) == ("qperf.throughput", (("direction", "out"), ("test", "tcp_bw")))
    assert value == pytest.approx(9.41e9)


# -- what is refused


def test_a_test_that_failed_spoils_the_others() -> None:
    failed = output("qperf/broken-no-rdma-0.4.11.txt")
    for spoiled in (
        failed,
        replace(output("qperf/default-0.4.11.txt"), exit_status=1),
        replace(output("qperf/default-0.4.11.txt"), stderr=b"10.0.0.2: failed to connect\n"),
        replace(output("qperf/default-0.4.11.txt"), stderr=b"failed to receive data: timed out\n"),
    ):
        with pytest.raises(ProbeOutputError):
            Qperf().parse(spoiled)
    warned = replace(output("qperf/default-0.4.11.txt"), stderr=b"warning: -f1 set but not used in test udp_bw\n")
    assert len(Qperf().parse(warned)) == 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("60.7 MB/sec", "0 bytes/sec"),
        ("60.7 MB/sec", "nan MB/sec"),
        ("60.7 MB/sec", "inf GB/sec"),
        ("60.7 MB/sec", "-60.7 MB/sec"),
        ("60.7 MB/sec", "60,7 MB/sec"),
        ("60.7 MB/sec", "60.7 MiB/sec"),
        ("60.7 MB/sec", "60.7"),
        ("7.02 us", "7.02 MB/sec"),
        ("13.2 us", "13.2 Us"),
        ("13.2 us", "+++++ us"),
    ],
)
def test_a_spoiled_value_gives_nothing(old: str, new: str) -> None:
    assert old in text("qperf/default-0.4.11.txt")
    assert read(Qperf(), text("qperf/default-0.4.11.txt").replace(old, new)) == []


def test_values_without_their_test_are_not_read() -> None:
    without = re.sub(r"(?m)^\w+:\n", "", text("qperf/default-0.4.11.txt"))
    assert read(Qperf(), without) == []
    assert read(Qperf(), "conf:\n    bw  =  1 MB/sec\n") == []


# -- noise and cuts


@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=60, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    whole = text(f"qperf/{name}")
    assert read(Qperf(), before + whole + after) == said(Qperf().parse(output(f"qperf/{name}")))


def test_noise_inside_and_a_cut_give_nothing_else() -> None:
    noise_inside_and_a_cut_give_no_other_number(Qperf(), [f"qperf/{name}" for name in NAMES])


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    line_ends_and_colours_change_nothing(Qperf(), f"qperf/{name}")


# -- the commands


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["-t", "2", "-to", "10", "-uu", "-v", "tcp_bw", "tcp_lat", "udp_bw", "udp_lat"]),
        (
            {"tests": "rc_bw,rc_lat rc_rdma_write_bw", "seconds": 5, "device": "mlx5_0:1"},
            ["-t", "5", "-to", "10", "-uu", "-v", "-i", "mlx5_0:1", "rc_bw", "rc_lat", "rc_rdma_write_bw"],
        ),
        ({"tests": "tcp_bw", "message": "64 KiB"}, ["-t", "2", "-to", "10", "-uu", "-v", "-m", "65536", "tcp_bw"]),
    ],
)
def test_the_client_is_asked_for_what_the_options_say(options: dict[str, str | int], words: list[str]) -> None:
    argv = Qperf().client(flow(**options), 20_000, 20_100)
    assert argv == ["env", "LC_ALL=C", "qperf", "10.0.0.2", "-lp", "20000", "-ip", "20100", *words]


@pytest.mark.parametrize(
    "options",
    [
        {"tests": ""},
        {"tests": "tcp_bw quit"},
        {"tests": "ver_rc_fetch_add"},
        {"seconds": 0},
        {"message": "much"},
        {"device": "-uu"},
        {"device": "mlx5_0 x"},
    ],
)
def test_options_that_cannot_be_met_are_refused(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError):
        Qperf().demands(flow(**options))


async def test_the_server_ends_with_the_test_and_both_ports_are_told() -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2")
    there.when("qperf", answers=LISTENS)
    here.when("qperf", answers=output("qperf/verbose-uu-0.4.11.txt"))
    contact = FakeContact(here, there)
    outputs = await Qperf(random.Random(3)).run(contact, FLOW)
    (server,), (client,) = there.calls, here.calls
    control = server.argv[4]
    assert server.argv[4:] == (control, "tcp", "qperf", "-lp", control, "-lto", "10")
    assert client.argv[5] == control != client.argv[7]
    assert server.started
    assert there.running == []
    assert (len(outputs), contact.gathered) == (1, 1)


def test_the_time_needed_follows_the_options() -> None:
    assert Qperf().estimate({"tests": "tcp_bw", "seconds": 3}) < Qperf().estimate({"seconds": 3})


def test_a_test_that_was_repeated_is_told_apart() -> None:
    found = read(Qperf(), text("qperf/latencies-logged-0.4.11.txt"))
    assert [value for _, value, _ in found] == pytest.approx([7.66e-3, 5.38e-3])
    assert [dict(marks) for _, _, marks in found] == [{"test": "tcp_lat"}, {"test": "tcp_lat", "run": "2"}]


def test_a_line_that_is_lost_gives_no_other_number() -> None:
    a_line_that_is_lost_gives_no_other_number(
        Qperf(), [f"qperf/{name}" for name in NAMES if not name.startswith("statused")]
    )


@pytest.mark.parametrize("lost", ["tcp_lat:\n", "udp_bw:\n", "udp_lat:\n"])
def test_lines_below_a_heading_that_was_lost_are_not_of_the_test_before(lost: str) -> None:
    whole = text("qperf/default-0.4.11.txt")
    assert lost in whole
    with pytest.raises(ProbeOutputError, match="the lines of one test"):
        Qperf().parse(Output((), whole.replace(lost, "", 1).encode()))
