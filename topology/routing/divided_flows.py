"""The links of very many flows that divide over equal next hops, as arrays: those of ``Routes.route`` for each.

A flow between simple ends (``flow_ends``) is its first legs, pieces that very many flows share, and its last legs. A
piece is what leaves the devices that a flow has come to; what follows depends on these devices and the egress alone.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from benchconsole.topology.arrays import (
    NO_FLOATS,
    NO_INDICES,
    Flags,
    Floats,
    Indices,
    KeyedNumbers,
    Ragged,
    pair_numbers,
    split_pair,
)
from benchconsole.topology.errors import NoPeerLinkError
from benchconsole.topology.routing.attachment import Attachments, LagPair
from benchconsole.topology.routing.flow_ends import FlowEnds
from benchconsole.topology.routing.hop_table import HopTable

_NOTHING = 0
"""The piece without links."""


class Crossed(NamedTuple):
    """Which flow crosses which directed link with which part of itself, in the order of the flows."""

    flow: Indices
    way: Indices
    share: Floats


class _Arrival(NamedTuple):
    """The peer links that are crossed to the last legs (number of a piece), and the parts of these legs."""

    peer: int
    plan: int


class DividedFlows:
    """The links that flows between simple ends of one graph cross; all that some of them share is found once.

    ``_carried`` are the devices that flows come to together, each with the part that comes to it. A step from there
    towards an egress is a piece (``_pieces``: directed links with parts), and what is carried after it. ``_plans`` are
    the parts that the legs of one cabling carry.
    """

    def __init__(self, attachments: Attachments, table: HopTable, ends: FlowEnds) -> None:
        self._attachments = attachments
        self._table = table
        self._ends = ends
        self._carried = Ragged(NO_INDICES, NO_FLOATS)
        self._carried_of: dict[tuple[bytes, bytes], int] = {}
        self._pieces = Ragged(NO_INDICES, NO_FLOATS)
        self._pieces.add(np.zeros(1, np.intp), np.empty(0, np.intp), np.empty(0))
        self._after: Indices = np.array([-1])
        self._plans = Ragged(NO_FLOATS)
        self._entries: list[tuple[int, int]] = []
        self._arrivals: list[_Arrival] = []
        self._steps = KeyedNumbers()
        self._steps_of_fans = KeyedNumbers()
        self._arrival_of = KeyedNumbers()

    def route(self, flow: Indices, source: Indices, sink: Indices) -> tuple[Flags, Crossed]:
        """Which flows have a path, by their simple ends, and what these cross."""
        leaving, into = self._ends.cabling[source], self._ends.cabling[sink]
        carried, first = self._enter(leaving)
        pieces, carried, is_led = self._go_on(carried, self._ends.egress[into])
        found = np.full(len(source), -1)
        found[is_led] = self._arrival_of.find(pair_numbers(carried[is_led], into[is_led]), self._arrive)
        is_led = found >= 0
        arrivals = np.array(self._arrivals, np.intp).reshape(-1, 2)[found[is_led]]
        pieces = [each[is_led] for each in pieces] + [arrivals[:, 0]]
        return is_led, self._join(flow[is_led], source[is_led], sink[is_led], first[is_led], pieces, arrivals[:, 1])

    def _join(
        self,
        flow: Indices,
        source: Indices,
        sink: Indices,
        first: Indices,
        pieces: Sequence[Indices],
        last: Indices,
    ) -> Crossed:
        """The links and parts of every flow: slices of long columns, put one after the other."""
        legs, plans, parts = self._ends.legs, self._plans, self._pieces
        sent = legs.columns[0]
        ways = np.concatenate((sent, sent ^ 1, parts.columns[0]))
        shares = np.concatenate((plans.columns[0], parts.columns[1]))
        slices = [(legs.start[source], plans.start[first], plans.count[first])]
        for piece in pieces:
            start = parts.start[piece]
            slices.append((2 * len(sent) + start, len(plans.columns[0]) + start, parts.count[piece]))
        slices.append((len(sent) + legs.start[sink], plans.start[last], plans.count[last]))
        at_way, at_share, count = (np.stack(each, axis=1).ravel() for each in zip(*slices, strict=True))
        before = np.cumsum(count) - count
        place = np.arange(int(count.sum()))
        way = ways[place + np.repeat(at_way - before, count)]
        share = shares[place + np.repeat(at_share - before, count)]
        flow = np.repeat(flow, count.reshape(len(source), len(slices)).sum(axis=1))
        is_used = share > 0
        return Crossed(flow, way, share) if is_used.all() else Crossed(flow[is_used], way[is_used], share[is_used])

    def _enter(self, cabling: Indices) -> tuple[Indices, Indices]:
        """The load carried on from the first legs, and the parts of these, for each cabling of sources."""
        new = self._ends.cablings[len(self._entries) :]
        if new:
            count = np.array([len(each.devices) for each in new])
            device = np.array([self._table.graph.number[end] for each in new for end in each.devices], np.intp)
            part = np.array([part for each in new for _, part in each.by_cables(range(len(each.devices)))])
            carried = self._keep_carried(len(new), _merge(np.repeat(np.arange(len(new)), count), device, part))
            self._entries += zip(carried, self._plans.add(count, part).tolist(), strict=True)
        entries = np.array(self._entries, np.intp).reshape(-1, 2)[cabling]
        return entries[:, 0], entries[:, 1]

    def _go_on(self, carried: Indices, egress: Indices) -> tuple[list[Indices], Indices, Flags]:
        """The pieces of all flows step by step, what is carried to the egress, and which of the flows get there."""
        pieces: list[Indices] = []
        carried, is_led = carried.copy(), np.ones(len(carried), bool)
        walking = np.arange(len(carried))
        while True:
            first = self._carried.columns[0][self._carried.start[carried[walking]]]
            walking = walking[self._table.vertex[first] != egress[walking]]  # all of it has come there, or none
            if not walking.size:
                return pieces, carried, is_led
            step = self._steps.find(carried[walking] * len(self._table.devices) + egress[walking], self._make_steps)
            is_led[walking[step < 0]] = False
            walking, step = walking[step >= 0], step[step >= 0]
            pieces.append(np.full(len(carried), _NOTHING))
            pieces[-1][walking] = step
            carried[walking] = self._after[step]

    def _make_steps(self, keys: Indices) -> Indices:
        """Steps of what is carried towards an egress, as keys tell both; -1 where nothing leads on."""
        carried, egress = np.divmod(keys, len(self._table.devices))
        found = np.full(len(keys), -1)
        is_one = self._carried.count[carried] == 1
        device = self._carried.columns[0][self._carried.start[carried[is_one]]]
        fans = self._table.find_fans(device, egress[is_one])
        fans[fans >= 0] = self._steps_of_fans.find(fans[fans >= 0], self._make_fan_steps)
        found[is_one] = fans
        if not is_one.all():
            found[~is_one] = self._make_joint_steps(carried[~is_one], egress[~is_one])
        return found

    def _make_fan_steps(self, fans: Indices) -> Indices:
        """The steps of single devices, whatever the egress."""
        table = self._table.fans
        at = table.find(fans)
        of = np.repeat(np.arange(len(fans)), table.count[fans])
        ways, parts, ends = table.columns
        way, part, end = ways[at], parts[at], ends[at]
        return self._add_steps(len(fans), (of, way, part), _merge(of, end, part))

    def _make_joint_steps(self, carried: Indices, egress: Indices) -> Indices:
        """The steps of what several devices carry together."""
        table = self._table
        at = self._carried.find(carried)
        of = np.repeat(np.arange(len(carried)), self._carried.count[carried])
        device, part = self._carried.columns[0][at], self._carried.columns[1][at]
        fan = table.find_fans(device, egress[of])
        is_led = np.ones(len(carried), bool)
        is_led[of[fan < 0]] = False
        kept = is_led[of]
        of, device, part, fan = of[kept], device[kept], part[kept], fan[kept]
        crossing = table.crosses[fan]
        peers = self._spread(of[crossing], fan[crossing], part[crossing])
        if crossing.any():  # the twin leads on, with what it carries itself
            of, device, part = _merge(
                np.concatenate((of[~crossing], peers[0])),
                np.concatenate((device[~crossing], peers[3])),
                np.concatenate((part[~crossing], peers[2])),
            )
            fan = table.find_fans(device, egress[of])
        own = self._spread(of, fan, part)
        of, way = np.concatenate((peers[0], own[0])), np.concatenate((peers[1], own[1]))
        share = np.concatenate((peers[2], own[2]))
        order = np.argsort(of, kind="stable")
        number = np.cumsum(is_led) - 1
        of, way, share = of[order], way[order], share[order]
        ends = _merge(number[own[0]], own[3], own[2])
        found = np.full(len(carried), -1)
        found[is_led] = self._add_steps(int(is_led.sum()), (number[of], way, share), ends)
        return found

    def _spread(self, of: Indices, fan: Indices, part: Floats) -> tuple[Indices, Indices, Floats, Indices]:
        """The links that leave by each fan, in columns: their step, way, part, and the device at their end."""
        table = self._table.fans
        at, count = table.find(fan), table.count[fan]
        ways, shares, ends = table.columns
        return np.repeat(of, count), ways[at], shares[at] * np.repeat(part, count), ends[at]

    def _add_steps(
        self, steps: int, rows: tuple[Indices, Indices, Floats], ends: tuple[Indices, Indices, Floats]
    ) -> Indices:
        """Steps from the links that each crosses and the devices that it leads to, both in the order of the steps."""
        self._after = np.concatenate((self._after, np.array(self._keep_carried(steps, ends), np.intp)))
        return self._pieces.add(np.bincount(rows[0], minlength=steps), *rows[1:])

    def _keep_carried(self, steps: int, ends: tuple[Indices, Indices, Floats]) -> list[int]:
        """The numbers of what is carried after each step; what is carried alike has one."""
        of, devices, parts = ends
        known, found, new = self._carried_of, [], []
        for first, stop in pairwise(np.searchsorted(of, np.arange(steps + 1)).tolist()):
            key = (devices[first:stop].tobytes(), parts[first:stop].tobytes())
            if key not in known:
                known[key] = len(known)
                new.append(slice(first, stop))
            found.append(known[key])
        if new:
            count = np.array([each.stop - each.start for each in new])
            self._carried.add(
                count, np.concatenate([devices[each] for each in new]), np.concatenate([parts[each] for each in new])
            )
        return found

    def _arrive(self, keys: Indices) -> Indices:
        """How what is carried comes to the last legs of a cabling, as keys tell both; -1 where it does not."""
        arrivals = [self._find_arrival(*split_pair(key)) for key in keys.tolist()]
        led = [each for each in arrivals if each is not None]
        found = np.full(len(keys), -1)
        if led:
            is_led = [each is not None for each in arrivals]
            found[is_led] = np.arange(len(self._arrivals), len(self._arrivals) + len(led))
            count = np.array([len(parts) for _, parts in led])
            plans = self._plans.add(count, np.array([part for _, parts in led for part in parts])).tolist()
            self._arrivals += [_Arrival(peer, plan) for (peer, _), plan in zip(led, plans, strict=True)]
        return found

    def _find_arrival(self, carried: int, at: int) -> tuple[int, list[float]] | None:
        """The piece of the peer links, and the part of each leg; None where no peer link is described."""
        cabling = self._ends.cablings[at]
        ends = LagPair((), tuple(range(len(cabling.devices))), self._table.graph.vertex[cabling.devices[0]])
        found = [0.0] * len(cabling.devices)
        crossed: dict[int, float] = {}
        devices, parts = self._carried.columns
        rows = slice(self._carried.start[carried], self._carried.start[carried] + self._carried.count[carried])
        for device, part in zip(devices[rows].tolist(), parts[rows].tolist(), strict=True):
            try:
                peer, legs = self._attachments.arriving(ends, cabling, self._table.devices[device])
            except NoPeerLinkError:
                return None
            for way, through in zip(peer.ways, peer.parts, strict=True) if peer else ():
                crossed[way] = crossed.get(way, 0.0) + part * through
            for leg, through in cabling.by_cables(legs):
                found[leg] += part * through
        if not crossed:
            return _NOTHING, found
        (piece,) = self._pieces.add(np.array([len(crossed)]), np.array([*crossed]), np.array([*crossed.values()]))
        self._after = np.append(self._after, -1)
        return int(piece), found


def _merge(of: Indices, device: Indices, part: Floats) -> tuple[Indices, Indices, Floats]:
    """The sum of the parts at each device of each step, in the order of both."""
    order = np.lexsort((device, of))
    of, device, part = of[order], device[order], part[order]
    starts = np.flatnonzero(np.concatenate(([True], (of[1:] != of[:-1]) | (device[1:] != device[:-1]))))[: len(of)]
    if not len(of):
        return of, device, part
    return of[starts], device[starts], np.add.reduceat(part, starts)
