"""The password of ``sudo``, asked for once a run. What is typed is never shown, and goes to who asked alone."""

from collections.abc import Sequence

from textual import on
from textual.widget import Widget

from console.tui.screens.choice import Words
from console.tui.screens.sheet import Sheet
from console.tui.widgets.prompt import Prompt
from console.tui.widgets.tabs import Badges
from console.wording import plain

_TEXT = (
    "Some tests must be run by root, and sudo wants a password. It is asked for once a run, given to sudo on "
    "those nodes only, and kept nowhere."
)


class PasswordSheet(Sheet[str]):
    """Dismisses with what was typed."""

    KEYS = (("enter", "give it to sudo"), ("esc", "hold back the tests that need it"))

    def __init__(self, prompt: str, badges: Badges) -> None:
        super().__init__("password", badges)
        self.asked = Words(plain(prompt).strip().removesuffix(":"))
        self.asked.styles.height = 1
        self.words = Words(_TEXT)
        self.prompt = Prompt("password:", masked=True)

    def inside(self) -> Sequence[Widget]:
        """What is asked for and why, above what is typed."""
        return (self.asked, self.words, self.prompt)

    def on_mount(self) -> None:
        """Whatever is typed is the password."""
        self.prompt.focus()

    @on(Prompt.Entered)
    def _entered(self) -> None:
        self._answer(self.prompt.text or None)

    @on(Prompt.Left)
    def _left(self) -> None:
        self._answer(None)

    def action_leave(self) -> None:
        """No password."""
        self._answer(None)

    def _answer(self, text: str | None) -> None:
        self.prompt.fill("")
        self.dismiss(text)
