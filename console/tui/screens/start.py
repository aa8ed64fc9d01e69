"""The page before there is a topology: three ways in, the sessions, one to resume. Nothing is sent from here."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.start_model import Start, StartChoice, StartModel
from benchconsole.console.tui.widgets.footer import Footer, Hint
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.menu import MenuEntry, Opening, StartMenu
from benchconsole.console.tui.widgets.options import Option
from benchconsole.console.tui.widgets.tabs import Badges


class StartScreen(Screen[StartChoice]):
    """Letters and digits choose at once; arrows and enter as everywhere."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("home,g", "move(-1000)", show=False),
        Binding("end,G", "move(1000)", show=False),
        Binding("enter", "choose", show=False),
        Binding("q,escape", "leave", show=False),
    ]
    DEFAULT_CSS = "StartScreen { background: $background; overflow: hidden; }"

    def __init__(self, model: StartModel) -> None:
        super().__init__()
        self.model = model
        self.menu = StartMenu(entries(model), model.version)

    def compose(self) -> ComposeResult:
        yield self.menu
        hints = [Hint("enter", "open"), Hint("1-9", "session"), Hint("q", "quit")]
        yield Footer(hints if self.model.sessions else [hints[0], hints[2]], has_help=False)

    def on_mount(self) -> None:
        self.menu.focus()

    def on_key(self, event: events.Key) -> None:
        entry = next((each for each in self.menu.items if each.key and each.key == event.character), None)
        if entry is not None:
            event.stop()
            self.take(entry)

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        self.action_choose()

    def action_move(self, step: int) -> None:
        self.menu.move(step)

    def action_choose(self) -> None:
        if self.menu.chosen is not None:
            self.take(self.menu.chosen)

    def action_leave(self) -> None:
        self.app.exit(None)

    def take(self, entry: MenuEntry) -> None:
        """Answer, or ask which of several."""
        several = {Start.OPEN: self.model.topologies, Start.IMPORT: self.model.importers}.get(entry.action, ())
        if len(several) > 1:
            options = [Option(str(i + 1) if i < 9 else " ", sanitize(each), "", each) for i, each in enumerate(several)]
            self.app.push_screen(
                ChoiceSheet(entry.word, entry.help, options, Badges()), lambda value: self._answer(entry.action, value)
            )
        else:
            self._answer(entry.action, several[0] if several else entry.value)

    def _answer(self, action: Start, value: str | None) -> None:
        if value is not None:
            self.app.exit(StartChoice(action, value))


def entries(model: StartModel) -> Sequence[MenuEntry]:
    """What can be chosen, in the order of the page."""
    made = [MenuEntry(Start.OPEN, "o", "open a topology", _files(model.topologies), Opening.WAY)]
    if model.demo:
        made.append(MenuEntry(Start.DEMO, "d", "start the demo", sanitize(model.demo), Opening.WAY))
    if model.importers:
        words = "from " + ", ".join(sanitize(each) for each in model.importers)
        made.append(MenuEntry(Start.IMPORT, "i", "write a topology", words, Opening.WAY))
    for index, past in enumerate(model.sessions):
        key = str(index + 1) if index < 9 else ""
        made.append(MenuEntry(Start.SESSION, key, sanitize(past.label), "", Opening.SESSION, past.id, past))
    if model.interrupted is not None:
        left = model.interrupted
        made.append(MenuEntry(Start.RESUME, "r", sanitize(left.label), sanitize(left.words), Opening.RESUME, left.id))
    return tuple(made)


def _files(paths: Sequence[str]) -> str:
    if not paths:
        return "none in this folder; benchconsole FILE opens one"
    first = sanitize(paths[0].rsplit("/", 1)[-1])
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more here"
