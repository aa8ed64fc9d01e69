"""Rates for tests on a cluster in use: with them no link and no storage system passes its cap.

A flow is held to its max-min fair share of what the caps leave, rounded down. Where flows fill an
element on purpose, they then fill it to the cap only, and their bundle says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Bundle, Round, Test
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.model.fabric import Direction, Fabric, Flow
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.units import Unit, network_rate, parse

_AS_ASKED = 0.99
"""Share of the rate of a point of a sweep from which a test is still called after it: rates are rounded down."""


def hold_to_caps(
    fabric: Fabric, rounds: Sequence[Round], routes: Routes, probes: Mapping[str, Probe]
) -> Iterator[Round]:
    """``rounds`` with a rate on every test that would load something above its cap and that can be held to one.

    PlanError for a point of a sweep over rates that is above what the caps leave.
    """
    caps = fabric.caps
    if caps.link is None and not caps.storage:
        yield from rounds
        return
    share = caps.link if caps.link is not None else 1.0
    left = {
        Direction(link.id, end): share * link.capacity for link in fabric.links.values() for end in (link.a, link.b)
    }
    for each in rounds:
        option = probes[each.probe].sending_options.rate
        yield _held(fabric, each, routes, left, option) if each.flows and option else each


def _held(fabric: Fabric, each: Round, routes: Routes, left: Mapping[Direction, float], option: str) -> Round:
    """A round with ``option`` of its tests set to the rate of the slowest of their flows."""
    flows = each.flows
    rates = [found.value for found in expect(fabric, flows, routes=routes, capacity=left)]
    capped = _of_storage(fabric, flows, rates)
    sweeps_rate = each.swept is not None and option in dict(each.swept.point)
    tests: list[Test] = []
    at = 0
    for test in each.tests:
        own = range(at, at + len(test.flows))
        at = own.stop
        if not own or (fabric.caps.link is None and capped.isdisjoint(own)):
            tests.append(test)
            continue
        text = format_rate(min(rates[index] for index in own))
        rate = parse(text, Unit.BYTE_RATE)
        if sweeps_rate and test.sending.rate is not None and rate < _AS_ASKED * test.sending.rate:
            expected = f"expected points that the caps of the file leave, at most {text}"
            raise PlanError(f"{option}={test.target.options[option]} for {test.target.key}: {expected}")
        target = replace(test.target, options=MappingProxyType({**test.target.options, option: text}))
        tests.append(replace(test, target=target, sending=replace(test.sending, rate=rate)))
    changed = replace(each, tests=tuple(tests))
    return replace(changed, bundles=tuple(_filled(fabric, changed, bundle, routes) for bundle in each.bundles))


def _of_storage(fabric: Fabric, flows: Sequence[Flow], rates: list[float]) -> set[int]:
    """Lower ``rates`` so that no storage system passes its cap; the flows that a cap concerns, by index."""
    concerned: set[int] = set()
    for name, cap in fabric.caps.storage.items():
        servers = set(fabric.storage[name].servers) if name in fabric.storage else set()
        own = [index for index, flow in enumerate(flows) if flow.source in servers or flow.sink in servers]
        asked = sum(rates[index] for index in own)
        for index in own if asked > cap else ():
            rates[index] *= cap / asked
        concerned.update(own)
    return concerned


def format_rate(rate: float) -> str:
    """``rate`` (byte/s) as the text of an option, never more than it is: three digits, rounded down."""
    text = network_rate(rate)
    return text if parse(text, Unit.BYTE_RATE) <= rate else network_rate(rate * 0.995)


def _filled(fabric: Fabric, each: Round, bundle: Bundle, routes: Routes) -> Bundle:
    """The bundle with what its flows can still load its elements to."""
    flows = [flow for test, flow in each.sent if test.bundle == bundle.name]
    load = dict.fromkeys(bundle.elements, 0.0)
    for flow, found in zip(flows, expect(fabric, flows, routes=routes), strict=True):
        for way, share in routes.shares_of(flow).items():
            if way in load:
                load[way] += share * found.value
    shares = (value / fabric.payload(fabric.links[way.link]) for way, value in load.items())
    return replace(bundle, fill=min(shares, default=0.0))
