"""How much is begun at once, without any network."""

import asyncio
from functools import partial

import pytest

from benchconsole.probes.reach.ssh.limits import LoginBreaker, LoginsStoppedError, Throttle, run_bounded
from benchconsole.probes.reach.ssh.login import require_safe_version


async def test_no_more_than_its_turns_at_once() -> None:
    throttle, running, most = Throttle(3, 60), 0, 0

    async def work() -> None:
        nonlocal running, most
        async with throttle.turn():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*(work() for _ in range(20)))
    assert most == 3


async def test_all_is_done_a_few_at_a_time_and_one_that_lasts_holds_up_nobody() -> None:
    done, running, most, others = list[int](), 0, 0, asyncio.Event()

    async def work(number: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await (others.wait() if number == 0 else asyncio.sleep(0))
        running -= 1
        done.append(number)
        if len(done) == 19:
            others.set()

    async with asyncio.timeout(5):
        await run_bounded([partial(work, number) for number in range(20)], 3)
    assert most == 3
    assert sorted(done) == list(range(20))
    assert done[-1] == 0


async def test_who_waits_for_others_holds_up_nobody() -> None:
    throttle, never = Throttle(2, 0.02), asyncio.Event()

    async def silent() -> None:
        async with throttle.turn():
            await never.wait()

    waiting = [asyncio.create_task(silent()) for _ in range(5)]
    async with asyncio.timeout(5), throttle.turn():
        pass
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    async with asyncio.timeout(5), throttle.turn(), throttle.turn():  # every turn was given back once, not twice
        assert throttle._free.locked()


async def _log_in(breaker: LoginBreaker, *, accepted: bool) -> None:
    async with breaker.begin_login():
        await asyncio.sleep(0)
        (breaker.note_accepted if accepted else breaker.note_refused)()


@pytest.mark.fault("F09")
async def test_refusals_everywhere_are_stopped_at_ten() -> None:
    breaker = LoginBreaker(10, 60)
    found = await asyncio.gather(*(_log_in(breaker, accepted=False) for _ in range(1000)), return_exceptions=True)
    assert sum(error is None for error in found) == 10
    assert {str(error) for error in found if error} == {
        "not tried: 10 nodes in a row refused the login and none accepted it"
    }


async def test_one_that_is_accepted_lets_all_go_on() -> None:
    breaker = LoginBreaker(10, 60)
    found = await asyncio.gather(*(_log_in(breaker, accepted=n == 9) for n in range(40)), return_exceptions=True)
    assert found == [None] * 40


async def test_logins_that_hang_are_not_waited_for() -> None:
    breaker, never = LoginBreaker(2, 0.02), asyncio.Event()

    async def hang() -> None:
        async with breaker.begin_login():
            await never.wait()

    hanging = [asyncio.create_task(hang()) for _ in range(6)]
    async with asyncio.timeout(5):
        await _log_in(breaker, accepted=True)
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)


async def test_when_logins_stop_working_it_takes_more_to_be_sure() -> None:
    breaker = LoginBreaker(10, 60)
    await _log_in(breaker, accepted=True)
    for _ in range(40):
        await _log_in(breaker, accepted=False)
    with pytest.raises(LoginsStoppedError, match="40 nodes in a row"):
        await _log_in(breaker, accepted=True)


@pytest.mark.fault("I02", "X02")
@pytest.mark.parametrize("version", ["2.14.1", "2.9.0", "1.18", "2.14", "dev"])
def test_an_asyncssh_with_known_holes_is_refused(version: str) -> None:
    from benchconsole.probes.model.errors import ProbeError

    with pytest.raises(ProbeError, match=r"2\.14\.2 or newer"):
        require_safe_version(version)


@pytest.mark.parametrize("version", ["2.14.2", "2.22.0", "3.0.0"])
def test_newer_ones_may_be_used(version: str) -> None:
    require_safe_version(version)
