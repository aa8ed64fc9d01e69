"""The state of links as measured: the lowest share seen over each, members of a LAG that carry, loads of a rack."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import FULL, Bundle, Result, Test
from benchconsole.topology.model.fabric import Fabric, LinkId

if TYPE_CHECKING:
    from benchconsole.probes.judging.flow_legs import FlowLegs

MEMBER_NEAR = 0.12
"""A measured share explains a whole number of members if it is this near to it, counted in members."""

WHOLE_RACK = 0.9
"""Share of the payload of all links of a rack from which a test speaks of their sum."""

_asked: "list[FlowLegs]" = []
"""That of the fabric that was asked of last: verdicts come in a row, and a routing is made for each fabric."""


def read_links(
    fabric: Fabric, bundles: Mapping[str, Bundle], result: Result, verdict: Verdict
) -> tuple[Sequence[LinkId], Level]:
    """The links that a verdict on throughput speaks of, and the level that it gives each of them.

    Those of the bundle of its test, or the NICs that a lone flow used (as slow as the slower one: filled): of the
    network and the ports that its test names. The level is pass for a link that was filled and whose number is known,
    else unknown; only a finding fails a link. A verdict against a fixed number of the file tells no share of what a
    link carries: none.
    """
    target = result.test.target
    if verdict.kind is not Yardstick.CAPACITY or verdict.share is None or target.peer is None:
        return (), Level.UNKNOWN
    filled = True
    if result.test.bundle:
        bundle = bundles.get(result.test.bundle)
        links = _list_filled(fabric, result.test, bundle) if bundle is not None else []
        filled = bundle is not None and bundle.fill >= FULL
    else:
        links = _list_legs(fabric, result.test)
    return links, Level.PASS if filled and verdict.level is not Level.UNKNOWN else Level.UNKNOWN


def _list_filled(fabric: Fabric, test: Test, bundle: Bundle) -> Sequence[LinkId]:
    """The elements of a bundle; where nobody knows by which ports its tests went, only the legs that are certain."""
    filled = [element.link for element in bundle.elements]
    if not _has_choice(fabric, test):
        return filled
    asked = _ask_legs(fabric)
    known = asked.list_legs(test) if asked.is_unsure(test) else filled
    return [link for link in filled if link in known]


def _list_legs(fabric: Fabric, test: Test) -> Sequence[LinkId]:
    """The cables of both nodes of ``test`` that its flows use, by the network and the ports that it names."""
    legs = [fabric.active_legs(node.id) for node in test.target.nodes]
    if max(map(len, legs), default=0) > 1:
        return _ask_legs(fabric).list_legs(test)
    return [link.id for each in legs for link in each]


def _has_choice(fabric: Fabric, test: Test) -> bool:
    """Whether it is a matter of networks, ports and ways which legs a test uses."""
    return any(len(fabric.active_legs(node.id)) > 1 for node in test.target.nodes)


def _ask_legs(fabric: Fabric) -> "FlowLegs":
    from benchconsole.probes.judging.flow_legs import FlowLegs  # here: it imports numpy, before the first frame

    asked = next((each for each in _asked if each.fabric is fabric), None)
    if asked is None:
        asked = FlowLegs(fabric)
        _asked[:] = [asked]
    return asked


def count_members(count: int, share: float | None) -> int | None:
    """How many of ``count`` members would carry this share of all; None where that is no whole number, or only one."""
    if count < 2 or share is None:
        return None
    members = share * count
    return round(members) if abs(members - round(members)) <= MEMBER_NEAR else None


class RackLoad(Struct, frozen=True):
    """The load of the links that leave one rack: all together, and each; byte/s of payload, None where unknown."""

    total: float | None
    links: Mapping[LinkId, float | None]


def estimate_rack_load(
    payload: Mapping[LinkId, float], readings: Mapping[LinkId, tuple[float, float]], blamed: Collection[LinkId]
) -> RackLoad:
    """The load of links that leave one rack, from (measured, expected) of the links that were measured.

    ``payload`` is byte/s that each carries as built. A bundle that fills all of them at once tells
    their sum, and no more than that: links that a finding is about (``blamed``) keep their own number,
    the others share the rest by capacity.
    """
    from benchconsole.probes.judging.grading import POSSIBLE  # here: it imports numpy, before the first frame

    loads: dict[LinkId, float | None] = dict.fromkeys(payload)
    total: float | None = None
    for link, (measured, expected) in ((name, readings[name]) for name in payload if name in readings):
        alone = expected <= payload[link] * POSSIBLE
        loads[link] = measured if alone else measured / expected * payload[link]
        if not alone and total is None and expected >= WHOLE_RACK * sum(payload.values()):
            total = measured
    if total is None:
        known = [value for value in loads.values() if value is not None]
        return RackLoad(sum(known) if known else None, loads)
    own = {name: value for name, value in loads.items() if name in blamed and value is not None}
    rest = total - sum(own.values())
    others = sum(payload[name] for name in payload if name not in own)
    shared = {
        name: min(max(rest * payload[name] / others, 0.0), payload[name]) if others else None
        for name in payload
        if name not in own
    }
    return RackLoad(total, {**loads, **shared})
