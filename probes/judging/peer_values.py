"""The numbers of nodes that are compared with those of their peers: rates of tests on single nodes, round by round.

A rate that is held against the fabric is not among them: its expectation knows the way of each flow. Times and counts
are not: their tails are long on healthy nodes, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.peer_class import PeerClass, find_peer_class
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measurement_table import MeasurementTable, tabulate
from benchconsole.probes.model.measuring import Labels, Result, Test
from benchconsole.probes.model.plausible_numbers import find_implausible
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.planning.sweeps import REPETITION
from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.model.fabric import Node, NodeId
from benchconsole.topology.units import RATES, Unit


class PeerKey(NamedTuple):
    """The key of numbers that may be compared: one metric of one stage with the same labels, repetitions apart."""

    stage: str
    probe: str
    metric: str
    unit: Unit
    labels: Labels


@dataclass(frozen=True, slots=True, eq=False)
class PeerValues:
    """The number of each node (of several repeats their median): places in ``PeerRates.nodes`` and ``tests``.

    ``tests`` are the newest test of each.
    """

    key: PeerKey
    nodes: Indices
    tests: Indices
    values: Floats


class _Column(NamedTuple):
    """Numbers of one round: of each the number of its test and of its repeats, its node, its test, its value."""

    number: Indices
    node: Indices
    test: Indices
    value: Floats


class PeerRates:
    """The rates of single nodes over the rounds of a session; of a test that was repeated the newest counts.

    ``nodes`` and ``tests`` are those that were met; ``kinds`` tells of each node its class and cohorts by a number.
    ``inventories`` are the newest results of the inventory of each node: what peers are told apart by.
    """

    def __init__(self, context: JudgingContext) -> None:
        self._context = context
        self.nodes: list[Node] = []
        self.tests: list[Test] = []
        self.kinds: list[int] = []
        self.inventories: dict[NodeId, Result] = {}
        self._node: dict[NodeId, int] = {}
        self._kind: dict[PeerClass, int] = {}
        self._number: dict[tuple[str, str, int, Labels], int] = {}
        self._columns: dict[PeerKey, list[_Column]] = {}
        self._joined: dict[PeerKey, tuple[int, PeerValues]] = {}

    def add_round(self, judged: ClosedRound, measured: MeasurementTable | None = None) -> None:
        """Take in a round whose measurements are in ``measured``, or in its results."""
        for part in judged.part_by_probe():
            self._add(part, measured)

    def _add(self, judged: ClosedRound, measured: MeasurementTable | None) -> None:
        if judged.round.probe == INVENTORY:
            self.inventories.update({each.test.target.node.id: each for each in judged.results if not each.failure})
            return
        table = tabulate(judged.results) if measured is None else measured
        if not len(table.kinds):
            return
        flows = {each.metric for each in self._context.capacity_criteria(judged.round.probe)}
        node = np.array([self._find_node(each.test) for each in judged.results], np.intp)
        number = np.array(
            [self._find_number(each.test, judged.round.stage, own)
             for each, own in zip(judged.results, node.tolist(), strict=True)], np.intp
        )  # fmt: skip
        test = np.arange(len(self.tests), len(self.tests) + len(judged.results))
        self.tests += [each.test for each in judged.results]
        for kind, places in table.group_by_kind():
            if kind.unit not in RATES or kind.metric in flows:
                continue
            chosen = places[(node[table.result[places]] >= 0) & ~find_implausible(table.value[places])]
            if len(chosen):
                labels = tuple(pair for pair in kind.labels if pair[0] != REPETITION)
                key = PeerKey(judged.round.stage, judged.round.probe, kind.metric, kind.unit, labels)
                of = table.result[chosen]
                self._columns.setdefault(key, []).append(_Column(number[of], node[of], test[of], table.value[chosen]))

    def _find_node(self, test: Test) -> int:
        """The place of the node of a test; -1 for a test of several nodes."""
        target = test.target
        if target.peer is not None or len(target.members) > 1:
            return -1
        place = self._node.setdefault(target.node.id, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(target.node)
            self.kinds.append(self._kind.setdefault(find_peer_class(target.node), len(self._kind)))
        return place

    def _find_number(self, test: Test, stage: str, node: int) -> int:
        """A number for a test and its repeats."""
        return self._number.setdefault((stage, test.probe, node, test.target.labels), len(self._number))

    def list_values(self) -> Iterator[PeerValues]:
        """The numbers of all nodes, by what may be compared; the same objects where no round has brought more."""
        for key, columns in self._columns.items():
            known = self._joined.get(key)
            if known is None or known[0] != len(columns):
                known = self._joined[key] = (len(columns), _join(key, columns))
            yield known[1]


def _join(key: PeerKey, columns: Sequence[_Column]) -> PeerValues:
    """One number for each node, in the order in which nodes were met."""
    whole = _Column(*(np.concatenate(each) for each in zip(*columns, strict=True)))
    _, last = np.unique(whole.number[::-1], return_index=True)
    newest = len(whole.number) - 1 - last
    node, test, value = whole.node[newest], whole.test[newest], whole.value[newest]
    order = np.lexsort((value, node))
    nodes, first, count = np.unique(node[order], return_index=True, return_counts=True)
    ranked = value[order]
    middle = (ranked[first + (count - 1) // 2] + ranked[first + count // 2]) / 2
    return PeerValues(key, nodes, np.maximum.reduceat(test[order], first), middle)
