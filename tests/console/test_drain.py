"""Which nodes a session would drain, and with what reason; the real thing is in the scenarios."""

import pytest

from benchconsole.console.cli.drain import list_candidates, select_candidates
from benchconsole.console.exits import BadInput
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect, Verdict, Yardstick
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.units import Shown, Unit

FABRIC = load_text(
    "schema: 1\nfabric: f\nnetwork: {mtu: 1500}\nclasses: {c: {}}\nswitches: {leaf1: {role: leaf}}\n"
    "nodes: {'n[1-4]': {class: c, role: compute}}\nlinks: [{from: 'n[1-4]', to: leaf1, speed: 10 Gb/s}]\n",
    "f.yaml",
)
LOW = Verdict(
    "t1", 1, "iperf3", "n3>n1", ("n3", "n1"), "iperf3.throughput", (), Level.FAIL, Yardstick.CAPACITY, "low",
    Unit.BYTE_RATE, Shown.NETWORK, 0.36e9, 1.17e9, 1.0e9,
)  # fmt: skip
WORDS = LOW._replace(test="t2", probe="inventory", subject="n2", nodes=("n2",), metric="cpu.model", value=None, required=None,
    text="\x1b[1mold", expected_text="new",
)  # fmt: skip
NIC = Finding(Suspect.NIC, "n3--leaf1", "n3 out", "a third", Level.FAIL, Confidence.LIKELY, ("n3",), ("t1",))
HARDWARE = replace(NIC, suspect=Suspect.NODE, element="n2", where="n2", nodes=("n2",), tests=("t2",))


def _view(*findings: Finding) -> RunView:
    return RunView(FABRIC, session="s1", findings=findings, verdicts={"t1": (LOW,), "t2": (WORDS,)})


def test_the_reason_has_the_probe_and_both_numbers() -> None:
    (found,) = list_candidates(_view(NIC))

    assert (found.node, found.sure) == ("n3", True)
    assert found.reason == "benchconsole s1 iperf3: throughput 2.88 Gb/s < 8.00 Gb/s"


def test_of_words_both_are_told_on_one_line() -> None:
    (found,) = list_candidates(_view(HARDWARE))

    assert found.reason == "benchconsole s1 inventory: found [1mold, expected new"


def test_more_where_less_is_good_is_told_the_other_way() -> None:
    view = replace(_view(NIC), verdicts={"t1": (LOW._replace(value=2.0e9),)})

    assert list_candidates(view)[0].reason.endswith("16.0 Gb/s > 8.00 Gb/s")


@pytest.mark.parametrize(
    "finding",
    [
        replace(NIC, suspect=Suspect.LAG),
        replace(NIC, suspect=Suspect.SWITCH),
        replace(NIC, suspect=Suspect.STORAGE),
        replace(NIC, nodes=("n1", "n3")),
        replace(NIC, level=Level.WATCH),
        replace(NIC, level=Level.UNKNOWN),
    ],
)
def test_what_names_no_single_node_as_the_cause_drains_nobody(finding: Finding) -> None:
    assert list_candidates(_view(finding)) == []


def test_a_possible_cause_is_drained_only_when_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    view = _view(replace(NIC, confidence=Confidence.POSSIBLE), HARDWARE)

    assert [each.node for each in select_candidates(view, None)] == ["n2"]
    assert "n3: left out, the finding is only possible" in capsys.readouterr().err
    assert [each.node for each in select_candidates(view, "n3")] == ["n3"]


def test_a_node_without_fault_cannot_be_named() -> None:
    with pytest.raises(BadInput, match="found no fault with n1, n4 itself"):
        select_candidates(_view(NIC), "n1,n3,n4")


def test_a_node_of_several_findings_is_drained_once() -> None:
    unsure = replace(NIC, confidence=Confidence.POSSIBLE)

    assert [(each.node, each.sure) for each in list_candidates(_view(unsure, NIC))] == [("n3", True)]
