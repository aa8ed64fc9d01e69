"""How true findings are: planted faults against what the product says of them.

    python -m benchmarks.attribution [--runs N] [--fabric F] [--suite S] [--truth T] [--faults KIND] [--seed N]
                                     [--full] [--short] [--tell]

Cables are simulated one by one by code of this folder alone; the product plans, judges and finds. Without a choice a
list of conditions that tell most is run (about half an hour); with any, every combination of what is chosen. Only the
sums are printed with ``--short``, every fault with what was found with ``--tell``.

By fault: ``exact`` element and part named alone; ``or LAG`` counts a LAG named with the right number of members too;
``node/LAG`` the right node or LAG, not which part; ``tie`` only among others; ``other`` another element that shares a
cable; ``missed``. In sum: ``silent`` healthy runs without a finding, ``findings`` of a healthy run, ``precision`` of
findings that name one element, ``recall`` of faults by any finding that shares a cable, ``or said`` with those missed
of a kind of which the report says that it may not be seen, ``located`` findings that share a cable with a fault, of all
that name something, ``unexplained`` findings of a faulty run that name nothing, ``warned`` runs that rightly say that
source ports do not mean what the file describes; that finding counts nowhere else.
"""

import argparse
import random
from collections.abc import Sequence
from itertools import product

from benchmarks.attribution.cable_simulator import TRUTHS
from benchmarks.attribution.described import FABRICS, SUITES
from benchmarks.attribution.examination import Examination, Outcome
from benchmarks.attribution.faults import Fault, FaultKind
from benchmarks.attribution.scoring import Score, is_told_unseen, score
from benchmarks.attribution.tables import (
    Condition,
    ScoredRun,
    format_fault_table,
    format_sum_table,
    list_fault_rows,
    make_sum_row,
)

RUNS, HEALTHY = 30, 8
FULL_RUNS, FULL_HEALTHY = 150, 40
MOST_FAULTS = 3

CONDITIONS = (
    Condition("default", "ideal", "jetstream"),
    Condition("default", "spread", "jetstream"),
    Condition("default-4", "stream-hash", "jetstream"),
    Condition("default", "ideal", "jetstream-as-shipped"),
    Condition("steered-2", "stream-hash", "jetstream"),
    Condition("steered-4", "stream-hash", "jetstream"),
    Condition("steered-4", "spread+wrong-paths", "jetstream"),
    *(
        Condition(suite, truth, fabric)
        for fabric in ("jetstream", "leaf-spine", "fat-tree")
        for suite, truth in (
            ("default", "stream-hash"),
            ("lag", "ideal"),
            ("lag", "stream-hash"),
            ("lag", "spread"),
            ("lag", "spread+wrong-paths"),
            ("lag", "unknown-hash"),
            ("lag-unknown", "stream-hash"),
        )
    ),
)
KINDS = {kind.name.lower().replace("_", "-"): kind for kind in FaultKind}


def examine(condition: Condition, options: argparse.Namespace) -> list[ScoredRun]:
    """Healthy runs, then runs with 1, 2, 3, 1, ... faults. The same seed plants the same faults in every suite."""
    examination = Examination(condition.fabric, condition.suite)
    truth, kinds = TRUTHS[condition.truth], [KINDS[name] for name in options.faults or ()]
    possible = [kind for kind in kinds if kind in examination.faults.kinds]
    if kinds and not possible:
        raise SystemExit(f"{condition.fabric} cannot have: {', '.join(kinds)}")
    found = []
    for number in range(options.healthy + options.runs):
        count = 0 if number < options.healthy else (number - options.healthy) % MOST_FAULTS + 1
        faults = examination.faults.draw(random.Random(f"{options.seed}/{number}"), count, possible)
        outcome = examination.run(truth, faults, options.seed * 100_003 + number)
        nothing = truth.unknown and SUITES[condition.suite].steered
        told = score(examination.fabric, faults, outcome.findings, ports_say_nothing=nothing)
        if options.tell:
            tell_run(number, faults, told, outcome)
        unseen = tuple(is_told_unseen(examination.fabric, fault, outcome.losses) for fault in faults)
        found.append(ScoredRun(tuple(fault.kind for fault in faults), told, unseen, outcome.seconds / 60))
    return found


def tell_run(number: int, faults: Sequence[Fault], told: Score, outcome: Outcome) -> None:
    """Print the faults of a run with their grades, and all findings."""
    print(f"run {number}")
    for fault, grade in zip(faults, told.grades, strict=True):
        cables = ", ".join(f"{link} member {member + 1}" for link, member in sorted(fault.cables)[:2])
        print(f"  {grade.name:7} {fault.kind} {fault.element}: {cables}" + (" ..." if len(fault.cables) > 2 else ""))
    for each in outcome.findings:
        up = "" if each.members_up is None else f", {each.members_up} up"
        print(f"          found {each.confidence} {each.suspect} {each.element}, {each.where}{up}: {each.cannot_tell}")


def list_conditions(options: argparse.Namespace) -> Sequence[Condition]:
    """The chosen conditions in every combination, or those that tell most."""
    if not (options.suite or options.truth or options.fabric):
        return CONDITIONS
    chosen = (options.suite or ["default"], options.truth or ["stream-hash"], options.fabric or ["jetstream"])
    return [Condition(*each) for each in product(*chosen)]


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.attribution", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, help=f"faulty runs of each condition ({RUNS})")
    parser.add_argument("--healthy", type=int, help=f"healthy runs of each condition ({HEALTHY})")
    parser.add_argument("--full", action="store_true", help=f"{FULL_RUNS} faulty and {FULL_HEALTHY} healthy runs")
    parser.add_argument("--short", action="store_true", help="print only the sums")
    parser.add_argument("--tell", action="store_true", help="print every run with its faults and findings")
    parser.add_argument("--seed", type=int, default=1)
    for name, values in (("suite", SUITES), ("truth", TRUTHS), ("fabric", FABRICS), ("faults", KINDS)):
        parser.add_argument(f"--{name}", action="append", choices=list(values), help="may be given several times")
    options = parser.parse_args()
    runs, healthy = (FULL_RUNS, FULL_HEALTHY) if options.full else (RUNS, HEALTHY)
    options.runs = runs if options.runs is None else options.runs
    options.healthy = healthy if options.healthy is None else options.healthy
    return options


def main() -> None:
    """Run every condition, print its faults as it ends, and all in sum at last."""
    options = parse_options()
    by_fault, in_sum = [], []
    for condition in list_conditions(options):
        runs = examine(condition, options)
        by_fault += list(list_fault_rows(condition, runs))
        in_sum.append(make_sum_row(condition, runs))
        print(f"{', '.join(condition)}: {len(runs)} runs", flush=True)
    if by_fault and not options.short:
        print(f"\n{format_fault_table(by_fault)}")
    print(f"\n{format_sum_table(in_sum)}")


if __name__ == "__main__":
    main()
