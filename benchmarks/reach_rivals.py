"""The rivals of ``reach.py``: how each is called, and what a run of it costs."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.reach_targets import FORKS, private

ANSIBLE = Path("~/.cache/benchconsole/ansible").expanduser()


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


@dataclass(frozen=True)
class Figures:
    """One run: seconds, CPU seconds, peak memory in bytes, hosts that answered."""

    wall: float
    cpu: float
    memory: float
    reached: int


def tools(directory: Path) -> list[Tool]:
    """The rivals, each as its manual would have it."""
    config, hosts, inventory = directory / "config", directory / "hosts", directory / "inventory"
    each = ["xargs", "-a", str(hosts), "-P", str(FORKS), "-I", "{}"]
    persist = ["-o", "ControlMaster=auto", "-o", f"ControlPath={directory}/m-%h", "-o", "ControlPersist=60"]
    ansible = ANSIBLE / "bin" / "ansible" if (ANSIBLE / "bin" / "ansible").exists() else Path("ansible")
    return [
        Tool("ssh (xargs -P)", "ssh", "openssh-client", [*each, "ssh", "-F", str(config), "{}", "echo", "reached"]),
        Tool(
            "ssh, default exchange", "ssh", "openssh-client",
            [*each, "ssh", "-F", str(directory / "config-default"), "{}", "echo", "reached"], most=50, is_slow=True,
        ),
        Tool(
            "ssh, ControlPersist", "ssh", "openssh-client",
            [*each, "ssh", "-F", str(config), *persist, "{}", "echo", "reached"], most=320,
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
    """Run a rival once."""
    memory, before = Memory(directory), _left_running(directory)
    memory.start()
    environment = {**os.environ, **tool.environment, "HOME": str(directory)}
    with (directory / "out").open("wb") as out:
        began = time.perf_counter()
        process = subprocess.Popen(tool.command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment)
        _, _, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    process.returncode = 0
    memory.over.set()
    cpu = used.ru_utime + used.ru_stime + _left_running(directory) - before
    text = (directory / "out").read_text(errors="replace")
    lines = [line.strip() for line in text.splitlines() if not line.startswith("ssh:")]
    return Figures(wall, cpu, memory.peak, sum(line.endswith("reached") for line in lines))


def end_masters(directory: Path) -> None:
    """End what ssh left running."""
    for path in directory.glob("m-*"):
        command = ["ssh", "-o", f"ControlPath={path}", "-O", "exit", "any"]
        subprocess.run(command, check=False, capture_output=True)


def install() -> None:
    """Bring the rivals."""
    subprocess.run(
        ["apt-get", "install", "-y", "--no-install-recommends", "openssh-client", "clustershell", "pdsh"], check=True
    )
    subprocess.run([sys.executable, "-m", "venv", str(ANSIBLE)], check=True)
    subprocess.run([str(ANSIBLE / "bin" / "pip"), "install", "-q", "ansible-core"], check=True)
