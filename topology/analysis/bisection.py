"""Cuts: how much two sets of devices can send each other at most, and how much each tier lets through.

A cut is an *upper bound*. It is what fits through the narrowest place when everything may be routed anywhere; what
flows under the routing that is there can be less (Jyothi, Singla, Godfrey and Kolla, SC'16). Bisection bandwidth (Dally
and Towles, Principles and Practices of Interconnection Networks, section 3.2) is the least cut between halves of the
nodes; ``topology.analysis.halves`` finds the halves, which are named. Byte/s on the wire in one direction, usable
cables only. Where a ceiling inside a device passes less than its cables, cuts count it
(``topology.analysis.ceiling_cuts``); the halves are those that part the least cables, and what leads up from a tier
counts cables.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.ceiling_cuts import find_limited_cut, has_narrow_ceilings
from benchconsole.topology.analysis.halves import find_halves
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.arrays import Floats, Indices, sum_at
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.ceiling import Ceiling
from benchconsole.topology.model.fabric import NodeId, SwitchRole
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.model.network import NetworkRole
from benchconsole.topology.tables.cable_tables import ChosenNames
from benchconsole.topology.tables.fabric_tables import Tables, make_tables
from benchconsole.topology.tables.minimum_cut import find_minimum_cut
from benchconsole.topology.units import counted, network_rate


@dataclass(frozen=True, slots=True)
class CutCables:
    """The cables of a cut between devices of two roles (``node`` for a node)."""

    low: str
    high: str
    cables: int
    capacity: float

    def __str__(self) -> str:
        return f"{counted(self.cables, 'cable')} {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class CutCeilings:
    """Equal ceilings inside devices of one role (``low``; ``node`` for nodes) that a cut passes."""

    low: str
    name: str
    devices: int
    capacity: float

    def __str__(self) -> str:
        of = "node" if self.low == "node" else f"{self.low} switch"
        several = "" if self.devices == 1 else "s" if self.low == "node" else "es"
        return f"{self.name} of {self.devices:,} {of}{several}"


@dataclass(frozen=True, slots=True)
class FabricCut:
    """The least capacity between two sets of devices, in one direction: an upper bound of what they can exchange.

    ``near`` and ``far`` count the nodes on each side (0 where only switches were named), virtual ones with their hosts;
    ``where`` are the cables of the narrowest place, ``ceilings`` those inside devices. ``sides`` are the machines of
    both sides, ``exact`` whether no other halves have less between them (of named sides always).
    """

    bound: float
    near: int
    far: int
    where: tuple[CutCables, ...]
    sides: tuple[Sequence[str], Sequence[str]] = ((), ())
    exact: bool = True
    ceilings: tuple[CutCeilings, ...] = ()

    @property
    def places(self) -> tuple[CutCables | CutCeilings, ...]:
        """All that the cut passes."""
        return *self.where, *self.ceilings


@dataclass(frozen=True, slots=True)
class TierCut:
    """All ways up of the largest network that lead from ``below`` (a role, or ``node``) and under it to above it.

    Byte/s. Two parts that leave everything under one such switch together exchange at most ``bound``,
    because one of the two has no more than half of the ways. These need not be halves of the nodes.
    """

    below: str
    up: float

    @property
    def bound(self) -> float:
        """Half of ``up``."""
        return self.up / 2


@dataclass(frozen=True, slots=True)
class BisectionReport:
    """The cut between the halves of ``fabric`` (None with ``refused``, the reason), and at each tier."""

    fabric: str
    halves: FabricCut | None
    refused: str
    tiers: tuple[TierCut, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a cut: forwarding devices as vertices, and how many nodes of each node group."""

    vertices: Indices
    nodes: Indices
    machines: int


def analyse_bisection(cabled: Tables) -> BisectionReport:
    """The halves with the least capacity between them, and the tiers; without networks for management.

    Flows for data never take these, so their cables would only be added to what the others carry.
    """
    cabled = _leave_management(cabled)
    tiers, name = tuple(_cut_tiers(cabled)), cabled.fabric.name
    halves = find_halves(cabled)
    if halves is None:
        return BisectionReport(name, None, "fewer than two nodes have a cable to a switch", tiers)
    try:
        cut = _cut(cabled, halves.near, halves.far)
    except ArithmeticError as error:
        return BisectionReport(name, None, str(error), tiers)
    sides = (ChosenNames(cabled.names, halves.near), ChosenNames(cabled.names, halves.far))
    exact = halves.exact and not has_narrow_ceilings(cabled.fabric)
    return BisectionReport(name, replace(cut, sides=sides, exact=exact), "", tiers)


def _leave_management(cabled: Tables) -> Tables:
    """The tables without the links of networks for management, where other links are left."""
    fabric = cabled.fabric
    names = {name for name, network in fabric.networks.items() if network.role is NetworkRole.MANAGEMENT}
    links = [link.id for link in fabric.links.values() if link.network in names] if names else []
    return make_tables(remove_elements(fabric, links=links)) if 0 < len(links) < len(fabric.links) else cabled


def find_cut(cabled: Tables, near: Collection[str], far: Collection[str]) -> FabricCut:
    """The least capacity between the devices named ``near`` and those named ``far``.

    A virtual machine stands for its host. Raises SelectionError for an empty set, a name that is no device, a device on
    both sides and a node without a cable; ArithmeticError where the certificate of a cut with ceilings fails.
    """
    one, other = (_number_devices(cabled, names) for names in (near, far))
    both = np.intersect1d(one, other)
    if len(both):
        raise SelectionError(f"{cabled.names[both[0]]!r} is on both sides of the cut")
    return _cut(cabled, one, other)


def _number_devices(cabled: Tables, names: Collection[str]) -> Indices:
    """The devices of one side, hosts for their virtual machines."""
    found = set()
    for name in names:
        node = cabled.fabric.nodes.get(NodeId(name))
        number = cabled.index.get(node.host if node is not None and node.host is not None else name)
        if number is None:
            raise SelectionError(f"{name!r} is no device of the fabric")
        if number < cabled.nodes and cabled.node_groups.group[number] < 0:
            raise SelectionError(f"{name!r} has no cable to a switch")
        found.add(number)
    if not found:
        raise SelectionError("an empty side of a cut, expected devices on both")
    return np.array(sorted(found), np.intp)


def _make_side(cabled: Tables, devices: Indices) -> _Side:
    groups = cabled.node_groups
    forwarding = cabled.forwards[devices]
    nodes = devices[devices < cabled.nodes]
    return _Side(
        cabled.forwarding.vertex[devices[forwarding]],
        np.bincount(groups.group[devices[~forwarding]], minlength=len(groups)),
        int(cabled.machines[nodes].sum()),
    )


def _cut(cabled: Tables, near: Indices, far: Indices) -> FabricCut:
    if has_narrow_ceilings(cabled.fabric):
        return _cut_ceilings(cabled, near, far)
    return _cut_cables(cabled, _make_side(cabled, near), _make_side(cabled, far))


def _cut_ceilings(cabled: Tables, near: Indices, far: Indices) -> FabricCut:
    marks = [np.zeros(len(cabled.names), bool) for _ in range(2)]
    for mark, devices in zip(marks, (near, far), strict=True):
        mark[devices] = True
    found = find_limited_cut(cabled, *marks)
    ends = cabled.tier[cabled.low[found.links]], cabled.tier[cabled.high[found.links]]
    cables = _sum_places(*ends, cabled.usable[found.links], cabled.members[found.links])

    def describe(device: str, ceiling: Ceiling) -> tuple[str, str, float]:
        name = f"{ceiling.name} ({ceiling.kind})" if ceiling.kind else ceiling.name
        return _ROLES[cabled.tier[cabled.index[device]]], name, ceiling.rate

    alike = group_by_key((describe(*each), each[0]) for each in found.ceilings)
    ceilings = (CutCeilings(role, name, len(of), rate * len(of)) for (role, name, rate), of in alike.items())
    here, there = (int(cabled.machines[side[side < cabled.nodes]].sum()) for side in (near, far))
    return FabricCut(found.bound, here, there, tuple(cables), ceilings=tuple(ceilings))


def _cut_cables(cabled: Tables, near: _Side, far: _Side) -> FabricCut:
    """Nodes of a group on one side are one vertex; nodes on no side carry nothing for others and are left out."""
    graph, groups = cabled.forwarding, cabled.node_groups
    vertices = len(graph.device)
    members = cabled.members[groups.link]
    a, b, capacity, cables, tier = [graph.a], [graph.b], [graph.capacity], [graph.cables], [cabled.tier[graph.device]]
    ends = []
    for side in (near, far):
        mine = np.flatnonzero(side.nodes)
        number = np.full(len(groups), -1)
        number[mine] = vertices + np.arange(len(mine))
        legs = np.flatnonzero(number[groups.owner] >= 0)
        count = side.nodes[groups.owner[legs]]
        a.append(number[groups.owner[legs]])
        b.append(graph.vertex[groups.switch[legs]])
        capacity.append(groups.capacity[legs] * count)
        cables.append(members[legs] * count)
        tier.append(np.zeros(len(mine), np.intp))
        ends.append(np.concatenate((side.vertices, number[mine])))
        vertices += len(mine)
    low, high, rates = np.concatenate(a), np.concatenate(b), np.concatenate(capacity)
    bound, inside = find_minimum_cut(vertices, low, high, rates, ends=(ends[0], ends[1]))
    parted = np.flatnonzero(inside[low] != inside[high])
    tiers = np.concatenate(tier)
    where = _sum_places(tiers[low[parted]], tiers[high[parted]], rates[parted], np.concatenate(cables)[parted])
    return FabricCut(bound, near.machines, far.machines, tuple(where))


def _sum_places(low: Indices, high: Indices, rates: Floats, cables: Indices) -> Iterator[CutCables]:
    """The parted cables by the roles of their ends, which are given as tiers."""
    pairs, of = np.unique(low * len(_ROLES) + high, return_inverse=True)
    carried = sum_at(rates, of, len(pairs)).tolist()
    number = sum_at(cables, of, len(pairs)).tolist()
    for pair, count, rate in zip(pairs.tolist(), number, carried, strict=True):
        if rate:
            yield CutCables(_ROLES[pair // len(_ROLES)], _ROLES[pair % len(_ROLES)], int(count), rate)


_ROLES = ("node", *(role.value for role in SwitchRole))


def _cut_tiers(cabled: Tables) -> Iterator[TierCut]:
    uplinks, groups = cabled.uplinks, cabled.node_groups
    if not len(groups):
        return
    network = int(np.argmax(sum_at(groups.nodes[uplinks.group], uplinks.inside, len(uplinks.meet))))
    ways = np.flatnonzero(uplinks.network[uplinks.low] == network)
    legs = np.flatnonzero(uplinks.network[groups.switch] == network)
    low, high, rates = cabled.tier[uplinks.low[ways]], cabled.tier[uplinks.high[ways]], uplinks.capacity[ways]
    reached = cabled.tier[groups.switch[legs]]
    offered = groups.capacity[legs] * groups.size[groups.owner[legs]]
    for tier in range(int(uplinks.meet[network])):
        up = rates[(low <= tier) & (high > tier)].sum() + offered[reached > tier].sum()
        if not tier or (low == tier).any():
            yield TierCut(_ROLES[tier], float(up))


def list_findings(report: BisectionReport) -> Iterator[StaticFinding]:
    """The cut between the halves, or why there is none."""
    halves = report.halves
    if halves is None:
        yield StaticFinding(Severity.NOTE, "no-bisection", report.fabric, f"no bisection: {report.refused}")
        return
    places = ", ".join(map(str, halves.places))
    text = (
        f"{describe_sides(halves)} can exchange at most {network_rate(halves.bound)} in each direction: "
        f"{places or 'no cable at all'}; {describe_search(halves)}"
    )
    yield StaticFinding(Severity.NOTE, "bisection", report.fabric, text)


def describe_sides(halves: FabricCut) -> str:
    """``the halves a[1-4] and b[1-4]``; of long sets the number of nodes and the beginning."""
    near, far = (shorten_names(side) for side in halves.sides)
    return f"the halves {near} and {far}"


def shorten_names(names: Sequence[str]) -> str:
    """A node set; of one that is long the beginning, and how many nodes it stands for."""
    text = fold_names(names)
    if len(text) <= _LONG:
        return text
    short = text[:_LONG].rpartition(",")[0] if text.count("[", 0, _LONG) == text.count("]", 0, _LONG) else ""
    return f"{short or names[0]} ... ({counted(len(names), 'node')})"


_LONG = 60
"""Letters of a node set in a sentence."""


def describe_search(halves: FabricCut) -> str:
    """Whether these halves are the worst that there are."""
    return "no halves have less" if halves.exact else "the least that was found, others may have less"
