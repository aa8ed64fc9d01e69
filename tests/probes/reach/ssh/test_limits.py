"""How much is begun at once, without any network."""

import asyncio
import time
from collections import Counter
from functools import partial
from itertools import count

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
        assert throttle.is_full


async def test_turns_that_are_far_away_become_more_while_the_loop_is_idle_and_few_again_afterwards() -> None:
    throttle, away = Throttle(2, 60, 9), asyncio.Event()
    running = most = 0

    async def far() -> None:
        nonlocal running, most
        async with throttle.turn():
            running += 1
            most = max(most, running)
            if running == 9:
                away.set()
            await away.wait()
            running -= 1

    async with asyncio.timeout(30):
        await asyncio.gather(*(far() for _ in range(20)))
    assert most == 9
    throttle._look(asyncio.get_running_loop().time())  # nobody waits any more
    assert throttle.now == 2


async def test_turns_stay_few_while_the_loop_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "thread_time", count().__next__)  # a second of work at every look
    throttle, loop = Throttle(1, 60, 9), asyncio.get_running_loop()

    async def wait_for_turn() -> None:
        async with throttle.turn():
            pass

    async with throttle.turn():
        waiting = asyncio.create_task(wait_for_turn())
        await asyncio.sleep(0)
        throttle._look(loop.time())
        assert throttle.now == 1
        monkeypatch.setattr(time, "thread_time", lambda: 0.0)
        throttle._look(loop.time() - 1)  # it comes a second late
        assert throttle.now == 1
        throttle._look(loop.time())
        assert throttle.now == 2
    await waiting


async def test_a_turn_that_is_given_to_somebody_who_gives_up_goes_to_the_next() -> None:
    throttle, done = Throttle(1, 60), list[int]()

    async def work(number: int) -> None:
        async with throttle.turn():
            done.append(number)

    async with throttle.turn():
        waiting = [asyncio.create_task(work(number)) for number in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()  # while it waits
        await asyncio.sleep(0)
    waiting[1].cancel()  # when it was given the turn, and has not run yet
    async with asyncio.timeout(30):
        await asyncio.gather(*waiting, return_exceptions=True)
    assert done == [2]
    assert not throttle.is_full


async def test_many_who_ask_at_once_are_let_in_over_several_turns_of_the_loop() -> None:
    throttle, per_turn, turn = Throttle(4, 60), Counter[int](), 0

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def ask() -> None:
        await throttle.take_brief_turn()
        per_turn[turn] += 1

    counting = asyncio.create_task(count_turns())
    await asyncio.gather(*(ask() for _ in range(50)))
    counting.cancel()
    assert max(per_turn.values()) == 4


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
