"""Owns holding tests back on a cluster in use: the bit rates at which no link and no storage system passes its cap.

A flow is held to its max-min fair share of what the caps leave, rounded down. Where flows fill an
element on purpose they then fill it to the cap only, and their bundle says so. Refuses to decide
which flows run together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from probes.model import Bundle, Round, Test
from topology.expect import expect
from topology.model import Direction, Fabric, Flow
from topology.routing import Routes
from topology.units import Unit, network_rate, parse

BITRATE = "bitrate"
"""The option that holds one test to a rate of payload, as text with its unit."""


def held(fabric: Fabric, rounds: Sequence[Round], routes: Routes) -> Iterator[Round]:
    """``rounds`` with a bit rate on every test that would load something above its cap."""
    caps = fabric.caps
    if caps.link is None and not caps.storage:
        yield from rounds
        return
    share = caps.link if caps.link is not None else 1.0
    left = {
        Direction(link.id, end): share * link.capacity for link in fabric.links.values() for end in (link.a, link.b)
    }
    for each in rounds:
        yield _held(fabric, each, routes, left) if each.flows else each


def _held(fabric: Fabric, each: Round, routes: Routes, left: Mapping[Direction, float]) -> Round:
    flows = each.flows
    rates = [found.value for found in expect(fabric, flows, routes=routes, capacity=left)]
    capped = _of_storage(fabric, flows, rates)
    sending = iter(range(len(flows)))
    tests: list[Test] = []
    for test in each.tests:
        index = next(sending) if test.target.peer is not None else None
        if index is None or (fabric.caps.link is None and index not in capped):
            tests.append(test)
            continue
        options = MappingProxyType({**test.target.options, BITRATE: rate_text(rates[index])})
        tests.append(replace(test, target=replace(test.target, options=options)))
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


def rate_text(rate: float) -> str:
    """``rate`` (byte/s) as the text of an option, never more than it is: three digits, rounded down."""
    text = network_rate(rate)
    return text if parse(text, Unit.BYTE_RATE) <= rate else network_rate(rate * 0.995)


def _filled(fabric: Fabric, each: Round, bundle: Bundle, routes: Routes) -> Bundle:
    """The bundle with what its flows can still load its elements to."""
    flows = [flow for test, flow in zip(each.tests, each.flows, strict=True) if test.bundle == bundle.name]
    load = dict.fromkeys(bundle.elements, 0.0)
    for flow, found in zip(flows, expect(fabric, flows, routes=routes), strict=True):
        for way, share in routes.shares_of(flow).items():
            if way in load:
                load[way] += share * found.value
    shares = (
        value / (fabric.links[way.link].capacity * fabric.goodput_of(fabric.links[way.link]))
        for way, value in load.items()
    )
    return replace(bundle, fill=min(shares, default=0.0))
