"""Devices that are cabled to nothing, to too little, or unlike their peers.

Islands: networks are what cables and forwarding nodes join; where no network holds every cabled node, some
nodes cannot reach others. Several networks that a forwarding gateway joins are one. A switch is missing a trunk
when more than half of its peers, or all but one, have it; peers are the switches of one role that share
switches of another role above them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.arrays import Indices
from benchconsole.topology.tables.cable_tables import ChosenNames
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.graph_algorithms import find_components
from benchconsole.topology.units import network_rate


@dataclass(frozen=True, slots=True)
class Island:
    """A network: its ``switches``, how many ``nodes`` have a cable in it, and those with none in the largest."""

    switches: Sequence[str]
    nodes: int
    outside: Sequence[str]


def check_connectivity(cabled: Tables) -> list[StaticFinding]:
    """One sentence for each thing that is not joined, not used or not symmetric."""
    return [
        *_describe_islands(find_islands(cabled)),
        *_describe_devices(cabled),
        *_find_asymmetric(cabled),
        *_find_mixed(cabled),
    ]


def find_islands(cabled: Tables) -> Iterator[Island]:
    """Every network with nodes, the largest first."""
    uplinks, groups = cabled.uplinks, cabled.node_groups
    if not len(groups):
        return
    size = len(uplinks.meet)
    held = np.bincount(uplinks.inside, weights=groups.nodes[uplinks.group], minlength=size)
    order = np.argsort(-held, kind="stable")
    largest = int(order[0])
    inside = np.zeros((2, len(groups) + 1), bool)
    inside[0, uplinks.group[uplinks.inside == largest]] = True
    switches = uplinks.network[cabled.nodes :]
    for network in order[held[order] > 0].tolist():
        inside[1] = False
        inside[1, uplinks.group[uplinks.inside == network]] = True
        outside = np.flatnonzero(inside[1, groups.group] & ~inside[0, groups.group])
        own = cabled.nodes + np.flatnonzero(switches == network)
        yield Island(ChosenNames(cabled.names, own), int(held[network]), ChosenNames(cabled.names, outside))


def _find_unused(cabled: Tables) -> Indices:
    """The switches that no node reaches by going up."""
    trunks, tier = cabled.trunks, cabled.tier
    used = np.zeros(len(tier), bool)
    used[cabled.node_groups.switch] = True
    for step in np.unique(tier[cabled.nodes :]).tolist():
        rising = (tier[trunks.low] == step) & (tier[trunks.high] > step)
        used[trunks.high[rising & used[trunks.low]]] = True
    used[: cabled.nodes] = True
    return np.flatnonzero(~used)


def _describe_islands(islands: Iterable[Island]) -> Iterator[StaticFinding]:
    largest = None
    said: set[str] = set()
    for island in islands:
        largest = largest or island
        # Nodes with legs into several small islands are outside by each of them.
        fresh = [name for name in island.outside if name not in said]
        said.update(fresh)
        if fresh:
            where = fold_names(fresh)
            text = f"{where} cannot reach the {largest.nodes:,} nodes around {largest.switches[0]}"
            yield StaticFinding(Severity.WARNING, "island", where, text)


def _describe_devices(cabled: Tables) -> Iterator[StaticFinding]:
    cables = np.bincount(np.concatenate((cabled.low, cabled.high)), minlength=len(cabled.names))
    # Virtual machines use the cables of their host.
    own = np.append(cabled.machines[: cabled.nodes] > 0, np.ones(len(cabled.names) - cabled.nodes, bool))
    for devices, code, lacking in (
        (np.flatnonzero((cables == 0) & own), "no-cable", "no cable"),
        (_find_unused(cabled), "no-node-below", "no node below"),
    ):
        names = cabled.devices(devices)
        if names:
            where = fold_names(names)
            verb = "has" if len(names) == 1 else "have"
            yield StaticFinding(Severity.WARNING, code, where, f"{where} {verb} {lacking}")
    links = cabled.links(np.flatnonzero(cabled.high < cabled.nodes))
    if links:
        several = (
            f"{links[0]} and {len(links) - 1:,} more join two nodes each without a switch: no path of the fabric uses"
        )
        one = f"{links[0]} joins two nodes without a switch: no path of the fabric uses it"
        yield StaticFinding(Severity.NOTE, "node-to-node", links[0], one if len(links) == 1 else f"{several} them")


def _find_asymmetric(cabled: Tables) -> list[StaticFinding]:
    """Trunks that switches lack, then trunks that are thinner than their like."""
    trunks, tier = cabled.trunks, cabled.tier
    missing: list[StaticFinding] = []
    thin: list[StaticFinding] = []
    steps = tier[trunks.low] * (tier.max(initial=0) + 1) + tier[trunks.high]
    for step in np.unique(steps[tier[trunks.low] < tier[trunks.high]]).tolist():
        layer = np.flatnonzero(steps == step)
        ends = np.unique(np.concatenate((trunks.low[layer], trunks.high[layer])))
        low, high = np.searchsorted(ends, trunks.low[layer]), np.searchsorted(ends, trunks.high[layer])
        label = find_components(len(ends), low, high)
        missing += _find_missing(cabled, ends, (low, high, label))
        thin += _find_thin(cabled, layer, label[low])
    return missing + thin


def _find_missing(cabled: Tables, ends: Indices, layer: tuple[Indices, Indices, Indices]) -> Iterator[StaticFinding]:
    """Links that switches lack in one layer, whose devices are ``ends`` and whose trunks run from low to high."""
    low, high, label = layer
    lower = np.unique(low)
    peers = np.bincount(label[lower], minlength=len(ends))[label]
    having = np.bincount(high, minlength=len(ends))
    upper = np.unique(high)
    usual = (2 * having[upper] > peers[upper]) | (having[upper] == peers[upper] - 1)
    for each in upper[usual & (having[upper] < peers[upper])].tolist():
        names = cabled.devices(ends[np.setdiff1d(lower[label[lower] == label[each]], low[high == each])])
        where, missed = fold_names(names), cabled.names[ends[each]]
        text = f"{where} is not cabled to {missed}, {having[each]} of its {peers[each] - 1} peers are"
        if len(names) > 1:
            text = f"{where} are not cabled to {missed}, the other {having[each]} of {peers[each]} are"
        yield StaticFinding(Severity.WARNING, "missing-trunk", where, text)


def _find_thin(cabled: Tables, layer: Indices, label: Indices) -> Iterator[StaticFinding]:
    """Trunks of one layer with less than what more than half of the trunks among the same switches have."""
    capacity = cabled.trunks.capacity[layer]
    rates, rate = np.unique(capacity, return_inverse=True)
    if len(rates) < 2:
        return
    pairs, count = np.unique(label * len(rates) + rate, return_counts=True)
    usual = np.zeros(int(label.max()) + 1)
    total = np.bincount(label)
    most = 2 * count > total[pairs // len(rates)]
    usual[pairs[most] // len(rates)] = rates[pairs[most] % len(rates)]
    for each in np.flatnonzero(capacity < usual[label]).tolist():
        low, high = (cabled.names[ends[layer[each]]] for ends in (cabled.trunks.low, cabled.trunks.high))
        less, more = network_rate(capacity[each]), network_rate(usual[label[each]])
        text = f"{low} to {high} carries {less}, most of its like {more}"
        yield StaticFinding(Severity.WARNING, "thin-trunk", low, text)


def _find_mixed(cabled: Tables) -> Iterator[StaticFinding]:
    """LAGs of members of different speeds: the slowest is full first while the others wait."""
    kinds = [number for number, kind in enumerate(cabled.kinds) if kind.mixed]
    for link in np.flatnonzero(np.isin(cabled.kind, kinds)).tolist() if kinds else ():
        members = cabled.kinds[cabled.kind[link]].mixed
        text = (
            f"{cabled.ids[link]} is {network_rate(cabled.capacity[link])} ({' + '.join(map(network_rate, members))}); "
            f"a hash that gives each member the same fills it at {network_rate(len(members) * min(members))}"
        )
        yield StaticFinding(Severity.WARNING, "mixed-lag", cabled.ids[link], text)
