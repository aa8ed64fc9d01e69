"""A removed session leaves no row behind, takes none of another one's, and is not one that runs or is a baseline."""

from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.probes.model.checklist import Evidence
from benchconsole.probes.model.measuring import Proof
from benchconsole.store.errors import ConflictError, DrivenError, UnknownSessionError
from benchconsole.store.files import file_check
from benchconsole.store.files.maintenance import vacuum
from benchconsole.store.model import ChosenCriteria
from benchconsole.store.reading.report_reading import read_report_basis
from benchconsole.store.schema import tables
from benchconsole.store.session_summary import StoredVerdict
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import NodeId
from tests import plain_sqlite
from tests.store.played import append_round, closed, new, planned, verdicts
from tests.store.test_checklists import MINE, SEEN
from tests.store.test_remarks import SAID

_SHARED = {"metric", "labels", "word", "absorbed", "baseline"}
"""Names that all sessions use, what spools brought back, and the baselines."""


async def _fill(store: Store, label: str) -> str:
    """A session with a row in every table that can hold one of it."""
    key = await store.create_session(new(label), [planned(1)])
    session = store.session(key)
    await append_round(session, closed(planned(1)), verdicts(planned(1)), judged_by="j")
    await session.append_verdicts({}, judged_by="k", findings=(), losses=(), chosen=ChosenCriteria((), "file", 1.0))
    await session.append_note("kind", "text", 1.0)
    await session.append_proofs([Proof(NodeId("n1"), asked=True)], 1.0)
    await session.append_checklist(MINE, 1.0)
    await session.mark_step("mine", "a", SEEN, [Evidence("x", b"y")])
    await store.append_remark(key, SAID)
    await store.append_verdict(key, StoredVerdict(1, "pass", "fine", ()))
    await store.keep_report(key, "text", read_report_basis(session), "report")
    await session.end(at=2.0, complete=True)
    return key


def _read(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(plain_sqlite.connect(path)) as connection:
        return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in sorted(tables.columns())}  # noqa: S608


async def test_every_row_of_it_goes_and_none_of_another(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        await _fill(store, "stays")
        before = _read(path)
        gone = await _fill(store, "goes")
        grown = {table for table, rows in _read(path).items() if len(rows) > len(before[table])}
        assert grown >= set(tables.columns()) - _SHARED - {"finding"}
        store.remove_session(gone)
        after = _read(path)
        assert {table: rows for table, rows in after.items() if table not in _SHARED} == {
            table: rows for table, rows in before.items() if table not in _SHARED
        }
        with pytest.raises(UnknownSessionError):
            store.remove_session(gone)
        again = await _fill(store, "again")
        assert store.session(again).describe().rounds == 1
    with closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_session_that_runs_stays(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store, Store.open(tmp_path / "s.db") as other:
        key = await store.create_session(new(), [planned(1)])
        with pytest.raises(DrivenError, match="the session is running"):
            other.remove_session(key)
        assert len(other.list_sessions()) == 1


@pytest.mark.parametrize("is_dropped", [False, True])
async def test_a_session_that_is_or_was_a_baseline_stays(tmp_path: Path, is_dropped: bool) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key = await _fill(store, "first")
        await store.name_baseline(key, "ann", 5.0)
        if is_dropped:
            await store.drop_baseline(store.session(key).describe().new.fabric, "ann", 6.0)
        with pytest.raises(ConflictError, match="is or was a baseline"):
            store.remove_session(key)
        assert len(store.list_sessions()) == 1


async def test_the_file_is_read_whole_once_however_many_sessions_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = tmp_path / "s.db", list[Path]()
    with Store.open(path) as store:
        keys = [await _fill(store, f"{number}") for number in range(4)]
    monkeypatch.setattr(file_check, "require_whole", lambda _, at: read.append(at))
    file_check.unseal(path)
    with Store.open(path) as store:
        for key in keys:
            store.remove_session(key)
        vacuum(store.database)
    assert read == [path]
