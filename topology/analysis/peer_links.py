"""Whether the peer link of an MLAG pair could carry the traffic of a failure.

The case: all nodes of a role that are cabled to the pair lose their leg on one of its switches. Traffic to them
still arrives at both, and its part at the wrong one crosses the peer link. A neighbour divides its traffic over the
two by its cables; several neighbours count by their capacity. Traffic from the nodes never loads the peer link more: it
leaves the switch that it reached by that switch's own cables wherever there are any. Model ``fluid``, on the wire; all
nodes receive at once, each as much as its remaining leg takes, shares are max-min fair.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.arrays import Indices
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.units import network_rate

ALL = "all"
"""In place of a role: every node that is cabled to the pair."""


@dataclass(frozen=True, slots=True)
class PeerCheck:
    """Pairs that are alike, asked for the nodes of one ``role`` (``all``: every node on the pair).

    ``nodes`` of each pair lose their leg on ``lost``, a switch of the first pair; ``cut`` more had
    no other. ``offered`` byte/s would cross the peer link of ``capacity`` (None: no peer link is
    described), and the node that gets least receives ``share`` of the ``leg`` that it has left.
    """

    pairs: tuple[str, ...]
    role: str
    lost: str
    nodes: int
    cut: int
    offered: float
    capacity: float | None
    leg: float
    share: float

    @property
    def load(self) -> float | None:
        """Offered over capacity; None where no peer link is described and one would be needed."""
        if not self.offered:
            return 0.0
        return self.offered / self.capacity if self.capacity else None

    @property
    def enough(self) -> bool | None:
        """Whether the backup path has the capacity; None where the file does not say."""
        return None if self.load is None else self.load <= 1 + 1e-9


@dataclass(slots=True)
class _Pair:
    """One pair as numbers: what is compared to find pairs that are alike.

    ``around`` holds each neighbouring switch as cables and byte/s to the two switches, ``legs`` counts nodes by role
    and byte/s of their legs on the two.
    """

    around: list[tuple[float, ...]] = field(default_factory=list)
    legs: Counter[tuple[str, tuple[float, float]]] = field(default_factory=Counter)
    peer: float | None = None

    def key(self) -> tuple[object, ...]:
        """Equal for pairs that are alike."""
        return (tuple(sorted(self.around)), tuple(sorted(self.legs.items())), self.peer)


def check_peer_links(cabled: Tables) -> tuple[PeerCheck, ...]:
    """Each kind of MLAG pair with nodes, each role on it, then all roles together where there are several."""
    pairs = _list_pairs(cabled)
    mlags = cabled.fabric.mlags
    alike = group_by_key((pair.key(), number) for number, pair in enumerate(pairs) if pair.legs)
    found: list[PeerCheck] = []
    for members in alike.values():
        names = tuple(mlags[number].name for number in members)
        pair, switches = pairs[members[0]], mlags[members[0]].switches
        roles = sorted({role for role, _ in pair.legs})
        for role in roles if len(roles) == 1 else (*roles, ALL):
            cases = (_check_case(pair, role, lost, (names, switches[lost])) for lost in (1, 0))
            worst = max(cases, key=lambda case: (case.offered, case.nodes))
            # Where no node of a role has a leg on both, none can lose one and go on over the other.
            found += [worst] if worst.nodes else []
    return tuple(found)


def _list_pairs(cabled: Tables) -> list[_Pair]:
    """The pairs of the fabric in file order."""
    mlags = cabled.fabric.mlags
    found = [_Pair() for _ in mlags]
    if not mlags:
        return found
    switches = np.array([[cabled.index[switch] for switch in mlag.switches] for mlag in mlags], np.intp)
    pair, side = np.full(len(cabled.names), -1), np.zeros(len(cabled.names), np.intp)
    pair[switches] = np.arange(len(mlags))[:, None]
    side[switches] = [0, 1]
    trunks = cabled.trunks
    around: dict[tuple[int, int], list[float]] = {}
    for one, other in ((trunks.low, trunks.high), (trunks.high, trunks.low)):
        touching = np.flatnonzero((pair[one] >= 0) & (trunks.capacity > 0))
        columns = (pair[one], side[one], other, pair[other], trunks.cables, trunks.capacity)
        for mine, place, neighbour, theirs, cables, capacity in zip(
            *(column[touching].tolist() for column in columns), strict=True
        ):
            if mine == theirs:
                found[mine].peer = capacity
                continue
            numbers = around.setdefault((mine, neighbour), [0.0] * 4)
            numbers[place] += cables
            numbers[2 + place] += capacity
    for (mine, _), numbers in around.items():
        found[mine].around.append(tuple(numbers))
    _add_legs(cabled, found, pair, side)
    return found


def _add_legs(cabled: Tables, found: Sequence[_Pair], pair: Indices, side: Indices) -> None:
    """Enter the nodes of each node group into the pairs that it is cabled to, standby legs in full."""
    groups = cabled.node_groups
    full = cabled.capacity[groups.link]
    legs: dict[tuple[int, int], list[float]] = {}
    mine = np.flatnonzero(pair[groups.switch] >= 0)
    columns = (groups.owner[mine], pair[groups.switch[mine]], side[groups.switch[mine]], full[mine])
    for group, number, place, capacity in zip(*(column.tolist() for column in columns), strict=True):
        legs.setdefault((group, number), [0.0, 0.0])[place] += capacity
    nodes = (node.role.value for node in cabled.fabric.nodes.values())
    roles: dict[int, Counter[str]] = {group: Counter() for group, _ in legs}
    for (group, role), count in Counter(zip(groups.group.tolist(), nodes, strict=True)).items():
        if group in roles:
            roles[group][role] = count
    for (group, number), (first, second) in legs.items():
        for role, count in roles[group].items():
            found[number].legs[role, (first, second)] += count


def _check_case(pair: _Pair, role: str, lost: int, named: tuple[tuple[str, ...], str]) -> PeerCheck:
    """All nodes of ``role`` have lost their leg on the switch ``lost`` (0 or 1) of the pair."""
    chosen = [(legs, nodes) for (each, legs), nodes in pair.legs.items() if role in (each, ALL)]
    demand = [(legs[1 - lost], nodes) for legs, nodes in chosen if legs[1 - lost]]
    part, outer = _find_arriving(pair, role, lost)
    total = sum(leg * nodes for leg, nodes in demand)
    offered = part * min(total, outer)
    leg, share = _find_least(demand, min(outer, pair.peer / part) if part and pair.peer else outer)
    names, switch = named
    return PeerCheck(
        pairs=names,
        role=role,
        lost=switch,
        nodes=sum(nodes for legs, nodes in chosen if all(legs)),
        cut=sum(nodes for legs, nodes in chosen if not legs[1 - lost]),
        offered=offered,
        capacity=pair.peer,
        leg=leg,
        share=share,
    )


def _find_least(demand: list[tuple[float, int]], limit: float) -> tuple[float, float]:
    """Leg and share of a node with the widest leg: it gets the smallest part when all share ``limit`` max-min."""
    left, nodes = limit, sum(number for _, number in demand)
    level = 0.0
    for leg, number in sorted(demand):
        level = min(leg, left / nodes)
        left -= level * number
        nodes -= number
    return max(demand, default=(0.0, 0))[0], level


def _find_arriving(pair: _Pair, role: str, lost: int) -> tuple[float, float]:
    """The part of all traffic that arrives at the switch ``lost``, and the most byte/s that can arrive at the pair."""
    around = pair.around or [
        (first, second, nodes * first, nodes * second)
        for (each, (first, second)), nodes in pair.legs.items()
        if role not in (each, ALL)
    ]
    weight = sum(first + second for _, _, first, second in around)
    if not weight:
        return 0.0, float("inf")
    part = sum((near[2] + near[3]) * near[lost] / (near[0] + near[1]) for near in around) / weight
    entry = [sum(near[2 + place] for near in around) for place in (0, 1)]
    limits = [capacity / share for capacity, share in ((entry[lost], part), (entry[1 - lost], 1 - part)) if share > 0]
    return part, min(limits)


def list_findings(checks: Iterable[PeerCheck]) -> Iterator[StaticFinding]:
    """Pairs whose peer link is too small or not described."""
    for check in checks:
        where = fold_names(check.pairs)
        who = "nodes" if check.role == ALL else f"{check.role} nodes"
        if check.load is None:
            text = (
                f"{where}: no peer link is described; what comes for {who} without a leg on {check.lost} has no way on"
            )
            yield StaticFinding(Severity.NOTE, "no-peer-link", where, text)
            continue
        text = (
            f"{where}: with the legs of all {check.nodes} {who} on {check.lost} lost, {network_rate(check.offered)}"
            f" cross the peer link of {network_rate(check.capacity or 0.0)}"
        )
        if not check.enough:
            text += f": each gets {network_rate(check.share)} of {network_rate(check.leg)}"
            yield StaticFinding(Severity.WARNING, "peer-link-too-small", where, text)
