"""One question from the engine's loop to the screen's: answered there, by nobody, or by somebody who has left."""

import asyncio

import pytest

from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.node_access import PasswordPrompt


async def test_what_is_asked_on_one_loop_is_answered_on_another() -> None:
    passwords, engine, here = PasswordPrompt(), LoopThread(), asyncio.get_running_loop()
    prompts: list[str] = []

    async def answer(prompt: str) -> str:
        assert asyncio.get_running_loop() is here
        prompts.append(prompt)
        return "s3cret"

    passwords.answered_by(answer)
    assert await engine.ask(lambda: passwords.ask("who?")) == "s3cret"
    assert prompts == ["who?"]
    assert "s3cret" not in repr(vars(passwords))
    engine.close()


async def test_where_nobody_listens_nothing_is_given() -> None:
    assert await PasswordPrompt().ask("who?") is None


def test_who_has_left_gives_nothing() -> None:
    passwords = PasswordPrompt()

    async def answer(_prompt: str) -> str:
        return "s3cret"

    async def listen() -> None:
        passwords.answered_by(answer)

    asyncio.run(listen())
    assert asyncio.run(passwords.ask("who?")) is None


async def test_who_stops_waiting_stops_the_question() -> None:
    passwords, engine, begun, ended = PasswordPrompt(), LoopThread(), asyncio.Event(), asyncio.Event()

    async def answer(_prompt: str) -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    passwords.answered_by(answer)
    asked = asyncio.create_task(engine.ask(lambda: passwords.ask("who?")))
    async with asyncio.timeout(20):
        await begun.wait()
        asked.cancel()
        await ended.wait()
    with pytest.raises(asyncio.CancelledError):
        await asked
    engine.close()
