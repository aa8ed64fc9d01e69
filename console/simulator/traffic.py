"""Simulated iperf3 in time: servers that wait, clients that send together, shares when all are in.

Time is compressed: a test of seconds is answered in a fraction of one. Clients whose servers
were started together belong together, so a group closes when every waiting server has its
client, or when nobody has come for a while; only then are the shares computed. That keeps the
numbers right on a busy machine, where the clients of one round arrive far apart.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf

from benchconsole.console.simulator.network import SimulatedNetwork, StreamLoad
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId


@dataclass(frozen=True, slots=True)
class TimeScale:
    """How fast simulated time goes: ``quiet`` is how long a group waits for one more client.

    It is long on purpose: only a client that never comes costs it, while a short one would tear
    the flows of a round apart on a machine that is busy.
    """

    factor: float = 0.04
    quiet: float = 2.0
    longest: float = 0.4
    tells_intervals: bool = False
    """Whether tools tell of each second while they run."""

    def compress(self, simulated: float) -> float:
        """Real seconds for simulated ones."""
        return min(self.longest, simulated * self.factor)


REAL = TimeScale(factor=1.0, longest=inf, tells_intervals=True)
"""As on a real cluster: tests take their time, and tell of their intervals meanwhile."""

STEADY = TimeScale(factor=0.2, longest=1.0)
"""For thousands of nodes on one machine: flows last long enough that they are seen to run together."""


@dataclass(slots=True)
class ServerPort:
    """One ``iperf3 -s``: where it listens, whether a test runs on it, whether one has.

    When ``sending`` is set ``load`` arrives at ``rate`` byte/s, the first ``omit`` seconds of which do not count.
    """

    node: NodeId
    number: int
    busy: bool = False
    served: asyncio.Event = field(default_factory=asyncio.Event)
    sending: asyncio.Event = field(default_factory=asyncio.Event)
    load: StreamLoad = field(default_factory=lambda: StreamLoad(NodeId(""), NodeId(""), 0))
    rate: float = 0.0
    omit: int = 0

    @property
    def is_waiting(self) -> bool:
        return not self.busy and not self.served.is_set()


@dataclass(slots=True)
class _SendingGroup:
    """Flows that send at the same time. ``rates`` is set when everyone is in."""

    loads: list[StreamLoad] = field(default_factory=list)
    rates: "asyncio.Future[tuple[float, ...]]" = field(default_factory=asyncio.Future)


class Traffic:
    """The servers and flows of the whole simulated network. ``ports`` are the servers that listen."""

    def __init__(self, network: SimulatedNetwork, time_scale: TimeScale | None = None) -> None:
        self.network = network
        self.time_scale = time_scale or TimeScale()
        self.ports: dict[tuple[str, int], ServerPort] = {}
        self._waiting = 0  # servers whose clients are still to come
        self._group: _SendingGroup | None = None
        self._closing: asyncio.TimerHandle | None = None

    def listen(self, node: NodeId, number: int) -> ServerPort:
        """Open a port at ``node``; KeyError when another server listens there."""
        if (node, number) in self.ports:
            raise KeyError(number)
        port = self.ports[node, number] = ServerPort(node, number)
        self._waiting += 1
        return port

    def close(self, port: ServerPort) -> None:
        del self.ports[port.node, port.number]
        self._waiting -= port.is_waiting
        # The server that goes may be the one that the others were kept waiting for.
        self._close_when_full()

    async def send(self, load: StreamLoad, port: ServerPort, simulated: float) -> float:
        """Send ``load`` by the server at ``port``; byte/s of payload, after the compressed time."""
        group = self._group = self._group or _SendingGroup()
        place = len(group.loads)
        group.loads.append(load)
        self._waiting -= port.is_waiting
        port.busy = True
        if self._closing is not None:
            self._closing.cancel()
        self._closing = asyncio.get_running_loop().call_later(self.time_scale.quiet, self._close)
        self._close_when_full()
        try:
            rates = await asyncio.shield(group.rates)
            port.load, port.rate = load, rates[place]
            port.sending.set()
            await asyncio.sleep(self.time_scale.compress(simulated))
        except asyncio.CancelledError:
            group.loads[place] = replace(load, streams=0)
            raise
        finally:
            port.busy = False
            port.served.set()
            port.sending.set()
        return rates[place]

    async def await_second(self, port: ServerPort) -> bool:
        """Wait for a second in which something arrives at ``port``; False, at its end, where no second is told."""
        if not self.time_scale.tells_intervals:
            await port.served.wait()
            return False
        await port.sending.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.time_scale.compress(1.0)):
                await port.served.wait()
        return not port.served.is_set()

    def _close_when_full(self) -> None:
        if not self._waiting:
            self._close()

    def _close(self) -> None:
        group, self._group = self._group, None
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        if group is not None and not group.rates.done():
            group.rates.set_result(self.network.compute_shares(group.loads))
