"""Paths of rules that are not those of least hops: minimal and Valiant on a dragonfly or HyperX, dimension order on a
torus, mesh or HyperX.

The groups of a dragonfly are the pods of the file. The place of a switch on a torus, mesh or HyperX is in its name:
each number that differs between switches is a coordinate (``r2-3``), the first is crossed first. A dimension with a
cable between switches that are no neighbours in it is one of a HyperX, where each is cabled to each.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from benchconsole.topology.errors import RoutingError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.graph import Graph

_NUMBER = re.compile(r"\d+")


class WeightedPath(NamedTuple):
    """Devices from the first switch to the last, and the part of the traffic that takes them, in (0, 1]."""

    part: Fraction
    devices: tuple[str, ...]


class PathRules:
    """The paths of one graph by each rule; what follows from its names and groups is found once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._found: dict[tuple[RoutingRule, str, str], tuple[WeightedPath, ...]] = {}

    def find(self, rule: RoutingRule, source: str, sink: str) -> tuple[WeightedPath, ...]:
        """The paths from one switch to another with their parts, which add up to 1.

        RoutingError where the fabric is not of the shape that the rule is made for, or leaves no such path.
        """
        key = (rule, source, sink)
        if key not in self._found:
            pairs = sorted(self._graph.fabric.mlag_of.keys() & {source, sink})
            if pairs:
                raise RoutingError(f"{pairs[0]} is one of a pair (mlag), and {rule} routing knows single switches only")
            if rule is RoutingRule.DIMENSION_ORDER:
                paths = self._in_dimensions(source, sink)
            elif self._is_hyperx and rule is RoutingRule.VALIANT:
                paths = self._by_third_switch(source, sink)
            elif self._is_hyperx:
                paths = self._in_any_order(source, sink)
            elif rule is RoutingRule.VALIANT:
                paths = self._by_third_group(source, sink)
            else:
                paths = self._by_one_global(source, sink)
            merged = group_by_key((path.devices, path.part) for path in paths)
            self._found[key] = tuple(WeightedPath(sum(parts, Fraction()), way) for way, parts in merged.items())
        return self._found[key]

    def _cabled(self, here: str, there: str) -> bool:
        return here == there or there in self._graph.hops_from(here)

    # -- dragonfly

    @cached_property
    def _group(self) -> Mapping[str, str]:
        found = {name: group.name for name, group in self._graph.fabric.group_of("pod").items()}
        loose = sorted(switch for switch in self._graph.switches if switch not in found)
        if loose:
            raise RoutingError(f"{loose[0]} is in no pod: the groups of a dragonfly are pods of the file")
        return found

    @cached_property
    def _globals(self) -> Mapping[tuple[str, str], list[tuple[str, str]]]:
        """The cables from one group to another, each as the switches that it joins, in the order of their names."""
        found = []
        for here in sorted(self._graph.switches):
            for there, hop in sorted(self._graph.hops_from(here).items()):
                if self._group[here] != self._group.get(there, self._group[here]):
                    cables = sum(link.count for link in hop.links)
                    found += [((self._group[here], self._group[there]), (here, there))] * cables
        return group_by_key(found)

    def _by_one_global(self, source: str, sink: str) -> list[WeightedPath]:
        """Local, global, local: at most one cable between groups, and each of those evenly."""
        here, there = self._group[source], self._group[sink]
        ways: list[tuple[str, ...]] = [(source, sink)]
        if here != there:
            ways = [(source, out, into, sink) for out, into in self._globals.get((here, there), ())]
        ways = [way for way in ways if all(itertools.starmap(self._cabled, itertools.pairwise(way)))]
        if not ways:
            raise RoutingError(f"no minimal path from {source} to {sink}: one local, one global and one local cable")
        return [WeightedPath(Fraction(1, len(ways)), _drop_repeats(way)) for way in ways]

    def _by_third_group(self, source: str, sink: str) -> list[WeightedPath]:
        """By way of each other group evenly, minimal to it and on from where it is entered; minimal within a group."""
        here, there = self._group[source], self._group[sink]
        if here == there:
            return self._by_one_global(source, sink)
        found: list[list[WeightedPath]] = []
        for middle in sorted(set(self._group.values()) - {here, there}):
            entered = self._globals.get((here, middle), ())
            ways = [(out, into) for out, into in entered if self._cabled(source, out)]
            try:
                found.append(
                    [
                        WeightedPath(path.part / len(ways), _drop_repeats((source, out, *path.devices)))
                        for out, into in ways
                        for path in self._by_one_global(into, sink)
                    ]
                )
            except RoutingError:  # no way on from there, so no flow is sent there
                continue
        found = [paths for paths in found if paths]
        if not found:
            raise RoutingError(f"no Valiant path from {source} to {sink}: no third group is cabled to both of theirs")
        return [WeightedPath(path.part / len(found), path.devices) for paths in found for path in paths]

    # -- HyperX

    @cached_property
    def _is_hyperx(self) -> bool:
        """Whether the file has no groups, and places switches in dimensions of which one has more than neighbours."""
        if self._graph.fabric.group_of("pod").keys() & set(self._graph.switches):
            return False
        try:
            return bool(self._meshed)
        except RoutingError:  # no such names, so its groups are asked for
            return False

    def _in_any_order(self, source: str, sink: str) -> list[WeightedPath]:
        """One cable in each dimension that differs, in each order of them evenly."""
        ends, start = self._places[sink], self._places[source]
        differing = [axis for axis, (a, b) in enumerate(zip(start, ends, strict=True)) if a != b]
        found = []
        for order in itertools.permutations(differing):
            path, here = [source], list(start)
            for axis in order:
                here[axis] = ends[axis]
                path.append(self._at.get(tuple(here), ""))
            if all(itertools.starmap(self._cabled, itertools.pairwise(path))):
                found.append(tuple(path))
        if not found:
            raise RoutingError(f"no minimal path from {source} to {sink}: one cable in each dimension")
        return [WeightedPath(Fraction(1, len(found)), path) for path in found]

    def _by_third_switch(self, source: str, sink: str) -> list[WeightedPath]:
        """By way of each other switch evenly, in the order of the dimensions to it and on."""
        if source == sink:
            return [WeightedPath(Fraction(1), (source,))]
        found: list[list[WeightedPath]] = []
        for middle in sorted(set(self._places) - {source, sink}):
            try:
                to, on = self._in_dimensions(source, middle), self._in_dimensions(middle, sink)
            except RoutingError:  # no way there, so no flow is sent there
                continue
            found.append([WeightedPath(a.part * b.part, a.devices + b.devices[1:]) for a in to for b in on])
        if not found:
            raise RoutingError(f"no Valiant path from {source} to {sink}: no third switch is cabled to both")
        return [WeightedPath(path.part / len(found), path.devices) for paths in found for path in paths]

    # -- torus, mesh and HyperX

    @cached_property
    def _places(self) -> Mapping[str, tuple[int, ...]]:
        """The coordinates of each switch, counted from 0."""
        numbers = {switch: tuple(map(int, _NUMBER.findall(switch))) for switch in sorted(self._graph.switches)}
        many = {len(each) for each in numbers.values()}
        if len(many) != 1:
            fewest = min(numbers, key=lambda switch: len(numbers[switch]))
            raise RoutingError(
                f"dimension order reads the place of a switch from the numbers in its name, as in r2-3; "
                f"{fewest} has {len(numbers[fewest])} and others have {max(many)}"
            )
        axes = [sorted(set(axis)) for axis in zip(*numbers.values(), strict=True)]
        kept = [(place, {value: index for index, value in enumerate(axis)}) for place, axis in enumerate(axes)]
        kept = [(place, order) for place, order in kept if len(order) > 1]
        found = {name: tuple(order[each[place]] for place, order in kept) for name, each in numbers.items()}
        twice = [names for names in group_by_key((place, name) for name, place in found.items()).values() if names[1:]]
        if twice:
            raise RoutingError(f"{twice[0][0]} and {twice[0][1]} are at the same place of the torus by their names")
        return found

    @cached_property
    def _meshed(self) -> frozenset[int]:
        """The dimensions of a HyperX: those with a cable between switches that are no neighbours in it."""
        places, found = self._places, set()
        sizes = [max(axis) + 1 for axis in zip(*places.values(), strict=True)]
        for here, there in ((a, b) for a in places for b in self._graph.hops_from(a) if b in places):
            steps = [
                min((x - y) % size, (y - x) % size)
                for x, y, size in zip(places[here], places[there], sizes, strict=True)
            ]
            if sum(step > 0 for step in steps) != 1:
                raise RoutingError(
                    f"{here} to {there} joins no neighbours of a torus or mesh, by the numbers in their names"
                )
            found |= {axis for axis, step in enumerate(steps) if step > 1}
        return frozenset(found)

    @cached_property
    def _at(self) -> Mapping[tuple[int, ...], str]:
        return {place: switch for switch, place in self._places.items()}

    def _in_dimensions(self, source: str, sink: str) -> list[WeightedPath]:
        """One dimension after the other, the shorter way round; where both are as short, half of it each."""
        ends = self._places[sink]
        found = [WeightedPath(Fraction(1), (source,))]
        for axis, end in enumerate(ends):
            longer = []
            for path in found:
                ways = list(self._along(self._places[path.devices[-1]], axis, end))
                shortest = [way for way in ways if len(way) == min(map(len, ways))]
                if not shortest:
                    raise RoutingError(f"no path from {source} to {sink} in the order of the dimensions")
                longer += [WeightedPath(path.part / len(shortest), path.devices + way) for way in shortest]
            found = longer
        return found

    def _across(self, start: Sequence[int], axis: int, end: int) -> Iterator[tuple[str, ...]]:
        """The switch at the end, where it is cabled to the first."""
        before, after = self._at[tuple(start)], self._at.get((*start[:axis], end, *start[axis + 1 :]))
        if before == after:
            yield ()
        elif after is not None and self._cabled(before, after):
            yield (after,)

    def _along(self, start: Sequence[int], axis: int, end: int) -> Iterator[tuple[str, ...]]:
        """The switches after the first, each way round that is cabled; once where both ways are the same."""
        if axis in self._meshed:
            yield from self._across(start, axis, end)
            return
        size = 1 + max(place[axis] for place in self._at)
        seen = set()
        for step in (1, -1):
            here, way = list(start), []
            while here[axis] != end:
                before = self._at[tuple(here)]
                here[axis] = (here[axis] + step) % size
                after = self._at.get(tuple(here))
                if after is None or not self._cabled(before, after):
                    break
                way.append(after)
            else:
                if tuple(way) not in seen:
                    seen.add(tuple(way))
                    yield tuple(way)


def _drop_repeats(devices: Sequence[str]) -> tuple[str, ...]:
    """Without a device that follows itself: where a switch has the global cable, there is no local one."""
    return tuple(device for device, _ in itertools.groupby(devices))
