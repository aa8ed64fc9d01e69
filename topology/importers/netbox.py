"""Reads the graph that nrx exports from NetBox (CYJS, the JSON of Cytoscape).

Its nodes are devices and interfaces, its edges join a device to its interfaces and two interfaces by a cable. ``speed``
is kb/s, as NetBox gives it. Source: nrx, "CYJS" output; NetBox REST API, dcim/interfaces.
"""

from collections.abc import Iterator, Mapping, Sequence

from benchconsole.topology.description.document import Document, Location
from benchconsole.topology.errors import Position, refuse
from benchconsole.topology.importers.bundles import SourceCable
from benchconsole.topology.importers.draft import Draft, DraftDevice
from benchconsole.topology.importers.json_text import parse_document
from benchconsole.topology.importers.roles import find_node_role, find_switch_role, is_switch
from benchconsole.topology.selection import NAME
from benchconsole.topology.units import UnitError, format_link_speed, parse_link_speed

_NOTHING = ("", "unknown", None)


def fill(draft: Draft) -> None:
    """Read one file. Raises TopologyError."""
    source = parse_document(draft.text, draft.file)
    elements = source.data.get("elements") if isinstance(source.data, dict) else None
    if not isinstance(elements, dict) or not isinstance(elements.get("nodes"), list):
        raise refuse(source.at(()), "no elements.nodes", "a graph in CYJS, as nrx writes it")
    draft.node_hint = "a device role such as server in NetBox makes a node, or add nodes and their links by hand"
    _Reader(draft, source, elements).whole()


class _Reader:
    """Walks one graph once. Vertices are known by their id, as text."""

    def __init__(self, draft: Draft, source: Document, elements: Mapping[str, object]) -> None:
        self.draft = draft
        self.source = source
        self.elements = elements
        self.draft.problems.extend(source.problems)
        self.draft.name = _find_graph_name(source.data)
        self.devices: dict[str, tuple[Mapping[str, object], Position]] = {}
        self.interfaces: dict[str, Mapping[str, object]] = {}

    def each(self, what: str) -> Iterator[tuple[Mapping[str, object], Location]]:
        items = self.elements.get(what)
        for index, item in enumerate(items if isinstance(items, list) else []):
            here: Location = ("elements", what, index)
            data = item.get("data") if isinstance(item, dict) else None
            if isinstance(data, dict):
                yield data, (*here, "data")
            else:
                self.draft.problem(self.source.at(here), "an element without data", '{"data": {...}}')

    def whole(self) -> None:
        for data, here in self.each("nodes"):
            self.vertex(data, here)
        edges = [(str(data.get("source")), str(data.get("target")), here) for data, here in self.each("edges")]
        owner = {
            interface: device
            for a, b, _ in edges
            for device, interface in ((a, b), (b, a))
            if device in self.devices and interface in self.interfaces
        }
        self.name_devices(edges, owner)
        for a, b, here in edges:
            if a in self.interfaces and b in self.interfaces:
                self.cable(a, b, owner, self.source.at(here))
            elif not (a in self.devices and b in self.interfaces) and not (b in self.devices and a in self.interfaces):
                self.draft.problem(
                    self.source.at(here), f"an edge from {a!r} to {b!r}", "device to interface, or a cable"
                )

    def vertex(self, data: Mapping[str, object], here: Location) -> None:
        kind = data.get("type")
        body = data.get(str(kind))
        vertex = str(data.get("id"))
        if kind not in ("device", "interface") or not isinstance(body, dict):
            self.draft.problem(self.source.at(here), f"a node of type {kind!r}", "device or interface")
        elif vertex in self.devices or vertex in self.interfaces:
            self.draft.problem(self.source.at(here), f"the id {vertex!r} a second time", "each id once")
        elif kind == "device":
            self.devices[vertex] = (body, self.source.at((*here, "device", "name")))
        else:
            self.interfaces[vertex] = body

    def name_devices(self, edges: Sequence[tuple[str, str, Location]], owner: Mapping[str, str]) -> None:
        """Add every device; one whose role says nothing is a node where all it is cabled to are switches."""
        switches = {vertex: is_switch(_find_role(body)) for vertex, (body, _) in self.devices.items()}
        beside: dict[str, set[str]] = {}
        for a, b, _ in edges:
            if a in owner and b in owner:
                beside.setdefault(owner[a], set()).add(owner[b])
                beside.setdefault(owner[b], set()).add(owner[a])
        for vertex, (body, where) in self.devices.items():
            switch, why = switches[vertex], "role inferred from the one in NetBox"
            if switch is None:
                switch = not all(switches[other] for other in beside.get(vertex, ()))
                why = f"taken for a {'switch' if switch else 'node'}: NetBox says {_find_role(body) or 'nothing'}"
            self.device(body, where, switch, why)

    def device(self, body: Mapping[str, object], where: Position, switch: bool, why: str) -> None:
        name = _name(body)
        found = find_switch_role(_find_role(body)) if switch else find_node_role(_find_role(body))
        fields: dict[str, object] = {}
        if switch and body.get("model_name") not in _NOTHING:
            fields["model"] = str(body["model_name"])
        address = str(body.get("primary_ip4") or "").partition("/")[0]
        if not switch and NAME.fullmatch(address):
            fields["address"] = address
        role = None if found is None else str(found)
        taken = why if why.startswith("taken") else ""
        self.draft.device(DraftDevice(name, where, switch, role, why if role and not taken else "", fields, taken))
        site = str(body.get("site") or "")
        if site and name in self.draft.devices:
            self.site(site, name, where)

    def site(self, site: str, member: str, where: Position) -> None:
        name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in site).strip("-")
        present = self.draft.sections.get("sites", {}).get(name)
        members = f"{present['members']},{member}" if isinstance(present, dict) else member
        self.draft.section("sites", name or "site", {"members": members}, where)

    def cable(self, a: str, b: str, owner: Mapping[str, str], where: Position) -> None:
        for vertex in (a, b):
            if vertex not in owner:
                name = _name(self.interfaces[vertex])
                self.draft.problem(where, f"the interface {name!r} of no device", "an edge from its device to it")
                return
        bodies = (self.interfaces[a], self.interfaces[b])
        speeds = [speed for speed in map(_format_speed, bodies) if speed is not None]
        lags = [lag for lag in map(_find_lag, bodies) if lag]
        self.draft.cable(
            SourceCable(
                _name(self.devices[owner[a]][0]), _name(self.devices[owner[b]][0]), where,
                port_a=self.draft.port(_name(bodies[0])),
                port_b=self.draft.port(_name(bodies[1])),
                speed=format_link_speed(min(speeds)) if speeds else None,
                lag=lags[0] if lags else None,
            )
        )  # fmt: skip


def _name(body: Mapping[str, object]) -> str:
    """The name of a device or an interface; empty, which is no name, where it has none."""
    found = body.get("name")
    return found if isinstance(found, str) else ""


def _find_role(body: Mapping[str, object]) -> str:
    found = body.get("role")
    return "" if found in _NOTHING else str(found)


def _format_speed(interface: Mapping[str, object]) -> float | None:
    """byte/s of an interface; NetBox keeps kb/s."""
    kilobits = interface.get("speed")
    if isinstance(kilobits, bool) or not isinstance(kilobits, int):
        return None
    try:
        return parse_link_speed(f"{kilobits} kb/s")
    except UnitError:
        return None  # a number that is no speed of a port


def _find_lag(interface: Mapping[str, object]) -> str | None:
    found = interface.get("lag")
    name = found.get("name") if isinstance(found, dict) else found
    return name if isinstance(name, str) and name else None


def _find_graph_name(data: object) -> str:
    """The name in ``"data": [["name", "dc1"]]``, which networkx writes so."""
    pairs = data.get("data") if isinstance(data, dict) else None
    for pair in pairs if isinstance(pairs, list) else []:
        if isinstance(pair, list) and len(pair) == 2 and pair[0] == "name" and isinstance(pair[1], str):
            return pair[1]
    return ""
