"""Acceptances: of which finding each is, how they are told, and that no verdict asks for them."""

import pytest

from benchconsole.console.view.acceptance import find_acceptances, list_accepted, name_cause
from benchconsole.console.view.session_verdict import decide
from benchconsole.console.view.stored_verdict import Outcome
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.probes.model.remark import About, Remark, RemarkKind
from benchconsole.topology.copying import replace
from tests.console.reports import fixture

SLOW = Finding(
    Suspect.NIC, "n3", "n3 out", "gives 2.97 of 9.90 Gb/s", Level.FAIL, Confidence.CERTAIN, ("n3",), ("t1", "t2"),
    evidence=("m1",), value=3.7e8, expected=1.2e9, probe="iperf3",
)  # fmt: skip
HOT = replace(SLOW, element="n4", where="n4", suspect=Suspect.NODE, probe="inventory")


def accept(finding: Finding, number: int = 1, by: str = "Ann Roe", text: str = "a known cable") -> Remark:
    return Remark(RemarkKind.ACCEPTED, About.FINDING, name_cause(finding), text, by, 900.0, 1000.0, 0, number)


def withdraw(number: int) -> Remark:
    return Remark(RemarkKind.WITHDRAWAL, About.SESSION, "", "no", "bob", 950.0, 1000.0, number, 9)


@pytest.mark.parametrize(
    ("now", "stays"),
    [
        (SLOW, True),
        (replace(SLOW, what="gives 1.00 of 9.90 Gb/s", value=1.2e8, tests=("t9",), evidence=("m9",)), True),
        (replace(SLOW, confidence=Confidence.POSSIBLE, do="look", nodes=("n3", "n4")), True),
        (replace(SLOW, level=Level.WATCH), False),
        (replace(SLOW, suspect=Suspect.NODE), False),
        (replace(SLOW, element="n4"), False),
        (replace(SLOW, where="n3 in"), False),
        (replace(SLOW, probe="fio"), False),
        (replace(SLOW, metrics=("iperf3.retransmits",)), False),
    ],
)
def test_an_acceptance_stays_while_the_finding_says_the_same_cause(now: Finding, stays: bool) -> None:
    found = find_acceptances((now,), [accept(SLOW)])
    assert [finding for finding, _ in found.found] == ([now] if stays else [])
    assert len(found.earlier) == (not stays)
    assert ("of an earlier judgement" in found.sentence) is not stays


@pytest.mark.parametrize(
    ("remarks", "sentence"),
    [
        ([], ""),
        ([accept(SLOW)], "2 findings, 1 accepted by Ann Roe: a known cable."),
        ([accept(SLOW, text="A cable.\n\nIn May.")], "2 findings, 1 accepted by Ann Roe: A cable. In May."),
        ([accept(SLOW), withdraw(1)], ""),
        ([accept(SLOW), accept(HOT, 2, "Bob", "spare")],
            "2 findings, 2 accepted: n3 out by Ann Roe: a known cable; n4 by Bob: spare."),
        ([accept(replace(SLOW, element="n9"))], "1 acceptance is of an earlier judgement."),
        ([accept(replace(SLOW, element="n9")), accept(HOT, 2)],
            "2 findings, 1 accepted by Ann Roe: a known cable. 1 acceptance is of an earlier judgement."),
    ],
)  # fmt: skip
def test_who_accepts_what_is_one_sentence(remarks: list[Remark], sentence: str) -> None:
    assert find_acceptances((SLOW, HOT), remarks).sentence == sentence


def test_many_acceptances_are_named_and_counted() -> None:
    findings = tuple(replace(SLOW, element=f"n{each}", where=f"n{each}") for each in range(5))
    sentence = find_acceptances(findings, [accept(each, place) for place, each in enumerate(findings, 1)]).sentence
    assert sentence.startswith("5 findings, 5 accepted: n0 by Ann Roe")
    assert sentence.endswith("; n2 by Ann Roe: a known cable; and 2 more.")


def test_a_long_reason_is_cut_and_says_so() -> None:
    sentence = find_acceptances((SLOW,), [accept(SLOW, text="x" * 500)]).sentence
    assert "(cut, 500 characters)" in sentence
    assert len(sentence) < 250


@pytest.mark.fault("I04")
def test_name_and_reason_are_data() -> None:
    said = find_acceptances((SLOW,), [accept(SLOW, by="\x1b[31mAnn", text="\x07because\u202e")]).sentence
    assert not set(said) & set("\x1b\x07\u202e")


def test_the_last_of_two_acceptances_of_one_cause_counts() -> None:
    accepted = list_accepted([accept(SLOW, 2, "Bob"), accept(SLOW, 1, "Ann")])
    assert accepted[name_cause(SLOW)].by == "Bob"


def test_no_verdict_asks_who_accepts() -> None:
    """Every finding of a session that fails is accepted, and it fails as before."""
    view = fixture.all_below()
    assert decide(view).outcome is Outcome.FAIL
    accepted = replace(view, remarks=tuple(accept(each, place) for place, each in enumerate(view.findings, 1)))
    assert decide(accepted) == decide(view)
    assert find_acceptances(view.findings, accepted.remarks).earlier == ()


def test_findings_of_one_cause_are_counted_each() -> None:
    """Two criteria on numbers of one probe may find the same node too low: both rows say who accepts them."""
    found = find_acceptances((SLOW, replace(SLOW, what="writes 100 of 200 MB/s"), HOT), [accept(SLOW)])
    assert len(found.found) == 2
    assert found.sentence.startswith("3 findings, 2 accepted: ")
