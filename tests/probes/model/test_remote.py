"""Many nodes are asked at once: the slowest of a stream is awaited, a few that keep silent are not."""

import asyncio
from collections.abc import Sequence

import pytest

from benchconsole.probes.model.remote import wait_for_most

pytestmark = pytest.mark.fault("F08")

SHORT = 0.05


def start(answers: Sequence[asyncio.Event]) -> "list[asyncio.Task[bool]]":
    return [asyncio.create_task(event.wait()) for event in answers]


def make_events(number: int) -> list[asyncio.Event]:
    return [asyncio.Event() for _ in range(number)]


def end(tasks: "Sequence[asyncio.Task[bool]]") -> None:
    for task in tasks:
        task.cancel()


@pytest.mark.parametrize(("number", "silent"), [(1, 0), (2, 1), (5, 2), (134, 1), (134, 67)])
async def test_a_few_that_keep_silent_are_left(number: int, silent: int) -> None:
    events = make_events(number)
    tasks = start(events)
    for event in events[silent:]:
        event.set()
    assert await wait_for_most(tasks, SHORT) == set(tasks[:silent])
    end(tasks)


@pytest.mark.parametrize(("number", "silent"), [(1, 1), (3, 2), (134, 68)])
async def test_where_less_than_half_have_answered_the_rest_is_awaited(number: int, silent: int) -> None:
    events = make_events(number)
    tasks = start(events)
    for event in events[silent:]:
        event.set()
    waiting = asyncio.create_task(wait_for_most(tasks, SHORT))
    _, pending = await asyncio.wait((waiting,), timeout=5 * SHORT)
    assert pending == {waiting}
    for event in events:
        event.set()
    assert await waiting == set()


async def test_of_many_that_answer_one_after_the_other_none_is_late() -> None:
    """The whole takes many times the patience; each answer is a new beginning."""
    events = make_events(40)
    tasks = start(events)
    loop = asyncio.get_running_loop()
    for number, event in enumerate(events):
        loop.call_later(number * SHORT / 2, event.set)
    assert await wait_for_most(tasks, SHORT * 4) == set()


async def test_the_last_may_take_half_of_the_time_of_all_others_beyond_any_patience() -> None:
    events = make_events(3)
    tasks = start(events)
    loop = asyncio.get_running_loop()
    for seconds, event in zip((4 * SHORT, 8 * SHORT, 10 * SHORT), events, strict=True):
        loop.call_later(seconds, event.set)
    assert await wait_for_most(tasks, 0.0) == set()


async def test_what_fails_has_answered() -> None:
    async def fail() -> bool:
        raise OSError("refused")

    silent = asyncio.Event()
    tasks = [asyncio.create_task(fail()), asyncio.create_task(silent.wait())]
    assert await wait_for_most(tasks, SHORT) == {tasks[1]}
    assert isinstance(tasks[0].exception(), OSError)
    end(tasks[1:])


async def test_nothing_to_wait_for() -> None:
    assert await wait_for_most([], SHORT) == set()
