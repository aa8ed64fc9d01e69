"""Parts of directed links that fill by themselves, and very many of them, named when they are asked for."""

from collections.abc import Iterator, Sequence
from typing import overload

from msgspec import Struct

from benchconsole.topology.arrays import Indices
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Direction
from benchconsole.topology.routing.graph import Graph


class LinkPart(Struct, frozen=True, order=True, gc=False):
    """What fills by itself: a directed link, one member cable of it (from 0), its channel of a VLAN, or a ceiling.

    For a ceiling inside a device the first link that passes it stands.
    """

    way: Direction
    member: int | None = None
    vlan: int | None = None
    ceiling: CeilingSide | None = None

    @property
    def is_whole(self) -> bool:
        return self.member is None and self.vlan is None and self.ceiling is None


class LinkParts(Sequence[LinkPart]):
    """The directed links ``whole``, the member cables ``members`` (number of the directed link, member), and others.

    Links are numbers of ``graph``, and get names when they are asked for: very few of very many limit a flow.
    """

    def __init__(
        self, graph: Graph, whole: Indices, members: tuple[Indices, Indices], others: Sequence[LinkPart] = ()
    ) -> None:
        self._graph = graph
        self._whole = whole
        self._members = members
        self._others = others

    def __len__(self) -> int:
        return len(self._whole) + len(self._members[0]) + len(self._others)

    @overload
    def __getitem__(self, at: int) -> LinkPart: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[LinkPart]: ...
    def __getitem__(self, at: int | slice) -> LinkPart | Sequence[LinkPart]:
        if isinstance(at, slice):
            return list(self)[at]
        place = range(len(self))[at]
        if place < len(self._whole):
            return LinkPart(self._graph.direction(int(self._whole[place])))
        place -= len(self._whole)
        way, member = self._members
        if place < len(way):
            return LinkPart(self._graph.direction(int(way[place])), int(member[place]))
        return self._others[place - len(way)]

    def __iter__(self) -> Iterator[LinkPart]:
        direction = self._graph.direction
        way, member = self._members
        yield from map(LinkPart, map(direction, self._whole.tolist()))
        yield from map(LinkPart, map(direction, way.tolist()), member.tolist())
        yield from self._others
