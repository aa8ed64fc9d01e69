"""Low throughputs that another network of the same nodes explains: the traffic fell back to it.

Two nodes that are in a second network reach each other over it when an address, a route or a port of the first is
wrong. Their rate then is what the second one carries, and no fault of a cable of the first explains it better.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.model.network import NetworkRole
from benchconsole.topology.units import network_rate

NEAR = (0.85, 1.05)
"""Measured rate over the rate that the other network carries: below, it is not its limit; above, it cannot be."""

FAR = 0.5
"""The other network carries at most this share of what was expected: between equals a rate does not tell them apart."""

FEW, MANY = 3, 0.4
"""More than so many nodes of which this share is blamed have fallen back together: a chain of pairs blames half."""

SHARED, EACH = 3, (0.4, 2.5)
"""So many flows that fell back together share what the other network carries; each reached so much of its fair share.

TCP shares a full link unevenly, so their sum is what tells.
"""

MOST = 0.75
"""The share of the flows of a round that may have fallen back together, and did."""

SEEN = 2.0
"""Times what the other network carries from which a node was seen to use its own."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """The explanation of a flow: the network that it was meant for and the one that it took, with byte/s on its wire.

    ``shared`` is how many flows of a round took it together.
    """

    meant: str
    taken: str
    wire: float
    is_management: bool
    shared: int = 1

    @property
    def words(self) -> str:
        """``management network mgmt``."""
        return f"{'management ' if self.is_management else ''}network {self.taken}"

    @property
    def capacity(self) -> str:
        """``1.00 Gb/s``, or ``1.00 Gb/s for 16 flows``."""
        return network_rate(self.wire) + (f" for {self.shared} flows" if self.shared > 1 else "")


def find_fallback(context: JudgingContext, each: MeasuredFlow) -> Fallback | None:
    """The other network of both ends that carries just what a flow reached; None where none does."""
    choice, flow = context.routes.choice, each.flow
    if len(choice.used) < 2:
        return None
    meant = choice.choose(flow)
    found: list[tuple[float, Fallback]] = []
    for name in choice.list_common(flow.source, flow.sink):
        if name in meant:
            continue
        carried, wire = _measure(context, _turn(flow, name))
        low, high = NEAR
        if carried <= FAR * each.expected.value and low * carried <= each.value <= high * carried:
            found.append((abs(each.value / carried - 1), _make_fallback(context, each, name, wire)))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def find_shared_fallback(context: JudgingContext, flows: Sequence[MeasuredFlow]) -> list[Fallback | None]:
    """The other network that each of ``flows`` took, all low in one round, where they share what it carries."""
    found: list[Fallback | None] = [None] * len(flows)
    for name in sorted(context.routes.choice.used):
        free = [place for place, each in enumerate(flows) if found[place] is None and _may_take(context, each, name)]
        for place, wire in _fill_network(context, [flows[place] for place in free], name).items():
            found[free[place]] = replace(_make_fallback(context, flows[free[place]], name, wire), shared=len(free))
    return found


def _may_take(context: JudgingContext, each: MeasuredFlow, name: str) -> bool:
    choice, flow = context.routes.choice, each.flow
    return name not in choice.choose(flow) and name in choice.list_common(flow.source, flow.sink)


def _fill_network(context: JudgingContext, flows: Sequence[MeasuredFlow], name: str) -> dict[int, float]:
    """Which of ``flows`` reached together what ``name`` carries, with byte/s on the wire that they share."""
    if len(flows) < SHARED:
        return {}
    try:
        rates = expect(context.fabric, [_turn(each.flow, name) for each in flows], routes=context.routes)
    except RoutingError:
        return {}
    fair = [rate.value for rate in rates]
    alike = [
        place
        for place, each in enumerate(flows)
        if fair[place] <= FAR * each.expected.value and EACH[0] <= each.value / fair[place] <= EACH[1]
    ]
    share = sum(flows[place].value for place in alike) / (sum(fair[place] for place in alike) or 1.0)
    if len(alike) < max(SHARED, MOST * len(flows)) or not NEAR[0] <= share <= NEAR[1]:
        return {}
    links = context.fabric.links
    narrowest = [min((links[way.link].capacity for way in rates[place].limiting), default=0.0) for place in alike]
    return dict(zip(alike, narrowest, strict=True))


def _turn(flow: Flow, network: str) -> Flow:
    """The flow as it is over another network."""
    return replace(flow, network=network, demand=None, leg=None, last_leg=None, vlan=None)


def _make_fallback(context: JudgingContext, each: MeasuredFlow, name: str, wire: float) -> Fallback:
    network = context.fabric.networks.get(name)
    is_management = network is not None and network.role is NetworkRole.MANAGEMENT
    return Fallback(_say(context.routes.choice.choose(each.flow)), name, wire, is_management)


def _say(names: Collection[str]) -> str:
    return " and ".join(sorted(names))


def _measure(context: JudgingContext, flow: Flow) -> tuple[float, float]:
    """byte/s of payload that a flow alone can reach over its network, and byte/s on the wire of its narrowest link."""
    try:
        route = context.routes.route(flow)
    except RoutingError:
        return 0.0, 0.0
    graph = context.routes.graph
    carried = graph.payload[route.ways] / route.shares
    narrowest = int(carried.argmin())
    return float(carried[narrowest]), graph.links[int(route.ways[narrowest]) >> 1].capacity


@dataclass(frozen=True, slots=True)
class Fallen:
    """Nodes that fell back; where ``is_certain`` is False one of them did, and nothing tells which."""

    nodes: tuple[str, ...]
    is_certain: bool


def find_fallen(
    context: JudgingContext, flows: Sequence[tuple[MeasuredFlow, Fallback]], proven: Callable[[int], float]
) -> list[Fallen]:
    """Who fell back, for each flow.

    ``proven`` is the most that a directed link, by its number, was seen to carry: a node whose port once carried more
    than the other network could has not fallen back. Of the rest, the one that explains most flows explains each of
    them. Where that names so many that they have nothing to do with each other, all of them fell back.
    """
    suspects = [_list_suspects(context, each, fallback, proven) for each, fallback in flows]
    left, chosen = set(range(len(flows))), dict[int, Fallen]()
    while left:
        places = group_by_key((node, place) for place in sorted(left) for node in suspects[place])
        first = min(places, key=lambda node: (-len(places[node]), node))
        tied = tuple(node for node in places if places[node] == places[first])
        chosen.update(dict.fromkeys(places[first], Fallen(tied, len(tied) == 1)))
        left.difference_update(places[first])
    every = tuple(dict.fromkeys(node for each in suspects for node in each))
    blamed = {node for each in chosen.values() for node in each.nodes}
    if len(every) > FEW and len(blamed) >= MANY * len(every):
        return [Fallen(every, True)] * len(flows)
    return [chosen[place] for place in range(len(flows))]


def _list_suspects(
    context: JudgingContext, each: MeasuredFlow, fallback: Fallback, proven: Callable[[int], float]
) -> tuple[str, ...]:
    ends = (each.flow.source, each.flow.sink)
    left = tuple(str(node) for node in ends if not _has_used(context, node, fallback, proven))
    return left or tuple(map(str, ends))


def _has_used(context: JudgingContext, node: NodeId, fallback: Fallback, proven: Callable[[int], float]) -> bool:
    legs = context.routes.attachments.legs(node)
    ways = [way for way, link in zip(legs.ways, legs.links, strict=True) if link.network != fallback.taken]
    return max((proven(each) for way in ways for each in (way, way ^ 1)), default=0.0) > SEEN * fallback.wire
