"""Halves of the nodes of a fabric between which the least capacity lies (bisection).

Halves hold equally many machines with a cable, one more where their number is odd; a machine with virtual ones moves as
a whole. For given sides of the switches the machines follow at once: those go over that cost least. So the search is
over the sides of the switches. Switches without machines that are not cabled to each other (the spines of a Clos) take
the side where they part less. The others are tried in full up to ``MOST_TRIED`` switches: then the halves are the
least. Of more switches the halves are found by local search from many starts, or of a large fabric pod by pod: they
are halves of the fabric, so what lies between them is an upper bound, but others may be less. No start and no tie
depends on the order of the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from string import digits

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.graph_algorithms import find_components

MOST_TRIED = 16
"""Switches whose sides are all tried: 32,768 ways."""
_MOST_SEARCHED = 200
"""Switches up to which sides are improved switch by switch; above, pods are taken as a whole."""
_AT_ONCE = 2_000_000
"""Numbers of one table of tried sides."""
_STEPS = 60

_NUMBER = re.compile(r"(\d+)")
_Sides = Flags
"""A row for each try, a column for each vertex of ``Tables.forwarding``: whether it is on the far side."""


@dataclass(frozen=True, slots=True)
class Halves:
    """The machines of both sides, as devices; ``exact``: no other halves have less capacity between them."""

    near: Indices
    far: Indices
    exact: bool


def find_halves(cabled: Tables) -> Halves | None:
    """The halves with the least capacity between them that were found; None for fewer than two machines."""
    search = _Search(cabled)
    if search.machines < 2:
        return None
    sides, exact = search.run()
    far = search.list_far(sides)
    every = np.flatnonzero(cabled.node_groups.group >= 0)
    near = np.setdiff1d(every, far)
    # The half with the first name is the near one, whatever side it came out on.
    if len(far) and search.order[far].min() < search.order[near].min(initial=len(search.order)):
        near, far = far, near
    return Halves(near, far, exact)


class _Search:
    """The numbers of one fabric that decide what lies between two sides.

    Groups are those machines of node groups that do not forward; what forwards is a vertex, ``weight`` 1 if a machine.
    """

    def __init__(self, cabled: Tables) -> None:
        self.cabled = cabled
        self.graph = cabled.forwarding
        groups = cabled.node_groups
        every = np.flatnonzero(groups.group >= 0)
        plain = every[~cabled.forwards[every]]
        self.count = np.bincount(groups.group[plain], minlength=len(groups))
        self.weight = np.zeros(len(self.graph.device), np.intp)
        self.weight[self.graph.vertex[every[cabled.forwards[every]]]] = 1
        self.machines = len(every)
        kept = self.count[groups.owner] > 0
        self.owner = groups.owner[kept]
        self.leg = self.graph.vertex[groups.switch[kept]]
        self.carried = groups.capacity[kept]
        self.order = _order_names(cabled.names)

    @cached_property
    def _used(self) -> Flags:
        """Per vertex whether anything is cabled to it."""
        used = np.zeros(len(self.weight), bool)
        for ends in (self.graph.a, self.graph.b, self.leg):
            used[ends] = True
        return used

    @cached_property
    def free(self) -> Indices:
        """Vertices that follow the others: without a machine, and not cabled to each other; most cables first."""
        bare = self._used & (self.weight == 0)
        bare[self.leg] = False
        degree = np.bincount(np.concatenate((self.graph.a, self.graph.b)), minlength=len(bare))
        beside: list[set[int]] = [set() for _ in bare]
        for one, other in zip(self.graph.a.tolist(), self.graph.b.tolist(), strict=True):
            beside[one].add(other)
            beside[other].add(one)
        found: list[int] = []
        taken: set[int] = set()
        candidates = np.flatnonzero(bare)
        names = self.order[self.graph.device[candidates]]
        for vertex in candidates[np.lexsort((names, -degree[candidates]))].tolist():
            if not beside[vertex] & taken:
                found.append(vertex)
                taken.add(vertex)
        return np.array(found, np.intp)

    @cached_property
    def chosen(self) -> Indices:
        """Vertices whose side is searched, in the order of their names."""
        mine = np.setdiff1d(np.flatnonzero(self._used), self.free)
        return mine[np.argsort(self.order[self.graph.device[mine]])]

    def run(self) -> tuple[Flags, bool]:
        """The best sides of all vertices, and whether no others are better."""
        number = len(self.chosen)
        if number <= MOST_TRIED:
            return self._pick(self._list_all(number)), True
        if number > _MOST_SEARCHED:
            return self._pick(self._list_pods()), False
        starts = np.concatenate(list(self._list_starts()))
        costs = self.compute_costs(starts)
        best = starts[np.argsort(costs, kind="stable")[:4]]
        return self._pick(iter([np.stack([self._improve(row) for row in best])])), False

    def _pick(self, tries: Iterator[_Sides]) -> Flags:
        """The cheapest of several rows, the first of equals, with the sides of those that follow."""
        found, least = np.zeros(len(self.weight), bool), np.inf
        for rows in tries:
            costs = self.compute_costs(rows)
            at = int(np.argmin(costs))
            # Sums of the same cables in another order differ in their last bit.
            if costs[at] < least * (1 - 1e-12):
                found, least = self._follow(rows[[at]])[0], float(costs[at])
        return found

    def _list_all(self, number: int) -> Iterator[_Sides]:
        """Every choice of sides, the first vertex always near."""
        total = 1 << max(number - 1, 0)
        rows = max(1, _AT_ONCE // (len(self.weight) + len(self.count) + len(self.graph.a) + 1))
        for first in range(0, total, rows):
            codes = np.arange(first, min(first + rows, total))
            table = np.zeros((len(codes), len(self.weight)), bool)
            for place, vertex in enumerate(self.chosen[1:].tolist()):
                table[:, vertex] = codes >> place & 1
            yield table

    def _follow(self, sides: _Sides) -> _Sides:
        """The same rows, with every free vertex where it parts less."""
        if not len(self.free):
            return sides
        graph = self.graph
        place = np.full(len(self.weight), -1)
        place[self.free] = np.arange(len(self.free))
        pull = np.zeros((len(sides), len(self.free)))
        for mine, other in ((graph.a, graph.b), (graph.b, graph.a)):
            edges = np.flatnonzero(place[mine] >= 0)
            edges = edges[np.argsort(place[mine[edges]], kind="stable")]
            if len(edges):
                first = np.flatnonzero(np.diff(place[mine[edges]], prepend=-1))
                signed = np.where(sides[:, other[edges]], graph.capacity[edges], -graph.capacity[edges])
                pull[:, place[mine[edges[first]]]] += np.add.reduceat(signed, first, axis=1)
        found = sides.copy()
        found[:, self.free] = pull > 0
        return found

    def compute_costs(self, sides: _Sides) -> Floats:
        """byte/s between the halves, per row; infinite where these sides allow no halves."""
        far = self._follow(sides)
        found: Floats = np.min([self._compute_costs(far, size) for size in self.sizes], axis=0)
        return found

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many machines the far side may hold."""
        return (self.machines // 2, self.machines - self.machines // 2)[: 1 + self.machines % 2]

    def _compute_costs(self, far: _Sides, size: int) -> Floats:
        """The same for a far side of ``size`` machines, with all vertices on a side."""
        graph = self.graph
        cost: Floats = (far[:, graph.a] != far[:, graph.b]) @ graph.capacity
        gain, moved = self._find_moves(far, size)
        if len(self.owner):
            crossing = np.where(far[:, self.leg], self.carried, 0.0)
            first = np.flatnonzero(np.diff(self.owner, prepend=-1))
            staying = np.zeros((len(far), len(self.count)))
            staying[:, self.owner[first]] = np.add.reduceat(crossing, first, axis=1)
            cost = cost + staying @ self.count + (gain * moved).sum(axis=1)
        return np.where(moved.sum(axis=1) + far @ self.weight == size, cost, np.inf)

    def _find_moves(self, far: _Sides, size: int) -> tuple[Floats, Indices]:
        """Per row and group: what a machine costs more on the far side, and how many of ``size`` are there."""
        gain = np.zeros((len(far), len(self.count)))
        if len(self.owner):
            signed = np.where(far[:, self.leg], -self.carried, self.carried)
            first = np.flatnonzero(np.diff(self.owner, prepend=-1))
            gain[:, self.owner[first]] = np.add.reduceat(signed, first, axis=1)
        order = np.argsort(gain, axis=1, kind="stable")
        counts = self.count[order]
        wanted = np.maximum(size - far @ self.weight, 0)[:, None]
        before = np.cumsum(counts, axis=1) - counts
        taken = np.clip(wanted - before, 0, counts)
        moved = np.zeros_like(taken)
        np.put_along_axis(moved, order, taken, axis=1)
        return gain, moved

    def list_far(self, sides: Flags) -> Indices:
        """The machines on the far side; of machines cabled alike the last by name."""
        cabled, groups = self.cabled, self.cabled.node_groups
        _, moved = self._find_moves(
            sides[None], min(self.sizes, key=lambda size: float(self._compute_costs(sides[None], size)[0]))
        )
        every = np.flatnonzero(groups.group >= 0)
        found = [every[cabled.forwards[every] & sides[np.maximum(self.graph.vertex[every], 0)]]]
        plain = every[~cabled.forwards[every]]
        plain = plain[np.lexsort((-self.order[plain], groups.group[plain]))]
        start = np.cumsum(self.count) - self.count
        rank = np.arange(len(plain)) - start[groups.group[plain]]
        found.append(plain[rank < moved[0][groups.group[plain]]])
        return np.sort(np.concatenate(found))

    # -- starts

    def _list_starts(self) -> Iterator[_Sides]:
        """Sides by nearness to one of two vertices, those between going either way; and grown from each vertex."""
        away = self._find_distances()
        one, other = np.triu_indices(len(self.chosen), 1)
        if len(one) > 2_000:
            near = away[self.chosen[one], self.chosen[other]] <= 2
            one, other = one[near], other[near]
        rows = np.concatenate((one, other)), np.concatenate((other, one))
        yield away[self.chosen[rows[0]]] < away[self.chosen[rows[1]]]
        for vertex in self.chosen.tolist():
            yield self._grow(vertex, away[vertex])[None]

    def _find_distances(self) -> Indices:
        size = len(self.weight)
        away = np.full((size, size), size)
        beside = np.zeros((size, size), bool)
        beside[self.graph.a, self.graph.b] = beside[self.graph.b, self.graph.a] = True
        reached = np.eye(size, dtype=bool)
        for step in range(size):
            away[reached & (away == size)] = step
            further = reached | (reached.astype(np.float32) @ beside > 0)
            if (further == reached).all():
                break
            reached = further
        return away

    def _grow(self, start: int, away: Indices) -> Flags:
        """From one vertex on, the vertex with most capacity into what is there already, until half of all is held."""
        held = self.weight.astype(float)
        legs = np.bincount(self.owner, minlength=len(self.count))
        np.add.at(held, self.leg, self.count[self.owner] / legs[self.owner])
        capacity = np.zeros((len(held), len(held)))
        np.add.at(capacity, (self.graph.a, self.graph.b), self.graph.capacity)
        capacity += capacity.T
        far = np.zeros(len(held), bool)
        far[start] = True
        while held[far].sum() < self.machines / 2 and not far[self._used].all():
            inside = capacity[:, far].sum(axis=1)
            gain = 2 * inside - capacity.sum(axis=1)
            gain[far | ~self._used] = -np.inf
            best = np.flatnonzero(gain == gain.max())
            far[best[np.lexsort((self.order[self.graph.device[best]], away[best]))[0]]] = True
        return far

    def _improve(self, row: Flags) -> Flags:
        """``row`` with single vertices on the other side, or two that change sides, while that costs less."""
        cost = self.compute_costs(row[None])[0]
        for _ in range(_STEPS):
            tries = self._list_moves(row)
            costs = self.compute_costs(tries)
            at = int(np.argmin(costs))
            if not costs[at] < cost * (1 - 1e-12):
                break
            row, cost = tries[at], costs[at]
        return row

    def _list_moves(self, row: Flags) -> _Sides:
        number = len(self.chosen)
        swaps = np.triu_indices(number, 1) if number <= 64 else (np.zeros(0, np.intp),) * 2
        apart = row[self.chosen[swaps[0]]] != row[self.chosen[swaps[1]]]
        one, other = self.chosen[swaps[0][apart]], self.chosen[swaps[1][apart]]
        tries = np.tile(row, (number + len(one), 1))
        tries[np.arange(number), self.chosen] ^= True
        rows = number + np.arange(len(one))
        tries[rows, one] ^= True
        tries[rows, other] ^= True
        return tries

    def _list_pods(self) -> Iterator[_Sides]:
        """Pods (what is joined below the top) to the far side, those with the thinnest ways up for each machine first,
        and in the order of their names.
        """
        graph, top = self.graph, self.cabled.uplinks.top[self.graph.device]
        below = ~top[graph.a] & ~top[graph.b]
        label = find_components(len(top), graph.a[below], graph.b[below])
        size = len(top)
        held = np.bincount(label[self.leg], weights=self.count[self.owner], minlength=size)
        up = np.zeros(size)
        for low, high in ((graph.a, graph.b), (graph.b, graph.a)):
            leaving = ~top[low] & top[high]
            up += np.bincount(label[low[leaving]], weights=graph.capacity[leaving], minlength=size)
        first = np.full(size, len(self.order))
        np.minimum.at(first, label, self.order[graph.device])
        pods = np.flatnonzero(held > 0)
        each = up[pods] / held[pods]
        for order in (np.lexsort((first[pods], held[pods], each)), np.argsort(first[pods])):
            filled = np.cumsum(held[pods[order]])
            taken = pods[order[: int(np.searchsorted(filled, filled[-1] / 2)) + 1]]
            far = np.isin(label, taken) & ~top
            yield np.stack([far, np.isin(label, taken[:-1]) & ~top])


def _split_numbers(name: str) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in _NUMBER.split(name)]


def _order_names(names: tuple[str, ...]) -> Indices:
    """The place of each device in the order of names: by what is before the last number, then by that number.

    Numbers are compared as numbers. A large fabric has few different beginnings, which are split; its names are not.
    """
    stems = [name.rstrip(digits) for name in names]
    rank = {stem: place for place, stem in enumerate(sorted(set(stems), key=_split_numbers))}
    keys = [(rank[stem], int(name[len(stem) :] or -1)) for name, stem in zip(names, stems, strict=True)]
    order = sorted(range(len(names)), key=keys.__getitem__)
    found = np.empty(len(names), np.intp)
    found[order] = np.arange(len(names))
    return found
