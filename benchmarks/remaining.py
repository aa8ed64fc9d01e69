"""How true the plan's minutes and the time left are: real runs in the laboratory, with and without faults.

    python -m benchmarks.remaining [--seconds 10] [--cases healthy silent hang]

Needs root (docs/howto/laboratory.md). Each run is a process of its own, and its lines are dated as they are read.
``plan`` are the seconds of the plan, ``took`` those from the first round to the end of the last; ``left`` is the middle
of the range that stands on the line of a round, held against what passed until the end: the median over the rounds, and
the worst. The goal is 0.8 to 1.2. ``silent``: one node of eight accepts and says nothing. ``hang``: iperf3 never ends
on it.
"""

import argparse
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.lab import Lab
from tests.lab.faults import Fault, HangTool, SilentSshd
from tests.lab.fixtures import build_somewhere
from tests.lab.spec import SPECS
from tests.scenarios.commands import argv, written

SUITE = """\
suites:
  default:
    - {{probe: inventory}}
    - {{probe: iperf3, seconds: {seconds}, omit: 0}}
    - {{probe: iperf3, design: trunks, seconds: {seconds}, omit: 0, streams: 2}}
"""
NODE = "n3"
CASES: dict[str, tuple[Fault, ...]] = {
    "healthy": (),
    "silent": (SilentSshd(NODE),),
    "hang": (HangTool(NODE, "iperf3"),),
}
_ROUND = re.compile(r"round \d+ of \d+: .*, ([\d:.]+)(?: s)? to ([\d:.]+)(?: s)? left")
_END = re.compile(r"\d\d:\d\d:\d\d  (complete|stopped)")


class Said(NamedTuple):
    """A line that said how much time is left, in seconds, and when it was said."""

    at: float
    left: float


def read_seconds(text: str) -> float:
    """Seconds from ``2:05``, ``1:02:05`` or ``42``."""
    total = 0.0
    for part in text.split(":"):
        total = total * 60 + float(part)
    return total


def watch_run(topology: Path, db: Path) -> Iterator[tuple[float, str]]:
    """Each line of a run with its time."""
    command = argv("run", topology, "--db", db)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as console:
        assert console.stdout is not None
        for line in console.stdout:
            yield time.monotonic(), line


def plan_seconds(topology: Path) -> float:
    """The seconds that the plan of the suite says."""
    plan = subprocess.run(argv("run", topology, "--dry-run"), capture_output=True, text=True, check=True).stdout
    found = re.search(r"about ([\d:.]+) ?(s|min|h)?", plan)
    assert found is not None, plan
    return read_seconds(found[1]) * {"min": 60.0, "h": 3600.0}.get(found[2] or "", 1.0)


def measure(lab: Lab, name: str, seconds: int) -> str:
    """One run with the faults of this case, as a line of the table."""
    said: list[Said] = []
    ended = 0.0
    with (
        tempfile.TemporaryDirectory(prefix="remaining-") as folder,
        written(lab, "remaining.yaml", SUITE.format(seconds=seconds)) as path,
    ):
        plan = plan_seconds(path)
        try:
            for fault in CASES[name]:
                lab.inject(fault)
            for at, line in watch_run(path, Path(folder) / "s.db"):
                if found := _ROUND.search(line):
                    said.append(Said(at, (read_seconds(found[1]) + read_seconds(found[2])) / 2))
                elif _END.match(line):
                    ended = at
        finally:
            lab.heal()
    took = ended - said[0].at
    ratios = [each.left / (ended - each.at) for each in said]
    worst = max(ratios, key=lambda ratio: max(ratio, 1 / ratio))
    return (
        f"{name:28}{len(said):>8}{plan:>9.0f}{took:>9.0f}{plan / took:>12.2f}"
        f"{statistics.median(ratios):>14.2f}{worst:>8.2f}"
    )


def main() -> None:
    """Build the laboratory, run each case, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10, help="seconds of each test (10)")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    given = parser.parse_args()
    lab = build_somewhere(SPECS["small"])
    try:
        print(f"{'':28}{'rounds':>8}{'plan s':>9}{'took s':>9}{'plan/took':>12}{'left/passed':>14}{'worst':>8}")
        for name in given.cases:
            print(measure(lab, name, given.seconds), flush=True)
    finally:
        lab.down()


if __name__ == "__main__":
    main()
