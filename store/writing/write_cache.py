"""The memory of the writer between its transactions, so that storing a result asks the file nothing.

Numbers of metrics, labels and sessions, the attempts that run with the numbers of their tests, and
whether this process drives a session (looked up once in each transaction). All of it is forgotten
when a transaction is undone. Sessions and attempts are forgotten when another connection has written,
too: a session that it removed leaves its number to the next one. Names are never removed.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchconsole.probes.model.measuring import Labels
from benchconsole.store.codec.long_words import number_words
from benchconsole.store.codec.rows import dump_labels
from benchconsole.store.codec.values import replace_surrogates
from benchconsole.store.errors import ConflictError
from benchconsole.store.files import ownership
from benchconsole.store.reading.session_list import find_number
from benchconsole.store.sqlite import Connection

MAX_NAMES = 100_000
"""So many names are remembered; beyond that the file is asked again."""

# Statements that find and make each kind of name.
_METRIC = ("SELECT id FROM metric WHERE name = ?1 AND unit = ?2", "INSERT INTO metric (name, unit) VALUES (?1, ?2)")
_LABELS = (
    "SELECT id FROM labels WHERE pairs = ?1 AND ?2 IS NOT NULL",
    "INSERT INTO labels (pairs, shown) VALUES (?1, ?2)",
)
_WORD = ("SELECT id FROM word WHERE text = ?1", "INSERT INTO word (text) VALUES (?1)")
K = TypeVar("K")


class NameNumbers:
    """Numbers for names that come again and again, made where they are missing."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._metrics: dict[tuple[str, str], int] = {}
        self._labels: dict[Labels, int] = {}
        self._words: dict[str, int] = {}

    def metric(self, name: str, unit: str) -> int:
        key = (name, unit)
        return self._metrics.get(key) or self._find(self._metrics, key, _METRIC, (replace_surrogates(name), unit))

    def labels(self, labels: Labels) -> int:
        number = self._labels.get(labels)
        if number is None:
            shown = replace_surrogates(", ".join(f"{name}={value}" for name, value in labels))
            number = self._find(self._labels, labels, _LABELS, (dump_labels(labels), shown))
        return number

    def command(self, argv: str) -> str:
        """A command line as it is stored, with numbers for its long words."""
        return number_words(argv, self._word)

    def _word(self, word: str) -> int:
        return self._words.get(word) or self._find(self._words, word, _WORD, (word,))

    def _find(self, known: dict[K, int], name: K, statements: tuple[str, str], row: tuple[str, ...]) -> int:
        find, make = statements
        stored = self._connection.execute(find, row).fetchone()
        if stored is None:
            self._connection.execute(make, row)
            stored = self._connection.execute(find, row).fetchone()
        if len(known) > MAX_NAMES:
            known.clear()
        known[name] = int(stored[0])
        return known[name]


@dataclass(slots=True)
class KnownAttempt:
    """An attempt: its number in the file, the numbers of its tests by key, and those whose result is stored."""

    attempt: int
    tests: dict[str, int]
    stored: set[int]
    closed: bool = False
    replaced: bool = False

    def find_test(self, key: str) -> int:
        """The number of a test of this round; ConflictError when it is not of it."""
        number = self.tests.get(replace_surrogates(key))
        if number is None:
            raise ConflictError(f"test {key} is not of this round", "report this as a fault of the runner")
        return number


class WriteCache:
    """One for each writer. ``connection`` is inside a transaction whenever a job uses it."""

    def __init__(
        self,
        connection: Connection,
        path: Path,
        holder: ownership.Holder,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.connection = connection
        self.clock = clock
        self.names = NameNumbers(connection)
        self._path = path
        self._holder = holder
        self._sessions: dict[str, int] = {}
        self._attempts: dict[tuple[int, int, int], KnownAttempt] = {}
        self._driven: set[int] = set()
        self._free: set[int] = set()
        self._version: int | None = None

    def begin_transaction(self) -> None:
        """Forget what others may have changed since the last transaction: who drives, and what has which number."""
        self._forget_drivers()
        (version,) = self.connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:  # another connection has written
            self._version = version
            self._forget_sessions()

    def forget(self) -> None:
        """Forget everything: something was undone, and names made in it may not be there."""
        self.names = NameNumbers(self.connection)
        self._forget_sessions()
        self._forget_drivers()

    def _forget_drivers(self) -> None:
        self._driven.clear()
        self._free.clear()

    def _forget_sessions(self) -> None:
        self._sessions.clear()
        self.forget_attempts()

    def forget_attempts(self) -> None:
        """Forget all attempts: another process may have begun, filled and closed rounds of a session."""
        self._attempts.clear()

    def find_session(self, key: str) -> int:
        """The number of a session; UnknownSessionError when there is none."""
        if key not in self._sessions:
            self._sessions[key] = find_number(self.connection, key, self._path)
        return self._sessions[key]

    def require_driven(self, key: str) -> int:
        """The number of a session that this store drives; DrivenError when it does not."""
        number = self.find_session(key)
        if number not in self._driven:
            ownership.require_driven(self.connection, number, self._holder)
            self._driven.add(number)
        return number

    def require_free(self, key: str) -> int:
        """The number of a session that no other process drives; DrivenError when one does."""
        number = self.find_session(key)
        if number not in self._free:
            ownership.require_free(self.connection, number, self._holder, self.clock())
            self._free.add(number)
        return number

    def claim(self, key: str) -> None:
        """Drive a session from here on; DrivenError while another process does."""
        ownership.claim(self.connection, self.find_session(key), self._holder, self.clock())
        self.forget_attempts()

    def release(self, key: str, *, at: float, complete: bool, because: str) -> None:
        number = self.require_driven(key)
        ownership.release(self.connection, number, self._holder, at=at, complete=complete, because=because)
        self._driven.discard(number)

    def require_open(self, session: int, round_number: int, attempt: int) -> KnownAttempt:
        """An attempt that can still take results; ConflictError when it was not begun, or is closed or replaced."""
        known = self.find_attempt(session, round_number, attempt)
        name = f"attempt {attempt} at round {round_number}"
        if known is None:
            raise ConflictError(f"{name} was not begun", "begin it, and store what it gives under the number you get")
        if known.closed:
            raise ConflictError(f"{name} is closed already", "begin another attempt, or leave it: the round is there")
        if known.replaced:
            raise ConflictError(f"{name} was given up for a later one", "store results under the newest attempt")
        return known

    def find_attempt(self, session: int, round_number: int, attempt: int) -> KnownAttempt | None:
        """The attempt under these numbers, open or not; None when nothing was begun."""
        key = (session, round_number, attempt)
        known = self._attempts.get(key)
        if known is None:
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
            stored = self.connection.execute("SELECT test_id FROM result WHERE attempt_id = ?", (number,))
            known = KnownAttempt(number, tests, {test for (test,) in stored}, bool(closed), bool(replaced))
            self._attempts[key] = known
        return known

    def forget_round(self, session: int, round_number: int) -> None:
        """Forget the attempts at a round: one was closed, or a later one begins."""
        for key in [key for key in self._attempts if key[:2] == (session, round_number)]:
            del self._attempts[key]
