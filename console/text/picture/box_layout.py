"""Places of the boxes of a picture: rows from the core down, columns, and the lines that pass a row.

A box stands below the first that it hangs on where there is room. A tier that is too wide goes on in further rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.picture.captions import Captions, between, entry, wrap_caption
from benchconsole.console.text.sanitize import sanitize
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.outline.boxes import Box, Edge

BOX_WIDTHS = (56, 48, 42, 38, 34, 30, 28, 26, 24)
"""Columns that a box may have: in each tier the most with which it fits in one row, else ``WRAPPED``."""
WRAPPED = 34
LEAST_WORDS = 16
"""Columns beside the lines that enter a box."""
STRAIGHT = 4
"""Columns that the lines into a box may take more of its width, so that they come straight down."""
GAP = 2
PORT = 2
"""Columns from the left edge of a box to the line that leaves it below, and to the first that enters it."""
ASIDE = 18
"""Columns of the words on a line between two boxes of a row."""
PASS = 2
"""Columns of a line that passes a row: two, so that it can keep off another line that ends there."""


@dataclass(slots=True)
class Place:
    """Where one box, or a line that passes a row, stands; ``net`` is the box that the line comes from.

    ``ups`` are the boxes above that the box hangs on, ``hooks`` the columns where their lines enter it. ``aside`` are
    the words on the line to the box on its left, ``apart`` the boxes of the row that it is joined to and that do not
    stand beside it. ``goes_on``: something hangs on it further down.
    """

    net: str
    box: Box | None
    width: int
    gap: int = GAP
    x: int = 0
    ups: tuple[str, ...] = ()
    hooks: tuple[int, ...] = ()
    aside: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    goes_on: bool = True


class Layout:
    """``rows`` from the top, each from the left; ``edges`` by the two boxes that they join.

    Without ``lines`` no box hangs on another: each is ``apart`` from all that its edges lead to.
    """

    def __init__(self, captions: Captions, width: int, *, lines: bool = True) -> None:
        self.width = width
        self.captions = captions
        self.rows: list[list[Place]] = []
        self.edges: dict[frozenset[str], list[Edge]] = {}
        self._partners: dict[str, list[str]] = {box.id: [] for box in captions.outline.boxes}
        self._named: dict[str, list[str]] = {box.id: [] for box in captions.outline.boxes}
        for edge in captions.outline.edges:
            ends = frozenset((edge.lower, edge.upper))
            if ends not in self.edges and not edge.inside:
                if lines:
                    self._partners[edge.lower].append(edge.upper)
                    self._partners[edge.upper].append(edge.lower)
                else:
                    self._named[edge.lower].append(edge.upper)
            self.edges.setdefault(ends, []).append(edge)
        self._waiting = set(self._partners)
        self._lines: dict[str, int] = {}
        for boxes in group_by_key((box.tier, box) for box in captions.outline.boxes).values():
            self._tier(sorted(boxes, key=lambda box: self._column(box.id)))

    @property
    def fits(self) -> bool:
        return all(_needed(row) <= self.width for row in self.rows)

    def _tier(self, waiting: Sequence[Box]) -> None:
        fitting = (each for each in BOX_WIDTHS if _needed(self._row(waiting, each)) <= self.width)
        widest = next(fitting, WRAPPED)
        while waiting:
            number = 1
            while number < len(waiting) and _needed(self._row(waiting[: number + 1], widest)) <= self.width:
                number += 1
            self._stand(self._row(waiting[:number], widest))
            waiting = waiting[number:]

    def _column(self, box: str) -> int:
        """Where the first of the lines that enter ``box`` comes down."""
        return min((self._lines[up] for up in self._partners[box] if up in self._lines), default=self.width)

    def _row(self, boxes: Sequence[Box], widest: int) -> list[Place]:
        """Places for ``boxes`` from left to right, and for the lines that go on below them."""
        here = [box.id for box in boxes]
        places = []
        for before, box, after in zip(["", *here], boxes, [*here[1:], ""], strict=False):
            partners = self._partners[box.id]
            aside = self._aside(box.id, before) if before in partners else ()
            ups = sorted(set(partners) & set(self._lines), key=self._lines.__getitem__)
            places.append(
                Place(
                    box.id,
                    box,
                    self._width(box, ups, widest),
                    gap=max(map(measure_width, aside)) + 2 if aside else GAP,
                    ups=tuple(ups),
                    aside=aside,
                    apart=(
                        *(other for other in partners if other in here and other not in (before, after)),
                        *self._named[box.id],
                    ),
                    goes_on=any(other in self._waiting and other not in here for other in partners),
                )
            )
        self._pass(places, self._waiting.difference(here))
        return places

    def _pass(self, places: list[Place], waiting: set[str]) -> None:
        """Add the lines that something still waits for, each after the boxes that stand to its left."""
        for net, column in sorted(self._lines.items(), key=lambda line: line[1]):
            if waiting.isdisjoint(self._partners[net]):
                continue
            at = 0
            for index, place in enumerate(places):
                if self._wish(place, 0) <= column:
                    at = index + 1
            while at < len(places) and places[at].aside:
                at += 1
            places.insert(at, Place(net, None, PASS))

    def _aside(self, box: str, left: str) -> tuple[str, ...]:
        words = [word for edge in self.edges[frozenset((box, left))] for word in edge.words]
        return tuple(
            line for word in words for part in sanitize(word).split(", ") for line in wrap_caption(part, ASIDE)
        )

    def _width(self, box: Box, ups: Sequence[str], widest: int) -> int:
        """As wide as its words, within limits; the sign of a frame and a blank stand on each side of them."""
        hooks = PORT + 2 * len(ups)
        words = [measure_width(sanitize(box.name)) + len(f"{box.count:,}") + hooks + 6]
        words += [
            measure_width(fact) + 4 for fact in (*self.captions.facts(box), *self.named(box, self._named[box.id]))
        ]
        for up in ups:
            edges = self.edges[frozenset((box.id, up))]
            words += [
                measure_width(line) + hooks for line in entry(edges, self.captions.box(up) if len(ups) > 1 else None)
            ]
        return max(min(max(words), widest), hooks + len(ups) + LEAST_WORDS)

    def named(self, box: Box, others: Sequence[str]) -> Iterator[str]:
        """The links that join ``box`` to ``others``, in words that stand in the box."""
        for other in others:
            for edge in self.edges[frozenset((box.id, other))]:
                yield f"= to {sanitize(self.captions.box(other).name)}: {between(edge)}"

    def _wish(self, place: Place, otherwise: int) -> int:
        """The column where ``place`` would stand below what it hangs on."""
        if place.box is None:
            return self._lines[place.net]
        return min((self._lines[up] - PORT for up in place.ups), default=otherwise)

    def _stand(self, places: list[Place]) -> None:
        """Give each place its column: where it wishes to be, as far as those before and after it leave room."""
        end = 0
        for index, place in enumerate(places):
            rest = _needed(places[index:])
            first = end + (place.gap if index else 0)
            place.x = max(first, min(self._wish(place, first), self.width - rest))
            place.gap = place.x - end
            end = place.x + place.width
            if place.box is None:
                place.x += self._taken(place.x, place.net)
            else:
                place.hooks = tuple(self._hooks(place))
        self._waiting -= {place.net for place in places}
        self._lines = {p.net: p.x if p.box is None else p.x + PORT for p in places if p.goes_on}
        self.rows.append(places)

    def _hooks(self, place: Place) -> Iterator[int]:
        """Columns for the lines that enter a box; straight down where that is near, never below another line."""
        column = place.x + PORT
        spare = STRAIGHT
        for up in place.ups:
            if 0 < self._lines[up] - column <= spare:
                spare -= self._lines[up] - column
                column = self._lines[up]
            column += self._taken(column, up)
            yield column
            column += 2

    def _taken(self, column: int, net: str) -> int:
        """1 where another line than ``net`` comes down in ``column``; lines are two columns apart."""
        return int(any(at == column and other != net for other, at in self._lines.items()))


def _needed(places: Sequence[Place]) -> int:
    return sum(place.width for place in places) + sum(place.gap for place in places[1:])
