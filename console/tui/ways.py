"""Owns where the application goes: tabs, nodes, findings, raw outputs; and what it says on the way.

A mixin of the application. Screens ask with messages; only this module knows which screen answers.
Handlers go by name: Textual reads decorated ones from classes of its own kind only.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.tui import messages
from console.tui.actions import GLOBAL
from console.tui.bridge import Hop
from console.tui.screens.node import NodeScreen
from console.tui.screens.raw import RawScreen
from console.tui.widgets.tabs import Tabs
from console.wording import plain
from probes.model import Test
from topology.errors import RoutingError
from topology.model import NodeId

if TYPE_CHECKING:
    from console.tui.app import Bench

LONGEST_COPY = 64 * 1024


class Ways:
    """Navigation by message."""

    def go_to(self: "Bench", mode: str) -> None:
        """A tab, at its first level; sheets and what was opened in it are left."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        if self.current_mode != mode:
            self.switch_mode(mode)
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.call_after_refresh(self.tick)
        self.tick()

    def valid_actions(self: "Bench") -> tuple[str, ...]:
        """Actions of the screen in front and of the application."""
        frame = self.frame
        return tuple(dict.fromkeys((*(frame.VALID if frame else ()), *GLOBAL)))

    def say(self: "Bench", text: str, *, wrong: bool = False, stay: bool = False) -> None:
        """A line on the screen in front."""
        frame = self.frame
        if frame is None:
            return
        if stay:
            frame.keys.say(plain(text), wrong=wrong)
        else:
            frame.say(plain(text), wrong=wrong)

    def open_node(self: "Bench", node: NodeId) -> None:
        """One node, over the screen in front."""
        if self.shown is None or node not in self.shown.nodes:
            self.say(f"no node {node}", wrong=True)
            return
        self.push_screen(NodeScreen(node, self.path_of, tab=self._tab()))
        self.tick()

    def path_of(self: "Bench", test: Test) -> Sequence[Hop]:
        """The way of a test; empty where there is none."""
        try:
            return self.conductor.path_of(test) if self.conductor is not None else ()
        except RoutingError:
            return ()

    def _tab(self: "Bench") -> str:
        return self.frame.TAB if self.frame is not None else "Nodes"

    def on_open_node(self: "Bench", message: messages.OpenNode) -> None:
        self.open_node(message.node)

    def on_open_finding(self: "Bench", message: messages.OpenFinding) -> None:
        self.go_to("findings")
        self.call_after_refresh(self.screens_findings.choose, message.index)

    def on_show_in_fabric(self: "Bench", message: messages.ShowInFabric) -> None:
        self.go_to("fabric")
        self.call_after_refresh(self.screens_fabric.show_element, message.element)

    def on_open_raw(self: "Bench", message: messages.OpenRaw) -> None:
        self.push_screen(RawScreen(message.test, message.measurement, tab=self._tab()))
        self.tick()

    def on_plan(self: "Bench", message: messages.Plan) -> None:
        self.plan(message.suite, failed_only=message.failed_only, only=message.only)

    def on_say(self: "Bench", message: messages.Say) -> None:
        self.say(message.text, wrong=message.wrong)

    def on_copy(self: "Bench", message: messages.Copy) -> None:
        size = len(message.text.encode("utf-8", errors="replace"))
        if size > LONGEST_COPY:
            self.say(f"{message.what}: {size:,} bytes is more than terminals take; e writes a file", wrong=True)
            return
        self.copy_to_clipboard(message.text)
        self.say(f"sent {message.what}, {size:,} bytes, to the clipboard of your terminal")

    def on_tabs_clicked(self: "Bench", message: Tabs.Clicked) -> None:
        self.go_to({"1": "fabric", "2": "nodes", "3": "run", "4": "findings"}[message.key])

