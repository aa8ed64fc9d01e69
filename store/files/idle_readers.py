"""Connections that wait for the next question: to open one costs more than most questions."""

from collections import deque
from pathlib import Path

from benchconsole.store.files.filesystem import identity
from benchconsole.store.sqlite import Connection

MOST_IDLE = 4
"""More questions at once are rare: threads of a screen."""


class IdleReaders:
    """Connections to one file, without statement or transaction. Any thread may take and give back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: deque[tuple[tuple[int, int] | None, Connection]] = deque()

    def take(self) -> Connection | None:
        """One to the file that has the name now, None where there is none; those to another file are closed."""
        now = identity(self._path)
        while (idle := self._pop()) is not None:
            file, connection = idle
            if file == now:
                return connection
            connection.close()
        return None

    def give_back(self, connection: Connection, file: tuple[int, int] | None) -> None:
        """Keep a connection to ``file`` for the next question, unless enough are waiting."""
        if len(self._idle) >= MOST_IDLE:
            connection.close()
        else:
            self._idle.append((file, connection))

    def close(self) -> None:
        """Close those that wait; twice is once."""
        while (idle := self._pop()) is not None:
            idle[1].close()

    def _pop(self) -> tuple[tuple[int, int] | None, Connection] | None:
        try:
            return self._idle.pop()
        except IndexError:  # other threads take, too, so there is no asking first
            return None
