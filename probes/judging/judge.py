"""The only place where a number meets a bound: closed round in, verdicts out. Pure functions."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.low_verdicts import is_low
from benchconsole.probes.judging.node_sets import is_shared
from benchconsole.probes.judging.yardsticks import capacity, criteria, hardware
from benchconsole.probes.model.judgement import ClosedRound, Verdict
from benchconsole.probes.model.measurement_table import (
    MeasurementTable,
    MeasurementVerdicts,
    make_verdicts,
    part_verdicts,
)
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.topology.arrays import Indices
from benchconsole.topology.grouping import group_by_key

YARDSTICKS: tuple[Callable[[JudgingContext, ClosedRound], Iterator[Verdict]], ...] = (
    hardware.give_verdicts,
    criteria.give_verdicts,
    capacity.give_verdicts,
)


def judge_round(context: JudgingContext, closed: ClosedRound) -> tuple[Verdict, ...]:
    """Every verdict that the yardsticks give on a round. Tests without a number get none."""
    return tuple(verdict for yardstick in YARDSTICKS for verdict in yardstick(context, closed))


class JudgedTable(NamedTuple):
    """The verdicts on a round whose measurements stand in a table, in the order of ``judge_round``.

    ``hardware`` come first, ``measured`` are those of fixed criteria. ``low`` is the round with what findings rest on:
    its low verdicts, and in its results the measurements that these are of.
    """

    hardware: tuple[Verdict, ...]
    measured: MeasurementVerdicts
    low: ClosedRound


def is_plain(context: JudgingContext, planned: Round) -> bool:
    """Whether the tests of a round are of one node each, and nothing of them is held against the fabric."""
    return not (context.capacity_criteria(planned.probe) or any(map(is_shared, planned.tests)))


def judge_table(context: JudgingContext, closed: ClosedRound, table: MeasurementTable) -> JudgedTable:
    """The verdicts on a plain round (``is_plain``) whose measurements are in ``table`` and not in ``closed``."""
    facts = tuple(hardware.give_verdicts(context, closed))
    judged = criteria.judge_table(context, closed, table)
    chosen = np.array([is_low(form) for form in judged.forms], bool)[judged.form]
    low = MeasurementVerdicts(judged.place[chosen], judged.form[chosen], judged.forms)
    verdicts = (*filter(is_low, facts), *make_verdicts(closed.results, table, low))
    results = _give_measurements(closed, table, np.unique(low.place))
    return JudgedTable(facts, judged, replace(closed, results=results, verdicts=verdicts))


def tell_table(closed: ClosedRound, table: MeasurementTable, judged: JudgedTable, *, in_columns: bool) -> ClosedRound:
    """A plain round with its verdicts and the measurements in ``table``; those that passed ``in_columns``."""
    order = {test.id: place for place, test in enumerate(closed.round.tests)}
    at = np.array([order[result.test.id] for result in closed.results], np.intp)
    told, passed, places = part_verdicts(closed.results, at, table, judged.measured, in_columns=in_columns)
    results = _give_measurements(closed, table, places)
    return replace(closed, results=results, verdicts=(*judged.hardware, *told), passed=passed)


def _give_measurements(closed: ClosedRound, table: MeasurementTable, places: Indices) -> tuple[Result, ...]:
    """The results of a round with the measurements at these places of ``table``."""
    by_result = group_by_key((int(table.result[place]), table.read(place)) for place in places.tolist())
    results = list(closed.results)
    for place, readings in by_result.items():
        results[place] = replace(results[place], measurements=tuple(readings))
    return tuple(results)
