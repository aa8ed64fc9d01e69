"""Reads containerlab topologies (``*.clab.yml``): nodes, kinds, groups, labels and links.

A container of kind ``linux`` may be a host or a router: words of its name, its image and its cables tell, and a note
says which.
Facts that containerlab has no word for are read where ``topology.exporters.containerlab`` writes them: of devices in
labels that begin with ``benchconsole.``, of links in ``vars: {benchconsole: ...}``, which holds keys of our ``links``.
Cables that leave the lab are left out and remarked upon. Source: containerlab's manual, "Topology definition", and
its ``clab.schema.json``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from benchconsole.topology.description.document import Document, Location, describe_value, read_text
from benchconsole.topology.errors import Position, TopologyError, find_near, refuse
from benchconsole.topology.importers.bundles import SourceCable
from benchconsole.topology.importers.draft import Draft, DraftDevice
from benchconsole.topology.importers.json_text import parse_document as parse_json
from benchconsole.topology.importers.roles import guess_switch, is_any_device, is_host
from benchconsole.topology.model.fabric import NodeRole, SwitchRole

PREFIX = "benchconsole."
NODE_KINDS = {
    "linux", "host", "ext-container", "k8s-kind", "generic_vm", "openbsd", "freebsd", "keysight_ixia-c-one", "ostinato",
    "border0",
}  # fmt: skip
"""Kinds that are machines; every other kind forwards for others."""
_ANY_KINDS = {"linux", "ext-container"}
"""Kinds of which a container may be a host as well as a router."""
_BRIDGES = {"bridge", "ovs-bridge"}
GROUPS = {"chassis": "chassis", "rack": "racks", "pod": "pods", "site": "sites"}
NODE_LABELS = {
    "class": "class", "address": "address", "data-address": "data_address", "host": "host", "forwards": "forwards",
}  # fmt: skip
SWITCH_LABELS = {"model": "model", "ports": "ports"}
OUTSIDE = ("host", "mgmt-net", "macvlan", "macvtap", "dummy", "vxlan", "vxlan-stitch")
"""Types of links, and names in endpoints, that lead out of the lab."""
_KNOWN = (
    *NODE_LABELS, *SWITCH_LABELS, *GROUPS, *(f"{kind}-model" for kind in GROUPS),
    "role", "vlans", "mlag", "fabric", "mtu",
)  # fmt: skip
_WIRED = ("brief", "veth", "veth-stitch")
"""Types of links that are cables between two nodes of the lab."""
_HINT = f"the label {PREFIX}role: compute makes a node of a device, or add nodes and their links by hand"
_SETTINGS = ("exec", "sysctls", "binds")
_FORWARDING = re.compile(r"(ip_forward(?=\W+1)|type bridge|brctl addbr|/etc/frr)")
_TAKEN = {"from", "to", "count", "wiring"}
_NUMBERED = ("vlan.", "network.")
_ROLES = [role.value for roles in (NodeRole, SwitchRole) for role in roles]
_Label = tuple[str, Position]


def fill(draft: Draft) -> None:
    """Read one file. Raises TopologyError."""
    draft.remark_unended("]}")
    try:
        source = read_text(draft.text, draft.file, merges=True)
    except TopologyError as error:
        raise _explain_template(draft.text, error) from None
    data = source.data
    topology = data.get("topology") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(topology, dict):
        raise refuse(source.at(()), "no topology", "a containerlab file with name and topology: nodes, links")
    draft.name = str(data.get("name") or "")
    draft.node_hint = _HINT
    _Reader(draft, source, topology).whole()


def _explain_template(text: str, error: TopologyError) -> TopologyError:
    """The error, with the remedy where the text is a template that containerlab fills in."""
    if "{{" not in text and "{%" not in text:
        return error
    first = error.problems[0]
    return refuse(first.where, f"{first.found} in a template", "the file that containerlab makes of it")


class _Reader:
    def __init__(self, draft: Draft, source: Document, topology: Mapping[str, object]) -> None:
        self.draft = draft
        self.source = source
        self.topology = topology
        self.draft.problems.extend(source.problems)
        self.members: dict[tuple[str, str], list[str]] = {}

    def mapping(self, data: object, location: Location) -> Mapping[str, object]:
        """``data`` as a mapping; nothing is an empty one, anything else a problem."""
        if data is not None and not isinstance(data, dict):
            self.draft.problem(self.source.at(location), describe_value(data), "a mapping (key: value)")
        return data if isinstance(data, dict) else {}

    def part(self, *keys: str) -> tuple[Mapping[str, object], Location]:
        """A mapping below ``topology`` and its location; an empty one where there is none."""
        found = self.topology
        here: Location = ("topology",)
        for key in keys:
            here = (*here, key)
            found = self.mapping(found.get(key), here)
        return found, here

    def whole(self) -> None:
        self.fabric()
        self.links()
        self.devices()
        for (section, name), members in self.members.items():
            key = "switches" if section == "mlag" else "members"
            self.draft.section(section, name, {key: ",".join(members)}, self.source.at(("topology", "nodes")))

    def links(self) -> None:
        links = self.topology.get("links")
        if links is not None and not isinstance(links, list):
            self.draft.problem(self.source.at(("topology", "links")), describe_value(links), "a list")
        for index, written in enumerate(links if isinstance(links, list) else []):
            self.link(written, ("topology", "links", index))

    def fabric(self) -> None:
        """Read the facts of the whole fabric: labels of ``defaults``."""
        labels = self.labels(*self.part("defaults"))
        for key, (text, where) in labels.items():
            section, _, name = key.partition(".")
            if key == "fabric":
                self.draft.name = text
            elif key == "mtu":
                self.draft.section("network", "mtu", _parse_plain(text), where)
            elif section == "vlan":
                self.draft.section("vlans", name, {"name": text}, where)
            elif key == "network.data":
                for each, value in self.mapping(_parse_plain(text), ("topology", "defaults", "labels")).items():
                    self.draft.section("network", each, value, where)
            elif section == "network":
                self.draft.section("networks", name, _parse_plain(text), where)

    def labels(self, written: Mapping[str, object], here: Location) -> dict[str, _Label]:
        """The labels of ours with their places, without the prefix; an unknown one is a problem."""
        found = {}
        for key, value in self.mapping(written.get("labels"), (*here, "labels")).items():
            short = key.removeprefix(PREFIX)
            if short == key or value is None:
                continue
            if short in _KNOWN or short.startswith(_NUMBERED):
                found[short] = (str(value), self.source.at((*here, "labels", key)))
            else:
                where = self.source.key_at((*here, "labels", key))
                self.draft.problem(where, f"the label {key!r}", "a label of ours", find_near(short, _KNOWN))
        return found

    def devices(self) -> None:
        """Every node of the lab as a device, once it is known to how many others each is cabled."""
        beside: dict[str, set[str]] = {}
        for cable in (each for each in self.draft.cables if each.a != each.b):
            beside.setdefault(cable.a, set()).add(cable.b)
            beside.setdefault(cable.b, set()).add(cable.a)
        names = self.part("nodes")[0]
        read = {name: levels for name in names if (levels := self.inherited(name)) is not None}
        taken = _sort_devices(read, beside)
        for name, levels in read.items():
            self.device(name, levels, *taken[self.named(name)])
        if len(beside) > 2 and not any(switch for switch, _ in taken.values()):
            self.draft.remark(f"no device is taken for a switch: the label {PREFIX}role: leaf makes one")

    def device(self, name: str, levels: "_Levels", switch: bool, by: str) -> None:
        where = self.source.key_at(("topology", "nodes", name))
        role, at = levels.labels.get("role", (None, where))
        if role is not None and role not in _ROLES:
            self.draft.problem(at, f"the role {role!r}", f"one of {', '.join(_ROLES)}", find_near(role, _ROLES))
        section, known = ("switches", SWITCH_LABELS) if switch else ("nodes", NODE_LABELS)
        fields: dict[str, object] = {}
        for label, key in known.items():
            if label in levels.labels:
                text, self.draft.places[section, name, key] = levels.labels[label]
                fields[key] = _parse_plain(text) if label in ("ports", "forwards") else text
        if "class" in fields:
            self.draft.section("classes", str(fields["class"]), {}, where)
        sign = by and (switch or levels.kind not in _ANY_KINDS)
        taken = f"taken for a {'switch' if switch else 'node'} by {by}" if sign else ""
        self.draft.device(DraftDevice(self.named(name), where, switch, role, taken=taken, fields=fields))
        self.grouped(self.named(name), levels.labels)

    def named(self, name: str) -> str:
        """A node as our file names it: a bridge within another node is ``BRIDGE|NODE`` in containerlab."""
        if "|" not in name:
            return name
        written = name.replace("|", "-")
        self.draft.remark(f"bridges within a node are named as our file allows it: {name} is {written}, and so on")
        return written

    def inherited(self, name: str) -> "_Levels | None":
        """The settings of a node: its own before its group's, its kind's and the defaults; None and a problem without
        a kind.
        """
        written, here = self.part("nodes", name)
        defaults = self.part("defaults")
        ordered = [self.part("groups", str(each)) for each in (written.get("group"), defaults[0].get("group")) if each]
        kind = next((level["kind"] for level, _ in ((written, here), *ordered, defaults) if level.get("kind")), None)
        if kind is None:
            self.draft.problem(
                self.source.key_at(here), f"no kind for {name}", "kind: linux, or another kind of containerlab"
            )
            return None
        of_kind = self.part("kinds", str(kind))
        group = written.get("group") or of_kind[0].get("group") or defaults[0].get("group")
        of_group = self.part("groups", str(group)) if group else ({}, here)
        levels = (defaults, of_kind, of_group, (written, here))
        labels: dict[str, _Label] = {}
        for level in levels:
            labels.update(self.labels(*level))
        image = next((str(level["image"]) for level, _ in reversed(levels) if level.get("image")), "")
        forwarding = (_FORWARDING.search(str(level.get(key, ""))) for level, _ in levels for key in _SETTINGS)
        sign = next((found for found in forwarding if found is not None), None)
        return _Levels(str(kind), image, labels, "" if sign is None else sign[1])

    def grouped(self, name: str, labels: Mapping[str, _Label]) -> None:
        for kind, section in (*GROUPS.items(), ("mlag", "mlag")):
            if kind in labels:
                group, where = labels[kind]
                model, _ = labels.get(f"{kind}-model", (None, where))
                self.draft.section(section, group, {} if model is None else {"model": model}, where)
                self.members.setdefault((section, group), []).append(name)
        text, where = labels.get("vlans", ("", self.source.at(())))
        for number in filter(None, (part.strip() for part in text.split(","))):
            self.draft.section("vlans", number, {}, where)
            self.members.setdefault(("vlans", number), []).append(name)

    def link(self, written: object, here: Location) -> None:
        link = self.mapping(written, here)
        kind = link.get("type", "brief")
        if kind in OUTSIDE:
            self.outside(here, str(kind))
            return
        if kind not in _WIRED:
            expected = f"one of {', '.join((*_WIRED[1:], *OUTSIDE))}"
            self.draft.problem(self.source.at((*here, "type")), f"the type {kind!r}", expected)
            return
        written_ends = link.get("endpoints")
        if not isinstance(written_ends, list) or len(written_ends) != 2:
            self.draft.problem(
                self.source.at((*here, "endpoints")), "no pair of endpoints", 'endpoints: ["a:eth1", "b:eth1"]'
            )
            return
        ends = [self.end(end, (*here, "endpoints", index)) for index, end in enumerate(written_ends)]
        if ends[0] is not None and ends[1] is not None:
            self.cable(ends[0], ends[1], link, here)

    def outside(self, here: Location, what: str) -> None:
        where = self.source.at(here)
        self.draft.remark(f"links that leave the lab are left out: {what} in line {where.line}, and so on")

    def end(self, written: object, here: Location) -> tuple[str, str] | None:
        """Device and interface; None and a problem, or a remark where it is outside the lab."""
        if isinstance(written, dict):
            device, interface = written.get("node"), written.get("interface")
        else:
            device, _, interface = str(written).partition(":")
        if isinstance(written, str) and device in OUTSIDE:
            self.outside(here, device)
            return None
        if not isinstance(device, str) or not isinstance(interface, str) or not device or not interface:
            self.draft.problem(self.source.at(here), f"{describe_value(written)} as an endpoint", "node:interface")
            return None
        if "{{" in f"{device}{interface}":
            self.draft.problem(
                self.source.at(here), f"a template, {device}:{interface}", "the file that containerlab makes of it"
            )
            return None
        return self.named(device), interface

    def cable(self, a: tuple[str, str], b: tuple[str, str], link: Mapping[str, object], here: Location) -> None:
        variables = self.mapping(link.get("vars"), (*here, "vars"))
        own = dict(self.mapping(variables.get("benchconsole"), (*here, "vars", "benchconsole")))
        taken = _TAKEN - {"count"} if own.get("count") == "unknown" else _TAKEN
        for key in own.keys() & taken:
            where = self.source.key_at((*here, "vars", "benchconsole", key))
            self.draft.problem(where, f"the key {key!r}", "what the endpoints do not say: speed, lag, hash ...")
            del own[key]
        joined = "lag" in own
        port_a, port_b = own.pop("from-port", a[1]), own.pop("to-port", b[1])
        speed, lag, standby = own.pop("speed", None), own.pop("lag", None), own.pop("standby", False)
        self.draft.cable(
            SourceCable(
                a[0], b[0], self.source.at(here),
                port_a=None if port_a is None else self.draft.port(str(port_a)),
                port_b=None if port_b is None else self.draft.port(str(port_b)),
                speed=None if speed is None else str(speed),
                lag=None if lag is None else str(lag),
                joined=joined,
                standby=standby is True,
                fields=own,
            )
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Levels:
    """Settings of a node by itself, its group, its kind and the defaults; ``forwarding`` is a setting by which it
    forwards for others, empty without one.
    """

    kind: str
    image: str
    labels: Mapping[str, _Label]
    forwarding: str


def _sort_devices(read: Mapping[str, _Levels], beside: Mapping[str, set[str]]) -> dict[str, tuple[bool, str]]:
    """Each node of the lab: whether it is a switch, and by what that was inferred; empty where the source says so.

    A container that neither its name nor its image tells is a switch where it joins others: three of them, or two of
    which one has no other neighbour. A node with two legs is cabled to switches, which have more.
    """
    found: dict[str, tuple[bool, str]] = {}
    left: list[str] = []
    for written, levels in read.items():
        name = written.replace("|", "-")
        role, _ = levels.labels.get("role", (None, None))
        if role is not None or levels.kind in NODE_KINDS - _ANY_KINDS:
            found[name] = (role in list(SwitchRole), "")
            continue
        if levels.kind not in _ANY_KINDS:
            host = levels.kind not in _BRIDGES and is_host(name)
            found[name] = (not host, "its name" if host else "")
            continue
        neighbours = len(beside.get(name, ()))
        switch, by = guess_switch(name, levels.image, neighbours)
        if switch is None and levels.forwarding and neighbours > 1:
            switch, by = True, f"its settings ({levels.forwarding})"
        found[name] = (switch is True, by)
        if switch is None:
            left.append(name)
    # Where no word tells a switch from a machine, "node" is a word for both.
    nameless = set() if any(switch for switch, _ in found.values()) else set(filter(is_any_device, found))
    for name in (*left, *nameless):
        near = beside.get(name, set())
        is_between = len(near) > 1 and any(len(beside[other]) == 1 for other in near) and name not in nameless
        if len(near) > 2 or is_between:
            found[name] = (True, f"its cables to {len(near)} devices")
    return found


def _parse_plain(text: str) -> object:
    """The value that a label holds as JSON; the text itself where it is none, to be refused where it matters."""
    try:
        return parse_json(text, "").data
    except TopologyError:
        return text
