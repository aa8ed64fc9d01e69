"""How small a fault the tests could have shown: on Fabric and Findings, in full in front of them, and on the plan."""

import pytest

from benchconsole.console.tui.screens.words import WordsSheet
from benchconsole.console.view.detectable_text import describe_detectable
from benchconsole.console.view.run_view import DetectableFaults
from benchconsole.probes.model.detectable_loss import DetectableLoss, Fault
from benchconsole.topology.copying import replace
from tests.console.tui.looking import Look, faulty, healthy, running
from tests.console.tui.playing import Player
from tests.console.tui.story import Story

NIC, HALF = DetectableLoss(Fault.NIC, 4, 4, 0.2), DetectableLoss(Fault.SWITCH_HALF, 2, 0, None)
LEG = DetectableLoss(Fault.LEG_LOST, 8, 6, 0.5, 2)


def sight(*losses: DetectableLoss) -> DetectableFaults:
    return describe_detectable(healthy().fabric, losses, "acceptance")


ALL, SOME, NOTHING = sight(NIC), sight(NIC, HALF, LEG), sight()


async def look_at(look: Look, found: DetectableFaults) -> None:
    await look.until(lambda: look.app.session.latest.view is not None)
    await look.until(lambda: look.app.session.latest.view.detectable is found)  # type: ignore[union-attr]
    await look.until(lambda: look.app.session.latest.view.static is not None)  # type: ignore[union-attr]
    await look.settle()


def play(story: Story, found: DetectableFaults) -> Player:
    player = Player(story)
    player.detectable = found
    return player


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (ALL, "1 kind of fault would have been seen, none missed"),
        (SOME, "2 of 3 kinds of fault could have been missed"),
        (NOTHING, ""),
    ],
)
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_passed_fabric_says_whether_its_tests_could_have_missed_anything(
    size: tuple[int, int], found: DetectableFaults, words: str
) -> None:
    async with running(play(healthy(), found), size, lambda _: ()) as look:
        await look_at(look, found)
        assert ("of fault " in look.text) is bool(words)
        assert words in look.text
        await look.press("4")
        rows = [line for line in look.lines if " sight " in line]
        assert len(rows) == bool(words)
        assert words in "".join(rows)


async def test_enter_gives_the_whole_verdict_with_every_sentence() -> None:
    async with running(play(healthy(), SOME), (80, 24), lambda _: ()) as look:
        await look_at(look, SOME)
        await look.press("4", "enter")
        assert isinstance(look.app.screen, WordsSheet)
        told = " ".join(look.text.split())
        for sentence in (*SOME.sentences, "Everything was judged and passed"):
            assert sentence in told
        await look.press("escape")
        assert not isinstance(look.app.screen, WordsSheet)


async def test_a_finding_is_read_in_full_where_its_pane_has_no_room() -> None:
    async with running(play(faulty(), SOME), (80, 18), lambda _: ()) as look:
        await look_at(look, SOME)
        finding = faulty().findings[0]
        await look.press("4")
        assert finding.do not in " ".join(look.text.split())
        await look.press("t")
        seen: list[str] = []
        for _ in range(5):
            seen += [line for line in look.lines if line.strip() not in {each.strip() for each in seen}]
            await look.press("pagedown")
        told = " ".join(" ".join(seen).split())
        for text in (finding.what, finding.cannot_tell, finding.means, finding.do):
            assert text in told


async def test_later_results_are_asked_about_anew() -> None:
    story = faulty()
    async with running(play(story, ALL), (120, 40), lambda _: ()) as look:
        await look_at(look, ALL)
        last = story.closed[-1]
        look.player.detectable = SOME
        look.player.feed(replace(last, started=last.started + 1))
        await look_at(look, SOME)


async def test_nothing_is_said_of_it_while_the_session_runs() -> None:
    player = Player(healthy(), until=20)
    player.detectable = ALL
    async with running(player, (120, 40), lambda _: ()) as look:
        await look.settle()
        assert "of fault " not in look.text


async def test_the_plan_says_what_it_would_show() -> None:
    async with running(play(healthy(), ALL), (120, 40), lambda _: ()) as look:
        await look.press("R")
        assert " shows      a slow NIC would not be seen" in look.text
