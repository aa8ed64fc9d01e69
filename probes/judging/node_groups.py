"""Nodes below one criterion, each by itself, that are one finding: all of a group of nodes, or many of any. Pure.

Of the nodes that a probe found low the criterion that most of them miss is taken first, with all that miss it at the
same level. A group of nodes (everything, a switch, a chassis, a rack, a class) is named where each of its nodes that
was measured, and which the criterion asks, is among them; the largest first. Of the rest a few stay findings by
themselves.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from benchconsole.probes.judging.low_verdicts import is_low
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Criterion

FEW = 5
"""So many nodes that have nothing else in common are findings by themselves."""

SEVERAL = 3
"""From so many nodes on a group is named: of two the names of the nodes say as much."""

EVERYTHING = ""
"""The name of the group of all nodes that were held against a criterion."""

Asked = tuple[str, str, str]
"""A criterion as verdicts tell it: probe, metric, source."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeGroup:
    """Nodes below a criterion: ``judged`` nodes that it asks were measured, among them the nodes of ``low``.

    ``names`` are the groups that have just these of the judged nodes, such as ``chassis c1``; the first one is
    ``EVERYTHING`` where all judged nodes are low. Without names the nodes have no group in common.
    """

    metric: str
    low: Mapping[str, Sequence[Verdict]]
    judged: int
    names: tuple[str, ...] = ()

    @property
    def grounds(self) -> tuple[object, ...]:
        """Everything that a finding on it rests on; of equal contents the same objects."""
        told = sys.intern("/".join((self.metric, str(self.judged), *self.names)))
        return (told, *(each for verdicts in self.low.values() for each in verdicts))


class MeasuredNodes:
    """The nodes that gave a result by themselves, by probe, round by round."""

    def __init__(self) -> None:
        self._nodes: dict[str, set[str]] = {}

    def add_round(self, judged: ClosedRound) -> None:
        """Take in the nodes of a round that gave a result."""
        for part in judged.part_by_probe():
            alone = (each.test.target for each in part.results if each.failure is None)
            found = {target.node.id for target in alone if len(target.nodes) == 1}
            self._nodes.setdefault(part.round.probe, set()).update(found)

    def clear(self) -> None:
        """Forget every round."""
        self._nodes.clear()

    def find(self, asked: Asked, criteria: Iterable[Criterion]) -> Set[str]:
        """The nodes that were measured of which one of ``criteria`` asks it."""
        probe, metric, source = asked
        measured = self._nodes.get(probe, frozenset[str]())
        asking = [each for each in criteria if each.metric == metric and (each.source or "criterion") == source]
        return (
            measured
            if any(not each.nodes for each in asking)
            else {node for node in measured if any(node in each.nodes for each in asking)}
        )


def group_low_nodes(
    low: Mapping[str, Sequence[Verdict]],
    find_judged: Callable[[Asked], Set[str]],
    groupings: Mapping[str, Mapping[str, str]],
) -> Iterator[NodeGroup]:
    """The groups of the nodes in ``low``, each with its low verdicts of one probe; nodes of none are left out.

    ``find_judged`` gives the nodes that were measured of those that a criterion asks; ``groupings`` are the group of
    each node, by kind of group.
    """
    levels = {node: max((each.level for each in own), key=lambda level: level.severity) for node, own in low.items()}
    for level in dict.fromkeys(levels.values()):
        left = {node: own for node, own in low.items() if levels[node] is level}
        while left:
            count = Counter(asked for own in left.values() for asked in _list_asked(own, level))
            most = min(count, key=lambda asked: (-count[asked], asked))
            nodes = {node for node, own in left.items() if most in _list_asked(own, level)}
            yield from _divide({node: left.pop(node) for node in sorted(nodes)}, most, find_judged(most), groupings)


def _divide(
    low: Mapping[str, Sequence[Verdict]], asked: Asked, judged: Set[str], groupings: Mapping[str, Mapping[str, str]]
) -> Iterator[NodeGroup]:
    """Whole groups of nodes first, the largest before the others; then the rest, where it is many."""
    places: dict[frozenset[str], list[str]] = {frozenset(judged): [EVERYTHING]}
    for kind, group_of in groupings.items():
        for name, inside in group_by_key((group_of[node], node) for node in sorted(judged) if node in group_of).items():
            told = name if name.startswith(f"{kind} ") else f"{kind} {name}"
            places.setdefault(frozenset(inside), []).append(told)
    left = set(low)
    for nodes in sorted(places, key=lambda each: (-len(each), sorted(each))):
        if len(nodes) >= SEVERAL and nodes <= left:
            yield NodeGroup(asked[1], {node: low[node] for node in sorted(nodes)}, len(judged), tuple(places[nodes]))
            left -= nodes
    if len(left) > FEW:
        yield NodeGroup(asked[1], {node: low[node] for node in sorted(left)}, len(judged))


def _list_asked(low: Sequence[Verdict], level: Level) -> set[Asked]:
    return {_name_asked(each) for each in low if each.level is level and is_low(each)}


def _name_asked(verdict: Verdict) -> Asked:
    return verdict.probe, verdict.metric, verdict.source
