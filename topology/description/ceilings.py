"""Resolves ``ceilings`` of nodes and switches: PCI Express slots, halves of a machine, line cards, backplanes."""

from collections.abc import Iterator, Mapping, Sequence

from benchconsole.topology.copying import replace
from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location
from benchconsole.topology.description.names import DeviceNames
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.ceiling import PCIE_GENERATIONS, PCIE_LANES, Ceiling, compute_pcie_rate
from benchconsole.topology.model.fabric import Link, LinkId, NodeId, SwitchId
from benchconsole.topology.model.port_set import find_split
from benchconsole.topology.selection import expand_ports, fold
from benchconsole.topology.units import parse_link_speed


class CeilingReader:
    """Reads the ceilings of one file; ``found`` has those of each device once its entry was read."""

    def __init__(self, names: DeviceNames) -> None:
        self._names = names
        self._report = names.report
        self.found: dict[str, tuple[Ceiling, ...]] = {}
        self._stated: list[tuple[Sequence[str], tuple[Ceiling, ...], Location]] = []

    def read(self, written: Mapping[str, raw.RawCeiling], devices: Sequence[str], here: Location) -> None:
        """Take in the ceilings of the devices of one entry: each device has all of them."""
        guest = next((node for each in devices if (node := self._names.nodes.get(NodeId(each))) and node.host), None)
        if guest is not None:
            found = f"ceilings of the virtual machine {guest.id}"
            self._report.add_key(here, found, f"ceilings of its host {guest.host}")
            return
        ceilings: list[Ceiling] = []
        for text, each in written.items():
            own = tuple(self._expand(text, each, (*here, text)))
            ceilings += own
            self._stated.append((devices, own, (*here, text)))
        twice = [name for name, same in group_by_key((each.name, each) for each in ceilings).items() if len(same) > 1]
        if twice:
            self._report.add(here, f"the ceiling {twice[0]} a second time", "each name once in a device")
        if ceilings:
            self.found.update(dict.fromkeys(devices, tuple(ceilings)))

    def _expand(self, text: str, written: raw.RawCeiling, here: Location) -> Iterator[Ceiling]:
        names = self._names.expanded(text, here, key=True)
        rate, kind = self._read_rate(written, here)
        if not names or rate is None:
            return
        if written.ports is None:
            if len(names) > 1:
                self._report.add_key(here, f"{len(names)} ceilings of all ports", "ports, which they share out evenly")
                return
            yield Ceiling(names[0], rate, None, kind)
            return
        try:
            ports = expand_ports(written.ports)
        except SelectionError as error:
            self._report.add((*here, "ports"), str(error), "ports such as p[1-8]")
            return
        if len(ports) % len(names):
            found = f"{len(ports)} ports for {len(names)} ceilings"
            self._report.add((*here, "ports"), found, "as many ports for each of them")
            return
        share = len(ports) // len(names)
        for index, name in enumerate(names):
            yield Ceiling(name, rate, frozenset(ports[index * share : (index + 1) * share]), kind)

    def _read_rate(self, written: raw.RawCeiling, here: Location) -> tuple[float | None, str]:
        if (written.rate is None) is (written.pcie is None):
            found = "neither rate nor pcie" if written.rate is None else "both rate and pcie"
            self._report.add(here, found, "rate: 200 Gb/s, or pcie: {generation: 4, lanes: 8}")
            return None, ""
        if written.pcie is None:
            return self._report.quantity(written.rate, (*here, "rate"), parse_link_speed), ""
        slot, at = written.pcie, (*here, "pcie")
        known = True
        for key, value, allowed in (
            ("generation", slot.generation, PCIE_GENERATIONS),
            ("lanes", slot.lanes, PCIE_LANES),
        ):
            if value not in allowed:
                expected = f"one of {', '.join(map(str, allowed))}"
                self._report.add((*at, key), f"PCI Express {key} {value}", expected)
                known = False
        if not known:
            return None, ""
        return compute_pcie_rate(slot.generation, slot.lanes), f"PCIe {slot.generation}.0 x{slot.lanes}"

    def list_links(self, links: Mapping[LinkId, Link]) -> Mapping[str, list[Link]]:
        """The links of each device that has ceilings."""
        limited = {each for devices, _, _ in self._stated for each in devices}
        ends = ((end, link) for link in links.values() for end in (link.a, link.b) if end in limited) if limited else ()
        return group_by_key(ends)

    def check_ports(self, at: Mapping[str, Sequence[Link]]) -> None:
        """Problems for ceilings that would not limit what they are meant to: of ports without a cable, or a name.

        ``at`` are the links of each device.
        """
        for devices, ceilings, here in self._stated:
            meant = dict.fromkeys(port for each in ceilings for port in sorted(each.ports or ()))
            cables = ((link, each) for each in devices if meant for link in at.get(each, ()))
            unnamed = next((link for link, each in cables if not _list(link, each)), None)
            if unnamed is not None:
                device = unnamed.a if unnamed.a in devices else unnamed.b
                found = f"ports, where the link {unnamed.id} names none at {device}"
                self._report.add((*here, "ports"), found, f'the port of every cable, as in "{device}:p1"')
                continue
            for port in meant:
                lacking = [each for each in devices if not self._has_port(each, port, at.get(each, ()))]
                if lacking:
                    some = f"{len(lacking)} of {len(devices)}, {fold(lacking)}" if len(devices) > 1 else devices[0]
                    expected = f'a port that links name, as in "{lacking[0]}:{port}"'
                    self._report.add((*here, "ports"), f"the port {port}, which has no cable at {some}", expected)
                    break

    def add_parts(self, at: Mapping[str, Sequence[Link]]) -> None:
        """Give ceilings of a port that is split the parts of it that links name: whatever uses one passes the port."""
        for device, ceilings in self.found.items():
            switch = self._names.switches.get(SwitchId(device))
            if switch is None or all(each.breakout == 1 for each in switch.ports):
                continue
            declared = {port for each in switch.ports for port in each.names}
            named = {port for link in at.get(device, ()) for port in _list(link, device)} - declared
            parts = group_by_key((find_split(switch.ports, port), port) for port in named)
            self.found[device] = tuple(
                each
                if each.ports is None
                else replace(each, ports=each.ports.union(*(parts.get(port, ()) for port in each.ports)))
                for each in ceilings
            )

    def _has_port(self, device: str, port: str, links: Sequence[Link]) -> bool:
        """Whether a port is cabled, or declared: a switch may have free ones."""
        switch = self._names.switches.get(SwitchId(device))
        sets = switch.ports if switch is not None else ()
        free = any(port in each.names for each in sets) or find_split(sets, port) is not None
        return free or any(port in _list(link, device) for link in links)


def _list(link: Link, device: str) -> tuple[str, ...]:
    return link.ports_a if device == link.a else link.ports_b


def read_ceilings(
    written: raw.RawTopology, names: DeviceNames, links: Mapping[LinkId, Link]
) -> dict[str, tuple[Ceiling, ...]]:
    """The ceilings of every device of a file that has any."""
    reader = CeilingReader(names)
    entries: list[tuple[str, str, Mapping[str, raw.RawCeiling]]] = [
        *(("switches", text, each.ceilings) for text, each in written.switches.items()),
        *(("nodes", text, each.ceilings) for text, each in written.nodes.items()),
    ]
    for section, text, ceilings in entries:
        if ceilings:
            devices = [name for name in names.quietly(text) if names.known(name)]
            reader.read(ceilings, devices, (section, text, "ceilings"))
    at = reader.list_links(links)
    reader.check_ports(at)
    reader.add_parts(at)
    return reader.found
