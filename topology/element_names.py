"""Names of elements in sentences: ``n3 out``, ``leaf1 to spine1``."""

from benchconsole.topology.model.fabric import Direction, Fabric, Link, NodeId


def link_name(fabric: Fabric, link: Link) -> str:
    """``n3 NIC`` for the cable of a node, ``leaf1 to spine1`` between switches."""
    return f"{link.a} NIC" if NodeId(link.a) in fabric.nodes else f"{link.a} to {link.b}"


def direction_name(fabric: Fabric, direction: Direction) -> str:
    """One way over a link: ``n3 out``, ``n3 in``, ``leaf1 to spine1``."""
    link = fabric.links[direction.link]
    if NodeId(link.a) in fabric.nodes:
        return f"{link.a} out" if direction.source == link.a else f"{link.a} in"
    return f"{direction.source} to {link.other(direction.source)}"


def is_nic(fabric: Fabric, direction: Direction) -> bool:
    """Whether the link ends in a node."""
    return NodeId(fabric.links[direction.link].a) in fabric.nodes
