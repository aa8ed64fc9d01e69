"""A fabric, a plan and closed rounds that the tests of the store share, without any network."""

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import (
    Bundle,
    Fact,
    FailedAt,
    Failure,
    Output,
    Reading,
    Result,
    Round,
    Target,
    Test,
    labels,
)
from benchconsole.store.model import NewSession, Options
from benchconsole.store.session_store import SessionStore
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import Direction, Fabric, Hardware, LinkId, Node, NodeId, NodeRole
from benchconsole.topology.units import Shown, Unit
from tests import plain_sqlite

HARDWARE = Hardware("blade")
NODES = tuple(Node(NodeId(f"n{i}"), NodeRole.COMPUTE, HARDWARE, f"10.0.0.{i}", f"10.1.0.{i}") for i in range(1, 9))
FABRIC = Fabric(
    name="toy",
    nodes=MappingProxyType({node.id: node for node in NODES}),
    switches=MappingProxyType({}),
    links=MappingProxyType({}),
    criteria=(),
    suites=MappingProxyType({}),
    access=Access(),
    mtu=1500,
    text="schema: 1\nfabric: toy\n",
)


def new(label: str = "", started: float = 1000.0) -> NewSession:
    """A session on the toy fabric."""
    return NewSession(FABRIC.text, "toy.yaml", FABRIC.name, "default", started, label=label, program="0.1.0")


def planned(number: int, *, pairs: int = 4, probe: str = "iperf3") -> Round:
    """A round of ``pairs`` tests from the first half of the nodes to the second."""
    options: Options = MappingProxyType({"seconds": 10, "window": "4 MB", "share": 0.5})
    tests = tuple(
        Test(f"{number}.{i}", probe, Target(NODES[i], NODES[i + 4], options), number, "trunk") for i in range(pairs)
    )
    bundle = Bundle("trunk", (Direction(LinkId("leaf1-spine1"), "leaf1"),))
    return Round(number, "neighbours", probe, tests, 12.5, "pairs next to each other", (bundle,))


def measured(test: Test, value: float = 1.17e9, said: bytes = b"[ 5] 9.4 Gbits/sec\xff\x00") -> Result:
    """A result with everything in it."""
    reading = Reading("iperf3.throughput", value, Unit.BYTE_RATE, labels(direction="out"), "9.4 Gbits/sec")
    return Result(
        test,
        (Output(("iperf3", "-c", "10.1.0.5"), said, b"", 0, None, 10.1, False, test.target.node.id),),
        (replace(reading, id=f"{test.id}#0", at=1001.5),),
        (Fact("tool.version", "3.12"), Fact("memory.total", 1.5e11, Unit.BYTE, labels(node="a"))),
        None,
        1001.0,
        10.25,
    )


def failed(test: Test, stage: FailedAt = FailedAt.TIMEOUT) -> Result:
    """A result without a number."""
    return Result(test, failure=Failure(stage, "no answer in 20 s", test.target.node.id), started=1001.0, seconds=20.0)


def closed(
    each: Round, results: Sequence[Result] | None = None, reason: CloseReason = CloseReason.COMPLETE
) -> ClosedRound:
    """``each`` run, all tests measured unless ``results`` are given."""
    if results is None:
        results = tuple(measured(test) for test in each.tests)
    return ClosedRound(each, tuple(results), reason, 1000.5, 1012.0)


def verdicts(each: Round, level: Level = Level.PASS) -> tuple[Verdict, ...]:
    """One verdict for each test of the round."""
    return tuple(
        Verdict(
            test=test.id,
            round=each.number,
            probe=each.probe,
            subject=test.target.key,
            nodes=tuple(node.id for node in test.target.nodes),
            metric="iperf3.throughput",
            labels=labels(direction="out"),
            level=level,
            kind=Yardstick.CAPACITY,
            because="1.17 GB/s of 1.18 GB/s",
            unit=Unit.BYTE_RATE,
            shown=Shown.NETWORK,
            value=1.17e9,
            expected=1.18e9,
            required=0.94e9,
            least=0.59e9,
            source="suite",
            limiting=f"{test.target.node.id}-leaf1",
            evidence=(f"{test.id}#0",),
        )
        for test in each.tests
    )


async def append_round(
    session: SessionStore, found: ClosedRound, judged: tuple[Verdict, ...], *, judged_by: str
) -> int:
    """Begin a round and close it with its results; the number of the attempt."""
    attempt = await session.begin_round(found.round.number, at=found.started)
    await session.close_round(replace(found, verdicts=judged, attempt=attempt, judged_by=judged_by))
    return attempt


async def write_nothing(store: Store) -> None:
    """Make an empty transaction: StoreError while the database takes no writes."""
    await store._writer.run(lambda _: None)


def numbers(path: Path) -> list[dict[str, Any]]:
    """Every stored number of the database at ``path``, as other tools see it, by attempt and round."""
    with contextlib.closing(plain_sqlite.connect(path, named=True)) as connection:
        return connection.execute(
            "SELECT * FROM v_measurement ORDER BY session, attempt, round, measurement"
        ).fetchall()


async def fill(path: Path, rounds: int = 3) -> str:
    """Store a session of ``rounds`` rounds in the database at ``path``; its id."""
    plan = [planned(number) for number in range(1, rounds + 1)]
    with Store.open(path) as store:
        key = await store.create_session(new("kept"), plan)
        for each in plan:
            await append_round(store.session(key), closed(each), verdicts(each), judged_by="j")
    return key


def fork(work: Callable[[], object]) -> int:
    """Run ``work`` in a child of this process and return its pid; whatever happens, it ends there."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)  # no exit handlers and no pytest in the child


def names(folder: Path) -> list[str]:
    """The sorted names of the files in ``folder``; without journals, which depend on the file system."""
    return sorted(file.name for file in folder.iterdir() if not file.name.endswith(("-journal", "-wal", "-shm")))


def ended(pid: int) -> int:
    """Wait for a child and return its status as ``os.waitpid`` gives it."""
    return os.waitpid(pid, 0)[1]
