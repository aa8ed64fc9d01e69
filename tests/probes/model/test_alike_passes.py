"""Passes in columns: their share, and the results that they are of."""

from dataclasses import replace

import numpy as np

from benchconsole.probes.model.alike_passes import AlikePasses, list_tested
from tests.probes.model.test_measurement_table import FORM, RESULTS

PASSES = AlikePasses(replace(FORM, expected=4.0), RESULTS, np.array([0, 2]), np.array([6.0, 5.0]))


def test_the_lowest_share_is_of_what_was_expected() -> None:
    assert PASSES.lowest_share == 1.25
    assert replace(PASSES, like=FORM).lowest_share == 1.0


def test_each_result_is_listed_once() -> None:
    later = replace(PASSES, results=RESULTS[:1], result=np.array([0]), value=np.array([1.0]))
    assert [each.test.id for each in list_tested([PASSES, PASSES])] == ["t0", "t2"]
    assert [each.test.id for each in list_tested([PASSES, later])] == ["t0", "t2", "t0"]
    assert [each.test.id for each in PASSES.tested] == ["t0", "t2"]
