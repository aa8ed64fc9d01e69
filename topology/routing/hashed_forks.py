"""The forks that hashed flows meet on one fabric: where a device takes one of several LAGs, next hops, paths or cables.

A fork is the same for all flows that reach it on their way to one sink, so it is found once. Who chooses at it, a hash
or a test by its source port, is a matter of ``topology.routing.hashed_paths``.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise

from benchconsole.topology.model.fabric import Flow, HashPolicy
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.attachment import LagPair, Legs
from benchconsole.topology.routing.hashed_choices import MEMBER, NEXT_HOP, HashedChoices, repeat_by_weight
from benchconsole.topology.routing.routes import Routes


class HashedFork:
    """One of ``among`` is taken at ``stage`` of ``device`` by ``policy``; one that is there twice, twice as often.

    ``is_shared``: flows of other sources meet it too.
    """

    __slots__ = ("_follow", "_next", "among", "device", "is_shared", "policy", "stage")

    def __init__(
        self,
        device: str,
        stage: str,
        among: Sequence[Hashable],
        policy: HashPolicy,
        follow: "Callable[[int], HashedFork | None]",
    ) -> None:
        self.device = device
        self.stage = stage
        self.among = among
        self.policy = policy
        self.is_shared = False
        self._follow = follow
        self._next: dict[int, HashedFork | None] = {}

    def follow(self, position: int) -> "HashedFork | None":
        """The next fork of a flow that took the choice at ``position``; None where it has arrived."""
        if position not in self._next:
            self._next[position] = self._follow(position)
        return self._next[position]


class HashedForks:
    """The forks of one fabric. ``sort``: choices are in the order of their names, else in that of the file."""

    def __init__(self, routes: Routes, *, sort: bool) -> None:
        self._routes = routes
        self._graph = routes.graph
        self._attachments = routes.attachments
        self._sorts = sort
        self._choices = HashedChoices(routes.graph, sort=sort)
        self._limited: dict[Routes, HashedForks] = {}
        self._onward: dict[Hashable, HashedFork] = {}

    def start(self, flow: Flow) -> HashedFork:
        """The first fork of ``flow``. RoutingError where no path is described, here or further on."""
        own = self._routes.within(flow)
        if own is not self._routes:
            if own not in self._limited:
                self._limited[own] = HashedForks(own, sort=self._sorts)
            return self._limited[own].start(flow)
        source, sink = self._attachments.of(flow)
        direct = self._attachments.direct(source, sink)
        if direct is not None:
            return self._take_cable(source.device, direct.ways, lambda _: None)
        return self._leave(flow, source, sink)

    def forget(self) -> None:
        """Drop all forks: they hold what leads on, and that holds them, so nothing but the collector would."""
        for each in self._limited.values():
            each.forget()
        self._onward.clear()

    def _leave(self, flow: Flow, source: Legs, sink: Legs) -> HashedFork:
        def follow(position: int) -> HashedFork:
            ends = among[position]
            rule = self._routes.find_rule(ends, source.attachment)
            legs = source.out(self._attachments.leaving(ends, source.attachment, sink.attachment))
            onward = self._choose_path if rule.is_by_paths else self._go_on
            onward = self._look_up if rule is RoutingRule.TABLES else onward
            return self._take_cable(source.device, legs, lambda here: onward(here, sink, ends, rule))

        among = self._choices.sort(self._attachments.ends(flow, source, sink))
        return HashedFork(source.device, "ends", among, HashPolicy.UNKNOWN, follow)

    def _go_on(self, here: str, sink: Legs, ends: LagPair, rule: RoutingRule) -> HashedFork:
        key = (here, sink.ways, sink.attachment.landing, ends)
        found = self._onward.get(key)
        if found is None:
            found = self._onward[key] = self._find_onward(here, sink, ends, rule)
            found.is_shared = True
        return found

    def _find_onward(self, here: str, sink: Legs, ends: LagPair, rule: RoutingRule) -> HashedFork:
        if self._graph.vertex[here] == ends.egress:
            return self._arrive(here, sink, ends)
        among, policy = self._choices.list_next_hops(here, ends.egress)
        landing = sink.attachment.landing

        def follow(position: int) -> HashedFork:
            hop = among[position]
            ways = (hop if landing is None else self._graph.landing(here, hop, landing)).ways
            return self._take_cable(here, ways, lambda there: self._go_on(there, sink, ends, rule))

        return HashedFork(here, NEXT_HOP, among, policy, follow)

    def _choose_path(self, here: str, sink: Legs, ends: LagPair, rule: RoutingRule) -> HashedFork:
        """One path of a rule, drawn as the parts of its paths say."""
        paths = self._routes.rules.find(rule, here, ends.egress)
        among = self._choices.sort(
            repeat_by_weight([each.devices for each in paths], [float(each.part) for each in paths])
        )

        def follow(position: int) -> HashedFork:
            hops = [(one, self._graph.hops_from(one)[other].ways) for one, other in pairwise(among[position])]
            return self._take_in_turn(hops, lambda: self._arrive(among[position][-1], sink, ends))

        return HashedFork(here, "path", among, HashPolicy.UNKNOWN, follow)

    def _look_up(self, here: str, sink: Legs, ends: LagPair, rule: RoutingRule) -> HashedFork:
        """The one path that forwarding tables have to a leg of the sink; of several legs each is as likely."""
        at = sink.attachment

        def follow(position: int) -> HashedFork:
            leg = ends.last[position]
            ways = self._routes.tables.find(here, at.destinations[leg], at.devices[leg])
            hops = [(self._graph.direction(way).source, (way,)) for way in ways]
            return self._take_in_turn(
                hops, lambda: self._take_cable(at.devices[leg], sink.into((leg,)), lambda _: None)
            )

        return HashedFork(here, rule.value, ends.last, HashPolicy.UNKNOWN, follow)

    def _take_in_turn(
        self, hops: Sequence[tuple[str, tuple[int, ...]]], arrive: Callable[[], HashedFork]
    ) -> HashedFork:
        if not hops:
            return arrive()
        (device, ways), *rest = hops
        return self._take_cable(device, ways, lambda _: self._take_in_turn(rest, arrive))

    def _arrive(self, here: str, sink: Legs, ends: LagPair) -> HashedFork:
        """The last cable, after that of the peer link where the switch has none of its own."""
        peer, last = self._attachments.arriving(ends, sink.attachment, here)
        if peer is None:
            return self._take_cable(here, sink.into(last), lambda _: None)
        return self._take_cable(here, peer.ways, lambda there: self._take_cable(there, sink.into(last), lambda _: None))

    def _take_cable(self, device: str, ways: tuple[int, ...], onward: Callable[[str], HashedFork | None]) -> HashedFork:
        """A cable of parallel directed links; ``onward`` leads on from the device at its other end."""
        links = self._graph.links
        among, policy = self._choices.list_cables(ways)

        def follow(position: int) -> HashedFork | None:
            way, _ = among[position]
            link = links[way >> 1]
            return onward(link.a if way & 1 else link.b)

        return HashedFork(device, MEMBER, among, policy, follow)
