"""A given placement as CSV: which flow is on which member cable, as port counters or a switch tell it.

Columns: ``from`` and ``to`` (node sets, paired in order), ``link``, ``member`` (its number from 1, or its port), and,
as one likes, ``stream`` (its number from 1; without it all streams of the pair).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchconsole.topology.capacity.csv_rows import read_rows
from benchconsole.topology.capacity.flow_streams import Members
from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Flow, Link, LinkId, NodeId
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.selection import select

COLUMNS = ("from", "to", "link", "member", "stream")


def read_placement(path: Path, routes: Routes, flows: Sequence[Flow]) -> Members:
    """The members that ``flows`` are on, by their places. SelectionError with all rows that cannot be read."""
    places = group_by_key(((flow.source, flow.sink), place) for place, flow in enumerate(flows))
    found: dict[int, dict[Direction, int]] = {}

    def read(row: Mapping[str, str]) -> None:
        link = _find_link(routes, row["link"])
        member = _find_member(link, row.get("member", ""))
        for place in _list_places(routes, places, row):
            way = _find_way(routes, flows[place], link)
            if found.setdefault(place, {}).setdefault(way, member) != member:
                pair = f"{flows[place].source}>{flows[place].sink}"
                raise SelectionError(f"{pair} on a second member of {row['link']}, expected each flow once")

    read_rows(path, COLUMNS, COLUMNS[:3], read)
    return found


def _list_places(
    routes: Routes, places: Mapping[tuple[NodeId, NodeId], Sequence[int]], row: Mapping[str, str]
) -> Sequence[int]:
    sources, sinks = (select(routes.fabric, row[end]) for end in ("from", "to"))
    if len(sources) != len(sinks):
        raise SelectionError(f"{len(sources)} nodes to {len(sinks)}, expected as many, paired in order")
    stream, chosen = row.get("stream", ""), list[int]()
    for pair in zip(sources, sinks, strict=True):
        own = places.get(pair, ())
        if not own:
            raise SelectionError(f"{pair[0]}>{pair[1]} is no flow of the question")
        if stream and not (stream.isdecimal() and 1 <= int(stream) <= len(own)):
            raise SelectionError(f"stream {stream!r} of {pair[0]}>{pair[1]}, expected 1 to {len(own)}")
        chosen += [own[int(stream) - 1]] if stream else own
    return chosen


def _find_link(routes: Routes, text: str) -> Link:
    links = routes.fabric.links
    a, _, b = text.replace(" to ", "--").partition("--")
    far, slash, lag = b.partition("/")
    link = links.get(LinkId(f"{a}--{b}")) or links.get(LinkId(f"{far}--{a}{slash}{lag}"))
    if link is None:
        near = find_near(f"{a}--{b}", links)
        raise SelectionError(f"unknown link {text!r}, expected one such as 'leaf1 to spine1'"
                             + (f", did you mean {near}?" if near else ""))  # fmt: skip
    return link


def _find_member(link: Link, text: str) -> int:
    for ports in (link.ports_a, link.ports_b):
        if text in ports:
            return ports.index(text)
    if not text and link.count == 1:
        return 0
    if text.isdecimal() and 1 <= int(text) <= link.count:
        return int(text) - 1
    raise SelectionError(f"member {text!r} of {link.a} to {link.b}, expected 1 to {link.count}, or the name of a port")


def _find_way(routes: Routes, flow: Flow, link: Link) -> Direction:
    """The direction in which a flow may cross a link."""
    ways = {routes.graph.way(link, end): Direction(link.id, end) for end in (link.a, link.b)}
    crossed = next((ways[way] for way in routes.route(flow).ways.tolist() if way in ways), None)
    if crossed is None:
        raise SelectionError(f"{flow.source}>{flow.sink} does not cross {link.a} to {link.b}")
    return crossed
