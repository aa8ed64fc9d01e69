"""Oversubscription of a node's path through the whole fabric, from its cables to where all nodes meet.

The *ratio* of a way up is the product of max(1, down/up) of the switches below the top on it; the
worst way of each network is named. The product is folklore, exact only for uniform trees, so the
*fair* ratio stands beside it: what the legs of the worst node let it send over its max-min fair
share when every node of the network sends to the top at once (``topology.tables.fair_shares``, model
``fluid``, computed from the same tables). The top is defined in ``topology.tables.uplink_paths``; cables above
it only lead out of the fabric and are no part of the way. The capacity from one top switch to
another is a question of ``topology.analysis.bisection``.

A network is *flat* where some of its top switches are joined by nothing but cables of their own tier, as in a torus, a
dragonfly or between two sites. There a way upward is no way to the others, so neither product nor share says anything
of it: what each node gets when each sends to each at once stands in, by the engine of ``expect`` (payload).

A failure replaces the ratio of one switch on the way by that after the failure. A switch whose
last way up is gone goes over its cables to switches of its own tier, where these have one left.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.bottlenecks import find_joined_aside
from benchconsole.topology.analysis.group_flows import MOST_GROUPS, GroupFlows
from benchconsole.topology.analysis.oversubscription import WorstFailure, name_failures
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.arrays import Floats, Indices, sum_at
from benchconsole.topology.capacity.flow_groups import group_cabled_nodes
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.fair_shares import compute_fair_shares
from benchconsole.topology.tables.ratios import (
    Worst,
    divide,
    find_dead_switches,
    find_largest,
    find_worst,
    subtract_loss,
)
from benchconsole.topology.tables.uplink_paths import UplinkPaths
from benchconsole.topology.units import network_rate, ratio


@dataclass(frozen=True, slots=True)
class WorstPath:
    """A way up: a node, the switches from it to the top, and the product of their ratios."""

    node: str
    switches: tuple[str, ...]
    ratio: float


@dataclass(frozen=True, slots=True)
class Share:
    """The node that gets the least of what its legs carry: ``fair`` and ``legs`` in byte/s on the wire."""

    node: str
    legs: float
    fair: float

    @property
    def ratio(self) -> float:
        """legs : fair share."""
        return self.legs / self.fair if self.fair else np.inf


@dataclass(frozen=True, slots=True)
class EndToEnd:
    """One network, joined by forwarding nodes: how many nodes, its top, the worst way, share and single failures.

    ``flat`` are the top switches that only cables of their own tier join, none where the tiers hold; ``each_to_each``
    is then the node that gets least when each sends to each, None where too many flows would have to be routed.
    Failures are of one cable and of one switch, for the nodes that still reach the top (who does not:
    ``topology.analysis.redundancy``), None where no way would be left or there is nothing to fail.
    """

    nodes: int
    top: tuple[str, ...]
    worst: WorstPath
    share: Share
    cable: WorstFailure | None
    switch_lost: WorstFailure | None
    flat: tuple[str, ...] = ()
    each_to_each: Share | None = None

    @property
    def ratio(self) -> float | None:
        """The product on the worst way; None of a flat network, where it says nothing."""
        return None if self.flat else self.worst.ratio

    @property
    def told_share(self) -> Share | None:
        """The share that holds for this network: toward the top, of a flat one each to each, None where not known."""
        return self.each_to_each if self.flat else self.share


@dataclass(frozen=True, slots=True)
class _Products:
    """Per device: the worst product below it (0 where no node is), its own ratio, the worst product above it."""

    below: Floats
    own: Floats
    above: Floats

    @property
    def onward(self) -> Floats:
        """From the device itself to the top."""
        return self.own * self.above


def analyse_end_to_end(cabled: Tables) -> tuple[EndToEnd, ...]:
    """The worst way, share and failures of each network that has nodes, the largest first."""
    uplinks, groups = cabled.uplinks, cabled.node_groups
    if not len(groups):
        return ()
    products = _multiply_ratios(cabled)
    legs = np.flatnonzero(groups.capacity > 0)
    size = len(uplinks.meet)
    network = uplinks.network[groups.switch[legs]]
    worst, at = find_largest(products.onward[groups.switch[legs]], network, size)
    shares = compute_fair_shares(cabled)
    _, least = find_largest(divide(shares.own, shares.rate)[uplinks.sender[legs]], network, size)
    cables = _analyse_cables(cabled, products, worst)
    switches = _analyse_switches(cabled, products, worst)
    count = sum_at(groups.nodes[uplinks.group], uplinks.inside, size)
    aside = find_joined_aside(cabled)
    member = np.zeros((len(groups) + 1, size), bool)
    member[uplinks.group, uplinks.inside] = True
    member = member[groups.group] if len(aside) else member[:0]
    top = np.flatnonzero(uplinks.top & (cabled.tier == uplinks.meet[uplinks.network]))
    found = []
    for each in np.flatnonzero(at >= 0).tolist():
        leg, poorest = legs[at[each]], uplinks.sender[legs[least[each]]]
        node = cabled.names[groups.first[groups.owner[leg]]]
        way = WorstPath(node, _find_worst_path(cabled, products, int(groups.switch[leg])), float(worst[each]))
        name = cabled.names[groups.first[uplinks.group[poorest]]]
        share = Share(name, float(shares.own[poorest]), float(shares.rate[poorest]))
        tops = cabled.devices(top[uplinks.network[top] == each])
        beside = cabled.devices(aside[uplinks.network[aside] == each])
        nodes = frozenset(cabled.devices(np.flatnonzero(member[:, each]))) if beside else frozenset()
        found.append(
            EndToEnd(
                int(count[each]), tops, way, share, cables[each], switches[each], beside,
                _share_each_to_each(cabled, nodes) if beside else None,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda each: -each.nodes))


def _share_each_to_each(cabled: Tables, nodes: frozenset[str]) -> Share | None:
    """The node of ``nodes`` that sends or receives the least of what its legs carry when each sends to each."""
    fabric = cabled.fabric
    if len(cabled.node_groups) > MOST_GROUPS:
        return None
    groups = [group for group in group_cabled_nodes(fabric) if group[0] in nodes]
    if sum(map(len, groups)) < 2 or len(groups) > MOST_GROUPS:
        return None
    flows = GroupFlows(fabric, groups)
    numbers = range(len(groups))
    pairs = tuple((one, other) for one in numbers for other in numbers if flows.count((one, other)))
    rates = flows.compute_rates(pairs) * [flows.count(pair) for pair in pairs]
    shares = []
    for number, group in enumerate(groups):
        legs = sum(map(fabric.payload, fabric.active_legs(group[0])))
        for end in (0, 1):
            total = sum(rate for pair, rate in zip(pairs, rates.tolist(), strict=True) if pair[end] == number)
            shares.append(Share(group[0], legs, total / len(group)))
    return max(shares, key=lambda share: share.ratio)


def _multiply_ratios(cabled: Tables) -> _Products:
    uplinks, groups = cabled.uplinks, cabled.node_groups
    own = uplinks.ratio()
    above, below = np.ones(len(own)), np.zeros(len(own))
    below[groups.switch[groups.capacity > 0]] = 1.0
    for batch in reversed(uplinks.batches):
        high = uplinks.high[batch]
        np.maximum.at(above, uplinks.low[batch], own[high] * above[high])
    for batch in uplinks.batches:
        low = uplinks.low[batch]
        np.maximum.at(below, uplinks.high[batch], below[low] * own[low])
    return _Products(below, own, above)


def _find_worst_path(cabled: Tables, products: _Products, switch: int) -> tuple[str, ...]:
    """The switches of the worst way up from ``switch``."""
    uplinks, found = cabled.uplinks, [switch]
    while True:
        ways = np.flatnonzero(uplinks.low == found[-1])
        if not len(ways):
            return cabled.devices(np.array(found))
        found.append(int(uplinks.high[ways[np.argmax(products.onward[uplinks.high[ways]])]]))


def _name_failures(
    worst: Floats, products: tuple[Floats, Floats], at: Indices, element: Indices, names: Sequence[str]
) -> list[WorstFailure | None]:
    """Per network what makes most of ``worst``; ``products`` are those below and onward without each ``element``."""
    below, onward = products
    found = find_worst(below * np.where(np.isfinite(onward), onward, 0.0), at, element, len(worst))
    return name_failures(Worst(np.maximum(found.ratio, worst), found.element), names)


def _analyse_cables(cabled: Tables, products: _Products, worst: Floats) -> list[WorstFailure | None]:
    """Per network what the loss of one member cable makes of its worst way."""
    uplinks = cabled.uplinks
    inner = np.flatnonzero((cabled.trunks.of >= 0) & (cabled.usable > 0))
    lost, place = find_largest(cabled.fastest[inner], cabled.trunks.of[inner], len(cabled.trunks.low))
    low = uplinks.low
    left = subtract_loss(uplinks.up[low], lost[uplinks.trunk])
    onward = np.maximum(divide(uplinks.down[low], left), 1.0) * products.above[low]
    onward = np.where(left > 0, onward, _move_aside(uplinks, products, lost=False)[low])
    element = inner[place[uplinks.trunk]]
    return _name_failures(worst, (products.below[low], onward), uplinks.network[low], element, cabled.ids)


def _analyse_switches(cabled: Tables, products: _Products, worst: Floats) -> list[WorstFailure | None]:
    """Per network what the loss of one switch makes of the worst way of the nodes that it leaves connected."""
    uplinks, size = cabled.uplinks, len(cabled.names)
    # Without its best next switch a device goes on by the second best; -1 in ``first`` takes the appended entry.
    best, first = find_largest(products.onward[uplinks.high], uplinks.low, size)
    others = np.flatnonzero(first[uplinks.low] != np.arange(len(uplinks.low)))
    second, _ = find_largest(products.onward[uplinks.high[others]], uplinks.low[others], size)
    dead = find_dead_switches(cabled, uplinks.low, uplinks.high, uplinks.capacity)
    at = dead.at
    top = np.append(uplinks.high, -1)[first[at]]
    above = np.where(dead.switch == top, second[at], np.maximum(best[at], 1.0))
    left = subtract_loss(uplinks.up[at], dead.less)
    onward = np.maximum(divide(uplinks.down[at] + dead.more, left), 1.0) * np.maximum(above, 1.0)
    onward = np.where(left > 0, onward, _move_aside(uplinks, products, lost=True)[at])
    onward[uplinks.up[at] == 0] = 1.0  # at the top the path ends
    # Nodes that come over by a standby leg begin their path here, also where no node was before.
    below = np.where(dead.more > 0, np.maximum(products.below[at], 1.0), products.below[at])
    return _name_failures(worst, (below, onward), uplinks.network[at], dead.switch, cabled.names)


def _move_aside(uplinks: UplinkPaths, products: _Products, *, lost: bool) -> Floats:
    """Per device the product of its way up over cables of its own tier; infinite where there is none."""
    ways = uplinks.aside
    capacity = ways.beside(len(uplinks.up), lost=lost)
    beyond, _ = find_largest(products.onward[ways.high] * (ways.only | (not lost)), ways.low, len(uplinks.up))
    found = np.full(len(capacity), np.inf)
    has = capacity > 0
    found[has] = np.maximum(divide(uplinks.down[has], capacity[has]), 1.0) * beyond[has]
    return found


def list_findings(networks: Iterable[EndToEnd]) -> Iterator[StaticFinding]:
    """The way up of each network that is oversubscribed, and where the product is not the fair share."""
    for network in networks:
        way, share = network.worst, network.share
        if network.flat:
            yield _describe_flat(network)
            continue
        if way.ratio > 1:
            text = f"{way.node} to {way.switches[-1]}: {ratio(way.ratio)} end to end, by {', '.join(way.switches)}"
            yield StaticFinding(Severity.WARNING, "end-to-end", way.node, text)
        if not np.isclose(share.ratio, way.ratio, rtol=1e-6):
            text = (
                f"when all {network.nodes} nodes send to {fold_names(network.top)}, {share.node} gets "
                f"{network_rate(share.fair)} of {network_rate(share.legs)}: {ratio(share.ratio)}, "
                f"not {ratio(way.ratio)} as the product says"
            )
            yield StaticFinding(Severity.NOTE, "not-uniform", share.node, text)


def _describe_flat(network: EndToEnd) -> StaticFinding:
    where = fold_names(network.flat)
    text = (
        f"{where} are joined by cables of their own tier only, so ratios of tiers say nothing of the way between them"
    )
    share = network.each_to_each
    if share is None:
        text += "; too many flows to say what each node gets of it"
        return StaticFinding(Severity.WARNING, "no-tiers", where, text)
    text += (
        f"; when each node sends to each at once, {share.node} gets {network_rate(share.fair)} of "
        f"{network_rate(share.legs)} of payload: {ratio(share.ratio)} (model fluid, fewest hops)"
    )
    severity = Severity.WARNING if share.ratio > 1 + 1e-6 else Severity.NOTE
    return StaticFinding(severity, "no-tiers", where, text)
