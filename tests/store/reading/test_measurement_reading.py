"""Measurements that are read in columns are those that are read as objects; verdicts on them are stored the same."""

import math
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.measurement_table import MeasurementVerdicts, make_verdicts, tabulate
from benchconsole.probes.model.measuring import Reading, Result, Round, Target, Test, labels
from benchconsole.store.errors import ConflictError
from benchconsole.store.model import JudgedMeasurements, StoredMeasurements
from benchconsole.store.reading import measurement_reading
from benchconsole.store.reading.measurement_reading import read_unjudged
from benchconsole.store.session_store import SessionStore
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests import plain_sqlite
from tests.store.played import FABRIC, NODES, append_round, closed, failed, new, planned

ODD = 'a "quoted" \\ name\n\x01é'


def make_plain(number: int) -> Round:
    tests = tuple(Test(f"{number}.{i}{ODD}", "fio", Target(NODES[i]), number) for i in range(4))
    return Round(number, "disks", "fio", tests, 1.0, "")


def measure(test: Test) -> Result:
    found = [Reading("fio.read", 1.0 + n / 3, Unit.BYTE_RATE, labels(depth=n % 2), "1.0") for n in range(4)]
    found.append(Reading("fio.delay", 0.001, Unit.SECOND))
    return Result(test, measurements=tuple(replace(each, id=f"{test.id}#{n}") for n, each in enumerate(found)))


FORMS = tuple(
    Verdict(
        "", 1, "fio", "", (), "fio.read", (), level, Yardstick.CRITERION, f"as {ODD}", required=bound, expected=bound
    )
    for level, bound in ((Level.FAIL, 1.5), (Level.PASS, 1.5), (Level.UNKNOWN, None))
)
JUDGED = MeasurementVerdicts(np.array([10, 1, 0, 10]), np.array([0, 1, 2, 1]), FORMS)
"""Verdicts in an order that is neither that of the file nor that of the forms."""


async def fill(store: Store) -> SessionStore:
    plan = [make_plain(1), planned(2)]
    session = store.session(await store.create_session(new(), plan))
    results = [failed(plan[0].tests[0]), *map(measure, plan[0].tests[1:])]
    for each in (closed(plan[0], results), closed(plan[1])):
        await append_round(session, each, (), judged_by="j")
    return session


def read(session: SessionStore) -> StoredMeasurements:
    (_, measured), _ = read_unjudged(session, FABRIC, lambda each: each.probe == "fio")
    assert measured is not None
    return measured


@pytest.mark.parametrize("at_once", [1, 4, 512])
async def test_columns_have_what_the_objects_have(
    at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurement_reading, "_AT_ONCE", at_once)
    with Store.open(tmp_path / "s.db") as store:
        session = await fill(store)
        whole = list(session.read_rounds(FABRIC))
        (plain, measured), (flows, nothing) = read_unjudged(session, FABRIC, lambda each: each.probe == "fio")
        assert measured is not None
        assert nothing is None
        assert replace(flows, judged_by="j") == whole[1]
        assert [each.failure for each in plain.results] == [each.failure for each in whole[0].results]
        assert not any(each.measurements or each.outputs for each in plain.results)
        expected = tabulate(whole[0].results)
        places = range(len(expected.ids))
        assert [measured.table.read(place) for place in places] == [expected.read(place) for place in places]
        assert measured.table.result.tolist() == expected.result.tolist()
        keys = dict(plain_sqlite.connect(store.path).execute("SELECT id, key FROM measurement").fetchall())
        ids = [keys[number] for number in measured.numbers.tolist()]
        assert list(measured.table.ids) == ids
        assert (measured.table.ids[-1], measured.table.ids[2:5]) == (ids[-1], ids[2:5])


async def test_a_round_without_measurements_has_empty_columns(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        plan = [make_plain(1)]
        session = store.session(await store.create_session(new(), plan))
        await append_round(session, closed(plan[0], list(map(failed, plan[0].tests))), (), judged_by="j")
        ((plain, measured),) = read_unjudged(session, FABRIC, lambda _: True)
        assert measured is not None
        assert len(plain.results) == 4
        assert len(measured.table.ids) == len(measured.table.kinds) == len(measured.numbers) == 0


def read_rows(path: Path, judged_by: str) -> tuple[list[Any], list[Any]]:
    """Everything that is stored of a judgement, but for its numbers in the file and its time."""
    with closing(plain_sqlite.connect(path, named=True)) as connection:
        judgings = connection.execute("SELECT * FROM judging WHERE judged_by = ? ORDER BY id", (judged_by,)).fetchall()
        rows = connection.execute(
            "SELECT verdict.* FROM verdict JOIN judging ON judging.id = judging_id WHERE judged_by = ? ORDER BY verdict.id",
            (judged_by,),
        ).fetchall()
    counts = [
        {name: row[name] for name in ("attempt_id", "fails", "watches", "unknowns", "passes")} for row in judgings
    ]
    return counts, [{name: row[name] for name in row.keys() if name not in ("id", "judging_id")} for row in rows]  # noqa: SIM118


async def test_verdicts_in_columns_are_stored_as_objects_are(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        session = await fill(store)
        measured = read(session)
        plain = next(session.read_rounds(FABRIC))
        other = next(make_verdicts(plain.results, measured.table, JUDGED))._replace(kind=Yardstick.HARDWARE)
        objects = tuple(make_verdicts(plain.results, measured.table, JUDGED))
        await session.append_verdicts({(1, 1): (other, *objects)}, judged_by="objects")
        columns = {(1, 1): JudgedMeasurements(measured.numbers, JUDGED)}
        for judged_by in ("columns", "columns again"):
            await session.append_verdicts({(1, 1): (other,)}, measured=columns, judged_by=judged_by)
            assert read_rows(store.path, judged_by) == read_rows(store.path, "objects")
        assert next(session.read_rounds(FABRIC)).verdicts == (other, *objects)


async def test_a_refused_judgement_leaves_nothing_of_its_columns(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        session = await fill(store)
        columns = {(1, 1): JudgedMeasurements(read(session).numbers, JUDGED)}
        with pytest.raises(ConflictError):
            await session.append_verdicts({(1, 1): (), (9, 1): ()}, measured=columns, judged_by="half")
        assert read_rows(store.path, "half") == ([], [])
        await session.append_verdicts({(1, 1): ()}, measured=columns, judged_by="whole")
        assert len(read_rows(store.path, "whole")[1]) == 4


@pytest.mark.parametrize("edited", ["'nan'", "'abc'", "x'00'", "9e999", "-9e999"])
async def test_values_that_are_no_finite_numbers_are_read_and_stored_as_none(tmp_path: Path, edited: str) -> None:
    """Whoever edits the file by hand can write them; the program never does."""
    with Store.open(tmp_path / "s.db") as store:
        session = await fill(store)
        with closing(plain_sqlite.connect(store.path)) as connection:
            connection.execute(f"UPDATE measurement SET value = {edited}")  # noqa: S608 - texts of this test
        measured = read(session)
        plain = next(session.read_rounds(FABRIC))
        expected = -math.inf if edited == "-9e999" else math.inf if edited == "9e999" else math.nan
        found = [each.value for result in plain.results for each in result.measurements]
        np.testing.assert_array_equal(measured.table.value, np.full(len(found), expected))
        np.testing.assert_array_equal(found, measured.table.value)
        objects = tuple(make_verdicts(plain.results, measured.table, JUDGED))
        await session.append_verdicts({(1, 1): objects}, judged_by="objects")
        columns = {(1, 1): JudgedMeasurements(measured.numbers, JUDGED)}
        await session.append_verdicts({(1, 1): ()}, measured=columns, judged_by="columns")
        assert read_rows(store.path, "columns") == read_rows(store.path, "objects")
        assert {row["value"] for row in read_rows(store.path, "columns")[1]} == {None}
