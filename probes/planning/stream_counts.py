"""How many streams a test sends so that hashes spread them over all legs of its nodes and all members of its LAGs.

A hash puts each stream on one member; with few streams a healthy member may carry none. On a simulated machine whose
nodes have two legs each, 320 pairs of 4 streams gave 77 false findings a run, of 8 streams 2 to 5, of 16 none.
"""

from collections.abc import Iterator
from typing import NamedTuple

from benchconsole.topology.element_names import link_name
from benchconsole.topology.model.fabric import Fabric, Link
from benchconsole.topology.routing.parallel_legs import find_parallel_legs

PER_MEMBER = 8
"""Streams for each member of the widest LAG."""

LEAST = 4
"""Streams of a pair where no hash has a choice: one that waits for a lost packet does not leave the link empty."""

LEAST_FILLING = 8
"""As ``LEAST``, of pairs that fill links between switches together: equal paths to several switches divide them."""

MOST = 64
"""More streams cost the processors of a node more than the spread gains; iperf3 itself takes 128."""


class StreamCount(NamedTuple):
    """``streams`` of each pair, and why so many; no reason where no hash has a choice."""

    streams: int
    because: str = ""


class _Fork(NamedTuple):
    """So many cables (or channels) that one hash chooses among, and where."""

    ways: int
    where: str


def count_streams(fabric: Fabric, *, trunks: bool) -> StreamCount:
    """The streams of each pair: ``PER_MEMBER`` for each way of the widest fork, from ``LEAST`` to ``MOST``.

    Forks are the legs of nodes in one network (in one rail or plane, for streams go between two addresses), and with
    ``trunks`` the members of LAGs between switches; not of those inside an MLAG pair, which carry nothing while all is
    well.
    """
    least = LEAST_FILLING if trunks else LEAST
    widest = max((fork for fork in _list_forks(fabric, trunks=trunks) if fork.ways > 1), default=None, key=_count_ways)
    if widest is None:
        return StreamCount(least)
    wanted = max(least, PER_MEMBER * widest.ways)
    each = f"{PER_MEMBER} for each of the {widest.ways} {widest.where}"
    if wanted > MOST:
        return StreamCount(MOST, f"{MOST} streams a pair, the most that is sent: {each} would be {wanted}")
    return StreamCount(wanted, f"{wanted} streams a pair: {each}")


def _count_ways(fork: _Fork) -> int:
    return fork.ways


def _list_forks(fabric: Fabric, *, trunks: bool) -> Iterator[_Fork]:
    parts = {link.id: part for each in find_parallel_legs(fabric) for part, own in each.parts.items() for link in own}
    for node in fabric.nodes:
        legs: dict[tuple[str, str], int] = {}
        for link in fabric.active_legs(node):
            place = link.network, parts.get(link.id, "")
            legs[place] = legs.get(place, 0) + _count_choices(link)
        yield _Fork(max(legs.values(), default=1), f"legs of {node}")
    peers = {link for pair in fabric.mlags for link in pair.peer}
    for link in fabric.links.values() if trunks else ():
        if link.a in fabric.switches and link.b in fabric.switches and link.id not in peers:
            yield _Fork(_count_choices(link), f"members of {link_name(fabric, link)}")


def _count_choices(link: Link) -> int:
    """Ways of one link that parallel streams can divide over; none where the hash sees addresses only."""
    return max(link.count, len(link.channels)) if link.hash.sees_ports else 0
