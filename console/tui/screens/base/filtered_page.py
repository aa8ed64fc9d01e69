"""The base of every page with a filtered list: ``/`` types a filter, escape clears it before it leaves the page."""

from typing import Any, ClassVar

from textual import on

from benchconsole.console.tui.actions import TypedCommand
from benchconsole.console.tui.queries.filtering import EVERYTHING, FilterError, compile_filter
from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import FAIL, KEY, MUTED
from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.screens.base.saved_filter import complete_saved, find_saved
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import FilteredListing
from benchconsole.topology.units import counted


def tell_refused(prompt: LineInput, error: FilterError, aside: Row = ()) -> None:
    """Say which word of a filter was not understood, and that it changed nothing."""
    note = (CellText(error.expected, FAIL), CellText("   the last valid filter still applies", MUTED))
    prompt.show(note=note, wrong=error.word, aside=aside)


def tell_slow(prompt: LineInput, error: FilterError, aside: Row = ()) -> None:
    """Say that a filter took too long, and that it hides nothing."""
    prompt.show(note=(CellText(error.expected, FAIL), CellText("   all are shown", MUTED)), aside=aside)


class FilteredPage(Page):
    """``filtered`` is the list; it has the keys while nothing is typed. Subclasses name its rows."""

    NOUN: ClassVar[str] = "row"
    HINT: ClassVar[str] = "text, !text, n[1-4], ~expression, column>value, @saved, joined by &"
    EVERY: ClassVar[str] = "{}"
    SOME: ClassVar[str] = "{shown:,} of {total:,} shown"
    DEFAULT_CSS = """
    FilteredPage LineInput { margin-top: 1; margin-bottom: 1; }
    FilteredPage.-low LineInput { margin-top: 0; margin-bottom: 0; }
    """

    def __init__(self, filtered: FilteredListing[Any], *, tab: str = "", subject: str = "") -> None:
        super().__init__(tab=tab, subject=subject)
        self.filtered = filtered
        self.prompt = LineInput("/")
        self.commands["filter"] = TypedCommand(self._filter_typed, tuple)

    def filter_by(self, text: str) -> None:
        """Apply ``text``; a word that is not understood is named, and the last valid filter stays in force."""
        try:
            saved = find_saved(self, text)
            chosen = compile_filter(text, self.filtered.filter_columns, saved) if text.strip() else EVERYTHING
        except FilterError as error:
            tell_refused(self.prompt, error, self.aside)
            return
        self.filtered.filter = chosen
        self.filtered.apply_filter()
        self.annotate()

    @property
    def aside(self) -> Row:
        """Words at the right of the filter."""
        return ()

    def annotate(self) -> None:
        total, shown = len(self.filtered.every), self.filtered.count
        note: Row = (CellText(self.HINT, MUTED),)
        if self.filtered.kept.refused is not None:
            tell_slow(self.prompt, self.filtered.kept.refused[1], self.aside)
            return
        if self.filtered.filter.text:
            words = self.SOME.format(shown=shown, total=total, hidden=total - shown)
            note = (CellText(f"{words}   ", MUTED), CellText("esc", KEY), CellText(" clears", MUTED))
        elif not self.prompt.has_focus:
            note = (CellText(self.EVERY.format(counted(total, self.NOUN)), MUTED),)
        self.prompt.show(note=note, aside=self.aside)

    def action_filter(self) -> None:
        self.set_focus(self.prompt)  # now: what is typed next is for it
        self.call_after_refresh(self.annotate)

    def _filter_typed(self, text: str) -> None:
        self.prompt.fill(text)
        self.filter_by(text)

    def clear_filter(self) -> None:
        self.prompt.fill("")
        self.filtered.focus()
        self.call_after_refresh(self.filter_by, "")

    def action_back(self) -> None:
        """Clear the filter first."""
        if self.prompt.text:
            self.clear_filter()
        else:
            super().action_back()

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        event.stop()
        self.filter_by(event.text)

    @on(LineInput.Entered)
    def _entered(self) -> None:
        self.filtered.focus()
        self.call_after_refresh(self.filter_by, self.prompt.text)

    @on(LineInput.Asked)
    def _asked(self, event: LineInput.Asked) -> None:
        if event.key == "tab" and complete_saved(self, self.prompt):
            self.filter_by(self.prompt.text)
        self.filtered.move({"up": -1, "down": 1}.get(event.key, 0))

    @on(LineInput.Left)
    def _left(self) -> None:
        self.clear_filter()
