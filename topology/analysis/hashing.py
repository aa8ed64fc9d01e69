"""LAGs that need more flows than they get, and places where one hash repeats another.

Every flow takes one member of a LAG, drawn by a hash (``topology.analysis.hash_occupancy``). How many flows
there will be is not known: one from each node behind the lower end is what is counted.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.hash_occupancy import compute_member_load, count_busy, count_flows, count_reachable
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.model.fabric import Fabric, HashPolicy, Link, LinkId, SwitchId
from benchconsole.topology.tables.fabric_tables import Tables, make_tables
from benchconsole.topology.units import digits3, network_rate, percent

_UNEVEN = 1.5
"""From here on the slowest flows get so much less than their share that it is said."""


@dataclass(frozen=True, slots=True)
class LagKind:
    """LAGs that are alike. ``nodes`` is how many nodes are behind the lower end: with one flow each, so many flows.

    ``use`` is the expected share of members that these keep busy, ``imbalance`` how many times the
    mean load the fullest has; ``flows_95`` are the flows needed for 95 % of the
    members.
    """

    members: int
    speed: float
    policy: HashPolicy
    lower: str
    upper: str
    nodes: int
    links: tuple[LinkId, ...]
    flows_95: int
    use: float
    imbalance: float


@dataclass(frozen=True, slots=True)
class RepeatedHash:
    """Two hashes one after the other on the way up, both of ``policy``.

    The first takes one of ``choices``, the second one of ``members``, of which only ``reachable``
    are reached from one choice of the first. ``apart``: the choices lead to different switches,
    so the other members stay unused. ``switches`` have the second stage; ``links`` are the LAGs of the second stage.
    """

    lower: str
    choices: int
    upper: str
    members: int
    policy: HashPolicy
    reachable: int
    apart: bool
    switches: int
    links: tuple[LinkId, ...]


@dataclass(frozen=True, slots=True)
class HashingReport:
    """The LAGs of a fabric by kind, and the stages at which one hash repeats another."""

    lags: tuple[LagKind, ...]
    stages: tuple[RepeatedHash, ...]


def analyse_hashing(fabric: Fabric, *, cabled: Tables | None = None) -> HashingReport:
    """Every LAG of ``fabric``, equal ones folded, and every pair of consecutive stages of one policy."""
    return HashingReport(tuple(_group_lags(fabric, cabled or make_tables(fabric))), tuple(_find_repeated(fabric)))


def _name_kind(fabric: Fabric, device: str) -> str:
    switch = fabric.switches.get(SwitchId(device))
    return "node" if switch is None else switch.role.value


def _group_lags(fabric: Fabric, cabled: Tables) -> Iterator[LagKind]:
    below = _Below(fabric, cabled)
    ends: dict[str, tuple[str, int]] = {}
    kinds: dict[tuple[int, float, HashPolicy, str, int, str], list[LinkId]] = {}
    for link in fabric.links.values():
        if link.is_lag:
            for device in (link.a, link.b):
                if device not in ends:
                    ends[device] = (_name_kind(fabric, device), below.nodes(device))
            key = (link.count, link.speed, link.hash, *ends[link.a], ends[link.b][0])
            kinds.setdefault(key, []).append(link.id)
    for (members, speed, policy, lower, nodes, upper), links in kinds.items():
        need = count_flows(0.95, members)
        use = count_busy(nodes, members) / members
        imbalance = compute_member_load(nodes, members).imbalance if nodes else 1.0
        yield LagKind(members, speed, policy, lower, upper, nodes, tuple(links), need, use, imbalance)


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
            self._counted[classes] = sum(self._weights[number] for number in _list_bits(classes))
        return self._counted[classes]


def _list_bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _list_ways_up(fabric: Fabric) -> dict[str, list[Link]]:
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
        return seen * count_reachable(self.choices, members)


def _list_choices(fabric: Fabric, links: Sequence[Link], device: str) -> Iterator[_Choice]:
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


def _find_repeated(fabric: Fabric) -> Iterator[RepeatedHash]:
    """Only between switches: the hash of a node's bond is another program than that of a switch."""
    ways = _list_ways_up(fabric)
    seconds = {switch: _group_alike(links) for switch, links in ways.items()}
    kinds: dict[tuple[str, int, str, int, HashPolicy, int, bool], dict[str, None]] = {}
    seen: set[tuple[object, ...]] = set()
    for lower, links in ways.items():
        same = (fabric.tier(lower), *((link.other(lower), link.count, link.hash) for link in links))
        if same in seen:
            continue
        seen.add(same)
        for first in _list_choices(fabric, links, lower):
            upper, policy = first.link.other(lower), first.link.hash
            for second, members in seconds.get(upper, ()):
                left = first.reaches(members)
                if second is policy is not HashPolicy.STEERED and left < members:
                    ends = (_name_kind(fabric, lower), first.choices, _name_kind(fabric, upper), members)
                    kinds.setdefault((*ends, policy, left, first.apart), {})[upper] = None
    for stage, uppers in kinds.items():
        found = (link for upper in uppers for link in seconds[upper][stage[4], stage[3]])
        yield RepeatedHash(*stage, len(uppers), tuple(found))


def _group_alike(links: Sequence[Link]) -> Mapping[tuple[HashPolicy, int], list[LinkId]]:
    found: dict[tuple[HashPolicy, int], list[LinkId]] = {}
    for link in links:
        found.setdefault((link.hash, link.count), []).append(link.id)
    return found


def list_findings(report: HashingReport) -> list[StaticFinding]:
    """Few flows for the members, hashes that see too little, repeated hashes, and LAGs that tests steer."""
    found = [finding for kind in report.lags for finding in _describe_lag(kind)]
    return found + [_describe_stages(stages) for stages in report.stages]


def _name_links(links: Sequence[LinkId]) -> str:
    return links[0] if len(links) == 1 else f"{links[0]} and {len(links) - 1} more"


def _describe_lag(kind: LagKind) -> Iterator[StaticFinding]:
    where = _name_links(kind.links)
    what = f"{kind.lower} to {kind.upper}, {kind.members} x {network_rate(kind.speed)}"
    if kind.policy is HashPolicy.STEERED:
        yield StaticFinding(
            Severity.NOTE, "lag-steered", where, f"{what}: tests choose source ports that use every member"
        )
        return
    if not kind.nodes or (kind.nodes >= kind.flows_95 and kind.imbalance < _UNEVEN):
        return
    text = f"{what}, {_describe_policy(kind.policy)}: {_describe_few(kind)}"
    # Of a node's own bond only the single flow is sure to be slow: its partners may be many.
    severity = Severity.NOTE if kind.nodes == 1 else Severity.WARNING
    if kind.policy is HashPolicy.L3L4:
        yield StaticFinding(Severity.NOTE, "lag-few-flows", where, f"{text}; parallel streams help")
    elif kind.policy is HashPolicy.UNKNOWN:
        yield StaticFinding(severity, "lag-hash-unknown", where, text)
    else:
        text += "; parallel streams of two nodes share a member, so only more pairs of nodes help"
        yield StaticFinding(severity, "lag-hash-addresses", where, text)


def _describe_policy(policy: HashPolicy) -> str:
    return {
        HashPolicy.UNKNOWN: "hash unknown",
        HashPolicy.L2: "hash of MAC addresses",
        HashPolicy.L3: "hash of IP addresses",
        HashPolicy.L3L4: "hash of addresses and ports",
    }[policy]


def _describe_few(kind: LagKind) -> str:
    if kind.nodes == 1:
        return (
            f"one flow of the node behind it uses 1 of {kind.members}; 95 % of the members need {kind.flows_95} flows"
        )
    each = compute_member_load(kind.nodes, kind.members)
    return (
        f"one flow from each of {kind.nodes} nodes behind it uses {digits3(each.busy)} of {kind.members} on average"
        f" ({percent(kind.use)}), the fullest has {digits3(each.fullest)} flows, {digits3(kind.imbalance)} times the"
        f" mean; 95 % of the members need {kind.flows_95} flows"
    )


def _describe_stages(stages: RepeatedHash) -> StaticFinding:
    hashes = "an unknown hash" if stages.policy is HashPolicy.UNKNOWN else f"the same {stages.policy} hash"
    text = f"{stages.lower} takes 1 of {stages.choices}, then {stages.upper} 1 of {stages.members} by {hashes}: "
    if stages.apart:
        text += f"unless the seeds differ, each of {stages.switches} uses {stages.reachable} of its"
        text += f" {stages.members} members"
        severity = Severity.NOTE if stages.policy is HashPolicy.UNKNOWN else Severity.WARNING
        return StaticFinding(severity, "hash-polarisation", _name_links(stages.links), text)
    text += f"unless the seeds differ, flows that share a member at first reach {stages.reachable} of {stages.members}"
    return StaticFinding(Severity.NOTE, "hash-repeated", _name_links(stages.links), text)
