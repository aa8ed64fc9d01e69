"""Paths of very many hashed flows at once, over several seeds: those that ``Walker`` takes with ``Hashed``, in arrays.

All forks that the flows can meet are numbered first. Then every flow of every seed takes its next fork in one step, so
the steps are as many as the forks of the longest path.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from benchconsole.topology.arrays import Indices, join_slices, mix_words
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.model.fabric import Flow, HashPolicy
from benchconsole.topology.routing.hashed_forks import MEMBER, HashedFork, HashedForks
from benchconsole.topology.routing.hashed_paths import hash_flows, hash_text
from benchconsole.topology.routing.routes import Routes

MOST_CHOICES = 4_000_000
"""Choices of all forks that are numbered: half a minute, and some hundred megabytes."""

Cable = tuple[int, int]
"""Number of a directed link (``Graph.way``), and the member of it (from 0)."""


class CannotWalkError(Exception):
    """These flows have to be walked one by one: what one takes depends on the others, or on more than its forks."""


@dataclass(frozen=True, slots=True)
class Walks:
    """Which walk crosses which cable: two arrays of equal length, walk by walk.

    Walk ``number * flows + index`` is that of a flow under the seed of that number; cables are numbers of
    ``HashedWalks.cables``.
    """

    walk: Indices
    cable: Indices


class HashedWalks:
    """The forks of some flows, numbered. CannotWalkError where a flow cannot be walked beside others.

    RoutingError for a flow without a path. ``cables`` are all that any walk can cross. ``polarised``: a choice depends
    on seed and flow alone.
    """

    @pause_collector()
    def __init__(self, routes: Routes, flows: Sequence[Flow], *, polarised: bool = False) -> None:
        _check_flows(routes, flows)
        keys = hash_flows(flows)
        self._by_ends = np.array([key.ends for key in keys], np.uint64)
        self._by_stream = np.array([key.stream for key in keys], np.uint64)
        numbering = _Numbering()
        forks = HashedForks(routes, sort=True)
        begins = {flow: numbering.add_choices([([], forks.start(flow))]) for flow in dict.fromkeys(flows)}
        numbering.finish()
        self._begin = np.array([begins[flow] for flow in flows], np.intp)
        self.cables = tuple(numbering.cables)
        self._cable_of = np.array(numbering.crossed, np.intp)
        self._start = np.array([*numbering.starts, len(numbering.crossed)], np.intp)
        self._next = np.array(numbering.nexts, np.intp)
        self._first = np.array(numbering.first, np.intp)
        self._count = np.array(numbering.count, np.uint64)
        self._salt = np.array([0 if polarised else salt for salt in numbering.salt], np.uint64)
        self._sees_ports = np.array(numbering.sees_ports, bool)

    def walk(self, seeds: Sequence[int]) -> Walks:
        """The paths of all flows under each of ``seeds``."""
        flows = len(self._begin)
        salts = mix_words(np.array([seed % 2**64 for seed in seeds], np.uint64))
        taken = [np.tile(self._begin, len(seeds))]
        fork = self._next[taken[0]]
        walking = np.flatnonzero(fork >= 0)
        fork = fork[walking]
        while walking.size:
            number, flow = np.divmod(walking, flows)
            key = np.where(self._sees_ports[fork], self._by_stream[flow], self._by_ends[flow])
            drawn = mix_words(key ^ mix_words(self._salt[fork] ^ salts[number])) % self._count[fork]
            choice = self._first[fork] + drawn.astype(np.intp)
            taken.append(np.full(len(taken[0]), -1, np.intp))
            taken[-1][walking] = choice
            fork = self._next[choice]
            walking, fork = walking[fork >= 0], fork[fork >= 0]
        steps = np.stack(taken, axis=1)
        of_walk, step = np.nonzero(steps >= 0)
        choices = steps[of_walk, step]
        count = self._start[choices + 1] - self._start[choices]
        return Walks(np.repeat(of_walk, count), self._cable_of[join_slices(self._start[choices], count)])


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
        if fork.policy is HashPolicy.STEERED:
            raise CannotWalkError(f"choices at {fork.device} are taken in turn")
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


def _check_flows(routes: Routes, flows: Sequence[Flow]) -> None:
    if any(link.channels for link in routes.graph.links):
        raise CannotWalkError("the channel of a flow depends on its VLAN")
    nodes = routes.fabric.nodes
    for flow in flows:
        for node in (nodes[flow.source], nodes[flow.sink]):
            if nodes[node.host or node.id].forwards:
                raise CannotWalkError(f"{node.id} forwards, and no flow of its own leads through it")
