"""The elements that tests fill on purpose, and the nodes whose flows cross them."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import nan

import numpy as np

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.design_options import make_unknown_error
from benchconsole.probes.planning.layout import DesignRequest
from benchconsole.topology.arrays import Flags, Floats
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.model.fabric import Direction, Fabric, Link, LinkId, NodeId


@dataclass(frozen=True, slots=True)
class Element:
    """Directed links that are to be filled together, and what they are called."""

    name: str
    ways: tuple[Direction, ...]


def find_elements(fabric: Fabric, text: str) -> list[Element]:
    """A link, one way over it, a LAG, the uplinks of a switch or a server, each direction by itself.

    PlanError for an empty or unknown name.
    """
    if not text:
        raise PlanError("design stress needs the option share: a link, a LAG, a switch or a server to fill")
    for link in fabric.links.values():
        for way in (Direction(link.id, link.a), Direction(link.id, link.b)):
            if direction_name(fabric, way) == text:
                return [Element(text, (way,))]
    links = _find_links(fabric, text)
    if links is None:
        lags = {link.lag for link in fabric.links.values() if link.lag}
        known = [*fabric.links, *fabric.switches, *fabric.storage, *fabric.nodes, *lags]
        many = "the name of a link, a LAG, a switch, a storage system or a node"
        raise make_unknown_error("element of option share", text, known, many)
    if not links:
        raise PlanError(f"option share: {text} has no links above it that tests could fill, expected another element")
    outward = tuple(Direction(link.id, text if text in (link.a, link.b) else link.a) for link in links)
    inward = tuple(Direction(way.link, fabric.links[way.link].other(way.source)) for way in outward)
    if len(links) == 1:
        return [Element(direction_name(fabric, ways[0]), ways) for ways in (outward, inward)]
    return [Element(f"{text} out", outward), Element(f"{text} in", inward)]


def _find_links(fabric: Fabric, text: str) -> list[Link] | None:
    """The links that a name stands for; None where nothing has that name."""
    if text in fabric.links:
        return [fabric.links[LinkId(text)]]
    if text in fabric.switches:
        return [link for link in fabric.links_at[text] if fabric.tier(link.other(text)) > fabric.tier(text)]
    if text in fabric.storage:
        return [link for server in fabric.storage[text].servers for link in fabric.active_legs(server)]
    if text in fabric.nodes:
        return list(fabric.active_legs(fabric.nodes[NodeId(text)].host or text))
    return [link for link in fabric.links.values() if link.lag == text] or None


@dataclass(slots=True)
class Group:
    """Nodes cabled alike, and how often they have sent and received.

    ``fills_out`` and ``fills_in``: their own links that way are the element, so they send or receive again.
    """

    nodes: list[NodeId]
    fills_out: bool
    fills_in: bool
    sent: int = 0
    received: int = 0


class Crossing:
    """Which ``groups`` of the nodes of a request send over an element, and to which."""

    def __init__(self, request: DesignRequest, element: Element) -> None:
        self._fabric = request.fabric
        self._routes = request.flow_classes.routes
        self._flow_classes = request.flow_classes
        self._element = element
        out = {way.source for way in element.ways if NodeId(way.source) in self._fabric.nodes}
        into = {end for end in map(self._end, element.ways) if NodeId(end) in self._fabric.nodes}
        groups: dict[object, Group] = {}
        for node in request.nodes:
            side = self._flow_classes.find_side(node)
            if side is not None:
                fills_out, fills_in = side.device in out, side.device in into
                key = side.device if fills_out or fills_in else side.number
                groups.setdefault(key, Group([], fills_out, fills_in)).nodes.append(node)
        self.groups = list(groups.values())

    def list_pairs(self) -> list[tuple[Group, Group]]:
        """The groups that send over the element, each with one to which it sends so; also with itself."""
        return [
            (self.groups[one], self.groups[other])
            for one, other in np.argwhere(self._find_crossing()).tolist()
            if one != other or len(self.groups[one].nodes) > 1
        ]

    def _end(self, way: Direction) -> str:
        return self._fabric.links[way.link].other(way.source)

    def _find_crossing(self) -> Flags:
        """Per group that sends and group that receives: a way of the element is the sender's, the receiver's, or
        on a path between switches of theirs that is as short as any.
        """
        fills_out = np.array([group.fills_out for group in self.groups], bool)
        fills_in = np.array([group.fills_in for group in self.groups], bool)
        if fills_out.any() or fills_in.any():
            return np.asarray(fills_out[:, None] | fills_in[None, :], bool)
        homes = {home: number for number, home in enumerate({h: None for g in self.groups for h in self._homes(g)})}
        at = np.zeros((len(self.groups), len(homes)), np.float64)
        for number, group in enumerate(self.groups):
            at[number, [homes[home] for home in self._homes(group)]] = 1.0
        apart = np.array([self._hops(homes, home) for home in homes]).T
        crossed = np.zeros((len(homes), len(homes)), bool)
        for way in self._element.ways:
            near, far = self._hops(homes, way.source), self._hops(homes, self._end(way))
            crossed |= near[:, None] + 1 + far[None, :] == apart
        return np.asarray(at @ crossed @ at.T > 0, bool)

    def _homes(self, group: Group) -> list[str]:
        side = self._flow_classes.find_side(group.nodes[0])
        return [each for each in side.legs.attachment.devices if each in self._fabric.switches] if side else []

    def _hops(self, homes: Iterable[str], switch: str) -> Floats:
        """The distance of each of ``homes`` to ``switch``; not a number where there is no path, equal to nothing."""
        hops = self._routes.hops_to(switch) if switch in self._fabric.switches else {}
        return np.array([hops.get(home, nan) for home in homes])
