"""The password of ``sudo``, asked for once a run. The typed text is never shown, and goes to who asked alone."""

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.screens.choice import TextLines
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.tabs import Badges

_TEXT = (
    "Some tests must be run by root, and sudo wants a password. It is asked for once a run, given to sudo on "
    "those nodes only, and kept nowhere."
)


class PasswordSheet(Sheet[str]):
    """Dismisses with what was typed."""

    KEYS = (("enter", "give it to sudo"), ("esc", "hold back the tests that need it"))

    def __init__(self, prompt: str, badges: Badges, words: str = _TEXT) -> None:
        super().__init__("password", badges)
        self.asked = TextLines(sanitize(prompt).strip().removesuffix(":"))
        self.asked.styles.height = 1
        self.words = TextLines(words)
        self.prompt = LineInput("password:", masked=True)
        self.parts = (self.asked, self.words, self.prompt)

    @on(LineInput.Entered)
    def _entered(self) -> None:
        self._answer(self.prompt.text or None)

    def action_leave(self) -> None:
        self._answer(None)

    def _answer(self, text: str | None) -> None:
        self.prompt.fill("")
        self.dismiss(text)
