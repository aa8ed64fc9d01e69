"""Commands that end in ways they should not: killed, cut off by a reboot, without a status, or in a flood of anything."""

import asyncio
import os
import signal
import tracemalloc
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import asyncssh
import pytest

from benchconsole.probes.model.measuring import FailedAt, Output
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.reach.ssh import SshLimits
from benchconsole.probes.reach.ssh.command import SshChannel
from benchconsole.probes.reach.watchdog import parse_first_line
from benchconsole.probes.reach.watched_command import KEPT_OF_FLOOD
from benchconsole.topology.copying import replace
from tests.probes.reach.ssh.conftest import Bench, Server, eventually, node, own_mounts, sessions, unshared

_8_MIB, _16_MIB = 8 * 1024**2, 16 * 1024**2


async def _remote(bench: Bench, server: Server) -> Remote:
    return await bench.reach(bench.access(server)).remote(node(server.address, "n1"))


@pytest.mark.fault("F14")
@pytest.mark.parametrize("name", ["KILL", "TERM", "HUP"])
async def test_a_command_that_somebody_kills_is_no_answer(bench: Bench, server: Server, name: str) -> None:
    remote = await _remote(bench, server)
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sh", "-c", f"echo 42; kill -{name} $$; sleep 300"], timeout=20)
    failure = raised.value.failure
    assert failure.stage is FailedAt.KILLED
    assert failure.detail.startswith(f"sh was killed by SIG{name}, not by us")
    assert raised.value.output is not None
    assert raised.value.output.text == "42\n"


@pytest.mark.fault("F14")
@pytest.mark.parametrize("generation", [1, 2])
async def test_a_watchdog_that_somebody_kills_is_no_answer(bench: Bench, server: Server, generation: int) -> None:
    """Of a kept shell: the runner of the command, whose shell then ends it in time, and the shell itself."""
    remote = await _remote(bench, server)
    task = asyncio.create_task(remote.run(["sleep", "300"], timeout=2))
    pid = await _leader(bench)
    for _ in range(generation):
        pid = _parent(pid)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RemoteError) as raised:
        await task
    if generation == 1:
        assert raised.value.failure.detail == "no end within 2 s"
        assert bench.marked() == []
    else:
        assert raised.value.failure.stage is FailedAt.KILLED
        assert "the watchdog of the command" in raised.value.failure.detail
        assert "the node did not confirm that the command was ended (process " in raised.value.failure.detail


@pytest.mark.fault("F14")
async def test_a_watchdog_of_a_long_command_that_somebody_kills_is_no_answer(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    task = asyncio.create_task(remote.run(["sleep", "300"], timeout=600))
    os.kill(_parent(await _leader(bench)), signal.SIGKILL)
    with pytest.raises(RemoteError) as raised:
        await task
    assert raised.value.failure.stage is FailedAt.KILLED
    assert "the watchdog of the command" in raised.value.failure.detail
    assert "the node did not confirm that the command was ended (process " in raised.value.failure.detail


async def _leader(bench: Bench) -> int:
    """The group leader of the one command that runs: it has become ``timeout``, for that has a child.

    Before, it becomes one program after the other, and has no environment for a moment each time.
    """
    await eventually(lambda: len(bench.marked()) >= 2)
    return min(bench.marked())


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.fault("F13")
@pytest.mark.parametrize(
    "script",
    [
        "yes | tr -d '\\n' | head -c {size}",
        "head -c {size} /dev/zero",
        "head -c {size} /dev/urandom",
        "yes \"$(printf '\\033[31m\\r')\" | head -c {size}",
    ],
    ids=["one line", "NULs", "no UTF-8", "ANSI and CR"],
)
async def test_any_flood_is_cut_and_the_connection_goes_on(bench: Bench, server: Server, script: str) -> None:
    remote = await _remote(bench, server)
    await remote.run(["true"], timeout=10)
    tracemalloc.start()
    try:
        with pytest.raises(RemoteError) as raised:
            await remote.run(["sh", "-c", script.format(size=1024**3)], timeout=30)
        grown = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert raised.value.failure.stage is FailedAt.FLOODED
    assert raised.value.output is not None
    assert raised.value.output.truncated
    assert len(raised.value.output.stdout) == KEPT_OF_FLOOD
    assert grown < _16_MIB
    assert isinstance(raised.value.output.text, str)
    assert (await remote.run(["printf", "a\\000\\377\\r\\n"], timeout=5)).stdout == b"a\0\xff\r\n"
    assert server.logged("Accepted publickey") == 1


@pytest.mark.fault("F13")
async def test_many_floods_at_once_have_one_bound(bench: Bench, server: Server) -> None:
    """Twelve streams of 4 MiB would be 48; the command with a sensible answer among them keeps it."""
    reach = bench.reach(bench.access(server), SshLimits(all_output=_8_MIB))
    remotes = [await reach.remote(node(server.address, f"n{number}")) for number in range(13)]
    sensible = ["sh", "-c", "head -c 900000 /dev/zero; sleep 1; echo end"]
    tracemalloc.start()
    try:
        flooding = (remote.run(["sh", "-c", f"yes | head -c {1024**3}"], timeout=60) for remote in remotes[1:])
        kept, *failed = await asyncio.gather(remotes[0].run(sensible, timeout=60), *flooding, return_exceptions=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(kept, Output)
    assert len(kept.stdout) == 900_000 + len("end\n")
    floods = [error.failure for error in failed if isinstance(error, RemoteError)]
    assert [failure.stage for failure in floods] == [FailedAt.FLOODED] * 12
    assert any("more than 8 MiB of output by all commands together" in failure.detail for failure in floods)
    assert peak < 3 * _8_MIB
    assert bench.marked() == []


@pytest.mark.fault("F13")
async def test_a_login_script_that_prints_without_end_is_told_and_ends(bench: Bench, server: Server) -> None:
    noise = f"noise-{uuid.uuid4().hex}"
    bench.file(".bashrc", f"yes {noise}\n")
    remote = await _remote(bench, server)
    with pytest.raises(RemoteError) as raised:
        await remote.run(["true"], timeout=60)
    assert raised.value.failure.stage is FailedAt.FLOODED
    assert "more than 1 MiB before the command began: a login script there prints" in raised.value.failure.detail
    await eventually(lambda: not any(noise in words for words in _read_command_lines()))


def _read_command_lines() -> Iterator[str]:
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield each.read_text(errors="replace")


class Oddity(asyncssh.SSHServerSession[bytes]):
    """Plays a node that ends a command in its own way."""

    def __init__(self, end: "Callable[[asyncssh.SSHServerChannel[bytes]], None]") -> None:
        self._end = end

    def connection_made(self, chan: "asyncssh.SSHServerChannel[bytes]") -> None:
        self._channel = chan

    def exec_requested(self, command: str) -> bool:
        return True

    def data_received(self, data: bytes, datatype: int | None) -> None:
        nonce = data.split()[1]  # of a request to a kept shell
        self._channel.write(nonce + b" 12 (sh) S 1\n42\n")
        self._channel.write_stderr(nonce + b"\n")
        self._end(self._channel)


@asynccontextmanager
async def _odd(bench: Bench, end: "Callable[[asyncssh.SSHServerChannel[bytes]], None]") -> AsyncIterator[Remote]:
    """A node whose commands end by ``end``."""

    class Odd(asyncssh.SSHServer):
        def session_requested(self) -> Oddity:
            return Oddity(end)

    acceptor = await asyncssh.listen(
        "127.0.0.8", 0, server_factory=Odd, server_host_keys=[str(bench.keys.host)], encoding=None,
        authorized_client_keys=f"{bench.keys.user}.pub",
    )  # fmt: skip
    async with acceptor:
        port = acceptor.get_port()
        known = f"[127.0.0.8]:{port} {bench.keys.host.with_suffix('.pub').read_text()}"
        reach = bench.reach(replace(bench.access(known=known), port=port))
        yield await reach.remote(node("127.0.0.8", "n1"))
        await reach.close()


@pytest.mark.fault("F14")
async def test_an_end_without_a_status_is_no_answer(bench: Bench) -> None:
    async with _odd(bench, lambda channel: channel.close()) as remote:
        with pytest.raises(RemoteError) as raised:
            await remote.run(["true"], timeout=10)
    assert raised.value.failure.stage is FailedAt.LOST
    assert "without an exit status" in raised.value.failure.detail
    assert raised.value.output is not None
    assert (raised.value.output.text, raised.value.output.exit_status) == ("42\n", None)


@pytest.mark.fault("F14")
async def test_an_end_by_a_signal_is_no_answer(bench: Bench) -> None:
    async with _odd(bench, lambda channel: channel.exit_with_signal("ABRT")) as remote:
        with pytest.raises(RemoteError) as raised:
            await remote.run(["true"], timeout=10)
    assert raised.value.failure.stage is FailedAt.KILLED


@pytest.mark.fault("F14")
async def test_silence_without_an_end_is_ended(bench: Bench) -> None:
    async with _odd(bench, lambda channel: None) as remote:
        with pytest.raises(RemoteError) as raised:
            await replace_patience(remote).run(["true"], timeout=0.2)
    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert "did not confirm that the command was ended" in raised.value.failure.detail


def replace_patience(remote: Remote) -> Remote:
    """A node that confirms nothing is waited for a moment only."""
    link = remote._pool.first  # type: ignore[attr-defined]
    link.limits = replace(link.limits, ending=0.2)
    return remote


_BOOT = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'


@pytest.mark.fault("F18")
@own_mounts
async def test_a_node_that_reboots_under_a_command_says_so(bench: Bench, tmp_path: Path) -> None:
    boots = [tmp_path / "first", tmp_path / "second"]
    for boot in boots:
        boot.write_text(f"{uuid.uuid4()}\n")
    server = bench.sshd(within=unshared(_BOOT, boots[0]))
    remote = await _remote(bench, server)
    assert (await remote.run(["cat", "/proc/sys/kernel/random/boot_id"], timeout=10)).text == boots[0].read_text()
    running = asyncio.create_task(remote.run(["sleep", "300"], timeout=60))
    await eventually(lambda: bool(bench.marked()))
    server.kill()
    await eventually(lambda: not bench.marked())
    bench.again(server, within=unshared(_BOOT, boots[1]))
    with pytest.raises(RemoteError) as raised:
        await running
    assert raised.value.failure.stage is FailedAt.REBOOTED
    assert raised.value.failure.detail.endswith("the node has rebooted meanwhile; nothing of ours runs")


@pytest.mark.fault("F18")
async def test_a_node_that_comes_back_without_a_reboot_tells_what_is_left(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    async with remote.start(["sh", "-c", "echo up; exec sleep 300"], timeout=60) as running:
        await running.says("up", timeout=10)
        server.kill()
        bench.again(server)
        with pytest.raises(RemoteError) as raised:
            await running.output()
    assert raised.value.failure.stage is FailedAt.LOST
    assert "the node is there again and has not rebooted" in raised.value.failure.detail
    await eventually(lambda: not bench.marked())


@pytest.mark.fault("F18")
async def test_who_holds_a_node_whose_connection_was_lost_goes_on_with_the_one_that_replaced_it(
    bench: Bench, server: Server
) -> None:
    reach = bench.reach(bench.access(server))
    remote = await reach.remote(node(server.address, "n1"))
    running = asyncio.create_task(remote.run(["sleep", "300"], timeout=60))
    await eventually(lambda: bool(bench.marked()))
    server.kill()
    bench.again(server)
    with pytest.raises(RemoteError):
        await running
    assert (await remote.run(["echo", "there"], timeout=10)).text == "there\n"
    assert server.logged("Accepted publickey") == 2
    await reach.close()
    await eventually(lambda: not sessions(server.process.pid))


@pytest.mark.fault("F18")
async def test_who_holds_a_node_that_is_gone_does_not_log_in_to_it(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server), SshLimits(comeback=0.1)).remote(node(server.address, "n1"))
    running = asyncio.create_task(remote.run(["sleep", "300"], timeout=60))
    await eventually(lambda: bool(bench.marked()))
    server.kill()
    with pytest.raises(RemoteError):
        await running
    bench.again(server)
    with pytest.raises(RemoteError) as raised:
        await remote.run(["true"], timeout=10)
    assert raised.value.failure.stage is FailedAt.LOST
    assert server.logged("Accepted publickey") == 1


def test_the_first_line_tells_boot_and_login() -> None:
    stat = b"7 (sh) S " + b" ".join(b"%d" % number for number in range(4, 53))
    boot = str(uuid.UUID(int=7))
    for who, is_root in ((b" root", True), (b" ", False)):
        leader = parse_first_line(stat + b" " + boot.encode() + who)
        assert leader is not None
        assert (leader.pid, leader.start, leader.boot, leader.is_root) == (7, 22, boot, is_root)
    leader = parse_first_line(stat)
    assert leader is not None
    assert (leader.boot, leader.is_root) == ("", None)


@pytest.mark.fault("I02")
async def test_what_was_negotiated_is_known(bench: Bench, server: Server) -> None:
    reach = bench.reach(bench.access(server))
    assert reach.algorithms(node(server.address).id) == {}
    await reach.remote(node(server.address))
    told = reach.algorithms(node(server.address).id)
    assert told["cipher"] == "aes128-gcm@openssh.com"
    assert told["key"] == "ssh-ed25519"
    assert "OpenSSH" in told["server"]


class Cable:
    """A relay to a server that can be cut: both ends stay open, and nothing gets through any more."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._is_cut = False
        self._ends: list[asyncio.StreamWriter] = []

    async def plug_in(self) -> int:
        """Begin to relay; the port to connect to."""
        self._listener = await asyncio.start_server(self._relay, self._server.address, 0)
        return int(self._listener.sockets[0].getsockname()[1])

    def cut(self) -> None:
        self._is_cut = True

    async def take_away(self) -> None:
        self._listener.close()
        for end in self._ends:
            end.close()

    async def _relay(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, forth = await asyncio.open_connection(self._server.address, self._server.port)
        self._ends += (back, forth)
        await asyncio.gather(self._carry(near, forth), self._carry(far, back))

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            if not self._is_cut:
                sink.write(data)
        if not self._is_cut:
            sink.close()


@pytest.mark.fault("F21c")
async def test_a_cable_that_is_cut_leaves_nothing_running(bench: Bench, server: Server) -> None:
    """sshd hears neither an end nor a reset; only the silence tells it."""
    cable = Cable(server)
    port = await cable.plug_in()
    access = replace(bench.access(server), port=port)
    known = bench.file("known-relay", server.known().replace(str(server.port), str(port), 1))
    reach = bench.reach(
        replace(access, known_hosts=known), SshLimits(heartbeat=2, keepalive=0.5, comeback=0.1, ending=1)
    )
    task = asyncio.create_task(
        (await reach.remote(node(server.address, "n1"))).run(
            ["sh", "-c", "setsid sleep 3000 & sleep 3001"], timeout=3600
        )
    )
    await eventually(lambda: len(bench.marked()) >= 3)
    cable.cut()
    with pytest.raises(RemoteError) as raised:
        await task
    assert raised.value.failure.stage is FailedAt.LOST
    await eventually(lambda: not bench.marked())
    assert sessions(server.process.pid), "sshd itself has noticed nothing"
    await cable.take_away()


@pytest.mark.fault("F21c")
async def test_a_long_command_goes_on_while_we_are_heard(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server), SshLimits(heartbeat=1)).remote(node(server.address, "n1"))
    output = await remote.run(["sh", "-c", "cat; sleep 2.5; echo done"], timeout=3600, stdin=b"fed\n")
    assert (output.exit_status, output.text) == (0, "fed\ndone\n")


@pytest.mark.fault("F21b")
async def test_a_console_that_was_stopped_is_told_why_its_command_ended(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SshChannel, "write", lambda channel, line: None)
    remote = await bench.reach(bench.access(server), SshLimits(heartbeat=1)).remote(node(server.address, "n1"))
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sleep", "3000"], timeout=3600)
    assert raised.value.failure.stage is FailedAt.LOST
    assert "heard nothing from this console for 1 s" in raised.value.failure.detail
    assert bench.marked() == []
