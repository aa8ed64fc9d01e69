"""The page before there is a topology: the ways in, the sessions, those to resume.

From here nothing is sent to a node but the questions of who has nodes asked by name.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

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
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.session.asked_topology import TopologyAsking

MakeAsking = Callable[[], "TopologyAsking"]
"""Makes what asks nodes; called when somebody wants to ask, for it brings SSH with it."""


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

    def __init__(self, model: StartModel, make_asking: MakeAsking) -> None:
        super().__init__()
        self.model = model
        self.make_asking = make_asking
        self.fields: dict[str, str] = {}
        self.menu = StartMenu(entries(model), model.version)

    def compose(self) -> ComposeResult:
        yield self.menu
        hints = [Hint("enter", "open"), Hint("1-9", "session"), Hint("q", "quit")]
        yield Footer(hints if self.model.sessions else [hints[0], hints[2]], has_help=False)

    def on_mount(self) -> None:
        self.menu.focus()

    def on_key(self, event: events.Key) -> None:
        if not self.is_active:  # a key of the read that put a sheet in front
            return
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
        """Answer, or ask which of several, or of which nodes."""
        if entry.action is Start.ASK:
            self._ask_nodes()
            return
        options = list_options(self.model, entry.action)
        if len(options) > 1:
            self.app.push_screen(
                ChoiceSheet(entry.word, entry.help, options, Badges()), lambda value: self._answer(entry.action, value)
            )
        else:
            self._answer(entry.action, options[0].value if options else entry.value)

    def _ask_nodes(self) -> None:
        # Here: the map of a fabric and everything below it is nothing that the first page should wait for.
        from benchconsole.console.tui.screens.asking import AskNodesSheet, begin_fields

        self.fields = self.fields or dict(begin_fields(self.model.file))
        self.app.push_screen(
            AskNodesSheet(
                self.make_asking(),
                self.fields,
                Path(self.model.file),
                lambda file: self.app.exit(StartChoice(Start.OPEN, str(file))),
            )
        )

    def _answer(self, action: Start, value: str | None) -> None:
        if value is not None:
            self.app.exit(StartChoice(action, value))


def entries(model: StartModel) -> Sequence[MenuEntry]:
    """What can be chosen, in the order of the page."""
    made = [MenuEntry(Start.OPEN, "o", "open a topology", _files(model.topologies), Opening.WAY)]
    words = "from its nodes over SSH; shown before it is saved"
    made.append(MenuEntry(Start.ASK, "a", "describe a cluster", words, Opening.WAY))
    if model.demos:
        words = f"simulated, real SSH on loopback; {counted(len(model.demos), 'scenario')}"
        made.append(MenuEntry(Start.DEMO, "d", "start the demo", words, Opening.WAY))
    for index, past in enumerate(model.sessions):
        key = str(index + 1) if index < 9 else ""
        made.append(MenuEntry(Start.SESSION, key, sanitize(past.label), "", Opening.SESSION, past.id, past))
    if model.interrupted:
        left, others = model.interrupted[0], len(model.interrupted) - 1
        words = f"{left.words}; {others:,} more" if others else left.words
        made.append(MenuEntry(Start.RESUME, "r", sanitize(left.label), sanitize(words), Opening.RESUME, left.id))
    return tuple(made)


def list_options(model: StartModel, action: Start) -> list[Option]:
    """What a way in leads to, where it is several things; the first nine have digits."""
    found = {
        Start.OPEN: [(sanitize(each), "", each) for each in model.topologies],
        Start.DEMO: [(sanitize(each.name), sanitize(each.words), each.name) for each in model.demos],
        Start.RESUME: [(sanitize(each.label), sanitize(each.words), each.id) for each in model.interrupted],
    }.get(action, [])
    return [Option(str(place) if place < 10 else " ", *each) for place, each in enumerate(found, 1)]


def _files(paths: Sequence[str]) -> str:
    if not paths:
        return "none in this folder; benchconsole FILE opens one"
    first = sanitize(paths[0].rsplit("/", 1)[-1])
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more here"
