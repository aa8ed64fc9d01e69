"""Numbers that none measures, or above a wire, a peak or a storage system: unknown, whatever a criterion asks."""

import math
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Metric, Reading, Target, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Bundle, Result, Round, Test
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.fabrics import METRICS
from tests.probes.judging.rounds import BOTH_WAYS, STAR, Sent, close, flow, into

WEAK = "criteria: [{metric: iperf3.throughput, at_least: 1 Mb/s}]\n"
NO_MORE = "criteria: [{metric: iperf3.throughput, at_most: 1 Mb/s}]\n"


def by_criterion(described: Fabric, closed: ClosedRound, metrics: dict[str, Metric] = METRICS) -> list[Verdict]:
    verdicts = judge_round(JudgingContext(described, metrics), closed)
    return [verdict for verdict in verdicts if verdict.kind is Yardstick.CRITERION]


@pytest.mark.parametrize(
    ("criterion", "rate", "level"),
    [
        (WEAK, 1.05, Level.PASS),
        (WEAK, 1.051, Level.UNKNOWN),
        (WEAK, 8.0, Level.UNKNOWN),
        (NO_MORE, 1.05, Level.FAIL),
        (NO_MORE, 8.0, Level.UNKNOWN),
    ],
)
def test_one_flow_above_its_wire_is_unknown(criterion: str, rate: float, level: Level) -> None:
    described = load_text(STAR + criterion, "star.yaml")
    (verdict,) = by_criterion(described, close(described, 1, flow("n1", "n2", rate)))
    assert verdict.level is level
    said = "over n1 out, which carries 8.00 Gb/s as described: the number or the description is wrong"
    assert (said in verdict.because) is (level is Level.UNKNOWN)


@pytest.mark.parametrize(
    ("criterion", "each", "level"),
    [(WEAK, 0.625, Level.PASS), (WEAK, 0.626, Level.UNKNOWN), (NO_MORE, 0.626, Level.FAIL)],
)
def test_flows_whose_sum_is_above_their_wire_are_no_pass(criterion: str, each: float, level: Level) -> None:
    described = load_text(STAR + criterion, "star.yaml")
    bundle = Bundle("into n3", (into(described, "n3"),))
    sent = [flow(source, "n3", each, "into n3") for source in ("n1", "n2")]
    verdicts = by_criterion(described, close(described, 1, *sent, bundles=(bundle,)))
    assert [verdict.level for verdict in verdicts] == [level, level]
    said = "but with the others of its bundle 10.0 Gb/s over n3 in, which carries 8.00 Gb/s as described"
    assert all((said in verdict.because) is (level is Level.UNKNOWN) for verdict in verdicts)


PEAKS = """\
schema: 1
fabric: toy
classes: {a: {peak: 1 TFLOP/s, peak_basis: AVX base}, none: {}}
nodes: {"n[1-4]": {class: a}, old: {class: none}}
criteria: [{metric: hpl.rate, at_least: 1 GFLOP/s}]
"""


@pytest.mark.parametrize(
    ("nodes", "rate", "level"),
    [
        ("n1", 1.05e12, Level.PASS),
        ("n1", 1.051e12, Level.UNKNOWN),
        ("n1 n2 n3 n4", 4.2e12, Level.PASS),
        ("n1 n2 n3 n4", 4.21e12, Level.UNKNOWN),
        ("old", 9e12, Level.PASS),  # nothing is stated
        ("n1 old", 9e12, Level.PASS),
    ],
)
def test_a_set_is_no_faster_than_the_sum_of_its_peaks(nodes: str, rate: float, level: Level) -> None:
    described = load_text(PEAKS, "toy.yaml")
    metrics = {"hpl.rate": Metric("hpl.rate", Unit.FLOP_RATE, "solving")}
    closed = one(described, nodes, Reading("hpl.rate", rate, Unit.FLOP_RATE, id="m"))
    (verdict,) = by_criterion(described, closed, metrics)
    assert verdict.level is level
    assert ("(AVX base): the number or the stated peak is wrong" in verdict.because) is (level is Level.UNKNOWN)


STORE = """\
schema: 1
fabric: store
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}}
nodes: {"c[1-4]": {}, other: {}, "s[1-2]": {role: storage}}
links: [{from: "c[1-4],other,s[1-2]", to: leaf, speed: 8 Gb/s, network: flat}]
storage:
  big:
    servers: "s[1-2]"
    clients: {all: {nodes: "c[1-4]"}}
    layers: [{name: disks, units: 10, write: 50 MB/s}]
criteria: [{metric: ior.throughput, at_least: 1 MB/s}]
"""


@pytest.mark.parametrize(
    ("nodes", "operation", "system", "rate", "said"),
    [
        ("c1", "read", "big", 1.05e9, ""),
        ("c1", "read", "big", 1.06e9, "the ports of its node can carry 1.00 GB/s"),
        ("c1", "read", "", 9e9, ""),  # a disk of its own, as far as anybody knows
        ("c1 c2 c3 c4", "read", "big", 2.1e9, ""),
        ("c1 c2 c3 c4", "read", "big", 2.11e9, "big (server ports) can carry 2.00 GB/s"),
        ("c1 c2 c3 c4", "write", "big", 0.525e9, ""),
        ("c1 c2 c3 c4", "write", "big", 0.53e9, "big (disks) can carry 500 MB/s"),
        ("other", "write", "big", 0.9e9, ""),  # no client of it that is described
        ("other", "write", "big", 1.06e9, "the ports of its node can carry 1.00 GB/s"),
        ("s1", "write", "big", 9e9, ""),  # has a part of the data itself
    ],
)
def test_storage_is_no_faster_than_ports_and_layers(
    nodes: str, operation: str, system: str, rate: float, said: str
) -> None:
    described = load_text(STORE, "store.yaml")
    metrics = {"ior.throughput": Metric("ior.throughput", Unit.BYTE_RATE, "moved")}
    reading = Reading("ior.throughput", rate, Unit.BYTE_RATE, labels(operation=operation), id="m")
    (verdict,) = by_criterion(described, one(described, nodes, reading, shared=system), metrics)
    assert verdict.level is (Level.UNKNOWN if said else Level.PASS)
    assert said in verdict.because


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e30, -1.0])
@pytest.mark.parametrize("bound", ["at_least", "at_most"])
@pytest.mark.parametrize("rounding", ["", ", round: 1 kB/s"])
def test_a_value_that_no_measurement_gives_is_unknown(value: float, bound: str, rounding: str) -> None:
    asked = f"criteria: [{{metric: ior.throughput, {bound}: 1 MB/s{rounding}}}]\n"
    described = load_text(STORE.partition("criteria:")[0] + asked, "store.yaml")
    metrics = {"ior.throughput": Metric("ior.throughput", Unit.BYTE_RATE, "moved")}
    reading = Reading("ior.throughput", value, Unit.BYTE_RATE, id="m")
    (verdict,) = by_criterion(described, one(described, "c1", reading, shared="big"), metrics)
    assert verdict.level is Level.UNKNOWN
    assert "no number that can be measured" in verdict.because or "the number is wrong" in verdict.because
    assert verdict.value == (value if math.isfinite(value) else None)


@pytest.mark.parametrize("wrong", [0, 1])
def test_of_a_flow_with_such_a_value_nothing_passes(wrong: int) -> None:
    """Neither what another direction gave nor what follows it tells what this one reached."""
    described = load_text(STAR + WEAK, "star.yaml")
    rates = [("out", 1e9), ("out", 1e9), ("in", 1e9)]
    rates[wrong] = ("out", math.inf)
    closed = close(described, 1, Sent("n1", "n2", rates, sending=BOTH_WAYS))
    verdicts = by_criterion(described, closed)
    assert [each.level for each in verdicts] == [Level.UNKNOWN, Level.UNKNOWN, Level.PASS]


def test_a_value_that_no_measurement_gives_is_that_of_a_test_without_a_flow_too() -> None:
    described = load_text(STAR + WEAK, "star.yaml")
    reading = Reading("iperf3.throughput", math.inf, Unit.BYTE_RATE, id="m")
    (verdict,) = by_criterion(described, one(described, "n1", reading))
    assert verdict.level is Level.UNKNOWN


def one(described: Fabric, nodes: str, reading: Reading, **options: str) -> ClosedRound:
    """A round of one test on these nodes, with one number."""
    members = tuple(described.nodes[NodeId(name)] for name in nodes.split())
    probe = reading.metric.partition(".")[0]
    target = Target(members[0], None, MappingProxyType(options), members if len(members) > 1 else ())
    test = Test("t", probe, target, 1)
    each = Round(1, probe, probe, (test,), 1.0, "")
    return ClosedRound(each, (Result(test, measurements=(reading,)),), CloseReason.COMPLETE, 0.0, 1.0)
