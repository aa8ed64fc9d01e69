"""``overview``: several sessions in one table, in every format, with clauses, notes and checklists beside each other."""

import csv
import io
import json
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import FABRIC, Site, stream

ROWS = "metric,value,nodes,labels,date\n"
DD = "dd.throughput,{value} MB/s,n1,operation={operation},2016-04-{day:02}T12:00:00Z\n"


def type_dd(site: Site, label: str, read: float, write: float, day: int = 20) -> None:
    table = site.folder / f"{label}.csv"
    rows = (DD.format(value=value, operation=name, day=day) for value, name in ((read, "read"), (write, "write")))
    table.write_text("".join((ROWS, *rows)))
    code, said = site.call("ingest", site.topology, table, "--label", label)
    assert code in (Exit.BELOW, Exit.UNTESTED), said


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("COLUMNS", "160")
    made = Site(
        tmp_path, ["metric: dd.throughput, where: {operation: read}, at_least: 200 MB/s, source: 4.1.2"], FABRIC
    )
    type_dd(made, "iu", 244, 359)
    type_dd(made, "tacc", 198, 90)
    made.call("remark", "iu", "Acceptance report (average)")
    return made


def test_reading_stands_beside_writing_with_the_notes(site: Site) -> None:
    code, page = site.call("overview", "iu", "tacc")
    assert code == Exit.PASSED
    assert "iu dd.throughput 2016-04-20 244 MB/s 359 MB/s 1 Acceptance report (average)" in page
    assert "tacc dd.throughput 2016-04-20 198 MB/s 90.0 MB/s 1" in page


def test_clauses_of_all_sessions_are_one_table(site: Site) -> None:
    _, page = site.call("overview", "iu", "tacc", "--format", "md")
    assert "| clause | metric | applies to | required | iu | tacc |" in page
    assert "| 4.1.2 | dd.throughput | all nodes; operation=read | at least 200 MB/s | 1 pass | 1 fail |" in page
    assert "Nothing that was not tested is counted as passed." in page


def test_machines_get_base_units_and_every_value(site: Site, tmp_path: Path) -> None:
    found = json.loads(site.call("overview", "iu", "tacc", "--format", "json")[1])
    told = {
        (each["session"], each["across"]): (each["value"], each["number"], each["error"]) for each in found["numbers"]
    }
    assert told == {
        ("iu", "read"): (244e6, 1, None), ("iu", "write"): (359e6, 1, None),
        ("tacc", "read"): (198e6, 1, None), ("tacc", "write"): (90e6, 1, None),
    }  # fmt: skip
    file = tmp_path / "table.csv"
    assert site.call("overview", "iu", "tacc", "-o", file)[0] == Exit.PASSED
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert {(row["session"], row["across"], float(row["value"])) for row in rows} == {
        (session, across, value) for (session, across), (value, *_) in told.items()
    }


def test_measured_numbers_are_means_with_their_errors(tmp_path: Path) -> None:
    site = Site(tmp_path, [], FABRIC)
    for place, (node, rate) in enumerate((("n1", 100.0), ("n2", 102.0), ("n3", 98.0), ("n4", 100.0))):
        into = ("--session", "memory") if place else ("--label", "memory")
        site.ingest("stream", stream(rate), "--node", node, *into)
    _, page = site.call("overview", "memory", "--metric", "stream.triad")
    assert "100.0 ± 0.8 GB/s 4" in page


def test_three_sessions_and_more_are_a_series(site: Site) -> None:
    """Ten days whose reads fall: the deviation between days, the best and the worst of them, and the trend."""
    assert "Variation over the sessions" not in site.call("overview", "iu", "tacc")[1]
    names = [f"day{day}" for day in range(10)]
    for day, name in enumerate(names):
        type_dd(site, name, 300 - 10 * day, (100, 104)[day % 2], day + 10)
    _, page = site.call("overview", *names)
    reads = "dd.throughput read 10 255 MB/s 30.3 MB/s 12 %"
    assert f"{reads} 210 MB/s day9" in page
    assert "300 MB/s day0" in page
    assert "falls (rank correlation -1.00)" in page
    assert "dd.throughput write 10 102 MB/s 2.11 MB/s 2 %" in page
    assert page.count("no trend") == 1
    found = {
        each["across"]: each for each in json.loads(site.call("overview", *names, "--format", "json")[1])["series"]
    }
    assert [point["value"] for point in found["read"]["points"]] == [(300 - 10 * day) * 1e6 for day in range(10)]
    assert found["read"]["deviation"] == pytest.approx(30.2765e6, rel=1e-5)
    assert found["write"]["chance"] > 0.01


def test_another_label_may_stand_across(site: Site) -> None:
    _, page = site.call("overview", "iu", "--across", "typed", "--format", "json")
    assert {(each["across"], each["labels"]["operation"]) for each in json.loads(page)["numbers"]} == {
        ("by hand", "read"), ("by hand", "write"),
    }  # fmt: skip


def test_sessions_of_one_label_are_told_apart_by_their_ids(site: Site) -> None:
    type_dd(site, "iu", 258, 316)
    found = json.loads(site.call("overview", "last", "last-2", "--format", "json")[1])
    names = {each["session"] for each in found["numbers"]}
    assert names == {f"iu {key}" for key in found["sessions"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("iu", "iu"), "iu is named twice"),
        (("iu", "--metric", "hpl"), "there is no number of hpl in iu"),
    ],
)
def test_what_makes_no_table_is_refused(site: Site, arguments: tuple[str, ...], said: str) -> None:
    code, text = site.call("overview", *arguments)
    assert (code, said in text) == (Exit.BAD_INPUT, True), text


def sweep(site: Site, label: str, rates: dict[int, float]) -> None:
    for place, (tasks, rate) in enumerate(rates.items()):
        into = ("--session", label) if place else ("--label", label)
        code, said = site.ingest("stream", stream(rate), "--node", "n1", "--point", f"tasks={tasks}", *into)
        assert code in (Exit.PASSED, Exit.BELOW, Exit.UNTESTED), said


def test_curves_of_several_sessions_are_one_chart_of_the_page(tmp_path: Path) -> None:
    site = Site(tmp_path, [], FABRIC)
    sweep(site, "iu", {1: 20.0, 2: 40.0, 4: 60.0})
    sweep(site, "tacc", {1: 10.0, 2: 19.0, 8: 61.0})
    page = tmp_path / "page.html"
    assert site.call("overview", "iu", "tacc", "--metric", "stream.triad", "-o", page)[0] == Exit.PASSED
    text = page.read_text()
    assert "<h2>Numbers</h2>" in text
    chart = text[text.index("<h4>stream.triad") :]
    chart = chart[: chart.index("</table>")]
    assert chart.count('<path class="curve') == 2
    assert "<span>1</span><span>tasks" in chart
    assert ">iu" in chart
    assert ">tacc" in chart
    assert "61.0 GB/s" in chart
    assert site.call("overview", "iu", "tacc", "-o", page, "--force", "--points", "1..2")[0] == Exit.PASSED
    assert "<span>2</span></div>" in page.read_text()
    assert "61.0 GB/s" not in page.read_text().partition("Sweeps")[2]


@pytest.mark.parametrize(("points", "form"), [("1-2", "html"), ("4..1", "html"), ("1..2", "md"), ("a..b", "html")])
def test_a_part_of_the_axis_that_cannot_be_meant_is_refused(site: Site, points: str, form: str) -> None:
    code, said = site.call("overview", "iu", "--points", points, "--format", form)
    assert (code, "expected LOW..HIGH" in said) == (Exit.BAD_INPUT, True)
