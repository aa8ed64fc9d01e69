"""Rates of flows whose packets are sprayed: each flow over all of its ways of least hops, in the best parts.

That is what adaptive routing of packets reaches where it works as it should: the max-min fair rates over every split.
The lowest rate is a linear program, those that it holds back are kept at it, and the next lowest follows (Nace and
Pióro, Max-min fairness and its applications to routing, IEEE Communications Surveys 10, 2008).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchconsole.topology.arrays import Flags, Floats
from benchconsole.topology.capacity.ceiling_loads import compute_payload, place_side
from benchconsole.topology.capacity.linear_program import LinearProgram, Solution, make_matrix, solve, stack_rows
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Flow
from benchconsole.topology.routing.routes import Routes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_EXACT = 1e-9
_PRICE = 1e-7
"""Price from which a flow is held back: those of a program whose level is priced 1 add up to 1."""


@dataclass(frozen=True, slots=True)
class SprayedRate:
    """byte/s of payload of one flow, and the links and ceilings that hold it back; none where its demand does."""

    value: float
    parts: tuple[LinkPart, ...]

    @property
    def limiting(self) -> tuple[Direction, ...]:
        """The links among them, with those that stand for ceilings."""
        return tuple(dict.fromkeys(part.way for part in self.parts))


def spray(routes: Routes, flows: Sequence[Flow], capacity: Mapping[int, float]) -> tuple[SprayedRate, ...]:
    """The rate of each flow when all run at once; ``capacity`` is byte/s of payload by number of directed link.

    RoutingError for a flow without a path, or over a link that is split in channels.
    """
    groups = list(group_by_key((flow, index) for index, flow in enumerate(flows)).items())
    program = _Spraying(routes, [flow for flow, _ in groups], [len(places) for _, places in groups], capacity)
    found: list[SprayedRate] = [SprayedRate(0.0, ())] * len(flows)
    for (_, places), rate in zip(groups, program.fill(), strict=True):
        for place in places:
            found[place] = rate
    return tuple(found)


class _Spraying:
    """Columns: each group of equal flows on each of its directed links, its rate, and the level of all."""

    def __init__(
        self, routes: Routes, flows: Sequence[Flow], counts: Sequence[int], capacity: Mapping[int, float]
    ) -> None:
        self._routes = routes
        self._flows = flows
        self._counts = np.array(counts, float)
        self._ways = [routes.route(flow).ways.tolist() for flow in flows]
        used = sorted({way for ways in self._ways for way in ways})
        split = next((way for way in used if routes.graph.links[way >> 1].channels), None)
        if split is not None:
            raise RoutingError(f"{routes.graph.links[split >> 1].id} is split in channels, and spray knows no channels")
        self._row = {way: row for row, way in enumerate(used)}
        self._used = used
        self._passed = routes.graph.columns.passed
        self._sides = list(dict.fromkeys(side for way in used for side, _ in self._passed.get(way, ())))
        self._capacity = np.array([capacity[way] for way in used])
        self._scale = float(self._capacity.max())
        self._first = sum(map(len, self._ways))
        self._width = self._first + len(flows) + 1
        self._balance = self._list_balance()
        self._shares = self._list_shares()

    def _list_balance(self) -> "csr_array":
        graph = self._routes.graph
        rows: dict[tuple[int, str], int] = {}
        cells: list[tuple[int, int, float]] = []
        column = 0
        for index, (flow, ways) in enumerate(zip(self._flows, self._ways, strict=True)):
            source, sink = (self._routes.attachments.legs(node).device for node in (flow.source, flow.sink))
            for way in ways:
                for device, sign in ((graph.direction(way ^ 1).source, 1.0), (graph.direction(way).source, -1.0)):
                    if device != source:
                        cells.append((rows.setdefault((index, device), len(rows)), column, sign))
                column += 1
            cells.append((rows.setdefault((index, sink), len(rows)), self._first + index, -1.0))
        return _fill_cells(cells, len(rows), self._width)

    def _list_shares(self) -> "csr_array":
        ways = [way for each in self._ways for way in each]
        cells = [(self._row[way], column, 1.0) for column, way in enumerate(ways)]
        row = {side: len(self._used) + number for number, side in enumerate(self._sides)}
        for column, way in enumerate(ways):
            for side, inside in self._passed.get(way, ()):
                cells.append((row[side], column, sum(inside) / len(inside)))
        return _fill_cells(cells, len(self._used) + len(self._sides), self._width)

    def fill(self) -> list[SprayedRate]:
        """The rate of one flow of each group, the lowest first."""
        demand = np.array([np.inf if flow.demand is None else flow.demand / self._scale for flow in self._flows])
        rate = np.full(len(self._flows), np.nan)
        limiting: list[tuple[LinkPart, ...]] = [()] * len(self._flows)
        while np.isnan(rate).any():
            left = np.flatnonzero(np.isnan(rate))
            found = self._raise(rate, float(demand[left].min()))
            level = float(found.variables[-1])
            price = np.abs(found.price[self._balance.shape[0] :][: len(rate)])
            full = found.price[-len(self._used) - len(self._sides) :] > _PRICE
            done = [index for index in left if demand[index] <= level * (1 + _EXACT)]
            held = [index for index in left if price[index] * self._counts[index] > _PRICE and index not in done]
            for index in held:
                ways = [way for way in self._ways[index] if full[self._row[way]]]
                limiting[index] = (
                    *(LinkPart(self._routes.graph.direction(way)) for way in ways),
                    *self._place_full_sides(int(index), full[len(self._used) :]),
                )
            if not done and not held:
                raise ArithmeticError("no flow holds the level of sprayed flows back, though it cannot rise")
            rate[[*done, *held]] = level
        return [SprayedRate(float(each) * self._scale, ways) for each, ways in zip(rate, limiting, strict=True)]

    def _list_bounds(self) -> tuple[Floats, Floats]:
        """The capacity of each used link and each ceiling, in parts of the fastest link."""
        ceilings = [compute_payload(self._routes.fabric, side) for side in self._sides]
        return self._capacity / self._scale, np.array(ceilings, float) / self._scale

    def _place_full_sides(self, index: int, full: Flags) -> Iterator[LinkPart]:
        """The full ceilings that flows of a group pass."""
        passed = {side for way in self._ways[index] for side, _ in self._passed.get(way, ())}
        for side, is_full in zip(self._sides, full.tolist(), strict=True):
            if is_full and side in passed:
                yield LinkPart(place_side(self._routes.fabric, side), ceiling=side)

    def _raise(self, rate: Floats, most: float) -> Solution:
        """The highest level of all groups that have no rate yet."""
        number = np.arange(len(rate))
        free = np.isnan(rate)
        cells = [(index, self._first + index, 1.0) for index in number.tolist()]
        cells += [(index, self._width - 1, -self._counts[index]) for index in np.flatnonzero(free).tolist()]
        tied = _fill_cells(cells, len(rate), self._width)
        matrix = stack_rows(self._balance, tied, self._shares)
        bound = np.concatenate(
            (np.zeros(self._balance.shape[0]), np.where(free, 0.0, rate * self._counts), *self._list_bounds())
        )
        limits = np.full(self._width, np.inf)
        limits[-1] = most
        gain = np.zeros(self._width)
        gain[-1] = 1.0
        return solve(LinearProgram(gain, limits, matrix, bound, self._balance.shape[0] + len(rate)))


def _fill_cells(cells: Sequence[tuple[int, int, float]], height: int, width: int) -> "csr_array":
    rows, columns, values = zip(*cells, strict=True)
    return make_matrix(values, rows, columns, height, width)
