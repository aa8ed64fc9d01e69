"""Owns what is handed to the writer: pieces of work, each with whoever waits for its answer.

Refuses to know threads and transactions (``store.writer``).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from store.ledger import Ledger

T = TypeVar("T")


class Piece(ABC, Generic[T]):
    """One piece of work and what became of it. ``waiter`` hears of it in its loop; None: nobody does."""

    __slots__ = ("answer", "error", "waiter")
    size = 1000
    urgent = True

    def __init__(self) -> None:
        self.waiter: asyncio.Future[T] | None = None
        self.answer: T | None = None
        self.error: BaseException | None = None

    @abstractmethod
    def run(self, ledger: Ledger) -> T:
        """Do it, behind a savepoint."""


class Work(Piece[T]):
    """Any function."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[Ledger], T]) -> None:
        super().__init__()
        self._function = function

    def run(self, ledger: Ledger) -> T:
        """Call it."""
        return self._function(ledger)


class Parting(Work[None]):
    """What is done on leaving a file that was written to; nothing, where it was not."""

    __slots__ = ()


class Row(Piece[None]):
    """A piece that is written together with its neighbours of the same kind, or alone where one of them is refused.

    Whatever ``prepare`` and ``check`` raise is this piece's own.
    """

    __slots__ = ()
    urgent = False

    @abstractmethod
    def prepare(self) -> None:
        """What can be done outside the transaction."""

    @abstractmethod
    def check(self, ledger: Ledger) -> None:
        """What can be told before anything is written."""

    @classmethod
    @abstractmethod
    def together(cls, ledger: Ledger, rows: Sequence[Any]) -> None:
        """Write all of ``rows``; sqlite3.Error or StoreError when one of them cannot be."""

    def run(self, ledger: Ledger) -> None:
        """Write it alone."""
        self.check(ledger)
        self.together(ledger, [self])
