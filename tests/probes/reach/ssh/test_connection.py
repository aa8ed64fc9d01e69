"""When a node is asked again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import connection
from benchconsole.probes.reach.ssh.connection import ConnectionPool, JumpHostError, RetriedConnection, SshConnection
from benchconsole.probes.reach.ssh.limits import SshLimits
from benchconsole.topology.model.fabric import NodeId

NODE = NodeId("n1")


class Opener:
    """Fails or opens as told, and counts."""

    def __init__(self, stage: FailedAt | None = None, kind: type[RemoteError] = RemoteError) -> None:
        self.stage = stage
        self.kind = kind
        self.calls = 0

    async def __call__(self) -> SshConnection:
        self.calls += 1
        await asyncio.sleep(0)
        if self.stage is not None:
            raise self.kind(Failure(self.stage, "why", NODE))
        return SshConnection(NODE, "s", SshLimits())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the loop's time forward."""
    ahead = 0.0
    loop_time = asyncio.BaseEventLoop.time
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda self: loop_time(self) + ahead)

    def move(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    return move


async def _failed(way: RetriedConnection) -> Failure:
    with pytest.raises(RemoteError) as raised:
        await way.link(NODE)
    return raised.value.failure


async def test_all_who_ask_share_one_attempt() -> None:
    opener = Opener()
    way = RetriedConnection(opener, 30)
    assert len({id(link) for link in await asyncio.gather(*(way.link(NODE) for _ in range(9)))}) == 1
    assert opener.calls == 1


@pytest.mark.parametrize("stage", [FailedAt.LOGIN, FailedAt.HOST_KEY_UNKNOWN, FailedAt.HOST_KEY_CHANGED])
async def test_what_trying_would_not_mend_is_told_again(stage: FailedAt, clock: Callable[[float], None]) -> None:
    opener = Opener(stage)
    way = RetriedConnection(opener, 30)
    await _failed(way)
    clock(1e6)
    assert (await _failed(way)).stage is stage
    assert opener.calls == 1


async def test_a_silent_node_is_asked_again_after_pauses_that_double(clock: Callable[[float], None]) -> None:
    opener = Opener(FailedAt.UNREACHABLE)
    way = RetriedConnection(opener, 30)
    calls = []
    for pause in (0, 29, 2, 31, 30, 119, 2):
        clock(pause)
        await _failed(way)
        calls.append(opener.calls)
    assert calls == [1, 1, 2, 2, 3, 3, 4]
    opener.stage = None
    clock(601)
    assert (await way.link(NODE)).lost is None


async def test_nobody_waits_long_for_another_attempt_and_it_goes_on_meanwhile(
    monkeypatch: pytest.MonkeyPatch, clock: Callable[[float], None]
) -> None:
    answers = asyncio.Event()
    opener = Opener(FailedAt.UNREACHABLE)

    async def open_late() -> SshConnection:
        if opener.calls:
            await answers.wait()
        return await opener()

    monkeypatch.setattr(connection, "_RETRY", 0.01)
    way = RetriedConnection(open_late, 30)
    await _failed(way)
    opener.stage = None
    clock(31)
    assert (await _failed(way)).stage is FailedAt.UNREACHABLE
    answers.set()
    monkeypatch.setattr(connection, "_RETRY", 60)
    assert (await way.link(NODE)).node == NODE
    assert opener.calls == 2


async def test_the_first_attempt_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_RETRY", 0.0)
    assert (await RetriedConnection(Opener(), 30).link(NODE)).node == NODE


async def test_a_node_that_answered_late_is_asked_at_once() -> None:
    opener = Opener(FailedAt.UNREACHABLE)
    way = RetriedConnection(opener, 30)
    await _failed(way)
    opener.stage = None
    way.allow_retry()
    assert (await way.link(NODE)).node == NODE


async def test_a_jump_hosts_failure_is_not_held_against_the_node() -> None:
    opener = Opener(FailedAt.UNREACHABLE, JumpHostError)
    way = RetriedConnection(opener, 30)
    await _failed(way)
    opener.stage = None
    assert (await way.link(NODE)).node == NODE


async def test_a_lost_connection_comes_back_once_for_free(clock: Callable[[float], None]) -> None:
    opener = Opener()
    way = RetriedConnection(opener, 30)
    for calls in (1, 2):
        link = await way.link(NODE)
        assert opener.calls == calls
        link.lost, link.lost_at = "gone", asyncio.get_running_loop().time()
    assert (await way.link(NODE)).lost == "gone"
    clock(31)
    assert (await way.link(NODE)).lost is None
    assert opener.calls == 3


async def _lose(link: SshConnection) -> None:
    link.lost = "gone"


@pytest.mark.parametrize(
    ("end", "stage"), [(_lose, FailedAt.LOST), (SshConnection.close, FailedAt.CANCELLED)], ids=["lost", "closed"]
)
async def test_a_pool_whose_connections_are_gone_opens_none(
    end: Callable[[SshConnection], Awaitable[None]], stage: FailedAt
) -> None:
    opener = Opener()
    pool = ConnectionPool(await opener(), opener, 8)
    await end(pool.first)
    with pytest.raises(RemoteError) as raised:
        await pool.wait_for_free()
    assert raised.value.failure.stage is stage
    assert opener.calls == 1


def _fill(link: SshConnection) -> None:
    while link.slots.free:
        link.slots.used += 1


async def test_the_pool_of_a_lost_connection_goes_on_with_the_one_that_replaces_it_and_closes_all_that_live() -> None:
    opener = Opener()
    first = await opener()
    pool = ConnectionPool(first, opener, 2)
    _fill(first)
    second = await pool.wait_for_free()
    await _lose(first)
    pool.is_root = True
    third = await opener()
    pool.replace_first(third)
    assert (pool.first, pool.connections) == (third, [third, second])
    assert bool(pool.is_root) is False
    assert await pool.wait_for_free() is third
    await pool.close()
    assert [link.is_closing for link in (second, third)] == [True, True]


async def test_a_connection_that_opens_while_the_first_is_replaced_is_closed_with_the_others() -> None:
    opener, answers = Opener(), asyncio.Event()

    async def open_late() -> SshConnection:
        await answers.wait()
        return await opener()

    first = await opener()
    pool = ConnectionPool(first, open_late, 8)
    _fill(first)
    waiting = asyncio.create_task(pool.wait_for_free())
    await asyncio.sleep(0)
    await _lose(first)
    third = await opener()
    _fill(third)
    pool.replace_first(third)
    answers.set()
    late = await waiting
    await pool.close()
    assert late.is_closing


async def test_a_node_that_allows_no_further_connection_is_asked_again_when_the_first_is_replaced() -> None:
    opener = Opener()
    first, third = await opener(), await opener()
    pool = ConnectionPool(first, opener, 8)
    opener.stage = FailedAt.LOGIN
    _fill(first)
    assert await pool.wait_for_free() is first
    await _lose(first)
    _fill(third)
    pool.replace_first(third)
    opener.stage = None
    assert await pool.wait_for_free() not in (first, third)


async def test_who_waits_for_a_connection_opens_none_when_the_pool_is_closed() -> None:
    opener, never = Opener(), asyncio.Event()

    async def open_never() -> SshConnection:
        await never.wait()
        return await opener()

    first = await opener()
    pool = ConnectionPool(first, open_never, 8)
    _fill(first)
    waiting = asyncio.create_task(pool.wait_for_free())
    await asyncio.sleep(0)
    await pool.close()
    assert await waiting is first  # where its command is not begun any more
    assert first.is_closing
    assert pool.connections == [first]
