"""Criteria on all numbers together, from the file to the sentence: run through ``ingest``, ``show``, reports."""

from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import Site, iperf3, stream


def measure(site: Site, *values: float) -> tuple[int, str]:
    told = (0, "")
    for place, value in enumerate(values, 1):
        told = site.ingest(
            "stream", stream(value), "--node", f"n{place}", *(("--session", "last") if place > 1 else ())
        )
    return told


MEAN = "metric: stream.triad, statistic: mean, at_least: 100 GB/s, source: 5.1.1, author: the panel, date: 2016-04-20"


def test_a_mean_decides_over_the_session(tmp_path: Path) -> None:
    site = Site(tmp_path, [MEAN])
    code, said = measure(site, 98.0, 99.0, 101.0, 103.0)
    assert code == Exit.PASSED, said
    assert "Everything was judged and passed" in said
    assert "of all numbers together · 5.1.1 stream.triad: mean of 4 values: 100 GB/s, at least 100 GB/s" in said
    low = tmp_path / "low"
    low.mkdir()
    site = Site(low, [MEAN])
    code, said = measure(site, 98.0, 99.0, 100.0, 101.0)
    assert code == Exit.BELOW
    assert "Of all numbers together: criterion 5.1.1, mean stream.triad, mean of 4 values: 99.5 GB/s" in said
    report = site.report()
    (together,) = report["together"]
    assert (together["level"], together["number"]) == ("fail", 4)
    assert together["value"] == pytest.approx(99.5e9)
    (criterion,) = report["criteria"]
    assert (criterion["statistic"], criterion["author"], criterion["date"]) == ("mean", "the panel", "2016-04-20")


def test_what_nobody_measured_is_a_gap(tmp_path: Path) -> None:
    site = Site(tmp_path, ["metric: hpl.rate, statistic: mean, at_least: 1 GFLOP/s, source: 5.1.2"])
    code, said = measure(site, 98.0)
    assert code == Exit.UNTESTED
    assert "criterion 5.1.2, mean hpl.rate: not tested" in said


def test_the_criteria_table_has_the_statistic_and_who_set_it(tmp_path: Path) -> None:
    site = Site(tmp_path, [MEAN])
    measure(site, 98.0, 99.0, 101.0, 103.0)
    page = tmp_path / "r.md"
    assert site.call("report", "-o", page)[0] == 0
    text = page.read_text().replace("\\", "")
    assert "5.1.1 (the panel, 2016-04-20)" in text
    assert "mean of stream.triad" in text
    assert "mean of 4 values: 100 GB/s, at least 100 GB/s" in text


def test_a_reference_is_what_shares_are_of(tmp_path: Path) -> None:
    site = Site(tmp_path, ["metric: stream.time, where: {kernel: triad, statistic: mean}, at_most: 125 %, of: 16 ms"])
    code, said = measure(site, 100.0, 100.0, 100.0, 90.0)
    assert code == Exit.BELOW, said
    rows = [row for row in site.verdicts() if row["metric"] == "stream.time"]
    assert [row["level"] for row in rows] == ["pass", "pass", "pass", "fail"]
    assert {row["required"] for row in rows} == {0.02}


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        (
            "metric: stream.triad, statistic: average, at_least: 1 GB/s",
            "'average', expected one of mean, median, lowest",
        ),
        ("metric: stream.triad, statistic: mean, at_least: 90 %, of: peers", "statistic mean of shares of peers"),
        (
            "metric: stream.triad, at_least: 90 %, of: pears",
            "'pears', expected one of capacity, peak, ceiling, rtt, peers, baseline;",
        ),
        ("metric: stream.triad, at_least: 90 %, of: 100 s", "'100 s', expected one of capacity"),
        ("metric: stream.triad, at_least: 90 %, of: {metric: stream.triad}", "stream.triad as a share of itself"),
        (
            "metric: stream.triad, at_least: 90 %, of: {metric: stream.time}",
            "stream.time in s, expected a metric in B/s",
        ),
        ("metric: stream.triad, at_least: 90 %, of: {metric: stream.trio}", "unknown metric 'stream.trio'"),
        ("metric: stream.triad, at_least: 90 %, of: ceiling", "ceiling, and no storage system"),
        ("metric: stream.triad, at_least: 90 GB/s, date: yesterday", "'yesterday', expected a date such as 2016-04-20"),
        ("metric: stream.triad, at_least: 120 %, of: peak", "peak, of which stream.triad is no share"),
        ("metric: stream.triad, at_least: 0 %, of: peers", "expected a bound above 0: nothing can be below it"),
    ],
)
def test_criteria_that_cannot_be_right_are_refused(tmp_path: Path, criterion: str, said: str) -> None:
    site = Site(tmp_path, [criterion])
    code, found = site.call("check", site.topology)
    assert code == Exit.BAD_INPUT, found
    assert said in " ".join(found.split())


def test_a_mean_of_the_network_is_told_in_bits(tmp_path: Path) -> None:
    site = Site(tmp_path, ["metric: iperf3.throughput, statistic: mean, at_least: 8 Gb/s, source: 5.1.3"])
    code, said = site.ingest("iperf3", iperf3(9.0), "--node", "n1", "--peer", "n2")
    assert code == Exit.UNTESTED, said  # the other nodes have no output
    page = tmp_path / "r.md"
    site.call("report", "-o", page)
    (line,) = [line for line in page.read_text().splitlines() if "5.1.3" in line and line.startswith("|")]
    assert "at least 8.00 Gb/s" in line.replace("\\", "")
