"""Cost of the screen: CPU milliseconds and bytes of keys, start and live results, on a real terminal of 200 x 50.

    python -m benchmarks.screen [NODES ...] [--smallest]      (134 1000 10000)

For each size a session is made through the public doors (``benchmarks.rejudge_sessions``: leaves of 40 nodes, each
measured with iperf3, one node in a thousand low), opened from the database, and keys are pressed one by one: the next
when the terminal has been quiet for a while. CPU is that of all threads of the console as the kernel's scheduler counts
it (``schedstat``), bytes are those that it wrote. Medians of the keys of one kind.

Start rows are medians of five, from exec: "first frame" until the tab bar is painted, "the fabric" until a switch
is, "its results" until the nodes are counted by their states, "all of it", with the analysis of the description, until
the terminal is quiet and the process rests (for the wall: until the last byte). "Live" rows are those of one second
while ``screen_live`` tells 500 results a second. From 20,000 nodes on the description alone is opened, without results.
The goal of "its results" is wall time, that of all other rows is CPU. ``--smallest`` starts each once and presses two
keys of a kind: it shows only that all runs.

Beside it stand two plain Textual apps with as many rows of the same columns: a DataTable, and one Static with all rows
in a scrolling container; live, the one changes as many cells, and the other all of its text ten times a second. "Bare
Textual" is an app that shows one word. "Of ours" is their CPU over ours. CPU of a busy machine grows with its load:
compare ratios.
"""

import asyncio
import errno
import fcntl
import os
import pty
import select
import signal
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

PATIENCE = 10.0
"""Seconds that a program has to end in."""

UNANSWERED = 1.0
"""Seconds after which nothing comes any more."""

LARGE = 20_000
"""Nodes from which on nothing is measured, only described."""

LOADED = "loaded"

UP, DOWN, PAGE_DOWN, PAGE_UP = b"\x1b[A", b"\x1b[B", b"\x1b[6~", b"\x1b[5~"
ON_FABRIC: tuple[tuple[str, float, Sequence[bytes]], ...] = (
    ("Fabric: down", 12.0, [DOWN] * 12),
    ("Fabric: values", 30.0, [b"v"] * 6),
)
"""Measurements on Fabric: name, goal in CPU milliseconds, the pressed keys."""

ON_NODES: tuple[tuple[str, float, Sequence[bytes]], ...] = (
    ("Nodes: down", 12.0, [DOWN] * 12),
    ("Nodes: page down", 40.0, [PAGE_DOWN, PAGE_UP] * 4),
    ("Nodes: sort", 40.0, [b"s"] * 6),
    ("Nodes: a letter of a filter", 40.0, [b"/", b"n", b"0", b"0", b"1"]),
)
"""The same of Nodes. The first key of a filter opens its line."""

AREAS = ("pairs", "results", "links", "criteria", "rounds")
"""Pages that are tables, too: each is opened; down and page down are pressed, and back: some are short."""

FORM, LETTER = ":criteria, its form opens", ":criteria, a letter of its form"

FIRST, FABRIC, RESULTS, LOADED = "first frame", "the fabric on it", "its results", "all of it"
LIVE_PAGES = (("Fabric", b"1"), ("Nodes", b"2"), ("Run", b"3"))

GOALS = {
    FIRST: (600.0, 0),
    RESULTS: (3000.0, 0),
    **{name: (goal, 0) for name, goal, _ in (*ON_FABRIC, *ON_NODES)},
    **{f":{area} {kind}": (goal, 0) for area in AREAS for kind, goal in (("down", 12.0), ("page down", 40.0))},
    LETTER: (40.0, 0),
    **{f"live: {page}, one second": (150.0, 40_000) for page, _ in LIVE_PAGES},
}
"""CPU milliseconds (of ``RESULTS`` wall milliseconds), and bytes where they are bounded, too.

A sort of 20,000 rows and more may take 80 ms.
"""

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("n00000")
Bare().run()
"""

BASELINE = """
import sys
from textual.app import App
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Static
rows = [(f"n{at:05}", "pass", "9.87 Gb/s", "9.90 Gb/s", "99 %", f"leaf{at // 40:03}") for at in range(int(sys.argv[2]))]
LIVE = len(sys.argv) > 3
class Table(App):
    done = 0
    def compose(self):
        yield DataTable(cursor_type="row")
    def change(self):
        table = self.query_one(DataTable)
        for _ in range(50):
            self.done += 1
            table.update_cell_at((self.done % len(rows), 2), f"{self.done % 1000 / 100:.2f} Gb/s")
    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("node", "state", "measured", "expected", "share", "under")
        table.add_rows(rows)
        table.focus()
        LIVE and self.set_interval(0.1, self.change)
class Plain(App):
    done = 0
    def change(self):
        self.done += 50
        changed = [(f"{self.done}", *row[1:]) for row in rows]
        self.query_one(Static).update("\\n".join("  ".join(row) for row in changed))
    def compose(self):
        with VerticalScroll():
            yield Static("\\n".join("  ".join(row) for row in rows), markup=False)
    def on_mount(self):
        self.query_one(VerticalScroll).focus()
        LIVE and self.set_interval(0.1, self.change)
(Table if sys.argv[1] == "table" else Plain)().run()
"""


class Effort(NamedTuple):
    """How often each is started, how many keys of a kind are pressed, and seconds of live results that are counted."""

    starts: int
    keys: int
    live: float


WHOLE, SMALLEST = Effort(5, 12, 4.0), Effort(1, 2, 0.3)


class Cost(NamedTuple):
    """The cost of one key: CPU milliseconds and bytes written; of a start the wall milliseconds, too."""

    cpu: float
    size: int
    wall: float = 0.0


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
        """The bytes that come next within so many seconds, if any do; nothing when the program has ended."""
        try:
            return os.read(self._terminal, 1 << 16) if select.select([self._terminal], [], [], seconds)[0] else b""
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            time.sleep(seconds)  # nobody is left to write
            return b""

    def rest(self) -> Cost:
        """Wait until nothing was written for a second in which the process used less than a twentieth of it.

        Returns the cost until then, and when its last byte came, from now on.
        """
        began = last = time.monotonic()
        size, ends = 0, began + 120.0
        while time.monotonic() < ends:
            before, looked = self.count_cpu(), time.monotonic()
            while time.monotonic() < looked + 1.0:
                if part := self.read(max(looked + 1.0 - time.monotonic(), 0.0)):
                    size, last = size + len(part), time.monotonic()
            if last < looked and self.count_cpu() - before < 50.0:
                return Cost(self.count_cpu(), size, (last - began) * 1e3)
        raise TimeoutError("the program did not come to rest within two minutes")

    def wait_for(self, text: bytes, since: float) -> Cost:
        """Read until ``text`` was seen: what was used until then, and the milliseconds since that time."""
        seen, ends = b"", time.monotonic() + 60.0
        while text not in seen:
            if time.monotonic() > ends:
                raise TimeoutError(f"{text!r} was not shown within a minute")
            seen += self.read(0.05)
        return Cost(self.count_cpu(), len(seen), (time.monotonic() - since) * 1e3)

    def count_second(self, seconds: float) -> Cost:
        """CPU milliseconds and bytes of one second, over some."""
        before, began, size = self.count_cpu(), time.monotonic(), 0
        while (gone := time.monotonic() - began) < seconds:
            size += len(self.read(max(seconds - gone, 0.0)))
        return Cost((self.count_cpu() - before) / gone, int(size / gone))

    def send(self, key: bytes) -> None:
        os.write(self._terminal, key)

    def press(self, key: bytes) -> Cost:
        """Press a key, and wait a second for its answer and until the terminal is quiet."""
        before = self.count_cpu()
        self.send(key)
        select.select([self._terminal], [], [], UNANSWERED)
        size = self.wait()
        return Cost(self.count_cpu() - before, size)


@contextmanager
def open_screen(argv: Sequence[str]) -> Iterator[Screen]:
    """Run a program on a terminal; it is ended with the context, and may put away what it made."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it finds its bytecode, as an installed program does
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        os.execve(argv[0], list(argv), environment)
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        yield Screen(pid, terminal)
    finally:
        _end(pid)
        os.close(terminal)


def _end(pid: int) -> None:
    """End a child: on request, and by force after ``PATIENCE``."""
    ended = os.pidfd_open(pid)
    os.kill(pid, signal.SIGTERM)
    if not select.select([ended], [], [], PATIENCE)[0]:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(ended)


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
    lines += ["suites:", "  default:", "    - {probe: iperf3, streams: 16, design: neighbours}", "criteria:"]
    lines += [f"  - {{metric: iperf3.throughput, at_least: {rate} Gb/s}}" for rate in (1, 2, 3)]
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


def measure_start(argv: Sequence[str], effort: Effort, nodes: int) -> dict[str, Cost]:
    """The medians of the rows of the start of a console; the first of several may have to compile, and counts not."""
    has_results = nodes < LARGE
    told: dict[str, list[Cost]] = {name: [] for name in (FIRST, FABRIC, *([RESULTS] * has_results), LOADED)}
    for _ in _count_starts(effort):
        began = time.monotonic()
        with open_screen([sys.executable, "-m", "benchconsole.console.cli", *argv]) as screen:
            told[FIRST].append(screen.wait_for(b"Fabric", began))
            told[FABRIC].append(screen.wait_for(b"spine2", began))
            if has_results:
                told[RESULTS].append(screen.wait_for(f"of {nodes:,} nodes".encode(), began))
            waited = (time.monotonic() - began) * 1e3
            rest = screen.rest()
            told[LOADED].append(rest._replace(wall=waited + rest.wall))
    return {name: _take_median(costs[-effort.starts :]) for name, costs in told.items()}


def _count_starts(effort: Effort) -> range:
    return range(effort.starts + (effort.starts > 1))


def measure_console(folder: Path, nodes: int, effort: Effort) -> tuple[dict[str, Cost], list[float]]:
    """The median cost of each row, and the resident memory in MB after the keys of Fabric and Nodes, and after all."""
    argv = make_subject(folder, nodes)
    found = measure_start(argv, effort, nodes)
    with open_screen([sys.executable, "-m", "benchconsole.console.cli", *argv]) as screen:
        screen.wait_for(b"spine2", 0.0)
        screen.rest()
        found |= _press_all(screen, ON_FABRIC, effort)
        screen.press(b"2")
        screen.rest()
        found |= _press_all(screen, ON_NODES, effort)
        memory = [screen.count_memory()]
        for area in AREAS if nodes < LARGE else ():
            found |= _measure_area(screen, area, effort)
        for page in (b"3", b"4"):
            screen.press(page)
        memory.append(screen.count_memory())
    return found | (measure_live(nodes, effort) if nodes < LARGE else {}), memory


def _measure_area(screen: Screen, area: str, effort: Effort) -> dict[str, Cost]:
    """A page that a command opens: what that costs the first time, with its imports, and its keys."""
    screen.press(b"\x1b")
    screen.press(b":")
    found = {f":{area} opens": screen.press(f"{area}\r".encode())}
    screen.rest()
    kinds = ((f":{area} down", 0.0, [DOWN, UP] * 4), (f":{area} page down", 0.0, [PAGE_DOWN, PAGE_UP] * 3))
    found |= _press_all(screen, kinds, effort)
    if area == "criteria":
        found[FORM] = screen.press(b"a")
        found |= _press_all(screen, ((LETTER, 0.0, [b"i", b"p", b"e", b"r"]),), effort)
        screen.press(b"\x1b")
    screen.press(b"\x1b")
    return found


def measure_live(nodes: int, effort: Effort) -> dict[str, Cost]:
    """One second of each tab while results come."""
    code = f"from benchmarks.screen_live import show; show({describe(nodes)!r})"
    found = {}
    with open_screen([sys.executable, "-c", code]) as screen:
        screen.wait_for(b"spine2", 0.0)
        for page, key in LIVE_PAGES:
            screen.send(key)
            screen.count_second(min(1.0, effort.live))
            found[f"live: {page}, one second"] = screen.count_second(effort.live)
    return found


def measure_baseline(kind: str, nodes: int, effort: Effort) -> dict[str, Cost]:
    """The same of a plain Textual app, which knows no values, sort and filter."""
    began = time.monotonic()
    with open_screen([sys.executable, "-c", BASELINE, kind, str(nodes)]) as screen:
        first = screen.wait_for(b"n00000", began)
        screen.rest()
        found = {LOADED: first} | _press_all(screen, ON_NODES[:2], effort)
    with open_screen([sys.executable, "-c", BASELINE, kind, str(nodes), "live"]) as screen:
        screen.wait_for(b"n00000", began)
        screen.count_second(min(1.0, effort.live))
        return found | {"live: Nodes, one second": screen.count_second(effort.live)}


def measure_bare(effort: Effort) -> Cost:
    """The first frame of a Textual app that shows one word."""
    told = []
    for _ in _count_starts(effort):
        began = time.monotonic()
        with open_screen([sys.executable, "-c", BARE]) as screen:
            told.append(screen.wait_for(b"n00000", began))
    return _take_median(told[-effort.starts :])


def _press_all(screen: Screen, kinds: Sequence[tuple[str, float, Sequence[bytes]]], effort: Effort) -> dict[str, Cost]:
    """The median cost of each kind of key but for its first."""
    return {name: _take_median([screen.press(key) for key in keys[: effort.keys]][1:]) for name, _, keys in kinds}


def _take_median(costs: Sequence[Cost]) -> Cost:
    cpu, size, wall = (statistics.median(each[place] for each in costs) for place in range(3))
    return Cost(cpu, int(size), wall)


def main() -> None:
    effort = SMALLEST if "--smallest" in sys.argv else WHOLE
    sizes = [int(word) for word in sys.argv[1:] if word != "--smallest"] or [134, 1_000, 10_000]
    with tempfile.TemporaryDirectory() as folder:
        for nodes in sizes:
            own, memory = measure_console(Path(folder), nodes, effort)
            others: dict[str, tuple[Cost, Cost | None]] = {FIRST: (measure_bare(effort), None)}
            table, plain = (measure_baseline(kind, nodes, effort) for kind in ("table", "plain"))
            others |= {name: (table[name], plain[name]) for name in table}
            _print_size(nodes, own, others, memory)


def _print_size(
    nodes: int, own: dict[str, Cost], others: dict[str, tuple[Cost, Cost | None]], memory: Sequence[float]
) -> None:
    """One size as rows. Beside the first frame stands the bare app; "of ours" is their CPU over ours."""
    print(f"\n{nodes:,} nodes, load {os.getloadavg()[0]:.1f}")
    print(f"{'':30}{'CPU ms':>9}{'goal':>8}{'':>7}{'wall ms':>9}{'bytes':>10}", end="")
    print(f"{'DataTable':>11}{'of ours':>8}{'bytes':>9}{'one Static':>12}{'of ours':>8}{'bytes':>9}")
    for name, cost in own.items():
        goal, most = GOALS.get(name, (0.0, 0))
        goal = 80.0 if name == "Nodes: sort" and nodes >= LARGE else goal
        found = cost.wall if name == RESULTS else cost.cpu
        missed = "missed" if goal and (found > goal or (most and cost.size > most)) else ""
        wall = f"{cost.wall:9.0f}" if cost.wall else " " * 9
        print(f"{name:30}{cost.cpu:9.1f}{goal or '':>8}{missed:>7}{wall}{cost.size:10,}", end="")
        for other, width in zip(others.get(name, ()), (11, 12), strict=False):
            if other is not None:
                print(f"{other.cpu:{width}.1f}{other.cpu / cost.cpu:7.1f}x{other.size:9,}", end="")
        print("   (bare Textual)" if name == FIRST else "")
    for name, resident in zip(("resident MB", "resident MB, all pages"), memory, strict=True):
        missed = "missed" if resident > 200 and nodes <= 10_000 else ""
        print(f"{name:30}{resident:9.0f}{200:8}{missed:>7}", flush=True)


if __name__ == "__main__":
    main()
