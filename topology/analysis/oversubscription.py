"""Oversubscription of each switch, tier and group: capacity from below against capacity that goes up.

Definition (vendor design guides): the sum of capacity toward the nodes over the sum of capacity toward the core,
connected cables only, in one direction, written ``2.00:1``. *Up* is any switch of a higher tier, also where a tier is
skipped; cables between switches of one tier are *side* and count in neither sum. Of a bond the legs count that can be
used: all of them under ``lacp`` and ``balance-xor``, under ``active-backup`` only the active one, until it is gone.

Three states: as cabled, with the free declared ports filled with node links, and after the one failure that matters
most. Along a whole path: ``topology.analysis.end_to_end``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.network_names import NetworkNames
from benchconsole.topology.analysis.ports import SwitchPorts, analyse_ports
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import SwitchId, SwitchRole
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.ratios import Worst, find_worst_cables, find_worst_switches, sum_boundaries
from benchconsole.topology.units import ratio as shown


@dataclass(frozen=True, slots=True)
class WorstFailure:
    """The worst ratio after a failure: infinite where nothing is left upward. ``element`` is a link or a switch."""

    element: str
    ratio: float


class _DownOverUp:
    """The ratios of what has ``down`` and ``up`` in byte/s, and ``free`` byte/s of ports without a cable."""

    __slots__ = ()
    down: float
    up: float
    free: float | None

    @property
    def ratio(self) -> float | None:
        """down : up, None without a way up."""
        return self.down / self.up if self.up else None

    @property
    def filled(self) -> float | None:
        """The ratio with every free port filled."""
        return (self.down + self.free) / self.up if self.up and self.free is not None else None


@dataclass(frozen=True, slots=True)
class Oversubscription(_DownOverUp):
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
    cable: WorstFailure | None = None
    switch_lost: WorstFailure | None = None


@dataclass(frozen=True, slots=True)
class TierOversubscription(_DownOverUp):
    """All switches of a role together, and the extremes of those with a way up: a sum hides one bad switch.

    Switches of different networks are no tier together; ``networks`` has none where there is only one.
    """

    role: SwitchRole
    switches: int
    down: float
    up: float
    free: float | None
    least: Oversubscription | None
    most: Oversubscription | None
    networks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupOversubscription:
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
    cable: WorstFailure | None
    switch_lost: WorstFailure | None

    @property
    def ratio(self) -> float | None:
        """down : up, or down : side without a way up, or None."""
        out = self.up or self.side
        return self.down / out if out else None


@dataclass(frozen=True, slots=True)
class OversubscriptionReport:
    """Iterates over its switches, in file order."""

    switches: tuple[Oversubscription, ...]
    tiers: tuple[TierOversubscription, ...]
    groups: tuple[GroupOversubscription, ...]

    def __iter__(self) -> Iterator[Oversubscription]:
        return iter(self.switches)


def analyse_oversubscription(cabled: Tables, *, used: Sequence[SwitchPorts] | None = None) -> OversubscriptionReport:
    """Every switch in file order, every role from the nodes upward, every group. ``used``: the report on ports."""
    switches = _analyse_switches(cabled, used or analyse_ports(cabled))
    return OversubscriptionReport(switches, tuple(_analyse_tiers(cabled, switches)), tuple(_analyse_groups(cabled)))


def _analyse_switches(cabled: Tables, used: Sequence[SwitchPorts]) -> tuple[Oversubscription, ...]:
    own = slice(cabled.nodes, None)
    return tuple(
        Oversubscription(SwitchId(name), down, up, side, port.free, cable, lost)
        for name, down, up, side, port, cable, lost in zip(
            cabled.names[own],
            cabled.down[own].tolist(),
            cabled.up[own].tolist(),
            cabled.side[own].tolist(),
            used,
            name_failures(find_worst_cables(cabled), cabled.ids, cabled.nodes),
            name_failures(find_worst_switches(cabled), cabled.names, cabled.nodes),
            strict=True,
        )
    )


def name_failures(worst: Worst, names: Sequence[str], first: int = 0) -> list[WorstFailure | None]:
    """The failures of the places from ``first`` on."""
    return [
        None if element < 0 else WorstFailure(names[element], ratio)
        for element, ratio in zip(worst.element[first:].tolist(), worst.ratio[first:].tolist(), strict=True)
    ]


def _analyse_tiers(cabled: Tables, switches: tuple[Oversubscription, ...]) -> Iterator[TierOversubscription]:
    names = NetworkNames(cabled.fabric)
    order = list(SwitchRole)
    tiers = group_by_key(
        ((order.index(cabled.fabric.switches[each.switch].role), names.list_names(each.switch)), each)
        for each in switches
    )
    for (place, networks), members in sorted(tiers.items(), key=lambda tier: tier[0][0]):
        rated = sorted((each for each in members if each.up), key=lambda each: each.down / each.up)
        free = [each.free for each in members if each.free is not None]
        yield TierOversubscription(
            order[place],
            len(members),
            sum(each.down for each in members),
            sum(each.up for each in members),
            sum(free) if free else None,
            rated[0] if rated else None,
            rated[-1] if rated else None,
            networks,
        )


def _analyse_groups(cabled: Tables) -> Iterator[GroupOversubscription]:
    """The pairs, then the groups by kind, each in file order."""
    fabric = cabled.fabric
    pairs = (("mlag", (pair.name, pair.switches)) for pair in fabric.mlags)
    kinds = group_by_key((*pairs, *((group.kind, (group.name, group.members)) for group in fabric.groups)))
    for kind, members in kinds.items():
        member = np.full(len(cabled.names), -1)
        for number, (_, names) in enumerate(members):
            member[[cabled.index[device] for device in names]] = number
        found = sum_boundaries(cabled, member, len(members))
        rows = zip(
            members,
            found.down.tolist(),
            found.up.tolist(),
            found.side.tolist(),
            name_failures(found.cable, cabled.ids),
            name_failures(found.switch, cabled.names),
            strict=True,
        )
        for (name, _), down, up, side, cable, switch in rows:
            yield GroupOversubscription(kind, name, down, up, side, cable, switch)


def list_findings(report: OversubscriptionReport) -> Iterator[StaticFinding]:
    """Switches of one role that are not alike, what free ports would do; equal switches in one."""
    for tier in report.tiers:
        if tier.most is not None and tier.least is not None and tier.least.ratio != tier.most.ratio:
            text = (
                f"{tier.most.switch} is oversubscribed {shown(tier.most.ratio)}, {tier.least.switch} of the same role "
                f"{tier.role} {shown(tier.least.ratio)}; the {tier.switches} together {shown(tier.ratio)}"
            )
            yield StaticFinding(Severity.WARNING, "uneven-oversubscription", tier.most.switch, text)
    filled = group_by_key(((each.ratio, each.filled), each.switch) for each in report if each.free and each.up)
    for (ratio, full), switches in filled.items():
        where = fold_names(switches)
        text = f"{where}: {shown(ratio)} as cabled, {shown(full)} once the free ports are filled with nodes"
        yield StaticFinding(Severity.NOTE, "free-ports", where, text)
