"""Measurements in columns: each keeps its result, its kind and its id."""

from dataclasses import replace

import numpy as np

from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.measurement_table import MeasurementVerdicts, make_verdicts, tabulate
from benchconsole.probes.model.measuring import Reading, Result, Target, Test, labels
from benchconsole.topology.units import Unit
from tests.store.played import NODES

READ, WRITE = labels(operation="read"), labels(operation="write")
FORM = Verdict("", 1, "fio", "", (), "fio.rate", (), Level.FAIL, Yardstick.CRITERION, "below it", required=2.0)


def give(node: int, *values: tuple[str, float]) -> Result:
    test = Test(f"t{node}", "fio", Target(NODES[node]), 1)
    found = (Reading("fio.rate", value, Unit.BYTE_RATE, labels(operation=of)) for of, value in values)
    return Result(test, measurements=tuple(replace(each, id=f"t{node}#{n}") for n, each in enumerate(found)))


RESULTS = (give(0, ("read", 1.0), ("write", 2.0)), give(1), give(2, ("read", 3.0)))


def test_every_measurement_is_of_its_kind_and_result() -> None:
    table = tabulate(RESULTS)
    assert [(kind.labels, places.tolist()) for kind, places in table.find("fio.rate")] == [(READ, [0, 2]), (WRITE, [1])]
    assert list(table.find("fio.other")) == []
    assert table.result.tolist() == [0, 0, 2]
    readings = [reading for result in RESULTS for reading in result.measurements]
    assert [table.read(place) for place in range(3)] == readings


def test_verdicts_on_a_table_name_what_they_are_on() -> None:
    passed = replace(FORM, level=Level.PASS)
    judged = MeasurementVerdicts(np.array([2, 1]), np.array([0, 1]), (FORM, passed))
    low, good = make_verdicts(RESULTS, tabulate(RESULTS), judged)
    assert (low.test, low.subject, low.nodes, low.labels, low.value) == ("t2", "n3", ("n3",), READ, 3.0)
    assert (low.evidence, low.level, low.required, low.unit) == (("t2#0",), Level.FAIL, 2.0, Unit.BYTE_RATE)
    assert (good.test, good.labels, good.level) == ("t0", WRITE, Level.PASS)


def test_verdicts_are_counted_by_level() -> None:
    forms = (FORM, replace(FORM, level=Level.PASS), replace(FORM, because="still below it"))
    judged = MeasurementVerdicts(np.arange(4), np.array([0, 2, 1, 0]), forms)
    assert judged.count_levels() == {Level.FAIL: 3, Level.PASS: 1}
