"""The table of ``docs/explanation/cost.md``: every benchmark that it stands on, one after the other, in one run.

    python -m benchmarks.cost [--only startup,store] [--smallest] [--install]

Needs root (``benchmarks.reach``) and a machine on which nothing else runs. Its peers must be there: without one of them
it ends with 2 before it measures anything, and ``--install`` brings them. Before each benchmark the load of the last
minute is printed, and how long five million additions of this Python take here and now, so that a slow or disturbed
part of a run is seen. Each prints its own tables; ``--smallest`` runs each at a size that shows only that it runs. The
exit code is 1 if one of them failed; the others run all the same.
"""

import argparse
import os
import subprocess
import sys
import time
from typing import NamedTuple

from benchmarks.reach_rivals import install, list_missing


class Part(NamedTuple):
    """One benchmark with its arguments, and those of its smallest size."""

    module: str
    words: str
    smallest: str


PARTS = (
    Part("startup", "", "1"),
    Part("reach", "--sizes 320 --targets sshd --tables cost", "--sizes 10 --targets sshd --tables cost --repeats 1"),
    Part("reach", "--sizes 320,1000,2000 --targets farm --tables cost", "--sizes 10 --targets farm --repeats 1"),
    Part("reach", "--sizes 1000 --targets far --tables cost", "--sizes 10 --targets far --repeats 1"),
    Part("store", "", "50 100"),
    Part("scheduling", "3 400", "1 16"),
    Part("topology.static", "3 10000", "1 100"),
    Part("topology.maxmin", "3 100000", "1 347"),
    Part("screen", "1000 10000", "40 --smallest"),
    Part("scale", "1000 --tables screen", "20 --tables screen --runs 1"),
    Part("scale", "10000", "20"),
)
ADDITIONS = 5_000_000


def time_additions() -> float:
    """Seconds of CPU of ``ADDITIONS`` additions."""
    begun, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return time.process_time() - begun


def run(part: Part, words: str) -> bool:
    """Run one benchmark and let it print; whether it ended well."""
    print(f"\n== python -m benchmarks.{part.module} {words}".rstrip())
    print(f"   load {os.getloadavg()[0]:.1f}, {ADDITIONS:,} additions {time_additions():.2f} s", flush=True)
    begun = time.monotonic()
    code = subprocess.run([sys.executable, "-m", f"benchmarks.{part.module}", *words.split()], check=False).returncode
    print(f"   exit {code} after {time.monotonic() - begun:,.0f} s", flush=True)
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="The benchmarks of the table of costs, one after the other.")
    parser.add_argument("--only", default="", help="modules, with commas")
    parser.add_argument("--smallest", action="store_true", help="each at its smallest size")
    parser.add_argument("--install", action="store_true", help="bring the peers that are missing, by apt-get and pip")
    given = parser.parse_args()
    chosen = [part for part in PARTS if not given.only or part.module in given.only.split(",")]
    if not chosen:
        parser.error(f"--only {given.only}: none of {', '.join(sorted({part.module for part in PARTS}))}")
    if given.install:
        install()
    if any(part.module == "reach" for part in chosen) and (missing := list_missing()):
        parser.error(f"found no {', '.join(missing)}; expected every peer of the table: --install brings them")
    ended = [run(part, part.smallest if given.smallest else part.words) for part in chosen]
    return 0 if all(ended) else 1


if __name__ == "__main__":
    sys.exit(main())
