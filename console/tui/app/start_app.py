"""The application around the start page: it ends with a choice, or with none."""

import os
from typing import ClassVar

from textual.binding import Binding, BindingType

from benchconsole.console.tui import textual_patches
from benchconsole.console.tui.app.screen_failure import ScreenError
from benchconsole.console.tui.app.themed_app import ThemedApp
from benchconsole.console.tui.rows.terminal import Terminal, detect
from benchconsole.console.tui.screens.start import StartScreen
from benchconsole.console.tui.start_model import StartChoice, StartModel


class StartApp(ThemedApp[StartChoice]):
    """One screen; leaves with a choice or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True, system=True)]

    def __init__(self, model: StartModel, terminal: Terminal) -> None:
        super().__init__(terminal)
        self.model = model

    def on_mount(self) -> None:
        self.push_screen(StartScreen(self.model))


def run_start(model: StartModel, *, terminal: Terminal | None = None) -> StartChoice | None:
    """Show the page and return what was chosen, None when it was left; ScreenError where it failed."""
    textual_patches.apply()
    app = StartApp(model, terminal or detect(os.environ))
    choice = app.run()
    if app.crash is not None:
        raise ScreenError from app.crash
    return choice
