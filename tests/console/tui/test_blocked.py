"""A terminal that takes no output: what runs goes on, frames are left out, and the last picture is whole.

The console runs in a process of its own on a pseudo-terminal that nobody reads for a while.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from types import SimpleNamespace

import pyte
import pytest

from benchconsole.console.tui import textual_patches

ROOT = Path(__file__).parents[3]
SIZE = (100, 30)
CHILD = """
import asyncio, os, sys
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.view.session_control import Hear
from benchconsole.console.tui import textual_patches
from benchconsole.console.tui.app import console_app
from benchconsole.console.tui.rows.terminal import Terminal
from tests.console.tui.looking import faulty
from tests.console.tui.playing import Player

console_app.TICK = 0.01
textual_patches.WAITING = 12
textual_patches.PATIENCE_SECONDS = 0.05
told = int(sys.argv[1])

class Apart(Player):
    "Plays in an engine of its own, and tells beside the screen how far it has come."

    async def follow(self, hear):
        async def play():
            for number, event in enumerate(self.waiting):
                hear((event,))
                if number % 20 == 0:
                    os.write(told, b"%d\\n" % number)
                    await asyncio.sleep(0.004)
            os.write(told, b"over\\n")
            await asyncio.Event().wait()
        await LoopThread().ask(play)

print("EXIT", console_app.run(lambda: Apart(faulty()), terminal=Terminal()))
"""


class Console:
    """The child, its terminal, and what it told of itself."""

    def __init__(self, pid: int, master: int, told: int) -> None:
        self.pid = pid
        self.master = master
        self.told = told
        self.progress = b""
        self.screen = pyte.Screen(*SIZE)
        self.stream = pyte.ByteStream(self.screen)

    def hear(self, wanted: bytes, seconds: float = 30.0) -> None:
        """Wait until the child has told ``wanted``; its terminal is not read meanwhile."""
        end = time.monotonic() + seconds
        while wanted not in self.progress:
            assert select.select([self.told], [], [], max(end - time.monotonic(), 0))[0], self.progress[-80:]
            self.progress += os.read(self.told, 4096)

    def read(self, until: Callable[[list[str]], bool], seconds: float = 30.0) -> list[str]:
        """Take output until the screen is as wanted."""
        end = time.monotonic() + seconds
        while not until(self.screen.display):
            if not select.select([self.master], [], [], max(end - time.monotonic(), 0))[0]:
                raise AssertionError("\n".join(self.screen.display))
            self.stream.feed(os.read(self.master, 65536))
        return list(self.screen.display)

    def ended(self, seconds: float = 30.0) -> int:
        """Its exit status, once it has ended by itself."""
        pidfd = os.pidfd_open(self.pid)
        try:
            assert select.select([pidfd], [], [], seconds)[0], "it did not end"
        finally:
            os.close(pidfd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@contextmanager
def console() -> Iterator[Console]:
    told, tell = os.pipe()
    os.set_inheritable(tell, True)
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        os.execve(sys.executable, [sys.executable, "-c", CHILD, str(tell)], environment)  # noqa: S606 - the child
    os.close(tell)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    running = Console(pid, master, told)
    try:
        yield running
    finally:
        for number in (master, told):
            try:
                os.close(number)
            except OSError:
                continue
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


@pytest.mark.fault("F34")
def test_the_run_goes_on_and_the_screen_is_whole_when_the_terminal_comes_back() -> None:
    with console() as running:
        running.read(lambda rows: "Fabric" in rows[0])
        running.hear(b"over")
        rows = running.read(lambda rows: "leaf3 to spine1" in "\n".join(rows) and " 1 Fabric " in rows[0])
        assert "SIMULATED" in rows[0]
        assert "? help" in rows[-1] or "export" in rows[-1]
        os.write(running.master, b"3")
        rows = running.read(lambda rows: any("The run is complete" in row for row in rows))
        assert "mini" in rows[1]


def test_a_coloured_paste_opens_nothing() -> None:
    with console() as running:
        running.read(lambda rows: "Fabric" in rows[0])
        running.hear(b"over")
        running.read(lambda rows: "leaf3 to spine1" in "\n".join(rows))
        os.write(running.master, b"\x1b[200~\x1b[31mR\x1b[0m :quit\r\x1b[201~3")
        # the keys of the page, not those of a sheet; a screen that is half painted has those of the page before
        running.read(lambda rows: any("The run is complete" in row for row in rows) and "plan a run" in rows[-1])
        os.write(running.master, b"q")
        assert running.ended() == 0


@pytest.mark.fault("F20", "F34")
def test_a_terminal_that_goes_away_does_not_keep_the_console() -> None:
    with console() as running:
        running.read(lambda rows: "Fabric" in rows[0])
        running.hear(b"over")
        os.close(running.master)
        assert running.ended() is not None


@pytest.mark.fault("F20", "F34")
def test_a_signal_ends_it_while_nobody_reads() -> None:
    with console() as running:
        running.read(lambda rows: "Fabric" in rows[0])
        running.hear(b"over")
        os.kill(running.pid, signal.SIGTERM)
        assert running.ended() == 0  # the child prints the console's own exit code and ends


class Stuck(threading.Thread):
    """Stands for Textual's writer: alive, and its file takes nothing."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._queue: Queue[str | None] = Queue(2)
        self.release = threading.Event()

    def run(self) -> None:
        self.release.wait()


@pytest.mark.fault("F34")
def test_frames_are_left_out_and_the_whole_is_wanted_once_output_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual_patches, "PATIENCE_SECONDS", 0.01)
    writer = Stuck()
    writer.start()
    app = SimpleNamespace(_driver=SimpleNamespace(_writer_thread=writer))
    for number in range(5):
        textual_patches._write(writer, f"frame {number}")  # type: ignore[arg-type]
    assert not textual_patches.caught_up(app)  # type: ignore[arg-type]
    assert [writer._queue.get(), writer._queue.get()] == ["frame 0", "frame 1"]
    assert textual_patches.caught_up(app)  # type: ignore[arg-type]
    assert not textual_patches.caught_up(app)  # type: ignore[arg-type]
    writer.release.set()
    writer.join()
    textual_patches._write(writer, "to nobody")  # type: ignore[arg-type]
    assert writer._queue.empty()
