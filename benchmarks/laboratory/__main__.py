"""How true findings are on cables: faults planted in the laboratory, real runs, and the report held against them.

    python -m benchmarks.laboratory [--runs N] [--healthy N] [--fabrics F ...] [--faults KIND ...] [--congestion NAME]
                                    [--keep FOLDER] [--seed N] [--jobs N]

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
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.laboratory.planting import FABRICS, KINDS
from benchmarks.laboratory.trials import HEALTHY, Trial, format_table, run_trial
from tests.lab import Lab, obstacles
from tests.lab.lab import SLOTS

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
    parser.add_argument(
        "--jobs", type=int, choices=range(1, SLOTS + 1), default=1, help="laboratories side by side, on idle processors"
    )
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
            _run_trials(options, fabric, trials)
    except KeyboardInterrupt:
        return 130
    finally:
        print(f"\n{format_table(trials)}")
    return 0


def _run_trials(options: argparse.Namespace, fabric: str, trials: list[Trial]) -> None:
    """Run all trials of one fabric in laboratories side by side, and add each to ``trials`` as it ends.

    An interrupt lets the runs under way end; their laboratories are gone afterwards.
    """
    wanted = deque(_list_wanted(options))
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            for each in [pool.submit(_run_in_turn, options, fabric, wanted, trials) for _ in range(options.jobs)]:
                each.result()
        finally:
            wanted.clear()


def _list_wanted(options: argparse.Namespace) -> list[tuple[int, str]]:
    """The numbers and kinds of the trials on one fabric; kinds take turns, so that a break leaves some of each."""
    healthy = options.runs if options.healthy is None else options.healthy
    wanted = [(number, kind) for number in range(options.runs) for kind in options.faults]
    wanted += [(number, HEALTHY) for number in range(healthy)]
    return sorted(wanted, key=lambda each: each[0])


def _run_in_turn(options: argparse.Namespace, fabric: str, wanted: deque[tuple[int, str]], trials: list[Trial]) -> None:
    """Take one trial after the other, in a laboratory that is gone afterwards."""
    lab = Lab.up_somewhere(FABRICS[fabric].spec)
    try:
        for number, kind in _take_all(wanted):
            chance = random.Random(f"{options.seed}/{number}/{kind}")
            kept = options.keep / f"{fabric}-{kind}-{number}.db" if options.keep else None
            trials.append(run_trial(lab, fabric, kind, chance, congestion=options.congestion, kept=kept))
            _print_trial(trials[-1])
    finally:
        lab.down()


def _take_all(wanted: deque[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The first that nobody has taken, until there is none."""
    while True:
        try:
            first = wanted.popleft()
        except IndexError:
            return
        yield first


def _print_trial(trial: Trial) -> None:
    outcome = trial.outcome or ("silent" if not trial.findings else "NOT SILENT")
    first = f"{outcome}: {trial.fabric}, {trial.where or HEALTHY}, exit {trial.code}, {trial.seconds:.0f} s"
    print("\n    ".join((first, *trial.said)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
