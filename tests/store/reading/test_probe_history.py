"""The outcomes of the tests of one probe, in few columns: every attempt, closed or not."""

from pathlib import Path

from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Fact, FailedAt, Failure, Reading, Result, Round, Target, Test
from benchconsole.store.model import ProbeOutcome
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests.store.played import NODES, append_round, new


def planned(number: int, probe: str) -> Round:
    tests = tuple(Test(f"{number}.{node.id}", probe, Target(node), number) for node in NODES[:3])
    return Round(number, probe, probe, tests, 1.0, "")


def up(test: Test, at: float) -> Result:
    reading = Reading("availability.up", 1.0, Unit.ONE)
    facts = (Fact("boot.id", "b"), Fact("boot.uptime", 5.0, Unit.SECOND))
    return Result(test, (), (replace(reading, id=f"{test.id}#0", at=at),), facts, started=at)


def lost(test: Test, at: float) -> Result:
    return Result(test, failure=Failure(FailedAt.LOST, "gone", test.target.node.id), started=at)


async def test_every_attempt_is_there_in_order(tmp_path: Path) -> None:
    first, other, second = planned(1, "availability"), planned(2, "ping"), planned(3, "availability")
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), (first, other, second))
        results = (
            up(first.tests[0], 10.0),
            lost(first.tests[1], 10.5),
            replace(lost(first.tests[2], 11.0), failure=None),
        )
        closed = ClosedRound(first, results, CloseReason.COMPLETE, 10.0, 12.0)
        await append_round(store.session(key), closed, (), judged_by="j")
        begun = await store.session(key).begin_round(2, at=15.0)
        await store.session(key).append_result(2, begun, lost(other.tests[0], 15.0))
        begun = await store.session(key).begin_round(3, at=20.0)
        await store.session(key).append_result(3, begun, up(second.tests[0], 20.0))
        begun = await store.session(key).begin_round(3, at=30.0)
        await store.session(key).append_result(3, begun, lost(second.tests[0], 30.0))
        found = list(store.session(key).read_outcomes("availability"))
    facts: dict[str, str | float] = {"boot.id": "b", "boot.uptime": 5.0}
    assert found == [
        ProbeOutcome("n1", 10.0, None, (("availability.up", 1.0),), facts),
        ProbeOutcome("n2", 10.5, FailedAt.LOST),
        ProbeOutcome("n3", 11.0, None),
        ProbeOutcome("n1", 20.0, None, (("availability.up", 1.0),), facts),
        ProbeOutcome("n1", 30.0, FailedAt.LOST),
    ]
