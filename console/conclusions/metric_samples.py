"""The samples of a session: every number that counts, in columns, by stage, metric and labels. Pure.

A sample holds what may be compared: the same metric of the same stage with the same labels. Cohorts of nodes and
repetitions are no labels of a sample: they tell its numbers apart. Typed statistics are samples apart from values.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from benchconsole.console.view.run_view import INGESTED, RunView, share_result, superseding
from benchconsole.probes.model.kept_readings import list_numbers
from benchconsole.probes.model.labels import TYPED, TypedStatistic, read_typed
from benchconsole.probes.model.measuring import Labels, Reading, Result, Test
from benchconsole.probes.model.plausible_numbers import MOST
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.planning.sweeps import REPETITION
from benchconsole.probes.statistics.comparison import Sample
from benchconsole.topology.arrays import Floats
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import Shown, Unit

Naming = Callable[[Test], str]
"""The name of the part of a sample that a test belongs to; empty for none."""


class SampleKey(NamedTuple):
    """The properties that the numbers of one sample share."""

    stage: str
    probe: str
    metric: str
    unit: Unit
    labels: Labels


@dataclass(frozen=True, eq=False)
class MetricSample:
    """The finite numbers of one metric, in the unit of ``key``, each with its test, in the order of the plan.

    ``left_out`` counts those of ``MOST`` and more, which no machine gives: nothing could be computed with them.
    """

    key: SampleKey
    shown: Shown
    values: Floats
    tests: Sequence[Test]
    left_out: int = 0

    @property
    def statistic(self) -> str:
        """The statistic that all of its numbers were typed as; empty where each is one value."""
        typed = read_typed(self.tests[0].target.labels)
        return "" if typed is None else typed.statistic

    def list_typed(self) -> list[tuple[float, TypedStatistic]]:
        """Its numbers with what each was typed as; empty where each is one value."""
        found = [read_typed(test.target.labels) for test in self.tests]
        return [(value, typed) for value, typed in zip(self.values.tolist(), found, strict=True) if typed is not None]

    @cached_property
    def subjects(self) -> list[str]:
        """The subject of each number: a node, a pair ``a>b`` or a set."""
        return [test.target.key for test in self.tests]

    def group(self) -> Sample:
        """The numbers of each subject."""
        return group_by_key(zip(self.subjects, self.values.tolist(), strict=True))

    def select(self, places: Sequence[int]) -> "MetricSample":
        """The numbers at these places."""
        tests = [self.tests[place] for place in places]
        return MetricSample(self.key, self.shown, self.values[np.array(places, np.intp)], tests)

    def part(self, name: Naming) -> dict[str, "MetricSample"]:
        """The sample in parts, by their names; tests without a name are in none."""
        parts = group_by_key((name(test), place) for place, test in enumerate(self.tests))
        return {found: self.select(places) for found, places in parts.items() if found}


def list_dimensions(fabric: Fabric) -> tuple[str, ...]:
    """The dimensions of cohorts that nodes of the file are in, in the order in which they are met."""
    return tuple(dict.fromkeys(name for node in fabric.nodes.values() for name, _ in node.cohorts))


def name_cohort(dimension: str) -> Naming:
    """The cohort of a test in ``dimension``."""
    return lambda test: dict(test.target.labels).get(dimension, "")


KeyFinder = Callable[[int, SampleKey], SampleKey]
"""The key of the sample that a number of a round belongs to, by a key without a stage and with all its labels."""


def make_key_finder(view: RunView) -> KeyFinder:
    """The function that gives a number of ``view`` the key of its sample."""
    apart = frozenset((REPETITION, *list_dimensions(view.fabric)))
    stages = {each.number: each.stage for each in view.plan}

    @cache
    def select_labels(labels: Labels) -> Labels:
        kept = tuple(pair for pair in labels if pair[0] not in apart)
        typed = read_typed(kept)
        return kept if typed is None else tuple(sorted({**dict(kept), TYPED: typed.statistic}.items()))

    return lambda number, key: key._replace(stage=stages.get(number, INGESTED), labels=select_labels(key.labels))


@share_result
def list_samples(view: RunView) -> tuple[MetricSample, ...]:
    """The samples of a session, stage by stage of its plan, by name within each; inventory gives none."""
    find_key = make_key_finder(view)
    shown = {(v.probe, v.unit): v.shown for verdicts in view.verdicts.values() for v in verdicts}
    found: dict[SampleKey, list[_Part]] = {}
    for part in (*_read_results(view), *_read_passed(view)):
        found.setdefault(find_key(part.tests[0].round, part.key), []).append(part)
    order = {stage: place for place, stage in enumerate(dict.fromkeys(each.stage for each in view.plan))}
    in_order = sorted(found, key=lambda key: (order.get(key.stage, len(order)), key))
    samples = (_join(key, found[key], shown.get((key.probe, key.unit), Shown.PLAIN)) for key in in_order)
    return tuple(sample for sample in samples if len(sample.values))


class _Part(NamedTuple):
    """Finite numbers of one key, whose stage and labels are not chosen yet, with their tests."""

    key: SampleKey
    values: Floats
    tests: Sequence[Test]


def _join(key: SampleKey, parts: Sequence[_Part], shown: Shown) -> MetricSample:
    values, tests = np.concatenate([each.values for each in parts]), [test for each in parts for test in each.tests]
    kept = np.flatnonzero(np.abs(values) < MOST)
    if len(kept) == len(values):
        return MetricSample(key, shown, values, tests)
    return MetricSample(key, shown, values[kept], [tests[place] for place in kept.tolist()], len(values) - len(kept))


def _read_results(view: RunView) -> Iterator[_Part]:
    """The numbers of the results that count, round by round."""
    numbers = group_by_key(
        ((result.test.round, reading.metric, reading.unit, reading.labels), (reading.value, result.test))
        for result, reading in read_numbers(view)
    )
    for (_, metric, unit, labels), found in numbers.items():
        values, tests = zip(*found, strict=True)
        yield _Part(SampleKey("", tests[0].probe, metric, unit, labels), np.array(values), tests)


def read_numbers(view: RunView) -> Iterator[tuple[Result, Reading]]:
    """Every finite number of the results that count, without its text; those that the view has in columns alone are
    not among them.
    """
    for result in superseding(view).values():
        if result.test.probe != INVENTORY:
            for reading in list_numbers(result):
                if math.isfinite(reading.value):
                    yield result, reading


def _read_passed(view: RunView) -> Iterator[_Part]:
    """The numbers that have verdicts in columns; two criteria may have passed one number, which counts once."""
    told = {test for test, result in view.results.items() if result.measurements}
    alike = group_by_key(
        ((id(each.results), each.like.metric, each.like.unit, each.like.labels), each) for each in view.passed
    )
    for (_, metric, unit, labels), own in alike.items():
        place = np.concatenate([each.result for each in own])
        value = np.concatenate([each.value for each in own])
        place, first = np.unique(place, return_index=True)
        tests = [own[0].results[each].test for each in place.tolist()]
        kept = [number for number, test in enumerate(tests) if test.id not in told]
        if unit is not None and own[0].like.probe != INVENTORY and kept:
            key = SampleKey("", own[0].like.probe, metric, unit, labels)
            yield _Part(key, value[first][np.array(kept, np.intp)], [tests[number] for number in kept])
