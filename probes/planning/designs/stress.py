"""The design ``stress``: one chosen element loaded beyond what it carries, and nothing else that is shared.

The next flow loads the emptiest part of the element and leaves the fullest other link emptiest. None is taken that
would overload another link, unless that is loaded with the element whatever crosses it. Each node sends once and
receives once, but for the nodes whose own links are the element.
"""

from collections.abc import Sequence

import numpy as np

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import FULL, Bundle
from benchconsole.probes.planning.designs.crossing import Crossing, Element, Group, find_elements
from benchconsole.probes.planning.designs.filling import HEADROOM, compute_fill
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout, FlowLoad
from benchconsole.probes.planning.packing import FULL_AT
from benchconsole.topology.arrays import Floats
from benchconsole.topology.element_names import is_nic
from benchconsole.topology.model.fabric import Flow
from benchconsole.topology.units import counted

MOST_FLOWS = 512
"""Flows over one element: as many as a round has tests."""

MOST_KINDS = 400
"""Pairs of groups of nodes cabled alike that are looked at; of more, an even choice."""


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """One bundle for each direction of the element. PlanError where no flow crosses it in either."""
    chosen = find_elements(request.fabric, request.options.text("share"))
    loads = [load for element in chosen if (load := _Stress(request, element).load()) is not None]
    if not loads:
        names = " and ".join(element.name for element in chosen)
        raise PlanError(f"option share: no flow between the {len(request.nodes)} selected nodes crosses {names}")
    return [FlowLayout("one element filled on purpose by flows that share only it", loads=loads)]


class _Stress:
    """Chooses the flows that fill one element."""

    def __init__(self, request: DesignRequest, element: Element) -> None:
        self.fabric = request.fabric
        self.routes = request.flow_classes.routes
        self.element = element
        self.flow_classes = request.flow_classes
        self.ways = [self.routes.graph.way(self.fabric.links[way.link], way.source) for way in element.ways]
        self._crossing = Crossing(request, element).list_pairs()

    def load(self) -> FlowLoad | None:
        """The flows, with the bundle that they fill; None where none crosses the element."""
        crossing = self._crossing
        flows = _add_flows(self, crossing[:: -(-len(crossing) // MOST_KINDS)]) if crossing else []
        if not flows:
            return None
        full = compute_fill(self.fabric, flows, self.routes)
        fill = min(full.get(way, 0.0) for way in self.element.ways)
        also = (way for way, share in full.items() if share >= FULL and not is_nic(self.fabric, way))
        ways = {*self.element.ways, *(also if fill >= FULL else ())}
        further = len(ways) - len(self.element.ways)
        name = self.element.name + (f" and {counted(further, 'equal link')}" if further else "")
        return FlowLoad(tuple(flows), Bundle(name, tuple(sorted(ways)), fill))


def _add_flows(stress: _Stress, pairs: Sequence[tuple[Group, Group]]) -> list[Flow]:
    """Flows until every link of the element is offered enough, or none is left that may be added."""
    own = len(stress.ways)
    column = {way: number for number, way in enumerate(stress.ways)}
    rows: list[dict[int, float]] = []
    moves: list[tuple[Group, Group]] = []
    for one, other in pairs:
        source, sink = one.nodes[0], other.nodes[0] if other is not one else other.nodes[1]
        flow_class = stress.flow_classes.find_class(source, sink)
        if flow_class is None:
            continue
        inner = {way for way, _ in flow_class.inner}
        ways = stress.flow_classes.ways(source, sink)
        crossed = {way: load for way, load in ways.items() if way in inner or way in column}
        if any(way in column for way in crossed):
            moves.append((one, other))
            rows.append({column.setdefault(way, len(column)): load for way, load in crossed.items()})
    table: Floats = np.zeros((len(rows), len(column)))  # the load of each move on each directed link, the own first
    for number, row in enumerate(rows):
        table[number, list(row)] = list(row.values())
    most = table[:, :own].max(axis=1, initial=0.0, keepdims=True)
    # Of what fills with the element, whatever crosses that, no flow is kept away.
    others = np.asarray((table < most * (1 - 1e-9)).any(axis=0), bool)
    others[:own] = False
    load, free = np.zeros(table.shape[1]), np.ones(len(moves), bool)
    found: list[Flow] = []
    while len(found) < MOST_FLOWS and free.any() and load[:own].min() < HEADROOM:
        weakest = load[:own] <= load[:own].min() + 1e-9
        gain = table[:, :own][:, weakest].sum(axis=1)
        fullest = (table[:, others] + load[others]).max(axis=1, initial=0.0)
        good = free & (gain > 0) & (fullest <= FULL_AT)
        if not good.any():
            break
        at = int(np.flatnonzero(good)[np.lexsort((-gain[good], fullest[good].round(6)))[0]])
        flow = _next_flow(*moves[at])
        if flow is None:
            free[at] = False
            continue
        load += table[at]
        found.append(flow)
    return found


def _next_flow(one: Group, other: Group) -> Flow | None:
    """The next flow from one group to the other; None where no node is free, or only one with itself."""
    sent_all, received_all = one.sent >= len(one.nodes), other.received >= len(other.nodes)
    if (sent_all and not one.fills_out) or (received_all and not other.fills_in):
        return None
    source, sink = one.nodes[one.sent % len(one.nodes)], other.nodes[other.received % len(other.nodes)]
    if source == sink:
        return None
    one.sent += 1
    other.received += 1
    return Flow(source, sink)
