"""A watch over played days: what is due is taken, what was missed stays missed, and it goes on after its own end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

import pytest

from benchconsole.console.availability.evaluation import (
    Availability,
    SampleSchedule,
    evaluate,
    read_sample,
    read_schedule,
)
from benchconsole.console.availability.watch_options import EVERY, LASTS
from benchconsole.console.session.availability_watch import (
    STOPPED,
    AvailabilityWatch,
    SystemClock,
    TakenSample,
    find_watched_suite,
)
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_verdict import make_stored_verdict
from benchconsole.console.view.session_verdict import SAMPLES, decide
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.probe_names import AVAILABILITY
from benchconsole.probes.tools.availability.probe import Availability as Probe
from benchconsole.store.errors import DrivenError
from benchconsole.store.session_summary import SessionState, StoredVerdict
from benchconsole.store.store import Store
from tests.console.watched import T0, PlayedClock, PlayedNodes
from tests.fabrics import SMALL, fabric
from tests.store.played import new

PROBES = {AVAILABILITY: Probe()}
LONG = 43_200.0
HALF_HOURS: dict[str, str | int | float] = {EVERY: 1800.0, LASTS: LONG}


@pytest.fixture
async def store(memory_path: Path) -> AsyncIterator[Store]:
    with Store.open(memory_path / "sessions.db") as opened:
        yield opened


class Played:
    """A watch of half a day on the small fabric."""

    def __init__(self, folder: Path, store: Store, text: str = SMALL) -> None:
        self.clock = PlayedClock()
        self.nodes = PlayedNodes(self.clock)
        self.fabric = fabric(folder, text)
        self.store = store
        self.taken: list[TakenSample] = []
        self.watch = self.another()

    def another(self, store: Store | None = None) -> AvailabilityWatch:
        choice = SessionChoice(AVAILABILITY, None, "stability", HALF_HOURS)
        suite = find_watched_suite(self.fabric, None)
        watch = AvailabilityWatch(
            self.fabric, PROBES, store or self.store, suite, choice, make_reach=self.nodes.reach, clock=self.clock
        )
        watch.tell = lambda told: self.taken.append(told) if isinstance(told, TakenSample) else None
        return watch

    def at(self, number: int, do: Callable[[], object]) -> None:
        """Do something when a sample is waited for."""
        before = self.clock.before

        def when(due: float) -> None:
            before(due)
            if due == T0 + number * 1800.0:
                do()

        self.clock.before = when

    async def until_it_waits_for(self, number: int) -> "asyncio.Task[bool]":
        """The watch under way, when it waits for a sample that never comes due."""
        reached = asyncio.Event()

        def stick() -> None:
            self.clock.stuck = reached

        self.at(number, stick)
        running = asyncio.create_task(self.watch.run())
        await asyncio.wait_for(reached.wait(), 60)
        return running

    def evaluated(self, *, now: float = T0 + LONG) -> Availability:
        outcomes = list(self.store.session(self.watch.id).read_outcomes(AVAILABILITY))
        samples = [sample for outcome in outcomes if (sample := read_sample(outcome)) is not None]
        schedule = read_schedule(self.store.session(self.watch.id).describe())
        assert schedule is not None
        return evaluate(samples, tuple(dict.fromkeys(each.node for each in outcomes)), schedule, now=now)


async def test_every_sample_is_a_round_of_one_session_taken_when_it_is_due(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    assert await played.watch.run()
    (line,) = store.list_sessions()
    assert (line.state, line.label, line.suite, line.rounds) == (SessionState.COMPLETE, "stability", AVAILABILITY, 25)
    assert [each.number for each in played.taken] == list(range(25))
    assert read_schedule(store.session(line.id).describe()) == SampleSchedule(line.started, 1800.0, LONG)
    rounds = list(store.session(line.id).read_rounds(played.fabric))
    due = [T0 + number * 1800.0 for number in range(25)]
    assert [each.started for each in rounds] == pytest.approx(due, abs=1.0)
    assert rounds[17].round.because == "sample 17 of 24, due 2023-11-15T06:43:20Z"
    found = played.evaluated()
    assert (found.level, found.system.time.worst, len(found.nodes)) == (Level.PASS, 1.0, 10)


async def test_a_node_that_goes_and_comes_back_in_another_boot(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    played.at(10, lambda: played.nodes.down.add("n3"))
    played.at(14, played.nodes.down.clear)
    played.at(20, lambda: played.nodes.boots.update(n4=1))
    played.at(22, lambda: played.nodes.silent.add("n5"))
    played.at(23, played.nodes.silent.clear)
    await played.watch.run()
    found = {each.name: each for each in played.evaluated().nodes}
    assert [round(each.seconds) for each in found["n3"].outages] == [7200]
    assert [each.reboot for each in found["n4"].outages] == [True]
    assert [round(each.seconds) for each in found["n5"].outages] == [1800]
    assert found["n1"].outages == ()
    assert found["n3"].time.share == pytest.approx(20 / 24, abs=1e-4)


async def test_a_whole_cluster_that_is_down_stops_nothing(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    everybody = set(map(str, played.fabric.nodes))
    for stage in (FailedAt.UNREACHABLE, FailedAt.TIMEOUT):
        played.nodes.stages.update(dict.fromkeys(everybody, stage))
    played.at(4, lambda: played.nodes.down.update(everybody))
    played.at(8, played.nodes.down.clear)
    assert await played.watch.run()
    assert played.evaluated().system.time.down == pytest.approx(10 * 4 * 1800.0, abs=10.0)


async def test_after_a_kill_it_goes_on_by_the_same_schedule_and_the_gap_is_in_the_record(
    memory_path: Path, store: Store
) -> None:
    played = Played(memory_path, store)
    dying = Store.open(memory_path / "sessions.db")
    played.watch = played.another(dying)
    running = await played.until_it_waits_for(10)
    running.cancel()  # nothing of it is told to the record, as by kill -9
    with pytest.raises(asyncio.CancelledError):
        await running
    key = played.watch.id
    assert store.session(key).describe().state is SessionState.RUNNING
    dying.close()
    assert store.session(key).describe().state is SessionState.INTERRUPTED

    played.clock.stuck, played.clock.at = None, T0 + 13.4 * 1800.0
    played.watch = played.another()
    played.watch.take_up(key)
    assert await played.watch.run()
    assert [each.number for each in played.taken] == [*range(10), *range(14, 25)]
    time = played.evaluated().nodes[0].time
    assert time.unsampled == pytest.approx(4 * 1800.0, abs=1.0)
    assert time.worst == pytest.approx(20 / 24, abs=1e-4)
    assert played.evaluated().level is Level.UNKNOWN
    assert store.session(key).describe().state is SessionState.COMPLETE


async def test_a_sample_that_was_cut_short_is_the_first_of_the_next_stretch(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    running = await played.until_it_waits_for(5)
    left = played.watch._planned(5)
    await store.session(played.watch.id).extend_plan(left)
    await store.session(played.watch.id).begin_round(left[0].number, at=played.clock.now())
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    played.clock.stuck, played.clock.at = None, T0 + 7.5 * 1800.0
    key = played.watch.id
    played.watch = played.another()
    played.watch.take_up(key)
    assert await played.watch.run()
    assert [each.number for each in played.taken] == [*range(5), 7, *range(8, 25)]
    assert store.session(key).describe().state is SessionState.COMPLETE
    assert not store.session(key).read_open_rounds(played.fabric)
    assert played.evaluated().nodes[0].time.unsampled == pytest.approx(2.5 * 1800.0, abs=1.0)


async def test_nobody_else_takes_a_watch_that_is_waited_for(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    running = await played.until_it_waits_for(3)
    with Store.open(memory_path / "sessions.db") as other:
        second = played.another(other)
        second.take_up(played.watch.id)
        with pytest.raises(DrivenError):
            await second.run()
    played.watch.stop()
    assert not await running


async def test_stopping_while_it_waits_says_so_in_the_record(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    played.at(7, played.watch.stop)
    assert not await played.watch.run()
    found = store.session(played.watch.id).describe()
    assert (found.state, found.because) == (SessionState.INTERRUPTED, STOPPED)
    assert len(played.taken) == 7


async def test_stopping_amid_a_sample_keeps_what_it_gave(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    remote = played.nodes.remote

    async def last(node: object) -> object:
        if len(played.taken) == 3:
            played.watch.stop()
            await asyncio.Event().wait()
        return await remote(node)  # type: ignore[arg-type]

    played.nodes.remote = last  # type: ignore[assignment, method-assign]
    assert not await played.watch.run()
    assert store.session(played.watch.id).describe().because == STOPPED
    assert store.session(played.watch.id).describe().rounds == 4
    assert len(store.session(played.watch.id).list_closed_rounds()) == 3


async def test_a_sample_that_takes_longer_than_the_pace_misses_those_in_between_but_never_the_last(
    memory_path: Path, store: Store
) -> None:
    played = Played(memory_path, store)
    took = {10: 2.5, 23: 3.0}

    def tell(told: object) -> None:
        assert isinstance(told, TakenSample)
        played.taken.append(told)
        played.clock.at += 1800 * took.get(told.number, 0)

    played.watch.tell = tell
    await played.watch.run()
    assert [each.number for each in played.taken] == [*range(11), *range(13, 24), 24]


async def test_a_watch_that_is_over_is_not_taken_up_again(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    await played.watch.run()
    again = played.another()
    again.take_up(played.watch.id)
    assert await again.run()
    assert len(played.taken) == 25
    assert store.session(again.id).describe().state is SessionState.COMPLETE


async def test_the_end_is_sampled_although_the_console_came_back_after_it(memory_path: Path, store: Store) -> None:
    played = Played(memory_path, store)
    played.at(24, played.watch.stop)
    await played.watch.run()
    played.clock.at = T0 + 24.5 * 1800.0
    again = played.another()
    again.take_up(played.watch.id)
    assert await again.run()
    assert played.taken[-1].number == 24
    assert played.evaluated().level is Level.PASS


async def test_only_a_watch_can_be_taken_up(memory_path: Path, store: Store) -> None:
    key = await store.create_session(new("other"), ())
    with pytest.raises(PlanError, match="is no watch"):
        Played(memory_path, store).watch.take_up(key)


def test_what_one_sample_asks(memory_path: Path) -> None:
    own = SMALL + '  gateway:\n    - {probe: availability, nodes: "st[1-2]", port: 443}\n'
    described = fabric(memory_path, own)
    assert len(find_watched_suite(described, None).stages[0].nodes) == 10
    assert find_watched_suite(described, "gateway").stages[0].options == {"port": 443}
    with pytest.raises(PlanError, match="found iperf3"):
        find_watched_suite(described, "default")
    with pytest.raises(PlanError, match="no such suite"):
        find_watched_suite(described, "gatewya")
    named = fabric(memory_path, own.replace("gateway:", "availability:"))
    assert find_watched_suite(named, None).stages[0].options == {"port": 443}


async def test_the_wall_clock_waits_for_what_is_to_come_and_not_for_what_has_passed() -> None:
    clock = SystemClock()
    due = clock.now() + 0.01
    await clock.until(due)
    assert clock.now() >= due
    await clock.until(0.0)


# -- the verdict in the list of sessions


async def make_whole(played: Played) -> None:
    assert await played.watch.run()


async def stop_early(played: Played) -> None:
    played.at(7, played.watch.stop)
    assert not await played.watch.run()


async def go_on_after_stop(played: Played) -> None:
    await stop_early(played)
    played.watch = played.another()
    played.watch.take_up(played.store.find_session("last"))
    assert await played.watch.run()


async def be_late_for_the_end(played: Played) -> None:
    """The end was sampled, by a console that was killed before it could say so."""
    await make_whole(played)
    await played.store.session(played.watch.id).claim()
    await played.store.session(played.watch.id).end(at=played.clock.now(), complete=True)
    played.watch = played.another()
    played.watch.take_up(played.store.find_session("last"))
    assert await played.watch.run()


@pytest.mark.parametrize(
    ("take", "tested", "missing"),
    [
        (make_whole, 250, (SAMPLES,)),
        (stop_early, 70, (SAMPLES, f"the session did not come to its end: {STOPPED}")),
        (go_on_after_stop, 240, (SAMPLES,)),  # one was due meanwhile
        (be_late_for_the_end, 250, (SAMPLES,)),
    ],
)
async def test_the_verdict_on_all_samples_is_stored_at_the_end(
    memory_path: Path,
    store: Store,
    take: Callable[[Played], Coroutine[None, None, None]],
    tested: int,
    missing: tuple[str, ...],
) -> None:
    played = Played(memory_path, store)
    await take(played)
    (line,) = store.list_sessions()
    shown = decide(Session.stored(store, line.id, PROBES).view())
    assert line.verdict == make_stored_verdict(shown)
    assert line.verdict.missing[1:] == missing  # beside the criterion of the file that no sample is of
    assert f"{tested} of {tested} planned tests gave a result" in line.verdict.sentence


async def test_a_node_that_was_down_is_in_the_verdict_and_a_watch_under_way_has_none(
    memory_path: Path, store: Store
) -> None:
    played = Played(memory_path, store)
    played.nodes.down.add("n3")
    verdicts: list[StoredVerdict | None] = []
    tell = played.watch.tell

    def look(told: object) -> None:
        tell(told)  # type: ignore[arg-type]
        verdicts.extend(line.verdict for line in store.list_sessions())

    played.watch.tell = look
    await played.watch.run()
    assert verdicts == [None] * 25
    (line,) = store.list_sessions()
    assert line.verdict is not None
    assert line.verdict.missing[0] == "25 tests could not reach the node: n3"
