"""Nothing of ours runs on: every way in which a command can be left alone."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import asdict

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.reach.ssh import SshLimits
from tests.probes.reach.ssh.conftest import Bench, Server, children, eventually, node

STUBBORN = "trap '' TERM HUP INT; (trap '' TERM; echo child; sleep 300; echo no) & echo ready; wait; sleep 300"
DAEMON = "setsid sh -c 'setsid sleep 300 </dev/null >/dev/null 2>&1 & ' & sleep 0.2; echo ready; sleep 300"
CLIENT = """
import asyncio, json, sys
from benchconsole.probes.reach.ssh import SshReach
from tests.probes.reach.ssh.conftest import node
from benchconsole.topology.model.access import Access
async def main():
    access, session, address, script = json.loads(sys.argv[1])
    reach = SshReach(Access(**access), session)
    remote = await reach.remote(node(address))
    async with remote.start(["sh", "-c", script], timeout=60) as running:
        await running.says("ready", timeout=10)
        print("ready", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


async def _remote(bench: Bench, server: Server) -> Remote:
    return await bench.reach(bench.access(server)).remote(node(server.address))


@pytest.mark.parametrize("script", ["echo ready; sleep 300", STUBBORN, DAEMON])
async def test_time_over_leaves_nothing(bench: Bench, server: Server, script: str) -> None:
    remote = await _remote(bench, server)
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sh", "-c", script], timeout=0.5)
    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert raised.value.failure.detail == "no end within 0.5 s"
    assert raised.value.output is not None
    assert "ready" in raised.value.output.text
    assert bench.marked() == []
    assert (await remote.run(["echo", "usable"], timeout=5)).text == "usable\n"


@pytest.mark.parametrize("script", ["sleep 300", STUBBORN])
async def test_cancellation_leaves_nothing(bench: Bench, server: Server, script: str) -> None:
    remote = await _remote(bench, server)
    task = asyncio.create_task(remote.run(["sh", "-c", script], timeout=60))
    await eventually(lambda: bool(bench.marked()))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.marked() == []
    assert (await remote.run(["echo", "usable"], timeout=5)).text == "usable\n"


async def test_cancellation_at_any_moment_leaves_nothing(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    for step in range(30):
        task = asyncio.create_task(remote.run(["sleep", "300"], timeout=60))
        await asyncio.sleep(step / 1000)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await eventually(lambda: not bench.marked())
    assert (await remote.run(["echo", "usable"], timeout=5)).text == "usable\n"


@pytest.mark.fault("F22")
@pytest.mark.parametrize("script", ["echo ready; sleep 300", STUBBORN])
async def test_a_killed_console_leaves_nothing(bench: Bench, server: Server, script: str) -> None:
    arguments = json.dumps([asdict(bench.access(server)), bench.session, server.address, script])
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, arguments, stdout=subprocess.PIPE, cwd=Path(__file__).parents[4]
    )
    assert client.stdout is not None
    assert await client.stdout.readline() == b"ready\n"
    assert bench.marked() != []
    client.kill()
    await client.wait()
    await eventually(lambda: not bench.marked(), within=5)


async def test_a_closed_session_leaves_nothing(bench: Bench, server: Server) -> None:
    reach = bench.reach(bench.access(server))
    remote = await reach.remote(node(server.address))
    tasks = [asyncio.create_task(remote.run(["sleep", "300"], timeout=60)) for _ in range(4)]
    await eventually(lambda: len(bench.marked()) >= 8)
    await reach.close()
    assert bench.marked() == []
    for error in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(error, RemoteError)
        assert error.failure.stage is FailedAt.CANCELLED
    with pytest.raises(RemoteError):
        await reach.remote(node(server.address))


async def test_children_left_behind_end_with_their_command(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    output = await remote.run(["sh", "-c", "sleep 300 & sleep 301 & echo done"], timeout=10)
    assert (output.text, output.exit_status) == ("done\n", 0)
    assert bench.marked() == []


async def test_a_daemon_with_its_own_session_ends_with_its_command(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    script = "setsid sh -c 'setsid sleep 300 & ' & sleep 0.1; echo done"
    output = await remote.run(["sh", "-c", script], timeout=10)
    assert (output.text, output.exit_status) == ("done\n", 0)
    assert bench.marked() == []


@pytest.mark.fault("F21c")
async def test_a_node_that_falls_silent_is_noticed(bench: Bench, server: Server) -> None:
    access = bench.access(server)
    reach = bench.reach(access, SshLimits(keepalive=0.2))
    remote = await reach.remote(node(server.address))
    running = asyncio.create_task(remote.run(["sleep", "300"], timeout=60))
    await eventually(lambda: bool(bench.marked()))
    sessions = children(server.process.pid)
    for pid in sessions:
        os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(RemoteError) as raised:
            await asyncio.wait_for(running, 5)
    finally:
        for pid in sessions:
            os.kill(pid, signal.SIGCONT)
    assert raised.value.failure.stage is FailedAt.LOST
    assert "keepalive" in raised.value.failure.detail
    await eventually(lambda: not bench.marked())


@pytest.mark.fault("X15")
async def test_a_lost_connection_is_opened_again_once(bench: Bench, server: Server) -> None:
    reach = bench.reach(bench.access(server))
    details = []
    for _ in range(2):
        remote = await reach.remote(node(server.address))
        running = asyncio.create_task(remote.run(["sleep", "300"], timeout=60))
        await eventually(lambda: bool(bench.marked()))
        for pid in children(server.process.pid):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(RemoteError) as raised:
            await running
        assert raised.value.failure.stage is FailedAt.LOST
        details.append(raised.value.failure.detail)
        assert server.logged("Accepted publickey") == 2
        await eventually(lambda: not bench.marked())
    assert "the node is there again and has not rebooted" in details[0]
    assert "the node did not come back" in details[1]
    with pytest.raises(RemoteError) as raised:
        await reach.remote(node(server.address))
    assert raised.value.failure.stage is FailedAt.LOST
    assert server.logged("Accepted publickey") == 2


@pytest.mark.fault("F21")
async def test_a_console_that_was_stopped_does_not_take_an_answer_for_late(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    task = asyncio.create_task(remote.run(["sh", "-c", "head -c 1000000 /dev/zero; exit 3"], timeout=1))
    await eventually(lambda: server.logged("Starting session") > 0)
    time.sleep(1.5)  # noqa: ASYNC251 - the loop stands still as under SIGSTOP
    output = await task
    assert (output.exit_status, len(output.stdout)) == (3, 1000000)


async def test_the_node_ends_a_command_that_the_console_forgot(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A console that is stopped keeps its connection: then only the node's own limit counts."""
    monkeypatch.setattr("benchconsole.probes.reach.watchdog._LIMIT_MARGIN", -59.0)
    remote = await _remote(bench, server)
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sleep", "300"], timeout=60)
    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert "by the node" in raised.value.failure.detail
    assert bench.marked() == []
