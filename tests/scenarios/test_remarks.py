"""Remarks from the command to every report: on a session and its parts, withdrawn, hostile, and refused."""

import json
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import TRIAD, Site, stream

HOSTILE = "\x1b[31mred\x1b]0;x\x07 <script>alert(1)</script> [link](http://x) {{ 7*7 }} $(id)"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(tmp_path, [TRIAD])
    made.ingest("stream", stream(60.0), "--node", "n1", "--label", "first")
    made.ingest("stream", stream(100.0), "--node", "n2", "--session", "last")
    return made


def write_report(site: Site, form: str) -> str:
    path = site.folder / f"r.{form}"
    path.unlink(missing_ok=True)
    assert site.call("report", "-o", path)[0] == 0
    return path.read_text()


def test_a_remark_is_in_every_report_with_who_said_it(site: Site) -> None:
    text = "Met or exceeded.\n\nThe network was tuned twice."
    code, said = site.call(
        "remark", "last", text, "--kind", "conclusion", "--by", "Ann Roe", "--at", "2026-11-20T10:00:00Z"
    )
    assert (code, said.startswith("remark 1 on session")) == (0, True)
    site.call("remark", "last", "txqueuelen 1000 to 10000", "--kind", "tuning", "--element", "n2", "--by", "bob")
    page, mail = write_report(site, "html"), write_report(site, "md")
    for report in (page, mail):
        assert report.index("Conclusions") < report.index("Findings")
        assert "Met or exceeded." in report
        assert "Ann Roe, 2026-11-20 10:00:00 UTC" in report
        assert "Tuning log" in report
    assert "<p>The network was tuned twice.</p>" in page
    code, summary = site.call("show", "last")
    assert "conclusions 1. 2026-11-20 10:00:00 UTC, of the session, by Ann Roe Met or exceeded." in summary
    first, second = site.report()["remarks"]
    assert (first["kind"], first["text"], first["about"], first["by"]) == ("conclusion", text, "session", "Ann Roe")
    assert (second["about"], second["subject"], second["withdraws"]) == ("node", "n2", None)


def test_a_remark_on_a_finding_or_on_what_it_accuses_stands_beside_it(site: Site) -> None:
    assert site.call("remark", "last", "DIMM A3 was missing", "--finding", "1", "--by", "ann")[0] == 0
    assert site.call("remark", "last", "exchanged on Monday", "--element", "n1", "--by", "bob")[0] == 0
    _, summary = site.call("show", "last")
    assert "remark: DIMM A3 was missing (ann, " in summary
    assert "remark: exchanged on Monday (bob, " in summary


def test_a_clause_is_found_by_its_source_or_its_metric(site: Site) -> None:
    for clause in ("4.1.1", "stream.triad", "STREAM.TRIAD"):
        assert site.call("remark", "last", "as agreed", "--clause", clause)[0] == 0
    assert [each["subject"] for each in site.report()["remarks"]] == ["4.1.1", "stream.triad", "stream.triad"]


def test_withdrawn_remarks_leave_reports_and_stay_in_the_list(site: Site) -> None:
    site.call("remark", "last", "a slip of the pen", "--by", "ann")
    assert site.call("remark", "last", "wrong node", "--withdraw", "1", "--by", "bob")[0] == 0
    assert "a slip" not in write_report(site, "md")
    assert site.call("remarks", "last")[1].startswith("no remark")
    _, said = site.call("remarks", "last", "--all")
    assert "a slip of the pen withdrawn: wrong node (bob, " in said
    assert site.call("remark", "last", "again", "--withdraw", "1")[0] == Exit.BAD_INPUT


def test_the_tuning_log_of_all_sessions_is_in_the_order_of_its_time(site: Site) -> None:
    site.ingest("stream", stream(70.0), "--node", "n1", "--label", "second")
    site.call("remark", "second", "later", "--kind", "tuning", "--at", "2026-02-01T00:00:00Z")
    site.call("remark", "first", "earlier", "--kind", "tuning", "--at", "2026-01-01T00:00:00Z")
    site.call("remark", "first", "no change", "--at", "2025-01-01T00:00:00Z")
    _, said = site.call("remarks", "--kind", "tuning", "--json")
    assert [each["text"] for each in json.loads(said)] == ["earlier", "later"]


@pytest.mark.fault("I04")
def test_text_of_a_remark_is_data(site: Site) -> None:
    assert site.call("remark", "last", HOSTILE, "--by", HOSTILE.partition("\n")[0], "--kind", "conclusion")[0] == 0
    page, mail = write_report(site, "html"), write_report(site, "md")
    assert "<script>alert" not in page
    assert "{{ 7*7 }}" in page
    assert "](http" not in mail.replace("`", "").split("red")[0]
    for said in (page, mail, site.call("show", "last")[1], site.call("remarks", "last")[1]):
        assert "\x1b" not in said
        assert "\x07" not in said


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("last", "  \n "), "an empty remark"),
        (("last", "x", "--element", "n9"), "no node, switch or link 'n9'"),
        (("last", "x", "--finding", "7"), "no finding 7, expected 1 to 1"),
        (
            ("last", "x", "--clause", "4.1.2"),
            "no criterion or checklist step with the clause '4.1.2', did you mean 4.1.1?",
        ),
        (("last", "x", "--point", "ior:8"), "no point 'ior:8' of a sweep, expected STAGE:VALUE"),
        (("last", "x", "--element", "n1", "--clause", "4.1.1"), "a remark is about one thing"),
        (("last", "x", "--at", "2026-01-01"), "expected a moment of the past with its zone"),
        (("last", "x", "--at", "2999-01-01T00:00:00Z"), "expected a moment of the past with its zone"),
        (("last", "x", "--by", " "), "expected a name"),
        (("last", "x", "--withdraw", "3"), "no remark 3 that stands"),
        (("last", "x", "--withdraw", "1", "--kind", "tuning"), "leave the other options out"),
        (("last", "x" * 20_001), "a remark of 20,001 characters"),
    ],
)
def test_what_cannot_be_written_down_is_refused_with_the_reason(
    site: Site, arguments: tuple[str, ...], why: str
) -> None:
    code, said = site.call("remark", *arguments)
    assert code == Exit.BAD_INPUT
    assert why in said
    assert site.report()["remarks"] == []
