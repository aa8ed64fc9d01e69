"""The proof at the end of a run: every node that was touched is searched, and leftovers are ended and removed.

The nodes that a run touches follow from its plan alone, which is stored before anything is sent:
so the next start finds exactly the files of a run whose console was killed. Nothing of another session is touched.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.leftovers import (
    LeftoverDirectory,
    LeftoverProcess,
    Leftovers,
    end_processes,
    find_leftovers,
    remove_directories,
)
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import Proof, Round
from benchconsole.probes.model.remote import Reach, Remote, RemoteError, wait_for_most
from benchconsole.probes.scratch import root_of
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Node, NodeId

AT_ONCE = 64
"""Nodes that are searched at the same time: enough to fill the time that each takes to answer."""
PATIENCE = 90.0
"""Seconds that a node has for search, end and second search; a file system that hangs must not hold the run."""
LATE = 10.0
"""Seconds for which the last few nodes are awaited when the others have answered."""


@dataclass(frozen=True, slots=True)
class Touched:
    """The nodes that rounds run on, and the directories below which their tests write, by node.

    ``privileged`` are the nodes on which commands run as the administrator.
    """

    nodes: tuple[Node, ...] = ()
    scratch: Mapping[NodeId, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    privileged: frozenset[NodeId] = frozenset()


def touched(rounds: Iterable[Round], probes: Mapping[str, Probe] = MappingProxyType({})) -> Touched:
    """Nodes and scratch directories that ``rounds`` touch; nodes in the order in which they first occur.

    Of ``probes`` those that destroy run as the administrator.
    """
    tests = [(probes.get(test.probe), test.target) for each in rounds for test in each.tests]
    nodes = {node.id: node for _, target in tests for node in target.nodes}
    destroying = (target for probe, target in tests if probe is not None and probe.safety is Safety.DESTROYS)
    writing = ((root, target) for _, target in tests if (root := root_of(target.options)) is not None)
    roots = group_by_key((node.id, root) for root, target in writing for node in target.nodes)
    scratch = MappingProxyType({name: tuple(dict.fromkeys(found)) for name, found in roots.items()})
    return Touched(tuple(nodes.values()), scratch, frozenset(node.id for target in destroying for node in target.nodes))


async def prove(
    reach: Reach,
    nodes: Sequence[Node],
    session: str,
    *,
    scratch: Mapping[NodeId, Collection[str]] = MappingProxyType({}),
    privileged: Collection[NodeId] = frozenset(),
    at_once: int = AT_ONCE,
) -> tuple[Proof, ...]:
    """Search every node for what is left of ``session``, end and remove it, and search again.

    ``scratch`` names the directories below which the session wrote; on nodes of ``privileged`` the
    processes of the administrator are searched too. One command for a node that is clean. A node
    that cannot be asked, or not searched, is told so in its proof; nothing is raised but cancellation.
    """

    async def prove_one(node: Node) -> Proof:
        try:
            async with asyncio.timeout(PATIENCE):
                remote = await reach.remote(node)
                roots = tuple(scratch.get(node.id, ()))
                return await _searched(remote, node.id, session, roots, node.id in privileged)
        except RemoteError as error:
            detail = f"{error.failure.stage}: {error.failure.detail}"
        except TimeoutError:
            detail = f"no answer within {PATIENCE:.0f} s"
        except ProbeError as error:
            detail = str(error)
        return Proof(node.id, asked=False, detail=detail)

    gate = asyncio.Semaphore(at_once)

    async def prove_in_turn(node: Node) -> Proof:
        async with gate:
            return await prove_one(node)

    tasks = {node.id: asyncio.create_task(prove_in_turn(node)) for node in nodes}
    try:
        late = await wait_for_most(tasks.values(), LATE)
    finally:
        for task in tasks.values():
            task.cancel()  # of no effect on those that have ended
    detail = f"no answer within {LATE:.0f} s after the others had answered"
    return tuple(
        Proof(node, asked=False, detail=detail) if task in late else task.result() for node, task in tasks.items()
    )


async def _searched(remote: Remote, node: NodeId, session: str, scratch: Collection[str], privileged: bool) -> Proof:
    found = await find_leftovers(remote, session, scratch, privileged=privileged)
    ended = 0
    if not found.is_empty:
        await end_processes(remote, found.processes, privileged=privileged)
        stays = {each.path: each for each in await remove_directories(remote, found.directories, privileged=privileged)}
        before = len(found.processes) + len(found.directories)
        again = await find_leftovers(remote, session, scratch, privileged=privileged)
        found = Leftovers(
            again.processes, tuple(stays.get(each.path, each) for each in again.directories), again.unseen
        )
        ended = max(before - len(found.processes) - len(found.directories), 0)
    left = (*map(describe_process, found.processes), *map(describe_directory, found.directories))
    return Proof(node, asked=not found.unseen, left=left, ended=ended, detail="; ".join(found.unseen))


def describe_process(process: LeftoverProcess) -> str:
    """One process: its number, its command cut to a line, what it listens on, and why it may not be ended."""
    command = " ".join(process.argv)[:200] or "without a command line"
    listens = f", listens on {', '.join(process.listens)}" if process.listens else ""
    because = f", which {process.because}" if process.because else ""
    return f"process {process.pid} ({command}){listens}{because}"


def describe_directory(directory: LeftoverDirectory) -> str:
    """One directory: its path, and why it may not be removed."""
    return f"directory {directory.path}" + (f", which {directory.because}" if directory.because else "")
