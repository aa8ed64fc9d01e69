"""The findings in words: an element, both numbers, what it rests on, what stays open and what to do.

One function for each kind of cause; which cause it is, ``attribution`` and ``findings`` decide.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from benchconsole.probes.judging.attribution import LowVerdict
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.link_state import count_members
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect, Verdict
from benchconsole.topology.element_names import direction_name, is_nic, link_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Link, LinkId, NodeId, NodeRole
from benchconsole.topology.selection import fold
from benchconsole.topology.units import network_rate, percent, show


def _worst(verdicts: Iterable[Verdict]) -> Level:
    return max((verdict.level for verdict in verdicts), key=lambda level: level.severity)


def make_link_finding(
    context: JudgingContext, link: Link, carried: Mapping[Direction, float], seen: Sequence[LowVerdict]
) -> Finding:
    """One finding for a link, whichever directions it is low in, with what each of them carried at most."""
    low = min(sorted(carried), key=lambda way: carried[way])
    certain = len({(verdict.round, verdict.subject) for verdict, _ in seen}) > 1
    capacity = context.fabric.payload(link)
    share, value = carried[low] / capacity, network_rate(carried[low])
    nodes = _behind(context, link)
    nic, is_one_way = is_nic(context.fabric, low), len(carried) == 1
    ways = f"{'out' if low.source == link.a else 'in'} only" if is_one_way else "in and out"
    if nic:
        look = "speed, duplex, error counters and cable"
        unknown = f"whether the port of {link.a}, the cable or the port of {link.b} is at fault"
        means = f"{link.a} cannot move more than {value} this way, whoever its partner is"
    else:
        look = "port state, error counters, optics and cables"
        unknown = f"whether {link.a}, the cable or {link.b} is at fault"
        if link.is_lag:
            unknown = f"which of the {link.count} members, and whether it is down or slow: needs the port counters"
        part = network_rate(carried[low] / max(len(nodes), 1))
        below = f"{len(nodes)} nodes below {link.a} get {part} each over this link"
        means = f"{below} when all send at once; one alone may not notice"
    return replace(
        make_unexplained_finding(seen),
        suspect=Suspect.NIC if nic else Suspect.LAG if link.is_lag else Suspect.LINK,
        element=link.a if nic else link.id,
        where=direction_name(context.fabric, low) if nic and is_one_way else link_name(context.fabric, link),
        what=f"gives {value} of {network_rate(capacity)}, {percent(share)}, {ways}{_members(link, share)}",
        nodes_at=(link.a,) if nic else (),
        links=(link.id,),
        members_up=count_members(link, share),
        confidence=Confidence.CERTAIN if certain else Confidence.LIKELY,
        nodes=nodes,
        rules_out=_ruled_out(context, seen, carried),
        cannot_tell=unknown,
        means=means,
        do=f"look at {look} between {link.a} and {link.b}, then repeat these tests",
        value=carried[low],
        expected=capacity,
    )


def _members(link: Link, share: float) -> str:
    """How many members of a LAG would carry what was measured, where that is close to a whole number."""
    if not link.is_lag:
        return ""
    members = count_members(link, share)
    if members is not None and members < link.count:
        return f", what {members} of {link.count} members carry"
    return f", as {share * link.count:.1f} of {link.count} members would"


def _behind(context: JudgingContext, link: Link) -> tuple[str, ...]:
    """The nodes whose way up leads over ``link``: the node itself, or those below its lower end."""
    if NodeId(link.a) in context.fabric.nodes:
        return (link.a,)
    found: list[str] = []
    below = [link.a]
    while below:
        here = below.pop()
        for other in (each.other(here) for each in context.fabric.links_at[here]):
            if NodeId(other) in context.fabric.nodes:
                found.append(other)
            elif context.fabric.tier(other) < context.fabric.tier(here):
                below.append(other)
    return tuple(dict.fromkeys(found))


def _line(verdict: Verdict) -> str:
    value = show(verdict.value or 0.0, verdict.unit, verdict.shown) if verdict.unit else ""
    wanted = show(verdict.expected or 0.0, verdict.unit, verdict.shown) if verdict.unit else ""
    return f"round {verdict.round}, {verdict.subject}: {value} of {wanted}, {percent(verdict.share or 0.0)}"


def _ruled_out(
    context: JudgingContext, seen: Sequence[LowVerdict], guilty: Mapping[Direction, float]
) -> tuple[str, ...]:
    """The other elements on the paths of the low flows: none of them lost what is missing."""
    ways = {
        way
        for _, flows in seen
        for each in flows
        for way in context.routes.shares(each.flow.source, each.flow.sink)
        if way not in guilty
    }
    nics = sorted({context.fabric.links[way.link].a for way in ways if is_nic(context.fabric, way)})
    trunks = sorted(direction_name(context.fabric, way) for way in ways if not is_nic(context.fabric, way))
    names = [f"the NICs of {fold(nics)}"] if nics else []
    names += [*trunks[:4], f"{len(trunks) - 4} more links"] if len(trunks) > 5 else trunks
    return (f"{', '.join(names)}: carried more in other rounds, or too little of what is missing",) if names else ()


def make_tie_finding(
    context: JudgingContext, carried: Mapping[Direction, float], seen: Sequence[LowVerdict]
) -> Finding:
    """A cause that is one of several links which the tests cannot tell apart."""
    ways = sorted(carried)
    names = [direction_name(context.fabric, way) for way in ways]
    low = ways[0]
    link = context.fabric.links[low.link]
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    nics = all(is_nic(context.fabric, way) for way in ways)
    return replace(
        make_unexplained_finding(seen),
        suspect=Suspect.NIC if nics else Suspect.LINK,
        element=link.a if nics else low.link,
        where=" or ".join(names[:2]) + (" or others" if len(names) > 2 else ""),
        what=_line(seen[0][0]).split(", ", 1)[1],
        nodes_at=(link.a,) if nics else (),
        links=(low.link,),
        members_up=count_members(link, seen[0][0].share),
        cannot_tell=f"which of {listed}: no test loaded one of them without the others",
        means="one of these links gives less than described",
        do="test them with other partners, or read their port counters",
    )


def with_switches(context: JudgingContext, found: Sequence[Finding]) -> list[Finding]:
    """Fold links that are all low at one switch into one finding on the switch."""
    links = context.fabric.links
    low = [(links[LinkId(each.element)], each) for each in found if each.element in links]
    at = group_by_key((end, each) for link, each in low for end in (link.a, link.b))
    folded: dict[int, Finding] = {}
    made: list[Finding] = []
    for switch in context.fabric.switches:
        own = [each for each in at.get(switch, ()) if id(each) not in folded]
        if len(own) < 3:
            continue
        trunks = [link for link in context.fabric.links_at[switch] if context.fabric.tier(link.a) > 0]
        if len(own) >= len(trunks):
            folded.update((id(each), each) for each in own)
            made.append(_switch(switch, own))
    return [each for each in found if id(each) not in folded] + made


def _switch(switch: str, own: Sequence[Finding]) -> Finding:
    worst = min(own, key=lambda each: (each.value or 0.0) / (each.expected or 1.0))
    return replace(
        worst,
        suspect=Suspect.SWITCH,
        element=switch,
        where=switch,
        what=f"all {len(own)} links to other switches are low; the lowest {worst.where} {worst.what}",
        links=(),
        members_up=None,
        evidence=tuple(dict.fromkeys(name for each in own for name in each.evidence)),
        nodes=tuple(dict.fromkeys(node for each in own for node in each.nodes)),
        tests=tuple(dict.fromkeys(test for each in own for test in each.tests)),
        because=tuple(line for each in own for line in each.because),
        cannot_tell="whether the switch is at fault or each link by itself",
        do=f"look at {switch} first: load, errors, configuration",
    )


def make_unexplained_finding(seen: Sequence[LowVerdict]) -> Finding:
    """A low throughput that no link explains; of several the first is named."""
    verdicts = [verdict for verdict, _ in seen]
    first = verdicts[0]
    return Finding(
        suspect=Suspect.FABRIC,
        element=first.subject,
        where=first.subject,
        what=f"{_line(first).split(', ', 1)[1]}; no single link explains it",
        probe=first.probe,
        level=_worst(verdicts),
        confidence=Confidence.POSSIBLE,
        nodes=tuple(dict.fromkeys(node for verdict in verdicts for node in verdict.nodes)),
        tests=tuple(dict.fromkeys(each.result.test.id for _, flows in seen for each in flows)),
        evidence=tuple(dict.fromkeys(name for verdict in verdicts for name in verdict.evidence)),
        because=tuple(map(_line, verdicts)),
        cannot_tell="the cause: every link on the way carried more in another round",
        means="something disturbed this round, or load from elsewhere shared its links",
        do="repeat it, and see whether it stays",
        value=first.value,
        expected=first.expected,
        unit=first.unit,
    )


def make_hardware_finding(nodes: Sequence[str], parts: Sequence[tuple[tuple[str, str, str], list[Verdict]]]) -> Finding:
    """What ``nodes`` have in common that is not as declared: metric, found, declared, with the verdicts."""
    words = [f"{metric} {text or 'nothing'}, declared {wanted}" for (metric, text, wanted), _ in parts]
    members = [verdict for _, group in parts for verdict in group]
    where = fold(nodes)
    return Finding(
        suspect=Suspect.NODE,
        element=nodes[0],
        where=where,
        what="; ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else ""),
        probe=members[0].probe,
        nodes_at=tuple(nodes[:1]),
        level=Level.FAIL,
        confidence=Confidence.CERTAIN,
        nodes=tuple(nodes),
        tests=tuple(dict.fromkeys(verdict.test for verdict in members)),
        because=tuple(f"{where} reports {line}" for line in words),
        means="the machine is not the one that the topology file declares",
        do="look at the hardware, or correct the class in the file",
    )


def make_node_finding(context: JudgingContext, node: str, group: Sequence[Verdict]) -> Finding:
    """A node below a fixed criterion, by all low verdicts of one probe."""
    worst = max(group, key=lambda verdict: (verdict.level.severity, -(verdict.share or 0.0)))
    storage = context.fabric.nodes[NodeId(node)].role is NodeRole.STORAGE
    labels = " ".join(value for _, value in worst.labels)
    value = show(worst.value or 0.0, worst.unit, worst.shown) if worst.unit else worst.text
    asked = show(worst.expected or 0.0, worst.unit, worst.shown) if worst.unit else worst.expected_text
    more = f"; {len(group) - 1} more of its values too" if len(group) > 1 else ""
    return Finding(
        suspect=Suspect.STORAGE if storage else Suspect.NODE,
        element=node,
        where=node,
        what=f"{worst.metric} {labels} {value}, asked {asked}{more}".replace("  ", " "),
        probe=worst.probe,
        nodes_at=(node,),
        level=_worst(group),
        confidence=Confidence.LIKELY if len(group) == 1 else Confidence.CERTAIN,
        nodes=(node,),
        tests=tuple(dict.fromkeys(verdict.test for verdict in group)),
        evidence=tuple(name for verdict in group for name in verdict.evidence),
        because=tuple(
            f"{verdict.metric} {' '.join(text for _, text in verdict.labels)}: {verdict.because}" for verdict in group
        ),
        cannot_tell="which part of the node limits it: its own tests alone do not say" if not storage else
        "which disk or controller limits it: needs their own tests",
        means=f"{node} does not meet {worst.source}",
        do=f"compare its {worst.probe} output with a node that passes, then repeat the test",
        value=worst.value,
        expected=worst.expected,
        unit=worst.unit,
    )  # fmt: skip
