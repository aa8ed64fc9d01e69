"""Findings from the description alone: there before anything runs, beside the measured ones, and never a verdict."""

import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchconsole.console.tui.fabric_map.map_cells import MapMark
from benchconsole.console.tui.queries.static_findings import AlikeFindings
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.screens.fabric import FabricScreen
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import LatestView
from benchconsole.console.view.run_view import tally
from benchconsole.console.view.session_verdict import decide
from benchconsole.console.view.totals import compute_totals
from benchconsole.topology.analysis.static_analysis import make_static_report
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId, SwitchId
from tests.console.tui.fabrics import mini
from tests.console.tui.looking import Look, faulty, looking, running
from tests.console.tui.playing import Player
from tests.console.tui.story import Faults, Story, tell
from tests.console.tui.test_hostile import NASTY
from tests.fabrics import fabric

LONG = "the word that comes last of all is a very long way from the first one " * 6 + "omega"
SOME = (
    StaticFinding(Severity.NOTE, "single-leg", "st1", "st1 has no second leg"),
    StaticFinding(Severity.WARNING, "one-spine", "leaf3--spine1", "without this link leaf3 has one way up"),
    StaticFinding(Severity.ERROR, "claim", "mini", "2:1 was stated, the cabling gives 4:1"),
    StaticFinding(Severity.WARNING, "narrow", "leaf[1-8]", LONG),
    StaticFinding(Severity.WARNING, "slow", "leaf5", "leaf5 takes more than it passes on"),
)
LAST = 1
"""Events of a story that was opened and has run nothing."""


def many(number: int) -> tuple[StaticFinding, ...]:
    """Half of one kind, half of ten kinds."""
    kinds = ["alike" if index % 2 else f"kind-{index // 2 % 10}" for index in range(number)]
    return tuple(
        StaticFinding(Severity.NOTE, kind, f"n{index:03d}", f"sentence {index}") for index, kind in enumerate(kinds)
    )


def described_story(tmp_path: Path) -> Story:
    """A fabric from a file, so that everything in it has a place there."""
    return tell(fabric(tmp_path), Faults(), most=0)


def rows(look: Look, *words: str) -> list[str]:
    return [line for line in look.lines if all(word in line for word in words)]


async def test_the_fabric_says_in_one_line_what_the_description_shows() -> None:
    async with looking(faulty(), until=LAST, static=SOME) as look:
        assert "Nothing has run on this fabric yet." in look.lines[3]
        assert look.lines[4].strip() == "description: 1 error, 3 warnings, 1 note, see Findings"
    async with looking(faulty(), (60, 15), until=LAST, static=SOME) as look:
        assert look.lines[2].rstrip().endswith("description: 1 error")
    async with looking(faulty(), static=SOME) as look:
        assert "description:" not in look.text  # what was measured comes first


async def test_errors_come_first_each_with_sign_word_element_and_sentence() -> None:
    async with looking(faulty(), until=LAST, static=SOME) as look:
        await look.press("4")
        assert "Nothing was measured yet.  R plans a run" in look.lines[3]
        assert "from the description  ■ 1 error  □ 3 warnings  ▫ 1 note" in look.lines[4]
        shown = [line[1:].split()[:3] for line in look.lines[5:10]]
        assert shown == [
            ["■", "error", "mini"],
            ["□", "warning", "leaf3--spine1"],
            ["□", "warning", "leaf[1-8]"],
            ["□", "warning", "leaf5"],
            ["▫", "note", "st1"],
        ]
        assert "2:1 was stated, the cabling gives 4:1" in look.lines[5]
        assert look.lines[5].startswith("▌")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_chosen_one_is_shown_in_full(size: tuple[int, int]) -> None:
    async with looking(faulty(), size, until=LAST, static=SOME) as look:
        await look.press("4", "down", "down")
        at = next(index for index, line in enumerate(look.lines) if line.startswith(" shows "))
        text = " ".join(line[13:].strip() for line in look.lines[at:] if line[:8] in (" shows  ", " " * 8))
        assert LONG.split("omega", maxsplit=1)[0].strip() in text
        assert "omega" in text
        assert rows(look, "in the file")
        assert rows(look, "leaf[1-8], warning", "3 of 5 from the description")


async def test_every_finding_says_where_that_stands_in_the_file(tmp_path: Path) -> None:
    story = described_story(tmp_path)
    found = (
        StaticFinding(Severity.WARNING, "a", "leaf[1-2]", "both"),
        StaticFinding(Severity.NOTE, "b", "small", "all of it"),
        StaticFinding(Severity.NOTE, "c", "leaf1--spine1 and 3 more", "four links"),
    )
    async with looking(story, until=LAST, static=found) as look:
        await look.press("4")
        assert rows(look, "in the file", "topology.yaml:6")
        assert rows(look, "about", "2 of the kind leaf switch")
        await look.press("down")
        assert rows(look, "in the file", "no single line")
        assert rows(look, "about", "the whole fabric")
        await look.press("down")
        assert rows(look, "in the file", "topology.yaml:14")
        assert rows(look, "about", "link of 2 cables, leaf1 to spine1")


async def test_keys_lead_to_the_element() -> None:
    async with looking(faulty(), until=LAST, static=SOME) as look:
        await look.press("4", "end", "enter")
        assert isinstance(look.app.screen, NodeScreen)
        assert look.app.screen.node == "st1"
        assert "description, note: st1 has no second leg" in look.lines[4]
        await look.press("f")
        assert isinstance(look.app.screen, FindingsScreen)
        for mark in (
            MapMark(switch=SwitchId("leaf5")),
            MapMark(switch=SwitchId("leaf1")),
            MapMark(link=LinkId("leaf3--spine1")),
        ):
            await look.press("up", "o")
            assert isinstance(look.app.screen, FabricScreen)
            assert look.app.navigation.fabric.map.mark == mark
            await look.press("4")
        await look.press("up", "o")
        assert isinstance(look.app.screen, FindingsScreen)
        assert "no single element" in look.lines[-1]
        await look.press("r")
        assert "Nothing was run for it" in look.lines[-1]
        assert look.player.proposed == []


@pytest.mark.parametrize("is_moved", [False, True])
async def test_the_cursor_leaves_the_description_for_the_worst_that_was_measured_unless_somebody_moved_it(
    is_moved: bool,
) -> None:
    story = faulty()
    async with looking(story, until=LAST, static=SOME) as look:
        await look.press("4")
        findings = look.app.navigation.tabs.findings.list
        if is_moved:
            await look.press("down", "up")
        described = findings.chosen
        assert isinstance(described, AlikeFindings)
        look.app.session.latest.take(list(story.events())[LAST:])
        look.app.tick()
        await look.settle()
        if is_moved:
            assert isinstance(findings.chosen, AlikeFindings)
            assert findings.chosen.first == described.first
        else:
            assert findings.chosen is findings.faults[0]


async def test_the_fabric_leads_to_what_is_said_of_the_cursor() -> None:
    async with looking(faulty(), until=LAST, static=SOME) as look:
        await look.press("enter")
        assert look.app.navigation.tabs.findings.list.cursor == 1  # the worst, where there is no cursor yet
        look.app.navigation.fabric.map.go(MapMark(switch=SwitchId("leaf7")))
        await look.press("1", "enter")
        assert rows(look, "▌□ warning", "leaf[1-8]")
        look.app.navigation.fabric.map.go(MapMark(link=LinkId("leaf3--spine1")))
        await look.press("1", "f")
        assert rows(look, "▌□ warning", "leaf3--spine1")
        look.app.navigation.fabric.map.go(MapMark(switch=SwitchId("spine2")))
        await look.press("1", "enter")
        assert "No finding speaks of this switch." in look.lines[-1]


async def test_what_was_measured_stands_first_and_keeps_its_numbers() -> None:
    async with looking(faulty()) as look:
        await look.press("4")
        before = look.lines
    async with looking(faulty(), static=SOME) as look:
        await look.press("4")
        assert look.lines[1] == before[1]  # the tally counts what was measured
        assert look.lines[3:9] == before[3:9]
        assert "from the description" in look.lines[11]
        assert rows(look, "finding 1 of 5")
        await look.press("end", "n")
        assert look.app.navigation.tabs.findings.list.cursor == 0


def test_no_count_state_or_exit_code_rests_on_the_description() -> None:
    story = faulty()
    latest = LatestView()
    latest.take([SessionOpened("", "", story.fabric, "default", (), 0.0, False), *story.events()])
    view = latest.view
    latest.describe(story.fabric, SOME)
    with_it = latest.view
    assert view is not None
    assert with_it is not None
    assert with_it.static
    assert replace(with_it, static=None) == view
    assert (compute_totals(with_it).covered, decide(with_it).exit_code(), tally(with_it)) == (
        compute_totals(view).covered,
        decide(view).exit_code(),
        tally(view),
    )


def test_a_session_that_begins_on_the_same_fabric_keeps_it() -> None:
    shown = mini()
    latest = LatestView()
    latest.take([SessionOpened("", "", shown, "default", (), 0.0, False)])
    latest.describe(shown, SOME)
    assert latest.view is not None
    found = latest.view.static
    assert [each.severity for each in found or ()] == ["error", "warning", "warning", "warning", "note"]
    latest.take([SessionOpened("20", "x", shown, "default", (), 1.0, True)])
    assert latest.view.static == found
    latest.take([SessionOpened("21", "x", mini(), "default", (), 1.0, True)])
    assert latest.view.static is None


def test_what_is_found_late_in_a_fabric_that_is_no_longer_shown_displaces_nothing() -> None:
    before, shown, latest = mini(), mini(), LatestView()
    latest.preview(SessionOpened("", "", before, "", (), 0.0, False), 0, 0)
    latest.take([SessionOpened("20", "x", shown, "default", (), 1.0, True)])
    latest.describe(shown, SOME)
    latest.describe(before, ())
    assert latest.view is not None
    assert len(latest.view.static or ()) == len(SOME)


def test_a_fabric_that_is_read_again_is_shown_again_with_its_suite() -> None:
    before, after, latest = mini(), mini(), LatestView()
    latest.preview(SessionOpened("20", "x", before, "", (), 0.0, False), 0, 3)
    first = latest.view
    latest.preview(SessionOpened("20", "x", before, "default", (), 0.0, False), 1, 3)
    again = latest.view
    latest.preview(SessionOpened("20", "x", after, "default", (), 0.0, False), 2, 3)
    last = latest.view
    assert first is not None
    assert again is not None
    assert last is not None
    assert (again.nodes, again.suite, again.reading) == (first.nodes, "default", (1, 3))
    assert last.reading == (2, 3)
    assert last.fabric is after


async def test_it_is_worked_out_once_for_a_fabric_and_beside_the_event_loop() -> None:
    asked: list[tuple[Fabric, int]] = []
    go_on = threading.Event()

    def analyse(described_fabric: Fabric) -> Iterable[StaticFinding]:
        asked.append((described_fabric, threading.get_ident()))
        assert go_on.wait(30)
        return SOME

    story = tell(mini(), Faults(), most=1)
    player = Player(story, until=LAST)
    async with running(player, (120, 40), analyse) as look:
        await look.until(lambda: bool(asked))
        await look.press("4")
        assert rows(look, "from the description", "is being worked out")
        go_on.set()
        await look.until(lambda: bool(rows(look, "■ error")))
        player.feed(SessionOpened("20", "again", story.fabric, "default", (), 1.0, True))
        await look.until(lambda: "again" in look.lines[1])
        assert rows(look, "■ error")
        assert [described_fabric for described_fabric, _ in asked] == [story.fabric]
        assert asked[0][1] != threading.get_ident()


async def test_an_analysis_that_fails_is_said_and_ends_nothing() -> None:
    def analyse(described_fabric: Fabric) -> Iterable[StaticFinding]:
        raise ValueError(f"no way through {described_fabric.name}")

    async with running(Player(tell(mini(), Faults(), most=1)), (120, 40), analyse) as look:
        await look.until(lambda: look.app.failure is not None)
        assert "The description was not analysed: ValueError: no way through mini" in look.lines[-1]
        await look.press("2")
        assert rows(look, "n001")
        assert isinstance(look.app.failure, ValueError)


async def test_nothing_to_say_is_said() -> None:
    async with looking(faulty(), until=LAST) as look:
        assert look.lines[4].strip() == "description: nothing stands out, see Findings"
        await look.press("4", "n", "enter", "o", "y", "z", "down")
        assert rows(look, "from the description  nothing stands out")
        assert look.app.navigation.tabs.findings.list.chosen is None


async def test_five_hundred_scroll_and_fold() -> None:
    async with looking(faulty(), (80, 24), until=LAST, static=many(500)) as look:
        await look.press("4")
        assert rows(look, "489 alike folded, z shows them")
        assert rows(look, "n001 +249", "sentence 1")
        assert len(rows(look, "▫ note")) == 7
        await look.press("end")
        assert rows(look, "▌▫ note", "n018 +24")
        await look.press("enter")  # a folded row opens, and the cursor stays
        assert rows(look, "▌▫ note", "n018", "sentence 18")
        assert rows(look, "19 of 500 from the description")
        await look.press("end")
        assert rows(look, "▌▫ note", "n499")
        assert "▫ 500 notes" in look.lines[3]  # the heading stays
        await look.press("n")
        assert rows(look, "▌▫ note", "n000")
        assert "Nothing was measured yet." in look.lines[3]
        await look.press("z")
        assert rows(look, "489 alike folded")


async def test_a_jump_opens_the_fold_it_leads_into() -> None:
    async with looking(faulty(), until=LAST, static=many(100)) as look:
        look.app.navigation.fabric.map.go(MapMark(node=NodeId("n051")))
        await look.press("f")
        assert rows(look, "▌▫ note", "n051", "sentence 51")


@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_hostile_text_is_only_text(kind: str, size: tuple[int, int]) -> None:
    text = NASTY[kind]
    found = (
        StaticFinding(Severity.ERROR, text, text, text * 20),
        StaticFinding(Severity.WARNING, "huge", "n[1-999999999999]", text),
        StaticFinding(Severity.WARNING, "odd", "n001 and n[1-", text),
    )
    async with looking(faulty(), size, until=LAST, static=found) as look:
        for keys in (("1",), ("4",), ("enter",), ("o",), ("down",), ("enter",), ("down",), ("enter",), ("4",), ("Y",)):
            await look.press(*keys)
            for row in look.lines:
                assert all(ord(character) >= 32 and not 127 <= ord(character) < 160 for character in row)
                assert not set(row) & set("\u202e\u2066\u200d\x1b\ud800")
        assert look.app.is_running
        assert "\x1b" not in look.app.clipboard


async def test_ascii_tells_them_apart() -> None:
    async with looking(faulty(), until=LAST, static=SOME, terminal=Terminal(ascii=True)) as look:
        await look.press("4")
        assert [line[1] for line in look.lines[5:10]] == ["E", "W", "W", "W", "N"]
        assert all(ord(character) < 127 for character in look.text)


async def test_copied_they_are_plain_text_with_their_place(tmp_path: Path) -> None:
    found = (
        StaticFinding(Severity.WARNING, "a", "leaf1", "is narrow"),
        StaticFinding(Severity.NOTE, "b", "small", "all of it"),
    )
    async with looking(described_story(tmp_path), until=LAST, static=found) as look:
        await look.press("4", "Y")
        first, second = look.app.clipboard.splitlines()
        assert first.startswith("description, warning: leaf1: is narrow (")
        assert first.endswith("topology.yaml:6)")
        assert second == "description, note: small: all of it"


async def test_the_real_analysis_of_a_real_file(tmp_path: Path) -> None:
    story = described_story(tmp_path)
    async with running(
        Player(story, until=LAST), (120, 40), lambda fabric: make_static_report(fabric).findings
    ) as look:
        await look.until(lambda: "description: " in look.text)
        await look.press("4")
        view = look.app.navigation.tabs.findings.run_view
        assert view is not None
        assert view.static
        assert len(look.app.navigation.tabs.findings.list.places) == len(view.static)
