"""The bounds of a session: its numbers, turns that run out by themselves, the stop after refused logins in a row."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from math import ceil

from benchconsole.probes.model.time_limits import COMMAND_ENDING
from benchconsole.probes.reach.watchdog import SILENCE
from benchconsole.probes.reach.watched_command import OUTPUT_LIMIT, TOTAL_LIMIT


@dataclass(frozen=True, slots=True)
class SshLimits:
    """Seconds, bytes and counts. The defaults were measured to be safe for sshd's own defaults.

    ``connect`` bounds the TCP connection, ``silence`` the same where a network has shown to be fast
    (``probes.reach.ssh.tcp_connect``), ``login`` everything from there to a usable connection.
    ``greeting`` is for the banner of a server that has accepted the connection: one that hangs sends none.
    ``dials`` TCP connections are tried, ``logins`` logged in and ``starts`` commands begun at once, and up to
    ``far_logins`` and ``far_starts`` where the nodes are so far away that we would wait for them, ``behind_jump``
    connections through one jump host. ``channels`` commands share a connection (sshd allows 10), ``connections``
    go to a node. ``retries`` follow a connection that was dropped before any login, ``refusals``
    logins in a row end all trying. While a command runs a keepalive is sent after ``keepalive`` seconds of silence
    (more where many connections are silent), and three without an answer mean that the
    connection is lost; its node then has ``comeback`` seconds to be there again and say why.
    A command that may take long is ended by its node when nothing was heard from us for ``heartbeat`` seconds.
    ``output`` bounds one output stream of a command, ``all_output`` those of all commands of the session that run,
    ``ending`` the time in which a command must have been ended.
    """

    connect: float = 10.0
    silence: float = 3.5
    login: float = 20.0
    greeting: float = 6.0
    dials: int = 64
    logins: int = 24
    far_logins: int = 256
    starts: int = 32
    far_starts: int = 256
    behind_jump: int = 8
    channels: int = 8
    connections: int = 8
    retries: int = 3
    refusals: int = 10
    keepalive: float = 4.0
    comeback: float = 8.0
    heartbeat: float = SILENCE
    output: int = OUTPUT_LIMIT
    all_output: int = TOTAL_LIMIT
    ending: float = COMMAND_ENDING


_LENIENCE = 4
"""Where some nodes accept the login, so many times more refusals in a row mean that it has stopped working."""


@asynccontextmanager
async def _take_turn(
    begin: Callable[[], Awaitable[object]], end: Callable[[], None], patience: float
) -> AsyncIterator[None]:
    """A turn that is given back once: at the end of the context or when its time is over, whichever is first."""
    once = [end]

    def leave() -> None:
        if once:
            once.pop()()

    await begin()
    timer = asyncio.get_running_loop().call_later(patience, leave)
    try:
        yield
    finally:
        timer.cancel()
        leave()


_LOOK = 0.01
"""Seconds between two looks at how busy the event loop is, while somebody waits for a turn."""
_LATE = 0.002
"""Seconds by which a look comes late at most where the loop is idle."""
_IDLE = 0.5
"""Share of the time that the loop works at most where it is idle."""
_GROWTH = 1.5


class Throttle:
    """At most ``turns`` at once; whoever takes longer than ``patience`` seconds waits for others and counts no more.

    Only our own work is throttled. A host that is silent costs none, so it must not hold up the rest. Nor must
    hosts that are far away: while turns are waited for and the event loop is idle, there are more of them, up to
    ``most``. They become ``turns`` again when the loop is not idle, or when nobody waits any more.
    """

    def __init__(self, turns: int, patience: float, most: int = 0) -> None:
        self._turns = self.now = turns
        self._most = max(most, turns)
        self._patience = patience
        self._taken = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._worked = 0.0
        self._looks = False

    @property
    def is_full(self) -> bool:
        """Whether somebody who asks now has to wait."""
        return self._taken >= self.now

    def turn(self) -> AbstractAsyncContextManager[None]:
        return _take_turn(self._begin, self._end, self._patience)

    async def take_brief_turn(self) -> None:
        """A turn for what is done without waiting: it is given back when the event loop has looked at others."""
        await self._begin()
        asyncio.get_running_loop().call_soon(self._end)

    async def _begin(self) -> None:
        if not (self.is_full or self._queue):
            self._taken += 1
            return
        if self._most > self._turns and not self._looks:
            self._look_later()
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was given all the same
                self._end()
            raise

    def _end(self) -> None:
        self._taken -= 1
        self._give()

    def _give(self) -> None:
        while self._queue and not self.is_full:
            turn = self._queue.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)

    def _look_later(self) -> None:
        self._looks, self._worked = True, time.thread_time()
        loop = asyncio.get_running_loop()
        loop.call_later(_LOOK, self._look, loop.time() + _LOOK)

    def _look(self, due: float) -> None:
        """More turns where the loop was idle, as many as at first where it was not or nobody waits."""
        late = asyncio.get_running_loop().time() - due
        is_idle = late <= _LATE and time.thread_time() - self._worked <= _IDLE * (late + _LOOK)
        self._looks = False
        self.now = min(ceil(self.now * _GROWTH), self._most) if is_idle and self._queue else self._turns
        self._give()
        if self._queue:
            self._look_later()


async def run_bounded(works: Iterable[Callable[[], Awaitable[None]]], at_once: int) -> None:
    """Do all, at most ``at_once`` at a time; an error ends the others."""
    free = asyncio.Semaphore(at_once)

    async def work_one(work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        finally:
            free.release()

    async with asyncio.TaskGroup() as group:
        for work in works:
            await free.acquire()
            group.create_task(work_one(work))


class LoginsStoppedError(Exception):
    """Too many logins in a row were refused for another to be tried."""


class LoginBreaker:
    """Stops logging in when ``limit`` logins in a row were refused and none was ever accepted.

    Until the first is accepted no more than ``limit`` are under way, so that no more are refused either;
    those that hang for ``patience`` seconds are not waited for. Where some were accepted it takes
    several times as many: a rack without our key must not hide the next.
    """

    def __init__(self, limit: int, patience: float) -> None:
        self._limit = limit
        self._patience = patience
        self._under_way = 0
        self._in_a_row = 0
        self._has_accepted = False
        self._changed = asyncio.Event()

    def begin_login(self) -> AbstractAsyncContextManager[None]:
        """A context to log in inside; LoginsStoppedError when it is no use."""
        self.require_use()
        return nullcontext() if self._has_accepted else _take_turn(self._begin, self._end, self._patience)

    async def _begin(self) -> None:
        while not self._has_accepted and self._under_way + self._in_a_row >= self._limit:
            self._changed.clear()
            await self._changed.wait()
            self.require_use()
        self._under_way += 1

    def _end(self) -> None:
        self._under_way -= 1
        self._changed.set()

    def note_accepted(self) -> None:
        self._has_accepted = True
        self._in_a_row = 0
        self._changed.set()

    def note_refused(self) -> None:
        self._in_a_row += 1

    def require_use(self) -> None:
        """LoginsStoppedError when another login is no use."""
        bound = self._limit * (_LENIENCE if self._has_accepted else 1)
        if self._in_a_row >= bound:
            others = "" if self._has_accepted else " and none accepted it"
            raise LoginsStoppedError(f"not tried: {self._in_a_row} nodes in a row refused the login{others}")
