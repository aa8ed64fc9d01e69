"""Targets of ``reach.py``: a real sshd, or the scripted server in its own process, and files for clients."""

import asyncio
import gc
import itertools
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULE = "benchmarks.reach"
PORTS = itertools.count(2222)
FORKS = 64
LARGE = ("seq", "-w", "4000")
"""A command that says 20 kB."""
_FAR_FORKS, _FAR_MILLISECONDS = 256, 50
CACHE = Path("~/.cache/benchconsole").expanduser()
GO_PATH = Path("/usr/share/gocode")
"""Where Debian puts the sources of Go's packages."""
CONNECT = 10
QUICK = "curve25519-sha256"
_DEAD = 128
"""From this number on, in its third place, an address is nobody's."""
TICK = os.sysconf("SC_CLK_TCK")
ALONE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
"""Makes a host with a process table of its own, as every real one has. Its first process gets all orphans, so their CPU
time counts as its own."""


def port(directory: Path) -> int:
    """Where a target listens; each on its own port, for the kernel remembers connections for a while."""
    return int((directory / "port").read_text())


def private(pid: int) -> float:
    """Private memory of a process in bytes; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0.0
    return (int(fields[1]) - int(fields[2])) * resource.getpagesize()


def served(directory: Path) -> float:
    """CPU seconds of the target so far, with all that it started: read when every connection is over."""
    return sum(map(_served_by, (directory / "server").read_text().split()))


def _served_by(pid: str) -> float:
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}/task/{pid}/children").read_text().strip():
        if time.monotonic() > end:
            raise SystemExit("the target has children still, 10 s after its last client")
        time.sleep(0.02)  # a connection that is over takes its processes a moment
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


@cache
def build_go(name: str) -> str:
    """A Go program of ours, built from Debian's sources alone; a path without a file where they are missing."""
    made = CACHE / f"reach-{name}"
    debian = Path("/usr/lib/go/bin/go")
    compiler = str(debian) if debian.exists() else shutil.which("go")
    if compiler is None or not (GO_PATH / "src/golang.org/x/crypto/ssh").is_dir():
        return str(made.with_name("missing"))
    CACHE.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": str(GO_PATH), "GOTOOLCHAIN": "local", "GOFLAGS": ""}
    source = Path(__file__).with_name("reach_go") / ("main.go" if name == "go" else f"{name}/main.go")
    subprocess.run([compiler, "build", "-o", str(made), str(source)], check=True, env=environment)
    return str(made)


@contextmanager
def sshd(directory: Path) -> Iterator[None]:
    """A real sshd for each host that answers, with a process table of its own."""
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for name in ("key", "host"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / name], check=True)
    (directory / "sshd_config").write_text(
        f"Port {port(directory)}\nHostKey {directory}/host\nAuthorizedKeysFile {directory}/key.pub\n"
        f"PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n"
        f"MaxStartups 4000\nUseDNS no\nLogLevel ERROR\nSetEnv HOME={directory}\n"
    )
    hosts = [host for host in (directory / "hosts").read_text().split() if int(host.split(".")[2]) < _DEAD]
    command = [*ALONE, "/usr/sbin/sshd", "-D", "-e", "-f", str(directory / "sshd_config")]
    started = [subprocess.Popen([*command, "-o", f"ListenAddress={host}"], stderr=subprocess.DEVNULL) for host in hosts]
    try:
        for host in hosts:
            _await_port(host, port(directory))
        (directory / "server").write_text("\n".join(_find_child(process.pid) for process in started))
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def _find_child(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]


@contextmanager
def farm(directory: Path) -> Iterator[None]:
    """The scripted server, in a process of its own."""
    command = [sys.executable, "-m", MODULE, "--serve", str(directory)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdin
    assert process.stdout
    try:
        process.stdout.readline()
        (directory / "server").write_text(str(process.pid))
        for name, made in (("key", "id_ed25519"), ("key.pub", "id_ed25519.pub")):
            shutil.copy(directory / "farm" / made, directory / name)
        host = (directory / "farm" / "known_hosts").read_text().split()
        (directory / "host.pub").write_text(" ".join(host[1:3]))
        yield
    finally:
        process.stdin.close()
        process.wait()


async def serve(directory: Path) -> None:
    """The farm's process."""
    from benchconsole.probes.testing.server import Manner, Reply, ScriptedSshd

    reply, large = Reply(b"reached\n"), Reply("".join(f"{number:04}\n" for number in range(1, 4001)).encode())

    async def answer(address: str, argv: tuple[str, ...], stdin: bytes) -> Reply:
        return large if argv[0] == LARGE[0] else reply

    hosts = dict.fromkeys((directory / "hosts").read_text().split(), Manner.ANSWERS)
    hosts |= dict.fromkeys((directory / "silent").read_text().split(), Manner.SILENT)
    async with ScriptedSshd(answer, hosts, directory / "farm", port=port(directory)):
        gc.freeze()
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@contextmanager
def far(directory: Path) -> Iterator[None]:
    """The scripted server behind a relay, 50 ms away; more hosts are under way at once, as no client would wait."""
    outer = port(directory)
    (directory / "port").write_text(str(next(PORTS)))
    with farm(directory):
        command = [build_go("relay"), str(outer), str(port(directory)), str(_FAR_MILLISECONDS)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:
            assert relay.stdout
            relay.stdout.readline()
            (directory / "port").write_text(str(outer))
            (directory / "forks").write_text(str(_FAR_FORKS))
            yield  # the relay ends with its stdin


TARGETS = {"sshd": sshd, "farm": farm, "far": far}


def _await_port(host: str, number: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as sock:
            if sock.connect_ex((host, number)) == 0:
                return
        time.sleep(0.05)  # sshd does not say when it listens
    raise SystemExit(f"sshd did not start at {host}")


def spread(size: int, number: int) -> set[int]:
    """So many places among ``size``, evenly spread."""
    return {round(place * size / number) for place in range(number)}


def addresses(size: int, dead: int | None = None) -> list[str]:
    """``size`` hosts; with ``dead`` in a network where so many of them do not answer."""
    if dead is None:
        return [f"127.1.{number // 250}.{1 + number % 250}" for number in range(size)]
    silent = spread(size, dead)
    return [f"10.99.{(number in silent) * _DEAD + number // 250}.{1 + number % 250}" for number in range(size)]


def prepare(directory: Path, hosts: Sequence[str], mute: Sequence[str]) -> None:
    """The files that name the hosts, and those of them that accept and say nothing."""
    (directory / "hosts").write_text("\n".join(hosts) + "\n")
    (directory / "silent").write_text("\n".join(mute))
    (directory / "inventory").write_text("".join(f"{host}\n" for host in hosts))


def configure(directory: Path, hosts: Sequence[str]) -> None:
    """Write the files that every client is given: one key, one configuration, the host keys."""
    (directory / "key").chmod(0o600)
    key = (directory / "host.pub").read_text().split()[:2]
    (directory / "known_hosts").write_text("".join(f"[{host}]:{port(directory)} {' '.join(key)}\n" for host in hosts))
    user = "bench" if (directory / "farm").exists() else "root"
    text = (
        f"Host *\n Port {port(directory)}\n User {user}\n IdentityFile {directory}/key\n IdentitiesOnly yes\n"
        f" UserKnownHostsFile {directory}/known_hosts\n StrictHostKeyChecking yes\n LogLevel ERROR\n"
        f" BatchMode yes\n ConnectTimeout {CONNECT}\n"
    )
    (directory / "config-default").write_text(text)
    (directory / "config").write_text(f"{text} KexAlgorithms {QUICK}\n")


@contextmanager
def target(kind: str, size: int, silent: int | None = None) -> Iterator[Path]:
    """A running target and the files of its clients.

    So many ``silent`` hosts give no answer at all beside the real sshd; on the scripted server they accept a
    connection and say nothing.
    """
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-reach-")))
        hosts = addresses(size, silent if kind == "sshd" else None)
        mute = [hosts[place] for place in spread(size, silent)] if silent and kind == "farm" else []
        (directory / "port").write_text(str(next(PORTS)))
        (directory / "forks").write_text(str(FORKS))
        prepare(directory, hosts, mute)
        stack.enter_context(TARGETS[kind](directory))
        configure(directory, hosts)
        yield directory
