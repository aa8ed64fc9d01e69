"""Interval numbers of a running test: the same wherever its output is cut, and no harm by node or plugin."""

import weakref
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Interval, Metric, Output, Probe, ProbeError, Reading, Target, Unit
from benchconsole.probes.model.interval import RunningOutputs
from benchconsole.probes.plugins import interval_reader
from benchconsole.probes.plugins.interval_reader import (
    LONGEST_LINE,
    MOST_BYTES,
    IntervalReader,
    LineCutter,
    check_interval,
    reads_intervals,
)
from benchconsole.probes.testing import a_node
from benchconsole.probes.tools.iperf3.probe import Iperf3
from tests.probes.played import Pair
from tests.probes.tools.captures import output

SAID = output("iperf3/server-intervals-3.12.txt").stdout
TARGET = Target(a_node("n1"), a_node("n2"), {"streams": 2})


class Said:
    """A stream to which a test adds."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data

    def read_from(self, place: int, most: int) -> tuple[bytes, int]:
        return self.data[max(place, len(self.data) - most) :], len(self.data)


class Counting(Probe):
    """Each line is a number; ``told`` takes the place of what it makes of it."""

    name = "counting"
    summary = "numbers"
    metrics = (Metric("counting.rate", Unit.BYTE_RATE, "a rate"),)
    told: object = None

    def read_intervals(self, line: str, target: Target) -> Sequence[Interval]:
        if isinstance(self.told, BaseException):
            raise self.told
        interval = self.told or Interval("counting.rate", float(line), Unit.BYTE_RATE, 1.0, 1.0)
        return [interval]  # type: ignore[list-item]

    def parse(self, output: Output) -> Sequence[Reading]:
        return ()


def reader(probe: Probe, *streams: Said) -> IntervalReader:
    outputs = RunningOutputs()
    outputs.add(*streams)
    return IntervalReader(probe, TARGET, outputs)


@given(cuts=st.lists(st.integers(0, len(SAID)), max_size=12))
def test_cut_at_any_byte_the_output_gives_the_same_lines(cuts: list[int]) -> None:
    cutter, places = LineCutter(), [0, *sorted(cuts), len(SAID)]
    pieces = [SAID[begin:end] for begin, end in pairwise(places)]
    assert b"".join(pieces) == SAID
    assert [line for piece in pieces for line in cutter.cut(piece)] == list(LineCutter().cut(SAID))


@given(cuts=st.lists(st.integers(0, len(SAID)), max_size=12))
@settings(max_examples=50)
def test_cut_at_any_byte_it_gives_the_same_intervals(cuts: list[int]) -> None:
    """Those of one reading may be fewer, for only the newest of each is told; no other is ever among them."""
    whole = [each for line in SAID.decode().split("\n") for each in Iperf3().read_intervals(line, TARGET)]
    said = Said()
    found: list[Interval] = []
    reading = reader(Iperf3(), said)
    for place in [*sorted(cuts), len(SAID)]:
        said.data = SAID[:place]
        found += reading.read()
    assert set(found) <= set(whole)
    assert found[-1] == whole[-1]
    assert len(found) == len(set(found))


@given(data=st.binary(max_size=2000), cuts=st.lists(st.integers(0, 2000), max_size=8))
def test_hostile_bytes_are_cut_alike_and_lines_stay_short(data: bytes, cuts: list[int]) -> None:
    data = data.replace(b"\x00", b"x" * 300)
    cutter, places = LineCutter(), [0, *sorted(min(each, len(data)) for each in cuts), len(data)]
    found = [line for a, b in pairwise(places) for line in cutter.cut(data[a:b])]
    assert found == list(LineCutter().cut(data))
    assert all(0 < len(line) <= LONGEST_LINE for line in found)


def test_the_longest_line_is_read_and_a_longer_one_is_not() -> None:
    longest, longer = b"a" * LONGEST_LINE, b"b" * (LONGEST_LINE + 1)
    assert list(LineCutter().cut(longest + b"\n" + longer + b"\nc\n")) == [longest.decode(), "c"]
    cutter = LineCutter()
    assert list(cutter.cut(longer)) + list(cutter.cut(b"b\nc\r")) == ["c"]


def test_a_line_without_an_end_takes_no_room() -> None:
    cutter = LineCutter()
    for _ in range(100):
        assert list(cutter.cut(b"x" * 100_000)) == []
    assert len(cutter._rest) <= LONGEST_LINE
    assert list(cutter.cut(b"\n7\n")) == ["7"]


def test_of_a_flood_only_the_newest_bytes_are_looked_at() -> None:
    said = Said(b"1\n" * MOST_BYTES + b"2\n")
    assert [each.value for each in reader(Counting(), said).read()] == [2.0]


def test_a_line_of_which_the_beginning_is_missing_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interval_reader, "MOST_BYTES", 4)
    said = Said(b"1000\n")
    assert reader(Counting(), said).read() == ()  # else 000 would be read
    said.data = b"1000\n20\n"
    assert [each.value for each in reader(Counting(), said).read()] == [20.0]


def test_each_number_is_told_once_and_that_of_the_last_line_counts() -> None:
    said = Said(b"1\n2\n3")
    reading = reader(Counting(), said)
    assert [each.value for each in reading.read()] == [2.0]
    assert reading.read() == ()
    said.data += b"4\n"
    assert [each.value for each in reading.read()] == [34.0]


def test_streams_of_all_commands_are_read_and_those_that_are_gone_forgotten() -> None:
    outputs = RunningOutputs()
    one, gone = Said(b"1\n"), Said(b"2\n")
    outputs.add(one, gone)
    reading = IntervalReader(Counting(), TARGET, outputs)
    assert [each.value for each in reading.read()] == [2.0]
    late, is_gone = Said(b"3\n"), weakref.ref(gone)
    outputs.add(late)
    del gone
    assert is_gone() is None
    one.data += b"4\n"
    assert [each.value for each in reading.read()] == [3.0]
    assert len(reading._followed) == 2


@pytest.mark.parametrize(
    "told",
    [
        ValueError("no number"),
        SystemExit("stop"),
        "a text",
        Interval("other.rate", 1.0, Unit.BYTE_RATE, 1.0, 1.0),
        Interval("counting.rate", 1.0, Unit.SECOND, 1.0, 1.0),
        Interval("counting.rate", float("nan"), Unit.BYTE_RATE, 1.0, 1.0),
        Interval("counting.rate", -1.0, Unit.BYTE_RATE, 1.0, 1.0),
        Interval("counting.rate", 1.0, Unit.BYTE_RATE, float("inf"), 1.0),
    ],
    ids=str,
)
def test_a_plugin_that_breaks_the_contract_is_not_asked_again(told: object) -> None:
    probe, said = Counting(), Said(b"1\n")
    probe.told = told
    reading = reader(probe, said)
    assert reading.read() == ()
    probe.told, said.data = None, b"1\n2\n"
    assert reading.read() == ()
    if isinstance(told, Interval):
        with pytest.raises(ProbeError):
            check_interval(probe, told)


def test_a_probe_that_tells_nothing_is_not_read() -> None:
    assert reads_intervals(Iperf3())
    assert not reads_intervals(Pair())
