"""The choice of the canary's two nodes: idle themselves, on the path that most traffic takes.

Pure. Whether they answer is not known here, so several pairs are named, the best first.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from benchconsole.probes.model.measuring import Round
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Direction, Fabric, Node, NodeId

if TYPE_CHECKING:
    from benchconsole.topology.routing.routes import Routes

_FLOWS = 2000
"""Flows that are counted to find the path of most traffic; of more, every n-th is taken."""

_CANDIDATES = 48
"""Nodes that are tried against each other."""

Pair = tuple[Node, Node]


def choose_pairs(fabric: Fabric, rounds: Sequence[Round], most: int = 4) -> tuple[Pair, ...]:
    """At most ``most`` pairs for a canary, the best first, no node in two of them; empty where there is no pair.

    They are nodes that no test runs on, where there are two such nodes with a path between them; else any.
    Their path shares as much as possible with the flows of ``rounds``; of equal ones the longest is taken.
    """
    from benchconsole.topology.routing.routes import Routes  # numpy

    routes = Routes(fabric)
    use = _count_flows(routes, rounds)
    tested = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
    cabled = [node for node in fabric.nodes.values() if fabric.legs(node.id)]
    outside = [node for node in cabled if node.id not in tested]
    ranked = _rank_pairs(routes, _spread_over_switches(fabric, outside), use) or _rank_pairs(
        routes, _spread_over_switches(fabric, cabled), use
    )
    chosen: list[Pair] = []
    taken: set[NodeId] = set()
    for here, there in ranked:
        if len(chosen) < most and not taken & {here.id, there.id}:
            chosen.append((here, there))
            taken |= {here.id, there.id}
    return tuple(chosen)


def _count_flows(routes: "Routes", rounds: Sequence[Round]) -> Mapping[Direction, float]:
    stride = 1 + sum(len(each.tests) for each in rounds) // _FLOWS
    found: dict[Direction, float] = {}
    for index, flow in enumerate(flow for each in rounds for flow in each.flows):
        if index % stride == 0:
            for way, part in _find_path(routes, flow.source, flow.sink).items():
                found[way] = found.get(way, 0.0) + part
    return found


def _find_path(routes: "Routes", source: NodeId, sink: NodeId) -> Mapping[Direction, float]:
    """The directed links between two nodes; none where the description gives no path, or both are one machine."""
    try:
        return routes.shares(source, sink)
    except RoutingError:
        return {}


def _spread_over_switches(fabric: Fabric, nodes: Sequence[Node]) -> list[Node]:
    """At most _CANDIDATES of ``nodes``, taken in turn from the switches that they are cabled to."""
    at: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        at.setdefault(tuple(link.other(node.host or node.id) for link in fabric.legs(node.id)), []).append(node)
    stride = 1 + 2 * len(at) // (_CANDIDATES + 1)
    groups = list(at.values())[::stride]
    deepest = max((len(group) for group in groups), default=0)
    turns = (group[level] for level in range(deepest) for group in groups if level < len(group))
    return [node for node, _ in zip(turns, range(_CANDIDATES), strict=False)]


def _rank_pairs(routes: "Routes", nodes: Sequence[Node], use: Mapping[Direction, float]) -> list[Pair]:
    """Every pair with a way between its nodes, the most used way first."""
    found: list[tuple[float, int, Pair]] = []
    for here, there in combinations(nodes, 2):
        ways = _find_path(routes, here.id, there.id)
        if ways:
            shared = sum(part * (use.get(way, 0.0) + use.get(_reverse(routes, way), 0.0)) for way, part in ways.items())
            found.append((round(shared, 6), len(ways), (here, there)))
    found.sort(key=lambda each: each[:2], reverse=True)
    return [pair for _, _, pair in found]


def _reverse(routes: "Routes", way: Direction) -> Direction:
    """The same link the other way round, which the answers take."""
    return Direction(way.link, routes.fabric.links[way.link].other(way.source))
