import asyncio

import pytest

from benchconsole.probes.api import Output, ProbeError, RemoteError
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import Contact, Reach, Remote
from benchconsole.probes.testing import HANGS, FakeContact, FakeReach, FakeRemote, a_node


def test_the_fakes_speak_the_protocols() -> None:
    remote: Remote = FakeRemote()
    contact: Contact = FakeContact(remote)
    reach: Reach = FakeReach({"n1": remote})
    assert (remote.node, contact.here, isinstance(reach, FakeReach)) == ("n1", remote, True)


async def test_answers_follow_the_words_of_the_command() -> None:
    remote = (
        FakeRemote("n7").when("fio", "--rw=read", answers=Output((), b"read")).when("fio", answers=Output((), b"other"))
    )
    first = await remote.run(["fio", "-x", "--rw=read"], timeout=1, stdin=b"in")
    second = await remote.run(["fio", "--rw=write"], timeout=2)
    assert [first.stdout, second.stdout] == [b"read", b"other"]
    assert (first.argv, first.node) == (("fio", "-x", "--rw=read"), "n7")
    assert [(call.argv[0], call.stdin, call.timeout, call.started) for call in remote.calls] == [
        ("fio", b"in", 1, False),
        ("fio", b"", 2, False),
    ]


async def test_several_answers_come_one_after_the_other_and_the_last_stays() -> None:
    remote = FakeRemote().when("date", answers=[Output((), b"1"), Output((), b"2")])
    assert [(await remote.run(["date"], timeout=1)).stdout for _ in range(3)] == [b"1", b"2", b"2"]


async def test_what_was_not_scripted_is_a_missing_tool() -> None:
    with pytest.raises(RemoteError) as caught:
        await FakeRemote().run(["fio"], timeout=1)
    assert caught.value.failure.stage is FailedAt.MISSING_TOOL
    assert (await FakeRemote(lenient=True).run(["fio"], timeout=1)).exit_status == 0


async def test_a_scripted_failure_is_raised() -> None:
    remote = FakeRemote()
    remote.when("date", answers=remote.failure(FailedAt.LOST, "cable pulled"))
    with pytest.raises(RemoteError, match="cable pulled"):
        await remote.run(["date"], timeout=1)
    assert remote.running == []


async def test_a_hanging_command_ends_by_cancellation_only() -> None:
    remote = FakeRemote().when("sleep", answers=HANGS)
    task = asyncio.create_task(remote.run(["sleep"], timeout=1))
    for _ in range(5):
        await asyncio.sleep(0)
    assert [call.argv for call in remote.running] == [("sleep",)]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert remote.running == []


async def test_a_started_command_runs_until_its_context_is_left() -> None:
    remote = FakeRemote().when("serve", answers=Output((), b"", b"listening\n", exit_status=None))
    async with remote.start(["serve"], timeout=9) as running:
        await running.says("listening", timeout=1)
        assert [call.started for call in remote.running] == [True]
        with pytest.raises(RemoteError) as caught:
            await running.says("something else", timeout=1)
        assert caught.value.failure.stage is FailedAt.TIMEOUT
    assert remote.running == []


async def test_a_started_command_that_ended_says_why() -> None:
    remote = FakeRemote().when("serve", answers=Output((), b"", b"address in use\n", exit_status=1))
    async with remote.start(["serve"], timeout=9) as running:
        with pytest.raises(RemoteError, match="address in use") as caught:
            await running.says("listening", timeout=1)
        assert caught.value.output == Output((), b"", b"address in use\n", exit_status=1)
        assert (await running.output()).exit_status == 1


async def test_a_contact_without_a_peer_says_so() -> None:
    contact = FakeContact(FakeRemote())
    with pytest.raises(ProbeError, match="no peer"):
        _ = contact.there
    await contact.together()
    assert contact.gathered == 1


async def test_a_reach_gives_its_nodes_and_their_failures() -> None:
    remote, down = FakeRemote("n1"), FakeRemote("n2")
    reach = FakeReach({"n1": remote, "n2": down.failure(FailedAt.HOST_KEY_CHANGED, "another key")})
    assert await reach.remote(a_node("n1")) is remote
    for name, stage in (("n2", FailedAt.HOST_KEY_CHANGED), ("n3", FailedAt.UNREACHABLE)):
        with pytest.raises(RemoteError) as caught:
            await reach.remote(a_node(name))
        assert caught.value.failure.stage is stage
    await reach.close()
    assert (reach.opened, reach.closed) == (["n1", "n2", "n3"], True)


def test_an_answer_is_needed() -> None:
    with pytest.raises(ValueError, match="no answer"):
        FakeRemote().when("x", answers=[])
