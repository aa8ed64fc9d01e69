"""Cost of keys on the screen: CPU milliseconds and bytes of each, on a real pseudo-terminal of 200 x 50.

    python -m benchmarks.screen [NODES ...]      (134 1000 10000)

For each size a session is made through the public doors (``benchmarks.rejudge_sessions``: leaves of 40 nodes, each
measured with iperf3, one node in a thousand low), opened from the database, and keys are pressed one by one: the next
when the terminal has been quiet for a while. CPU is that of all threads of the console as the kernel's scheduler counts
it (``schedstat``), bytes are those that it wrote. Medians of the keys of one kind. "Loaded" is all until everything is
shown and the terminal is quiet, from the start of the interpreter. From 20,000 nodes on the description alone is
opened, without results.

Beside it stand two plain Textual apps with as many rows of the same columns: a DataTable, and one Static with all rows
in a scrolling container. Goals: key 12 ms, page 40, values 30, filter 40, sort 40 (80 from 20,000 rows on), 200 MB up
to 10,000 nodes. CPU of a busy machine grows with its load: compare ratios.
"""

import asyncio
import errno
import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.rejudge_sessions import PER_LEAF, SPINES, Wanted, make_session

ROWS, COLUMNS = 50, 200
QUIET = 0.12
"""Seconds without output after which a key has done its work."""

UNANSWERED = 1.0
"""Seconds after which nothing comes any more."""

LARGE = 20_000
"""Nodes from which on nothing is measured, only described."""

LOADED = "loaded"

DOWN, PAGE_DOWN, PAGE_UP = b"\x1b[B", b"\x1b[6~", b"\x1b[5~"
ON_FABRIC: tuple[tuple[str, float, Sequence[bytes]], ...] = (
    ("fabric down", 12.0, [DOWN] * 12),
    ("values", 30.0, [b"v"] * 6),
)
"""What is pressed on Fabric: name, goal in CPU milliseconds, the keys."""

ON_NODES: tuple[tuple[str, float, Sequence[bytes]], ...] = (
    ("down", 12.0, [DOWN] * 12),
    ("page", 40.0, [PAGE_DOWN, PAGE_UP] * 4),
    ("sort", 40.0, [b"s"] * 6),
    ("filter", 40.0, [b"/", b"n", b"0", b"0", b"1"]),
)
"""The same of Nodes. The first key of a filter opens its line."""

BASELINE = """
import sys
from textual.app import App
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Static
rows = [(f"n{at:05}", "pass", "9.87 Gb/s", "9.90 Gb/s", "99 %", f"leaf{at // 40:03}") for at in range(int(sys.argv[2]))]
class Table(App):
    def compose(self):
        yield DataTable(cursor_type="row")
    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("node", "state", "measured", "expected", "share", "under")
        table.add_rows(rows)
        table.focus()
class Plain(App):
    def compose(self):
        with VerticalScroll():
            yield Static("\\n".join("  ".join(row) for row in rows), markup=False)
    def on_mount(self):
        self.query_one(VerticalScroll).focus()
(Table if sys.argv[1] == "table" else Plain)().run()
"""


class Cost(NamedTuple):
    """What one key cost: CPU milliseconds and bytes written."""

    cpu: float
    size: int


class Screen:
    """A program on a pseudo-terminal of its own."""

    def __init__(self, pid: int, terminal: int) -> None:
        self.pid = pid
        self._terminal = terminal

    def count_cpu(self) -> float:
        """CPU milliseconds of all threads so far."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((each / "schedstat").read_text().split()[0]) for each in tasks) / 1e6

    def count_memory(self) -> float:
        """Resident MB."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def wait(self, quiet: float = QUIET, text: bytes = b"", longest: float = 120.0) -> int:
        """Read until nothing came for ``quiet`` seconds, and ``text`` was seen; the bytes that came."""
        seen, size, ends = b"", 0, time.monotonic() + longest
        while time.monotonic() < ends:
            if part := self.read(quiet):
                seen, size = (seen + part)[-200_000:], size + len(part)
            elif text in seen:
                return size
        raise TimeoutError(f"{text!r} was not shown within {longest:.0f} s")

    def read(self, seconds: float) -> bytes:
        """What comes next within so many seconds, if anything does; nothing when the program has ended."""
        try:
            return os.read(self._terminal, 1 << 16) if select.select([self._terminal], [], [], seconds)[0] else b""
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            time.sleep(seconds)  # nobody is left to write
            return b""

    def press(self, key: bytes) -> Cost:
        """Press a key, and wait a second for its answer and until the terminal is quiet."""
        before = self.count_cpu()
        os.write(self._terminal, key)
        select.select([self._terminal], [], [], UNANSWERED)
        size = self.wait()
        return Cost(self.count_cpu() - before, size)


@contextmanager
def open_screen(argv: Sequence[str]) -> Iterator[Screen]:
    """Run a program on a terminal; it is ended with the context."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        os.execve(argv[0], list(argv), environment)
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        yield Screen(pid, terminal)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)


def describe(nodes: int) -> str:
    """Leaves of 40 nodes under spines, and a suite that measures each node once as a sender."""
    leaves = max(-(-nodes // PER_LEAF), 2)
    lines = ["schema: 1", "fabric: screen", "network: {mtu: 9000, hash: unknown}", "switches:"]
    lines += [f"  spine[1-{SPINES}]: {{role: spine}}", f"  leaf[0001-{leaves:04}]: {{role: leaf}}"]
    lines += [f'nodes: {{"n[000001-{nodes:06}]": {{role: compute}}}}', "links:"]
    lines += [f'  - {{from: "leaf[0001-{leaves:04}]", to: "spine[1-{SPINES}]", speed: 50 Gb/s, count: 2}}']
    for leaf in range(leaves):
        first, last = PER_LEAF * leaf + 1, min(PER_LEAF * (leaf + 1), nodes)
        if first <= last:
            lines.append(f'  - {{from: "n[{first:06}-{last:06}]", to: leaf{leaf + 1:04}, speed: 10 Gb/s}}')
    lines += ["suites:", "  default:", "    - {probe: iperf3, streams: 16, design: neighbours}"]
    return "\n".join(lines) + "\n"


def make_subject(folder: Path, nodes: int) -> list[str]:
    """The arguments of the console for a session of ``nodes``, which is made; of a large one for its file."""
    if nodes >= LARGE:
        file = folder / f"{nodes}.yaml"
        file.write_text(describe(nodes))
        return [str(file), "--db", str(folder / "none.db")]
    database = folder / f"{nodes}.db"
    asyncio.run(make_session(database, Wanted(f"n{nodes}", describe(nodes), low=0.001)))
    return ["open", f"n{nodes}", "--db", str(database)]


def measure_console(folder: Path, nodes: int) -> tuple[dict[str, Cost], float]:
    """The median cost of each kind of key, that of loading before them, and the memory at the end in MB."""
    with open_screen([sys.executable, "-m", "benchconsole.console.cli", *make_subject(folder, nodes)]) as screen:
        size = screen.wait(1.0, text=b"Fabric")
        found = {LOADED: Cost(screen.count_cpu(), size)} | _press_all(screen, ON_FABRIC)
        screen.press(b"2")
        screen.wait(1.0)
        found |= _press_all(screen, ON_NODES)
        return found, screen.count_memory()


def measure_baseline(kind: str, nodes: int) -> dict[str, Cost]:
    """The same of a plain Textual app, which knows no values, sort and filter."""
    with open_screen([sys.executable, "-c", BASELINE, kind, str(nodes)]) as screen:
        size = screen.wait(1.0, text=b"n00000")
        return {LOADED: Cost(screen.count_cpu(), size)} | _press_all(screen, ON_NODES[:2])


def _press_all(screen: Screen, kinds: Sequence[tuple[str, float, Sequence[bytes]]]) -> dict[str, Cost]:
    """The median cost of each kind of key but for its first."""
    return {name: _take_median([screen.press(key) for key in keys][1:]) for name, _, keys in kinds}


def _take_median(costs: Sequence[Cost]) -> Cost:
    return Cost(statistics.median(each.cpu for each in costs), int(statistics.median(each.size for each in costs)))


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [134, 1_000, 10_000]
    goals = {name: goal for name, goal, _ in (*ON_FABRIC, *ON_NODES)}
    names = (LOADED, *goals)
    _print_row("CPU ms, bytes", names, "    MB")
    with tempfile.TemporaryDirectory() as folder:
        for nodes in sizes:
            own, memory = measure_console(Path(folder), nodes)
            _print_row(f"console, {nodes:,}", [_format_cost(own[name]) for name in names], f"{memory:6.0f}")
            for kind, title in (("table", "DataTable"), ("plain", "one Static")):
                other = measure_baseline(kind, nodes)
                _print_row(f"{title}, {nodes:,}", [_format_cost(other.get(name)) for name in names])
                ratios = (f"{other[name].cpu / own[name].cpu:.1f}x" if name in other else "" for name in names)
                _print_row("  of ours", list(ratios))
    _print_row("goal, CPU ms", ["", *(f"{goal:.0f}" for goal in goals.values())], f"{200:6}")


def _format_cost(cost: Cost | None) -> str:
    return "" if cost is None else f"{cost.cpu:.1f} {cost.size:7,}"


def _print_row(title: str, cells: Sequence[str], rest: str = "") -> None:
    print(f"{title:<20}" + "".join(f"{cell:>16}" for cell in cells) + rest, flush=True)


if __name__ == "__main__":
    main()
