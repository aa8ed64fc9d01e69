"""Ceiling of each storage system: the smallest of its layers, for each operation and set of clients.

Layers of the network are computed: all clients read from, or write to, all servers at once
(``topology.analysis.fan_in``, model ``fluid``), and each layer is what these flows would get if it alone
limited them. A measured or declared ceiling is taken as it is. A layer that is not described has no ceiling.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from benchconsole.topology.analysis.fan_in import (
    GATEWAYS,
    SERVER_PORTS,
    FanIn,
    Pattern,
    Sorts,
    group_nodes,
    list_port_rates,
    machines_of,
)
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.capacity.expect import MODEL
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.storage import Clients, Storage
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.selection import fold
from benchconsole.topology.units import storage_rate

ROUNDING = 0.005
"""Documents give three digits; only what differs by more than that contradicts."""
NETWORK = "network"
"""Name of the layer that was measured between clients and servers."""


class Origin(StrEnum):
    """Where the rate of a layer is known from."""

    COMPUTED = "computed"
    MEASURED = "measured"
    DECLARED = "declared"
    STATED = "stated"


@dataclass(frozen=True, slots=True)
class LayerCeiling:
    """One layer of a storage system as one operation sees it.

    ``rate`` is byte/s of payload over all of its units and ``detail`` what it was made from.
    ``network`` tells the layers above the servers from those below.
    """

    name: str
    rate: float
    origin: Origin
    model: str
    detail: str
    network: bool


@dataclass(frozen=True, slots=True)
class UnknownLayer:
    """A layer that is not known, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The ceiling of one operation: its known layers from the clients to the disks, and those that are missing.

    Rates are byte/s, None where no layer is known. ``required`` must be reached and ``target`` should be; ``stated``
    is what the documents take the ceiling to be.
    """

    operation: str
    parts: tuple[LayerCeiling, ...]
    missing: tuple[UnknownLayer, ...]
    required: float | None
    target: float | None
    stated: LayerCeiling | None = None

    @property
    def ranking(self) -> tuple[LayerCeiling, ...]:
        """The layers from the smallest; of equal ones the first on the way."""
        return tuple(sorted(self.parts, key=lambda part: part.rate))

    @property
    def limiting(self) -> LayerCeiling | None:
        """The smallest layer."""
        return next(iter(self.ranking), None)

    @property
    def second(self) -> LayerCeiling | None:
        """The second smallest layer: how far a better first would lead."""
        return next(iter(self.ranking[1:]), None)

    @property
    def value(self) -> float | None:
        """The ceiling."""
        return self.lowest(self.parts)

    @property
    def network(self) -> float | None:
        """The smallest layer above the servers, their ports included."""
        return self.lowest(part for part in self.parts if part.network)

    @property
    def disk(self) -> float | None:
        """The smallest layer below the servers."""
        return self.lowest(part for part in self.parts if not part.network)

    @staticmethod
    def lowest(parts: Iterable[LayerCeiling]) -> float | None:
        """The least rate of ``parts``, None without any."""
        return min((part.rate for part in parts), default=None)


@dataclass(frozen=True, slots=True)
class GroupCeilings:
    """The ceilings of one storage system for one set of clients (its name; empty where none is described)."""

    storage: str
    clients: str
    read: Ceiling
    write: Ceiling

    def of(self, operation: str) -> Ceiling:
        """``read`` or ``write``."""
        return self.read if operation == "read" else self.write


def name_operation(metric: str, labels: Iterable[tuple[str, str]]) -> str:
    """``read`` or ``write`` where the label or the name of a metric says so, else empty."""
    said = dict(labels).get("operation", metric.partition(".")[2])
    return said if said in ("read", "write") else ""


def find_only_system(fabric: Fabric, nodes: Iterable[str]) -> Storage | None:
    """The one storage system of which all of ``nodes`` are clients; None of none and of several."""
    every = set(nodes)
    found = [each for each in fabric.storage.values() if any(every <= set(own.nodes) for own in each.clients)]
    return found[0] if len(found) == 1 else None


def list_ceilings(
    groups: Iterable[GroupCeilings], system: Storage, nodes: Iterable[str], operation: str
) -> Iterator[Ceiling]:
    """The ceilings, of those of ``compute_ceilings``, of each set of clients that all of ``nodes`` belong to."""
    every = set(nodes)
    members = {each.name: each.nodes for each in system.clients}
    for group in groups if operation else ():
        if group.storage == system.name and group.clients in members and every <= set(members[group.clients]):
            yield group.of(operation)


def compute_ceilings(fabric: Fabric) -> tuple[GroupCeilings, ...]:
    """The ceilings of every set of clients of every storage system of ``fabric``, in file order."""
    if not fabric.storage:
        return ()
    routes = Routes(fabric)
    cases = (
        _Case(fabric, routes, system, clients)
        for system in fabric.storage.values()
        for clients in system.clients or (Clients("", ()),)
    )
    return tuple(
        GroupCeilings(case.system.name, case.clients.name, case.ceiling("read"), case.ceiling("write"))
        for case in cases
    )


@dataclass(frozen=True)
class _Case:
    """One storage system and one set of its clients."""

    fabric: Fabric
    routes: Routes
    system: Storage
    clients: Clients

    @cached_property
    def sorts(self) -> Sorts:
        """The kinds of clients and servers, found once for both operations."""
        return group_nodes(self.fabric, self.clients.nodes, self.system.servers)

    def ceiling(self, operation: str) -> Ceiling:
        """Every layer that is known or missed, on the way from the clients to the disks."""
        copies = self.system.replicas if operation == "write" else 1
        found = list(self.cables(operation, copies))
        measured = self.clients.network.of(operation)
        if measured is not None:
            found.append(LayerCeiling(NETWORK, measured, Origin.MEASURED, "as measured", "", True))
        found += [*self.interconnect(copies), *self.layers(operation, copies)]
        parts = [each for each in found if isinstance(each, LayerCeiling)]
        parts += self.one_by_one(parts, operation, copies)
        value = Ceiling.lowest(parts)
        claimed = self.clients.stated.of(operation)
        stated = None
        if claimed is not None:
            stated = LayerCeiling("ceiling", claimed, Origin.STATED, "as stated", self.clients.source, False)
        return Ceiling(
            operation=operation,
            parts=tuple(parts),
            missing=tuple(each for each in found if isinstance(each, UnknownLayer)),
            required=None if value is None else value * self.system.required,
            target=None if value is None else value * self.system.target,
            stated=stated,
        )

    def cables(self, operation: str, copies: int) -> Iterator[LayerCeiling | UnknownLayer]:
        """The ceilings of the cabling, by kind of link; the servers' ports alone where no path can be followed."""
        clients, servers = self.clients.nodes, self.system.servers
        absent = [what for what, nodes in (("clients", clients), ("servers", servers)) if not nodes]
        loose = [node for node in (*clients, *servers) if not self.fabric.legs(node)]
        if absent:
            why = f"no {' and no '.join(absent)} described"
        elif loose:
            why = f"{fold(loose)} not described as cabled"
        else:
            pattern = Pattern(clients, servers, operation == "write", self.system.striped, copies)
            try:
                yield from self.by_links(FanIn(self.fabric, self.routes, pattern, self.sorts))
                return
            except RoutingError as error:
                why = str(error)
        yield UnknownLayer("clients to servers", why)
        rates = list_port_rates(self.fabric, servers)
        if rates and all(rates):
            total = min(rates) * len(rates) if self.system.striped else sum(rates)
            yield LayerCeiling(
                SERVER_PORTS, total / copies, Origin.COMPUTED, "sum of ports", _describe_ports(rates), True
            )

    def by_links(self, flows: FanIn) -> Iterator[LayerCeiling | UnknownLayer]:
        """Each kind of link, and the gateways that the description names but paths leave out."""
        crossed: set[str] = set()
        for name, rate in flows.layers(self.clients.gateways):
            crossed.add(name)
            yield LayerCeiling(name, rate, Origin.COMPUTED, MODEL, "", True)
        if not crossed:
            yield UnknownLayer("clients to servers", "every path stays inside one machine")
        elif self.clients.gateways and GATEWAYS not in crossed:
            yield UnknownLayer(GATEWAYS, f"not every path crosses {fold(self.clients.gateways)}: do they forward?")

    def interconnect(self, copies: int) -> Iterator[LayerCeiling | UnknownLayer]:
        """The rate of the servers' interconnect: the best ping-pong of two hosts, else the stated speed."""
        joined, servers = self.system.interconnect, len(self.system.servers)
        best = joined.pingpong or joined.speed
        if best is None:
            return
        name = " ".join(word for word in ("interconnect", joined.kind) if word)
        if not servers:
            yield UnknownLayer(name, "no servers described")
            return
        origin, what = (Origin.MEASURED, "ping-pong") if joined.pingpong else (Origin.DECLARED, "speed")
        detail = f"{servers} servers x {what} {storage_rate(best)}"
        yield LayerCeiling(name, best * servers / copies, origin, "servers x rate", detail, True)

    def layers(self, operation: str, copies: int) -> Iterator[LayerCeiling | UnknownLayer]:
        """The declared layers; each copy of what is written takes its share of them."""
        for layer in self.system.layers:
            rate = layer.rates.of(operation)
            if rate is None:
                yield UnknownLayer(layer.name, f"{operation} rate of {layer.name}")
                continue
            detail = f"{layer.units} x {storage_rate(rate)}" + (f" ({layer.source})" if layer.source else "")
            yield LayerCeiling(layer.name, layer.units * rate / copies, Origin.DECLARED, "units x rate", detail, False)
        if not self.system.layers:
            yield UnknownLayer("disks", "nothing described below the servers")

    def one_by_one(self, parts: Sequence[LayerCeiling], operation: str, copies: int) -> Iterator[LayerCeiling]:
        """Each server as fast as its slowest part, summed, where that is less than every layer by itself.

        A layer with a whole number of units for each server is taken to be shared out evenly. Not
        for striped systems, whose slowest server paces the layer of ports already, nor where
        clients have a part of the data on their own machine.
        """
        rates = list_port_rates(self.fabric, self.system.servers)
        asking, serving = (machines_of(self.fabric, nodes) for nodes in (self.clients.nodes, self.system.servers))
        if self.system.striped or not rates or not all(rates) or asking & serving:
            return
        own = [self.system.interconnect.pingpong or math.inf]
        for layer in self.system.layers:
            rate = layer.rates.of(operation)
            if rate is not None and layer.units % len(rates) == 0:
                own.append(rate * layer.units / len(rates))
        total = sum(min(rate, *own) for rate in rates) / copies
        if total < (Ceiling.lowest(parts) or 0.0) * (1.0 - 1e-9):
            yield LayerCeiling(
                "servers one by one", total, Origin.COMPUTED, "sum of minima", _describe_ports(rates), False
            )


def _describe_ports(rates: Sequence[float]) -> str:
    """``13 x 125 MB/s, 1 x 1.25 GB/s``."""
    return ", ".join(f"{number} x {storage_rate(rate)}" for rate, number in Counter(rates).items())


def list_findings(groups: Sequence[GroupCeilings]) -> Iterator[StaticFinding]:
    """Stated ceilings that differ from the layers, measurements above them, and what is not known."""
    for group in groups:
        for ceiling in (group.read, group.write):
            title = " ".join(word for word in (group.storage, group.clients, ceiling.operation) if word)
            yield from _describe_stated(group.storage, title, ceiling)
            yield from _describe_faster(group.storage, title, ceiling)
    # The missing layers, once for the groups of a system that miss the same.
    same = group_by_key(
        ((group.storage, *missing), group.clients) for group in groups for missing in _list_missing(group)
    )
    for (where, code, text), clients in same.items():
        of = f" ({', '.join(clients)})" if any(clients) else ""
        yield StaticFinding(Severity.NOTE, code, where, f"{where}{of}: {text}")


def _list_missing(group: GroupCeilings) -> Iterator[tuple[str, str]]:
    """Code and text of what is not known of a ceiling that has no layer, then of one that has some."""
    for known, code in ((False, "storage-ceiling-unknown"), (True, "storage-layer-unknown")):
        chosen = [ceiling for ceiling in (group.read, group.write) if (ceiling.value is not None) is known]
        why = "; ".join(dict.fromkeys(missing.why for ceiling in chosen for missing in ceiling.missing))
        if why:
            operations = " and ".join(ceiling.operation for ceiling in chosen)
            lack = "is not complete" if known else f"for {operations} is unknown"
            yield code, f"the ceiling {lack}: {why}"


def _describe_stated(where: str, title: str, ceiling: Ceiling) -> Iterator[StaticFinding]:
    stated, smallest = ceiling.stated, ceiling.limiting
    if stated is None or smallest is None:
        return
    written = f"{title}: stated {storage_rate(stated.rate)}" + (f" ({stated.detail})" if stated.detail else "")
    found = f"{storage_rate(smallest.rate)}, limited by {smallest.name} ({smallest.origin})"
    if stated.rate > smallest.rate * (1 + ROUNDING):
        after = ceiling.second
        further = f"; after it come {storage_rate(after.rate)} of {after.name}" if after else ""
        text = f"{written}, the smallest layer allows {found}{further}"
        yield StaticFinding(Severity.ERROR, "storage-stated-above", where, text)
    elif stated.rate < smallest.rate * (1 - ROUNDING):
        yield StaticFinding(Severity.NOTE, "storage-stated-below", where, f"{written}, the layers allow {found}")


def _describe_faster(where: str, title: str, ceiling: Ceiling) -> Iterator[StaticFinding]:
    """A network that was measured faster than its cables."""
    cables = next((part for part in ceiling.ranking if part.origin is Origin.COMPUTED and part.network), None)
    seen = next((part for part in ceiling.parts if part.name == NETWORK), None)
    if seen and cables and seen.rate > cables.rate * (1 + ROUNDING):
        text = (
            f"{title}: measured {storage_rate(seen.rate)} between clients and servers, the {cables.name} carry"
            f" {storage_rate(cables.rate)}: a port, a speed or the MTU is described wrong"
        )
        yield StaticFinding(Severity.ERROR, "storage-network-above", where, text)
