"""Criteria that cannot be right: each is refused where it stands, with what to write instead."""

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.description.vocabulary import MetricTraits, Vocabulary
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Comparator
from benchconsole.topology.units import Unit

TEXT = 'schema: 1\nfabric: x\nnodes: {"n[1-4]": {}}\ncohorts: {kind: {virtual: n1}}\ncriteria:\n  - {'
MORE, LESS = Comparator.AT_LEAST, Comparator.AT_MOST


def _refuses(probe: str, options: object, nodes: object) -> str:
    assert isinstance(options, dict)
    size = options.get("size")
    return f"dd option size: found {size!r}, expected a size such as 1 GiB" if size == "1 mb" else ""


WORDS = Vocabulary(
    {
        "iperf3.throughput": Unit.BYTE_RATE,
        "dd.throughput": Unit.BYTE_RATE,
        "ping.rtt": Unit.SECOND,
        "ping.hops": Unit.ONE,
        "ping.loss": Unit.ONE,
        "hpl.rate": Unit.FLOP_RATE,
        "plugin.rate": Unit.BYTE_RATE,
    },
    {"dd": {"size": "1 GiB", "direct": 1, "design": ""}, "ping": {}, "iperf3": {"threads": 1}, "hpl": {}, "plugin": {}},
    traits={
        "iperf3.throughput": MetricTraits(MORE, of_capacity=True, labels=frozenset(("direction", "streams"))),
        "dd.throughput": MetricTraits(MORE, in_bytes=True, labels=frozenset(("operation", "size"))),
        "ping.rtt": MetricTraits(LESS),
        "ping.hops": MetricTraits(),
        "ping.loss": MetricTraits(LESS),
        "hpl.rate": MetricTraits(MORE),
        "plugin.rate": MetricTraits(MORE),
    },
    refuses=_refuses,
)


def problems(text: str) -> list[str]:
    with pytest.raises(TopologyError) as raised:
        load_text(text, "x.yaml", lambda: WORDS)
    return [str(problem) for problem in raised.value.problems]


def find_column(text: str, mark: str) -> int:
    """Where ``mark`` stands in the last line, counted from 1."""
    return text.splitlines()[-1].index(mark) + 1


@pytest.mark.parametrize(
    ("criterion", "mark", "said"),
    [
        (
            "metric: iperf3.throughput, at_least: 1 GB/s, where: {thraeds: 2}",
            "thraeds",
            (
                "unknown label 'thraeds' of iperf3.throughput, expected one of clients, direction, kind, nodes, "
                "streams, threads; did you mean threads?"
            ),
        ),
        (
            "metric: dd.throughput, at_least: 80 %, of: capacity",
            "capacity",
            (
                "capacity, of which dd.throughput is no share, expected one of iperf3.throughput, which are held "
                "against the fabric, or a bound without of"
            ),
        ),
        (
            "metric: dd.throughput, at_least: 80 %, of: peak",
            "peak",
            (
                "peak, of which dd.throughput is no share, expected a metric in FLOP/s, as the stated peak is, "
                "or a bound without of"
            ),
        ),
        (
            "metric: dd.throughput, at_least: 65 MB/s, target: 40 MB/s",
            "40 MB/s",
            (
                "a target of 40 MB/s, which is worse than at_least 65 MB/s, expected the better of the two as "
                "target: what lies between them is to be watched"
            ),
        ),
        (
            "metric: ping.rtt, at_most: 1 ms, target: 2 ms",
            "2 ms",
            (
                "a target of 2 ms, which is worse than at_most 1 ms, expected the better of the two as target: "
                "what lies between them is to be watched"
            ),
        ),
        (
            "metric: dd.throughput, at_least: 65 MB/s, round: 7 MB/s",
            "7 MB/s",
            ("a step of 7 MB/s, expected at most a tenth of the bound (6.50 MB/s): a coarser step decides by itself"),
        ),
        (
            "metric: ping.rtt, at_most: 125 %, of: 100 ms, round: 60 ms",
            "60 ms",
            ("a step of 60 ms, expected at most a tenth of the bound (12 %): a coarser step decides by itself"),
        ),
        (
            "metric: hpl.rate, at_least: 80 %, of: peak, round: 10 %",
            "10 %",
            ("a step of 10 %, expected at most a tenth of the bound (8 %): a coarser step decides by itself"),
        ),
        (
            "metric: dd.throughput, at_least: 0 MB/s",
            "0 MB/s",
            "at_least 0 MB/s, expected a bound above 0: nothing can be below it",
        ),
        (
            "metric: iperf3.throughput, at_least: 0 %, of: capacity",
            "0 %",
            "at_least 0 %, expected a bound above 0: nothing can be below it",
        ),
        (
            "metric: ping.loss, at_most: 100 %",
            "100 %",
            "at_most 100 %, expected a share below 100 %: nothing can be above it",
        ),
        (
            "metric: ping.rtt, at_most: 0 ms",
            "0 ms",
            "at_most 0 ms, expected a time above 0: nothing takes less",
        ),
        (
            "metric: iperf3.throughput, at_least: 101 %, of: capacity",
            "101 %",
            "at_least 101 %, expected 100 % of capacity at most: nothing has more",
        ),
        (
            "metric: hpl.rate, at_least: 80 %, of: peak, target: 120 %",
            "120 %",
            "a target of 120 %, expected 100 % of peak at most: nothing has more",
        ),
        (
            "metric: ping.rtt, at_least: 1 ms",
            "at_least",
            ("at_least on ping.rtt, expected at_most: less of it is better"),
        ),
        (
            "metric: ping.loss, at_least: 1 %",
            "at_least",
            ("at_least on ping.loss, expected at_most: less of it is better"),
        ),
        (
            "metric: dd.throughput, at_most: 1 GB/s",
            "at_most",
            ("at_most on dd.throughput, expected at_least: more of it is better"),
        ),
        (
            "metric: dd.throughput, at_least: 65 Gb/s",
            "65 Gb/s",
            ("'65 Gb/s', a rate in bits, expected a rate in bytes, as dd.throughput is told; did you mean 8.12 GB/s?"),
        ),
        (
            'metric: dd.throughput, at_least: 65 MB/s, where: {size: ">= big"}',
            '">= big"',
            ('\'>= big\', expected a quantity after the sign, such as ">= 1 MiB", "> 4" or ">= 50 %"'),
        ),
        (
            "metric: dd.throughput, at_least: 65 MB/s, where: {size: 1 mb}",
            "1 mb",
            (
                '\'1 mb\', expected a quantity after the sign, such as ">= 1 MiB", "> 4" or ">= 50 %"; did you '
                "mean 1 Mb/s?"
            ),
        ),
    ],
)
def test_what_cannot_be_right_is_refused_where_it_stands(criterion: str, mark: str, said: str) -> None:
    text = f"{TEXT}{criterion}}}\n"
    assert problems(text) == [f"x.yaml:6:{find_column(text, mark)}: {said}"]


@pytest.mark.parametrize(
    "criterion",
    [
        "metric: iperf3.throughput, at_least: 80 %, of: capacity, target: 80 %, round: 8 %",
        "metric: iperf3.throughput, at_least: 8 Gb/s, where: {threads: 2, kind: virtual, nodes: 2, clients: '> 4'}",
        "metric: iperf3.throughput, at_least: 80 %, of: capacity, round: 7 Gb/s",
        "metric: dd.throughput, at_least: 65 MB/s, round: 6.5 MB/s, where: {size: '>= 1 MiB', direct: 1}",
        "metric: hpl.rate, at_least: 80 %, of: peak, round: 1 %, where: {anything: 1}",
        "metric: ping.rtt, at_most: 1 ms, target: 0.5 ms",
        "metric: ping.hops, at_least: 2",
        "metric: ping.hops, at_most: 2",
        "metric: plugin.rate, at_least: 8 Gb/s",
    ],
)
def test_what_may_be_right_is_taken(criterion: str) -> None:
    assert len(load_text(f"{TEXT}{criterion}}}\n", "x.yaml", lambda: WORDS).criteria) == 1


@pytest.mark.parametrize(
    ("stage", "mark", "said"),
    [
        (
            "probe: dd, size: 1 mb",
            "1 mb",
            ("dd option size: found '1 mb', expected a size such as 1 GiB"),
        ),
        (
            "probe: dd, direct: 0, size: 1 mb, nodes: n1",
            "1 mb",
            ("dd option size: found '1 mb', expected a size such as 1 GiB"),
        ),
    ],
)
def test_an_option_that_a_run_would_refuse_is_refused(stage: str, mark: str, said: str) -> None:
    text = f'schema: 1\nfabric: x\nnodes: {{"n[1-4]": {{}}}}\nsuites:\n  s: [{{{stage}}}]\n'
    assert problems(text) == [f"x.yaml:5:{find_column(text, mark)}: {said}"]
