"""The one thread that writes: jobs go in, answers come out, and an answer means committed.

Everything that waits goes into one transaction, each job inside a savepoint of its own, so that
a job that is refused fails alone. Commits take a fifth of the time at most: while one is on its
way and for a while after, at most 50 ms, results gather. Between them the thread notes that this
process lives, and looks whether the file is still in its place.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from benchconsole.store.errors import StoreError
from benchconsole.store.files.connection import concerns_file, make_error, savepoint
from benchconsole.store.files.database import Database
from benchconsole.store.sqlite import Connection, SqliteError
from benchconsole.store.writing.round_rows import append_results
from benchconsole.store.writing.write_cache import WriteCache
from benchconsole.store.writing.write_queue import FunctionJob, Loop, ResultJob, WriteJob, WriteQueue, call_in_loop
from benchconsole.topology.grouping import group_by_key

GATHER_SECONDS = 0.05
"""A result waits so long for others at most."""

LOOK_SECONDS = 2.0
"""So often an idle writer looks whether the database is still where it was."""

T = TypeVar("T")


class Writer:
    """A thread with a connection; both begin with the first job, so that a console that only reads has neither.

    ``beat`` runs in a transaction every ``pause`` seconds. ``alarm`` is called in the thread when the file
    has left its place, and with None when it is back.
    """

    def __init__(
        self,
        database: Database,
        make_cache: Callable[[Connection], WriteCache],
        *,
        beat: Callable[[WriteCache], None],
        pause: float,
        alarm: Callable[[StoreError | None], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._make_cache = make_cache
        self._beat = beat
        self._pause = pause
        self._alarm = alarm
        self._missing: StoreError | None = None
        self._last_beat = 0.0
        self._queue = WriteQueue()
        self._cache: WriteCache | None = None
        self._thread: threading.Thread | None = None

    async def run(self, function: Callable[[WriteCache], T]) -> T:
        """``do`` with a function as the job."""
        return await self.do(FunctionJob(function))

    async def do(self, job: WriteJob[T]) -> T:
        """The answer to ``job`` once it is committed; waits while too much is on its way already.

        StoreError of a job that was refused, or of a transaction that was undone whole. A job
        that was handed over is carried out even when its caller is cancelled.
        """
        if self._database.read_only is not None:
            raise self._database.read_only
        if self._thread is None:
            self._last_beat = time.monotonic()
            # A daemon: a console that crashes must not hang on it, and SQLite undoes its unfinished
            # transaction, of which nothing was acknowledged.
            self._thread = threading.Thread(target=self._work, name="benchconsole-writer", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        job.waiter = loop.create_future()
        while (room := self._put(job, loop)) is not None:
            await room
        return await job.waiter

    def close(self, last: WriteJob[None]) -> None:
        """Hand over a job that nobody waits for, finish everything and end the thread. Twice is once."""
        if self._thread is not None:
            with suppress(StoreError):
                self._put(last, None)
        self._queue.close()
        if self._thread is not None:
            self._thread.join()

    def _put(self, job: WriteJob[T], loop: Loop | None) -> "asyncio.Future[None] | None":
        try:
            return self._queue.put(job, loop)
        except ValueError as error:
            raise StoreError("the store was closed", "open it again", self._database.path) from error

    # -- in the thread

    def _work(self) -> None:
        idle = min(LOOK_SECONDS, self._pause)
        while (group := self._queue.take(idle)) is not None:
            began = time.monotonic()
            if group:
                self._commit(group)
                self._queue.rest(min(GATHER_SECONDS, 4 * (time.monotonic() - began)))
            elif self._cache is not None:
                self._look()
        if self._cache is not None:
            with suppress(SqliteError):
                self._database.close_writer(self._cache.connection)

    def _look(self) -> None:
        """Raise the alarm for a file that has left its place, and beat. Other faults show at the next write."""
        try:
            self._database.require_in_place()
        except StoreError as error:
            if self._missing is None:
                self._missing = error
                self._raise_alarm(error)
            return
        if self._missing is not None:
            self._missing = None
            self._raise_alarm(None)
        if time.monotonic() - self._last_beat >= self._pause:
            self._commit([])

    def _raise_alarm(self, error: StoreError | None) -> None:
        with suppress(Exception):  # a fault of the listener must not end this thread
            self._alarm(error)

    def _commit(self, group: list[WriteJob[Any]]) -> None:
        """Carry out a group in one transaction, then give every caller its answer or error."""
        if self._cache is None:  # nothing was written, and the file may be locked or damaged
            group = [job for job in group if not job.last]
            if not group:
                return
        for job in group:
            if isinstance(job, ResultJob):
                self._attempt(job, job.prepare, None)
        try:
            if self._cache is None:
                self._cache = self._make_cache(self._database.open_writer())
            with self._database.transaction(self._cache.connection):
                self._cache.begin_transaction()
                self._run_jobs(group, self._cache)
                if time.monotonic() - self._last_beat >= self._pause:
                    self._beat(self._cache)
                    self._last_beat = time.monotonic()
        except Exception as error:  # the edge of a thread: every caller must hear of it
            if self._cache is not None:
                self._cache.forget()
            for job in group:
                job.error = job.error or error
        waited = group_by_key((job.waiter.get_loop(), job) for job in group if job.waiter is not None)
        for loop, jobs in waited.items():
            call_in_loop(loop, _set_answers, jobs)

    def _run_jobs(self, group: Sequence[WriteJob[Any]], cache: WriteCache) -> None:
        waiting = (job for job in group if job.error is None)
        for kind, jobs_of_kind in groupby(waiting, key=type):
            jobs: list[Any] = list(jobs_of_kind)
            if kind is ResultJob and self._run_together(jobs, cache):
                continue
            for job in jobs:
                if job.error is None:
                    self._run_alone(job, cache)

    def _run_together(self, jobs: Sequence[ResultJob], cache: WriteCache) -> bool:
        """Whether these results could be written at once; nothing of them is written where they could not."""
        for job in jobs:
            self._attempt(job, partial(job.check, cache), cache)
        try:
            with savepoint(cache.connection):
                append_results(cache, [(job.attempt, job.rows) for job in jobs if job.error is None])
        except (SqliteError, StoreError) as error:
            if concerns_file(error, cache.connection):
                raise
            cache.forget()
            return False
        return True

    def _run_alone(self, job: WriteJob[Any], cache: WriteCache) -> None:
        def run() -> None:
            with savepoint(cache.connection):
                job.answer = job.run(cache)

        self._attempt(job, run, cache)
        if job.error is not None:
            cache.forget()

    def _attempt(self, job: WriteJob[Any], part: Callable[[], None], cache: WriteCache | None) -> None:
        """Do a part of one job; its error is the error of that job, unless the file is at fault."""
        try:
            part()
        except Exception as error:  # whatever it is, the others go on
            if cache is not None and concerns_file(error, cache.connection):
                raise
            job.error = make_error(error, self._database.path) if isinstance(error, SqliteError) else error


def _set_answers(jobs: Sequence[WriteJob[Any]]) -> None:
    for job in jobs:
        if job.waiter is None or job.waiter.done():
            continue
        if job.error is not None:
            job.waiter.set_exception(job.error)
        else:
            job.waiter.set_result(job.answer)
