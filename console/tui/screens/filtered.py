"""Owns what every screen with a filtered list has: ``/`` types a filter, escape clears it before it leaves."""

from collections.abc import Mapping

from textual import on

from console.tui.drawing import FAIL, Piece
from console.tui.filtering import EVERYTHING, Filter, FilterError, compile_filter
from console.tui.scales import Scale
from console.tui.screens.frame import Frame
from console.tui.widgets.listing import Listing
from console.tui.widgets.prompt import Prompt


class FilteredScreen(Frame):
    """Subclasses give the list that is ``sifted``, the ``filter_columns``, and what ``sift`` and ``annotate`` do."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = Prompt("/")

    @property
    def sifted(self) -> Listing:
        """The list that is filtered, and has the keys while nothing is typed."""
        raise NotImplementedError  # no ABC: Textual's screens have a metaclass of their own

    @property
    def filter_columns(self) -> Mapping[str, Scale | None]:
        """What a filter may name, each with its scale, None for words."""
        raise NotImplementedError  # no ABC: Textual's screens have a metaclass of their own

    def sift(self, chosen: Filter) -> None:
        """Show what ``chosen`` keeps."""
        raise NotImplementedError  # no ABC: Textual's screens have a metaclass of their own

    def annotate(self) -> None:
        """Say beside the filter how much is shown."""
        raise NotImplementedError  # no ABC: Textual's screens have a metaclass of their own

    def on_mount(self) -> None:
        """The list has the keys."""
        super().on_mount()
        self.sifted.focus()

    def filter_by(self, text: str) -> None:
        """Apply ``text``; what is not understood is named, and the last valid filter stays in force."""
        try:
            chosen = compile_filter(text, self.filter_columns) if text.strip() else EVERYTHING
        except FilterError as error:
            self.complain(error)
            return
        self.sift(chosen)
        self.annotate()

    def complain(self, error: FilterError) -> None:
        """Name the word that was not understood."""
        self.prompt.show(note=(Piece(error.expected, FAIL),), wrong=error.word)

    def action_filter(self) -> None:
        """Type a filter."""
        self.prompt.focus()
        self.call_after_refresh(self.annotate)

    def command_filter(self, text: str) -> None:
        """A filter from the command line."""
        self.prompt.fill(text)
        self.filter_by(text)

    def clear_filter(self) -> None:
        """Show everything again."""
        self.prompt.fill("")
        self.sifted.focus()
        self.call_after_refresh(self.filter_by, "")

    def action_back(self) -> None:
        """Clear the filter first."""
        if self.prompt.text:
            self.clear_filter()
        else:
            super().action_back()

    @on(Prompt.Changed)
    def _typed(self, event: Prompt.Changed) -> None:
        event.stop()
        self.filter_by(event.text)

    @on(Prompt.Entered)
    def _entered(self) -> None:
        self.sifted.focus()
        self.call_after_refresh(self.filter_by, self.prompt.text)

    @on(Prompt.Asked)
    def _asked(self, event: Prompt.Asked) -> None:
        self.sifted.move({"up": -1, "down": 1}.get(event.key, 0))

    @on(Prompt.Left)
    def _left(self) -> None:
        self.clear_filter()
