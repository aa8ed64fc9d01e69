"""The short form of ``benchmarks.laboratory``: faults that no other test plants, each found where it is."""

import random

import pytest

from benchmarks.laboratory.grading import Outcome
from benchmarks.laboratory.trials import run_trial
from tests.lab import Lab


@pytest.mark.fault("F48")
@pytest.mark.parametrize("kind", ["slow-leaf", "member-slow"])
def test_a_planted_fault_is_found_where_it_is(healthy_lab: Lab, kind: str) -> None:
    found = run_trial(healthy_lab, "small", kind, random.Random(kind))
    assert found.outcome in {Outcome.EXACT, Outcome.LOCATED}, found
    assert found.code == 1
    assert healthy_lab.active() == []


@pytest.mark.fault("F48")
def test_a_cable_that_loses_packets_is_named_by_what_was_sent_again(healthy_lab: Lab) -> None:
    """Its throughput is hardly lower; every other cable has retransmits too where several flows fill it."""
    found = run_trial(healthy_lab, "small", "loss", random.Random("loss"))
    assert (found.outcome, found.code) == (Outcome.EXACT, 1), found
    assert len(found.said) == 1
