"""Owns what waits for the writer: bounded, in order, and handed out in groups.

Whoever finds it full waits in its own event loop until there is room. Refuses to know what the
pieces do.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

GROUP = 500
"""So many pieces go into one transaction at most."""

PIECES, BYTES = 4 * GROUP, 64 * 2**20
"""So much may wait: enough that the writer never starves, little enough that memory stays where it is."""

Loop = asyncio.AbstractEventLoop


class Waits(Protocol):
    """What the inbox asks of a piece: how many bytes it holds, and whether others are not to be waited for."""

    @property
    def size(self) -> int: ...
    @property
    def urgent(self) -> bool: ...


P = TypeVar("P", bound=Waits)


class Inbox(Generic[P]):
    """Pieces on their way to one writer. Any thread may put, one takes."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pieces: deque[P] = deque()
        self._bytes = 0
        self._urgent = 0
        self._closed = False
        self._not_before = 0.0
        self._waiting: list[tuple[Loop, asyncio.Future[None]]] = []

    def put(self, piece: P, loop: Loop | None = None) -> "asyncio.Future[None] | None":
        """Hand ``piece`` over (None), or say when to try again; ValueError once it is closed.

        Without a ``loop`` nobody can wait, and the piece goes in however full it is.
        """
        with self._changed:
            if self._closed:
                raise ValueError("closed")
            if loop is not None and self._full(piece):
                room: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, room))
                return room
            self._pieces.append(piece)
            self._bytes += piece.size
            self._urgent += piece.urgent
            if piece.urgent or len(self._pieces) in (1, GROUP):
                self._changed.notify()
        return None

    def _full(self, piece: P) -> bool:
        return bool(self._pieces) and (len(self._pieces) >= PIECES or self._bytes + piece.size > BYTES)

    def take(self, patience: float) -> list[P] | None:
        """Up to GROUP pieces, waited for ``patience`` seconds (then none); None once closed and empty.

        Before the time that ``rest`` has set, only a full group or an urgent piece is handed out.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or self._closed, patience)
            if not self._pieces:
                return None if self._closed else []
            while not (self._urgent or self._closed or len(self._pieces) >= GROUP):
                left = self._not_before - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            group = [self._pieces.popleft() for _ in range(min(GROUP, len(self._pieces)))]
            self._bytes -= sum(piece.size for piece in group)
            self._urgent -= sum(piece.urgent for piece in group)
            waiting, self._waiting = self._waiting, []
        for loop, room in waiting:
            call(loop, wake, room)
        return group

    def rest(self, seconds: float) -> None:
        """Let pieces gather for so long before the next group, unless it is full or urgent."""
        with self._changed:
            self._not_before = time.monotonic() + seconds

    def close(self) -> None:
        """Take nothing more; what is in it is still handed out."""
        with self._changed:
            self._closed = True
            self._changed.notify()


def call(loop: Loop, what: "Callable[..., object]", *arguments: object) -> None:
    """Run something in a loop from another thread; a loop that is gone has nobody left who waits."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(what, *arguments)


def wake(waiter: "asyncio.Future[None]") -> None:
    """End a wait that nobody has given up."""
    if not waiter.done():
        waiter.set_result(None)
