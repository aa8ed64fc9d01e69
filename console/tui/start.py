"""Owns the page before there is a topology: what it is given, what it answers, and the application around it."""

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from textual.binding import Binding, BindingType

from console.tui import textual_patches
from console.tui.dressed import Dressed
from console.tui.terminal import Terminal, detect


@dataclass(frozen=True, slots=True)
class Past:
    """A session that can be opened. ``when`` is in words; ``untested`` says that some tests gave no number."""

    id: str
    label: str
    fabric: str
    when: str
    tested: int
    total: int
    fails: int = 0
    watches: int = 0
    untested: bool = False


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A session that can be resumed; ``words`` say where it stopped and how much is left."""

    id: str
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class StartModel:
    """Everything that the page offers; what is empty is not shown. Sessions come newest first."""

    version: str
    topologies: tuple[str, ...] = ()
    sessions: tuple[Past, ...] = ()
    interrupted: Interrupted | None = None
    demo: str = ""
    importers: tuple[str, ...] = ()


class Start(StrEnum):
    """What was chosen."""

    OPEN = "open"
    DEMO = "demo"
    IMPORT = "import"
    SESSION = "session"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class StartChoice:
    """``value`` is the path, the session id or the importer; empty where there is nothing to name."""

    action: Start
    value: str = ""


class StartApp(Dressed[StartChoice]):
    """One screen; leaves with a choice or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True, system=True)]

    def __init__(self, model: StartModel, terminal: Terminal) -> None:
        super().__init__(terminal)
        self.model = model

    def on_mount(self) -> None:
        """Show the page."""
        from console.tui.screens.start import StartScreen

        self.push_screen(StartScreen(self.model))


def run_start(model: StartModel, *, terminal: Terminal | None = None) -> StartChoice | None:
    """Show the page and return what was chosen, None when it was left."""
    textual_patches.apply()
    return StartApp(model, terminal or detect(os.environ)).run()
