"""Fabrics whose faults are harder to tell apart: unlike NICs, wide LAGs, three tiers, fewer links up than down.

Each run is one that was judged wrongly once. The faults are those that the table draws for the run of that number.
"""

import random
from functools import cache

import pytest

from benchconsole.probes.model.judgement import Confidence, Finding
from benchmarks.attribution.cable_simulator import TRUTHS
from benchmarks.attribution.examination import Examination
from benchmarks.attribution.faults import Fault
from benchmarks.attribution.scoring import Grade, Score, score

examine = cache(Examination)


def run(fabric: str, suite: str, number: int, faults: int) -> tuple[tuple[Fault, ...], tuple[Finding, ...], Score]:
    """The faults planted in a run, its findings, and their score."""
    examination = examine(fabric, suite)
    planted = examination.faults.draw(random.Random(f"1/{number}"), faults, ())
    found = examination.run(TRUTHS["stream-hash"], planted, 100_003 + number).findings
    return planted, found, score(examination.fabric, planted, found)


@pytest.mark.parametrize(
    ("fabric", "number", "faults", "tied"),
    [
        ("three-tiers", 28, 1, "agg1 to leaf1 or agg2 to leaf1"),
        ("three-tiers", 27, 3, "agg3 or agg4"),
        ("three-tiers", 30, 3, "leaf5 to agg3 or leaf5 to agg4"),
        ("wide-lag", 31, 2, "spine1 or spine2"),
    ],
)
def test_flows_that_divide_over_both_do_not_tell_which_is_at_fault(
    fabric: str, number: int, faults: int, tied: str
) -> None:
    _, found, told = run(fabric, "default", number, faults)
    assert [each.where for each in found if each.confidence is Confidence.POSSIBLE] == [tied]
    assert told.located == told.placed == len(found)
    assert Grade.TIE in told.grades


@pytest.mark.parametrize(("number", "faults"), [(17, 2), (78, 2), (121, 3), (151, 3)])
def test_slow_switch_with_fast_and_slow_nics_is_named_and_its_nodes_are_not(number: int, faults: int) -> None:
    """Its flows to slower NICs are no slower for it; a slow member elsewhere holds a part of others back as well."""
    planted, found, told = run("unlike-nics", "lag", number, faults)
    assert sorted(each.element for each in planted) == sorted(each.element.split(" ")[0] for each in found)
    assert set(told.grades) == {Grade.EXACT}


@pytest.mark.parametrize("fabric", ["unlike-nics", "wide-lag", "three-tiers", "oversubscribed"])
@pytest.mark.parametrize("suite", ["default", "lag"])
def test_nothing_sound_is_accused(fabric: str, suite: str) -> None:
    runs = [run(fabric, suite, number, number % 4) for number in range(10)]
    assert not [found for planted, found, _ in runs if not planted and found]
    assert [told for *_, told in runs if told.located < told.placed] == []
