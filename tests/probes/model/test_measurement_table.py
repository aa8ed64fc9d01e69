"""Measurements in columns: each keeps its result, its kind and its id."""

from collections.abc import Sequence

import numpy as np

from benchconsole.probes.model.alike_passes import list_tested
from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.measurement_table import (
    MeasurementVerdicts,
    PartedVerdicts,
    make_verdicts,
    part_verdicts,
    tabulate,
)
from benchconsole.probes.model.measuring import Reading, Result, Target, Test, labels
from benchconsole.topology.copying import replace
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
    passed = FORM._replace(level=Level.PASS)
    judged = MeasurementVerdicts(np.array([2, 1]), np.array([0, 1]), (FORM, passed))
    low, good = make_verdicts(RESULTS, tabulate(RESULTS), judged)
    assert (low.test, low.subject, low.nodes, low.labels, low.value) == ("t2", "n3", ("n3",), READ, 3.0)
    assert (low.evidence, low.level, low.required, low.unit) == (("t2#0",), Level.FAIL, 2.0, Unit.BYTE_RATE)
    assert (good.test, good.labels, good.level) == ("t0", WRITE, Level.PASS)


def test_verdicts_are_counted_by_level() -> None:
    forms = (FORM, FORM._replace(level=Level.PASS), FORM._replace(because="still below it"))
    judged = MeasurementVerdicts(np.arange(4), np.array([0, 2, 1, 0]), forms)
    assert judged.count_levels() == {Level.FAIL: 3, Level.PASS: 1}


LEVELS = (Level.PASS, Level.PASS, Level.PASS)


def part(
    levels: tuple[Level, ...] = LEVELS, *, at: Sequence[int] = (0, 1, 2), apart: Sequence[int] = ()
) -> PartedVerdicts:
    """One verdict on each of the three measurements of RESULTS and of a fourth result that is as good as the third."""
    results = (*RESULTS, give(3, ("read", 4.0)))
    forms = tuple(FORM._replace(level=each) for each in dict.fromkeys(levels))
    found = [*levels, Level.PASS] if Level.PASS in levels else [*levels, levels[-1]]
    form = np.array([next(n for n, each in enumerate(forms) if each.level is level) for level in found])
    judged = MeasurementVerdicts(np.array([*at, 3]), form, forms)
    order, chosen = np.array([1, 3, 2, 0]), np.array(apart, np.intp)
    return part_verdicts(results, order, tabulate(results), judged, chosen)


def test_passes_are_in_columns_but_for_the_first_of_each_kind_in_the_plan() -> None:
    """The fourth result is the first in the plan, the first has the only written value, the second has no value."""
    told, passed, is_told = part()
    assert [(each.test, each.labels) for each in told] == [("t0", READ), ("t0", WRITE), ("t3", READ)]
    (alike,) = passed
    assert (alike.like.test, alike.like.labels, alike.value.tolist()) == ("t2", READ, [3.0])
    assert [result.test.id for result in alike.tested] == ["t2"] == [each.test.id for each in list_tested(passed)]
    assert is_told.tolist() == [True, True, False, True]


def test_of_what_did_not_pass_every_verdict_is_told() -> None:
    told, passed, is_told = part((Level.PASS, Level.PASS, Level.FAIL))
    assert [(each.test, each.level) for each in told][2:] == [("t2", Level.FAIL), ("t3", Level.PASS)]
    assert passed == ()
    assert is_told.all()


def test_what_is_apart_is_told() -> None:
    told, passed, _ = part(apart=[2])
    assert ([each.test for each in told], passed) == (["t0", "t0", "t2", "t3"], ())


def test_two_passes_that_may_be_one_are_told() -> None:
    told, passed, _ = part(at=(0, 2, 2))
    assert ([each.test for each in told], passed) == (["t0", "t2", "t2", "t3"], ())


def test_a_result_that_nothing_was_held_against_is_told() -> None:
    results = (*RESULTS, give(3, ("read", 4.0)))
    judged = MeasurementVerdicts(np.array([0]), np.array([0]), (FORM._replace(level=Level.PASS),))
    parted = part_verdicts(results, np.arange(4), tabulate(results), judged, np.array([], np.intp))
    assert parted.is_told.all()
