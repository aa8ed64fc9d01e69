"""A demand matrix as CSV (RFC 4180): who sends to whom, and at most how much.

The first line names the columns: ``from`` and ``to`` (node sets or groups, which may name ports), and, as one likes,
``rate`` (with its unit; empty for all that a flow gets), ``streams`` and ``pairs`` (``each`` or ``in order``). Lines
that begin with ``#`` are comments.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchconsole.topology.capacity.csv_rows import read_rows
from benchconsole.topology.capacity.flow_groups import FlowSet
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.port_selection import select_ports
from benchconsole.topology.units import Unit, UnitError, parse

COLUMNS = ("from", "to", "rate", "streams", "pairs")
MOST_STREAMS = 128
_RATE = "a rate above 0 with its unit, such as 5 Gb/s"
_PAIRS = {"": False, "each": False, "in order": True}


def read_matrix(path: Path, fabric: Fabric, network: str = "") -> list[FlowSet]:
    """The flows of every row of ``path``. SelectionError with all rows that cannot be read, each with its line."""
    rows = read_rows(path, COLUMNS, COLUMNS[:2], lambda row: _read_row(row, fabric, network))
    return [each for row in rows for each in row]


def _read_row(row: Mapping[str, str], fabric: Fabric, network: str) -> list[FlowSet]:
    pairs = row.get("pairs", "")
    if pairs not in _PAIRS:
        raise SelectionError(f"pairs {pairs!r}, expected each or in order")
    said = {key: row[key] for key in ("rate", "streams") if row.get(key)}
    like = make_flow_set(FlowSet((), (), _PAIRS[pairs], network=network), said)
    return make_flow_sets(fabric, row["from"], row["to"], like)


def make_flow_sets(fabric: Fabric, source: str, sink: str, like: FlowSet) -> list[FlowSet]:
    """The flows between what two texts name, one set for each two ports; all else is as in ``like``.

    SelectionError for what does not exist, and where flows in order have not as many ends on both sides.
    """
    sources, sinks = select_ports(fabric, source), select_ports(fabric, sink)
    if not like.in_order:
        pairs = [(one, other) for one in sources for other in sinks]
    elif [len(each.nodes) for each in sources] != [len(each.nodes) for each in sinks]:
        counts = [sum(len(each.nodes) for each in ends) for ends in (sources, sinks)]
        expected = "as many nodes for each port" if counts[0] == counts[1] else "as many"
        what = "nodes" if all(each.port is None for each in (*sources, *sinks)) else "ports"
        found = f"'{source}>{sink}' pairs {counts[0]} {what} with {counts[1]} in order"
        raise SelectionError(f"{found}, expected {expected}")
    else:
        pairs = list(zip(sources, sinks, strict=True))
    return [replace(like, sources=a.nodes, sinks=b.nodes, leg=a.port, last_leg=b.port) for a, b in pairs]


def make_flow_set(flows: FlowSet, said: Mapping[str, str]) -> FlowSet:
    """``flows`` with their own ``streams`` and ``rate``, as text. SelectionError for what cannot be read."""
    streams, demand = flows.streams, flows.demand
    if "streams" in said:
        if not said["streams"].isdecimal() or not 1 <= int(said["streams"]) <= MOST_STREAMS:
            raise SelectionError(f"streams {said['streams']!r}, expected a number from 1 to {MOST_STREAMS}")
        streams = int(said["streams"])
    if "rate" in said:
        try:
            demand = parse(said["rate"], Unit.BYTE_RATE)
        except UnitError:
            demand = 0.0
        if not 0 < (demand or 0.0) < float("inf"):
            raise SelectionError(f"rate {said['rate']!r}, expected {_RATE}")
    return replace(flows, streams=streams, demand=demand)


def list_said(words: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Arguments as flows with what is said after them: ``n1>n2 streams=8`` is one flow with its streams.

    SelectionError where something is said before any flow, twice, or of an unknown name.
    """
    flow, said = None, dict[str, str]()
    for word in words:
        name, equals, value = word.partition("=")
        if ">" in word or not equals:
            if flow is not None:
                yield flow, said
            flow, said = word, {}
            continue
        if flow is None or name not in ("streams", "rate") or name in said:
            raise SelectionError(f"{word!r}, expected streams=NUMBER or rate=RATE once after a flow such as 'n1>n2'")
        said[name] = value
    if flow is not None:
        yield flow, said
