"""Refused logins: how often they are tried, and what on our side explains them."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.failures import ConnectionAttempt
from benchconsole.probes.reach.ssh.login import explain_refusal
from benchconsole.probes.reach.ssh.ssh_config import Destination, SshConfig
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.probes.reach.ssh.conftest import Bench, Keys, Server, key_tool, node


async def _refused(bench: Bench, server: Server, config: str) -> Failure:
    access = replace(bench.access(server, config=config), identity=None)
    with pytest.raises(RemoteError) as raised:
        await bench.reach(access).remote(node(server.address))
    assert raised.value.failure.stage is FailedAt.LOGIN
    return raised.value.failure


@pytest.mark.fault("F09")
async def test_a_thousand_nodes_that_refuse_are_asked_ten_times(bench: Bench, server: Server) -> None:
    config = f"Host n*\n HostName {server.address}\n Port {server.port}\n"
    access = replace(bench.access(config=config), identity=str(bench.keys.stranger))
    reach = bench.reach(access)
    found = await asyncio.gather(*(reach.remote(node(f"n{n}")) for n in range(1000)), return_exceptions=True)
    failures = [error.failure for error in found if isinstance(error, RemoteError)]
    assert [failure.stage for failure in failures] == [FailedAt.LOGIN] * 1000
    assert sum(failure.detail.startswith("not tried: 10 nodes in a row") for failure in failures) == 990
    assert server.logged("Connection closed by authenticating user") == 10


@pytest_asyncio.fixture
async def agent(tmp_path: Path, keys: Keys) -> AsyncIterator[tuple[str, "asyncio.subprocess.Process"]]:
    """An ssh-agent of the test's own that holds the user's key."""
    path = str(tmp_path / "agent")
    process = await asyncio.create_subprocess_exec("ssh-agent", "-D", "-a", path, stdout=subprocess.DEVNULL)
    async with asyncio.timeout(10):
        while not os.access(path, os.W_OK):  # noqa: ASYNC110 - the agent makes it
            await asyncio.sleep(0.01)
    environment = {**os.environ, "SSH_AUTH_SOCK": path}
    adding = await asyncio.create_subprocess_exec("ssh-add", "-q", keys.user, env=environment)
    assert await adding.wait() == 0
    yield path, process
    if process.returncode is None:
        process.kill()
        await process.wait()


@pytest.mark.fault("F10")
async def test_an_agent_that_dies_stops_new_logins_only(
    bench: Bench, server: Server, agent: tuple[str, "asyncio.subprocess.Process"]
) -> None:
    path, process = agent
    config = f"Host *\n IdentityAgent {path}\n IdentityFile {bench.directory}/none\n"
    config += f"Host n*\n HostName {server.address}\n Port {server.port}\n"
    reach = bench.reach(replace(bench.access(config=config), identity=None))
    remote = await reach.remote(node("n1"))
    running = asyncio.create_task(remote.run(["sh", "-c", "read -r x; echo $x"], timeout=30, stdin=b"done\n"))
    process.kill()
    await process.wait()
    with pytest.raises(RemoteError) as raised:
        await reach.remote(node("n2"))
    assert raised.value.failure.stage is FailedAt.LOGIN
    assert f"the agent at {path} does not answer" in raised.value.failure.detail
    assert (await running).text == "done\n"
    assert (await remote.run(["echo", "still"], timeout=10)).text == "still\n"


async def test_a_key_file_that_cannot_be_used_is_passed_over_and_named(bench: Bench, server: Server) -> None:
    broken = bench.file("broken", "no key\n")
    files = f"Host *\n IdentityFile {broken}\n IdentityFile {bench.directory}/missing\n"
    failure = await _refused(bench, server, f"{files} IdentitiesOnly yes\n")
    assert f"the key file {broken} cannot be used" in failure.detail
    access = replace(bench.access(server, config=f"{files} IdentityFile {bench.keys.user}\n"), identity=None)
    await bench.reach(access).remote(node(server.address))


async def _certified(bench: Bench, validity: str, principal: str = "root") -> tuple[Server, str]:
    user = bench.directory / f"certified-{validity.replace(':', '-')}-{principal}"
    key_tool("-q", "-t", "ed25519", "-N", "", "-f", user)
    sign = ("-q", "-s", bench.keys.authority, "-I", "who", "-n", principal, "-V", validity)
    key_tool(*sign, f"{user}.pub")
    server = bench.sshd(f"TrustedUserCAKeys {bench.keys.authority}.pub")
    return server, f"Host *\n IdentityFile {user}\n IdentitiesOnly yes\n"


async def test_a_certificate_logs_in(bench: Bench) -> None:
    server, config = await _certified(bench, "+1h")
    access = replace(bench.access(server, config=config), identity=None)
    await bench.reach(access).remote(node(server.address))


@pytest.mark.parametrize(
    ("validity", "principal", "words"),
    [("20200101:20200102", "root", "certificate expired"), ("+1h", "somebody", "principal mismatch")],
)
async def test_a_certificate_that_does_not_hold_is_named(
    bench: Bench, validity: str, principal: str, words: str
) -> None:
    server, config = await _certified(bench, validity, principal)
    failure = await _refused(bench, server, config)
    assert "does not hold" in failure.detail
    assert words in failure.detail


@pytest.mark.fault("F10")
async def test_keys_that_want_a_touch_are_named(bench: Bench, tmp_path: Path) -> None:
    """No such key can be made without a token, so an agent is played that holds one."""
    blob = _string(b"sk-ssh-ed25519@openssh.com") + _string(bytes(32)) + _string(b"ssh:")
    reply = b"\x0c" + (1).to_bytes(4, "big") + _string(blob) + _string(b"a token")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while size := await reader.read(4):
            await reader.readexactly(int.from_bytes(size, "big"))
            writer.write(_string(reply))
        writer.close()

    path = str(tmp_path / "agent")
    async with await asyncio.start_unix_server(answer, path):
        access = replace(bench.access(config=f"Host *\n IdentityAgent {path}\n"), identity=None)
        route = SshConfig(access, login=1, keepalive=1).resolve(Destination("n1"))
        failed = await explain_refusal(Failure(FailedAt.LOGIN, "refused", NodeId("n1")), route)
    assert "sk- key, which wants a touch at every login" in failed.detail
    assert ConnectionAttempt(NodeId("n1"), route).keys


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


@pytest.mark.fault("F11")
async def test_four_starts_at_a_time_let_forty_in(bench: Bench) -> None:
    server = bench.sshd("MaxStartups 3:100:3", "MaxSessions 1")
    config = f"Host n*\n HostName {server.address}\n Port {server.port}\n"
    reach = bench.reach(bench.access(config=config))
    names = [f"n{number}" for number in range(40)]
    remotes = await asyncio.gather(*(reach.remote(node(name)) for name in names))
    outputs = await asyncio.gather(*(remote.run(["echo", remote.node], timeout=30) for remote in remotes for _ in "ab"))
    assert sorted(output.text.strip() for output in outputs) == sorted(names * 2)
