"""The store at the size of a cluster: what it takes to keep results, to open the file and to ask it.

    python -m benchmarks.store [NODES [RESULTS]]      (10000 nodes, 20000 results for the writing table)

Builds a file with 100 measurements for every node (1,000,000 at 10,000 nodes) through the public
API, prints how long opening, following and reading back take, what facts of many nodes and numbers over
sessions cost beside plain queries that make no objects (CPU, in turn), then how fast
results of 2 kB with 4 measurements are kept: each one acknowledged by ours, against peers that
write the same rows in the same run. Ratios count; the machine may be noisy.
"""

import asyncio
import contextlib
import json
import os
import select
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict, Yardstick
from benchconsole.probes.model.kept_facts import read_facts_together
from benchconsole.probes.model.measuring import Fact, Output, Reading, Result, Round, Target, Test, labels
from benchconsole.store.codec import rows
from benchconsole.store.files.database import Database
from benchconsole.store.model import NewSession
from benchconsole.store.reading.history_reading import (
    read_metric_values,
    read_node_values,
)
from benchconsole.store.reading.lazy_parts import AttemptAddress, read_outputs
from benchconsole.store.reading.session_list import list_sessions
from benchconsole.store.sqlite import Connection, open_connection
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import Fabric, Hardware, Node, NodeId, NodeRole
from benchconsole.topology.units import Unit, counted

_SIZES = [int(given) for given in sys.argv[1:3] if given.isdigit()]
NODES, RESULTS = (*_SIZES, *(10_000, 20_000)[len(_SIZES) :])
PROBES, METRICS, ROUNDS = 3, 10, 10
LATER = 2
"""Further sessions, in each of which every probe has one round."""
FACTS = 20
IN_FLIGHT = (1, 64, 512, 2048)
OFFERED = 1_000
"""Results a second that come whether the last ones are stored or not."""
SAID = bytes(range(32, 127)) * 22


def fabric() -> Fabric:
    nodes = [
        Node(NodeId(f"n{i:05}"), NodeRole.COMPUTE, Hardware("blade"), f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}", "")
        for i in range(NODES)
    ]
    return Fabric("large", {node.id: node for node in nodes}, {}, {}, (), {}, Access(), 1500, "fabric: large\n")


def planned(where: Fabric, number: int, count: int | None = None) -> Round:
    probe = f"probe{number % PROBES}"
    nodes = list(where.nodes.values())[: count or NODES]
    tests = tuple(Test(f"{number}.{node.id}", probe, Target(node), number) for node in nodes)
    return Round(number, probe, probe, tests, 10.0, "every node by itself")


def measured(test: Test, metrics: int) -> Result:
    found = tuple(
        Reading(
            *(f"{test.probe}.metric{i}", 1e9 + i * 1.7, Unit.BYTE_RATE, labels(direction="out"), "9.4 Gbits/sec"),
            id=f"{test.id}#{i}",
            at=1000.5,
        )
        for i in range(metrics)
    )
    node = test.target.node.id
    return Result(
        test, (Output(("tool", "--json"), SAID[:2000], b"", 0, None, 1.0, False, node),), found, (), None, 1e3, 1.0
    )


def judged(each: Round, found: Sequence[Result]) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(
            *(result.test.id, each.number, each.probe, result.test.target.key, (result.test.target.node.id,)),
            *(number.metric, number.labels, Level.PASS, Yardstick.CAPACITY, "1.00 GB/s of 1.05 GB/s"),
            unit=Unit.BYTE_RATE,
            value=number.value,
            expected=1.05e9,
            required=0.95e9,
            source="suite",
            evidence=(number.id,),
        )
        for result in found
        for number in result.measurements
    )


async def keep(store: Store, key: str, attempt: int, found: Iterable[Result], *, in_flight: int) -> list[float]:
    """Hand results over, ``in_flight`` at a time; how long each waited for its acknowledgement."""
    waits: list[float] = []
    left = iter(found)

    async def one() -> None:
        for result in left:
            began = time.perf_counter()
            await store.session(key).append_result(result.test.round, attempt, result)
            waits.append(time.perf_counter() - began)

    await asyncio.gather(*(one() for _ in range(in_flight)))
    return waits


async def keep_offered(store: Store, key: str, attempt: int, found: Sequence[Result]) -> list[float]:
    """Hand results over at ``OFFERED`` a second; how long each waited for its acknowledgement."""
    waits: list[float] = []
    start = time.perf_counter()

    async def one(number: int, result: Result) -> None:
        await asyncio.sleep(start + number / OFFERED - time.perf_counter())
        began = time.perf_counter()
        await store.session(key).append_result(result.test.round, attempt, result)
        waits.append(time.perf_counter() - began)

    await asyncio.gather(*(one(number, result) for number, result in enumerate(found)))
    return waits


async def build(path: Path, where: Fabric, rounds: int = ROUNDS) -> str:
    """A session in which every node gives ``METRICS`` numbers in each round; its id."""
    plan = [planned(where, number) for number in range(1, rounds + 1)]
    with Store.open(path) as store:
        key = await store.create_session(NewSession(where.text, "large.yaml", where.name, "default", 1e3), plan)
        for each in plan:
            attempt = await store.session(key).begin_round(each.number, at=1e3)
            found = [measured(test, METRICS) for test in each.tests]
            await keep(store, key, attempt, found, in_flight=1024)
            closed = ClosedRound(each, tuple(found), CloseReason.COMPLETE, 1e3, 1e3 + 10)
            await store.session(key).close_round(
                replace(closed, verdicts=judged(each, found), attempt=attempt, judged_by="benchmark")
            )
        await store.session(key).end(at=2e3, complete=True)
    return key


def median_of(what: Callable[[], object], times: int = 5) -> float:
    """Median milliseconds."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        what()
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took)


def compare_cpu(ours: Callable[[], object], peer: Callable[[], object], times: int = 7) -> str:
    """Median milliseconds of CPU of both, asked in turn, and their ratio."""
    used: list[tuple[float, float]] = []
    for _ in range(times):
        marks = [time.process_time()]
        for each in (ours, peer):
            each()
            marks.append(time.process_time())
        used.append(((marks[1] - marks[0]) * 1e3, (marks[2] - marks[1]) * 1e3))
    mine, theirs = (statistics.median(of) for of in zip(*used, strict=True))
    times_as_much = statistics.median(one / other for one, other in used)
    return f"{mine:>10.2f} ms of CPU   plain apsw {theirs:.2f}, {times_as_much:.1f} times"


async def first_write(path: Path) -> float:
    began = time.perf_counter()
    with Store.open(path) as store:
        await store.create_session(NewSession("", "", "first write", "default", 1e3), ())
        return (time.perf_counter() - began) * 1e3


def asking(path: Path, key: str, where: Fabric) -> None:
    line = "{:58} {:>10.1f} ms   {}".format
    with Store.open(path) as store:
        print(line("open", median_of(lambda: Store.open(path).close()), "goal: < 1000"))
        print(line("list of sessions", median_of(store.list_sessions), ""))
        mark = store.session(key).read_changes(where).mark
        print(line("news, when there is none", median_of(lambda: store.session(key).read_changes(where, mark), 50), ""))
        print(line(f"plan of {NODES * ROUNDS:,} tests", median_of(lambda: store.session(key).read_plan(where), 3), ""))
        print(
            line(
                "rounds read back without outputs",
                median_of(lambda: [None for _ in store.session(key).read_rounds(where)], 1),
                f"{NODES * ROUNDS:,} results, {NODES * ROUNDS * METRICS:,} verdicts",
            )
        )
    print(line("first write, file as a console left it", asyncio.run(first_write(path)), "every page was read before"))
    os.utime(path)
    print(line("first write, file touched by somebody", asyncio.run(first_write(path)), "every page is read"))


METRIC = "probe1.metric0"

_NUMBERS = """SELECT test.node, measurement.key, measurement.value FROM session
    JOIN round ON round.session_id = session.id JOIN attempt ON attempt.round_id = round.id
    JOIN result ON result.attempt_id = attempt.id JOIN test ON test.id = result.test_id
    JOIN measurement ON measurement.result_id = result.id JOIN metric ON metric.id = measurement.metric_id
    WHERE session.key = ? AND round.number = ? AND metric.name = ?"""
_VERDICTS = """SELECT evidence, level, expected, shown FROM session
    JOIN round ON round.session_id = session.id JOIN attempt ON attempt.round_id = round.id
    JOIN judging ON judging.attempt_id = attempt.id JOIN verdict ON verdict.judging_id = judging.id
    JOIN metric ON metric.id = verdict.metric_id WHERE session.key = ? AND round.number = ? AND metric.name = ?"""
_OF_NODE = """SELECT metric.name, measurement.value, verdict.level, verdict.expected FROM session
    JOIN test ON test.session_id = session.id JOIN attempt ON attempt.round_id = test.round_id
    JOIN result ON result.attempt_id = attempt.id AND result.test_id = test.id
    JOIN measurement ON measurement.result_id = result.id JOIN metric ON metric.id = measurement.metric_id
    JOIN judging ON judging.attempt_id = attempt.id LEFT JOIN verdict
    ON verdict.judging_id = judging.id AND verdict.test = test.key AND verdict.metric_id = metric.id
    WHERE session.key = ? AND test.node = ? AND test.round_id > ?"""


def asking_history(path: Path, keys: Sequence[str], where: Fabric) -> None:
    """Numbers over sessions, beside queries without objects that are told which rounds count.

    In the first session the last ``PROBES`` of ``ROUNDS`` rounds repeat all others, in the later ones none does.
    """
    line = "{:58} {}".format
    peer = open_connection(f"{path.as_uri()}?mode=ro", busy=1.0)
    with Store.open(path) as store:
        newest = _compare_metric(store.database, peer, keys[-1], 1)
        print(line(f"newest values of one metric, {NODES:,} nodes (goal: < 60)", newest))
        again = _compare_metric(store.database, peer, keys[0], ROUNDS)
        print(line(f"the same of {len(range(1, ROUNDS + 1, PROBES))} rounds that repeat each other", again))
        for some in (keys[-1:], keys):
            of_node = _compare_node(store.database, peer, some, list(where.nodes)[-1])
            print(line(f"all metrics of one node, {counted(len(some), 'session')} (goal: < 0.1)", of_node))


def _compare_metric(database: Database, peer: Connection, key: str, newest: int) -> str:
    """One metric of all nodes in one session, of which the round ``newest`` counts."""

    def ask() -> Sequence[float]:
        return [each.value for each in read_metric_values(database, key, METRIC, METRIC.partition(".")[0])]

    def ask_plainly() -> Sequence[float]:
        numbers = peer.execute(_NUMBERS, (key, newest, METRIC)).fetchall()
        assert len(peer.execute(_VERDICTS, (key, newest, METRIC)).fetchall()) == len(numbers)
        return [value for *_, value in numbers]

    assert sorted(ask()) == sorted(ask_plainly())
    return compare_cpu(ask, ask_plainly)


def _compare_node(database: Database, peer: Connection, keys: Sequence[str], node: str) -> str:
    """All metrics of one node in some sessions."""
    repeated = {key: _find_last_repeated(peer, key) for key in keys}

    def ask() -> list[int]:
        return [len(values) for values in read_node_values(database, keys, node)]

    def ask_plainly() -> list[int]:
        return [len(peer.execute(_OF_NODE, (key, node, repeated[key])).fetchall()) for key in keys]

    assert ask() == ask_plainly() == [PROBES * METRICS] * len(keys)
    return compare_cpu(ask, ask_plainly, 51)


_FACTS = """SELECT test.node, fact.name, fact.text, fact.number FROM session
    JOIN round ON round.session_id = session.id JOIN attempt ON attempt.round_id = round.id
    JOIN result ON result.attempt_id = attempt.id JOIN test ON test.id = result.test_id
    JOIN fact ON fact.result_id = result.id WHERE session.key = ? AND (?2 IS NULL OR fact.name = ?2)"""


async def build_told(path: Path, where: Fabric) -> str:
    """A session in which every node told ``FACTS`` facts, one of them its own; its id."""
    each = planned(where, 1)
    alike = [Fact(f"fact.number{place}", float(place), Unit.BYTE) for place in range(FACTS - 1)]
    with Store.open(path) as store:
        key = await store.create_session(NewSession(where.text, "large.yaml", "told", "default", 1e3), [each])
        attempt = await store.session(key).begin_round(1, at=1e3)
        found = [replace(measured(test, 0), facts=(*alike, Fact("fact.own", test.id))) for test in each.tests]
        await keep(store, key, attempt, found, in_flight=1024)
        closed = ClosedRound(each, tuple(found), CloseReason.COMPLETE, 1e3, 1e3 + 10)
        await store.session(key).close_round(replace(closed, attempt=attempt, judged_by="benchmark"))
        await store.session(key).end(at=2e3, complete=True)
    return key


def asking_facts(path: Path, key: str, where: Fabric) -> None:
    """The facts of all nodes of a session: all or one of each, asked together or node by node."""
    line = "{:58} {}".format
    peer = open_connection(f"{path.as_uri()}?mode=ro", busy=1.0)
    with Store.open(path) as store:
        (closed,) = store.session(key).read_rounds(where)
        told = [result.facts for result in closed.results]

        def ask(name: str | None) -> int:
            return sum(map(len, read_facts_together(told, name)))

        def ask_plainly(name: str | None) -> int:
            return len(peer.execute(_FACTS, (key, name)).fetchall())

        assert ask("fact.own") == ask_plainly("fact.own") == NODES
        assert ask(None) == ask_plainly(None) == sum(len(list(each)) for each in told) == NODES * FACTS
        for words, work, name in (
            (f"one fact of {NODES:,} nodes", partial(ask, "fact.own"), "fact.own"),
            (f"{FACTS} facts of each", partial(ask, None), None),
            ("the same, asked node by node", lambda: [list(each) for each in told], None),
        ):
            print(line(words, compare_cpu(work, partial(ask_plainly, name), 3)))


def _find_last_repeated(peer: Connection, key: str) -> int:
    """The number in the file of the last round that a later one repeats; 0 for none."""
    asked = "SELECT round.id FROM round JOIN session ON session.id = session_id WHERE key = ? ORDER BY 1"
    rows = peer.execute(asked, (key,))
    rounds = [number for (number,) in rows.fetchall()]
    return rounds[-PROBES - 1] if len(rounds) > PROBES else 0


# -- how fast results are kept


class Looker:
    """A process that asks for the list of sessions, and for the outputs of one test, while this one writes."""

    def __init__(self, path: Path, key: str) -> None:
        command = [sys.executable, "-m", "benchmarks.store", "--look", str(path), key]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._process.stdout.readline()  # it has begun

    def end(self) -> dict[str, list[float]]:
        """End it; sorted milliseconds that its questions took."""
        told, _ = self._process.communicate("")
        return {name: sorted(waits) for name, waits in json.loads(told).items()}


def look(path: Path, key: str) -> None:
    """Ask every 10 ms until the standard input ends, then print how long the answers took."""
    database = Database.open(path)
    attempt = AttemptAddress(database, key, 1)
    waits: dict[str, list[float]] = {"list of sessions": [], "one test": []}
    print("begun", flush=True)
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        began = time.perf_counter()
        list_sessions(database, time.time())
        between = time.perf_counter()
        read_outputs.cache_clear()
        assert read_outputs(attempt, "1.n00000")
        waits["list of sessions"].append((between - began) * 1e3)
        waits["one test"].append((time.perf_counter() - between) * 1e3)
    print(json.dumps(waits))


async def ours(
    path: Path, where: Fabric, *, in_flight: int | None, metrics: int = 4
) -> tuple[float, float, list[float]]:
    each = planned(where, 1)
    made = [measured(test, metrics) for test in each.tests[: min(RESULTS, NODES)]]
    with Store.open(path) as store:
        key = await store.create_session(NewSession(where.text, "l.yaml", "speed", "default", 1e3), [each])
        began, cpu, waits = time.perf_counter(), time.process_time(), []
        times = 5 if in_flight is None else max(1, RESULTS // len(made)) if in_flight > 1 else 1
        for _ in range(times):
            attempt = await store.session(key).begin_round(1, at=1e3)
            if in_flight is None:
                waits += await keep_offered(store, key, attempt, made[:OFFERED])
            else:
                waits += await keep(store, key, attempt, made if in_flight > 1 else made[:200], in_flight=in_flight)
        wall, used = time.perf_counter() - began, time.process_time() - cpu
    return wall / len(waits), used / len(waits), waits


@contextlib.contextmanager
def peer_file(folder: Path, name: str) -> Iterator[tuple[sqlite3.Connection, list[tuple[int, rows.ResultRows]]]]:
    """A file of our shape in the journal mode that ours has here, and results as rows, made before the clock runs."""
    path = folder / f"{name}.db"
    journal = Database.open(path).facts.journal
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = OFF")
    one = fabric_of_peers
    made = [rows.make_result_rows(measured(test, 4)) for test in planned(one, 1).tests[: min(RESULTS, NODES)]]
    yield connection, [(number, each) for number, each in enumerate(made * max(1, RESULTS // len(made)), 1)]
    connection.close()


def write(connection: sqlite3.Connection, pieces: Sequence[tuple[int, rows.ResultRows]]) -> None:
    """Rows of results with executemany, as somebody writes it who needs no acknowledgement."""
    connection.executemany(
        "INSERT INTO result (id, attempt_id, test_id, started, seconds, drift, failed_at, failure_detail, failure_node)"
        " VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)",
        [(number, number, *each.result) for number, each in pieces],
    )
    columns = ("result_id", *rows.OutputRow._fields)
    connection.executemany(
        f"INSERT INTO output ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",  # noqa: S608 - our own names
        [(number, *row) for number, each in pieces for row in each.outputs],
    )
    connection.executemany(
        "INSERT INTO measurement (result_id, metric_id, labels_id, key, value, raw, at) VALUES (?, 1, 1, ?, ?, ?, ?)",
        [(number, *row[3:]) for number, each in pieces for row in each.measurements],
    )


def in_groups(folder: Path, size: int) -> tuple[float, float]:
    with peer_file(folder, f"group{size}") as (connection, pieces):
        few = pieces if size > 1 else pieces[:500]
        began, cpu = time.perf_counter(), time.process_time()
        for start in range(0, len(few), size):
            connection.execute("BEGIN IMMEDIATE")
            write(connection, few[start : start + size])
            connection.execute("COMMIT")
        return (time.perf_counter() - began) / len(few), (time.process_time() - cpu) / len(few)


HEAD = "{:42} {:>10} {:>8} {:>7} {:>7} {:>7}".format


def writing(folder: Path, path: Path, key: str, where: Fabric) -> None:
    print("\n" + HEAD("results of 2 kB with 4 measurements", "results/s", "of limit", "CPU us", "p50 ms", "p99 ms"))
    limit, cpu = in_groups(folder, 10**9)
    table: list[tuple[str, float, float, list[float]]]
    table = [("executemany, one transaction, no acks (limit)", limit, cpu, [])]
    table.append(("executemany, commit every 500, no acks", *in_groups(folder, 500), []))
    table.append(("sqlite3, commit per result", *in_groups(folder, 1), []))
    for count in (None, *IN_FLIGHT):
        name = f"offered {OFFERED:,}/s" if count is None else f"{count} in flight"
        looker = Looker(path, key)
        table.append((f"ours, each acknowledged, {name}", *asyncio.run(ours(path, where, in_flight=count))))
        for asked, seen in looker.end().items():
            print(
                f"  {asked} read meanwhile ({name}): p50 {seen[len(seen) // 2]:.2f} ms, "
                f"p99 {seen[len(seen) * 99 // 100]:.2f} ms, worst {seen[-1]:.1f} ms"
            )
    for name, wall, used, waits in table:
        waits.sort()
        acks = f"{waits[len(waits) // 2] * 1e3:7.1f} {waits[len(waits) * 99 // 100] * 1e3:7.1f}" if waits else ""
        print(f"{name:42} {1 / wall:10,.0f} {limit / wall:8.2f} {used * 1e6:7.0f} {acks}")


fabric_of_peers = fabric()


def main() -> None:
    where = fabric_of_peers
    with tempfile.TemporaryDirectory(prefix="store-benchmark-") as name:
        folder = Path(name)
        path = folder / "large.db"
        began = time.perf_counter()
        key = asyncio.run(build(path, where))
        took = time.perf_counter() - began
        total = NODES * ROUNDS
        facts = Database.open(path).facts
        print(f"SQLite {facts.sqlite}, peers {sqlite3.sqlite_version}, shape {facts.shape}, journal {facts.journal}")
        print(
            f"built {total * METRICS:,} measurements and verdicts of {total:,} results in {took:.1f} s "
            f"({total / took:,.0f} results/s), {path.stat().st_size / 1e6:,.0f} MB\n"
        )
        asking(path, key, where)
        asking_facts(path, asyncio.run(build_told(path, where)), where)
        asking_history(path, [key, *(asyncio.run(build(path, where, PROBES)) for _ in range(LATER))], where)
        writing(folder, path, key, where)


if __name__ == "__main__":
    if "--look" in sys.argv:
        look(Path(sys.argv[2]), sys.argv[3])
    else:
        main()
