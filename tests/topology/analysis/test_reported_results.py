"""Results that documents report, against their own arithmetic: shares of bounds and peaks, and numbers told twice."""

from pathlib import Path

import pytest

from benchconsole.topology.analysis.reported_results import CellOutcome, list_findings, list_share_cells
from benchconsole.topology.analysis.static_finding import Severity
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import fabric

HEAD = """\
schema: 1
fabric: x
classes:
  big: {peak: 800 GFLOP/s}
  small: {peak: 400 GFLOP/s}
nodes:
  n[1-4]: {class: big}
  m[1-2]: {class: small}
  st1: {role: storage}
criteria:
  - {metric: ior.throughput, where: {operation: read}, at_least: 924 MB/s, target: 1232 MB/s}
  - {metric: ior.throughput, where: {operation: write}, nodes: "n[1-4]", at_least: 1260 MB/s}
  - {metric: hpl.rate, nodes: "n[1-4]", at_least: 80 %, of: peak}
  - {metric: iperf3.throughput, at_least: 90 %, of: capacity}
  - {metric: dd.throughput, at_least: 1 MB/s}
  - {metric: dd.throughput, where: {direct: 1}, at_least: 2 MB/s}
"""
READ = "metric: ior.throughput, where: {operation: read}, value: 1268 MB/s"


def described(folder: Path, *reported: str) -> Fabric:
    return fabric(folder, HEAD + "reported:\n" + "".join(f"  - {{{each}}}\n" for each in reported))


def cells(folder: Path, reported: str) -> list[tuple[str, str, CellOutcome]]:
    found = described(folder, reported)
    (result,) = found.reported
    value = result.value
    return [(each.shown, each.how, each.outcome) for each in list_share_cells(found, result, value.value, value.span)]


@pytest.mark.parametrize(
    ("share", "shown", "outcome"),
    [
        ("of_required: 137.2 %", "137.2 %", CellOutcome.AGREES),
        ("of_required: 137.1 %", "137.23 %", CellOutcome.DIFFERS),
        ("of_required: 137.3 %", "137.2 %", CellOutcome.AGREES),  # 1,268.4 of 924 is 137.27
        ("of_required: 137.4 %", "137.23 %", CellOutcome.DIFFERS),
        ("of_required: 137 %", "137 %", CellOutcome.AGREES),
        ("of_required: 138 %", "137.2 %", CellOutcome.DIFFERS),
    ],
)
def test_a_share_agrees_where_some_number_is_rounded_to_it(
    tmp_path: Path, share: str, shown: str, outcome: CellOutcome
) -> None:
    assert cells(tmp_path, f"{READ}, {share}") == [(shown, "1,268 MB/s of 924 MB/s", outcome)]


@pytest.mark.parametrize(
    ("reported", "shown", "how"),
    [
        (f"{READ}, of_target: 102.9 %", "102.9 %", "1,268 MB/s of 1,232 MB/s"),
        ("metric: hpl.rate, nodes: n1, value: 640 GFLOP/s, of_required: 100 %", "100 %", "640 GFLOP/s of 640 GFLOP/s"),
        ("metric: hpl.rate, nodes: n1, value: 640 GFLOP/s, of_peak: 80 %", "80 %", "640 GFLOP/s of 800 GFLOP/s"),
        ("metric: hpl.rate, nodes: 'm[1-2]', value: 100 GFLOP/s, of_peak: 25 %", "25 %", "100 GFLOP/s of 400 GFLOP/s"),
        (
            "metric: hpl.rate, nodes: 'n[1-4]', where: {nodes: 4}, value: 2560 GFLOP/s, of_peak: 80 %",
            "80 %",
            "2,560 GFLOP/s of 3,200 GFLOP/s",
        ),
    ],
)
def test_what_a_share_is_of(tmp_path: Path, reported: str, shown: str, how: str) -> None:
    assert cells(tmp_path, reported) == [(shown, how, CellOutcome.AGREES)]


@pytest.mark.parametrize(
    ("reported", "why"),
    [
        ("metric: stream.triad, value: 1 GB/s, of_required: 100 %", "no criteria speak of it"),
        ("metric: dd.throughput, value: 1 MB/s, of_required: 100 %", "2 criteria speak of it"),
        (
            "metric: ior.throughput, where: {operation: write}, value: 1 GB/s, of_required: 80 %",
            "no criteria speak of it",
        ),
        (
            "metric: ior.throughput, where: {operation: write}, nodes: n1, value: 1 GB/s, of_target: 80 %",
            "its criterion has no target",
        ),
        (
            "metric: iperf3.throughput, value: 1 Gb/s, of_required: 80 %",
            "its criterion asks for a share of capacity, which differs by test",
        ),
        ("metric: hpl.rate, value: 1 GFLOP/s, of_peak: 80 %", "its nodes have several peaks"),
        ("metric: hpl.rate, nodes: 'n1,st1', value: 1 GFLOP/s, of_peak: 80 %", "not all of its nodes state a peak"),
        (
            "metric: hpl.rate, nodes: n1, where: {nodes: '> 1'}, value: 1 GFLOP/s, of_peak: 80 %",
            "the number of nodes is > 1",
        ),
    ],
)
def test_a_share_of_what_nobody_knows_is_a_note(tmp_path: Path, reported: str, why: str) -> None:
    assert cells(tmp_path, reported) == [("", why, CellOutcome.UNKNOWN)]
    (found,) = list_findings(described(tmp_path, reported))
    assert (found.severity, found.code) == (Severity.NOTE, "reported-unknown")
    assert found.text.endswith(f"it cannot be checked: {why}")


def test_a_wrong_share_is_told_with_its_arithmetic(tmp_path: Path) -> None:
    (found,) = list_findings(described(tmp_path, f"{READ}, nodes: 'n[1-4]', of_required: 137.1 %, source: table 2"))
    assert (found.severity, found.code, found.where) == (Severity.ERROR, "reported-share", "n[1-4]")
    assert found.text == (
        "ior.throughput (operation=read): 137.1 % of required is reported (table 2); 1,268 MB/s of 924 MB/s is 137.23 %"
    )


@pytest.mark.parametrize(
    ("first", "second", "twice"),
    [
        ("value: 108 MB/s", "value: 107 MB/s", True),
        ("value: 108 MB/s", "value: 0.11 GB/s", False),
        ("value: 108 MB/s", "value: 108 MB/s", False),
        ("value: 108 MB/s", "value: 107 MB/s, statistic: lowest", False),
        ("value: 108 MB/s", "value: 107 MB/s, where: {operation: read}", False),
        ("value: 108 MB/s", "value: 107 MB/s, nodes: n1", False),
    ],
)
def test_one_number_told_twice(tmp_path: Path, first: str, second: str, twice: bool) -> None:
    found = described(
        tmp_path, f"metric: fio.read, {first}, source: 5.1.2", f"metric: fio.read, {second}, source: table 2"
    )
    assert [(each.code, each.where, each.text) for each in list_findings(found)] == [
        (
            "reported-twice",
            "x",
            "fio.read: 108 MB/s (5.1.2) and 107 MB/s (table 2) are reported; no number is rounded to both",
        )
    ] * twice
