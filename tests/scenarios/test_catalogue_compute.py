"""Benchmarks of processors, memory and MPI, run by the console on real nodes; Debian brings none of them.

IMB is played by ranks of Python that really send, HPL by the one inside HPC Challenge with the input that we sent;
STREAM and OSU print a transcript and insist on their arguments. Stored numbers are compared with the stored text.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab
from tests.probes.tools.captures import text
from tests.scenarios.commands import benchconsole, read_stored_outputs, report

pytestmark = pytest.mark.lab

LINK = 100e6 / 8
"""byte/s of a node's link in the laboratory."""
ROUNDED = 0.006
"""Seconds: HPL tells its time to a hundredth, which is much of it on a fast machine."""
WORK = """\
suites:
  default:
    - {probe: imb, design: sample, pairs: 1, nodes: "n[1-2]", program: /opt/played/IMB-MPI1, largest: 512 KiB, bind: none}
    - {probe: osu, design: sample, pairs: 1, nodes: "n[1-2]", program: /opt/played/osu_bw, bind: none, iterations: 2}
    - {probe: stream, nodes: n5, program: /opt/played/stream, threads: 24, bind: close}
    - {probe: hpl, nodes: n6, program: /opt/played/xhpl, problem: 1000, block: 100, ranks: 1, bind: none}
criteria:
  - {metric: hpl.rate, at_least: 100 MFLOP/s}
"""
IMB = r"""#!/usr/bin/python3
import sys
from mpi4py import MPI
name, *words = sys.argv[1:]
if (name, words) != ("PingPong", ["-npmin", "2", "-msglog", "19", "-time", "1"]):
    sys.exit(f"played with {sys.argv}")
world = MPI.COMM_WORLD
other = 1 - world.rank


def say(*lines):
    if world.rank == 0:
        print(*lines, sep="\n", flush=True)


def trip(data):
    for mine in (0, 1):
        (world.Send if world.rank == mine else world.Recv)(data, other)


say("#    Intel(R) MPI Benchmarks 2018, MPI-1 part", "# Benchmarking PingPong ", f"# #processes = {world.size} ")
say("       #bytes #repetitions      t[usec]   Mbytes/sec")
for size, count in ((0, 50), (65536, 8), (524288, 8)):
    data = bytearray(size)
    trip(data)
    world.Barrier()
    begun = MPI.Wtime()
    for _ in range(count):
        trip(data)
    took = (MPI.Wtime() - begun) / count / 2
    say(f"{size:13d}{count:13d}{took * 1e6:13.2f}{size / took / 1e6:13.2f}")
say("", "", "# All processes entering MPI_Finalize", "")
"""
OSU = """#!/bin/sh
[ "$*" = "-m 1:4194304 -i 2" ] || { echo "played with $*" >&2; exit 9; }
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
cat <<'END'
%s
END
"""
STREAM = """#!/bin/sh
[ "$#,$OMP_NUM_THREADS,$OMP_PROC_BIND" = 0,24,close ] || { echo "played with $*" >&2; exit 9; }
cat <<'END'
%s
END
"""
XHPL = """#!/bin/sh
sed '4s/^6/8/' HPL.dat >hpccinf.txt
printf '%s\\n' '#' '0 sizes' '1200 N' '0 sizes' '64 NB' >>hpccinf.txt
hpcc && sed -n '/^Begin of HPL section/,/^End of HPL section/p' hpccoutf.txt
"""


@pytest.fixture
def ran(mpi_lab: Lab, tmp_path: Path) -> Iterator[Path]:
    """The database of one run of all four."""
    written = mpi_lab.topology.read_text().replace("user: root", "user: bench")
    topology = mpi_lab.topology.with_name("compute.yaml")
    topology.write_text(written[: written.index("criteria:")] + WORK)
    bandwidth, triad = text("osu/3.1.1-bw.txt").rstrip("\n"), text("stream/5.10-24-threads.txt").rstrip("\n")
    played = {"IMB-MPI1": IMB, "osu_bw": OSU % bandwidth, "stream": STREAM % triad, "xhpl": XHPL}
    scripts = {f"/opt/played/{name}": textwrap.dedent(script) for name, script in played.items()}
    try:
        for node in ("n1", "n2", "n5", "n6"):
            mpi_lab.play(node, scripts)
        done = benchconsole("run", topology, "--db", tmp_path / "s.db")
        assert done.code == 0, done.out + done.err
        yield tmp_path / "s.db"
    finally:
        topology.unlink()


def stored(db: Path, like: str) -> str:
    """The one stored output that has ``like`` in it."""
    (found,) = (text for text in read_stored_outputs(db) if like in text)
    return found


def measured(found: dict[str, Any], metric: str) -> dict[str, float]:
    """Values of a metric by size."""
    return {one["labels"].get("size", ""): one["value"] for one in found["measurements"] if one["metric"] == metric}


def test_all_four_run_and_store_what_they_printed(ran: Path) -> None:
    found = report(ran)
    assert found["failures"] == []

    printed = [line.split() for line in stored(ran, "PingPong").splitlines() if re.match(r" +\d", line)]
    assert measured(found, "imb.latency") == pytest.approx({row[0]: float(row[2]) / 1e6 for row in printed})
    assert measured(found, "imb.bandwidth") == pytest.approx({row[0]: float(row[3]) * 1e6 for row in printed[1:]})
    assert measured(found, "imb.peak")[""] == pytest.approx(max(float(row[3]) for row in printed) * 1e6)
    assert 0.3 * LINK < measured(found, "imb.bandwidth")["524288"] < 2.1 * LINK

    assert measured(found, "osu.peak") == {"": pytest.approx(11021.87e6)}
    assert len(measured(found, "osu.bandwidth")) == 5
    assert measured(found, "stream.triad") == {"": pytest.approx(112293.1e6)}

    (row,) = (
        line.split() for line in stored(ran, "Begin of HPL section").splitlines() if re.match(r"W[RC]\d+\w+ ", line)
    )
    assert row[1:5] == ["1000", "100", "1", "1"]
    assert measured(found, "hpl.rate") == {"": pytest.approx(float(row[6]) * 1e9)}
    rate, seconds, operations = measured(found, "hpl.rate")[""], float(row[5]), 2 / 3 * 1000**3 + 3 / 2 * 1000**2
    assert rate * (seconds - ROUNDED) < operations < rate * (seconds + ROUNDED)
    assert {one["level"] for one in found["verdicts"] if one["metric"] == "hpl.rate"} == {"pass"}
