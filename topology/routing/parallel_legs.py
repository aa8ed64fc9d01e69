"""Legs of nodes that are in no bond and lead to parts of a network of their own: rails and planes.

Each such leg has an address of its own, so one connection takes one of them. A part is all legs of one port name where
the file names ports, else what is cabled together, else one leaf switch.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Link, Node
from benchconsole.topology.model.network import Parallel
from benchconsole.topology.port_selection import has_apart_ports
from benchconsole.topology.routing.network_choice import NetworkChoice
from benchconsole.topology.selection import fold

_RAIL = re.compile(r"rail", re.IGNORECASE)

Parts = Mapping[str, Sequence[Link]]
"""The legs of each part, by the name of the part."""


@dataclass(frozen=True, slots=True)
class ParallelLegs:
    """The ``parts`` of one network that legs of ``nodes`` lead to, and what they are to each other.

    ``is_inferred``: that follows from names, or from cables, and is not said.
    """

    network: str
    kind: Parallel
    is_inferred: bool
    nodes: tuple[Node, ...]
    parts: Parts


def find_parallel_legs(fabric: Fabric) -> Iterator[ParallelLegs]:
    """The rails or planes of every network in which several nodes have ports of their own."""
    links_at = fabric.links_at
    nodes = [node for node in fabric.nodes.values() if len(links_at[node.id]) > 1 and node.host is None]
    for network in dict.fromkeys(map(attrgetter("network"), fabric.links.values())):
        several = [node for node in nodes if has_apart_ports(fabric, node.id, (network,))]
        said = fabric.networks[network].legs if network in fabric.networks else None
        # Storage with two ports may stand beside machines on rails.
        alike = group_by_key((said is None and _is_called_rail(fabric, network, node), node) for node in several)
        for is_called, own in alike.items():
            parts = _part_legs(fabric, network, own)
            kind = said or (Parallel.RAILS if is_called else _find_planes(fabric, parts))
            if len(own) > 1 and len(parts) > 1 and kind is not None:
                yield ParallelLegs(network, kind, said is None, tuple(own), parts)


def _is_called_rail(fabric: Fabric, network: str, node: Node) -> bool:
    """Whether the ports of a node, or the switches that they lead to, are called rails."""
    legs = list_apart_legs(fabric, network, node)
    return any(_RAIL.search(name) for link in legs for name in (link.port_at(node.id), link.other(node.id)))


def _find_planes(fabric: Fabric, parts: Parts) -> Parallel | None:
    """Planes where no cable joins two parts; None for ports into one fabric, which may all be ways to one address."""
    choice = NetworkChoice(fabric)
    places = [{choice.find_part(link, find_node(fabric, link)) for link in legs} for legs in parts.values()]
    return Parallel.PLANES if sum(map(len, places)) == len(set().union(*places)) else None


def find_node(fabric: Fabric, link: Link) -> str:
    """The node that a leg belongs to."""
    return link.a if link.a in fabric.nodes else link.b


def list_apart_legs(fabric: Fabric, network: str, node: Node) -> list[Link]:
    """The legs of a node in a network that are in no bond."""
    return [link for link in fabric.links_at[node.id] if link.network == network and link.bond is None]


def _part_legs(fabric: Fabric, network: str, nodes: Sequence[Node]) -> Parts:
    """Per part its legs; none where nothing tells parts apart."""
    legs = [(node, link) for node in nodes for link in list_apart_legs(fabric, network, node)]
    if all(link.port_at(node.id) for node, link in legs):
        return group_by_key((link.port_at(node.id), link) for node, link in legs)
    places = NetworkChoice(fabric)
    planes = {link.id: places.find_part(link, node.id) for node, link in legs}
    if len(set(planes.values())) > 1:
        by_plane = group_by_key((planes[link.id], (link.other(node.id), link)) for node, link in legs).values()
        return {fold(sorted({switch for switch, _ in own})): [link for _, link in own] for own in by_plane}
    leaves = {frozenset(link.other(node.id) for link in list_apart_legs(fabric, network, node)) for node in nodes}
    return group_by_key((link.other(node.id), link) for node, link in legs) if len(leaves) == 1 else {}
