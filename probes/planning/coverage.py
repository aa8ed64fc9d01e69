"""The gaps of a plan: links that no flow crosses, nodes in no test, pairs that never meet, and why."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.flow_classes import FlowClass, FlowClasses
from benchconsole.probes.planning.layout import Pair
from benchconsole.topology.model.fabric import Fabric, Flow, Link, NodeId
from benchconsole.topology.routing.routes import Routes

_TRIED = 5_000
"""Pairs of groups of nodes that are asked for a path; beyond, pairs without one are counted with those not met."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Nodes or links, by id, that a plan leaves out for one reason."""

    what: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class PairCoverage:
    """Directed pairs that send to each other, of ``every`` one; ``left``: how many do not, for each reason."""

    met: int
    every: int
    left: tuple[tuple[int, str], ...] = ()


def list_uncrossed_links(fabric: Fabric, rounds: Sequence[Round]) -> tuple[Link, ...]:
    """Links that no flow of ``rounds`` crosses in one of their directions, in file order.

    What no test sends over cannot be found faulty: it is told, never passed. Empty where the plan
    has no flows at all; legs that stand by are left out.
    """
    classes = FlowClasses(Routes(fabric))
    flows = {(flow.source, flow.sink) for each in rounds for flow in each.flows}
    return (
        tuple(classes.routes.graph.links[number] for number in _idle(_crossed(classes, flows), classes))
        if flows
        else ()
    )


def _crossed(classes: FlowClasses, flows: Iterable[Pair]) -> bytearray:
    """1 for each directed link, by number, that a flow crosses."""
    crossed = bytearray(2 * len(classes.routes.graph.links))
    seen: set[FlowClass] = set()
    for source, sink in flows:
        flow_class, one, other = classes.find_class(source, sink), classes.find_side(source), classes.find_side(sink)
        ways: list[int]
        if (
            flow_class is None or one is None or other is None
        ):  # a path that no design would take, but a file may describe
            ways = classes.routes.route(Flow(source, sink)).ways.tolist()
        else:
            ways = [one.legs.ways[position] for position, _ in flow_class.first]
            ways += [other.legs.ways[position] ^ 1 for position, _ in flow_class.last]
            if flow_class not in seen:
                seen.add(flow_class)
                ways += [way for way, _ in flow_class.inner]
        for way in ways:
            crossed[way] = 1
    return crossed


def _idle(crossed: bytearray, classes: FlowClasses) -> list[int]:
    """The links, by number, that are not crossed both ways; legs that stand by are left out."""
    links = enumerate(classes.routes.graph.links)
    return [number for number, link in links if not link.standby and not all(crossed[2 * number : 2 * number + 2])]


def list_idle_links(fabric: Fabric, classes: FlowClasses, flows: Collection[Pair]) -> tuple[LeftOut, ...]:
    """The links of ``list_uncrossed_links``, by reason."""
    if not flows:
        return ()
    crossed = _crossed(classes, flows)
    busy = {node for pair in flows for node in pair}
    found: dict[str, list[str]] = {}
    peers = {link for pair in fabric.mlags for link in pair.peer}
    for number in _idle(crossed, classes):
        link = classes.routes.graph.links[number]
        if any(crossed[2 * number : 2 * number + 2]):
            why = "crossed in one direction only"
        elif NodeId(link.a) in fabric.nodes and link.a not in busy:
            why = "no test sends to or from its node"
        elif link.id in peers:
            why = "joins a pair, and carries only what one of the two cannot deliver itself"
        else:
            why = "on no shortest path between nodes that send to each other"
        found.setdefault(why, []).append(link.id)
    return tuple(LeftOut(tuple(links), why) for why, links in found.items())


def list_left_nodes(
    fabric: Fabric, classes: FlowClasses, rounds: Sequence[Round], flows: Collection[Pair]
) -> tuple[LeftOut, ...]:
    """The nodes in no test, and those of a plan with flows in no flow, by reason."""
    tested = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
    sending = {node for pair in flows for node in pair}
    found: dict[str, list[str]] = {}
    for node in fabric.nodes:
        if node not in tested:
            found.setdefault("in no test: not selected, or none that it could be in", []).append(node)
        elif sending and node not in sending:
            cabled = classes.find_side(node) is not None
            why = "no test between nodes has a partner for it" if cabled else "not cabled, so nothing can be sent to it"
            found.setdefault(why, []).append(node)
    return tuple(LeftOut(tuple(nodes), why) for why, nodes in found.items())


def count_pairs(fabric: Fabric, classes: FlowClasses, rounds: Sequence[Round], flows: Collection[Pair]) -> PairCoverage:
    """How many of all directed pairs of nodes meet, and why the others do not."""
    every = len(fabric.nodes) * (len(fabric.nodes) - 1)
    busy = {node for pair in flows for node in pair}
    among = len(busy) * (len(busy) - 1)
    without = _without_path(classes, busy)
    stages = ", ".join(dict.fromkeys(each.stage for each in rounds if any(test.target.peer for test in each.tests)))
    left = [
        (every - among, "one of the two is in no test between nodes"),
        (without, "there is no path between them"),
        (among - without - len(flows), f"not among those that {stages} chooses"),
    ]
    return PairCoverage(len(flows), every, tuple((count, why) for count, why in left if count > 0))


def _without_path(classes: FlowClasses, nodes: Collection[NodeId]) -> int:
    """How many directed pairs of ``nodes`` have no path; 0 where that would be too many to ask."""
    groups: dict[int, list[NodeId]] = {}
    for node in nodes:
        side = classes.find_side(node)
        if side is not None:
            groups.setdefault(side.number, []).append(node)
    if len(groups) ** 2 > _TRIED:
        return 0
    found = 0
    for one in groups.values():
        for other in groups.values():
            if one is not other and classes.find_class(one[0], other[0]) is None:
                found += len(one) * len(other)
    machines = Counter(side.device for node in nodes if (side := classes.find_side(node)) is not None)
    return found + sum(count * (count - 1) for count in machines.values())
