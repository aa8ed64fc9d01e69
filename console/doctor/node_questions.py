"""The questions of the doctor to the nodes: every node once, many at a time."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from benchconsole.probes.hygiene.leftover_proof import AT_ONCE
from benchconsole.probes.hygiene.prerequisites import Health, Needs, examine
from benchconsole.probes.leftovers import Leftovers, find_leftovers
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import Failure
from benchconsole.probes.model.remote import Reach, RemoteError
from benchconsole.topology.model.fabric import Fabric, NodeId


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
    gate = asyncio.Semaphore(AT_ONCE)

    async def ask_in_turn(name: NodeId) -> NodeAnswer:
        async with gate:
            return await _ask_node(reach, fabric, name, needs[name])

    return tuple(await asyncio.gather(*(ask_in_turn(name) for name in needs)))


async def _ask_node(reach: AlgorithmReach, fabric: Fabric, name: NodeId, needs: Needs) -> NodeAnswer:
    began = time.monotonic()
    try:
        remote = await reach.remote(fabric.nodes[name])
        seconds = time.monotonic() - began
        health = await examine(remote, tuple(needs.tools), tuple(needs.rooms))
        found = await find_leftovers(remote, None, tuple(needs.rooms))
    except RemoteError as error:
        return NodeAnswer(name, failure=error.failure)
    except ProbeError as error:
        return NodeAnswer(name, complaint=str(error))
    return NodeAnswer(name, health=health, found=found, algorithms=reach.algorithms(name), seconds=seconds)


def sample_nodes(names: Sequence[NodeId], most: int) -> tuple[NodeId, ...]:
    """At most ``most`` of ``names``, spread evenly: what is asked of a few where asking all would take too long."""
    if len(names) <= most:
        return tuple(names)
    return tuple(names[index * len(names) // most] for index in range(most))
