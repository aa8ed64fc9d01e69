"""Resolves the groups of devices: MLAG pairs, VLANs, chassis, racks, pods, sites and cohorts."""

from collections.abc import Callable, Collection, Iterator, Mapping

from benchconsole.topology.copying import replace
from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.description.names import DeviceNames
from benchconsole.topology.description.wiring import MAX_VLAN
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.cohorts import DIMENSION_WORDS, VALUE_WORDS, is_dimension, is_value
from benchconsole.topology.model.device_group import Group
from benchconsole.topology.model.fabric import Link, LinkId, Mlag, NodeId, Vlan

KINDS = {"chassis": "chassis", "racks": "rack", "pods": "pod", "sites": "site"}


class Grouping:
    """Turns the sections of one file into the model; ``names`` knows its devices."""

    def __init__(self, written: raw.RawTopology, names: DeviceNames) -> None:
        self.written = written
        self.names = names
        self.report = names.report

    def mlags(self, links: Mapping[LinkId, Link]) -> list[Mlag]:
        if not self.written.mlag:
            return []
        between = group_by_key((frozenset((link.a, link.b)), link.id) for link in links.values())
        found: list[Mlag] = []
        taken: dict[str, str] = {}
        for name, each in self.written.mlag.items():
            here: Location = ("mlag", name, "switches")
            two = self.names.switch_ids(each.switches, here)
            if len(two) != 2:
                self.report.add(here, f"{len(two)} switches", "two switches of this file")
                continue
            for switch in two:
                if taken.setdefault(switch, name) != name:
                    self.report.add(here, f"{switch}, which is in the pair {taken[switch]}", "a switch in one pair")
            found.append(Mlag(name, (two[0], two[1]), tuple(between.get(frozenset(two), ()))))
            self.names.places.setdefault(name, self.report.document.key_at(("mlag", name)))
        return found

    def vlans(self) -> dict[int, Vlan]:
        """The VLANs by number; one without members is kept (the analysis of VLANs says so)."""
        found: dict[int, Vlan] = {}
        for number, each in self.written.vlans.items():
            here: Location = ("vlans", number)
            if not number.isdecimal() or not 1 <= int(number) <= MAX_VLAN:
                self.report.add_key(here, f"the VLAN {number!r}", f"a number from 1 to {MAX_VLAN}")
                continue
            members = self.names.node_ids(each.members, (*here, "members")) if each.members is not None else []
            found[int(number)] = Vlan(int(number), each.name or number, frozenset(members))
            self.names.places.setdefault(f"VLAN {number}", self.report.document.key_at(here))
        return found

    def groups(self) -> list[Group]:
        """Every chassis, rack, pod and site, members in file order, nodes first; a device is in one of each kind."""
        found = []
        sections = [section for section in KINDS if getattr(self.written, section)]
        devices = (*self.names.nodes, *self.names.switches) if sections else ()
        order = {name: index for index, name in enumerate(devices)}
        for section in sections:
            kind = KINDS[section]
            inside: dict[str, str] = {}
            for text, each in getattr(self.written, section).items():
                here: Location = (section, text)
                for group in self._shared_out(kind, text, each, here):
                    found.append(replace(group, members=tuple(sorted(group.members, key=order.__getitem__))))
                    self.names.places.setdefault(group.name, self.report.document.key_at(here))
                    for member in group.members:
                        if inside.setdefault(member, group.name) != group.name:
                            expected = f"a device in one {kind}"
                            found_in = f"{member}, which is in {kind} {inside[member]}"
                            self.report.add((*here, "members"), found_in, expected)
        return found

    def _shared_out(self, kind: str, text: str, written: raw.RawGroup, here: Location) -> Iterator[Group]:
        names = self.names.expanded(text, here, key=True)
        members = self.names.devices(written.members, (*here, "members"))
        if names and len(members) % len(names):
            found = f"{len(members)} members for {len(names)} groups"
            self.report.add((*here, "members"), found, "as many members in each")
            return
        size = len(members) // len(names) if names else 0
        for index, name in enumerate(names):
            yield Group(kind, name, tuple(members[index * size : (index + 1) * size]), written.model)


def resolve_cohorts(
    written: raw.RawTopology, report: ProblemReport, chosen: Callable[[str, Location], Collection[NodeId] | None]
) -> dict[NodeId, tuple[tuple[str, str], ...]]:
    """Dimension and name of every cohort of each node, sorted; ``chosen`` reads a selection of nodes."""
    stages = (stage for suite in written.suites.values() for stage in suite if stage is not None)
    axes = {axis for stage in stages for axis in stage.sweep or ()}
    found: dict[NodeId, list[tuple[str, str]]] = {}
    for dimension, values in written.cohorts.items():
        here: Location = ("cohorts", dimension)
        if not is_dimension(dimension, axes):
            report.add_key(here, f"the dimension {dimension!r}", DIMENSION_WORDS)
        elif not values:
            report.add(here, "no cohort", "name: nodes")
        taken: dict[NodeId, str] = {}
        for name, text in values.items():
            if not is_value(name):
                report.add_key((*here, name), f"the cohort {name!r}", VALUE_WORDS)
            for node in chosen(text, (*here, name)) or ():
                first = taken.setdefault(node, name)
                if first == name:
                    found.setdefault(node, []).append((dimension, name))
                    continue
                line = report.document.key_at((*here, first)).line
                also = f"{node}, which is in the cohort {first!r} (line {line})"
                report.add((*here, name), also, f"each node in one cohort of {dimension}")
                break
    return {node: tuple(sorted(pairs)) for node, pairs in found.items()}
