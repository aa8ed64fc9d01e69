"""The findings on nodes below a criterion together, in words; which cause it is, ``set_causes`` decides."""

from collections.abc import Sequence
from functools import lru_cache

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import find_loss, make_node_finding
from benchconsole.probes.judging.node_sets import JudgedSet, SetCause
from benchconsole.probes.judging.set_causes import Explained, SharedCause
from benchconsole.probes.model.judgement import Confidence, Finding, Suspect, Verdict
from benchconsole.probes.model.labels import tell_labels
from benchconsole.topology.copying import replace
from benchconsole.topology.model.storage import Clients, Storage
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted, show

_SHOWN = 4
"""Sets that a finding tells one by one."""


def make_set_finding(context: JudgingContext, cause: Explained, others: Sequence[Finding] = ()) -> Finding:
    """The finding on a cause; ``others`` are on single nodes, of which those that take part are told."""
    if isinstance(cause, SharedCause):
        return _make_shared_finding(context, cause)
    if cause.is_named:
        return _make_named_finding(context, cause)
    return _make_together_finding(context, cause, others)


def _make_base(context: JudgingContext, low: Sequence[JudgedSet], good: Sequence[JudgedSet]) -> Finding:
    """The fields that all findings on sets have in common, with the numbers of the worst set."""
    verdicts = [each for own in low for each in own.low]
    made = make_node_finding(context, verdicts[0].nodes[0], verdicts)
    return replace(
        made,
        nodes_at=(),
        nodes=tuple(sorted(frozenset().union(*(each.nodes for each in low)))),
        because=_tell_sets(low),
        rules_out=(f"{_list_sets(good)}: reached what is asked",) if good else (),
    )


def _make_named_finding(context: JudgingContext, cause: SetCause) -> Finding:
    """One node that every low set has and no good one."""
    (node,) = cause.nodes
    made = make_node_finding(context, node, [each for own in cause.low for each in own.low])
    base = _make_base(context, cause.low, cause.good)
    shares = "every low test has it, and none that is good" if len(cause.low) > 1 else "the others of its test are good"
    return replace(
        made,
        because=(*base.because, shares),
        rules_out=base.rules_out,
        confidence=Confidence.CERTAIN if len(cause.low) > 1 else Confidence.LIKELY,
        cannot_tell="which part of the node limits it: its own tests do not say",
    )


def _make_together_finding(context: JudgingContext, cause: SetCause, others: Sequence[Finding]) -> Finding:
    """Several nodes that cannot be told apart."""
    where, count = fold(cause.nodes), len(cause.nodes)
    own = [each for each in others if len(each.nodes_at) == 1 and each.nodes_at[0] in cause.nodes]
    system = next((each.system for each in cause.low if each.system), "")
    base = _make_base(context, cause.low, cause.good)
    unknown = [f"which of the {count} nodes it is" if count > 1 else f"whether it is {where}: no good test shows it"]
    if cause.by_number:
        unknown.append(f"whether it is their number: {_list_sizes(cause.good)} reached it")
    unknown.append("the network between them" + (f" or {system}" if system else ""))
    halves = "each half of them" if count > 3 else "other nodes in place of each"
    return replace(
        base,
        suspect=Suspect.SET,
        element=where,
        where=where,
        what=f"{counted(count, 'node')} together: {base.what}" if count > 1 else f"{base.what}; every low test has it",
        confidence=Confidence.POSSIBLE,
        rules_out=() if cause.by_number else base.rules_out,
        because=(*base.because, *(f"{each.where} is low by itself: {each.what}" for each in own[:_SHOWN])),
        cannot_tell=", or ".join(unknown),
        means=f"tests with {'these nodes' if count > 1 else where} do not meet {_name_source(cause.low)}; "
        "none of their nodes is known to be at fault",
        do=f"repeat it with {halves}: the one that stays low has the cause",
    )


def _make_shared_finding(context: JudgingContext, cause: SharedCause) -> Finding:
    """A storage system, its only server, or the gateways on the way to it."""
    system, clients = cause.system, cause.clients
    base = _make_base(context, cause.low, cause.good)
    asking = counted(len(base.nodes), "client")
    servers = system.servers
    if clients is not None:
        return _make_gateway_finding(base, system, clients)
    alone = servers[0] if len(servers) == 1 else ""
    parts = f"which of its {len(servers)} servers, or what they share" if len(servers) > 1 else "which part of it"
    return replace(
        base,
        suspect=Suspect.STORAGE if alone else Suspect.SYSTEM,
        element=alone or system.name,
        where=alone or system.name,
        what=f"{base.what}; all of {asking} alike",
        nodes_at=(alone,) if alone else (),
        nodes=(alone,) if alone else base.nodes,
        confidence=Confidence.LIKELY,
        cannot_tell=f"{parts}, or the network on the way to it",
        means=f"{asking} of {system.name} do not meet {_name_source(cause.low)}",
        do=f"test the disks and ports of {fold(servers) or system.name}, and the network from clients to them",
    )


def _make_gateway_finding(base: Finding, system: Storage, clients: Clients) -> Finding:
    ways = clients.gateways
    where = fold(ways)
    return replace(
        base,
        suspect=Suspect.GATEWAY,
        element=ways[0] if len(ways) == 1 else where,
        where=where,
        what=f"{base.what}; only clients that reach {system.name} over {'it' if len(ways) == 1 else 'them'}",
        nodes_at=ways if len(ways) == 1 else (),
        confidence=Confidence.LIKELY,
        cannot_tell=(f"which of the {len(ways)} gateways, or " if len(ways) > 1 else "")
        + f"whether the nodes of {clients.name} by themselves are slow",
        means=f"{clients.name} gets less of {system.name} than its other clients",
        do=f"test the network from {clients.name} to {where}, and from there to {system.name}",
    )


def _tell_sets(low: Sequence[JudgedSet]) -> tuple[str, ...]:
    """The worst number of each set, the lowest first; of more than ``_SHOWN`` the rest is counted."""
    worst = sorted((min(each.low, key=_rank) for each in low), key=_rank)
    told = [f"{_name(each)}: {each.metric} {' '.join(tell_labels(each.labels))} {_say(each)}" for each in worst]
    more = [f"{len(told) - _SHOWN} more tests"] if len(told) > _SHOWN else []
    return (*(" ".join(line.split()) for line in told[:_SHOWN]), *more)


def _rank(verdict: Verdict) -> tuple[int, float]:
    return -verdict.level.severity, -find_loss(verdict.value, verdict.expected)


def _name(verdict: Verdict) -> str:
    return f"round {verdict.round}, {verdict.subject}"


def _say(verdict: Verdict) -> str:
    value = show(verdict.value or 0.0, verdict.unit, verdict.shown) if verdict.unit else verdict.text
    return f"{value}, {verdict.because}"


def _name_source(low: Sequence[JudgedSet]) -> str:
    return ", ".join(dict.fromkeys(each.source for own in low for each in own.low))


@lru_cache(maxsize=8)  # the findings of a probe tell the same good nodes, thousands of them
def _fold_alone(nodes: tuple[str, ...]) -> str:
    return fold(nodes)


def _list_sets(sets: Sequence[JudgedSet]) -> str:
    """``n[1-4], n[5-8]``; nodes by themselves as one set."""
    alone = tuple([node for each in sets if len(each.nodes) == 1 for node in each.nodes])
    names = sorted({fold(each.nodes) for each in sets if len(each.nodes) > 1}) + ([_fold_alone(alone)] if alone else [])
    more = f" and {len(names) - _SHOWN} more sets" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _list_sizes(sets: Sequence[JudgedSet]) -> str:
    """``1, 2 and 4 nodes``."""
    sizes = [str(size) for size in sorted({len(each.nodes) for each in sets})]
    return f"{' and '.join(filter(None, (', '.join(sizes[:-1]), sizes[-1])))} nodes"


def join_sets(finding: Finding, low: Sequence[JudgedSet]) -> Finding:
    """``finding`` with the low sets that it explains."""
    verdicts = [each for own in low for each in own.low]
    return replace(
        finding,
        level=max((finding.level, *(each.level for each in verdicts)), key=lambda level: level.severity),
        tests=tuple(dict.fromkeys((*finding.tests, *(each.test for each in verdicts)))),
        evidence=tuple(dict.fromkeys((*finding.evidence, *(name for each in verdicts for name in each.evidence)))),
        because=(*finding.because, *_tell_sets(low)),
    )
