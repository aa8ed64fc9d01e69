"""Owns what the loss of each single element does: switch, gateway, link, one member of a LAG, one leg of a node.

Told for each: the nodes that are cut off (``topology.tables.separation``); the nodes that are degraded,
and what is left to the worst of them of its capacity toward the top, every device counting its
ways up by their capacity (``topology.tables.reach``); the worst oversubscription of a switch that loses
something; and the load of what has to take over. A way is redundant only if nobody is cut off
*and* what is left can carry what went over all of it before: min(down, up) before over what is
left of up. Elements that fail alike are one entry. The peer links of MLAG pairs are asked for
their own case in ``topology.analysis.peer_links``.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from topology.analysis.finding import Finding, Severity
from topology.analysis.peer_links import PeerCheck, peer_links
from topology.analysis.peer_links import findings as peer_findings
from topology.analysis.wording import named
from topology.maxmin import Indices
from topology.model import Fabric
from topology.tables import Tables, tables
from topology.tables.effects import Case, Effect, Failures, Kind, devices_lost, legs_lost, links_lost
from topology.units import counted, percent
from topology.units import ratio as shown

__all__ = ["Effect", "Kind", "Loss", "Report", "findings", "redundancy"]
"""``Effect`` and ``Kind`` are those of ``topology.tables.effects``, named in the reports here."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Elements that fail alike; ``role`` is that of a switch, or of both ends: ``chassis to leaf``."""

    kind: Kind
    role: str
    elements: Sequence[str]
    effect: Effect


@dataclass(frozen=True, slots=True)
class Report:
    """Every kind of loss, switches first; the cut vertices and bridges of the switches; the check of peer links."""

    losses: tuple[Loss, ...]
    points: tuple[str, ...]
    bridges: tuple[str, ...]
    peers: tuple[PeerCheck, ...]


def redundancy(fabric: Fabric, *, cabled: Tables | None = None) -> Report:
    """What each single failure in ``fabric`` does."""
    cabled = cabled or tables(fabric)
    failures = Failures(cabled)
    devices, links = _merged(devices_lost(failures)), _merged((*links_lost(failures), *legs_lost(failures)))
    trunks, bridges = cabled.trunks, failures.apart.bridges
    return Report(
        losses=(
            *(Loss(kind, role, cabled.devices(some), effect) for (kind, role, effect), some in devices),
            *(Loss(kind, role, cabled.links(some), effect) for (kind, role, effect), some in links),
        ),
        points=cabled.devices(failures.apart.points),
        bridges=tuple(cabled.links(trunks.first[bridges[trunks.links[bridges] == 1]])),
        peers=peer_links(fabric, cabled=cabled),
    )


def _merged(found: Iterable[tuple[Case, Indices]]) -> list[tuple[Case, Indices]]:
    """One entry for each class, its elements in their order."""
    together: dict[Case, list[Indices]] = {}
    for key, some in found:
        together.setdefault(key, []).append(some)
    return [(key, some[0] if len(some) == 1 else np.sort(np.concatenate(some))) for key, some in together.items()]


def findings(fabric: Fabric, report: Report) -> list[Finding]:
    """Single points of failure, what is left of the rest, nodes with one leg, and the peer links."""
    said = [found for loss in report.losses for found in _said(loss)]
    return [*said, *peer_findings(fabric, report.peers)]


def _said(loss: Loss) -> Iterator[Finding]:
    effect = loss.effect
    if loss.kind is Kind.LEG:
        yield from _said_of_legs(loss)
    elif effect.cut:
        text = f"{_which(loss)} cuts off {counted(effect.cut, 'node')}{_degraded(effect, ' and degrades ')}"
        yield Finding(Severity.WARNING, "single-point-of-failure", _where(loss), text)
    elif effect.degraded and loss.kind in (Kind.SWITCH, Kind.LINK, Kind.PEER):
        text = f"{_which(loss)}{_degraded(effect, ' degrades ')}{_after(effect)}"
        yield Finding(Severity.NOTE, "degraded-by-one", _where(loss), text)


def _said_of_legs(loss: Loss) -> Iterator[Finding]:
    if loss.effect.cut:
        have = "has" if len(loss.elements) == 1 else "have"
        text = f"{counted(len(loss.elements), 'node')} {have} no second leg ({loss.role})"
        yield Finding(Severity.NOTE, "single-leg", loss.elements[0], text)


def _after(effect: Effect) -> str:
    if effect.ratio is None:
        return ""
    if math.isinf(effect.ratio):
        return "; a switch is left without a way up"
    return f"; the worst oversubscription is {shown(effect.ratio)}"


def _which(loss: Loss) -> str:
    number = len(loss.elements)
    what = (
        f"the {loss.role} {loss.kind}" if loss.kind in (Kind.SWITCH, Kind.GATEWAY) else f"the {loss.kind} {loss.role}"
    )
    return f"the loss of {_where(loss)}" if number == 1 else f"the loss of one {what[4:]} of {number} ({_where(loss)})"


def _where(loss: Loss) -> str:
    """Switches folded; of links the first, since names of links do not fold."""
    if loss.kind in (Kind.SWITCH, Kind.GATEWAY):
        return named(loss.elements)
    return loss.elements[0]


def _degraded(effect: Effect, verb: str) -> str:
    if not effect.degraded:
        return ""
    return f"{verb}{counted(effect.degraded, 'node')}, the worst to {percent(effect.left)} of their capacity upward"
