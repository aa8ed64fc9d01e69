"""Owns what every application of this package wears: themes, painter, no animation, one way to leave."""

from typing import TypeVar

from textual.app import App

from console.tui.painting import Painter
from console.tui.terminal import Terminal
from console.tui.themes import Depth, Palette, textual_themes

Answer = TypeVar("Answer")


class Dressed(App[Answer]):
    """An application that paints with the console's palette on the terminal at hand."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { layout: vertical; overflow: hidden; }"

    def __init__(self, terminal: Terminal) -> None:
        full = terminal.depth is Depth.FULL
        super().__init__(ansi_color=None if full else True)
        self.painter = Painter(Palette(terminal.theme, terminal.depth), terminal.ascii)
        for theme in textual_themes():
            self.register_theme(theme)
        self.theme = terminal.theme if full else "ansi-dark"
        self.animation_level = "none"
