"""dd for real, and iozone, ior and mdtest played: through the engine, against what was stored of their outputs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.probes.tools.captures import text
from tests.scenarios.commands import Ran, benchconsole, read_stored_outputs, report

pytestmark = pytest.mark.lab

SUITES = """\
suites:
  alone:
    - {probe: dd, nodes: n1, scratch: /scratch, size: 8 MiB, rate: 16 MB/s}
    - {probe: iozone, nodes: n2, scratch: /scratch, size: 1 MiB, block: 64 KiB}
  together:
    - {probe: ior, nodes: n1, tasks: 2, slots: 2, block: 1 MiB, bind: none, as_root: 1}
    - {probe: mdtest, nodes: n1, tasks: 2, slots: 2, items: 10, bind: none, as_root: 1}
  apart:
    - {probe: ior, nodes: "n[1-2]", block: 1 MiB, bind: none, as_root: 1}
"""
DISK = 16e6
"""byte/s that a node's scratch disk is held to."""
SPARE = 0.25
"""Seconds: the throttle counts in slices of a tenth of a second, and lets a slice through at either end of a time."""

PLAYED = """\
#!/bin/sh
[ "$*" = "{arguments}" ] || {{ echo "found $*" >&2; exit 98; }}
{ranks}
cat <<"END"
{transcript}END
"""
RANKS = """\
[ "$OMPI_COMM_WORLD_SIZE" = 2 ] || { echo "found $OMPI_COMM_WORLD_SIZE ranks" >&2; exit 97; }
echo data > "data.$OMPI_COMM_WORLD_RANK" || exit 96
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
"""
IOR = text("ior/4.1.0-quiet.txt").replace("tasks               : 480", "tasks               : 2")
MDTEST = re.sub(r"\b4( total task\(s\)| tasks, 400)", r"2\1", text("mdtest/1.9.3-nan.txt"))
SCRIPTS = {
    "/usr/local/bin/iozone": PLAYED.format(
        arguments="-i0 -i1 -I -e -+n -r64k -s1024k -f data", ranks="", transcript=text("iozone/3.397-desy.txt")
    ),
    "/usr/local/bin/ior": PLAYED.format(
        arguments="-v -a POSIX -e -g -C -F -t 524288 -b 1048576 -s 1 -i 1 -d 0 -o ior.data",
        ranks=RANKS,
        transcript=IOR,
    ),
    "/usr/local/bin/mdtest": PLAYED.format(arguments="-n 10 -z 0 -b 1 -i 1 -u -d .", ranks=RANKS, transcript=MDTEST),
}


@pytest.fixture
def topology(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory's file with these suites, on nodes that have the played tools."""
    for node in ("n1", "n2"):
        healthy_lab.play(node, SCRIPTS)
    whole = healthy_lab.topology.read_text()
    path = healthy_lab.topology.with_name("storage_a.yaml")
    path.write_text(whole[: whole.index("criteria:")] + SUITES)
    yield path
    path.unlink()


def _said(db: Path, word: str) -> str:
    """The stored output that holds ``word``."""
    (one,) = (each for each in read_stored_outputs(db) if word in each)
    return one


def _values(found: dict[str, Any], metric: str, **labels: str) -> list[float]:
    return [
        each["value"]
        for each in found["measurements"]
        if each["metric"] == metric and labels.items() <= each["labels"].items()
    ]


def _assert_not_judged(ran: Ran, found: dict[str, Any]) -> None:
    """Every test gave a result, and no criterion speaks of it: not judged, which is no pass."""
    assert (ran.code, found["failures"]) == (3, []), ran.out + ran.err
    assert found["coverage"]["tested"] == found["coverage"]["planned"] == 2
    assert found["verdicts"] == []
    assert "nothing was held against a threshold" in " ".join(ran.out.split())


def _left(lab: Lab) -> list[Path]:
    places = ("tmp", "scratch")
    return [
        path for node in ("n1", "n2") for place in places for path in (lab.root(node) / place).glob("benchconsole.*")
    ]


def test_dd_writes_and_reads_at_the_rate_of_the_disk_and_iozone_is_read(
    healthy_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    db = tmp_path / "s.db"
    ran = benchconsole("run", topology, "--suite", "alone", "--db", db)
    found = report(db)

    _assert_not_judged(ran, found)
    said = _said(db, "records in")
    runs = re.findall(r"^(\d+) bytes .* copied, ([0-9.e-]+) s, ", said, re.MULTILINE)
    assert len(runs) == 2
    for way, (size, seconds) in zip(("write", "read"), runs, strict=True):
        (rate,) = _values(found, "dd.throughput", operation=way, size="8MiB", block="1MiB")
        assert rate == pytest.approx(int(size) / float(seconds), rel=1e-9)
        if healthy_lab.disk_throttled:
            assert 0.2 * DISK < rate < int(size) / (int(size) / DISK - SPARE)
    table = _said(db, "iozone test complete").splitlines()
    (row,) = (line.split() for line in table if line.split()[:2] == ["314572800", "2048"])
    assert _values(found, "iozone.throughput", operation="write") == [int(row[2]) * 1024]
    assert _values(found, "iozone.throughput", operation="read") == [int(row[4]) * 1024]
    assert _left(healthy_lab) == []


def test_ior_and_mdtest_run_on_real_ranks_and_are_read(mpi_lab: Lab, topology: Path, tmp_path: Path) -> None:
    db = tmp_path / "s.db"
    ran = benchconsole("run", topology, "--suite", "together", "--db", db)
    found = report(db)

    _assert_not_judged(ran, found)
    rates = re.findall(r"^(write|read) +([0-9.]+)", _said(db, "bw(MiB/s)"), re.MULTILINE)
    assert len(rates) == 2
    for way, rate in rates:
        assert _values(found, "ior.throughput", operation=way, tasks="2", iteration="0") == [float(rate) * 2**20]
    phases = re.findall(r"File (creation|removal)\s*:\s+([0-9.]+)", _said(db, "SUMMARY"))
    names = {"creation": "create", "removal": "remove"}
    for phase, most in phases:
        marks = {"object": "file", "operation": names[phase], "statistic": "max", "tasks": "2"}
        assert _values(found, "mdtest.operations", **marks) == [float(most)]
    assert len(phases) == 2
    assert _left(mpi_lab) == []


def test_ranks_are_not_started_where_the_directory_of_the_run_is_not(
    mpi_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    db = tmp_path / "s.db"
    ran = benchconsole("run", topology, "--suite", "apart", "--db", db)
    (failure,) = report(db)["failures"]

    assert ran.code == 3, ran.out + ran.err
    assert "scratch must name a file system that all nodes share" in str(failure)
    homes = [path for home in ("root", "") for path in (mpi_lab.root("n2") / home).glob("data.*")]
    assert homes + _left(mpi_lab) == []
