"""The grade of the report of a trial, by the elements that it names."""

import random
from typing import Any

import pytest

from benchconsole.probes.model.judgement import Suspect
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from benchmarks.laboratory.grading import Outcome, grade_report, read_finding
from benchmarks.laboratory.planting import KINDS
from tests.lab import LabSpec
from tests.lab.files import topology
from tests.lab.plan import Plan

LAG_OF_ONE = "gives 95 Mb/s of 188 Mb/s, 51 %, both ways, what 1 of 2 members carries"
LAG_OF_SOME = "gives 107 Mb/s of 188 Mb/s, 57 %, both ways, as 1.1 of 2 members would"


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    return load_text(topology(Plan(LabSpec())), "topology.yaml")


def record(suspect: str, element: str, where: str, what: str = "is low", cannot_tell: str = "") -> dict[str, Any]:
    """A finding as a JSON report has it."""
    return {
        "suspect": suspect,
        "element": element,
        "where": where,
        "what": what,
        "level": "fail",
        "confidence": "likely",
        "nodes": [],
        "tests": [],
        "cannot_tell": cannot_tell,
        "means": None,
    }


def failure(node: str, stage: str = "tool failed", detail: str = "its port eth0 has no link") -> dict[str, Any]:
    """A failure as a JSON report has it."""
    return {"node": node, "stage": stage, "detail": detail}


class First(random.Random):
    """Draws the first of everything."""

    def choice(self, seq: Any) -> Any:
        return seq[0]

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return start if stop is not None else 0


def grade(fabric: Fabric, kind: str, *records: dict[str, Any]) -> Outcome:
    findings = [read_finding(each) for each in records if "suspect" in each]
    return grade_report(fabric, KINDS[kind](fabric, First()), findings, [each for each in records if "stage" in each])


NIC_OUT = record("nic", "n1", "n1 out", "gives 28 Mb/s of 94 Mb/s, 30 %, out only")
NIC_IN = record("nic", "n1", "n1 in", "gives 28 Mb/s of 94 Mb/s, 30 %, in only")
NIC_BOTH = record("nic", "n1", "n1 NIC", "gives 28 Mb/s of 94 Mb/s, 30 %, in and out")
OTHER_NIC = record("nic", "n2", "n2 out")
LAG = record("lag", "leaf1--spine1", "leaf1 to spine1", LAG_OF_ONE)
SLOW_LAG = record("lag", "leaf1--spine1", "leaf1 to spine1", LAG_OF_SOME)
OTHER_LAG = record("lag", "leaf2--spine1", "leaf2 to spine1", LAG_OF_ONE)
TIE = record(
    "link",
    "leaf1--spine1",
    "leaf1 to spine1 or leaf2 to spine1",
    cannot_tell="which of leaf1 to spine1, leaf2 to spine1: no test loaded one of them without the others",
)
SWITCH = record("switch", "leaf1", "leaf1")
NOWHERE = record("fabric", "round 3", "round 3")
LOST = record("nic", "n1", "n1 NIC", "loses packets: 9,000 segments were sent again")
STORE = record("nic", "st1", "st1 out", "gives 120 Mb/s of 376 Mb/s, 30 %, out only")
STORE_IN = record("nic", "st1", "st1 in", "gives 120 Mb/s of 376 Mb/s, 30 %, in only")
DOWN = record("node", "n1", "n1", "nic.mtu eth0 down, declared 1500")


@pytest.mark.parametrize(
    ("kind", "records", "outcome"),
    [
        ("slow-nic", [NIC_OUT], Outcome.EXACT),
        ("slow-nic", [NIC_OUT, NOWHERE], Outcome.EXACT),
        ("slow-nic", [NIC_IN], Outcome.LOCATED),
        ("slow-nic", [NIC_BOTH], Outcome.LOCATED),
        ("slow-nic", [NIC_OUT, OTHER_NIC], Outcome.WRONG),
        ("slow-nic", [NIC_OUT, failure("n1")], Outcome.WRONG),
        ("slow-nic", [OTHER_NIC], Outcome.WRONG),
        ("slow-nic", [NOWHERE], Outcome.MISSED),
        ("slow-nic", [], Outcome.MISSED),
        ("member-down", [LAG], Outcome.EXACT),
        ("member-down", [SLOW_LAG], Outcome.LOCATED),
        ("member-down", [TIE], Outcome.LOCATED),
        ("member-down", [OTHER_LAG], Outcome.WRONG),
        ("member-half", [SLOW_LAG], Outcome.EXACT),
        ("member-slow", [SLOW_LAG], Outcome.EXACT),
        ("member-slow", [LAG], Outcome.EXACT),
        ("slow-leaf", [SWITCH], Outcome.EXACT),
        ("slow-leaf", [LAG, NIC_IN], Outcome.LOCATED),
        ("slow-leaf", [SWITCH, OTHER_LAG], Outcome.WRONG),
        ("loss", [LOST], Outcome.EXACT),
        ("loss", [NIC_OUT], Outcome.LOCATED),
        ("loss", [], Outcome.MISSED),
        ("nic-down", [failure("n1")], Outcome.EXACT),
        ("nic-down", [failure("n1"), DOWN], Outcome.EXACT),
        ("nic-down", [failure("n1"), NIC_OUT], Outcome.EXACT),
        ("nic-down", [failure("n1"), OTHER_NIC], Outcome.WRONG),
        ("nic-down", [failure("n1"), failure("n2")], Outcome.WRONG),
        ("nic-down", [failure("n1", "timed out", "no end within 13 s")], Outcome.LOCATED),
        ("nic-down", [DOWN], Outcome.MISSED),
        ("dead-node", [failure("n1", "unreachable", "no answer within 10 s")], Outcome.EXACT),
        ("dead-node", [failure("n1", "connection lost", "three keepalives"), NOWHERE], Outcome.EXACT),
        ("dead-node", [failure("n2", "timed out", "no end within 13 s")], Outcome.WRONG),
        ("dead-sshd", [failure("n1", "unreachable", "n1 port 22 refused the connection")], Outcome.EXACT),
        ("storage-and-lag", [STORE, LAG], Outcome.EXACT),
        ("storage-and-lag", [STORE, TIE], Outcome.LOCATED),
        ("storage-and-lag", [STORE_IN, LAG], Outcome.LOCATED),
        ("storage-and-lag", [LAG], Outcome.MISSED),
        ("storage-and-lag", [STORE, LAG, OTHER_NIC], Outcome.WRONG),
    ],
)
def test_a_report_is_worth_what_it_says_of_the_fault(
    fabric: Fabric, kind: str, records: list[dict[str, Any]], outcome: Outcome
) -> None:
    assert grade(fabric, kind, *records) is outcome


@pytest.mark.parametrize(
    ("kind", "fault", "seen", "outcome"),
    [
        ("member-half", "LAG member at half speed", 7, Outcome.TOLD),
        ("member-half", "LAG member at half speed", 8, Outcome.MISSED),
        ("member-half", "LAG member lost", 0, Outcome.MISSED),
        ("member-slow", "LAG member lost", 7, Outcome.TOLD),
        ("member-slow", "LAG member at half speed", 7, Outcome.MISSED),
        ("member-down", "LAG member lost", 7, Outcome.TOLD),
        ("slow-nic", "NIC one way", 7, Outcome.TOLD),
        ("slow-leaf", "switch at half speed", 7, Outcome.TOLD),
        ("loss", "NIC one way", 0, Outcome.MISSED),
    ],
)
def test_a_missed_fault_is_told_where_the_report_says_that_it_would_not_be_seen(
    fabric: Fabric, kind: str, fault: str, seen: int, outcome: Outcome
) -> None:
    losses = [{"fault": fault, "seen": seen, "elements": 8}]
    assert grade_report(fabric, KINDS[kind](fabric, First()), [], [], losses) is outcome


def test_a_finding_of_a_report_has_the_members_that_its_words_tell() -> None:
    assert read_finding(LAG).members_up == 1
    assert read_finding(SLOW_LAG).members_up is None
    assert read_finding(SWITCH).suspect is Suspect.SWITCH
