"""Owns the way that a test's data takes, hop by hop, with what its round should have loaded each with.

What a whole round should reach is computed once. Refuses to know what was measured.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from console.tui.bridge import Hop
from probes.model import Round, Test
from topology.expect import Expectation, expect
from topology.model import Direction, Fabric
from topology.routing import Routes


class Hops:
    """Ways over one fabric. Slow at first use and for large rounds: ask it beside the event loop, one at a time."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._expected: tuple[Round, Mapping[str, Expectation]] | None = None

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self._fabric)

    def of(self, test: Test, each: Round) -> Sequence[Hop]:
        """The way of a test of the round ``each``; empty where it stays on one node. RoutingError without a path."""
        ends = test.target.ends
        if ends is None:
            return ()
        shares = self._routes.shares(ends[0].id, ends[1].id)
        expected = self._expectations(each)[test.id]
        return [self._hop(way, shares[way], expected) for way in self._in_order(ends[0].id, shares)]

    def _expectations(self, each: Round) -> Mapping[str, Expectation]:
        """What every test of a round should reach while all of them run."""
        if self._expected is None or self._expected[0] is not each:
            tests = [test.id for test in each.tests if test.target.peer]
            found = expect(self._fabric, each.flows, routes=self._routes)
            self._expected = (each, dict(zip(tests, found, strict=True)))
        return self._expected[1]

    def _in_order(self, source: str, shares: Collection[Direction]) -> list[Direction]:
        """The directed links in the order in which data meets them."""
        ordered: list[Direction] = []
        here = {source}
        while here:
            onward = [way for way in shares if way.source in here and way not in ordered]
            ordered += onward
            here = {self._fabric.links[way.link].other(way.source) for way in onward}
        return ordered

    def _hop(self, way: Direction, share: float, expected: Expectation) -> Hop:
        link = self._fabric.links[way.link]
        return Hop(
            source=way.source,
            sink=link.other(way.source),
            link=way.link,
            members=link.count,
            capacity=link.capacity * self._fabric.goodput_of(link),
            expected=expected.value * share,
            limits=way in expected.limiting,
            note="" if share > 1 - 1e-9 else f"{share:.0%} of the flow, by ideal split",
        )
