"""``show --area``: the rows of the screen from the command line, filtered, as text and as JSON."""

import json
from pathlib import Path

import pytest

from benchconsole.console.cli.shown_area import AREAS as OFFERED
from benchconsole.console.exits import Exit
from benchconsole.console.tui.queries.areas import AREAS, OF_PROBES
from tests.console.cli.test_compare import measure
from tests.scenarios.test_judging_trials import Site


def test_every_area_is_offered() -> None:
    alone = {"fabric", "node", "plot", "run", "sessions", "compare", "history", "filters"}
    assert {*AREAS, *OF_PROBES} | alone == {*OFFERED}


def test_an_area_is_printed_filtered_and_as_json(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, page = site.call("show", "before", "--area", "nodes", "--filter", "state=fail")
    assert (code, page.strip()) == (Exit.PASSED, "Nodes: none of 4")
    code, page = site.call("show", "before", "--area", "nodes", "--filter", "n2")
    assert "n2" in page
    assert "n1 " not in page
    code, told = site.call("show", "before", "--area", "nodes", "--json")
    assert [each["node"] for each in json.loads(told)] == ["n1", "n2", "n3", "n4"]


def test_a_filter_that_is_not_understood_and_one_without_an_area_are_refused(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, said = site.call("show", "before", "--area", "links", "--filter", "speed>3")
    assert code == Exit.BAD_INPUT
    assert "--filter: speed" in said
    for words in (("--filter", "n1"), ("--json",)):
        code, said = site.call("show", "before", *words)
        assert code == Exit.BAD_INPUT
        assert "without --area, expected one of fabric, nodes, node, links, findings, rounds, pairs" in said


def test_one_node_is_an_area_with_its_results(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, told = site.call("show", "before", "--area", "node", "--node", "n2", "--json")
    assert code == Exit.PASSED
    rows = json.loads(told)
    assert (rows[0]["kind"], rows[0]["node"], rows[0]["tests"]) == ("node", "n2", 1)
    assert {row["kind"] for row in rows[1:]} <= {"result", "fact"}
    assert all(row["test"].endswith("n2") for row in rows if row["kind"] == "result")
    code, page = site.call("show", "before", "--area", "node", "--node", "n2", "--filter", "kind=node")
    assert "Node n2" in page


def test_the_fabric_is_an_area(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, told = site.call("show", "before", "--area", "fabric", "--json")
    assert code == Exit.PASSED
    assert sorted(node for row in json.loads(told) for node in row["nodes"]) == ["n1", "n2", "n3", "n4"]
    code, page = site.call("show", "before", "--area", "fabric", "--filter", "kind=rack", "--ascii")
    assert code == Exit.PASSED
    assert page.isascii()


def test_the_run_is_an_area(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, told = site.call("show", "before", "--area", "run", "--json")
    assert code == Exit.PASSED
    rows = json.loads(told)
    assert (rows[0]["kind"], rows[0]["rounds"], rows[0]["closed"]) == ("run", 4, 4)
    assert "complete" in rows[0]["what"]
    assert [row["tests"] for row in rows if row["kind"] == "stage"] == [4]
    tests = [row for row in rows if row["kind"] == "test"]
    assert [(row["test"][-2:], row["value"]) for row in tests] == [("n4", pytest.approx(100.5e9, rel=0.01))]
    code, page = site.call("show", "before", "--area", "run", "--filter", "kind=event")
    assert "session complete" in page
    assert "R plans" not in page


def test_the_fabric_is_printed_as_a_heat_map_and_in_parts(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, told = site.call("show", "before", "--area", "fabric", "--heat", "triad", "--json")
    assert code == Exit.PASSED
    heat = {each["node"]: each for row in json.loads(told) for each in row.get("heat", ())}
    assert [heat[node]["sign"] for node in ("n1", "n2", "n3", "n4")] == ["5", "9", "0", "7"]
    assert [heat[node]["rank"] for node in ("n1", "n2", "n3", "n4")] == [2, 4, 1, 3]
    assert heat["n3"]["value"] == pytest.approx(99e9)
    assert heat["n3"]["unit"] == "B/s"
    code, page = site.call("show", "before", "--area", "fabric", "--heat", "triad", "--ascii")
    assert code == Exit.PASSED
    assert " ".join(page.split()).count("low is worse") == 1
    assert page.isascii()
    code, told = site.call("show", "before", "--area", "fabric", "--zoom", "leaf", "--json")
    rows = json.loads(told)
    assert code == Exit.PASSED
    assert {row["kind"] for row in rows} <= {"rack", "uplink", "node"}
    nodes = {row["name"]: row for row in rows if row["kind"] == "node"}
    assert nodes
    assert all(row["metric"].startswith("stream.") and row["value"] > 0 for row in nodes.values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--area", "fabric", "--heat", "nonsense"),
            "--heat: no metric and no fact is called nonsense, expected one of",
        ),
        (("--area", "fabric", "--zoom", "leaf11"), "--zoom leaf11: no part of"),
        (("--area", "nodes", "--heat", "triad"), "--heat needs --area fabric"),
        (("--zoom", "leaf1"), "--zoom needs --area fabric"),
    ],
)
def test_a_heat_map_or_a_part_that_is_not_there_is_refused(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, page = site.call("show", "before", *words)
    assert code == Exit.BAD_INPUT
    assert said in page


def test_the_sessions_of_the_database_are_an_area(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    measure(site, "after", 110.3, 110.8, 109.1, 110.2)
    site.call("remark", "before", "an old kernel")
    code, told = site.call("show", "before", "--area", "sessions", "--json")
    assert code == Exit.PASSED
    rows = json.loads(told)
    assert [(row["label"], row["shown"], row["nodes"], row["remark"]) for row in rows] == [
        ("after", False, 4, ""), ("before", True, 4, "an old kernel"),
    ]  # fmt: skip
    assert all(row["bytes"] > 0 and row["run"] == "complete" for row in rows)
    code, page = site.call("show", "--area", "sessions", "--filter", "after")
    assert "after" in page
    assert "an old kernel" not in page


def test_a_comparison_is_an_area_with_the_older_session_as_a(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    measure(site, "after", 110.3, 110.8, 109.1, 110.2)
    compared = json.loads(site.call("compare", "before", "after", "--json")[1])["metrics"]
    for session, other in (("after", "before"), ("before", "after")):
        code, told = site.call("show", session, "--area", "compare", "--with", other, "--json")
        assert code == Exit.PASSED
        metrics = [{name: value for name, value in row.items() if name != "kind"} for row in json.loads(told)]
        assert sorted(map(str, metrics)) == sorted(map(str, compared))
    code, page = site.call("show", "last", "--area", "compare", "--with", "before", "--filter", "triad", "--ascii")
    assert "better: what stream.triad, of 4 paired, A 100 GB/s, B 110 GB/s" in page
    assert page.isascii()


def test_a_plot_is_an_area_of_every_metric_or_of_one(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, told = site.call("show", "before", "--area", "plot", "--json")
    assert code == Exit.PASSED
    (triad,) = (each for each in json.loads(told) if each["metric"] == "stream.triad")
    assert (triad["values"], triad["low"], triad["high"]) == (4, 99e9, 101e9)
    code, told = site.call("show", "before", "--area", "plot", "--metric", "stream.triad", "--json")
    assert sum(each["count"] for each in json.loads(told) if each["kind"] == "bin") == 4
    code, page = site.call("show", "before", "--area", "plot", "--metric", "stream.triad", "--ascii")
    assert (code, page.isascii()) == (Exit.PASSED, True)
    assert "p50" in page


def test_a_history_is_an_area_of_a_node_or_of_a_metric(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    measure(site, "after", 100.0, 50.5, 99.0, 100.5)
    code, told = site.call(
        "show", "before", "--area", "history", "--node", "n2", "--filter", "metric=stream.triad", "--json"
    )
    assert code == Exit.PASSED
    (row,) = json.loads(told)
    assert (row["node"], row["metric"], row["unit"], row["change"]) == ("n2", "stream.triad", "B/s", -0.5)
    assert (row["first"], row["last"], row["lowest"], row["highest"]) == (101e9, 50.5e9, 50.5e9, 101e9)
    assert [(each["label"], each["value"], each["state"]) for each in row["sessions"]] == [
        ("before", 101e9, "not judged"), ("after", 50.5e9, "not judged"),
    ]  # fmt: skip
    code, told = site.call("show", "--area", "history", "--metric", "stream.triad", "--json")
    assert [(each["node"], each["change"]) for each in json.loads(told)] == [
        ("n1", 0.0), ("n2", -0.5), ("n3", 0.0), ("n4", 0.0),
    ]  # fmt: skip
    code, page = site.call("show", "--area", "history", "--node", "n2", "--filter", "metric=stream.triad", "--ascii")
    assert page.count("2 sessions") == page.count("History of n2, 2 sessions") == 1
    assert "changes are shown, not judged" in page
    assert "-50.0 %" in page
    assert "@." in page
    assert page.isascii()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("last", "--area", "compare"), "--area compare takes --with OTHER"),
        (("last", "--area", "nodes", "--with", "before"), "--with needs --area compare"),
        (("last", "--with", "before"), "--with needs --area compare"),
        (("last", "--area", "compare", "--with", "before"), "are one session"),
        (("last", "--area", "node"), "--area node takes --node NODE"),
        (("last", "--area", "nodes", "--node", "n1"), "--node needs --area node"),
        (("last", "--area", "history"), "--area history takes --node NODE or --metric METRIC"),
        (("last", "--area", "history", "--node", "n1", "--metric", "stream.triad"), "--area history takes --node"),
        (("last", "--area", "history", "--node", "n01"), "no node of toy is called so, did you mean n1?"),
        (("last", "--area", "history", "--metric", "nothing"), "no session of toy has a number of it"),
        (("last", "--node", "n1"), "--node needs --area node"),
        (("last", "--area", "nodes", "--metric", "stream.triad"), "--metric needs --area plot"),
        (("last", "--area", "plot", "--metric", "stream.trid"), "of it, did you mean stream.triad?"),
        (("last", "--area", "nodes", "--peer", "n1"), "--peer needs --area node"),
        (("last", "--area", "node", "--node", "n1", "--peer", "n2"), "no test of n1 with it, expected one of none"),
        (("last", "--area", "node", "--node", "n01"), "no node of toy is called so, did you mean n1?"),
        (("last", "--area", "compare", "--with", "other"), "no session is called"),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    try:
        code, found = site.call("show", *words)
    except AssertionError as error:
        code, found = Exit.BAD_INPUT, str(error)
    assert code == Exit.BAD_INPUT
    assert said in found


def test_nodes_are_printed_with_the_columns_that_are_named(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 50.0)
    code, told = site.call("show", "before", "--area", "nodes", "--columns", "stream.triad,of.peers", "--json")
    assert code == Exit.PASSED
    shares = [row["columns"]["of.peers"]["share"] for row in json.loads(told)]
    assert shares[3] < 0.6 < shares[0]
    code, page = site.call(
        "show", "before", "--area", "nodes", "--columns", "stream.triad of.peers", "--filter", "of.peers<60"
    )
    assert "n4" in page
    assert "n1 " not in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--area", "nodes", "--columns", "kernl"), "--columns: kernl: no such column"),
        (("--area", "links", "--columns", "kernel"), "needs --area nodes"),
        (("--columns", "kernel"), "needs --area nodes"),
        (("--area", "nodes", "--columns", ","), "takes names of columns"),
    ],
)
def test_columns_that_are_none_and_columns_of_another_area_are_refused(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, page = site.call("show", "before", *words)
    assert code == Exit.BAD_INPUT
    assert said in page
