"""Which nodes explain what several nodes together did not reach: set cover over the sets that were tested. Pure.

A node is a candidate where every set with it is low, as far as sets of its size were tested (group testing: R. Dorfman,
The Detection of Defective Members of Large Populations, 1943). The node that most low sets have in common is taken
first. It is named only where a set of that size without it is good: else the number of nodes, or what all have in
common, explains the same.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.low_verdicts import is_low
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.model.repeats import TestKey, make_test_key
from benchconsole.topology.grouping import group_by_key

MOST, SEVERAL = 0.75, 3
"""From this share of the sets of a probe on, and this many, low ones have one cause that all sets share."""

NEAR = 0.75
"""Sets whose sizes differ by no more than this factor are compared: a larger one may fail by its number of nodes."""

_CLIENT = "client"
"""The label of a reading that is of one node of its set."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSet:
    """Nodes that a probe tested together, with the newest verdicts on its criteria.

    ``system`` is the storage system that the test was told to use; empty where it was told none.
    """

    probe: str
    nodes: frozenset[str]
    system: str
    verdicts: tuple[Verdict, ...]

    @property
    def low(self) -> tuple[Verdict, ...]:
        """The verdicts that a finding may speak of."""
        return tuple(filter(is_low, self.verdicts))

    @property
    def is_good(self) -> bool:
        """Whether all of it passed."""
        return all(each.level is Level.PASS for each in self.verdicts)


@dataclass(frozen=True, slots=True, eq=False)
class SetCause:
    """Low sets that have one cause: ``nodes`` together, or one of them.

    ``is_named`` is whether the one node of ``nodes`` explains them and nothing else does. ``good`` are the sets that
    cleared nodes or show that others reach it; ``by_number`` is whether every good set is clearly smaller or larger.
    """

    nodes: tuple[str, ...]
    low: tuple[JudgedSet, ...]
    good: tuple[JudgedSet, ...]
    is_named: bool = False
    by_number: bool = False

    @property
    def grounds(self) -> tuple[object, ...]:
        """Everything that a finding on it rests on; of equal contents the same objects."""
        names = (sys.intern(node) for node in self.nodes)
        return (*names, self.is_named, self.by_number, *list_verdicts(self.low), *list_verdicts(self.good))


def read_sets(rounds: Sequence[ClosedRound], standing: Iterable[Verdict]) -> list[JudgedSet]:
    """The sets of nodes that were tested together or on a shared storage system; ``rounds`` in their order.

    A node by itself is such a set where its probe tested others. ``standing`` are the low verdicts that count; only
    their probes are read.
    """
    low = {id(each): each for each in standing}
    probes = {each.probe for each in low.values()} & find_shared(judged.round for judged in rounds)
    newest: dict[TestKey, list[tuple[Test, Verdict]]] = {}
    for judged in rounds:
        if probes.isdisjoint(judged.round.probes):
            continue
        keys = {test.id: (make_test_key(test, judged.round.stage), test) for test in judged.round.tests}
        own = (each for each in judged.verdicts if each.kind is Yardstick.CRITERION and each.probe in probes)
        newest.update(group_by_key((keys[each.test][0], (keys[each.test][1], each)) for each in own))
    found = group_by_key(
        ((each.probe, find_nodes(each), name_system(test)), each)
        for verdicts in newest.values()
        for test, each in verdicts
        if id(each) in low or not is_low(each)
    )
    return [JudgedSet(probe, nodes, system, tuple(verdicts)) for (probe, nodes, system), verdicts in found.items()]


def list_verdicts(sets: Iterable[JudgedSet]) -> list[Verdict]:
    """The verdicts on all of ``sets``."""
    return [verdict for each in sets for verdict in each.verdicts]


def find_shared(rounds: Iterable[Round]) -> frozenset[str]:
    """The probes of ``rounds`` that tested several nodes together, or a storage system that these share."""
    return frozenset(test.probe for each in rounds for test in each.firsts if _is_shared(test))


def _is_shared(test: Test) -> bool:
    return len(test.target.nodes) > 1 or bool(name_system(test))


def name_system(test: Test) -> str:
    """The storage system that a test was told to use; empty where it was told none."""
    return str(test.target.options.get("shared") or "")


def find_nodes(verdict: Verdict) -> frozenset[str]:
    """The nodes whose number it is: those of the test, or the one of them that the label ``client`` names."""
    client = dict(verdict.labels).get(_CLIENT, "")
    return frozenset((client,) if client in verdict.nodes else verdict.nodes)


def explain_sets(sets: Sequence[JudgedSet]) -> list[SetCause]:
    """The causes of the low ones of ``sets``, which are all of one probe; that which explains most comes first."""
    low, good = [each for each in sets if each.low], [each for each in sets if each.is_good]
    if len(low) >= max(SEVERAL, MOST * (len(low) + len(good))):
        return [SetCause(_sort(frozenset().union(*(each.nodes for each in low))), tuple(low), tuple(good))]
    largest = max((len(each.nodes) for each in low), default=0)
    cleared = frozenset().union(*(each.nodes for each in good if len(each.nodes) <= largest))
    count = Counter(node for each in low for node in each.nodes - cleared)
    causes: list[SetCause] = []
    while left := +count:
        most = min(left, key=lambda node: (-left[node], node))
        held = [each for each in low if most in each.nodes]
        low = [each for each in low if most not in each.nodes]
        alike = frozenset.intersection(*(each.nodes for each in held)) - cleared
        causes.append(_make_cause({node for node in alike if left[node] == len(held)}, held, good))
        count.subtract(node for each in held for node in each.nodes - cleared)
    return causes + [SetCause(_sort(each.nodes), (each,), tuple(good)) for each in low]


def _make_cause(nodes: Iterable[str], low: Sequence[JudgedSet], good: Sequence[JudgedSet]) -> SetCause:
    alike = frozenset(nodes)
    sizes = [len(each.nodes) for each in low]
    near = [each for each in good if NEAR * min(sizes) <= len(each.nodes) <= max(sizes) / NEAR]
    if good and not near and max(sizes) > 1:
        smallest = min(low, key=lambda each: len(each.nodes))
        return SetCause(_sort(smallest.nodes), tuple(low), tuple(good), by_number=True)
    # Of two ends that failed once the way between them is suspected as much.
    seen = min(sizes) == 1 or len(low) > 1 or max(sizes) > 2
    without = [each for each in near if not alike & each.nodes]
    is_named = len(alike) == 1 and seen and (bool(without) or max(sizes) == 1)
    return SetCause(_sort(alike), tuple(low), tuple(good), is_named)


def _sort(nodes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(nodes))
