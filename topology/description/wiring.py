"""Resolves ``links``: the ends of each cable, LAGs, ports, bonds, channels and WAN lines."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

from benchconsole.topology.copying import replace
from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location
from benchconsole.topology.description.names import DeviceNames
from benchconsole.topology.errors import Position, SelectionError, find_near
from benchconsole.topology.model.cable import Cable, Channel, Wan
from benchconsole.topology.model.fabric import Bond, HashPolicy, Link, LinkId, NodeId, SwitchId
from benchconsole.topology.model.network import DATA, Network
from benchconsole.topology.model.port_set import find_split
from benchconsole.topology.selection import expand_ports
from benchconsole.topology.units import Unit, parse_length, parse_link_speed

_VLAN = re.compile(r"[1-9]\d{0,3}")
MAX_VLAN = 4094
_SHARED = Link.__struct_fields__[Link.__struct_fields__.index("preference") + 1 :]
"""Fields that the cables of one written link have in common beside their speed: the last fields of Link."""


@dataclass(frozen=True, slots=True)
class _End:
    devices: tuple[str, ...]
    ports: tuple[str, ...]


class Wiring:
    """Turns ``links`` into Link objects. ``links`` is the result, in file order."""

    def __init__(self, names: DeviceNames, networks: dict[str, Network], policies: Mapping[str, HashPolicy]) -> None:
        self.names = names
        self.report = names.report
        self.networks = networks
        self.policies = policies
        self.links: dict[LinkId, Link] = {}
        self._tiers = {str(name): switch.role.tier for name, switch in names.switches.items()}
        self._guests = frozenset(node.id for node in names.nodes.values() if node.host is not None)
        self._used: dict[tuple[str, str], Location] = {}
        self._split: dict[tuple[str, str], Location] = {}
        self._active: dict[tuple[str, str], tuple[str, str | None]] = {}
        self._declared = {
            name: frozenset(port for ports in switch.ports for port in ports.names)
            for name, switch in names.switches.items()
            if switch.ports
        }

    def add(self, index: int, written: raw.RawLink) -> None:
        here: Location = ("links", index)
        lower = self._end(written.from_, (*here, "from"))
        upper = self._end(written.to, (*here, "to"))
        like = self._common(written, here)
        pairs = self._pairs(lower, upper, written, here)
        lower_ports = self._ports(lower, (a for a, _ in pairs), like.count, (*here, "from"))
        upper_ports = self._ports(upper, (b for _, b in pairs), like.count, (*here, "to"))
        place, tiers = self.report.document.at(here), self._tiers
        is_backup = like.bond is Bond.BACKUP and self._has_nodes(pairs, here)
        # A file has a hundred thousand cables: what they have in common is looked up once.
        speed, shared = like.speed, [getattr(like, name) for name in _SHARED]
        preference = self._read_preference(written, here)
        turned = preference[::-1]
        made: list[Link] = []
        are_level = not {tiers.get(a, 0) for a in lower.devices}.isdisjoint(tiers.get(b, 0) for b in upper.devices)
        for (a, b), ports_a, ports_b in zip(pairs, lower_ports, upper_ports, strict=False):
            standby = is_backup and self._stands_by(a, b, like)
            if tiers.get(b, 0) < tiers.get(a, 0):
                made.append(Link(LinkId(f"{b}--{a}"), b, a, speed, ports_b, ports_a, standby, turned, *shared))
            else:
                made.append(Link(LinkId(f"{a}--{b}"), a, b, speed, ports_a, ports_b, standby, preference, *shared))
        self._add_links(made, here, place, are_level=are_level)

    def _has_nodes(self, pairs: Sequence[tuple[str, str]], here: Location) -> bool:
        """Whether each cable of a bond has a node at an end, else a problem: switches have no bonds."""
        nodes = self.names.nodes
        apart = next((pair for pair in pairs if NodeId(pair[0]) not in nodes and NodeId(pair[1]) not in nodes), None)
        if apart is not None:
            found = f"bond active-backup between {apart[0]} and {apart[1]}, which are both switches"
            self.report.add((*here, "bond"), found, "one of a node (between switches, preference says what stands by)")
        return apart is None

    def _stands_by(self, a: str, b: str, like: Link) -> bool:
        """Whether a leg waits for another one: in a network the first leg of a node in the file is the active one.

        So it is whichever end is written first, and whether one entry has all legs or each has its own. Further
        entries of the LAG of the active leg are part of it.
        """
        node, other = (a, b) if NodeId(a) in self.names.nodes else (b, a)
        leg = other, like.lag
        return self._active.setdefault((node, like.network), leg) != leg

    def _read_preference(self, written: raw.RawLink, here: Location) -> tuple[int, int]:
        """For what goes to the devices of ``to``, and for what goes back."""
        back = written.preference_back
        if not written.preference and not back:
            return 0, 0
        found = (written.preference, written.preference if back is None else back)
        ends = (self.names.quietly(text.partition(":")[0]) for text in (written.from_, written.to))
        node = next((name for end in ends for name in end if name in self.names.nodes), None)
        if any(found) and node is not None:
            self.report.add((*here, "preference"), f"a preference on a cable of the node {node}",
                            "one between switches (of a node, bond: active-backup says what stands by)")  # fmt: skip
        return found

    def _end(self, text: str, location: Location) -> _End:
        devices, _, ports = text.partition(":")
        found: list[str] = []
        if ports:
            try:
                found = expand_ports(ports)
            except SelectionError as error:
                self.report.add(location, str(error), "ports such as leaf1:Eth[1-4]")
        return _End(tuple(self.names.devices(devices, location)), tuple(found))

    def _pairs(self, lower: _End, upper: _End, written: raw.RawLink, here: Location) -> list[tuple[str, str]]:
        if written.wiring == "each-to-each":
            return [(a, b) for a in lower.devices for b in upper.devices]
        if len(lower.devices) != len(upper.devices):
            found = f"{len(lower.devices)} devices to {len(upper.devices)}, one to one"
            self.report.add((*here, "wiring"), found, "as many devices on both ends")
        return list(zip(lower.devices, upper.devices, strict=False))

    def _ports(self, end: _End, at: Iterable[str], count: int, location: Location) -> Iterator[tuple[str, ...]]:
        """The ports of each cable at its device of ``at``; without end where the file names none."""
        return self._share_ports(end, list(at), count, location) if end.ports else repeat(())

    def _share_ports(self, end: _End, at: Sequence[str], count: int, location: Location) -> Iterator[tuple[str, ...]]:
        given: dict[str, list[str]] = {}
        for device, times in Counter(at).items():
            needed = times * count
            if len(end.ports) != needed:
                found = f"{len(end.ports)} ports for {needed} cables at {device}"
                self.report.add(location, found, "one port for each cable")
                continue
            given[device] = list(end.ports)
            for port in end.ports:
                self._take(device, port, location)
        for device in at:
            free = given.get(device, [])
            yield tuple(free[:count])
            given[device] = free[count:]

    def _take(self, device: str, port: str, location: Location) -> None:
        declared = self._declared.get(SwitchId(device))
        if declared and port not in declared:
            self._take_part(device, port, location)
        elif (device, port) in self._split:
            line = self.report.document.at(self._split[device, port]).line
            self.report.add(location, f"the port {device}:{port} whole, split in line {line}", "a part, or a free port")
        first = self._used.setdefault((device, port), location)
        if first is not location:
            line = self.report.document.at(first).line
            self.report.add(location, f"the port {device}:{port} a second time (first in line {line})", "a free port")

    def _take_part(self, device: str, part: str, location: Location) -> None:
        """A port that is not declared: a part of one that is split, or a problem."""
        switch = self.names.switches[SwitchId(device)]
        port = find_split(switch.ports, part)
        if port is None:
            names = self._declared[switch.id]
            self.report.add(location, f"unknown port {device}:{part}", f"a port of {device}", find_near(part, names))
        elif (device, port) in self._used:
            line = self.report.document.at(self._used[device, port]).line
            self.report.add(location, f"a part of the port {device}:{port}, cabled whole in line {line}", "a free port")
        else:
            self._split.setdefault((device, port), location)

    def _common(self, written: raw.RawLink, here: Location) -> Link:
        speed = self.report.quantity(written.speed, (*here, "speed"), parse_link_speed)
        network = written.network or DATA
        if network not in self.networks:
            hint = find_near(network, self.networks)
            expected = f"one of {', '.join(self.networks)}"
            self.report.add((*here, "network"), f"unknown network {network!r}", expected, hint)
        rtt = self.report.quantity(written.rtt, (*here, "rtt"), Unit.SECOND)
        available = self.report.quantity(written.available, (*here, "available"), parse_link_speed)
        return Link(
            LinkId(""), "", "",
            speed=speed or 1.0,
            count=1 if written.count == "unknown" else written.count,
            counted=written.count != "unknown",
            lag=written.lag,
            hash=HashPolicy(written.hash) if written.hash else self.policies.get(network, HashPolicy.UNKNOWN),
            bond=Bond(written.bond) if written.bond else None,
            network=network,
            cable=self._material(written.cable, (*here, "cable")),
            wan=None if written.rtt is None and written.available is None else Wan(rtt, available),
            channels=tuple(self._channels(written.channels or {}, (*here, "channels"))),
        )  # fmt: skip

    def _material(self, written: raw.RawCable | str | None, here: Location) -> Cable | None:
        if written is None or isinstance(written, str):
            return None if written is None else Cable(written)
        return Cable(written.type, self.report.quantity(written.length, (*here, "length"), parse_length))

    def _channels(self, written: Mapping[str, raw.Quantity], here: Location) -> Iterator[Channel]:
        for vlan, speed in written.items():
            capacity = self.report.quantity(speed, (*here, vlan), parse_link_speed)
            if not _VLAN.fullmatch(vlan) or int(vlan) > MAX_VLAN:
                self.report.add_key((*here, vlan), f"the VLAN {vlan!r}", f"a number from 1 to {MAX_VLAN}")
            elif capacity is not None:
                yield Channel(int(vlan), capacity)

    def _add_links(self, links: Sequence[Link], here: Location, place: Position, *, are_level: bool) -> None:
        """Add the links of one entry: at once where none of them meets another link, nor a virtual machine.

        ``are_level``: some of them may join two devices of one tier.
        """
        new = {link.id: link for link in links}
        is_new = len(new) == len(links) and not self._guests and self.links.keys().isdisjoint(new)
        # Ends of one tier may stand in either order; others have the lower one first.
        level = {f"{link.b}--{link.a}" for link in links} if are_level else set()
        if is_new and level.isdisjoint(new) and self.links.keys().isdisjoint(level):
            self.links.update(new)
            self.names.places.update(dict.fromkeys(new, place))
            return
        for link in links:
            self._add_link(link, here, place)

    def _add_link(self, link: Link, here: Location, place: Position) -> None:
        """Add one link, its lower end first: a new one, or more members of a LAG that has a link already."""
        if link.a == link.b:
            self.report.add(here, f"a link from {link.a} to itself", "two different devices")
            return
        guest = next((device for device in (link.a, link.b) if device in self._guests), None) if self._guests else None
        if guest is not None:
            host = self.names.nodes[NodeId(guest)].host
            self.report.add(here, f"a cable of the virtual machine {guest}", f"a cable of its host {host}")
            return
        plain = link.id
        turned = LinkId(f"{link.b}--{link.a}")
        if plain not in self.links:
            if turned not in self.links:
                self.links[plain] = link
                self.names.places[plain] = place
                return
            plain = turned
        apart = link.lag or self._find_apart_port(link, plain)
        named = LinkId(f"{plain}/{apart}")
        known = (self.links.get(name) for name in (plain, named))
        present = next((each for each in known if each is not None and each.lag == link.lag), None)
        if apart and (present is None or link.lag is None):
            self.links[named] = replace(link, id=named)
            self.names.places[named] = place
        elif present is not None and link.lag is not None:
            members = (*present.members, *link.members)
            ports_a, ports_b = link.ports_a, link.ports_b
            if present.a != link.a:
                ports_a, ports_b = ports_b, ports_a
            joined = present.with_members(members, (*present.ports_a, *ports_a), (*present.ports_b, *ports_b))
            self.links[present.id] = replace(joined, counted=present.counted and link.counted)
        else:
            expected = "each link once (parallel cables are one link with a count, or LAGs with different names)"
            if link.a in self.names.nodes:
                expected += f'; NICs with an address each name their ports, as in from: "{link.a}:p1"'
            self.report.add(here, f"a second link from {link.a} to {link.b}", expected)

    def _find_apart_port(self, link: Link, plain: LinkId) -> str:
        """The port of the node that tells this link from another between the same two devices; empty without one."""
        first = self.links.get(plain)
        if first is None or first.lag is not None or link.bond is not None or link.a not in self.names.nodes:
            return ""
        return link.port_at(link.a) if first.port_at(link.a) and first.bond is None else ""
