"""A session that is named as baseline judges later ones, node by node, and none before it."""

from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import FABRIC, TRANSCRIPTS, Site, stream

SHARE = "metric: stream.triad, at_least: 95 %, of: baseline, source: 4.1.1"


def measure(site: Site, label: str, *values: float) -> tuple[int, str]:
    told = (0, "")
    for place, value in enumerate(values, 1):
        where = ("--session", label) if place > 1 else ("--label", label)
        told = site.ingest("stream", stream(value), "--node", f"n{place}", *where)
    return told


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, [SHARE])


def test_without_a_baseline_nothing_is_known(site: Site) -> None:
    code, _ = measure(site, "before", 100.0, 80.0, 90.0, 90.0)
    assert code == Exit.UNTESTED
    one = site.report()["together"][0]
    assert one["because"].startswith("no session is named as baseline of")


@pytest.mark.parametrize(("now", "level"), [(76.0, "pass"), (75.9, "fail")])
def test_each_node_is_held_against_itself(site: Site, now: float, level: str) -> None:
    measure(site, "before", 100.0, 80.0, 90.0, 90.0)
    code, said = site.call("baseline", "before", "--by", "ann")
    assert code == 0
    assert "named by ann" in said
    code, said = measure(site, "after", 100.0, now, 90.0, 90.0)
    found = {each["subject"]: each["level"] for each in site.report()["together"]}
    assert found == {"n1": "pass", "n2": level, "n3": "pass", "n4": "pass"}
    assert code == (Exit.PASSED if level == "pass" else Exit.BELOW), said


def test_the_baseline_judges_neither_itself_nor_what_was_before_it(site: Site) -> None:
    measure(site, "first", 50.0)
    measure(site, "second", 100.0)
    site.call("baseline", "second")
    for label, why in (("second", "it is the baseline itself"), ("first", "it began before the baseline second")):
        assert site.call("judge", label)[0] == Exit.UNTESTED
        page = site.folder / f"{label}.json"
        site.call("report", label, "-o", page)
        assert why in page.read_text()


def test_a_node_that_the_baseline_lacks_is_unknown(site: Site) -> None:
    measure(site, "before", 100.0)
    site.call("baseline", "before")
    code, _ = measure(site, "after", 100.0, 100.0)
    assert code == Exit.UNTESTED
    levels = {each["subject"]: (each["level"], each["because"]) for each in site.report()["together"]}
    assert levels["n1"][0] == "pass"
    assert levels["n2"] == ("unknown", "the baseline before has no value of it there")


def test_a_session_keeps_its_baseline_when_a_later_one_is_named(site: Site) -> None:
    for label, rate in (("first", 100.0), ("second", 90.0), ("third", 90.0)):
        measure(site, label, rate)
    site.call("baseline", "first")
    site.call("baseline", "second")
    for label, because in (("second", "90.0 % of the baseline first"), ("third", "100.0 % of the baseline second")):
        site.call("judge", label)
        page = site.folder / f"{label}.json"
        site.call("report", label, "-o", page)
        assert because in page.read_text()


def test_what_is_dropped_stays_with_the_sessions_before(site: Site) -> None:
    measure(site, "first", 100.0)
    site.call("baseline", "first")
    measure(site, "second", 90.0)
    site.call("baseline", "--drop", "toy")
    assert "90.0 % of the baseline first" in site.report()["together"][0]["because"]
    measure(site, "third", 90.0)
    assert site.report()["together"][0]["because"].startswith("no session is named as baseline of toy")


def test_sessions_and_compare_know_the_baseline(site: Site) -> None:
    measure(site, "before", 100.0)
    measure(site, "after", 100.0)
    assert "no session is named as baseline of" in site.call("compare", "baseline", "after")[1]
    site.call("baseline", "before")
    assert site.call("sessions")[1].count("baseline") == 1
    assert "before, toy" in site.call("compare", "baseline", "after")[1]
    assert site.call("baseline", "--drop", "toy")[1].startswith("no session is named as baseline")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("before", "--drop", "x"), "name the one or drop the other"),
        (("--drop", "elsewhere"), "no session is named as baseline of it"),
        (("before", "--by", ""), "expected a name"),
    ],
)
def test_what_cannot_be_a_baseline_is_refused(site: Site, arguments: tuple[str, ...], why: str) -> None:
    measure(site, "before", 100.0)
    code, said = site.call("baseline", *arguments)
    assert code == Exit.BAD_INPUT
    assert why in said


def test_a_session_without_a_result_is_no_baseline(site: Site) -> None:
    steps = site.folder / "steps.yaml"
    steps.write_text("schema: 1\nchecklist: c\ntopology: site.yaml\nsteps:\n  - {id: a, text: look}\n")
    code, said = site.call("checklist", steps, "--label", "empty")
    assert code == Exit.UNTESTED, said
    code, said = site.call("baseline", "empty")
    assert code == Exit.BAD_INPUT
    assert "has no result" in said


def test_a_baseline_above_the_peak_of_its_node_judges_nothing(tmp_path: Path) -> None:
    text = FABRIC.replace('nodes: {"n[1-4]": {}}', 'classes: {a: {peak: 3 GFLOP/s}}\nnodes: {"n[1-4]": {class: a}}')
    site = Site(tmp_path, ["metric: hpl.rate, at_least: 50 %, of: baseline"], text)
    printed = (TRANSCRIPTS / "hpl" / "2.1-two-tests.txt").read_text()
    site.ingest("hpl", printed, "--node", "n1", "--label", "before")
    site.call("baseline", "before")
    slower = printed.replace("1213.31              4.396e+00", "1839.20              2.900e+00")
    assert site.ingest("hpl", slower, "--node", "n1", "--label", "after")[0] == Exit.UNTESTED
    together = site.report()["together"]
    (large,) = [each for each in together if " n 20000 " in each["subject"]]
    assert large["level"] == "unknown"
    assert large["because"].startswith("the baseline before has a wrong number of it there: n1: 147 % of peak")
    assert {each["level"] for each in together if each is not large} == {"pass"}
