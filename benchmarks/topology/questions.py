"""Questions about large fabrics beside a linear program and networkx: CPU seconds and memory of a process for each.

    python -m benchmarks.topology.questions [RUNS [MOST]]      (3 runs; fabrics of more than MOST nodes are left out)

The smallest fabrics have 1,000 nodes, or MOST where that is less.

The fabric is that of ``benchmarks.topology.merging``: leaves of 25 nodes, 4 spines for 10 leaves, 8 cores, 16 storage
servers. Each question is asked by a command of its own, RUNS times (3), start of the interpreter and reading of the
file included; CPU and memory are those that the system counted for the child (wait4), medians of the runs. Ratios are
against our answer in the same row. Children keep their bytecode in a folder of the run, as an installed program has it.

Beside ``check`` stands what networkx takes for the cut vertices alone, which are the single points of failure. Beside
``expect`` stand the lowest rate by HiGHS, over the merged flows, and the maximum flow by networkx. Beside 200 draws of
hashes stands one filling of all flows, one by one, which a loop would repeat 200 times. CPU seconds of a busy machine
grow with its load: compare ratios.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.topology.merging import describe, find_lowest, find_maximum_flow

PEERS = ("vertices", "program", "flow", "filling")
ASK = ("-m", "benchconsole.console.cli")


_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True, slots=True)
class Row:
    """A question of the command line, and the peers that answer a part of it."""

    title: str
    nodes: int
    words: Sequence[str]
    peers: Sequence[str]


ROWS = (
    Row("check", 1_000, ("check",), ("vertices",)),
    Row("check", 10_000, ("check",), ("vertices",)),
    Row("check", 100_000, ("check",), ("vertices",)),
    Row("expect @compute>@storage", 1_000, ("expect", "@compute>@storage"), ("program", "flow")),
    Row("expect @compute>@storage", 10_000, ("expect", "@compute>@storage"), ("program", "flow")),
    Row("expect @compute>@storage", 100_000, ("expect", "@compute>@storage"), ()),
    Row("200 draws of hashes", 1_000, ("expect", "--model", "hash", "@compute>@storage"), ("filling",)),
)


SMALLEST = min(row.nodes for row in ROWS)


def run(argv: list[str]) -> tuple[float, float]:
    """CPU seconds and MB of one child, which has to succeed."""
    null = os.open(os.devnull, os.O_WRONLY)
    child = os.posix_spawn(argv[0], argv, _ENVIRONMENT, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    os.close(null)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(argv)} ended with status {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def measure(argv: list[str], runs: int) -> tuple[float, float]:
    """Medians of ``runs`` children."""
    seconds, memory = zip(*(run(argv) for _ in range(runs)), strict=True)
    return statistics.median(seconds), statistics.median(memory)


def answer(peer: str, path: Path) -> None:
    """Print the answer of a peer, in the child."""
    from benchconsole.topology.capacity.expect import expect, expect_merged
    from benchconsole.topology.capacity.flow_groups import FlowSet
    from benchconsole.topology.capacity.flow_model import Model
    from benchconsole.topology.description.resolve import load

    fabric = load(path)
    senders, servers = ([node for node in fabric.nodes if node.startswith(text)] for text in ("n", "st"))
    asked = FlowSet(tuple(senders), tuple(servers))
    answers: dict[str, Callable[[], object]] = {
        "vertices": lambda: find_cut_vertices([(link.a, link.b) for link in fabric.links.values()]),
        "program": lambda: find_lowest(fabric, expect_merged(fabric, [asked])),
        "flow": lambda: find_maximum_flow(fabric),
        "filling": lambda: expect(fabric, list(asked), model=Model.HASH)[0],
    }
    print(answers[peer]())


def find_cut_vertices(cables: Sequence[tuple[str, str]]) -> int:
    """How many devices part the fabric, by networkx."""
    import networkx as nx

    return sum(1 for _ in nx.articulation_points(nx.Graph(cables)))


def main() -> None:
    """Print the table, or in a child the answer of one peer."""
    if sys.argv[1:2] and sys.argv[1] in PEERS:
        answer(sys.argv[1], Path(sys.argv[2]))
        return
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    print(f"{'question':26} {'nodes':>8} {'CPU s':>6} {'MB':>5}  beside it")
    with tempfile.TemporaryDirectory() as folder:
        _ENVIRONMENT["PYTHONPYCACHEPREFIX"] = folder
        run([sys.executable, *ASK, "--version"])
        for row in (each for each in ROWS if each.nodes <= max(most, SMALLEST)):
            nodes = min(row.nodes, most)
            path = Path(folder) / f"{nodes}.yaml"
            path.write_text(describe(nodes))
            command, *flows = row.words
            ours, memory = measure([sys.executable, *ASK, command, str(path), *flows], runs)
            others = []
            for peer in row.peers:
                took, _ = measure([sys.executable, "-m", "benchmarks.topology.questions", peer, str(path)], runs)
                others.append(f"{peer} {took:.2f} s ({took / ours:.1f} x)")
            print(f"{row.title:26} {nodes:>8,} {ours:>6.2f} {memory:>5.0f}  {', '.join(others)}", flush=True)


if __name__ == "__main__":
    main()
