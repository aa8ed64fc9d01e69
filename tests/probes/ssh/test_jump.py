"""Nodes behind a jump host: one connection to it, verified like any other, and the root cause when it goes."""

import asyncio
import os
import signal

import pytest

from probes.model import FailedAt
from probes.remote import RemoteError
from tests.probes.ssh.conftest import Bench, children, eventually, node


async def test_nodes_share_one_jump_connection(bench: Bench) -> None:
    jump, inner = bench.sshd(), bench.sshd()
    config = (
        f"Host gate\n HostName {jump.address}\n Port {jump.port}\n User root\n"
        f"Host n*\n HostName {inner.address}\n Port {inner.port}\n ProxyJump gate\n"
    )
    reach = bench.reach(bench.access(config=config))
    remotes = await asyncio.gather(*(reach.remote(node(name)) for name in ("n1", "n2", "n3")))
    for remote in remotes:
        assert (await remote.run(["echo", remote.node], timeout=10)).text == f"{remote.node}\n"
    assert (jump.logged("Accepted publickey"), inner.logged("Accepted publickey")) == (1, 3)


async def test_two_jumps_in_a_row(bench: Bench) -> None:
    first, second, inner = bench.sshd(), bench.sshd(), bench.sshd()
    hops = ",".join(f"root@{server.address}:{server.port}" for server in (first, second))
    remote = await bench.reach(bench.access(inner, config=f"Host {inner.address}\n ProxyJump {hops}\n")).remote(
        node(inner.address)
    )
    assert (await remote.run(["echo", "deep"], timeout=10)).text == "deep\n"
    assert [server.logged("Accepted publickey") for server in (first, second, inner)] == [1, 1, 1]


async def test_the_jump_host_is_verified_too(bench: Bench) -> None:
    jump, inner = bench.sshd(), bench.sshd()
    access = bench.access(
        inner,
        known=inner.known() + jump.known(bench.keys.other_host),
        config=f"Host {inner.address}\n ProxyJump root@{jump.address}:{jump.port}\n",
    )
    with pytest.raises(RemoteError) as raised:
        await bench.reach(access).remote(node(inner.address, "n1"))
    assert raised.value.failure.stage is FailedAt.HOST_KEY_CHANGED
    assert raised.value.failure.node == "n1"
    assert "jump host" in raised.value.failure.detail
    assert jump.logged("Accepted") == inner.logged("Connection from") == 0


async def test_a_node_that_the_jump_host_cannot_reach(bench: Bench) -> None:
    jump = bench.sshd()
    config = f"Host n1\n HostName 127.0.0.77\n Port 9\n ProxyJump root@{jump.address}:{jump.port}\n"
    with pytest.raises(RemoteError) as raised:
        await bench.reach(bench.access(config=config)).remote(node("n1"))
    assert raised.value.failure.stage is FailedAt.UNREACHABLE
    assert "could not connect to 127.0.0.77 port 9" in raised.value.failure.detail


async def test_a_circle_is_noticed(bench: Bench) -> None:
    config = "Host a\n ProxyJump b\nHost b\n ProxyJump a\n"
    with pytest.raises(RemoteError) as raised:
        await asyncio.wait_for(bench.reach(bench.access(config=config)).remote(node("a")), 5)
    assert "circle" in raised.value.failure.detail


async def test_a_jump_host_that_dies_is_named_as_the_cause(bench: Bench) -> None:
    jump, inner = bench.sshd(), bench.sshd()
    config = f"Host {inner.address}\n ProxyJump root@{jump.address}:{jump.port}\n"
    remote = await bench.reach(bench.access(inner, config=config)).remote(node(inner.address))
    running = asyncio.create_task(remote.run(["sleep", "300"], timeout=60))
    await eventually(lambda: bool(bench.marked()))
    for pid in children(jump.process.pid):
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(RemoteError) as raised:
        await running
    assert raised.value.failure.stage is FailedAt.LOST
    assert f"the jump host root@{jump.address}:{jump.port} went away" in raised.value.failure.detail
    await eventually(lambda: not bench.marked())
