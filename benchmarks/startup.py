"""Start-up beside a bare interpreter: wall and CPU milliseconds, modules loaded, and the console's first frame.

    python -m benchmarks.startup [RUNS]

Prints medians and the ratio to ``python -c pass`` in the same run; the machine may be noisy, so compare ratios. CPU is
user and system time of the process from its start to its end, for the first frame until it is there. The first frame
is the first paint of the tab bar on a pseudo-terminal.
"""

import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 9
BARE = "python -c pass"
COUNT = "import sys, atexit; atexit.register(lambda: print(len(sys.modules), file=sys.stderr)); "
MAIN = COUNT + "sys.argv = ['benchconsole', {arguments}]; from benchconsole.console.entry import main; main()"
TOPOLOGY = """\
schema: 1
fabric: startup
switches: {leaf1: {role: leaf}}
nodes: {"n[01-16]": {}}
links: [{from: "n[01-16]", to: leaf1, speed: 10G}]
"""


class Took(NamedTuple):
    """Milliseconds of wall and CPU, and the modules that were loaded (0 where it does not say)."""

    wall: float
    cpu: float
    modules: int = 0


def run_once(argv: list[str], environment: dict[str, str]) -> Took:
    """One command from its start to its end."""
    started = time.perf_counter()
    process = subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, stdin=subprocess.DEVNULL
    )
    assert process.stderr
    with process.stderr:
        last = process.stderr.read().strip().splitlines()[-1:] or ["0"]
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    modules = int(last[0]) if last[0].isdigit() else 0
    return Took(wall * 1000, (used.ru_utime + used.ru_stime) * 1000, modules)


def find_first_frame(topology: Path, environment: dict[str, str]) -> Took:
    """From the start of the process to the first painted tab bar."""
    started = time.perf_counter()
    pid, screen = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "benchconsole.console.cli", str(topology)], environment)
    seen = b""
    try:
        while b"Fabric" not in seen and time.perf_counter() - started < 30:
            if select.select([screen], [], [], 1)[0]:
                seen += os.read(screen, 65536)
        wall = time.perf_counter() - started
        threads = Path(f"/proc/{pid}/task").iterdir()
        nanoseconds = sum(int((each / "schedstat").read_text().split()[0]) for each in threads)
        return Took(wall * 1000, nanoseconds / 1e6)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(screen)


def take_median(runs: Sequence[Took]) -> Took:
    wall, cpu = (statistics.median(run[place] for run in runs) for place in (0, 1))
    return Took(wall, cpu, runs[-1].modules)


def main() -> None:
    """Measure and print the table."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # children find their bytecode, as an installed program does
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "HOME": home,
            "XDG_DATA_HOME": home,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        completing = {
            "_BENCHCONSOLE_COMPLETE": "bash_complete",
            "COMP_WORDS": "benchconsole se",
            "COMP_CWORD": "1",
        }
        names = ("--version", "--help", "sessions")
        commands: dict[str, tuple[str, dict[str, str]]] = {
            BARE: (COUNT, {}),
            **{f"benchconsole {name}": (MAIN.format(arguments=repr(name)), {}) for name in names},
            "completion of benchconsole se": (MAIN.format(arguments=""), completing),
            "import textual.app (peer)": ("import textual.app, textual.widget", {}),
            "import asyncssh (not before paint)": ("import asyncssh", {}),
        }
        told = {
            name: take_median([run_once([sys.executable, "-c", code], {**environment, **more}) for _ in range(RUNS)])
            for name, (code, more) in commands.items()
        }
        topology = Path(home) / "startup.yaml"
        topology.write_text(TOPOLOGY)
        frames = [find_first_frame(topology, environment) for _ in range(max(RUNS // 2, 3))]
        told["console FILE to its first frame"] = take_median(frames)
    print(f"{'what':34} {'ms':>7} {'x bare':>7} {'CPU ms':>7} {'x bare':>7} {'modules':>8}")
    bare = told[BARE]
    for name, took in told.items():
        print(f"{name:34} {took.wall:7.1f} {took.wall / bare.wall:7.2f}", end="")
        print(f" {took.cpu:7.1f} {took.cpu / bare.cpu:7.2f} {took.modules or '':>8}")


if __name__ == "__main__":
    main()
