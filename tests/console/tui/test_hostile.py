"""Text from nodes, files and outputs is shown as text: no markup, no escape, no lie about direction."""

from functools import partial

import pytest

from benchconsole.console.session.saved_filters import SavedFilters
from benchconsole.console.text.cells import measure_width
from benchconsole.console.tui.actions import AREA_PAGES
from benchconsole.console.tui.fabric_map.map_cells import MapMark
from benchconsole.console.tui.screens.area import AreaScreen
from benchconsole.console.tui.screens.command import CommandSheet
from benchconsole.console.tui.screens.plot import PlotScreen
from benchconsole.console.tui.screens.zoom import ZoomScreen
from benchconsole.console.view.acceptance import name_cause
from benchconsole.probes.model.judgement import ClosedRound, Finding, Verdict
from benchconsole.probes.model.measuring import Failure, Output, Result
from benchconsole.probes.model.remark import About, Remark, RemarkKind
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.fabrics import mini
from tests.console.tui.looking import Look, looking
from tests.console.tui.story import MINI, Story, tell

pytestmark = pytest.mark.fault("F36", "I12")

NASTY = {
    "markup": "[/][@click=app.quit]x[/][red]a[/red]",
    "controls": "\x1b]52;c;aGVsbG8=\x07\x1b[31mred\x9b2J a\u202eb\u2066c\u200d \ud800 line\nbreak\r\ttab",
    "wide and combining": "日本語" * 30 + "e" + "\u0301" * 40,
}


def poisoned(text: str) -> Story:
    """A story in which every word that comes from outside is ``text``."""
    fabric = mini()
    hardware = replace(next(iter(fabric.nodes.values())).hardware, name=text)
    fabric = replace(
        fabric,
        name=text,
        nodes={name: replace(node, hardware=hardware) for name, node in fabric.nodes.items()},
    )
    story = tell(mini(), MINI, label=text)
    story.fabric = fabric
    story.closed = [_judged(each, text) for each in story.closed]
    story.findings = story.closed[-1].findings
    kinds = [(RemarkKind.REMARK, About.FINDING, each.element) for each in story.findings]
    kinds += [(RemarkKind.ACCEPTED, About.FINDING, name_cause(each)) for each in story.findings]
    kinds += [(RemarkKind.ACCEPTED, About.FINDING, text), (RemarkKind.REMARK, About.NODE, "n050")]
    kinds += [(RemarkKind.REMARK, About.LINK, each) for each in fabric.links]
    story.remarks = tuple(
        Remark(kind, about, subject, text, text, 1.0, 1.0, 0, number)
        for number, (kind, about, subject) in enumerate(kinds, 1)
    )
    return story


def _judged(judged: ClosedRound, text: str) -> ClosedRound:
    results = tuple(_result(result, text) for result in judged.results)
    return replace(
        judged,
        results=results,
        verdicts=tuple(_verdict(verdict, text) for verdict in judged.verdicts),
        findings=tuple(_finding(finding, text) for finding in judged.findings),
    )


def _result(result: Result, text: str) -> Result:
    raw = text.encode("utf-8", "replace")
    outputs = tuple(Output((text, text), raw, raw, 1, text, 1.0, node=text) for _ in result.outputs)
    measurements = tuple(replace(m, raw=text) for m in result.measurements)
    failure = result.failure and Failure(result.failure.stage, text, result.failure.node)
    facts = tuple(replace(fact, value=text if isinstance(fact.value, str) else fact.value) for fact in result.facts)
    return replace(result, outputs=outputs, measurements=measurements, facts=facts, failure=failure)


def _verdict(verdict: Verdict, text: str) -> Verdict:
    value = float("nan") if verdict.value and verdict.subject == "n001" else verdict.value
    return verdict._replace(
        because=text,
        source=text,
        limiting=text,
        labels=((text, text),),
        probe=text,
        text=text,
        expected_text=text,
        value=value,
    )


def _finding(finding: Finding, text: str) -> Finding:
    return replace(
        finding,
        where=text,
        what=text,
        because=(text, text),
        rules_out=(text,),
        cannot_tell=text,
        means=text,
        do=text,
    )


def _has_rows(screen: AreaScreen) -> bool:
    return screen.table.area is not None


async def walk_parts(look: Look) -> list[str]:
    """A leaf drawn alone, and the list of what a heat map can show."""
    await look.press("1")
    look.app.navigation.fabric.map.go(MapMark(node=NodeId("n050")))
    await look.press("Z")
    seen = [look.text]
    assert isinstance(look.app.screen, ZoomScreen)
    await look.press("M")
    await look.until(lambda: isinstance(look.app.screen, CommandSheet))
    seen.append(look.text)
    await look.press("enter")
    await look.until(lambda: "heat" in look.text and "is being read" not in look.text)
    seen.append(look.text)
    await look.press("escape")
    return seen


async def walk(look: Look) -> list[str]:
    seen = []
    for key in ["1", "n", "v", "2", "s", "3", "4", "n", "t", "escape", "tab", "tab", "enter", "escape", "R"]:
        await look.press(key)
        seen.append(look.text)
    await look.press("escape")
    seen += await walk_parts(look)
    await look.press("2", "K")
    await look.until(lambda: "kernel" in look.text)
    seen.append(look.text)
    await look.press(*"kernel", "space", "enter")
    await look.until(lambda: "kernel" in look.app.navigation.tabs.nodes.table.columns)
    for _ in look.app.navigation.tabs.nodes.table.columns:
        await look.press("greater_than_sign")
        seen.append(look.text)
    for area in AREA_PAGES:
        look.app.navigation.open_area(area)
        await look.settle()
        screen = look.app.screen
        assert isinstance(screen, AreaScreen)
        await look.until(partial(_has_rows, screen))
        seen.append(look.text)
        await look.press("t")
        seen.append(look.text)
        await look.press("escape", "escape")
    look.app.navigation.open_plot()
    await look.settle()
    plots = look.app.screen
    assert isinstance(plots, PlotScreen)
    await look.until(lambda: plots.plots.count > 0)
    for key in ("v", "v", "down", "v", "right", "Y"):
        await look.press(key)
        seen.append(look.text)
    await look.press("escape")
    for name in ("n001", "n050", "n120", "n093"):
        look.app.navigation.open_node(NodeId(name))
        await look.settle()
        seen.append(look.text)
        await look.press("enter")
        seen.append(look.text)
        await look.press("Y", "escape", "escape")
    return seen


@pytest.mark.fault("I13", "X16")
@pytest.mark.parametrize("kind", NASTY)
async def test_hostile_text_is_only_text(kind: str) -> None:
    async with looking(poisoned(NASTY[kind])) as look:
        for seen in await walk(look):
            for row in seen.split("\n"):
                assert all(ord(character) >= 32 and not 127 <= ord(character) < 160 for character in row)
                assert not set(row) & set("\u202e\u2066\u200d\x1b\ud800")
        assert look.app.is_running


@pytest.mark.fault("I13")
async def test_markup_is_shown_as_it_is() -> None:
    async with looking(poisoned("[@click=app.quit]x[/]")) as look:
        assert "[@click=app.quit]x[/]" in look.lines[1]
        assert "[@click=app.quit]x[/]" in look.lines[3]


async def test_an_escape_is_shown_as_a_picture() -> None:
    async with looking(poisoned("\x1b]52;c;aGVsbG8=\x07")) as look:
        assert "␛]52;c;aGVsbG8=␇" in look.lines[3]


async def test_nothing_hostile_reaches_the_clipboard() -> None:
    async with looking(poisoned("a\u202eb\x1b]52;c;\x07")) as look:
        await look.press("2", "Y")
        assert "\x1b" not in look.app.clipboard
        assert "\u202e" not in look.app.clipboard
        assert len(look.app.clipboard.splitlines()) == 135


@pytest.mark.fault("I13")
async def test_saved_filters_are_only_text() -> None:
    """Text that no key types is refused with the file; the rest is drawn as it is, also by the letters of ``J``."""
    SavedFilters().save("nodes", "wide", f"{'日本語' * 30} [@click=app.quit]x[/]")
    async with looking(poisoned(NASTY["wide and combining"])) as look:
        look.app.command_line.perform("filters")
        await look.settle()
        assert "@wide" in look.text
        await look.press("t")
        assert "[@click=app.quit]x[/]" in look.text
        await look.press("escape", "J")
        assert look.app.is_running
        await look.press("escape", "4", "J")
        assert {len(line) + sum(measure_width(each) - 1 for each in line) for line in look.lines} == {120}
    path = SavedFilters().path
    path.write_text('nodes: {"a\\u202e": "x\\e]52;c;aGVsbG8=\\a"}\n')
    async with looking(poisoned(NASTY["controls"])) as look:
        look.app.command_line.perform("filters")
        await look.settle()
        assert "Saved filters are not used" in look.text
        assert not set(look.text) & set("\u202e\x1b\x07")
