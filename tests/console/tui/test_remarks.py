"""Remarks and acceptances where the cursor stands: asked for, kept in the database, shown from then on; a real database."""

import asyncio
import json
from pathlib import Path

import pytest

from benchconsole.console.tui.app.console_app import LOOKS_ONLY
from benchconsole.console.tui.fabric_map.map_cells import MapMark
from benchconsole.console.tui.messages import Remarked
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.screens.sweeps import SweepsScreen
from benchconsole.console.tui.screens.typed_line import TypedLineSheet
from benchconsole.console.view.remark_words import name_point
from benchconsole.probes.model.remark import About, Remark, RemarkKind, RemarkSubject, list_standing
from benchconsole.store.reading.remark_reading import read_remarks
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import LinkId, NodeId, SwitchId
from tests.console.tui.looking import Look, faulty, looking
from tests.console.tui.test_sessions import opened
from tests.console.tui.test_sweeps import told
from tests.scenarios.test_judging_trials import TRIAD, Site, stream


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A session in which n1 is below its threshold, and n2 is not."""
    made = Site(tmp_path, [TRIAD])
    made.ingest("stream", stream(60.0), "--node", "n1", "--label", "first")
    made.ingest("stream", stream(100.0), "--node", "n2", "--session", "last")
    return made


def stored(site: Site) -> tuple[Remark, ...]:
    with Store.open(site.folder / "s.db", create=False) as store:
        return read_remarks(store.session(store.find_session("last")))


async def kept(look: Look, number: int) -> None:
    """Wait until so many remarks, withdrawals among them, are in the view."""

    def are_shown() -> bool:
        view = look.app.session.latest.view
        return view is not None and len(view.remarks) == number

    await look.until(are_shown)
    await look.settle()


async def findings(look: Look) -> FindingsScreen:
    await look.press("4")
    page = look.app.screen
    assert isinstance(page, FindingsScreen)
    return page


def find_row(look: Look, word: str) -> str:
    return next(line for line in look.lines if word in line)


async def test_a_finding_is_accepted_with_a_reason_and_stays_one(site: Site) -> None:
    async with opened(site) as look:
        await findings(look)
        tally = look.lines[1]
        await look.press("A")
        assert isinstance(look.app.screen, TypedLineSheet)
        assert "stays a finding" in look.text
        await look.press(*"known cable", "enter")
        await kept(look, 1)
        row = find_row(look, "▌✗")
        assert f"accepted by {stored(site)[0].by}" in row
        assert "fail" not in row
        assert find_row(look, " accepted  ").startswith(" accepted    known cable (")
        assert f"1 finding, 1 accepted by {stored(site)[0].by}: known cable." in look.lines[1]
        assert "✗ 1" in tally
        assert "✗ 1" in look.lines[1]
        await look.press("1")
        assert look.lines[3].startswith(" ✗ n1")
        assert "accepted: known cable" in look.lines[4]
    (made,) = stored(site)
    assert (made.kind, made.about, made.text) == (RemarkKind.ACCEPTED, About.FINDING, "known cable")


@pytest.mark.parametrize("keys", [("enter",), ("space", "enter"), ("escape",), (*"why", "escape")])
async def test_without_a_reason_nothing_is_accepted(site: Site, keys: tuple[str, ...]) -> None:
    async with opened(site) as look:
        await findings(look)
        await look.press("A", *keys)
        await look.settle()
        assert "accepted by" not in look.text
    assert stored(site) == ()


async def test_a_typed_reason_accepts_once_and_a_again_takes_it_back(site: Site) -> None:
    async with opened(site) as look:
        await findings(look)
        await look.press("colon", *"accept spare part is ordered", "enter")
        await kept(look, 1)
        await look.press("colon", *"accept again", "enter")
        assert "accepted already" in look.lines[-1]
        await look.press("A")
        assert "spare part is ordered. Why is it taken back?" in " ".join(look.text.split())
        await look.press(*"part arrived", "enter")
        await kept(look, 2)
        assert "accepted by" not in look.text
    first, second = stored(site)
    assert (second.kind, second.withdraws, second.text) == (RemarkKind.WITHDRAWAL, first.number, "part arrived")
    assert list_standing(stored(site)) == ()


async def test_an_acceptance_that_another_one_wrote_meanwhile_is_told(site: Site) -> None:
    async with opened(site) as look:
        await findings(look)
        await look.press("A", *"mine")
        words = ("remark", "last", "theirs", "--finding", "1", "--kind", "accepted", "--by", "bob")
        assert (await asyncio.to_thread(site.call, *words))[0] == 0
        await look.press("enter")
        await look.until(lambda: "not kept" in look.lines[-1])
        assert "the finding is accepted already, by bob" in look.lines[-1]
    assert [each.text for each in stored(site)] == ["theirs"]


async def test_a_remark_on_a_finding_marks_its_row_and_stands_in_its_detail(site: Site) -> None:
    async with opened(site) as look:
        await findings(look)
        await look.press("m")
        assert "the finding on n1" in look.text
        await look.press(*"DIMM is late", "enter")
        await kept(look, 1)
        await look.press("down")
        assert find_row(look, "✗ node").startswith("¶✗")
        await look.press("g", "t")
        assert "DIMM is late (" in look.text
    (made,) = stored(site)
    assert (made.kind, made.about, made.subject) == (RemarkKind.REMARK, About.FINDING, "n1")


async def test_a_node_is_remarked_on_from_its_page_and_from_the_list(site: Site) -> None:
    async with opened(site, (80, 24)) as look:
        await look.press("2", "m", *"seen by ann", "enter")
        await kept(look, 1)
        assert any(line.startswith("¶") or "▌" in line for line in look.lines)
        await look.press("enter")
        assert find_row(look, "seen by ann").startswith(" ¶ ")
        for number in range(2, 6):
            await look.press("m", *f"note {number}", "enter")
            await kept(look, number)
        assert "and 2 earlier" in look.text
        assert "seen by ann" not in look.text
        await look.press("t")
        for text in ("seen by ann", "note 2", "note 5"):
            assert text in look.text
    assert {(each.about, each.subject) for each in stored(site)} == {(About.NODE, "n1")}


@pytest.mark.parametrize(
    ("mark", "about", "subject", "name"),
    [
        (MapMark(switch=SwitchId("leaf")), About.SWITCH, "leaf", "switch leaf"),
        (MapMark(node=NodeId("n2")), About.NODE, "n2", "node n2"),
        (MapMark(link=LinkId("n3--leaf")), About.LINK, "n3--leaf", "the link n3 NIC"),
    ],
)
async def test_the_place_under_the_cursor_of_the_map(
    site: Site, mark: MapMark, about: About, subject: str, name: str
) -> None:
    async with opened(site) as look:
        page = look.app.navigation.fabric
        await look.press("m")
        assert page.SILENT in look.lines[-1]
        page.map.mark = mark
        await look.press("m")
        assert name in look.text
        await look.press(*"relabelled", "enter")
        await kept(look, 1)
        assert find_row(look, "¶ relabelled (").startswith(" ¶")
        page.map.mark = None
        page.paint(look.app.session.view or pytest.fail("no view"))
        await look.settle()
        assert "¶ people spoke of" in look.text
    (made,) = stored(site)
    assert (made.about, made.subject) == (about, subject)


@pytest.mark.parametrize(
    ("area", "about", "subject"), [("links", About.LINK, "n1--leaf"), ("criteria", About.CLAUSE, "4.1.1")]
)
async def test_a_link_and_a_clause_are_remarked_on_in_their_tables(
    site: Site, area: str, about: About, subject: str
) -> None:
    async with opened(site, (200, 60)) as look:
        await look.press("colon", *area, "enter")
        await look.until(lambda: "4.1.1" in look.text or "n1 NIC" in look.text)
        await look.press("g", "m", *"as agreed", "enter")
        await kept(look, 1)
        await look.until(lambda: "as agreed (" in look.text)
    (made,) = stored(site)
    assert (made.about, made.subject) == (about, subject)
    shown = json.loads(site.call("show", "last", "--area", area, "--json")[1])
    assert [len(each["remarks"]) for each in shown if each["remarks"]] == [1]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_point_of_a_sweep_has_its_remark_beside_its_numbers(size: tuple[int, int]) -> None:
    story = told()
    name = name_point(story.rounds[0].stage, [("tasks", "2")])
    story.remarks = (Remark(RemarkKind.REMARK, About.POINT, name, "a second run", "ann", 1.0, 1.0, 0, 1),)
    async with looking(story, size) as look:
        await look.press("3", "w", "m")
        page = look.app.screen
        assert isinstance(page, SweepsScreen)
        assert page.SILENT in look.lines[-1]
        await look.press("tab", "down", "down", "down", "down")
        while page.points.chosen is not None and page.points.chosen.value != "2":
            await look.press("up")
        assert "¶ tasks=2: a second run (ann, " in look.text
        assert page.find_remarked() == Remarked(RemarkSubject(About.POINT, name), f"the point {name}")
        await look.press("g")
        assert "a second run" not in look.text
        assert sum(line.count("¶") for line in look.lines) == 2  # the point of each cohort


async def test_tab_shows_the_tests_of_a_finding_and_enter_their_output(site: Site) -> None:
    async with opened(site) as look:
        page = await findings(look)
        await look.press("tab")
        assert page.tests.has_focus
        assert not page.detail.display
        assert "stream.triad" in look.text
        await look.press("t")
        assert "60.0 GB/s" in look.text
        await look.press("escape", "enter")
        assert isinstance(look.app.screen, RawScreen)
        await look.press("escape", "escape")
        assert isinstance(look.app.screen, FindingsScreen)
        assert page.detail.display
        assert page.list.has_focus


async def test_the_tests_of_a_finding_are_worst_first() -> None:
    async with looking(faulty()) as look:
        page = await findings(look)
        for _ in page.list.faults:
            await look.press("tab")
            shares = [row.number("share") for row in page.tests.items if row.number("share") is not None]
            assert page.tests.items
            assert shares == sorted(shares, key=lambda share: share or 0.0)
            await look.press("tab", "n")


async def test_who_leaves_the_findings_with_tests_leaves_the_tests() -> None:
    """The lower pane follows the list, and shows words again where no finding is under the cursor."""
    async with looking(faulty()) as look:
        page = await findings(look)
        await look.press("tab")
        page.list.go(page.list.places[-1])
        await look.settle()
        assert not page.tests.display
        await look.press("tab")
        assert "rests on tests" in look.lines[-1]


@pytest.mark.parametrize("key", ["m", "A"])
async def test_a_console_that_only_looks_writes_nothing(site: Site, key: str) -> None:
    async with opened(site) as look:
        await findings(look)
        look.app.session.looks_only = LOOKS_ONLY
        await look.settle()
        assert {"remark", "accept"}.isdisjoint(look.app.navigation.valid_actions)
        await look.press(key)
        assert LOOKS_ONLY[:40] in look.lines[-1]
    assert stored(site) == ()


async def test_without_a_database_there_is_no_remark() -> None:
    async with looking(faulty()) as look:
        await look.press("2", "m")
        assert "without a database of sessions" in look.lines[-1]


async def test_who_follows_another_console_may_write(site: Site) -> None:
    """A remark needs no claim of the session: the command may add one meanwhile, and so may a screen that looks on."""
    async with opened(site) as look:
        await findings(look)
        control = look.app.session.control
        assert control is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(control), "follows", property(lambda _: "Another console drives it."))
            await look.settle()
            assert {"remark", "accept"} <= set(look.app.navigation.valid_actions)
            await look.press("A", *"seen", "enter")
            await kept(look, 1)
    assert [each.text for each in stored(site)] == ["seen"]
