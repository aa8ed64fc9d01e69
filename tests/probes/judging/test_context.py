"""The share of capacity that is asked by default: beside every criterion, and where the file asks none itself."""

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import Level, Yardstick
from benchconsole.probes.model.measuring import Bundle
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.rounds import STAR, close, flow, into

_OF_CAPACITY = "metric: iperf3.throughput, of: capacity"


def described(*criteria: str) -> Fabric:
    lines = "".join(f"  - {{{each}}}\n" for each in criteria)
    return load_text(f"{STAR}criteria:\n{lines}" if criteria else STAR, "star.yaml")


@pytest.mark.parametrize(
    ("criteria", "asked"),
    [
        ((), {"n1>n2": [80], "n3>n4": [80]}),
        (("metric: iperf3.throughput, at_least: 1 Mb/s",), {"n1>n2": [80], "n3>n4": [80]}),
        (("metric: iperf3.throughput, at_most: 99 Gb/s",), {"n1>n2": [80], "n3>n4": [80]}),
        (("metric: iperf3.throughput, at_least: 1 Mb/s, nodes: n8",), {"n1>n2": [80], "n3>n4": [80]}),
        (("metric: iperf3.throughput, at_least: 1 Mb/s, where: {protocol: udp}",), {"n1>n2": [80], "n3>n4": [80]}),
        ((f"{_OF_CAPACITY}, at_least: 60 %",), {"n1>n2": [60], "n3>n4": [60]}),
        ((f"{_OF_CAPACITY}, at_least: 60 %, source: default",), {"n1>n2": [60], "n3>n4": [60]}),
        ((f"{_OF_CAPACITY}, at_least: 60 %, nodes: n1",), {"n1>n2": [60], "n3>n4": [80]}),
        ((f"{_OF_CAPACITY}, at_least: 60 %, where: {{direction: out}}",), {"n1>n2": [60], "n3>n4": [60]}),
        ((f"{_OF_CAPACITY}, at_least: 60 %, where: {{direction: in}}",), {"n1>n2": [80], "n3>n4": [80]}),
        ((f"{_OF_CAPACITY}, at_most: 99 %",), {"n1>n2": [80, 99], "n3>n4": [80, 99]}),
    ],
)  # fmt: skip
def test_each_flow_is_asked_a_share_of_its_capacity(criteria: tuple[str, ...], asked: dict[str, list[int]]) -> None:
    found = described(*criteria)
    closed = close(found, 1, flow("n1", "n2", 0.9), flow("n3", "n4", 0.9))
    shares: dict[str, list[int]] = {}
    for verdict in judge_round(JudgingContext(found, METRICS), closed):
        if verdict.kind is Yardstick.CAPACITY:
            assert verdict.required is not None
            assert verdict.expected is not None
            shares.setdefault(verdict.subject, []).append(round(100 * verdict.required / verdict.expected))
    assert {name: sorted(each) for name, each in shares.items()} == asked


def test_a_weak_criterion_hides_no_loss() -> None:
    found = described("metric: iperf3.throughput, at_least: 1 Mb/s, source: 5.1.1")
    verdicts = judge_round(JudgingContext(found, METRICS), close(found, 1, flow("n1", "n2", 0.5)))
    assert {verdict.source: verdict.level for verdict in verdicts} == {
        "5.1.1": Level.PASS,
        "capacity (fluid)": Level.FAIL,
    }


@pytest.mark.parametrize(("rate", "level"), [(0.649, Level.FAIL), (0.65, Level.PASS)])
def test_a_bundle_of_which_the_file_speaks_in_part_is_asked_of_each_flow_its_share(rate: float, level: Level) -> None:
    """Of one of two equal flows 50 % are asked, of the other the default of 80 %: 65 % of their sum."""
    found = described(f"{_OF_CAPACITY}, at_least: 50 %, nodes: n1")
    bundle = Bundle("into n3", (into(found, "n3"),))
    sent = [flow(source, "n3", rate / 2, "into n3") for source in ("n1", "n2")]
    verdicts = judge_round(JudgingContext(found, METRICS), close(found, 1, *sent, bundles=(bundle,)))
    (whole,) = (verdict for verdict in verdicts if len(verdict.evidence) == 2)
    assert whole.level is level
