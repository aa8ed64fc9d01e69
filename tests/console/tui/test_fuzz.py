"""Ten thousand keys at random: in bursts, in pastes with ESC in them, while a session loads and runs, at changing sizes.

A failure prints its seed and the last moves; BENCHCONSOLE_SEED plays the same moves again.
"""

import os
import random
import string
from collections import deque

import pytest
from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser

from benchconsole.console.tui import textual_patches
from tests.console.tui.looking import Look, running
from tests.console.tui.playing import Player
from tests.console.tui.test_keys import KEYS, PLACES, SMALL, press_at_once

COUNT = 10_000
"""Keys of a run."""
_PASTED = (
    "\x1b[31mR\x1b[0m :quit\r\n\x1b\x1b[Aq",
    "n[001-2",
    "\x1b]0;x\x07",
    "\x00\x1b[<0;3;3M",
    "日本 e\u0301\u200d",
    "x" * 3000,
)
_RAW = (
    "\x1b",
    "\x1b[",
    "\x1b[A\x1b[B",
    "\x1b[<0;5;5M",
    "\x1b[200~",
    "\x1b[201~",
    "\x1bOP",
    "\x1b[1;5C",
    "\x1b]11;rgb:0/0/0\x07",
)
_MOVES = {"keys": 60, "paste": 6, "raw": 6, "resize": 8, "events": 12, "place": 6, "order": 2}
"""How often each is made, beside the others."""


class Fuzzer:
    """Makes moves on one console. Nothing waits for the console where a move does not say so: a terminal lags."""

    def __init__(self, look: Look, seed: int) -> None:
        self._look = look
        self._random = random.Random(seed)
        self._parser = XTermParser()
        self._told = look.player.until
        self.keys = 0
        self.last: deque[str] = deque(maxlen=40)

    async def move(self) -> None:
        """One move, noted before it is made."""
        name = self._random.choices([*_MOVES], [*_MOVES.values()])[0]
        await getattr(self, f"_make_{name}")()
        if self._random.random() < 0.7:
            await self._look.pilot.pause()

    async def _make_keys(self) -> None:
        keys = self._random.choices([*KEYS, "q"], k=self._random.randint(1, 30))
        self.last.append(f"keys {' '.join(keys)}")
        self.keys += len(keys)
        press_at_once(self._look.app, *keys)

    async def _make_paste(self) -> None:
        self._send(BRACKETED_PASTE_START + self._random.choice(_PASTED) + BRACKETED_PASTE_END)

    async def _make_raw(self) -> None:
        self._send(self._random.choice(_RAW) + self._random.choice(string.printable))

    def _send(self, read: str) -> None:
        self.last.append(f"read {read[:60]!r}")
        driver = self._look.app._driver
        assert driver is not None
        cut = self._random.randint(1, len(read))
        for part in (read[:cut], read[cut:]):
            for message in self._parser.feed(part) if part else ():
                if isinstance(message, events.Event):
                    message.set_sender(self._look.app)
                    driver.send_message(message)

    async def _make_resize(self) -> None:
        size = self._random.randint(20, 220), self._random.randint(5, 70)
        self.last.append(f"size {size}")
        await self._look.pilot.resize_terminal(*size)

    async def _make_events(self) -> None:
        waiting = self._look.player.waiting
        some = waiting[self._told : self._told + self._random.randint(1, 12)]
        self.last.append(f"events {self._told} and {len(some)} more of {len(waiting)}")
        self._told = 0 if self._told >= len(waiting) else self._told + len(some)  # and the session is opened again
        self._look.player.feed(*some)
        self._look.app.tick()

    async def _make_place(self) -> None:
        name = self._random.choice([*PLACES])
        self.last.append(f"place {name}")
        PLACES[name](self._look.app)

    async def _make_order(self) -> None:
        self._look.player.running = not self._look.player.running
        self.last.append(f"running {self._look.player.running}")


async def test_ten_thousand_keys_at_random_do_not_end_the_console(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = int(os.environ.get("BENCHCONSOLE_SEED") or random.SystemRandom().randrange(2**32))
    monkeypatch.setattr(XTermParser, "feed", XTermParser.feed)
    assert textual_patches.apply()
    async with running(Player(SMALL, until=0), (80, 24), lambda _: ()) as look:
        monkeypatch.setattr(look.app.exit_control, "leave", lambda *_, **__: None)
        fuzzer = Fuzzer(look, seed)
        while fuzzer.keys < COUNT:
            await fuzzer.move()
            told = "\n".join((f"BENCHCONSOLE_SEED={seed} after {fuzzer.keys} keys:", *fuzzer.last))
            assert look.app._exception is None, f"{look.app._exception!r}\n{told}"
        await look.pilot.resize_terminal(120, 40)
        look.player.feed(*look.player.waiting)
        while len(look.app.screen_stack) > 1:
            look.app.pop_screen()
        look.app.navigation.go_to("nodes", base=True)
        await look.until(lambda: look.lines[0].startswith(" 1 Fabric  2 Nodes"))
