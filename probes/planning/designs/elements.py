"""The elements that the option ``share`` names: a link, one way over it, a LAG, the uplinks of a switch, a server."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.design_options import make_unknown_error
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.model.fabric import Direction, Fabric, Link, LinkId, NodeId


@dataclass(frozen=True, slots=True)
class FillElement:
    """Directed links that are to be filled together, and what they are called."""

    name: str
    ways: tuple[Direction, ...]


def find_elements(fabric: Fabric, text: str) -> list[FillElement]:
    """What ``text`` names, each direction by itself. PlanError for an empty or unknown name."""
    if not text:
        raise PlanError("design stress needs the option share: a link, a LAG, a switch or a server to fill")
    for direction in _directions(fabric):
        if direction_name(fabric, direction) == text:
            return [FillElement(text, (direction,))]
    links = _links(fabric, text)
    if links is None:
        known = [*fabric.links, *fabric.switches, *fabric.storage, *fabric.nodes, *_lags(fabric)]
        many = "the name of a link, a LAG, a switch, a storage system or a node"
        raise make_unknown_error("element of option share", text, known, many)
    if not links:
        raise PlanError(f"option share: {text} has no links above it that tests could fill, expected another element")
    outward = tuple(Direction(link.id, _lower(fabric, link, text)) for link in links)
    inward = tuple(Direction(way.link, fabric.links[way.link].other(way.source)) for way in outward)
    return [_element(fabric, text, outward, "out"), _element(fabric, text, inward, "in")]


def _directions(fabric: Fabric) -> Iterator[Direction]:
    return (Direction(link.id, end) for link in fabric.links.values() for end in (link.a, link.b))


def _lags(fabric: Fabric) -> set[str]:
    return {link.lag for link in fabric.links.values() if link.lag}


def _links(fabric: Fabric, text: str) -> list[Link] | None:
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


def _lower(fabric: Fabric, link: Link, text: str) -> str:
    """The end of ``link`` that data leaves outward from."""
    return text if text in (link.a, link.b) else link.a


def _element(fabric: Fabric, text: str, ways: tuple[Direction, ...], sense: str) -> FillElement:
    """``leaf1 to spine1`` for one directed link, ``leaf1 out`` for several."""
    return FillElement(direction_name(fabric, ways[0]) if len(ways) == 1 else f"{text} {sense}", ways)
