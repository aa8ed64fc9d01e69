"""The findings: worst first, each in full, back to its evidence."""

import pytest

from benchconsole.console.tui.queries import expression
from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.screens.fabric import FabricScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.finding_detail import FindingDetail
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import NotJudged, RunView
from benchconsole.console.view.session_verdict import SessionVerdict
from benchconsole.probes.model.judgement import Finding, Level
from benchconsole.topology.analysis.static_finding import Severity
from benchconsole.topology.copying import replace
from tests.console.tui.looking import Look, faulty, healthy, looking
from tests.console.tui.story import Story
from tests.console.tui.test_keys import press_at_once


async def test_the_list_and_the_detail_of_the_first() -> None:
    async with looking(faulty()) as look:
        await look.press("4")
        row = next(line for line in look.lines if line.startswith("▌✗"))
        for word in ("LAG", "leaf3 to spine1", "1 of 2 members up", "16", "certain"):
            assert word in row
        for name in ("as built", "measured", "because", "rules out", "cannot tell", "means", "do"):
            assert any(line.startswith(f" {name}") for line in look.lines), name
        assert any("39.6 Gb/s" in line and "××" in line for line in look.lines)
        assert any(line.lstrip().startswith("∅ untested") for line in look.lines)


async def test_where_it_is_low_every_section_keeps_a_line() -> None:
    async with looking(faulty(), (80, 24)) as look:
        await look.press("4")
        for name in ("measured", "because", "rules out", "cannot tell", "means", "do"):
            assert sum(line.startswith(f" {name}") for line in look.lines) == 1, name


def test_rows_that_are_left_go_to_what_is_not_known_and_what_to_do() -> None:
    story = faulty()
    view = advance_all(RunView(story.fabric), story.events())
    found = replace(view.findings[0], because=("b " * 200,), means="m " * 60, do="d " * 60, cannot_tell="c " * 60)
    detail = FindingDetail()
    detail.show(view, found, "finding 1 of 1", may_run=True)

    def count_rows(height: int, letter: str) -> int:
        rows = [plain_text(row)[13:].split() for row in detail.draw(80, height)]
        assert len(rows) <= height
        return sum(row[:1] == [letter] for row in rows)

    least = next(height for height in range(9, 20) if count_rows(height, "c") == 2)
    for more, wanted in enumerate(("cdm", "cDm", "cDM")):
        assert [count_rows(least + more, letter) for letter in "cdm"] == [
            2,
            *(1 + each.isupper() for each in wanted[1:]),
        ]


async def test_n_goes_on_and_the_detail_follows() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "n", "n")
        assert look.app.navigation.tabs.findings.list.cursor == 2
        assert any(line.startswith(" n050 out, gives 2.97") for line in look.lines)
        await look.press("N")
        assert look.app.navigation.tabs.findings.list.cursor == 1


async def test_enter_opens_the_evidence_and_o_the_place() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "n", "n", "enter")
        assert isinstance(look.app.screen, RawScreen)
        assert "2.97 Gbits/sec" in look.text
        await look.press("escape", "o")
        assert isinstance(look.app.screen, FabricScreen)
        assert look.app.screen.map.mark is not None
        assert look.app.screen.map.mark.node == "n050"


async def test_copied_findings_are_plain_text() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "Y")
        assert look.app.clipboard.startswith("fail: lag leaf3 to spine1: 1 of 2 members up")
        assert "cannot tell: which port of leaf3" in look.app.clipboard


async def test_no_finding_says_what_that_rests_on() -> None:
    async with looking(healthy()) as look:
        await look.press("4")
        assert "Everything was judged and passed: 652 of 652 planned tests gave a result." in look.text
    async with looking(healthy(), until=1) as look:
        await look.press("4")
        assert "Nothing was measured yet.  R plans a run" in look.text
        assert "from the description  nothing stands out" in look.text


def odd() -> Story:
    """A healthy machine of which two numbers could not be judged, and why."""
    story = healthy()
    closed = list(story.closed)
    because = "between 76 % and 100 % of expected, the flows ended 26 % apart: run them longer"
    unknown = [each._replace(level=Level.UNKNOWN, because=because) for each in closed[1].verdicts[:2]]
    closed[1] = replace(closed[1], verdicts=(*unknown, *closed[1].verdicts[2:]))
    return replace(story, closed=closed)


async def test_what_could_not_be_judged_is_a_row_with_its_cause_and_what_to_do() -> None:
    story = odd()
    first = story.closed[1].verdicts[0]
    async with looking(story) as look:
        await look.press("4")
        row = next(line for line in look.lines if "? unknown" in line)
        assert first.subject in row
        assert "the flows ended 26 % apart" in row
        assert "2 results" in row
        found = {
            name: [line for line in look.lines if line.startswith(f" {name} ")] for name in ("because", "about", "do")
        }
        assert "run them longer" in found["because"][0]
        assert "n[001-002]" in found["about"][0]
        assert "r plans just these tests again" in found["do"][0]
        assert any("1 of 1 not judged" in line for line in look.lines)
        await look.press("enter")
        assert isinstance(look.app.screen, RawScreen)
        await look.press("escape", "y")
        assert look.app.clipboard.startswith("unknown: ")
        await look.press("r")
        assert look.player.proposed[-1][2] == tuple(each.test for each in story.closed[1].verdicts[:2])


async def test_n_stops_at_what_could_not_be_judged() -> None:
    async with looking(faulty()) as look:
        await look.press("4")
        stops = look.app.navigation.tabs.findings.list.places
        seen = set()
        for _ in stops:
            await look.press("n")
            chosen = look.app.navigation.tabs.findings.list.chosen
            seen.add(type(chosen))
        assert {Finding, NotJudged} <= seen


def decide_session(look: Look) -> SessionVerdict:
    """The verdict on the whole session."""
    view = look.app.session.view
    assert view is not None
    return look.app.navigation.tabs.findings.sums.decide(view)


def shown(look: Look) -> list[str]:
    """The elements that the rows on the screen are about."""
    rows = look.app.navigation.tabs.findings.list
    return [each.where for each in rows.faults]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_slash_keeps_some_findings_and_esc_shows_all_again(size: tuple[int, int]) -> None:
    async with looking(faulty(), size) as look:
        await look.press("4")
        rows = look.app.navigation.tabs.findings.list
        every, before, reasons = shown(look), look.lines, list(rows.reasons)
        await look.press("slash", *"level=fail & ~^lag$")
        assert shown(look) == ["leaf3 to spine1"]
        assert rows.reasons == []
        assert any(f"1 of {len(every) + len(reasons):,} shown   esc clears" in line for line in look.lines)
        assert any("leaf3 to spine1" in line for line in look.lines)
        await look.press("enter", "down")
        assert look.app.focused is rows
        await look.press("escape")
        assert shown(look) == every
        assert look.lines == before


async def test_rows_that_are_not_judged_or_described_are_filtered_too() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "slash", *"level~ssh")
        rows = look.app.navigation.tabs.findings.list
        assert not rows.faults
        assert len(rows.reasons) == 1
        assert any("untested" in line for line in look.lines)
        await look.press("backspace", "backspace", "backspace", *"note")
        assert not rows.reasons
        assert all(each.first.severity is Severity.NOTE for each in rows.static)


async def test_a_filter_that_hides_every_finding_leaves_the_verdict_on_the_session() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "slash", *"no such word", "enter")
        assert shown(look) == []
        assert look.app.navigation.tabs.findings.list.nothing == decide_session(look).sentence
        assert decide_session(look).sentence[:40] in look.text
        assert not any("Everything was judged and passed" in line for line in look.lines)


async def test_a_filter_of_findings_that_is_not_understood_changes_nothing() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "slash", *"lag")
        kept = shown(look)
        await look.press(*" & ~[")
        assert shown(look) == kept
        assert "character 1 of the expression: unterminated character set   the last valid" in look.text


async def test_a_filter_of_findings_that_takes_too_long_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression, "SECONDS", 0.0)
    async with looking(faulty()) as look:
        await look.press("4")
        every = shown(look)
        await look.press("slash", *"~.*zzz")
        assert shown(look) == every
        assert "takes too long: 0.05 s for a row, or 0 s for all of them   all are shown" in look.text


async def test_a_finding_that_is_asked_for_is_shown_whatever_the_filter() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "slash", *"lag", "enter", "1")
        look.app.navigation.open_finding(2)
        await look.settle()
        page = look.app.navigation.tabs.findings
        assert page.prompt.text == ""
        assert page.list.cursor == 2
        assert len(shown(look)) > 2


async def test_letters_that_come_with_slash_in_one_piece_are_text() -> None:
    async with looking(faulty()) as look:
        await look.press("4")
        press_at_once(look.app, "slash", *"qRr")
        await look.settle()
        assert look.app.navigation.tabs.findings.prompt.text == "qRr"
        assert len(look.app.screen_stack) == 1


async def test_all_copied_findings_are_those_that_are_shown() -> None:
    async with looking(faulty()) as look:
        await look.press("4", "slash", *"where~leaf3", "enter", "Y")
        assert look.app.clipboard.startswith("fail: lag leaf3 to spine1")
        assert "n050" not in look.app.clipboard
