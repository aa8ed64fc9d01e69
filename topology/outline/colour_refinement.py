"""Colour refinement: the coarsest equitable partition of a graph with coloured vertices and edges.

Two vertices end in one class when they had the same colour and have, class by class, the same number of edges
of each colour. Method of splitters, O(edges x log vertices): A. Cardon and M. Crochemore, Partitioning a graph
in O(|A| log2 |V|), Theoretical Computer Science 19 (1982).
"""

from collections.abc import Hashable, Sequence

from benchconsole.topology.grouping import group_by_key

Neighbours = Sequence[Sequence[tuple[int, int]]]
"""For each vertex its (edge colour, other vertex); an edge stands at both of its ends."""


class _Partition:
    """The classes while they are split. ``colour`` maps a vertex to its class."""

    def __init__(self, colours: Sequence[Hashable]) -> None:
        numbers: dict[Hashable, int] = {}
        self.colour = [numbers.setdefault(each, len(numbers)) for each in colours]
        self.members: list[set[int]] = [set() for _ in numbers]
        for vertex, each in enumerate(self.colour):
            self.members[each].add(vertex)
        self.waiting = set(range(len(numbers)))
        self.queue = list(range(len(numbers)))

    def split(self, seen: dict[int, list[int]]) -> None:
        """Divide every class by what its vertices see of the splitter; those in no ``seen`` see nothing."""
        parts: dict[int, dict[tuple[int, ...], list[int]]] = {}
        for vertex, edges in seen.items():
            edges.sort()
            parts.setdefault(self.colour[vertex], {}).setdefault(tuple(edges), []).append(vertex)
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


def refine(colours: Sequence[Hashable], neighbours: Neighbours) -> list[int]:
    """The class of each vertex in the coarsest equitable partition of ``colours``, numbered by first vertex."""
    partition = _Partition(colours)
    while partition.queue:
        splitter = partition.queue.pop()
        partition.waiting.discard(splitter)
        edges = ((other, edge) for vertex in partition.members[splitter] for edge, other in neighbours[vertex])
        partition.split(group_by_key(edges))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(each, len(numbers)) for each in partition.colour]
