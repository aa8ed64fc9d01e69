"""Names of elements in sentences: ``n3 out``, ``leaf1 to spine1``, ``ra to rb/south`` for the second of two lines.

Of a node with several cables the port is named, where the file does: ``g01:p1 out``.
"""

from benchconsole.topology.model.fabric import Direction, Fabric, Link, NodeId


def link_name(fabric: Fabric, link: Link) -> str:
    """``n3 NIC`` for the cable of a node, ``leaf1 to spine1`` between switches."""
    return f"{_name_nic(fabric, link)} NIC" if NodeId(link.a) in fabric.nodes else name_ends(link)


def _name_nic(fabric: Fabric, link: Link) -> str:
    port = link.port_at(link.a) if len(fabric.described.links_at[link.a]) > 1 else ""
    return f"{link.a}:{port}" if port else link.a


def name_ends(link: Link, source: str | None = None) -> str:
    """Both ends from ``source`` on, and what tells parallel links apart, as in the id of the link."""
    start = link.a if source is None else source
    _, slash, further = link.id.partition("/")
    return f"{start} to {link.other(start)}{slash}{further}"


def direction_name(fabric: Fabric, direction: Direction) -> str:
    """One way over a link: ``n3 out``, ``n3 in``, ``leaf1 to spine1``."""
    link = fabric.links[direction.link]
    if NodeId(link.a) in fabric.nodes:
        return f"{_name_nic(fabric, link)} {'out' if direction.source == link.a else 'in'}"
    return name_ends(link, direction.source)


def is_nic(fabric: Fabric, direction: Direction) -> bool:
    """Whether the link ends in a node."""
    return NodeId(fabric.links[direction.link].a) in fabric.nodes
