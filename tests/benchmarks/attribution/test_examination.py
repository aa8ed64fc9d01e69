"""The product under examination: its plan is run, judged and asked for further rounds until there are none."""

import random

from benchconsole.probes.model.round_bounds import CONFIRMATION_SECONDS
from benchmarks.attribution.cable_simulator import TRUTHS
from benchmarks.attribution.examination import Examination
from benchmarks.attribution.faults import FaultDraw, FaultKind
from benchmarks.attribution.scoring import Grade, score


def test_slow_nic_is_found_on_a_simple_fabric() -> None:
    examination = Examination("leaf-spine", "default")
    faults = FaultDraw(examination.simulator.cabling)
    assert examination.run(TRUTHS["ideal"], (), 1).findings == ()
    (fault,) = faults.draw(random.Random(1), 1, [FaultKind.NIC])
    outcome = examination.run(TRUTHS["ideal"], (fault,), 1)
    assert [each.element for each in outcome.findings] == [fault.element]
    assert score(examination.fabric, (fault,), outcome.findings).grades == (Grade.EXACT,)
    assert outcome.seconds == sum(each.seconds for each in examination.rounds)


def test_what_is_suspected_is_confirmed_in_further_rounds() -> None:
    """Streams that take other members than their ports mean cast suspicion on sound elements, which then pass."""
    sure, asked = (Examination("jetstream", "steered-2", confirm=confirm) for confirm in (False, True))
    alone, confirmed = (each.run(TRUTHS["wrong-paths"], (), 1) for each in (sure, asked))
    assert alone.findings == confirmed.findings == ()
    assert alone.seconds == sum(each.seconds for each in sure.rounds)
    assert alone.seconds < confirmed.seconds <= alone.seconds + CONFIRMATION_SECONDS
