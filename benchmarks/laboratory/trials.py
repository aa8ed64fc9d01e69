"""Trials in the laboratory: a fault is planted, the console is run in a process of its own, the report is graded."""

import json
import random
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchconsole.console.cli.common import load_installed_probes, open_store, read_stored_view
from benchconsole.console.view.run_view import State
from benchconsole.probes.model.judgement import Suspect
from benchconsole.topology.description.resolve import load_text
from benchmarks.laboratory.grading import Outcome, grade_report, read_finding
from benchmarks.laboratory.planting import FABRICS, KINDS, SUITE, PlantedFault, describe_faults
from tests.lab import Lab, LabError
from tests.scenarios.commands import argv, await_while, benchconsole, written

HEALTHY = "healthy"
_LONGEST = 600.0
"""Seconds after which a run hangs."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run with its faults, or healthy. ``seconds`` from its start to its end, ``said`` what its report names.

    ``findings`` and failures are counted together, ``unplaced`` of them name no element. ``drawn`` are healthy nodes
    that are drawn as failed.
    """

    fabric: str
    kind: str
    where: str
    outcome: Outcome | None
    code: int
    findings: int
    unplaced: int
    drawn: int
    seconds: float
    said: Sequence[str]


def run_trial(
    lab: Lab, name: str, kind: str, chance: random.Random, *, congestion: str = "", kept: Path | None = None
) -> Trial:
    """Plant a fault of this kind in the laboratory of the fabric ``name``, run the console and grade its report.

    ``congestion`` is how TCP controls itself; as the nodes have it where it is empty. The fault is taken back.
    The session is stored in ``kept``, and nowhere for long where that is None.
    """
    text = SUITE.format(streams=FABRICS[name].streams, congestion=congestion)
    with tempfile.TemporaryDirectory(prefix="trial-") as folder, written(lab, "trial.yaml", text) as path:
        fabric = load_text(path.read_text(), path.name)
        planted = KINDS[kind](fabric, chance) if kind != HEALTHY else PlantedFault(())
        db = kept or Path(folder) / "s.db"
        try:
            code, seconds = _run_console(lab, planted, path, db)
        finally:
            lab.heal()
        told = _read_report(db)
        drawn = _list_drawn_as_failed(db) - planted.harmed
    found = [read_finding(each) for each in told["findings"]]
    return Trial(
        fabric=name,
        kind=kind,
        where=describe_faults(planted.injected),
        outcome=grade_report(fabric, planted, found, told["failures"], told["detectable"]["losses"])
        if planted.injected
        else None,
        code=code,
        findings=len(found) + len(told["failures"]),
        unplaced=sum(each.suspect is Suspect.FABRIC for each in found),
        drawn=len(drawn),
        seconds=seconds,
        said=(
            *(f"{each.suspect} {each.where}: {each.what}; {each.cannot_tell}" for each in found),
            *dict.fromkeys(f"{each['node']} {each['stage']}: {each['detail']}" for each in told["failures"]),
            *([f"drawn as failed: {', '.join(sorted(drawn))}"] if drawn else []),
        ),
    )


def _run_console(lab: Lab, planted: PlantedFault, topology: Path, db: Path) -> tuple[int, float]:
    """Run the console with these faults; its exit code, and the seconds that it took."""
    if not planted.is_late:
        _inject(lab, planted)
    began = time.monotonic()
    with subprocess.Popen(
        argv("run", topology, "--db", db), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as console:
        try:
            if planted.is_late:
                await_while(console, lambda: _is_sending(lab, planted.node), _LONGEST, f"a client on {planted.node}")
                _inject(lab, planted)
            said, _ = console.communicate(timeout=_LONGEST)
        except BaseException:
            console.terminate()  # it ends what it started on the nodes
            raise
    if console.returncode not in {0, 1, 3}:
        raise LabError(f"the run ended with {console.returncode}: {said.decode(errors='replace')}")
    return console.returncode, time.monotonic() - began


def _read_report(db: Path) -> dict[str, Any]:
    """The JSON report of the last session, in a process of its own: other trials may end at the same time."""
    ran = benchconsole("report", "last", "--format", "json", "--db", db)
    if ran.code:
        raise LabError(f"the report ended with {ran.code}: {ran.err}")
    found: dict[str, Any] = json.loads(ran.out)
    return found


def _inject(lab: Lab, planted: PlantedFault) -> None:
    for each in planted.injected:
        lab.inject(each)


def _is_sending(lab: Lab, node: str) -> bool:
    return any("-c" in process.argv for process in lab.processes(node) if process.argv[:1] == ("iperf3",))


def _list_drawn_as_failed(db: Path) -> frozenset[str]:
    """The nodes of the last session that the console draws as failed."""
    with open_store(db, create=False) as store:
        view = read_stored_view(store, "last", load_installed_probes())
    return frozenset(str(name) for name, seen in view.nodes.items() if seen.state is State.FAIL)


def format_table(trials: Iterable[Trial]) -> str:
    """A row for each fabric and kind of fault: runs by outcome; a row for the healthy runs of each fabric."""
    every = list(trials)
    rows = [("fabric", "fault", "runs", *Outcome, "open", "drawn", "seconds")]
    for fabric, kind in ((fabric, kind) for fabric in FABRICS for kind in KINDS):
        own = [each for each in every if (each.fabric, each.kind) == (fabric, kind)]
        if own:
            counts = Counter(each.outcome for each in own)
            rows.append((fabric, kind, str(len(own)), *(str(counts[each]) for each in Outcome), *_sum_up(own)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for fabric in FABRICS:
        healthy = [each for each in every if (each.fabric, each.kind) == (fabric, HEALTHY)]
        if healthy:
            silent = sum(not each.findings for each in healthy)
            unplaced, drawn, seconds = _sum_up(healthy)
            lines.append(
                f"{fabric} healthy: {silent} of {len(healthy)} silent, open {unplaced}, drawn {drawn}, {seconds} s"
            )
    return "\n".join(lines)


def _sum_up(trials: Sequence[Trial]) -> tuple[str, str, str]:
    """Findings without an element, healthy nodes drawn as failed, and the median of the seconds of a run."""
    seconds = statistics.median(each.seconds for each in trials)
    return str(sum(each.unplaced for each in trials)), str(sum(each.drawn for each in trials)), f"{seconds:.0f}"
