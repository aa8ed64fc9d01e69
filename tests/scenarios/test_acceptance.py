"""From the file over a run to an accepted finding: every report says who answers for it, and the verdict is as before."""

import html
import json
import re
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import TRIAD, WEAK, Site, stream
from tests.scenarios.test_session_verdicts import INVENTORY, PAIRS, RUN_FABRIC, Play, Reach, play, squeeze

__all__ = ["play"]

ACCEPT = ("--kind", "accepted", "--by", "Ann Roe")
SENTENCE = "1 finding, 1 accepted by Ann Roe: the spare NIC comes in May."


def write_report(site: Site, form: str) -> str:
    path = site.folder / f"r.{form}"
    path.unlink(missing_ok=True)
    assert site.call("report", "--format", form, "-o", path)[0] == 0
    return path.read_text()


@pytest.fixture
def ran(tmp_path: Path, play: Play) -> Site:
    """A run of the file in which n1 sends at a third of its rate."""
    play(Reach({"n1": 0.4e9}))
    site = Site(tmp_path, text=f"{RUN_FABRIC}suites:\n  default:\n{INVENTORY}{PAIRS}")
    assert site.call("run", site.topology)[0] == Exit.BELOW
    assert len(site.report()["findings"]) == 1
    return site


def test_a_run_with_an_accepted_finding_fails_as_before_and_says_who_answers(ran: Site) -> None:
    before = ran.report()["session"]
    assert before["accepted"] == ""
    code, said = ran.call("remark", "last", "The spare NIC comes in May.", "--finding", "1", *ACCEPT)
    assert (code, said.startswith("remark 1 on session")) == (0, True)
    told = ran.report()
    for key in ("state", "summary", "verdict"):
        assert told["session"][key] == before[key], key
    assert told["session"]["verdict"]["exit_code"] == Exit.BELOW
    assert told["session"]["accepted"] == SENTENCE.replace("the spare", "The spare")
    (finding,) = told["findings"]
    assert (finding["accepted"]["by"], finding["accepted"]["reason"]) == ("Ann Roe", "The spare NIC comes in May.")
    for form in ("html", "md", "text"):
        page = squeeze(write_report(ran, form))
        assert squeeze(told["session"]["accepted"]) in page, form
        assert squeeze(before["summary"]) in page, form
        assert "passed:" not in page
        assert squeeze("An accepted finding stays a finding") in page, form
        assert re.search("acceptedfindings", page, re.IGNORECASE), form
    assert "fail, 2 below" in ran.call("sessions")[1]
    assert ran.call("judge", "last")[0] == Exit.BELOW


def test_the_area_of_findings_says_who_accepts_what_and_what_each_rests_on(ran: Site) -> None:
    ran.call("remark", "last", "the spare NIC comes in May", "--finding", "1", *ACCEPT)
    ran.call("remark", "last", "port 3", "--finding", "1", "--by", "bob")
    _, page = ran.call("show", "last", "--area", "findings")
    assert "the spare NIC comes in May (Ann Roe, " in page
    assert page.endswith(SENTENCE)
    (record,) = json.loads(ran.call("show", "last", "--area", "findings", "--filter", "accepted~Ann", "--json")[1])
    assert record["accepted"]["by"] == "Ann Roe"
    assert [each.partition(" (")[0] for each in record["remarks"]] == ["port 3"]
    assert {each["state"] for each in record["evidence"]} & {"fail"}
    assert all("n1" in each["nodes"] for each in record["evidence"])
    assert ran.call("show", "last", "--area", "findings", "--filter", "accepted~Bob")[1].startswith("Findings: none of")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(tmp_path, [TRIAD])
    made.ingest("stream", stream(60.0), "--node", "n1")
    return made


def test_judged_again_alike_it_stays_accepted_and_otherwise_it_is_of_an_earlier_judgement(site: Site) -> None:
    site.call("remark", "last", "as agreed", "--finding", "1", *ACCEPT)
    assert site.call("judge", "last")[0] == Exit.BELOW
    assert site.report()["session"]["accepted"] == "1 finding, 1 accepted by Ann Roe: as agreed."
    weak = site.write("weak.yaml", [f"{WEAK}, target: 80 GB/s"])
    site.call("judge", "last", "--criteria", weak)
    told = site.report()
    assert [each["accepted"] for each in told["findings"]] == [None]
    assert told["session"]["accepted"] == "1 acceptance is of an earlier judgement."
    assert "of an earlier judgement" in html.unescape(write_report(site, "html"))
    _, page = site.call("show", "last", "--area", "findings")
    assert page.endswith("1 acceptance is of an earlier judgement.")


def test_an_acceptance_is_taken_back_and_both_stay(site: Site) -> None:
    site.call("remark", "last", "as agreed", "--finding", "1", *ACCEPT)
    code, said = site.call("remark", "last", "again", "--finding", "1", *ACCEPT)
    assert code == Exit.BAD_INPUT
    assert "the finding is accepted already, by Ann Roe; withdraw remark 1 first" in said
    assert site.call("remark", "last", "not agreed", "--withdraw", "1", "--by", "bob")[0] == 0
    assert site.report()["session"]["accepted"] == ""
    assert "accepted" not in site.call("show", "last")[1]
    _, said = site.call("remarks", "last", "--all")
    assert "withdrawn: not agreed (bob, " in said
    assert site.call("remark", "last", "agreed after all", "--finding", "1", *ACCEPT)[0] == 0
    assert "agreed after all" in site.call("remarks", "last", "--kind", "accepted")[1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "a finding alone can be accepted"),
        (("--element", "n1"), "a finding alone can be accepted"),
        (("--finding", "2"), "no finding 2, expected 1 to 1"),
        (("--finding", "1", "--element", "n1"), "a remark is about one thing"),
    ],
)
def test_nothing_but_a_finding_that_is_there_is_accepted(site: Site, arguments: tuple[str, ...], why: str) -> None:
    code, said = site.call("remark", "last", "x", *arguments, *ACCEPT)
    assert code == Exit.BAD_INPUT
    assert why in said
    assert site.report()["remarks"] == []


def test_a_reason_is_required(site: Site) -> None:
    code, said = site.call("remark", "last", " ", "--finding", "1", *ACCEPT)
    assert code == Exit.BAD_INPUT
    assert "an empty remark" in said
