"""Description of storage systems: layers from the network down to the disks, and the fact sheet.

Rates are byte/s, sizes are bytes. None where the file says nothing: unknown is never zero.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct


class Rates(Struct, frozen=True):
    """byte/s of each operation; None where it is not known."""

    read: float | None = None
    write: float | None = None

    def of(self, operation: str) -> float | None:
        return self.read if operation == "read" else self.write


class Layer(Struct, frozen=True):
    """``units`` things working in parallel, each with ``rates``: FC ports, controllers, disks."""

    name: str
    units: int
    rates: Rates
    source: str = ""


class LayerLimit(Struct, frozen=True):
    """A layer of a storage system as a limit of flows: byte/s of payload over all ``servers`` together.

    ``operation`` is write for what comes to the servers, read for what they send; ``made`` is what the rate is of, as
    ``24 x 2 GB/s``.
    """

    system: str
    layer: str
    operation: str
    rate: float
    servers: tuple[str, ...]
    made: str


class FactSheet(Struct, frozen=True):
    """The written facts of the servers of one kind. ``facts`` is text by name, in file order.

    Names: os, kernel, disks, disk_speed, transfer_speed, raid, filesystem, irq_binding, io_speed.
    """

    facts: Mapping[str, str] = MappingProxyType({})


class Clients(Struct, frozen=True):
    """A set of nodes that uses a storage system.

    ``gateways`` are the nodes that all of its traffic crosses (none: it goes directly).
    ``network`` is what was measured between them and the servers; ``stated`` is the ceiling
    that the documents claim for them, ``source`` where they do.
    """

    name: str
    nodes: tuple[str, ...]
    gateways: tuple[str, ...] = ()
    network: Rates = Rates()
    stated: Rates = Rates()
    source: str = ""


class Interconnect(Struct, frozen=True):
    """The network that joins the servers to the clients; ``pingpong`` is the best byte/s seen between two hosts."""

    kind: str | None = None
    speed: float | None = None
    pingpong: float | None = None


class Storage(Struct, frozen=True):
    """One storage system. ``replicas`` is how often every byte is written.

    ``striped`` is whether each client's data goes over all servers at once with a barrier: then
    the slowest server sets the pace of all. ``required`` and ``target`` are shares of the ceiling.
    """

    name: str
    servers: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()
    clients: tuple[Clients, ...] = ()
    vendor: str | None = None
    version: str | None = None
    protocol: str | None = None
    size: float | None = None
    free: float | None = None
    interconnect: Interconnect = Interconnect()
    sheet: FactSheet = FactSheet()
    metadata_servers: int | None = None
    metadata: FactSheet = FactSheet()
    replicas: int = 1
    striped: bool = False
    required: float = 0.60
    target: float = 0.80
