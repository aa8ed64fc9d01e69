"""Owns what the application knows and where it goes: the view, the tabs, nodes, findings, raw outputs.

Screens ask with messages; only this module knows which screen answers.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

from console.sums import Sums
from console.sweeps import Sweeps
from console.tui import messages
from console.tui.actions import GLOBAL
from console.tui.bridge import Bridge, Conductor, Hop
from console.tui.dressed import Dressed
from console.tui.screens.fabric import FabricScreen
from console.tui.screens.facts import FactsScreen
from console.tui.screens.findings import FindingsScreen
from console.tui.screens.frame import Frame
from console.tui.screens.node import NodeScreen
from console.tui.screens.nodes import NodesScreen
from console.tui.screens.raw import RawScreen
from console.tui.screens.run import RunScreen
from console.tui.screens.sweeps import SweepsScreen
from console.tui.terminal import Terminal
from console.tui.widgets.tabs import Badges, Tabs
from console.view import RunView
from console.wording import plain
from probes.model import Test
from topology.errors import RoutingError
from topology.model import NodeId

LONGEST_COPY = 64 * 1024


class Ways(Dressed[int]):
    """Four tabs over one view, and the ways between them. The view comes from the bridge, on ``tick``."""

    def __init__(self, make: Callable[[], Conductor], terminal: Terminal, now: Callable[[], float]) -> None:
        super().__init__(terminal)
        self.make = make
        self.conductor: Conductor | None = None
        self.bridge = Bridge()
        self.shown: RunView | None = None
        self.frozen_at: float | None = None
        self.frozen_generation = 0
        self.history: list[str] = []
        self.sweeps = Sweeps()
        sums = Sums()
        self.fabric_screen = FabricScreen(sums)
        self.nodes_screen = NodesScreen()
        self.run_screen = RunScreen(now, sums)
        self.findings_screen = FindingsScreen(sums)
        modes: dict[str, Frame] = {
            "fabric": self.fabric_screen,
            "nodes": self.nodes_screen,
            "run": self.run_screen,
            "findings": self.findings_screen,
        }
        for name, screen in modes.items():
            self.add_mode(name, partial(_itself, screen))

    def tick(self) -> None:
        """Hand the latest view to the screen in front, unless it is frozen."""
        if self.frozen_at is None:
            self.shown = self.bridge.view
        frame = self.frame
        if self.shown is not None and frame is not None:
            frame.show(self.shown, self.badges())

    @property
    def frame(self) -> Frame | None:
        """The screen in front, below any sheet."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Frame)), None)

    def badges(self) -> Badges:
        """What must be seen on every screen and sheet."""
        frozen = None if self.frozen_at is None else float(int(time.monotonic() - self.frozen_at))
        waiting = self.bridge.generation - self.frozen_generation if frozen is not None else 0
        known = self.shown or self.bridge.view
        paused = self.conductor is not None and self.conductor.paused
        return Badges(
            known.fabric.simulated if known else False,
            read_only=bool(self.follows),
            paused=paused,
            held=bool(known and known.held),
            frozen=frozen,
            waiting=waiting,
        )

    @property
    def follows(self) -> str:
        """Who drives the session, where this console only looks on; empty else."""
        return self.conductor.follows if self.conductor is not None else ""

    def go_to(self, mode: str, *, base: bool = False) -> None:
        """A tab, as it was left; at its first level with ``base``, or when it is the one in front."""
        base = base or mode == self.current_mode
        while len(self.screen_stack) > 1 and not isinstance(self.screen, Frame):
            self.pop_screen()
        if self.current_mode != mode:
            self.switch_mode(mode)
        while base and len(self.screen_stack) > 1:
            self.pop_screen()
        self.call_after_refresh(self.tick)
        self.tick()

    def valid_actions(self) -> tuple[str, ...]:
        """Actions of the screen in front and of the application."""
        frame = self.frame
        return tuple(dict.fromkeys((*(frame.VALID if frame else ()), *GLOBAL)))

    def say(self, text: str, *, wrong: bool = False, stay: bool = False) -> None:
        """A line on the screen in front."""
        frame = self.frame
        if frame is None:
            return
        if stay:
            frame.keys.say(plain(text), wrong=wrong)
        else:
            frame.say(plain(text), wrong=wrong)

    def open_node(self, node: NodeId) -> None:
        """One node, over the screen in front."""
        if self.shown is None or node not in self.shown.nodes:
            self.say(f"no node {node}", wrong=True)
            return
        self.push_screen(NodeScreen(node, self.path_of, tab=self._tab()))
        self.tick()

    async def path_of(self, test: Test) -> Sequence[Hop]:
        """The way of a test; empty where there is none."""
        try:
            return await self.conductor.path_of(test) if self.conductor is not None else ()
        except RoutingError:
            return ()

    def _tab(self) -> str:
        return self.frame.TAB if self.frame is not None else "Nodes"

    def on_open_node(self, message: messages.OpenNode) -> None:
        self.open_node(message.node)

    def on_open_finding(self, message: messages.OpenFinding) -> None:
        self.go_to("findings", base=True)
        self.call_after_refresh(self.findings_screen.choose, message.index)

    def on_open_static(self, message: messages.OpenStatic) -> None:
        self.go_to("findings", base=True)
        self.call_after_refresh(self.findings_screen.choose_static, message.where)

    def on_show_in_fabric(self, message: messages.ShowInFabric) -> None:
        self.go_to("fabric", base=True)
        self.call_after_refresh(self.fabric_screen.show_element, message.element)

    def on_open_facts(self, message: messages.OpenFacts) -> None:
        self.push_screen(FactsScreen(message.node, tab=self._tab()))
        self.tick()

    def on_open_sweeps(self) -> None:
        self.push_screen(SweepsScreen(self.sweeps, tab=self._tab()))
        self.tick()

    def on_open_raw(self, message: messages.OpenRaw) -> None:
        self.push_screen(RawScreen(message.test, message.measurement, tab=self._tab()))
        self.tick()

    def on_say(self, message: messages.Say) -> None:
        self.say(message.text, wrong=message.wrong)

    def on_copy(self, message: messages.Copy) -> None:
        size = len(message.text.encode("utf-8", errors="replace"))
        if size > LONGEST_COPY:
            self.say(f"{message.what}: {size:,} bytes is more than terminals take; e writes a file", wrong=True)
            return
        self.copy_to_clipboard(message.text)
        self.say(f"sent {message.what}, {size:,} bytes, to the clipboard of your terminal")

    def on_tabs_clicked(self, message: Tabs.Clicked) -> None:
        self.go_to({"1": "fabric", "2": "nodes", "3": "run", "4": "findings"}[message.key])


def _itself(screen: Frame) -> Frame:
    """Modes want something to call; their screens live as long as the application."""
    return screen
