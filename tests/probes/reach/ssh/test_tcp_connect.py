"""TCP before login: silence costs little where the network is quick, all of its time elsewhere, and is forgiven when late.

A silent host is played by a socket whose queue is full: the kernel drops what knocks there, as a firewall does.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import SshLimits
from benchconsole.probes.reach.ssh.tcp_connect import _Network
from benchconsole.topology.copying import replace
from tests.probes.reach.ssh.conftest import Bench, Server, children, eventually, node

SILENT = "127.0.0.99"


class Silence:
    """An address that drops every SYN until it is ``broken``."""

    def __init__(self, port: int) -> None:
        self._stack = ExitStack()
        self._listener = self._stack.enter_context(socket.socket())
        self._listener.bind((SILENT, port))
        self._listener.listen(0)
        for _ in range(4):
            knock = self._stack.enter_context(socket.socket())
            knock.setblocking(False)
            knock.connect_ex((SILENT, port))

    def broken(self) -> None:
        """Make room in the queue, so that the kernel answers again."""
        self._listener.listen(64)

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def silence(server: Server) -> Iterator[Silence]:
    silence = Silence(server.port)
    yield silence
    silence.close()


@pytest.fixture
def any_answer_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take a while to answer itself."""
    monkeypatch.setattr("benchconsole.probes.reach.ssh.tcp_connect._SLOWER", 0)


def test_what_counts_as_a_quick_network() -> None:
    assert not _Network(asked=7, quick=7).is_quick
    assert _Network(asked=16, quick=8).is_quick
    assert not _Network(asked=100, quick=49).is_quick


def _names(server: Server) -> str:
    return f"Host live*\n HostName {server.address}\nHost dead*\n HostName {SILENT}\nHost *\n Port {server.port}\n"


async def _said_of_the_dead(bench: Bench, server: Server, limits: SshLimits, live: int) -> str:
    """The error on a silent host after ``live`` others have answered."""
    reach = bench.reach(bench.access(config=_names(server)), limits)
    for number in range(live):
        await reach.remote(node(f"live{number}"))
    with pytest.raises(RemoteError) as raised:
        await reach.remote(node("dead1"))
    assert raised.value.failure.stage is FailedAt.UNREACHABLE
    return raised.value.failure.detail


@pytest.mark.fault("F08")
@pytest.mark.usefixtures("silence", "any_answer_is_quick")
async def test_silence_is_cut_short_where_most_have_answered(bench: Bench, server: Server) -> None:
    detail = await _said_of_the_dead(bench, server, SshLimits(connect=30, silence=0.4), 8)
    assert detail.endswith("no answer within 0.4 s")


@pytest.mark.fault("F08")
@pytest.mark.usefixtures("silence")
async def test_silence_has_its_time_where_nothing_is_known(bench: Bench, server: Server) -> None:
    detail = await _said_of_the_dead(bench, server, SshLimits(connect=0.6, silence=0.2), 2)
    assert detail.endswith("no answer within 0.6 s")


@pytest.mark.usefixtures("any_answer_is_quick")
async def test_a_late_answer_is_forgiven(bench: Bench, server: Server, silence: Silence) -> None:
    reach = bench.reach(bench.access(config=_names(server)), SshLimits(connect=20, silence=0.2))
    for number in range(8):
        await reach.remote(node(f"live{number}"))
    for _ in range(2):
        with pytest.raises(RemoteError, match="no answer within"):
            await reach.remote(node("dead1"))
    silence.broken()  # the kernel's next try, a second after the first, is answered
    way = reach._nodes[node("dead1").id]
    await eventually(lambda: way._again == 0)
    before = way._opening
    asked_again = asyncio.create_task(reach.remote(node("dead1")))
    await eventually(lambda: way._opening is not before)
    asked_again.cancel()


@pytest.mark.fault("F08")
@pytest.mark.usefixtures("silence")
async def test_dead_hosts_do_not_hold_up_the_others(bench: Bench, server: Server) -> None:
    """More of them than may be dialled at once, in front of the others."""
    reach = bench.reach(bench.access(config=_names(server)), SshLimits(connect=60, silence=60, dials=4))
    dead = [asyncio.create_task(reach.remote(node(f"dead{n}"))) for n in range(8)]
    await asyncio.gather(*(reach.remote(node(f"live{n}")) for n in range(12)))
    assert not any(task.done() for task in dead)
    await reach.close()
    for error in await asyncio.gather(*dead, return_exceptions=True):
        assert isinstance(error, RemoteError)
        assert error.failure.stage is FailedAt.CANCELLED


async def test_too_many_open_files_is_our_own_trouble(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    reach = bench.reach(bench.access(server))
    monkeypatch.setattr("benchconsole.probes.reach.ssh.tcp_connect.socket.socket", none_left)
    with pytest.raises(RemoteError, match="ulimit -n"):
        await reach.remote(node(server.address))


async def test_a_proxy_command_ends_with_its_connection(bench: Bench, server: Server) -> None:
    pid = bench.directory / "pid"
    relay = f"bash -c 'echo $$ >{pid}; exec 3<>/dev/tcp/%h/%p; cat <&3 & cat >&3; sleep 300'"
    access = replace(bench.access(server, config=f"Host *\n ProxyCommand {relay}\n"), port=server.port)
    reach = bench.reach(access)
    remote = await reach.remote(node(server.address))
    assert (await remote.run(["echo", "relayed"], timeout=10)).text == "relayed\n"
    number = int(pid.read_text())
    await reach.close()
    await eventually(lambda: number not in children(os.getpid()))


@pytest.mark.parametrize(("family", "is_reached"), [("inet", True), ("any", True), ("inet6", False)])
async def test_the_family_of_addresses_that_the_configuration_wants(
    bench: Bench, server: Server, family: str, is_reached: bool
) -> None:
    reach = bench.reach(bench.access(server, config=f"AddressFamily {family}\n"))
    if is_reached:
        assert (await (await reach.remote(node(server.address))).run(["true"], timeout=10)).exit_status == 0
    else:
        with pytest.raises(RemoteError, match="another AddressFamily than that of 127"):
            await reach.remote(node(server.address))
