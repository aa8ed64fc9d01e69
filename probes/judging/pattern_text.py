"""The findings on patterns in the matrix of pairs, in words; which pattern it is, ``pattern_causes`` decides."""

from collections.abc import Sequence

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import make_unexplained_finding
from benchconsole.probes.judging.pattern_causes import PatternCause
from benchconsole.probes.judging.patterns import VLAN, Pattern, PatternKind
from benchconsole.probes.judging.set_cover import LowVerdict
from benchconsole.probes.model.judgement import Confidence, Finding, Suspect
from benchconsole.topology.copying import replace
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted, percent

_SHOWN = 4
"""Observations that a finding tells one by one."""


_WAYS = {PatternKind.ROW: "as sender", PatternKind.COLUMN: "as receiver", PatternKind.BOTH: "both ways"}


def tell_patterns(finding: Finding, patterns: Sequence[Pattern]) -> Finding:
    """``finding`` with the patterns that agree with it."""
    made = finding
    for pattern in patterns:
        if pattern.kind is PatternKind.EVERYTHING:
            other = "or what all hosts share (MTU, windows, processor governor, tool): everything is slow alike"
            told = f"{made.cannot_tell}; {other}" if made.cannot_tell else other
            made = replace(made, confidence=Confidence.POSSIBLE, cannot_tell=told)
        else:
            made = replace(made, because=(*made.because, describe_pattern(pattern)))
    return made


def describe_pattern(pattern: Pattern) -> str:
    """``pattern row: n3 as sender is slow in 7 of 7 pairs, 50 % of expected, all others 95 %``."""
    rest = "" if pattern.rest is None else f", all others {percent(pattern.rest)}"
    cells = f"slow in {pattern.slow} of {counted(pattern.cells, 'pair')}"
    return f"pattern {pattern.kind}: {_name_place(pattern)} {cells}, {percent(pattern.level)} of expected{rest}"


def _name_place(pattern: Pattern) -> str:
    first, *more = pattern.places
    second = more[0] if more else ""
    if pattern.kind is PatternKind.EVERYTHING:
        return f"all of {counted(len(pattern.places), 'node')}"
    if pattern.kind is PatternKind.CHECKERBOARD:
        return f"within {first}, and within {second}" if pattern.within else f"between {first} and {second}"
    if pattern.kind is not PatternKind.BLOCK:
        return f"{first} {_WAYS[pattern.kind]}"
    if pattern.within:
        return f"within {first}"
    if pattern.both_ways:
        return f"between {first} and {second}"
    return f"from {first} to {second}" if first and second else f"out of {first}" if first else f"into {second}"


def make_pattern_finding(context: JudgingContext, cause: PatternCause) -> Finding:
    """The finding on a pattern that no component explains."""
    pattern, base = cause.pattern, make_unexplained_finding(cause.seen)
    place, slow = _name_place(pattern), f"{pattern.slow} of {counted(pattern.cells, 'pair')}"
    rest = "" if pattern.rest is None else f", all others {percent(pattern.rest)}"
    more = (f"{len(base.because) - _SHOWN} more",) if len(base.because) > _SHOWN else ()
    made = replace(
        base,
        element=place,
        where=place,
        what=f"{slow} give {percent(pattern.level)} of expected{rest}; no single link explains it",
        because=(describe_pattern(pattern), *base.because[:_SHOWN], *more),
    )
    if pattern.kind is PatternKind.EVERYTHING:
        return _word_everything(made, pattern)
    if pattern.kind in _WAYS:
        return _word_node(made, pattern.places[0])
    gateways = _find_gateways(context, cause.seen)
    return _word_gateways(made, gateways) if gateways else _word_way(made, pattern)


def _word_everything(made: Finding, pattern: Pattern) -> Finding:
    alike = f"{pattern.slow} of {counted(pattern.cells, 'pair')} are slow alike"
    return replace(
        made,
        what=f"{alike}: {percent(pattern.level)} of expected in the middle",
        cannot_tell="which of what all hosts share: MTU, windows, processor governor, the tool and its streams, "
        "or a described speed that is too high",
        means="no link is accused: all pairs are equally far below what is described",
        do="compare the MTU end to end, look at the processor while one pair runs, and try more streams",
    )


def _word_node(made: Finding, node: str) -> Finding:
    return replace(
        made,
        suspect=Suspect.NODE,
        element=node,
        nodes_at=(node,),
        nodes=(node,),
        confidence=Confidence.LIKELY,
        cannot_tell="the part of the node that limits it: its links carried more at another time",
        means=f"{node} is slow whoever its partner is",
        do=f"look at processor, interrupts, windows and offload settings of {node}, then repeat the tests",
    )


def _word_gateways(made: Finding, gateways: Sequence[str]) -> Finding:
    names, alone = fold(gateways), len(gateways) == 1
    beyond = "whether forwarding is slow or the way beyond: their links carried more at another time"
    return replace(
        made,
        suspect=Suspect.GATEWAY,
        element=names,
        where=f"{names}, {made.where}",
        nodes_at=tuple(gateways) if alone else (),
        cannot_tell=beyond if alone else f"which of them, or {beyond}",
        means=f"what crosses {names} is slow, the rest is not",
        do=f"look at the processor and the forwarding of {names} while a pair across runs",
    )


def _word_way(made: Finding, pattern: Pattern) -> Finding:
    """The finding on the way between groups of nodes; between VLANs, or within one, on the path of the VLAN."""
    if pattern.grouping == VLAN:
        return replace(
            made,
            suspect=Suspect.VLAN,
            cannot_tell="the device on the way of this VLAN that is slow: its links carried more in other VLANs",
            means=f"traffic {made.where} is slow, other VLANs on the same links are not",
            do="look at the path of the VLAN on each switch: its part of split links, its routing, its queues",
        )
    return replace(
        made,
        cannot_tell="what these pairs share: links, hash, routing or settings",
        means=f"pairs {made.where} are slow, the others are not",
        do="compare the way of a slow pair with that of a fast one, hop by hop",
    )


def _find_gateways(context: JudgingContext, seen: Sequence[LowVerdict]) -> tuple[str, ...]:
    """The nodes that forward for every one of these flows; empty where one goes without."""
    fabric, graph = context.fabric, context.routes.graph
    crossed: set[str] = set()
    for _, flows in seen:
        for each in flows:
            own: set[str] = set()
            for way in each.route.ways.tolist():
                direction = graph.direction(way)
                own.update((direction.source, fabric.links[direction.link].other(direction.source)))
            between = {node for node in own - {each.flow.source, each.flow.sink} if node in fabric.nodes}
            if not between:
                return ()
            crossed |= between
    return tuple(sorted(crossed))
