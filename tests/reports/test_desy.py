"""DESY's comparison of eight storage systems (2012) through the real command: fact sheets, InfiniBand pairs, grades."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reports.typed_outputs import benchconsole, print_check, read_tables
from tests.reports.typed_tables import EXAMPLES, join_words, store_table

FILE = EXAMPLES / "desy.yaml"
DAY = "2012-08-09T12:00:00Z"


@pytest.fixture(scope="module")
def check() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(benchconsole("check", FILE, "--json").out)
    return found


@pytest.fixture(scope="module")
def page() -> str:
    """The page of ``check`` on a wide terminal, without its line breaks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "160")
        return print_check(FILE)


SYSTEMS = (
    "dcache-ps-2011 dCache – NFS 4.1 10.0 PB – –",
    "fhgfs-2011 Fraunhofer 2011.04.r21 fhgfs client/server 3.20 TB 94 % 64",
    "st1 WAFL – NFS 3 20.0 TB – –",
    "st2-nfs3 WAFL – NFS 3 40.0 TB – –",
    "st2-nfs41 WAFL – NFS 4.1 40.0 TB – –",
    "st3 GPFS – NFS 3 443 TB – –",
    "fhgfs-2012 Fraunhofer 2011.04.r21 fhgfs client/server 73.0 TB 99 % 4",
    "glusterfs – 3.2.6 Glusterfs (rdma) 73.0 TB – –",
)
"""The table of eight systems: vendor or type, version, protocol, capacity, free, head nodes."""

SHEETS = (
    # FHGFS 2011
    (
        "fhgfs-2011 os SL 6.3 kernel 2.6.32-279.5.1.el6.x86_64 disks 2 x 80 GB x 0.5 SAS disk speed 15k transfer speed"
        " 6.00 Gb/s raid 1 filesystem xfs irq binding none metadata servers 1"
    ),
    (
        "metadata disks 2 x 80 GB SAS metadata disk speed 15k metadata transfer speed 6.00 Gb/s metadata raid 1 metadata"
        " filesystem ext4 metadata irq binding none interconnect Infiniband DDR interconnect speed 20.0 Gb/s ping-pong"
        " 1.00 GB/s"
    ),
    # FHGFS 2012
    (
        "fhgfs-2012 os SL 6.3 kernel 2.6.32-279.5.1.el6.x86_64 disks 12 x 2 TB SATA disk speed 7.2k transfer speed"
        " 3.00 Gb/s raid 5 filesystem xfs irq binding none metadata servers 1"
    ),
    (
        "metadata disks 1 x 600 GB SSD metadata io speed 270 MB/s read and 220 MB/s write metadata raid 5 metadata"
        " filesystem ext4 metadata irq binding none interconnect Mellanox Infiniband QDR interconnect speed 40.0 Gb/s"
        " ping-pong 2.20 GB/s"
    ),
)
"""The lines of the two fact sheets that are given in full."""


@pytest.mark.parametrize("line", SYSTEMS)
def test_the_table_of_eight_systems(page: str, line: str) -> None:
    assert line in page[page.index("── Storage systems") : page.index("── Fact sheets")]


@pytest.mark.parametrize("lines", SHEETS)
def test_the_two_fact_sheets(page: str, lines: str) -> None:
    assert lines in page[page.index("── Fact sheets") :]


def test_obvious_bottlenecks(check: dict[str, Any]) -> None:
    """2011: the interconnect for reading, the disks' plugs for writing; 2012: the interconnect."""
    found = {each["storage"]: each["limited_by"] for each in check["storage"] if each["clients"]}
    assert found["fhgfs-2011"] == {"read": "interconnect Infiniband DDR", "write": "SAS port"}
    assert set(found["fhgfs-2012"].values()) == {"interconnect Mellanox Infiniband QDR"}


@pytest.mark.parametrize("metric", ["mpi-pingpong.bandwidth", "imb.peak"])
def test_pairs_of_hosts_at_70_and_50_percent_of_the_design(tmp_path: Path, metric: str) -> None:
    """Of 16 Gb/s of data; the pair at 95 % passes."""
    labels = "benchmark=PingPong" if metric == "imb.peak" else ""
    rows = [
        {"metric": metric, "value": f"{16 * share:.1f} Gb/s", "nodes": pair, "labels": labels, "date": DAY}
        for pair, share in (("hpc01>hpc02", 0.7), ("hpc03>hpc04", 0.5), ("hpc05>hpc06", 0.95))
    ]
    ran = store_table(tmp_path, "desy", "pairs", rows)
    assert ran.code == 1
    page = benchconsole("report", "pairs", "--format", "md", "--db", tmp_path / "x.db").out
    row = next(each for each in read_tables(page, "Criteria") if each["metric"] == metric)
    assert (row["number"], row["outcome"][2:]) == ("3", "2 fail, 1 pass")
    said = join_words(ran)
    assert "8.00 Gb/s" in said
    assert "11.2 Gb/s" in said


@pytest.mark.parametrize(
    ("late", "outcome"),
    [
        ("0 %", "1 pass"),  # 10 Hz no problem
        ("4.2 %", "1 watch"),  # 50 Hz might be a problem
        ("50 %", "1 watch"),
        ("50.1 %", "1 fail"),  # four streams at 50 Hz: becomes a problem
    ],
)
def test_the_three_words_on_the_detector(tmp_path: Path, late: str, outcome: str) -> None:
    rows = [
        {"metric": "detector-stream.late", "value": late, "nodes": "hpc01", "labels": "hertz=50;streams=4", "date": DAY}
    ]
    store_table(tmp_path, "desy", "pilatus", rows)
    page = benchconsole("report", "pilatus", "--format", "md", "--db", tmp_path / "x.db").out
    row = next(each for each in read_tables(page, "Criteria") if each["metric"] == "detector-stream.late")
    assert row["outcome"][2:] == outcome
