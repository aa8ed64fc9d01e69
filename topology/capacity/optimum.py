"""The rates of flows if any of them could go any way, in any number of parts: the optimum over all routings.

The maximum concurrent flow (Shahrokhi and Matula, J. ACM 37, 1990) is what every flow gets at least, the maximum
multicommodity flow is what all get together. Both are linear programs with one variable for each arc and each source
(or each sink, where these are fewer).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.capacity.arcs import Arcs
from benchconsole.topology.capacity.linear_program import LinearProgram, make_matrix, solve, stack_rows
from benchconsole.topology.model.fabric import Flow
from benchconsole.topology.routing.attachment import Attachments

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_VARIABLES = 2_000_000
"""Variables up to which the optimum is computed: some seconds, and a gigabyte at most."""


class ProgramTooLarge(ArithmeticError):
    """A linear program of more variables than are solved."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """byte/s of payload that no routing exceeds: of the slowest flow, and of all together.

    ``served`` is the share of its demand that every flow can have, None unless all have one; above 1 there is room.
    ``lengths`` prices each arc for the slowest flow: an arc above 0 limits it.
    """

    slowest: float
    total: float
    served: float | None
    lengths: Floats


@dataclass(frozen=True, slots=True)
class _Commodity:
    """Flows that leave one vertex (enter it, where arcs are turned round): how many, of which demand, to where."""

    source: int
    vlan: int | None
    flows: Mapping[int, int]
    demand: Mapping[int, float]


def compute_optimum(arcs: Arcs, flows: Sequence[Flow], attachments: Attachments) -> Optimum:
    """The optimum of ``flows`` over ``arcs``. ProgramTooLarge above ``MOST_VARIABLES``."""
    ends = [(arcs.source(flow), arcs.sink(flow)) for flow in flows]
    turned = len({sink for _, sink in ends}) < len({source for source, _ in ends})
    commodities = _group_flows(arcs, flows, [(b, a) if turned else (a, b) for a, b in ends], attachments)
    if len(commodities) * len(arcs) > MOST_VARIABLES:
        raise ProgramTooLarge(f"{len(commodities) * len(arcs):,} variables")
    tail, head = (arcs.head, arcs.tail) if turned else (arcs.tail, arcs.head)
    program = _Program(arcs, tail, head, commodities)
    demands = [flow.demand for flow in flows if flow.demand is not None]
    slowest, lengths = program.solve_concurrent([each.flows for each in commodities])
    total = program.solve_total()
    served = None
    if len(demands) == len(flows):
        served = program.solve_concurrent([each.demand for each in commodities])[0]
    return Optimum(min([slowest, *demands]), total, served, lengths)


def _group_flows(
    arcs: Arcs, flows: Sequence[Flow], ends: Sequence[tuple[int, int]], attachments: Attachments
) -> list[_Commodity]:
    channelled = any(vlan is not None for vlan in arcs.vlans)
    counts: dict[tuple[int, int | None], dict[int, int]] = {}
    demands: dict[tuple[int, int | None], dict[int, float]] = {}
    for flow, (source, sink) in zip(flows, ends, strict=True):
        key = source, attachments.vlan(flow) if channelled else None
        count = counts.setdefault(key, {})
        count[sink] = count.get(sink, 0) + 1
        demand = demands.setdefault(key, {})
        demand[sink] = demand.get(sink, 0.0) + (np.inf if flow.demand is None else flow.demand)
    return [_Commodity(source, vlan, counts[source, vlan], demands[source, vlan]) for source, vlan in counts]


class _Program:
    """Columns: each commodity on each arc, then the rate of each commodity at each of its sinks, then the level."""

    def __init__(self, arcs: Arcs, tail: Indices, head: Indices, commodities: Sequence[_Commodity]) -> None:
        self._commodities = commodities
        self._scale = float(arcs.capacity.max())
        self._capacity = arcs.capacity / self._scale
        self._arcs = len(arcs)
        self._vertices = len(arcs.devices)
        self._first = len(commodities) * len(arcs)
        self._sinks = [(index, sink) for index, each in enumerate(commodities) for sink in each.flows]
        self._width = self._first + len(self._sinks) + 1
        self._closed = self._list_closed(arcs)
        rows = [self._list_balance(tail, head), self._list_shares(arcs)]
        self._balance, self._shares = rows
        whole, part = np.unique(arcs.ways, return_inverse=True)
        capacity = np.zeros(len(whole))
        capacity[part] = arcs.payload / self._scale
        ceilings = np.array([each.capacity for each in arcs.ceilings], float) / self._scale
        links = capacity if len(whole) < len(arcs) else capacity[:0]
        self._bounds = np.concatenate((self._capacity, links, ceilings))

    def _list_closed(self, arcs: Arcs) -> Indices:
        """Columns of arcs that are a channel of another VLAN than that of the commodity."""
        found = [
            index * len(arcs) + arc
            for index, each in enumerate(self._commodities)
            if each.vlan is not None
            for arc, vlan in enumerate(arcs.vlans)
            if vlan not in (None, each.vlan)
        ]
        return np.array(found, np.intp)

    def _list_balance(self, tail: Indices, head: Indices) -> "csr_array":
        """One row for each commodity and vertex but its source: what comes in less what goes out and is taken."""
        arcs, vertices = self._arcs, self._vertices
        offset = np.repeat(np.arange(len(self._commodities)), arcs)
        column = np.arange(self._first)
        each = np.tile(np.arange(arcs), len(self._commodities))
        taken = np.array([index * vertices + sink for index, sink in self._sinks], np.intp)
        row = np.concatenate((offset * vertices + head[each], offset * vertices + tail[each], taken))
        place = np.concatenate((column, column, self._first + np.arange(len(taken))))
        value = np.concatenate((np.ones(self._first), -np.ones(self._first + len(taken))))
        sources = np.array([index * vertices + c.source for index, c in enumerate(self._commodities)], np.intp)
        whole = make_matrix(value, row, place, len(self._commodities) * vertices, self._width)
        return whole[np.setdiff1d(np.arange(whole.shape[0]), sources)]

    def _list_shares(self, arcs: Arcs) -> "csr_array":
        """One row for each arc, one for each link where links have several arcs each way, and one for each ceiling."""
        each = np.tile(np.arange(self._arcs), len(self._commodities))
        column = np.arange(self._first)
        row, place = each, column
        whole, part = np.unique(arcs.ways, return_inverse=True)
        height = self._arcs
        if len(whole) < self._arcs:
            row = np.concatenate((each, self._arcs + part[each]))
            place = np.concatenate((column, column))
            height += len(whole)
        offsets = np.arange(len(self._commodities)) * self._arcs
        rows, places, values = [row], [place], [np.ones(len(row))]
        for number, ceiling in enumerate(arcs.ceilings):
            at = (offsets[:, None] + ceiling.arcs).ravel()
            rows.append(np.full(len(at), height + number))
            places.append(at)
            values.append(np.tile(ceiling.shares, len(offsets)))
        ends = (np.concatenate(rows), np.concatenate(places), height + len(arcs.ceilings))
        return make_matrix(np.concatenate(values), ends[0], ends[1], ends[2], self._width)

    def _make(self, fixed: Sequence[tuple[int, float]], most: Floats, gain: Floats) -> LinearProgram:
        """With rows that tie the rate of a sink (by number) to so many times the level."""
        number = np.arange(len(fixed))
        sinks = np.array([sink for sink, _ in fixed], np.intp)
        weights = np.array([weight for _, weight in fixed], float)
        tied = make_matrix(
            np.concatenate((np.ones(len(fixed)), -weights)),
            np.tile(number, 2),
            np.concatenate((self._first + sinks, np.full(len(fixed), self._width - 1))),
            len(fixed),
            self._width,
        )
        matrix = stack_rows(self._balance, tied, self._shares)
        equal = self._balance.shape[0] + len(fixed)
        return LinearProgram(gain, most, matrix, np.concatenate((np.zeros(equal), self._bounds)), equal)

    def _open(self) -> Floats:
        most = np.full(self._width, np.inf)
        most[self._closed] = 0.0
        return most

    def solve_concurrent(self, weights: Sequence[Mapping[int, float]]) -> tuple[float, Floats]:
        """The level that every sink can have so many times at once, and the price of each arc."""
        fixed = [(number, float(weights[index][sink])) for number, (index, sink) in enumerate(self._sinks)]
        largest = max(weight for _, weight in fixed)
        gain = np.zeros(self._width)
        gain[-1] = 1.0
        program = self._make([(number, weight / largest) for number, weight in fixed], self._open(), gain)
        found = solve(program)
        first = program.equal
        return found.value * self._scale / largest, found.price[first : first + self._arcs]

    def solve_total(self) -> float:
        """byte/s of all sinks together, none above its demand."""
        most = self._open()
        demand = [self._commodities[index].demand[sink] for index, sink in self._sinks]
        most[self._first : -1] = np.array(demand) / self._scale
        most[-1] = 0.0
        gain = np.zeros(self._width)
        gain[self._first : -1] = 1.0
        return solve(self._make([], most, gain)).value * self._scale
