"""Causes of nodes together, or clients of a storage system, that are below a criterion: one cause for all of it.

In order: a storage system whose clients are low alike; the gateways of the clients that are low; the node that all low
sets have in common; else the nodes together (``node_sets``). The known fault of one node may explain a set with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import find_loss
from benchconsole.probes.judging.node_sets import MOST, SEVERAL, JudgedSet, SetCause, explain_sets, list_verdicts
from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.storage import Clients, Storage

PART = 0.75
"""Share of what a set lacks that the known fault of one of its nodes must be, to be its cause."""


@dataclass(frozen=True, slots=True, eq=False)
class SharedCause:
    """A storage system, or the gateways of some of its ``clients``, with the low sets that it explains."""

    system: Storage
    clients: Clients | None
    low: tuple[JudgedSet, ...]
    good: tuple[JudgedSet, ...]

    @property
    def grounds(self) -> tuple[object, ...]:
        """Everything that a finding on it rests on."""
        return (self.system, self.clients, *list_verdicts(self.low), *list_verdicts(self.good))


Explained = SharedCause | SetCause


def list_causes(context: JudgingContext, sets: Sequence[JudgedSet]) -> Iterator[Explained]:
    """The causes of the low sets: a storage system for all of its probes, everything else by probe and system."""
    rest: dict[tuple[str, str], list[JudgedSet]] = {}
    shared: dict[tuple[str, str], list[SharedCause]] = {}
    for (probe, name), own in group_by_key(((each.probe, each.system), each) for each in sets).items():
        system = context.fabric.storage.get(name)
        cause = None if system is None else _find_shared(system, own, sets)
        if cause is None:
            rest[probe, name] = own
        else:
            clients = cause.clients.name if cause.clients else ""
            shared.setdefault((name, clients), []).append(cause)
    for causes in shared.values():
        low, good = ([each for cause in causes for each in getattr(cause, part)] for part in ("low", "good"))
        yield replace(causes[0], low=tuple(low), good=tuple(good))
    for own in rest.values():
        yield from explain_sets(own)


def _find_shared(system: Storage, own: Sequence[JudgedSet], sets: Sequence[JudgedSet]) -> SharedCause | None:
    """The cause of all low ``own`` sets of one probe on ``system``, and of no good one; None where they differ."""
    asked = [each for each in own if each.nodes.isdisjoint(system.servers)]
    low, good = [each for each in asked if each.low], [each for each in asked if each.is_good]
    asking = frozenset().union(*(each.nodes for each in low))
    elsewhere = [
        each
        for each in sets
        if low and each.is_good and each.system not in ("", system.name) and each.probe == low[0].probe
        if each.nodes <= asking
    ]
    enough = 2 if elsewhere or all(len(each.nodes) > 1 for each in low) else SEVERAL
    if _count_disjoint(low) < enough:
        return None
    if len(low) >= MOST * (len(low) + len(good)):
        return SharedCause(system, None, tuple(low), (*good, *elsewhere))
    for clients in system.clients:
        inside = frozenset(clients.nodes)
        if clients.gateways and asking <= inside and all(each.nodes.isdisjoint(inside) for each in good):
            return SharedCause(system, clients, tuple(low), tuple(good))
    return None


def _count_disjoint(sets: Sequence[JudgedSet]) -> int:
    """How many of ``sets``, the smallest first, have no node in common."""
    met: set[str] = set()
    count = 0
    for each in sorted(sets, key=lambda one: (len(one.nodes), min(one.nodes))):
        if each.nodes.isdisjoint(met):
            met |= each.nodes
            count += 1
    return count


def takes_part(finding: Finding, cause: Explained) -> bool:
    """Whether ``finding`` is on one node that is among those of a cause which names none: a member, or a server."""
    if len(finding.nodes_at) != 1:
        return False
    if isinstance(cause, SharedCause):
        return cause.clients is None and finding.nodes_at[0] in cause.system.servers
    return not cause.is_named and finding.nodes_at[0] in cause.nodes


def is_explained_by(cause: Explained, finding: Finding) -> bool:
    """Whether the fault of the one node that ``finding`` names is large enough for what the low sets lack."""
    lacks = [find_loss(each.value, each.expected) for own in cause.low for each in own.low]
    return takes_part(finding, cause) and find_loss(finding.value, finding.expected) >= PART * max(lacks) > 0.0
