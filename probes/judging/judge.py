"""The only place where a number meets a bound: closed round in, verdicts out. Pure functions."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.low_verdicts import is_low
from benchconsole.probes.judging.node_sets import find_shared
from benchconsole.probes.judging.yardsticks import capacity, criteria, hardware, shared_load
from benchconsole.probes.model.judgement import ClosedRound, Verdict
from benchconsole.probes.model.measurement_table import (
    MeasurementTable,
    MeasurementVerdicts,
    list_plan_places,
    make_verdicts,
    part_verdicts,
)
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.topology.arrays import Indices
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key

YARDSTICKS: tuple[Callable[[JudgingContext, ClosedRound], Iterator[Verdict]], ...] = (
    hardware.give_verdicts,
    criteria.give_verdicts,
    shared_load.give_verdicts,
    capacity.give_verdicts,
)


def judge_round(context: JudgingContext, closed: ClosedRound) -> tuple[Verdict, ...]:
    """Every verdict that the yardsticks give on a round. Tests without a number get none."""
    parts = closed.part_by_probe()
    return tuple(verdict for part in parts for yardstick in YARDSTICKS for verdict in yardstick(context, part))


class JudgedTable(NamedTuple):
    """The verdicts on a round whose measurements stand in a table, in the order of ``judge_round``.

    ``hardware`` come first, ``measured`` are those of fixed criteria. ``low`` is the round with what findings rest on:
    its low verdicts, and in its results the measurements that these are of.
    """

    hardware: tuple[Verdict, ...]
    measured: MeasurementVerdicts
    low: ClosedRound


def find_plain(context: JudgingContext, plan: Sequence[Round]) -> frozenset[int]:
    """The plain rounds of ``plan``, by number: each number of their probe is held against fixed bounds by itself.

    Nothing of it is held against the fabric, sets, the session, or in sum against a ceiling. Their tests are of one
    node each, as all tests of that probe are.
    """
    summed = (each.probe for each in plan if any(test.bundle for test in each.tests[:1]))
    together = find_shared(plan) | context.session_probes | {name for name in summed if context.ceiling_criteria(name)}
    return frozenset(
        each.number
        for each in plan
        if not (each.is_mixed or each.probe in together or context.capacity_criteria(each.probe))
    )


def judge_table(context: JudgingContext, closed: ClosedRound, table: MeasurementTable) -> JudgedTable:
    """The verdicts on a plain round (``find_plain``) whose measurements are in ``table`` and not in ``closed``."""
    facts = tuple(hardware.give_verdicts(context, closed))
    judged = criteria.judge_table(context, closed, table)
    chosen = np.array([is_low(form) for form in judged.forms], bool)[judged.form]
    low = MeasurementVerdicts(judged.place[chosen], judged.form[chosen], judged.forms)
    verdicts = (*filter(is_low, facts), *make_verdicts(closed.results, table, low))
    results = _give_measurements(closed, table, np.unique(low.place))
    return JudgedTable(facts, judged, replace(closed, results=results, verdicts=verdicts))


class ToldRound(NamedTuple):
    """A plain round with its verdicts; ``tests`` are those of which the results have to be told in full."""

    closed: ClosedRound
    tests: frozenset[str]


def tell_table(closed: ClosedRound, table: MeasurementTable, judged: JudgedTable, *, in_columns: bool) -> ToldRound:
    """A plain round with its verdicts; ``in_columns`` those on tests that passed."""
    if not in_columns:
        verdicts = make_verdicts(closed.results, table, judged.measured)
        every = frozenset(result.test.id for result in closed.results)
        return ToldRound(replace(closed, verdicts=(*judged.hardware, *verdicts)), every)
    names = [result.test.id for result in closed.results]
    reported = {verdict.test for verdict in judged.hardware}
    apart = [place for place, each in enumerate(closed.results) if each.failure or names[place] in reported]
    order = list_plan_places(closed)
    told, passed, is_told = part_verdicts(closed.results, order, table, judged.measured, np.array(apart, np.intp))
    tests = frozenset(names[place] for place in np.flatnonzero(is_told).tolist())
    return ToldRound(replace(closed, verdicts=(*judged.hardware, *told), passed=passed), tests)


def _give_measurements(closed: ClosedRound, table: MeasurementTable, places: Indices) -> tuple[Result, ...]:
    """The results of a round with the measurements at these places of ``table``."""
    by_result = group_by_key((int(table.result[place]), table.read(place)) for place in places.tolist())
    results = list(closed.results)
    for place, readings in by_result.items():
        results[place] = replace(results[place], measurements=tuple(readings))
    return tuple(results)
