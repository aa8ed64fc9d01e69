"""Ten thousand keys at random: in bursts, in pastes with ESC in them, while a session loads and runs, at changing sizes.

Some thousands more on the start page, and on every step by which nodes are asked from there.

The summary of the run tells seeds and keys, a failure the last moves, too; BENCHCONSOLE_SEED plays the same moves again.
"""

import asyncio
import os
import random
import string
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.app import App
from textual.pilot import Pilot

from benchconsole.console.session.asked_topology import TopologyAsking
from benchconsole.console.tui import textual_patches
from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.screens.asking import AskingSheet
from benchconsole.console.tui.screens.start import StartScreen
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.session.test_topology_asking import AnsweringReach, AnsweringRemote
from tests.console.tui.looking import MOST_SECONDS, Look, running
from tests.console.tui.playing import Player
from tests.console.tui.test_keys import KEYS, PLACES, SMALL, START, press_at_once
from tests.told_nodes import tell

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
RecordProperty = Callable[[str, object], None]
START_COUNT = 3_000
"""Keys of a run on the start page."""
_STEPS = (
    ("a",), ("a", *"n[1-3]", "enter"), (*"n1", "enter"), ("enter",), ("w",), ("w", "enter"), ("escape",), ("r",),
    ("down", *"yes"), ("ctrl+u",), (*".yaml", "enter"), ("pagedown", "l", "plus"),
)  # fmt: skip
"""Keys that lead through the questions to nodes, and back."""
_START_MOVES = {"keys": 20, "paste": 4, "raw": 6, "resize": 8, "step": 40, "walk": 10}
_MOVES = {"keys": 60, "paste": 6, "raw": 6, "resize": 8, "events": 12, "place": 6, "order": 2}
"""How often each is made, beside the others."""


class KeyFuzzer:
    """Makes moves on one application. Nothing waits for it where a move does not say so: a terminal lags."""

    MOVES: Mapping[str, int] = _START_MOVES

    def __init__(self, app: App[Any], pilot: Pilot[Any], seed: int) -> None:
        self._app = app
        self._pilot = pilot
        self._random = random.Random(seed)
        self._parser = XTermParser()
        self.keys = 0
        self.seen: set[str] = set()
        self.last: deque[str] = deque(maxlen=40)

    async def move(self) -> None:
        """One move, noted before it is made."""
        name = self._random.choices([*self.MOVES], [*self.MOVES.values()])[0]
        await getattr(self, f"_make_{name}")()
        if self._random.random() < 0.7:
            await self._pilot.pause()

    async def _make_keys(self) -> None:
        self._press(self._random.choices([*KEYS, "q"], k=self._random.randint(1, 30)))

    async def _make_step(self) -> None:
        self._press(self._random.choice(_STEPS))

    async def _make_walk(self) -> None:
        """From the first page through some of the questions, with nodes that answer."""
        (start,) = [screen for screen in self._app.screen_stack if isinstance(screen, StartScreen)]
        while self._app.screen is not start:
            self._app.pop_screen()
            await self._pilot.pause()
        start.fields.clear()
        for keys in (("a",), (*"n[1-3]", "enter"), ("w",), (*".yaml", "enter"))[: self._random.randint(1, 4)]:
            self._press(keys)
            await self._pilot.pause()
            async with asyncio.timeout(MOST_SECONDS):
                while isinstance(self._app.screen, AskingSheet) and self._app._exception is None:
                    await self._pilot.pause(0.01)
            self.seen.add(type(self._app.screen).__name__)

    def _press(self, keys: Sequence[str]) -> None:
        self.last.append(f"keys {' '.join(keys)}")
        self.keys += len(keys)
        press_at_once(self._app, *keys)

    async def _make_paste(self) -> None:
        self._send(BRACKETED_PASTE_START + self._random.choice(_PASTED) + BRACKETED_PASTE_END)

    async def _make_raw(self) -> None:
        self._send(self._random.choice(_RAW) + self._random.choice(string.printable))

    def _send(self, read: str) -> None:
        self.last.append(f"read {read[:60]!r}")
        driver = self._app._driver
        assert driver is not None
        cut = self._random.randint(1, len(read))
        for part in (read[:cut], read[cut:]):
            for message in self._parser.feed(part) if part else ():
                if isinstance(message, events.Event):
                    message.set_sender(self._app)
                    driver.send_message(message)

    async def _make_resize(self) -> None:
        size = self._random.randint(20, 220), self._random.randint(5, 70)
        self.last.append(f"size {size}")
        await self._pilot.resize_terminal(*size)


class Fuzzer(KeyFuzzer):
    """Makes moves on one console, while its session loads and runs."""

    MOVES = _MOVES

    def __init__(self, look: Look, seed: int) -> None:
        super().__init__(look.app, look.pilot, seed)
        self._look = look
        self._told = look.player.until

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


def read_seed() -> int:
    return int(os.environ.get("BENCHCONSOLE_SEED") or random.SystemRandom().randrange(2**32))


async def test_keys_at_random_do_not_end_the_start_page_nor_any_step_of_asking_nodes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record_property: RecordProperty
) -> None:
    seed = read_seed()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(XTermParser, "feed", XTermParser.feed)
    assert textual_patches.apply()
    failure = RemoteError(Failure(FailedAt.UNREACHABLE, "no route", NodeId("n3")))
    nodes: dict[str, Remote | RemoteError] = {
        f"n{number}": AnsweringRemote(f"n{number}", tell(number)) for number in (1, 2)
    }
    reach = AnsweringReach({**nodes, "n3": failure})
    model = replace(START, topologies=(), sessions=(), interrupted=())
    app = StartApp(model, Terminal(), make_asking=lambda: TopologyAsking(lambda _fabric, _session: reach))
    monkeypatch.setattr(app, "exit", lambda *_, **__: None)
    async with app.run_test(size=(80, 24)) as pilot:
        fuzzer = KeyFuzzer(app, pilot, seed)
        while fuzzer.keys < START_COUNT:
            await fuzzer.move()
            told = "\n".join((f"BENCHCONSOLE_SEED={seed} after {fuzzer.keys} keys:", *fuzzer.last))
            assert app._exception is None, f"{app._exception!r}\n{told}"
        record_property("seed", f"{seed}, {fuzzer.keys:,} keys")
        await pilot.pause()  # the last keys may put a sheet in front
        while len(app.screen_stack) > 2:
            app.pop_screen()
        await pilot.pause()
        assert isinstance(app.screen, StartScreen), f"BENCHCONSOLE_SEED={seed} after {fuzzer.keys} keys: {app.screen}"
        await asyncio.to_thread(app.stop_asking)
    assert {"AskNodesSheet", "AskedFabricPage", "SaveSheet"} <= fuzzer.seen


async def test_ten_thousand_keys_at_random_do_not_end_the_console(
    monkeypatch: pytest.MonkeyPatch, record_property: RecordProperty
) -> None:
    seed = read_seed()
    monkeypatch.setattr(XTermParser, "feed", XTermParser.feed)
    assert textual_patches.apply()
    async with running(Player(SMALL, until=0), (80, 24), lambda _: ()) as look:
        monkeypatch.setattr(look.app.exit_control, "leave", lambda *_, **__: None)
        fuzzer = Fuzzer(look, seed)
        while fuzzer.keys < COUNT:
            await fuzzer.move()
            told = "\n".join((f"BENCHCONSOLE_SEED={seed} after {fuzzer.keys} keys:", *fuzzer.last))
            assert look.app._exception is None, f"{look.app._exception!r}\n{told}"
        record_property("seed", f"{seed}, {fuzzer.keys:,} keys")
        await look.pilot.resize_terminal(120, 40)
        look.player.feed(*look.player.waiting)
        while len(look.app.screen_stack) > 1:
            look.app.pop_screen()
        look.app.navigation.go_to("nodes", base=True)
        try:
            await look.until(lambda: look.lines[0].startswith(" 1 Fabric  2 Nodes"))
        except AssertionError as error:
            raise AssertionError(f"BENCHCONSOLE_SEED={seed}:\n{look.text}") from error
