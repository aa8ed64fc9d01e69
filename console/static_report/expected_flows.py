"""The page and the JSON of ``expect``: flows that get the same by the same limit as one row, and their sum."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchconsole.console.static_report.expected_bracket import format_bracket, make_bracket_record
from benchconsole.console.static_report.expected_loads import (
    format_loads,
    format_sums,
    make_loads_record,
    make_sums_record,
)
from benchconsole.console.static_report.json_values import Record, encode_record
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Table, format_table, make_table, number, words
from benchconsole.topology.analysis.uncounted_cables import find_uncounted, format_links
from benchconsole.topology.capacity.bracket import Bracket
from benchconsole.topology.capacity.expect import Expectation, MergedExpectation, OverHashes, RateSpread
from benchconsole.topology.capacity.limit_names import Limit, list_limits, name_kind, name_limit
from benchconsole.topology.capacity.link_loads import LinkLoad, NodeSum
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.capacity.maxmin import compute_fairness
from benchconsole.topology.capacity.storage_limits import UnlimitedLayer
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId, SwitchId
from benchconsole.topology.port_selection import fold_ports, has_apart_ports, list_ports
from benchconsole.topology.routing.network_choice import NetworkChoice, say_networks
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import network_rate, percent

_UNCOUNTED = (
    "Nobody counted the cables of {links}: one is taken for each link, so flows over them may get more, and flows "
    "beside those less."
)
_TOGETHER = (
    "A flow that names no port is the traffic of all ports of its nodes from which the other end is nearest, together "
    "and in even parts. One connection has one port: {how}."
)
_READ_AND_WRITTEN = (
    "Storage {system} is read and written at once, and each of the two is given the whole of every layer. Disks share "
    "both, so together they may give less."
)
_WITHOUT_TABLES = (
    "The forwarding tables hold with everything up. Without these elements a subnet manager writes others, for which "
    "least hops with even splits are taken."
)
SHOWN = 3
"""Elements that tie as the limit are named up to here, then counted."""

LONGEST_SET = 100
"""Characters of a node set in the table; of a longer one, as hashes make them, only the number of nodes is told."""

MOST_ROWS = 40
"""Rows of the table; were there more, those that differ only in the names of their limits are one."""


@dataclass(frozen=True, slots=True)
class RatedFlows:
    """``count`` flows from ``sources`` to ``sinks`` that should reach ``rate`` each; ``flow`` is one of them."""

    flow: Flow
    count: int
    sources: tuple[NodeId, ...]
    sinks: tuple[NodeId, ...]
    rate: Expectation


@dataclass(frozen=True, slots=True)
class ExpectedFlows:
    """Flows that run at once and what each should reach; the rest is None where nobody asked.

    ``drawn`` is what unknown hashes leave, ``bracket`` the bounds on both sides, ``loads`` and ``sums`` those of links
    and of nodes, ``unlimited`` the layers of storage systems that were to limit flows and have no described rate,
    ``read_and_written`` the systems whose layers each operation was given whole.
    """

    fabric: Fabric
    groups: tuple[RatedFlows, ...]
    drawn: OverHashes | None = None
    bracket: Bracket | None = None
    loads: tuple[LinkLoad, ...] | None = None
    sums: tuple[NodeSum, ...] | None = None
    unlimited: tuple[UnlimitedLayer, ...] = ()
    read_and_written: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return sum(group.count for group in self.groups)

    @property
    def fairness(self) -> float:
        """Jain's index of the rates."""
        rates = np.array([group.rate.value for group in self.groups])
        return compute_fairness(rates, np.array([group.count for group in self.groups], float))

    @property
    def total(self) -> float:
        """byte/s of payload of all flows."""
        return sum(group.count * group.rate.value for group in self.groups)


def collect_merged(fabric: Fabric, expected: MergedExpectation) -> ExpectedFlows:
    """The groups of equal flows, as they were merged."""
    groups = zip(expected.merged.groups, expected.rates, strict=True)
    return ExpectedFlows(
        fabric, tuple(RatedFlows(each.flow, each.count, each.sources, each.sinks, rate) for each, rate in groups)
    )


def collect_flows(
    fabric: Fabric, flows: Sequence[Flow], rates: Sequence[Expectation], drawn: OverHashes | None
) -> ExpectedFlows:
    """Every flow as a group of its own."""
    pairs = zip(flows, rates, strict=True)
    return ExpectedFlows(
        fabric, tuple(RatedFlows(flow, 1, (flow.source,), (flow.sink,), rate) for flow, rate in pairs), drawn
    )


def format_page(found: ExpectedFlows, width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """The table, the slowest flows first, and the sums below it."""
    rows = _list_rows(found)
    yield from format_table(_make_table(found, rows[:MOST_ROWS]), width, ascii_only=ascii_only)
    yield ""
    if len(rows) > MOST_ROWS:
        yield from wrap_text(sanitize(_format_rest(rows[MOST_ROWS:])), width)
    yield from wrap_text(sanitize(_format_sums(found)), width)
    uncounted = find_uncounted(found.fabric).links
    if uncounted:
        yield from wrap_text(sanitize(_UNCOUNTED.format(links=format_links(uncounted))), width)
    together = _find_together(found)
    if together is not None:
        yield from wrap_text(sanitize(_TOGETHER.format(how=_say_how(found.fabric, together))), width)
    for each in found.unlimited:
        yield from wrap_text(sanitize(_say_unlimited(each)), width)
    for system in found.read_and_written:
        yield from wrap_text(sanitize(_READ_AND_WRITTEN.format(system=system)), width)
    if found.fabric.described.tables and not found.fabric.tables:
        yield from wrap_text(_WITHOUT_TABLES, width)
    if found.drawn is not None:
        yield from wrap_text(sanitize(_format_samples(found.drawn)), width)
    if found.bracket is not None:
        yield ""
        yield from format_bracket(found.fabric, found.bracket, width, ascii_only=ascii_only)
    if found.loads is not None:
        yield ""
        yield from format_loads(found.fabric, found.loads, width, ascii_only=ascii_only)
    if found.sums is not None:
        yield ""
        yield from format_sums(found.sums, width, ascii_only=ascii_only)


def _say_unlimited(each: UnlimitedLayer) -> str:
    what = f"the layer {each.layer}" if each.layer else "the layers below the servers"
    return f"No {each.operation} rate is described of {what} of storage {each.system}, so nothing there limits flows."


def _find_together(found: ExpectedFlows) -> Flow | None:
    """A flow between two nodes of several ports each that names none of them."""
    choice = NetworkChoice(found.fabric)
    flows = (group.flow for group in found.groups if group.flow.leg is group.flow.last_leg is None)
    for flow in flows:
        networks = choice.choose(flow)
        if all(has_apart_ports(found.fabric, node, networks) for node in (flow.source, flow.sink)):
            return flow
    return None


def _say_how(fabric: Fabric, flow: Flow) -> str:
    ports = [next(iter(list_ports(fabric, node)), "") for node in (flow.source, flow.sink)]
    if all(ports):
        return f"name it, as in {flow.source}:{ports[0]}>{flow.sink}:{ports[1]}"
    return f'name the ports in links, as in from: "{flow.source}:p1", and flows can name them'


@dataclass(frozen=True, slots=True)
class _Row:
    """Flows of one rate, to six digits, and of one limit."""

    rate: float
    limits: str
    groups: Sequence[RatedFlows]

    @property
    def count(self) -> int:
        return sum(group.count for group in self.groups)

    @property
    def sources(self) -> "_Ends":
        return _Ends([(group.flow.leg, group.sources) for group in self.groups])

    @property
    def sinks(self) -> "_Ends":
        return _Ends([(group.flow.last_leg, group.sinks) for group in self.groups])


class _Ends:
    """One side of flows: ports (None: all of a node together) with the nodes that have them."""

    def __init__(self, ends: Iterable[tuple[str | None, tuple[NodeId, ...]]]) -> None:
        different = {(port, id(nodes)): nodes for port, nodes in ends}  # groups share the tuples of their classes
        self._nodes: dict[str | None, dict[NodeId, None]] = {}
        for (port, _), nodes in different.items():
            self._nodes.setdefault(port, {}).update(dict.fromkeys(nodes))

    def __str__(self) -> str:
        return fold_ports(self._nodes.items())

    def shorten(self) -> str:
        """The same, or the number of nodes or ports where it is long."""
        text = str(self)
        if len(text) <= LONGEST_SET:
            return text
        return count(sum(map(len, self._nodes.values())), "node" if set(self._nodes) == {None} else "port")


def _list_rows(found: ExpectedFlows) -> list[_Row]:
    """Equal flows together, the slowest first. Limits keep their names while the rows are few."""
    for name in (_format_limits, _format_limit_kinds):
        alike = group_by_key(
            ((float(f"{group.rate.value:.6g}"), name(found.fabric, group.rate)), group) for group in found.groups
        )
        if len(alike) <= MOST_ROWS:
            break
    return sorted((_Row(rate, limits, groups) for (rate, limits), groups in alike.items()), key=lambda row: row.rate)


def _make_table(found: ExpectedFlows, rows: Sequence[_Row]) -> Table:
    return make_table(
        "Expected" if found.drawn is None else "Expected by one hash of those that are possible",
        rows,
        (number("flows"), lambda row: f"{row.count:,}"),
        (words("from", 10), lambda row: row.sources.shorten()),
        (words("to", 10), lambda row: row.sinks.shorten()),
        (number("each"), lambda row: network_rate(row.rate)),
        (words("limited by", 18), lambda row: row.limits),
    )


def _format_rest(rows: Sequence[_Row]) -> str:
    flows = count(sum(row.count for row in rows), "flow")
    between = f"{network_rate(rows[0].rate)} to {network_rate(rows[-1].rate)} each"
    return f"{flows} more in {count(len(rows), 'group')}: {between}; all groups are in the JSON."


def _format_limits(fabric: Fabric, rate: Expectation) -> str:
    """The elements that tie as the limit, the first of them named: ``tor1 to spine1``, ``receiver's NIC``."""
    kinds = list(dict.fromkeys(_name_limit(fabric, limit) for limit in list_limits(rate)))
    return ", ".join(kinds[:SHOWN]) + (f" and {len(kinds) - SHOWN} more" if len(kinds) > SHOWN else "")


def _format_limit_kinds(fabric: Fabric, rate: Expectation) -> str:
    """The limits by the roles of their ends, without names: ``leaf to spine``."""
    return ", ".join(dict.fromkeys(_name_limit_kind(fabric, limit) for limit in list_limits(rate)))


def _name_limit_kind(fabric: Fabric, way: Limit) -> str:
    if isinstance(way, LinkPart):
        return f"{_name_limit_kind(fabric, way.way)}, VLAN {way.vlan}"
    if isinstance(way, CeilingSide):
        switch = fabric.switches.get(SwitchId(way.device))
        return _name_limit(fabric, way) if switch is None else f"{switch.role} {way.name}{name_kind(fabric, way)}"
    ends = (way.source, fabric.links[way.link].other(way.source))
    if any(end in fabric.nodes for end in ends):
        return _name_limit(fabric, way)
    return " to ".join(fabric.switches[SwitchId(end)].role for end in ends)


def _name_limit(fabric: Fabric, way: Limit) -> str:
    if isinstance(way, LinkPart):
        return name_limit(fabric, way)
    if isinstance(way, CeilingSide):
        if way.device not in fabric.nodes:
            return name_limit(fabric, way)
        return f"{'receiver' if way.inward else 'sender'}'s {way.name}{name_kind(fabric, way)}"
    if way.source in fabric.nodes:
        return "sender's NIC"
    if fabric.links[way.link].other(way.source) in fabric.nodes:
        return "receiver's NIC"
    return direction_name(fabric, way)


def _format_sums(found: ExpectedFlows) -> str:
    several = len(found.fabric.described.used_networks) > 1
    choice = NetworkChoice(found.fabric)
    taken = sorted({name for group in found.groups for name in choice.choose(group.flow)}) if several else []
    over = f" over {say_networks(taken)}" if taken else ""
    rates = [group.rate for group in found.groups]
    slowest = network_rate(min(rate.value for rate in rates))
    models = ", ".join(dict.fromkeys(rate.model for rate in rates))
    payload = ", ".join(dict.fromkeys(percent(rate.goodput) for rate in rates))
    return (
        f"{count(found.count, 'flow')} at once{over}: {network_rate(found.total)} in all, the slowest {slowest}, "
        f"Jain's fairness {found.fairness:.4f}; model {models}, {payload} of the wire, max-min certificate checked."
    )


def _format_samples(drawn: OverHashes) -> str:
    made = f"{drawn.draws:,}"
    if drawn.draws < drawn.asked:
        made += f" of {drawn.asked:,} (the time was over)"
    return (
        f"Over {made} hashes (model {drawn.model.value}): in all {_format_spread(drawn.aggregate)}; "
        f"the slowest flow {_format_spread(drawn.slowest)}; "
        f"a job that waits for its slowest {_format_spread(drawn.barrier)}."
    )


def _format_spread(spread: RateSpread) -> str:
    mean, low, high = map(network_rate, (spread.mean, spread.p5, spread.p95))
    return f"{mean} on average, {low} to {high} in nine of ten"


def make_record(found: ExpectedFlows, flows: Iterable[tuple[Flow, Expectation]] | None) -> Record:
    """The same for scripts, in bit/s of payload; ``flows`` one by one, or None where they are too many."""
    drawn, fabric = found.drawn, found.fabric
    choice = NetworkChoice(fabric)
    return encode_record(
        {
            "fabric": fabric.name,
            "total_bps": found.total,
            "fairness": found.fairness,
            "uncounted": [link.id for link in find_uncounted(fabric).links],
            "unlimited": [asdict(each) for each in found.unlimited],
            "read_and_written": list(found.read_and_written),
            "groups": [
                {
                    "flows": row.count,
                    "from": str(row.sources),
                    "to": str(row.sinks),
                    "expected_bps": row.rate,
                    "limited_by": row.limits,
                }
                for row in _list_rows(found)
            ],
            "flows": None
            if flows is None
            else [
                {
                    "from": flow.source,
                    "from_port": flow.leg,
                    "to": flow.sink,
                    "to_port": flow.last_leg,
                    "expected_bps": rate.value,
                    "goodput": rate.goodput,
                    "model": rate.model,
                    "networks": sorted(choice.choose(flow)),
                    "limited_by": [name_limit(fabric, limit) for limit in list_limits(rate)],
                }
                for flow, rate in flows
            ],
            "over_hashes": drawn
            and {
                "model": drawn.model,
                "draws": drawn.draws,
                "asked": drawn.asked,
                "total_bps": asdict(drawn.aggregate),
                "slowest_bps": asdict(drawn.slowest),
                "barrier_bps": asdict(drawn.barrier),
            },
            "links": None if found.loads is None else make_loads_record(fabric, found.loads),
            "nodes": None if found.sums is None else make_sums_record(found.sums),
            "bracket": found.bracket and make_bracket_record(fabric, found.bracket),
        }
    )
