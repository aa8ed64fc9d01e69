"""Who takes part: the sets of nodes of tests on sets, and a growing load where a sweep says how many run at once."""

from collections.abc import Iterable, Sequence
from itertools import pairwise, zip_longest
from types import MappingProxyType

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.options import Given
from benchconsole.probes.planning.design_options import Options, make_unknown_error
from benchconsole.probes.planning.layout import FlowLayout
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.sweep import CLIENTS

SET_OPTIONS: Options = MappingProxyType({"per": "all", "size": 0})
"""``per``: all, switch, rack or chassis; ``size``: the most nodes of one set, 0 for no limit."""

_PER = ("all", "switch", "rack", "chassis")


def make_sets(fabric: Fabric, nodes: Sequence[NodeId], options: Options) -> list[list[NodeId]]:
    """``nodes`` in sets, in file order; groups larger than ``size`` are cut as evenly as can be.

    PlanError for an unknown ``per``, and where nothing of that kind holds any of the nodes.
    """
    per = str(options["per"])
    if per not in _PER:
        raise make_unknown_error("value of option per", per, _PER)
    size = Given("stage", options).whole("size", 0, 1_000_000)
    named = {device: group.name for device, group in fabric.group_of(per).items()}
    groups: dict[str, list[NodeId]] = {}
    for node in nodes:
        machine = fabric.nodes[node].host or node
        switches = fabric.switch_of(machine)
        place = {"all": "", "switch": switches[0] if switches else None}.get(per, named.get(node, named.get(machine)))
        if place is not None:
            groups.setdefault(place, []).append(node)
    if not groups:
        raise PlanError(f"option per: found {per!r}, but none of the {len(nodes)} nodes is in a {per}")
    made = []
    for group in groups.values():
        parts = -(-len(group) // size) if size else 1
        edges = [round(index * len(group) / parts) for index in range(parts + 1)]
        made += [group[low:high] for low, high in pairwise(edges)]
    return made


def take_first(fabric: Fabric, nodes: Sequence[NodeId], clients: int) -> list[NodeId]:
    """The first of ``nodes`` in an order that is spread over the switches. PlanError where there are fewer."""
    if clients > len(nodes):
        raise PlanError(f"{CLIENTS}={clients}: found {len(nodes)} selected nodes, expected as many")
    return spread_over_switches(fabric, nodes)[:clients]


def choose_flows(
    fabric: Fabric, nodes: Sequence[NodeId], layouts: Iterable[FlowLayout], clients: int, *, fans_out: bool
) -> list[tuple[Flow, int]]:
    """So many flows of ``layouts``, each with its source port (0: any): no two from one node, nor to one where the
    design forbids.

    PlanError where the design has no more.
    """
    flows: dict[NodeId, list[tuple[Flow, int]]] = {}
    for layout in layouts:
        given = [(Flow(*pair), 0) for pair in layout.pairs]
        for flow, port in given + [(flow, load.port) for load in layout.loads for flow in load.flows]:
            flows.setdefault(flow.source, []).append((flow, port))
    found: list[tuple[Flow, int]] = []
    receiving: set[NodeId] = set()
    for node in spread_over_switches(fabric, nodes):
        free = (each for each in flows.get(node, ()) if fans_out or each[0].sink not in receiving)
        chosen = next(free, None)
        if chosen is not None and len(found) < clients:
            found.append(chosen)
            receiving.add(chosen[0].sink)
    if len(found) < clients:
        raise PlanError(f"{CLIENTS}={clients}: found {len(found)} flows that can run at once, expected as many")
    return found


def spread_over_switches(fabric: Fabric, nodes: Sequence[NodeId]) -> list[NodeId]:
    """``nodes`` in an order whose every beginning is spread over the switches, and over what these are cabled to.

    Virtual machines count as where their host stands.
    """
    switch = {node: next(iter(fabric.switch_of(fabric.nodes[node].host or node)), "") for node in nodes}
    above: dict[str, frozenset[str]] = {}
    for name in set(switch.values()):
        beside = {link.other(name) for link in fabric.links_at.get(name, ())}
        above[name] = frozenset(other for other in beside if fabric.tier(other) > fabric.tier(name))
    groups: dict[frozenset[str], dict[str, list[NodeId]]] = {}
    for node in nodes:
        groups.setdefault(above[switch[node]], {}).setdefault(switch[node], []).append(node)
    return _in_turn(_in_turn(leaves.values()) for leaves in groups.values())


def _in_turn(groups: Iterable[Iterable[NodeId]]) -> list[NodeId]:
    """The first of each group, then the second of each, and so on."""
    return [node for row in zip_longest(*groups) for node in row if node is not None]
