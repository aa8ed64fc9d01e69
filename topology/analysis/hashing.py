"""LAGs that need more flows than they get, and places where one hash repeats another.

A flow is put on one member by a hash of its addresses; for flows that nobody chose, that is a uniform draw: balls
in bins (Kolchin, Sevastyanov and Chistyakov, Random Allocations). How many flows there will be is not known: one
from each node behind the lower end is what is counted. Up to ``EXACT_FLOWS`` flows every outcome is counted, above
they are drawn.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, HashPolicy, Link, LinkId, SwitchId
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.units import digits3, network_rate, percent

_UNEVEN = 1.5
"""From here on the slowest flows get so much less than their share that it is said."""
EXACT_FLOWS = 120
"""With more flows counting would take longer than a quarter of a second."""
_DRAWS = 20_000
_SEED = 20_111


@dataclass(frozen=True, slots=True)
class MemberLoad:
    """How ``flows`` fall on ``members``. ``at_most[k]`` is the probability that no member has more than k."""

    flows: int
    members: int
    at_most: tuple[float, ...]

    @property
    def fullest(self) -> float:
        """Expected number of flows on the fullest member."""
        return math.fsum(1.0 - each for each in self.at_most)

    @property
    def imbalance(self) -> float:
        """Flows on the fullest member over flows per member: how much slower the slowest flow is than the mean."""
        return self.fullest * self.members / self.flows

    @property
    def busy(self) -> float:
        """Expected number of members with at least one flow."""
        return count_busy(self.flows, self.members)


def count_busy(flows: int, members: int) -> float:
    """Expected number of members with at least one of ``flows``: M (1 - (1 - 1/M)^N)."""
    return members * (1.0 - (1.0 - 1.0 / members) ** flows)


def count_flows(share: float, members: int) -> int:
    """The least number of flows that are expected to use ``share`` (below 1) of the members."""
    if members == 1:
        return 1
    return max(1, math.ceil(math.log(1.0 - share) / math.log(1.0 - 1.0 / members) - 1e-9))


@lru_cache(maxsize=64)
def compute_member_load(flows: int, members: int) -> MemberLoad:
    """The distribution of the fullest of ``members`` under ``flows`` (at least one of each) uniform flows.

    P(max <= k) = N!/M^N [z^N] (sum of z^j/j! for j <= k)^M. ValueError without flows or members.
    """
    if flows < 1 or members < 1:
        raise ValueError(f"{flows} flows over {members} members, expected at least one of each")
    if flows <= EXACT_FLOWS:
        return MemberLoad(flows, members, tuple(_count_at_most(flows, members)))
    draw = np.random.default_rng(_SEED).multinomial(flows, [1.0 / members] * members, size=_DRAWS)
    seen = np.bincount(draw.max(axis=1), minlength=flows + 1).cumsum() / _DRAWS
    return MemberLoad(flows, members, tuple(float(each) for each in seen))


def _count_at_most(flows: int, members: int) -> Iterator[float]:
    """P(max <= k) for each k: 0 below the mean load, then counted until what is left is below any float."""
    total, left = members**flows, members**flows
    for most in range(flows + 1):
        if most * members >= flows and left > total >> 60:
            left = total - _count_outcomes(flows, members, most)
        yield (total - left) / total if left > total >> 60 else 1.0


def _count_outcomes(flows: int, members: int, most: int) -> int:
    """In how many of the M^N ways no member gets more than ``most``: whole numbers, so nothing is rounded."""
    power = [1 if load <= most else 0 for load in range(flows + 1)]
    found = [1] + [0] * flows
    while members:
        if members & 1:
            found = _multiply(found, power)
        members >>= 1
        if members:
            power = _multiply(power, power)
    return found[flows]


def _multiply(some: Sequence[int], others: Sequence[int]) -> list[int]:
    """Ways to share flows 0..N between two sets of members: a product of exponential generating functions."""
    return [
        sum(math.comb(total, part) * some[part] * others[total - part] for part in range(total + 1) if some[part])
        for total in range(len(some))
    ]


@dataclass(frozen=True, slots=True)
class LagKind:
    """LAGs that are alike. ``nodes`` is how many nodes are behind the lower end: with one flow each, so many flows.

    ``use`` is the expected share of members that these keep busy, ``imbalance`` how many times the
    mean load the fullest has; ``flows_95`` are the flows needed for 95 % of the members.
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


def analyse_hashing(cabled: Tables) -> tuple[LagKind, ...]:
    """Every LAG, equal ones folded."""
    fabric, count_nodes = cabled.fabric, cache(_Below(cabled).nodes)
    kind = cache(partial(_name_kind, fabric))
    kinds = group_by_key(
        ((link.count, link.speed, link.hash, kind(link.a), kind(link.b), count_nodes(link.a)), link.id)
        for link in fabric.links.values()
        if link.is_lag
    )
    return tuple(
        LagKind(
            members=members,
            speed=speed,
            policy=policy,
            lower=lower,
            upper=upper,
            nodes=nodes,
            links=tuple(links),
            flows_95=count_flows(0.95, members),
            use=count_busy(nodes, members) / members,
            imbalance=compute_member_load(nodes, members).imbalance if nodes else 1.0,
        )
        for (members, speed, policy, lower, upper, nodes), links in kinds.items()
    )


def _name_kind(fabric: Fabric, device: str) -> str:
    switch = fabric.switches.get(SwitchId(device))
    return "node" if switch is None else switch.role.value


class _Below:
    """How many nodes are at or under a device; a host counts as its virtual machines.

    Nodes cabled alike are one class, one bit of the set of a switch: what is reached over several ways counts once.
    """

    def __init__(self, cabled: Tables) -> None:
        groups, trunks, names = cabled.node_groups, cabled.trunks, cabled.names
        each = groups.nodes // np.maximum(groups.size, 1)
        each = np.where(each > 1, each - 1, 1)
        self._weights: list[int] = (each * groups.size).tolist()
        self._own: dict[str, int] = dict(zip(names, each[groups.group].tolist(), strict=False)) if len(groups) else {}
        self._under: dict[str, int] = dict.fromkeys(cabled.fabric.switches, 0)
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


@dataclass(frozen=True, slots=True)
class _Choice:
    """An upward link; ``values`` of the ``choices`` of a hash lead over it, others to other switches if ``apart``."""

    link: Link
    choices: int
    values: range
    apart: bool

    def reaches(self, members: int) -> int:
        """How many of ``members`` of a next LAG a flow can be on that came this way, under the same hash.

        Both take hash modulo members, so the second sees only hashes of one remainder. On a single LAG: that came
        over one and the same member.
        """
        seen = min(len(self.values), math.gcd(self.choices, members)) if self.apart else 1
        return seen * (members // math.gcd(self.choices, members))


def _list_choices(fabric: Fabric, links: Sequence[Link], device: str) -> Iterator[_Choice]:
    """Several next hops are one value each; to a single one, or to a pair that is one, each member is a value."""
    uppers = ((link, link.other(device)) for link in links)
    mlag_of = fabric.mlag_of
    hops = group_by_key((mlag_of[upper].name if upper in mlag_of else upper, link) for link, upper in uppers)
    for number, parallel in enumerate(hops.values()):
        cables, before = sum(link.count for link in parallel), 0
        for link in parallel:
            if len(hops) > 1:
                yield _Choice(link, len(hops), range(number, number + 1), apart=True)
            else:
                yield _Choice(link, cables, range(before, before + link.count), apart=len(parallel) > 1)
            before += link.count


def find_repeated_hashes(fabric: Fabric) -> Iterator[StaticFinding]:
    """Pairs of stages on the way up that hash alike, where the second so uses fewer of its members.

    Only between switches: the hash of a node's bond is another program than that of a switch.
    """
    # The links in use that lead up from each switch; the first end of a link is the lower.
    tiers: dict[str, int] = {switch.id: switch.role.tier for switch in fabric.switches.values()}
    ways: dict[str, list[Link]] = {switch: [] for switch in tiers}
    for link in fabric.links.values():
        if link.a in tiers and not link.standby and tiers[link.a] < tiers.get(link.b, 0):
            ways[link.a].append(link)

    @cache
    def group_links(switch: str) -> dict[tuple[HashPolicy, int], list[LinkId]]:
        return group_by_key(((link.hash, link.count), link.id) for link in ways.get(switch, ()))

    kinds: dict[tuple[str, int, str, int, HashPolicy, int, bool], dict[str, None]] = {}
    seen: set[tuple[object, ...]] = set()
    for lower, links in ways.items():
        same = (fabric.tier(lower), *((link.other(lower), link.count, link.hash) for link in links))
        if same in seen:
            continue
        seen.add(same)
        for first in _list_choices(fabric, links, lower):
            upper, policy = first.link.other(lower), first.link.hash
            for second, members in group_links(upper):
                left = first.reaches(members)
                if second is policy is not HashPolicy.STEERED and left < members:
                    ends = (_name_kind(fabric, lower), first.choices, _name_kind(fabric, upper), members)
                    kinds.setdefault((*ends, policy, left, first.apart), {})[upper] = None
    for (lower, choices, upper, members, policy, left, apart), uppers in kinds.items():
        where = _name_links([link for each in uppers for link in group_links(each)[policy, members]])
        unknown = policy is HashPolicy.UNKNOWN
        hashes = "an unknown hash" if unknown else f"the same {policy} hash"
        text = f"{lower} takes 1 of {choices}, then {upper} 1 of {members} by {hashes}: unless the seeds differ, "
        if apart:
            text += f"each of {len(uppers)} uses {left} of its {members} members"
            yield StaticFinding(Severity.NOTE if unknown else Severity.WARNING, "hash-polarisation", where, text)
        else:
            text += f"flows that share a member at first reach {left} of {members}"
            yield StaticFinding(Severity.NOTE, "hash-repeated", where, text)


def list_findings(lags: Sequence[LagKind]) -> Iterator[StaticFinding]:
    """Few flows for the members, hashes that see too little, and LAGs that tests steer."""
    for kind in lags:
        where = _name_links(kind.links)
        title = f"{kind.lower} to {kind.upper}, {kind.members} x {network_rate(kind.speed)}"
        if kind.policy is HashPolicy.STEERED:
            text = f"{title}: tests choose source ports that use every member"
            yield StaticFinding(Severity.NOTE, "lag-steered", where, text)
        elif kind.nodes and (kind.nodes < kind.flows_95 or kind.imbalance >= _UNEVEN):
            # Of a node's own bond only the single flow is sure to be slow: its partners may be many.
            severity = Severity.NOTE if kind.nodes == 1 or kind.policy is HashPolicy.L3L4 else Severity.WARNING
            code, hashed, help_ = _POLICIES[kind.policy]
            yield StaticFinding(severity, code, where, f"{title}, {hashed}: {_describe_few(kind)}{help_}")


_PAIRS_HELP = "; parallel streams of two nodes share a member, so only more pairs of nodes help"
_POLICIES = {
    HashPolicy.UNKNOWN: ("lag-hash-unknown", "hash unknown", ""),
    HashPolicy.L2: ("lag-hash-addresses", "hash of MAC addresses", _PAIRS_HELP),
    HashPolicy.L3: ("lag-hash-addresses", "hash of IP addresses", _PAIRS_HELP),
    HashPolicy.L3L4: ("lag-few-flows", "hash of addresses and ports", "; parallel streams help"),
}
"""The code of the finding, how the hash is called, and what helps."""


def _name_links(links: Sequence[LinkId]) -> str:
    return links[0] if len(links) == 1 else f"{links[0]} and {len(links) - 1} more"


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
