"""The path of a test of one node, hop by hop with its load, as the page of the node and ``show --area node`` have it.

Pure, and slow for large rounds: the expectations of the whole round are computed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.console.tui.queries.node_results import list_node_results
from benchconsole.console.tui.queries.view_queries import find_link, sum_load
from benchconsole.console.view.flow_paths import FlowPaths
from benchconsole.console.view.run_view import LinkView, NodeView, RunView, State
from benchconsole.console.view.session_control import FlowHop
from benchconsole.probes.model.measuring import Test
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import LinkId


@dataclass(frozen=True, slots=True)
class NodePath:
    """The hops of a test between two nodes, in the direction of its data."""

    test: Test
    hops: Sequence[FlowHop]


def complete_hops(view: RunView, hops: Iterable[FlowHop]) -> list[FlowHop]:
    """``hops`` with what was measured: the members that are up, and the load of the round."""
    return [replace(hop, members_up=find_link(view, hop.link).members_up, load=sum_load(view, hop)) for hop in hops]


def find_binding(hops: Sequence[FlowHop], seen: Mapping[LinkId, LinkView]) -> FlowHop | None:
    """The hop that binds; of several the one with a fault, else the first: at most one is marked."""
    ties = [hop for hop in hops if hop.limits]
    bad = (State.FAIL, State.WATCH)
    faulty = (hop for hop in ties if seen.get(hop.link, LinkView()).state in bad)
    return next(faulty, ties[0] if ties else None)


def list_pair_tests(view: RunView, seen: NodeView) -> dict[str, Test]:
    """The tests of a node with another one, by the name of the other, in the order of the node's results."""
    found: dict[str, Test] = {}
    for each in list_node_results(view, seen):
        result = view.results.get(each.test)
        target = result.test.target if result is not None else None
        if result is not None and target is not None and target.peer is not None:
            other = target.peer.id if target.node.id == seen.node.id else target.node.id
            found.setdefault(other, result.test)
    return found


def find_node_path(view: RunView, test: Test) -> NodePath | None:
    """The path of a test; None where its round is not known, or nothing says how it is routed."""
    planned = next((each for each in view.plan if each.number == test.round), None)
    if planned is None:
        return None
    try:
        return NodePath(test, complete_hops(view, FlowPaths(view.fabric).find_path(test, planned)))
    except RoutingError:
        return None
