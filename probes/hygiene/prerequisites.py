"""Prerequisites of tests on a node, and the answers of the node: tools, clock, administrator, room, Slurm.

Each node is asked once, by one command of a few hundred milliseconds that only looks; what it lacks becomes a reason
not to start the tests that need it. Versions are asked of tools that are known to print theirs and end. Nothing is
installed. A node that does not answer as expected is not held back: the test itself will say what is wrong.
"""

import asyncio
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import FailedAt, Failure, Output, Round
from benchconsole.probes.model.remote import Reach, Remote, RemoteError, wait_for_most
from benchconsole.probes.scratch import LOOK, one_line, root_of
from benchconsole.topology.model.fabric import Node, NodeId
from benchconsole.topology.units import Shown, Unit, show

_TIMEOUT = 30.0
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")
_NO_SUDO = "absent"
_NO_CLUSTER = ("Could not establish a configuration source", "Unable to process configuration file")
"""Messages of Slurm's client on a machine that belongs to no cluster."""

# Without a configuration sinfo asks the DNS for one, and waits for it. timeout ends with 124 where it had to end a
# tool, with 137 where it had to kill it.
# Arguments: tools, "--", scratch directories. Each answer is one line: a word, a tab, and the rest.
_SCRIPT = one_line(
    LOOK
    + r"""
    said() { printf "%s\t%s\n" "$1" "$2" | tr "\000-\010\013-\037" "?"; };
    configured() {
        for c in "$SLURM_CONF" /etc/slurm/slurm.conf /etc/slurm-llnl/slurm.conf /run/slurm/conf/slurm.conf; do
            [ -e "$c" ] && return 0;
        done;
        return 1;
    };
    ask() {
        timeout -k 1 5 "$@" </dev/null 2>&1;
        case $? in 124|137) said hung "$1" >&3;; esac;
    };
    version() { said tool "$1 $(ask "$@" | head -n 1)"; };
    PATH=$PATH:/usr/sbin:/sbin;
    said now "$(date +%s.%N)";
    said uid "$(id -u)";
    if [ "$(id -u)" = 0 ]; then said sudo root;
    elif command -v sudo >/dev/null 2>&1; then
        if s=$(timeout -k 1 5 sudo -n true 2>&1 </dev/null); then said sudo yes; else said sudo "no $(echo $s)"; fi;
    else said sudo absent; fi;
    exec 3>&1;
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        if command -v "$1" >/dev/null 2>&1; then
            case $1 in
                iperf3|fio|mpirun|srun|sockperf|qperf|sysbench|dd|python3) version "$1" --version;;
                nuttcp|netperf|ping|traceroute) version "$1" -V;;
                *) said tool "$1";;
            esac;
        fi;
        shift;
    done;
    [ $# -gt 0 ] && shift;
    for r; do
        if usable "$r"; then
            if [ -w "$root" ]; then
                room -Pk "$root" && said root "$total $free $r" || said bad "$r: cannot tell how much room there is";
            else said bad "$r: we may not write there"; fi;
        else said bad "$r: $why"; fi;
    done;
    if command -v sinfo >/dev/null 2>&1 && configured; then
        if s=$(timeout 10 sinfo -h -o %T 2>&1 </dev/null); then said slurm works; else said slurm "no $(echo $s)"; fi;
    fi;
    said end ""
    """
)


class Sudo(StrEnum):
    """How commands could run as the administrator."""

    ROOT = "root"
    FREE = "sudo without a password"
    PASSWORD = "sudo wants a password"
    REFUSED = "sudo refuses this user"
    ABSENT = "no sudo"


@dataclass(frozen=True, slots=True)
class ScratchRoom:
    """A scratch directory that could be used; bytes."""

    total: int
    free: int


@dataclass(frozen=True, slots=True)
class Health:
    """The answers of a node about itself. ``tools`` maps those that are there to the version they tell, maybe empty.

    ``hung`` are tools that had to be ended when they were asked for it.
    ``offset`` is its wall clock minus ours in seconds, known to ``within`` seconds. ``rooms`` are scratch
    directories by path, ``unfit`` those that cannot be used, with the reason. ``slurm`` is empty where there
    is none, ``works``, or what it complains of. ``seconds`` is how long the answer took.
    """

    sudo: Sudo
    tools: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    hung: frozenset[str] = frozenset()
    offset: float = 0.0
    within: float = 0.0
    rooms: Mapping[str, ScratchRoom] = field(default_factory=lambda: MappingProxyType({}))
    unfit: tuple[str, ...] = ()
    slurm: str = ""
    seconds: float = 0.0


async def examine(
    remote: Remote,
    tools: Collection[str],
    scratch: Collection[str],
    *,
    clock: Callable[[], float] = time.time,
) -> Health:
    """Ask a node how it is. RemoteError when it cannot be asked, ProbeOutputError when its answer is none."""
    argv = ("sh", "-c", _SCRIPT, "benchconsole-doctor", *tools, "--", *dict.fromkeys(scratch))
    sent = clock()
    output = await remote.run(argv, timeout=_TIMEOUT)
    return _read(output, sent, clock())


def _read(output: Output, sent: float, received: float) -> Health:
    lines = [line.partition("\t")[::2] for line in output.text.splitlines()]
    if not lines or lines[-1][0] != "end":
        words = (output.error_text or output.text).strip()[:120]
        raise ProbeOutputError(f"{words!r} with exit status {output.exit_status}", "a node's word on itself")
    last = dict(lines)
    slurm = last.get("slurm", "")
    offset, within = _offset(last.get("now", ""), sent, received)
    return Health(
        sudo=_sudo(last.get("sudo", _NO_SUDO)),
        tools=MappingProxyType(dict(_tool(rest) for word, rest in lines if word == "tool")),
        hung=frozenset(rest for word, rest in lines if word == "hung"),
        offset=offset,
        within=within,
        rooms=MappingProxyType(dict(_room(rest) for word, rest in lines if word == "root")),
        unfit=tuple(rest for word, rest in lines if word == "bad"),
        slurm="" if any(words in slurm for words in _NO_CLUSTER) else slurm.removeprefix("no ").strip()[:200],
        seconds=received - sent,
    )


def _offset(said: str, sent: float, received: float) -> tuple[float, float]:
    """The node's clock against the middle of the time in between; a clock without fractions is half a second less."""
    whole, _, fraction = said.partition(".")
    if not whole.isdigit():
        raise ProbeOutputError(f"{said[:40]!r} as the time", "seconds since 1970")
    exact = fraction.isdigit()
    at = float(f"{whole}.{fraction}") if exact else float(whole) + 0.5
    return at - (sent + received) / 2, (received - sent) / 2 + (0.0 if exact else 0.5)


def _sudo(said: str) -> Sudo:
    if said in ("root", "yes", _NO_SUDO):
        return {"root": Sudo.ROOT, "yes": Sudo.FREE, _NO_SUDO: Sudo.ABSENT}[said]
    wants = "password is required" in said or "terminal is required" in said or "no askpass" in said
    return Sudo.PASSWORD if wants else Sudo.REFUSED


def _tool(rest: str) -> tuple[str, str]:
    name, _, words = rest.partition(" ")
    found = _VERSION.search(words)
    return name, found[0] if found else ""


def _room(rest: str) -> tuple[str, ScratchRoom]:
    total, free, path = [*rest.split(" ", 2), "", ""][:3]
    if not (total.isdigit() and free.isdigit()):
        raise ProbeOutputError(f"{rest[:80]!r} as the room of a directory", "two numbers and a path")
    return path, ScratchRoom(int(total) * 1024, int(free) * 1024)


Options = Mapping[str, str | int | float]

AT_ONCE = 256
"""Nodes that are asked at the same time."""
PATIENCE = 2.0
"""Seconds for which the last few nodes are awaited when the others have answered."""

RESERVE = 0.1
"""Share of a scratch file system that is left free, as ``probes.scratch`` asks."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that must be there. ``package`` is the Debian package that brings it, empty where none does."""

    name: str
    package: str = ""
    version: str = ""

    def lacking(self, health: Health) -> str:
        """Why this node will not do, in words; empty where it will."""
        where = f" (Debian package {self.package})" if self.package else ""
        if self.name not in health.tools:
            return f"{self.name} is not installed{where}"
        found = health.tools[self.name]
        if self.version and found and _parts(found) < _parts(self.version):
            return f"{self.name} {found} is there, {self.version} or newer is needed{where}"
        return ""


@dataclass(slots=True)
class Needs:
    """The needs of the tests of one probe on one node. ``rooms`` is bytes by scratch directory."""

    tools: dict[str, Tool] = field(default_factory=dict)
    rooms: dict[str, float] = field(default_factory=dict)
    privileged: bool = False

    def add(self, probe: Probe, options: Options) -> None:
        self.tools.update((tool.name, tool) for tool in tools_of(probe, options))
        root = root_of({**probe.options, **options})
        if root is not None:
            self.rooms[root] = max(self.rooms.get(root, 0.0), probe.space(options))
        self.privileged |= probe.privileged or probe.safety is Safety.DESTROYS

    def lacking(self, health: Health) -> tuple[FailedAt, str] | None:
        """The first thing that the node lacks, and what kind of reason that is."""
        for tool in self.tools.values():
            if words := tool.lacking(health):
                return FailedAt.MISSING_TOOL, words
        if self.privileged and health.sudo in (Sudo.REFUSED, Sudo.ABSENT):
            return FailedAt.REFUSED, f"the administrator is needed, and there is {health.sudo.value}"
        for root, space in self.rooms.items():
            if words := short_of(root, space, health):
                return FailedAt.REFUSED, words
        return None


def short_of(root: str, space: float, health: Health) -> str:
    """Why ``space`` bytes are too many for the scratch directory ``root``; empty where they fit or nothing is known."""
    room = health.rooms.get(root)
    if room is None or (room.free >= 2 * space and room.free - space >= RESERVE * room.total) or not space:
        return ""
    wanted, free = (show(value, Unit.BYTE, Shown.STORAGE) for value in (space, room.free))
    return f"{root} has {free} free, {wanted} are to be written: twice that must be free, and a tenth be left"


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def tools_of(probe: Probe, options: Options) -> Iterator[Tool]:
    """The programs that a test needs; an option whose default is a tool's name says where that tool is."""
    named = {str(default): option for option, default in probe.options.items()}
    for tool, package in probe.tools.items():
        given = str({**probe.options, **options}[named[tool]]) if tool in named else tool
        yield Tool(given or tool, package, probe.versions.get(tool, ""))


def needs_of(rounds: Iterable[Round], probes: Mapping[str, Probe]) -> dict[NodeId, dict[str, Needs]]:
    """The needs of the tests of ``rounds`` on each node, by probe."""
    found: dict[NodeId, dict[str, Needs]] = {}
    seen: set[tuple[str, int, NodeId]] = set()
    for each in rounds:
        for test in each.tests:
            for node in test.target.nodes:
                key = (test.probe, id(test.target.options), node.id)
                if key not in seen:
                    seen.add(key)
                    needs = found.setdefault(node.id, {}).setdefault(test.probe, Needs())
                    needs.add(probes[test.probe], test.target.options)
    return found


@dataclass(frozen=True, slots=True)
class Survey:
    """The answers of all nodes: why a probe cannot run on a node that ``lacks`` something, by probe and node.

    ``hung`` are probes and nodes on which a tool of theirs hung already when its version was asked for. ``late`` nodes
    have not answered yet: their tasks go on, and put what the nodes lack into ``lacks``. Whoever asked ends them.
    """

    lacks: Mapping[tuple[str, NodeId], Failure]
    hung: frozenset[tuple[str, NodeId]]
    late: Mapping[NodeId, "asyncio.Task[None]"] = field(default_factory=dict)


async def survey(reach: Reach, rounds: Sequence[Round], probes: Mapping[str, Probe]) -> Survey:
    """Ask every node of ``rounds`` once what its tests need to know before they start; the last few are not awaited."""
    needs = needs_of(rounds, probes)
    nodes = {node.id: node for each in rounds for test in each.tests for node in test.target.nodes}
    found: dict[tuple[str, NodeId], Failure] = {}
    hung: set[tuple[str, NodeId]] = set()

    gate = asyncio.Semaphore(AT_ONCE)

    async def ask(node: Node) -> None:
        tools = dict.fromkeys(tool for wanted in needs[node.id].values() for tool in wanted.tools)
        rooms = dict.fromkeys(root for wanted in needs[node.id].values() for root in wanted.rooms)
        if not tools and not rooms:
            return
        try:
            async with gate:
                health = await examine(await reach.remote(node), tuple(tools), tuple(rooms))
        except (RemoteError, ProbeOutputError):
            return
        for probe, wanted in needs[node.id].items():
            if lacking := wanted.lacking(health):
                found[probe, node.id] = Failure(*lacking, node.id)
            if health.hung & wanted.tools.keys():
                hung.add((probe, node.id))

    tasks = {asyncio.create_task(ask(node)): node.id for node in nodes.values()}
    try:
        late = await wait_for_most(tasks, PATIENCE)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise
    for task in tasks.keys() - late:
        task.result()
    return Survey(MappingProxyType(found), frozenset(hung), {tasks[task]: task for task in late})
