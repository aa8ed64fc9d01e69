"""Links that contradict the rest of a description: NICs of classes, bonds, MLAG pairs, LAGs, speeds unlike all others.

A speed is unlike the others where the links of its network between the same kinds of devices are a hundred times faster
or slower: a slip of the prefix, as 25 Mb/s among 25 Gb/s. Alone it is implausible below 10 Mb/s and above 1.6 Tb/s a
cable, which no port has (IEEE 802.3; InfiniBand Trade Association, roadmap).
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from benchconsole.topology.analysis.networks import FASTER
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Bond, Fabric, Link, Node
from benchconsole.topology.model.network import NetworkRole
from benchconsole.topology.units import counted, network_rate

_SLOWEST, _FASTEST = 10e6 / 8, 1.6e12 / 8
_UNLIKE = 100
_SAME = 1e-6


def list_findings(fabric: Fabric) -> Iterator[StaticFinding]:
    """Every contradiction, equal ones of many nodes or links in one sentence."""
    yield from _check_nics(fabric)
    yield from _check_speeds(fabric)
    yield from _check_legs(fabric)
    yield from _check_bonds(fabric)
    yield from _check_pairs(fabric)
    yield from _check_lags(fabric)


def _check_nics(fabric: Fabric) -> Iterator[StaticFinding]:
    """The NICs of a class against the cables of its nodes."""
    slower = group_by_key(_list_other_speeds(fabric))
    for (name, speed, cabled), nodes in slower.items():
        where = fold_names(list(dict.fromkeys(nodes)))
        text = f"class {name} declares NICs of {network_rate(speed)}, {where} {_have(nodes)} cables of {cabled}"
        yield StaticFinding(Severity.ERROR, "nic-speed", where, text)
    several = group_by_key(_list_other_counts(fabric))
    for (name, count, cables), nodes in several.items():
        where = fold_names(nodes)
        text = f"class {name} declares {counted(count, 'NIC port')}, {where} {_have(nodes)} {counted(cables, 'cable')}"
        yield StaticFinding(Severity.ERROR, "nic-count", where, text)


def _list_other_speeds(fabric: Fabric) -> Iterator[tuple[tuple[str, float, str], str]]:
    for node in _list_declaring(fabric, "nic.speed"):
        speed = node.hardware.facts.get("nic.speed")
        if not isinstance(speed, float):
            continue
        members = {member for link in _list_legs(fabric, node) for member in link.members}
        # Of several networks a class declares the NICs of one.
        if members and not any(_is_same(speed, member) for member in members):
            cabled = " and ".join(map(network_rate, sorted(members)))
            yield (node.hardware.name, speed, cabled), node.id


def _list_other_counts(fabric: Fabric) -> Iterator[tuple[tuple[str, int, int], str]]:
    for node in _list_declaring(fabric, "nic.count"):
        facts = node.hardware.facts
        count, speed = facts.get("nic.count"), facts.get("nic.speed")
        if not isinstance(count, int | float):
            continue
        legs = _list_legs(fabric, node)
        alike = [link for link in legs if not isinstance(speed, float) or _is_same(speed, link.speed)]
        cables = sum(link.count for link in alike if link.counted)
        if cables > count:
            yield (node.hardware.name, int(count), cables), node.id


def _list_declaring(fabric: Fabric, fact: str) -> Sequence[Node]:
    """The nodes whose classes declare ``fact``."""
    every = fabric.nodes.values()
    classes = dict(zip(map(attrgetter("hardware.name"), every), map(attrgetter("hardware"), every), strict=True))
    names = {name for name, hardware in classes.items() if fact in hardware.facts}
    return [node for node in every if node.hardware.name in names] if names else ()


def _list_legs(fabric: Fabric, node: Node) -> Sequence[Link]:
    return () if node.host is not None else fabric.links_at[node.id]


def _check_speeds(fabric: Fabric) -> Iterator[StaticFinding]:
    """Speeds that no port has, and speeds unlike those of the links between devices of the same kinds."""
    roles: dict[str, str] = {}
    for devices in (fabric.nodes, fabric.switches):
        roles.update(zip(devices, map(attrgetter("role"), devices.values()), strict=True))
    every = fabric.links.values()
    low, high = (map(roles.__getitem__, map(attrgetter(end), every)) for end in ("a", "b"))
    ways = group_by_key(zip(zip(map(attrgetter("network"), every), low, high, strict=True), every, strict=True))
    kinds = group_by_key(((network, frozenset(ends)), links) for (network, *ends), links in ways.items())
    for links in (list(itertools.chain(*both)) for both in kinds.values()):
        speeds = sorted(map(attrgetter("speed"), links))
        usual = speeds[len(links) // 2]
        if usual / _UNLIKE < speeds[0] and speeds[-1] < usual * _UNLIKE:
            continue
        odd = [link for link in links if not usual / _UNLIKE < link.speed < usual * _UNLIKE]
        for speed, some in group_by_key((link.speed, link) for link in odd).items():
            if 2 * len(odd) < len(links):
                text = (
                    f"{_name(some)} {_run(some)} at {network_rate(speed)}, most links of its kind at "
                    f"{network_rate(usual)}: is the prefix right?"
                )
                yield StaticFinding(Severity.ERROR, "speed-unlike-others", some[0].id, text)
    most = _FASTEST * (1 + _SAME)
    told = [link for link in every if not _SLOWEST <= (link.fastest if link.mixed else link.speed) <= most]
    for speed, some in group_by_key((link.speed, link) for link in told).items():
        text = f"{_name(some)} {_run(some)} at {network_rate(speed)} a cable, which no port has: is the prefix right?"
        yield StaticFinding(Severity.WARNING, "speed-implausible", some[0].id, text)


def _check_legs(fabric: Fabric) -> Iterator[StaticFinding]:
    """Legs of one node in one network and in no bond, one much slower than another: a flow is divided over both."""
    found: list[tuple[tuple[str, float, float], str]] = []
    for node in fabric.nodes:
        own = fabric.links_at[node]
        if len(own) < 2:
            continue
        legs = group_by_key((link.network, link.speed) for link in own if link.bond is None and not link.standby)
        for network, speeds in legs.items():
            if max(speeds) >= FASTER * min(speeds) and not _is_management(fabric, network):
                found.append(((network, min(speeds), max(speeds)), node))
    for (network, slow, fast), nodes in group_by_key(found).items():
        where = fold_names(nodes)
        text = (
            f"{where} {_have(nodes)} cables of {network_rate(slow)} and {network_rate(fast)} in the network {network}, "
            "in no bond: flows may be routed over the slower; if that is for management, its links need a network of "
            "their own"
        )
        yield StaticFinding(Severity.WARNING, "legs-unlike", where, text)


def _is_management(fabric: Fabric, network: str) -> bool:
    return network in fabric.networks and fabric.networks[network].role is NetworkRole.MANAGEMENT


def _check_bonds(fabric: Fabric) -> Iterator[StaticFinding]:
    """LACP over switches that are no pair, and bonds of one cable."""
    apart: list[tuple[tuple[str, ...], str]] = []
    single: list[tuple[str, str]] = []
    bonded = {end for link in fabric.links.values() if link.bond for end in (link.a, link.b)}
    for node in (each for each in fabric.nodes.values() if each.id in bonded):
        bonds = group_by_key(((link.bond, link.network), link) for link in _list_legs(fabric, node) if link.bond)
        for (bond, _), links in bonds.items():
            switches = tuple(sorted({link.other(node.id) for link in links}))
            pair = fabric.mlag_of.get(switches[0])
            if sum(link.count for link in links) == 1 and all(link.counted for link in links):
                single.append((str(bond), node.id))
            elif bond is Bond.LACP and len(switches) > 1 and (pair is None or set(switches) != set(pair.switches)):
                apart.append((switches, node.id))
    for switches, nodes in group_by_key(apart).items():
        where, over = fold_names(nodes), fold_names(switches)
        text = (
            f"{where}: bond lacp over {over}, which are no MLAG pair: only the legs to one of them carry traffic; "
            "describe the pair under mlag, or another bond"
        )
        yield StaticFinding(Severity.ERROR, "lacp-without-pair", where, text)
    for kind, nodes in group_by_key(single).items():
        where = fold_names(nodes)
        yield StaticFinding(Severity.WARNING, "bond-of-one", where, f"{where}: bond {kind} of one cable")


def _check_pairs(fabric: Fabric) -> Iterator[StaticFinding]:
    """MLAG pairs of switches that stand in different tiers."""
    for pair in fabric.mlags:
        roles = [fabric.switches[switch].role for switch in pair.switches]
        if roles[0] is not roles[1]:
            one, other = pair.switches
            text = (
                f"{pair.name} pairs {one} (role {roles[0]}) with {other} (role {roles[1]}), "
                "expected switches of one role"
            )
            yield StaticFinding(Severity.ERROR, "pair-of-two-tiers", pair.name, text)


def _check_lags(fabric: Fabric) -> Iterator[StaticFinding]:
    """LAGs with a name and one cable; names that only tell parallel links apart are none."""
    named = [link for link in fabric.links.values() if link.lag]
    parallel = Counter(frozenset((link.a, link.b)) for link in fabric.links.values()) if named else Counter()
    # A LAG to both switches of a pair is two links.
    halves = group_by_key(
        ((end, link.lag, fabric.mlag_of[link.other(end)].name), link.id)
        for link in named
        for end in (link.a, link.b)
        if link.other(end) in fabric.mlag_of
    )
    to_pair = {link for links in halves.values() if len(links) > 1 for link in links}
    single = [
        link
        for link in named
        if link.count == 1 and link.counted and parallel[frozenset((link.a, link.b))] == 1 and link.id not in to_pair
    ]
    for lag, some in group_by_key((link.lag, link) for link in single).items():
        yield StaticFinding(Severity.WARNING, "lag-of-one", some[0].id, f"{_name(some)}: LAG {lag} of one cable")


def _name(links: list[Link]) -> str:
    first = links[0].id
    return first if len(links) == 1 else f"{first} and {len(links) - 1:,} more"


def _run(links: list[Link]) -> str:
    return "runs" if len(links) == 1 else "run"


def _have(nodes: Iterable[str]) -> str:
    return "has" if len(set(nodes)) == 1 else "have"


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= _SAME * max(one, other)
