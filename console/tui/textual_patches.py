"""Three overrides inside Textual, for the versions with which they were measured and no other.

Textual 8.2 repaints a changed span from the left edge of its widget, so that one cell at
column 199 sends 200 cells. Cropped at both ends, a live map sends a seventieth of the bytes.

It also waits, without end, for a terminal that takes no output: a stopped one halts the program, and one
that has gone away keeps it from ending. Here a frame that is not taken is left out, and the screen is
sent whole when output is taken again.

It also takes what follows an escape character inside pasted text for keys. Here a paste has no escape characters.

The overrides end with the release that does the same.
"""

import fcntl
import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Full
from typing import Protocol

import textual
from rich.console import Console
from rich.control import Control
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.app import App
from textual.drivers import _writer_thread
from textual.drivers._writer_thread import WriterThread
from textual.message import Message
from textual.strip import Strip

_KNOWN = "textual-8.2.*.dist-info"
"""The folder beside Textual that tells its version."""

WAITING = 240
"""Pieces of output that wait for the terminal, some seconds of a live screen; Textual lets 30 wait."""

PATIENCE_SECONDS = 0.5
"""How long the screen waits for a terminal once, before it leaves frames out."""


_ESCAPE = "\x1b"


class Update(Protocol):
    """The attributes that the override reads of Textual's ``ChopsUpdate``."""

    chops: Sequence[Mapping[int, Strip | None]]
    spans: list[tuple[int, int, int]]
    chop_ends: list[list[int]]


def apply() -> bool:
    """Put the override in place; False when this Textual is not one it is known to fit."""
    if not any(find_packages().glob(_KNOWN)):
        return False
    from textual._compositor import ChopsUpdate

    if not {"chops", "spans", "chop_ends"} <= set(ChopsUpdate.__init__.__code__.co_varnames):
        return False
    ChopsUpdate.render_segments = _cropped_on_both_sides  # type: ignore[method-assign]
    _writer_thread.MAX_QUEUED_WRITES = WAITING  # type: ignore[misc]
    WriterThread.write = _write  # type: ignore[method-assign]
    WriterThread.stop = _stop  # type: ignore[method-assign]
    WriterThread.run = _run  # type: ignore[method-assign]
    XTermParser.feed = _feed  # type: ignore[method-assign]
    return True


def find_packages() -> Path:
    """The folder in which Textual is installed. Its ``__version__`` loads 40 modules (35 ms) to look in there."""
    return Path(textual.__file__).parents[1]


def caught_up(app: App[int]) -> bool:
    """Whether frames were left out and the terminal takes output again; True once, then the screen must be sent."""
    writer = getattr(app._driver, "_writer_thread", None)  # noqa: SLF001 - the driver has no other door
    if writer is None or not getattr(writer, "behind", False) or not writer._queue.empty():  # noqa: SLF001
        return False
    writer.behind = False
    return True


def _write(self: WriterThread, text: str) -> None:
    """Hand ``text`` over; wait for a terminal that is behind once, not for each frame, and for a dead one never."""
    if not self.is_alive():
        return
    try:
        self._queue.put(text, timeout=0.0 if getattr(self, "behind", False) else PATIENCE_SECONDS)
    except Full:
        self.behind = True  # type: ignore[attr-defined]


def _stop(self: WriterThread) -> None:
    """End the thread; what a stopped terminal does not take is dropped, or the program could not end."""
    with suppress(Full):
        self._queue.put(None, timeout=PATIENCE_SECONDS)
    self.join(PATIENCE_SECONDS)
    if self.is_alive():
        _break_off(self)


def _break_off(writer: WriterThread) -> None:
    """Take the thread out of a write that waits for a stopped terminal, and say nothing more to that terminal."""
    number = writer.fileno()
    flags = fcntl.fcntl(number, fcntl.F_GETFL)
    before = signal.signal(signal.SIGURG, lambda *_: None)  # a handler, so that the write is interrupted
    fcntl.fcntl(number, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        if writer.ident is not None:
            signal.pthread_kill(writer.ident, signal.SIGURG)
        writer.join(2 * PATIENCE_SECONDS)
    finally:
        fcntl.fcntl(number, fcntl.F_SETFL, flags)
        signal.signal(signal.SIGURG, before)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for terminal in {number, 1, 2}:
        if os.isatty(terminal):
            os.dup2(nowhere, terminal)  # what is flushed at the end of the program must not wait either
    os.close(nowhere)


def _run(self: WriterThread) -> None:
    """As before; a terminal that is gone, or broken off from, ends the thread without a word."""
    with suppress(OSError):
        _RUN(self)


_RUN = WriterThread.run


def _feed(self: XTermParser, data: str) -> Iterable[Message]:
    """As before, without the escape characters of pasted text; no text at all is the end, here as there."""
    if "pasting" not in vars(self):
        self.pasting = PasteFilter()  # type: ignore[attr-defined]
    taken = self.pasting.take(data)  # type: ignore[attr-defined]
    return _FEED(self, taken) if taken or not data else ()


_FEED = XTermParser.feed


class PasteFilter:
    """The input of a terminal, in pieces, without the escape characters between the two marks of a bracketed paste.

    A mark may come in two pieces. Outside a paste nothing is kept back, for an escape is a key there.
    """

    def __init__(self) -> None:
        self._is_paste = False
        self._tail = ""
        """The end of what came, which may be half a mark: passed on already outside a paste, kept back inside."""

    def take(self, text: str) -> str:
        """``text`` as it may go on; what is kept back comes first in a later answer."""
        taken = ""
        while text:
            ready, text = self._take_paste(text) if self._is_paste else self._take_keys(text)
            taken += ready
        return taken

    def _take_keys(self, text: str) -> tuple[str, str]:
        """``text`` up to the end of a mark that begins a paste, and what comes after it."""
        seen = self._tail + text
        before, mark, pasted = seen.partition(BRACKETED_PASTE_START)
        self._is_paste = bool(mark)
        self._tail = "" if mark else before[1 - len(BRACKETED_PASTE_START) :]
        return text[: len(text) - len(pasted)], pasted

    def _take_paste(self, text: str) -> tuple[str, str]:
        """``text`` up to the mark that ends the paste, and what comes after it."""
        seen = self._tail + text
        # The last mark, for not every terminal takes marks out of what is pasted.
        pasted, mark, keys = seen.rpartition(BRACKETED_PASTE_END)
        if mark:
            self._is_paste, self._tail = False, ""
            return pasted.replace(_ESCAPE, "") + mark, keys
        half = seen.rfind(_ESCAPE)
        self._tail = seen[half:] if half >= 0 and BRACKETED_PASTE_END.startswith(seen[half:]) else ""
        return seen.removesuffix(self._tail).replace(_ESCAPE, ""), ""


def _cropped_on_both_sides(self: Update, console: Console) -> str:
    """Move to the first changed cell of each span and send no more than the span."""
    sent: list[str] = []
    for y, first, last in self.spans:
        for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
            if strip is None or x >= last or end <= first:
                continue
            start, stop = max(x, first), min(end, last)
            sent.append(Control.move_to(start, y).segment.text)
            sent.append(strip.crop(start - x, stop - x).render(console))
    return "".join(sent)
