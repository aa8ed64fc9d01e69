"""The page before there is a topology: the ways in, the sessions, those to resume.

From here nothing is sent to a node but the questions of who has nodes asked by name.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import ACTIONS, MOVES, STARTS, bindings, find_key, list_keys
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.start_model import KnownFile, Start, StartChoice, StartModel
from benchconsole.console.tui.widgets.footer import Footer, Hint, Shown
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.menu import MenuEntry, Opening, StartMenu
from benchconsole.console.tui.widgets.options import Option
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.session.asked_topology import TopologyAsking

MakeAsking = Callable[[], "TopologyAsking"]
"""Makes what asks nodes; called when somebody wants to ask, for it brings SSH with it."""

NOTED_SECONDS = 20.0
"""How long it is said what was wrong before the page was there."""

STEPS = {"up": -1, "down": 1, "page_up": -10, "page_down": 10, "first": -1000, "last": 1000}
"""Entries that the moves go."""

WAYS: Mapping[Start, str] = {
    Start.OPEN: "open_topology", Start.DATABASE: "open_database", Start.ASK: "describe_cluster",
    Start.DEMO: "start_demo", Start.RESUME: "resume_session",
}  # fmt: skip
"""The action of each way in."""


class StartScreen(Screen[StartChoice]):
    """The keys of ways and the digits of sessions choose at once; arrows and enter as everywhere."""

    AUTO_FOCUS = ""
    VALID: ClassVar[tuple[str, ...]] = (*MOVES, *STARTS, "quit")
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(VALID)]
    DEFAULT_CSS = "StartScreen { background: $background; overflow: hidden; }"

    def __init__(self, model: StartModel, make_asking: MakeAsking) -> None:
        super().__init__()
        self.model = model
        self.make_asking = make_asking
        self.fields: dict[str, str] = {}
        self.menu = StartMenu(entries(model), model.version)
        keys: list[Shown] = [("enter", "open"), Hint("1-9", "session"), ("quit", "quit")]
        self.keys = Footer(keys if model.sessions else [keys[0], keys[2]], has_help=False)

    def compose(self) -> ComposeResult:
        yield self.menu
        yield self.keys

    def on_mount(self) -> None:
        self.menu.focus()
        if self.model.note:
            self.keys.say(sanitize(self.model.note), wrong=True)
            self.set_timer(NOTED_SECONDS, lambda: self.keys.say(""))

    def on_key(self, event: events.Key) -> None:
        """A digit opens its session."""
        sessions = (each for each in self.menu.items if each.past is not None)
        entry = next((each for each in sessions if each.key and each.key == event.character), None)
        if entry is not None:
            event.stop()
            self.take(entry)

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        if self.menu.chosen is not None:
            self.take(self.menu.chosen)

    def action_move(self, where: str) -> None:
        self.menu.move(STEPS[where])

    def action_enter(self) -> None:
        self.menu.choose()

    def action_back(self) -> None:
        self.action_quit()

    def action_quit(self) -> None:
        if self.is_active:
            self.app.exit(None)

    def action_start(self, way: str) -> None:
        """Take a way in, where there is it."""
        entry = next((each for each in self.menu.items if each.action == way), None)
        if entry is not None:
            self.take(entry)

    def take(self, entry: MenuEntry) -> None:
        """Answer, or ask which of several, or of which nodes."""
        if not self.is_active:  # a key of the read that put a sheet in front
            return
        if entry.action is Start.ASK:
            self._ask_nodes()
            return
        options = list_options(self.model, entry.action)
        if len(options) > 1:
            self.app.push_screen(
                ChoiceSheet(entry.word, entry.help, options, Badges()), lambda value: self._answer(entry.action, value)
            )
            return
        value = options[0].value if options else entry.value
        if value:
            self._answer(entry.action, value)
        else:
            self.keys.say(entry.help)

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
    """The choices in the order of the page."""
    made = [_make_way(Start.OPEN, "open a topology", _tell_topologies(model))]
    if model.databases or model.database is not None:
        made.append(_make_way(Start.DATABASE, "open a database", _tell_databases(model)))
    made.append(_make_way(Start.ASK, "describe a cluster", "from its nodes over SSH; shown before it is saved"))
    if model.demos:
        words = f"simulated, real SSH on loopback; {counted(len(model.demos), 'scenario')}"
        made.append(_make_way(Start.DEMO, "start the demo", words))
    taken = {key for name in StartScreen.VALID for key in list_keys(ACTIONS[name])}
    for index, past in enumerate(model.sessions):
        key = str(index + 1) if index < 9 and str(index + 1) not in taken else ""
        made.append(MenuEntry(Start.SESSION, key, sanitize(past.label), "", Opening.SESSION, past.id, past))
    if model.interrupted:
        left, others = model.interrupted[0], len(model.interrupted) - 1
        words = f"{left.words}; {others:,} more" if others else left.words
        key = find_key(WAYS[Start.RESUME])
        made.append(MenuEntry(Start.RESUME, key, sanitize(left.label), sanitize(words), Opening.RESUME, left.id))
    return tuple(made)


def _make_way(way: Start, word: str, words: str) -> MenuEntry:
    return MenuEntry(way, find_key(WAYS[way]), word, words, Opening.WAY)


def list_options(model: StartModel, action: Start) -> list[Option]:
    """The choices of a way in, where it has several; the first nine have digits."""
    here = "in this folder" if model.recent else ""
    found = {
        Start.OPEN: [*((sanitize(each), here, each) for each in model.topologies), *map(_place, model.recent)],
        Start.DATABASE: [*map(_place, model.databases)],
        Start.DEMO: [(sanitize(each.name), sanitize(each.words), each.name) for each in model.demos],
        Start.RESUME: [(sanitize(each.label), sanitize(each.words), each.id) for each in model.interrupted],
    }.get(action, [])
    return [Option(str(place) if place < 10 else " ", *each) for place, each in enumerate(found, 1)]


def _place(file: KnownFile) -> tuple[str, str, str]:
    return sanitize(file.name), sanitize(f"in {file.folder}"), file.path


def _name(file: KnownFile) -> str:
    return sanitize(f"{file.name} in {file.folder}")


def _tell_topologies(model: StartModel) -> str:
    """The first topology, and how many more there are: here, and elsewhere."""
    here, before = model.topologies, model.recent
    if not here and not before:
        return "none in this folder; benchconsole FILE opens one"
    if not here:
        return f"{_name(before[0])}{f' and {len(before) - 1} more' if len(before) > 1 else ''}, opened before"
    first = sanitize(here[0].rsplit("/", 1)[-1])
    said = first if len(here) == 1 else f"{first} and {len(here) - 1} more here"
    return f"{said}; {len(before)} opened before" if before else said


def _tell_databases(model: StartModel) -> str:
    """The one whose sessions are shown, and others, the first of them by its name."""
    others = model.databases
    if model.database is not None:
        said = f"{'sessions of' if model.sessions else 'no session in'} {_name(model.database)}"
        return f"{said}; {len(others)} more" if others else said
    return f"{_name(others[0])}{f' and {len(others) - 1} more' if len(others) > 1 else ''}, opened before"
