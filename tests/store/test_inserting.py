"""Many rows in one statement are the same rows, however many there are and however little a library takes at once."""

import contextlib
import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from store.inserting import flat, insert

_rows = st.lists(st.tuples(st.integers(-5, 5), st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=320)


@given(_rows, st.sampled_from([3, 20, 999, 32766]))
def test_all_rows_in_their_order(rows: list[tuple[int, str, bytes | None]], limit: int) -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, limit)
        connection.execute("CREATE TABLE t (a, b, c)")
        insert(connection, "t (a, b, c)", 3, flat(rows))
        assert connection.execute("SELECT a, b, c FROM t ORDER BY rowid").fetchall() == rows


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=80))
def test_a_clause_for_rows_that_are_there_goes_for_each(rows: list[tuple[int, int]]) -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v)")
        largest = "ON CONFLICT (k) DO UPDATE SET v = excluded.v WHERE excluded.v > v"
        insert(connection, "t (k, v)", 2, flat(rows), otherwise=largest)
        assert dict(connection.execute("SELECT k, v FROM t")) == {
            key: max(value for each, value in rows if each == key) for key, _ in rows
        }
