"""The scripted server over real SSH: what it answers, how it greets, when it lets go."""

import asyncio
import contextlib
import shlex
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest

from benchconsole.probes.reach.kept_shell import open_shell, write_request
from benchconsole.probes.reach.watchdog import wrap_command
from benchconsole.probes.testing.server import SEPARATE, Manner, Reply, ScriptedSshd, read_command

HERE = "127.93.250.1"
ASKED = list[tuple[str, tuple[str, ...], bytes]]


@contextlib.asynccontextmanager
async def client(sshd: ScriptedSshd, address: str = HERE) -> AsyncIterator[asyncssh.SSHClientConnection]:
    """A connection made from what the server wrote, and from nothing of this account."""
    async with asyncssh.connect(address, config=[str(sshd.directory / "ssh_config")], agent_path=None) as connection:
        yield connection


async def echo(address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
    return Reply(f"{address} {shlex.join(argv)}\n".encode(), stdin, 3)


async def test_answers_with_its_address_the_words_and_the_status(tmp_path: Path) -> None:
    server = ScriptedSshd(echo, [HERE, "127.93.250.2"], tmp_path)
    async with server as sshd, client(sshd, "127.93.250.2") as connection:
        done = await connection.run("echo 'a b' c", encoding=None)
    assert (done.stdout, done.exit_status) == (b"127.93.250.2 echo 'a b' c\n", 3)


async def test_no_empty_packet_is_sent_before_another_as_sshd_sends_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[int] = []

    def note(_: object, kind: int, *__: object) -> None:
        received.append(kind)

    monkeypatch.setattr(asyncssh.SSHClientConnection, "log_received_packet", note)
    async with ScriptedSshd(echo, [HERE], tmp_path) as sshd, client(sshd) as connection:
        await connection.run("true")
    assert received
    assert asyncssh.constants.MSG_IGNORE not in received


async def test_a_directory_with_blanks_and_quotes_still_works(tmp_path: Path) -> None:
    async with ScriptedSshd(echo, [HERE], tmp_path / "it is 'mine'") as sshd, client(sshd) as connection:
        assert (await connection.run("true")).exit_status == 3


async def test_the_watchdog_is_taken_off_and_answered_as_a_node_would(tmp_path: Path) -> None:
    sent = wrap_command(("cat", "-"), session="s1", nonce="n0nce", timeout=5, stdin=b"50%\n\0'x'")
    async with ScriptedSshd(echo, [HERE], tmp_path) as sshd, client(sshd) as connection:
        process = await connection.create_process(sent.write_text(), encoding=None)
        process.stdin.write(sent.feed)
        first = await process.stdout.readline()
        rest = await process.stdout.read()
        errors = await process.stderr.read()
        await process.wait_closed()
    assert first.startswith(b"n0nce ")
    assert len(first.rpartition(b")")[2].split()) > 19
    assert (rest, errors) == (f"{HERE} cat -\n".encode(), b"n0nce\n50%\n\0'x'")
    assert process.exit_status == 3


async def test_a_command_that_stays_is_ended_by_the_end_of_stdin(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def stay() -> Reply:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async def answer(address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        return Reply(b"listening\n", then=stay())

    sent = wrap_command(("serve",), session="s1", nonce="n0nce", timeout=5)
    async with ScriptedSshd(answer, [HERE], tmp_path) as sshd, client(sshd) as connection:
        process = await connection.create_process(sent.write_text(), encoding=None)
        await process.stdout.readline()
        assert await process.stdout.readline() == b"listening\n"
        process.stdin.write_eof()
        await process.wait_closed()
        assert process.exit_status == 143
        await asyncio.wait_for(ended.wait(), 5)


async def test_a_client_that_vanishes_cancels_its_answer(tmp_path: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def answer(address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async with ScriptedSshd(answer, [HERE], tmp_path) as sshd:
        async with client(sshd) as connection:
            await connection.create_process("anything")
            await asyncio.wait_for(begun.wait(), 5)
            connection.abort()
        await asyncio.wait_for(ended.wait(), 5)


async def test_hanging_up_cuts_one_address_only(tmp_path: Path) -> None:
    server = ScriptedSshd(echo, [HERE, "127.93.250.2"], tmp_path)
    async with server as sshd, client(sshd) as lost, client(sshd, "127.93.250.2") as kept:
        sshd.hang_up(HERE)
        await asyncio.wait_for(lost.wait_closed(), 5)
        assert (await kept.run("true")).exit_status == 3


@pytest.mark.parametrize(
    ("manner", "error"),
    [
        (Manner.REFUSES, ConnectionRefusedError),
        (Manner.CHANGED_KEY, asyncssh.HostKeyNotVerifiable),
        (Manner.UNKNOWN_KEY, asyncssh.HostKeyNotVerifiable),
        (Manner.NO_LOGIN, asyncssh.PermissionDenied),
    ],
)
async def test_manners_that_refuse(tmp_path: Path, manner: Manner, error: type[Exception]) -> None:
    async with ScriptedSshd(echo, {HERE: manner}, tmp_path) as sshd:
        with pytest.raises(error):
            async with client(sshd):
                pass


async def test_silence_is_an_open_connection_without_a_word(tmp_path: Path) -> None:
    async with ScriptedSshd(echo, {HERE: Manner.SILENT}, tmp_path) as sshd:
        reader, writer = await asyncio.open_connection(HERE, sshd.port)
        writer.write(b"SSH-2.0-test\r\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.1)
        writer.close()
        await writer.wait_closed()


async def test_more_than_a_hundred_addresses_share_one_port(tmp_path: Path) -> None:
    hosts = [f"127.93.251.{number}" for number in range(1, 129)]

    async def ask(sshd: ScriptedSshd, address: str) -> object:
        async with client(sshd, address) as connection:
            return (await connection.run("whoami")).stdout

    async with ScriptedSshd(echo, hosts, tmp_path) as sshd:
        said = await asyncio.gather(*(ask(sshd, address) for address in hosts))
    assert said == [f"{address} whoami\n" for address in hosts]


def test_nothing_but_loopback_is_listened_at(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"found 0\.0\.0\.0"):
        ScriptedSshd(echo, ["0.0.0.0"], tmp_path)


@pytest.mark.parametrize("text", ["", "exec", "'", "/bin/sh -c x benchconsole", "exec /bin/sh -c a b c d e f g"])
def test_a_command_line_without_a_watchdog_is_taken_as_it_is(text: str) -> None:
    assert read_command(text).nonce == ""


MANY = [f"127.94.{number // 250}.{number % 250 + 1}" for number in range(SEPARATE + 10)]


async def test_thousands_share_one_socket_that_answers_at_their_addresses_only(tmp_path: Path) -> None:
    hosts = dict.fromkeys(MANY, Manner.ANSWERS) | {
        MANY[1]: Manner.REFUSES, MANY[2]: Manner.SILENT, MANY[3]: Manner.CHANGED_KEY,
    }  # fmt: skip
    async with ScriptedSshd(echo, hosts, tmp_path) as sshd:
        async with client(sshd, MANY[0]) as connection:
            done = await connection.run("here", encoding=None)
        assert done.stdout == f"{MANY[0]} here\n".encode()
        with pytest.raises((asyncssh.Error, OSError)):
            async with client(sshd, "127.94.200.1"):
                pass
        reader, writer = await asyncio.open_connection(MANY[1], sshd.port)
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(1)
        writer.close()
        reader, writer = await asyncio.open_connection(MANY[2], sshd.port)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.05)
        writer.close()
        with pytest.raises(asyncssh.HostKeyNotVerifiable):
            async with client(sshd, MANY[3]):
                pass


def listening(port: int) -> list[str]:
    """Local addresses with a listener on ``port``, as the kernel writes them."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return [row[1] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"]


async def test_the_one_socket_is_tied_to_the_loopback_device(tmp_path: Path) -> None:
    async with ScriptedSshd(echo, MANY, tmp_path) as sshd:
        assert len(listening(sshd.port)) == 1
        (wide,) = (made for made in sshd.sockets if made.fileno() >= 0)
        assert wide.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0") == b"lo"


async def test_a_kept_shell_is_told_one_command_after_the_other(tmp_path: Path) -> None:
    asked: ASKED = []

    async def answer(address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        asked.append((address, argv, stdin))
        return Reply(b"out", b"err", len(asked))

    requests = [
        write_request(["echo", "a b", "it's", "two\nlines"], timeout=9),
        write_request(["cat"], timeout=9, stdin=b"\0fed\n"),
    ]
    async with ScriptedSshd(answer, [HERE], tmp_path) as sshd, client(sshd) as connection:
        shell = await connection.create_process(open_shell("s"), encoding=None)
        for number, request in enumerate(requests, start=1):
            assert request is not None
            shell.stdin.write(request.write_text().encode() + request.feed)
            out = await shell.stdout.readuntil(request.last + f" {number}\n".encode())
            err = await shell.stderr.readuntil(request.last + b"\n")
            assert out.startswith(request.nonce)
            assert out.partition(b"\n")[2].startswith(b"out" + request.last)
            noise = request.nonce + b"\n" if number == 1 else b""
            assert err == noise + b"err" + request.last + b"\n"
        shell.stdin.write_eof()
        assert (await shell.wait()).exit_status == 143
    assert asked == [(HERE, ("echo", "a b", "it's", "two\nlines"), b""), (HERE, ("cat",), b"\0fed\n")]
