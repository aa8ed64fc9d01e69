"""Outputs of tools typed from the numbers of a report: the rate is the report's, the rest follows from it.

Formats, letter for letter: HPL 2.3 (``HPL_pdtest.c``), STREAM 5.10 (``stream.c``), iperf3 3.12, coreutils 8.4 ``dd``
and IOR 2.10.3 (``IOR.c``); ``archive`` is a probe of ours, ``availability`` a command. Reports give averages over many nodes: ``spread`` makes numbers with that average.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner

from benchconsole.console.cli import command
from tests.scenarios.commands import Ran

MIB = 2**20


def benchconsole(*arguments: str | Path) -> Ran:
    """Run a command line in this process: these files are read many times, and start-up is examined elsewhere."""
    done = CliRunner().invoke(command, [*map(str, arguments)])
    raised = "" if done.exception is None or isinstance(done.exception, SystemExit) else str(done.exception)
    return Ran(done.exit_code, done.stdout, done.stderr + raised)


def print_check(file: Path) -> str:
    """The findings of ``check`` as a terminal shows them, without their line breaks."""
    return " ".join(benchconsole("check", file).out.split())


def spread(mean: float, number: int, step: float) -> list[float]:
    """``number`` values around ``mean``, ``step`` apart, whose average it is."""
    return [mean + step * (index - (number - 1) / 2) for index in range(number)]


def type_hpl(rate: float, order: int = 94464) -> str:
    """One test of HPL of ``order`` rows at ``rate`` GFLOP/s; the default takes 52 % of 128 GiB."""
    work = 2 / 3 * order**3 + 3 / 2 * order**2
    rule = "=" * 80
    return f"""\
{rule}
HPLinpack 2.3  --  High-Performance Linpack benchmark  --   December 2, 2018
{rule}
N      : {order:>7}
NB     :     192
P      :       4
Q      :       6

{rule}
T/V                N    NB     P     Q               Time                 Gflops
{"-" * 80}
WR11C2R4    {order:>9}   192     4     6 {work / rate / 1e9:>18.2f} {rate:>22.4e}
{"-" * 80}
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   3.83945609e-03 ...... PASSED
{rule}

Finished      1 tests with the following results:
              1 tests completed and passed residual checks,
              0 tests completed and failed residual checks,
              0 tests skipped because of illegal input values.
{"-" * 80}

End of Tests.
{rule}
"""


def type_stream(triad: float, size: int = 800_000_000) -> str:
    """STREAM with 24 threads and a Triad of ``triad`` GB/s; the other kernels are somewhat slower."""
    rule = "-" * 61
    rows = ""
    for name, elements, share in (("Copy", 2, 0.9), ("Scale", 2, 0.89), ("Add", 3, 0.99), ("Triad", 3, 1.0)):
        rate = triad * 1e3 * share
        least = elements * 8 * size / rate / 1e6
        rows += f"{name + ':':<12}{rate:>12.1f}  {least * 1.01:>11.6f}  {least:>11.6f}  {least * 1.02:>11.6f}\n"
    return f"""\
{rule}
STREAM version $Revision: 5.10 $
{rule}
This system uses 8 bytes per array element.
{rule}
Array size = {size} (elements), Offset = 0 (elements)
Number of Threads requested = 24
Number of Threads counted = 24
{rule}
Your clock granularity/precision appears to be 1 microseconds.
Each test below will take on the order of 90980 microseconds.
   (= 90980 clock ticks)
{rule}
Function    Best Rate MB/s  Avg time     Min time     Max time
{rows}{rule}
Solution Validates: avg error less than 1.000000e-13 on all three arrays
{rule}
"""


def type_iperf3(rate: float) -> str:
    """iperf3 with its default settings, 10 s of one TCP stream at ``rate`` GB/s."""
    row = f"[  5]   0.00-10.00  sec  {rate * 1e10 / 2**30:.2f} GBytes  {rate * 8:.2f} Gbits/sec"
    return f"""\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 36274 connected to 10.0.0.2 port 5201
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
{row}    0             sender
{row}                  receiver

iperf Done.
"""


def type_dd(rate: float) -> str:
    """dd of 2 GB in blocks of 1 MB at ``rate`` MB/s."""
    size = 2000 * MIB
    return f"2000+0 records in\n2000+0 records out\n{size} bytes (2.1 GB) copied, {size / rate / 1e6:.5f} s, {rate:.0f} MB/s\n"


def type_ior(write: float, read: float, tasks: int) -> str:
    """IOR of LLNL's script, once, 32 MiB a task in transfers of 512 KiB, at ``write`` and ``read`` MB/s."""
    rows, ends = "", ""
    for name, rate in (("write", write), ("read", read)):
        mib = rate * 1e6 / MIB
        cells = "".join(f"{value:>11.2f}" for value in (mib, mib, mib, 0.0, 2 * mib, 2 * mib, 2 * mib, 0.0))
        rows += f"{name:<9}{cells}{tasks * 32 / mib:>10.5f}   EXCEL\n"
        ends += f"Max {name.capitalize() + ':':<7}{mib:.2f} MiB/sec ({rate:.2f} MB/sec)\n"
    return f"""\
IOR-2.10.3: MPI Coordinated Test of Parallel I/O

Run began: Mon Sep 19 16:17:44 2005
Command line used: ./IOR -f posix.fpp.survey.ior
Machine: Linux alc4

Summary:
	api                = POSIX
	test filename      = /p/gbtest/lustre-test/ior/iorData
	access             = file-per-process
	clients            = {tasks} (2 per node)
	repetitions        = 1
	xfersize           = 524288 bytes
	blocksize          = 32 MiB
	aggregate filesize = {tasks * 32 / 1024:g} GiB

Operation  Max (MiB)  Min (MiB)  Mean (MiB)   Std Dev  Max (OPs)  Min (OPs)  Mean (OPs)   Std Dev  Mean (s)
---------  ---------  ---------  ----------   -------  ---------  ---------  ----------   -------  --------
{rows}
{ends}
Run finished: Mon Sep 19 16:18:53 2005
"""


def type_archive(rate: float, seconds: int = 60) -> str:
    """The probe ``archive`` of one transfer at ``rate`` MB/s."""
    size = round(rate * 1e6) * seconds
    samples = [[1_000_000, 0], [1_000_000 + seconds * 1_000_000, size]]
    result = {"number": 1, "sent": size, "fetched": size, "samples": samples}
    settings = {"streams": 1, "size": size, "source": "files", "sink": "files"}
    document = {"benchmark": "archive", "version": 1, **settings, "results": [result], "end": True}
    return f"benchconsole: prepared\n\n{json.dumps(document)}\n"


def type_availability(share: float, nodes: Sequence[str], days: float = 14, *, known: bool = True) -> str:
    """``benchconsole availability --json`` of ``nodes`` that were up for ``share`` of some ``days``."""
    total = len(nodes) * days * 86400
    level = "unknown" if not known else "pass" if share >= 0.95 else "fail"
    spent = {"up": share * total, "down": (1 - share) * total, "not_sampled": 0.0}
    system = {"name": "system", "nodes": nodes, "level": level, "share": share, "worst": share, "best": share, **spent}
    asked = {"at_least": 0.95, "each": False, "service": [], "within": 0.02}
    schedule = {"began": 0.0, "ends": days * 86400, "every": 600.0}
    head = {"session": "b7c2d4e1", "level": level, "asked": asked, "schedule": schedule, "excluded": []}
    return json.dumps({**head, "system": system, "service": None, "nodes": []}) + "\n"


def read_tables(page: str, heading: str) -> list[dict[str, str]]:
    """The rows of the table below ``heading`` of a Markdown report, by the headings of its columns."""
    lines = f"\n{page}".split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0].splitlines()
    rows: Sequence[list[str]] = [
        [cell.strip().replace("\\", "") for cell in line.strip("|").split(" | ")]
        for line in lines
        if line.startswith("|")
    ]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]
