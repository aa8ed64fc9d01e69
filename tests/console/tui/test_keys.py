"""Every key on every screen and sheet, twice in one read: before a view is there, with an empty one, during a run."""

import re
import string
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.keys import _character_to_key
from textual.screen import Screen

from benchconsole.console.session.criterion_editor import CriterionForm, CriterionProposal
from benchconsole.console.session.replay_clock import ReplayClock, Timeline
from benchconsole.console.session.session_archive import SessionArchive
from benchconsole.console.tui.actions import ACTIONS
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.fabric_map.map_section import list_named_sections
from benchconsole.console.tui.fabric_map.shape import read_shape
from benchconsole.console.tui.queries.criterion_choices import CriterionChoices
from benchconsole.console.tui.queries.node_row import DEFAULT
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.screens.area import AreaScreen
from benchconsole.console.tui.screens.base.page import PlotWish
from benchconsole.console.tui.screens.change_map import ChangeMapScreen
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.columns import ColumnsSheet
from benchconsole.console.tui.screens.comparison import ComparisonScreen, SubjectsScreen
from benchconsole.console.tui.screens.criteria import CriteriaScreen
from benchconsole.console.tui.screens.criterion import CriterionSheet, DiffSheet
from benchconsole.console.tui.screens.facts import FactsScreen
from benchconsole.console.tui.screens.filters import FiltersScreen
from benchconsole.console.tui.screens.history import HistoryScreen
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.tui.screens.pair_map import PairMapScreen
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.screens.plot import PlotScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.screens.run_options import RunOptionsSheet
from benchconsole.console.tui.screens.sessions import SessionsScreen
from benchconsole.console.tui.screens.sweeps import SweepsScreen
from benchconsole.console.tui.screens.typed_line import TypedLineSheet
from benchconsole.console.tui.screens.zoom import ZoomScreen
from benchconsole.console.tui.start_model import Demo, Interrupted, KnownFile, Past, StartModel
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.reducer import LatestView
from benchconsole.console.view.stored_verdict import ListedVerdict, Outcome
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.fabrics import mini
from tests.console.tui.looking import PLAIN, begin, faulty, looking, reading, running, undecided
from tests.console.tui.playing import PlayedEditor, PlayedPlanning, Player
from tests.console.tui.queries.test_comparison_area import report, worse
from tests.console.tui.story import Faults, tell

SPECIAL = {
    "escape", "enter", "tab", "shift+tab", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown", "up",
    "down", "left", "right", "space", *(f"f{number}" for number in range(1, 13)),
    *(f"{held}+{key}" for held in ("ctrl", "alt", "shift") for key in ("up", "down", "left", "right", "home", "end")),
    *(f"ctrl+{letter}" for letter in string.ascii_lowercase if letter not in "cq"),
}  # fmt: skip
"""Keys of a keyboard that print nothing. ctrl+c and ctrl+q leave, and are tried elsewhere."""

BOUND = {key for action in ACTIONS.values() for key in action.keys.split(",") if key}
KEYS = sorted((BOUND | SPECIAL | set(string.ascii_letters + string.digits + string.punctuation)) - {"q"})
SMALL = tell(mini(leaves=2, per_leaf=2), Faults())
PART = list_named_sections(SMALL.fabric, read_shape(SMALL.fabric))["leaf1"]
NO_DATABASE = SessionArchive(Path("/nowhere/sessions.db"), "ann", dict, lambda *_: Player(SMALL))
DISK = Confirmation(NodeId("n001"), "S3Z8", "everything on disk S3Z8")


PROPOSAL = CriterionProposal(Path("toy.yaml"), None, b"", ("@@ -0,0 +1,1 @@", "+criteria:"), ("new",), SMALL.fabric)
RUN_FORM = PlayedPlanning().make_form(None, None, None, is_suite=True)


def make_form() -> CriterionSheet:
    """The form of a criterion that is always taken."""
    editor = PlayedEditor(SMALL)
    propose = partial(editor.propose, CriterionForm(None, {}, "toy.yaml"))
    return CriterionSheet(
        "add a criterion", {}, "", CriterionChoices({"iperf3.throughput": "1 number"}), propose, Badges()
    )


def press_at_once(app: App[Any], *keys: str) -> None:
    """Keys as they come when the terminal sends them in one piece: none is handled before the last is there."""
    assert app._driver is not None
    for key in keys:
        character = {"enter": "\r", "tab": "\t", "space": " "}.get(key, key if len(key) == 1 else None)
        known = {"slash": "/", "colon": ":", "question_mark": "?", "plus": "+", "minus": "-", "equals_sign": "="}
        name = _character_to_key(key) if len(key) == 1 else key
        event = events.Key(name, known.get(key, character))
        event.set_sender(app)
        app._driver.send_message(event)


Place = Callable[[ConsoleApp], None]
"""Brings the console to a screen or sheet."""


def tab(name: str) -> Place:
    return lambda app: app.navigation.go_to(name, base=True)


def over(name: str, make: Callable[[ConsoleApp], Screen[Any]]) -> Place:
    def place(app: ConsoleApp) -> None:
        app.navigation.go_to(name, base=True)
        app.push_screen(make(app))

    return place


def asked(action: Callable[[ConsoleApp], None]) -> Place:
    def place(app: ConsoleApp) -> None:
        app.navigation.go_to("fabric", base=True)
        action(app)

    return place


def play_again(app: ConsoleApp) -> None:
    """The session on the screen has a clock, as one that is played again has."""
    clock = app.session.front.clock = ReplayClock(60.0)
    clock.begin(Timeline([(float(at), event) for at, event in enumerate(SMALL.events())], 0.0), lambda: None)


PLACES: dict[str, Place] = {
    "fabric": tab("fabric"),
    "nodes": tab("nodes"),
    "run": tab("run"),
    "findings": tab("findings"),
    "node": over("nodes", lambda app: NodeScreen(NodeId("n001"), app.session.path_of)),
    "facts": over("nodes", lambda app: FactsScreen(NodeId("n001"))),
    "raw": over("nodes", lambda app: RawScreen(SMALL.rounds[0].tests[0].id, None)),
    "history": over("nodes", lambda app: HistoryScreen(NO_DATABASE, NodeId("n001"), tab="Nodes")),
    "sweeps": over("run", lambda app: SweepsScreen(None)),
    "zoom": over("fabric", lambda app: ZoomScreen(PART, read_shape(SMALL.fabric), dict)),
    "area": over("run", lambda app: AreaScreen("results")),
    "criteria": over("run", lambda app: CriteriaScreen()),
    "pair map": over("run", lambda app: PairMapScreen()),
    "plot": over("run", lambda app: PlotScreen(PlotWish())),
    "compared plot": over("run", lambda app: PlotScreen(PlotWish(report=report([worse()])))),
    "sessions": over("run", lambda app: SessionsScreen(NO_DATABASE, tab="Run")),
    "comparison": over("run", lambda app: ComparisonScreen(NO_DATABASE, "last-1", "last", tab="Run")),
    "subjects": over("run", lambda app: SubjectsScreen(worse(), report([worse()]), tab="Run")),
    "change map": over("run", lambda app: ChangeMapScreen(worse(), report([worse()]), tab="Run")),
    "filters": over("run", lambda app: FiltersScreen(tab="Run")),
    "jump": asked(lambda app: app.navigation.jump()),
    "replay": asked(play_again),
    "command": asked(lambda app: app.command_line.ask()),
    "help": asked(lambda app: app.command_line.show_help()),
    "export": asked(lambda app: app.report_export.ask()),
    "plan": asked(lambda app: app.run_orders.plan()),
    "run options": over("run", lambda app: RunOptionsSheet(RUN_FORM, Badges())),
    "stop": asked(lambda app: app.run_orders.ask_stop()),
    "quit": asked(lambda app: app.exit_control.ask()),
    "label": over("run", lambda app: TypedLineSheet("label", "Another label.", "before", Badges())),
    "columns": over("nodes", lambda app: ColumnsSheet((DEFAULT,), Badges())),
    "criterion": over("run", lambda app: make_form()),
    "diff": over("run", lambda app: DiffSheet(PROPOSAL, Badges())),
    "disk": over("fabric", lambda app: app.run_orders.make_disk_sheet(DISK)),
}
TABS_AND_PAGES = (
    "fabric", "nodes", "run", "findings", "node", "facts", "raw", "history", "sweeps", "area", "criteria", "pair map",
    "plot", "compared plot", "sessions", "comparison", "subjects", "change map", "filters", "jump", "replay", "zoom",
)  # fmt: skip
MOMENTS = {"before": (0, False), "empty": (1, False), "running": (8, True)}
"""How many events have come, and whether a run is going."""


@pytest.mark.parametrize(
    ("place", "moment"),
    [
        (place, moment)
        for place in PLACES
        for moment in MOMENTS
        if place in TABS_AND_PAGES or moment == "running" or (moment == "before" and place != "quit")
    ],
)
async def test_no_key_pressed_twice_ends_the_console(place: str, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    until, is_running = MOMENTS[moment]
    at_once = 1 if until else 3
    player = Player(SMALL, until=until)
    async with running(player, (80, 24), lambda _: ()) as look:
        monkeypatch.setattr(look.app.exit_control, "leave", lambda *_, **__: None)
        placed: Screen[Any] | None = None
        for first in range(0, len(KEYS), at_once):
            keys = KEYS[first : first + at_once]
            if until == 0 or look.app.screen is not placed:
                player.running = is_running
                PLACES[place](look.app)
                placed = look.app.screen
                if until:
                    await look.pilot.pause()
            press_at_once(look.app, *(key for key in keys for _ in range(2)))
            await look.pilot.pause()
            assert look.app._exception is None, f"{keys}: {look.app._exception!r}"


@pytest.mark.parametrize("name", ["fabric", "nodes", "run", "findings"])
async def test_no_key_turns_what_was_not_judged_into_a_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with looking(undecided(), (80, 24)) as look:
        monkeypatch.setattr(look.app.exit_control, "leave", lambda *_, **__: None)
        placed: Screen[Any] | None = None
        for key in KEYS:
            if look.app.screen is not placed:
                look.app.navigation.go_to(name, base=True)
                placed = look.app.screen
            press_at_once(look.app, key)
            await look.pilot.pause()
            assert look.app._exception is None, f"{key}: {look.app._exception!r}"
            assert not re.search(r"judged and passed|All passed|No fault was found", look.text), key
        look.app.navigation.go_to("run", base=True)
        await look.settle()
        assert look.lines[3].startswith(" ? The run is complete. Not everything was judged")


async def test_every_tab_says_that_the_session_is_being_read() -> None:
    async with running(Player(SMALL, until=0), (120, 40), lambda _: ()) as look:
        for tab in "1234":
            await look.press(tab)
            assert "The session is being read." in look.lines[1]
        look.player.feed(*look.player.waiting)
        await look.press("2")
        await look.until(lambda: "n002" in look.text)
        assert "being read" not in look.text


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_names_are_there_while_the_results_are_read(size: tuple[int, int]) -> None:
    """On every tab with a count; nothing says that it passed, or that it was not started."""
    async with reading(SMALL, size) as (look, over):
        for tab_key in "134":
            await look.press(tab_key)
            assert f"The session is being read: 1 of {len(SMALL.closed)} rounds." in look.text
            assert not any(words in look.text for words in ("passed", "not started", "Nothing", "R plans"))
        await look.press("2")
        assert all(node in look.text for node in SMALL.fabric.nodes)
        assert "skipped" not in look.text
        over.set()
        await look.until(lambda: look.app.session.latest.has_begun)
        for tab_key in "1234":
            await look.press(tab_key)
            assert "being read" not in look.text


async def test_nothing_is_copied_while_the_results_are_read() -> None:
    async with reading(SMALL) as (look, over):
        await look.press("2", "y")
        assert "nothing to copy yet: the session is being read" in look.lines[-1]
        assert look.app.clipboard == ""
        over.set()
        await look.until(lambda: look.app.session.view is not None and look.app.session.view.ended is not None)
        await look.press("y")
        assert "untested" not in look.app.clipboard
        assert look.app.clipboard.startswith("state\tnode")


async def test_a_plan_that_is_asked_for_while_the_session_is_opened_is_shown_then() -> None:
    async with reading(SMALL) as (look, over):
        await look.press("R")
        assert "not open yet; then the plan is shown" in look.lines[-1]
        over.set()
        await look.until(lambda: isinstance(look.app.screen, PlanSheet))
        assert look.player.started == []


@pytest.mark.parametrize("key", ["2", ":", "?"])
async def test_it_is_not_shown_over_what_somebody_has_gone_to_meanwhile(key: str) -> None:
    """The next keys are for the view that was opened, and enter must not start a run."""
    async with reading(SMALL) as (look, over):
        await look.press("R", key)
        front = look.app.screen
        over.set()
        await look.until(lambda: look.app.session.latest.has_begun)
        await look.settle()
        assert look.app.screen is front


async def test_every_key_while_a_session_is_read() -> None:
    async with reading(SMALL) as (look, over):
        for tab_key in "1234":
            for key in KEYS:
                look.app.navigation.go_to(
                    {"1": "fabric", "2": "nodes", "3": "run", "4": "findings"}[tab_key], base=True
                )
                press_at_once(look.app, key, key)
                await look.settle()
        await look.press("escape", "escape", "1")
        look.app.report_export.write_typed("md report.md")
        await look.settle()
        assert "There is nothing to export yet" in look.lines[-1]
        over.set()
        await look.until(lambda: look.app.session.latest.has_begun)
        assert (look.player.started, look.player.exported) == ([], [])


async def test_a_session_that_cannot_be_read_ends_the_console_though_its_names_were_shown() -> None:
    latest = LatestView()

    def make() -> Player:
        latest.preview(begin(SMALL), 0, 3)
        raise ValueError("damaged")

    app = ConsoleApp(make, PLAIN, analyse=lambda _: (), latest=latest)
    async with app.run_test() as pilot:
        for _ in range(500):
            if app.return_code is not None or not app.is_running:
                break
            await pilot.pause()
    assert isinstance(app.failure, ValueError)
    assert not app.is_running


async def test_what_is_not_there_yet_is_not_frozen() -> None:
    async with running(Player(SMALL, until=0), (120, 40), lambda _: ()) as look:
        await look.press("F")
        assert "nothing to freeze yet" in look.lines[-1]
        look.player.feed(*look.player.waiting)
        await look.press("2")
        await look.until(lambda: "n002" in look.text)


@pytest.mark.parametrize("is_running", [False, True])
async def test_enter_twice_writes_one_report(is_running: bool) -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = is_running
        await look.press("e")
        press_at_once(look.app, "enter", "enter")
        await look.until(lambda: len(look.player.exported) > 0)
        await look.settle()
        assert len(look.player.exported) == 1
        assert look.app.screen is look.app.navigation.fabric


async def test_enter_twice_leaves_the_page_below_a_sheet_as_it_is() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "enter")
        page = look.app.screen
        assert isinstance(page, NodeScreen)
        await look.press("e")
        press_at_once(look.app, "enter", "enter")
        await look.settle()
        assert look.app.screen is page


async def test_enter_twice_starts_a_plan_once() -> None:
    async with looking(faulty()) as look:
        await look.press("R")
        press_at_once(look.app, "enter", "enter")
        await look.until(lambda: look.app.screen is look.app.navigation.tabs.run)
        assert len(look.player.started) == 1


async def test_enter_twice_after_a_command_does_it_once() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        await look.press("colon", *"quit")
        press_at_once(look.app, "enter", "enter")
        await look.until(lambda: isinstance(look.app.screen, ChoiceSheet))
        assert len(look.app.screen_stack) == 2


@pytest.mark.parametrize("key", ["R", "e", "S", "colon", "question_mark", "q"])
async def test_a_key_pressed_twice_opens_one_sheet(key: str) -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = key in ("S", "q")
        await look.press("3")
        press_at_once(look.app, key, key)
        await look.settle()
        assert len(look.app.screen_stack) == 2


async def test_enter_twice_opens_one_page() -> None:
    async with looking(faulty()) as look:
        await look.press("2")
        press_at_once(look.app, "enter", "enter")
        await look.settle()
        assert isinstance(look.app.screen, NodeScreen)
        assert len(look.app.screen_stack) == 2


START = StartModel(
    "0.1",
    ("a.yaml", "b.yaml"),
    (Past("s1", "acceptance", "mini", "yesterday", 4, 4, ListedVerdict(Outcome.PASS, "pass")),),
    (Interrupted("s2", "night", "half"),),
    (Demo("default", "five faults"), Demo("healthy", "none")),
    recent=(KnownFile("/srv/c.yaml", "c.yaml", "/srv"),),
    databases=(KnownFile("/srv/c.db", "c.db", "/srv"), KnownFile("/srv/d.db", "d.db", "/srv")),
)


@pytest.mark.parametrize("model", [StartModel("0.1"), START], ids=["empty", "full"])
@pytest.mark.parametrize("is_choice", [False, True], ids=["page", "choice"])
async def test_no_key_pressed_twice_ends_the_start_page_badly(model: StartModel, is_choice: bool) -> None:
    for key in ("enter", "escape", "q", "o", "D", "d", "a", "r", "1", "9", "down", "G", "x", "tab", "colon"):
        app = StartApp(model, Terminal())
        async with app.run_test(size=(80, 24)) as pilot:
            press_at_once(app, *(("o",) if is_choice else ()), key, key)
            await pilot.pause()
            assert app._exception is None, f"{key}: {app._exception!r}"
