"""Owns what the answers mean: lines of one sentence each, folded over the nodes that they are about. Pure.

A line that keeps a node from being used is BAD; one to know of is NOTE; the rest is FINE.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from console.doctor.asking import Answer
from console.wording import count
from probes.hygiene.checkup import Health, Sudo
from probes.hygiene.needs import RESERVE, Needs, short_of
from probes.model import FailedAt
from topology.model import NodeId
from topology.selection import fold
from topology.units import Shown, Unit, duration, percent, show

OFFSET = 2.0
"""Seconds by which a node's clock may differ before its samples are marked."""
NAMED = 5
"""Fingerprints, leftovers and slow nodes that are named before the rest is counted."""

_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/=]+")
_WEAK = re.compile(r"cbc|3des|arcfour|md5|sha1(?!\d)|ssh-dss|\bssh-rsa\b")
_IPERF3 = (3, 19, 1)


class Grade(StrEnum):
    """What a line means for using the nodes that it is about."""

    BAD = "bad"
    NOTE = "note"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of a section; ``nodes`` are those that it is about."""

    section: str
    grade: Grade
    text: str
    nodes: tuple[NodeId, ...] = ()


def lines(answers: Sequence[Answer], needs: Mapping[NodeId, Needs], file: str) -> tuple[Line, ...]:
    """Everything that is to be said of the nodes; ``file`` is the topology in commands that are proposed."""
    well = [(answer, answer.health) for answer in answers if answer.health is not None]
    return (
        *_keys(answers, file),
        *_login(answers),
        *_algorithms(well),
        *_privileges(well, needs),
        *_tools(well, needs),
        *_clocks(well),
        *_rooms(well, needs),
        *_left(well, file),
        *_slurm(well),
        *_times(well),
    )


_Well = Sequence[tuple[Answer, Health]]


def grouped(pairs: Iterable[tuple[Hashable, NodeId]]) -> Iterator[tuple[str, tuple[NodeId, ...]]]:
    """Nodes by what is to be said of them, most nodes first."""
    found: dict[str, list[NodeId]] = defaultdict(list)
    for words, node in pairs:
        found[str(words)].append(node)
    for words, nodes in sorted(found.items(), key=lambda item: -len(item[1])):
        yield words, tuple(nodes)


def _keys(answers: Sequence[Answer], file: str) -> Iterator[Line]:
    for stage, said in (
        (FailedAt.HOST_KEY_UNKNOWN, "host key not known"),
        (FailedAt.HOST_KEY_CHANGED, "HOST KEY CHANGED"),
    ):
        failed = [each.failure for each in answers if each.failure is not None and each.failure.stage is stage]
        if not failed:
            continue
        nodes = tuple(failure.node for failure in failed)
        yield Line("host keys", Grade.BAD, said, nodes)
        prints = list(grouped((_prints(failure.detail), failure.node) for failure in failed))
        for words, alike in prints[:NAMED]:
            yield Line("host keys", Grade.NOTE, words, alike)
        if len(prints) > NAMED:
            yield Line("host keys", Grade.NOTE, f"and {count(len(prints) - NAMED, 'more fingerprint')}")
        yield Line("host keys", Grade.NOTE, _advice(stage, file, nodes))


def _prints(detail: str) -> str:
    """The fingerprints of a failure; the first is what was known, where the key has changed."""
    found = list(dict.fromkeys(_FINGERPRINT.findall(detail)))
    return f"{found[0]} is now {', '.join(found[1:])}" if len(found) > 1 else "".join(found) or detail


def _advice(stage: FailedAt, file: str, nodes: Sequence[NodeId]) -> str:
    if stage is FailedAt.HOST_KEY_UNKNOWN:
        return f"compare them with the nodes' own, then: benchconsole trust {file} -w {fold(nodes)!r}"
    return "find out why before anything else; nothing was sent to them. Trust replaces no key"


def _login(answers: Sequence[Answer]) -> Iterator[Line]:
    keys = (FailedAt.HOST_KEY_UNKNOWN, FailedAt.HOST_KEY_CHANGED)
    failed = [each.failure for each in answers if each.failure is not None and each.failure.stage not in keys]
    fine = sum(each.failure is None for each in answers)
    yield Line("login", Grade.FINE, f"{fine:,} of {count(len(answers), 'node')} let us in")
    for words, nodes in grouped((_anonymous(f"{each.stage}: {each.detail}", each.node), each.node) for each in failed):
        yield Line("login", Grade.BAD, words, nodes)
    for words, nodes in grouped((each.complaint, each.node) for each in answers if each.complaint):
        yield Line("login", Grade.BAD, f"no answer that can be read: {words}", nodes)


_ADDRESS = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")


def _anonymous(words: str, node: NodeId) -> str:
    """The reason without what names the node, so that nodes with the same reason fold."""
    return _ADDRESS.sub("ADDRESS", re.sub(rf"\b{re.escape(node)}\b", "NODE", words))


def _algorithms(well: _Well) -> Iterator[Line]:
    weak = (
        (f"{name} {value} is weak", answer.node)
        for answer, _ in well
        for name, value in answer.algorithms.items()
        if name != "server" and _WEAK.search(value)
    )
    for words, nodes in grouped(weak):
        yield Line("login", Grade.NOTE, words, nodes)


def _privileges(well: _Well, needs: Mapping[NodeId, Needs]) -> Iterator[Line]:
    for words, nodes in grouped((health.sudo, answer.node) for answer, health in well):
        lacking = words in (Sudo.REFUSED, Sudo.ABSENT)
        needing = tuple(node for node in nodes if needs[node].privileged and lacking)
        rest = tuple(node for node in nodes if node not in needing)
        if needing:
            yield Line("privileges", Grade.BAD, f"{words}, and the suite needs the administrator", needing)
        if rest:
            yield Line("privileges", Grade.FINE, words, rest)


def _tools(well: _Well, needs: Mapping[NodeId, Needs]) -> Iterator[Line]:
    missing = (
        (words, answer.node)
        for answer, health in well
        for tool in needs[answer.node].tools.values()
        if (words := tool.lacking(health))
    )
    for words, nodes in grouped(missing):
        yield Line("tools", Grade.BAD, words, nodes)
    for words, nodes in grouped(
        (f"{tool} {version}", answer.node)
        for answer, health in well
        for tool, version in health.tools.items()
        if version
    ):
        yield Line("tools", Grade.FINE, words, nodes)
    old = ((_old(health.tools.get("iperf3", "")), answer.node) for answer, health in well)
    for words, nodes in grouped(pair for pair in old if pair[0]):
        yield Line("tools", Grade.NOTE, words, nodes)


def _old(version: str) -> str:
    numbers = tuple(map(int, version.split("."))) if version else _IPERF3
    if numbers >= _IPERF3:
        return ""
    return f"iperf3 {version} is older than 3.19.1: CVE-2025-54349 to -54351, unless the distribution mended it"


def _clocks(well: _Well) -> Iterator[Line]:
    off = [(answer.node, health) for answer, health in well if abs(health.offset) - health.within > OFFSET]
    for words, nodes in grouped((_clock(health.offset), node) for node, health in off):
        yield Line("clocks", Grade.NOTE, words, nodes)
    if well and not off:
        most = max(abs(health.offset) + health.within for _, health in well)
        yield Line("clocks", Grade.FINE, f"all within {duration(max(most, 0.1))} of this machine")


def _clock(offset: float) -> str:
    way = "ahead of" if offset > 0 else "behind"
    days = abs(offset) / 86_400
    if days >= 1:
        return f"wrong by {count(round(days), 'day')}, {way} this machine"
    rounded = float(f"{abs(offset):.1g}")
    return f"about {f'{rounded:g} s' if rounded < 60 else duration(rounded)} {way} this machine"


def _rooms(well: _Well, needs: Mapping[NodeId, Needs]) -> Iterator[Line]:
    for words, nodes in grouped((words, answer.node) for answer, health in well for words in health.unfit):
        yield Line("scratch", Grade.BAD, words, nodes)
    least: dict[str, tuple[float, NodeId]] = {}
    full: list[tuple[str, NodeId]] = []
    for answer, health in well:
        for path, room in health.rooms.items():
            least[path] = min(least.get(path, (float("inf"), answer.node)), (room.free, answer.node))
            if room.free < RESERVE * room.total:
                full.append((f"{path} has less than {percent(RESERVE)} free", answer.node))
    for words, nodes in grouped(full):
        yield Line("scratch", Grade.BAD, words, nodes)
    for words, nodes in grouped(pair for answer, health in well for pair in _short(answer.node, needs, health)):
        yield Line("scratch", Grade.BAD, words, nodes)
    for path, (free, node) in least.items():
        said = show(free, Unit.BYTE, Shown.STORAGE)
        yield Line("scratch", Grade.FINE, f"{path} has {said} free or more (least on {node})")


def _short(node: NodeId, needs: Mapping[NodeId, Needs], health: Health) -> Iterator[tuple[str, NodeId]]:
    for root, space in needs[node].rooms.items():
        if words := short_of(root, space, health):
            yield words, node


def _left(well: _Well, file: str) -> Iterator[Line]:
    sessions: dict[str, list[NodeId]] = defaultdict(list)
    for answer, _ in well:
        for words in answer.found.unseen:
            yield Line("leftovers", Grade.NOTE, f"cannot be searched: {words}", (answer.node,))
        for session in dict.fromkeys(
            [*(each.session for each in answer.found.processes), *(each.session for each in answer.found.directories)]
        ):
            sessions[session].append(answer.node)
    for session, nodes in sessions.items():
        yield Line("leftovers", Grade.NOTE, f"something of session {session or 'without an id'} is left", tuple(nodes))
    if sessions:
        yield Line("leftovers", Grade.NOTE, f"show and end it with: benchconsole clean {file}")
    elif well:
        yield Line("leftovers", Grade.FINE, "nothing of ours is left on nodes that could be searched")


def _slurm(well: _Well) -> Iterator[Line]:
    for words, nodes in grouped((health.slurm, answer.node) for answer, health in well if health.slurm):
        works = words == "works"
        yield Line("slurm", Grade.FINE if works else Grade.NOTE, words if works else f"no answer: {words}", nodes)


def _times(well: _Well) -> Iterator[Line]:
    if not well:
        return
    taken = sorted(((answer.seconds + health.seconds, answer.node) for answer, health in well), reverse=True)
    middle = median(seconds for seconds, _ in taken)
    yield Line("answers", Grade.FINE, f"login and answer take {duration(middle)} on most nodes")
    slow = [(seconds, node) for seconds, node in taken if seconds > max(5 * middle, 5.0)]
    for seconds, node in slow[:NAMED]:
        yield Line("answers", Grade.NOTE, f"took {duration(seconds)}", (node,))
    if len(slow) > NAMED:
        yield Line("answers", Grade.NOTE, f"and {count(len(slow) - NAMED, 'more node')} that took long")


def usable(answers: Sequence[Answer], said: Iterable[Line]) -> tuple[NodeId, ...]:
    """The nodes of which nothing bad is said."""
    bad = {node for line in said if line.grade is Grade.BAD for node in line.nodes}
    return tuple(each.node for each in answers if each.node not in bad and each.health is not None)
