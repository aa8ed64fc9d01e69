"""Findings on peers in words: nodes below those that are like them, and groups that nobody declared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.peers import PeerGroup
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.probes.model.labels import tell_labels
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import NodeId, NodeRole
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted, percent, show

_SHOWN = 8
"""Numbers that a finding tells; the others are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class _Deviant:
    """One node below its peers in one metric, at a ``share`` of their median."""

    node: NodeId
    group: PeerGroup
    place: int

    @property
    def share(self) -> float:
        return float(self.group.values[self.place] / self.group.median)


def list_peer_findings(
    context: JudgingContext, metrics: Sequence[tuple[PeerGroup, ...]], known: Sequence[Finding]
) -> Iterator[Finding]:
    """A finding for the low nodes of each probe and group, and one for each two groups that nobody declared.

    Nodes whose tests one of ``known`` speaks of already are left out, and so are groups that it speaks of.
    """
    told = {test for each in known for test in each.tests}
    low = [
        (each.key.probe, _Deviant(each.find_node(place), each, place))
        for groups in metrics
        for each in groups
        for place in each.low.tolist()
        if each.find_test(place) not in told
    ]
    for own in group_by_key(low).values():
        yield _make_low(context, own)
    parted = [(each[0].key.probe, each) for each in metrics if len(each) > 1 and told.isdisjoint(each[0].tests)]
    for found in group_by_key(parted).values():
        yield _make_groups(context, found)


def _make_low(context: JudgingContext, deviants: Sequence[_Deviant]) -> Finding:
    """One finding on all low nodes of a probe, with the numbers of the worst."""
    order = sorted(deviants, key=lambda each: (each.share, each.node))
    worst, nodes = order[0], tuple(sorted({each.node for each in deviants}))
    group = worst.group
    where, count = fold(nodes), len(nodes)
    most = max(each.share for each in deviants)
    at = percent(worst.share) if count == 1 or percent(most) == percent(worst.share) else (
        f"{percent(worst.share)} to {percent(most)}"
    )  # fmt: skip
    peers = f"its {group.number - 1} peers" if count == 1 else "their peers"
    who = where if count == 1 else f"{count} of {counted(group.number, 'node')}"
    named = f", worst {worst.node}" if count > 1 else ""
    rest = len(order) - _SHOWN
    storage = count == 1 and context.fabric.nodes[worst.node].role is NodeRole.STORAGE
    return Finding(
        suspect=Suspect.SET if count > 1 else Suspect.STORAGE if storage else Suspect.NODE,
        element=where,
        where=where,
        what=f"{who} at {at} of the median of {peers}{named}: {_say(context, worst)}",
        level=Level.WATCH,
        confidence=Confidence.LIKELY,
        nodes=nodes,
        nodes_at=nodes,
        tests=tuple(dict.fromkeys(each.group.find_test(each.place) for each in order)),
        because=(
            *(f"{each.node}: {_say(context, each)}" for each in order[:_SHOWN]),
            *([f"{counted(rest, 'more number')} as low beside its peers"] if rest > 0 else []),
            f"the usual distance from the median is {group.deviation * 100:.1f} % of it (median absolute deviation)",
        ),
        cannot_tell="why: no bound of the file is missed by it",
        means="peers are held against each other, not against a bound: they may all be slow",
        do=f"compare the inventory, settings and {group.key.probe} output of {worst.node} with those of "
        f"{_find_usual(group)}, then repeat the tests",
        value=float(group.values[worst.place]),
        expected=group.median,
        unit=group.key.unit,
        probe=group.key.probe,
        metrics=tuple(sorted({each.group.key.metric for each in deviants})),
    )


def _say(context: JudgingContext, each: _Deviant) -> str:
    group = each.group
    return (
        f"{_name_metric(group)} {_show(context, group, float(group.values[each.place]))}, "
        f"{percent(each.share)} of {_show(context, group, group.median)}"
    )


def _name_metric(group: PeerGroup) -> str:
    return " ".join((group.key.metric, *tell_labels(group.key.labels)))


def _show(context: JudgingContext, group: PeerGroup, value: float) -> str:
    return show(value, group.key.unit, context.shown(group.key.metric))


def _find_usual(group: PeerGroup) -> NodeId:
    """The node nearest to the median."""
    return group.find_node(int(abs(group.values - group.median).argmin()))


def _make_groups(context: JudgingContext, found: Sequence[tuple[PeerGroup, ...]]) -> Finding:
    """One finding on the groups of a probe, with the numbers of the metric in which they are furthest apart."""
    groups = min(found, key=lambda each: each[0].median / each[-1].median)
    low, high = groups[0], groups[-1]
    where = fold(low.nodes)
    return Finding(
        suspect=Suspect.SET,
        element=where,
        where=where,
        what=f"{_count_groups(len(groups))} of nodes of one class: {_name_metric(low)} "
        + " and ".join(f"{_show(context, each, each.median)} ({counted(each.number, 'node')})" for each in groups),
        level=Level.WATCH,
        confidence=Confidence.LIKELY if low.name else Confidence.POSSIBLE,
        nodes=tuple(sorted(low.nodes)),
        tests=low.tests,
        because=tuple(_describe_group(context, each) for own in found for each in own)[:_SHOWN],
        cannot_tell="" if low.name else "what the nodes of a group have in common: no fact and no place parts them so",
        means=f"the lower group is at {percent(low.median / high.median)} of the upper one; a node is held against "
        "those of its own group",
        do=f"declare classes of their own where {low.name} and {high.name} are meant"
        if low.name
        else "run the inventory, which tells what the nodes differ in, and compare their settings",
        value=low.median,
        expected=high.median,
        unit=low.key.unit,
        probe=low.key.probe,
        metrics=tuple(sorted({each.key.metric for own in found for each in own})),
    )


def _count_groups(number: int) -> str:
    return {2: "two groups", 3: "three groups", 4: "four groups"}.get(number, f"{number} groups")


def _describe_group(context: JudgingContext, group: PeerGroup) -> str:
    name = f"{group.name}: " if group.name else ""
    low = [group.find_node(place) for place in group.low.tolist()]
    apart = f", {fold(low)} below it" if low else ""
    return f"{name}{fold(group.nodes)} {_name_metric(group)} {_show(context, group, group.median)}{apart}"
