"""The doctor's questions to the nodes, every node once, and the diagnosis of their answers: lines of one sentence each.

Lines are folded over the nodes that they are about. A line that keeps a node from being used is BAD; one to know of is
NOTE; the rest is FINE.
"""

import re
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from types import MappingProxyType
from typing import Protocol

from benchconsole.console.text.name_sets import anonymize
from benchconsole.probes.hygiene.leftover_proof import AT_ONCE
from benchconsole.probes.hygiene.prerequisites import RESERVE, Health, Needs, Sudo, examine, short_of
from benchconsole.probes.leftovers import Leftovers, find_leftovers
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Reach, RemoteError, ask_all
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import fold
from benchconsole.topology.units import Shown, Unit, duration, percent, show
from benchconsole.topology.units import counted as count


class AlgorithmReach(Reach, Protocol):
    """A Reach that tells what was negotiated with a node."""

    def algorithms(self, node: NodeId) -> dict[str, str]:
        """``cipher``, ``mac``, ``key`` and the like; empty where there is no connection."""


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """The result of asking one node: a failure, or its health and what is left on it.

    ``complaint`` is its output where that cannot be read as an answer. ``seconds`` runs from the first
    knock to the login.
    """

    node: NodeId
    failure: Failure | None = None
    complaint: str = ""
    health: Health | None = None
    found: Leftovers = field(default_factory=Leftovers)
    algorithms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    seconds: float = 0.0


async def ask_nodes(reach: AlgorithmReach, fabric: Fabric, needs: Mapping[NodeId, Needs]) -> tuple[NodeAnswer, ...]:
    """Ask every node of ``needs``, at most AT_ONCE at the same time; nothing is raised but cancellation."""

    async def ask(name: NodeId) -> NodeAnswer:
        began = time.monotonic()
        tools, rooms = tuple(needs[name].tools), tuple(needs[name].rooms)
        try:
            remote = await reach.remote(fabric.nodes[name])
            seconds = time.monotonic() - began
            health = await examine(remote, tools, rooms)
            found = await find_leftovers(remote, None, rooms)
        except RemoteError as error:
            return NodeAnswer(name, failure=error.failure)
        except ProbeError as error:
            return NodeAnswer(name, complaint=str(error))
        return NodeAnswer(name, health=health, found=found, algorithms=reach.algorithms(name), seconds=seconds)

    return tuple(await ask_all(needs, ask, AT_ONCE))


def sample_nodes(names: Sequence[NodeId], most: int) -> tuple[NodeId, ...]:
    """At most ``most`` of ``names``, spread evenly: what is asked of a few where asking all would take too long."""
    if len(names) <= most:
        return tuple(names)
    return tuple(names[index * len(names) // most] for index in range(most))


OFFSET = 2.0
"""Seconds by which a node's clock may differ before its samples are marked."""
NAMED = 5
"""Fingerprints, leftovers and slow nodes that are named before the rest is counted."""

_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/=]+")
_WEAK = re.compile(r"cbc|3des|arcfour|md5|sha1(?!\d)|ssh-dss|\bssh-rsa\b")
_IPERF3 = (3, 19, 1)


class Grade(StrEnum):
    """The meaning of a line for using the nodes that it is about."""

    BAD = "bad"
    NOTE = "note"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class DiagnosisLine:
    """One sentence of a section; ``nodes`` are those that it is about."""

    section: str
    grade: Grade
    text: str
    nodes: tuple[NodeId, ...] = ()


_Healthy = Sequence[tuple[NodeAnswer, Health]]


def diagnose_nodes(
    answers: Sequence[NodeAnswer], needs: Mapping[NodeId, Needs], file: str
) -> tuple[DiagnosisLine, ...]:
    """The lines about the nodes; ``file`` is the topology in the commands that the lines propose."""
    healthy = [(answer, answer.health) for answer in answers if answer.health is not None]
    return (
        *_check_host_keys(answers, file),
        *_check_login(answers, healthy),
        *_check_privileges(healthy, needs),
        *_check_tools(healthy, needs),
        *_check_clocks(healthy),
        *_check_scratch(healthy, needs),
        *_check_leftovers(healthy, file),
        *_check_slurm(healthy),
        *_check_times(healthy),
    )


def group_nodes(pairs: Iterable[tuple[Hashable, NodeId]]) -> Iterator[tuple[str, tuple[NodeId, ...]]]:
    """Nodes by the words about them, most nodes first."""
    groups = group_by_key((str(words), node) for words, node in pairs)
    for words, nodes in sorted(groups.items(), key=lambda item: -len(item[1])):
        yield words, tuple(nodes)


def fold_lines(section: str, grade: Grade, pairs: Iterable[tuple[Hashable, NodeId]]) -> Iterator[DiagnosisLine]:
    """A line for each of the words, with all nodes that they are about."""
    return (DiagnosisLine(section, grade, words, nodes) for words, nodes in group_nodes(pairs))


def _check_host_keys(answers: Sequence[NodeAnswer], file: str) -> Iterator[DiagnosisLine]:
    for stage, words in (
        (FailedAt.HOST_KEY_UNKNOWN, "host key not known"),
        (FailedAt.HOST_KEY_CHANGED, "HOST KEY CHANGED"),
    ):
        failed = [each.failure for each in answers if each.failure is not None and each.failure.stage is stage]
        if not failed:
            continue
        nodes = tuple(failure.node for failure in failed)
        yield DiagnosisLine("host keys", Grade.BAD, words, nodes)
        pairs = ((_list_fingerprints(failure.detail), failure.node) for failure in failed)
        fingerprints = list(fold_lines("host keys", Grade.NOTE, pairs))
        yield from fingerprints[:NAMED]
        if len(fingerprints) > NAMED:
            more = count(len(fingerprints) - NAMED, "more fingerprint")
            yield DiagnosisLine("host keys", Grade.NOTE, f"and {more}")
        advice = "find out why before anything else; nothing was sent to them. Trust replaces no key"
        if stage is FailedAt.HOST_KEY_UNKNOWN:
            advice = f"compare them with the nodes' own, then: benchconsole trust {file} -w {fold(nodes)!r}"
        yield DiagnosisLine("host keys", Grade.NOTE, advice)


def _list_fingerprints(detail: str) -> str:
    """The fingerprints of a failure; where the key has changed, the known one comes first."""
    prints = list(dict.fromkeys(_FINGERPRINT.findall(detail)))
    return f"{prints[0]} is now {', '.join(prints[1:])}" if len(prints) > 1 else "".join(prints) or detail


def _check_login(answers: Sequence[NodeAnswer], healthy: _Healthy) -> Iterator[DiagnosisLine]:
    keys = (FailedAt.HOST_KEY_UNKNOWN, FailedAt.HOST_KEY_CHANGED)
    failed = [each.failure for each in answers if each.failure is not None and each.failure.stage not in keys]
    fine = sum(each.failure is None for each in answers)
    yield DiagnosisLine("login", Grade.FINE, f"{fine:,} of {count(len(answers), 'node')} let us in")
    reasons = ((anonymize(f"{each.stage}: {each.detail}", each.node), each.node) for each in failed)
    yield from fold_lines("login", Grade.BAD, reasons)
    unread = ((f"no answer that can be read: {each.complaint}", each.node) for each in answers if each.complaint)
    yield from fold_lines("login", Grade.BAD, unread)
    weak = (
        (f"{name} {value} is weak", answer.node)
        for answer, _ in healthy
        for name, value in answer.algorithms.items()
        if name != "server" and _WEAK.search(value)
    )
    yield from fold_lines("login", Grade.NOTE, weak)


def _check_privileges(healthy: _Healthy, needs: Mapping[NodeId, Needs]) -> Iterator[DiagnosisLine]:
    for words, nodes in group_nodes((health.sudo, answer.node) for answer, health in healthy):
        lacking = words in (Sudo.REFUSED, Sudo.ABSENT)
        needing = tuple(node for node in nodes if needs[node].privileged and lacking)
        rest = tuple(node for node in nodes if node not in needing)
        if needing:
            yield DiagnosisLine("privileges", Grade.BAD, f"{words}, and the suite needs the administrator", needing)
        if rest:
            yield DiagnosisLine("privileges", Grade.FINE, words, rest)


def _check_tools(healthy: _Healthy, needs: Mapping[NodeId, Needs]) -> Iterator[DiagnosisLine]:
    missing = (
        (words, answer.node)
        for answer, health in healthy
        for tool in needs[answer.node].tools.values()
        if (words := tool.lacking(health))
    )
    yield from fold_lines("tools", Grade.BAD, missing)
    versions = [
        (tool, version, answer.node) for answer, health in healthy for tool, version in health.tools.items() if version
    ]
    yield from fold_lines("tools", Grade.FINE, ((f"{tool} {version}", node) for tool, version, node in versions))
    old = (
        (f"iperf3 {version} is older than 3.19.1: CVE-2025-54349 to -54351, unless the distribution mended it", node)
        for tool, version, node in versions
        if tool == "iperf3" and tuple(map(int, version.split("."))) < _IPERF3
    )
    yield from fold_lines("tools", Grade.NOTE, old)


def _check_clocks(healthy: _Healthy) -> Iterator[DiagnosisLine]:
    off = [(answer.node, health) for answer, health in healthy if abs(health.offset) - health.within > OFFSET]
    yield from fold_lines("clocks", Grade.NOTE, ((_format_offset(health.offset), node) for node, health in off))
    if healthy and not off:
        most = max(abs(health.offset) + health.within for _, health in healthy)
        yield DiagnosisLine("clocks", Grade.FINE, f"all within {duration(max(most, 0.1))} of this machine")


def _format_offset(offset: float) -> str:
    way = "ahead of" if offset > 0 else "behind"
    days = abs(offset) / 86_400
    if days >= 1:
        return f"wrong by {count(round(days), 'day')}, {way} this machine"
    rounded = float(f"{abs(offset):.1g}")
    return f"about {f'{rounded:g} s' if rounded < 60 else duration(rounded)} {way} this machine"


def _check_scratch(healthy: _Healthy, needs: Mapping[NodeId, Needs]) -> Iterator[DiagnosisLine]:
    unfit = ((words, answer.node) for answer, health in healthy for words in health.unfit)
    rooms = [(path, room, answer.node) for answer, health in healthy for path, room in health.rooms.items()]
    low = f"has less than {percent(RESERVE)} free"
    full = ((f"{path} {low}", node) for path, room, node in rooms if room.free < RESERVE * room.total)
    short = (
        (words, answer.node)
        for answer, health in healthy
        for root, space in needs[answer.node].rooms.items()
        if (words := short_of(root, space, health))
    )
    for pairs in (unfit, full, short):
        yield from fold_lines("scratch", Grade.BAD, pairs)
    for path, found in group_by_key((path, (room.free, node)) for path, room, node in rooms).items():
        free, node = min(found)
        shown = show(free, Unit.BYTE, Shown.STORAGE)
        yield DiagnosisLine("scratch", Grade.FINE, f"{path} has {shown} free or more (least on {node})")


def _check_leftovers(healthy: _Healthy, file: str) -> Iterator[DiagnosisLine]:
    left: list[tuple[str, NodeId]] = []
    for answer, _ in healthy:
        for words in answer.found.unseen:
            yield DiagnosisLine("leftovers", Grade.NOTE, f"cannot be searched: {words}", (answer.node,))
        left += ((each.session, answer.node) for each in answer.found.processes)
        left += ((each.session, answer.node) for each in answer.found.directories)
    sessions = group_by_key(dict.fromkeys(left))
    for session, nodes in sessions.items():
        words = f"something of session {session or 'without an id'} is left"
        yield DiagnosisLine("leftovers", Grade.NOTE, words, tuple(nodes))
    if sessions:
        yield DiagnosisLine("leftovers", Grade.NOTE, f"show and end it with: benchconsole clean {file}")
    elif healthy:
        yield DiagnosisLine("leftovers", Grade.FINE, "nothing of ours is left on nodes that could be searched")


def _check_slurm(healthy: _Healthy) -> Iterator[DiagnosisLine]:
    for words, nodes in group_nodes((health.slurm, answer.node) for answer, health in healthy if health.slurm):
        grade, text = (Grade.FINE, words) if words == "works" else (Grade.NOTE, f"no answer: {words}")
        yield DiagnosisLine("slurm", grade, text, nodes)


def _check_times(healthy: _Healthy) -> Iterator[DiagnosisLine]:
    if not healthy:
        return
    taken = sorted(((answer.seconds + health.seconds, answer.node) for answer, health in healthy), reverse=True)
    middle = median(seconds for seconds, _ in taken)
    yield DiagnosisLine("answers", Grade.FINE, f"login and answer take {duration(middle)} on most nodes")
    slow = [(seconds, node) for seconds, node in taken if seconds > max(5 * middle, 5.0)]
    for seconds, node in slow[:NAMED]:
        yield DiagnosisLine("answers", Grade.NOTE, f"took {duration(seconds)}", (node,))
    if len(slow) > NAMED:
        yield DiagnosisLine("answers", Grade.NOTE, f"and {count(len(slow) - NAMED, 'more node')} that took long")


def list_usable_nodes(answers: Sequence[NodeAnswer], lines: Iterable[DiagnosisLine]) -> tuple[NodeId, ...]:
    """The nodes without a BAD line."""
    bad = {node for line in lines if line.grade is Grade.BAD for node in line.nodes}
    return tuple(each.node for each in answers if each.node not in bad and each.health is not None)
