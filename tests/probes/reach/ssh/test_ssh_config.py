"""The settings that are taken from the user's ssh configuration, and those that are not."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.ssh_config import Destination, ResolvedHost, SshConfig
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Access
from tests.probes.reach.ssh.conftest import Bench, Keys, Server, key_tool, node


def _resolve(tmp_path: Path, config: str, host: str = "n1", **access: str | int | None) -> ResolvedHost:
    path = tmp_path / "config"
    path.write_text(config)
    place = Access(config=str(path), known_hosts=str(tmp_path / "none"), **access)  # type: ignore[arg-type]
    return SshConfig(place, login=20, keepalive=4).resolve(Destination(host, place.user, place.port))


def test_host_blocks_include_and_match(tmp_path: Path) -> None:
    (tmp_path / "more").write_text("Host n*\n Port 2222\n")
    config = f"Host n1\n HostName n1.example\nInclude {tmp_path}/more\nMatch final host n1.example\n User late\n"
    route = _resolve(tmp_path, config)
    assert (route.host, route.port, route.user) == ("n1.example", 2222, "late")
    assert route.trusted.name == "[n1.example]:2222"


def test_the_topology_has_the_first_word(tmp_path: Path) -> None:
    route = _resolve(tmp_path, "Host *\n Port 2222\n User other\n", user="me", port=99)
    assert (route.port, route.user) == (99, "me")


def test_ciphers_are_ordered_unless_the_user_has_ordered_them(tmp_path: Path) -> None:
    ciphers = _resolve(tmp_path, "").options.encryption_algs
    assert ciphers[0] == b"aes128-gcm@openssh.com"
    assert b"aes256-ctr" in ciphers
    assert _resolve(tmp_path, "Host *\n Ciphers aes256-ctr\n").options.encryption_algs == [b"aes256-ctr"]


def test_nothing_is_forwarded_and_no_key_exchange_goes_without_a_host_key(tmp_path: Path) -> None:
    config = (
        "Host *\n ForwardAgent yes\n ForwardX11Trusted yes\n GSSAPIKeyExchange yes\n SendEnv *\n RemoteCommand rm\n"
    )
    options = _resolve(tmp_path, config).options
    assert (options.agent_forward_path, options.x11_forwarding, options.gss_kex) == (None, False, False)
    assert (options.env, options.send_env, options.command) == (None, None, None)


def test_the_options_that_hosts_share_trust_nothing(tmp_path: Path) -> None:
    assert _resolve(tmp_path, "").options.known_hosts == ((), (), ())


def test_jumps_are_read(tmp_path: Path) -> None:
    jumps = _resolve(tmp_path, "Host n1\n ProxyJump me@a:22,b,ssh://[::1]:2200\n").jumps
    assert jumps == (
        Destination("a", "me", 22, jump=True),
        Destination("b", jump=True),
        Destination("::1", None, 2200, jump=True),
    )
    assert _resolve(tmp_path, "Host n1\n ProxyJump none\n").jumps == ()


async def test_mistakes_are_named_with_their_line(bench: Bench) -> None:
    access = bench.access(config="Host *\n Port ssh\n")
    with pytest.raises(RemoteError) as raised:
        await bench.reach(access).remote(node("n1"))
    assert raised.value.failure.stage is FailedAt.UNREACHABLE
    assert "line 2" in raised.value.failure.detail


async def test_a_configuration_that_is_not_there(bench: Bench) -> None:
    access = replace(bench.access(), config=str(bench.directory / "nowhere"))
    with pytest.raises(RemoteError, match="nowhere: No such file"):
        await bench.reach(access).remote(node("n1"))


async def test_a_proxy_command_makes_the_connection(bench: Bench, server: Server) -> None:
    relay = "bash -c 'exec 3<>/dev/tcp/%h/%p; cat <&3 & exec cat >&3'"
    config = f"Host n1\n HostName {server.address}\n Port {server.port}\n ProxyCommand {relay}\n"
    remote = await bench.reach(bench.access(config=config)).remote(node("n1"))
    assert (await remote.run(["echo", "relayed"], timeout=10)).text == "relayed\n"


async def test_known_hosts_of_the_configuration_count(bench: Bench, server: Server) -> None:
    config = f"Host *\n UserKnownHostsFile {bench.file('mine', server.known())}\n"
    access = replace(bench.access(server, known="", config=config), known_hosts=None)
    await bench.reach(access).remote(node(server.address))


@pytest_asyncio.fixture
async def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """An ssh-agent of the test's own."""
    path = str(tmp_path / "agent")
    process = await asyncio.create_subprocess_exec("ssh-agent", "-D", "-a", path, stdout=subprocess.DEVNULL)
    async with asyncio.timeout(10):
        while not os.access(path, os.W_OK):  # noqa: ASYNC110 - the agent makes it
            await asyncio.sleep(0.01)
    monkeypatch.setenv("SSH_AUTH_SOCK", path)
    yield path
    process.terminate()
    await process.wait()


async def test_a_key_with_a_passphrase_is_used_through_the_agent(
    bench: Bench, server: Server, keys: Keys, agent: str
) -> None:
    locked = bench.directory / "locked"
    locked.write_bytes(keys.user.read_bytes())
    locked.chmod(0o600)
    locked.with_suffix(".pub").write_bytes(keys.user.with_suffix(".pub").read_bytes())
    key_tool("-q", "-p", "-N", "secret", "-f", locked)
    for number in range(7):  # more keys than an sshd allows to try
        other = bench.directory / f"other{number}"
        key_tool("-q", "-t", "ed25519", "-N", "", "-f", other)
        subprocess_run("ssh-add", "-q", other)
    subprocess_run("ssh-add", "-q", keys.user)
    access = replace(bench.access(server), identity=str(locked))
    await bench.reach(access).remote(node(server.address))
    assert server.logged("Failed publickey") == 0


def subprocess_run(*command: object) -> None:
    subprocess.run(list(map(str, command)), check=True)
