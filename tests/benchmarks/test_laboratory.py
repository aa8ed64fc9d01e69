"""What the findings of a trial in the laboratory are worth, and what the command says of many."""

import random
from typing import Any

import pytest

from benchconsole.probes.model.judgement import Suspect
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from benchmarks import laboratory
from benchmarks.laboratory import (
    KINDS,
    Outcome,
    PlantedFault,
    Trial,
    format_table,
    grade_findings,
    main,
    parse_options,
    plant_loss,
    plant_member_down,
    plant_member_slow,
    plant_slow_leaf,
    plant_slow_nic,
    read_finding,
)
from tests.lab import LabSpec, faults
from tests.lab.files import topology
from tests.lab.plan import Plan

LAG_OF_ONE = "gives 95 Mb/s of 188 Mb/s, 51 %, both ways, what 1 of 2 members carry"
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


def grade(fabric: Fabric, planted: PlantedFault, *records: dict[str, Any]) -> Outcome:
    return grade_findings(fabric, planted, [read_finding(each) for each in records])


class First(random.Random):
    """Draws the first of everything."""

    def choice(self, seq: Any) -> Any:
        return seq[0]


NIC_OUT = record("nic", "n1", "n1 out", "gives 28 Mb/s of 94 Mb/s, 30 %, out only")
NIC_IN = record("nic", "n1", "n1 in", "gives 28 Mb/s of 94 Mb/s, 30 %, in only")
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


@pytest.mark.parametrize(
    ("plant", "records", "outcome"),
    [
        (plant_slow_nic, [NIC_OUT], Outcome.EXACT),
        (plant_slow_nic, [NIC_OUT, NOWHERE], Outcome.EXACT),
        (plant_slow_nic, [NIC_IN], Outcome.LOCATED),
        (plant_slow_nic, [NIC_OUT, OTHER_NIC], Outcome.WRONG),
        (plant_slow_nic, [OTHER_NIC], Outcome.WRONG),
        (plant_slow_nic, [NOWHERE], Outcome.MISSED),
        (plant_slow_nic, [], Outcome.MISSED),
        (plant_member_down, [LAG], Outcome.EXACT),
        (plant_member_down, [SLOW_LAG], Outcome.LOCATED),
        (plant_member_down, [TIE], Outcome.LOCATED),
        (plant_member_down, [OTHER_LAG], Outcome.WRONG),
        (plant_member_slow, [SLOW_LAG], Outcome.EXACT),
        (plant_member_slow, [LAG], Outcome.EXACT),
        (plant_slow_leaf, [SWITCH], Outcome.EXACT),
        (plant_slow_leaf, [LAG, NIC_IN], Outcome.LOCATED),
        (plant_slow_leaf, [SWITCH, OTHER_LAG], Outcome.WRONG),
        (plant_loss, [LOST], Outcome.EXACT),
        (plant_loss, [NIC_OUT], Outcome.LOCATED),
        (plant_loss, [], Outcome.MISSED),
    ],
)
def test_findings_are_worth_what_they_say_of_the_fault(
    fabric: Fabric, plant: Any, records: list[dict[str, Any]], outcome: Outcome
) -> None:
    assert grade(fabric, plant(fabric, First()), *records) is outcome


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_fault_and_the_scored_one_are_at_the_same_element(fabric: Fabric, kind: str) -> None:
    for seed in range(20):
        planted = KINDS[kind](fabric, random.Random(seed))
        match planted.injected:
            case faults.SlowNic(node, percent, _):
                assert (planted.scored.element, percent) == (node, 30)
            case faults.CableLoss(node, percent):
                assert (planted.scored.element, percent) == (node, 2)
            case faults.SlowSwitch(switch, percent):
                assert (planted.scored.element, percent) == (switch, 50)
                assert len(planted.scored.cables) == 4 + 2 * 2
            case faults.MemberDown(leaf, spine, member) | faults.MemberSlow(leaf, spine, member, 10):
                assert planted.scored.cables == {(f"{leaf}--{spine}", member - 1)}
        assert planted.scored.links <= fabric.links.keys()


def test_a_finding_of_a_report_has_the_members_that_its_words_tell() -> None:
    assert read_finding(LAG).members_up == 1
    assert read_finding(SLOW_LAG).members_up is None
    assert read_finding(SWITCH).suspect is Suspect.SWITCH


def trial(kind: str, outcome: Outcome | None, findings: int = 1, unplaced: int = 0, seconds: float = 30.0) -> Trial:
    return Trial(kind, "", outcome, 1, findings, unplaced, seconds, ())


def test_the_table_counts_runs_by_fault_and_outcome() -> None:
    table = format_table(
        [
            trial("slow-nic", Outcome.EXACT),
            trial("slow-nic", Outcome.WRONG, seconds=40.0),
            trial("loss", Outcome.MISSED, findings=1, unplaced=1),
            trial("healthy", None, findings=0),
            trial("healthy", None, findings=2, unplaced=1),
        ]
    ).splitlines()
    assert [line.split() for line in table] == [
        ["fault", "runs", "exact", "located", "wrong", "missed", "open", "seconds"],
        ["slow-nic", "2", "1", "0", "1", "0", "0", "35"],
        ["loss", "1", "0", "0", "0", "1", "1", "30"],
        ["healthy:", "1", "of", "2", "silent,", "open", "1,", "30", "s"],
    ]


def test_faults_are_chosen_by_name() -> None:
    assert parse_options([]).faults == list(KINDS)
    assert parse_options(["--faults", "loss", "slow-leaf"]).faults == ["loss", "slow-leaf"]
    with pytest.raises(SystemExit):
        parse_options(["--faults", "fire"])


def test_where_no_laboratory_can_be_built_it_says_so_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(laboratory, "obstacles", lambda: ["no root"])
    assert main([]) == 2
    assert "NO LABORATORY, NOTHING WAS TRIED: no root" in capsys.readouterr().err
