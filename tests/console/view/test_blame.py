"""Whose fault a low throughput is: affected by a finding elsewhere, never by one on the subject itself."""

import pytest

from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import State
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect, Verdict, Yardstick
from benchconsole.topology.copying import replace

LAG = Finding(
    Suspect.LAG, "leaf1--spine", "leaf1 to spine", "half", Level.FAIL, Confidence.CERTAIN, ("n1", "n2"), ("t1",),
    evidence=("t1#0",), links=("leaf1--spine",),
)  # fmt: skip
NIC = replace(LAG, suspect=Suspect.NIC, element="n1", where="n1 out", nodes=("n1",), nodes_at=("n1",))
PAIR = Verdict(
    test="t1", round=1, probe="iperf3", subject="n1>n5", nodes=("n1", "n5"), metric="iperf3.throughput", labels=(),
    level=Level.FAIL, kind=Yardstick.CAPACITY, because="", evidence=("t1#0",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("finding", "verdict", "affected_by"),
    [
        (LAG, PAIR, "leaf1 to spine"),
        (LAG, PAIR._replace(level=Level.WATCH), "leaf1 to spine"),
        (LAG, PAIR._replace(subject="leaf1 to spine"), ""),
        (LAG, PAIR._replace(level=Level.PASS), ""),
        (LAG, PAIR._replace(level=Level.UNKNOWN), ""),
        (LAG, PAIR._replace(evidence=("t2#0",)), ""),
        (LAG, PAIR._replace(kind=Yardstick.CRITERION), ""),
        (NIC, PAIR, ""),
        (NIC, PAIR._replace(subject="n5>n1"), ""),
        (NIC, PAIR._replace(subject="leaf1 to spine"), "n1 out"),
        (NIC, PAIR._replace(subject="n10>n5", nodes=("n10", "n5")), "n1 out"),
    ],
)
def test_a_verdict_is_affected_by_an_element_that_it_does_not_name(
    finding: Finding, verdict: Verdict, affected_by: str
) -> None:
    assert Blame((finding,)).affected_by(verdict) == affected_by


def test_a_finding_on_the_subject_goes_before_one_elsewhere() -> None:
    assert Blame((LAG, NIC)).affected_by(PAIR) == ""


@pytest.mark.parametrize(
    ("findings", "node", "verdict", "state"),
    [
        ((), "n1", PAIR, State.AFFECTED),  # a low flow names neither of its ends
        ((), "n1", PAIR._replace(level=Level.WATCH), State.AFFECTED),
        ((), "n1", PAIR._replace(level=Level.UNKNOWN), State.UNKNOWN),
        ((), "n1", PAIR._replace(level=Level.PASS), State.PASS),
        ((), "n1", PAIR._replace(kind=Yardstick.CRITERION), State.FAIL),
        ((), "n1", PAIR._replace(kind=Yardstick.CRITERION, level=Level.WATCH), State.WATCH),
        ((), "n1", PAIR._replace(kind=Yardstick.HARDWARE), State.FAIL),
        ((LAG,), "n1", PAIR, State.AFFECTED),
        ((LAG,), "n5", PAIR, State.AFFECTED),
        ((LAG,), "n1", PAIR._replace(level=Level.WATCH), State.AFFECTED),
        ((LAG,), "n1", PAIR._replace(level=Level.UNKNOWN), State.UNKNOWN),
        ((LAG,), "n1", PAIR._replace(level=Level.PASS), State.PASS),
        ((LAG,), "n1", PAIR._replace(test="t2"), State.AFFECTED),
        ((NIC,), "n1", PAIR, State.FAIL),  # its own
        ((NIC,), "n5", PAIR, State.AFFECTED),
        ((LAG, NIC), "n1", PAIR, State.FAIL),
        ((NIC, LAG), "n5", PAIR, State.AFFECTED),
        ((replace(NIC, suspect=Suspect.STORAGE),), "n1", PAIR, State.FAIL),
        ((replace(NIC, suspect=Suspect.NODE),), "n1", PAIR, State.FAIL),
        ((replace(NIC, suspect=Suspect.LEG),), "n1", PAIR, State.FAIL),
        ((replace(NIC, suspect=Suspect.SWITCH, nodes_at=()),), "n1", PAIR, State.AFFECTED),
        ((replace(NIC, suspect=Suspect.SET, nodes_at=()),), "n1", PAIR, State.AFFECTED),
        ((replace(NIC, suspect=Suspect.GATEWAY, nodes=("gw", "n1"), nodes_at=("gw",)),), "n1", PAIR, State.AFFECTED),
    ],
)
def test_a_node_is_affected_by_a_low_value_that_is_not_its_own_fault(
    findings: tuple[Finding, ...], node: str, verdict: Verdict, state: State
) -> None:
    assert Blame(findings).state(node, verdict) is state


@pytest.mark.parametrize(
    ("findings", "node", "verdict", "concerned"),
    [
        ((), "n5", PAIR, True),
        ((LAG,), "n1", PAIR, True),
        ((LAG,), "n5", PAIR, False),  # it is not among those behind the LAG
        ((NIC,), "n1", PAIR, True),
        ((NIC,), "n5", PAIR, False),
        ((NIC,), "n5", PAIR._replace(level=Level.PASS), True),
    ],
)
def test_a_partner_of_the_node_at_fault_is_not_concerned(
    findings: tuple[Finding, ...], node: str, verdict: Verdict, concerned: bool
) -> None:
    assert Blame(findings).concerns(node, verdict) is concerned
