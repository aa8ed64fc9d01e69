"""Owns what the writer knows between its transactions, so that storing a result asks the file nothing.

Numbers of metrics, labels and sessions, the rounds that run with the numbers of their tests, and
whether this process drives a session (looked up once in each transaction). All of it is forgotten
when a transaction is undone. Refuses to open connections and to begin or end transactions.
"""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from probes.model import Labels
from store import driving, rows
from store.errors import ConflictError
from store.listing import session_number
from store.values import text

MANY = 100_000
"""So many names are remembered; beyond that the file is asked again."""

# How each kind of name is found, and made.
_METRIC = ("SELECT id FROM metric WHERE name = ?1 AND unit = ?2", "INSERT INTO metric (name, unit) VALUES (?1, ?2)")
_LABELS = (
    "SELECT id FROM labels WHERE pairs = ?1 AND ?2 IS NOT NULL",
    "INSERT INTO labels (pairs, shown) VALUES (?1, ?2)",
)
_SUBJECT = ("SELECT id FROM subject WHERE name = ?1", "INSERT INTO subject (name) VALUES (?1)")
_NODES = ("SELECT id FROM nodes WHERE names = ?1", "INSERT INTO nodes (names) VALUES (?1)")
_SERIES = (
    "SELECT id FROM series WHERE metric_id = ?1 AND labels_id = ?2",
    "INSERT INTO series (metric_id, labels_id) VALUES (?1, ?2)",
)
K = TypeVar("K")


class Names:
    """Numbers for names that come again and again, made where they are missing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._metrics: dict[tuple[str, str], int] = {}
        self._labels: dict[Labels, int] = {}
        self._subjects: dict[str, int] = {}
        self._nodes: dict[str, int] = {}
        self._series: dict[tuple[int, int], int] = {}

    def metric(self, name: str, unit: str) -> int:
        """The number of a metric in a unit."""
        found = self._metrics.get((name, unit))
        return self._number(self._metrics, (name, unit), _METRIC, (text(name), unit)) if found is None else found

    def labels(self, labels: Labels) -> int:
        """The number of a label set."""
        found = self._labels.get(labels)
        return self._number(self._labels, labels, _LABELS, rows.labels_row(labels)) if found is None else found

    def subject(self, name: str) -> int:
        """The number of a subject of verdicts."""
        found = self._subjects.get(name)
        return self._number(self._subjects, name, _SUBJECT, (text(name),)) if found is None else found

    def nodes(self, names: str) -> int:
        """The number of a list of nodes, which is JSON."""
        found = self._nodes.get(names)
        return self._number(self._nodes, names, _NODES, (names,)) if found is None else found

    def series(self, metric: int, labels: int) -> int:
        """The number of a metric with its labels, both by their numbers."""
        found = self._series.get((metric, labels))
        return self._number(self._series, (metric, labels), _SERIES, (metric, labels)) if found is None else found

    def _number(self, known: dict[K, int], name: K, statements: tuple[str, str], row: rows.Row) -> int:
        find, make = statements
        found = self._connection.execute(find, row).fetchone()
        if found is None:
            self._connection.execute(make, row)
            found = self._connection.execute(find, row).fetchone()
        if len(known) > MANY:
            known.clear()
        known[name] = int(found[0])
        return known[name]


@dataclass(slots=True)
class Running:
    """An attempt: its number in the file, the numbers of its tests by key, and those whose result is stored."""

    attempt: int
    tests: dict[str, int]
    stored: set[int]
    closed: bool = False
    replaced: bool = False

    def test(self, key: str) -> int:
        """The number of a test of this round; ConflictError when it is not of it."""
        found = self.tests.get(text(key))
        if found is None:
            raise ConflictError(f"test {key} is not of this round", "report this as a fault of the runner")
        return found


class Ledger:
    """One for each writer. ``connection`` is inside a transaction whenever work is done with it."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, holder: driving.Holder, clock: Callable[[], float] = time.time
    ) -> None:
        self.connection = connection
        self.clock = clock
        self.names = Names(connection)
        self._path = path
        self._holder = holder
        self._sessions: dict[str, int] = {}
        self._scopes: dict[int, tuple[int, int]] = {}
        self._attempts: dict[tuple[int, int, int], Running] = {}
        self._driven: set[int] = set()
        self._free: set[int] = set()

    def turn(self) -> None:
        """A new transaction has begun: another process may have taken a session over since the last."""
        self._driven.clear()
        self._free.clear()

    def forget(self) -> None:
        """Something was undone: what was learnt in it may not be there."""
        self.names = Names(self.connection)
        self._sessions.clear()
        self._scopes.clear()
        self.look_again()
        self.turn()

    def look_again(self) -> None:
        """Somebody else may have begun, filled and closed rounds of a session that was not driven here."""
        self._attempts.clear()

    def session(self, key: str) -> int:
        """The number of a session; UnknownSessionError when there is none."""
        found = self._sessions.get(key)
        if found is None:
            found = self._sessions[key] = session_number(self.connection, key, self._path)
        return found

    def scopes(self, session: int) -> tuple[int, int]:
        """Where the newest verdicts of a session count: in the session, and in its fabric."""
        found = self._scopes.get(session)
        if found is None:
            rows = self.connection.execute(
                """SELECT own.id, whole.id FROM scope AS own JOIN scope AS whole
                ON whole.fabric = own.fabric AND whole.simulated = own.simulated AND whole.session_id IS NULL
                WHERE own.session_id = ?""",
                (session,),
            )
            found = self._scopes[session] = rows.fetchone()
        return found

    def driven(self, key: str) -> int:
        """The number of a session that this store drives; DrivenError when it does not."""
        found = self.session(key)
        if found not in self._driven:
            driving.require(self.connection, found, self._holder)
            self._driven.add(found)
        return found

    def free(self, key: str) -> int:
        """The number of a session that no other process drives; DrivenError when one does."""
        found = self.session(key)
        if found not in self._free:
            driving.require_free(self.connection, found, self._holder, self.clock())
            self._free.add(found)
        return found

    def take(self, key: str) -> None:
        """Drive a session from here on; DrivenError while another process does."""
        number = self.session(key)
        driving.take(self.connection, number, self._holder, self.clock())
        self.look_again()

    def give_up(self, key: str, *, at: float, complete: bool, because: str) -> None:
        """Drive it no longer."""
        driving.give_up(self.connection, self.driven(key), self._holder, at=at, complete=complete, because=because)
        self._driven.discard(self.session(key))

    def running(self, session: int, round_number: int, attempt: int) -> Running:
        """An attempt that can still take results; ConflictError when it was not begun, or is closed or replaced."""
        found = self.attempt(session, round_number, attempt)
        what = f"attempt {attempt} at round {round_number}"
        if found is None:
            raise ConflictError(f"{what} was not begun", "begin it, and store what it gives under the number you get")
        if found.closed:
            raise ConflictError(f"{what} is closed already", "begin another attempt, or leave it: the round is there")
        if found.replaced:
            raise ConflictError(f"{what} was given up for a later one", "store results under the newest attempt")
        return found

    def attempt(self, session: int, round_number: int, attempt: int) -> Running | None:
        """Whatever was begun under these numbers; None when nothing was."""
        key = (session, round_number, attempt)
        found = self._attempts.get(key)
        if found is None:
            found = self._look_up(key)
            if found is not None:
                self._attempts[key] = found
        return found

    def _look_up(self, key: tuple[int, int, int]) -> Running | None:
        row = self.connection.execute(
            """SELECT attempt.id, ended IS NOT NULL, round_id,
                attempt.number < (SELECT max(number) FROM attempt AS other WHERE other.round_id = round.id)
            FROM attempt JOIN round ON round.id = round_id
            WHERE session_id = ? AND round.number = ? AND attempt.number = ?""",
            key,
        ).fetchone()
        if row is None:
            return None
        number, closed, round_id, replaced = row
        tests = dict(self.connection.execute("SELECT key, id FROM test WHERE round_id = ?", (round_id,)))
        stored = {
            test for (test,) in self.connection.execute("SELECT test_id FROM result WHERE attempt_id = ?", (number,))
        }
        return Running(number, tests, stored, closed=bool(closed), replaced=bool(replaced))

    def over(self, session: int, round_number: int) -> None:
        """The attempts at a round take nothing more: one was closed, or a later one begins."""
        for key in [each for each in self._attempts if each[:2] == (session, round_number)]:
            del self._attempts[key]
