"""A watch without waiting: a clock that is where somebody waits for it to be, and nodes that answer or do not."""

import asyncio
from collections.abc import Callable

from benchconsole.console.session.availability_watch import SystemClock
from benchconsole.probes.api import Output
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.testing import FakeRemote
from benchconsole.topology.model.fabric import Fabric, Node

T0 = 1_700_000_000.0


class PlayedClock(SystemClock):
    """Jumps to whatever moment is waited for; ``before`` is called with that moment first.

    With ``stuck`` it stands still, and sets that as soon as somebody waits.
    """

    def __init__(self, at: float = T0) -> None:
        self.at = at
        self.before: Callable[[float], None] = lambda _: None
        self.stuck: asyncio.Event | None = None

    def now(self) -> float:
        return self.at

    async def until(self, at: float) -> None:
        self.before(at)
        if self.stuck is not None:
            self.stuck.set()
            await asyncio.Event().wait()
        self.at = max(self.at, at)
        await asyncio.sleep(0)


class PlayedNodes:
    """Every node answers a sample, but for those that are ``down``; ``boots`` counts the boots of each."""

    def __init__(self, clock: PlayedClock) -> None:
        self.down: set[str] = set()
        self.silent: set[str] = set()
        self.boots: dict[str, int] = {}
        self.stages: dict[str, FailedAt] = {}
        self._clock = clock

    def reach(self, _fabric: Fabric, _session: str) -> "PlayedNodes":
        return self

    async def remote(self, node: Node) -> Remote:
        self._clock.at += 0.001
        if node.id in self.down:
            stage = self.stages.get(node.id, FailedAt.UNREACHABLE)
            raise RemoteError(Failure(stage, "played", node.id))
        boot = self.boots.get(node.id, 0)
        service = f"path={'silent' if node.id in self.silent else 'answered'}\n"
        said = (
            f"benchconsole-availability 1\nboot_id=00000000-0000-0000-0000-{boot:012}\nuptime={self._clock.at - T0:.2f}\n"
            f"{service}benchconsole-availability end\n"
        )
        return FakeRemote(node.id).when("bash", answers=Output((), said.encode(), node=node.id))

    async def close(self) -> None:
        """Nothing stays open."""
