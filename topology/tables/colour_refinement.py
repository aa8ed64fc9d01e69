"""Colour refinement: the coarsest equitable partition of a graph with coloured vertices and edges.

Two vertices end in one class when they had the same colour and have, class by class, the same number of edges
of each colour. Method of splitters, O(edges x log vertices): A. Cardon and M. Crochemore, Partitioning a graph
in O(|A| log2 |V|), Theoretical Computer Science 19 (1982). Vertices of few edges that have the same colour and the
same edges to the same others, as the nodes of one leaf, are one vertex from the start.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Indices

_FEW = 8
"""Edges of a vertex up to which others with the same ones are sought."""

_View = int
"""How many edges of each colour a vertex has: one number, a digit for each colour, to a base that none reaches."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges between vertices that are numbers from 0: both ends and the colour of each, three arrays of one length."""

    one: Indices
    other: Indices
    colour: Indices


class _Partition:
    """The classes while they are split. ``colour`` maps a vertex to its class."""

    def __init__(self, colours: Sequence[int]) -> None:
        numbers: dict[int, int] = {}
        self.colour = [numbers.setdefault(each, len(numbers)) for each in colours]
        self.members: list[set[int]] = [set() for _ in numbers]
        for vertex, each in enumerate(self.colour):
            self.members[each].add(vertex)
        self.waiting = set(range(len(numbers)))
        self.queue = list(range(len(numbers)))

    def split(self, seen: dict[int, _View]) -> None:
        """Divide every class by what its vertices see of the splitter; those in no ``seen`` see nothing."""
        parts: dict[int, dict[_View, list[int]]] = {}
        for vertex, view in seen.items():
            parts.setdefault(self.colour[vertex], {}).setdefault(view, []).append(vertex)
        for old, by_view in parts.items():
            self._divide(old, list(by_view.values()))

    def _divide(self, old: int, parts: list[list[int]]) -> None:
        rest = len(self.members[old]) - sum(map(len, parts))
        # One part keeps the old number: those that see nothing, else the largest that does.
        if not rest:
            parts.remove(max(parts, key=len))
        fresh = []
        for part in parts:
            number = len(self.members)
            self.members[old].difference_update(part)
            self.members.append(set(part))
            for vertex in part:
                self.colour[vertex] = number
            fresh.append(number)
        # All parts of a class that still waits must split others; else all but the largest of them.
        if old not in self.waiting and fresh:
            fresh = [old, *fresh]
            fresh.remove(max(fresh, key=lambda number: len(self.members[number])))
        self.waiting.update(fresh)
        self.queue.extend(fresh)


def refine(colours: Indices, edges: Edges) -> Indices:
    """The class of each vertex in the coarsest equitable partition of ``colours``, numbered by first vertex."""
    # Each edge from both of its ends.
    tails, heads = np.concatenate((edges.one, edges.other)), np.concatenate((edges.other, edges.one))
    colour = np.concatenate((edges.colour, edges.colour))
    twin, first = _find_twins(colours, tails, heads, colour)
    partition = _Partition(colours[first].tolist())
    seen_by = _list_seen(twin, first, Edges(tails, heads, colour))
    while partition.queue:
        splitter = partition.queue.pop()
        partition.waiting.discard(splitter)
        seen: defaultdict[int, _View] = defaultdict(int)
        for vertex in partition.members[splitter]:
            for other, view in seen_by[vertex]:
                seen[other] += view
        partition.split(seen)
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in partition.colour], np.intp)[twin]


def _find_twins(colours: Indices, tails: Indices, heads: Indices, colour: Indices) -> tuple[Indices, Indices]:
    """Per vertex the number of those with its colour and its edges, and per number its first vertex; in their order."""
    number = len(colours)
    order = np.lexsort((colour, heads, tails))
    degree = np.bincount(tails, minlength=number)
    start = np.cumsum(degree) - degree
    what = np.unique(colour[order] * number + heads[order], return_inverse=True)[1]
    code, codes = np.empty(number, np.intp), 0
    for edges in np.unique(degree).tolist():
        alike = np.flatnonzero(degree == edges)
        own = np.arange(len(alike)) if edges > _FEW else colours[alike]
        for place in range(edges if edges <= _FEW else 0):
            own = np.unique(own * (len(what) + 1) + what[start[alike] + place], return_inverse=True)[1]
        code[alike] = own + codes
        codes = int(code[alike].max()) + 1
    _, first, of = np.unique(code, return_index=True, return_inverse=True)
    place_of = np.empty(len(first), np.intp)
    place_of[np.argsort(first)] = np.arange(len(first))
    return place_of[of], np.sort(first)


def _list_seen(twin: Indices, first: Indices, edges: Edges) -> list[list[tuple[int, _View]]]:
    """Per number of twins who sees it: another number, and its edges to all of them."""
    known = first[twin[edges.one]] == edges.one
    seen, by, colour = twin[edges.other[known]], twin[edges.one[known]], edges.colour[known]
    colours = int(colour.max(initial=0)) + 1
    code, many = np.unique((seen * len(first) + by) * colours + colour, return_counts=True)
    pairs, colour = np.divmod(code, colours)
    seen, by = np.divmod(pairs, len(first))
    found: list[list[tuple[int, _View]]] = [[] for _ in first]
    width = len(edges.one).bit_length()
    rows: Iterable[tuple[int, int, int, int]] = zip(*(each.tolist() for each in (seen, by, colour, many)), strict=True)
    for at, vertex, own, number in rows:
        found[at].append((vertex, number << own * width))
    return found
