"""Peers: nodes that deviate from those that are like them, and groups that nobody declared. Pure.

Nodes are peers where the file gives them one class, and one cohort in each dimension. Where their numbers fall into
groups, a fact of the inventory or a place in the fabric that parts the nodes alike is looked for; then each group has
its own deviants. ``probes.statistics.peers`` knows what is chance.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.peer_values import PeerKey, PeerRates, PeerValues
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measurement_table import MeasurementTable
from benchconsole.probes.model.measuring import Result
from benchconsole.probes.statistics.peers import FEWEST, count_as_deviants, find_deviants, find_groups
from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.selection import fold

PURE = 0.95
"""A property explains groups of numbers where it tells so many of the nodes their group, and is known of as many."""

Properties = Mapping[str, Mapping[NodeId, str]]
"""Of each property the value that each node has."""


@dataclass(frozen=True, slots=True, eq=False)
class PeerGroup:
    """Nodes that are alike in one metric, with their ``values`` in its unit; ``rates`` knows the nodes and tests.

    ``name`` tells what they have in common besides their class (``memory.dimms 8``), empty where nothing does.
    ``low`` and ``high`` are the places of its deviants, furthest first; more than a tenth on one side are none, but a
    spread. ``deviation`` is a robust standard deviation, as a share of the ``median``.
    """

    rates: PeerRates
    of: PeerValues
    name: str
    median: float
    deviation: float
    low: Indices
    high: Indices

    @property
    def key(self) -> PeerKey:
        return self.of.key

    @property
    def values(self) -> Floats:
        return self.of.values

    @property
    def number(self) -> int:
        """How many nodes there are."""
        return len(self.of.nodes)

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        return tuple(map(self.find_node, range(self.number)))

    @property
    def tests(self) -> tuple[str, ...]:
        """The ids of their newest tests."""
        return tuple(map(self.find_test, range(self.number)))

    def find_node(self, place: int) -> NodeId:
        found: NodeId = self.rates.nodes[self.of.nodes[place]].id
        return found

    def find_test(self, place: int) -> str:
        found: str = self.rates.tests[self.of.tests[place]].id
        return found


class PeerGroups:
    """The groups of peers of each metric of a session, made anew where a round brought more numbers of it."""

    def __init__(self, context: JudgingContext) -> None:
        self._context = context
        self._rates = PeerRates(context)
        self._known: dict[PeerKey, tuple[PeerValues, int, list[tuple[PeerGroup, ...]]]] = {}

    def add_round(self, judged: ClosedRound, measured: MeasurementTable | None = None) -> None:
        """Take in a round whose measurements are in ``measured``, or in its results."""
        self._rates.add_round(judged, measured)

    def clear(self) -> None:
        """Forget every round."""
        self._rates = PeerRates(self._context)

    def list_groups(self) -> Iterator[tuple[PeerGroup, ...]]:
        """The peers of each metric, lowest group first: one group, or several that nobody declared."""
        every = list(self._rates.list_values())
        # Rounded up to a power of two, so that one more metric does not change what chance is for all others.
        samples = 1 << max(len(every) - 1, 0).bit_length()
        for values in every:
            known = self._known.get(values.key)
            if known is None or known[0] is not values or known[1] != samples:
                groups = [tuple(self._list_groups(part, samples)) for part in _part_kinds(self._rates, values)]
                known = self._known[values.key] = (values, samples, groups)
            yield from known[2]

    def _list_groups(self, of: PeerValues, samples: int) -> Iterator[PeerGroup]:
        parts: Sequence[Indices] = find_groups(of.values)
        names = [""]
        if len(parts) > 1:
            nodes = [self._rates.nodes[place].id for place in of.nodes.tolist()]
            parts, names = _name_groups(nodes, parts, read_properties(self._rates.inventories, self._context.groupings))
        for places, name in zip(parts, names, strict=True):
            own = _select(of, places)
            found = find_deviants(own.values, samples)
            sides = (each if count_as_deviants(own.values, each) else each[:0] for each in (found.low, found.high))
            yield PeerGroup(self._rates, own, name, found.median, found.deviation, *sides)


def _part_kinds(rates: PeerRates, of: PeerValues) -> Iterator[PeerValues]:
    """Nodes of one class and of the same cohorts together, where they are enough to be peers."""
    kinds = np.array(rates.kinds, np.intp)[of.nodes]
    for kind in np.unique(kinds).tolist():
        places = np.flatnonzero(kinds == kind)
        if len(places) >= FEWEST:
            yield _select(of, places)


def _select(of: PeerValues, places: Indices) -> PeerValues:
    return PeerValues(of.key, of.nodes[places], of.tests[places], of.values[places])


def _name_groups(
    nodes: Sequence[NodeId], parts: Sequence[Indices], properties: Properties
) -> tuple[Sequence[Indices], list[str]]:
    """The groups as the best property parts the nodes, with their names; as the numbers part them where none does."""
    group_of = np.zeros(len(nodes), np.intp)
    for number, places in enumerate(parts):
        group_of[places] = number
    ranked = [
        (found[0], -len(found[1]), -order, name, found[1])
        for order, (name, values) in enumerate(properties.items())
        if (found := _weigh_property(nodes, group_of, values, len(parts))) is not None
    ]
    if not ranked:
        return parts, [""] * len(parts)
    *_, name, group_of_value = max(ranked, key=lambda each: each[:3])
    own = properties[name]
    told = np.array(
        [group_of_value.get(own.get(node, ""), number) for node, number in zip(nodes, group_of, strict=True)]
    )
    values_of = group_by_key((number, value) for value, number in group_of_value.items())
    return (
        [np.flatnonzero(told == number) for number in range(len(parts))],
        [_name_values(name, values_of[number]) for number in range(len(parts))],
    )


def _weigh_property(
    nodes: Sequence[NodeId], group_of: Indices, values: Mapping[NodeId, str], groups: int
) -> tuple[float, dict[str, int]] | None:
    """The share of the nodes that a property tells their group, and the group of each of its values.

    None where it is no explanation: it is known of too few nodes, has nearly as many values as nodes, or leaves a group
    without a value.
    """
    known = [(values[node], int(group)) for node, group in zip(nodes, group_of, strict=True) if node in values]
    if len(known) < PURE * len(nodes):
        return None
    counts = {value: Counter(found) for value, found in group_by_key(known).items()}
    if len(counts) < groups or len(counts) * FEWEST > len(nodes):
        return None
    majority = {value: max(sorted(count), key=count.__getitem__) for value, count in counts.items()}
    right = sum(count[majority[value]] for value, count in counts.items()) / len(known)
    return (right, majority) if right >= PURE and len(set(majority.values())) == groups else None


def _name_values(name: str, values: Sequence[str]) -> str:
    return f"{name} {values[0]}" if len(values) == 1 else f"{name} {fold(values)}"


def read_properties(
    inventories: Mapping[NodeId, Result], groupings: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[NodeId, str]]:
    """Properties by which nodes may be told apart: facts of their inventory, then their places in the fabric."""
    found: dict[str, dict[NodeId, str]] = {}
    for node, result in inventories.items():
        for fact in result.facts:
            labels = " ".join(value for _, value in fact.labels)
            value = fact.value if isinstance(fact.value, str) else f"{fact.value:.6g}"
            found.setdefault(f"{fact.fact} {labels}".rstrip(), {})[node] = value
    for kind, group_of in groupings.items():
        found[kind] = {NodeId(node): group for node, group in group_of.items()}
    return found
