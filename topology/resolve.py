"""Owns the way from a topology file to one frozen Fabric, or to one error that lists every problem.

Refuses to guess: an unknown device, a name used twice, a speed without a unit or a set of
addresses that does not fit its nodes are all reported with their position.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from topology import raw
from topology.declared import Declarations, Report, hardware
from topology.errors import Problem, SelectionError, TopologyError
from topology.importers.native import Document, Location, parse, read
from topology.model import (
    Access,
    Fabric,
    Hardware,
    Link,
    LinkId,
    Node,
    NodeId,
    NodeRole,
    Switch,
    SwitchId,
    SwitchRole,
)
from topology.selection import expand, groups, near
from topology.units import parse_link_speed
from topology.validate import validate
from topology.vocabulary import Vocabulary

_NO_HARDWARE = Hardware("unclassed")


class _Resolver:
    """Builds the parts in the order in which they refer to each other."""

    def __init__(self, document: Document, written: raw.RawTopology) -> None:
        self.document = document
        self.written = written
        self.report = Report(document, [])
        self.nodes: dict[NodeId, Node] = {}
        self.switches: dict[SwitchId, Switch] = {}
        self.links: dict[LinkId, Link] = {}
        self.named: dict[str, Location] = {}
        self.addressed: dict[str, str] = {}

    def names(self, text: str, location: Location, *, key: bool = False) -> list[str]:
        """Expand a node set of the file; a problem and no names when it is malformed."""
        try:
            return expand(text)
        except SelectionError as error:
            add = self.report.add_key if key else self.report.add
            add(location, str(error), "names such as n[01-16]")
            return []

    def claim(self, name: str, location: Location) -> bool:
        """Whether ``name`` is new; else a problem that tells where it was first used."""
        if name in self.named:
            line = self.document.key_at(self.named[name]).line
            self.report.add_key(location, f"the name {name!r} a second time (first in line {line})", "each name once")
            return False
        self.named[name] = location
        return True

    def resolve_switches(self) -> None:
        for text, written in self.written.switches.items():
            location = ("switches", text)
            for name in self.names(text, location, key=True):
                if self.claim(name, location):
                    self.switches[SwitchId(name)] = Switch(SwitchId(name), SwitchRole(written.role), written.model)

    def resolve_classes(self) -> dict[str, Hardware]:
        return {name: hardware(name, written, self.report) for name, written in self.written.classes.items()}

    def resolve_nodes(self) -> None:
        classes = self.resolve_classes()
        for text, written in self.written.nodes.items():
            location = ("nodes", text)
            names = self.names(text, location, key=True)
            kind = classes.get(written.class_) if written.class_ else _NO_HARDWARE
            if kind is None:
                found = f"unknown class {written.class_!r}"
                hint = near(str(written.class_), classes)
                self.report.add((*location, "class"), found, "a class of this file", hint)
                kind = _NO_HARDWARE
            addresses = self.addresses(written.address, (*location, "address"), names) or names
            data = self.addresses(written.data_address, (*location, "data_address"), names) or addresses
            for name, address, data_address in zip(names, addresses, data, strict=True):
                if self.claim(name, location) and self.unshared(address, name, (*location, "address")):
                    node = Node(NodeId(name), NodeRole(written.role), kind, address, data_address)
                    self.nodes[node.id] = node

    def addresses(self, text: str | None, location: Location, names: list[str]) -> list[str]:
        """One address for each name, or none where nothing usable was written."""
        if text is None:
            return []
        found = self.names(text, location)
        if found and len(found) != len(names):
            self.report.add(location, f"{len(found)} addresses for {len(names)} nodes", "one address for each node")
            return []
        return found

    def unshared(self, address: str, name: str, location: Location) -> bool:
        """Whether no other node has this address."""
        other = self.addressed.setdefault(address, name)
        if other != name:
            self.report.add(location, f"the address {address} of {other} again for {name}", "each address once")
        return other == name

    def devices(self, text: str, location: Location) -> list[str]:
        """The devices named by one end of a link; unknown ones are problems."""
        found = []
        for name in self.names(text, location):
            if name in self.nodes or name in self.switches:
                found.append(name)
            elif name not in self.named:
                known = [*self.nodes, *self.switches]
                self.report.add(
                    location, f"unknown device {name!r}", "a node or switch of this file", near(name, known)
                )
        return found

    def resolve_links(self) -> None:
        for index, written in enumerate(self.written.links):
            location = ("links", index)
            if written is None:
                continue
            speed = self.report.quantity(written.speed, (*location, "speed"), parse_link_speed)
            lower = self.devices(written.from_, (*location, "from"))
            upper = self.devices(written.to, (*location, "to"))
            for a in lower:
                for b in upper:
                    self.cable(a, b, speed or 1.0, written.count, location)

    def cable(self, a: str, b: str, speed: float, count: int, location: Location) -> None:
        """Add one link, lower end first."""
        if a == b:
            self.report.add(location, f"a link from {a} to itself", "two different devices")
            return
        if self.tier(b) < self.tier(a):
            a, b = b, a
        link = Link(LinkId(f"{a}--{b}"), a, b, speed, count)
        if link.id in self.links:
            expected = "each link once (parallel cables are one link with a count)"
            self.report.add(location, f"a second link from {a} to {b}", expected)
            return
        self.links[link.id] = link

    def tier(self, device: str) -> int:
        switch = self.switches.get(SwitchId(device))
        return switch.role.tier if switch else 0

    def access(self, folder: Path) -> Access:
        written = self.written.ssh
        if written is None:
            return Access()

        def absolute(path: str | None) -> str | None:
            return None if path is None else str((folder / Path(path).expanduser()).absolute())

        return Access(
            written.user,
            written.port,
            absolute(written.config),
            absolute(written.known_hosts),
            absolute(written.identity),
        )

    def declarations(self, vocabulary: Vocabulary | None) -> Declarations:
        attached: dict[str, list[str]] = {}
        for link in self.links.values():
            if link.a in self.nodes:
                attached.setdefault(link.b, []).append(link.a)
        known = groups({node.id: (node.role.value, node.hardware.name) for node in self.nodes.values()}, attached)
        return Declarations(self.report, self.nodes, known, vocabulary)


def load(path: Path | str, vocabulary: Vocabulary | None = None) -> Fabric:
    """Read, check and resolve one topology file.

    With ``vocabulary`` the metrics and probes that the file names are checked too. Raises
    TopologyError with every problem, in file order.
    """
    path = Path(path)
    return _resolve(read(path), path, vocabulary)


def load_text(text: str, path: Path | str, vocabulary: Vocabulary | None = None) -> Fabric:
    """The same for a text that was read from ``path`` once, as the store keeps it."""
    return _resolve(parse(text, str(path)), Path(path), vocabulary)


def _resolve(document: Document, path: Path, vocabulary: Vocabulary | None) -> Fabric:
    written, problems = validate(document)
    problems = [*document.problems, *problems]
    if written is None:
        raise TopologyError(problems)
    return _fabric(path, document, written, problems, vocabulary)


def _fabric(
    path: Path, document: Document, written: raw.RawTopology, problems: list[Problem], vocabulary: Vocabulary | None
) -> Fabric:
    resolver = _Resolver(document, written)
    resolver.resolve_switches()
    resolver.resolve_nodes()
    resolver.resolve_links()
    declared = resolver.declarations(vocabulary)
    criteria = [declared.criterion(index, item) for index, item in enumerate(written.criteria) if item is not None]
    suites = {name: declared.suite(name, stages) for name, stages in written.suites.items()}
    problems = [*problems, *resolver.report.problems, *_gaps(document, resolver.report)]
    if not resolver.nodes and not problems:
        resolver.report.add_key(("nodes",), "no node", "at least one node")
        problems = resolver.report.problems
    if problems:
        raise TopologyError(problems)
    return Fabric(
        name=written.fabric,
        nodes=MappingProxyType(resolver.nodes),
        switches=MappingProxyType(resolver.switches),
        links=MappingProxyType(resolver.links),
        criteria=tuple(item for item in criteria if item is not None),
        suites=MappingProxyType(suites),
        access=resolver.access(path.parent),
        mtu=written.network.mtu if written.network else 1500,
        text=document.text,
        simulated=written.simulated,
        file=str(path),
    )


def _gaps(document: Document, report: Report) -> list[Problem]:
    """Empty list items, which say nothing and were surely meant to."""
    found = Report(report.document, [])
    data = document.data if isinstance(document.data, dict) else {}
    lists: Mapping[Location, object] = {("links",): data.get("links"), ("criteria",): data.get("criteria")}
    for location, items in lists.items():
        for index, item in enumerate(items if isinstance(items, list) else []):
            if item is None:
                found.add((*location, index), "an empty list item", "a mapping, or no dash")
    return found.problems
