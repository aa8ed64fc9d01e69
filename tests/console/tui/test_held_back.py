"""Run says what is held back and what releases it, the waves and the canary; nothing of it is code or markup."""

import pytest

from benchconsole.console.tui.screens.words import WordsSheet
from benchconsole.console.view import events
from benchconsole.console.view.events import (
    CANARY,
    CANARY_STILL,
    LEFT_OUT,
    SPARED,
    WAVES,
    make_noticed,
    name_omission,
    say_waves,
)
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.omission import OmissionReason
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.looking import Look, faulty, healthy, looking
from tests.console.tui.test_run import events_until

DISK = "fio-device is not run: everything on the disk with serial number WD-1 of node n001 would be lost; nobody confirmed it"
USED = "n007: tagged production in the topology file; not loaded"
UNCONFIRMED = name_omission(LEFT_OUT, OmissionReason.NOT_CONFIRMED)
PRODUCTION = name_omission(SPARED, OmissionReason.PRODUCTION)


async def feed(look: Look, *told: events.Event) -> None:
    view = look.app.session.latest.generation
    look.player.feed(*told)
    await look.until(lambda: look.app.session.latest.generation >= view + len(told))
    await look.settle()


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
async def test_what_is_held_back_is_counted_and_opens_in_full(size: tuple[int, int]) -> None:
    async with looking(healthy(), size) as look:
        await look.press("3")
        assert "held back" not in look.text
        await feed(look, make_noticed(UNCONFIRMED, DISK, 1.0), make_noticed(PRODUCTION, USED, 1.0))
        assert "= held back   fio-device is not" in look.text
        if size[1] < 32:
            assert "and 1 more" in look.text
        else:
            assert "n007" in look.text
        await look.press("tab", "enter")
        assert isinstance(look.app.screen, WordsSheet)
        flat = " ".join(look.text.split())
        assert "nobody confirmed it" in flat
        assert "R, then c: type the serial number of the disk" in flat
        await look.press("escape", "down", "enter")
        assert "R, then o: i-mean-production n007; benchconsole run --i-mean-production n007" in " ".join(
            look.text.split()
        )


async def test_tests_that_were_not_started_stand_there_and_not_among_the_others() -> None:
    story = healthy()
    closed = list(story.closed)
    held = replace(
        closed[0].results[0], measurements=(), facts=(),
        failure=Failure(FailedAt.NO_PASSWORD, "sudo wants a password there, and none was given", NodeId("n001")),
    )  # fmt: skip
    closed[0] = replace(closed[0], results=(held, *closed[0].results[1:]))
    async with looking(replace(story, closed=closed), (200, 60)) as look:
        await look.press("3")
        (line,) = (line for line in look.lines if "sudo wants a password" in line)
        assert line.startswith(" = held back   tests ")
        assert "1 test" in line
        assert "then r plans just these tests again" in line
        assert "not judged" not in look.text


async def test_without_anything_held_tab_says_so_and_the_tests_keep_the_keys() -> None:
    async with looking(healthy()) as look:
        await look.press("3", "tab")
        assert "Nothing is held back." in look.lines[-1]
        await feed(look, make_noticed(UNCONFIRMED, DISK, 1.0))
        assert "tab held back" in look.lines[-1] or "Nothing is held back." in look.lines[-1]
        await look.press("tab")
        opened = next(event for event in healthy().events() if isinstance(event, events.SessionOpened))
        await feed(look, replace(opened, anew=True))
        assert look.app.screen.focused is look.app.navigation.tabs.run.tests


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (make_noticed(CANARY, "n003 pings n009 while tests run", 1.0), "▸ canary      n003 pings n009 while tests run; no alarm"),
        (make_noticed(CANARY_STILL, "canary n003 to n009: ping is gone", 1.0), "▲ canary      keeps still: n003 to n009: ping is gone"),
    ],
)  # fmt: skip
async def test_waves_and_canary_while_a_run_goes_on(told: events.Event, words: str) -> None:
    until = events_until(events.RoundStarted, 3)
    async with looking(faulty(), until=until) as look:
        await look.press("3")
        assert "waves" not in look.text
        view = look.app.session.latest.view
        assert view is not None
        await feed(look, make_noticed(WAVES, say_waves(view.plan), 1.0), told)
        assert words in look.text
        current = look.app.session.latest.view
        assert current is not None
        assert current.current is not None
        tests = len(current.current.tests)
        assert f"▸ waves       wave 1 of 1 of {current.current.stage}: {tests} loads at once" in look.text, look.lines[
            6:10
        ]


async def test_text_of_notes_is_only_text() -> None:
    async with looking(healthy(), (200, 60)) as look:
        await look.press("3")
        evil = "[red]x[/red]\x1b[31m: y\u202e: z"
        await feed(look, *(make_noticed(kind, evil, 1.0) for kind in (LEFT_OUT, SPARED, CANARY_STILL, CANARY)))
        await look.press("tab", "enter")
        assert "\x1b" not in look.text
        assert "\u202e" not in look.text
        assert "[red]x[/red]" in look.text
