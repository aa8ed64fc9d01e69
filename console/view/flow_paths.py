"""The path of a test's data, hop by hop, with the load that its round should have put on each hop.

The expectations of a whole round are computed once.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from benchconsole.console.view.session_control import FlowHop
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.topology.model.fabric import Direction, Fabric, Flow

if TYPE_CHECKING:
    from benchconsole.topology.capacity.expect import Expectation
    from benchconsole.topology.routing.routes import Routes

_Crossing = tuple[str, Flow, float]


class FlowPaths:
    """Ways over one fabric. Slow at first use and for large rounds: ask it beside the event loop, one at a time."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._expected: tuple[Round, Mapping[str, Expectation]] | None = None

    @cached_property
    def _routes(self) -> "Routes":
        from benchconsole.topology.routing.routes import Routes

        return Routes(self._fabric)

    def find_path(self, test: Test, each: Round) -> Sequence[FlowHop]:
        """The way of a test of the round ``each``; empty where it stays on one node. RoutingError without a path."""
        if not test.flows:
            return ()
        flow = test.flows[0]
        shares = self._routes.shares_of(flow)
        expected = self._expectations(each)[test.id]
        crossing = self._find_crossing(shares, each)
        hops: list[FlowHop] = []
        for way in self._in_order(flow.source, shares):
            link, share = self._fabric.links[way.link], shares[way]
            hops.append(
                FlowHop(
                    source=way.source,
                    sink=link.other(way.source),
                    link=way.link,
                    members=link.count,
                    capacity=self._fabric.payload(link),
                    expected=expected.value * share,
                    limits=way in expected.limiting,
                    note="" if share > 1 - 1e-9 else f"{share:.0%} of the flow, by ideal split",
                    crossing=tuple(crossing[way]),
                )
            )
        return hops

    def _find_crossing(self, ways: Collection[Direction], each: Round) -> Mapping[Direction, list[_Crossing]]:
        """The flows of a round over each of ``ways``, with their tests and shares."""
        found: dict[Direction, list[_Crossing]] = {way: [] for way in ways}
        for planned, flow in each.sent:
            for way, share in self._routes.shares_of(flow).items():
                if way in found:
                    found[way].append((planned.id, flow, share))
        return found

    def _expectations(self, each: Round) -> Mapping[str, "Expectation"]:
        """The rate that every test of a round should reach while all of them run."""
        from benchconsole.topology.capacity.expect import expect

        if self._expected is None or self._expected[0] is not each:
            sent = each.sent
            found = expect(self._fabric, [flow for _, flow in sent], routes=self._routes)
            expected: dict[str, Expectation] = {}
            for (planned, _), limit in zip(sent, found, strict=True):
                expected.setdefault(planned.id, limit)
            self._expected = (each, expected)
        return self._expected[1]

    def _in_order(self, source: str, shares: Collection[Direction]) -> list[Direction]:
        ordered: list[Direction] = []
        here = {source}
        while here:
            onward = [way for way in shares if way.source in here and way not in ordered]
            ordered += onward
            here = {self._fabric.links[way.link].other(way.source) for way in onward}
        return ordered
