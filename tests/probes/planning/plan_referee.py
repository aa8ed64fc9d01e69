"""The referee of plans: rounds and fabric in, violations out.

It shares no code with ``probes.planning``, so that a mistake there is seen here. It goes path by path, by the
definition, and is slow. Tests and ``benchmarks/scheduling.py`` use it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.probes.api import Probe
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.topology.model.ceiling import Ceiling
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, Link
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
    bundle crosses, nobody else does; with a cap no link is offered more than that, by whomever. Tests
    and bundles together offer no ceiling inside a device more than it passes, a bundle counted no more than whole. A
    part that a test has to itself is on a node of no other test; shared budgets are not
    overdrawn; storage systems are asked for no more than their cap.
    """
    routes = Routes(fabric)
    for each in rounds:
        yield from _links(fabric, each, routes)
        yield from _ceilings(fabric, each, routes)
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
    rates += [_passes(fabric, side) / share for side, share in _shares_of_ceilings(fabric, shares).items()]
    rates += [] if flow.demand is None else [flow.demand]
    streams = test.sending.streams
    if not test.bundle:
        for device in {end for way in shares for end in (way.source, _end(fabric, way))}:
            for ways in ([w for w in shares if w.source == device], [w for w in shares if _end(fabric, w) == device]):
                if sum(shares[way] for way in ways) > 1 - 1e-9:
                    rates.append(streams * max(fabric.member_payload(fabric.links[way.link]) for way in ways))
    return min(rates)


Side = tuple[str, str, bool]
"""The device of a ceiling, its name, and whether it is passed on the way in."""


def _shares_of_ceilings(fabric: Fabric, shares: Mapping[Direction, float]) -> dict[Side, float]:
    """The part of a flow that passes each ceiling, when LAGs share it out evenly."""
    found: dict[Side, float] = {}
    for way, share in shares.items():
        for device, inward in ((way.source, False), (_end(fabric, way), True)):
            for ceiling in fabric.ceilings.get(device, ()):
                part = _count_inside(fabric.links[way.link], device, ceiling) / fabric.links[way.link].count
                if part:
                    side = device, ceiling.name, inward
                    found[side] = found.get(side, 0.0) + share * part
    return found


def _count_inside(link: Link, device: str, ceiling: Ceiling) -> int:
    """How many cables of a link are below a ceiling."""
    ports = link.ports_a if device == link.a else link.ports_b
    return link.count if ceiling.ports is None else sum(port in ceiling.ports for port in ports)


def _passes(fabric: Fabric, side: Side) -> float:
    """byte/s of payload that a ceiling passes, by the network of its ports with the most headers."""
    device, name, _ = side
    (ceiling,) = (each for each in fabric.ceilings[device] if each.name == name)
    cables = (link for link in fabric.links_at[device] if _count_inside(link, device, ceiling))
    return ceiling.rate * min(fabric.goodput_of(link) for link in cables)


def _ceilings(fabric: Fabric, each: Round, routes: Routes) -> Iterator[Violation]:
    offered: dict[Side, dict[str, float]] = {}
    for place, (test, flow) in enumerate(each.sent):
        user = f"bundle {test.bundle}" if test.bundle else f"test {place}"
        rate = nominal(fabric, test, flow, routes)
        for side, share in _shares_of_ceilings(fabric, routes.shares_of(flow)).items():
            own = offered.setdefault(side, {})
            own[user] = own.get(user, 0.0) + share * rate
    for side, users in offered.items():
        allowed = _passes(fabric, side)
        load = sum(min(rate, allowed) for rate in users.values())
        if load > allowed * (1 + TOLERANCE):
            device, name, inward = side
            yield Violation(
                each.number, f"ceiling {name} {'into' if inward else 'out of'} {device} in B/s", load, allowed
            )


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
