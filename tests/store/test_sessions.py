"""Sessions: how they are named, how they stand, who drives them, and how they are judged again."""

from dataclasses import replace
from pathlib import Path

import pytest

from probes.judging.verdict import Level
from probes.model import ClosedRound, CloseReason, FailedAt, Round
from store import driving
from store.errors import ConflictError, DrivenError, RefusedError, StoreError, UnknownSessionError
from store.model import SessionState
from store.pieces import Work
from store.store import Store
from tests.store.played import FABRIC, NODES, closed, failed, measured, new, planned, verdicts
from topology.model import Fabric


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


async def test_the_list_counts_tests_and_verdicts_of_the_last_attempt(path: Path) -> None:
    first, second, third = planned(1), planned(2), planned(3)
    with Store.open(path) as store:
        key = await store.create_session(new("before"), [first, second, third])
        cancelled = [measured(first.tests[0]), failed(first.tests[1], FailedAt.CANCELLED)]
        await store.append_round(
            key, closed(first, cancelled, CloseReason.CANCELLED), verdicts(first, Level.FAIL), judged_by="j"
        )
        (line,) = store.sessions()
        assert (line.tested, line.failed, line.unreachable, line.skipped) == (1, 0, 0, 3)
        assert (line.fails, line.watches, line.unknowns, line.passes) == (4, 0, 0, 0)
        assert store.complete_rounds(key) == frozenset()

        await store.append_round(key, closed(first), verdicts(first, Level.WATCH), attempt=2, judged_by="j")
        mixed = [
            measured(second.tests[0]),
            failed(second.tests[1]),
            failed(second.tests[2], FailedAt.LOGIN),
            failed(second.tests[3], FailedAt.UNREACHABLE),
        ]
        await store.append_round(key, closed(second, mixed), verdicts(second, Level.UNKNOWN), judged_by="j")
        (line,) = store.sessions()
        assert (line.id, line.label, line.fabric, line.suite) == (key, "before", "toy", "default")
        assert (line.rounds, line.rounds_closed, line.planned) == (3, 2, 12)
        assert (line.tested, line.failed, line.unreachable, line.skipped) == (5, 1, 2, 0)
        assert (line.fails, line.watches, line.unknowns, line.passes) == (0, 4, 4, 0)
        assert store.closed_rounds(key) == {(1, 1), (1, 2), (2, 1)}
        assert store.complete_rounds(key) == {1, 2}
        assert [stored.attempt for stored in store.rounds(key, FABRIC)] == [1, 2, 1]
        assert [found.current for found in store.measurements(key)] == [False] + [True] * 5


async def test_names_of_a_session(path: Path) -> None:
    with Store.open(path) as store:
        with pytest.raises(UnknownSessionError, match="there are 0 sessions"):
            store.find("last")
        keys = [await store.create_session(new(label), []) for label in ("before", "after", "after", "")]
        assert store.find("last") == keys[3]
        assert store.find("last-3") == keys[0]
        assert store.find("before") == keys[0]
        assert [store.find(key) for key in keys] == keys
        shortest = next(n for n in range(1, 9) if len({key[:n] for key in keys}) == 4)
        assert store.find(keys[1][:shortest]) == keys[1]
        with pytest.raises(UnknownSessionError, match="names 2 sessions") as several:
            store.find("after")
        assert several.value.near == tuple(keys[1:3])
        with pytest.raises(UnknownSessionError, match="did you mean before") as none:
            store.find("befor")
        assert none.value.near == ("before",)
        for name in ("last-4", "", "zz", "lost-1"):
            with pytest.raises(UnknownSessionError):
                store.find(name)
        with pytest.raises(RefusedError, match="choose another label"):
            await store.create_session(new("last-1"), [])
        with pytest.raises(UnknownSessionError):
            store.session("none")


async def test_judging_again_adds_and_the_last_one_counts(path: Path) -> None:
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        await store.append_round(key, closed(each), verdicts(each, Level.FAIL), judged_by="criteria 1")
        await store.end_session(key, at=2000.0, complete=True)
    with Store.open(path) as store:
        await store.append_verdicts(key, {(1, 1): verdicts(each, Level.PASS)[:1]}, judged_by="criteria 2")
        (stored,) = store.rounds(key, FABRIC)
        assert (stored.judged_by, stored.verdicts) == ("criteria 2", verdicts(each)[:1])
        assert (store.sessions()[0].fails, store.sessions()[0].passes) == (0, 1)
        with pytest.raises(ConflictError, match="was judged by criteria 1 before"):
            await store.append_verdicts(key, {(1, 1): ()}, judged_by="criteria 1")
        with pytest.raises(ConflictError, match="is not stored"):
            await store.append_verdicts(key, {(1, 1): (), (1, 2): ()}, judged_by="criteria 3")
        assert next(store.rounds(key, FABRIC)).judged_by == "criteria 2"  # not by half


async def test_what_does_not_fit_the_plan_is_refused(path: Path) -> None:
    each, other = planned(1), planned(2)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each, other])
        for bad, why in (
            (closed(planned(3)), "is not of the plan"),
            (closed(planned(1, pairs=3)), "not the one that was planned"),
            (closed(each, [measured(other.tests[0])]), "is not of this round"),
            (closed(each, [measured(each.tests[0]), measured(each.tests[0])]), "comes twice"),
            (closed(each, [failed(each.tests[0]), failed(each.tests[0])]), "comes twice"),
        ):
            with pytest.raises(ConflictError, match=why):
                await store.append_round(key, bad, (), judged_by="j")
        with pytest.raises(ConflictError, match="stands under round 1"):
            await store.append_round(key, closed(each), verdicts(other), judged_by="j")
        await store.append_round(key, closed(each), (), attempt=2, judged_by="j")
        for attempt in (1, 2):
            with pytest.raises(ConflictError, match="comes after attempt 2"):
                await store.append_round(key, closed(each), (), attempt=attempt, judged_by="j")
        assert store.closed_rounds(key) == {(1, 2)}
        for plan in ([each, each], [each, Round(2, "s", "iperf3", each.tests, 1.0, "")]):
            with pytest.raises(ConflictError):
                await store.create_session(new(), plan)
        assert len(store.sessions()) == 1


async def test_a_plan_can_grow_before_more_is_run(path: Path) -> None:
    first, second = planned(1), planned(2, pairs=2)
    with Store.open(path) as store:
        key = await store.create_session(new(), [first])
        await store.append_round(key, closed(first), verdicts(first), judged_by="j")
        await store.extend_plan(key, [second])
        for bad in ([first], [planned(3), planned(3)], [Round(3, "s", "iperf3", second.tests, 1.0, "")]):
            with pytest.raises(ConflictError):
                await store.extend_plan(key, bad)
        assert store.plan(key, FABRIC) == (first, second)
        (line,) = store.sessions()
        assert (line.rounds, line.rounds_closed, line.planned, line.tested) == (2, 1, 6, 4)
        await store.append_round(key, closed(second), verdicts(second), judged_by="j")
        assert store.complete_rounds(key) == {1, 2}
        await store.end_session(key, at=2000.0, complete=True)
        with pytest.raises(DrivenError):
            await store.extend_plan(key, [planned(3)])


async def test_a_plan_needs_the_nodes_it_was_made_for(path: Path) -> None:
    fewer = Fabric("cut", {NODES[0].id: NODES[0]}, {}, {}, (), {}, FABRIC.access, 1500, "")
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])
        with pytest.raises(ConflictError, match="n2, n3, n4, n5"):
            store.plan(key, fewer)
        with pytest.raises(ConflictError, match="topology that is stored"):
            next(store.rounds(key, fewer))


async def test_a_session_is_driven_by_one(path: Path) -> None:
    each = planned(1)
    with Store.open(path) as one, Store.open(path) as two:
        key = await one.create_session(new(), [each])
        assert two.sessions()[0].state is SessionState.RUNNING
        await one.claim(key)
        with pytest.raises(DrivenError, match="driven by process"):
            await two.claim(key)
        with pytest.raises(DrivenError, match="not by this console"):
            await two.append_round(key, closed(each), (), judged_by="j")
        with pytest.raises(DrivenError):
            await two.end_session(key, at=1.0, complete=True)
        await one.end_session(key, at=2000.0, complete=False, because="stopped with ctrl-c")
        found = two.session(key)
        assert (found.state, found.ended, found.because) == (SessionState.INTERRUPTED, 2000.0, "stopped with ctrl-c")
        with pytest.raises(DrivenError, match="driven by nobody"):
            await one.append_round(key, closed(each), (), judged_by="j")
        await two.claim(key)
        await two.append_round(key, closed(each), (), judged_by="j")
        await two.end_session(key, at=3000.0, complete=True)
        assert one.session(key).state is SessionState.COMPLETE
        assert one.sessions()[0].ended == 3000.0


async def test_closing_lets_go(path: Path) -> None:
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])
    store.close()
    with Store.open(path) as store:
        assert store.session(key).state is SessionState.INTERRUPTED
        assert store.session(key).because == "the console was closed"
        await store.claim(key)
        assert store.session(key).state is SessionState.RUNNING


async def test_a_driver_elsewhere_counts_as_dead_after_a_long_silence(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    each = planned(1)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("store.process.this_host", lambda: "other")
        far = Store.open(path, clock=lambda: now[0])
    with Store.open(path, clock=lambda: now[0]) as here:
        key = await far.create_session(new(), [each])
        now[0] += driving.SILENCE_SECONDS
        assert here.session(key).state is SessionState.RUNNING
        with pytest.raises(DrivenError, match="on other"):
            await here.claim(key)
        now[0] += 1
        assert here.session(key).state is SessionState.INTERRUPTED
        await here.claim(key)
        # It was only asleep: what it writes now would come on top of ours.
        with pytest.raises(DrivenError):
            await far.append_round(key, closed(each), (), judged_by="j")
        await here.append_round(key, closed(each), (), judged_by="j")
        far.close()
        assert here.session(key).state is SessionState.RUNNING


@pytest.mark.parametrize("jump", [3600.0, -3600.0, 400 * 86400.0])
async def test_a_clock_that_is_set_changes_no_order_and_no_driver(path: Path, jump: float) -> None:
    now = [100_000_000.0]
    plan = [planned(number) for number in range(1, 4)]
    with Store.open(path, clock=lambda: now[0]) as drives, Store.open(path, clock=lambda: now[0]) as looks:
        first = await drives.create_session(new("first", started=now[0]), plan)
        for each in plan:
            start = now[0]
            results = [replace(measured(test), started=start, seconds=10.25, drift=jump) for test in each.tests]
            whole = ClosedRound(each, tuple(results), CloseReason.COMPLETE, start, start + jump + 10.25)
            await drives.append_round(first, whole, verdicts(each), judged_by="j")
            now[0] += jump
        assert looks.session(first).state is SessionState.RUNNING  # its process is asked, not its clock
        with pytest.raises(DrivenError, match="driven by process"):
            await looks.claim(first)
        second = await drives.create_session(new("second", started=now[0]), [])
        assert [line.id for line in looks.sessions()] == [first, second]
        stored = list(looks.rounds(first, FABRIC))
        assert [each.closed.round.number for each in stored] == [1, 2, 3]
        assert {(result.seconds, result.drift) for each in stored for result in each.closed.results} == {(10.25, jump)}
        found = looks.newest(session=first)
        assert {looks.newest_on(name, session=first)[0].round for name, _ in found.subjects.values()} == {3}


async def test_a_closed_store_says_so(path: Path) -> None:
    store = Store.open(path)
    key = await store.create_session(new(), [])
    writer = store._writer
    store.close()
    assert writer is not None
    with pytest.raises(StoreError, match="was closed"):
        await writer.do(Work(lambda _: None))
    assert store.session(key).rounds == 0  # looking goes on


async def test_an_idle_driver_is_heard(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driving, "HEARTBEAT_SECONDS", 0.01)
    ticks = iter(range(1, 10**9))
    with Store.open(path, clock=lambda: float(next(ticks))) as store:
        key = await store.create_session(new(), [])
        seen: set[tuple[float]] = set()
        while len(seen) < 3:  # each look sees a later heartbeat, without any write of ours
            with store._database.reading() as connection:
                seen.add(connection.execute("SELECT heartbeat FROM driver").fetchone())
        assert store.session(key).state is SessionState.RUNNING
