"""The finding on nodes below one criterion, each by itself, in words; which nodes, ``node_groups`` decides."""

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import list_metrics, make_node_finding, rank_low
from benchconsole.probes.judging.node_groups import EVERYTHING, NodeGroup
from benchconsole.probes.model.judgement import Confidence, Finding, Suspect, Verdict
from benchconsole.topology.copying import replace
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted, show

_SHOWN = 8
"""Nodes of which a finding tells the number; the others are named."""


def make_group_finding(context: JudgingContext, group: NodeGroup) -> Finding:
    """One finding on all nodes of ``group``, with the numbers of the worst; each of them is at fault itself."""
    own = {node: [each for each in low if each.metric == group.metric] for node, low in group.low.items()}
    worst = {node: max(low, key=rank_low) for node, low in own.items()}
    order = sorted(worst, key=lambda node: (rank_low(worst[node]), node), reverse=True)
    verdicts = [each for low in group.low.values() for each in low]
    base = make_node_finding(context, order[0], [worst[order[0]]])
    nodes, count = tuple(sorted(group.low)), len(group.low)
    where, alike = fold(nodes), [name for name in group.names if name != EVERYTHING]
    named = EVERYTHING not in group.names and bool(alike)
    of_group = f", all that were measured of {alike[0]}" if named else ""
    rest = order[_SHOWN:]
    return replace(
        base,
        suspect=Suspect.SET,
        element=where,
        where=f"{alike[0]} ({where})" if named else where,
        what=f"{count} of {counted(group.judged, 'node')} below{of_group}, worst {order[0]}: {base.what}",
        level=max((each.level for each in verdicts), key=lambda level: level.severity),
        confidence=Confidence.LIKELY,
        nodes=nodes,
        nodes_at=nodes,
        metrics=list_metrics(verdicts),
        tests=tuple(dict.fromkeys(each.test for each in verdicts)),
        evidence=tuple(dict.fromkeys(name for each in verdicts for name in each.evidence)),
        because=(
            *(f"{node}: {group.metric} {_say(worst[node])}" for node in order[:_SHOWN]),
            *([f"{counted(len(rest), 'more node')}: {fold(rest)}"] if rest else []),
        ),
        cannot_tell=_say_unknown(alike, is_group=bool(group.names)),
        means=f"{counted(count, 'node')} {'does' if count == 1 else 'do'} not meet {worst[order[0]].source}",
        do=f"look for what {alike[0] if named else 'they'} {'has' if named else 'have'} in common: firmware, settings, "
        "power, cooling, or a criterion that this hardware cannot meet"
        if group.names
        else f"compare the {base.probe} output of {order[0]} with that of a node that passes, then repeat the tests",
    )


def _say(verdict: Verdict) -> str:
    value = show(verdict.value or 0.0, verdict.unit, verdict.shown) if verdict.unit else verdict.text
    return f"{value}, {verdict.because}"


def _say_unknown(alike: list[str], *, is_group: bool) -> str:
    if len(alike) > 1:
        return f"whether it is {', '.join(alike[:-1])} or {alike[-1]}: they have the same nodes here"
    return "what they have in common that limits them" if is_group else "whether they have one cause"
