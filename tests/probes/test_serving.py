"""Servers at the far end: they listen before anybody is told, on a port of their own, and end with the block."""

import asyncio
import random
import re
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from benchconsole.probes import serving
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.serving import listening

SERVER = (
    "import socket, sys; s = socket.socket(socket.AF_INET, getattr(socket, sys.argv[2]));"
    "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('127.0.0.1', int(sys.argv[1])));"
    "sys.argv[2] == 'SOCK_STREAM' and s.listen(); print('up', flush=True);"
    "s.accept() if sys.argv[2] == 'SOCK_STREAM' else s.recv(1); sys.exit(7)"
)
"""Ends with status 7 after its first client."""


def server(port: int, kind: str = "SOCK_STREAM") -> list[str]:
    return [sys.executable, "-c", SERVER, str(port), kind]


class Dice(random.Random):
    """Ports in a given order."""

    def __init__(self, *ports: int) -> None:
        super().__init__(0)
        self.ports = list(ports)

    def randrange(self, *_: int) -> int:  # type: ignore[override]
        return self.ports.pop(0)


@pytest.fixture
def session() -> str:
    return f"s{secrets.token_hex(4)}"


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody holds."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        yield held.getsockname()[1]


def free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


async def test_whoever_is_told_a_port_can_connect_at_once_and_hears_how_the_server_ends(session: str) -> None:
    async with serving.serving(LocalRemote(session), server, timeout=60) as (port, running):
        assert serving.PORTS[0] <= port < serving.PORTS[1]
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        assert (await running.output()).exit_status == 7


@pytest.mark.fault("I19")
async def test_nobody_listens_after_the_block(session: str) -> None:
    async with serving.serving(LocalRemote(session), server, timeout=60) as (port, _):
        pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


@pytest.mark.fault("F17")
async def test_another_port_is_taken_where_somebody_holds_the_first(session: str, taken: int) -> None:
    other = free()
    async with serving.serving(LocalRemote(session), server, timeout=60, dice=Dice(taken, other)) as (port, _):
        assert port == other


async def test_it_gives_up_where_every_port_is_held(session: str, taken: int) -> None:
    with pytest.raises(RemoteError) as caught:
        async with serving.serving(LocalRemote(session), server, timeout=60, dice=Dice(*[taken] * serving.ATTEMPTS)):
            raise AssertionError("it listens on a port that somebody holds")
    assert caught.value.output is not None
    assert serving.TAKEN in caught.value.output.error_text


async def test_datagrams_are_known_to_be_listened_for_too(session: str) -> None:
    def of(port: int) -> list[str]:
        return server(port, "SOCK_DGRAM")

    async with serving.serving(LocalRemote(session), of, timeout=60, kind="udp") as (port, _):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["no-such-server-of-ours"], 127, "command not found"),
        ([sys.executable, "-c", "import sys; sys.exit('bad option')"], 1, "bad option"),
    ],
)
async def test_a_server_that_cannot_start_says_why_and_is_not_tried_again(
    session: str, argv: list[str], status: int, words: str
) -> None:
    asked: list[int] = []

    def of(port: int) -> list[str]:
        asked.append(port)
        return argv

    with pytest.raises(RemoteError) as caught:
        async with serving.serving(LocalRemote(session), of, timeout=60):
            raise AssertionError("it listens")
    assert caught.value.output is not None
    assert (caught.value.output.exit_status, len(asked)) == (status, 1)
    assert words in caught.value.output.error_text


@pytest.mark.fault("I19")
async def test_what_is_ended_takes_its_server_with_it() -> None:
    port = free()
    argv = listening(server(port), port)
    running = await asyncio.create_subprocess_exec(
        *argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert running.stdout is not None
    while serving.READY.encode() not in await running.stdout.readline():
        assert not running.stdout.at_eof()
    running.terminate()
    assert await running.wait() == 143
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_the_script_bears_any_login_shell() -> None:
    script = listening(["x"], 1)[2]
    assert "\n" not in script
    assert not re.search(r"!\S", script)
