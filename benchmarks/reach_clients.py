"""Two clients for ``reach.py``, each in a process of its own: ours, and asyncssh by hand, which is a limit of it.

Each can be run once, as a rival is, from exec to exit: then it prints a line for each host that answered. Else it
measures itself without its start: all connections with a command, then the command three times more on them.
"""

import asyncio
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.reach_targets import CONNECT, LARGE, QUICK, port, private

if TYPE_CHECKING:
    import asyncssh

AGAIN = 3
"""How often the command is run once more, and one that says 20 kB."""
_SIZE = 20_000


async def by_hand(directory: Path, *, once: bool) -> dict[str, float]:
    """A limit: asyncssh's public functions, everything read once, no wrapper, nothing checked twice."""
    import asyncssh

    class Session(asyncssh.SSHClientSession[bytes]):
        def __init__(self) -> None:
            self.content = b""
            self.over: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def data_received(self, data: bytes, datatype: int | None) -> None:
            self.content += data

        def connection_lost(self, exc: Exception | None) -> None:
            if not self.over.done():
                self.over.set_result(self.content)

    async def command(connection: asyncssh.SSHClientConnection, words: str = "echo reached") -> bytes:
        _, session = await connection.create_session(Session, words, encoding=None)
        assert isinstance(session, Session)
        return await session.over

    _tune()
    options = _make_options(directory)
    forks = asyncio.Semaphore(int((directory / "forks").read_text()))

    async def one(address: str) -> asyncssh.SSHClientConnection | None:
        async with forks:
            try:
                connection = await asyncssh.connect(address, port(directory), options=options, config=None)
            except (OSError, asyncssh.Error) as error:
                print(f"asyncssh: {address}: {error}", file=sys.stderr)
                return None
            assert await command(connection) == b"reached\n"
        if once:
            print(f"{address}: reached", flush=True)
        return connection

    resting, started, used = private(os.getpid()), time.perf_counter(), _cpu()
    found = await asyncio.gather(*map(one, (directory / "hosts").read_text().split()))
    connections = [connection for connection in found if connection is not None]
    told = {
        "wall": time.perf_counter() - started,
        "cpu": _cpu() - used,
        "reached": len(connections),
    }
    if once:
        return told
    told["memory"], told["connection"] = private(os.getpid()), (private(os.getpid()) - resting) / len(connections)

    async def say_much() -> None:
        said = await asyncio.gather(*(command(connection, " ".join(LARGE)) for connection in connections))
        assert all(len(each) == _SIZE for each in said)

    told["again_wall"], told["again_cpu"] = await _repeat(lambda: asyncio.gather(*map(command, connections)))
    _, told["large_cpu"] = await _repeat(say_much)
    return told


def _make_options(directory: Path) -> "asyncssh.SSHClientConnectionOptions":
    """Options of asyncssh by hand for the hosts, once for all of them."""
    import asyncssh

    key = asyncssh.import_public_key((directory / "host.pub").read_bytes())
    return asyncssh.SSHClientConnectionOptions(
        config=[], agent_path=None, client_host_keys=None, gss_auth=False, gss_kex=False, preferred_auth="publickey",
        username="bench" if (directory / "farm").exists() else "root", client_keys=[str(directory / "key")],
        known_hosts=([key], [], []), server_host_key_algs=["ssh-ed25519"], kex_algs=QUICK,
        encryption_algs="^aes128-gcm@openssh.com", keepalive_interval=4, connect_timeout=CONNECT, login_timeout=CONNECT,
    )  # fmt: skip


async def _repeat(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Seconds of wall and of CPU that it takes: the mean of a few turns."""
    started, used = time.perf_counter(), _cpu()
    for _ in range(AGAIN):
        await work()
    return (time.perf_counter() - started) / AGAIN, (_cpu() - used) / AGAIN


def _tune() -> None:
    """As the console does when it has started."""
    from benchconsole.console.session.collector import freeze_collector

    freeze_collector()


async def client(directory: Path, *, once: bool) -> dict[str, float]:
    """Our side."""
    from benchconsole.probes.model.remote import Remote, RemoteError
    from benchconsole.probes.reach.ssh import SshReach
    from benchconsole.topology.model.access import Access
    from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole

    _tune()
    hosts = (directory / "hosts").read_text().split()
    access = Access(
        user="bench" if (directory / "farm").exists() else None, port=port(directory), config=str(directory / "config"),
        known_hosts=str(directory / "known_hosts"), identity=str(directory / "key"),
    )  # fmt: skip
    reach, gaps, turns, reached = SshReach(access, "benchmark"), [0.0], [0.0], 0
    missed: Counter[str] = Counter()

    async def one(address: str) -> Remote | None:
        nonlocal reached
        try:
            remote = await reach.remote(Node(NodeId(address), NodeRole.COMPUTE, Hardware("any"), address, address))
            output = await remote.run(("echo", "reached"), timeout=60)
        except RemoteError as error:
            missed[f"{error.failure.stage}: {error.failure.detail}".replace(address, "HOST")] += 1
            return None
        reached += output.stdout == b"reached\n"
        if once:
            print(f"{address}: {output.stdout.decode()}", end="", flush=True)
        return remote

    async def watch() -> None:
        while True:
            before, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.001)
            gaps.append(time.perf_counter() - before - 0.001)
            turns.append(time.thread_time() - used)

    async def say_much() -> None:
        outputs = await asyncio.gather(*(remote.run(LARGE, timeout=60) for remote in remotes))
        assert all(len(each.stdout) == _SIZE for each in outputs)

    watcher = asyncio.create_task(watch())
    resting, started, used = private(os.getpid()), time.perf_counter(), _cpu()
    remotes = [remote for remote in await asyncio.gather(*map(one, hosts)) if remote is not None]
    told = {
        "wall": time.perf_counter() - started,
        "cpu": _cpu() - used,
        "reached": reached,
    }
    told["memory"], told["connection"] = private(os.getpid()), (private(os.getpid()) - resting) / max(reached, 1)
    if not once:
        told["again_wall"], told["again_cpu"] = await _repeat(
            lambda: asyncio.gather(*(remote.run(("echo", "reached"), timeout=60) for remote in remotes))
        )
        told["gap"], told["turn"] = max(gaps), max(turns)
        _, told["large_cpu"] = await _repeat(say_much)
    watcher.cancel()
    await reach.close()
    for why, count in missed.most_common():
        print(f"benchconsole: {count} of {len(hosts)} hosts not reached: {why}", file=sys.stderr)
    return told


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
