"""A session over played nodes: judged means stored, and what is stored can be gone on with."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.console.reports import render
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_judgement import judge_stored
from benchconsole.console.view.events import Event, SessionEnded, SessionOpened
from benchconsole.console.view.reducer import advance
from benchconsole.console.view.run_view import RunView, State, tally
from benchconsole.console.view.session_verdict import decide
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.judging.attribution import Attributor
from benchconsole.probes.judging.detectable_loss import DetectableLosses
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.kept_readings import KeptReadings
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.round_bounds import ConfirmationBounds
from benchconsole.store.errors import StoreError
from benchconsole.store.session_store import SessionStore
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import NodeId
from tests import plain_sqlite
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES, PlayedReach

SUITE = SMALL.replace("  default:\n", "  default:\n    - {probe: inventory}\n")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "sessions.db") as opened:
        yield opened


def session(folder: Path, store: Store, reach: PlayedReach, text: str = SUITE) -> Session:
    return Session(fabric(folder, text), PROBES, store, make_reach=lambda _fabric, _session: reach)


async def follow(
    running: Session, rounds: tuple[Round, ...], until: type[Event] = SessionEnded
) -> tuple[RunView, list[Event]]:
    """Run and fold until an event of this kind."""
    view = RunView(running.fabric)
    for event in running.replay:
        view = advance(view, event)
    running.start(rounds)
    seen: list[Event] = []
    async for event in running.live():
        seen.append(event)
        view = advance(view, event)
        if isinstance(event, until):
            break
    return view, seen


async def test_what_is_told_as_judged_is_in_the_store(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, PlayedReach())
    told: list[int] = []
    running.start(running.propose())
    async for event in running.live():
        if isinstance(event, ClosedRound):
            told.append(event.round.number)
            assert {number for number, _ in store.session(running.id).list_closed_rounds()} >= set(told)
        if isinstance(event, SessionEnded):
            assert event.complete
            break
    assert told == [each.number for each in running.plan]


async def test_measurements_are_no_objects_once_their_round_is_told_and_say_what_is_stored(
    tmp_path: Path, store: Store
) -> None:
    running = session(tmp_path, store, PlayedReach())
    view, _ = await follow(running, running.propose())
    measured = {name: each.measurements for name, each in view.results.items() if each.measurements}
    assert measured
    assert all(isinstance(each, KeptReadings) and each[0] is not each[0] for each in measured.values())
    stored = Session.stored(store, running.id, PROBES).view().results
    assert measured == {name: each.measurements for name, each in stored.items() if each.measurements}


async def test_a_passing_fabric_gives_exit_code_0_and_a_slow_one_1(tmp_path: Path, store: Store) -> None:
    lone = SUITE.replace("    - {probe: iperf3, design: trunks}\n", "")
    good = session(tmp_path, store, PlayedReach(), lone)
    view, _ = await follow(good, good.propose())
    assert decide(view).exit_code() == 0
    assert tally(view) == {State.PASS: 8, State.MEASURED: 2}
    bad = session(tmp_path, store, PlayedReach(rate=0.3e9), lone)
    view, _ = await follow(bad, bad.propose())
    assert decide(view).exit_code() == 1
    assert view.findings


async def test_unreachable_nodes_are_told_and_give_exit_code_3(tmp_path: Path, store: Store) -> None:
    lone = SUITE.replace("    - {probe: iperf3, design: trunks}\n", "")
    running = session(tmp_path, store, PlayedReach(unreachable=["n2"]), lone)
    view, _ = await follow(running, running.propose())
    assert decide(view).exit_code() == 3
    assert decide(view).exit_code(allow_untested=True) == 0
    assert view.nodes[next(iter(n for n in view.nodes if n == "n2"))].state is State.UNREACHABLE
    found = compute_totals(view).covered
    assert found.unreachable == 1 + 4
    assert found.tested + found.unreachable == found.planned
    assert [each.nodes for each in compute_totals(view).reasons] == [("n2",)]


async def test_stop_now_stores_no_half_round_and_resume_repeats_nothing(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, PlayedReach())
    await follow(running, running.propose(), until=ClosedRound)
    running.stop(now=True)
    await running.finished()
    done = {number for number, _ in store.session(running.id).list_closed_rounds()}
    assert done
    again = Session.stored(store, running.id, PROBES, make_reach=lambda _fabric, _session: PlayedReach())
    left = again.unfinished()
    assert {each.number for each in left}.isdisjoint(done)
    view, seen = await follow(again, left)
    judged = [event.round.number for event in seen if isinstance(event, ClosedRound)]
    assert set(judged).isdisjoint(done)
    assert view.complete
    assert compute_totals(view).covered.complete


async def test_a_console_that_died_before_it_searched_the_nodes_has_that_done_on_resume(
    tmp_path: Path, store: Store
) -> None:
    first = session(tmp_path, store, PlayedReach())
    first.start(first.propose())
    await first.finished()
    asked = {proof.node for proof in store.session(first.id).read_proofs()[-1].proofs}
    with closing(plain_sqlite.connect(store.path)) as connection:
        connection.execute("DELETE FROM proof")
        connection.execute("UPDATE driver SET ended = NULL, complete = NULL, pid = 1, born = 'another boot'")
    assert store.session(first.id).describe().state is SessionState.INTERRUPTED

    again = Session.stored(store, first.id, PROBES, make_reach=lambda *_: PlayedReach())
    assert again.unfinished() == ()
    again.start(())
    await again.finished()
    assert {proof.node for proof in store.session(first.id).read_proofs()[-1].proofs} == asked
    assert store.session(first.id).describe().state is SessionState.COMPLETE
    assert len(list(store.session(first.id).read_rounds(again.fabric))) == len(again.plan)

    third = Session.stored(store, first.id, PROBES, make_reach=lambda *_: PlayedReach())
    third.start(())
    await third.finished()
    assert len(store.session(first.id).read_proofs()) == 1


async def test_when_its_last_run_began_is_known_of_a_session_that_was_run_here_alone(
    tmp_path: Path, store: Store
) -> None:
    running = session(tmp_path, store, PlayedReach())
    first, _ = await follow(running, running.propose())
    assert first.is_one_run
    assert not running.view().is_one_run
    opened = Session.stored(store, running.id, PROBES, make_reach=lambda _fabric, _session: PlayedReach())
    only = [test.id for test in running.plan[0].tests[:1]]
    view, seen = await follow(opened, opened.propose(only=only))
    (again,) = (event for event in seen if isinstance(event, SessionOpened) and event.begins_run)
    assert view.is_one_run
    assert view.started <= first.begun < again.at == view.begun


async def test_pause_holds_the_next_round(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, PlayedReach())
    running.start(running.propose())
    running.pause()
    async for event in running.live():
        if isinstance(event, SessionOpened):
            break
    assert running.paused
    assert running.running
    for _ in range(50):
        await asyncio.sleep(0)
    assert store.session(running.id).list_closed_rounds() == frozenset()
    running.go_on()
    await running.finished()
    assert len(store.session(running.id).list_closed_rounds()) == len(running.plan)


async def test_failed_tests_are_repeated_and_the_newest_counts(tmp_path: Path, store: Store) -> None:
    lone = SUITE.replace("    - {probe: iperf3, design: trunks}\n", "")
    reach = PlayedReach(unreachable=["n2"])
    running = session(tmp_path, store, reach, lone)
    view, _ = await follow(running, running.propose())
    reach.unreachable = ()
    again = running.propose(failed_only=True)
    assert {test.target.key for each in again for test in each.tests} == {"n2", "n1>n2", "n2>n3", "n4>n2", "n2>n4"}
    running.start(again)
    async for event in running.live():
        view = advance(view, event)
        if isinstance(event, SessionEnded):
            break
    assert decide(view).exit_code() == 0
    assert compute_totals(view).covered.complete
    assert compute_totals(view).covered.planned == sum(len(each.tests) for each in view.plan) - sum(
        len(each.tests) for each in again
    )


async def test_judging_again_touches_no_node_and_counts_from_now_on(tmp_path: Path, store: Store) -> None:
    lone = SUITE.replace("    - {probe: iperf3, design: trunks}\n", "")
    running = session(tmp_path, store, PlayedReach(rate=0.9e9), lone)
    view, _ = await follow(running, running.propose())
    assert decide(view).exit_code() == 1
    milder = fabric(tmp_path, lone.replace("at_least: 80 %", "at_least: 70 %"))
    await judge_stored(store.session(running.id), PROBES, milder).keep()
    assert decide(Session.stored(store, "last", PROBES).view()).exit_code() == 0


@pytest.mark.fault("F28")
async def test_two_consoles_cannot_drive_one_session(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, PlayedReach())
    running.start(running.propose())
    async for event in running.live():
        if isinstance(event, SessionOpened):
            break
    with Store.open(store.path) as other, pytest.raises(StoreError):
        await other.session(running.id).claim()
    await running.finished()


async def test_stages_are_timed_and_the_view_is_a_pure_fold(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, PlayedReach())
    view, _ = await follow(running, running.propose())
    assert [each.name for each in compute_totals(view).stages] == ["inventory", "iperf3 neighbours", "iperf3 trunks"]
    assert all(each.done == each.rounds for each in compute_totals(view).stages)
    replayed = Session.stored(store, "last", PROBES).view()
    assert replayed.findings == view.findings
    assert {name: node.state for name, node in replayed.nodes.items()} == {
        name: node.state for name, node in view.nodes.items()
    }


def report(view: RunView) -> dict[str, object]:
    """The JSON report; tests of a round end in any order, and so stand their measurements."""
    out = io.StringIO()
    render("json", view, out)
    found: dict[str, list[dict[str, str]]] = json.loads(out.getvalue())
    return {**found, "measurements": sorted(found["measurements"], key=lambda each: each["id"])}


async def test_a_stored_session_is_reported_without_attribution(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = session(tmp_path, store, PlayedReach(rate=0.3e9))
    live, _ = await follow(running, running.propose())
    assert live.findings

    def fail(*_: object) -> None:
        raise AssertionError("findings are computed again")

    losses = running.list_detectable_losses()
    assert losses
    with monkeypatch.context() as patched:
        patched.setattr(DetectableLosses, "add_round", fail)
        patched.setattr(Findings, "add_round", fail)
        patched.setattr(Findings, "rank", fail)
        patched.setattr(Attributor, "explain", fail)
        stored = Session.stored(store, running.id, PROBES)
        view = stored.view()
        assert stored.list_detectable_losses() == losses
    assert view.findings == live.findings
    assert report(view) == report(live)


async def test_findings_are_computed_where_a_round_was_judged_after_they_were_stored(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = session(tmp_path, store, PlayedReach(rate=0.3e9))
    live, _ = await follow(running, running.propose())
    stored = store.session(running.id)
    last = list(stored.read_rounds(running.fabric))[-1]
    await stored.append_verdicts({(last.round.number, last.attempt): ()}, judged_by="silent")
    assert stored.read_findings() is None
    view = Session.stored(store, running.id, PROBES).view()
    assert view.findings != live.findings
    await judge_stored(store.session(running.id), PROBES).keep()
    with monkeypatch.context() as patched:
        patched.setattr(SessionStore, "read_findings", lambda _: None)
        computed = Session.stored(store, running.id, PROBES).view().findings
    assert stored.read_findings() == computed == Session.stored(store, running.id, PROBES).view().findings


async def test_how_far_the_reading_of_a_stored_session_is(store: Store, tmp_path: Path) -> None:
    running = session(tmp_path, store, PlayedReach())
    rounds = running.propose()
    await follow(running, rounds)
    told: list[tuple[int, int, int, int]] = []
    Session.stored(
        store,
        "last",
        PROBES,
        on_read=lambda event, read, of: told.append((len(event.fabric.nodes), len(event.plan), read, of)),
    )
    assert told == [(len(running.fabric.nodes), 0, read, len(rounds)) for read in range(len(rounds) + 1)]


async def test_a_suite_on_marked_nodes_is_planned_on_these_alone(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, PlayedReach())
    every = running.propose()
    some = running.propose(nodes=[NodeId("n2"), NodeId("n1"), NodeId("nobody")])
    assert {node.id for each in some for test in each.tests for node in test.target.nodes} == {"n1", "n2"}
    with pytest.raises(PlanError, match="none of nobody is among the nodes of this session"):
        running.propose(nodes=[NodeId("nobody")])
    assert running.propose() == every


async def test_rounds_that_others_planned_run_on_the_nodes_that_were_chosen(tmp_path: Path, store: Store) -> None:
    chosen = SessionChoice(nodes=(NodeId("n1"), NodeId("n2")))
    running = Session(
        fabric(tmp_path, SUITE), PROBES, store, chosen, make_reach=lambda _fabric, _session: PlayedReach()
    )
    await follow(running, session(tmp_path, store, PlayedReach()).propose(nodes=chosen.nodes))
    await running.finished()
    assert store.session(running.id).describe().new.selection == "n[1-2]"


async def test_what_confirms_a_run_on_marked_nodes_asks_no_other(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = session(tmp_path, store, PlayedReach())
    asked: list[list[NodeId]] = []

    def plan(nodes: Iterable[NodeId], _bounds: ConfirmationBounds, *, first: int) -> tuple[Round, ...]:
        asked.append([*nodes])
        return ()

    monkeypatch.setattr(running._judged, "plan_confirmation", plan)
    await follow(running, running.propose(nodes=[NodeId("n1"), NodeId("n2")]))
    await running.finished()
    await follow(running, running.propose())
    await running.finished()
    assert asked == [["n1", "n2"], [*running.fabric.nodes]]
