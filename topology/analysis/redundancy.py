"""Effect of the loss of each single element: switch, gateway, link, one member of a LAG, one leg of a node.

Told for each: the nodes that are cut off (``topology.tables.separation``); the nodes that are degraded,
and what is left to the worst of them of its capacity toward the top, every device counting its
ways up by their capacity (``topology.tables.uplink_shares``); the worst oversubscription of a switch that loses
something; and the load of what has to take over. A way is redundant only if nobody is cut off
*and* what is left can carry what went over all of it before: min(down, up) before over what is
left of up. Elements that fail alike are one entry. The peer links of MLAG pairs are asked for
their own case in ``topology.analysis.peer_links``.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.folded_names import fold_names
from benchconsole.topology.analysis.peer_links import PeerCheck, check_peer_links
from benchconsole.topology.analysis.peer_links import list_findings as peer_findings
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.arrays import Indices
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import Tables, make_tables
from benchconsole.topology.tables.single_failures import (
    Case,
    Effect,
    FailureKind,
    Failures,
    list_device_failures,
    list_leg_failures,
    list_link_failures,
)
from benchconsole.topology.units import counted, percent
from benchconsole.topology.units import ratio as shown


@dataclass(frozen=True, slots=True)
class ElementLoss:
    """Elements that fail alike; ``role`` is that of a switch, or of both ends: ``chassis to leaf``."""

    kind: FailureKind
    role: str
    elements: Sequence[str]
    effect: Effect


@dataclass(frozen=True, slots=True)
class RedundancyReport:
    """Every kind of loss, switches first; the cut vertices and bridges of the switches; the check of peer links."""

    losses: tuple[ElementLoss, ...]
    points: tuple[str, ...]
    bridges: tuple[str, ...]
    peers: tuple[PeerCheck, ...]


def analyse_redundancy(fabric: Fabric, *, cabled: Tables | None = None) -> RedundancyReport:
    """What each single failure in ``fabric`` does."""
    cabled = cabled or make_tables(fabric)
    failures = Failures(cabled)
    devices, links = (
        _merge_cases(list_device_failures(failures)),
        _merge_cases((*list_link_failures(failures), *list_leg_failures(failures))),
    )
    trunks, bridges = cabled.trunks, failures.apart.bridges
    return RedundancyReport(
        losses=(
            *(ElementLoss(kind, role, cabled.devices(some), effect) for (kind, role, effect), some in devices),
            *(ElementLoss(kind, role, cabled.links(some), effect) for (kind, role, effect), some in links),
        ),
        points=cabled.devices(failures.apart.points),
        bridges=tuple(cabled.links(trunks.first[bridges[trunks.links[bridges] == 1]])),
        peers=check_peer_links(fabric, cabled=cabled),
    )


def _merge_cases(found: Iterable[tuple[Case, Indices]]) -> list[tuple[Case, Indices]]:
    """One entry for each class, its elements in their order."""
    together: dict[Case, list[Indices]] = {}
    for key, some in found:
        together.setdefault(key, []).append(some)
    return [(key, some[0] if len(some) == 1 else np.sort(np.concatenate(some))) for key, some in together.items()]


def list_findings(report: RedundancyReport) -> list[StaticFinding]:
    """Single points of failure, what is left of the rest, nodes with one leg, and the peer links."""
    said = [found for loss in report.losses for found in _describe_loss(loss)]
    return [*said, *peer_findings(report.peers)]


def _describe_loss(loss: ElementLoss) -> Iterator[StaticFinding]:
    effect = loss.effect
    if loss.kind is FailureKind.LEG:
        yield from _describe_legs(loss)
    elif effect.cut:
        text = (
            f"{_name_loss(loss)} cuts off {counted(effect.cut, 'node')}{_describe_degraded(effect, ' and degrades ')}"
        )
        yield StaticFinding(Severity.WARNING, "single-point-of-failure", _name_elements(loss), text)
    elif effect.degraded and loss.kind in (FailureKind.SWITCH, FailureKind.LINK, FailureKind.PEER):
        text = f"{_name_loss(loss)}{_describe_degraded(effect, ' degrades ')}{_describe_ratio(effect)}"
        yield StaticFinding(Severity.NOTE, "degraded-by-one", _name_elements(loss), text)


def _describe_legs(loss: ElementLoss) -> Iterator[StaticFinding]:
    if loss.effect.cut:
        have = "has" if len(loss.elements) == 1 else "have"
        text = f"{counted(len(loss.elements), 'node')} {have} no second leg ({loss.role})"
        yield StaticFinding(Severity.NOTE, "single-leg", loss.elements[0], text)


def _describe_ratio(effect: Effect) -> str:
    if effect.ratio is None:
        return ""
    if math.isinf(effect.ratio):
        return "; a switch is left without a way up"
    return f"; the worst oversubscription is {shown(effect.ratio)}"


def _name_loss(loss: ElementLoss) -> str:
    number = len(loss.elements)
    what = (
        f"the {loss.role} {loss.kind}"
        if loss.kind in (FailureKind.SWITCH, FailureKind.GATEWAY)
        else f"the {loss.kind} {loss.role}"
    )
    return (
        f"the loss of {_name_elements(loss)}"
        if number == 1
        else f"the loss of one {what[4:]} of {number} ({_name_elements(loss)})"
    )


def _name_elements(loss: ElementLoss) -> str:
    """Switches folded; of links the first, since names of links do not fold."""
    if loss.kind in (FailureKind.SWITCH, FailureKind.GATEWAY):
        return fold_names(loss.elements)
    return loss.elements[0]


def _describe_degraded(effect: Effect, verb: str) -> str:
    if not effect.degraded:
        return ""
    return f"{verb}{counted(effect.degraded, 'node')}, the worst to {percent(effect.left)} of their capacity upward"
