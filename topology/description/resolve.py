"""Reads a topology file into one frozen Fabric, or raises one error that lists every problem: nothing is guessed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from types import MappingProxyType

from benchconsole.topology.collector import pause_collector
from benchconsole.topology.copying import replace
from benchconsole.topology.description import raw
from benchconsole.topology.description.addresses import NodeAddresses, find_bad_address
from benchconsole.topology.description.ceilings import read_ceilings
from benchconsole.topology.description.claims import list_scopes, read_claims
from benchconsole.topology.description.criterion_declarations import CriterionReader
from benchconsole.topology.description.declarations import Declarations, read_rules, resolve_hardware
from benchconsole.topology.description.document import Document, Location, ProblemReport, read, read_text
from benchconsole.topology.description.forwarding import resolve_tables
from benchconsole.topology.description.grouping import Grouping, resolve_cohorts
from benchconsole.topology.description.names import DeviceNames
from benchconsole.topology.description.networks import list_hashes, resolve_networks
from benchconsole.topology.description.permissions import Allowances
from benchconsole.topology.description.reported_declarations import ReportedReader
from benchconsole.topology.description.storage_declarations import StorageReader
from benchconsole.topology.description.templates import fold_problems, unfold
from benchconsole.topology.description.validate import validate
from benchconsole.topology.description.vocabulary import ReadVocabulary
from benchconsole.topology.description.wiring import Wiring
from benchconsole.topology.errors import Problem, SelectionError, TopologyError, find_near
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import Fabric, Hardware, Node, NodeId, NodeRole, Switch, SwitchId, SwitchRole
from benchconsole.topology.model.network import DATA
from benchconsole.topology.model.port_set import PortSet
from benchconsole.topology.model.storage import Storage
from benchconsole.topology.selection import expand_ports
from benchconsole.topology.units import parse_link_speed

_NO_HARDWARE = Hardware("unclassed")

Show = Callable[[Fabric], None]
"""Told the nodes, switches and links of a file before the rest of it is read, where nothing was wrong so far."""


class _Resolver:
    """Builds the parts in the order in which they refer to each other."""

    def __init__(self, document: Document, written: raw.RawTopology) -> None:
        self.document = document
        self.written = written
        self.report = ProblemReport(document)
        self.names = DeviceNames(self.report)
        self.allowances = Allowances(self.names)
        self.addressed: dict[str, str] = {}
        self.node_addresses = NodeAddresses(self.names)

    def resolve_switches(self) -> None:
        for text, written in self.written.switches.items():
            location = ("switches", text)
            ports = tuple(self.ports(written.ports, (*location, "ports")))
            for name in self.names.expanded(text, location, key=True):
                if self.names.claim(name, location):
                    switch = Switch(SwitchId(name), SwitchRole(written.role), written.model, ports)
                    self.names.switches[switch.id] = switch

    def ports(self, written: int | dict[str, raw.RawPorts | raw.Quantity] | None, here: Location) -> Iterator[PortSet]:
        """The declared ports of a set of switches; numbered from 1 where only their number is given."""
        if isinstance(written, int):
            yield PortSet(tuple(str(number) for number in range(1, written + 1)))
        for text, each in written.items() if isinstance(written, dict) else ():
            asked = each if isinstance(each, raw.RawPorts) else raw.RawPorts(speed=each)
            speed = self.report.quantity(asked.speed, (*here, text), parse_link_speed)
            try:
                yield PortSet(tuple(expand_ports(text)), speed, asked.breakout)
            except SelectionError as error:
                self.report.add_key((*here, text), str(error), "port names such as Eth[1-48]")

    def resolve_nodes(self) -> None:
        classes = {name: resolve_hardware(name, each, self.report) for name, each in self.written.classes.items()}
        for text, written in self.written.nodes.items():
            location = ("nodes", text)
            names = self.names.expanded(text, location, key=True)
            kind = classes.get(written.class_) if written.class_ else _NO_HARDWARE
            if kind is None:
                found = f"unknown class {written.class_!r}"
                hint = find_near(str(written.class_), classes)
                self.report.add((*location, "class"), found, "a class of this file", hint)
                kind = _NO_HARDWARE
            role = NodeRole(written.role)
            addresses = self.addresses(written.address, (*location, "address"), names) or names
            data = self.addresses(written.data_address, (*location, "data_address"), names)
            for place, each in written.addresses.items():
                here: Location = (*location, "addresses", place)
                for key, own in self.place_addresses(place, each, here, names):
                    self.node_addresses.state(key, names, own, here)
            if data:
                self.node_addresses.state_data(names)
            # A file has a hundred thousand nodes: what those of a set have in common is looked up once.
            make = partial(
                Node,
                forwards=written.forwards,
                production=written.production,
                blank_disks=self.allowances.blank_disks(written, names, location),
            )
            for name, address, data_address in self.keep_new(names, addresses, data or addresses, location):
                self.names.nodes[name] = make(name, role, kind, address, data_address)
        guests = {text: each.host for text, each in self.written.nodes.items() if each.host is not None}
        members = {text: self.names.quietly(text) for text in guests}
        virtual = {name for names in members.values() for name in names}
        for text, hosts in guests.items():
            machines = [name for name in members[text] if name in self.names.nodes]
            self.resolve_hosts(machines, hosts, ("nodes", text, "host"), virtual)

    def resolve_hosts(self, machines: list[NodeId], hosts_text: str, location: Location, virtual: set[NodeId]) -> None:
        nodes = self.names.nodes
        hosts = self.names.node_ids(hosts_text, location)
        for name, host in zip(machines, _share_out(hosts, len(machines)), strict=False):
            if host in virtual:
                self.report.add(location, f"the host {host} of {name}", "a machine that is no virtual machine itself")
                return
            nodes[name] = replace(nodes[name], host=host)

    def place_addresses(
        self, place: str, text: str, here: Location, names: list[str]
    ) -> Iterator[tuple[str, list[str]]]:
        """The addresses of nodes in a network, or of each port of a set: first those of its first port."""
        if place == DATA or place in self.written.networks:
            yield place, self.addresses(text, here, names)
            return
        try:
            ports = expand_ports(place)
        except SelectionError as error:
            self.report.add_key(here, str(error), "a network, or ports such as p[1-8]")
            return
        every = [f"{name}:{port}" for port in ports for name in names] if len(ports) > 1 else names
        found = self.addresses(text, here, every)
        for index, port in enumerate(ports if found else ()):
            yield port, found[index * len(names) : (index + 1) * len(names)]

    def addresses(self, text: str | None, location: Location, names: list[str]) -> list[str]:
        if text is None:
            return []
        found = self.names.expand_addresses(text, location)
        if found and len(found) != len(names):
            self.report.add(location, f"{len(found)} addresses for {len(names)} nodes", "one address for each node")
            return []
        bad = find_bad_address(found)
        if bad is not None:
            self.report.add(location, f"the address {bad}", "four numbers from 0 to 255")
        return found

    def keep_new(
        self, names: Sequence[str], addresses: Sequence[str], data: Sequence[str], location: Location
    ) -> Iterable[tuple[NodeId, str, str]]:
        """The nodes of a set whose names and addresses no other has; a problem for each of the others."""
        members = zip(map(NodeId, names), addresses, data, strict=True)
        alone = self.addressed.keys().isdisjoint(addresses) and len(set(addresses)) == len(names)
        if alone and self.names.claim_all(names, location):
            self.addressed.update(zip(addresses, names, strict=True))
            return members
        here: Location = (*location, "address")
        return [
            each for each in members if self.names.claim(each[0], location) and self.unshared(each[1], each[0], here)
        ]

    def unshared(self, address: str, name: str, location: Location) -> bool:
        other = self.addressed.setdefault(address, name)
        if other != name:
            self.report.add(location, f"the address {address} of {other} again for {name}", "each address once")
        return other == name

    def ask_servers(self, system: Storage, sheet: Mapping[str, raw.Scalar]) -> None:
        """Lines of a fact sheet with the whole name of a fact are asked of each server, beside what its class asks."""
        here: Location = ("storage", system.name, "facts")
        asked = {fact: value for fact, value in sheet.items() if "." in fact}
        nodes = self.names.nodes
        for server in map(NodeId, system.servers if asked else ()):
            hardware = nodes[server].hardware
            before = len(self.report.problems)
            rules = read_rules(asked, here, {*hardware.facts, *hardware.rules}, self.report)
            if len(self.report.problems) > before:
                return
            nodes[server] = replace(
                nodes[server], hardware=replace(hardware, rules=MappingProxyType({**hardware.rules, **rules}))
            )

    def access(self, folder: Path) -> Access:
        written = self.written.ssh or raw.RawAccess()
        paths = (written.config, written.known_hosts, written.identity)
        absolute = (None if path is None else str((folder / Path(path).expanduser()).absolute()) for path in paths)
        return Access(written.user, written.port, *absolute)

    def fabric(self, path: Path, read_vocabulary: ReadVocabulary | None, show: Show | None) -> Fabric:
        written, names = self.written, self.names
        self.resolve_switches()
        self.resolve_nodes()
        grouping = Grouping(written, names)
        wiring = Wiring(names, resolve_networks(written, self.report), list_hashes(written))
        for index, each in enumerate(written.links):
            if each is not None:
                wiring.add(index, each)
        self.node_addresses.resolve(wiring.links, wiring.networks)
        placed, vlans, pairs = tuple(grouping.groups()), grouping.vlans(), grouping.mlags(wiring.links)
        storage = StorageReader(names)
        systems = {name: storage.system(name, system) for name, system in written.storage.items()}
        for name, system in systems.items():
            self.ask_servers(system, written.storage[name].facts)
        fabric = Fabric(
            name=written.fabric,
            nodes=MappingProxyType(names.nodes),
            switches=MappingProxyType(names.switches),
            links=MappingProxyType(wiring.links),
            criteria=(),
            suites={},
            access=self.access(path.parent),
            mtu=wiring.networks[DATA].mtu,
            text=self.document.text,
            simulated=written.simulated,
            file=str(path),
            networks=MappingProxyType(wiring.networks),
            groups=placed,
            mlags=tuple(pairs),
            vlans=MappingProxyType(vlans),
            storage=MappingProxyType(systems),
            ceilings=MappingProxyType(read_ceilings(written, names, wiring.links)),
            parameters=MappingProxyType(dict(written.parameters)),
            caps=self.allowances.caps(written.caps, tuple(systems)),
            places=MappingProxyType(names.places),
            tables=resolve_tables(written, names, wiring.links, self.report),
        )
        if show is not None and not self.report.problems:
            show(fabric)
        names_metrics = written.criteria or written.suites or written.reported
        vocabulary = read_vocabulary() if read_vocabulary is not None and names_metrics else None
        declared = Declarations(self.report, names.nodes, fabric, vocabulary, tuple(written.cohorts))
        for node, labels in resolve_cohorts(written, self.report, declared.chosen).items():
            names.nodes[node] = replace(names.nodes[node], cohorts=labels)
        reader = CriterionReader(declared, systems)
        criteria = [reader.read(index, item) for index, item in enumerate(written.criteria) if item is not None]
        scopes = list_scopes(written, [*names.switches])
        return replace(
            fabric,
            claims=tuple(read_claims(written.stated, self.report, scopes, declared.chosen)),
            reported=tuple(ReportedReader(declared).results(written.reported)),
            criteria=tuple(item for item in criteria if item is not None),
            suites=MappingProxyType({name: declared.suite(name, stages) for name, stages in written.suites.items()}),
        )


def load(
    path: Path | str, vocabulary: ReadVocabulary | None = None, parameters: Mapping[str, int] | None = None,
    show: Show | None = None,
) -> Fabric:  # fmt: skip
    """Read, check and resolve one topology file. Raises TopologyError with every problem, in file order.

    With ``vocabulary`` the metrics and probes that it names are checked too; it is read where the file names any.
    ``parameters`` replace those of the file. ``show`` is told its fabric without criteria, suites, claims and cohorts
    before these and the vocabulary are read.
    """
    path = Path(path)
    return resolve(read(path), path, vocabulary, parameters, show)


def load_text(
    text: str, path: Path | str, vocabulary: ReadVocabulary | None = None, parameters: Mapping[str, int] | None = None
) -> Fabric:
    """The same for a text that was read from ``path`` once, as the store keeps it."""
    return resolve(read_text(text, str(path)), Path(path), vocabulary, parameters)


def _share_out(hosts: Sequence[NodeId], number: int) -> Iterator[NodeId]:
    """The host of each of ``number`` machines in order: as many on each, one more on the first where some are left."""
    each, left = divmod(number, max(len(hosts), 1))
    for place, host in enumerate(hosts):
        yield from repeat(host, each + (place < left))


@pause_collector()
def resolve(
    document: Document,
    path: Path,
    vocabulary: ReadVocabulary | None = None,
    parameters: Mapping[str, int] | None = None,
    show: Show | None = None,
) -> Fabric:
    """The fabric that ``document`` describes, whichever format it was read from. Raises TopologyError."""
    document = unfold(document, parameters)
    written, problems = validate(document, raw.RawTopology, "schema, fabric, nodes, links")
    problems = [*document.problems, *problems]
    if written is None:
        raise TopologyError(fold_problems(problems))
    resolver = _Resolver(document, written)
    fabric = resolver.fabric(path, vocabulary, None if problems else show)
    problems = [*problems, *resolver.report.problems, *_find_gaps(document, resolver.report)]
    if not fabric.nodes and not fabric.switches and not problems:
        resolver.report.add_key(("nodes",), "no node", "at least one node, or a switch")
        problems = resolver.report.problems
    if problems:
        raise TopologyError(fold_problems(problems))
    return fabric


def _find_gaps(document: Document, report: ProblemReport) -> list[Problem]:
    """Empty list items, which say nothing and were surely meant to."""
    found = ProblemReport(report.document)
    data = document.data if isinstance(document.data, dict) else {}
    lists: dict[Location, object] = {(name,): data.get(name) for name in ("links", "criteria", "stated", "reported")}
    nodes = data.get("nodes")
    for name, entry in nodes.items() if isinstance(nodes, dict) else ():
        if isinstance(entry, dict):
            lists["nodes", name, "blank_disks"] = entry.get("blank_disks")
    lists.update(_list_axes(data.get("suites")))
    for location, items in lists.items():
        for index, item in enumerate(items if isinstance(items, list) else []):
            if item is None:
                found.add((*location, index), "an empty list item", "a mapping, or no dash")
    return found.problems


def _list_axes(suites: object) -> Iterator[tuple[Location, object]]:
    for name, stages in suites.items() if isinstance(suites, dict) else ():
        for index, stage in enumerate(stages if isinstance(stages, list) else ()):
            sweep = stage.get("sweep") if isinstance(stage, dict) else None
            for axis, values in sweep.items() if isinstance(sweep, dict) else ():
                yield ("suites", name, index, "sweep", axis), values
