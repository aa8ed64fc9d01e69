"""The tables of storage: the ceiling of every system and client group, its layers, and the fact sheets."""

from collections.abc import Iterator

from benchconsole.console.static_report.capacity_tables import NOTHING
from benchconsole.console.text.table import Column, Table, number, words
from benchconsole.topology.analysis.static_analysis import StaticReport
from benchconsole.topology.analysis.storage_ceilings import Ceiling, GroupCeilings, LayerCeiling
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.storage import Storage
from benchconsole.topology.units import disk_size, network_rate, percent, storage_rate

OPERATIONS = ("read", "write")


_NAMES = words("storage, clients", 14)
_CEILING_COLUMNS = (
    _NAMES,
    Column("way"),
    number("ceiling"),
    words("limited by", 18),
    number("required"),
    number("target"),
)
_LAYER_COLUMNS = (
    _NAMES,
    words("layer", 12),
    number("read"),
    number("write"),
    Column("known"),
    words("from", 14),
)
_SHEET_COLUMNS = (Column("storage"), Column("fact"), words("as described", 20))


def make_tables(fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """Ceilings, the layers that they come from, and the fact sheets."""
    yield Table("Storage ceilings", _CEILING_COLUMNS, tuple(_list_ceilings(report)))
    yield Table("Layers of storage", _LAYER_COLUMNS, tuple(_list_layers(report)))
    yield Table("Fact sheets", _SHEET_COLUMNS, tuple(_list_sheets(fabric)))


def _format_rate(value: float | None) -> str:
    return NOTHING if value is None else storage_rate(value)


def _list_ceilings(report: StaticReport) -> Iterator[tuple[str, ...]]:
    for group in report.storage:
        alike: dict[tuple[str, ...], list[str]] = {}
        for operation in OPERATIONS:
            alike.setdefault(_format_ceiling(group.of(operation)), []).append(operation)
        name = f"{group.storage} {group.clients}".rstrip()
        yield from ((name, "both" if len(ways) > 1 else ways[0], *row) for row, ways in alike.items())


def _format_ceiling(ceiling: Ceiling) -> tuple[str, ...]:
    value = "unknown" if ceiling.value is None else storage_rate(ceiling.value)
    limits = _format_limits(ceiling.limiting, ceiling.second)
    return value, limits, _format_rate(ceiling.required), _format_rate(ceiling.target)


def _format_limits(first: LayerCeiling | None, second: LayerCeiling | None) -> str:
    if first is None:
        return NOTHING
    then = "" if second is None else f", then {second.name} {_format_rate(second.rate)}"
    return f"{first.name} ({first.origin.value}){then}"


def _list_layers(report: StaticReport) -> Iterator[tuple[str, ...]]:
    alike: dict[tuple[str, ...], list[str]] = {}
    for group in report.storage:
        for layer in _describe_layers(group):
            alike.setdefault((group.storage, *layer), []).append(group.clients)
    return ((f"{storage} {', '.join(clients)}".rstrip(), *layer) for (storage, *layer), clients in alike.items())


def _describe_layers(group: GroupCeilings) -> Iterator[tuple[str, ...]]:
    """Name, read, write, how it is known and what it was made from, for every layer of one client group."""
    rates: dict[tuple[str, str], dict[str, LayerCeiling]] = {}
    missing: dict[str, str] = {}
    for operation in OPERATIONS:
        ceiling = group.of(operation)
        for part in ceiling.parts:
            rates.setdefault((part.name, part.origin.value), {})[operation] = part
        missing.update({each.name: each.why for each in ceiling.missing})
    for (name, origin), parts in rates.items():
        shown = (_format_rate(parts[operation].rate) if operation in parts else NOTHING for operation in OPERATIONS)
        details = dict.fromkeys(part.detail for part in parts.values() if part.detail)
        yield name, *shown, origin, "; ".join(details)
    for name, why in missing.items():
        yield name, NOTHING, NOTHING, "unknown", why


def _list_sheets(fabric: Fabric) -> Iterator[tuple[str, str, str]]:
    for system in fabric.storage.values():
        for index, (fact, value) in enumerate(_list_facts(system)):
            yield "" if index else system.name, fact, value


def _list_facts(system: Storage) -> Iterator[tuple[str, str]]:
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
