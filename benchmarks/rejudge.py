"""Large stored sessions judged again, shown and reported, by the installed console script, against the goals.

    python -m benchmarks.rejudge [--values N] [--flows N] [--nodes N] [--low SHARE ...] [--runs N] [--store FOLDER]

Makes sessions through the public doors (``benchmarks.rejudge_sessions``): one of plain values of stream, fio and hpl
on ``--nodes`` nodes, one of flows for each share ``--low`` of them that is low, and one with a switch that is slow. A
fabric of flows has 1,000 nodes, or fewer where there are fewer flows.
Then ``judge``, ``show`` and ``report`` run as commands. CPU seconds are user and system of the command and the figure
to trust where others use the machine; the goals are wall seconds. Medians of ``--runs``; a ``judge`` adds its verdicts.

Exits with 1 where verdicts or findings that were judged again are others than those that were judged live.
``--store`` keeps the sessions in a folder and takes those that are there, to compare two versions of the program.
"""

import argparse
import asyncio
import hashlib
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from benchconsole.store.store import Store
from benchmarks.rejudge_sessions import (
    PER_PASS,
    SLOW_SWITCH,
    Made,
    Wanted,
    describe_fabric,
    describe_nodes,
    make_session,
)

GOALS = {"values": {"judge": 10.0}, "flows": {"judge": 30.0}}
"""Wall seconds of judging again, by kind of session."""

SHOWN = 3.0
"""Wall seconds of every command that shows what was judged."""

FORMATS = ("text", "html", "json")
FABRIC_NODES = 1000
SCRIPT = Path(sys.executable).with_name("benchconsole")


class Took(NamedTuple):
    """A command: wall and CPU seconds, and peak memory in bytes."""

    wall: float
    cpu: float
    peak: int


class Judged(NamedTuple):
    """The result of judging a session: the number of its verdicts and findings, and a checksum over all of each."""

    verdicts: int
    verdict_sum: str
    findings: int
    finding_sum: str


def time_command(arguments: Sequence[str]) -> Took:
    """Run the console script; it may say by its exit code that something is low, and must not fail."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([str(SCRIPT), *arguments], stdout=out, stderr=subprocess.PIPE)
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 3):
        raise SystemExit(f"benchconsole {' '.join(arguments)}: {said.decode(errors='replace')}")
    return Took(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


_VERDICTS = """SELECT round, test, subject, nodes, metric, labels, value, expected, required, least, unit, level, kind,
    because, text, expected_text, source, limiting, evidence
    FROM v_verdict WHERE session = ? AND current ORDER BY round, test, metric, evidence"""


def read_judged(path: Path, key: str) -> Judged:
    """The verdicts that count now, as the view for other tools gives them, and the findings."""
    count, digest = 0, hashlib.sha256()
    with closing(sqlite3.connect(path)) as connection:
        for row in connection.execute(_VERDICTS, (key,)):
            digest.update(repr(row).encode())
            count += 1
    with Store.open(path) as store:
        findings = store.session(key).read_findings() or ()
    told = hashlib.sha256(repr(findings).encode())
    return Judged(count, digest.hexdigest()[:12], len(findings), told.hexdigest()[:12])


def list_wanted(options: argparse.Namespace) -> Iterator[tuple[str, Wanted]]:
    """The sessions to make, each with its kind."""
    if options.values:
        passes = max(round(options.values / options.nodes / PER_PASS), 1)
        yield "values", Wanted("values", describe_nodes(options.nodes, passes))
    fabric = describe_fabric(min(FABRIC_NODES, options.flows), options.flows)
    for low in options.low if options.flows else ():
        yield "flows", Wanted(f"flows, {low:.0%} low", fabric, low)
    if options.flows:
        yield "flows", Wanted("flows, slow switch", fabric, slow_switch=SLOW_SWITCH)


def make(path: Path, wanted: Wanted) -> Made:
    return asyncio.run(make_session(path, wanted))


def open_session(folder: Path, wanted: Wanted) -> tuple[Path, str]:
    """The file with the session and its key; made where it is not there yet."""
    path = folder / f"{wanted.label.replace(', ', '-').replace(' ', '-')}.db"
    if path.exists():
        with Store.open(path) as store:
            return path, store.find_session("last")
    # In a process of its own: Linux counts the memory of a parent to the peak of the commands that it starts.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        made = pool.submit(make, path, wanted).result()
    size, mean = path.stat().st_size / 1e6, made.seconds / made.rounds
    print(
        f"{wanted.label}: {made.values:,} values in {made.rounds:,} rounds, {size:,.0f} MB; live "
        f"{made.seconds:.1f} CPU s to judge and find, {mean:.2f} a round, {made.last:.2f} the last"
    )
    return path, made.key


HEAD = "{:24} {:14} {:>8} {:>7} {:>6} {:>9}".format


def measure(kind: str, label: str, path: Path, key: str, runs: int) -> bool:
    """Print a line for each command; whether judging again said the same as judging live."""
    live = read_judged(path, key)
    commands = {"judge": ["judge", key], "show": ["show", key]}
    for each in FORMATS:
        commands[f"report {each}"] = ["report", key, "--format", each]
    for name, arguments in commands.items():
        found = [time_command([*arguments, "--db", str(path)]) for _ in range(runs)]
        wall, cpu = (statistics.median(column) for column in list(zip(*found, strict=True))[:2])
        goal = GOALS[kind].get(name, SHOWN)
        peak = max(each.peak for each in found)
        print(HEAD(label, name, f"{wall:.1f}", f"{cpu:.1f}", f"< {goal:.0f}", f"{peak / 1e6:,.0f}"), flush=True)
    again = read_judged(path, key)
    same = "the same" if again == live else f"OTHERS: {again}, live {live}"
    print(f"  judged again: {again.verdicts:,} verdicts, {again.findings:,} findings, {same}")
    return again == live


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rejudge")
    parser.add_argument("--values", type=int, default=1_000_000)
    parser.add_argument("--flows", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--low", type=float, nargs="*", default=[0.0, 0.01, 0.2])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--store", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rejudge-benchmark-") as name:
        folder = options.store or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        sessions = [(kind, wanted.label, *open_session(folder, wanted)) for kind, wanted in list_wanted(options)]
        print("\n" + HEAD("session", "command", "wall s", "CPU s", "goal", "peak MB"))
        same = [measure(*each, options.runs) for each in sessions]
    raise SystemExit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
