"""Sessions: how they are named, how they stand, who drives them, and how they are judged again."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NoReturn, cast

import pytest

from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level
from benchconsole.probes.model.measuring import FailedAt, Round
from benchconsole.store.errors import ConflictError, DrivenError, RefusedError, StoreError, UnknownSessionError
from benchconsole.store.files import ownership
from benchconsole.store.reading.report_reading import read_report_basis
from benchconsole.store.reading.session_list import asking_session, count_nodes
from benchconsole.store.reading.session_reading import read_plan_after
from benchconsole.store.session_summary import SessionState
from benchconsole.store.sqlite import Connection
from benchconsole.store.store import Store
from benchconsole.store.writing.write_queue import FunctionJob
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, Node, NodeId
from tests import plain_sqlite
from tests.store.played import FABRIC, NODES, append_round, closed, failed, measured, new, numbers, planned, verdicts


def count_verdicts(path: Path, *levels: str) -> tuple[int, ...]:
    """Sums over the last judgement of the last attempt at each round, straight from the file."""
    sums = ", ".join(f"sum({level})" for level in levels)
    last = "SELECT max(judging.id) FROM judging JOIN attempt ON attempt.id = attempt_id GROUP BY round_id"
    with closing(plain_sqlite.connect(path)) as connection:
        (found,) = connection.execute(f"SELECT {sums} FROM judging WHERE id IN ({last})")  # noqa: S608 - names of ours
    return tuple(found)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


async def test_another_label_is_noted_and_makes_kept_reports_void(path: Path) -> None:
    with Store.open(path) as store:
        key = await store.create_session(new("before"), [planned(1)])
        basis = read_report_basis(store.session(key))
        await store.change_label(key, "tuned", "ann", 5.0)
        assert store.find_session("tuned") == key
        assert read_report_basis(store.session(key)) != basis
        assert [(note.kind, note.text) for note in store.session(key).read_notes()] == [
            ("label", "before became tuned, by ann")
        ]
        with pytest.raises(RefusedError, match="means the latest sessions"):
            await store.change_label(key, "last-2", "ann", 6.0)
        with pytest.raises(UnknownSessionError):
            await store.change_label("00000000", "x", "ann", 6.0)
        assert [each.label for each in store.list_sessions()] == ["tuned"]


async def test_nodes_are_counted_once_whatever_their_part_in_tests_is(path: Path) -> None:
    with Store.open(path) as store:
        pairs = await store.create_session(new(), [planned(1), planned(2)])
        few = await store.create_session(new(), [planned(1, pairs=1)])
        nothing = await store.create_session(new(), [])
        assert count_nodes(store.database) == {pairs: 8, few: 2}
        assert nothing not in count_nodes(store.database)


async def test_the_list_counts_tests_and_verdicts_of_the_last_attempt(path: Path) -> None:
    first, second, third = planned(1), planned(2), planned(3)
    with Store.open(path) as store:
        key = await store.create_session(new("before"), [first, second, third])
        cancelled = [measured(first.tests[0]), failed(first.tests[1], FailedAt.CANCELLED)]
        await append_round(
            store.session(key),
            closed(first, cancelled, CloseReason.STOPPED),
            verdicts(first, Level.FAIL),
            judged_by="j",
        )
        (line,) = store.list_sessions()
        assert (line.tested, line.failed, line.unreachable, line.skipped) == (1, 0, 0, 3)
        assert count_verdicts(path, "fails", "watches", "unknowns", "passes") == (4, 0, 0, 0)

        await append_round(store.session(key), closed(first), verdicts(first, Level.WATCH), judged_by="j")
        mixed = [
            measured(second.tests[0]),
            failed(second.tests[1]),
            failed(second.tests[2], FailedAt.LOGIN),
            failed(second.tests[3], FailedAt.UNREACHABLE),
        ]
        await append_round(store.session(key), closed(second, mixed), verdicts(second, Level.UNKNOWN), judged_by="j")
        (line,) = store.list_sessions()
        assert (line.id, line.label, line.fabric, line.suite) == (key, "before", "toy", "default")
        assert (line.rounds, line.rounds_closed, line.planned) == (3, 2, 12)
        assert (line.tested, line.failed, line.unreachable, line.skipped) == (5, 1, 2, 0)
        assert count_verdicts(path, "fails", "watches", "unknowns", "passes") == (0, 4, 4, 0)
        assert store.session(key).list_closed_rounds() == {(1, 1), (1, 2), (2, 1)}
        assert [stored.attempt for stored in store.session(key).read_rounds(FABRIC)] == [1, 2, 1]
        assert [found["current"] for found in numbers(path)] == [False, True, True, True, True, True]


async def test_names_of_a_session(path: Path) -> None:
    with Store.open(path) as store:
        with pytest.raises(UnknownSessionError, match="there are 0 sessions"):
            store.find_session("last")
        keys = [await store.create_session(new(label), []) for label in ("before", "after", "after", "")]
        assert store.find_session("last") == keys[3]
        assert store.find_session("last-3") == keys[0]
        assert store.find_session("before") == keys[0]
        assert [store.find_session(key) for key in keys] == keys
        shortest = next(n for n in range(1, 9) if len({key[:n] for key in keys}) == 4)
        assert store.find_session(keys[1][:shortest]) == keys[1]
        with pytest.raises(UnknownSessionError, match="names 2 sessions") as several:
            store.find_session("after")
        assert several.value.near == tuple(keys[1:3])
        with pytest.raises(UnknownSessionError, match="did you mean before") as none:
            store.find_session("befor")
        assert none.value.near == ("before",)
        for name in ("last-4", "", "zz", "lost-1"):
            with pytest.raises(UnknownSessionError):
                store.find_session(name)
        with pytest.raises(RefusedError, match="choose another label"):
            await store.create_session(new("last-1"), [])
        with pytest.raises(UnknownSessionError):
            store.session("none").describe()


async def test_judging_again_adds_and_the_last_one_counts(path: Path) -> None:
    each = planned(1)
    with Store.open(path) as store:
        key = await store.create_session(new(), [each])
        await append_round(store.session(key), closed(each), verdicts(each, Level.FAIL), judged_by="criteria 1")
        await store.session(key).end(at=2000.0, complete=True)
    with Store.open(path) as store:
        await store.session(key).append_verdicts({(1, 1): verdicts(each, Level.PASS)[:1]}, judged_by="criteria 2")
        (stored,) = store.session(key).read_rounds(FABRIC)
        assert (stored.judged_by, stored.verdicts) == ("criteria 2", verdicts(each)[:1])
        assert count_verdicts(path, "fails", "passes") == (0, 1)
        with pytest.raises(ConflictError, match="was judged by criteria 1 before"):
            await store.session(key).append_verdicts({(1, 1): ()}, judged_by="criteria 1")
        with pytest.raises(ConflictError, match="is not stored"):
            await store.session(key).append_verdicts({(1, 1): (), (1, 2): ()}, judged_by="criteria 3")
        assert next(store.session(key).read_rounds(FABRIC)).judged_by == "criteria 2"  # not by half


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
                await append_round(store.session(key), bad, (), judged_by="j")
        with pytest.raises(ConflictError, match="stands under round 1"):
            await append_round(store.session(key), closed(each), verdicts(other), judged_by="j")
        attempt = await append_round(store.session(key), closed(each), (), judged_by="j")
        assert store.session(key).list_closed_rounds() == {(1, attempt)}
        for plan in ([each, each], [each, Round(2, "s", "iperf3", each.tests, 1.0, "")]):
            with pytest.raises(ConflictError):
                await store.create_session(new(), plan)
        assert len(store.list_sessions()) == 1


async def test_a_plan_can_grow_before_more_is_run(path: Path) -> None:
    first, second = planned(1), planned(2, pairs=2)
    with Store.open(path) as store:
        key = await store.create_session(new(), [first])
        await append_round(store.session(key), closed(first), verdicts(first), judged_by="j")
        await store.session(key).extend_plan([second])
        for bad in ([first], [planned(3), planned(3)], [Round(3, "s", "iperf3", second.tests, 1.0, "")]):
            with pytest.raises(ConflictError):
                await store.session(key).extend_plan(bad)
        assert store.session(key).read_plan(FABRIC) == (first, second)
        (line,) = store.list_sessions()
        assert (line.rounds, line.rounds_closed, line.planned, line.tested) == (2, 1, 6, 4)
        await append_round(store.session(key), closed(second), verdicts(second), judged_by="j")
        assert store.session(key).list_closed_rounds() == {(1, 1), (2, 1)}
        await store.session(key).end(at=2000.0, complete=True)
        with pytest.raises(DrivenError):
            await store.session(key).extend_plan([planned(3)])


@pytest.mark.parametrize(("began", "started"), [(None, 1000.0), (900.0, 900.0), (1100.0, 1000.0)])
async def test_a_session_begins_no_later_than_what_is_added(path: Path, began: float | None, started: float) -> None:
    with Store.open(path) as store:
        session = store.session(await store.create_session(new(), [planned(1)]))
        assert session.describe().new.started == 1000.0
        await session.extend_plan([planned(2)], began=began)
        assert session.describe().new.started == started


async def test_a_plan_needs_the_nodes_it_was_made_for(path: Path) -> None:
    fewer = Fabric("cut", {NODES[0].id: NODES[0]}, {}, {}, (), {}, FABRIC.access, 1500, "")
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])
        with pytest.raises(ConflictError, match="n2, n3, n4, n5"):
            store.session(key).read_plan(fewer)
        with pytest.raises(ConflictError, match="topology that is stored"):
            next(store.session(key).read_rounds(fewer))


class NodesByName(dict[NodeId, Node]):
    """Nodes that can be asked for by name, and not gone through."""

    def keys(self) -> NoReturn:
        raise AssertionError("all nodes of the fabric were gone through")

    values = items = __iter__ = keys


async def test_reading_a_plan_does_not_go_through_the_fabric(path: Path) -> None:
    by_name = Fabric("same", NodesByName(FABRIC.nodes), {}, {}, (), {}, FABRIC.access, 1500, "")
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1), planned(2)])
        assert store.session(key).read_plan(by_name) == (planned(1), planned(2))


def test_a_plan_that_grows_while_it_is_read_has_no_round_without_its_tests(path: Path) -> None:
    with Store.open(path) as store:
        session = store.session(asyncio.run(store.create_session(new(), [planned(1)])))
        with asking_session(session.database, session.id) as (connection, number):
            growing = GrowingPlan(connection, lambda: asyncio.run(session.extend_plan([planned(2)])))
            read = read_plan_after(session, cast(Connection, growing), number, FABRIC)
        assert tuple(read.values()) == (planned(1),)
        assert session.read_plan(FABRIC) == (planned(1), planned(2))


class GrowingPlan:
    """A connection between whose first and second question somebody plans more."""

    def __init__(self, connection: Connection, grow: Callable[[], None]) -> None:
        self._connection = connection
        self._rest = [lambda: None, grow]

    def execute(self, statement: str, values: tuple[object, ...]) -> object:
        self._rest.pop(0)()
        return self._connection.execute(statement, values)


async def test_rounds_are_those_of_a_plan_that_was_read_as_long_as_it_is_the_plan(path: Path) -> None:
    with Store.open(path) as store:
        session = store.session(await store.create_session(new(), [planned(1)]))
        plan = session.read_plan(FABRIC)
        await append_round(session, closed(planned(1)), verdicts(planned(1)), judged_by="j")
        (stored,) = session.read_rounds(FABRIC, plan=plan)
        assert stored.round is plan[0]
        assert stored.results[0].test is plan[0].tests[0]
        await session.extend_plan([planned(2)])
        await append_round(session, closed(planned(2)), verdicts(planned(2)), judged_by="j")
        assert list(session.read_rounds(FABRIC, plan=plan)) == list(session.read_rounds(FABRIC))


@pytest.mark.fault("F28")
async def test_a_session_is_driven_by_one(path: Path) -> None:
    each = planned(1)
    with Store.open(path) as one, Store.open(path) as two:
        key = await one.create_session(new(), [each])
        assert two.list_sessions()[0].state is SessionState.RUNNING
        await one.session(key).claim()
        with pytest.raises(DrivenError, match="driven by process"):
            await two.session(key).claim()
        with pytest.raises(DrivenError, match="not by this console"):
            await append_round(two.session(key), closed(each), (), judged_by="j")
        with pytest.raises(DrivenError):
            await two.session(key).end(at=1.0, complete=True)
        await one.session(key).end(at=2000.0, complete=False, because="stopped with ctrl-c")
        found = two.session(key).describe()
        assert (found.state, found.ended, found.because) == (SessionState.INTERRUPTED, 2000.0, "stopped with ctrl-c")
        with pytest.raises(DrivenError, match="driven by nobody"):
            await append_round(one.session(key), closed(each), (), judged_by="j")
        await two.session(key).claim()
        await append_round(two.session(key), closed(each), (), judged_by="j")
        await two.session(key).end(at=3000.0, complete=True)
        assert one.session(key).describe().state is SessionState.COMPLETE
        assert one.list_sessions()[0].ended == 3000.0


async def test_closing_lets_go(path: Path) -> None:
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])
    store.close()
    with Store.open(path) as store:
        assert store.session(key).describe().state is SessionState.INTERRUPTED
        assert store.session(key).describe().because == "the console was closed"
        await store.session(key).claim()
        assert store.session(key).describe().state is SessionState.RUNNING


async def test_a_driver_elsewhere_counts_as_dead_after_a_long_silence(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    each = planned(1)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("benchconsole.store.files.ownership.this_host", lambda: "other")
        far = Store.open(path, clock=lambda: now[0])
    with Store.open(path, clock=lambda: now[0]) as here:
        key = await far.create_session(new(), [each])
        now[0] += ownership.SILENCE_SECONDS
        assert here.session(key).describe().state is SessionState.RUNNING
        with pytest.raises(DrivenError, match="on other"):
            await here.session(key).claim()
        now[0] += 1
        assert here.session(key).describe().state is SessionState.INTERRUPTED
        await here.session(key).claim()
        # It was only asleep: what it writes now would come on top of ours.
        with pytest.raises(DrivenError):
            await append_round(far.session(key), closed(each), (), judged_by="j")
        await append_round(here.session(key), closed(each), (), judged_by="j")
        far.close()
        assert here.session(key).describe().state is SessionState.RUNNING


@pytest.mark.fault("F32")
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
            await append_round(drives.session(first), whole, verdicts(each), judged_by="j")
            now[0] += jump
        assert looks.session(first).describe().state is SessionState.RUNNING  # its process is asked, not its clock
        with pytest.raises(DrivenError, match="driven by process"):
            await looks.session(first).claim()
        second = await drives.create_session(new("second", started=now[0]), [])
        assert [line.id for line in looks.list_sessions()] == [first, second]
        stored = list(looks.session(first).read_rounds(FABRIC))
        assert [each.round.number for each in stored] == [1, 2, 3]
        assert {(result.seconds, result.drift) for each in stored for result in each.results} == {(10.25, jump)}


async def test_a_closed_store_says_so(path: Path) -> None:
    store = Store.open(path)
    key = await store.create_session(new(), [])
    writer = store._writer
    store.close()
    assert writer is not None
    with pytest.raises(StoreError, match="was closed"):
        await writer.do(FunctionJob(lambda _: None))
    assert store.session(key).describe().rounds == 0  # looking goes on


async def test_an_idle_driver_is_heard(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "HEARTBEAT_SECONDS", 0.01)
    ticks = iter(range(1, 10**9))
    with Store.open(path, clock=lambda: float(next(ticks))) as store:
        key = await store.create_session(new(), [])
        seen: set[tuple[float]] = set()
        while len(seen) < 3:  # each look sees a later heartbeat, without any write of ours
            with store.database.reading() as connection:
                seen.add(connection.execute("SELECT heartbeat FROM driver").fetchone())
        assert store.session(key).describe().state is SessionState.RUNNING
