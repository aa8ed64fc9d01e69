"""Parts of directed links that fill by themselves, and very many of them, named when they are asked for."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

from msgspec import Struct

from benchconsole.topology.arrays import Indices
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Direction
from benchconsole.topology.routing.graph import Graph


class LinkPart(Struct, frozen=True, order=True, gc=False):
    """A part that fills by itself: a directed link, one member cable (from 0), its channel of a VLAN, or a ceiling.

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

    Links are numbers of ``graph``; parts are made of them when the first is asked for.
    """

    def __init__(
        self, graph: Graph, whole: Indices, members: tuple[Indices, Indices], others: Sequence[LinkPart] = ()
    ) -> None:
        self._graph = graph
        self._whole = whole
        self._members = members
        self._others = others

    @cached_property
    def _parts(self) -> Sequence[LinkPart]:
        direction, (way, member) = self._graph.direction, self._members
        whole = map(LinkPart, map(direction, self._whole.tolist()))
        return (*whole, *map(LinkPart, map(direction, way.tolist()), member.tolist()), *self._others)

    def __len__(self) -> int:
        return len(self._whole) + len(self._members[0]) + len(self._others)

    @overload
    def __getitem__(self, at: int) -> LinkPart: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[LinkPart]: ...
    def __getitem__(self, at: int | slice) -> LinkPart | Sequence[LinkPart]:
        return self._parts[at]

    def __iter__(self) -> Iterator[LinkPart]:
        return iter(self._parts)
