"""The load that running tests put on links now: their last intervals, on the links that their flows cross. Pure.

It is shown while a round runs. No state, count, verdict or report rests on it.
"""

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass

import numpy as np

from benchconsole.console.view.interval_rates import find_moved
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.judging.round_ways import RoundWays
from benchconsole.topology.arrays import Flags, Floats, sum_at
from benchconsole.topology.capacity.limit_names import Limit
from benchconsole.topology.model.fabric import Link

_WHOLE = 1 - 1e-9
"""A share from which a flow crosses a link whole."""

Way = tuple[Link, str]
"""A link, and the device from which it is taken."""


@dataclass(frozen=True, slots=True)
class WayLoad:
    """The load of some directed links now, all together, in byte/s of payload.

    ``carried`` is None where no test tells a number, and 0 where none crosses them. ``expected`` is what the running
    tests should put there, ``capacity`` what the links carry as built. ``telling`` of the running ``tests`` told a
    number. ``is_split``: some flow crosses them with a part of itself, by ideal split. ``limits`` are what holds the
    flows back, by how many.
    """

    carried: float | None
    expected: float
    capacity: float
    telling: int
    tests: int
    is_split: bool = False
    limits: tuple[tuple[Limit, int], ...] = ()

    @property
    def share(self) -> float | None:
        """carried / capacity."""
        return None if self.carried is None or not self.capacity else self.carried / self.capacity

    @property
    def is_partial(self) -> bool:
        """Whether more is carried than the number says: a test that crosses them tells nothing."""
        return 0 < self.telling < self.tests


class LinkLoads:
    """The loads of one moment. ``unplaced`` running flows may also cross links on which they are not counted."""

    def __init__(self, ways: RoundWays, values: Floats, told: Flags, running: Flags) -> None:
        self._ways = ways
        self._values = values
        self._told = told
        self._running = running
        self.unplaced = int((ways.is_free & running).sum())
        self.telling = int(told.sum())
        self.tests = int(running.sum())
        size = len(ways.first) - 1
        crossed = told[ways.owner]
        self._carried = sum_at(ways.share[crossed] * values[ways.owner[crossed]], ways.way[crossed], size)
        self._is_told = np.bincount(ways.way[crossed], minlength=size) > 0
        self._is_idle = np.bincount(ways.way[running[ways.owner]], minlength=size) == 0

    def find(self, *ways: Way, names_limits: bool = False) -> WayLoad:
        """The load of directed links together; ``names_limits`` costs a walk over their flows."""
        numbers = [self._ways.find_way(link, source) for link, source in ways]
        places = self._ways.find_crossings(numbers)
        places = places[self._running[self._ways.owner[places]]]
        owners = self._ways.owner[places]
        flows = np.unique(owners)
        limits: tuple[tuple[Limit, int], ...] = ()
        if names_limits:
            held = Counter(limit for flow in flows.tolist() for limit in self._ways.limits[flow])
            limits = tuple(held.most_common())
        return WayLoad(
            float(self._carried[numbers].sum()) if self._is_told[numbers].any() or not len(flows) else None,
            float((self._ways.share[places] * self._ways.expected[owners]).sum()),
            float(self._ways.graph.payload[numbers].sum()),
            int(self._told[flows].sum()),
            len(flows),
            bool((self._ways.share[places] < _WHOLE).any()),
            limits,
        )

    def find_both(
        self, links: Iterable[Link], inside: Container[str], *, names_limits: bool = False
    ) -> tuple[WayLoad, WayLoad]:
        """The loads of ``links`` together toward the devices ``inside``, and away from them."""
        outward = [(link, link.a if link.a in inside else link.b) for link in links]
        inward = [(link, link.other(end)) for link, end in outward]
        return self.find(*inward, names_limits=names_limits), self.find(*outward, names_limits=names_limits)

    def find_fullest(self) -> Way | None:
        """The directed link with the highest share of its capacity; None where no test tells a number."""
        if not self._is_told.any():
            return None
        way = int(np.argmax(np.where(self._is_told, self._carried / self._ways.graph.payload, -1.0)))
        return self._ways.graph.links[way >> 1], self._ways.graph.direction(way).source

    def find_fuller(self, links: Iterable[Link]) -> float | None:
        """The highest share of capacity over ``links`` in either direction; None where no test over them tells."""
        ways = [self._ways.find_way(link, end) for link in links for end in (link.a, link.b)]
        known = [way for way in ways if self._is_told[way] or self._is_idle[way]]
        told = any(self._is_told[way] for way in ways) or len(known) == len(ways) > 0
        return max(float(self._carried[way] / self._ways.graph.payload[way]) for way in known) if told else None


def compute_link_loads(view: RunView) -> LinkLoads | None:
    """The load of the links of the round that runs; None where none does, or none of its flows has told a number."""
    ways = view.ways
    if view.current is None or ways is None:
        return None
    running = np.array([test in view.running for test in ways.tests], bool)
    values, told = np.zeros(len(running)), np.zeros(len(running), bool)
    for test, rates in view.intervals.items():
        for inward, each in find_moved(rates).items():
            place = ways.places.get((test, each.interval.metric, inward))
            if place is not None and running[place]:
                values[place], told[place] = each.smoothed, True
    return LinkLoads(ways, values, told, running)
