"""Names of elements in sentences: ``n3 out``, ``leaf1 to spine1``, ``ra to rb/south`` for the second of two lines."""

from benchconsole.topology.model.fabric import Direction, Fabric, Link, NodeId


def link_name(fabric: Fabric, link: Link) -> str:
    """``n3 NIC`` for the cable of a node, ``leaf1 to spine1`` between switches."""
    return f"{link.a} NIC" if NodeId(link.a) in fabric.nodes else name_ends(link)


def name_ends(link: Link, source: str | None = None) -> str:
    """Both ends from ``source`` on, and what tells parallel links apart, as in the id of the link."""
    start = link.a if source is None else source
    _, slash, further = link.id.partition("/")
    return f"{start} to {link.other(start)}{slash}{further}"


def direction_name(fabric: Fabric, direction: Direction) -> str:
    """One way over a link: ``n3 out``, ``n3 in``, ``leaf1 to spine1``."""
    link = fabric.links[direction.link]
    if NodeId(link.a) in fabric.nodes:
        return f"{link.a} out" if direction.source == link.a else f"{link.a} in"
    return name_ends(link, direction.source)


def is_nic(fabric: Fabric, direction: Direction) -> bool:
    """Whether the link ends in a node."""
    return NodeId(fabric.links[direction.link].a) in fabric.nodes
