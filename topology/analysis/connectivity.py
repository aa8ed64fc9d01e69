"""Devices that are cabled to nothing, to too little, or unlike their peers.

Islands: networks are what cables and forwarding nodes join; where no network holds every cabled node, some
nodes cannot reach others. Several networks that a forwarding gateway joins are one. A switch is missing a trunk
when more than half of its peers, or all but one, have it; peers are the switches of one role that share
switches of another role above them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.folded_names import fold_names
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.arrays import Indices
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import Tables, make_tables
from benchconsole.topology.tables.graph_algorithms import find_components
from benchconsole.topology.units import network_rate


@dataclass(frozen=True, slots=True)
class Island:
    """A network: its ``switches``, how many ``nodes`` have a cable in it, and those with none in the largest."""

    switches: Sequence[str]
    nodes: int
    outside: Sequence[str]


@dataclass(frozen=True, slots=True)
class MissingTrunk:
    """``switches`` lack a trunk to ``upper`` that ``having`` of ``peers`` switches have."""

    switches: tuple[str, ...]
    upper: str
    having: int
    peers: int


@dataclass(frozen=True, slots=True)
class ThinTrunk:
    """The trunk ``low`` to ``high`` carries ``capacity`` byte/s, most of its like ``usual``."""

    low: str
    high: str
    capacity: float
    usual: float


@dataclass(frozen=True, slots=True)
class MixedLag:
    """A LAG of members of different speeds: ``capacity`` is their sum, byte/s.

    ``even`` is what it carries when a hash gives each member the same: members times the
    slowest, which is full first while the others wait.
    """

    link: str
    members: tuple[float, ...]
    capacity: float

    @property
    def even(self) -> float:
        """Members times the slowest."""
        return len(self.members) * min(self.members)


@dataclass(frozen=True, slots=True)
class ConnectivityReport:
    """``islands`` is every network with nodes, the largest first; ``together`` whether it holds every cabled node.

    ``uncabled`` are devices without a cable (virtual machines use those of their host), ``unused``
    switches under which no node is, ``direct`` links between two nodes, which no switch routes.
    """

    islands: tuple[Island, ...]
    together: bool
    uncabled: tuple[str, ...]
    unused: tuple[str, ...]
    direct: tuple[str, ...]
    missing: tuple[MissingTrunk, ...]
    thin: tuple[ThinTrunk, ...]
    mixed: tuple[MixedLag, ...]


def analyse_connectivity(fabric: Fabric, *, cabled: Tables | None = None) -> ConnectivityReport:
    """What is not joined, not used or not symmetric in ``fabric``."""
    cabled = cabled or make_tables(fabric)
    islands = tuple(_find_islands(cabled))
    missing, thin = _find_asymmetric(cabled)
    kinds = [number for number, kind in enumerate(cabled.kinds) if kind.mixed]
    mixed = np.flatnonzero(np.isin(cabled.kind, kinds)) if kinds else np.zeros(0, np.intp)
    return ConnectivityReport(
        islands=islands,
        together=not any(len(island.outside) for island in islands),
        uncabled=_find_uncabled(cabled),
        unused=cabled.devices(_find_unused(cabled)),
        direct=tuple(cabled.links(np.flatnonzero(cabled.high < cabled.nodes))),
        missing=missing,
        thin=thin,
        mixed=tuple(
            MixedLag(cabled.ids[link], cabled.kinds[cabled.kind[link]].mixed, float(cabled.capacity[link]))
            for link in mixed.tolist()
        ),
    )


def _find_uncabled(cabled: Tables) -> tuple[str, ...]:
    size = len(cabled.names)
    cables = np.bincount(cabled.low, minlength=size) + np.bincount(cabled.high, minlength=size)
    machine = cabled.machines > 0
    machine[cabled.nodes :] = True
    return cabled.devices(np.flatnonzero((cables == 0) & machine))


def _find_islands(cabled: Tables) -> Iterator[Island]:
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
        yield Island(cabled.some(own), int(held[network]), cabled.some(outside))


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


def _find_asymmetric(cabled: Tables) -> tuple[tuple[MissingTrunk, ...], tuple[ThinTrunk, ...]]:
    trunks, tier = cabled.trunks, cabled.tier
    missing: list[MissingTrunk] = []
    thin: list[ThinTrunk] = []
    steps = tier[trunks.low] * (tier.max(initial=0) + 1) + tier[trunks.high]
    for step in np.unique(steps[tier[trunks.low] < tier[trunks.high]]).tolist():
        layer = np.flatnonzero(steps == step)
        ends = np.unique(np.concatenate((trunks.low[layer], trunks.high[layer])))
        low, high = np.searchsorted(ends, trunks.low[layer]), np.searchsorted(ends, trunks.high[layer])
        label = find_components(len(ends), low, high)
        missing += _find_missing(cabled, ends, (low, high, label))
        thin += _find_thin(cabled, layer, label[low])
    return tuple(missing), tuple(thin)


def _find_missing(cabled: Tables, ends: Indices, layer: tuple[Indices, Indices, Indices]) -> Iterator[MissingTrunk]:
    """What switches lack in one layer, whose devices are ``ends`` and whose trunks run from low to high."""
    low, high, label = layer
    lower = np.unique(low)
    peers = np.bincount(label[lower], minlength=len(ends))[label]
    having = np.bincount(high, minlength=len(ends))
    upper = np.unique(high)
    usual = (2 * having[upper] > peers[upper]) | (having[upper] == peers[upper] - 1)
    for each in upper[usual & (having[upper] < peers[upper])].tolist():
        without = np.setdiff1d(lower[label[lower] == label[each]], low[high == each])
        names = cabled.devices(ends[without])
        yield MissingTrunk(names, cabled.names[ends[each]], int(having[each]), int(peers[each]))


def _find_thin(cabled: Tables, layer: Indices, label: Indices) -> Iterator[ThinTrunk]:
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
        low, high = cabled.trunks.low[layer[each]], cabled.trunks.high[layer[each]]
        yield ThinTrunk(cabled.names[low], cabled.names[high], float(capacity[each]), float(usual[label[each]]))


def list_findings(report: ConnectivityReport) -> list[StaticFinding]:
    """One sentence for each thing that is not joined, not used or not symmetric."""
    return [*_describe_islands(report), *_describe_devices(report), *_describe_trunks(report)]


def _describe_islands(report: ConnectivityReport) -> Iterator[StaticFinding]:
    for island in report.islands:
        if len(island.outside):
            where = fold_names(island.outside)
            text = f"{where} cannot reach the {report.islands[0].nodes:,} nodes around {report.islands[0].switches[0]}"
            yield StaticFinding(Severity.WARNING, "island", where, text)


def _describe_devices(report: ConnectivityReport) -> Iterator[StaticFinding]:
    for names, code, what in (
        (report.uncabled, "no-cable", "no cable"),
        (report.unused, "no-node-below", "no node below"),
    ):
        if names:
            where = fold_names(names)
            verb = "has" if len(names) == 1 else "have"
            yield StaticFinding(Severity.WARNING, code, where, f"{where} {verb} {what}")
    for link in report.direct:
        text = f"{link} joins two nodes without a switch: no path of the fabric uses it"
        yield StaticFinding(Severity.NOTE, "node-to-node", link, text)


def _describe_trunks(report: ConnectivityReport) -> Iterator[StaticFinding]:
    for lack in report.missing:
        where = fold_names(lack.switches)
        text = f"{where} is not cabled to {lack.upper}, {lack.having} of its {lack.peers - 1} peers are"
        if len(lack.switches) > 1:
            text = f"{where} are not cabled to {lack.upper}, the other {lack.having} of {lack.peers} are"
        yield StaticFinding(Severity.WARNING, "missing-trunk", where, text)
    for trunk in report.thin:
        less, usual = network_rate(trunk.capacity), network_rate(trunk.usual)
        text = f"{trunk.low} to {trunk.high} carries {less}, most of its like {usual}"
        yield StaticFinding(Severity.WARNING, "thin-trunk", trunk.low, text)
    for lag in report.mixed:
        speeds = " + ".join(network_rate(member) for member in lag.members)
        text = (
            f"{lag.link} is {network_rate(lag.capacity)} ({speeds}); "
            f"a hash that gives each member the same fills it at {network_rate(lag.even)}"
        )
        yield StaticFinding(Severity.WARNING, "mixed-lag", lag.link, text)
