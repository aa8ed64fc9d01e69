"""Reasons of low throughput: at each bound, one step below it, one above it, and the sentence with its arithmetic."""

import json
from types import MappingProxyType
from typing import Any

import pytest

from benchconsole.probes.api import Fact, Output, Reading, Sending, Target, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.reasons import Cause, Reason, explain_rate
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict
from benchconsole.probes.model.measuring import Bundle, Result, Round, Test
from benchconsole.probes.plugins.probe_output import read_output
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, Hardware, NodeId
from tests.probes.tools.captures import text

RATE = 1.25e9
"""byte/s of payload that each link of LINE carries: 10 Gb/s without overhead."""

LINE = """\
schema: 1
fabric: line
networks: {flat: {goodput: 100 %, mtu: 9000}}
switches: {east: {role: leaf}, west: {role: leaf}}
nodes: {"n[1-4]": {}, "f[1-4]": {}}
links:
  - {from: "n[1-4]", to: east, speed: 10 Gb/s, network: flat}
  - {from: "f[1-4]", to: west, speed: 10 Gb/s, network: flat}
  - {from: east, to: west, speed: 100 Gb/s, network: flat WAN}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""


def line(wan: str = "") -> Fabric:
    """Four nodes at either end of a line; ``wan`` describes it."""
    return load_text(LINE.replace(" WAN", f", {wan}" if wan else ""), "line.yaml")


FAR = line("rtt: 50.5 ms")


def make_result(
    fabric: Fabric,
    share: float,
    told: dict[str, float],
    *,
    protocol: str = "tcp",
    streams: int = 1,
    place: int = 1,
    rate: float | None = None,
    options: dict[str, str] | None = None,
    bundle: str = "",
    probe: str = "iperf3",
) -> Result:
    """A test from n to f that reached ``share`` of 10 Gb/s and measured ``told`` beside it."""
    ends = (fabric.nodes[NodeId(f"n{place}")], fabric.nodes[NodeId(f"f{place}")])
    marks = labels(direction="out", protocol=protocol, streams=streams)
    readings = [Reading(f"{probe}.throughput", share * RATE, Unit.BYTE_RATE, marks, id=f"t{place}#rate", at=1.0)]
    for name, value in told.items():
        metric, _, end = name.partition("@")
        own = labels(**dict(marks), end=end) if end else marks
        readings.append(Reading(f"{probe}.{metric}", value, Unit.ONE, own, id=f"t{place}#{name}", at=1.0))
    target = Target(*ends, MappingProxyType(dict(options or {})))
    test = Test(f"t{place}", probe, target, 1, bundle, Sending(streams, rate=rate))
    return Result(test, (Output(("iperf3",), seconds=10.0),), tuple(readings))


def close(*results: Result, bundles: tuple[Bundle, ...] = ()) -> ClosedRound:
    tests = tuple(result.test for result in results)
    made = Round(1, "pairs", tests[0].probe, tests, 10.0, "", bundles)
    return ClosedRound(made, results, CloseReason.COMPLETE, 0.0, 10.0)


def explain(fabric: Fabric, *results: Result, asked: float = 0.8) -> Reason | None:
    context = JudgingContext(fabric, {metric.name: metric for metric in Iperf3.metrics})
    flows = context.flows.read(close(*results), f"{results[0].test.probe}.throughput")
    return explain_rate(context, flows.find_measured([result.measurements[0].id for result in results]), asked)


def find_cause(fabric: Fabric, share: float, told: dict[str, float], **more: Any) -> Cause | None:
    reason = explain(fabric, make_result(fabric, share, told, **more))
    return None if reason is None else reason.cause


NEAR = line()
MIB = 2.0**20
TRIP = 0.0505


@pytest.mark.parametrize(
    ("used", "rate", "cause"),
    [
        ({"cpu@sender": 0.95}, None, Cause.PROCESSOR),
        ({"cpu@sender": 0.9499}, None, None),
        ({"cpu@receiver": 0.95}, None, Cause.PROCESSOR),
        ({"cpu@receiver": 0.9499}, None, None),
        ({"cpu@sender": 1.0}, RATE, None),  # it may have waited in a loop
        ({"cpu@receiver": 1.0}, RATE, Cause.PROCESSOR),
        ({"cpu": 1.0}, None, None),  # of which end is not told
    ],
)
def test_a_core_is_full_from_95_percent(used: dict[str, float], rate: float | None, cause: Cause | None) -> None:
    assert find_cause(NEAR, 0.5, used, rate=rate) is cause


def test_the_node_whose_core_was_full_is_named() -> None:
    sender = explain(NEAR, make_result(NEAR, 0.5, {"cpu@sender": 0.98, "cpu@receiver": 0.97}))
    receiver = explain(NEAR, make_result(NEAR, 0.5, {"cpu@sender": 0.5, "cpu@receiver": 0.97}))
    assert sender == Reason(Cause.PROCESSOR, "one core of n1 was full: the sender used 98 % of one", "n1")
    assert receiver == Reason(Cause.PROCESSOR, "one core of f1 was full: the receiver used 97 % of one", "f1")


def add_load(result: Result, node: str, busy: float, softirq: float, samples: int = 9) -> Result:
    """``result`` with the load that was sampled of ``node`` meanwhile."""
    median = labels(node=node, of="median", core="3")
    load = (
        Fact("load.samples", float(samples), Unit.ONE, labels(node=node)),
        Fact("load.core.busy", busy, Unit.ONE, median),
        Fact("load.core.busy", 1.0, Unit.ONE, labels(node=node, of="max", core="3")),
        Fact("load.core.softirq", softirq, Unit.ONE, median),
        Fact("load.softirq.net_rx", 41234.4, Unit.PER_SECOND, labels(node=node, of="median")),
    )
    return replace(result, facts=(*result.facts, *load))


@pytest.mark.parametrize(
    ("node", "busy", "softirq", "samples", "cause"),
    [
        ("f1", 0.98, 0.97, 9, Cause.PROCESSOR),
        ("n1", 0.98, 0.97, 9, Cause.PROCESSOR),
        ("f1", 0.95, 0.5, 3, Cause.PROCESSOR),
        ("f1", 0.9499, 0.94, 9, None),
        ("f1", 1.0, 0.4999, 9, None),  # a program filled it, and may be anybody's
        ("f1", 0.98, 0.97, 2, None),
        ("f2", 0.98, 0.97, 9, None),  # no end of this flow
    ],
)
def test_a_core_that_packets_filled_is_a_reason(
    node: str, busy: float, softirq: float, samples: int, cause: Cause | None
) -> None:
    reason = explain(NEAR, add_load(make_result(NEAR, 0.5, {}), node, busy, softirq, samples))
    assert (reason.cause if reason else None) is cause
    assert reason is None or reason.node == node


def test_a_sampled_core_is_told_with_its_softirq_and_comes_after_what_the_tool_says() -> None:
    sampled = explain(NEAR, add_load(make_result(NEAR, 0.5, {"cpu@receiver": 0.4}), "f1", 0.98, 0.97))
    text = "core 3 was 98 % busy, 97 % with softirq (NET_RX 41,234/s, NET_TX 0/s; median of 9 samples)"
    assert sampled == Reason(Cause.PROCESSOR, f"one core of f1 was full: {text}", "f1")
    told = explain(NEAR, add_load(make_result(NEAR, 0.5, {"cpu@receiver": 0.96}), "f1", 0.98, 0.97))
    assert told == Reason(Cause.PROCESSOR, "one core of f1 was full: the receiver used 96 % of one", "f1")


WINDOW = 0.5 * RATE * TRIP
"""Bytes that allow half of 10 Gb/s at that distance."""


@pytest.mark.parametrize(
    ("share", "told", "cause"),
    [
        (0.35, {}, Cause.WINDOW),
        (0.349, {}, None),  # the window was not used
        (0.65, {}, Cause.WINDOW),
        (0.651, {}, None),  # it was larger at times
        (0.5, {"cwnd": 0.7 * WINDOW}, Cause.WINDOW),
        (0.5, {"cwnd": 0.699 * WINDOW}, None),  # the sender never filled it
        (0.6, {"window": 0.7999 * RATE * TRIP}, Cause.WINDOW),
        (0.6, {"window": 0.8001 * RATE * TRIP}, None),  # it allows what is asked
        (0.5, {"rtt": 0.0}, Cause.WINDOW),  # then as described
    ],
)
def test_a_window_is_the_reason_where_it_was_used_and_allows_less_than_is_asked(
    share: float, told: dict[str, float], cause: Cause | None
) -> None:
    assert find_cause(FAR, share, {"window": WINDOW, "rtt": TRIP} | told) is cause


def test_a_window_is_told_with_what_it_allows() -> None:
    share = 4 * MIB / TRIP / RATE
    measured = explain(FAR, make_result(FAR, share, {"window": 4 * MIB, "rtt": TRIP}))
    assert measured == Reason(Cause.WINDOW, "the window of 4.00 MiB allows 664 Mb/s at 50.5 ms", "f1")
    four = explain(FAR, make_result(FAR, 4 * share, {"window": 16 * MIB}, streams=4))
    text = "the windows of 4 streams, 16.0 MiB together, allow 2.66 Gb/s at 50.5 ms as described"
    assert four == Reason(Cause.WINDOW, text, "f1")


def test_a_window_that_no_tool_told_is_the_one_that_was_asked_for_or_declared() -> None:
    share = 4 * MIB / TRIP / RATE
    asked = explain(FAR, make_result(FAR, share, {}, options={"window": "4 MiB"}))
    assert asked == Reason(Cause.WINDOW, "the window of 4.00 MiB as asked for allows 664 Mb/s at 50.5 ms as described")
    untold = make_result(FAR, share, {}, options={"window": ""})
    assert explain(FAR, untold) is None
    hardware = Hardware("b", MappingProxyType({"sysctl.net.ipv4.tcp_rmem": "4096 131072 8388608"}))
    node = replace(untold.test.target.node, hardware=hardware)
    declared = explain(FAR, replace(untold, test=replace(untold.test, target=replace(untold.test.target, node=node))))
    assert declared is not None
    assert "the window of 4.00 MiB as declared allows 664 Mb/s" in declared.text


@pytest.mark.parametrize("told", [{"window": WINDOW}, {"window": 0.0, "rtt": TRIP}, {"rtt": TRIP}])
def test_without_a_window_or_a_round_trip_there_is_no_window_to_blame(told: dict[str, float]) -> None:
    assert find_cause(NEAR, 0.5, told) is None


SEGMENT = 8948.0
SURVIVED = (1.22 * SEGMENT / (TRIP * 0.8 * RATE)) ** 2
"""The loss at which one flow still reaches 80 % of 10 Gb/s, by Mathis."""


@pytest.mark.parametrize(
    ("share", "resent", "streams", "trip", "cause"),
    [
        (0.5, SURVIVED * 1.0001, 1, TRIP, Cause.LOSS),
        (0.5, SURVIVED * 0.9999, 1, TRIP, None),
        (0.5, SURVIVED * 15.99, 4, TRIP, None),  # four flows survive sixteen times the loss
        (0.5, SURVIVED * 16.01, 4, TRIP, Cause.LOSS),
        (0.5, SURVIVED * 256.0, 1, TRIP, Cause.LOSS),  # ten times what Mathis allows it
        (0.5001, SURVIVED * 256.0, 1, TRIP, None),  # it does not obey loss
        (0.5, 0.0099, 4, 0.0001, None),  # near, and light
        (0.5, 0.01, 4, 0.0001, Cause.LOSS),
        (0.5, 0.01, 4, 0.0, Cause.LOSS),
        (0.5, 0.0099, 4, 0.0, None),
        (0.5, 0.0, 1, TRIP, None),
    ],
)
def test_loss_is_a_reason_where_tcp_cannot_reach_with_it_what_is_asked(
    share: float, resent: float, streams: int, trip: float, cause: Cause | None
) -> None:
    told = {"resent": resent, "retransmits": 1e6 * resent, "mss": SEGMENT, "rtt": trip}
    assert find_cause(NEAR, share, told, streams=streams) is cause


def test_a_tool_that_only_counts_segments_has_its_share_computed_from_what_arrived() -> None:
    segments = 0.1 * RATE * 10.0 / SEGMENT
    reason = explain(FAR, make_result(FAR, 0.1, {"retransmits": segments, "rtt": TRIP}))
    assert reason is not None
    assert f"{segments:,.0f} segments sent again, 50.0 % at 50.5 ms" in reason.text


@pytest.mark.parametrize(("segment", "cause"), [(8899.0, Cause.SEGMENT), (8900.0, None), (8948.0, None)])
def test_segments_are_too_small_where_no_headers_explain_it(segment: float, cause: Cause | None) -> None:
    assert find_cause(NEAR, 0.5, {"mss": segment}) is cause


def test_small_segments_are_told_beside_the_described_mtu() -> None:
    reason = explain(NEAR, make_result(NEAR, 0.5, {"mss": 1448.0}))
    assert reason == Reason(Cause.SEGMENT, "segments of 1,448 B, although the MTU is described as 9,000 B")


@pytest.mark.parametrize(
    ("share", "loss", "cause"),
    [
        (0.5, 0.375, Cause.LOSS),  # 80 % were sent
        (0.5, 0.3749, Cause.SENDER),
        (0.5, 0.0, Cause.SENDER),
        (0.8, 0.1, None),  # what was asked for arrived
        (0.5, 1.0, None),
    ],
)
def test_datagrams_were_lost_or_never_sent(share: float, loss: float, cause: Cause | None) -> None:
    assert find_cause(NEAR, share, {"loss": loss}, protocol="udp") is cause


@pytest.mark.parametrize(("late", "is_told"), [(0.001, True), (0.00099, False), (0.0, False)])
def test_datagrams_out_of_order_are_told_from_one_in_a_thousand(late: float, is_told: bool) -> None:
    told = {"loss": 0.4, "reordered": late, "jitter": 0.0021}
    reason = explain(NEAR, make_result(NEAR, 0.5, told, protocol="udp"))
    assert reason is not None
    assert reason.text.startswith("40.0 % of the datagrams did not arrive of 8.33 Gb/s sent, ")
    assert reason.text.endswith("jitter 2.10 ms")
    assert ("came out of order" in reason.text) is is_told


def test_the_strongest_reason_comes_first() -> None:
    everything = {
        "cpu@sender": 1.0, "window": WINDOW, "rtt": TRIP, "resent": 0.02, "retransmits": 9.0, "mss": 1448.0,
    }  # fmt: skip
    found = []
    for gone in (("cpu@sender",), ("window",), ("resent", "retransmits"), ("mss",)):
        found.append(find_cause(FAR, 0.5 if "window" in everything else 0.001, everything))
        everything = {name: value for name, value in everything.items() if name not in gone}
    assert found == [Cause.PROCESSOR, Cause.WINDOW, Cause.LOSS, Cause.SEGMENT]


@pytest.mark.parametrize(("share", "cause"), [(0.7999, Cause.PROCESSOR), (0.8, None), (1.0, None)])
def test_a_flow_that_reached_what_was_asked_needs_no_reason(share: float, cause: Cause | None) -> None:
    assert find_cause(NEAR, share, {"cpu@sender": 1.0}) is cause


@pytest.mark.parametrize(("full", "explained"), [(4, True), (2, True), (1, False)])
def test_a_bundle_has_the_reason_that_half_of_its_flows_have(full: int, explained: bool) -> None:
    results = [
        make_result(NEAR, 0.5 - 0.01 * place, {"cpu@sender": 1.0 if place <= full else 0.5}, place=place)
        for place in (1, 2, 3, 4)
    ]
    reason = explain(NEAR, *results)
    assert (reason is not None) is explained
    if reason is not None:
        assert reason.text.startswith(f"n{full}>f{full}: one core of n{full} was full")
        assert reason.text.endswith(f"(as {full} of 4 flows)")


def judge(fabric: Fabric, result: Result) -> Verdict:
    context = JudgingContext(fabric, {metric.name: metric for metric in Iperf3.metrics})
    (verdict,) = judge_round(context, close(result))
    return verdict


@pytest.mark.parametrize(
    ("share", "level", "explained"),
    [(0.5, Level.FAIL, True), (0.85, Level.WATCH, True), (0.95, Level.PASS, False)],
)
def test_low_verdicts_carry_the_reason(share: float, level: Level, explained: bool) -> None:
    described = load_text(LINE.replace(" WAN", "").replace("80 %,", "80 %, target: 90 %,"), "line.yaml")
    verdict = judge(described, make_result(described, share, {"cpu@sender": 1.0}))
    assert verdict.level is level
    assert verdict.because.endswith("; one core of n1 was full: the sender used 100 % of one") is explained


def test_iperf3_that_sent_84_000_segments_again_over_a_long_line_is_told_to_have_lost_them() -> None:
    """One flow of 10 Gb/s over 3,500 km, as iperf3 tells it: 100 Mb/s arrived."""
    told = json.loads(text("iperf3/tcp-3.12.json"))
    end, size = told["end"], 100e6 / 8 * 3600
    told["start"]["tcp_mss_default"] = 8948
    (stream,) = end["streams"] = end["streams"][:1]
    stream["sender"] |= {
        "mean_rtt": 50_500,
        "retransmits": 84_000,
        "max_snd_cwnd": 6_000_000,
        "max_snd_wnd": 64_000_000,
    }
    amounts = {"bytes": int(size), "seconds": 3600.0, "bits_per_second": 100e6}
    end["sum_sent"] |= {**amounts, "retransmits": 84_000}
    end["sum_received"] |= amounts
    end["cpu_utilization_percent"] = {"host_total": 12.0, "remote_total": 20.0}
    made = make_result(FAR, 0.1, {})
    readings, _ = read_output(Iperf3(), Output(("iperf3",), json.dumps(told).encode()), made.test.target)
    measured = tuple(replace(reading, id=f"t1#{index}") for index, reading in enumerate(readings))
    verdict = judge(FAR, replace(made, measurements=measured))
    assert verdict.level is Level.FAIL
    assert "; 84,000 segments sent again, 1.64 % at 50.5 ms: loss or reordering on the way" in verdict.because
    assert "8.00 Gb/s need less than 1 in 21,400,000, this share allows 13.5 Mb/s (Mathis)" in verdict.because
