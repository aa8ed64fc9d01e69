"""``import-spool``: what it brings back, what it says, and what it leaves alone."""

import asyncio
import os
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchconsole.console.cli import common
from benchconsole.console.cli.import_spool import command
from benchconsole.console.session.session_removal import find_staying, remove_session
from benchconsole.store.errors import LockedError, MissingError
from benchconsole.store.spool.spool_file import NoteRecord, make_line
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.store.played import measured, names, new, planned

SPOOLED = "results of the session wait in a spool; benchconsole import-spool brings them back"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A database whose console died with two results in its spool."""
    path = tmp_path / "data/s.db"

    async def main() -> None:
        with Store.open(path) as store:
            key = await store.create_session(new(), [planned(1)])
            await store.session(key).begin_round(1, at=1.0)
            spool = store.session(key).open_spool()
            for test in planned(1).tests[:2]:
                await spool.append_result(1, 1, measured(test))
            spool.close()

    asyncio.run(main())
    return path


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments])


def _spool(db: Path) -> Path:
    (found,) = (db.parent / name for name in names(db.parent) if name.endswith(".spool"))
    return found


def test_everything_that_waits_comes_back(db: Path) -> None:
    spool = _spool(db)
    done = _run("--db", db)
    assert (done.exit_code, done.stdout) == (0, f"{spool}: 2 results, 0 rounds came back\n")
    assert not spool.exists()
    done = _run("--db", db)
    assert (done.exit_code, done.stdout) == (0, f"nothing waits to be imported into {db}\n")


def test_a_file_that_was_copied_is_known_and_stays(db: Path, tmp_path: Path) -> None:
    copy = tmp_path / "from-a-colleague"
    copy.write_bytes(_spool(db).read_bytes())
    _run("--db", db)
    done = _run(copy, "--db", db)
    assert (done.exit_code, done.stdout) == (0, f"{copy}: 0 results, 0 rounds came back; 2 records known already\n")
    assert copy.exists()


def test_refused_lines_are_named_and_the_file_is_kept(db: Path) -> None:
    spool = _spool(db)
    spool.write_bytes(spool.read_bytes() + b"\x1b[31m; DROP TABLE result\n")
    done = _run(spool, "--db", db)
    assert done.exit_code == 3
    assert "2 results" in done.stdout
    assert "line 3 is refused: it is no record" in done.stderr
    assert f"the file is kept as {spool}.refused" in done.stderr
    assert "\x1b" not in done.output


def test_what_is_not_there_is_said_in_one_line(db: Path, tmp_path: Path) -> None:
    absent = _run(tmp_path / "none.spool", "--db", db)
    assert (absent.exit_code, len(absent.stderr.splitlines())) == (2, 1)
    assert f"benchconsole: {tmp_path / 'none.spool'}: this spool cannot be read" in absent.stderr
    database = _run(db, "--db", db)
    assert (database.exit_code, len(database.stderr.splitlines())) == (2, 1)
    assert "nothing in it could be brought back" in database.stderr
    assert isinstance(_run("--db", tmp_path / "none.db").exception, MissingError)
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("is_named", [False, True])
def test_of_several_files_those_that_can_be_read_come_back(db: Path, is_named: bool) -> None:
    ours, other, cut = _spool(db), db.with_name("s.db.00.spool"), db.with_name("s.db.01.spool")
    _put_garbage(other)
    cut.write_bytes(ours.read_bytes().splitlines(keepends=True)[0] + b"a line of somebody\n")
    done = _run(*((other, cut, ours) if is_named else ()), "--db", db)
    assert done.exit_code == 2
    assert f"benchconsole: {other}: nothing in it could be brought back" in done.stderr
    assert "line 2 is refused: it is no record" in done.stderr
    assert f"{ours}: " in done.stdout
    assert other.exists()
    assert not ours.exists()


def test_a_database_that_refuses_ends_the_command(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(store: Store, _: Path) -> None:
        raise LockedError("another process holds it", "wait for it", store.path)

    monkeypatch.setattr(Store, "import_spool", refuse)
    assert isinstance(_run("--db", db).exception, LockedError)


def _put_garbage(spool: Path) -> None:
    spool.write_bytes(b"a line of somebody\n")


def _put_record_of_no_session(spool: Path) -> None:
    spool.write_bytes(make_line(uuid.uuid4(), NoteRecord("ab12cd34", "kind", "text", 1.0)))


def _put_folder(spool: Path) -> None:
    spool.mkdir()


@pytest.mark.parametrize(
    ("put", "why"),
    [
        (_put_record_of_no_session, "nothing in it could be brought back (line 1: there is no session ab12cd34)"),
        (_put_garbage, "nothing in it could be brought back (line 1: it is no record"),
        (_put_folder, "this is no file"),
        (os.mkfifo, "this is no file"),
    ],
    ids=["no session", "garbage", "folder", "pipe"],
)
def test_a_spool_that_cannot_be_brought_back_is_told_and_stays_and_the_others_come_back(
    db: Path, capsys: pytest.CaptureFixture[str], put: Callable[[Path], object], why: str
) -> None:
    ours, other = _spool(db), db.with_name("s.db.00.spool")
    put(other)
    with Store.open(db) as store:
        common.import_waiting_spools(store)
    said = capsys.readouterr().err
    assert f"{other}: {why}" in said
    assert "; it stays there" in said
    assert f"{ours}: 2 results brought back" in said
    assert other.exists()
    assert not ours.exists()


def test_a_database_that_refuses_is_no_fault_of_a_spool(db: Path) -> None:
    with Store.open(db, busy=0.02) as store, closing(plain_sqlite.connect(db)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockedError):
            common.import_waiting_spools(store)


def test_a_session_whose_results_wait_in_a_spool_is_not_removed(db: Path) -> None:
    with Store.open(db) as store:
        key = store.find_session("last")
        assert find_staying(store, [key]) == {key: SPOOLED}
        assert remove_session(store, key) == SPOOLED
        _run("--db", db)
        assert find_staying(store, [key]) == {}
        assert remove_session(store, key) == ""
