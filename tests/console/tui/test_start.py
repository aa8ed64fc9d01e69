"""The page before there is a topology."""

import pytest

from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.start_model import Demo, Interrupted, Past, Start, StartChoice, StartModel
from benchconsole.console.view.stored_verdict import NOT_KNOWN, ListedVerdict, Outcome
from tests.console.tui.looking import lines

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
