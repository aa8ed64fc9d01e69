"""One command on many hosts over SSH: ours beside ssh, pdsh, clush and ansible, in the same run on the same servers.

    python -m benchmarks.reach [--sizes 50,320] [--targets sshd,farm] [--repeats 3] [--silent 5] [--tables cost,silence]
        [--install]

Needs root, sshd and ip (``make tools`` brings them): everything happens in a network namespace of its own that has
nothing but loopback, where each address 127.1.x.y is a host (and 10.99.x.y up to 10.99.127.255; beyond that nothing
answers). Targets are real sshds (key only, no PAM), one for each host and with a process table of its own, as real
hosts have, and the scripted server of ``probes.testing``, which runs nothing; ``far`` is the latter behind a relay that
hands on everything after 25 ms, for ours and the limits alone, which may have 256 hosts under way there. All tools
verify host keys, have 64 hosts under way at once and use curve25519 (OpenSSH's default exchange costs its client
several times more; it has a row of its own).

``cost``: two tables for each target and size, medians. "Whole processes" is what each tool costs from exec to exit,
ours with its start and imports as the rivals with theirs: CPU is user and system time of the client, of the children
that it reaped, and of what it left running (ssh's ControlPersist). "Without start" is what connections and commands
alone cost ours and the limits: asyncssh by hand, and the client of Go's x/crypto. "first" opens the connections,
"second" runs the command once more, on the open connections where the tool keeps them; below stands what 20 kB of
output cost more than a word. "node" is CPU of the target and of all that it started: what a host pays for one
connection with its command, and for one command more.

``silence``: one host is silent, and then ``--silent 5`` per cent of them: beside the real sshd they give no answer at
all, on the scripted server they accept the connection and say nothing. Shown are the seconds until the last answer of
all the others, and until the tool ends; medians.
``--install`` brings what is missing: openssh-client, clustershell, pdsh, golang-go and golang-golang-x-crypto-dev by
apt-get, ansible-core by pip into a virtual environment of its own.
"""

import argparse
import asyncio
import json
import os
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from benchmarks.reach_clients import AGAIN, by_hand, client
from benchmarks.reach_rivals import (
    Client,
    Figures,
    Tool,
    Twice,
    clients,
    install,
    is_there,
    measure_twice,
    measured,
    rivals,
)
from benchmarks.reach_targets import MODULE, serve, served, target

ALONE = 50
"""Hosts: a tool that is run with no more is no rival, but shows what ssh costs with its own exchange of keys."""
ENOUGH = 400
"""Hosts from which rivals are run once."""
SILENCES = {"sshd": "give no answer", "farm": "accept and say nothing"}


def compare(kind: str, size: int, repeats: int, *, every: bool) -> None:
    """Two tables: every tool on one target; those that take long at this size only where ``every`` one is asked for."""
    with target(kind, size) as directory:
        ours = clients(directory)
        missing = [each for each in ours if not is_there(each.once)]
        runs = {each.once.name: measure_client(each, directory, repeats) for each in ours if each not in missing}
        print(f"\n{kind}, {size} hosts (load {os.getloadavg()[0]:.1f}), without start")
        print_header(f"{'connection':>12}")
        for name, (alone, whole) in runs.items():
            print_alone(name, size, alone, whole, runs["benchconsole"][0])
        own = runs["benchconsole"][1]
        print("whole processes")
        print_header("")
        for name, (_, whole) in runs.items():
            print_whole(name, size, whole, own)
        for each in missing:
            print(f"{each.once.name:24}{'missing: ' + each.once.package + ' (--install)':>48}")
        for tool in rivals(directory) if kind != "far" else ():  # a process for each host is no match for distance
            if reason := _find_reason_to_leave_out(tool, kind, size, every=every):
                print(f"{tool.name:24}{reason:>48}")
                continue
            times = 1 if tool.is_slow or size > ENOUGH else repeats
            print_whole(tool.name, size, [measure_twice(tool, directory) for _ in range(times)], own)
        more = (
            f"{name} {median(each['large_cpu'] - each['again_cpu'] for each, _ in alone) / size * 1000:+.2f}"
            for name, (alone, _) in runs.items()
        )
        print(f"20 kB of output cost, ms/host: {', '.join(more)}")
        gap, turn = (median(each[name] for each, _ in runs["benchconsole"][0]) * 1000 for name in ("gap", "turn"))
        print(f"benchconsole: the event loop stood still for {gap:.0f} ms at most, of which it worked {turn:.0f} ms")


Alone = list[tuple[dict[str, float], float]]
"""Runs of a client without its start: what it told, and CPU seconds of the target."""


def measure_client(one: Client, directory: Path, repeats: int) -> tuple[Alone, list[Twice]]:
    """A client without its start, and its whole process."""
    alone: Alone = []
    for _ in range(repeats):
        before = served(directory)
        told = one.measure_alone()
        alone.append((told, served(directory) - before))
    return alone, [measure_twice(one.once, directory) for _ in range(repeats)]


def _find_reason_to_leave_out(tool: Tool, kind: str, size: int, *, every: bool) -> str:
    if kind == "farm" and "default" in tool.name:
        return "not run: the target has the quick exchange only"
    if kind == "farm" and "ansible" in tool.name:
        return "not run: it wants a terminal, not played"
    if size > tool.most and not (every and tool.most > ALONE):
        return f"not run with more than {tool.most} hosts"
    return "" if is_there(tool) else f"missing: {tool.package} (--install)"


def print_header(last: str) -> None:
    """The names of the columns of both tables."""
    print(f"{'':24}{'first':>9}{'CPU':>9}{'':>7}{'second':>9}{'':>7}{'node, first':>13}{'second':>9}{'peak':>8}")
    units = f"{'hosts/s':>9}{'ms/host':>9}{'ratio':>7}{'ms/host':>9}{'ratio':>7}{'ms/host':>13}{'ms/host':>9}"
    print(f"{'':24}{units}{'MB':>8}{'reached':>9}{last}")


def print_row(name: str, size: int, wall: float, milliseconds: Sequence[float], ratios: Sequence[float]) -> None:
    """The columns of both tables but for the last ones; milliseconds are for each host."""
    first, second, *nodes = milliseconds
    print(f"{name:24}{size / wall:9.0f}{first:9.2f}{ratios[0]:7.2f}{second:9.2f}{ratios[1]:7.2f}", end="")
    print(f"{nodes[0]:13.2f}{nodes[1]:9.2f}", end="")


def print_alone(name: str, size: int, runs: Alone, whole: Sequence[Twice], own: Alone) -> None:
    """One client without its start. A whole process opens each connection for one command: the rest is the others."""

    def per_host(told: Alone, what: str) -> float:
        return median(each[what] for each, _ in told) / size * 1000

    node = median(each.node_first for each in whole) / size * 1000
    more = (median(spent for _, spent in runs) / size * 1000 - node) / AGAIN
    first, second = per_host(runs, "cpu"), per_host(runs, "again_cpu")
    ratios = first / per_host(own, "cpu"), second / per_host(own, "again_cpu")
    print_row(name, size, median(each["wall"] for each, _ in runs), (first, second, node, more), ratios)
    memory, connection = (median(each[what] for each, _ in runs) for what in ("memory", "connection"))
    print(f"{memory / 1e6:8.0f}{min(each['reached'] for each, _ in runs):9.0f}{connection / 1e3:9.0f} kB")


def print_whole(name: str, size: int, runs: Sequence[Twice], own: Sequence[Twice]) -> None:
    """One tool from exec to exit."""

    def per_host(told: Sequence[Twice], take: Callable[[Twice], float]) -> float:
        return median(map(take, told)) / size * 1000

    def first(run: Twice) -> float:
        return run.first.cpu

    def second(run: Twice) -> float:
        return run.second.cpu

    costs = per_host(runs, first), per_host(runs, second)
    nodes = per_host(runs, lambda run: run.node_first), per_host(runs, lambda run: run.node_second)
    ratios = costs[0] / per_host(own, first), costs[1] / per_host(own, second)
    print_row(name, size, median(run.first.wall for run in runs), (*costs, *nodes), ratios)
    every = [figures for run in runs for figures in (run.first, run.second)]
    print(f"{max(each.memory for each in every) / 1e6:8.0f}{min(each.reached for each in every):9}")


def silence(kind: str, size: int, share: float, repeats: int) -> None:
    """Seconds that silent hosts add to all others, and to the whole."""
    numbers = [*dict.fromkeys((0, 1, max(1, round(size * share))))]
    told: dict[str, list[list[Figures]]] = {}
    for _ in range(repeats):
        for place, number in enumerate(numbers):
            with target(kind, size, number) as directory:
                for tool in (*(each.once for each in clients(directory)), *rivals(directory, may_fail=True)):
                    if not tool.is_slow and not tool.keeps and is_there(tool):
                        runs = told.setdefault(tool.name, [[] for _ in numbers])
                        runs[place].append(measured(tool, directory))
    print(f"\n{kind}, {size} hosts, of which some {SILENCES[kind]} (load {os.getloadavg()[0]:.1f}): seconds")
    print(f"{'':24}{'all live':>20}" + "".join(f"{f'{number} silent, added':>24}" for number in numbers[1:]))
    print(f"{'':24}" + f"{'others':>12}{'end':>8}" + f"{'others':>16}{'end':>8}" * (len(numbers) - 1))
    for name, runs in told.items():
        last, *lasts = (median(run.last for run in each) for each in runs)
        end, *ends = (median(run.wall for run in each) for each in runs)
        print(f"{name:24}{last:12.1f}{end:8.1f}", end="")
        print("".join(f"{a - last:+16.1f}{b - end:+8.1f}" for a, b in zip(lasts, ends, strict=True)), end="")
        missed = [size - number - min(run.reached for run in each) for number, each in zip(numbers, runs, strict=True)]
        print(f"   not reached: {', '.join(map(str, missed))}" if any(missed) else "")


def main() -> None:
    """Read the options, enter the namespace, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="50,320")
    parser.add_argument("--targets", default="sshd,farm")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--silent", type=float, default=5, help="per cent")
    parser.add_argument("--tables", default="cost,silence")
    parser.add_argument("--all", action="store_true", help="ansible and ControlPersist at any size: takes minutes")
    parser.add_argument("--install", action="store_true")
    for hidden in ("--client", "--by-hand", "--serve", "--inside", "--once"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # children find their bytecode, as an installed program does
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    if given.client:
        print(json.dumps(asyncio.run(client(Path(given.client), once=bool(given.once)))))
    elif given.by_hand:
        print(json.dumps(asyncio.run(by_hand(Path(given.by_hand), once=bool(given.once)))))
    elif given.serve:
        asyncio.run(serve(Path(given.serve)))
    elif given.inside:
        sizes = [int(size) for size in given.sizes.split(",")]
        for kind in given.targets.split(",") if "cost" in given.tables.split(",") else ():
            for size in sizes:
                compare(kind, size, given.repeats, every=given.all)
        small = [size for size in sizes if size <= ENOUGH]
        kinds = [kind for kind in given.targets.split(",") if kind in SILENCES]
        for kind in kinds if "silence" in given.tables.split(",") and small else ():
            silence(kind, max(small), given.silent / 100, given.repeats)
    else:
        if given.install:
            install()
        network = "ip link set lo up; ip link add v0 type veth peer name v1; ip link set v0 arp off up; "
        network += "ip link set v1 up; ip addr add 10.99.255.254/16 dev v0; "
        network += 'ip route add local 10.99.0.0/17 dev lo; exec "$@"'
        command = ["unshare", "--net", "sh", "-c", network, "sh", sys.executable, "-m", MODULE, "--inside", "yes"]
        os.execvp(command[0], [*command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
