"""How true findings are on cables: faults planted in the laboratory, real runs, and the report held against them.

    python -m benchmarks.laboratory [--runs N] [--healthy N] [--faults KIND ...] [--congestion NAME]

A fabric of network namespaces is built (docs/howto/laboratory.md), each run plants one fault at an element that is
drawn, runs `benchconsole run` in a process of its own, reads its JSON report and takes the fault back. It needs root.

``exact``: the element is named alone, with the right kind and part, and no healthy element is. ``located``: a finding
holds the element, among others or as another kind. ``wrong``: a finding holds healthy elements only. ``missed``: no
finding names anything. ``open`` counts findings that name no element. A LAG is exact without the number of its member,
which no throughput tells. Healthy runs are ``silent`` without any finding.
"""

import argparse
import random
import re
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from benchmarks.attribution import faults as cables
from benchmarks.attribution.scoring import Grade, score
from tests.lab import Lab, LabError, LabSpec, faults, obstacles
from tests.scenarios.commands import benchconsole, report, written

RUNS = 10

TRIAL = """\
criteria:
  - {{metric: iperf3.throughput, at_least: 80 %, of: capacity}}
suites:
  default:
    - {{probe: inventory}}
    - {{probe: iperf3, design: neighbours, streams: 8, seconds: 3, congestion: "{congestion}"}}
    - {{probe: iperf3, design: trunks, streams: 8, seconds: 3, congestion: "{congestion}"}}
"""
"""The stages of the suite that comes with the console, shorter, and its usual bound."""


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A fault in the laboratory, the same for the scoring, and the words that an exact finding has of it."""

    injected: faults.Fault
    scored: cables.Fault
    words: str


class Outcome(StrEnum):
    """What the findings of a faulty run are worth."""

    EXACT = "exact"
    LOCATED = "located"
    WRONG = "wrong"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Trial:
    """One run with its ``fault``, or healthy. ``seconds`` from its start to its end, ``said`` its findings in words."""

    kind: str
    where: str
    outcome: Outcome | None
    code: int
    findings: int
    unplaced: int
    seconds: float
    said: Sequence[str]


def plant_slow_nic(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """30 % of a compute node's rate, one way."""
    node, way = _draw_node(fabric, chance), chance.choice((faults.OUT, faults.IN))
    scored = cables.Fault(cables.FaultKind.NIC_ONE_WAY, node, _list_cables(fabric, node), {})
    return PlantedFault(faults.SlowNic(node, 30, way), scored, rf"\b{way}\b")


def plant_member_down(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """One member of a LAG pulled, and routed round."""
    leaf, spine, member = _draw_member(chance)
    scored = _make_member_fault(cables.FaultKind.MEMBER_LOST, leaf, spine, member)
    return PlantedFault(faults.MemberDown(leaf, spine, member), scored, "")


def plant_member_slow(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """10 % of one member's rate, both ways."""
    leaf, spine, member = _draw_member(chance)
    scored = _make_member_fault(cables.FaultKind.CABLE, leaf, spine, member)
    return PlantedFault(faults.MemberSlow(leaf, spine, member, 10), scored, "")


def plant_slow_leaf(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """Half of the rate of every port of a leaf, both ways."""
    leaf = chance.choice(("leaf1", "leaf2"))
    scored = cables.Fault(cables.FaultKind.SWITCH, leaf, _list_cables(fabric, leaf), {})
    return PlantedFault(faults.SlowSwitch(leaf, 50), scored, "")


def plant_loss(fabric: Fabric, chance: random.Random) -> PlantedFault:
    """2 % of packets lost on a compute node's cable, both ways."""
    node = _draw_node(fabric, chance)
    scored = cables.Fault(cables.FaultKind.NIC, node, _list_cables(fabric, node), {})
    return PlantedFault(faults.CableLoss(node, 2), scored, r"\blos[st]|\bretransmi|sent again")


KINDS: Mapping[str, Callable[[Fabric, random.Random], PlantedFault]] = MappingProxyType(
    {
        "slow-nic": plant_slow_nic,
        "member-down": plant_member_down,
        "member-slow": plant_member_slow,
        "slow-leaf": plant_slow_leaf,
        "loss": plant_loss,
    }
)
HEALTHY = "healthy"


def _draw_node(fabric: Fabric, chance: random.Random) -> str:
    return chance.choice(sorted(node for node in fabric.nodes if node.startswith("n")))


def _draw_member(chance: random.Random) -> tuple[str, str, int]:
    return chance.choice(("leaf1", "leaf2")), chance.choice(("spine1", "spine2")), chance.choice((1, 2))


def _list_cables(fabric: Fabric, device: str) -> frozenset[cables.Member]:
    return frozenset((link.id, member) for link in fabric.links_at[device] for member in range(link.count))


def _make_member_fault(kind: cables.FaultKind, leaf: str, spine: str, member: int) -> cables.Fault:
    link = f"{leaf}--{spine}"
    return cables.Fault(kind, link, frozenset({(link, member - 1)}), {})


def read_finding(record: Mapping[str, Any]) -> Finding:
    """A finding of a JSON report, which has no field for the members that are up: its words say how many."""
    told = re.search(r"(\d+) of \d+ members carry", record["what"])
    return Finding(
        suspect=Suspect(record["suspect"]),
        element=record["element"],
        where=record["where"],
        what=record["what"],
        level=Level(record["level"]),
        confidence=Confidence(record["confidence"]),
        nodes=tuple(record["nodes"]),
        tests=tuple(record["tests"]),
        cannot_tell=record["cannot_tell"] or "",
        means=record["means"] or "",
        members_up=int(told[1]) if told else None,
    )


def grade_findings(fabric: Fabric, planted: PlantedFault, findings: Sequence[Finding]) -> Outcome:
    """What these findings are worth where this one fault was planted."""
    told = score(fabric, [planted.scored], findings)
    if told.located < told.placed:
        return Outcome.WRONG
    (grade,) = told.grades
    if grade is Grade.MISSED:
        return Outcome.MISSED
    alone = [each for each in findings if score(fabric, [planted.scored], [each]).grades[0] <= Grade.LAG]
    has_words = any(re.search(planted.words, f"{each.where} {each.what} {each.means}") for each in alone)
    return Outcome.EXACT if has_words else Outcome.LOCATED


def run_trial(lab: Lab, kind: str, chance: random.Random, congestion: str = "") -> Trial:
    """Plant a fault of this kind, run the console, take the fault back and grade the report.

    ``congestion`` is how TCP controls itself; as the nodes have it where it is empty.
    """
    text = TRIAL.format(congestion=congestion)
    with tempfile.TemporaryDirectory(prefix="trial-") as folder, written(lab, "trial.yaml", text) as path:
        fabric = load_text(path.read_text(), path.name)
        planted = KINDS[kind](fabric, chance) if kind != HEALTHY else None
        if planted is not None:
            lab.inject(planted.injected)
        try:
            began = time.monotonic()
            ran = benchconsole("run", path, "--db", Path(folder) / "s.db", seconds=600)
            seconds = time.monotonic() - began
            if ran.code not in {0, 1, 3}:
                raise LabError(f"the run ended with {ran.code}: {ran.err or ran.out}")
            found = [read_finding(each) for each in report(Path(folder) / "s.db")["findings"]]
        finally:
            lab.heal()
    return Trial(
        kind=kind,
        where=str(planted.injected) if planted is not None else "",
        outcome=grade_findings(fabric, planted, found) if planted is not None else None,
        code=ran.code,
        findings=len(found),
        unplaced=sum(each.suspect is Suspect.FABRIC for each in found),
        seconds=seconds,
        said=tuple(f"{each.suspect} {each.where}: {each.what}; {each.cannot_tell}" for each in found),
    )


def format_table(trials: Iterable[Trial]) -> str:
    """A row for each kind of fault: runs by outcome; a row for healthy runs."""
    every = list(trials)
    head = ("fault", "runs", *Outcome, "open", "seconds")
    rows = [head]
    for kind in KINDS:
        own = [each for each in every if each.kind == kind]
        if own:
            counts = Counter(each.outcome for each in own)
            rows.append((kind, str(len(own)), *(str(counts[each]) for each in Outcome), *_sum_up(own)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    healthy = [each for each in every if each.kind == HEALTHY]
    if healthy:
        silent = sum(not each.findings for each in healthy)
        found, seconds = _sum_up(healthy)
        lines.append(f"healthy: {silent} of {len(healthy)} silent, open {found}, {seconds} s")
    return "\n".join(lines)


def _sum_up(trials: Sequence[Trial]) -> tuple[str, str]:
    """Findings without an element, and the median of the seconds of a run."""
    return str(sum(each.unplaced for each in trials)), f"{statistics.median(each.seconds for each in trials):.0f}"


def parse_options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.laboratory", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of each kind of fault ({RUNS})")
    parser.add_argument("--healthy", type=int, help="healthy runs (as many as --runs)")
    parser.add_argument("--faults", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND")
    parser.add_argument("--congestion", default="", help="TCP's congestion control, such as reno (that of the nodes)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run every trial, print each as it ends and the table at last; 2 where no laboratory can be built."""
    options = parse_options(words)
    missing = obstacles()
    if missing:
        print(f"NO LABORATORY, NOTHING WAS TRIED: {'; '.join(missing)}", file=sys.stderr)
        return 2
    healthy = options.runs if options.healthy is None else options.healthy
    wanted = [(number, kind) for number in range(options.runs) for kind in options.faults]
    wanted += [(number, HEALTHY) for number in range(healthy)]
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler)  # where nohup had them ignored, too: nothing may stay behind
    lab, trials = Lab.up_somewhere(LabSpec()), list[Trial]()
    try:
        for number, kind in sorted(wanted, key=lambda each: each[0]):  # kinds take turns: a break leaves some of each
            trials.append(run_trial(lab, kind, random.Random(f"{options.seed}/{number}/{kind}"), options.congestion))
            _print_trial(trials[-1])
    except KeyboardInterrupt:
        return 130
    finally:
        lab.down()
        print(f"\n{format_table(trials)}")
    return 0


def _print_trial(trial: Trial) -> None:
    outcome = trial.outcome or ("silent" if not trial.findings else "NOT SILENT")
    print(f"{outcome}: {trial.where or HEALTHY}, exit {trial.code}, {trial.seconds:.0f} s", flush=True)
    for line in trial.said:
        print(f"    {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
