"""Nodes that cannot be reached: each in its own words, in bounded time, and tried once."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import SshLimits
from benchconsole.topology.copying import replace
from tests.probes.reach.ssh.conftest import Bench, Server, free_port, node

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
QUICK = SshLimits(connect=0.5, login=0.5)
ADDRESS = "127.0.0.9"


@asynccontextmanager
async def _listening(answer: Answer, port: int = 0) -> AsyncIterator[int]:
    """Something on a port that is no sshd."""
    server = await asyncio.start_server(answer, ADDRESS, port)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()


async def _connect(port: int) -> None:
    """Connect and wait for the goodbye."""
    reader, writer = await asyncio.open_connection(ADDRESS, port)
    await reader.read()
    writer.close()


async def _failure(bench: Bench, port: int, limits: SshLimits = QUICK, address: str = ADDRESS) -> Failure:
    access = replace(bench.access(), port=port)
    with pytest.raises(RemoteError) as raised:
        await bench.reach(access, limits).remote(node(address, "n1"))
    assert raised.value.failure.node == "n1"
    return raised.value.failure


@pytest.mark.fault("F08")
async def test_nothing_listens(bench: Bench) -> None:
    failure = await _failure(bench, free_port(ADDRESS))
    assert failure.stage is FailedAt.UNREACHABLE
    assert "refused the connection" in failure.detail


@pytest.mark.fault("F08")
async def test_a_name_that_does_not_resolve(bench: Bench) -> None:
    failure = await _failure(bench, 22, SshLimits(connect=4), address="no-such-host.invalid")
    assert failure.stage is FailedAt.UNREACHABLE
    assert "no-such-host.invalid cannot be resolved" in failure.detail or "no answer" in failure.detail


async def test_an_address_without_a_route(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreachable(sock: socket.socket, address: object) -> None:
        raise OSError(errno.EHOSTUNREACH, "No route to host")

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", unreachable)
    failure = await _failure(bench, 22)
    assert failure.stage is FailedAt.UNREACHABLE
    assert failure.detail == f"no route to {ADDRESS} port 22: No route to host"


@pytest.mark.fault("F08")
async def test_a_black_hole(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(sock: socket.socket, address: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", nothing)
    failure = await _failure(bench, 22)
    assert failure.stage is FailedAt.UNREACHABLE
    assert failure.detail == f"{ADDRESS} port 22: no answer within 0.5 s"


@pytest.mark.parametrize(
    "garbage",
    [
        b"\xff\xfe\x00" * 1000 + b"\r\n",
        b"SSH-2.0-\xff\xff\r\n",
        b"SSH-2.0-" + b"x" * 100_000,
        b"SSH-2.0-ok\r\n" + bytes(range(256)) * 20,
        b"SSH-2.0-ok\r\n\x00\x00\x00\x0c\x0a\x14" + bytes(10),
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\n" * 5000,
    ],
)
async def test_garbage_is_unreachable_whatever_it_is(
    bench: Bench, garbage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(garbage)
        await reader.read()
        writer.close()

    async with _listening(talk) as port:
        failure = await _failure(bench, port)
    assert failure.stage is FailedAt.UNREACHABLE
    assert len(failure.detail) < 600


@pytest.mark.fault("F08")
async def test_silence_after_the_connection(bench: Bench) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with _listening(silent) as port:
        failure = await _failure(bench, port)
    assert failure.stage is FailedAt.UNREACHABLE
    assert f"accepted the connection on port {port} but sent no banner within 0.5 s" in failure.detail


@pytest.mark.fault("F08")
async def test_a_server_without_a_word_has_less_time_than_a_login(bench: Bench) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with _listening(silent) as port:
        failure = await _failure(bench, port, SshLimits(greeting=0.3, login=60))
    assert failure.stage is FailedAt.UNREACHABLE
    assert f"accepted the connection on port {port} but sent no banner within 0.3 s" in failure.detail


@pytest.mark.fault("F08")
async def test_a_server_that_has_sent_its_banner_has_the_time_of_a_login(bench: Bench) -> None:
    async def banner(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-Slow\r\n")
        await reader.read()

    async with _listening(banner) as port:
        failure = await _failure(bench, port, SshLimits(greeting=0.1, login=0.5))
    assert "sent its banner but did not finish the key exchange within 0.5 s" in failure.detail


@pytest.mark.parametrize(
    ("said", "hangs_up", "told"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False, r"b'HTTP/1.1 400 Bad Request\r\n\r\n' within 0.5 s"),
        (b"220 ftp ready\r\n", True, r"b'220 ftp ready\r\n' (2 tries)"),
        (b"\x1b[31m" + b"x" * 500 + b"\n", False, r"b'\x1b[31m" + 59 * "x" + "'"),
    ],
)
async def test_another_protocol_is_told_with_its_first_bytes(
    bench: Bench, said: bytes, hangs_up: bool, told: str
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        if not hangs_up:
            await reader.read()
        writer.close()

    async with _listening(talk) as port:
        failure = await _failure(bench, port, replace(QUICK, retries=1))
    assert failure.stage is FailedAt.UNREACHABLE
    assert f"port {port} answers, but not as SSH does: it sent {told.removeprefix('b')}" in failure.detail


@pytest.mark.fault("F08")
async def test_silence_after_the_banner(bench: Bench) -> None:
    async def banner(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-Silent\r\n")
        await reader.read()

    async with _listening(banner) as port:
        failure = await _failure(bench, port)
    assert failure.stage is FailedAt.UNREACHABLE
    assert "sent its banner but did not finish the key exchange within 0.5 s" in failure.detail


@pytest.mark.fault("F08")
async def test_a_banner_that_drips(bench: Bench) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"S")
            await asyncio.sleep(0.05)

    async with _listening(drip) as port:
        failure = await _failure(bench, port)
    assert "sent no banner within 0.5 s" in failure.detail


async def test_something_else_than_ssh(bench: Bench) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-1.5-Old\r\n")
        await reader.read()

    async with _listening(other) as port:
        failure = await _failure(bench, port)
    assert failure.stage is FailedAt.UNREACHABLE
    assert "does not speak SSH 2" in failure.detail


@pytest.mark.fault("F11")
async def test_a_crowded_sshd_is_tried_again(bench: Bench, server: Server) -> None:
    """The first connections are dropped, as MaxStartups does, then they are passed on to a real sshd."""
    seen = 0

    async def crowded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        if seen <= 2:
            writer.close()
            return
        inner_reader, inner_writer = await asyncio.open_connection(server.address, server.port)
        await asyncio.gather(_pass(reader, inner_writer), _pass(inner_reader, writer), return_exceptions=True)

    async with _listening(crowded) as port:
        access = replace(bench.access(known=server.known().replace(server.name, f"[{ADDRESS}]:{port}")), port=port)
        reach = bench.reach(access)
        remote = await reach.remote(node(ADDRESS))
        assert (await remote.run(["echo", "in"], timeout=10)).text == "in\n"
        await reach.close()
    assert seen == 3


@pytest.mark.fault("F11")
async def test_a_real_sshd_with_few_starts_lets_all_in(bench: Bench) -> None:
    server = bench.sshd("MaxStartups 3:100:3")
    reach = bench.reach(bench.access(server))
    remotes = await asyncio.gather(*(reach.remote(node(server.address, f"n{number}")) for number in range(12)))
    assert len({remote.node for remote in remotes}) == 12


async def test_an_sshd_that_always_drops_is_given_up(bench: Bench) -> None:
    seen = 0

    async def dropping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        writer.close()

    async with _listening(dropping) as port:
        failure = await _failure(bench, port, SshLimits(retries=2))
    assert failure.stage is FailedAt.UNREACHABLE
    assert "(3 tries)" in failure.detail
    assert seen == 3


async def test_a_refused_login_is_tried_once(bench: Bench, server: Server) -> None:
    access = replace(bench.access(server), identity=str(bench.keys.stranger))
    reach = bench.reach(access)
    for _ in range(3):
        with pytest.raises(RemoteError) as raised:
            await reach.remote(node(server.address))
        assert raised.value.failure.stage is FailedAt.LOGIN
        assert "the login of root" in raised.value.failure.detail
    assert server.logged("Connection from") == 1


@pytest.mark.fault("F09")
async def test_refused_logins_everywhere_stop_the_rest(bench: Bench, server: Server) -> None:
    access = replace(bench.access(server), identity=str(bench.keys.stranger))
    reach = bench.reach(access, SshLimits(refusals=2))
    details = []
    for number in range(4):
        with pytest.raises(RemoteError) as raised:
            await reach.remote(node(server.address, f"n{number}"))
        details.append(raised.value.failure.detail)
    assert [detail.startswith("not tried") for detail in details] == [False, False, True, True]
    assert server.logged("Connection from") == 2


async def test_a_node_that_is_not_tried_sees_no_connection(bench: Bench, server: Server) -> None:
    access = replace(bench.access(server), identity=str(bench.keys.stranger))
    reach, seen = bench.reach(access, SshLimits(refusals=2)), 0
    for number in range(2):
        with pytest.raises(RemoteError):
            await reach.remote(node(server.address, f"n{number}"))

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        writer.close()

    async with _listening(count, server.port):
        with pytest.raises(RemoteError) as raised:
            await reach.remote(node(ADDRESS, "n2"))
        assert raised.value.failure.detail.startswith("not tried")
        await _connect(server.port)  # whoever came before has been counted when this one is
        assert seen == 1


async def test_a_missing_identity_is_named(bench: Bench, server: Server) -> None:
    access = replace(bench.access(server), identity=str(bench.directory / "nowhere"))
    with pytest.raises(RemoteError) as raised:
        await bench.reach(access).remote(node(server.address))
    assert raised.value.failure.stage is FailedAt.LOGIN
    assert "nowhere: No such file" in raised.value.failure.detail


@pytest.mark.fault("I03", "X03")
@pytest.mark.parametrize("name", ["-oProxyCommand=x", "$(touch x)", "a b", "a'b", "a\nb", "a;b", ""])
async def test_names_that_a_shell_would_read_are_refused(bench: Bench, name: str) -> None:
    with pytest.raises(RemoteError) as raised:
        await bench.reach(bench.access()).remote(node(name, "n1"))
    assert raised.value.failure.stage is FailedAt.UNREACHABLE
    assert "safely" in raised.value.failure.detail


@pytest.mark.fault("F08")
async def test_dead_nodes_do_not_hold_up_the_others(bench: Bench, server: Server) -> None:
    """The others are there while every dead one still waits: no clock decides."""
    seen = asyncio.Event()

    async def be_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.wait()
        writer.close()

    async with _listening(be_silent) as port:
        config = (
            f"Host dead*\n HostName {ADDRESS}\n Port {port}\n"
            f"Host live*\n HostName {server.address}\n Port {server.port}\n"
        )
        reach = bench.reach(bench.access(config=config), SshLimits(login=300, greeting=300))
        dead = [asyncio.ensure_future(reach.remote(node(f"dead{n}"))) for n in range(30)]
        await asyncio.gather(*(reach.remote(node(f"live{n}")) for n in range(3)))
        waited = [not one.done() for one in dead]
        seen.set()
        found = await asyncio.gather(*dead, return_exceptions=True)
    assert waited == [True] * 30
    assert [isinstance(one, RemoteError) for one in found] == [True] * 30


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


async def test_a_silent_login_frees_no_descriptor_that_its_transport_polls(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of six hundred such nodes the next connection got the descriptor, and the whole run ended with it."""
    polled: list[int] = []

    class Watched(socket.socket):
        def close(self) -> None:
            transport = asyncio.get_running_loop()._transports.get(self.fileno())  # type: ignore[attr-defined]
            if transport is not None and not transport.is_closing():
                polled.append(self.fileno())
            super().close()

    hung_up = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        hung_up.set()

    monkeypatch.setattr(socket, "socket", Watched)
    async with _listening(say_nothing) as port:
        failure = await _failure(bench, port)
        async with asyncio.timeout(10):
            await hung_up.wait()
    assert failure.stage is FailedAt.UNREACHABLE
    assert polled == []
