"""Reasons of a low throughput, from what the same test measured beside it: processors, windows, loss, segments.

Pure. Every bound between a number and a reason stands here. A reason is a sentence with its arithmetic; where the
numbers speak of none there is no sentence. A rate under loss is that of Mathis (``topology.analysis.wan``).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.flow_conditions import FlowConditions, find_mtu, list_links
from benchconsole.probes.judging.network_fallback import find_fallback
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.probes.model.load import find_number, group_load
from benchconsole.topology.analysis.wan import MATHIS, find_window
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Link
from benchconsole.topology.units import Unit, UnitError, digits3, duration, memory_size, network_rate, parse

CORE_FULL = 0.95
"""Share of one processor from which a thread that sends or receives had no time left."""

PACKETS_FILL = 0.5
"""Share of a full core that softirq must take for packets to have filled it: more than all programs on it."""

LEAST_SAMPLES = 3
"""Samples of a test from which a median speaks of it, and not of its beginning or end."""

WINDOW_NEAR = (0.7, 1.3)
"""Measured rate over the rate that a window allows: below, the window was not used; above, it was larger at times.
A window that the kernel tunes is about twice what is in flight, so that a full link stays below."""

FOLLOWS_MATHIS = 10.0
"""Times the rate of Mathis up to which a flow is held to obey loss: CUBIC gets some times more, BBR any number."""

HEAVY_LOSS = 0.01
"""Share of segments sent again from which loss slows TCP whatever the distance: it waits for timers then (Padhye,
Firoiu, Towsley, Kurose, Modeling TCP Throughput, 1998)."""

MOST_HEADERS = 100
"""Bytes that IPv6 (40), TCP (20) and its options (40) take of a packet at most."""

REORDERED = 0.001
"""Share of datagrams out of order from which it is told beside their loss."""

COMMON = 0.5
"""Share of the flows of a bundle that must have a reason in common for it to be that of their sum."""


class Cause(StrEnum):
    """Limits that hold a flow back, the strongest first."""

    PROCESSOR = "processor"
    NETWORK = "network"
    WINDOW = "window"
    LOSS = "loss"
    SENDER = "sender"
    SEGMENT = "segment"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a flow was slow, as a sentence without its full stop; ``node`` is the one whose limit it is, where known."""

    cause: Cause
    text: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class _Told(FlowConditions):
    """The conditions of a flow; ``asked`` is the byte/s that were asked of it."""

    asked: float


def explain_rate(context: JudgingContext, flows: Sequence[MeasuredFlow], asked: float) -> Reason | None:
    """The strongest reason for a sum of ``flows`` below ``asked``, a share of what they were expected to reach.

    Of several flows a reason must be that of at least COMMON of them; the flow that lacks most gives the numbers.
    None where they reached it, or where nothing that was measured beside them speaks of a reason.
    """
    if sum(each.value for each in flows) >= asked * sum(each.expected.value for each in flows):
        return None
    found = [(reason, each) for each in flows if (reason := explain_flow(context, each, asked)) is not None]
    alike = group_by_key((reason.cause, (reason, each)) for reason, each in found)
    for cause in Cause:
        own = alike.get(cause, ())
        if own and len(own) >= COMMON * len(flows):
            reason, worst = max(own, key=lambda pair: pair[1].missing)
            if len(flows) == 1:
                return reason
            name = f"{worst.flow.source}>{worst.flow.sink}"
            return Reason(cause, f"{name}: {reason.text} (as {len(own)} of {len(flows)} flows)")
    return None


def explain_flow(context: JudgingContext, each: MeasuredFlow, asked: float) -> Reason | None:
    """The strongest reason for one flow; None too where it reached what was asked of it."""
    told = _Told(each, asked * each.expected.value)
    if each.value >= told.asked:
        return None
    return next(_list_reasons(context, told, list_links(context, each)), None)


def _list_reasons(context: JudgingContext, told: _Told, links: Sequence[Link]) -> Iterator[Reason]:
    yield from _explain_processors(told)
    yield from _explain_network(context, told)
    if told.protocol == "udp":
        yield from _explain_datagrams(told)
    elif told.protocol == "tcp":
        trip, words = told.find_trip(links)
        mtu = find_mtu(context, links)
        yield from _explain_window(told, trip, words)
        yield from _explain_loss(told, told.find_segment(mtu), trip, words)
        yield from _explain_segment(told, mtu)


def _explain_processors(told: _Told) -> Iterator[Reason]:
    """A sender that is held to a rate may wait for its next turn in a loop, so that its processor says nothing."""
    ends = {"receiver": told.each.flow.sink}
    if told.each.result.test.sending.rate is None:
        ends = {"sender": told.each.flow.source, **ends}
    for end, node in ends.items():
        used = told.find("cpu", end=end)
        if used is not None and used >= CORE_FULL:
            share = f"the {end} used {used * 100:.0f} % of one"
            yield Reason(Cause.PROCESSOR, f"one core of {node} was full: {share}", node)
            return
    yield from _explain_sampled_cores(told, ends.values())


def _explain_sampled_cores(told: _Told, nodes: Iterable[str]) -> Iterator[Reason]:
    """A core that packets filled while the test ran. One that programs filled may be of anybody: no reason."""
    sampled = group_load(told.each.result.facts)
    for node in nodes:
        facts = sampled.get(node, {})
        busy, taken = find_number(facts, "load.core.busy"), find_number(facts, "load.core.softirq")
        steps = find_number(facts, "load.samples", "")
        if busy is None or taken is None or steps is None or steps < LEAST_SAMPLES:
            continue
        if busy >= CORE_FULL and taken >= PACKETS_FILL:
            core = dict(facts["load.core.busy", "median"].labels).get("core", "")
            received, sent = (find_number(facts, f"load.softirq.net_{way}") or 0.0 for way in ("rx", "tx"))
            words = f"core {core} was {busy * 100:.0f} % busy, {taken * 100:.0f} % with softirq"
            rates = f"NET_RX {received:,.0f}/s, NET_TX {sent:,.0f}/s"
            text = f"one core of {node} was full: {words} ({rates}; median of {steps:.0f} samples)"
            yield Reason(Cause.PROCESSOR, text, node)
            return


def _explain_network(context: JudgingContext, told: _Told) -> Iterator[Reason]:
    """The flow reached the rate that another network of both nodes carries, and no more: it may have gone over that."""
    found = find_fallback(context, told.each)
    if found is not None:
        text = f"the {found.words} carries that ({network_rate(found.wire)}), so this may have gone over it"
        yield Reason(Cause.NETWORK, text)


def _explain_window(told: _Told, trip: float, words: str) -> Iterator[Reason]:
    """The bytes that may be in flight at once bound the rate: one window for each round trip."""
    size, source = _find_window(told)
    if not size or not trip:
        return
    allowed, (low, high) = size / trip, WINDOW_NEAR
    congestion = told.find("cwnd")
    is_used = congestion is None or congestion >= low * size
    if is_used and allowed < told.asked and low <= told.each.value / allowed <= high:
        name, verb = f"the window of {memory_size(size)}{source}", "allows"
        if told.streams > 1:
            name, verb = f"the windows of {told.streams} streams{source}, {memory_size(size)} together,", "allow"
        sink = "" if source else told.each.flow.sink  # a measured window is the one that the receiver offered
        yield Reason(Cause.WINDOW, f"{name} {verb} {network_rate(allowed)} at {words}", sink)


def _find_window(told: _Told) -> tuple[float, str]:
    """Bytes that all streams may have in flight, as measured, asked for or declared of the ends, and which; or 0."""
    measured = told.find("window")
    if measured:
        return measured, ""
    written = str(told.each.result.test.target.options.get("window", ""))
    try:
        return parse(written, Unit.BYTE) * told.streams, " as asked for"
    except UnitError:
        pass
    sizes = [find_window(node.hardware.facts)[0] for node in told.each.result.test.target.nodes]
    known = [size for size in sizes if size]
    return (min(known) * told.streams, " as declared") if known else (0.0, "")


def _explain_loss(told: _Told, segment: float, trip: float, words: str) -> Iterator[Reason]:
    """Segments sent again: more than the rate that was asked survives, or so many that nothing does."""
    share, count = told.find_resent(segment), told.find("retransmits")
    if not share:
        return
    sent = f"{count:,.0f} segments sent again" if count else "segments sent again"
    seen = f"{sent}, {digits3(share * 100)} %" + (f" at {words}" if words else "")
    text, is_cause = f"{seen}: loss or reordering on the way, or a queue that overflows", share >= HEAVY_LOSS
    if trip:
        most = told.streams * MATHIS * segment / trip
        allowed = most / math.sqrt(share)
        if allowed < told.asked:
            needs = f"{network_rate(told.asked)} need less than 1 in {digits3((told.asked / most) ** 2)}"
            text = f"{text}; {needs}, this share allows {network_rate(allowed)} (Mathis)"
            is_cause = is_cause or told.each.value <= FOLLOWS_MATHIS * allowed
    if is_cause:
        yield Reason(Cause.LOSS, text)


def _explain_segment(told: _Told, mtu: int) -> Iterator[Reason]:
    segment = told.find("mss")
    if segment is not None and segment + MOST_HEADERS < mtu:
        text = f"segments of {segment:,.0f} B, although the MTU is described as {mtu:,} B"
        yield Reason(Cause.SEGMENT, text)


def _explain_datagrams(told: _Told) -> Iterator[Reason]:
    """Datagrams that were sent and lost, or that the sender never sent."""
    loss = told.find("loss")
    if loss is None or loss >= 1:
        return
    sent = told.each.value / (1 - loss)
    if sent < told.asked:
        yield Reason(Cause.SENDER, f"the sender sent {network_rate(sent)} only")
        return
    late, jitter = told.find("reordered"), told.find("jitter")
    words = [f"{digits3(loss * 100)} % of the datagrams did not arrive of {network_rate(sent)} sent"]
    words += [f"{digits3(late * 100)} % came out of order"] if late is not None and late >= REORDERED else []
    words += [f"jitter {duration(jitter)}"] if jitter else []
    yield Reason(Cause.LOSS, ", ".join(words))
