"""Ends of flows as they are written: nodes, or ports of nodes: ``g[01-16]``, ``g[01-16]:p1``, ``@compute:p[1-8],st1``.

A flow from ``g01:p1`` leaves by that port; one from ``g01`` stands for all ports together that lead to its other end.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Link, NodeId
from benchconsole.topology.selection import GROUP, expand_ports, fold, select, split_terms


@dataclass(frozen=True, slots=True)
class NodePorts:
    """One port of each of ``nodes``, by its name; None for all ports of a node together."""

    nodes: tuple[NodeId, ...]
    port: str | None = None


def select_ports(fabric: Fabric, text: str) -> tuple[NodePorts, ...]:
    """The nodes that ``text`` names, by port in the order in which they are written.

    Ports stand after a colon, for all nodes of their term: terms are parted by commas. SelectionError for an unknown
    node, for a port that some of the nodes lack, and for one of several that share an address.
    """
    groups = fabric.node_groups if ":" in text else ()
    terms = [_split_ports(term, groups) for term in split_terms(text, ",")]
    if all(ports is None for _, ports in terms):
        return (NodePorts(select(fabric, text)),)
    found: dict[str | None, dict[NodeId, None]] = {}
    for nodes_text, ports_text in terms:
        nodes = select(fabric, nodes_text)
        for port in [None] if ports_text is None else expand_ports(ports_text):
            if port is not None:
                _check_port(fabric, nodes, port)
            found.setdefault(port, {}).update(dict.fromkeys(nodes))
    return tuple(NodePorts(tuple(nodes), port) for port, nodes in found.items())


def _split_ports(term: str, groups: Collection[str]) -> tuple[str, str | None]:
    """The nodes of a term and its ports, from the first colon on that is not in the name of a group."""
    for colon in re.finditer(":", term):
        nodes = term[: colon.start()]
        if all(group in groups for group in GROUP.findall(nodes)):
            return nodes.strip(), term[colon.end() :].strip()
    return term.strip(), None


def list_ports(fabric: Fabric, node: NodeId) -> tuple[str, ...]:
    """The ports of a node that a flow can name, in the order of the file."""
    device = fabric.nodes[node].host or node
    return tuple(port for link in fabric.described.legs(node) if (port := link.port_at(device)))


def has_apart_ports(fabric: Fabric, node: NodeId, networks: Collection[str]) -> bool:
    """Whether a node has several ports in these networks that are in no bond, each with an address of its own."""
    own = [link for link in fabric.described.legs(node) if link.network in networks and link.bond is None]
    ends = {link.other(fabric.nodes[node].host or node) for link in own}
    pairs = {fabric.mlag_of[end].name if end in fabric.mlag_of else end for end in ends}
    return len(pairs) > 1 or len(own) > len(ends)


def _check_port(fabric: Fabric, nodes: Sequence[NodeId], port: str) -> None:
    lacking = [node for node in nodes if fabric.described.find_leg(node, port) is None]
    if not lacking:
        return
    node = lacking[0]
    lag = next((link for link in fabric.described.legs(node) if port in _list_members(fabric, link, node)), None)
    if lag is not None:
        text = f"{port} of {node} is one of the {lag.count} cables of a LAG, which are one port to a flow"
        raise SelectionError(f"{text}: leave the port out")
    own = list_ports(fabric, node)
    if not own:
        raise SelectionError(f"{node} has no port {port}, for the file names none of its ports, expected links such as "
                             f'{{from: "{node}:{port}", ...}}')  # fmt: skip
    near = find_near(port, own)
    hint = f", did you mean {near}?" if near else ""
    if len(lacking) < len(nodes):
        which = f"{len(lacking)} of {len(nodes)} nodes have no port {port}: {fold(lacking)}"
        raise SelectionError(f"{which}; choose the others, or describe their cables (ports of {node}: {fold(own)})")
    raise SelectionError(f"{fold(lacking)}: no port {port}{hint} (ports of {node}: {fold(own)})")


def _list_members(fabric: Fabric, link: Link, node: NodeId) -> tuple[str, ...]:
    return link.ports_a if link.a == (fabric.nodes[node].host or node) else link.ports_b


def fold_ports(ends: Iterable[tuple[str | None, Iterable[str]]]) -> str:
    """Ports (None: all together) with their nodes as text that can be selected again: ``g[01-16]:p[1-8]``."""
    nodes_of: dict[str | None, dict[str, None]] = {}
    for port, nodes in ends:
        nodes_of.setdefault(port, {}).update(dict.fromkeys(nodes))
    alike = group_by_key((fold(nodes), port) for port, nodes in nodes_of.items())
    return ",".join(_fold_terms(alike.items()))


def _fold_terms(alike: Iterable[tuple[str, Sequence[str | None]]]) -> Iterator[str]:
    for nodes, ports in alike:
        named = [port for port in ports if port is not None]
        if None in ports:
            yield nodes
        if named:
            yield from (f"{term}:{each}" for each in split_terms(fold(named), ",") for term in split_terms(nodes, ","))
