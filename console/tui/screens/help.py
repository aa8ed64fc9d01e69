"""Keys and commands that are valid here, searchable by key and by word; enter does the chosen one."""

from collections.abc import Iterable

from textual import on

from benchconsole.console.tui.actions import ACTIONS, matching
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.options import Option, OptionListing
from benchconsole.console.tui.widgets.tabs import Badges


class HelpSheet(Sheet[str]):
    """Dismisses with the id of an action."""

    KEYS = (("type", "to search"), ("enter", "does it"), ("esc", "back"))
    DEFAULT_CSS = "HelpSheet OptionListing { height: 1fr; max-height: 24; }"

    def __init__(self, valid: Iterable[str], badges: Badges) -> None:
        super().__init__("help", badges)
        self.valid = tuple(valid)
        self.prompt = LineInput("?")
        self.options = OptionListing(self._options(""))
        self.parts = (self.prompt, self.options)

    def _options(self, words: str) -> list[Option]:
        return [
            Option(action.shown or " ", f":{action.word}", action.help, action.id)
            for action in matching(self.valid, words)
        ]

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        self.options.show(self._options(event.text))

    @on(LineInput.Asked)
    def _asked(self, event: LineInput.Asked) -> None:
        self.options.move(-1 if event.key == "up" else 1)

    @on(LineInput.Entered)
    @on(Listing.Chosen)
    def _entered(self) -> None:
        chosen = self.options.chosen
        self.dismiss(chosen.value if chosen is not None and chosen.value in ACTIONS else None)
