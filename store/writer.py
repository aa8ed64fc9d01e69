"""Owns the one thread that writes: work goes in, an answer comes out, answered means committed.

Everything that waits goes into one transaction, each piece behind a savepoint of its own, so that
a piece that is refused fails alone. Commits take a fifth of the time at most: while one is on its
way and for a while after, at most 50 ms, results gather. Between them the thread notes that this
process lives, and looks whether the file is still in its place. Refuses to know what the work is.
"""

import asyncio
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from store.connection import fault, of_the_file, savepoint
from store.database import Database
from store.errors import StoreError
from store.inbox import Inbox, Loop, call
from store.ledger import Ledger
from store.pieces import Parting, Piece, Row

GATHER_SECONDS = 0.05
"""A result waits so long for others at most."""

LOOK_SECONDS = 2.0
"""So often an idle writer looks whether the database is still where it was."""

T = TypeVar("T")


class Writer:
    """A thread with a connection. ``beat`` runs in a transaction every ``pause`` seconds, ``alarm`` in the thread."""

    def __init__(
        self,
        database: Database,
        ledger: Callable[[sqlite3.Connection], Ledger],
        *,
        beat: Callable[[Ledger], None],
        pause: float,
        alarm: Callable[[StoreError | None], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._make = ledger
        self._beat = beat
        self._pause = pause
        self._alarm = alarm
        self._missing: StoreError | None = None
        self._beaten = time.monotonic()
        self._inbox: Inbox[Piece[Any]] = Inbox()
        self._ledger: Ledger | None = None
        # A daemon: a console that crashes must not hang on it, and what it had not finished is
        # undone by SQLite and was not acknowledged.
        self._thread = threading.Thread(target=self._live, name="benchconsole-writer", daemon=True)
        self._thread.start()

    async def do(self, piece: Piece[T]) -> T:
        """The answer to ``piece`` once it is committed; waits while too much is on its way already.

        StoreError of a piece that was refused, or of a transaction that was undone whole. A piece
        that was handed over is carried out even when whoever waits is cancelled.
        """
        loop = asyncio.get_running_loop()
        piece.waiter = loop.create_future()
        while (room := self._put(piece, loop)) is not None:
            await room
        return await piece.waiter

    def last(self, piece: Parting) -> None:
        """Hand over what nobody waits for, finish everything and end the thread. Twice is once."""
        with suppress(StoreError):
            self._put(piece, None)
        self._inbox.close()
        self._thread.join()

    def _put(self, piece: Piece[T], loop: Loop | None) -> "asyncio.Future[None] | None":
        try:
            return self._inbox.put(piece, loop)
        except ValueError as error:
            raise StoreError("the store was closed", "open it again", self._database.path) from error

    # -- in the thread

    def _live(self) -> None:
        patience = min(LOOK_SECONDS, self._pause)
        while (group := self._inbox.take(patience)) is not None:
            began = time.monotonic()
            if group:
                self._group(group)
                self._inbox.rest(min(GATHER_SECONDS, 4 * (time.monotonic() - began)))
            elif self._ledger is not None:
                self._look()
        if self._ledger is not None:
            with suppress(sqlite3.Error):
                self._database.let_go(self._ledger.connection)

    def _look(self) -> None:
        """What an idle writer does. What is wrong with the database will be heard at the next write."""
        try:
            self._database.require_in_place()
        except StoreError as error:
            if self._missing is None:
                self._missing = error
                self._tell_of(error)
            return
        if self._missing is not None:
            self._missing = None
            self._tell_of(None)
        if time.monotonic() - self._beaten >= self._pause:
            self._group([])

    def _tell_of(self, error: StoreError | None) -> None:
        with suppress(Exception):  # whatever is wrong with who listens, this thread must go on writing
            self._alarm(error)

    def _group(self, group: list[Piece[Any]]) -> None:
        """Carry out a group in one transaction and tell whoever waits what became of each piece."""
        if self._ledger is None:  # there is nothing to part from, and the file may be locked or damaged
            group = [piece for piece in group if not isinstance(piece, Parting)]
            if not group:
                return
        for piece in group:
            if isinstance(piece, Row):
                self._own(piece, piece.prepare, None)
        try:
            ledger = self._ready()
            with self._database.transaction(ledger.connection):
                ledger.turn()
                self._carry_out(group, ledger)
                if time.monotonic() - self._beaten >= self._pause:
                    self._beat(ledger)
                    self._beaten = time.monotonic()
        except Exception as error:  # a worker's edge: whoever waits must hear of it
            if self._ledger is not None:
                self._ledger.forget()
            for piece in group:
                piece.error = piece.error or error
        self._tell(group)

    def _ready(self) -> Ledger:
        if self._ledger is None:
            self._ledger = self._make(self._database.writer())
        return self._ledger

    def _carry_out(self, group: Sequence[Piece[Any]], ledger: Ledger) -> None:
        waiting = (piece for piece in group if piece.error is None)
        for kind, found in groupby(waiting, key=type):
            pieces = list(found)
            if issubclass(kind, Row) and self._together(kind, pieces, ledger):
                continue
            for piece in pieces:
                self._alone(piece, ledger)

    def _together(self, kind: type[Row], pieces: Sequence[Any], ledger: Ledger) -> bool:
        """Whether a run of rows could be written at once; nothing of it is written where it could not."""
        for piece in pieces:
            self._own(piece, partial(piece.check, ledger), ledger)
        try:
            with savepoint(ledger.connection):
                kind.together(ledger, [piece for piece in pieces if piece.error is None])
        except (sqlite3.Error, StoreError) as error:
            if of_the_file(error, ledger.connection):
                raise
            ledger.forget()
            return False
        return True

    def _alone(self, piece: Piece[Any], ledger: Ledger) -> None:
        if piece.error is not None:
            return

        def part() -> None:
            with savepoint(ledger.connection):
                piece.answer = piece.run(ledger)

        self._own(piece, part, ledger)
        if piece.error is not None:
            ledger.forget()

    def _own(self, piece: Piece[Any], part: Callable[[], None], ledger: Ledger | None) -> None:
        """Do a part of one piece; what it raises is for whoever waits for that piece, unless the file is at fault."""
        try:
            part()
        except Exception as error:  # whatever it is, the others go on
            if ledger is not None and of_the_file(error, ledger.connection):
                raise
            piece.error = fault(error, self._database.path) if isinstance(error, sqlite3.Error) else error

    @staticmethod
    def _tell(group: Sequence[Piece[Any]]) -> None:
        by_loop: defaultdict[Loop, list[Piece[Any]]] = defaultdict(list)
        for piece in group:
            if piece.waiter is not None:
                by_loop[piece.waiter.get_loop()].append(piece)
        for loop, pieces in by_loop.items():
            call(loop, _answer, pieces)


def _answer(pieces: Sequence[Piece[Any]]) -> None:
    for piece in pieces:
        if piece.waiter is None or piece.waiter.done():
            continue
        if piece.error is not None:
            piece.waiter.set_exception(piece.error)
        else:
            piece.waiter.set_result(piece.answer)
