"""Tables typed from paper: from the CSV to verdicts, marked as typed; and every mistake with its line."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import FABRIC, Site

TEXT = FABRIC + 'cohorts: {kind: {virtual: "n[1-2]", bare metal: "n[3-4]"}}\n'
TRIAD = "metric: stream.triad, at_least: 65 GB/s, source: 4.1.1"
MEAN = "metric: stream.triad, statistic: mean, at_least: 100 GB/s, source: 5.1.1"
HEAD = "metric,value,nodes,statistic,n,labels,cohort,date,source\n"


def ingest(folder: Path, criteria: list[str], *tables: str) -> tuple[Site, int, str]:
    site = Site(folder, criteria, TEXT)
    files = []
    for number, text in enumerate(tables):
        files.append(folder / f"values{number}.csv")
        files[-1].write_text(text)
    code, said = site.call("ingest", site.topology, *files)
    return site, code, said


ROWS = "".join(f"stream.triad,{value} GB/s,n{node},,,,,2016-04-08T12:00:00Z,Table 1\n"
               for node, value in ((1, 100.5), (2, 64.5), (3, 113.1), (4, 99)))  # fmt: skip


def test_values_are_judged_as_any_others_and_marked_as_typed(tmp_path: Path) -> None:
    site, code, said = ingest(tmp_path, [TRIAD], HEAD + ROWS.replace("64.5", "64"))
    assert code == Exit.BELOW, said
    rows = [row for row in site.verdicts() if row["metric"] == "stream.triad"]
    assert [(row["subject"], row["level"]) for row in rows] == [
        ("n1", "pass"), ("n2", "fail"), ("n3", "pass"), ("n4", "pass"),
    ]  # fmt: skip
    report = site.report()
    assert {each["labels"]["typed"] for each in report["measurements"]} == {"by hand"}
    assert {each["labels"]["kind"] for each in report["measurements"]} == {"virtual", "bare metal"}
    assert "source Table 1" in report["measurements"][0]["raw"]
    assert report["session"]["started"] == datetime(2016, 4, 8, 12, tzinfo=UTC).timestamp()


def test_a_typed_mean_answers_for_a_mean_and_for_no_node(tmp_path: Path) -> None:
    row = 'stream.triad,100.5 GB/s,"n[1-4]",mean,4,,,2016-04-08T12:00:00Z,5.1.1\n'
    site, code, said = ingest(tmp_path, [TRIAD, MEAN], HEAD + row)
    assert code == Exit.UNTESTED, said
    assert "criterion 4.1.1, stream.triad: not tested" in said
    (together,) = site.report()["together"]
    assert (together["level"], together["subject"]) == ("pass", "mean of 4 values")


def test_means_of_parts_are_weighted_by_their_numbers(tmp_path: Path) -> None:
    rows = (
        'stream.triad,90 GB/s,"n[1-3]",mean,3,,,2016-04-08T12:00:00Z,\n'
        "stream.triad,130 GB/s,n4,mean,1,,,2016-04-08T12:00:00Z,\n"
    )
    site, code, said = ingest(tmp_path, [MEAN], HEAD + rows)
    assert code == Exit.PASSED, said
    (together,) = site.report()["together"]
    assert together["value"] == pytest.approx(100e9)


def test_a_typed_median_of_parts_is_no_median_of_the_whole(tmp_path: Path) -> None:
    rows = (
        'stream.triad,90 GB/s,"n[1-3]",median,3,,,2016-04-08T12:00:00Z,\n'
        "stream.triad,130 GB/s,n4,median,1,,,2016-04-08T12:00:00Z,\n"
    )
    _, code, said = ingest(tmp_path, [MEAN.replace("mean", "median")], HEAD + rows)
    assert code == Exit.UNTESTED
    assert "a typed median cannot be joined with other numbers" in said


def test_several_tables_are_one_session(tmp_path: Path) -> None:
    first, *rest = ROWS.splitlines(keepends=True)
    site, _, _ = ingest(tmp_path, [], HEAD + first, HEAD + "".join(rest))
    assert len(site.report()["measurements"]) == 4


GOOD = "stream.triad,100 GB/s,n1,,,,,,\n"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("stream.trio,100 GB/s,n1,,,,,,\n", "unknown metric 'stream.trio', expected a metric of the probes, did you"),
        ("stream.triad,100 GB,n1,,,,,,\n", "value found '100 GB', expected a rate"),
        ("stream.triad,100,n1,,,,,,\n", "value found '100', expected a rate"),
        ("stream.triad,100 GB/s,n9,,,,,,\n", "n9"),
        ('stream.triad,100 GB/s,"n[1-2]",,,,,,\n', "one value of n[1-2], expected one node, or a statistic of them"),
        ("stream.triad,100 GB/s,n1,average,4,,,,\n", "statistic 'average', expected one of mean, median"),
        ("stream.triad,100 GB/s,n1,mean,,,,,\n", "n '', expected how many values the mean is of"),
        ("stream.triad,100 GB/s,n1,,,kernel,,,\n", "label 'kernel', expected NAME=VALUE"),
        ("stream.triad,100 GB/s,n1,,,colour=red,,,\n", "label 'colour' of stream.triad, expected one of"),
        ("stream.triad,100 GB/s,n1,,,,,2016-04-08,\n", "date '2016-04-08', expected a moment with its zone"),
        ("stream.triad,100 GB/s,n1,,,,,2216-04-08T12:00:00Z,\n", "expected a moment of the past"),
        ("iperf3.throughput,1 GB/s,n1,,,,,,\n", "nodes 'n1', expected sender>receiver"),
        (GOOD, "a second time"),
    ],
)
def test_every_bad_row_is_named_with_its_line_and_nothing_is_stored(tmp_path: Path, row: str, said: str) -> None:
    site, code, found = ingest(tmp_path, [], HEAD + GOOD + row)
    assert code == Exit.BAD_INPUT
    assert "values0.csv:3: " in found
    assert said in found
    assert not (site.folder / "s.db").exists() or site.call("sessions")[1].startswith("no session")


def test_a_column_that_is_not_known_and_a_table_without_values(tmp_path: Path) -> None:
    _, code, said = ingest(tmp_path, [], "metric,valeu\nstream.triad,1 GB/s\n")
    assert (code, "unknown column 'valeu'" in said) == (Exit.BAD_INPUT, True)
    other = tmp_path / "other"
    other.mkdir()
    _, code, said = ingest(other, [], HEAD)
    assert (code, "no row below the names of the columns, expected values" in said) == (Exit.BAD_INPUT, True)


def test_pairs_are_typed_as_sender_and_receiver(tmp_path: Path) -> None:
    site, code, said = ingest(tmp_path, [], HEAD + "iperf3.throughput,9 Gb/s,n1>n2,,,,,2016-04-08T12:00:00Z,5.1.1.3\n")
    assert code == Exit.UNTESTED, said  # the other nodes of the file have no value
    (row,) = [each for each in site.verdicts() if each["metric"] == "iperf3.throughput"]
    assert (row["subject"], row["level"]) == ("n1>n2", "pass")


HEAD_OF_MEANS = "metric,value,nodes,statistic,n,error,deviation,labels,cohort,date,source\n"


def type_mean(value: float, error: str, nodes: str = '"n[1-4]"', deviation: str = "") -> str:
    return f"stream.triad,{value} GB/s,{nodes},mean,4,{error},{deviation},,,2016-04-08T12:00:00Z,\n"


def test_typed_means_are_shown_with_their_errors_and_are_no_numbers_of_nodes(tmp_path: Path) -> None:
    rows = type_mean(100.5, "0.3 GB/s", '"n[1-2]"') + type_mean(90, "", '"n[3-4]"', "0.52 GB/s")
    site, _, _ = ingest(tmp_path, [], HEAD_OF_MEANS + rows)
    _, page = site.call("statistics")
    assert "stream.triad n[1-2] mean 4 100.5 ± 0.3 GB/s stream.triad n[3-4] mean 4 90.0 ± 0.3 GB/s" in page
    assert "mean ± error" not in page, "two means are no sample of two numbers"
    page = site.call("report", "--format", "md")[1]
    assert "| stream.triad | n[1-2] | mean | 4 | 100.5 ± 0.3 GB/s |" in page


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (type_mean(12.55, "0.06 GB/s"), type_mean(12.27, "0.08 GB/s"), "worse: 1 worse"),
        (type_mean(12.55, "0.2 GB/s"), type_mean(12.27, "0.2 GB/s"), "compared numbers show no effect: 1 no effect"),
        (type_mean(12.55, "0.02 GB/s"), type_mean(12.50, "0.02 GB/s"), "compared numbers are the same: 1 same"),
        (type_mean(12.55, ""), type_mean(12.27, "0.08 GB/s"), "not comparable: 1 not comparable"),
    ],
)
def test_typed_means_are_compared_by_their_errors(tmp_path: Path, before: str, after: str, said: str) -> None:
    site = Site(tmp_path, [], TEXT)
    for name, row in (("before", before), ("after", after)):
        (tmp_path / f"{name}.csv").write_text(HEAD_OF_MEANS + row)
        assert site.call("ingest", site.topology, tmp_path / f"{name}.csv", "--label", name)[0] == Exit.UNTESTED
    code, page = site.call("compare", "before", "after")
    assert f"B against A: {said}; facts of nodes: not compared" in page
    outcome = said.partition(":")[0]
    assert code == {"worse": Exit.BELOW, "not comparable": Exit.UNTESTED}.get(outcome, Exit.PASSED)
    if outcome == "not comparable":
        assert "nothing tells how far such numbers spread" in page
        code, page = site.call("compare", "before", "after", "--spread", "1 %", "--json")
        assert (code, '"assumed_spread": 0.01' in page) == (Exit.BELOW, True)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("stream.triad,90 GB/s,n1,,,0.5 GB/s,,,,,\n", "error '0.5 GB/s' of a single value, expected one of a mean"),
        ("stream.triad,90 GB/s,n1,median,4,0.5 GB/s,,,,,\n", "of median, expected one of a mean"),
        ("stream.triad,90 GB/s,n1,mean,4,0.5,,,,,\n", "value found '0.5', expected a rate"),
        ("stream.triad,90 GB/s,n1,mean,4,0.5 GB/s,1 GB/s,,,,\n", "expected one: error is deviation / √n"),
    ],
)
def test_an_error_belongs_to_a_mean(tmp_path: Path, row: str, said: str) -> None:
    _, code, found = ingest(tmp_path, [], HEAD_OF_MEANS + GOOD.replace(",,,,,,", ",,,,,,,,") + row)
    assert (code, said in found) == (Exit.BAD_INPUT, True), found


PAIR_HEAD = "metric,value,nodes,date,round\n"


def type_pairs(rate: str, together: str = "", second: str = "2016-04-08T12:00:00Z") -> str:
    """Three receivers of one sender on links of 10 Gb/s."""
    dates = ("2016-04-08T12:00:00Z", second, second)
    return PAIR_HEAD + "".join(
        f"iperf3.throughput,{rate},n1>n{sink},{date},{together}\n" for sink, date in zip((2, 3, 4), dates, strict=True)
    )


@pytest.mark.parametrize(
    ("rate", "together", "code"),
    [("9 Gb/s", "", Exit.PASSED), ("3.2 Gb/s", "", Exit.BELOW), ("3.2 Gb/s", "star", Exit.PASSED)],
)
def test_flows_share_a_link_only_where_their_rows_say_that_they_ran_at_once(
    tmp_path: Path, rate: str, together: str, code: Exit
) -> None:
    assert ingest(tmp_path, [], type_pairs(rate, together))[1] == code


def test_a_round_has_one_date(tmp_path: Path) -> None:
    _, code, said = ingest(tmp_path, [], type_pairs("3.2 Gb/s", "star", second="2016-04-08T13:00:00Z"))
    assert code == Exit.BAD_INPUT
    assert (
        "values0.csv:3: round 'star' of 2016-04-08T13:00:00Z, and above of 2016-04-08T12:00:00Z, expected one" in said
    )


def test_a_value_that_is_typed_of_two_days_counts_twice(tmp_path: Path) -> None:
    rows = GOOD.replace(",,,,,,", ",,,,,2016-04-08T12:00:00Z,") + GOOD.replace("100", "60").replace(
        ",,,,,,", ",,,,,2016-04-09T12:00:00Z,"
    )
    site, code, _ = ingest(tmp_path, [TRIAD], HEAD + rows)
    assert code == Exit.BELOW
    assert [each["labels"]["repetition"] for each in site.report()["measurements"]] == ["1", "2"]


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (("--session", "last"), "--session"),
        (("--cohort", "tuning=after"), "--cohort"),
        (("--node", "n1"), "--node"),
        (("--at-once",), "--at-once"),
    ],
)
def test_options_that_tables_do_not_take_are_refused(tmp_path: Path, option: tuple[str, ...], named: str) -> None:
    site, _, _ = ingest(tmp_path, [TRIAD], HEAD + ROWS)
    code, said = site.call("ingest", site.topology, tmp_path / "values0.csv", *option)
    assert (code, f"found {named} with a table" in said) == (Exit.BAD_INPUT, True)
