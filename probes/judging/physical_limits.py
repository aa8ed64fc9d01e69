"""Measurements that cannot be right, or not on the machine as described: unknown, whatever is asked.

A value that no measurement gives; a rate above what a link of its way carries, a sum of flows above what their link
carries, arithmetic above the stated peaks of all nodes of a test, bytes above the ceiling of the storage system that
the test was told to use.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.grading import POSSIBLE
from benchconsole.probes.judging.yardsticks.capacity import describe_overload, name_subject
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measurement_table import MeasurementTable
from benchconsole.probes.model.measuring import Against, Reading, Test
from benchconsole.probes.model.plausible_numbers import describe_implausible, find_implausible
from benchconsole.topology.analysis.fan_in import list_port_rates
from benchconsole.topology.analysis.storage_ceilings import list_ceilings, name_operation
from benchconsole.topology.arrays import Floats
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Unit, percent, storage_rate

_WRONG = "the number or the description is wrong"


class Impossible(NamedTuple):
    """Why measurements of a round cannot be right, by their id.

    ``alone``: the number by itself is too high. ``together``: it may be right, but not those of its bundle in sum.
    """

    alone: Mapping[str, str]
    together: Mapping[str, str]


def find_impossible(context: JudgingContext, closed: ClosedRound, table: MeasurementTable, metric: str) -> Impossible:
    """The measurements of one metric of a round, which ``table`` has too, that cannot be right."""
    wrong = _find_wrong(context, table, metric)
    declared = context.metrics.get(metric)
    if declared is not None and declared.against is Against.FABRIC:
        above = _find_above_wire(context, closed, metric)
        return above._replace(alone={**above.alone, **wrong})
    tests = [result.test for result in closed.results]
    alone = dict(wrong)
    for kind, places in table.find(metric):
        least = _list_limits(context, tests, kind.unit)[table.result[places]]
        for place in places[table.value[places] > least].tolist():
            if table.ids[place] not in wrong and (
                why := describe_excess(context, tests[table.result[place]], table.read(place))
            ):
                alone[table.ids[place]] = why
    return Impossible(alone, {})


def _find_wrong(context: JudgingContext, table: MeasurementTable, metric: str) -> Mapping[str, str]:
    """The measurements whose value none gives, each with the reason, by their id."""
    shown = context.shown(metric)
    return {
        table.ids[place]: describe_implausible(table.read(place), shown)
        for _, places in table.find(metric)
        for place in places[find_implausible(table.value[places])].tolist()
    }


def _find_above_wire(context: JudgingContext, closed: ClosedRound, metric: str) -> Impossible:
    flows = context.flows.read(closed, metric)
    refused = {reading.id: each.because for each in flows.refused for reading in each.measurements}
    every = flows.find_measured([reading.id for readings in flows.measurements for reading in readings])
    alone = {each.measurement.id: why for each in every if (why := describe_overload(context, (each,)))}
    first = flows.find_measured([readings[0].id for readings in flows.measurements])
    bundles = group_by_key((name_subject(each), each) for each in first if each.result.test.bundle)
    together = {
        each.measurement.id: why
        for bundle in bundles.values()
        if len(bundle) > 1 and (why := describe_overload(context, bundle))
        for each in bundle
    }
    return Impossible({**alone, **refused}, together)


def _list_limits(context: JudgingContext, tests: Sequence[Test], unit: Unit) -> Floats:
    """Below which value nothing limits what each test measures in ``unit``; infinite where nothing is stated."""
    if unit is Unit.FLOP_RATE:
        return np.array([_limit_rate(test) for test in tests], np.float64)
    if unit is Unit.BYTE_RATE and context.fabric.storage:
        return np.array([0.0 if context.find_system(test) else math.inf for test in tests], np.float64)
    return np.full(len(tests), math.inf)


def _limit_rate(test: Test) -> float:
    """FLOP/s up to which a number of a test may be right; infinite where a peak is not stated."""
    known = _list_peaks(test)
    return POSSIBLE * sum(known) if len(known) == len(test.target.nodes) else math.inf


def _list_peaks(test: Test) -> list[float]:
    return [node.hardware.peak for node in test.target.nodes if node.hardware.peak is not None]


def describe_excess(context: JudgingContext, test: Test, reading: Reading) -> str:
    """Why a number is higher than the nodes of its test allow; empty where it is not, or nothing is stated."""
    if reading.unit is Unit.FLOP_RATE:
        return describe_above_peak(test, reading.value)
    return min(_list_storage_limits(context, test, reading), default=(0.0, ""))[1]


def describe_above_peak(test: Test, value: float) -> str:
    """Why FLOP/s of a test are more than its nodes can give; empty where they are not, or a peak is not stated."""
    if value <= _limit_rate(test):
        return ""
    nodes = test.target.nodes
    bases = "; ".join(dict.fromkeys(node.hardware.peak_basis or "basis not stated" for node in nodes))
    whose = f"the peaks of {len(nodes)} nodes" if len(nodes) > 1 else "peak"
    return f"{percent(value / sum(_list_peaks(test)))} of {whose} ({bases}): the number or the stated peak is wrong"


def _list_storage_limits(context: JudgingContext, test: Test, reading: Reading) -> Iterator[tuple[float, str]]:
    """Each limit that a rate to or from a shared storage system is above: byte/s, and the reason in words."""
    system = context.find_system(test)
    if system is None:
        return
    nodes = [str(node.id) for node in test.target.nodes]
    if set(nodes) & set(system.servers):
        return
    limits = []
    ports = list_port_rates(context.fabric, nodes)
    if all(ports):
        limits.append((sum(ports), f"the ports of {'its node' if len(nodes) == 1 else f'its {len(nodes)} nodes'}"))
    ceilings = list_ceilings(context.ceilings, system, nodes, name_operation(reading.metric, reading.labels))
    limits += [
        (each.limiting.rate, f"{system.name} ({each.limiting.name})") for each in ceilings if each.limiting is not None
    ]
    for rate, what in limits:
        if reading.value > POSSIBLE * rate:
            carried = f"{storage_rate(reading.value)}, and {what} can carry {storage_rate(rate)} as described"
            yield rate, f"{carried}: a cache, or {_WRONG}"
