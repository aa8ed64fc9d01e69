"""Unix sockets of two nodes joined over real sshds: bytes pass, refusals have names, nothing listens afterwards."""

import asyncio
import contextlib
import sys
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import Joining, Remote, RemoteError
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.serving import joined
from benchconsole.probes.testing import FakeRemote
from tests.probes.reach.ssh.conftest import Bench, eventually, node

_ECHO = """
import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print("up", flush=True)
while True:
    c, _ = s.accept()
    while data := c.recv(65536): c.sendall(data.swapcase())
    c.close()
"""
ECHO = f"exec({_ECHO!r})"


async def two(bench: Bench, *options: str, first: str = "", second: str = "") -> tuple[Remote, Remote]:
    """Two nodes, each with an sshd of its own, which may be told more."""
    here = bench.sshd(*options, *filter(None, [first]))
    there = bench.sshd(*options, *filter(None, [second]))
    reaches = [bench.reach(bench.access(server)) for server in (here, there)]
    return (
        await reaches[0].remote(node(here.address, "n1")),
        await reaches[1].remote(node(there.address, "n2")),
    )


async def test_what_is_sent_to_one_socket_arrives_at_the_other_and_back(bench: Bench, tmp_path: Path) -> None:
    here, there = await two(bench)
    near, far = str(tmp_path / "near"), str(tmp_path / "far")
    sent = bytes(range(65, 91)) * 60_000
    async with there.start([sys.executable, "-c", ECHO, far], timeout=60) as running:
        await running.says("up", timeout=10)
        async with joined(here, near, there, far):
            for _ in range(2):
                reader, writer = await asyncio.open_unix_connection(near)
                writing = asyncio.create_task(_write(writer, sent))
                assert await reader.read() == sent.swapcase()
                await writing
                writer.close()
        with pytest.raises(OSError, match=r"refused|No such file"):
            await asyncio.open_unix_connection(near)


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()
    writer.write_eof()


async def test_a_connection_under_way_ends_with_the_block(bench: Bench, tmp_path: Path) -> None:
    here, there = await two(bench)
    near, far = str(tmp_path / "near"), str(tmp_path / "far")
    async with there.start([sys.executable, "-c", ECHO, far], timeout=60) as running:
        await running.says("up", timeout=10)
        async with joined(here, near, there, far):
            reader, writer = await asyncio.open_unix_connection(near)
            writer.write(b"a")
            assert await reader.read(1) == b"A"
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()


async def test_a_server_that_ends_hangs_up_on_whoever_is_connected(bench: Bench, tmp_path: Path) -> None:
    here, there = await two(bench)
    near, far = str(tmp_path / "near"), str(tmp_path / "far")
    async with contextlib.AsyncExitStack() as stack:
        async with there.start([sys.executable, "-c", ECHO, far], timeout=60) as running:
            await running.says("up", timeout=10)
            await stack.enter_async_context(joined(here, near, there, far))
            reader, writer = await asyncio.open_unix_connection(near)
            writer.write(b"a")
            assert await reader.read(1) == b"A"
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()
        reader, writer = await asyncio.open_unix_connection(near)
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()
    assert (await here.run(["echo", "still here"], timeout=10)).text == "still here\n"


@pytest.mark.parametrize("word", ["AllowStreamLocalForwarding no", "DisableForwarding yes"])
@pytest.mark.parametrize(("at", "said"), [("first", "does not listen"), ("second", "did not connect")])
async def test_an_sshd_that_passes_no_sockets_on_is_named(
    bench: Bench, tmp_path: Path, word: str, at: str, said: str
) -> None:
    here, there = await two(bench, first=word if at == "first" else "", second=word if at == "second" else "")
    near, far = str(tmp_path / "near"), str(tmp_path / "far")
    async with there.start([sys.executable, "-c", ECHO, far], timeout=60) as running:
        await running.says("up", timeout=10)
        with pytest.raises(RemoteError, match="AllowStreamLocalForwarding") as raised:
            async with joined(here, near, there, far):
                raise AssertionError("joined although it is forbidden")
    failure = raised.value.failure
    assert (failure.stage, failure.node) == (FailedAt.REFUSED, "n1" if at == "first" else "n2")
    assert said in failure.detail
    assert bench.marked() == []


async def test_nothing_that_listens_is_told_before_anybody_connects(bench: Bench, tmp_path: Path) -> None:
    here, there = await two(bench)
    with pytest.raises(RemoteError, match="did not connect to"):
        async with joined(here, str(tmp_path / "near"), there, str(tmp_path / "nobody")):
            raise AssertionError("joined with nothing")
    assert not (tmp_path / "near").exists()


async def test_a_node_that_is_lost_is_said_to_be(bench: Bench, tmp_path: Path) -> None:
    here, there = await two(bench)
    assert isinstance(there, Joining)
    bench.servers[1].kill()
    await eventually(lambda: _is_lost(there))
    with pytest.raises(RemoteError) as raised:
        async with joined(here, str(tmp_path / "near"), there, str(tmp_path / "far")):
            raise AssertionError("joined with a node that is gone")
    assert (raised.value.failure.stage, raised.value.failure.node) == (FailedAt.LOST, "n2")


def _is_lost(remote: object) -> bool:
    from benchconsole.probes.reach.ssh.ssh_remote import SshRemote

    return isinstance(remote, SshRemote) and remote.link.lost is not None


async def test_nodes_reached_in_another_way_are_refused(bench: Bench, tmp_path: Path) -> None:
    here, _ = await two(bench)
    other = FakeRemote("n9")
    for pair in ((here, other), (other, here), (LocalRemote("s"), here)):
        with pytest.raises(RemoteError) as raised:
            async with joined(pair[0], str(tmp_path / "near"), pair[1], str(tmp_path / "far")):
                raise AssertionError("joined")
        assert raised.value.failure.stage is FailedAt.REFUSED
