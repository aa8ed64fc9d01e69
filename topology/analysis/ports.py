"""Ports that each switch needs for its cables, against the ports that it is declared to have.

A cable takes a port of its own speed; else a part of a port that can be split (*breakout*), so that ceil(cables
/ breakout) ports go to cables of one speed; else a faster port whole; else a port without a declared speed.
Fastest cables first; where these then lack ports, the fewest ports that hold all cables are looked for before a switch
is said to have too few. Ports that the file names at a link are taken as named. Without declared ports every cable
counts as a port of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.arrays import Indices
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Switch, SwitchId
from benchconsole.topology.model.port_set import find_split
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.units import network_rate


@dataclass(frozen=True, slots=True)
class Need:
    """``cables`` of one ``speed`` (byte/s), which take ``ports``."""

    speed: float
    cables: int
    ports: int


@dataclass(frozen=True, slots=True)
class SwitchPorts:
    """One switch: its needs, fastest first; ``declared`` is None where the file declares no ports.

    ``unfit`` is the cables for which no declared port is fast enough, ``free`` what the free
    ports can carry of node links, byte/s (None where no node is attached or nothing declared).
    """

    switch: SwitchId
    needs: tuple[Need, ...]
    declared: int | None
    unfit: int = 0
    free: float | None = None

    @property
    def needed(self) -> int:
        """Ports for all cables."""
        return sum(need.ports for need in self.needs)


@dataclass(slots=True)
class _Filling:
    """A set of ports while cables are put into it; ``split`` is the parts that are left of split ports, by speed."""

    total: int
    speed: float | None
    breakout: int
    used: int = 0
    split: dict[float, int] = field(default_factory=dict)

    def parts(self, speed: float) -> int:
        """Into how many cables of ``speed`` one port goes; 0 where it is too slow."""
        if self.speed is None or self.speed == speed:
            return 1
        if self.breakout > 1 and speed * self.breakout <= self.speed:
            return self.breakout
        return int(speed < self.speed)

    def rank(self, speed: float) -> int:
        """Which sets are filled first: those of the very speed, those to split, faster ones, unknown ones."""
        if self.speed is None:
            return 3
        return 0 if self.speed == speed else 1 if self.parts(speed) > 1 else 2

    def take(self, speed: float, cables: int, *, beyond: bool) -> tuple[int, int]:
        """Put in as many of ``cables`` as fit (all of them with ``beyond``); how many, and the ports that they take."""
        parts = self.parts(speed)
        left = self.split.get(speed, 0)
        room = cables if beyond else max(self.total - self.used, 0) * parts + left
        taken = min(cables, room)
        ports = -(-max(taken - left, 0) // parts)
        self.used += ports
        self.split[speed] = left + ports * parts - taken
        return taken, ports

    def room(self, speed: float) -> int:
        """Node links of ``speed`` for its free ports; a faster port that cannot be split is not for nodes."""
        if self.rank(speed) == 2 or self.used > self.total:
            return 0
        return (self.total - self.used) * self.parts(speed) + self.split.get(speed, 0)


def analyse_ports(cabled: Tables) -> tuple[SwitchPorts, ...]:
    """The ports of every switch, in file order."""
    fabric, cables = cabled.fabric, _count_cables(cabled)
    # Per device the speed of the fastest node link of a switch.
    fastest = np.zeros(len(cabled.names))
    np.maximum.at(fastest, cabled.node_groups.switch, cabled.speed[cabled.node_groups.link])
    known: dict[_Cables, tuple[Need, ...]] = {}
    named = _list_named_ports(fabric)
    found = []
    for number, switch in enumerate(fabric.switches.values(), start=cabled.nodes):
        mine, at = cables.get(number, ()), named.get(switch.id, ())
        if not switch.ports:
            # Switches that are cabled alike share one tuple of needs.
            if mine not in known:
                known[mine] = tuple(Need(speed, count, count) for speed, count in mine)
            found.append(SwitchPorts(switch.id, known[mine], None))
        else:
            found.append(_fill_declared(switch, (mine, at), float(fastest[number])))
    return tuple(found)


_Cables = tuple[tuple[float, int], ...]


def _count_cables(cabled: Tables) -> Mapping[int, _Cables]:
    """Per switch its cables by speed, fastest first."""
    ends = np.concatenate((cabled.low, cabled.high))
    kind = np.concatenate((cabled.kind, cabled.kind))
    inner = ends >= cabled.nodes
    size = len(cabled.kinds)
    pairs, count = _count_keys((ends[inner] - cabled.nodes) * size + kind[inner])
    found: dict[int, dict[float, int]] = {}
    for key, links in zip(pairs.tolist(), count.tolist(), strict=True):
        each = cabled.kinds[key % size]
        mine = found.setdefault(cabled.nodes + key // size, {})
        for speed in each.mixed or (each.speed,):
            mine[speed] = mine.get(speed, 0) + links * (1 if each.mixed else each.members)
    return {device: tuple(sorted(mine.items(), reverse=True)) for device, mine in found.items()}


def _count_keys(keys: Indices) -> tuple[Indices, Indices]:
    """The distinct keys and how often each is there; counting is faster than sorting where they are dense."""
    if len(keys) and int(keys.max()) < 4 * len(keys):
        count = np.bincount(keys)
        found = np.flatnonzero(count)
        return found, count[found]
    return np.unique(keys, return_counts=True)


def _list_named_ports(fabric: Fabric) -> Mapping[str, Sequence[tuple[str, float]]]:
    """Per switch with declared ports: the ports that links name, each with the speed of its cable."""
    if not any(switch.ports for switch in fabric.switches.values()):
        return {}
    return group_by_key(
        (device, port)
        for link in fabric.links.values()
        if link.ports_a or link.ports_b
        for device, names in ((link.a, link.ports_a), (link.b, link.ports_b))
        if names
        for port in zip(names, link.members, strict=True)
    )


def _fill_declared(
    switch: Switch, links: tuple[_Cables, Sequence[tuple[str, float]]], node_speed: float
) -> SwitchPorts:
    """Put the cables of one switch into its declared ports."""
    sets = switch.ports
    cables, named = links
    filling = [_Filling(len(each.names), each.speed, each.breakout) for each in sets]
    place = {name: each for each, declared in zip(filling, sets, strict=True) for name in declared.names}
    left = dict(cables)
    taken: dict[float, int] = {}
    unfit = 0
    opened: dict[str, float] = {}
    for name, speed in dict(named).items():
        split = find_split(switch.ports, name)
        each = place.get(split or name)
        if each is None:
            continue
        left[speed] -= 1
        if split in opened:  # one more part of a port that is counted
            each.split[opened[split]] -= 1
        else:
            each.used += 1
            taken[speed] = taken.get(speed, 0) + 1
        if split is not None and split not in opened:
            opened[split] = speed
            each.split[speed] = each.split.get(speed, 0) + each.breakout - 1
        unfit += not each.parts(speed if split is None else speed * each.breakout)
    for speed, count in left.items():
        fitting = sorted((each for each in filling if each.parts(speed)), key=lambda each: each.rank(speed))
        taken[speed] = taken.get(speed, 0) + (_place(fitting, speed, count) if fitting else count)
        unfit += 0 if fitting else count
    needs = tuple(Need(speed, count, taken[speed]) for speed, count in cables)
    if sum(taken.values()) > sum(each.total for each in filling):
        needs = _match_ports(switch, (cables, named), place) or needs
    free = sum(each.room(node_speed) for each in filling) * node_speed if node_speed else None
    return SwitchPorts(switch.id, needs, sum(each.total for each in filling), unfit, free)


def _match_ports(
    switch: Switch, links: tuple[_Cables, Sequence[tuple[str, float]]], place: Mapping[str, _Filling]
) -> tuple[Need, ...]:
    """The fewest ports that hold all cables, by integer programming (HiGHS); none where the sets cannot hold them.

    Filling by rank is right but where one speed takes ports that another needs more; then the numbers of ports of each
    set for each speed are unknowns, and their sum is least.
    """
    from scipy.optimize import LinearConstraint, milp

    cables, named = links
    sets = switch.ports
    at = {name: number for number, each in enumerate(sets) for name in each.names}
    room = [len(each.names) for each in sets]
    left, kept, free = dict(cables), dict.fromkeys((speed for speed, _ in cables), 0), dict[float, int]()
    opened: dict[str, float] = {}
    for name, speed in dict(named).items():
        split = find_split(switch.ports, name)
        port = split or name
        if port not in place:
            continue
        left[speed] -= 1
        if split in opened:
            free[opened[split]] -= 1
            continue
        room[at[port]] -= 1
        kept[speed] += 1
        if split is not None:
            opened[split] = speed
            free[speed] = free.get(speed, 0) + sets[at[port]].breakout - 1
    left = {speed: max(count - free.get(speed, 0), 0) for speed, count in left.items()}
    speeds = [speed for speed, _ in cables]
    parts = np.array([[_Filling(0, each.speed, each.breakout).parts(speed) for each in sets] for speed in speeds])
    within, holds = np.zeros((len(sets), parts.size)), np.zeros((len(speeds), parts.size))
    for number in range(len(speeds)):
        columns = slice(number * len(sets), (number + 1) * len(sets))
        within[:, columns] = np.eye(len(sets))
        holds[number, columns] = parts[number]
    found = milp(
        np.ones(parts.size),
        constraints=[LinearConstraint(within, ub=room), LinearConstraint(holds, lb=[left[speed] for speed in speeds])],
        integrality=np.ones(parts.size),
    )
    if not found.success:
        return ()
    ports = np.rint(found.x).reshape(parts.shape).sum(axis=1)
    return tuple(
        Need(speed, count, kept[speed] + int(used)) for (speed, count), used in zip(cables, ports, strict=True)
    )


def _place(fitting: Sequence[_Filling], speed: float, cables: int) -> int:
    """The ports that ``cables`` take; what no set has room for is counted in the first, beyond its end."""
    total = 0
    for each in fitting:
        taken, ports_taken = each.take(speed, cables, beyond=False)
        cables, total = cables - taken, total + ports_taken
    return total + fitting[0].take(speed, cables, beyond=True)[1]


def list_findings(switches: Iterable[SwitchPorts]) -> Iterator[StaticFinding]:
    """Switches that have too few ports or none fast enough; switches with the same numbers in one sentence."""
    alike = group_by_key(
        ((each.needs, each.declared, each.unfit), each)
        for each in switches
        if each.declared is not None and (each.needed > each.declared or each.unfit)
    )
    for members in alike.values():
        one, where = members[0], fold_names([each.switch for each in members])
        if one.needed > (one.declared or 0):
            parts = ", ".join(f"{need.ports} for {need.cables} x {network_rate(need.speed)}" for need in one.needs)
            verb = "needs" if len(members) == 1 else "each need"
            text = f"{where} {verb} {one.needed} ports ({parts}), {one.declared} are declared"
            yield StaticFinding(Severity.ERROR, "too-few-ports", where, text)
        if one.unfit:
            text = f"{where}: no declared port is fast enough for {one.unfit} of the cables"
            yield StaticFinding(Severity.ERROR, "port-too-slow", where, text)
