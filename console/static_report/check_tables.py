"""The tables of ``check``: capacity with its ratios, redundancy, what is shared, storage with its layers and sheets."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from benchconsole.console.text.table import Column, Table, make_table, number, words
from benchconsole.topology.analysis.bisection import BisectionReport, describe_search, shorten_names
from benchconsole.topology.analysis.class_totals import TOTALS, add_up, count_classes, format_total, list_parts
from benchconsole.topology.analysis.end_to_end import EndToEnd
from benchconsole.topology.analysis.failure_flows import FlowLoss
from benchconsole.topology.analysis.oversubscription import GroupOversubscription, Oversubscription, WorstFailure
from benchconsole.topology.analysis.rails import Rail, RailSet
from benchconsole.topology.analysis.redundancy import ElementLoss
from benchconsole.topology.analysis.static_analysis import StaticReport
from benchconsole.topology.analysis.storage_ceilings import Ceiling, GroupCeilings, LayerCeiling
from benchconsole.topology.analysis.vlans import Lane
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.network import DATA, Parallel
from benchconsole.topology.model.storage import Storage
from benchconsole.topology.selection import fold
from benchconsole.topology.tables.single_failures import FailureKind
from benchconsole.topology.units import disk_size, duration, network_rate, percent, ratio, storage_rate

NOTHING = "–"
OPERATIONS = ("read", "write")
SHOWN = 2
"""Links that fail alike are named up to here, then counted."""


def make_tables(fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """Every table, also those without rows."""
    yield make_totals(fabric)
    yield from _list_capacity(fabric, report)
    yield from _list_redundancy(report)
    yield from _list_sharing(report)
    yield from list_ceilings(report.storage)
    yield from list_sheets(fabric)


# -- totals


def make_totals(fabric: Fabric) -> Table:
    """The declared totals of the classes, and their sum; none where they declare nothing."""
    classes = count_classes(fabric.nodes.values())
    parts = {what: list_parts(what, classes) for what in TOTALS}
    declared = [what for what in TOTALS if what != "nodes" and any(part.each is not None for part in parts[what])]
    if not declared:
        return Table("Totals by class", (), ())
    shown = ("nodes", *declared)
    rows = [
        (parts["nodes"][index].name, *(_format_total(what, parts[what][index].value) for what in shown))
        for index in range(len(parts["nodes"]))
    ]
    whole = ("all", *(_format_total(what, add_up(parts[what])) for what in shown))
    columns = (Column("class"), *(number(what) for what in shown))
    return Table("Totals by class", columns, tuple(rows if len(rows) == 1 else [*rows, whole]))


def _format_total(what: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if what in ("nodes", "sockets", "cores") else format_total(what, value)


# -- capacity


def _list_capacity(fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    yield make_table(
        "Oversubscription by tier",
        report.oversubscription.tiers,
        (Column("tier"), lambda each: f"{each.role}{_format_networks(each.networks)}"),
        (number("switches"), lambda each: str(each.switches)),
        (number("down"), lambda each: _format_rate(each.down)),
        (number("up"), lambda each: _format_rate(each.up)),
        (number("down:up"), lambda each: ratio(each.ratio)),
        (number("least"), lambda each: ratio(each.least.ratio) if each.least else NOTHING),
        (number("most"), lambda each: ratio(each.most.ratio) if each.most else NOTHING),
        (number("ports filled"), lambda each: NOTHING if each.filled is None else ratio(each.filled)),
    )
    yield _make_switches(fabric, report)
    yield make_table(
        "Groups, by the cables that leave them",
        _group_alike(report.oversubscription.groups, lambda each: each.kind),
        (Column("kind"), lambda alike: alike[0].kind),
        (words("groups"), lambda alike: fold([each.name for each in alike])),
        (number("down"), lambda alike: _format_rate(alike[0].down)),
        (number("up or across"), lambda alike: _format_rate(alike[0].up or alike[0].side)),
        (number("ratio"), lambda alike: ratio(alike[0].ratio)),
        (words("worst single failure", 16), lambda alike: _format_worst(alike[0].cable, alike[0].switch_lost)),
    )
    yield make_table(
        "End to end",
        report.end_to_end,
        (number("nodes"), lambda each: f"{each.nodes:,}"),
        (number("product"), lambda each: NOTHING if each.ratio is None else ratio(each.ratio)),
        (words("on the way of", 16), _format_way),
        (words("fair share", 12), _format_share),
        (number("NIC:share"), lambda each: NOTHING if each.told_share is None else ratio(each.told_share.ratio)),
        (
            words("product after the worst loss", 16),
            lambda each: NOTHING if each.flat else _format_worst(each.cable, each.switch_lost),
        ),
        note=_explain_end_to_end(report),
    )
    yield make_table(
        "Bisection",
        _list_cuts(report.bisection),
        (words("cut", 20), lambda cut: cut[0]),
        (number("at most, one way"), lambda cut: cut[1]),
        (words("through", 20), lambda cut: cut[2]),
        note="An upper bound: what fits through the narrowest place, whatever the routing; flows may get less.",
    )


def _format_way(each: EndToEnd) -> str:
    if each.flat:
        return "no tiers: each to each"
    return " > ".join((each.worst.node, *each.worst.switches))


def _format_share(each: EndToEnd) -> str:
    share = each.told_share
    return "not known" if share is None else f"{network_rate(share.fair)} of {network_rate(share.legs)}"


def _explain_end_to_end(report: StaticReport) -> str:
    """The meaning of the numbers of the table."""
    tiers = (
        "product: the ratios on the worst way upward, multiplied; fair share: what a node of the worst place gets "
        "when all send through the top at once (max-min, model fluid, on the wire)."
    )
    flat = (
        "No tiers: top switches are joined by cables of their own tier, so ratios say nothing of the way between them; "
        "the share is that of the worst node when each sends to each (max-min, model fluid, fewest hops, payload)."
    )
    told = {bool(each.flat) for each in report.end_to_end}
    return " ".join(text for is_flat, text in ((False, tiers), (True, flat)) if is_flat in told)


def _format_rate(value: float | None) -> str:
    return network_rate(value) if value else NOTHING


def _format_worst(*failures: WorstFailure | None) -> str:
    worst = max((lost for lost in failures if lost), key=lambda lost: lost.ratio, default=None)
    return NOTHING if worst is None else f"{ratio(worst.ratio)} without {worst.element.replace('--', ' to ')}"


def _make_switches(fabric: Fabric, report: StaticReport) -> Table:
    def find_role(each: Oversubscription) -> str:
        return fabric.switches[each.switch].role

    return make_table(
        "Switches",
        _group_alike(report.oversubscription, find_role),
        (words("switches", 10), lambda alike: fold([each.switch for each in alike])),
        (Column("role"), lambda alike: find_role(alike[0])),
        (number("down"), lambda alike: _format_rate(alike[0].down)),
        (number("up"), lambda alike: _format_rate(alike[0].up)),
        (number("side"), lambda alike: _format_rate(alike[0].side)),
        (number("down:up"), lambda alike: ratio(alike[0].ratio)),
        (words("worst single failure", 16), lambda alike: _format_worst(alike[0].cable, alike[0].switch_lost)),
    )


_Ratios = TypeVar("_Ratios", Oversubscription, GroupOversubscription)


def _group_alike(items: Iterable[_Ratios], find_kind: Callable[[_Ratios], Hashable]) -> Iterable[list[_Ratios]]:
    """Switches or groups with equal numbers together; the failures shown are those of the first."""

    def find_key(each: _Ratios) -> Hashable:
        cable, switch = (None if lost is None else lost.ratio for lost in (each.cable, each.switch_lost))
        return find_kind(each), each.down, each.up, each.side, cable, switch

    return group_by_key((find_key(each), each) for each in items).values()


def _list_cuts(bisection: BisectionReport) -> Iterator[tuple[str, str, str]]:
    halves = bisection.halves
    if halves is not None:
        places = ", ".join(f"{each}, {_format_rate(each.capacity)}" for each in halves.places)
        near, far = map(shorten_names, halves.sides)
        yield f"halves {near} and {far}, {describe_search(halves)}", _format_rate(halves.bound), places
    for each in bisection.tiers:
        yield f"all ways up from {each.below}", _format_rate(each.bound), f"half of {_format_rate(each.up)}"


# -- redundancy


def _list_redundancy(report: StaticReport) -> Iterator[Table]:
    by_flows = [each for each in report.losses if each.flows is not None or each.kind is FailureKind.LEG]
    if any(each.flows is not None for each in report.losses):
        yield _make_flow_losses(by_flows)
        yield _make_tier_losses([each for each in report.losses if each not in by_flows])
    else:
        yield _make_tier_losses(report.losses)
    for each in report.rails:
        yield _make_rails(each)
    yield make_table(
        "Peer links, when all nodes of a role lose one leg",
        report.peers,
        (words("MLAG pair", 10), lambda each: fold(each.pairs)),
        (words("nodes", 10), lambda each: f"{each.nodes:,} {each.role}"),
        (words("leg lost on", 7), lambda each: each.lost),
        (number("across the peer link"), lambda each: network_rate(each.offered) if each.offered else NOTHING),
        (number("of its"), lambda each: network_rate(each.capacity) if each.capacity else NOTHING),
        (words("each receives", 12), lambda each: f"{network_rate(each.share)} of {network_rate(each.leg)}"),
        (Column("enough"), lambda each: {True: "yes", False: "no", None: "unknown"}[each.enough]),
    )


def _make_flow_losses(losses: Sequence[ElementLoss]) -> Table:
    return make_table(
        "Redundancy: every single loss",
        losses,
        (words("loss of one", 22), lambda each: f"{each.kind} {_format_elements(each)}"),
        (number("alike"), lambda each: f"{len(each.elements):,}"),
        (number("nodes cut off"), lambda each: f"{each.effect.cut:,}" if each.effect.cut else NOTHING),
        (words("capacity between the sides", 10), lambda each: _format_change(each.flows, cut=True)),
        (words("flows over it get", 10), lambda each: _format_change(each.flows, cut=False)),
        (words("worst node keeps", 6), _format_kept),
        (Column("redundant"), lambda each: _CARRIED[each.redundant]),
        note="Flows over it: of a link the nodes nearer to each end send to those nearer to the other, of a "
        "switch all whose way leads over it, of a leg its node and all others; all at once, payload, as expect "
        "--without computes it (max-min, model fluid). Capacity is the least cut, on the wire, in one direction. "
        "Redundant only if nobody is cut off and nothing is lost.",
    )


def _make_rails(found: RailSet) -> Table:
    """Rails or planes of one network, those with equal numbers together."""

    def find_key(rail: Rail) -> Hashable:
        return len(rail.nodes), rail.capacity, rail.left, rail.lacking, find_halves(rail)

    def find_halves(rail: Rail) -> float | None:
        return None if rail.halves is None else rail.halves.bound

    of = "" if found.network == DATA else f" of the network {found.network}"
    stops = "stops collectives over all rails" if found.kind is Parallel.RAILS else "moves its traffic to the others"
    return make_table(
        f"{found.kind.capitalize()}{of}",
        list(group_by_key((find_key(rail), rail) for rail in found.rails).values()),
        (words(found.kind, 10), lambda alike: fold([rail.name for rail in alike])),
        (words("switches", 10), lambda alike: fold(dict.fromkeys(name for rail in alike for name in rail.switches))),
        (number("nodes"), lambda alike: f"{len(alike[0].nodes):,}"),
        (number("lack it"), lambda alike: f"{len(alike[0].lacking):,}" if alike[0].lacking else NOTHING),
        (number("ports carry"), lambda alike: network_rate(alike[0].capacity)),
        (number("halves at most"), lambda alike: _format_rate(find_halves(alike[0]))),
        (number("left without it"), lambda alike: percent(alike[0].left)),
        note=f"Each {found.kind.removesuffix('s')} by itself; its loss {stops}. Halves of its nodes exchange at most "
        "so much within it, in one direction; left without it: of the capacity of its nodes.",
    )


_CARRIED = {True: "yes", False: "no", None: "not known"}


def _format_change(flows: FlowLoss | None, *, cut: bool) -> str:
    if flows is None or flows.is_idle:
        return NOTHING
    before, after = (flows.cut_before, flows.cut_after) if cut else (flows.before, flows.after)
    if before is None or after is None:
        return NOTHING
    if not cut and flows.lacks_peer_link:
        return f"{network_rate(before)}, then no peer link"
    if after == before:
        return f"{network_rate(before)} still"
    return f"{network_rate(before)} to {network_rate(after) if after else 'nothing'}"


def _format_kept(each: ElementLoss) -> str:
    flows = each.flows
    if flows is None or flows.is_idle or not flows.after:
        return NOTHING
    return percent(flows.share)


def _make_tier_losses(losses: Sequence[ElementLoss]) -> Table:
    return make_table(
        "Redundancy by tiers: every single loss",
        losses,
        (words("loss of one", 22), lambda each: f"{each.kind} {_format_elements(each)}"),
        (number("alike"), lambda each: f"{len(each.elements):,}"),
        (number("nodes cut off"), lambda each: f"{each.effect.cut:,}" if each.effect.cut else NOTHING),
        (
            number("nodes degraded"),
            lambda each: (
                f"{each.effect.degraded:,} to {percent(each.effect.left)}" if each.effect.degraded else NOTHING
            ),
        ),
        (
            number("worst ratio"),
            lambda each: NOTHING if each.effect.ratio is None else _format_finite(each.effect.ratio, ratio),
        ),
        (
            number("load after"),
            lambda each: _format_finite(each.effect.load, percent) if each.effect.load else NOTHING,
        ),
        (Column("redundant"), lambda each: _CARRIED[each.redundant]),
        note="The fabric is too large for flows over each of these. Degraded to so much of their capacity toward the "
        "top; load after: what has to take over, of what it can take. Redundant only if nobody is cut off and the "
        "rest can carry it; of cables inside a tier that is not known.",
    )


def _format_networks(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _format_elements(each: ElementLoss) -> str:
    if each.kind in (FailureKind.SWITCH, FailureKind.GATEWAY):
        return fold(each.elements) + _format_networks(each.networks)
    shown = [element.replace("--", " to ") for element in each.elements[:SHOWN]]
    return ", ".join(shown) if len(each.elements) <= SHOWN else f"{shown[0]} ... ({each.role})"


def _format_finite(value: float, form: Callable[[float], str]) -> str:
    return "none" if math.isinf(value) else form(value)


# -- shared links


def _list_sharing(report: StaticReport) -> Iterator[Table]:
    yield make_table(
        "LAGs and what a hash makes of them",
        report.lags,
        (words("LAGs", 14), lambda kind: f"{kind.lower} to {kind.upper}"),
        (number("number"), lambda kind: str(len(kind.links))),
        (number("members"), lambda kind: f"{kind.members} x {network_rate(kind.speed)}"),
        (Column("hash"), lambda kind: kind.policy),
        (number("nodes below"), lambda kind: str(kind.nodes)),
        (number("members used"), lambda kind: percent(kind.use) if kind.nodes else NOTHING),
        (number("fullest : mean"), lambda kind: f"{kind.imbalance:.2f}" if kind.nodes else NOTHING),
        (number("flows for 95 %"), lambda kind: str(kind.flows_95)),
        note="One flow of each node below, hashed uniformly over the members (model hash, exact expectation).",
    )
    yield make_table(
        "Links split into VLANs",
        [
            (split.link.id, lane, max(lane.sides, key=lambda side: side.offered))
            for split in report.vlans
            for lane in split.lanes
        ],
        (words("link", 12), lambda row: row[0].replace("--", " to ")),
        (number("VLAN"), lambda row: str(row[1].vlan)),
        (number("capacity"), lambda row: network_rate(row[1].capacity)),
        (number("members"), lambda row: str(len(row[2].members))),
        (number("offered"), lambda row: network_rate(row[2].offered)),
        (number("offered : capacity"), lambda row: ratio(row[1].oversubscription)),
        (words("fills it"), lambda row: _format_fill(row[1])),
    )
    yield make_table(
        "Lines over distance",
        [(line, window) for line in report.wan for window in line.windows],
        (words("line", 12), lambda row: row[0].link.replace("--", " to ")),
        (number("RTT"), lambda row: duration(row[0].rtt)),
        (number("capacity"), lambda row: network_rate(row[0].capacity)),
        (number("in flight: line"), lambda row: disk_size(row[0].line_in_flight)),
        (number("one flow"), lambda row: disk_size(row[0].flow_in_flight)),
        (words("buffers of"), lambda row: row[1].nodes if "[" in row[1].nodes else fold([row[1].nodes])),
        (number("one stream gets"), lambda row: NOTHING if row[1].rate is None else network_rate(row[1].rate)),
        (number("streams to fill"), lambda row: NOTHING if row[1].streams is None else str(row[1].streams)),
        (number("loss allowed"), lambda row: f"{row[0].loss:.2g} for {network_rate(row[0].flow)}"),
    )


def _format_fill(lane: Lane) -> str:
    if lane.port is None:
        return NOTHING
    return f"{lane.fill} flows of {network_rate(lane.port)}{' exactly' if lane.exact else ''}"


# -- storage


def list_ceilings(groups: Sequence[GroupCeilings]) -> Iterator[Table]:
    """The ceilings of storage systems for each set of clients, and the layers that they follow from."""
    names = words("storage, clients", 14)
    limits = words("limited by", 18)
    columns = (names, Column("way"), number("ceiling"), limits, number("required"), number("target"))
    yield Table("Storage ceilings", columns, tuple(_list_ceilings(groups)))
    columns = (names, words("layer"), number("read"), number("write"), Column("known"), words("from", 14))
    yield Table("Layers of storage", columns, tuple(_list_layers(groups)))


def list_sheets(fabric: Fabric) -> Iterator[Table]:
    """Storage systems beside each other, and the sheet of each."""
    facts = {system.name: _list_facts(system) for system in fabric.storage.values()}
    beside = (words("storage", 10), *(words(name, 8) for name in SYSTEM_FACTS))
    rows = ((name, *(own.get(fact, NOTHING) for fact in SYSTEM_FACTS)) for name, own in facts.items())
    yield Table("Storage systems", beside, tuple(rows))
    sheets = (
        ("" if index else name, fact.replace("_", " "), own[fact])
        for name, own in facts.items()
        for index, fact in enumerate(fact for fact in own if fact not in SYSTEM_FACTS)
    )
    yield Table("Fact sheets", (Column("storage"), Column("fact"), words("as described", 20)), tuple(sheets))


def _storage_rate(value: float | None) -> str:
    return NOTHING if value is None else storage_rate(value)


def _list_ceilings(groups: Sequence[GroupCeilings]) -> Iterator[tuple[str, ...]]:
    for group in groups:
        alike = group_by_key((_format_ceiling(group.of(operation)), operation) for operation in OPERATIONS)
        name = f"{group.storage} {group.clients}".rstrip()
        yield from ((name, "both" if len(ways) > 1 else ways[0], *row) for row, ways in alike.items())


def _format_ceiling(ceiling: Ceiling) -> tuple[str, ...]:
    value = "unknown" if ceiling.value is None else storage_rate(ceiling.value)
    first, second = ceiling.limiting, ceiling.second
    then = "" if second is None else f", then {second.name} {_storage_rate(second.rate)}"
    limits = NOTHING if first is None else f"{first.name} ({first.origin.value}){then}"
    return value, limits, _storage_rate(ceiling.required), _storage_rate(ceiling.target)


def _list_layers(groups: Sequence[GroupCeilings]) -> Iterator[tuple[str, ...]]:
    alike = group_by_key(
        ((group.storage, *layer), group.clients) for group in groups for layer in _describe_layers(group)
    )
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
        shown = (_storage_rate(parts[operation].rate) if operation in parts else NOTHING for operation in OPERATIONS)
        details = dict.fromkeys(part.detail for part in parts.values() if part.detail)
        yield name, *shown, origin, "; ".join(details)
    for name, why in missing.items():
        yield name, NOTHING, NOTHING, "unknown", why


SYSTEM_FACTS = ("vendor", "version", "protocol", "size", "free", "servers")
"""Facts in which storage systems stand beside each other; the others are a sheet of each."""


def _list_facts(system: Storage) -> dict[str, str]:
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
    return {name: value for name, value in plain.items() if value is not None}
