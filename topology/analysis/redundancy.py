"""Effect of the loss of each single element: switch, gateway, link, one member of a LAG, one leg of a node.

Told for each: the nodes that are cut off (``topology.tables.separation``), and what the flows over the element keep
without it, by the engine of ``expect`` (``topology.analysis.failure_flows``). A loss is *carried* only if nobody is cut
off and every such flow gets what it got before. Elements that fail alike are one entry.

Where a fabric is too large for flows over each element, the tiers stand in: the nodes that are degraded, and what is
left to the worst of them of its capacity toward the top, every device counting its ways up by their capacity
(``topology.tables.uplink_shares``); the worst oversubscription of a switch that loses something; and the load of what
has to take over: min(down, up) before over what is left of up. Tiers say nothing of cables inside a tier. Whether the
peer link of an MLAG pair could carry the traffic of a failure: ``topology.analysis.peer_links``.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.failure_flows import FailureFlows, FlowLoss
from benchconsole.topology.analysis.group_flows import MOST_GROUPS
from benchconsole.topology.analysis.network_names import NetworkNames
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.arrays import Indices
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.routing.network_choice import say_networks
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.graph_algorithms import find_components
from benchconsole.topology.tables.single_failures import (
    Case,
    Effect,
    FailureKind,
    Failures,
    list_device_failures,
    list_leg_failures,
    list_link_failures,
)
from benchconsole.topology.units import counted, network_rate, percent, ratio

MOST_ELEMENTS = 20_000
"""Elements up to which flows over each are thought of."""


@dataclass(frozen=True, slots=True)
class ElementLoss:
    """Elements that fail alike; ``role`` is that of a switch, or of both ends: ``chassis to leaf``.

    ``flows`` is what flows over one of them keep, None where they were not computed. ``sides`` are the nodes that send
    each other, of the first element; empty where the flows are those that cross the element. ``flat``: the elements
    join switches of one tier, so that ``effect`` says nothing but ``cut``. ``pieces`` with nodes are what the
    network of the first of several switches falls into without it. ``networks`` are those of the elements, none where
    it has only one, or the elements are in all.
    """

    kind: FailureKind
    role: str
    elements: Sequence[str]
    effect: Effect
    flows: FlowLoss | None = None
    sides: tuple[str, str] = ("", "")
    flat: bool = False
    pieces: int = 1
    networks: tuple[str, ...] = ()

    @property
    def redundant(self) -> bool | None:
        """Whether the rest carries on as before; None where that was not computed."""
        if self.effect.cut:
            return False
        if self.flows is not None and not self.flows.is_idle:
            return self.flows.keeps_all
        if self.flat or self.kind is FailureKind.GATEWAY:
            return None if self.flows is None else True
        return self.effect.redundant


def analyse_redundancy(cabled: Tables) -> tuple[ElementLoss, ...]:
    """The effect of each single failure, switches first."""
    failures = Failures(cabled)
    links = (*list_link_failures(failures), *list_leg_failures(failures))
    merged = (*_merge_cases(list_device_failures(failures), cabled.devices), *_merge_cases(links, cabled.links))
    by_tiers: tuple[ElementLoss, ...] = tuple(_part_networks(cabled, merged))
    by_tiers = tuple(
        replace(each, pieces=_count_pieces(cabled, each.elements[0])) if _is_cut_vertex(each) else each
        for each in by_tiers
    )
    elements = sum(len(each.elements) for each in by_tiers)
    if len(cabled.node_groups) > MOST_GROUPS or elements > MOST_ELEMENTS:
        return by_tiers
    flows = FailureFlows(cabled.fabric)
    known = flows.list_losses(
        [(each.kind, name) for each in by_tiers if not _is_plain_leg(each) for name in each.elements]
    )
    return tuple(part for each in by_tiers for part in _divide(each, known, flows))


def _part_networks(cabled: Tables, losses: Iterable[ElementLoss]) -> Iterator[ElementLoss]:
    """The elements of each loss by their network."""
    names = NetworkNames(cabled.fabric)
    for loss in losses:
        if not names.has_several:
            yield loss
            continue
        for networks, elements in group_by_key((names.list_names(each), each) for each in loss.elements).items():
            yield replace(loss, elements=elements, networks=networks)


def _is_cut_vertex(loss: ElementLoss) -> bool:
    return loss.kind is FailureKind.SWITCH and loss.effect.cut > 0


def _is_plain_leg(loss: ElementLoss) -> bool:
    """Whether the loss of a leg cuts off its node, which says all."""
    return loss.kind is FailureKind.LEG and loss.effect.cut > 0


def _divide(
    loss: ElementLoss, known: Mapping[tuple[FailureKind, str], FlowLoss], flows: FailureFlows
) -> Iterator[ElementLoss]:
    """The elements of ``loss`` by what flows over them keep."""
    alike = group_by_key((known.get((loss.kind, name)), name) for name in loss.elements)
    for kept, names in alike.items():
        sided = kept is not None and not kept.is_idle and loss.kind in (FailureKind.LINK, FailureKind.MEMBER)
        sides = flows.list_sides(names[0]) if sided else ("", "")
        yield replace(loss, elements=tuple(names), flows=kept, sides=sides)


def _merge_cases(
    found: Iterable[tuple[Case, Indices]], name: Callable[[Indices], Sequence[str]]
) -> Iterator[ElementLoss]:
    """One entry for each case; where it was found several times, its elements in their order."""
    for (kind, role, effect), some in group_by_key(found).items():
        elements = some[0] if len(some) == 1 else np.sort(np.concatenate(some))
        low, _, high = role.partition(" to ")
        yield ElementLoss(kind, role, name(elements), effect, flat=low == high)


def _count_pieces(cabled: Tables, device: str) -> int:
    """The pieces with nodes into which the network of ``device`` falls without it."""
    graph, number = cabled.forwarding, cabled.index[device]
    dead, network = graph.vertex[number], cabled.uplinks.network
    kept = (graph.a != dead) & (graph.b != dead)
    label = find_components(len(graph.device), graph.a[kept], graph.b[kept])
    switches = np.unique(cabled.node_groups.switch)
    beside = switches[(network[switches] == network[number]) & (switches != number)]
    return len(np.unique(label[graph.vertex[beside]]))


def list_findings(losses: Sequence[ElementLoss]) -> Iterator[StaticFinding]:
    """Single points of failure, what is left of the rest, and nodes with one leg."""
    alone = {
        each.elements[0]: each.effect.cut
        for each in losses
        if _is_cut_vertex(each) and len(each.elements) == each.pieces == 1
    }
    only = group_by_key(
        (end, each.elements[0])
        for each in losses
        if each.kind is FailureKind.LINK and each.effect.cut and len(each.elements) == 1
        for end in each.elements[0].partition("/")[0].split("--")
        if alone.get(end) == each.effect.cut
    )
    said = {link for links in only.values() for link in links}
    for loss in losses:
        if loss.kind is FailureKind.LINK and loss.elements[0] in said:
            continue
        number, cut = len(loss.elements), loss.effect.cut
        devices = loss.kind in (FailureKind.SWITCH, FailureKind.GATEWAY)
        # Names of links do not fold: of these the first.
        where = fold_names(loss.elements) if devices else loss.elements[0]
        alike = f"{loss.role} {loss.kind}" if devices else f"{loss.kind} {loss.role}"
        title = f"the loss of {where}" if number == 1 else f"the loss of one {alike} of {number} ({where})"
        if loss.kind is FailureKind.LEG:
            if cut:
                have = "has" if number == 1 else "have"
                text = f"{counted(number, 'node')} {have} no second leg ({loss.role})"
                yield StaticFinding(Severity.NOTE, "single-leg", loss.elements[0], text)
        elif cut:
            network = f" from {say_networks(loss.networks)}" if loss.networks else ""
            text = f"{title} cuts off {counted(cut, 'node')}{network}"
            if loss.pieces > 1:
                outside = f"{counted(cut, 'node')} {'is' if cut == 1 else 'are'} outside the one that stays"
                text = f"{title} parts the fabric into {loss.pieces} pieces: {outside}"
            also = only.get(loss.elements[0], []) if number == 1 else []
            text += f", as does that of {', '.join(also)}" if also else ""
            yield StaticFinding(Severity.WARNING, "single-point-of-failure", where, text)
    yield from _list_degraded(losses)


def _list_degraded(losses: Sequence[ElementLoss]) -> Iterator[StaticFinding]:
    """Losses that cut nobody off and are not carried: of each kind and role the worst, and how many there are."""
    kinds = (FailureKind.SWITCH, FailureKind.GATEWAY, FailureKind.LINK, FailureKind.PEER)
    alike = group_by_key(
        ((loss.kind, loss.role), (loss, said))
        for loss in losses
        if loss.kind in kinds and not loss.effect.cut
        if (said := _describe_flows(loss.flows) if loss.flows is not None else _describe_tiers(loss))
    )
    for (kind, role), some in alike.items():
        loss, said = min(some, key=lambda each: _find_left(each[0]))
        number = sum(len(each.elements) for each, _ in some)
        where = loss.elements[0]
        if kind in (FailureKind.SWITCH, FailureKind.GATEWAY) and len(some) == 1:
            where = fold_names(loss.elements)
        name = f"{role} {kind}" if kind in (FailureKind.SWITCH, FailureKind.GATEWAY) else f"{kind} {role}"
        worst = "" if len(some) == 1 else "at worst "
        title = f"the loss of {where}" if number == 1 else f"the loss of one {name} of {number} ({worst}{where})"
        yield StaticFinding(Severity.NOTE, "degraded-by-one", where, f"{title} {said}")


def _find_left(loss: ElementLoss) -> float:
    """The least part that anything keeps."""
    flows = loss.flows
    if flows is None or not flows.before:
        return loss.effect.left
    return 0.0 if flows.lacks_peer_link else min(flows.share, flows.after / flows.before)


def _describe_flows(flows: FlowLoss) -> str:
    """The rates that flows over an element keep, in words; empty where they keep all."""
    if flows.is_idle or flows.keeps_all:
        return ""
    if flows.lacks_peer_link:
        return "leaves traffic at a switch of an MLAG pair that has no way on: no peer link is described"
    text = f"leaves the worst node {percent(flows.share)}" if flows.share < 1 else "leaves no node with less"
    if flows.after < flows.before:
        text = f"takes the flows over it from {network_rate(flows.before)} to {network_rate(flows.after)}"
        text += f", the worst node keeps {percent(flows.share)}" if flows.share < 1 else ""
    if flows.cut_before is not None and flows.cut_after is not None and flows.cut_after < flows.cut_before:
        text += (
            f"; between its sides {network_rate(flows.cut_before)} of capacity become {network_rate(flows.cut_after)}"
        )
    return text


def _describe_tiers(loss: ElementLoss) -> str:
    """The effect that tiers show, in words, for a fabric that is too large for flows over each element."""
    effect = loss.effect
    if loss.flat:
        return "is not computed: the fabric is too large for it, and tiers say nothing of cables inside one"
    if not effect.degraded:
        return ""
    text = f"degrades {counted(effect.degraded, 'node')}, the worst to {percent(effect.left)} of their capacity upward"
    if effect.ratio is not None and math.isinf(effect.ratio):
        return f"{text}; a switch is left without a way up"
    return text if effect.ratio is None else f"{text}; the worst oversubscription is {ratio(effect.ratio)}"
