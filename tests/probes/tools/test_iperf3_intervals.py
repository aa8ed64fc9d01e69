"""The lines of an iperf3 server that tell of its intervals: recorded, of other shapes, and no lines at all."""

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.api import Interval, Target, Unit
from benchconsole.probes.plugins.interval_reader import check_interval
from benchconsole.probes.testing import a_node
from benchconsole.probes.tools.iperf3.probe import Iperf3
from tests.probes.tools.captures import output

OUT, IN = (("direction", "out"),), (("direction", "in"),)


def told(text: str, **options: int) -> list[Interval]:
    target = Target(a_node("n1"), a_node("n2"), MappingProxyType(dict(options)))
    return [each for line in text.split("\n") for each in Iperf3().read_intervals(line, target)]


def rates(text: str, **options: int) -> list[tuple[float, float, str]]:
    return [(each.until, each.value * 8 / 1e9, dict(each.labels)["direction"]) for each in told(text, **options)]


def test_the_sums_of_several_streams_are_read_and_what_is_omitted_is_not() -> None:
    said = output("iperf3/server-intervals-3.12.txt").text
    assert rates(said, streams=2) == [(1.0, 18.6, "out"), (2.0, 17.8, "out")]
    assert told(said, streams=2)[0] == Interval("iperf3.throughput", 18.6e9 / 8, Unit.BYTE_RATE, 1.0, 1.0, OUT)


def test_both_directions_are_told_apart_where_each_has_one_stream() -> None:
    said = output("iperf3/server-intervals-both-3.12.txt").text
    assert rates(said, streams=1, bidir=1) == [
        (1.0, 0.101, "out"), (1.0, 0.101, "in"), (2.0, 0.0996, "out"), (2.0, 0.0996, "in"),
    ]  # fmt: skip


def test_a_server_that_sends_tells_of_the_other_direction() -> None:
    line = "[SUM]   1.00-2.00   sec  1.13 GBytes  9.70 Gbits/sec   12"
    assert [each.labels for each in told(line, reverse=1)] == [IN]
    assert [each.labels for each in told(line)] == [OUT]


@pytest.mark.parametrize(
    ("line", "bits"),
    [
        ("[  5]   0.00-1.00   sec   129 KBytes  1.05 Mbits/sec  0.006 ms  0/91 (0%)  ", 1.05e6),
        ("[100]  59.00-60.00  sec  0.00 Bytes  0.00 bits/sec", 0.0),
        ("[ 15]   3.00-4.01   sec  11.6 TBytes  99.6 Tbits/sec", 99.6e12),
        ("[  5]   0.00-1.00   sec   129 KBytes  1.05 Mbits/sec", 1.05e6),
    ],
)
def test_every_unit_and_protocol(line: str, bits: float) -> None:
    assert [each.value for each in told(line, streams=1)] == [bits / 8]


@pytest.mark.parametrize(
    "line",
    [
        "[  5]   0.00-2.00   sec  2.14 GBytes  9.17 Gbits/sec                  receiver",
        "[SUM]   0.00-2.00   sec  4.23 GBytes  18.2 Gbits/sec    0             sender",
        "[  5]   0.00-1.00   sec   994 MBytes  8.34 Gbits/sec                  (omitted)",
        "[  5]   2.00-2.00   sec   256 KBytes   873 Mbits/sec",
        "[  5]   2.00-1.00   sec   256 KBytes   873 Mbits/sec",
        "[  5]   0.00-1.00   sec   256 KBytes   873e99 Mbits/sec",
        "[  5]   0.00-1.00   sec   256 KBytes   999999999 Tbits/sec",
        "[  5]   0.00-1.00   sec   256 KBytes   nan Mbits/sec",
        "[  5]   0.00-1.00   sec   256 KBytes   873 Mbits/se",
        "[  5] local 127.0.0.1 port 23456 connected to 127.0.0.1 port 34232",
        "[ ID] Interval           Transfer     Bitrate",
        "",
    ],
)
def test_what_is_no_interval_gives_no_number(line: str) -> None:
    assert told(line, streams=1) == told(line, streams=4) == []


def test_the_result_of_the_client_gives_none() -> None:
    said = output("iperf3/tcp-3.12.json").text
    assert json.loads(said)["intervals"]
    assert told(said) == []


@given(line=st.text(max_size=200) | st.from_regex(r"\[SUM\] +[0-9.e-]{1,20}-[0-9.]{1,20} +sec.{0,60}bits/sec.{0,20}"))
def test_hostile_lines_give_a_declared_number_or_none(line: str) -> None:
    for each in told(line, streams=2):
        check_interval(Iperf3(), each)
