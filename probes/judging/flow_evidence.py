"""All flows of a session as arrays: what each gave, what was expected of it, and every part that it crossed.

The flows of every round and metric have numbers from 0 on. A place is a part (``Parts``) in one round: flows that
share a place ran over the part together.
"""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.round_flows import RoundFlows
from benchconsole.probes.model.measuring import INWARD, Reading, Round
from benchconsole.probes.model.repeats import TestKey, make_test_key
from benchconsole.topology.arrays import Flags, Floats, Indices, find_distinct, join_slices, sum_at


class FlowTable(NamedTuple):
    """Flows, with byte/s of payload that each gave, should give and asks for at most (infinite: all that it gets).

    ``assumed`` tells of which the path is known by the source port only; the others divide. ``alone``: those of them
    that hardly another can have met by chance. ``is_repeated``: a later round measured it again, so it says nothing of
    now.
    """

    value: Floats
    expected: Floats
    demand: Floats
    assumed: Flags
    alone: Flags
    is_repeated: Flags


class CrossingTable(NamedTuple):
    """Every part that a flow crosses: the flow, the place, the part and the share of the flow; by flow in order."""

    flow: Indices
    place: Indices
    part: Indices
    share: Floats


class _RoundPlaces(NamedTuple):
    """The places that the flows of one round cross, in order, and which of them each crossing is at.

    Those of a later round follow after them: the numbers of its places are higher.
    """

    places: Indices
    position: Indices


class FlowEvidence:
    """The flows that ``add`` was given, in that order."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._flows: list[FlowTable] = []
        self._crossings: list[CrossingTable] = []
        self._places: list[_RoundPlaces] = []
        self._size = 0
        self.numbers: dict[str, int] = {}
        self.ends: list[tuple[str, str]] = []
        self._newest: dict[tuple[TestKey, str, bool], tuple[int, int]] = {}
        self._repeated: set[int] = set()

    def add(self, round_flows: RoundFlows, planned: Round) -> None:
        """Take in the flows that gave a number of one metric in one more round; none whose routing is open."""
        places = np.flatnonzero(~round_flows.least.is_open)
        if not len(places):
            return
        crossed = round_flows.crossings
        flows = [round_flows.flows[place] for place in places.tolist()]
        asked = [np.inf if each.demand is None else each.demand for each in flows]
        rates = [round_flows.expectations[place] for place in places.tolist()]
        # Parts are cables; what a ceiling inside a device holds back gets no more whatever the cables do.
        held = [each.value if any(part.ceiling for part in each.parts) else np.inf for each in rates]
        demand = list(map(min, asked, held))
        expected = np.array([each.value for each in round_flows.expectations])[places]
        kept = ~round_flows.least.is_open[crossed.owner]
        part = crossed.part[kept]
        owner = np.searchsorted(places, crossed.owner[kept]) + self._size
        place_of = part + len(self._flows) * self.parts.size
        self._crossings.append(CrossingTable(owner, place_of, part, crossed.share[kept]))
        self._places.append(_RoundPlaces(*np.unique(place_of, return_inverse=True)))
        for number, place in enumerate(places.tolist(), self._size):
            measurements = round_flows.measurements[place]
            self.numbers.update((each.id, number) for each in measurements)
            test = make_test_key(round_flows.results[place].test, planned.stage)
            self._note_repeat(number, test, measurements[0], planned.number)
        none = np.zeros(len(flows), bool)
        assumed, alone = round_flows.assumed[places], round_flows.alone[places]
        self._flows.append(FlowTable(round_flows.values[places], expected, np.array(demand), assumed, alone, none))
        self.ends += [(each.source, each.sink) for each in flows]
        self._size += len(flows)
        self._forget()

    def _note_repeat(self, number: int, test: TestKey, measurement: Reading, round_number: int) -> None:
        """Of a flow that several rounds measured, only the number of the newest counts."""
        key = test, measurement.metric, INWARD in measurement.labels
        before = self._newest.get(key)
        if before is None or before[0] <= round_number:
            self._newest[key] = round_number, number
        if before is not None:
            self._repeated.add(before[1] if before[0] <= round_number else number)

    def clear(self) -> None:
        """Forget every flow."""
        self._flows, self._crossings, self._places, self._size = [], [], [], 0
        self.numbers.clear()
        self.ends.clear()
        self._newest.clear()
        self._repeated.clear()
        self._forget()

    @property
    def size(self) -> int:
        """How many rounds and metrics were taken in."""
        return len(self._flows)

    def is_crossed_since(self, size: int, parts: Indices) -> bool:
        """Whether a flow that was taken in since there were ``size`` rounds and metrics crosses any of ``parts``."""
        is_asked = np.zeros(self.parts.size, bool)
        is_asked[parts] = True
        return any(bool(is_asked[crossed.part].any()) for crossed in self._crossings[size:])

    def _forget(self) -> None:
        for name in (
            "flows",
            "crossings",
            "places",
            "position",
            "measured",
            "expected_loads",
            "rounds",
            "_starts",
            "_by_part",
            "_by_place",
        ):
            self.__dict__.pop(name, None)

    @cached_property
    def flows(self) -> FlowTable:
        table = FlowTable(*(np.concatenate(column) for column in zip(*self._flows, strict=True)))
        table.is_repeated[list(self._repeated)] = True
        return table

    @cached_property
    def crossings(self) -> CrossingTable:
        return CrossingTable(*(np.concatenate(column) for column in zip(*self._crossings, strict=True)))

    @cached_property
    def rounds(self) -> Indices:
        """The round of each flow, counted as they were added."""
        return np.repeat(np.arange(len(self._flows)), [len(each.value) for each in self._flows])

    @cached_property
    def _starts(self) -> Indices:
        """Where the crossings of each flow begin, and the last ones end."""
        return np.searchsorted(self.crossings.flow, np.arange(self._size + 1))

    @cached_property
    def _by_part(self) -> tuple[Indices, Indices]:
        order = np.argsort(self.crossings.part, kind="stable")
        return order, self.crossings.part[order]

    @cached_property
    def _by_place(self) -> tuple[Indices, Indices]:
        """The crossings in the order of their places, and where each of ``places`` begins in it; last, its end."""
        order = np.argsort(self.position, kind="stable")
        return order, np.searchsorted(self.position[order], np.arange(len(self.places) + 1))

    def find_crossings(self, flows: Indices) -> Indices:
        """The positions of all crossings of these flows, in the order of the flows."""
        return join_slices(self._starts[flows], self.count_crossings(flows))

    def count_crossings(self, flows: Indices) -> Indices:
        """How many crossings each of these flows has."""
        return self._starts[flows + 1] - self._starts[flows]

    def find_over(self, parts: Collection[int]) -> Indices:
        """The flows that cross any of ``parts``, in order."""
        wanted = np.unique(np.fromiter(parts, np.intp))
        order, keys = self._by_part
        first, end = (np.searchsorted(keys, wanted, side=side) for side in ("left", "right"))
        return self._find_flows(order, first, end)

    def find_slow_parts(self, slow: Sequence[int]) -> list[int]:
        """The parts that several of these streams crossed, and fewer others on assumed paths; worst first."""
        is_slow = np.zeros(self._size, bool)
        is_slow[list(slow)] = True
        crossed, table = self.crossings, self.flows
        counted = table.assumed[crossed.flow] & ~table.is_repeated[crossed.flow]
        part, flow = crossed.part[counted], crossed.flow[counted]
        missing = np.where(is_slow, 1 - table.value / table.expected, 0.0)
        met = np.bincount(part, is_slow[flow], minlength=self.parts.size)
        others = np.bincount(part, ~is_slow[flow], minlength=self.parts.size)
        found = np.flatnonzero((met > 1) & (met > others))
        lost = np.bincount(part, missing[flow], minlength=self.parts.size)[found] - others[found]
        return [int(each) for each in found[np.argsort(-lost, kind="stable")]]

    def find_beside(self, flows: Indices) -> Indices:
        """``flows``, and all that share a part with one of them in the same round; in order."""
        met, _ = find_distinct(self.position[self.find_crossings(flows)], len(self.places))
        order, first = self._by_place
        return self._find_flows(order, first[met], first[met + 1])

    def _find_flows(self, order: Indices, first: Indices, end: Indices) -> Indices:
        """The flows of the crossings that ``order`` has from each ``first`` to before the ``end``; each once."""
        return find_distinct(self.crossings.flow[order[join_slices(first, end - first)]], self._size)[0]

    @cached_property
    def places(self) -> Indices:
        """Every place that is crossed, in order."""
        return np.concatenate([own.places for own in self._places])

    @cached_property
    def position(self) -> Indices:
        """Which of ``places`` each crossing is at."""
        sizes = np.array([len(own.places) for own in self._places], np.intp)
        first = (np.cumsum(sizes) - sizes).tolist()
        return np.concatenate([own.position + at for own, at in zip(self._places, first, strict=True)])

    @cached_property
    def measured(self) -> Floats:
        """byte/s that was measured over each of ``places``."""
        return self.sum_loads(self.flows.value)

    @cached_property
    def expected_loads(self) -> Floats:
        """byte/s that was expected over each of ``places``."""
        return self.sum_loads(self.flows.expected)

    def sum_loads(self, rates: Floats) -> Floats:
        """byte/s over each of ``places`` when all flows have these rates."""
        crossed = self.crossings
        return sum_at(crossed.share * rates[crossed.flow], self.position, len(self.places))
