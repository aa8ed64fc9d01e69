"""The facts that the nodes of a session told of themselves, and numbers of them that were not judged, by name.

A full inventory has some 200 facts, most of which nobody looks at: they are read when somebody asks for a column of
them, each answer once, and those of many nodes in one question of the file.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchconsole.console.tui.queries.node_row import ColumnId
from benchconsole.console.tui.queries.own_facts import keep_own_facts
from benchconsole.console.view.round_cache import RoundCache
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.kept_facts import read_facts_together
from benchconsole.probes.model.kept_readings import list_values
from benchconsole.probes.model.measuring import Fact, Result, Round
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit

Value = str | float
Values = tuple[Value, ...]
"""The values of one fact of one node: of its parts in their order, one value each."""


@dataclass(slots=True)
class RoundReadings:
    """The readings of the tests of one round, each by its node.

    ``facts`` are by probe and fact, ``answered`` the nodes that told a probe anything; ``numbers`` are by metric.
    """

    facts: dict[tuple[str, str], dict[NodeId, Values]] = field(default_factory=dict)
    units: dict[str, Unit | None] = field(default_factory=dict)
    answered: dict[str, set[NodeId]] = field(default_factory=dict)
    numbers: dict[tuple[str, Unit, str], dict[NodeId, list[float]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactKind:
    """A fact by its name: what each node that told it told, and its unit, None for text."""

    name: str
    told: Mapping[NodeId, Values]
    unit: Unit | None

    @property
    def distinct(self) -> int:
        """How many answers there are that differ."""
        return len(set(self.told.values()))


@dataclass(frozen=True, slots=True)
class MeasuredKind:
    """A metric of one stage that no verdict speaks of: of each node the median of its numbers, and their count."""

    id: ColumnId
    probe: str
    unit: Unit
    values: Mapping[NodeId, float]
    counts: Mapping[NodeId, int]


@dataclass(frozen=True, slots=True)
class ToldReadings:
    """All of it, as far as rounds are closed."""

    facts: Mapping[str, FactKind]
    measured: Mapping[ColumnId, MeasuredKind]


class ReadingsCache:
    """Reads what nodes told, over the views of one session one after the other. Not for several threads at once.

    ``count`` is how many answers were read so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._cache = RoundCache(self._read)
        self._shared: dict[Values, Values] = {}

    def update(self, view: RunView, judged: Collection[ColumnId]) -> ToldReadings:
        """The readings of the closed rounds; only changed rounds are read. StoreError where that is impossible.

        Metrics that are ``judged`` in their stage are left out.
        """
        rounds = [each for each in view.plan if each.number in view.closed]
        read = self._cache.update(view, rounds)
        return ToldReadings(
            _join_facts([read[each.number] for each in rounds]),
            _join_numbers([(each.stage, read[each.number]) for each in rounds], judged),
        )

    def _read(self, view: RunView, each: Round) -> RoundReadings:
        made = RoundReadings()
        found = (view.results.get(test.id) for test in each.tests if test.id not in view.replaced)
        results = [result for result in found if result is not None]
        told = read_facts_together([result.facts for result in results])
        for result, facts in zip(results, told, strict=True):
            self._take(made, result, facts)
        return made

    def _take(self, made: RoundReadings, result: Result, facts: Sequence[Fact]) -> None:
        node, probe = result.test.target.node.id, result.test.probe
        for (metric, unit, _), value in list_values(result):
            if math.isfinite(value):
                made.numbers.setdefault((metric, unit, probe), {}).setdefault(node, []).append(value)
        if not facts:
            return
        self.count += 1
        own = keep_own_facts(probe, facts)
        if not own:
            return
        made.answered.setdefault(probe, set()).add(node)
        for name, some in own.items():
            values = tuple([fact.value for fact in some])
            made.units.setdefault(name, some[0].unit)
            made.facts.setdefault((probe, name), {})[node] = self._shared.setdefault(values, values)


def _join_facts(rounds: Sequence[RoundReadings]) -> dict[str, FactKind]:
    """Of each node what the last answer of each probe told; where several probes tell a fact, the last of them."""
    told: dict[str, dict[NodeId, Values]] = {}
    units: dict[str, Unit | None] = {}
    later: dict[str, set[NodeId]] = {}
    for each in reversed(rounds):
        for (probe, name), values in each.facts.items():
            known = later.get(probe, frozenset[NodeId]())
            found = told.setdefault(name, {})
            for node, value in values.items():
                if node not in known:
                    found.setdefault(node, value)
            units.setdefault(name, each.units[name])
        for probe, nodes in each.answered.items():
            later.setdefault(probe, set()).update(nodes)
    return {name: FactKind(name, found, units[name]) for name, found in sorted(told.items()) if found}


def _join_numbers(
    rounds: Sequence[tuple[str, RoundReadings]], judged: Collection[ColumnId]
) -> dict[ColumnId, MeasuredKind]:
    """The numbers of metrics that are not ``judged`` in their stage."""
    found: dict[ColumnId, tuple[str, Unit, dict[NodeId, list[float]]]] = {}
    for stage, each in rounds:
        for (metric, unit, probe), numbers in each.numbers.items():
            if (metric, stage) in judged:
                continue
            known = found.setdefault((metric, stage), (probe, unit, {}))[2]
            for node, values in numbers.items():
                known.setdefault(node, []).extend(values)
    return {
        key: MeasuredKind(
            key,
            probe,
            unit,
            {node: median(values) for node, values in numbers.items()},
            {node: len(values) for node, values in numbers.items()},
        )
        for key, (probe, unit, numbers) in found.items()
    }
