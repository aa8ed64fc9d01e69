"""Owns the ceiling of each storage system: the smallest of its layers, for each operation and set of clients.

Layers of the network are computed: all clients read from, or write to, all servers at once
(``topology.analysis.fan_in``, model ``fluid``), and each layer is what these flows would get if
it alone limited them. What was measured or declared is taken as it is. Refuses to guess: what
is not described has no ceiling, and says so.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from topology.analysis.fan_in import GATEWAYS, SERVER_PORTS, FanIn, Pattern, Sorts, kinds, machines_of, ports
from topology.analysis.finding import Finding, Severity
from topology.errors import RoutingError
from topology.expect import MODEL
from topology.model import Fabric
from topology.routing import Routes
from topology.selection import fold
from topology.storage import Clients, Storage
from topology.units import storage_rate

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
class Part:
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
class Missing:
    """A layer that is not known, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The ceiling of one operation: its known layers from the clients to the disks, and those that are missing.

    Rates are byte/s, None where no layer is known. ``required`` and ``target`` are the shares of
    the ceiling that are asked for; ``stated`` is what the documents take the ceiling to be.
    """

    operation: str
    parts: tuple[Part, ...]
    missing: tuple[Missing, ...]
    required_share: float
    target_share: float
    stated: Part | None = None

    @property
    def ranking(self) -> tuple[Part, ...]:
        """The layers from the smallest; of equal ones the first on the way."""
        return tuple(sorted(self.parts, key=lambda part: part.rate))

    @property
    def limiting(self) -> Part | None:
        """The smallest layer."""
        return next(iter(self.ranking), None)

    @property
    def second(self) -> Part | None:
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

    @property
    def required(self) -> float | None:
        """What must be reached."""
        return None if self.value is None else self.value * self.required_share

    @property
    def target(self) -> float | None:
        """What should be reached."""
        return None if self.value is None else self.value * self.target_share

    @staticmethod
    def lowest(parts: Iterable[Part]) -> float | None:
        """The least rate of ``parts``, None without any."""
        return min((part.rate for part in parts), default=None)


@dataclass(frozen=True, slots=True)
class GroupCeilings:
    """What one set of clients (its name; empty where none is described) can get of one storage system."""

    storage: str
    clients: str
    read: Ceiling
    write: Ceiling

    def of(self, operation: str) -> Ceiling:
        """``read`` or ``write``."""
        return self.read if operation == "read" else self.write


@dataclass(frozen=True, slots=True)
class StorageReport:
    """Every set of clients of every storage system, in file order."""

    groups: tuple[GroupCeilings, ...]


@dataclass(frozen=True, slots=True)
class Reached:
    """A measurement in percent of the ceiling, of what is required and of the target."""

    ceiling: float
    required: float
    target: float


def percent_of(measured: float, ceiling: Ceiling) -> Reached | None:
    """``measured`` byte/s held against ``ceiling``; None where that is not known."""
    if not (ceiling.value and ceiling.required and ceiling.target):
        return None
    return Reached(*(100.0 * measured / each for each in (ceiling.value, ceiling.required, ceiling.target)))


def storage(fabric: Fabric, *, routes: Routes | None = None) -> StorageReport:
    """The ceilings of every storage system of ``fabric``."""
    if not fabric.storage:
        return StorageReport(())
    known = routes or Routes(fabric)
    cases = (
        _Case(fabric, known, system, clients)
        for system in fabric.storage.values()
        for clients in system.clients or (Clients("", ()),)
    )
    return StorageReport(
        tuple(
            GroupCeilings(case.system.name, case.clients.name, case.ceiling("read"), case.ceiling("write"))
            for case in cases
        )
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """One storage system and one set of its clients."""

    fabric: Fabric
    routes: Routes
    system: Storage
    clients: Clients
    known: list[Sorts] = field(default_factory=list)

    def sorts(self) -> Sorts:
        """The kinds of clients and servers, found once for both operations."""
        if not self.known:
            self.known.append(kinds(self.fabric, self.clients.nodes, self.system.servers))
        return self.known[0]

    def ceiling(self, operation: str) -> Ceiling:
        """Every layer that is known or missed, on the way from the clients to the disks."""
        copies = self.system.replicas if operation == "write" else 1
        found = [*self.cables(operation, copies), *self.measured(operation), *self.interconnect(copies)]
        found += self.layers(operation, copies)
        parts = [each for each in found if isinstance(each, Part)]
        parts += self.one_by_one(parts, operation, copies)
        stated, source = self.clients.stated.of(operation), self.clients.source
        return Ceiling(
            operation=operation,
            parts=tuple(parts),
            missing=tuple(each for each in found if isinstance(each, Missing)),
            required_share=self.system.required,
            target_share=self.system.target,
            stated=None if stated is None else Part("ceiling", stated, Origin.STATED, "as stated", source, False),
        )

    def cables(self, operation: str, copies: int) -> Iterator[Part | Missing]:
        """What the cabling allows, by kind of link; the servers' ports alone where no path can be followed."""
        why = self.uncabled()
        if not why:
            writing, striped = operation == "write", self.system.striped
            pattern = Pattern(self.clients.nodes, self.system.servers, writing, striped, copies)
            try:
                yield from self.by_links(FanIn(self.fabric, self.routes, pattern, self.sorts()))
                return
            except RoutingError as error:
                why = str(error)
        yield Missing("clients to servers", why)
        rates = ports(self.fabric, self.system.servers)
        if rates and all(rates):
            total = min(rates) * len(rates) if self.system.striped else sum(rates)
            yield Part(SERVER_PORTS, total / copies, Origin.COMPUTED, "sum of ports", _counted(rates), True)

    def uncabled(self) -> str:
        """What keeps the paths from being known, in words; empty when nothing does."""
        clients, servers = self.clients.nodes, self.system.servers
        absent = [what for what, nodes in (("clients", clients), ("servers", servers)) if not nodes]
        if absent:
            return f"no {' and no '.join(absent)} described"
        loose = [node for node in (*clients, *servers) if not self.fabric.legs(node)]
        return f"{fold(loose)} not described as cabled" if loose else ""

    def by_links(self, flows: FanIn) -> Iterator[Part | Missing]:
        """Each kind of link, and the gateways that the description names but paths leave out."""
        crossed: set[str] = set()
        for name, rate in flows.layers(self.clients.gateways):
            crossed.add(name)
            yield Part(name, rate, Origin.COMPUTED, MODEL, "", True)
        if not crossed:
            yield Missing("clients to servers", "every path stays inside one machine")
        elif self.clients.gateways and GATEWAYS not in crossed:
            yield Missing(GATEWAYS, f"not every path crosses {fold(self.clients.gateways)}: do they forward?")

    def measured(self, operation: str) -> Iterator[Part]:
        """What was measured between the clients and the servers."""
        rate = self.clients.network.of(operation)
        if rate is not None:
            yield Part(NETWORK, rate, Origin.MEASURED, "as measured", "", True)

    def interconnect(self, copies: int) -> Iterator[Part | Missing]:
        """What the servers reach over their interconnect: the best ping-pong of two hosts, else the stated speed."""
        joined, servers = self.system.interconnect, len(self.system.servers)
        best = joined.pingpong or joined.speed
        if best is None:
            return
        name = " ".join(word for word in ("interconnect", joined.kind) if word)
        if not servers:
            yield Missing(name, "no servers described")
            return
        origin, what = (Origin.MEASURED, "ping-pong") if joined.pingpong else (Origin.DECLARED, "speed")
        detail = f"{servers} servers x {what} {storage_rate(best)}"
        yield Part(name, best * servers / copies, origin, "servers x rate", detail, True)

    def layers(self, operation: str, copies: int) -> Iterator[Part | Missing]:
        """The declared layers; each copy of what is written takes its share of them."""
        for layer in self.system.layers:
            rate = layer.rates.of(operation)
            if rate is None:
                yield Missing(layer.name, f"{operation} rate of {layer.name}")
                continue
            detail = f"{layer.units} x {storage_rate(rate)}" + (f" ({layer.source})" if layer.source else "")
            yield Part(layer.name, layer.units * rate / copies, Origin.DECLARED, "units x rate", detail, False)
        if not self.system.layers:
            yield Missing("disks", "nothing described below the servers")

    def one_by_one(self, parts: Sequence[Part], operation: str, copies: int) -> Iterator[Part]:
        """Each server as fast as its slowest part, summed, where that is less than every layer by itself.

        A layer with a whole number of units for each server is taken to be shared out evenly. Not
        for striped systems, whose slowest server paces the layer of ports already, nor where
        clients have a part of the data on their own machine.
        """
        rates = ports(self.fabric, self.system.servers)
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
            yield Part("servers one by one", total, Origin.COMPUTED, "sum of minima", _counted(rates), False)


def _counted(rates: Sequence[float]) -> str:
    """``13 x 125 MB/s, 1 x 1.25 GB/s``."""
    return ", ".join(f"{number} x {storage_rate(rate)}" for rate, number in Counter(rates).items())


def findings(fabric: Fabric, report: StorageReport) -> list[Finding]:
    """Stated ceilings that differ from the layers, measurements above them, and what is not known."""
    del fabric  # every analysis is asked in the same way; this report holds all that is said
    found: list[Finding] = []
    for group in report.groups:
        title = " ".join(word for word in (group.storage, group.clients) if word)
        for ceiling in (group.read, group.write):
            found += _stated(group.storage, f"{title} {ceiling.operation}", ceiling)
            found += _faster(group.storage, f"{title} {ceiling.operation}", ceiling)
    return [*found, *_unknown(report)]


def _unknown(report: StorageReport) -> Iterator[Finding]:
    """What is missing, once for the groups of a system that miss the same."""
    same: dict[tuple[str, str, str], list[str]] = {}
    for group in report.groups:
        for known, code in ((False, "storage-ceiling-unknown"), (True, "storage-layer-unknown")):
            chosen = [ceiling for ceiling in (group.read, group.write) if (ceiling.value is not None) is known]
            why = "; ".join(dict.fromkeys(missing.why for ceiling in chosen for missing in ceiling.missing))
            if why:
                operations = " and ".join(ceiling.operation for ceiling in chosen)
                what = "is not complete" if known else f"for {operations} is unknown"
                same.setdefault((group.storage, code, f"the ceiling {what}: {why}"), []).append(group.clients)
    for (where, code, text), clients in same.items():
        of = f" ({', '.join(clients)})" if any(clients) else ""
        yield Finding(Severity.NOTE, code, where, f"{where}{of}: {text}")


def _stated(where: str, title: str, ceiling: Ceiling) -> Iterator[Finding]:
    stated, smallest = ceiling.stated, ceiling.limiting
    if stated is None or smallest is None:
        return
    written = f"{title}: stated {storage_rate(stated.rate)}" + (f" ({stated.detail})" if stated.detail else "")
    found = f"{storage_rate(smallest.rate)}, limited by {smallest.name} ({smallest.origin})"
    if stated.rate > smallest.rate * (1 + ROUNDING):
        after = ceiling.second
        further = f"; after it come {storage_rate(after.rate)} of {after.name}" if after else ""
        text = f"{written}, the smallest layer allows {found}{further}"
        yield Finding(Severity.ERROR, "storage-stated-above", where, text)
    elif stated.rate < smallest.rate * (1 - ROUNDING):
        yield Finding(Severity.NOTE, "storage-stated-below", where, f"{written}, the layers allow {found}")


def _faster(where: str, title: str, ceiling: Ceiling) -> Iterator[Finding]:
    """A network that was measured faster than its cables."""
    cables = next((part for part in ceiling.ranking if part.origin is Origin.COMPUTED and part.network), None)
    seen = next((part for part in ceiling.parts if part.name == NETWORK), None)
    if seen and cables and seen.rate > cables.rate * (1 + ROUNDING):
        text = (
            f"{title}: measured {storage_rate(seen.rate)} between clients and servers, the {cables.name} carry"
            f" {storage_rate(cables.rate)}: a port, a speed or the MTU is described wrong"
        )
        yield Finding(Severity.ERROR, "storage-network-above", where, text)
