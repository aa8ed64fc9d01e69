"""Owns how far each switch, tier and group is oversubscribed: what comes from below against what goes up.

Definition (vendor design guides): the sum of capacity toward the nodes over the sum of capacity
toward the core, connected cables only, in one direction, written ``2.00:1``. *Up* is any switch
of a higher tier, also where a tier is skipped; cables between switches of one tier are *side* and
count in neither sum. Of a bond the legs count that can be used: all of them under ``lacp`` and
``balance-xor``, under ``active-backup`` only the active one, until it is gone.

Three states: as cabled, with the free declared ports filled with node links, and after the one
failure that matters most. Along a whole path: ``topology.analysis.end_to_end``.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topology.analysis.finding import Finding, Severity
from topology.analysis.wording import named
from topology.model import Fabric, SwitchId, SwitchRole
from topology.units import ratio as shown

if TYPE_CHECKING:  # numpy is imported by the first question, not by the first screen
    from topology.analysis.ports import Ports
    from topology.tables import Tables
    from topology.tables.ratios import Worst


@dataclass(frozen=True, slots=True)
class Failure:
    """What a failure makes of a ratio: infinite where nothing is left upward. ``element`` is a link or a switch."""

    element: str
    ratio: float


@dataclass(frozen=True, slots=True)
class Oversubscription:
    """One switch. ``down``, ``up`` and ``side`` are byte/s on the wire; ``ratio`` is None without a way up.

    ``free`` is what the free ports could take of node links (None: no ports declared or no node
    attached). ``cable`` and ``switch_lost`` are the worst single failures of a cable and of
    another switch, None where nothing can fail or nothing leads up.
    """

    switch: SwitchId
    down: float
    up: float
    side: float
    free: float | None = None
    cable: Failure | None = None
    switch_lost: Failure | None = None

    @property
    def ratio(self) -> float | None:
        """down : up, None for a switch at the top."""
        return self.down / self.up if self.up else None

    @property
    def filled(self) -> float | None:
        """The ratio with every free port filled."""
        return (self.down + self.free) / self.up if self.up and self.free is not None else None


@dataclass(frozen=True, slots=True)
class Tier:
    """All switches of a role together, and of those with a way up the least and the most oversubscribed.

    A sum hides one bad switch. ``free`` is None where no switch says anything about it.
    """

    role: SwitchRole
    switches: int
    down: float
    up: float
    free: float | None
    least: Oversubscription | None
    most: Oversubscription | None

    @property
    def ratio(self) -> float | None:
        """down : up of the sums."""
        return self.down / self.up if self.up else None

    @property
    def filled(self) -> float | None:
        """The ratio with every free port filled."""
        return (self.down + self.free) / self.up if self.up and self.free is not None else None


@dataclass(frozen=True, slots=True)
class GroupShare:
    """A chassis, rack, pod, site or MLAG pair (``kind`` mlag) by the cables that cross its boundary.

    ``down`` is what its own nodes can send and what comes from below into it. Cables with both
    ends inside, peer links among them, do not count. ``side`` leads to other groups on the same
    tier: the ratio is against it only where nothing leads up, as between sites. Failures are of one
    cable between switches and of one switch, inside or outside, as far as something leads up.
    """

    kind: str
    name: str
    down: float
    up: float
    side: float
    cable: Failure | None
    switch_lost: Failure | None

    @property
    def ratio(self) -> float | None:
        """down : up, or down : side without a way up, or None."""
        out = self.up or self.side
        return self.down / out if out else None


@dataclass(frozen=True, slots=True)
class Report:
    """Iterates over its switches, in file order."""

    switches: tuple[Oversubscription, ...]
    tiers: tuple[Tier, ...]
    groups: tuple[GroupShare, ...]

    def __iter__(self) -> Iterator[Oversubscription]:
        return iter(self.switches)

    def __len__(self) -> int:
        return len(self.switches)


def oversubscription(fabric: Fabric, *, cabled: "Tables | None" = None, used: "Ports | None" = None) -> Report:
    """Every switch in file order, every role from the nodes upward, every group. ``used``: the report on ports."""
    from topology.analysis.ports import ports
    from topology.tables import tables

    cabled = cabled or tables(fabric)
    switches = _switches(cabled, used or ports(fabric, cabled=cabled))
    return Report(switches, tuple(_tiers(fabric, switches)), tuple(_groups(cabled)))


def _switches(cabled: "Tables", used: "Ports") -> tuple[Oversubscription, ...]:
    from topology.tables.ratios import without_cable, without_switch

    own = slice(cabled.nodes, None)
    return tuple(
        Oversubscription(SwitchId(name), down, up, side, port.free, cable, lost)
        for name, down, up, side, port, cable, lost in zip(
            cabled.names[own],
            cabled.down[own].tolist(),
            cabled.up[own].tolist(),
            cabled.side[own].tolist(),
            used.switches,
            _failures(without_cable(cabled), cabled.ids, cabled.nodes),
            _failures(without_switch(cabled), cabled.names, cabled.nodes),
            strict=True,
        )
    )


def _failures(worst: "Worst", names: tuple[str, ...], first: int = 0) -> list[Failure | None]:
    """The failures of the places from ``first`` on."""
    return [
        None if element < 0 else Failure(names[element], ratio)
        for element, ratio in zip(worst.element[first:].tolist(), worst.ratio[first:].tolist(), strict=True)
    ]


def _tiers(fabric: Fabric, switches: tuple[Oversubscription, ...]) -> Iterator[Tier]:
    by_role: dict[SwitchRole, list[Oversubscription]] = {}
    for each in switches:
        by_role.setdefault(fabric.switches[each.switch].role, []).append(each)
    for role in SwitchRole:
        members = by_role.get(role, [])
        if members:
            rated = sorted((each for each in members if each.up), key=lambda each: each.down / each.up)
            free = [each.free for each in members if each.free is not None]
            yield Tier(
                role,
                len(members),
                sum(each.down for each in members),
                sum(each.up for each in members),
                sum(free) if free else None,
                rated[0] if rated else None,
                rated[-1] if rated else None,
            )


def _groups(cabled: "Tables") -> Iterator[GroupShare]:
    """The pairs, then the groups by kind, each in file order."""
    kinds: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for pair in cabled.fabric.mlags:
        kinds.setdefault("mlag", []).append((pair.name, pair.switches))
    for group in cabled.fabric.groups:
        kinds.setdefault(group.kind, []).append((group.name, group.members))
    for kind, members in kinds.items():
        yield from _shares(cabled, kind, members)


def _shares(cabled: "Tables", kind: str, members: list[tuple[str, tuple[str, ...]]]) -> Iterator[GroupShare]:
    import numpy as np

    from topology.tables.ratios import boundaries

    member = np.full(len(cabled.names), -1)
    devices = [cabled.index[device] for _, names in members for device in names]
    member[devices] = np.repeat(np.arange(len(members)), [len(names) for _, names in members])
    found = boundaries(cabled, member, len(members))
    rows = zip(
        members,
        found.down.tolist(),
        found.up.tolist(),
        found.side.tolist(),
        _failures(found.cable, cabled.ids),
        _failures(found.switch, cabled.names),
        strict=True,
    )
    for (name, _), down, up, side, cable, switch in rows:
        yield GroupShare(kind, name, down, up, side, cable, switch)


def findings(fabric: Fabric, report: Report) -> list[Finding]:
    """Switches of one role that are not alike, what free ports would do, what one cable does; equal switches in one."""
    del fabric
    return [*_uneven(report), *_filled(report), *_after(report)]


def _uneven(report: Report) -> Iterator[Finding]:
    for tier in report.tiers:
        if tier.most is None or tier.least is None or tier.least.ratio == tier.most.ratio:
            continue
        text = (
            f"{tier.most.switch} is oversubscribed {shown(tier.most.ratio)}, {tier.least.switch} of the same role "
            f"{tier.role} {shown(tier.least.ratio)}; the {tier.switches} together {shown(tier.ratio)}"
        )
        yield Finding(Severity.WARNING, "uneven-oversubscription", tier.most.switch, text)


def _filled(report: Report) -> Iterator[Finding]:
    alike: dict[tuple[float, float], list[str]] = {}
    for each in report.switches:
        if each.free and each.filled is not None and each.ratio is not None:
            alike.setdefault((each.ratio, each.filled), []).append(each.switch)
    for (ratio, filled), switches in alike.items():
        where = named(switches)
        text = f"{where}: {shown(ratio)} as cabled, {shown(filled)} once the free ports are filled with nodes"
        yield Finding(Severity.NOTE, "free-ports", where, text)


def _after(report: Report) -> Iterator[Finding]:
    alike: dict[tuple[float, float], list[str]] = {}
    for each in report.switches:
        if each.cable is not None and each.ratio is not None and each.cable.ratio > each.ratio:
            alike.setdefault((each.ratio, each.cable.ratio), []).append(each.switch)
    for (ratio, worse), switches in alike.items():
        where = named(switches)
        after = "nothing upward is left" if math.isinf(worse) else f"it is {shown(worse)}"
        text = f"{where}: {shown(ratio)} as cabled; without one upward cable {after}"
        severity = Severity.WARNING if math.isinf(worse) else Severity.NOTE
        yield Finding(severity, "one-cable-less", where, text)
