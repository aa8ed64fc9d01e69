"""One console as a child process: its screen and its keys go over pipes, in the packets of Textual's web driver.

A packet is a letter, the length of its payload in four bytes, and the payload (``textual.drivers.web_driver``). Of the
orders that a console gives to a page besides what the terminal shows, only its end is obeyed: nothing is downloaded
and no other page is opened.
"""

import asyncio
import json
import os
import signal
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from benchconsole.console.text.sanitize import sanitize_lines

Pipe = TypeVar("Pipe", asyncio.StreamReader, asyncio.StreamWriter)

_PRELUDE = b"__GANGLION__\n"
_HEAD = struct.Struct(">cI")
_LARGEST = 16 * 1024 * 1024
"""Bytes of a packet at most; a full repaint of a large screen takes some hundred thousand."""

_KEPT_ERRORS = 4096
"""Bytes of the end of standard error that are kept."""

_MOST_WAITING = 1024 * 1024
"""Bytes of keys that wait for a console that takes none; further keys are dropped."""

_LARGEST_SIDE = 1000
"""Cells of a side of the screen at most, whatever a page asks for."""


class PacketError(Exception):
    """A console wrote what is no packet."""


class Size(NamedTuple):
    """Columns and rows of a terminal."""

    width: int
    height: int

    @classmethod
    def within_limits(cls, width: int, height: int) -> "Size":
        """The nearest size that a console can have."""
        return cls(*(min(max(side, 1), _LARGEST_SIDE) for side in (width, height)))


class Ending(NamedTuple):
    """The exit code of a console, minus the number of a signal that ended it, and its last words, made safe to show."""

    code: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsoleCommand:
    """The command that opens a console: its words, which no shell reads, and its whole environment.

    ``patience`` is how many seconds it may take to end once its page is closed, before it is killed; None: as long as
    it takes, for it may have a run to end on the nodes.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]
    patience: float | None


class ConsoleProcess:
    """A console that was started; ``hang_up`` or ``kill`` ends it, ``wait`` says how it ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._errors = asyncio.create_task(_read_tail(_require(process.stderr)))
        self._keys = _require(process.stdin)

    @classmethod
    async def start(cls, command: ConsoleCommand, size: Size) -> "ConsoleProcess":
        """Start it in a process group of its own: a ctrl-c at the server's terminal is for the server alone."""
        sides = {"COLUMNS": str(size.width), "ROWS": str(size.height)}
        process = await asyncio.create_subprocess_exec(
            *command.words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**command.environment, **sides},
            start_new_session=True,
        )
        return cls(process)

    async def read_screen(self) -> AsyncIterator[bytes]:
        """The bytes for a terminal, until the console leaves its screen or ends; PacketError for anything else."""
        stdout = _require(self._process.stdout)
        with suppress(asyncio.IncompleteReadError):
            await _skip_prelude(stdout)
            while True:
                kind, size = _HEAD.unpack(await stdout.readexactly(_HEAD.size))
                if kind not in (b"D", b"M", b"P") or size > _LARGEST:
                    raise PacketError(
                        f"a packet {kind!r} of {size:,} bytes, expected D, M or P of at most {_LARGEST:,}"
                    )
                payload = await stdout.readexactly(size)
                if kind == b"D":
                    yield payload
                elif kind == b"M" and json.loads(payload).get("type") == "exit":
                    return

    def press(self, text: str) -> None:
        """Send keys, or what a terminal answers."""
        self._send(b"D", text.encode("utf-8", errors="replace"))

    def resize(self, size: Size) -> None:
        self._order({"type": "resize", "width": size.width, "height": size.height})

    def focus(self, *, has_focus: bool) -> None:
        self._order({"type": "focus" if has_focus else "blur"})

    def hang_up(self) -> None:
        """Tell it that nobody looks any more, as a terminal does that goes away: it ends in good order."""
        self._keys.close()

    def kill(self) -> None:
        """End it and all that is in its process group at once."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def wait(self) -> Ending:
        """Wait for its end."""
        code = await self._process.wait()
        self._keys.close()
        text = (await self._errors).decode("utf-8", errors="replace")
        return Ending(code, tuple(line for line in sanitize_lines(text) if line))

    def _order(self, order: Mapping[str, str | int]) -> None:
        self._send(b"M", json.dumps(order).encode())

    def _send(self, kind: bytes, payload: bytes) -> None:
        """Send a packet, at once or not at all: who waited for a console that hangs would miss the end of its page."""
        if not self._keys.is_closing() and self._keys.transport.get_write_buffer_size() < _MOST_WAITING:
            self._keys.write(_HEAD.pack(kind, len(payload)) + payload)


async def _skip_prelude(stdout: asyncio.StreamReader) -> None:
    """Read on to the first packet; what was printed before belongs to no screen."""
    try:
        while (line := await stdout.readline()) != _PRELUDE:
            if not line:
                raise asyncio.IncompleteReadError(b"", None)
    except ValueError as error:  # a line beyond the limit of the reader
        raise PacketError(str(error)) from error


async def _read_tail(stream: asyncio.StreamReader) -> bytes:
    """The last of what comes, to its end."""
    kept = b""
    while data := await stream.read(_KEPT_ERRORS):
        kept = (kept + data)[-_KEPT_ERRORS:]
    return kept


def _require(pipe: Pipe | None) -> Pipe:
    """A pipe that ``start`` asked for."""
    if pipe is None:
        raise PacketError("no pipe leads to the console")
    return pipe
