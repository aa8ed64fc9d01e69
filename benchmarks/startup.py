"""Start-up beside a bare interpreter: wall milliseconds, modules loaded, and the first frame of the console.

    python -m benchmarks.startup [RUNS]

Prints medians and the ratio to ``python -c pass`` in the same run; the machine may be noisy, so
compare ratios. The first frame is the first paint of the tab bar on a pseudo-terminal.
"""

import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 9
COUNT = "import sys, atexit; atexit.register(lambda: print(len(sys.modules), file=sys.stderr)); "
MAIN = COUNT + "sys.argv = ['benchconsole', {arguments}]; from benchconsole.console.cli import main; main()"
TOPOLOGY = """\
schema: 1
fabric: startup
switches: {leaf1: {role: leaf}}
nodes: {"n[01-16]": {}}
links: [{from: "n[01-16]", to: leaf1, speed: 10G}]
"""


def wall(argv: list[str], environment: dict[str, str]) -> tuple[float, int]:
    """Median milliseconds of a command, and the modules that it had loaded (0 where it does not say)."""
    times, modules = [], 0
    for _ in range(RUNS):
        started = time.perf_counter()
        done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
        times.append((time.perf_counter() - started) * 1000)
        last = done.stderr.strip().splitlines()[-1:] or ["0"]
        modules = int(last[0]) if last[0].isdigit() else 0
    return statistics.median(times), modules


def first_frame(topology: Path, environment: dict[str, str]) -> float:
    """Milliseconds from the start of the process to the first painted tab bar."""
    started = time.perf_counter()
    pid, screen = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "benchconsole.console.cli", str(topology)], environment)
    seen = b""
    try:
        while b"Fabric" not in seen and time.perf_counter() - started < 30:
            if select.select([screen], [], [], 1)[0]:
                seen += os.read(screen, 65536)
        return (time.perf_counter() - started) * 1000
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(screen)


def main() -> None:
    """Measure and print the table."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "HOME": home,
            "XDG_DATA_HOME": home,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        bare, loaded = wall([sys.executable, "-c", COUNT], environment)
        print(f"{'what':34} {'ms':>7} {'x bare':>7} {'modules':>8}")
        print(f"{'python -c pass':34} {bare:7.1f} {1.0:7.2f} {loaded:8}")
        for name in ("--version", "--help", "sessions"):
            median, loaded = wall([sys.executable, "-c", MAIN.format(arguments=repr(name))], environment)
            print(f"{'benchconsole ' + name:34} {median:7.1f} {median / bare:7.2f} {loaded:8}")
        completing = {
            **environment,
            "_BENCHCONSOLE_COMPLETE": "bash_complete",
            "COMP_WORDS": "benchconsole se",
            "COMP_CWORD": "1",
        }
        median, loaded = wall([sys.executable, "-c", MAIN.format(arguments="")], completing)
        print(f"{'completion of benchconsole se':34} {median:7.1f} {median / bare:7.2f} {loaded:8}")
        median, _ = wall([sys.executable, "-c", "import textual.app, textual.widget"], environment)
        print(f"{'import textual.app (peer)':34} {median:7.1f} {median / bare:7.2f}")
        median, _ = wall([sys.executable, "-c", "import asyncssh"], environment)
        print(f"{'import asyncssh (not before paint)':34} {median:7.1f} {median / bare:7.2f}")
        topology = Path(home) / "startup.yaml"
        topology.write_text(TOPOLOGY)
        median = statistics.median(first_frame(topology, environment) for _ in range(max(RUNS // 2, 3)))
        print(f"{'console FILE to its first frame':34} {median:7.1f} {median / bare:7.2f}")


if __name__ == "__main__":
    main()
