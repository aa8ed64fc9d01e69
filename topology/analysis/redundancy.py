"""Effect of the loss of each single element: switch, gateway, link, one member of a LAG, one leg of a node.

Told for each: the nodes that are cut off (``topology.tables.separation``); the nodes that are degraded,
and what is left to the worst of them of its capacity toward the top, every device counting its
ways up by their capacity (``topology.tables.uplink_shares``); the worst oversubscription of a switch that loses
something; and the load of what has to take over. A way is redundant only if nobody is cut off
*and* what is left can carry what went over all of it before: min(down, up) before over what is
left of up. Elements that fail alike are one entry. Whether the peer link of an MLAG pair could carry the traffic
of a failure: ``topology.analysis.peer_links``.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.arrays import Indices
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.single_failures import (
    Case,
    Effect,
    FailureKind,
    Failures,
    list_device_failures,
    list_leg_failures,
    list_link_failures,
)
from benchconsole.topology.units import counted, percent, ratio


@dataclass(frozen=True, slots=True)
class ElementLoss:
    """Elements that fail alike; ``role`` is that of a switch, or of both ends: ``chassis to leaf``."""

    kind: FailureKind
    role: str
    elements: Sequence[str]
    effect: Effect


def analyse_redundancy(cabled: Tables) -> tuple[ElementLoss, ...]:
    """What each single failure does, switches first."""
    failures = Failures(cabled)
    links = (*list_link_failures(failures), *list_leg_failures(failures))
    return (*_merge_cases(list_device_failures(failures), cabled.devices), *_merge_cases(links, cabled.links))


def _merge_cases(
    found: Iterable[tuple[Case, Indices]], name: Callable[[Indices], Sequence[str]]
) -> Iterator[ElementLoss]:
    """One entry for each case; where it was found several times, its elements in their order."""
    for (kind, role, effect), some in group_by_key(found).items():
        elements = some[0] if len(some) == 1 else np.sort(np.concatenate(some))
        yield ElementLoss(kind, role, name(elements), effect)


def list_findings(losses: Iterable[ElementLoss]) -> Iterator[StaticFinding]:
    """Single points of failure, what is left of the rest, and nodes with one leg."""
    for loss in losses:
        effect, number = loss.effect, len(loss.elements)
        devices = loss.kind in (FailureKind.SWITCH, FailureKind.GATEWAY)
        # Names of links do not fold: of these the first.
        where = fold_names(loss.elements) if devices else loss.elements[0]
        alike = f"{loss.role} {loss.kind}" if devices else f"{loss.kind} {loss.role}"
        title = f"the loss of {where}" if number == 1 else f"the loss of one {alike} of {number} ({where})"
        degraded = (
            f"{counted(effect.degraded, 'node')}, the worst to {percent(effect.left)} of their capacity upward"
            if effect.degraded
            else ""
        )
        if loss.kind is FailureKind.LEG:
            if effect.cut:
                have = "has" if number == 1 else "have"
                text = f"{counted(number, 'node')} {have} no second leg ({loss.role})"
                yield StaticFinding(Severity.NOTE, "single-leg", loss.elements[0], text)
        elif effect.cut:
            further = f" and degrades {degraded}" if degraded else ""
            text = f"{title} cuts off {counted(effect.cut, 'node')}{further}"
            yield StaticFinding(Severity.WARNING, "single-point-of-failure", where, text)
        elif degraded and loss.kind in (FailureKind.SWITCH, FailureKind.LINK, FailureKind.PEER):
            text = f"{title} degrades {degraded}"
            if effect.ratio is not None and math.isinf(effect.ratio):
                text += "; a switch is left without a way up"
            elif effect.ratio is not None:
                text += f"; the worst oversubscription is {ratio(effect.ratio)}"
            yield StaticFinding(Severity.NOTE, "degraded-by-one", where, text)
