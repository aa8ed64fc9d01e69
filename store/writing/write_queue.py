"""Jobs for the writer, and the queue in front of it: bounded, in order, and handed out in groups.

A caller that finds it full waits in its own event loop until there is room.
"""

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from benchconsole.probes.model.measuring import Result
from benchconsole.store.codec.rows import make_result_rows
from benchconsole.store.errors import ConflictError
from benchconsole.store.writing.round_rows import append_results
from benchconsole.store.writing.write_cache import WriteCache

GROUP = 500
"""At most this many jobs go into one transaction."""

MAX_JOBS, MAX_BYTES = 4 * GROUP, 64 * 2**20
"""At most this much may wait: enough that the writer never starves, little enough that memory does not grow."""

Loop = asyncio.AbstractEventLoop
T = TypeVar("T")


class WriteJob(ABC, Generic[T]):
    """One job, and its answer or error. ``waiter`` gets either in its own loop; None: nobody waits.

    ``size`` is about how many bytes it holds; an ``urgent`` job is not kept back so that others gather. The job that
    is ``last`` before a file is closed is dropped where nothing was written to the file.
    """

    size = 1000
    urgent = True
    last = False

    def __init__(self) -> None:
        self.waiter: asyncio.Future[T] | None = None
        self.answer: T | None = None
        self.error: BaseException | None = None

    @abstractmethod
    def run(self, cache: WriteCache) -> T:
        """Do it, inside a savepoint."""


class FunctionJob(WriteJob[T]):
    """Any function."""

    def __init__(self, function: Callable[[WriteCache], T], *, last: bool = False) -> None:
        super().__init__()
        self._function = function
        self.last = last

    def run(self, cache: WriteCache) -> T:
        return self._function(cache)


class ResultJob(WriteJob[None]):
    """Write one result of an attempt that runs: with its neighbours in the queue, or alone where one is refused.

    An error of ``prepare`` or ``check`` is the error of this job only.
    """

    urgent = False

    def __init__(self, session: str, round_number: int, attempt: int, result: Result) -> None:
        super().__init__()
        self.size = 1000 + sum(len(output.stdout) + len(output.stderr) for output in result.outputs)
        self._key = (session, round_number, attempt)
        self._result = result

    def prepare(self) -> None:
        """Turn the result into rows, outside the transaction."""
        self.rows = make_result_rows(self._result)

    def check(self, cache: WriteCache) -> None:
        """Require that the session is driven here and the attempt runs, without this result."""
        session, round_number, attempt = self._key
        self.attempt = cache.require_open(cache.require_driven(session), round_number, attempt)
        if self.attempt.find_test(self.rows.test) in self.attempt.stored:  # a repetition is never counted twice
            raise ConflictError(
                f"the result of test {self.rows.test} is stored already", "report this as a fault of the runner"
            )

    def run(self, cache: WriteCache) -> None:
        self.check(cache)
        append_results(cache, [(self.attempt, self.rows)])


class WriteQueue:
    """Jobs on their way to one writer. Any thread may put, one takes."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._jobs: deque[WriteJob[Any]] = deque()
        self._bytes = 0
        self._urgent = 0
        self._closed = False
        self._not_before = 0.0
        self._waiting: list[tuple[Loop, asyncio.Future[None]]] = []

    def put(self, job: WriteJob[Any], loop: Loop | None = None) -> "asyncio.Future[None] | None":
        """Hand ``job`` over (None), or give a future to wait for before the next try; ValueError once it is closed.

        Without a ``loop`` nobody can wait, and the job goes in however full it is.
        """
        with self._changed:
            if self._closed:
                raise ValueError("closed")
            is_full = len(self._jobs) >= MAX_JOBS or self._bytes + job.size > MAX_BYTES
            if loop is not None and self._jobs and is_full:
                room: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, room))
                return room
            self._jobs.append(job)
            self._bytes += job.size
            self._urgent += job.urgent
            if job.urgent or len(self._jobs) in (1, GROUP):
                self._changed.notify()
        return None

    def take(self, seconds: float) -> list[WriteJob[Any]] | None:
        """Up to GROUP jobs, waited for ``seconds`` at most (then none); None once closed and empty.

        Before the time that ``rest`` has set, only a full group or an urgent job is handed out.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed, seconds)
            if not self._jobs:
                return None if self._closed else []
            while not (self._urgent or self._closed or len(self._jobs) >= GROUP):
                remaining = self._not_before - time.monotonic()
                if remaining <= 0:
                    break
                self._changed.wait(remaining)
            group = [self._jobs.popleft() for _ in range(min(GROUP, len(self._jobs)))]
            self._bytes -= sum(job.size for job in group)
            self._urgent -= sum(job.urgent for job in group)
            waiting, self._waiting = self._waiting, []
        for loop, room in waiting:
            call_in_loop(loop, _wake, room)
        return group

    def rest(self, seconds: float) -> None:
        """Let jobs gather for so long before the next group, unless it is full or urgent."""
        with self._changed:
            self._not_before = time.monotonic() + seconds

    def close(self) -> None:
        """Take nothing more; the jobs in it are still handed out."""
        with self._changed:
            self._closed = True
            self._changed.notify()


def call_in_loop(loop: Loop, function: "Callable[..., object]", *arguments: object) -> None:
    """Run a function in a loop from another thread; in a closed loop nobody waits any more."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *arguments)


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():  # it may have been cancelled
        waiter.set_result(None)
