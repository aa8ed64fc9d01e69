"""Latency, paths and directions over the laboratory: what is stored is what the tools said, and what its links allow."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from benchconsole.store.store import Store
from benchconsole.topology.description.resolve import load_text
from tests.lab import Lab
from tests.scenarios.commands import benchconsole

pytestmark = pytest.mark.lab

PAIR = 'design: sample, pairs: 1, nodes: "n[1,5]"'
SUITES = f"""\
suites:
  latency:
    - {{probe: ping, {PAIR}, count: 20, interval: 0.02, mtu: search}}
    - {{probe: traceroute, {PAIR}}}
    - {{probe: sockperf, {PAIR}, seconds: 1, size: 1000 B}}
    - {{probe: sockperf, {PAIR}, seconds: 1, mode: throughput, protocol: tcp, size: 1400 B}}
  directions:
    - {{probe: iperf3, {PAIR}, streams: 2, seconds: 1, omit: 0, protocol: udp, bitrate: 40 Mb/s, length: 1400 B}}
    - {{probe: iperf3, {PAIR}, streams: 2, seconds: 1, omit: 0, reverse: 1, congestion: reno, json_stream: 1}}
    - {{probe: iperf3, {PAIR}, streams: 1, seconds: 1, omit: 0, bidir: 1, window: 256 KiB}}
"""
LINK = 100e6 / 8
"""Bytes per second of a node's cable; payload is at most 1448 of 1538 of them."""
PAYLOAD = LINK * 1448 / 1538
SPARE = 1.10
"""The bucket of a shaped link starts full, and the runs are short."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Stored:
    """One test as the database has it: what its commands printed, and what was read from that."""

    probe: str
    printed: tuple[str, ...]
    numbers: dict[tuple[str, ...], float]

    def number(self, metric: str, *marks: str) -> float:
        """The one number of a metric that has these labels."""
        (value,) = (value for (name, *own), value in self.numbers.items() if name == metric and {*marks} <= {*own})
        return value

    def values(self, metric: str) -> list[float]:
        return [value for (name, *_), value in self.numbers.items() if name == metric]


Run = Callable[[str], list[Stored]]


@pytest.fixture
def run(healthy_lab: Lab, tmp_path: Path) -> Iterator[Run]:
    """Run a suite on the laboratory and give its tests in order."""
    text = healthy_lab.topology.read_text().replace("{nic: {mtu: 1500}}", "{}")  # nothing here asks a NIC
    path = healthy_lab.topology.with_name("network-b.yaml")
    path.write_text(text[: text.index("criteria:")] + SUITES)

    def stored(suite: str) -> list[Stored]:
        db = tmp_path / "s.db"
        ran = benchconsole("run", path, "--suite", suite, "--db", db)
        assert (ran.code, "Not judged" in ran.out) in ((0, False), (3, True)), ran.out + ran.err
        return read(db)

    yield stored
    path.unlink()


def read(db: Path) -> list[Stored]:
    found: list[Stored] = []
    with Store.open(db) as store:
        key = store.find_session("last")
        new = store.session(key).describe().new
        for stored in store.session(key).read_rounds(load_text(new.topology, new.topology_path)):
            for result in stored.results:
                numbers = {
                    (one.metric, *(f"{name}={value}" for name, value in one.labels)): one.value
                    for one in result.measurements
                }
                if numbers:
                    found.append(Stored(result.test.probe, tuple(output.text for output in result.outputs), numbers))
    return found


def only(tests: list[Stored], probe: str) -> list[Stored]:
    return [test for test in tests if test.probe == probe]


def numbers(pattern: str, text: str) -> list[float]:
    return [float(number) for number in re.findall(pattern, COLOUR.sub("", text))]


def test_latency_path_and_largest_packet_are_what_the_tools_printed(run: Run) -> None:
    tests = run("latency")

    (ping,) = only(tests, "ping")
    times = numbers(r"[=/ ](\d+\.\d+)(?=[/ ])", ping.printed[0].splitlines()[-1])
    assert ping.values("ping.rtt") == [pytest.approx(each / 1000) for each in times]
    assert len(times) == 4
    assert ping.values("ping.loss") == [0.0]
    assert ping.values("ping.mtu") == [1500.0] == [json.loads(ping.printed[1])["payload"] + 28.0]

    (path,) = only(tests, "traceroute")
    last = path.printed[0].splitlines()[-1].split()
    trips = [float(word) / 1000 for word, unit in pairwise(last) if unit == "ms"]
    assert path.values("traceroute.hops") == [4.0] == [float(last[0])]
    assert sorted(path.values("traceroute.rtt")) == pytest.approx([min(trips), sum(trips) / len(trips), max(trips)])

    latency, throughput = only(tests, "sockperf")
    for line, statistic in (("avg-latency=", "mean"), ("<MAX> observation = *", "max"), ("50.000 = *", "p50")):
        (told,) = numbers(line + r"([0-9.]+)", latency.printed[0])
        marks = ("sockperf.latency", "mode=ping-pong", "protocol=udp", "size=1000", f"statistic={statistic}")
        assert latency.number(*marks) == pytest.approx(told * 1e-6)
    (mebi,) = numbers(r"BandWidth is (\S+) MBps", throughput.printed[0])
    assert throughput.values("sockperf.throughput") == [pytest.approx(mebi * 2**20)]


def test_datagrams_and_directions_are_what_iperf3_printed_and_the_links_allow(run: Run) -> None:
    datagrams, reverse, both = run("directions")

    end = json.loads(datagrams.printed[0])["end"]
    sent, arrived = end["sum"]["packets"], end["sum"]["packets"] - end["sum"]["lost_packets"]
    (rate,) = datagrams.values("iperf3.throughput")
    assert datagrams.values("iperf3.loss") == [pytest.approx(1 - arrived / sent)]
    got = end["sum_received"]  # on a busy machine its seconds are more than those of the sender
    assert rate == pytest.approx(got["bytes"] / got["seconds"], rel=0.001)
    assert got["bytes"] == pytest.approx(end["sum"]["bytes"] * arrived / sent, rel=0.01)
    assert 0.5 * 40e6 / 8 < rate < SPARE * 40e6 / 8

    document = json.loads(reverse.printed[0])
    assert document["start"]["test_start"]["reverse"] == 1
    back = reverse.number("iperf3.throughput", "direction=in", "protocol=tcp", "streams=2")
    assert back == pytest.approx(document["end"]["sum_received"]["bits_per_second"] / 8)
    assert 0.2 * PAYLOAD < back < SPARE * PAYLOAD

    end = json.loads(both.printed[0])["end"]
    for direction, name in (("out", "sum_received"), ("in", "sum_received_bidir_reverse")):
        value = both.number("iperf3.throughput", f"direction={direction}", "protocol=tcp", "streams=1")
        assert value == pytest.approx(end[name]["bits_per_second"] / 8)
        assert 0.2 * PAYLOAD < value < SPARE * PAYLOAD
