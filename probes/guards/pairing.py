"""Owns the choice of the two nodes that watch for harm: idle themselves, on the way that most traffic takes.

Pure. Refuses to know whether they answer: it names several pairs, the best first.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from probes.model import Round
from topology.errors import RoutingError
from topology.model import Direction, Fabric, Flow, Node, NodeId

if TYPE_CHECKING:
    from topology.routing import Routes

_FLOWS = 2000
"""Flows that are looked at to find where most traffic goes; of more, an even part."""

_CANDIDATES = 48
"""Nodes that are tried against each other."""

Pair = tuple[Node, Node]


def choose(fabric: Fabric, rounds: Sequence[Round], most: int = 4) -> tuple[Pair, ...]:
    """At most ``most`` pairs fit for a canary, the best first, no node in two of them; empty where there is no pair.

    They are nodes that no test runs on, where there are two such nodes with a way between them; else any.
    Their way shares as much as possible with the flows of ``rounds``; of equal ones the longest is taken.
    """
    from topology.routing import Routes  # numpy

    routes = Routes(fabric)
    use = _use(routes, rounds)
    tested = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
    cabled = [node for node in fabric.nodes.values() if fabric.legs(node.id)]
    outside = [node for node in cabled if node.id not in tested]
    scored = _scored(routes, _spread(fabric, outside), use) or _scored(routes, _spread(fabric, cabled), use)
    chosen: list[Pair] = []
    taken: set[NodeId] = set()
    for here, there in scored:
        if len(chosen) < most and not taken & {here.id, there.id}:
            chosen.append((here, there))
            taken |= {here.id, there.id}
    return tuple(chosen)


def _use(routes: "Routes", rounds: Sequence[Round]) -> Mapping[Direction, float]:
    """How many of the flows cross each directed link."""
    stride = 1 + sum(len(each.tests) for each in rounds) // _FLOWS
    found: dict[Direction, float] = {}
    for index, flow in enumerate(_flows(rounds)):
        if index % stride == 0:
            for way, part in _ways(routes, flow.source, flow.sink).items():
                found[way] = found.get(way, 0.0) + part
    return found


def _flows(rounds: Sequence[Round]) -> Iterator[Flow]:
    for each in rounds:
        yield from each.flows


def _ways(routes: "Routes", source: NodeId, sink: NodeId) -> Mapping[Direction, float]:
    """The directed links between two nodes; none where the description gives no path, or both are one machine."""
    try:
        return routes.shares(source, sink)
    except RoutingError:
        return {}


def _spread(fabric: Fabric, nodes: Sequence[Node]) -> list[Node]:
    """At most _CANDIDATES of ``nodes``, taken in turn from the switches that they are cabled to."""
    at: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        at.setdefault(tuple(link.other(node.host or node.id) for link in fabric.legs(node.id)), []).append(node)
    stride = 1 + 2 * len(at) // (_CANDIDATES + 1)
    groups = list(at.values())[::stride]
    deepest = max((len(group) for group in groups), default=0)
    turns = (group[level] for level in range(deepest) for group in groups if level < len(group))
    return [node for node, _ in zip(turns, range(_CANDIDATES), strict=False)]


def _scored(routes: "Routes", nodes: Sequence[Node], use: Mapping[Direction, float]) -> list[Pair]:
    """Every pair with a way between its nodes, the most used way first."""
    found: list[tuple[float, int, Pair]] = []
    for here, there in combinations(nodes, 2):
        ways = _ways(routes, here.id, there.id)
        if ways:
            shared = sum(part * (use.get(way, 0.0) + use.get(_back(routes, way), 0.0)) for way, part in ways.items())
            found.append((round(shared, 6), len(ways), (here, there)))
    found.sort(key=lambda each: each[:2], reverse=True)
    return [pair for _, _, pair in found]


def _back(routes: "Routes", way: Direction) -> Direction:
    """The same link the other way round, which the answers take."""
    return Direction(way.link, routes.fabric.links[way.link].other(way.source))
