"""The base of both applications: themes and the painter, keys in their order, no command palette, no animation."""

from typing import TypeVar

from textual import events
from textual.app import App

from benchconsole.console.tui.app.kept_stylesheet import KeptStylesheet
from benchconsole.console.tui.rows.strips import Painter
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.rows.themes import (
    THEMES,
    Depth,
    Palette,
    describe_unknown_theme,
    find_theme,
    textual_themes,
)
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.line_input import LineInput

Answer = TypeVar("Answer")


class ThemedApp(App[Answer]):
    """An application that paints with the console's palette on the terminal at hand."""

    ENABLE_COMMAND_PALETTE = False
    crash: Exception | None = None
    """The exception that ended the screen, as nothing caught it."""
    CSS = "Screen { layout: vertical; overflow: hidden; }"

    def __init__(self, terminal: Terminal) -> None:
        full = terminal.depth is Depth.FULL
        super().__init__(ansi_color=None if full else True)
        self.painter = Painter(Palette(terminal.theme, terminal.depth), terminal.ascii)
        for theme in textual_themes():
            self.register_theme(theme)
        self.theme = terminal.theme if full else "ansi-dark"
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables())
        self.animation_level = "none"

    async def on_event(self, event: events.Event) -> None:
        """Do what a key is bound to before the next one is looked at.

        Textual hands every key to a widget and does it when it has bubbled up. Keys that come in one read, as over a
        slow line, would all be handed over before the first is done: letters after ``/`` would be actions. Where one
        types, and where letters choose, keys go to whoever takes them.
        """
        if isinstance(event, events.Key) and not event.is_forwarded and not _is_taking_letters(self):
            for priority in (True, False):
                if await self._check_bindings(event.key, priority=priority):
                    return
        await super().on_event(event)

    def _fatal_error(self) -> None:
        """End; Textual would print every frame with the values of its variables, which hold text of nodes."""
        self.crash = self._exception
        self.bell()
        self._close_messages_no_wait()

    def use_theme(self, name: str = "") -> str:
        """Take other colours everywhere at once, the next ones without a name; why not, in words, where it cannot."""
        palette = self.painter.palette
        names = list(THEMES)
        theme = names[(names.index(palette.theme) + 1) % len(names)] if not name else None
        theme = theme or find_theme(name)
        if theme is None:
            return describe_unknown_theme(name)
        if palette.depth is not Depth.FULL:
            return f"this terminal has {palette.depth}; themes change nothing there"
        self.painter.palette = Palette(theme, palette.depth)
        self.theme = theme
        for stack in self._screen_stacks.values():
            for screen in stack:
                for canvas in screen.query(CellWidget):
                    canvas.repaint()
        return ""


def _is_taking_letters(app: App[Answer]) -> bool:
    """Whether one types, or letters choose among options before they are anything else."""
    return isinstance(app.focused, LineInput) or hasattr(app.screen, "on_key")
