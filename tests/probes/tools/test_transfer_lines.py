"""Transfers by ftp, rsync and scp: bytes by seconds, units that are certain, and nothing else."""

import pytest

from benchconsole.probes.api import Output, ProbeOutputError
from benchconsole.probes.tools.archive.probe import Archive
from tests.probes.tools.captures import ROOT, output
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

PUBLISHED_UPDATE = """\
sent 142,744,045 bytes  received 44,245 bytes  574,600.76 bytes/sec
total size is 266,349,471,150  speedup is 1,865.35
"""
PUBLISHED_DRY_RUN = """\
sent 94 bytes  received 19 bytes  226.00 bytes/sec
total size is 167,071,744  speedup is 1,478,511.01 (DRY RUN)
"""
NAMES = [f"archive/{name}.txt" for name in ("ftp-netkit", "ftp-tnftp", "pftp", "rsync-3.2", "scp-9.2")]


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    check(Archive(), NAMES)


@pytest.mark.parametrize(
    ("name", "rate", "marks"),
    [
        ("ftp-netkit.txt", 10737418240 / 92.72, {"direction": "out", "size": "10737418240", "tool": "ftp"}),
        ("ftp-tnftp.txt", 112.33 * 2**20, {"direction": "in", "size": "1073741824", "tool": "ftp"}),
        ("pftp.txt", 1073741824 / 9.13, {"size": "1073741824", "tool": "ftp"}),
        ("rsync-3.2.txt", 102286105.05, {"direction": "out", "size": "1074004102", "tool": "rsync"}),
        ("scp-9.2.txt", 112.4 * 2**20, {"tool": "scp"}),
    ],
)
def test_one_transfer_is_the_throughput(name: str, rate: float, marks: dict[str, str]) -> None:
    found = Archive().parse(output(f"archive/{name}"))
    assert [each.metric for each in found] == ["archive.throughput", "archive.transfer"]
    assert [each.value for each in found] == pytest.approx([rate, rate])
    assert [dict(each.labels) for each in found] == [marks, marks]


@pytest.mark.parametrize(
    ("line", "rate"),
    [
        ("1048576 bytes received in 1.25 secs (8.2e+02 Kbytes/sec)", 1048576 / 1.25),
        ("ftp: 1048576 bytes sent in 0.05Seconds 20971.52Kbytes/sec.", 1048576 / 0.05),
        ("1048576 bytes received in 1.25 seconds (838.86 kB/s)", 1048576 / 1.25),
        ("1073741824 bytes transferred in 10 seconds (102.40 MiB/s)", 102.40 * 2**20),
        ("1073741824 bytes transferred in 10 seconds (102.4M/s)", None),
        ("1073741824 bytes received in 00:10 (107.37 MB/s)", None),
        ("1073741824 bytes received in 00:10 (212.40 MiB/s)", None),
        ("1073741824 bytes received in 00:20 (102.40 MiB/s)", None),
        ("1048576 bytes received in 1.25 secs (920 Kbytes/sec)", None),
        ("1048576 bytes received in 1.25 secs (0.82 Kbytes/sec)", None),
        ("1048576 bytes received in 0.00 secs (0.0 Kbytes/sec)", None),
        ("226 Transfer complete, 45 MB/s", None),
        ("put 'data' : '/home/ann/data' ( 1073741824 bytes, 110592.3 KBS (cos=1))", None),
        ("sent 1.07G bytes  received 35 bytes  102.29M bytes/sec", None),
        ("sent 1,074,004,067 bytes  received 35 bytes  102,286,105 bytes/sec", None),
        ("data 100% 1024MB 112.4MB/s   00:19", None),
        ("data  99% 1024MB 112.4MB/s   00:09 ETA", None),
    ],
)
def test_bytes_by_seconds_and_units_that_are_certain(line: str, rate: float | None) -> None:
    if rate is None:
        with pytest.raises(ProbeOutputError):
            Archive().parse(Output((), f"{line}\n".encode()))
    else:
        assert [each.value for each in Archive().parse(Output((), f"{line}\n".encode()))] == pytest.approx([rate] * 2)


@pytest.mark.parametrize(
    "words",
    ["426 Connection closed; transfer aborted.", "rsync error: timeout", "scp: data: No space left", "lost connection"],
)
def test_a_transfer_that_failed_gives_no_number(words: str) -> None:
    whole = output("archive/ftp-netkit.txt")
    for said in (Output((), whole.stdout + f"{words}\n".encode()), Output((), whole.stdout, f"{words}\n".encode())):
        with pytest.raises(ProbeOutputError):
            Archive().parse(said)


@pytest.mark.parametrize(
    ("lines", "is_read"),
    [
        (PUBLISHED_UPDATE, False),
        (PUBLISHED_DRY_RUN, False),
        # of the format in rsync's main.c
        ("total size is 1,073,741,824  speedup is 1.00 (DRY RUN)\n", False),
        ("total size is 1,073,741,824  speedup is 1.00 (BATCH ONLY)\n", False),
        ("total size is 1,073,741,824  speedup is 1.06\n", False),
        ("total size is 1,073,741,824  speedup is 1.05\n", True),
        ("total size is 1073741824  speedup is 0.98\n", True),
        ("total size is 1,073,741,824  spee", True),
        ("", True),
    ],
)
def test_an_rsync_that_moved_less_than_its_files_is_no_rate(lines: str, is_read: bool) -> None:
    if not lines.startswith("sent"):
        lines = f"sent 1,074,004,067 bytes  received 35 bytes  102,286,105.05 bytes/sec\n{lines}"
    if is_read:
        assert {each.value for each in Archive().parse(Output((), lines.encode()))} == {102286105.05}
    else:
        with pytest.raises(ProbeOutputError, match="found total size is"):
            Archive().parse(Output((), lines.encode()))


def test_several_transfers_of_a_file_are_refused() -> None:
    assert (ROOT / "archive/broken-several.txt").read_text().count("bytes transferred") == 2
    with pytest.raises(ProbeOutputError, match="2 transfers"):
        Archive().parse(output("archive/broken-several.txt"))
