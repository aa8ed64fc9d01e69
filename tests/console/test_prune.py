"""Old sessions are removed with consent, others never; the copy, the room and the look at a file from the command line."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.console.test_cli import run
from tests.store.played import append_round, closed, new, planned, verdicts


@pytest.fixture
async def db(tmp_path: Path) -> Path:
    """Four sessions, a day and more apart in 1970, of which the second is a baseline."""
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        for day, label in enumerate(("first", "second", "third", "fourth")):
            key = await store.create_session(new(label, 86400.0 * day), [planned(1)])
            await append_round(store.session(key), closed(planned(1)), verdicts(planned(1)), judged_by="j")
            await store.session(key).end(at=1.0, complete=True)
            if label == "second":
                await store.name_baseline(key, "ann", 1.0)
    return path


def labels(db: Path) -> list[str]:
    with Store.open(db) as store:
        return [each.label for each in store.list_sessions()]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("third",), ["first", "second", "fourth"]),
        (("--keep", "1"), ["second", "fourth"]),
        (("--older-than", "90 d"), ["second"]),
        (("--older-than", "90 d", "--fabric", "other"), ["first", "second", "third", "fourth"]),
        (("--to-size", "1 B"), ["second"]),
        (("--to-size", "1 GB"), ["first", "second", "third", "fourth"]),
        (("--keep", "3", "last"), ["second", "third"]),
    ],
)
def test_what_is_removed(db: Path, words: tuple[str, ...], left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "prune", *words, "--dry-run", "--db", db) == Exit.PASSED
    assert len(labels(db)) == 4
    assert run(monkeypatch, "prune", *words, "--yes", "--db", db) == Exit.PASSED
    assert labels(db) == left


def test_what_stays_is_told_and_nothing_goes_without_consent(
    db: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    assert run(monkeypatch, "prune", "--keep", "1", "--db", db) == Exit.UNTESTED
    assert "stays: the session is or was a baseline" in capsys.readouterr().err
    assert len(labels(db)) == 4
    assert run(monkeypatch, "prune", "--db", db) == Exit.BAD_INPUT
    assert run(monkeypatch, "prune", "--older-than", "90 days", "--db", db) == Exit.BAD_INPUT
    assert "--older-than: found '90 days'" in capsys.readouterr().err


def test_a_copy_the_room_and_a_look(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.db"
    assert run(monkeypatch, "backup", copy, "--db", db) == Exit.PASSED
    assert f"{copy}: 4 sessions" in capsys.readouterr().out
    assert run(monkeypatch, "backup", copy, "--db", db) == Exit.BAD_INPUT
    assert run(monkeypatch, "prune", "first", "--yes", "--db", db) == Exit.PASSED
    assert run(monkeypatch, "vacuum", "--db", db) == Exit.PASSED
    capsys.readouterr()
    assert run(monkeypatch, "check-db", "--db", db) == Exit.PASSED
    assert "whole" in capsys.readouterr().out
    with closing(plain_sqlite.connect(db)) as connection:
        connection.execute("UPDATE output SET stdout = x'00'")
    assert run(monkeypatch, "check-db", "--db", db) == Exit.BELOW
    assert "damaged: session" in capsys.readouterr().out
    assert labels(copy) == ["first", "second", "third", "fourth"]


def test_what_each_session_holds_is_listed(
    db: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "sessions", "--db", db) == Exit.PASSED
    assert "holds" not in capsys.readouterr().out
    assert run(monkeypatch, "sessions", "--size", "--db", db) == Exit.PASSED
    heading, *rows = capsys.readouterr().out.splitlines()
    assert "tested    holds  verdict" in heading
    assert all(" kB  " in row or " B  " in row for row in rows)
    assert run(monkeypatch, "sessions", "--size", "--json", "--db", db) == Exit.PASSED
    assert all(each["bytes"] > 0 for each in json.loads(capsys.readouterr().out))
