"""The page before there is a topology."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from benchconsole.console.tui.actions import name_keys, use_keymap
from benchconsole.console.tui.app import start_app
from benchconsole.console.tui.app.keymap import Keymap, find_keymap
from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.screens import start
from benchconsole.console.tui.start_model import Demo, Interrupted, KnownFile, Past, Start, StartChoice, StartModel
from benchconsole.console.tui.widgets.menu import StartMenu
from benchconsole.console.view.stored_verdict import NOT_KNOWN, ListedVerdict, Outcome
from benchconsole.topology.copying import replace
from tests.console.tui.looking import lines


@pytest.fixture(autouse=True)
def _no_keymap() -> Iterator[None]:
    yield
    use_keymap({})


class Seen(NamedTuple):
    """The choice that was made, and the text that stood on the screen."""

    choice: StartChoice | None
    text: str


SESSIONS = (
    Past(
        "s14", "acceptance 14", "jetstream", "today 09:20", 347, 347, ListedVerdict(Outcome.WATCH, "watch, 2 to watch")
    ),
    Past("s12", "acceptance 12", "jetstream", "12 Nov 14:53", 344, 347, ListedVerdict(Outcome.FAIL, "fail, 4 below")),
)
FULL = StartModel(
    "1.0",
    ("jetstream.yaml", "other.yaml"),
    SESSIONS,
    (Interrupted("s15", "acceptance 15", "stopped at round 31 of 96"),),
    (Demo("default", "five faults"), Demo("healthy", "nothing is wrong")),
)


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        ("d1", StartChoice(Start.DEMO, "default")),
        ("djj\r", StartChoice(Start.DEMO, "healthy")),
        ("1", StartChoice(Start.SESSION, "s14")),
        ("2", StartChoice(Start.SESSION, "s12")),
        ("r", StartChoice(Start.RESUME, "s15")),
        ("o2", StartChoice(Start.OPEN, "other.yaml")),
        ("jjj\r", StartChoice(Start.SESSION, "s14")),
        ("G\r", StartChoice(Start.RESUME, "s15")),
        ("q", None),
    ],
)
async def test_keys_choose(keys: str, choice: StartChoice | None) -> None:
    app = StartApp(FULL, Terminal())
    async with app.run_test(size=(80, 24)) as pilot:
        for key in keys:
            await pilot.press("enter" if key == "\r" else key)
            await pilot.pause()
        assert app.return_value == choice


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (80, 12), (60, 9)])
@pytest.mark.parametrize(
    ("words", "choice"),
    [
        ("describe a cluster", None),
        ("acceptance 14 ", StartChoice(Start.SESSION, "s14")),
        ("acceptance 12 ", StartChoice(Start.SESSION, "s12")),
        ("acceptance 15 ", StartChoice(Start.RESUME, "s15")),
    ],
)
async def test_a_click_takes_the_row_under_the_mouse(
    size: tuple[int, int], words: str, choice: StartChoice | None
) -> None:
    app = StartApp(FULL, Terminal())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("G" if choice is not None else "g")  # on a low screen the rows around the cursor are drawn
        await pilot.pause()
        row = next(place for place, line in enumerate(lines(app)) if words in line)
        menu = pilot.app.screen.query_one(StartMenu)
        await pilot.click(offset=(8, row))
        await pilot.pause()
        assert menu.chosen is not None
        assert menu.chosen.word == words.strip()
        if choice is not None:
            row = next(place for place, line in enumerate(lines(app)) if words in line)  # the rows may have moved
            await pilot.click(offset=(8, row), times=2)
            await pilot.pause()
            assert app.return_value == choice


async def test_a_click_beside_the_entries_of_the_start_page_does_nothing() -> None:
    app = StartApp(FULL, Terminal())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        menu = pilot.app.screen.query_one(StartMenu)
        entries = [place for place, line in enumerate(lines(app)[:-1]) if any(e.word in line for e in menu.items)]
        for row in set(range(23)) - set(entries):
            await pilot.click(offset=(8, row), times=2)
            await pilot.pause()
            assert (menu.cursor, app.return_value, app.screen) == (0, None, menu.screen)


async def test_one_of_several_interrupted_sessions_is_chosen() -> None:
    several = (Interrupted("s15", "acceptance 15", "stopped"), Interrupted("s9", "night", "stopped earlier"))
    app = StartApp(StartModel("1.0", interrupted=several), Terminal())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("r", "2")
        await pilot.pause()
        assert app.return_value == StartChoice(Start.RESUME, "s9")


async def test_the_page_promises_that_nothing_is_sent() -> None:
    app = StartApp(FULL, Terminal())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = "\n".join(lines(app))
        assert "Nothing is sent to a node before you press enter on its name, or on a plan." in text
        assert "344 of 347  ✗ fail  " in text
        assert "acceptance 15 stopped at round 31 of 96" in text


async def test_a_verdict_that_is_not_known_has_no_sign() -> None:
    past = Past("s1", "old", "jetstream", "1 Nov", 9, 9, ListedVerdict(None, NOT_KNOWN))
    app = StartApp(StartModel("1.0", (), (past,)), Terminal())
    async with app.run_test(size=(60, 24)) as pilot:
        await pilot.pause()
        (row,) = [line for line in lines(app) if "9 of 9" in line]
        assert row.rstrip().endswith("9 of 9  not known")
        await pilot.resize_terminal(100, 24)
        await pilot.pause()
        (row,) = [line for line in lines(app) if "9 of 9" in line]
        assert row.rstrip().endswith("9 of 9  not known: show it")


async def test_what_there_is_not_is_not_offered() -> None:
    app = StartApp(StartModel("1.0", ("only.yaml",)), Terminal())
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.pause()
        text = "\n".join(lines(app))
        assert "demo" not in text
        assert "sessions" not in text
        assert "1-9" not in text
        await pilot.press("enter")
        assert app.return_value == StartChoice(Start.OPEN, "only.yaml")


@pytest.mark.parametrize("size", [(1, 1), (60, 15), (200, 60)])
async def test_any_size_and_hostile_names(size: tuple[int, int]) -> None:
    bad = Past("x", "[/]\x1b]0;x\x07", "\u202ename", "now", 1, 2, ListedVerdict(Outcome.FAIL, "fail; \u202e\x1b[2J"))
    app = StartApp(StartModel("1.0", ("[b].yaml",), (bad,)), Terminal(ascii=True))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert all(32 <= ord(character) <= 126 for line in lines(app) for character in line)


KNOWN = (
    KnownFile("/home/ann/clusters/jet.yaml", "jet.yaml", "~/clusters"),
    KnownFile("/srv/old.yaml", "old.yaml", "/srv"),
)
BASES = (KnownFile("/data/acceptance.db", "acceptance.db", "/data"),)


async def show(model: StartModel, *keys: str, size: tuple[int, int] = (80, 24), keymap: Keymap | None = None) -> Seen:
    """The page after some keys."""
    app = StartApp(model, Terminal(), keymap=keymap or {})
    async with app.run_test(size=size) as pilot:
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await pilot.pause()
        return Seen(app.return_value, "\n".join(lines(app)) if app.return_value is None else "")


async def test_files_that_were_opened_before_stand_beside_those_of_the_folder() -> None:
    model = replace(FULL, recent=KNOWN)
    assert "jetstream.yaml and 1 more here; 2 opened before" in (await show(model)).text
    seen = await show(model, "o")
    assert [
        line.strip(" ▌").split()
        for line in seen.text.splitlines()
        if "yaml" in line and " in " in line and "here" not in line
    ] == [
        ["1", "jetstream.yaml", "in", "this", "folder"],
        ["2", "other.yaml", "in", "this", "folder"],
        ["3", "jet.yaml", "in", "~/clusters"],
        ["4", "old.yaml", "in", "/srv"],
    ]
    assert (await show(model, "o", "3")).choice == StartChoice(Start.OPEN, "/home/ann/clusters/jet.yaml")


async def test_of_one_file_elsewhere_the_folder_is_named() -> None:
    model = replace(FULL, topologies=(), recent=KNOWN[:1])
    seen = await show(model)
    assert "jet.yaml in ~/clusters, opened before" in seen.text
    assert (await show(model, "o")).choice == StartChoice(Start.OPEN, "/home/ann/clusters/jet.yaml")
    assert "jet.yaml in ~/clusters and 1 more, opened before" in (await show(replace(model, recent=KNOWN))).text


async def test_databases_that_were_opened_before_are_offered() -> None:
    assert "open a database" not in (await show(FULL)).text
    model = replace(FULL, databases=BASES)
    assert "acceptance.db in /data, opened before" in (await show(model)).text
    assert (await show(model, "D")).choice == StartChoice(Start.DATABASE, "/data/acceptance.db")
    shown = replace(FULL, database=BASES[0], databases=(KnownFile("/home/ann/s.db", "s.db", "~"),))
    assert "sessions of acceptance.db in /data; 1 more" in (await show(shown)).text
    empty = replace(shown, sessions=(), databases=())
    assert "no session in acceptance.db in /data" in (await show(empty)).text
    assert (await show(empty, "D")).choice is None


async def test_where_there_is_nothing_to_open_that_is_said() -> None:
    seen = await show(StartModel("1.0"), "o")
    assert seen.choice is None
    assert seen.text.splitlines()[-1].strip() == "none in this folder; benchconsole FILE opens one"


async def test_more_files_than_fit_are_counted_and_reached() -> None:
    several = tuple(KnownFile(f"/srv/{number}.yaml", f"f{number}.yaml", "/srv") for number in range(20))
    model = replace(FULL, topologies=(), recent=several)
    seen = await show(model, "o", size=(80, 15))
    assert "f0.yaml in /srv and 19 more, opened before" in seen.text
    assert seen.text.count("in /srv") == 12
    assert "9 more" in seen.text.splitlines()[-1]
    assert "more" not in (await show(model, "o", size=(80, 30))).text.splitlines()[-1]
    seen = await show(model, "o", *["down"] * 19, "enter", size=(80, 15))
    assert seen.choice == StartChoice(Start.OPEN, "/srv/19.yaml")


async def test_a_keymap_gives_the_page_other_keys() -> None:
    keymap = {
        "open_topology": ("f5",), "start_demo": ("x",), "resume_session": ("2",), "quit": ("Q",), "down": ("n", "down"),
        "write_file": ("f9",),
    }  # fmt: skip
    seen = await show(FULL, keymap=keymap)
    assert "F5  open a topology" in seen.text
    assert "x   start the demo" in seen.text
    assert seen.text.splitlines()[-1].split() == ["enter", "open", "1-9", "session", "Q", "quit"]
    assert (await show(FULL, "f5", "2", keymap=keymap)).choice == StartChoice(Start.OPEN, "other.yaml")
    assert (await show(FULL, "x", "1", keymap=keymap)).choice == StartChoice(Start.DEMO, "default")
    assert (await show(FULL, "2", keymap=keymap)).choice == StartChoice(Start.RESUME, "s15")
    assert (await show(FULL, "n", "n", "n", "enter", keymap=keymap)).choice == StartChoice(Start.SESSION, "s14")
    for key in ("o", "d", "r", "q", "j"):
        seen = await show(FULL, key, keymap=keymap)
        assert seen.choice is None
        assert "Nothing is sent" in seen.text
    assert (await show(FULL, "1", keymap=keymap)).choice == StartChoice(Start.SESSION, "s14")


async def test_pages_behind_it_have_the_keys_of_the_keymap() -> None:
    app = StartApp(FULL, Terminal(), keymap={"write_file": ("f9",), "page_down": ("f8",), "pairs": ("f7",)})
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert name_keys("w asks for the name of the file", "write_file") == "F9 asks for the name of the file"
        await pilot.press("f7")  # of the console alone
        assert app._exception is None


async def test_what_was_wrong_before_the_page_is_said_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    model = replace(FULL, note="The list is broken: \x1b[2J")
    assert "The list is broken: ␛[2J" in (await show(model)).text.splitlines()[-1]
    monkeypatch.setattr(start, "NOTED_SECONDS", 0.001)
    app = StartApp(model, Terminal())
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(500):
            if "quit" in lines(app)[-1]:
                break
            await pilot.pause()
        assert "The list is broken" not in lines(app)[-1]


def test_a_refused_keymap_is_said_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    path = find_keymap()
    path.parent.mkdir(parents=True)
    path.write_text("open_topology: q\n")
    path.chmod(0o600)
    ran: list[StartApp] = []

    def run(app: StartApp) -> None:
        ran.append(app)

    monkeypatch.setattr(StartApp, "run", run)
    start_app.run_start(FULL, terminal=Terminal())
    assert ran[0].model.note.startswith(
        "The default keys are used: keymap.yaml:1: q for open_topology, and quit has it"
    )
    assert ran[0].keymap == {}
    path.write_text("open_topology: F5\n")
    start_app.run_start(FULL, terminal=Terminal())
    assert (ran[1].model.note, ran[1].keymap) == ("", {"open_topology": ("f5",)})


@pytest.mark.parametrize("size", [(1, 1), (60, 15), (200, 60)])
async def test_any_size_and_hostile_files(size: tuple[int, int]) -> None:
    bad = KnownFile("/x", "[/]\x1b]0;x\x07.yaml", "\u202e~/\x1b[2J")
    model = replace(FULL, recent=(bad,) * 30, databases=(bad, bad), database=bad, note="\x1b[2J\u202e")
    for key in ("o", "D"):
        app = StartApp(model, Terminal(ascii=True))
        async with app.run_test(size=size) as pilot:
            await pilot.press(key)
            await pilot.pause()
            assert all(32 <= ord(character) <= 126 for line in lines(app) for character in line)
