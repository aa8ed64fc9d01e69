"""Fabrics with elements down: switches, nodes, links or LAG members.

An element that is down stays named, without its links: a check can still ask what it lost.
"""

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.model.fabric import Fabric, Link, LinkId
from benchconsole.topology.model.forwarding import forget_tables


def remove_elements(
    fabric: Fabric,
    *,
    switches: Collection[str] = (),
    nodes: Collection[str] = (),
    links: Collection[str] = (),
    legs: Collection[str] = (),
    members: Mapping[str, int] | None = None,
) -> Fabric:
    """``fabric`` with these elements down.

    ``legs`` names switches that lose their links to nodes and keep those to switches. ``members`` says how many cables
    of a LAG are down: the fastest of them, where they differ, since that leaves least; with all of them down the link
    is gone. A pair of switches keeps working with the peer links, and the switch, that are left. In place of forwarding
    tables, which a subnet manager then writes anew, least hops are taken. Raises SelectionError that names every
    element that the fabric does not have, and every LAG with fewer members.
    """
    lost = members or {}
    named = {"switch": (*switches, *legs), "node": nodes, "link": (*links, *lost)}
    problems = list(_list_problems(fabric, named, lost))
    if problems:
        raise SelectionError("; ".join(problems))
    dead, cut, unplugged = {*switches, *nodes}, set(links), set(legs)
    left = {}
    for link in fabric.links.values():
        ends = {link.a, link.b}
        leg = ends & unplugged and any(end in fabric.nodes for end in ends)
        down = lost.get(link.id, 0)
        if link.id not in cut and not ends & dead and not leg and down < link.count:
            left[link.id] = _remove_members(link, down) if down else link
    return replace(
        forget_tables(fabric) if any(named.values()) else fabric,
        links=MappingProxyType(left),
        mlags=tuple(replace(pair, peer=tuple(link for link in pair.peer if link in left)) for pair in fabric.mlags),
        whole=fabric.described,
    )


def _remove_members(link: Link, down: int) -> Link:
    """``link`` without ``down`` of its fastest members, of equal ones the last."""
    speeds = link.members
    slowest = sorted(range(link.count), key=lambda member: (speeds[member], member))
    kept = sorted(slowest[: link.count - down])
    left = (tuple(ports[member] for member in kept if member < len(ports)) for ports in (link.ports_a, link.ports_b))
    return link.with_members(tuple(speeds[member] for member in kept), *left)


def _list_problems(fabric: Fabric, named: Mapping[str, Collection[str]], members: Mapping[str, int]) -> Iterator[str]:
    known: Mapping[str, Collection[str]] = {"switch": fabric.switches, "node": fabric.nodes, "link": fabric.links}
    for kind, names in named.items():
        for name in sorted(set(names) - set(known[kind])):
            meant = find_near(name, known[kind])
            yield f"unknown {kind} {name!r}" + (f", did you mean {meant}?" if meant else "")
    for name, down in members.items():
        link = fabric.links.get(LinkId(name))
        if link is not None and not 0 <= down <= link.count:
            yield f"{down} members down of {name}, which has {link.count}"
