"""WAL only where the library is repaired and the file system can share memory."""

import contextlib
from pathlib import Path

import pytest

from benchconsole.store.files.connection import journal_for, wal_is_safe
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.played import append_round, closed, new, planned

pytestmark = pytest.mark.fault("F31")


@pytest.mark.fault("I23")
@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 7, 0), False),
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 0), False),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_the_wal_reset_fault_is_known_by_version(version: tuple[int, ...], safe: bool) -> None:
    assert wal_is_safe(version) is safe
    assert journal_for(version, "ext4")[0] == ("wal" if safe else "truncate")
    for elsewhere in ("nfs4", "fuse.sshfs", "overlay", "unknown"):
        journal, because = journal_for(version, elsewhere)
        assert (journal, elsewhere in because) == ("truncate", True)


@pytest.mark.fault("I23")
@pytest.mark.parametrize(
    ("version", "kind", "journal"),
    [((3, 51, 3), "ext4", "wal"), ((3, 51, 3), "nfs4", "truncate"), ((3, 40, 1), "ext4", "truncate")],
)
async def test_the_journal_that_was_chosen_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...], kind: str, journal: str
) -> None:
    monkeypatch.setattr("benchconsole.store.files.database.library_version", lambda: version)
    monkeypatch.setattr("benchconsole.store.files.database.kind_of", lambda _: kind)
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        key = await store.create_session(new(), [planned(1)])
        await append_round(store.session(key), closed(planned(1)), (), judged_by="j")
        assert store.facts.journal == journal
        assert ("network" in store.facts.warning) == (kind == "nfs4")
        assert (tmp_path / "s.db-wal").exists() == (journal == "wal")
        assert (tmp_path / "s.db-journal").exists() == (journal == "truncate")
        assert store.session(key).list_closed_rounds() == {(1, 1)}


@pytest.mark.fault("I23")
async def test_a_database_in_wal_goes_back_to_a_journal_where_wal_is_not_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.db"
    with monkeypatch.context() as newer:
        newer.setattr("benchconsole.store.files.database.journal_for", lambda *_: ("wal", "as the test says"))
        with Store.open(path) as store:
            key = await store.create_session(new(), [planned(1)])
    monkeypatch.setattr("benchconsole.store.files.database.journal_for", lambda *_: ("truncate", "as the test says"))
    with Store.open(path) as store:
        await store.session(key).claim()
        await append_round(store.session(key), closed(planned(1)), (), judged_by="j")
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
