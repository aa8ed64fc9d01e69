"""The short form of ``benchmarks.laboratory``: faults that no other test plants, each found where it is."""

import random

import pytest

from benchmarks.laboratory.grading import Outcome
from benchmarks.laboratory.trials import run_trial
from tests.lab import Lab


@pytest.mark.parametrize("kind", ["slow-leaf", "member-slow"])
def test_a_planted_fault_is_found_where_it_is(healthy_lab: Lab, kind: str) -> None:
    found = run_trial(healthy_lab, "small", kind, random.Random(kind))
    assert found.outcome in {Outcome.EXACT, Outcome.LOCATED}, found
    assert found.code == 1
    assert healthy_lab.active() == []
