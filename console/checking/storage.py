"""Owns the tables of storage: the ceiling of every system and client group, its layers, and the fact sheets."""

from collections.abc import Iterator

from console.checking.capacity import NOTHING
from console.checking.table import Column, Table, number, words
from topology.analysis.report import StaticReport
from topology.analysis.storage import Ceiling, GroupCeilings, Part
from topology.model import Fabric
from topology.storage import Storage
from topology.units import disk_size, network_rate, percent, storage_rate

OPERATIONS = ("read", "write")
NAME = 14
"""Cells that names of storage systems and clients are given before they are broken."""


def tables(fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """Ceilings, the layers that they come from, and what is written down."""
    yield _ceilings(report)
    yield _layers(report)
    yield _sheets(fabric)


def _rate(value: float | None) -> str:
    return NOTHING if value is None else storage_rate(value)


def _named(group: GroupCeilings) -> str:
    return f"{group.storage} {group.clients}".rstrip()


def _ceilings(report: StaticReport) -> Table:
    columns = (
        words("storage, clients", NAME),
        Column("way"),
        number("ceiling"),
        words("limited by", 18),
        number("required"),
        number("target"),
    )
    rows = []
    for group in report.storage.groups:
        alike: dict[tuple[str, ...], list[str]] = {}
        for operation in OPERATIONS:
            alike.setdefault(_ceiling(group.of(operation)), []).append(operation)
        rows += [(_named(group), "both" if len(ways) > 1 else ways[0], *row) for row, ways in alike.items()]
    return Table("Storage ceilings", columns, tuple(rows))


def _ceiling(ceiling: Ceiling) -> tuple[str, ...]:
    value = "unknown" if ceiling.value is None else _rate(ceiling.value)
    return value, _limits(ceiling.limiting, ceiling.second), _rate(ceiling.required), _rate(ceiling.target)


def _limits(first: Part | None, second: Part | None) -> str:
    if first is None:
        return NOTHING
    then = "" if second is None else f", then {second.name} {_rate(second.rate)}"
    return f"{first.name} ({first.origin.value}){then}"


def _layers(report: StaticReport) -> Table:
    columns = (
        words("storage, clients", NAME),
        words("layer", 12),
        number("read"),
        number("write"),
        Column("known"),
        words("from", 14),
    )
    alike: dict[tuple[str, ...], list[str]] = {}
    for group in report.storage.groups:
        for layer in _layers_of(group):
            alike.setdefault((group.storage, *layer), []).append(group.clients)
    rows = tuple((f"{storage} {', '.join(clients)}".rstrip(), *layer) for (storage, *layer), clients in alike.items())
    return Table("Layers of storage", columns, rows)


def _layers_of(group: GroupCeilings) -> Iterator[tuple[str, ...]]:
    """Name, read, write, how it is known and what it was made from, for every layer of one client group."""
    rates: dict[tuple[str, str], dict[str, Part]] = {}
    missing: dict[str, str] = {}
    for operation in OPERATIONS:
        ceiling = group.of(operation)
        for part in ceiling.parts:
            rates.setdefault((part.name, part.origin.value), {})[operation] = part
        missing.update({each.name: each.why for each in ceiling.missing})
    for (name, origin), parts in rates.items():
        shown = (_rate(parts[operation].rate) if operation in parts else NOTHING for operation in OPERATIONS)
        details = dict.fromkeys(part.detail for part in parts.values() if part.detail)
        yield name, *shown, origin, "; ".join(details)
    for name, why in missing.items():
        yield name, NOTHING, NOTHING, "unknown", why


def _sheets(fabric: Fabric) -> Table:
    rows = [(system.name, fact, value) for system in fabric.storage.values() for fact, value in _facts(system)]
    shown = [
        (name if index == 0 or rows[index - 1][0] != name else "", fact, value)
        for index, (name, fact, value) in enumerate(rows)
    ]
    return Table("Fact sheets", (Column("storage"), Column("fact"), words("as described", 20)), tuple(shown))


def _facts(system: Storage) -> Iterator[tuple[str, str]]:
    joined = system.interconnect
    plain = {
        "vendor": system.vendor,
        "version": system.version,
        "protocol": system.protocol,
        "size": None if system.size is None else disk_size(system.size),
        "free": None if system.free is None else percent(system.free),
        "servers": str(len(system.servers)) if system.servers else None,
        "replicas": str(system.replicas) if system.replicas > 1 else None,
        **system.sheet.facts,
        "metadata servers": None if system.metadata_servers is None else str(system.metadata_servers),
        **{f"metadata {name}": value for name, value in system.metadata.facts.items()},
        "interconnect": joined.kind,
        "interconnect speed": None if joined.speed is None else network_rate(joined.speed),
        "ping-pong": None if joined.pingpong is None else storage_rate(joined.pingpong),
    }
    yield from ((name.replace("_", " "), value) for name, value in plain.items() if value is not None)
