"""Low throughputs that the ends of the flows explain: they accuse no link.

A full core explains a rate by itself. A window does where the described distance is what makes it too small: where a
queue makes the round trip long, a window over that round trip is the rate of whatever fills the queue.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import describe_low, make_unexplained_finding
from benchconsole.probes.judging.flow_conditions import FlowConditions, list_links
from benchconsole.probes.judging.reasons import Cause, Reason, explain_flow
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.probes.judging.set_cover import PART, LowVerdict
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect, Verdict
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import memory_size

SWOLLEN = 1.5
"""Times the described round trip up to which the measured one is held to be that of the distance, not of a queue."""


@dataclass(frozen=True, slots=True, eq=False)
class HostLimit:
    """Low throughputs with the same reason at their ends: of ``node``, or of several where that is empty.

    ``reasons`` are those of the flow of each that lacks most.
    """

    cause: Cause
    node: str
    seen: tuple[LowVerdict, ...]
    reasons: tuple[Reason, ...]


def part_by_hosts(context: JudgingContext, low: Sequence[LowVerdict]) -> tuple[list[LowVerdict], list[HostLimit]]:
    """Observations that no end explains, and the limits that explain the others: one for each node and reason."""
    rest = list[LowVerdict]()
    found: list[tuple[tuple[Cause, str, str], tuple[LowVerdict, Reason]]] = []
    for seen in low:
        reason = _explain(context, seen)
        if reason is None:
            rest.append(seen)
        else:
            found.append(((reason.cause, reason.node, "" if reason.node else seen[0].subject), (seen, reason)))
    limits = [
        HostLimit(cause, node, tuple(seen for seen, _ in own), tuple(reason for _, reason in own))
        for (cause, node, _), own in group_by_key(found).items()
    ]
    return rest, limits


def find_asked(verdict: Verdict) -> float:
    """The share of what was expected that a low verdict lacks: what is watched met the bound and not the target."""
    if verdict.level is Level.FAIL and verdict.required and verdict.expected:
        return verdict.required / verdict.expected
    return 1.0


def _explain(context: JudgingContext, low: LowVerdict) -> Reason | None:
    """The reason at the ends of most of what is missing; of several nodes it names none."""
    verdict, flows = low
    reasons = list(_list_host_reasons(context, flows, find_asked(verdict)))
    missing = sum(each.missing for each in flows)
    for cause in (Cause.PROCESSOR, Cause.WINDOW):
        own = [(each, reason) for each, reason in reasons if reason.cause is cause]
        if own and sum(each.missing for each, _ in own) >= PART * missing:
            _, worst = max(own, key=lambda pair: pair[0].missing)
            return worst if len({reason.node for _, reason in own}) == 1 else replace(worst, node="")
    return None


def _list_host_reasons(
    context: JudgingContext, flows: Sequence[MeasuredFlow], asked: float
) -> Iterator[tuple[MeasuredFlow, Reason]]:
    for each in flows:
        reason = explain_flow(context, each, asked)
        if reason is not None and (reason.cause is Cause.PROCESSOR or _is_far(context, each)):
            yield each, reason


def _is_far(context: JudgingContext, each: MeasuredFlow) -> bool:
    """Whether the round trip is that of the described lines."""
    found = FlowConditions(each)
    described = found.find_described_trip(list_links(context, each))
    return (found.find("rtt") or described) <= SWOLLEN * described


def make_host_finding(context: JudgingContext, limit: HostLimit) -> Finding:
    """One finding for a limit at the ends of flows."""
    verdict, flows = limit.seen[0]
    several = len(limit.seen) > 1
    is_full = limit.cause is Cause.PROCESSOR
    part = "processor" if is_full else "window"
    first = describe_low(verdict).split(": ", 1)[1]
    more = f" and {len(limit.seen) - 1} more" if several else ""
    return replace(
        make_unexplained_finding(limit.seen),
        suspect=Suspect.NODE if limit.node else Suspect.FABRIC,
        element=limit.node or verdict.subject,
        where=f"{limit.node} {part}" if limit.node else verdict.subject,
        what=f"{limit.reasons[0].text}; {verdict.subject}{more}: {first}",
        nodes_at=(limit.node,) if limit.node else (),
        confidence=Confidence.CERTAIN if several else Confidence.LIKELY,
        because=tuple(
            f"{describe_low(low)}; {reason.text}" for (low, _), reason in zip(limit.seen, limit.reasons, strict=True)
        ),
        rules_out=("the links on the way: the ends explain the rate",),
        cannot_tell="whether the links carry what is described: no flow asked it of them",
        means=_say_meaning(limit),
        do=_say_what_to_do(context, limit, flows),
    )


def _say_meaning(limit: HostLimit) -> str:
    if limit.cause is Cause.PROCESSOR:
        return "one process moves no more, however fast the links are"
    return "no more than one window is sent for each round trip, however fast the links are"


def _say_what_to_do(context: JudgingContext, limit: HostLimit, flows: Sequence[MeasuredFlow]) -> str:
    if limit.cause is Cause.PROCESSOR:
        return "look at frequency, interrupts and offloads, or send with several processes; then repeat these tests"
    each = max(flows, key=lambda one: one.missing)
    trip, _ = FlowConditions(each).find_trip(list_links(context, each))
    size = memory_size(find_asked(limit.seen[0][0]) * each.expected.value * trip)
    return (
        f"allow windows of {size} together (net.ipv4.tcp_rmem, tcp_wmem), or send more streams; then repeat these tests"
    )
