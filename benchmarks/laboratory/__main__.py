"""How true findings are on cables: faults planted in the laboratory, real runs, and the report held against them.

    python -m benchmarks.laboratory [--runs N] [--healthy N] [--fabrics F ...] [--faults KIND ...] [--congestion NAME]
                                    [--keep FOLDER] [--seed N]

A fabric of network namespaces is built (docs/howto/laboratory.md), each run plants faults at elements that are
drawn, runs `benchconsole run` in a process of its own, reads its JSON report and takes the faults back. It needs root.

``exact``, ``located``, ``wrong``, ``told`` and ``missed`` are those of ``benchmarks.laboratory.grading``. ``open``
counts findings that name no element, ``drawn`` healthy nodes that the console draws as failed. Healthy runs are
``silent`` without any finding or failure.
"""

import argparse
import random
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.laboratory.planting import FABRICS, KINDS
from benchmarks.laboratory.trials import HEALTHY, Trial, format_table, run_trial
from tests.lab import Lab, obstacles

RUNS = 10


def parse_options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.laboratory", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of each kind of fault ({RUNS})")
    parser.add_argument("--healthy", type=int, help="healthy runs (as many as --runs)")
    parser.add_argument("--fabrics", nargs="+", choices=list(FABRICS), default=list(FABRICS), metavar="FABRIC")
    parser.add_argument("--faults", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND")
    parser.add_argument("--congestion", default="", help="TCP's congestion control, such as reno (that of the nodes)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="store the session of each run here, by its kind")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run every trial, print each as it ends and the table at last; 2 where no laboratory can be built."""
    options = parse_options(words)
    missing = obstacles()
    if missing:
        print(f"NO LABORATORY, NOTHING WAS TRIED: {'; '.join(missing)}", file=sys.stderr)
        return 2
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler)  # where nohup had them ignored, too: nothing may stay behind
    trials = list[Trial]()
    try:
        for fabric in options.fabrics:
            for trial in _run_trials(options, fabric):
                trials.append(trial)
                _print_trial(trial)
    except KeyboardInterrupt:
        return 130
    finally:
        print(f"\n{format_table(trials)}")
    return 0


def _run_trials(options: argparse.Namespace, fabric: str) -> Iterator[Trial]:
    """The trials in a laboratory of one fabric, which is gone afterwards."""
    healthy = options.runs if options.healthy is None else options.healthy
    wanted = [(number, kind) for number in range(options.runs) for kind in options.faults]
    wanted += [(number, HEALTHY) for number in range(healthy)]
    lab = Lab.up_somewhere(FABRICS[fabric].spec)
    try:
        for number, kind in sorted(wanted, key=lambda each: each[0]):  # kinds take turns: a break leaves some of each
            chance = random.Random(f"{options.seed}/{number}/{kind}")
            kept = options.keep / f"{fabric}-{kind}-{number}.db" if options.keep else None
            yield run_trial(lab, fabric, kind, chance, congestion=options.congestion, kept=kept)
    finally:
        lab.down()


def _print_trial(trial: Trial) -> None:
    outcome = trial.outcome or ("silent" if not trial.findings else "NOT SILENT")
    print(f"{outcome}: {trial.fabric}, {trial.where or HEALTHY}, exit {trial.code}, {trial.seconds:.0f} s", flush=True)
    for line in trial.said:
        print(f"    {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
