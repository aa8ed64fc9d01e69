"""Writing a report: the format by its key, the path as it is typed."""

from pathlib import Path
from typing import NamedTuple

from textual import on

from benchconsole.console.text.typed_path import read_typed_path
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.options import Option, OptionListing
from benchconsole.console.tui.widgets.tabs import Badges

FORMATS = (
    Option("h", "html", "one file to read and to hand on", "html"),
    Option("m", "md", "text for chat and mail", "md"),
    Option("c", "csv", "one row a verdict, for a spreadsheet", "csv"),
    Option("j", "json", "everything, for programs", "json"),
)


class ExportTarget(NamedTuple):
    """The kind of the export and its file."""

    kind: str
    path: Path


def read_target(kind: str, text: str) -> ExportTarget:
    """The file that was typed."""
    return ExportTarget(kind, read_typed_path(text))


class ExportSheet(Sheet[ExportTarget]):
    """Dismisses with a target."""

    KEYS = (("up down", "format"), ("enter", "write"), ("esc", "back"))

    def __init__(self, stem: str, badges: Badges) -> None:
        super().__init__("export", badges)
        self.stem = stem
        self.options = OptionListing(FORMATS)
        self.prompt = LineInput("to")
        self.prompt.fill(f"{stem}.html")
        self.parts = (self.options, self.prompt)

    @on(LineInput.Asked)
    def _asked(self, event: LineInput.Asked) -> None:
        self.options.move(-1 if event.key in ("up", "shift+tab") else 1)

    @on(Listing.Moved)
    def _moved(self) -> None:
        known = tuple(f".{option.value}" for option in FORMATS)
        if self.options.chosen is not None and self.prompt.text.endswith(known):
            self.prompt.fill(f"{self.prompt.text.rsplit('.', 1)[0]}.{self.options.chosen.value}")

    @on(LineInput.Entered)
    @on(Listing.Chosen)
    def _entered(self) -> None:
        if self.options.chosen is not None and self.prompt.text.strip():
            self.dismiss(read_target(self.options.chosen.value, self.prompt.text.strip()))
