"""One line of text that is asked for: a label, a remark."""

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.screens.choice import TextLines
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.tabs import Badges


class TypedLineSheet(Sheet[str]):
    """Dismisses with what was typed, which begins as ``text``; it may be empty. ``words`` say what it is for.

    They get as many ``rows``.
    """

    KEYS = (("enter", "keep it"), ("esc", "leave it as it is"))

    def __init__(self, title: str, words: str, text: str, badges: Badges, rows: int = 2) -> None:
        super().__init__(title, badges)
        self.words = TextLines(words, rows)
        self.prompt = LineInput(f"{title}:")
        self.prompt.fill(sanitize(text))
        self.parts = (self.words, self.prompt)

    @on(LineInput.Entered)
    def _entered(self) -> None:
        self.dismiss(self.prompt.text.strip())
