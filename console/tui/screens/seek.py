"""The place of a replay that is asked for: a time, a round or a share."""

from collections.abc import Callable

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.screens.choice import TextLines
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.tabs import Badges

_TEXT = "The time since the beginning, as the bar counts it: mm:ss or hh:mm:ss. Or a round: round 7. Or a share: 40 %."


class SeekSheet(Sheet[float]):
    """Dismisses with played seconds; ``find`` makes them of what was typed, or says why not, and the sheet stays."""

    KEYS = (("enter", "go there"), ("esc", "stay"))

    def __init__(self, find: Callable[[str], float | str], badges: Badges) -> None:
        super().__init__("go to", badges)
        self.find = find
        self.words = TextLines(_TEXT)
        self.prompt = LineInput("go to:")
        self.parts = (self.words, self.prompt)

    @on(LineInput.Changed)
    def _changed(self) -> None:
        self._say(_TEXT)

    def _say(self, text: str) -> None:
        self.words.text = text
        self.words.redraw()

    @on(LineInput.Entered)
    def _entered(self) -> None:
        found = self.find(self.prompt.text)
        if isinstance(found, str):
            self._say(sanitize(found))
        else:
            self.dismiss(found)
