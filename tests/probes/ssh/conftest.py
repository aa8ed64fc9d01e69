"""Real sshd on loopback, with keys of its own, for the tests of ``probes.ssh``.

Everything lives in a temporary directory except ``/run/sshd``, which sshd insists on.
"""

import asyncio
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import pytest_asyncio

from probes.ssh import Limits, SshReach
from topology.model import Access, Hardware, Node, NodeId, NodeRole

DEADLINE = 10.0
_SSHD = "/usr/sbin/sshd"


@dataclass(frozen=True)
class Keys:
    """Key pairs that are made once per test run; each path has a ``.pub`` beside it."""

    directory: Path
    host: Path
    other_host: Path
    rsa_host: Path
    user: Path
    stranger: Path
    authority: Path


@dataclass
class Server:
    """One sshd."""

    address: str
    port: int
    log: Path
    process: subprocess.Popen[bytes]
    host_keys: Sequence[Path]

    @property
    def name(self) -> str:
        """How known_hosts calls it."""
        return f"[{self.address}]:{self.port}"

    def known(self, key: Path | None = None) -> str:
        """A known_hosts line for it."""
        return f"{self.name} {(key or self.host_keys[0]).with_suffix('.pub').read_text()}"

    def logged(self, text: str) -> int:
        """How often its log says ``text``."""
        return self.log.read_text(errors="replace").count(text)


@dataclass
class Bench:
    """Makes servers, files and reaches for one test, and takes them down again."""

    directory: Path
    keys: Keys
    session: str = field(default_factory=lambda: secrets.token_hex(6))
    servers: list[Server] = field(default_factory=list)
    reaches: list[SshReach] = field(default_factory=list)

    def sshd(self, *options: str, host_keys: Sequence[Path] = (), within: Sequence[str] = ()) -> Server:
        """Start an sshd on a free port, with first words for its configuration, maybe under another command."""
        number = len(self.servers)
        address, keys = f"127.0.0.{10 + number}", host_keys or (self.keys.host,)
        port = free_port(address)
        config, log = self.directory / f"sshd{number}", self.directory / f"sshd{number}.log"
        lines = [
            *options,  # sshd takes the first word on everything
            f"ListenAddress {address}:{port}", f"PidFile {config}.pid", "UsePAM no", "StrictModes no",
            "PermitRootLogin yes", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
            f"AuthorizedKeysFile {self.keys.user}.pub", "LogLevel VERBOSE",
            f"SetEnv HOME={self.directory}",  # no login script of the developer's
            *(f"HostKey {key}" for key in keys),
        ]  # fmt: skip
        config.write_text("\n".join(lines) + "\n")
        with log.open("wb") as stream:
            command = [*within, _SSHD, "-D", "-e", "-f", str(config)]
            process = subprocess.Popen(command, stderr=stream, stdin=subprocess.DEVNULL)
        server = Server(address, port, log, process, keys)
        self.servers.append(server)
        wait_until(lambda: server.logged("Server listening") > 0, log.read_text)
        return server

    def file(self, name: str, text: str) -> str:
        """Write a file and return its path."""
        path = self.directory / name
        path.write_text(text)
        return str(path)

    def access(self, server: Server | None = None, known: str | None = None, config: str = "") -> Access:
        """Access with nothing of the developer's own in it."""
        text = known if known is not None else "".join(entry.known() for entry in self.servers)
        return Access(
            user="root",
            port=server.port if server else None,
            config=self.file(f"config-{secrets.token_hex(4)}", config),
            known_hosts=self.file(f"known-{secrets.token_hex(4)}", text),
            identity=str(self.keys.user),
        )

    def reach(self, access: Access, limits: Limits = Limits()) -> SshReach:  # noqa: B008 - frozen
        """A reach that is closed after the test."""
        reach = SshReach(access, self.session, limits=limits)
        self.reaches.append(reach)
        return reach

    def marked(self) -> list[int]:
        """The processes on this machine that carry this test's session."""
        return marked(self.session)


def node(address: str, name: str = "") -> Node:
    """A node at ``address``."""
    return Node(NodeId(name or address), NodeRole.COMPUTE, Hardware("test"), address, address)


def marked(session: str) -> list[int]:
    """The processes on this machine that carry ``session`` in their environment."""
    wanted, found = f"BENCHCONSOLE_SESSION={session}".encode(), []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def children(pid: int) -> list[int]:
    """The processes that ``pid`` has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def key_tool(*arguments: object) -> str:
    """Run ssh-keygen."""
    command = ["ssh-keygen", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def free_port(address: str) -> int:
    """A port that nobody listens on."""
    with socket.socket() as sock:
        sock.bind((address, 0))
        return int(sock.getsockname()[1])


def wait_until(holds: Callable[[], bool], why: Callable[[], object] = lambda: "", within: float = DEADLINE) -> None:
    """Wait for a condition; outside of any event loop."""
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end, f"not within {within} s: {why()}"
        time.sleep(0.01)  # a poll with a deadline: what other processes did tells nobody


async def eventually(holds: Callable[[], bool], within: float = DEADLINE) -> None:
    """Wait for a condition without stopping the event loop."""
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - what is awaited happens in other processes
            await asyncio.sleep(0.01)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """The keys of this test run."""
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    directory = tmp_path_factory.mktemp("keys")
    names = {"host": "ed25519", "other_host": "ed25519", "rsa_host": "rsa", "user": "ed25519", "stranger": "ed25519",
             "authority": "ed25519"}  # fmt: skip
    for name, kind in names.items():
        key_tool("-q", "-t", kind, "-b", 2048, "-N", "", "-C", name, "-f", directory / name)
    return Keys(directory, **{name: directory / name for name in names})


@pytest_asyncio.fixture
async def bench(tmp_path: Path, keys: Keys) -> AsyncIterator[Bench]:
    """Servers and reaches for one test."""
    bench = Bench(tmp_path, keys)
    yield bench
    for reach in bench.reaches:
        await reach.close()
    for server in bench.servers:
        server.process.terminate()
        server.process.wait()
    for pid in bench.marked():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ignores TERM is killed after 0.3 s instead of 2, except in processes of the tests' own."""
    monkeypatch.setattr("probes.ssh.watchdog.PATIENCE", ".01 .02 .04 .08 .15")


@pytest.fixture
def server(bench: Bench) -> Server:
    """A plain sshd."""
    return bench.sshd()


def without_known_hosts(access: Access) -> Access:
    """The same access, with known_hosts left to the configuration."""
    return replace(access, known_hosts=None)
