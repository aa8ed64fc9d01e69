"""Jobs for the writer: each with its answer or error, and the future that waits for it."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from benchconsole.probes.model.measuring import Result
from benchconsole.store.codec.result_rows import estimate_size, make_result_rows
from benchconsole.store.errors import ConflictError
from benchconsole.store.writing.round_rows import append_results
from benchconsole.store.writing.write_cache import WriteCache

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
        """Call it."""
        return self._function(cache)


class ResultJob(WriteJob[None]):
    """Write one result of an attempt that runs: with its neighbours in the queue, or alone where one is refused.

    An error of ``prepare`` or ``check`` is the error of this job only.
    """

    urgent = False

    def __init__(self, session: str, round_number: int, attempt: int, result: Result) -> None:
        super().__init__()
        self.size = estimate_size(result)
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
        """Write it alone."""
        self.check(cache)
        append_results(cache, [(self.attempt, self.rows)])
