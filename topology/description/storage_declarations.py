"""Resolves the section ``storage``: rates, layers, clients and the fact sheet."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location
from benchconsole.topology.description.names import DeviceNames
from benchconsole.topology.model.storage import Clients, FactSheet, Interconnect, Layer, Rates, Storage
from benchconsole.topology.units import Unit, parse_link_speed


class StorageReader:
    """Reads the storage systems of one file; ``names`` knows its devices."""

    def __init__(self, names: DeviceNames) -> None:
        self.names = names
        self.report = names.report

    def system(self, name: str, written: raw.RawStorage) -> Storage:
        here: Location = ("storage", name)
        self.names.places.setdefault(name, self.report.document.key_at(here))
        joined = written.interconnect or raw.RawInterconnect()
        metadata = written.metadata or raw.RawMetadata()
        return Storage(
            name=name,
            servers=self._nodes(written.servers, (*here, "servers")),
            layers=tuple(self._layers(written, (*here, "layers"))),
            clients=tuple(self._clients(key, each, (*here, "clients", key)) for key, each in written.clients.items()),
            vendor=written.vendor,
            version=written.version,
            protocol=written.protocol,
            size=self.report.quantity(written.size, (*here, "size"), Unit.BYTE),
            free=self.report.share(written.free, (*here, "free")),
            interconnect=Interconnect(
                joined.type,
                self.report.quantity(joined.speed, (*here, "interconnect", "speed"), parse_link_speed),
                self.report.quantity(joined.pingpong, (*here, "interconnect", "pingpong"), Unit.BYTE_RATE),
            ),
            sheet=_make_sheet(written.facts),
            metadata_servers=metadata.servers,
            metadata=_make_sheet(metadata.facts),
            replicas=written.replicas,
            striped=written.striped,
            required=self.report.share(written.required, (*here, "required")) or 0.60,
            target=self.report.share(written.target, (*here, "target")) or 0.80,
        )

    def _layers(self, written: raw.RawStorage, here: Location) -> Iterator[Layer]:
        for index, each in enumerate(written.layers):
            if each is None:
                continue
            where: Location = (*here, index)
            both = self.report.quantity(each.rate, (*where, "rate"), Unit.BYTE_RATE)
            own = self._rates(each, where)
            if both is not None and (own.read is not None or own.write is not None):
                self.report.add(where, "a rate beside read or write", "either rate, or read and write")
            read, write = (both if rate is None else rate for rate in (own.read, own.write))
            yield Layer(each.name, each.units, Rates(read, write), each.source)

    def _clients(self, name: str, written: raw.RawClients, here: Location) -> Clients:
        return Clients(
            name,
            self._nodes(written.nodes, (*here, "nodes")),
            self._nodes(written.gateways, (*here, "gateways")),
            self._rates(written.network, (*here, "network")),
            self._rates(written.stated, (*here, "stated")),
            written.source,
        )

    def _nodes(self, text: str | None, here: Location) -> tuple[str, ...]:
        return () if text is None else tuple(self.names.node_ids(text, here))

    def _rates(self, written: raw.RawRates | None, here: Location) -> Rates:
        if written is None:
            return Rates()
        read = self.report.quantity(written.read, (*here, "read"), Unit.BYTE_RATE)
        return Rates(read, self.report.quantity(written.write, (*here, "write"), Unit.BYTE_RATE))


def _make_sheet(facts: Mapping[str, raw.Scalar]) -> FactSheet:
    return FactSheet(MappingProxyType({name: str(value) for name, value in facts.items()}))
