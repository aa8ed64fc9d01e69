"""Nodes behind a jump host: one connection to it, verified like any other, and the root cause when it goes."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import SshLimits, SshReach
from benchconsole.probes.reach.ssh.connection import JumpHostError
from benchconsole.probes.reach.ssh.ssh_config import Destination
from benchconsole.probes.reach.ssh.ssh_remote import SshRemote
from benchconsole.probes.testing.server import Reply, ScriptedSshd
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.probes.reach.ssh.conftest import Bench, Server, children, eventually, node, sessions


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


@pytest.mark.fault("F12")
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


@pytest.mark.fault("F12")
async def test_a_jump_host_that_falls_silent_is_named_too(bench: Bench) -> None:
    jump, inner = bench.sshd(), bench.sshd()
    config = (
        f"Host gate\n HostName {jump.address}\n Port {jump.port}\n User root\n"
        f"Host n*\n HostName {inner.address}\n Port {inner.port}\n ProxyJump gate\n"
    )
    reach = bench.reach(bench.access(config=config), SshLimits(keepalive=0.4))
    remotes = await asyncio.gather(*(reach.remote(node(f"n{number}")) for number in range(5)))
    running = [asyncio.create_task(remote.run(["sleep", "300"], timeout=60)) for remote in remotes]
    await eventually(lambda: len(bench.marked()) >= 10)
    frozen = sessions(jump.process.pid)
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        found = await asyncio.gather(*running, return_exceptions=True)
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    details = {error.failure.detail for error in found if isinstance(error, RemoteError)}
    assert len(details) == 1
    assert details.pop().startswith("the jump host gate went away")


@pytest.mark.fault("F12")
async def test_a_channel_that_is_refused_just_before_the_jump_host_is_lost_is_its_fault(bench: Bench) -> None:
    """asyncssh takes no channel from the moment on that it closes, and says a turn of the loop later that it has."""
    jump, inner = bench.sshd(), bench.sshd()
    config = f"Host {inner.address}\n ProxyJump root@{jump.address}:{jump.port}\n"
    reach = bench.reach(bench.access(inner, config=config))
    remote = await reach.remote(node(inner.address))
    assert isinstance(remote, SshRemote)
    via = remote.link.via
    assert via is not None
    host = await reach._resolve(Destination(inner.address, "root", inner.port), NodeId("n2"))
    via.client.abort()
    assert via.lost is None
    with pytest.raises(JumpHostError, match="went away") as raised:
        await reach._connect(host, NodeId("n2"), via)
    assert raised.value.failure.stage is FailedAt.LOST


async def _behind(bench: Bench, tmp_path: Path, names: list[str]) -> tuple[Server, ScriptedSshd, SshReach]:
    """A jump host, and behind it as many addresses of one played sshd."""

    async def answer(address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        return Reply(b"", then=asyncio.get_running_loop().create_future()) if argv == ("wait",) else Reply(b"in\n")

    jump = bench.sshd()
    farm = ScriptedSshd(answer, names, tmp_path / "farm")
    await farm.__aenter__()
    config = (
        f"Host gate\n HostName {jump.address}\n Port {jump.port}\n User root\n IdentityFile {bench.keys.user}\n"
        f"Host 127.7.*\n User bench\n Port {farm.port}\n ProxyJump gate\n"
    )
    known = jump.known() + (tmp_path / "farm" / "known_hosts").read_text()
    access = replace(bench.access(known=known, config=config), user=None)
    access = replace(access, identity=str(tmp_path / "farm" / "id_ed25519"))
    return jump, farm, bench.reach(access)


async def _tried(reach: SshReach, name: str) -> object:
    try:
        return await reach.remote(node(name))
    except RemoteError as error:
        return error


@pytest.mark.fault("F12")
async def test_a_jump_host_that_dies_is_one_cause_for_all_behind_it(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchconsole.probes.reach.ssh.ssh_reach._PAUSE_OF_JUMPS", 0.3)
    names = [f"127.7.{number // 100}.{1 + number % 100}" for number in range(200)]
    jump, farm, reach = await _behind(bench, tmp_path, names)
    try:
        remotes = await asyncio.gather(*(reach.remote(node(name)) for name in names[:60]))
        running = [asyncio.create_task(remote.run(["wait"], timeout=60)) for remote in remotes]
        opening = [asyncio.create_task(reach.remote(node(name))) for name in names[60:]]
        await asyncio.sleep(0)
        jump.kill()
        found = await asyncio.gather(*running, *opening, return_exceptions=True)
        failures = [error.failure for error in found if isinstance(error, RemoteError)]
        assert len(failures) == 200
        lost = {failure.detail for failure in failures if failure.stage is FailedAt.LOST}
        refused = {failure.detail for failure in failures if failure.stage is FailedAt.UNREACHABLE}
        assert len(lost) == 1
        assert len(refused) <= 1
        assert all("jump host gate" in detail for detail in lost | refused)

        later = await asyncio.gather(*(reach.remote(node(name)) for name in names), return_exceptions=True)
        details = {error.failure.detail for error in later if isinstance(error, RemoteError)}
        assert len(details) == 1
        assert "jump host gate" in details.pop()

        bench.again(jump)
        async with asyncio.timeout(10):
            while isinstance(await _tried(reach, names[0]), RemoteError):  # noqa: ASYNC110 - asking is what tries
                await asyncio.sleep(0.05)
        remotes = await asyncio.gather(*(reach.remote(node(name)) for name in names))
        outputs = await asyncio.gather(*(remote.run(["echo"], timeout=30) for remote in remotes))
        assert [output.text for output in outputs] == ["in\n"] * 200
        assert jump.logged("Accepted publickey") == 2
    finally:
        await reach.close()
        await farm.__aexit__(None, None, None)
