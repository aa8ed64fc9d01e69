"""Outline of a fabric: equal devices folded into one box with its multiplicity, and the edges between boxes.

The picture, the diagram exports and whoever wants redundancies and bottlenecks at a glance read it. Cables are
counted once each, so the edges together have as many as the fabric. Ratios are those of the sums in
``topology.tables.fabric_tables``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Floats, Indices, list_distinct, split_alike, sum_at
from benchconsole.topology.copying import replace
from benchconsole.topology.model.device_group import Group
from benchconsole.topology.model.fabric import HashPolicy, Link
from benchconsole.topology.model.storage import Layer
from benchconsole.topology.outline.boxes import Box, Edge, Join, Outline, Span, fold_names, format_nominal, rate_text
from benchconsole.topology.outline.equivalence import Equivalence, Fold, group_alike, keep_apart
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.units import counted, disk_size, duration, storage_rate

__all__ = ["Box", "Edge", "Join", "Outline", "Span", "make_outline", "make_unfolded_outline"]

MOST_CABLINGS = 3
"""Kinds of cabling between two boxes that are told apart; more become one edge with ranges."""
_GROUPS = {"chassis": "chassis", "rack": "racks", "pod": "pods", "site": "sites"}


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """The joined vertices of two boxes, pair by pair, each pair once: ``low`` is in the lower box."""

    low: Indices
    high: Indices


def make_outline(cabled: Tables) -> Outline:
    """The outline of a fabric: boxes from the core down, in file order, and edges in the order of their boxes."""
    return _fold_fabric(cabled, group_alike(cabled))


def make_unfolded_outline(cabled: Tables) -> Outline:
    """The same with a box for every device: for diagrams of what is small enough."""
    return _fold_fabric(cabled, keep_apart(cabled))


def _fold_fabric(cabled: Tables, alike: Equivalence) -> Outline:
    describe, index, fabric = _Describe(cabled, alike), cabled.index, cabled.fabric
    boxes = tuple(describe.box(f"b{number}", each) for number, each in enumerate(alike.folds))
    cables = [describe.edge(boxes, kinds) for kinds in _list_bundles(cabled, alike)]
    hosts = [(index[node.id], index[node.host]) for node in fabric.nodes.values() if node.host is not None]
    systems = enumerate(fabric.storage.values(), len(index))
    servers = [(vertex, index[server]) for vertex, system in systems for server in system.servers]
    joined = (*describe.join(Join.HOST, boxes, hosts), *describe.join(Join.STORAGE, boxes, servers))
    return Outline(fabric.name, boxes, (*cables, *joined), alike.islands)


def _list_bundles(cabled: Tables, alike: Equivalence) -> Iterator[list[Indices]]:
    """The links between two boxes, equal ones together, apart by their cabling where there are few kinds of it."""
    low, high = alike.fold_of[cabled.low], alike.fold_of[cabled.high]
    # Folds are numbered from the core down.
    between = np.maximum(low, high) * len(alike.folds) + np.minimum(low, high)
    peers = {link for pair in cabled.fabric.mlags for link in pair.peer}
    links = list(cabled.fabric.links.values())
    for bundle in split_alike(between):
        own = alike.cabling[bundle]
        kinds = [bundle[own == number] for number in list_distinct(own)]
        if len(kinds) <= MOST_CABLINGS:
            yield from ([kind] for kind in kinds)
            continue
        # Put together, except that what carries nothing, or other traffic, stays apart; kind by kind.
        merged: dict[tuple[bool, str, bool], list[Indices]] = {}
        for kind in kinds:
            first = links[kind[0]]
            merged.setdefault((first.standby, first.network, first.id in peers), []).append(kind)
        yield from merged.values()


class _Describe:
    """Puts the boxes and cables of one fabric into numbers and words."""

    def __init__(self, cabled: Tables, alike: Equivalence) -> None:
        self.cabled = cabled
        self.fabric = cabled.fabric
        self.fold_of = alike.fold_of
        self.links = list(self.fabric.links.values())
        self.groups = {kind: fabric_groups for kind in _GROUPS if (fabric_groups := self.fabric.group_of(kind))}
        self.peers = {link for pair in self.fabric.mlags for link in pair.peer}
        uncounted = [link for link in self.links if not link.counted]
        self.open = {"down": {link.b for link in uncounted}, "up": {link.a for link in uncounted}}

    def box(self, id_: str, each: Fold) -> Box:
        """One fold as a box."""
        sort = each.sort
        noun = {"switch": "models", "storage": "kinds"}.get(sort.what, "classes")
        devices = each.vertices if sort.what in ("switch", "node") else each.vertices[:0]
        members = set(each.members) if len(devices) and any(self.open.values()) else set()
        unknown = tuple(way for way, known in self.open.items() if not known.isdisjoint(members))
        down, up, side = (sums[devices] for sums in (self.cabled.down, self.cabled.up, self.cabled.side))
        rated = np.flatnonzero(up) if sort.what == "switch" and not unknown else devices[:0]
        return Box(
            id=id_,
            name=fold_names(each.members),
            kind=each.kinds[0] if len(each.kinds) == 1 else f"{len(each.kinds)} {noun}",
            role=sort.role,
            what=sort.what,
            tier=sort.tier,
            place=sort.place,
            members=each.members,
            down=float(down.sum()),
            up=float(up.sum()),
            worst=float((down[rated] / up[rated]).max()) if len(rated) else None,
            unknown=unknown,
            each=_span(up + side),
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
        """The make of storage systems; systems that differ are only counted."""
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

    def join(self, join: Join, boxes: Sequence[Box], pairs: Sequence[tuple[int, int]]) -> Iterator[Edge]:
        """Edges without cables; ``pairs`` are distinct ones of a lower and an upper vertex."""
        low, high = np.array(pairs, np.intp).reshape(-1, 2).T
        for some in split_alike(self.fold_of[low] * len(boxes) + self.fold_of[high]):
            yield self._make_edge(join, boxes, _Ends(low[some], high[some]))

    def edge(self, boxes: Sequence[Box], kinds: Sequence[Indices]) -> Edge:
        """The links between two boxes as one edge; ``kinds`` are links, equal ones together."""
        every = np.concatenate(kinds)
        low, high = self.cabled.low[every], self.cabled.high[every]
        is_turned = self.fold_of[low] < self.fold_of[high]
        low, high = np.where(is_turned, high, low), np.where(is_turned, low, high)
        size = len(self.cabled.names)
        pairs, of = np.unique(low * size + high, return_inverse=True)
        ends = _Ends(*np.divmod(pairs, size))
        cables = sum_at(self.cabled.members[every], of, len(pairs))
        firsts = [self.links[links[0]] for links in kinds]
        return replace(
            self._make_edge(Join.CABLE, boxes, ends),
            each=_span(cables),
            members=Span.of(link.count for link in firsts),
            speed=Span.of(speed for link in firsts for speed in (link.speed, *link.mixed)),
            cables=int(cables.sum()),
            capacity=sum(first.capacity * len(links) for first, links in zip(firsts, kinds, strict=True)),
            counted=all(link.counted for link in firsts),
            standby=firsts[0].standby,
            notes=tuple(self._traits(firsts, ends)),
        )

    def _make_edge(self, join: Join, boxes: Sequence[Box], ends: _Ends) -> Edge:
        """An edge with its multiplicities."""
        lower, upper = (int(self.fold_of[each[0]]) for each in (ends.low, ends.high))
        vertices = len(self.fold_of)
        below, above = (np.bincount(each, minlength=vertices) for each in (ends.low, ends.high))
        if lower == upper:
            below = above = below + above
        return Edge(
            join=join,
            lower=boxes[lower].id,
            upper=boxes[upper].id,
            uppers=_span(below[self.fold_of == lower]),
            upper_count=boxes[upper].count,
            lowers=_span(above[self.fold_of == upper]),
            lower_count=boxes[lower].count,
        )

    def _traits(self, links: Sequence[Link], ends: _Ends) -> Iterator[str]:
        """How links are used, in words, by one of each kind; those of one edge mostly agree."""
        if links[0].id in self.peers:
            yield "MLAG peer"
        elif self.fabric.mlags and self._is_paired(ends):
            yield "MLAG"
        if links[0].standby:
            yield "standby"
        yield from _format_either(f"bond {link.bond.value}" if link.bond else "" for link in links)
        if any(link.is_lag for link in links) or len(ends.low) > len(np.unique(ends.low)):
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

    def _is_paired(self, ends: _Ends) -> bool:
        """Whether each lower device is cabled to both switches of every MLAG pair that it is cabled to."""
        names = self.cabled.names
        pairs = {(low, names[high]) for low, high in zip(ends.low.tolist(), ends.high.tolist(), strict=True)}
        mlag_of = self.fabric.mlag_of
        return all(high in mlag_of and (low, mlag_of[high].other(high)) in pairs for low, high in pairs)


def _span(values: Floats | Indices) -> Span:
    """The span of an array; 0 of none."""
    return Span(float(values.min()), float(values.max())) if len(values) else Span(0, 0)


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
