"""The engine: answers and exceptions cross threads, and closing it ends what runs, in order and in time."""

import asyncio
import threading

import pytest

from benchconsole.console.session.loop_thread import LoopThread, LoopThreadEndedError


async def thread_of() -> str:
    return threading.current_thread().name


async def test_work_runs_in_a_thread_of_its_own_and_its_answer_comes_back() -> None:
    engine = LoopThread()
    assert await engine.ask(thread_of) == "engine"
    assert await engine.call(lambda: threading.current_thread().name) == "engine"
    assert threading.current_thread().name != "engine"
    assert engine.close()


async def test_exceptions_come_back_with_their_type_and_words() -> None:
    engine = LoopThread()

    def broken() -> None:
        raise LookupError("no such round")

    with pytest.raises(LookupError, match="no such round"):
        await engine.call(broken)
    assert await engine.ask(thread_of) == "engine"
    assert engine.close()


async def test_who_stops_waiting_stops_the_work() -> None:
    engine, ended = LoopThread(), threading.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(engine.ask(forever))
    await engine.ask(thread_of)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.to_thread(ended.wait, 5)
    assert engine.close()


async def test_closing_cancels_what_runs_and_waits_for_its_end() -> None:
    engine, seen = LoopThread(), []

    async def careful() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append("cleaned up")

    future = engine.submit(careful)
    await engine.ask(thread_of)
    assert await asyncio.to_thread(engine.close)
    assert seen == ["cleaned up"]
    assert future.done()


async def test_what_does_not_end_does_not_keep_the_console() -> None:
    engine, blocking, release = LoopThread(), threading.Event(), threading.Event()

    async def block() -> None:
        blocking.set()
        release.wait()

    engine.submit(block)
    assert await asyncio.to_thread(blocking.wait, 5)
    assert not await asyncio.to_thread(engine.close, 0.2)
    release.set()


async def test_a_closed_engine_takes_nothing_and_one_that_never_began_closes() -> None:
    engine = LoopThread()
    assert engine.close()
    assert engine.close()
    with pytest.raises(LoopThreadEndedError):
        engine.submit(thread_of)
