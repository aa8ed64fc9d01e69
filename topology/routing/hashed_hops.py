"""The choices that hashed flows meet between simple ends, as arrays: next hops and cables, drawn for all flows at once.

A device draws one hop of a fan (``hop_table``), then one cable of it; neither depends on the node that a flow goes to.
Only the first and the last cable are a node's own.
"""

from typing import Generic, NamedTuple, TypeVarTuple

import numpy as np

from benchconsole.topology.arrays import (
    NO_INDICES,
    Flags,
    Indices,
    KeyedNumbers,
    Ragged,
    Words,
    find_distinct,
    mix_words,
)
from benchconsole.topology.routing.attachment import Attachments
from benchconsole.topology.routing.flow_ends import FlowEnds
from benchconsole.topology.routing.flow_hashes import FlowWords, hash_text
from benchconsole.topology.routing.hashed_choices import MEMBER, NEXT_HOP, HashedChoices, repeat_by_weight
from benchconsole.topology.routing.hop_table import HopTable

_Columns = TypeVarTuple("_Columns")


class _Forks(Generic[*_Columns]):
    """Forks by number: their choices (``among``), the ``salt`` of each one's hash, and whether it sees ports."""

    def __init__(self, *empty: *_Columns) -> None:
        self.among = Ragged(*empty)
        self.salt: Words = np.empty(0, np.uint64)
        self.sees_ports: Flags = np.empty(0, bool)

    def add(self, count: Indices, columns: tuple[*_Columns], salt: Words, sees_ports: Flags) -> Indices:
        self.salt = np.concatenate((self.salt, salt))
        self.sees_ports = np.concatenate((self.sees_ports, sees_ports))
        return self.among.add(count, *columns)


class Draw(NamedTuple):
    """The words of some walks: those of the flow of each, and of its seed. ``polarised``: devices have none."""

    words: FlowWords
    flow: Indices
    seed: Words
    polarised: bool

    def take(self, forks: _Forks[*_Columns], fork: Indices, walks: Indices) -> Indices:
        """The place of the choice that each of ``walks`` takes at its fork."""
        count, found = forks.among.count[fork], forks.among.start[fork].copy()
        drawn = np.flatnonzero(count > 1)
        if drawn.size:
            fork, walks = fork[drawn], walks[drawn]
            sees, flow = forks.sees_ports[fork], self.flow[walks]
            if sees.all():
                key = self.words.streams[flow]
            else:
                key = np.where(sees, self.words.streams[flow] if sees.any() else 0, self.words.ends[flow])
            salt = np.uint64(0) if self.polarised else forks.salt[fork]
            word = mix_words(key ^ mix_words(salt ^ self.seed[walks]))
            found[drawn] += (word % count[drawn].astype(np.uint64)).astype(np.intp)
        return found


class HashedHops:
    """Forks of one graph between simple ends, each found when a flow first meets it.

    ``cables`` are the choices of all forks of cables: number of the directed link, member, and number of the device at
    its end (-1 for a node).
    """

    def __init__(self, attachments: Attachments, table: HopTable, ends: FlowEnds) -> None:
        self._attachments = attachments
        self._graph = attachments.graph
        self._table = table
        self._ends = ends
        self._choices = HashedChoices(attachments.graph, sort=True)
        self._cables = _Forks(NO_INDICES, NO_INDICES, NO_INDICES)
        self._hops = _Forks(NO_INDICES)
        self._of_fan = KeyedNumbers()
        self._of_hop = KeyedNumbers()
        self._of_source = KeyedNumbers()
        self._of_leg = KeyedNumbers()
        self._peers: Indices = NO_INDICES
        self._places: Indices = NO_INDICES
        self._arrival_of = KeyedNumbers()

    @property
    def cables(self) -> tuple[Indices, Indices]:
        """Number of the directed link and member of every cable that flows can take, as walks number them."""
        way, member, _ = self._cables.among.columns
        return way, member

    def walk(self, source: Indices, sink: Indices, draw: Draw) -> tuple[Flags, list[Indices]]:
        """Which walks get to their sink, and step by step the cable of each; -1 where it takes none."""
        size, everyone = len(self._table.devices), np.arange(len(source))
        steps = [draw.take(self._cables, self._of_source.find(source, self._leave), everyone)]
        device = self._cables.among.columns[2][steps[0]]
        egress = self._ends.egress[self._ends.cabling[sink]]
        is_led = np.ones(len(source), bool)
        walking = everyone[self._table.vertex[device] != egress]
        while walking.size:
            fan = self._table.find_fans(device[walking], egress[walking])
            is_led[walking[fan < 0]] = False
            walking, fan = walking[fan >= 0], fan[fan >= 0]
            fork = self._of_fan.find(fan, self._choose_hop)
            hop = self._hops.among.columns[0][draw.take(self._hops, fork, walking)]
            steps.append(self._cross(hop, walking, device, draw))
            walking = walking[self._table.vertex[device[walking]] != egress[walking]]
        led = everyone[is_led]
        at = self._arrival_of.find(self._ends.cabling[sink[led]] * size + device[led], self._arrive)
        is_led[led[at < 0]] = False
        led, at = led[at >= 0], at[at >= 0]
        peer = self._peers[at]
        if (peer >= 0).any():
            steps.append(self._cross(peer[peer >= 0], led[peer >= 0], device, draw))
        last = self._of_leg.find(self._ends.legs.start[sink[led]] + self._places[at], self._end)
        steps.append(np.full(len(source), -1))
        steps[-1][led] = draw.take(self._cables, last, led)
        return is_led, steps

    def _cross(self, hop: Indices, walks: Indices, device: Indices, draw: Draw) -> Indices:
        """The step of some walks over a cable of their hops, which leads each to another ``device``."""
        step = np.full(len(device), -1)
        step[walks] = draw.take(self._cables, self._of_hop.find(hop, self._choose_cable), walks)
        device[walks] = self._cables.among.columns[2][step[walks]]
        return step

    def explore(self, source: Indices, sink: Indices) -> Indices | None:
        """All cables that any walk between these ends can take, by number; None where one may not get there."""
        size = len(self._table.devices)
        first = self._of_source.find(np.unique(source), self._leave)
        of_source = self._of_source.find(source, self._leave)
        egress = self._ends.egress[self._ends.cabling[sink]]
        into = self._cables.among.columns[2][self._cables.among.find(of_source)]
        new = np.unique(into * size + np.repeat(egress, self._cables.among.count[of_source]))
        rows, met = [first], new
        while new.size:
            device, towards = np.divmod(new, size)
            walking = self._table.vertex[device] != towards
            fan = self._table.find_fans(device[walking], towards[walking])
            if (fan < 0).any():
                return None
            fork = self._of_fan.find(fan, self._choose_hop)
            hop = self._hops.among.columns[0][self._hops.among.find(fork)]
            led = self._lead(hop, np.repeat(towards[walking], self._hops.among.count[fork]), rows)
            new = np.setdiff1d(led, met)
            met = np.union1d(met, new)
        device, towards = np.divmod(met, size)
        there = self._table.vertex[device] == towards
        return self._explore_ends(sink, device[there], rows)

    def _lead(self, hop: Indices, towards: Indices, rows: list[Indices]) -> Indices:
        """Each device at the end of a hop with the egress that it is on the way to; notes the cables in ``rows``."""
        rows.append(self._of_hop.find(hop, self._choose_cable))
        ends = self._cables.among.columns[2][self._cables.among.find(rows[-1])]
        return np.unique(ends * len(self._table.devices) + np.repeat(towards, self._cables.among.count[rows[-1]]))

    def _explore_ends(self, sink: Indices, arrived: Indices, rows: list[Indices]) -> Indices | None:
        """All cables in ``rows`` and behind: those to the sinks from the devices where flows have arrived."""
        size, sinks = len(self._table.devices), np.unique(sink)
        is_there = np.zeros(size, bool)
        is_there[arrived] = True
        vertex = self._ends.egress[self._ends.cabling[sinks]]
        for device in np.unique(arrived).tolist():
            own = sinks[vertex == self._table.vertex[device]]
            at = self._arrival_of.find(self._ends.cabling[own] * size + device, self._arrive)
            if (at < 0).any():
                return None
            peer = self._peers[at]
            rows.append(self._of_hop.find(np.unique(peer[peer >= 0]), self._choose_cable))
            rows.append(self._of_leg.find(self._ends.legs.start[own] + self._places[at], self._end))
        return np.unique(self._cables.among.find(np.unique(np.concatenate(rows))))

    # -- forks that are met for the first time

    def _leave(self, ends: Indices) -> Indices:
        """The cables of sources."""
        legs = self._ends.legs
        return self._add_cables(legs.columns[0][legs.find(ends)], legs.count[ends])

    def _end(self, first: Indices) -> Indices:
        """The cables of sinks from one device, by the number of the first leg there."""
        legs, leads_to = self._ends.legs, self._graph.leads_to
        ends = np.searchsorted(legs.start, first, side="right") - 1
        way, count = legs.columns[0][legs.find(ends)], legs.count[ends]
        is_there = leads_to[way] == np.repeat(leads_to[legs.columns[0][first]], count)
        own = np.add.reduceat(is_there.astype(np.intp), np.cumsum(count) - count)
        return self._add_cables(way[is_there] ^ 1, own)

    def _choose_cable(self, hops: Indices) -> Indices:
        """The cables of hops."""
        table = self._table.hops
        return self._add_cables(table.columns[0][table.find(hops)], table.count[hops])

    def _add_cables(self, ways: Indices, count: Indices) -> Indices:
        """Forks of all cables of parallel directed links; ``count`` is how many links each has."""
        graph = self._graph
        starts = np.cumsum(count) - count
        first = ways[starts]
        size = graph.columns.counts[first >> 1]
        several = {}
        for fork in np.flatnonzero((count > 1) | graph.columns.is_mixed[first >> 1]).tolist():
            parallel = ways[starts[fork] : starts[fork] + count[fork]]
            several[fork] = self._choices.list_cables(tuple(parallel.tolist())).among
            size[fork] = len(several[fork])
        begin = np.cumsum(size) - size
        way = np.repeat(first, size)
        member = np.arange(len(way)) - np.repeat(begin, size)
        for fork, cables in several.items():
            at = slice(int(begin[fork]), int(begin[fork]) + len(cables))
            way[at], member[at] = np.array(cables, np.intp).T
        columns = way, member, graph.leads_to[way]
        return self._cables.add(
            size, columns, self._hash_devices(first, size > 1, MEMBER), graph.columns.sees_ports[first >> 1]
        )

    def _choose_hop(self, fans: Indices) -> Indices:
        """The hops of fans, in the order of their names, one that weighs more several times."""
        members = self._table.members
        at, count = members.find(fans), members.count[fans].copy()
        hop, share = members.columns[0][at], members.columns[1][at]
        first = self._table.hops.columns[0][self._table.hops.start[hop[np.cumsum(count) - count]]]
        salt = self._hash_devices(first, count > 1, NEXT_HOP)
        order = np.lexsort((self._rank_hops(hop), np.repeat(np.arange(len(fans)), count)))
        hop, share = hop[order], share[order]
        starts = np.cumsum(count) - count
        uneven = np.flatnonzero(np.minimum.reduceat(share, starts) < np.maximum.reduceat(share, starts))
        if uneven.size:
            rows, shares = np.split(hop, starts[1:]), np.split(share, starts[1:])
            for fan in uneven.tolist():
                rows[fan] = np.array(repeat_by_weight(rows[fan].tolist(), shares[fan].tolist()), np.intp)
                count[fan] = len(rows[fan])
            hop = np.concatenate(rows)
        return self._hops.add(count, (hop,), salt, self._graph.columns.sees_ports[first >> 1])

    def _rank_hops(self, hop: Indices) -> Indices:
        """Numbers in the order of the names of hops from one device: of the two ends of the first link of each."""
        hops, leads_to, size = self._table.hops, self._graph.leads_to, len(self._graph.devices)
        rank = np.empty(size, np.intp)
        rank[sorted(range(size), key=self._graph.devices.__getitem__)] = np.arange(size)
        way, count = hops.columns[0][hops.find(hop)], hops.count[hop]
        name = rank[leads_to[way | 1]] * size + rank[leads_to[way & ~1]]
        return np.asarray(np.minimum.reduceat(name, np.cumsum(count) - count), np.intp)

    def _hash_devices(self, ways: Indices, drawn: Flags, stage: str) -> Words:
        """The salt of the device that each directed link leaves, where it draws anything; else 0."""
        numbers = self._graph.columns.device_numbers
        names = list(numbers)
        device, at = find_distinct(self._graph.columns.starts[ways[drawn]], len(numbers))
        salt = np.zeros(len(ways), np.uint64)
        salt[drawn] = np.array([hash_text(names[each], stage) for each in device.tolist()], np.uint64)[at]
        return salt

    def _arrive(self, keys: Indices) -> Indices:
        """How flows to a cabling leave a device of its vertex, and over which leg first; -1 where they cannot."""
        cabling, device = np.divmod(keys, len(self._table.devices))
        found: list[int] = []
        peers: list[int] = []
        places: list[int] = []
        for at, here in zip(cabling.tolist(), device.tolist(), strict=True):
            own = self._ends.cablings[at].devices
            has_leg = self._table.devices[here] in own
            peer = -1 if has_leg else self._table.find_peer_hop(here)
            if not has_leg and peer < 0:
                found.append(-1)
                continue
            found.append(len(self._peers) + len(peers))
            peers.append(peer)
            places.append(own.index(self._table.devices[here]) if has_leg else 0)
        self._peers = np.concatenate((self._peers, np.array(peers, np.intp)))
        self._places = np.concatenate((self._places, np.array(places, np.intp)))
        return np.array(found, np.intp)
