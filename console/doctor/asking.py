"""Owns the asking: every node once, many at a time, and the machine that the console runs on."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from probes.errors import ProbeError
from probes.hygiene.checkup import Health, examine
from probes.hygiene.needs import Needs
from probes.hygiene.proof import AT_ONCE
from probes.hygiene.sweep import Found, search
from probes.model import Failure
from probes.remote import Reach, RemoteError
from topology.model import Fabric, NodeId


class Telling(Reach, Protocol):
    """A Reach that tells what was negotiated with a node."""

    def algorithms(self, node: NodeId) -> dict[str, str]:
        """``cipher``, ``mac``, ``key`` and the like; empty where there is no connection."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking one node: a failure, or its health and what is left on it.

    ``complaint`` is what it said instead of an answer that can be read. ``seconds`` runs from the first
    knock to the login.
    """

    node: NodeId
    failure: Failure | None = None
    complaint: str = ""
    health: Health | None = None
    found: Found = field(default_factory=Found)
    algorithms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    seconds: float = 0.0


async def ask(reach: Telling, fabric: Fabric, needs: Mapping[NodeId, Needs]) -> tuple[Answer, ...]:
    """Ask every node of ``needs``, at most AT_ONCE at the same time; nothing is raised but cancellation."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(name: NodeId) -> Answer:
        async with gate:
            return await _one(reach, fabric, name, needs[name])

    return tuple(await asyncio.gather(*(one(name) for name in needs)))


async def _one(reach: Telling, fabric: Fabric, name: NodeId, needs: Needs) -> Answer:
    began = time.monotonic()
    try:
        remote = await reach.remote(fabric.nodes[name])
        seconds = time.monotonic() - began
        health = await examine(remote, tuple(needs.tools), tuple(needs.rooms))
        found = await search(remote, None, tuple(needs.rooms))
    except RemoteError as error:
        return Answer(name, failure=error.failure)
    except ProbeError as error:
        return Answer(name, complaint=str(error))
    return Answer(name, health=health, found=found, algorithms=reach.algorithms(name), seconds=seconds)


def sample(names: Sequence[NodeId], most: int) -> tuple[NodeId, ...]:
    """At most ``most`` of ``names``, spread evenly: what is asked of a few where asking all would take too long."""
    if len(names) <= most:
        return tuple(names)
    return tuple(names[index * len(names) // most] for index in range(most))
