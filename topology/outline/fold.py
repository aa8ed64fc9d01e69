"""Outline of a fabric: equal devices folded into one box with its multiplicity, and the edges between boxes.

The picture, the diagram exports and whoever wants redundancies and bottlenecks at a glance read it. Cables are
counted once each, so the edges together have as many as the fabric. Ratios are those of the sums in
``topology.tables.fabric_tables``.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import add

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.device_group import Group
from benchconsole.topology.model.fabric import Fabric, HashPolicy, Link
from benchconsole.topology.model.storage import Layer
from benchconsole.topology.outline.boxes import Box, Edge, Join, Outline, Span, fold_names, format_nominal, rate_text
from benchconsole.topology.outline.equivalence import Equivalence, Fold, group_alike, keep_apart, make_cabling_key
from benchconsole.topology.tables.fabric_tables import make_tables
from benchconsole.topology.units import counted, disk_size, duration, storage_rate

__all__ = ["Box", "Edge", "Join", "Outline", "Span", "make_outline", "make_unfolded_outline"]

Kinds = Sequence[Sequence[Link]]
"""Links, equal ones together."""

MOST_CABLINGS = 3
"""Kinds of cabling between two boxes that are told apart; more become one edge with ranges."""
_GROUPS = {"chassis": "chassis", "rack": "racks", "pod": "pods", "site": "sites"}


def make_outline(fabric: Fabric) -> Outline:
    """The outline of ``fabric``: boxes from the core down, in file order, and edges in the order of their boxes."""
    return _fold_fabric(fabric, group_alike(fabric))


def make_unfolded_outline(fabric: Fabric) -> Outline:
    """The same with a box for every device: for diagrams of what is small enough."""
    return _fold_fabric(fabric, keep_apart(fabric))


def _fold_fabric(fabric: Fabric, alike: Equivalence) -> Outline:
    describe, box = _Describe(fabric), alike.of_device
    boxes = tuple(describe.box(f"b{number}", each) for number, each in enumerate(alike.folds))
    bundles = _list_bundles(fabric, box)
    cables = [describe.edge(boxes[lower], boxes[upper], kinds) for (lower, upper), kinds in bundles]
    guests = ((node.id, node.host) for node in fabric.nodes.values() if node.host is not None)
    hosts = (((box[guest], box[host]), (guest, host)) for guest, host in guests)
    served = ((system.name, server) for system in fabric.storage.values() for server in system.servers)
    servers = (((alike.of_storage[name], box[server]), (name, server)) for name, server in served)
    joined = (*_join_boxes(Join.HOST, boxes, hosts), *_join_boxes(Join.STORAGE, boxes, servers))
    return Outline(fabric.name, boxes, (*cables, *joined), alike.islands)


def _join_boxes(
    join: Join, boxes: Sequence[Box], pairs: Iterable[tuple[tuple[int, int], tuple[str, str]]]
) -> Iterator[Edge]:
    """Edges without cables, by the numbers of lower and upper boxes and the names of lower and upper devices."""
    for (lower, upper), ends in sorted(group_by_key(pairs).items()):
        yield _make_edge(join, boxes[lower], boxes[upper], ends)


def _make_edge(join: Join, lower: Box, upper: Box, ends: Iterable[tuple[str, str]]) -> Edge:
    """An edge with its multiplicities; ``ends`` are distinct pairs of a lower and an upper device."""
    ends = list(ends)
    below = Counter(low for low, _ in ends)
    above = Counter(high for _, high in ends)
    if lower is upper:
        below.update(above)
        above = below
    return Edge(
        join=join,
        lower=lower.id,
        upper=upper.id,
        uppers=Span.of(map(below.__getitem__, lower.members)),
        upper_count=upper.count,
        lowers=Span.of(map(above.__getitem__, upper.members)),
        lower_count=lower.count,
    )


def _list_bundles(fabric: Fabric, box: Mapping[str, int]) -> Iterator[tuple[tuple[int, int], Kinds]]:
    """The links between two boxes, apart by their cabling where there are few kinds of it."""
    peers = {link for pair in fabric.mlags for link in pair.peer}
    # Folds are numbered from the core down.
    ends = ((max(box[link.a], box[link.b]), min(box[link.a], box[link.b])) for link in fabric.links.values())
    between = group_by_key(zip(ends, fabric.links.values(), strict=True))
    for pair, links in sorted(between.items()):
        kinds = group_by_key((make_cabling_key(link, peers), link) for link in links)
        if len(kinds) > MOST_CABLINGS:
            # Put together, except that what carries nothing, or other traffic, stays apart; kind by kind.
            merged = group_by_key(
                ((alike[0].standby, alike[0].network, alike[0].id in peers), alike) for alike in kinds.values()
            )
            yield from ((pair, some) for some in merged.values())
        else:
            yield from ((pair, [alike]) for alike in kinds.values())


class _Describe:
    """Puts the boxes and cables of one fabric into numbers and words."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        cabled = make_tables(fabric)
        self.down, self.up, self.side = (
            dict(zip(cabled.names, sums.tolist(), strict=True)) for sums in (cabled.down, cabled.up, cabled.side)
        )
        self.groups = {kind: fabric.group_of(kind) for kind in _GROUPS}
        self.peers = {link for pair in fabric.mlags for link in pair.peer}
        uncounted = [link for link in fabric.links.values() if not link.counted]
        self.open = {"down": {link.b for link in uncounted}, "up": {link.a for link in uncounted}}

    def box(self, id_: str, each: Fold) -> Box:
        """One fold as a box."""
        sort = each.sort
        noun = {"switch": "models", "storage": "kinds"}.get(sort.what, "classes")
        devices = each.members if sort.what in ("switch", "node") else ()
        unknown = tuple(way for way, known in self.open.items() if known.intersection(devices))
        rated = devices if sort.what == "switch" and not unknown else ()
        ratios = [self.down[name] / self.up[name] for name in rated if self.up[name]]
        return Box(
            id=id_,
            name=fold_names(each.members),
            kind=each.kinds[0] if len(each.kinds) == 1 else f"{len(each.kinds)} {noun}",
            role=sort.role,
            what=sort.what,
            tier=sort.tier,
            place=sort.place,
            members=each.members,
            down=sum(map(self.down.__getitem__, devices)),
            up=sum(map(self.up.__getitem__, devices)),
            worst=max(ratios, default=None),
            unknown=unknown,
            each=Span.of(map(add, map(self.up.__getitem__, devices), map(self.side.__getitem__, devices))),
            exact=each.exact,
            notes=tuple(self._stored(each) if sort.what == "storage" else self._placed(each)),
        )

    def _placed(self, each: Fold) -> Iterator[str]:
        """Pairs, groups and traits of devices."""
        if each.sort.forwards:
            yield "routes between its networks"
        pairs = {name: self.fabric.mlag_of[name].name for name in each.members if name in self.fabric.mlag_of}
        if pairs:
            names = list(dict.fromkeys(pairs.values()))
            some = "" if len(pairs) == len(each.members) else f"{len(pairs):,} of {len(each.members):,} in "
            yield f"{some}MLAG pair{'s' if len(names) > 1 else ''} {fold_names(names)}"
        for kind, groups in self.groups.items():
            yield from _describe_groups(kind, groups, each.members)

    def _stored(self, each: Fold) -> Iterator[str]:
        """What storage systems are made of; those that differ are only counted."""
        systems = [self.fabric.storage[name] for name in each.members]
        first = systems[0]
        if each.exact:
            yield from (fact for fact in (first.protocol,) if fact and first.vendor)
            yield from (format_nominal(disk_size(size)) for size in (first.size,) if size is not None)
            yield from map(_describe_layer, first.layers)
        if len(systems) == 1:
            for clients in first.clients:
                over = f" over {counted(len(clients.gateways), 'gateway')}" if clients.gateways else ""
                yield f"client {clients.name}: {counted(len(clients.nodes), 'node')}{over}"
        else:
            nodes = {node for storage in systems for clients in storage.clients for node in clients.nodes}
            yield f"{counted(len(nodes), 'client node')} of them all"

    def edge(self, lower: Box, upper: Box, kinds: Kinds) -> Edge:
        """The links between two boxes as one edge."""
        below = frozenset(lower.members)
        pairs: dict[tuple[str, str], int] = {}
        for links in kinds:
            for link in links:
                ends = (link.a, link.b) if link.a in below else (link.b, link.a)
                pairs[ends] = pairs.get(ends, 0) + link.count
        firsts = [links[0] for links in kinds]
        return replace(
            _make_edge(Join.CABLE, lower, upper, pairs),
            each=Span.of(pairs.values()),
            members=Span.of(link.count for link in firsts),
            speed=Span.of(speed for link in firsts for speed in (link.speed, *link.mixed)),
            cables=sum(pairs.values()),
            capacity=sum(links[0].capacity * len(links) for links in kinds),
            counted=all(link.counted for link in firsts),
            standby=firsts[0].standby,
            notes=tuple(self._traits(firsts, pairs)),
        )

    def _traits(self, links: Sequence[Link], pairs: Collection[tuple[str, str]]) -> Iterator[str]:
        """How links are used, in words, by one of each kind; those of one edge mostly agree."""
        # MLAG where each lower device is cabled to both switches of every pair that it is cabled to.
        partner = {name: pair.other(name) for name, pair in self.fabric.mlag_of.items()}
        if links[0].id in self.peers:
            yield "MLAG peer"
        elif partner and all(high in partner and (low, partner[high]) in pairs for low, high in pairs):
            yield "MLAG"
        if links[0].standby:
            yield "standby"
        yield from _format_either(f"bond {link.bond.value}" if link.bond else "" for link in links)
        if any(link.is_lag for link in links) or len(pairs) > len({low for low, _ in pairs}):
            yield from _format_either(
                "" if link.hash is HashPolicy.UNKNOWN else f"hash {link.hash.value}" for link in links
            )
        yield from _format_either("" if link.network == "data" else f"network {link.network}" for link in links)
        wans = [link.wan for link in links]
        yield from _format_either("" if wan is None or wan.rtt is None else f"rtt {duration(wan.rtt)}" for wan in wans)
        yield from _format_either(
            f"{rate_text(link.capacity)} available" if link.wan and link.wan.available is not None else ""
            for link in links
        )
        yield from _format_either(
            ", ".join(f"VLAN {channel.vlan}: {rate_text(channel.capacity)}" for channel in link.channels)
            for link in links
        )


def _describe_groups(kind: str, groups: Mapping[str, Group], members: Sequence[str]) -> Iterator[str]:
    """``16 in each of 20 chassis``, or the one group that all are in."""
    inside = Counter(groups[name].name for name in members if name in groups)
    if not inside:
        return
    rest = len(members) - inside.total()
    some = f"{inside.total():,} in " if rest else ""
    if len(inside) == 1:
        yield f"{some}{kind} {next(iter(inside))}"
    else:
        none = f", {rest:,} in none" if rest else ""
        yield f"{Span.of(inside.values())} in each of {len(inside):,} {_GROUPS[kind]}{none}"


def _describe_layer(layer: Layer) -> str:
    rates = layer.rates
    name = f"{layer.units:,} x {layer.name}"
    if rates.write is not None and rates.write == rates.read:
        return f"{name} of {format_nominal(storage_rate(rates.write))}"
    known = (("write", rates.write), ("read", rates.read))
    words = ", ".join(f"{word} {format_nominal(storage_rate(rate))}" for word, rate in known if rate is not None)
    return f"{name}: {words}" if words else name


def _format_either(texts: Iterable[str]) -> Iterator[str]:
    """The different ``texts`` in one; many are counted, and where some are empty it says so."""
    found = dict.fromkeys(texts)
    some = "some " if "" in found else ""
    said = [text for text in found if text]
    if len(said) > MOST_CABLINGS:
        yield f"{some}{said[0]} and {len(said) - 1:,} others"
    elif said:
        yield some + " or ".join(said)
