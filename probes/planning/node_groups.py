"""The sets of nodes of tests on sets: all, those of a switch, those of a rack or chassis."""

from collections.abc import Sequence
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.options import Given
from benchconsole.probes.planning.design_options import Options, make_unknown_error
from benchconsole.topology.model.fabric import Fabric, NodeId

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
    return [part for group in groups.values() for part in _cut(group, size)]


def _cut(group: list[NodeId], size: int) -> list[list[NodeId]]:
    parts = -(-len(group) // size) if size else 1
    edges = [round(index * len(group) / parts) for index in range(parts + 1)]
    return [group[low:high] for low, high in pairwise(edges)]
