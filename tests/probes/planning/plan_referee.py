"""The referee of plans: rounds and fabric in, violations out.

It shares no code with ``probes.planning``, so that a mistake there is seen here. It goes path by path, by the
definition, and is slow. Tests and ``benchmarks/scheduling.py`` use it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.probes.api import Probe
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.topology.model.fabric import Direction, Fabric, Flow
from benchconsole.topology.routing.routes import Routes

TOLERANCE = 1e-6
"""Rounding of sums of shares."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken limit of a round: ``what`` names the element, ``found`` and ``allowed`` are numbers of one unit."""

    round: int
    what: str
    found: float
    allowed: float

    def __str__(self) -> str:
        return f"round {self.round}: {self.what}: {self.found:,.6g}, allowed {self.allowed:,.6g}"


def violations(fabric: Fabric, rounds: Sequence[Round], probes: Mapping[str, Probe]) -> Iterator[Violation]:
    """Every promise that ``rounds`` break.

    Lone tests together offer no directed link more than it carries, in byte/s of payload; what a
    bundle crosses, nobody else does; with a cap no link is offered more than that, by whomever. A
    part that a test has to itself is on a node of no other test; shared budgets are not
    overdrawn; storage systems are asked for no more than their cap.
    """
    routes = Routes(fabric)
    for each in rounds:
        yield from _links(fabric, each, routes)
        yield from _storage(fabric, each, routes)
        yield from _parts(each, probes)
        yield from _budgets(fabric, each, probes)


def missing(rounds: Sequence[Round], wanted: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of the directed pairs ``wanted`` that no round holds."""
    held = {(flow.source, flow.sink) for each in rounds for flow in each.flows}
    return {pair for pair in wanted if pair not in held}


def nominal(fabric: Fabric, test: Test, flow: Flow, routes: Routes) -> float:
    """byte/s of payload that a test gets when nothing else runs."""
    shares = routes.shares_of(flow)
    rates = [fabric.payload(fabric.links[way.link]) / share for way, share in shares.items()]
    rates += [] if flow.demand is None else [flow.demand]
    streams = test.sending.streams
    if not test.bundle:
        for device in {end for way in shares for end in (way.source, _end(fabric, way))}:
            for ways in ([w for w in shares if w.source == device], [w for w in shares if _end(fabric, w) == device]):
                if sum(shares[way] for way in ways) > 1 - 1e-9:
                    rates.append(streams * max(fabric.member_payload(fabric.links[way.link]) for way in ways))
    return min(rates)


def _end(fabric: Fabric, way: Direction) -> str:
    return fabric.links[way.link].other(way.source)


def _links(fabric: Fabric, each: Round, routes: Routes) -> Iterator[Violation]:
    offered: dict[Direction, float] = {}
    users: dict[Direction, set[str]] = {}
    for test, flow in each.sent:
        rate = nominal(fabric, test, flow, routes)
        for way, share in routes.shares_of(flow).items():
            offered[way] = offered.get(way, 0.0) + share * rate
            users.setdefault(way, set()).add(test.bundle and f"bundle {test.bundle}")
    cap = fabric.caps.link
    for way, load in offered.items():
        if len(users[way]) > 1:
            yield Violation(each.number, f"{way.link} from {way.source} is in {users[way]}", len(users[way]), 1)
        allowed = fabric.payload(fabric.links[way.link]) * (1.0 if cap is None else cap)
        if (cap is not None or users[way] == {""}) and load > allowed * (1 + TOLERANCE):
            yield Violation(each.number, f"{way.link} from {way.source} in B/s", load, allowed)


def _storage(fabric: Fabric, each: Round, routes: Routes) -> Iterator[Violation]:
    for name, cap in fabric.caps.storage.items():
        servers = fabric.storage[name].servers if name in fabric.storage else ()
        asked = sum(
            nominal(fabric, test, flow, routes)
            for test, flow in each.sent
            if flow.source in servers or flow.sink in servers
        )
        if asked > cap * (1 + TOLERANCE):
            yield Violation(each.number, f"storage system {name} in B/s", asked, cap)


def _parts(each: Round, probes: Mapping[str, Probe]) -> Iterator[Violation]:
    tests: dict[str, set[str]] = {}
    alone: set[str] = set()
    for place, test in enumerate(each.tests):
        machines: set[str] = {node.host or node.id for node in test.target.nodes}
        for machine in machines:
            tests.setdefault(machine, set()).add(f"bundle {test.bundle}" if test.bundle else f"test {place}")
        if probes[test.probe].demands(test.target).alone:
            alone |= machines
    for machine in sorted(alone):
        if len(tests[machine]) > 1:
            yield Violation(each.number, f"{machine} in tests, one of which wants it alone", len(tests[machine]), 1)


def _budgets(fabric: Fabric, each: Round, probes: Mapping[str, Probe]) -> Iterator[Violation]:
    taken: dict[str, float] = {}
    licences = 1.0
    for test in each.tests:
        licences = float(test.target.options.get("licences", 1))
        for name, amount in probes[test.probe].demands(test.target).shared.items():
            taken[name] = taken.get(name, 0.0) + amount
    for name, amount in taken.items():
        kind, _, which = name.partition(":")
        system = fabric.storage[which] if kind == "filesystem" else None
        allowed = licences if system is None else (system.size or 0.0) * (system.free or 0.0) / 2
        if amount > allowed * (1 + TOLERANCE):
            yield Violation(each.number, name, amount, allowed)
