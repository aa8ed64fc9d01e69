"""The interval in which a sound fabric may be, where something that nobody described decides between its ends."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.graph import Graph

NEAR = 0.98
"""From this share of the expectation on the low end changes neither a level nor a word."""

SPARE = 0.95
"""The low end excuses nothing that would meet the bound even with this share of its rate: the rest is for bursts."""


@dataclass(frozen=True, slots=True)
class RateInterval:
    """The sum that flows reach, in byte/s of payload: ``least`` at worst, ``expected`` is what counts."""

    least: float
    expected: float

    @property
    def matters(self) -> bool:
        """Whether the two differ by so much that it is said."""
        return self.least < NEAR * self.expected

    def excuses(self, required: float) -> bool:
        """Whether the low end alone may be below the share ``required`` of what is expected."""
        return self.matters and SPARE * self.least < required * self.expected


def find_open_interval(flows: Sequence[MeasuredFlow], hashed: RateInterval | None) -> RateInterval | None:
    """The interval of one flow, or of the sum of several, by any routing; None where it is known of all of them.

    Its low end is no higher than that of the placements by least hops, ``hashed``.
    """
    if not any(each.is_open for each in flows):
        return None
    least = sum(min(each.least, each.expected.value) for each in flows)
    expected = sum(each.expected.value for each in flows)
    return RateInterval(least if hashed is None else min(least, hashed.least), expected)


def is_ugal(graph: Graph, flows: Sequence[MeasuredFlow]) -> bool:
    """Whether it is UGAL that leaves the way of ``flows`` open, and not the file."""
    first = (graph.links[int(each.route.ways[0]) >> 1] for each in flows if each.is_open)
    return any(graph.fabric.routing_of(link) is RoutingRule.UGAL for link in first)
