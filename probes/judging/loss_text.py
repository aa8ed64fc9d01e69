"""The findings on lost packets in words: what was lost where, what beside it, and what it does to TCP."""

import math
from collections.abc import Sequence
from statistics import median

from benchconsole.probes.judging.components import ComponentKind, Components
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import TIES, Place, describe_low
from benchconsole.probes.judging.flow_conditions import FlowConditions
from benchconsole.probes.judging.loss_samples import PACKET, LossSample
from benchconsole.probes.judging.packet_loss import LossCause
from benchconsole.probes.judging.reasons import HEAVY_LOSS
from benchconsole.probes.judging.set_cover import LowVerdict
from benchconsole.probes.model.judgement import Confidence, Finding, Level
from benchconsole.topology.analysis.wan import MATHIS
from benchconsole.topology.units import counted, digits3, duration, network_rate


def make_loss_finding(
    context: JudgingContext, components: Components, cause: LossCause, low: Sequence[LowVerdict]
) -> Finding:
    """One finding for components of which one loses packets; ``low`` are the throughputs that this explains.

    A share of HEAVY_LOSS slows TCP whatever the distance and fails; a smaller one is to be watched, unless a throughput
    that it explains fails.
    """
    places = [Place(context, each) for each in cause.components]
    named = components.join(cause.components)
    place = places[0] if named is None else Place(context, named)
    is_tie = len(places) > 1
    several = len(cause.lossy) > 1
    share = max(each.share for each in cause.lossy)
    levels = [Level.FAIL if share >= HEAVY_LOSS else Level.WATCH, *(verdict.level for verdict, _ in low)]
    links = dict.fromkeys(link.id for link in place.links)
    flows = [*(each.flow for each in cause.lossy), *(each for _, own in low for each in own)]
    return Finding(
        suspect=place.suspect,
        element=place.element,
        where=place.where if named is not None else " or ".join(each.where for each in places[:2]) + _say_more(places),
        what=f"loses packets, {_say_ways(cause)}{_say_share(cause)}",
        level=max(levels, key=lambda level: level.severity),
        confidence=Confidence.POSSIBLE if is_tie else Confidence.CERTAIN if several else Confidence.LIKELY,
        nodes=place.find_nodes_behind(),
        tests=tuple(dict.fromkeys(each.result.test.id for each in flows)),
        evidence=tuple(dict.fromkeys(each.measurement.id for each in flows)),
        because=(*map(_describe_sample, cause.lossy), *(describe_low(verdict) for verdict, _ in low)),
        rules_out=(_say_beside(cause),),
        cannot_tell=_say_ties(places) if is_tie else _say_unknown(place, cause),
        means=_say_meaning(cause),
        do=f"look at {place.say_look()}, then repeat these tests",
        probe=cause.lossy[0].flow.result.test.probe,
        nodes_at=place.nodes_at if not is_tie or named is not None else (),
        links=tuple(links) if named is not None and named.kind is not ComponentKind.SWITCH else (),
    )


def _say_more(places: Sequence[Place]) -> str:
    return " or others" if len(places) > 2 else ""


def _say_ways(cause: LossCause) -> str:
    component = cause.components[0]
    if not component.is_one_way:
        return "both ways"
    return "this way only"


def _say_share(cause: LossCause) -> str:
    verb = "did not arrive" if cause.lossy[0].protocol == "udp" else "of the segments sent again"
    flows = counted(len(cause.lossy), "flow")
    return f": {_percent(cause.share)} {verb} in {flows}, {_percent(cause.usual)} in {len(cause.beside)} beside"


def _percent(share: float) -> str:
    return f"{digits3(share * 100)} %"


def _describe_sample(each: LossSample) -> str:
    lost, sent = each.packets
    verb = "lost" if each.protocol == "udp" else "sent again"
    pair = f"{each.flow.flow.source}>{each.flow.flow.sink}"
    arithmetic = f"{lost:,.0f} of {sent:,.0f} packets {verb}"
    return f"round {each.round}, {pair}: {arithmetic}, {_percent(each.share)}, {network_rate(each.flow.value)} arrived"


def _say_beside(cause: LossCause) -> str:
    most = max(each.share for each in cause.beside)
    flows = counted(len(cause.beside), "flow")
    return f"chance and load: {flows} of the same kind beside them lost {_percent(most)} at most"


def _say_unknown(place: Place, cause: LossCause) -> str:
    links = " or ".join(f"from {link.a} to {link.b}" for link in place.links)
    where = f"which part of the way {links} loses them, a port or the cable: needs their error counters"
    if all(each.protocol == "udp" for each in cause.lossy) and place.is_node:
        return f"{where}; or whether the receiving program was late to read"
    return where


def _say_ties(places: Sequence[Place]) -> str:
    names = [each.where for each in places]
    listed = "; ".join(names[:TIES]) + (f" and {len(names) - TIES} more" if len(names) > TIES else "")
    return f"which of {listed}: no test crossed one of them without the others"


FAR_TRIP = 0.05
"""Seconds of a round trip across a continent: there a loss costs much that is hardly felt nearby."""


def _say_meaning(cause: LossCause) -> str:
    """The share that is lost, or the rate that one stream would reach far away under this loss, by Mathis."""
    share = cause.share
    if all(each.protocol == "udp" for each in cause.lossy):
        return f"1 of {1 / share:,.0f} datagrams over it is lost"
    segment = median(FlowConditions(each.flow).find("mss") or PACKET for each in cause.lossy)
    rate = network_rate(MATHIS * segment / FAR_TRIP / math.sqrt(share))
    arithmetic = f"{segment:,.0f} B / round trip x {MATHIS} / sqrt(share), Mathis"
    return f"TCP waits for what is sent again: at {duration(FAR_TRIP)} one stream gets about {rate} ({arithmetic})"
