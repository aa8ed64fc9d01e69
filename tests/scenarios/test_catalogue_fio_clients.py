"""One fio that drives the fio of several nodes, run by the console on real nodes over their sshd's sockets."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.scenarios.commands import benchconsole, read_stored_outputs, report

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed here"),
]

NODES = ("n1", "n2", "n3")
WORK = """\
suites:
  default:
    - {probe: fio-clients, nodes: "n[1-3]", scratch: /scratch, file: 2 MiB, seconds: 1, jobs: 2, runs: "write, randread"}
"""


@pytest.fixture
def topology(healthy_lab: Lab) -> Iterator[Path]:
    """The laboratory's file with one suite of one set."""
    written = healthy_lab.topology.read_text()
    path = healthy_lab.topology.with_name("fio-clients.yaml")
    path.write_text(written[: written.index("criteria:")] + WORK)
    yield path
    path.unlink()


def documents(db: Path) -> list[dict[str, Any]]:
    """The JSON documents in the stored output, read without the console's parser."""
    (text,) = read_stored_outputs(db)
    decoder = json.JSONDecoder()
    return [decoder.raw_decode(text, found.start())[0] for found in re.finditer(r"^\{$", text, re.MULTILINE)]


def left(lab: Lab) -> list[str]:
    """Processes and directories of ours on the nodes."""
    search = "ls -Ad /scratch/benchconsole.* /tmp/benchconsole.* 2>/dev/null; pgrep -x fio"
    return [line for node in NODES for line in lab.ssh(node, search).stdout.split()]


def test_every_node_and_the_sum_are_stored_as_fio_printed_them(
    healthy_lab: Lab, topology: Path, tmp_path: Path
) -> None:
    done = benchconsole("run", topology, "--db", tmp_path / "s.db")
    assert (done.code, "Not judged" in done.out) == (3, True), done.out + done.err
    assert left(healthy_lab) == []
    runs = documents(tmp_path / "s.db")
    assert len(runs) == 2
    found = report(tmp_path / "s.db")
    for run, (way, pattern) in zip(runs, [("write", "sequential"), ("read", "random")], strict=True):
        *jobs, total = run["client_stats"]
        assert (len(jobs), total["jobname"]) == (6, "All clients")
        stored = [one for one in found["measurements"] if one["metric"] == f"fio-clients.{way}"]
        stored = [one for one in stored if one["labels"]["pattern"] == pattern]
        by_node = {one["labels"]["client"] for one in stored if "number" in one["labels"]}
        assert by_node == set(NODES)
        rates = sorted(one["value"] for one in stored if "number" in one["labels"])
        assert rates == sorted(job[way]["bw_bytes"] for job in jobs)
        whole = [one["value"] for one in stored if one["labels"]["client"] == "all"]
        assert whole == [total[way]["bw_bytes"]]
        moved, longest = sum(job[way]["io_bytes"] for job in jobs), max(job[way]["runtime"] for job in jobs)
        assert whole == [pytest.approx(moved / longest * 1e3, rel=1e-6)]
