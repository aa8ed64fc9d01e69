"""The product under examination: its plan is run, judged and asked for further rounds until there are none."""

import random
from collections.abc import Sequence

import pytest

from benchconsole.probes.model.judgement import ClosedRound, Finding, Suspect
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.plan_rounds import renumber
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


def test_further_rounds_are_run_and_judged_until_there_are_none() -> None:
    asked: list[tuple[int, set[Suspect]]] = []

    def ask(judged: Sequence[ClosedRound], findings: Sequence[Finding]) -> Sequence[Round]:
        asked.append((len(judged), {each.suspect for each in findings}))
        again = renumber([judged[0].round], len(judged) + 1)
        return tuple(again) if len(asked) < 3 else ()

    examination = Examination("leaf-spine", "default", ask)
    planned = len(examination.rounds)
    outcome = examination.run(TRUTHS["stream-hash"], (), 1)
    assert [count for count, _ in asked] == [planned, planned + 1, planned + 2]
    wanted = sum(each.seconds for each in examination.rounds) + 2 * examination.rounds[0].seconds
    assert outcome.seconds == pytest.approx(wanted)
