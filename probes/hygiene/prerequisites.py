"""What tests need of a node before they can run: tools with their versions, the administrator, room.

Each node is asked once, by the one command of ``probes.hygiene.node_check``; what it lacks becomes a reason not to
start the tests that need it. Nothing is installed. A node that does not answer as expected is not held back: the
test itself will say what is wrong.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.hygiene.node_check import Health, Sudo, examine
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import FailedAt, Failure, Round
from benchconsole.probes.model.remote import Reach, RemoteError
from benchconsole.probes.scratch import root_of
from benchconsole.topology.model.fabric import Node, NodeId
from benchconsole.topology.units import Shown, Unit, show

Options = Mapping[str, str | int | float]

AT_ONCE = 256
"""Nodes that are asked at the same time."""

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
    """What the tests of one probe need of one node. ``rooms`` is bytes by scratch directory."""

    tools: dict[str, Tool] = field(default_factory=dict)
    rooms: dict[str, float] = field(default_factory=dict)
    privileged: bool = False

    def add(self, probe: Probe, options: Options) -> None:
        """What a test with these options needs more."""
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
    """What the tests of ``rounds`` need of each node, by probe."""
    found: dict[NodeId, dict[str, Needs]] = {}
    seen: set[tuple[str, int, NodeId]] = set()
    for each in rounds:
        for test in each.tests:
            for node in test.target.nodes:
                key = (each.probe, id(test.target.options), node.id)
                if key not in seen:
                    seen.add(key)
                    needs = found.setdefault(node.id, {}).setdefault(each.probe, Needs())
                    needs.add(probes[each.probe], test.target.options)
    return found


async def survey(
    reach: Reach, rounds: Sequence[Round], probes: Mapping[str, Probe]
) -> Mapping[tuple[str, NodeId], Failure]:
    """Ask every node of ``rounds`` once; why a probe cannot run on it, by probe and node, where it lacks something."""
    needs = needs_of(rounds, probes)
    nodes = {node.id: node for each in rounds for test in each.tests for node in test.target.nodes}
    gate = asyncio.Semaphore(AT_ONCE)
    found: dict[tuple[str, NodeId], Failure] = {}

    async def ask(node: Node) -> None:
        async with gate:
            health = await _health(reach, node, needs[node.id].values())
        for probe, wanted in needs[node.id].items():
            lacking = wanted.lacking(health) if health is not None else None
            if lacking is not None:
                found[probe, node.id] = Failure(*lacking, node.id)

    await asyncio.gather(*map(ask, nodes.values()))
    return found


async def _health(reach: Reach, node: Node, needs: Iterable[Needs]) -> Health | None:
    tools = dict.fromkeys(tool for each in needs for tool in each.tools)
    rooms = dict.fromkeys(root for each in needs for root in each.rooms)
    if not tools and not rooms:
        return None
    try:
        return await examine(await reach.remote(node), tuple(tools), tuple(rooms))
    except (RemoteError, ProbeOutputError):
        return None
