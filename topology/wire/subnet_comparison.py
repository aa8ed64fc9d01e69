"""Compares the described cabling with an InfiniBand subnet as a dump tells it.

A dump tells every cable of the subnet, those between switches too. Devices are matched by name, cables by their ports
where the file names them, else by number between two devices. Pure: the subnet is an argument.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.infiniband.counters import PortCounters
from benchconsole.topology.infiniband.device_names import SubnetDevices, find_devices
from benchconsole.topology.infiniband.forwarding_dumps import ForwardingDump
from benchconsole.topology.infiniband.rates import LinkRate, explain_slower, is_rate
from benchconsole.topology.infiniband.subnet import NodeKind, PortEnd, Subnet
from benchconsole.topology.model.fabric import Fabric, Link
from benchconsole.topology.model.network import NetworkKind
from benchconsole.topology.selection import fold
from benchconsole.topology.units import network_rate
from benchconsole.topology.wire.forwarding_comparison import Rerouted, find_rerouted
from benchconsole.topology.wire.observations import SysNames
from benchconsole.topology.wire.swaps import find_exchanges

_FEW = 4
"""Cables that a row names one by one."""

End = tuple[str, str]
"""Device and port; the port is empty where the file does not name it."""


class SubnetOutcome(StrEnum):
    """A difference between the file and the subnet, in the order in which it is told."""

    SWAPPED = "swapped"
    MOVED = "wrong place"
    MISSING_DEVICE = "missing device"
    MISSING = "missing"
    FEWER = "fewer cables"
    NARROW = "narrow"
    SLOWER = "slower"
    FASTER = "faster"
    NEW_DEVICE = "not described"
    EXTRA = "more cables"
    ERRORS = "errors"
    FIRMWARE = "firmware"
    REROUTED = "routed otherwise"


@dataclass(frozen=True, slots=True)
class SubnetDifference:
    """One thing that is not as described. ``devices`` are what it is about, ``described`` and ``seen`` say it in words,
    ``text`` what else is known.
    """

    kind: SubnetOutcome
    devices: tuple[str, ...]
    described: str = ""
    seen: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class SubnetReport:
    """The comparison. ``described`` cables of the file were looked for, ``confirmed`` are as described.

    ``open_speeds`` counts cables that are where they should be and whose rate nobody told; ``partial`` says what the
    dump leaves out, empty for a whole one. ``counted``: error counters were given.
    """

    differences: tuple[SubnetDifference, ...]
    described: int
    confirmed: int
    open_speeds: int
    devices: int
    partial: str = ""
    counted: bool = False
    remarks: tuple[str, ...] = ()
    lanes: Mapping[int, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether the whole subnet was told, and the file describes some of it."""
        return not self.partial and self.described > 0


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One described cable, its ends sorted by device."""

    a: End
    b: End
    speed: float

    @property
    def pair(self) -> tuple[str, str]:
        return self.a[0], self.b[0]


@dataclass(frozen=True, slots=True)
class _Seen:
    """One cable of the subnet in the words of the file, its ends sorted by device."""

    a: End
    b: End
    rate: LinkRate | None

    @property
    def pair(self) -> tuple[str, str]:
        return self.a[0], self.b[0]


def is_infiniband(fabric: Fabric, link: Link) -> bool:
    """Whether a link may be one of the subnet: of a network of InfiniBand, or of any without a type where the file
    names none of InfiniBand.
    """
    network = fabric.networks.get(link.network)
    if any(each.kind is NetworkKind.INFINIBAND for each in fabric.networks.values()):
        return network is not None and network.kind is NetworkKind.INFINIBAND
    return network is None or network.type is None


def compare_subnet(
    fabric: Fabric,
    subnet: Subnet,
    counters: Iterable[PortCounters] | None = None,
    forwarding: ForwardingDump | None = None,
) -> SubnetReport:
    """Hold ``subnet`` against the InfiniBand links of ``fabric``; with ``counters`` also its errors.

    With ``forwarding`` also its tables against those of the file, where this has any.

    Where ``fabric`` describes no such link nothing is compared, and nothing is a difference.
    """
    devices = find_devices(subnet)
    names = _match_names(fabric, devices)
    wanted = [cable for link in fabric.links.values() if is_infiniband(fabric, link) for cable in _list_wanted(link)]
    seen = list(_list_seen(subnet, devices, names))
    comparison = _Comparison(wanted, seen, frozenset(str(name) for name in fabric.nodes))
    rows = [*comparison.rows(), *_find_firmware(subnet, devices, names)] if wanted else []
    if counters is not None and wanted:
        rows += _find_errors(counters, devices, names)
    if forwarding is not None and wanted:
        rows += _list_rerouted(find_rerouted(fabric, forwarding, subnet, devices, names))
    order = list(SubnetOutcome)
    rows.sort(key=lambda row: order.index(row.kind))
    lanes = dict(sorted(subnet.lanes.items()))
    return SubnetReport(
        tuple(_fold_alike(rows)), len(wanted), comparison.confirmed, comparison.open_speeds, len(devices.by_name),
        subnet.partial, counters is not None, (*subnet.remarks, *devices.remarks), lanes,
    )  # fmt: skip


def _match_names(fabric: Fabric, devices: SubnetDevices) -> dict[str, str]:
    """Name in the subnet to the name in the file; what the file does not have keeps its own."""
    known = SysNames(fabric)
    return {name: known.device(name) or name for name in devices.by_name}


def _list_wanted(link: Link) -> Iterator[_Wanted]:
    for index, speed in enumerate(link.members):
        a = (str(link.a), link.ports_a[index] if link.ports_a else "")
        b = (str(link.b), link.ports_b[index] if link.ports_b else "")
        first, second = sorted((a, b))
        yield _Wanted(first, second, speed)


def _list_seen(subnet: Subnet, devices: SubnetDevices, names: Mapping[str, str]) -> Iterator[_Seen]:
    for cable in subnet.cables:
        if devices.left_out & {cable.a.guid, cable.b.guid}:
            continue
        a, b = sorted((names[devices.of[end.guid].name], devices.port(end)) for end in (cable.a, cable.b))
        if a[0] != b[0]:
            yield _Seen(a, b, cable.rate)


def format_end(end: End) -> str:
    """``leaf1:12``, or the device alone."""
    return f"{end[0]}:{end[1]}" if end[1] else end[0]


class _Comparison:
    """Finds the cable of the subnet that is each described one, and says what of the rest has changed its place."""

    def __init__(self, wanted: Sequence[_Wanted], seen: Sequence[_Seen], hosts: frozenset[str]) -> None:
        self._hosts = hosts
        self._there = {device for cable in seen for device in cable.pair}
        self._described = {device for cable in wanted for device in cable.pair}
        self._found, self._open, self._left = _match_cables(wanted, seen, _find_renamed(wanted, seen, hosts))
        self._between = Counter(cable.pair for cable in wanted)
        self._up = Counter(one.pair for one, _ in self._found)

    @property
    def confirmed(self) -> int:
        """Described cables that are where they should be, at the rate that they should have."""
        return sum(not _find_slower(one, other) for one, other in self._found)

    @property
    def open_speeds(self) -> int:
        return sum(other.rate is None for _, other in self._found)

    def rows(self) -> Iterator[SubnetDifference]:
        """Every difference."""
        yield from self._find_absent()
        yield from self._find_moved()
        yield from self._find_missing()
        for one, other in self._found:
            yield from _find_slower(one, other)
        yield from self._find_extra()

    def _find_absent(self) -> Iterator[SubnetDifference]:
        """Devices that none of the cables of the subnet leads to, once each, and not their cables."""
        at = {end: other for cable in self._left for end, other in ((cable.a, cable.b), (cable.b, cable.a))}
        absent = self._described - self._there
        beside = group_by_key((device, cable) for cable in self._open for device in cable.pair if device in absent)
        for device, cables in sorted(beside.items()):
            others = [end for cable in cables for end in (cable.a, cable.b) if end[0] != device]
            places = sorted({format_end(end) for end in others})
            there = sorted({f"{at[end][0]} is at {format_end(end)}" for end in others if end[1] and end in at})
            text = "; ".join([_count_cables(len(cables)), *there[:_FEW]])
            yield SubnetDifference(SubnetOutcome.MISSING_DEVICE, (device,), fold(places), "", text)
        self._open = [cable for cable in self._open if not absent.intersection(cable.pair)]

    def _find_moved(self) -> Iterator[SubnetDifference]:
        """Cables one end of which is at another place: exchanged with each other, or one alone."""
        moves = _pair_moves(self._open, self._left, self._hosts)
        groups = find_exchanges({move: (move.home, move.here) for move in moves})
        for group in groups:
            who = tuple(sorted({format_end(move.stays) for move in group}))
            described = "; ".join(f"{format_end(move.stays)} at {format_end(move.home)}" for move in group)
            now = "; ".join(f"{format_end(move.stays)} at {format_end(move.here)}" for move in group)
            yield SubnetDifference(SubnetOutcome.SWAPPED, who, described, now)
        swapped = {move for group in groups for move in group}
        for move in moves:
            if move not in swapped:
                places = format_end(move.home), format_end(move.here)
                yield SubnetDifference(SubnetOutcome.MOVED, (format_end(move.stays),), *places)
        self._open = [cable for index, cable in enumerate(self._open) if index not in {move.wanted for move in moves}]
        self._left = [cable for index, cable in enumerate(self._left) if index not in {move.seen for move in moves}]

    def _find_missing(self) -> Iterator[SubnetDifference]:
        """Described cables that the subnet does not have, by the two devices."""
        for pair, cables in group_by_key((cable.pair, cable) for cable in self._open).items():
            up, total = self._up[pair], self._between[pair]
            ends = _list_ends(cables)
            if up:
                yield SubnetDifference(SubnetOutcome.FEWER, pair, ends, f"{up} of {_count_cables(total)}")
            else:
                yield SubnetDifference(SubnetOutcome.MISSING, pair, ends, "", _count_cables(total))

    def _find_extra(self) -> Iterator[SubnetDifference]:
        """Cables of the subnet that the file does not have, and devices."""
        strangers = self._there - self._described
        beside = group_by_key((device, cable) for cable in self._left for device in cable.pair if device in strangers)
        for device, cables in sorted(beside.items()):
            places = {format_end(end) for cable in cables for end in (cable.a, cable.b) if end[0] != device}
            text = _count_cables(len(cables))
            yield SubnetDifference(SubnetOutcome.NEW_DEVICE, (device,), "", fold(sorted(places)), text)
        rest = [cable for cable in self._left if not strangers.intersection(cable.pair)]
        for pair, extra in group_by_key((cable.pair, cable) for cable in rest).items():
            text = f"{self._between[pair]} described" if self._between[pair] else "none described"
            yield SubnetDifference(SubnetOutcome.EXTRA, pair, "", _list_ends(extra), text)


@dataclass(frozen=True, slots=True)
class _Move:
    """A cable of which the end ``stays`` is where it should be, and the other end is ``here`` instead of at ``home``.

    ``wanted`` and ``seen`` are the numbers of the described cable and of the seen one among those that are left.
    """

    stays: End
    home: End
    here: End
    wanted: int
    seen: int


def _list_ends(cables: Sequence[_Wanted] | Sequence[_Seen]) -> str:
    shown = [f"{format_end(cable.a)} to {format_end(cable.b)}" for cable in cables]
    more = f" and {len(shown) - _FEW:,} more" if len(shown) > _FEW else ""
    return ", ".join(dict.fromkeys(shown[:_FEW])) + more


def _find_renamed(wanted: Sequence[_Wanted], seen: Sequence[_Seen], hosts: frozenset[str]) -> frozenset[str]:
    """Hosts none of whose described ports is told: their adapters have other names there, and cannot be compared."""
    described = group_by_key(end for cable in wanted for end in (cable.a, cable.b) if end[0] in hosts and end[1])
    told = group_by_key(end for cable in seen for end in (cable.a, cable.b))
    return frozenset(host for host, ports in described.items() if set(ports).isdisjoint(told.get(host, ())))


def _match_cables(
    wanted: Sequence[_Wanted], seen: Sequence[_Seen], renamed: frozenset[str]
) -> tuple[list[tuple[_Wanted, _Seen]], list[_Wanted], list[_Seen]]:
    """Described cables with what they are in the subnet, and what is left of both.

    Cables whose ports are named at both ends come first; of those that the ports do not tell apart the faster.
    """

    def fits(cable: _Wanted, other: _Seen) -> bool:
        return all(
            one[1] in ("", there[1]) or one[0] in renamed for one, there in ((cable.a, other.a), (cable.b, other.b))
        )

    left = group_by_key((cable.pair, cable) for cable in seen)
    for beside in left.values():
        beside.sort(key=lambda other: -(other.rate.data if other.rate else 0.0))
    found: list[tuple[_Wanted, _Seen]] = []
    waiting = []
    for cable in sorted(wanted, key=lambda cable: (not cable.a[1], not cable.b[1], -cable.speed)):
        match = next((other for other in left.get(cable.pair, ()) if fits(cable, other)), None)
        if match is None:
            waiting.append(cable)
        else:
            left[cable.pair].remove(match)
            found.append((cable, match))
    return found, waiting, [cable for cables in left.values() for cable in cables]


def _pair_moves(wanted: Sequence[_Wanted], left: Sequence[_Seen], hosts: frozenset[str]) -> list[_Move]:
    """Cables of which one end is where it should be: at its port where the file names it, else at its host.

    A cable that was taken for one is no longer there for the next.
    """
    by_end: dict[End, list[int]] = {}
    for number, cable in enumerate(left):
        for end in (cable.a, cable.b):
            by_end.setdefault(end, []).append(number)
            if end[0] in hosts and end[1]:
                by_end.setdefault((end[0], ""), []).append(number)
    moves: list[_Move] = []
    taken: set[int] = set()
    for index, one in enumerate(wanted):
        ends = sorted(((one.a, one.b), (one.b, one.a)), key=lambda pair: pair[0][0] not in hosts)
        for stays, home in ends:
            free = [number for number in by_end.get(stays, ()) if number not in taken]
            if free and (stays[1] or stays[0] in hosts):
                other = left[free[0]]
                at_a = other.a == stays or (not stays[1] and other.a[0] == stays[0])
                here = other.b if at_a else other.a
                moves.append(_Move(stays, home, here if home[1] else (here[0], ""), index, free[0]))
                taken.add(free[0])
                break
    return moves


def _find_slower(one: _Wanted, other: _Seen) -> list[SubnetDifference]:
    """Nothing, or how the rate of a cable differs from its description."""
    if other.rate is None or is_rate(one.speed, other.rate):
        return []
    ends = (format_end(other.a), format_end(other.b))
    described, seen = network_rate(one.speed), f"{network_rate(other.rate.data)}, {other.rate}"
    if other.rate.data > one.speed:
        return [SubnetDifference(SubnetOutcome.FASTER, ends, described, seen)]
    why = explain_slower(one.speed, other.rate)
    kind = SubnetOutcome.NARROW if why.endswith("lanes") else SubnetOutcome.SLOWER
    return [SubnetDifference(kind, ends, described, seen, why)]


def _find_firmware(subnet: Subnet, devices: SubnetDevices, names: Mapping[str, str]) -> Iterator[SubnetDifference]:
    """Nodes of one kind of device whose firmware is not that of most of them; of equal numbers the newer counts."""
    told = [node for node in subnet.nodes.values() if node.firmware and node.guid in devices.of]
    for (_, kind), nodes in sorted(group_by_key(((node.device, node.kind), node) for node in told).items()):
        times = Counter(node.firmware for node in nodes)
        usual = max(times, key=lambda version: (times[version], _split_version(version)))
        for version in sorted(times.keys() - {usual}):
            those = sorted({names[devices.of[node.guid].name] for node in nodes if node.firmware == version})
            what = "switches" if kind is NodeKind.SWITCH else "adapters"
            text = f"{times[usual]:,} of {len(nodes):,} {what} of this kind have {usual}"
            yield SubnetDifference(SubnetOutcome.FIRMWARE, tuple(those), "", version, text)


def _split_version(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _list_rerouted(switches: Iterable[Rerouted]) -> Iterator[SubnetDifference]:
    for each in switches:
        text = f"{each.changed:,} of {each.told:,} destinations over other ports: save the tables anew"
        yield SubnetDifference(SubnetOutcome.REROUTED, (each.switch,), each.described, each.seen, text)


def _find_errors(
    counters: Iterable[PortCounters], devices: SubnetDevices, names: Mapping[str, str]
) -> Iterator[SubnetDifference]:
    for each in counters:
        device = devices.of.get(each.end.guid)
        if device is not None:
            end = (names[device.name], devices.port(PortEnd(each.end.guid, each.end.port)))
            told = ", ".join(f"{name} {value:,}" for name, value in sorted(each.errors.items()))
            yield SubnetDifference(SubnetOutcome.ERRORS, (format_end(end),), "", told)


def _fold_alike(rows: Sequence[SubnetDifference]) -> Iterator[SubnetDifference]:
    """The rows, those of devices that are not there or not described put together where they are alike."""
    once = (SubnetOutcome.MISSING_DEVICE, SubnetOutcome.NEW_DEVICE)
    alike = group_by_key(
        ((row.kind, row.described, row.seen, row.text) if row.kind in once else (row,), row) for row in rows
    )
    for those in alike.values():
        yield replace(those[0], devices=tuple(device for row in those for device in row.devices))


def _count_cables(number: int) -> str:
    return f"{number:,} cable{'' if number == 1 else 's'}"
