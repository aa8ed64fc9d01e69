"""The newest verdicts: what is kept up row by row is what a slow second way finds in all verdicts."""

import asyncio
import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.judging.verdict import Level, Verdict
from probes.model import labels
from store.model import Newest
from store.store import Store
from tests.store.played import closed, new, planned, verdicts

Key = tuple[str, str, tuple[tuple[str, str], ...]]


def _told(found: Newest) -> dict[Key, tuple[int, float | None]]:
    return {
        (found.subjects[subject][0], found.series[series].metric, found.series[series].labels): (severity, value)
        for subject, series, severity, value in found.cells
    }


def _slow(judgements: dict[int, tuple[Verdict, ...]]) -> dict[Key, tuple[int, float | None]]:
    """Attempt after attempt, the last judgement of each: a later one replaces, within one the worst counts."""
    newest: dict[Key, tuple[int, float | None]] = {}
    for attempt in sorted(judgements):
        mine: dict[Key, tuple[int, float | None]] = {}
        for verdict in judgements[attempt]:
            key = (verdict.subject, verdict.metric, verdict.labels)
            if key not in mine or verdict.level.severity > mine[key][0]:
                mine[key] = (verdict.level.severity, verdict.value)
        newest |= mine
    return newest


_one = st.tuples(
    st.sampled_from(["n1", "n1>n2", "leaf1 to spine1"]),
    st.sampled_from(["a.x", "a.y"]),
    st.sampled_from([labels(), labels(direction="out")]),
    st.sampled_from(Level),
    st.integers(1, 5),
)
_round = st.lists(_one, max_size=5)


def _verdicts(
    drawn: list[tuple[str, str, tuple[tuple[str, str], ...], Level, int]], number: int
) -> tuple[Verdict, ...]:
    base = verdicts(planned(number, pairs=1))[0]
    return tuple(
        replace(base, subject=subject, metric=metric, labels=pairs, level=level, value=float(value))
        for subject, metric, pairs, level, value in drawn
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(_round, min_size=1, max_size=4), st.lists(_round, max_size=2), st.integers(0, 3))
def test_against_a_slow_second_way(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[list[tuple[str, str, tuple[tuple[str, str], ...], Level, int]]],
    second: list[list[tuple[str, str, tuple[tuple[str, str], ...], Level, int]]],
    again: int,
) -> None:
    path = tmp_path_factory.mktemp("newest") / "s.db"

    async def main() -> None:
        with Store.open(path) as store:
            whole: dict[int, tuple[Verdict, ...]] = {}
            for rounds in (first, second):
                own: dict[int, tuple[Verdict, ...]] = {}
                plan = [planned(number, pairs=1) for number in range(1, len(rounds) + 1)]
                key = await store.create_session(new(), plan)
                for each, drawn in zip(plan, rounds, strict=True):
                    found = _verdicts(drawn, each.number)
                    await store.append_round(key, closed(each), found, judged_by="j")
                    own[len(own)] = whole[len(whole)] = found
                assert _told(store.newest(session=key)) == _slow(own)
                assert _told(store.newest(fabric="toy")) == _slow(whole)
                if rounds and again < len(rounds):  # judged again: less is said, or something else
                    base = len(whole) - len(rounds)
                    late = whole[base + again][1:]
                    own[again] = whole[base + again] = late
                    await store.append_verdicts(key, {(again + 1, 1): late}, judged_by="again")
                    assert _told(store.newest(session=key)) == _slow(own)
                    assert _told(store.newest(fabric="toy")) == _slow(whole)

    asyncio.run(main())


async def test_simulated_sessions_and_other_fabrics_are_kept_apart(tmp_path: Path) -> None:
    each = planned(1)
    with Store.open(tmp_path / "s.db") as store:
        for session, level in (
            (new(), Level.PASS),
            (replace(new(), simulated=True), Level.FAIL),
            (replace(new(), fabric="other"), Level.WATCH),
        ):
            key = await store.create_session(session, [each])
            await store.append_round(key, closed(each), verdicts(each, level), judged_by="j")
        assert set(store.newest(fabric="toy").by_node().values()) == {Level.PASS}
        assert set(store.newest(fabric="toy", simulated=True).by_node().values()) == {Level.FAIL}
        assert set(store.newest(fabric="other").by_node().values()) == {Level.WATCH}
        assert store.newest(fabric="none") == Newest({}, store.newest(fabric="toy").series, [])


async def test_a_node_is_as_bad_as_the_worst_pair_it_is_in(tmp_path: Path) -> None:
    first, second = planned(1, pairs=1), planned(2, pairs=2)
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), [first, second])
        bad, good = verdicts(first, Level.FAIL)[0], verdicts(second)[1]
        await store.append_round(key, closed(first), [bad], judged_by="j")
        other = replace(good, subject="n1>n6", nodes=("n1", "n6"))
        await store.append_round(key, closed(second), [other], judged_by="j")
        found = store.newest(session=key)
        assert found.by_node() == {"n1": Level.FAIL, "n5": Level.FAIL, "n6": Level.PASS}
        assert store.newest_on("n1>n5", session=key) == (bad,)
        assert store.newest_on("n1>n6", session=key) == (other,)
        assert store.newest_on("none", session=key) == ()


async def test_other_tools_see_them_in_a_view(tmp_path: Path) -> None:
    each = planned(1)
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), [each])
        await store.append_round(key, closed(each), verdicts(each, Level.WATCH), judged_by="j")
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        connection.row_factory = sqlite3.Row
        found = [MappingProxyType(dict(row)) for row in connection.execute("SELECT * FROM v_newest ORDER BY subject")]
    assert [row["subject"] for row in found] == ["n1>n5", "n2>n6", "n3>n7", "n4>n8"]
    assert dict(found[0]) == {
        "fabric": "toy", "simulated": 0, "subject": "n1>n5", "nodes": '["n1","n5"]', "metric": "iperf3.throughput",
        "labels": "direction=out", "level": "watch", "value": 1.17e9, "expected": 1.18e9, "unit": "B/s",
        "because": "1.17 GB/s of 1.18 GB/s", "session": key, "round": 1, "attempt": 1, "at": 1012.0,
    }  # fmt: skip
