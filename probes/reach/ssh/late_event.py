"""An event that is cheap while nobody waits for it.

asyncssh has two events for every connection, which tell their end and for which hardly anybody waits. Of asyncio each
is 0.8 kB, most of it the queue of those who wait.
"""

import asyncio
from typing import Any, cast


class LateEvent:
    """``asyncio.Event`` that can only be set; what waits is made when somebody waits."""

    __slots__ = ("_is_set", "_waiting")

    def __init__(self, *, is_set: bool = False) -> None:
        self._is_set = is_set
        self._waiting: asyncio.Event | None = None

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        if self._waiting is not None:
            self._waiting.set()

    async def wait(self) -> bool:
        """Wait until it is set."""
        if not self._is_set:
            if self._waiting is None:
                self._waiting = asyncio.Event()
            await self._waiting.wait()
        return True


def replace_close_event(owner: object) -> None:
    """Give a connection or channel of asyncssh that nobody waits for yet a cheap event of its end."""
    closing = cast("Any", owner)
    closing._close_event = LateEvent(is_set=closing._close_event.is_set())  # noqa: SLF001 - asyncssh offers no other way
