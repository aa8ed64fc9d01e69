"""How a run is conducted: held, stopped by a rule, driven elsewhere, refused, and what it left on the nodes."""

import asyncio

import pytest

from benchconsole.console.view.events import Held, NodesProven, Noticed, Resumed
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import FailedAt, Failure, Proof
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.looking import Look, faulty, looking
from tests.console.tui.story import Story
from tests.console.tui.test_hostile import NASTY

SPOOL = "/var/lib/benchconsole/spool-5c25a028.jsonl"
HELD = Held("the database is full: no room left on the device; free some, the run goes on by itself", 1.7e9, SPOOL)
SIZES = ((60, 15), (120, 40))


async def feed(look: Look, *events: object) -> None:
    """Events that happen now, and are seen."""
    known = look.app.session.latest.generation
    look.player.feed(*events)  # type: ignore[arg-type]
    await look.until(lambda: look.app.session.latest.generation >= known + len(events))
    await look.settle()


@pytest.mark.parametrize("size", SIZES)
async def test_why_a_run_waits_is_on_every_screen_with_the_file_that_keeps_its_results(size: tuple[int, int]) -> None:
    async with looking(faulty(), size, until=10) as look:
        await feed(look, HELD)
        for key in "1234":
            await look.press(key)
            assert "HELD" in look.lines[0]
            banner = " ".join(line.strip() for line in look.lines[1:3])
            assert "The run waits." in banner
            assert SPOOL in banner.replace(" ", "")
        look.app.navigation.open_node(NodeId("n001"))
        await look.settle()
        assert "The run waits." in look.lines[1]
        await feed(look, Resumed(1.7e9, 42))
        await look.press("3")
        assert "HELD" not in look.text
        assert "The run waits." not in look.lines[1]
        assert "42 results brought back" in look.text


async def test_the_run_says_in_its_headline_that_it_waits() -> None:
    async with looking(faulty(), until=10) as look:
        await feed(look, HELD)
        await look.press("3")
        assert any("round 1 is not over" in line and "the database is full" in line for line in look.lines)


@pytest.mark.parametrize("size", SIZES)
async def test_the_end_of_a_run_counts_the_nodes_on_which_nothing_of_ours_is_left(size: tuple[int, int]) -> None:
    nodes = list(faulty().fabric.nodes)
    proofs = [Proof(node, asked=True) for node in nodes[:-2]]
    proofs += [
        Proof(nodes[-2], asked=True, left=("iperf3 -s, pid 4711",)),
        Proof(nodes[-1], asked=False, detail="down"),
    ]
    async with looking(faulty(), size) as look:
        await feed(look, NodesProven(tuple(proofs), 1.7e9))
        await look.press("3")
        row = next(line for line in look.lines if " left " in line and "▲" in line)
        assert f"Nothing of ours is left on {len(nodes) - 2:,}" in row
        if size[1] >= 40:
            assert any("iperf3 -s, pid 4711" in line and nodes[-2] in line for line in look.lines)
            assert any("down" in line and nodes[-1] in line for line in look.lines)
            events = next(place for place, line in enumerate(look.lines) if line.startswith(" events "))
            assert not look.lines[events - 1].strip()


async def test_a_clean_end_is_one_quiet_row() -> None:
    proofs = tuple(Proof(node, asked=True) for node in faulty().fabric.nodes)
    async with looking(faulty()) as look:
        await feed(look, NodesProven(proofs, 1.7e9))
        await look.press("3")
        assert any("Nothing of ours is left on any of the" in line for line in look.lines)
        assert look.app.navigation.tabs.run.proofs.wanted == 1


def stopped(because: str) -> Story:
    story = replace(faulty(), closed=list(faulty().closed))
    last = story.closed[-1]
    story.closed[-1] = replace(last, reason=CloseReason.STOPPED, because=because)
    return story


async def test_a_round_that_a_rule_stopped_says_which_and_why() -> None:
    async with looking(stopped("7 of 20 tests failed, 25 % are too many"), (200, 60)) as look:
        await look.press("3")
        number = faulty().closed[-1].round.number
        assert any(f"round {number} stopped: 7 of 20 tests failed" in line for line in look.lines)
        assert any("stopped, 7 of 20 tests failed" in line for line in look.lines[-6:])


async def test_a_session_that_is_driven_elsewhere_takes_no_order_and_says_who_drives() -> None:
    async with looking(faulty()) as look:
        look.player.follows = "Another console drives acceptance 12; this one follows it and takes no orders."
        await look.settle()
        assert "READ-ONLY" in look.lines[0]
        for key in ("R", "3", "S", "r"):
            await look.press(key)
            if key != "3":
                assert "Another console drives acceptance 12" in look.lines[-1]
        assert look.player.started == []
        assert look.player.stopped == []


async def test_a_plan_that_must_not_run_is_refused_with_its_reason() -> None:
    async with looking(faulty()) as look:
        look.player.refusal = "n001: job 77 of alice; it would be loaded by fio"
        await look.press("R", "enter")
        await look.until(lambda: "job 77 of alice" in look.lines[-1])
        assert look.player.started == []


@pytest.mark.fault("F19")
async def test_leaving_twice_abandons_the_run() -> None:
    async with looking(faulty(), until=10) as look:
        look.player.running = True
        look.player.finished = asyncio.Event().wait  # type: ignore[method-assign, assignment]
        look.app.exit_control.leave(0)
        await look.settle()
        assert not look.player.abandoned
        look.app.exit_control.leave(130)
        assert look.player.abandoned
        await look.until(lambda: look.app.return_value == 130)


@pytest.mark.parametrize("stage", [FailedAt.IN_USE, FailedAt.REFUSED, FailedAt.REBOOTED, FailedAt.KILLED])
async def test_every_reason_for_no_number_is_said_in_words(stage: FailedAt) -> None:
    story = replace(faulty(), closed=list(faulty().closed))
    first = story.closed[0]
    failed = tuple(
        replace(result, measurements=(), failure=Failure(stage, "as seen in the test", result.test.target.node.id))
        for result in first.results
    )
    story.closed = [replace(first, results=failed, verdicts=())]
    story.rounds = story.rounds[:1]
    async with looking(story) as look:
        for key in ("2", "3", "4"):
            await look.press(key)
            assert "as seen in the test" in look.text
        await look.press("3")
        is_held = stage in (FailedAt.IN_USE, FailedAt.REFUSED)
        assert any(line.startswith(" = held back" if is_held else " ? not judged") for line in look.lines)


@pytest.mark.fault("F36", "I12", "I13")
@pytest.mark.parametrize("kind", NASTY)
async def test_hostile_text_stays_text_in_every_new_place(kind: str) -> None:
    text = NASTY[kind]
    async with looking(stopped(text)) as look:
        look.player.follows = text
        proofs = (Proof(NodeId("n001"), asked=True, left=(text,)), Proof(NodeId("n002"), asked=False, detail=text))
        await feed(look, NodesProven(proofs, 1.7e9), Noticed(text, 1.7e9), Held(text, 1.7e9, text))
        for key in "1234RS":
            await look.press(key)
            for row in look.lines:
                assert all(ord(character) >= 32 and not 127 <= ord(character) < 160 for character in row)
                assert not set(row) & set("\u202e\u2066\u200d\x1b\ud800")
        assert look.app.is_running


async def test_a_thousand_events_between_two_looks_are_one_view() -> None:
    story = faulty()
    events = [event for event in story.events() if not isinstance(event, ClosedRound)]
    async with looking(story, until=1) as look:
        look.app.session.latest.take(events[1:])
        view = look.app.session.latest.view
        painted: list[object] = []
        look.app.navigation.fabric.show = lambda view, badges: painted.append(view)  # type: ignore[method-assign]
        look.app.tick()
        assert painted == [view]
        assert look.app.session.latest.view is view
