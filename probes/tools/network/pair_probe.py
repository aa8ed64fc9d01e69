"""Probes between two nodes: their addresses, and servers that live as long as a client needs them."""

import random
from collections.abc import Callable, Sequence

from benchconsole.probes.api import Contact, Node, Output, PlanError, Probe, Safety, Shape, Target
from benchconsole.probes.readers.numbers import parse_address
from benchconsole.probes.serving import PORTS, serving

_ROUND = 90.0
"""Seconds that a server outlives its client by: it listens before the round is ready."""


class PairProbe(Probe):
    """A probe that sends from a node to its peer. ``ports`` draws the ports of its servers."""

    safety = Safety.LOADS
    shape = Shape.PAIR
    timeout = 60.0

    def __init__(self, ports: random.Random | None = None) -> None:
        self._ports = ports or random.SystemRandom()

    def peer(self, target: Target) -> Node:
        """The far end of the test; PlanError where there is none."""
        if target.peer is None:
            raise PlanError(f"{self.name} needs a pair of nodes")
        return target.peer

    async def ask_server(
        self,
        contact: Contact,
        server: Callable[[int], Sequence[str]],
        client: Callable[[int], Sequence[str]],
        *,
        limit: float,
        kind: str = "tcp",
        together: bool = True,
    ) -> Output:
        """The output of the command ``client`` of a port within ``limit`` seconds, against a ``server`` of its own.

        It waits for the round first, unless ``together`` is False.
        """
        async with serving(contact.there, server, timeout=limit + _ROUND, kind=kind, dice=self._ports) as (port, _):
            if together:
                await contact.together()
            return await contact.here.run(client(port), timeout=limit)

    def draw_port(self, control: int, count: int = 1) -> int:
        """The first of ``count`` consecutive ports, without ``control`` among them."""
        low, high = PORTS
        while True:
            port = self._ports.randrange(low, high - count)
            if not port <= control < port + count:
                return port


def find_ip_version(address: str) -> int | None:
    """4 or 6 for an IP address, None for a name."""
    found = parse_address(address)
    return found.version if found else None


def bind_option(flag: str, address: str) -> list[str]:
    """``flag address`` for an IP address; nothing for a name, which may mean another interface."""
    return [flag, address] if find_ip_version(address) else []
