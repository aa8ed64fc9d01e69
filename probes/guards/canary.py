"""Owns the canary: two nodes that ping each other while tests run, so that harm to others is seen at once.

One look is four pings 0.2 s apart, over the connection that is open already; a look ends within 1.3 s whatever
happens. The alarm rings

- at once when a look lost twice the limit or more (2 of 4 by default),
- when two looks in a row were bad: the limit or more was lost (1 of 4), the node could not be asked at all, or
  even the fastest ping took more than ten times its time before the load, and more than ``floor``.

The fastest, not the mean: a queue that never empties is what harms others, a single late answer is noise (the
minimum over an interval is what RFC 8289 takes for a standing queue).

So a cable that goes dead is seen within 1.8 s. Refuses to ring for what it cannot know: without ``ping`` on the
node, or between nodes that never answered, it says so once and keeps still. Which nodes: ``pairing``.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass

from probes.model import FailedAt, Output
from probes.remote import Reach, RemoteError
from topology.model import Fabric, Node
from topology.units import duration, percent

PINGS = 4
LOOK = 1.3
"""Seconds after which a look is cut off; what has not come back by then is lost."""

_PATIENCE = 8.0
"""Seconds for a look with everything around it; beyond, the node cannot be asked."""

_COUNTS = re.compile(r"^(\d{1,6}) packets transmitted, (\d{1,6}) (?:packets )?received\b", re.MULTILINE)
_FASTEST = re.compile(r"^(?:rtt|round-trip) min/avg/max\S* = (\d{1,9}(?:\.\d{1,6})?)/", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Limits:
    """When the canary rings: ``loss`` is a share, ``factor`` counts times before the load, ``floor`` is seconds."""

    loss: float = 0.2
    factor: float = 10.0
    floor: float = 0.1

    @classmethod
    def of(cls, fabric: Fabric) -> "Limits":
        """Stricter where the file caps links: below a cap no queue may stand, and 5 ms of it is too much.

        Without a cap tests fill links on purpose, and the buffers of switches with them: then only
        what people and time-outs notice counts, 0.1 s.
        """
        return cls() if fabric.caps.link is None else cls(floor=0.005)


@dataclass(frozen=True, slots=True)
class Look:
    """What one ``ping`` said: packets, and the round trip of the fastest in seconds, None where nothing came back."""

    sent: int
    received: int
    fastest: float | None

    @property
    def loss(self) -> float:
        """Share of packets that did not come back."""
        return 1 - self.received / self.sent


def command(address: str) -> list[str]:
    """The command of one look. ``timeout`` lets ping sum up when it is interrupted."""
    return [
        "timeout", "--foreground", "-s", "INT", str(LOOK),
        "ping", "-n", "-q", "-c", str(PINGS), "-i", "0.2", "-W", "1", address,
    ]  # fmt: skip


def parse(text: str) -> Look | None:
    """What ping (iputils, and others that sum up alike) said; None when it gave no sum.

    >>> parse("4 packets transmitted, 3 received, 25% packet loss, time 603ms\\nrtt min/avg/max/mdev = 0.04/1/2/0 ms")
    Look(sent=4, received=3, fastest=4e-05)
    """
    counts, fastest = _COUNTS.search(text), _FASTEST.search(text)
    if counts is None:
        return None
    sent, received = int(counts[1]), int(counts[2])
    if sent < 1 or received > sent:
        return None
    return Look(sent, received, float(fastest[1]) / 1000 if fastest and received else None)


class Canary:
    """``here`` pings the data address of ``there``. ``alarm`` is set when it rings, ``because`` says why.

    ``told`` hears once why it keeps still, where it does.
    """

    def __init__(
        self,
        reach: Reach,
        here: Node,
        there: Node,
        *,
        limits: Limits = Limits(),
        told: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.here = here
        self.there = there
        self.limits = limits
        self.alarm = asyncio.Event()
        self.because = ""
        self._reach = reach
        self._told = told
        self._usual: float | None = None
        self._suspect = ""

    async def ready(self, looks: int = 3) -> bool:
        """Look before the load, for what is usual. False when this pair cannot serve; then the reason was told."""
        fastest: list[float] = []
        for _ in range(looks):
            look = await self._look()
            if isinstance(look, str):
                self._told(f"{self}: {look}; nothing watches for harm to others here")
                return False
            if look.fastest is not None and look.loss < self.limits.loss:
                fastest.append(look.fastest)
        if 2 * len(fastest) <= looks:
            self._told(f"{self}: pings are lost without any load of ours; nothing watches for harm to others here")
            return False
        self._usual = sorted(fastest)[len(fastest) // 2]
        return True

    async def watch(self) -> None:
        """Look again and again until the alarm rings, or ping is gone. RuntimeError when nobody made it ready."""
        if self._usual is None:
            raise RuntimeError("a canary that was not made ready, expected ready() to have been true")
        slowest = max(self.limits.factor * self._usual, self.limits.floor)
        while not self.alarm.is_set():
            look = await self._look()
            if look == _NO_PING:
                self._told(f"{self}: {look} any more; nothing watches for harm to others from here on")
                return
            self.judge(look, slowest)

    def judge(self, look: Look | str, slowest: float) -> None:
        """Hold one look, or the words why there is none, against the limits."""
        grave = False
        if isinstance(look, str):
            wrong = look
        elif look.loss >= self.limits.loss:
            wrong = f"{look.sent - look.received} of {look.sent} pings lost ({percent(look.loss)})"
            grave = look.loss >= min(2 * self.limits.loss, 1)
        elif look.fastest is not None and look.fastest > slowest:
            usual = duration(self._usual or 0.0)
            wrong = f"the fastest ping took {duration(look.fastest)}, usual are {usual}"
        else:
            wrong = ""
        if wrong and (grave or self._suspect):
            self.because = f"{self}: {wrong}"
            self.alarm.set()
        self._suspect = wrong

    async def _look(self) -> Look | str:
        """One look, or why there is none."""
        try:
            remote = await self._reach.remote(self.here)
            output = await remote.run(command(self.there.data_address), timeout=_PATIENCE)
        except RemoteError as error:
            if error.failure.stage is FailedAt.MISSING_TOOL:
                return _NO_PING
            return f"{self.here.id} cannot be asked ({error.failure.stage}: {error.failure.detail})"
        return parse(output.text) or _complaint(output)

    def __str__(self) -> str:
        return f"canary {self.here.id} to {self.there.id}"


_NO_PING = "ping is not installed (Debian package iputils-ping)"


def _complaint(output: Output) -> str:
    if output.exit_status == 127:
        return _NO_PING
    said = (output.error_text.strip() or output.text.strip() or "nothing").splitlines()[0]
    return f"ping said {said[:200]!r}"
