"""Many rows in one statement are the same rows, however many there are and however little a library takes at once."""

import contextlib

import apsw
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.store.writing.bulk_insert import insert_rows
from tests import plain_sqlite

_rows = st.lists(st.tuples(st.integers(-5, 5), st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=320)


@given(_rows, st.sampled_from([3, 20, 999, 32766]))
def test_all_rows_in_their_order(rows: list[tuple[int, str, bytes | None]], limit: int) -> None:
    with contextlib.closing(plain_sqlite.connect(":memory:")) as connection:
        connection.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER, limit)
        connection.execute("CREATE TABLE t (a, b, c)")
        insert_rows(connection, "t", ("a", "b", "c"), rows)
        assert connection.execute("SELECT a, b, c FROM t ORDER BY rowid").fetchall() == rows
