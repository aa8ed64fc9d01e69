"""Loading topology files, beside a YAML loader that only reads them: median milliseconds and ratios.

    python -m benchmarks.topology.load [RUNS [MOST]]      (7 runs; files of more than MOST nodes are left out)

The 801-cable file is the shipped Jetstream example; the files of 10,000 nodes are generated,
once with a range for each rack and once with a line for each node and each link. The peer is
PyYAML's safe loader, in C and in Python, on the same text: it checks and resolves nothing.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path

import yaml

from benchconsole import topology

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
MOST = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
HEAD = "schema: 1\nfabric: big\nswitches:\n  spine[1-16]: {role: spine}\n  leaf[001-250]: {role: leaf}\nnodes:\n"
TRUNKS = '  - {from: "leaf[001-250]", to: "spine[1-16]", speed: 100 Gb/s}\n'


def by_rack() -> str:
    nodes = [f"n[{rack * 40 + 1:05}-{rack * 40 + 40:05}]" for rack in range(250)]
    links = [f'  - {{from: "{each}", to: leaf{rack + 1:03}, speed: 25 Gb/s}}\n' for rack, each in enumerate(nodes)]
    return HEAD + "".join(f"  {each}: {{role: compute}}\n" for each in nodes) + "links:\n" + "".join(links) + TRUNKS


def by_line() -> str:
    numbers = range(10_000)
    nodes = [f"  n{i + 1:05}: {{address: 10.{i // 40_000}.{i // 200 % 200}.{i % 200 + 1}}}\n" for i in numbers]
    links = [f"  - {{from: n{i + 1:05}, to: leaf{i // 40 + 1:03}, speed: 25 Gb/s}}\n" for i in numbers]
    return HEAD + "".join(nodes) + "links:\n" + "".join(links) + TRUNKS


def median(call: Callable[[], object], runs: int) -> float:
    call()
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def main() -> None:
    jetstream = resources.files("benchconsole.topology").joinpath("examples/jetstream.yaml").read_text()
    cases = {"jetstream, 801 cables": jetstream}
    if MOST >= 10_000:
        cases |= {"10,000 nodes, 250 ranges": by_rack(), "10,000 nodes, 1 line each": by_line()}
    print(f"{'file':28}{'lines':>8}{'load ms':>10}{'C yaml':>10}{'ratio':>8}{'py yaml':>10}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in cases.items():
            path = Path(folder) / "t.yaml"
            path.write_text(text)
            ours = median(partial(topology.load, path), RUNS)
            fast = median(partial(yaml.load, text, Loader=yaml.CSafeLoader), RUNS)
            slow = median(partial(yaml.load, text, Loader=yaml.SafeLoader), 1)
            lines = text.count("\n")
            print(f"{name:28}{lines:8,}{ours:10.1f}{fast:10.1f}{ours / fast:8.2f}{slow:10.1f}{ours / slow:8.2f}")


if __name__ == "__main__":
    main()
