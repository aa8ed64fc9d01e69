"""The scores of findings: each grade, and the counts of a run."""

import random

import pytest

from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.detectable_loss import Fault as Detectable
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from benchmarks.attribution.cable_paths import Cabling
from benchmarks.attribution.described import load_fabric
from benchmarks.attribution.faults import Fault, FaultDraw, FaultKind, make_damage
from benchmarks.attribution.scoring import Grade, is_told_unseen, score
from benchmarks.attribution.tables import Condition, ScoredRun, format_sum_table, list_fault_rows, make_sum_row

TEXT = """\
schema: 1
fabric: bonded
switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}}
mlag: {pair: {switches: "leaf[1-2]"}}
nodes: {"n[1-4]": {}}
links:
  - {from: "n[1-4]", to: "leaf[1-2]", speed: 10 Gb/s, bond: lacp}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 10 Gb/s, count: 3}
"""
LEGS = ("n1--leaf1", "n1--leaf2")
LAG = "leaf1--spine1"


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    return load_text(TEXT, "bonded.yaml")


def fault(kind: FaultKind, element: str, *cables: tuple[str, int]) -> Fault:
    return Fault(kind, element, frozenset(cables), {})


NIC = fault(FaultKind.NIC, "n1", (LEGS[0], 0), (LEGS[1], 0))
LEG = fault(FaultKind.LEG_LOST, "n1", (LEGS[0], 0))
LOST = fault(FaultKind.MEMBER_LOST, LAG, (LAG, 1))
SLOW = fault(FaultKind.CABLE, LAG, (LAG, 1))
SWITCH = fault(
    FaultKind.SWITCH,
    "leaf1",
    *((f"n{node}--leaf1", 0) for node in range(1, 5)),
    *((f"leaf1--spine{spine}", member) for spine in (1, 2) for member in range(3)),
)


def finding(suspect: Suspect, element: str, where: str = "", **fields: object) -> Finding:
    made = Finding(suspect, element, where or element, "", Level.FAIL, Confidence.LIKELY, (), ())
    return replace(made, **fields)  # type: ignore[arg-type]


def tied(*names: str) -> str:
    comma = "; " if any(", " in name for name in names) else ", "
    return f"which of {comma.join(names)}: no test loaded one of them without the others"


NODE_1 = finding(Suspect.NODE, "n1")
LEG_1 = finding(Suspect.NIC, "n1", "n1 out", links=(LEGS[0],))
LEG_2 = finding(Suspect.NIC, "n1", "n1 out", links=(LEGS[1],))
LEGS_TIED = finding(Suspect.NIC, "n1", links=(LEGS[0],), cannot_tell=tied("n1 out", "n1 out"))
NODES_TIED = finding(Suspect.NIC, "n1", links=(LEGS[0],), cannot_tell=tied("n1 out", "n2 in"))
TWO_OF_3 = finding(Suspect.LAG, LAG, links=(LAG,), members_up=2)
ONE_OF_3 = finding(Suspect.LAG, LAG, links=(LAG,), members_up=1)
SOME_OF_3 = finding(Suspect.LAG, LAG, links=(LAG,))
MEMBER = finding(Suspect.LAG, LAG, "leaf1 to spine1, member 2 of 3 (p1 to p7)", links=(LAG,))
OTHER_MEMBER = finding(Suspect.LAG, LAG, "leaf1 to spine1, member 3 of 3", links=(LAG,))
MEMBERS_TIED = replace(
    TWO_OF_3, cannot_tell=tied("leaf1 to spine1, member 1 of 3", "leaf1 to spine1, member 2 of 3 and 1 more")
)
LAGS_TIED = finding(
    Suspect.LINK, "leaf2--spine1", links=("leaf2--spine1",), cannot_tell=tied("leaf2 to spine1", "spine1 to leaf1")
)
PAIR_TIED = finding(Suspect.LINK, LAG, "leaf1 and leaf2 to spine1", links=(LAG, "leaf2--spine1"))
SWITCH_1 = finding(Suspect.SWITCH, "leaf1")
SPINE_1 = finding(Suspect.SWITCH, "spine1")
SWITCH_TIED = finding(Suspect.LINK, LAG, cannot_tell=tied("leaf1", "leaf1 to spine1 and 2 more"))
FAR = finding(Suspect.NIC, "n4", links=("n4--leaf2",))
NOTHING = finding(Suspect.FABRIC, "n1>n2")


@pytest.mark.parametrize(
    ("broken", "found", "grade"),
    [
        (NIC, [NODE_1], Grade.EXACT),
        (NIC, [LEGS_TIED], Grade.EXACT),
        (NIC, [LEG_1, LEG_2], Grade.EXACT),
        (NIC, [LEG_1], Grade.PART),
        (NIC, [NODES_TIED], Grade.TIE),
        (NIC, [SWITCH_1], Grade.OTHER),
        (NIC, [FAR], Grade.MISSED),
        (NIC, [NOTHING], Grade.MISSED),
        (NIC, [], Grade.MISSED),
        (LEG, [LEG_1], Grade.EXACT),
        (LEG, [LEG_2], Grade.MISSED),
        (LEG, [LEGS_TIED], Grade.PART),
        (LEG, [NODE_1], Grade.PART),
        (LEG, [NODES_TIED], Grade.TIE),
        (LEG, [SWITCH_1], Grade.OTHER),
        (LOST, [MEMBER], Grade.EXACT),
        (LOST, [OTHER_MEMBER], Grade.MISSED),
        (LOST, [TWO_OF_3], Grade.LAG),
        (LOST, [MEMBERS_TIED], Grade.LAG),
        (LOST, [ONE_OF_3], Grade.PART),
        (LOST, [SOME_OF_3], Grade.PART),
        (SLOW, [SOME_OF_3], Grade.LAG),
        (SLOW, [ONE_OF_3], Grade.PART),
        (LOST, [LAGS_TIED], Grade.TIE),
        (LOST, [PAIR_TIED], Grade.TIE),
        (LOST, [SPINE_1], Grade.OTHER),
        (LOST, [SPINE_1, LAGS_TIED], Grade.TIE),
        (SWITCH, [SWITCH_1], Grade.EXACT),
        (SWITCH, [SWITCH_TIED], Grade.TIE),
        (SWITCH, [LAGS_TIED], Grade.OTHER),
        (SWITCH, [SPINE_1], Grade.OTHER),
        (SWITCH, [LEG_1], Grade.OTHER),
    ],
)
def test_grade(fabric: Fabric, broken: Fault, found: list[Finding], grade: Grade) -> None:
    assert score(fabric, [broken], found).grades == (grade,)


def test_counts_of_a_run(fabric: Fabric) -> None:
    told = score(fabric, [NIC, LOST], [LEGS_TIED, TWO_OF_3, LAGS_TIED, FAR, NOTHING])
    assert told.grades == (Grade.EXACT, Grade.LAG)
    assert (told.findings, told.placed, told.located, told.named, told.exact, told.lag) == (5, 4, 3, 3, 1, 1)


def test_healthy_run_with_findings_locates_nothing(fabric: Fabric) -> None:
    told = score(fabric, [], [FAR, NOTHING])
    assert (told.grades, told.findings, told.placed, told.located, told.exact) == ((), 2, 1, 0, 0)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("jetstream", set(FaultKind)),
        ("leaf-spine", set(FaultKind) - {FaultKind.LEG_LOST}),
        ("fat-tree", set(FaultKind) - {FaultKind.LEG_LOST, FaultKind.MEMBER_LOST, FaultKind.STORAGE}),
    ],
)
def test_faults_are_drawn_apart_and_where_tests_reach(name: str, kinds: set[FaultKind]) -> None:
    cabling = Cabling(load_fabric(name, steered=False))
    draw = FaultDraw(cabling)
    assert set(draw.kinds) == kinds
    seen = set()
    for seed in range(60):
        faults = draw.draw(random.Random(seed), 3)
        assert faults == draw.draw(random.Random(seed), 3)
        assert sum(len(each.links) for each in faults) == len({link for each in faults for link in each.links})
        damage = make_damage(faults)
        harmed = {cabling.cables[number].link for number in (*damage.lost, *damage.left)}
        assert harmed == {link for each in faults for link in each.links}
        assert all(cable ^ 1 in damage.lost for cable in damage.lost)
        seen |= {each.kind for each in faults}
        if name == "jetstream":
            trunks = {each.element for each in faults if each.kind in (FaultKind.MEMBER_LOST, FaultKind.CABLE)}
            assert not any("dmz" in element or element == "spine1--spine2" for element in trunks)
    assert seen == kinds


def test_table_sums_runs_and_holds_them_against_the_goals(fabric: Fabric) -> None:
    condition = Condition("default", "ideal", "small")
    good = score(fabric, [NIC], [NODE_1])
    bad = score(fabric, [LOST], [LAGS_TIED, FAR])
    runs = [ScoredRun((), score(fabric, [], []), (), 1.0), ScoredRun((FaultKind.NIC,), good, (False,), 1.0)]
    assert make_sum_row(condition, runs)[3:] == (
        *("1.0", "1.00", "0.0", "1.00", "1.00", "1.00", "1.00", "1.00", "1.00", "1.00", "0.0", "0.00", "held"),
    )
    runs.append(ScoredRun((FaultKind.MEMBER_LOST,), bad, (True,), 4.0))
    assert make_sum_row(condition, runs)[3:] == (
        *("2.0", "1.00", "0.0", "0.50", "0.50", "0.50", "0.50", "1.00", "1.00", "0.67", "0.0", "0.00", "MISSED"),
    )
    assert [row[3:] for row in list_fault_rows(condition, runs)] == [
        ("NIC 30 %", "1", "1", "1.00", "1.00", "0.00", "0.00", "0.00", "0.00"),
        ("LAG member lost", "1", "1", "0.00", "0.00", "0.00", "1.00", "0.00", "0.00"),
    ]
    assert "MISSED" in format_sum_table([make_sum_row(condition, runs)])


@pytest.mark.parametrize(
    ("suite", "truth", "said", "goals"),
    [
        ("lag-unknown", "stream-hash", True, "held"),  # no port chooses a member, and the report says so
        ("lag-unknown", "stream-hash", False, "MISSED"),
        ("lag", "unknown-hash", True, "held"),
        ("lag", "stream-hash", True, "MISSED"),
        ("lag", "wrong-paths", True, "MISSED"),
    ],
)
def test_a_missed_fault_that_the_report_says_it_may_not_see_is_held_where_no_port_chooses(
    fabric: Fabric, suite: str, truth: str, said: bool, goals: str
) -> None:
    run = ScoredRun((FaultKind.MEMBER_LOST,), score(fabric, [LOST], []), (said,), 1.0)
    row = make_sum_row(Condition(suite, truth, "small"), [run])
    assert (row[-6], row[-5], row[-1]) == ("0.00", "1.00" if said else "0.00", goals)


@pytest.mark.parametrize(
    ("broken", "kind", "seen", "loss", "told"),
    [
        (LOST, Detectable.MEMBER_LOST, 2, None, True),
        (LOST, Detectable.MEMBER_LOST, 3, 1 / 3, False),
        (LOST, Detectable.SWITCH_HALF, 0, None, False),
        (SLOW, Detectable.MEMBER_LOST, 2, None, True),  # a cable of a LAG
        (SLOW, Detectable.LINK, 2, None, False),
        (NIC, Detectable.NIC, 3, 0.7, False),
        (NIC, Detectable.NIC, 3, 0.701, True),
        (SWITCH, Detectable.SWITCH_HALF, 2, 0.5, True),
    ],
)
def test_a_report_says_which_kinds_it_may_not_see(
    fabric: Fabric, broken: Fault, kind: Detectable, seen: int, loss: float | None, told: bool
) -> None:
    assert is_told_unseen(fabric, broken, [DetectableLoss(kind, 3, seen, loss)]) is told


def test_that_ports_say_nothing_is_a_true_finding_where_they_do(fabric: Fabric) -> None:
    ports = replace(NOTHING, where="source ports")
    told = score(fabric, [], [FAR, ports], ports_say_nothing=True)
    assert (told.findings, told.warned, told.placed) == (1, 1, 1)
    told = score(fabric, [], [FAR, ports])
    assert (told.findings, told.warned, told.placed) == (2, 0, 1)
