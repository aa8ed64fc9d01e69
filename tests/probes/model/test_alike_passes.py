"""Passes in columns: their share, and the results that they are of."""

import numpy as np

from benchconsole.probes.model.alike_passes import AlikePasses, list_tested, sort_values
from benchconsole.topology.copying import replace
from tests.probes.model.test_measurement_table import FORM, RESULTS

PASSES = AlikePasses(FORM._replace(expected=4.0), RESULTS, np.array([0, 2]), np.array([6.0, 5.0]))


def test_the_lowest_share_is_of_what_was_expected() -> None:
    assert PASSES.lowest_share == 1.25
    assert replace(PASSES, like=FORM).lowest_share == 1.0


def test_each_result_is_listed_once() -> None:
    later = replace(PASSES, results=RESULTS[:1], result=np.array([0]), value=np.array([1.0]))
    assert [each.test.id for each in list_tested([PASSES, PASSES])] == ["t0", "t2"]
    assert [each.test.id for each in list_tested([PASSES, later])] == ["t0", "t2", "t0"]
    assert [each.test.id for each in PASSES.tested] == ["t0", "t2"]


def test_the_lowest_are_those_with_the_lowest_share() -> None:
    assert [each.test.id for each in PASSES.lowest] == ["t2"]
    assert [each.test.id for each in replace(PASSES, like=FORM).lowest] == ["t0", "t2"]
    assert list(PASSES.nodes) == ["n1", "n3"]


def test_values_of_columns_join_others_in_order() -> None:
    assert sort_values([5.5, 1.0], [PASSES]).tolist() == [1.0, 5.0, 5.5, 6.0]
