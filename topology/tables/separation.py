"""Nodes that are cut off without one switch, one trunk or one leg.

When a network falls apart, the part that stays is the one with most top switches, of equals the
one with most nodes, of equals the first. A node is *cut off* when no cable of it in this network
leads to the part that stays, and no leg leads into another plane of its network
(``topology.tables.planes``). Nodes do not forward, unless they are declared to; cut vertices and
bridges are found on the graph of what forwards (``topology.tables.graph_algorithms.search_depth_first``).
"""

from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices, join_slices, sum_at
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.graph_algorithms import Search, search_depth_first
from benchconsole.topology.tables.planes import find_backed


@dataclass(frozen=True, slots=True)
class Separation:
    """Nodes cut off, per ``device`` that is dead, per ``trunk`` without a cable left, per ``leg`` (of one node).

    ``points`` are the cut vertices, devices; ``bridges`` the trunks whose loss parts a network.
    """

    device: Indices
    trunk: Indices
    leg: Indices
    points: Indices
    bridges: Indices


@dataclass(frozen=True, slots=True)
class _Cases:
    """Ways to fall apart: the subtrees of several ``heads`` become parts of their own, in the ``case`` of each.

    ``dead`` is the vertex that is gone in each case, -1 for none; ``network`` where it happens.
    """

    heads: Indices
    case: Indices
    dead: Indices
    network: Indices


def find_separation(tables: Tables) -> Separation:
    """The nodes that are cut off without each device, trunk and leg of a fabric."""
    graph = tables.forwarding
    found = search_depth_first(len(graph.device), graph.a, graph.b)
    network = tables.uplinks.network[graph.device]
    device, leg = _count_alone(tables)
    # Cut vertices: a root with several children, another vertex with a child that it holds alone.
    held = np.bincount(found.parent[found.apart], minlength=len(found.parent))
    points = np.flatnonzero(held > (found.parent < 0))
    heads = np.flatnonzero(found.apart & np.isin(found.parent, points))
    of = np.searchsorted(points, found.parent[heads])
    device[graph.device[points]], _ = _cut(tables, found, _Cases(heads, of, points, network[points]))
    edge = np.zeros(len(graph.a), np.intp)
    # Of a bridge the vertex that it alone joins to the rest.
    down = (found.parent[graph.b] == graph.a) & found.bridge[graph.b]
    bridges = np.flatnonzero(down | ((found.parent[graph.a] == graph.b) & found.bridge[graph.a]))
    below = np.where(down, graph.b, graph.a)[bridges]
    every = np.arange(len(bridges))
    edge[bridges], inside = _cut(tables, found, _Cases(below, every, np.full(len(bridges), -1), network[below]))
    trunks = len(tables.trunks.low)
    # A forwarding node is with the side that it is left on, though its other cable was counted.
    left = bridges[(bridges >= trunks) & ((below == graph.a[bridges]) != inside)]
    edge[left] += tables.machines[graph.device[graph.a[left]]]
    _add_gateways(tables, edge, leg)
    return Separation(device, edge[:trunks], leg, graph.device[points], bridges[bridges < trunks])


def _cut(tables: Tables, found: Search, cases: _Cases) -> tuple[Indices, Flags]:
    """Per case the nodes cut off, and whether one of the subtrees is what stays."""
    total, held, rest = _find_held(tables, found, cases)
    tops, others = _count_tops(tables, found, cases)
    # The best part of each case is the last of it in this order; the rest stays where it is no worse.
    last = np.cumsum(np.bincount(cases.case, minlength=len(cases.dead))) - 1
    best = np.lexsort((held, tops, cases.case))[last]
    inside = (tops[best] > others) | ((tops[best] == others) & (held[best] > rest))
    return (total - np.where(inside, held[best], rest)).astype(np.intp), inside


def _find_held(tables: Tables, found: Search, cases: _Cases) -> tuple[Floats, Floats, Floats]:
    """Nodes of the network of each case; with a leg in the part of each head; with a leg in the rest of each case."""
    groups, uplinks, graph = tables.node_groups, tables.uplinks, tables.forwarding
    size, networks = len(groups) + 1, len(uplinks.meet) + 1
    alone = _count_without_plane(tables)
    # Senders are numbered by node group and network.
    known = uplinks.group * networks + uplinks.inside
    entry = found.entry[graph.vertex[groups.switch]]
    order = np.argsort(entry, kind="stable")
    on = np.flatnonzero(cases.dead >= 0)
    there = found.entry[cases.dead[on]]
    head, inside = _count_legs(entry[order], found.entry[cases.heads], found.leave[cases.heads])
    dead, lost = _count_legs(entry[order], there, there + 1)
    owner = groups.owner[order]
    touching = np.unique(head * size + owner[inside])
    inside_of = cases.network[cases.case[touching // size]]
    sender = np.searchsorted(known, touching % size * networks + inside_of)
    held = sum_at(alone[sender], touching // size, len(cases.heads))
    # Whoever has all legs of the network in the parts or on what is dead is not with the rest.
    places = np.concatenate((cases.case[head] * size + owner[inside], on[dead] * size + owner[lost]))
    pairs, legs = np.unique(places, return_counts=True)
    group, case = pairs % size, pairs // size
    every = np.bincount(groups.owner * networks + uplinks.network[groups.switch], minlength=size * networks)
    gone = legs == every[group * networks + cases.network[case]]
    total = sum_at(alone, uplinks.inside, networks)[cases.network]
    sender = np.searchsorted(known, group[gone] * networks + cases.network[case[gone]])
    return total, held, total - sum_at(alone[sender], case[gone], len(total))


def _count_without_plane(tables: Tables) -> Floats:
    """Per sender its nodes, 0 where another plane stands in."""
    nodes = tables.node_groups.nodes[tables.uplinks.group]
    return np.where(find_backed(tables), 0, nodes).astype(float)


def _count_tops(tables: Tables, found: Search, cases: _Cases) -> tuple[Indices, Indices]:
    """Top switches below each head, and in the rest of each case."""
    uplinks, device = tables.uplinks, tables.forwarding.device
    top = uplinks.top[device]
    before = np.concatenate(([0], np.cumsum(np.bincount(found.entry[top], minlength=len(top)))))
    below = before[found.leave[cases.heads]] - before[found.entry[cases.heads]]
    whole = np.bincount(uplinks.network[device[top]], minlength=len(uplinks.meet) + 1)[cases.network]
    dead = np.append(top, False)[cases.dead]
    return below, whole - dead - sum_at(below, cases.case, len(whole)).astype(np.intp)


def _count_legs(entry: Indices, first: Indices, last: Indices) -> tuple[Indices, Indices]:
    """The legs whose switch was entered within each of several intervals: numbers of intervals, positions of legs."""
    start, end = np.searchsorted(entry, first), np.searchsorted(entry, last)
    return np.repeat(np.arange(len(first)), end - start), join_slices(start, end - start)


def _count_alone(tables: Tables) -> tuple[Indices, Indices]:
    """Per device the nodes with all their legs of its network on it; per leg the machines that it holds alone."""
    groups, uplinks = tables.node_groups, tables.uplinks
    size = len(uplinks.meet) + 1
    network = groups.owner * size + uplinks.network[groups.switch]
    legs = np.bincount(network, minlength=len(groups) * size)[network]
    pairs, first, count = np.unique(
        groups.owner * len(tables.names) + groups.switch, return_index=True, return_counts=True
    )
    whole = count == legs[first]
    nodes = _count_without_plane(tables)[uplinks.sender[first[whole]]]
    device = sum_at(nodes, pairs[whole] % len(tables.names), len(tables.names)).astype(np.intp)
    machines = groups.nodes[groups.owner] // groups.size[groups.owner]
    return device, np.where((legs == 1) & ~find_backed(tables)[uplinks.sender], machines, 0)


def _add_gateways(tables: Tables, edge: Indices, leg: Indices) -> None:
    """Enter into ``leg`` what the legs of forwarding nodes hold together."""
    graph, groups = tables.forwarding, tables.node_groups
    for each in range(len(tables.trunks.low), len(edge)):
        if edge[each] and graph.links[each] == 1:
            group = groups.group[graph.device[graph.a[each]]]
            mine = np.arange(groups.start[group], groups.start[group + 1])
            place = mine[groups.switch[mine] == graph.device[graph.b[each]]]
            leg[place] = np.maximum(leg[place], edge[each])
