"""A table of ``scale.py``: the same demo with the screen and without it, both as commands on a pseudo-terminal.

The terminal has 200 x 50 cells; what comes is read at once and thrown away. CPU is that of the console's process alone,
from its exec until the store says that the session has ended and the process has come to rest; the farm is another
process. Tests are counted in the database. Medians of the runs.
"""

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.screen import Screen, open_screen

TICK = os.sysconf("SC_CLK_TCK")
BARE = "without screen"
REST = 0.5
"""Seconds in which a process that has come to rest uses less than a tenth of the processor."""


class Demo(NamedTuple):
    """One run: tests, wall and CPU seconds, peak memory and what was painted in MB."""

    tests: int
    wall: float
    cpu: float
    peak: float
    painted: float


def run_demo(nodes: int, *, screen: bool) -> Demo:
    """The demo until its session has ended."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "demo.db"
        command = [
            sys.executable,
            "-m",
            "benchconsole.console.cli",
            "demo",
            "--nodes",
            str(nodes),
            "--db",
            str(database),
        ]
        began, painted, peak = time.perf_counter(), 0, 0.0
        with open_screen(command if screen else [*command, "--headless"]) as console:
            ended, looked, used = 0.0, began, 0.0
            while True:
                painted += len(console.read(REST / 2))
                if (now := time.perf_counter()) - looked < REST:
                    continue
                before, looked, used = used, now, count_cpu(console)
                peak = max(peak, read_peak(console))
                if not ended and has_ended(database):
                    ended = now
                elif ended and used - before < REST / 10:
                    return Demo(count_tests(database), ended - began, used, peak, painted / 1e6)


def count_cpu(console: Screen) -> float:
    """CPU seconds of the process so far, threads that ended included, children not; also when it has just ended."""
    fields = Path(f"/proc/{console.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def read_peak(console: Screen) -> float:
    """Peak memory in MB; 0 when it has ended."""
    lines = Path(f"/proc/{console.pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6


def ask(database: Path, question: str) -> int:
    """One number of the database, which another process writes."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=60)) as connection:
        return int(connection.execute(question).fetchone()[0])


def has_ended(database: Path) -> bool:
    try:
        return ask(database, "SELECT count(*) FROM driver WHERE ended IS NOT NULL") > 0
    except sqlite3.OperationalError:  # not made yet
        return False


def count_tests(database: Path) -> int:
    return ask(database, "SELECT count(*) FROM result")


def measure_screen(nodes: int, runs: int) -> None:
    """The table of one size."""
    print(f"\n{nodes:,} nodes, demo on a terminal, medians of {runs} (load {os.getloadavg()[0]:.1f})")
    print(f"  {'':16} {'tests':>8} {'wall s':>8} {'CPU ms/test':>12} {'ratio':>6}", end="")
    print(f" {'peak MB':>8} {'ratio':>6} {'MB out':>7}")
    told: dict[str, list[Demo]] = {BARE: [], "with screen": []}
    for _ in range(runs):
        for name, each in told.items():
            each.append(run_demo(nodes, screen=name != BARE))
    for name, each in told.items():
        cost, ratio = cost_of(each), cost_of(each) / cost_of(told[BARE])
        peak, least = (median(run.peak for run in demos) for demos in (each, told[BARE]))
        tests, wall, painted = (median(run[place] for run in each) for place in (0, 1, 4))
        print(f"  {name:16} {tests:8,.0f} {wall:8.1f} {cost:12.2f} {ratio:6.2f}", end="")
        print(f" {peak:8.0f} {peak / least:6.2f} {painted:7.2f}")


def cost_of(runs: Sequence[Demo]) -> float:
    """CPU milliseconds a test."""
    return median(1e3 * run.cpu / run.tests for run in runs)
