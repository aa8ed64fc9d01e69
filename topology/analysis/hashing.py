"""Owns which LAGs of a fabric need more flows than they get, and where one hash repeats another.

Every flow takes one member of a LAG, drawn by a hash (``topology.analysis.occupancy``). How many
flows there will be is not known: one from each node behind the lower end is what is counted.
Refuses to know seeds: two stages of one policy may or may not use the same.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topology.analysis.finding import Finding, Severity
from topology.analysis.occupancy import busy, flows_for, reachable, spread
from topology.model import Fabric, HashPolicy, Link, LinkId, SwitchId
from topology.tables import Tables, tables
from topology.units import digits3, network_rate, percent

_UNEVEN = 1.5
"""From here on the slowest flows get so much less than their share that it is said."""


@dataclass(frozen=True, slots=True)
class LagKind:
    """LAGs that are alike. ``nodes`` is how many nodes are behind the lower end: with one flow each, so many flows.

    ``use`` is the expected share of members that these keep busy, ``imbalance`` how many times the
    mean load the fullest has; ``flows_90`` and ``flows_95`` are the flows needed for 90 and 95 %
    of the members.
    """

    members: int
    speed: float
    policy: HashPolicy
    lower: str
    upper: str
    nodes: int
    links: tuple[LinkId, ...]
    flows_90: int
    flows_95: int
    use: float
    imbalance: float


@dataclass(frozen=True, slots=True)
class Stages:
    """Two hashes one after the other on the way up, both of ``policy``.

    The first takes one of ``choices``, the second one of ``members``, of which only ``reachable``
    are reached from one choice of the first. ``apart``: the choices lead to different switches,
    so the other members stay unused. ``links`` are the LAGs of the second stage.
    """

    lower: str
    choices: int
    upper: str
    members: int
    policy: HashPolicy
    reachable: int
    apart: bool
    links: tuple[LinkId, ...]


@dataclass(frozen=True, slots=True)
class HashingReport:
    """The LAGs of a fabric by kind, and the stages at which one hash repeats another."""

    lags: tuple[LagKind, ...]
    stages: tuple[Stages, ...]


def hashing(fabric: Fabric, *, cabled: Tables | None = None) -> HashingReport:
    """Every LAG of ``fabric``, equal ones folded, and every pair of consecutive stages of one policy."""
    return HashingReport(tuple(_lags(fabric, cabled or tables(fabric))), tuple(_stages(fabric)))


def _kind(fabric: Fabric, device: str) -> str:
    switch = fabric.switches.get(SwitchId(device))
    return "node" if switch is None else switch.role.value


def _lags(fabric: Fabric, cabled: Tables) -> Iterator[LagKind]:
    below = _Below(fabric, cabled)
    ends: dict[str, tuple[str, int]] = {}
    kinds: dict[tuple[int, float, HashPolicy, str, int, str], list[LinkId]] = {}
    for link in fabric.links.values():
        if link.is_lag:
            for device in (link.a, link.b):
                if device not in ends:
                    ends[device] = (_kind(fabric, device), below.nodes(device))
            key = (link.count, link.speed, link.hash, *ends[link.a], ends[link.b][0])
            kinds.setdefault(key, []).append(link.id)
    for (members, speed, policy, lower, nodes, upper), links in kinds.items():
        need = (flows_for(0.90, members), flows_for(0.95, members))
        use = busy(nodes, members) / members
        imbalance = spread(nodes, members).imbalance if nodes else 1.0
        yield LagKind(members, speed, policy, lower, upper, nodes, tuple(links), *need, use, imbalance)


class _Below:
    """How many nodes are at or under a device; a host counts as its virtual machines.

    Nodes that are cabled alike are one class, and a switch has a set of classes, one bit each:
    what is reached over several ways counts once.
    """

    def __init__(self, fabric: Fabric, cabled: Tables) -> None:
        groups, trunks, names = cabled.node_groups, cabled.trunks, cabled.names
        each = groups.nodes // np.maximum(groups.size, 1)
        each = np.where(each > 1, each - 1, 1)
        self._fabric = fabric
        self._weights: list[int] = (each * groups.size).tolist()
        self._own: dict[str, int] = dict(zip(names, each[groups.group].tolist(), strict=False)) if len(groups) else {}
        self._under: dict[str, int] = dict.fromkeys(fabric.switches, 0)
        for switch, owner in zip(groups.switch.tolist(), groups.owner.tolist(), strict=True):
            self._under[names[switch]] |= 1 << owner
        rises = np.flatnonzero(cabled.tier[trunks.low] < cabled.tier[trunks.high])
        for way in rises[np.argsort(cabled.tier[trunks.high[rises]], kind="stable")].tolist():
            self._under[names[trunks.high[way]]] |= self._under[names[trunks.low[way]]]
        self._counted: dict[int, int] = {}

    def nodes(self, device: str) -> int:
        """The nodes at or under ``device``."""
        if device not in self._under:
            return self._own.get(device, 1)
        classes = self._under[device]
        if classes not in self._counted:
            self._counted[classes] = sum(self._weights[number] for number in _bits(classes))
        return self._counted[classes]


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _ways_up(fabric: Fabric) -> dict[str, list[Link]]:
    """The links in use that lead up from each switch; the first end of a link is the lower."""
    tiers: dict[str, int] = {switch.id: switch.role.tier for switch in fabric.switches.values()}
    found: dict[str, list[Link]] = {switch: [] for switch in tiers}
    for link in fabric.links.values():
        if link.a in tiers and not link.standby and tiers[link.a] < tiers.get(link.b, 0):
            found[link.a].append(link)
    return found


@dataclass(frozen=True, slots=True)
class _Choice:
    """One upward link of a switch, and which of ``choices`` values of its hash lead over it.

    ``apart``: other values lead to other switches.
    """

    link: Link
    choices: int
    values: range
    apart: bool

    def reaches(self, members: int) -> int:
        """How many of ``members`` of a next LAG a flow can be on that came this way, under the same hash.

        On a single LAG: that came over one and the same member.
        """
        seen = min(len(self.values), math.gcd(self.choices, members)) if self.apart else 1
        return seen * reachable(self.choices, members)


def _choices(fabric: Fabric, links: Sequence[Link], device: str) -> Iterator[_Choice]:
    """Several next hops are one value each; to a single one, or to a pair that is one, each member is a value."""
    hops: dict[str, list[Link]] = {}
    for link in links:
        upper = link.other(device)
        hops.setdefault(fabric.mlag_of[upper].name if upper in fabric.mlag_of else upper, []).append(link)
    for number, parallel in enumerate(hops.values()):
        cables, before = sum(link.count for link in parallel), 0
        for link in parallel:
            if len(hops) > 1:
                yield _Choice(link, len(hops), range(number, number + 1), apart=True)
            else:
                yield _Choice(link, cables, range(before, before + link.count), apart=len(parallel) > 1)
            before += link.count


def _stages(fabric: Fabric) -> Iterator[Stages]:
    """Only between switches: the hash of a node's bond is another program than that of a switch."""
    ways = _ways_up(fabric)
    seconds = {switch: _alike(links) for switch, links in ways.items()}
    kinds: dict[tuple[str, int, str, int, HashPolicy, int, bool], dict[str, None]] = {}
    seen: set[tuple[object, ...]] = set()
    for lower, links in ways.items():
        same = (fabric.tier(lower), *((link.other(lower), link.count, link.hash) for link in links))
        if same in seen:
            continue
        seen.add(same)
        for first in _choices(fabric, links, lower):
            upper, policy = first.link.other(lower), first.link.hash
            for second, members in seconds.get(upper, ()):
                left = first.reaches(members)
                if second is policy is not HashPolicy.STEERED and left < members:
                    ends = (_kind(fabric, lower), first.choices, _kind(fabric, upper), members)
                    kinds.setdefault((*ends, policy, left, first.apart), {})[upper] = None
    for stage, uppers in kinds.items():
        found = (link for upper in uppers for link in seconds[upper][stage[4], stage[3]])
        yield Stages(*stage, tuple(found))


def _alike(links: Sequence[Link]) -> Mapping[tuple[HashPolicy, int], list[LinkId]]:
    found: dict[tuple[HashPolicy, int], list[LinkId]] = {}
    for link in links:
        found.setdefault((link.hash, link.count), []).append(link.id)
    return found


def findings(fabric: Fabric, report: HashingReport) -> list[Finding]:
    """Few flows for the members, hashes that see too little, repeated hashes, and LAGs that tests steer."""
    found = [finding for kind in report.lags for finding in _lag_findings(kind)]
    return found + [_stage_finding(fabric, stages) for stages in report.stages]


def _where(links: Sequence[LinkId]) -> str:
    return links[0] if len(links) == 1 else f"{links[0]} and {len(links) - 1} more"


def _lag_findings(kind: LagKind) -> Iterator[Finding]:
    where = _where(kind.links)
    what = f"{kind.lower} to {kind.upper}, {kind.members} x {network_rate(kind.speed)}"
    if kind.policy is HashPolicy.STEERED:
        yield Finding(Severity.NOTE, "lag-steered", where, f"{what}: tests choose source ports that use every member")
        return
    if not kind.nodes or (kind.nodes >= kind.flows_95 and kind.imbalance < _UNEVEN):
        return
    text = f"{what}, {_words(kind.policy)}: {_few(kind)}"
    # Of a node's own bond only the single flow is sure to be slow: its partners may be many.
    severity = Severity.NOTE if kind.nodes == 1 else Severity.WARNING
    if kind.policy is HashPolicy.L3L4:
        yield Finding(Severity.NOTE, "lag-few-flows", where, f"{text}; parallel streams help")
    elif kind.policy is HashPolicy.UNKNOWN:
        yield Finding(severity, "lag-hash-unknown", where, text)
    else:
        text += "; parallel streams of two nodes share a member, so only more pairs of nodes help"
        yield Finding(severity, "lag-hash-addresses", where, text)


def _words(policy: HashPolicy) -> str:
    return {
        HashPolicy.UNKNOWN: "hash unknown",
        HashPolicy.L2: "hash of MAC addresses",
        HashPolicy.L3: "hash of IP addresses",
        HashPolicy.L3L4: "hash of addresses and ports",
    }[policy]


def _few(kind: LagKind) -> str:
    if kind.nodes == 1:
        return (
            f"one flow of the node behind it uses 1 of {kind.members}; 95 % of the members need {kind.flows_95} flows"
        )
    each = spread(kind.nodes, kind.members)
    return (
        f"one flow from each of {kind.nodes} nodes behind it uses {digits3(each.busy)} of {kind.members} on average"
        f" ({percent(kind.use)}), the fullest has {digits3(each.fullest)} flows, {digits3(kind.imbalance)} times the"
        f" mean; 95 % of the members need {kind.flows_95} flows"
    )


def _stage_finding(fabric: Fabric, stages: Stages) -> Finding:
    named = {SwitchId(fabric.links[link].a) for link in stages.links}
    hashes = "an unknown hash" if stages.policy is HashPolicy.UNKNOWN else f"the same {stages.policy} hash"
    text = f"{stages.lower} takes 1 of {stages.choices}, then {stages.upper} 1 of {stages.members} by {hashes}: "
    if stages.apart:
        text += f"unless the seeds differ, each of {len(named)} uses {stages.reachable} of its {stages.members} members"
        severity = Severity.NOTE if stages.policy is HashPolicy.UNKNOWN else Severity.WARNING
        return Finding(severity, "hash-polarisation", _where(stages.links), text)
    text += f"unless the seeds differ, flows that share a member at first reach {stages.reachable} of {stages.members}"
    return Finding(Severity.NOTE, "hash-repeated", _where(stages.links), text)
