"""A probe with options to sweep, and nodes whose rate depends on them as a test says."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import (
    Metric,
    Output,
    Probe,
    ProbeOutputError,
    Reading,
    Safety,
    Shown,
    Target,
    Unit,
    labels,
)
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.testing import FakeRemote
from benchconsole.topology.model.fabric import Node

Rate = Callable[[str, str], float]
"""From a node and what it was told (``4``, or ``4 1 MiB``) to byte/s; 0 for a tool that fails."""


class Stepped(Probe):
    """Writes with so many tasks and blocks of a size; its answer says with how many it did."""

    name = "ior"
    summary = "writing with several tasks"
    metrics = (
        Metric("ior.latency", Unit.SECOND, "time of a write"),
        Metric("ior.write", Unit.BYTE_RATE, "bytes written", Shown.STORAGE),
    )
    options = MappingProxyType({"tasks": 1, "block": "1 MiB"})
    safety = Safety.LOADS

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return 4.0

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        return ["ior", str(given.whole("tasks", 1, 64)), given.text("block")]

    def parse(self, output: Output) -> Sequence[Reading]:
        words = output.text.split()
        if len(words) != 2:
            raise ProbeOutputError("no summary", "tasks and rate")
        return (Reading("ior.write", float(words[1]), Unit.BYTE_RATE, labels(operation="write", tasks=words[0])),)


class SteppedReach:
    """Nodes that answer ``rate``; ``asked`` is what they were told, in order."""

    def __init__(self, rate: Rate, unreachable: Sequence[str] = ()) -> None:
        self.rate = rate
        self.unreachable = tuple(unreachable)
        self.remotes: dict[str, FakeRemote] = {}
        self.asked: list[tuple[str, str]] = []

    async def remote(self, node: Node) -> Remote:
        if node.id in self.unreachable:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "refused", node.id))
        return _Answering(self, node.id)

    async def close(self) -> None:
        """Nothing is open."""


class _Answering(FakeRemote):
    def __init__(self, reach: SteppedReach, node: str) -> None:
        super().__init__(node, lenient=True)
        self._reach = reach

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        if argv[0] != "ior":
            return await super().run(argv, timeout=timeout, stdin=stdin, privileged=privileged)
        self._reach.asked.append((self.node, argv[1]))
        rate = self._reach.rate(self.node, argv[1])
        said = f"{argv[1]} {rate}\n".encode() if rate else b""
        return Output(tuple(argv), said, b"", 0 if rate else 1, node=self.node, seconds=1.0)


IOR: dict[str, Probe] = {"ior": Stepped()}
