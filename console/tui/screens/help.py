"""Keys and commands that are valid here by their use, searched by key and by word; enter does the chosen one."""

from collections.abc import Iterable

from textual import on

from benchconsole.console.tui.actions import ACTIONS, find_use, list_keys, matching, tell_help
from benchconsole.console.tui.rows.text_rows import CellText
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.sheet import Sheet, find_most_rows
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.options import Option, OptionListing, list_hidden
from benchconsole.console.tui.widgets.tabs import Badges


class HelpSheet(Sheet[str]):
    """Dismisses with the id of an action."""

    KEYS = (("type", "to search"), ("enter", "does it"), ("esc", "back"))
    DEFAULT_CSS = "HelpSheet OptionListing { height: 1fr; }"

    def __init__(self, valid: Iterable[str], badges: Badges) -> None:
        super().__init__("help", badges)
        self.valid = tuple(valid)
        self.prompt = LineInput("?")
        self.options = OptionListing(self._options(""))
        self.parts = (self.prompt, self.options)

    def _options(self, words: str) -> list[Option]:
        return [
            Option(
                " ".join(list_keys(action)) or " ", f":{action.word}", tell_help(action), action.id, find_use(action.id)
            )
            for action in matching(self.valid, words)
        ]

    def on_resize(self) -> None:
        """Say how many rows are out of sight, once it is known how many are not."""
        self.options.styles.height = find_most_rows(self.size.height)
        self.call_after_refresh(self.count_rows)

    @on(Listing.Moved)
    def count_rows(self) -> None:
        """Say behind the line how many actions there are, and how many of them more stand below and above."""
        shown = f"{self.options.count:,} of {len(self.valid):,}"
        self.prompt.show(note=(CellText("   ".join((shown, *list_hidden(self.options))), MUTED),))

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        self.options.show(self._options(event.text))
        self.count_rows()

    @on(LineInput.Asked)
    def _asked(self, event: LineInput.Asked) -> None:
        self.options.move(-1 if event.key == "up" else 1)

    @on(LineInput.Entered)
    @on(Listing.Chosen)
    def _entered(self) -> None:
        chosen = self.options.chosen
        self.dismiss(chosen.value if chosen is not None and chosen.value in ACTIONS else None)
