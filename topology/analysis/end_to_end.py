"""Owns how far a node's way through the whole fabric is oversubscribed, from its cables to where all nodes meet.

The *ratio* of a way up is the product of max(1, down/up) of the switches below the top on it; the
worst way of each network is named. The product is folklore, exact only for uniform trees, so the
*fair* ratio stands beside it: what the legs of the worst node let it send over its max-min fair
share when every node of the network sends to the top at once (``topology.tables.upward``, model
``fluid``, computed from the same tables). The top is defined in ``topology.tables.climb``; cables above
it only lead out of the fabric and are no part of the way. What flows from one top switch to
another is a question of ``topology.analysis.bisection``.

A failure replaces the ratio of one switch on the way by that after the failure. A switch whose
last way up is gone goes over its cables to switches of its own tier, where these have one left.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topology.analysis.finding import Finding, Severity
from topology.analysis.oversubscription import Failure
from topology.analysis.wording import named
from topology.maxmin import Floats, Indices
from topology.model import Fabric
from topology.tables import Tables, summed, tables
from topology.tables.climb import Climb
from topology.tables.ratios import dead_switches, largest, quotient, remaining
from topology.tables.upward import fair_shares
from topology.units import network_rate
from topology.units import ratio as shown


@dataclass(frozen=True, slots=True)
class Way:
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
    """One network: how many nodes, its top, the worst way and the worst share, and the worst single failures.

    ``exits`` is what leads out above the top, byte/s. Failures are of one cable and of one switch,
    for the nodes that still reach the top (who does not: ``topology.analysis.redundancy``), None
    where no way would be left or there is nothing to fail.
    """

    nodes: int
    top: tuple[str, ...]
    worst: Way
    share: Share
    exits: float
    cable: Failure | None
    switch_lost: Failure | None


@dataclass(frozen=True, slots=True)
class Report:
    """Every network with nodes, the one with most nodes first; networks are joined by forwarding nodes."""

    networks: tuple[EndToEnd, ...]


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


def end_to_end(fabric: Fabric, *, cabled: Tables | None = None) -> Report:
    """The worst way, the worst share and the worst failures of each network of ``fabric``."""
    cabled = cabled or tables(fabric)
    climb, groups = cabled.climb, cabled.node_groups
    if not len(groups):
        return Report(())
    products = _products(cabled)
    legs = np.flatnonzero(groups.capacity > 0)
    size = len(climb.meet)
    network = climb.network[groups.switch[legs]]
    worst, at = largest(products.onward[groups.switch[legs]], network, size)
    shares = fair_shares(cabled)
    _, least = largest(quotient(shares.own, shares.rate)[climb.sender[legs]], network, size)
    cables = _cables(cabled, products, worst)
    switches = _switches(cabled, products, worst)
    count = summed(groups.nodes[climb.group], climb.inside, size)
    exits = summed(cabled.trunks.capacity[climb.exits], climb.network[cabled.trunks.low[climb.exits]], size)
    top = np.flatnonzero(climb.top & (cabled.tier == climb.meet[climb.network]))
    found = []
    for each in np.flatnonzero(at >= 0).tolist():
        leg, poorest = legs[at[each]], climb.sender[legs[least[each]]]
        node = cabled.names[groups.first[groups.owner[leg]]]
        way = Way(node, _way(cabled, products, int(groups.switch[leg])), float(worst[each]))
        name = cabled.names[groups.first[climb.group[poorest]]]
        share = Share(name, float(shares.own[poorest]), float(shares.rate[poorest]))
        tops = cabled.devices(top[climb.network[top] == each])
        found.append(EndToEnd(int(count[each]), tops, way, share, float(exits[each]), cables[each], switches[each]))
    return Report(tuple(sorted(found, key=lambda each: -each.nodes)))


def _products(cabled: Tables) -> _Products:
    climb, groups = cabled.climb, cabled.node_groups
    own = climb.ratio()
    above, below = np.ones(len(own)), np.zeros(len(own))
    below[groups.switch[groups.capacity > 0]] = 1.0
    for batch in reversed(climb.batches):
        high = climb.high[batch]
        np.maximum.at(above, climb.low[batch], own[high] * above[high])
    for batch in climb.batches:
        low = climb.low[batch]
        np.maximum.at(below, climb.high[batch], below[low] * own[low])
    return _Products(below, own, above)


def _way(cabled: Tables, products: _Products, switch: int) -> tuple[str, ...]:
    """The switches of the worst way up from ``switch``."""
    climb, found = cabled.climb, [switch]
    while True:
        ways = np.flatnonzero(climb.low == found[-1])
        if not len(ways):
            return cabled.devices(np.array(found))
        found.append(int(climb.high[ways[np.argmax(products.onward[climb.high[ways]])]]))


def _failures(
    worst: Floats, after: tuple[Floats, Indices], element: Indices, names: tuple[str, ...]
) -> list[Failure | None]:
    ratio, index = np.maximum(after[0], worst), after[1]
    return [
        None if i < 0 else Failure(names[element[i]], value)
        for value, i in zip(ratio.tolist(), index.tolist(), strict=True)
    ]


def _times(below: Floats, onward: Floats) -> Floats:
    """The product along a way; 0 where no node is below and where nothing leads on."""
    found: Floats = below * np.where(np.isfinite(onward), onward, 0.0)
    return found


def _cables(cabled: Tables, products: _Products, worst: Floats) -> list[Failure | None]:
    """Per network what the loss of one member cable makes of its worst way."""
    climb = cabled.climb
    inner = np.flatnonzero((cabled.trunks.of >= 0) & (cabled.usable > 0))
    lost, place = largest(cabled.fastest[inner], cabled.trunks.of[inner], len(cabled.trunks.low))
    low = climb.low
    left = remaining(climb.up[low], lost[climb.trunk])
    onward = np.maximum(quotient(climb.down[low], left), 1.0) * products.above[low]
    onward = np.where(left > 0, onward, _beside(climb, products, lost=False)[low])
    after = largest(_times(products.below[low], onward), climb.network[low], len(climb.meet))
    return _failures(worst, after, inner[place[climb.trunk]], cabled.ids)


def _switches(cabled: Tables, products: _Products, worst: Floats) -> list[Failure | None]:
    """Per network what the loss of one switch makes of the worst way of the nodes that it leaves connected."""
    climb, size = cabled.climb, len(cabled.names)
    best, first = largest(products.onward[climb.high], climb.low, size)
    others = np.flatnonzero(first[climb.low] != np.arange(len(climb.low)))
    second, _ = largest(products.onward[climb.high[others]], climb.low[others], size)
    dead = dead_switches(cabled, climb.low, climb.high, climb.capacity)
    at = dead.at
    top = np.append(climb.high, -1)[first[at]]
    above = np.where(dead.switch == top, second[at], np.maximum(best[at], 1.0))
    left = remaining(climb.up[at], dead.less)
    onward = np.maximum(quotient(climb.down[at] + dead.more, left), 1.0) * np.maximum(above, 1.0)
    onward = np.where(left > 0, onward, _beside(climb, products, lost=True)[at])
    onward[climb.up[at] == 0] = 1.0
    below = np.where(dead.more > 0, np.maximum(products.below[at], 1.0), products.below[at])
    after = largest(_times(below, onward), climb.network[at], len(climb.meet))
    return _failures(worst, after, dead.switch, cabled.names)


def _beside(climb: Climb, products: _Products, *, lost: bool) -> Floats:
    """Per device the product of its way up over cables of its own tier; infinite where there is none."""
    ways = climb.aside
    capacity = ways.beside(len(climb.up), lost=lost)
    beyond, _ = largest(products.onward[ways.high] * (ways.only | (not lost)), ways.low, len(climb.up))
    found = np.full(len(capacity), np.inf)
    has = capacity > 0
    found[has] = np.maximum(quotient(climb.down[has], capacity[has]), 1.0) * beyond[has]
    return found


def findings(fabric: Fabric, report: Report) -> list[Finding]:
    """The way up of each network that is oversubscribed, and where the product is not the fair share."""
    del fabric
    return [found for network in report.networks for found in _said(network)]


def _said(network: EndToEnd) -> Iterator[Finding]:
    way, share = network.worst, network.share
    if way.ratio > 1:
        text = f"{way.node} to {way.switches[-1]}: {shown(way.ratio)} end to end, by {', '.join(way.switches)}"
        yield Finding(Severity.WARNING, "end-to-end", way.node, text)
    if not np.isclose(share.ratio, way.ratio, rtol=1e-6):
        text = (
            f"when all {network.nodes} nodes send to {named(network.top)}, {share.node} gets "
            f"{network_rate(share.fair)} of {network_rate(share.legs)}: {shown(share.ratio)}, "
            f"not {shown(way.ratio)} as the product says"
        )
        yield Finding(Severity.NOTE, "not-uniform", share.node, text)
