"""Owns the one thread that writes: work goes in, a future comes out, done means committed.

It opens its connection at the first work, does one piece after the other, each in a
transaction of its own, and notes between them that this process lives. Refuses to know what
the work is.
"""

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from store.database import Database
from store.errors import StoreError

T = TypeVar("T")
_Piece = Callable[[], None]


class Writer:
    """A thread with a connection. ``beat`` runs in a transaction after ``pause`` seconds without work."""

    def __init__(self, database: Database, *, beat: Callable[[sqlite3.Connection], None], pause: float) -> None:
        self._database = database
        self._beat = beat
        self._pause = pause
        self._pieces: queue.SimpleQueue[_Piece | None] = queue.SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._door = threading.Lock()
        self._closed = False
        # A daemon: a console that crashes must not hang on it, and what it had not finished is
        # undone by SQLite and was not acknowledged.
        self._thread = threading.Thread(target=self._run, name="benchconsole-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> "Future[T]":
        """Do ``work`` in a transaction, after all that was submitted before.

        The future has the answer once it is committed, or the StoreError of a transaction that
        was undone whole. StoreError at once when the writer was closed.
        """
        future: Future[T] = Future()

        def piece() -> None:
            try:
                answer = self._do(work)
            except BaseException as error:  # a worker's edge: whoever waits must hear of it
                future.set_exception(error)
            else:
                future.set_result(answer)

        with self._door:
            if self._closed:
                raise StoreError("the store was closed", "open it again", self._database.path)
            self._pieces.put(piece)
        return future

    def close(self) -> None:
        """Finish what was submitted and end the thread. Twice is once."""
        with self._door:
            if not self._closed:
                self._closed = True
                self._pieces.put(None)
        self._thread.join()

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._database.writer()
        with self._database.transaction(self._connection):
            return work(self._connection)

    def _run(self) -> None:
        while True:
            try:
                piece = self._pieces.get(timeout=self._pause)
            except queue.Empty:
                # What is wrong with the database will be heard at the next write.
                with suppress(StoreError):
                    self._do(self._beat)
                continue
            if piece is None:
                break
            piece()
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
