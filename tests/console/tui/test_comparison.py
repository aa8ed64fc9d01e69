"""Comparing on the screen: with the session shown, of two marked ones, down to the raw output; a real database."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from benchconsole.console.tui.screens.comparison import ComparisonScreen, SubjectsScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.screens.sessions import SessionsScreen
from benchconsole.console.view.run_view import State
from tests.console.cli.test_compare import MORE, measure
from tests.console.tui.test_sessions import compared, labels, listed, opened, site
from tests.scenarios.test_judging_trials import FABRIC, Site

__all__ = ["site"]


async def test_two_marked_sessions_are_compared_whatever_is_on_the_screen(site: Site) -> None:
    await asyncio.to_thread(measure, site, "again", 110.3, 110.8, 109.1, 110.2)
    async with opened(site) as look:
        screen = await listed(look)
        assert labels(screen) == ["again", "after", "before", "pony"]
        await look.press("down", "space", "space")
        assert {*screen.chosen_sessions} == {row.record["id"] for row in screen.table.items[1:3]}
        assert [line[:1] for line in look.lines if "after" in line or "before" in line] == ["*", "*"]
        assert "2 marked: c compares the two, x removes them" in look.lines[-2]
        await look.press("c")
        page = look.app.screen
        assert isinstance(page, ComparisonScreen)
        await look.until(lambda: page.table.count > 0)
        await look.settle()
        assert look.lines[5].startswith(" A  ")
        assert " before " in look.lines[5]
        assert look.lines[6].startswith(" B  ")
        assert " after " in look.lines[6]
        await look.press("enter", "enter")
        assert isinstance(look.app.screen, SubjectsScreen)
        assert "Neither session is on the screen" in look.lines[-1]


async def test_a_comparison_that_is_asked_for_while_the_session_is_opened_is_shown_then(site: Site) -> None:
    gate = threading.Event()
    async with opened(site, gate=gate) as look:
        await look.press("colon", *"compare before", "enter")
        assert "not open yet; then they are compared" in look.lines[-1]
        gate.set()
        await look.until(lambda: isinstance(look.app.screen, ComparisonScreen))


async def test_c_compares_with_the_shown_one_down_to_the_raw_output(site: Site) -> None:
    async with opened(site) as look:
        screen = await listed(look)
        await look.press("down", "c")
        page = look.app.screen
        assert isinstance(page, ComparisonScreen)
        await look.until(lambda: page.table.count > 0)
        await look.settle()
        assert "Worse:" in look.lines[3]
        assert look.lines[5].startswith(" A  ")
        assert " before " in look.lines[5]
        assert look.lines[6].startswith(" B  ")
        assert " after " in look.lines[6]
        row = page.table.chosen
        assert row is not None
        assert (row.words("outcome"), row.record["metric"]) == ("worse", "stream.time")
        await look.press("enter")
        subjects = look.app.screen
        assert isinstance(subjects, SubjectsScreen)
        assert {each.words("of") for each in subjects.table.items} == {"n1", "n2", "n3", "n4"}
        await look.press("enter")
        assert isinstance(look.app.screen, RawScreen)
        await look.press("escape", "escape", "escape")
        assert screen.is_current


async def test_w_swaps_both_and_z_folds_what_does_not_differ(site: Site) -> None:
    async with opened(site) as look:
        page = await compared(look)
        every = page.table.count
        await look.press("z")
        assert page.table.count <= every
        assert not {row.words("outcome") for row in page.table.items} & {"same", "no effect", "not comparable"}
        await look.press("z", "w")
        await look.until(lambda: "Better:" in look.lines[3])
        assert " after " in look.lines[5]
        assert " before " in look.lines[6]


async def test_the_headline_says_same_of_the_numbers_alone_where_the_topology_differs(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await asyncio.to_thread(measure, site, "before", 110.3, 110.8, 109.1, 110.2)
    site.topology = site.write("other.yaml", (), FABRIC + "# another file\n")
    await asyncio.to_thread(measure, site, "after", 110.3, 110.8, 109.1, 110.2)
    async with opened(site) as look:
        page = await compared(look)
        await look.settle()
        assert [row.words("what") for row in page.table.items if row.words("outcome") == "differs"] == ["topology file"]
        assert "Compared numbers are the same:" in look.lines[3]
        assert look.lines[7].split() == ["differs", "topology", "file"]
        assert page.headline.state is State.MEASURED


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("pony", "different machines"),
        ("nobody", "no session is called 'nobody'"),
        ("after", "are one session"),
        ("baseline", "No session is named as baseline of toy"),
    ],
)
async def test_what_cannot_be_compared_is_said_in_a_sentence(site: Site, typed: str, said: str) -> None:
    async with opened(site, (200, 60)) as look:
        look.app.command_line.perform(f"compare {typed}")
        await look.until(lambda: said.lower() in look.text.lower())
        await look.press("z", "w", "n", "enter", "t", "o", "escape")
        await look.until(lambda: look.app.screen is look.app.navigation.fabric)


async def test_compare_is_completed_with_the_labels_of_the_others(site: Site) -> None:
    async with opened(site) as look:
        await look.press("colon")
        await look.until(lambda: len(look.app.session_orders.names) == 2)
        await look.press(*"compare be", "tab", "enter")
        assert isinstance(look.app.screen, ComparisonScreen)
        assert look.app.screen.other == "before"


async def test_c_elsewhere_lists_the_sessions_to_choose_from(site: Site) -> None:
    async with opened(site) as look:
        await look.press("c")
        assert isinstance(look.app.screen, SessionsScreen)
        assert "c on a session compares it" in look.lines[-1]


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
async def test_a_strip_tells_both_sessions_with_their_own_verdicts(site: Site, size: tuple[int, int]) -> None:
    async with opened(site, size) as look:
        page = await compared(look)
        await look.settle()
        report = page.report
        assert report is not None
        at = next(number for number, line in enumerate(look.lines) if line.startswith(" A  "))
        for line, each in zip(look.lines[at : at + 2], report.sessions, strict=True):
            assert f" {each.outcome.value} " in line
            assert each.label in line
            assert f" {each.key} " in line
            assert time.strftime("%Y-%m-%d %H:%M", time.localtime(each.started)) in line
            assert ("finding" in line) is (size[0] >= 80)
        assert look.lines[at + 2].startswith(" differs ")


async def test_the_change_is_in_sight_where_both_sessions_and_all_words_are_not(site: Site) -> None:
    async with opened(site, (80, 24)) as look:
        await compared(look)
        await look.settle()
        head = next(line for line in look.lines if line.startswith(" outcome")).split()
        assert head[:2] == ["outcome", "what"]
        assert head[-5:] == ["A", "B", "B", "to", "A"]


@pytest.fixture
def parted(tmp_path: Path) -> Site:
    """One session of eight nodes, of which four are virtual and slower."""
    made = Site(tmp_path, text=MORE)
    names = tuple(f"n{number}" for number in range(1, 9))
    measure(made, "both", 90.0, 91.0, 89.5, 90.5, 100.0, 101.0, 99.0, 100.5, nodes=names)
    return made


async def test_two_cohorts_of_the_shown_session_are_compared_down_to_the_raw_output(parted: Site) -> None:
    async with opened(parted) as look:
        await look.press(
            "colon", *"compare", "space", *"by", "space", *"kind=virtual", "colon", *"bare", "space", *"metal"
        )
        await look.press("enter")
        page = look.app.screen
        assert isinstance(page, ComparisonScreen)
        await look.until(lambda: page.table.count > 0)
        await look.settle()
        assert "kind virtual with kind bare metal" in look.lines[1]
        assert "Better:" in look.lines[3]
        (row,) = (each for each in page.table.items if each.record.get("metric") == "stream.triad")
        assert row.words("outcome") == "better"
        await look.press("w")
        await look.until(lambda: "Worse:" in look.lines[3])
        await look.press("w")
        await look.until(lambda: "Better:" in look.lines[3])
        await look.press("slash", *"stream.triad", "enter", "enter")
        subjects = look.app.screen
        assert isinstance(subjects, SubjectsScreen)
        assert {each.words("of") for each in subjects.table.items} == {f"n{number}" for number in range(1, 9)}
        for _ in range(2):  # a node of each side
            await look.press("enter")
            assert isinstance(look.app.screen, RawScreen)
            await look.press("escape", "G")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("by clas", "By clas: no such grouping, expected one of class, kind, switch, node, did you mean class?"),
        ("by node", "By node: expected two of n1, n2"),
        ("by kind=virtual:real", "By kind=virtual:real: expected two of bare metal, virtual"),
    ],
)
async def test_parts_that_are_none_are_said(typed: str, said: str, parted: Site) -> None:
    async with opened(parted) as look:
        keys = {" ": "space", ":": "colon"}
        await look.press("colon", *(keys.get(each, each) for each in f"compare {typed}"), "enter")
        await look.until(lambda: said in look.text)


async def test_groupings_are_offered(parted: Site) -> None:
    async with opened(parted) as look:
        await look.press("colon", *"compare", "space", *"by", "space", *"k")
        assert "by kind" in look.text
        await look.press(*"ind=virtual")
        assert "nothing of that name" not in look.text
