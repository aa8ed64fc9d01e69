"""Effect of the loss of one element on nodes, ratios and the elements that take over, for all elements.

Elements are grouped by the numbers that decide what their loss does, so each combination is worked out once.
The words are in ``topology.analysis.redundancy``.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices, sum_at
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import SwitchRole
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.planes import sum_planes
from benchconsole.topology.tables.ratios import divide, find_dead_switches, subtract_loss
from benchconsole.topology.tables.separation import find_separation
from benchconsole.topology.tables.uplink_shares import CrossingNodes, compute_standby_rates, compute_uplink_shares

_FEW = 500
"""Rows below which a dictionary is faster than sorting."""
_LARGEST = 1 << 62
_WHOLE = 1 - 1e-9
"""From this part on it is everything, but for rounding."""


class FailureKind(StrEnum):
    """The kind of an element that fails."""

    SWITCH = "switch"
    GATEWAY = "gateway"
    LINK = "link"
    MEMBER = "member"
    PEER = "peer link"
    LEG = "leg"
    LEG_MEMBER = "leg member"


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one failure.

    ``cut`` nodes are cut off; ``degraded`` more keep at least ``left`` of their capacity toward the top. ``ratio`` is
    the worst of the switches that lose ways up, None where none does, infinite where nothing is left. ``load`` is what
    has to take over, over what it can take: 0 where nothing has to move, infinite where nothing is left to take it.
    """

    cut: int = 0
    degraded: int = 0
    left: float = 1.0
    ratio: float | None = None
    load: float = 0.0

    @property
    def redundant(self) -> bool:
        """Whether the rest carries on as before."""
        return not self.cut and self.load <= 1 + 1e-9


_NOTHING = CrossingNodes()
Case = tuple[FailureKind, str, Effect]


class Failures:
    """The numbers of one fabric, asked for one failure after the other.

    ``up`` and ``down`` are those of ``topology.analysis.oversubscription``, or of the way aside where nothing leads up;
    ``total`` is what each leg's node has over all its legs of the network, in all planes, ``waiting`` what takes over
    from the leg.
    """

    def __init__(self, cabled: Tables) -> None:
        self.cabled = cabled
        self.apart = find_separation(cabled)
        self.reach = compute_uplink_shares(cabled)
        uplinks = cabled.uplinks
        self.up = np.where(cabled.up > 0, cabled.up, uplinks.up)
        self.down = np.maximum(cabled.down, uplinks.down)
        self.total = sum_planes(cabled)[uplinks.sender]
        self.waiting = compute_standby_rates(cabled)
        self.roles = ["node", *(role.value for role in SwitchRole)]

    def beside(self, *, lost: bool) -> Floats:
        """Per device byte/s of its ways aside (``topology.tables.uplink_paths.Aside``)."""
        return self.cabled.uplinks.aside.beside(len(self.up), lost=lost)

    def after(self, device: Indices, loss: Floats, beside: Floats, more: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Ratio and load of each ``device`` after a ``loss`` upward; ``beside`` is what helps when nothing is left."""
        down, up = self.down[device] + more, self.up[device]
        left = subtract_loss(up, loss)
        rest = np.where(left > 0, left, beside)
        return divide(down, rest), divide(np.minimum(down, up), rest)


def _group_alike(columns: Sequence[Indices | Flags | Floats]) -> Iterator[tuple[int, Indices]]:
    """The rows of a table that are equal: the first of them, and all; in the order of the first."""
    if len(columns[0]) < _FEW:
        listed = zip(*(column.tolist() for column in columns), strict=True)
        rows = group_by_key((row, number) for number, row in enumerate(listed))
        yield from ((some[0], np.array(some)) for some in rows.values())
        return
    code, size = np.zeros(len(columns[0]), np.intp), 1
    for column in columns:
        whole = column.dtype != np.float64
        values = column.astype(np.intp) if whole else np.unique(column, return_inverse=True)[1]
        span = int(values.max(initial=0)) + 1
        if size * span >= _LARGEST:
            code = np.unique(code, return_inverse=True)[1]
            size = int(code.max(initial=0)) + 1
        code, size = code * span + values, size * span
    _, first, of = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(of, kind="stable")
    ends = np.cumsum(np.bincount(of))
    for number in np.argsort(first).tolist():
        yield int(first[number]), order[ends[number - 1] if number else 0 : ends[number]]


def _make_effect(cut: int, crossing: CrossingNodes, part: float, ratio: float | None, load: float) -> Effect:
    """The effect of losing ``part`` of what crosses something; who crosses it entirely may be cut off."""
    degraded, left = 0, 1.0
    if part >= _WHOLE and cut >= crossing.entirely:
        degraded, left = crossing.nodes - crossing.entirely, 1 - crossing.most
    elif part > 1 - _WHOLE:
        degraded = max(crossing.nodes - cut, 0)
        left = 1 - part * (1.0 if crossing.entirely else crossing.most)
    left = _round_key(left) if degraded else 1.0
    return Effect(cut, degraded, left, None if ratio is None else _round_key(ratio), _round_key(load))


def _round_key(value: float) -> float:
    """Rounded so that elements that differ in the last bit of a sum fail alike."""
    return value if math.isinf(value) else float(f"{value:.12g}")


def list_device_failures(failures: Failures) -> Iterator[tuple[Case, Indices]]:
    """Every dead switch, then every dead gateway."""
    cabled = failures.cabled
    switches = np.arange(cabled.nodes, len(cabled.names))
    ratio, load = _compute_without(failures)
    cut, tier, lost = failures.apart.device, cabled.tier, _list_columns(failures.reach.lost, switches)
    for one, some in _group_alike([tier[switches], cut[switches], *lost, ratio, load]):
        switch = int(switches[one])
        crossing = failures.reach.lost.get(switch, _NOTHING)
        worst = None if ratio[one] < 0 else float(ratio[one])
        effect = _make_effect(int(cut[switch]), crossing, 1.0, worst, float(load[one]))
        yield (FailureKind.SWITCH, failures.roles[tier[switch]], effect), switches[some]
    gateways = np.flatnonzero(cabled.forwards[: cabled.nodes])
    for one, some in _group_alike([failures.apart.device[gateways]]):
        yield (FailureKind.GATEWAY, "node", Effect(cut=int(failures.apart.device[gateways[one]]))), gateways[some]


def _list_columns(crossings: Mapping[int, CrossingNodes], devices: Indices) -> list[Indices | Floats]:
    """The numbers of each device's crossing."""
    rows = [crossings.get(device, _NOTHING) for device in devices.tolist()]
    return [
        np.array([each.nodes for each in rows], np.intp),
        np.array([each.entirely for each in rows], np.intp),
        np.array([each.most for each in rows], float),
    ]


def _compute_without(failures: Failures) -> tuple[Floats, Floats]:
    """Per dead switch the worst ratio of those that go on without it (-1: none), and the heaviest load on anything."""
    cabled, groups, uplinks = failures.cabled, failures.cabled.node_groups, failures.cabled.uplinks
    trunks, size = cabled.trunks, len(cabled.names)
    rising = np.flatnonzero((cabled.tier[trunks.low] < cabled.tier[trunks.high]) & (trunks.capacity > 0))
    low, high = trunks.low[rising], trunks.high[rising]
    dead = find_dead_switches(cabled, low, high, trunks.capacity[rising])
    ratio, load = failures.after(dead.at, dead.less, failures.beside(lost=True)[dead.at], dead.more)
    worst, heaviest = np.full(size, -1.0), np.zeros(size)
    np.maximum.at(worst, dead.switch, ratio)
    np.maximum.at(heaviest, dead.switch, load)
    legs, of = np.unique(uplinks.sender * size + groups.switch, return_inverse=True)
    lost, instead = (sum_at(each, of, len(legs))[of] for each in (groups.capacity, failures.waiting))
    np.maximum.at(heaviest, groups.switch, _compute_leg_load(failures, lost, instead))
    return worst[cabled.nodes :], heaviest[cabled.nodes :]


def _compute_leg_load(failures: Failures, lost: Floats, instead: Floats) -> Floats:
    """Per leg what its node sent over all of them, over what it has with ``instead`` for ``lost``; 0 for no loss."""
    load = divide(failures.total, subtract_loss(failures.total, lost) + instead)
    return np.where(lost > 0, load, 0.0)


def list_link_failures(failures: Failures) -> Iterator[tuple[Case, Indices]]:
    """Every link between switches with all its members, and one member of each that has several."""
    cabled, uplinks = failures.cabled, failures.cabled.uplinks
    trunks, tier = cabled.trunks, cabled.tier
    links = np.flatnonzero(trunks.of >= 0)
    of = trunks.of[links]
    below = np.zeros(len(trunks.low), bool)
    below[uplinks.trunk] = True
    peer = cabled.logical[trunks.low] == cabled.logical[trunks.high]
    user = np.where(tier[trunks.low] < tier[trunks.high], trunks.low, -1)
    user[uplinks.trunk] = uplinks.low
    cut = np.where(trunks.links == 1, failures.apart.trunk, 0)
    beside = failures.beside(lost=False)
    # The effect of a failure depends on these numbers only: it is worked out once for each combination.
    columns = [_list_classes(failures, beside)[user], below, peer, cut, tier[trunks.low], tier[trunks.high]]
    alike = list(_group_alike([*(column[of] for column in columns), cabled.kind[links]]))
    firsts = np.array([one for one, _ in alike], np.intp)
    every, some_trunks = links[firsts], of[firsts]
    cases = (user[some_trunks], below[some_trunks], beside)
    whole = _compute_link_effects(failures, cases, cabled.usable[every], cut[some_trunks])
    member = _compute_link_effects(failures, cases, cabled.fastest[every], np.zeros_like(some_trunks))
    for (_, some), trunk, link, all_lost, one_lost in zip(
        alike, some_trunks.tolist(), every.tolist(), whole, member, strict=True
    ):
        role = f"{failures.roles[tier[trunks.low[trunk]]]} to {failures.roles[tier[trunks.high[trunk]]]}"
        yield (FailureKind.PEER if peer[trunk] else FailureKind.LINK, role, all_lost), links[some]
        if cabled.members[link] > 1:
            yield (FailureKind.MEMBER, role, one_lost), links[some]


def _list_classes(failures: Failures, beside: Floats) -> Indices:
    """Per device a number that switches share to which a failure above them does the same; the last is for none."""
    switches = np.arange(failures.cabled.nodes, len(failures.up))
    over = _list_columns(failures.reach.over, switches)
    found = np.zeros(len(failures.up) + 1, np.intp)
    rows = _group_alike([failures.up[switches], failures.down[switches], beside[switches], *over])
    for number, (_, some) in enumerate(rows, start=1):
        found[switches[some]] = number
    return found


def _compute_link_effects(
    failures: Failures, cases: tuple[Indices, Flags, Floats], loss: Floats, cut: Indices
) -> Iterator[Effect]:
    """The effects of losing ``loss`` of links; ``cases``: who climbs by them (-1: nobody), if below the top, aside."""
    users, inside, beside = cases
    ratios, loads = failures.after(users, loss, beside[users])
    up = failures.cabled.uplinks.up[users]
    parts = np.where(subtract_loss(up, loss) > 0, divide(loss, up), 1 - np.minimum(divide(beside[users], up), 1.0))
    rows = zip(users.tolist(), loss.tolist(), (parts * inside).tolist(), ratios.tolist(), loads.tolist(), strict=True)
    for (user, lost, part, ratio, load), gone in zip(rows, cut.tolist(), strict=True):
        if user < 0 or not lost:
            yield Effect(cut=gone)
        else:
            yield _make_effect(gone, failures.reach.over.get(user, _NOTHING), part, ratio, load)


def list_leg_failures(failures: Failures) -> Iterator[tuple[Case, Indices]]:
    """Every leg of a node with all its members, and one member of each that has several."""
    cabled, groups = failures.cabled, failures.cabled.node_groups
    machines = (groups.nodes // groups.size)[groups.owner]
    tier = cabled.tier[groups.switch]
    fastest = cabled.fastest[groups.link]
    several = cabled.members[groups.link] > 1
    everything, nothing = np.ones(len(several), bool), np.zeros(len(several))
    number = np.zeros(len(several), np.intp)
    # A standby leg takes over from a whole leg, not from one member of it.
    for kind, lost, instead, cut, asked in (
        (FailureKind.LEG, groups.capacity, failures.waiting, failures.apart.leg, everything),
        (FailureKind.LEG_MEMBER, fastest, nothing, np.zeros_like(number), several),
    ):
        load = _compute_leg_load(failures, lost, instead)
        part = divide(np.maximum(lost - instead, 0.0), failures.total)
        keys: list[Case] = []
        for one, some in _group_alike([machines, cut, part, load, tier, asked]):
            crossing = CrossingNodes(nodes=int(machines[one]), entirely=int(machines[one]))
            effect = _make_effect(int(cut[one]), crossing, float(part[one]), None, float(load[one]))
            number[some] = len(keys) if asked[one] else -1
            keys.append((kind, f"node to {failures.roles[tier[one]]}", effect))
        for each, key in enumerate(keys):
            links = groups.legs[number[groups.leg_of] == each]
            if len(links):
                yield key, links
