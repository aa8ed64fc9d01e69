"""Real sshd on loopback, with keys of its own, for the tests of ``probes.reach.ssh``.

Everything lives in a temporary directory except ``/run/sshd``, which sshd insists on.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from benchconsole.probes.reach.ssh import SshLimits, SshReach
from benchconsole.probes.reach.ssh.sudo import AskPassword
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole

DEADLINE = 60.0
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
    config: Path

    @property
    def name(self) -> str:
        """How known_hosts calls it."""
        return f"[{self.address}]:{self.port}"

    def known(self, key: Path | None = None) -> str:
        """A known_hosts line for it."""
        return f"{self.name} {(key or self.host_keys[0]).with_suffix('.pub').read_text()}"

    def kill(self) -> None:
        """End it and every connection to it, without a goodbye."""
        for pid in (*sessions(self.process.pid), self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

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
        server = Server(address, port, log, process, keys, config)
        self.servers.append(server)
        wait_until(lambda: server.logged("Server listening") > 0, log.read_text)
        return server

    def again(self, server: Server, within: Sequence[str] = ()) -> None:
        """Start a killed sshd anew, where and as it was."""
        before = server.logged("Server listening")
        with server.log.open("ab") as stream:
            command = [*within, _SSHD, "-D", "-e", "-f", str(server.config)]
            server.process = subprocess.Popen(command, stderr=stream, stdin=subprocess.DEVNULL)
        wait_until(lambda: server.logged("Server listening") > before, server.log.read_text)

    def file(self, name: str, text: str) -> str:
        """Write a file that nobody else can read and return its path."""
        path = self.directory / name
        path.write_text(text)
        path.chmod(0o600)
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

    def reach(
        self,
        access: Access,
        limits: SshLimits = SshLimits(),  # noqa: B008 - frozen
        ask_secret: AskPassword | None = None,
    ) -> SshReach:
        """A reach that is closed after the test."""
        reach = SshReach(access, self.session, limits=limits, ask_secret=ask_secret)
        self.reaches.append(reach)
        return reach

    def marked(self) -> list[int]:
        """The processes on this machine that carry this test's session."""
        return marked(self.session)


def node(address: str, name: str = "") -> Node:
    """A node at ``address``."""
    return Node(NodeId(name or address), NodeRole.COMPUTE, Hardware("test"), address, address)


def marked(session: str) -> list[int]:
    """The processes on this machine that carry ``session`` in their environment, and may run on."""
    wanted, found = f"BENCHCONSOLE_SESSION={session}".encode(), []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes() and not _is_killed(entry):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _is_killed(process: Path) -> bool:
    """Whether SIGKILL waits for a process: it runs no more, however late a busy machine comes to end it."""
    lines = (line.split() for line in (process / "status").read_text().splitlines())
    pending = (int(words[1], 16) for words in lines if words[:1] in (["SigPnd:"], ["ShdPnd:"]))
    return any(mask >> (signal.SIGKILL - 1) & 1 for mask in pending)


def children(pid: int) -> list[int]:
    """The processes that ``pid`` has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def sessions(pid: int) -> list[int]:
    """The processes of sshd below ``pid``: monitors and, of ordinary users, what they watch; no commands."""
    found = []
    for child in children(pid):
        if Path(f"/proc/{child}/comm").read_text().startswith("sshd"):
            found += [child, *sessions(child)]
    return found


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
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


USER, UID = "benchuser", 54321
_MOUNT = 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/shadow" /etc/shadow && exec "$@"'


def _may_mount() -> bool:
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0


own_mounts = pytest.mark.skipif(  # in CI it runs, and fails where it cannot
    not _may_mount() and not os.environ.get("CI"), reason="NOT TESTED: needs a mount namespace of its own"
)


def unshared(script: str, *arguments: object) -> tuple[str, ...]:
    """A command under which an sshd has mounts of its own, made by ``script``; ``$0`` and on are ``arguments``."""
    return ("unshare", "--mount", "--propagation", "private", "sh", "-c", script, *map(str, arguments))


@pytest.fixture
def tables() -> Iterator[Path]:
    """The machine's user tables with one more line each, for a mount namespace of one sshd."""
    directory = Path(tempfile.mkdtemp(prefix="bench-tables-", dir="/tmp"))
    directory.chmod(0o755)
    for name, line in (("passwd", f"{USER}:x:{UID}:{UID}::/:/bin/sh"), ("shadow", f"{USER}:*:19000:0:99999:7:::")):
        (directory / name).write_text(f"{Path('/etc', name).read_text()}{line}\n")
    yield directory
    shutil.rmtree(directory)


def ordinary(bench: Bench, tables: Path, *options: str) -> Server:
    """An sshd that lets ``USER`` in."""
    authorized = tables / "authorized"
    shutil.copy(bench.keys.user.with_suffix(".pub"), authorized)
    return bench.sshd(f"AuthorizedKeysFile {authorized}", *options, within=unshared(_MOUNT, tables))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ignores TERM is killed after 0.3 s instead of 2, except in processes of the tests' own."""
    for module in ("watchdog", "kept_shell"):
        monkeypatch.setattr(f"benchconsole.probes.reach.{module}.PATIENCE", ".01 .02 .04 .08 .15")


@pytest.fixture
def server(bench: Bench) -> Server:
    """A plain sshd."""
    return bench.sshd()


def without_known_hosts(access: Access) -> Access:
    """The same access, with known_hosts left to the configuration."""
    return replace(access, known_hosts=None)
