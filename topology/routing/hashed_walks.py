"""Paths of very many hashed flows at once: those that ``Walker`` takes with ``Hashed``, in arrays.

Flows between simple ends are walked by the tables of their routes (``hashed_hops``). For others all forks that they can
meet are numbered first. Then every flow of every seed takes its next fork in one step, so the steps are as many as the
forks of the longest path.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from benchconsole.topology.arrays import Flags, Indices, Words, join_slices, mix_words
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.model.fabric import Flow
from benchconsole.topology.routing.all_routes import find_simple
from benchconsole.topology.routing.flow_hashes import WORD, FlowWords, hash_flows, hash_text
from benchconsole.topology.routing.hashed_choices import MEMBER
from benchconsole.topology.routing.hashed_forks import HashedFork, HashedForks
from benchconsole.topology.routing.hashed_hops import Draw, HashedHops
from benchconsole.topology.routing.hashed_paths import Hashed, Walker
from benchconsole.topology.routing.routes import Routes

MOST_CHOICES = 4_000_000
"""Choices of all forks that are numbered: half a minute, and some hundred megabytes."""

Cable = tuple[int, int]
"""Number of a directed link (``Graph.way``), and the member of it (from 0)."""


class CannotWalkError(Exception):
    """These flows have to be walked one by one: what one takes depends on the others, or on more than its forks."""


class CrossedCables(NamedTuple):
    """Which flow crosses which member cable of which directed link, in the order of the flows and of their paths."""

    flow: Indices
    way: Indices
    member: Indices


def walk_flows(routes: Routes, flows: Sequence[Flow], seed: int, *, polarised: bool) -> CrossedCables:
    """Cables that each flow crosses by one seed. CannotWalkError as ``HashedWalks``; RoutingError for the first flow
    without a path.
    """
    _check_links(routes)
    words, is_alone = FlowWords(flows), np.ones(len(flows), bool)
    salt = mix_words(np.array([seed & WORD], np.uint64))
    found = []
    for own, places, source, sink in find_simple(routes, flows):
        is_led, steps = own.hashed.walk(source, sink, Draw(words, places, np.repeat(salt, len(places)), polarised))
        is_alone[places[is_led]] = False
        way, member = own.hashed.cables
        walk, cable = _list_steps([step[is_led] for step in steps])
        found.append(CrossedCables(places[is_led][walk], way[cable], member[cable]))
    alone = np.flatnonzero(is_alone).tolist()
    if alone:
        found.append(_walk_alone(Walker(routes, Hashed(seed, polarised=polarised)), flows, alone))
    if len(found) == 1:
        return found[0]
    flow, way, member = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(flow, kind="stable")
    return CrossedCables(flow[order], way[order], member[order])


def _walk_alone(walker: Walker, flows: Sequence[Flow], places: Sequence[int]) -> CrossedCables:
    """The walker forgets its forks: what is made while the collector pauses may leave no cycle."""
    keys = hash_flows(flows)
    rows = [(place, step.way, step.member) for place in places for step in walker.path(flows[place], keys[place])]
    walker.forget_forks()
    return CrossedCables(*np.array(rows, np.intp).T)


def _list_steps(steps: Sequence[Indices]) -> tuple[Indices, Indices]:
    """Which walk takes which cable, walk by walk, from the cable of each at every step (-1 for none)."""
    table = np.stack(steps, axis=1)
    walk, step = np.nonzero(table >= 0)
    return walk, table[walk, step]


@dataclass(frozen=True, slots=True)
class Walks:
    """Which walk crosses which cable: two arrays of equal length, walk by walk.

    Walk ``number * flows + index`` is that of a flow under the seed of that number; cables are numbers of
    ``HashedWalks.cables``.
    """

    walk: Indices
    cable: Indices


class _SimpleWalks(NamedTuple):
    """Flows between simple ends of one graph: their places, ends, and numbers of the cables that they can take."""

    hops: HashedHops
    places: Indices
    source: Indices
    sink: Indices
    cables: Indices


class HashedWalks:
    """The forks of some flows, numbered. CannotWalkError where a flow cannot be walked beside others.

    RoutingError for a flow without a path. ``cables`` are all that any walk can cross. ``polarised``: a choice depends
    on seed and flow alone.
    """

    @pause_collector()
    def __init__(self, routes: Routes, flows: Sequence[Flow], *, polarised: bool = False) -> None:
        _check_links(routes)
        _check_flows(routes, flows)
        self._words = FlowWords(flows)
        self._polarised = polarised
        self._flows = len(flows)
        self._simple: list[_SimpleWalks] = []
        self._numbering = _Numbering()
        rest = self._explore_simple(routes, flows)
        self._rest = np.flatnonzero(rest)
        self._number_forks(routes, [flows[place] for place in self._rest.tolist()])
        self.cables = tuple(self._numbering.cables)

    def _explore_simple(self, routes: Routes, flows: Sequence[Flow]) -> Flags:
        """Numbers the cables of the flows between simple ends; which of the flows are others."""
        rest = np.ones(len(flows), bool)
        numbers = self._numbering.cables
        for own, places, source, sink in find_simple(routes, flows):
            reached = own.hashed.explore(source, sink) if places.size else None
            if reached is None:
                continue
            way, member = (column[reached].tolist() for column in own.hashed.cables)
            known = np.full(int(reached.max()) + 1, -1)
            known[reached] = [numbers.setdefault(cable, len(numbers)) for cable in zip(way, member, strict=True)]
            self._simple.append(_SimpleWalks(own.hashed, places, source, sink, known))
            rest[places] = False
        return rest

    def _number_forks(self, routes: Routes, flows: Sequence[Flow]) -> None:
        numbering = self._numbering
        forks = HashedForks(routes, sort=True)
        begins = {flow: numbering.add_choices([([], forks.start(flow))]) for flow in dict.fromkeys(flows)}
        numbering.finish()
        self._begin = np.array([begins[flow] for flow in flows], np.intp)
        self._cable_of = np.array(numbering.crossed, np.intp)
        self._start = np.array([*numbering.starts, len(numbering.crossed)], np.intp)
        self._next = np.array(numbering.nexts, np.intp)
        self._first = np.array(numbering.first, np.intp)
        self._count = np.array(numbering.count, np.uint64)
        self._salt = np.array([0 if self._polarised else salt for salt in numbering.salt], np.uint64)
        self._sees_ports = np.array(numbering.sees_ports, bool)

    def walk(self, seeds: Sequence[int]) -> Walks:
        """The paths of all flows under each of ``seeds``."""
        salts = mix_words(np.array([seed & WORD for seed in seeds], np.uint64))
        found = [self._walk_simple(each, salts) for each in self._simple]
        if len(self._rest):
            found.append(self._walk_forks(salts))
        if len(found) == 1:
            return found[0]
        walk = np.concatenate([each.walk for each in found])
        order = np.argsort(walk, kind="stable")
        return Walks(walk[order], np.concatenate([each.cable for each in found])[order])

    def _walk_simple(self, simple: _SimpleWalks, salts: Words) -> Walks:
        seeds = len(salts)
        draw = Draw(self._words, np.tile(simple.places, seeds), np.repeat(salts, len(simple.places)), self._polarised)
        _, steps = simple.hops.walk(np.tile(simple.source, seeds), np.tile(simple.sink, seeds), draw)
        walk, cable = _list_steps(steps)
        number, place = np.divmod(walk, len(simple.places))
        return Walks(number * self._flows + simple.places[place], simple.cables[cable])

    def _walk_forks(self, salts: Words) -> Walks:
        by_stream, by_ends = (words[self._rest] for words in (self._words.streams, self._words.ends))
        flows = len(self._begin)
        taken = [np.tile(self._begin, len(salts))]
        fork = self._next[taken[0]]
        walking = np.flatnonzero(fork >= 0)
        fork = fork[walking]
        while walking.size:
            number, flow = np.divmod(walking, flows)
            key = np.where(self._sees_ports[fork], by_stream[flow], by_ends[flow])
            drawn = mix_words(key ^ mix_words(self._salt[fork] ^ salts[number])) % self._count[fork]
            choice = self._first[fork] + drawn.astype(np.intp)
            taken.append(np.full(len(taken[0]), -1, np.intp))
            taken[-1][walking] = choice
            fork = self._next[choice]
            walking, fork = walking[fork >= 0], fork[fork >= 0]
        of_walk, choices = _list_steps(taken)
        count = self._start[choices + 1] - self._start[choices]
        number, flow = np.divmod(np.repeat(of_walk, count), flows)
        cable = self._cable_of[join_slices(self._start[choices], count)]
        return Walks(number * self._flows + self._rest[flow], cable)


class _Numbering:
    """Numbers of forks, of their choices and of cables.

    Per fork: its ``first`` choice, their ``count``, the ``salt`` of its hash, and whether this ``sees_ports``. Per
    choice: where its cables begin in ``crossed`` (``starts``), and the fork that follows (``nexts``), -1 for none.
    """

    def __init__(self) -> None:
        self.cables: dict[Cable, int] = {}
        self.crossed, self.starts, self.nexts = array("q"), array("q"), array("q")
        self.first, self.count, self.salt, self.sees_ports = array("q"), array("q"), array("Q"), array("b")
        self._shared: dict[HashedFork, int] = {}
        self._waiting: list[tuple[int, HashedFork]] = []

    def add_choices(self, choices: Sequence[tuple[list[Cable], HashedFork | None]]) -> int:
        """The number of the first of ``choices``: the cables of each, and the fork after them."""
        numbered = []
        for cables, fork in choices:
            crossed, onward = list(cables), fork
            while onward is not None and len(onward.among) == 1:
                crossed += _list_cable(onward, 0)
                onward = onward.follow(0)
            numbered.append((crossed, -1 if onward is None else self._add_fork(onward)))
        if len(self.nexts) + len(numbered) > MOST_CHOICES:
            raise CannotWalkError(f"more than {MOST_CHOICES:,} choices")
        for crossed, number in numbered:
            self.starts.append(len(self.crossed))
            self.crossed.extend(self.cables.setdefault(cable, len(self.cables)) for cable in crossed)
            self.nexts.append(number)
        return len(self.nexts) - len(numbered)

    def _add_fork(self, fork: HashedFork) -> int:
        """The number of a fork. One that only this flow meets is numbered to its end at once, and not kept."""
        if fork in self._shared:
            return self._shared[fork]
        number = len(self.first)
        self.first.append(-1)
        self.count.append(len(fork.among))
        self.salt.append(hash_text(fork.device, fork.stage))
        self.sees_ports.append(fork.policy.sees_ports)
        if fork.is_shared:
            self._shared[fork] = number
            self._waiting.append((number, fork))
        else:
            self._follow(number, fork)
        return number

    def finish(self) -> None:
        """Number all that follows the forks that are shared."""
        while self._waiting:
            self._follow(*self._waiting.pop())

    def _follow(self, number: int, fork: HashedFork) -> None:
        positions = range(len(fork.among))
        self.first[number] = self.add_choices([(_list_cable(fork, each), fork.follow(each)) for each in positions])


def _list_cable(fork: HashedFork, position: int) -> list[Cable]:
    return [cast(Cable, fork.among[position])] if fork.stage == MEMBER else []


def _check_links(routes: Routes) -> None:
    if routes.graph.columns.channelled:
        raise CannotWalkError("the channel of a flow depends on its VLAN")
    if routes.graph.columns.steered is not None:
        raise CannotWalkError(f"choices at {routes.graph.columns.steered.a} are taken in turn")


def _check_flows(routes: Routes, flows: Sequence[Flow]) -> None:
    nodes = routes.fabric.nodes
    for flow in flows:
        for node in (nodes[flow.source], nodes[flow.sink]):
            if nodes[node.host or node.id].forwards:
                raise CannotWalkError(f"{node.id} forwards, and no flow of its own leads through it")
