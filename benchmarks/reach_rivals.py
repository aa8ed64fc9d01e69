"""The clients and rivals of ``reach.py``: how each is called, and what a run of it costs from exec to exit."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.reach_targets import CACHE, FORKS, MODULE, ROOT, build_go, private, served

ANSIBLE = CACHE / "ansible"
PACKAGES = ("openssh-client", "clustershell", "pdsh", "golang-go", "golang-golang-x-crypto-dev")


@dataclass(frozen=True)
class Tool:
    """A rival: its command for a list of hosts; ``again`` when the second run finds connections open."""

    name: str
    needs: str
    package: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    most: int = 2000
    is_slow: bool = False
    keeps: bool = False


@dataclass(frozen=True)
class Figures:
    """One run: seconds to its end and to the last answer, CPU seconds, peak memory in bytes, hosts that answered."""

    wall: float
    last: float
    cpu: float
    memory: float
    reached: int


@dataclass(frozen=True)
class Twice:
    """A run and another one after it, with the CPU seconds of the nodes' side for each."""

    first: Figures
    second: Figures
    node_first: float
    node_second: float


@dataclass(frozen=True)
class Client:
    """Ours, or a limit: ``once`` is its process from exec to exit, ``alone`` measures itself without its start."""

    once: Tool
    alone: Sequence[str]

    def measure_alone(self) -> dict[str, float]:
        done = subprocess.run(self.alone, check=True, stdout=subprocess.PIPE, cwd=ROOT)
        return dict(json.loads(done.stdout))


def clients(directory: Path) -> list[Client]:
    """Ours first, then the limits."""
    python = [sys.executable, "-m", MODULE]
    return [
        *(
            Client(
                Tool(name, sys.executable, "", [*python, "--once", "yes", option, str(directory)]),
                [*python, option, str(directory)],
            )
            for name, option in (("benchconsole", "--client"), ("asyncssh by hand", "--by-hand"))
        ),
        Client(
            Tool("Go x/crypto", build_go("go"), "golang-go and golang-golang-x-crypto-dev",
                 [build_go("go"), str(directory), "once"]),
            [build_go("go"), str(directory)],
        ),
    ]  # fmt: skip


def rivals(directory: Path, *, may_fail: bool = False) -> list[Tool]:
    """The rivals, each as its manual would have it. ``may_fail``: ssh is kept from ending xargs by its status 255."""
    ssh = ["sh", "-c", 'ssh "$@" || true', "sh"] if may_fail else ["ssh"]
    config, hosts, inventory = directory / "config", directory / "hosts", directory / "inventory"
    each = ["xargs", "-a", str(hosts), "-P", str(FORKS), "-I", "{}"]
    persist = ["-o", "ControlMaster=auto", "-o", f"ControlPath={directory}/m-%h", "-o", "ControlPersist=60"]
    ansible = ANSIBLE / "bin" / "ansible" if (ANSIBLE / "bin" / "ansible").exists() else Path("ansible")
    return [
        Tool("ssh (xargs -P)", "ssh", "openssh-client", [*each, *ssh, "-F", str(config), "{}", "echo", "reached"]),
        Tool(
            "ssh, default exchange", "ssh", "openssh-client",
            [*each, *ssh, "-F", str(directory / "config-default"), "{}", "echo", "reached"], most=50, is_slow=True,
        ),
        Tool(
            "ssh, ControlPersist", "ssh", "openssh-client",
            [*each, *ssh, "-F", str(config), *persist, "{}", "echo", "reached"], most=320, keeps=True,
        ),
        Tool(
            "pdsh -R ssh", "pdsh", "pdsh", ["pdsh", "-R", "ssh", "-f", str(FORKS), "-w", f"^{hosts}", "echo reached"],
            {"PDSH_SSH_ARGS_APPEND": f"-F {config}"},
        ),
        Tool(
            "clush", "clush", "clustershell",
            ["clush", "-f", str(FORKS), "-o", f"-F {config}", "--hostfile", str(hosts), "echo reached"],
        ),
        Tool(
            "ansible -m raw", str(ansible), "ansible-core (pip)",
            [str(ansible), "all", "-i", str(inventory), "-m", "raw", "-a", "echo reached", "-f", str(FORKS)],
            {"ANSIBLE_SSH_ARGS": f"-F {config}", "ANSIBLE_HOME": str(directory), "ANSIBLE_PYTHON_INTERPRETER": "none"},
            most=320, is_slow=True,
        ),
    ]  # fmt: skip


class Memory(threading.Thread):
    """Samples the private memory of everything that mentions a directory, and keeps the peak."""

    def __init__(self, directory: Path) -> None:
        super().__init__(daemon=True)
        self.directory = directory
        self.peak = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.2):
            self.peak = max(self.peak, sum(private(pid) for pid in _mentioning(self.directory)))


def _mentioning(directory: Path) -> Iterator[int]:
    """Processes of a rival: they name our directory, and are no server of ours."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(directory).encode() in words and b"sshd" not in words and b"--serve" not in words:
                yield int(entry.name)


def _left_running(directory: Path) -> float:
    """CPU seconds of what a rival left behind on purpose."""
    total = 0.0
    for pid in _mentioning(directory):
        try:
            total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue
    return total


def measured(tool: Tool, directory: Path) -> Figures:
    """Run a client or a rival once, from exec to exit."""
    memory, before = Memory(directory), _left_running(directory)
    memory.start()
    environment = {**os.environ, **tool.environment, "HOME": str(directory)}
    reached, last = 0, 0.0
    with (directory / "errors").open("wb") as errors:
        began = time.perf_counter()
        process = subprocess.Popen(
            tool.command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, env=environment, cwd=ROOT
        )
        assert process.stdout
        for line in process.stdout:
            if line.strip().endswith(b"reached"):
                reached, last = reached + 1, time.perf_counter() - began
        _, _, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    process.returncode = 0
    memory.over.set()
    return Figures(wall, last, used.ru_utime + used.ru_stime + _left_running(directory) - before, memory.peak, reached)


def measure_twice(tool: Tool, directory: Path) -> Twice:
    """A first run without anything kept, and a second one after it, on open connections where the tool keeps them."""
    begun = served(directory)
    first = measured(tool, directory)
    if tool.keeps:  # what a node spent on connections is known when they are over
        end_masters(directory)
    ended = served(directory)
    kept = measured(tool, directory) if tool.keeps else first
    second = measured(tool, directory)
    end_masters(directory)
    rest = served(directory) - ended
    node = ended - begun
    return Twice(kept, second, node, rest - node if tool.keeps else rest)


def end_masters(directory: Path) -> None:
    """End what ssh left running."""
    for path in directory.glob("m-*"):
        command = ["ssh", "-o", f"ControlPath={path}", "-O", "exit", "any"]
        subprocess.run(command, check=False, capture_output=True)


def is_there(tool: Tool) -> bool:
    """Whether this machine has the program of a tool."""
    return shutil.which(tool.needs) is not None


def list_missing() -> list[str]:
    """The packages of rivals and limits that this machine has not."""
    every = [*(each.once for each in clients(CACHE)), *rivals(CACHE)]
    return list(dict.fromkeys(tool.package for tool in every if not is_there(tool)))


def install() -> None:
    """Bring the rivals and the limits."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *PACKAGES]):
        subprocess.run(["apt-get", *words], check=True, env=environment)
    subprocess.run([sys.executable, "-m", "venv", str(ANSIBLE)], check=True)
    subprocess.run([str(ANSIBLE / "bin" / "pip"), "install", "-q", "ansible-core"], check=True)
