"""The application around the start page: it ends with a choice, or with none."""

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from benchconsole.console.tui import textual_patches
from benchconsole.console.tui.actions import ACTIONS, use_keymap
from benchconsole.console.tui.app.keymap import Keymap, bind_keys, read_own_keys
from benchconsole.console.tui.app.screen_failure import ScreenError
from benchconsole.console.tui.app.themed_app import ThemedApp
from benchconsole.console.tui.rows.terminal import Terminal, detect
from benchconsole.console.tui.screens.start import MakeAsking, StartScreen
from benchconsole.console.tui.start_model import StartChoice, StartModel
from benchconsole.topology.copying import replace

if TYPE_CHECKING:
    from benchconsole.console.session.asked_topology import TopologyAsking


def make_topology_asking() -> "TopologyAsking":
    """The object that asks nodes over SSH."""
    from benchconsole.console.session.asked_topology import TopologyAsking

    return TopologyAsking()


class StartApp(ThemedApp[StartChoice]):
    """One screen; leaves with a choice or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True, system=True)]

    def __init__(
        self, model: StartModel, terminal: Terminal, *, make_asking: MakeAsking = make_topology_asking,
        keymap: Keymap = MappingProxyType({}),
    ) -> None:  # fmt: skip
        super().__init__(terminal)
        use_keymap(keymap)
        self.keymap = keymap
        self.model = model
        self._make_asking = make_asking
        self._asking: TopologyAsking | None = None

    def on_mount(self) -> None:
        # Actions that have a key by the keymap alone are done by the console.
        bind_keys(self, {name: keys for name, keys in self.keymap.items() if ACTIONS[name].keys})
        self.push_screen(StartScreen(self.model, self._find_asking))

    def _find_asking(self) -> "TopologyAsking":
        if self._asking is None:
            self._asking = self._make_asking()
        return self._asking

    def stop_asking(self) -> None:
        """End what still asks nodes, however the page is left."""
        if self._asking is not None:
            self._asking.close()


def run_start(model: StartModel, *, terminal: Terminal | None = None) -> StartChoice | None:
    """Show the page and return what was chosen, None when it was left; ScreenError where it failed."""
    textual_patches.apply()
    keymap, refused = read_own_keys()
    terminal = terminal or detect(os.environ)
    note = "; ".join(filter(None, (refused, terminal.refused)))
    app = StartApp(replace(model, note=note) if note else model, terminal, keymap=keymap)
    try:
        choice = app.run()
    finally:
        app.stop_asking()
    if app.crash is not None:
        raise ScreenError from app.crash
    return choice
