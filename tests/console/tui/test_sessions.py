"""Sessions as an area: opened and left again, labelled, remarked on, compared, played again, removed; a real database."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from benchconsole.console.cli.open import make_archive
from benchconsole.console.session.controller import SessionController
from benchconsole.console.tui.app.console_app import LOOKS_ONLY, ConsoleApp
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.comparison import ComparisonScreen
from benchconsole.console.tui.screens.sessions import SessionsScreen
from benchconsole.console.view.reducer import LatestView
from benchconsole.store.reading.remark_reading import read_remarks
from benchconsole.store.store import Store
from tests.console.cli.test_compare import measure
from tests.console.tui.looking import PLAIN, Look, faulty, looking
from tests.console.tui.playing import Player
from tests.scenarios.test_judging_trials import FABRIC, Site

NASTY = "[@click=app.quit]x[/]\x1b]52;c;aGVsbG8=\x07\u202e"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Two sessions of one machine and, first, one of another."""
    site = Site(tmp_path)
    site.topology = site.write("pony.yaml", (), FABRIC.replace("fabric: toy", "fabric: pony"))
    measure(site, "pony", 113.0, 113.3, 112.9, 113.1)
    site.topology = site.write("site.yaml")
    measure(site, "before", 110.3, 110.8, 109.1, 110.2)
    measure(site, "after", 100.0, 101.0, 99.0, 100.5)
    return site


@asynccontextmanager
async def opened(
    site: Site, size: tuple[int, int] = (120, 40), gate: threading.Event | None = None
) -> AsyncIterator[Look]:
    """The console on the last session; it is not open, and nothing of it is there, before the ``gate`` is set."""
    archive = make_archive(site.folder / "s.db")
    with Store.open(archive.path, create=False) as store:
        last = store.find_session("last")
    latest = LatestView()

    def make() -> SessionController:
        assert gate is None or gate.wait(60)
        return archive.open_control(last, latest, None)

    app = ConsoleApp(
        make, PLAIN, analyse=lambda _: (), latest=latest,
        make_archive=lambda: archive,
    )  # fmt: skip
    async with app.run_test(size=size) as pilot:
        look = Look(app, pilot, Player(faulty()))
        try:
            if gate is None:
                await look.until(lambda: app.session.latest.has_begun)
            yield look
        finally:
            if gate is not None:
                gate.set()
            for control in app.session.controls:
                await control.close()


async def listed(look: Look) -> SessionsScreen:
    """The page of sessions, with its rows."""
    await look.press("colon", *"sessions", "enter")
    screen = look.app.screen
    assert isinstance(screen, SessionsScreen)
    await look.until(lambda: any(row.words("holds") for row in screen.table.every))
    return screen


async def compared(look: Look) -> ComparisonScreen:
    """The comparison of the second session of the list with the one on the screen, with its rows."""
    await listed(look)
    await look.press("down", "c")
    page = look.app.screen
    assert isinstance(page, ComparisonScreen)
    await look.until(lambda: page.table.count > 0)
    return page


def labels(screen: SessionsScreen) -> list[str]:
    return [row.words("label") for row in screen.table.items]


async def test_the_list_is_newest_first_and_esc_leaves_it(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        assert labels(screen) == ["after", "before", "pony"]
        assert [row.words("is") for row in screen.table.items] == ["shown", "", ""]
        assert "3 sessions" in look.lines[1]
        await look.press("escape")
        assert look.app.screen is look.app.navigation.fabric


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
async def test_label_and_verdict_are_there_at_every_width(site: Site, size: tuple[int, int]) -> None:
    async with opened(site, size) as look:
        screen = await listed(look)
        assert {"id", "label"} <= set(screen.table.fitting(size[0]))
        assert size[0] < 80 or "verdict" in {*screen.table.fitting(size[0]), *screen.table.alike}


async def test_enter_opens_a_session_and_esc_comes_back_to_filter_and_cursor(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("slash", *"run=complete", "enter", "down")
        assert screen.chosen_sessions
        before = look.app.session.view
        await look.press("enter")
        await look.until(lambda: look.app.session.latest.has_begun)
        await look.settle()
        assert look.app.screen is look.app.navigation.fabric
        assert "before" in look.lines[1]
        await look.press("2", "enter")
        await look.press("escape", "escape")
        assert screen.is_current
        assert look.app.session.view is before
        assert screen.prompt.text == "run=complete"
        row = screen.table.chosen
        assert row is not None
        assert row.words("label") == "before"
        await look.press("escape", "escape")
        assert "after" in look.lines[1]
        await look.press("escape")
        assert "after" in look.lines[1]


async def test_a_session_is_opened_once_more_after_it_was_left(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("down")
        for _ in range(2):
            await look.press("enter")
            await look.until(lambda: look.app.session.latest.has_begun)
            await look.press("escape")
            assert look.app.screen is screen
        assert look.app.session.behind == []


async def test_the_shown_one_and_the_one_behind_are_not_opened_again(site: Site) -> None:
    async with opened(site) as look:
        await listed(look)
        await look.press("enter")
        assert "That is the session on the screen" in look.lines[-1]
        await look.press("down", "enter")
        await look.until(lambda: look.app.session.latest.has_begun)
        await look.settle()
        second = await listed(look)
        await look.press("enter")
        assert "That session is behind this one" in look.lines[-1]
        assert look.app.screen is second


async def test_a_label_is_changed_and_the_old_one_is_noted(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("down", "L", "ctrl+u", *"tuned", "enter")
        await look.until(lambda: "tuned" in labels(screen))
        (key,) = screen.chosen_sessions
        with Store.open(site.folder / "s.db", create=False) as store:
            assert store.find_session("tuned") == key
            assert [note.text.split(",")[0] for note in store.session(key).read_notes() if note.kind == "label"] == [
                "before became tuned"
            ]
        look.app.command_line.perform("label last")
        await look.until(lambda: "means the latest sessions" in look.lines[-1])
        await look.press("L", "ctrl+u", "enter")
        await look.until(lambda: "" in labels(screen))


async def test_a_remark_is_kept_with_its_author(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("m", *"new kernel", "enter")
        await look.until(lambda: any(row.words("remark") == "new kernel" for row in screen.table.every))
        with Store.open(site.folder / "s.db", create=False) as store:
            (remark,) = read_remarks(store.session(store.find_session("after")))
        assert (remark.text, bool(remark.by)) == ("new kernel", True)


async def test_a_session_goes_only_after_consent(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("G", "x")
        await look.until(lambda: isinstance(look.app.screen, ChoiceSheet))
        assert "pony" in look.text
        await look.press("enter")
        assert len(screen.table.every) == 3
        await look.press("x")
        await look.until(lambda: isinstance(look.app.screen, ChoiceSheet))
        await look.press("r")
        await look.until(lambda: labels(screen) == ["after", "before"])


async def test_the_shown_session_and_a_baseline_stay(site: Site) -> None:
    await asyncio.to_thread(site.call, "baseline", "before")
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("x")
        await look.until(lambda: "stays: this console shows it" in look.lines[-1])
        await look.press("down", "x")
        await look.until(lambda: "stays: the session is or was a baseline" in look.lines[-1])
        assert len(screen.table.every) == 3
        assert look.app.screen is screen


async def test_three_marks_are_too_many_to_compare_and_esc_takes_them_away(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("*")
        assert len(screen.chosen_sessions) == 3
        await look.press("c")
        assert "c compares two sessions, and 3 are marked" in look.lines[-1]
        await look.press("slash", *"pony", "enter")
        assert "3 marked, 2 of them not shown: x removes them" in look.lines[-2]
        await look.press("escape", "escape")
        assert look.app.screen is screen
        assert len(screen.chosen_sessions) == 1
        await look.press("*", "*")
        assert not screen.table.marked


async def test_marked_sessions_go_together_after_consent_and_those_that_must_stay_do(site: Site) -> None:
    await asyncio.to_thread(measure, site, "again", 110.3, 110.8, 109.1, 110.2)
    await asyncio.to_thread(site.call, "baseline", "before")
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("*", "x")
        await look.until(lambda: isinstance(look.app.screen, ChoiceSheet))
        said = " ".join(look.text.split())
        assert "remove 2 sessions" in said
        assert "after, 4 tests; " in said
        assert "stays: this console shows it" in said
        assert "stays: the session is or was a baseline" in said
        await look.press("enter")
        assert len(screen.table.every) == 4
        await look.press("x")
        await look.until(lambda: isinstance(look.app.screen, ChoiceSheet))
        await look.press("r")
        await look.until(lambda: labels(screen) == ["again", "before"])
        assert len(screen.table.marked) == 2


async def test_a_marked_session_that_begins_to_run_before_the_consent_stays(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("down", "space", "space", "x")
        await look.until(lambda: isinstance(look.app.screen, ChoiceSheet))
        await asyncio.to_thread(site.call, "baseline", "before")
        await look.press("r")
        await look.until(lambda: labels(screen) == ["after", "before"])
        assert "not all is done:" in look.lines[-1]
        assert "baseline" in look.lines[-1]


@pytest.mark.parametrize("how", ["key", "typed"])
async def test_a_session_is_played_again(site: Site, how: str) -> None:
    async with opened(site) as look:
        await listed(look)
        await look.press("down")
        if how == "key":
            await look.press("P", "3")
        else:
            look.app.command_line.perform("replay 60")
        await look.until(lambda: "REPLAY ×60" in look.lines[0])
        await look.until(lambda: look.app.session.latest.has_begun)
        await look.press("escape")
        assert isinstance(look.app.screen, SessionsScreen)
        assert "REPLAY" not in look.lines[0]
        look.app.command_line.perform("replay fast")
        await look.settle()
        assert "expected a speed" in look.lines[-1]


async def test_a_database_that_is_away_is_said_and_comes_back(site: Site) -> None:
    path = site.folder / "s.db"
    async with opened(site) as look:
        screen = await listed(look)
        kept = {each: each.read_bytes() for each in site.folder.glob("s.db*")}
        for each in kept:
            each.unlink()
        screen.read()
        await look.until(lambda: "The sessions cannot be read:" in look.text)
        assert "there is no database here" in " ".join(look.text.split())
        look.app.session_orders._label("00000000", "x")
        await look.until(lambda: "not done: there is no database here" in look.lines[-1])
        path.write_bytes(kept[path])
        screen.read()
        await look.until(lambda: "before" in labels(screen))


async def test_without_a_database_the_area_says_so() -> None:
    async with looking(faulty()) as look:
        for command in ("sessions", "compare", "compare x"):
            look.app.command_line.perform(command)
            await look.settle()
            assert "opened without a database of sessions" in look.lines[-1]
        assert len(look.app.screen_stack) == 1


async def test_a_run_goes_on_behind_an_opened_session(site: Site) -> None:
    archive = make_archive(site.folder / "s.db")
    player = Player(faulty(), until=10)
    app = ConsoleApp(lambda: player, PLAIN, analyse=lambda _: (), make_archive=lambda: archive)
    async with app.run_test(size=(120, 40)) as pilot:
        look = Look(app, pilot, player)
        await look.until(lambda: app.session.latest.has_begun)
        player.running = True
        await listed(look)
        await look.press("enter")
        await look.until(lambda: app.session.latest.has_begun)
        await look.settle()
        assert "RUN BEHIND" in look.lines[0]
        await look.press("R")
        assert "A run is going in the session behind" in look.lines[-1]
        await look.press("3", "S")
        assert "The run goes on in the session behind" in look.lines[-1]
        await look.press("q")
        assert isinstance(app.screen, ChoiceSheet)
        await look.press("escape", "escape")
        assert isinstance(app.screen, SessionsScreen)
        assert "RUN BEHIND" not in look.lines[0]
        assert player.stopped == []


async def test_a_session_that_runs_here_is_not_left(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(site) as look:
        await listed(look)
        await look.press("down", "enter")
        await look.until(lambda: look.app.session.latest.has_begun)
        control = look.app.session.control
        monkeypatch.setattr(type(control), "running", property(lambda self: self is control))
        await look.press("escape")
        assert "A run is going in this session" in look.lines[-1]
        monkeypatch.undo()
        await look.press("escape")
        assert isinstance(look.app.screen, SessionsScreen)


async def test_a_session_that_cannot_be_opened_is_said_and_the_list_is_back(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)

        def refuse(*_: object) -> None:
            raise ValueError("its file is damaged")

        screen.archive.open_control = refuse  # type: ignore[assignment]
        await look.press("down", "enter")
        await look.until(lambda: "It cannot be opened: its file is damaged" in look.lines[-1])
        assert look.app.screen is screen
        assert look.app.failure is None


async def test_a_session_that_opens_after_it_was_left_is_closed(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        make, closed = screen.archive.open_control, list[str]()

        def leave_first(key: str, latest: LatestView, clock: None) -> object:
            look.app.call_from_thread(look.app.session_orders.leave)
            control = make(key, latest, clock)
            close = control.close

            async def remember() -> None:
                closed.append(key)
                await close()

            control.close = remember  # type: ignore[method-assign]
            return control

        screen.archive.open_control = leave_first  # type: ignore[assignment]
        await look.press("down", "enter")
        await look.until(lambda: bool(closed))
        assert look.app.screen is screen


@pytest.mark.fault("I13")
async def test_hostile_labels_and_remarks_are_only_text(site: Site) -> None:
    await asyncio.to_thread(site.call, "label", "before", NASTY)
    await asyncio.to_thread(site.call, "remark", "pony", NASTY)
    async with opened(site, (200, 60)) as look:
        screen = await listed(look)
        seen = [look.text]
        for keys in (("down", "t"), ("escape", "L"), ("escape", "x"), ("escape", "c"), ("escape", "enter")):
            await look.press(*keys)
            await look.settle()
            seen.append(look.text)
        for text in seen:
            assert not set(text) & set("\x1b\x07\u202e")
        assert "[@click=app.quit]x[/]" in seen[0]
        await look.press("escape")
        assert look.app.screen is screen


@pytest.mark.parametrize("key", ["L", "m", "x"])
async def test_a_console_that_only_looks_changes_no_session(site: Site, key: str) -> None:
    async with opened(site) as look:
        look.app.session.looks_only = LOOKS_ONLY
        screen = await listed(look)
        await look.press("down", key)
        assert look.app.screen is screen
        assert LOOKS_ONLY[:40] in look.lines[-1]
        assert labels(screen) == ["after", "before", "pony"]
        await look.press("P")
        assert isinstance(look.app.screen, ChoiceSheet)
