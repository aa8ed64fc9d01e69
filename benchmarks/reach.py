"""One command on many hosts over SSH: ours beside ssh, pdsh, clush and ansible, in the same run on the same servers.

    python -m benchmarks.reach [--sizes 50,320] [--targets sshd,farm] [--repeats 3] [--dead 5] [--install]

Needs root: everything happens in a network namespace of its own that has nothing but loopback, where
each address 127.1.x.y is a host (and 10.99.x.y up to 10.99.127.255; beyond that nothing answers). Targets
are one real sshd (key only, no PAM) and the scripted server of ``probes.testing``, which runs nothing.
Client CPU is user and system time of the client and of the
children that it reaped, and of what it left running (ssh's ControlPersist); it is the number that bears
noise best. "first" opens the connections, "second" runs the command once more, on the open connections
where the tool keeps them. All tools verify host keys, have 64 hosts under way at once and use
curve25519 (OpenSSH's default exchange costs its client several times more; it has a row of its own).

``--dead 5``: that share of the hosts in silent addresses, on the real sshd; shown are the seconds that they add.
``--install`` brings what is missing: openssh-client, clustershell and pdsh by apt-get, ansible-core by pip
into a virtual environment of its own.
"""

import argparse
import asyncio
import json
import os
import resource
import shutil
import statistics
import sys
from pathlib import Path

from benchmarks.reach_clients import by_hand, client, ours
from benchmarks.reach_rivals import Tool, end_masters, install, measured, tools
from benchmarks.reach_targets import MODULE, serve, target

ALONE = 50
"""What is run with so few hosts is no rival, but shows what ssh costs with its own exchange of keys."""
ENOUGH = 400
"""Hosts from which rivals are run once."""


def compare(kind: str, size: int, repeats: int, *, every: bool) -> None:
    """One table: every tool on one target; those that take long at this size only where ``every`` one was asked for."""
    with target(kind, size) as directory:
        runs = [(ours(directory), ours(directory, "--by-hand")) for _ in range(repeats)]
        own, hand = (
            {name: statistics.median(run[which][name] for run in runs) for name in runs[0][0]} for which in (0, 1)
        )
        print(f"\n{kind}, {size} hosts (load {os.getloadavg()[0]:.1f})")
        print(f"{'':24}{'first':>9}{'client CPU':>12}{'':>8}{'second':>10}{'':>8}{'peak':>9}")
        print(f"{'':24}{'hosts/s':>9}{'ms/host':>12}{'ratio':>8}{'ms/host':>10}{'ratio':>8}{'MB':>9}{'reached':>9}")
        unit = (own["cpu"] / size * 1000, own["again_cpu"] / size * 1000)
        for name, told in (("benchconsole", own), ("asyncssh by hand", hand)):
            cpu, again = told["cpu"] / size * 1000, told["again_cpu"] / size * 1000
            print(
                f"{name:24}{size / told['wall']:9.0f}{cpu:12.2f}{cpu / unit[0]:8.1f}{again:10.2f}{again / unit[1]:8.1f}"
                f"{told['memory'] / 1e6:9.0f}{told['reached']:9.0f}   {told['connection'] / 1e3:.0f} kB/connection,"
                f" {size / told['again_wall']:.0f}/s again"
            )
        for tool in tools(directory):
            if kind == "farm" and "default" in tool.name:
                continue  # it offers no exchange but the quick ones
            if kind == "farm" and "ansible" in tool.name:
                print(f"{tool.name:24}{'not run: it wants a terminal, which is not played':>60}")
                continue
            if size > tool.most and not (every and tool.most > ALONE):
                print(f"{tool.name:24}{'not run with more than ' + str(tool.most) + ' hosts':>48}")
            elif shutil.which(tool.needs) is None:
                print(f"{tool.name:24}{'missing: ' + tool.package + ' (--install)':>48}")
            else:
                row(tool, directory, unit, 1 if tool.is_slow or size > ENOUGH else repeats)
        gap, turn = own["gap"] * 1000, own["turn"] * 1000
        print(f"benchconsole: the event loop stood still for {gap:.0f} ms at most, of which it worked {turn:.0f} ms")


def row(tool: Tool, directory: Path, own: tuple[float, float], repeats: int) -> None:
    """One rival: a first run without anything kept, and a second one after it."""
    firsts, seconds = [], []
    size = len((directory / "hosts").read_text().split())
    for _ in range(repeats):
        firsts.append(measured(tool, directory))
        seconds.append(measured(tool, directory))
        end_masters(directory)
    wall = statistics.median(run.wall for run in firsts)
    cpu, again = (statistics.median(run.cpu for run in runs) / size * 1000 for runs in (firsts, seconds))
    peak = max(run.memory for run in (*firsts, *seconds)) / 1e6
    print(
        f"{tool.name:24}{size / wall:9.0f}{cpu:12.2f}{cpu / own[0]:8.1f}{again:10.2f}{again / own[1]:8.1f}"
        f"{peak:9.0f}{min(run.reached for run in (*firsts, *seconds)):9}"
    )


def silence(size: int, share: float) -> None:
    """Seconds that silent hosts add, on the real sshd."""
    walls = {}
    for dead in (0.0, share):
        with target("sshd", size, dead) as directory:
            walls["benchconsole", dead] = ours(directory)["wall"]
            for tool in tools(directory):
                if not tool.is_slow and shutil.which(tool.needs) is not None and "Persist" not in tool.name:
                    walls[tool.name, dead] = measured(tool, directory).wall
    print(f"\nsshd, {size} hosts, {share:.0%} of them silent: seconds")
    print(f"{'':24}{'all live':>10}{'with silent':>13}{'added':>8}")
    for name in dict.fromkeys(name for name, _ in walls):
        live, dead_too = walls[name, 0.0], walls[name, share]
        print(f"{name:24}{live:10.1f}{dead_too:13.1f}{dead_too - live:8.1f}")


def main() -> None:
    """Read the options, enter the namespace, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="50,320")
    parser.add_argument("--targets", default="sshd,farm")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dead", type=float, default=5, help="per cent; 0 leaves that table out")
    parser.add_argument("--all", action="store_true", help="ansible and ControlPersist at any size: takes minutes")
    parser.add_argument("--install", action="store_true")
    for hidden in ("--client", "--by-hand", "--serve", "--inside"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    if given.client:
        print(json.dumps(asyncio.run(client(Path(given.client)))))
    elif given.by_hand:
        print(json.dumps(asyncio.run(by_hand(Path(given.by_hand)))))
    elif given.serve:
        asyncio.run(serve(Path(given.serve)))
    elif given.inside:
        sizes = [int(size) for size in given.sizes.split(",")]
        for kind in given.targets.split(","):
            for size in sizes:
                compare(kind, size, given.repeats, every=given.all)
        small = [size for size in sizes if size <= ENOUGH]
        if given.dead and small and "sshd" in given.targets:
            silence(max(small), given.dead / 100)
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
