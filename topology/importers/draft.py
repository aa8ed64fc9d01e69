"""Devices and cables of a foreign source with their places, on their way to a Document.

Nothing is invented: without a speed there is no link, and each inference is noted beside its entry.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import Document, Imported, Lines, Location
from benchconsole.topology.errors import Position, Problem, TopologyError, find_near, refuse
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.importers.bundles import SourceCable, bundle_cables
from benchconsole.topology.importers.roles import find_node_role, infer_switch_roles
from benchconsole.topology.model.fabric import SwitchRole
from benchconsole.topology.selection import MAX_NODES, NAME, fold

MAX_CABLES = 500_000
MAX_PROBLEMS = 1000
_HINTED = 50
_LONG = 300
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class DraftDevice:
    """A node or a switch as a source has it.

    ``role`` is a word of ours, None where the source does not say; ``why`` says what it was
    inferred from. ``taken`` says why it is taken for a switch or a node where the source does not say that.
    ``fields`` are further keys of its entry (class, model, address ...). ``note`` is a comment beside it.
    """

    name: str
    where: Position
    switch: bool
    role: str | None = None
    why: str = ""
    fields: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    taken: str = ""
    note: str = ""


class Draft:
    """Collects one source; ``finish`` gives the result or every problem at once.

    ``node_hint`` says how a device of this source becomes a node, for sources of which all are switches.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.start = Position(file, 1, 1)
        self.lines = Lines(text, file)
        self.name = ""
        self.node_hint = "add nodes and their links by hand"
        self.devices: dict[str, DraftDevice] = {}
        self.cables: list[SourceCable] = []
        self.sections: dict[str, dict[str, object]] = {}
        self.places: dict[Location, Position] = {}
        self.problems: list[Problem] = []
        self.remarks: list[str] = []
        self._notes: dict[Location, str] = {}
        self._used: dict[tuple[str, str | None], Position] = {}

    def problem(self, where: Position, found: str, expected: str, near_match: str | None = None) -> None:
        """Note something that is wrong with the source. TopologyError when it is wrong all over."""
        if len(found) > _LONG:
            found = f"{found[:_LONG]}..."
        self.problems.append(Problem(where, found, expected, near_match))
        if len(self.problems) >= MAX_PROBLEMS:
            raise TopologyError(
                [*self.problems, Problem(where, f"{MAX_PROBLEMS:,} problems", "a source of this format")]
            )

    def remark_unended(self, closing: str = "") -> None:
        """Note that the last line has no end: the tools of these formats read it, and it may be a name cut short.

        ``closing`` are characters that end something by themselves, as a bracket does in YAML.
        """
        last = self.text.rpartition("\n")[2]
        if last.strip() and not last.endswith(tuple(closing)) and not last.lstrip().startswith(("#", ";")):
            line = self.lines.at(len(self.text)).line
            self.remark(f"the last line has no end: line {line} is taken as whole, see that no name in it is cut short")

    def remark(self, text: str) -> None:
        """Note what was left out or taken for granted; of remarks that begin alike up to a colon the first is kept."""
        kind = text.partition(":")[0]
        if all(known.partition(":")[0] != kind for known in self.remarks):
            self.remarks.append(text)

    def device(self, device: DraftDevice) -> None:
        if not NAME.fullmatch(device.name) or len(device.name) > 253:
            self.problem(device.where, f"the name {device.name!r}", "letters, digits, '-', '_' and '.'")
            return
        first = self.devices.get(device.name)
        if first is not None:
            found = f"the name {device.name!r} a second time (first in line {first.where.line})"
            self.problem(device.where, found, "each name once, over nodes and switches")
            return
        self.devices[device.name] = device
        if len(self.devices) > MAX_NODES:
            raise refuse(device.where, f"more than {MAX_NODES:,} devices", "a smaller source")

    def cable(self, cable: SourceCable) -> None:
        if len(self.cables) >= MAX_CABLES:
            raise refuse(cable.where, f"more than {MAX_CABLES:,} cables", "a smaller source")
        self.cables.append(cable)

    def port(self, text: str) -> str | None:
        """``text`` as a port name of our file: no spaces, ``-`` for what is not allowed; None when nothing is left."""
        name = re.sub(r"[^A-Za-z0-9._/-]", "-", "".join(text.split())).lstrip("._/-")[:63]
        if name != text:
            self.remark(f"port names are written as our file allows them: {text!r} is {name or 'left out'}, and so on")
        return name or None

    def section(self, section: str, name: str, value: object, where: Position) -> None:
        """Add an entry to another section of the file (``sites``, ``vlans``, ``mlag`` ...); a mapping adds to one."""
        entries = self.sections.setdefault(section, {})
        present = entries.get(name)
        entries[name] = {**present, **value} if isinstance(present, dict) and isinstance(value, dict) else value
        self.places.setdefault((section, name), where)

    def finish(self, speed: str | None = None) -> Imported:
        """The result; ``speed`` is for cables that have none. Raises TopologyError with every problem."""
        cables = [cable for cable in self.cables if self._sound(cable)]
        document = Document(self.file, self.text)
        document.values[()] = self.start
        known = ("ssh", "network", "networks", "classes")
        # The file names a fabric whose source does not, without what a name should not hold.
        stem = Path(self.file).name.partition(".")[0]
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.") or "cluster"
        data: dict[str, object] = {"schema": 1, "fabric": self.name or name}
        data.update({name: self.sections[name] for name in known if name in self.sections})
        self._drop_shared_addresses()
        data["switches"] = dict(self._switches(cables))
        data["nodes"] = dict(self._nodes())
        data["links"] = list(self._links(cables, speed, data["switches"]))
        data.update({name: value for name, value in self.sections.items() if name not in known})
        if not self.devices and not self.problems:
            self.problem(self.start, "no node and no switch", "at least one of them")
        if self.problems:
            raise TopologyError(self.problems)
        if not data["nodes"]:
            names = fold(name for name in self.devices)
            self.remarks.append(f"no device is a node, all are taken for switches: {names}; {self.node_hint}")
        document.data = data
        for location, where in self.places.items():
            document.keys[location] = document.values[location] = where
        return Imported(document, self._notes, tuple(self.remarks))

    def _sound(self, cable: SourceCable) -> bool:
        """Whether both ends are devices, else a problem, as for a port that is taken; and two different ones."""
        unknown = [name for name in (cable.a, cable.b) if name not in self.devices]
        for name in unknown:
            hint = find_near(name, self.devices) if len(self.problems) < _HINTED else None  # a search through all names
            self.problem(cable.where, f"unknown device {name!r}", "a device of this source", hint)
        if cable.a == cable.b and not unknown:
            line = cable.where.line
            self.remark(f"cables from a device to itself are left out: {cable.a} in line {line}, and so on")
            return False
        for end in ((cable.a, cable.port_a), (cable.b, cable.port_b)):
            first = self._used.setdefault(end, cable.where) if end[1] is not None else cable.where
            if first is not cable.where:
                found = f"the port {end[0]}:{end[1]} a second time (first in line {first.line})"
                self.problem(cable.where, found, "a free port")
        return not unknown

    def _drop_shared_addresses(self) -> None:
        """Leave out the addresses that several nodes have: each is one machine's, and nobody knows whose."""
        for key in ("address", "data_address"):
            told = ((device.fields[key], name) for name, device in self.devices.items() if key in device.fields)
            alike = group_by_key((str(address), name) for address, name in told)
            shared = {address: those for address, those in alike.items() if len(those) > 1 or address in self.devices}
            for address, those in shared.items():
                self.remark(f"addresses of several devices are left out: {address} of {fold(those)}, and so on")
                for name in those:
                    kept = {field: value for field, value in self.devices[name].fields.items() if field != key}
                    self.devices[name] = replace(self.devices[name], fields=kept)

    def _switches(self, cables: list[SourceCable]) -> Iterator[tuple[str, dict[str, object]]]:
        switches = [device for device in self.devices.values() if device.switch]
        inferred = infer_switch_roles([device.name for device in switches], [(cable.a, cable.b) for cable in cables])
        for device in switches:
            role, why = (device.role, device.why) if device.role is not None else inferred[device.name]
            yield device.name, self._entry("switches", device, role, why)

    def _nodes(self) -> Iterator[tuple[str, dict[str, object]]]:
        for device in self.devices.values():
            if not device.switch:
                role, why = device.role, device.why
                if role is None:
                    role, why = find_node_role(device.name), "role inferred from its name"
                yield device.name, self._entry("nodes", device, role, why)

    def _entry(self, section: str, device: DraftDevice, role: str | None, why: str) -> dict[str, object]:
        here: Location = (section, device.name)
        self.places[here] = device.where
        notes = [device.taken] if device.taken else []
        notes += [why] if why and (role is not None or section == "switches") else []
        notes += [device.note] if device.note else []
        if notes:
            self._notes[here] = "; ".join(notes)
        return {**({"role": role} if role is not None else {}), **device.fields}

    def _links(self, cables: list[SourceCable], speed: str | None, switches: object) -> Iterator[dict[str, object]]:
        self._require_speed([cable for cable in cables if cable.speed is None], speed)
        roles = {name: entry.get("role") for name, entry in switches.items()} if isinstance(switches, dict) else {}
        tiers = {name: SwitchRole(role).tier if isinstance(role, str) else 1 for name, role in roles.items()}
        for index, entry in enumerate(bundle_cables(cables, tiers, speed)):
            self.places["links", index] = entry.where
            if entry.note:
                self._notes["links", index] = entry.note
            yield entry.data

    def _require_speed(self, silent: list[SourceCable], speed: str | None) -> None:
        if not silent:
            return
        if speed is None:
            expected = 'a speed for each, or one for all of them (init --link-speed "25 Gb/s")'
            self.problem(silent[0].where, f"no speed for {format_cables(silent)}", expected)
        else:
            self.remark(f"the source has no speed for {format_cables(silent)}: {speed} was given for them")


def format_cables(cables: list[SourceCable]) -> str:
    """The cables as ``n[1-16] to leaf1; leaf[1-2] to spine1``; the first dozen of many."""
    above = group_by_key((cable.b, cable.a) for cable in cables)
    beside = group_by_key((fold(lower), upper) for upper, lower in above.items())
    found = [f"{lower} to {fold(upper)}" for lower, upper in beside.items()]
    more = f"; and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more
