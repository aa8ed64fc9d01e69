"""A thread with an event loop of its own, in which a session runs apart from the screen.

Orders and questions cross by thread-safe calls, answers and exceptions come back the same way. The screen's loop never
waits for SSH, for judging or for views; the two share the interpreter, in turns that are short enough for a key.
"""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

from benchconsole.console.session.collector import tune_collector

T = TypeVar("T")

TURN_SECONDS = 0.0005
"""How long this thread may keep the interpreter from the screen; Python's own 5 ms make a key wait for several."""


class LoopThreadEndedError(RuntimeError):
    """Something was asked of a thread that has ended."""


class LoopThread:
    """Starts with the first thing that it is asked, ends with ``close``. Safe to use from any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._door = threading.Lock()
        self._is_closed = False
        self._turn = sys.getswitchinterval()

    def submit(self, work: Callable[[], Awaitable[T]]) -> "Future[T]":
        """Begin ``work`` in the thread; the future has its answer or its exception, and cancelling it cancels it."""

        async def begun() -> T:
            return await work()

        loop = self._started()
        return asyncio.run_coroutine_threadsafe(begun(), loop)

    async def ask(self, work: Callable[[], Awaitable[T]]) -> T:
        """Wait on another loop for what ``work`` gives in the thread; who stops waiting stops the work."""
        return await asyncio.wrap_future(self.submit(work))

    async def call(self, function: Callable[[], T]) -> T:
        """Wait on another loop for what a plain function gives in the thread."""

        async def called() -> T:
            return function()

        return await self.ask(called)

    def close(self, seconds: float = 5.0) -> bool:
        """Cancel what still runs, wait at most ``seconds`` for its end and end the thread; whether it has ended."""
        with self._door:
            self._is_closed = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return True
        sys.setswitchinterval(self._turn)
        if thread.is_alive():
            loop.call_soon_threadsafe(loop.stop)
            thread.join(seconds)
        return not thread.is_alive()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._door:
            if self._is_closed:
                raise LoopThreadEndedError("the thread of the session has ended")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._run, args=(self._loop,), name="engine", daemon=True)
                sys.setswitchinterval(TURN_SECONDS)
                tune_collector()
                self._thread.start()
            return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()
