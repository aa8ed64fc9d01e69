"""Looking into a laboratory from outside, without leaving a trace inside.

Owned here: what runs on a node, who listens there, what crossed a cable. All of it is read
from the kernel, never by a command on the node that would show up in its own answer.
Refused here: judging what is seen.
"""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from tests.lab.host import Identity, run, stat_fields
from tests.lab.network import Space
from tests.lab.plan import Plan

MARKER = "BENCHCONSOLE_"
SESSION = "BENCHCONSOLE_SESSION="
_LISTEN = "0A"


@dataclass(frozen=True)
class Process:
    """A process on a node; pid and ppid are those of the outside."""

    pid: int
    ppid: int
    start: int
    argv: tuple[str, ...]
    environ_markers: tuple[str, ...]

    @property
    def session(self) -> str | None:
        """The session that started it, or None when it carries no mark."""
        for marker in self.environ_markers:
            if marker.startswith(SESSION):
                return marker.removeprefix(SESSION)
        return None

    @property
    def identity(self) -> Identity:
        """The pid and the start, by which exactly this process can be signalled."""
        return Identity(self.pid, self.start)


@dataclass(frozen=True)
class Listener:
    """A socket that waits on a node."""

    protocol: str
    address: str
    port: int


@dataclass(frozen=True)
class Counter:
    """Bytes that crossed one cable; forward is from the end that was named first."""

    member: int
    forward_bytes: int
    backward_bytes: int


def processes_of(init: int) -> list[Process]:
    """Everything in the PID namespace of this PID 1, itself included, oldest first."""
    space = _pid_namespace(init)
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    found = [_process(pid) for pid in pids if _pid_namespace(pid) == space]
    return sorted((p for p in found if p is not None), key=lambda p: (p.start, p.pid))


def _pid_namespace(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        return None


def _process(pid: int) -> Process | None:
    fields = stat_fields(pid)
    if fields is None or fields[0] in "ZX":
        return None
    environ = [entry for entry in _strings(pid, "environ") if entry.startswith(MARKER)]
    argv = tuple(_strings(pid, "cmdline"))
    return Process(pid, int(fields[1]), int(fields[19]), argv, tuple(environ))


def _strings(pid: int, name: str) -> list[str]:
    try:
        content = Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return []
    return [part.decode(errors="replace") for part in content.split(b"\0") if part]


def descendants(found: list[Process], roots: list[Process]) -> list[Process]:
    """These processes and everything below them."""
    family = {p.pid for p in roots}
    # Oldest first: a child never comes before its parent.
    for process in found:
        if process.ppid in family:
            family.add(process.pid)
    return [p for p in found if p.pid in family]


def listeners_of(init: int) -> list[Listener]:
    """Sockets that accept TCP connections or UDP datagrams on the node."""
    found: list[Listener] = []
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        table = Path(f"/proc/{init}/net/{protocol}")
        for line in table.read_text().splitlines()[1:] if table.exists() else []:
            local, remote, state = line.split()[1:4]
            unconnected = int(remote.rpartition(":")[2], 16) == 0
            if state == _LISTEN or (protocol.startswith("udp") and unconnected):
                address, _, port = local.rpartition(":")
                found.append(Listener(protocol, _address(address), int(port, 16)))
    return found


def _address(text: str) -> str:
    # The kernel prints each 32-bit word in its own byte order.
    words = [int(text[i : i + 8], 16) for i in range(0, len(text), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, packed)


def counters_between(plan: Plan, end_a: str, end_b: str) -> list[Counter]:
    """The counters of each cable between two switches, or a switch and a node on it."""
    if end_a in plan.nodes or end_b in plan.nodes:
        return [_node_counter(plan, end_a, end_b)]
    sent = _statistics(plan, end_a)
    found = []
    for cable in plan.members_of(end_a):
        if cable.far(end_a) == end_b:
            transmitted, received = sent[cable.port(end_a)]
            found.append(Counter(cable.member, transmitted, received))
    return found


def _node_counter(plan: Plan, end_a: str, end_b: str) -> Counter:
    node = plan.node(end_a if end_a in plan.nodes else end_b)
    to_node, from_node = _statistics(plan, node.switch)[node.name]
    if end_a == node.name:
        return Counter(1, from_node, to_node)
    return Counter(1, to_node, from_node)


def _statistics(plan: Plan, switch: str) -> dict[str, tuple[int, int]]:
    command = Space.of_switch(plan, switch).argv("ip", "-j", "-s", "link", "show")
    return {
        link["ifname"]: (int(link["stats64"]["tx"]["bytes"]), int(link["stats64"]["rx"]["bytes"]))
        for link in json.loads(run(command))
    }
