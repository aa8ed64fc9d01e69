"""Jobs for the writer: each with its answer or error, and the future that waits for it."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from benchconsole.store.writing.write_cache import WriteCache

T = TypeVar("T")


class WriteJob(ABC, Generic[T]):
    """One job, and its answer or error. ``waiter`` gets either in its own loop; None: nobody waits.

    ``size`` is about how many bytes it holds; an ``urgent`` job is not kept back so that others gather.
    """

    __slots__ = ("answer", "error", "waiter")
    size = 1000
    urgent = True

    def __init__(self) -> None:
        self.waiter: asyncio.Future[T] | None = None
        self.answer: T | None = None
        self.error: BaseException | None = None

    @abstractmethod
    def run(self, cache: WriteCache) -> T:
        """Do it, inside a savepoint."""


class FunctionJob(WriteJob[T]):
    """Any function."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[WriteCache], T]) -> None:
        super().__init__()
        self._function = function

    def run(self, cache: WriteCache) -> T:
        """Call it."""
        return self._function(cache)


class ClosingJob(FunctionJob[None]):
    """The last job before a file is closed; it is dropped where nothing was written to the file."""

    __slots__ = ()


class RowJob(WriteJob[None]):
    """A job that is written together with its neighbours of the same class, or alone where one of them is refused.

    An error of ``prepare`` or ``check`` is the error of this job only.
    """

    __slots__ = ()
    urgent = False

    @abstractmethod
    def prepare(self) -> None:
        """Do all that can be done outside the transaction."""

    @abstractmethod
    def check(self, cache: WriteCache) -> None:
        """Raise the errors that can be known before anything is written."""

    @classmethod
    @abstractmethod
    def write_group(cls, cache: WriteCache, jobs: Sequence[Any]) -> None:
        """Write all of ``jobs``; sqlite3.Error or StoreError when one of them cannot be."""

    def run(self, cache: WriteCache) -> None:
        """Write it alone."""
        self.check(cache)
        self.write_group(cache, [self])
