"""An event that is cheap while nobody waits for it."""

import asyncio
from types import SimpleNamespace

import pytest

from benchconsole.probes.reach.ssh.late_event import LateEvent, replace_close_event


async def test_all_who_wait_go_on_when_it_is_set() -> None:
    event = LateEvent()
    waiting = [asyncio.create_task(event.wait()) for _ in range(3)]
    done, _ = await asyncio.wait(waiting, timeout=0)
    assert (done, event.is_set()) == (set(), False)
    event.set()
    assert await asyncio.gather(*waiting) == [True, True, True]
    assert event.is_set()


async def test_who_comes_later_does_not_wait() -> None:
    event = LateEvent()
    event.set()
    event.set()
    assert await asyncio.wait_for(event.wait(), 1)


@pytest.mark.parametrize("ended", [False, True])
async def test_an_end_that_has_come_is_not_forgotten(*, ended: bool) -> None:
    owner = SimpleNamespace(_close_event=asyncio.Event())
    if ended:
        owner._close_event.set()
    replace_close_event(owner)
    assert owner._close_event.is_set() is ended
