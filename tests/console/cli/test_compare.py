"""``compare`` and ``statistics`` from outputs of tools to the page, the JSON and the exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import FABRIC, Site, stream

NODES = ("n1", "n2", "n3", "n4")
MORE = FABRIC.replace("n[1-4]", "n[1-8]") + 'cohorts: {kind: {virtual: "n[1-4]", bare metal: "n[5-8]"}}\n'


def measure(site: Site, label: str, *values: float, nodes: tuple[str, ...] = NODES) -> None:
    """A session of one output of STREAM a node, in GB/s."""
    for place, (node, value) in enumerate(zip(nodes, values, strict=True)):
        into = ("--session", label) if place else ("--label", label)
        code, said = site.ingest("stream", stream(value), "--node", node, *into)
        assert code in (Exit.PASSED, Exit.UNTESTED), said


def read(site: Site, *arguments: str) -> Any:
    code, said = site.call(*arguments, "--json")
    assert code in (Exit.PASSED, Exit.BELOW), said
    return json.loads(said)


def test_before_and_after_a_change(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    measure(site, "after", 110.3, 110.8, 109.1, 110.2)
    code, page = site.call("compare", "before", "after", "--metric", "stream.triad")
    assert code == Exit.PASSED
    assert "B against A: better: 1 better" in page
    assert "stream.triad 100 GB/s 110 GB/s +9.96 % better 4 paired" in page
    code, page = site.call("compare", "after", "before", "--metric", "stream.triad")
    assert code == Exit.BELOW
    assert "worse: 1 worse" in page


def test_no_effect_says_what_would_have_shown(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    measure(site, "after", 96.0, 106.0, 97.0, 103.0)
    code, page = site.call("compare", "before", "after", "--metric", "stream.triad")
    assert code == Exit.PASSED
    assert "no effect: 1 no effect" in page
    (metric,) = read(site, "compare", "before", "after", "--metric", "stream.triad")["metrics"]
    assert f"no effect; {100 * metric['smallest']:.2f} % would" in page
    assert metric["low"] < 0 < metric["high"] < metric["smallest"]


def test_the_record_has_base_units_and_what_the_interval_rests_on(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    measure(site, "after", 110.3, 110.8, 109.1, 110.2)
    record = read(site, "compare", "before", "after", "--metric", "stream.triad")
    (metric,) = record["metrics"]
    assert metric["mean_a"] == pytest.approx(100.125e9)
    assert (metric["pairing"], metric["number"], metric["outcome"]) == ("paired", [4, 4], "better")
    assert metric["low"] < metric["effect"] < metric["high"]


def test_cohorts_of_one_session(tmp_path: Path) -> None:
    site = Site(tmp_path, text=MORE)
    names = tuple(f"n{number}" for number in range(1, 9))
    measure(site, "both", 90.0, 91.0, 89.5, 90.5, 100.0, 101.0, 99.0, 100.5, nodes=names)
    code, page = site.call("compare", "both", "--by", "kind=virtual:bare metal", "--metric", "stream.triad")
    assert code == Exit.PASSED
    assert "A kind virtual of" in page
    assert "better 4 and 4" in page
    code, told = site.call("show", "both", "--area", "compare", "--by", "kind=virtual:bare metal", "--json")
    assert code == Exit.PASSED
    (triad,) = (each for each in json.loads(told) if each.get("metric") == "stream.triad")
    assert triad["outcome"] == "better"
    code, said = site.call("show", "both", "--area", "compare", "--by", "kind", "--with", "both")
    assert (code, said) == (Exit.BAD_INPUT, "benchconsole: --area compare takes --with OTHER or --by GROUPING")
    code, page = site.call("statistics", "both", "--metric", "stream.triad")
    assert "kind bare metal 4" in page
    assert "kind virtual 4" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "before", "before"), "before and before are one session"),
        (("compare", "before"), "compare: found one session, expected a second session or --by GROUPING"),
        (
            ("compare", "before", "after", "--by", "class"),
            "compare: found two sessions and --by, expected a second session or --by GROUPING",
        ),
        (
            ("compare", "before", "--by", "clas"),
            "--by clas: no such grouping, expected one of class, switch, node, did",
        ),
        (("compare", "before", "--by", "node"), "expected two of n1, n2, n3, n4, as node=A:B"),
        (("compare", "before", "--by", "node=n1:n9"), "--by node=n1:n9: expected two of n1, n2, n3, n4"),
        (("compare", "before", "after", "--metric", "hpl"), "nothing to compare: neither"),
        (("compare", "before", "after", "--same", "2"), "--same: found '2', expected a percentage such as 2 %"),
        (("compare", "before", "other"), "before is of toy, other of pony: different machines; --unpaired compares"),
        (
            ("statistics", "before", "--by", "clas"),
            "no such grouping, expected one of class, switch, node, did you mean",
        ),
        (("statistics", "before", "--metric", "hpl"), "there is no number of hpl in before"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_sentence(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    site = Site(tmp_path)
    for label in ("before", "after"):
        measure(site, label, 100.0, 101.0, 99.0, 100.5)
    site.topology = site.write("pony.yaml", (), FABRIC.replace("fabric: toy", "fabric: pony"))
    measure(site, "other", 100.0, 101.0, 99.0, 100.5)
    code, found = site.call(*arguments)
    assert code == Exit.BAD_INPUT
    assert said in found


def test_other_machines_are_compared_where_they_are_meant(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "one", 100.0, 101.0, 99.0, 100.5)
    site.topology = site.write("pony.yaml", (), FABRIC.replace("fabric: toy", "fabric: pony"))
    measure(site, "other", 113.0, 113.3, 112.9, 113.1)
    code, page = site.call("compare", "one", "other", "--unpaired", "--metric", "stream.triad")
    assert code == Exit.PASSED
    assert "better 4 and 4" in page


def test_statistics_are_printed_as_the_reports_print_them(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "run", 100.0, 101.0, 99.0, 100.5)
    code, page = site.call("statistics", "run", "--metric", "stream.triad")
    assert code == Exit.PASSED
    assert "all 4 100.1 ± 0.4 GB/s 99.0 GB/s 100 GB/s 101 GB/s" in page
    (record,) = read(site, "statistics", "run", "--metric", "stream.triad")
    (line,) = record["statistics"]
    assert line["mean"] == pytest.approx(100.125e9)
    assert line["jain"] == pytest.approx(0.99994, abs=1e-5)


def test_a_metric_that_became_more_consistent_is_told_so(tmp_path: Path) -> None:
    site = Site(tmp_path, text=MORE)
    nodes = tuple(f"n{number}" for number in range(1, 9))
    measure(site, "before", 80.0, 120.0, 100.0, 140.0, 70.0, 125.0, 90.0, 110.0, nodes=nodes)
    measure(site, "after", 100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 100.7, 99.1, nodes=nodes)
    code, page = site.call("compare", "before", "after", "--metric", "stream.triad")
    assert code == Exit.PASSED
    assert "stream.triad: more consistent: nodes, pairs or sets spread by 23.6 %, then by 0.7 %" in page
    (metric,) = read(site, "compare", "before", "after", "--metric", "stream.triad")["metrics"]
    assert metric["spread"]["after"] < 0.01 < metric["spread"]["before"]
    assert metric["spread"]["chance"] < 0.01
    assert metric["spread"]["of_repeats"] is False


def test_the_map_says_of_each_node_what_the_table_says_of_all(tmp_path: Path) -> None:
    names = tuple(f"n{number}" for number in range(1, 9))
    site = Site(tmp_path, text=MORE)
    measure(site, "before", *[100.0] * 8, nodes=names)
    measure(site, "after", 80.0, 100.1, 99.9, 100.0, 100.1, 99.9, 100.0, nodes=names[:7])
    asked = ("compare", "before", "after", "--metric", "stream.triad", "--map")
    code, page = site.call(*asked)
    assert code == Exit.PASSED
    assert "stream.triad, stream ingested: no effect" in page
    assert "nodes by switch: 1 worse, 1 in A alone, 6 same" in page
    assert " ▾-20 · · " in page
    code, page = site.call(*asked, "--ascii")
    assert " v-20 . . " in page
    (made,) = read(site, *asked)["maps"]
    assert [cell["outcome"] for cell in made["cells"]] == ["worse", *["same"] * 6, "in A alone"]
    assert {cell["row"] for cell in made["cells"]} == {"leaf"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("both", "--by", "kind"), "expected no --by"),
        (("both", "last", "--unpaired"), "expected no --unpaired"),
        (("both", "again", "--metric", "stream.nothing"), "nothing to compare"),
    ],
)
def test_a_map_of_other_nodes_or_of_nothing_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    site = Site(tmp_path, text=MORE)
    for label in ("both", "again"):
        measure(site, label, 90.0, 91.0, 89.0, 90.5)
    code, page = site.call("compare", *arguments, "--map")
    assert (code, said in page) == (Exit.BAD_INPUT, True), page
