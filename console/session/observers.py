"""Observers of a session: whoever is told its events, one after the other, on its event loop."""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from benchconsole.console.view.events import Event


class SessionObserver(Protocol):
    """Is told each event of a session. What an event says is stored by then, where it is to be stored."""

    def notify(self, event: Event) -> None:
        """Take note of what happened; called on the event loop of the session, and never to wait there."""


class SessionObservers:
    """Everybody who observes one session, told in the order in which they were added."""

    def __init__(self, *observers: SessionObserver) -> None:
        self._observers = list(observers)

    def add(self, observer: SessionObserver) -> None:
        """Tell ``observer`` what happens from now on."""
        self._observers.append(observer)

    def notify(self, event: Event) -> None:
        """Tell everybody."""
        for observer in self._observers:
            observer.notify(event)


class EventQueue:
    """Keeps events until somebody iterates over them, without end."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event] = asyncio.Queue()

    def notify(self, event: Event) -> None:
        """Keep ``event``."""
        self._queue.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            yield await self._queue.get()
