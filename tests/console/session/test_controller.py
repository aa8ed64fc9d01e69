"""A session in its engine, as the screens drive it: events come in batches, orders cross, all of it ends."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.console.session.controller import SessionController, as_stored
from benchconsole.console.session.judged_rounds import JudgedRounds
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.safety import InUseError, SafetyPolicy
from benchconsole.console.session.session import Session
from benchconsole.console.view.events import Event, IntervalsTold, Noticed, SessionEnded, SessionOpened
from benchconsole.console.view.reducer import LatestView
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.api import Contact, Demands, Interval, Metric, Output, Probe, Safety, Target, Unit
from benchconsole.probes.blank_devices import require_agreement
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.interval import current_outputs
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.running import interval_ticker
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES, Alone, Pair, PlayedReach
from tests.probes.plugins.test_interval_reader import Said

SUITE = SMALL.replace("  default:\n", "  default:\n    - {probe: inventory}\n")


class Watched(LatestView):
    """Notes in which thread it is told, and wakes whoever waits for something to be there."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[str] = set()
        self.events: list[Event] = []
        self.told = threading.Condition()

    def take(self, events: Sequence[Event]) -> None:
        super().take(events)
        with self.told:
            self.threads.add(threading.current_thread().name)
            self.events += events
            self.told.notify_all()

    async def until(self, reached: Callable[[list[Event]], bool]) -> None:
        def wait() -> bool:
            with self.told:
                return self.told.wait_for(lambda: reached(self.events), 20)

        assert await asyncio.to_thread(wait)

    async def ended(self) -> RunView:
        await self.until(lambda events: any(isinstance(event, SessionEnded) for event in events))
        assert self.view is not None
        return self.view


class Loading(Pair):
    """The played probe, as one that loads what it runs on."""

    safety = Safety.LOADS


class Held(Loading):
    """The same; its tests wait until somebody lets them go on."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        assert await asyncio.to_thread(self.go_on.wait, 20)
        return await super().run(contact, target)


def over(events: list[Event]) -> bool:
    return any(isinstance(event, ClosedRound) for event in events)


def conducted(
    folder: Path,
    *,
    start: bool = False,
    choice: SessionChoice | None = None,
    text: str = SUITE,
    probes: Mapping[str, Probe] = MappingProxyType({}),
) -> tuple[SessionController, Session]:
    store = Store.open(folder / "sessions.db")
    known = {**PROBES, "iperf3": Loading(), **probes}
    session = Session(fabric(folder, text), known, store, choice, make_reach=lambda _fabric, _session: PlayedReach())
    return SessionController(session, LoopThread(), start=start, closing=store.close, operator="ops"), session


async def test_the_default_suite_runs_apart_and_is_folded_there(tmp_path: Path) -> None:
    conductor, session = conducted(tmp_path, start=True)
    latest = Watched()
    following = asyncio.create_task(conductor.follow(latest.take))
    view = await latest.ended()
    assert view.complete
    assert latest.threads == {"engine"}
    assert isinstance(latest.events[0], SessionOpened)
    assert latest.generation == len(latest.events)
    assert dict(view.results) == dict(session.view().results)
    assert not conductor.running
    await conductor.finished()
    await conductor.close()
    await asyncio.wait([following], timeout=10)
    assert following.done()


@pytest.mark.fault("F35")
async def test_what_thousands_of_nodes_tell_at_once_is_folded_at_once(tmp_path: Path) -> None:
    told = [Noticed(f"n{number} reports", 1.7e9) for number in range(20_000)]

    class Telling(Session):
        async def events(self) -> AsyncIterator[Event]:
            for event in told:
                yield event

    heard: list[Sequence[Event]] = []
    with Store.open(tmp_path / "sessions.db") as store:
        conductor = SessionController(Telling(fabric(tmp_path, SUITE), PROBES, store), LoopThread())
        await conductor.follow(heard.append)
        await conductor.close()
    assert heard == [told]


async def test_orders_cross_and_a_run_ends_as_it_was_told(tmp_path: Path) -> None:
    held = Held()
    conductor, _ = conducted(tmp_path, probes={"iperf3": held})
    latest = Watched()
    following = asyncio.create_task(conductor.follow(latest.take))
    proposal = await conductor.propose(None)
    assert len([each for each in proposal.rounds if each.probe == "iperf3"]) > 1
    assert any("asked over SSH" in line for line in proposal.notes.effects)
    conductor.pause()
    await conductor.start(proposal.rounds)
    assert conductor.running
    await latest.until(over)
    conductor.stop(now=False)
    held.go_on.set()
    view = await latest.ended()
    assert not view.complete
    again = await conductor.propose(None)
    assert {each.number for each in again.rounds}.isdisjoint(view.closed)
    following.cancel()
    await conductor.finished()
    await conductor.close()


async def test_what_must_not_run_is_shown_before_and_refused(tmp_path: Path) -> None:
    choice = SessionChoice(policy=SafetyPolicy(occupied={"n1": "job 77 of alice"}))
    conductor, _ = conducted(tmp_path, choice=choice)
    proposal = await conductor.propose(None)
    assert any("job 77 of alice" in line for line in proposal.notes.held_back)
    with pytest.raises(InUseError, match="job 77"):
        await conductor.start(proposal.rounds)
    assert not conductor.running
    with pytest.raises(PlanError, match="unknown suite"):
        await conductor.propose("nightly")
    await conductor.close()


async def test_reports_and_ways_are_made_beside_the_engine(tmp_path: Path) -> None:
    conductor, session = conducted(tmp_path, start=True)
    latest = Watched()
    following = asyncio.create_task(conductor.follow(latest.take))
    view = await latest.ended()
    assert await conductor.export("json", view, tmp_path / "report.json") == tmp_path / "report.json"
    report = json.loads((tmp_path / "report.json").read_text())
    sight = await conductor.assess(view)
    assert sight.kinds
    assert report["detectable"]["sentences"] == list(sight.sentences)
    assert len(report["detectable"]["losses"]) == sight.kinds
    assert report["conduct"]["not_covered"]
    pair = next(test for each in session.plan for test in each.tests if test.target.peer is not None)
    hops = await conductor.path_of(pair)
    assert hops[0].source == pair.target.node.id
    assert pair.target.peer is not None
    assert hops[-1].sink == pair.target.peer.id
    alone = next(test for each in session.plan for test in each.tests if test.target.peer is None)
    assert await conductor.path_of(alone) == ()
    following.cancel()
    await conductor.close()


async def test_an_open_round_is_not_part_of_what_is_stored(tmp_path: Path) -> None:
    conductor, _ = conducted(tmp_path, start=True)
    latest = Watched()
    following = asyncio.create_task(conductor.follow(latest.take))
    view = await latest.ended()
    stored = as_stored(view)
    assert (stored.current, len(stored.running), len(stored.fresh)) == (None, 0, 0)
    assert dict(stored.results) == dict(view.results)
    assert State.RUNNING not in {node.state for node in stored.nodes.values()}
    following.cancel()
    await conductor.close()


async def test_closing_while_it_runs_leaves_the_store_closed_and_the_thread_ended(tmp_path: Path) -> None:
    conductor, session = conducted(tmp_path, start=True)
    latest = Watched()
    following = asyncio.create_task(conductor.follow(latest.take))
    await latest.until(lambda events: len(events) > 2)
    conductor.abandon()
    await conductor.finished()
    await conductor.close()
    assert not any(thread.name == "engine" for thread in threading.enumerate())
    with Store.open(tmp_path / "sessions.db") as again:
        assert again.session(again.find_session("last")).describe().id == session.id
    following.cancel()


class Wiping(Alone):
    """A probe that overwrites the disk that its options name."""

    name = "wipe"
    summary = "nothing"
    metrics = (Metric("wipe.rate", Unit.ONE, "nothing"),)
    safety = Safety.DESTROYS
    options = MappingProxyType({"serial": "", "confirmed": ""})

    def demands(self, target: Target) -> Demands:
        require_agreement(target.node, target.options, self.name)
        return Demands()


WIPING = SUITE.replace(
    "  st[1-2]: {role: storage}", "  st1: {role: storage, blank_disks: [WD-1]}\n  st2: {role: storage}"
)
AGREED = "    - {probe: wipe, nodes: st1, serial: WD-1, confirmed: WD-1}\n    - {probe: inventory, nodes: st1}\n"
WIPING = WIPING.replace("  default:\n", "  wipe:\n    - {probe: wipe, nodes: st1, serial: WD-1}\n  default:\n") + (
    "    - {probe: wipe, nodes: st1, serial: WD-1}\n"
)


async def test_a_disk_that_nobody_confirmed_is_left_out_told_and_recorded(tmp_path: Path) -> None:
    conductor, session = conducted(tmp_path, text=WIPING, probes={"wipe": Wiping()})
    proposal = await conductor.propose("default")
    assert [(each.node, each.serial) for each in proposal.unconfirmed] == [("st1", "WD-1")]
    assert "wipe" not in {each.probe for each in proposal.rounds}
    assert any(line.startswith("wipe is not run: everything on the disk") for line in proposal.notes.held_back)
    latest = Watched()
    following = asyncio.create_task(conductor.follow(latest.take))
    await conductor.start(proposal.rounds)
    view = await latest.ended()
    assert view.complete
    assert any("left out: wipe is not run" in line.text for line in view.log)
    with Store.open(tmp_path / "sessions.db") as again:
        assert [(note.kind, note.text[:15]) for note in again.session(session.id).read_notes()] == [
            ("left out (not confirmed)", "wipe is not run")
        ]
    following.cancel()
    await conductor.finished()
    await conductor.close()


async def test_what_was_typed_is_planned_once_and_kept_for_no_other_plan(tmp_path: Path) -> None:
    conductor, _ = conducted(tmp_path, text=WIPING, probes={"wipe": Wiping()})
    alone = await conductor.propose("wipe")
    assert alone.rounds == ()
    assert len(alone.unconfirmed) == 1
    typed = await conductor.propose("wipe", typed=["WD-1"])
    assert typed.unconfirmed == ()
    assert typed.notes.held_back == ()
    assert [test.target.options["confirmed"] for each in typed.rounds for test in each.tests] == ["WD-1"]
    assert (await conductor.propose("wipe", typed=["WD-2"])).rounds == ()
    assert (await conductor.propose("wipe")).rounds == ()
    await conductor.close()


async def test_a_session_interrupted_after_its_last_round_is_ended_as_the_command_line_does(tmp_path: Path) -> None:
    first, session = conducted(tmp_path, start=True)
    latest = Watched()
    following = asyncio.create_task(first.follow(latest.take))
    await latest.ended()
    assert not first.resumable
    following.cancel()
    await first.finished()
    await first.close()
    with closing(plain_sqlite.connect(tmp_path / "sessions.db")) as connection:
        connection.execute("DELETE FROM proof")
        connection.execute("UPDATE driver SET ended = NULL, complete = NULL, pid = 1, born = 'another boot'")
    store = Store.open(tmp_path / "sessions.db")
    stored = Session.stored(store, session.id, session.probes, make_reach=lambda *_: PlayedReach())
    conductor = SessionController(stored, LoopThread(), closing=store.close)
    assert conductor.resumable
    proposal = await conductor.propose(None)
    assert (proposal.rounds, bool(proposal.ends)) == ((), True)
    assert (await conductor.propose("default")).rounds
    await conductor.start(proposal.rounds)
    await conductor.finished()
    assert not conductor.resumable
    assert store.session(session.id).describe().state is SessionState.COMPLETE
    assert store.session(session.id).read_proofs()
    assert len(stored.plan) == len(session.plan)
    await conductor.close()


async def test_a_stored_session_that_is_only_looked_at_keeps_nothing_for_judging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, session = conducted(tmp_path, start=True)
    latest = Watched()
    following = asyncio.create_task(first.follow(latest.take))
    await latest.ended()
    following.cancel()
    await first.finished()
    await first.close()
    monkeypatch.setattr(JudgedRounds, "judging", None)
    store = Store.open(tmp_path / "sessions.db")
    stored = Session.stored(store, session.id, session.probes)
    assert len(stored.view().results) == len(session.view().results) > 0
    assert stored.list_detectable_losses() == session.list_detectable_losses()
    store.close()


async def test_a_file_to_log_in_with_that_is_missing_starts_nothing(tmp_path: Path) -> None:
    conductor, session = conducted(tmp_path, text=SUITE + "ssh: {config: own_config}\n")
    proposal = await conductor.propose("default")
    with pytest.raises(PlanError, match=r"ssh: config: .*own_config: No such file or directory, expected a file"):
        await conductor.start(proposal.rounds)
    assert (conductor.running, session.id) == (False, "")
    await conductor.close()


async def test_only_the_stage_that_nobody_confirmed_is_left_out(tmp_path: Path) -> None:
    conductor, _ = conducted(tmp_path, text=WIPING + AGREED, probes={"wipe": Wiping()})
    proposal = await conductor.propose("default")
    assert [each.probe for each in proposal.rounds].count("wipe") == 1
    assert len(proposal.unconfirmed) == 1
    assert sum("wipe is not run" in line for line in proposal.notes.held_back) == 1
    assert any(test.target.node.id == "st1" for each in proposal.rounds for test in each.tests)
    await conductor.close()


class Telling(Loading):
    """Says a line when it begins, and ends when somebody has heard of it."""

    def __init__(self) -> None:
        self.heard = threading.Event()
        self.said = Said(b"a line\n")

    def read_intervals(self, line: str, target: Target) -> Sequence[Interval]:
        return (Interval("iperf3.throughput", 777.0, Unit.BYTE_RATE, 1.0, 1.0),)

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        if (outputs := current_outputs.get()) is not None:
            outputs.add(self.said)
            await asyncio.to_thread(self.heard.wait, 20)
        return await super().run(contact, target)


async def test_a_screen_is_told_of_intervals_and_nothing_of_them_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interval_ticker, "EVERY", 0.0)
    probe = Telling()
    conductor, session = conducted(tmp_path, start=True, probes={"iperf3": probe})
    latest = Watched()

    def hear(events: Sequence[Event]) -> None:
        latest.take(events)
        if any(isinstance(event, IntervalsTold) and event.found for event in events):
            probe.heard.set()

    following = asyncio.create_task(conductor.follow(hear))
    view = await latest.ended()
    assert view.complete
    told = [each for event in latest.events if isinstance(event, IntervalsTold) for each in event.found]
    assert {each.interval.value for each in told} == {777.0}
    assert {each.test for each in told} <= set(view.results)
    assert all(each.value != 777.0 for result in session.view().results.values() for each in result.measurements)
    await conductor.finished()
    await conductor.close()
    await asyncio.wait([following], timeout=10)
    assert b"a line" not in (tmp_path / "sessions.db").read_bytes()


async def test_a_run_without_a_screen_is_told_of_no_intervals(tmp_path: Path) -> None:
    with Store.open(tmp_path / "sessions.db") as store:
        known = {**PROBES, "iperf3": Telling()}
        session = Session(fabric(tmp_path, SUITE), known, store, make_reach=lambda _fabric, _session: PlayedReach())
        session.start(session.propose())
        await asyncio.wait_for(session.finished(), 20)
        told = [session._queue.get_nowait() for _ in range(session._queue.qsize())]
    assert any(isinstance(event, SessionEnded) for event in told)
    assert not any(isinstance(event, IntervalsTold) for event in told)
